//! Projects that were copied, what their tests do without a candidate, and evidence held against that.
//!
//! What tests do without a candidate is kept on disk, too, where there is a folder for it: the next start of
//! the program then begins with the candidate.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::baseline::{Baseline, Seen};
use super::kept::Kept;
use super::{Base, Copy, Project};
use crate::hash;
use crate::sandbox::{Limits, Run};
use crate::trial::error::TrialError;
use crate::trial::evidence::{Evidence, Outcome, Record, Report, Reporter, Said, TestEnd};
use crate::trial::judge::record::{Names, named};
use crate::trial::verdict::{limit, raised_by};

/// The baseline of a project as it was when it was copied, of the program that stood in for the candidate.
#[derive(Debug)]
struct Known {
    project: Project,
    base: Arc<Base>,
    without: Option<String>,
    runs: Vec<Seen>,
    baseline: Arc<Baseline>,
}

/// Projects that were copied, with what is known of their tests.
#[derive(Debug, Default)]
pub struct Projects {
    bases: Mutex<HashMap<PathBuf, Arc<Base>>>,
    baselines: Mutex<Vec<Known>>,
    /// Limits that tests hit without a candidate, so that not every candidate waits for them: the project, a
    /// hash of what was run, and the sentence.
    hit: Mutex<Vec<(Weak<Base>, u64, String)>>,
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

    /// What the tests do on the unchanged project: found out once, by so many runs. Of runs that were broken
    /// off nothing is kept.
    pub fn baseline(
        &self,
        project: &Project,
        base: &Arc<Base>,
        times: usize,
        (kept, cancel): (Option<&Kept>, &AtomicBool),
        mut try_one: impl FnMut(&Copy) -> Result<Option<Vec<TestEnd>>, TrialError>,
    ) -> Result<Arc<Baseline>, TrialError> {
        self.known(project, base, (None, times), (kept, cancel), Baseline::of_runs, || {
            let tests = try_one(&base.copy(project, None).map_err(TrialError::Sandbox)?)?;
            Ok(tests.map(|tests| (Names { tests, ..Names::default() }, Duration::ZERO)))
        })
    }

    /// What is known from so many runs of the tests with a program in place of the candidate.
    fn known(
        &self,
        project: &Project,
        base: &Arc<Base>,
        (without, times): (Option<&str>, usize),
        (kept, cancel): (Option<&Kept>, &AtomicBool),
        of: fn(&[Seen]) -> Baseline,
        mut run: impl FnMut() -> Result<Seen, TrialError>,
    ) -> Result<Arc<Baseline>, TrialError> {
        let mut all = self.baselines.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &Known| {
            known.project == *project && known.without.as_deref() == without && Arc::ptr_eq(&known.base, base)
        };
        let found = all.iter().find(|known| is_it(known));
        let mut runs = found.map(|known| known.runs.clone()).unwrap_or_default();
        if let Some(known) = found.filter(|known| known.runs.len() >= times) {
            return Ok(Arc::clone(&known.baseline));
        }
        let kept = kept.map(|kept| kept.place(project, base, without));
        if let Some(place) = kept.as_ref().filter(|_| runs.is_empty()) {
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
        if let Some(place) = kept.filter(|_| before < runs.len()) {
            place.keep_runs(&runs);
        }
        all.retain(|known| known.project != *project);
        let (project, base, without) = (project.clone(), Arc::clone(base), without.map(str::to_owned));
        all.push(Known { project, base, without, runs, baseline: Arc::clone(&baseline) });
        Ok(baseline)
    }
}

/// How many times the limit tests may take without a candidate. One is then given three times what they took.
pub const PATIENCE: u32 = 12;

/// The same of tests that were found, where there are others to try.
pub const PATIENCE_WITH_OTHERS: u32 = 6;

/// The same of all tests of a project, of which few may be about the function.
const PATIENCE_WITH_ALL: u32 = 2;

/// When a run of tests ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// With the last test.
    LastTest,
    /// With the first failure, where the runner can do that.
    FirstFailure,
}

/// What is asked of a run of tests.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The tests that are run; all if there are none.
    pub only: &'a [String],
    /// When it ends.
    pub ends: Ends,
}

/// What a run of tests is about.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    /// The project without the candidate.
    Baseline(&'a Copy),
    /// The candidate, in the process of the tests.
    Candidate(&'a Copy),
    /// The candidate in a process of its own, in the second copy; the first is that of the tests, without it.
    Apart(&'a Copy, &'a Copy),
}

impl<'a> Of<'a> {
    /// The copy that the tests run in.
    pub fn copy(self) -> &'a Copy {
        match self {
            Self::Baseline(copy) | Self::Candidate(copy) | Self::Apart(copy, _) => copy,
        }
    }
}

/// What bounds the runs of a project's tests.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The limits of a candidate.
    pub limits: Limits,
    /// How many times its time the tests may take without it.
    pub patience: u32,
    /// Where what is known of the tests is kept.
    pub kept: Option<&'a Kept>,
    /// Ends the trial.
    pub cancel: &'a AtomicBool,
}

/// What one run left behind: the process of the tests, that of the code where it is another one, and the
/// nonce.
pub type Ran = (Run, Option<Run>, String);

/// The report of a run. In all texts the folder of its copy, another one each time, reads as that of the
/// project.
fn told(run: &Run, nonce: &str, copy: &Copy, project: &Project) -> Result<Names, Report> {
    let mut names = named(&run.record, nonce)?;
    let (here, there) = (copy.path().to_string_lossy(), project.root.to_string_lossy());
    let of_tests = names.tests.iter_mut().flat_map(|test| [&mut test.name, &mut test.why]);
    let all = of_tests.chain(names.reached.iter_mut().flatten()).chain([&mut names.complaint]);
    for text in all.filter(|text| text.contains(&*here)) {
        *text = text.replace(&*here, &there);
    }
    Ok(names)
}

/// What a run without the candidate and one with it leave behind, of tests that a runner reports by name, and
/// the limits that the candidate had; `None` where the run without it shows that no test calls the function.
/// `without` is the program with a function that has no body; `None`: the project as it is. Whether a test is
/// flaky is looked at only when one has failed. Of all tests of a project those are asked that call the
/// function.
///
/// The code is in a process of its own where the run without it shows that it can be, and nothing that the
/// tests pass to it later cannot be carried there; else the remark says why it is not.
pub fn evidence(
    projects: &Projects,
    project: &Project,
    (without, program): (Option<&str>, &str),
    Bounds { limits, patience, kept, cancel }: Bounds,
    once: impl Fn(Of, Asked, Limits) -> Result<Ran, TrialError>,
) -> Result<Option<(Evidence, Limits)>, TrialError> {
    let base = projects.base(project)?;
    let baseline = |times: usize| {
        projects.known(project, &base, (without, times), (kept, cancel), Baseline::of_runs_without, || {
            let patience = if project.is_suite() { PATIENCE_WITH_ALL } else { patience };
            let long = Limits { wall: limits.wall * patience, ..limits };
            let key = hash::of(format!("{project:?} {without:?} {:?}", long.wall).as_bytes());
            let known = Arc::downgrade(&base);
            let hits = || projects.hit.lock().unwrap_or_else(PoisonError::into_inner);
            let is_it = |(base, of, _): &&(Weak<Base>, u64, String)| base.ptr_eq(&known) && *of == key;
            if let Some((_, _, hit)) = hits().iter().find(is_it) {
                return Err(TrialError::Limit(hit.clone()));
            }
            let copy = base.copy(project, without).map_err(TrialError::Sandbox)?;
            let asked = Asked { only: &project.only, ends: Ends::LastTest };
            let (run, _, nonce) = once(Of::Baseline(&copy), asked, long)?;
            if let Some((_, hit)) = limit(run.ended, &long) {
                let flag = raised_by(run.ended).map(|flag| format!("; raise it with {flag}"));
                let hit = hit + &flag.unwrap_or_default();
                hits().push((known, key, hit.clone()));
                return Err(TrialError::Limit(hit));
            }
            Ok(told(&run, &nonce, &copy, project).ok().map(|names| (names, run.elapsed)))
        })
    };
    let baseline = |times: usize| {
        let known = baseline(times)?;
        Ok::<_, TrialError>(if project.is_suite() { Arc::new(known.of_callers()) } else { known })
    };
    let mut known = baseline(1)?;
    if known.is_idle || (project.is_suite() && known.wanted.is_empty() && !known.reached.is_empty()) {
        return Ok(None);
    }
    let in_place = |program: Option<&str>| base.copy(project, program).map_err(TrialError::Sandbox);
    let try_candidate = |known: &Baseline| {
        let candidate = in_place(Some(program))?;
        // A failure that says nothing must not hide those behind it.
        let ends = if known.left_out().is_empty() { Ends::FirstFailure } else { Ends::LastTest };
        let asked = Asked { only: if project.is_suite() { &known.wanted } else { &project.only }, ends };
        let wall = limits.wall.max(known.elapsed * 3);
        let limits = Limits { wall, ..limits };
        let mut reason = known.apart.as_ref().and_then(|apart| apart.reason.clone());
        if known.apart.is_some() && reason.is_none() {
            let judge = in_place(without)?;
            let (run, worker, nonce) = once(Of::Apart(&judge, &candidate), asked, limits)?;
            let names = told(&run, &nonce, &judge, project);
            match &names {
                Ok(Names { end: Some((Said::Shared, why)), .. }) => reason = Some(why.clone()),
                _ => return Ok(Tried { copy: judge, run, worker, names, limits, reason }),
            }
        }
        let (run, worker, nonce) = once(Of::Candidate(&candidate), asked, limits)?;
        let names = told(&run, &nonce, &candidate, project);
        Ok(Tried { copy: candidate, run, worker, names, limits, reason })
    };
    let mut tried = try_candidate(&known)?;
    let is_doubtful = |test: &TestEnd| {
        test.outcome == Outcome::Failed && !known.reached.contains(&test.name) && !known.broken.contains(&test.name)
    };
    // A test that is called otherwise each time, after the clock or by chance, is missing. The first failure
    // ends the others.
    let is_missing = |tests: &[TestEnd]| {
        tests.iter().all(|test| test.outcome != Outcome::Failed)
            && known.wanted.iter().any(|wanted| tests.iter().all(|test| test.name != *wanted))
    };
    let is_unclear = |names: &Names| names.tests.iter().any(is_doubtful) || is_missing(&names.tests);
    if tried.names.as_ref().is_ok_and(is_unclear) {
        let before = known.left_out().len();
        known = baseline(2)?;
        if before == 0 && !known.left_out().is_empty() {
            tried = try_candidate(&known)?;
        }
    }
    let Tried { copy, run, worker, names, limits, reason } = tried;
    let replaced =
        names.as_ref().ok().and_then(|names| names.changed.iter().find(|part| !known.changed.contains(part)));
    let changed = base.changed(project, &copy).or_else(|| replaced.cloned());
    let (report, complaint) = match names {
        // What ended the tests for good is the judge's word on all of them.
        Ok(Names { nonce, end: Some((status, message)), .. }) => {
            (Report::Judge(Record { nonce, status, checks: 0, message }), String::new())
        }
        Ok(Names { tests, complaint, .. }) => {
            (Report::Tests { by: Reporter::Runner, tests, is_whole: true }, complaint)
        }
        Err(unread) => (unread, String::new()),
    };
    let shared = reason.map(|reason| format!("tests and code shared one interpreter: {reason}"));
    let remarks: Vec<String> = [known.remark()].into_iter().filter(|remark| !remark.is_empty()).chain(shared).collect();
    let evidence = Evidence {
        complaint: Some(complaint).filter(|complaint| !complaint.is_empty()),
        wanted: known.wanted.clone(),
        flaky: known.left_out(),
        remark: remarks.join("; "),
        worker,
        changed,
        is_own: base.read(&project.file).is_ok_and(|own| own == program),
        notices: known.notices,
        ..Evidence::of(run, report)
    };
    Ok(Some((evidence, limits)))
}

/// A run of the tests on a candidate.
struct Tried {
    copy: Copy,
    run: Run,
    worker: Option<Run>,
    names: Result<Names, Report>,
    limits: Limits,
    /// Why the code was in the process of the tests, where that could be otherwise.
    reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Ended;

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
            let baseline = projects.baseline(&project, &base, 2, (None, &AtomicBool::new(cancel)), once).unwrap();
            (runs, baseline.wanted.len())
        };
        assert_eq!(found(true), (2, 0));
        assert_eq!(found(false), (2, 1));
        assert_eq!(found(false), (0, 1));
    }

    #[test]
    fn a_limit_that_is_hit_without_a_candidate_is_waited_for_once() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("pyproject.toml", ""), ("code.py", "x = 1\n"), ("test_code.py", "import code\n")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (file, tests) = (folder.path().join("code.py"), folder.path().join("test_code.py"));
        let project = Project::around(&file, Some(&tests)).unwrap();
        let (projects, runs, cancel) = (Projects::default(), std::cell::Cell::new(0), AtomicBool::new(false));
        let once = |_: Of, _: Asked, limits: Limits| {
            runs.set(runs.get() + 1);
            let (record, output, elapsed) = (Vec::new(), String::new(), limits.wall);
            Ok((Run { ended: Ended::WallLimit, has_started: true, record, output, elapsed }, None, String::new()))
        };
        let hit = |seconds: u64| {
            let limits = Limits { wall: Duration::from_secs(seconds), ..Limits::default() };
            let bounds = Bounds { limits, patience: 2, kept: None, cancel: &cancel };
            let error = evidence(&projects, &project, (Some("without"), "x = 2\n"), bounds, once).unwrap_err();
            (runs.get(), error.to_string().contains(&format!("no result after {} s", 2 * seconds)))
        };
        assert_eq!([hit(1), hit(1), hit(2)], [(1, true), (1, true), (2, true)]);
        std::fs::write(&tests, "# quicker\n").unwrap();
        assert_eq!(hit(2), (3, true));
    }

    #[test]
    fn the_next_start_of_the_program_knows_what_the_tests_do() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir(&root).unwrap();
        for (name, text) in [("pyproject.toml", ""), ("code.py", "x = 1\n"), ("test_code.py", "import code\n")] {
            std::fs::write(root.join(name), text).unwrap();
        }
        let project = Project::around(&root.join("code.py"), Some(&root.join("test_code.py"))).unwrap();
        let kept = Kept { folder: folder.path().join("kept"), setting: vec![], packages: vec![], inner: vec![] };
        let never = AtomicBool::new(false);
        let start = |times: usize| {
            let projects = Projects::default();
            let base = projects.base(&project).unwrap();
            let mut runs = 0;
            let of = Baseline::of_runs_without;
            let baseline = projects.known(&project, &base, (Some("without"), times), (Some(&kept), &never), of, || {
                runs += 1;
                let tests = vec![TestEnd::new("works", Outcome::Failed)];
                Ok(Some((Names { tests, ..Names::default() }, Duration::from_secs(1))))
            });
            (runs, baseline.unwrap().wanted.len())
        };
        assert_eq!([start(1), start(1), start(2), start(2)], [(1, 1), (0, 1), (1, 1), (0, 1)]);
    }
}
