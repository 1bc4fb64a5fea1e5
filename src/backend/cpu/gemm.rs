//! Matrix products of few rows with packed weights.
//!
//! Contract of every kernel: `out[r][c] = sum over k of x[r][k] * w[k][c]`, where each sum is one chain of
//! fused multiply-adds over ascending k in f32. So an output is the same to the bit for every number of rows,
//! tile shape, kernel set and thread count. [`portable`] is the reference twin of all others.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) mod blocking;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use std::ops::Range;

use super::delta::recurrence::{self, Recurrence};
use super::ops;
use super::pack::{Bf16x16, F16x16, F32x16, NR, Packed, Panels};
use super::pool::{Parts, Pool};
use super::quantized::{self, InputBlock};
use crate::model::spec::Activation;

/// How sums become outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `out = sum`.
    Store,
    /// `out += sum`: a residual.
    Add,
    /// `out` is the value that the chain starts from: the sum goes on over further k.
    Continue,
}

/// Arguments of a kernel call: one product `[rows, k] x [k, columns]`.
///
/// Bytes moved: the panels once for every 64 rows, `x` once per panel (from the cache), `out` once.
#[derive(Clone, Copy)]
pub struct GemmArgs<B> {
    /// First row of `x`, `[rows, k]` with `x_stride` floats between rows.
    pub x: *const f32,
    /// Floats between rows of `x`.
    pub x_stride: usize,
    pub rows: usize,
    /// Number of inputs.
    pub k: usize,
    /// First block of the first panel.
    pub panels: *const B,
    /// Blocks between panels, at least `k`.
    pub panel_stride: usize,
    /// Number of outputs; the panels cover `ceil(columns / 16) * 16`.
    pub columns: usize,
    /// First row of `out`, `[rows, columns]` with `out_stride` floats between rows.
    pub out: *mut f32,
    /// Floats between rows of `out`.
    pub out_stride: usize,
    /// Added to the sum, `[columns]`; may be null. Not for [`Mode::Continue`].
    pub bias: *const f32,
    /// How sums become outputs.
    pub mode: Mode,
    /// For panels that come from memory: the blocks from the first panel to what this thread reads after the
    /// last one. All that follows is then fetched into the cache ahead of its use.
    pub after: Option<isize>,
}

/// Takes rows into a part of a state: [`recurrence::recur`].
type Recur = unsafe fn(&mut [F32x16], &Recurrence<'_>, Range<usize>, &mut [[f32; NR]]);

/// A set of kernels for one kind of processor.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// Name for `doctor`.
    pub name: &'static str,
    f32: unsafe fn(&GemmArgs<F32x16>),
    bf16: unsafe fn(&GemmArgs<Bf16x16>),
    f16: unsafe fn(&GemmArgs<F16x16>),
    softmax: unsafe fn(&mut [f32], f32) -> (f32, f32),
    activate: unsafe fn(Activation, &[f32], &mut [f32]),
    convolve: unsafe fn(&[f32], &[f32], &mut [f32]),
    recur: Recur,
    /// Those for quantised weights.
    pub(super) quantized: quantized::Kernels,
}

impl Kernels {
    /// The kernels that every processor can run, slow without fused multiply-add in hardware.
    pub const fn portable() -> Self {
        Self {
            name: "portable",
            f32: portable::product,
            bf16: portable::product,
            f16: portable::product,
            softmax: ops::softmax,
            activate: ops::activate,
            convolve: recurrence::convolve,
            recur: recurrence::recur,
            quantized: quantized::Kernels::PORTABLE,
        }
    }

    /// The AVX2 kernels, where this processor has them.
    #[cfg(target_arch = "x86_64")]
    fn avx2() -> Option<Self> {
        let has = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c");
        has.then_some(Self {
            name: "avx2",
            f32: avx2::product_f32,
            bf16: avx2::product_bf16,
            f16: avx2::product_f16,
            softmax: avx2::softmax,
            activate: avx2::activate,
            convolve: avx2::convolve,
            recur: avx2::recur,
            quantized: quantized::Kernels::AVX2,
        })
    }

    /// The AVX-512 kernels, where this processor has them.
    #[cfg(target_arch = "x86_64")]
    fn avx512() -> Option<Self> {
        let has = std::arch::is_x86_feature_detected!("avx512f");
        let dot_products =
            std::arch::is_x86_feature_detected!("avx512bw") && std::arch::is_x86_feature_detected!("avx512vnni");
        Self::avx2().filter(|_| has).map(|avx2| Self {
            name: "avx512",
            f32: avx512::product_f32,
            bf16: avx512::product_bf16,
            f16: avx512::product_f16,
            quantized: if dot_products { quantized::Kernels::AVX512 } else { avx2.quantized },
            ..avx2
        })
    }

    /// The NEON kernels.
    #[cfg(target_arch = "aarch64")]
    fn neon() -> Self {
        Self {
            name: "neon",
            f32: neon::product_f32,
            bf16: neon::product_bf16,
            f16: neon::product_f16,
            ..Self::portable()
        }
    }

    /// All that this processor can run, the fastest last.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let fast = [Self::avx2(), Self::avx512()];
        #[cfg(target_arch = "aarch64")]
        let fast = [Some(Self::neon())];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let fast = [None];
        [Some(Self::portable())].into_iter().chain(fast).flatten().collect()
    }

    /// The fastest kernels for this processor.
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self::portable())
    }

    /// [`ops::softmax`], compiled for this processor; the same to the bit.
    pub(super) fn softmax(&self, scores: &mut [f32], scale: f32) -> (f32, f32) {
        // SAFETY: the processor was checked when the set was chosen.
        unsafe { (self.softmax)(scores, scale) }
    }

    /// [`ops::activate`], compiled for this processor; the same to the bit.
    pub(super) fn activate(&self, activation: Activation, input: &[f32], out: &mut [f32]) {
        // SAFETY: as above.
        unsafe { (self.activate)(activation, input, out) }
    }

    /// [`recurrence::convolve`], compiled for this processor; the same to the bit.
    pub(super) fn convolve(&self, filter: &[f32], inputs: &[f32], out: &mut [f32]) {
        // SAFETY: as above.
        unsafe { (self.convolve)(filter, inputs, out) }
    }

    /// [`recurrence::recur`], compiled for this processor; the same to the bit.
    pub(super) fn recur(&self, state: &mut [F32x16], of: &Recurrence<'_>, rows: Range<usize>, out: &mut [[f32; NR]]) {
        // SAFETY: as above.
        unsafe { (self.recur)(state, of, rows, out) }
    }

    /// Computes a product on f32 panels.
    ///
    /// # Safety
    /// The pointers of `args` must reach what their documentation says; `out` must not be in use elsewhere.
    pub(super) unsafe fn run_f32(&self, args: &GemmArgs<F32x16>) {
        // SAFETY: the caller's duty; the processor was checked when the set was chosen.
        unsafe { (self.f32)(args) }
    }

    /// Computes a product on panels of floats of any kind, from panel `first` on. `args.panels` is not used.
    ///
    /// # Safety
    /// As for [`run_f32`](Self::run_f32).
    unsafe fn run(&self, args: &GemmArgs<F32x16>, panels: &Panels, first: usize) {
        let at = first * args.panel_stride;
        // SAFETY: the caller's duty; the processor was checked when the set was chosen.
        unsafe {
            match panels {
                Panels::F32(blocks) => (self.f32)(&args.with_panels(blocks[at..].as_ptr())),
                Panels::Bf16(blocks) => (self.bf16)(&args.with_panels(blocks[at..].as_ptr())),
                Panels::F16(blocks) => (self.f16)(&args.with_panels(blocks[at..].as_ptr())),
                Panels::Quantized(_) | Panels::Stacked(_) => unreachable!("these are computed otherwise"),
            }
        }
    }
}

/// Multiply-adds below which other threads are not called, a microsecond or two: on a machine that is busy
/// with other things, such as the user's tests, waiting for a thread that has lost its core costs more than
/// it could save. The tests of this file use small matrices and want them shared out.
const INLINE_WORK: usize = if cfg!(test) { 1 << 12 } else { 1 << 15 };

/// Bytes of weights that take as long to read as [`INLINE_WORK`] takes to compute.
const INLINE_BYTES: usize = 1 << 15;

/// A linear layer on all rows.
#[derive(Clone, Copy)]
pub struct Linear<'a> {
    pub weights: &'a Packed,
    /// Added to the outputs, `[outputs]`.
    pub bias: Option<&'a [f32]>,
    /// How sums become outputs.
    pub mode: Mode,
}

/// Panels of a matrix that are computed: the first ones, and single ones behind them, ascending.
#[derive(Clone, Copy)]
pub struct Picked<'a> {
    pub first: usize,
    pub more: &'a [u32],
}

impl Picked<'_> {
    /// All panels of a matrix of so many outputs.
    pub fn all(outputs: usize) -> Self {
        Self { first: outputs.div_ceil(NR), more: &[] }
    }

    /// Columns of the result, of a matrix of so many outputs.
    pub fn columns(&self, outputs: usize) -> usize {
        let last = self.more.last().map_or(self.first, |&panel| panel as usize + 1);
        (self.first + self.more.len()) * NR - (last * NR).saturating_sub(outputs)
    }
}

/// Picked panels as units of work.
#[derive(Clone, Copy)]
pub struct Units<'a> {
    pub picked: Picked<'a>,
    /// Panels of a unit; those behind the first ones are units of their own.
    pub of: usize,
    /// Outputs of the matrix.
    pub outputs: usize,
}

/// A run of panels.
pub struct Unit {
    /// Number of the first.
    pub panel: usize,
    pub panels: usize,
    /// Outputs.
    pub columns: usize,
    /// Column of the result where they begin.
    pub to: usize,
}

impl Units<'_> {
    /// Number of units.
    pub fn count(&self) -> usize {
        self.picked.first.div_ceil(self.of) + self.picked.more.len()
    }

    /// The unit of this number.
    pub fn get(&self, number: usize) -> Unit {
        let Self { picked: Picked { first, more }, of, outputs } = *self;
        let (panel, panels, to) = match number.checked_sub(first.div_ceil(of)) {
            None => (number * of, of.min(first - number * of), number * of),
            Some(at) => (more[at] as usize, 1, first + at),
        };
        Unit { panel, panels, columns: (panels * NR).min(outputs - panel * NR), to: to * NR }
    }

    /// Panels from the first of a unit to the first of the `following` one of its thread, or behind it.
    pub fn ahead(&self, number: usize, following: Option<usize>) -> usize {
        let Unit { panel, panels, .. } = self.get(number);
        following.map_or(panels, |following| self.get(following).panel - panel)
    }
}

/// Computes `layer` on `x` `[rows, inputs]` into `out` `[rows, outputs]`. `scratch` is working memory.
pub fn linear(
    pool: &Pool,
    kernels: &Kernels,
    layer: Linear<'_>,
    x: &[f32],
    out: &mut [f32],
    scratch: &mut Vec<InputBlock>,
) {
    linear_of(pool, kernels, (layer, Picked::all(layer.weights.outputs)), x, out, scratch);
}

/// Like [`linear`], of some panels of a matrix that is not stacked, whose columns stand side by side in `out`.
pub fn linear_of(
    pool: &Pool,
    kernels: &Kernels,
    (layer, picked): (Linear<'_>, Picked<'_>),
    x: &[f32],
    out: &mut [f32],
    scratch: &mut Vec<InputBlock>,
) {
    let (inputs, columns) = (layer.weights.inputs, picked.columns(layer.weights.outputs));
    let rows = x.len() / inputs;
    assert!(x.len() == rows * inputs && out.len() == rows * columns, "shapes of a linear layer");
    if rows > 0 {
        into(pool, kernels, (layer, picked), x, (&Parts::new(out), columns, 0), scratch);
    }
}

/// Like [`linear_of`], into columns of `out` from `from` on, with `stride` floats between rows, of at least
/// one row.
fn into(
    pool: &Pool,
    kernels: &Kernels,
    (layer, picked): (Linear<'_>, Picked<'_>),
    x: &[f32],
    (out, stride, from): (&Parts<'_, f32>, usize, usize),
    scratch: &mut Vec<InputBlock>,
) {
    let Linear { weights, bias, mode } = layer;
    let (inputs, outputs) = (weights.inputs, weights.outputs);
    let rows = x.len() / inputs;
    assert!(bias.is_none_or(|bias| bias.len() == outputs), "shape of a bias");
    if let Panels::Stacked(parts) = &weights.panels {
        let mut column = 0;
        for weights in parts {
            let bias = bias.map(|bias| &bias[column..column + weights.outputs]);
            let all = Picked::all(weights.outputs);
            into(pool, kernels, (Linear { weights, bias, mode }, all), x, (out, stride, from + column), scratch);
            column += weights.outputs;
        }
        return;
    }
    let panels = picked.first;
    // Units even out unequal speed, and a thread has one of them in reserve; with few rows the kernels want
    // several panels at once.
    let unit = panels.div_ceil(pool.threads() * 8).next_multiple_of(4);
    let inline = rows * inputs * outputs < INLINE_WORK && weights.bytes() < INLINE_BYTES;
    let units = Units { picked, of: if inline { panels } else { unit }.max(1), outputs };
    if let Panels::Quantized(weights) = &weights.panels {
        let call = quantized::Call { pool, kernels: kernels.quantized, units };
        quantized::linear(call, weights, (bias, mode == Mode::Add), x, (out, stride, from), scratch);
        return;
    }
    pool.run_ahead(units.count(), &|number, following, _| {
        let Unit { panel, columns, to, .. } = units.get(number);
        let args = GemmArgs {
            x: x.as_ptr(),
            x_stride: inputs,
            rows,
            k: inputs,
            panels: std::ptr::null::<F32x16>(),
            panel_stride: inputs,
            columns,
            out: out.pointer(from + to, (rows - 1) * stride + columns),
            out_stride: stride,
            bias: bias.map_or(std::ptr::null(), |bias| bias[panel * NR..].as_ptr()),
            mode,
            after: Some((units.ahead(number, following) * inputs) as isize),
        };
        // SAFETY: shapes are checked above; units write different columns.
        unsafe { kernels.run(&args, &weights.panels, panel) }
    });
}

impl<B> GemmArgs<B> {
    /// These arguments with other panels.
    fn with_panels<C>(&self, panels: *const C) -> GemmArgs<C> {
        let &GemmArgs { x, x_stride, rows, k, panel_stride, columns, out, out_stride, bias, mode, after, .. } = self;
        GemmArgs { x, x_stride, rows, k, panels, panel_stride, columns, out, out_stride, bias, mode, after }
    }
}

#[cfg(test)]
mod tests {
    use half::bf16;
    use proptest::prelude::*;

    use super::*;
    use crate::backend::storage::Storage;
    use crate::model::{Tensor, TensorType};

    fn values(seed: u32, len: usize) -> Vec<f32> {
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Exact in bf16.
            f32::from((state >> 24) as u8 as i8) / 64.0
        };
        (0..len).map(|_| next()).collect()
    }

    /// Values whose products and sums are rounded, so that another order of summation shows.
    fn inexact(seed: u32, len: usize) -> Vec<f32> {
        values(seed, len).into_iter().map(|value| value * 0.731_058_6 + 0.1).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

        /// Odd sizes, both storages, all modes: equal to a sum in f64 within rounding, and to the bit between
        /// kernel sets, thread counts and numbers of rows.
        #[test]
        fn products_are_right_and_do_not_depend_on_batch_composition(
            rows in 1usize..81, inputs in 1usize..70, outputs in 1usize..150, seed: u32, add: bool, with_bias: bool,
        ) {
            let x = inexact(seed, rows * inputs);
            let w = values(seed ^ 1, outputs * inputs);
            let (bias, before) = (values(seed ^ 2, outputs), values(seed ^ 3, rows * outputs));
            let bytes: Vec<u8> = w.iter().flat_map(|&w| bf16::from_f32(w).to_le_bytes()).collect();
            let tensor = Tensor { dtype: TensorType::Bf16, bytes: bytes.into() };
            let mode = if add { Mode::Add } else { Mode::Store };
            let mut results = Vec::new();
            for threads in [1, 3] {
                let pool = Pool::new(threads);
                for storage in [Storage::F32, Storage::Bf16, Storage::F16] {
                    let weights = Packed::new(&pool, &Kernels::best(), &[(tensor.clone(), outputs)], inputs, storage).expect("memory");
                    let layer = Linear { weights: &weights, bias: with_bias.then_some(&bias[..]), mode };
                    for kernels in Kernels::available() {
                        let mut out = before.clone();
                        linear(&pool, &kernels, layer, &x, &mut out, &mut Vec::new());
                        results.push(out);
                        // Row by row.
                        let mut out = before.clone();
                        for (x, out) in x.chunks(inputs).zip(out.chunks_mut(outputs)) {
                            linear(&pool, &kernels, layer, x, out, &mut Vec::new());
                        }
                        results.push(out);
                    }
                }
            }
            for result in &results {
                prop_assert!(result.iter().zip(&results[0]).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
            for (r, row) in results[0].chunks(outputs).enumerate() {
                for (c, &found) in row.iter().enumerate() {
                    let product: f64 = (0..inputs)
                        .map(|k| f64::from(x[r * inputs + k]) * f64::from(w[c * inputs + k]))
                        .sum();
                    let expected = product
                        + if with_bias { f64::from(bias[c]) } else { 0.0 }
                        + if add { f64::from(before[r * outputs + c]) } else { 0.0 };
                    prop_assert!((f64::from(found) - expected).abs() < 1e-4, "{found} for {expected}");
                }
            }
        }

        /// Some panels of a matrix give the columns that the whole gives, to the bit.
        #[test]
        fn picked_panels_are_columns_of_the_whole(
            rows in 1usize..20, blocks in 1usize..3, outputs in 1usize..400, first in 0usize..8, picks: [bool; 25], seed: u32,
        ) {
            let inputs = blocks * 32;
            let (x, bias) = (inexact(seed, rows * inputs), values(seed ^ 2, outputs));
            let bytes: Vec<u8> = values(seed ^ 1, outputs * inputs).iter().flat_map(|w| w.to_le_bytes()).collect();
            let tensor = Tensor { dtype: TensorType::F32, bytes: bytes.into() };
            let first = first.min(outputs.div_ceil(NR));
            let more: Vec<u32> = (first..outputs.div_ceil(NR)).filter(|&panel| picks[panel]).map(|p| p as u32).collect();
            let picked = Picked { first, more: &more };
            let columns: Vec<usize> = (0..first)
                .chain(more.iter().map(|&panel| panel as usize))
                .flat_map(|panel| panel * NR..outputs.min((panel + 1) * NR))
                .collect();
            prop_assert_eq!(picked.columns(outputs), columns.len());
            for threads in [1, 3] {
                let pool = Pool::new(threads);
                for storage in [Storage::F32, Storage::Bf16, Storage::Int8, Storage::Int4] {
                    let weights = Packed::new(&pool, &Kernels::best(), &[(tensor.clone(), outputs)], inputs, storage).expect("memory");
                    let layer = Linear { weights: &weights, bias: Some(&bias), mode: Mode::Store };
                    for kernels in Kernels::available() {
                        let mut whole = vec![0.0; rows * outputs];
                        linear(&pool, &kernels, layer, &x, &mut whole, &mut Vec::new());
                        let mut part = vec![0.0; rows * columns.len()];
                        linear_of(&pool, &kernels, (layer, picked), &x, &mut part, &mut Vec::new());
                        for (row, part) in part.chunks(columns.len().max(1)).enumerate() {
                            let of_whole = columns.iter().map(|column| whole[row * outputs + column].to_bits());
                            prop_assert!(part.iter().map(|value| value.to_bits()).eq(of_whole), "{} {storage:?}", kernels.name);
                        }
                    }
                }
            }
        }

        /// Cutting the sum anywhere and going on changes nothing.
        #[test]
        fn a_chain_goes_on_where_it_stopped(rows in 1usize..9, inputs in 2usize..60, columns in 1usize..40, seed: u32) {
            let x = inexact(seed, rows * inputs);
            let blocks: Vec<F32x16> = values(seed ^ 1, columns.div_ceil(NR) * inputs * NR)
                .chunks(NR)
                .map(|block| F32x16(std::array::from_fn(|c| block[c])))
                .collect();
            let cut = seed as usize % inputs;
            for kernels in Kernels::available() {
                let run = |parts: &[(usize, usize, Mode)]| {
                    let mut out = vec![0.0f32; rows * columns];
                    for &(from, to, mode) in parts {
                        let args = GemmArgs {
                            x: x[from..].as_ptr(),
                            x_stride: inputs,
                            rows,
                            k: to - from,
                            panels: blocks[from..].as_ptr(),
                            panel_stride: inputs,
                            columns,
                            out: out.as_mut_ptr(),
                            out_stride: columns,
                            bias: std::ptr::null(),
                            mode,
                            after: (rows % 2 == 0).then_some(0),
                        };
                        // SAFETY: all pointers reach `rows`, `columns` and `k` as sized above.
                        unsafe { kernels.run_f32(&args) };
                    }
                    out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                let whole = run(&[(0, inputs, Mode::Store)]);
                prop_assert_eq!(&whole, &run(&[(0, cut, Mode::Store), (cut, inputs, Mode::Continue)]));
            }
        }
    }
}
