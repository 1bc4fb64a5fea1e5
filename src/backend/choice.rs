//! What is drawn from logits, as data, so that it can be done where the logits live.

use crate::sampling::{self, Accept, Accepted, Draft, DrawKey, Sampling};

/// What all draws of a generation have in common.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceRules<'a> {
    /// Temperature and filters.
    pub sampling: &'a Sampling,
    /// The acceptance rule.
    pub accept: Accept,
    /// Key of all randomness.
    pub seed: u64,
    /// Only ids below this are proposed: the main model's vocabulary, which may be smaller than the draft model's.
    pub vocab: usize,
}

/// The draws of one sequence.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceItem<'a> {
    /// What it has in common with the other draws of its generation.
    pub rules: ChoiceRules<'a>,
    /// First row of logits that belongs to it; a verification uses one row more than it has drafts.
    pub row: usize,
    /// Index of the candidate.
    pub candidate: u32,
    /// The tokens before the first position drawn for; their number is that position.
    pub history: &'a [u32],
    /// The draft tokens: to be verified, or (when proposing) already proposed after `history`.
    pub drafts: &'a [Draft],
}

impl ChoiceItem<'_> {
    fn key(&self) -> DrawKey {
        DrawKey { seed: self.rules.seed, candidate: self.candidate, position: self.history.len() as u32 }
    }

    /// Draws the next draft token from `logits` `[vocab]`.
    pub fn propose(&self, logits: &[f32]) -> Draft {
        let rules = &self.rules;
        let mut history = Vec::new();
        if rules.sampling.repetition_penalty.is_some() {
            history.extend_from_slice(self.history);
            history.extend(self.drafts.iter().map(|d| d.token));
        }
        let logits = &logits[..rules.vocab.min(logits.len())];
        sampling::propose(logits, rules.sampling, rules.accept, self.key().at(self.drafts.len()), &history)
    }

    /// Verifies the drafts; `row(i)` are the main model's logits `[vocab]` after draft i.
    pub fn verify<'l>(&self, row: &dyn Fn(usize) -> &'l [f32]) -> Accepted {
        let rules = &self.rules;
        sampling::verify(row, self.drafts, rules.sampling, rules.accept, self.key(), self.history)
    }
}
