//! Counter-based randomness: every draw is a function of its key, never of a stream.

/// What a draw belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawKey {
    /// Seed of the generation.
    pub seed: u64,
    /// Index of the candidate.
    pub candidate: u32,
    /// Position of the token being drawn, in its own sequence.
    pub position: u32,
}

/// What a draw is for; draws for different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A token from the main model's distribution.
    Sample = 0,
    /// A draft token.
    Draft = 1,
    /// Whether a draft token is accepted.
    Accept = 2,
    /// The replacement of a rejected draft token.
    Residual = 3,
}
