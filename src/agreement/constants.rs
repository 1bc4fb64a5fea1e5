//! Constants of a file or a class in which candidates look for what they are given: `STATES.index(to)`. Their
//! texts are values that the function is for.

use super::kind::{Kind, Parameter};
use super::uses::{Uses, places};
use super::value::{Value, literal};
use crate::code::Word;
use crate::language::Language;

/// Most texts of constants that are given.
const MOST: usize = 8;

/// The texts of the constants that candidates name.
#[derive(Debug, Default)]
pub struct Constants {
    texts: Vec<Value>,
}

impl Constants {
    /// Constants of a file that most bodies name.
    pub fn of(language: Language, file: &str, uses: &Uses) -> Self {
        let mut texts = Vec::new();
        for (at, line) in file.lines().scan(0, |end, line| {
            let at = *end;
            *end += line.len() + 1;
            Some((at, line))
        }) {
            let Some((name, value)) = declared(language, line) else { continue };
            if uses.do_most(|body| body.iter().any(|word| word.name() == Some(name))) {
                let rest = &file[at + line.len() - value.len()..];
                // `Object.freeze([…])`, `new Set([…])`, `frozenset({…})`
                let open = value.find(['[', '{', '(']).unwrap_or_default();
                let inner = value[open..].find(['[', '{']).map_or(open, |inner| open + inner);
                let held = [open, inner].into_iter().find_map(|open| literal(rest.get(open..)?, language));
                texts.extend(held.map(|(value, _)| texts_in(value)).unwrap_or_default());
            }
        }
        texts.truncate(MOST);
        Self { texts }
    }

    /// A parameter with these texts, if most bodies look for it in something. `is_open`: only its name tells its
    /// kind.
    pub fn told(&self, parameter: Parameter, is_open: bool, uses: &Uses) -> Parameter {
        let is_text = match &parameter.kind {
            Kind::Text => true,
            Kind::Told(_, kind) => **kind == Kind::Text || is_open && **kind == Kind::Int,
            Kind::Int | Kind::Unknown => is_open,
            _ => false,
        };
        if self.texts.is_empty() || !is_text || !uses.do_most(|body| is_looked_for(body, &parameter.name)) {
            return parameter;
        }
        Parameter { kind: Kind::Text.told(self.texts.clone()), ..parameter }
    }
}

/// The name and the value of the constant that a line declares.
fn declared(language: Language, line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let line = ["export ", "static ", "readonly ", "const ", "#"]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    let (name, value) = line.split_once('=')?;
    // A type may stand between.
    let name = name.split(':').next()?.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let is_constant = language != Language::Python || !name.starts_with(char::is_lowercase);
    (is_name && is_constant && value.contains(['[', '{', '('])).then_some((name, value))
}

/// The texts that a value holds: elements, and keys of dictionaries with texts or lists of texts behind them.
fn texts_in(value: Value) -> Vec<Value> {
    match value {
        Value::Text(_) => vec![value],
        Value::List(all) | Value::Tuple(all) | Value::Set(all) => all.into_iter().flat_map(texts_in).collect(),
        Value::Dict(all) => {
            all.into_iter().filter(|(key, _)| matches!(key, Value::Text(_))).map(|(key, _)| key).collect()
        }
        _ => Vec::new(),
    }
}

/// `name in X`, `X.index(name)`, `X[name]`, `X[i] == name`.
fn is_looked_for(all: &[Word], name: &str) -> bool {
    let is = |at: usize, mark: char| all.get(at).is_some_and(|word| word.is(mark));
    let name_at = |at: usize| all.get(at).and_then(Word::name);
    places(all, name).any(|at| {
        let before = |mark| at > 0 && is(at - 1, mark);
        let is_asked = matches!(name_at(at + 1), Some("in" | "not"));
        let is_given = before('(') && is(at + 1, ')') && at > 2 && is(at - 3, '.');
        let is_compared = before('=') || is(at + 1, '=') && is(at + 2, '=') || is(at + 1, '!');
        is_asked || is_given || before('[') && is(at + 1, ']') || is_compared
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_constants_that_candidates_look_in_are_given() {
        let told = |language, file: &str, body: &str, kind: Kind| {
            let uses = Uses::new(language, &[body], Vec::new());
            let parameter = Parameter { name: "to".to_owned(), kind, ..Parameter::default() };
            let kind = Constants::of(language, file, &uses).told(parameter, true, &uses).kind;
            [0, 2].map(|number| kind.typical(number).written(language))
        };
        let python = "class Order:\n    STATES = (\"new\",\n        \"paid\")\n    OTHER = [\"x\"]\n";
        for body in ["    i = self.STATES.index(to)\n", "    if self.STATES[i] != to:\n        pass\n"] {
            assert_eq!(told(Language::Python, python, body, Kind::Int), ["\"new\"", "\"paid\""], "{body}");
        }
        assert_eq!(told(Language::Python, python, "    return self.STATES[0] * to\n", Kind::Int), ["0", "2"]);
        let script = "const NEXT = { \"a\": [\"b\"], \"c\": [] };\n";
        assert_eq!(told(Language::JavaScript, script, "  return NEXT[to];\n", Kind::Text), ["\"a\"", "\"c\""]);
        let frozen = "export const ALL = Object.freeze(['a', 'b']);\n";
        assert_eq!(told(Language::JavaScript, frozen, "  return ALL.includes(to);\n", Kind::Int), ["\"a\"", "\"b\""]);
    }
}
