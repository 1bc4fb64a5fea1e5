//! Inputs that blocks have of their own for each token: see `LayerInputs`.

use super::CpuNetwork;
use super::experts::sized;
use super::gemm::{Linear, Mode, linear};
use super::ops;
use super::pack::Packed;
use super::pass::Buffers;
use super::quantized::InputBlock;
use crate::backend::weights::InputWeights;

impl CpuNetwork {
    /// Makes the inputs of all blocks from the beginning of the residual stream.
    pub(super) fn layer_inputs(&self, tokens: &[u32], buffers: &mut Buffers) {
        let (Some(spec), Some(weights)) = (self.spec.layer_inputs, &self.weights.layer_inputs) else { return };
        let Buffers { x, inputs, quantized, .. } = buffers;
        let width = self.spec.blocks.len() * spec.width;
        let inputs = sized(inputs, tokens.len() * width);
        let projection = Linear { weights: &weights.projection, bias: None, mode: Mode::Store };
        linear(&self.pool, &self.kernels, projection, x, inputs, quantized);
        let (down, root) = ((self.spec.hidden as f32).sqrt().recip(), (spec.width as f32).sqrt());
        ops::for_rows(&self.pool, inputs, width, |row, inputs| {
            let mut known = vec![0.0; width];
            weights.table.output(tokens[row] as usize, &mut known);
            for (inputs, known) in inputs.chunks_exact_mut(spec.width).zip(known.chunks_exact(spec.width)) {
                for input in inputs.iter_mut() {
                    *input *= down;
                }
                ops::norm_in_place(self.spec.norm, inputs, &weights.norm);
                for (input, known) in inputs.iter_mut().zip(known) {
                    *input = (*input + known * root) * std::f32::consts::FRAC_1_SQRT_2;
                }
            }
        });
    }

    /// Contribution of a block's inputs `[rows, blocks * width]` for the rows of `x`, to `out` `[rows, hidden]`.
    pub(super) fn read_input(
        &self,
        layer: usize,
        weights: &InputWeights<Packed, Vec<f32>>,
        (x, inputs, out): (&[f32], &[f32], &mut [f32]),
        [gates, activated]: &mut [Vec<f32>; 2],
        quantized: &mut Vec<InputBlock>,
    ) {
        let width = weights.gate.outputs;
        let (rows, stride) = (x.len() / self.spec.hidden, self.spec.blocks.len() * width);
        let (gates, activated) = (sized(gates, rows * width), sized(activated, rows * width));
        let gate = Linear { weights: &weights.gate, bias: None, mode: Mode::Store };
        linear(&self.pool, &self.kernels, gate, x, gates, quantized);
        let activation = self.spec.blocks[layer].mlp.activation;
        ops::for_rows(&self.pool, activated, width, |row, out| {
            self.kernels.activate(activation, &gates[row * width..(row + 1) * width], out);
            for (out, input) in out.iter_mut().zip(&inputs[row * stride + layer * width..]) {
                *out *= input;
            }
        });
        let projection = Linear { weights: &weights.projection, bias: None, mode: Mode::Store };
        linear(&self.pool, &self.kernels, projection, activated, out, quantized);
    }
}
