//! Row operations between the matrix products: norms, the softmax, the activation. Each works on one row
//! alone and sums in an order that depends on the row's length only.

use super::pool::{Parts, Pool};
use crate::backend::weights::NormWeights;
use crate::model::spec::{Activation, Head, Norm, NormKind};

/// Lanes of a sum: element `i` is added to lane `i % 8`, the lanes are added at the end. The compiler can
/// turn it into vector instructions without changing the order.
const LANES: usize = 8;

/// Elements below which rows are not shared out to other threads.
const INLINE_ELEMENTS: usize = 1 << 13;

/// Calls `f(row, out_row)` for every row `[width]` of `out`, on several threads if there is enough to do.
pub fn for_rows(pool: &Pool, out: &mut [f32], width: usize, f: impl Fn(usize, &mut [f32]) + Sync) {
    if out.len() < INLINE_ELEMENTS {
        out.chunks_exact_mut(width).enumerate().for_each(|(row, out)| f(row, out));
        return;
    }
    let rows = out.len() / width;
    let out = Parts::new(out);
    pool.run(rows, &|row, _| {
        // SAFETY: every row is written by one unit only.
        f(row, unsafe { out.part(row * width, width) });
    });
}

/// The largest value; lanes as for a sum, because a single chain of comparisons would wait for each of them.
#[inline]
fn max(values: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, value);
        }
    }
    lanes.iter().chain(chunks.remainder()).fold(f32::NEG_INFINITY, |a, &b| larger(a, b))
}

/// The sum of a term of each value.
#[inline]
pub fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += term(value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += term(value);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Scales and caps rows of `vocab` logits as the head says.
pub fn scale_logits(pool: &Pool, head: Head, logits: &mut [f32], vocab: usize) {
    let Head { scale, soft_cap, .. } = head;
    if scale.to_bits() != 1.0f32.to_bits() || soft_cap.is_some() {
        for_rows(pool, logits, vocab, |_, logits| match soft_cap {
            Some(cap) => self::soft_cap(logits, scale, cap),
            None => logits.iter_mut().for_each(|logit| *logit *= scale),
        });
    }
}

/// Writes a row `[width]`, normalised.
pub fn norm(norm: Norm, x: &[f32], weights: &NormWeights<Vec<f32>>, out: &mut [f32]) {
    if norm.kind == NormKind::Layer {
        let (mean, scale) = layer_moments(x, norm.eps);
        let bias = weights.bias.as_deref().unwrap_or_default();
        for (((out, x), weight), bias) in out.iter_mut().zip(x).zip(&weights.weight).zip(bias) {
            *out = (x - mean) * scale * weight + bias;
        }
    } else {
        rms_norm(x, &weights.weight, norm.eps, out);
    }
}

/// [`norm`] in place.
pub fn norm_in_place(norm: Norm, x: &mut [f32], weights: &NormWeights<Vec<f32>>) {
    if norm.kind == NormKind::Layer {
        let (mean, scale) = layer_moments(x, norm.eps);
        let bias = weights.bias.as_deref().unwrap_or_default();
        for ((x, weight), bias) in x.iter_mut().zip(&weights.weight).zip(bias) {
            *x = (*x - mean) * scale * weight + bias;
        }
    } else {
        rms_norm_in_place(x, &weights.weight, norm.eps);
    }
}

/// Mean, and `1 / sqrt(variance + eps)` (arXiv 1607.06450).
fn layer_moments(x: &[f32], eps: f32) -> (f32, f32) {
    let mean = sum(x, |x| x) / x.len() as f32;
    let variance = sum(x, |x| (x - mean) * (x - mean)) / x.len() as f32;
    (mean, (variance + eps).sqrt().recip())
}

/// `out = x / sqrt(mean(x^2) + eps) * weight`, all `[width]` (arXiv 1910.07467).
fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let scale = rms_scale(x, eps);
    for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
        *out = x * scale * weight;
    }
}

/// [`rms_norm`] in place.
pub fn rms_norm_in_place(x: &mut [f32], weight: &[f32], eps: f32) {
    let scale = rms_scale(x, eps);
    for (x, weight) in x.iter_mut().zip(weight) {
        *x = *x * scale * weight;
    }
}

/// [`rms_norm`] in place, without weights.
pub fn rms_norm_plain(x: &mut [f32], eps: f32) {
    let scale = rms_scale(x, eps);
    for x in x {
        *x *= scale;
    }
}

fn rms_scale(x: &[f32], eps: f32) -> f32 {
    (sum(x, |x| x * x) / x.len() as f32 + eps).sqrt().recip()
}

/// `out = activation(gate) * up` for a row `[2 * width]` of both, or `activation(up)` for a row `[width]`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
pub fn activate(activation: Activation, input: &[f32], out: &mut [f32]) {
    match activation {
        Activation::Silu => activate_with(|x| x / (1.0 + exp(-x)), input, out),
        Activation::Gelu => activate_with(|x| 0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2)), input, out),
        // With 1 + tanh(u) = 2 / (1 + exp(-2 u)).
        Activation::GeluTanh => {
            let twice = 2.0 * (2.0 / std::f32::consts::PI).sqrt();
            activate_with(|x| x / (1.0 + exp(-twice * (x + 0.044_715 * x * x * x))), input, out);
        }
        Activation::Relu => activate_with(|x| if x > 0.0 { x } else { 0.0 }, input, out),
        Activation::ClampedSwish => {
            let (gate, up) = input.split_at(input.len() / 2);
            for ((out, &gate), &up) in out.iter_mut().zip(gate).zip(up) {
                let gate = if gate > 7.0 { 7.0 } else { gate };
                *out = gate / (1.0 + exp(-1.702 * gate)) * (1.0 + up.clamp(-7.0, 7.0));
            }
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
fn activate_with(f: impl Fn(f32) -> f32, input: &[f32], out: &mut [f32]) {
    if input.len() == out.len() {
        out.iter_mut().zip(input).for_each(|(out, &x)| *out = f(x));
        return;
    }
    let (gate, up) = input.split_at(out.len());
    for ((out, &gate), up) in out.iter_mut().zip(gate).zip(up) {
        *out = f(gate) * up;
    }
}

/// Keeps every value inside of `cap`: `cap * tanh(scale * value / cap)`.
pub fn soft_cap(values: &mut [f32], scale: f32, cap: f32) {
    let factor = -2.0 * scale / cap;
    for value in values {
        let small = exp(factor * *value);
        *value = cap * ((1.0 - small) / (1.0 + small));
    }
}

/// The error function, with an error below 3e-7 (Abramowitz and Stegun, 7.1.26).
#[inline]
fn erf(x: f32) -> f32 {
    let magnitude = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * magnitude);
    let mut series = 1.061_405_4;
    for term in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        series = series * t + term;
    }
    (1.0 - series * t * exp(-magnitude * magnitude)).copysign(x)
}

/// Replaces scores by `exp(scale * (score - max))`, the softmax, not yet normalised; returns the largest
/// score and the sum of these.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
pub fn softmax(scores: &mut [f32], scale: f32) -> (f32, f32) {
    let max = max(scores);
    for score in scores.iter_mut() {
        *score = exp((*score - max) * scale);
    }
    (max, sum(scores, |score| score))
}

/// `e^x` to about 2 units in the last place, without branches or calls. Saturates below -87 and above 88.
#[inline]
pub fn exp(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first short enough that its products with whole numbers up to 127 are exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    // The series of e^rest up to the 7th power; |rest| <= ln 2 / 2 leaves an error below 1e-8.
    let mut series = 1.0 / 5040.0;
    for term in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * rest + term;
    }
    series * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_over_its_whole_range() {
        for i in -87_000..88_000 {
            let x = i as f32 / 1000.0;
            let expected = f64::from(x).exp();
            let error = (f64::from(exp(x)) - expected).abs() / expected;
            assert!(error < 3e-7, "exp({x}) is off by {error}");
        }
        assert_eq!(exp(0.0).to_bits(), 1.0f32.to_bits());
        assert!(exp(-1000.0) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37 && exp(1000.0).is_finite());
    }

    #[test]
    fn a_softmax_of_equal_scores_is_flat_and_survives_large_ones() {
        let mut scores = [3e4f32; 5];
        assert_eq!(softmax(&mut scores, 1.0), (3e4, 5.0));
        assert!(scores.iter().all(|&score| score.to_bits() == 1.0f32.to_bits()));
    }

    #[test]
    fn activations_are_close_to_their_formulas() {
        // The error function by its series, in f64.
        let erf = |x: f64| {
            let (mut term, mut sum) = (x, x);
            for n in 1..200 {
                term *= -x * x / f64::from(n);
                sum += term / f64::from(2 * n + 1);
            }
            sum * 2.0 / std::f64::consts::PI.sqrt()
        };
        for i in -400..=400 {
            let x = f64::from(i) / 100.0;
            let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
            let formulas = [
                (Activation::Silu, x / (1.0 + (-x).exp())),
                (Activation::Gelu, x / 2.0 * (1.0 + erf(x / 2f64.sqrt()))),
                (Activation::GeluTanh, x / 2.0 * (1.0 + u.tanh())),
                (Activation::Relu, x.max(0.0)),
            ];
            for (activation, expected) in formulas {
                let (mut out, mut gated) = ([0.0], [0.0]);
                activate(activation, &[x as f32], &mut out);
                assert!((f64::from(out[0]) - expected).abs() < 2e-6, "{activation:?}({x}): {} for {expected}", out[0]);
                activate(activation, &[x as f32, -3.0], &mut gated);
                assert_eq!(gated[0].to_bits(), (out[0] * -3.0).to_bits());
            }
            let mut clamped = [0.0];
            for up in [-9.0, 0.5, 9.0f32] {
                let gate = (3.0 * x).min(7.0);
                let expected = gate / (1.0 + (-1.702 * gate).exp()) * f64::from(1.0 + up.clamp(-7.0, 7.0));
                activate(Activation::ClampedSwish, &[3.0 * x as f32, up], &mut clamped);
                assert!((f64::from(clamped[0]) - expected).abs() < 2e-5, "{x}, {up}: {}", clamped[0]);
            }
            let mut capped = [x as f32];
            soft_cap(&mut capped, 3.0, 5.0);
            assert!((f64::from(capped[0]) - 5.0 * (3.0 * x / 5.0).tanh()).abs() < 2e-6, "{x}: {}", capped[0]);
        }
        let mut extremes = [1e30, -1e30];
        soft_cap(&mut extremes, 1.0, 50.0);
        assert_eq!(extremes.map(f32::to_bits), [50f32, -50.0].map(f32::to_bits));
    }

    #[test]
    fn layer_norm_has_mean_zero_and_unit_variance() {
        let x: Vec<f32> = (0..37).map(|i| (i as f32).sin() * 5.0 + 3.0).collect();
        let mut out = vec![0.0; 37];
        let weights = NormWeights { weight: vec![2.0; 37], bias: Some(vec![1.0; 37]) };
        let layer = Norm { kind: NormKind::Layer, eps: 0.0 };
        norm(layer, &x, &weights, &mut out);
        let mean = out.iter().sum::<f32>() / 37.0;
        let variance = out.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 37.0;
        assert!((mean - 1.0).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4, "{mean} {variance}");
        let mut in_place = x;
        norm_in_place(layer, &mut in_place, &weights);
        assert_eq!(in_place, out);
    }

    #[test]
    fn rms_norm_has_unit_mean_square() {
        let x: Vec<f32> = (0..37).map(|i| (i as f32).sin() * 5.0).collect();
        let mut out = vec![0.0; 37];
        rms_norm(&x, &[1.0; 37], 0.0, &mut out);
        let mean = out.iter().map(|x| x * x).sum::<f32>() / 37.0;
        assert!((mean - 1.0).abs() < 1e-5, "{mean}");
        let mut in_place = x;
        rms_norm_in_place(&mut in_place, &[1.0; 37], 0.0);
        assert_eq!(in_place, out);
    }
}
