//! One completion job: a prompt with its target and tests; turns model text into code, programs under test and a pick.
//!
//! The screen and the command line share it, so that both show, test and write the same code.

mod trials;

use std::path::Path;
use std::sync::Arc;

pub use trials::{TrialPool, TrialReport, Turn, all_workers, step_back};

use crate::code::{self, CodeError, Target};
use crate::engine::StopRules;
use crate::language::Language;
use crate::source::Prompt;
use crate::trial::{Limits, Status, Tests, Trial};

/// What is to be completed and how it is tested.
#[derive(Clone, Debug)]
pub struct Job {
    /// The function, in a file or in the text of the prompt; `None` for free text.
    pub target: Option<Target>,
    /// What the model gets.
    pub prompt: Prompt,
    /// Language of the code; `None` for free text.
    pub language: Option<Language>,
    /// The tests; `None` when there are none.
    pub tests: Option<Tests>,
    /// Where the tests come from, for the screen: `doctest`, `test_numbers.py`.
    pub tests_label: String,
}

/// Which tests were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TestsChoice {
    /// The examples in the docstring, if there are any.
    #[default]
    IfAny,
    /// The examples in the docstring; an error if there are none.
    Auto,
    /// None.
    None,
    /// A tests file.
    File(std::path::PathBuf),
    /// A command, as the user wrote it.
    Command(String),
}

/// Why a job could not be made.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The code could not be read or understood.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The tests file cannot be read.
    #[error("the tests file {path} cannot be read: {source}")]
    TestsFile {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There are no tests where they were expected.
    #[error("--tests auto: {0}")]
    NoTests(String),
    /// The test command is none.
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
        let (tests, tests_label) = find_tests(Some(&target), tests)?;
        Ok(Self {
            prompt: Prompt::Text(target.prompt()),
            language: Some(target.language),
            target: Some(target),
            tests,
            tests_label,
        })
    }

    /// A job for a text. If it ends with the head of a function, that function is completed; else the text goes on freely.
    pub fn from_text(text: &str, tests: &TestsChoice) -> Result<Self, JobError> {
        let target = code::open_function(text);
        let (tests, tests_label) = find_tests(target.as_ref(), tests)?;
        Ok(Self {
            prompt: Prompt::Text(text.to_owned()),
            // A free text with tests can only be meant as Python.
            language: target.as_ref().map(|t| t.language).or(tests.as_ref().map(|_| Language::Python)),
            target,
            tests,
            tests_label,
        })
    }

    /// A job for token ids, which nothing is known of.
    pub fn from_ids(ids: Vec<u32>, tests: &TestsChoice) -> Result<Self, JobError> {
        let (tests, tests_label) = find_tests(None, tests)?;
        let language = tests.as_ref().map(|_| Language::Python);
        Ok(Self { language, tests, tests_label, ..Self::free(Prompt::Ids(ids)) })
    }

    /// A prompt that nothing is known of.
    pub fn free(prompt: Prompt) -> Self {
        Self { target: None, prompt, language: None, tests: None, tests_label: String::new() }
    }

    /// When a candidate ends: `strings`, and unless `defaults` is false the end of the function.
    pub fn stop_rules(&self, strings: &[String], defaults: bool) -> StopRules {
        let mut rules = StopRules { strings: strings.to_vec(), ..StopRules::default() };
        if let Some(target) = self.target.as_ref().filter(|_| defaults) {
            let (language, indent) = (target.language, target.indent);
            rules.text = Some(Arc::new(move |text: &str| code::function_end(language, indent, text)));
        }
        rules
    }

    /// The whole module with the completion in it: what is tested and written.
    pub fn program(&self, completion: &str) -> String {
        match (&self.target, &self.prompt) {
            (Some(target), _) => target.splice(completion),
            (None, Prompt::Text(text)) => format!("{text}{completion}"),
            (None, Prompt::Ids(_)) => completion.to_owned(),
        }
    }

    /// The completed function alone, for a reader.
    pub fn function(&self, completion: &str) -> String {
        match &self.target {
            Some(target) => {
                let program = target.splice(completion);
                let tail = target.text.len() - target.function.end;
                program.get(target.function.start..program.len() - tail).unwrap_or(&program).to_owned()
            }
            None => completion.to_owned(),
        }
    }

    /// The trial of a completion; `None` without tests.
    pub fn trial(&self, completion: &str, limits: Limits) -> Option<Trial> {
        let tests = self.tests.clone()?;
        Some(Trial {
            language: self.language?,
            program: self.program(completion),
            module: self.target.as_ref().and_then(|t| Some(t.path.as_ref()?.file_stem()?.to_str()?.to_owned())),
            entry_point: self.target.as_ref().map(|t| t.name.clone()),
            tests,
            stub: self.target.as_ref().map(|t| t.text.clone()),
            limits,
        })
    }

    /// Equal for two completions that differ only in white space, blank lines or comments.
    pub fn duplicate_key(&self, completion: &str) -> String {
        self.language.map_or_else(|| completion.trim().to_owned(), |l| code::normalise(l, completion))
    }
}

fn find_tests(target: Option<&Target>, choice: &TestsChoice) -> Result<(Option<Tests>, String), JobError> {
    let doctest = target.filter(|t| t.has_doctests()).map(|t| Tests::Doctest { source: t.text.clone() });
    match choice {
        TestsChoice::None => Ok((None, String::new())),
        TestsChoice::IfAny => Ok(doctest.map_or((None, String::new()), |tests| (Some(tests), "doctest".to_owned()))),
        TestsChoice::Auto => match (doctest, target) {
            (Some(tests), _) => Ok((Some(tests), "doctest".to_owned())),
            (None, Some(t)) if t.language != Language::Python => Err(JobError::NoTests(format!(
                "it takes the >>> examples of Python docstrings, and {} is in {}; give --tests FILE, or --tests none",
                t.name,
                t.language.title()
            ))),
            (None, Some(t)) => Err(JobError::NoTests(format!(
                "the docstring of {} has no >>> examples; add some, or give --tests FILE",
                t.name
            ))),
            (None, None) => {
                Err(JobError::NoTests("the prompt holds no function with a docstring; give --tests FILE".to_owned()))
            }
        },
        TestsChoice::File(path) => {
            let read = |path: &Path| {
                let text = std::fs::read(path)?;
                String::from_utf8(text)
                    .map_err(|e| std::io::Error::new(std::io::ErrorKind::InvalidData, e.utf8_error()))
            };
            let text = read(path).map_err(|source| JobError::TestsFile { path: path.clone(), source })?;
            let name = path.file_name().map_or_else(|| path.to_string_lossy(), |n| n.to_string_lossy()).into_owned();
            let language = target.map_or(Language::Python, |t| t.language);
            let program = target.and_then(|t| Some((t.path.as_deref()?, t.text.as_str())));
            Ok((Some(Tests::of_file(language, program, path, text)), name))
        }
        TestsChoice::Command(command) => {
            let language = target.map_or(Language::Python, |t| t.language);
            let line = target.map(|t| 1 + t.text.bytes().take(t.function.start).filter(|&byte| byte == b'\n').count());
            let tests = Tests::of_command(command, language, target.and_then(|t| t.path.as_deref()), line);
            Ok((Some(tests.map_err(JobError::Command)?), command.clone()))
        }
    }
}

/// The name of a candidate on the screen and in reports: A to Z, then AA, AB and so on.
pub fn label(candidate: usize) -> String {
    let letter = char::from(b'A' + (candidate % 26) as u8);
    if candidate < 26 { letter.to_string() } else { format!("{}{letter}", label(candidate / 26 - 1)) }
}

/// The candidate to take: the first in rank order that passed; without tests the best ranked one.
pub fn pick(ranking: &[usize], status: &dyn Fn(usize) -> Status, tested: bool) -> Option<usize> {
    ranking.iter().copied().find(|&c| !tested || status(c) == Status::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_go_on_after_z() {
        assert_eq!([0, 7, 25, 26, 63].map(label), ["A", "H", "Z", "AA", "BL"]);
    }

    #[test]
    fn the_pick_is_the_best_ranked_that_passed() {
        let status = |c| if c == 1 || c == 3 { Status::Passed } else { Status::Failed };
        assert_eq!(pick(&[2, 3, 1, 0], &status, true), Some(3));
        assert_eq!(pick(&[2, 0], &status, true), None);
        assert_eq!(pick(&[2, 0], &status, false), Some(2));
    }

    #[test]
    fn the_example_has_a_function_and_tests() {
        let job = Job::example(&TestsChoice::IfAny).unwrap();
        assert_eq!(job.tests_label, "doctest");
        let target = job.target.as_ref().unwrap();
        assert_eq!(job.prompt, Prompt::Text(target.prompt()), "the prompt is the stub, nothing more");
    }

    #[test]
    fn a_text_that_ends_with_a_function_head_is_a_function() {
        let job = Job::from_text("def double(x):\n    \"\"\"Twice x.\"\"\"\n", &TestsChoice::IfAny).unwrap();
        assert_eq!(job.target.as_ref().unwrap().name, "double");
        assert!(job.tests.is_none());
        assert!(job.program("    return 2 * x\n").ends_with("\"\"\"\n    return 2 * x\n"));
        let job = Job::from_text("/// Twice x.\nfn double(x: i32) -> i32 {\n", &TestsChoice::IfAny).unwrap();
        assert_eq!(job.language, Some(Language::Rust));
        assert!(job.program("    2 * x\n}").ends_with("{\n    2 * x\n}\n"));
        assert!(Job::from_text("Dear Sir or Madam,", &TestsChoice::IfAny).unwrap().target.is_none());
    }

    #[test]
    fn a_trial_names_a_method_with_its_class() {
        let text = "class Stats:\n    def find_max(self):\n        \"\"\"The largest.\n\n        >>> Stats().find_max()\n        3\n        \"\"\"\n";
        let job = Job::from_text(text, &TestsChoice::IfAny).unwrap();
        let trial = job.trial("        return 3\n", Limits::default()).unwrap();
        assert_eq!(trial.entry_point.as_deref(), Some("Stats.find_max"));
    }

    #[test]
    fn tests_that_are_not_there_are_an_error_only_when_asked_for() {
        let text = "def double(x):\n    \"\"\"Twice x.\"\"\"\n";
        let error = Job::from_text(text, &TestsChoice::Auto).unwrap_err().to_string();
        assert!(error.contains("double") && error.contains(">>>"), "{error}");
        let error = Job::from_text("func double(x int) int {\n", &TestsChoice::Auto).unwrap_err().to_string();
        assert!(error.contains("double is in Go") && error.contains("--tests FILE"), "{error}");
        let gone = TestsChoice::File("no/such/tests.py".into());
        assert!(Job::from_text(text, &gone).unwrap_err().to_string().contains("no/such/tests.py"));
    }
}
