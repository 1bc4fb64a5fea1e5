//! Reasons why a trial could not be run at all.

use crate::language::Language;

/// A fault that says nothing about the candidate.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The interpreter is missing.
    #[error("no {language} interpreter found in PATH: install {language} to run these tests")]
    NoInterpreter {
        /// Language name.
        language: &'static str,
    },
    /// An interpreter exists, but it cannot be used.
    #[error("{0}")]
    Interpreter(String),
    /// The tests are of a kind that only a command of the user's can run; the sentence names it.
    #[error("{0}")]
    Tests(String),
    /// The tests file is no valid program; the sentence names file and line.
    #[error("{0}: it does not parse; correct it, or leave out --tests")]
    TestsDoNotParse(String),
    /// The tests hit a limit without the candidate.
    #[error("these tests hit a limit without the candidate, too: {0}")]
    Limit(String),
    /// Candidates of this language are not called on inputs.
    #[error("what candidates do is compared in {}, and not yet in {language}", observed())]
    Unobserved {
        /// Language name.
        language: &'static str,
    },
    /// The sandbox could not be set up.
    #[error("the sandbox could not be started: {0}")]
    Sandbox(String),
}

/// The languages whose candidates are called on inputs.
fn observed() -> String {
    let titles: Vec<&str> = Language::ALL.iter().filter(|one| one.is_observed()).map(|one| one.title()).collect();
    titles.split_last().map_or_else(String::new, |(last, others)| format!("{} and {last}", others.join(", ")))
}

impl From<std::io::Error> for TrialError {
    fn from(error: std::io::Error) -> Self {
        Self::Sandbox(format!("the files of a trial could not be laid out: {error}"))
    }
}

impl TrialError {
    /// Returns true if the fault lies in the tests, so that other tests may work.
    pub(super) fn is_of_tests(&self) -> bool {
        matches!(self, Self::Interpreter(_) | Self::Tests(_) | Self::TestsDoNotParse(_) | Self::Limit(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_whose_candidates_are_compared_are_named() {
        let said = TrialError::Unobserved { language: "Go" }.to_string();
        assert_eq!(said, "what candidates do is compared in Python, JavaScript and TypeScript, and not yet in Go");
    }
}
