//! Costs of a pair of models on this machine, and how often its drafts are accepted: measured once, then
//! kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::draft_length::cost::{CostCurve, Costs, straighten};
use super::draft_length::{Auto, DraftLength, Table};
use super::event::Event;
use super::request::GenerateOptions;
use super::{Engine, EngineError};
use crate::backend::{BackendError, Candidate, ChoiceRules, Drafts, Network, Rows, SeqId, Span, Wanted};
use crate::sampling::{Accept, Draft, Sampling};

/// The measurements of a pair of models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Rows of a pass of the main model, verification included, and its ms.
    pub main: Vec<(usize, f64)>,
    /// Rows of a pass of the drafter, draws included, and its ms; empty for a drafter that takes no passes.
    pub draft: Vec<(usize, f64)>,
    /// Ms of a row that the drafter only reads, among many.
    pub read: f64,
    /// Share of drafts whose first 1, 2, 3, … tokens were all accepted, on the sample prompts.
    pub survival: Vec<f64>,
    /// Best draft length by number of live candidates.
    pub table: BTreeMap<usize, usize>,
    /// How far repeats of a pass of the main model are apart: the second shortest time over the shortest, the
    /// median of the sizes. 0 where nothing was repeated.
    #[serde(skip)]
    pub spread: f64,
}

/// Rows measured of the main model, the most telling first.
const MAIN_ROWS: [usize; 16] = [1, 8, 4, 16, 32, 2, 64, 128, 3, 6, 12, 24, 48, 96, 192, 256];
/// Rows measured of the drafter: one per candidate.
pub const DRAFT_ROWS: [usize; 7] = [1, 8, 2, 4, 16, 32, 64];
/// Numbers of candidates in the table.
const BATCHES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Draft tokens of the sample.
const SAMPLE_LENGTH: usize = 8;
/// Prompts that the sample completes: functions, as in real work.
const SAMPLE_PROMPTS: [&str; 3] = [
    "def count_words(text):\n    \"\"\"Return how often each word occurs in text, as a dict.\"\"\"\n",
    "def is_sorted(values):\n    \"\"\"Return True if values never decrease.\n\n    >>> is_sorted([1, 2, 2])\n    True\n    \"\"\"\n",
    "def longest(words):\n    \"\"\"Return the longest of the words, the first of equally long ones.\"\"\"\n    best = \"\"\n",
];
/// Share of draft tokens accepted, where there is no time to see.
const USUAL_SHARE: f64 = 0.7;

impl Profile {
    /// Largest spread of a machine that does little else.
    const STEADY: f64 = 1.15;

    /// The curves.
    pub fn costs(&self) -> Costs {
        let curve = |points: &[(usize, f64)]| CostCurve::new(points.iter().copied());
        Costs { main: curve(&self.main), draft: curve(&self.draft), read: self.read }
    }

    /// The lengths by number of live candidates.
    pub fn lengths(&self) -> Arc<Table> {
        Arc::new(Table(self.table.clone()))
    }

    /// The share of draft tokens accepted, of those that were looked at; `None` if nothing was drafted.
    pub fn share(&self) -> Option<f64> {
        let accepted: f64 = self.survival.iter().sum();
        // Token j is looked at if the first j − 1 were accepted.
        let judged: f64 = self.survival.iter().rev().skip(1).sum::<f64>() + 1.0;
        (!self.survival.is_empty()).then(|| accepted / judged)
    }

    /// The machine was free enough for the times to hold at other times: repeats took as long.
    pub fn is_steady(&self) -> bool {
        (1.0..Self::STEADY).contains(&self.spread)
    }

    /// The values could have been measured: those of a file may be anything.
    pub fn is_sound(&self) -> bool {
        let times = |points: &[(usize, f64)]| {
            points.iter().all(|&(rows, ms)| rows > 0 && ms.is_finite() && ms > 0.0)
                && points.is_sorted_by(|a, b| a.0 < b.0)
        };
        !self.main.is_empty()
            && times(&self.main)
            && times(&self.draft)
            && self.read.is_finite()
            && self.read >= 0.0
            && self.survival.iter().all(|s| (0.0..=1.0).contains(s))
            && self.table.values().all(|&k| k <= Auto::LONGEST)
    }

    /// Fills the table from curves and survival: for every number of candidates the length with the most
    /// tokens per ms.
    fn tabulate(&mut self) {
        let costs = self.costs();
        let tail = self.share().unwrap_or(USUAL_SHARE);
        let survival = |j: usize| match self.survival.get(j) {
            Some(share) => *share,
            None => self.survival.last().copied().unwrap_or(1.0) * tail.powi((j + 1 - self.survival.len()) as i32),
        };
        self.table = BATCHES
            .into_iter()
            .map(|live| {
                let gain = |k: usize| {
                    let tokens = 1.0 + (0..k).map(survival).sum::<f64>();
                    tokens / (costs.main.ms(live * (k + 1)) + k as f64 * costs.draft.ms(live)).max(1e-9)
                };
                let best = (0..=Auto::LONGEST).max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
                (live, if gain(best) > Auto::MARGIN * gain(0) { best } else { 0 })
            })
            .collect();
    }
}

impl Engine {
    /// Measures the pair, in about `budget`. Must not be called while requests are running.
    pub fn measure(&mut self, budget: Duration) -> Result<Profile, EngineError> {
        let start = Instant::now();
        let text = self.tokenizer().encode(SAMPLE_PROMPTS[1]).ok().filter(|text| !text.is_empty()).unwrap_or(vec![0]);
        let Times { points, spread, .. } = curve(self.main_network(), Pass::Main, &MAIN_ROWS, &text, budget / 2)?;
        let mut profile = Profile { main: points, spread, ..Profile::default() };
        if let (Some(drafter), main) = self.pair() {
            Times { points: profile.draft, read: profile.read, .. } = drafter.measure(main, &text, budget / 4)?;
            profile.survival = self.sample(budget.saturating_sub(start.elapsed()))?;
        }
        profile.tabulate();
        Ok(profile)
    }

    /// How far drafts survive on the sample prompts.
    fn sample(&mut self, budget: Duration) -> Result<Vec<f64>, EngineError> {
        let start = Instant::now();
        let mut drafted = [0u32; SAMPLE_LENGTH];
        let mut accepted = [0u32; SAMPLE_LENGTH];
        for text in SAMPLE_PROMPTS {
            let Some(left) = budget.checked_sub(start.elapsed()) else { break };
            let Ok(prompt) = self.tokenizer().encode(text) else { break };
            let options = GenerateOptions {
                n: 4,
                max_tokens: 48,
                time_budget: Some(left),
                draft_length: DraftLength::Fixed(SAMPLE_LENGTH),
                ..GenerateOptions::default()
            };
            let mut count = |event| {
                if let Event::Tokens { drafted: d, accepted: a, .. } = event {
                    drafted[..d].iter_mut().for_each(|count| *count += 1);
                    accepted[..a].iter_mut().for_each(|count| *count += 1);
                }
            };
            match self.generate(&prompt, &options, &|_| false, &mut count) {
                // A model with another vocabulary, or a context too short for the sample, has no sample.
                Ok(_) | Err(EngineError::Request(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let shares = drafted.iter().zip(accepted).map(|(&d, a)| f64::from(a) / f64::from(d.max(1)));
        Ok(if drafted[0] == 0 { Vec::new() } else { shares.collect() })
    }
}

/// Purpose of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Verification of drafts.
    Main,
    /// Drafting: one row and one draw per candidate.
    Draft,
    /// Drafting with the draft head: one draw per candidate.
    Head {
        /// Rows for each of them.
        rows: usize,
    },
}

/// Times of passes.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Rows and ms, in ascending order of rows.
    pub points: Vec<(usize, f64)>,
    /// Ms of a row that is only read.
    pub read: f64,
    /// As [`Profile::spread`].
    pub spread: f64,
}

/// Times of passes of `network` by rows of `text`, in about `budget`. Every size is timed a few times, with
/// the other sizes in between. `sizes` has the most telling first; the last are left out when time runs
/// short.
pub fn curve(
    network: &mut dyn Network,
    pass: Pass,
    sizes: &[usize],
    text: &[u32],
    budget: Duration,
) -> Result<Times, BackendError> {
    let vocab = network.vocab_size() as u32;
    let widest = sizes.iter().copied().max().unwrap_or(1);
    let tokens: Vec<u32> = text.iter().map(|&token| token % vocab).cycle().take(Passes::BEFORE + 1 + widest).collect();
    let room = Passes::BEFORE.min(network.context() / 2).max(Passes::SLAB);
    let prompt = network.open(room)?;
    let mut passes = Passes { network, pass, tokens: &tokens, before: 0, prompt, forks: Vec::new() };
    let times = passes.begin(room, widest, budget / 8).and_then(|read| {
        let times = passes.measure(sizes, budget)?;
        let spread = spread(times.values());
        let mut points: Vec<(usize, f64)> = times.into_iter().map(|(rows, all)| (rows, usual(all))).collect();
        straighten(&mut points);
        Ok(Times { points, read, spread })
    });
    let Passes { network, forks, .. } = passes;
    forks.into_iter().chain([prompt]).for_each(|seq| network.close(seq));
    times
}

/// The lower quartile: real work seldom reaches the shortest time, and half of the passes may be interrupted.
fn usual(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[(all.len() - 1) / 4]
}

/// The second shortest over the shortest time of a size, the median of the sizes with two or more; 0 without
/// any.
fn spread<'a>(sizes: impl Iterator<Item = &'a Vec<f64>>) -> f64 {
    let ratio = |all: &Vec<f64>| {
        let mut all = all.clone();
        all.sort_by(f64::total_cmp);
        (all.len() > 1).then(|| all[1] / all[0])
    };
    let mut ratios: Vec<f64> = sizes.filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or_default()
}

/// Sequences to time passes with.
struct Passes<'a> {
    network: &'a mut dyn Network,
    pass: Pass,
    tokens: &'a [u32],
    /// Positions before the rows.
    before: usize,
    prompt: SeqId,
    forks: Vec<SeqId>,
}

impl Passes<'_> {
    /// Most positions before the rows, and how many are read first.
    const BEFORE: usize = 128;
    const SLAB: usize = 8;
    /// Candidates that the rows of a pass of the main model are spread over.
    const CANDIDATES: usize = 16;
    /// Sizes measured whatever it takes, and how often.
    const LEAST_SIZES: usize = 2;
    const LEAST_ROUNDS: usize = 2;
    const ROUNDS: usize = 5;
    const QUICK_MS: f64 = 5.0;

    /// Reads what comes before the rows and forks. A small model spends much of a pass on earlier positions;
    /// with a large one they hardly show and are slow to read, so `budget` ends it. Returns the ms of a row.
    fn begin(&mut self, room: usize, widest: usize, budget: Duration) -> Result<f64, BackendError> {
        let start = Instant::now();
        let (mut slab, mut read) = (Self::SLAB, 0.0);
        while self.before == 0 || (self.before + slab <= room && start.elapsed() < budget) {
            let tokens = &self.tokens[self.before..self.before + slab];
            let spans = [Span { seq: self.prompt, start: self.before, len: slab }];
            let begun = Instant::now();
            self.network.forward(&Rows::chain(tokens, &spans), Wanted::Nothing)?;
            // The more rows, the less each of them takes: the last pass says what prompts take.
            read = begun.elapsed().as_secs_f64() * 1e3 / slab as f64;
            self.before += slab;
            slab *= 2;
        }
        let (candidates, each) = match self.pass {
            Pass::Draft => (widest, 1),
            Pass::Head { rows } => (widest, rows),
            Pass::Main => (Self::CANDIDATES, widest.div_ceil(Self::CANDIDATES)),
        };
        self.forks = self.network.fork(self.prompt, candidates, each)?;
        // The first pass touches new memory.
        self.time(1).map(|_| read)
    }

    /// Ms of every pass, by rows.
    fn measure(&mut self, sizes: &[usize], budget: Duration) -> Result<BTreeMap<usize, Vec<f64>>, BackendError> {
        let start = Instant::now();
        let mut points: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for round in 0..Self::ROUNDS {
            for (i, &rows) in sizes.iter().enumerate() {
                // Half of the time is for seeing sizes at all, the rest for seeing them again.
                let late = start.elapsed() > if round == 0 { budget / 2 } else { budget };
                if late && (round >= Self::LEAST_ROUNDS || i >= Self::LEAST_SIZES) {
                    break;
                }
                if round > 0 && !points.contains_key(&rows) {
                    continue;
                }
                let mut ms = self.time(rows)?;
                if ms < Self::QUICK_MS {
                    // The weights are in a cache, as in real work, but not after a pass of another size.
                    ms = self.time(rows)?;
                }
                points.entry(rows).or_default().push(ms);
            }
        }
        Ok(points)
    }

    /// Milliseconds of one pass.
    fn time(&mut self, rows: usize) -> Result<f64, BackendError> {
        let count = self.forks.len().min(rows);
        let sampling = Sampling::default();
        let vocab = self.network.vocab_size();
        let rules = ChoiceRules { sampling: &sampling, accept: Accept::default(), seed: 0, vocab, alternatives: 0 };
        // Every candidate goes on with the same text: nonsense would make draws slow, every token being as
        // good as any other.
        let (tokens, text) = self.tokens.split_at(self.before + 1);
        let candidate = |i: usize| Candidate { seq: self.forks[i], index: i as u32, tokens, rules };
        let candidates: Vec<Candidate<'_>> = (0..count).map(candidate).collect();
        let drafted = |i: usize| rows / count + usize::from(i < rows % count) - 1;
        let drafts = |i: usize| Drafts::Host(text[..drafted(i)].iter().map(|&token| Draft::certain(token)).collect());
        let drafts: Vec<Drafts> = (0..count).map(drafts).collect();
        let start = Instant::now();
        match self.pass {
            Pass::Main => drop(self.network.verify(&candidates, &drafts)?),
            Pass::Draft => drop(self.network.draft(&candidates, &vec![1; count])?),
            Pass::Head { .. } => drop(self.network.draft_with_head(&candidates, &vec![1; count])?),
        }
        let ms = start.elapsed().as_secs_f64() * 1e3;
        for candidate in &candidates {
            self.network.set_len(candidate.seq, self.before);
        }
        Ok(ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        // Memory-bound up to 16 rows, then every row costs.
        let main = vec![(1, 10.0), (16, 12.0), (64, 48.0), (256, 192.0)];
        let survival = (1..=8).map(|j| 0.8f64.powi(j)).collect();
        Profile { main, draft: vec![(1, 1.0), (64, 4.0)], read: 0.1, survival, ..Profile::default() }
    }

    #[test]
    fn the_best_length_falls_with_the_number_of_candidates() {
        let mut profile = profile();
        profile.tabulate();
        let lengths: Vec<usize> = profile.table.values().copied().collect();
        assert!(lengths[0] >= 4, "{lengths:?}");
        assert!(lengths.windows(2).all(|pair| pair[1] <= pair[0]), "{lengths:?}");
        assert_eq!(lengths[6], 0, "{lengths:?}");
    }

    #[test]
    fn an_interrupted_pass_is_not_the_usual_one() {
        assert!((usual(vec![30.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((usual(vec![3.0, 30.0, 2.0, 31.5, 1.0]) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn times_that_do_not_repeat_are_not_steady() {
        let steady = |times: &[&[f64]]| {
            let times: Vec<Vec<f64>> = times.iter().map(|all| all.to_vec()).collect();
            Profile { spread: spread(times.iter()), ..profile() }.is_steady()
        };
        assert!(steady(&[&[40.0, 39.0], &[63.0, 90.0, 62.0], &[110.0]]));
        assert!(steady(&[&[40.0, 39.0], &[47.0, 70.0], &[62.0, 63.0]]), "one was interrupted");
        assert!(!steady(&[&[161.0, 90.0], &[63.0, 120.0], &[110.0, 112.0]]));
        assert!(!steady(&[&[161.0], &[163.0]]) && !steady(&[]), "nothing was repeated");
    }

    #[test]
    fn the_share_is_of_tokens_that_were_looked_at() {
        assert!((profile().share().unwrap() - 0.8).abs() < 1e-9);
        assert_eq!(Profile::default().share(), None);
    }

    #[test]
    fn nonsense_from_a_file_is_noticed() {
        assert!(profile().is_sound());
        assert!(!Profile::default().is_sound());
        assert!(!Profile { main: vec![(1, f64::NAN)], ..profile() }.is_sound());
        assert!(!Profile { draft: vec![(0, 1.0)], ..profile() }.is_sound());
        assert!(!Profile { main: vec![(2, 1.0), (1, 1.0)], ..profile() }.is_sound());
        assert!(!Profile { read: f64::NAN, ..profile() }.is_sound());
        assert!(!Profile { survival: vec![7.0], ..profile() }.is_sound());
        assert!(!Profile { table: [(1, 9999)].into(), ..profile() }.is_sound());
    }
}
