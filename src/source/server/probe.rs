//! Trials of what a server can do: requests for one token.

use super::ServerError;
use super::asking::{Ending, Stream, chunks};
use super::client::{Client, Connection};
use super::retreat::wants_more_tokens;
use super::wire::{self, Abilities};
use crate::engine::GenerateOptions;
use crate::model::{Infill, PromptText};
use crate::sampling::Sampling;
use crate::source::Prompt;

/// Tokens of a trial where one is too few.
const MORE_TOKENS: usize = 32;

/// A model on a server that is tried.
pub struct Probe<'a> {
    pub client: &'a Client,
    pub connection: &'a Connection,
    pub model: &'a str,
    /// It will be asked for this, if that is known.
    pub sampling: Option<&'a Sampling>,
}

impl Probe<'_> {
    /// What the server can do: the first form of a request that it takes. `either` says that a server that is
    /// not asked in conversations (`chat`) may be asked for completions, and the other way round.
    pub fn abilities(&self, chat: bool, either: bool) -> Result<Abilities, ServerError> {
        let mut refused = None;
        for chat in [chat, !chat].into_iter().take(if either { 2 } else { 1 }) {
            // What is refused by name is left out alone; these are for refusals that name nothing.
            let forms = [(true, true, true), (true, false, true), (false, true, true), (false, false, false)];
            for (n, logprobs, usage) in forms {
                let error = match self.trial(Abilities { chat, n, logprobs, usage, suffix: false }, 1) {
                    Ok(can) => return Ok(can),
                    Err(error) => error,
                };
                match &error {
                    // There is nothing at this path: no other form of the request helps.
                    error if error.is_absence() => {
                        refused.get_or_insert(error.clone());
                        break;
                    }
                    ServerError::Status { status: 401 | 403 | 429, .. } => return Err(error),
                    ServerError::Status { status, .. } if *status < 502 => refused.get_or_insert(error),
                    ServerError::GaveUp { .. } => refused.get_or_insert(error),
                    _ => return Err(error),
                };
            }
        }
        Err(refused.unwrap_or_else(|| self.client.unusable("it holds no completion")))
    }

    /// A request of this form; what can be done of it.
    fn trial(&self, can: Abilities, tokens: usize) -> Result<Abilities, ServerError> {
        let usual = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        let sampling = self.sampling.copied().unwrap_or(usual);
        // Greedy candidates are never asked for together.
        let together = can.n && sampling.temperature > 0.0;
        let many = if together { 2 } else { 1 };
        let options = GenerateOptions { max_tokens: tokens, sampling, ..GenerateOptions::default() };
        let body = wire::request(self.model, &Prompt::Text(PromptText::marks("def")), &options, can, (0, many));
        let stream = Stream { path: can.path(), body, first: 0, n: many };
        let (mut seen, mut told) = (0, false);
        let outcome = chunks(self.client, self.connection, &stream, false, &mut |chunk| {
            let last = chunk.choices.iter().map(|choice| choice.index + 1).max().unwrap_or(0);
            seen = seen.max(last);
            told |= chunk.choices.iter().any(|choice| choice.logprobs.as_ref().is_some_and(|list| !list.is_empty()));
            true
        });
        match outcome {
            Ok(Ending::Apart) => self.trial(Abilities { n: false, ..can }, tokens),
            Ok(_) if seen > 0 => Ok(Abilities { n: if together { seen > 1 } else { can.n }, logprobs: told, ..can }),
            Ok(_) => Err(self.client.unusable("it holds no completion")),
            Err(error) if tokens < MORE_TOKENS && error.refusal().is_some_and(wants_more_tokens) => {
                self.trial(can, MORE_TOKENS)
            }
            Err(error) => Err(error),
        }
    }
}

/// Makes sure that a server reads the text after the place: with it, it counts more tokens. Some servers
/// ignore fields that they do not know.
pub fn fills_in(client: &Client, connection: &Connection, model: &str, can: Abilities) -> Result<(), ServerError> {
    let wrong = |problem: &str| {
        let problem = format!("{problem}: leave --server-suffix, or `suffix` in models.toml, out");
        ServerError::Model { at: client.address.to_string(), problem }
    };
    if can.chat {
        return Err(wrong("is asked in conversations, which have no `suffix`"));
    }
    let count = |text: &str| {
        let options = GenerateOptions { max_tokens: 1, ..GenerateOptions::default() };
        let body = wire::request(model, &Prompt::Text(PromptText::marks(text)), &options, can, (0, 1));
        let stream = Stream { path: can.path(), body, first: 0, n: 1 };
        let mut told = None;
        let outcome = chunks(client, connection, &stream, false, &mut |chunk| {
            told = chunk.usage.map(|usage| usage.prompt_tokens).or(told);
            true
        });
        outcome.map(|_| told)
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
