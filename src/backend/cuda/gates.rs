//! Gates that are sigmoids (`kernels/gates.cu`): of the result of attention, and of the expert that all rows
//! take.

use std::sync::Arc;

use super::gpu::Buffer;
use super::kernels::{self, Pointer};
use super::matrix::Matrix;
use super::products::{linear, mlp};
use super::queue::Queue;
use super::work::Work;
use crate::backend::BackendError;
use crate::backend::weights::SharedWeights;
use crate::model::spec::Mlp;

/// Multiplies rows that lie back to back with the sigmoid of gates that are `stride` floats apart.
pub fn gate_rows(queue: &Queue, (gates, stride): (Pointer, usize), out: Pointer, (rows, width): (usize, usize)) {
    let [count, each, stride] = [rows, width, stride].map(|size| size as i32);
    let params = kernels::GateRows { gates, out, rows: count, width: each, stride, padding: 0 };
    queue.launch(&kernels::GATE_ROWS, [(rows * width).div_ceil(256), 1, 1], 0, params);
}

/// Working memory of experts that all rows take.
pub struct SharedBuffers {
    /// Before the sigmoid, one of each row.
    gates: Work,
    up: Work,
    activated: Work,
    /// `[rows, hidden]`.
    outputs: Work,
}

impl SharedBuffers {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        let work = || Work::new(queue);
        Self { gates: work(), up: work(), activated: work(), outputs: work() }
    }

    /// For so many rows.
    pub fn room(&mut self, rows: usize, intermediate: usize, hidden: usize) -> Result<SharedRoom, BackendError> {
        Ok(SharedRoom {
            intermediate,
            gates: self.gates.floats(rows)?,
            up: self.up.floats(rows * 2 * intermediate)?,
            activated: self.activated.floats(rows * intermediate)?,
            outputs: self.outputs.floats(rows * hidden)?,
        })
    }
}

/// Where the shared expert of some rows is computed.
pub struct SharedRoom {
    intermediate: usize,
    gates: Pointer,
    up: Pointer,
    activated: Pointer,
    outputs: Pointer,
}

/// Adds to `out` the expert that all rows take; the rows lie back to back.
pub fn shared_expert(
    queue: &Queue,
    spec: Mlp,
    weights: &SharedWeights<Matrix, Buffer>,
    room: &SharedRoom,
    (x, out): (Pointer, Pointer),
    rows: usize,
) {
    let &SharedRoom { intermediate, gates, up, activated, outputs } = room;
    linear(queue, (&weights.scale, None), (x, gates), rows, false);
    mlp(queue, Mlp { intermediate, ..spec }, &weights.mlp, (up, activated), (x, outputs), (rows, false));
    let width = weights.mlp.down.outputs;
    let params = kernels::AddGated { x: outputs, gates, out, rows: rows as i32, width: width as i32 };
    queue.launch(&kernels::ADD_GATED, [(rows * width).div_ceil(256), 1, 1], 0, params);
}
