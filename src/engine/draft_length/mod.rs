//! How many tokens to propose for each candidate in a step: policies, which are pure.
//!
//! A policy is a variant of [`DraftLength`], a row of [`POLICIES`] and a file with its rule. Names on the
//! command line, in the config file, in `bench` and in the tests come from the rows.
//!
//! - `auto` ([`Auto`]) chooses the lengths of all candidates of a step together, 0 included: those with the
//!   most expected tokens per ms, by the times of passes ([`cost`]) and the running share of accepted tokens
//!   (`acceptance`).
//! - `bass` and `table` give every candidate of a request one length.

mod acceptance;
mod auto;
mod bass;
pub mod cost;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use auto::{Auto, Slot};

use super::drafter::Offer;

/// How many tokens the drafter proposes per step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DraftLength {
    /// The length that gives the most tokens per millisecond by measured cost and acceptance; 0 where
    /// drafting does not pay.
    #[default]
    Auto,
    /// Algorithm 1 of the BASS paper (arXiv 2404.15778).
    Bass,
    /// The best length for the number of live candidates, measured beforehand.
    Table,
    /// Always this many.
    Fixed(usize),
}

/// A policy with a name.
#[derive(Clone, Copy, Debug)]
pub struct NamedPolicy {
    /// As users write it.
    pub name: &'static str,
    /// The policy.
    pub length: DraftLength,
    /// It needs measurements of the pair.
    is_measured: bool,
    /// A fresh state.
    new: fn(&Arc<Table>) -> Box<dyn Policy>,
}

/// All policies but fixed lengths.
pub const POLICIES: [NamedPolicy; 3] = [
    NamedPolicy {
        name: "bass",
        length: DraftLength::Bass,
        is_measured: false,
        new: |_| Box::new(bass::Bass::default()),
    },
    NamedPolicy {
        name: "table",
        length: DraftLength::Table,
        is_measured: true,
        new: |table| Box::new(Arc::clone(table)),
    },
    NamedPolicy { name: "auto", length: DraftLength::Auto, is_measured: true, new: |_| Box::new(Constant(None)) },
];

/// Where a request's lengths come from.
pub trait Policy: Send {
    /// Length for the next step of a batch of `live` candidates, before it is clamped by what there is to
    /// propose; `None` where [`Auto`] chooses.
    fn length(&self, live: usize) -> Option<usize>;

    /// Takes in the outcome of a step, of the candidates that are still unfinished.
    fn update(&mut self, outcomes: &[Outcome]) {
        let _ = outcomes;
    }
}

/// Always the same answer.
struct Constant(Option<usize>);

impl Policy for Constant {
    fn length(&self, _: usize) -> Option<usize> {
        self.0
    }
}

impl DraftLength {
    /// The longest fixed length that can be asked for.
    pub(super) const LONGEST: usize = 64;

    fn named(self) -> Option<&'static NamedPolicy> {
        POLICIES.iter().find(|policy| policy.length == self)
    }

    /// The policy needs measurements of the pair.
    pub(super) fn is_measured(self) -> bool {
        self.named().is_some_and(|policy| policy.is_measured)
    }

    /// A fresh state; `table` is that of the pair.
    pub(super) fn policy(self, table: &Arc<Table>) -> Box<dyn Policy> {
        match (self.named(), self) {
            (Some(policy), _) => (policy.new)(table),
            (None, Self::Fixed(k)) => Box::new(Constant(Some(k))),
            (None, _) => Box::new(Constant(None)),
        }
    }
}

impl fmt::Display for DraftLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.named(), self) {
            (Some(policy), _) => f.write_str(policy.name),
            (None, Self::Fixed(k)) => k.fmt(f),
            (None, _) => Ok(()),
        }
    }
}

impl FromStr for DraftLength {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let fixed = || name.parse().ok().filter(|k| *k <= Self::LONGEST).map(Self::Fixed);
        POLICIES.iter().find(|policy| policy.name == name).map(|policy| policy.length).or_else(fixed).ok_or(())
    }
}

/// Outcome of the drafts of one candidate in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Draft tokens proposed.
    pub drafted: usize,
    /// How many were accepted.
    pub accepted: usize,
}

/// The best length by number of live candidates, measured beforehand (Su et al., arXiv 2310.18813).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table(pub BTreeMap<usize, usize>);

impl Table {
    /// The length of the largest measured number of candidates that is not above `live`.
    pub fn length(&self, live: usize) -> usize {
        self.0.range(..=live).next_back().or_else(|| self.0.first_key_value()).map_or(0, |(_, &k)| k)
    }
}

impl Policy for Arc<Table> {
    fn length(&self, live: usize) -> Option<usize> {
        Some(Table::length(self, live))
    }
}

/// Rows of every pass of the drafter, for these lengths of these offers, and how many it only reads before.
pub fn passes(lengths: &[usize], offers: &[Offer]) -> (Vec<usize>, usize) {
    let (mut passes, mut unread) = (Vec::new(), 0);
    for (&length, offer) in lengths.iter().zip(offers).filter(|(length, offer)| **length > 0 && !offer.is_free()) {
        unread += offer.unread();
        for (pass, rows) in (0..length).map(|j| offer.pass(j)) {
            if pass == passes.len() {
                passes.push(0);
            }
            passes[pass] += rows;
        }
    }
    (passes, unread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_found_by_its_name_and_has_a_state() {
        let table = Arc::new(Table([(1, 6)].into()));
        for policy in POLICIES {
            assert_eq!((policy.length.to_string().as_str(), policy.name.parse()), (policy.name, Ok(policy.length)));
        }
        let lengths = [DraftLength::Fixed(3), DraftLength::Bass, DraftLength::Table, DraftLength::Auto];
        assert_eq!(lengths.map(|length| length.policy(&table).length(1)), [Some(3), Some(7), Some(6), None]);
        assert_eq!(("64".parse(), "65".parse::<DraftLength>()), (Ok(DraftLength::Fixed(64)), Err(())));
    }

    #[test]
    fn a_table_answers_between_its_entries_with_the_one_below() {
        let table = Table([(1, 6), (4, 3), (16, 0)].into());
        assert_eq!([1, 2, 4, 15, 16, 60].map(|live| table.length(live)), [6, 6, 3, 3, 0, 0]);
        assert_eq!(Table([(4, 3)].into()).length(1), 3);
        assert_eq!(Table::default().length(8), 0);
    }
}
