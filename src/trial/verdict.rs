//! From what a run left behind to a verdict. Pure: every rule of what counts as a pass stands here.
//!
//! A pass needs all of: exactly one record, the nonce of this run in it, all tests passed, more than no checks, an exit with 0 by
//! itself, and no limit hit. Whatever the code printed counts for nothing. With tests and code in two processes the record is the
//! judge's, who never held the code; the worker, who held it, must not have hit a limit or broken off either.

use std::time::Duration;

use serde::Deserialize;

use super::runner::pair::Pair;
use super::{Assurance, Limits, Status, TrialError, Verdict};
use crate::sandbox::{Ended, Run};
use crate::untrusted::{clean, clean_line};

/// Columns of a message.
const COLUMNS: usize = 400;

/// What the driver reports.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    nonce: String,
    status: String,
    checks: u64,
    message: String,
}

/// What the bytes on the record pipe say.
enum Report {
    Missing,
    Forged,
    Told(Record),
}

fn read(bytes: &[u8], nonce: &str) -> Report {
    if bytes.is_empty() {
        return Report::Missing;
    }
    // One line and nothing beside it: two records are no record.
    let Some(line) = bytes.strip_suffix(b"\n").filter(|line| !line.contains(&b'\n')) else { return Report::Forged };
    match serde_json::from_slice::<Record>(line) {
        Ok(record) if record.nonce == nonce => Report::Told(record),
        _ => Report::Forged,
    }
}

/// The verdict of a run with tests and code in one process. An interpreter that did not come up is the sandbox's fault, not the
/// code's.
pub fn of(run: &Run, nonce: &str, limits: &Limits) -> Result<Verdict, TrialError> {
    if !run.has_started && read(&run.record, nonce).is_missing_or_forged() && run.ended != Ended::Cancelled {
        return Err(did_not_come_up(run));
    }
    let (status, message) = judge(run, nonce, limits);
    Ok(verdict(status, &message, run.elapsed, &run.output, Assurance::Shared))
}

/// What came of judge and worker.
#[derive(Debug, PartialEq, Eq)]
pub enum Judged {
    /// A verdict.
    Verdict(Verdict),
    /// These tests need the code in their own process; why.
    NeedsOne(String),
}

/// The verdict of a run with tests and code in two processes. `None`: these tests need both in one.
///
/// The worker's record counts for nothing. Its end does: no pass with a worker that hit a limit or did not end as it should.
pub fn of_pair(pair: &Pair, nonce: &str, limits: &Limits) -> Result<Judged, TrialError> {
    let Pair { judge: run, worker } = pair;
    let report = read(&run.record, nonce);
    let is_cancelled = run.ended == Ended::Cancelled;
    if !run.has_started && report.is_missing_or_forged() && !is_cancelled {
        return Err(did_not_come_up(run));
    }
    let (said, why) = match (&report, run.ended) {
        (Report::Told(record), Ended::Exited(0)) => (record.status.as_str(), record.message.as_str()),
        _ => ("", ""),
    };
    let (status, message) = match (limit(worker.ended, limits), said) {
        (_, "shared") => return Ok(Judged::NeedsOne(clean_line(why, COLUMNS))),
        (_, "gone") if !worker.has_started => return Err(did_not_come_up(worker)),
        (Some(hit), _) if !is_cancelled => hit,
        (_, "gone") => (Status::Killed, early_end(worker.ended)),
        _ => match judge(run, nonce, limits) {
            (Status::Passed, _) if !matches!(worker.ended, Ended::Exited(0) | Ended::Cancelled) => {
                (Status::Killed, early_end(worker.ended))
            }
            other => other,
        },
    };
    let output = match (worker.output.is_empty(), run.output.is_empty()) {
        (false, false) => format!("{}\n{}", worker.output.trim_end_matches('\n'), run.output),
        _ => format!("{}{}", worker.output, run.output),
    };
    Ok(Judged::Verdict(verdict(status, &message, run.elapsed.max(worker.elapsed), &output, Assurance::Separate)))
}

fn verdict(status: Status, message: &str, elapsed: Duration, output: &str, assurance: Assurance) -> Verdict {
    Verdict {
        status,
        message: clean_line(message, COLUMNS),
        duration_ms: elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        output: clean(output),
        assurance,
    }
}

fn did_not_come_up(run: &Run) -> TrialError {
    let said = run.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    TrialError::Sandbox(format!("the interpreter did not come up: {}", clean_line(said, COLUMNS)))
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

/// The verdict of a process that had to be ended.
fn limit(ended: Ended, limits: &Limits) -> Option<(Status, String)> {
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

fn judge(run: &Run, nonce: &str, limits: &Limits) -> (Status, String) {
    if let Some(hit) = limit(run.ended, limits) {
        return hit;
    }
    let exit = match run.ended {
        Ended::Exited(code) => Ok(code),
        Ended::Signalled(signal) => Err(signal),
        _ => return (Status::Killed, "cancelled".to_owned()),
    };
    match (read(&run.record, nonce), exit) {
        (Report::Forged, _) => (Status::Tampered, "the code wrote to the report of the tests".to_owned()),
        (Report::Missing, _) => (Status::Killed, early_end(run.ended)),
        (Report::Told(record), Ok(0)) => told(record),
        (Report::Told(_), Ok(code)) => {
            (Status::Tampered, format!("a report came, but the process ended with exit code {code}"))
        }
        (Report::Told(_), Err(signal)) => {
            (Status::Tampered, format!("a report came, but the process was ended by {}", signal_name(signal)))
        }
    }
}

/// A record that came as it should.
fn told(record: Record) -> (Status, String) {
    let status = match record.status.as_str() {
        "passed" if record.checks > 0 => {
            let noun = if record.checks == 1 { "check" } else { "checks" };
            return (Status::Passed, format!("{} {noun}", record.checks));
        }
        "failed" => Status::Failed,
        "error" => Status::Error,
        "not_run" => Status::NotRun,
        "tampered" => Status::Tampered,
        _ => return (Status::Tampered, "the report of the tests makes no sense".to_owned()),
    };
    (status, record.message)
}

impl Report {
    fn is_missing_or_forged(&self) -> bool {
        !matches!(self, Report::Told(_))
    }
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
    use super::*;

    const PASS: &str = "{\"nonce\":\"n\",\"status\":\"passed\",\"checks\":3,\"message\":\"\"}\n";

    fn run(ended: Ended, record: &str) -> Run {
        let elapsed = Duration::from_millis(5);
        Run { ended, has_started: true, record: record.as_bytes().to_vec(), output: String::new(), elapsed }
    }

    fn status(ended: Ended, record: &str) -> Status {
        of(&run(ended, record), "n", &Limits::default()).unwrap().status
    }

    #[test]
    fn a_pass_needs_everything() {
        let verdict = of(&run(Ended::Exited(0), PASS), "n", &Limits::default()).unwrap();
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
            assert_eq!(status(ended, &record), expected, "{ended:?} {record}");
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
            let pair = Pair { judge: run(judge, &record), worker: run(worker, PASS) };
            let Judged::Verdict(verdict) = of_pair(&pair, "n", &Limits::default()).unwrap() else { panic!("{record}") };
            assert_eq!((verdict.status, verdict.message.as_str()), expected, "{judge:?} {record} {worker:?}");
            assert_eq!(verdict.assurance, Assurance::Separate);
        }
        let shared = Pair { judge: run(Ended::Exited(0), &said("shared")), worker: run(Ended::Exited(0), "") };
        assert_eq!(of_pair(&shared, "n", &Limits::default()).unwrap(), Judged::NeedsOne(String::new()));
        let mut absent = Pair { judge: run(Ended::Exited(0), &said("gone")), worker: run(Ended::Exited(1), "") };
        absent.worker.has_started = false;
        assert!(of_pair(&absent, "n", &Limits::default()).is_err());
    }

    #[test]
    fn an_interpreter_that_does_not_come_up_is_no_verdict() {
        let mut failed = run(Ended::Exited(1), "");
        failed.has_started = false;
        failed.output = "Fatal Python error\n\n".to_owned();
        let error = of(&failed, "n", &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("Fatal Python error"));
    }
}
