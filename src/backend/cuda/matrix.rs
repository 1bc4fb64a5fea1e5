//! Matrices of weights in the memory of a GPU, laid out as `kernels/weights.cuh` says.

use std::sync::Arc;

use half::{bf16, f16};

use super::gpu::{Buffer, Gpu};
use super::kernels::{self, Kernel};
use super::load::unsupported;
use crate::backend::BackendError;
use crate::backend::storage::{BLOCK, Bits, Format, Kind, Storage, UNIT, quantise_block};
use crate::model::blocks::{Group, widen};
use crate::model::{Tensor, TensorType};

/// How weights can be stored, with the kernel that multiplies such: in the order of `STORAGES` in
/// `kernels/weights.cuh`.
pub static STORAGES: [(Storage, Kernel<kernels::Gemm>); 13] = [
    (Storage::F32, kernels::GEMM_F32),
    (Storage::Bf16, kernels::GEMM_BF16),
    (Storage::F16, kernels::GEMM_F16),
    (Storage::Int8, kernels::GEMM_INT8),
    (Storage::Int4, kernels::GEMM_INT4),
    (Storage::Stored(TensorType::Q8_0), kernels::GEMM_Q8_0),
    (Storage::Stored(TensorType::Q4_0), kernels::GEMM_Q4_0),
    (Storage::Stored(TensorType::Q5_0), kernels::GEMM_Q5_0),
    (Storage::Stored(TensorType::Q4_1), kernels::GEMM_Q4_1),
    (Storage::Stored(TensorType::Q5_1), kernels::GEMM_Q5_1),
    (Storage::Stored(TensorType::Q4K), kernels::GEMM_Q4_K),
    (Storage::Stored(TensorType::Q5K), kernels::GEMM_Q5_K),
    (Storage::Stored(TensorType::Q6K), kernels::GEMM_Q6_K),
];

/// A matrix `[outputs, inputs]`: parts one below the other, which may be stored in different ways.
pub struct Matrix {
    /// The parts.
    pub pieces: Vec<Piece>,
    /// Rows of all.
    pub outputs: usize,
    /// Weights of a row.
    pub inputs: usize,
}

impl Matrix {
    /// Its bytes.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Piece::bytes).sum()
    }
}

/// Rows that are stored in the same way.
pub struct Piece {
    /// All that there is of them.
    memory: Buffer,
    /// How they are stored: a number of [`STORAGES`].
    storage: usize,
    /// Rows.
    pub outputs: usize,
    inputs: usize,
    stride: usize,
    /// Where in the memory upper bits, scales and units begin.
    sections: [usize; 3],
}

/// Bytes that are sent to the GPU at once.
const PART: usize = 16 << 20;

/// Where parts of a matrix begin: what a lane takes at once, and more.
const ALIGNED: usize = 256;

impl Piece {
    /// Puts matrices `[outputs_i, inputs]`, one below the other, onto a GPU. A [`Storage::Stored`] has to be
    /// that of each.
    pub fn new(
        gpu: &Arc<Gpu>,
        parts: &[(Tensor<'_>, usize)],
        inputs: usize,
        storage: Storage,
    ) -> Result<Self, BackendError> {
        let number = STORAGES.iter().position(|(known, _)| *known == storage);
        let number = number.ok_or_else(|| unsupported(format!("{} weights", storage.name())))?;
        let outputs = parts.iter().map(|(_, rows)| rows).sum::<usize>();
        let format = format_of(storage);
        let stride = inputs.next_multiple_of(if format.is_some() { BLOCK } else { STEP });
        let sizes = match format {
            None => [stride * if storage == Storage::F32 { 4 } else { 2 }, 0, 0, 0],
            Some(format) => row_bytes(format, stride),
        };
        let ends = sizes.iter().scan(0, |end, size| {
            *end += (size * outputs).next_multiple_of(ALIGNED);
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let memory = gpu.alloc(ends[3]).map_err(|error| match error {
            BackendError::Memory { bytes } => BackendError::WeightMemory { bytes },
            other => other,
        })?;
        let sections = [ends[0], ends[1], ends[2]];
        let mut piece = Self { memory, storage: number, outputs, inputs, stride, sections };
        piece.fill(parts, storage, format)?;
        Ok(piece)
    }

    fn fill(
        &mut self,
        parts: &[(Tensor<'_>, usize)],
        storage: Storage,
        format: Option<Format>,
    ) -> Result<(), BackendError> {
        let [upper, scales, units] = self.sections;
        let mut sections = [0, upper, scales, units].map(|at| Section { at, staged: Vec::new() });
        let mut row = vec![0.0; self.stride];
        for (tensor, rows) in parts {
            for stored in tensor.bytes.chunks_exact(tensor.bytes.len() / rows) {
                match (format, storage) {
                    (Some(format), Storage::Stored(dtype)) => {
                        let mut block = 0;
                        dtype.groups(stored, |group| {
                            put_group(format, block, &group, &mut sections);
                            block += 1;
                        });
                    }
                    (Some(format), _) => {
                        widen(tensor.dtype, stored, &mut row[..self.inputs]);
                        for weights in row.as_chunks::<BLOCK>().0 {
                            let (scale, codes) = quantise_block(format.bits, weights);
                            put_codes(format.bits, &codes, &mut sections);
                            sections[2].staged.extend(scale.to_le_bytes());
                        }
                    }
                    (None, _) => {
                        widen(tensor.dtype, stored, &mut row[..self.inputs]);
                        for &weight in &row {
                            put_float(storage, weight, &mut sections[0].staged);
                        }
                    }
                }
                for section in &mut sections {
                    if section.staged.len() >= PART {
                        section.send(&mut self.memory)?;
                    }
                }
            }
        }
        sections.iter_mut().try_for_each(|section| section.send(&mut self.memory))
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// What kernels are told of it; `bias` is where that of its first row is, or 0.
    pub fn there(&self, bias: kernels::Pointer) -> kernels::Matrix {
        let [upper, scales, units] = self.sections.map(|at| self.memory.at() + at as u64);
        kernels::Matrix {
            codes: self.memory.at(),
            upper,
            scales,
            units,
            bias,
            storage: self.storage as i32,
            outputs: self.outputs as i32,
            inputs: self.inputs as i32,
            stride: self.stride as i32,
        }
    }

    /// How it is stored: a number of [`STORAGES`].
    pub fn storage(&self) -> usize {
        self.storage
    }

    /// What multiplies with it.
    pub fn kernel(&self) -> &'static Kernel<kernels::Gemm> {
        &STORAGES[self.storage].1
    }
}

/// Weights that a lane takes at once: `EIGHT` of `kernels/weights.cuh`.
const STEP: usize = 8;

fn format_of(storage: Storage) -> Option<Format> {
    match storage {
        Storage::Stored(dtype) => Format::of(dtype),
        _ => storage.bits().map(|bits| Format { bits, kind: Kind::Bf16 }),
    }
}

/// Bits of a code, and those that stand apart as its upper ones.
fn widths(bits: Bits) -> (usize, usize) {
    match bits {
        Bits::Eight => (8, 0),
        Bits::Six => (4, 2),
        Bits::Five => (4, 1),
        Bits::Four => (4, 0),
    }
}

/// Bytes of a row's codes, upper bits, scales and units.
fn row_bytes(format: Format, stride: usize) -> [usize; 4] {
    let (low, upper) = widths(format.bits);
    let scales = stride / BLOCK * format.kind.scales() * 2;
    [stride * low / 8, stride * upper / 8, scales, stride / (BLOCK * UNIT) * unit_numbers(format.kind) * 2]
}

/// Numbers of a unit: one f16 where both halves of a block share it.
fn unit_numbers(kind: Kind) -> usize {
    if kind == Kind::Halves { 1 } else { kind.units() }
}

/// A part of a matrix on its way.
struct Section {
    at: usize,
    staged: Vec<u8>,
}

impl Section {
    fn send(&mut self, to: &mut Buffer) -> Result<(), BackendError> {
        to.write(self.at, &self.staged)?;
        self.at += self.staged.len();
        self.staged.clear();
        Ok(())
    }
}

fn put_float(storage: Storage, weight: f32, to: &mut Vec<u8>) {
    match storage {
        Storage::Bf16 => to.extend(bf16::from_f32(weight).to_le_bytes()),
        Storage::F16 => to.extend(f16::from_f32(weight).to_le_bytes()),
        _ => to.extend(weight.to_le_bytes()),
    }
}

/// A stored block, of a row the one with this number.
fn put_group(format: Format, block: usize, group: &Group, sections: &mut [Section; 4]) {
    put_codes(format.bits, &group.codes.map(|code| (i32::from(code) + format.offset()) as u8), sections);
    let stored = group.stored.iter().flat_map(|number| number.to_le_bytes());
    if format.kind.units() == 0 {
        sections[2].staged.extend(stored.take(2 * format.kind.scales()));
        return;
    }
    sections[2].staged.extend(group.small);
    if block.is_multiple_of(UNIT) {
        sections[3].staged.extend(stored.take(2 * unit_numbers(format.kind)));
    }
}

/// Codes of a block with their offset.
fn put_codes(bits: Bits, codes: &[u8; BLOCK], [low, upper, ..]: &mut [Section; 4]) {
    if bits == Bits::Eight {
        return low.staged.extend(codes);
    }
    low.staged.extend(codes.as_chunks::<2>().0.iter().map(|pair| pair[0] & 15 | pair[1] << 4));
    let (_, wide) = widths(bits);
    if wide == 0 {
        return;
    }
    let of_byte = |codes: &[u8]| codes.iter().rev().fold(0, |byte, code| byte << wide | code >> 4);
    upper.staged.extend(codes.chunks_exact(8 / wide).map(of_byte));
}
