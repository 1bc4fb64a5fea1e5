//! MBPP, full (`text`, `test_setup_code`, `challenge_test_list`) and sanitized (`prompt`, `test_imports`).
//!
//! Its rows are a text without a stub. The prompt is made into a stub like that of any other problem: the
//! signature, taken from the reference (without one, from the first assert), and the text as its docstring.
//! The asserts are not shown to the model. `challenge_test_list` is kept but, as usual, not run.

use super::Fields;
use crate::code::{self, Place, Target};
use crate::eval::problem::{Answer, Problem};
use crate::language::Language;

pub(super) fn read(fields: &mut Fields) -> Result<Problem, String> {
    let id = fields.id("task_id", "MBPP")?;
    let text = match fields.maybe_text("text")? {
        Some(text) => text,
        None => fields.text("prompt")?,
    };
    let reference = fields.maybe_text("code")?.map(|code| code.replace("\r\n", "\n").replace('\r', "\n"));
    let asserts = fields.texts("test_list")?.unwrap_or_default();
    let mut lines = fields.texts("test_imports")?.unwrap_or_default();
    lines.extend(fields.maybe_text("test_setup_code")?.filter(|code| !code.trim().is_empty()));
    lines.extend(asserts.iter().cloned());

    let defined: Vec<String> = reference
        .iter()
        .flat_map(|code| code::function_names(Language::Python, code))
        .map(|f| f.name)
        .filter(|name| !name.contains('.'))
        .collect();
    let entry_point = entry_point(&asserts, &defined);
    let signature = entry_point.as_deref().and_then(|name| {
        let called = || asserts.iter().find_map(|line| called_signature(line, name));
        reference.as_deref().and_then(|code| signature(code, name)).or_else(called)
    });
    let docstring = text.trim().replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"");
    let docstring = if docstring.ends_with('"') { docstring + " " } else { docstring };
    Ok(Problem {
        id,
        language: Language::Python,
        prompt: format!("{}\n    \"\"\"{docstring}\"\"\"\n", signature.unwrap_or_default()),
        preamble: String::new(),
        closing: String::new(),
        entry_point,
        tests: lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect(),
        reference: reference.map(Answer::Program),
        stop: None,
        origin: fields.origin.clone(),
        extra: serde_json::Map::new(),
    })
}

/// Built-in functions of Python.
const OWN: &[&str] = &[
    "abs", "all", "any", "bool", "dict", "float", "int", "isclose", "isinstance", "len", "list", "not", "round", "set",
    "sorted", "str", "sum", "tuple", "type",
];

/// The function that the asserts test: the one of the reference that most of them call. Without a reference,
/// the first function they call that is not built in.
fn entry_point(asserts: &[String], defined: &[String]) -> Option<String> {
    let calls: Vec<Vec<&str>> = asserts.iter().map(|line| called(line)).collect();
    let count = |name: &str| calls.iter().filter(|names| names.contains(&name)).count();
    let best = defined.iter().enumerate().filter(|(_, name)| count(name) > 0).max_by_key(|(i, name)| (count(name), *i));
    if let Some((_, name)) = best {
        return Some(name.clone());
    }
    let first = calls.first()?.iter().find(|name| defined.is_empty() && !OWN.contains(name))?;
    Some((*first).to_owned())
}

/// The names before opening parentheses, in their order.
fn called(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = line.match_indices('(').filter_map(|(at, _)| {
        let head = line.get(..at)?;
        let name = head
            .get(head.rfind(|c| !is_word(c)).map_or(0, |i| i + head[i..].chars().next().map_or(1, char::len_utf8))..)?;
        (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    });
    before.collect()
}

/// The head of the function `name` of `code`, up to its colon.
fn signature(code: &str, name: &str) -> Option<String> {
    let target = Target::in_text(code, Language::Python, &Place::Function(name.to_owned())).ok()?;
    let begin = target.text.get(target.function.start..)?.find("def ")? + target.function.start;
    let end = target.docstring.as_ref().map_or(target.body.start, |d| d.start);
    let head = target.text.get(begin..end)?.trim_end();
    head.ends_with(':').then(|| head.to_owned())
}

/// A head with as many parameters as `name` gets in `line`.
fn called_signature(line: &str, name: &str) -> Option<String> {
    let begin = line.find(&format!("{name}("))? + name.len() + 1;
    let (mut depth, mut quote, mut count, mut any) = (0_usize, None, 0, false);
    for c in line.get(begin..)?.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => (quote, any) = (Some(c), true),
            (None, '(' | '[' | '{') => (depth, any) = (depth + 1, true),
            (None, ')') if depth == 0 => break,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => count += 1,
            (None, c) => any |= !c.is_whitespace(),
        }
    }
    let names: Vec<String> =
        (0..count + usize::from(any)).map(|i| format!("{}", char::from(b'a' + (i % 26) as u8))).collect();
    Some(format!("def {name}({}):", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_point_is_the_one_the_asserts_are_about() {
        let asserts = ["assert math.isclose(area_of(round(2.5)), 3)".to_owned(), "assert area_of(1) == 2".to_owned()];
        let defined = ["helper".to_owned(), "area_of".to_owned(), "round".to_owned()];
        assert_eq!(entry_point(&asserts, &defined).as_deref(), Some("area_of"));
        assert_eq!(entry_point(&asserts, &[]).as_deref(), Some("area_of"));
        assert_eq!(entry_point(&asserts, &["other".to_owned()]), None, "the reference does not have it");
        assert_eq!(entry_point(&[], &defined), None);
    }

    #[test]
    fn signatures_come_from_the_reference_or_a_call() {
        let code = "class P:\n    pass\n\ndef g(a, b: int = 1) -> int:\n    '''doc'''\n    return a\n";
        assert_eq!(signature(code, "g").as_deref(), Some("def g(a, b: int = 1) -> int:"));
        assert_eq!(called_signature("assert g([1, 2], 'a,b(', (3,)) == 4", "g").as_deref(), Some("def g(a, b, c):"));
        assert_eq!(called_signature("assert g() == 4", "g").as_deref(), Some("def g():"));
    }
}
