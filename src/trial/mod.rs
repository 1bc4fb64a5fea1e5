//! Runs tests on untrusted candidate code, in a sandbox, and reports a verdict.
//!
//! Knows neither engine nor screen. Imports point down only: this file, then `language`, then `project`, then
//! `verdict` and `evidence`.
//!
//! A verdict is the result of the user's own runner for the candidate in a copy of the user's project. A lone
//! file is a project of one folder. The report comes over a channel with a nonce for each run.
//! `docs/security.md` says what a verdict promises.
//!
//! 1. Tests of a lone file are laid out as a project (`project::lone`).
//! 2. The tests run without the candidate (baseline), once per function and tests.
//! 3. They run with the candidate. The first failure ends the run.
//! 4. `decide::decide` turns the evidence into a status; nothing else makes a pass.
//! 5. A pass is held against bodies that do nothing right (`vacuity`). Tests that pass with all of them are
//!    `NotRun`. An error or failure that is the same without the candidate is `NotRun`, too, and so is a
//!    failure in another unfinished function of the user's.
//! 6. Suspicious uses in the candidate's text are marks (`suspicious`, `marks`), without tests as well.
//!
//! If the tests that were found are vacuous, the next ones are tried (`Tests::FirstOf`). A pass is held
//! against the others that were found, as the user's runner would run them too: in Python against all tests
//! of the project that call the function, in Go against those of the package. The verdict names the tests
//! that decided. Examples in documentation come behind the tests if the project's runner does not run them:
//! one that fails is then a mark of the pass. So are tests that cannot be run beside others that pass; beside
//! examples alone there is no pass then. A test whose runner is not installed is not run; the message has the
//! command that installs it.
//!
//! `tests/hostile` has programs that attack the sandbox or the verdict, run in every tier of the machine.
//! `tests/field` has small projects with traits of real ones.

mod case;
mod decide;
mod error;
mod evidence;
mod found;
mod hashes;
mod judge;
mod language;
mod marks;
mod named;
mod observe;
mod project;
mod suspicious;
mod tool;
mod vacuity;
mod verdict;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use case::{Command, Lone, Tests, Trial};
pub use error::TrialError;
pub use evidence::LeftOut;
use found::are_about;
pub use found::{is_of_tests, tested_stem};
use language::command::{self, Toolbox};
pub use language::tests_below;
use language::{Context, Packages, TrialLanguage};
pub use observe::{
    AROUND, ASYNC_MAKER, CALLBACK_MAKER, COROUTINE_MAKER, EFFECTS, Earlier, Effect, FILE_MAKER, FOLDER_MAKER, Input,
    NOT_HERE, Observed, STREAM_MAKER, STUB_MAKER,
};
pub use project::Project;
use project::baseline_cache::CacheFile;
use project::lone::Lones;
use project::projects::Projects;
use project::runs::{PATIENCE, PATIENCE_WITH_PASS};
use vacuity::{Checks, Trials};
pub use verdict::{Assurance, Status, Verdict};

use crate::language::Language;
pub use crate::sandbox::{Layer, Limits, Protection, Tier};
use crate::sandbox::{Sandbox, VARIABLES};

/// The verdict of a trial without tests: it has the marks of its program. `why` is a sentence on a name that
/// the code lacks. Where it is not called either, that is a mark.
pub fn untested(trial: &Trial, why: Option<&str>, is_called: bool) -> Verdict {
    let marks = marks::of(trial);
    match why {
        Some(why) if is_called => Verdict::not_run(why).marked(&marks),
        Some(why) => Verdict::no_tests().marked(&marks).with_marks(&[why.to_owned()]),
        None => Verdict::no_tests().marked(&marks),
    }
}

/// Returns true if a variable of the user's environment is withheld from tests.
fn is_withheld(name: &str) -> bool {
    std::env::var_os(name).is_some() && !VARIABLES.contains(&name)
}

/// Tests of the file that are not heard.
#[derive(Debug, Default)]
struct Unheard {
    /// A sentence for each.
    why: Vec<String>,
    /// True if some might say more where they can be run, and do not just fail in other functions.
    may_say_more: bool,
}

impl Unheard {
    fn add(&mut self, trial: &Trial, tests: &Tests, verdict: &Result<Verdict, TrialError>) {
        let Some(why) = not_run(trial, tests, verdict) else { return };
        self.why.push(why);
        self.may_say_more |= !verdict.as_ref().is_ok_and(|verdict| verdict.is_unnoticed);
    }
}

/// A sentence for tests of the file that are not heard.
fn not_run(trial: &Trial, tests: &Tests, verdict: &Result<Verdict, TrialError>) -> Option<String> {
    let is_about = |file: &Path| are_about(trial.language, file, trial.function().unwrap_or_default(), tests);
    if !trial.file.as_deref().is_some_and(is_about) {
        return None;
    }
    let why = match verdict {
        Ok(verdict) => verdict.is_unheard.then(|| verdict.message.clone())?,
        // The tests that hit a limit are named where they are left out.
        Err(TrialError::Limit(_)) => return None,
        Err(error) => error.is_of_tests().then(|| error.to_string())?,
    };
    Some(format!("{} is not run: {why}", tests.name()))
}

/// Returns true if tests are examples in documentation that the project's runner does not run.
fn are_beside(trial: &Trial, tests: &Tests) -> bool {
    let are_examples = matches!(tests, Tests::Project(project) if project.tests.as_ref() == Some(&project.file));
    are_examples && !language::runs_examples(trial.language, trial.file.as_deref())
}

/// Time limit factor of the tests that were found: after it no further ones are tried.
const PATIENCE_WITH_GROUPS: u32 = 6;

/// Runs trials. Interpreters are found once and protection is probed once. Cheap to clone; usable from
/// several threads at once.
#[derive(Clone, Debug)]
pub struct Runner {
    sandbox: Arc<Sandbox>,
    /// The languages in the order of the table.
    languages: Arc<Vec<Box<dyn TrialLanguage>>>,
    projects: Arc<Projects>,
    lones: Arc<Lones>,
    checks: Arc<Checks>,
    cache: Option<Arc<Path>>,
    runs_unprotected: bool,
}

impl Runner {
    /// Probes the protection by a run, and starts looking for the interpreters.
    pub fn probe() -> Self {
        Self::probe_at_most(Tier::Full)
    }

    /// [`Runner::probe`], without trying for a better tier than this one.
    pub fn probe_at_most(best: Tier) -> Self {
        let runner = Self::with(Sandbox::probe(best));
        let languages = Arc::clone(&runner.languages);
        // A version manager's shim takes a quarter of a second to answer. Without a thread the first trial
        // asks it.
        let _ = std::thread::Builder::new().name("find python".to_owned()).spawn(move || {
            let _ = languages[language::place(Language::Python)].check(Language::Python);
        });
        // A short run would be over before one thread had done both.
        let _ = std::thread::Builder::new().name("sweep".to_owned()).spawn(Sandbox::sweep);
        runner
    }

    /// A runner without isolation, whatever the machine offers: limits only. It runs nothing before
    /// [`Runner::allow_unprotected`].
    pub fn without_isolation() -> Self {
        Self::with(Sandbox::unprotected("it was switched off"))
    }

    fn with(sandbox: Sandbox) -> Self {
        let (languages, projects, lones) = (Arc::new(language::open()), Arc::default(), Arc::default());
        let (checks, cache) = (Arc::default(), None);
        Self { sandbox: Arc::new(sandbox), languages, projects, lones, checks, cache, runs_unprotected: false }
    }

    /// Sets the folder of the build cache, for later runners.
    #[must_use]
    pub fn keeping(mut self, folder: &Path) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Runs Python code with this interpreter, whatever the project has.
    #[must_use]
    pub fn with_python(self, program: Option<&Path>) -> Self {
        if let Some(program) = program {
            self.language(Language::Python).prefer(program);
        }
        self
    }

    /// Lets this runner run code without isolation. Only after the user said yes to just that.
    #[must_use]
    pub fn allow_unprotected(mut self) -> Self {
        self.runs_unprotected = true;
        self
    }

    /// Returns true if code may be run. Without isolation that needs [`Runner::allow_unprotected`].
    pub fn may_run(&self) -> bool {
        self.protection().is_isolated() || self.runs_unprotected
    }

    /// A sentence that says why no code can be run here, with or without protection, if that is so.
    pub fn lacks_place() -> Option<String> {
        Sandbox::lacks_place()
    }

    /// The protection of the user's machine.
    pub fn protection(&self) -> &Protection {
        self.sandbox.protection()
    }

    /// Runs one trial and waits for it. `cancel` set to true ends it within 50 ms (`Killed`). Never panics; a
    /// fault of the sandbox itself is an error, not a verdict.
    ///
    /// Must be called on a thread that lives as long as the trial: the code is killed when that thread ends.
    pub fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        let begun = Instant::now();
        let tests = self.laid_out(trial, &trial.tests)?;
        let verdict = self.first_sensitive(&Trial { tests, ..trial.clone() }, cancel)?;
        let verdict = verdict.explained(self.protection(), is_withheld, &trial.program);
        Ok(Verdict { waited_ms: begun.elapsed().as_millis().try_into().unwrap_or(u32::MAX), ..verdict })
    }

    /// Runs the tests of a project once without the candidate, so that the first candidate need not wait for
    /// that. Nothing is known of tests that fail to run: the first trial will say why.
    pub fn prepare(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<(), TrialError> {
        let at = self.context(cancel)?;
        let tests = match &trial.tests {
            Tests::FirstOf(all) => all.first().map(|(tests, _)| tests),
            tests => Some(tests),
        };
        let at = Context { prepares: true, ..at.with_patience(&trial.tests, 0) };
        let each = match tests {
            Some(Tests::Several(all)) => all.iter().collect(),
            tests => Vec::from_iter(tests),
        };
        for tests in each.into_iter().filter(|tests| matches!(tests, Tests::Project(_))) {
            let own = Trial { program: trial.own_text().to_owned(), tests: tests.clone(), ..trial.clone() };
            self.run_tests(&at, &own)?;
        }
        Ok(())
    }

    /// Calls the function of a trial's program on the inputs, in the sandbox, whatever tests it has. What the
    /// calls do is no verdict. The error is a fault of the sandbox, or says that the language is not observed.
    pub fn observe(
        &self,
        trial: &Trial,
        inputs: &[Input],
        cancel: &Arc<AtomicBool>,
    ) -> Result<Vec<Observed>, TrialError> {
        let at = self.context(cancel)?;
        observe::observe_trial(&at, &self.lones, self.language(trial.language), trial, inputs)
    }

    /// The time limit of [`Runner::prepare`].
    pub fn longest_preparation(trial: &Trial) -> Duration {
        trial.limits.wall * language::patience(&trial.tests, 0)
    }

    /// Lays out tests without a project in folders made for them.
    fn laid_out(&self, trial: &Trial, tests: &Tests) -> Result<Tests, TrialError> {
        let each = |all: &[Tests]| all.iter().map(|tests| self.laid_out(trial, tests)).collect::<Result<_, _>>();
        Ok(match tests {
            Tests::Lone(lone) => {
                Tests::Project(self.lones.project(trial, lone, language::row(trial.language).lay_out)?)
            }
            Tests::Several(all) => Tests::Several(each(all)?),
            Tests::FirstOf(all) => {
                let one = |(tests, label): &(Tests, String)| Ok((self.laid_out(trial, tests)?, label.clone()));
                Tests::FirstOf(all.iter().map(one).collect::<Result<_, TrialError>>()?)
            }
            Tests::Project(_) | Tests::Command { .. } => tests.clone(),
        })
    }

    /// The verdict of the first tests that are sensitive.
    fn first_sensitive(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        let at = self.context(cancel)?;
        let Tests::FirstOf(all) = &trial.tests else {
            return self.judge(&at, trial, false).map(|verdict| self.in_other_orders(&at, trial, verdict));
        };
        let (mut best, mut others): (Option<Result<Verdict, TrialError>>, Vec<String>) = Default::default();
        let (begun, mut hit, mut left_out) = (Instant::now(), None, Vec::new());
        let (mut unheard, mut are_all) = (Unheard::default(), true);
        for (place, (tests, label)) in all.iter().enumerate() {
            let is_late = begun.elapsed() > trial.limits.wall * PATIENCE_WITH_GROUPS;
            if place > 0 && is_late && !are_beside(trial, tests) {
                others.push("further ones, which were not tried: the time was up".to_owned());
                are_all = false;
                break;
            }
            let at = at.with_patience(&trial.tests, place);
            let verdict = self.judge(&at, &Trial { tests: tests.clone(), ..trial.clone() }, true);
            // Examples are no word of a runner that is not there. They decide beside tests that only fail in other
            // functions.
            let are_alone =
                unheard.may_say_more && are_beside(trial, tests) && verdict.as_ref().is_ok_and(Verdict::has_passed);
            let verdict = if are_alone { Ok(Verdict::not_run("")) } else { verdict };
            let verdict = if place == 0 { verdict } else { verdict.map(|verdict| verdict.of_other_tests(label)) };
            if let Err(error @ TrialError::Limit(_)) = &verdict {
                hit = Some(error.to_string());
                left_out.push(format!("{} left out: {error}", tests.name()));
            }
            let (is_sensitive, has_passed) = match &verdict {
                Ok(verdict) => (verdict.status != Status::NotRun && !verdict.is_partial, verdict.has_passed()),
                Err(error) => (!error.is_of_tests(), false),
            };
            if at.is_cancelled() || is_sensitive && !has_passed {
                return verdict.map(|verdict| verdict.without_tests(&left_out));
            }
            if is_sensitive {
                let held = Trial { tests: tests.clone(), ..trial.clone() };
                let confirmed = |passed| {
                    let passed = self.in_other_orders(&at, &held, passed);
                    self.confirmed(&at, trial, &all[place + 1..], passed)
                };
                return verdict.map(|passed| confirmed(passed).without_tests(&left_out).despite(&unheard.why));
            }
            if are_alone {
                others.push(format!("{label}, which passes"));
            } else if place > 0 {
                let why = verdict.as_ref().err().map(|why| format!(": {why}")).unwrap_or_default();
                others.push(format!("{label}{why}"));
            }
            unheard.add(trial, tests, &verdict);
            // Tests that are sensitive to one body are better than vacuous ones.
            let passed_before = best.as_ref().is_some_and(|best| best.as_ref().is_ok_and(Verdict::has_passed));
            if best.is_none() || (has_passed && !passed_before) {
                best = Some(verdict);
            }
        }
        // Nobody asked for just these: the candidates are kept.
        let best = match best.unwrap_or_else(|| Ok(Verdict::not_run("there are no tests"))) {
            Err(error) if error.is_of_tests() => Verdict::not_run(&error.to_string()),
            best => best?,
        };
        if best.has_passed() {
            let best = best.despite(&unheard.why);
            return Ok(match hit {
                Some(hit) => best.beside_limit(&hit),
                None => best,
            });
        }
        // Where all tests of the project are the only ones, none names the function, and nothing is missed.
        let best = Verdict { is_unnoticed: best.is_unnoticed || all.iter().all(|(tests, _)| tests.is_suite()), ..best };
        let are_unheard = !are_all || hit.is_some() || unheard.may_say_more;
        Ok(best.nor_by(&others).beside_unheard(are_unheard))
    }

    /// A pass, with a mark if the same tests fail with another order of Python's sets. Tests that differ by
    /// that without the candidate, too, are left out as flaky.
    fn in_other_orders(&self, at: &Context, trial: &Trial, passed: Verdict) -> Verdict {
        if !passed.has_passed() || !hashes::are_used(trial) {
            return passed;
        }
        for seed in hashes::OTHERS {
            let at = Context { hashes: seed, ..*at };
            let Ok(verdict) = self.compared(&at, trial, true, false) else { break };
            if at.is_cancelled() {
                break;
            }
            if matches!(verdict.status, Status::Failed | Status::Error) {
                let order = format!("with another order of sets (PYTHONHASHSEED={seed}) it fails");
                return passed.despite(&[format!("{order}: {}", verdict.message)]);
            }
        }
        passed
    }

    /// A pass, unless the other tests that were found fail with the candidate: all tests of the project, of
    /// which those count that call the function, or else the further files one after another in the time. An
    /// example that fails and that the project's runner does not run is a mark of the pass.
    fn confirmed(&self, at: &Context, trial: &Trial, others: &[(Tests, String)], passed: Verdict) -> Verdict {
        let at = &Context { patience: PATIENCE_WITH_PASS, confirms: true, ..*at };
        // An error that comes without the candidate as well was excused before.
        let is_of_code = |verdict: &Verdict| {
            matches!(verdict.status, Status::Failed | Status::Error) && !verdict.is_of_machine(is_withheld)
        };
        let (passed, others) = match others {
            [(examples, _), others @ ..] if are_beside(trial, examples) => {
                let examples = Trial { tests: examples.clone(), ..trial.clone() };
                let verdict = self.compared(at, &examples, true, false).ok().filter(is_of_code);
                let but = "an example in its documentation fails, which your runner does not run";
                let mark = verdict.map(|failed| format!("{but}: {}", failed.message));
                (passed.despite(mark.as_slice()), others)
            }
            others => (passed, others),
        };
        // Each file alone is tried where all of them take too long.
        let (suites, files): (Vec<_>, Vec<_>) = others.iter().partition(|(tests, _)| tests.is_suite());
        let (begun, mut taken, mut passed, mut unheard) = (Instant::now(), Duration::ZERO, passed, Vec::new());
        for (tests, label) in suites.first().into_iter().chain(&files) {
            if !tests.is_suite() && !suites.is_empty() && unheard.is_empty() {
                break;
            }
            // Runs without the candidate are made once, and count only where they take very long.
            let is_late = taken > trial.limits.wall || begun.elapsed() > trial.limits.wall * PATIENCE_WITH_GROUPS;
            if at.is_cancelled() {
                break;
            }
            if is_late {
                unheard.push("further ones were not tried: the time was up".to_owned());
                break;
            }
            let trial = Trial { tests: tests.clone(), ..trial.clone() };
            // Tests that cannot be run, or take too long without the candidate, too, leave the pass as it is.
            let verdict = self.compared(at, &trial, true, false);
            if let Err(TrialError::Limit(hit)) = &verdict {
                unheard.push(format!("{label} say nothing, as they take too long without the candidate, too: {hit}"));
            }
            if matches!(verdict, Err(TrialError::Tests(_))) {
                passed = passed.despite(not_run(&trial, tests, &verdict).as_slice());
            }
            let Ok(verdict) = verdict else { continue };
            taken += Duration::from_millis(verdict.duration_ms);
            // One of them may wait for ever since the candidate is wrong, or be ended by it.
            let end = match verdict.status {
                Status::Timeout => Some(format!(" there is {}", verdict.message)),
                Status::Killed => Some(format!(": {}", verdict.message)),
                _ => None,
            };
            if let Some(end) = end.filter(|_| !at.is_cancelled()) {
                let mark = format!("{label} end without the candidate, and with it{end}");
                passed = passed.despite(&[mark]);
            }
            if is_of_code(&verdict) || verdict.status == Status::Tampered {
                return verdict.of_other_tests(label);
            }
        }
        passed.without_tests(&unheard)
    }

    /// The verdict of tests, compared with their baseline. Of several tests that were found, those that
    /// cannot be run are left out and named.
    fn judge(&self, at: &Context, trial: &Trial, are_found: bool) -> Result<Verdict, TrialError> {
        self.compared(at, trial, are_found, true)
    }

    /// [`Runner::judge`], with the vacuity check or without.
    fn compared(&self, at: &Context, trial: &Trial, are_found: bool, is_held: bool) -> Result<Verdict, TrialError> {
        let (run, is_cut) = (|trial: &Trial| self.run_tests(at, trial), || at.is_cancelled());
        let trials = Trials { run: &run, is_cut: &is_cut, cache_file: &|trial| self.cache_file(at, trial) };
        let excused = |trial: &Trial| self.checks.excuse(trial, run(trial)?, &trials);
        let mut held = trial.clone();
        let (mut hit, mut unheard) = (None, Unheard::default());
        let verdict = match &trial.tests {
            Tests::Several(all) => {
                let (mut sensitive, mut left_out) = (Vec::new(), Vec::new());
                let unheard = &mut unheard;
                let verdict = Verdict::of_all(all.iter().map(|tests| {
                    let verdict = match excused(&Trial { tests: tests.clone(), ..trial.clone() }) {
                        Err(error) if are_found && error.is_of_tests() => {
                            left_out.push(format!("{} left out: {error}", tests.name()));
                            if matches!(error, TrialError::Limit(_)) {
                                hit = Some(error.to_string());
                            }
                            Ok(Verdict::not_run(&error.to_string()))
                        }
                        other => other,
                    };
                    unheard.add(trial, tests, &verdict);
                    let is_sensitive = verdict.as_ref().is_ok_and(|verdict| verdict.status != Status::NotRun);
                    sensitive.extend(is_sensitive.then(|| tests.clone()));
                    verdict
                }))?;
                // Tests that say nothing about the candidate would fail with any other body, too.
                held.tests = Tests::Several(sensitive);
                verdict.without_tests(&left_out)
            }
            _ => excused(trial)?,
        };
        let verdict = verdict.marked(&marks::of(trial)).despite(&unheard.why);
        let verdict = if is_held { self.checks.hold(&held, verdict, &trials)? } else { verdict };
        let verdict = verdict.beside_unheard(hit.is_some() || unheard.may_say_more);
        let verdict = self.with_reason(trial, verdict);
        Ok(match hit {
            Some(hit) => verdict.beside_limit(&hit),
            None => verdict,
        })
    }

    /// The verdict of tests that were run and say nothing, with the reason that their language knows.
    fn with_reason(&self, trial: &Trial, verdict: Verdict) -> Verdict {
        let has_run = verdict.status == Status::NotRun && !verdict.assurance.runner.is_empty();
        let each = match &trial.tests {
            Tests::Several(all) => &all[..],
            tests => std::slice::from_ref(tests),
        };
        let why = |tests: &Tests| match tests {
            Tests::Project(project) => self.language(trial.language).why_idle(project),
            _ => None,
        };
        match each.iter().filter(|_| has_run).find_map(why) {
            Some(why) => Verdict { message: format!("{}; {why}", verdict.message), ..verdict },
            None => verdict,
        }
    }

    /// The cache file for runs of projects' tests with a program that holds nothing of a candidate's.
    fn cache_file(&self, at: &Context, trial: &Trial) -> Option<CacheFile> {
        let of = |project: &Project| {
            let cache = self.language(trial.language).baseline_cache(at, trial, project);
            let cache = cache.filter(|_| project.lone.is_none())?;
            let base = at.projects.base(project).ok()?;
            Some(cache.file(project, &base, Some(&trial.program)))
        };
        match &trial.tests {
            _ if !trial.has_own_text() => None,
            Tests::Project(project) => of(project),
            Tests::Several(all) => {
                let each =
                    all.iter().map(|tests| self.cache_file(at, &Trial { tests: tests.clone(), ..trial.clone() }));
                CacheFile::of(&each.collect::<Option<Vec<_>>>()?, "several")
            }
            _ => None,
        }
    }

    fn run_tests(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError> {
        let language = self.language(trial.language);
        match &trial.tests {
            Tests::Command { command, project } => {
                command::run(at, &self.toolbox(trial), command, trial, project.as_ref())
            }
            Tests::Project(project) => language.run(at, trial, project),
            Tests::Several(all) => {
                let one = |tests: &Tests| Trial { tests: tests.clone(), ..trial.clone() };
                Verdict::of_all(all.iter().map(|tests| self.run_tests(at, &one(tests))))
            }
            Tests::Lone(_) | Tests::FirstOf(_) => Ok(Verdict::not_run("these tests are laid out and run one by one")),
        }
    }

    /// Refuses a tests file that does not parse, so that no model time is spent on it, and a language that
    /// cannot be run here. `file` holds the program, whose project may have its own interpreter.
    pub fn check(&self, language: Language, file: Option<&Path>, tests: &Tests) -> Result<(), TrialError> {
        match tests {
            Tests::Lone(Lone { tests: Some((name, text)), .. }) => {
                let never = AtomicBool::new(false);
                self.language(language).check_tests(&self.context(&never)?, language, file, (name, text))
            }
            Tests::Project(project) => self.language(language).check_project(language, project),
            Tests::Lone(_) => self.check_language(language),
            // The requirements of a command are not checked.
            Tests::Command { .. } => Ok(()),
            Tests::Several(all) => all.iter().try_for_each(|tests| self.check(language, file, tests)),
            Tests::FirstOf(all) => {
                let mut each = all.iter().map(|(tests, _)| self.check(language, file, tests));
                let first = each.next().unwrap_or(Ok(()));
                if first.is_ok() || each.any(|other| other.is_ok()) { Ok(()) } else { first }
            }
        }
    }

    /// Refuses a language whose programs cannot be run here.
    pub fn check_language(&self, language: Language) -> Result<(), TrialError> {
        self.language(language).check(language)
    }

    /// The program that runs or compiles the code of a folder, and the reason for the choice.
    pub fn tool(&self, language: Language, folder: &Path) -> Result<(PathBuf, String), TrialError> {
        self.language(language).tool_in(folder).map(|tool| (tool.program, tool.why))
    }

    /// The PATH for commands of the user's: the tools of all installed languages, the project's own first.
    fn toolbox(&self, trial: &Trial) -> Toolbox {
        let folder = trial.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let own = self.language(trial.language).tool_in(folder).ok();
        let mut toolbox = Toolbox::default();
        for tool in own.iter().chain(self.languages.iter().filter_map(|language| language.tool().ok())) {
            toolbox.path.push(tool.folder().to_path_buf());
            toolbox.readable.extend_from_slice(&tool.readable);
        }
        let Packages { readable, environment } = self.language(trial.language).packages();
        toolbox.readable.extend(readable);
        Toolbox { environment, ..toolbox }
    }

    fn language(&self, language: Language) -> &dyn TrialLanguage {
        &*self.languages[language::place(language)]
    }

    fn context<'a>(&'a self, cancel: &'a AtomicBool) -> Result<Context<'a>, TrialError> {
        if self.may_run() {
            return Ok(Context {
                sandbox: &self.sandbox,
                projects: &self.projects,
                cache: self.cache.as_deref(),
                patience: PATIENCE,
                prepares: false,
                confirms: false,
                hashes: 0,
                cancel,
            });
        }
        Err(TrialError::Sandbox(self.protection().summary.clone()))
    }
}
