//! Share of draft tokens that are accepted, of those that were looked at, by what the drafts rest on.

use super::Outcome;
use crate::engine::drafter::Evidence;

/// A running mean that begins with a belief.
#[derive(Clone, Copy, Debug)]
struct Share {
    mean: f64,
    /// Judged tokens that it counts for.
    weight: f64,
}

impl Share {
    /// Weight of a belief.
    const BELIEF: f64 = 4.0;
    /// Most weight: about so many judged tokens count.
    const MEMORY: f64 = 100.0;

    fn believed(mean: f64) -> Self {
        Self { mean, weight: Self::BELIEF }
    }

    fn add(&mut self, accepted: bool) {
        self.weight = (self.weight + 1.0).min(Self::MEMORY);
        self.mean += (f64::from(accepted) - self.mean) / self.weight;
    }
}

/// Running shares, one for every kind of evidence.
#[derive(Clone, Debug)]
pub struct Acceptance([Share; Evidence::KINDS]);

impl Default for Acceptance {
    fn default() -> Self {
        Self(std::array::from_fn(|kind| Share::believed(Evidence::belief(kind))))
    }
}

impl Acceptance {
    /// Expected share of accepted tokens.
    pub fn share(&self, evidence: Evidence) -> f64 {
        self.0[evidence.kind()].mean
    }

    /// Takes in a draft. After the first rejection the rest of it was not looked at.
    pub fn observe(&mut self, evidence: Evidence, outcome: Outcome) {
        let judged = (outcome.accepted + 1).min(outcome.drafted);
        (0..judged).for_each(|j| self.0[evidence.kind()].add(j < outcome.accepted));
    }

    /// Replaces what is believed of such drafts.
    pub fn believe(&mut self, evidence: Evidence, share: f64) {
        self.0[evidence.kind()] = Share::believed(share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_looked_at_counts() {
        let cases = [((0, 0), 0.5), ((1, 1), 0.6), ((8, 1), 0.5), ((3, 3), 5.0 / 7.0), ((2, 0), 0.4)];
        for ((drafted, accepted), expected) in cases {
            let mut acceptance = Acceptance::default();
            acceptance.believe(Evidence::Model, 0.5);
            acceptance.observe(Evidence::Model, Outcome { drafted, accepted });
            let share = acceptance.share(Evidence::Model);
            assert!((share - expected).abs() < 1e-9, "{accepted} of {drafted}: {share}");
        }
    }
}
