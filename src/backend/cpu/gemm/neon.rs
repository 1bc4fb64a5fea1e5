//! Kernels for 64-bit Arm with NEON: tiles of up to 6 rows and 16 columns, 24 accumulators of 4 floats, which
//! leaves eight registers for weights and inputs. Reference twin: `portable`.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
#![expect(clippy::needless_range_loop, reason = "a row counts in inputs and in sums")]

use std::arch::aarch64::{
    float32x4_t, vandq_u32, vdupq_n_f32, vdupq_n_u32, vfmaq_n_f32, vld1_u16, vld1q_f32, vld1q_u32,
    vreinterpretq_f32_u32, vshlq_n_u32, vst1q_f32,
};
use std::arch::asm;
use std::marker::PhantomData;

use super::super::pack::{Bf16x16, F16x16, F32x16, NR};
use super::GemmArgs;
use super::blocking::{self, Tile, Tiles, tile_of_shape};

/// Computes a product on f32 panels.
///
/// # Safety
/// The pointers of `args` must reach what their documentation says; `out` must not be in use elsewhere.
pub unsafe fn product_f32(args: &GemmArgs<F32x16>) {
    // SAFETY: the caller's duty, passed on; every 64-bit Arm processor has NEON.
    unsafe { blocking::product::<Neon<F32x16>>(args) }
}

/// Computes a product on bf16 panels.
///
/// # Safety
/// As for [`product_f32`].
pub unsafe fn product_bf16(args: &GemmArgs<Bf16x16>) {
    // SAFETY: as above.
    unsafe { blocking::product::<Neon<Bf16x16>>(args) }
}

/// Computes a product on f16 panels.
///
/// # Safety
/// As for [`product_f32`].
pub unsafe fn product_f16(args: &GemmArgs<F16x16>) {
    // SAFETY: as above.
    unsafe { blocking::product::<Neon<F16x16>>(args) }
}

/// Vectors of a panel.
const VECTORS: usize = NR / 4;

/// A block that NEON can widen.
trait Widen {
    /// The weights of outputs 0 to 3, 4 to 7, 8 to 11 and 12 to 15.
    unsafe fn widen(block: *const Self) -> [float32x4_t; VECTORS];
}

impl Widen for F32x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> [float32x4_t; VECTORS] {
        // SAFETY: a block.
        std::array::from_fn(|i| unsafe { vld1q_f32(block.cast::<f32>().add(4 * i)) })
    }
}

impl Widen for Bf16x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> [float32x4_t; VECTORS] {
        // SAFETY: a block: eight pairs of outputs `c` and `c + 8`.
        unsafe {
            let (first, second) = (vld1q_u32(block.cast()), vld1q_u32(block.cast::<u32>().add(4)));
            let low = |pairs| vreinterpretq_f32_u32(vshlq_n_u32::<16>(pairs));
            let high = |pairs| vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff_0000)));
            [low(first), low(second), high(first), high(second)]
        }
    }
}

impl Widen for F16x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> [float32x4_t; VECTORS] {
        std::array::from_fn(|i| {
            let wide: float32x4_t;
            // SAFETY: a block; the instruction reads and writes registers only.
            unsafe {
                let half = vld1_u16(block.cast::<u16>().add(4 * i));
                asm!("fcvtl {0:v}.4s, {1:v}.4h", out(vreg) wide, in(vreg) half, options(pure, nomem, nostack, preserves_flags));
            }
            wide
        })
    }
}

/// Fetches a line into the second-level cache. The address need not be valid.
#[inline(always)]
fn fetch(line: *const u8) {
    // SAFETY: a hint, which never faults.
    unsafe { asm!("prfm pldl2keep, [{0}]", in(reg) line, options(readonly, nostack, preserves_flags)) }
}

/// Tiles of NEON.
struct Neon<B>(PhantomData<B>);

impl<B: Widen> Tiles for Neon<B> {
    type Block = B;
    const ROWS: usize = 6;

    fn panels(rows: usize) -> usize {
        if rows == 1 { 4 } else { 1 }
    }

    #[inline(always)]
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile<B>) {
        // SAFETY: the caller's duty, passed on.
        unsafe {
            tile_of_shape!(run::(B), rows, panels, tile, [1, 4] [1, 2] [1, 1] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1]);
        }
    }
}

/// A tile of `MR` rows and `NP` panels.
unsafe fn run<B: Widen, const MR: usize, const NP: usize>(tile: &Tile<B>) {
    let &Tile { x, x_stride, k, blocks, panel_stride, sums: out, sums_stride, fresh, ahead, every } = tile;
    // SAFETY: sums `[MR, NP * 16]`, rows of `k` inputs and panels of `k` blocks are the tile's.
    unsafe {
        let mut sums = [[[vdupq_n_f32(0.0); VECTORS]; NP]; MR];
        let at = |r: usize, p: usize, i: usize| out.add(r * sums_stride + p * NR + 4 * i);
        if !fresh {
            for (r, sums) in sums.iter_mut().enumerate() {
                for (p, sums) in sums.iter_mut().enumerate() {
                    *sums = std::array::from_fn(|i| vld1q_f32(at(r, p, i)));
                }
            }
        }
        let mut ahead = ahead;
        let mut input = 0;
        while input < k {
            for p in 0..NP {
                fetch(ahead.wrapping_add(p * panel_stride).cast());
            }
            ahead = ahead.wrapping_byte_add(64);
            for k in input..k.min(input.saturating_add(every)) {
                for p in 0..NP {
                    let weights = B::widen(blocks.add(p * panel_stride + k));
                    for r in 0..MR {
                        let x = *x.add(r * x_stride + k);
                        for i in 0..VECTORS {
                            sums[r][p][i] = vfmaq_n_f32(sums[r][p][i], weights[i], x);
                        }
                    }
                }
            }
            input = input.saturating_add(every);
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sums) in sums.iter().enumerate() {
                for (i, sum) in sums.iter().enumerate() {
                    vst1q_f32(at(r, p, i), *sum);
                }
            }
        }
    }
}
