//! What the engine tells of a request, as the JSON of `OpenAI`'s answers.

use std::sync::Arc;

use hyper::Response;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::Serving;
use super::answer::{self, Answer, DONE, Refusal};
use super::ask::{Asked, Form};
use super::inbox::{Inbox, inbox};
use crate::source::{Event, FinishReason, Summary};

/// What was written of a candidate.
#[derive(Default)]
struct Written {
    text: String,
    ids: Vec<u32>,
    logprobs: Vec<f32>,
    finish: Option<FinishReason>,
    /// Of a stream: whether anything of it has been sent.
    begun: bool,
    /// Of a stream: what of `text` has been sent, in bytes.
    sent: usize,
    /// Of a stream: characters of the tokens that have been sent.
    offset: usize,
}

/// Answers a request.
pub async fn answer(
    serving: &Arc<Serving>,
    asked: Asked,
    place: OwnedSemaphorePermit,
) -> Result<Response<Answer>, Refusal> {
    let (teller, mut inbox) = inbox(place, serving.stop.clone());
    let sink = Box::new(move |event| match event {
        Event::Step(_) => std::ops::ControlFlow::Continue(()),
        event => teller.tell(event),
    });
    let ticket = serving.source.generate(asked.request.clone(), sink);
    inbox.cancelled_by(move || ticket.cancel_all());
    // What it is refused for is the status of the answer.
    let first = inbox.next().await.and_then(check)?;
    let mut writing = Writing::new(serving.clone(), asked);
    if !writing.asked.stream {
        return writing.whole(first, inbox).await.map(|whole| answer::json(&whole));
    }
    let told = move |event| check(event).map(|event| writing.pieces(event));
    Ok(inbox.stream(serving.clone(), String::new(), first, told))
}

/// An event, unless it says that there are no candidates.
fn check(event: Event) -> Result<Event, Refusal> {
    match event {
        Event::Refused(why) => Err(Refusal::bad(why)),
        Event::Failed(why) => Err(Refusal::failed(why)),
        event => Ok(event),
    }
}

struct Writing {
    serving: Arc<Serving>,
    asked: Asked,
    id: String,
    candidates: Vec<Written>,
}

impl Writing {
    fn new(serving: Arc<Serving>, asked: Asked) -> Self {
        let kind = if asked.form == Form::Chat { "chatcmpl" } else { "cmpl" };
        let id = format!("{kind}-{}", serving.next_id());
        let candidates = (0..asked.request.options.n).map(|_| Written::default()).collect();
        Self { serving, asked, id, candidates }
    }

    /// The whole answer, once all candidates have ended.
    async fn whole(&mut self, first: Event, mut inbox: Inbox<Event>) -> Result<Value, Refusal> {
        let mut next = first;
        let summary = loop {
            if let Event::Done(summary) = next {
                break summary;
            }
            self.take(next);
            next = inbox.next().await.and_then(check)?;
        };
        self.serving.metrics.written(&summary);
        let best = summary.ranking.iter().copied().take(self.asked.sent);
        let order: Vec<usize> =
            if self.asked.sent < self.candidates.len() { best.collect() } else { (0..self.candidates.len()).collect() };
        let choices: Vec<Value> = order
            .into_iter()
            .enumerate()
            .map(|(index, candidate)| {
                let written = &self.candidates[candidate];
                let said = format!("{}{}", self.asked.echo, written.text);
                let tokens = (written.ids.as_slice(), written.logprobs.as_slice());
                self.choice(index, &said, tokens, self.asked.echo.chars().count(), written.finish)
            })
            .collect();
        let mut whole = self.frame(&choices, false);
        whole["usage"] = usage(&summary);
        Ok(whole)
    }

    /// Takes in an event; the candidate that it is about.
    fn take(&mut self, event: Event) -> Option<(usize, Vec<u32>, Vec<f32>)> {
        match event {
            Event::Tokens { candidate, text, ids, logprobs, .. } => {
                let written = self.candidates.get_mut(candidate)?;
                written.text.push_str(&text);
                if !self.asked.stream {
                    written.ids.extend(&ids);
                    written.logprobs.extend(&logprobs);
                }
                Some((candidate, ids, logprobs))
            }
            Event::Finished { candidate, reason, text, .. } => {
                let written = self.candidates.get_mut(candidate)?;
                (written.text, written.finish) = (text, Some(reason));
                Some((candidate, Vec::new(), Vec::new()))
            }
            _ => None,
        }
    }

    /// What of the stream an event makes, and whether it is the end.
    fn pieces(&mut self, event: Event) -> (String, bool) {
        if let Event::Done(summary) = event {
            self.serving.metrics.written(&summary);
            let mut out = String::new();
            if self.asked.counted {
                let mut frame = self.frame(&[], true);
                frame["usage"] = usage(&summary);
                out = answer::event(&frame);
            }
            return (out + DONE, true);
        }
        let Some((candidate, ids, logprobs)) = self.take(event) else { return (String::new(), false) };
        let written = &mut self.candidates[candidate];
        let mut said = written.text.get(written.sent..).unwrap_or_default().to_owned();
        written.sent = written.sent.max(written.text.len());
        let finish = written.finish;
        let tells = (self.asked.logprobs || self.asked.ids) && !ids.is_empty();
        if said.is_empty() && !tells && finish.is_none() {
            return (String::new(), false);
        }
        let first = !std::mem::replace(&mut written.begun, true);
        if first {
            said.insert_str(0, &self.asked.echo);
            written.offset = self.asked.echo.chars().count();
        }
        let offset = written.offset;
        if self.asked.logprobs {
            let window = &self.serving.window;
            written.offset += ids.iter().map(|&id| window.token(id).chars().count()).sum::<usize>();
        }
        let mut choice = self.choice(candidate, &said, (&ids, &logprobs), offset, finish);
        if first && self.asked.form == Form::Chat {
            choice["delta"]["role"] = json!("assistant");
        }
        (answer::event(&self.frame(&[choice], true)), false)
    }

    /// What is said of a candidate; the tokens begin after `offset` characters.
    fn choice(
        &self,
        index: usize,
        said: &str,
        (ids, logprobs): (&[u32], &[f32]),
        offset: usize,
        finish: Option<FinishReason>,
    ) -> Value {
        let window = &self.serving.window;
        let tokens = || ids.iter().map(|&id| window.token(id));
        let mut choice = json!({ "index": index, "finish_reason": finish.map(reason), "logprobs": null });
        match self.asked.form {
            Form::Completion => choice["text"] = json!(said),
            Form::Chat if self.asked.stream => choice["delta"] = json!({ "content": said }),
            Form::Chat => choice["message"] = json!({ "role": "assistant", "content": said }),
        }
        if self.asked.ids {
            choice["token_ids"] = json!(ids);
        }
        if self.asked.logprobs && (!ids.is_empty() || !self.asked.stream) {
            choice["logprobs"] = match self.asked.form {
                Form::Completion => {
                    let offsets = tokens().scan(offset, |at, token| {
                        let begin = *at;
                        *at += token.chars().count();
                        Some(begin)
                    });
                    json!({ "tokens": tokens().collect::<Vec<_>>(), "token_logprobs": logprobs,
                            "text_offset": offsets.collect::<Vec<_>>(), "top_logprobs": null })
                }
                Form::Chat => {
                    let token = |(token, logprob): (String, &f32)| {
                        let bytes = (!token.contains(char::REPLACEMENT_CHARACTER)).then(|| token.as_bytes().to_vec());
                        json!({ "token": token, "logprob": logprob, "bytes": bytes, "top_logprobs": [] })
                    };
                    json!({ "content": tokens().zip(logprobs).map(token).collect::<Vec<_>>() })
                }
            };
        }
        choice
    }

    fn frame(&self, choices: &[Value], piece: bool) -> Value {
        let object = match (self.asked.form, piece) {
            (Form::Completion, _) => "text_completion",
            (Form::Chat, true) => "chat.completion.chunk",
            (Form::Chat, false) => "chat.completion",
        };
        json!({ "id": self.id, "object": object, "created": self.serving.since, "model": self.serving.info.model,
                "choices": choices })
    }
}

fn reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length | FinishReason::Budget => "length",
        FinishReason::Cancelled | FinishReason::Failed => "cancelled",
    }
}

fn usage(summary: &Summary) -> Value {
    json!({ "prompt_tokens": summary.prompt_tokens, "completion_tokens": summary.tokens,
            "total_tokens": summary.prompt_tokens + summary.tokens,
            "prompt_tokens_details": { "cached_tokens": summary.prompt_tokens_reused } })
}
