//! The acceptance rule of speculative sampling.

use super::Distribution;

/// Which rule accepts draft tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// Accept with probability min(1, p/q), else draw from norm((p − q)+).
    #[default]
    Rejection,
}

/// A proposed token.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The token.
    pub token: u32,
    /// What it was drawn from.
    pub proposal: Proposal,
}

/// The distribution a draft token was really drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// All mass on the token: lookups and greedy drafts.
    Certain,
    /// Drawn from this distribution.
    Drawn(Distribution),
}

/// Outcome of verifying one sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {}

/// Verifies the drafts of one sequence.
pub fn verify() -> Accepted {
    todo!()
}
