//! The loops around a kernel: which panels, blocks and rows it meets, in which order. As `gemm/blocking.rs`:
//! panels are read from memory once for up to 64 rows, in slices that stay in the cache while all tiles of
//! rows pass over them, and meanwhile the tiles fetch what follows.

use super::weights::{Line, Scales};
use super::{GROUP, InputBlock, NR, QuantizedGemmArgs};
use crate::backend::storage::UNIT;

/// Most blocks of a slice: in int8 16 KiB of each panel, half of a first-level cache.
const SLICE: usize = 32;

/// The inner loops for one kind of processor and one width of codes.
pub trait Tiles {
    /// Cache lines of a block.
    const LINES: usize;
    /// Scales of a block.
    const SCALES: usize;
    /// Units of every 8 blocks.
    const UNITS: usize;
    /// Most rows of a tile.
    const ROWS: usize;

    /// Panels side by side in a tile of `rows` rows, a power of two. `rows * panels` is at most 64.
    fn panels(rows: usize) -> usize;

    /// Adds the products of a tile of `rows` rows and `panels` panels to its sums.
    ///
    /// # Safety
    /// The processor must have the instructions; the pointers of the tile must reach what its documentation
    /// says.
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile);
}

/// A few rows and panels, and a slice of their blocks.
pub struct Tile {
    /// Codes of the first block of the first panel.
    pub codes: *const Line,
    pub scales: *const Scales,
    /// Units of the first panel, if there are such.
    pub units: *const Scales,
    /// Blocks between panels.
    pub stride: usize,
    /// Number of the first block in its panel.
    pub first: usize,
    pub blocks: usize,
    /// First row of the first block, `[blocks][rows]` with `x_stride` rows between blocks.
    pub x: *const InputBlock,
    /// Rows between blocks of `x`.
    pub x_stride: usize,
    /// [`QuantizedGemmArgs::sums_of_x`] and [`QuantizedGemmArgs::starts`] in the same places, for formats
    /// that need them.
    pub sums_of_x: *const [f32; 2],
    pub starts: *const [i32; 2],
    /// `[rows, panels * 16]`, back to back: the sums so far.
    pub sums: *mut f32,
    /// Blocks from the first to those that this tile fetches into the cache meanwhile, one of each panel
    /// every [`every`](Self::every) blocks.
    pub ahead: usize,
    /// Blocks between two fetches.
    pub every: usize,
}

/// Computes a product.
///
/// # Safety
/// The processor must have the instructions of `T`; `out` must reach what its documentation says and
/// not be in use elsewhere.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
pub unsafe fn product<T: Tiles>(args: &QuantizedGemmArgs<'_>) {
    let panels = args.columns.div_ceil(NR);
    let units = args.blocks.div_ceil(UNIT) * T::UNITS;
    assert!(args.codes.len() >= panels * args.blocks * T::LINES && args.units.len() >= panels * units);
    assert!(args.scales.len() >= panels * args.blocks * T::SCALES);
    assert!(args.x.len() >= args.rows * args.blocks);
    assert!(args.sums_of_x.is_empty() || args.sums_of_x.len() >= args.rows * args.blocks);
    assert!(args.starts.is_empty() || args.starts.len() >= args.rows * args.blocks);
    let slice = args.blocks.div_ceil(args.blocks.div_ceil(SLICE).max(1)).max(1);
    let mut memory = [0.0f32; GROUP * NR];
    for row in (0..args.rows).step_by(GROUP) {
        let rows = GROUP.min(args.rows - row);
        let x = args.x[row * args.blocks..(row + rows) * args.blocks].as_ptr();
        let sums_of_x = args.sums_of_x.as_ptr().wrapping_add(row * args.blocks);
        let starts = args.starts.as_ptr().wrapping_add(row * args.blocks);
        let mut panel = 0;
        while panel < panels {
            let mut beside = T::panels(rows);
            while beside > panels - panel {
                beside /= 2;
            }
            let width = beside * NR;
            let sums = &mut memory[..rows * width];
            sums.fill(0.0);
            for block in (0..args.blocks).step_by(slice) {
                let blocks = slice.min(args.blocks - block);
                let last = block + blocks == args.blocks;
                let following = if !last {
                    blocks
                } else if panel + beside < panels {
                    beside * args.blocks - block
                } else {
                    args.after - panel * args.blocks - block
                };
                let tiles = rows.div_ceil(T::ROWS);
                let mut first = 0;
                for number in 0..tiles {
                    let rows_of_tile = (rows - first).div_ceil(tiles - number);
                    let at = panel * args.blocks + block;
                    let tile = Tile {
                        codes: args.codes[at * T::LINES..].as_ptr(),
                        scales: args.scales[at * T::SCALES..].as_ptr(),
                        units: args.units.as_ptr().wrapping_add(panel * units),
                        stride: args.blocks,
                        first: block,
                        blocks,
                        x: x.wrapping_add(block * rows + first),
                        x_stride: rows,
                        sums_of_x: sums_of_x.wrapping_add(block * rows + first),
                        starts: starts.wrapping_add(block * rows + first),
                        sums: sums[first * width..(first + rows_of_tile) * width].as_mut_ptr(),
                        ahead: following + number * blocks / tiles,
                        every: tiles,
                    };
                    // SAFETY: panels, blocks and rows of the product (checked above), and sums of exactly
                    // these.
                    unsafe { T::tile(rows_of_tile, beside, &tile) };
                    first += rows_of_tile;
                }
            }
            let column = panel * NR;
            let columns = width.min(args.columns - column);
            for (r, sums) in sums.chunks_exact(width).enumerate() {
                // SAFETY: a row and columns of the product, which the caller has given to this call alone.
                unsafe { args.write(row + r, column, &sums[..columns]) };
            }
            panel += beside;
        }
    }
}
