//! Experts beside the MLP of a block (`Gemma4TextDecoderLayer` of transformers).

use super::CpuNetwork;
use super::experts::{MlpBuffers, choose, sized};
use super::gemm::{Linear, Mode, linear};
use super::ops;
use super::pack::Packed;
use super::quantized::InputBlock;
use crate::backend::weights::{BesideWeights, MlpWeights};
use crate::model::spec::Mlp;

type Beside = BesideWeights<Packed, Vec<f32>>;

impl CpuNetwork {
    /// `norm(mlp(normed)) + norm(experts(norm(x)))` to `out`, all `[rows, hidden]`; the router reads `x` under a norm of
    /// its own. Overwrites `normed`.
    pub(super) fn mlp_and_experts(
        &self,
        (mlp, experts): (Mlp, Mlp),
        (first, beside): (&MlpWeights<Packed, Vec<f32>>, &Beside),
        (x, normed, out): (&[f32], &mut [f32], &mut [f32]),
        buffers: &mut MlpBuffers,
        quantized: &mut Vec<InputBlock>,
    ) {
        let (width, norm) = (self.spec.hidden, self.spec.norm);
        let MlpBuffers { up, activated, router, beside: summed, .. } = buffers;
        self.mlp(mlp, first, (normed, out, Mode::Store), (up, activated), quantized);
        ops::for_rows(&self.pool, out, width, |_, row| ops::norm_in_place(norm, row, &beside.mlp_norm));

        let Some(choice) = experts.experts else { return };
        self.norm(x, &beside.router_norm, normed);
        let router = sized(router, x.len() / width * choice.count);
        let layer = Linear { weights: &beside.router, bias: None, mode: Mode::Store };
        linear(&self.pool, &self.kernels, layer, normed, router, quantized);
        let taken: Vec<Vec<(usize, f32)>> = router
            .chunks_exact_mut(choice.count)
            .map(|logits| {
                let scaled = |(expert, share): (usize, f32)| (expert, share * beside.scale[expert]);
                choose(choice, logits).into_iter().map(scaled).collect()
            })
            .collect();
        self.norm(x, &beside.norm, normed);
        let mut sum = std::mem::take(summed);
        let sums = sized(&mut sum, x.len());
        sums.fill(0.0);
        self.experts(experts, &beside.mlps, &taken, (normed, sums), buffers, quantized);
        ops::for_rows(&self.pool, sums, width, |_, row| ops::norm_in_place(norm, row, &beside.output_norm));
        out.iter_mut().zip(&*sums).for_each(|(out, sum)| *out += sum);
        buffers.beside = sum;
    }
}
