//! Weights in the order in which the kernels read them.

use half::{bf16, f16};

use super::gemm::Kernels;
use super::memory::{Memory, Zeroed};
use super::pool::{Parts, Pool};
use super::quantized::{self, Quantized};
use crate::backend::plain::Plain;
use crate::backend::storage::{Bits, Storage};
use crate::model::blocks::widen;
use crate::model::{Tensor, TensorType};

/// Columns (outputs) of a panel.
pub const NR: usize = 16;

/// One input's weights for the 16 outputs of a panel. All bytes zero are all weights zero.
pub trait Block: Plain {
    /// The type of files in which weights are stored with the same bits.
    const STORED: TensorType;

    /// The weight of output `c`, exactly.
    fn get(&self, c: usize) -> f32;
    /// Of the weights of all outputs, rounded to nearest even.
    fn of(weights: [f32; NR]) -> Self;

    /// Blocks of weights of that type, `[inputs]` of each output.
    fn move_stored(rows: [&[u8]; NR], to: &mut [Self]);
}

/// A block of f32.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct F32x16(pub [f32; NR]);

/// A block of bf16. Outputs `c` and `c + 8` stand side by side, so that one 32-bit lane holds both: a shift
/// widens the first, a mask the second.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Bf16x16(pub [u16; NR]);

// SAFETY: plain floats.
unsafe impl Plain for F32x16 {}

impl Block for F32x16 {
    const STORED: TensorType = TensorType::F32;

    #[inline]
    fn get(&self, c: usize) -> f32 {
        self.0[c]
    }

    fn of(weights: [f32; NR]) -> Self {
        Self(weights)
    }

    fn move_stored(rows: [&[u8]; NR], to: &mut [Self]) {
        gather(rows, to, |weights| Self(weights.map(f32::from_le_bytes)));
    }
}

/// Place of output `c` in a [`Bf16x16`].
const fn bf16_place(c: usize) -> usize {
    if c < NR / 2 { 2 * c } else { 2 * (c - NR / 2) + 1 }
}

impl Bf16x16 {
    /// Of the bits of all outputs, in their order.
    fn placed(bits: [u16; NR]) -> Self {
        let mut block = Self([0; NR]);
        for (c, bits) in bits.into_iter().enumerate() {
            block.0[bf16_place(c)] = bits;
        }
        block
    }
}

// SAFETY: plain integers.
unsafe impl Plain for Bf16x16 {}

impl Block for Bf16x16 {
    const STORED: TensorType = TensorType::Bf16;

    #[inline]
    fn get(&self, c: usize) -> f32 {
        f32::from_bits(u32::from(self.0[bf16_place(c)]) << 16)
    }

    fn of(weights: [f32; NR]) -> Self {
        Self::placed(weights.map(|weight| bf16::from_f32(weight).to_bits()))
    }

    fn move_stored(rows: [&[u8]; NR], to: &mut [Self]) {
        gather(rows, to, |weights| Self::placed(weights.map(u16::from_le_bytes)));
    }
}

/// A block of f16.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct F16x16(pub [u16; NR]);

// SAFETY: plain integers.
unsafe impl Plain for F16x16 {}

impl Block for F16x16 {
    const STORED: TensorType = TensorType::F16;

    #[inline]
    fn get(&self, c: usize) -> f32 {
        f16::from_bits(self.0[c]).to_f32()
    }

    fn of(weights: [f32; NR]) -> Self {
        Self(weights.map(|weight| f16::from_f32(weight).to_bits()))
    }

    fn move_stored(rows: [&[u8]; NR], to: &mut [Self]) {
        gather(rows, to, |weights| Self(weights.map(u16::from_le_bytes)));
    }
}

/// Puts element after element of 16 rows together.
fn gather<const SIZE: usize, B>(rows: [&[u8]; NR], to: &mut [B], block: impl Fn([[u8; SIZE]; NR]) -> B) {
    let rows = rows.map(|row| &row.as_chunks::<SIZE>().0[..to.len()]);
    for (k, to) in to.iter_mut().enumerate() {
        *to = block(std::array::from_fn(|c| rows[c][k]));
    }
}

/// A matrix `[outputs, inputs]` as column panels of 16 outputs; missing outputs are zero.
pub struct Packed {
    /// Rows.
    pub outputs: usize,
    /// Weights of a row.
    pub inputs: usize,
    /// The weights.
    pub panels: Panels,
}

/// The panels of a matrix: `[ceil(outputs / 16)][inputs]` of blocks, or whole numbers with scales.
pub enum Panels {
    /// 32-bit floats.
    F32(Memory<F32x16>),
    /// bfloat16.
    Bf16(Memory<Bf16x16>),
    /// IEEE half precision.
    F16(Memory<F16x16>),
    /// Whole numbers.
    Quantized(Quantized),
    /// Matrices of different storage, one below the other.
    Stacked(Vec<Packed>),
}

impl Packed {
    /// Packs matrices `[outputs_i, inputs]`, one below the other. `Err` is the number of bytes for which
    /// there is no memory.
    pub fn new(
        pool: &Pool,
        kernels: &Kernels,
        parts: &[(Tensor<'_>, usize)],
        inputs: usize,
        storage: Storage,
    ) -> Result<Self, usize> {
        let quantised = |bits| quantized::quantise(pool, kernels.quantized, parts, inputs, bits);
        let panels = match storage {
            Storage::F32 => Panels::F32(pack(pool, parts, inputs)?),
            Storage::Bf16 => Panels::Bf16(pack(pool, parts, inputs)?),
            Storage::F16 => Panels::F16(pack(pool, parts, inputs)?),
            Storage::Int8 => Panels::Quantized(quantised(Bits::Eight)?),
            Storage::Int4 => Panels::Quantized(quantised(Bits::Four)?),
            Storage::Stored(dtype) => match dtype.format() {
                Some(format) => {
                    Panels::Quantized(quantized::repack(pool, kernels.quantized, parts, inputs, (dtype, format))?)
                }
                None => return Self::new(pool, kernels, parts, inputs, Storage::of(dtype)),
            },
        };
        Ok(Self { outputs: parts.iter().map(|part| part.1).sum(), inputs, panels })
    }

    /// Bytes of the panels.
    pub fn bytes(&self) -> usize {
        match &self.panels {
            Panels::F32(panels) => size_of_val(&panels[..]),
            Panels::Bf16(panels) => size_of_val(&panels[..]),
            Panels::F16(panels) => size_of_val(&panels[..]),
            Panels::Quantized(quantised) => quantised.bytes(),
            Panels::Stacked(parts) => parts.iter().map(Self::bytes).sum(),
        }
    }

    /// The matrix as whole numbers, if it is such.
    pub fn quantised(&self) -> Option<&Quantized> {
        if let Panels::Quantized(quantised) = &self.panels { Some(quantised) } else { None }
    }

    /// Writes the weights of one output, `[inputs]`, as they are multiplied with: the embedding of a token.
    pub fn output(&self, output: usize, to: &mut [f32]) {
        fn copy<B: Block>(panel: &[B], c: usize, to: &mut [f32]) {
            for (to, block) in to.iter_mut().zip(panel) {
                *to = block.get(c);
            }
        }
        let panel = output / NR * self.inputs..(output / NR + 1) * self.inputs;
        match &self.panels {
            Panels::F32(panels) => copy(&panels[panel], output % NR, to),
            Panels::Bf16(panels) => copy(&panels[panel], output % NR, to),
            Panels::F16(panels) => copy(&panels[panel], output % NR, to),
            Panels::Quantized(quantised) => quantised.output(output, to),
            Panels::Stacked(parts) => {
                let mut output = output;
                for part in parts {
                    if output < part.outputs {
                        return part.output(output, to);
                    }
                    output -= part.outputs;
                }
            }
        }
    }
}

fn pack<B: Block>(pool: &Pool, parts: &[(Tensor<'_>, usize)], inputs: usize) -> Result<Memory<B>, usize> {
    let outputs: usize = parts.iter().map(|part| part.1).sum();
    let panels = outputs.div_ceil(NR);
    let mut blocks = Zeroed::<B>::weights(panels * inputs)?;
    let memory = Parts::new(&mut blocks);
    let none = vec![0; inputs * size_of::<f32>()];
    pool.run(panels, &|panel, _| {
        // SAFETY: every panel is written by one unit only.
        let blocks = unsafe { memory.part(panel * inputs, inputs) };
        let rows: [_; NR] = std::array::from_fn(|c| row(parts, inputs, panel * NR + c));
        if rows.iter().flatten().all(|(dtype, _)| *dtype == B::STORED) {
            B::move_stored(rows.map(|row| row.map_or(&none[..], |(_, bytes)| bytes)), blocks);
            return;
        }
        let mut decoded = vec![0.0; NR * inputs];
        for (row, decoded) in rows.into_iter().zip(decoded.chunks_exact_mut(inputs)) {
            if let Some((dtype, bytes)) = row {
                widen(dtype, bytes, decoded);
            }
        }
        for (k, block) in blocks.iter_mut().enumerate() {
            *block = B::of(std::array::from_fn(|c| decoded[c * inputs + k]));
        }
    });
    Ok(blocks.into())
}

/// Row `output` of matrices that stand one below the other.
pub fn row<'a>(parts: &'a [(Tensor<'_>, usize)], inputs: usize, output: usize) -> Option<(TensorType, &'a [u8])> {
    let mut before = 0;
    for (tensor, rows) in parts {
        if output < before + rows {
            let len = tensor.dtype.bytes(inputs)?;
            let at = (output - before) * len;
            return tensor.bytes.get(at..at + len).map(|bytes| (tensor.dtype, bytes));
        }
        before += rows;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_weight_across_fused_parts_of_odd_sizes() {
        let pool = Pool::new(2);
        let inputs = 5;
        let values = |from: usize, rows: usize| -> Vec<u8> {
            (from..from + rows * inputs).flat_map(|i| bf16::from_f32(i as f32).to_le_bytes()).collect()
        };
        let (a, b) = (values(0, 3), values(3 * inputs, 20));
        let tensor = |bytes: &Vec<u8>| Tensor { dtype: TensorType::Bf16, bytes: bytes.clone().into() };
        for storage in [Storage::F32, Storage::Bf16, Storage::F16] {
            let parts = [(tensor(&a), 3), (tensor(&b), 20)];
            let packed = Packed::new(&pool, &Kernels::best(), &parts, inputs, storage).expect("memory");
            let mut row = [0.0; 5];
            for output in 0..23 {
                packed.output(output, &mut row);
                assert_eq!(row.map(|weight| weight as usize), std::array::from_fn(|k| output * inputs + k));
            }
        }
    }
}
