//! The baseline of a crate's tests, and the verdict of a candidate compared with it.
//!
//! The rules are those of other projects. The tests run twice on the unchanged files. Tests that differ
//! between the runs are left out and named. All others have to pass, including those that failed before,
//! since a candidate is meant to make them pass. A test that fails and never calls the function under test
//! would fail every candidate: it is left out and named as well.

use std::ffi::OsString;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bench::{Bench, Laid, Program, guard_file, secret};
use super::edit::{Edit, apply};
use super::guards::{Guard, Guards};
use super::kind::Kind;
use super::libtest::{has_panicked, panic_message};
use super::{libtest, probe};
use crate::hash;
use crate::sandbox::{Ended, Run};
use crate::trial::language::row::{
    Evidence, Failure, LeftOut, Noticed, Outcome, Report, Reporter, Status, TestEnd, TrialError, Verdict,
};
use crate::trial::project::baseline as project;
use crate::trial::project::runs::{hit_without, limits_without};

/// Most failing tests that are run one by one to see if they call the function. If more fail, all are
/// required.
const MOST_ALONE: usize = 200;

/// The baseline of a crate's tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The test program that they are built into.
    pub kind: Kind,
    /// The module of the tests file.
    pub module: String,
    /// The tests that have to pass, by their full names.
    pub wanted: Vec<String>,
    /// True if the program holds no other tests, so that it needs no names.
    pub is_all: bool,
    /// The tests that are left out.
    pub left_out: LeftOut,
    /// True if one of the tests fails only because the function panics.
    pub notices: bool,
    /// Duration of the tests.
    #[serde(default)]
    pub elapsed: Duration,
    /// The limit that the tests have hit. Not on disk: another time they may have more.
    #[serde(skip)]
    pub hit: Option<Box<Hit>>,
}

/// A limit that the tests have hit without the candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// In words.
    pub words: String,
    /// The time that they had.
    had: Duration,
    /// The test that ran then.
    running: Option<String>,
}

/// A version of the unchanged files.
struct Version {
    edits: Vec<Edit>,
    /// True if calls of the function under test are recorded.
    has_notes: bool,
}

/// A test program of the unchanged files.
struct Built {
    program: Program,
    guards: Guards,
    has_notes: bool,
}

/// The end of a search for a baseline in a program.
enum Found {
    /// The baseline, or a verdict if that could not be finished.
    Baseline(Result<Baseline, Verdict>),
    /// The program does not hold the tests of the file.
    Absent,
    /// The program did not say which tests it holds.
    Nothing,
}

/// The baseline of the tests, found once. A verdict if that could not be finished.
///
/// Built without the body of the function first, so that the cache also serves a file in which only the body
/// changed. Built with the body if it does not compile without.
pub fn known(
    bench: &Bench,
    kinds: &[Kind],
    text: &str,
    function: Option<&str>,
) -> Result<Result<Arc<Baseline>, Verdict>, TrialError> {
    let program = bench.original(&bench.project.file)?;
    let is_own = bench.tests_file == bench.project.file;
    let protected = Guards::of(text, "unused", "").protected;
    let except: &[_] = if is_own { &protected } else { &[] };
    let noted = |empty| probe::noted(&program, function?, except, empty);
    let versions = [(noted(true), true), (noted(false), true), (Some(Vec::new()), false)];
    let mut known = bench.cache.known.lock().unwrap_or_else(PoisonError::into_inner);
    // Programs that do not hold the file in any version. Others may not compile.
    let mut absent: Vec<&Kind> = Vec::new();
    for (edits, has_notes) in versions {
        let Some(edits): Option<Vec<Edit>> = edits else { continue };
        let laid = apply(&program, &edits);
        let own = if is_own { laid.as_str() } else { text };
        let parts: Vec<String> = kinds.iter().flat_map(|kind| bench.parts(kind, &laid, own)).collect();
        let key = format!("baselines/{:016x}.json", hash::of(format!("{function:?}\n{}", parts.join("\n")).as_bytes()));
        let wall = limits_without(bench.limits, bench.at.patience).wall;
        let had_less = |found: &Arc<Baseline>| found.hit.as_ref().is_some_and(|hit| hit.had < wall);
        let found = known.get(&key).filter(|found| !had_less(found)).cloned();
        if let Some(found) = found.or_else(|| bench.cache.folder.read(&key).map(Arc::new)) {
            known.insert(key, Arc::clone(&found));
            return Ok(Ok(found));
        }
        let mut keep = |found: Baseline| {
            let found = Arc::new(found);
            if found.hit.is_none() {
                bench.cache.folder.write(&key, &*found);
            }
            known.insert(key.clone(), Arc::clone(&found));
            found
        };
        for kind in kinds {
            if bench.at.is_cancelled() {
                return Ok(Err(cancelled()));
            }
            let version = Version { edits: edits.clone(), has_notes };
            let Ok(built) = build(bench, kind, (&program, text), &version)? else { continue };
            match find(bench, kind, &built, function)? {
                Found::Baseline(found) => return Ok(found.map(keep)),
                Found::Absent if !absent.contains(&kind) => absent.push(kind),
                Found::Absent | Found::Nothing => {}
            }
        }
        // Other versions would not hold them either.
        if let Some(kind) = kinds.first().filter(|_| absent.len() == kinds.len()) {
            return Ok(Ok(keep(none(kind))));
        }
    }
    if bench.at.is_cancelled() {
        return Ok(Err(cancelled()));
    }
    // Nothing is known, so the tests are read from the text.
    let Some(kind) = kinds.iter().find(|kind| !absent.contains(kind)) else {
        return Ok(Err(Verdict::not_run("no tests found")));
    };
    Ok(Ok(Arc::new(of_text(bench, kind, text))))
}

/// The baseline of a file that no program holds.
fn none(kind: &Kind) -> Baseline {
    let words = "in no test program of the crate: no mod line leads to them, or a cfg leaves them out".to_owned();
    Baseline {
        kind: kind.clone(),
        module: String::new(),
        wanted: Vec::new(),
        is_all: false,
        left_out: LeftOut { names: Vec::new(), words },
        notices: false,
        elapsed: Duration::ZERO,
        hit: None,
    }
}

/// The baseline as far as the text alone states it.
pub fn of_text(bench: &Bench, kind: &Kind, text: &str) -> Baseline {
    let module = bench.module(kind);
    let tests = Guards::of(text, "unused", "").tests;
    let wanted = tests.iter().filter(|test| !test.ignored).map(|test| full(&module, test)).collect();
    let (kind, is_all) = (kind.clone(), !kind.is_inline() && module.is_empty());
    Baseline {
        kind,
        module,
        wanted,
        is_all,
        left_out: LeftOut::default(),
        notices: false,
        elapsed: Duration::ZERO,
        hit: None,
    }
}

/// The baseline from a program's runs.
fn find(bench: &Bench, kind: &Kind, built: &Built, function: Option<&str>) -> Result<Found, TrialError> {
    let listed = list(bench, built, &[])?;
    let ignored = list(bench, built, &["--ignored"])?;
    let (Some(listed), Some(ignored)) = (listed, ignored) else { return Ok(Found::Nothing) };
    let own = format!("{}::end", built.program.secret);
    let Some(module) = listed.iter().find_map(|name| name.strip_suffix(&own)) else { return Ok(Found::Absent) };
    let module = module.trim_end_matches("::").to_owned();
    // Of a test program all tests count, also those of modules in other files. Of a module only its own
    // count.
    let is_whole = !kind.is_inline() && module.is_empty();
    let is_inside = |name: &String| {
        let name = match module.as_str() {
            "" => Some(name.as_str()),
            module => name.strip_prefix(module).and_then(|name| name.strip_prefix("::")),
        };
        name.is_some_and(|name| built.guards.has(name))
    };
    let counts = |name: &&String| !name.ends_with(&own) && !ignored.contains(name) && (is_whole || is_inside(name));
    let wanted: Vec<String> = listed.iter().filter(counts).cloned().collect();
    let (kind, left_out) = (kind.clone(), LeftOut::default());
    let (elapsed, hit) = (Duration::ZERO, None);
    let baseline = Baseline { kind, module, wanted, is_all: false, left_out, notices: false, elapsed, hit };
    judge(bench, built, baseline, function).map(Found::Baseline)
}

/// The name of a test in its program.
fn full(module: &str, test: &Guard) -> String {
    if module.is_empty() { test.name.clone() } else { format!("{module}::{}", test.name) }
}

fn cancelled() -> Verdict {
    Verdict { status: Status::Killed, ..Verdict::not_run("cancelled") }
}

/// Builds a version of the unchanged files.
fn build(
    bench: &Bench,
    kind: &Kind,
    (program, text): (&str, &str),
    version: &Version,
) -> Result<Result<Built, Run>, TrialError> {
    let secret = secret()?;
    let guards = Guards::of(text, &secret, &guard_file(&secret));
    let mut edits = version.edits.clone();
    let tests = if bench.tests_file == bench.project.file {
        edits.extend(guards.edits.iter().cloned());
        None
    } else {
        Some(apply(text, &guards.edits))
    };
    let (program, last) = (apply(program, &edits), guards.tests.len());
    let laid = Laid { program: &program, tests: tests.as_deref(), secret: &secret, last };
    let built = bench.build(kind, &laid)?;
    Ok(built.map(|program| Built { program, guards, has_notes: version.has_notes }))
}

fn list(bench: &Bench, built: &Built, more: &[&str]) -> Result<Option<Vec<String>>, TrialError> {
    let copy = bench.base.copy(bench.project, None).map_err(TrialError::Sandbox)?;
    let arguments = ["--list"].iter().chain(more).map(OsString::from).collect();
    let (run, _) = bench.run_tests(&built.program, arguments, &copy, Vec::new())?;
    Ok((run.ended == Ended::Exited(0)).then(|| libtest::listed(&run.output)).flatten())
}

/// Runs the tests, and leaves out those that say nothing about a candidate.
fn judge(
    bench: &Bench,
    built: &Built,
    mut baseline: Baseline,
    function: Option<&str>,
) -> Result<Result<Baseline, Verdict>, TrialError> {
    let tests = std::mem::take(&mut baseline.wanted);
    let (mut ends, mut printed) = (Vec::new(), String::new());
    let limits = limits_without(bench.limits, bench.at.patience);
    let bench = &Bench { limits, ..*bench };
    for _ in 0..2 {
        let copy = bench.base.copy(bench.project, None).map_err(TrialError::Sandbox)?;
        let arguments = by_name(&tests, &baseline.own(&built.program.secret));
        let (run, told) = bench.run_tests(&built.program, arguments, &copy, Vec::new())?;
        if run.ended == Ended::Cancelled {
            return Ok(Err(cancelled()));
        }
        printed.clone_from(&run.output);
        if let Some(words) = hit_without(&run, &limits) {
            // A test may wait for ever for what the function does not do: nothing is known of any.
            let running = libtest::running(&run.output).map(str::to_owned);
            let hit = Some(Box::new(Hit { words, had: limits.wall, running }));
            return Ok(Ok(Baseline { wanted: tests, elapsed: Duration::ZERO, hit, ..baseline }));
        }
        baseline.elapsed = baseline.elapsed.max(run.elapsed);
        ends.push(outcomes(&run, told.as_deref(), &tests, built.guards.tests.len()));
    }
    let (Some(first), Some(second)) = (&ends[0], &ends[1]) else {
        // A test ended the process, so nothing is known of the others.
        baseline.wanted = tests;
        return Ok(Ok(baseline));
    };
    let known = project::Baseline::of(Some(first), Some(second));
    let wanted = &known.wanted;
    let failed = |name: &&String| first.iter().any(|test| test.name == **name && test.outcome == Outcome::Failed);
    let failing: Vec<&String> = wanted.iter().filter(failed).collect();
    baseline.notices = failing.iter().any(|name| libtest::why(&printed, name).contains(probe::SAYS));
    let mut idle = Vec::new();
    if built.has_notes && failing.len() <= MOST_ALONE {
        for name in failing.into_iter().filter(|name| !libtest::why(&printed, name).contains(probe::SAYS)) {
            if fails_without_a_call(bench, built, &baseline, name)? {
                idle.push(name.clone());
            }
            if bench.at.is_cancelled() {
                return Ok(Err(cancelled()));
            }
        }
    }
    baseline.wanted = wanted.iter().filter(|name| !idle.contains(name)).cloned().collect();
    baseline.left_out = left_out(&known, &idle, function.unwrap_or_default());
    Ok(Ok(baseline))
}

/// Returns true if a test fails when run alone, too, and nothing in that process called the function.
fn fails_without_a_call(bench: &Bench, built: &Built, baseline: &Baseline, name: &str) -> Result<bool, TrialError> {
    let copy = bench.base.copy(bench.project, None).map_err(TrialError::Sandbox)?;
    let trace = copy.path().join(format!("called_{}", built.program.secret));
    let tests = [name.to_owned()];
    let arguments = by_name(&tests, &baseline.own(&built.program.secret));
    let environment = vec![(probe::VARIABLE.into(), trace.clone().into())];
    let (run, told) = bench.run_tests(&built.program, arguments, &copy, environment)?;
    let ended = outcomes(&run, told.as_deref(), &tests, built.guards.tests.len());
    Ok(ended.is_some_and(|tests| tests[0].outcome == Outcome::Failed) && !trace.exists())
}

/// The outcomes of a run on the unchanged files. `None` if the run did not finish.
fn outcomes(run: &Run, told: Option<&[String]>, tests: &[String], last: usize) -> Option<Vec<TestEnd>> {
    let failures = match run.ended {
        Ended::Exited(0) => Vec::new(),
        _ if has_panicked(run) => libtest::failures(&run.output),
        _ => return None,
    };
    told?.contains(&format!("{last} false")).then_some(())?;
    let outcome = |name: &String| {
        if failures.contains(&name.as_str()) { Outcome::Failed } else { Outcome::Passed }
    };
    Some(tests.iter().map(|name| TestEnd::new(name, outcome(name))).collect())
}

/// Arguments to run exactly these tests, one after the other.
fn by_name(tests: &[String], own: &str) -> Vec<OsString> {
    let names = tests.iter().map(String::as_str).chain([own]);
    ["--test-threads=1", "--exact"].into_iter().chain(names).map(OsString::from).collect()
}

fn left_out(known: &project::Baseline, idle: &[String], function: &str) -> LeftOut {
    let flaky = known.for_reader();
    if idle.is_empty() {
        return flaky;
    }
    let words = format!("left out, as they fail without the candidate and never call {function}: {}", idle.join(", "));
    let words = if flaky.words.is_empty() { words } else { format!("{}; {words}", flaky.words) };
    LeftOut { names: [&flaky.names[..], idle].concat(), words }
}

impl Baseline {
    /// The full name of the guard's own test, which runs last.
    fn own(&self, secret: &str) -> String {
        if self.module.is_empty() { format!("{secret}::end") } else { format!("{}::{secret}::end", self.module) }
    }

    /// The baseline of some of its tests, each given by its name, with any of the modules before it, or by a
    /// module. An error names one that does not exist.
    pub fn narrowed<'a>(&self, only: &'a [String]) -> Result<Self, &'a str> {
        let is = |name: &String, asked: &String| format!("::{name}::").contains(&format!("::{asked}::"));
        let is_unknown = |asked: &&String| !self.wanted.iter().any(|name| is(name, asked));
        if let Some(asked) = only.iter().find(is_unknown) {
            return Err(asked);
        }
        let mut narrowed = Self { is_all: false, ..self.clone() };
        narrowed.wanted.retain(|name| only.iter().any(|asked| is(name, asked)));
        // It is no longer known if one of the remaining tests is sensitive.
        narrowed.notices = false;
        Ok(narrowed)
    }

    /// The baseline without the test that did not end. `None` if that is not known, or the only test.
    pub fn of_ended(&self) -> Option<Self> {
        let unended = self.hit.as_ref()?.running.clone()?;
        let wanted: Vec<String> = self.wanted.iter().filter(|name| **name != unended).cloned().collect();
        if wanted.is_empty() || wanted.len() == self.wanted.len() {
            return None;
        }
        let words = format!("left out, as it did not end without the candidate: {unended}");
        let left_out = LeftOut { names: vec![unended], words };
        Some(Self { wanted, left_out, is_all: false, ..self.clone() })
    }

    /// Arguments of the test program.
    pub fn arguments(&self, secret: &str) -> Vec<OsString> {
        if self.is_all { vec!["--test-threads=1".into()] } else { by_name(&self.wanted, &self.own(secret)) }
    }

    /// The evidence of a run with a candidate. Printed output gives only the reason of a failure.
    pub fn evidence(&self, run: Run, told: Option<&[String]>, guards: &Guards, secret: &str) -> Evidence {
        // Of several tests with one name (`cfg`) only one is in the program.
        let numbers = |name: &String| {
            let found = guards.tests.iter().enumerate().filter(|(_, test)| full(&self.module, test) == *name);
            found.map(|(i, _)| i).collect::<Vec<_>>()
        };
        let number = |told: &[String], name: &String| {
            let has_told = |i: &&usize| told.iter().any(|line| line.starts_with(&format!("{i} ")));
            let all = numbers(name);
            all.iter().find(has_told).or(all.first()).copied()
        };
        let report = |told: &[String]| {
            // Tests made by macros have no guard. Their end follows from the guard's own test, which comes
            // last.
            let end = |name: &String| match number(told, name) {
                Some(i) => reported(told, i, guards.tests[i].panics, name),
                None => Some(TestEnd::new(name, Outcome::Passed)),
            };
            let last = reported(told, guards.tests.len(), false, secret);
            if last.as_ref().is_some_and(|last| last.outcome == Outcome::Odd) {
                return Report::Forged;
            }
            let tests = self.wanted.iter().filter_map(end).collect();
            Report::Tests { by: Reporter::Guard, tests, is_whole: last.is_some() }
        };
        let report = told.map_or(Report::Forged, report);
        let why = || {
            let told = told.unwrap_or_default();
            let has_failed = |name: &&String| {
                number(told, name).is_some_and(|i| told.contains(&format!("{i} {}", !guards.tests[i].panics)))
            };
            let printed = libtest::failures(&run.output);
            let name = self.wanted.iter().find(has_failed);
            let name = name.or_else(|| self.wanted.iter().find(|name| printed.contains(&name.as_str())));
            name.map_or_else(
                || Failure::Said(panic_message(&run.output)),
                |name| Failure::Test { name: name.clone(), why: libtest::why(&run.output, name) },
            )
        };
        let failure = has_panicked(&run).then(why);
        let running = libtest::running(&run.output).map(str::to_owned);
        let run = Run { output: libtest::shown(&run.output, secret), ..run };
        let (asked, wanted, left_out) = (self.wanted.clone(), self.wanted.clone(), self.left_out.clone());
        let noticed = Noticed::if_seen(self.notices, Noticed::Raising);
        Evidence { failure, asked, running, wanted, noticed, left_out, ..Evidence::of(run, report) }
    }
}

/// The outcome of a test from the lines of the guards. It must be reported once, and as a panic only if a
/// panic is expected.
fn reported(told: &[String], number: usize, panics: bool, name: &str) -> Option<TestEnd> {
    let own = format!("{number} ");
    let mut ends = told.iter().filter(|line| line.starts_with(&own));
    let end = ends.next()?;
    let is_as_it_should = *end == format!("{number} {panics}") && ends.next().is_none();
    Some(TestEnd::new(name, if is_as_it_should { Outcome::Passed } else { Outcome::Odd }))
}
