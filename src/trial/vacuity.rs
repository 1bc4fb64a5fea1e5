//! The vacuity check: runs the same tests on bodies that do nothing right. A pass counts only of tests that
//! fail with such a body. Failures that also occur without the candidate are not put down to it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::case::{Tests, Trial};
use super::error::TrialError;
use super::evidence::Noticed;
use super::language;
use super::project::Project;
use super::project::baseline_cache::CacheFile;
use super::project::projects::Remembered;
use super::verdict::{Status, Verdict};
use crate::hash;

/// The message of a body that raises.
const CONTROL: &str = "control";

/// How the trials of other bodies are run.
pub struct Trials<'a> {
    /// Runs one trial.
    pub run: &'a dyn Fn(&Trial) -> Result<Verdict, TrialError>,
    /// Returns true when runs are cut short.
    pub is_cut: &'a dyn Fn() -> bool,
    /// The cache file for the result of a trial, if it has one.
    pub cache_file: &'a dyn Fn(&Trial) -> Option<CacheFile>,
}

/// Cached facts about tests, keyed by the tests and the program without a body.
#[derive(Debug, Default)]
pub struct Checks {
    /// Bodies that pass, by what they do.
    vacuous: Remembered<Vec<String>>,
    /// Status and reason of the tests without the candidate.
    without: Remembered<(Status, String)>,
}

/// Returns true if each test that passed passes in another run as well: what fails there was left out of the
/// pass, or skipped.
fn all_pass_again(passed: &Verdict, again: &Verdict) -> bool {
    let ends = |name: &str, passes: bool| again.assurance.checks.iter().any(|(own, end)| own == name && *end == passes);
    let mut counted = passed.assurance.checks.iter().filter(|(_, passes)| *passes).peekable();
    // Reports of some runners name the first failure beside the tests, and do not mark it among them.
    let is_marked = again.failed.as_ref().is_some_and(|(name, _)| ends(name, false));
    is_marked && counted.peek().is_some() && counted.all(|(name, _)| ends(name, true))
}

/// An answer, and true if no limit influenced it. Only such answers are cached on disk.
type Answer<T> = Option<(T, bool)>;

impl<T: Clone + Serialize + DeserializeOwned> Remembered<T> {
    /// The answer for these tests and programs. `None` if `find` was cut short; that is not cached.
    fn get_or(
        &self,
        (tests, programs): (&Tests, &[String]),
        cache_file: impl FnOnce() -> Option<CacheFile>,
        find: impl FnOnce() -> Result<Answer<T>, TrialError>,
    ) -> Result<Option<T>, TrialError> {
        let key = hash::of(format!("{tests:?}{programs:?}").as_bytes());
        if let Some(answer) = self.get(key) {
            return Ok(Some(answer));
        }
        let cache_file = cache_file();
        let (answer, is_sure) = match cache_file.as_ref().and_then(CacheFile::read) {
            Some(answer) => (answer, false),
            None => match find()? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        if let Some(cache_file) = cache_file.filter(|_| is_sure) {
            cache_file.write(&answer);
        }
        self.put(key, answer.clone());
        Ok(Some(answer))
    }
}

impl Checks {
    /// A pass, held against the vacuity bodies: with the bodies that pass as well, or `NotRun` if all do. Other
    /// verdicts are returned as they are. The result of a run that was cut short is not cached.
    pub fn hold(&self, trial: &Trial, verdict: Verdict, runs: &Trials) -> Result<Verdict, TrialError> {
        // The run without a body may have shown already that the tests are sensitive.
        if !verdict.has_passed() || verdict.noticed == Noticed::Both || !is_held(trial) {
            return Ok(verdict);
        }
        let Some(name) = &trial.entry_point else { return Ok(verdict) };
        let all = language::row(trial.language).bodies;
        let programs: Option<Vec<Vec<String>>> = all.iter().map(|body| trial.with_vacuity_body(body)).collect();
        let Some(programs) = programs else { return Ok(verdict) };
        let with = |program: &String| Trial { program: program.clone(), ..trial.clone() };
        let noticed = [Noticed::Both, Noticed::Raising];
        let find = || {
            let (mut vacuous, mut is_sure) = (Vec::new(), true);
            for ((body, programs), noticed) in all.iter().zip(&programs).zip(noticed) {
                if verdict.noticed >= noticed {
                    break;
                }
                let Some(ended) = first_that_runs(programs.iter().map(with), runs)? else { continue };
                if (runs.is_cut)() {
                    return Ok(None);
                }
                is_sure &= has_ended(&ended);
                // Tests may take long. If they fail with one body, the other is not tried.
                if ended.has_passed() || all_pass_again(&verdict, &ended) {
                    vacuous.push(body.what.to_owned());
                } else if ended.status != Status::Error {
                    break;
                }
            }
            Ok(Some((vacuous, is_sure)))
        };
        let first = programs.iter().flatten().next();
        // The answer is one for these tests: another candidate may have passed others, or seen more.
        let mut counted: Vec<&String> =
            verdict.assurance.checks.iter().filter(|(_, passes)| *passes).map(|(name, _)| name).collect();
        counted.sort();
        let of_pass = hash::of(format!("{:?} {counted:?}", verdict.noticed).as_bytes());
        let about = format!("vacuous {of_pass:016x}");
        let cache_file = || CacheFile::of(&[(runs.cache_file)(&with(first?))?], &about);
        let key: Vec<String> = programs.concat().into_iter().chain([about.clone()]).collect();
        let vacuous = self.vacuous.get_or((&trial.tests, &key), cache_file, find)?;
        let Some(vacuous) = vacuous else { return Ok(verdict) };
        Ok(match &vacuous[..] {
            [] => verdict,
            some if some.iter().any(|what| what == all[1].what) => verdict.vacuous(name),
            some => {
                let message = format!("{}; these tests pass with a body that {} as well", verdict.message, some[0]);
                Verdict { message, is_partial: true, ..verdict }
            }
        })
    }

    /// Replaces a verdict that says the tests cannot be run, or that one failed, if the cause is not the
    /// candidate. That is so if the same happens without the candidate, or, where the calls of each test are not
    /// known, a test fails for the same reason with a body that raises, and never calls that.
    pub fn excuse(&self, trial: &Trial, verdict: Verdict, runs: &Trials) -> Result<Verdict, TrialError> {
        let row = language::row(trial.language);
        let is_of_body = row.of_bodies.iter().any(|words| verdict.message.contains(words));
        let tests = match (verdict.status, &trial.tests, &verdict.failed) {
            (Status::Error, tests, _) => Some(tests.clone()),
            // An exit code does not say enough about the cause.
            (Status::Failed, Tests::Project(project), Some((name, why)))
                if !why.contains(CONTROL) && !why.starts_with("exit code") =>
            {
                (!row.counts_calls).then(|| Tests::Project(Project { only: vec![name.clone()], ..project.clone() }))
            }
            _ => None,
        };
        let Some(tests) = tests.filter(|_| is_held(trial) && !is_of_body) else { return Ok(verdict) };
        // Bodies of other lengths move what is wrong behind them.
        let reason = |of: &Trial, verdict: &Verdict| match &verdict.failed {
            // Whoever catches what the function raises: the test has to do with it.
            _ if verdict.output.contains(language::CALLED) => String::new(),
            Some((name, why)) => format!("{name}: {why}"),
            None => of.in_own_lines(&verdict.message),
        };
        let Some(mut programs) = trial.with_vacuity_body(&row.bodies[1]) else { return Ok(verdict) };
        if verdict.status == Status::Error {
            // Code that cannot be compiled is to be the candidate's, and not the user's old code.
            programs.truncate(1);
        }
        let with = |program: &String| Trial { program: program.clone(), tests: tests.clone(), ..trial.clone() };
        let Some(first) = programs.first().map(with) else { return Ok(verdict) };
        let find = || {
            let without = first_that_runs(programs.iter().map(with), runs)?;
            let without = without.filter(|_| !(runs.is_cut)());
            Ok(without.map(|without| ((without.status, reason(&first, &without)), has_ended(&without))))
        };
        let cache_file = || CacheFile::of(&[(runs.cache_file)(&first)?], "without");
        let without = self.without.get_or((&tests, &programs), cache_file, find)?;
        let is_same = without.is_some_and(|(status, why)| status == verdict.status && why == reason(trial, &verdict));
        if !is_same {
            return Ok(verdict);
        }
        let message = trial.in_own_lines(&verdict.message);
        Ok(Verdict { message, ..verdict }.without_candidate())
    }
}

/// The verdict of the first trial whose program can be compiled, or that of the last.
fn first_that_runs(trials: impl Iterator<Item = Trial>, runs: &Trials) -> Result<Option<Verdict>, TrialError> {
    let mut last = None;
    for trial in trials {
        let verdict = match (runs.run)(&trial) {
            // Tests that wait for what such a body does not do.
            Err(TrialError::Limit(hit)) => Verdict { status: Status::Timeout, ..Verdict::not_run(&hit) },
            other => other?,
        };
        let is_error = verdict.status == Status::Error;
        last = Some(verdict);
        if !is_error {
            break;
        }
    }
    Ok(last)
}

/// Returns true if no limit ended the run. A limit may strike differently the next time.
fn has_ended(verdict: &Verdict) -> bool {
    !matches!(verdict.status, Status::Timeout | Status::Killed)
}

/// Returns true if a trial is compared with other bodies. Without a stub the function under test is unknown,
/// and a command is not examined.
fn is_held(trial: &Trial) -> bool {
    trial.stub.is_some() && !matches!(trial.tests, Tests::Command { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;
    use crate::sandbox::Limits;
    use crate::trial::Assurance;

    fn trial() -> Trial {
        Trial {
            language: Language::Python,
            program: "def f():\n    return 1\n".to_owned(),
            file: None,
            entry_point: Some("f".to_owned()),
            line: None,
            tests: Tests::own_examples(),
            stub: Some("def f():\n    pass\n".to_owned()),
            limits: Limits::default(),
        }
    }

    /// The first candidate skips the one test that notices, as it may.
    #[test]
    fn the_answer_for_one_candidate_is_none_for_another_that_passed_other_tests() {
        let (checks, trial) = (Checks::default(), trial());
        let passed = |names: &[(&str, bool)]| {
            let checks = names.iter().map(|(name, passes)| ((*name).to_owned(), *passes)).collect();
            let assurance = Box::new(Assurance { checks, ..Assurance::default() });
            Verdict { status: Status::Passed, assurance, ..Verdict::not_run("") }
        };
        let run = |_: &Trial| {
            let failed = Some(("notices".to_owned(), "no".to_owned()));
            Ok(Verdict { status: Status::Failed, failed, ..passed(&[("any", true), ("notices", false)]) })
        };
        let runs = Trials { run: &run, is_cut: &|| false, cache_file: &|_| None };
        let hold = |names: &[(&str, bool)]| checks.hold(&trial, passed(names), &runs).unwrap().status;
        assert_eq!(hold(&[("any", true)]), Status::NotRun);
        assert_eq!(hold(&[("any", true), ("notices", true)]), Status::Passed);
    }

    #[test]
    fn tests_that_are_known_to_notice_are_not_run_again() {
        let trial = trial();
        for (noticed, expected) in [(Noticed::Unknown, 2), (Noticed::Raising, 1), (Noticed::Both, 0)] {
            let verdict = Verdict { status: Status::Passed, noticed, ..Verdict::not_run("") };
            let runs = std::cell::Cell::new(0);
            let run = |_: &Trial| {
                runs.set(runs.get() + 1);
                Ok(Verdict { status: Status::Passed, ..Verdict::not_run("") })
            };
            let runs_of = Trials { run: &run, is_cut: &|| false, cache_file: &|_| None };
            let held = Checks::default().hold(&trial, verdict, &runs_of).unwrap();
            let is_sensitive = noticed != Noticed::Unknown;
            assert_eq!(
                (held.has_passed(), held.is_partial, runs.get()),
                (is_sensitive, noticed == Noticed::Raising, expected)
            );
        }
    }
}
