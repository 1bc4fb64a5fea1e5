//! Quantised weights of a file in the order in which the kernels read them: codes and scales are moved, not
//! changed.

#![expect(clippy::inline_always, reason = "must be compiled with the features of its caller")]

use super::Kernels;
use super::weights::{Line, Quantized, Scales, put};
use crate::backend::cpu::memory::Zeroed;
use crate::backend::cpu::pack::{self, NR};
use crate::backend::cpu::pool::{Parts, Pool};
use crate::backend::storage::{BLOCK, Format, Kind, UNIT};
use crate::model::blocks::{Group, Take};
use crate::model::{Tensor, TensorType};

/// Type, the stored blocks of an output, the panel's codes, scales and units, and which of its outputs it is.
pub type Repack = unsafe fn(TensorType, &[u8], (&mut [Line], &mut [Scales], &mut [Scales]), usize);

/// Moves matrices `[outputs_i, inputs]` of one type, one below the other. `Err` is the number of bytes for
/// which there is no memory.
pub fn repack(
    pool: &Pool,
    kernels: Kernels,
    parts: &[(Tensor<'_>, usize)],
    inputs: usize,
    (dtype, format): (TensorType, Format),
) -> Result<Quantized, usize> {
    let outputs: usize = parts.iter().map(|part| part.1).sum();
    let (panels, blocks) = (outputs.div_ceil(NR), inputs.div_ceil(BLOCK));
    let of_panel =
        (blocks * format.bits.lines(), blocks * format.kind.scales(), blocks.div_ceil(UNIT) * format.kind.units());
    let mut codes = Zeroed::<Line>::weights(panels * of_panel.0)?;
    let mut scales = Zeroed::<Scales>::weights(panels * of_panel.1)?;
    let mut units = Zeroed::<Scales>::weights(panels * of_panel.2)?;
    let all = (Parts::new(&mut codes), Parts::new(&mut scales), Parts::new(&mut units));
    pool.run(panels, &|panel, _| {
        // Made beside their place: a fresh page that is read before it is written is mapped twice.
        let mut codes = vec![Line([0; 64]); of_panel.0];
        let mut scales = vec![Scales([0; NR]); of_panel.1];
        let mut units = vec![Scales([0; NR]); of_panel.2];
        for c in 0..NR {
            let Some((_, row)) = pack::row(parts, inputs, panel * NR + c) else { break };
            // SAFETY: the processor was checked when the set was chosen.
            unsafe { (kernels.stored)(dtype, row, (&mut codes, &mut scales, &mut units), c) };
        }
        // SAFETY: every panel is written by one unit only.
        unsafe {
            all.0.part(panel * of_panel.0, of_panel.0).copy_from_slice(&codes);
            all.1.part(panel * of_panel.1, of_panel.1).copy_from_slice(&scales);
            all.2.part(panel * of_panel.2, of_panel.2).copy_from_slice(&units);
        }
    });
    Ok(Quantized::new((outputs, inputs), format, codes.into(), scales.into(), units.into()))
}

/// Moves the blocks of output `c` of a panel. Codes, scales and units of the panel are as [`Quantized`] has
/// them; the codes must be zero.
#[inline(always)]
pub fn repack_output(
    dtype: TensorType,
    row: &[u8],
    (codes, scales, units): (&mut [Line], &mut [Scales], &mut [Scales]),
    c: usize,
) {
    dtype.groups(row, Output { codes, scales, units, c, block: 0 });
}

/// Places of the blocks of an output.
struct Output<'a> {
    codes: &'a mut [Line],
    scales: &'a mut [Scales],
    units: &'a mut [Scales],
    /// Number of the output in its panel.
    c: usize,
    /// The next block.
    block: usize,
}

impl Take for Output<'_> {
    #[inline(always)]
    fn take(&mut self, Group { format, codes, stored, small, .. }: Group) {
        let &mut Self { c, block, .. } = self;
        let (kind, lines) = (format.kind, format.bits.lines());
        // Places in a table have no sign.
        let offset = if format.bits.table().is_some() { 0 } else { format.offset() as u8 };
        let shifted = codes.map(|code| (code as u8).wrapping_add(offset));
        put(format.bits, &shifted, &mut self.codes[block * lines..(block + 1) * lines], c);
        let scales = &mut self.scales[block * kind.scales()..][..kind.scales()];
        let units = &mut self.units[block / UNIT * kind.units()..][..kind.units()];
        let number = block % UNIT;
        let numbers = |to: &mut [Scales]| to.iter_mut().zip(stored).for_each(|(to, stored)| to.0[c] = stored);
        match kind {
            Kind::Bf16 | Kind::F16 | Kind::F16Added => numbers(scales),
            Kind::Minima | Kind::Halves | Kind::Eighths | Kind::HalfMinima => {
                numbers(units);
                scales[0].set_byte(c, small[0]);
                scales[0].set_byte(16 + c, small[1]);
            }
            Kind::Signed => {
                numbers(&mut units[..1]);
                units[1 + number / 2].set_byte(number % 2 * 16 + c, small[0]);
            }
            Kind::Exponent => units[number / 2].set_byte(number % 2 * 16 + c, small[0]),
        }
        self.block += 1;
    }
}
