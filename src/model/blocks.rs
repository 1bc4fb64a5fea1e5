//! Types of stored tensors: a row each, how blocks of codes are laid out, and what their bytes mean. A new
//! type is a row in [`TensorType`], and code that takes its blocks apart.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use std::fmt;

use half::{bf16, f16};

/// Weights of a block as devices have it, a part of what is one in some files.
pub const BLOCK: usize = 32;

/// Blocks that have their units in common.
pub const UNIT: usize = 8;

/// Width of codes.
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
}

impl Bits {
    /// Number that is added to a code before it is stored.
    pub const fn offset(self) -> i32 {
        1 << (self as i32 - 1)
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
}

impl Kind {
    /// All, each at its number.
    pub const ALL: [Self; 5] = [Self::Bf16, Self::F16, Self::F16Added, Self::Minima, Self::Halves];

    /// Scales of a block.
    pub const fn scales(self) -> usize {
        if matches!(self, Self::F16Added) { 2 } else { 1 }
    }

    /// Units of every 8 blocks.
    pub const fn units(self) -> usize {
        if matches!(self, Self::Minima | Self::Halves) { 2 } else { 0 }
    }

    /// True if there is a minimum.
    pub const fn has_min(self) -> bool {
        matches!(self, Self::F16Added | Self::Minima)
    }

    /// True if each half has a scale.
    pub const fn has_halves(self) -> bool {
        matches!(self, Self::Halves)
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
            $type:ident: $number:literal, $name:literal, $block:expr, $bits:ident $kind:ident, $groups:ident;)* }
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
    }
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

    /// Bytes of so many weights; `None` if they are no whole number of blocks.
    pub fn bytes(self, weights: usize) -> Option<usize> {
        let (of_block, bytes) = self.block();
        weights.is_multiple_of(of_block).then(|| (weights / of_block).checked_mul(bytes)).flatten()
    }
}

/// 32 neighbouring weights: `scale * code - min`, with a scale for each half.
pub struct Group {
    /// Their layout.
    pub format: Format,
    /// Whole numbers of at most 8 bits.
    pub codes: [i8; 32],
    /// Scales of the first 16 and of the last 16.
    pub scales: [f32; 2],
    /// Minimum of all.
    pub min: f32,
    /// The f16 numbers that scale and minimum come from, as stored: the second is 0 where there is none.
    pub stored: [u16; 2],
    /// The bytes that multiply these, where there are such: of scale and minimum, or of the scales of the
    /// halves.
    pub small: [u8; 2],
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
    let (scales, stored) = ([half(block, 0); 2], [word(block, 0), 0]);
    each.take(Group { format, codes, scales, min: 0.0, stored, small: [0; 2] });
}

/// A block of 32: its scale, a minimum, fifth bits, then low halves of 4 bits.
#[inline(always)]
fn small(format: Format, block: &[u8], each: &mut impl Take) {
    let (scale, added) = (half(block, 0), format.kind.has_min());
    let min = if added { -half(block, 2) } else { 0.0 };
    let stored = [word(block, 0), if added { word(block, 2) } else { 0 }];
    let from = if added { 4 } else { 2 };
    let fifth = if format.bits == Bits::Five { &block[from..from + 4] } else { &[] };
    let low: [u8; BLOCK / 2] = std::array::from_fn(|i| block[block.len() - BLOCK / 2 + i]);
    let mut codes = bits_of([low, low].as_flattened(), [0, 0, 4, 4], 4);
    for (byte, codes) in fifth.iter().zip(codes.chunks_exact_mut(8)) {
        codes.iter_mut().zip(0..).for_each(|(code, i)| *code |= ((byte >> i & 1) << 4) as i8);
    }
    for code in &mut codes {
        *code -= format.offset() as i8;
    }
    each.take(Group { format, codes, scales: [scale; 2], min, stored, small: [0; 2] });
}

/// A block of 256 with 6-bit scales and minima for every 32.
#[inline(always)]
fn with_minima(format: Format, block: &[u8], each: &mut impl Take) {
    let (scale, min, sixes) = (half(block, 0), half(block, 2), &block[4..16]);
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
        let small = [six(0, 0), six(4, 1)];
        let [scale, min] = [scale * f32::from(small[0]), min * f32::from(small[1])];
        each.take(Group { format, codes, scales: [scale; 2], min, stored, small });
    }
}

/// A block of 256 codes of 6 bits with 8-bit scales for every 16.
#[inline(always)]
fn six_bits(format: Format, block: &[u8], each: &mut impl Take) {
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    let scale = half(rest, 16);
    for number in 0..8 {
        let (part, quarter) = (number / 4, number % 4);
        let low = bits_of(&low[part * 64 + quarter % 2 * BLOCK..], [quarter / 2 * 4; 4], 4);
        let high = bits_of(&high[part * BLOCK..], [2 * quarter; 4], 2);
        let codes = std::array::from_fn(|i| (low[i] | high[i] << 4) - format.offset() as i8);
        let small = [rest[2 * number], rest[2 * number + 1]];
        let scales = small.map(|small| scale * f32::from(small as i8));
        each.take(Group { format, codes, scales, min: 0.0, stored: [word(rest, 16), 0], small });
    }
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

#[inline(always)]
fn half(bytes: &[u8], at: usize) -> f32 {
    f16::from_bits(word(bytes, at)).to_f32()
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
                    *to = group.scales[i / 16] * f32::from(group.codes[i]) - group.min;
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
