//! What tests do on the unchanged project: what a candidate is held against. Pure.

use crate::trial::evidence::{Outcome, TestEnd};

/// What is known of the tests from the unchanged project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The tests that have to be reported.
    pub wanted: Vec<String>,
    /// Those that ended differently in two equal runs: they say nothing about a candidate.
    pub flaky: Vec<String>,
}

impl Baseline {
    /// From two runs on the unchanged project. Of a run that came to no end nothing is known.
    pub fn of(first: Option<&[TestEnd]>, second: Option<&[TestEnd]>) -> Self {
        let (Some(first), Some(second)) = (first, second) else { return Self::default() };
        let outcome = |tests: &[TestEnd], name: &str| tests.iter().find(|t| t.name == name).map(|t| t.outcome);
        let mut baseline = Self::default();
        for test in first {
            if outcome(second, &test.name) != Some(test.outcome) {
                baseline.flaky.push(test.name.clone());
            } else if test.outcome != Outcome::Skipped {
                baseline.wanted.push(test.name.clone());
            }
        }
        let new = second.iter().filter(|test| outcome(first, &test.name).is_none());
        baseline.flaky.extend(new.map(|test| test.name.clone()));
        baseline
    }

    /// What is left out, for the reader; empty if nothing is.
    pub fn remark(&self) -> String {
        if self.flaky.is_empty() {
            return String::new();
        }
        format!("left out, as they are flaky: {}", self.flaky.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_two_runs_is_flaky() {
        use Outcome::{Failed, Passed, Skipped};
        let tests = |tests: &[(&str, Outcome)]| -> Vec<TestEnd> {
            tests.iter().map(|(name, outcome)| TestEnd::new(name, *outcome)).collect()
        };
        let (one, two) = (
            tests(&[("a", Failed), ("b", Passed), ("c", Skipped), ("d", Passed)]),
            tests(&[("a", Failed), ("b", Failed), ("c", Skipped), ("e", Passed)]),
        );
        let baseline = Baseline::of(Some(&one), Some(&two));
        assert_eq!(baseline.wanted, ["a"]);
        assert_eq!(baseline.flaky, ["b", "d", "e"]);
        assert_eq!(baseline.remark(), "left out, as they are flaky: b, d, e");
        assert_eq!(Baseline::of(Some(&one), None), Baseline::default());
    }
}
