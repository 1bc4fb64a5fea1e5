//! Checks before any time is spent on a model that the tests can be run here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::problem::{Answer, Problem};
use crate::language::Language;
use crate::trial::{Limits, Runner, Status, TrialError};

/// Versions of the interpreters that run the tests, by language.
pub type Setting = BTreeMap<String, String>;

/// Prefix of the line with the probe's answer.
const MARK: &str = "found:";

/// Reasons why the tests cannot be run.
#[derive(Debug)]
pub enum Unready {
    /// Something is missing that the user can add, or the problem set needs something unavailable.
    Missing(String),
    /// The sandbox failed.
    Sandbox(TrialError),
}

/// Checks every language of `problems` and, in Python, every module that their tests import.
pub fn preflight(runner: &Runner, problems: &[&Problem], limits: Limits) -> Result<Setting, Unready> {
    let mut setting = Setting::new();
    let languages: BTreeSet<&str> = problems.iter().map(|p| p.language.name()).collect();
    for name in languages {
        let Some(first) = problems.iter().find(|p| p.language.name() == name) else { continue };
        if first.language == Language::Python {
            setting.insert(name.to_owned(), python(runner, problems, first, limits)?);
            continue;
        }
        // Only checks that an interpreter exists. The verdict of an empty program does not matter.
        let trial = first.trial(&Answer::Completion(String::new()), limits);
        match runner.run(&trial, &Arc::default()) {
            Ok(_) => setting.insert(name.to_owned(), String::new()),
            Err(error) => {
                return Err(Unready::Missing(format!("{}: {} cannot be judged: {error}", first.origin, first.id)));
            }
        };
    }
    Ok(setting)
}

/// The version of the Python that runs the tests; an error if it lacks a module.
fn python(runner: &Runner, problems: &[&Problem], first: &Problem, limits: Limits) -> Result<String, Unready> {
    let mut users: BTreeMap<String, &Problem> = BTreeMap::new();
    for problem in problems.iter().filter(|p| p.language == Language::Python) {
        for module in imports(&problem.tests) {
            users.entry(module).or_insert(problem);
        }
    }
    let names: Vec<String> = users.keys().map(|name| format!("\"{name}\"")).collect();
    let program = format!(
        "import importlib, platform\nmissing = []\nfor name in [{}]:\n    try:\n        importlib.import_module(name)\n    \
         except ImportError:\n        missing.append(name)\nprint(\"{MARK}\", platform.python_version(), *missing)\n\
         def answer():\n    return 1\n",
        names.join(", ")
    );
    let probe =
        Problem { entry_point: Some("answer".to_owned()), tests: "assert answer() == 1\n".to_owned(), ..first.clone() };
    let verdict =
        runner.run(&probe.trial(&Answer::Program(program), limits), &Arc::default()).map_err(Unready::Sandbox)?;
    if verdict.status != Status::Passed {
        let why = format!("a program that does nothing was found {}: {}", verdict.status.word(), verdict.message);
        return Err(Unready::Sandbox(TrialError::Sandbox(why)));
    }
    let said = verdict.output.lines().find_map(|line| line.trim().strip_prefix(MARK)).unwrap_or_default();
    let mut words = said.split_whitespace();
    let version = words.next().unwrap_or_default().to_owned();
    match words.find_map(|name| users.get_key_value(name)) {
        Some((name, problem)) => Err(Unready::Missing(format!(
            "{}: the tests of {} import {name}, which Python {version} does not have here: install it (python3 -m pip install \
             {name}), or choose other problems with --only",
            problem.origin, problem.id
        ))),
        None => Ok(version),
    }
}

/// The modules that a Python text imports.
fn imports(text: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        let listed = match (line.strip_prefix("import "), line.strip_prefix("from ")) {
            (Some(rest), _) => rest,
            (_, Some(rest)) if rest.contains(" import ") => rest.split(" import ").next().unwrap_or_default(),
            _ => continue,
        };
        let names = listed.split(',').map(|part| part.trim().split([' ', '.', ';', '#']).next().unwrap_or_default());
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        modules.extend(names.filter(is_name).map(str::to_owned));
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found() {
        let text = "import numpy as np, math\nfrom a.b import c, d\n    import re;x=1\nfrom . import e\nimporting = 1\nfrom here\n";
        let found: Vec<String> = imports(text).into_iter().collect();
        assert_eq!(found, ["a", "math", "numpy", "re"]);
    }
}
