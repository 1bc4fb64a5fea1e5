//! Counter-based randomness: every draw is a function of its key, never of a stream.
//!
//! Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).

/// Key of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawKey {
    /// Seed of the generation.
    pub seed: u64,
    /// Index of the candidate.
    pub candidate: u32,
    /// Position of the token being drawn, in its own sequence.
    pub position: u32,
}

impl DrawKey {
    /// The key of the token `offset` positions later in the same sequence.
    #[must_use]
    pub fn at(self, offset: usize) -> Self {
        Self { position: self.position + offset as u32, ..self }
    }
}

/// Purpose of a draw; draws for different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A token from the main model's distribution.
    Sample = 0,
    /// A draft token.
    Draft = 1,
    /// Acceptance of a draft token.
    Accept = 2,
    /// The replacement of a rejected draft token.
    Residual = 3,
    /// Noise that main and draft model share, one value per token id.
    Noise = 4,
}

/// A number in [0, 1) with 53 random bits.
pub fn uniform(key: DrawKey, purpose: Purpose) -> f64 {
    unit(block(key, purpose, 0))
}

/// The noise of token `id`, above 0 and below 1.
pub fn noise(key: DrawKey, id: u32) -> f64 {
    // Shifted by half a step, so that neither logarithm of `gumbel` sees 0.
    unit(block(key, Purpose::Noise, id)) + 0.5 / (1u64 << 53) as f64
}

/// A draw from the standard Gumbel distribution, of noise.
pub fn gumbel(noise: f64) -> f64 {
    -(-noise.ln()).ln()
}

fn block(key: DrawKey, purpose: Purpose, index: u32) -> [u32; 4] {
    philox([key.position, key.candidate, purpose as u32, index], [key.seed as u32, (key.seed >> 32) as u32])
}

fn unit(words: [u32; 4]) -> f64 {
    let bits = (u64::from(words[0]) << 32 | u64::from(words[1])) >> 11;
    bits as f64 / (1u64 << 53) as f64
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(counter[0]) * 0xD251_1F53;
        let b = u64::from(counter[2]) * 0xCD9E_8D57;
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that come with the authors' Random123 library.
    #[test]
    fn philox_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn draws_depend_on_every_part_of_the_key() {
        let key = DrawKey { seed: 1, candidate: 2, position: 3 };
        let base = uniform(key, Purpose::Sample);
        assert_eq!(base.to_bits(), uniform(key, Purpose::Sample).to_bits());
        let others = [
            uniform(DrawKey { seed: 2, ..key }, Purpose::Sample),
            uniform(DrawKey { seed: 1 | 1 << 40, ..key }, Purpose::Sample),
            uniform(DrawKey { candidate: 3, ..key }, Purpose::Sample),
            uniform(key.at(1), Purpose::Sample),
            uniform(key, Purpose::Accept),
        ];
        assert!(others.iter().all(|o| (o - base).abs() > 0.0 && (0.0..1.0).contains(o)));
    }
}
