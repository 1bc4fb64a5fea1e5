//! Runs tests on untrusted candidate code, in a sandbox, and reports a verdict the code cannot forge.
//!
//! Knows neither engine nor screen. Two jobs, kept apart: `sandbox` contains the code, `verdict` decides what counts as a pass.

mod interpreter;
mod protection;
mod runner;
mod sandbox;
mod verdict;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use interpreter::Fault;
pub use protection::{Layer, Protection};
use runner::python::Prepared;
use sandbox::Sandbox;
pub use sandbox::Tier;
use serde::Serialize;

use crate::language::Language;

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

impl Status {
    /// What it is called on the screen and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Status::Passed => "PASS",
            Status::Failed => "FAIL",
            Status::Error => "ERROR",
            Status::Timeout => "TIMEOUT",
            Status::Killed => "KILLED",
            Status::Tampered => "TAMPERED",
            Status::NotRun => "NOT RUN",
        }
    }
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
    /// The name under which tests may import it: that of its file, without the ending.
    pub module: Option<String>,
    /// The function under test: what `check(candidate)` gets.
    pub entry_point: Option<String>,
    /// What to run.
    pub tests: Tests,
    /// Limits.
    pub limits: Limits,
}

/// Runs trials: interpreters resolved once, protection proved once. Cheap to clone; usable from several threads at once.
#[derive(Clone, Debug)]
pub struct Runner {
    sandbox: Arc<Sandbox>,
    python: Arc<OnceLock<Result<Prepared, Fault>>>,
    runs_unprotected: bool,
}

impl Runner {
    /// Proves the protection by a run, and starts looking for the interpreters.
    pub fn probe() -> Self {
        Self::probe_at_most(Tier::Full)
    }

    /// As [`Runner::probe`], but without trying for a better tier than this one.
    pub fn probe_at_most(best: Tier) -> Self {
        let runner = Self::with(Sandbox::probe(best));
        let python = Arc::clone(&runner.python);
        // Asking a shim takes a quarter of a second, which nobody has to wait for. Without a thread the first trial asks.
        let _ = std::thread::Builder::new().name("find python".to_owned()).spawn(move || {
            python.get_or_init(runner::python::prepare);
            Sandbox::sweep();
        });
        runner
    }

    /// A runner without isolation, whatever the machine offers: limits only. It runs nothing before [`Runner::allow_unprotected`].
    pub fn without_isolation() -> Self {
        Self::with(Sandbox::unprotected("it was switched off"))
    }

    fn with(sandbox: Sandbox) -> Self {
        Self { sandbox: Arc::new(sandbox), python: Arc::default(), runs_unprotected: false }
    }

    /// Lets this runner run code without isolation. Only after the user said yes to just that.
    #[must_use]
    pub fn allow_unprotected(mut self) -> Self {
        self.runs_unprotected = true;
        self
    }

    /// What protects the user.
    pub fn protection(&self) -> &Protection {
        self.sandbox.protection()
    }

    /// Runs one trial and waits for it. `cancel` set to true ends it within 50 ms (`Killed`). Never panics; a fault of
    /// the sandbox itself is an error, not a verdict.
    ///
    /// Must be called on a thread that lives as long as the trial: the code is killed when that thread ends.
    pub fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        match trial.language {
            Language::Python => runner::python::run(self.sandbox()?, self.python()?, trial, cancel),
            other => Err(TrialError::Interpreter(format!("tests in {} cannot be run yet", other.name()))),
        }
    }

    /// Refuses a tests file that does not parse, so that no model time is spent before it is mended.
    pub fn check_tests(&self, tests: &Tests) -> Result<(), TrialError> {
        let Tests::Source { name, text } = tests else { return self.python().map(drop) };
        let verdict = runner::python::parse(self.sandbox()?, self.python()?, name, text)?;
        match verdict.status {
            Status::Passed => Ok(()),
            Status::Error => Err(TrialError::TestsDoNotParse(verdict.message)),
            _ => Err(TrialError::Sandbox(format!("the tests file {name} could not be read: {}", verdict.message))),
        }
    }

    /// The Python interpreter that programs are run with.
    pub fn interpreter(&self) -> Result<&Path, TrialError> {
        self.python().map(|python| python.python.program.as_path())
    }

    fn sandbox(&self) -> Result<&Sandbox, TrialError> {
        if self.protection().is_isolated() || self.runs_unprotected {
            return Ok(&self.sandbox);
        }
        Err(TrialError::Sandbox(self.protection().summary.clone()))
    }

    fn python(&self) -> Result<&Prepared, TrialError> {
        self.python.get_or_init(runner::python::prepare).as_ref().map_err(|fault| match fault {
            Fault::Missing => TrialError::NoInterpreter { language: "Python" },
            Fault::Unusable(sentence) => TrialError::Interpreter(sentence.clone()),
        })
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
    /// There is an interpreter, but not one that can be used.
    #[error("{0}")]
    Interpreter(String),
    /// The tests file is no valid program; the sentence names file and line.
    #[error("{0}: it does not parse; correct it, or leave out --tests")]
    TestsDoNotParse(String),
    /// The sandbox could not be set up.
    #[error("the sandbox could not be started: {0}")]
    Sandbox(String),
}
