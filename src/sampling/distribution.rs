//! From logits to the distribution that tokens are drawn from.
//!
//! The settings are applied in the order and with the details of HF transformers' logits processors:
//! repetition penalty, temperature, top-k, top-p, min-p.

use serde::{Deserialize, Serialize};

use super::rng::{DrawKey, Purpose, gumbel, noise, uniform};

/// Sums are taken over this many lanes, so that they can be vectorised.
const LANES: usize = 8;

/// Temperature and filters, by the names that servers give them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f32,
    /// Keep the k most probable tokens (ties with the k-th are kept).
    pub top_k: Option<usize>,
    /// Keep the smallest set of most probable tokens with this mass.
    pub top_p: Option<f32>,
    /// Drop tokens less probable than this share of the best one.
    pub min_p: Option<f32>,
    /// Divide (or multiply, when negative) the logits of tokens that have occurred.
    pub repetition_penalty: Option<f32>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 0.8, top_p: Some(0.95), ..Self::GREEDY }
    }
}

impl Sampling {
    /// Always the most probable token.
    pub const GREEDY: Self = Self { temperature: 0.0, top_k: None, top_p: None, min_p: None, repetition_penalty: None };

    /// Checks the ranges; the error is a sentence that names the setting.
    pub fn check(&self) -> Result<(), String> {
        let Self { temperature, top_k, top_p, min_p, repetition_penalty } = *self;
        if !(temperature.is_finite() && temperature >= 0.0) {
            return Err(format!("temperature is {temperature}, expected 0 (greedy) or a positive number"));
        }
        if top_k == Some(0) {
            return Err("top-k is 0, expected at least 1; leave it out to keep all tokens".to_owned());
        }
        if let Some(p) = top_p.filter(|p| !(*p > 0.0 && *p <= 1.0)) {
            return Err(format!("top-p is {p}, expected a number above 0 and at most 1"));
        }
        if let Some(p) = min_p.filter(|p| !(0.0..=1.0).contains(p)) {
            return Err(format!("min-p is {p}, expected a number from 0 to 1"));
        }
        if let Some(r) = repetition_penalty.filter(|r| !(r.is_finite() && *r > 0.0)) {
            return Err(format!("repetition penalty is {r}, expected a positive number (1 has no effect)"));
        }
        Ok(())
    }
}

/// A filtered, normalised distribution over token ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The ids with a probability, ascending; `None` when all ids have one.
    ids: Option<Vec<u32>>,
    /// Probabilities of `ids` (or of `0..vocab`).
    probs: Vec<f32>,
}

impl Distribution {
    /// More than what rounding changes in a score.
    const ROUNDING: f64 = 1e-9;

    /// The distribution of `logits` `[vocab]` under `sampling`. `history` are the tokens before this
    /// position, which only the repetition penalty reads.
    pub fn new(logits: &[f32], sampling: &Sampling, history: &[u32]) -> Self {
        let penalised;
        let logits = match sampling.repetition_penalty {
            Some(penalty) if (penalty - 1.0).abs() > 0.0 => {
                penalised = penalise(logits, penalty, history);
                &penalised
            }
            _ => logits,
        };
        if sampling.temperature == 0.0 {
            return Self::certain(argmax(logits));
        }
        let top = maximum(logits);
        let mut weights: Vec<f32> = logits.to_vec();
        let mut total = exp_all(&mut weights, top, sampling.temperature);
        let mut ids: Option<Vec<u32>> = None;

        if let Some(k) = sampling.top_k.filter(|&k| k < weights.len()) {
            let mut order: Vec<f32> = logits.to_vec();
            let (_, kth, _) = order.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a));
            let kth = *kth;
            let kept: Vec<u32> = (0..logits.len() as u32).filter(|&i| logits[i as usize] >= kth).collect();
            total = keep(&mut weights, &mut ids, &kept);
        }
        if let Some(p) = sampling.top_p.filter(|&p| p < 1.0) {
            let kept = nucleus(&weights, ids.as_deref(), total, f64::from(p));
            total = keep(&mut weights, &mut ids, &kept);
        }
        if let Some(p) = sampling.min_p.filter(|&p| p > 0.0) {
            // The best token's weight is exp(0) = 1.
            let kept: Vec<u32> = members(&weights, ids.as_deref()).filter(|&(_, w)| w >= p).map(|(i, _)| i).collect();
            total = keep(&mut weights, &mut ids, &kept);
        }
        let norm = 1.0 / total;
        for w in &mut weights {
            *w = (f64::from(*w) * norm) as f32;
        }
        Self { ids, probs: weights }
    }

    /// The distribution over `ids` alone, ascending, with their logits `[ids]`; over all, `[vocab]`, where
    /// `None`.
    pub fn among(ids: Option<&[u32]>, logits: &[f32], sampling: &Sampling, history: &[u32]) -> Self {
        let Some(ids) = ids else { return Self::new(logits, sampling, history) };
        let place = |id: &u32| ids.binary_search(id).ok().map(|at| at as u32);
        let history: Vec<u32> = history.iter().filter_map(place).collect();
        let of = Self::new(logits, sampling, &history);
        let ids = match of.ids {
            None => ids[..logits.len()].to_vec(),
            Some(places) => places.into_iter().map(|at| ids[at as usize]).collect(),
        };
        Self { ids: Some(ids), probs: of.probs }
    }

    /// All mass on one token.
    pub fn certain(id: u32) -> Self {
        Self { ids: Some(vec![id]), probs: vec![1.0] }
    }

    /// Probability of `id`.
    pub fn prob(&self, id: u32) -> f32 {
        match &self.ids {
            None => self.probs.get(id as usize).copied().unwrap_or(0.0),
            Some(ids) => ids.binary_search(&id).map_or(0.0, |at| self.probs[at]),
        }
    }

    /// The ids with a probability and these, ids ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f32)> + Clone + '_ {
        members(&self.probs, self.ids.as_deref())
    }

    /// The token at `u` in [0, 1) of the cumulative distribution.
    pub fn at(&self, u: f64) -> u32 {
        pick(self.iter().map(|(id, p)| (id, f64::from(p))), u).unwrap_or(0)
    }

    /// A token drawn with the randomness of `key` and `purpose`.
    pub fn draw(&self, key: DrawKey, purpose: Purpose) -> u32 {
        self.at(uniform(key, purpose))
    }

    /// A token drawn by the Gumbel-max rule with noise that depends on `key` and the token only: two
    /// distributions that are alike draw the same token from it, mostly.
    pub fn draw_coupled(&self, key: DrawKey) -> u32 {
        let mut best = (f64::NEG_INFINITY, 0);
        // e to the minus best score.
        let mut factor = f64::INFINITY;
        for (id, p) in self.iter().filter(|(_, p)| *p > 0.0) {
            let u = noise(key, id);
            // -ln(u) is no less than 1 - u: where that is more than p / e^best, no logarithm is needed.
            if (1.0 - u) * (1.0 - Self::ROUNDING) > f64::from(p) * factor {
                continue;
            }
            let score = f64::from(p).ln() + gumbel(u);
            if score > best.0 {
                best = (score, id);
                factor = (-score).exp();
            }
        }
        best.1
    }

    /// A token from norm((self − other)+); from `self` where rounding leaves nothing of it.
    pub fn draw_residual(&self, other: &Distribution, key: DrawKey) -> u32 {
        let u = uniform(key, Purpose::Residual);
        let rest = self.iter().map(|(id, p)| (id, (f64::from(p) - f64::from(other.prob(id))).max(0.0)));
        pick(rest, u).unwrap_or_else(|| self.at(u))
    }
}

/// The id at `u` of the cumulative sum of `weights`; `None` if they are all 0.
fn pick(weights: impl Iterator<Item = (u32, f64)> + Clone, u: f64) -> Option<u32> {
    let total: f64 = weights.clone().map(|(_, w)| w).sum();
    let mut left = u * total;
    let mut last = None;
    for (id, w) in weights.filter(|(_, w)| *w > 0.0) {
        last = Some(id);
        left -= w;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// Index of the largest logit, the lowest of equal ones.
pub fn argmax(logits: &[f32]) -> u32 {
    let top = maximum(logits);
    logits.iter().position(|&l| l >= top).unwrap_or(0) as u32
}

/// Natural logarithm of the softmax of `logits` `[vocab]` at `id`.
pub fn raw_logprob(logits: &[f32], id: u32) -> f32 {
    raw_logprobs(logits)(id)
}

/// [`raw_logprob`] at any id, for one look at the whole row.
pub fn raw_logprobs(logits: &[f32]) -> impl Fn(u32) -> f32 + '_ {
    let top = maximum(logits);
    let total = exp_sum(logits, top).ln();
    move |id| logits.get(id as usize).map_or(f32::NEG_INFINITY, |&l| (f64::from(l - top) - total) as f32)
}

/// Defines a function that is compiled twice, for every processor and for those with AVX2, with equal
/// results: the operations and their order are the same, only more of them go at a time.
macro_rules! vectorised {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)? $body:block) => {
        $(#[$doc])*
        fn $name($($arg: $type),*) $(-> $out)? {
            #[allow(clippy::inline_always, reason = "only what is inlined is compiled for the wider processor")]
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $type),*) $(-> $out)? { body($($arg),*) }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has it.
                    return unsafe { wide($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

vectorised! {
    /// The largest value; what is not a number does not count.
    fn maximum(values: &[f32]) -> f32 {
        let mut tops = [f32::NEG_INFINITY; LANES];
        let (whole, rest) = values.as_chunks::<LANES>();
        let larger = |top: &mut f32, value: f32| *top = if value > *top { value } else { *top };
        for chunk in whole {
            tops.iter_mut().zip(chunk).for_each(|(top, &value)| larger(top, value));
        }
        tops.iter_mut().zip(rest).for_each(|(top, &value)| larger(top, value));
        tops.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}

fn penalise(logits: &[f32], penalty: f32, history: &[u32]) -> Vec<f32> {
    let mut out = logits.to_vec();
    let mut seen = history.to_vec();
    seen.sort_unstable();
    seen.dedup();
    for id in seen {
        if let Some(l) = out.get_mut(id as usize) {
            *l = if *l < 0.0 { *l * penalty } else { *l / penalty };
        }
    }
    out
}

fn members<'a>(weights: &'a [f32], ids: Option<&'a [u32]>) -> impl Iterator<Item = (u32, f32)> + Clone + 'a {
    weights.iter().enumerate().map(move |(at, &w)| (ids.map_or(at as u32, |ids| ids[at]), w))
}

/// Reduces weights and ids to `kept` (ascending); returns the new total.
fn keep(weights: &mut Vec<f32>, ids: &mut Option<Vec<u32>>, kept: &[u32]) -> f64 {
    let old = ids.as_deref();
    let mut at = 0;
    let reduced: Vec<f32> = kept
        .iter()
        .map(|&id| match old {
            None => weights[id as usize],
            Some(old) => {
                while old[at] != id {
                    at += 1;
                }
                weights[at]
            }
        })
        .collect();
    *weights = reduced;
    *ids = Some(kept.to_vec());
    weights.iter().map(|&w| f64::from(w)).sum()
}

/// The ids, ascending, that top-p keeps: the least probable ones are removed while their cumulative
/// probability is at most 1 − p.
fn nucleus(weights: &[f32], ids: Option<&[u32]>, total: f64, p: f64) -> Vec<u32> {
    let removable = (1.0 - p) * total;
    // All weights below this bound together are less than what is removed anyway, so they need no sorting.
    let bound = removable / weights.len() as f64;
    let mut head: Vec<(u32, f32)> = members(weights, ids).filter(|&(_, w)| f64::from(w) >= bound).collect();
    let mut cumulative = total - head.iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
    // Least probable first; of equal ones the higher id first.
    head.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let last = head.len().saturating_sub(1);
    let mut cut = 0;
    while cut < last {
        cumulative += f64::from(head[cut].1);
        if cumulative > removable {
            break;
        }
        cut += 1;
    }
    let mut kept: Vec<u32> = head[cut..].iter().map(|&(id, _)| id).collect();
    kept.sort_unstable();
    kept
}

vectorised! {
    /// Replaces every x by exp(x / temperature − top / temperature), rounded in this order as in the
    /// reference; returns the sum. The order of summation is fixed.
    fn exp_all(values: &mut [f32], top: f32, temperature: f32) -> f64 {
        let top = top / temperature;
        let mut sums = [0f64; LANES];
        let (whole, rest) = values.as_chunks_mut::<LANES>();
        for chunk in whole {
            for (sum, value) in sums.iter_mut().zip(chunk) {
                *value = exp(*value / temperature - top);
                *sum += f64::from(*value);
            }
        }
        for (sum, value) in sums.iter_mut().zip(rest) {
            *value = exp(*value / temperature - top);
            *sum += f64::from(*value);
        }
        sums.iter().sum()
    }
}

vectorised! {
    /// The sum of exp(x − top), in the same order.
    fn exp_sum(values: &[f32], top: f32) -> f64 {
        let mut sums = [0f64; LANES];
        let (whole, rest) = values.as_chunks::<LANES>();
        for chunk in whole {
            for (sum, &value) in sums.iter_mut().zip(chunk) {
                *sum += f64::from(exp(value - top));
            }
        }
        for (sum, &value) in sums.iter_mut().zip(rest) {
            *sum += f64::from(exp(value - top));
        }
        sums.iter().sum()
    }
}

/// exp(x) for x ≤ 0 to about 1e-7 relative, subnormal results included, in a form the compiler can vectorise:
/// 2^n · polynomial on [−ln 2 / 2, ln 2 / 2].
#[inline(always)]
#[allow(clippy::inline_always, reason = "as above: part of what is compiled twice")]
#[allow(clippy::excessive_precision, reason = "the digits of ln 2 in two parts, as written in every table")]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23: adding it leaves the nearest integer in the low bits.
    let vanishes = x < -104.0;
    let x = x.max(-104.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * 0.693_359_375) + n * 2.121_944_4e-4;
    let p = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0))))));
    // Two factors, because 2^n itself may be too small for a normal number.
    let n = shifted.to_bits() as i32 - ROUND.to_bits() as i32;
    let half = n >> 1;
    let e = p * power_of_two(half) * power_of_two(n - half);
    if vanishes { 0.0 } else { e }
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "as above")]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_to_the_real_one() {
        for i in 0..8700 {
            let x = -(i as f32) / 100.0;
            let (got, want) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((got - want).abs() <= 4e-7 * want + 1e-37, "exp({x}) = {got}, expected {want}");
        }
    }

    #[test]
    fn greedy_takes_the_first_of_equal_maxima() {
        let d = Distribution::new(&[1.0, 3.0, 3.0], &Sampling::GREEDY, &[]);
        assert_eq!(d, Distribution::certain(1));
    }

    /// The scores that are not computed are those of tokens that lose.
    #[test]
    fn a_coupled_draw_has_the_largest_score_of_all() {
        let sampling = Sampling { temperature: 1.5, top_p: None, ..Sampling::default() };
        for position in 0..400 {
            let key = DrawKey { seed: 7, candidate: 0, position };
            let logits: Vec<f32> = (0..500).map(|i| ((i * 37 + position as usize * 11) % 101) as f32 / 15.0).collect();
            let d = Distribution::new(&logits, &sampling, &[]);
            let score = |(id, p): (u32, f32)| (f64::from(p).ln() + gumbel(noise(key, id)), id);
            let best = d.iter().map(score).max_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(Some(d.draw_coupled(key)), best.map(|(_, id)| id), "{position}");
        }
    }

    #[test]
    fn residual_of_equal_distributions_falls_back_to_the_distribution() {
        let d = Distribution::new(&[0.0, 1.0, 2.0], &Sampling { top_p: None, ..Sampling::default() }, &[]);
        let key = DrawKey { seed: 0, candidate: 0, position: 0 };
        assert_eq!(d.draw_residual(&d, key), d.at(uniform(key, Purpose::Residual)));
    }

    #[test]
    fn an_infinite_negative_logit_is_never_drawn() {
        let s = Sampling { temperature: 1.0, top_p: None, ..Sampling::default() };
        let d = Distribution::new(&[f32::NEG_INFINITY, 0.0], &s, &[]);
        assert_eq!(d.at(0.0), 1);
        assert!(d.prob(0) <= 0.0);
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let bad = Sampling { top_p: Some(0.0), ..Sampling::default() };
        assert!(bad.check().unwrap_err().contains("top-p is 0"));
        assert!(Sampling { temperature: f32::NAN, ..Sampling::default() }.check().is_err());
        assert!(Sampling::default().check().is_ok() && Sampling::GREEDY.check().is_ok());
    }
}
