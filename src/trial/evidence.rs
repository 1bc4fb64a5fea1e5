//! Evidence of a trial, as data: how each process ended, the reports and their source, and the tests that had
//! to be reported. `verdict` decides what follows from it.

use serde::{Deserialize, Serialize};

use crate::sandbox::Run;
use crate::trial::judge::record::running;

/// Everything known about a trial.
#[derive(Debug)]
pub struct Evidence {
    /// The process that holds the tests.
    pub run: Run,
    pub report: Report,
    /// The failure that the exit code shows, if any.
    pub failure: Option<Failure>,
    /// The required runner that is not installed, as a sentence.
    pub missing: Option<String>,
    /// Name of the runner that ran the tests, in its own spelling.
    pub runner: String,
    /// Reason why there were no tests to run: the program does not compile, or the tests could not be loaded.
    pub complaint: Option<String>,
    /// The tests that the process was to run. Those without a report were cut off.
    pub asked: Vec<String>,
    /// The test that began last and did not end, if that is known.
    pub running: Option<String>,
    /// Tests that must pass.
    pub wanted: Vec<String>,
    /// Flaky tests, which say nothing about a candidate.
    pub flaky: Vec<String>,
    /// The first test that reaches another unfinished function of the user's, and the name of that.
    pub unfinished: Option<(String, String)>,
    /// True if all tests fail without ever calling the function.
    pub is_unrelated: bool,
    /// The part of the tests or their libraries that the code changed.
    pub changed: Option<String>,
    /// True if the code is the user's own, as it stands in the project.
    pub is_own: bool,
    /// True if the process does not end by itself with the code, and does without it.
    pub is_held: bool,
    /// The bodies that do nothing right that the tests are known to fail with.
    pub noticed: Noticed,
    /// Tests that say nothing about a candidate, for the reader.
    pub left_out: LeftOut,
}

/// Tests that say nothing about any candidate, and so do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Their names, all of them.
    pub names: Vec<String>,
    /// Some of them and why, for the reader; it stands in brackets behind the message of a verdict. Empty
    /// without any.
    pub words: String,
}

impl LeftOut {
    /// The words behind a message.
    pub fn remark(&self) -> String {
        if self.words.is_empty() { String::new() } else { format!(" ({})", self.words) }
    }
}

impl Evidence {
    /// Evidence of one process, with nothing known but its report.
    pub fn of(run: Run, report: Report) -> Self {
        let (asked, wanted, flaky, runner, left_out) = Default::default();
        let (failure, missing, complaint, changed) = Default::default();
        let (unfinished, is_unrelated, is_own, is_held, noticed) = Default::default();
        let running = running(&run.record);
        Self {
            run,
            report,
            failure,
            missing,
            runner,
            complaint,
            asked,
            running,
            wanted,
            flaky,
            unfinished,
            is_unrelated,
            changed,
            is_own,
            is_held,
            noticed,
            left_out,
        }
    }

    /// Returns true if the runner has reported that all tests ended, over its pipe.
    pub fn has_ended(&self) -> bool {
        let is_of_runner = matches!(self.report, Report::Tests { by: Reporter::Runner, is_whole: true, .. });
        is_of_runner && self.running.is_none() && !self.run.record.is_empty()
    }
}

/// The bodies that tests are known to fail with, from their run without the candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noticed {
    #[default]
    Unknown,
    /// One that raises.
    Raising,
    /// One that raises, and one that returns nothing.
    Both,
}

impl Noticed {
    /// `some` if that was seen.
    pub fn if_seen(seen: bool, some: Self) -> Self {
        if seen { some } else { Self::Unknown }
    }
}

/// A failure shown by an exit code.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// Some tests failed: those that the report names.
    Reported,
    /// A test failed, which the report cannot say, for this reason.
    Test { name: String, why: String },
    /// Some tests failed, for this reason.
    Said(String),
}

/// The report of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Missing,
    /// The report holds data that no reporter of this run wrote.
    Forged,
    /// Tests by name.
    Tests {
        /// The author of the report.
        by: Reporter,
        /// Each test.
        tests: Vec<TestEnd>,
        /// True if the report says that all tests have ended, where that is reported separately.
        is_whole: bool,
    },
    /// There is no report but the exit code 0, described in words.
    ExitCode(String),
}

/// Author of a report of tests by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// A program of this crate, once, at the end.
    Runner,
    /// Code of this crate in each test, as the test ends.
    Guard,
}

/// The end of one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
    /// It was reported twice, or with an outcome that it cannot have.
    #[serde(skip)]
    Odd,
}

/// A test and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestEnd {
    pub name: String,
    pub outcome: Outcome,
    /// Reason of the outcome.
    pub why: String,
}

impl TestEnd {
    /// A test without further details.
    pub fn new(name: &str, outcome: Outcome) -> Self {
        Self { name: name.to_owned(), outcome, why: String::new() }
    }

    /// Returns true for a hook of a suite, which bun reports where it fails, in place of the suite's tests.
    pub fn is_hook(&self) -> bool {
        self.name == "(unnamed)" || self.name.ends_with(" > (unnamed)")
    }
}
