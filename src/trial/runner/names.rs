//! Verdicts of tests that are known by name: a pass needs each wanted test reported as passed, and none vanished. Pure.

use serde::{Deserialize, Serialize};

use super::super::{Limits, TrialError, Verdict, verdict};
use crate::sandbox::Run;

/// How one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// What a runner of ours reports from within.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Names {
    /// The nonce of the run.
    pub nonce: String,
    /// Each test: its name, how it ended, and what to say about it.
    pub tests: Vec<(String, Outcome, String)>,
    /// Why tests could not be loaded; empty if they could.
    pub complaint: String,
}

/// What is known of the tests from the unchanged project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The tests that have to be reported.
    pub wanted: Vec<String>,
    /// Those that ended differently in two equal runs: they say nothing about a candidate.
    pub flaky: Vec<String>,
}

/// The one report of a run, if there is just one and it is of this run.
pub fn read(record: &[u8], nonce: &str) -> Option<Names> {
    let line = record.strip_suffix(b"\n").filter(|line| !line.contains(&b'\n'))?;
    serde_json::from_slice::<Names>(line).ok().filter(|names| names.nonce == nonce)
}

impl Baseline {
    /// From two runs on the unchanged project. Of a run that came to no end nothing is known.
    pub fn of(first: Option<&Names>, second: Option<&Names>) -> Self {
        let (Some(first), Some(second)) = (first, second) else { return Self::default() };
        let outcome = |names: &Names, name: &str| names.tests.iter().find(|(n, ..)| n == name).map(|(_, o, _)| *o);
        let mut baseline = Self::default();
        for (name, ended, _) in &first.tests {
            if outcome(second, name) != Some(*ended) {
                baseline.flaky.push(name.clone());
            } else if *ended != Outcome::Skipped {
                baseline.wanted.push(name.clone());
            }
        }
        let new = second.tests.iter().filter(|(name, ..)| outcome(first, name).is_none());
        baseline.flaky.extend(new.map(|(name, ..)| name.clone()));
        baseline
    }

    /// Status word, number of tests that passed, and the message.
    fn decide(&self, names: &Names) -> (&'static str, usize, String) {
        if !names.complaint.is_empty() {
            return ("error", 0, names.complaint.clone());
        }
        let counts = |name: &String| !self.flaky.contains(name);
        let counted = || names.tests.iter().filter(|(name, ..)| counts(name));
        if let Some((name, _, why)) = counted().find(|(_, ended, _)| *ended == Outcome::Failed) {
            return ("failed", 0, if why.is_empty() { format!("{name} failed") } else { format!("{name}: {why}") });
        }
        for name in &self.wanted {
            match counted().find(|(n, ..)| n == name) {
                None => return ("failed", 0, format!("{name} was not run: it is there without the candidate")),
                Some((_, Outcome::Skipped, _)) => {
                    return ("failed", 0, format!("{name} was skipped: it is not without the candidate"));
                }
                Some(_) => {}
            }
        }
        match counted().filter(|(_, ended, _)| *ended == Outcome::Passed).count() {
            0 => ("not_run", 0, "no tests were run".to_owned()),
            passed => ("passed", passed, String::new()),
        }
    }

    /// The verdict of a run that reports names.
    pub fn verdict(&self, run: &Run, nonce: &str, limits: &Limits) -> Result<Verdict, TrialError> {
        match read(&run.record, nonce) {
            Some(names) => self.verdict_of(run, &names, nonce, limits),
            None => verdict::of(run, nonce, limits),
        }
    }

    /// The verdict of a run that reported these names.
    pub fn verdict_of(&self, run: &Run, names: &Names, nonce: &str, limits: &Limits) -> Result<Verdict, TrialError> {
        #[derive(Serialize)]
        struct Record<'a> {
            nonce: &'a str,
            status: &'a str,
            checks: usize,
            message: String,
        }
        let (status, checks, message) = self.decide(names);
        let line = serde_json::to_string(&Record { nonce, status, checks, message }).unwrap_or_default() + "\n";
        let mut verdict = verdict::of(&Run { record: line.into_bytes(), ..run.clone() }, nonce, limits)?;
        if !self.flaky.is_empty() {
            let message = format!("{} (left out, as they are flaky: {})", verdict.message, self.flaky.join(", "));
            verdict.message = crate::untrusted::clean_line(&message, 400);
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tests: &[(&str, Outcome)]) -> Names {
        let tests = tests.iter().map(|(name, ended)| ((*name).to_owned(), *ended, String::new())).collect();
        Names { nonce: "n".into(), tests, complaint: String::new() }
    }

    #[test]
    fn every_wanted_test_has_to_pass_by_name() {
        use Outcome::{Failed, Passed, Skipped};
        let before = names(&[("a", Failed), ("b", Passed), ("c", Skipped)]);
        let baseline = Baseline::of(Some(&before), Some(&before));
        assert_eq!(baseline.wanted, ["a", "b"]);
        let word = |tests: &[(&str, Outcome)]| baseline.decide(&names(tests)).0;
        assert_eq!(word(&[("a", Passed), ("b", Passed)]), "passed");
        assert_eq!(word(&[("a", Passed), ("b", Passed), ("new", Passed)]), "passed");
        assert_eq!(word(&[("a", Passed)]), "failed", "one vanished");
        assert_eq!(word(&[("a", Passed), ("b", Skipped)]), "failed");
        assert_eq!(word(&[("a", Failed), ("b", Passed)]), "failed");
        assert_eq!(word(&[]), "failed");
        assert_eq!(Baseline::default().decide(&names(&[])).0, "not_run", "nothing run is no pass");
        assert_eq!(Baseline::default().decide(&names(&[("a", Skipped)])).0, "not_run");
    }

    #[test]
    fn flaky_tests_are_left_out_and_named() {
        use Outcome::{Failed, Passed};
        let (one, two) = (names(&[("a", Passed), ("b", Passed)]), names(&[("a", Passed), ("b", Failed)]));
        let baseline = Baseline::of(Some(&one), Some(&two));
        assert_eq!((baseline.wanted.join(""), baseline.flaky.join("")), ("a".to_owned(), "b".to_owned()));
        assert_eq!(baseline.decide(&two).0, "passed");
        assert_eq!(baseline.decide(&names(&[("b", Passed)])).0, "failed");
    }

    #[test]
    fn a_report_is_one_line_with_the_nonce() {
        let line = b"{\"nonce\":\"n\",\"tests\":[[\"a\",\"passed\",\"\"]],\"complaint\":\"\"}\n";
        assert!(read(line, "n").is_some() && read(line, "m").is_none());
        assert!(read(&line.repeat(2), "n").is_none() && read(b"", "n").is_none());
    }
}
