//! Products with weights in every storage.

use std::sync::Arc;

use half::{bf16, f16};

use super::super::gpu::{Buffer, Gpu};
use super::super::matrix::{Matrix, Piece, STORAGES};
use super::super::products::linear;
use super::super::queue::{Again, Queue};
use super::{assert_close, bits, emulator, in_any_order, numbers, receive, send};
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

/// What the CPU says that the weights are, as a tensor of floats.
fn decoded(tensor: &Tensor<'_>, (outputs, inputs): (usize, usize), storage: Storage) -> Tensor<'static> {
    let parts = [(tensor.clone(), outputs)];
    let packed = Packed::new(&Pool::new(1), &Kernels::portable(), &parts, inputs, storage).expect("memory");
    let mut row = vec![0.0; inputs];
    let mut bytes = Vec::new();
    for output in 0..outputs {
        packed.output(output, &mut row);
        bytes.extend(row.iter().flat_map(|weight| weight.to_le_bytes()));
    }
    Tensor { dtype: TensorType::F32, bytes: bytes.into() }
}

/// A whole number of blocks where files have nothing else.
fn shapes(storage: Storage) -> &'static [(usize, usize)] {
    match storage {
        Storage::Stored(dtype) if dtype.block().0 == 256 => &[(256, 1), (512, 35)],
        Storage::Stored(_) => &[(32, 1), (288, 33)],
        _ => &[(1, 1), (7, 33), (300, 5), (296, 4)],
    }
}

#[test]
fn products_of_every_storage_are_those_of_the_weights_that_the_cpu_decodes() {
    for (storage, _) in &STORAGES {
        let storage = *storage;
        for &(inputs, outputs) in shapes(storage) {
            let what = format!("{} [{outputs}, {inputs}]", storage.name());
            let shape = (outputs, inputs);
            let tensor = values(storage, outputs, inputs);
            let floats = decoded(&tensor, shape, storage);
            let bias = numbers(2, outputs);
            let all = numbers(3, 80 * inputs);
            let run = |gpu: &Arc<Gpu>, rows: usize, add: bool| {
                product(gpu, &sent(gpu, &tensor, shape, storage), (&all[..rows * inputs], Some(&bias)), add)
            };
            let Some(found) = in_any_order(|gpu| run(gpu, 9, true)) else { return };
            let Some(gpu) = emulator::gpu(2) else { return };
            let twin = sent(&gpu, &floats, shape, Storage::F32);
            assert_eq!(bits(&found), bits(&product(&gpu, &twin, (&all[..9 * inputs], Some(&bias)), true)), "{what}");

            let weights: Vec<f32> = crate::model::blocks::elements(TensorType::F32, &floats.bytes).collect();
            let sum = |row: usize, output: usize| {
                let x = all[row * inputs..(row + 1) * inputs].iter();
                let terms = x.zip(&weights[output * inputs..]).map(|(x, w)| f64::from(*x) * f64::from(*w));
                terms.sum::<f64>() + f64::from(bias[output])
            };
            let expected: Vec<f64> = (0..9 * outputs).map(|i| 1.0 + sum(i / outputs, i % outputs)).collect();
            assert_close(&what, &found, &expected, 1e-4);

            let whole = run(&gpu, 80, false);
            for rows in [1, 7, 8, 9, 23] {
                assert_eq!(bits(&run(&gpu, rows, false)), bits(&whole[..rows * outputs]), "{what}, {rows} rows");
            }
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
