//! Python: calls of the function in a copy of the project, one process for each candidate.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::installed::Distribution;
use super::programs;
use crate::trial::language::row::{Context, Input, Observed, Project, Tool, Trial, TrialError, observe};

#[derive(Serialize)]
struct Request<'a> {
    root: &'a Path,
    copy: &'a Path,
    kept: &'a [PathBuf],
    lone: bool,
    distribution: Option<&'a Distribution>,
    /// The file with the candidate, in the copy.
    file: &'a Path,
    inputs: &'a [Input],
}

/// See [`crate::trial::language::TrialLanguage::observe`].
pub fn run(
    at: &Context,
    (python, observer): (&Tool, &[u8]),
    trial: &Trial,
    project: &Project,
    inputs: &[Input],
) -> Result<Vec<Observed>, TrialError> {
    let base = at.projects.base(project)?;
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let distribution = Distribution::of(&project.root.join(&project.package)).filter(|_| project.lone.is_none());
    if let Some(distribution) = &distribution {
        distribution.write_version(&copy, &project.package);
    }
    let file = copy.path().join(&project.file);
    observe(inputs, trial.limits, |inputs, limits| {
        let request = Request {
            root: &project.root,
            copy: copy.path(),
            kept: &copy.readable,
            lone: project.lone.is_some(),
            distribution: distribution.as_ref(),
            file: &file,
            inputs,
        };
        let job = programs::job(python, [observer, &programs::sized(&request)].concat(), limits);
        at.run_in(&copy, &project.package, &python.readable, &[], job)
    })
}
