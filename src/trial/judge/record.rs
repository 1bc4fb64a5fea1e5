//! Reads reports of one line: that of the judge, and that of a runner of tests by name. Pure.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::trial::evidence::{Record, Report, Said, TestEnd};

/// What a runner of ours reports from within.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// The nonce of the run.
    pub nonce: String,
    /// Each test.
    pub tests: Vec<TestEnd>,
    /// Why tests could not be loaded; empty if they could.
    pub complaint: String,
    /// The tests that called the function under test while it had no body, where calls are counted; an empty
    /// name stands for the loading of the tests.
    #[serde(default)]
    pub reached: Option<Vec<String>>,
    /// Whether one of those tests fails, too, when the function returns nothing; `false` where that is not known.
    #[serde(default)]
    pub noticed: bool,
    /// What such a run shows of whether the code can be in a process of its own; absent where it cannot.
    #[serde(default)]
    pub apart: Option<Apart>,
    /// What ended the tests for good, where the code is in a process of its own, and why.
    #[serde(default)]
    pub end: Option<(Said, String)>,
    /// Parts of the language and of libraries that were replaced.
    #[serde(default)]
    pub changed: Vec<String>,
}

/// Whether the code can be in a process of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    /// Why it cannot.
    pub reason: Option<String>,
}

/// The judge's report of this run.
pub fn judged(bytes: &[u8], nonce: &str) -> Report {
    match one_line::<Record>(bytes) {
        Some(record) if record.nonce == nonce => Report::Judge(record),
        _ => unread(bytes),
    }
}

/// The report of a run by name, if there is just one and it is of this run.
pub fn named(bytes: &[u8], nonce: &str) -> Result<Names, Report> {
    one_line::<Names>(bytes).filter(|names| names.nonce == nonce).ok_or_else(|| unread(bytes))
}

fn unread(bytes: &[u8]) -> Report {
    if bytes.is_empty() { Report::Missing } else { Report::Forged }
}

/// One line and nothing beside it: two records are no record.
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
        let apart = b"{\"nonce\":\"n\",\"tests\":[],\"complaint\":\"\",\"apart\":{\"reason\":null},\"end\":[\"shared\",\"why\"]}\n";
        let names = named(apart, "n").unwrap();
        assert_eq!(names.apart, Some(Apart { reason: None }));
        assert_eq!(names.end, Some((Said::Shared, "why".to_owned())));
        let odd = b"{\"nonce\":\"n\",\"tests\":[[\"a\",\"odd\",\"\"]],\"complaint\":\"\"}\n";
        assert_eq!(named(odd, "n"), Err(Report::Forged));
    }
}
