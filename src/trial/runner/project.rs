//! Tests that run in a copy of the user's project, each reported by name and held against the unchanged project.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::super::interpreter::{Python, python_at};
use super::super::project::{Base, Copy, Project};
use super::super::{Assurance, Limits, Status, Trial, TrialError, Verdict};
use super::cargo::Workshop;
use super::names::{Baseline, read};
use super::{driver, nonce};
use crate::sandbox::{Job, Run, Sandbox};

const PYTHON: &str = include_str!("project/python.py");

/// The baseline of a project as it was when it was copied.
type Known = (Project, Arc<Base>, Arc<Baseline>);

/// Projects that were copied, with what is known of their tests.
#[derive(Debug, Default)]
pub struct Projects {
    bases: Mutex<HashMap<PathBuf, Arc<Base>>>,
    workshops: Mutex<HashMap<PathBuf, (Arc<Base>, Workshop)>>,
    baselines: Mutex<Vec<Known>>,
}

impl Projects {
    /// The copy of a project as it is now.
    pub fn base(&self, project: &Project) -> Result<Arc<Base>, TrialError> {
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = bases.get(&project.root).filter(|base| base.is_current()) {
            return Ok(Arc::clone(base));
        }
        let base = Arc::new(Base::new(&project.root).map_err(TrialError::Sandbox)?);
        bases.insert(project.root.clone(), Arc::clone(&base));
        Ok(base)
    }

    /// Calls `work` with the place where this project is built; one at a time.
    pub fn in_workshop<T>(
        &self,
        project: &Project,
        work: impl FnOnce(&Base, &Workshop) -> Result<T, TrialError>,
    ) -> Result<T, TrialError> {
        let base = self.base(project)?;
        let mut workshops = self.workshops.lock().unwrap_or_else(PoisonError::into_inner);
        if !workshops.get(&project.root).is_some_and(|(known, _)| Arc::ptr_eq(known, &base)) {
            workshops.insert(project.root.clone(), (Arc::clone(&base), Workshop::new(&base, project)?));
        }
        let (base, workshop) = &workshops[&project.root];
        work(base, workshop)
    }

    /// What the tests do on the unchanged project: found out once, by two runs. Of runs that were broken off nothing is kept.
    pub(super) fn baseline(
        &self,
        project: &Project,
        base: &Arc<Base>,
        cancel: &AtomicBool,
        mut try_one: impl FnMut(&Copy) -> Result<Option<super::names::Names>, TrialError>,
    ) -> Result<Arc<Baseline>, TrialError> {
        let mut known = self.baselines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., baseline)) = known.iter().find(|(p, b, _)| p == project && Arc::ptr_eq(b, base)) {
            return Ok(Arc::clone(baseline));
        }
        let mut once = || try_one(&base.copy(project, None).map_err(TrialError::Sandbox)?);
        let (first, second) = (once()?, once()?);
        let baseline = Arc::new(Baseline::of(first.as_ref(), second.as_ref()));
        if cancel.load(Ordering::Relaxed) {
            return Ok(baseline);
        }
        known.retain(|(p, ..)| p != project);
        known.push((project.clone(), Arc::clone(base), Arc::clone(&baseline)));
        Ok(baseline)
    }
}

#[derive(Serialize)]
struct Request<'a> {
    nonce: &'a str,
    tests: PathBuf,
}

/// Runs a Python project's tests with the candidate in it.
pub fn python(
    sandbox: &Sandbox,
    python: &Python,
    projects: &Projects,
    project: &Project,
    trial: &Trial,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let own = [".venv/bin/python", "venv/bin/python"].iter().map(|path| project.root.join(&project.package).join(path));
    let own = own.filter(|path| path.is_file()).find_map(|path| python_at(&path));
    let python = own.as_ref().unwrap_or(python);
    // Tools of a project write more than a function does.
    let limits = Limits { file: trial.limits.file.max(64 << 20), ..trial.limits };
    let base = projects.base(project)?;
    let one = |copy: &Copy| python_once(sandbox, python, project, copy, limits, cancel);
    let baseline = projects.baseline(project, &base, cancel, |copy| {
        let (run, nonce) = one(copy)?;
        Ok(read(&run.record, &nonce))
    })?;
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, nonce) = one(&copy)?;
    let verdict = baseline.verdict(&run, &nonce, &limits)?;
    Ok(guard(verdict, &base, project, &copy))
}

/// A candidate that changed the tests has not passed them.
pub fn guard(verdict: Verdict, base: &Base, project: &Project, copy: &Copy) -> Verdict {
    let verdict = Verdict { assurance: Assurance::Shared, ..verdict };
    match base.changed(project, copy) {
        Some(path) if verdict.status == Status::Passed => {
            let path = path.to_string_lossy();
            let message = format!("the code changed {}", crate::untrusted::clean_line(&path, 200));
            Verdict { status: Status::Tampered, message, ..verdict }
        }
        _ => verdict,
    }
}

fn python_once(
    sandbox: &Sandbox,
    python: &Python,
    project: &Project,
    copy: &Copy,
    limits: Limits,
    cancel: &AtomicBool,
) -> Result<(Run, String), TrialError> {
    let nonce = nonce()?;
    let folder = copy.path().join(&project.package);
    let tests = project.tests.clone().unwrap_or_default();
    // Pytest finds settings and modules from where it starts: the package, or the root for tests outside of it.
    let (folder, tests) = match tests.strip_prefix(&project.package) {
        Ok(inside) => (folder, inside.to_path_buf()),
        Err(_) => (copy.path().to_path_buf(), tests),
    };
    let request = serde_json::to_vec(&Request { nonce: &nonce, tests }).unwrap_or_default();
    let arguments: Vec<OsString> = ["-s", "-B", "-X", "utf8", "-c", PYTHON].map(OsString::from).to_vec();
    let readable: Vec<PathBuf> = python.readable.iter().chain(&copy.readable).cloned().collect();
    let writable = [copy.path().to_path_buf()];
    let job = Job {
        readable: &readable,
        writable: &writable,
        folder: Some(&folder),
        ..driver(&python.program, arguments, request, limits)
    };
    let run = sandbox.run(job, cancel).map_err(TrialError::Sandbox)?;
    Ok((run, nonce))
}

#[cfg(test)]
mod tests {
    use super::super::names::{Names, Outcome};
    use super::*;

    #[test]
    fn a_baseline_that_was_broken_off_is_found_out_again() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("pyproject.toml", ""), ("code.py", "x = 1\n"), ("test_code.py", "import code\n")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (file, tests) = (folder.path().join("code.py"), folder.path().join("test_code.py"));
        let project = Project::around(&file, Some(&tests)).unwrap();
        let projects = Projects::default();
        let base = projects.base(&project).unwrap();
        let found = |cancel: bool| {
            let mut runs = 0;
            let once = |_: &Copy| {
                runs += 1;
                let tests = vec![("works".to_owned(), Outcome::Passed, String::new())];
                Ok((!cancel).then(|| Names { nonce: "n".into(), tests, complaint: String::new() }))
            };
            let baseline = projects.baseline(&project, &base, &AtomicBool::new(cancel), once).unwrap();
            (runs, baseline.wanted.len())
        };
        assert_eq!(found(true), (2, 0));
        assert_eq!(found(false), (2, 1));
        assert_eq!(found(false), (0, 1));
    }
}
