//! Inputs of drafting and verification as data, so that tokens are drawn on the device that has the logits.

use super::{BackendError, SeqId};
use crate::sampling::{self, Accept, Accepted, Distribution, Draft, DrawKey, Sampling};

/// Rules that all draws of a generation share.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceRules<'a> {
    /// Temperature and filters.
    pub sampling: &'a Sampling,
    /// The acceptance rule.
    pub accept: Accept,
    /// Key of all randomness.
    pub seed: u64,
    /// Only ids below this are proposed: the main model's vocabulary, which may be smaller than the draft
    /// model's.
    pub vocab: usize,
    /// How many of the most probable tokens are told for each that is written; not by every network, see
    /// [`Network::tells_logits`](super::Network::tells_logits).
    pub alternatives: usize,
}

/// A candidate, as a network sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its sequence in the network.
    pub seq: SeqId,
    /// Its index among the candidates of its prompt.
    pub index: u32,
    /// All of its tokens. Those beyond the sequence's length, at least one, are read first.
    pub tokens: &'a [u32],
    /// How its tokens are drawn.
    pub rules: ChoiceRules<'a>,
}

impl<'a> Candidate<'a> {
    fn key(&self) -> DrawKey {
        DrawKey { seed: self.rules.seed, candidate: self.index, position: self.tokens.len() as u32 }
    }

    /// Its tokens from position `len` on; an error if there are none.
    pub(super) fn unread(&self, len: usize) -> Result<&'a [u32], BackendError> {
        let unread = self.tokens.get(len..).filter(|unread| !unread.is_empty());
        unread.ok_or_else(|| BackendError::Contract(format!("{:?} has read all {len} tokens", self.seq)))
    }

    /// Draws the token after `drafts` from the draft model's `logits`: those of `ids`, ascending, or of all,
    /// `[vocab]`.
    pub fn draw(&self, drafts: &[Draft], logits: &[f32], ids: Option<&[u32]>) -> Draft {
        let rules = &self.rules;
        let mut history = Vec::new();
        if rules.sampling.repetition_penalty.is_some() {
            history.extend_from_slice(self.tokens);
            history.extend(drafts.iter().map(|draft| draft.token));
        }
        let known = ids.map_or(rules.vocab, |ids| ids.partition_point(|&id| (id as usize) < rules.vocab));
        let known = known.min(logits.len());
        let (logits, ids) = (&logits[..known], ids.map(|ids| &ids[..known]));
        let q = Distribution::among(ids, logits, rules.sampling, &history);
        sampling::propose(q, rules.accept, self.key().at(drafts.len()))
    }

    /// Verifies `drafts`; `row(i)` are the main model's logits `[vocab]` for the position of draft i.
    pub fn accept<'l>(&self, drafts: &[Draft], row: &dyn Fn(usize) -> &'l [f32]) -> Accepted {
        let rules = &self.rules;
        let mut accepted = sampling::verify(row, drafts, rules.sampling, rules.accept, self.key(), self.tokens);
        if rules.alternatives > 0 {
            let of = |i| sampling::alternatives(row(i), rules.alternatives);
            accepted.alternatives = (0..accepted.tokens.len()).map(of).collect();
        }
        accepted
    }
}

/// The draft of one candidate, with the distributions that its tokens were drawn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Drafts {
    /// In host memory: what was copied from text, and what a network on the CPU has drawn.
    Host(Vec<Draft>),
    /// In the memory of a device, until its next batch: neither tokens nor distributions cross to the host.
    Held {
        /// Number of the batch, unique in the process: networks of one device find it, others refuse it.
        batch: u64,
        /// Which of the batch.
        place: usize,
        /// Number of tokens.
        len: usize,
    },
}

impl Drafts {
    /// No tokens.
    pub const NONE: Self = Self::Host(Vec::new());

    /// Number of tokens.
    pub fn count(&self) -> usize {
        match self {
            Self::Host(drafts) => drafts.len(),
            Self::Held { len, .. } => *len,
        }
    }

    /// The tokens, if they are in host memory.
    pub fn host(&self) -> Result<&[Draft], BackendError> {
        match self {
            Self::Host(drafts) => Ok(drafts),
            Self::Held { .. } => Err(BackendError::Contract(
                "drafts in the memory of another device: load both models onto the same one".to_owned(),
            )),
        }
    }
}
