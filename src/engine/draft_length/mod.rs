//! How many tokens to propose for each candidate in a step: pure policies.

mod acceptance;
mod auto;
mod bass;
pub mod cost;
mod mean;
#[cfg(test)]
mod simulation;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use acceptance::{Acceptance, Estimate, Rate};
pub use auto::{Auto, Slot};
pub use bass::Bass;

use super::drafter::Offer;
use super::request::DraftLength;

/// What became of the drafts of one candidate in a step.
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

/// Rows of every pass of the drafter, for these lengths of these offers, and how many it only reads before.
pub fn passes(lengths: &[usize], offers: &[Offer]) -> (Vec<usize>, usize) {
    let drawing = || lengths.iter().zip(offers).filter(|(_, offer)| offer.lag.is_some());
    let longest = drawing().map(|(&length, _)| length).max().unwrap_or(0);
    let rows = |round: usize| {
        let of = |(_, offer): (&usize, &Offer)| if round == 0 { offer.drawn() } else { 1 };
        drawing().filter(|(length, _)| **length > round).map(of).sum()
    };
    let unread = drawing().filter(|(length, _)| **length > 0).map(|(_, offer)| offer.unread()).sum();
    ((0..longest).map(rows).collect(), unread)
}

/// What a request's lengths come from.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Always the same.
    Fixed(usize),
    /// Algorithm 1 of BASS.
    Bass(Bass),
    /// By the number of live candidates.
    Table(Arc<Table>),
    /// Chosen for all candidates of the batch together, see [`Auto`].
    Auto,
}

impl Policy {
    /// A fresh state.
    pub fn new(kind: DraftLength, table: &Arc<Table>) -> Self {
        match kind {
            DraftLength::Fixed(k) => Self::Fixed(k),
            DraftLength::Bass => Self::Bass(Bass::default()),
            DraftLength::Table => Self::Table(Arc::clone(table)),
            DraftLength::Auto => Self::Auto,
        }
    }

    /// Length for the next step of a batch of `live` candidates, before it is clamped by what there is to
    /// propose; `None` where [`Auto`] chooses.
    pub fn length(&self, live: usize) -> Option<usize> {
        match self {
            Self::Fixed(k) => Some(*k),
            Self::Bass(bass) => Some(bass.length),
            Self::Table(table) => Some(table.length(live)),
            Self::Auto => None,
        }
    }

    /// Takes in the outcome of a step, of the candidates that are still unfinished.
    pub fn update(&mut self, outcomes: &[Outcome]) {
        if let Self::Bass(bass) = self {
            bass.update(outcomes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_answers_between_its_entries_with_the_one_below() {
        let table = Table([(1, 6), (4, 3), (16, 0)].into());
        assert_eq!([1, 2, 4, 15, 16, 60].map(|live| table.length(live)), [6, 6, 3, 3, 0, 0]);
        assert_eq!(Table([(4, 3)].into()).length(1), 3);
        assert_eq!(Table::default().length(8), 0);
    }
}
