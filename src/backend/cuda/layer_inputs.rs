//! Inputs that blocks have of their own for each token, as launches: the twin of `cpu/inputs.rs`.

use super::CudaNetwork;
use super::gpu::Buffer;
use super::kernels::{self, Pointer};
use super::matrix::Matrix;
use super::plan::Plan;
use super::products::{activation_number, linear};
use crate::backend::BackendError;
use crate::backend::weights::InputWeights;

impl CudaNetwork {
    /// Floats of the inputs of all blocks of a row; 0 where blocks have none.
    pub(super) fn inputs_width(&self) -> usize {
        self.spec.layer_inputs.map_or(0, |inputs| self.spec.blocks.len() * inputs.width)
    }

    /// Makes the inputs of all blocks from the beginning of the residual stream.
    pub(super) fn layer_inputs(&mut self, plan: &Plan) -> Result<(), BackendError> {
        let (Some(spec), Some(weights)) = (self.spec.layer_inputs, &self.weights.layer_inputs) else {
            return Ok(());
        };
        let (all, rows, blocks) = (self.inputs_width(), plan.rows, self.spec.blocks.len());
        let (x, inputs) = (self.buffers.x.floats(0)?, self.buffers.inputs.floats(rows * all)?);
        linear(&self.queue, (&weights.projection, None), (x, inputs), rows, false);
        self.scale((inputs, rows * all), ((self.spec.hidden as f32).sqrt().recip(), None));
        self.norm((Some(&weights.norm), spec.width), (inputs, all), (inputs, all), (rows, blocks));
        let params = kernels::MixInputs {
            // One tensor is one piece.
            table: weights.table.pieces[0].there(0),
            tokens: plan.tokens,
            x: inputs,
            root: (spec.width as f32).sqrt(),
            padding: 0,
        };
        self.queue.launch(&kernels::MIX_INPUTS, [rows, all.div_ceil(8 * 128), 1], 0, params);
        Ok(())
    }

    /// Contribution of a block's inputs `[rows, blocks * width]` for the rows of `x`, to `out` `[rows,
    /// hidden]`. `gates` and `activated` have room for `[rows, width]`.
    pub(super) fn read_input(
        &self,
        (layer, weights): (usize, &InputWeights<Matrix, Buffer>),
        (x, inputs, out): (Pointer, Pointer, Pointer),
        (gates, activated): (Pointer, Pointer),
        rows: usize,
    ) {
        let width = weights.gate.outputs;
        linear(&self.queue, (&weights.gate, None), (x, gates), rows, false);
        let params = kernels::GateInputs {
            gates,
            inputs: inputs + (layer * width * size_of::<f32>()) as u64,
            out: activated,
            rows: rows as i32,
            width: width as i32,
            stride: self.inputs_width() as i32,
            kind: activation_number(self.spec.blocks[layer].mlp.activation),
        };
        self.queue.launch(&kernels::GATE_INPUTS, [(rows * width).div_ceil(256), 1, 1], 0, params);
        linear(&self.queue, (&weights.projection, None), (activated, out), rows, false);
    }
}
