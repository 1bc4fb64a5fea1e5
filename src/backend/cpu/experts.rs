//! Mixtures of experts: which experts a row takes, and their sum. Rows that take the same expert go through
//! it together, whatever sequences they belong to; only experts that some row takes are read. What a row gets
//! depends on that row alone: products are row-invariant, and its experts are added in the order of their
//! numbers.

use super::CpuNetwork;
use super::gemm::{Linear, Mode, linear};

use super::ops;
use super::pack::Packed;
use super::quantized::InputBlock;
use crate::backend::weights::{BlockWeights, MlpWeights, SharedWeights};
use crate::model::spec::{Experts, Mlp};

/// Working memory of MLPs.
#[derive(Default)]
pub struct MlpBuffers {
    /// Gate, if there is one, and up of each row.
    pub(super) up: Vec<f32>,
    /// `[rows, intermediate]`.
    pub(super) activated: Vec<f32>,
    /// Probabilities of the experts `[rows, experts]`.
    pub(super) router: Vec<f32>,
    /// The rows that take an expert `[rows, hidden]`.
    inputs: Vec<f32>,
    /// The expert's outputs `[rows, hidden]`.
    outputs: Vec<f32>,
    /// Weights of the shared expert, one of each row.
    scales: Vec<f32>,
    /// The sum of experts beside an MLP `[rows, hidden]`.
    pub(super) beside: Vec<f32>,
}

/// A buffer of exactly `len` floats, whatever they hold.
pub fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    buffer.resize(len, 0.0);
    buffer
}

impl CpuNetwork {
    /// One MLP on `x` `[rows, hidden]`, stored in `out` or added to it.
    pub(super) fn mlp(
        &self,
        spec: Mlp,
        weights: &MlpWeights<Packed, Vec<f32>>,
        (x, out, mode): (&[f32], &mut [f32], Mode),
        (up, activated): (&mut Vec<f32>, &mut Vec<f32>),
        quantized: &mut Vec<InputBlock>,
    ) {
        let rows = x.len() / self.spec.hidden;
        let width = weights.up.outputs;
        let up = sized(up, rows * width);
        let layer = Linear { weights: &weights.up, bias: weights.up_bias.as_deref(), mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer, x, up, quantized);
        let activated = sized(activated, rows * spec.intermediate);
        ops::for_rows(&self.pool, activated, spec.intermediate, |row, out| {
            self.kernels.activate(spec.activation, &up[row * width..(row + 1) * width], out);
        });
        let down = Linear { weights: &weights.down, bias: weights.down_bias.as_deref(), mode };
        linear(&self.pool, &self.kernels, down, activated, out, quantized);
    }

    /// The MLP of a block, or its experts, on `x` `[rows, hidden]`, stored in `out` or added to it.
    pub(super) fn mlps(
        &self,
        spec: Mlp,
        weights: &BlockWeights<Packed, Vec<f32>>,
        (x, out, mode): (&[f32], &mut [f32], Mode),
        buffers: &mut MlpBuffers,
        quantized: &mut Vec<InputBlock>,
    ) {
        let MlpBuffers { up, activated, router, .. } = buffers;
        let (Some(experts), Some(matrix)) = (spec.experts, &weights.router) else {
            self.mlp(spec, &weights.mlps[0], (x, out, mode), (up, activated), quantized);
            return;
        };
        let hidden = self.spec.hidden;
        let router = sized(router, x.len() / hidden * experts.count);
        let layer = Linear { weights: matrix, bias: weights.router_bias.as_deref(), mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer, x, router, quantized);
        if mode != Mode::Add {
            out.fill(0.0);
        }
        let taken: Vec<Vec<(usize, f32)>> =
            router.chunks_exact_mut(experts.count).map(|logits| choose(experts, logits)).collect();
        self.experts(spec, &weights.mlps, &taken, (x, out), buffers, quantized);
        if let (Some(shared), Some(intermediate)) = (&weights.shared, experts.shared) {
            self.shared_expert(Mlp { intermediate, ..spec }, shared, (x, out), buffers, quantized);
        }
    }

    /// Adds to the rows of `out` the expert that all take; both `[rows, hidden]`.
    fn shared_expert(
        &self,
        spec: Mlp,
        weights: &SharedWeights<Packed, Vec<f32>>,
        (x, out): (&[f32], &mut [f32]),
        buffers: &mut MlpBuffers,
        quantized: &mut Vec<InputBlock>,
    ) {
        let (MlpBuffers { up, activated, outputs, scales, .. }, hidden) = (buffers, self.spec.hidden);
        let scales = sized(scales, x.len() / hidden);
        let layer = Linear { weights: &weights.scale, bias: None, mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer, x, scales, quantized);
        let outputs = sized(outputs, x.len());
        self.mlp(spec, &weights.mlp, (x, outputs, Mode::Store), (up, activated), quantized);
        for ((out, from), scale) in out.chunks_exact_mut(hidden).zip(outputs.chunks_exact(hidden)).zip(scales) {
            let share = 1.0 / (1.0 + ops::exp(-*scale));
            out.iter_mut().zip(from).for_each(|(out, from)| *out += share * from);
        }
    }

    /// Adds to the rows of `out` the experts that they take, with their shares; all `[rows, hidden]`.
    pub(super) fn experts(
        &self,
        spec: Mlp,
        mlps: &[MlpWeights<Packed, Vec<f32>>],
        taken: &[Vec<(usize, f32)>],
        (x, out): (&[f32], &mut [f32]),
        buffers: &mut MlpBuffers,
        quantized: &mut Vec<InputBlock>,
    ) {
        let MlpBuffers { up, activated, inputs, outputs, .. } = buffers;
        let hidden = self.spec.hidden;
        for (expert, weights) in mlps.iter().enumerate() {
            let of_row = |(row, taken): (usize, &Vec<(usize, f32)>)| {
                taken.iter().find(|(number, _)| *number == expert).map(|(_, share)| (row, *share))
            };
            let rows: Vec<(usize, f32)> = taken.iter().enumerate().filter_map(of_row).collect();
            if rows.is_empty() {
                continue;
            }
            let inputs = sized(inputs, rows.len() * hidden);
            for (to, (row, _)) in inputs.chunks_exact_mut(hidden).zip(&rows) {
                to.copy_from_slice(&x[row * hidden..(row + 1) * hidden]);
            }
            let outputs = sized(outputs, rows.len() * hidden);
            self.mlp(spec, weights, (inputs, outputs, Mode::Store), (up, activated), quantized);
            for (from, (row, share)) in outputs.chunks_exact(hidden).zip(&rows) {
                for (out, from) in out[row * hidden..(row + 1) * hidden].iter_mut().zip(from) {
                    *out += share * from;
                }
            }
        }
    }
}

/// The experts that a row with these router logits takes, with their shares; overwrites the logits.
pub fn choose(experts: Experts, logits: &mut [f32]) -> Vec<(usize, f32)> {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    // Of equal ones the first.
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    order.truncate(experts.used);
    let (_, all) = ops::softmax(logits, 1.0);
    let total = if experts.normalised { order.iter().map(|&expert| logits[expert]).sum() } else { all };
    order.into_iter().map(|expert| (expert, logits[expert] / total)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_probable_experts_are_taken_and_of_equal_ones_the_first() {
        let of = |normalised| {
            let mut logits = [0.0, 2.0, 1.0, 2.0, 1.0];
            choose(Experts { count: 5, used: 3, normalised, shared: None, router_bias: false }, &mut logits)
        };
        let numbers = |taken: &[(usize, f32)]| taken.iter().map(|(expert, _)| *expert).collect::<Vec<_>>();
        let shares = |taken: &[(usize, f32)]| taken.iter().map(|(_, share)| share).sum::<f32>();
        assert_eq!((numbers(&of(true)), numbers(&of(false))), (vec![1, 3, 2], vec![1, 3, 2]));
        let (e, e2) = (1f32.exp(), 2f32.exp());
        assert!((shares(&of(true)) - 1.0).abs() < 1e-6);
        assert!((shares(&of(false)) - (2.0 * e2 + e) / (2.0 * e2 + 2.0 * e + 1.0)).abs() < 1e-6);
    }
}
