//! How often drafts are accepted, estimated while they are.

use super::Outcome;
use crate::engine::drafter::Evidence;

/// A share of successes; old ones fade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    accepted: f64,
    judged: f64,
}

impl Rate {
    /// A belief that counts as much as `weight` observations.
    pub fn belief(share: f64, weight: f64) -> Self {
        Self { accepted: share * weight, judged: weight }
    }

    /// Takes in a draft. After the first rejection the rest of it was not looked at.
    pub fn observe(&mut self, outcome: Outcome, fade: f64) {
        if outcome.drafted > 0 {
            let judged = (outcome.accepted + 1).min(outcome.drafted);
            self.accepted = self.accepted * fade + outcome.accepted as f64;
            self.judged = self.judged * fade + judged as f64;
        }
    }

    /// The share, where `prior` counts as much as `weight` observations.
    pub fn share(&self, prior: f64, weight: f64) -> f64 {
        ((self.accepted + prior * weight) / (self.judged + weight)).clamp(0.01, 0.99)
    }
}

/// Rates of all candidates so far, by what their drafts rested on.
#[derive(Clone, Debug)]
pub struct Acceptance {
    rates: [Rate; KINDS],
}

/// The draft model, and every length of a match in text and in siblings.
const KINDS: usize = 1 + 2 * MATCHES;
const MATCHES: usize = 8;
/// Weight of what is believed before anything is seen.
const PRIOR: f64 = 4.0;

impl Default for Acceptance {
    fn default() -> Self {
        let mut rates = [Rate::default(); KINDS];
        for (kind, rate) in rates.iter_mut().enumerate() {
            let share = match kind.checked_sub(1) {
                None => 0.7,
                // The longer the match, the surer.
                Some(i) => [0.2, 0.35, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85][i % MATCHES],
            };
            *rate = Rate::belief(share, PRIOR);
        }
        Self { rates }
    }
}

impl Acceptance {
    /// Keeps about the last thirty judged tokens.
    const FADE: f64 = 0.93;

    fn kind(evidence: Evidence) -> usize {
        match evidence {
            Evidence::Model => 0,
            Evidence::Match { length } => length.clamp(1, MATCHES),
            Evidence::Sibling { length } => MATCHES + length.clamp(1, MATCHES),
        }
    }

    /// The expected share of accepted tokens.
    pub fn share(&self, evidence: Evidence) -> f64 {
        self.rates[Self::kind(evidence)].share(0.5, 1e-3)
    }

    /// Takes in a draft.
    pub fn observe(&mut self, evidence: Evidence, outcome: Outcome) {
        self.rates[Self::kind(evidence)].observe(outcome, Self::FADE);
    }

    /// Replaces what is believed of the draft model.
    pub fn believe(&mut self, share: f64) {
        self.rates[Self::kind(Evidence::Model)] = Rate::belief(share, 2.0 * PRIOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_looked_at_counts() {
        let mut rate = Rate::default();
        rate.observe(Outcome { drafted: 8, accepted: 1 }, 1.0);
        assert!((rate.share(0.0, 0.0) - 0.5).abs() < 1e-9, "one of two");
        rate.observe(Outcome { drafted: 2, accepted: 2 }, 1.0);
        assert!((rate.share(0.0, 0.0) - 0.75).abs() < 1e-9, "three of four");
        rate.observe(Outcome { drafted: 0, accepted: 0 }, 0.0);
        assert!((rate.share(0.0, 0.0) - 0.75).abs() < 1e-9, "nothing drafted says nothing");
    }

    #[test]
    fn kinds_of_evidence_are_apart() {
        let mut acceptance = Acceptance::default();
        let before = acceptance.share(Evidence::Sibling { length: 3 });
        for _ in 0..100 {
            acceptance.observe(Evidence::Match { length: 3 }, Outcome { drafted: 1, accepted: 0 });
            acceptance.observe(Evidence::Match { length: 99 }, Outcome { drafted: 1, accepted: 1 });
        }
        assert!(acceptance.share(Evidence::Match { length: 3 }) < 0.05);
        assert!(acceptance.share(Evidence::Match { length: 8 }) > 0.95);
        assert!((acceptance.share(Evidence::Sibling { length: 3 }) - before).abs() < 1e-9);
    }
}
