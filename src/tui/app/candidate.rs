//! One candidate on screen: its text, where it is in its life, and what its tests said.

use super::alike::Alike;
use super::tokens::Trace;
use crate::engine::FinishReason;
use crate::trial::{Status, Verdict};
use crate::tui::text;
use crate::untrusted::code;

/// Where a candidate is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Waiting,
    /// The prompt is being computed.
    Prefill,
    /// Tokens arrive.
    Streaming,
    /// The user has stopped it; its end comes with the next step.
    Stopping,
    /// It ended.
    Finished(FinishReason),
    /// The generation failed before it ended; its text so far is kept.
    Broken,
}

/// State of its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Testing {
    /// Nothing, and nothing is coming.
    None,
    /// Its turn comes.
    Queued,
    /// The tests run.
    Running,
    /// They ran.
    Done(Verdict),
    /// There are none, and its code has marks.
    Marked(Verdict),
    /// They could not be run.
    Fault(String),
    /// The user refused to run them.
    Refused,
}

/// Part of the text that is in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scroll {
    /// First row in view, unless following.
    pub top: usize,
    /// First column in view.
    pub column: usize,
    /// The end stays in view.
    pub follow: bool,
}

/// One candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its text so far, as the model wrote it: what is tested and written.
    pub text: String,
    /// Its text, made safe to show.
    pub shown: String,
    /// Its text beside that of the pick, once all have ended.
    pub alike: Option<Alike>,
    /// Columns of the longest line of `shown`, once it has ended.
    pub widest: usize,
    /// Where it is in its life.
    pub phase: Phase,
    /// State of its tests. That of a duplicate is its original's: ask [`super::Run::testing`].
    pub testing: Testing,
    /// Tokens so far.
    pub tokens: usize,
    /// Sum of their raw log-probabilities.
    pub logprob_sum: f64,
    /// Steps it took part in.
    pub steps: usize,
    /// Draft tokens accepted.
    pub accepted: usize,
    /// The final mean log-probability.
    pub mean_logprob: Option<f32>,
    /// When it ended, in ms.
    pub ended: Option<u64>,
    /// Its token limit cut it in the middle of the function.
    pub is_cut_off: bool,
    /// When its round began.
    pub began: u64,
    /// Place in the order of the pick, 1 is best; known when all have ended.
    pub rank: Option<usize>,
    /// The candidate that said the same first.
    pub duplicate_of: Option<usize>,
    /// Part in view.
    pub scroll: Scroll,
    /// The candidate that the user has made it of.
    pub made_of: Option<usize>,
    /// The round that it is of, from 1 on.
    pub round: usize,
    /// Its prompt tells what failed before.
    pub told: bool,
    /// Its tokens.
    pub trace: Trace,
}

impl Default for Candidate {
    fn default() -> Self {
        Self {
            text: String::new(),
            shown: String::new(),
            alike: None,
            widest: usize::MAX,
            phase: Phase::Waiting,
            testing: Testing::None,
            tokens: 0,
            logprob_sum: 0.0,
            steps: 0,
            accepted: 0,
            mean_logprob: None,
            ended: None,
            is_cut_off: false,
            began: 0,
            rank: None,
            duplicate_of: None,
            scroll: Scroll { top: 0, column: 0, follow: true },
            made_of: None,
            round: 1,
            told: false,
            trace: Trace::default(),
        }
    }
}

impl Candidate {
    /// A candidate that the user has made of another one.
    pub fn made(of: usize, text: String, now: u64) -> Self {
        let mut made = Self { shown: code(&text), text, made_of: Some(of), began: now, ..Self::default() };
        made.end(Phase::Finished(FinishReason::Stop), now);
        made
    }

    /// Nothing more comes: from here on the text is read from its beginning.
    pub fn end(&mut self, phase: Phase, now: u64) {
        self.phase = phase;
        self.ended = Some(now);
        self.shown.truncate(self.shown.trim_end().len());
        self.widest = self.shown.lines().map(|line| text::width(&text::shown(line))).max().unwrap_or(0);
        if self.scroll.follow {
            self.scroll = Scroll { top: 0, follow: false, ..self.scroll };
        }
    }

    /// More may come.
    pub fn is_live(&self) -> bool {
        matches!(self.phase, Phase::Waiting | Phase::Prefill | Phase::Streaming | Phase::Stopping)
    }

    /// It ended by itself or at the token limit, so that it can be judged and ranked.
    pub fn is_whole(&self) -> bool {
        matches!(self.phase, Phase::Finished(FinishReason::Stop | FinishReason::Length))
    }

    /// Why its text may be a part of a function: the end of a sentence. `None` for a whole one, and while it is
    /// written.
    pub fn unfinished(&self) -> Option<&'static str> {
        match self.phase {
            _ if self.is_whole() || self.is_live() => None,
            Phase::Broken => Some("is not finished: it broke off as it was written."),
            _ => Some("is not finished: it was stopped as it was written."),
        }
    }

    /// Mean log-probability, final or so far.
    pub fn mean(&self) -> Option<f32> {
        self.mean_logprob.or_else(|| (self.tokens > 0).then(|| (self.logprob_sum / self.tokens as f64) as f32))
    }

    /// Accepted draft tokens per step; `None` until one was accepted.
    pub fn accepted_per_step(&self) -> Option<f64> {
        (self.accepted > 0).then(|| self.accepted as f64 / self.steps as f64)
    }
}

impl Testing {
    /// The tests passed.
    pub fn passed(&self) -> bool {
        matches!(self, Testing::Done(v) if v.status == Status::Passed)
    }

    /// The verdict of the tests, if they ended.
    pub fn verdict(&self) -> Option<&Verdict> {
        if let Testing::Done(verdict) = self { Some(verdict) } else { None }
    }

    /// How the tests ended, if they did.
    pub fn status(&self) -> Option<Status> {
        self.verdict().map(|verdict| verdict.status)
    }

    /// The code uses things that nobody asked for.
    pub fn is_marked(&self) -> bool {
        matches!(self, Testing::Done(v) | Testing::Marked(v) if v.is_marked())
    }

    /// Nothing judges the candidate of this verdict, and its code has marks.
    pub fn is_of_marks(verdict: &Verdict) -> bool {
        verdict.status == Status::NotRun && verdict.is_marked()
    }

    /// The tests ran to a verdict.
    pub fn is_settled(&self) -> bool {
        matches!(self, Testing::Done(_))
    }

    /// A result is still to come.
    pub fn is_pending(&self) -> bool {
        matches!(self, Testing::Queued | Testing::Running)
    }
}
