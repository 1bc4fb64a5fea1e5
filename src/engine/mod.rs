//! The BASS engine: batched speculative decoding of N candidates of one prompt, ragged and unpadded.
//!
//! Knows no file format, no terminal and no device.

pub mod event;
pub mod request;

pub use event::{Event, FinishReason, StepStats, Summary};
pub use request::{DraftLength, GenerateOptions, StopRules, TextStop};
