//! Kernels for x86-64 with AVX2 and FMA.
//!
//! A tile of `MR` rows and `NP` panels keeps `2 * MR * NP` accumulators of 8 floats in registers; with fewer rows it is
//! made wider, so that enough independent chains hide the latency of the multiply-add. Reference twin: `portable`.

use std::arch::x86_64::{
    __m256, _mm256_add_ps, _mm256_and_si256, _mm256_broadcast_ss, _mm256_castsi256_ps, _mm256_fmadd_ps, _mm256_load_ps,
    _mm256_load_si256, _mm256_loadu_ps, _mm256_set1_epi32, _mm256_setzero_ps, _mm256_slli_epi32, _mm256_storeu_ps,
};

use super::super::ops;
use super::super::pack::{Bf16x16, F32x16, NR};
use super::{Job, Mode};

/// Runs a job on f32 panels.
///
/// # Safety
/// The processor must have AVX2 and FMA; the pointers of the job must reach what its documentation says; `out` must not
/// be in use elsewhere.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn product_f32(job: &Job<F32x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { product::<F32x16, false>(job) }
}

/// Runs a job on bf16 panels.
///
/// # Safety
/// As for [`product_f32`].
#[target_feature(enable = "avx2,fma")]
pub unsafe fn product_bf16(job: &Job<Bf16x16>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { product::<Bf16x16, true>(job) }
}

/// [`ops::softmax`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn softmax(scores: &mut [f32], scale: f32) -> f32 {
    ops::softmax(scores, scale)
}

/// [`ops::silu_gate`] with eight lanes at a time.
///
/// # Safety
/// The processor must have AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn silu_gate(gate_up: &[f32], out: &mut [f32]) {
    ops::silu_gate(gate_up, out);
}

/// Panels outside, rows inside: a group of panels is read from memory once and serves all rows from the cache.
#[target_feature(enable = "avx2,fma")]
unsafe fn product<B, const BF16: bool>(job: &Job<B>) {
    let panels = job.columns.div_ceil(NR);
    let mut panel = 0;
    while panel < panels {
        let group = (panels - panel).min(4);
        let mut row = 0;
        while row < job.rows {
            // SAFETY: rows `row..row + MR` and panels `panel..panel + group` are the job's.
            row += unsafe {
                match job.rows - row {
                    6.. => tiles::<B, BF16, 6, 1>(job, row, panel, group),
                    5 => tiles::<B, BF16, 5, 1>(job, row, panel, group),
                    4 => tiles::<B, BF16, 4, 1>(job, row, panel, group),
                    3 => tiles::<B, BF16, 3, 2>(job, row, panel, group),
                    2 => tiles::<B, BF16, 2, 2>(job, row, panel, group),
                    _ => tiles::<B, BF16, 1, 4>(job, row, panel, group),
                }
            };
        }
        panel += group;
    }
}

/// Computes `MR` rows of a group of panels, `NP` panels at a time, and returns `MR`.
#[target_feature(enable = "avx2,fma")]
unsafe fn tiles<B, const BF16: bool, const MR: usize, const NP: usize>(
    job: &Job<B>,
    row: usize,
    panel: usize,
    group: usize,
) -> usize {
    let mut at = 0;
    while at + NP <= group {
        // SAFETY: the tile lies inside the rows and panels that the caller named.
        unsafe { tile::<B, BF16, MR, NP>(job, row, panel + at) };
        at += NP;
    }
    if MR == 1 && at + 2 <= group {
        // SAFETY: as above.
        unsafe { tile::<B, BF16, MR, 2>(job, row, panel + at) };
        at += 2;
    }
    while at < group {
        // SAFETY: as above.
        unsafe { tile::<B, BF16, MR, 1>(job, row, panel + at) };
        at += 1;
    }
    MR
}

#[target_feature(enable = "avx2,fma")]
unsafe fn tile<B, const BF16: bool, const MR: usize, const NP: usize>(job: &Job<B>, row: usize, panel: usize) {
    let mut sums = [[[_mm256_setzero_ps(); 2]; NP]; MR];
    if job.mode == Mode::Continue {
        for (r, sums) in sums.iter_mut().enumerate() {
            for (p, sums) in sums.iter_mut().enumerate() {
                // SAFETY: a tile of the job's outputs.
                *sums = unsafe { read(job.out.add((row + r) * job.out_stride), panel + p, job.columns) };
            }
        }
    }
    // SAFETY: `x` has the rows, and there are `k` blocks in each panel; blocks are aligned to their size.
    unsafe {
        let x: [*const f32; MR] = std::array::from_fn(|r| job.x.add((row + r) * job.x_stride));
        let w: [*const B; NP] = std::array::from_fn(|p| job.panels.add((panel + p) * job.panel_stride));
        let high = _mm256_set1_epi32(0xffff_0000_u32 as i32);
        for k in 0..job.k {
            for p in 0..NP {
                let block = w[p].add(k);
                let (left, right) = if BF16 {
                    let pairs = _mm256_load_si256(block.cast());
                    (
                        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(pairs)),
                        _mm256_castsi256_ps(_mm256_and_si256(pairs, high)),
                    )
                } else {
                    (_mm256_load_ps(block.cast()), _mm256_load_ps(block.cast::<f32>().add(8)))
                };
                for r in 0..MR {
                    let x = _mm256_broadcast_ss(&*x[r].add(k));
                    sums[r][p][0] = _mm256_fmadd_ps(x, left, sums[r][p][0]);
                    sums[r][p][1] = _mm256_fmadd_ps(x, right, sums[r][p][1]);
                }
            }
        }
    }
    for (r, sums) in sums.iter_mut().enumerate() {
        for (p, sums) in sums.iter_mut().enumerate() {
            // SAFETY: a tile of the job's outputs; a bias that is there has all columns.
            unsafe {
                let out = job.out.add((row + r) * job.out_stride);
                if !job.bias.is_null() {
                    add(sums, read(job.bias, panel + p, job.columns));
                }
                if job.mode == Mode::Add {
                    add(sums, read(out, panel + p, job.columns));
                }
                write(out, panel + p, job.columns, *sums);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn add(sums: &mut [__m256; 2], more: [__m256; 2]) {
    *sums = [_mm256_add_ps(sums[0], more[0]), _mm256_add_ps(sums[1], more[1])];
}

/// Reads the 16 columns of a panel of a row; columns that the row does not have are zero.
#[target_feature(enable = "avx2,fma")]
unsafe fn read(row: *const f32, panel: usize, columns: usize) -> [__m256; 2] {
    let width = columns - panel * NR;
    // SAFETY: the row has `columns` floats; what lies beyond is not read.
    unsafe {
        let from = row.add(panel * NR);
        if width >= NR {
            return [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))];
        }
        let mut edge = [0.0f32; NR];
        std::ptr::copy_nonoverlapping(from, edge.as_mut_ptr(), width);
        [_mm256_loadu_ps(edge.as_ptr()), _mm256_loadu_ps(edge.as_ptr().add(8))]
    }
}

/// Writes the 16 columns of a panel of a row, without those that the row does not have.
#[target_feature(enable = "avx2,fma")]
unsafe fn write(row: *mut f32, panel: usize, columns: usize, values: [__m256; 2]) {
    let width = columns - panel * NR;
    // SAFETY: the row has `columns` floats; what lies beyond is not written.
    unsafe {
        let to = row.add(panel * NR);
        if width >= NR {
            _mm256_storeu_ps(to, values[0]);
            _mm256_storeu_ps(to.add(8), values[1]);
            return;
        }
        let mut edge = [0.0f32; NR];
        _mm256_storeu_ps(edge.as_mut_ptr(), values[0]);
        _mm256_storeu_ps(edge.as_mut_ptr().add(8), values[1]);
        std::ptr::copy_nonoverlapping(edge.as_ptr(), to, width);
    }
}
