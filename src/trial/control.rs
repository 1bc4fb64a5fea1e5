//! Runs of the same tests on bodies that do nothing right: whether they notice the function under test, and
//! whether what keeps them from being run is there without the candidate, too. Where tests and code share a
//! process, and in projects, a pass counts only of tests that notice it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::case::{Tests, Trial};
use super::error::TrialError;
use super::project::Project;
use super::project::kept::Place;
use super::verdict::{Assurance, Status, Verdict};
use crate::hash;
use crate::language::Language;

/// What such a body does, and its text.
fn bodies(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Python => &[("returns nothing", "return None"), ("raises", "raise RuntimeError('control')")],
        Language::JavaScript | Language::TypeScript => {
            &[("returns nothing", "return;"), ("throws", "throw new Error('control');")]
        }
        Language::Rust => &[("panics", "panic!(\"control\")")],
        Language::Go => &[("panics", "panic(\"control\")")],
    }
}

/// What a body says that raises, and what tests say of it in turn.
const CONTROL: &str = "control";

/// A body that raises.
pub fn raising(language: Language) -> &'static str {
    bodies(language).last().map_or("", |(_, body)| body)
}

/// Two bodies that show, where calls are not counted, that tests have nothing to do with the function: one ends
/// the process, whoever would catch what it raises; of what the other one returns nobody makes the same as of
/// nothing, not even tests that only look at what others have left.
pub fn telling(language: Language) -> Option<[&'static str; 2]> {
    match language {
        Language::JavaScript | Language::TypeScript => Some([
            "try { globalThis.process.kill(globalThis.process.pid, 'SIGKILL'); } finally { for (;;) {} }",
            "return new String('control');",
        ]),
        Language::Python | Language::Rust | Language::Go => None,
    }
}

/// What compilers say of an import that only the body uses: that is the body's fault, whichever it is.
const OF_THE_BODY: &[&str] = &["imported and not used", "declared and not used", "but its value is never read"];

/// How the trials of other bodies are run.
pub struct Runs<'a> {
    /// Runs one.
    pub run: &'a dyn Fn(&Trial) -> Result<Verdict, TrialError>,
    /// Whether runs are cut short.
    pub is_cut: &'a dyn Fn() -> bool,
    /// Where is kept what came of one, if it is.
    pub place: &'a dyn Fn(&Trial) -> Option<Place>,
}

/// What is known of the tests, by them and the program without a body.
#[derive(Debug, Default)]
pub struct Controls {
    /// What the bodies do that they do not notice.
    unnoticed: Known<Vec<String>>,
    /// What they say without the candidate: the status and the reason.
    without: Known<(Status, String)>,
}

/// Answers that are found out once.
#[derive(Debug)]
struct Known<T>(Mutex<HashMap<u64, T>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// An answer, and whether no limit had a part in it: such a one is kept on disk.
type Answer<T> = Option<(T, bool)>;

impl<T: Clone + Serialize + DeserializeOwned> Known<T> {
    /// The answer for these tests and programs; `None` where `find` was cut short, of which nothing is kept.
    fn get<E>(
        &self,
        (tests, programs): (&Tests, &[String]),
        place: impl FnOnce() -> Option<Place>,
        find: impl FnOnce() -> Result<Answer<T>, E>,
    ) -> Result<Option<T>, E> {
        let key = hash::of(format!("{tests:?}{programs:?}").as_bytes());
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // On its own, so that the lock is not held while tests run.
        let answer = known().get(&key).cloned();
        if answer.is_some() {
            return Ok(answer);
        }
        let place = place();
        let (answer, is_sure) = match place.as_ref().and_then(Place::read) {
            Some(answer) => (answer, false),
            None => match find()? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        if let Some(place) = place.filter(|_| is_sure) {
            place.write(&answer);
        }
        known().insert(key, answer.clone());
        Ok(Some(answer))
    }
}

impl Controls {
    /// The verdict; or the same with what the tests do not notice. An answer of a run that was cut short is not
    /// kept.
    pub fn hold(&self, trial: &Trial, verdict: Verdict, runs: &Runs) -> Result<Verdict, TrialError> {
        if !is_held(trial) {
            return Ok(verdict);
        }
        // In a project no count of checks says that anything looked at the code, whichever process it is in.
        let is_doubtful = verdict.assurance == Assurance::Shared || trial.tests.are_in_project();
        // The run without a body may have shown it already.
        if !verdict.has_passed() || !is_doubtful || verdict.notices {
            return Ok(verdict);
        }
        let Some(name) = &trial.entry_point else { return Ok(verdict) };
        let all = bodies(trial.language);
        let programs: Option<Vec<String>> = all.iter().map(|(_, body)| trial.with_body(body)).collect();
        let Some(programs) = programs else { return Ok(verdict) };
        let with = |program: &String| Trial { program: program.clone(), ..trial.clone() };
        let find = || {
            let (mut unnoticed, mut is_sure) = (Vec::new(), true);
            for (&(what, _), program) in all.iter().zip(&programs) {
                let verdict = (runs.run)(&with(program))?;
                is_sure &= has_ended(&verdict);
                if verdict.has_passed() {
                    unnoticed.push(what.to_owned());
                }
                if (runs.is_cut)() {
                    return Ok(None);
                }
                // Tests of a project may take long, and notice one body as they do the other.
                if unnoticed.is_empty() && trial.tests.are_in_project() {
                    break;
                }
            }
            Ok(Some((unnoticed, is_sure)))
        };
        let place = || Place::of(&[(runs.place)(&with(programs.first()?))?], "unnoticed");
        let unnoticed = self.unnoticed.get((&trial.tests, &programs), place, find)?;
        let Some(unnoticed) = unnoticed else { return Ok(verdict) };
        Ok(match &unnoticed[..] {
            [] => verdict,
            some if some.len() < all.len() => {
                let message = format!("{}; these tests pass with a body that {} as well", verdict.message, some[0]);
                Verdict { message, is_partial: true, ..verdict }
            }
            _ => verdict.unnoticed(name),
        })
    }

    /// The verdict, where it says that the tests cannot be run with the candidate, or that one failed: what keeps
    /// them from it without the candidate as well is not its fault, and neither is what fails for the same reason
    /// with a body that raises. Of Python and Rust it is known which tests call the function.
    pub fn excuse(&self, trial: &Trial, verdict: Verdict, runs: &Runs) -> Result<Verdict, TrialError> {
        let is_of_body = OF_THE_BODY.iter().any(|words| verdict.message.contains(words));
        let tests = match (verdict.status, &trial.tests, &verdict.failed) {
            (Status::Error, tests, _) => Some(tests.clone()),
            // An exit code says too little of why.
            (Status::Failed, Tests::Project(project), Some((name, why)))
                if !why.contains(CONTROL) && !why.starts_with("exit code") =>
            {
                let counts_calls = matches!(trial.language, Language::Python | Language::Rust);
                (!counts_calls).then(|| Tests::Project(Project { only: vec![name.clone()], ..project.clone() }))
            }
            _ => None,
        };
        let tests = tests.filter(|_| is_held(trial) && !is_of_body);
        let Some((tests, program)) = tests.zip(trial.with_body(raising(trial.language))) else { return Ok(verdict) };
        let reason = |verdict: &Verdict| match &verdict.failed {
            Some((name, why)) => format!("{name}: {why}"),
            None => verdict.message.clone(),
        };
        let control = Trial { program: program.clone(), tests: tests.clone(), ..trial.clone() };
        let find = || {
            let without = (runs.run)(&control)?;
            Ok((!(runs.is_cut)()).then(|| ((without.status, reason(&without)), has_ended(&without))))
        };
        let place = || Place::of(&[(runs.place)(&control)?], "without");
        let without = self.without.get((&tests, std::slice::from_ref(&program)), place, find)?;
        let is_same = without.is_some_and(|(status, why)| status == verdict.status && why == reason(&verdict));
        Ok(if is_same { verdict.without_candidate() } else { verdict })
    }
}

/// Whether nothing but the code ended a run: no limit, which may be another one the next time.
fn has_ended(verdict: &Verdict) -> bool {
    !matches!(verdict.status, Status::Timeout | Status::Killed)
}

/// Whether a trial is held against others: without a stub nobody said which function it is about, and a command
/// is worth what it is worth.
fn is_held(trial: &Trial) -> bool {
    trial.stub.is_some() && !matches!(trial.tests, Tests::Command { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Limits;

    #[test]
    fn tests_that_are_known_to_notice_are_not_run_again() {
        let trial = Trial {
            language: Language::Python,
            program: "def f():\n    return 1\n".to_owned(),
            file: None,
            entry_point: Some("f".to_owned()),
            line: None,
            tests: Tests::Doctest { source: String::new() },
            stub: Some("def f():\n    pass\n".to_owned()),
            limits: Limits::default(),
        };
        for notices in [false, true] {
            let assurance = Assurance::Shared;
            let verdict = Verdict { status: Status::Passed, assurance, notices, ..Verdict::not_run("") };
            let runs = std::cell::Cell::new(0);
            let run = |_: &Trial| {
                runs.set(runs.get() + 1);
                Ok(Verdict { status: Status::Passed, ..Verdict::not_run("") })
            };
            let runs_of = Runs { run: &run, is_cut: &|| false, place: &|_| None };
            let held = Controls::default().hold(&trial, verdict, &runs_of).unwrap();
            assert_eq!((held.has_passed(), runs.get()), (notices, if notices { 0 } else { 2 }));
        }
    }
}
