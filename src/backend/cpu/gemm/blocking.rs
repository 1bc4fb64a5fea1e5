//! The loops around a kernel: which panels, inputs and rows it meets, in which order.
//!
//! A group of panels is read from memory once for up to [`ROWS`] rows, in slices of inputs that stay in the
//! second-level cache while all tiles of rows pass over them. Meanwhile the tiles fetch what follows, each
//! its share, so that memory is never waited for and arithmetic hides behind reading, or reading behind
//! arithmetic, whichever takes longer.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use std::mem::MaybeUninit;

use super::super::pack::NR;
use super::{GemmArgs, Mode};

/// Rows that meet a panel while it is in the cache; more rows read it again.
const ROWS: usize = 64;

/// Most rows times panels of a group.
const SUMS: usize = 2 * ROWS;

/// Longest slice of inputs: two slices of two panels and a slice of [`ROWS`] rows fit into half a megabyte.
const SLICE: usize = 1024;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The inner loops for one kind of processor and one kind of block.
pub trait Tiles {
    /// How weights are stored.
    type Block;
    /// Most rows of a tile.
    const ROWS: usize;

    /// Panels side by side in a tile of `rows` rows, a power of two: few rows alone have too few independent
    /// chains to hide the latency of a multiply-add. `rows * panels` is at most [`SUMS`].
    fn panels(rows: usize) -> usize;

    /// Adds the products of a tile of `rows` rows and `panels` panels to its sums.
    ///
    /// # Safety
    /// The processor must have the instructions; the pointers of the tile must reach what its documentation
    /// says.
    unsafe fn tile(rows: usize, panels: usize, tile: &Tile<Self::Block>);
}

/// Calls the tile function that is compiled for this number of rows and panels.
macro_rules! tile_of_shape {
    ($run:ident::$kinds:tt, $rows:expr, $panels:expr, $tile:expr, $([$r:literal, $p:literal])+) => {
        match ($rows, $panels) {
            $(($r, $p) => tile_of_shape!(@ $run, $kinds, $r, $p, $tile),)+
            (rows, panels) => unreachable!("no tile of {rows} rows and {panels} panels"),
        }
    };
    (@ $run:ident, ($($kind:ty),+), $r:literal, $p:literal, $tile:expr) => { $run::<$($kind,)+ $r, $p>($tile) };
}
pub(in crate::backend::cpu) use tile_of_shape;

/// A few rows and panels, and a slice of their inputs.
pub struct Tile<B> {
    /// First row, `[rows, k]` with `x_stride` floats between rows.
    pub x: *const f32,
    /// Floats between rows of `x`.
    pub x_stride: usize,
    /// Number of inputs.
    pub k: usize,
    /// First block of the first panel.
    pub blocks: *const B,
    /// Blocks between panels.
    pub panel_stride: usize,
    /// `[rows, panels * 16]` with `sums_stride` floats between rows: the chains so far.
    pub sums: *mut f32,
    /// Floats between rows of `sums`.
    pub sums_stride: usize,
    /// Chains begin here, from zero, whatever `sums` holds.
    pub fresh: bool,
    /// Memory to fetch into the cache meanwhile: one line of each panel every [`every`](Self::every) inputs.
    /// Panels lie as those of `blocks`.
    pub ahead: *const B,
    /// Inputs between two fetches.
    pub every: usize,
}

/// Computes a product.
///
/// # Safety
/// The processor must have the instructions of `T`; the pointers of `args` must reach what their documentation
/// says; `out` must not be in use elsewhere.
#[inline(always)]
pub unsafe fn product<T: Tiles>(args: &GemmArgs<T::Block>) {
    let panels = args.columns.div_ceil(NR);
    let slice = args.k.div_ceil(args.k.div_ceil(SLICE).max(1)).max(1);
    let mut scratch = [const { MaybeUninit::<f32>::uninit() }; SUMS * NR];
    let scratch = scratch.as_mut_ptr().cast::<f32>();
    for row in (0..args.rows).step_by(ROWS) {
        let rows = ROWS.min(args.rows - row);
        let mut panel = 0;
        while panel < panels {
            let mut beside = T::panels(rows);
            while beside > panels - panel {
                beside /= 2;
            }
            debug_assert!(rows * beside <= SUMS, "{rows} rows of {beside} panels");
            let tile = MacroTile { args, row, rows, column: panel * NR, width: beside * NR };
            // Sums that need nothing done to them grow where they belong.
            let direct = args.bias.is_null() && args.mode != Mode::Add && tile.columns() == tile.width;
            let sums = if direct { (tile.out(0), args.out_stride) } else { (scratch, tile.width) };
            // SAFETY: rows and panels of the product; the scratch has room for as many rows of as many panels.
            unsafe {
                if !direct && args.mode == Mode::Continue {
                    tile.begin(scratch);
                }
                let blocks = args.panels.add(panel * args.panel_stride);
                let mut k = 0;
                while k < args.k || (k == 0 && args.mode != Mode::Continue) {
                    let len = slice.min(args.k - k);
                    let following = if k + len < args.k {
                        blocks.add(k + len)
                    } else if panel + beside < panels {
                        blocks.wrapping_add(beside * args.panel_stride)
                    } else {
                        args.panels.wrapping_offset(args.after.unwrap_or(0))
                    };
                    tile.slice::<T>((k, len), blocks.add(k), following, sums);
                    k += len.max(1);
                }
                if !direct {
                    tile.end(scratch);
                }
            }
            panel += beside;
        }
    }
}

/// Outputs of some rows and a group of panels of a product.
struct MacroTile<'a, B> {
    args: &'a GemmArgs<B>,
    row: usize,
    rows: usize,
    column: usize,
    width: usize,
}

impl<B> MacroTile<'_, B> {
    /// All tiles of rows over one slice of inputs.
    #[inline(always)]
    unsafe fn slice<T: Tiles<Block = B>>(
        &self,
        (k, len): (usize, usize),
        blocks: *const B,
        ahead: *const B,
        (sums, sums_stride): (*mut f32, usize),
    ) {
        let tiles = self.rows.div_ceil(T::ROWS);
        let (every, share, ahead) = if self.args.after.is_some() {
            // Every tile fetches one of `tiles` equal parts of as many bytes as it reads.
            let blocks_of_line = (LINE / size_of::<B>()).max(1);
            let every = blocks_of_line * tiles;
            (every, len.div_ceil(every) * blocks_of_line, ahead)
        } else {
            (usize::MAX, 0, blocks)
        };
        let mut row = 0;
        for number in 0..tiles {
            let rows = (self.rows - row).div_ceil(tiles - number);
            let tile = Tile {
                // SAFETY: a row of the product.
                x: unsafe { self.args.x.add((self.row + row) * self.args.x_stride + k) },
                x_stride: self.args.x_stride,
                k: len,
                blocks,
                panel_stride: self.args.panel_stride,
                sums: sums.wrapping_add(row * sums_stride),
                sums_stride,
                fresh: k == 0 && self.args.mode != Mode::Continue,
                ahead: ahead.wrapping_add(number * share),
                every,
            };
            // SAFETY: rows and panels of the product, and sums of exactly these.
            unsafe { T::tile(rows, self.width / NR, &tile) };
            row += rows;
        }
    }

    /// Columns that the product has.
    fn columns(&self) -> usize {
        self.width.min(self.args.columns - self.column)
    }

    /// Copies the product's outputs to `sums`, padded with zeros.
    unsafe fn begin(&self, sums: *mut f32) {
        let columns = self.columns();
        for row in 0..self.rows {
            // SAFETY: a row of the product's outputs, and one of the sums.
            unsafe {
                let to = sums.add(row * self.width);
                std::ptr::copy_nonoverlapping(self.out(row), to, columns);
                std::ptr::write_bytes(to.add(columns), 0, self.width - columns);
            }
        }
    }

    /// Writes the sums to the product's outputs, with its bias and mode.
    #[inline(always)]
    unsafe fn end(&self, sums: *const f32) {
        let columns = self.columns();
        for row in 0..self.rows {
            // SAFETY: a row of the sums, all of which tiles have written.
            let sums = unsafe { std::slice::from_raw_parts(sums.add(row * self.width), columns) };
            // SAFETY: a row of the product's outputs, which are in use here only.
            let out = unsafe { std::slice::from_raw_parts_mut(self.out(row), columns) };
            let bias = if self.args.bias.is_null() {
                None
            } else {
                // SAFETY: a bias that is there has all of the product's columns.
                Some(unsafe { std::slice::from_raw_parts(self.args.bias.add(self.column), columns) })
            };
            match (bias, self.args.mode == Mode::Add) {
                (None, false) => out.copy_from_slice(sums),
                (None, true) => out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum),
                (Some(bias), add) => {
                    for ((out, sum), bias) in out.iter_mut().zip(sums).zip(bias) {
                        *out = if add { *out + (sum + bias) } else { sum + bias };
                    }
                }
            }
        }
    }

    fn out(&self, row: usize) -> *mut f32 {
        self.args.out.wrapping_add((self.row + row) * self.args.out_stride + self.column)
    }
}
