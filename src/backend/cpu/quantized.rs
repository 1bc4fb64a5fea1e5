//! Matrix products with quantised weights: int8 and int4 in blocks of 32 inputs, exact whole-number sums
//! inside a block, f32 across blocks.
//!
//! Contract of every kernel: with weights `w ≈ sw * qw` and inputs `x ≈ sx * qx`, a scale for every block
//! of each,
//!
//! ```text
//! out[r][c] = fma(sum of qw * qx over the last block, sw * sx, … fma(sum over block 0, sw * sx, 0) …)
//! ```
//!
//! where `sw * sx` is rounded to f32 before its use. Where weights have a minimum, `fma(minus the sum of qx
//! times sx, mw, …)` follows for each block; where each half of a block has a scale, one step follows for
//! each, and then those of minima. Sums of codes are exact (below 2^24), a row's scales depend on that row
//! only, and blocks come in ascending order; so an output is the same to the bit for every number of rows,
//! tile shape, kernel set and thread count. [`portable`] is the reference twin of all others.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod blocking;
mod factors;
pub mod inputs;
mod portable;
mod saved;
mod stored;
#[cfg(test)]
pub mod tests;
mod weights;

pub use inputs::InputBlock;
pub use saved::{Reader, SavedWeights};
pub use stored::repack;
pub use weights::{Line, Quantized, Scales, quantise};

use super::gemm::{Unit, Units};
use super::pack::NR;
use super::pool::{Parts, Pool};
use crate::backend::storage::{BLOCK, Bits, Format};

/// Rows that meet a panel while it is in the cache; more rows read it again. Activations are stored in groups
/// of as many.
const GROUP: usize = 64;

/// Arguments of a kernel call: one product `[rows, inputs] x [inputs, columns]`.
///
/// Bytes moved: codes and scales once for every 64 rows, `x` once per panel (from the cache), `out` once.
#[derive(Clone, Copy)]
pub struct QuantizedGemmArgs<'a> {
    /// Codes of the first panel and of those behind it.
    pub codes: &'a [Line],
    /// Their scales, `[panels][blocks]`, of some formats two.
    pub scales: &'a [Scales],
    /// The units of the scales, `[panels][ceil(blocks / 8)]`, of formats that have them.
    pub units: &'a [Scales],
    pub format: Format,
    /// Blocks of a panel.
    pub blocks: usize,
    /// The inputs in groups of 64 rows, `[blocks][rows of the group]` each.
    pub x: &'a [InputBlock],
    /// In the same places minus the sum of the inputs as quantised, for formats with minima: of the whole
    /// block, or of its halves where each has a minimum.
    pub sums_of_x: &'a [[f32; 2]],
    /// In the same places what the sum of the products of each half starts from, for formats with a scale for
    /// each.
    pub starts: &'a [[i32; 2]],
    pub rows: usize,
    /// Number of outputs; the panels cover `ceil(columns / 16) * 16`.
    pub columns: usize,
    /// First row of the outputs, `[rows, columns]` with `out_stride` floats between rows.
    pub out: *mut f32,
    /// Floats between rows of `out`.
    pub out_stride: usize,
    /// Added to the sums, `[columns]`.
    pub bias: Option<&'a [f32]>,
    /// Adding to what is there, rather than storing.
    pub add: bool,
    /// Blocks from the first panel to what this thread reads after the last one.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only there it is read ahead by hand"))]
    pub after: usize,
}

impl QuantizedGemmArgs<'_> {
    /// Writes the finished sums of a row, of `sums.len()` columns from `column` on.
    ///
    /// # Safety
    /// `row` and the columns must be the product's, and not be in use elsewhere.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]
    unsafe fn write(&self, row: usize, column: usize, sums: &[f32]) {
        // SAFETY: columns of a row of the product (the caller's duty).
        let out = unsafe { std::slice::from_raw_parts_mut(self.out.add(row * self.out_stride + column), sums.len()) };
        for (c, (out, &sum)) in out.iter_mut().zip(sums).enumerate() {
            let sum = self.bias.map_or(sum, |bias| sum + bias[column + c]);
            *out = if self.add { *out + sum } else { sum };
        }
    }
}

/// Functions of one kind of processor for quantised weights.
#[derive(Clone, Copy)]
pub struct Kernels {
    product: unsafe fn(&QuantizedGemmArgs<'_>),
    inputs: unsafe fn(&[f32], i32, *mut InputBlock, usize),
    weights: unsafe fn(Bits, &[f32], &mut [Line], &mut [Scales], usize),
    stored: stored::Repack,
}

impl Kernels {
    /// For every processor.
    pub const PORTABLE: Self = Self {
        product: portable::product,
        inputs: inputs::quantise_row,
        weights: weights::quantise_output,
        stored: stored::repack_output,
    };

    /// For AVX2. The processor must have it.
    #[cfg(target_arch = "x86_64")]
    pub const AVX2: Self = Self {
        product: avx2::product,
        inputs: avx2::quantise_row,
        weights: avx2::quantise_output,
        stored: avx2::repack_output,
    };

    /// For AVX-512 with its dot products of bytes. The processor must have these and AVX2.
    #[cfg(target_arch = "x86_64")]
    pub const AVX512: Self = Self { product: avx512::product, ..Self::AVX2 };
}

/// Elements of the inputs below which one thread quantises them all, some microseconds.
const INLINE_ELEMENTS: usize = 1 << 14;

/// How a linear layer is computed.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Threads.
    pub pool: &'a Pool,
    /// Kernels that this processor has.
    pub kernels: Kernels,
    /// Panels that are computed.
    pub units: Units<'a>,
}

/// Computes a linear layer on `x` `[rows, inputs]` into `outputs` columns of `out`, from `column` on, with
/// `stride` floats between rows. `scratch` takes the quantised inputs.
pub fn linear(
    call: Call<'_>,
    weights: &Quantized,
    (bias, add): (Option<&[f32]>, bool),
    x: &[f32],
    (out, stride, from): (&Parts<'_, f32>, usize, usize),
    scratch: &mut Vec<InputBlock>,
) {
    let Call { pool, kernels, units } = call;
    let (outputs, blocks) = (weights.outputs, weights.blocks());
    let rows = x.len() / weights.inputs;
    assert!(x.len() == rows * weights.inputs, "shapes of a linear layer");
    assert!(bias.is_none_or(|bias| bias.len() == outputs), "shape of a bias");
    quantise_rows(pool, kernels, weights, x, scratch);
    let (sums_of_x, starts) = sums(weights.format, scratch);
    pool.run_ahead(units.count(), &|number, following, _| {
        let Unit { panel, panels, columns, to } = units.get(number);
        let (codes, scales, units_of_scales) = weights.panels(panel, panels);
        let args = QuantizedGemmArgs {
            codes,
            scales,
            units: units_of_scales,
            format: weights.format,
            blocks,
            x: scratch,
            sums_of_x: &sums_of_x,
            starts: &starts,
            rows,
            columns,
            out: out.pointer(from + to, (rows - 1) * stride + columns),
            out_stride: stride,
            bias: bias.map(|bias| &bias[panel * NR..]),
            add,
            after: units.ahead(number, following) * blocks,
        };
        // SAFETY: shapes are checked above; units write different columns; the processor was checked when the
        // set was chosen.
        unsafe { (kernels.product)(&args) }
    });
}

/// Sums of the inputs that some formats need: see [`QuantizedGemmArgs::sums_of_x`] and
/// [`QuantizedGemmArgs::starts`].
fn sums(format: Format, x: &[InputBlock]) -> (Vec<[f32; 2]>, Vec<[i32; 2]>) {
    let sum = |codes: &[i8]| codes.iter().map(|&code| i32::from(code)).sum::<i32>();
    let (mut sums, mut starts) = (Vec::new(), Vec::new());
    if format.kind.has_min() {
        let of = |codes: &[i8], scale: f32| -sum(codes) as f32 * scale;
        sums = if format.kind.has_halves() {
            let halves = |x: &InputBlock| {
                let (first, second) = x.codes.split_at(BLOCK / 2);
                [of(first, x.scale), of(second, x.scale)]
            };
            x.iter().map(halves).collect()
        } else {
            x.iter().map(|x| [of(&x.codes, x.scale); 2]).collect()
        };
    }
    if format.kind.has_halves() {
        let start = |codes: &[i8]| -format.offset() * sum(codes);
        starts = x.iter().map(|x| [start(&x.codes[..BLOCK / 2]), start(&x.codes[BLOCK / 2..])]).collect();
    }
    (sums, starts)
}

/// Quantises all rows, for the offset of the codes of `weights`.
fn quantise_rows(pool: &Pool, kernels: Kernels, weights: &Quantized, x: &[f32], to: &mut Vec<InputBlock>) {
    let (inputs, blocks) = (weights.inputs, weights.blocks());
    let rows = x.len() / inputs;
    to.resize(rows * blocks, InputBlock::default());
    let to = Parts::new(to);
    let row = |row: usize, _| {
        let group = row / GROUP * GROUP;
        let beside = GROUP.min(rows - group);
        let first = to.pointer(group * blocks + (row - group), (blocks - 1) * beside + 1);
        // SAFETY: `blocks` elements from the first on, `beside` apart, lie in the group and are this row's
        // alone.
        unsafe { (kernels.inputs)(&x[row * inputs..(row + 1) * inputs], weights.format.offset(), first, beside) }
    };
    if x.len() < INLINE_ELEMENTS { (0..rows).for_each(|number| row(number, 0)) } else { pool.run(rows, &row) }
}
