//! MultiPL-E: `name`, `language`, `prompt`, `tests`, `stop_tokens`.

use super::Fields;
use crate::eval::problem::Problem;
use crate::language::Language;

pub(super) fn read(fields: &mut Fields) -> Result<Problem, String> {
    let language = super::language(&fields.text("language")?)?;
    let id = fields.id("name", "MultiPL-E")?;
    let prompt = fields.text("prompt")?;
    let tests = fields.text("tests")?;
    // The stop string removes the closing brace of a candidate, and the tests begin with it. It belongs to
    // the program.
    let (closing, tests) = match tests.trim_start().strip_prefix('}') {
        Some(rest) if language != Language::Python => ("}\n", rest.strip_prefix('\n').unwrap_or(rest).to_owned()),
        _ => ("", tests),
    };
    // `HumanEval_23_strlen`, `mbpp_3_is_not_prime`: set, number, function.
    let named = id.splitn(3, '_').nth(2).filter(|name| !name.is_empty()).map(str::to_owned);
    let entry_point = match language {
        Language::Python => super::last_function(&prompt).or(named),
        _ => named,
    };
    Ok(Problem {
        language,
        prompt,
        preamble: String::new(),
        closing: closing.to_owned(),
        entry_point,
        tests,
        reference: None,
        stop: fields.texts("stop_tokens")?.filter(|stop| !stop.is_empty()),
        origin: fields.origin.clone(),
        extra: serde_json::Map::new(),
        id,
    })
}
