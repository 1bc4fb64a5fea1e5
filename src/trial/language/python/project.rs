//! Python in a project: its tests file or the examples of a docstring, run by pytest or unittest in a copy of
//! the project, each test reported by name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::sandbox::{Limits, Run};
use crate::trial::language::row::{Context, Copy, Project, Tool, Trial, TrialError, Verdict, decide, driver, nonce};
use crate::trial::project::cache::{self, Ends};

const DRIVER: &str = include_str!("project.py");

/// A body that says that it was called, and by which test. It raises there, and returns nothing while the
/// tests are loaded.
const WITHOUT_BODY: &str = "return __import__('_reached').called()";

#[derive(Serialize)]
struct Request<'a> {
    root: &'a Path,
    copy: &'a Path,
    /// What of the project is linked into the copy and read where it lies.
    kept: &'a [PathBuf],
    /// From where it starts.
    tests: &'a Path,
    function: Option<&'a str>,
    /// The text that holds the examples; `None` for a tests file.
    source: Option<&'a str>,
    /// Whether calls of a function without a body are counted.
    counts: bool,
    /// After how many failures the rest is left; 0: never.
    first: u8,
}

/// Runs a tests file of a project with the candidate in it. Where that is the candidate's own file, the tests
/// are the examples of its docstrings.
pub fn run(at: &Context, python: &Tool, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
    // Tools of a project write more than a function does, and start threads.
    let limits =
        Limits { file: trial.limits.file.max(64 << 20), processes: trial.limits.processes.max(128), ..trial.limits };
    let without = trial.with_body(WITHOUT_BODY);
    let runs = Runs { at, python, trial, project, counts: without.is_some() };
    let programs = (without.as_deref(), trial.program.as_str());
    let once = |copy: &Copy, ends, limits| runs.once(copy, ends, limits);
    let (evidence, limits) = cache::evidence(at.projects, project, programs, (limits, at.cancel), once)?;
    decide(&evidence, &limits)
}

struct Runs<'a> {
    at: &'a Context<'a>,
    python: &'a Tool,
    trial: &'a Trial,
    project: &'a Project,
    counts: bool,
}

impl Runs<'_> {
    fn once(&self, copy: &Copy, ends: Ends, limits: Limits) -> Result<(Run, String), TrialError> {
        let Self { project, trial, .. } = self;
        let nonce = nonce()?;
        let tests = project.tests.as_deref().unwrap_or(Path::new(""));
        // Pytest finds settings and modules from where it starts: the package, or the root for tests outside of
        // it.
        let (folder, inside) = match tests.strip_prefix(&project.package) {
            Ok(inside) => (project.package.as_path(), inside),
            Err(_) => (Path::new(""), tests),
        };
        let source = trial.stub.as_deref().unwrap_or(&trial.program);
        let request = Request {
            root: &project.root,
            copy: copy.path(),
            kept: &copy.readable,
            tests: inside,
            function: trial.entry_point.as_deref(),
            source: (tests == project.file).then_some(source),
            counts: self.counts,
            first: u8::from(ends == Ends::FirstFailure),
        };
        let mut request = serde_json::to_vec(&request).unwrap_or_default();
        request.push(b'\n');
        request.extend_from_slice(nonce.as_bytes());
        let arguments: Vec<OsString> = ["-s", "-B", "-X", "utf8", "-c", DRIVER].map(OsString::from).to_vec();
        let job = driver(&self.python.program, arguments, request, limits);
        Ok((self.at.run_in(copy, folder, &self.python.readable, &[], job)?, nonce))
    }
}
