//! The baseline: results of the tests without a candidate. Pure.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::trial::evidence::{LeftOut, Outcome, TestEnd};
use crate::trial::judge::record::Names;
use crate::untrusted::clean_line;

/// Most columns of the reason of a test that is left out.
const COLUMNS: usize = 120;

/// The result of a run that came to an end, and its duration.
pub type Seen = Option<(Names, Duration)>;

/// The baseline of tests, from runs without the candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The tests that have to be reported.
    pub wanted: Vec<String>,
    /// Flaky tests: they ended differently in two equal runs and say nothing about a candidate.
    pub flaky: Vec<String>,
    /// Unrelated tests: they fail without ever calling the function under test.
    pub broken: Vec<String>,
    /// Tests that fail, and why, as far as all runs agree.
    pub failed: HashMap<String, String>,
    /// Tests that call the function, as far as calls were recorded.
    pub reached: HashSet<String>,
    /// True if calls were recorded, no test calls the function, and all pass nevertheless.
    pub is_idle: bool,
    /// True if the tests are known to fail with a function that returns nothing and with one that raises.
    pub notices: bool,
    /// True if the process does not end by itself without a candidate either.
    pub is_held: bool,
    /// Duration of the tests.
    pub elapsed: Duration,
    /// Parts of the language and of libraries that are replaced without a candidate, too.
    pub changed: Vec<String>,
}

impl Baseline {
    /// The baseline from two runs on the unchanged project. A run that did not finish shows nothing.
    pub fn of(first: Option<&[TestEnd]>, second: Option<&[TestEnd]>) -> Self {
        let (Some(first), Some(second)) = (first, second) else { return Self::default() };
        let outcomes = |tests: &[TestEnd]| -> HashMap<String, Outcome> {
            tests.iter().map(|test| (test.name.clone(), test.outcome)).collect()
        };
        let (before, after) = (outcomes(first), outcomes(second));
        let mut baseline = Self::default();
        for test in first {
            if after.get(&test.name) != Some(&test.outcome) {
                baseline.flaky.push(test.name.clone());
            } else if test.outcome != Outcome::Skipped && !test.is_hook() {
                baseline.wanted.push(test.name.clone());
            }
        }
        let new = second.iter().filter(|test| !before.contains_key(&test.name));
        baseline.flaky.extend(new.map(|test| test.name.clone()));
        baseline
    }

    /// The baseline from one run without the function's body, and a second one if a candidate failed since. A
    /// run that could not load the tests shows only the parts that were replaced in it.
    pub fn without_body(first: Option<&Names>, second: Option<&Names>) -> Self {
        let Some(first) = first else { return Self::default() };
        if !first.complaint.is_empty() {
            return Self { changed: first.changed.clone(), ..Self::default() };
        }
        let second = second.filter(|names| names.complaint.is_empty()).unwrap_or(first);
        let baseline = Self::of(Some(&first.tests), Some(&second.tests));
        // True if calls are counted, and none was made while the tests were loaded.
        let counts = first.reached.as_ref().is_some_and(|reached| !reached.iter().any(String::is_empty));
        let reached: HashSet<String> = first.reached.iter().flatten().cloned().collect();
        let why = |names: &Names| -> HashMap<String, String> {
            let failed = names.tests.iter().filter(|test| test.outcome == Outcome::Failed);
            failed.map(|test| (test.name.clone(), test.why.clone())).collect()
        };
        let (failed, again) = (why(first), why(second));
        let is_broken = |name: &String| counts && failed.contains_key(name) && !reached.contains(name);
        let (broken, wanted): (Vec<_>, Vec<_>) = baseline.wanted.iter().cloned().partition(is_broken);
        let changed = first.changed.clone();
        let raising = wanted.iter().any(|name| failed.contains_key(name) && reached.contains(name));
        let notices = counts && first.noticed && raising;
        let is_idle = counts
            && !first.tests.is_empty()
            && reached.is_empty()
            && !first.tests.iter().any(TestEnd::is_hook)
            && !wanted.iter().any(|name| failed.contains_key(name));
        let failed = failed.into_iter().filter(|(name, why)| again.get(name) == Some(why)).collect();
        Self { wanted, broken, failed, reached, is_idle, notices, changed, ..baseline }
    }

    /// The baseline in which these tests are known to fail without calling the function.
    #[must_use]
    pub fn with_broken(&self, names: &[String]) -> Self {
        let wanted = self.wanted.iter().filter(|name| !names.contains(name)).cloned().collect();
        Self { wanted, broken: [&self.broken[..], names].concat(), ..self.clone() }
    }

    /// The baseline in which these tests count nevertheless.
    #[must_use]
    pub fn with_counted(&self, names: &[String]) -> Self {
        let broken = self.broken.iter().filter(|name| !names.contains(name)).cloned().collect();
        Self { broken, wanted: [&self.wanted[..], names].concat(), ..self.clone() }
    }

    /// The baseline in which tests count whose call of this function Python refused for its arguments: no body
    /// is reached by such a call. `None` if there are none.
    pub fn with_refused(&self, function: &str) -> Option<Self> {
        let is_refused = |name: &&String| self.failed.get(*name).is_some_and(|why| refuses(why, function));
        let refused: Vec<String> = self.broken.iter().filter(is_refused).cloned().collect();
        let counted =
            Self { reached: self.reached.iter().chain(&refused).cloned().collect(), ..self.with_counted(&refused) };
        (!refused.is_empty()).then_some(counted)
    }

    /// The baseline restricted to the tests that call the function.
    #[must_use]
    pub fn of_callers(&self) -> Self {
        let calls = |names: &[String]| names.iter().filter(|name| self.reached.contains(*name)).cloned().collect();
        Self { wanted: calls(&self.wanted), flaky: calls(&self.flaky), broken: Vec::new(), ..self.clone() }
    }

    /// The baseline from one run on the unchanged project, or two.
    pub fn of_runs(runs: &[Seen]) -> Self {
        let tests = |at: usize| runs.get(at)?.as_ref().map(|(names, _)| &names.tests[..]);
        // One run alone shows no difference.
        let baseline = Self::of(tests(0), tests(runs.len().min(2).saturating_sub(1)));
        Self { elapsed: longest(runs), is_held: is_held(runs), ..baseline }
    }

    /// The baseline from runs without the function's body.
    pub fn of_runs_without(runs: &[Seen]) -> Self {
        let names = |at: usize| runs.get(at)?.as_ref().map(|(names, _)| names);
        Self { elapsed: longest(runs), is_held: is_held(runs), ..Self::without_body(names(0), names(1)) }
    }

    /// The first test that fails without the candidate, and why.
    pub fn first_failure(&self) -> Option<String> {
        self.broken.iter().find_map(|name| self.failed.get(name).map(|why| format!("{name}: {why}")))
    }

    /// The tests that say nothing about a candidate.
    pub fn left_out(&self) -> Vec<String> {
        [&self.flaky[..], &self.broken].concat()
    }

    /// Returns true for a test that says nothing about a candidate.
    pub fn is_left_out(&self, name: &str) -> bool {
        self.flaky.iter().chain(&self.broken).any(|other| other == name)
    }

    /// The tests that say nothing about a candidate, and why.
    pub fn for_reader(&self) -> LeftOut {
        let named = |names: &[String], why: &str| {
            let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
            (!names.is_empty())
                .then(|| format!("left out, as they {why}: {}{more}", names[..names.len().min(3)].join(", ")))
        };
        let said = || Some((self.broken.first()?, self.failed.get(self.broken.first()?)?));
        let said = said().filter(|(_, why)| !why.is_empty());
        let said = said.map(|(name, why)| format!("{name} says {}", clean_line(why, COLUMNS)));
        let parts = [named(&self.flaky, "are flaky"), named(&self.broken, "fail without calling the function"), said];
        LeftOut { names: self.left_out(), words: parts.into_iter().flatten().collect::<Vec<_>>().join("; ") }
    }
}

/// Returns true if Python says that the arguments of a call do not fit this function.
pub fn refuses(why: &str, function: &str) -> bool {
    let name = function.rsplit('.').next().unwrap_or(function);
    why.split("TypeError: ").skip(1).any(|said| {
        let Some((called, how)) = said.split_once("() ") else { return false };
        called.rsplit('.').next() == Some(name)
            && ["got ", "missing ", "takes "].iter().any(|word| how.starts_with(word))
    })
}

/// Returns true if a process did not end by itself.
fn is_held(runs: &[Seen]) -> bool {
    runs.iter().flatten().any(|(names, _)| names.held)
}

/// Duration of the longest run.
fn longest(runs: &[Seen]) -> Duration {
    runs.iter().flatten().map(|(_, elapsed)| *elapsed).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Failed, Passed, Skipped};

    fn tests(tests: &[(&str, Outcome)]) -> Vec<TestEnd> {
        tests.iter().map(|(name, outcome)| TestEnd::new(name, *outcome)).collect()
    }

    #[test]
    fn a_call_that_is_refused_for_its_arguments_counts() {
        let failed = |name: &str, why: &str| TestEnd { why: why.to_owned(), ..TestEnd::new(name, Failed) };
        let said = [
            ("new", "slug('a', sep='_') raised TypeError: Text.slug() got an unexpected keyword argument 'sep'"),
            ("other", "TypeError: slugs() missing 1 required positional argument: 'x'"),
            ("inside", "TypeError: slug() is wrong"),
        ];
        let tests = said.iter().map(|(name, why)| failed(name, why)).collect();
        let names = Names { tests, reached: Some(Vec::new()), ..Names::default() };
        let baseline = Baseline::without_body(Some(&names), None);
        assert_eq!(baseline.broken, ["new", "other", "inside"]);
        let counted = baseline.with_refused("Text.slug").unwrap();
        assert_eq!(
            (counted.wanted, counted.broken),
            (vec!["new".to_owned()], vec!["other".to_owned(), "inside".to_owned()])
        );
        assert_eq!(counted.reached, HashSet::from(["new".to_owned()]));
        assert_eq!(baseline.with_refused("Text.cut"), None);
    }

    #[test]
    fn what_differs_between_two_runs_is_flaky() {
        let (one, two) = (
            tests(&[("a", Failed), ("b", Passed), ("c", Skipped), ("d", Passed)]),
            tests(&[("a", Failed), ("b", Failed), ("c", Skipped), ("e", Passed)]),
        );
        let baseline = Baseline::of(Some(&one), Some(&two));
        assert_eq!(baseline.wanted, ["a"]);
        assert_eq!(baseline.flaky, ["b", "d", "e"]);
        assert_eq!(baseline.for_reader().words, "left out, as they are flaky: b, d, e");
        assert_eq!(Baseline::of(Some(&one), None), Baseline::default());
        // It fails without the candidate alone.
        let with_hook = tests(&[("f > (unnamed)", Failed), ("b", Passed)]);
        assert_eq!(Baseline::of(Some(&with_hook), Some(&with_hook)).wanted, ["b"]);
        let names = Names { tests: with_hook, reached: Some(Vec::new()), ..Names::default() };
        assert!(!Baseline::without_body(Some(&names), None).is_idle);
    }

    #[test]
    fn what_fails_and_never_calls_the_function_is_left_out() {
        let names = |reached: Option<&[&str]>| Names {
            tests: tests(&[("calls", Failed), ("fails", Failed), ("other", Passed), ("none", Skipped)]),
            reached: reached.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
            ..Names::default()
        };
        let baseline = Baseline::without_body(Some(&names(Some(&["calls"]))), None);
        assert_eq!((baseline.wanted, baseline.broken), (vec!["calls".into(), "other".into()], vec!["fails".into()]));
        // Without a count, or if loading calls it, the function may cause every failure.
        for reached in [None, Some(&["", "calls"][..])] {
            assert_eq!(Baseline::without_body(Some(&names(reached)), None).wanted, ["calls", "fails", "other"]);
        }
        let notices = |noticed: bool, reached: &[&str]| {
            Baseline::without_body(Some(&Names { noticed, ..names(Some(reached)) }), None).notices
        };
        assert!(notices(true, &["calls"]));
        // The test that passes swallows the error of the function.
        assert!(!Baseline::without_body(Some(&names(Some(&["calls"]))), None).is_idle);
        assert!(!Baseline::without_body(Some(&names(Some(&[""]))), None).is_idle);
        assert!(Baseline::without_body(Some(&names(Some(&[]))), None).is_idle);
        assert!(!Baseline::without_body(Some(&names(None)), None).is_idle);
        let all = Baseline {
            flaky: vec!["calls".into(), "other".into()],
            ..Baseline::without_body(Some(&names(Some(&["calls"]))), None)
        };
        let Baseline { wanted, flaky, broken, .. } = all.of_callers();
        assert_eq!((wanted, flaky, broken), (vec!["calls".into()], vec!["calls".to_owned()], vec![]));
        assert!(!notices(false, &["calls"]) && !notices(true, &["other"]) && !notices(true, &["", "calls"]));
        let told = Names { changed: vec!["Map".to_owned()], ..names(None) };
        assert_eq!(Baseline::without_body(Some(&told), None).changed, ["Map"]);
        let unloaded = Names { complaint: "no".to_owned(), ..told.clone() };
        let known = Baseline { changed: told.changed.clone(), ..Baseline::default() };
        assert_eq!(Baseline::without_body(Some(&unloaded), None), known);
        let complaint = Names { complaint: "no".to_owned(), ..names(None) };
        assert_eq!(Baseline::without_body(Some(&complaint), None), Baseline::default());
        assert_eq!(Baseline::without_body(None, None), Baseline::default());
    }
}
