//! Runs tests on untrusted candidate code, in a sandbox, and reports a verdict the code cannot forge.
//!
//! Knows neither engine nor screen.

mod process;
mod python;
mod runner;
mod sandbox;
mod scratch;
mod verdict;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::language::Language;
pub use runner::Runner;

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All tests ran and passed.
    Passed,
    /// The tests ran and a check failed.
    Failed,
    /// The code could not be loaded, or the tests could not be started.
    Error,
    /// The wall-clock limit was hit.
    Timeout,
    /// A limit, a signal or an exit before the completion record ended the process; the message says which.
    Killed,
    /// The code interfered with the judging.
    Tampered,
    /// There was nothing to run.
    NotRun,
}

/// The result of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How it ended.
    pub status: Status,
    /// One line for the reader: the first failing check, the limit hit, the error; cleaned. `3 checks` for a pass.
    pub message: String,
    /// Wall time in ms.
    pub duration_ms: u64,
    /// What the code printed, capped and cleaned.
    pub output: String,
}

impl Verdict {
    /// The verdict of a candidate that nothing was run on.
    pub fn not_run(message: &str) -> Self {
        Self { status: Status::NotRun, message: message.to_owned(), duration_ms: 0, output: String::new() }
    }
}

/// The tests of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tests {
    /// The `>>>` examples in the docstring of the entry point (or, without one, all docstrings of the module). `source` is the
    /// module text they are taken from: the user's stub, not the candidate's, so that a candidate cannot remove its own tests.
    Doctest {
        /// Module text whose docstrings hold the examples.
        source: String,
    },
    /// A tests file: plain `assert` lines, `check(candidate)` functions, `test_*` functions, unittest classes, doctests. It sees
    /// the candidate's top-level names.
    Source {
        /// Name of the file, for messages.
        name: String,
        /// Its text.
        text: String,
    },
}

/// Limits of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time.
    pub wall: Duration,
    /// Memory of the whole process group, bytes.
    pub memory: u64,
    /// Largest file it may write, bytes.
    pub file: u64,
    /// Most bytes of output kept and allowed, both streams.
    pub output: u64,
    /// Most processes and threads.
    pub processes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(10), memory: 1 << 30, file: 16 << 20, output: 16 << 20, processes: 32 }
    }
}

/// One run of tests on one candidate.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Language of `program`.
    pub language: Language,
    /// The whole module with the candidate in it.
    pub program: String,
    /// The name under which tests may import it.
    pub module: Option<String>,
    /// The function under test: what `check(candidate)` gets.
    pub entry_point: Option<String>,
    /// What to run.
    pub tests: Tests,
    /// Limits.
    pub limits: Limits,
}

/// What protects the user from the code under test, as proved by a real run at start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Protection {
    /// `kernel rules` (Landlock and seccomp) or `none`.
    pub tier: String,
    /// Landlock ABI in force, 0 if none.
    pub landlock_abi: u32,
    /// System calls are filtered (no network, no ptrace, …).
    pub seccomp: bool,
    /// Set-user-id programs cannot gain rights.
    pub no_new_privs: bool,
    /// CPU, memory, file and process limits are set.
    pub limits: bool,
    /// One sentence for the status line and `doctor`, also about what is missing and why.
    pub summary: String,
}

impl Protection {
    /// Whether files and network are out of the code's reach. Without that the user has to be asked first.
    pub fn is_isolated(&self) -> bool {
        self.landlock_abi > 0 && self.seccomp && self.no_new_privs
    }
}

/// Why a trial could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The interpreter is missing.
    #[error("no {language} interpreter found in PATH: install {language} to run these tests")]
    NoInterpreter {
        /// Language name.
        language: &'static str,
    },
    /// The tests file is not a program.
    #[error("the tests file {name} does not parse: {problem}; correct it, or leave out --tests")]
    Tests {
        /// Name of the file.
        name: String,
        /// What the interpreter says, with the line.
        problem: String,
    },
    /// Nothing protects the user, and nobody has said that this is accepted.
    #[error("nothing protects your files from the code under test ({0})")]
    Unprotected(String),
    /// The sandbox could not be set up.
    #[error("the sandbox could not be started: {0}")]
    Sandbox(String),
}
