//! Checks the events of one request against what is promised of their order and of their figures.

use bass_tui::engine::{Event, FinishReason, Summary};

use super::oracle::mean;

pub struct Order {
    prompt: usize,
    /// Prompt tokens read; `None` before the prefill has begun.
    pub read: Option<usize>,
    pub done: bool,
    candidates: Vec<Candidate>,
    /// The candidates of the step that is under way, and its figures.
    now: Vec<usize>,
    sums: Sums,
    total: Sums,
    steps: usize,
}

#[derive(Clone, Default)]
struct Candidate {
    streamed: String,
    logprobs: Vec<f32>,
    reason: Option<FinishReason>,
}

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Sums {
    tokens: usize,
    drafted: usize,
    accepted: usize,
}

impl Order {
    pub fn new(prompt: usize, n: usize) -> Self {
        Self {
            prompt,
            read: None,
            done: false,
            candidates: vec![Candidate::default(); n],
            now: Vec::new(),
            sums: Sums::default(),
            total: Sums::default(),
            steps: 0,
        }
    }

    /// Its candidates have been made.
    pub fn has_begun(&self) -> bool {
        self.read == Some(self.prompt)
    }

    pub fn is_live(&self, candidate: usize) -> bool {
        self.has_begun() && !self.done && self.candidates[candidate].reason.is_none()
    }

    pub fn take(&mut self, event: &Event) {
        assert!(!self.done, "nothing comes after Done, but {event:?} did");
        match event {
            Event::Prefill { done, total } => {
                assert_eq!(*total, self.prompt);
                assert!(!self.has_begun() && self.read <= Some(*done), "{done} after {:?}", self.read);
                self.read = Some(*done);
            }
            Event::Scored { .. } => assert!(self.now.is_empty() && self.steps == 0),
            Event::Tokens { candidate, text, ids, logprobs, drafted, accepted, .. } => {
                assert!(self.is_live(*candidate), "tokens of candidate {candidate}, which is not live");
                assert!(!ids.is_empty() && ids.len() == logprobs.len());
                assert!(accepted <= drafted, "{accepted} accepted of {drafted}");
                let own = ids.len().checked_sub(*accepted).expect("what is accepted is written");
                assert!(own <= 1, "at most one token is the main model's own");
                assert!(self.now.last() < Some(candidate), "{candidate} after {:?} in one step", self.now);
                self.now.push(*candidate);
                self.sums.tokens += ids.len();
                self.sums.drafted += drafted;
                self.sums.accepted += accepted;
                let candidate = &mut self.candidates[*candidate];
                candidate.streamed += text;
                candidate.logprobs.extend(logprobs);
            }
            Event::Finished { candidate, reason, text, mean_logprob } => {
                let candidate = &mut self.candidates[*candidate];
                assert_eq!(candidate.reason, None, "finished twice");
                let written = matches!(reason, FinishReason::Stop | FinishReason::Length);
                assert!(text.starts_with(&candidate.streamed), "{:?} was shown of {text:?}", candidate.streamed);
                assert!(!written || *text == candidate.streamed, "{:?} was shown of {text:?}", candidate.streamed);
                assert_eq!(mean_logprob.map(f32::to_bits), Some(mean(&candidate.logprobs).to_bits()));
                candidate.reason = Some(*reason);
            }
            Event::Step(step) => {
                let sums = Sums { tokens: step.tokens, drafted: step.drafted, accepted: step.accepted };
                assert_eq!((sums, step.live), (self.sums, self.now.len()));
                assert_eq!(step.rows, step.live + step.drafted, "a row per draft token and one per candidate");
                self.total.tokens += sums.tokens;
                self.total.drafted += sums.drafted;
                self.total.accepted += sums.accepted;
                self.sums = Sums::default();
                self.now.clear();
                self.steps += 1;
            }
            Event::Done(summary) => {
                assert!(self.now.is_empty(), "every step is reported before the end");
                self.check(summary);
                self.done = true;
            }
            Event::Refused(why) | Event::Failed(why) | Event::Broken { why, .. } => panic!("{why}"),
        }
    }

    fn check(&self, summary: &Summary) {
        let sums = Sums { tokens: summary.tokens, drafted: summary.drafted, accepted: summary.accepted };
        assert_eq!((sums, summary.steps), (self.total, self.steps));
        assert_eq!(summary.prompt_tokens, self.prompt);
        let weighted =
            |counts: &[usize]| counts.iter().enumerate().map(|(length, count)| length * count).sum::<usize>();
        assert_eq!(weighted(&summary.draft_lengths), sums.drafted);
        assert_eq!(weighted(&summary.accepted_lengths), sums.accepted);

        let key = |index: usize| {
            let candidate = &self.candidates[index];
            let reason = candidate.reason.expect("Done comes after all have finished");
            let cut = matches!(reason, FinishReason::Budget | FinishReason::Cancelled);
            (cut, -mean(&candidate.logprobs), index)
        };
        let mut ranking: Vec<usize> = (0..self.candidates.len()).collect();
        ranking.sort_by(|&a, &b| key(a).partial_cmp(&key(b)).expect("numbers"));
        assert_eq!(summary.ranking, ranking);
    }
}
