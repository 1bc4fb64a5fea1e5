//! Tables of a slab's rows for kernels, and the grouping of rows into tiles for attention.
//!
//! Numbers of rows are rounded up, so that the launches of two steps are the same more often. Padding rows
//! store no K/V, see nothing, and what is computed for them is not read.

use super::CudaNetwork;
use super::delta::Courses;
use super::kernels::{self, Patch, Pointer, Rows, Tile};
use super::queue::Queue;
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
    pub tiles: Pointer,
    pub tile_count: usize,
    /// Queries of a key/value head in a tile, at most.
    pub queries: usize,
    /// Chunks of the row that looks back furthest.
    pub chunks: usize,
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

/// Chunks of attention that are launched where there are so many: those of longer texts end at once.
pub fn rounded_chunks(count: usize) -> usize {
    if count > 8 { count.next_multiple_of(8) } else { count.next_power_of_two() }
}

/// The list, rounded up with `padding`.
pub fn round_up<T: Clone>(list: &mut Vec<T>, padding: T) {
    list.resize(rounded(list.len()), padding);
}

/// Span and position of a padding row.
const PADDING: i32 = -1;

/// Queries that a block of attention computes at once, where a row has no more.
const QUERIES: usize = 32;

/// Rows of a tile.
pub fn tile_rows(heads: Heads) -> usize {
    (QUERIES / (heads.query / heads.kv)).max(1)
}

/// Shared memory of a block of attention in a model with these heads.
pub fn attention_memory(heads: Heads) -> usize {
    kernels::attention_memory(tile_rows(heads) * (heads.query / heads.kv), heads.dim)
}

impl CudaNetwork {
    /// Places what a pass has to know of its rows.
    pub(super) fn plan(&mut self, slab: &[Piece], tokens: &[u32], patches: &[Patch]) -> Result<Plan, BackendError> {
        let (heads, courses) = (self.spec.heads, self.courses(slab)?);
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
            all: attended(&self.queue, slab, heads, |piece| piece.len)?,
            wanted: attended(&self.queue, slab, heads, |piece| piece.wanted)?,
            kept: self.queue.place(&kept)?,
            courses,
        })
    }
}

/// The last rows of every piece, as many as `count` says.
fn attended(
    queue: &Queue,
    slab: &[Piece],
    heads: Heads,
    count: impl Fn(&Piece) -> usize,
) -> Result<Attended, BackendError> {
    let (mut positions, mut tiles) = (Vec::<i32>::new(), Vec::new());
    for (number, piece) in slab.iter().enumerate() {
        let end = piece.start + piece.len;
        let mut position = end - count(piece);
        while position < end {
            let rows = tile_rows(heads).min(end - position);
            let row = positions.len() as i32;
            tiles.push(Tile { span: number as i32, position: position as i32, row, rows: rows as i32 });
            positions.extend((position..position + rows).map(|position| position as i32));
            position += rows;
        }
    }
    let most = tiles.iter().map(|tile: &Tile| tile.rows as usize).max().unwrap_or(0);
    let last = positions.iter().max().map_or(0, |&position| position as usize);
    round_up(&mut positions, PADDING);
    round_up(&mut tiles, Tile { span: 0, position: 0, row: 0, rows: 0 });
    Ok(Attended {
        rows: positions.len(),
        positions: queue.place(&positions)?,
        tiles: queue.place(&tiles)?,
        tile_count: tiles.len(),
        queries: most.next_power_of_two().min(tile_rows(heads)) * (heads.query / heads.kv),
        chunks: rounded_chunks(last / kernels::CHUNK + 1),
    })
}
