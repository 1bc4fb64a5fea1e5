//! What kernels have to know of the rows of a slab, and how rows are put together for attention.

use super::CudaNetwork;
use super::kernels::{self, Patch, Plain, Pointer, Rows, Tile};
use crate::backend::BackendError;
use crate::backend::slabs::{Piece, pieces};
use crate::model::spec::Heads;

/// What the rows of a slab are, in the memory of the GPU.
pub struct Plan {
    pub rows: usize,
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
}

/// Rows whose attention is computed.
pub struct Attended {
    pub rows: usize,
    pub positions: Pointer,
    pub tiles: Pointer,
    pub tile_count: usize,
    /// Most queries of a key/value head in a tile.
    pub queries: usize,
    /// Chunks of the row that looks back furthest.
    pub chunks: usize,
}

/// Values for the GPU, back to back, each list on a border of 8 bytes.
#[derive(Default)]
pub struct Upload {
    /// What is sent.
    pub bytes: Vec<u8>,
}

impl Upload {
    /// Where the values will be, counted from the beginning.
    pub fn add<T: Plain>(&mut self, values: &[T]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.bytes.len();
        self.bytes.extend(kernels::bytes_of(values));
        at as u64
    }
}

/// Queries that a block of attention computes at once, where a row has no more.
const QUERIES: usize = 32;

/// Rows of a tile.
fn tile_rows(heads: Heads) -> usize {
    (QUERIES / (heads.query / heads.kv)).max(1)
}

/// Shared memory of a block of attention in a model with these heads.
pub fn attention_memory(heads: Heads) -> usize {
    kernels::attention_memory(tile_rows(heads) * (heads.query / heads.kv), heads.dim)
}

impl CudaNetwork {
    /// Sends what a pass has to know of its rows.
    pub(super) fn plan(&mut self, slab: &[Piece], tokens: &[u32], patches: &[Patch]) -> Result<Plan, BackendError> {
        let heads = self.spec.heads;
        let mut upload = Upload::default();
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
        let kept: Vec<i32> =
            pieces(slab).flat_map(|(piece, rows)| rows.end - piece.wanted..rows.end).map(|row| row as i32).collect();
        let attended = |upload: &mut Upload, count: &dyn Fn(&Piece) -> usize| {
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
            Attended {
                rows: positions.len(),
                positions: upload.add(&positions),
                tiles: upload.add(&tiles),
                tile_count: tiles.len(),
                queries: most * (heads.query / heads.kv),
                chunks: last / kernels::CHUNK + 1,
            }
        };
        let all = attended(&mut upload, &|piece| piece.len);
        let wanted = attended(&mut upload, &|piece| piece.wanted);
        let [tokens_at, spans_at] = [upload.add(tokens), upload.add(&spans)];
        let [row_spans_at, kept_at] = [upload.add(&row_spans), upload.add(&kept)];
        let patches_at = upload.add(patches);

        let at = self.buffers.plan.write(&upload.bytes)?;
        let there = |of: Attended| Attended { positions: at + of.positions, tiles: at + of.tiles, ..of };
        Ok(Plan {
            rows: tokens.len(),
            tokens: at + tokens_at,
            patches: (at + patches_at, patches.len()),
            spans: at + spans_at,
            row_spans: at + row_spans_at,
            all: there(all),
            wanted: there(wanted),
            kept: at + kept_at,
        })
    }
}
