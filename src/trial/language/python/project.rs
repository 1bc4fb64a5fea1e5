//! Python in a project: its tests file or the examples of a docstring, run by pytest or unittest in a copy of
//! the project, each test reported by name. The candidate is in another copy, in a process of its own, where
//! tests and project allow it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::installed::Distribution;
use super::programs::{self, PROJECT, PROJECT_WORKER};
use crate::sandbox::Limits;
use crate::trial::language::row::{Context, Copy, Project, Tool, Trial, TrialError, Verdict, decide, nonce};
use crate::trial::project::kept::Kept;
use crate::trial::project::runs::{self, Asked, Ends, Of, Ran};

/// A body that comes to the driver: it says there that it was called, or has the worker run the candidate's.
const WITHOUT_BODY: &str = "return __import__('_reached').called()";

/// The programs of the driver for projects, compiled for a Python.
#[derive(Debug)]
pub struct Programs {
    tests: Vec<u8>,
    worker: Vec<u8>,
}

impl Programs {
    /// Compiles the driver; the sentence why that did not work.
    pub fn compile(python: &Tool) -> Result<Self, String> {
        let [tests, worker] = programs::compile(python, [PROJECT, PROJECT_WORKER])?;
        Ok(Self { tests, worker })
    }
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Purpose {
    /// The tests run without the candidate; what calls the function is noted.
    Baseline,
    /// Tests and candidate share the process.
    Candidate,
    /// The tests run here, the candidate in the worker.
    Judge,
    Worker,
}

#[derive(Clone, Serialize)]
struct Request<'a> {
    root: &'a Path,
    copy: &'a Path,
    /// What of the project is linked into the copy and read where it lies.
    kept: &'a [PathBuf],
    /// From where it starts.
    tests: &'a Path,
    /// The tests of it that are run; all if there are none.
    only: &'a [String],
    function: Option<&'a str>,
    /// The text that holds the examples; `None` for a tests file.
    source: Option<&'a str>,
    /// The user's own text; `None` where all of it is the candidate's.
    own: Option<&'a str>,
    purpose: Purpose,
    /// After how many failures the rest is left; 0: never.
    first: u8,
    /// What an installation would say of the project.
    distribution: Option<&'a Distribution>,
}

/// Runs a tests file of a project with the candidate in it. Where that is the candidate's own file, the tests
/// are the examples of its docstrings.
pub fn run(
    at: &Context,
    (python, programs): (&Tool, &Programs),
    trial: &Trial,
    project: &Project,
) -> Result<Verdict, TrialError> {
    // Tools of a project write more than a function does.
    let limits = Limits { file: trial.limits.file.max(64 << 20), ..trial.limits };
    let without = trial.with_body(WITHOUT_BODY);
    let distribution = Distribution::of(&project.root.join(&project.package));
    let runs = Runs { at, python, programs, trial, project, distribution, is_without_body: without.is_some() };
    let texts = runs::Programs { without: without.as_deref(), telling: None, candidate: &trial.program };
    let once = |of: Of, asked: Asked, limits| runs.once(of, asked, limits);
    let kept = at.kept.map(|folder| runs.kept(folder));
    let found = runs::evidence(at.projects, project, texts, at.bounds(limits, kept.as_ref()), once)?;
    let Some((evidence, limits)) = found else { return Ok(Verdict::unreached(trial.function())) };
    decide(&evidence, &limits)
}

struct Runs<'a> {
    at: &'a Context<'a>,
    python: &'a Tool,
    programs: &'a Programs,
    trial: &'a Trial,
    project: &'a Project,
    distribution: Option<Distribution>,
    is_without_body: bool,
}

impl Runs<'_> {
    /// Where runs without the candidate are kept, and what they depend on.
    fn kept(&self, folder: &Path) -> Kept {
        let (major, minor) = self.python.version;
        let shown = self.python.shown();
        let stub = self.trial.stub.as_deref().unwrap_or_default();
        Kept {
            folder: folder.join("baselines"),
            setting: [&self.programs.tests, shown.as_bytes(), stub.as_bytes()].concat(),
            packages: self.python.readable.clone(),
            inner: vec![format!("lib/python{major}.{minor}/site-packages").into()],
        }
    }

    fn once(&self, of: Of, asked: Asked, limits: Limits) -> Result<Ran, TrialError> {
        let Self { at, project, trial, .. } = self;
        let nonce = nonce()?;
        let tests = project.tests.as_deref().unwrap_or(Path::new(""));
        // Pytest finds settings and modules from where it starts: the package, or the root for tests outside of
        // it.
        let (folder, inside) = match tests.strip_prefix(&project.package) {
            Ok(inside) if inside.as_os_str().is_empty() => (project.package.as_path(), Path::new(".")),
            Ok(inside) => (project.package.as_path(), inside),
            Err(_) => (Path::new(""), tests),
        };
        let source = trial.stub.as_deref().unwrap_or(&trial.program);
        let request = |copy: &Copy, purpose: Purpose| {
            let request = Request {
                root: &project.root,
                copy: copy.path(),
                kept: &copy.readable,
                tests: inside,
                only: asked.only,
                function: trial.entry_point.as_deref(),
                source: (tests == project.file).then_some(source),
                own: trial.stub.as_deref(),
                purpose,
                first: u8::from(asked.ends == Ends::FirstFailure),
                distribution: self.distribution.as_ref(),
            };
            let (program, nonce) = match purpose {
                Purpose::Worker => (&self.programs.worker, ""),
                _ => (&self.programs.tests, nonce.as_str()),
            };
            let line = serde_json::to_vec(&request).unwrap_or_default();
            [program, line.as_slice(), b"\n", nonce.as_bytes()].concat()
        };
        let complete = |copy: &Copy| {
            if let Some(distribution) = &self.distribution {
                distribution.write_version(copy, &project.package);
            }
        };
        let run = |copy: &Copy, purpose| {
            complete(copy);
            let job = programs::job(self.python, request(copy, purpose), limits);
            at.run_in(copy, folder, &self.python.readable, &[], job)
        };
        match of {
            // Where nothing is left out, nothing says that it was called.
            Of::Baseline(copy) if self.is_without_body => Ok((run(copy, Purpose::Baseline)?, None, nonce)),
            Of::Baseline(copy) | Of::Ending(copy) | Of::Candidate(copy) => {
                Ok((run(copy, Purpose::Candidate)?, None, nonce))
            }
            Of::Apart(tests, candidate) => {
                complete(tests);
                complete(candidate);
                let judge = programs::job(self.python, request(tests, Purpose::Judge), limits);
                let worker = programs::job(self.python, request(candidate, Purpose::Worker), limits);
                let (judge, worker) = at.run_both_in((tests, judge), (candidate, worker), folder)?;
                Ok((judge, Some(worker), nonce))
            }
        }
    }
}
