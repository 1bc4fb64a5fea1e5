//! Rotary positions: the frequencies of every kind of scaling, and a table of sines and cosines that grows on
//! demand.
//!
//! Frequencies and angles are rounded to f32 where the reference implementation (Hugging Face `transformers`,
//! `modeling_rope_utils.py`) rounds them: at high positions the rounding of the frequency moves the angle
//! visibly.

use std::f64::consts::TAU;

use crate::model::spec::{Rotary, RotaryScaling};

/// Sines and cosines for the positions `0..len`.
pub struct RotaryTable {
    /// Angle per position, one for each pair of channels `[head_dim / 2]`.
    frequencies: Vec<f32>,
    /// Multiplies sines and cosines.
    scale: f64,
    /// `[position][cosine, sine][head_dim / 2]`.
    table: Vec<f32>,
}

impl RotaryTable {
    /// An empty table for heads of width `head_dim`.
    pub fn new(rotary: Rotary, head_dim: usize) -> Self {
        let scale = match rotary.scaling {
            RotaryScaling::Yarn { attention_factor, .. } => attention_factor,
            _ => 1.0,
        };
        let frequencies = frequencies(rotary, head_dim).into_iter().map(|frequency| frequency as f32).collect();
        Self { frequencies, scale, table: Vec::new() }
    }

    /// Makes the table reach positions below `len`. `Err` is the number of bytes for which there is no
    /// memory.
    pub fn ensure(&mut self, len: usize) -> Result<(), usize> {
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

    /// Rotates one head `[head_dim]` of a row at `position`: channel `i` against channel `i + head_dim / 2`.
    pub fn rotate(&self, position: usize, head: &mut [f32]) {
        let half = self.frequencies.len();
        let (cosines, sines) = self.table[position * 2 * half..(position + 1) * 2 * half].split_at(half);
        let (left, right) = head.split_at_mut(half);
        for (((a, b), cosine), sine) in left.iter_mut().zip(right).zip(cosines).zip(sines) {
            (*a, *b) = (*a * cosine - *b * sine, *b * cosine + *a * sine);
        }
    }
}

fn frequencies(rotary: Rotary, head_dim: usize) -> Vec<f64> {
    let Rotary { base, scaling } = rotary;
    let plain = |i: usize| f64::from(base.powf((2 * i) as f64 / head_dim as f64).recip() as f32);
    let half = head_dim / 2;
    match scaling {
        RotaryScaling::None => (0..half).map(plain).collect(),
        RotaryScaling::Linear { factor } => (0..half).map(|i| plain(i) / factor).collect(),
        RotaryScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => (0..half)
            .map(|i| {
                let frequency = plain(i);
                let rotations = original_context * frequency / TAU;
                // 0 for low frequencies (stretched), 1 for high ones (kept).
                let keep = ((rotations - low_freq_factor) / (high_freq_factor - low_freq_factor)).clamp(0.0, 1.0);
                frequency * (keep + (1.0 - keep) / factor)
            })
            .collect(),
        RotaryScaling::Yarn { factor, original_context, beta_fast, beta_slow, .. } => {
            // The pair of channels that makes so many rotations inside the original context.
            let pair =
                |rotations: f64| head_dim as f64 * (original_context / (rotations * TAU)).ln() / (2.0 * base.ln());
            let low = pair(beta_fast).floor().max(0.0);
            let high = pair(beta_slow).ceil().min(head_dim as f64 - 1.0);
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

    #[test]
    fn rotation_is_by_position_times_frequency_and_keeps_length() {
        let mut table = RotaryTable::new(Rotary { base: 100.0, scaling: RotaryScaling::None }, 4);
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
        let plain = frequencies(Rotary { base: 5e5, scaling: RotaryScaling::None }, 128);
        let scaled = frequencies(Rotary { base: 5e5, scaling }, 128);
        assert_eq!(plain[0].to_bits(), scaled[0].to_bits());
        assert_eq!((plain[63] / 8.0).to_bits(), scaled[63].to_bits());
        assert!(scaled.iter().zip(&plain).all(|(s, p)| s <= p && *s >= p / 8.0));
    }
}
