//! Experts beside the MLP of a block, as launches: the twin of `cpu/beside.rs`.

use super::CudaNetwork;
use super::experts::{Room, Router, Tables, experts};
use super::gpu::Buffer;
use super::kernels::Pointer;
use super::matrix::Matrix;
use super::plan::Attended;
use super::products::mlp;
use crate::backend::weights::{BesideWeights, MlpWeights};
use crate::model::spec::Mlp;

/// Rows `[rows, hidden]` that lie back to back.
pub struct Streams {
    /// The residual stream.
    pub x: Pointer,
    /// The input of the MLP; overwritten.
    pub normed: Pointer,
    /// Where the sum goes.
    pub out: Pointer,
    /// Working memory.
    pub sums: Pointer,
}

impl CudaNetwork {
    /// `norm(mlp(normed)) + norm(experts(norm(x)))` to `out`; the router reads `x` under a norm of its own.
    /// Memory in `between` is as `mlp` and `experts` want it.
    pub(super) fn mlp_and_experts(
        &self,
        (spec, of_experts): (Mlp, Mlp),
        (first, beside): (&MlpWeights<Matrix, Buffer>, &BesideWeights<Matrix, Buffer>),
        (tables, room): (&Tables, &Room),
        between: (Pointer, Pointer),
        &Streams { x, normed, out, sums }: &Streams,
        rows: &Attended,
    ) {
        let (queue, count) = (&self.queue, rows.rows);
        mlp(queue, spec, first, between, (normed, out), (count, false));
        self.norm_rows(&beside.mlp_norm, out, out, count);

        self.norm_rows(&beside.router_norm, x, normed, count);
        let router = Router { weights: &beside.router, bias: None, factors: Some(&beside.scale) };
        router.choose(queue, room, normed, rows);
        self.norm_rows(&beside.norm, x, normed, count);
        experts(queue, of_experts, (tables, room), between, (normed, sums), (count, false));
        self.norm_rows(&beside.output_norm, sums, sums, count);
        self.add_scaled(sums, out, count, 1.0);
    }
}
