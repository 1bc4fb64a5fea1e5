//! Products on tensor cores, as launches of `kernels/inputs.cu` and `kernels/tiles.cu`. Cuts depend on the
//! matrix alone, except for the passes over rows.

use super::kernels::{self, Kernel, Pointer};
use super::panels::{Layout, PANEL};
use super::queue::{Queue, Scratch};
use crate::backend::storage::{BLOCK, Bits, Format, Storage};

/// Products with weights of a storage on tensor cores.
pub struct Tiled {
    kernel: Kernel<kernels::Tiles>,
    experts: Kernel<kernels::ExpertTiles>,
    /// Kernel that brings rows into their order, and number of parts that it makes of them.
    split: Kernel<kernels::Split>,
    parts: usize,
    layout: Layout,
    /// Sums of the blocks of rows are read.
    sums: bool,
    /// Chunks that a block has in its memory or on their way to it.
    stages: usize,
}

impl Tiled {
    /// Products with weights of this storage.
    pub fn new(storage: Storage, (kernel, experts): (Kernel<kernels::Tiles>, Kernel<kernels::ExpertTiles>)) -> Self {
        let format = storage.format();
        let (split, parts, stages) = match (storage, format) {
            (_, Some(Format { bits: Bits::Eight, .. })) => (kernels::ROUND_F16, 1, 5),
            (_, Some(_)) => (kernels::ROUND_F16, 1, 3),
            (Storage::Bf16, None) => (kernels::SPLIT_BF16, 2, 6),
            (_, None) => (kernels::SPLIT_F16, 2, 6),
        };
        let sums = format.is_some_and(|format| format.kind.has_min());
        Self { kernel, experts, split, parts, layout: Layout::of(format), sums, stages }
    }
}

/// Rows of a tile, and tiles of a pass at most: `MOST_TILES` of `kernels/tiles.cu`.
const TILE_ROWS: usize = 8;
const MOST_TILES: usize = 6;

/// Outputs of a block of threads.
const OUTPUTS: usize = 128;

/// Panels of a block of threads.
const PANELS: usize = OUTPUTS / PANEL;

/// Blocks of threads that are wanted of a product, whatever the GPU, and the least inputs of a slice.
const WANTED: usize = 128;
const LEAST_INPUTS: usize = 128;

/// Chunks of a slice of this matrix, and slices.
pub fn slices(outputs: usize, stride: usize, step: usize) -> (usize, usize) {
    let chunks = stride / step;
    let wanted = WANTED.div_ceil(outputs.div_ceil(OUTPUTS));
    let slice = chunks.div_ceil(wanted).max(LEAST_INPUTS.div_ceil(step));
    (slice, chunks.div_ceil(slice))
}

/// Tiles of a pass, and passes.
fn passes(tiles: usize) -> (usize, usize) {
    let pass = tiles.div_ceil(tiles.div_ceil(MOST_TILES));
    (pass, tiles.div_ceil(pass))
}

/// Rows in the order of tiles, for products that want them so.
#[derive(PartialEq, Eq)]
pub struct Inputs {
    split: &'static str,
    blocks: usize,
    parts: Pointer,
    sums: Pointer,
    scales: Pointer,
}

/// How a product is cut.
struct Cut {
    /// Chunks of a slice, and slices.
    slice: usize,
    slices: usize,
    /// Blocks of threads beside each other.
    blocks: usize,
    /// Where slices are added up.
    partial: Pointer,
    arrived: Pointer,
}

impl Tiled {
    /// Bytes of the block's memory for so many tiles of rows.
    fn memory(&self, tiles: usize) -> usize {
        let [codes, upper, scales, units] = self.layout.row;
        let of_rows = tiles * (self.parts * 512 + if self.sums { 4 * TILE_ROWS } else { 0 });
        let stage = PANELS * PANEL * (codes + upper + scales + units) + self.layout.step / BLOCK * of_rows;
        self.stages * stage
    }

    #[cfg(test)]
    pub fn most_memory(&self) -> usize {
        self.memory(MOST_TILES)
    }

    /// Asks for rows in the order of tiles, unless `before` are these.
    pub fn inputs(
        &self,
        queue: &Queue,
        (x, rows): (Pointer, usize),
        (inputs, stride): (usize, usize),
        before: Option<&Inputs>,
    ) -> Inputs {
        let (tiles, blocks) = (rows.div_ceil(TILE_ROWS), stride / BLOCK);
        let of = Inputs {
            split: self.split.name,
            blocks,
            parts: queue.scratch(Scratch::Inputs, blocks * tiles * self.parts * 512),
            sums: if self.parts > 1 { 0 } else { queue.scratch(Scratch::Sums, blocks * tiles * TILE_ROWS * 4) },
            scales: queue.scratch(Scratch::Scales, tiles * TILE_ROWS * 4),
        };
        if before == Some(&of) {
            return of;
        }
        let params = kernels::Split {
            x,
            parts: of.parts,
            sums: of.sums,
            scales: of.scales,
            rows: rows as i32,
            inputs: inputs as i32,
            tiles: tiles as i32,
            blocks: blocks as i32,
        };
        queue.launch(&self.split, [tiles * TILE_ROWS, 1, 1], 32, params);
        of
    }

    /// How a product with a matrix `[outputs, stride]` is cut, and the memory that this takes.
    fn cut(&self, queue: &Queue, (outputs, stride): (usize, usize), (tiles, passes): (usize, usize)) -> Cut {
        let (slice, slices) = slices(outputs, stride, self.layout.step);
        let blocks = outputs.div_ceil(OUTPUTS);
        let (mut partial, mut arrived) = (0, 0);
        if slices > 1 {
            partial = queue.scratch(Scratch::Partial, slices * tiles * TILE_ROWS * outputs * 4);
            arrived = queue.scratch(Scratch::Arrived, passes * blocks * 4);
        }
        Cut { slice, slices, blocks, partial, arrived }
    }

    /// Asks for products of groups of rows, a tile each, with matrices of one shape `[outputs, stride]`,
    /// which are parts of the experts'.
    pub fn experts(
        &self,
        queue: &Queue,
        (parts, shape): (Pointer, (usize, usize)),
        (together, groups): (Pointer, usize),
        inputs: &Inputs,
        (out, out_stride): (Pointer, usize),
    ) {
        let Cut { slice, slices, blocks, partial, arrived } = self.cut(queue, shape, (groups, groups));
        let params = kernels::ExpertTiles {
            parts,
            together,
            x: inputs.parts,
            sums: inputs.sums,
            scales: inputs.scales,
            out,
            partial,
            arrived,
            out_stride: out_stride as i32,
            groups: groups as i32,
            slice: slice as i32,
            padding: 0,
        };
        queue.launch(&self.experts, [groups, blocks, slices], self.memory(1), params);
    }

    /// Asks for a product of them.
    pub fn product(
        &self,
        queue: &Queue,
        matrix: kernels::Matrix,
        inputs: &Inputs,
        (out, out_stride): (Pointer, usize),
        (rows, add): (usize, bool),
    ) {
        let outputs = matrix.outputs as usize;
        let tiles = rows.div_ceil(TILE_ROWS);
        let (pass, passes) = passes(tiles);
        let Cut { slice, slices, blocks, partial, arrived } =
            self.cut(queue, (outputs, matrix.stride as usize), (tiles, passes));
        let params = kernels::Tiles {
            matrix,
            x: inputs.parts,
            sums: inputs.sums,
            scales: inputs.scales,
            out,
            partial,
            arrived,
            rows: rows as i32,
            out_stride: out_stride as i32,
            add: i32::from(add),
            tiles: tiles as i32,
            pass: pass as i32,
            slice: slice as i32,
        };
        queue.launch(&self.kernel, [passes, blocks, slices], self.memory(pass), params);
    }
}
