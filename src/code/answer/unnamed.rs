//! Functions of an answer that are written as expressions: a lambda with a name, and a default export without
//! one.

use super::RequestedFunction;
use crate::code::python::lex::{Kind, Token, Tokens};
use crate::code::rules::{self, Function};
use crate::code::target::last_name;
use crate::language::Language;

impl RequestedFunction {
    /// The code with the function as a definition that has its name, if it has none there.
    pub(super) fn with_name(&self, code: &str, functions: &[Function]) -> Option<String> {
        let name = last_name(&self.name);
        if functions.iter().any(|function| last_name(&function.name) == name) {
            return None;
        }
        if self.language == Language::Python {
            return as_definition(code, name);
        }
        let export = "export default ";
        let is_default = self.language.is_kin(Language::JavaScript) && self.head.contains(export);
        let at = code.match_indices(export).map(|(at, _)| at).find(|&at| at == 0 || code[..at].ends_with('\n'));
        let at = at.filter(|&at| is_default && code[at..].contains("=>"))?;
        let value = &code[at + export.len()..];
        let is_value = value.starts_with('(') || value.starts_with("async ") || value.starts_with("async(");
        is_value.then(|| [&code[..at], "const ", name, " = ", value].concat())
    }
}

/// Code of Python with `name = lambda …: …` at its border as a definition.
fn as_definition(code: &str, name: &str) -> Option<String> {
    let begin = format!("{name} = lambda");
    let at = code.match_indices(&begin).map(|(at, _)| at).find(|&at| at == 0 || code[..at].ends_with('\n'))?;
    let (mut depth, mut colon, mut end): (usize, Option<Token>, usize) = (0, None, at);
    for token in Tokens::new(code, at + begin.len()) {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Newline if depth == 0 => break,
            Kind::Mark if depth == 0 && token.is_mark(code, ":") => colon = colon.or(Some(token)),
            _ => {}
        }
        if !matches!(token.kind, Kind::Comment | Kind::Newline | Kind::Join) {
            end = token.end;
        }
    }
    let colon = colon.filter(|colon| depth == 0 && end > colon.end)?;
    let parameters = code[at + begin.len()..colon.start].trim();
    let value = ["return ", code[colon.end..end].trim()].concat();
    let value = (rules::of(Language::Python).placed)(&value, "    ", "");
    Some([&code[..at], "def ", name, "(", parameters, "):\n", value.trim_end(), &code[end..]].concat())
}
