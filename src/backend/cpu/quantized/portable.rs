//! The reference kernel: plain loops, for every processor.

use super::weights;
use super::{NR, QuantizedGemmArgs};
use crate::backend::storage::{BLOCK, UNIT};

/// Computes a product.
///
/// # Safety
/// `out` must reach what its documentation says and not be in use elsewhere.
pub unsafe fn product(args: &QuantizedGemmArgs<'_>) {
    let (lines, kind) = (args.format.bits.lines(), args.format.kind);
    let units_of_panel = args.blocks.div_ceil(UNIT) * kind.units();
    for panel in 0..args.columns.div_ceil(NR) {
        let codes = &args.codes[panel * args.blocks * lines..];
        let scales = &args.scales[panel * args.blocks * kind.scales()..];
        let units = &args.units[panel * units_of_panel..];
        let width = NR.min(args.columns - panel * NR);
        for row in 0..args.rows {
            let group = row / super::GROUP * super::GROUP;
            let beside = super::GROUP.min(args.rows - group);
            let mut sums = [0.0f32; NR];
            for block in 0..args.blocks {
                let x = &args.x[group * args.blocks + block * beside + (row - group)];
                let lines = &codes[block * lines..(block + 1) * lines];
                let (scales, units) = (&scales[block * kind.scales()..], &units[block / UNIT * kind.units()..]);
                for (c, sum) in sums.iter_mut().enumerate() {
                    let [scale, other] = args.format.factors(scales, units, c);
                    let product = |i: usize| i32::from(x.codes[i]) * weights::code(args.format, lines, c, i);
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
            // SAFETY: a row and columns of the product.
            unsafe { args.write(row, panel * NR, &sums[..width]) };
        }
    }
}
