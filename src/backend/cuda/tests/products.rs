//! Products with weights in every storage.

use std::sync::Arc;

use half::{bf16, f16};

use super::super::gpu::{Buffer, Gpu};
use super::super::matrix::{Matrix, Method, Piece, STORAGES};
use super::super::products::linear;
use super::super::queue::{Again, Queue};
use super::super::tiled::slices;
use super::{bits, emulator, in_any_order, numbers, receive, send};
use crate::backend::cpu::Kernels;
use crate::backend::cpu::twins::{Packed, Pool, blocks};
use crate::backend::storage::Storage;
use crate::model::{Tensor, TensorType};

/// A tensor that can be stored so.
pub(super) fn values(storage: Storage, outputs: usize, inputs: usize) -> Tensor<'static> {
    let floats = numbers(1, outputs * inputs);
    let (dtype, bytes) = match storage {
        Storage::Stored(dtype) => (dtype, blocks(3, dtype, outputs * inputs)),
        Storage::Bf16 => {
            (TensorType::Bf16, floats.iter().flat_map(|&w| bf16::from_f32(w).to_le_bytes()).collect::<Vec<u8>>())
        }
        Storage::F16 => (TensorType::F16, floats.iter().flat_map(|&w| f16::from_f32(w).to_le_bytes()).collect()),
        _ => (TensorType::F32, floats.iter().flat_map(|w| w.to_le_bytes()).collect()),
    };
    Tensor { dtype, bytes: bytes.into() }
}

pub(super) fn sent(gpu: &Arc<Gpu>, tensor: &Tensor<'_>, (outputs, inputs): (usize, usize), storage: Storage) -> Matrix {
    let piece = Piece::new(gpu, &[(tensor.clone(), outputs)], inputs, storage).expect("memory");
    Matrix { pieces: vec![piece], outputs, inputs }
}

/// `x * weights + bias`, added to ones if `add`.
pub(super) fn product(gpu: &Arc<Gpu>, weights: &Matrix, (x, bias): (&[f32], Option<&[f32]>), add: bool) -> Vec<f32> {
    let rows = x.len() / weights.inputs;
    let bias = bias.map(|bias| send(gpu, bias));
    let (x, out) = (send(gpu, x), send(gpu, &vec![1.0f32; rows * weights.outputs]));
    let bias: Option<&Buffer> = bias.as_ref();
    let queue = Queue::new(gpu, true);
    linear(&queue, (weights, bias), (x.at(), out.at()), rows, add);
    queue.start(Again::Hardly).expect("launched");
    receive(&out)
}

/// Weights as the CPU decodes them.
pub(super) fn decoded(tensor: &Tensor<'_>, (outputs, inputs): (usize, usize), storage: Storage) -> Vec<f32> {
    let parts = [(tensor.clone(), outputs)];
    let packed = Packed::new(&Pool::new(1), &Kernels::portable(), &parts, inputs, storage).expect("memory");
    let mut weights = vec![0.0; outputs * inputs];
    weights.chunks_mut(inputs).enumerate().for_each(|(output, row)| packed.output(output, row));
    weights
}

/// A whole number of blocks where files have nothing else; several slices, blocks of outputs, and rows of
/// both that are not full.
fn shapes(storage: Storage) -> &'static [(usize, usize)] {
    match storage {
        Storage::Stored(dtype) if dtype.block().0 == 256 => &[(256, 1), (512, 35)],
        Storage::Stored(_) => &[(32, 1), (288, 33)],
        Storage::F32 => &[(1, 1), (7, 33), (300, 5), (296, 4)],
        _ => &[(1, 1), (7, 33), (300, 5), (40, 300)],
    }
}

/// Rows between -1 and 1, and behind them some whose numbers are large, small, of both kinds, or zero.
fn rows_of_every_size(inputs: usize) -> Vec<f32> {
    let mut rows = numbers(3, 80 * inputs);
    let scale = |row: usize, i: usize| match row {
        5 => 1e30,
        6 => 1e-30,
        7 => [1e4, 1.0, 1e-4][i % 3],
        8 => 0.0,
        _ => 1.0,
    };
    rows.iter_mut().enumerate().for_each(|(i, x)| *x *= scale(i / inputs, i % inputs));
    rows
}

/// Numbers of a row as products round them before they multiply: the twin of `kernels/inputs.cu`.
fn inputs_of(storage: Storage, row: &[f32]) -> Vec<f64> {
    let most = row.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    // Of f16 the largest is brought to 2^14 .. 2^15.
    let exponent = if most > 0.0 { 14 - f64::from(most).log2().floor() as i32 } else { 0 };
    let scale = 2.0f64.powi(exponent.min(126));
    let parts = |x: f64, near: fn(f64) -> f64, parts: usize| (0..parts).fold(0.0, |sum, _| sum + near(x - sum));
    let in_bf16 = |x: f64| bf16::from_f64(x).to_f64();
    let in_f16 = |x: f64| f16::from_f64(x).to_f64();
    let of = |x: f64| match storage {
        Storage::F32 => x,
        Storage::Bf16 => parts(x, in_bf16, 2),
        Storage::F16 => parts(x * scale, in_f16, 2) / scale,
        _ => parts(x * scale, in_f16, 1) / scale,
    };
    row.iter().map(|&x| of(f64::from(x))).collect()
}

/// Largest loss of an input, of itself and of the largest of its row: `kernels/inputs.cu`.
fn lost(storage: Storage) -> (f64, f64) {
    let own = match storage {
        Storage::F32 => return (0.0, 0.0),
        Storage::Bf16 => return (2.0f64.powi(-16), 0.0),
        Storage::F16 => -22,
        _ => -11,
    };
    (2.0f64.powi(own), 2.0f64.powi(-39))
}

#[test]
fn of_inputs_no_more_is_lost_than_is_said() {
    for (storage, _) in STORAGES.iter() {
        for row in rows_of_every_size(301).chunks(301) {
            let most = row.iter().fold(0.0, |most: f64, x| most.max(f64::from(x.abs())));
            let (own, of_most) = lost(*storage);
            for (&x, kept) in row.iter().zip(inputs_of(*storage, row)) {
                let x = f64::from(x);
                assert!((x - kept).abs() <= (own * x.abs()).max(of_most * most), "{}: {kept} for {x}", storage.name());
            }
        }
    }
}

/// A row that is one at one input and zero elsewhere loses nothing: its products are the weights.
#[test]
fn rows_of_a_single_one_give_the_weights_that_the_cpu_decodes() {
    for (storage, _) in STORAGES.iter() {
        for &shape in shapes(*storage) {
            let (inputs, outputs) = shape;
            let Some(gpu) = emulator::gpu(1) else { return };
            let tensor = values(*storage, outputs, inputs);
            let mut x = vec![0.0; inputs * inputs];
            x.iter_mut().step_by(inputs + 1).for_each(|x| *x = 1.0);
            let found = product(&gpu, &sent(&gpu, &tensor, (outputs, inputs), *storage), (&x, None), false);
            let weights = decoded(&tensor, (outputs, inputs), *storage);
            for (i, found) in found.iter().enumerate() {
                let (k, output) = (i / outputs, i % outputs);
                let weight = weights[output * inputs + k];
                // Zero has two signs.
                assert!(
                    found.to_bits() == weight.to_bits() || (*found == 0.0 && weight == 0.0),
                    "{} [{outputs}, {inputs}], [{output}, {k}]: {found} for {weight}",
                    storage.name()
                );
            }
        }
    }
}

/// Share of the summed magnitudes that each sum over 16 inputs may lose. The emulator cuts off what is below
/// the last digit. The rounding of GPUs is not documented and may cut off more of each product.
fn lost_by_16() -> f64 {
    2.0f64.powi(if emulator::real().is_some() { -20 } else { -23 })
}

#[test]
fn products_of_every_storage_are_those_of_the_weights_that_the_cpu_decodes() {
    for (storage, method) in STORAGES.iter() {
        let storage = *storage;
        for &(inputs, outputs) in shapes(storage) {
            let what = format!("{} [{outputs}, {inputs}]", storage.name());
            let shape = (outputs, inputs);
            let tensor = values(storage, outputs, inputs);
            let weights = decoded(&tensor, shape, storage);
            let bias = numbers(2, outputs);
            let all = rows_of_every_size(inputs);
            let of = |gpu: &Arc<Gpu>, x: &[f32], add: bool| {
                product(gpu, &sent(gpu, &tensor, shape, storage), (x, Some(&bias)), add)
            };
            let Some(found) = in_any_order(|gpu| of(gpu, &all[..9 * inputs], true)) else { return };
            let with_min = storage.format().is_some_and(|format| format.kind.has_min());
            for row in 0..9 {
                let x = inputs_of(storage, &all[row * inputs..(row + 1) * inputs]);
                for output in 0..outputs {
                    let weights = &weights[output * inputs..(output + 1) * inputs];
                    let terms = || x.iter().zip(weights).map(|(x, &w)| x * f64::from(w));
                    let expected = 1.0 + terms().sum::<f64>() + f64::from(bias[output]);
                    let mut size = terms().map(f64::abs).sum::<f64>();
                    if with_min {
                        // Scale * code and minimum are each up to that.
                        let most = weights.iter().fold(0.0, |most: f64, w| most.max(f64::from(w.abs())));
                        size = x.iter().map(|x| x.abs()).sum::<f64>() * 3.0 * most;
                    }
                    let steps = match method {
                        Method::Chains(..) => inputs.div_ceil(32) as f64 + 32.0,
                        Method::Tiles(_) => 2.0 * inputs.div_ceil(16) as f64 + 32.0,
                    };
                    let allowed = steps * lost_by_16() * size + 2.0f64.powi(-22) * (size + 2.0);
                    let found = f64::from(found[row * outputs + output]);
                    assert!((found - expected).abs() <= allowed, "{what}, {row}, {output}: {found} for {expected}");
                }
            }

            // Alone or in any company, wherever in a tile: rows that are no numbers beside it, too.
            let Some(gpu) = emulator::gpu(2) else { return };
            let whole = of(&gpu, &all, false);
            for rows in [1, 7, 8, 9, 23, 49] {
                assert_eq!(
                    bits(&of(&gpu, &all[..rows * inputs], false)),
                    bits(&whole[..rows * outputs]),
                    "{what}, {rows}"
                );
            }
            for before in [1, 6] {
                let company =
                    [vec![f32::NAN; before * inputs], all[..12 * inputs].to_vec(), vec![f32::INFINITY; inputs]];
                let found = of(&gpu, &company.concat(), false);
                let own = &found[before * outputs..(before + 12) * outputs];
                assert_eq!(bits(own), bits(&whole[..12 * outputs]), "{what}, behind {before}");
            }
        }
    }
}

/// Slices are those of the matrix, cover it and are no more than wanted.
#[test]
fn where_products_are_cut_does_not_depend_on_rows() {
    for outputs in [1, 128, 129, 896, 4096, 28_672, 128_256] {
        for step in [32, 64, 128] {
            for chunks in (1..40).chain([128, 448]) {
                let (slice, slices) = slices((outputs, chunks * step), step, 8);
                assert!(slice * slices >= chunks && [1, 2, 4, 8].contains(&slices), "{outputs}, {chunks} of {step}");
                assert!(slices == 1 || slice * step >= 64, "{outputs}, {chunks} of {step}");
            }
        }
    }
    assert_eq!(
        [(4096, 4096), (6144, 4096), (28_672, 4096), (4096, 14_336)].map(|(n, k)| slices((n, k), 32, 8).1),
        [8, 8, 1, 8]
    );
    for (_, method) in STORAGES.iter() {
        if let Method::Tiles(tiled) = method {
            // Shared memory of a block on every supported GPU, in bytes.
            let limit = 101_376;
            assert!(tiled.least_memory() <= limit && tiled.most_tiles(limit) >= 2, "{}", tiled.least_memory());
        }
    }
}

/// Query, key and value of a file may be stored in different ways.
#[test]
fn pieces_of_different_storage_write_beside_each_other() {
    let Some(gpu) = emulator::gpu(1) else { return };
    let inputs = 256;
    let kinds = [(Storage::Stored(TensorType::Q4K), 40), (Storage::Stored(TensorType::Q6K), 9), (Storage::F16, 3)];
    let (x, bias) = (numbers(4, 10 * inputs), numbers(5, 52));
    let mut pieces = Vec::new();
    let mut expected = vec![0.0; 10 * 52];
    let mut first = 0;
    for (storage, outputs) in kinds {
        let mut alone = sent(&gpu, &values(storage, outputs, inputs), (outputs, inputs), storage);
        let found = product(&gpu, &alone, (&x, Some(&bias[first..first + outputs])), false);
        for (to, from) in expected.chunks_mut(52).zip(found.chunks(outputs)) {
            to[first..first + outputs].copy_from_slice(from);
        }
        pieces.append(&mut alone.pieces);
        first += outputs;
    }
    let matrix = Matrix { pieces, outputs: 52, inputs };
    assert_eq!(bits(&product(&gpu, &matrix, (&x, Some(&bias)), false)), bits(&expected));
}
