//! Gated delta nets: blocks with a state of fixed size per sequence in place of K/V.
//!
//! The recurrence goes through the rows of a sequence one after the other, in one order of operations;
//! sequences and heads are shared out to threads. `recurrence` has the arithmetic, `state` what a state
//! holds; how a sequence goes back is the rule of all devices (`backend::states`).

pub mod recurrence;
pub mod state;

use std::ops::Range;
use std::sync::Arc;

use recurrence::Recurrence;
use state::{Sizes, State};

use super::CpuNetwork;
use super::experts::sized;
use super::gemm::{Linear, Mode, linear};
use super::ops;
use super::pack::{F32x16, NR};
use super::pass::Buffers;
use super::pool::Parts;
use crate::backend::BackendError;
use crate::backend::sequences::contract;
use crate::backend::slabs::{Piece, pieces};
use crate::backend::states::{Plan, States};
use crate::model::spec::{Activation, DeltaNet};

/// Added to the sum of squares under the root that query and key are divided by.
const EPS: f32 = 1e-6;

/// Multiply-adds below which other threads are not called; see the constant of this name in `gemm`.
const INLINE_WORK: usize = 1 << 15;

/// Working memory.
#[derive(Default)]
pub struct DeltaBuffers {
    /// Beta and step of the rows of a pass `[rows, 2 * value_heads]`.
    steps: Vec<f32>,
    /// Of every piece the last inputs before its rows, those that are done again, and its own: `[width - 1 +
    /// rows, channels]`.
    inputs: Vec<f32>,
    /// Of every piece beta and decay of these rows, `[rows, 2 * value_heads]`.
    rates: Vec<f32>,
    /// These rows, convolved and normalised `[rows, channels]`.
    rows: Vec<f32>,
}

/// A piece in the working memory.
struct Place<'a> {
    plan: &'a Plan,
    /// Its rows in the slab.
    slab: Range<usize>,
    /// Number of its first row of `inputs`.
    inputs: usize,
    /// Number of its first row of `rows` and `rates`.
    first: usize,
}

impl Place<'_> {
    /// Puts the state back, with the last inputs of the rows that are settled, and keeps the others for the
    /// next pass.
    fn keep(
        &self,
        states: &mut States<Sizes>,
        mut state: Arc<State>,
        (layer, sizes): (usize, Sizes),
        (inputs, rates): (&[f32], &[f32]),
    ) {
        let Plan { rows, settle, .. } = *self.plan;
        let (channels, width) = (sizes.net.channels(), 2 * sizes.net.value_heads);
        if let Some(state) = Arc::get_mut(&mut state).filter(|_| settle > 0) {
            let last = (self.inputs + settle) * channels;
            let to = layer * sizes.inputs()..(layer + 1) * sizes.inputs();
            state.memory.inputs[to].copy_from_slice(&inputs[last..last + sizes.inputs()]);
        }
        states.put(self.plan, state);
        if let Some(log) = states.log(self.plan).and_then(|log| log.get_mut(layer)) {
            let first = self.inputs + sizes.net.width - 1;
            log.inputs.clear();
            log.inputs.extend_from_slice(&inputs[(first + settle) * channels..(first + rows) * channels]);
            log.rates.clear();
            log.rates.extend_from_slice(&rates[(self.first + settle) * width..(self.first + rows) * width]);
        }
    }
}

impl CpuNetwork {
    /// Norm, projections and recurrence of a block with a gated delta net. Afterwards `buffers.attended` has
    /// what the output projection reads `[rows, values]`.
    pub(super) fn project_delta(
        &mut self,
        (layer, net): (usize, DeltaNet),
        slab: &[Piece],
        buffers: &mut Buffers,
    ) -> Result<(), BackendError> {
        let block = &self.weights.blocks[layer];
        let (Some(sizes), Some(weights)) = (self.states.memory, &block.delta) else {
            return Err(contract(format!("no state for the gated delta net of block {layer}")));
        };
        let Buffers { x, normed, qkv, attended, delta, quantized, .. } = buffers;
        let DeltaBuffers { steps, inputs, rates, rows: mixed } = delta;
        let (channels, values, heads) = (net.channels(), net.values(), net.value_heads);
        let (rows, stride) = (x.len() / self.spec.hidden, channels + values);
        let normed = sized(normed, x.len());
        self.norm(x, &block.attention_norm, normed);
        let qkv = sized(qkv, rows * stride);
        let product = |weights, out: &mut [f32], scratch: &mut _| {
            let layer = Linear { weights, bias: None, mode: Mode::Store };
            linear(&self.pool, &self.kernels, layer, normed, out, scratch);
        };
        product(&block.qkv, qkv, quantized);
        let steps = sized(steps, rows * 2 * heads);
        product(&weights.rates, steps, quantized);
        steps.chunks_exact_mut(2 * heads).for_each(|row| to_rates((&weights.step_bias, &weights.decay), row));

        // The rows that are done again stand before those of the pass.
        let number = self.spec.delta_nets_before(layer);
        let (mut places, mut taken) = (Vec::with_capacity(slab.len()), Vec::with_capacity(slab.len()));
        inputs.clear();
        rates.clear();
        for (plan, (_, of)) in self.plans.iter().zip(pieces(slab)) {
            let place =
                Place { plan, slab: of.clone(), inputs: inputs.len() / channels, first: rates.len() / (2 * heads) };
            let none = || contract(format!("{:?} has no state", plan.id));
            let state = self.states.take(plan).ok_or_else(none)?;
            inputs.extend_from_slice(&state.memory.inputs[number * sizes.inputs()..][..sizes.inputs()]);
            if plan.again > 0 {
                let log = self.states.log(plan).and_then(|log| log.get(number)).ok_or_else(none)?;
                inputs.extend_from_slice(&log.inputs[..plan.again * channels]);
                rates.extend_from_slice(&log.rates[..plan.again * 2 * heads]);
            }
            of.clone().for_each(|row| inputs.extend_from_slice(&qkv[row * stride..][..channels]));
            rates.extend_from_slice(&steps[of.start * 2 * heads..of.end * 2 * heads]);
            places.push(place);
            taken.push(state);
        }
        let starts: Vec<usize> = places.iter().flat_map(|place| place.inputs..place.inputs + place.plan.rows).collect();
        let mixed = sized(mixed, starts.len() * channels);
        ops::for_rows(&self.pool, mixed, channels, |row, out| {
            self.kernels.convolve(&weights.filter, &inputs[starts[row] * channels..][..net.width * channels], out);
            let (queries, rest) = out.split_at_mut(net.keys());
            let scale = (net.key_dim as f32).sqrt().recip();
            queries.chunks_exact_mut(net.key_dim).for_each(|query| to_length(query, scale));
            rest[..net.keys()].chunks_exact_mut(net.key_dim).for_each(|key| to_length(key, 1.0));
        });

        // Every head of every piece by itself.
        let of_layer = number * sizes.layer()..(number + 1) * sizes.layer();
        let mut states = Vec::with_capacity(places.len());
        for (place, state) in places.iter().zip(&mut taken) {
            states.push(if place.plan.settle > 0 {
                let state = Arc::get_mut(state).ok_or_else(|| contract("a state with two owners".to_owned()))?;
                Of::Own(Parts::new(&mut state.memory.matrices[of_layer.clone()]))
            } else {
                Of::Shared(&state.memory.matrices[of_layer.clone()])
            });
        }
        let attended = sized(attended, rows * values);
        let out = Parts::new(attended);
        let unit = |unit: usize| {
            let (place, state, head) = (&places[unit / heads], &states[unit / heads], unit % heads);
            let at = head * sizes.head();
            let own = match state {
                // SAFETY: every unit has its own head of its own sequence.
                Of::Own(matrices) => Some(unsafe { matrices.part(at, sizes.head()) }),
                Of::Shared(_) => None,
            };
            let shared = match state {
                Of::Shared(matrices) => &matrices[at..at + sizes.head()],
                Of::Own(_) => &[],
            };
            let head = Head { net, sizes, number: head, place, rates, rows: mixed };
            let mut result = head.run(&self.kernels, own, shared);
            for (row, result) in place.slab.clone().zip(result.chunks_exact_mut(net.value_dim)) {
                ops::rms_norm_in_place(result, &weights.norm, self.spec.norm.eps);
                let from = head.number * net.value_dim;
                let pair = [&qkv[row * stride + channels + from..][..net.value_dim], result].concat();
                // SAFETY: as above.
                let out = unsafe { out.part(row * values + from, net.value_dim) };
                self.kernels.activate(Activation::Silu, &pair, out);
            }
        };
        let units = places.len() * heads;
        if starts.len() * values * net.key_dim < INLINE_WORK {
            (0..units).for_each(unit);
        } else {
            self.pool.run(units, &|number, _| unit(number));
        }
        drop(states);

        for (place, state) in places.iter().zip(taken) {
            place.keep(&mut self.states, state, (number, sizes), (inputs, rates));
        }
        Ok(())
    }
}

/// The matrices of a layer of a sequence.
enum Of<'a> {
    /// To be changed.
    Own(Parts<'a, F32x16>),
    Shared(&'a [F32x16]),
}

/// One value head of one piece.
struct Head<'a> {
    net: DeltaNet,
    sizes: Sizes,
    number: usize,
    place: &'a Place<'a>,
    rates: &'a [f32],
    rows: &'a [f32],
}

impl Head<'_> {
    /// Runs the rows; returns what those of the pass read, `[rows, value_dim]`. The state `own` takes in the
    /// rows that are settled; the others go through a copy of it, or of `shared`.
    fn run(&self, kernels: &super::Kernels, mut own: Option<&mut [F32x16]>, shared: &[F32x16]) -> Vec<f32> {
        let &Self { net, sizes, number: head, place, .. } = self;
        let Plan { again, rows, settle, .. } = *place.plan;
        let (key_dim, width) = (net.key_dim, net.value_dim);
        let key = net.key_of(head) * key_dim;
        let first = 2 * net.keys() + head * width;
        let mut result = vec![0.0; (rows - again) * width];
        let mut read = vec![[0.0; NR]; rows];
        let mut copy: Vec<F32x16> = Vec::with_capacity(key_dim);
        for panel in 0..sizes.head() / key_dim {
            let value = first + panel * NR..first + width.min((panel + 1) * NR);
            let columns = value.len();
            let of = Recurrence {
                rows: &self.rows[place.first * net.channels()..],
                channels: net.channels(),
                query: key,
                key: net.keys() + key,
                value,
                rates: &self.rates[place.first * 2 * net.value_heads..],
                heads: net.value_heads,
                head,
            };
            let blocks = panel * key_dim..(panel + 1) * key_dim;
            copy.clear();
            match &mut own {
                Some(own) => {
                    let state = &mut own[blocks];
                    kernels.recur(state, &of, 0..settle, &mut read[..settle]);
                    if settle < rows {
                        copy.extend_from_slice(state);
                    }
                }
                None => copy.extend_from_slice(&shared[blocks]),
            }
            if settle < rows {
                kernels.recur(&mut copy, &of, settle..rows, &mut read[settle..]);
            }
            for (result, read) in result.chunks_exact_mut(width).zip(&read[again..]) {
                result[panel * NR..][..columns].copy_from_slice(&read[..columns]);
            }
        }
        result
    }
}

/// Makes beta and decay of what the projection gives for a row `[2 * value_heads]`.
pub fn to_rates((biases, decays): (&[f32], &[f32]), row: &mut [f32]) {
    let (betas, steps) = row.split_at_mut(decays.len());
    for beta in betas {
        *beta = 1.0 / (1.0 + ops::exp(-*beta));
    }
    for ((step, bias), decay) in steps.iter_mut().zip(biases).zip(decays) {
        *step = ops::exp(decay * softplus(*step + bias));
    }
}

/// `ln(1 + e^x)`.
fn softplus(x: f32) -> f32 {
    if x > 20.0 { x } else { f64::from(x).exp().ln_1p() as f32 }
}

/// Divides by the length, and multiplies.
pub fn to_length(values: &mut [f32], scale: f32) {
    let factor = (ops::sum(values, |x| x * x) + EPS).sqrt().recip() * scale;
    for x in values {
        *x *= factor;
    }
}
