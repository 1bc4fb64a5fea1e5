//! One candidate inside the engine: its tokens, its text, its end.

use std::sync::Arc;

use super::drafter::CandidateId;
use super::event::FinishReason;
use super::request::GenerateOptions;
use super::stop::Text;
use crate::backend::{Candidate, ChoiceRules, SeqId};
use crate::model::{StreamDecoder, Tokenizer};
use crate::sampling::{Accepted, Alternative};

/// A candidate that is being written.
pub struct Sequence {
    pub id: CandidateId,
    /// Its sequence in the main network.
    pub seq: SeqId,
    /// Prompt and generated tokens.
    pub tokens: Vec<u32>,
    /// Raw log-probabilities of the generated tokens.
    logprobs: Vec<f32>,
    prompt_len: usize,
    options: Arc<GenerateOptions>,
    decoder: StreamDecoder,
    text: Text,
}

/// Tokens that a step added to a candidate.
pub struct Added {
    /// Ids, up to the one that ended it.
    pub ids: Vec<u32>,
    /// Their raw log-probabilities.
    pub logprobs: Vec<f32>,
    /// The most probable tokens in the place of each, where they were asked for.
    pub alternatives: Vec<Vec<Alternative>>,
    /// Text that became certain.
    pub text: String,
    /// How many of the ids are accepted draft tokens.
    pub accepted: usize,
    /// Set if it ended.
    pub reason: Option<FinishReason>,
}

impl Sequence {
    /// A candidate without tokens.
    pub fn new(
        id: CandidateId,
        seq: SeqId,
        prompt: &[u32],
        options: Arc<GenerateOptions>,
        decoder: StreamDecoder,
    ) -> Self {
        Self {
            id,
            seq,
            tokens: prompt.to_vec(),
            logprobs: Vec::new(),
            prompt_len: prompt.len(),
            options,
            decoder,
            text: Text::default(),
        }
    }

    /// Number of generated tokens.
    pub fn generated(&self) -> usize {
        self.tokens.len() - self.prompt_len
    }

    /// Most draft tokens it has room for: one token more than the drafts is emitted.
    pub fn room(&self, context: usize) -> usize {
        let left = (self.options.max_tokens - self.generated()).min(context - self.tokens.len());
        left.saturating_sub(1)
    }

    /// Takes the outcome of a step: all of it, or up to the token that ends the candidate.
    pub fn add(&mut self, outcome: &Accepted, limit: &Limit, tokenizer: &Tokenizer) -> Added {
        let options = Arc::clone(&self.options);
        let mut used = 0;
        let mut reason = None;
        for (&id, &logprob) in outcome.tokens.iter().zip(&outcome.logprobs) {
            used += 1;
            self.tokens.push(id);
            self.logprobs.push(logprob);
            if !options.stop.ignore_eos && limit.eos.contains(&id) {
                reason = Some(FinishReason::Stop);
                break;
            }
            let piece = self.decoder.push(tokenizer, id);
            if !piece.is_empty() && self.text.push(&piece, &options.stop) {
                reason = Some(if self.text.is_repeating() { FinishReason::Length } else { FinishReason::Stop });
                break;
            }
            if self.generated() >= options.max_tokens || self.tokens.len() >= limit.context {
                reason = Some(FinishReason::Length);
                break;
            }
        }
        if reason.is_some() {
            self.flush(tokenizer);
        }
        Added {
            ids: outcome.tokens[..used].to_vec(),
            logprobs: outcome.logprobs[..used].to_vec(),
            alternatives: outcome.alternatives.iter().take(used).cloned().collect(),
            text: self.text.take(&options.stop),
            accepted: used.min(outcome.accepted),
            reason,
        }
    }

    /// Ends its text, with what was still held back.
    pub fn flush(&mut self, tokenizer: &Tokenizer) {
        let rest = self.decoder.finish(tokenizer);
        // A character that was cut is no text.
        self.text.end(rest.trim_end_matches(char::REPLACEMENT_CHARACTER), &self.options.stop);
    }

    /// How its tokens are drawn; only ids below `vocab` are.
    pub fn rules(&self, vocab: usize) -> ChoiceRules<'_> {
        let options = &self.options;
        let alternatives = options.alternatives;
        ChoiceRules { sampling: &options.sampling, accept: options.accept, seed: options.seed, vocab, alternatives }
    }

    /// It, as the main network with `vocab` ids sees it.
    pub fn candidate(&self, vocab: usize) -> Candidate<'_> {
        Candidate { seq: self.seq, index: self.id.index as u32, tokens: &self.tokens, rules: self.rules(vocab) }
    }

    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// Why its text is of no use though it has ended.
    pub fn trouble(&self) -> Option<String> {
        self.text.trouble(&self.options.stop, self.generated())
    }

    /// Mean of the raw log-probabilities, 0 without tokens.
    pub fn mean_logprob(&self) -> f32 {
        if self.logprobs.is_empty() {
            return 0.0;
        }
        let sum: f64 = self.logprobs.iter().map(|&l| f64::from(l)).sum();
        (sum / self.logprobs.len() as f64) as f32
    }
}

/// Where every candidate of a model ends.
pub struct Limit {
    /// Ids that end it.
    pub eos: Vec<u32>,
    /// Most tokens, the prompt included.
    pub context: usize,
}
