//! The reference kernel: plain loops, for every processor and every block type.

use super::super::pack::{Block, NR};
use super::{GemmArgs, Mode};

/// Computes a product, panel by panel and row by row.
///
/// # Safety
/// The pointers of `args` must reach what their documentation says; `out` must not be in use elsewhere.
pub unsafe fn product<B: Block>(args: &GemmArgs<B>) {
    for panel in 0..args.columns.div_ceil(NR) {
        // SAFETY: the panel is one of the product's.
        let blocks = unsafe { std::slice::from_raw_parts(args.panels.add(panel * args.panel_stride), args.k) };
        let width = NR.min(args.columns - panel * NR);
        for row in 0..args.rows {
            // SAFETY: `row` is a row of `x`, which has `k` floats.
            let x = unsafe { std::slice::from_raw_parts(args.x.add(row * args.x_stride), args.k) };
            // SAFETY: `row` is a row of `out`, whose columns from the panel's first one on are this product's.
            let out =
                unsafe { std::slice::from_raw_parts_mut(args.out.add(row * args.out_stride + panel * NR), width) };
            let mut sums = [0.0f32; NR];
            if args.mode == Mode::Continue {
                sums[..width].copy_from_slice(out);
            }
            for (block, &x) in blocks.iter().zip(x) {
                for (c, sum) in sums.iter_mut().enumerate() {
                    *sum = x.mul_add(block.get(c), *sum);
                }
            }
            if !args.bias.is_null() {
                // SAFETY: a bias that is there has all of the product's columns.
                let bias = unsafe { std::slice::from_raw_parts(args.bias.add(panel * NR), width) };
                sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum += bias);
            }
            if args.mode == Mode::Add {
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
            } else {
                out.copy_from_slice(&sums[..width]);
            }
        }
    }
}
