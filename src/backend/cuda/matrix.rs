//! Matrices of weights in the memory of a GPU, laid out as `kernels/weights.cuh` says.

use std::sync::{Arc, LazyLock};

use half::{bf16, f16};

use super::gpu::{Buffer, Gpu};
use super::kernels::{self, Kernel};
use super::load::unsupported;
use super::panels::{Layout, PANEL, Panel, SECTIONS};
use super::tiled::Tiled;
use crate::backend::BackendError;
use crate::backend::storage::{BLOCK, Storage, quantise_block};
use crate::model::Tensor;
use crate::model::blocks::{Group, widen};

/// Method of products with weights.
pub enum Method {
    /// Fused multiply-adds, which f32 needs, since tensor cores would round it. The first kernel takes one
    /// matrix, the second those of experts.
    Chains(Kernel<kernels::Gemm>, Kernel<kernels::ExpertGemm>),
    /// Tensor cores, which every GPU has that is supported.
    Tiles(Tiled),
}

/// Storages and how each is multiplied, at their numbers for kernels.
pub static STORAGES: LazyLock<Vec<(Storage, Method)>> = LazyLock::new(|| {
    let method = |storage| match kernels::tiles(storage) {
        Some(kernels) => Method::Tiles(Tiled::new(storage, kernels)),
        None => Method::Chains(kernels::GEMM_F32, kernels::GEMM_EXPERTS_F32),
    };
    kernels::storages().map(|storage| (storage, method(storage))).collect()
});

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
    /// Storage: a number of [`STORAGES`].
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
        let same = |known: Storage| known == storage || known.format().is_some_and(|f| storage.format() == Some(f));
        let number = STORAGES.iter().position(|(known, _)| same(*known));
        let number = number.ok_or_else(|| unsupported(format!("{} weights", storage.name())))?;
        let outputs = parts.iter().map(|(_, rows)| rows).sum::<usize>();
        let layout = (storage != Storage::F32).then(|| Layout::of(storage.format()));
        let stride = layout.map_or(inputs.next_multiple_of(STEP), |layout| layout.stride(inputs));
        let sizes = layout.map_or([stride * size_of::<f32>() * outputs, 0, 0, 0], |layout| {
            layout.panel(stride).map(|bytes| bytes * outputs.div_ceil(PANEL))
        });
        let ends = sizes.iter().scan(0, |end, size| {
            *end += size.next_multiple_of(ALIGNED);
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let memory = gpu.alloc(ends[SECTIONS - 1]).map_err(|error| match error {
            BackendError::Memory { bytes } => BackendError::WeightMemory { bytes },
            other => other,
        })?;
        let sections = [ends[0], ends[1], ends[2]];
        let mut piece = Self { memory, storage: number, outputs, inputs, stride, sections };
        match layout {
            None => piece.fill_floats(parts)?,
            Some(layout) => piece.fill_panels(parts, storage, layout)?,
        }
        Ok(piece)
    }

    fn fill_floats(&mut self, parts: &[(Tensor<'_>, usize)]) -> Result<(), BackendError> {
        let mut section = Section { at: 0, staged: Vec::new() };
        let mut row = vec![0.0; self.stride];
        for (tensor, rows) in parts {
            for stored in tensor.bytes.chunks_exact(tensor.bytes.len() / rows) {
                widen(tensor.dtype, stored, &mut row[..self.inputs]);
                section.staged.extend(row.iter().flat_map(|weight| weight.to_le_bytes()));
                section.send_if(&mut self.memory, PART)?;
            }
        }
        section.send_if(&mut self.memory, 0)
    }

    fn fill_panels(
        &mut self,
        parts: &[(Tensor<'_>, usize)],
        storage: Storage,
        layout: Layout,
    ) -> Result<(), BackendError> {
        let [upper, scales, units] = self.sections;
        let mut sections = [0, upper, scales, units].map(|at| Section { at, staged: Vec::new() });
        let mut panel = Panel::new(layout, self.stride);
        let mut row = vec![0.0; self.inputs.next_multiple_of(BLOCK)];
        let rows = parts.iter().flat_map(|(tensor, rows)| {
            tensor.bytes.chunks_exact(tensor.bytes.len() / rows).map(|stored| (tensor.dtype, stored))
        });
        for (number, (dtype, stored)) in rows.enumerate() {
            let of_panel = number % PANEL;
            match (storage.format(), storage) {
                (_, Storage::Stored(dtype)) => {
                    let mut block = 0;
                    dtype.groups(stored, |group: Group| {
                        panel.put_group(of_panel, block, &group);
                        block += 1;
                    });
                }
                (Some(format), _) => {
                    widen(dtype, stored, &mut row[..self.inputs]);
                    for (block, weights) in row.as_chunks::<BLOCK>().0.iter().enumerate() {
                        let (scale, codes) = quantise_block(format.bits, weights);
                        panel.put_codes(of_panel, block, &codes);
                        panel.put_scale(of_panel, block, scale);
                    }
                }
                (None, _) if Storage::of(dtype) == storage => panel.put_halves(of_panel, stored),
                (None, _) => {
                    widen(dtype, stored, &mut row[..self.inputs]);
                    let halves = row[..self.inputs].iter().flat_map(|&weight| half_of(storage, weight).to_le_bytes());
                    panel.put_halves(of_panel, &halves.collect::<Vec<u8>>());
                }
            }
            if of_panel + 1 == PANEL || number + 1 == self.outputs {
                for (section, bytes) in sections.iter_mut().zip(&panel.sections) {
                    section.staged.extend(bytes);
                    section.send_if(&mut self.memory, PART)?;
                }
                panel.clear();
            }
        }
        sections.iter_mut().try_for_each(|section| section.send_if(&mut self.memory, 0))
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// A larger piece: these panels over and over, up to so many rows.
    #[cfg(test)]
    pub fn repeated(&self, gpu: &Arc<Gpu>, outputs: usize) -> Result<Self, BackendError> {
        let sizes = Layout::of(STORAGES[self.storage].0.format()).panel(self.stride);
        let (few, many) = (self.outputs / PANEL, outputs.div_ceil(PANEL));
        let mut end = 0;
        let begins = sizes.map(|bytes| {
            end += (bytes * many).next_multiple_of(ALIGNED);
            end - (bytes * many).next_multiple_of(ALIGNED)
        });
        let memory = gpu.alloc(end)?;
        let sources = [0, self.sections[0], self.sections[1], self.sections[2]];
        for ((bytes, begin), source) in sizes.into_iter().zip(begins).zip(sources) {
            for panel in (0..many).step_by(few) {
                let (to, count) = (memory.at() + (begin + panel * bytes) as u64, few.min(many - panel));
                gpu.copy(self.memory.at() + source as u64, to, count * bytes)?;
            }
        }
        let [_, upper, scales, units] = begins;
        Ok(Self { memory, outputs, sections: [upper, scales, units], ..*self })
    }

    /// Description for kernels; `bias` is the address of the bias of its first row, or 0.
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

    /// Storage: a number of [`STORAGES`].
    pub fn storage(&self) -> usize {
        self.storage
    }

    /// Method of products with it.
    pub fn method(&self) -> &'static Method {
        &STORAGES[self.storage].1
    }

    /// Weights of a row, and with what is added.
    pub fn row(&self) -> (usize, usize) {
        (self.inputs, self.stride)
    }
}

/// Weights of f32 that a lane takes at once: `EIGHT` of `kernels/weights.cuh`.
const STEP: usize = 8;

/// A part of a matrix on its way.
struct Section {
    at: usize,
    staged: Vec<u8>,
}

impl Section {
    /// Sends what is staged if it is so much.
    fn send_if(&mut self, to: &mut Buffer, least: usize) -> Result<(), BackendError> {
        if self.staged.len() < least {
            return Ok(());
        }
        to.write(self.at, &self.staged)?;
        self.at += self.staged.len();
        self.staged.clear();
        Ok(())
    }
}

fn half_of(storage: Storage, weight: f32) -> u16 {
    if storage == Storage::F16 { f16::from_f32(weight).to_bits() } else { bf16::from_f32(weight).to_bits() }
}
