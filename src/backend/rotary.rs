//! Rotary positions: the frequencies of every kind of scaling, and a table of sines and cosines that grows on
//! demand.
//!
//! Frequencies and angles are rounded to f32 where the reference implementation (Hugging Face `transformers`,
//! `modeling_rope_utils.py`) rounds them: at high positions the rounding of the frequency moves the angle
//! visibly.

use std::f64::consts::TAU;

use crate::model::spec::{Block, Rotary, RotaryScaling};

/// Sines and cosines for the positions `0..len`.
pub struct RotaryTable {
    rotary: Rotary,
    /// Angle per position, one for each pair of channels `[dims / 2]`.
    frequencies: Vec<f32>,
    /// Multiplies sines and cosines.
    scale: f64,
    /// `[position][cosine, sine][dims / 2]`.
    table: Vec<f32>,
}

/// The tables of a model.
#[derive(Default)]
pub struct RotaryTables {
    /// One for each kind of rotation.
    tables: Vec<RotaryTable>,
    /// Which of them a block uses; none if its positions are learned.
    of_block: Vec<Option<usize>>,
}

impl RotaryTables {
    /// Empty tables for these blocks.
    pub fn new(blocks: &[Block]) -> Self {
        let mut all = Self::default();
        for block in blocks {
            let number = block.attention.rotary.as_ref().map(|rotary| {
                all.tables.iter().position(|table| table.rotary == *rotary).unwrap_or_else(|| {
                    all.tables.push(RotaryTable::new(rotary.clone()));
                    all.tables.len() - 1
                })
            });
            all.of_block.push(number);
        }
        all
    }

    /// Makes the tables reach positions below `len`. `Err` is the number of bytes for which there is no
    /// memory.
    pub fn ensure(&mut self, len: usize) -> Result<(), usize> {
        self.tables.iter_mut().try_for_each(|table| table.ensure(len))
    }

    /// All tables.
    pub fn all(&self) -> &[RotaryTable] {
        &self.tables
    }

    /// Which of them a block uses.
    pub fn number(&self, block: usize) -> Option<usize> {
        self.of_block[block]
    }

    /// The table of a block.
    pub fn of(&self, block: usize) -> Option<&RotaryTable> {
        self.tables.get(self.of_block[block]?)
    }
}

impl RotaryTable {
    /// An empty table.
    fn new(rotary: Rotary) -> Self {
        let scale = match rotary.scaling {
            RotaryScaling::Yarn { attention_factor, .. } | RotaryScaling::PerFrequency { attention_factor, .. } => {
                attention_factor
            }
            _ => 1.0,
        };
        let frequencies = frequencies(&rotary).into_iter().map(|frequency| frequency as f32).collect();
        Self { rotary, frequencies, scale, table: Vec::new() }
    }

    /// `[position][cosine, sine][pairs]`.
    pub fn values(&self) -> &[f32] {
        &self.table
    }

    /// Pairs of channels that are rotated.
    pub fn pairs(&self) -> usize {
        self.frequencies.len()
    }

    /// A channel's partner stands beside it.
    pub fn interleaved(&self) -> bool {
        self.rotary.interleaved
    }

    fn ensure(&mut self, len: usize) -> Result<(), usize> {
        let width = 2 * self.frequencies.len();
        let have = self.table.len() / width;
        if have >= len {
            return Ok(());
        }
        let more = (len - have).saturating_mul(width);
        self.table.try_reserve(more).map_err(|_| more.saturating_mul(size_of::<f32>()))?;
        for position in have..len {
            let angle = |frequency: &f32| f64::from(position as f32 * frequency);
            self.table.extend(self.frequencies.iter().map(|f| (angle(f).cos() * self.scale) as f32));
            self.table.extend(self.frequencies.iter().map(|f| (angle(f).sin() * self.scale) as f32));
        }
        Ok(())
    }

    /// Rotates the first channels of one head of a row at `position`: channel `i` against channel `i + dims /
    /// 2`, or against its neighbour.
    pub fn rotate(&self, position: usize, head: &mut [f32]) {
        let half = self.frequencies.len();
        let (cosines, sines) = self.table[position * 2 * half..(position + 1) * 2 * half].split_at(half);
        if self.rotary.interleaved {
            for ((pair, cosine), sine) in head.as_chunks_mut::<2>().0.iter_mut().zip(cosines).zip(sines) {
                let [a, b] = *pair;
                *pair = [a * cosine - b * sine, b * cosine + a * sine];
            }
            return;
        }
        let (left, right) = head[..2 * half].split_at_mut(half);
        for (((a, b), cosine), sine) in left.iter_mut().zip(right).zip(cosines).zip(sines) {
            (*a, *b) = (*a * cosine - *b * sine, *b * cosine + *a * sine);
        }
    }
}

fn frequencies(rotary: &Rotary) -> Vec<f64> {
    let &Rotary { base, dims, ref scaling, .. } = rotary;
    let plain = |i: usize| f64::from(base.powf((2 * i) as f64 / dims as f64).recip() as f32);
    let half = dims / 2;
    match *scaling {
        RotaryScaling::None => (0..half).map(plain).collect(),
        RotaryScaling::Linear { factor } => (0..half).map(|i| plain(i) / factor).collect(),
        RotaryScaling::PerFrequency { ref factors, .. } => {
            factors.iter().enumerate().map(|(i, factor)| plain(i) / factor).collect()
        }
        RotaryScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => (0..half)
            .map(|i| {
                let frequency = plain(i);
                let rotations = original_context * frequency / TAU;
                // 0 for low frequencies (stretched), 1 for high ones (kept).
                let keep = ((rotations - low_freq_factor) / (high_freq_factor - low_freq_factor)).clamp(0.0, 1.0);
                frequency * (keep + (1.0 - keep) / factor)
            })
            .collect(),
        RotaryScaling::Yarn { factor, original_context, beta_fast, beta_slow, whole, .. } => {
            // The pair of channels that makes so many rotations inside the original context.
            let pair = |rotations: f64| dims as f64 * (original_context / (rotations * TAU)).ln() / (2.0 * base.ln());
            let (low, high) = (pair(beta_fast), pair(beta_slow));
            let (low, high) = if whole { (low.floor(), high.ceil()) } else { (low, high) };
            let (low, high) = (low.max(0.0), high.min(dims as f64 - 1.0));
            let width = if high > low { high - low } else { 0.001 };
            (0..half)
                .map(|i| {
                    let stretch = ((i as f64 - low) / width).clamp(0.0, 1.0);
                    plain(i) * (1.0 - stretch + stretch / factor)
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotary(dims: usize, base: f64, scaling: RotaryScaling) -> Rotary {
        Rotary { dims, interleaved: false, base, scaling }
    }

    #[test]
    fn neighbours_are_rotated_as_halves_are_and_other_channels_stay() {
        let halves = rotary(4, 100.0, RotaryScaling::None);
        let mut tables = [halves.clone(), Rotary { interleaved: true, ..halves }].map(RotaryTable::new);
        let mut heads = [[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 3.0, 2.0, 4.0, 5.0]];
        for (table, head) in tables.iter_mut().zip(&mut heads) {
            table.ensure(8).expect("memory");
            table.rotate(7, head);
        }
        let [[a, b, c, d, e], other] = heads;
        assert_eq!(other.map(f32::to_bits), [a, c, b, d, e].map(f32::to_bits));
        assert_eq!(e.to_bits(), 5f32.to_bits());
    }

    #[test]
    fn rotation_is_by_position_times_frequency_and_keeps_length() {
        let mut table = RotaryTable::new(rotary(4, 100.0, RotaryScaling::None));
        table.ensure(2).expect("memory");
        table.ensure(8).expect("memory");
        let mut head = [1.0, 2.0, 0.0, 0.0];
        table.rotate(7, &mut head);
        let expected = [7f32.cos(), 2.0 * 0.7f32.cos(), 7f32.sin(), 2.0 * 0.7f32.sin()];
        assert!(head.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{head:?} {expected:?}");
    }

    #[test]
    fn llama3_keeps_high_frequencies_and_stretches_low_ones() {
        let scaling = RotaryScaling::Llama3 {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_context: 8192.0,
        };
        let plain = frequencies(&rotary(128, 5e5, RotaryScaling::None));
        let scaled = frequencies(&rotary(128, 5e5, scaling));
        assert_eq!(plain[0].to_bits(), scaled[0].to_bits());
        assert_eq!((plain[63] / 8.0).to_bits(), scaled[63].to_bits());
        assert!(scaled.iter().zip(&plain).all(|(s, p)| s <= p && *s >= p / 8.0));
    }
}
