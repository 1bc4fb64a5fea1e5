//! The report of the guard in Go tests, and the output of failing tests. Pure.

use super::example;
use crate::trial::language::row::{Outcome, TestEnd};
use crate::untrusted::clean_line;

/// The report of the guard.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Each test that ended.
    pub tests: Vec<TestEnd>,
    /// Tests that began, in order.
    pub begun: Vec<String>,
}

impl Told {
    /// All tests. One that began and did not end has failed.
    pub fn all(mut self) -> Vec<TestEnd> {
        let lost = self.begun.iter().filter(|name| !self.has_ended(name));
        let lost: Vec<TestEnd> = lost.map(|name| TestEnd::new(name, Outcome::Failed)).collect();
        self.tests.extend(lost);
        self.tests
    }

    /// Returns true if all of these have passed and nothing has failed.
    pub fn has_all(&self, wanted: &[String]) -> bool {
        let is = |test: &TestEnd, name: &String| test.name == *name && test.outcome == Outcome::Passed;
        self.tests.iter().all(|test| test.outcome != Outcome::Failed)
            && wanted.iter().all(|name| self.tests.iter().any(|test| is(test, name)))
    }

    fn has_ended(&self, name: &str) -> bool {
        self.tests.iter().any(|test| test.name == name)
    }

    /// The test that was running, or was to run next, when the process ended.
    pub fn running<'t>(&'t self, names: &'t [String]) -> Option<&'t String> {
        self.begun.iter().chain(names).find(|name| !self.has_ended(name))
    }

    /// The test or part of one that began last of those that did not end.
    pub fn last_begun(&self) -> Option<&str> {
        self.begun.iter().rfind(|name| !self.has_ended(name)).map(String::as_str)
    }
}

/// The report of a run. `None` if anything else was written to the pipe.
pub fn read(record: &[u8], nonce: &str) -> Option<Told> {
    let text = std::str::from_utf8(record).ok()?;
    let mut told = Told::default();
    for line in text.split_terminator('\n') {
        let mut words = line.strip_prefix(nonce)?.strip_prefix('\t')?.split('\t');
        match words.next()? {
            "began" => told.begun.push(example::test(words.next()?).to_owned()),
            "ended" => {
                while let Some(outcome) = words.next() {
                    let outcome = match outcome {
                        "passed" => Outcome::Passed,
                        "failed" => Outcome::Failed,
                        "skipped" => Outcome::Skipped,
                        _ => return None,
                    };
                    let name = example::test(words.next()?);
                    // A test reported twice is invalid.
                    if told.has_ended(name) {
                        return None;
                    }
                    told.tests.push(TestEnd::new(name, outcome));
                }
            }
            _ => return None,
        }
    }
    (text.is_empty() || text.ends_with('\n')).then_some(told)
}

/// The message of the first panic, or the last line.
pub fn complaint(output: &str) -> &str {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "FAIL");
    lines()
        .find(|line| line.starts_with("panic:") || line.starts_with("fatal error:"))
        .or_else(|| lines().next_back())
        .unwrap_or("it said nothing")
}

/// The tests with the output of failing ones: the lines below their own, up to the next test.
pub fn with_messages(tests: &[TestEnd], output: &str) -> Vec<TestEnd> {
    let message = |name: &str| {
        let is_head = |line: &str| ["--- ", "=== ", "panic:"].iter().any(|mark| line.trim_start().starts_with(mark));
        let below = |own: &str| -> Vec<&str> {
            let after = output.lines().skip_while(|line| !line.trim_start().starts_with(own)).skip(1);
            after.take_while(|line| line.starts_with(' ') && !is_head(line)).flat_map(str::split_whitespace).collect()
        };
        let own = format!("--- FAIL: {}", example::function(name));
        let said = below(&format!("{own} ("));
        // Subtests that are started elsewhere, such as those of suites, have no guard and no report of their
        // own.
        let has_guard = |part: &str| tests.iter().any(|test| part == format!("--- FAIL: {}", test.name));
        let parts = output.lines().filter_map(|line| line.trim().rsplit_once(" (")).map(|(part, _)| part);
        let part =
            parts.filter(|part| said.is_empty() && part.starts_with(&format!("{own}/"))).find(|part| !has_guard(part));
        if let Some(part) = part {
            let title = part.rsplit('/').next().unwrap_or_default();
            return format!("{title}: {}", below(&format!("{part} (")).join(" "));
        }
        let panic = || output.lines().find(|line| line.starts_with("panic:")).unwrap_or_default();
        if said.is_empty() { panic().trim_end_matches(" [recovered]").to_owned() } else { said.join(" ") }
    };
    let told = |test: &TestEnd| match test.outcome {
        Outcome::Failed => TestEnd { why: clean_line(&message(&test.name), 300), ..test.clone() },
        _ => test.clone(),
    };
    tests.iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_nonce_in_every_line_and_each_test_once() {
        let report = read(b"n\tbegan\tA\nn\tended\tpassed\tA/x\tfailed\tA\nn\tbegan\tB\n", "n").unwrap();
        assert_eq!((&report.begun[..], report.last_begun()), (&["A".to_owned(), "B".to_owned()][..], Some("B")));
        let outcomes: Vec<_> = report.tests.iter().map(|test| (test.name.as_str(), test.outcome)).collect();
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
    fn a_bad_end_is_put_down_to_the_test_that_was_running() {
        let names = ["A".to_owned(), "B".to_owned()];
        let running = |record: &str| read(record.as_bytes(), "n").unwrap().running(&names).cloned();
        assert_eq!(running("n\tbegan\tB\n").as_deref(), Some("B"));
        assert_eq!(running("n\tended\tpassed\tA\n").as_deref(), Some("B"));
        assert_eq!(running("n\tended\tpassed\tA\nn\tended\tpassed\tB\n"), None);
    }

    #[test]
    fn failing_tests_say_what_they_printed() {
        let output = "noise\n--- FAIL: A (0.00s)\n    --- FAIL: A/x (0.00s)\n        a_test.go:7: got 7,\n            want 6\n    --- FAIL: A/y (0.00s)\n        a_test.go:8: no\nFAIL\n";
        let failed = |name: &str| TestEnd::new(name, Outcome::Failed);
        let told = with_messages(&[failed("A/x"), failed("A/y"), failed("A")], output);
        let messages: Vec<&str> = told.iter().map(|test| test.why.as_str()).collect();
        assert_eq!(messages, ["a_test.go:7: got 7, want 6", "a_test.go:8: no", ""]);
        let output = "--- FAIL: Suite (0.00s)\n    --- FAIL: Suite/TestA (0.00s)\n        s.go:7: no\n--- FAIL: TestTheExampleF (0.00s)\n    a.go:9: got\n";
        let told = with_messages(&[failed("Suite"), failed("ExampleF")], output);
        let messages: Vec<&str> = told.iter().map(|test| test.why.as_str()).collect();
        assert_eq!(messages, ["TestA: s.go:7: no", "a.go:9: got"]);
    }
}
