//! Copied projects, and the baselines of their tests.
//!
//! Baselines are also cached on disk, if a folder is given. The next start of the program then begins with
//! the candidate.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::baseline::{Baseline, Seen};
use super::baseline_cache::BaselineCache;
use super::{Base, Copy, Project};
use crate::trial::error::TrialError;
use crate::trial::evidence::TestEnd;
use crate::trial::judge::record::Names;

/// The baseline of a project in its state when it was copied, for the program in place of the candidate.
#[derive(Debug)]
struct CachedProject {
    project: Project,
    base: Arc<Base>,
    without: Option<String>,
    runs: Vec<Seen>,
    baseline: Arc<Baseline>,
}

/// Copied projects, with the baselines of their tests.
#[derive(Debug, Default)]
pub struct Projects {
    bases: Mutex<HashMap<PathBuf, Arc<Base>>>,
    baselines: Mutex<Vec<CachedProject>>,
    /// Limits that tests hit without a candidate, so that not every candidate waits for them.
    pub(super) hit: Remembered<String>,
    /// Answers to questions for which tests were run without a candidate, such as whether they ever call the
    /// function.
    pub answers: Remembered<bool>,
}

/// Results of runs, by a hash of what was run.
#[derive(Debug)]
pub struct Remembered<T>(Mutex<HashMap<u64, T>>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Remembered<T> {
    pub fn get(&self, key: u64) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    pub fn put(&self, key: u64, answer: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, answer);
    }
}

impl Projects {
    /// The copy of a project in its current state.
    pub fn base(&self, project: &Project) -> Result<Arc<Base>, TrialError> {
        if let Some(lone) = &project.lone {
            return lone.base().map_err(TrialError::Sandbox);
        }
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(base) = bases.get(&project.root).filter(|base| base.is_current()) {
            return Ok(Arc::clone(base));
        }
        let base = Arc::new(Base::new(&project.root).map_err(TrialError::Sandbox)?);
        bases.insert(project.root.clone(), Arc::clone(&base));
        Ok(base)
    }

    /// The baseline on the unchanged project, found once by so many runs. Cancelled runs are not cached.
    pub fn baseline(
        &self,
        project: &Project,
        base: &Arc<Base>,
        times: usize,
        (cache, cancel): (Option<&BaselineCache>, &AtomicBool),
        mut try_one: impl FnMut(&Copy) -> Result<Option<(Vec<TestEnd>, Duration)>, TrialError>,
    ) -> Result<Arc<Baseline>, TrialError> {
        self.known(project, base, (None, times), (cache, cancel), Baseline::of_runs, || {
            let tests = try_one(&base.copy(project, None).map_err(TrialError::Sandbox)?)?;
            Ok(tests.map(|(tests, elapsed)| (Names { tests, ..Names::default() }, elapsed)))
        })
    }

    /// The baseline from so many runs of the tests with a program in place of the candidate.
    pub(super) fn known(
        &self,
        project: &Project,
        base: &Arc<Base>,
        (without, times): (Option<&str>, usize),
        (cache, cancel): (Option<&BaselineCache>, &AtomicBool),
        of: fn(&[Seen]) -> Baseline,
        mut run: impl FnMut() -> Result<Seen, TrialError>,
    ) -> Result<Arc<Baseline>, TrialError> {
        let mut all = self.baselines.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &CachedProject| {
            known.project == *project && known.without.as_deref() == without && Arc::ptr_eq(&known.base, base)
        };
        let found = all.iter().find(|known| is_it(known));
        let mut runs = found.map(|known| known.runs.clone()).unwrap_or_default();
        if let Some(known) = found.filter(|known| known.runs.len() >= times) {
            return Ok(Arc::clone(&known.baseline));
        }
        // The folder of a lone file is another one each time.
        let cache = cache.filter(|_| project.lone.is_none()).map(|cache| cache.file(project, base, without));
        if let Some(place) = cache.as_ref().filter(|_| runs.is_empty()) {
            runs = place.runs();
        }
        let before = runs.len();
        while runs.len() < times {
            runs.push(run()?);
        }
        let baseline = Arc::new(of(&runs));
        if cancel.load(Ordering::Relaxed) {
            return Ok(baseline);
        }
        if let Some(place) = cache.filter(|_| before < runs.len()) {
            place.keep_runs(&runs);
        }
        all.retain(|known| known.project != *project && known.project.root.exists());
        let (project, base, without) = (project.clone(), Arc::clone(base), without.map(str::to_owned));
        all.push(CachedProject { project, base, without, runs, baseline: Arc::clone(&baseline) });
        Ok(baseline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::evidence::Outcome;
    use crate::trial::project::sample;

    #[test]
    fn a_baseline_that_was_broken_off_is_found_out_again() {
        let folder = tempfile::tempdir().unwrap();
        let project = sample(folder.path());
        let projects = Projects::default();
        let base = projects.base(&project).unwrap();
        let found = |cancel: bool| {
            let mut runs = 0;
            let once = |_: &Copy| {
                runs += 1;
                Ok((!cancel).then(|| (vec![TestEnd::new("works", Outcome::Passed)], Duration::ZERO)))
            };
            let baseline = projects.baseline(&project, &base, 2, (None, &AtomicBool::new(cancel)), once).unwrap();
            (runs, baseline.wanted.len())
        };
        assert_eq!(found(true), (2, 0));
        assert_eq!(found(false), (2, 1));
        assert_eq!(found(false), (0, 1));
    }

    #[test]
    fn the_next_start_of_the_program_knows_what_the_tests_do() {
        let folder = tempfile::tempdir().unwrap();
        let project = sample(&folder.path().join("project"));
        let cache =
            BaselineCache { folder: folder.path().join("cache"), setting: vec![], packages: vec![], inner: vec![] };
        let never = AtomicBool::new(false);
        let start = |times: usize| {
            let projects = Projects::default();
            let base = projects.base(&project).unwrap();
            let mut runs = 0;
            let of = Baseline::of_runs_without;
            let baseline =
                projects.known(&project, &base, (Some("without"), times), (Some(&cache), &never), of, || {
                    runs += 1;
                    let tests = vec![TestEnd::new("works", Outcome::Failed)];
                    Ok(Some((Names { tests, ..Names::default() }, Duration::from_secs(1))))
                });
            (runs, baseline.unwrap().wanted.len())
        };
        assert_eq!([start(1), start(1), start(2), start(2)], [(1, 1), (0, 1), (1, 1), (0, 1)]);
    }
}
