//! Kernels for x86-64 with AVX-512 and its dot products of bytes (VNNI): one instruction multiplies 16
//! outputs by 4 inputs and adds up. The codes stay unsigned, as the instruction wants them; the sums start
//! from what that adds too much. Reference twin: `portable`.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use std::arch::x86_64::{
    __m128i, __m512, __m512i, _MM_HINT_T0, _MM_HINT_T1, _mm_load_si128, _mm_prefetch, _mm256_load_si256,
    _mm512_add_epi32, _mm512_and_si512, _mm512_castsi512_ps, _mm512_cvtepi8_epi32, _mm512_cvtepi32_ps,
    _mm512_cvtepu8_epi32, _mm512_cvtepu16_epi32, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps,
    _mm512_load_si512, _mm512_loadu_ps, _mm512_max_epi32, _mm512_min_epi32, _mm512_mul_ps, _mm512_set1_epi8,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_slli_epi32,
    _mm512_srli_epi16, _mm512_srli_epi32, _mm512_storeu_ps, _mm512_sub_epi32, _mm512_ternarylogic_epi32,
};
use std::marker::PhantomData;

use super::blocking::{self, Tile, Tiles};
use super::factors::{self, Factors, Of, Vector, product_of_format};
use super::weights::{self, Line, Scales};
use super::{NR, QuantizedGemmArgs};
use crate::backend::cpu::gemm::blocking::tile_of_shape;
use crate::backend::storage::{Bits, Kind, UNIT};

/// Computes a product.
///
/// # Safety
/// The processor must have AVX-512 F, BW and VNNI; `out` must reach what its documentation says and not
/// be in use elsewhere.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn product(args: &QuantizedGemmArgs<'_>) {
    // SAFETY: the caller's duty, passed on.
    unsafe {
        product_of_format!(Avx512, args);
    }
}

/// All outputs of a panel.
impl Vector for __m512 {
    #[inline(always)]
    unsafe fn bf16(scales: *const Scales, _: usize) -> Self {
        // SAFETY: aligned scales (the caller's duty), as for those below.
        unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_load_si256(scales.cast())))) }
    }

    #[inline(always)]
    unsafe fn f16(scales: *const Scales, _: usize) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_cvtph_ps(_mm256_load_si256(scales.cast())) }
    }

    #[inline(always)]
    unsafe fn unsigned(scales: *const Scales, row: usize, _: usize) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_load_si128(scales.cast::<__m128i>().add(row)))) }
    }

    #[inline(always)]
    unsafe fn signed(scales: *const Scales, row: usize, _: usize) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_load_si128(scales.cast::<__m128i>().add(row)))) }
    }

    #[inline(always)]
    unsafe fn nibbles(scales: *const Scales, row: usize, _: usize) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let bytes = _mm512_cvtepu8_epi32(_mm_load_si128(scales.cast::<__m128i>().add(row)));
            let low = _mm512_and_si512(bytes, _mm512_set1_epi32(15));
            [_mm512_cvtepi32_ps(low), _mm512_cvtepi32_ps(_mm512_srli_epi32::<4>(bytes))]
        }
    }

    #[inline(always)]
    unsafe fn powers(scales: *const Scales, row: usize, _: usize) -> Self {
        // SAFETY: as above.
        unsafe {
            let bytes = _mm512_cvtepu8_epi32(_mm_load_si128(scales.cast::<__m128i>().add(row)));
            let one = _mm512_set1_epi32(1);
            let normal = _mm512_slli_epi32::<23>(_mm512_sub_epi32(bytes, one));
            // 0x200000 of exponent 0, 0x400000 of 1, which as whole numbers are above the others only there.
            let small = _mm512_slli_epi32::<21>(_mm512_add_epi32(_mm512_min_epi32(bytes, one), one));
            _mm512_castsi512_ps(_mm512_max_epi32(normal, small))
        }
    }

    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        // SAFETY: plain arithmetic, on a processor that has it.
        unsafe { _mm512_mul_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn all(number: f32) -> Self {
        // SAFETY: as above.
        unsafe { _mm512_set1_ps(number) }
    }
}

/// Codes of one width.
trait Codes {
    /// Cache lines of a block.
    const LINES: usize;
    /// Panels side by side for one row. One after another they are read in the order of memory, where
    /// fetching ahead is easiest. Codes of 5 and 6 bits take longer to put together and have four at once.
    const BESIDE: usize;

    /// The codes of steps `2 * pair` and `2 * pair + 1` of a block.
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2];
}

struct Eight;

impl Codes for Eight {
    const LINES: usize = Bits::Eight.lines();
    const BESIDE: usize = 1;

    #[inline(always)]
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2] {
        // SAFETY: two lines of a block.
        unsafe { [_mm512_load_si512(block.add(2 * pair).cast()), _mm512_load_si512(block.add(2 * pair + 1).cast())] }
    }
}

struct Four;

impl Codes for Four {
    const LINES: usize = Bits::Four.lines();
    const BESIDE: usize = 1;

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

/// Codes of 4 bits that are places in the table of `Bits` number `BITS`.
struct Table<const BITS: usize>;

type Uneven = Table<{ Bits::Uneven as usize }>;
type Float = Table<{ Bits::Float as usize }>;
type GridThreeXxs = Table<{ Bits::GridThreeXxs as usize }>;
type GridThree = Table<{ Bits::GridThree as usize }>;
type Grid = Table<{ Bits::Grid as usize }>;

impl<const BITS: usize> Table<BITS> {
    /// The numbers with their offset, four times over.
    const NUMBERS: &Aligned = &{
        let table = weights::table(BITS);
        let mut numbers = [0; 64];
        let mut i = 0;
        while i < 64 {
            numbers[i] = (table[i % 16] as u8) ^ 128;
            i += 1;
        }
        Aligned(numbers)
    };
}

#[repr(align(64))]
struct Aligned([u8; 64]);

impl<const BITS: usize> Codes for Table<BITS> {
    const LINES: usize = 4;
    const BESIDE: usize = 1;

    #[inline(always)]
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2] {
        // SAFETY: as above.
        unsafe {
            let numbers = _mm512_load_si512(Self::NUMBERS.0.as_ptr().cast());
            let [even, odd] = Four::pair(block, pair);
            [_mm512_shuffle_epi8(numbers, even), _mm512_shuffle_epi8(numbers, odd)]
        }
    }
}

/// Codes of 2 or 3 bits.
struct Low<const BITS: usize>;

type Two = Low<2>;
type Three = Low<3>;

impl<const BITS: usize> Codes for Low<BITS> {
    const LINES: usize = BITS;
    const BESIDE: usize = 4;

    #[inline(always)]
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2] {
        // SAFETY: lines of a block.
        unsafe {
            let four = _mm512_load_si512(block.add(pair / 2).cast());
            let (even, odd) = match pair % 2 {
                0 => (four, _mm512_srli_epi16::<2>(four)),
                _ => (_mm512_srli_epi16::<4>(four), _mm512_srli_epi16::<6>(four)),
            };
            let low = _mm512_set1_epi8(3);
            if BITS == 2 {
                return [_mm512_and_si512(even, low), _mm512_and_si512(odd, low)];
            }
            let upper = _mm512_load_si512(block.add(2).cast());
            let (of_even, of_odd) = match pair {
                0 => (_mm512_slli_epi16::<2>(upper), _mm512_slli_epi16::<1>(upper)),
                1 => (upper, _mm512_srli_epi16::<1>(upper)),
                2 => (_mm512_srli_epi16::<2>(upper), _mm512_srli_epi16::<3>(upper)),
                _ => (_mm512_srli_epi16::<4>(upper), _mm512_srli_epi16::<5>(upper)),
            };
            let above = _mm512_set1_epi8(4);
            let joined = |a, b| _mm512_ternarylogic_epi32::<0xf8>(_mm512_and_si512(b, above), a, low);
            [joined(even, of_even), joined(odd, of_odd)]
        }
    }
}

/// Codes of 5 or 6 bits: the upper ones come from lines of their own.
struct Upper<const BITS: usize>;

type Five = Upper<5>;
type Six = Upper<6>;

impl<const BITS: usize> Upper<BITS> {
    const OF: Bits = if BITS == 6 { Bits::Six } else { Bits::Five };
}

impl<const BITS: usize> Codes for Upper<BITS> {
    const LINES: usize = Self::OF.lines();
    const BESIDE: usize = 4;

    #[inline(always)]
    unsafe fn pair(block: *const Line, pair: usize) -> [__m512i; 2] {
        let (line, shift) = Self::OF.upper(pair);
        // SAFETY: lines of a block.
        unsafe {
            let both = _mm512_load_si512(block.add(pair).cast());
            let upper = _mm512_load_si512(block.add(line).cast());
            // By constants: shifts by a register take 4 % more of a step with eight rows.
            let (even, odd) = match shift {
                0 => (upper, _mm512_slli_epi16::<4>(upper)),
                1 => (_mm512_srli_epi16::<1>(upper), _mm512_slli_epi16::<3>(upper)),
                2 => (_mm512_srli_epi16::<2>(upper), _mm512_slli_epi16::<2>(upper)),
                _ => (_mm512_srli_epi16::<3>(upper), _mm512_slli_epi16::<1>(upper)),
            };
            let (low, mask) = (_mm512_set1_epi8(15), _mm512_set1_epi8(if BITS == 6 { 0x30 } else { 0x10 }));
            // Below the low four bits, above them the upper ones: `b | (a & low)`.
            let joined = |a, b| _mm512_ternarylogic_epi32::<0xf8>(_mm512_and_si512(b, mask), a, low);
            [joined(both, even), joined(_mm512_srli_epi16::<4>(both), odd)]
        }
    }
}

/// Tiles of this processor.
struct Avx512<C, F>(PhantomData<(C, F)>);

impl<C: Codes, F: Factors> Tiles for Avx512<C, F> {
    const LINES: usize = C::LINES;
    const SCALES: usize = F::KIND.scales();
    const UNITS: usize = F::KIND.units();
    const ROWS: usize = 8;

    fn panels(rows: usize) -> usize {
        match rows {
            1 => C::BESIDE,
            2 => 2,
            _ => 1,
        }
    }

    #[inline(always)]
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile) {
        // SAFETY: the caller's duty, passed on.
        unsafe {
            tile_of_shape!(run::(C, F), rows, panels, tile, [1, 4] [1, 2] [1, 1] [2, 2] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1] [7, 1] [8, 1]);
        }
    }
}

/// Fetches a cache line for a later tile. For several rows, two slices of 4-bit codes fit into the
/// first-level cache beside the inputs, which is 12 to 15 % faster at eight rows. Wider codes do not fit (10
/// to 25 % slower), and one row would wait for its misses there.
#[inline(always)]
unsafe fn fetch<C: Codes, const MR: usize>(line: *const i8) {
    // SAFETY: the caller's duty, passed on; any address will do.
    unsafe {
        if MR > 2 && C::LINES <= Bits::Four.lines() {
            _mm_prefetch::<_MM_HINT_T0>(line);
        } else {
            _mm_prefetch::<_MM_HINT_T1>(line);
        }
    }
}

/// A tile of `MR` rows and `NP` panels.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn run<C: Codes, F: Factors, const MR: usize, const NP: usize>(tile: &Tile) {
    let &Tile { codes, scales, units, stride, first, blocks, x, x_stride, sums: out, ahead, every, .. } = tile;
    let halves = F::KIND.has_halves();
    let units_of_panel = F::KIND.units() * stride.div_ceil(UNIT);
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
                    fetch::<C, MR>(codes.wrapping_add(at * C::LINES + line).cast());
                }
                if F::KIND.scales() > 0 {
                    fetch::<C, MR>(scales.wrapping_add(at * F::KIND.scales()).cast());
                }
                // Formats with units have whole numbers of eight blocks in a panel.
                if F::KIND.units() > 0 && (first + ahead).is_multiple_of(UNIT) {
                    let at = p * units_of_panel + (first + ahead) / UNIT * F::KIND.units();
                    for line in (0..F::KIND.units()).step_by(2) {
                        fetch::<C, MR>(units.wrapping_add(at + line).cast());
                    }
                }
            }
            ahead += 1;
            let end = blocks.min(block + every);
            while block < end {
                let x = x.add(block * x_stride);
                let sums_of_x = tile.sums_of_x.wrapping_add(block * x_stride);
                let starts = tile.starts.wrapping_add(block * x_stride);
                #[expect(clippy::needless_range_loop, reason = "the sums of a panel lie apart")]
                for p in 0..NP {
                    let at = p * stride + block;
                    let units = units.wrapping_add(p * units_of_panel + (first + block) / UNIT * F::KIND.units());
                    let of_block = scales.wrapping_add(at * F::KIND.scales());
                    let factors = factors::load::<__m512>(F::KIND, of_block, (units, (first + block) % UNIT), 0);
                    let mut whole = [_mm512_set1_epi32(0); MR];
                    for (r, whole) in whole.iter_mut().enumerate() {
                        let start = if halves { (*starts.add(r))[0] } else { (*x.add(r)).start };
                        *whole = _mm512_set1_epi32(start);
                    }
                    for pair in 0..4 {
                        if halves && pair == 2 {
                            for (r, whole) in whole.iter_mut().enumerate() {
                                let scale = _mm512_mul_ps(factors.scales[0], _mm512_set1_ps((*x.add(r)).scale));
                                sums[r][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(*whole), scale, sums[r][p]);
                                *whole = _mm512_set1_epi32((*starts.add(r))[1]);
                            }
                        }
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
                    let factor = factors.scales[1];
                    for (r, whole) in whole.into_iter().enumerate() {
                        let of_x = _mm512_set1_ps((*x.add(r)).scale);
                        let scale = _mm512_mul_ps(factor, of_x);
                        sums[r][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scale, sums[r][p]);
                        if F::KIND.has_min() {
                            let of_halves = *sums_of_x.add(r);
                            sums[r][p] = _mm512_fmadd_ps(_mm512_set1_ps(of_halves[0]), factors.mins[0], sums[r][p]);
                            if halves {
                                sums[r][p] = _mm512_fmadd_ps(_mm512_set1_ps(of_halves[1]), factors.mins[1], sums[r][p]);
                            }
                        }
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
