//! A job as the task of a run: trials, inputs and prompts of its candidates.

use std::path::Path;

use super::{Job, Task, TestsChoice};
use crate::agreement::{Texts, inputs, more_inputs};
use crate::code::{self, Target};
use crate::engine::FinishReason;
use crate::language::Language;
use crate::source::{Prompt, Window};
use crate::trial::{Input, Limits, Tests, Trial, Verdict, untested};

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
        let target = self.target().filter(|_| self.tests.as_ref().is_some_and(Tests::are_in_project))?;
        Some(Trial { program: target.text.clone(), ..self.trial(0, "", limits)? })
    }

    fn inputs(&self, bodies: &[&str]) -> Result<Vec<Input>, String> {
        let target = self.target().ok_or("there is no function to call")?;
        let tests = self.texts_of_tests(target);
        inputs(target, Texts { tests: &tests, wish: self.wish() }, bodies)
    }

    fn more_inputs(&self, known: &[&str], bodies: &[&str], inputs: &[Input]) -> Vec<Input> {
        let Some(target) = self.target() else { return Vec::new() };
        let tests = self.texts_of_tests(target);
        more_inputs(target, Texts { tests: &tests, wish: self.wish() }, (known, bodies), inputs)
    }

    fn called(&self, completion: &str, limits: Limits) -> Option<Trial> {
        self.target().map(|_| self.trial_by(Tests::own_examples(), completion, limits))
    }

    fn untested(&self, completion: &str, limits: Limits) -> Verdict {
        let is_called = self.language().is_some_and(Language::is_observed);
        let of = |trial| untested(&trial, self.lacking(completion).as_deref(), is_called);
        self.called(completion, limits).map_or_else(Verdict::no_tests, of)
    }

    fn before(&self, limits: Limits) -> Option<Trial> {
        Some(self.trial_by(Tests::own_examples(), &self.reference()?, limits))
    }

    fn objection(&self, completion: &str) -> Option<String> {
        let target = self.target().filter(|_| self.wish().is_some())?;
        target.is_as_before(completion).then(|| "it is the function as it was".to_owned())
    }

    fn is_cut_off(&self, reason: FinishReason, completion: &str) -> bool {
        // Other code of the file may come before the function.
        let is_cut = |target: &Target| completion.trim().is_empty() || target.breaks_off(completion);
        reason == FinishReason::Length && self.target().is_some_and(is_cut)
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
