//! Turns the engine's events of a request into the JSON of `OpenAI`'s answers.

use std::sync::Arc;

use hyper::Response;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use super::Serving;
use super::answer::{self, Answer, DONE, Refusal};
use super::ask::{CompletionRequest, Form};
use super::choice::{Said, Scored, choice, of_prompt, scored};
use super::inbox::{Inbox, inbox};
use crate::channels::{self, Parts};
use crate::sampling::Scores;
use crate::source::{Event, FinishReason, Summary};

/// The output for a prompt.
#[derive(Default)]
struct Written {
    candidates: Vec<Candidate>,
    /// Scores of the prompt, if requested: its first token, and the others.
    prompt: Option<(u32, Scores)>,
    /// Set at its end.
    summary: Option<Summary>,
}

/// The output of a candidate.
#[derive(Default)]
struct Candidate {
    text: String,
    /// In a stream: the tokens that have not been sent.
    tokens: Scores,
    /// Number of its tokens.
    count: usize,
    finish: Option<FinishReason>,
    /// In a stream: true once anything of it has been sent.
    begun: bool,
    /// In a stream: bytes of its thoughts and of its answer that have been sent.
    sent: (usize, usize),
    /// In a stream: characters of the tokens that have been sent.
    offset: usize,
}

/// Answers a request.
pub async fn answer(
    serving: &Arc<Serving>,
    request: CompletionRequest,
    place: OwnedSemaphorePermit,
) -> Result<Response<Answer>, Refusal> {
    let (teller, mut inbox) = inbox(place, serving.stop.clone());
    let start = |(prompt, request): (usize, &crate::source::Request)| {
        let teller = teller.clone();
        let sink = Box::new(move |event| match event {
            Event::Step(_) => std::ops::ControlFlow::Continue(()),
            event => teller.tell((prompt, event)),
        });
        serving.source.generate(request.clone(), sink)
    };
    let tickets: Vec<_> = request.requests.iter().enumerate().map(start).collect();
    // From now on only the engine holds it.
    drop(teller);
    inbox.cancelled_by(move || tickets.iter().for_each(crate::source::Ticket::cancel_all));
    // A refusal becomes the status of the response.
    let first = inbox.next().await.and_then(check)?;
    let mut writing = Writing::new(serving.clone(), request);
    if !writing.request.stream {
        return writing.whole(first, inbox).await.map(|whole| answer::json(&whole));
    }
    let told = move |event| check(event).map(|event| writing.pieces(event));
    Ok(inbox.stream(serving.clone(), String::new(), first, told))
}

/// Passes on an event of one of the prompts, unless it reports that there are no candidates.
fn check((prompt, event): (usize, Event)) -> Result<(usize, Event), Refusal> {
    match event {
        Event::Refused(why) => Err(Refusal::bad(why)),
        Event::Failed(why) => Err(Refusal::failed(why)),
        event => Ok((prompt, event)),
    }
}

struct Writing {
    serving: Arc<Serving>,
    request: CompletionRequest,
    id: String,
    prompts: Vec<Written>,
}

impl Writing {
    fn new(serving: Arc<Serving>, request: CompletionRequest) -> Self {
        let kind = if request.form.has_messages() { "chatcmpl" } else { "cmpl" };
        let id = format!("{kind}-{}", serving.next_id());
        let empty = |n: usize| (0..n).map(|_| Candidate::default()).collect();
        let written = |n: usize| Written { candidates: empty(n), ..Written::default() };
        let prompts = request.requests.iter().map(|request| written(request.options.n)).collect();
        Self { serving, request, id, prompts }
    }

    /// The whole answer, once all candidates have ended.
    async fn whole(&mut self, first: (usize, Event), mut inbox: Inbox<(usize, Event)>) -> Result<Value, Refusal> {
        let mut next = first;
        loop {
            self.take(next);
            if self.prompts.iter().all(|written| written.summary.is_some()) {
                break;
            }
            next = inbox.next().await.and_then(check)?;
        }
        let mut choices = Vec::new();
        for (prompt, written) in self.prompts.iter().enumerate() {
            let all = written.candidates.len();
            let ranking = written.summary.iter().flat_map(|summary| summary.ranking.iter().copied());
            let order: Vec<usize> =
                if self.request.sent < all { ranking.take(self.request.sent).collect() } else { (0..all).collect() };
            for candidate in order {
                let Candidate { text, tokens, finish, .. } = &written.candidates[candidate];
                let (thoughts, text) = self.parts(text, true);
                let (mut all, offset) = self.before(prompt);
                let before = all.len();
                all.extend(scored(tokens, &self.serving.window));
                let text = format!("{}{text}", self.request.echo[prompt]);
                let said = Said { text, thoughts, tokens: &all, before, offset, finish: *finish };
                choices.push(choice(&self.request, &self.serving.window, choices.len(), &said));
            }
        }
        if self.request.form == Form::Native {
            return Ok(self.native(choices));
        }
        let mut whole = self.frame(&choices, false);
        whole["usage"] = self.usage();
        Ok(whole)
    }

    /// Thoughts and answer in a text; of completions all of it is the answer. Both only grow while the text
    /// does.
    fn parts(&self, text: &str, over: bool) -> (String, String) {
        if !self.request.native.is_sent() {
            return <(String, String)>::default();
        }
        let chat = self.serving.window.chat.as_ref().filter(|_| self.request.form == Form::Chat);
        let Some(chat) = chat else { return (String::new(), text.to_owned()) };
        let whole = format!("{}{text}", chat.begun());
        let Parts { thoughts, answer } = channels::parts(&whole, over);
        let is_plain = thoughts.is_empty();
        let thoughts = thoughts.into_iter().map(|range| whole[range].trim()).filter(|thought| !thought.is_empty());
        let answer = &whole[answer.unwrap_or_default()];
        let answer = if is_plain { answer } else { answer.trim_start() };
        (thoughts.collect::<Vec<_>>().join("\n\n"), answer.to_owned())
    }

    /// The tokens of a prompt that are reported with each of its candidates, and the number of characters
    /// before the first reported token.
    fn before(&self, prompt: usize) -> (Vec<Scored<'_>>, usize) {
        let text = &self.request.echo[prompt];
        match &self.prompts[prompt].prompt {
            Some((first, rest)) => (of_prompt(*first, rest, text, &self.serving.window), 0),
            None => (Vec::new(), text.chars().count()),
        }
    }

    /// Handles an event. Returns the candidate that it concerns.
    fn take(&mut self, (prompt, event): (usize, Event)) -> Option<(usize, usize)> {
        let written = self.prompts.get_mut(prompt)?;
        match event {
            Event::Tokens { candidate, text, ids, logprobs, alternatives, .. } => {
                let of = written.candidates.get_mut(candidate)?;
                of.text.push_str(&text);
                of.count += ids.len();
                of.tokens.ids.extend(ids);
                of.tokens.logprobs.extend(logprobs);
                of.tokens.alternatives.extend(alternatives);
                Some((prompt, candidate))
            }
            Event::Finished { candidate, reason, text, .. } => {
                let of = written.candidates.get_mut(candidate)?;
                (of.text, of.finish) = (text, Some(reason));
                Some((prompt, candidate))
            }
            Event::Scored { first, rest } => {
                written.prompt = Some((first, rest));
                None
            }
            Event::Done(summary) => {
                self.serving.metrics.written(&summary);
                written.summary = Some(*summary);
                None
            }
            _ => None,
        }
    }

    /// The pieces of the stream for an event, and true at the end.
    fn pieces(&mut self, event: (usize, Event)) -> (String, bool) {
        let may_end = matches!(event, (_, Event::Done(_)));
        let about = self.take(event);
        if may_end && self.prompts.iter().all(|written| written.summary.is_some()) {
            if self.request.form == Form::Native {
                let nothing = |index| choice(&self.request, &self.serving.window, index, &Said::default());
                let last = (0..self.prompts.len() * self.request.sent).map(nothing).collect();
                let last = self.native(last);
                let several = last.as_array().map_or(std::slice::from_ref(&last), Vec::as_slice);
                return (several.iter().map(answer::event).collect(), true);
            }
            let mut out = String::new();
            if self.request.counted {
                let mut frame = self.frame(&[], true);
                frame["usage"] = self.usage();
                out = answer::event(&frame);
            }
            return (out + DONE, true);
        }
        let Some((prompt, candidate)) = about else { return (String::new(), false) };
        let of = &self.prompts[prompt].candidates[candidate];
        let (all_thoughts, all_text) = self.parts(&of.text, of.finish.is_some());
        let of = &mut self.prompts[prompt].candidates[candidate];
        let thoughts = all_thoughts.get(of.sent.0..).unwrap_or_default().to_owned();
        let mut text = all_text.get(of.sent.1..).unwrap_or_default().to_owned();
        of.sent = (of.sent.0.max(all_thoughts.len()), of.sent.1.max(all_text.len()));
        let (finish, tokens) = (of.finish, std::mem::take(&mut of.tokens));
        let tells = (self.request.logprobs || self.request.ids) && !tokens.ids.is_empty();
        if text.is_empty() && thoughts.is_empty() && !tells && finish.is_none() {
            return (String::new(), false);
        }
        let (first, mut offset) = (!std::mem::replace(&mut of.begun, true), of.offset);
        let mut all = Vec::new();
        if first {
            text.insert_str(0, &self.request.echo[prompt]);
            (all, offset) = self.before(prompt);
        }
        let before = all.len();
        let window = &self.serving.window;
        all.extend(scored(&tokens, window));
        let said = Said { text, thoughts, tokens: &all, before, offset, finish };
        let number = prompt * self.request.sent + candidate;
        let mut choice = choice(&self.request, window, number, &said);
        if first && self.request.form.has_messages() {
            choice["delta"]["role"] = json!("assistant");
        }
        offset += all.iter().map(|token| token.width).sum::<usize>();
        self.prompts[prompt].candidates[candidate].offset = offset;
        let frame = if self.request.form == Form::Native { choice } else { self.frame(&[choice], true) };
        (answer::event(&frame), false)
    }

    /// The answer in llama.cpp's own form: of several candidates a list.
    fn native(&self, choices: Vec<Value>) -> Value {
        let mut choices = choices.into_iter();
        let mut told = Vec::new();
        for Written { candidates, summary, .. } in &self.prompts {
            let summary = summary.clone().unwrap_or_default();
            for (Candidate { count, finish, .. }, mut said) in candidates.iter().zip(choices.by_ref()) {
                said["model"] = json!(self.serving.info.model);
                told.push(self.request.native.answer(said, *count, *finish, &summary));
            }
        }
        if told.len() == 1 { told.remove(0) } else { Value::Array(told) }
    }

    fn frame(&self, choices: &[Value], piece: bool) -> Value {
        let object = match (self.request.form, piece) {
            (Form::Completion | Form::Native, _) => "text_completion",
            (Form::Chat | Form::Fim, true) => "chat.completion.chunk",
            (Form::Chat | Form::Fim, false) => "chat.completion",
        };
        json!({ "id": self.id, "object": object, "created": self.serving.since, "model": self.serving.info.model,
                "choices": choices })
    }

    /// Token counts over all prompts.
    fn usage(&self) -> Value {
        let sum = |of: fn(&Summary) -> usize| self.prompts.iter().flat_map(|written| &written.summary).map(of).sum();
        let (prompt, written, reused): (usize, usize, usize) =
            (sum(|s| s.prompt_tokens), sum(|s| s.tokens), sum(|s| s.prompt_tokens_reused));
        json!({ "prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written,
                "prompt_tokens_details": { "cached_tokens": reused } })
    }
}
