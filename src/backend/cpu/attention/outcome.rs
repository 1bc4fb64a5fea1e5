//! Outcomes of attention over chunks of positions, and their merge.

use super::super::ops;

/// Attention of a tile's queries over some positions, for one key/value head: weighted sums
/// `[queries, head_dim]`, not yet normalised, then the largest scores `[queries]`, then the normalisers
/// `[queries]`, which are 0 where a query sees no position.
pub struct Outcome<'s> {
    /// `[queries, head_dim]`.
    pub sums: &'s mut [f32],
    /// `[queries]`.
    pub max: &'s mut [f32],
    /// `[queries]`.
    pub norm: &'s mut [f32],
}

impl<'s> Outcome<'s> {
    /// Floats that it takes.
    pub fn len(queries: usize, width: usize) -> usize {
        queries * (width + 2)
    }

    /// In memory of exactly [`len`](Self::len) floats.
    pub fn of(memory: &'s mut [f32], queries: usize) -> Self {
        let (sums, rest) = memory.split_at_mut(memory.len() - 2 * queries);
        let (max, norm) = rest.split_at_mut(queries);
        Self { sums, max, norm }
    }

    /// Takes in the positions after these (online softmax, arXiv 1805.02867). `scale` is that of the scores.
    pub fn merge(&mut self, next: &Outcome<'_>, scale: f32) {
        let width = self.sums.len() / self.max.len();
        for query in 0..self.max.len() {
            if next.norm[query] == 0.0 {
                continue;
            }
            let at = query * width..(query + 1) * width;
            if self.norm[query] == 0.0 {
                // The first positions that the query sees are taken as they are, as if nothing were before
                // them.
                (self.max[query], self.norm[query]) = (next.max[query], next.norm[query]);
                self.sums[at.clone()].copy_from_slice(&next.sums[at]);
                continue;
            }
            let (before, after) = (self.max[query], next.max[query]);
            let max = if after > before { after } else { before };
            let (old, new) = (ops::exp((before - max) * scale), ops::exp((after - max) * scale));
            self.max[query] = max;
            self.norm[query] = self.norm[query] * old + next.norm[query] * new;
            for (sum, next) in self.sums[at.clone()].iter_mut().zip(&next.sums[at]) {
                *sum = *sum * old + next * new;
            }
        }
    }
}
