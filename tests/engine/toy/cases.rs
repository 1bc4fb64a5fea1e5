//! The drafters and policies that a rule has to hold for.

use bass_tui::engine::{
    ChainDrafter, DraftLength, Drafter, Engine, GenerateOptions, LookupDrafter, LookupSettings, ModelDrafter, Profile,
    StopRules,
};
use bass_tui::sampling::Sampling;

use super::{EOS, Scripted, Toy, mixed, tokenizer};

/// Drafters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Model,
    Lookup,
    Sibling,
    Chain,
    Scripted,
}

pub const KINDS: [Kind; 5] = [Kind::Model, Kind::Lookup, Kind::Sibling, Kind::Chain, Kind::Scripted];

impl Kind {
    /// The drafter; `model` drafts where a model is needed, and `truth` is what the script knows, by candidate.
    pub fn drafter(self, model: impl FnOnce() -> Box<dyn Drafter>, truth: &[Vec<u32>]) -> Box<dyn Drafter> {
        match self {
            Self::Model => model(),
            Self::Lookup => Box::new(LookupDrafter::new(LookupSettings::LOOKUP)),
            Self::Sibling => Box::new(LookupDrafter::new(LookupSettings::SIBLING)),
            Self::Chain => Box::new(ChainDrafter::new(LookupSettings::ALL, model())),
            Self::Scripted => Box::new(Scripted::knowing(truth.to_vec(), mixed)),
        }
    }
}

/// Every way to choose a draft length.
pub const POLICIES: [DraftLength; 11] = [
    DraftLength::Fixed(1),
    DraftLength::Fixed(2),
    DraftLength::Fixed(3),
    DraftLength::Fixed(4),
    DraftLength::Fixed(5),
    DraftLength::Fixed(6),
    DraftLength::Fixed(7),
    DraftLength::Fixed(8),
    DraftLength::Bass,
    DraftLength::Table,
    DraftLength::Auto,
];

/// The policies whose lengths differ in kind.
pub const FEW_POLICIES: [DraftLength; 6] = [
    DraftLength::Fixed(1),
    DraftLength::Fixed(3),
    DraftLength::Fixed(8),
    DraftLength::Bass,
    DraftLength::Table,
    DraftLength::Auto,
];

/// A machine on which rows cost nearly nothing and drafts even less, so that all policies draft.
pub fn profile() -> Profile {
    Profile {
        main: vec![(1, 10.0), (1024, 11.0)],
        draft: vec![(1, 0.01), (64, 0.01)],
        read: 0.0,
        survival: (1..=8).map(|j| 0.8f64.powi(j)).collect(),
        table: [(1, 7), (2, 5), (4, 4), (8, 3), (16, 2)].into(),
    }
}

/// An engine on the toy network.
pub fn engine(drafter: Option<Box<dyn Drafter>>) -> Engine {
    Engine::new(Box::new(Toy::main()), tokenizer(), vec![EOS], drafter)
}

/// The toy draft model.
pub fn toy_model() -> Box<dyn Drafter> {
    Box::new(ModelDrafter::new("toy", Box::new(Toy::draft())))
}

/// An engine on the toy network that wanders.
pub fn wandering_engine(drafter: Option<Box<dyn Drafter>>) -> Engine {
    Engine::new(Box::new(Toy::main().wandering()), tokenizer(), vec![EOS], drafter)
}

/// The toy draft model of the network that wanders.
pub fn wandering_model() -> Box<dyn Drafter> {
    Box::new(ModelDrafter::new("toy", Box::new(Toy::draft().wandering())))
}

/// Exactly `max_tokens` tokens for every candidate.
pub fn options(n: usize, max_tokens: usize, draft_length: DraftLength, sampling: Sampling) -> GenerateOptions {
    let stop = StopRules { ignore_eos: true, ..StopRules::default() };
    GenerateOptions { n, sampling, max_tokens, draft_length, stop, ..GenerateOptions::default() }
}

/// Nothing is drafted.
pub const PLAIN: DraftLength = DraftLength::Fixed(0);

/// A temperature and nothing else.
pub const WARM: Sampling = Sampling { temperature: 0.9, ..Sampling::GREEDY };
