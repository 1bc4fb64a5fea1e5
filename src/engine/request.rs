//! Requests to the engine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::DraftLength;
use crate::sampling::{Accept, Sampling};

/// A rule on the text of a candidate: given all of its text so far, returns the byte length to keep once the
/// candidate has ended. Called after every token; must not change its mind when text is added.
pub type TextStop = Arc<dyn Fn(&str) -> Option<usize> + Send + Sync>;

/// How the answer of a chat model becomes a candidate's text: given all of the answer so far, and whether it
/// is over, returns as much of that text as is certain, and whether nothing of it is to come any more.
pub type Reading = Arc<dyn Fn(&str, bool) -> (String, bool) + Send + Sync>;

/// Tells by its beginning whether a text is an answer to be read; `None` while that is open.
pub type Begins = Arc<dyn Fn(&str) -> Option<bool> + Send + Sync>;

/// The answer so far holds nothing but the model's thoughts.
pub type Thinks = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// When a candidate ends, and what of the model's text is the candidate's.
#[derive(Clone, Default)]
pub struct StopRules {
    /// Texts that end a candidate; they are not part of its text.
    pub strings: Vec<String>,
    /// A rule on the text, such as the end of the function.
    pub text: Option<TextStop>,
    /// The part of an answer that is the candidate's text, for all other rules as well; `None`: all of it.
    pub reading: Option<Reading>,
    /// Tells which texts are read so; `None`: all.
    pub begins: Option<Begins>,
    /// Text that repeats itself ends the candidate.
    pub repetition: bool,
    /// Tells whether an answer is nothing but thoughts, to say so where it has used up its tokens; `None`: it
    /// never is.
    pub thinks: Option<Thinks>,
    /// The model's own end-of-text ids are ignored.
    pub ignore_eos: bool,
}

impl fmt::Debug for StopRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopRules")
            .field("strings", &self.strings)
            .field("text", &self.text.is_some())
            .field("reading", &self.reading.is_some())
            .field("begins", &self.begins.is_some())
            .field("repetition", &self.repetition)
            .field("thinks", &self.thinks.is_some())
            .field("ignore_eos", &self.ignore_eos)
            .finish()
    }
}

/// Everything about a generation but its prompt.
#[derive(Clone, Debug)]
pub struct GenerateOptions {
    /// Number of candidates, 1 to 64.
    pub n: usize,
    /// Temperature and filters.
    pub sampling: Sampling,
    /// When a candidate ends.
    pub stop: StopRules,
    /// Most tokens of a candidate.
    pub max_tokens: usize,
    /// Wall-clock limit from the start of the prefill; what has not finished then is cut and marked.
    pub time_budget: Option<Duration>,
    /// Key of all randomness.
    pub seed: u64,
    /// Text that the candidates may quote, for drafters that look things up.
    pub reference: Arc<[u32]>,
    /// Draft length policy.
    pub draft_length: DraftLength,
    /// Acceptance rule.
    pub accept: Accept,
    /// How many of the most probable tokens are told for each that is written.
    pub alternatives: usize,
    /// Log-probabilities of the prompt's tokens are told.
    pub score_prompt: bool,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        Self {
            n: 8,
            sampling: Sampling::default(),
            stop: StopRules::default(),
            max_tokens: 256,
            time_budget: None,
            seed: 0,
            reference: Arc::default(),
            draft_length: DraftLength::default(),
            accept: Accept::default(),
            alternatives: 0,
            score_prompt: false,
        }
    }
}
