//! Products of rows with weights, as launches: linear layers, and MLPs made of them.

use super::gpu::Buffer;
use super::kernels::{self, Pointer};
use super::matrix::{Matrix, Method};
use super::queue::Queue;
use crate::backend::weights::MlpWeights;
use crate::model::spec::{Activation, Mlp};

/// `out = x * weights + bias`, or `out += ...`, of rows that lie back to back.
pub fn linear(
    queue: &Queue,
    (weights, bias): (&Matrix, Option<&Buffer>),
    (x, out): (Pointer, Pointer),
    rows: usize,
    add: bool,
) {
    let mut first = 0;
    let mut inputs = None;
    for piece in &weights.pieces {
        let at = (first * size_of::<f32>()) as u64;
        let (matrix, out) = (piece.there(bias.map_or(0, |bias| bias.at() + at)), out + at);
        match piece.method() {
            Method::Chains(kernel, _) => {
                let params = kernels::Gemm {
                    matrix,
                    x,
                    out,
                    rows: rows as i32,
                    out_stride: weights.outputs as i32,
                    add: i32::from(add),
                    padding: 0,
                };
                let grid = [piece.outputs.div_ceil(kernels::GEMM_OUTPUTS), rows.div_ceil(kernels::GEMM_ROWS), 1];
                queue.launch(kernel, grid, kernels::GEMM_MEMORY, params);
            }
            Method::Tiles(tiled) => {
                let of_piece = tiled.inputs(queue, (x, rows), piece.row(), inputs.as_ref());
                tiled.product(queue, matrix, &of_piece, (out, weights.outputs), (rows, add));
                inputs = Some(of_piece);
            }
        }
        first += piece.outputs;
    }
}

/// Number of an activation for kernels.
pub fn activation_number(activation: Activation) -> i32 {
    match activation {
        Activation::Silu => 0,
        Activation::Gelu => 1,
        Activation::GeluTanh => 2,
        Activation::Relu => 3,
        Activation::ClampedSwish => 4,
    }
}

/// `out = activation(gate) * up`, or `activation(up)`, of rows that lie back to back.
pub fn activate(queue: &Queue, mlp: Mlp, (up, out): (Pointer, Pointer), rows: usize) {
    let (kind, width) = (activation_number(mlp.activation), mlp.intermediate);
    let params =
        kernels::Activate { x: up, out, rows: rows as i32, width: width as i32, kind, gated: i32::from(mlp.gated) };
    queue.launch(&kernels::ACTIVATE, [(rows * width).div_ceil(256), 1, 1], 0, params);
}

/// An MLP on rows that lie back to back, stored in `out` or added to it.
pub fn mlp(
    queue: &Queue,
    spec: Mlp,
    weights: &MlpWeights<Matrix, Buffer>,
    (up, activated): (Pointer, Pointer),
    (x, out): (Pointer, Pointer),
    (rows, add): (usize, bool),
) {
    linear(queue, (&weights.up, weights.up_bias.as_ref()), (x, up), rows, false);
    activate(queue, spec, (up, activated), rows);
    linear(queue, (&weights.down, weights.down_bias.as_ref()), (activated, out), rows, add);
}
