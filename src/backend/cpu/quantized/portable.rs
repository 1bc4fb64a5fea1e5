//! The reference kernel: plain loops, for every processor.

use super::weights;
use super::{Job, NR};
use crate::backend::storage::{BLOCK, UNIT};

/// Runs a job.
///
/// # Safety
/// `out` must reach what the job's documentation says and not be in use elsewhere.
pub unsafe fn product(job: &Job<'_>) {
    let (lines, kind) = (job.format.bits.lines(), job.format.kind);
    let units_of_panel = job.blocks.div_ceil(UNIT) * kind.units();
    for panel in 0..job.columns.div_ceil(NR) {
        let codes = &job.codes[panel * job.blocks * lines..];
        let scales = &job.scales[panel * job.blocks * kind.scales()..];
        let units = &job.units[panel * units_of_panel..];
        let width = NR.min(job.columns - panel * NR);
        for row in 0..job.rows {
            let group = row / super::GROUP * super::GROUP;
            let beside = super::GROUP.min(job.rows - group);
            let mut sums = [0.0f32; NR];
            for block in 0..job.blocks {
                let x = &job.x[group * job.blocks + block * beside + (row - group)];
                let lines = &codes[block * lines..(block + 1) * lines];
                let (scales, units) = (&scales[block * kind.scales()..], &units[block / UNIT * kind.units()..]);
                for (c, sum) in sums.iter_mut().enumerate() {
                    let [scale, other] = job.format.factors(scales, units, c);
                    let product = |i: usize| i32::from(x.codes[i]) * weights::code(job.format, lines, c, i);
                    let mut add = |whole: i32, scale: f32| *sum = (whole as f32).mul_add(scale * x.scale, *sum);
                    if kind.has_halves() {
                        add((0..BLOCK / 2).map(product).sum(), scale);
                        add((BLOCK / 2..BLOCK).map(product).sum(), other);
                    } else {
                        add((0..BLOCK).map(product).sum(), scale);
                    }
                    if kind.has_min() {
                        let of_x = -x.codes.iter().map(|&x| i32::from(x)).sum::<i32>() as f32 * x.scale;
                        *sum = of_x.mul_add(other, *sum);
                    }
                }
            }
            // SAFETY: a row and columns of the job.
            unsafe { job.write(row, panel * NR, &sums[..width]) };
        }
    }
}
