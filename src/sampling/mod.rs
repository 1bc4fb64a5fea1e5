//! Tokens from logits: counter-based randomness, filtered distributions, the acceptance rule. A leaf: pure
//! arithmetic on slices, the reference for every device.
//!
//! Both acceptance rules keep the main model's distribution exactly.
//!
//! - `coupled` (default): both models draw with the same Gumbel noise, keyed by seed, candidate and position.
//!   A draft token is kept if it is the main model's own choice. The output equals plain sampling with that
//!   seed, whatever the drafts. So draft lengths may follow measured times without changing the text.
//! - `rejection`: accept x with probability min(1, p(x)/q(x)), else draw from norm((p - q)+). The drafts
//!   decide which of the equally distributed texts is written.

pub mod accept;
pub mod alternatives;
pub mod distribution;
pub mod rng;

pub use accept::{Accept, Accepted, Draft, Proposal, propose, verify};
pub use alternatives::{Alternative, Scores, alternatives};
pub use distribution::{Distribution, Sampling, argmax, raw_logprob};
pub use rng::{DrawKey, Purpose, uniform};
