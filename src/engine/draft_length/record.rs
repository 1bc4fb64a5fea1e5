//! What drafts promised and what came of it.

/// How many of the promised draft tokens were kept, in steps with drafts. Whatever the shares leave out shows here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    promised: f64,
    kept: f64,
    variance: f64,
}

impl Record {
    /// Keeps about the last thirty steps, and slowly forgets while there are others.
    const FADE: f64 = 0.97;
    const FORGET: f64 = 0.995;

    /// What a promised draft token is worth: 1 if promises are kept, as far as luck does not explain it.
    pub fn worth(&self) -> f64 {
        let missing = self.promised - self.kept - self.variance.sqrt();
        1.0 - missing.max(0.0) / self.promised.max(1.0)
    }

    /// Of so many tokens promised in so many drafts this many were kept.
    pub fn add(&mut self, promised: f64, drafts: usize, kept: f64) {
        self.fade(Self::FADE);
        self.promised += promised;
        self.kept += kept;
        // The length up to the first rejection is geometrically distributed.
        self.variance += promised * (1.0 + promised / drafts.max(1) as f64);
    }

    /// A step without drafts was made.
    pub fn forget(&mut self) {
        self.fade(Self::FORGET);
    }

    fn fade(&mut self, by: f64) {
        self.promised *= by;
        self.kept *= by;
        self.variance *= by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_worth_what_became_of_earlier_ones() {
        let mut record = Record::default();
        assert!((record.worth() - 1.0).abs() < 1e-9);
        for _ in 0..40 {
            record.add(4.0, 2, 2.0);
        }
        assert!((0.5..0.8).contains(&record.worth()), "half of the tokens: {}", record.worth());
        for _ in 0..2000 {
            record.forget();
        }
        assert!((record.worth() - 1.0).abs() < 0.01, "old failures are forgotten");
    }

    #[test]
    fn bad_luck_is_not_held_against_anyone() {
        let mut record = Record::default();
        for kept in [0.0, 4.0, 0.0, 1.0] {
            record.add(2.0, 1, kept);
        }
        assert!((record.worth() - 1.0).abs() < 1e-9, "{}", record.worth());
    }
}
