//! Gated delta nets as launches of `kernels/delta.cu`: the twin of `cpu/delta`. Where states and logs are,
//! and how many rows are done again and settled, is sent before each step: the launches stay the same.

pub mod state;

use std::sync::Arc;

use super::CudaNetwork;
use super::kernels::{self, Pointer};
use super::pass::Buffers;
use super::plan::{Attended, Plan, round_up};
use super::products::linear;
use super::queue::Queue;
use super::work::Work;
use crate::backend::BackendError;
use crate::backend::sequences::contract;
use crate::backend::slabs::{Piece, pieces};
use crate::model::ModelSpec;
use crate::model::spec::DeltaNet;

/// Largest widths that the kernels have registers and shared memory for.
const KEY_DIM: usize = 128;
const VALUE_DIM: usize = 1024;
const WIDTH: usize = 32;

/// Rows that a block convolves, those that it has in shared memory at a time, and value channels of a block.
const CHUNK: usize = 32;
const STAGED: usize = 4;
const CHANNELS: usize = 128;

/// Columns of a block of the recurrence.
const COLUMNS: usize = 32;

/// Heads of a block of the gate.
const HEADS: usize = 4;

/// Gated delta nets of a model that no kernel has room for.
pub fn too_wide(spec: &ModelSpec) -> Option<String> {
    let (_, DeltaNet { key_dim, value_dim, width, .. }) = spec.delta_nets()?;
    let fits = key_dim <= KEY_DIM && value_dim <= VALUE_DIM && width <= WIDTH;
    let what = || format!("a gated delta net with keys of {key_dim}, values of {value_dim} and filters of {width}");
    (!fits).then(what)
}

/// Working memory.
pub struct DeltaBuffers {
    /// Projections for beta and step `[rows, 2 * value_heads]`.
    steps: Work,
    /// Of all pieces the rows that go through the states: mixed `[places, channels]`, beta and decay
    /// `[places, 2 * value_heads]`.
    mixed: Work,
    rates: Work,
    /// Values that rows of the pass read `[rows, values]`, and those of the rows that are wanted.
    pub read: Work,
    pub kept_read: Work,
}

impl DeltaBuffers {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        let work = || Work::new(queue);
        Self { steps: work(), mixed: work(), rates: work(), read: work(), kept_read: work() }
    }
}

/// The pieces of a slab for states.
#[derive(Clone, Copy, Default)]
pub struct Courses {
    /// In the memory of the GPU, rounded up.
    pub pieces: Pointer,
    pub count: usize,
    /// Rows of the longest, and of all: those that are done again included.
    pub most: usize,
    pub places: usize,
}

/// Rows through the states of a layer: where everything is. See `kernels/delta.cu`.
pub struct Through {
    pub net: DeltaNet,
    /// Number of the layer in the states.
    pub layer: usize,
    pub courses: Courses,
    /// Projections of queries, keys and values, and the floats between their rows.
    pub inputs: (Pointer, usize),
    pub steps: Pointer,
    pub filter: Pointer,
    pub step_bias: Pointer,
    pub decay: Pointer,
    pub mixed: Pointer,
    pub rates: Pointer,
    pub read: Pointer,
}

impl Through {
    /// Asks for the convolution and the recurrence.
    pub fn ask(&self, queue: &Queue) {
        let &Self { net, courses, mixed, rates, .. } = self;
        let Courses { pieces, count, most, .. } = courses;
        let (there, layer) = (state::there(net), self.layer as i32);
        let (inputs, stride) = self.inputs;
        let params = kernels::DeltaMix {
            net: there,
            pieces,
            inputs,
            steps: self.steps,
            filter: self.filter,
            step_bias: self.step_bias,
            rate: self.decay,
            mixed,
            rates,
            stride: stride as i32,
            layer,
        };
        let parts = 2 * net.key_heads + net.values().div_ceil(CHANNELS) + 1;
        let chunks = most.div_ceil(CHUNK).next_power_of_two();
        let memory = STAGED * (net.key_dim + 1) * size_of::<f32>();
        queue.launch(&kernels::DELTA_MIX, [parts, count, chunks], memory, params);
        let kernel = if net.key_dim == KEY_DIM { &kernels::DELTA_RECUR_128 } else { &kernels::DELTA_RECUR };
        let params = kernels::DeltaRecur { net: there, pieces, mixed, rates, out: self.read, layer, padding: 0 };
        let grid = [net.value_dim.div_ceil(COLUMNS), net.value_heads, count];
        queue.launch(kernel, grid, RECURRENCE_MEMORY, params);
    }
}

impl CudaNetwork {
    /// Prepares the states of a slab, and counts its rows as done: what is asked for later is done later.
    pub(super) fn courses(&mut self, slab: &[Piece]) -> Result<Courses, BackendError> {
        let Some(sizes) = self.states.memory.clone() else { return Ok(Courses::default()) };
        let plans = self.states.begin(slab)?;
        let (mut list, mut places) = (Vec::with_capacity(plans.len()), 0);
        for (plan, (_, rows)) in plans.iter().zip(pieces(slab)) {
            let none = || contract(format!("{:?} has no state", plan.id));
            let state = self.states.state(plan).ok_or_else(none)?;
            let at = state.memory.at();
            let from = if state.len == 0 { 0 } else { at };
            let to = if plan.settle == 0 { 0 } else { at };
            let (log, log_first, log_rows) = match self.states.log(plan) {
                None => (0, 0, 1),
                Some(log) => {
                    log.make_room(&sizes, plan)?;
                    log.there()
                }
            };
            let [log_first, log_rows, again, all, settle, first_row, place] =
                [log_first, log_rows, plan.again, plan.rows, plan.settle, rows.start, places].map(|n| n as i32);
            list.push(kernels::DeltaPiece {
                from,
                to,
                log,
                log_first,
                log_rows,
                again,
                rows: all,
                settle,
                first_row,
                place,
                padding: 0,
            });
            places += plan.rows;
        }
        let most = plans.iter().map(|plan| plan.rows).max().unwrap_or(0);
        if let Some(&first) = list.first() {
            round_up(&mut list, kernels::DeltaPiece { rows: 0, ..first });
        }
        for plan in &plans {
            if let Some(log) = self.states.log(plan) {
                log.finish(plan);
            }
        }
        self.states.finish(&plans);
        Ok(Courses { pieces: self.queue.place(&list)?, count: list.len(), most, places })
    }

    /// Norm, projections and recurrence of a block with a gated delta net. Afterwards `buffers.qkv` has the
    /// gates and `buffers.delta.read` what the rows read.
    pub(super) fn project_delta(&mut self, (layer, net): (usize, DeltaNet), plan: &Plan) -> Result<(), BackendError> {
        let (rows, hidden, stride) = (plan.rows, self.spec.hidden, self.qkv_stride(layer));
        let block = &self.weights.blocks[layer];
        let Some(weights) = &block.delta else {
            return Err(contract(format!("no weights for the gated delta net of block {layer}")));
        };
        let Buffers { x, normed, qkv, delta, .. } = &mut self.buffers;
        let (x, normed) = (x.floats(rows * hidden)?, normed.floats(rows * hidden)?);
        let (qkv, steps) = (qkv.floats(rows * stride)?, delta.steps.floats(rows * 2 * net.value_heads)?);
        // Rounded up, so that they do not grow at every step that does more again.
        let places = plan.courses.places.next_power_of_two();
        let (mixed, rates) =
            (delta.mixed.floats(places * net.channels())?, delta.rates.floats(places * 2 * net.value_heads)?);
        let read = delta.read.floats(rows * net.values())?;

        self.norm_rows(&block.attention_norm, x, normed, rows);
        linear(&self.queue, (&block.qkv, None), (normed, qkv), rows, false);
        linear(&self.queue, (&weights.rates, None), (normed, steps), rows, false);
        let through = Through {
            net,
            layer: self.spec.delta_nets_before(layer),
            courses: plan.courses,
            inputs: (qkv, stride),
            steps,
            filter: weights.filter.at(),
            step_bias: weights.step_bias.at(),
            decay: weights.decay.at(),
            mixed,
            rates,
            read,
        };
        through.ask(&self.queue);
        Ok(())
    }

    /// Values that rows have read, normalised and gated `[rows, values]`; the rows lie back to back.
    pub(super) fn gate_delta(
        &mut self,
        (layer, net): (usize, DeltaNet),
        rows: &Attended,
    ) -> Result<Pointer, BackendError> {
        let (eps, stride) = (self.spec.norm.eps, self.qkv_stride(layer));
        let Buffers { qkv, attended, delta, .. } = &mut self.buffers;
        let out = attended.floats(rows.rows * net.values())?;
        let Some(weights) = &self.weights.blocks[layer].delta else { return Ok(out) };
        let params = kernels::DeltaGate {
            x: delta.read.floats(0)?,
            gates: qkv.floats(0)? + (net.channels() * size_of::<f32>()) as u64,
            weight: weights.norm.at(),
            positions: rows.positions,
            out,
            heads: net.value_heads as i32,
            dim: net.value_dim as i32,
            stride: stride as i32,
            eps,
        };
        let memory = HEADS * net.value_dim * size_of::<f32>();
        self.queue.launch(&kernels::DELTA_GATE, [rows.rows, net.value_heads.div_ceil(HEADS), 1], memory, params);
        Ok(out)
    }
}

/// Shared memory of a block of the recurrence: `DeltaRows` in `kernels/delta.cu`.
const RECURRENCE_MEMORY: usize = STAGED * (2 * (KEY_DIM + 4 * 4) + COLUMNS + 2) * size_of::<f32>();
