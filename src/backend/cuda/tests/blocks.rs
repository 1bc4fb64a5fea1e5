//! Parts of blocks that few architectures have: layers with heads of their own, norms of values, inputs of
//! blocks.

use std::sync::Arc;

use super::super::gpu::Gpu;
use super::super::kernels;
use super::super::kv::Memory;
use super::super::matrix::STORAGES;
use super::super::plan::{attention_room, tile_rows};
use super::super::products::activation_number;
use super::products::{decoded, sent, values};
use super::{bits, emulator, in_any_order, numbers, receive, send};
use crate::backend::cpu::twins::ops;
use crate::backend::sequences::Regions;
use crate::model::config;
use crate::model::spec::{Activation, Heads};

/// Values are normalised without weights, between queries and keys that stay as they are.
#[test]
fn norms_without_weights_are_those_of_ones() {
    for (width, heads, before) in [(1, 1, 0), (16, 2, 3), (300, 3, 1)] {
        let stride = (before + heads) * width + 2;
        let x = numbers(20, 3 * stride);
        let run = |gpu: &Arc<Gpu>, weight: bool| {
            let (x, ones) = (send(gpu, &x), send(gpu, &vec![1.0f32; width]));
            let at = x.at() + (before * width * size_of::<f32>()) as u64;
            let params = kernels::NormRows {
                x: at,
                out: at,
                weight: if weight { ones.at() } else { 0 },
                bias: 0,
                x_stride: stride as i32,
                out_stride: stride as i32,
                per_row: heads as i32,
                width: width as i32,
                eps: 1e-6,
                centred: 0,
            };
            gpu.launch(&kernels::NORM_ROWS, [3 * heads, 1, 1], 128, params).expect("launched");
            receive(&x)
        };
        let Some(found) = in_any_order(|gpu| run(gpu, false)) else { return };
        let mut expected = x.clone();
        for row in expected.chunks_mut(stride) {
            row[before * width..][..heads * width].chunks_mut(width).for_each(|head| ops::rms_norm_plain(head, 1e-6));
        }
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        assert!(found.iter().zip(&expected).all(close), "{width}: {found:?} for {expected:?}");
        let with = emulator::gpu(1).map(|gpu| bits(&run(&gpu, true)));
        assert_eq!(with, Some(bits(&found)), "{width}");
    }
}

/// Heads of layers: of the third there are none, as it reads those of another.
const LAYERS: [(usize, usize); 4] = [(2, 3), (1, 8), (0, 3), (2, 3)];

/// Memory for K/V of such layers.
fn memory(gpu: &Arc<Gpu>) -> Memory {
    let json = r#"{"architectures":["LlamaForCausalLM"],"hidden_size":8,"num_hidden_layers":4,"vocab_size":9,
        "max_position_embeddings":64,"num_attention_heads":2,"intermediate_size":4,"hidden_act":"silu"}"#;
    let mut spec = config::read("config.json".as_ref(), json.as_bytes()).expect("a model");
    for (block, (kv, dim)) in spec.blocks.iter_mut().zip(LAYERS) {
        block.attention.heads = Some(Heads { query: 2, kv, dim });
    }
    spec.blocks[2].attention.keys_of = Some(0);
    Memory::new(gpu, &spec)
}

/// Stores rows in all layers, at the positions from `start` on; of every layer it is its own numbers.
fn store(gpu: &Arc<Gpu>, memory: &Memory, own: (u64, usize), start: usize, rows: usize) {
    let span = kernels::Rows {
        shared: 0,
        own: own.0,
        shared_len: 0,
        shared_capacity: 0,
        own_capacity: own.1 as i32,
        start: start as i32,
        first_row: 0,
        rows: rows as i32,
    };
    let (spans, row_spans) = (send(gpu, &[span]), send(gpu, &vec![0i32; rows]));
    for (layer, (kv, dim)) in LAYERS.into_iter().enumerate() {
        let stride = (2 + 2 * kv) * dim;
        let qkv = send(gpu, &numbers(30 + layer as u32, 64 * stride)[start * stride..][..rows * stride]);
        let params = kernels::RotaryStore {
            qkv: qkv.at(),
            table: 0,
            growth: 0,
            spans: spans.at(),
            row_spans: row_spans.at(),
            heads: 2,
            kv_heads: kv as i32,
            dim: dim as i32,
            pairs: 0,
            interleaved: 0,
            before: memory.before(layer) as i32,
            stride: stride as i32,
            padding: 0,
        };
        gpu.launch(&kernels::ROTARY_STORE, [rows, 2 + kv, 1], 0, params).expect("launched");
    }
}

/// Every number of a region with so many rows, by where it should lie; NaN where none is.
fn expected(capacity: usize, positions: &[Option<usize>]) -> Vec<f32> {
    let mut all = Vec::new();
    for (layer, (kv, dim)) in LAYERS.into_iter().enumerate() {
        let stride = (2 + 2 * kv) * dim;
        let of_layer = numbers(30 + layer as u32, 64 * stride);
        for (head, part) in (0..kv).flat_map(|head| [(head, 0), (head, 1)]) {
            for index in 0..capacity {
                let row = positions.get(index).copied().flatten();
                let from = |row: usize| row * stride + (2 + part * kv + head) * dim;
                match row {
                    Some(row) => all.extend(&of_layer[from(row)..][..dim]),
                    None => all.extend(std::iter::repeat_n(f32::NAN, dim)),
                }
            }
        }
    }
    all
}

/// NaN is NaN, whichever it is.
fn same(found: &[f32], expected: &[f32]) -> bool {
    let equal = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    found.len() == expected.len() && found.iter().zip(expected).all(equal)
}

#[test]
fn layers_with_heads_of_their_own_have_places_of_their_own() {
    for order in 0..emulator::orders() {
        let Some(gpu) = emulator::gpu(order) else { return };
        let memory = memory(&gpu);
        let floats = |region: &<Memory as Regions>::Region| memory.bytes(region) / size_of::<f32>();
        let region = memory.make(5).expect("memory");
        assert_eq!(floats(&region), 5 * (2 * 2 * 3 + 2 * 8 + 2 * 2 * 3));
        let whole = |region: &<Memory as Regions>::Region| {
            let there = send(&gpu, &vec![0.0f32; floats(region)]);
            gpu.copy(region.at(), there.at(), there.bytes()).expect("copied");
            receive(&there)
        };
        let blank = send(&gpu, &vec![f32::NAN; floats(&region)]);
        gpu.copy(blank.at(), region.at(), blank.bytes()).expect("copied");
        store(&gpu, &memory, (region.at(), 5), 1, 3);
        let found = whole(&region);
        assert!(same(&found, &expected(5, &[None, Some(1), Some(2), Some(3)])), "{found:?}");
        let wider = memory.resized(&region, 4, 9).expect("memory");
        let (found, of_nine) = (whole(&wider), expected(9, &[None, Some(1), Some(2), Some(3)]));
        // Memory behind the positions may hold anything.
        let known = found.iter().zip(&of_nine).all(|(a, b)| b.is_nan() || a.to_bits() == b.to_bits());
        assert!(found.len() == of_nine.len() && known, "{found:?}");
    }
}

#[test]
fn tiles_have_as_many_rows_as_fit_into_the_memory_of_a_block() {
    let heads = |query, kv, dim| Heads { query, kv, dim };
    for (heads, memory, rows) in [
        (heads(16, 2, 256), 227 << 10, 4),
        (heads(32, 4, 512), 227 << 10, 4),
        (heads(32, 4, 512), 99 << 10, 2),
        (heads(8, 8, 64), 99 << 10, 32),
        (heads(48, 1, 64), 227 << 10, 1),
        (heads(71, 1, 64), 99 << 10, 1),
    ] {
        assert_eq!(tile_rows(heads, memory), rows, "{heads:?}");
        let room = attention_room(heads, rows, memory).expect("room");
        assert!(room.memory <= memory && room.stages > 1, "{heads:?}");
    }
}

#[test]
fn inputs_of_blocks_are_mixed_as_on_the_cpu_to_the_bit() {
    const VOCABULARY: usize = 11;
    let tokens = [3u32, 0, 10, 3];
    for (storage, _) in STORAGES.iter() {
        for inputs in [256, 1280] {
            let table = values(*storage, VOCABULARY, inputs);
            let x = numbers(21, tokens.len() * inputs);
            let found = in_any_order(|gpu| {
                let there = sent(gpu, &table, (VOCABULARY, inputs), *storage);
                let (x, tokens) = (send(gpu, &x), send(gpu, &tokens));
                let table = there.pieces[0].there(0);
                let params = kernels::MixInputs { table, tokens: tokens.at(), x: x.at(), root: 3.3, padding: 0 };
                let grid = [4, inputs.div_ceil(1024), 1];
                gpu.launch(&kernels::MIX_INPUTS, grid, 0, params).expect("launched");
                receive(&x)
            });
            let Some(found) = found else { return };
            let known = decoded(&table, (VOCABULARY, inputs), *storage);
            let of = |(i, x): (usize, &f32)| {
                let known = known[tokens[i / inputs] as usize * inputs + i % inputs];
                (x + known * 3.3) * std::f32::consts::FRAC_1_SQRT_2
            };
            let expected: Vec<f32> = x.iter().enumerate().map(of).collect();
            assert_eq!(bits(&found), bits(&expected), "{}, {inputs}", storage.name());
        }
    }
}

#[test]
fn gates_on_inputs_of_blocks_are_those_of_the_cpu_to_the_bit() {
    for (rows, width, stride) in [(1, 1, 1), (3, 7, 30), (5, 300, 900)] {
        let (gates, inputs) = (numbers(22, rows * width), numbers(23, rows * stride));
        let found = in_any_order(|gpu| {
            let [gates, inputs] = [&gates, &inputs].map(|values| send(gpu, values));
            let out = send(gpu, &vec![f32::NAN; rows * width]);
            let params = kernels::GateInputs {
                gates: gates.at(),
                inputs: inputs.at() + ((stride - width) / 2 * size_of::<f32>()) as u64,
                out: out.at(),
                rows: rows as i32,
                width: width as i32,
                stride: stride as i32,
                kind: activation_number(Activation::GeluTanh),
            };
            gpu.launch(&kernels::GATE_INPUTS, [(rows * width).div_ceil(256), 1, 1], 0, params).expect("launched");
            receive(&out)
        });
        let Some(found) = found else { return };
        let mut expected = vec![0.0; rows * width];
        for (row, out) in expected.chunks_mut(width).enumerate() {
            ops::activate(Activation::GeluTanh, &gates[row * width..][..width], out);
            let inputs = &inputs[row * stride + (stride - width) / 2..][..width];
            out.iter_mut().zip(inputs).for_each(|(out, input)| *out *= input);
        }
        assert_eq!(bits(&found), bits(&expected), "{rows}, {width}");
    }
}
