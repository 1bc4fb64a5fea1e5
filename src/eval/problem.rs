//! One problem of a problem file: its prompt, and how an answer is judged.

use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::code::{self, Place, RequestedFunction, Target};
use crate::engine::StopRules;
use crate::language::Language;
use crate::prompt;
use crate::source::{Prompt, Window};
use crate::trial::{Limits, Tests, Trial};

/// The place of a row in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub file: PathBuf,
    /// 1-based line; of a JSON array, the line on which the row begins.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file.display(), self.line)
    }
}

/// A problem, independent of its format.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its `task_id` (or `name`); unique in a run.
    pub id: String,
    /// Language of the code.
    pub language: Language,
    /// The prompt of the model, to the byte: nothing is stripped.
    pub prompt: String,
    /// Text before the prompt in a program that the model does not see.
    pub preamble: String,
    /// Text that has to follow a completion because its stop string removed it: the closing brace.
    pub closing: String,
    /// The function under test; always there in Python.
    pub entry_point: Option<String>,
    pub tests: String,
    /// The solution that came with the problem.
    pub reference: Option<Answer>,
    /// Stop strings, if the row names them.
    pub stop: Option<Vec<String>>,
    pub origin: Origin,
    /// The other keys of the row.
    pub extra: Map<String, Value>,
}

/// An answer to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The text after the prompt.
    Completion(String),
    /// A whole program.
    Program(String),
}

impl Answer {
    pub fn text(&self) -> &str {
        match self {
            Answer::Completion(text) | Answer::Program(text) => text,
        }
    }
}

impl Problem {
    pub fn program(&self, answer: &Answer) -> String {
        match answer {
            Answer::Completion(text) => {
                let target = Target::in_text(&[&*self.preamble, &self.prompt].concat(), self.language, &self.place());
                match target.ok().filter(|target| target.brings(text)) {
                    Some(target) => target.splice(text),
                    None => format!("{}{}{text}\n{}", self.preamble, self.prompt, self.closing),
                }
            }
            Answer::Program(text) => format!("{text}\n"),
        }
    }

    pub fn trial(&self, answer: &Answer, limits: Limits) -> Trial {
        let ending = self.language.extensions()[0];
        Trial {
            language: self.language,
            program: self.program(answer),
            file: None,
            entry_point: self.entry_point.clone(),
            line: None,
            tests: Tests::text(&format!("tests.{ending}"), &self.tests),
            // Tests may use functions that the prompt defines.
            stub: Some(format!("{}{}{}", self.preamble, self.prompt, self.closing)),
            limits,
        }
    }

    /// The prompt of a model with this window.
    pub fn prompt_for(&self, window: &Window) -> Prompt {
        let Some(chat) = &window.chat else { return Prompt::of_words(&self.prompt) };
        Prompt::Written(prompt::chat::prompt(chat, &self.requested(), &self.prompt, &[]))
    }

    /// Like [`Self::prompt_for`], with what tests said of candidates that failed; `None` where the prompt has
    /// no function.
    pub fn prompt_again(&self, window: &Window, facts: &[String]) -> Option<Prompt> {
        // Checks call the function by the name of their parameter.
        let name = self.entry_point.as_deref().unwrap_or("candidate");
        let facts: Vec<String> = facts.iter().map(|fact| fact.replace("candidate(", &format!("{name}("))).collect();
        if let Some(chat) = &window.chat {
            let prompt = prompt::chat::prompt(chat, &self.requested(), &self.prompt, &facts);
            return Some(Prompt::Written(prompt));
        }
        let target = self.target().filter(|_| window.tokens.is_some())?;
        let told = prompt::Told { facts: &facts, ..prompt::Told::default() };
        told.in_front(&target, &self.prompt).map(Prompt::of_words)
    }

    /// Stop rules of a model with this window: `strings`, and unless `defaults` is false the stop strings of
    /// the row, else the end of the function.
    pub fn stop_rules(&self, window: &Window, strings: &[String], defaults: bool) -> StopRules {
        let mut rules = StopRules { strings: strings.to_vec(), ..StopRules::default() };
        prompt::chat::read(&mut rules, window.chat.as_deref(), || self.requested(), defaults);
        if !defaults {
            return rules;
        }
        if let Some(stop) = &self.stop {
            rules.strings.extend_from_slice(stop);
        } else {
            let (language, indent) = (self.language, self.indent());
            rules.text = Some(Arc::new(move |text: &str| code::function_end(language, indent, text)));
        }
        rules
    }

    /// The function that is completed, if it is found.
    pub fn target(&self) -> Option<Target> {
        Target::in_text(&self.prompt, self.language, &self.place()).ok()
    }

    fn place(&self) -> Place {
        self.entry_point.clone().map_or(Place::Any, Place::Function)
    }

    /// The function to look for in a chat answer.
    fn requested(&self) -> RequestedFunction {
        self.target().map_or_else(
            || RequestedFunction {
                language: self.language,
                name: self.entry_point.clone().unwrap_or_default(),
                outer: String::new(),
                inner: self.language.indent().to_owned(),
                typed: String::new(),
                known: self.prompt.clone(),
                at: 0,
                path: None,
                head: String::new(),
                kind: String::new(),
            },
            |target| target.requested(),
        )
    }

    /// Columns of indentation of the function that is completed.
    fn indent(&self) -> usize {
        self.target().map_or(0, |target| target.indent)
    }

    /// Equal for two answers that differ only in white space, blank lines and comments.
    pub fn duplicate_key(&self, answer: &Answer) -> String {
        let key = code::normalise(self.language, answer.text());
        match answer {
            Answer::Completion(_) => key,
            // A program and a completion are never compared by their texts.
            Answer::Program(_) => format!("\0{key}"),
        }
    }

    /// A hash of everything that a candidate is written from or judged by.
    pub fn digest(&self) -> String {
        let parts = [&self.prompt, &self.preamble, &self.closing, &self.tests, self.language.name()];
        let mut all = parts.map(|part| format!("{}:{part}", part.len())).concat();
        let _ = write!(all, "{:?} {:?}", self.entry_point, self.stop);
        format!("{:016x}", crate::hash::of(all.as_bytes()))
    }
}

/// A problem for tests.
#[cfg(test)]
pub(crate) fn sample() -> Problem {
    Problem {
        id: "Sample/0".to_owned(),
        language: Language::Python,
        prompt: "def double(x):\n    \"\"\"Twice x.\"\"\"\n".to_owned(),
        preamble: String::new(),
        closing: String::new(),
        entry_point: Some("double".to_owned()),
        tests: "def check(candidate):\n    assert candidate(2) == 4\n".to_owned(),
        reference: Some(Answer::Completion("    return 2 * x\n".to_owned())),
        stop: None,
        origin: Origin { file: "sample.jsonl".into(), line: 1 },
        extra: Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_ends_with_its_function_or_where_the_row_says() {
        let mut problem = sample();
        let rules = problem.stop_rules(&Window::default(), &["END".to_owned()], true);
        assert_eq!(rules.strings, ["END"]);
        assert_eq!(rules.text.unwrap()("    return 2 * x\n\nprint(1)\n"), Some(17));
        problem.stop = Some(vec!["\n}".to_owned()]);
        let rules = problem.stop_rules(&Window::default(), &[], true);
        assert!(rules.strings == ["\n}"] && rules.text.is_none());
        assert!(problem.stop_rules(&Window::default(), &[], false).strings.is_empty());
    }

    #[test]
    fn the_digest_follows_prompt_and_tests() {
        let (one, mut other) = (sample(), sample());
        assert_eq!(one.digest(), other.digest());
        other.tests.push('\n');
        assert_ne!(one.digest(), other.digest());
    }

    #[test]
    fn a_program_stands_alone() {
        let problem = Problem { closing: "}".to_owned(), preamble: "package p\n".to_owned(), ..sample() };
        assert!(problem.program(&Answer::Completion("  body".to_owned())).ends_with("  body\n}"));
        assert_eq!(problem.program(&Answer::Program("all of it".to_owned())), "all of it\n");
    }
}
