//! What a language of trials is: its row in the table, and what runs it.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::code::Target;
use crate::language::Language;
use crate::sandbox::{Job, Limits, Run, Sandbox};
use crate::trial::project::cache::Projects;
use crate::trial::project::runs::Bounds;
// What every language is written with.
pub use crate::trial::case::{Command, Tests, Trial};
pub use crate::trial::error::TrialError;
pub use crate::trial::evidence::{Evidence, Failure, Outcome, Report, Reporter, TestEnd};
use crate::trial::judge::pair::side_by_side;
pub use crate::trial::judge::{driver, nonce};
pub use crate::trial::project::find::Marks;
pub use crate::trial::project::kept::Kept;
pub use crate::trial::project::{Base, Copy, Project};
use crate::trial::reach::Table;
pub use crate::trial::tool::{Lookup, Recipe, Tool};
pub use crate::trial::verdict::{Status, Verdict, decide};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// What it runs.
    pub languages: &'static [Language],
    /// What code may reach for that no function needs.
    pub reach: Table,
    /// Whether tests need more of their project than the candidate. Those that do not run alone with it,
    /// which is quicker and better guarded.
    pub needs_project: fn(&Sources) -> bool,
    /// How its tests files are known.
    pub tests: Marks,
    /// The examples in the documentation of a function as tests, and whether one of them says what it gives; or
    /// why there are none.
    pub examples: fn(&Target) -> Result<(Tests, bool), String>,
    /// Makes what runs it.
    pub open: fn() -> Box<dyn TrialLanguage>,
}

/// For languages whose examples are no tests of their own.
pub fn no_examples(target: &Target) -> Result<(Tests, bool), String> {
    let title = target.language.title();
    Err(format!("{} is in {title}, whose documentation has no examples that are run on their own", target.name))
}

/// A program and its tests, both in a project.
pub struct Sources<'a> {
    pub project: &'a Project,
    /// The tests file, relative to its root.
    pub tests_file: &'a Path,
    pub program: &'a str,
    pub tests: &'a str,
}

/// What runs the tests of a language. It keeps what trials share: where the compiler is, what was built.
pub trait TrialLanguage: Debug + Send + Sync {
    /// The program that runs or compiles it.
    fn tool(&self) -> Result<&Tool, TrialError>;

    /// The same for the code of a folder, whose project may have its own.
    fn tool_in(&self, _folder: &Path) -> Result<Tool, TrialError> {
        self.tool().cloned()
    }

    /// Takes this program, which the user has named, before any other: before the first trial.
    fn prefer(&self, _program: &Path) {}

    /// Whether programs of one of its languages can be run here.
    fn check(&self, _language: Language) -> Result<(), TrialError> {
        self.tool().map(drop)
    }

    /// Refuses a tests file that does not parse, where that shows before there is a program.
    fn check_tests(
        &self,
        _at: &Context,
        language: Language,
        _file: Option<&Path>,
        (_name, _text): (&str, &str),
    ) -> Result<(), TrialError> {
        self.check(language)
    }

    /// Refuses a project whose tests cannot be run, where that shows before there is a program.
    fn check_project(&self, language: Language, _project: &Project) -> Result<(), TrialError> {
        self.check(language)
    }

    /// Runs tests with nothing but the program.
    fn run_alone(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError>;

    /// Where is kept what tests of projects do without a candidate, and what it depends on besides the project.
    fn kept(&self, _at: &Context) -> Option<Kept> {
        None
    }

    /// Runs a tests file of a project in a copy of it.
    fn run_in_project(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError>;
}

/// What runs are given.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where programs run.
    pub sandbox: &'a Sandbox,
    /// The copies of projects.
    pub projects: &'a Projects,
    /// The folder in which builds are kept for later runs; without one they go with the runner.
    pub kept: Option<&'a Path>,
    /// How many times the limit tests may take without a candidate.
    pub patience: u32,
    /// Ends the trial.
    pub cancel: &'a AtomicBool,
}

impl Context<'_> {
    /// Runs a program.
    pub fn run(&self, job: Job) -> Result<Run, TrialError> {
        self.sandbox.run(job, self.cancel).map_err(TrialError::Sandbox)
    }

    /// Runs a program in a folder of a copy, which it may write, with more to read and to write.
    pub fn run_in(
        &self,
        copy: &Copy,
        folder: &Path,
        readable: &[PathBuf],
        writable: &[&Path],
        job: Job,
    ) -> Result<Run, TrialError> {
        let readable = [readable, &copy.readable].concat();
        let writable: Vec<PathBuf> = [copy.path()].iter().chain(writable).map(|path| path.to_path_buf()).collect();
        let folder = copy.path().join(folder);
        self.run(Job { readable: &readable, writable: &writable, folder: Some(&folder), ..job })
    }

    /// Runs two programs that are joined by a line, each in a copy of its own, in the same folder of it.
    pub fn run_both_in(
        &self,
        (first, one): (&Copy, Job),
        (second, other): (&Copy, Job),
        folder: &Path,
    ) -> Result<(Run, Run), TrialError> {
        let readable = [(one.readable, first), (other.readable, second)];
        let readable = readable.map(|(readable, copy)| [readable, &copy.readable].concat());
        let writable = [first, second].map(|copy| [copy.path().to_path_buf()]);
        let folders = [first, second].map(|copy| copy.path().join(folder));
        let [one, other] = [(0, one), (1, other)].map(|(at, job)| Job {
            readable: &readable[at],
            writable: &writable[at],
            folder: Some(&folders[at]),
            ..job
        });
        side_by_side(self.sandbox, one, other, self.cancel).map_err(TrialError::Sandbox)
    }

    /// The folder for what is known of tests without a candidate.
    pub fn baselines(&self) -> Option<PathBuf> {
        self.kept.map(|folder| folder.join("baselines"))
    }

    /// What bounds the runs of a project's tests.
    pub fn bounds<'a>(&'a self, limits: Limits, kept: Option<&'a Kept>) -> Bounds<'a> {
        Bounds { limits, patience: self.patience, kept, cancel: self.cancel }
    }

    /// Whether the caller wants no more of it.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
