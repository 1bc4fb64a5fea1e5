//! The block formats of GGUF: what their bytes mean. A block has codes of a few bits, and what these are
//! multiplied with.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use half::{bf16, f16};

use super::TensorType;

/// 32 neighbouring weights: `scale * code - min`, with a scale for each half.
pub struct Group {
    /// Whole numbers of at most 8 bits.
    pub codes: [i8; 32],
    /// Of the first 16 and of the last 16.
    pub scales: [f32; 2],
    /// Of all.
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

/// Weights of a group.
pub const GROUP: usize = 32;

impl TensorType {
    /// Weights of a block, and its bytes; single elements are blocks of one.
    pub fn block(self) -> (usize, usize) {
        match self {
            Self::F32 => (1, 4),
            Self::F16 | Self::Bf16 => (1, 2),
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q4K => (256, 144),
            Self::Q5K => (256, 176),
            Self::Q6K => (256, 210),
        }
    }

    /// Bytes of so many weights; `None` if they are no whole number of blocks.
    pub fn bytes(self, weights: usize) -> Option<usize> {
        let (of_block, bytes) = self.block();
        weights.is_multiple_of(of_block).then(|| (weights / of_block).checked_mul(bytes)).flatten()
    }

    /// Whether weights are codes with scales.
    pub fn is_quantised(self) -> bool {
        self.block().0 > 1
    }

    /// Hands every group of stored blocks to `each`, in their order.
    #[inline(always)]
    pub fn groups(self, bytes: &[u8], mut each: impl Take) {
        let blocks = bytes.chunks_exact(self.block().1);
        // Each by itself: the compiler makes a loop of its own for every type.
        match self {
            Self::Q4_0 => blocks.for_each(|block| each.take(Self::Q4_0.small(block))),
            Self::Q4_1 => blocks.for_each(|block| each.take(Self::Q4_1.small(block))),
            Self::Q5_0 => blocks.for_each(|block| each.take(Self::Q5_0.small(block))),
            Self::Q5_1 => blocks.for_each(|block| each.take(Self::Q5_1.small(block))),
            Self::Q8_0 => blocks.for_each(|block| each.take(Self::Q8_0.small(block))),
            Self::Q4K => blocks.for_each(|block| Self::Q4K.with_minima(block, &mut each)),
            Self::Q5K => blocks.for_each(|block| Self::Q5K.with_minima(block, &mut each)),
            Self::Q6K => blocks.for_each(|block| six_bits(block, &mut each)),
            Self::F32 | Self::F16 | Self::Bf16 => {}
        }
    }

    /// A block of 32: its scale, a minimum, fifth bits, then low halves of 4 bits, or whole codes.
    #[inline(always)]
    fn small(self, block: &[u8]) -> Group {
        let scale = half(block, 0);
        let added = matches!(self, Self::Q4_1 | Self::Q5_1);
        let min = if added { -half(block, 2) } else { 0.0 };
        let stored = [word(block, 0), if added { word(block, 2) } else { 0 }];
        let group = |codes| Group { codes, scales: [scale; 2], min, stored, small: [0; 2] };
        if self == Self::Q8_0 {
            return group(std::array::from_fn(|i| block[2 + i] as i8));
        }
        let fifth = match self {
            Self::Q5_0 => Some(&block[2..6]),
            Self::Q5_1 => Some(&block[4..8]),
            _ => None,
        };
        let offset = match self {
            Self::Q4_0 => 8,
            Self::Q5_0 => 16,
            _ => 0,
        };
        let low: [u8; GROUP / 2] = std::array::from_fn(|i| block[block.len() - GROUP / 2 + i]);
        let mut codes = bits_of([low, low].as_flattened(), [0, 0, 4, 4], 4);
        for (byte, codes) in fifth.unwrap_or_default().iter().zip(codes.chunks_exact_mut(8)) {
            codes.iter_mut().zip(0..).for_each(|(code, i)| *code |= ((byte >> i & 1) << 4) as i8);
        }
        for code in &mut codes {
            *code -= offset;
        }
        group(codes)
    }

    /// A block of 256 with 6-bit scales and minima for every 32.
    #[inline(always)]
    fn with_minima(self, block: &[u8], each: &mut impl Take) {
        let (scale, min, sixes) = (half(block, 0), half(block, 2), &block[4..16]);
        let stored = [word(block, 0), word(block, 2)];
        let (fifth, low) = if self == Self::Q5K { block[16..].split_at(32) } else { (&[][..], &block[16..]) };
        for number in 0..8 {
            // The first four stand in 6 bits; of the others the upper two bits stand above the first four's.
            let six = |at: usize, shift: usize| match number {
                0..4 => sixes[at + number] & 0x3f,
                _ => nibble(sixes[4 + number], shift) | (sixes[at + number - 4] >> 2 & 0x30),
            };
            let mut codes = bits_of(&low[number / 2 * GROUP..], [number % 2 * 4; 4], 4);
            if !fifth.is_empty() {
                let upper = bits_of(fifth, [number; 4], 1);
                codes.iter_mut().zip(upper).for_each(|(code, upper)| *code |= upper << 4);
            }
            let small = [six(0, 0), six(4, 1)];
            let [scale, min] = [scale * f32::from(small[0]), min * f32::from(small[1])];
            each.take(Group { codes, scales: [scale; 2], min, stored, small });
        }
    }
}

/// A block of 256 codes of 6 bits with 8-bit scales for every 16.
#[inline(always)]
fn six_bits(block: &[u8], each: &mut impl Take) {
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    let scale = half(rest, 16);
    for number in 0..8 {
        let (part, quarter) = (number / 4, number % 4);
        let low = bits_of(&low[part * 64 + quarter % 2 * GROUP..], [quarter / 2 * 4; 4], 4);
        let high = bits_of(&high[part * GROUP..], [2 * quarter; 4], 2);
        let codes = std::array::from_fn(|i| (low[i] | high[i] << 4) - 32);
        let small = [rest[2 * number], rest[2 * number + 1]];
        let scales = small.map(|small| scale * f32::from(small as i8));
        each.take(Group { codes, scales, min: 0.0, stored: [word(rest, 16), 0], small });
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
fn bits_of(bytes: &[u8], from: [usize; 4], bits: usize) -> [i8; GROUP] {
    let mask = u64::from_le_bytes([(1 << bits) - 1; 8]);
    let mut of = [0; GROUP];
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
            let mut groups = to.chunks_exact_mut(GROUP);
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
