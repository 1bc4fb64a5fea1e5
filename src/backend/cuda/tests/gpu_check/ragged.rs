//! Attention over candidates of different lengths, beside the two ways of BASS (arXiv 2404.15778): padded to
//! the longest in one launch (BASS-PAD), and a launch for each candidate (BASS-SPLIT). All are other launches
//! of the same kernel.

use std::sync::Arc;

use super::super::super::gpu::{Buffer, Gpu};
use super::super::super::kernels::{self, CHUNK, Tile};
use super::super::super::plan::{attention_room, tile_rows};
use super::super::super::queue::{Again, Queue};
use super::super::{bits, in_any_order, numbers, receive, send};
use super::Result;
use super::ceilings::seconds;
use super::report::Report;
use crate::model::spec::Heads;

/// How the attention of a batch is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As steps do it: one launch, each candidate by its own length.
    Ragged,
    /// One launch, as if all had the length and the rows of the longest.
    Padded,
    /// A launch for each candidate.
    Split,
}

/// All of them, with their names.
const WAYS: [(Way, &str); 3] =
    [(Way::Ragged, "one launch, own lengths"), (Way::Padded, "BASS-PAD"), (Way::Split, "BASS-SPLIT")];

/// Candidates with K/V of their own in one layer: how much each knows, and its new rows.
pub struct Batch {
    heads: Heads,
    candidates: Vec<(usize, usize)>,
    /// Most rows and positions of one, by which all are padded.
    rows: usize,
    positions: usize,
    kv: Vec<Buffer>,
}

impl Batch {
    /// Of random K/V; behind each candidate's last position there are zeros.
    pub fn new(gpu: &Arc<Gpu>, heads: Heads, candidates: &[(usize, usize)]) -> Result<Self> {
        let rows = candidates.iter().map(|(_, rows)| *rows).max().unwrap_or(0);
        let positions = candidates.iter().map(|(known, _)| *known).max().unwrap_or(0) + rows;
        let row = positions * heads.dim;
        let region = |(number, &(known, rows)): (usize, &(usize, usize))| {
            let mut values = numbers(number as u32 + 1, 2 * heads.kv * row);
            values.chunks_mut(row).for_each(|part| part[(known + rows) * heads.dim..].fill(0.0));
            let mut kv = gpu.alloc(size_of_val(&values[..]))?;
            kv.write(0, &values)?;
            Ok(kv)
        };
        let kv = candidates.iter().enumerate().map(region).collect::<Result<_>>()?;
        Ok(Self { heads, candidates: candidates.to_vec(), rows, positions, kv })
    }

    /// Bytes of K/V that have to be read.
    pub fn bytes(&self) -> usize {
        let positions = self.candidates.iter().map(|(known, rows)| known + rows).sum::<usize>();
        positions * 2 * self.heads.kv * self.heads.dim * size_of::<f32>()
    }

    /// Places everything for one way.
    pub fn prepare(&self, gpu: &Arc<Gpu>, way: Way) -> Result<Prepared> {
        let Heads { query, dim, .. } = self.heads;
        let width = query * dim;
        let rows_of = |rows: usize| if way == Way::Padded { self.rows } else { rows };
        let (mut spans, mut tiles, mut positions, mut queries) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut of_candidates = Vec::new();
        for (number, (&(known, own), kv)) in self.candidates.iter().zip(&self.kv).enumerate() {
            let (first, rows) = (positions.len(), rows_of(own));
            spans.push(kernels::Rows {
                shared: 0,
                own: kv.at(),
                shared_len: 0,
                shared_capacity: 0,
                own_capacity: self.positions as i32,
                start: known as i32,
                first_row: first as i32,
                rows: rows as i32,
            });
            let first_tile = tiles.len();
            let limit = tile_rows(self.heads, gpu.block_memory);
            for from in (0..rows).step_by(limit) {
                let of_tile = limit.min(rows - from);
                let (position, row, rows) = ((known + from) as i32, (first + from) as i32, of_tile as i32);
                let tile = Tile { span: number as i32, position, row, rows, chunk: 0, end: position + rows };
                let last = if way == Way::Padded { self.positions } else { known + from + of_tile };
                tiles.extend((0..last.div_ceil(CHUNK)).map(|chunk| Tile { chunk: chunk as i32, ..tile }));
            }
            of_candidates.push((first_tile, tiles.len() - first_tile));
            positions.extend((known..known + rows).map(|position| position as i32));
            queries.extend(numbers(100 + number as u32, own * width));
            queries.resize(positions.len() * width, 0.0);
        }
        let chunks = self.positions.div_ceil(CHUNK);
        let floats = |count: usize| gpu.alloc(count * size_of::<f32>());
        let rows = positions.len();
        Ok(Prepared {
            way,
            heads: self.heads,
            padded: self.positions,
            tiles: of_candidates,
            rows,
            own_rows: self.candidates.iter().map(|(_, rows)| *rows).collect(),
            most_rows: self.rows,
            spans: send(gpu, &spans),
            tiles_there: send(gpu, &tiles),
            positions: send(gpu, &positions),
            queries: send(gpu, &queries),
            sums: floats(chunks * rows * width)?,
            norms: floats(chunks * rows * query * 2)?,
            out: floats(rows * width)?,
        })
    }
}

/// A batch in the memory of a GPU.
pub struct Prepared {
    way: Way,
    heads: Heads,
    padded: usize,
    /// Of each candidate its first tile, and how many it has.
    tiles: Vec<(usize, usize)>,
    rows: usize,
    own_rows: Vec<usize>,
    most_rows: usize,
    spans: Buffer,
    tiles_there: Buffer,
    positions: Buffer,
    queries: Buffer,
    sums: Buffer,
    norms: Buffer,
    out: Buffer,
}

impl Prepared {
    /// Asks for the attention of all.
    pub fn ask(&self, queue: &Queue) {
        let Heads { query, kv, dim } = self.heads;
        let rows = tile_rows(self.heads, queue.block_memory).min(self.most_rows);
        let room = attention_room(self.heads, rows, queue.block_memory).expect("room");
        let params = |first_tile: usize| kernels::AttentionChunk {
            qkv: self.queries.at(),
            sums: self.sums.at(),
            norms: self.norms.at(),
            spans: self.spans.at(),
            positions: self.positions.at(),
            tiles: self.tiles_there.at() + (first_tile * size_of::<Tile>()) as u64,
            q_stride: (query * dim) as i32,
            before: 0,
            kv_heads: kv as i32,
            group: (query / kv) as i32,
            dim: dim as i32,
            rows: self.rows as i32,
            window: 0,
            scale: 1.0 / (dim as f32).sqrt(),
            soft_cap: 0.0,
            padded: self.padded as i32,
            keys: room.keys as i32,
            stages: room.stages as i32,
        };
        let memory = room.memory;
        let all = self.tiles.iter().map(|(_, count)| count).sum();
        match self.way {
            Way::Ragged => queue.launch(&kernels::ATTENTION_CHUNK, [all, kv, 1], memory, params(0)),
            Way::Padded => queue.launch(&kernels::ATTENTION_PADDED, [all, kv, 1], memory, params(0)),
            Way::Split => {
                for &(first, count) in &self.tiles {
                    queue.launch(&kernels::ATTENTION_CHUNK, [count, kv, 1], memory, params(first));
                }
            }
        }
        let params = kernels::AttentionMerge {
            sums: self.sums.at(),
            norms: self.norms.at(),
            positions: self.positions.at(),
            sinks: 0,
            out: self.out.at(),
            rows: self.rows as i32,
            heads: query as i32,
            dim: dim as i32,
            window: 0,
        };
        queue.launch(&kernels::ATTENTION_MERGE, [self.rows, query, 1], 0, params);
    }

    /// Attention of the candidates' own rows, without padding.
    pub fn found(&self) -> Vec<f32> {
        let all = receive(&self.out);
        let width = self.heads.query * self.heads.dim;
        let mut first = 0;
        let mut found = Vec::new();
        for &own in &self.own_rows {
            found.extend(&all[first * width..(first + own) * width]);
            first += if self.way == Way::Padded { self.most_rows } else { own };
        }
        found
    }
}

/// Batches whose lengths are close together, and differ much.
pub fn ragged(gpu: &Arc<Gpu>, heads: Heads, longest: usize, report: &mut Report) -> Result<()> {
    report.part("attention of candidates of different lengths");
    let close: Vec<_> = (0..8).map(|i| (longest - i * longest / 64, 6)).collect();
    let apart: Vec<_> = (0..8).map(|i| (longest / 8 * (i + 1), 6)).collect();
    for (what, candidates) in [("lengths close together", close), ("lengths apart", apart)] {
        let batch = Batch::new(gpu, heads, &candidates)?;
        let mut found: Vec<(f64, Vec<u32>)> = Vec::new();
        for (way, name) in WAYS {
            let prepared = batch.prepare(gpu, way)?;
            let time = seconds(gpu, false, 9, |queue| prepared.ask(queue))?;
            report.number(format!("{what}: {name}"), 1e3 * time, "ms");
            found.push((time, bits(&prepared.found())));
        }
        report.number(format!("{what}: K/V by the first"), batch.bytes() as f64 / 1e9 / found[0].0, "GB/s");
        report.at_most(
            format!("{what}: the first by the better of BASS"),
            found[0].0 / found[1].0.min(found[2].0),
            "",
            1.0,
        );
        let same = found.iter().all(|(_, bits)| *bits == found[0].1);
        report.check(format!("{what}: all give the same bits"), same, "bits differ");
    }
    Ok(())
}

#[test]
fn padded_and_split_attention_give_the_bits_of_one_launch() {
    let heads = Heads { query: 4, kv: 2, dim: 6 };
    for candidates in [&[(0, 1)][..], &[(5, 3), (300, 1), (30, 4)], &[(255, 2), (256, 2)], &[(40, 20), (10, 3)]] {
        let run = |gpu: &Arc<Gpu>, way: Way| {
            let batch = Batch::new(gpu, heads, candidates).expect("memory");
            let prepared = batch.prepare(gpu, way).expect("memory");
            let queue = Queue::new(gpu, true);
            prepared.ask(&queue);
            queue.start(Again::Hardly).expect("launched");
            prepared.found()
        };
        let [Some(ragged), Some(padded), Some(split)] =
            WAYS.map(|(way, _)| in_any_order(|gpu| run(gpu, way)).map(|found| bits(&found)))
        else {
            return;
        };
        assert!(ragged.iter().all(|&x| f32::from_bits(x).is_finite()));
        assert_eq!(padded, ragged, "{candidates:?}");
        assert_eq!(split, ragged, "{candidates:?}");
    }
}
