//! Inputs as whole numbers from -127 to 127 with a scale for every block of 32. Plain Rust, so that every
//! kernel set computes the same bits; the compiler makes vector instructions of it.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use crate::backend::storage::{BLOCK, LEAST, ROUND};

/// 32 inputs of a row: `x ≈ scale * codes`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct InputBlock {
    /// Whole numbers from -127 to 127.
    pub codes: [i8; BLOCK],
    /// Value of code 1: the greatest magnitude of the block divided by 127.
    pub scale: f32,
    /// Minus the sum of the codes times the offset of the weights' codes (128 or 8): what a sum of products
    /// with these starts from.
    pub start: i32,
}

/// Quantises a row `[inputs]`, for weights whose codes have this offset. Block `b` goes to `to + b * stride`;
/// missing inputs are zero.
///
/// # Safety
/// All these places must be valid for writing and not be in use elsewhere.
#[inline(always)]
pub unsafe fn quantise_row(x: &[f32], offset: i32, to: *mut InputBlock, stride: usize) {
    let (whole, rest) = x.as_chunks::<BLOCK>();
    for (b, block) in whole.iter().enumerate() {
        // SAFETY: the place of block `b` (the caller's duty).
        unsafe { to.add(b * stride).write(quantise(block, offset)) };
    }
    if !rest.is_empty() {
        let mut block = [0.0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        // SAFETY: as above.
        unsafe { to.add(whole.len() * stride).write(quantise(&block, offset)) };
    }
}

/// Quantises one block. With an infinite input or one that is no number the scale is no number, and so is
/// what comes out of the product.
#[inline(always)]
fn quantise(x: &[f32; BLOCK], offset: i32) -> InputBlock {
    // Magnitudes compare like their bits, and what is no number is greater than all others.
    let greatest = x.iter().fold(0, |greatest, x| greatest.max(x.to_bits() as i32 & i32::MAX));
    let greatest = f32::from_bits(greatest as u32);
    if !greatest.is_finite() {
        return InputBlock { scale: f32::NAN, ..InputBlock::default() };
    }
    if greatest < LEAST {
        return InputBlock::default();
    }
    let inverse = 127.0 / greatest;
    let mut codes = [0; BLOCK];
    let mut sum = 0;
    for (code, &x) in codes.iter_mut().zip(x) {
        let rounded = (x * inverse + ROUND).to_bits() as i32 - ROUND.to_bits() as i32;
        *code = rounded as i8;
        sum += rounded;
    }
    InputBlock { codes, scale: greatest / 127.0, start: -offset * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantised(x: &[f32]) -> Vec<InputBlock> {
        let mut to = vec![InputBlock::default(); x.len().div_ceil(BLOCK)];
        // SAFETY: as many places as blocks.
        unsafe { quantise_row(x, 8, to.as_mut_ptr(), 1) };
        to
    }

    #[test]
    fn inputs_are_rounded_to_the_nearest_step_and_ties_to_even() {
        let mut x: Vec<f32> = (0..70).map(|i| (i as f32 * 0.37).sin() * 3.0).collect();
        x[..4].copy_from_slice(&[127.0, 0.5, 1.5, -2.5]);
        let blocks = quantised(&x);
        assert_eq!(blocks[0].codes[..4], [127, 0, 2, -2]);
        for (block, x) in blocks.iter().zip(x.chunks(BLOCK)) {
            for (i, &code) in block.codes.iter().enumerate() {
                let x = x.get(i).copied().unwrap_or(0.0);
                assert!((f32::from(code) * block.scale - x).abs() <= block.scale * 0.5001, "{x} as {code}");
            }
            assert_eq!(block.start, -8 * block.codes.iter().map(|&code| i32::from(code)).sum::<i32>());
            assert!(block.codes.iter().any(|code| code.abs() == 127) && !block.codes.contains(&i8::MIN));
        }
    }

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let blocks = quantised(&[[f32::MAX; 32], [1e-40; 32], [-2e-30; 32], [0.0; 32]].concat());
        assert_eq!(blocks[0].codes, [127; 32]);
        assert_eq!((blocks[1], blocks[3]), (InputBlock::default(), InputBlock::default()));
        assert_eq!(blocks[2].codes, [-127; 32]);
        for odd in [f32::INFINITY, f32::NAN, -f32::NAN] {
            let mut x = [1.0; 32];
            x[7] = odd;
            assert!(quantised(&x)[0].scale.is_nan());
        }
    }
}
