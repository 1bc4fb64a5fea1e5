//! Gated delta nets: rows through states, logs and gates, to the bit as on the CPU.

use std::path::Path;
use std::sync::Arc;

use super::super::delta::{Courses, Through, too_wide};
use super::super::gpu::{Buffer, Gpu};
use super::super::kernels;
use super::super::queue::{Again, Queue};
use super::{bits, in_any_order, numbers, receive, send};
use crate::backend::cpu::twins::recurrence::{Recurrence, convolve, recur};
use crate::backend::cpu::twins::{F32x16, NR, ops, to_length, to_rates};
use crate::model::config;
use crate::model::spec::{Activation, DeltaNet};

/// Layers of the states, and the one that is computed.
const LAYERS: usize = 2;
const LAYER: usize = 1;

/// Places of a log.
const PLACES: usize = 11;

/// A net whose widths divide by nothing, and one as they are usual.
const ODD: DeltaNet =
    DeltaNet { key_heads: 2, value_heads: 4, key_dim: 19, value_dim: 37, width: 4, logarithms: true, tiled: true };
const USUAL: DeltaNet =
    DeltaNet { key_heads: 1, value_heads: 2, key_dim: 128, value_dim: 128, width: 4, logarithms: true, tiled: false };
const SMALL: DeltaNet =
    DeltaNet { key_heads: 2, value_heads: 4, key_dim: 5, value_dim: 3, width: 2, logarithms: true, tiled: false };

/// Rows of one sequence: done again, all, settled; the place of the first in the log, and whether there is a
/// state before them.
#[derive(Clone, Copy)]
struct Course {
    again: usize,
    rows: usize,
    settle: usize,
    first: usize,
    begun: bool,
}

/// A fork that settles nothing, one that settles what it does again, one that settles less, a prompt longer
/// than a chunk, padding, a prompt of one row, and a fork with more rows than are kept.
const COURSES: [Course; 7] = [
    Course { again: 2, rows: 7, settle: 0, first: 9, begun: true },
    Course { again: 4, rows: 9, settle: 4, first: 10, begun: true },
    Course { again: 5, rows: 6, settle: 2, first: 3, begun: false },
    Course { again: 0, rows: 41, settle: 41, first: 0, begun: false },
    Course { again: 0, rows: 0, settle: 0, first: 0, begun: true },
    Course { again: 0, rows: 1, settle: 1, first: 0, begun: true },
    Course { again: 3, rows: 13, settle: 8, first: 5, begun: true },
];

/// Inputs and memory of a pass.
struct Case {
    net: DeltaNet,
    /// Floats between rows of what is projected.
    stride: usize,
    /// Query, key and value of the rows of the pass, and a gate; steps; what is in the logs.
    inputs: Vec<f32>,
    steps: Vec<f32>,
    logs: Vec<Vec<f32>>,
    /// States `[LAYERS]`, of which the matrices are `[head][key_dim][value_dim]`.
    matrices: Vec<Vec<f32>>,
    last: Vec<Vec<f32>>,
    filter: Vec<f32>,
    step_bias: Vec<f32>,
    decay: Vec<f32>,
}

impl Case {
    fn new(net: DeltaNet) -> Self {
        let (channels, heads) = (net.channels(), net.value_heads);
        let (stride, rows) = (channels + 3, COURSES.iter().map(|course| course.rows - course.again).sum::<usize>());
        let of = |seed: usize, len: usize, scale: f32| -> Vec<f32> {
            numbers(seed as u32, len).iter().map(|x| scale * x).collect()
        };
        let each = |seed: usize, len: usize| (0..COURSES.len()).map(|i| of(seed + i, len, 0.7)).collect();
        let mut steps = of(60, rows * 2 * heads, 3.0);
        // Where softplus is the step itself.
        steps[heads] = 25.0;
        // Beta and decay are never below zero.
        let mut logs: Vec<Vec<f32>> = each(70, LAYERS * PLACES * (channels + 2 * heads));
        for row in logs.iter_mut().flat_map(|log| log.chunks_mut(channels + 2 * heads)) {
            row[channels..].iter_mut().for_each(|rate| *rate = rate.abs());
        }
        Self {
            net,
            stride,
            inputs: of(61, rows * stride, 2.0),
            steps,
            logs,
            matrices: each(80, LAYERS * heads * net.key_dim * net.value_dim),
            last: each(90, LAYERS * (net.width - 1) * channels),
            filter: of(62, net.width * channels, 1.0),
            step_bias: of(63, heads, 1.0),
            decay: of(64, heads, 1.0).into_iter().map(|x| -x.abs()).collect(),
        }
    }

    fn logged(&self) -> usize {
        self.net.channels() + 2 * self.net.value_heads
    }

    /// Floats of a layer of a state in the memory of a GPU.
    fn layer(&self) -> (usize, usize) {
        let DeltaNet { value_heads, key_dim, value_dim, width, .. } = self.net;
        let matrices = value_heads * value_dim.div_ceil(8) * key_dim.div_ceil(16) * 128;
        (matrices, matrices + ((width - 1) * self.net.channels()).next_multiple_of(32))
    }

    /// Where channel `key` of a column of a head is, in a layer.
    fn place(&self, head: usize, key: usize, column: usize) -> usize {
        let (panels, groups) = (self.net.value_dim.div_ceil(8), self.net.key_dim.div_ceil(16));
        let of_head = (column / 8 * groups + key / 16) * 128 + (column % 8 * 4 + key % 4) * 4 + key % 16 / 4;
        head * panels * groups * 128 + of_head
    }

    /// A state as it lies in the memory of a GPU.
    fn state(&self, matrices: &[f32], last: &[f32]) -> Vec<f32> {
        let DeltaNet { value_heads, key_dim, value_dim, width, .. } = self.net;
        let (of_matrices, layer) = self.layer();
        let mut state = vec![0.0; LAYERS * layer];
        for (number, state) in state.chunks_mut(layer).enumerate() {
            let matrices = &matrices[number * value_heads * key_dim * value_dim..];
            for (i, &x) in matrices[..value_heads * key_dim * value_dim].iter().enumerate() {
                state[self.place(i / (key_dim * value_dim), i / value_dim % key_dim, i % value_dim)] = x;
            }
            let inputs = (width - 1) * self.net.channels();
            state[of_matrices..of_matrices + inputs].copy_from_slice(&last[number * inputs..][..inputs]);
        }
        state
    }

    /// States, logs and what the rows read, on a GPU; states are changed in place.
    fn run(&self, gpu: &Arc<Gpu>) -> Vec<f32> {
        let net = self.net;
        let states: Vec<Buffer> =
            self.matrices.iter().zip(&self.last).map(|(m, l)| send(gpu, &self.state(m, l))).collect();
        let logs: Vec<Buffer> = self.logs.iter().map(|log| send(gpu, log)).collect();
        let (mut pieces, mut first_row, mut place) = (Vec::new(), 0, 0);
        for ((course, state), log) in COURSES.iter().zip(&states).zip(&logs) {
            pieces.push(kernels::DeltaPiece {
                from: if course.begun { state.at() } else { 0 },
                to: if course.settle > 0 { state.at() } else { 0 },
                log: if course.settle < course.rows { log.at() } else { 0 },
                log_first: course.first as i32,
                log_rows: PLACES as i32,
                again: course.again as i32,
                rows: course.rows as i32,
                settle: course.settle as i32,
                first_row,
                place,
                padding: 0,
            });
            first_row += (course.rows - course.again) as i32;
            place += course.rows as i32;
        }
        let count = pieces.len();
        let (pieces, inputs, steps) = (send(gpu, &pieces), send(gpu, &self.inputs), send(gpu, &self.steps));
        let [filter, step_bias, rate] = [&self.filter, &self.step_bias, &self.decay].map(|values| send(gpu, values));
        let floats = |floats: usize| send(gpu, &vec![f32::NAN; floats]);
        let (mixed, rates) = (floats(place as usize * net.channels()), floats(place as usize * 2 * net.value_heads));
        let read = floats(first_row as usize * net.values());
        let courses = Courses { pieces: pieces.at(), count, most: 41, places: place as usize };
        let through = Through {
            net,
            layer: LAYER,
            courses,
            inputs: (inputs.at(), self.stride),
            steps: steps.at(),
            filter: filter.at(),
            step_bias: step_bias.at(),
            decay: rate.at(),
            mixed: mixed.at(),
            rates: rates.at(),
            read: read.at(),
        };
        let queue = Queue::new(gpu, true);
        through.ask(&queue);
        queue.start(Again::Hardly).expect("launched");
        let mut found = receive(&read);
        states.iter().chain(&logs).for_each(|buffer| found.extend(receive(buffer)));
        found
    }

    /// This pass on the CPU.
    fn expected(&self) -> Vec<f32> {
        let net = self.net;
        let (channels, heads, width, logged) = (net.channels(), net.value_heads, net.width, self.logged());
        let (mut read, mut states, mut logs, mut first_row) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (number, course) in COURSES.iter().enumerate() {
            let &Course { again, rows, settle, first, begun } = course;
            let (mut matrices, mut last) = (self.matrices[number].clone(), self.last[number].clone());
            let mut log = self.logs[number].clone();
            let place = |place: usize| (LAYER * PLACES + (first + place) % PLACES) * logged;
            let (before, of_last) = ((width - 1) * channels, LAYER * (width - 1) * channels);
            let mut inputs = if begun { last[of_last..][..before].to_vec() } else { vec![0.0; before] };
            let mut rates = Vec::new();
            for row in 0..again {
                inputs.extend_from_slice(&log[place(row)..][..channels]);
                rates.extend_from_slice(&log[place(row) + channels..][..2 * heads]);
            }
            for row in first_row..first_row + rows - again {
                inputs.extend_from_slice(&self.inputs[row * self.stride..][..channels]);
                let mut of_row = self.steps[row * 2 * heads..][..2 * heads].to_vec();
                to_rates((&self.step_bias, &self.decay), &mut of_row);
                rates.extend(of_row);
            }
            let mut mixed = vec![0.0; rows * channels];
            for (row, out) in mixed.chunks_mut(channels).enumerate() {
                convolve(&self.filter, &inputs[row * channels..][..width * channels], out);
                let (queries, rest) = out.split_at_mut(net.keys());
                let scale = (net.key_dim as f32).sqrt().recip();
                queries.chunks_mut(net.key_dim).for_each(|query| to_length(query, scale));
                rest[..net.keys()].chunks_mut(net.key_dim).for_each(|key| to_length(key, 1.0));
            }
            let mut of_piece = vec![0.0; (rows - again) * net.values()];
            for head in 0..heads {
                let of_head = (LAYER * heads + head) * net.key_dim * net.value_dim;
                for from in (0..net.value_dim).step_by(NR) {
                    let columns = NR.min(net.value_dim - from);
                    let at = |key: usize| of_head + key * net.value_dim + from;
                    let mut state = vec![F32x16([0.0; NR]); net.key_dim];
                    if begun {
                        let keys = state.iter_mut().enumerate();
                        keys.for_each(|(key, to)| to.0[..columns].copy_from_slice(&matrices[at(key)..][..columns]));
                    }
                    let value = 2 * net.keys() + head * net.value_dim + from;
                    let of = Recurrence {
                        rows: &mixed,
                        channels,
                        query: net.key_of(head) * net.key_dim,
                        key: net.keys() + net.key_of(head) * net.key_dim,
                        value: value..value + columns,
                        rates: &rates,
                        heads,
                        head,
                    };
                    let mut out = vec![[0.0; NR]; rows];
                    recur(&mut state, &of, 0..settle, &mut out[..settle]);
                    if settle > 0 {
                        let keys = state.iter().enumerate();
                        keys.for_each(|(key, from)| matrices[at(key)..][..columns].copy_from_slice(&from.0[..columns]));
                    }
                    recur(&mut state, &of, settle..rows, &mut out[settle..]);
                    for (row, out) in out[again..].iter().enumerate() {
                        let to = row * net.values() + head * net.value_dim + from;
                        of_piece[to..to + columns].copy_from_slice(&out[..columns]);
                    }
                }
            }
            read.extend(of_piece);
            if settle > 0 {
                last[of_last..][..before].copy_from_slice(&inputs[settle * channels..][..before]);
            }
            for (to, row) in (again..).zip(settle.max(again)..rows) {
                log[place(to)..][..channels].copy_from_slice(&inputs[(row + width - 1) * channels..][..channels]);
                log[place(to) + channels..][..2 * heads].copy_from_slice(&rates[row * 2 * heads..][..2 * heads]);
            }
            states.extend(self.state(&matrices, &last));
            logs.extend(log);
            first_row += rows - again;
        }
        [read, states, logs].concat()
    }
}

/// Names the place and not all of the numbers.
fn assert_bits(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let different = bits(found).iter().zip(&bits(expected)).position(|(a, b)| a != b);
    let at = |i: usize| format!("{what}, {i} of {}: {} for {}", found.len(), found[i], expected[i]);
    assert!(different.is_none(), "{}", different.map(at).unwrap_or_default());
}

#[test]
fn rows_go_through_states_and_are_logged_as_on_the_cpu_to_the_bit() {
    for (what, net) in [("odd widths", ODD), ("usual widths", USUAL), ("small widths", SMALL)] {
        let case = Case::new(net);
        let Some(found) = in_any_order(|gpu| case.run(gpu)) else { return };
        assert_bits(what, &found, &case.expected());
    }
}

/// The pieces of a net of odd widths.
pub(super) fn pieces(gpu: &Arc<Gpu>) -> Vec<f32> {
    Case::new(ODD).run(gpu)
}

#[test]
fn nets_that_kernels_have_no_room_for_are_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models/qwen3-5/config.json");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let mut of = |key: &str, value: usize| {
        json[key] = value.into();
        too_wide(&config::read(&path, json.to_string().as_bytes()).expect("a model"))
    };
    assert_eq!((of("linear_key_head_dim", 128), of("linear_value_head_dim", 256)), (None, None));
    let found = of("linear_key_head_dim", 132).expect("too wide");
    assert_eq!(found, "a gated delta net with keys of 132, values of 256 and filters of 4");
}

#[test]
fn results_of_heads_are_normalised_and_gated_as_on_the_cpu_to_the_bit() {
    const ROWS: usize = 3;
    for (heads, dim) in [(1, 1), (3, 24), (5, 37), (6, 128)] {
        let stride = heads * dim + 7;
        let (x, weight) = (numbers(20, ROWS * heads * dim), numbers(21, dim));
        let gates: Vec<f32> = numbers(22, ROWS * stride).iter().map(|x| 9.0 * x).collect();
        let found = in_any_order(|gpu| {
            let [x, gates, weight] = [&x, &gates, &weight].map(|values| send(gpu, values));
            let (out, positions) = (send(gpu, &vec![f32::NAN; ROWS * heads * dim]), send(gpu, &[4, 0, -1]));
            let params = kernels::DeltaGate {
                x: x.at(),
                gates: gates.at(),
                weight: weight.at(),
                positions: positions.at(),
                out: out.at(),
                heads: heads as i32,
                dim: dim as i32,
                stride: stride as i32,
                eps: 1e-6,
            };
            gpu.launch(&kernels::DELTA_GATE, [ROWS, heads.div_ceil(4), 1], 4 * dim * 4, params).expect("launched");
            receive(&out)
        });
        let Some(found) = found else { return };
        // The last row is padding.
        let mut expected = vec![0.0; ROWS * heads * dim];
        for (i, out) in expected.chunks_mut(dim).enumerate().take((ROWS - 1) * heads) {
            let mut result = x[i * dim..(i + 1) * dim].to_vec();
            ops::rms_norm_in_place(&mut result, &weight, 1e-6);
            let gate = &gates[i / heads * stride + i % heads * dim..][..dim];
            ops::activate(Activation::Silu, &[gate, &result].concat(), out);
        }
        assert_bits(&format!("{heads} heads of {dim}"), &found, &expected);
    }
}

#[test]
fn sigmoids_multiply_what_attention_and_shared_experts_give() {
    const ROWS: usize = 3;
    for width in [1, 85, 300] {
        let stride = width + 5;
        let wide = |seed, len| numbers(seed, len).iter().map(|x| 9.0 * x).collect::<Vec<f32>>();
        let (gates, of_rows, x, out) =
            (wide(23, ROWS * stride), wide(24, ROWS), wide(25, ROWS * width), wide(26, ROWS * width));
        let found = in_any_order(|gpu| {
            let [gates, of_rows, x, out] = [&gates, &of_rows, &x, &out].map(|values| send(gpu, values));
            let [rows, each, apart] = [ROWS, width, stride].map(|size| size as i32);
            let grid = [(ROWS * width).div_ceil(256), 1, 1];
            let params =
                kernels::GateRows { gates: gates.at(), out: out.at(), rows, width: each, stride: apart, padding: 0 };
            gpu.launch(&kernels::GATE_ROWS, grid, 0, params).expect("launched");
            let params = kernels::AddGated { x: x.at(), gates: of_rows.at(), out: out.at(), rows, width: each };
            gpu.launch(&kernels::ADD_GATED, grid, 0, params).expect("launched");
            receive(&out)
        });
        let Some(found) = found else { return };
        let sigmoid = |x: f32| 1.0 / (1.0 + ops::exp(-x));
        let gate = |i: usize| sigmoid(gates[i / width * stride + i % width]);
        let sum = |(i, out): (usize, &f32)| out * gate(i) + sigmoid(of_rows[i / width]) * x[i];
        let expected: Vec<f32> = out.iter().enumerate().map(sum).collect();
        assert_bits(&format!("{width}"), &found, &expected);
    }
}
