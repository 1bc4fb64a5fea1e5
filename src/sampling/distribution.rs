//! From logits to the distribution that tokens are drawn from.

/// Temperature and filters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f32,
    /// Keep the k most probable tokens (ties with the k-th are kept).
    pub top_k: Option<usize>,
    /// Keep the smallest set of most probable tokens with this mass.
    pub top_p: Option<f32>,
    /// Drop tokens less probable than this share of the best one.
    pub min_p: Option<f32>,
    /// Divide (or multiply, when negative) the logits of tokens that have occurred.
    pub repetition_penalty: Option<f32>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 0.8, top_k: None, top_p: Some(0.95), min_p: None, repetition_penalty: None }
    }
}

/// A filtered, normalised distribution over token ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {}

/// Natural logarithm of the softmax of `logits` `[vocab]` at `id`.
pub fn raw_logprob(_logits: &[f32], _id: u32) -> f32 {
    todo!()
}
