//! Measured limits of the GPU, and how near kernels come to them.

use std::sync::Arc;
use std::time::Instant;

use half::bf16;

use super::super::super::gpu::Gpu;
use super::super::super::kernels;
use super::super::super::matrix::{Matrix, Piece};
use super::super::super::products::linear;
use super::super::super::queue::{Again, Queue};
use super::super::{numbers, send};
use super::report::Report;
use super::{Result, Sizes};
use crate::backend::cpu::twins::blocks;
use crate::backend::storage::Storage;
use crate::model::{Tensor, TensorType};

/// The middle of several measurements.
pub fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Seconds of what `ask` asks for, waited for; as a graph unless `eager`.
pub fn seconds(gpu: &Arc<Gpu>, eager: bool, times: usize, ask: impl Fn(&Queue)) -> Result<f64> {
    let queue = Queue::new(gpu, eager);
    let mut found = Vec::new();
    for time in 0..times + 3 {
        queue.begin()?;
        ask(&queue);
        let start = Instant::now();
        queue.start(Again::Likely)?;
        queue.synchronise()?;
        // The first loads kernels, the second is captured, the third is brought to the GPU.
        if time > 2 {
            found.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(median(found))
}

/// A launch that does nothing.
fn nothing(queue: &Queue) {
    let params = kernels::AddScaled { branch: 0, x: 0, len: 0, scale: 0.0, padding: 0 };
    queue.launch(&kernels::ADD_SCALED, [1, 1, 1], 0, params);
}

/// GB/s of reading, which everything is measured by.
pub fn ceilings(gpu: &Arc<Gpu>, sizes: &Sizes, report: &mut Report) -> Result<f64> {
    report.part("ceilings");
    let (bytes, blocks) = (sizes.read_bytes, sizes.read_blocks);
    let block: Vec<u32> = (0..1 << 14).map(|i: u32| i.wrapping_mul(2_654_435_761) ^ i >> 3).collect();
    let [from, to] = [gpu.alloc(bytes)?, gpu.alloc(bytes)?];
    let mut from = from;
    let in_block = size_of_val(&block[..]);
    for at in (0..bytes).step_by(in_block) {
        from.write(at, &block[..in_block.min(bytes - at) / 4])?;
    }
    let out = send(gpu, &vec![0u32; blocks * 256]);
    let params = kernels::ReadMemory { from: from.at(), out: out.at(), count: (bytes / 16) as u64 };
    let read = |queue: &Queue| queue.launch(&kernels::READ_MEMORY, [blocks, 1, 1], 0, params);
    let gb = bytes as f64 / 1e9 / seconds(gpu, false, 9, read)?;
    report.number("reading", gb, "GB/s");
    let mut found = vec![0u32; blocks * 256];
    out.read(0, &mut found)?;
    let words = (0..bytes / 4).map(|word| block[word % block.len()]);
    let whole = words.fold(0, |all, word| all ^ word) == found.iter().fold(0, |all, word| all ^ word);
    report.check("all was read", whole, "something else was read");
    let copy = |queue: &Queue| queue.copy(from.at(), to.at(), bytes);
    report.number("copying, both ways", 2.0 * bytes as f64 / 1e9 / seconds(gpu, false, 9, copy)?, "GB/s");

    let count = sizes.launches;
    let many = |queue: &Queue| (0..count).for_each(|_| nothing(queue));
    let wait = seconds(gpu, true, 9, nothing)?;
    report.number("one launch and a wait", 1e6 * wait, "us");
    report.number("one graph of one launch and a wait", 1e6 * seconds(gpu, false, 9, nothing)?, "us");
    report.number("a launch by itself", 1e6 * seconds(gpu, true, 5, many)? / count as f64, "us");
    report.number("a launch in a graph", 1e6 * seconds(gpu, false, 5, many)? / count as f64, "us");
    Ok(gb)
}

/// A matrix of random weights, the same few rows over and over.
pub fn random(gpu: &Arc<Gpu>, (outputs, inputs): (usize, usize), storage: Storage, seed: u32) -> Result<Matrix> {
    const FEW: usize = 256;
    let few = outputs.min(FEW);
    let tensor = if let Storage::Stored(dtype) = storage {
        // Blocks of any bytes mean something.
        Tensor { dtype, bytes: blocks(seed, dtype, few * inputs).into() }
    } else {
        let scale = (3.0 / inputs as f32).sqrt();
        let weights = numbers(seed, few * inputs);
        let bytes: Vec<u8> = weights.iter().flat_map(|&w| bf16::from_f32(w * scale).to_le_bytes()).collect();
        Tensor { dtype: TensorType::Bf16, bytes: bytes.into() }
    };
    let mut piece = Piece::new(gpu, &[(tensor, few)], inputs, storage)?;
    if outputs > few {
        piece = piece.repeated(gpu, outputs)?;
    }
    Ok(Matrix { pieces: vec![piece], outputs, inputs })
}

/// Products in the shapes of the main model, with weights that are not in a cache.
pub fn products(gpu: &Arc<Gpu>, sizes: &Sizes, gb: f64, report: &mut Report) -> Result<()> {
    report.part("products");
    let begun = Instant::now();
    for &(name, outputs, inputs) in sizes.products {
        for storage in [Storage::Bf16, Storage::Int8, Storage::Int4, Storage::Stored(TensorType::Q4K)] {
            if begun.elapsed().as_secs_f64() > sizes.seconds {
                report.note("left out", "the time was over");
                return Ok(());
            }
            let one = random(gpu, (outputs, inputs), storage, 1)?;
            let copies = sizes.cold_bytes.div_ceil(one.bytes()).clamp(1, 16);
            let mut matrices = vec![one];
            for seed in 2..=copies {
                matrices.push(random(gpu, (outputs, inputs), storage, seed as u32)?);
            }
            for rows in [1, 8, 16, 32, 48, 80] {
                let (x, out) = (send(gpu, &numbers(3, rows * inputs)), gpu.alloc(rows * outputs * 4)?);
                let ask = |queue: &Queue| {
                    for matrix in &matrices {
                        linear(queue, (matrix, None), (x.at(), out.at()), rows, false);
                    }
                };
                let bytes: usize = matrices.iter().map(Matrix::bytes).sum();
                let speed = bytes as f64 / 1e9 / seconds(gpu, false, 5, ask)?;
                let what = format!("{name} [{outputs}, {inputs}] {}, {rows} rows", storage.name());
                report.number(&what[..], speed, "GB/s");
                let what = format!("{what}, of reading");
                if rows <= 48 && matches!(storage, Storage::Bf16 | Storage::Int8) {
                    report.at_least(what, speed / gb, "", 0.8);
                } else {
                    report.number(what, speed / gb, "");
                }
            }
        }
    }
    Ok(())
}
