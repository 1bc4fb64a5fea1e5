//! Kernels for x86-64 with AVX2 and FMA: products of bytes in pairs of 16 bits, which no sum of them leaves
//! (see the two kinds of codes). The f32 sums of a tile stay in memory, there are no registers for them.
//! Reference twin: `portable`.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _MM_HINT_T1, _mm_cvtsi32_si128, _mm_load_si128, _mm_loadl_epi64, _mm_loadu_si128,
    _mm_prefetch, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_castsi256_ps, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32, _mm256_cvtepu16_epi32,
    _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_load_si256, _mm256_loadu_ps, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_max_epi32, _mm256_min_epi32, _mm256_mul_ps, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sign_epi8, _mm256_sll_epi16,
    _mm256_slli_epi32, _mm256_srl_epi16, _mm256_srli_epi16, _mm256_srli_epi32, _mm256_storeu_ps, _mm256_sub_epi32,
    _mm256_xor_si256,
};
use std::marker::PhantomData;

use super::blocking::{self, Tile, Tiles};
use super::factors::{self, Factors, Of, Vector, product_of_format};
use super::weights::{self, Line, Scales};
use super::{InputBlock, NR, QuantizedGemmArgs, inputs, stored};
use crate::backend::cpu::gemm::blocking::tile_of_shape;
use crate::backend::storage::{Bits, Kind, UNIT};
use crate::model::TensorType;

/// Computes a product.
///
/// # Safety
/// The processor must have AVX2, FMA and F16C; `out` must reach what its documentation says and not be
/// in use elsewhere.
#[target_feature(enable = "avx2,fma,f16c")]
pub unsafe fn product(args: &QuantizedGemmArgs<'_>) {
    // SAFETY: the caller's duty, passed on.
    unsafe {
        product_of_format!(Avx2, args);
    }
}

/// Eight outputs: the first or the second half of a panel.
impl Vector for __m256 {
    #[inline(always)]
    unsafe fn bf16(scales: *const Scales, half: usize) -> Self {
        // SAFETY: aligned scales (the caller's duty), as for those below.
        unsafe {
            let stored = _mm_load_si128(scales.cast::<__m128i>().add(half));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(stored)))
        }
    }

    #[inline(always)]
    unsafe fn f16(scales: *const Scales, half: usize) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_cvtph_ps(_mm_load_si128(scales.cast::<__m128i>().add(half))) }
    }

    #[inline(always)]
    unsafe fn unsigned(scales: *const Scales, row: usize, half: usize) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes(scales, row, half))) }
    }

    #[inline(always)]
    unsafe fn signed(scales: *const Scales, row: usize, half: usize) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes(scales, row, half))) }
    }

    #[inline(always)]
    unsafe fn nibbles(scales: *const Scales, row: usize, half: usize) -> [Self; 2] {
        // SAFETY: as above.
        unsafe {
            let bytes = _mm256_cvtepu8_epi32(bytes(scales, row, half));
            let low = _mm256_and_si256(bytes, _mm256_set1_epi32(15));
            [_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(_mm256_srli_epi32::<4>(bytes))]
        }
    }

    #[inline(always)]
    unsafe fn powers(scales: *const Scales, row: usize, half: usize) -> Self {
        // SAFETY: as above.
        unsafe {
            let bytes = _mm256_cvtepu8_epi32(bytes(scales, row, half));
            let one = _mm256_set1_epi32(1);
            let normal = _mm256_slli_epi32::<23>(_mm256_sub_epi32(bytes, one));
            // 0x200000 of exponent 0, 0x400000 of 1, which as whole numbers are above the others only there.
            let small = _mm256_slli_epi32::<21>(_mm256_add_epi32(_mm256_min_epi32(bytes, one), one));
            _mm256_castsi256_ps(_mm256_max_epi32(normal, small))
        }
    }

    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        // SAFETY: plain arithmetic, on a processor that has it.
        unsafe { _mm256_mul_ps(self, other) }
    }

    #[inline(always)]
    unsafe fn all(number: f32) -> Self {
        // SAFETY: as above.
        unsafe { _mm256_set1_ps(number) }
    }
}

/// Eight of the bytes of a row of scales, of which two are one of them.
#[inline(always)]
unsafe fn bytes(scales: *const Scales, row: usize, half: usize) -> __m128i {
    // SAFETY: eight bytes of the scales.
    unsafe { _mm_loadl_epi64(scales.cast::<u8>().add(16 * row + 8 * half).cast()) }
}

/// [`inputs::quantise_row`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2; for the rest as there.
#[target_feature(enable = "avx2")]
pub unsafe fn quantise_row(x: &[f32], offset: i32, to: *mut InputBlock, stride: usize) {
    // SAFETY: the caller's duty, passed on.
    unsafe { inputs::quantise_row(x, offset, to, stride) }
}

/// [`stored::repack_output`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2,f16c")]
pub unsafe fn repack_output(
    dtype: TensorType,
    row: &[u8],
    panel: (&mut [Line], &mut [Scales], &mut [Scales]),
    c: usize,
) {
    stored::repack_output(dtype, row, panel, c);
}

/// [`weights::quantise_output`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn quantise_output(bits: Bits, weights: &[f32], codes: &mut [Line], scales: &mut [Scales], c: usize) {
    weights::quantise_output(bits, weights, codes, scales, c);
}

/// Codes of one width.
trait Codes {
    /// Cache lines of a block.
    const LINES: usize;
    /// Codes of one step and half a panel, `[8 outputs][4 inputs]`, in the form that [`add`](Self::add)
    /// wants.
    type Half: Copy;

    /// The codes of step `2 * pair`, outputs 0 to 7 or 8 to 15.
    unsafe fn even(block: *const Line, pair: usize, half: usize) -> Self::Half;

    /// The codes of the step behind it.
    unsafe fn odd(block: *const Line, pair: usize, half: usize) -> Self::Half;

    /// Adds the products of 8 outputs and 4 inputs.
    unsafe fn add(sums: __m256i, half: Self::Half, x: __m256i) -> __m256i;

    /// The 8 sums of a block, given what they start from if codes are unsigned.
    unsafe fn whole(sums: __m256i, start: i32) -> __m256i;
}

struct Eight;

impl Codes for Eight {
    const LINES: usize = Bits::Eight.lines();
    /// Magnitudes and signed codes.
    type Half = (__m256i, __m256i);

    #[inline(always)]
    unsafe fn even(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: a line of a block.
        unsafe {
            let stored = _mm256_load_si256(block.add(2 * pair).cast::<__m256i>().add(half));
            let signed = _mm256_xor_si256(stored, _mm256_set1_epi8(i8::MIN));
            (_mm256_abs_epi8(signed), signed)
        }
    }

    #[inline(always)]
    unsafe fn odd(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: the line behind it, as the even one of a block that starts there.
        unsafe { Self::even(block.add(1), pair, half) }
    }

    /// `|w| * sign(x, w)`: two products of at most 127 * 127 fit into 16 bits, more would not.
    #[inline(always)]
    unsafe fn add(sums: __m256i, (magnitude, signed): Self::Half, x: __m256i) -> __m256i {
        // SAFETY: plain arithmetic, on a processor that has it.
        unsafe {
            let pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(x, signed));
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }

    #[inline(always)]
    unsafe fn whole(sums: __m256i, _: i32) -> __m256i {
        sums
    }
}

struct Four;

impl Codes for Four {
    const LINES: usize = Bits::Four.lines();
    type Half = __m256i;

    #[inline(always)]
    unsafe fn even(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: a line of a block.
        unsafe {
            let both = _mm256_load_si256(block.add(pair).cast::<__m256i>().add(half));
            _mm256_and_si256(both, _mm256_set1_epi8(15))
        }
    }

    #[inline(always)]
    unsafe fn odd(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: as above.
        unsafe {
            let both = _mm256_load_si256(block.add(pair).cast::<__m256i>().add(half));
            _mm256_and_si256(_mm256_srli_epi16::<4>(both), _mm256_set1_epi8(15))
        }
    }

    /// Sums of 16 bits: 16 products of at most 15 * 127 are 30480.
    #[inline(always)]
    unsafe fn add(sums: __m256i, half: Self::Half, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi16(sums, _mm256_maddubs_epi16(half, x)) }
    }

    #[inline(always)]
    unsafe fn whole(sums: __m256i, start: i32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi32(_mm256_madd_epi16(sums, _mm256_set1_epi16(1)), _mm256_set1_epi32(start)) }
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
    const NUMBERS: &[i8; 16] = &weights::table(BITS);

    /// Magnitudes and numbers with their signs.
    #[inline(always)]
    unsafe fn numbers(places: __m256i) -> (__m256i, __m256i) {
        // SAFETY: plain arithmetic on a processor that has it, and the 16 bytes of the table.
        unsafe {
            let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(Self::NUMBERS.as_ptr().cast()));
            let signed = _mm256_shuffle_epi8(table, places);
            (_mm256_abs_epi8(signed), signed)
        }
    }
}

impl<const BITS: usize> Codes for Table<BITS> {
    const LINES: usize = 4;
    type Half = (__m256i, __m256i);

    #[inline(always)]
    unsafe fn even(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: the caller's duty, passed on.
        unsafe { Self::numbers(Four::even(block, pair, half)) }
    }

    #[inline(always)]
    unsafe fn odd(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: as above.
        unsafe { Self::numbers(Four::odd(block, pair, half)) }
    }

    #[inline(always)]
    unsafe fn add(sums: __m256i, half: Self::Half, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { Eight::add(sums, half, x) }
    }

    #[inline(always)]
    unsafe fn whole(sums: __m256i, _: i32) -> __m256i {
        sums
    }
}

/// Codes of 2 or 3 bits.
struct Low<const BITS: usize>;

type Two = Low<2>;
type Three = Low<3>;

impl<const BITS: usize> Low<BITS> {
    /// The codes of a step.
    #[inline(always)]
    unsafe fn step(block: *const Line, step: usize, half: usize) -> __m256i {
        // SAFETY: lines of a block.
        unsafe {
            let four = _mm256_load_si256(block.add(step / 4).cast::<__m256i>().add(half));
            let shift = |by: usize| _mm_cvtsi32_si128(by as i32);
            let low = _mm256_and_si256(_mm256_srl_epi16(four, shift(step % 4 * 2)), _mm256_set1_epi8(3));
            if BITS == 2 {
                return low;
            }
            let upper = _mm256_load_si256(block.add(2).cast::<__m256i>().add(half));
            let upper = if step < 2 {
                _mm256_sll_epi16(upper, shift(2 - step))
            } else {
                _mm256_srl_epi16(upper, shift(step - 2))
            };
            _mm256_or_si256(low, _mm256_and_si256(upper, _mm256_set1_epi8(4)))
        }
    }
}

impl<const BITS: usize> Codes for Low<BITS> {
    const LINES: usize = BITS;
    type Half = __m256i;

    #[inline(always)]
    unsafe fn even(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: the caller's duty, passed on.
        unsafe { Self::step(block, 2 * pair, half) }
    }

    #[inline(always)]
    unsafe fn odd(block: *const Line, pair: usize, half: usize) -> Self::Half {
        // SAFETY: as above.
        unsafe { Self::step(block, 2 * pair + 1, half) }
    }

    /// Sums of 16 bits, as those of [`Four`].
    #[inline(always)]
    unsafe fn add(sums: __m256i, half: Self::Half, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { Four::add(sums, half, x) }
    }

    #[inline(always)]
    unsafe fn whole(sums: __m256i, start: i32) -> __m256i {
        // SAFETY: as above.
        unsafe { Four::whole(sums, start) }
    }
}

/// Codes of 5 or 6 bits: the upper ones come from lines of their own.
struct Upper<const BITS: usize>;

type Five = Upper<5>;
type Six = Upper<6>;

impl<const BITS: usize> Upper<BITS> {
    const OF: Bits = if BITS == 6 { Bits::Six } else { Bits::Five };

    /// The low four bits of `both`, and above them those of `upper`.
    #[inline(always)]
    unsafe fn joined(both: __m256i, upper: __m256i) -> __m256i {
        // SAFETY: plain arithmetic, on a processor that has it.
        unsafe {
            let mask = _mm256_set1_epi8(if BITS == 6 { 0x30 } else { 0x10 });
            _mm256_or_si256(_mm256_and_si256(both, _mm256_set1_epi8(15)), _mm256_and_si256(upper, mask))
        }
    }
}

impl<const BITS: usize> Codes for Upper<BITS> {
    const LINES: usize = Self::OF.lines();
    type Half = __m256i;

    #[inline(always)]
    unsafe fn even(block: *const Line, pair: usize, half: usize) -> Self::Half {
        let (line, shift) = Self::OF.upper(pair);
        // SAFETY: lines of a block.
        unsafe {
            let both = _mm256_load_si256(block.add(pair).cast::<__m256i>().add(half));
            let upper = _mm256_load_si256(block.add(line).cast::<__m256i>().add(half));
            Self::joined(both, _mm256_srl_epi16(upper, _mm_cvtsi32_si128(shift as i32)))
        }
    }

    #[inline(always)]
    unsafe fn odd(block: *const Line, pair: usize, half: usize) -> Self::Half {
        let (line, shift) = Self::OF.upper(pair);
        // SAFETY: as above.
        unsafe {
            let both = _mm256_load_si256(block.add(pair).cast::<__m256i>().add(half));
            let upper = _mm256_load_si256(block.add(line).cast::<__m256i>().add(half));
            Self::joined(_mm256_srli_epi16::<4>(both), _mm256_sll_epi16(upper, _mm_cvtsi32_si128(4 - shift as i32)))
        }
    }

    /// Sums of 32 bits: 16 products of 31 * 127 would not fit into 16.
    #[inline(always)]
    unsafe fn add(sums: __m256i, half: Self::Half, x: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe {
            let pairs = _mm256_maddubs_epi16(half, x);
            _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        }
    }

    #[inline(always)]
    unsafe fn whole(sums: __m256i, start: i32) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_add_epi32(sums, _mm256_set1_epi32(start)) }
    }
}

/// Tiles of this processor.
struct Avx2<C, F>(PhantomData<(C, F)>);

impl<C: Codes, F: Factors> Tiles for Avx2<C, F> {
    const LINES: usize = C::LINES;
    const SCALES: usize = F::KIND.scales();
    const UNITS: usize = F::KIND.units();
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
            tile_of_shape!(run::(C, F), rows, panels, tile, [1, 4] [1, 2] [1, 1] [2, 2] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1] [7, 1] [8, 1]);
        }
    }
}

/// A tile of `MR` rows and `NP` panels.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn run<C: Codes, F: Factors, const MR: usize, const NP: usize>(tile: &Tile) {
    let &Tile { codes, scales, units, stride, first, blocks, x, x_stride, sums: out, ahead, every, .. } = tile;
    let halves = F::KIND.has_halves();
    let units_of_panel = F::KIND.units() * stride.div_ceil(UNIT);
    let mut ahead = ahead;
    let mut block = 0;
    // SAFETY: sums `[MR, NP * 16]`, and blocks of rows and panels are the tile's; fetching needs no valid
    // address.
    unsafe {
        while block < blocks {
            for p in 0..NP {
                let at = p * stride + ahead;
                for line in 0..C::LINES {
                    _mm_prefetch::<_MM_HINT_T1>(codes.wrapping_add(at * C::LINES + line).cast());
                }
                if F::KIND.scales() > 0 {
                    _mm_prefetch::<_MM_HINT_T1>(scales.wrapping_add(at * F::KIND.scales()).cast());
                }
                // Formats with units have whole numbers of eight blocks in a panel.
                if F::KIND.units() > 0 && (first + ahead).is_multiple_of(UNIT) {
                    let at = p * units_of_panel + (first + ahead) / UNIT * F::KIND.units();
                    for line in (0..F::KIND.units()).step_by(2) {
                        _mm_prefetch::<_MM_HINT_T1>(units.wrapping_add(at + line).cast());
                    }
                }
            }
            ahead += 1;
            let end = blocks.min(block + every);
            while block < end {
                let x = x.add(block * x_stride);
                let sums_of_x = tile.sums_of_x.wrapping_add(block * x_stride);
                let starts = tile.starts.wrapping_add(block * x_stride);
                for p in 0..NP {
                    let at = p * stride + block;
                    let units = units.wrapping_add(p * units_of_panel + (first + block) / UNIT * F::KIND.units());
                    // Half a panel at a time: more sums than that would not stay in registers.
                    for half in 0..2 {
                        let of_block = scales.wrapping_add(at * F::KIND.scales());
                        let number = (first + block) % UNIT;
                        let factors = factors::load::<__m256>(F::KIND, of_block, (units, number), half);
                        let lines = codes.add(at * C::LINES);
                        let mut sums = [_mm256_setzero_si256(); MR];
                        // No closures: from five rows on they are functions of their own, and sums leave the
                        // registers.
                        macro_rules! add {
                            ($weights:expr, $step:expr) => {
                                let weights = $weights;
                                for (r, sum) in sums.iter_mut().enumerate() {
                                    let four = (&raw const (*x.add(r)).codes).cast::<[u8; 4]>().add($step).read();
                                    *sum = C::add(*sum, weights, _mm256_set1_epi32(i32::from_ne_bytes(four)));
                                }
                            };
                        }
                        macro_rules! products {
                            ($($pair:literal)+) => {$(
                                add!(C::even(lines, $pair, half), 2 * $pair);
                                add!(C::odd(lines, $pair, half), 2 * $pair + 1);
                            )+};
                        }
                        macro_rules! finish {
                            ($factor:expr, $part:expr) => {
                                let part: Option<usize> = $part;
                                for (r, sum) in sums.iter().enumerate() {
                                    let start = match part {
                                        Some(part) => (*starts.add(r))[part],
                                        None => (*x.add(r)).start,
                                    };
                                    let whole = _mm256_cvtepi32_ps(C::whole(*sum, start));
                                    let of_x = _mm256_set1_ps((*x.add(r)).scale);
                                    let out = out.add((r * NP + p) * NR + half * 8);
                                    let factor = _mm256_mul_ps($factor, of_x);
                                    let mut sum = _mm256_fmadd_ps(whole, factor, _mm256_loadu_ps(out));
                                    if F::KIND.has_min() && part != Some(0) {
                                        let of_halves = *sums_of_x.add(r);
                                        sum = _mm256_fmadd_ps(_mm256_set1_ps(of_halves[0]), factors.mins[0], sum);
                                        if halves {
                                            sum = _mm256_fmadd_ps(_mm256_set1_ps(of_halves[1]), factors.mins[1], sum);
                                        }
                                    }
                                    _mm256_storeu_ps(out, sum);
                                }
                            };
                        }
                        if halves {
                            products!(0 1);
                            finish!(factors.scales[0], Some(0));
                            sums = [_mm256_setzero_si256(); MR];
                            products!(2 3);
                            finish!(factors.scales[1], Some(1));
                        } else {
                            products!(0 1 2 3);
                            finish!(factors.scales[0], None);
                        }
                    }
                }
                block += 1;
            }
        }
    }
}
