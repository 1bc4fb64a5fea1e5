//! Kernels for x86-64 with AVX-512 and its dot products of bytes (VNNI): one instruction multiplies 16
//! outputs by 4 inputs and adds up. The codes stay unsigned, as the instruction wants them; the sums start
//! from what that adds too much. Reference twin: `portable`.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use std::arch::x86_64::{
    __m512i, _MM_HINT_T1, _mm_prefetch, _mm256_load_si256, _mm512_and_si512, _mm512_castsi512_ps, _mm512_cvtepi32_ps,
    _mm512_cvtepu16_epi32, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_load_si512, _mm512_loadu_ps, _mm512_mul_ps,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32, _mm512_srli_epi16,
    _mm512_storeu_ps,
};
use std::marker::PhantomData;

use super::blocking::{self, Tile, Tiles};
use super::weights::{Bits, Line};
use super::{Job, NR};
use crate::backend::cpu::gemm::blocking::tile_of_shape;

/// Runs a job on int8 weights.
///
/// # Safety
/// The processor must have AVX-512 F, BW and VNNI; `out` must reach what the job's documentation says and not
/// be in use elsewhere.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn product_int8(job: &Job<'_>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx512<Int8>>(job) }
}

/// Runs a job on int4 weights.
///
/// # Safety
/// As for [`product_int8`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn product_int4(job: &Job<'_>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { blocking::product::<Avx512<Int4>>(job) }
}

/// Codes of one width.
trait Codes {
    /// Cache lines of a block.
    const LINES: usize;

    /// The codes of steps `2 * pair` and `2 * pair + 1` of a block.
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2];
}

struct Int8;

impl Codes for Int8 {
    const LINES: usize = Bits::Eight.lines();

    #[inline(always)]
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2] {
        // SAFETY: two lines of a block.
        unsafe { [_mm512_load_si512(block.add(2 * pair).cast()), _mm512_load_si512(block.add(2 * pair + 1).cast())] }
    }
}

struct Int4;

impl Codes for Int4 {
    const LINES: usize = Bits::Four.lines();

    #[inline(always)]
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2] {
        // SAFETY: a line of a block.
        unsafe {
            let both = _mm512_load_si512(block.add(pair).cast());
            let low = _mm512_set1_epi8(15);
            [_mm512_and_si512(both, low), _mm512_and_si512(_mm512_srli_epi16::<4>(both), low)]
        }
    }
}

/// Tiles of this processor.
struct Avx512<C>(PhantomData<C>);

impl<C: Codes> Tiles for Avx512<C> {
    const LINES: usize = C::LINES;
    const ROWS: usize = 8;

    fn panels(rows: usize) -> usize {
        match rows {
            1 => 4,
            2 => 2,
            _ => 1,
        }
    }

    #[inline(always)]
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile) {
        // SAFETY: the caller's duty, passed on.
        unsafe {
            tile_of_shape!(run::<C>, rows, panels, tile, [1, 4] [1, 2] [1, 1] [2, 2] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1] [7, 1] [8, 1]);
        }
    }
}

/// A tile of `MR` rows and `NP` panels.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn run<C: Codes, const MR: usize, const NP: usize>(tile: &Tile) {
    let &Tile { codes, scales, stride, blocks, x, x_stride, sums: out, ahead, every } = tile;
    let mut sums = [[_mm512_setzero_ps(); NP]; MR];
    // SAFETY: sums `[MR, NP * 16]`, and blocks of rows and panels are the tile's; fetching needs no valid
    // address.
    unsafe {
        for (r, sums) in sums.iter_mut().enumerate() {
            for (p, sum) in sums.iter_mut().enumerate() {
                *sum = _mm512_loadu_ps(out.add((r * NP + p) * NR));
            }
        }
        let mut ahead = ahead;
        let mut block = 0;
        while block < blocks {
            for p in 0..NP {
                let at = p * stride + ahead;
                for line in 0..C::LINES {
                    _mm_prefetch::<_MM_HINT_T1>(codes.wrapping_add(at * C::LINES + line).cast());
                }
                _mm_prefetch::<_MM_HINT_T1>(scales.wrapping_add(at).cast());
            }
            ahead += 1;
            let end = blocks.min(block + every);
            while block < end {
                let x = x.add(block * x_stride);
                #[expect(clippy::needless_range_loop, reason = "the sums of a panel lie apart")]
                for p in 0..NP {
                    let at = p * stride + block;
                    let mut whole = [_mm512_set1_epi32(0); MR];
                    for (r, whole) in whole.iter_mut().enumerate() {
                        *whole = _mm512_set1_epi32((*x.add(r)).start);
                    }
                    for pair in 0..4 {
                        let weights = C::pair(codes.add(at * C::LINES), pair);
                        for (half, weights) in weights.into_iter().enumerate() {
                            for (r, whole) in whole.iter_mut().enumerate() {
                                let four = (&raw const (*x.add(r)).codes).cast::<[u8; 4]>().add(2 * pair + half);
                                *whole = _mm512_dpbusd_epi32(
                                    *whole,
                                    weights,
                                    _mm512_set1_epi32(i32::from_ne_bytes(four.read())),
                                );
                            }
                        }
                    }
                    let halves = _mm512_cvtepu16_epi32(_mm256_load_si256(scales.add(at).cast()));
                    let scale = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(halves));
                    for (r, whole) in whole.into_iter().enumerate() {
                        let scale = _mm512_mul_ps(scale, _mm512_set1_ps((*x.add(r)).scale));
                        sums[r][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scale, sums[r][p]);
                    }
                }
                block += 1;
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (p, sum) in sums.iter().enumerate() {
                _mm512_storeu_ps(out.add((r * NP + p) * NR), *sum);
            }
        }
    }
}
