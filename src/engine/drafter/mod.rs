//! Drafters, which propose tokens: one trait, and the draft model, the draft head, lookups in text, and a
//! chain of these behind it.
//!
//! [`offer`](Drafter::offer) says how many tokens could be proposed for each candidate and what they rest on,
//! a policy chooses a length from that, and [`propose`](Drafter::propose) drafts them, each with the
//! distribution that it was really drawn from.
//!
//! | drafter | proposes |
//! |---|---|
//! | draft model | a pass for each draft position, or one for all where it was trained for that (PARD) |
//! | draft head | the same from hidden states of the main model, beside which it lies (EAGLE-3, `DFlash`) |
//! | `lookup` | what most places of the longest match in own text, prompt and reference say |
//! | `sibling` | the same in the other candidates of the request, live and finished |
//! | `chain` | a lookup where at least five tokens agree, the draft model elsewhere |
//!
//! A lookup's distribution has all mass on its token. A draft model reads nothing before its first proposal.
//!
//! A drafter is a row of [`DRAFTERS`] and a file with its rule. Names on the command line and in the tests
//! come from the rows.

mod chain;
mod head;
mod lookup;
mod model;
mod ngrams;
mod vocabulary;

pub use chain::ChainDrafter;
pub use head::HeadDrafter;
pub use lookup::{LookupChanges, LookupDrafter, LookupSettings};
pub use model::ModelDrafter;
pub use vocabulary::DraftVocabulary;

use std::time::Duration;

use super::draft_length::Auto;
use super::event::RequestId;
use super::profile::Times;
use crate::backend::{BackendError, Candidate, ChoiceRules, Drafts, Footprint, Network, SeqId};

/// Makes a drafter, around that of a draft model where there is one.
type New = fn(LookupChanges, Option<Box<dyn Drafter>>) -> Box<dyn Drafter>;

/// A drafter with a name.
#[derive(Clone, Copy, Debug)]
pub struct NamedDrafter {
    /// As users write it.
    pub name: &'static str,
    /// It uses a draft model where there is one.
    pub wants_model: bool,
    /// Makes it, with a draft model if it wants one and there is one.
    pub new: New,
}

/// All drafters but draft models by themselves, which are called by their own names.
pub const DRAFTERS: [NamedDrafter; 3] = [
    NamedDrafter {
        name: "lookup",
        wants_model: false,
        new: |changes, _| Box::new(LookupDrafter::new(LookupSettings::LOOKUP.with(changes))),
    },
    NamedDrafter {
        name: "sibling",
        wants_model: false,
        new: |changes, _| Box::new(LookupDrafter::new(LookupSettings::SIBLING.with(changes))),
    },
    CHAIN,
];

/// The default: lookups, and the draft model if there is one.
pub const CHAIN: NamedDrafter = NamedDrafter {
    name: "chain",
    wants_model: true,
    new: |changes, model| match model {
        Some(model) => Box::new(ChainDrafter::new(LookupSettings::ALL.with(changes), model)),
        None => Box::new(LookupDrafter::new(LookupSettings::ALL.with(changes))),
    },
};

impl NamedDrafter {
    /// The drafter of this name.
    pub fn find(name: &str) -> Option<Self> {
        DRAFTERS.into_iter().find(|drafter| drafter.name == name)
    }
}

/// One candidate of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CandidateId {
    /// Its request.
    pub request: RequestId,
    /// Its index among the candidates of the request.
    pub index: usize,
}

/// How a request begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The prompt that all candidates start with.
    pub prompt: &'a [u32],
    /// Text that the candidates may quote; may be empty.
    pub reference: &'a [u32],
    /// Number of candidates.
    pub n: usize,
    /// Number of positions that a candidate may reach.
    pub room: usize,
}

/// A live candidate, as a drafter sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Which candidate.
    pub id: CandidateId,
    /// Its sequence in the main model.
    pub seq: SeqId,
    /// All of its tokens so far, the prompt included.
    pub tokens: &'a [u32],
    /// Most tokens that it has room for.
    pub room: usize,
    /// How its tokens are drawn.
    pub rules: ChoiceRules<'a>,
}

impl<'a> Ask<'a> {
    /// The candidate whose sequence in a network is `seq`.
    pub fn candidate(&self, seq: SeqId) -> Candidate<'a> {
        Candidate { seq, index: self.id.index as u32, tokens: self.tokens, rules: self.rules }
    }
}

/// Evidence for the tokens of an offer: offers on equal evidence are accepted about equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A draft model.
    Model,
    /// The last `length` tokens of the candidate occurred before: in the prompt, its own text or the
    /// reference.
    Match {
        /// Tokens that agree.
        length: usize,
        /// Agreement of these places on the next token.
        votes: Votes,
    },
    /// The last `length` tokens of the candidate occurred in another candidate of the same prompt.
    Sibling {
        /// Tokens that agree.
        length: usize,
        /// Agreement of these places on the next token.
        votes: Votes,
    },
}

/// How many places say what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Votes {
    /// They say different things.
    Split,
    /// One.
    One,
    /// Two, the same.
    Two,
    /// More than two, all the same.
    Many,
}

impl Votes {
    const ALL: [Self; 4] = [Self::Split, Self::One, Self::Two, Self::Many];

    /// So many for the token, of so many.
    pub fn of(count: usize, all: usize) -> Self {
        match count {
            _ if count < all => Self::Split,
            0 | 1 => Self::One,
            2 => Self::Two,
            _ => Self::Many,
        }
    }

    /// Share of accepted tokens that is believed, where that of one place is `share`.
    fn belief(self, share: f64) -> f64 {
        match self {
            Self::Split => 0.4 * share,
            Self::One => share,
            Self::Two => 1.0 - 0.8 * (1.0 - share),
            Self::Many => 1.0 - 0.7 * (1.0 - share),
        }
    }
}

impl Evidence {
    /// Lengths of a match that are told apart.
    const LENGTHS: usize = 8;
    /// Number of kinds: the draft model, and every length of a match with all votes, in text and in siblings.
    pub const KINDS: usize = 1 + 2 * Self::LENGTHS * Votes::ALL.len();

    /// Index of its kind.
    pub fn kind(self) -> usize {
        let (sibling, length, votes) = match self {
            Self::Model => return 0,
            Self::Match { length, votes } => (0, length, votes),
            Self::Sibling { length, votes } => (1, length, votes),
        };
        let length = length.clamp(1, Self::LENGTHS) - 1;
        1 + (sibling * Self::LENGTHS + length) * Votes::ALL.len() + votes as usize
    }

    /// Share of accepted tokens that is believed of a kind before any are seen. The longer the match and the
    /// more places agree, the surer: `docs/performance.md` has figures of a real model. Hopeful of models: that
    /// it is less, drafts show; that it is more, nothing would.
    pub fn belief(kind: usize) -> f64 {
        const OF_MATCHES: [f64; Evidence::LENGTHS] = [0.2, 0.45, 0.5, 0.55, 0.7, 0.75, 0.8, 0.88];
        let Some(kind) = kind.checked_sub(1) else { return 0.8 };
        let (length, votes) = (kind / Votes::ALL.len() % Self::LENGTHS, Votes::ALL[kind % Votes::ALL.len()]);
        votes.belief(OF_MATCHES[length])
    }
}

/// Tokens that could be proposed for a candidate in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Most tokens, 0 for none.
    pub most: usize,
    /// Evidence for them.
    pub evidence: Evidence,
    /// Passes of the drafter for them.
    pub passes: Passes,
    /// Free tokens that could be proposed in their place.
    pub or: Option<Found>,
}

/// Tokens that cost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Most tokens.
    pub most: usize,
    /// Evidence for them.
    pub evidence: Evidence,
}

/// Passes of a drafter for the tokens of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// None: they cost nothing.
    None,
    /// One for each token.
    Each {
        /// Tokens of the candidate that the drafter has not read.
        lag: usize,
    },
    /// One for all of them.
    Once {
        /// The same.
        lag: usize,
    },
    /// One for all of them, of so many rows whatever their number; nothing is left to read.
    Block {
        /// Rows.
        rows: usize,
    },
}

impl Offer {
    /// Nothing.
    pub const NONE: Self = Self::free(Found { most: 0, evidence: Evidence::Match { length: 0, votes: Votes::Split } });

    /// Of tokens that cost nothing.
    pub const fn free(found: Found) -> Self {
        Self { most: found.most, evidence: found.evidence, passes: Passes::None, or: None }
    }

    /// They cost nothing.
    pub fn is_free(&self) -> bool {
        self.passes == Passes::None
    }

    /// The part that costs nothing: its own tokens or their alternative.
    #[must_use]
    pub fn free_part(&self) -> Self {
        match self.or {
            _ if self.is_free() => *self,
            Some(found) => Self::free(found),
            None => Self::NONE,
        }
    }

    /// Tokens that are not read, and how many of them are no more than after a full acceptance.
    fn lag(&self) -> (usize, usize) {
        let (lag, usual) = match self.passes {
            Passes::None => (0, 0),
            Passes::Each { lag } => (lag, 2),
            Passes::Once { lag } => (lag, Auto::LONGEST + 1),
            Passes::Block { rows } => (rows, rows),
        };
        (lag, lag.max(1).min(usual))
    }

    /// The pass that makes token `j`, and the rows that it takes for that.
    pub fn pass(&self, j: usize) -> (usize, usize) {
        let (_, first) = self.lag();
        match self.passes {
            Passes::Once { .. } => (0, if j == 0 { first } else { 1 }),
            Passes::Block { .. } => (0, if j == 0 { first } else { 0 }),
            Passes::None | Passes::Each { .. } => (j, if j == 0 { first } else { 1 }),
        }
    }

    /// Tokens that are only read.
    pub fn unread(&self) -> usize {
        let (lag, drawn) = self.lag();
        lag.saturating_sub(drawn)
    }
}

/// Proposes tokens.
pub trait Drafter: Send {
    /// Name for reports.
    fn name(&self) -> &str;

    /// Begins a request. Must be cheap: the drafter may never be asked.
    fn begin(&mut self, request: RequestId, beginning: &Beginning<'_>);

    /// How many tokens of the request's prompt it need not read, since it has for an earlier one.
    fn reusable(&self, request: RequestId) -> usize {
        let _ = request;
        0
    }

    /// Reads a part of the request's prompt, if there is anything to prepare before the first proposal;
    /// returns the number of prompt tokens still unread. What was not prepared is read when it is needed.
    fn prepare(&mut self, request: RequestId) -> Result<usize, BackendError> {
        let _ = request;
        Ok(0)
    }

    /// Offers for every ask, in their order.
    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer>;

    /// Proposes `lengths[i]` tokens for ask i on `offers[i]`, in their order, no more than that says; may be
    /// fewer. The offers are those that it has just made, or their free alternatives. At least one length is
    /// not 0. `main` is the main model.
    fn propose(
        &mut self,
        asks: &[Ask<'_>],
        offers: &[Offer],
        lengths: &[usize],
        main: &mut dyn Network,
    ) -> Result<Vec<Drafts>, BackendError>;

    /// The candidate now has these tokens; what was proposed beyond them does not count.
    fn settle(&mut self, id: CandidateId, tokens: &[u32]);

    /// The candidate has ended.
    fn end(&mut self, id: CandidateId);

    /// The request is over: gives everything back.
    fn finish(&mut self, request: RequestId);

    /// Times of passes over `text`, measured now in about `budget`; none if proposals take no passes.
    fn measure(&mut self, main: &mut dyn Network, text: &[u32], budget: Duration) -> Result<Times, BackendError> {
        let _ = (main, text, budget);
        Ok(Times::default())
    }

    /// Keeps prompts of at most so many bytes of K/V for requests that begin alike; returns how many of
    /// these bytes it may use.
    fn keep_prompts(&mut self, bytes: usize) -> usize {
        let _ = bytes;
        0
    }

    /// Bytes of K/V held now.
    fn kv_bytes(&self) -> usize {
        0
    }

    /// Bytes that its sequences take.
    fn footprint(&mut self) -> Result<Footprint, BackendError> {
        Ok(Footprint::default())
    }
}
