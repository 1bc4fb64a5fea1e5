//! Tokens that a draft model proposes: computing the head for all of a large vocabulary takes a third of the
//! time of a small model (FR-Spec, arXiv 2502.14856). What is never proposed the main model still writes.
//!
//! A tokenizer numbers tokens in the order in which it learnt them, from frequent to rare. So the list is the
//! first ids, and what stands in the prompts and candidates at hand. `docs/performance.md` has what that
//! covers.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;

use crate::backend::Shortlist;
use crate::engine::draft_length::DraftLength;
use crate::engine::event::RequestId;

/// How many tokens a draft model proposes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DraftVocabulary {
    /// [`Self::FEW`] and those at hand, where the vocabulary is large.
    #[default]
    Auto,
    /// All.
    All,
    /// So many first ids, and those at hand.
    First(usize),
}

impl DraftVocabulary {
    /// First ids of `auto`.
    pub const FEW: usize = 16_384;
    /// Smallest vocabulary, in lists, that `auto` cuts.
    const LARGE: usize = 4;

    /// First ids of the list of a model with so many tokens; `None` for all.
    pub fn first(self, vocab: usize) -> Option<usize> {
        match self {
            Self::Auto => (vocab >= Self::LARGE * Self::FEW).then_some(Self::FEW),
            Self::All => None,
            Self::First(first) => (first < vocab).then_some(first),
        }
    }
}

impl fmt::Display for DraftVocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::All => f.write_str("all"),
            Self::First(first) => first.fmt(f),
        }
    }
}

impl FromStr for DraftVocabulary {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "auto" => Ok(Self::Auto),
            "all" => Ok(Self::All),
            _ => name.parse().ok().filter(|&first| first > 0).map(Self::First).ok_or(()),
        }
    }
}

/// The list for the requests at hand.
pub struct AtHand {
    first: usize,
    /// Ids from `first` on that occur in each request.
    beyond: HashMap<RequestId, BTreeSet<u32>>,
    changed: bool,
}

impl AtHand {
    /// With so many first ids.
    pub fn new(first: usize) -> Self {
        Self { first, beyond: HashMap::new(), changed: true }
    }

    /// Takes in tokens of a request.
    pub fn saw(&mut self, request: RequestId, tokens: &[u32]) {
        let beyond = self.beyond.entry(request).or_default();
        for &token in tokens.iter().filter(|&&token| token as usize >= self.first) {
            self.changed |= beyond.insert(token);
        }
    }

    /// Takes in what the last step has added to a candidate.
    pub fn saw_last(&mut self, request: RequestId, tokens: &[u32]) {
        let most_of_a_step = DraftLength::LONGEST + 1;
        self.saw(request, &tokens[tokens.len().saturating_sub(most_of_a_step)..]);
    }

    /// The request is over.
    pub fn finish(&mut self, request: RequestId) {
        self.changed |= self.beyond.remove(&request).is_some_and(|beyond| !beyond.is_empty());
    }

    /// The list, if it has changed since it was last asked for.
    pub fn changed(&mut self) -> Option<Shortlist> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let more: BTreeSet<u32> = self.beyond.values().flatten().copied().collect();
        Some(Shortlist { first: self.first, more: more.into_iter().collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_small_vocabularies_stay_whole() {
        for (name, of_large, of_small) in [
            ("auto", Some(16_384), None),
            ("all", None, None),
            ("100", Some(100), Some(100)),
            ("70000", Some(70_000), None),
        ] {
            let vocabulary: DraftVocabulary = name.parse().unwrap();
            assert_eq!(vocabulary.to_string(), name);
            assert_eq!((vocabulary.first(151_936), vocabulary.first(1024)), (of_large, of_small), "{name}");
        }
        assert!(["0", "-1", "few", ""].iter().all(|name| name.parse::<DraftVocabulary>().is_err()));
    }

    #[test]
    fn a_list_has_what_is_at_hand_and_is_told_once() {
        let (mut list, [a, b]) = (AtHand::new(10), [RequestId(1), RequestId(2)]);
        assert_eq!(list.changed(), Some(Shortlist { first: 10, more: vec![] }), "the first ids at first");
        list.saw(a, &[3, 30, 10, 30]);
        list.saw(b, &[30, 20]);
        assert_eq!(list.changed(), Some(Shortlist { first: 10, more: vec![10, 20, 30] }));
        list.saw(a, &[9, 30]);
        assert_eq!(list.changed(), None);
        list.finish(a);
        assert_eq!(list.changed(), Some(Shortlist { first: 10, more: vec![20, 30] }));
        list.finish(a);
        assert_eq!(list.changed(), None);
    }
}
