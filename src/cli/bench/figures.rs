//! Computes figures from runs: means over the prompts of a repeat, medians over repeats, ratios within a
//! repeat.

use serde::Serialize;

use super::measure::{Run, Setting};
use crate::engine::DraftLength;

/// The figures of one setting. A time in ms is the median over the repeats of the mean over all prompts.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The setting of the runs.
    #[serde(flatten)]
    pub setting: Setting,
    /// Decode time, divided by the tokens of each candidate.
    pub ms_per_token: f64,
    /// Decode time per token in the fastest repeat.
    pub ms_per_token_min: f64,
    /// Decode time per token in the slowest repeat.
    pub ms_per_token_max: f64,
    /// Time for the prompt, both models.
    pub prefill_ms: f64,
    /// Tokens of all candidates per second of decode time.
    pub tokens_per_second: f64,
    /// Decode steps, all runs.
    pub steps: usize,
    /// Draft tokens proposed, all runs.
    pub drafted: usize,
    /// Draft tokens accepted, all runs.
    pub accepted: usize,
    /// Share of proposed draft tokens that were accepted; `None` without drafts.
    pub acceptance: Option<f64>,
    /// Accepted draft tokens per candidate and step.
    pub mean_accepted_length: f64,
    /// Number of drafts of 0, 1, 2, … tokens over all candidates, steps and runs.
    pub draft_lengths: Vec<usize>,
    /// Decode time of the first candidate to finish, divided by its tokens.
    pub ms_per_token_first: f64,
    /// Decode time of the last candidate to finish, divided by its tokens.
    pub ms_per_token_last: f64,
    /// Decode time of each candidate divided by its tokens, as a mean over all candidates.
    pub ms_per_token_all: f64,
    /// Time relative to plain decoding: the median of the ratios of every repeat. Below 1 is faster; `None`
    /// without plain runs.
    pub ratio_to_plain: Option<f64>,
    /// Time relative to the fixed length with the lowest median; `None` without fixed lengths.
    pub ratio_to_best_fixed: Option<f64>,
}

/// The runs of one setting.
struct Series<'a> {
    setting: Setting,
    runs: Vec<&'a Run>,
    /// ms per token of each candidate, by repeat.
    ms_per_token: Vec<f64>,
}

/// The figures of every setting, in the order of `settings`.
pub fn figures(settings: &[Setting], runs: &[Run]) -> Vec<Figures> {
    let series: Vec<Series<'_>> = settings.iter().map(|&setting| Series::new(setting, runs)).collect();
    series.iter().map(|of| of.figures(&series)).collect()
}

impl<'a> Series<'a> {
    fn new(setting: Setting, runs: &'a [Run]) -> Self {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.setting == setting).collect();
        let ms_per_token = by_repeat(&runs, Run::ms_per_token);
        Self { setting, runs, ms_per_token }
    }

    fn figures(&self, all: &[Series<'_>]) -> Figures {
        let middle = |of: fn(&Run) -> f64| median(&by_repeat(&self.runs, of));
        let sum = |of: fn(&Run) -> usize| self.runs.iter().map(|run| of(run)).sum::<usize>();
        let (drafted, accepted) = (sum(|run| run.summary.drafted), sum(|run| run.summary.accepted));
        let mut draft_lengths = Vec::new();
        for run in &self.runs {
            let counts = &run.summary.draft_lengths;
            draft_lengths.resize(draft_lengths.len().max(counts.len()), 0);
            draft_lengths.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        // Every candidate has one draft in every step, possibly of no tokens.
        let candidate_steps: usize = draft_lengths.iter().sum();
        let ms_per_token = median(&self.ms_per_token);
        let alike = |of: &&Series<'_>| of.setting.plain() == self.setting.plain();
        let plain = all.iter().find(|of| of.setting == self.setting.plain());
        let best = all
            .iter()
            .filter(alike)
            .filter(|of| matches!(of.setting.length, DraftLength::Fixed(_)))
            .min_by(|a, b| median(&a.ms_per_token).total_cmp(&median(&b.ms_per_token)));
        Figures {
            setting: self.setting,
            ms_per_token,
            ms_per_token_min: self.ms_per_token.iter().copied().fold(f64::INFINITY, f64::min),
            ms_per_token_max: self.ms_per_token.iter().copied().fold(0.0, f64::max),
            prefill_ms: middle(|run| run.summary.prefill_ms),
            tokens_per_second: ratio(1e3 * self.setting.batch as f64, ms_per_token),
            steps: sum(|run| run.summary.steps),
            drafted,
            accepted,
            acceptance: (drafted > 0).then(|| ratio(accepted as f64, drafted as f64)),
            mean_accepted_length: ratio(accepted as f64, candidate_steps as f64),
            draft_lengths,
            ms_per_token_first: middle(|run| run.summary.ms_per_token_first),
            ms_per_token_last: middle(|run| run.summary.ms_per_token_last),
            ms_per_token_all: middle(|run| run.summary.ms_per_token_all),
            ratio_to_plain: plain.map(|plain| self.paired(plain)),
            ratio_to_best_fixed: best.map(|best| self.paired(best)),
        }
    }

    /// The median over the repeats of the time relative to `other` in the same repeat.
    fn paired(&self, other: &Series<'_>) -> f64 {
        let ratios: Vec<f64> =
            self.ms_per_token.iter().zip(&other.ms_per_token).map(|(&mine, &its)| ratio(mine, its)).collect();
        median(&ratios)
    }
}

/// The mean of `of` over the prompts, by repeat.
fn by_repeat(runs: &[&Run], of: impl Fn(&Run) -> f64) -> Vec<f64> {
    let repeats = runs.iter().map(|run| run.repeat + 1).max().unwrap_or(0);
    let mean = |repeat: usize| {
        let values: Vec<f64> = runs.iter().filter(|run| run.repeat == repeat).map(|run| of(run)).collect();
        ratio(values.iter().sum(), values.len() as f64)
    };
    (0..repeats).map(mean).collect()
}

/// The middle value, or the mean of the two middle ones; 0 for no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => 0.0,
        (len, half) if len % 2 == 1 => sorted[half],
        (_, half) => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::sampling::Accept;
    use crate::source::Summary;

    pub fn setting(length: DraftLength) -> Setting {
        Setting { batch: 2, accept: Accept::Coupled, length, drafter: None }
    }

    /// A run of two candidates of ten tokens that took `decode_ms`.
    pub fn run(length: DraftLength, repeat: usize, prompt: usize, decode_ms: f64) -> Run {
        let drafts = matches!(length, DraftLength::Fixed(0)).then_some(0).unwrap_or(4);
        let summary = Summary {
            decode_ms,
            prefill_ms: 1.5,
            tokens: 20,
            steps: 5,
            drafted: 2 * drafts,
            accepted: drafts,
            draft_lengths: if drafts == 0 { vec![10] } else { vec![6, 0, 4] },
            ..Summary::default()
        };
        Run { setting: setting(length), repeat, prompt, summary }
    }

    /// Plain, 2 and auto on two prompts in three repeats. The machine is twice as slow in the last.
    pub fn runs() -> Vec<Run> {
        let mut runs = Vec::new();
        for (repeat, slow) in [(0, 1.0), (1, 1.0), (2, 2.0)] {
            for (prompt, ms) in [(0, 10.0), (1, 30.0)] {
                for (length, factor) in
                    [(DraftLength::Fixed(0), 1.0), (DraftLength::Fixed(2), 0.5), (DraftLength::Auto, 0.6)]
                {
                    runs.push(run(length, repeat, prompt, ms * slow * factor));
                }
            }
        }
        runs
    }

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn medians() {
        close(median(&[3.0, 1.0, 2.0]), 2.0);
        close(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        close(median(&[]), 0.0);
    }

    #[test]
    fn means_over_prompts_then_medians_over_repeats() {
        let lengths = [DraftLength::Fixed(0), DraftLength::Fixed(2), DraftLength::Auto];
        let rows = figures(&lengths.map(setting), &runs());
        let [plain, two, auto] = &rows[..] else { panic!() };
        // 20 ms in the mean of the prompts, for ten tokens of each.
        close(plain.ms_per_token, 2.0);
        close(plain.ms_per_token_min, 2.0);
        close(plain.ms_per_token_max, 4.0);
        close(plain.tokens_per_second, 1000.0);
        close(plain.prefill_ms, 1.5);
        assert_eq!((plain.acceptance, plain.drafted, plain.steps), (None, 0, 30));
        assert_eq!((two.acceptance, two.drafted, two.accepted), (Some(0.5), 48, 24));
        assert_eq!(two.draft_lengths, [36, 0, 24]);
        close(two.mean_accepted_length, 0.4);
        close(two.ratio_to_plain.unwrap(), 0.5);
        close(two.ratio_to_best_fixed.unwrap(), 1.0);
        close(auto.ratio_to_plain.unwrap(), 0.6);
        close(auto.ratio_to_best_fixed.unwrap(), 1.2);
    }

    #[test]
    fn ratios_are_of_the_same_repeat() {
        let (plain, two) = (DraftLength::Fixed(0), DraftLength::Fixed(2));
        let times = [(10.0, 5.0), (100.0, 90.0), (20.0, 30.0)];
        let runs: Vec<Run> = times
            .into_iter()
            .enumerate()
            .flat_map(|(repeat, (a, b))| [run(plain, repeat, 0, a), run(two, repeat, 0, b)])
            .collect();
        let rows = figures(&[setting(plain), setting(two)], &runs);
        // Of 0.5, 0.9 and 1.5; the ratio of the medians would be 1.5.
        close(rows[1].ratio_to_plain.unwrap(), 0.9);
        let alone = figures(&[setting(DraftLength::Auto)], &[run(DraftLength::Auto, 0, 0, 1.0)]);
        assert_eq!((alone[0].ratio_to_plain, alone[0].ratio_to_best_fixed), (None, None));
    }
}
