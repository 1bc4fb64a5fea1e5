//! Computes the verdict from the evidence. Pure. Every rule of a pass stands here, and nothing else makes
//! one.
//!
//! A pass requires that the process ended by itself with 0 and hit no limit. It requires a report of this run
//! that nothing else wrote to, with every required test in it as passed, and unchanged tests. Printed output
//! counts for nothing.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::error::TrialError;
use super::evidence::{Evidence, Failure, Noticed, Outcome, Report, Reporter, TestEnd};
use super::suspicious::SuspiciousUse;
use crate::sandbox::{Ended, Limits, Protection, Run, Tier};
use crate::untrusted::{clean, clean_line};

/// Most columns of a message.
const COLUMNS: usize = 400;
/// Messages of programs that look for another machine, in lower case.
const LOOKUPS: &[&str] = &[
    "failure in name resolution", "getaddrinfo e", "no such host", "failed to lookup address",
    "network is unreachable", "connect enetunreach", "gaierror", "name or service not known", "server misbehaving",
];
/// Errors of tests that want something of their machine.
const OF_MACHINE: &[&str] = &[
    "BlockingIOError", "Connection refused", "ConnectionError", "ConnectionRefusedError", "EACCES", "ECONNREFUSED",
    "ENOENT", "EPERM", "EROFS", "FileNotFoundError", "No such file", "OSError", "Permission denied", "PermissionError",
    "TimeoutError", "executable file not found", "no such file", "operation not permitted", "permission denied",
];
/// Most tests of one verdict that are kept by name.
const MOST_CHECKS: usize = 500;
/// Most marks of one verdict.
const MOST_MARKS: usize = 5;

/// The end of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All tests ran and passed.
    Passed,
    /// The tests ran and a check failed.
    Failed,
    /// The code could not be loaded, or the tests could not be started.
    Error,
    /// The wall-clock limit was hit.
    Timeout,
    /// A limit, a signal or an exit before the completion record ended the process. The message says which.
    Killed,
    /// The code interfered with the judging.
    Tampered,
    /// There was nothing to run.
    NotRun,
}

impl Status {
    /// Name of the status on the screen and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Status::Passed => "PASS",
            Status::Failed => "FAIL",
            Status::Error => "ERROR",
            Status::Timeout => "TIMEOUT",
            Status::Killed => "KILLED",
            Status::Tampered => "TAMPERED",
            Status::NotRun => "NOT RUN",
        }
    }
}

/// Details behind a verdict: the runner, and the suspicious uses in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Assurance {
    /// Name of the runner in its own spelling; empty if none was started.
    pub runner: String,
    /// Tests and examples beside a pass that do not confirm it, and suspicious uses in the code that neither
    /// the user's text nor the tests ask for; a sentence each.
    pub marks: Vec<String>,
    /// Each test by name, and true if it passed; only where tests are reported by name.
    #[serde(skip)]
    pub checks: Vec<(String, bool)>,
}

/// The result of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The end of the trial.
    pub status: Status,
    /// One line for the reader: the first failing check, the limit hit, the error; cleaned. `3 checks` for a
    /// pass.
    pub message: String,
    /// Wall time of the tests in ms.
    pub duration_ms: u64,
    /// Total time that the user waited, in ms: copies, building and runs without the candidate included.
    pub waited_ms: u32,
    /// Output of the code, capped and cleaned.
    pub output: String,
    /// The runner and the marks.
    pub assurance: Box<Assurance>,
    /// The interpreter that ran the tests and the reason for its choice, if a project may have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// The tests that decided, if others were tried before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// The test that failed and why, if tests are reported by name.
    #[serde(skip)]
    pub failed: Option<(String, String)>,
    /// True if the tests pass with one of the vacuity bodies as well.
    #[serde(skip)]
    pub is_partial: bool,
    /// True if the tests might say more where they can be run: their runner, a package, or something that they
    /// want of the machine is missing.
    #[serde(skip)]
    pub is_unheard: bool,
    /// The bodies that the tests are known to fail with.
    #[serde(skip)]
    pub noticed: Noticed,
}

impl Assurance {
    /// Combines two verdicts when tests of several kinds decide.
    fn with(mut self, other: &Self) -> Self {
        if self.runner.is_empty() {
            self.runner.clone_from(&other.runner);
        } else if !self.runner.contains(&other.runner) {
            self.runner = format!("{}, {}", self.runner, other.runner);
        }
        self.checks.extend(other.checks.iter().cloned());
        self
    }
}

impl Verdict {
    /// The verdict of a candidate on which nothing was run.
    pub fn not_run(message: &str) -> Self {
        let message = clean_line(message, COLUMNS);
        Self {
            status: Status::NotRun,
            message,
            duration_ms: 0,
            waited_ms: 0,
            output: String::new(),
            assurance: Box::default(),
            interpreter: None,
            tests: None,
            failed: None,
            is_partial: false,
            is_unheard: false,
            noticed: Noticed::Unknown,
        }
    }

    /// The message for the reader, with the mark of a pass and the remark about vacuous tests behind it.
    pub fn words(&self) -> String {
        let mark =
            self.assurance.marks.first().filter(|_| self.has_passed()).map(|first| match self.assurance.marks.len() {
                1 => first.clone(),
                more => format!("{first}, and {} more", more - 1),
            });
        let tests = self.tests.as_ref();
        let tests = tests.map(|tests| format!("decided by {tests}"));
        [Some(self.message.clone()), mark, tests].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// [`Self::words`] with the lines of the reason of the test that failed, if it has several.
    pub fn lines(&self) -> String {
        let words = self.words();
        let Some(why) = self.failed.as_ref().map(|(_, why)| clean(why)).filter(|why| why.trim().contains('\n')) else {
            return words;
        };
        let flat = clean_line(&why, usize::MAX);
        let (begin, _) = flat.split_at(flat.char_indices().nth(20).map_or(flat.len(), |(at, _)| at));
        match words.find(begin) {
            // The message may have been cut.
            Some(at) => {
                let rest = words[at..].strip_prefix(&flat).unwrap_or_default();
                let why: Vec<&str> = why.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
                format!("{}{}{rest}", &words[..at], why.join("\n"))
            }
            None => words,
        }
    }

    /// Its times for the reader: the time of the tests, and the total time if that is longer.
    pub fn time(&self) -> String {
        let all = Some(self.waited_ms).filter(|waited| u64::from(*waited) > self.duration_ms);
        let all = all.map(|waited| format!(", {waited} ms in all")).unwrap_or_default();
        format!("{} ms{all}", self.duration_ms)
    }

    /// Returns true if all tests ran and passed.
    pub fn has_passed(&self) -> bool {
        self.status == Status::Passed
    }

    /// Returns true if the code has suspicious uses, or tests beside a pass do not confirm it.
    pub fn is_marked(&self) -> bool {
        !self.assurance.marks.is_empty()
    }

    /// Adds suspicious uses of the code.
    #[must_use]
    pub(super) fn marked(mut self, found: &[SuspiciousUse]) -> Self {
        self.assurance.marks =
            found.iter().map(|used| clean_line(&used.sentence(), COLUMNS)).take(MOST_MARKS).collect();
        self
    }

    /// Marks a pass with other tests that do not confirm it, a sentence each.
    #[must_use]
    pub(super) fn despite(mut self, others: &[String]) -> Self {
        if self.has_passed() {
            let others = others.iter().map(|other| clean_line(other, COLUMNS));
            self.assurance.marks.splice(0..0, others).for_each(drop);
            self.assurance.marks.truncate(MOST_MARKS);
        }
        self
    }

    /// Names the runner of the tests.
    #[must_use]
    pub(super) fn by(mut self, runner: &str) -> Self {
        self.assurance.runner = clean_line(runner, COLUMNS);
        self
    }

    /// The verdict of tests of several kinds: the first that is no pass, unless it only had nothing to run;
    /// else all of them combined.
    pub fn of_all(each: impl Iterator<Item = Result<Self, TrialError>>) -> Result<Self, TrialError> {
        let mut all: Option<Self> = None;
        for verdict in each {
            let verdict = verdict?;
            all = Some(match all {
                _ if !matches!(verdict.status, Status::Passed | Status::NotRun) => return Ok(verdict),
                Some(known) if verdict.status == Status::NotRun => known,
                Some(known) if known.has_passed() => Self {
                    message: both(&known.message, &verdict.message),
                    duration_ms: known.duration_ms + verdict.duration_ms,
                    output: known.output + &verdict.output,
                    assurance: Box::new(known.assurance.with(&verdict.assurance)),
                    noticed: known.noticed.max(verdict.noticed),
                    ..verdict
                },
                _ => verdict,
            });
        }
        Ok(all.unwrap_or_else(|| Self::not_run("there are no tests")))
    }

    /// Adds the interpreter that ran the tests. A message about a missing package names it.
    #[must_use]
    pub fn with_interpreter(mut self, interpreter: String) -> Self {
        if self.message.contains("No module named") {
            self.message = format!("{}; this is {interpreter}", self.message);
        }
        Self { interpreter: Some(interpreter), ..self }
    }

    /// The verdict of tests that never called the function. `failure` is the first that fails nevertheless.
    pub fn unreached(function: Option<&str>, failure: Option<&str>) -> Self {
        let function = function.unwrap_or("the function");
        match failure {
            Some(why) => {
                let message = format!("the tests fail without calling `{function}`: {why}");
                Self { is_unheard: true, ..Self::not_run(&message) }
            }
            None => Self::not_run("").vacuous(function),
        }
    }

    /// The verdict of vacuous tests.
    #[must_use]
    pub fn vacuous(self, function: &str) -> Self {
        let message = format!("these tests do not notice `{function}`: they pass when it does nothing as well");
        Self { status: Status::NotRun, message, ..self }
    }

    /// A verdict beside tests that hit a limit, which `hit` tells: a pass of those that notice little is none.
    #[must_use]
    pub fn beside_limit(self, hit: &str) -> Self {
        if !(self.has_passed() && self.is_partial) {
            return self;
        }
        let hit = Some(hit).filter(|hit| !self.message.contains(hit)).map(|hit| format!("; {hit}")).unwrap_or_default();
        let message = clean_line(&format!("{}{hit}", self.message), COLUMNS);
        Self { status: Status::NotRun, message, is_partial: false, ..self }
    }

    /// Adds the tests that decided after others had said nothing.
    #[must_use]
    pub fn of_other_tests(self, tests: &str) -> Self {
        Self { tests: Some(clean_line(tests, COLUMNS)), ..self }
    }

    /// Adds the tests that were left out, each with the reason.
    #[must_use]
    pub fn without_tests(self, left_out: &[String]) -> Self {
        if left_out.is_empty() || self.status == Status::NotRun {
            return self;
        }
        let message = format!("{}; {}", self.message, left_out.join("; "));
        Self { message: clean_line(&message, COLUMNS), ..self }
    }

    /// Adds other tests that said nothing either.
    #[must_use]
    pub fn nor_by(self, others: &[String]) -> Self {
        if others.is_empty() {
            return self;
        }
        // Each has room for its reason.
        let others: Vec<String> = others.iter().map(|other| clean_line(other, COLUMNS / 2)).collect();
        let message =
            format!("{}; the other tests that were found decide nothing either: {}", self.message, others.join(", "));
        Self { message, ..self }
    }

    /// Adds what the sandbox withholds from tests, if the message shows that one failed by it. `is_withheld`
    /// tells this of a variable of the environment. A test that looked for another machine says nothing.
    #[must_use]
    pub fn explained(self, protection: &Protection, is_withheld: impl Fn(&str) -> bool) -> Self {
        let words = self.message.to_lowercase();
        let is_refused = ["operation not permitted", "eperm"].iter().any(|error| words.contains(error));
        let is_lookup = self.is_lookup();
        let tier = &protection.tier;
        let why = match self.missing_key().filter(|name| is_withheld(name)) {
            _ if self.has_passed() => return self,
            _ if is_lookup => "tests have no network, and reach no other machine".to_owned(),
            Some(name) => format!("the variable {name} of your environment is withheld from tests"),
            None if is_refused && protection.seccomp && *tier != Tier::Full.name() => format!(
                "the sandbox is in the tier \"{tier}\", where sockets and changes of a file's mode or times are refused; \
                 the tier \"full\" allows them (see bass-tui doctor)"
            ),
            None => return self,
        };
        let status = if is_lookup && self.status == Status::Failed { Status::NotRun } else { self.status };
        Self { status, message: format!("{}; {why}", self.message), ..self }
    }

    /// Returns true if the failure may be one of this machine, or of the sandbox: a file, a program or another
    /// machine that a test wants and does not get, or a variable that is withheld.
    pub(super) fn is_of_machine(&self, is_withheld: impl Fn(&str) -> bool) -> bool {
        let is_variable = || self.missing_key().is_some_and(is_withheld);
        self.is_lookup() || is_variable() || OF_MACHINE.iter().any(|error| self.message.contains(error))
    }

    /// Returns true if a test looked for another machine.
    fn is_lookup(&self) -> bool {
        let words = self.message.to_lowercase();
        LOOKUPS.iter().any(|error| words.contains(error))
    }

    /// The key of a failed lookup, which may be a variable of the environment.
    fn missing_key(&self) -> Option<&str> {
        self.message.split("KeyError: '").nth(1).and_then(|rest| rest.split('\'').next())
    }

    /// The verdict of tests that cannot be run or fail for the same reason without the candidate.
    #[must_use]
    pub fn without_candidate(self) -> Self {
        let so = match self.status {
            Status::Failed => "a test fails without the candidate as well, and for the same reason",
            _ => "the tests cannot be run without the candidate either",
        };
        let message = format!("{so}: {}", self.message);
        let is_unheard = self.status != Status::Failed;
        Self { status: Status::NotRun, message: clean_line(&message, COLUMNS), is_unheard, ..self }
    }
}

/// The verdict. If an interpreter did not start, the sandbox is at fault, not the code.
pub fn decide(evidence: &Evidence, limits: &Limits) -> Result<Verdict, TrialError> {
    let Evidence { run, report, changed, remark, .. } = evidence;
    let is_silent = matches!(report, Report::Missing | Report::Forged);
    if !run.has_started && is_silent && run.ended != Ended::Cancelled {
        return Err(did_not_come_up(run));
    }
    let found = match &evidence.missing {
        Some(missing) if run.ended == Ended::Exited(0) => (Status::NotRun, missing.clone()),
        _ => of_process(evidence, limits),
    };
    let (status, message) = match (found, changed) {
        ((Status::Passed, _), Some(what)) => (Status::Tampered, format!("the code changed {what}")),
        (found, _) => found,
    };
    let failed = (status == Status::Failed).then(|| first_failure(evidence)).flatten();
    let message = if remark.is_empty() { message } else { format!("{message} ({remark})") };
    Ok(Verdict {
        status,
        duration_ms: run.elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        output: clean(&run.output),
        assurance: Box::new(Assurance {
            runner: clean_line(&evidence.runner, 80),
            marks: Vec::new(),
            checks: checks(report),
        }),
        failed: failed.map(|test| (test.name.clone(), test.why.clone())),
        is_unheard: evidence.missing.is_some(),
        noticed: evidence.noticed,
        ..Verdict::not_run(&message)
    })
}

/// Each test of a report that ran, by name.
fn checks(report: &Report) -> Vec<(String, bool)> {
    let Report::Tests { tests, .. } = report else { return Vec::new() };
    let ran = tests.iter().filter(|test| test.outcome != Outcome::Skipped).take(MOST_CHECKS);
    ran.map(|test| (clean_line(&test.name, COLUMNS), test.outcome == Outcome::Passed)).collect()
}

fn did_not_come_up(run: &Run) -> TrialError {
    let said = run.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    TrialError::Sandbox(format!("the interpreter did not come up: {}", clean_line(said, COLUMNS)))
}

/// The end of the process is judged first, then the report.
fn of_process(evidence: &Evidence, limits: &Limits) -> (Status, String) {
    match limit(evidence.run.ended, limits) {
        Some(hit) => hit,
        None if evidence.run.ended == Ended::Cancelled => (Status::Killed, "cancelled".to_owned()),
        None => of_report(evidence),
    }
}

/// The verdict of a process that was ended by a limit.
pub fn limit(ended: Ended, limits: &Limits) -> Option<(Status, String)> {
    let mib = |bytes: u64| format!("{} MiB", bytes.div_ceil(1 << 20));
    Some(match ended {
        Ended::WallLimit => (Status::Timeout, format!("no result after {} s", limits.wall.as_secs_f64())),
        Ended::MemoryLimit => (Status::Killed, format!("used more than {} of memory", mib(limits.memory))),
        Ended::ProcessLimit => {
            (Status::Killed, format!("started more than {} processes and threads", limits.processes))
        }
        Ended::OutputLimit => (Status::Killed, format!("printed more than {}", mib(limits.output))),
        Ended::DiskLimit => (Status::Killed, "wrote too much or too many files".to_owned()),
        Ended::Cancelled | Ended::Exited(_) | Ended::Signalled(_) => return None,
    })
}

/// The flag that raises a limit, if there is one.
pub fn raised_by(ended: Ended) -> Option<&'static str> {
    match ended {
        Ended::WallLimit => Some("--timeout"),
        Ended::MemoryLimit => Some("--memory"),
        Ended::ProcessLimit => Some("--processes"),
        _ => None,
    }
}

/// The message for a process that ended too early.
fn early_end(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("the process ended (exit code {code}) before the tests were done"),
        Ended::Signalled(signal) => {
            format!("the process was ended by {} before the tests were done", signal_name(signal))
        }
        _ => "the process did not end by itself".to_owned(),
    }
}

/// The verdict of a process that ended by itself or by a signal.
fn of_report(evidence: &Evidence) -> (Status, String) {
    let ended = evidence.run.ended;
    // A failure needs no proof.
    if let Some(Failure::Said(why)) = &evidence.failure {
        return (Status::Failed, why.clone());
    }
    let is_done = ended == Ended::Exited(0) || evidence.failure.is_some();
    match &evidence.report {
        Report::Forged => (Status::Tampered, "the code wrote to the report of the tests".to_owned()),
        Report::Missing => match &evidence.complaint {
            Some(complaint) if matches!(ended, Ended::Exited(_)) => (Status::Error, complaint.clone()),
            _ => (Status::Killed, early_end(ended)),
        },
        Report::ExitCode(words) if is_done => (Status::Passed, words.clone()),
        Report::Tests { tests, is_whole, .. } if is_done => of_tests(evidence, tests, *is_whole),
        // The completion record is still missing.
        Report::ExitCode(_) | Report::Tests { by: Reporter::Guard, .. } => (Status::Killed, early_end(ended)),
        Report::Tests { .. } => {
            let end = match ended {
                Ended::Exited(code) => format!("ended with exit code {code}"),
                Ended::Signalled(signal) => format!("was ended by {}", signal_name(signal)),
                _ => "did not end by itself".to_owned(),
            };
            (Status::Tampered, format!("a report came, but the process {end}"))
        }
    }
}

/// The first test by name that failed, of those that count.
fn first_failure(evidence: &Evidence) -> Option<&TestEnd> {
    let Report::Tests { tests, .. } = &evidence.report else { return None };
    tests.iter().find(|test| test.outcome == Outcome::Failed && !evidence.flaky.contains(&test.name))
}

/// Judges tests by name: none may have failed, and each required one must have passed.
fn of_tests(evidence: &Evidence, tests: &[TestEnd], is_whole: bool) -> (Status, String) {
    if let Some(complaint) = &evidence.complaint {
        return (Status::Error, complaint.clone());
    }
    let flaky: HashSet<&String> = evidence.flaky.iter().collect();
    let counted: Vec<&TestEnd> = tests.iter().filter(|test| !flaky.contains(&test.name)).collect();
    let with = |outcome: Outcome| counted.iter().filter(move |test| test.outcome == outcome);
    if let Some(TestEnd { name, why, .. }) = first_failure(evidence) {
        // An example names itself, and a test that is a whole file names the place of the failure.
        let says_all = evidence.runner == "doctest" || why.contains(&format!("({name}:"));
        return (
            Status::Failed,
            match why.as_str() {
                "" => format!("{name} failed"),
                why if says_all => why.to_owned(),
                why => format!("{name}: {why}"),
            },
        );
    }
    if let Some(TestEnd { name, .. }) = with(Outcome::Odd).next() {
        return (Status::Tampered, format!("the report of {name} makes no sense"));
    }
    let early = |what: &str| (Status::Killed, format!("the process ended with exit code 0 before {what} done"));
    // Two tests in two modules may have one name.
    let times = |name: &String| tests.iter().filter(|test| test.name == *name).count();
    let asked = |name: &String| evidence.asked.iter().filter(|other| *other == name).count();
    if let Some(name) = evidence.asked.iter().find(|name| times(name) < asked(name)) {
        return early(&format!("{name} was"));
    }
    if !is_whole {
        return early("the tests were");
    }
    let ended: HashMap<&String, Outcome> = counted.iter().map(|test| (&test.name, test.outcome)).collect();
    // The name of a test with parameters may hold what the function under test made of them.
    let is_renamed = |name: &String| {
        let Some((test, _)) = name.split_once('[') else { return false };
        let is_part = |name: &String| name.split_once('[').is_some_and(|(other, _)| other == test);
        let passed = counted.iter().filter(|end| end.outcome == Outcome::Passed && is_part(&end.name));
        passed.count() >= evidence.wanted.iter().filter(|name| is_part(name)).count()
    };
    let has_passed = evidence.wanted.iter().any(|name| ended.get(name) == Some(&Outcome::Passed));
    for name in &evidence.wanted {
        match ended.get(name) {
            None if is_renamed(name) => {}
            None => return (Status::Failed, format!("{name} was not run: it is there without the candidate")),
            Some(Outcome::Passed) => {}
            // It skips itself by what the function did, as a test may.
            Some(Outcome::Skipped) if has_passed => {}
            Some(Outcome::Skipped) if evidence.is_own => {
                return (
                    Status::NotRun,
                    format!("{name} skips itself with the function as it is, and says nothing of it"),
                );
            }
            Some(_) => return (Status::Failed, format!("{name} was skipped, and it has to run")),
        }
    }
    match with(Outcome::Passed).count() as u64 {
        0 => (Status::NotRun, "no tests were run".to_owned()),
        passed => (Status::Passed, count(passed, "test")),
    }
}

/// The messages of two passes as one: numbers of tests are added.
fn both(one: &str, other: &str) -> String {
    let number = |words: &str| words.strip_suffix(" tests").or(words.strip_suffix(" test"))?.parse::<u64>().ok();
    match (number(one), number(other)) {
        (Some(one), Some(other)) => count(one + other, "test"),
        _ => format!("{one}, {other}"),
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV (a bad memory access)",
        libc::SIGABRT => "SIGABRT (it aborted itself)",
        libc::SIGKILL => "SIGKILL (it killed itself, or memory ran out)",
        libc::SIGBUS => "SIGBUS (a bad memory access)",
        libc::SIGFPE => "SIGFPE (a bad calculation)",
        libc::SIGILL => "SIGILL (a bad instruction)",
        libc::SIGSYS => "SIGSYS (a forbidden system call)",
        libc::SIGXCPU => "SIGXCPU (out of processor time)",
        libc::SIGXFSZ => "SIGXFSZ (a file grew too large)",
        libc::SIGTERM => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::trial::judge::record;

    const PASS: &str = "{\"nonce\":\"n\",\"tests\":[[\"a\",\"passed\",\"\"]],\"complaint\":\"\"}\n";

    fn run(ended: Ended, record: &str) -> Run {
        let elapsed = Duration::from_millis(5);
        Run { ended, has_started: true, record: record.as_bytes().to_vec(), output: String::new(), elapsed }
    }

    fn evidence(run: Run) -> Evidence {
        let tests = |tests| Report::Tests { by: Reporter::Runner, tests, is_whole: true };
        let report = record::named(&run.record, "n").map_or_else(|unread| unread, |names| tests(names.tests));
        Evidence::of(run, report)
    }

    fn decided(evidence: &Evidence) -> Verdict {
        decide(evidence, &Limits::default()).unwrap()
    }

    #[test]
    fn a_failure_by_what_is_withheld_says_so_once() {
        let protection = |tier: &str| Protection { tier: tier.to_owned(), seccomp: true, ..Protection::default() };
        let said = |status, message: &str, tier| {
            let verdict = Verdict { status, ..Verdict::not_run(message) };
            let words = verdict.explained(&protection(tier), |name| name == "TOKEN").message;
            words.strip_prefix(message).unwrap().trim_start_matches("; ").to_owned()
        };
        let refused = "listen tcp: socket: operation not permitted";
        let words = said(Status::Failed, refused, "kernel rules");
        assert!(words.contains("\"kernel rules\"") && words.contains("\"full\""), "{words}");
        assert_eq!(words, said(Status::NotRun, "listen EPERM: operation not permitted", "kernel rules"));
        for (status, message, tier) in [
            (Status::Failed, refused, "full"),
            (Status::Passed, refused, "kernel rules"),
            (Status::Failed, "1 != 2", "kernel rules"),
            (Status::Failed, "KeyError: 'other'", "full"),
        ] {
            assert_eq!(said(status, message, tier), "", "{message}");
        }
        for lookup in ["ConnectionError: Temporary failure in name resolution", "Error: getaddrinfo EAI_AGAIN x"] {
            assert_eq!(said(Status::Failed, lookup, "full"), "tests have no network, and reach no other machine");
        }
        assert_eq!(said(Status::Failed, "expected 'ENOTFOUND', got undefined", "full"), "");
        let of_variable = "the variable TOKEN of your environment is withheld from tests";
        assert_eq!(said(Status::Failed, "test_a: KeyError: 'TOKEN'", "full"), of_variable);
    }

    #[test]
    fn a_pass_needs_everything() {
        let verdict = decided(&evidence(run(Ended::Exited(0), PASS)));
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"));
        let cases = [
            (Ended::Exited(0), String::new(), Status::Killed),
            (Ended::Exited(1), PASS.to_owned(), Status::Tampered),
            (Ended::Signalled(9), PASS.to_owned(), Status::Tampered),
            (Ended::Signalled(11), String::new(), Status::Killed),
            (Ended::WallLimit, PASS.to_owned(), Status::Timeout),
            (Ended::MemoryLimit, PASS.to_owned(), Status::Killed),
            (Ended::OutputLimit, PASS.to_owned(), Status::Killed),
            (Ended::ProcessLimit, PASS.to_owned(), Status::Killed),
            (Ended::DiskLimit, PASS.to_owned(), Status::Killed),
            (Ended::Cancelled, PASS.to_owned(), Status::Killed),
            (Ended::Exited(0), PASS.repeat(2), Status::Tampered),
            (Ended::Exited(0), format!("x{PASS}"), Status::Tampered),
            (Ended::Exited(0), format!("{PASS}\n"), Status::Tampered),
            (Ended::Exited(0), PASS.trim_end().to_owned(), Status::Tampered),
            (Ended::Exited(0), PASS.replace("\"n\"", "\"m\""), Status::Tampered),
            (Ended::Exited(0), PASS.replace("[\"a\",\"passed\",\"\"]", ""), Status::NotRun),
            (Ended::Exited(0), PASS.replace("passed", "PASSED"), Status::Tampered),
        ];
        for (ended, record, expected) in cases {
            assert_eq!(decided(&evidence(run(ended, &record))).status, expected, "{ended:?} {record}");
        }
        let missing = Evidence { missing: Some("install it".to_owned()), ..evidence(run(Ended::Exited(0), PASS)) };
        assert_eq!((decided(&missing).status, decided(&missing).message), (Status::NotRun, "install it".to_owned()));
    }

    #[test]
    fn an_interpreter_that_does_not_come_up_is_no_verdict() {
        let mut failed = run(Ended::Exited(1), "");
        failed.has_started = false;
        failed.output = "Fatal Python error\n\n".to_owned();
        let error = decide(&evidence(failed), &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("Fatal Python error"));
    }

    fn named(by: Reporter, ended: Ended, tests: &[(&str, Outcome)]) -> Evidence {
        let tests = tests.iter().map(|(name, outcome)| TestEnd::new(name, *outcome)).collect();
        Evidence::of(run(ended, ""), Report::Tests { by, tests, is_whole: true })
    }

    #[test]
    fn every_wanted_test_has_to_pass_by_name() {
        use Outcome::{Failed, Odd, Passed, Skipped};
        let status = |tests: &[(&str, Outcome)], wanted: &[&str], flaky: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let all = named(Reporter::Runner, Ended::Exited(0), tests);
            decided(&Evidence { wanted: names(wanted), flaky: names(flaky), ..all }).status
        };
        let both = &["a", "b"];
        assert_eq!(status(&[("a", Passed), ("b", Passed)], both, &[]), Status::Passed);
        assert_eq!(status(&[("a", Passed), ("b", Passed), ("new", Passed)], both, &[]), Status::Passed);
        assert_eq!(status(&[("a", Passed)], both, &[]), Status::Failed, "one vanished");
        assert_eq!(status(&[("a", Passed), ("b", Skipped)], both, &[]), Status::Passed, "by what the function did");
        assert_eq!(status(&[("new", Passed), ("b", Skipped)], &["b"], &[]), Status::Failed, "another one passes");
        assert_eq!(status(&[("a", Failed), ("b", Passed)], both, &[]), Status::Failed);
        let own = |tests: &[(&str, Outcome)]| {
            let wanted = vec!["a".to_owned(), "b".to_owned()];
            let all = named(Reporter::Runner, Ended::Exited(0), tests);
            decided(&Evidence { wanted, is_own: true, ..all }).status
        };
        assert_eq!(own(&[("a", Skipped), ("b", Skipped)]), Status::NotRun, "the user's own code cannot be at fault");
        assert_eq!((own(&[("a", Passed)]), own(&[("a", Failed), ("b", Skipped)])), (Status::Failed, Status::Failed));
        assert_eq!(status(&[("a", Passed), ("b", Odd)], both, &[]), Status::Tampered);
        assert_eq!(status(&[], both, &[]), Status::Failed);
        assert_eq!(status(&[], &[], &[]), Status::NotRun, "nothing run is no pass");
        assert_eq!(status(&[("a", Skipped)], &[], &[]), Status::NotRun);
        assert_eq!(status(&[("a", Passed), ("b", Failed)], &["a"], &["b"]), Status::Passed);
        assert_eq!(status(&[("b", Passed)], &["a"], &["b"]), Status::Failed);
    }

    #[test]
    fn no_end_before_the_tests_are_done_is_a_pass() {
        let asked = || vec!["a".to_owned(), "b".to_owned()];
        let (one, both) = (&[("a", Outcome::Passed)][..], &[("a", Outcome::Passed), ("b", Outcome::Passed)][..]);
        let early = "the process ended with exit code 0 before b was done";
        let guard = |ended, tests| Evidence { asked: asked(), ..named(Reporter::Guard, ended, tests) };
        let found = |evidence: &Evidence| {
            let verdict = decided(evidence);
            (verdict.status, verdict.message)
        };
        assert_eq!(found(&guard(Ended::Exited(0), both)), (Status::Passed, "2 tests".to_owned()));
        assert_eq!(found(&guard(Ended::Exited(0), one)), (Status::Killed, early.to_owned()));
        assert_eq!(found(&guard(Ended::Exited(3), both)).0, Status::Killed);
        assert_eq!(found(&guard(Ended::Signalled(11), both)).0, Status::Killed);
        assert_eq!(found(&named(Reporter::Runner, Ended::Exited(3), both)).0, Status::Tampered);
        let twice = Evidence { asked: vec!["a".to_owned(); 2], ..guard(Ended::Exited(0), one) };
        assert_eq!(found(&twice).0, Status::Killed, "one of two with one name was cut off");
        let mut cut = guard(Ended::Exited(0), both);
        cut.report = Report::Tests { by: Reporter::Guard, tests: vec![], is_whole: false };
        cut.asked.clear();
        assert_eq!(found(&cut).0, Status::Killed);
        let failed = Failure::Said("no".to_owned());
        let failed = Evidence { failure: Some(failed), ..guard(Ended::Exited(101), both) };
        assert_eq!(found(&failed), (Status::Failed, "no".to_owned()), "passed, and yet the process says no");
    }

    #[test]
    fn a_pass_that_changed_the_tests_is_none() {
        let passed = Evidence::of(run(Ended::Exited(0), ""), Report::ExitCode("it ended with 0".to_owned()));
        assert_eq!(decided(&passed).status, Status::Passed);
        let verdict = decided(&Evidence { changed: Some("test_a.py".to_owned()), ..passed });
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Tampered, "the code changed test_a.py"));
        let failed = Evidence::of(run(Ended::Exited(1), ""), Report::ExitCode(String::new()));
        assert_eq!(decided(&failed).status, Status::Killed);
    }

    #[test]
    fn a_reason_in_lines_keeps_them() {
        let why = "not equal:\n+ actual - expected\n\n+ 3\n- 6\n (f.js:2)";
        let failed = Some(("adds".to_owned(), why.to_owned()));
        let verdict = Verdict { failed, ..Verdict::not_run(&format!("adds: {why}; left out: b")) };
        assert_eq!(verdict.words(), "adds: not equal: + actual - expected + 3 - 6 (f.js:2); left out: b");
        assert_eq!(verdict.lines(), "adds: not equal:\n+ actual - expected\n+ 3\n- 6\n (f.js:2); left out: b");
        let other = Verdict { message: "no result after 5 s".to_owned(), ..verdict };
        assert_eq!(other.lines(), other.words());
    }

    #[test]
    fn tests_of_several_kinds_have_to_pass_each() {
        let verdict = |status, message: &str, runner| Verdict { status, ..Verdict::not_run(message) }.by(runner);
        let two = verdict(Status::Passed, "2 tests", "doctest");
        let five = verdict(Status::Passed, "5 tests", "pytest");
        let none = verdict(Status::NotRun, "no tests were run", "pytest");
        let failed = verdict(Status::Failed, "no", "pytest");
        let of = |each: &[&Verdict]| {
            let all = Verdict::of_all(each.iter().map(|&verdict| Ok(verdict.clone()))).unwrap();
            (all.status, all.message, all.assurance.runner)
        };
        let both = (Status::Passed, "7 tests".to_owned(), "doctest, pytest".to_owned());
        assert_eq!(of(&[&two, &five]), both);
        assert_eq!(of(&[&none, &two, &five, &none]), both);
        assert_eq!(of(&[&two, &failed, &five]).0, Status::Failed);
        assert_eq!(of(&[&failed, &two]).0, Status::Failed);
        assert_eq!(of(&[&none, &none]).0, Status::NotRun);
        assert_eq!(of(&[]).0, Status::NotRun);
    }

    #[test]
    fn nothing_else_makes_a_pass() {
        fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
        }
        let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/trial");
        let rust = |path: &Path| path.extension().is_some_and(|ending| ending == "rs");
        for path in sources(&room).into_iter().filter(|path| rust(path) && !path.ends_with("verdict.rs")) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let names = code.lines().filter(|line| line.contains("Status::Passed") || line.contains("Status::*"));
            assert_eq!(names.collect::<Vec<_>>(), Vec::<&str>::new(), "{}: only `decide` makes a pass", path.display());
        }
    }
}
