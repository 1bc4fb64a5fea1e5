//! Types whose codes are points of grids, and those of three numbers: blocks of 256.
//!
//! A code is a place in the table of its format: a coordinate of a point and its sign.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use super::grids;
use super::{Format, Group, Take, nibble, word};

/// Groups of a block.
const GROUPS: usize = 8;

/// Signs of eight numbers in seven bits: the eighth makes them even.
#[inline(always)]
fn even(seven: u32) -> u8 {
    let seven = (seven & 127) as u8;
    seven | ((seven.count_ones() as u8 & 1) << 7)
}

/// Codes of four points of eight coordinates each with their signs.
#[inline(always)]
fn eights(points: [&[u8; 8]; 4], signs: [u8; 4]) -> [i8; 32] {
    std::array::from_fn(|i| (points[i / 8][i % 8] + 3 * (signs[i / 8] >> (i % 8) & 1)) as i8)
}

/// Codes of eight points of four coordinates each with their signs.
#[inline(always)]
fn fours(points: [&[u8; 4]; 8], signs: [u8; 4]) -> [i8; 32] {
    std::array::from_fn(|i| (points[i / 4][i % 4] + 8 * (signs[i / 8] >> (i % 8) & 1)) as i8)
}

/// Codes of four points with the sign of what is added to each.
#[inline(always)]
fn thirds(points: [&[u8; 8]; 4], minus: [bool; 4]) -> [i8; 32] {
    std::array::from_fn(|i| (points[i / 8][i % 8] + if minus[i / 8] { 6 } else { 9 }) as i8)
}

#[inline(always)]
fn double_word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The odd number that a few bits of a scale stand for.
#[inline(always)]
fn odd(bits: u8) -> u8 {
    2 * bits + 1
}

/// Of every 32: four points, then the signs and a scale in a word.
#[inline(always)]
pub fn iq2_xxs(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let own = &block[2 + 8 * number..];
        let word_of_signs = double_word(own, 4);
        let points = std::array::from_fn(|i| &grids::TWO_XXS[usize::from(own[i])]);
        let codes = eights(points, std::array::from_fn(|i| even(word_of_signs >> (7 * i))));
        let scale = odd((word_of_signs >> 28) as u8);
        each.take(Group::new(format, codes, [word(block, 0), 0], [scale; 2]));
    }
}

/// Points and signs as words of 9 and 7 bits, then scales.
#[inline(always)]
pub fn iq2_xs(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let words: [u16; 4] = std::array::from_fn(|i| word(block, 2 + 8 * number + 2 * i));
        let points = words.map(|word| &grids::TWO_XS[usize::from(word & 511)]);
        let codes = eights(points, words.map(|word| even(u32::from(word >> 9))));
        let small = [0, 1].map(|half| odd(nibble(block[66 + number], half)));
        each.take(Group::new(format, codes, [word(block, 0), 0], small));
    }
}

/// Low eight bits of points, signs, the upper two bits of points, then scales.
#[inline(always)]
pub fn iq2_s(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let point = |i: usize| {
            let above = block[66 + number] >> (2 * i) & 3;
            &grids::TWO_S[usize::from(block[2 + 4 * number + i]) | usize::from(above) << 8]
        };
        let signs = std::array::from_fn(|i| block[34 + 4 * number + i]);
        let codes = eights(std::array::from_fn(point), signs);
        let small = [0, 1].map(|half| odd(nibble(block[74 + number], half)));
        each.take(Group::new(format, codes, [word(block, 0), 0], small));
    }
}

/// Points, then of every 32 the signs and a scale in a word.
#[inline(always)]
pub fn iq3_xxs(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let points = std::array::from_fn(|i| &grids::THREE_XXS[usize::from(block[2 + 8 * number + i])]);
        let word_of_signs = double_word(block, 66 + 4 * number);
        let codes = fours(points, std::array::from_fn(|i| even(word_of_signs >> (7 * i))));
        let scale = odd((word_of_signs >> 28) as u8);
        each.take(Group::new(format, codes, [word(block, 0), 0], [scale; 2]));
    }
}

/// Low eight bits of points, the ninth, signs, then scales.
#[inline(always)]
pub fn iq3_s(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let point = |i: usize| {
            let ninth = block[66 + number] >> i & 1;
            &grids::THREE_S[usize::from(block[2 + 8 * number + i]) | usize::from(ninth) << 8]
        };
        let signs = std::array::from_fn(|i| block[74 + 4 * number + i]);
        let codes = fours(std::array::from_fn(point), signs);
        let scale = odd(nibble(block[106 + number / 2], number % 2));
        each.take(Group::new(format, codes, [word(block, 0), 0], [scale; 2]));
    }
}

/// Low eight bits of points, then of every 32 a word: the upper three bits of each, a scale, and the sign of
/// what is added.
#[inline(always)]
pub fn iq1_s(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let above = word(block, 34 + 2 * number);
        let point =
            |i: usize| &grids::ONE[usize::from(block[2 + 4 * number + i]) | usize::from(above >> (3 * i) & 7) << 8];
        let codes = thirds(std::array::from_fn(point), [above >> 15 == 1; 4]);
        let scale = odd((above >> 12 & 7) as u8);
        each.take(Group::new(format, codes, [word(block, 0), 0], [scale; 2]));
    }
}

/// Low eight bits of points; of each the upper three and the sign of what is added; then four words that have
/// the scales and, in their upper four bits, the unit.
#[inline(always)]
pub fn iq1_m(format: Format, block: &[u8], each: &mut impl Take) {
    let words: [u16; 4] = std::array::from_fn(|i| word(block, 48 + 2 * i));
    let unit = words[0] >> 12 | (words[1] >> 12) << 4 | (words[2] >> 12) << 8 | words[3] & 0xf000;
    for number in 0..GROUPS {
        let above: [u8; 4] = std::array::from_fn(|i| nibble(block[32 + 2 * number + i / 2], i % 2));
        let point = |i: usize| &grids::ONE[usize::from(block[4 * number + i]) | usize::from(above[i] & 7) << 8];
        let codes = thirds(std::array::from_fn(point), above.map(|above| above & 8 != 0));
        let small = [2 * number, 2 * number + 1].map(|half| odd((words[half / 4] >> (3 * (half % 4)) & 7) as u8));
        each.take(Group::new(format, codes, [unit, 0], small));
    }
}

/// The digit of a byte of five digits to base 3 that `power` brings to the front, less one.
#[inline(always)]
fn digit(byte: u8, power: u8) -> i8 {
    ((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as i8 - 1
}

/// Of 160 weights 32 bytes that have five each, of 80 sixteen, of 16 four with four each; then the scale.
#[inline(always)]
pub fn tq1_0(format: Format, block: &[u8], each: &mut impl Take) {
    const POWERS: [u8; 5] = [1, 3, 9, 27, 81];
    for number in 0..GROUPS {
        let code = |i: usize| {
            let at = 32 * number + i;
            match at {
                0..160 => digit(block[at % 32], POWERS[at / 32]),
                160..240 => digit(block[32 + at % 16], POWERS[(at - 160) / 16]),
                _ => digit(block[48 + at % 4], POWERS[(at - 240) / 4]),
            }
        };
        each.take(Group::new(format, std::array::from_fn(code), [word(block, 52), 0], [0; 2]));
    }
}

/// Codes of 2 bits, then the scale.
#[inline(always)]
pub fn tq2_0(format: Format, block: &[u8], each: &mut impl Take) {
    for number in 0..GROUPS {
        let codes = super::bits_of(&block[number / 4 * 32..], [number % 4 * 2; 4], 2).map(|code| code - 1);
        each.take(Group::new(format, codes, [word(block, 64), 0], [0; 2]));
    }
}
