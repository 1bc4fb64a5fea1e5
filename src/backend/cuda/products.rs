//! Products of rows with weights, as launches: linear layers, and MLPs made of them.

use super::CudaNetwork;
use super::gpu::Buffer;
use super::kernels::{self, Pointer};
use super::load::{Matrix, Storage};
use crate::backend::BackendError;
use crate::backend::weights::{BlockWeights, MlpWeights};
use crate::model::spec::{Activation, Mlp};

impl CudaNetwork {
    /// `out = x * weights + bias`, or `out += ...`.
    pub(super) fn linear(
        &self,
        (weights, bias): (&Matrix, Option<&Buffer>),
        (x, out): (Pointer, Pointer),
        rows: usize,
        add: bool,
    ) -> Result<(), BackendError> {
        let kernel = match weights.storage {
            Storage::F32 => kernels::GEMM_F32,
            Storage::Bf16 => kernels::GEMM_BF16,
            Storage::F16 => kernels::GEMM_F16,
        };
        let params = kernels::Gemm {
            x,
            weights: weights.memory.at(),
            bias: bias.map_or(0, Buffer::at),
            out,
            rows: rows as i32,
            inputs: weights.inputs as i32,
            outputs: weights.outputs as i32,
            stride: weights.stride as i32,
            add: i32::from(add),
            padding: 0,
        };
        let grid = [weights.outputs.div_ceil(kernels::GEMM_OUTPUTS), rows.div_ceil(kernels::GEMM_ROWS), 1];
        self.gpu.launch(&kernel, grid, kernels::GEMM_MEMORY, params)
    }

    /// The MLP of a block, on rows that lie back to back.
    pub(super) fn mlp(
        &self,
        spec: Mlp,
        block: &BlockWeights<Matrix, Buffer>,
        (up, activated): (Pointer, Pointer),
        (x, out): (Pointer, Pointer),
        (rows, add): (usize, bool),
    ) -> Result<(), BackendError> {
        let MlpWeights { up: up_weights, up_bias, down, down_bias } = &block.mlps[0];
        self.linear((up_weights, up_bias.as_ref()), (x, up), rows, false)?;
        let kind = match spec.activation {
            Activation::Silu => 0,
            Activation::Gelu => 1,
            Activation::GeluTanh => 2,
            Activation::Relu => 3,
        };
        let params = kernels::Activate {
            x: up,
            out: activated,
            rows: rows as i32,
            width: spec.intermediate as i32,
            kind,
            gated: i32::from(spec.gated),
        };
        self.gpu.launch(&kernels::ACTIVATE, [(rows * spec.intermediate).div_ceil(256), 1, 1], 0, params)?;
        self.linear((down, down_bias.as_ref()), (activated, out), rows, add)
    }
}
