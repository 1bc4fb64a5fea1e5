//! What the runs of a trial leave behind, as data: how each process ended, what was reported and by whom, and
//! what had to be reported. What follows from it is decided in `verdict`.

use serde::{Deserialize, Serialize};

use crate::sandbox::Run;

/// All that is known of a trial.
#[derive(Debug)]
pub struct Evidence {
    /// The process that holds the tests.
    pub run: Run,
    /// The process that holds the code under test, where it is another one.
    pub worker: Option<Run>,
    pub report: Report,
    /// What the exit code says besides "done" and "not done".
    pub failure: Option<Failure>,
    /// Why there were no tests to run: the program does not compile, the tests could not be loaded.
    pub complaint: Option<String>,
    /// The tests that the process was to run: those that it reports nothing of were cut off.
    pub asked: Vec<String>,
    /// The tests that have to pass.
    pub wanted: Vec<String>,
    /// Tests that say nothing about a candidate.
    pub flaky: Vec<String>,
    /// What the code changed of what it is judged by.
    pub changed: Option<String>,
    /// Whether the code is the user's own, as it stands in the project.
    pub is_own: bool,
    /// Whether the tests are known to fail of every body that does nothing right.
    pub notices: bool,
    /// What the reader should know, in brackets behind the message.
    pub remark: String,
}

impl Evidence {
    /// That of one process, with nothing known but its report.
    pub fn of(run: Run, report: Report) -> Self {
        let none = Vec::new;
        let (asked, wanted, flaky) = (none(), none(), none());
        let (worker, failure, complaint, changed, remark) = (None, None, None, None, String::new());
        Self {
            run,
            worker,
            report,
            failure,
            complaint,
            asked,
            wanted,
            flaky,
            changed,
            is_own: false,
            notices: false,
            remark,
        }
    }
}

/// What an exit code says of the tests.
#[derive(Debug)]
pub enum Failure {
    /// Some failed: those that the report names.
    Reported,
    /// Some failed; why.
    Said(String),
}

/// What was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Missing,
    /// The report holds what no reporter of this run wrote.
    Forged,
    Judge(Record),
    /// Tests by name.
    Tests {
        /// Who reports them.
        by: Reporter,
        /// Each test.
        tests: Vec<TestEnd>,
        /// Whether the end of all of them was reported, where that is reported by itself.
        is_whole: bool,
    },
    /// The exit code 0 is all there is to say it; in words.
    ExitCode(String),
}

/// Who reports tests by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// A program of ours, once, at the end.
    Runner,
    /// Code of ours in each test, as that ends.
    Guard,
}

/// What the judge writes, once.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The nonce of the run.
    pub nonce: String,
    /// What came of the tests.
    pub status: Said,
    /// How many checks there were.
    pub checks: u64,
    /// What to say about it.
    pub message: String,
}

/// The judge's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    Passed,
    Failed,
    Error,
    NotRun,
    Tampered,
    /// The line to the code under test was cut.
    Gone,
    /// These tests need the code in their own process.
    Shared,
    #[serde(other)]
    Nonsense,
}

/// How one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
    /// It was reported twice, or as what it cannot be.
    #[serde(skip)]
    Odd,
}

/// A test and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestEnd {
    pub name: String,
    pub outcome: Outcome,
    /// What to say about it.
    pub why: String,
}

impl TestEnd {
    /// A test of which there is nothing more to say.
    pub fn new(name: &str, outcome: Outcome) -> Self {
        Self { name: name.to_owned(), outcome, why: String::new() }
    }
}
