//! Row operations between embedding and logits.

use std::sync::Arc;

use super::super::gpu::Gpu;
use super::super::kernels;
use super::super::products::activation_number;
use super::{assert_close, bits, emulator, in_any_order, numbers, receive, send};
use crate::backend::cpu::twins::ops;
use crate::backend::rotary::RotaryTables;
use crate::backend::weights::NormWeights;
use crate::model::spec::{self, Activation, Block, Mlp, Norm, NormKind, Rotary, RotaryScaling, Wiring};

#[test]
fn norms_of_rows_and_of_heads() {
    for (width, parts) in [(1, 1), (127, 1), (128, 3), (300, 2)] {
        let stride = width * parts + 5;
        let (x, weight, bias) = (numbers(4, 3 * stride), numbers(5, width), numbers(6, width));
        for kind in [NormKind::Rms, NormKind::Layer] {
            let found = in_any_order(|gpu| {
                let [x, weight, bias] = [&x, &weight, &bias].map(|values| send(gpu, values));
                let params = kernels::NormRows {
                    x: x.at(),
                    out: x.at(),
                    weight: weight.at(),
                    bias: bias.at(),
                    x_stride: stride as i32,
                    out_stride: stride as i32,
                    per_row: parts as i32,
                    width: width as i32,
                    eps: 1e-5,
                    centred: i32::from(kind == NormKind::Layer),
                };
                gpu.launch(&kernels::NORM_ROWS, [3 * parts, 1, 1], 128, params).expect("launched");
                receive(&x)
            });
            let Some(found) = found else { return };
            let weights = NormWeights { weight: weight.clone(), bias: Some(bias.clone()) };
            let mut expected = x.clone();
            for row in expected.chunks_mut(stride) {
                for part in row[..parts * width].chunks_mut(width) {
                    ops::norm_in_place(Norm { kind, eps: 1e-5 }, part, &weights);
                }
            }
            let expected: Vec<f64> = expected.iter().map(|&value| value.into()).collect();
            assert_close(&format!("{kind:?} of {width}"), &found, &expected, 1e-4);
        }
    }
}

#[test]
fn activations_are_those_of_the_cpu_to_the_bit() {
    let kinds = [Activation::Silu, Activation::Gelu, Activation::GeluTanh, Activation::Relu, Activation::ClampedSwish];
    for kind in kinds {
        for (width, gated) in [(1, true), (257, true), (300, kind == Activation::ClampedSwish)] {
            let x: Vec<f32> = numbers(7, 3 * width * (1 + usize::from(gated))).iter().map(|x| 9.0 * x).collect();
            let found = in_any_order(|gpu| {
                let (x, out) = (send(gpu, &x), send(gpu, &vec![0.0f32; 3 * width]));
                let params = kernels::Activate {
                    x: x.at(),
                    out: out.at(),
                    rows: 3,
                    width: width as i32,
                    kind: activation_number(kind),
                    gated: i32::from(gated),
                };
                gpu.launch(&kernels::ACTIVATE, [(3 * width).div_ceil(256), 1, 1], 0, params).expect("launched");
                receive(&out)
            });
            let Some(found) = found else { return };
            let mut expected = vec![0.0; 3 * width];
            for (out, x) in expected.chunks_mut(width).zip(x.chunks(x.len() / 3)) {
                ops::activate(kind, x, out);
            }
            assert_eq!(bits(&found), bits(&expected), "{kind:?}, {width}");
        }
    }
}

/// Keys and values go to the row's own position and nowhere else.
#[test]
fn rows_are_rotated_and_stored_at_their_own_positions() {
    let (heads, kv_heads, dim, capacity, shared) = (3, 1, 6, 9, 4);
    for (dims, interleaved, grown) in [(6, false, false), (4, true, false), (4, false, true), (6, true, true)] {
        let rotary = Rotary { dims, interleaved, base: 100.0, scaling: RotaryScaling::None };
        let mlp = Mlp { intermediate: 1, activation: Activation::Silu, gated: true, bias: false, experts: None };
        let attention = spec::Attention { rotary: Some(rotary), ..plain_attention() };
        let (beside, delta, output_scale) = (None, None, false);
        let block = Block { wiring: Wiring::PreNorm, residual_scale: 1.0, attention, mlp, delta, beside, output_scale };
        let mut tables = RotaryTables::new(&[block]);
        tables.ensure(16).expect("memory");
        // Something more is projected, a gate.
        let stride = (heads + 2 * kv_heads) * dim + 4;
        let qkv = numbers(8, 3 * stride);
        let found = in_any_order(|gpu| {
            let (there, table) = (send(gpu, &qkv), send(gpu, tables.all()[0].values()));
            let own = send(gpu, &vec![f32::from_bits(u32::MAX); 2 * kv_heads * 2 * capacity * dim]);
            let spans = send(
                gpu,
                &[kernels::Rows {
                    shared: 0,
                    own: own.at(),
                    shared_len: shared,
                    shared_capacity: 0,
                    own_capacity: capacity as i32,
                    start: 6,
                    first_row: 0,
                    rows: 3,
                }],
            );
            let (row_spans, growth) = (send(gpu, &[0i32; 3]), send(gpu, &numbers(16, 9)));
            let params = kernels::RotaryStore {
                qkv: there.at(),
                table: table.at(),
                growth: if grown { growth.at() } else { 0 },
                spans: spans.at(),
                row_spans: row_spans.at(),
                heads: heads as i32,
                kv_heads: kv_heads as i32,
                dim: dim as i32,
                pairs: (dims / 2) as i32,
                interleaved: i32::from(interleaved),
                before: (2 * kv_heads * dim) as i32,
                stride: stride as i32,
                padding: 0,
            };
            gpu.launch(&kernels::ROTARY_STORE, [3, heads + kv_heads, 1], 0, params).expect("launched");
            [receive(&there), receive(&own)].concat()
        });
        let Some(found) = found else { return };
        let found_kv = &found[3 * stride..];
        let mut expected = qkv.clone();
        // Nobody may write beside it.
        let mut kv = vec![f32::from_bits(u32::MAX); found_kv.len()];
        for (row, qkv) in expected.chunks_mut(stride).enumerate() {
            let mut keys = qkv[heads * dim..(heads + kv_heads) * dim].to_vec();
            let rotated = qkv[..heads * dim].chunks_mut(dim).chain(keys.chunks_mut(dim));
            rotated.for_each(|head| tables.all()[0].rotate(6 + row, head));
            let factor = if grown { numbers(16, 9)[6 + row] } else { 1.0 };
            qkv[..heads * dim].iter_mut().for_each(|query| *query *= factor);
            let at = |part: usize| (2 + part) * capacity * dim + (6 + row - shared as usize) * dim;
            kv[at(0)..at(0) + dim].copy_from_slice(&keys);
            kv[at(1)..at(1) + dim].copy_from_slice(&qkv[(heads + kv_heads) * dim..stride - 4]);
        }
        assert_eq!(bits(&found[..3 * stride]), bits(&expected), "{dims}, {interleaved}");
        assert_eq!(bits(found_kv), bits(&kv), "{dims}, {interleaved}");
    }
}

/// Without windows, caps and rotation.
pub(super) fn plain_attention() -> spec::Attention {
    spec::Attention {
        qkv_bias: false,
        output_bias: false,
        qk_norm: false,
        rotary: None,
        window: None,
        scale: 0.7,
        soft_cap: None,
        gated: false,
        query_growth: None,
        heads: None,
        value_norm: false,
        value_is_key: false,
        keys_of: None,
        sinks: false,
        from: 0,
        ahead: false,
    }
}

/// One weighs as much as all positions, one next to nothing, one more than a float can tell from the rest.
const SINKS: [f32; 6] = [5.0, -30.0, 0.5, 200.0, -1.0, 0.0];

/// Attention of the last rows of a text of `len` positions, of which `shared` are a prompt's.
pub(super) fn attention(gpu: &Arc<Gpu>, (len, shared, rows): (usize, usize, usize), of: &spec::Attention) -> Vec<f32> {
    let (kv_heads, group, dim) = (2, 3, 5);
    let heads = kv_heads * group;
    let kv = numbers(9, 2 * kv_heads * len * dim);
    // Regions are larger than what is in them; nothing else is a number there.
    let region = |from: usize, count: usize| {
        let capacity = count + 3;
        let mut values = vec![f32::NAN; 2 * kv_heads * capacity * dim];
        for part in 0..2 * kv_heads {
            let source = &kv[(part * len + from) * dim..][..count * dim];
            values[part * capacity * dim..][..count * dim].copy_from_slice(source);
        }
        (send(gpu, &values), capacity as i32)
    };
    let ((prompt, prompt_capacity), (own, own_capacity)) = (region(0, shared), region(shared, len - shared));
    let start = (len - rows) as i32;
    let spans = send(
        gpu,
        &[kernels::Rows {
            shared: prompt.at(),
            own: own.at(),
            shared_len: shared as i32,
            shared_capacity: prompt_capacity,
            own_capacity,
            start,
            first_row: 0,
            rows: rows as i32,
        }],
    );
    // The last row is a tile of its own.
    let tile = |from: usize, rows: usize| kernels::Tile {
        span: 0,
        position: start + from as i32,
        row: from as i32,
        rows: rows as i32,
        chunk: 0,
        end: start + (from + rows) as i32,
    };
    let tiles = [tile(0, rows - 1), tile(rows - 1, 1)].into_iter().filter(|tile| tile.rows > 0);
    let chunks = 0..len.div_ceil(kernels::CHUNK) as i32;
    let tiles: Vec<_> =
        tiles.flat_map(|tile| chunks.clone().map(move |chunk| kernels::Tile { chunk, ..tile })).collect();
    let tiles_there = send(gpu, &tiles);
    let positions = send(gpu, &(start..start + rows as i32).collect::<Vec<i32>>());
    let qkv = send(gpu, &numbers(10, 40 * heads * dim)[(40 - rows) * heads * dim..]);
    let chunks = len.div_ceil(kernels::CHUNK);
    let [sums, norms, out] = [chunks * rows * heads * dim, chunks * rows * heads * 2, rows * heads * dim]
        .map(|floats| gpu.alloc(floats * size_of::<f32>()).expect("memory"));
    let room = kernels::attention_room(rows.max(2) * group, dim, gpu.block_memory).expect("room");
    let (window, sinks) = (of.window.unwrap_or(0) as i32, send(gpu, &SINKS));
    let params = kernels::AttentionChunk {
        qkv: qkv.at(),
        sums: sums.at(),
        norms: norms.at(),
        spans: spans.at(),
        tiles: tiles_there.at(),
        positions: positions.at(),
        q_stride: (heads * dim) as i32,
        before: 0,
        kv_heads: kv_heads as i32,
        group: group as i32,
        dim: dim as i32,
        rows: rows as i32,
        window,
        scale: of.scale,
        soft_cap: of.soft_cap.unwrap_or(0.0),
        padded: 0,
        keys: room.keys as i32,
        stages: room.stages as i32,
    };
    gpu.launch(&kernels::ATTENTION_CHUNK, [tiles.len(), kv_heads, 1], room.memory, params).expect("launched");
    let params = kernels::AttentionMerge {
        sums: sums.at(),
        norms: norms.at(),
        positions: positions.at(),
        sinks: if of.sinks { sinks.at() } else { 0 },
        out: out.at(),
        rows: rows as i32,
        heads: heads as i32,
        dim: dim as i32,
        window,
    };
    gpu.launch(&kernels::ATTENTION_MERGE, [rows, heads, 1], 0, params).expect("launched");
    receive(&out)
}

#[test]
fn attention_sees_prompt_and_tail_through_every_window() {
    let (kv_heads, group, dim) = (2, 3, 5);
    let heads = kv_heads * group;
    for (len, shared, rows) in [(1, 0, 1), (40, 17, 6), (600, 255, 3), (300, 299, 1)] {
        let cases =
            [(None, None, false), (Some(7), None, true), (Some(280), Some(2.0), false), (Some(280), Some(2.0), true)];
        for (window, soft_cap, sinks) in cases {
            let of = spec::Attention { window, soft_cap, sinks, ..plain_attention() };
            let Some(found) = in_any_order(|gpu| attention(gpu, (len, shared, rows), &of)) else { return };
            let kv = numbers(9, 2 * kv_heads * len * dim);
            let queries = numbers(10, 40 * heads * dim);
            let mut expected = Vec::new();
            for row in 0..rows {
                let position = len - rows + row;
                for head in 0..heads {
                    let at = |part: usize, position: usize| {
                        kv[((head / group * 2 + part) * len + position) * dim..][..dim].iter().map(|&x| f64::from(x))
                    };
                    let q = &queries[((40 - rows + row) * heads + head) * dim..][..dim];
                    let first = window.map_or(0, |window| (position + 1).saturating_sub(window));
                    let weight = |position: usize| {
                        let score: f64 = at(0, position).zip(q).map(|(k, &q)| k * f64::from(q)).sum::<f64>() * 0.7;
                        soft_cap.map_or(score, |cap| f64::from(cap) * (score / f64::from(cap)).tanh()).exp()
                    };
                    let sink = if sinks { f64::from(SINKS[head]).exp() } else { 0.0 };
                    let total = (first..=position).map(weight).sum::<f64>() + sink;
                    let channel = |d| {
                        let term = |position| weight(position) * at(1, position).nth(d).unwrap_or(0.0);
                        (first..=position).map(term).sum::<f64>() / total
                    };
                    expected.extend((0..dim).map(channel));
                }
            }
            assert_close(&format!("{len}, {shared}, {rows}, {window:?}, {sinks}"), &found, &expected, 1e-5);
            // The last row alone is the same.
            if rows > 1 {
                let Some(gpu) = emulator::gpu(3) else { return };
                let alone = attention(&gpu, (len, shared, 1), &of);
                assert_eq!(bits(&alone), bits(&found[(rows - 1) * heads * dim..]), "{len}, {shared}, {window:?}");
            }
        }
    }
}

/// Numbers of rows are rounded up: what is added stores nothing, sees nothing and stays finite.
#[test]
fn padding_rows_leave_everything_alone() {
    let found = in_any_order(|gpu| {
        let (own, qkv) = (send(gpu, &[7.0f32; 24]), send(gpu, &[1.0f32; 2 * 9]));
        let span = |own| kernels::Rows {
            shared: 0,
            own,
            shared_len: 0,
            shared_capacity: 0,
            own_capacity: 4,
            start: 0,
            first_row: 0,
            rows: 0,
        };
        let (spans, padding) = (send(gpu, &[span(own.at())]), send(gpu, &[-1i32; 2]));
        let table = send(gpu, &[3.0f32; 24]);
        let params = kernels::RotaryStore {
            qkv: qkv.at(),
            table: table.at(),
            growth: 0,
            spans: spans.at(),
            row_spans: padding.at(),
            heads: 1,
            kv_heads: 1,
            dim: 3,
            pairs: 1,
            interleaved: 0,
            before: 0,
            stride: 9,
            padding: 0,
        };
        gpu.launch(&kernels::ROTARY_STORE, [2, 2, 1], 0, params).expect("launched");
        let x = send(gpu, &[1.0f32; 6]);
        let (row_spans, offset) = (padding.at(), 0);
        let params =
            kernels::AddPositions { table: table.at(), x: x.at(), spans: spans.at(), row_spans, offset, width: 3 };
        gpu.launch(&kernels::ADD_POSITIONS, [2, 1, 1], 0, params).expect("launched");

        let room = kernels::attention_room(1, 3, gpu.block_memory).expect("room");
        let tiles = send(gpu, &[kernels::Tile { span: 0, position: 0, row: 0, rows: 0, chunk: 0, end: 0 }]);
        let [sums, norms, out] = [6, 4, 6].map(|floats| send(gpu, &vec![f32::NAN; floats]));
        let params = kernels::AttentionChunk {
            qkv: qkv.at(),
            sums: sums.at(),
            norms: norms.at(),
            spans: spans.at(),
            tiles: tiles.at(),
            positions: padding.at(),
            q_stride: 9,
            before: 0,
            kv_heads: 1,
            group: 1,
            dim: 3,
            rows: 2,
            window: 2,
            scale: 1.0,
            soft_cap: 0.0,
            padded: 0,
            keys: room.keys as i32,
            stages: room.stages as i32,
        };
        gpu.launch(&kernels::ATTENTION_CHUNK, [1, 1, 1], room.memory, params).expect("launched");
        let (sums_at, norms_at, sinks) = (sums.at(), norms.at(), send(gpu, &[200.0f32]));
        let params = kernels::AttentionMerge {
            sums: sums_at,
            norms: norms_at,
            positions: padding.at(),
            sinks: sinks.at(),
            out: out.at(),
            rows: 2,
            heads: 1,
            dim: 3,
            window: 2,
        };
        gpu.launch(&kernels::ATTENTION_MERGE, [2, 1, 1], 0, params).expect("launched");
        assert!(receive(&sums).iter().chain(&receive(&norms)).all(|x| x.is_nan()));

        let tokens = send(gpu, &[5u32, 6]);
        let patches = send(gpu, &[kernels::Patch { token: 0, row: 1, padding: 0 }]);
        let params = kernels::PlaceTokens { patches: patches.at(), tokens: tokens.at(), count: 1, padding: 0 };
        gpu.launch(&kernels::PLACE_TOKENS, [1, 1, 1], 0, params).expect("launched");
        let mut left = [0u32; 2];
        tokens.read(0, &mut left).expect("read");
        assert_eq!(left, [5, 6]);
        [receive(&own), receive(&qkv), receive(&x), receive(&out)].concat()
    });
    let Some(found) = found else { return };
    assert_eq!(found, [vec![7.0; 24], vec![1.0; 18], vec![1.0; 6], vec![0.0; 6]].concat());
}
