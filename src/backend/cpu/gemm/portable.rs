//! The reference kernel: plain loops, for every processor and every block type.

use super::super::pack::{Block, NR};
use super::{Job, Mode};

/// Runs a job, panel by panel and row by row.
///
/// # Safety
/// The pointers of the job must reach what its documentation says; `out` must not be in use elsewhere.
pub unsafe fn product<B: Block>(job: &Job<B>) {
    for panel in 0..job.columns.div_ceil(NR) {
        // SAFETY: the panel is one of the job's.
        let blocks = unsafe { std::slice::from_raw_parts(job.panels.add(panel * job.panel_stride), job.k) };
        let width = NR.min(job.columns - panel * NR);
        for row in 0..job.rows {
            // SAFETY: `row` is a row of `x`, which has `k` floats.
            let x = unsafe { std::slice::from_raw_parts(job.x.add(row * job.x_stride), job.k) };
            // SAFETY: `row` is a row of `out`, whose columns from the panel's first one on are this job's.
            let out = unsafe { std::slice::from_raw_parts_mut(job.out.add(row * job.out_stride + panel * NR), width) };
            let mut sums = [0.0f32; NR];
            if job.mode == Mode::Continue {
                sums[..width].copy_from_slice(out);
            }
            for (block, &x) in blocks.iter().zip(x) {
                for (c, sum) in sums.iter_mut().enumerate() {
                    *sum = x.mul_add(block.get(c), *sum);
                }
            }
            if !job.bias.is_null() {
                // SAFETY: a bias that is there has all of the job's columns.
                let bias = unsafe { std::slice::from_raw_parts(job.bias.add(panel * NR), width) };
                sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
            }
            if job.mode == Mode::Add {
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
            } else {
                out.copy_from_slice(&sums[..width]);
            }
        }
    }
}
