//! Matrix products of few rows with packed weights.
//!
//! Contract of every kernel: `out[r][c] = sum over k of x[r][k] * w[k][c]`, where each sum is one chain of fused
//! multiply-adds over ascending k in f32. So an output is the same to the bit for every number of rows, tile shape,
//! kernel set and thread count. [`portable`] is the reference twin of [`avx2`].

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::pack::{Bf16x16, F32x16, NR, Packed, Panels};
use super::pool::{Parts, Pool};

/// What happens to the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `out = sum`.
    Store,
    /// `out += sum`: a residual.
    Add,
    /// `out` is the value that the chain starts from: the sum goes on over further k.
    Continue,
}

/// One product `[rows, k] x [k, columns]` of a kernel call.
///
/// Bytes moved: the panels once per row tile (from cache but for the first), `x` once per panel group, `out` once.
#[derive(Clone, Copy)]
pub struct Job<B> {
    /// First row of `x`, `[rows, k]` with `x_stride` floats between rows.
    pub x: *const f32,
    /// Floats between rows of `x`.
    pub x_stride: usize,
    /// Number of rows.
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
    /// What happens to the outputs.
    pub mode: Mode,
}

/// A set of kernels for one kind of processor.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// Name for `doctor`.
    pub name: &'static str,
    f32: unsafe fn(&Job<F32x16>),
    bf16: unsafe fn(&Job<Bf16x16>),
}

impl Kernels {
    /// The kernels that every processor can run, slow without fused multiply-add in hardware.
    pub const fn portable() -> Self {
        Self { name: "portable", f32: portable::product, bf16: portable::product }
    }

    /// The AVX2 + FMA kernels, where this processor has them.
    pub fn avx2() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Some(Self { name: "avx2", f32: avx2::product_f32, bf16: avx2::product_bf16 });
        }
        None
    }

    /// The fastest kernels for this processor.
    pub fn best() -> Self {
        Self::avx2().unwrap_or(Self::portable())
    }

    /// Runs a job on f32 panels.
    ///
    /// # Safety
    /// The pointers of the job must reach what its documentation says; `out` must not be in use elsewhere.
    pub unsafe fn run_f32(&self, job: &Job<F32x16>) {
        // SAFETY: the caller's duty; the processor was checked when the set was chosen.
        unsafe { (self.f32)(job) }
    }

    /// Runs a job on bf16 panels.
    ///
    /// # Safety
    /// As for [`run_f32`](Self::run_f32).
    pub unsafe fn run_bf16(&self, job: &Job<Bf16x16>) {
        // SAFETY: as in `run_f32`.
        unsafe { (self.bf16)(job) }
    }
}

/// Panels of one unit of work: a multiple of the panels that a kernel takes at once.
const UNIT_PANELS: usize = 4;

/// Multiply-adds below which other threads are not called: their answer would come later than the result.
const INLINE_WORK: usize = 1 << 17;

/// A linear layer on all rows.
#[derive(Clone, Copy)]
pub struct Linear<'a> {
    /// The weights.
    pub weights: &'a Packed,
    /// Added to the outputs, `[outputs]`.
    pub bias: Option<&'a [f32]>,
    /// What happens to the outputs.
    pub mode: Mode,
}

/// Computes `layer` on `x` `[rows, inputs]` into `out` `[rows, outputs]`.
pub fn linear(pool: &Pool, kernels: &Kernels, layer: Linear<'_>, x: &[f32], out: &mut [f32]) {
    let Linear { weights, bias, mode } = layer;
    let (inputs, outputs) = (weights.inputs, weights.outputs);
    let rows = x.len() / inputs;
    assert!(x.len() == rows * inputs && out.len() == rows * outputs, "shapes of a linear layer");
    assert!(bias.is_none_or(|bias| bias.len() == outputs), "shape of a bias");
    if rows == 0 {
        return;
    }
    let panels = outputs.div_ceil(NR);
    // A few units per thread even out unequal speed; whole groups keep the kernels at their widest.
    let per_thread = panels.div_ceil(pool.threads() * 4).next_multiple_of(UNIT_PANELS);
    let unit = if rows * inputs * outputs < INLINE_WORK { panels } else { per_thread };
    let out = Parts::new(out);
    pool.run(panels.div_ceil(unit), &|number, _| {
        let first = number * unit;
        let column = first * NR;
        let job = Job {
            x: x.as_ptr(),
            x_stride: inputs,
            rows,
            k: inputs,
            panels: std::ptr::null::<F32x16>(),
            panel_stride: inputs,
            columns: (unit * NR).min(outputs - column),
            out: out.pointer(column, (rows - 1) * outputs + 1),
            out_stride: outputs,
            bias: bias.map_or(std::ptr::null(), |bias| bias[column..].as_ptr()),
            mode,
        };
        match &weights.panels {
            Panels::F32(blocks) => {
                let job = Job { panels: blocks[first * inputs..].as_ptr(), ..job };
                // SAFETY: shapes are checked above; units write different columns.
                unsafe { kernels.run_f32(&job) }
            }
            Panels::Bf16(blocks) => {
                let job = job.with_panels(blocks[first * inputs..].as_ptr());
                // SAFETY: as above.
                unsafe { kernels.run_bf16(&job) }
            }
        }
    });
}

impl<B> Job<B> {
    /// The same job on other panels.
    fn with_panels<C>(&self, panels: *const C) -> Job<C> {
        let &Job { x, x_stride, rows, k, panel_stride, columns, out, out_stride, bias, mode, .. } = self;
        Job { x, x_stride, rows, k, panels, panel_stride, columns, out, out_stride, bias, mode }
    }
}
