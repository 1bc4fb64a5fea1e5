//! Attention of the rows of a pass: over the shared prompt, then over their own sequence, causal.
//!
//! Positions are taken in chunks of [`CHUNK`], counted from the first position of the text. Within a chunk
//! every score is one chain over the channels and every output channel one chain over positions in ascending
//! order, first through the shared prompt and then through the sequence's own region; the sum of the softmax
//! goes by position too. Chunks are merged by their log-sum-exp in ascending order (online softmax, arXiv
//! 1805.02867), on the thread that computed them or, where few rows look back far, on one after several have
//! computed them. So a row's result depends neither on the other rows, nor on threads, nor on where the
//! border between the two regions lies.
//!
//! With a window a row's positions begin later. Those before, which other rows of its tile may see, have
//! weight zero, and a product with zero leaves a sum as it is; chunks of which a row sees nothing are not
//! merged.

mod outcome;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use outcome::Outcome;

use super::gemm::{GemmArgs, Kernels, Mode};
use super::kv::Region;
use super::ops;
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

    /// K/V after the shared prompt.
    fn own(&self, layer: usize) -> Segment<'_> {
        Segment { region: self.own, layer, positions: self.shared_len()..usize::MAX }
    }

    fn same_prompt(&self, other: &View<'_>) -> bool {
        match (self.shared, other.shared) {
            (Some((a, a_len)), Some((b, b_len))) => std::ptr::eq(a, b) && a_len == b_len,
            _ => false,
        }
    }
}

/// K/V of consecutive positions.
struct Segment<'a> {
    region: &'a Region,
    /// Which layer of the region.
    layer: usize,
    /// The positions; the region begins with the first.
    positions: Range<usize>,
}

/// Working memory, one for each thread.
#[derive(Default)]
pub struct Scratch {
    /// Queries of a unit `[queries, head_dim]`.
    queries: Vec<f32>,
    /// Scores of a chunk `[queries, positions]`.
    scores: Vec<f32>,
    /// Outcome of one chunk.
    chunk: Vec<f32>,
    /// All chunks so far.
    merged: Vec<f32>,
}

/// Attention of one layer.
pub struct Attention<'a> {
    /// Threads.
    pub pool: &'a Pool,
    pub kernels: Kernels,
    /// Sizes.
    pub heads: spec::Heads,
    pub spec: &'a spec::Attention,
    /// Number of the block whose keys and values are read.
    pub layer: usize,
    /// Of each query head.
    pub sinks: Option<&'a [f32]>,
    /// One for each thread of the pool.
    pub scratch: &'a [Mutex<Scratch>],
}

/// Queries (row, head) that share a pass over the keys: enough to make use of each key that is in the cache,
/// few enough to leave units for all threads.
const TILE_QUERIES: usize = 24;

/// Multiply-adds of the scores below which other threads are not called; see the constant of this name in
/// `gemm`.
const INLINE_WORK: usize = 1 << 16;

/// Positions whose scores are worked on together: those of a tile stay in the second-level cache.
const CHUNK: usize = 512;

/// Queries that are summed over the same positions at once; a row's later positions follow by themselves.
const SUM_QUERIES: usize = 6;

/// Rows that are computed together: views with the same prompt, cut to size.
struct Tile {
    views: Range<usize>,
    rows: Range<usize>,
    /// First position that a row sees.
    first: usize,
    /// The end of what a row sees.
    positions: usize,
}

impl Tile {
    /// The chunks of which a row sees anything.
    fn chunks(&self) -> Range<usize> {
        self.first / CHUNK..self.positions.div_ceil(CHUNK)
    }
}

impl Attention<'_> {
    /// Computes the rows of `views`. Queries `[rows, heads * head_dim]` are the first part of the rows of
    /// `input`, which has `stride` floats between rows; `out` is `[rows, heads * head_dim]`. `chunks` is
    /// working memory.
    pub fn run(&self, views: &[View<'_>], input: &[f32], stride: usize, chunks: &mut Vec<f32>, out: &mut [f32]) {
        let tiles = self.tiles(views);
        let out = Parts::new(out);
        let heads = self.heads;
        let (kv_heads, group) = (heads.kv, heads.query / heads.kv);
        let seen = |tile: &Tile| tile.rows.len() * (tile.positions - tile.first);
        let work = tiles.iter().map(seen).sum::<usize>() * heads.query * heads.dim;
        let units = tiles.len() * kv_heads;
        let of = |unit: usize| (&tiles[unit / kv_heads], unit % kv_heads);
        let inputs = |unit| {
            let (tile, head) = of(unit);
            Unit { attention: self, views: &views[tile.views.clone()], tile, head, input, stride }
        };
        // Each thread has its own, so the lock is always free.
        let scratch = |thread: usize| self.scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let whole = |number: usize, thread: usize| inputs(number).run(&mut scratch(thread), &out);
        let longest = tiles.iter().map(|tile| tile.chunks().len()).max().unwrap_or(0);
        if work < INLINE_WORK {
            (0..units).for_each(|number| whole(number, 0));
        } else if longest == 1 || units >= 2 * self.pool.threads() {
            self.pool.run(units, &whole);
        } else {
            // Too few units for all threads: every chunk is one.
            let most = tiles.iter().map(|tile| tile.rows.len() * group).max().unwrap_or(0);
            let room = Outcome::len(most, heads.dim);
            let memory = Parts::new(first(chunks, units * longest * room));
            let part = |number: usize, queries: usize| {
                // SAFETY: every chunk is written by one unit, and read after all are done.
                unsafe { memory.part(number * room, Outcome::len(queries, heads.dim)) }
            };
            self.pool.run(units * longest, &|number, thread| {
                let unit = inputs(number / longest);
                if let Some(chunk) = unit.tile.chunks().nth(number % longest) {
                    let queries = unit.queries();
                    unit.chunk(chunk, &mut scratch(thread), &mut Outcome::of(part(number, queries), queries));
                }
            });
            for number in 0..units {
                let unit = inputs(number);
                let queries = unit.queries();
                let mut merged = Outcome::of(part(number * longest, queries), queries);
                for chunk in 1..unit.tile.chunks().len() {
                    merged.merge(&Outcome::of(part(number * longest + chunk, queries), queries), self.scale());
                }
                unit.write(&merged, &out);
            }
        }
    }

    /// Factor of the scores in the softmax; capped ones have theirs already.
    fn scale(&self) -> f32 {
        if self.spec.soft_cap.is_some() { 1.0 } else { self.spec.scale }
    }

    /// The first position that is seen from `position`.
    fn first_seen(&self, position: usize) -> usize {
        self.spec.window.map_or(0, |window| (position + 1).saturating_sub(window)).max(self.spec.from)
    }

    /// Positions that the row before `end` sees.
    fn seen(&self, view: &View<'_>, end: usize) -> usize {
        position(view, if self.spec.ahead { view.rows.end } else { end })
    }

    fn tiles(&self, views: &[View<'_>]) -> Vec<Tile> {
        let group = self.heads.query / self.heads.kv;
        let mut tiles: Vec<Tile> = Vec::new();
        for (index, view) in views.iter().enumerate() {
            let mut rows = view.rows.clone();
            while !rows.is_empty() {
                let most = (TILE_QUERIES / group).max(1);
                let last = tiles.last_mut().filter(|tile| {
                    tile.rows.end == rows.start
                        && tile.rows.len() < most
                        && (tile.views.end == index + 1 || view.same_prompt(&views[tile.views.start]))
                });
                let first = self.first_seen(position(view, rows.start));
                let mut fresh = Tile { views: index..index, rows: rows.start..rows.start, first, positions: 0 };
                let started = last.is_some();
                let tile = last.unwrap_or(&mut fresh);
                let taken = (most - tile.rows.len()).min(rows.len());
                tile.views.end = index + 1;
                tile.rows.end += taken;
                rows.start += taken;
                tile.first = tile.first.min(first);
                tile.positions = tile.positions.max(self.seen(view, rows.start));
                if !started {
                    tiles.push(fresh);
                }
            }
        }
        tiles
    }
}

/// One key/value head of one tile.
struct Unit<'a> {
    attention: &'a Attention<'a>,
    views: &'a [View<'a>],
    tile: &'a Tile,
    head: usize,
    input: &'a [f32],
    stride: usize,
}

impl Unit<'_> {
    /// Queries for each row and key/value head.
    fn group(&self) -> usize {
        self.attention.heads.query / self.attention.heads.kv
    }

    fn queries(&self) -> usize {
        self.tile.rows.len() * self.group()
    }

    /// All chunks, one after the other.
    fn run(&self, scratch: &mut Scratch, out: &Parts<'_, f32>) {
        let queries = self.queries();
        let len = Outcome::len(queries, self.attention.heads.dim);
        let (mut merged, mut next) = (std::mem::take(&mut scratch.merged), std::mem::take(&mut scratch.chunk));
        {
            let mut merged = Outcome::of(first(&mut merged, len), queries);
            let mut chunks = self.tile.chunks();
            chunks.by_ref().take(1).for_each(|chunk| self.chunk(chunk, scratch, &mut merged));
            for chunk in chunks {
                let mut next = Outcome::of(first(&mut next, len), queries);
                self.chunk(chunk, scratch, &mut next);
                merged.merge(&next, self.attention.scale());
            }
            self.write(&merged, out);
        }
        (scratch.merged, scratch.chunk) = (merged, next);
    }

    /// Scores, softmax and weighted sums over one chunk of positions.
    fn chunk(&self, chunk: usize, scratch: &mut Scratch, to: &mut Outcome<'_>) {
        let (views, tile, group) = (self.views, self.tile, self.group());
        let width = self.attention.heads.dim;
        let (from, end) = (chunk * CHUNK, tile.positions.min((chunk + 1) * CHUNK));
        // No row sees positions before this one.
        let begin = from.max(tile.first);
        // Keys are read in panels: a panel that a chunk begins in the middle of has scores before the chunk's
        // first.
        let score_stride = NR + (end - from).next_multiple_of(NR) + NR;
        let Scratch { queries: q, scores, .. } = scratch;
        q.clear();
        for row in tile.rows.clone() {
            q.extend_from_slice(&self.input[row * self.stride + self.head * group * width..][..group * width]);
        }
        let scores = first(scores, self.queries() * score_stride);
        let products = ChunkProducts { attention: self.attention, head: self.head, score_stride, width, from };
        let layer = self.attention.layer;
        let shared = views.first().and_then(|view| view.shared).filter(|(_, len)| *len > begin);
        let shared = shared.map(|(region, len)| Segment { region, layer, positions: 0..len });

        // Scores: the shared prompt once for all rows, then every sequence its own positions.
        if let Some(shared) = &shared {
            products.scores(q, scores, shared, begin..shared.positions.end.min(end));
        }
        for (view, rows) in rows_of(views, tile) {
            let at = (rows.start - tile.rows.start) * group..(rows.end - tile.rows.start) * group;
            let q = &q[at.start * width..at.end * width];
            let scores = &mut scores[at.start * score_stride..at.end * score_stride];
            let own = view.own(layer);
            products.scores(
                q,
                scores,
                &own,
                begin.max(own.positions.start)..end.min(self.attention.seen(view, rows.end)),
            );
        }

        // The softmax, normalised at the end.
        let (scale, spec) = (self.attention.scale(), self.attention.spec);
        for (view, rows) in rows_of(views, tile) {
            for row in rows {
                let seen = self.attention.seen(view, row + 1).clamp(from, end) - from;
                let unseen = self.attention.first_seen(position(view, row)).clamp(from, from + seen) - from;
                for query in (row - tile.rows.start) * group..(row - tile.rows.start + 1) * group {
                    let scores = &mut scores[query * score_stride + NR..][..seen];
                    scores[(begin - from).min(unseen)..unseen].fill(0.0);
                    let scores = &mut scores[unseen..];
                    if let Some(cap) = spec.soft_cap {
                        ops::soft_cap(scores, spec.scale, cap);
                    }
                    let softmax = |scores: &mut [f32]| self.attention.kernels.softmax(scores, scale);
                    (to.max[query], to.norm[query]) =
                        if scores.is_empty() { (f32::NEG_INFINITY, 0.0) } else { softmax(scores) };
                }
            }
        }

        // Weighted sums, in the order of positions.
        let rows_at_once = (SUM_QUERIES / group).max(1);
        match &shared {
            Some(shared) => {
                products.sum(scores, to.sums, Mode::Store, shared, begin..shared.positions.end.min(end));
            }
            None => to.sums.fill(0.0),
        }
        for (view, rows) in rows_of(views, tile) {
            let own = view.own(layer);
            let first = begin.max(own.positions.start);
            let last = end.max(first);
            let limit = |row: usize| self.attention.seen(view, row + 1).clamp(first, last);
            for start in rows.clone().step_by(rows_at_once) {
                let rows = start..rows.end.min(start + rows_at_once);
                let common = limit(rows.start);
                let at = (rows.start - tile.rows.start) * group..(rows.end - tile.rows.start) * group;
                let (s, o) = products.of_queries(scores, to.sums, at);
                products.sum(s, o, Mode::Continue, &own, first..common);
                for row in rows.start + 1..rows.end {
                    let at = (row - tile.rows.start) * group..(row - tile.rows.start + 1) * group;
                    let (s, o) = products.of_queries(scores, to.sums, at);
                    products.sum(s, o, Mode::Continue, &own, common..limit(row));
                }
            }
        }
    }

    /// Normalises the sums into the outputs.
    fn write(&self, merged: &Outcome<'_>, out: &Parts<'_, f32>) {
        let (width, group) = (self.attention.heads.dim, self.group());
        let row_width = self.attention.heads.query * width;
        for (number, row) in self.tile.rows.clone().enumerate() {
            // SAFETY: every unit writes its own heads of its own rows.
            let out = unsafe { out.part(row * row_width + self.head * group * width, group * width) };
            for (g, out) in out.chunks_exact_mut(width).enumerate() {
                let query = number * group + g;
                let mut norm = merged.norm[query];
                if let Some(sinks) = self.attention.sinks {
                    // A sink is one more score in the softmax.
                    norm += ops::exp(sinks[self.head * group + g] - merged.max[query] * self.attention.scale());
                }
                let normaliser = norm.recip();
                for (out, sum) in out.iter_mut().zip(&merged.sums[query * width..]) {
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

/// Position of a row, or the one after the last.
fn position(view: &View<'_>, row: usize) -> usize {
    view.start + (row - view.rows.start)
}

/// The first `len` floats of a buffer, whatever they hold.
fn first(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

/// The products of one unit and chunk. Scores are `[queries, 16 + positions]`, those of position `from` at
/// 16.
struct ChunkProducts<'a> {
    attention: &'a Attention<'a>,
    head: usize,
    score_stride: usize,
    width: usize,
    from: usize,
}

impl ChunkProducts<'_> {
    fn of_queries<'s>(&self, scores: &'s [f32], sums: &'s mut [f32], at: Range<usize>) -> (&'s [f32], &'s mut [f32]) {
        (
            &scores[at.start * self.score_stride..at.end * self.score_stride],
            &mut sums[at.start * self.width..at.end * self.width],
        )
    }

    /// `scores[query][position] = query . key` for these positions of a segment.
    fn scores(&self, queries: &[f32], scores: &mut [f32], segment: &Segment<'_>, positions: Range<usize>) {
        let rows = queries.len() / self.width;
        if rows == 0 || positions.is_empty() {
            return;
        }
        let &Segment { region, layer, positions: Range { start: before, .. } } = segment;
        // From the beginning of a panel.
        let local = (positions.start - before) / NR * NR..positions.end - before;
        let at = NR + before + local.start - self.from;
        let keys = region.keys(layer, self.head);
        assert!(local.end <= region.capacity && at + local.len() <= self.score_stride, "positions of a region");
        assert!(rows * self.score_stride <= scores.len(), "room for scores");
        let args = GemmArgs::<F32x16> {
            x: queries.as_ptr(),
            x_stride: self.width,
            rows,
            k: self.width,
            panels: keys[local.start / NR * self.width..].as_ptr(),
            panel_stride: self.width,
            columns: local.len(),
            out: scores[at..].as_mut_ptr(),
            out_stride: self.score_stride,
            bias: std::ptr::null(),
            mode: Mode::Store,
            after: None,
        };
        // SAFETY: checked above; `scores` is exclusively borrowed.
        unsafe { self.attention.kernels.run_f32(&args) }
    }

    /// Adds `scores[query][position] * value[position]` over these positions of a segment to `sums`.
    fn sum(&self, scores: &[f32], sums: &mut [f32], mode: Mode, segment: &Segment<'_>, positions: Range<usize>) {
        let rows = sums.len() / self.width;
        if rows == 0 || (positions.is_empty() && mode == Mode::Continue) {
            return;
        }
        let &Segment { region, layer, positions: Range { start: before, .. } } = segment;
        let local = positions.start - before..positions.end - before;
        let at = NR + positions.start - self.from;
        let values = region.values(layer, self.head);
        assert!(local.end <= region.capacity && at + local.len() <= self.score_stride, "positions of a region");
        assert!(rows * self.score_stride <= scores.len(), "room for scores");
        let args = GemmArgs::<F32x16> {
            x: scores[at..].as_ptr(),
            x_stride: self.score_stride,
            rows,
            k: local.len(),
            panels: values[local.start..].as_ptr(),
            panel_stride: region.capacity,
            columns: self.width,
            out: sums.as_mut_ptr(),
            out_stride: self.width,
            bias: std::ptr::null(),
            mode,
            after: None,
        };
        // SAFETY: checked above; `sums` is exclusively borrowed.
        unsafe { self.attention.kernels.run_f32(&args) }
    }
}

#[cfg(test)]
mod tests;
