//! From evidence to a verdict. Pure: every rule of what counts as a pass stands here, and nothing else makes
//! one.
//!
//! A pass needs an end with 0 by itself with no limit hit, a report of this run that nobody else wrote to,
//! every wanted test in it as passed, at least one check, and tests that are what they were. Whatever the
//! code printed counts for nothing. Where tests and code are two processes the report is that of the first,
//! which never held the code; the second must not have hit a limit or broken off.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::error::TrialError;
use super::evidence::{Evidence, Failure, Outcome, Record, Report, Reporter, Said, TestEnd};
use super::reach::{self, Reach};
use crate::sandbox::{Ended, Limits, Run};
use crate::untrusted::{clean, clean_line};

/// Columns of a message.
const COLUMNS: usize = 400;

/// How a trial ended.
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
    /// A limit, a signal or an exit before the completion record ended the process; the message says which.
    Killed,
    /// The code interfered with the judging.
    Tampered,
    /// There was nothing to run.
    NotRun,
}

impl Status {
    /// What it is called on the screen and in reports.
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

/// How far a verdict can be trusted when the code was written to deceive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Assurance {
    /// The tests ran in a process that never held the code: whatever the code does, it can only give values
    /// to be checked.
    Separate,
    /// Tests and code shared a process. Honest mistakes and common tricks are noticed; code that aims at the
    /// tests could forge a pass.
    Shared,
}

/// The result of one trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// How it ended.
    pub status: Status,
    /// One line for the reader: the first failing check, the limit hit, the error; cleaned. `3 checks` for a
    /// pass.
    pub message: String,
    /// Wall time of the tests in ms.
    pub duration_ms: u64,
    /// What the user waited for all of it in ms, copies, building and runs without the candidate included.
    pub waited_ms: u32,
    /// What the code printed, capped and cleaned.
    pub output: String,
    /// How far a pass can be trusted.
    pub assurance: Assurance,
    /// What the code uses that nobody asked for: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The interpreter that ran the tests and why it was taken, where a project may have its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// The tests that decided, where others were tried before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// The test that failed and why, where tests are reported by name.
    #[serde(skip)]
    pub failed: Option<(String, String)>,
    /// Whether the tests pass with one of the bodies that do nothing right as well.
    #[serde(skip)]
    pub is_partial: bool,
    /// Whether the tests are known to fail of every body that does nothing right.
    #[serde(skip)]
    pub notices: bool,
}

impl Verdict {
    /// The verdict of a candidate that nothing was run on.
    pub fn not_run(message: &str) -> Self {
        let message = clean_line(message, COLUMNS);
        Self {
            status: Status::NotRun,
            message,
            duration_ms: 0,
            waited_ms: 0,
            output: String::new(),
            assurance: Assurance::Separate,
            mark: None,
            interpreter: None,
            tests: None,
            failed: None,
            is_partial: false,
            notices: false,
        }
    }
}

impl Verdict {
    /// The verdict of a candidate that was not tried, in a process that tests and code would share.
    pub fn refused(message: &str) -> Self {
        Self { assurance: Assurance::Shared, ..Self::not_run(message) }
    }

    /// The message, with the mark of a pass and tests that nobody expected behind it: what a reader is shown.
    pub fn words(&self) -> String {
        let mark = self.mark.clone().filter(|_| self.has_passed());
        let tests = self.tests.as_ref();
        let tests = tests.map(|tests| format!("by {tests}, as the tests found first say nothing of the function"));
        [Some(self.message.clone()), mark, tests].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Its times for the reader: that of the tests, and what was waited in all where that is more.
    pub fn time(&self) -> String {
        let all = Some(self.waited_ms).filter(|waited| u64::from(*waited) > self.duration_ms);
        let all = all.map(|waited| format!(", {waited} ms in all")).unwrap_or_default();
        format!("{} ms{all}", self.duration_ms)
    }

    /// Whether all tests ran and passed.
    pub fn has_passed(&self) -> bool {
        self.status == Status::Passed
    }

    /// The same of code that uses what nobody asked for. In a process that tests and code share, a pass of
    /// code that uses what can only serve to deceive is none.
    #[must_use]
    pub(super) fn marked(self, mut found: Vec<Reach>) -> Self {
        found.retain(|reach| self.assurance == Assurance::Shared || !reach.is_of_one_process());
        let Some(mark) = reach::sentence(&found).map(|mark| clean_line(&mark, COLUMNS)) else { return self };
        let (status, message) = match (self.status, self.assurance) {
            (Status::Passed, Assurance::Shared) if found.iter().any(Reach::deceives) => {
                (Status::Tampered, mark.clone())
            }
            (other, _) => (other, self.message),
        };
        Self { status, message, mark: Some(mark), ..self }
    }

    /// Of tests of several kinds: the first that is no pass, unless there was just nothing to run; else what
    /// all of them say.
    pub fn of_all(each: impl Iterator<Item = Result<Self, TrialError>>) -> Result<Self, TrialError> {
        let mut all: Option<Self> = None;
        for verdict in each {
            let verdict = verdict?;
            all = Some(match all {
                _ if !matches!(verdict.status, Status::Passed | Status::NotRun) => return Ok(verdict),
                Some(known) if verdict.status == Status::NotRun => known,
                Some(known) if known.has_passed() => Self {
                    message: format!("{}, {}", known.message, verdict.message),
                    duration_ms: known.duration_ms + verdict.duration_ms,
                    output: known.output + &verdict.output,
                    assurance: if known.assurance == Assurance::Shared { Assurance::Shared } else { verdict.assurance },
                    notices: known.notices || verdict.notices,
                    ..verdict
                },
                _ => verdict,
            });
        }
        Ok(all.unwrap_or_else(|| Self::not_run("there are no tests")))
    }

    /// The same, with the interpreter that ran the tests. A message about a missing package names it.
    #[must_use]
    pub fn with_interpreter(mut self, interpreter: String) -> Self {
        if self.message.contains("No module named") {
            self.message = format!("{}; this is {interpreter}", self.message);
        }
        Self { interpreter: Some(interpreter), ..self }
    }

    /// The verdict of tests that were seen to pass without ever calling the function.
    pub fn unreached(function: Option<&str>) -> Self {
        Self::refused("").unnoticed(function.unwrap_or("the function"))
    }

    /// The same of tests that pass whatever the function does.
    #[must_use]
    pub fn unnoticed(self, function: &str) -> Self {
        let message = format!("these tests do not notice `{function}`: they pass when it does nothing as well");
        Self { status: Status::NotRun, message, ..self }
    }

    /// The same, decided by these tests after others had said nothing.
    #[must_use]
    pub fn of_other_tests(self, tests: &str) -> Self {
        Self { tests: Some(clean_line(tests, COLUMNS)), ..self }
    }

    /// The same of tests of which some were left out, each with why.
    #[must_use]
    pub fn without_tests(self, left_out: &[String]) -> Self {
        if left_out.is_empty() || self.status == Status::NotRun {
            return self;
        }
        let message = format!("{}; {}", self.message, left_out.join("; "));
        Self { message: clean_line(&message, COLUMNS), ..self }
    }

    /// The same of tests after which these did not say anything either.
    #[must_use]
    pub fn nor_by(self, others: &[&str]) -> Self {
        if others.is_empty() {
            return self;
        }
        let message = format!("{}; nor do the other tests that were found: {}", self.message, others.join(", "));
        Self { message: clean_line(&message, COLUMNS), ..self }
    }

    /// The same of tests that cannot be run without the candidate either, or fail, for the same reason.
    #[must_use]
    pub fn without_candidate(self) -> Self {
        let so = match self.status {
            Status::Failed => "a test fails without the candidate as well, and for the same reason",
            _ => "the tests cannot be run without the candidate either",
        };
        let message = format!("{so}: {}", self.message);
        Self { status: Status::NotRun, message: clean_line(&message, COLUMNS), ..self }
    }

    /// Of a run that only read the tests file of this name.
    pub fn of_parsing(self, name: &str) -> Result<(), TrialError> {
        match self.status {
            Status::Passed => Ok(()),
            Status::Error => Err(TrialError::TestsDoNotParse(self.message)),
            _ => Err(TrialError::Sandbox(format!("the tests file {name} could not be read: {}", self.message))),
        }
    }
}

/// The verdict. An interpreter that did not come up is the sandbox's fault, not the code's.
pub fn decide(evidence: &Evidence, limits: &Limits) -> Result<Verdict, TrialError> {
    let Evidence { run, worker, report, changed, remark, .. } = evidence;
    let is_silent = matches!(report, Report::Missing | Report::Forged);
    if !run.has_started && is_silent && run.ended != Ended::Cancelled {
        return Err(did_not_come_up(run));
    }
    if let Some(worker) = worker.as_ref().filter(|worker| is_gone(evidence) && !worker.has_started) {
        return Err(did_not_come_up(worker));
    }
    let (status, message) = match (of_processes(evidence, limits), changed) {
        ((Status::Passed, _), Some(what)) => (Status::Tampered, format!("the code changed {what}")),
        (found, _) => found,
    };
    let failed = (status == Status::Failed).then(|| first_failure(evidence)).flatten();
    let message = if remark.is_empty() { message } else { format!("{message} ({remark})") };
    let output = match worker {
        Some(worker) if !worker.output.is_empty() && !run.output.is_empty() => {
            format!("{}\n{}", worker.output.trim_end_matches('\n'), run.output)
        }
        Some(worker) => format!("{}{}", worker.output, run.output),
        None => run.output.clone(),
    };
    let elapsed = worker.as_ref().map_or(run.elapsed, |worker| run.elapsed.max(worker.elapsed));
    Ok(Verdict {
        status,
        message: clean_line(&message, COLUMNS),
        duration_ms: elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        waited_ms: 0,
        output: clean(&output),
        assurance: if worker.is_some() { Assurance::Separate } else { Assurance::Shared },
        mark: None,
        interpreter: None,
        tests: None,
        failed: failed.map(|test| (test.name.clone(), test.why.clone())),
        is_partial: false,
        notices: evidence.notices,
    })
}

/// Whether the judge lost the line to the code.
fn is_gone(evidence: &Evidence) -> bool {
    matches!(&evidence.report, Report::Judge(record) if record.status == Said::Gone)
        && evidence.run.ended == Ended::Exited(0)
}

fn did_not_come_up(run: &Run) -> TrialError {
    let said = run.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    TrialError::Sandbox(format!("the interpreter did not come up: {}", clean_line(said, COLUMNS)))
}

/// First what ended the processes, then what was reported. The worker has no say but by its end.
fn of_processes(evidence: &Evidence, limits: &Limits) -> (Status, String) {
    let Evidence { run, worker, .. } = evidence;
    let worker = worker.as_ref().filter(|_| run.ended != Ended::Cancelled);
    if let Some(hit) = worker.and_then(|worker| limit(worker.ended, limits)).or_else(|| limit(run.ended, limits)) {
        return hit;
    }
    if run.ended == Ended::Cancelled {
        return (Status::Killed, "cancelled".to_owned());
    }
    match (worker, of_report(evidence)) {
        (Some(worker), _) if is_gone(evidence) => (Status::Killed, early_end(worker.ended)),
        (Some(worker), (Status::Passed, _)) if !matches!(worker.ended, Ended::Exited(0) | Ended::Cancelled) => {
            (Status::Killed, early_end(worker.ended))
        }
        (_, found) => found,
    }
}

/// The verdict of a process that had to be ended.
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

/// What is said of a process that ended although more was wanted of it.
fn early_end(ended: Ended) -> String {
    match ended {
        Ended::Exited(code) => format!("the process ended (exit code {code}) before the tests were done"),
        Ended::Signalled(signal) => {
            format!("the process was ended by {} before the tests were done", signal_name(signal))
        }
        _ => "the code cut the line to the tests".to_owned(),
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
        Report::Judge(record) if is_done => of_record(record),
        Report::Tests { tests, is_whole, .. } if is_done => of_tests(evidence, tests, *is_whole),
        // Nobody had said yet that all was done.
        Report::ExitCode(_) | Report::Tests { by: Reporter::Guard, .. } => (Status::Killed, early_end(ended)),
        Report::Judge(_) | Report::Tests { .. } => {
            let end = match ended {
                Ended::Exited(code) => format!("ended with exit code {code}"),
                Ended::Signalled(signal) => format!("was ended by {}", signal_name(signal)),
                _ => "did not end by itself".to_owned(),
            };
            (Status::Tampered, format!("a report came, but the process {end}"))
        }
    }
}

/// What the judge says.
fn of_record(record: &Record) -> (Status, String) {
    let status = match record.status {
        Said::Passed if record.checks > 0 => return (Status::Passed, count(record.checks, "check")),
        Said::Failed => Status::Failed,
        Said::Error => Status::Error,
        Said::NotRun => Status::NotRun,
        Said::Tampered => Status::Tampered,
        Said::Passed | Said::Gone | Said::Shared | Said::Nonsense => {
            return (Status::Tampered, "the report of the tests makes no sense".to_owned());
        }
    };
    (status, record.message.clone())
}

/// The first of the tests by name that failed, of those that count.
fn first_failure(evidence: &Evidence) -> Option<&TestEnd> {
    let Report::Tests { tests, .. } = &evidence.report else { return None };
    tests.iter().find(|test| test.outcome == Outcome::Failed && !evidence.flaky.contains(&test.name))
}

/// Of tests by name none may have failed, and each wanted one must have passed.
fn of_tests(evidence: &Evidence, tests: &[TestEnd], is_whole: bool) -> (Status, String) {
    if let Some(complaint) = &evidence.complaint {
        return (Status::Error, complaint.clone());
    }
    let flaky: HashSet<&String> = evidence.flaky.iter().collect();
    let counted: Vec<&TestEnd> = tests.iter().filter(|test| !flaky.contains(&test.name)).collect();
    let with = |outcome: Outcome| counted.iter().filter(move |test| test.outcome == outcome);
    if let Some(TestEnd { name, why, .. }) = first_failure(evidence) {
        return (Status::Failed, if why.is_empty() { format!("{name} failed") } else { format!("{name}: {why}") });
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
    for name in &evidence.wanted {
        match ended.get(name) {
            None => return (Status::Failed, format!("{name} was not run: it is there without the candidate")),
            Some(Outcome::Passed) => {}
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
    use crate::trial::judge::record::judged;

    const PASS: &str = "{\"nonce\":\"n\",\"status\":\"passed\",\"checks\":3,\"message\":\"\"}\n";

    fn run(ended: Ended, record: &str) -> Run {
        let elapsed = Duration::from_millis(5);
        Run { ended, has_started: true, record: record.as_bytes().to_vec(), output: String::new(), elapsed }
    }

    fn evidence(run: Run) -> Evidence {
        let report = judged(&run.record, "n");
        Evidence::of(run, report)
    }

    fn decided(evidence: &Evidence) -> Verdict {
        decide(evidence, &Limits::default()).unwrap()
    }

    #[test]
    fn a_pass_needs_everything() {
        let verdict = decided(&evidence(run(Ended::Exited(0), PASS)));
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "3 checks"));
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
            (Ended::Exited(0), PASS.replace('3', "0"), Status::Tampered),
            (Ended::Exited(0), PASS.replace("passed", "PASSED"), Status::Tampered),
        ];
        for (ended, record, expected) in cases {
            assert_eq!(decided(&evidence(run(ended, &record))).status, expected, "{ended:?} {record}");
        }
    }

    #[test]
    fn a_pass_of_two_needs_both() {
        let said = |status: &str| PASS.replace("passed", status);
        let passed = (Status::Passed, "3 checks");
        let gone = "the process ended (exit code 0) before the tests were done";
        let cases = [
            (Ended::Exited(0), PASS.to_owned(), Ended::Exited(0), passed),
            // A thread of the code keeps the worker from ending: it is ended, and the pass stands.
            (Ended::Exited(0), PASS.to_owned(), Ended::Cancelled, passed),
            (Ended::Exited(0), PASS.to_owned(), Ended::Exited(1), (Status::Killed, &gone.replace("code 0", "code 1"))),
            (
                Ended::Exited(0),
                PASS.to_owned(),
                Ended::MemoryLimit,
                (Status::Killed, "used more than 1024 MiB of memory"),
            ),
            (Ended::Exited(0), PASS.to_owned(), Ended::WallLimit, (Status::Timeout, "no result after 10 s")),
            (Ended::Exited(0), said("gone"), Ended::Exited(0), (Status::Killed, gone)),
            (Ended::Exited(0), said("gone"), Ended::Cancelled, (Status::Killed, "the code cut the line to the tests")),
            (Ended::Exited(0), said("gone"), Ended::WallLimit, (Status::Timeout, "no result after 10 s")),
            (Ended::Exited(0), said("tampered"), Ended::Exited(0), (Status::Tampered, "")),
            (Ended::Exited(0), String::new(), Ended::Exited(0), (Status::Killed, gone)),
            (Ended::WallLimit, String::new(), Ended::Cancelled, (Status::Timeout, "no result after 10 s")),
            (Ended::Cancelled, String::new(), Ended::WallLimit, (Status::Killed, "cancelled")),
        ];
        for (judge, record, worker, expected) in cases {
            // What stands in the worker's own record counts for nothing.
            let verdict = decided(&Evidence { worker: Some(run(worker, PASS)), ..evidence(run(judge, &record)) });
            assert_eq!((verdict.status, verdict.message.as_str()), expected, "{judge:?} {record} {worker:?}");
            assert_eq!(verdict.assurance, Assurance::Separate);
        }
        let absent = Run { has_started: false, ..run(Ended::Exited(1), "") };
        let absent = Evidence { worker: Some(absent), ..evidence(run(Ended::Exited(0), &said("gone"))) };
        assert!(decide(&absent, &Limits::default()).is_err());
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
        assert_eq!(status(&[("a", Passed), ("b", Skipped)], both, &[]), Status::Failed);
        assert_eq!(status(&[("a", Failed), ("b", Passed)], both, &[]), Status::Failed);
        let own = |tests: &[(&str, Outcome)]| {
            let wanted = vec!["a".to_owned(), "b".to_owned()];
            let all = named(Reporter::Runner, Ended::Exited(0), tests);
            decided(&Evidence { wanted, is_own: true, ..all }).status
        };
        assert_eq!(own(&[("a", Passed), ("b", Skipped)]), Status::NotRun, "the user's own code cannot be at fault");
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
    fn tests_of_several_kinds_have_to_pass_each() {
        let verdict = |status, message: &str, assurance| Verdict { status, assurance, ..Verdict::not_run(message) };
        let (separate, shared) = (Assurance::Separate, Assurance::Shared);
        let two = verdict(Status::Passed, "2 checks", separate);
        let five = verdict(Status::Passed, "5 tests", shared);
        let none = verdict(Status::NotRun, "no tests were run", shared);
        let failed = verdict(Status::Failed, "no", shared);
        let of = |each: &[&Verdict]| {
            let all = Verdict::of_all(each.iter().map(|&verdict| Ok(verdict.clone()))).unwrap();
            (all.status, all.message, all.assurance)
        };
        let both = (Status::Passed, "2 checks, 5 tests".to_owned(), shared);
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
