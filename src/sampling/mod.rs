//! Tokens from logits: counter-based randomness, filtered distributions, the acceptance rule. A leaf: pure
//! arithmetic on slices, the reference for every device.

pub mod accept;
pub mod alternatives;
pub mod distribution;
pub mod rng;

pub use accept::{Accept, Accepted, Draft, Proposal, propose, verify};
pub use alternatives::{Alternative, Scores, alternatives};
pub use distribution::{Distribution, Sampling, argmax, raw_logprob};
pub use rng::{DrawKey, Purpose, uniform};
