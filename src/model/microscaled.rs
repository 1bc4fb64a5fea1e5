//! MXFP4 in safetensors files, as gpt-oss is published (OCP Microscaling Formats, version 1.0). A tensor
//! `NAME` `[.., outputs, n]` is two: `NAME_blocks` `[.., outputs, n / 32, 16]`, two numbers of four bits to a
//! byte, the lower half first; and `NAME_scales` `[.., outputs, n / 32]`, a power of two for every 32. They
//! are put together as the blocks that GGUF files have, [`DTYPE`].

use super::TensorType;

/// Numbers in a block.
pub const BLOCK: usize = 32;

/// Type of a tensor that is put together: a block is its exponent, then its numbers, of which the first 16
/// are the lower halves of bytes and the others the upper ones.
pub const DTYPE: TensorType = TensorType::Mxfp4;

/// Adds blocks with their scales to `to`. An exponent of 255 is a power of two as all others, as in blocks of
/// GGUF files.
pub fn repack(blocks: &[u8], scales: &[u8], to: &mut Vec<u8>) {
    for (block, &scale) in blocks.as_chunks::<{ BLOCK / 2 }>().0.iter().zip(scales) {
        let number = |at: usize| block[at / 2] >> (4 * (at % 2)) & 15;
        to.push(scale);
        to.extend((0..BLOCK / 2).map(|at| number(at) | number(at + BLOCK / 2) << 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::blocks::widen;

    /// A sign, two bits of exponent, one of mantissa.
    const NUMBERS: [f64; 16] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0];

    #[test]
    fn numbers_of_four_bits_are_multiplied_by_a_power_of_two() {
        let mut bytes = Vec::new();
        // Every number in every place, with every exponent.
        let codes = |turn: usize| (0..BLOCK).map(move |at| (at * 7 + turn) % 16);
        for scale in 0..=255u8 {
            for turn in 0..16 {
                let pairs: Vec<usize> = codes(turn).collect();
                let block: Vec<u8> = pairs.chunks(2).map(|pair| (pair[0] | pair[1] << 4) as u8).collect();
                bytes.clear();
                repack(&block, &[scale], &mut bytes);
                assert_eq!(Some(bytes.len()), DTYPE.bytes(BLOCK));
                let mut found = [f32::NAN; BLOCK];
                widen(DTYPE, &bytes, &mut found);
                let expected: Vec<f32> =
                    codes(turn).map(|code| (NUMBERS[code] * (f64::from(scale) - 127.0).exp2()) as f32).collect();
                assert_eq!(found[..], expected, "{scale}, {turn}");
            }
        }
    }
}
