//! Layout of weights in the memory of a GPU for tensor cores: 8 rows are a panel, as `kernels/weights.cuh`
//! says.

use crate::backend::storage::{BLOCK, Bits, Format, Kind, UNIT};
use crate::model::blocks::Group;

/// Rows of a panel.
pub const PANEL: usize = 8;

/// Bytes of a row's codes in a chunk: 16 for each of four lanes.
const CODES: usize = 64;

/// Kinds of what there is of a matrix: codes, what of them is above the low four bits, scales, units.
pub const SECTIONS: usize = 4;

/// Bytes of the scale of a block, and of the units of [`UNIT`] blocks.
const fn factor_bytes(kind: Kind) -> (usize, usize) {
    match kind {
        // A byte among the scales, behind the units elsewhere.
        Kind::Signed => (1, 2),
        Kind::Exponent => (1, 0),
        _ => (2 * kind.scales(), 2 * kind.units()),
    }
}

/// The order of a storage.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Inputs of a chunk.
    pub step: usize,
    /// Bytes of a row: in a chunk, but units in 256 inputs.
    pub row: [usize; SECTIONS],
    bits: Option<Bits>,
}

impl Layout {
    /// Layout of codes of a format, or of numbers of two bytes.
    pub const fn of(format: Option<Format>) -> Self {
        let Some(Format { bits, kind }) = format else {
            return Self { step: CODES / 2, row: [CODES, 0, 0, 0], bits: None };
        };
        let step = if matches!(bits, Bits::Eight) { CODES } else { 2 * CODES };
        let upper = match bits {
            Bits::Six => step / 4,
            Bits::Five => step / 8,
            _ => 0,
        };
        let (scale, units) = factor_bytes(kind);
        let row = [CODES, upper, step / BLOCK * scale, units];
        Self { step, row, bits: Some(bits) }
    }

    /// Inputs of a row with what is added.
    pub fn stride(&self, inputs: usize) -> usize {
        inputs.next_multiple_of(self.step)
    }

    /// Bytes of a panel, by sections.
    pub fn panel(&self, stride: usize) -> [usize; SECTIONS] {
        let [codes, upper, scales, units] = self.row.map(|row| PANEL * row);
        let chunks = stride / self.step;
        [chunks * codes, chunks * upper, chunks * scales, stride / (BLOCK * UNIT) * units]
    }
}

/// A panel that is put together, all zero at first.
pub struct Panel {
    layout: Layout,
    /// Bytes of each section.
    pub sections: [Vec<u8>; SECTIONS],
}

/// Where input `i` of a block is: which of four lanes has it, and which of this one's eight it is.
fn place(i: usize) -> (usize, usize) {
    (i % 16 / 4, i / 16 * 4 + i % 4)
}

impl Panel {
    /// For rows of so many inputs.
    pub fn new(layout: Layout, stride: usize) -> Self {
        Self { layout, sections: layout.panel(stride).map(|bytes| vec![0; bytes]) }
    }

    /// Back to zeros.
    pub fn clear(&mut self) {
        self.sections.iter_mut().for_each(|section| section.fill(0));
    }

    /// Position in a section of the row's part of the chunk that has block number `block`, in bytes, and the
    /// block's number in that chunk.
    fn at(&self, section: usize, row: usize, block: usize) -> (usize, usize) {
        let blocks = self.layout.step / BLOCK;
        let bytes = self.layout.row[section];
        (block / blocks * PANEL * bytes + row * bytes, block % blocks)
    }

    /// A row of numbers of two bytes.
    pub fn put_halves(&mut self, row: usize, bytes: &[u8]) {
        // Four of them stay together.
        for (four, bytes) in bytes.chunks(8).enumerate() {
            let (at, _) = self.at(0, row, four / (BLOCK / 4));
            let (lane, of_lane) = place(4 * four % BLOCK);
            let at = at + 16 * lane + 2 * of_lane;
            self.sections[0][at..at + bytes.len()].copy_from_slice(bytes);
        }
    }

    fn put(&mut self, section: usize, at: usize, number: u16) {
        self.sections[section][at..at + 2].copy_from_slice(&number.to_le_bytes());
    }

    /// Codes of a block with their offset.
    pub fn put_codes(&mut self, row: usize, block: usize, codes: &[u8; BLOCK]) {
        let ((low, number), (upper, _)) = (self.at(0, row, block), self.at(1, row, block));
        // Bits above the low four: a lane has two bytes of a block, or one.
        let wide = if self.layout.bits == Some(Bits::Six) { 2 } else { 1 };
        for (i, &code) in codes.iter().enumerate() {
            let (lane, of_lane) = place(i);
            if self.layout.bits == Some(Bits::Eight) {
                self.sections[0][low + 16 * lane + 8 * number + of_lane] = code;
                continue;
            }
            let nibble = of_lane / 2 + of_lane % 2 * 4;
            self.sections[0][low + 16 * lane + 4 * number + nibble / 2] |= (code & 15) << (nibble % 2 * 4);
            if self.layout.row[1] > 0 {
                let bit = wide * nibble;
                let at = upper + (4 * lane + number) * wide + bit / 8;
                self.sections[1][at] |= (code >> 4) << (bit % 8);
            }
        }
    }

    /// The scale of a block in a storage that is made at load.
    pub fn put_scale(&mut self, row: usize, block: usize, scale: u16) {
        let (at, number) = self.at(2, row, block);
        self.put(2, at + 2 * number, scale);
    }

    /// A stored block, of a row the one with this number.
    pub fn put_group(&mut self, row: usize, block: usize, group: &Group) {
        let Format { bits, kind } = group.format;
        let offset = if bits.table().is_some() { 0 } else { group.format.offset() };
        self.put_codes(row, block, &group.codes.map(|code| (i32::from(code) + offset) as u8));
        let (at, number) = self.at(2, row, block);
        if kind.units() == 0 {
            for (i, &stored) in group.stored.iter().take(kind.scales()).enumerate() {
                self.put(2, at + 2 * (number * kind.scales() + i), stored);
            }
            return;
        }
        if factor_bytes(kind).0 == 1 {
            self.sections[2][at + number] = group.small[0];
        } else {
            self.put(2, at + 2 * number, u16::from_le_bytes(group.small));
        }
        let bytes = self.layout.row[3];
        for (i, &stored) in group.stored.iter().take(bytes / 2).enumerate() {
            self.put(3, block / UNIT * PANEL * bytes + row * bytes + 2 * i, stored);
        }
    }
}
