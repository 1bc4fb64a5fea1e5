//! Tables of a slab's rows for kernels, and the grouping of rows into tiles for attention.
//!
//! Numbers of rows are rounded up, so that the launches of two steps are the same more often. Padding rows
//! store no K/V, see nothing, and what is computed for them is not read.

use super::delta::Courses;
use super::kernels::{self, AttentionRoom, Patch, Pointer, Rows, Tile};
use super::queue::Queue;
use super::{CudaNetwork, attention_heads};
use crate::backend::BackendError;
use crate::backend::slabs::{Piece, pieces};
use crate::model::spec::Heads;

/// Tables of a slab's rows in the memory of the GPU; numbers of rows are rounded up.
pub struct Plan {
    pub rows: usize,
    /// No row is without logits.
    pub all_wanted: bool,
    pub tokens: Pointer,
    /// Tokens that the host doesn't know, and their number.
    pub patches: (Pointer, usize),
    pub spans: Pointer,
    pub row_spans: Pointer,
    /// Of all rows, and of those that are wanted.
    pub all: Attended,
    pub wanted: Attended,
    /// Numbers of the wanted rows.
    pub kept: Pointer,
    /// Of gated delta nets.
    pub courses: Courses,
}

/// Rows whose attention is computed.
pub struct Attended {
    pub rows: usize,
    pub positions: Pointer,
    /// For each kind of heads: see [`tile_rows`].
    pub tilings: Vec<Tiling>,
    /// Chunks of the row that looks back furthest.
    pub chunks: usize,
}

/// Rows in tiles.
pub struct Tiling {
    /// Rows that a tile may have.
    pub limit: usize,
    pub tiles: Pointer,
    pub count: usize,
    /// Most rows of a tile.
    pub rows: usize,
}

/// Rows, or what there is one of for each, that take part where there are so many.
pub fn rounded(count: usize) -> usize {
    match count {
        0..=4 => count,
        5..=16 => count.next_multiple_of(4),
        _ => count.next_multiple_of(8),
    }
}

/// Most padding rows.
pub const MOST_PADDING: usize = 7;

/// Chunks of attention that there is memory for where there are so many: it grows seldom, and with it
/// launches change.
pub fn rounded_chunks(count: usize) -> usize {
    if count > 8 { count.next_multiple_of(8) } else { count.next_power_of_two() }
}

/// The list, rounded up with `padding`.
pub fn round_up<T: Clone>(list: &mut Vec<T>, padding: T) {
    list.resize(rounded(list.len()), padding);
}

/// Span and position of a padding row.
const PADDING: i32 = -1;

/// Rows of a tile of these heads, where a block has so much shared memory.
pub fn tile_rows(heads: Heads, memory: usize) -> usize {
    let mut rows = (kernels::QUERIES / (heads.query / heads.kv)).max(1);
    while rows > 1 && attention_room(heads, rows, memory).is_none() {
        rows /= 2;
    }
    rows
}

/// Room of a block of attention with these heads and so many rows in a tile; it may have so much memory.
pub fn attention_room(heads: Heads, rows: usize, memory: usize) -> Option<AttentionRoom> {
    let group = (heads.query / heads.kv).min(kernels::QUERIES);
    kernels::attention_room(rows * group, heads.dim, memory)
}

impl CudaNetwork {
    /// Rows of a tile of these heads.
    pub(super) fn tile_rows(&self, heads: Heads) -> usize {
        tile_rows(heads, self.queue.block_memory)
    }

    /// Places what a pass has to know of its rows.
    pub(super) fn plan(&mut self, slab: &[Piece], tokens: &[u32], patches: &[Patch]) -> Result<Plan, BackendError> {
        let courses = self.courses(slab)?;
        let mut limits: Vec<usize> = attention_heads(&self.spec).map(|heads| self.tile_rows(heads)).collect();
        limits.sort_unstable();
        limits.dedup();
        let mut spans = Vec::with_capacity(slab.len());
        let mut row_spans = Vec::with_capacity(tokens.len());
        for (number, (piece, rows)) in pieces(slab).enumerate() {
            let sequence = self.sequences.get(piece.seq)?;
            let shared = sequence.shared.as_ref();
            spans.push(Rows {
                shared: shared.map_or(0, |shared| shared.region.at()),
                own: sequence.own.at(),
                shared_len: sequence.shared_len() as i32,
                shared_capacity: shared.map_or(0, |shared| shared.region.capacity as i32),
                own_capacity: sequence.own.capacity as i32,
                start: piece.start as i32,
                first_row: rows.start as i32,
                rows: piece.len as i32,
            });
            row_spans.extend(rows.map(|_| number as i32));
        }
        let prompt = |rows: &Rows| (rows.shared, rows.shared_len);
        let one = spans.len() > 1 && spans.iter().all(|rows| prompt(rows) == prompt(&spans[0]));
        let together = if one { spans[0].shared_len as usize / kernels::CHUNK } else { 0 };
        let mut kept: Vec<i32> =
            pieces(slab).flat_map(|(piece, rows)| rows.end - piece.wanted..rows.end).map(|row| row as i32).collect();
        let all_wanted = kept.len() == tokens.len();
        let (mut tokens, mut patches) = (tokens.to_vec(), patches.to_vec());
        round_up(&mut tokens, 0);
        round_up(&mut row_spans, PADDING);
        round_up(&mut kept, 0);
        round_up(&mut patches, Patch { token: 0, row: 0, padding: 0 });
        Ok(Plan {
            rows: tokens.len(),
            all_wanted,
            tokens: self.queue.place(&tokens)?,
            patches: (self.queue.place(&patches)?, patches.len()),
            spans: self.queue.place(&spans)?,
            row_spans: self.queue.place(&row_spans)?,
            all: attended(&self.queue, (slab, together), &limits, |piece| piece.len)?,
            wanted: attended(&self.queue, (slab, together), &limits, |piece| piece.wanted)?,
            kept: self.queue.place(&kept)?,
            courses,
        })
    }
}

/// The last rows of every piece, as many as `count` says, in tiles of at most so many rows as `limits` say.
/// The first chunks, as many as `together` says, are of one prompt: rows of several pieces are a tile there.
fn attended(
    queue: &Queue,
    (slab, together): (&[Piece], usize),
    limits: &[usize],
    count: impl Fn(&Piece) -> usize,
) -> Result<Attended, BackendError> {
    let spans = || slab.iter().map(|piece| (piece.start + piece.len - count(piece), piece.start + piece.len));
    let mut positions: Vec<i32> = spans().flat_map(|(from, end)| (from..end).map(|position| position as i32)).collect();
    let last = positions.iter().max().map_or(0, |&position| position as usize);
    let of_rows = positions.clone();
    round_up(&mut positions, PADDING);
    let tiling = |&limit: &usize| {
        let mut tiles = Vec::new();
        let mut add = |tile: Tile, chunks: std::ops::Range<usize>| {
            tiles.extend(chunks.map(|chunk| Tile { chunk: chunk as i32, ..tile }));
        };
        if together > 0 {
            for (number, rows) in of_rows.chunks(limit).enumerate() {
                let (row, position) = ((number * limit) as i32, rows.iter().copied().min().unwrap_or(0));
                let (rows, end) = (rows.len() as i32, (together * kernels::CHUNK) as i32);
                add(Tile { span: 0, position, row, rows, chunk: 0, end }, 0..together);
            }
        }
        let mut row = 0;
        for (span, (from, end)) in (0..).zip(spans()) {
            for position in (from..end).step_by(limit) {
                let count = limit.min(end - position);
                let (rows, end) = (count as i32, (position + count) as i32);
                let chunks = together..(position + count).div_ceil(kernels::CHUNK);
                add(Tile { span, position: position as i32, row, rows, chunk: 0, end }, chunks);
                row += rows;
            }
        }
        let most = tiles.iter().map(|tile: &Tile| tile.rows as usize).max().unwrap_or(0);
        round_up(&mut tiles, Tile { span: 0, position: 0, row: 0, rows: 0, chunk: 0, end: 0 });
        Ok(Tiling { limit, tiles: queue.place(&tiles)?, count: tiles.len(), rows: most })
    };
    Ok(Attended {
        rows: positions.len(),
        positions: queue.place(&positions)?,
        tilings: limits.iter().map(tiling).collect::<Result<_, BackendError>>()?,
        chunks: rounded_chunks(last / kernels::CHUNK + 1),
    })
}
