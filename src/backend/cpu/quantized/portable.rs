//! The reference kernels: plain loops, for every processor.

use super::weights::{self, Bits};
use super::{Job, NR};

/// Runs a job on int8 weights.
///
/// # Safety
/// `out` must reach what the job's documentation says and not be in use elsewhere.
pub unsafe fn product_int8(job: &Job<'_>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { product(job, Bits::Eight) }
}

/// Runs a job on int4 weights.
///
/// # Safety
/// As for [`product_int8`].
pub unsafe fn product_int4(job: &Job<'_>) {
    // SAFETY: the caller's duty, passed on.
    unsafe { product(job, Bits::Four) }
}

unsafe fn product(job: &Job<'_>, bits: Bits) {
    let lines = bits.lines();
    for panel in 0..job.columns.div_ceil(NR) {
        let codes = &job.codes[panel * job.blocks * lines..];
        let scales = &job.scales[panel * job.blocks..];
        let width = NR.min(job.columns - panel * NR);
        for row in 0..job.rows {
            let group = row / super::GROUP * super::GROUP;
            let beside = super::GROUP.min(job.rows - group);
            let mut sums = [0.0f32; NR];
            for block in 0..job.blocks {
                let x = &job.x[group * job.blocks + block * beside + (row - group)];
                let lines = &codes[block * lines..(block + 1) * lines];
                for (c, sum) in sums.iter_mut().enumerate() {
                    let products = x.codes.iter().enumerate();
                    let whole: i32 = products.map(|(i, &x)| i32::from(x) * weights::code(bits, lines, c, i)).sum();
                    *sum = (whole as f32).mul_add(scales[block].get(c) * x.scale, *sum);
                }
            }
            // SAFETY: a row and columns of the job.
            unsafe { job.write(row, panel * NR, &sums[..width]) };
        }
    }
}
