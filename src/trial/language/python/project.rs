//! Python: a tests file or the examples of a docstring, run by pytest, unittest or doctest in a copy of the
//! project, each test reported by name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::installed::Distribution;
use super::{programs, runs_all_examples};
use crate::code::{names, yields};
use crate::language::Language;
use crate::sandbox::{Ended, Job, Limits};
use crate::trial::judge::hashes;
use crate::trial::language::row::{Context, Project, Tool, Trial, TrialError, Verdict, decide, nonce};
use crate::trial::project::baseline_cache::BaselineCache;
use crate::trial::project::runs::{self, Ends, Of, Ran, RunRequest};
use crate::trial::project::settings::{CONFTEST, PYTEST};
use crate::untrusted::clean_line;

/// A stub body that calls into the driver, which records the call.
const WITHOUT_BODY: &str = "return __import__('_reached').called()";
/// The body of an asynchronous generator, which must not be a coroutine.
const WITHOUT_BODY_OF_GENERATOR: &str = "__import__('_reached').called(); yield";

#[derive(Serialize)]
struct Request<'a> {
    root: &'a Path,
    copy: &'a Path,
    /// Folders of the project that are linked into the copy and read in place.
    kept: &'a [PathBuf],
    /// The tests file, relative to the start folder.
    tests: &'a Path,
    /// The tests of it that are run; all if empty.
    only: &'a [String],
    function: Option<&'a str>,
    /// The text that holds the examples; `None` for a tests file.
    source: Option<&'a str>,
    /// True if all of them count, and not the function's alone.
    all_examples: bool,
    /// The file with the candidate, relative to the start folder, and the names in the user's text outside of
    /// the function.
    file: &'a Path,
    own_names: &'a BTreeSet<String>,
    /// True if the folder was made for the file and its tests.
    lone: bool,
    /// True to record which tests call the function, whose body tells it.
    records_calls: bool,
    /// Names of files in which a project may say how its tests run.
    settings: &'a [&'a str],
    /// `wait` at the end for the threads that Python waits for, or `look` for them.
    threads: &'a str,
    /// Number of failures that end the run; 0: never.
    first: u8,
    /// Seconds after which no further test of all tests begins, if some have called the function.
    seconds: f64,
    /// Installation data of the project.
    distribution: Option<&'a Distribution>,
}

/// Runs a tests file of a project with the candidate in it. If it is the candidate's own file, the tests are
/// the examples of its docstrings.
pub fn run(
    at: &Context,
    (python, driver): (&Tool, &[u8]),
    trial: &Trial,
    project: &Project,
) -> Result<Verdict, TrialError> {
    // Tools of a project write more than a function does.
    let least = if project.lone.is_some() { 0 } else { 64 << 20 };
    let limits = Limits { file: trial.limits.file.max(least), ..trial.limits };
    let without = without_body(trial);
    let distribution = Distribution::of(&project.root.join(&project.package)).filter(|_| project.lone.is_none());
    let own_names = own_names(trial, without.as_deref());
    let runs =
        PythonRuns { at, python, driver, trial, project, distribution, is_without_body: without.is_some(), own_names };
    let (without, candidate, own) = (without.as_deref(), trial.program.as_str(), trial.own());
    let texts = runs::Programs { without, probes: None, candidate, own };
    let once = |of: Of, asked: RunRequest, limits| runs.once(of, asked, limits);
    let cache = cache_with(at, (python, driver), trial, project, &runs.own_names);
    let found = runs::evidence(at.projects, project, texts, at.bounds(limits, cache.as_ref()), once)?;
    let (evidence, limits) = match found {
        Ok(found) => found,
        Err(failure) => return Ok(Verdict::unreached(trial.entry_point.as_deref(), failure.as_deref())),
    };
    decide(&evidence, &limits)
}

/// The user's text with a function that only tells that it was called.
fn without_body(trial: &Trial) -> Option<String> {
    let target = trial.held_target()?;
    let head = target.stub();
    let own = &target.text[target.body.clone()];
    let is_open = ["", "pass", "..."].contains(&own.trim()) || own.trim().starts_with("raise NotImplemented");
    let is_annotated = || is_open && ["AsyncIter", "AsyncGen"].iter().any(|name| head.contains(name));
    let is_generator = head.contains("async def ") && (yields(own) || is_annotated());
    Some(target.with_body(if is_generator { WITHOUT_BODY_OF_GENERATOR } else { WITHOUT_BODY }))
}

/// The names in the user's text outside of the function.
fn own_names(trial: &Trial, without: Option<&str>) -> BTreeSet<String> {
    names(Language::Python, without.unwrap_or_else(|| trial.own_text())).into_iter().collect()
}

/// Cache for runs without the candidate, and what they depend on.
pub fn cache(
    at: &Context,
    (python, driver): (&Tool, &[u8]),
    trial: &Trial,
    project: &Project,
) -> Option<BaselineCache> {
    let own_names = own_names(trial, without_body(trial).as_deref());
    cache_with(at, (python, driver), trial, project, &own_names)
}

/// [`cache`], with the names in the user's text.
fn cache_with(
    at: &Context,
    (python, driver): (&Tool, &[u8]),
    trial: &Trial,
    project: &Project,
    own_names: &BTreeSet<String>,
) -> Option<BaselineCache> {
    let ((major, minor), shown) = (python.version, python.shown());
    // Packages that the user edits elsewhere may change without a trace in the times of their folders.
    let is_own = |path: &PathBuf| path.is_file() || path.join("bin").is_dir() || path.join("os.py").is_file();
    if !python.readable.iter().all(is_own) {
        return None;
    }
    // Of the user's text only what the driver gets: another body changes nothing.
    let examples = project.tests.as_ref().filter(|tests| **tests == project.file);
    let own = examples.map_or_else(|| format!("{own_names:?}"), |_| trial.own_text().to_owned());
    Some(BaselineCache {
        folder: at.baselines()?,
        // A test may fail for want of memory.
        setting: [driver, shown.as_bytes(), own.as_bytes(), &trial.limits.memory.to_le_bytes()].concat(),
        packages: python.readable.clone(),
        inner: vec![format!("lib/python{major}.{minor}/site-packages").into()],
    })
}

/// Reads a tests file, and says what is wrong with it.
const PARSE: &str = "import ast, sys\n\
    try:\n    ast.parse(open(sys.argv[1], encoding='utf-8').read())\n\
    except (SyntaxError, ValueError) as error:\n    \
        sys.exit('line %d: %s' % (getattr(error, 'lineno', None) or 1, getattr(error, 'msg', None) or error))";

/// Refuses a tests file that does not parse.
pub fn parse(at: &Context, python: &Tool, name: &str, text: &str) -> Result<(), TrialError> {
    let run = at.run_on(python, name, text, &["-I", "-S", "-B", "-X", "utf8", "-c", PARSE])?;
    let said = run.output.lines().next_back().unwrap_or_default();
    match run.ended {
        Ended::Exited(0) => Ok(()),
        Ended::Exited(1) => Err(TrialError::TestsDoNotParse(clean_line(&format!("tests file {name}, {said}"), 400))),
        ended => Err(TrialError::Sandbox(format!("the tests file {name} could not be read: {ended:?}"))),
    }
}

impl Request<'_> {
    fn bytes(&self, driver: &[u8], nonce: &str) -> Vec<u8> {
        [driver, &programs::sized(self), nonce.as_bytes()].concat()
    }
}

struct PythonRuns<'a> {
    at: &'a Context<'a>,
    python: &'a Tool,
    driver: &'a [u8],
    trial: &'a Trial,
    project: &'a Project,
    distribution: Option<Distribution>,
    is_without_body: bool,
    own_names: BTreeSet<String>,
}

impl PythonRuns<'_> {
    /// The file with the function, where the user has it.
    fn file_of_user(&self) -> PathBuf {
        self.trial.file.clone().unwrap_or_else(|| self.project.root.join(&self.project.file))
    }

    fn once(&self, of: Of, asked: RunRequest, limits: Limits) -> Result<Ran, TrialError> {
        let Self { at, project, trial, .. } = self;
        let (nonce, copy) = (nonce()?, of.copy());
        let tests = project.tests.as_deref().unwrap_or(Path::new(""));
        // Pytest finds settings and modules from its start folder: the package, or the root for tests outside
        // of it.
        let (folder, inside) = match tests.strip_prefix(&project.package) {
            Ok(inside) if inside.as_os_str().is_empty() => (project.package.as_path(), Path::new(".")),
            Ok(inside) => (project.package.as_path(), inside),
            Err(_) => (Path::new(""), tests),
        };
        let file = match project.file.strip_prefix(folder) {
            Ok(inside) => inside.to_path_buf(),
            Err(_) => copy.path().join(&project.file),
        };
        if let Some(distribution) = &self.distribution {
            distribution.write_version(copy, &project.package);
        }
        let settings: Vec<&str> = [CONFTEST].into_iter().chain(PYTEST.iter().map(|(name, _)| *name)).collect();
        let request = Request {
            root: &project.root,
            copy: copy.path(),
            kept: &copy.readable,
            tests: inside,
            only: asked.only,
            function: trial.entry_point.as_deref(),
            source: (tests == project.file).then_some(trial.own_text()),
            all_examples: tests == project.file && runs_all_examples(&self.file_of_user()),
            file: &file,
            own_names: &self.own_names,
            lone: project.lone.is_some(),
            // If nothing is left out, calls need not be recorded.
            records_calls: matches!(of, Of::Baseline(_)) && self.is_without_body,
            settings: &settings,
            threads: if asked.ends_itself { "wait" } else { "look" },
            first: u8::from(asked.ends == Ends::FirstFailure),
            seconds: limits.wall.as_secs_f64() / 2.0,
            distribution: self.distribution.as_ref(),
        };
        let job = programs::job(self.python, request.bytes(self.driver, &nonce), limits);
        let job = Job { environment: vec![hashes(at.hashes)], ..job };
        Ok((at.run_in(copy, folder, &self.python.readable, &[], job)?, nonce))
    }
}
