//! How often drafts are accepted, estimated while they are.

use super::Outcome;
use crate::engine::drafter::Evidence;

/// Successes among what was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    accepted: f64,
    judged: f64,
}

impl Count {
    fn fade(&mut self, by: f64) {
        self.accepted *= by;
        self.judged *= by;
    }

    /// The share, where `prior` counts as much as `weight` observations.
    fn share(self, prior: f64, weight: f64) -> f64 {
        ((self.accepted + prior * weight) / (self.judged + weight)).clamp(0.01, 0.99)
    }
}

/// How often the first token of drafts was accepted, and how often those after accepted ones; old ones fade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    first: Count,
    later: Count,
}

impl Rate {
    /// Keeps about the last two hundred judged tokens: fewer would take luck for news, at two tokens a step.
    const FADE: f64 = 0.995;

    /// A belief about both that counts as much as `weight` observations.
    pub fn belief(share: f64, weight: f64) -> Self {
        Self { first: Count { accepted: share * weight, judged: weight }, later: Count::default() }
    }

    /// Takes in a draft. After the first rejection the rest of it was not looked at.
    pub fn observe(&mut self, outcome: Outcome) {
        let Outcome { drafted, accepted } = outcome;
        if drafted == 0 {
            return;
        }
        let judged = (accepted + 1).min(drafted);
        self.fade(Self::FADE.powi(judged as i32));
        self.first.accepted += accepted.min(1) as f64;
        self.first.judged += 1.0;
        self.later.accepted += accepted.saturating_sub(1) as f64;
        self.later.judged += (judged - 1) as f64;
    }

    fn fade(&mut self, by: f64) {
        self.first.fade(by);
        self.later.fade(by);
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
                // Hopeful: that it is less, drafts show; that it is more, nothing would.
                None => 0.8,
                // The longer the match, the surer.
                Some(i) => [0.2, 0.35, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85][i % MATCHES],
            };
            *rate = Rate::belief(share, PRIOR);
        }
        Self { rates }
    }
}

/// The share of draft tokens that is expected to be accepted: of first ones, and of those after accepted ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    first: f64,
    later: f64,
    /// Standard errors.
    errors: (f64, f64),
}

impl Estimate {
    /// This share with this standard error.
    #[cfg(test)]
    pub fn doubtful(share: f64, error: f64) -> Self {
        Self { first: share, later: share, errors: (error, error) }
    }

    /// The share of the first, second, … draft token, if it is off by so many standard errors.
    pub fn share(&self, j: usize, off: f64) -> f64 {
        let (share, error) = if j == 0 { (self.first, self.errors.0) } else { (self.later, self.errors.1) };
        (share + off * error).clamp(0.01, 0.99)
    }

    /// How many of `length` draft tokens are accepted in the mean.
    pub fn accepted(&self, length: usize, off: f64) -> f64 {
        let survive = |survival: &mut f64, j: usize| {
            *survival *= self.share(j, off);
            Some(*survival)
        };
        (0..length).scan(1.0, survive).sum()
    }
}

impl Acceptance {
    /// Part of its weight that everything known keeps from one step to the next: the text goes on to other things.
    const AGE: f64 = 0.998;
    /// What all drafts of a model tell of a candidate counts as much as this many tokens of its own. Much, because longer drafts for
    /// those that are ahead leave the others to finish alone.
    const OWN_WEIGHT: f64 = 100.0;

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
        let mut first = rate.first.share(0.5, 1e-3);
        // Later tokens are thought to fare like first ones until they are seen.
        let mut later = rate.later.share(first, PRIOR);
        // The length of a match says more than whose it is.
        if evidence == Evidence::Model {
            first = own.first.share(first, Self::OWN_WEIGHT);
            later = own.later.share(later, Self::OWN_WEIGHT);
        }
        let error = |share: f64, judged: f64| (share * (1.0 - share) / (judged + 1.0)).sqrt();
        let errors = (error(first, rate.first.judged), error(later, rate.later.judged + PRIOR));
        Estimate { first, later, errors }
    }

    /// Takes in a draft.
    pub fn observe(&mut self, evidence: Evidence, outcome: Outcome) {
        self.rates[Self::kind(evidence)].observe(outcome);
    }

    /// A step is over.
    pub fn age(&mut self) {
        self.rates.iter_mut().for_each(|rate| rate.fade(Self::AGE));
    }

    /// Replaces what is believed of the draft model.
    pub fn believe(&mut self, share: f64) {
        self.rates[Self::kind(Evidence::Model)] = Rate::belief(share, PRIOR);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_looked_at_counts() {
        let mut rate = Rate::default();
        let shares = |rate: &Rate| (rate.first.share(0.0, 0.0), rate.later.share(0.0, 1e-9));
        let near = |a: f64, b: f64| (a - b).abs() < 0.01;
        rate.observe(Outcome { drafted: 8, accepted: 1 });
        assert!(near(shares(&rate).0, 0.99) && near(shares(&rate).1, 0.01), "one of one, and none of one later");
        rate.observe(Outcome { drafted: 3, accepted: 3 });
        assert!(near(shares(&rate).0, 0.99) && near(shares(&rate).1, 2.0 / 3.0), "two of three later ones");
        rate.observe(Outcome { drafted: 2, accepted: 0 });
        assert!(near(shares(&rate).0, 2.0 / 3.0) && near(shares(&rate).1, 2.0 / 3.0), "two of three first ones");
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
