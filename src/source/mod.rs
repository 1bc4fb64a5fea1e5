//! Where candidates come from. Screen and commands know only this room: they send requests and receive
//! events.
//!
//! To add a source: a file or folder beside `local`, opened in `cli/session.rs`. `job::Run` tests and picks
//! what any source writes. `tests/cli/contract.rs` holds every source against one list of nine checks.

pub mod local;
mod profiles;
pub mod server;
mod window;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::GenerateOptions;
use crate::engine::drafter::NamedDrafter;
pub use crate::engine::{Event, FinishReason, StepStats, Summary};
pub use crate::model::PromptText;
pub use local::{Drafting, LocalModels, LocalSource, Shared, SourceError};
pub use server::{ServerError, ServerSource};
pub use window::Window;

/// The prompt of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// Text, tokenised with the special tokens that the model's tokenizer adds.
    Text(PromptText),
    /// Text that has all its special tokens written out.
    Written(PromptText),
    /// Token ids, fed as they are.
    Ids(Vec<u32>),
}

impl Prompt {
    /// The prompt of a text that is all the user's: special tokens in it are letters.
    pub fn of_words(text: impl Into<String>) -> Self {
        Self::Text(PromptText::words(text))
    }
}

/// Is told the bytes of models that have been read, and those in all.
pub type Told = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// Error for a prompt without text.
const EMPTY: &str = "the prompt is empty: there is nothing to complete";

/// A request for candidates.
#[derive(Clone, Debug)]
pub struct Request {
    /// The prompt shared by all candidates.
    pub prompt: Prompt,
    /// Text that the candidates may quote, for drafters that look things up.
    pub reference: Option<String>,
    /// Everything else.
    pub options: GenerateOptions,
}

/// Receives the events of one generation, on the source's own thread. Must not block for long. `Break` says
/// that nobody listens any more: the generation then ends within one step, without further events.
pub type EventSink = Box<dyn FnMut(Event) -> ControlFlow<()> + Send>;

/// Description of a source, for the status line and JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SourceInfo {
    /// Name of the main model.
    pub model: String,
    /// Name of the draft model, of what looks up without one, or `none`.
    pub draft: String,
    /// `cpu`, `cuda` or the server's address.
    pub device: String,
    /// Storage type of the main model's weights.
    pub dtype: String,
    /// Kernel set, for example `avx2`.
    pub kernel: String,
    /// Worker threads.
    pub threads: usize,
    /// Most positions (prompt and completion) of a candidate.
    pub context: usize,
    /// Note for the user, such as why it is not on a better device that this machine has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Box<str>>,
}

impl SourceInfo {
    /// `main + draft`, or `main` without a draft model.
    pub fn pair(&self) -> String {
        pair(&self.model, &self.draft)
    }

    /// A server writes, which tells nothing of drafts and weights: its device is an address.
    pub fn is_served(&self) -> bool {
        self.device.contains("://")
    }
}

/// `main + draft`, or `main` where that names no model.
pub fn pair(main: &str, draft: &str) -> String {
    let is_model = !draft.is_empty() && draft != "none" && NamedDrafter::find(draft).is_none();
    if is_model { format!("{main} + {draft}") } else { main.to_owned() }
}

/// Work of a source, and memory that it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Candidates that are being written.
    pub candidates: usize,
    /// Those of them in places that are kept for small requests.
    pub small: usize,
    /// Requests of which nothing is written yet.
    pub waiting: usize,
    /// Positions of keys and values that requests hold.
    pub positions: usize,
    /// Positions that they may hold.
    pub most_positions: usize,
    /// Bytes of keys and values, kept prompts included.
    pub kv_bytes: usize,
}

/// Something that turns a request into a stream of events.
pub trait Source: Send + Sync {
    /// Its models and device.
    fn info(&self) -> SourceInfo;

    /// Limits of its prompts. By default the function and what it names, no more.
    fn window(&self) -> Window {
        Window::default()
    }

    /// Queues a request; its events go to `sink`, the last one being `Done`, `Refused` or `Failed`. Never
    /// blocks. Requests may run at the same time.
    fn generate(&self, request: Request, sink: EventSink) -> Ticket;

    /// Its current work.
    fn load(&self) -> Load {
        Load::default()
    }

    /// Says what may be asked for next, so that the prompt can be read while nothing else is to be done.
    fn read_ahead(&self, prompt: Prompt) {
        drop(prompt);
    }
}

/// A running or waiting request. Dropping it does not cancel.
#[derive(Clone, Debug)]
pub struct Ticket {
    all: Arc<AtomicBool>,
    each: Arc<[AtomicBool]>,
}

impl Ticket {
    /// A ticket for `n` candidates.
    pub fn new(n: usize) -> Self {
        Self { all: Arc::default(), each: (0..n).map(|_| AtomicBool::new(false)).collect() }
    }

    /// Ends all candidates within one step; what they have so far is kept (`FinishReason::Cancelled`).
    pub fn cancel_all(&self) {
        self.all.store(true, Ordering::Relaxed);
    }

    /// Ends one candidate within one step.
    pub fn cancel(&self, candidate: usize) {
        if let Some(flag) = self.each.get(candidate) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// The cancelled candidates.
    pub fn cancelled(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.each.len()).filter(|&candidate| self.is_cancelled(candidate))
    }

    /// The candidate has been cancelled, alone or with all.
    pub fn is_cancelled(&self, candidate: usize) -> bool {
        self.all.load(Ordering::Relaxed) || self.each.get(candidate).is_some_and(|c| c.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn a_pair_names_models_only() {
        assert_eq!(pair("main", "small"), "main + small");
        assert!(["", "none", "lookup", "sibling"].iter().all(|draft| pair("main", draft) == "main"));
    }
}
