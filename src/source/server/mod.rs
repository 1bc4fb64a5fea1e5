//! A server that speaks the protocol of `OpenAI`'s completions as a source: `vLLM`, `SGLang`, `llama-server`,
//! Ollama, LM Studio and others. What it cannot tell (token ids, drafts) is absent from the events.
//!
//! - Opening sends a request for one token to learn the server's abilities (`probe`): completions or
//!   conversations, several candidates (`n`), log-probabilities, token counts.
//! - Parameters that a refusal names are left out, renamed or made smaller, and the server is not asked for
//!   them again (`retreat`). Settings that it does not take are told in the note. What names none of them is
//!   an error in the server's words.
//! - Fields of answers are read one by one (`answer`): one of an odd type is as good as absent. The bytes of
//!   an answer say what it is, not its content type: events, one JSON value or several (`asking`).
//! - An address is used as it is; one without a path means `/v1`. Where nothing is there, its other reading
//!   is tried (`Address::other`). A name that is not in the list of models is tried before it is refused.
//! - Without `n`, or at temperature 0, each candidate is a request with its own seed, as are candidates that
//!   an answer for several leaves out.
//! - Speeds are told only of texts whose pieces came one after another.
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
mod answer;
mod asking;
mod client;
mod error;
mod lines;
mod nearby;
mod probe;
mod reading;
mod retreat;
#[cfg(test)]
mod tests;
mod wire;
mod writing;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{Event, EventSink, Prompt, Request, Source, SourceInfo, Ticket, Window};
use crate::model::chat::is_named;
use crate::model::{Chat, ChatUse, Infill};
use crate::sampling::Sampling;
use crate::web::Patience;
pub use address::{Address, Key};
use asking::Stream;
use client::Client;
pub use error::ServerError;
pub use nearby::{Nearby, nearby};
use probe::{Probe, fills_in};
use wire::{Abilities, Listed};
use writing::Writing;

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
    /// What it will be asked for, so that what it does not take of that is known early.
    pub sampling: Option<&'a Sampling>,
}

/// A model on a server.
pub struct ServerSource {
    client: Arc<Client>,
    model: String,
    can: Abilities,
    window: Window,
    /// Its name is not in the server's list.
    is_unlisted: bool,
}

impl ServerSource {
    /// Asks the server what it has and what it can do.
    pub fn open(address: Address, key: Option<Key>, wishes: Wishes<'_>) -> Result<Self, ServerError> {
        let patience = Patience { pause: PAUSE, ..Patience::default() };
        let other = address.other();
        let opened = Self::open_with(Client::new(address, key.clone(), patience, FIRST)?, wishes);
        match (opened, other) {
            // Nothing there that can be used.
            (Err(error), Some(other))
                if error.is_absence() || matches!(error, ServerError::Model { .. } | ServerError::Answer { .. }) =>
            {
                Self::open_with(Client::new(other, key, patience, FIRST)?, wishes).map_err(|_| error)
            }
            (opened, _) => opened,
        }
    }

    fn open_with(client: Client, wishes: Wishes<'_>) -> Result<Self, ServerError> {
        let Wishes { model, chat, suffix, sampling } = wishes;
        let client = Arc::new(client);
        let connection = client.connect();
        let listed = match connection.get("/models", MOST_LIST) {
            Ok(json) => wire::models(&json),
            // Not all of them list their models, and of some the list is broken, or for others.
            Err(error) if error.is_absence() => Vec::new(),
            Err(ServerError::Status { status: ..502, .. } | ServerError::Answer { .. }) if model.is_some() => {
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        let (model, is_unlisted) = choose(&client, &listed, model)?;
        let said = chat.map(|chat| chat != ChatUse::No).or(client.address.chat());
        let wants_chat = said.unwrap_or_else(|| ChatUse::from(is_named(&model.id)) != ChatUse::No);
        let probe = Probe { client: &client, connection: &connection, model: &model.id, sampling };
        let mut can = probe.abilities(wants_chat, said.is_none()).map_err(|error| match error {
            ServerError::Status { status: 400 | 404 | 422, said, .. } if is_unlisted => {
                wrong(&client, &format!("has no model {}; it has {} ({said})", model.id, names(&listed)))
            }
            error => error,
        })?;
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
        Ok(Self { client, model: model.id, can, window, is_unlisted })
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
        let unlisted = self.is_unlisted.then(|| format!("{address} does not list {}, but takes it", self.model));
        let refused = self.client.refused.settings();
        let refused = (!refused.is_empty())
            .then(|| format!("{address} does not take {}: its own values count", refused.join(", ")));
        let notes: Vec<String> = [open, silent, unlisted, refused].into_iter().flatten().collect();
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

/// Error about the models of a server.
fn wrong(client: &Client, problem: &str) -> ServerError {
    ServerError::Model { at: client.address.to_string(), problem: client.words(problem) }
}

/// The first names of a list.
fn names(listed: &[Listed]) -> String {
    listed.iter().map(|model| model.id.as_str()).take(12).collect::<Vec<_>>().join(", ")
}

/// The model that is meant, by the name that was given, and whether it is missing in the list.
fn choose(client: &Client, listed: &[Listed], name: Option<&str>) -> Result<(Listed, bool), ServerError> {
    match (name, listed) {
        (Some(name), _) => {
            let exact = listed.iter().find(|model| model.id == name);
            let found = exact.or_else(|| listed.iter().find(|model| model.may_be(name)));
            let (context, weights) = found.map_or((0, 0), |found| (found.context, found.weights));
            Ok((Listed { id: name.to_owned(), context, weights }, found.is_none() && !listed.is_empty()))
        }
        (None, [one]) => Ok((one.clone(), false)),
        (None, []) => Err(wrong(client, "does not list its models: name one with --server-model")),
        (None, _) => {
            Err(wrong(client, &format!("has several models: name one with --server-model: {}", names(listed))))
        }
    }
}
