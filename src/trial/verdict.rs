//! From what a run left behind to a verdict. Pure: every rule of what counts as a pass stands here.
//!
//! A pass needs all of: exactly one record, the nonce of this run in it, all tests passed, more than no checks, an exit with 0 by
//! itself, and no limit hit. Whatever the code printed counts for nothing.

use serde::Deserialize;

use super::sandbox::{Ended, Run};
use super::{Assurance, Limits, Status, TrialError, Verdict};
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

/// The verdict of a run. An interpreter that did not come up is the sandbox's fault, not the code's.
pub fn of(run: &Run, nonce: &str, limits: &Limits) -> Result<Verdict, TrialError> {
    if !run.has_started && read(&run.record, nonce).is_missing_or_forged() && run.ended != Ended::Cancelled {
        let said = run.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        return Err(TrialError::Sandbox(format!("the interpreter did not come up: {}", clean_line(said, COLUMNS))));
    }
    let (status, message) = judge(run, nonce, limits);
    Ok(Verdict {
        status,
        message: clean_line(&message, COLUMNS),
        duration_ms: run.elapsed.as_millis().try_into().unwrap_or(u64::MAX),
        output: clean(&run.output),
        assurance: Assurance::default(),
    })
}

fn judge(run: &Run, nonce: &str, limits: &Limits) -> (Status, String) {
    let mib = |bytes: u64| format!("{} MiB", bytes.div_ceil(1 << 20));
    let exit = match run.ended {
        Ended::WallLimit => return (Status::Timeout, format!("no result after {} s", limits.wall.as_secs_f64())),
        Ended::MemoryLimit => return (Status::Killed, format!("used more than {} of memory", mib(limits.memory))),
        Ended::ProcessLimit => {
            return (Status::Killed, format!("started more than {} processes and threads", limits.processes));
        }
        Ended::OutputLimit => return (Status::Killed, format!("printed more than {}", mib(limits.output))),
        Ended::DiskLimit => return (Status::Killed, "wrote too much or too many files".to_owned()),
        Ended::Cancelled => return (Status::Killed, "cancelled".to_owned()),
        Ended::Exited(code) => Ok(code),
        Ended::Signalled(signal) => Err(signal),
    };
    match (read(&run.record, nonce), exit) {
        (Report::Forged, _) => (Status::Tampered, "the code wrote to the report of the tests".to_owned()),
        (Report::Missing, Ok(code)) => {
            (Status::Killed, format!("the process ended (exit code {code}) before the tests were done"))
        }
        (Report::Missing, Err(signal)) => {
            (Status::Killed, format!("the process was ended by {} before the tests were done", signal_name(signal)))
        }
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

#[cfg(not(unix))]
fn signal_name(signal: i32) -> String {
    format!("signal {signal}")
}

#[cfg(unix)]
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
    use std::time::Duration;

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
    fn an_interpreter_that_does_not_come_up_is_no_verdict() {
        let mut failed = run(Ended::Exited(1), "");
        failed.has_started = false;
        failed.output = "Fatal Python error\n\n".to_owned();
        let error = of(&failed, "n", &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("Fatal Python error"));
    }
}
