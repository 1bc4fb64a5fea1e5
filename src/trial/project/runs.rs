//! Runs of a project's tests: without the candidate, with it, and what that is evidence of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::baseline::Baseline;
use super::cache::Projects;
use super::kept::Kept;
use super::{Base, Copy, Project};
use crate::hash;
use crate::sandbox::{Limits, Run};
use crate::trial::error::TrialError;
use crate::trial::evidence::{Evidence, Outcome, Record, Report, Reporter, Said, TestEnd};
use crate::trial::judge::record::{Names, named};
use crate::trial::verdict::{limit, raised_by};

/// How many times the limit tests may take without a candidate. One is then given three times what they took.
pub const PATIENCE: u32 = 12;

/// The same of tests that were found, where there are others to try.
pub const PATIENCE_WITH_OTHERS: u32 = 6;

/// The same of all tests of a project, of which few may be about the function.
const PATIENCE_WITH_ALL: u32 = 2;

/// So many tests do not fail for reasons of their own.
const MOST_FOREIGN: usize = 100;

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
    /// The same with a function that ends the process: no test may run but those that are asked for.
    Ending(&'a Copy),
    /// The candidate, in the process of the tests.
    Candidate(&'a Copy),
    /// The candidate in a process of its own, in the second copy; the first is that of the tests, without it.
    Apart(&'a Copy, &'a Copy),
}

impl<'a> Of<'a> {
    /// The copy that the tests run in.
    pub fn copy(self) -> &'a Copy {
        match self {
            Self::Baseline(copy) | Self::Ending(copy) | Self::Candidate(copy) | Self::Apart(copy, _) => copy,
        }
    }
}

/// The programs that tests are run with.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'a> {
    /// With a function that has no body; `None`: the project as it is.
    pub without: Option<&'a str>,
    /// With one that ends the process, and one that returns what nobody expects, for tests that do not count
    /// its calls.
    pub telling: Option<[&'a str; 2]>,
    pub candidate: &'a str,
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
/// Whether a test is flaky is looked at only when one has failed. Of all tests of a project those are asked that
/// call the function. Where calls are not counted, tests that fail as they do without the candidate are run with
/// a function that ends the process, and with one that returns what nobody expects: those that end as before both
/// times are about something else.
///
/// The code is in a process of its own where the run without it shows that it can be, and nothing that the
/// tests pass to it later cannot be carried there; else the remark says why it is not.
pub fn evidence(
    projects: &Projects,
    project: &Project,
    programs: Programs,
    bounds: Bounds,
    once: impl Fn(Of, Asked, Limits) -> Result<Ran, TrialError>,
) -> Result<Option<(Evidence, Limits)>, TrialError> {
    Runs { base: projects.base(project)?, projects, project, programs, bounds, once }.evidence()
}

struct Runs<'a, F> {
    projects: &'a Projects,
    project: &'a Project,
    base: Arc<Base>,
    programs: Programs<'a>,
    bounds: Bounds<'a>,
    /// Runs the tests.
    once: F,
}

impl<F: Fn(Of, Asked, Limits) -> Result<Ran, TrialError>> Runs<'_, F> {
    fn evidence(&self) -> Result<Option<(Evidence, Limits)>, TrialError> {
        let Self { project, base, programs, .. } = self;
        let mut known = self.baseline(1)?;
        if known.is_idle || (project.is_suite() && known.wanted.is_empty() && !known.reached.is_empty()) {
            return Ok(None);
        }
        let mut tried = self.try_candidate(&known)?;
        known = self.set_aside(known, &tried)?;
        if tried.is_unclear(&known) {
            let before = known.left_out().len();
            known = self.baseline(2)?;
            if before == 0 && !known.left_out().is_empty() {
                tried = self.try_candidate(&known)?;
            }
            known = self.set_aside(known, &tried)?;
            known = Arc::new(known.with_counted(&tried.fail_otherwise(&known)));
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
        let remarks: Vec<String> =
            [known.remark()].into_iter().filter(|remark| !remark.is_empty()).chain(shared).collect();
        let evidence = Evidence {
            complaint: Some(complaint).filter(|complaint| !complaint.is_empty()),
            wanted: known.wanted.clone(),
            flaky: known.left_out(),
            remark: remarks.join("; "),
            worker,
            changed,
            is_own: base.read(&project.file).is_ok_and(|own| own == programs.candidate),
            notices: known.notices,
            ..Evidence::of(run, report)
        };
        Ok(Some((evidence, limits)))
    }

    /// What so many runs without the candidate show.
    fn baseline(&self, times: usize) -> Result<Arc<Baseline>, TrialError> {
        let Self { projects, project, base, programs, bounds, .. } = self;
        let Bounds { limits, patience, kept, cancel } = *bounds;
        let run = || {
            let patience = if project.is_suite() { PATIENCE_WITH_ALL } else { patience };
            let long = Limits { wall: limits.wall * patience, ..limits };
            let key = hash::of(format!("{project:?} {:?} {:?}", programs.without, long.wall).as_bytes());
            if let Some(hit) = projects.hit.get(base, key) {
                return Err(TrialError::Limit(hit));
            }
            let copy = self.copy(programs.without)?;
            let asked = Asked { only: &project.only, ends: Ends::LastTest };
            let (run, _, nonce) = (self.once)(Of::Baseline(&copy), asked, long)?;
            if let Some((_, hit)) = limit(run.ended, &long) {
                let flag = raised_by(run.ended).map(|flag| format!("; raise it with {flag}"));
                let hit = hit + &flag.unwrap_or_default();
                projects.hit.put(base, key, hit.clone());
                return Err(TrialError::Limit(hit));
            }
            Ok(told(&run, &nonce, &copy, project).ok().map(|names| (names, run.elapsed)))
        };
        let of = Baseline::of_runs_without;
        let known = projects.known(project, base, (programs.without, times), (kept, cancel), of, run)?;
        Ok(if project.is_suite() { Arc::new(known.of_callers()) } else { known })
    }

    fn copy(&self, program: Option<&str>) -> Result<Copy, TrialError> {
        self.base.copy(self.project, program).map_err(TrialError::Sandbox)
    }

    fn try_candidate(&self, known: &Baseline) -> Result<Tried, TrialError> {
        let Self { project, programs, once, .. } = self;
        let limits = self.bounds.limits;
        let candidate = self.copy(Some(programs.candidate))?;
        // A failure that says nothing must not hide those behind it.
        let ends = if known.left_out().is_empty() { Ends::FirstFailure } else { Ends::LastTest };
        let asked = Asked { only: if project.is_suite() { &known.wanted } else { &project.only }, ends };
        let wall = limits.wall.max(known.elapsed * 3);
        let limits = Limits { wall, ..limits };
        let mut reason = known.apart.as_ref().and_then(|apart| apart.reason.clone());
        if known.apart.is_some() && reason.is_none() {
            let judge = self.copy(programs.without)?;
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
    }

    /// The baseline, in which tests are broken that failed of the candidate as they do without it, and never call
    /// the function.
    fn set_aside(&self, known: Arc<Baseline>, tried: &Tried) -> Result<Arc<Baseline>, TrialError> {
        let (Ok(names), Some(programs)) = (&tried.names, self.programs.telling) else { return Ok(known) };
        let fails_so = |test: &&TestEnd| {
            test.outcome == Outcome::Failed
                && known.failed.get(&test.name) == Some(&test.why)
                && known.wanted.contains(&test.name)
        };
        let same: Vec<String> = names.tests.iter().filter(fails_so).map(|test| test.name.clone()).collect();
        // What is run without a candidate fails as without it.
        if same.len() > MOST_FOREIGN || self.programs.without == Some(self.programs.candidate) {
            return Ok(known);
        }
        let is_foreign = !same.is_empty() && self.never_call(programs, &same, &known)?;
        Ok(if is_foreign { Arc::new(known.with_broken(&same)) } else { known })
    }

    /// Whether tests fail as before where a call of the function ends all, and where it returns something else.
    fn never_call(&self, programs: [&str; 2], tests: &[String], known: &Baseline) -> Result<bool, TrialError> {
        let Self { projects, project, base, bounds, .. } = self;
        let key = hash::of(format!("{project:?} {programs:?} {tests:?}").as_bytes());
        if let Some(answer) = projects.uncalled.get(base, key) {
            return Ok(answer);
        }
        let limits = Limits { wall: bounds.limits.wall.max(known.elapsed * 3), ..bounds.limits };
        let ends_so = |name: &String, test: &TestEnd| test.name == *name && known.failed.get(name) == Some(&test.why);
        let mut answer = true;
        for (program, is_ending) in programs.into_iter().zip([true, false]) {
            let copy = self.copy(Some(program))?;
            let (of, only) =
                if is_ending { (Of::Ending(&copy), tests) } else { (Of::Baseline(&copy), &project.only[..]) };
            let (run, _, nonce) = (self.once)(of, Asked { only, ends: Ends::LastTest }, limits)?;
            answer = told(&run, &nonce, &copy, project)
                .is_ok_and(|told| tests.iter().all(|name| told.tests.iter().any(|test| ends_so(name, test))));
            if !answer {
                break;
            }
        }
        if !bounds.cancel.load(Ordering::Relaxed) {
            projects.uncalled.put(base, key, answer);
        }
        Ok(answer)
    }
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

impl Tried {
    /// Whether a test failed that nobody saw call the function, or otherwise than without it, or one is missing.
    fn is_unclear(&self, known: &Baseline) -> bool {
        let Ok(names) = &self.names else { return false };
        let is_doubtful = |test: &TestEnd| {
            test.outcome == Outcome::Failed && !known.reached.contains(&test.name) && !known.broken.contains(&test.name)
        };
        // A test that is called otherwise each time, after the clock or by chance, is missing. The first failure
        // ends the others.
        let is_missing = |tests: &[TestEnd]| {
            tests.iter().all(|test| test.outcome != Outcome::Failed)
                && known.wanted.iter().any(|wanted| tests.iter().all(|test| test.name != *wanted))
        };
        names.tests.iter().any(is_doubtful) || is_missing(&names.tests) || !self.fail_otherwise(known).is_empty()
    }

    /// The tests that never call the function, and fail otherwise than without the candidate: they look at what
    /// others have left.
    fn fail_otherwise(&self, known: &Baseline) -> Vec<String> {
        let Ok(names) = &self.names else { return Vec::new() };
        let is_other = |test: &&TestEnd| {
            test.outcome == Outcome::Failed
                && known.broken.contains(&test.name)
                && known.failed.get(&test.name).is_some_and(|why| *why != test.why)
        };
        names.tests.iter().filter(is_other).map(|test| test.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sandbox::Ended;

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
            let programs = Programs { without: Some("without"), telling: None, candidate: "x = 2\n" };
            let error = evidence(&projects, &project, programs, bounds, once).unwrap_err();
            (runs.get(), error.to_string().contains(&format!("no result after {} s", 2 * seconds)))
        };
        assert_eq!([hit(1), hit(1), hit(2)], [(1, true), (1, true), (2, true)]);
        std::fs::write(&tests, "# quicker\n").unwrap();
        assert_eq!(hit(2), (3, true));
    }
}
