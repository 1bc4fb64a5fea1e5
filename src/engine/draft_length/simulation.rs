//! A synthetic machine that the choice of lengths is tried on: true curves and true survival are known,
//! readings are noisy and now and then interrupted, and what was measured beforehand is off. Everything is a
//! function of a seed.
//!
//! Time is counted as it is in the mean: noise shows in what the choice sees, not in what it is charged with.
//! Whether a draft token is accepted hangs on its position alone, so that all lengths meet the same luck.

mod rules;

use super::cost::{CostCurve, Costs};
use super::{Acceptance, Auto, Outcome, Rate, Slot, passes};
use crate::engine::drafter::{Evidence, Offer};

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

struct Machine {
    setting: Setting,
    truth: Costs,
    seed: usize,
    request: usize,
    readings: usize,
    /// How many times as long everything takes, and until when it does: ms of the first request's beginning.
    slower: (f64, f64),
    now: f64,
}

impl Machine {
    fn speed(&self) -> f64 {
        self.slower.0 * if self.setting.drifts && self.request + 1 >= DRIFT_REQUEST { 1.3 } else { 1.0 }
    }

    /// Time passes, and with it others come and go: they stay for 10 to 200 steps.
    fn pass(&mut self, ms: f64) {
        self.now += ms;
        if self.setting.shared && self.now >= self.slower.1 {
            let draw = |what| uniform([self.seed, 8, self.now as usize, self.readings, what]);
            let steps = 10.0 * f64::powf(20.0, draw(0));
            self.slower = (
                if self.slower.0 > 1.0 { 1.0 } else { 1.15 + 0.4 * draw(1) },
                self.now + steps * self.truth.main.ms(self.setting.candidates),
            );
        }
    }

    /// A reading of something that takes `ms`.
    fn read(&mut self, ms: f64) -> f64 {
        self.readings += 1;
        let draw = |what| uniform([self.seed, 2, self.request, self.readings, what]);
        // Box and Muller.
        let normal = (-2.0 * draw(0).max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * draw(1)).cos();
        let interruption = if draw(2) < 0.02 { 2.0 + 3.0 * draw(3) } else { 1.0 };
        ms * (self.setting.noise * normal).exp() * interruption
    }

    /// Share that is accepted of draft token `j` of a candidate, on this evidence.
    fn share(&self, candidate: usize, evidence: Evidence, j: usize) -> f64 {
        let own = 0.12 * uniform([self.seed, 3, self.request, candidate, 0]) - 0.06;
        let later = if self.setting.drifts && self.request >= DRIFT_REQUEST { -0.25 } else { 0.0 };
        let at = match evidence {
            Evidence::Match { length } | Evidence::Sibling { length } => length - 1,
            Evidence::Model => j,
        };
        self.setting.pair.survival[at.min(self.setting.pair.survival.len() - 1)] + own + later
    }

    fn accepted(&self, candidate: usize, evidence: Evidence, position: usize, drafted: usize) -> usize {
        let luck = |j: usize| uniform([self.seed, 4, self.request, candidate, position + j]);
        (0..drafted).take_while(|&j| luck(j) < self.share(candidate, evidence, j)).count()
    }

    fn offer(&self, candidate: usize, position: usize, lag: usize, room: usize) -> Offer {
        if !self.setting.pair.draft.is_empty() {
            return Offer { most: room, evidence: Evidence::Model, lag: Some(lag) };
        }
        let draw = uniform([self.seed, 5, self.request, candidate, position]);
        if draw < 0.5 {
            return Offer::NONE;
        }
        let length = 1 + (16.0 * (draw - 0.5)) as usize;
        Offer { most: room.min(10), evidence: Evidence::Match { length }, lag: None }
    }
}

struct Candidate {
    index: usize,
    position: usize,
    left: usize,
    lag: usize,
    rate: Rate,
}

/// Runs all requests as the engine's step does, with a fixed length or with what [`Auto`] chooses.
pub fn run(setting: Setting, seed: usize, fixed: Option<usize>) -> Vec<Done> {
    let truth = curves(&setting.pair);
    let mut costs = measured(&truth, &setting, seed);
    let mut acceptance = Acceptance::default();
    let mean = setting.pair.survival.iter().sum::<f64>() / setting.pair.survival.len() as f64;
    if !setting.pair.draft.is_empty() {
        let off = setting.off.map_or(0.4 * uniform([seed, 6, 0, 0, 0]) - 0.2, |off| off.2);
        acceptance.believe((mean + off).min(0.98));
    }
    let mut auto = Auto::default();
    let mut machine = Machine { setting, truth, seed, request: 0, readings: 0, slower: (1.0, 0.0), now: 0.0 };
    let mut all = Vec::new();
    for (request, max) in REQUESTS.into_iter().enumerate() {
        machine.request = request;
        let n = setting.candidates;
        let mut done = Done::default();
        let drafts = fixed.map_or_else(
            || auto.would_draft(n, max, setting.prompt, acceptance.estimate(Evidence::Model, &Rate::default()), &costs),
            |k| k > 0,
        );
        let lag = if drafts { 1 } else { setting.prompt };
        if drafts && !setting.pair.draft.is_empty() && setting.prompt > 1 {
            done.ms += machine.truth.read_ms(setting.prompt - 1);
        }
        let length = |i: usize| (max as f64 * (1.0 - 0.4 * uniform([seed, 7, request, i, 0]))).ceil() as usize;
        let mut live: Vec<Candidate> = (0..n)
            .map(|index| Candidate { index, position: 0, left: length(index), lag, rate: Rate::default() })
            .collect();
        // Steps without drafts since the last one with them.
        let mut plain_for = 2;
        while !live.is_empty() {
            let room = |c: &Candidate| c.left - 1;
            let offers: Vec<Offer> = live
                .iter()
                .enumerate()
                // The prompt is read once for all.
                .map(|(i, c)| {
                    let unread = c.lag == setting.prompt + c.position && i > 0 && setting.prompt > 1;
                    let lag = if unread { c.position + 1 } else { c.lag };
                    machine.offer(c.index, c.position, lag, room(c))
                })
                .collect();
            let lengths = if let Some(k) = fixed {
                offers.iter().map(|offer| k.min(offer.most)).collect()
            } else {
                let slot = |(c, offer): (&Candidate, &Offer)| Slot {
                    offer: *offer,
                    accepted: acceptance.estimate(offer.evidence, &c.rate),
                    left: room(c),
                };
                let slots: Vec<Slot> = live.iter().zip(&offers).map(slot).collect();
                auto.choose(&slots, 0, &costs)
            };
            let mut ms = 0.0;
            let mut seen = 0.0;
            let (taken, unread) = passes(&lengths, &offers);
            if !taken.is_empty() {
                let each: Vec<f64> = taken.iter().map(|&rows| machine.truth.draft.ms(rows)).collect();
                let each = [each, vec![machine.truth.read_ms(unread)]].concat();
                ms += each.iter().sum::<f64>();
                let speed = machine.speed();
                seen += each.into_iter().map(|ms| machine.read(ms * speed)).sum::<f64>();
                if fixed.is_none() {
                    costs.draft_took(&taken, unread, seen);
                }
            }
            let rows = live.len() + lengths.iter().sum::<usize>();
            let pass = machine.truth.main.ms(rows);
            let reading = machine.read(pass * machine.speed());
            if fixed.is_none() {
                costs.main_took(rows, reading);
            }
            ms += pass;
            seen += reading;

            let mut tokens = 0;
            for ((c, offer), &drafted) in live.iter_mut().zip(&offers).zip(&lengths) {
                let accepted = machine.accepted(c.index, offer.evidence, c.position, drafted);
                let outcome = Outcome { drafted, accepted };
                if drafted > 0 && fixed.is_none() {
                    acceptance.observe(offer.evidence, outcome);
                    if offer.evidence == Evidence::Model {
                        c.rate.observe(outcome);
                    }
                }
                c.position += accepted + 1;
                c.left = c.left.saturating_sub(accepted + 1);
                c.lag = if drafted == 0 { c.lag + 1 } else { 1 + usize::from(accepted == drafted) };
                tokens += accepted + 1;
            }
            live.retain(|c| c.left > 0);
            acceptance.age();
            auto.stepped(tokens, seen);

            let drafts = lengths.iter().any(|&length| length > 0);
            machine.pass(seen);
            done.ms += ms;
            done.steps += 1;
            done.drafted += usize::from(drafts);
            done.changes += usize::from(drafts && plain_for >= 2) + usize::from(!drafts && plain_for == 1);
            plain_for = if drafts { 0 } else { plain_for + 1 };
        }
        all.push(done);
    }
    all
}

/// A pair as it is usually run.
pub fn setting(pair: Pair, candidates: usize, noise: f64) -> Setting {
    Setting { pair, candidates, noise, prompt: 8, drifts: false, shared: false, off: None }
}
