//! The arithmetic of gated delta nets, row after row, in one order of operations: the result is the same to
//! the bit wherever a pass begins and ends. Compiled for each kind of processor (`gemm`).

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
#![expect(clippy::needless_range_loop, reason = "loops of a fixed length become vectors")]

use std::ops::Range;

use crate::backend::cpu::ops::exp;
use crate::backend::cpu::pack::{F32x16, NR};

/// Chains of a sum over the channels of a key: chain `i % 4` has channel `i`.
const CHAINS: usize = 4;

/// Causal convolution of one row, then silu. `filter` and `inputs` are `[width, channels]`, the oldest row
/// first; `out` is `[channels]`.
#[inline(always)]
pub fn convolve(filter: &[f32], inputs: &[f32], out: &mut [f32]) {
    let channels = out.len();
    out.fill(0.0);
    for (filter, inputs) in filter.chunks_exact(channels).zip(inputs.chunks_exact(channels)) {
        for ((out, filter), input) in out.iter_mut().zip(filter).zip(inputs) {
            *out = filter.mul_add(*input, *out);
        }
    }
    for out in out {
        *out /= 1.0 + exp(-*out);
    }
}

/// Rows of one head, and up to 16 channels of its value.
pub struct Recurrence<'a> {
    /// Convolved and normalised rows `[rows, channels]`.
    pub rows: &'a [f32],
    /// Width of a row.
    pub channels: usize,
    /// Where in a row the head's query begins.
    pub query: usize,
    /// Its key.
    pub key: usize,
    /// These channels of its value.
    pub value: Range<usize>,
    /// Beta, then decay of each head `[rows, 2 * heads]`.
    pub rates: &'a [f32],
    /// Value heads.
    pub heads: usize,
    /// Number of the head.
    pub head: usize,
}

/// Takes these rows into a state `[key_dim]` of 16 channels of value; what each reads goes to `out`.
///
/// For a row with key `k`, query `q` and value `v`: `S *= decay; S += k (beta (v - k S)); out = q S`.
#[inline(always)]
pub fn recur(state: &mut [F32x16], of: &Recurrence<'_>, rows: Range<usize>, out: &mut [[f32; NR]]) {
    for (row, out) in rows.zip(out) {
        let at = &of.rows[row * of.channels..(row + 1) * of.channels];
        let (query, key) = (&at[of.query..of.query + state.len()], &at[of.key..of.key + state.len()]);
        let rates = &of.rates[row * 2 * of.heads..(row + 1) * 2 * of.heads];
        let (beta, decay) = (rates[of.head], rates[of.heads + of.head]);
        let (keys, key_rest) = key.as_chunks::<CHAINS>();

        let mut sums = [[0.0; NR]; CHAINS];
        let (blocks, rest) = state.as_chunks::<CHAINS>();
        for (blocks, keys) in blocks.iter().zip(keys) {
            for i in 0..CHAINS {
                hold(&blocks[i], keys[i], decay, &mut sums[i]);
            }
        }
        for ((block, &key), sums) in rest.iter().zip(key_rest).zip(&mut sums) {
            hold(block, key, decay, sums);
        }
        let held = total(&sums);
        let mut change = [0.0; NR];
        let values = &at[of.value.clone()];
        change[..values.len()].copy_from_slice(values);
        for c in 0..NR {
            change[c] = (change[c] - held[c]) * beta;
        }

        let mut sums = [[0.0; NR]; CHAINS];
        let (blocks, rest) = state.as_chunks_mut::<CHAINS>();
        let (queries, query_rest) = query.as_chunks::<CHAINS>();
        for ((blocks, keys), queries) in blocks.iter_mut().zip(keys).zip(queries) {
            for i in 0..CHAINS {
                write(&mut blocks[i], (keys[i], queries[i], decay), &change, &mut sums[i]);
            }
        }
        for (((block, &key), &query), sums) in rest.iter_mut().zip(key_rest).zip(query_rest).zip(&mut sums) {
            write(block, (key, query, decay), &change, sums);
        }
        *out = total(&sums);
    }
}

/// Adds what a decayed block of the state holds at a channel of a key.
#[inline(always)]
fn hold(block: &F32x16, key: f32, decay: f32, sums: &mut [f32; NR]) {
    for c in 0..NR {
        sums[c] = key.mul_add(block.0[c] * decay, sums[c]);
    }
}

/// Decays a block, writes the change at a channel of a key, and adds what it then holds at that of a query.
#[inline(always)]
fn write(block: &mut F32x16, (key, query, decay): (f32, f32, f32), change: &[f32; NR], sums: &mut [f32; NR]) {
    for c in 0..NR {
        let held = key.mul_add(change[c], block.0[c] * decay);
        block.0[c] = held;
        sums[c] = query.mul_add(held, sums[c]);
    }
}

#[inline(always)]
fn total(sums: &[[f32; NR]; CHAINS]) -> [f32; NR] {
    std::array::from_fn(|c| (sums[0][c] + sums[2][c]) + (sums[1][c] + sums[3][c]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(seed: usize, len: usize) -> Vec<f32> {
        (0..len).map(|i| ((i * 37 + seed * 101) % 97) as f32 / 97.0 - 0.5).collect()
    }

    /// By the formula, in f64; a key of a length that is no multiple of the chains.
    #[test]
    fn rows_follow_the_formula_wherever_they_are_cut() {
        let (key_dim, rows, heads) = (7, 5, 3);
        let channels = 2 * key_dim + NR;
        let (mixed, rates) = (values(1, rows * channels), values(2, rows * 2 * heads));
        let of = Recurrence {
            rows: &mixed,
            channels,
            query: 0,
            key: key_dim,
            value: 2 * key_dim..2 * key_dim + 9,
            rates: &rates,
            heads,
            head: 1,
        };
        let mut exact = vec![[0.0f64; 9]; key_dim];
        let mut expected = Vec::new();
        for (row, rates) in mixed.chunks(channels).zip(rates.chunks(2 * heads)) {
            let (beta, decay) = (f64::from(rates[1]), f64::from(rates[heads + 1]));
            let at = |i: usize| f64::from(row[i]);
            let mut read = [0.0f64; 9];
            for c in 0..9 {
                for state in &mut exact {
                    state[c] *= decay;
                }
                let held: f64 = (0..key_dim).map(|i| at(key_dim + i) * exact[i][c]).sum();
                let change = beta * (at(2 * key_dim + c) - held);
                (0..key_dim).for_each(|i| exact[i][c] += at(key_dim + i) * change);
                read[c] = (0..key_dim).map(|i| at(i) * exact[i][c]).sum();
            }
            expected.push(read);
        }
        let mut all = Vec::new();
        for cut in 0..=rows {
            let mut state = vec![F32x16([0.0; NR]); key_dim];
            let mut out = vec![[0.0; NR]; rows];
            recur(&mut state, &of, 0..cut, &mut out[..cut]);
            recur(&mut state, &of, cut..rows, &mut out[cut..]);
            for (out, expected) in out.iter().zip(&expected) {
                assert!(
                    out.iter().zip(expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6),
                    "{out:?} {expected:?}"
                );
            }
            all.push(out.concat().into_iter().map(f32::to_bits).collect::<Vec<u32>>());
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn a_convolution_ends_at_its_row() {
        let (filter, inputs) = (values(3, 4 * 5), values(4, 4 * 5));
        let mut out = [0.0; 5];
        convolve(&filter, &inputs, &mut out);
        for c in 0..5 {
            let sum: f64 = (0..4).map(|i| f64::from(filter[i * 5 + c]) * f64::from(inputs[i * 5 + c])).sum();
            assert!((f64::from(out[c]) - sum / (1.0 + (-sum).exp())).abs() < 1e-6);
        }
    }
}
