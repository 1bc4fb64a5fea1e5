//! Products with quantised weights: equal to the bit in any batch composition, and as exact as their scales
//! allow.

use proptest::prelude::*;

use super::*;
use crate::backend::cpu::gemm::{self, Linear, Mode, linear};
use crate::backend::cpu::pack::{Packed, Panels};
use crate::backend::storage::{Kind, Storage};
use crate::model::blocks::widen;
use crate::model::{Tensor, TensorType};

/// Normal-looking numbers, a few of them large; different for every `seed`.
fn values(seed: u32, len: usize) -> Vec<f32> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    (0..len).map(|i| ((next() + next() + next()) * if i % 53 == 7 { 9.0 } else { 1.3 }) as f32).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn packed(pool: &Pool, kernels: &gemm::Kernels, w: &[f32], inputs: usize, storage: Storage) -> Packed {
    let bytes = bytes(w);
    let tensor = Tensor { dtype: TensorType::F32, bytes: bytes.into() };
    Packed::new(pool, kernels, &[(tensor, w.len() / inputs)], inputs, storage).expect("memory")
}

/// The rows as the kernels see them, `[rows, inputs]`, and half a step of each.
fn quantised_inputs(x: &[f32], inputs: usize) -> Vec<(f64, f64)> {
    let row = |x: &[f32]| {
        let mut blocks = vec![InputBlock::default(); inputs.div_ceil(BLOCK)];
        // SAFETY: as many places as blocks.
        unsafe { inputs::quantise_row(x, 8, blocks.as_mut_ptr(), 1) };
        let of = |i: usize| {
            let block = blocks[i / BLOCK];
            (f64::from(block.scale) * f64::from(block.codes[i % BLOCK]), f64::from(block.scale) / 2.0)
        };
        (0..inputs).map(of).collect::<Vec<_>>()
    };
    x.chunks(inputs).flat_map(row).collect()
}

/// The most that the errors of a block of weights can have as root of the sum of their squares: half a step
/// each in int8; in int4 a whole one, because the range has no code for the greatest weight's opposite.
/// Scales in bf16 widen it a little.
fn error(bits: Bits, block: &[f32]) -> f64 {
    let greatest = f64::from(block.iter().fold(0.0f32, |greatest, w| greatest.max(w.abs())));
    let each = match bits {
        Bits::Eight => greatest / 127.0 / 2.0,
        Bits::Four => greatest / 8.0,
        _ => unreachable!("only files have these"),
    };
    each * 1.01 * (block.len() as f64).sqrt()
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn products_are_right_and_do_not_depend_on_batch_composition(
        rows in 1usize..81, inputs in 1usize..150, outputs in 1usize..150, seed: u32, add: bool, with_bias: bool,
    ) {
        let (x, w) = (values(seed, rows * inputs), values(seed ^ 1, outputs * inputs));
        let (bias, before) = (values(seed ^ 2, outputs), values(seed ^ 3, rows * outputs));
        let mode = if add { Mode::Add } else { Mode::Store };
        let near_x = quantised_inputs(&x, inputs);
        for (storage, bits) in [(Storage::Int8, Bits::Eight), (Storage::Int4, Bits::Four)] {
            let mut results = Vec::new();
            for (threads, kernels) in [1, 3].into_iter().flat_map(|t| gemm::Kernels::available().into_iter().map(move |k| (t, k))) {
                let pool = Pool::new(threads);
                let weights = packed(&pool, &kernels, &w, inputs, storage);
                let layer = Linear { weights: &weights, bias: with_bias.then_some(&bias[..]), mode };
                let mut out = before.clone();
                linear(&pool, &kernels, layer, &x, &mut out, &mut Vec::new());
                results.push(out);
                // Row by row, in scratch that has seen other rows.
                let (mut out, mut scratch) = (before.clone(), vec![InputBlock { start: 77, ..InputBlock::default() }; 9]);
                for (x, out) in x.chunks(inputs).zip(out.chunks_mut(outputs)) {
                    linear(&pool, &kernels, layer, x, out, &mut scratch);
                }
                results.push(out);
            }
            for result in &results {
                prop_assert!(result.iter().zip(&results[0]).all(|(a, b)| a.to_bits() == b.to_bits()));
            }

            let weights = packed(&Pool::new(1), &gemm::Kernels::portable(), &w, inputs, storage);
            let mut row = vec![0.0; inputs];
            for c in 0..outputs {
                weights.output(c, &mut row);
                for (r, near_x) in near_x.chunks(inputs).enumerate() {
                    let extra = if with_bias { f64::from(bias[c]) } else { 0.0 }
                        + if add { f64::from(before[r * outputs + c]) } else { 0.0 };
                    let found = f64::from(results[0][r * outputs + c]) - extra;
                    let (x, w) = (&x[r * inputs..(r + 1) * inputs], &w[c * inputs..(c + 1) * inputs]);
                    let (mut sum, mut size, mut exact, mut bound) = (0.0, 1.0, 0.0, 1e-4);
                    for (((x, w), near_x), near_w) in
                        x.chunks(BLOCK).zip(w.chunks(BLOCK)).zip(near_x.chunks(BLOCK)).zip(row.chunks(BLOCK))
                    {
                        for (((&x, &w), &(near_x, half)), &near_w) in x.iter().zip(w).zip(near_x).zip(near_w) {
                            let near_w = f64::from(near_w);
                            sum += near_x * near_w;
                            size += (near_x * near_w).abs();
                            exact += f64::from(x) * f64::from(w);
                            bound += near_w.abs() * half * 1.001;
                        }
                        bound += norm(x.iter().map(|&x| f64::from(x))) * error(bits, w);
                    }
                    prop_assert!((found - sum).abs() < 1e-6 * (size + extra.abs()), "{found} for {sum}");
                    prop_assert!((found - exact).abs() <= bound, "{found} for {exact}, at most {bound} apart");
                }
            }
        }
    }
}

/// All inputs and weights at the ends of their ranges: what would saturate, saturates here.
#[test]
fn extreme_codes_do_not_overflow() {
    let inputs = 256;
    let signs = |seed: u32| values(seed, inputs).into_iter().map(|value| value.signum() * 3.0).collect::<Vec<_>>();
    for storage in [Storage::Int8, Storage::Int4] {
        for (x, w) in
            [(vec![1.0; inputs], vec![3.0; inputs]), (vec![1.0; inputs], vec![-3.0; inputs]), (signs(1), signs(2))]
        {
            let mut results = Vec::new();
            for kernels in gemm::Kernels::available() {
                let pool = Pool::new(1);
                let weights = packed(&pool, &kernels, &w, inputs, storage);
                let mut out = vec![0.0; 5];
                let rows = x.repeat(5);
                let layer = Linear { weights: &weights, bias: None, mode: Mode::Store };
                linear(&pool, &kernels, layer, &rows, &mut out, &mut Vec::new());
                results.push(out[4]);
            }
            let exact: f32 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
            assert!((results[0] - exact).abs() <= 0.08 * inputs as f32, "{} for {exact}", results[0]);
            assert!(results.iter().all(|result| result.to_bits() == results[0].to_bits()), "{results:?}");
        }
    }
}

/// Blocks of any bits for `weights` weights, but for sensible scales.
pub fn blocks(seed: u32, dtype: TensorType, weights: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut bytes: Vec<u8> = (0..dtype.bytes(weights).expect("whole blocks")).map(|_| next()).collect();
    let (of_block, size) = dtype.block();
    for block in bytes.chunks_mut(size) {
        if TensorType::BLOCKS.iter().skip_while(|known| **known != TensorType::Iq4Nl).any(|known| *known == dtype) {
            // Wherever its scale stands: bits are drawn until they are sensible.
            let mut decoded = vec![0.0; of_block];
            loop {
                widen(dtype, block, &mut decoded);
                let most = decoded.iter().fold(0.0f32, |most, w| if w.is_nan() { f32::NAN } else { most.max(w.abs()) });
                if (0.01..4.0).contains(&most) {
                    break;
                }
                block.fill_with(&mut next);
            }
            continue;
        }
        let at = match dtype.format().map(|format| format.kind) {
            Some(Kind::Halves) => vec![block.len() - 2],
            Some(kind) if kind.has_min() => vec![0, 2],
            _ => vec![0],
        };
        for at in at {
            // From 0.002 to 0.03, with either sign.
            let bits = u16::from_le_bytes([next(), 0x18 | next() & 0x87]);
            block[at..at + 2].copy_from_slice(&bits.to_le_bytes());
        }
    }
    bytes
}

/// Bytes that so many weights take more than in the file: scales of 6 bits take 8, points of grids are kept
/// as their coordinates of 4 bits with scales for every 16, numbers of three as 4 bits with scales for every
/// 32.
fn widened(dtype: TensorType, weights: usize) -> usize {
    use TensorType as T;
    let stored = dtype.bytes(weights).expect("whole blocks");
    match dtype {
        T::Q3K => weights / 64,
        T::Iq3S | T::Iq3Xxs | T::Iq2Xxs | T::Iq2Xs | T::Iq2S | T::Iq1S | T::Iq1M => weights / 256 * 146 - stored,
        T::Tq1_0 | T::Tq2_0 => weights / 32 * 18 - stored,
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) })]

    /// The weights of a file are what its bytes mean, to the bit, and products with them are right and do not
    /// depend on batch composition, threads or kernels.
    #[test]
    fn stored_blocks_keep_their_own_bits(
        rows in 1usize..70, supers in 1usize..4, outputs in 1usize..80, seed: u32, add: bool, with_bias: bool,
    ) {
        let inputs = 256 * supers;
        let x = values(seed, rows * inputs);
        let (bias, before) = (values(seed ^ 2, outputs), values(seed ^ 3, rows * outputs));
        let near_x = quantised_inputs(&x, inputs);
        let mode = if add { Mode::Add } else { Mode::Store };
        for &dtype in TensorType::BLOCKS {
            let bytes = blocks(seed ^ 5, dtype, outputs * inputs);
            let mut decoded = vec![0.0; outputs * inputs];
            widen(dtype, &bytes, &mut decoded);
            let mut results: Vec<Vec<f32>> = Vec::new();
            for (threads, kernels) in [1, 3].into_iter().flat_map(|t| gemm::Kernels::available().into_iter().map(move |k| (t, k))) {
                let pool = Pool::new(threads);
                let part = (Tensor { dtype, bytes: bytes.as_slice().into() }, outputs);
                let weights = Packed::new(&pool, &kernels, &[part], inputs, Storage::Stored(dtype)).expect("memory");
                // A model takes the memory that its file does.
                let stored = dtype.bytes(outputs.next_multiple_of(NR) * inputs).expect("whole blocks");
                prop_assert!(
                    weights.bytes() * 100 <= (stored + widened(dtype, outputs.next_multiple_of(NR) * inputs)) * 103,
                    "{dtype}: {} of {stored}",
                    weights.bytes()
                );
                let mut row = vec![0.0; inputs];
                for (c, decoded) in decoded.chunks(inputs).enumerate() {
                    weights.output(c, &mut row);
                    prop_assert!(row.iter().zip(decoded).all(|(a, b)| a.to_bits() == b.to_bits()), "{dtype}");
                }
                let layer = Linear { weights: &weights, bias: with_bias.then_some(&bias[..]), mode };
                let mut out = before.clone();
                linear(&pool, &kernels, layer, &x, &mut out, &mut Vec::new());
                results.push(out);
                let mut out = before.clone();
                for (x, out) in x.chunks(inputs).zip(out.chunks_mut(outputs)) {
                    linear(&pool, &kernels, layer, x, out, &mut Vec::new());
                }
                results.push(out);
            }
            for result in &results {
                prop_assert!(result.iter().zip(&results[0]).all(|(a, b)| a.to_bits() == b.to_bits()), "{dtype}");
            }
            for (c, decoded) in decoded.chunks(inputs).enumerate() {
                for (r, near_x) in near_x.chunks(inputs).enumerate() {
                    let extra = if with_bias { f64::from(bias[c]) } else { 0.0 }
                        + if add { f64::from(before[r * outputs + c]) } else { 0.0 };
                    let terms = near_x.iter().zip(decoded).map(|((x, _), w)| x * f64::from(*w));
                    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                    let found = f64::from(results[0][r * outputs + c]) - extra;
                    prop_assert!((found - sum).abs() <= 1e-5 * (size + 1.0), "{dtype}: {found} for {sum}");
                }
            }
        }
    }
}

/// Matrices of different types, one below the other, give what each gives by itself.
#[test]
fn stacked_matrices_are_computed_one_by_one() {
    let (pool, kernels) = (Pool::new(2), gemm::Kernels::best());
    let (inputs, rows) = (256, 5);
    let types = [(TensorType::Q4K, 40), (TensorType::Q6K, 24), (TensorType::F16, 7)];
    let parts: Vec<Packed> = types
        .iter()
        .map(|&(dtype, outputs)| {
            let bytes = if dtype == TensorType::F16 {
                values(3, outputs * inputs).iter().flat_map(|&w| half::f16::from_f32(w).to_le_bytes()).collect()
            } else {
                blocks(8, dtype, outputs * inputs)
            };
            let part = (Tensor { dtype, bytes: bytes.into() }, outputs);
            Packed::new(&pool, &kernels, &[part], inputs, Storage::of(dtype)).expect("memory")
        })
        .collect();
    let (x, bias) = (values(1, rows * inputs), values(2, 71));
    let mut expected = vec![0.0; rows * 71];
    let mut row = vec![0.0; inputs];
    let mut weights_of = Vec::new();
    for (part, from) in parts.iter().zip([0, 40, 64]) {
        let mut out = vec![0.0; rows * part.outputs];
        let layer = Linear { weights: part, bias: Some(&bias[from..from + part.outputs]), mode: Mode::Store };
        linear(&pool, &kernels, layer, &x, &mut out, &mut Vec::new());
        for (to, out) in expected.chunks_mut(71).zip(out.chunks(part.outputs)) {
            to[from..from + part.outputs].copy_from_slice(out);
        }
        for output in 0..part.outputs {
            part.output(output, &mut row);
            weights_of.push(row.clone());
        }
    }
    let stacked = Packed { outputs: 71, inputs, panels: Panels::Stacked(parts) };
    let mut found = vec![0.0; rows * 71];
    let layer = Linear { weights: &stacked, bias: Some(&bias), mode: Mode::Store };
    linear(&pool, &kernels, layer, &x, &mut found, &mut Vec::new());
    assert!(found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
    for (output, weights) in weights_of.iter().enumerate() {
        stacked.output(output, &mut row);
        assert!(row.iter().zip(weights).all(|(a, b)| a.to_bits() == b.to_bits()), "output {output}");
    }
}

#[test]
fn weights_keep_close_to_what_they_were() {
    let pool = Pool::new(2);
    for (inputs, outputs) in [(320, 160), (70, 21), (1, 1)] {
        let w = values(9, inputs * outputs);
        for (storage, bits, most) in [(Storage::Int8, Bits::Eight, 0.02), (Storage::Int4, Bits::Four, 0.2)] {
            let weights = packed(&pool, &gemm::Kernels::best(), &w, inputs, storage);
            let padded = outputs.div_ceil(NR) * inputs.div_ceil(BLOCK) * NR;
            assert_eq!(weights.bytes(), padded * (2 + bits.lines() * 4), "{inputs} x {outputs}");
            let mut row = vec![0.0; inputs];
            let (mut errors, mut all) = (0.0, 0.0);
            for (c, w) in w.chunks(inputs).enumerate() {
                weights.output(c, &mut row);
                for (w, near) in w.chunks(BLOCK).zip(row.chunks(BLOCK)) {
                    let found = norm(w.iter().zip(near).map(|(w, near)| f64::from(w - near)));
                    assert!(found <= error(bits, w), "{w:?} as {near:?}");
                    errors += found * found;
                    all += norm(w.iter().map(|&w| f64::from(w))).powi(2);
                }
            }
            let relative = (errors / all).sqrt();
            println!("{bits:?}: {relative}");
            assert!(relative < most, "{bits:?}: {relative}");
        }
    }
}

#[test]
fn odd_weights_do_no_harm_to_others() {
    let pool = Pool::new(1);
    let mut w = values(5, 4 * 64);
    w[..3].copy_from_slice(&[f32::MAX, -f32::MAX, 1e38]);
    w[64..128].fill(1e-40);
    w[128] = f32::NAN;
    w[192 + 40] = f32::NEG_INFINITY;
    for storage in [Storage::Int8, Storage::Int4] {
        let weights = packed(&pool, &gemm::Kernels::best(), &w, 64, storage);
        let mut row = vec![0.0; 64];
        let mut output = |c: usize| {
            weights.output(c, &mut row);
            row.clone()
        };
        assert!((output(0)[0] / f32::MAX - 1.0).abs() < 0.13 && output(0)[2] >= 0.0 && output(0)[40].abs() > 0.0);
        assert_eq!(output(1), [0.0; 64]);
        assert!(output(2)[..32].iter().all(|w| w.is_nan()) && output(2)[32..].iter().all(|w| w.is_finite()));
        assert!(output(3)[..32].iter().all(|w| w.is_finite()) && output(3)[32..].iter().all(|w| w.is_nan()));
    }
}
