//! Python in a project: its tests file, run by pytest or unittest in a copy of the project, each test
//! reported by name.

use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;

use super::RECIPE;
use crate::sandbox::{Limits, Run};
use crate::trial::language::row::{Context, Copy, Project, Tool, Trial, TrialError, Verdict, decide, driver, nonce};
use crate::trial::project::cache;

const DRIVER: &str = include_str!("project.py");

#[derive(Serialize)]
struct Request<'a> {
    nonce: &'a str,
    tests: &'a Path,
}

/// Runs a tests file of a project with the candidate in it.
pub fn run(at: &Context, python: &Tool, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
    let own = [".venv/bin/python", "venv/bin/python"].iter().map(|path| project.root.join(&project.package).join(path));
    let own = own.filter(|path| path.is_file()).find_map(|path| RECIPE.at(&path)?.ok());
    let python = own.as_ref().unwrap_or(python);
    // Tools of a project write more than a function does.
    let limits = Limits { file: trial.limits.file.max(64 << 20), ..trial.limits };
    let once = |copy: &Copy| once(at, python, project, copy, limits);
    decide(&cache::evidence(at.projects, project, &trial.program, at.cancel, once)?, &limits)
}

fn once(
    at: &Context,
    python: &Tool,
    project: &Project,
    copy: &Copy,
    limits: Limits,
) -> Result<(Run, String), TrialError> {
    let nonce = nonce()?;
    let tests = project.tests.as_deref().unwrap_or(Path::new(""));
    // Pytest finds settings and modules from where it starts: the package, or the root for tests outside of
    // it.
    let (folder, tests) = match tests.strip_prefix(&project.package) {
        Ok(inside) => (project.package.as_path(), inside),
        Err(_) => (Path::new(""), tests),
    };
    let request = serde_json::to_vec(&Request { nonce: &nonce, tests }).unwrap_or_default();
    let arguments: Vec<OsString> = ["-s", "-B", "-X", "utf8", "-c", DRIVER].map(OsString::from).to_vec();
    let job = driver(&python.program, arguments, request, limits);
    Ok((at.run_in(copy, folder, &python.readable, &[], job)?, nonce))
}
