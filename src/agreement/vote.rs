//! Candidates that do the same, and how far each agrees with the others.

use std::collections::HashMap;

use crate::trial::{Effect, Observed};

/// The calls of a candidate, in the order of the inputs, and all candidates with the same code.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The candidates with this code; the first was called.
    pub members: Vec<usize>,
    /// What each call did.
    pub observed: Vec<Observed>,
}

/// The place of a candidate among the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Stated results that it returns.
    pub right: usize,
    /// True if some call returned.
    pub returns: bool,
    /// The sum over all inputs of the candidates that do the same there.
    pub votes: usize,
    /// The group of candidates that do the same everywhere.
    pub group: usize,
    /// The number of candidates in it.
    pub agree: usize,
}

impl Standing {
    /// Greater is better.
    pub fn order(&self) -> impl Ord + use<> {
        (self.right, self.returns, self.votes)
    }
}

/// What the candidates agree on. Pure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// By witness.
    pub standings: Vec<Standing>,
    /// Inputs, those first that tell most groups apart.
    pub telling: Vec<usize>,
}

/// Counts the votes of witnesses on so many inputs.
pub fn tally(witnesses: &[Witness], inputs: usize) -> Tally {
    let outcome = |w: usize, input: usize| witnesses[w].observed.get(input).and_then(Observed::outcome);
    let mut standings = vec![Standing::default(); witnesses.len()];
    let mut kinds = vec![0_usize; inputs];
    for (input, kinds) in kinds.iter_mut().enumerate() {
        let mut votes: HashMap<_, usize> = HashMap::new();
        for (w, witness) in witnesses.iter().enumerate() {
            if let Some(outcome) = outcome(w, input) {
                *votes.entry(outcome).or_default() += witness.members.len();
            }
        }
        *kinds = votes.len();
        for (w, standing) in standings.iter_mut().enumerate() {
            // A call without an outcome that can be compared agrees with nothing.
            standing.votes += outcome(w, input).map_or(0, |outcome| votes[&outcome]);
        }
    }
    for (standing, witness) in standings.iter_mut().zip(witnesses) {
        standing.right = witness.observed.iter().filter(|observed| observed.is_right == Some(true)).count();
        standing.returns = witness.observed.iter().any(|observed| observed.effect == Effect::Returned);
    }
    // An input that suits none, such as one with a name that is not defined there, tells nothing.
    let counted: Vec<usize> = (0..inputs).filter(|&input| kinds[input] > 0).collect();
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for w in 0..witnesses.len() {
        let same = |&(other, _): &(usize, usize)| {
            let is_same = |&input: &usize| outcome(w, input).is_some() && outcome(w, input) == outcome(other, input);
            !counted.is_empty() && counted.iter().all(is_same)
        };
        let group = groups.iter().position(same).unwrap_or_else(|| {
            groups.push((w, 0));
            groups.len() - 1
        });
        groups[group].1 += witnesses[w].members.len();
        standings[w].group = group;
    }
    for standing in &mut standings {
        standing.agree = groups[standing.group].1;
    }
    let mut telling: Vec<usize> = (0..inputs).collect();
    telling.sort_by_key(|&input| std::cmp::Reverse(kinds[input]));
    Tally { standings, telling }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(votes: usize, outcomes: &str) -> Witness {
        let observed = |c: char| Observed {
            effect: match c {
                '!' => Effect::Raised,
                '?' => Effect::Late,
                _ => Effect::Returned,
            },
            key: c.to_string(),
            ..Observed::default()
        };
        Witness { members: vec![0; votes], observed: outcomes.chars().map(observed).collect() }
    }

    #[test]
    fn votes_are_counted_input_by_input() {
        let tally = tally(&[witness(2, "aab"), witness(1, "abb"), witness(3, "!!!"), witness(1, "a")], 3);
        let votes: Vec<_> = tally.standings.iter().map(|s| (s.votes, s.returns, s.group, s.agree)).collect();
        assert_eq!(votes, [(4 + 2 + 3, true, 0, 2), (4 + 1 + 3, true, 1, 1), (9, false, 2, 3), (4, true, 3, 1)]);
        assert_eq!(tally.telling, [1, 0, 2]);
        assert!(tally.standings[1].order() > tally.standings[2].order(), "those that only raise do not win");
    }

    #[test]
    fn calls_that_cannot_be_compared_agree_with_nothing() {
        let tally = tally(&[witness(1, "??"), witness(1, "??"), witness(1, "a?"), witness(1, "a?")], 2);
        let votes: Vec<_> = tally.standings.iter().map(|s| (s.votes, s.group, s.agree)).collect();
        assert_eq!(votes, [(0, 0, 1), (0, 1, 1), (2, 2, 2), (2, 2, 2)], "nobody is told on the second input");
        let other = super::tally(&[witness(1, "aa"), witness(1, "a?")], 2);
        assert_eq!((other.standings[0].group, other.standings[1].group), (0, 1));
    }
}
