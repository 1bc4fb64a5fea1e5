//! Weights as whole numbers of 8 or 4 bits with a scale for every output and block of 32 inputs, in the order
//! in which the kernels read them.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use super::Kernels;
use super::factors::{self, OfHalves};
use crate::backend::cpu::memory::{Memory, Zeroed};
use crate::backend::cpu::pack::{self, NR};
use crate::backend::cpu::pool::{Parts, Pool};
use crate::backend::plain::Plain;
use crate::backend::storage::{BLOCK, Bits, Format, Kind, UNIT, quantise_block};
use crate::model::{Tensor, blocks};

impl Bits {
    /// Cache lines of a block of a panel.
    pub const fn lines(self) -> usize {
        match self {
            Self::Eight => 8,
            Self::Six => 6,
            Self::Five => 5,
            Self::Four | Self::Uneven | Self::Float | Self::GridThreeXxs | Self::GridThree | Self::Grid => 4,
            Self::Three => 3,
            Self::Two => 2,
        }
    }

    /// Where codes of 5 and 6 bits have what is above the low four: of steps `2 * pair` and `2 * pair + 1` it
    /// stands in this line of the block, from bit `4 + shift` and from bit `shift` on.
    pub const fn upper(self, pair: usize) -> (usize, usize) {
        match self {
            Self::Six => (4 + pair / 2, 2 * (pair % 2)),
            _ => (4, pair),
        }
    }
}

/// The table of the codes with this number.
#[cfg(target_arch = "x86_64")]
pub const fn table(bits: usize) -> [i8; 16] {
    const TABLES: [Bits; 5] = [Bits::Uneven, Bits::Float, Bits::GridThreeXxs, Bits::GridThree, Bits::Grid];
    let mut i = 0;
    while i < TABLES.len() {
        if TABLES[i] as usize == bits
            && let Some(table) = TABLES[i].table()
        {
            return *table;
        }
        i += 1;
    }
    panic!("codes without a table")
}

/// Codes of a panel, `[16 outputs][4 inputs]`: one step of 4 inputs in int8; in int4 step `2 * s` in the low
/// and `2 * s + 1` in the high halves, and so the low four bits of wider codes ([`Bits::upper`]). Of codes of
/// 2 and 3 bits step `4 * s + i` is in bits `2 * i` and `2 * i + 1` of line `s`, and what is above that of
/// step `s` in bit `s` of line 2.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line(pub [u8; 64]);

/// Scales of the 16 outputs of a panel for one block, in bf16: the range of f32 in half the bytes, and one
/// shift widens them.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Scales(pub [u16; NR]);

impl Scales {
    /// As 32 bytes, two for each output: `c` and `c + 16`.
    pub fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, pair) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *bytes = pair.to_ne_bytes();
        }
        bytes
    }

    /// Sets the byte `at`.
    pub fn set_byte(&mut self, at: usize, byte: u8) {
        let mut pair = self.0[at / 2].to_ne_bytes();
        pair[at % 2] = byte;
        self.0[at / 2] = u16::from_ne_bytes(pair);
    }

    /// The scale of output `c` in bf16.
    pub fn get(&self, c: usize) -> f32 {
        f32::from_bits(u32::from(self.0[c]) << 16)
    }
}

// SAFETY: plain integers.
unsafe impl Plain for Line {}
// SAFETY: as above.
unsafe impl Plain for Scales {}

/// A matrix `[outputs, inputs]` as panels `[ceil(outputs / 16)][ceil(inputs / 32)]` of blocks; missing
/// outputs have the scale zero, missing inputs are zero.
pub struct Quantized {
    pub outputs: usize,
    pub inputs: usize,
    pub format: Format,
    /// `[panel][block]`, of each its lines.
    codes: Memory<Line>,
    /// `[panel][block]`, of some formats two.
    scales: Memory<Scales>,
    /// `[panel][ceil(block / 8)]` of formats that have them, of each as many as the format has.
    units: Memory<Scales>,
}

impl Quantized {
    /// Puts a matrix together; codes, scales and units have to be as many as its sizes say.
    pub fn new(
        (outputs, inputs): (usize, usize),
        format: Format,
        codes: Memory<Line>,
        scales: Memory<Scales>,
        units: Memory<Scales>,
    ) -> Self {
        Self { outputs, inputs, format, codes, scales, units }.checked()
    }

    fn checked(self) -> Self {
        let (panels, kind) = (self.outputs.div_ceil(NR), self.format.kind);
        let blocks = panels * self.blocks();
        let sizes = [self.codes.len(), self.scales.len(), self.units.len()];
        let expected = [blocks * self.format.bits.lines(), blocks * kind.scales(), panels * self.units_of_panel()];
        assert!(sizes == expected, "sizes of a quantised matrix");
        self
    }

    /// Units of a panel.
    pub fn units_of_panel(&self) -> usize {
        self.blocks().div_ceil(UNIT) * self.format.kind.units()
    }

    pub fn codes(&self) -> &[Line] {
        &self.codes
    }

    pub fn scales(&self) -> &[Scales] {
        &self.scales
    }

    /// Blocks of a panel.
    pub fn blocks(&self) -> usize {
        self.inputs.div_ceil(BLOCK)
    }

    /// Bytes of codes and scales.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.codes[..]) + size_of_val(&self.scales[..]) + size_of_val(&self.units[..])
    }

    /// Codes, scales and units of `count` panels.
    pub fn panels(&self, first: usize, count: usize) -> (&[Line], &[Scales], &[Scales]) {
        let (from, to) = (first * self.blocks(), (first + count) * self.blocks());
        let (lines, scales, units) = (self.format.bits.lines(), self.format.kind.scales(), self.units_of_panel());
        (
            &self.codes[from * lines..to * lines],
            &self.scales[from * scales..to * scales],
            &self.units[first * units..(first + count) * units],
        )
    }

    /// Writes the weights of one output, `[inputs]`, as `scale * code - min`.
    pub fn output(&self, output: usize, to: &mut [f32]) {
        let (codes, scales, units) = self.panels(output / NR, 1);
        let (c, kind) = (output % NR, self.format.kind);
        for (block, (to, lines)) in to.chunks_mut(BLOCK).zip(codes.chunks_exact(self.format.bits.lines())).enumerate() {
            let (scales, units) = (&scales[block * kind.scales()..], &units[block / UNIT * kind.units()..]);
            let factors = self.format.factors(scales, (units, block % UNIT), c);
            for (i, to) in to.iter_mut().enumerate() {
                *to = factors.scales[i / (BLOCK / 2)] * code(self.format, lines, c, i) as f32;
                if kind.has_min() {
                    *to -= factors.mins[i / (BLOCK / 2)];
                }
            }
        }
    }
}

impl Format {
    /// Scales and minima of output `c` in the halves of a block, of its units the one with this number.
    pub fn factors(self, scales: &[Scales], (units, number): (&[Scales], usize), c: usize) -> OfHalves<f32> {
        let enough = scales.len() >= self.kind.scales() && units.len() >= self.kind.units();
        assert!(enough && number < UNIT && c < NR, "scales of a block");
        // SAFETY: as many as the kind has (checked above).
        unsafe { factors::load(self.kind, scales.as_ptr(), (units.as_ptr(), number), c) }
    }
}

/// The whole number for input `i` of output `c` of a block.
pub fn code(format: Format, lines: &[Line], c: usize, i: usize) -> i32 {
    let (step, byte) = (i / 4, c * 4 + i % 4);
    let of_line = |line: usize| lines[line].0[byte];
    let low = || of_line(step / 2) >> (4 * (step % 2)) & 15;
    let upper = |mask: u8| {
        let (line, shift) = format.bits.upper(step / 2);
        (of_line(line) >> (shift + 4 * (1 - step % 2)) & mask) << 4
    };
    let two = || of_line(step / 4) >> (2 * (step % 4)) & 3;
    let stored = match format.bits {
        Bits::Eight => of_line(step),
        Bits::Six => low() | upper(3),
        Bits::Five => low() | upper(1),
        Bits::Four => low(),
        Bits::Three => two() | (of_line(2) >> step & 1) << 2,
        Bits::Two => two(),
        Bits::Uneven | Bits::Float | Bits::GridThreeXxs | Bits::GridThree | Bits::Grid => {
            return i32::from(format.whole(low() as i8));
        }
    };
    i32::from(stored) - format.offset()
}

/// Quantises matrices `[outputs_i, inputs]`, one below the other. `Err` is the number of bytes for which
/// there is no memory.
pub fn quantise(
    pool: &Pool,
    kernels: Kernels,
    parts: &[(Tensor<'_>, usize)],
    inputs: usize,
    bits: Bits,
) -> Result<Quantized, usize> {
    let outputs: usize = parts.iter().map(|part| part.1).sum();
    let (panels, count, lines) = (outputs.div_ceil(NR), inputs.div_ceil(BLOCK), bits.lines());
    let mut codes = Zeroed::<Line>::weights(panels * count * lines)?;
    let mut scales = Zeroed::<Scales>::weights(panels * count)?;
    let (all_codes, all_scales) = (Parts::new(&mut codes), Parts::new(&mut scales));
    pool.run(panels, &|panel, _| {
        // SAFETY: every panel is written by one unit only.
        let (codes, scales) =
            unsafe { (all_codes.part(panel * count * lines, count * lines), all_scales.part(panel * count, count)) };
        let mut weights = vec![0.0; count * BLOCK];
        for c in 0..NR {
            let Some((dtype, row)) = pack::row(parts, inputs, panel * NR + c) else { break };
            blocks::widen(dtype, row, &mut weights);
            // SAFETY: the processor was checked when the set was chosen.
            unsafe { (kernels.weights)(bits, &weights, codes, scales, c) };
        }
    });
    let format = Format { bits, kind: Kind::Bf16 };
    Ok(Quantized::new((outputs, inputs), format, codes.into(), scales.into(), Memory::none()))
}

/// Quantises the weights of output `c` of a panel, `[blocks * 32]`.
#[inline(always)]
pub fn quantise_output(bits: Bits, weights: &[f32], codes: &mut [Line], scales: &mut [Scales], c: usize) {
    let (weights, _) = weights.as_chunks::<BLOCK>();
    for ((weights, lines), scales) in weights.iter().zip(codes.chunks_exact_mut(bits.lines())).zip(scales) {
        let (scale, stored) = quantise_block(bits, weights);
        scales.0[c] = scale;
        put(bits, &stored, lines, c);
    }
}

/// Writes the stored codes of output `c` into the lines of a block, which were zero.
#[inline(always)]
pub fn put(bits: Bits, stored: &[u8; BLOCK], lines: &mut [Line], c: usize) {
    match bits {
        Bits::Eight => {
            for (line, stored) in lines.iter_mut().zip(stored.as_chunks::<4>().0) {
                line.0[c * 4..c * 4 + 4].copy_from_slice(stored);
            }
        }
        Bits::Three | Bits::Two => {
            for (step, stored) in stored.as_chunks::<4>().0.iter().enumerate() {
                for (i, &code) in stored.iter().enumerate() {
                    lines[step / 4].0[c * 4 + i] |= (code & 3) << (2 * (step % 4));
                    if bits == Bits::Three {
                        lines[2].0[c * 4 + i] |= (code >> 2) << step;
                    }
                }
            }
        }
        _ => {
            // Four codes at a time as the bytes of a word: what is shifted stays in its byte.
            let words = stored.as_chunks::<4>().0.as_chunks::<2>().0;
            for (pair, words) in words.iter().enumerate() {
                let words = words.map(u32::from_le_bytes);
                let [low, above] = [0x0f0f_0f0f, 0xf0f0_f0f0].map(|mask| words.map(|word| word & mask));
                lines[pair].0.as_chunks_mut::<4>().0[c] = (low[0] | low[1] << 4).to_le_bytes();
                if matches!(bits, Bits::Five | Bits::Six) {
                    let (line, shift) = bits.upper(pair);
                    let upper = (above[0] | above[1] >> 4) << shift;
                    let to = &mut lines[line].0.as_chunks_mut::<4>().0[c];
                    *to = (u32::from_le_bytes(*to) | upper).to_le_bytes();
                }
            }
        }
    }
}
