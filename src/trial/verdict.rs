//! From what a process left behind to a verdict: a pure function.

use std::time::Duration;

use serde::Deserialize;

use super::{Status, Verdict};
use crate::untrusted::{clean, clean_line};

/// How the process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which was not ours.
    Signalled(i32),
    /// We ended it at the wall-clock limit.
    Timeout(Duration),
    /// We ended it for exceeding this limit.
    Limit(String),
    /// We ended it because nobody wants the result any more.
    Cancelled,
}

/// Everything a process left behind.
#[derive(Clone, Debug)]
pub struct Remains {
    /// How it ended.
    pub ending: Ending,
    /// What came through the private pipe.
    pub record: Vec<u8>,
    /// What it printed, cut to size.
    pub output: Vec<u8>,
    /// Wall time.
    pub duration: Duration,
}

/// The driver's record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    nonce: String,
    status: Status,
    message: String,
    checks: u64,
}

const MESSAGE_COLUMNS: usize = 300;

/// The verdict: a pass needs exactly one record with the right nonce that says so, at least one check, and a process that then ended by
/// itself with code 0.
pub fn judge(remains: &Remains, nonce: &str) -> Verdict {
    let (status, message) = decide(remains, nonce);
    Verdict {
        status,
        message: clean_line(&message, MESSAGE_COLUMNS),
        duration_ms: remains.duration.as_millis() as u64,
        output: clean(&String::from_utf8_lossy(&remains.output)),
    }
}

fn decide(remains: &Remains, nonce: &str) -> (Status, String) {
    let early = |how: String| (Status::Killed, format!("{how} before the tests were done"));
    match &remains.ending {
        Ending::Timeout(limit) => {
            return (Status::Timeout, format!("not done after {} s", limit.as_secs_f64()));
        }
        Ending::Limit(which) => return (Status::Killed, which.clone()),
        Ending::Cancelled => return (Status::Killed, "cancelled".to_owned()),
        Ending::Signalled(signal) if remains.record.is_empty() => return early(format!("ended by signal {signal}")),
        Ending::Exited(code) if remains.record.is_empty() => return early(format!("exited with code {code}")),
        Ending::Signalled(_) | Ending::Exited(_) => {}
    }
    let forged = || (Status::Tampered, "something other than the test driver wrote a result".to_owned());
    let Ok(text) = std::str::from_utf8(&remains.record) else { return forged() };
    let mut lines = text.lines();
    let (Some(line), None) = (lines.next(), lines.next()) else { return forged() };
    let Ok(record) = serde_json::from_str::<Record>(line) else { return forged() };
    if record.nonce != nonce {
        return forged();
    }
    if remains.ending != Ending::Exited(0) {
        return early("it ended abnormally".to_owned());
    }
    match record.status {
        Status::Passed if record.checks == 0 => forged(),
        status => (status, record.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(ending: Ending, record: &str) -> Status {
        let duration = Duration::from_millis(5);
        judge(&Remains { ending, record: record.into(), output: vec![], duration }, "n1").status
    }

    const PASS: &str = "{\"nonce\":\"n1\",\"status\":\"passed\",\"message\":\"2 checks\",\"checks\":2}\n";

    #[test]
    fn a_pass_needs_everything() {
        assert_eq!(status(Ending::Exited(0), PASS), Status::Passed);
        assert_eq!(status(Ending::Exited(1), PASS), Status::Killed);
        assert_eq!(status(Ending::Signalled(9), PASS), Status::Killed);
        assert_eq!(status(Ending::Timeout(Duration::from_secs(1)), PASS), Status::Timeout);
        assert_eq!(status(Ending::Limit("memory".into()), PASS), Status::Killed);
        assert_eq!(status(Ending::Exited(0), ""), Status::Killed);
        assert_eq!(status(Ending::Exited(0), &PASS.replace("n1", "n2")), Status::Tampered);
        assert_eq!(status(Ending::Exited(0), &PASS.replace("\"checks\":2", "\"checks\":0")), Status::Tampered);
        assert_eq!(status(Ending::Exited(0), &format!("{PASS}{PASS}")), Status::Tampered);
        assert_eq!(status(Ending::Exited(0), &format!("passed\n{PASS}")), Status::Tampered);
        assert_eq!(status(Ending::Exited(0), "\u{1}garbage"), Status::Tampered);
    }

    #[test]
    fn other_states_come_through() {
        assert_eq!(status(Ending::Exited(0), &PASS.replace("passed", "failed")), Status::Failed);
        assert_eq!(status(Ending::Exited(0), &PASS.replace("passed", "not_run")), Status::NotRun);
    }

    #[test]
    fn what_is_shown_is_cleaned() {
        let record = PASS.replace("passed", "failed").replace("2 checks", "got \\u001b[2J\\nline");
        let remains = Remains {
            ending: Ending::Exited(0),
            record: record.into(),
            output: b"\x1b]0;x\x07\xffok".to_vec(),
            duration: Duration::ZERO,
        };
        let verdict = judge(&remains, "n1");
        assert_eq!((verdict.message.as_str(), verdict.output.as_str()), ("got line", "\u{fffd}ok"));
    }
}
