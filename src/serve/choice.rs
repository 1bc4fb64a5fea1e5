//! Candidates as the JSON of `OpenAI`'s answers.

use serde_json::{Map, Value, json};

use super::ask::{CompletionRequest, Form};
use crate::sampling::{Alternative, Scores};
use crate::source::{FinishReason, Window};

/// The part of a candidate that is sent at once: all of it, or a piece.
#[derive(Default)]
pub struct Said<'a> {
    pub text: String,
    /// Thoughts, which conversations have apart.
    pub thoughts: String,
    pub tokens: &'a [Scored<'a>],
    /// Number of these that belong to the prompt.
    pub before: usize,
    /// Characters before the first of the tokens.
    pub offset: usize,
    pub finish: Option<FinishReason>,
}

/// A token with its scores. The first of a prompt has no log-probability.
#[derive(Clone, Copy)]
pub struct Scored<'a> {
    pub id: u32,
    pub logprob: Option<f32>,
    pub alternatives: &'a [Alternative],
    /// Number of its characters in the text.
    pub width: usize,
}

/// The tokens of these scores.
pub fn scored<'a>(scores: &'a Scores, window: &Window) -> impl Iterator<Item = Scored<'a>> {
    scores.ids.iter().enumerate().map(|(at, &id)| Scored {
        id,
        logprob: scores.logprobs.get(at).copied(),
        alternatives: scores.alternatives.get(at).map_or(&[], Vec::as_slice),
        width: window.written(id).chars().count(),
    })
}

/// The tokens of a prompt with this text. A token without text of its own is shown by its name or omitted.
pub fn of_prompt<'a>(first: u32, rest: &'a Scores, text: &str, window: &Window) -> Vec<Scored<'a>> {
    let width = window.written(first).chars().count();
    let first = Scored { id: first, logprob: None, alternatives: &[], width };
    let mut tokens: Vec<Scored<'a>> = std::iter::once(first).chain(scored(rest, window)).collect();
    let mut left = text;
    for token in &mut tokens {
        if token.width == 0 {
            let name = window.token(token.id);
            token.width = if left.starts_with(&name) { name.chars().count() } else { 0 };
        }
        left = left.char_indices().nth(token.width).map_or("", |(at, _)| &left[at..]);
    }
    tokens
}

/// The choice with this index.
pub fn choice(request: &CompletionRequest, window: &Window, index: usize, said: &Said<'_>) -> Value {
    if request.form == Form::Native {
        let ids: Vec<u32> = said.tokens[said.before..].iter().map(|token| token.id).collect();
        let ids = if request.ids { ids } else { Vec::new() };
        return json!({ "index": index, "content": said.text, "tokens": ids, "stop": false });
    }
    let mut choice = json!({ "index": index, "finish_reason": said.finish.map(reason), "logprobs": null });
    match request.form {
        Form::Completion | Form::Native => choice["text"] = json!(said.text),
        Form::Chat | Form::Fim => {
            let mut message = json!({ "content": said.text });
            if !said.thoughts.is_empty() {
                message["reasoning_content"] = json!(said.thoughts);
            }
            if request.stream {
                choice["delta"] = message;
            } else {
                message["role"] = json!("assistant");
                choice["message"] = message;
            }
        }
    }
    if request.ids {
        choice["token_ids"] = said.tokens[said.before..].iter().map(|token| token.id).collect();
    }
    if request.logprobs && (!said.tokens.is_empty() || !request.stream) {
        choice["logprobs"] = match request.form {
            Form::Completion | Form::Native => of_completion(window, said),
            Form::Chat | Form::Fim => {
                json!({ "content": said.tokens.iter().map(|token| of_chat(window, token)).collect::<Vec<_>>() })
            }
        };
    }
    choice
}

/// Lists of scores, token by token.
fn of_completion(window: &Window, said: &Said<'_>) -> Value {
    let texts: Vec<String> = said.tokens.iter().map(|token| window.token(token.id)).collect();
    let offsets = said.tokens.iter().scan(said.offset, |at, token| {
        let begin = *at;
        *at += token.width;
        Some(begin)
    });
    let offsets: Vec<usize> = offsets.collect();
    let logprobs: Vec<Option<f32>> = said.tokens.iter().map(|token| token.logprob).collect();
    let asks = said.tokens.iter().any(|token| !token.alternatives.is_empty());
    let tops: Option<Vec<Value>> = asks.then(|| said.tokens.iter().map(|token| by_text(window, token)).collect());
    json!({ "tokens": texts, "token_logprobs": logprobs, "text_offset": offsets, "top_logprobs": tops })
}

/// Alternatives by their text, with the token itself. Of several with the same text, the most probable.
fn by_text(window: &Window, token: &Scored<'_>) -> Value {
    let Some(own) = token.logprob else { return Value::Null };
    let own = Alternative { id: token.id, logprob: own };
    let mut texts = Map::new();
    let itself = Some(&own).filter(|own| token.alternatives.iter().all(|other| other.id != own.id));
    for alternative in token.alternatives.iter().chain(itself) {
        texts.entry(window.token(alternative.id)).or_insert(json!(alternative.logprob));
    }
    Value::Object(texts)
}

fn of_chat(window: &Window, token: &Scored<'_>) -> Value {
    let one = |id: u32, logprob: Option<f32>| {
        let text = window.token(id);
        let bytes = (!text.contains(char::REPLACEMENT_CHARACTER)).then(|| text.as_bytes().to_vec());
        json!({ "token": text, "logprob": logprob, "bytes": bytes })
    };
    let mut told = one(token.id, token.logprob);
    told["top_logprobs"] = token.alternatives.iter().map(|a| one(a.id, Some(a.logprob))).collect();
    told
}

fn reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length | FinishReason::Budget => "length",
        FinishReason::Cancelled | FinishReason::Failed => "cancelled",
    }
}
