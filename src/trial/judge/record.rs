//! The report of a test runner: tests by name, one line of JSON. Pure.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::trial::evidence::{Report, TestEnd};

/// The report of a runner, written from within.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// The nonce of the run.
    pub nonce: String,
    /// Each test.
    pub tests: Vec<TestEnd>,
    /// Reason why tests could not be loaded; empty if they could.
    pub complaint: String,
    /// The tests that called the function under test while it had no body, if calls are counted. An empty
    /// name stands for the loading of the tests.
    #[serde(default)]
    pub reached: Option<Vec<String>>,
    /// True if one of those tests is known to fail when the function returns nothing, too.
    #[serde(default)]
    pub noticed: bool,
    /// The missing runner and the command that installs it; empty if none is missing.
    #[serde(default)]
    pub missing: String,
    /// Name of the runner that ran the tests, in its own spelling.
    #[serde(default)]
    pub runner: String,
    /// Tests that failed by an error of a file of the project, each with the file and the line that raised it.
    #[serde(default)]
    pub raised: Vec<(String, String, usize)>,
    /// True if something keeps the process from ending by itself, as far as the driver looks for that.
    #[serde(default)]
    pub held: bool,
    /// The error behind the tests by which their runner fails though they passed; empty without one.
    #[serde(default)]
    pub behind: String,
    /// Parts of the language and of libraries that were replaced.
    #[serde(default)]
    pub changed: Vec<String>,
}

/// Begins a line before the report, with the name of a test that begins. It stands for no outcome, whoever
/// wrote it.
const BEGAN: &[u8] = b"began ";

/// The report of a run by name, if there is exactly one and it belongs to this run.
pub fn named(bytes: &[u8], nonce: &str) -> Result<Names, Report> {
    let (_, rest) = begun(bytes);
    one_line::<Names>(rest).filter(|names| names.nonce == nonce).ok_or_else(|| unread(rest))
}

/// The test that began last, if no report came after it.
pub fn running(bytes: &[u8]) -> Option<String> {
    let (last, rest) = begun(bytes);
    serde_json::from_slice(last?).ok().filter(|_| rest.is_empty())
}

/// The name in the last line of a test that begins, and the bytes below these lines.
fn begun(bytes: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let (mut last, mut rest) = (None, bytes);
    while let Some(line) = rest.strip_prefix(BEGAN)
        && let Some(end) = line.iter().position(|byte| *byte == b'\n')
    {
        (last, rest) = (Some(&line[..end]), &line[end + 1..]);
    }
    (last, rest)
}

fn unread(bytes: &[u8]) -> Report {
    if bytes.is_empty() { Report::Missing } else { Report::Forged }
}

/// Parses a single line with nothing beside it. Two records are invalid.
fn one_line<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let line = bytes.strip_suffix(b"\n").filter(|line| !line.contains(&b'\n'))?;
    serde_json::from_slice(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line_with_the_nonce() {
        let line = b"{\"nonce\":\"n\",\"tests\":[[\"a\",\"passed\",\"\"]],\"complaint\":\"\"}\n";
        assert!(named(line, "n").is_ok());
        assert_eq!(named(line, "m"), Err(Report::Forged));
        assert_eq!((named(&line.repeat(2), "n"), named(b"", "n")), (Err(Report::Forged), Err(Report::Missing)));
        let odd = b"{\"nonce\":\"n\",\"tests\":[[\"a\",\"odd\",\"\"]],\"complaint\":\"\"}\n";
        assert_eq!(named(odd, "n"), Err(Report::Forged));
    }

    #[test]
    fn the_test_that_began_last_is_known_and_says_nothing_of_the_report() {
        let (begun, line) = ("began \"a\"\nbegan \"b\"\n", "{\"nonce\":\"n\",\"tests\":[],\"complaint\":\"\"}\n");
        assert_eq!(running(begun.as_bytes()).as_deref(), Some("b"));
        assert_eq!(named(begun.as_bytes(), "n"), Err(Report::Missing));
        assert!(named(format!("{begun}{line}").as_bytes(), "n").is_ok());
        assert_eq!(named(format!("{line}{begun}").as_bytes(), "n"), Err(Report::Forged));
        assert_eq!(
            [running(b""), running(b"began x\n"), running(format!("{begun}{line}").as_bytes())],
            [None, None, None]
        );
    }
}
