//! Kernels for x86-64 with AVX2 and FMA: tiles of up to 6 rows and 16 columns, twelve accumulators of 8
//! floats, which leaves four registers for weights, a mask and an input. Reference twin: `portable`.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
#![expect(clippy::needless_range_loop, reason = "a row counts in inputs and in sums")]

use std::arch::x86_64::{
    __m256, _MM_HINT_T1, _mm_load_si128, _mm_prefetch, _mm256_and_si256, _mm256_broadcast_ss, _mm256_castsi256_ps,
    _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_load_ps, _mm256_load_si256, _mm256_loadu_ps, _mm256_set1_epi32,
    _mm256_setzero_ps, _mm256_slli_epi32, _mm256_storeu_ps,
};
use std::marker::PhantomData;
use std::ops::Range;

use super::super::delta::recurrence::{self, Recurrence};
use super::super::ops;
use super::super::pack::{Bf16x16, F16x16, F32x16, NR};
use super::GemmArgs;
use super::blocking::{self, Tile, Tiles, tile_of_shape};
use crate::model::spec::Activation;

/// Computes a product on f32 panels.
///
/// # Safety
/// The processor must have AVX2, FMA and F16C; the pointers of `args` must reach what their documentation
/// says; `out` must not be in use elsewhere.
#[target_feature(enable = "avx2,fma,f16c")]
pub unsafe fn product_f32(args: &GemmArgs<F32x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx2<F32x16>>(args) }
}

/// Computes a product on bf16 panels.
///
/// # Safety
/// As for [`product_f32`].
#[target_feature(enable = "avx2,fma,f16c")]
pub unsafe fn product_bf16(args: &GemmArgs<Bf16x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx2<Bf16x16>>(args) }
}

/// Computes a product on f16 panels.
///
/// # Safety
/// As for [`product_f32`].
#[target_feature(enable = "avx2,fma,f16c")]
pub unsafe fn product_f16(args: &GemmArgs<F16x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx2<F16x16>>(args) }
}

/// [`ops::softmax`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn softmax(scores: &mut [f32], scale: f32) -> (f32, f32) {
    ops::softmax(scores, scale)
}

/// [`ops::activate`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn activate(activation: Activation, input: &[f32], out: &mut [f32]) {
    ops::activate(activation, input, out);
}

/// [`recurrence::convolve`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn convolve(filter: &[f32], inputs: &[f32], out: &mut [f32]) {
    recurrence::convolve(filter, inputs, out);
}

/// [`recurrence::recur`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn recur(state: &mut [F32x16], of: &Recurrence<'_>, rows: Range<usize>, out: &mut [[f32; NR]]) {
    recurrence::recur(state, of, rows, out);
}

/// A block that AVX2 can widen.
trait Widen {
    /// The weights of outputs 0 to 7 and 8 to 15.
    unsafe fn widen(block: *const Self) -> [__m256; 2];
}

impl Widen for F32x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> [__m256; 2] {
        // SAFETY: a block, aligned to its size.
        unsafe { [_mm256_load_ps(block.cast()), _mm256_load_ps(block.cast::<f32>().add(8))] }
    }
}

impl Widen for Bf16x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe {
            let pairs = _mm256_load_si256(block.cast());
            let high = _mm256_set1_epi32(0xffff_0000_u32 as i32);
            [_mm256_castsi256_ps(_mm256_slli_epi32::<16>(pairs)), _mm256_castsi256_ps(_mm256_and_si256(pairs, high))]
        }
    }
}

impl Widen for F16x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> [__m256; 2] {
        // SAFETY: as above.
        unsafe {
            let half = |at: usize| _mm256_cvtph_ps(_mm_load_si128(block.cast::<u16>().add(at).cast()));
            [half(0), half(8)]
        }
    }
}

/// Tiles of AVX2.
struct Avx2<B>(PhantomData<B>);

impl<B: Widen> Tiles for Avx2<B> {
    type Block = B;
    const ROWS: usize = 6;

    fn panels(rows: usize) -> usize {
        match rows {
            1 => 4,
            2 => 2,
            _ => 1,
        }
    }

    #[inline(always)]
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile<B>) {
        // SAFETY: the caller's duty, passed on.
        unsafe {
            tile_of_shape!(run::(B), rows, panels, tile, [1, 4] [1, 2] [1, 1] [2, 2] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1]);
        }
    }
}

/// A tile of `MR` rows and `NP` panels.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run<B: Widen, const MR: usize, const NP: usize>(tile: &Tile<B>) {
    let &Tile { x, x_stride, k, blocks, panel_stride, sums: out, sums_stride, fresh, ahead, every } = tile;
    let mut sums = [[[_mm256_setzero_ps(); 2]; NP]; MR];
    // SAFETY: sums `[MR, NP * 16]`, rows of `k` inputs and panels of `k` blocks are the tile's; fetching
    // needs no valid address.
    unsafe {
        let at = |r: usize, p: usize, half: usize| out.add(r * sums_stride + p * NR + half * 8);
        if !fresh {
            for (r, sums) in sums.iter_mut().enumerate() {
                for (p, sums) in sums.iter_mut().enumerate() {
                    *sums = [_mm256_loadu_ps(at(r, p, 0)), _mm256_loadu_ps(at(r, p, 1))];
                }
            }
        }
        let mut ahead = ahead;
        let mut input = 0;
        while input < k {
            for p in 0..NP {
                _mm_prefetch::<_MM_HINT_T1>(ahead.wrapping_add(p * panel_stride).cast());
            }
            ahead = ahead.wrapping_byte_add(64);
            for k in input..k.min(input.saturating_add(every)) {
                for p in 0..NP {
                    let [left, right] = B::widen(blocks.add(p * panel_stride + k));
                    for r in 0..MR {
                        let x = _mm256_broadcast_ss(&*x.add(r * x_stride + k));
                        sums[r][p][0] = _mm256_fmadd_ps(x, left, sums[r][p][0]);
                        sums[r][p][1] = _mm256_fmadd_ps(x, right, sums[r][p][1]);
                    }
                }
            }
            input = input.saturating_add(every);
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sums) in sums.iter().enumerate() {
                _mm256_storeu_ps(at(r, p, 0), sums[0]);
                _mm256_storeu_ps(at(r, p, 1), sums[1]);
            }
        }
    }
}
