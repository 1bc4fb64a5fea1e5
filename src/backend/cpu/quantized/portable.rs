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
                    let factors = args.format.factors(scales, (units, block % UNIT), c);
                    let halves = [0..BLOCK / 2, BLOCK / 2..BLOCK];
                    let product = |i: usize| i32::from(x.codes[i]) * weights::code(args.format, lines, c, i);
                    let mut add = |whole: i32, scale: f32| *sum = (whole as f32).mul_add(scale * x.scale, *sum);
                    if kind.has_halves() {
                        halves
                            .iter()
                            .zip(factors.scales)
                            .for_each(|(half, scale)| add(half.clone().map(product).sum(), scale));
                    } else {
                        add((0..BLOCK).map(product).sum(), factors.scales[0]);
                    }
                    let mut subtract = |codes: &[i8], min: f32| {
                        let of_x = -codes.iter().map(|&x| i32::from(x)).sum::<i32>() as f32 * x.scale;
                        *sum = of_x.mul_add(min, *sum);
                    };
                    match (kind.has_min(), kind.has_halves()) {
                        (true, true) => {
                            for (half, min) in halves.into_iter().zip(factors.mins) {
                                subtract(&x.codes[half], min);
                            }
                        }
                        (true, false) => subtract(&x.codes, factors.mins[0]),
                        (false, _) => {}
                    }
                }
            }
            // SAFETY: a row and columns of the product.
            unsafe { args.write(row, panel * NR, &sums[..width]) };
        }
    }
}
