//! Runs tests on untrusted candidate code, in a sandbox, and reports a verdict the code cannot forge.
//!
//! Knows neither engine nor screen. Two jobs, kept apart: the sandbox contains the code, `verdict` decides what counts as a pass.

mod interpreter;
mod project;
mod runner;
mod toolchain;
mod verdict;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::sandbox::Sandbox;
pub use crate::sandbox::{Layer, Limits, Protection, Tier};
use interpreter::Fault;
pub use project::Project;
use project::needs_project;
use runner::command::{Command, Toolbox, split};
use runner::project::Projects;
use runner::python::Prepared;
use serde::Serialize;
use toolchain::{Kind, Tools};

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

/// How far a verdict can be trusted when the code was written to deceive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// The tests ran in a process that never held the code: whatever the code does, it can only give values to be checked.
    Separate,
    /// Tests and code shared a process. Honest mistakes and common tricks are noticed; code that aims at the tests could forge a pass.
    Shared,
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
    /// How far a pass can be trusted.
    pub assurance: Assurance,
}

impl Verdict {
    /// The verdict of a candidate that nothing was run on.
    pub fn not_run(message: &str) -> Self {
        let message = message.to_owned();
        Self { status: Status::NotRun, message, duration_ms: 0, output: String::new(), assurance: Assurance::Separate }
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
    /// A tests file that runs in a copy of its project, with the candidate in its place.
    Project(Project),
    /// A command of the user's: exit code 0 is a pass.
    Command {
        /// Program and arguments, with places for `{file}`, `{dir}`, `{function}` and `{line}`.
        words: Vec<String>,
        /// The file with the candidate.
        file: PathBuf,
        /// The line its function begins in, 1-based.
        line: Option<usize>,
        /// The project around the file; without one the candidate stands alone in an empty folder.
        project: Option<Project>,
    },
}

impl Tests {
    /// The tests of a file. They run in a copy of the project that both files lie in if they need it; else alone with the candidate.
    pub fn of_file(language: Language, program: Option<(&Path, &str)>, tests: &Path, text: String) -> Self {
        let project = program.and_then(|(path, program)| {
            let project = Project::around(path, Some(tests))?;
            needs_project(&project, language, program, &text).then_some(project)
        });
        let name = || tests.file_name().map_or_else(|| tests.to_string_lossy(), |n| n.to_string_lossy()).into_owned();
        project.map_or_else(|| Tests::Source { name: name(), text }, Tests::Project)
    }

    /// A command as the user wrote it, for a file or, where there is none, a file of this language.
    pub fn of_command(
        command: &str,
        language: Language,
        file: Option<&Path>,
        line: Option<usize>,
    ) -> Result<Self, String> {
        let ending = language.extensions().first().copied().unwrap_or_default();
        let lone = || PathBuf::from(format!("candidate.{ending}"));
        Ok(Tests::Command {
            words: split(command)?,
            project: file.and_then(|file| Project::around(file, None)),
            file: file.map_or_else(lone, Path::to_path_buf),
            line,
        })
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
    /// The function under test, dotted for methods: what `check(candidate)` gets.
    pub entry_point: Option<String>,
    /// What to run.
    pub tests: Tests,
    /// The user's own module, without the completion, as far as it is known. Tests get their helper functions from here, not from the
    /// program, so that a candidate cannot replace them.
    pub stub: Option<String>,
    /// Limits.
    pub limits: Limits,
}

impl Trial {
    /// The function under test by its last name.
    fn function(&self) -> Option<&str> {
        self.entry_point.as_deref()?.rsplit(['.', ':']).next()
    }
}

/// Runs trials: interpreters resolved once, protection proved once. Cheap to clone; usable from several threads at once.
#[derive(Clone, Debug)]
pub struct Runner {
    sandbox: Arc<Sandbox>,
    python: Arc<OnceLock<Result<Prepared, Fault>>>,
    tools: Arc<Tools>,
    projects: Arc<Projects>,
    go_cache: Arc<runner::go::Cache>,
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
        Self {
            sandbox: Arc::new(sandbox),
            python: Arc::default(),
            tools: Arc::default(),
            projects: Arc::default(),
            go_cache: Arc::default(),
            runs_unprotected: false,
        }
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
        if let Tests::Command { words, file, line, project } = &trial.tests {
            let (sandbox, toolbox) = (self.sandbox()?, self.toolbox());
            let base = project.as_ref().map(|project| self.projects.base(project)).transpose()?;
            let project = project.as_ref().zip(base.as_deref());
            let command = Command { words, file, line: *line };
            return runner::command::run(sandbox, &toolbox, project, &command, trial, cancel);
        }
        if let Tests::Project(project) = &trial.tests {
            let (sandbox, projects) = (self.sandbox()?, &*self.projects);
            return match trial.language {
                Language::Python => {
                    runner::project::python(sandbox, &self.python()?.python, projects, project, trial, cancel)
                }
                Language::Rust => projects.in_workshop(project, |base, workshop| {
                    let rustc = self.tools.get(Kind::Rustc)?;
                    runner::cargo::run(sandbox, rustc, (base, workshop), project, trial, cancel)
                }),
                Language::Go => {
                    let (go, cache) = (self.tools.get(Kind::Go)?, &self.go_cache);
                    runner::go_project::run(sandbox, go, cache, projects, project, trial, cancel)
                }
                Language::JavaScript | Language::TypeScript => {
                    let node = self.tools.get(Kind::Node)?;
                    runner::node_project::run(sandbox, node, projects, project, trial, cancel)
                }
            };
        }
        match trial.language {
            Language::Python => runner::python::run(self.sandbox()?, self.python()?, trial, cancel),
            Language::JavaScript | Language::TypeScript => {
                runner::javascript::run(self.sandbox()?, self.tools.get(Kind::Node)?, trial, cancel)
            }
            Language::Rust => runner::rust::run(self.sandbox()?, self.tools.get(Kind::Rustc)?, trial, cancel),
            Language::Go => runner::go::run(self.sandbox()?, self.tools.get(Kind::Go)?, &self.go_cache, trial, cancel),
        }
    }

    /// [`Runner::check`] for Python.
    pub fn check_tests(&self, tests: &Tests) -> Result<(), TrialError> {
        self.check(Language::Python, tests)
    }

    /// Refuses a tests file that does not parse, so that no model time is spent before it is mended; and a language that nothing
    /// here can run.
    pub fn check(&self, language: Language, tests: &Tests) -> Result<(), TrialError> {
        let verdict = match (language, tests) {
            (Language::Python, Tests::Source { name, text }) => {
                runner::python::parse(self.sandbox()?, self.python()?, name, text)?
            }
            (Language::JavaScript, Tests::Source { name, text }) => {
                runner::javascript::parse(self.sandbox()?, self.tools.get(Kind::Node)?, name, text)?
            }
            _ => return self.check_language(language),
        };
        match (verdict.status, tests) {
            (Status::Passed, _) => Ok(()),
            (Status::Error, _) => Err(TrialError::TestsDoNotParse(verdict.message)),
            (_, Tests::Source { name, .. }) => {
                Err(TrialError::Sandbox(format!("the tests file {name} could not be read: {}", verdict.message)))
            }
            _ => Err(TrialError::Sandbox(verdict.message)),
        }
    }

    /// Whether programs of this language can be run here.
    pub fn check_language(&self, language: Language) -> Result<(), TrialError> {
        match language {
            Language::Python => self.python().map(drop),
            Language::JavaScript | Language::TypeScript => {
                runner::javascript::check(self.tools.get(Kind::Node)?, language)
            }
            Language::Rust => self.tools.get(Kind::Rustc).map(drop),
            Language::Go => self.tools.get(Kind::Go).map(drop),
        }
    }

    /// The Python interpreter that programs are run with.
    pub fn interpreter(&self) -> Result<&Path, TrialError> {
        self.python().map(|python| python.python.program.as_path())
    }

    /// What commands of the user's find in their PATH: the tools of all languages that are installed here.
    fn toolbox(&self) -> Toolbox {
        let mut toolbox = Toolbox::default();
        let mut add = |program: &Path, readable: &[PathBuf]| {
            toolbox.path.extend(program.parent().map(Path::to_path_buf));
            toolbox.readable.extend_from_slice(readable);
        };
        if let Ok(prepared) = self.python() {
            add(&prepared.python.program, &prepared.python.readable);
        }
        for kind in [Kind::Node, Kind::Rustc, Kind::Go] {
            if let Ok(tool) = self.tools.get(kind) {
                add(&tool.program, &tool.readable);
            }
        }
        toolbox
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
