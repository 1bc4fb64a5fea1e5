//! MXFP4 in safetensors files, as gpt-oss is published (OCP Microscaling Formats, version 1.0). A tensor
//! `NAME` `[.., outputs, n]` is two: `NAME_blocks` `[.., outputs, n / 32, 16]`, two numbers of four bits to a
//! byte, the lower half first; and `NAME_scales` `[.., outputs, n / 32]`, a power of two for every 32.
//! bf16 holds the products exactly.

use half::bf16;

/// Numbers in a block.
pub const BLOCK: usize = 32;

/// Bits of a number: a sign, two of exponent, one of mantissa.
const NUMBERS: [f32; 16] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0];

/// Adds blocks with their scales to `to`, as bf16.
pub fn decode(blocks: &[u8], scales: &[u8], to: &mut Vec<u8>) {
    for (block, &scale) in blocks.chunks_exact(BLOCK / 2).zip(scales) {
        // 255 is no number.
        let scale = if scale == u8::MAX { f32::NAN } else { (f32::from(scale) - 127.0).exp2() };
        for &pair in block {
            for number in [pair & 15, pair >> 4] {
                to.extend(bf16::from_f32(NUMBERS[usize::from(number)] * scale).to_le_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_four_bits_are_multiplied_by_a_power_of_two() {
        let mut blocks = [0u8; 16];
        (blocks[0], blocks[15]) = (0x72, 0x0f);
        let mut bytes = Vec::new();
        decode(&blocks, &[129], &mut bytes);
        let found: Vec<f32> = bytes.chunks_exact(2).map(|b| bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect();
        assert_eq!((found.len(), &found[..3], &found[30..]), (32, &[4.0, 24.0, 0.0][..], &[-24.0, 0.0][..]));
    }
}
