//! How codes are stored and what they are multiplied with: the formats made at load, and those of GGUF files,
//! whose own numbers are kept.

use crate::model::TensorType;

/// Inputs of a block.
pub const BLOCK: usize = 32;

/// How wide the codes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// -127 to 127, stored with 128 added.
    Eight,
    /// -32 to 31, stored with 32 added: the low halves as [`Four`](Self::Four), above them two bits.
    Six,
    /// -16 to 15, stored with 16 added: the low halves as [`Four`](Self::Four), above them one bit.
    Five,
    /// -8 to 7, stored with 8 added, two to a byte.
    Four,
}

impl Bits {
    /// What is added to a whole number before it is stored.
    pub const fn offset(self) -> i32 {
        match self {
            Self::Eight => 128,
            Self::Six => 32,
            Self::Five => 16,
            Self::Four => 8,
        }
    }
}

/// What a block's codes are multiplied with: `weight = scale * code - min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scale in bf16.
    Bf16,
    /// A scale in f16 (`Q8_0`, `Q4_0`, `Q5_0`).
    F16,
    /// A scale and an amount that is added, both in f16 (`Q4_1`, `Q5_1`).
    F16Added,
    /// A scale and a minimum as whole numbers, in units of two f16 numbers for every 8 blocks (`Q4_K`,
    /// `Q5_K`).
    Minima,
    /// A scale for each half of a block as whole numbers with a sign, in units of an f16 number for every 8
    /// blocks (`Q6_K`).
    Halves,
}

/// Blocks that have their units in common.
pub const UNIT: usize = 8;

impl Kind {
    /// Scales of a block.
    pub const fn scales(self) -> usize {
        if matches!(self, Self::F16Added) { 2 } else { 1 }
    }

    /// Units of every 8 blocks.
    pub const fn units(self) -> usize {
        if matches!(self, Self::Minima | Self::Halves) { 2 } else { 0 }
    }

    /// There is a minimum.
    pub const fn has_min(self) -> bool {
        matches!(self, Self::F16Added | Self::Minima)
    }
}

/// Codes and what they are multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// How wide the codes are.
    pub bits: Bits,
    pub kind: Kind,
}

impl Format {
    /// That of a stored type; `None` for floats.
    pub const fn of(dtype: TensorType) -> Option<Self> {
        let (bits, kind) = match dtype {
            TensorType::F32 | TensorType::F16 | TensorType::Bf16 => return None,
            TensorType::Q4_0 => (Bits::Four, Kind::F16),
            TensorType::Q8_0 => (Bits::Eight, Kind::F16),
            TensorType::Q5_0 => (Bits::Five, Kind::F16),
            TensorType::Q4_1 => (Bits::Four, Kind::F16Added),
            TensorType::Q5_1 => (Bits::Five, Kind::F16Added),
            TensorType::Q4K => (Bits::Four, Kind::Minima),
            TensorType::Q5K => (Bits::Five, Kind::Minima),
            TensorType::Q6K => (Bits::Six, Kind::Halves),
        };
        Some(Self { bits, kind })
    }

    /// What is added to a code before it is stored: nothing where there is a minimum, as no code is below
    /// zero there.
    pub const fn offset(self) -> i32 {
        if self.kind.has_min() { 0 } else { self.bits.offset() }
    }
}
