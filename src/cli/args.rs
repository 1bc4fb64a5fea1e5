//! Arguments that several commands share beside the options.

use clap::Args;

use super::failure::Failure;
use crate::job::TestsChoice;
use crate::options::{COMPARING, Flags, GENERATION, HISTORY, MODELS, PROMPTS, SAMPLING, SERVER, Settings, TESTS};

/// The options of a command that writes candidates.
pub type CompletionFlags = Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS }>;

/// The options of a command that completes a function of a file.
pub type FunctionFlags = Flags<{ MODELS | SERVER | GENERATION | SAMPLING | TESTS | COMPARING | PROMPTS | HISTORY }>;

/// Reads the list `text` of the flag `flag`; `read` parses each part between commas.
pub fn list<T>(flag: &str, text: &str, expected: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::input(format!("{flag} is empty: give at least one, expected {expected}")));
    }
    let wrong = |part: &str| Failure::input(format!("{flag} has `{part}`, expected {expected}"));
    text.split(',').map(|part| read(part.trim()).ok_or_else(|| wrong(part.trim()))).collect()
}

/// Reads `--prompt-ids`.
pub fn token_ids(text: &str) -> Result<Vec<u32>, Failure> {
    list("--prompt-ids", text, "token ids such as 1,2,3", |id| id.parse().ok())
}

/// The choice of tests.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tests")]
pub struct TestArgs {
    #[arg(
        long,
        value_name = "FILE|auto|none",
        help = "A tests file, one test of it as FILE::TEST, a folder of them or a pattern, also several times; auto for the \
                >>> examples of the docstring, or none [default: the examples and the tests file of the function, as far as \
                they are found]"
    )]
    pub tests: Vec<String>,
}

impl TestArgs {
    /// The user's choice of tests, from the flags or the settings.
    pub fn choice(&self, settings: &Settings) -> TestsChoice {
        choice(settings.tests_or(&self.tests))
    }
}

/// The choice of tests that words make.
pub fn choice(words: &[String]) -> TestsChoice {
    match words {
        [] => TestsChoice::IfAny,
        [one] if one == "auto" => TestsChoice::Auto,
        [one] if one == "none" => TestsChoice::None,
        names => TestsChoice::Named(names.to_vec()),
    }
}

/// Consent to run tests without a sandbox. It is asked for every time, so it is no setting.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tests")]
pub struct ConsentArgs {
    /// Run model-written code even where this system cannot keep it from your files and network: it can then
    /// do whatever you can. Without this such a system asks first, or refuses (`bass-tui doctor` tells which
    /// yours is)
    #[arg(long)]
    pub unprotected: bool,
}
