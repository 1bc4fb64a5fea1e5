//! `HumanEval` (also `HumanEval+` in its form, and mxeval with a language in the row), and `HumanEval-X`.

use super::Fields;
use crate::eval::problem::{Answer, Problem};
use crate::language::Language;

/// `task_id`, `prompt`, `entry_point`, `canonical_solution`, `test`; perhaps `language`.
pub(super) fn read(fields: &mut Fields) -> Result<Problem, String> {
    let language = match fields.maybe_text("language")? {
        Some(name) => super::language(&name)?,
        None => Language::Python,
    };
    let stop = fields.texts("stop_tokens")?;
    Ok(Problem {
        id: fields.id("task_id", "HumanEval")?,
        language,
        prompt: fields.text("prompt")?,
        preamble: String::new(),
        closing: String::new(),
        entry_point: fields.maybe_text("entry_point")?.filter(|name| !name.trim().is_empty()),
        tests: fields.text("test")?,
        reference: fields.maybe_text("canonical_solution")?.map(Answer::Completion),
        stop,
        origin: fields.origin.clone(),
        extra: serde_json::Map::new(),
    })
}

/// `HumanEval-X`: also has `declaration`, and the language stands before the slash of the id. If the prompt
/// is only a comment, the declaration follows it. Go programs and their tests need a package each.
pub(super) fn read_x(fields: &mut Fields) -> Result<Problem, String> {
    let declaration = fields.text("declaration")?;
    let setup = fields.maybe_text("test_setup")?.unwrap_or_default();
    let named = fields.object.get("task_id").and_then(|id| id.as_str()).unwrap_or_default();
    let language = super::language(named.split('/').next().unwrap_or_default())?;
    fields.object.remove("language");
    let mut problem = read(fields)?;
    problem.language = language;
    let head = declaration.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    if !problem.prompt.contains(head) {
        problem.prompt += declaration.trim_start_matches('\n');
    }
    if problem.entry_point.is_none() {
        problem.entry_point = match language {
            Language::Python => super::last_function(&declaration),
            _ => declared(&declaration),
        };
    }
    if language == Language::Go {
        if !problem.prompt.trim_start().starts_with("package ") {
            "package main\n\n".clone_into(&mut problem.preamble);
        }
        problem.tests = setup + "\n" + &problem.tests;
    }
    Ok(problem)
}

/// The name that a declaration with braces gives to its function, the last one in the text.
fn declared(text: &str) -> Option<String> {
    let after = ["fn ", "func ", "function ", "const ", "let "].iter().filter_map(|word| {
        let at = text.rfind(word)?;
        Some((at, text.get(at + word.len()..)?))
    });
    let (_, rest) = after.max_by_key(|(at, _)| *at)?;
    let name: String = rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}
