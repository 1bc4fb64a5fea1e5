//! Projects that were copied, what their tests do without a candidate, and evidence held against that.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::baseline::Baseline;
use super::{Base, Copy, Project};
use crate::sandbox::Run;
use crate::trial::error::TrialError;
use crate::trial::evidence::{Evidence, Report, Reporter, TestEnd};
use crate::trial::judge::record::{Names, named};

/// The baseline of a project as it was when it was copied.
type Known = (Project, Arc<Base>, Arc<Baseline>);

/// Projects that were copied, with what is known of their tests.
#[derive(Debug, Default)]
pub struct Projects {
    bases: Mutex<HashMap<PathBuf, Arc<Base>>>,
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

    /// What the tests do on the unchanged project: found out once, by two runs. Of runs that were broken off
    /// nothing is kept.
    pub fn baseline(
        &self,
        project: &Project,
        base: &Arc<Base>,
        cancel: &AtomicBool,
        mut try_one: impl FnMut(&Copy) -> Result<Option<Vec<TestEnd>>, TrialError>,
    ) -> Result<Arc<Baseline>, TrialError> {
        let mut known = self.baselines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., baseline)) = known.iter().find(|(p, b, _)| p == project && Arc::ptr_eq(b, base)) {
            return Ok(Arc::clone(baseline));
        }
        let mut once = || try_one(&base.copy(project, None).map_err(TrialError::Sandbox)?);
        let (first, second) = (once()?, once()?);
        let baseline = Arc::new(Baseline::of(first.as_deref(), second.as_deref()));
        if cancel.load(Ordering::Relaxed) {
            return Ok(baseline);
        }
        known.retain(|(p, ..)| p != project);
        known.push((project.clone(), Arc::clone(base), Arc::clone(&baseline)));
        Ok(baseline)
    }
}

/// What both runs on the unchanged project and that with a candidate leave behind, of tests that a runner
/// reports by name.
pub fn evidence(
    projects: &Projects,
    project: &Project,
    program: &str,
    cancel: &AtomicBool,
    once: impl Fn(&Copy) -> Result<(Run, String), TrialError>,
) -> Result<Evidence, TrialError> {
    let base = projects.base(project)?;
    let baseline = projects.baseline(project, &base, cancel, |copy| {
        let (run, nonce) = once(copy)?;
        Ok(named(&run.record, &nonce).ok().map(|names| names.tests))
    })?;
    let copy = base.copy(project, Some(program)).map_err(TrialError::Sandbox)?;
    let (run, nonce) = once(&copy)?;
    let (report, complaint) = match named(&run.record, &nonce) {
        Ok(Names { tests, complaint, .. }) => {
            (Report::Tests { by: Reporter::Runner, tests, is_whole: true }, complaint)
        }
        Err(unread) => (unread, String::new()),
    };
    Ok(Evidence {
        complaint: Some(complaint).filter(|complaint| !complaint.is_empty()),
        wanted: baseline.wanted.clone(),
        flaky: baseline.flaky.clone(),
        remark: baseline.remark(),
        changed: base.changed(project, &copy),
        ..Evidence::of(run, report)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::evidence::Outcome;

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
                Ok((!cancel).then(|| vec![TestEnd::new("works", Outcome::Passed)]))
            };
            let baseline = projects.baseline(&project, &base, &AtomicBool::new(cancel), once).unwrap();
            (runs, baseline.wanted.len())
        };
        assert_eq!(found(true), (2, 0));
        assert_eq!(found(false), (2, 1));
        assert_eq!(found(false), (0, 1));
    }
}
