//! Kernels for x86-64 with AVX-512: tiles of up to 12 rows and two panels of 16 columns, an accumulator
//! for a row of a panel. Reference twin: `portable`.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
#![expect(clippy::needless_range_loop, reason = "a row counts in inputs and in sums")]

use std::arch::x86_64::{
    __m512, _MM_HINT_T1, _mm_prefetch, _mm256_load_si256, _mm512_castsi512_ps, _mm512_cvtepu16_epi32, _mm512_cvtph_ps,
    _mm512_fmadd_ps, _mm512_load_ps, _mm512_loadu_ps, _mm512_permutexvar_ps, _mm512_set1_ps, _mm512_setr_epi32,
    _mm512_setzero_ps, _mm512_slli_epi32, _mm512_storeu_ps,
};
use std::marker::PhantomData;

use super::super::pack::{Bf16x16, F16x16, F32x16, NR};
use super::GemmArgs;
use super::blocking::{self, Tile, Tiles, tile_of_shape};

/// Computes a product on f32 panels.
///
/// # Safety
/// The processor must have AVX-512 F; the pointers of `args` must reach what their documentation says; `out`
/// must not be in use elsewhere.
#[target_feature(enable = "avx512f")]
pub unsafe fn product_f32(args: &GemmArgs<F32x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx512<F32x16>>(args) }
}

/// Computes a product on bf16 panels.
///
/// # Safety
/// As for [`product_f32`].
#[target_feature(enable = "avx512f")]
pub unsafe fn product_bf16(args: &GemmArgs<Bf16x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx512<Bf16x16>>(args) }
}

/// Computes a product on f16 panels.
///
/// # Safety
/// As for [`product_f32`].
#[target_feature(enable = "avx512f")]
pub unsafe fn product_f16(args: &GemmArgs<F16x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx512<F16x16>>(args) }
}

/// A block that AVX-512 can widen, to lanes of any order.
trait Widen {
    /// The weights.
    unsafe fn widen(block: *const Self) -> __m512;

    /// From the order of outputs to that of lanes.
    #[inline(always)]
    unsafe fn to_lanes(outputs: __m512) -> __m512 {
        outputs
    }

    /// Back again.
    #[inline(always)]
    unsafe fn to_outputs(lanes: __m512) -> __m512 {
        lanes
    }
}

impl Widen for F32x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> __m512 {
        // SAFETY: a block, aligned to its size.
        unsafe { _mm512_load_ps(block.cast()) }
    }
}

impl Widen for Bf16x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> __m512 {
        // SAFETY: as above.
        unsafe {
            let halves = _mm512_cvtepu16_epi32(_mm256_load_si256(block.cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(halves))
        }
    }

    #[inline(always)]
    unsafe fn to_lanes(outputs: __m512) -> __m512 {
        // SAFETY: plain arithmetic, on a processor that has it.
        unsafe {
            let order = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
            _mm512_permutexvar_ps(order, outputs)
        }
    }

    #[inline(always)]
    unsafe fn to_outputs(lanes: __m512) -> __m512 {
        // SAFETY: as above.
        unsafe {
            let order = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
            _mm512_permutexvar_ps(order, lanes)
        }
    }
}

impl Widen for F16x16 {
    #[inline(always)]
    unsafe fn widen(block: *const Self) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_cvtph_ps(_mm256_load_si256(block.cast())) }
    }
}

/// Tiles of AVX-512.
struct Avx512<B>(PhantomData<B>);

impl<B: Widen> Tiles for Avx512<B> {
    type Block = B;
    const ROWS: usize = 12;

    fn panels(rows: usize) -> usize {
        match rows {
            1 | 2 => 4,
            // With one panel five rows took longer than seven where memory is slow (docs/performance.md).
            _ => 2,
        }
    }

    #[inline(always)]
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile<B>) {
        // SAFETY: the caller's duty, passed on.
        unsafe {
            tile_of_shape!(run::(B), rows, panels, tile, [1, 4] [2, 4] [1, 2] [2, 2] [3, 2] [4, 2] [5, 2] [6, 2] [7, 2] [8, 2] [9, 2] [10, 2] [11, 2] [12, 2] [1, 1] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1] [7, 1] [8, 1] [9, 1] [10, 1] [11, 1] [12, 1]);
        }
    }
}

/// A tile of `MR` rows and `NP` panels.
#[target_feature(enable = "avx512f")]
unsafe fn run<B: Widen, const MR: usize, const NP: usize>(tile: &Tile<B>) {
    let &Tile { x, x_stride, k, blocks, panel_stride, sums: out, sums_stride, fresh, ahead, every } = tile;
    let mut sums = [[_mm512_setzero_ps(); NP]; MR];
    // SAFETY: sums `[MR, NP * 16]`, rows of `k` inputs and panels of `k` blocks are the tile's; fetching
    // needs no valid address.
    unsafe {
        for (r, sums) in sums.iter_mut().enumerate().take(if fresh { 0 } else { MR }) {
            for (p, sum) in sums.iter_mut().enumerate() {
                *sum = B::to_lanes(_mm512_loadu_ps(out.add(r * sums_stride + p * NR)));
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
                let mut weights = [_mm512_setzero_ps(); NP];
                for (p, weights) in weights.iter_mut().enumerate() {
                    *weights = B::widen(blocks.add(p * panel_stride + k));
                }
                for r in 0..MR {
                    let x = _mm512_set1_ps(*x.add(r * x_stride + k));
                    for p in 0..NP {
                        sums[r][p] = _mm512_fmadd_ps(x, weights[p], sums[r][p]);
                    }
                }
            }
            input = input.saturating_add(every);
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sum) in sums.iter().enumerate() {
                _mm512_storeu_ps(out.add(r * sums_stride + p * NR), B::to_outputs(*sum));
            }
        }
    }
}
