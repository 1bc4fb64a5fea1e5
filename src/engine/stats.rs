//! From clock readings to the figures of a generation.

use std::time::Duration;

use super::event::{StepStats, Summary};

/// Counts steps and finishing times of one request.
#[derive(Debug, Default)]
pub struct Stats {
    prefill: Duration,
    reused: usize,
    steps: usize,
    drafted: usize,
    accepted: usize,
    candidate_steps: usize,
    draft_lengths: Vec<usize>,
    accepted_lengths: Vec<usize>,
    /// Per finished candidate: decode time and tokens.
    finished: Vec<(Duration, usize)>,
}

impl Stats {
    /// The prompt took this long.
    pub fn prefilled(&mut self, time: Duration) {
        self.prefill = time;
    }

    /// So many tokens of the prompt were read for an earlier request.
    pub fn reused(&mut self, tokens: usize) {
        self.reused = tokens;
    }

    /// A step is over.
    pub fn step(&mut self, step: &StepStats) {
        self.steps += 1;
        self.drafted += step.drafted;
        self.accepted += step.accepted;
        self.candidate_steps += step.live;
    }

    /// A candidate's part of a step.
    pub fn drafted(&mut self, drafted: usize, accepted: usize) {
        let count = |counts: &mut Vec<usize>, at: usize| {
            if counts.len() <= at {
                counts.resize(at + 1, 0);
            }
            counts[at] += 1;
        };
        count(&mut self.draft_lengths, drafted);
        count(&mut self.accepted_lengths, accepted);
    }

    /// A candidate ended after `time` of decoding with this many tokens.
    pub fn finished(&mut self, time: Duration, tokens: usize) {
        self.finished.push((time, tokens));
    }

    /// The figures, once all candidates have ended.
    pub fn summary(&self, decode: Duration) -> Summary {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let per_token: Vec<f64> =
            self.finished.iter().filter(|(_, tokens)| *tokens > 0).map(|&(d, tokens)| ms(d) / tokens as f64).collect();
        let tokens = self.finished.iter().map(|(_, tokens)| tokens).sum();
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        Summary {
            prefill_ms: ms(self.prefill),
            prompt_tokens_reused: self.reused,
            decode_ms: ms(decode),
            steps: self.steps,
            tokens,
            drafted: self.drafted,
            accepted: self.accepted,
            mean_accepted_length: ratio(self.accepted as f64, self.candidate_steps as f64),
            draft_lengths: self.draft_lengths.clone(),
            accepted_lengths: self.accepted_lengths.clone(),
            ms_per_token_first: per_token.first().copied().unwrap_or(0.0),
            ms_per_token_last: per_token.last().copied().unwrap_or(0.0),
            ms_per_token_all: ratio(per_token.iter().sum(), per_token.len() as f64),
            tokens_per_second: ratio(tokens as f64, decode.as_secs_f64()),
            ..Summary::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_last_and_all() {
        let mut stats = Stats::default();
        stats.step(&StepStats { live: 2, rows: 6, drafted: 4, accepted: 3, tokens: 5, ms: 1.0, plain_ms: 2.0 });
        stats.finished(Duration::from_millis(100), 10);
        stats.finished(Duration::from_millis(300), 10);
        let s = stats.summary(Duration::from_millis(400));
        let figures = [s.ms_per_token_first, s.ms_per_token_last, s.ms_per_token_all, s.tokens_per_second];
        assert_eq!(figures.map(|x| x.round() as i64), [10, 30, 20, 50]);
        assert!((s.mean_accepted_length - 1.5).abs() < 1e-9);
    }

    #[test]
    fn an_empty_generation_has_no_division_by_zero() {
        let s = Stats::default().summary(Duration::ZERO);
        assert!(s.tokens_per_second.abs() < 1e-9 && s.ms_per_token_all.abs() < 1e-9);
    }
}
