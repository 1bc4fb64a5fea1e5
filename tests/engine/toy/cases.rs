//! The drafters and policies that a rule has to hold for.

use bass_tui::engine::draft_length;
use bass_tui::engine::drafter::{DRAFTERS, LookupChanges, NamedDrafter};
use bass_tui::engine::{DraftLength, Drafter, Engine, GenerateOptions, ModelDrafter, Profile, StopRules};
use bass_tui::sampling::Sampling;

use super::{EOS, Scripted, Toy, mixed, tokenizer};

/// Drafters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Model,
    /// A drafter of the program, by its name.
    Named(&'static str),
    Scripted,
}

pub const KINDS: [Kind; DRAFTERS.len() + 2] = {
    let mut kinds = [Kind::Model; DRAFTERS.len() + 2];
    let mut i = 0;
    while i < DRAFTERS.len() {
        kinds[i + 1] = Kind::Named(DRAFTERS[i].name);
        i += 1;
    }
    kinds[i + 1] = Kind::Scripted;
    kinds
};

impl Kind {
    pub const SIBLING: Self = Self::Named("sibling");
    pub const CHAIN: Self = Self::Named("chain");

    /// The drafter; `model` drafts where a model is needed, and `truth` is what the script knows, by candidate.
    pub fn drafter(self, model: impl FnOnce() -> Box<dyn Drafter>, truth: &[Vec<u32>]) -> Box<dyn Drafter> {
        match self {
            Self::Model => model(),
            Self::Named(name) => {
                let drafter = NamedDrafter::find(name).expect("a name of the table");
                (drafter.new)(LookupChanges::default(), drafter.wants_model.then(model))
            }
            Self::Scripted => Box::new(Scripted::knowing(truth.to_vec(), mixed)),
        }
    }
}

/// These lengths, then all policies with names.
const fn lengths<const N: usize>(fixed: &[usize]) -> [DraftLength; N] {
    let mut all = [DraftLength::Auto; N];
    let mut i = 0;
    while i < N {
        let named = i >= fixed.len();
        all[i] = if named { draft_length::POLICIES[i - fixed.len()].length } else { DraftLength::Fixed(fixed[i]) };
        i += 1;
    }
    all
}

/// Every way to choose a draft length.
pub const POLICIES: [DraftLength; 8 + draft_length::POLICIES.len()] = lengths(&[1, 2, 3, 4, 5, 6, 7, 8]);

/// The policies whose lengths differ in kind.
pub const FEW_POLICIES: [DraftLength; 3 + draft_length::POLICIES.len()] = lengths(&[1, 3, 8]);

/// A machine on which rows cost nearly nothing and drafts even less, so that all policies draft.
pub fn profile() -> Profile {
    Profile {
        main: vec![(1, 10.0), (1024, 11.0)],
        draft: vec![(1, 0.01), (64, 0.01)],
        read: 0.0,
        survival: (1..=8).map(|j| 0.8f64.powi(j)).collect(),
        table: [(1, 7), (2, 5), (4, 4), (8, 3), (16, 2)].into(),
        ..Profile::default()
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
