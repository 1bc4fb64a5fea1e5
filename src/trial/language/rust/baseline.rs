//! What the tests of a crate do without the candidate, and the verdict of a candidate held against that.
//!
//! The rules are those of other projects: two runs on the unchanged files; tests that differ between them are
//! left out and named; all others have to pass, those that failed before, too, for making them pass is what a
//! candidate is for. But a test that fails and never calls the function under test would fail every
//! candidate: it is left out and named as well.

use std::ffi::OsString;
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};

use super::bench::{Bench, Laid, Program, guard_file, secret};
use super::edit::{Edit, apply};
use super::guards::{Guard, Guards};
use super::kind::{Kind, module};
use super::single::{has_panicked, panic_message, reported};
use super::{examples, libtest, probe};
use crate::hash;
use crate::sandbox::{Ended, Run};
use crate::trial::language::row::{Evidence, Failure, Outcome, Report, Reporter, Status, TestEnd, TrialError, Verdict};
use crate::trial::project::baseline as project;

/// So many failing tests are run one by one, to see whether they call the function; more are all wanted.
const MOST_ALONE: usize = 200;

/// What is known of the tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The program that they are built into.
    pub kind: Kind,
    /// The module of the tests file.
    pub module: String,
    /// The tests that have to pass, by their full names.
    pub wanted: Vec<String>,
    /// They are all that the program holds: it needs no names.
    pub is_all: bool,
    /// What is left out, in words.
    pub left_out: String,
    /// Why they could not be built, where that is the fault of examples in the documentation.
    #[serde(skip)]
    pub complaints: Option<String>,
}

/// A version of the unchanged files.
struct Version {
    edits: Vec<Edit>,
    /// Calls of the function under test leave a trace.
    has_notes: bool,
}

/// A program of tests on the unchanged files.
struct Built {
    program: Program,
    guards: Guards,
    has_notes: bool,
}

/// What is known of the tests, found out once. A verdict if that could not be finished.
///
/// First without the body of the function, so that a file is known again in which that alone has changed; with
/// it where that does not compile.
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
    let mut known = bench.workshop.known.lock().unwrap_or_else(PoisonError::into_inner);
    for (edits, has_notes) in versions {
        let Some(edits): Option<Vec<Edit>> = edits else { continue };
        let laid = apply(&program, &edits);
        let own = if is_own { laid.as_str() } else { text };
        let parts: Vec<String> = kinds.iter().flat_map(|kind| bench.parts(kind, &laid, own)).collect();
        let key = format!("baselines/{:016x}.json", hash::of(format!("{function:?}\n{}", parts.join("\n")).as_bytes()));
        if let Some(found) = known.get(&key).cloned().or_else(|| bench.workshop.store.read(&key).map(Arc::new)) {
            known.insert(key, Arc::clone(&found));
            return Ok(Ok(found));
        }
        for kind in kinds {
            if bench.at.is_cancelled() {
                return Ok(Err(cancelled()));
            }
            let version = Version { edits: edits.clone(), has_notes };
            let built = match build(bench, kind, (&program, text), &version)? {
                Ok(built) => built,
                // They do not build with another body either.
                Err(run) if examples::are_in(bench.tests_file) && !examples::complaints(&run.output).is_empty() => {
                    let nothing = of_text(bench, kind, text);
                    return Ok(Ok(Arc::new(Baseline { complaints: Some(run.output), ..nothing })));
                }
                Err(_) => continue,
            };
            if let Some(found) = find(bench, kind, &built, function)? {
                return Ok(found.map(|found| {
                    let found = Arc::new(found);
                    bench.workshop.store.write(&key, &*found);
                    known.insert(key, Arc::clone(&found));
                    found
                }));
            }
        }
    }
    if bench.at.is_cancelled() {
        return Ok(Err(cancelled()));
    }
    // Nothing is known: what the text says has to do.
    let Some(kind) = kinds.first() else { return Ok(Err(Verdict::refused("no tests found"))) };
    Ok(Ok(Arc::new(of_text(bench, kind, text))))
}

/// What the text alone says of its tests.
fn of_text(bench: &Bench, kind: &Kind, text: &str) -> Baseline {
    let file = bench.tests_file.strip_prefix(&bench.project.package).unwrap_or(bench.tests_file);
    let module = module(file, kind);
    let tests = Guards::of(text, "unused", "").tests;
    let wanted = tests.iter().filter(|test| !test.ignored).map(|test| full(&module, test)).collect();
    let (kind, is_all) = (kind.clone(), !kind.is_inline() && module.is_empty());
    Baseline { kind, module, wanted, is_all, left_out: String::new(), complaints: None }
}

/// What the tests of a program do; `None` if it does not hold those of the file.
fn find(
    bench: &Bench,
    kind: &Kind,
    built: &Built,
    function: Option<&str>,
) -> Result<Option<Result<Baseline, Verdict>>, TrialError> {
    let listed = list(bench, built, &[])?;
    let ignored = list(bench, built, &["--ignored"])?;
    let (Some(listed), Some(ignored)) = (listed, ignored) else { return Ok(None) };
    let own = format!("{}::end", built.program.secret);
    let Some(module) = listed.iter().find_map(|name| name.strip_suffix(&own)) else { return Ok(None) };
    let module = module.trim_end_matches("::").to_owned();
    // Of a program of tests all count, also those of modules that lie elsewhere; of a module its own.
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
    let (kind, left_out) = (kind.clone(), String::new());
    let baseline = Baseline { kind, module, wanted, is_all: false, left_out, complaints: None };
    judge(bench, built, baseline, function).map(Some)
}

/// The name of a test in its program.
fn full(module: &str, test: &Guard) -> String {
    if module.is_empty() { test.name.clone() } else { format!("{module}::{}", test.name) }
}

fn cancelled() -> Verdict {
    Verdict { status: Status::Killed, ..Verdict::refused("cancelled") }
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

/// Runs the tests, and leaves out what says nothing about a candidate.
fn judge(
    bench: &Bench,
    built: &Built,
    mut baseline: Baseline,
    function: Option<&str>,
) -> Result<Result<Baseline, Verdict>, TrialError> {
    let tests = std::mem::take(&mut baseline.wanted);
    let (mut ends, mut printed) = (Vec::new(), String::new());
    for _ in 0..2 {
        let copy = bench.base.copy(bench.project, None).map_err(TrialError::Sandbox)?;
        let arguments = by_name(&tests, &baseline.own(&built.program.secret));
        let (run, told) = bench.run_tests(&built.program, arguments, &copy, Vec::new())?;
        if run.ended == Ended::Cancelled {
            return Ok(Err(cancelled()));
        }
        printed.clone_from(&run.output);
        ends.push(outcomes(&run, told.as_deref(), &tests, built.guards.tests.len()));
    }
    let (Some(first), Some(second)) = (&ends[0], &ends[1]) else {
        // A test ended the process: of the others nothing is known.
        baseline.wanted = tests;
        return Ok(Ok(baseline));
    };
    let known = project::Baseline::of(Some(first), Some(second));
    let wanted = &known.wanted;
    let failed = |name: &&String| first.iter().any(|test| test.name == **name && test.outcome == Outcome::Failed);
    let failing: Vec<&String> = wanted.iter().filter(failed).collect();
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

/// Whether a test fails on its own, too, and nothing in that process called the function.
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

/// How tests ended in a run on the unchanged files; `None` if it came to no end.
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

/// Runs just these, one after the other.
fn by_name(tests: &[String], own: &str) -> Vec<OsString> {
    let names = tests.iter().map(String::as_str).chain([own]);
    ["--test-threads=1", "--exact"].into_iter().chain(names).map(OsString::from).collect()
}

fn left_out(known: &project::Baseline, idle: &[String], function: &str) -> String {
    let flaky = known.remark();
    if idle.is_empty() {
        return flaky;
    }
    let idle = format!("left out, as they fail without the candidate and never call {function}: {}", idle.join(", "));
    if flaky.is_empty() { idle } else { format!("{flaky}; {idle}") }
}

impl Baseline {
    /// The full name of the test of ours.
    fn own(&self, secret: &str) -> String {
        if self.module.is_empty() { format!("{secret}::end") } else { format!("{}::{secret}::end", self.module) }
    }

    /// The same of some tests, each by its name, with any of the modules before it, or by a module; or the one
    /// that is none of them.
    pub fn narrowed<'a>(&self, only: &'a [String]) -> Result<Self, &'a str> {
        let is = |name: &String, asked: &String| format!("::{name}::").contains(&format!("::{asked}::"));
        let is_unknown = |asked: &&String| !self.wanted.iter().any(|name| is(name, asked));
        if let Some(asked) = only.iter().find(is_unknown) {
            return Err(asked);
        }
        let mut narrowed = Self { is_all: false, ..self.clone() };
        narrowed.wanted.retain(|name| only.iter().any(|asked| is(name, asked)));
        Ok(narrowed)
    }

    /// What the program of tests is called with.
    pub fn arguments(&self, secret: &str) -> Vec<OsString> {
        if self.is_all { vec!["--test-threads=1".into()] } else { by_name(&self.wanted, &self.own(secret)) }
    }

    /// What a run with a candidate leaves behind. Of what was printed only the reason of a failure counts.
    pub fn evidence(&self, run: Run, told: Option<&[String]>, guards: &Guards, secret: &str) -> Evidence {
        // Of tests of one name (`cfg`) only one is in the program.
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
            // What a macro makes has no guard; that it ended is known from the test of ours, which comes
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
                || panic_message(&run.output),
                |name| format!("{name}: {}", libtest::why(&run.output, name)),
            )
        };
        let failure = has_panicked(&run).then(|| Failure::Said(why()));
        let run = Run { output: libtest::shown(&run.output, secret), ..run };
        let (asked, wanted, remark) = (self.wanted.clone(), self.wanted.clone(), self.left_out.clone());
        Evidence { failure, asked, wanted, remark, ..Evidence::of(run, report) }
    }
}
