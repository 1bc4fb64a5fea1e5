//! The row of a language in the table, and the trait that runs its tests.

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::code::Target;
use crate::language::Language;
use crate::sandbox::{Job, Limits, Run, Sandbox, Scratch};
pub use crate::trial::project::lone::Layout;
use crate::trial::project::projects::Projects;
use crate::trial::project::runs::{Bounds, PATIENCE, PATIENCE_WITH_OTHERS};
// Types that every language uses.
pub use crate::trial::case::{Command, Tests, Trial};
pub use crate::trial::decide::decide;
pub use crate::trial::error::TrialError;
pub use crate::trial::evidence::{Evidence, Failure, LeftOut, Noticed, Outcome, Report, Reporter, TestEnd};
pub use crate::trial::judge::{driver, nonce};
pub use crate::trial::observe::{Input, Observed, observe};
pub use crate::trial::project::baseline_cache::BaselineCache;
pub use crate::trial::project::find::{Foreign, Marks};
pub use crate::trial::project::{Base, Copy, Project};
use crate::trial::suspicious::Table;
pub use crate::trial::tool::{Lookup, Recipe, Tool};
pub use crate::trial::verdict::{Status, Verdict};

/// A row of the table.
#[derive(Debug)]
pub struct LanguageRow {
    /// The languages that it runs.
    pub languages: &'static [Language],
    /// Uses in code that no function needs.
    pub suspicious: Table,
    /// Bodies that do nothing right: one that returns nothing, or zero values, and one that raises.
    pub bodies: [VacuityBody; 2],
    /// Compiler messages about imports that only the body uses: such an error is the body's.
    pub of_bodies: &'static [&'static str],
    /// True if it is known which tests call the function, by the run without the candidate or by further
    /// ones. Where it is not, a test that failed is run with a body that raises as well: one that fails alike
    /// and does not call it says nothing.
    pub counts_calls: bool,
    /// Makes the folder of a file without a project one that its tools accept.
    pub lay_out: fn(&Trial, &mut Layout),
    /// Marks of its tests files.
    pub tests: Marks,
    /// The examples in the documentation of a function as tests, and true if one of them states an expected
    /// result; or the reason why there are none.
    pub examples: fn(&Target) -> Result<(Tests, bool), String>,
    /// Returns true if the runner of a file's project runs the examples in its documentation with its tests.
    pub runs_examples: fn(&Path) -> bool,
    /// Opens the implementation.
    pub open: fn() -> Box<dyn TrialLanguage>,
}

/// Output of a body that raises, and tells that it was called.
pub const CALLED: &str = "control: called";

/// A body that does nothing right.
#[derive(Clone, Copy, Debug)]
pub struct VacuityBody {
    /// A word of what it does.
    pub what: &'static str,
    /// Its statements for a function; where there are several, the first that can be compiled is used.
    pub statements: fn(&Target) -> Vec<String>,
}

/// For languages whose examples are no tests of their own.
pub fn no_examples(target: &Target) -> Result<(Tests, bool), String> {
    let title = target.language.title();
    Err(format!("{} is in {title}, whose documentation has no examples that are run on their own", target.name))
}

/// Runs the tests of a language. It holds the state that trials share: the place of the compiler, finished
/// builds.
pub trait TrialLanguage: Debug + Send + Sync {
    /// The program that runs or compiles it.
    fn tool(&self) -> Result<&Tool, TrialError>;

    /// The program for the code of a folder, whose project may have its own.
    fn tool_in(&self, _folder: &Path) -> Result<Tool, TrialError> {
        self.tool().cloned()
    }

    /// Prefers this program, which the user has named, over any other. Called before the first trial.
    fn prefer(&self, _program: &Path) {}

    /// Refuses a language whose programs cannot be run here.
    fn check(&self, _language: Language) -> Result<(), TrialError> {
        self.tool().map(drop)
    }

    /// Refuses a tests file that does not parse, if that can be seen before there is a program.
    fn check_tests(
        &self,
        _at: &Context,
        language: Language,
        _file: Option<&Path>,
        (_name, _text): (&str, &str),
    ) -> Result<(), TrialError> {
        self.check(language)
    }

    /// Refuses a project whose tests cannot be run, if that can be seen before there is a program.
    fn check_project(&self, language: Language, _project: &Project) -> Result<(), TrialError> {
        self.check(language)
    }

    /// Cache for runs of projects' tests without a candidate, and what they depend on besides the project.
    fn baseline_cache(&self, _at: &Context, _trial: &Trial, _project: &Project) -> Option<BaselineCache> {
        None
    }

    /// Packages outside of the project that its tools use, for commands of the user's.
    fn packages(&self) -> Packages {
        Packages::default()
    }

    /// Runs a tests file of a project in a copy of it.
    fn run(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError>;

    /// A sentence that says why tests of a project may not run the candidate, though they load.
    fn why_idle(&self, _project: &Project) -> Option<String> {
        None
    }

    /// Calls the function of the trial's program on the inputs, in a copy of the project.
    fn observe(
        &self,
        _at: &Context,
        trial: &Trial,
        _project: &Project,
        _inputs: &[Input],
    ) -> Result<Vec<Observed>, TrialError> {
        Err(TrialError::Unobserved { language: trial.language.title() })
    }
}

/// Packages that lie on this machine: folders to read, and variables that name them.
#[derive(Debug, Default)]
pub struct Packages {
    pub readable: Vec<PathBuf>,
    pub environment: Vec<(OsString, OsString)>,
}

/// Time limit factor for tests without a candidate, at their place in a list. Only the first have the shorter
/// limit, and only if there are others.
pub fn patience(tests: &Tests, place: usize) -> u32 {
    let has_others = |all: &[(Tests, String)]| all.len() > 1 || matches!(all[0].0, Tests::Several(_));
    let is_first = matches!(tests, Tests::FirstOf(all) if place == 0 && has_others(all));
    if is_first { PATIENCE_WITH_OTHERS } else { PATIENCE }
}

/// The context of a run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The sandbox that programs run in.
    pub sandbox: &'a Sandbox,
    /// The copies of projects.
    pub projects: &'a Projects,
    /// The folder of the build cache. Without one, builds are removed with the runner.
    pub cache: Option<&'a Path>,
    /// Time limit factor for tests without a candidate.
    pub patience: u32,
    /// True to run the tests without a candidate, and no candidate.
    pub prepares: bool,
    /// True for further tests, which only confirm a pass.
    pub confirms: bool,
    /// The hash seed of Python.
    pub hashes: u8,
    /// Set to true to end the trial.
    pub cancel: &'a AtomicBool,
}

impl Context<'_> {
    /// The context of these tests at their place in a list.
    pub fn with_patience(self, tests: &Tests, place: usize) -> Self {
        Self { patience: patience(tests, place), ..self }
    }

    /// Runs a program.
    pub fn run(&self, job: Job) -> Result<Run, TrialError> {
        self.sandbox.run(job, self.cancel).map_err(TrialError::Sandbox)
    }

    /// Runs a program on a file with this name and text.
    pub fn run_on(&self, tool: &Tool, name: &str, text: &str, arguments: &[&str]) -> Result<Run, TrialError> {
        let folder = Scratch::new()?;
        let path = folder.path().join(Path::new(name).file_name().unwrap_or("tests".as_ref()));
        fs::write(&path, text)?;
        let readable = [&tool.readable[..], &[folder.path().to_path_buf()]].concat();
        let arguments = arguments.iter().map(OsString::from).chain([path.into_os_string()]).collect();
        // Node exits at once if it may not read the system's settings.
        let environment = vec![("OPENSSL_CONF".into(), "/dev/null".into())];
        self.run(Job { readable: &readable, environment, ..Job::new(&tool.program, arguments, Limits::default()) })
    }

    /// Runs a program in a writable folder of a copy, with further readable and writable paths.
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
        let counted = copy.is_lone.then(|| copy.path());
        self.run(Job { readable: &readable, writable: &writable, folder: Some(&folder), counted, ..job })
    }

    /// The cache folder of baselines.
    pub fn baselines(&self) -> Option<PathBuf> {
        self.cache.map(|folder| folder.join("baselines"))
    }

    /// The bounds of runs of a project's tests.
    pub fn bounds<'a>(&'a self, limits: Limits, cache: Option<&'a BaselineCache>) -> Bounds<'a> {
        Bounds {
            limits,
            patience: self.patience,
            cache,
            prepares: self.prepares,
            confirms: self.confirms,
            cancel: self.cancel,
        }
    }

    /// Returns true if the caller has cancelled the trial.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
