//! One completion job: a prompt with its target and tests; turns model text into code, programs under test and a pick.

use crate::code::{Target, normalise};
use crate::engine::StopRules;
use crate::language::Language;
use crate::source::Prompt;
use crate::trial::{Limits, Status, Tests, Trial};

/// What is to be completed and how it is tested.
#[derive(Clone, Debug)]
pub struct Job {
    /// The function in its file; `None` for a free prompt.
    pub target: Option<Target>,
    /// What the model gets.
    pub prompt: Prompt,
    /// Language of the code; `None` for free text.
    pub language: Option<Language>,
    /// The tests; `None` when there are none.
    pub tests: Option<Tests>,
    /// Where the tests come from, for the screen: `doctest`, `test_numbers.py`.
    pub tests_label: String,
}

impl Job {
    /// The built-in first-run example: a stub with a docstring and examples.
    pub fn example() -> Self {
        todo!()
    }

    /// When a candidate ends: `strings`, and unless `defaults` is false the end of the function (or nothing, for free text).
    pub fn stop_rules(&self, _strings: &[String], _defaults: bool) -> StopRules {
        todo!()
    }

    /// The whole module with the completion in it: what is shown, tested and written.
    pub fn program(&self, _completion: &str) -> String {
        todo!()
    }

    /// The trial of a completion; `None` without tests.
    pub fn trial(&self, _completion: &str, _limits: Limits) -> Option<Trial> {
        todo!()
    }

    /// Equal for two completions that differ only in white space, blank lines or comments.
    pub fn duplicate_key(&self, completion: &str) -> String {
        self.language.map_or_else(|| completion.trim().to_owned(), |l| normalise(l, completion))
    }
}

/// The candidate to take: the best ranked one that passed; without tests the best ranked one.
pub fn pick(ranking: &[usize], status: &dyn Fn(usize) -> Status, tested: bool) -> Option<usize> {
    ranking.iter().copied().find(|&c| if tested { status(c) == Status::Passed } else { true })
}
