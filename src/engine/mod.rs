//! The BASS engine: batched speculative decoding of N candidates of one prompt, ragged and unpadded.
//!
//! Knows no file format, no terminal and no device. [`Engine`] works on the caller's thread; `source::local`
//! gives it a thread of its own. Requests that are there at the same time advance together in one ragged
//! batch, each with its own prompt.
//!
//! - `submit` queues a request, each `step` advances all requests of the batch, events come out. Requests
//!   join in order of arrival while there are at most 64 live candidates. Where many are served, positions of
//!   K/V are bounded as well, and a part of both bounds is reserved for small requests (`admission`).
//! - A request that is cancelled, out of time or without a listener leaves before the next step.
//! - Per step: drafters offer, a policy (`draft_length`) chooses a length per candidate, drafters propose,
//!   one pass of the main model verifies all rows. Each candidate takes what it accepts and one token more.
//! - Warm prompts (`prompts`): K/V of both models is kept up to `kv_cache` MiB, least recently used out
//!   first. A prompt that begins with a kept one, or shares half of its tokens with it, reads only the rest
//!   (`prompt_tokens_reused`). The screen names the prompt in view (`Source::read_ahead`); it is read 64
//!   tokens at a time while no request runs.
//! - Stops (`stop`): end ids, stop strings across token borders, a rule on the text (`code::function_end`).
//!   Text that may still become part of a stop is held back.
//! - Rank: complete candidates before cut ones, then mean log-probability under the raw main model, then
//!   index.

mod admission;
mod batch;
pub mod draft_length;
pub mod drafter;
pub mod event;
mod prefill;
pub mod profile;
mod prompts;
mod rank;
pub mod request;
mod request_state;
mod sequence;
mod stats;
mod step;
mod stop;

pub use batch::Engine;
pub use draft_length::DraftLength;
pub use drafter::{ChainDrafter, DraftVocabulary, Drafter, HeadDrafter, LookupDrafter, LookupSettings, ModelDrafter};
pub use event::{Event, FinishReason, RequestId, StepStats, Summary, thoughts_took_all};
pub use profile::Profile;
pub(crate) use rank::{Standing, rank};
pub use request::{Begins, GenerateOptions, Reading, StopRules, TextStop, Thinks};
pub(crate) use stats::Stats;
pub(crate) use stop::Text;

use crate::backend::BackendError;
pub use crate::sampling::Alternative;

/// Most candidates of one request.
pub const MAX_CANDIDATES: usize = 64;

/// Prompt tokens per pass of the prefill: between two passes a cancellation is noticed and progress is
/// reported.
const PREFILL_SLAB: usize = 256;

/// Prompt tokens per pass where the logits of each are wanted, which take memory.
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
