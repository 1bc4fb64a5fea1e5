//! What the guard in Go tests reports, and what failing tests print. Pure.

use super::super::super::Status;
use super::super::names::{Names, Outcome};
use crate::untrusted::clean_line;

/// What the guard told.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Each test that came to its end.
    pub names: Names,
    /// Tests that began, in order.
    pub begun: Vec<String>,
}

impl Report {
    /// All tests; one that began and came to no end has failed.
    pub fn all(mut self) -> Vec<(String, Outcome, String)> {
        let has_ended = |name: &String| self.names.tests.iter().any(|(known, ..)| known == name);
        let lost: Vec<String> = self.begun.iter().filter(|name| !has_ended(name)).cloned().collect();
        self.names.tests.extend(lost.into_iter().map(|name| (name, Outcome::Failed, String::new())));
        self.names.tests
    }
}

/// The report of a run; `None` when anything else was written to it.
pub fn read(record: &[u8], nonce: &str) -> Option<Report> {
    let text = std::str::from_utf8(record).ok()?;
    let mut report = Report { names: Names { nonce: nonce.to_owned(), ..Names::default() }, begun: Vec::new() };
    for line in text.split_terminator('\n') {
        let mut words = line.strip_prefix(nonce)?.strip_prefix('\t')?.split('\t');
        match words.next()? {
            "began" => report.begun.push(words.next()?.to_owned()),
            "ended" => {
                while let Some(outcome) = words.next() {
                    let outcome = match outcome {
                        "passed" => Outcome::Passed,
                        "failed" => Outcome::Failed,
                        "skipped" => Outcome::Skipped,
                        _ => return None,
                    };
                    let name = words.next()?;
                    // Who reports a test twice has not run it twice.
                    if report.names.tests.iter().any(|(known, ..)| known == name) {
                        return None;
                    }
                    report.names.tests.push((name.to_owned(), outcome, String::new()));
                }
            }
            _ => return None,
        }
    }
    (text.is_empty() || text.ends_with('\n')).then_some(report)
}

/// The verdict of a run whose report is not all that was to come.
pub fn early_end(report: &Report, names: &[String], output: &str, code: i32) -> Option<(Status, String)> {
    let outcome = |name: &String| report.names.tests.iter().find(|(n, ..)| n == name).map(|(_, outcome, _)| *outcome);
    let silent = names.iter().find(|name| outcome(name).is_none());
    let at = report.begun.iter().find(|name| outcome(name).is_none()).or(silent);
    let has_failed = report.names.tests.iter().any(|(_, outcome, _)| *outcome == Outcome::Failed);
    match (at, code) {
        (Some(name), 0) => Some((Status::Killed, format!("the process ended (exit code 0) before {name} was done"))),
        (None, 0) => None,
        _ if has_failed => None,
        (Some(name), _) => Some((Status::Failed, format!("{name}: {}", complaint(output)))),
        (None, _) => Some((Status::Failed, format!("{} (exit code {code})", complaint(output)))),
    }
}

/// What the first panic said, or the last line.
fn complaint(output: &str) -> &str {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "FAIL");
    lines()
        .find(|line| line.starts_with("panic:") || line.starts_with("fatal error:"))
        .or_else(|| lines().next_back())
        .unwrap_or("it said nothing")
}

/// The tests with what failing ones printed: the lines below their own, up to the next.
pub fn with_messages(tests: Vec<(String, Outcome, String)>, output: &str) -> Vec<(String, Outcome, String)> {
    let message = |name: &str| {
        let is_head = |line: &str| ["--- ", "=== ", "panic:"].iter().any(|mark| line.trim_start().starts_with(mark));
        let own = format!("--- FAIL: {name} (");
        let after = output.lines().skip_while(|line| !line.trim_start().starts_with(&own)).skip(1);
        let said: Vec<&str> =
            after.take_while(|line| line.starts_with(' ') && !is_head(line)).flat_map(str::split_whitespace).collect();
        let panic = || output.lines().find(|line| line.starts_with("panic:")).unwrap_or_default();
        if said.is_empty() { panic().trim_end_matches(" [recovered]").to_owned() } else { said.join(" ") }
    };
    let told = |(name, outcome, _): (String, Outcome, String)| {
        let message = if outcome == Outcome::Failed { clean_line(&message(&name), 300) } else { String::new() };
        (name, outcome, message)
    };
    tests.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_nonce_in_every_line_and_each_test_once() {
        let report = read(b"n\tbegan\tA\nn\tended\tpassed\tA/x\tfailed\tA\nn\tbegan\tB\n", "n").unwrap();
        assert_eq!(report.begun, ["A", "B"]);
        let outcomes: Vec<_> = report.names.tests.iter().map(|(name, outcome, _)| (name.as_str(), *outcome)).collect();
        assert_eq!(outcomes, [("A/x", Outcome::Passed), ("A", Outcome::Failed)]);
        assert_eq!(read(b"", "n").unwrap().begun.len(), 0);
        for bad in [
            "m\tbegan\tA\n",
            "n\tended\tpassed\tA",
            "n\tended\tpassed\n",
            "n\tended\tpassed\tA\nn\tended\tfailed\tA\n",
            "n\n",
            "\n",
        ] {
            assert_eq!(read(bad.as_bytes(), "n"), None, "{bad}");
        }
    }

    #[test]
    fn no_end_before_the_tests_are_done_is_a_pass() {
        let names = ["A".to_owned(), "B".to_owned()];
        let end =
            |record: &str, code| early_end(&read(record.as_bytes(), "n").unwrap(), &names, "x\npanic: no\n", code);
        let all = "n\tended\tpassed\tA\nn\tended\tpassed\tB\n";
        assert_eq!(end(all, 0), None);
        assert_eq!(end(all, 1).unwrap().0, Status::Failed, "passed, and yet the process says no");
        assert_eq!(end("n\tended\tpassed\tA\nn\tended\tfailed\tB\n", 1), None);
        let killed = (Status::Killed, "the process ended (exit code 0) before B was done".to_owned());
        assert_eq!(end("n\tended\tpassed\tA\n", 0), Some(killed));
        assert_eq!(end("n\tbegan\tB\n", 2), Some((Status::Failed, "B: panic: no".to_owned())));
    }

    #[test]
    fn failing_tests_say_what_they_printed() {
        let output = "noise\n--- FAIL: A (0.00s)\n    --- FAIL: A/x (0.00s)\n        a_test.go:7: got 7,\n            want 6\n    --- FAIL: A/y (0.00s)\n        a_test.go:8: no\nFAIL\n";
        let failed = |name: &str| (name.to_owned(), Outcome::Failed, String::new());
        let told = with_messages(vec![failed("A/x"), failed("A/y"), failed("A")], output);
        let messages: Vec<&str> = told.iter().map(|(.., message)| message.as_str()).collect();
        assert_eq!(messages, ["a_test.go:7: got 7, want 6", "a_test.go:8: no", ""]);
    }
}
