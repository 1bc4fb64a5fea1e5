//! Types of stored tensors: a row each, how blocks of codes are laid out, and what their bytes mean. A new
//! type is a row in [`TensorType`], and code that takes its blocks apart.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

mod grids;
mod lists;

use std::fmt;

use half::{bf16, f16};

/// Weights of a block as devices have it, a part of what is one in some files.
pub const BLOCK: usize = 32;

/// Blocks that have their units in common.
pub const UNIT: usize = 8;

/// Codes as they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// -8 to 7, stored with 8 added, two to a byte.
    Four = 4,
    /// -16 to 15, stored with 16 added: the low halves as [`Four`](Self::Four), above them one bit.
    Five = 5,
    /// -32 to 31, stored with 32 added: the low halves as [`Four`](Self::Four), above them two bits.
    Six = 6,
    /// -127 to 127, stored with 128 added.
    Eight = 8,
    /// 0 to 3, four to a byte.
    Two = 2,
    /// -4 to 3, stored with 4 added: the low two bits as [`Two`](Self::Two), above them one bit.
    Three = 3,
    /// Places in [`Bits::table`], two to a byte, as those below: 16 numbers with small steps around zero.
    Uneven = 16,
    /// Floats of 4 bits, two of them below the point, times 2.
    Float = 17,
    /// Coordinates of the grids of `IQ3_XXS`, times 2, with signs.
    GridThreeXxs = 18,
    /// Coordinates of the grids of `IQ3_S`, times 8, with signs.
    GridThree = 19,
    /// Coordinates of the other grids: of IQ2 types with signs, of IQ1 types times 8 with 1 added or
    /// subtracted.
    Grid = 20,
}

impl Bits {
    /// Number that is added to a code before it is stored; from a table before it is multiplied, so that it
    /// is not below zero.
    pub const fn offset(self) -> i32 {
        match self {
            Self::Two | Self::Three | Self::Four | Self::Five | Self::Six | Self::Eight => 1 << (self as i32 - 1),
            Self::Uneven | Self::Float | Self::GridThreeXxs | Self::GridThree | Self::Grid => 128,
        }
    }

    /// The numbers that codes stand for, where they are places in a table.
    pub const fn table(self) -> Option<&'static [i8; 16]> {
        Some(match self {
            Self::Two | Self::Three | Self::Four | Self::Five | Self::Six | Self::Eight => return None,
            Self::Uneven => &[-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
            Self::Float => &[0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12],
            Self::GridThreeXxs => &[8, 24, 40, 56, 72, 88, 104, 124, -8, -24, -40, -56, -72, -88, -104, -124],
            Self::GridThree => &[8, 24, 40, 56, 72, 88, 104, 120, -8, -24, -40, -56, -72, -88, -104, -120],
            Self::Grid => &[8, 25, 43, -8, -25, -43, -9, -1, 7, -7, 1, 9, 0, 0, 0, 0],
        })
    }
}

/// Factors of a block's codes: `weight = scale * code - min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scale in bf16.
    Bf16,
    /// A scale in f16.
    F16,
    /// A scale and an amount that is added, both in f16.
    F16Added,
    /// A scale and a minimum as whole numbers, in units of two f16 numbers for every 8 blocks.
    Minima,
    /// A scale for each half of a block as whole numbers with a sign, in units of an f16 number for every 8
    /// blocks.
    Halves,
    /// As [`Halves`](Self::Halves), in units of an eighth of the number.
    Eighths,
    /// A scale and a minimum of 4 bits for each half, in units of two f16 numbers for every 8 blocks.
    HalfMinima,
    /// A scale as a whole number with a sign, in units of an f16 number for every 8 blocks.
    Signed,
    /// A power of two: the exponent, with 128 added.
    Exponent,
}

impl Kind {
    /// All, each at its number.
    pub const ALL: [Self; 9] = [
        Self::Bf16,
        Self::F16,
        Self::F16Added,
        Self::Minima,
        Self::Halves,
        Self::Eighths,
        Self::HalfMinima,
        Self::Signed,
        Self::Exponent,
    ];

    /// Scales of a block, of 2 bytes each.
    pub const fn scales(self) -> usize {
        match self {
            Self::F16Added => 2,
            Self::Signed | Self::Exponent => 0,
            _ => 1,
        }
    }

    /// Units of every 8 blocks, of 2 bytes each; bytes that have no place among the scales of their blocks
    /// lie behind them, two in the place of a unit.
    pub const fn units(self) -> usize {
        match self {
            Self::Bf16 | Self::F16 | Self::F16Added => 0,
            Self::Halves | Self::Eighths => 1,
            Self::Minima | Self::HalfMinima => 2,
            Self::Exponent => UNIT / 2,
            Self::Signed => 1 + UNIT / 2,
        }
    }

    /// True if there is a minimum.
    pub const fn has_min(self) -> bool {
        matches!(self, Self::F16Added | Self::Minima | Self::HalfMinima)
    }

    /// True if each half has a scale.
    pub const fn has_halves(self) -> bool {
        matches!(self, Self::Halves | Self::Eighths | Self::HalfMinima)
    }
}

/// Codes and their factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Width of the codes.
    pub bits: Bits,
    /// Their factors.
    pub kind: Kind,
}

impl Format {
    /// Number that is added to a code before it is stored: none where there is a minimum, as no code is below
    /// zero there.
    pub const fn offset(self) -> i32 {
        if self.kind.has_min() { 0 } else { self.bits.offset() }
    }

    /// Bytes of a weight where the codes lie as devices have them: those of the codes, of a scale for every
    /// 32 and of units for every 256.
    pub const fn bytes_of_weight(self) -> f64 {
        let bits = if self.bits.table().is_some() { 4 } else { self.bits as usize };
        bits as f64 / 8.0
            + (2 * self.kind.scales()) as f64 / BLOCK as f64
            + (2 * self.kind.units()) as f64 / (BLOCK * UNIT) as f64
    }

    /// The whole number that a code of a [`Group`] stands for.
    #[inline(always)]
    pub const fn whole(self, code: i8) -> i8 {
        match self.bits.table() {
            Some(table) => table[(code & 15) as usize],
            None => code,
        }
    }
}

/// Properties of a type.
struct TypeProperties {
    number: u32,
    name: &'static str,
    block: (usize, usize),
    format: Option<Format>,
}

/// Makes [`TensorType`] of rows. A row of floats: number in GGUF files, name, bytes. A row of blocks: number,
/// name, weights and bytes of a block, width of codes, their factors, and the function that hands the groups
/// of a block to a [`Take`].
macro_rules! types {
    (
        floats { $($(#[$of_float:meta])* $float:ident: $float_number:literal, $float_name:literal, $size:literal;)* }
        blocks { $($(#[$of_type:meta])*
            $type:ident: $number:literal, $name:literal, $block:expr, $bits:ident $kind:ident, $groups:path;)* }
    ) => {
        /// Number format of a stored tensor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TensorType {
            $($(#[$of_float])* $float,)*
            $($(#[$of_type])* $type,)*
        }

        impl TensorType {
            /// Types of single elements.
            pub const FLOATS: &[Self] = &[$(Self::$float),*];

            /// Types of blocks.
            pub const BLOCKS: &[Self] = &[$(Self::$type),*];

            const fn properties(self) -> TypeProperties {
                match self {
                    $(Self::$float => {
                        TypeProperties { number: $float_number, name: $float_name, block: (1, $size), format: None }
                    })*
                    $(Self::$type => {
                        let format = Some(Format { bits: Bits::$bits, kind: Kind::$kind });
                        TypeProperties { number: $number, name: $name, block: $block, format }
                    })*
                }
            }

            /// Hands every group of stored blocks to `each`, in their order.
            #[inline(always)]
            pub fn groups(self, bytes: &[u8], mut each: impl Take) {
                match self {
                    // Each by itself: the compiler makes a loop of its own for every type.
                    $(Self::$type => {
                        let format = Format { bits: Bits::$bits, kind: Kind::$kind };
                        bytes.chunks_exact($block.1).for_each(|block| $groups(format, block, &mut each));
                    })*
                    _ => {}
                }
            }
        }
    };
}

types! {
    floats {
        /// 32-bit float.
        F32: 0, "f32", 4;
        /// 16-bit IEEE float.
        F16: 1, "f16", 2;
        /// bfloat16.
        Bf16: 30, "bf16", 2;
    }
    blocks {
        /// 8 bits and a scale for every 32.
        Q8_0: 8, "q8_0", (32, 34), Eight F16, whole;
        /// 4 bits and a scale for every 32.
        Q4_0: 2, "q4_0", (32, 18), Four F16, small;
        /// 4 bits, a scale and a minimum for every 32.
        Q4_1: 3, "q4_1", (32, 20), Four F16Added, small;
        /// 5 bits and a scale for every 32.
        Q5_0: 6, "q5_0", (32, 22), Five F16, small;
        /// 5 bits, a scale and a minimum for every 32.
        Q5_1: 7, "q5_1", (32, 24), Five F16Added, small;
        /// 4 bits, scales and minima of 6 bits for every 32.
        Q4K: 12, "q4_k", (256, 144), Four Minima, with_minima;
        /// 5 bits, scales and minima of 6 bits for every 32.
        Q5K: 13, "q5_k", (256, 176), Five Minima, with_minima;
        /// 6 bits, scales of 8 bits for every 16.
        Q6K: 14, "q6_k", (256, 210), Six Halves, six_bits;
        /// 4 bits of uneven steps and a scale for every 32.
        Iq4Nl: 20, "iq4_nl", (32, 18), Uneven F16, uneven;
        /// 4 bits of uneven steps, scales of 6 bits for every 32.
        Iq4Xs: 23, "iq4_xs", (256, 136), Uneven Signed, uneven_with_units;
        /// 3 bits, scales of 6 bits for every 16.
        Q3K: 11, "q3_k", (256, 110), Three Halves, three_bits;
        /// 2 bits, scales and minima of 4 bits for every 16.
        Q2K: 10, "q2_k", (256, 84), Two HalfMinima, two_bits;
        /// Floats of 4 bits and a power of two for every 32.
        Mxfp4: 39, "mxfp4", (32, 17), Float Exponent, floats;
        /// Points of a grid of 512 for every 4, scales of 4 bits for every 32.
        Iq3S: 21, "iq3_s", (256, 110), GridThree Eighths, lists::iq3_s;
        /// Points of a grid of 256 for every 4, scales of 4 bits for every 32.
        Iq3Xxs: 18, "iq3_xxs", (256, 98), GridThreeXxs Eighths, lists::iq3_xxs;
        /// Points of a grid of 256 for every 8, scales of 4 bits for every 32.
        Iq2Xxs: 16, "iq2_xxs", (256, 66), Grid Eighths, lists::iq2_xxs;
        /// Points of a grid of 512 for every 8, scales of 4 bits for every 16.
        Iq2Xs: 17, "iq2_xs", (256, 74), Grid Eighths, lists::iq2_xs;
        /// Points of a grid of 1024 for every 8, scales of 4 bits for every 16.
        Iq2S: 22, "iq2_s", (256, 82), Grid Eighths, lists::iq2_s;
        /// Points of a grid of 2048 for every 8, scales of 3 bits for every 32.
        Iq1S: 19, "iq1_s", (256, 50), Grid Eighths, lists::iq1_s;
        /// Points of a grid of 2048 for every 8, scales of 3 bits for every 16.
        Iq1M: 29, "iq1_m", (256, 56), Grid Eighths, lists::iq1_m;
        /// -1, 0 and 1, five to a byte, and a scale for every 256.
        Tq1_0: 34, "tq1_0", (256, 54), Four F16, lists::tq1_0;
        /// -1, 0 and 1, four to a byte, and a scale for every 256.
        Tq2_0: 35, "tq2_0", (256, 66), Four F16, lists::tq2_0;
    }
}

/// Names those of these types whose weights take notably more memory than in the file, if there are such.
pub fn widened(types: impl IntoIterator<Item = TensorType>) -> Option<String> {
    let mut said: Vec<String> = Vec::new();
    for dtype in types {
        let (weights, bytes) = dtype.block();
        let stored = 8.0 * bytes as f64 / weights as f64;
        let Some(own) = dtype.format().map(|format| 8.0 * format.bytes_of_weight()) else { continue };
        let words = format!("{dtype} {own:.1} instead of {stored:.1}");
        if own > 1.1 * stored && !said.contains(&words) {
            said.push(words);
        }
    }
    (!said.is_empty()).then(|| format!("weights take more memory than in the file, in bits: {}", said.join(", ")))
}

/// Name in ggml of the type with this number, which is not read.
pub fn name_of(number: u32) -> String {
    const NAMES: &[(u32, &str)] = &[
        (4, "Q4_2, which no program writes any more,"),
        (5, "Q4_3, which no program writes any more,"),
        (9, "Q8_1, which is for inputs and not for weights,"),
        (15, "Q8_K, which is for inputs and not for weights,"),
        (24, "I8"),
        (25, "I16"),
        (26, "I32"),
        (27, "I64"),
        (28, "F64"),
        (31, "Q4_0_4_4, which no program writes any more,"),
        (32, "Q4_0_4_8, which no program writes any more,"),
        (33, "Q4_0_8_8, which no program writes any more,"),
        (36, "IQ4_NL_4_4, which no program writes any more,"),
        (37, "IQ4_NL_4_8, which no program writes any more,"),
        (38, "IQ4_NL_8_8, which no program writes any more,"),
        (40, "NVFP4"),
        (41, "Q1_0"),
    ];
    let known = NAMES.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("type number {number}, which has no name here,"), |(_, name)| (*name).to_owned())
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_ascii_uppercase())
    }
}

impl TensorType {
    /// All types.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::FLOATS.iter().chain(Self::BLOCKS).copied()
    }

    /// Number in GGUF files.
    pub const fn number(self) -> u32 {
        self.properties().number
    }

    /// Name in small letters.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Weights of a block, and its bytes; single elements are blocks of one.
    pub const fn block(self) -> (usize, usize) {
        self.properties().block
    }

    /// Layout of blocks; `None` for floats.
    pub const fn format(self) -> Option<Format> {
        self.properties().format
    }

    /// Bytes of a weight as devices hold it; of floats as stored.
    pub const fn bytes_of_weight(self) -> f64 {
        match self.format() {
            Some(format) => format.bytes_of_weight(),
            None => self.block().1 as f64,
        }
    }

    /// Bytes of so many weights; `None` if they are no whole number of blocks.
    pub fn bytes(self, weights: usize) -> Option<usize> {
        let (of_block, bytes) = self.block();
        weights.is_multiple_of(of_block).then(|| (weights / of_block).checked_mul(bytes)).flatten()
    }
}

/// 32 neighbouring weights: `scale * code - min`, with a scale and a minimum for each half.
pub struct Group {
    /// Their layout.
    pub format: Format,
    /// Whole numbers of at most 8 bits, or places in a table: see [`Format::whole`].
    pub codes: [i8; 32],
    /// Scales of the first 16 and of the last 16.
    pub scales: [f32; 2],
    /// Minima of these.
    pub mins: [f32; 2],
    /// The f16 numbers that scale and minimum come from, as stored: the second is 0 where there is none.
    pub stored: [u16; 2],
    /// The bytes that multiply these, where there are such: of scale and minimum, or of each half.
    pub small: [u8; 2],
}

impl Group {
    /// A group whose factors are what is stored.
    #[inline(always)]
    fn new(format: Format, codes: [i8; 32], stored: [u16; 2], small: [u8; 2]) -> Self {
        let [unit, other] = stored.map(|stored| f16::from_bits(stored).to_f32());
        let signed = small.map(|small| f32::from(small as i8));
        let (scales, mins) = match format.kind {
            Kind::Bf16 => ([f32::from_bits(u32::from(stored[0]) << 16); 2], [0.0; 2]),
            Kind::F16 => ([unit; 2], [0.0; 2]),
            Kind::F16Added => ([unit; 2], [-other; 2]),
            Kind::Minima => ([unit * f32::from(small[0]); 2], [other * f32::from(small[1]); 2]),
            Kind::Halves => (signed.map(|small| unit * small), [0.0; 2]),
            Kind::Eighths => (signed.map(|small| unit * 0.125 * small), [0.0; 2]),
            Kind::HalfMinima => {
                (small.map(|small| unit * f32::from(small & 15)), small.map(|small| other * f32::from(small >> 4)))
            }
            Kind::Signed => ([unit * signed[0]; 2], [0.0; 2]),
            Kind::Exponent => ([power_of_two(small[0]); 2], [0.0; 2]),
        };
        Self { format, codes, scales, mins, stored, small }
    }
}

/// 2 to the power of `exponent - 128`.
pub const fn power_of_two(exponent: u8) -> f32 {
    // The two smallest have no leading 1 in f32.
    let bits = if exponent < 2 { 0x0020_0000 << exponent } else { (exponent as u32 - 1) << 23 };
    f32::from_bits(bits)
}

/// Takes groups one after another. A closure will do; it is compiled once for all types of blocks, by itself.
pub trait Take {
    /// The next group.
    fn take(&mut self, group: Group);
}

impl<F: FnMut(Group)> Take for F {
    #[inline(always)]
    fn take(&mut self, group: Group) {
        self(group);
    }
}

/// A block of 32: its scale, then whole codes.
#[inline(always)]
fn whole(format: Format, block: &[u8], each: &mut impl Take) {
    let codes = std::array::from_fn(|i| block[2 + i] as i8);
    each.take(Group::new(format, codes, [word(block, 0), 0], [0; 2]));
}

/// A block of 32: its scale, a minimum, fifth bits, then low halves of 4 bits.
#[inline(always)]
fn small(format: Format, block: &[u8], each: &mut impl Take) {
    let added = format.kind.has_min();
    let stored = [word(block, 0), if added { word(block, 2) } else { 0 }];
    let from = if added { 4 } else { 2 };
    let fifth = if format.bits == Bits::Five { &block[from..from + 4] } else { &[] };
    let mut codes = nibbles(&block[block.len() - BLOCK / 2..]);
    for (byte, codes) in fifth.iter().zip(codes.chunks_exact_mut(8)) {
        codes.iter_mut().zip(0..).for_each(|(code, i)| *code |= ((byte >> i & 1) << 4) as i8);
    }
    for code in &mut codes {
        *code -= format.offset() as i8;
    }
    each.take(Group::new(format, codes, stored, [0; 2]));
}

/// A block of 256 with 6-bit scales and minima for every 32.
#[inline(always)]
fn with_minima(format: Format, block: &[u8], each: &mut impl Take) {
    let sixes = &block[4..16];
    let stored = [word(block, 0), word(block, 2)];
    let (fifth, low) = if format.bits == Bits::Five { block[16..].split_at(32) } else { (&[][..], &block[16..]) };
    for number in 0..8 {
        // The first four stand in 6 bits; of the others the upper two bits stand above the first four's.
        let six = |at: usize, shift: usize| match number {
            0..4 => sixes[at + number] & 0x3f,
            _ => nibble(sixes[4 + number], shift) | (sixes[at + number - 4] >> 2 & 0x30),
        };
        let mut codes = bits_of(&low[number / 2 * BLOCK..], [number % 2 * 4; 4], 4);
        if !fifth.is_empty() {
            let upper = bits_of(fifth, [number; 4], 1);
            codes.iter_mut().zip(upper).for_each(|(code, upper)| *code |= upper << 4);
        }
        each.take(Group::new(format, codes, stored, [six(0, 0), six(4, 1)]));
    }
}

/// A block of 256 codes of 6 bits with 8-bit scales for every 16.
#[inline(always)]
fn six_bits(format: Format, block: &[u8], each: &mut impl Take) {
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    for number in 0..8 {
        let (part, quarter) = (number / 4, number % 4);
        let low = bits_of(&low[part * 64 + quarter % 2 * BLOCK..], [quarter / 2 * 4; 4], 4);
        let high = bits_of(&high[part * BLOCK..], [2 * quarter; 4], 2);
        let codes = std::array::from_fn(|i| (low[i] | high[i] << 4) - format.offset() as i8);
        let small = [rest[2 * number], rest[2 * number + 1]];
        each.take(Group::new(format, codes, [word(rest, 16), 0], small));
    }
}

/// A block of 32: its scale, then places of 4 bits.
#[inline(always)]
fn uneven(format: Format, block: &[u8], each: &mut impl Take) {
    each.take(Group::new(format, nibbles(&block[2..]), [word(block, 0), 0], [0; 2]));
}

/// A block of 32: its exponent, then floats of 4 bits.
#[inline(always)]
fn floats(format: Format, block: &[u8], each: &mut impl Take) {
    each.take(Group::new(format, nibbles(&block[1..]), [0; 2], [block[0], 0]));
}

/// A block of 256 places of 4 bits with 6-bit scales for every 32: of these the upper two bits of all, then
/// the low four.
#[inline(always)]
fn uneven_with_units(format: Format, block: &[u8], each: &mut impl Take) {
    let (high, low) = (word(block, 2), &block[4..8]);
    for number in 0..8 {
        let six = nibble(low[number / 2], number % 2) | ((high >> (2 * number) & 3) << 4) as u8;
        let codes = nibbles(&block[8 + BLOCK / 2 * number..]);
        each.take(Group::new(format, codes, [word(block, 0), 0], [six.wrapping_sub(32), 0]));
    }
}

/// A block of 256 codes of 3 bits with 6-bit scales for every 16: upper bits, low two bits, scales, unit.
#[inline(always)]
fn three_bits(format: Format, block: &[u8], each: &mut impl Take) {
    let (upper, rest) = block.split_at(32);
    let (low, rest) = rest.split_at(64);
    // The low four bits of sixteen scales, then the upper two bits of all.
    let six = |number: usize| {
        let above = rest[8 + number % 4] >> (2 * (number / 4)) & 3;
        (nibble(rest[number % 8], number / 8) | above << 4).wrapping_sub(32)
    };
    for number in 0..8 {
        let low = bits_of(&low[number / 4 * BLOCK..], [number % 4 * 2; 4], 2);
        let upper = bits_of(upper, [number; 4], 1);
        let codes = std::array::from_fn(|i| (low[i] | upper[i] << 2) - format.offset() as i8);
        each.take(Group::new(format, codes, [word(rest, 12), 0], [six(2 * number), six(2 * number + 1)]));
    }
}

/// A block of 256 codes of 2 bits with 4-bit scales and minima for every 16: these, codes, two units.
#[inline(always)]
fn two_bits(format: Format, block: &[u8], each: &mut impl Take) {
    let (fours, rest) = block.split_at(16);
    for number in 0..8 {
        let codes = bits_of(&rest[number / 4 * BLOCK..], [number % 4 * 2; 4], 2);
        let small = [fours[2 * number], fours[2 * number + 1]];
        each.take(Group::new(format, codes, [word(rest, 64), word(rest, 66)], small));
    }
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// So many bits of each of the first 32 bytes, from a bit on that each eight of them have; eight
/// bytes are one word, as bytes have no shifts that vectors know.
#[inline(always)]
fn bits_of(bytes: &[u8], from: [usize; 4], bits: usize) -> [i8; BLOCK] {
    let mask = u64::from_le_bytes([(1 << bits) - 1; 8]);
    let mut of = [0; BLOCK];
    for ((of, bytes), from) in of.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<8>().0).zip(from) {
        *of = (u64::from_le_bytes(*bytes) >> from & mask).to_le_bytes().map(|code| code as i8);
    }
    of
}

/// The low four bits of 16 bytes, then the high four.
#[inline(always)]
fn nibbles(bytes: &[u8]) -> [i8; BLOCK] {
    let bytes: [u8; BLOCK / 2] = std::array::from_fn(|i| bytes[i]);
    bits_of([bytes, bytes].as_flattened(), [0, 0, 4, 4], 4)
}

fn nibble(byte: u8, high: usize) -> u8 {
    if high == 0 { byte & 0xf } else { byte >> 4 }
}

/// Writes stored weights into the first elements of `to`: floats as they are, codes times scales.
pub fn widen(dtype: TensorType, bytes: &[u8], to: &mut [f32]) {
    match dtype {
        // The common case, in a form of which the compiler makes vector instructions.
        TensorType::Bf16 => {
            for (to, &[low, high]) in to.iter_mut().zip(bytes.as_chunks::<2>().0) {
                *to = f32::from_bits(u32::from(u16::from_le_bytes([low, high])) << 16);
            }
        }
        TensorType::F32 | TensorType::F16 => {
            to.iter_mut().zip(elements(dtype, bytes)).for_each(|(to, element)| *to = element);
        }
        _ => {
            let mut groups = to.chunks_exact_mut(BLOCK);
            dtype.groups(bytes, |group: Group| {
                for (i, to) in groups.next().into_iter().flatten().enumerate() {
                    let whole = f32::from(group.format.whole(group.codes[i]));
                    *to = group.scales[i / 16] * whole - group.mins[i / 16];
                }
            });
        }
    }
}

/// The elements of stored floats, widened without loss.
pub fn elements(dtype: TensorType, bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(dtype.block().1).map(move |element| match (dtype, element) {
        (TensorType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
        (TensorType::F16, &[a, b]) => f16::from_le_bytes([a, b]).to_f32(),
        (TensorType::Bf16, &[a, b]) => bf16::from_le_bytes([a, b]).to_f32(),
        _ => 0.0,
    })
}
