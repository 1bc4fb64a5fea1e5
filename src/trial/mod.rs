//! Runs tests on untrusted candidate code, in a sandbox, and reports a verdict the code cannot forge.
//!
//! Knows neither engine nor screen. Imports point down only: this file, then `language`, then `project` and
//! `judge`, then `verdict` and `evidence`. The sandbox contains the code, `verdict` decides what counts as a
//! pass.

mod case;
mod control;
mod error;
mod evidence;
mod judge;
mod language;
mod marks;
mod named;
mod project;
mod reach;
mod tool;
mod verdict;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub use case::{Command, Tests, Trial};
use control::{Controls, Runs};
pub use error::TrialError;
use language::command::{self, Toolbox, split};
use language::{Context, Sources, TrialLanguage};
pub use project::Project;
use project::cache::Projects;
use project::find::Found;
use project::kept::Place;
use project::runs::{PATIENCE, PATIENCE_WITH_OTHERS};
pub use verdict::{Assurance, Status, Verdict};

use crate::code::{self, Target};
use crate::files;
use crate::language::Language;
use crate::sandbox::Sandbox;
pub use crate::sandbox::{Layer, Limits, Protection, Tier};

impl Tests {
    /// The tests of a file. They run in a copy of the project that both files lie in if they need it; else
    /// alone with the candidate.
    pub fn of_file(language: Language, program: Option<(&Path, &str)>, tests: &Path, text: String) -> Self {
        let project = program.and_then(|(path, program)| {
            let project = Project::around(path, Some(tests))?;
            let tests_file = project.tests.as_deref().unwrap_or(Path::new(""));
            let sources = Sources { project: &project, tests_file, program, tests: &text };
            language::needs_project(language, &sources).then_some(project)
        });
        let name = || tests.file_name().map_or_else(|| tests.to_string_lossy(), |n| n.to_string_lossy()).into_owned();
        project.map_or_else(|| Tests::Source { name: name(), text }, Tests::Project)
    }

    /// The examples in the docstrings of a program. They run in a copy of its project if the program or the
    /// examples need it; else alone.
    pub fn of_examples(language: Language, path: Option<&Path>, program: &str) -> Self {
        let project = path.and_then(|path| {
            let project = Project::around(path, Some(path))?;
            let sources = Sources { project: &project, tests_file: &project.file, program, tests: "" };
            language::needs_project(language, &sources).then_some(project)
        });
        project.map_or_else(|| Tests::Doctest { source: program.to_owned() }, Tests::Project)
    }

    /// The examples in the documentation of a function, and whether one of them says what it gives; or why there
    /// are none.
    pub fn examples(target: &Target) -> Result<(Self, bool), String> {
        language::examples(target)
    }

    /// The tests of a file for a function of a program that is tested as it is, so that the rest of it is the
    /// user's, too: tests that judge more of it than this function run in their project.
    pub fn of_function(
        language: Language,
        (path, program): (&Path, &str),
        function: &str,
        tests: &Path,
        text: String,
    ) -> Self {
        let spoken_of = code::names(language, &text);
        let others = code::function_names(language, program).into_iter().filter(|other| other.name != function);
        let mut tops = others.filter_map(|other| other.name.split(['.', ':']).next().map(str::to_owned));
        let project = tops.any(|top| spoken_of.contains(&top)).then(|| Project::around(path, Some(tests))).flatten();
        project.map_or_else(|| Self::of_file(language, Some((path, program)), tests, text), Tests::Project)
    }

    /// The tests that are found for a function, the best first, each with what to call them and the reason: what
    /// is behind the first is for functions that those before do not notice. Of a program that is tested as it is
    /// they are as in [`Tests::of_function`].
    pub fn found(target: &Target, is_tested_as_it_is: bool) -> Vec<(Self, String)> {
        let Some(path) = target.path.as_deref() else { return Vec::new() };
        let one = |Found { path: tests, why }: Found| {
            if tests.is_dir() {
                let label = tests.file_name()?.to_string_lossy().into_owned();
                let project = Project::around(path, Some(&tests))?;
                return Some((Tests::Project(project), format!("{label} ({why})")));
            }
            let text = files::text(&tests, files::TEXT).ok()?;
            let name = tests.file_name()?.to_string_lossy().into_owned();
            let program = (path, target.text.as_str());
            let tests = if is_tested_as_it_is {
                Self::of_function(target.language, program, &target.name, &tests, text)
            } else {
                Self::of_file(target.language, Some(program), &tests, text)
            };
            Some((tests, format!("{name} ({why})")))
        };
        let groups = language::find_tests(target.language, path, &target.name).into_iter();
        groups.filter_map(|group| Self::all_of(group.into_iter().filter_map(one).collect())).collect()
    }

    /// What tests a function where nobody says it: its examples and the tests that were found; and what to call
    /// those that are tried first.
    pub fn usual(target: &Target, found: Vec<(Self, String)>) -> Option<(Self, String)> {
        // Where nothing says what they give, there are better tests.
        let examples = Self::examples(target).ok().filter(|(_, tells)| found.is_empty() || *tells);
        let mut found = found.into_iter();
        let examples = examples.map(|(tests, _)| (tests, "doctest".to_owned()));
        let first = Self::all_of(examples.into_iter().chain(found.next()).collect())?;
        let mut all: Vec<(Self, String)> = [first].into_iter().chain(found).collect();
        let label = all[0].1.clone();
        let is_one = all.len() == 1 && !matches!(all[0].0, Tests::Several(_));
        Some((if is_one { all.remove(0).0 } else { Self::FirstOf(all) }, label))
    }

    /// Tests that have to pass together, and what to call them; `None` if there are none.
    fn all_of(mut all: Vec<(Self, String)>) -> Option<(Self, String)> {
        if all.len() < 2 {
            return all.pop();
        }
        let (tests, names): (Vec<Self>, Vec<String>) = all.into_iter().unzip();
        Some((Self::Several(tests), names.join(" + ")))
    }

    /// The tests files with their texts, as far as they can be read.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        match self {
            Tests::Source { name, text } => vec![(PathBuf::from(name), text.clone())],
            Tests::Project(Project { root, tests: Some(tests), .. }) => {
                let path = root.join(tests);
                files::text(&path, files::TEXT).map(|text| (path, text)).into_iter().collect()
            }
            Tests::Several(all) => all.iter().flat_map(Self::files).collect(),
            Tests::FirstOf(all) => all.first().map(|(tests, _)| tests.files()).unwrap_or_default(),
            Tests::Project(_) | Tests::Doctest { .. } | Tests::Command { .. } => Vec::new(),
        }
    }

    /// What they are called where a file is left out.
    fn name(&self) -> String {
        let files = self.files();
        let name = files.first().and_then(|(path, _)| path.file_name());
        name.map_or_else(|| "tests".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Those that are tried first.
    pub fn first(&self) -> &Self {
        match self {
            Tests::FirstOf(all) => all.first().map_or(self, |(tests, _)| tests),
            tests => tests,
        }
    }

    /// Whether some of them run in a copy of the project.
    pub fn are_in_project(&self) -> bool {
        match self {
            Tests::Several(all) => all.iter().any(Self::are_in_project),
            Tests::FirstOf(all) => all.iter().any(|(tests, _)| tests.are_in_project()),
            tests => matches!(tests, Tests::Project(_)),
        }
    }

    /// A command as the user wrote it, for a file or, where there is none, a file of this language.
    pub fn of_command(
        command: &str,
        language: Language,
        file: Option<&Path>,
        line: Option<usize>,
    ) -> Result<Self, String> {
        let ending = language.extensions().first().copied().unwrap_or_default();
        let lone = || PathBuf::from(format!("candidate.{ending}"));
        let command = Command { words: split(command)?, file: file.map_or_else(lone, Path::to_path_buf), line };
        Ok(Tests::Command { command, project: file.and_then(|file| Project::around(file, None)) })
    }
}

/// The tests files of a language below a folder.
pub fn tests_below(language: Language, folder: &Path) -> Vec<PathBuf> {
    language::tests_below(language, folder, None)
}

/// Runs trials: interpreters resolved once, protection proved once. Cheap to clone; usable from several
/// threads at once.
#[derive(Clone, Debug)]
pub struct Runner {
    sandbox: Arc<Sandbox>,
    /// In the order of the table.
    languages: Arc<Vec<Box<dyn TrialLanguage>>>,
    projects: Arc<Projects>,
    controls: Arc<Controls>,
    kept: Option<Arc<Path>>,
    runs_unprotected: bool,
}

impl Runner {
    /// Proves the protection by a run, and starts looking for the interpreters.
    pub fn probe() -> Self {
        Self::probe_at_most(Tier::Full)
    }

    /// As [`Runner::probe`], but without trying for a better tier than this one.
    pub fn probe_at_most(best: Tier) -> Self {
        let runner = Self::with(Sandbox::probe(best));
        let languages = Arc::clone(&runner.languages);
        // Asking a shim takes a quarter of a second, which nobody has to wait for. Without a thread the first
        // trial asks.
        let _ = std::thread::Builder::new().name("find python".to_owned()).spawn(move || {
            let _ = languages[language::place(Language::Python)].check(Language::Python);
            Sandbox::sweep();
        });
        runner
    }

    /// A runner without isolation, whatever the machine offers: limits only. It runs nothing before
    /// [`Runner::allow_unprotected`].
    pub fn without_isolation() -> Self {
        Self::with(Sandbox::unprotected("it was switched off"))
    }

    fn with(sandbox: Sandbox) -> Self {
        let (languages, projects) = (Arc::new(language::open()), Arc::default());
        let (controls, kept) = (Arc::default(), None);
        Self { sandbox: Arc::new(sandbox), languages, projects, controls, kept, runs_unprotected: false }
    }

    /// Keeps what takes long to build in this folder, for runners to come.
    #[must_use]
    pub fn keeping(mut self, folder: &Path) -> Self {
        self.kept = Some(folder.into());
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

    /// Whether anything may be run: where nothing isolates the code, only after
    /// [`Runner::allow_unprotected`].
    pub fn may_run(&self) -> bool {
        self.protection().is_isolated() || self.runs_unprotected
    }

    /// What protects the user.
    pub fn protection(&self) -> &Protection {
        self.sandbox.protection()
    }

    /// Runs one trial and waits for it. `cancel` set to true ends it within 50 ms (`Killed`). Never panics; a
    /// fault of the sandbox itself is an error, not a verdict.
    ///
    /// Must be called on a thread that lives as long as the trial: the code is killed when that thread ends.
    pub fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        let begun = Instant::now();
        let verdict = self.first_telling(trial, cancel)?;
        Ok(Verdict { waited_ms: begun.elapsed().as_millis().try_into().unwrap_or(u32::MAX), ..verdict })
    }

    /// The verdict of the first tests that say something of the candidate.
    fn first_telling(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        let at = self.context(cancel)?;
        let Tests::FirstOf(all) = &trial.tests else { return self.judge(&at, trial, false) };
        let mut best: Option<Result<Verdict, TrialError>> = None;
        for (place, (tests, label)) in all.iter().enumerate() {
            // Those behind the first ones are tried as long as any.
            let has_others = place == 0 && (all.len() > 1 || matches!(tests, Tests::Several(_)));
            let at = Context { patience: if has_others { PATIENCE_WITH_OTHERS } else { PATIENCE }, ..at };
            let verdict = self.judge(&at, &Trial { tests: tests.clone(), ..trial.clone() }, true);
            let verdict = if place == 0 { verdict } else { verdict.map(|verdict| verdict.of_other_tests(label)) };
            let (tells, has_passed) = match &verdict {
                Ok(verdict) => (verdict.status != Status::NotRun && !verdict.is_partial, verdict.has_passed()),
                Err(error) => (!error.is_of_tests(), false),
            };
            if tells || at.is_cancelled() {
                return verdict;
            }
            // Tests that notice one body are better than those that notice none.
            let passed_before = best.as_ref().is_some_and(|best| best.as_ref().is_ok_and(Verdict::has_passed));
            if best.is_none() || (has_passed && !passed_before) {
                best = Some(verdict);
            }
        }
        let others: Vec<&str> = all.iter().skip(1).map(|(_, label)| label.as_str()).collect();
        let best = best.unwrap_or_else(|| Ok(Verdict::not_run("there are no tests")))?;
        Ok(if best.has_passed() { best } else { best.nor_by(&others) })
    }

    /// The verdict of tests, held against what they do without the candidate. Of several that were found those
    /// are left out, and named, that cannot be run.
    fn judge(&self, at: &Context, trial: &Trial, are_found: bool) -> Result<Verdict, TrialError> {
        let (run, is_cut) = (|trial: &Trial| self.run_tests(at, trial), || at.is_cancelled());
        let runs = Runs { run: &run, is_cut: &is_cut, place: &|trial| self.place(at, trial) };
        let excused = |trial: &Trial| self.controls.excuse(trial, run(trial)?, &runs);
        let mut held = trial.clone();
        let verdict = match &trial.tests {
            Tests::Several(all) => {
                let (mut telling, mut left_out) = (Vec::new(), Vec::new());
                let verdict = Verdict::of_all(all.iter().map(|tests| {
                    let verdict = match excused(&Trial { tests: tests.clone(), ..trial.clone() }) {
                        Err(error) if are_found && error.is_of_tests() => {
                            left_out.push(format!("{} left out: {error}", tests.name()));
                            Ok(Verdict::not_run(&error.to_string()))
                        }
                        other => other,
                    };
                    let tells = verdict.as_ref().is_ok_and(|verdict| verdict.status != Status::NotRun);
                    telling.extend(tells.then(|| tests.clone()));
                    verdict
                }))?;
                // What says nothing of the candidate would fail of any other body, too.
                held.tests = Tests::Several(telling);
                verdict.without_tests(&left_out)
            }
            _ => excused(trial)?,
        };
        self.controls.hold(&held, verdict.marked(marks::of(trial)), &runs)
    }

    /// Where is kept what tests of projects do with a program that has nothing of a candidate's.
    fn place(&self, at: &Context, trial: &Trial) -> Option<Place> {
        let of = |project: &Project| {
            let kept = self.language(trial.language).kept(at)?;
            let base = at.projects.base(project).ok()?;
            Some(kept.place(project, &base, Some(&trial.program)))
        };
        match &trial.tests {
            _ if !trial.has_own_text() => None,
            Tests::Project(project) => of(project),
            Tests::Several(all) => {
                let each = all.iter().map(|tests| self.place(at, &Trial { tests: tests.clone(), ..trial.clone() }));
                Place::of(&each.collect::<Option<Vec<_>>>()?, "several")
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
            Tests::Project(project) => language.run_in_project(at, trial, project),
            Tests::Doctest { .. } | Tests::Source { .. } => language.run_alone(at, trial),
            Tests::Several(all) => {
                let one = |tests: &Tests| Trial { tests: tests.clone(), ..trial.clone() };
                Verdict::of_all(all.iter().map(|tests| self.run_tests(at, &one(tests))))
            }
            Tests::FirstOf(_) => Ok(Verdict::not_run("these tests are run one by one")),
        }
    }

    /// [`Runner::check`] for Python.
    pub fn check_tests(&self, tests: &Tests) -> Result<(), TrialError> {
        self.check(Language::Python, None, tests)
    }

    /// Refuses a tests file that does not parse, so that no model time is spent before it is mended; and a
    /// language that nothing here can run. `file` is that with the program, whose project may have its own
    /// interpreter.
    pub fn check(&self, language: Language, file: Option<&Path>, tests: &Tests) -> Result<(), TrialError> {
        match tests {
            Tests::Source { name, text } => {
                let never = AtomicBool::new(false);
                self.language(language).check_tests(&self.context(&never)?, language, file, (name, text))
            }
            Tests::Project(project) => self.language(language).check_project(language, project),
            Tests::Doctest { .. } => self.check_language(language),
            // What it needs is the command's own business.
            Tests::Command { .. } => Ok(()),
            Tests::Several(all) => all.iter().try_for_each(|tests| self.check(language, file, tests)),
            Tests::FirstOf(all) => {
                let mut each = all.iter().map(|(tests, _)| self.check(language, file, tests));
                let first = each.next().unwrap_or(Ok(()));
                if first.is_ok() || each.any(|other| other.is_ok()) { Ok(()) } else { first }
            }
        }
    }

    /// Whether programs of this language can be run here.
    pub fn check_language(&self, language: Language) -> Result<(), TrialError> {
        self.language(language).check(language)
    }

    /// The program that runs or compiles the code of a folder, and why it is that one.
    pub fn tool(&self, language: Language, folder: &Path) -> Result<(PathBuf, String), TrialError> {
        self.language(language).tool_in(folder).map(|tool| (tool.program, tool.why))
    }

    /// What commands of the user's find in their PATH: the tools of all languages that are installed here,
    /// first what the project has of its own.
    fn toolbox(&self, trial: &Trial) -> Toolbox {
        let folder = trial.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let own = self.language(trial.language).tool_in(folder).ok();
        let mut toolbox = Toolbox::default();
        for tool in own.iter().chain(self.languages.iter().filter_map(|language| language.tool().ok())) {
            toolbox.path.push(tool.folder().to_path_buf());
            toolbox.readable.extend_from_slice(&tool.readable);
        }
        toolbox
    }

    fn language(&self, language: Language) -> &dyn TrialLanguage {
        &*self.languages[language::place(language)]
    }

    fn context<'a>(&'a self, cancel: &'a AtomicBool) -> Result<Context<'a>, TrialError> {
        if self.may_run() {
            return Ok(Context {
                sandbox: &self.sandbox,
                projects: &self.projects,
                kept: self.kept.as_deref(),
                patience: PATIENCE,
                cancel,
            });
        }
        Err(TrialError::Sandbox(self.protection().summary.clone()))
    }
}
