//! One run of a job: candidates are written, compared, tested and picked, and all events come in one stream.
//!
//! A run has no thread of its own: it advances when the source or a trial reports an event. The caller gets
//! events through a sink, which may lead into a channel of any kind.

mod calls;
mod choice;
mod rounds;
mod state;

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;

use super::trials::TrialPool;
use crate::agreement::Agreement;
use crate::source::{self, FinishReason, Prompt, Request, Source, Summary, Window};
use crate::trial::{Input, Limits, Trial, Verdict};
pub use rounds::{Retry, Rounds, WhyMore, round_words};
use state::{State, lock};

/// The task of a run: how its candidates are compared and tested.
pub trait Task: Send + Sync {
    /// Returns true if candidates are tested.
    fn has_tests(&self) -> bool;
    /// Returns true if nobody asked for just these tests: they were found.
    fn are_found(&self) -> bool {
        false
    }
    /// The prompt for a model with this window. `None` if that never changes.
    fn prompt_now(&self, _window: &Window) -> Option<Prompt> {
        None
    }
    /// Returns true if the tests decide, by the verdicts of all candidates. Tests that were found and do not
    /// notice the function say nothing: then candidates are compared, as where there are no tests.
    fn is_decided_by_tests(&self, verdicts: &mut dyn Iterator<Item = &Verdict>) -> bool {
        let (mut are_unnoticed, mut has_passed) = (false, false);
        for verdict in verdicts {
            are_unnoticed |= verdict.is_unnoticed;
            has_passed |= verdict.has_passed();
        }
        self.has_tests() && (has_passed || !are_unnoticed || !self.are_found())
    }
    /// The trial of a candidate; `None` without tests.
    fn trial(&self, candidate: usize, text: &str, limits: Limits) -> Option<Trial>;
    /// The trial whose tests are run without the candidate while candidates are written. `None` where that
    /// gains nothing.
    fn preparation(&self, _limits: Limits) -> Option<Trial> {
        None
    }
    /// The verdict of a candidate that has no tests: it has marks, and may lack names.
    fn untested(&self, _text: &str, _limits: Limits) -> Verdict {
        Verdict::no_tests()
    }
    /// The inputs that candidates are called on, with values from these bodies of theirs, or a sentence why they
    /// are not.
    fn inputs(&self, _bodies: &[&str]) -> Result<Vec<Input>, String> {
        Err("there is no function to call".to_owned())
    }
    /// Further inputs, where these bodies compare with more than the known ones, whose inputs are `inputs`.
    fn more_inputs(&self, _known: &[&str], _bodies: &[&str], _inputs: &[Input]) -> Vec<Input> {
        Vec::new()
    }
    /// The program whose function is called, as a trial without tests.
    fn called(&self, _text: &str, _limits: Limits) -> Option<Trial> {
        None
    }
    /// The function as it was, as a trial without tests, where candidates are to change it.
    fn before(&self, _limits: Limits) -> Option<Trial> {
        None
    }
    /// A sentence against a candidate that no test says, which becomes a mark of its verdict.
    fn objection(&self, _text: &str) -> Option<String> {
        None
    }
    /// Returns true if the token limit cut a candidate in the middle of the function.
    fn is_cut_off(&self, _reason: FinishReason, _text: &str) -> bool {
        false
    }
    /// The prompt that also tells what tests said of candidates that failed; `None` where a model makes
    /// nothing of that.
    fn prompt_again(&self, _window: &Window, _facts: &[String]) -> Option<Prompt> {
        None
    }
    /// Equal for candidates that differ only in white space, blank lines or comments.
    fn duplicate_key(&self, candidate: usize, text: &str) -> String;
}

/// Parameters of a run.
pub struct Ask {
    /// The request to the source.
    pub request: Request,
    /// The task.
    pub task: Arc<dyn Task>,
    /// Limits of each trial.
    pub limits: Limits,
    /// True to end generation with the first pass.
    pub stop_on_pass: bool,
    /// True to call the candidates on the same inputs, where that can be done.
    pub agree: bool,
    /// Further candidates while none passes the tests.
    pub rounds: Option<Rounds>,
    /// Number of the problem. Of several runs that share a pool, the one with the lower number is tested
    /// first.
    pub problem: usize,
}

/// Events of a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// An event of the source, unchanged.
    Source(source::Event),
    /// A candidate that has just ended equals an earlier one, and shares its verdict.
    Duplicate {
        /// The candidate.
        candidate: usize,
        /// The equal candidate that is tested.
        of: usize,
    },
    /// The tests are run once without the candidate: begun, with this time limit, or ended.
    Preparing(Option<Duration>),
    /// The trial of a candidate has begun.
    Testing(usize),
    /// The trial of a candidate has ended.
    Verdict {
        /// The candidate.
        candidate: usize,
        /// Its verdict, or a sentence why there is none.
        outcome: Result<Verdict, String>,
    },
    /// A candidate that the user has made of another one; it ended at once.
    Added {
        /// The candidate, behind all others.
        candidate: usize,
        /// The one that it was made of.
        of: usize,
        /// Its text.
        text: String,
    },
    /// None has passed, or the user asked for more: these candidates are written beside those before.
    Round {
        /// Number of the round, from 2 on.
        number: usize,
        /// Its candidates, behind all others.
        candidates: Range<usize>,
        /// How many of them, the last ones, see what failed.
        told: usize,
        /// The reason for it.
        why: WhyMore,
    },
    /// The agreement of the candidates that were called so far.
    Agreement(Arc<Agreement>),
    /// A candidate cannot be called, and why.
    Uncalled(String),
    /// The candidate picked so far, when it changes.
    Pick(Option<usize>),
    /// All candidates have ended and none waits to be tested. After [`source::Event::Refused`] and `Failed`
    /// this event does not come.
    Done(Box<Outcome>),
}

/// Receives the events of a run, on threads of the source and of the pool. Must neither block for long nor
/// call the run. `Break` means that the receiver is gone: the run then ends.
pub type Sink = Box<dyn FnMut(Event) -> ControlFlow<()> + Send>;

/// A candidate and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Its index.
    pub index: usize,
    /// Its text, up to its stop.
    pub text: String,
    /// All generated ids, before any trimming of the text.
    pub token_ids: Vec<u32>,
    /// Raw main-model log-probabilities of these ids.
    pub logprobs: Vec<f32>,
    /// Their mean, if the source reports it.
    pub mean_logprob: Option<f32>,
    /// Reason of its end.
    pub finish: Option<FinishReason>,
    /// The lowest index of an equal candidate, if that is another one.
    pub duplicate_of: Option<usize>,
    /// The verdict of the tests.
    pub verdict: Verdict,
    /// The round that it was written in, from 1 on; a candidate of the user's has that of the one it was made
    /// of.
    #[serde(skip_serializing_if = "is_first_round")]
    pub round: usize,
    /// True if its prompt told what failed before.
    #[serde(skip)]
    pub told: bool,
    /// The source has said why there is nothing to test; the verdict has its words.
    #[serde(skip)]
    pub is_broken: bool,
}

impl Candidate {
    /// Number of its tokens, as far as the source reports them.
    pub fn tokens(&self) -> usize {
        self.token_ids.len().max(self.logprobs.len())
    }

    /// A candidate that has not begun.
    pub fn new(index: usize) -> Self {
        Self {
            index,
            text: String::new(),
            token_ids: Vec::new(),
            logprobs: Vec::new(),
            mean_logprob: None,
            finish: None,
            duplicate_of: None,
            verdict: Verdict::no_tests(),
            round: 1,
            told: false,
            is_broken: false,
        }
    }
}

/// Returns true for the number that files and reports leave out.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn is_first_round(round: &usize) -> bool {
    *round == 1
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The candidates by index.
    pub candidates: Vec<Candidate>,
    /// Figures and ranking.
    pub summary: Summary,
    /// The picked candidate.
    pub picked: Option<usize>,
    /// The agreement of the candidates, if they were called.
    pub agreement: Option<Arc<Agreement>>,
}

/// A running run. Dropping it does not cancel it.
pub struct Run(Arc<Mutex<State>>);

impl Run {
    /// Asks `source` for candidates and tests them in `pool`. Never blocks.
    pub fn start(source: &dyn Source, pool: Option<&TrialPool>, ask: Ask, sink: Sink) -> Self {
        let request = ask.request.clone();
        let state = Arc::new_cyclic(|me| Mutex::new(State::new(me.clone(), pool, ask, sink)));
        lock(&state).prepare();
        state::generate(&state, source, 0, request);
        Self(state)
    }

    /// Ends one candidate; its text so far is kept.
    pub fn stop_one(&self, candidate: usize) {
        lock(&self.0).stop_one(candidate);
    }

    /// Ends all candidates; their text so far is kept.
    pub fn stop(&self) {
        lock(&self.0).stop();
    }

    /// Ends the trial of a candidate, which stays untested; others go on.
    pub fn stop_test(&self, candidate: usize) {
        lock(&self.0).stop_test(candidate);
    }

    /// Ends all trials, and starts no more.
    pub fn stop_tests(&self) {
        lock(&self.0).stop_tests();
    }

    /// Ends everything.
    pub fn cancel(&self) {
        let mut state = lock(&self.0);
        state.stop();
        state.stop_tests();
    }

    /// Uses `task` for tests and further rounds from now on.
    pub fn use_task(&self, task: Arc<dyn Task>) {
        lock(&self.0).use_task(task);
    }

    /// Adds a candidate that the user has made of another one, and tests it.
    pub fn add(&self, of: usize, text: String) {
        lock(&self.0).add(of, text);
    }

    /// Calls all candidates that are called on one more input.
    pub fn call_on(&self, input: Input) {
        lock(&self.0).call_on(input);
    }

    /// Tests an ended candidate once more.
    pub fn test(&self, candidate: usize) {
        lock(&self.0).test_again(candidate);
    }

    /// Writes another round of candidates, whatever has become of those before. False if the run has not
    /// ended, or has as many candidates as a run may have.
    pub fn more(&self) -> bool {
        lock(&self.0).more(WhyMore::Asked)
    }
}

#[cfg(test)]
pub(crate) mod tests;
