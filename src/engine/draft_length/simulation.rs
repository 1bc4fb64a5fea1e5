//! A synthetic machine that the choice of lengths is tried on: the engine itself, over a network and a
//! drafter that only take time, and a clock that shows it. True curves and true survival are known, readings
//! are noisy and now and then interrupted, and what was measured beforehand is off. Everything is a function
//! of a seed.
//!
//! Time is counted as it is in the mean: noise shows in what the choice sees, not in what it is charged with.
//! Whether a draft token is accepted hangs on its position alone, so that all lengths meet the same luck.

mod machine;
mod rules;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::DraftLength;
use super::cost::{CostCurve, Costs};
use crate::engine::{Engine, GenerateOptions};
use crate::model::Tokenizer;
use machine::{EOS, Machine, Proposer, Verifier};

/// A main model and something that drafts for it.
#[derive(Clone, Copy)]
pub struct Pair {
    pub name: &'static str,
    pub main: &'static [(usize, f64)],
    /// Empty for lookups.
    pub draft: &'static [(usize, f64)],
    /// Share of the first, second, … draft token that is accepted if the ones before it were; by length of
    /// match for lookups.
    pub survival: &'static [f64],
}

pub const LARGE: Pair = Pair {
    name: "large",
    main: &[(1, 36.0), (2, 38.0), (4, 47.0), (8, 78.0), (16, 124.0), (32, 230.0)],
    draft: &[(1, 13.8), (2, 13.8), (4, 18.6), (8, 31.9), (16, 51.0), (32, 95.0)],
    survival: &[0.88, 0.78, 0.76],
};
pub const FASTER: Pair = Pair {
    name: "large, cheap rows",
    main: &[(1, 33.0), (2, 34.0), (4, 43.0), (8, 59.0), (16, 100.0), (32, 190.0)],
    ..LARGE
};
pub const SMALL: Pair = Pair {
    name: "small",
    main: &[(1, 0.17), (2, 0.25), (4, 0.42), (8, 0.70), (16, 1.34), (32, 2.41), (64, 4.52)],
    draft: &[(1, 0.048), (2, 0.055), (4, 0.109), (8, 0.179), (16, 0.33), (32, 0.61), (64, 1.18)],
    survival: &[0.86, 0.77, 0.83],
};
pub const DEVICE: Pair = Pair {
    name: "flat to 64 rows",
    main: &[(1, 10.0), (64, 11.0), (256, 40.0)],
    draft: &[(1, 1.0), (64, 1.1)],
    survival: &[0.8, 0.75],
};
pub const COMPUTE: Pair = Pair {
    name: "compute-bound",
    main: &[(1, 10.0), (8, 78.0), (64, 620.0)],
    draft: &[(1, 1.0), (8, 7.8), (64, 62.0)],
    survival: &[0.75],
};
pub const LOOKUP: Pair =
    Pair { name: "lookup", draft: &[], survival: &[0.1, 0.2, 0.4, 0.55, 0.7, 0.8, 0.9, 0.95], ..LARGE };
pub const LOOKUP_SMALL: Pair = Pair { name: "lookup, small", main: SMALL.main, ..LOOKUP };

/// What it is like to run a pair.
#[derive(Clone, Copy)]
pub struct Setting {
    pub pair: Pair,
    pub candidates: usize,
    /// Standard deviation of the logarithm of a reading.
    pub noise: f64,
    pub prompt: usize,
    /// From the third request on everything takes longer, from the fourth on other text is written.
    pub drifts: bool,
    /// The machine is slower for a while, again and again, as one that is shared with others.
    pub shared: bool,
    /// What was measured beforehand is off by these factors, for as many rows as there are candidates and for
    /// more, and the share of accepted tokens by this much; `None` for draws.
    pub off: Option<(f64, f64, f64)>,
}

/// Tokens of the requests, one after the other on one engine.
const REQUESTS: [usize; 7] = [64, 20, 60, 120, 200, 40, 90];
/// Rows that are measured beforehand.
const MEASURED: [usize; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256];
const DRIFT_REQUEST: usize = 3;
/// Tokens of one letter.
const LETTERS: &str = r#"{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}"#;

/// What became of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Done {
    pub ms: f64,
    pub steps: usize,
    pub drafted: usize,
    /// Times that drafts began, and ended for more than the one step that shows what steps without them cost.
    pub changes: usize,
}

/// Uniform in [0, 1), a function of its key (`SplitMix64`, Steele et al. 2014).
fn uniform(key: [usize; 5]) -> f64 {
    let mut x = 0u64;
    for part in key {
        x = x.wrapping_add(part as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
    }
    (x >> 11) as f64 / (1u64 << 53) as f64
}

fn curves(pair: &Pair) -> Costs {
    let draft = CostCurve::new(pair.draft.iter().copied());
    // A row without a draw, as measured on Qwen2-0.5B's shape.
    let read = (draft.ms(32) - draft.ms(16)) / 64.0;
    Costs { main: CostCurve::new(pair.main.iter().copied()), draft, read }
}

/// The curves as they were measured: every point is off by a factor of its own.
fn measured(truth: &Costs, setting: &Setting, seed: usize) -> Costs {
    let off = |curve: &CostCurve, which: usize| {
        let factor = |rows: usize| match setting.off {
            Some((few, _, _)) if which == 0 && rows <= setting.candidates => few,
            Some((_, many, _)) => many,
            None => 0.75 + 0.6 * uniform([seed, 1, which, rows, 0]),
        };
        let point = |rows: usize| (rows, curve.ms(rows) * factor(rows));
        let sizes = MEASURED.iter().copied().filter(|_| !curve.is_empty());
        let mut points: Vec<(usize, f64)> = sizes.map(point).collect();
        super::cost::straighten(&mut points);
        CostCurve::new(points)
    };
    Costs { main: off(&truth.main, 0), draft: off(&truth.draft, 1), read: truth.read }
}

/// Runs all requests, with a fixed length or with what the engine chooses.
pub fn run(setting: Setting, seed: usize, fixed: Option<usize>) -> Vec<Done> {
    let truth = curves(&setting.pair);
    let costs = measured(&truth, &setting, seed);
    let machine = Arc::new(Mutex::new(Machine::new(setting, truth, seed)));
    let mut engine = Engine::new(
        Box::new(Verifier(Arc::clone(&machine))),
        Tokenizer::read(Path::new("letters"), LETTERS.as_bytes()).unwrap(),
        vec![EOS],
        Some(Box::new(Proposer::new(Arc::clone(&machine)))),
    );
    let (begun, clock) = (Instant::now(), Arc::clone(&machine));
    engine.clock = Box::new(move || begun + Duration::from_secs_f64(clock.lock().unwrap().now / 1e3));
    engine.choice.profiled = true;
    engine.choice.costs = costs;
    let mean = setting.pair.survival.iter().sum::<f64>() / setting.pair.survival.len() as f64;
    if !setting.pair.draft.is_empty() {
        let off = setting.off.map_or(0.4 * uniform([seed, 6, 0, 0, 0]) - 0.2, |off| off.2);
        engine.choice.acceptance.believe((mean + off).min(0.98));
    }
    let prompt = vec![0; setting.prompt];
    let request = |(request, max_tokens): (usize, usize)| {
        machine.lock().unwrap().begin(request, max_tokens);
        let draft_length = fixed.map_or(DraftLength::Auto, DraftLength::Fixed);
        let options = GenerateOptions { n: setting.candidates, max_tokens, draft_length, ..GenerateOptions::default() };
        engine.generate(&prompt, &options, &|_| false, &mut |_| {}).unwrap();
        machine.lock().unwrap().done
    };
    REQUESTS.into_iter().enumerate().map(request).collect()
}

/// A pair as it is usually run.
pub fn setting(pair: Pair, candidates: usize, noise: f64) -> Setting {
    Setting { pair, candidates, noise, prompt: 8, drifts: false, shared: false, off: None }
}
