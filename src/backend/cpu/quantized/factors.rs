//! Factors of codes as products need them, over the vectors of any processor, and the formats that products
//! are compiled for.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use half::f16;

use super::weights::Scales;
use crate::backend::storage::Kind;
use crate::model::blocks::power_of_two;

/// Numbers of some outputs of a panel, as many as a vector has; `part` says which of the panel's vectors it
/// is. The processor must have the instructions, and scales must be valid for reading.
pub trait Vector: Copy {
    /// Numbers in bf16.
    unsafe fn bf16(scales: *const Scales, part: usize) -> Self;

    /// Numbers in f16.
    unsafe fn f16(scales: *const Scales, part: usize) -> Self;

    /// Bytes of a row of the scales, of which two are one of them.
    unsafe fn unsigned(scales: *const Scales, row: usize, part: usize) -> Self;

    /// Bytes with a sign.
    unsafe fn signed(scales: *const Scales, row: usize, part: usize) -> Self;

    /// Of bytes the low four bits, and the high four.
    unsafe fn nibbles(scales: *const Scales, row: usize, part: usize) -> [Self; 2];

    /// Powers of two by bytes: see [`power_of_two`].
    unsafe fn powers(scales: *const Scales, row: usize, part: usize) -> Self;

    /// Product.
    unsafe fn times(self, other: Self) -> Self;

    /// The number everywhere.
    unsafe fn all(number: f32) -> Self;
}

/// Factors of the two halves of a block.
#[derive(Clone, Copy)]
pub struct OfHalves<V> {
    /// Scales; where both halves have one, it stands in both places.
    pub scales: [V; 2],
    /// Minima, as scales. Without a meaning where there are none.
    pub mins: [V; 2],
}

/// Scales and minima of a block, of its units the one with this number.
///
/// # Safety
/// The processor must have the instructions of `V`; scales and units must be as many as `kind` says.
#[inline(always)]
pub unsafe fn load<V: Vector>(
    kind: Kind,
    scales: *const Scales,
    (units, number): (*const Scales, usize),
    part: usize,
) -> OfHalves<V> {
    let whole = |scale: V, min: V| OfHalves { scales: [scale; 2], mins: [min; 2] };
    let halves = |scales: [V; 2]| OfHalves { scales, mins: scales };
    // SAFETY: the caller's duty, passed on.
    unsafe {
        match kind {
            Kind::Bf16 => halves([V::bf16(scales, part); 2]),
            Kind::F16 => halves([V::f16(scales, part); 2]),
            Kind::F16Added => whole(V::f16(scales, part), V::f16(scales.add(1), part).times(V::all(-1.0))),
            Kind::Minima => whole(
                V::f16(units, part).times(V::unsigned(scales, 0, part)),
                V::f16(units.add(1), part).times(V::unsigned(scales, 1, part)),
            ),
            Kind::Halves | Kind::Eighths => {
                let unit = V::f16(units, part);
                let unit = if matches!(kind, Kind::Eighths) { unit.times(V::all(0.125)) } else { unit };
                halves([unit.times(V::signed(scales, 0, part)), unit.times(V::signed(scales, 1, part))])
            }
            Kind::HalfMinima => {
                let units = [V::f16(units, part), V::f16(units.add(1), part)];
                let [first, second] = [V::nibbles(scales, 0, part), V::nibbles(scales, 1, part)];
                OfHalves {
                    scales: [units[0].times(first[0]), units[0].times(second[0])],
                    mins: [units[1].times(first[1]), units[1].times(second[1])],
                }
            }
            Kind::Signed => halves([V::f16(units, part).times(V::signed(units.add(1), number, part)); 2]),
            Kind::Exponent => halves([V::powers(units, number, part); 2]),
        }
    }
}

/// One output at a time, for every processor.
impl Vector for f32 {
    #[inline(always)]
    unsafe fn bf16(scales: *const Scales, part: usize) -> Self {
        // SAFETY: the caller's duty, as for those below.
        unsafe { (*scales).get(part) }
    }

    #[inline(always)]
    unsafe fn f16(scales: *const Scales, part: usize) -> Self {
        // SAFETY: as above.
        unsafe { f16::from_bits((*scales).0[part]).to_f32() }
    }

    #[inline(always)]
    unsafe fn unsigned(scales: *const Scales, row: usize, part: usize) -> Self {
        // SAFETY: as above.
        unsafe { Self::from(byte(scales, row, part)) }
    }

    #[inline(always)]
    unsafe fn signed(scales: *const Scales, row: usize, part: usize) -> Self {
        // SAFETY: as above.
        unsafe { Self::from(byte(scales, row, part) as i8) }
    }

    #[inline(always)]
    unsafe fn nibbles(scales: *const Scales, row: usize, part: usize) -> [Self; 2] {
        // SAFETY: as above.
        let byte = unsafe { byte(scales, row, part) };
        [Self::from(byte & 15), Self::from(byte >> 4)]
    }

    #[inline(always)]
    unsafe fn powers(scales: *const Scales, row: usize, part: usize) -> Self {
        // SAFETY: as above.
        power_of_two(unsafe { byte(scales, row, part) })
    }

    #[inline(always)]
    unsafe fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    unsafe fn all(number: f32) -> Self {
        number
    }
}

/// A byte of a row of the scales.
#[inline(always)]
unsafe fn byte(scales: *const Scales, row: usize, part: usize) -> u8 {
    // SAFETY: the scale that has the byte (the caller's duty).
    unsafe { (*scales.add(row / 2)).bytes()[row % 2 * 16 + part] }
}

/// A kind of factors as a type: its number in [`Kind::ALL`].
#[cfg(target_arch = "x86_64")]
pub struct Of<const NUMBER: usize>;

/// See [`Of`].
#[cfg(target_arch = "x86_64")]
pub trait Factors {
    const KIND: Kind;
}

#[cfg(target_arch = "x86_64")]
impl<const NUMBER: usize> Factors for Of<NUMBER> {
    const KIND: Kind = Kind::ALL[NUMBER];
}

/// Computes a product with the tiles of a processor, which are compiled for each format that there is.
#[cfg(target_arch = "x86_64")]
macro_rules! product_of_format {
    ($tiles:ident, $args:expr) => {
        product_of_format!(
            $tiles, $args, Eight Bf16, Four Bf16, Eight F16, Four F16, Five F16, Four F16Added, Five F16Added,
            Four Minima, Five Minima, Six Halves, Uneven F16, Uneven Signed, Three Halves, Two HalfMinima,
            Float Exponent, GridThree Eighths, GridThreeXxs Eighths, Grid Eighths
        )
    };
    ($tiles:ident, $args:expr, $($bits:ident $kind:ident),*) => {
        match ($args.format.bits, $args.format.kind) {
            $((Bits::$bits, Kind::$kind) => blocking::product::<$tiles<$bits, Of<{ Kind::$kind as usize }>>>($args),)*
            _ => unreachable!("no type has these"),
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use product_of_format;
