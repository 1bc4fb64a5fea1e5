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

mod head;
mod pick;
mod report;
pub(crate) mod run;
mod task;
pub(crate) mod trials;

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use pick::{frequencies, label, may_be_picked, order_of_pick, pick};
pub use report::Report;
pub(crate) use run::is_first_round;
pub use run::{Ask, Candidate, Event, Outcome, Retry, Rounds, Run, Sink, Task, WhyMore, round_words};
pub use trials::{Judge, News, TrialPool, Turn, all_workers, fault};

use crate::agreement::Agreement;
use crate::code::{self, Applied, CodeError, HeadPart, Place, Target, TargetSpec};
use crate::engine::StopRules;
use crate::language::Language;
use crate::prompt::{self, Shown, Told};
use crate::source::{Prompt, PromptText, Window};
use crate::trial::Tests;

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
    /// A sentence on what is wanted of the function, in a line.
    wish: Option<String>,
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
        self.read_by(Target::read)
    }

    /// The job for the current content of its file but for a change that was written. An error if the written
    /// lines are other ones now.
    pub fn read_without(&self, applied: &Applied) -> Result<Self, JobError> {
        self.read_by(|spec| Target::read_without(spec, applied))
    }

    fn read_by(&self, read: impl FnOnce(&TargetSpec) -> Result<Target, CodeError>) -> Result<Self, JobError> {
        let target = self.target().and_then(|t| Some((t.path.clone()?, t.name.clone())));
        let (path, name) = target.ok_or_else(|| CodeError::NotAFile { name: "the prompt".to_owned() })?;
        let target = read(&TargetSpec { path, place: Place::Function(name) })?;
        Ok(Self::from_target(target, &self.choice)?.showing(self.showing).wishing(self.wish.as_deref()))
    }

    /// The job for another function, shown to the model with the same options.
    pub fn another(&self, target: Target, tests: &TestsChoice) -> Result<Self, JobError> {
        Ok(Self::from_target(target, tests)?.showing(self.showing))
    }

    /// This job's text with other tests.
    pub fn with_tests(&self, tests: &TestsChoice) -> Result<Self, JobError> {
        Ok(Self::new(self.text.clone(), tests)?.showing(self.showing).wishing(self.wish.as_deref()))
    }

    /// The job whose prompts hold the context of these options.
    #[must_use]
    pub fn showing(self, showing: prompt::Options) -> Self {
        Self { showing, ..self }
    }

    /// The job in which this is wanted of the function: a sentence that models are shown beside its head, and
    /// with its present body.
    #[must_use]
    pub fn wishing(self, sentence: Option<&str>) -> Self {
        let one_line = |text: &str| {
            let words = text.split(|c: char| c.is_whitespace() || c.is_control());
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        };
        Self { wish: sentence.map(one_line).filter(|line| !line.is_empty()), ..self }
    }

    /// The sentence on what is wanted of the function.
    pub fn wish(&self) -> Option<&str> {
        self.wish.as_deref()
    }

    /// The text that candidates are likely to repeat: the body that is changed.
    pub fn reference(&self) -> Option<String> {
        // The file is read for it, so not without a wish.
        self.wish()?;
        self.own_body()
    }

    /// Tokens of the body that is changed, which candidates may have beside those that the user allows.
    pub fn more_tokens(&self, window: &Window) -> usize {
        self.reference().map_or(0, |body| window.count(&body))
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
        Ok(Self { text, tests, tests_label, choice: choice.clone(), showing, wish: None, found })
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
            Text::Function(_) => prompt_of(self.shown(window)),
            Text::Free(_) | Text::Ids(_) => self.prompt(),
        }
    }

    /// The prompt of a model with this window, and a list of its content.
    pub fn shown(&self, window: &Window) -> Shown {
        if let Some(target) = self.target() {
            return prompt::of(target, &self.tests_shown(target), window, self.showing, self.told(&[]));
        }
        let text = if let Text::Free(text) = &self.text { PromptText::marks(text) } else { PromptText::default() };
        Shown { tokens: window.count_prompt(&text), text, ..Shown::default() }
    }

    /// The words of prompts.
    fn told<'a>(&'a self, facts: &'a [String]) -> Told<'a> {
        Told { wish: self.wish(), facts, part: None }
    }

    /// The tests files shown beside the function.
    fn tests_shown(&self, target: &Target) -> prompt::Tests {
        let mut files = self.tests.iter().flat_map(Tests::files).collect::<Vec<_>>();
        let own = target.path.as_deref().and_then(|path| path.canonicalize().ok());
        files.retain(|(path, _)| own.is_none() || path.canonicalize().ok() != own);
        prompt::Tests { files, named: matches!(self.choice, TestsChoice::Named(_)) }
    }

    /// The parts of the head that the wish speaks of.
    pub fn wished_head(&self) -> Vec<HeadPart> {
        self.wish().filter(|_| self.target().is_some()).map(HeadPart::of).unwrap_or_default()
    }

    /// The prompt in which a part of the head is asked for, and when the answer is whole; `None` where it has
    /// no place.
    pub fn prompt_of_head(&self, part: HeadPart, window: &Window) -> Option<(Prompt, StopRules)> {
        let (target, wish) = (self.target()?, self.wish()?.to_owned());
        let shown = prompt::of_head(target, &self.tests_shown(target), window, self.showing, (part, self.told(&[])))?;
        let of = target.clone();
        let told = move |text: &str| of.told(part, text, &wish);
        let text = (window.free_chat().is_none() || part == HeadPart::Parameters).then(|| Arc::new(told) as _);
        Some((prompt_of(shown), StopRules { text, ..StopRules::default() }))
    }

    /// This job with a part of the head that a model wrote; `None` where it is as before, or none.
    pub fn with_head(&self, part: HeadPart, text: &str, window: &Window) -> Option<Self> {
        let target = self.target()?;
        let changed = target.with_part(part, text, self.wish()?, window.free_chat().is_none())?;
        // Examples of new documentation are tests.
        (changed.stub() != target.stub()).then(|| self.edited(&changed.stub()).ok()).flatten()
    }

    /// Like [`Self::prompt_for`], with what tests said of candidates that failed; `None` where nothing would
    /// come of it.
    pub fn prompt_again(&self, window: &Window, facts: &[String]) -> Option<Prompt> {
        let target = self.target()?;
        let shown = prompt::again(target, &self.tests_shown(target), window, self.showing, self.told(facts))?;
        Some(prompt_of(shown))
    }

    /// The prompt of the smallest models: the function and the names it uses, or the text.
    pub fn prompt(&self) -> Prompt {
        match &self.text {
            Text::Function(target) => Prompt::of_words(target.prompt()),
            Text::Free(text) => Prompt::Text(PromptText::marks(text)),
            Text::Ids(ids) => Prompt::Ids(ids.clone()),
        }
    }

    /// Returns true if candidates for this job are candidates for the other one: they continue the same text,
    /// but for examples in its documentation, which are tests. With a wish they change the same body.
    pub fn asks_as(&self, other: &Self) -> bool {
        match (self.target(), other.target()) {
            _ if (self.wish(), self.reference()) != (other.wish(), other.reference()) => false,
            (Some(own), Some(target)) if own.path == target.path => own.asks_as(target),
            _ => self.prompt() == other.prompt(),
        }
    }

    /// The body that the function has in its file; none if it is a placeholder.
    pub fn own_body(&self) -> Option<String> {
        self.target()?.own_body().map(str::to_owned)
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
            (_, Prompt::Text(text)) => Some(text.into_text()),
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

    /// A sentence on a pick that tests leave to agreement, as they say nothing of the function.
    pub fn unnoticed_words(&self, agreement: Option<&Agreement>) -> String {
        let name = self.target().map_or("the function", |target| &target.name);
        let instead = match agreement {
            Some(agreement) if agreement.tells() => ": the candidates were compared instead",
            _ => ", and nothing was compared: the most probable candidate is first",
        };
        format!("the tests that were found say nothing of `{name}`{instead}")
    }

    /// The completed function with what comes with it, for a reader.
    pub fn function(&self, completion: &str) -> String {
        match self.target() {
            Some(target) => target.completed(completion),
            None => completion.to_owned(),
        }
    }
}

fn prompt_of(shown: Shown) -> Prompt {
    if shown.chat { Prompt::Written(shown.text) } else { Prompt::Text(shown.text) }
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

#[cfg(test)]
mod tests;
