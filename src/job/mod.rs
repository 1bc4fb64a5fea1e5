//! One completion job: a text with a place for candidates, and its tests. Turns model text into code,
//! programs under test and a pick.
//!
//! The screen and the command line share it, so that both show, test and write the same code. Prompt,
//! function, language, examples and program are derived from the text; `Job::edited` derives all of them
//! anew.
//!
//! - `Run`: a source, a pool of trials and a `Task` go in. Events of the source come out, with `Duplicate`,
//!   `Testing`, `Verdict`, `Pick`, and `Done` at the end. Equal candidates run once and share a verdict. Cut
//!   candidates are not tested. The first pass may end the rest.
//! - `Rounds`: where none passed, further candidates are written beside those before, warmer. `run/rounds.rs` has
//!   the requests.
//! - The pick is the first that passed until all have ended, then the best ranked that passed. Marked passes
//!   are passed over while another one passes. Tests that were found and do not notice the function leave the
//!   pick to agreement, as where there are no tests; the verdicts stay `NotRun`.
//! - `TrialPool` is one queue for all runs: the earlier problem first, then the more probable candidate.
//!   Workers have low priority; they use half of the cores during a generation, else all. A sandbox that does
//!   not start is tried three times. Without isolation nothing begins before the user has agreed. Dropping
//!   the pool waits until no code under test runs.

mod report;
pub(crate) mod run;
pub(crate) mod trials;

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use report::Report;
pub(crate) use run::is_first_round;
pub use run::{Ask, Candidate, Event, Outcome, Retry, Rounds, Run, Sink, Task, WhyMore, round_words};
pub use trials::{Judge, News, TrialPool, Turn, all_workers, fault};

use crate::agreement::{Agreement, are_called, inputs, more_inputs};
use crate::code::{self, CodeError, Place, Target, TargetSpec};
use crate::engine::{FinishReason, StopRules};
use crate::language::Language;
use crate::prompt::{self, Shown};
use crate::source::{Prompt, Window};
use crate::trial::{Input, Limits, Tests, Trial, Verdict, untested};

/// A text to complete and its tests. Everything else is derived from these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    text: Text,
    /// The tests; `None` when there are none.
    pub tests: Option<Tests>,
    /// Name of the tests for the screen: `doctest`, `test_numbers.py`.
    pub tests_label: String,
    /// The user's choice of tests.
    choice: TestsChoice,
    /// The context shown to the model beside the function.
    showing: prompt::Options,
    /// The tests files that were found if the user named none, each with its name for the reader.
    found: Vec<(Tests, String)>,
}

/// The text that candidates continue.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    /// A function, in a file or in a text of its own.
    Function(Box<Target>),
    Free(String),
    /// Token ids without a known text.
    Ids(Vec<u32>),
}

impl Text {
    fn of(text: &str) -> Self {
        code::open_function(text).map_or_else(|| Text::Free(text.to_owned()), |target| Text::Function(Box::new(target)))
    }

    fn target(&self) -> Option<&Target> {
        if let Text::Function(target) = self { Some(target) } else { None }
    }
}

/// The user's choice of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TestsChoice {
    /// The examples in the docstring and the tests file that is found, if any.
    #[default]
    IfAny,
    /// The examples in the docstring; an error if there are none.
    Auto,
    /// None.
    None,
    /// The names that the user gave: tests files, folders, patterns.
    Named(Vec<String>),
    /// A command, as the user wrote it.
    Command(String),
}

/// Reasons why a job could not be made.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The code could not be read or parsed.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The named tests cannot be read; the sentence says which.
    #[error("{0}")]
    Tests(String),
    /// Tests were expected and not found.
    #[error("--tests auto: {0}")]
    NoTests(String),
    /// The test command is invalid.
    #[error("{0}")]
    Command(String),
}

impl Job {
    /// The built-in first-run example: a stub with a docstring and examples.
    pub fn example(tests: &TestsChoice) -> Result<Self, JobError> {
        Self::from_text(include_str!("example.py"), tests)
    }

    /// A job for a function in a file.
    pub fn from_target(target: Target, tests: &TestsChoice) -> Result<Self, JobError> {
        Self::new(Text::Function(Box::new(target)), tests)
    }

    /// The job for the current content of its file.
    pub fn read_again(&self) -> Result<Self, JobError> {
        let target = self.target().and_then(|t| Some((t.path.clone()?, t.name.clone())));
        let (path, name) = target.ok_or_else(|| CodeError::NotAFile { name: "the prompt".to_owned() })?;
        let target = Target::read(&TargetSpec { path, place: Place::Function(name) })?;
        Ok(Self::from_target(target, &self.choice)?.showing(self.showing))
    }

    /// The job for another function, shown to the model with the same options.
    pub fn another(&self, target: Target, tests: &TestsChoice) -> Result<Self, JobError> {
        Ok(Self::from_target(target, tests)?.showing(self.showing))
    }

    /// This job's text with other tests.
    pub fn with_tests(&self, tests: &TestsChoice) -> Result<Self, JobError> {
        Ok(Self::new(self.text.clone(), tests)?.showing(self.showing))
    }

    /// The job whose prompts hold the context of these options.
    #[must_use]
    pub fn showing(self, showing: prompt::Options) -> Self {
        Self { showing, ..self }
    }

    /// This job with its tests as they are now.
    pub fn with_tests_read_again(&self) -> Result<Self, JobError> {
        Ok(self.tested_as(&self.with_tests(&self.choice)?))
    }

    /// This job with the tests of another one for the same function.
    #[must_use]
    pub fn tested_as(&self, other: &Self) -> Self {
        let Self { tests, tests_label, found, .. } = other.clone();
        Self { tests, tests_label, found, ..self.clone() }
    }

    /// A job for a text. If it ends in a function, that function is completed; else the text is continued
    /// freely.
    pub fn from_text(text: &str, tests: &TestsChoice) -> Result<Self, JobError> {
        Self::new(Text::of(text), tests)
    }

    /// A job for token ids without a known text.
    pub fn from_ids(ids: Vec<u32>, tests: &TestsChoice) -> Result<Self, JobError> {
        Self::new(Text::Ids(ids), tests)
    }

    fn new(text: Text, choice: &TestsChoice) -> Result<Self, JobError> {
        let found = text.target().filter(|_| *choice == TestsChoice::IfAny).map(Tests::found).unwrap_or_default();
        let (tests, tests_label) = find_tests(text.target(), choice, found.clone())?;
        let showing = prompt::Options::default();
        Ok(Self { text, tests, tests_label, choice: choice.clone(), showing, found })
    }

    /// The job with [`Job::editable`] changed to `text`. The function, its language and its examples are
    /// those of the new text.
    pub fn edited(&self, text: &str) -> Result<Self, JobError> {
        let new = match self.target() {
            Some(target) if target.path.is_some() => Text::Function(Box::new(target.with_stub(text)?)),
            // An editor holds whole lines: the last line gets a line end, and blank lines after it are not
            // meant for the model.
            _ => match Text::of(&format!("{}\n", text.trim_end())) {
                Text::Free(_) => Text::Free(text.to_owned()),
                function => function,
            },
        };
        let mut job = Self { text: new, ..self.clone() };
        if matches!(job.choice, TestsChoice::IfAny | TestsChoice::Auto) {
            // The tests may not be for another function.
            let name = |job: &Self| job.target().map(|target| target.name.clone());
            if name(self) != name(&job) {
                job.found.clear();
            }
            (job.tests, job.tests_label) = find_tests(job.target(), &TestsChoice::IfAny, job.found.clone())?;
        } else if let Some(Tests::Command { command, .. }) = &mut job.tests {
            command.line = job.text.target().map(first_line);
        }
        Ok(job)
    }

    /// The file of the function, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.target()?.path.as_deref()
    }

    /// The function that is completed; `None` for free text.
    pub fn target(&self) -> Option<&Target> {
        self.text.target()
    }

    /// Language of the code; `None` for free text.
    pub fn language(&self) -> Option<Language> {
        // A free text with tests can only be Python.
        self.target().map(|t| t.language).or(self.tests.as_ref().map(|_| Language::Python))
    }

    /// The prompt of a model with this window.
    pub fn prompt_for(&self, window: &Window) -> Prompt {
        match &self.text {
            Text::Function(_) => match self.shown(window) {
                Shown { chat: true, text, .. } => Prompt::Written(text),
                Shown { text, .. } => Prompt::Text(text),
            },
            Text::Free(_) | Text::Ids(_) => self.prompt(),
        }
    }

    /// The prompt of a model with this window, and a list of its content.
    pub fn shown(&self, window: &Window) -> Shown {
        if let Some(target) = self.target() {
            return prompt::of(target, &self.tests_shown(target), window, self.showing);
        }
        let text = if let Text::Free(text) = &self.text { text.clone() } else { String::new() };
        Shown { tokens: window.count(&text), text, ..Shown::default() }
    }

    /// The tests files shown beside the function.
    fn tests_shown(&self, target: &Target) -> prompt::Tests {
        let mut files = self.tests.iter().flat_map(Tests::files).collect::<Vec<_>>();
        let own = target.path.as_deref().and_then(|path| path.canonicalize().ok());
        files.retain(|(path, _)| own.is_none() || path.canonicalize().ok() != own);
        prompt::Tests { files, named: matches!(self.choice, TestsChoice::Named(_)) }
    }

    /// Like [`Self::prompt_for`], with what tests said of candidates that failed; `None` where nothing would
    /// come of it.
    pub fn prompt_again(&self, window: &Window, facts: &[String]) -> Option<Prompt> {
        let target = self.target()?;
        let shown = prompt::again(target, &self.tests_shown(target), window, self.showing, facts)?;
        Some(if shown.chat { Prompt::Written(shown.text) } else { Prompt::Text(shown.text) })
    }

    /// The prompt of the smallest models: the function and the names it uses, or the text.
    pub fn prompt(&self) -> Prompt {
        match &self.text {
            Text::Function(target) => Prompt::Text(target.prompt()),
            Text::Free(text) => Prompt::Text(text.clone()),
            Text::Ids(ids) => Prompt::Ids(ids.clone()),
        }
    }

    /// Returns true if candidates for this job are candidates for the other one: they continue the same text,
    /// but for examples in its documentation, which are tests.
    pub fn asks_as(&self, other: &Self) -> bool {
        match (self.target(), other.target()) {
            (Some(own), Some(target)) if own.path == target.path => own.asks_as(target),
            _ => self.prompt() == other.prompt(),
        }
    }

    /// The body that the function has in its file; none if it is a placeholder.
    pub fn own_body(&self) -> Option<String> {
        let target = self.target().filter(|target| target.path.is_some())?;
        let functions = code::function_names(target.language, &target.text);
        let finished = functions.iter().any(|function| function.line == target.line && function.finished);
        finished.then(|| target.text[target.body.clone()].to_owned())
    }

    /// Equal for completions that differ in white space, comments and the names of locals only.
    pub fn fold_key(&self, completion: &str) -> String {
        let Some(language) = self.language() else { return completion.trim().to_owned() };
        let outer = self.editable().map_or_else(HashSet::new, |stub| code::names(language, &stub));
        code::without_local_names(language, completion, |name| outer.contains(name))
    }

    /// The editable part of the text: the stub of the function in a file; nothing for token ids.
    pub fn editable(&self) -> Option<String> {
        match (&self.text, self.prompt()) {
            (Text::Function(target), _) if target.path.is_some() => Some(target.stub()),
            (_, Prompt::Text(text)) => Some(text),
            (_, Prompt::Written(_) | Prompt::Ids(_)) => None,
        }
    }

    /// Stop rules of a model with this window: `strings`, and unless `defaults` is false the end of the
    /// function. Of a chat answer only the function counts.
    pub fn stop_rules(&self, window: &Window, strings: &[String], defaults: bool) -> StopRules {
        let mut rules = StopRules { strings: strings.to_vec(), ..StopRules::default() };
        if let Some(target) = self.target() {
            prompt::chat::read(&mut rules, window.chat.as_deref(), || target.requested(), defaults);
        }
        if let Some(target) = self.target().filter(|_| defaults).cloned() {
            rules.text = Some(Arc::new(move |text: &str| target.end_of(text)));
        }
        rules
    }

    /// The whole module with the completion in it, as it is tested and written.
    pub fn program(&self, completion: &str) -> String {
        match &self.text {
            Text::Function(target) => target.splice(completion),
            Text::Free(text) => format!("{text}{completion}"),
            Text::Ids(_) => completion.to_owned(),
        }
    }

    /// The range of the file's text that a completion replaces, in bytes, and its new text. `None` if there
    /// is no function.
    pub fn replacement(&self, completion: &str) -> Option<(Range<usize>, String)> {
        Some(self.target()?.replacement(completion))
    }

    /// A sentence on a pick that tests leave to agreement, as they do not notice the function.
    pub fn unnoticed_words(&self, agreement: Option<&Agreement>) -> String {
        let name = self.target().map_or("the function", |target| &target.name);
        let instead = match agreement {
            Some(agreement) if agreement.tells() => ": the candidates were compared instead",
            _ => ", and nothing was compared: the most probable candidate is first",
        };
        format!("the tests that were found do not notice `{name}`{instead}")
    }

    /// The completed function with what comes with it, for a reader.
    pub fn function(&self, completion: &str) -> String {
        match self.target() {
            Some(target) => target.completed(completion),
            None => completion.to_owned(),
        }
    }
}

impl Job {
    /// The texts of the tests files, without the function's own file.
    fn texts_of_tests(&self, target: &Target) -> Vec<String> {
        let own = target.path.as_deref();
        let files = self.tests.iter().flat_map(Tests::files).filter(|(path, _)| Some(&**path) != own);
        files.map(|(_, text)| text).collect()
    }

    /// A sentence about names that a completion uses and nothing defines.
    fn lacking(&self, completion: &str) -> Option<String> {
        let names = self.target()?.undefined(completion);
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        (!names.is_empty())
            .then(|| format!("it uses {}, which neither its file nor the answer defines", names.join(", ")))
    }

    /// The trial of a completion by these tests.
    fn trial_by(&self, tests: Tests, completion: &str, limits: Limits) -> Trial {
        Trial {
            language: self.language().unwrap_or(Language::Python),
            program: self.program(completion),
            file: self.file().map(Path::to_path_buf),
            entry_point: self.target().map(|t| t.name.clone()),
            line: self.target().map(|t| t.line),
            tests,
            stub: self.target().map(|t| t.text.clone()),
            limits,
        }
    }
}

impl Task for Job {
    fn has_tests(&self) -> bool {
        self.tests.is_some()
    }

    fn are_found(&self) -> bool {
        self.choice == TestsChoice::IfAny
    }

    fn trial(&self, _candidate: usize, completion: &str, limits: Limits) -> Option<Trial> {
        Some(self.trial_by(self.tests.clone()?, completion, limits))
    }

    fn preparation(&self, limits: Limits) -> Option<Trial> {
        let target = self.target().filter(|_| self.tests.as_ref().is_some_and(Tests::is_of_project))?;
        Some(Trial { program: target.text.clone(), ..self.trial(0, "", limits)? })
    }

    fn inputs(&self, bodies: &[&str]) -> Result<Vec<Input>, String> {
        let target = self.target().ok_or("there is no function to call")?;
        inputs(target, &self.texts_of_tests(target), bodies)
    }

    fn more_inputs(&self, known: &[&str], bodies: &[&str], inputs: &[Input]) -> Vec<Input> {
        self.target()
            .map_or_else(Vec::new, |target| more_inputs(target, &self.texts_of_tests(target), (known, bodies), inputs))
    }

    fn called(&self, _candidate: usize, completion: &str, limits: Limits) -> Option<Trial> {
        self.target().map(|_| self.trial_by(Tests::own_examples(), completion, limits))
    }

    fn untested(&self, candidate: usize, completion: &str, limits: Limits) -> Verdict {
        let is_called = self.language().is_some_and(are_called);
        let of = |trial| untested(&trial, self.lacking(completion).as_deref(), is_called);
        self.called(candidate, completion, limits).map_or_else(Verdict::no_tests, of)
    }

    fn is_cut_off(&self, reason: FinishReason, completion: &str) -> bool {
        reason == FinishReason::Length && self.target().is_some_and(|target| target.breaks_off(completion))
    }

    fn prompt_now(&self, window: &Window) -> Option<Prompt> {
        Some(self.prompt_for(window))
    }

    fn prompt_again(&self, window: &Window, facts: &[String]) -> Option<Prompt> {
        Self::prompt_again(self, window, facts)
    }

    fn duplicate_key(&self, _candidate: usize, completion: &str) -> String {
        match (self.target(), self.language()) {
            (Some(target), _) => code::normalise(target.language, &target.whole(completion)),
            (None, Some(language)) => code::normalise(language, completion),
            (None, None) => completion.trim().to_owned(),
        }
    }
}

/// The line that a function begins on, 1-based.
fn first_line(target: &Target) -> usize {
    1 + target.text.bytes().take(target.function.start).filter(|&byte| byte == b'\n').count()
}

fn find_tests(
    target: Option<&Target>,
    choice: &TestsChoice,
    found: Vec<(Tests, String)>,
) -> Result<(Option<Tests>, String), JobError> {
    match choice {
        TestsChoice::None => Ok((None, String::new())),
        TestsChoice::IfAny => {
            let usual = target.and_then(|target| Tests::usual(target, found));
            Ok(usual.map_or((None, String::new()), |(tests, label)| (Some(tests), label)))
        }
        TestsChoice::Auto => {
            let Some(target) = target else {
                let none = "the prompt holds no function with a docstring; give --tests FILE";
                return Err(JobError::NoTests(none.to_owned()));
            };
            let examples = Tests::examples(target);
            let examples = examples
                .map_err(|why| JobError::NoTests(format!("{why}; add some, or give --tests FILE, or --tests none")));
            Ok((Some(examples?.0), "doctest".to_owned()))
        }
        TestsChoice::Named(names) => {
            let language = target.map_or(Language::Python, |t| t.language);
            let program = target.and_then(|t| t.path.as_deref());
            let function = target.map(|t| t.name.as_str());
            let (tests, label) = Tests::named(names, language, program, function).map_err(JobError::Tests)?;
            Ok((Some(tests), label))
        }
        TestsChoice::Command(command) => {
            let language = target.map_or(Language::Python, |t| t.language);
            let path = target.and_then(|t| t.path.as_deref());
            let tests = Tests::of_command(command, language, path, target.map(first_line));
            Ok((Some(tests.map_err(JobError::Command)?), command.clone()))
        }
    }
}

/// Number of candidates equal to each one. Equal candidates have the same number in `origins`.
pub fn frequencies(origins: &[usize]) -> Vec<usize> {
    origins.iter().map(|origin| origins.iter().filter(|other| *other == origin).count()).collect()
}

/// The name of a candidate on the screen and in reports: A to Z, then AA, AB and so on.
pub fn label(candidate: usize) -> String {
    let letter = char::from(b'A' + (candidate % 26) as u8);
    if candidate < 26 { letter.to_string() } else { format!("{}{letter}", label(candidate / 26 - 1)) }
}

/// A ranking in the order of the pick: where tests decide those that passed come first, marked ones last of
/// these; else all marked ones come last.
pub fn order_of_pick(
    ranking: &[usize],
    tested: bool,
    passed: impl Fn(usize) -> bool,
    marked: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut order = ranking.to_vec();
    order.sort_by_key(|&c| (tested && !passed(c), (!tested || passed(c)) && marked(c)));
    order
}

/// Returns true if a candidate may be the pick, by the word of the tests on it (`None` where no test says
/// anything): it passed, or nothing is known against it, and it is no empty text.
pub fn may_be_picked(judged: Option<bool>, text: &str, is_broken: bool) -> bool {
    !text.trim().is_empty() && judged.unwrap_or(!is_broken)
}

/// The candidate to pick. Once all have ended (`ranking` is known) it is the best ranked that passed, or
/// where no tests decide the best ranked; until then the first that passed. A marked candidate is picked only
/// if no other passed.
pub fn pick(
    ranking: Option<&[usize]>,
    first_pass: Option<usize>,
    tested: bool,
    passed: impl Fn(usize) -> bool,
    marked: impl Fn(usize) -> bool,
) -> Option<usize> {
    match ranking {
        Some(ranking) => {
            let first = order_of_pick(ranking, tested, &passed, marked).first().copied();
            first.filter(|&c| !tested || passed(c))
        }
        None => first_pass.filter(|&c| passed(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Status;

    #[test]
    fn labels_go_on_after_z() {
        assert_eq!([0, 7, 25, 26, 63].map(label), ["A", "H", "Z", "AA", "BL"]);
    }

    #[test]
    fn the_pick_is_the_best_ranked_that_passed_and_until_all_have_ended_the_first() {
        let cases: [(Option<&[usize]>, _, _, _); 6] = [
            (Some(&[2, 3, 1, 0]), Some(1), true, Some(3)),
            (Some(&[2, 0]), None, true, None),
            (Some(&[2, 0]), None, false, Some(2)),
            (None, Some(1), true, Some(1)),
            (None, Some(2), true, None),
            (None, None, false, None),
        ];
        for (ranking, first, tested, expected) in cases {
            let picked = pick(ranking, first, tested, |c| c == 1 || c == 3, |_| false);
            assert_eq!(picked, expected, "{ranking:?}, first {first:?}, tested {tested}");
        }
        let marked = |marked: fn(usize) -> bool| pick(Some(&[2, 3, 1, 0]), Some(3), true, |c| c == 1 || c == 3, marked);
        assert_eq!(marked(|c| c == 3), Some(1), "a pass that is marked is passed over");
        assert_eq!(marked(|c| c == 1 || c == 3), Some(3), "unless no other passed");
    }

    #[test]
    fn the_example_has_a_function_and_tests() {
        let job = Job::example(&TestsChoice::IfAny).unwrap();
        assert_eq!(job.tests_label, "doctest");
        let target = job.target().unwrap();
        assert_eq!(job.prompt(), Prompt::Text(target.prompt()), "the prompt is the stub, nothing more");
    }

    #[test]
    fn a_text_that_ends_with_a_function_head_is_a_function() {
        let job = Job::from_text("def double(x):\n    \"\"\"Twice x.\"\"\"\n", &TestsChoice::IfAny).unwrap();
        assert_eq!(job.target().unwrap().name, "double");
        assert!(job.tests.is_none());
        assert!(job.program("    return 2 * x\n").ends_with("\"\"\"\n    return 2 * x\n"));
        let job = Job::from_text("/// Twice x.\nfn double(x: i32) -> i32 {\n", &TestsChoice::IfAny).unwrap();
        assert_eq!(job.language(), Some(Language::Rust));
        assert!(job.program("    2 * x\n}").ends_with("{\n    2 * x\n}\n"));
        assert!(Job::from_text("Dear Sir or Madam,", &TestsChoice::IfAny).unwrap().target().is_none());
    }

    const LARGEST: &str = "import math\n\n\ndef least():\n    return math.inf\n\n\ndef largest(numbers):\n    \"\"\"The largest number.\n\n    \
        >>> largest([1, 3, 2])\n    3\n    \"\"\"\n    pass\n\n\nprint(least())\n";

    /// A job for `largest` in a file of its own.
    fn largest() -> (tempfile::TempDir, std::path::PathBuf, Job) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("most.py");
        std::fs::write(&path, LARGEST).unwrap();
        let place = code::Place::Function("largest".to_owned());
        let target = Target::read(&code::TargetSpec { path: path.clone(), place }).unwrap();
        (folder, path, Job::from_target(target, &TestsChoice::IfAny).unwrap())
    }

    #[test]
    fn lines_typed_under_the_stub_are_prompted_tested_and_written() {
        let (_folder, path, job) = largest();
        let stub = job.editable().unwrap();
        assert!(stub.starts_with("def largest") && stub.ends_with("\"\"\"\n"), "{stub}");
        let typed = "    best = numbers[0]\n    for n in numbers:\n";
        // The last line may lack its line end, and the editor may have only indented it.
        let unended = job.edited(&format!("{stub}{}", typed.trim_end())).unwrap();
        let job = job.edited(&format!("{stub}{typed}        ")).unwrap();
        assert_eq!(unended, job);
        let Prompt::Text(prompt) = job.prompt() else { panic!("{:?}", job.prompt()) };
        assert!(prompt.ends_with(&format!("3\n    \"\"\"\n{typed}")), "{prompt}");
        let candidate = "        if n > best:\n            best = n\n    return best\n";
        let whole = LARGEST.replace("    pass\n", &format!("{typed}{candidate}"));
        assert_eq!(job.program(candidate), whole);
        assert!(
            job.function(candidate).starts_with("def largest") && job.function(candidate).ends_with("return best\n")
        );
        let rules = job.stop_rules(&Window::default(), &[], true);
        assert_eq!(rules.text.unwrap()(&format!("{candidate}\n\nprint(1)\n")), Some(candidate.len()));
        let dedented = candidate.replace("\n    return", "\n        return");
        assert_ne!(
            job.duplicate_key(0, candidate),
            job.duplicate_key(1, &dedented),
            "where a line stands makes a difference"
        );
        let runner = crate::trial::Runner::probe().allow_unprotected();
        let verdict = runner.run(&job.trial(0, candidate, Limits::default()).unwrap(), &Arc::default()).unwrap();
        assert_eq!(verdict.status, Status::Passed, "{verdict:?}");
        let target = job.target().unwrap();
        assert!(matches!(target.apply("\n", None), Err(CodeError::Empty { .. })), "what was typed is no candidate");
        // Text above the function may have changed meanwhile.
        std::fs::write(&path, format!("# new\n{LARGEST}")).unwrap();
        let applied = target.apply(candidate, None).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("# new\n{whole}"));
        applied.undo().unwrap();
    }

    #[test]
    fn an_edited_head_and_its_examples_are_tested_and_written() {
        let (_folder, path, job) = largest();
        let stub = job.editable().unwrap();
        let as_read = job.clone();
        let edited = stub.replace("largest", "smallest").replace("    3\n", "    1\n");
        let job = job.edited(&edited).unwrap();
        let target = job.target().unwrap();
        assert_eq!((target.name.as_str(), target.path.as_ref()), ("smallest", Some(&path)));
        assert_eq!(job.tests, Some(Tests::own_examples()));
        assert!(target.text.contains(">>> smallest([1, 3, 2])\n    1\n"), "{}", target.text);
        target.apply("    return min(numbers)\n", None).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, LARGEST.replace(&stub, &edited).replace("    pass\n", "    return min(numbers)\n"));
        // Without examples there are no tests, and back at the beginning there are.
        let bare = job.edited("def largest(numbers):\n").unwrap();
        assert!(bare.tests.is_none());
        assert_eq!(bare.edited(&stub).unwrap(), as_read);
        let error = job.edited("Dear Sir or Madam,").unwrap_err().to_string();
        assert!(error.contains("Python function"), "{error}");
    }

    #[test]
    fn a_pasted_function_is_the_one_that_is_tested() {
        let job = Job::example(&TestsChoice::IfAny).unwrap();
        let pasted = "def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"\n    y = x\n";
        let twice = job.edited(pasted).unwrap();
        assert_eq!(twice.target().unwrap().name, "twice");
        assert_eq!(twice.tests, Some(Tests::own_examples()));
        assert_eq!(twice.program("    return x + y\n"), format!("{pasted}    return x + y\n"));
        let rust = job.edited("/// Twice x.\nfn twice(x: i32) -> i32 {\n    for _ in 0..1 {\n").unwrap();
        assert_eq!((rust.language(), &rust.tests), (Some(Language::Rust), &None));
        assert!(rust.program("        return 2 * x;\n    }\n    0\n}\n\nfn f() {}").ends_with("    }\n    0\n}\n"));
        let free = job.edited("Dear Sir or Madam,\n\n").unwrap();
        assert_eq!((free.target(), free.prompt()), (None, Prompt::Text("Dear Sir or Madam,\n\n".to_owned())));
        // A complete function cannot be continued.
        for text in ["def f(x):\n    return x\n", "def f(x):\n    y = x\n\n"] {
            assert!(Job::from_text(text, &TestsChoice::IfAny).unwrap().target().is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_trial_names_a_method_with_its_class() {
        let text = "class Stats:\n    def find_max(self):\n        \"\"\"The largest.\n\n        >>> Stats().find_max()\n        3\n        \"\"\"\n";
        let job = Job::from_text(text, &TestsChoice::IfAny).unwrap();
        let trial = job.trial(0, "        return 3\n", Limits::default()).unwrap();
        assert_eq!(trial.entry_point.as_deref(), Some("Stats.find_max"));
    }

    #[test]
    fn tests_that_are_not_there_are_an_error_only_when_asked_for() {
        let text = "def double(x):\n    \"\"\"Twice x.\"\"\"\n";
        let error = Job::from_text(text, &TestsChoice::Auto).unwrap_err().to_string();
        assert!(error.contains("double") && error.contains(">>>"), "{error}");
        let error = Job::from_text("func double(x int) int {\n", &TestsChoice::Auto).unwrap_err().to_string();
        assert!(error.contains("double is in Go") && error.contains("--tests FILE"), "{error}");
        let gone = TestsChoice::Named(vec!["no/such/tests.py".to_owned()]);
        assert!(Job::from_text(text, &gone).unwrap_err().to_string().contains("no/such/tests.py"));
    }

    #[test]
    fn of_an_answer_only_the_function_is_the_candidate() {
        let template = crate::model::Template {
            path: "chat_template.jinja".into(),
            text: "<u>{{ messages[0].content }}</u>".to_owned(),
            tokens: Vec::new(),
        };
        let window = Window::default().asked(Some(template.render().unwrap()));
        let job = Job::from_text("def f(x):\n    \"\"\"Twice x.\"\"\"\n", &TestsChoice::None).unwrap();
        let Prompt::Written(prompt) = job.prompt_for(&window) else { panic!("a request") };
        assert!(
            prompt.starts_with("<u>Write the Python function `f`") && prompt.ends_with("\"\"\"\n```</u>"),
            "{prompt}"
        );
        let reading = job.stop_rules(&window, &[], true).reading.unwrap();
        let answer = "Sure:\n```python\ndef f(x):\n  return 2 * x\n```\n";
        let (text, ended) = reading(answer, false);
        assert_eq!(
            (job.function(&text), ended),
            ("def f(x):\n    \"\"\"Twice x.\"\"\"\n    return 2 * x\n".to_owned(), true)
        );
        assert_eq!(
            reading(&answer[..answer.find(" * x").unwrap()], true).0,
            "    return 2",
            "what was cut is kept as far as it goes"
        );
        // Of a completion all is the candidate, unless it answers.
        let rules = job.stop_rules(&Window::default(), &[], true);
        assert_eq!(rules.begins.unwrap()("    return"), Some(false));
        assert_eq!(rules.reading.unwrap()(answer, true).0, "    return 2 * x\n");
    }

    #[test]
    fn an_answer_that_is_begun_goes_on_with_the_body() {
        let template = crate::model::Template {
            path: "chat_template.jinja".into(),
            text: "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}".to_owned(),
            tokens: Vec::new(),
        };
        let window = Window::default().asked(Some(template.render().unwrap()));
        let read = |text: &str, answer: &str, over: bool| {
            let job = Job::from_text(text, &TestsChoice::None).unwrap();
            let Prompt::Written(prompt) = job.prompt_for(&window) else { panic!("a request") };
            let rules = job.stop_rules(&window, &[], true);
            assert!(!rules.thinks.unwrap()(answer));
            let (text, ended) = rules.reading.unwrap()(answer, over);
            (prompt, job.function(&text), ended)
        };
        let stub = "def f(x):\n    \"\"\"Twice x, `2 * x`.\"\"\"\n";
        let (prompt, whole, ended) = read(stub, "    return 2 * x\n```\nThis doubles", false);
        assert!(prompt.ends_with(&format!("</><assistant>```python\n{stub}")), "{prompt}");
        assert_eq!((whole, ended), (format!("{stub}    return 2 * x\n"), true));
        let (_, whole, _) = read(stub, "    y = x\n    return", true);
        assert_eq!(whole.trim_end(), format!("{stub}    y = x\n    return"));
        // Code behind the function is none of it.
        let (_, whole, ended) = read(stub, "    return 2 * x\n\n\nassert f(1) == 2\n", false);
        assert_eq!((whole, ended), (format!("{stub}    return 2 * x\n"), true));
        // A method keeps its indentation, a docstring its fence.
        let method = "class A:\n    def f(self, x):\n        \"\"\"Twice x.\n\n        ```\n        f(1)\n        ```\n        \"\"\"\n";
        let (prompt, whole, ended) = read(method, "        return 2 * x\n````\n", false);
        assert!(prompt.contains("</><assistant>````python\n    def f(self, x):\n"), "{prompt}");
        assert!(whole.ends_with("\"\"\"\n        return 2 * x\n") && ended, "{whole}");
        let go = "// F doubles.\nfunc F(x int) int {\n";
        let (prompt, whole, ended) = read(go, "\treturn 2 * x\n}\n```\n", false);
        assert!(prompt.ends_with("func F(x int) int {\n") && ended, "{prompt}");
        assert!(whole.contains("{\n\treturn 2 * x\n}"), "{whole}");
    }
}
