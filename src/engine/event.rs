//! Answers of the engine.

use serde::{Deserialize, Serialize};

use crate::sampling::{Alternative, Scores};

/// Number of a request, given when it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Why a candidate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinishReason {
    /// An end-of-text token, a stop string or the end of the function.
    Stop,
    /// The token limit or the context is full.
    Length,
    /// The time budget ran out.
    Budget,
    /// Cancelled by the user.
    Cancelled,
    /// Its source failed before its end, while the others went on.
    Failed,
}

impl FinishReason {
    /// It was ended from outside before its end: it is neither tested nor ranked with the others.
    pub fn is_cut(self) -> bool {
        matches!(self, Self::Budget | Self::Cancelled | Self::Failed)
    }
}

/// The sentence about a candidate that holds nothing but thoughts.
pub fn thoughts_took_all(tokens: usize) -> String {
    format!(
        "its thoughts took all {tokens} tokens: raise --max-tokens, or choose a model that answers without thinking"
    )
}

/// Something that happened during a generation. Within one generation the order is: `Prefill`*, then `Scored`
/// where that was asked for, then `Tokens` and `Finished` (one per candidate) interleaved with one `Step` per
/// decode step, then `Done`; or `Refused` at the start, or `Failed` at any point.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Prompt tokens computed so far.
    Prefill {
        /// Prompt tokens done.
        done: usize,
        /// Prompt tokens in all.
        total: usize,
    },
    /// How probable the prompt is, where that was asked for.
    Scored {
        /// Its first token, which nothing comes before.
        first: u32,
        /// All others.
        rest: Scores,
    },
    /// New tokens of one candidate (one event per candidate and step).
    Tokens {
        /// Index of the candidate.
        candidate: usize,
        /// Text that became certain: append it. Stop text never appears in it.
        text: String,
        /// Ids emitted in this step; none where the source does not tell.
        ids: Vec<u32>,
        /// Raw main-model log-probabilities (natural logarithm, temperature 1) of `ids`; none where the
        /// source does not tell.
        logprobs: Vec<f32>,
        /// The most probable tokens in the place of each of `ids`, the best first, by the same measure; none
        /// where nobody asked for them.
        alternatives: Vec<Vec<Alternative>>,
        /// Draft tokens proposed for this candidate in this step.
        drafted: usize,
        /// How many of them were accepted.
        accepted: usize,
    },
    /// One candidate cannot be written to its end; its `Finished` follows, with the reason `Failed`, or with
    /// `Length` where thoughts have used up its tokens.
    Broken {
        /// Index of the candidate.
        candidate: usize,
        /// A sentence for the user.
        why: String,
    },
    /// One candidate ended.
    Finished {
        /// Index of the candidate.
        candidate: usize,
        /// Why.
        reason: FinishReason,
        /// Its whole text, final: replaces what was streamed (it can be shorter by trailing white space).
        text: String,
        /// Mean of the raw log-probabilities of all its tokens; 0 for a candidate without tokens, `None`
        /// where the source does not tell.
        mean_logprob: Option<f32>,
    },
    /// One decode step is over.
    Step(StepStats),
    /// All candidates ended.
    Done(Box<Summary>),
    /// The request cannot be met as it is; the sentence says what about it and what is possible.
    Refused(String),
    /// The generation failed; the sentence is for the user.
    Failed(String),
}

/// Figures of one decode step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepStats {
    /// Candidates of the request that took part.
    pub live: usize,
    /// Their rows in the main model's pass.
    pub rows: usize,
    /// Draft tokens proposed.
    pub drafted: usize,
    /// Draft tokens accepted.
    pub accepted: usize,
    /// Tokens emitted.
    pub tokens: usize,
    /// Wall time in ms.
    pub ms: f64,
    /// Expected time of as many tokens without drafts, in ms; 0 if passes were not measured.
    pub plain_ms: f64,
}

/// Figures of a whole generation. Times in ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Time for the prompt, both models.
    pub prefill_ms: f64,
    /// Tokens of the prompt that the main model had read for an earlier request.
    pub prompt_tokens_reused: usize,
    /// Time from the end of the prefill to the last token.
    pub decode_ms: f64,
    /// Decode steps.
    pub steps: usize,
    /// Tokens emitted, all candidates.
    pub tokens: usize,
    /// Draft tokens proposed.
    pub drafted: usize,
    /// Draft tokens accepted.
    pub accepted: usize,
    /// Accepted draft tokens per candidate and step.
    pub mean_accepted_length: f64,
    /// How often a candidate's draft in a step had 0, 1, 2, … tokens: what the draft length policy decided.
    pub draft_lengths: Vec<usize>,
    /// How often 0, 1, 2, … draft tokens of a candidate were accepted in a step.
    pub accepted_lengths: Vec<usize>,
    /// Decode time of the first candidate to finish, divided by its tokens.
    pub ms_per_token_first: f64,
    /// Decode time of the last candidate to finish, divided by its tokens.
    pub ms_per_token_last: f64,
    /// Mean over all candidates of decode time divided by tokens.
    pub ms_per_token_all: f64,
    /// Tokens of all candidates per second of decode time.
    pub tokens_per_second: f64,
    /// Number of prompt tokens. Not part of the `stats` object of the JSON.
    #[serde(skip)]
    pub prompt_tokens: usize,
    /// Candidates from best to worst: finished ones first, by mean log-probability where it is known, ties by
    /// index.
    #[serde(skip)]
    pub ranking: Vec<usize>,
}
