//! A server that speaks the protocol of `OpenAI`'s completions as a source: `vLLM`, `SGLang`, `llama-server`,
//! Ollama, LM Studio and others. What it cannot tell (token ids, drafts) is absent from the events.
//!
//! - Opening sends a request for one token to learn the server's abilities: completions or conversations,
//!   several candidates (`n`), log-probabilities, token counts. It drops fields until the server accepts.
//! - Without `n`, or at temperature 0, each candidate is a request with its own seed.
//! - `suffix` is sent only if the user says that the model fills in. Two requests check it: a server that
//!   counts no more tokens with a suffix ignores it, and is refused.
//! - Temperature, seed and limit are always sent; other options only if set. Function ends, stop strings and
//!   the function in an answer are found here, by `engine::Text`.
//! - Ending a candidate closes its connection, unless others share it. A failed candidate is `Broken`; the
//!   others go on. The whole request fails only if nothing was written.
//! - Without log-probabilities `mean_logprob` is `None`, and the rank is by agreement (`job::agreement`).
//! - Requests are repeated before their text begins (429, 5xx, connections), never after.
//! - `nearby` asks the usual ports of this machine, for `models list` only, and waits 200 ms for all
//!   together.
//! - By hand, nine checks (`CONTRACT_SERVER`): `llama-server` (xllamacpp 2026.10.11549) passes nine,
//!   `transformers serve` 5.24.0 eight; it lacks seeds per request.

mod address;
mod client;
mod error;
mod lines;
mod nearby;
#[cfg(test)]
mod tests;
mod wire;
mod writing;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{Event, EventSink, Prompt, Request, Source, SourceInfo, Ticket, Window};
use crate::engine::GenerateOptions;
use crate::model::chat::is_named;
use crate::model::{Chat, ChatUse, Infill};
use crate::sampling::Sampling;
use crate::web::Patience;
pub use address::{Address, Key};
use client::{Client, Connection};
pub use error::ServerError;
pub use nearby::{Nearby, nearby};
use wire::{Abilities, Listed};
use writing::{Stream, Writing, chunks};

/// Longest wait for the beginning of an answer.
const FIRST: Duration = Duration::from_secs(300);
/// Before a request is made for the second time: whoever waits sits in front of it.
const PAUSE: Duration = Duration::from_millis(250);
/// Bytes of a list of models that are read.
const MOST_LIST: u64 = 4 << 20;
/// Weights of a model that does not tell them: who runs a server runs no very small one.
const WEIGHTS: usize = 1_000_000_000;

/// Choices for a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'a> {
    /// Which model; may be left out where it has but one.
    pub model: Option<&'a str>,
    /// It is asked in conversations; `None`: as the model's name says.
    pub chat: Option<ChatUse>,
    /// It is sent the text after the place.
    pub suffix: bool,
}

/// A model on a server.
pub struct ServerSource {
    client: Arc<Client>,
    model: String,
    can: Abilities,
    window: Window,
}

impl ServerSource {
    /// Asks the server what it has and what it can do.
    pub fn open(address: Address, key: Option<Key>, wishes: Wishes<'_>) -> Result<Self, ServerError> {
        let patience = Patience { pause: PAUSE, ..Patience::default() };
        Self::open_with(Client::new(address, key, patience, FIRST)?, wishes)
    }

    fn open_with(client: Client, Wishes { model, chat, suffix }: Wishes<'_>) -> Result<Self, ServerError> {
        let client = Arc::new(client);
        let connection = client.connect();
        let listed = match connection.get("/v1/models", MOST_LIST) {
            Ok(json) => Some(wire::models(&json)),
            // Not all of them list their models, and of some the list is broken.
            Err(ServerError::Status { status: 404 | 405 | 501, .. }) => None,
            Err(ServerError::Status { status: 500, .. }) if model.is_some() => None,
            Err(error) => return Err(error),
        };
        let model = choose(&client, listed.as_deref().unwrap_or_default(), model)?;
        let wants_chat = chat.unwrap_or_else(|| is_named(&model.id).into()) != ChatUse::No;
        let mut can = probe(&client, &connection, &model.id, wants_chat, chat.is_none())?;
        if suffix {
            can.suffix = true;
            fills_in(&client, &connection, &model.id, can)?;
        }
        let weights = Some(model.weights).filter(|&n| n > 0).or_else(|| wire::weights_of(&model.id));
        let mut window = Window::served(weights.unwrap_or(WEIGHTS), model.context);
        window.infill = can.suffix.then_some(Infill::APART);
        if can.chat {
            window = window.asked(Some(Chat::of_server()));
        }
        Ok(Self { client, model: model.id, can, window })
    }

    /// Note for the user.
    fn note(&self) -> Option<Box<str>> {
        let address = &self.client.address;
        let open = !address.is_inside() && !address.is_encrypted();
        let open =
            open.then(|| format!("requests to {address} are not encrypted: others in that network can read them"));
        let silent = !self.can.logprobs;
        let silent = silent.then(|| {
            format!(
                "{address} tells no log-probabilities: candidates are ranked by their tests, then by how many say the same"
            )
        });
        let notes: Vec<String> = open.into_iter().chain(silent).collect();
        (!notes.is_empty()).then(|| notes.join("; ").into())
    }

    /// The requests for the candidates of `request`.
    fn streams(&self, request: &Request) -> Vec<Stream> {
        let options = &request.options;
        // Some servers refuse several candidates that would all be the same.
        let together = self.can.n && options.sampling.temperature > 0.0;
        let groups: Vec<(usize, usize)> =
            if together { vec![(0, options.n)] } else { (0..options.n).map(|c| (c, 1)).collect() };
        let stream = |(first, n)| {
            let body = wire::request(&self.model, &request.prompt, options, self.can, (first, n));
            Stream { path: self.can.path(), body, first, n }
        };
        groups.into_iter().map(stream).collect()
    }
}

impl Source for ServerSource {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            model: self.model.clone(),
            draft: "none".to_owned(),
            device: self.client.address.to_string(),
            context: self.window.context,
            note: self.note(),
            ..SourceInfo::default()
        }
    }

    fn window(&self) -> Window {
        self.window.clone()
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        let ticket = Ticket::new(request.options.n);
        let refusal = match &request.prompt {
            Prompt::Text(text) if text.is_empty() => Some(super::EMPTY),
            Prompt::Ids(_) if self.can.chat => {
                Some("token ids cannot be sent to a model that is asked in conversations")
            }
            _ => None,
        };
        if let Some(why) = refusal {
            let _ = sink(Event::Refused(why.to_owned()));
            return ticket;
        }
        let streams = self.streams(&request);
        let writing = Writing::new(self.client.clone(), request.options, ticket.clone(), sink);
        // Without a thread its sink is dropped, and whoever listens hears that nothing comes.
        let _ = thread::Builder::new().name("candidates".to_owned()).spawn(move || writing.run(streams));
        ticket
    }
}

/// The model that is meant.
fn choose(client: &Client, listed: &[Listed], name: Option<&str>) -> Result<Listed, ServerError> {
    let wrong =
        |problem: String| ServerError::Model { at: client.address.to_string(), problem: client.words(&problem) };
    let known = || listed.iter().map(|model| model.id.as_str()).take(12).collect::<Vec<_>>().join(", ");
    match (name, listed) {
        (Some(name), []) => Ok(Listed { id: name.to_owned(), context: 0, weights: 0 }),
        (Some(name), _) => {
            let found = listed.iter().find(|model| model.id == name);
            found.cloned().ok_or_else(|| wrong(format!("has no model {name}; it has {}", known())))
        }
        (None, [one]) => Ok(one.clone()),
        (None, []) => Err(wrong("does not list its models: name one with --server-model".to_owned())),
        (None, _) => Err(wrong(format!("has several models: name one with --server-model: {}", known()))),
    }
}

/// Finds out what the server can do, with requests for one token: the first that it takes.
fn probe(
    client: &Client,
    connection: &Connection,
    model: &str,
    chat: bool,
    either: bool,
) -> Result<Abilities, ServerError> {
    let mut refused = None;
    for chat in [chat, !chat].into_iter().take(if either { 2 } else { 1 }) {
        let forms = [(true, true, true), (true, false, true), (false, true, true), (false, false, false)];
        for (n, logprobs, usage) in forms {
            let can = Abilities { chat, n, logprobs, usage, suffix: false };
            let (sampling, many) = (Sampling { temperature: 1.0, ..Sampling::GREEDY }, if n { 2 } else { 1 });
            let options = GenerateOptions { max_tokens: 1, sampling, ..GenerateOptions::default() };
            let body = wire::request(model, &Prompt::Text("def".to_owned()), &options, can, (0, many));
            let stream = Stream { path: can.path(), body, first: 0, n: many };
            let (mut seen, mut told, mut fault) = (0, false, None);
            let outcome = chunks(client, connection, &stream, false, &mut |chunk| {
                let last = chunk.choices.iter().map(|choice| choice.index + 1).max().unwrap_or(0);
                seen = seen.max(last);
                told |= chunk.choices.iter().any(|choice| choice.logprobs().is_some_and(|list| !list.is_empty()));
                fault = fault.take().or(chunk.error);
                true
            });
            let error = match (outcome, fault) {
                (Ok(()), None) if seen > 0 => return Ok(Abilities { n: seen > 1, logprobs: told, ..can }),
                (Ok(()), None) => client.unusable("it holds no completion"),
                (Ok(()), Some(fault)) => ServerError::GaveUp {
                    at: client.address.to_string(),
                    said: client.words(&client::message(&fault).unwrap_or_default()),
                },
                (Err(error), _) => error,
            };
            match &error {
                ServerError::Status { status: 401 | 403 | 429, .. } => return Err(error),
                // There is nothing at this path: no other form of the request helps.
                ServerError::Status { status: 404 | 405 | 501, .. } => {
                    refused.get_or_insert(error);
                    break;
                }
                ServerError::Status { status, .. } if *status < 502 => refused.get_or_insert(error),
                ServerError::GaveUp { .. } => refused.get_or_insert(error),
                _ => return Err(error),
            };
        }
    }
    Err(refused.unwrap_or_else(|| client.unusable("it holds no completion")))
}

/// Makes sure that a server reads the text after the place: with it, it counts more tokens. Some servers
/// ignore fields that they do not know.
fn fills_in(client: &Client, connection: &Connection, model: &str, can: Abilities) -> Result<(), ServerError> {
    let wrong = |problem: &str| {
        let problem = format!("{problem}: leave --server-suffix, or `suffix` in models.toml, out");
        ServerError::Model { at: client.address.to_string(), problem }
    };
    if can.chat {
        return Err(wrong("is asked in conversations, which have no `suffix`"));
    }
    let count = |text: &str| {
        let options = GenerateOptions { max_tokens: 1, ..GenerateOptions::default() };
        let body = wire::request(model, &Prompt::Text(text.to_owned()), &options, can, (0, 1));
        let stream = Stream { path: can.path(), body, first: 0, n: 1 };
        let mut told = None;
        let outcome = chunks(client, connection, &stream, false, &mut |chunk| {
            told = chunk.usage.map(|usage| usage.prompt_tokens).or(told);
            chunk.error.is_none()
        });
        outcome.map(|()| told)
    };
    let (before, after) = ("def add(a, b):\n    return ", "\n\n\nprint(add(1, 2))\n");
    match (count(before)?, count(&Infill::APART.prompt(before, after))) {
        (Some(without), Ok(Some(with))) if with > without => Ok(()),
        (Some(_), Ok(Some(_))) => Err(wrong("passes over `suffix`")),
        (_, Ok(_)) => Err(wrong("counts no tokens, so that it is not known whether it reads `suffix`")),
        (_, Err(ServerError::Status { status, said, .. })) if (400..502).contains(&status) => {
            Err(wrong(&format!("does not take `suffix` ({said})")))
        }
        (_, Err(error)) => Err(error),
    }
}
