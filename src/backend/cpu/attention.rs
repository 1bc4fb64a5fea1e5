//! Attention of the rows of a pass: over the shared prompt, then over their own sequence, causal.
//!
//! Every score is one chain over the channels, every output channel one chain over positions in ascending order, first
//! through the shared prompt and then through the sequence's own region; the sum of the softmax goes by position too.
//! So a row's result depends neither on the other rows nor on where the border between the two regions lies.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::gemm::{Job, Kernels, Mode};
use super::kv::Region;
use super::pack::{F32x16, NR};
use super::pool::{Parts, Pool};
use crate::model::spec;

/// Consecutive rows of one sequence in a pass.
pub struct View<'a> {
    /// The prompt it shares, and how many positions of that are its own past.
    pub shared: Option<(&'a Region, usize)>,
    /// K/V from the end of the shared prompt on, those of the rows themselves included.
    pub own: &'a Region,
    /// Position of the first row.
    pub start: usize,
    /// The rows, counted in the pass.
    pub rows: Range<usize>,
}

impl View<'_> {
    fn shared_len(&self) -> usize {
        self.shared.map_or(0, |shared| shared.1)
    }

    fn same_prompt(&self, other: &View<'_>) -> bool {
        match (self.shared, other.shared) {
            (Some((a, a_len)), Some((b, b_len))) => std::ptr::eq(a, b) && a_len == b_len,
            _ => false,
        }
    }
}

/// Working memory, one for each thread.
#[derive(Default)]
pub struct Scratch {
    /// Queries of a unit `[queries, head_dim]`.
    queries: Vec<f32>,
    /// Scores of a unit `[queries, positions]`.
    scores: Vec<f32>,
    /// Weighted sums of a unit `[queries, head_dim]`.
    sums: Vec<f32>,
}

/// Attention of one layer.
pub struct Attention<'a> {
    /// Threads.
    pub pool: &'a Pool,
    /// Kernels.
    pub kernels: Kernels,
    /// Sizes.
    pub spec: spec::Attention,
    /// Number of the block.
    pub layer: usize,
    /// One for each thread of the pool.
    pub scratch: &'a [Mutex<Scratch>],
}

/// Queries (row, head) that share a pass over the keys: enough to make use of each key that is in the cache, few enough
/// to leave units for all threads.
const TILE_QUERIES: usize = 24;

/// Multiply-adds of the scores below which other threads are not called; see the constant of this name in `gemm`.
const INLINE_WORK: usize = 1 << 18;

/// Largest number of scores of a unit, unless a single row needs more.
const TILE_SCORES: usize = 1 << 18;

/// Queries that are summed over the same positions at once; a row's later positions follow by themselves.
const SUM_QUERIES: usize = 6;

/// Rows that are computed together: views with the same prompt, cut to size.
struct Tile {
    views: Range<usize>,
    rows: Range<usize>,
    /// Largest number of positions that a row sees.
    positions: usize,
}

impl Attention<'_> {
    /// Computes the rows of `views`. Queries `[rows, heads * head_dim]` are the first part of the rows of `input`, which
    /// has `stride` floats between rows; `out` is `[rows, heads * head_dim]`.
    pub fn run(&self, views: &[View<'_>], input: &[f32], stride: usize, out: &mut [f32]) {
        let tiles = self.tiles(views);
        let out = Parts::new(out);
        let kv_heads = self.spec.kv_heads;
        let work: usize = tiles.iter().map(|tile| tile.rows.len() * tile.positions).sum::<usize>()
            * self.spec.heads
            * self.spec.head_dim;
        let unit = |unit: usize, thread: usize| {
            let (tile, head) = (&tiles[unit / kv_heads], unit % kv_heads);
            // Each thread has its own, so the lock is always free.
            let mut scratch = self.scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
            self.unit(&views[tile.views.clone()], tile, head, (input, stride), &mut scratch, &out);
        };
        let units = tiles.len() * kv_heads;
        if work < INLINE_WORK { (0..units).for_each(|number| unit(number, 0)) } else { self.pool.run(units, &unit) }
    }

    fn tiles(&self, views: &[View<'_>]) -> Vec<Tile> {
        let group = self.spec.heads / self.spec.kv_heads;
        let mut tiles: Vec<Tile> = Vec::new();
        for (index, view) in views.iter().enumerate() {
            let mut rows = view.rows.clone();
            while !rows.is_empty() {
                let positions = view.start + (rows.start - view.rows.start) + 1;
                let most = (TILE_QUERIES.min(TILE_SCORES / positions) / group).max(1);
                let last = tiles.last_mut().filter(|tile| {
                    tile.rows.end == rows.start
                        && tile.rows.len() < most
                        && (tile.views.end == index + 1 || view.same_prompt(&views[tile.views.start]))
                });
                let mut fresh = Tile { views: index..index, rows: rows.start..rows.start, positions: 0 };
                let started = last.is_some();
                let tile = last.unwrap_or(&mut fresh);
                let taken = (most - tile.rows.len()).min(rows.len());
                tile.views.end = index + 1;
                tile.rows.end += taken;
                rows.start += taken;
                tile.positions = tile.positions.max(view.start + (rows.start - view.rows.start));
                if !started {
                    tiles.push(fresh);
                }
            }
        }
        tiles
    }

    /// Computes one key/value head of one tile.
    fn unit(
        &self,
        views: &[View<'_>],
        tile: &Tile,
        head: usize,
        (input, stride): (&[f32], usize),
        scratch: &mut Scratch,
        out: &Parts<'_, f32>,
    ) {
        let width = self.spec.head_dim;
        let group = self.spec.heads / self.spec.kv_heads;
        let score_stride = tile.positions.next_multiple_of(NR);
        let queries = tile.rows.len() * group;
        let Scratch { queries: q, scores, sums } = scratch;
        q.clear();
        for row in tile.rows.clone() {
            q.extend_from_slice(&input[row * stride + head * group * width..][..group * width]);
        }
        let scores = first(scores, queries * score_stride);
        let sums = first(sums, queries * width);
        let part = Part { attention: self, head, score_stride, width };

        // Scores: the shared prompt once for all rows, then every sequence its own positions.
        let shared = views.first().and_then(|view| view.shared);
        if let Some((region, len)) = shared {
            part.scores(q, scores, 0, region, len);
        }
        for (view, rows) in rows_of(views, tile) {
            let own = seen(view, rows.end) - view.shared_len();
            let of = (rows.start - tile.rows.start) * group..(rows.end - tile.rows.start) * group;
            let q = &q[of.start * width..of.end * width];
            part.scores(
                q,
                &mut scores[of.start * score_stride..of.end * score_stride],
                view.shared_len(),
                view.own,
                own,
            );
        }

        // The softmax, normalised at the end.
        let mut normalisers = Vec::with_capacity(queries);
        let scale = (width as f32).sqrt().recip();
        for (view, rows) in rows_of(views, tile) {
            for row in rows {
                let seen = seen(view, row + 1);
                for query in (row - tile.rows.start) * group..(row - tile.rows.start + 1) * group {
                    normalisers.push(self.kernels.softmax(&mut scores[query * score_stride..][..seen], scale));
                }
            }
        }

        // Weighted sums, in the order of positions.
        let rows_at_once = (SUM_QUERIES / group).max(1);
        match shared {
            Some((region, len)) => part.sum(scores, sums, Mode::Store, region, 0..len, 0),
            None => sums.fill(0.0),
        }
        for (view, rows) in rows_of(views, tile) {
            for start in rows.clone().step_by(rows_at_once) {
                let rows = start..rows.end.min(start + rows_at_once);
                let before = view.shared_len();
                let common = seen(view, rows.start + 1) - before;
                let at = (rows.start - tile.rows.start) * group..(rows.end - tile.rows.start) * group;
                let (s, o) = part.of_queries(scores, sums, at);
                part.sum(s, o, Mode::Continue, view.own, 0..common, before);
                for row in rows.start + 1..rows.end {
                    let end = seen(view, row + 1) - before;
                    let at = (row - tile.rows.start) * group..(row - tile.rows.start + 1) * group;
                    let (s, o) = part.of_queries(scores, sums, at);
                    part.sum(s, o, Mode::Continue, view.own, common..end, before);
                }
            }
        }

        let row_width = self.spec.heads * width;
        for (number, row) in tile.rows.clone().enumerate() {
            // SAFETY: every unit writes its own heads of its own rows.
            let out = unsafe { out.part(row * row_width + head * group * width, group * width) };
            for (g, out) in out.chunks_exact_mut(width).enumerate() {
                let query = number * group + g;
                let normaliser = normalisers[query].recip();
                for (out, sum) in out.iter_mut().zip(&sums[query * width..]) {
                    *out = sum * normaliser;
                }
            }
        }
    }
}

/// The views of a tile with those of their rows that lie in it.
fn rows_of<'v, 'a>(views: &'v [View<'a>], tile: &Tile) -> impl Iterator<Item = (&'v View<'a>, Range<usize>)> {
    let tile = tile.rows.clone();
    views.iter().map(move |view| (view, view.rows.start.max(tile.start)..view.rows.end.min(tile.end)))
}

/// Positions that the row before `end` sees.
fn seen(view: &View<'_>, end: usize) -> usize {
    view.start + (end - view.rows.start)
}

/// The first `len` floats of a buffer, whatever they hold.
fn first(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

/// The products of one unit.
struct Part<'a> {
    attention: &'a Attention<'a>,
    head: usize,
    score_stride: usize,
    width: usize,
}

impl Part<'_> {
    fn of_queries<'s>(&self, scores: &'s [f32], sums: &'s mut [f32], at: Range<usize>) -> (&'s [f32], &'s mut [f32]) {
        (
            &scores[at.start * self.score_stride..at.end * self.score_stride],
            &mut sums[at.start * self.width..at.end * self.width],
        )
    }

    /// `scores[query][at..at + positions] = query . key` for the first positions of a region.
    fn scores(&self, queries: &[f32], scores: &mut [f32], at: usize, region: &Region, positions: usize) {
        let rows = queries.len() / self.width;
        let keys = region.keys(self.attention.layer, self.head);
        assert!(positions <= region.capacity && at + positions <= self.score_stride, "positions of a region");
        assert!(rows * self.score_stride <= scores.len(), "room for scores");
        if rows == 0 {
            return;
        }
        let job = Job::<F32x16> {
            x: queries.as_ptr(),
            x_stride: self.width,
            rows,
            k: self.width,
            panels: keys.as_ptr(),
            panel_stride: self.width,
            columns: positions,
            out: scores[at..].as_mut_ptr(),
            out_stride: self.score_stride,
            bias: std::ptr::null(),
            mode: Mode::Store,
            stream: false,
        };
        // SAFETY: checked above; `scores` is exclusively borrowed.
        unsafe { self.attention.kernels.run_f32(&job) }
    }

    /// Adds `scores[query][at + p] * value[p]` over the positions `p` of a region to `sums`.
    fn sum(&self, scores: &[f32], sums: &mut [f32], mode: Mode, region: &Region, positions: Range<usize>, at: usize) {
        let rows = sums.len() / self.width;
        let values = region.values(self.attention.layer, self.head);
        assert!(positions.end <= region.capacity && at + positions.end <= self.score_stride, "positions of a region");
        assert!(rows * self.score_stride <= scores.len(), "room for scores");
        if rows == 0 || (positions.is_empty() && mode == Mode::Continue) {
            return;
        }
        let job = Job::<F32x16> {
            x: scores[at + positions.start..].as_ptr(),
            x_stride: self.score_stride,
            rows,
            k: positions.len(),
            panels: values[positions.start..].as_ptr(),
            panel_stride: region.capacity,
            columns: self.width,
            out: sums.as_mut_ptr(),
            out_stride: self.width,
            bias: std::ptr::null(),
            mode,
            stream: false,
        };
        // SAFETY: checked above; `sums` is exclusively borrowed.
        unsafe { self.attention.kernels.run_f32(&job) }
    }
}
