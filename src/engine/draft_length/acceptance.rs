//! How often drafts are accepted, estimated while they are.

use super::Outcome;
use super::mean::Mean;
use crate::engine::drafter::Evidence;

/// Positions of a draft that are told apart; later ones count as the last of these.
const POSITIONS: usize = 3;
/// The draft model, and every length of a match in text and in siblings.
const KINDS: usize = 1 + 2 * MATCHES;
const MATCHES: usize = 8;
/// Weight of a belief, in judged tokens.
const PRIOR: f64 = 4.0;

/// How often the first, second, … draft token was accepted where all before it were; old drafts fade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate([Mean; POSITIONS]);

impl Rate {
    /// About the last two hundred judged tokens count.
    const KEEP: f64 = 0.995;

    /// A belief about all positions.
    pub fn belief(share: f64) -> Self {
        let mut rate = Self::default();
        rate.0[0] = Mean::new(share, PRIOR);
        rate
    }

    /// Takes in a draft. After the first rejection the rest of it was not looked at.
    pub fn observe(&mut self, outcome: Outcome) {
        let judged = (outcome.accepted + 1).min(outcome.drafted);
        self.fade(Self::KEEP.powi(judged as i32));
        for j in 0..judged {
            self.0[j.min(POSITIONS - 1)].add(f64::from(j < outcome.accepted), 1.0);
        }
    }

    fn fade(&mut self, keep: f64) {
        self.0.iter_mut().for_each(|mean| mean.fade(keep));
    }
}

/// The share of draft tokens that is expected to be accepted, by position, each with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate([(f64, f64); POSITIONS]);

impl Estimate {
    /// This share with this standard error.
    #[cfg(test)]
    pub fn doubtful(share: f64, error: f64) -> Self {
        Self([(share, error); POSITIONS])
    }

    /// The share of draft token `j`, off by so many standard errors.
    pub fn share(&self, j: usize, errors: f64) -> f64 {
        let (share, error) = self.0[j.min(POSITIONS - 1)];
        (share + errors * error).clamp(0.01, 0.99)
    }
}

/// Rates of all candidates so far, by what their drafts rested on.
#[derive(Clone, Debug)]
pub struct Acceptance {
    rates: [Rate; KINDS],
}

impl Default for Acceptance {
    fn default() -> Self {
        // The longer the match, the surer. Hopeful of models: that it is less, drafts show; that it is more,
        // nothing would.
        let matches = [0.2, 0.35, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85];
        let share = |kind: usize| kind.checked_sub(1).map_or(0.8, |i| matches[i % MATCHES]);
        Self { rates: std::array::from_fn(|kind| Rate::belief(share(kind))) }
    }
}

impl Acceptance {
    /// Part of their weight that all rates keep after a step: the text changes.
    const KEEP: f64 = 0.998;
    /// Weight of the common rate beside a candidate's own, in judged tokens. Large, because longer drafts for
    /// the candidates that are ahead leave the others to finish alone.
    const COMMON: f64 = 100.0;

    fn kind(evidence: Evidence) -> usize {
        match evidence {
            Evidence::Model => 0,
            Evidence::Match { length } => length.clamp(1, MATCHES),
            Evidence::Sibling { length } => MATCHES + length.clamp(1, MATCHES),
        }
    }

    /// What is expected of such drafts for a candidate whose own drafts fared like `own`.
    pub fn estimate(&self, evidence: Evidence, own: &Rate) -> Estimate {
        let rate = &self.rates[Self::kind(evidence)];
        // Later tokens are thought to fare like those before them until they are seen.
        let (mut belief, mut weight) = (0.5, 1e-3);
        Estimate(std::array::from_fn(|j| {
            let seen = rate.0[j];
            belief = seen.value(belief, weight);
            let error = (belief * (1.0 - belief) / (seen.weight + weight + 1.0)).sqrt();
            weight = PRIOR;
            // The length of a match says more than whose it is.
            let share = if evidence == Evidence::Model { own.0[j].value(belief, Self::COMMON) } else { belief };
            (share, error)
        }))
    }

    /// Takes in a draft.
    pub fn observe(&mut self, evidence: Evidence, outcome: Outcome) {
        self.rates[Self::kind(evidence)].observe(outcome);
    }

    /// A step is over.
    pub fn age(&mut self) {
        self.rates.iter_mut().for_each(|rate| rate.fade(Self::KEEP));
    }

    /// Replaces what is believed of the draft model.
    pub fn believe(&mut self, share: f64) {
        self.rates[Self::kind(Evidence::Model)] = Rate::belief(share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_looked_at_counts() {
        let mut rate = Rate::default();
        let shares = |rate: &Rate| (rate.0[0].value(0.0, 1e-9), rate.0[1].value(0.0, 1e-9));
        let near = |a: f64, b: f64| (a - b).abs() < 0.01;
        rate.observe(Outcome { drafted: 8, accepted: 1 });
        assert!(near(shares(&rate).0, 1.0) && near(shares(&rate).1, 0.0), "one of one, and none of one later");
        rate.observe(Outcome { drafted: 3, accepted: 3 });
        assert!(near(shares(&rate).0, 1.0) && near(shares(&rate).1, 0.5), "one of two second ones");
        rate.observe(Outcome { drafted: 2, accepted: 0 });
        assert!(near(shares(&rate).0, 2.0 / 3.0) && near(shares(&rate).1, 0.5), "two of three first ones");
        let before = rate;
        rate.observe(Outcome { drafted: 0, accepted: 0 });
        assert_eq!(rate, before, "nothing drafted says nothing");
    }

    #[test]
    fn kinds_of_evidence_are_apart() {
        let mut acceptance = Acceptance::default();
        let share = |acceptance: &Acceptance, evidence| acceptance.estimate(evidence, &Rate::default()).share(0, 0.0);
        let before = share(&acceptance, Evidence::Sibling { length: 3 });
        for _ in 0..100 {
            acceptance.observe(Evidence::Match { length: 3 }, Outcome { drafted: 1, accepted: 0 });
            acceptance.observe(Evidence::Match { length: 99 }, Outcome { drafted: 1, accepted: 1 });
        }
        assert!(share(&acceptance, Evidence::Match { length: 3 }) < 0.05);
        assert!(share(&acceptance, Evidence::Match { length: 8 }) > 0.95);
        assert!((share(&acceptance, Evidence::Sibling { length: 3 }) - before).abs() < 1e-9);
    }
}
