//! Runs of a project's tests, without the candidate and with it, and the evidence from them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::baseline::{Baseline, refuses};
use super::baseline_cache::{BaselineCache, CacheFile};
use super::projects::Projects;
use super::{Base, Copy, Project};
use crate::code::{FunctionName, Place, Target, function_names, names, unfinished_at};
use crate::hash;
use crate::language::Language;
use crate::sandbox::{Ended, Limits, Run, without_folders};
use crate::trial::decide::{limit, raised_by, unended};
use crate::trial::error::TrialError;
use crate::trial::evidence::{Evidence, Failure, Noticed, Outcome, Report, Reporter, TestEnd};
use crate::trial::judge::record::{Names, named, running};

/// Time limit factor for a baseline. The candidate then gets three times the baseline's time.
pub const PATIENCE: u32 = 12;

/// Time limit factor for a baseline when other test files exist.
pub const PATIENCE_WITH_OTHERS: u32 = 6;

/// Time limit factor for a baseline of the tests that may overrule a pass.
pub const PATIENCE_WITH_PASS: u32 = 2;

/// Time limit factor for a baseline of all tests of a project, few of which may be about the function.
const PATIENCE_WITH_ALL: u32 = 6;

/// Time in which no process of a run without the candidate works, as a multiple of the limit: the tests wait
/// for what the function does not do.
const IDLE: u32 = 2;

/// Most tests that may count as unrelated.
const MOST_UNRELATED: usize = 100;

/// Most tests that are looked at one by one, if not all of them are unrelated.
const MOST_SINGLE: usize = 4;

/// End of a run of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// After the last test.
    LastTest,
    /// After the first failure, if the runner supports that.
    FirstFailure,
}

/// Parameters of a run of tests.
#[derive(Clone, Copy, Debug)]
pub struct RunRequest<'a> {
    /// The tests that are run; all if empty.
    pub only: &'a [String],
    /// End of the run.
    pub ends: Ends,
    /// True if the process has to end by itself.
    pub ends_itself: bool,
}

/// The program that a run tests.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    /// The project without the candidate.
    Baseline(&'a Copy),
    /// The project with a function that ends the process. Only the tests asked for may run.
    Ending(&'a Copy),
    /// The candidate.
    Candidate(&'a Copy),
}

impl<'a> Of<'a> {
    /// The copy that the tests run in.
    pub fn copy(self) -> &'a Copy {
        match self {
            Self::Baseline(copy) | Self::Ending(copy) | Self::Candidate(copy) => copy,
        }
    }
}

/// The programs that tests are run with.
#[derive(Clone, Copy, Debug)]
pub struct Programs<'a> {
    /// The program with a function without a body. `None`: the project unchanged.
    pub without: Option<&'a str>,
    /// The program with a function that ends the process, and one with a function that returns an unexpected
    /// value, for tests whose calls are not counted.
    pub probes: Option<[&'a str; 2]>,
    pub candidate: &'a str,
    /// The user's text, and the name of the function under test, if they are known.
    pub own: Option<(&'a str, &'a str)>,
}

/// Bounds of the runs of a project's tests.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The limits of a candidate.
    pub limits: Limits,
    /// Time limit factor for tests without the candidate.
    pub patience: u32,
    /// The cache of baselines.
    pub cache: Option<&'a BaselineCache>,
    /// True to run the tests without the candidate, and no candidate.
    pub prepares: bool,
    /// True for further tests, which only confirm a pass.
    pub confirms: bool,
    /// Set to true to end the trial.
    pub cancel: &'a AtomicBool,
}

/// A run and its nonce.
pub type Ran = (Run, String);

/// Limits of a run with the candidate: three times what the tests take without it, if that is more.
pub fn candidate_limits(limits: Limits, without: Duration) -> Limits {
    Limits { wall: limits.wall.max(without * 3), ..limits }
}

/// The report of a run. In all texts the folder of its copy is replaced by the project's folder, and other
/// folders of the run are left out: both differ each time.
fn told(run: &Run, nonce: &str, copy: &Copy, project: &Project) -> Result<Names, Report> {
    let mut names = named(&run.record, nonce)?;
    let (mut here, mut there) =
        (copy.path().to_string_lossy().into_owned(), project.root.to_string_lossy().into_owned());
    if project.lone.is_some() {
        (here, there) = (here + "/", String::new());
    }
    let of_tests = names.tests.iter_mut().flat_map(|test| [&mut test.name, &mut test.why]);
    let all = of_tests.chain(names.reached.iter_mut().flatten()).chain([&mut names.complaint, &mut names.behind]);
    for text in all {
        *text = without_folders(&text.replace(&here, &there));
    }
    Ok(names)
}

/// The evidence of runs without and with a candidate, for tests that a runner reports by name, and the
/// candidate's limits. If no test calls the function, the first failure instead, if there is one. Flaky tests
/// are looked for only after a failure. Of all tests of a project those that call the function count. If
/// calls are not counted, tests that fail as without the candidate are run with a function that ends the
/// process, and with one that returns an unexpected value. Those that end as before both times are unrelated.
pub fn evidence(
    projects: &Projects,
    project: &Project,
    programs: Programs,
    bounds: Bounds,
    once: impl Fn(Of, RunRequest, Limits) -> Result<Ran, TrialError> + Sync,
) -> Result<Result<(Evidence, Limits), Option<String>>, TrialError> {
    TestRuns { base: projects.base(project)?, projects, project, programs, bounds, once }.evidence()
}

/// Limits of a run without the candidate, with so many times the time.
pub fn limits_without(limits: Limits, patience: u32) -> Limits {
    Limits { wall: limits.wall * patience, idle: Some(limits.wall * IDLE), ..limits }
}

/// The limit that a run without the candidate has hit, and the flag that raises it.
pub fn hit_without(run: &Run, long: &Limits) -> Option<String> {
    // It may have ended before the limit, as nothing worked any more.
    let tenths = u64::try_from(run.elapsed.as_millis() / 100).unwrap_or(u64::MAX);
    let taken = Limits { wall: Duration::from_millis(tenths.saturating_mul(100)).min(long.wall), ..*long };
    let (_, hit) = limit(run.ended, &taken)?;
    let hit = hit + &unended(running(&run.record).filter(|_| run.ended == Ended::WallLimit).as_deref());
    let flag = raised_by(run.ended).map(|flag| format!("; raise it with {flag}"));
    Some(hit + &flag.unwrap_or_default())
}

struct TestRuns<'a, F> {
    projects: &'a Projects,
    project: &'a Project,
    base: Arc<Base>,
    programs: Programs<'a>,
    bounds: Bounds<'a>,
    /// Runs the tests.
    once: F,
}

impl<F: Fn(Of, RunRequest, Limits) -> Result<Ran, TrialError> + Sync> TestRuns<'_, F> {
    fn evidence(&self) -> Result<Result<(Evidence, Limits), Option<String>>, TrialError> {
        let Self { project, programs, .. } = self;
        // Further tests that pass need no run without the candidate.
        let is_further = self.bounds.confirms && !project.is_suite();
        let first = if is_further { Some(self.try_candidate(&Baseline::default())?) } else { None };
        let first = match first {
            Some(tried) if tried.passes() => return Ok(Ok(self.told_of(tried, &Baseline::default()))),
            first => first,
        };
        // A small project is tried while the baseline runs.
        let is_small = project.lone.is_some() && programs.without.is_some() && first.is_none();
        let (known, early) = std::thread::scope(|scope| {
            let early = is_small.then(|| scope.spawn(|| self.try_candidate(&Baseline::default())));
            (self.baseline(1), early.and_then(|early| early.join().ok()).or(first.map(Ok)))
        });
        let mut known = match known {
            // They may wait for what the function is to do.
            Err(TrialError::Limit(_)) if self.bounds.prepares && !project.is_suite() => return Ok(Err(None)),
            Err(TrialError::Limit(hit)) if !project.is_suite() => {
                let tried = early.unwrap_or_else(|| self.try_candidate(&Baseline::default()))?;
                return self.without_baseline(tried, hit).map(Ok);
            }
            known => known?,
        };
        if self.bounds.prepares {
            return Ok(Err(None));
        }
        if known.is_idle || (project.is_suite() && known.wanted.is_empty() && !known.reached.is_empty()) {
            return Ok(Err(known.first_failure()));
        }
        // The first failure ends a run, and must not be one of a test that is left out.
        // It began before the time that the tests take was known.
        let longer = candidate_limits(self.bounds.limits, known.elapsed).wall;
        // The tests themselves may leave what keeps the process from its end.
        let was_cut =
            |tried: &Tried| tried.run.ended == Ended::WallLimit && (tried.limits.wall < longer || known.is_held);
        let is_whole = |early: &Result<Tried, TrialError>| !early.as_ref().is_ok_and(was_cut);
        let mut tried = match early.filter(|early| known.left_out().is_empty() && is_whole(early)) {
            Some(early) => early?,
            None => self.try_candidate(&known)?,
        };
        if known.left_out().is_empty() && !self.unfinished(&tried, &known).is_empty() {
            // Other tests may fail by the candidate.
            tried = self.try_to_the(Ends::LastTest, &known)?;
        }
        known = self.set_aside(known, &tried)?;
        if tried.is_unclear(&known) {
            let before = known.left_out().len();
            known = self.baseline(2)?;
            if before == 0 && !known.left_out().is_empty() {
                tried = self.try_candidate(&known)?;
            }
            known = self.set_aside(known, &tried)?;
            let mut others = tried.fail_otherwise(&known);
            if !others.is_empty() {
                // A message may change from run to run by itself.
                let again = self.try_candidate(&known)?;
                others.retain(|name| tried.why(name).is_some() && tried.why(name) == again.why(name));
            }
            known = Arc::new(known.with_counted(&others));
        }
        if let Ok(names) = &mut tried.names
            && !names.behind.is_empty()
            && self.comes_without(&names.behind, &known)?
        {
            names.behind.clear();
        }
        Ok(Ok(self.told_of(tried, &known)))
    }

    /// The evidence of tests that hit a limit without the candidate, which is `hit`. If they do with it, too,
    /// they say nothing about it.
    fn without_baseline(&self, tried: Tried, hit: String) -> Result<(Evidence, Limits), TrialError> {
        match limit(tried.run.ended, &tried.limits) {
            Some(_) => Err(TrialError::Limit(hit)),
            None => Ok(self.told_of(tried, &Baseline::default())),
        }
    }

    /// The evidence of a run with the candidate.
    fn told_of(&self, tried: Tried, known: &Baseline) -> (Evidence, Limits) {
        let Self { project, base, programs, .. } = self;
        let unfinished = self.unfinished(&tried, known);
        let (without, flaky) = (|name: &String| unfinished.iter().all(|(test, _)| test != name), known.left_out());
        let wanted = known.wanted.iter().filter(|name| without(name)).cloned().collect();
        let flaky: Vec<String> = flaky.into_iter().chain(unfinished.iter().map(|(test, _)| test.clone())).collect();
        let Tried { copy, run, names, limits } = tried;
        let (missing, runner) =
            names.as_ref().map_or_else(|_| Default::default(), |names| (names.missing.clone(), names.runner.clone()));
        let replaced =
            names.as_ref().ok().and_then(|names| names.changed.iter().find(|part| !known.changed.contains(part)));
        let changed = base.changed(project, &copy).or_else(|| replaced.cloned());
        let is_held = !known.is_held && names.as_ref().is_ok_and(|names| names.held);
        let failure = behind(&names, &flaky).filter(|_| unfinished.is_empty());
        let (report, complaint) = match names {
            Ok(Names { tests, complaint, .. }) => {
                (Report::Tests { by: Reporter::Runner, tests, is_whole: true }, complaint)
            }
            Err(unread) => (unread, String::new()),
        };
        let evidence = Evidence {
            complaint: Some(complaint).filter(|complaint| !complaint.is_empty()),
            missing: Some(missing).filter(|missing| !missing.is_empty()),
            runner,
            failure,
            wanted,
            flaky,
            unfinished: unfinished.into_iter().next(),
            is_unrelated: known.wanted.is_empty() && known.flaky.is_empty() && !known.broken.is_empty(),
            left_out: known.for_reader(),
            changed,
            is_held,
            is_own: base.read(&project.file).is_ok_and(|own| own == programs.candidate),
            noticed: Noticed::if_seen(known.notices, Noticed::Both),
            ..Evidence::of(run, report)
        };
        (evidence, limits)
    }

    /// The baseline from so many runs without the candidate.
    fn baseline(&self, times: usize) -> Result<Arc<Baseline>, TrialError> {
        let Self { projects, project, base, programs, bounds, .. } = self;
        if programs.without.is_none() && project.lone.is_some() {
            // All code there is the candidate's.
            return Ok(Arc::default());
        }
        let Bounds { limits, patience, cache, cancel, .. } = *bounds;
        let run = || {
            let patience = if project.is_suite() { PATIENCE_WITH_ALL.min(patience) } else { patience };
            let long = limits_without(limits, patience);
            let key = hash::of(format!("{} {project:?} {:?} {:?}", base.id, programs.without, long.wall).as_bytes());
            // All tests of a project may take minutes until they hit it.
            let place = cache.filter(|_| project.is_suite()).map(|cache| cache.file(project, base, programs.without));
            let place = place.and_then(|place| CacheFile::of(&[place], &format!("limit {:?}", long.wall)));
            if let Some(hit) = projects.hit.get(key).or_else(|| place.as_ref()?.read()) {
                return Err(TrialError::Limit(hit));
            }
            let copy = self.copy(programs.without)?;
            let request = RunRequest { only: &project.only, ends: Ends::LastTest, ends_itself: false };
            let (run, nonce) = (self.once)(Of::Baseline(&copy), request, long)?;
            if let Some(hit) = hit_without(&run, &long) {
                projects.hit.put(key, hit.clone());
                let _ = place.map(|place| place.write(&hit));
                return Err(TrialError::Limit(hit));
            }
            Ok(told(&run, &nonce, &copy, project).ok().map(|names| (names, run.elapsed)))
        };
        let of = Baseline::of_runs_without;
        let known = projects.known(project, base, (programs.without, times), (cache, cancel), of, run)?;
        let counted = programs.own.and_then(|(_, function)| known.with_refused(function));
        let known = counted.map_or(known, Arc::new);
        Ok(if project.is_suite() { Arc::new(known.of_callers()) } else { known })
    }

    fn copy(&self, program: Option<&str>) -> Result<Copy, TrialError> {
        self.base.copy(self.project, program).map_err(TrialError::Sandbox)
    }

    fn try_candidate(&self, known: &Baseline) -> Result<Tried, TrialError> {
        // A failure of a test that is left out must not hide later ones.
        let ends = if known.left_out().is_empty() { Ends::FirstFailure } else { Ends::LastTest };
        self.try_to_the(ends, known)
    }

    fn try_to_the(&self, ends: Ends, known: &Baseline) -> Result<Tried, TrialError> {
        let Self { project, programs, once, .. } = self;
        let limits = self.bounds.limits;
        let candidate = self.copy(Some(programs.candidate))?;
        let only = if project.is_suite() { &known.wanted } else { &project.only };
        let request = RunRequest { only, ends, ends_itself: !known.is_held };
        let limits = candidate_limits(limits, known.elapsed);
        let (run, nonce) = once(Of::Candidate(&candidate), request, limits)?;
        let names = told(&run, &nonce, &candidate, project);
        Ok(Tried { copy: candidate, run, names, limits })
    }

    /// The tests that failed in an unfinished function of the user's other than the one under test, each with the
    /// name of that.
    fn unfinished(&self, tried: &Tried, known: &Baseline) -> Vec<(String, String)> {
        let Ok(names) = &tried.names else { return Vec::new() };
        let counts = |name: &str| tried.why(name).is_some() && !known.is_left_out(name);
        let raised = names.raised.iter().filter(|(test, ..)| counts(test));
        let raised = raised.filter_map(|(test, file, line)| Some((test.clone(), self.other(Path::new(file), *line)?)));
        let failed = names.tests.iter().filter(|test| test.outcome == Outcome::Failed && counts(&test.name));
        // A body of `...` raises nothing.
        let silent = failed.filter_map(|test| Some((test.name.clone(), self.named_by(&test.name)?)));
        raised.chain(silent).collect()
    }

    /// Another unfinished function of the user's file that the text of a test names. Its body ends as that of
    /// the function under test does: an empty one may be meant to be so.
    fn named_by(&self, test: &str) -> Option<String> {
        let Self { project, programs, base, .. } = self;
        let ((own, function), language) = (programs.own?, Language::of_path(&project.file)?);
        // All tests of a folder have their file in their names.
        let files = [project.tests.clone(), test.split_once("::").map(|(file, _)| file.into())];
        let text = files.into_iter().flatten().find_map(|file| base.read(&file).ok())?;
        let name = test.rsplit("::").next()?.split('[').next()?.to_owned();
        let test = Target::in_text(&text, language, &Place::Function(name)).ok()?;
        let words = names(language, test.text.get(test.body.clone())?);
        let all: Vec<FunctionName> = function_names(language, own).into_iter().filter(|one| !one.finished).collect();
        let end_of = |name: &str| {
            let found = Target::in_text(own, language, &Place::Function(name.to_owned())).ok()?;
            let last = found.text.get(found.body.clone())?.lines().rev().map(str::trim).find(|line| !line.is_empty());
            last.map(str::to_owned)
        };
        let stub = all.iter().find(|one| one.name == function).and_then(|one| end_of(&one.name))?;
        let is_named = |other: &&FunctionName| {
            let last = other.name.rsplit('.').next().unwrap_or_default();
            let is_other = other.name != function && !other.declaration && words.contains(last);
            is_other && end_of(&other.name).as_ref() == Some(&stub)
        };
        all.iter().find(is_named).map(|other| other.name.clone())
    }

    /// The unfinished function of the user's that holds a line of a file, if it is not the one under test.
    fn other(&self, file: &Path, line: usize) -> Option<String> {
        let Self { project, programs, base, .. } = self;
        let ((own, function), language) = (programs.own?, Language::of_path(file)?);
        if file != project.file {
            let text = base.read(file).ok().filter(|_| !project.is_steering(file))?;
            return unfinished_at(language, &text, line).map(|(name, _)| name);
        }
        let (name, text) = unfinished_at(language, programs.candidate, line)?;
        let is_under_test = name == function || name.strip_prefix(function).is_some_and(|rest| rest.starts_with('.'));
        // A function that the candidate has written, or changed, is not the user's.
        let known = (name, text);
        let named = function_names(language, own).into_iter().filter(|other| other.name == known.0);
        let is_users =
            named.map(|other| unfinished_at(language, own, other.line)).any(|own| own.as_ref() == Some(&known));
        (!is_under_test && is_users).then_some(known.0)
    }

    /// The baseline without unrelated tests: those that failed with the candidate as without it and never
    /// call the function.
    fn set_aside(&self, known: Arc<Baseline>, tried: &Tried) -> Result<Arc<Baseline>, TrialError> {
        let (Ok(names), Some(programs)) = (&tried.names, self.programs.probes) else { return Ok(known) };
        let fails_so = |test: &&TestEnd| {
            test.outcome == Outcome::Failed
                && known.failed.get(&test.name) == Some(&test.why)
                && known.wanted.contains(&test.name)
                && !self.programs.own.is_some_and(|(_, function)| refuses(&test.why, function))
        };
        let same: Vec<String> = names.tests.iter().filter(fails_so).map(|test| test.name.clone()).collect();
        // A program equal to the one without a candidate fails as without it.
        if same.len() > MOST_UNRELATED || self.programs.without == Some(self.programs.candidate) {
            return Ok(known);
        }
        let mut unrelated = Vec::new();
        if !same.is_empty() && self.never_call(programs, &same, &known)? {
            unrelated = same;
        } else if same.len() > 1 {
            for test in same.chunks(1).take(MOST_SINGLE) {
                unrelated.extend(self.never_call(programs, test, &known)?.then(|| test[0].clone()));
            }
        }
        Ok(if unrelated.is_empty() { known } else { Arc::new(known.with_broken(&unrelated)) })
    }

    /// Returns true if the same error comes behind the tests without the candidate, too: with the function that
    /// has no body, or with one that lets tests go on as it returns a value.
    fn comes_without(&self, behind: &str, known: &Baseline) -> Result<bool, TrialError> {
        let Self { projects, project, programs, base, bounds, .. } = self;
        let key = hash::of(format!("behind {behind} {} {project:?} {:?}", base.id, programs.without).as_bytes());
        if let Some(answer) = projects.answers.get(key) {
            return Ok(answer);
        }
        let limits = candidate_limits(bounds.limits, known.elapsed);
        let mut answer = false;
        for program in programs.without.into_iter().chain(programs.probes.map(|[_, other]| other)) {
            let copy = self.copy(Some(program))?;
            let request = RunRequest { only: &project.only, ends: Ends::LastTest, ends_itself: true };
            let (run, nonce) = (self.once)(Of::Baseline(&copy), request, limits)?;
            answer = told(&run, &nonce, &copy, project).is_ok_and(|names| names.behind == behind);
            if answer {
                break;
            }
        }
        if !bounds.cancel.load(Ordering::Relaxed) {
            projects.answers.put(key, answer);
        }
        Ok(answer)
    }

    /// Returns true if tests fail as before when a call of the function ends the process, and when it returns
    /// an unexpected value.
    fn never_call(&self, programs: [&str; 2], tests: &[String], known: &Baseline) -> Result<bool, TrialError> {
        let Self { projects, project, base, bounds, .. } = self;
        let key = hash::of(format!("{} {project:?} {programs:?} {tests:?}", base.id).as_bytes());
        if let Some(answer) = projects.answers.get(key) {
            return Ok(answer);
        }
        let limits = candidate_limits(bounds.limits, known.elapsed);
        let ends_so = |name: &String, test: &TestEnd| test.name == *name && known.failed.get(name) == Some(&test.why);
        let mut answer = true;
        for (program, is_ending) in programs.into_iter().zip([true, false]) {
            let copy = self.copy(Some(program))?;
            let (of, only) =
                if is_ending { (Of::Ending(&copy), tests) } else { (Of::Baseline(&copy), &project.only[..]) };
            let asked = RunRequest { only, ends: Ends::LastTest, ends_itself: false };
            let (run, nonce) = (self.once)(of, asked, limits)?;
            answer = told(&run, &nonce, &copy, project)
                .is_ok_and(|told| tests.iter().all(|name| told.tests.iter().any(|test| ends_so(name, test))));
            if !answer {
                break;
            }
        }
        if !bounds.cancel.load(Ordering::Relaxed) {
            projects.answers.put(key, answer);
        }
        Ok(answer)
    }
}

/// The error behind the tests that a candidate fails by, where the tests that count passed.
fn behind(names: &Result<Names, Report>, left_out: &[String]) -> Option<Failure> {
    let names = names.as_ref().ok().filter(|names| !names.behind.is_empty() && names.complaint.is_empty())?;
    let fails = |test: &TestEnd| test.outcome == Outcome::Failed && !left_out.contains(&test.name);
    let said = || format!("the tests passed, but their run fails after them: {}", names.behind);
    (!names.tests.iter().any(fails)).then(|| Failure::Said(said()))
}

/// A run of the tests on a candidate.
struct Tried {
    copy: Copy,
    run: Run,
    names: Result<Names, Report>,
    limits: Limits,
}

impl Tried {
    /// Returns true if all tests came to their end, none failed, and nothing was replaced: what is replaced
    /// without the candidate, too, is known by a run without it.
    fn passes(&self) -> bool {
        let is_well = |names: &Names| {
            let said = [&names.complaint, &names.missing, &names.behind];
            said.iter().all(|text| text.is_empty()) && names.changed.is_empty() && !names.tests.is_empty()
        };
        let has_ended = |test: &TestEnd| matches!(test.outcome, Outcome::Passed | Outcome::Skipped);
        let names = self.names.as_ref().ok().filter(|_| self.run.ended == Ended::Exited(0));
        names.is_some_and(|names| is_well(names) && names.tests.iter().all(has_ended))
    }

    /// Returns true if a test is missing, or one failed that was not seen to call the function, or failed
    /// differently than without it.
    fn is_unclear(&self, known: &Baseline) -> bool {
        let Ok(names) = &self.names else { return false };
        let is_doubtful = |test: &TestEnd| {
            test.outcome == Outcome::Failed && !known.reached.contains(&test.name) && !known.broken.contains(&test.name)
        };
        // A test whose name contains the time or a random value is missing. The first failure ends the
        // others.
        let is_missing = |tests: &[TestEnd]| {
            tests.iter().all(|test| test.outcome != Outcome::Failed)
                && known.wanted.iter().any(|wanted| tests.iter().all(|test| test.name != *wanted))
        };
        names.tests.iter().any(is_doubtful) || is_missing(&names.tests) || !self.fail_otherwise(known).is_empty()
    }

    /// Why a test failed.
    fn why(&self, name: &str) -> Option<&str> {
        let tests = &self.names.as_ref().ok()?.tests;
        tests.iter().find(|test| test.name == name && test.outcome == Outcome::Failed).map(|test| test.why.as_str())
    }

    /// The tests that never call the function, and fail differently than without the candidate: they examine
    /// results left by others.
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
    use std::path::PathBuf;
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::sandbox::Ended;

    #[test]
    fn a_candidate_has_three_times_what_its_tests_take() {
        let limits = Limits { wall: Duration::from_secs(10), ..Limits::default() };
        let wall = |seconds| candidate_limits(limits, Duration::from_secs(seconds)).wall.as_secs();
        assert_eq!([wall(0), wall(3), wall(4), wall(20)], [10, 10, 12, 60]);
    }

    #[test]
    fn a_candidate_that_was_tried_before_its_time_was_known_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let project = super::super::sample(&folder.path().join("project"));
        let cancel = AtomicBool::new(false);
        let walls = std::sync::Mutex::new(Vec::new());
        let once = |of: Of, _: RunRequest, limits: Limits| {
            let is_candidate = matches!(of, Of::Candidate(_));
            if is_candidate {
                walls.lock().unwrap().push(limits.wall.as_secs());
            }
            let record = "{\"nonce\":\"n\",\"tests\":[[\"a\",\"passed\",\"\"]],\"complaint\":\"\"}\n".to_owned();
            let is_cut = is_candidate && limits.wall < Duration::from_secs(12);
            let ended = if is_cut { Ended::WallLimit } else { Ended::Exited(0) };
            let (record, output, elapsed) = (record.into_bytes(), String::new(), Duration::from_secs(9));
            Ok((Run { ended, has_started: true, record, output, elapsed }, "n".to_owned()))
        };
        let limits = Limits { wall: Duration::from_secs(10), ..Limits::default() };
        let bounds = Bounds { limits, patience: 2, cache: None, prepares: false, confirms: true, cancel: &cancel };
        let programs = Programs { without: Some("without"), probes: None, candidate: "x = 2\n", own: None };
        let (evidence, limits) = evidence(&Projects::default(), &project, programs, bounds, once).unwrap().unwrap();
        assert_eq!((evidence.run.ended, limits.wall.as_secs()), (Ended::Exited(0), 27));
        assert_eq!(*walls.lock().unwrap(), [10, 27]);
    }

    #[test]
    fn a_limit_that_is_hit_without_a_candidate_is_waited_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut project = super::super::sample(&folder.path().join("project"));
        let cache =
            BaselineCache { folder: folder.path().join("cache"), setting: vec![], packages: vec![], inner: vec![] };
        let (runs, cancel) = (AtomicUsize::new(0), AtomicBool::new(false));
        let once = |_: Of, _: RunRequest, limits: Limits| {
            runs.fetch_add(1, Ordering::Relaxed);
            let (record, output, elapsed) = (b"began \"t\"\n".to_vec(), String::new(), limits.wall);
            Ok((Run { ended: Ended::WallLimit, has_started: true, record, output, elapsed }, String::new()))
        };
        let hit = |projects: &Projects, project: &Project, seconds: u64| {
            let limits = Limits { wall: Duration::from_secs(seconds), ..Limits::default() };
            // All tests have no more than their own factor.
            let (patience, factor) = if project.is_suite() { (PATIENCE, PATIENCE_WITH_ALL) } else { (2, 2) };
            let bounds =
                Bounds { limits, patience, cache: Some(&cache), prepares: false, confirms: false, cancel: &cancel };
            let programs = Programs { without: Some("without"), probes: None, candidate: "x = 2\n", own: None };
            let error = evidence(projects, project, programs, bounds, once).unwrap_err();
            let hit = format!("no result after {} s: t did not end", seconds * u64::from(factor));
            assert!(error.to_string().contains(&hit), "{error}");
            runs.load(Ordering::Relaxed)
        };
        let projects = Projects::default();
        // The candidate is tried each time.
        assert_eq!([1, 1, 2].map(|seconds| hit(&projects, &project, seconds)), [2, 3, 5]);
        std::fs::write(project.root.join("test_code.py"), "# quicker\n").unwrap();
        assert_eq!(hit(&projects, &project, 2), 7);
        // At the next start it is known of all tests of a project, and of single files it is tried again.
        assert_eq!(hit(&Projects::default(), &project, 2), 9);
        project.tests = Some(PathBuf::new());
        assert_eq!([1, 1, 2].map(|seconds| hit(&Projects::default(), &project, seconds)), [10, 10, 11]);
    }
}
