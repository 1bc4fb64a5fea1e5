//! The BASS engine: batched speculative decoding of N candidates of one prompt, ragged and unpadded.
//!
//! Knows no file format, no terminal and no device. [`Engine`] works on the caller's thread; `source::local`
//! gives it a thread of its own. Requests that are there at the same time advance together in one ragged
//! batch, each with its own prompt.

mod batch;
pub mod draft_length;
pub mod drafter;
pub mod event;
mod group;
mod joining;
pub mod profile;
mod prompts;
mod rank;
pub mod request;
mod room;
mod sequence;
mod stats;
mod step;
mod stop;

pub use batch::Engine;
pub use drafter::{ChainDrafter, Drafter, LookupDrafter, LookupSettings, ModelDrafter};
pub use event::{Event, FinishReason, RequestId, StepStats, Summary};
pub use profile::Profile;
pub(crate) use rank::{Standing, rank};
pub use request::{DraftLength, GenerateOptions, Reading, StopRules, TextStop};
pub(crate) use stats::Stats;
pub(crate) use stop::Text;

use crate::backend::BackendError;

/// Most candidates of one request.
pub const MAX_CANDIDATES: usize = 64;

/// Prompt tokens per pass of the prefill: between two passes a cancellation is noticed and progress is
/// reported.
const PREFILL_SLAB: usize = 256;

/// The same where the logits of each are looked at, which take room.
const SCORED_SLAB: usize = 64;

/// Why a request could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The request cannot be met; the sentence says which part of it and what is possible.
    #[error("{0}")]
    Request(String),
    /// The network failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// This request failed, others may go on.
    #[error("{0}")]
    Failed(String),
    /// Another failure took the request with it.
    #[error("the request ended without an outcome (an internal error)")]
    Lost,
}
