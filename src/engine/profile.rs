//! What a pair of models costs on this machine, and how often its drafts are accepted: measured once, then kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cost::{CostCurve, Costs};
use super::draft_length::{Auto, Table};
use super::event::Event;
use super::request::{DraftLength, GenerateOptions};
use super::{Engine, EngineError};
use crate::backend::{BackendError, ChoiceItem, ChoiceRules, Network, Rows, Span, Wanted};
use crate::sampling::{Accept, Sampling};

/// The measurements of a pair of models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Rows of a pass of the main model, verification included, and its ms.
    pub main: Vec<(usize, f64)>,
    /// Rows of a pass of the drafter, draws included, and its ms; empty for a drafter that takes no passes.
    pub draft: Vec<(usize, f64)>,
    /// Share of drafts whose first 1, 2, 3, … tokens were all accepted, on the sample prompts.
    pub survival: Vec<f64>,
    /// Best draft length by number of live candidates.
    pub table: BTreeMap<usize, usize>,
}

/// Rows measured of the main model.
const MAIN_ROWS: [usize; 16] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
/// Rows measured of the drafter: one per candidate.
const DRAFT_ROWS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// These are measured whatever it takes.
const LEAST_ROWS: usize = 8;
/// Numbers of candidates in the table.
const BATCHES: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Draft tokens of the sample.
const SAMPLE_LENGTH: usize = 8;
/// Prompts that the sample completes.
const SAMPLE_PROMPTS: [&str; 3] = [
    "def count_words(text):\n    \"\"\"Return how often each word occurs in text, as a dict.\"\"\"\n",
    "def is_sorted(values):\n    \"\"\"Return True if values never decrease.\n\n    >>> is_sorted([1, 2, 2])\n    True\n    \"\"\"\n",
    "class Stack:\n    \"\"\"A list of items, the last of which is taken first.\"\"\"\n\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n",
];
/// A length in the table has to promise this much more than none.
const WORTH: f64 = 1.03;

impl Profile {
    /// The curves.
    pub fn costs(&self) -> Costs {
        Costs { main: CostCurve::new(self.main.iter().copied()), draft: CostCurve::new(self.draft.iter().copied()) }
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

    /// Whether it could have been measured: as read from a file it may be anything.
    pub fn is_sound(&self) -> bool {
        let times = |points: &[(usize, f64)]| points.iter().all(|&(rows, ms)| rows > 0 && ms.is_finite() && ms > 0.0);
        !self.main.is_empty()
            && times(&self.main)
            && times(&self.draft)
            && self.survival.iter().all(|s| (0.0..=1.0).contains(s))
            && self.table.values().all(|&k| k <= Auto::LONGEST)
    }

    /// Fills the table from curves and survival: for every number of candidates the length with the most tokens per ms.
    fn tabulate(&mut self) {
        let costs = self.costs();
        let tail = self.share().unwrap_or(0.0);
        let survival = |j: usize| match self.survival.get(j) {
            Some(share) => *share,
            None => self.survival.last().copied().unwrap_or(0.0) * tail.powi((j + 1 - self.survival.len()) as i32),
        };
        self.table = BATCHES
            .into_iter()
            .map(|live| {
                let gain = |k: usize| {
                    let tokens = 1.0 + (0..k).map(survival).sum::<f64>();
                    tokens / (costs.main.ms(live * (k + 1)) + k as f64 * costs.draft.ms(live)).max(1e-9)
                };
                let best = (0..=Auto::LONGEST).max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
                (live, if gain(best) > WORTH * gain(0) { best } else { 0 })
            })
            .collect();
    }
}

impl Engine {
    /// Measures the pair, in about `budget`. Must not be called while requests are running.
    pub fn measure(&mut self, budget: Duration) -> Result<Profile, EngineError> {
        let start = Instant::now();
        // What rows cost depends on what they say: of text that is like none, every token is as good as any other to draw.
        let text = self.tokenizer().encode(SAMPLE_PROMPTS[1]).ok().filter(|text| !text.is_empty()).unwrap_or(vec![0]);
        let left = |share: f64| start.elapsed() < budget.mul_f64(share);
        let mut profile = Profile::default();
        for rows in MAIN_ROWS.into_iter().take_while(|&rows| rows <= LEAST_ROWS || left(0.5)) {
            profile.main.push((rows, pass_ms(self.main_network(), rows, Pass::Main, &text)?));
        }
        if let Some(drafter) = self.drafter() {
            for rows in DRAFT_ROWS.into_iter().take_while(|&rows| rows <= LEAST_ROWS || left(0.7)) {
                profile.draft.extend(drafter.measure(rows, &text)?.map(|ms| (rows, ms)));
            }
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

/// What a pass is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Verification: every row is looked at.
    Main,
    /// Drafting: one row and one draw per candidate.
    Draft,
}

/// Milliseconds of a pass of `network` over `rows` rows of `text`, after its beginning: the shortest of a few.
pub fn pass_ms(network: &mut dyn Network, rows: usize, pass: Pass, text: &[u32]) -> Result<f64, BackendError> {
    const PROMPT: usize = 16;
    const CANDIDATES: usize = 16;
    const SLOW: Duration = Duration::from_millis(40);

    let vocab = network.vocab_size();
    let candidates = if pass == Pass::Draft { rows } else { rows.min(CANDIDATES) };
    let each = rows.div_ceil(candidates);
    let tokens: Vec<u32> = text.iter().map(|&t| t % vocab as u32).cycle().take(PROMPT + rows).collect();
    let (beginning, tokens) = tokens.split_at(PROMPT.min(tokens.len()));
    let sampling = Sampling::default();
    let rules = ChoiceRules { sampling: &sampling, accept: Accept::default(), seed: 0, vocab };

    let prompt = network.open(PROMPT)?;
    let mut timed = || -> Result<Duration, BackendError> {
        let spans = [Span { seq: prompt, start: 0, len: PROMPT }];
        network.forward(&Rows { tokens: beginning, spans: &spans }, Wanted::Nothing)?;
        let forks = network.fork(prompt, candidates, each)?;
        let lengths = (0..candidates).map(|i| each.min(rows.saturating_sub(i * each)));
        let spans: Vec<Span> = forks
            .iter()
            .zip(lengths)
            .filter(|(_, len)| *len > 0)
            .map(|(&seq, len)| Span { seq, start: PROMPT, len })
            .collect();
        let mut best = Duration::MAX;
        let mut run = || -> Result<Duration, BackendError> {
            for round in 0..5 {
                let start = Instant::now();
                let want = if pass == Pass::Draft { Wanted::Last } else { Wanted::All };
                let held = network.forward(&Rows { tokens, spans: &spans }, want)?;
                let item = |row| ChoiceItem { rules, row, candidate: row as u32, history: beginning, drafts: &[] };
                let items: Vec<ChoiceItem<'_>> = (0..held).map(item).collect();
                match pass {
                    Pass::Main => drop(network.verify(&items)),
                    Pass::Draft => drop(network.propose(&items)),
                }
                best = best.min(start.elapsed());
                // The first pass touches new memory; of slow ones two are enough.
                if round > 0 && best > SLOW {
                    break;
                }
                for span in &spans {
                    network.set_len(span.seq, PROMPT);
                }
            }
            Ok(best)
        };
        let outcome = run();
        for seq in forks {
            network.close(seq);
        }
        outcome
    };
    let outcome = timed();
    network.close(prompt);
    Ok(outcome?.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        // Memory-bound up to 16 rows, then every row costs.
        let main = vec![(1, 10.0), (16, 12.0), (64, 48.0), (256, 192.0)];
        let survival = (1..=8).map(|j| 0.8f64.powi(j)).collect();
        Profile { main, draft: vec![(1, 1.0), (64, 4.0)], survival, table: BTreeMap::new() }
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
        assert!(!Profile { survival: vec![7.0], ..profile() }.is_sound());
        assert!(!Profile { table: [(1, 9999)].into(), ..profile() }.is_sound());
    }
}
