//! Products on tensor cores, as launches of `kernels/inputs.cu` and `kernels/tiles.cu`. Cuts depend on the
//! matrix alone, except for the passes over rows.

use super::kernels::{self, Kernel, Pointer};
use super::panels::Layout;
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
    /// Chunks of a stage of a block's memory.
    depth: usize,
}

impl Tiled {
    /// Products with weights of this storage.
    pub fn new(storage: Storage, (kernel, experts): (Kernel<kernels::Tiles>, Kernel<kernels::ExpertTiles>)) -> Self {
        let format = storage.format();
        let (split, parts, depth) = match (storage, format) {
            (_, Some(Format { bits: Bits::Eight, .. })) => (kernels::ROUND_F16, 1, 2),
            (_, Some(_)) => (kernels::ROUND_F16, 1, 1),
            (Storage::Bf16, None) => (kernels::SPLIT_BF16, 2, 2),
            (_, None) => (kernels::SPLIT_F16, 2, 2),
        };
        let sums = format.is_some_and(|format| format.kind.has_min());
        Self { kernel, experts, split, parts, layout: Layout::of(format), sums, depth }
    }
}

/// Rows of a tile, and tiles of a pass at most: `MOST_TILES` of `kernels/tiles.cu`.
const TILE_ROWS: usize = 8;
const MOST_TILES: usize = 6;

/// Warps of a block, and outputs of a warp.
const WARPS: usize = 8;
const OUTPUTS: usize = 32;

/// Warps that are wanted of a product, whatever the GPU: six for each unit of the largest. Each has a slice
/// of its inputs, no less than these.
const WANTED: usize = 800;
const LEAST_INPUTS: usize = 64;

/// Most rows for which a block computes all slices. With more of them it reads more of the rows than of the
/// weights.
const FEW_ROWS: usize = 2 * TILE_ROWS;

/// Stages of a block's memory.
const LEAST_STAGES: usize = 2;
const MOST_STAGES: usize = 4;

/// Chunks of a slice of this matrix, and slices: a power of two, of which the last ones may be empty.
pub fn slices((outputs, stride): (usize, usize), step: usize, most: usize) -> (usize, usize) {
    let chunks = stride / step;
    let wanted = WANTED.div_ceil(outputs.div_ceil(OUTPUTS)).next_power_of_two().min(most);
    let long = (stride / LEAST_INPUTS).max(1);
    let slices = wanted.min(1 << long.ilog2());
    (chunks.div_ceil(slices), slices)
}

/// Tiles of a pass, and passes.
fn passes(tiles: usize, most: usize) -> (usize, usize) {
    let pass = tiles.div_ceil(tiles.div_ceil(most));
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
    /// Chunks of a slice, and slices of a block.
    slice: usize,
    groups: usize,
    /// Blocks of threads beside each other, and those over the inputs.
    blocks: usize,
    parts: usize,
    /// Memory of a block, and the stages that it has room for.
    memory: usize,
    stages: usize,
}

impl Tiled {
    /// Bytes of a stage of a block's memory, for so many tiles of rows and slices side by side.
    fn stage(&self, tiles: usize, groups: usize) -> usize {
        let [codes, upper, scales, units] = self.layout.row;
        // Of two tiles both are there.
        let tiles = if tiles == 1 { 1 } else { tiles.next_multiple_of(2) };
        let of_rows = tiles * (self.parts * 512 + if self.sums { 4 * TILE_ROWS } else { 0 });
        let weights = WARPS * OUTPUTS * (codes + upper + scales + units);
        self.depth * (weights + groups * (self.layout.step / BLOCK) * of_rows)
    }

    /// Memory of a block, and stages, where a block may have `limit` bytes.
    fn memory(&self, (tiles, groups): (usize, usize), limit: usize) -> (usize, usize) {
        let stage = self.stage(tiles, groups);
        let stages = (limit / stage).clamp(LEAST_STAGES, MOST_STAGES);
        (stages * stage, stages)
    }

    /// How a product with a matrix `[outputs, stride]` is cut, for so many tiles of rows.
    fn cut(&self, queue: &Queue, (outputs, stride): (usize, usize), tiles: usize) -> Cut {
        let limit = queue.block_memory;
        let most = if LEAST_STAGES * self.stage(1, WARPS) <= limit { WARPS } else { WARPS / 2 };
        let (slice, slices) = slices((outputs, stride), self.layout.step, most);
        let mut groups = if tiles * TILE_ROWS <= FEW_ROWS { slices } else { slices.min(2) };
        while groups > 2 && LEAST_STAGES * self.stage(tiles, groups) > limit {
            groups /= 2;
        }
        let (memory, stages) = self.memory((tiles, groups), limit);
        // The sums of all slices are put together where the stages were.
        let memory = memory.max(if groups > 1 { WARPS * OUTPUTS * tiles * TILE_ROWS * size_of::<f32>() } else { 4 });
        Cut {
            slice,
            groups,
            blocks: outputs.div_ceil(WARPS / groups * OUTPUTS),
            parts: slices / groups,
            memory,
            stages,
        }
    }

    /// Tiles of a pass at most, where a block may have so much memory.
    pub fn most_tiles(&self, limit: usize) -> usize {
        let fit = |tiles: &usize| LEAST_STAGES * self.stage(*tiles, 2) <= limit;
        (2..=MOST_TILES).rev().step_by(2).find(fit).unwrap_or(1)
    }

    /// Least memory of a block for a tile with all slices.
    #[cfg(test)]
    pub fn least_memory(&self) -> usize {
        LEAST_STAGES * self.stage(1, WARPS / 2)
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
        let Cut { slice, groups: slices, blocks, memory, stages, .. } = self.cut(queue, shape, 1);
        let params = kernels::ExpertTiles {
            parts,
            together,
            x: inputs.parts,
            sums: inputs.sums,
            scales: inputs.scales,
            out,
            out_stride: out_stride as i32,
            groups: groups as i32,
            slice: slice as i32,
            slices: slices as i32,
            stages: stages as i32,
            padding: 0,
        };
        queue.launch(&self.experts, [groups, blocks, 1], memory, params);
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
        let (pass, passes) = passes(tiles, self.most_tiles(queue.block_memory));
        let Cut { slice, groups, blocks, parts, memory, stages } =
            self.cut(queue, (outputs, matrix.stride as usize), pass);
        let (mut partial, mut arrived) = (0, 0);
        if parts > 1 {
            partial = queue.scratch(Scratch::Partial, parts * tiles * TILE_ROWS * outputs * 4);
            arrived = queue.scratch(Scratch::Arrived, passes * blocks * 4);
        }
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
            groups: groups as i32,
            stages: stages as i32,
        };
        queue.launch(&self.kernel, [passes, blocks, parts], memory, params);
    }
}
