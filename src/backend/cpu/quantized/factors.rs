//! Factors of codes as products need them, over the vectors of any processor, and the formats that products
//! are compiled for.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use half::f16;

use super::weights::Scales;
use crate::backend::storage::Kind;

/// Numbers of some outputs of a panel, as many as a vector has; `part` says which of the panel's vectors it
/// is. The processor must have the instructions, and scales must be valid for reading.
pub trait Vector: Copy {
    /// Numbers in bf16.
    unsafe fn bf16(scales: *const Scales, part: usize) -> Self;

    /// Numbers in f16.
    unsafe fn f16(scales: *const Scales, part: usize) -> Self;

    /// Bytes of row 0 or 1 of the scales.
    unsafe fn unsigned(scales: *const Scales, row: usize, part: usize) -> Self;

    /// Bytes with a sign.
    unsafe fn signed(scales: *const Scales, row: usize, part: usize) -> Self;

    /// Product.
    unsafe fn times(self, other: Self) -> Self;

    /// The number everywhere.
    unsafe fn all(number: f32) -> Self;
}

/// Scales and minima of a block, or the scales of both its halves.
///
/// # Safety
/// The processor must have the instructions of `V`; scales and units must be as many as `kind` says.
#[inline(always)]
pub unsafe fn load<V: Vector>(kind: Kind, scales: *const Scales, units: *const Scales, part: usize) -> [V; 2] {
    // SAFETY: the caller's duty, passed on.
    unsafe {
        match kind {
            Kind::Bf16 => [V::bf16(scales, part); 2],
            Kind::F16 => [V::f16(scales, part); 2],
            Kind::F16Added => [V::f16(scales, part), V::f16(scales.add(1), part).times(V::all(-1.0))],
            Kind::Minima => [
                V::f16(units, part).times(V::unsigned(scales, 0, part)),
                V::f16(units.add(1), part).times(V::unsigned(scales, 1, part)),
            ],
            Kind::Halves => {
                let unit = V::f16(units, part);
                [unit.times(V::signed(scales, 0, part)), unit.times(V::signed(scales, 1, part))]
            }
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
        unsafe { Self::from((*scales).bytes()[16 * row + part]) }
    }

    #[inline(always)]
    unsafe fn signed(scales: *const Scales, row: usize, part: usize) -> Self {
        // SAFETY: as above.
        unsafe { Self::from((*scales).bytes()[16 * row + part] as i8) }
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
            Four Minima, Five Minima, Six Halves
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
