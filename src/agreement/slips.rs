//! Slips in a call that a person types: brackets that do not match, a comma that is missing, a name that is
//! given twice.

use super::value::Argument;
use crate::language::Language;

/// Words of Python that stand between values, or before one.
const WORDS: &[&str] =
    &["and", "async", "await", "else", "for", "from", "if", "in", "is", "lambda", "not", "or", "yield"];
/// Such words of JavaScript and TypeScript, as far as they stand in expressions.
const SCRIPT_WORDS: &[&str] = &[
    "as", "async", "await", "delete", "in", "instanceof", "keyof", "new", "of", "satisfies", "typeof", "void", "yield",
];
/// Code in which values may follow each other, or a word may be anything: functions, comments, patterns.
const OPEN: &[&str] = &["=>", "function", "class", "/", "`"];
/// Operators of Python after which a value is missing where an argument ends.
const OPERATORS: &str = "+-%&|^@<>=~";

/// A piece of a call.
#[derive(Clone, Copy)]
struct Piece<'a> {
    kind: Kind,
    text: &'a str,
    /// No white space is before it.
    touches: bool,
}

/// Kinds of pieces.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A name or a number.
    Word,
    Text,
    Open(char),
    Close(char),
    Mark(char),
}

/// The pieces of a text. The error is the end of a sentence.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let (mut all, mut rest, mut touches) = (Vec::new(), text.trim_start(), false);
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let (kind, length) = match c {
            '"' | '\'' | '`' => {
                let length = super::value::string_length(rest);
                (Kind::Text, length.ok_or_else(|| format!("the text that begins with `{c}` is not closed"))?)
            }
            // The point of a number, and of what a name has, belongs to it.
            c if is_word(c) => {
                let end = rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len());
                (Kind::Word, rest[..end].trim_end_matches('.').len())
            }
            '(' | '[' | '{' => (Kind::Open(c), 1),
            ')' | ']' | '}' => (Kind::Close(c), 1),
            c => (Kind::Mark(c), c.len_utf8()),
        };
        let (text, after) = rest.split_at(length);
        all.push(Piece { kind, text, touches });
        rest = after.trim_start();
        touches = rest.len() == after.len();
    }
    Ok(all)
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// A word that joins values, or stands before one.
fn joins(word: &str, language: Language) -> bool {
    let words = if language == Language::Python { WORDS } else { SCRIPT_WORDS };
    words.contains(&word)
}

/// Two pieces between which a comma is missing.
fn lacks_comma(one: &Piece, next: &Piece, language: Language) -> bool {
    let joins = |piece: &Piece| piece.kind == Kind::Word && joins(piece.text, language);
    // `r"a"` is one text, and two texts in a row are one in Python.
    let is_text = language == Language::Python && next.kind == Kind::Text && (one.kind == Kind::Text || next.touches);
    let ends = matches!(one.kind, Kind::Word | Kind::Text | Kind::Close(_));
    ends && matches!(next.kind, Kind::Word | Kind::Text) && !joins(one) && !joins(next) && !is_text
}

/// The first slip in the text of a call, as the end of a sentence.
pub fn slip(text: &str, language: Language) -> Option<String> {
    let is_python = language == Language::Python;
    if !is_python && OPEN.iter().any(|word| text.contains(word)) {
        return None;
    }
    let all = match pieces(text) {
        Ok(all) => all,
        Err(why) => return Some(why),
    };
    let (mut open, mut before) = (Vec::new(), None::<&Piece>);
    for piece in &all {
        match piece.kind {
            Kind::Open(c) => open.push(c),
            Kind::Close(c) => match open.pop() {
                None => return Some(format!("nothing is open that the last `{c}` could close")),
                Some(other) if closing(other) != c => return Some(format!("`{other}` is closed by `{c}`")),
                Some(_) => {}
            },
            _ => {}
        }
        if let Some(before) = before.filter(|before| lacks_comma(before, piece, language)) {
            return Some(format!("between `{}` and `{}` a comma is missing", before.text, piece.text));
        }
        let is_end = is_python && matches!(piece.kind, Kind::Close(_) | Kind::Mark(','));
        let is_operator = |piece: &&Piece| matches!(piece.kind, Kind::Mark(c) if OPERATORS.contains(c));
        if let Some(before) = before.filter(|before| is_end && is_operator(before)) {
            return Some(format!("behind `{}` a value is missing", before.text));
        }
        before = Some(piece);
    }
    open.pop().map(|open| format!("`{open}` is not closed"))
}

/// A slip in the arguments of a call of Python.
pub fn slip_of_names(arguments: &[Argument]) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    for argument in arguments {
        let text = argument.value.written(Language::Python);
        match &argument.name {
            Some(name) if seen.contains(&name.as_str()) => return Some(format!("`{name}` is given twice")),
            Some(name) => seen.push(name),
            None if !seen.is_empty() && !text.starts_with('*') => {
                return Some(format!("`{text}` has no name and stands behind one that has"));
            }
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found() {
        for (text, why) in [
            ("f(1 2)", "between `1` and `2` a comma is missing"),
            ("f([1, 2 3])", "between `2` and `3` a comma is missing"),
            ("f([1] 2)", "between `]` and `2` a comma is missing"),
            ("f('a' b)", "between `'a'` and `b` a comma is missing"),
            ("f(a 'b')", "between `a` and `'b'` a comma is missing"),
            ("f([1, 2)", "`[` is closed by `)`"),
            ("f(1))", "nothing is open that the last `)` could close"),
            ("f([1, 2]", "`(` is not closed"),
            ("f('a)", "the text that begins with `'` is not closed"),
            ("f(1 +)", "behind `+` a value is missing"),
            ("f(x=, y=1)", "behind `=` a value is missing"),
        ] {
            assert_eq!(slip(text, Language::Python).as_deref(), Some(why), "{text}");
        }
        assert!(slip("f([1 2])", Language::JavaScript).is_some());
    }

    #[test]
    fn what_can_be_read_has_none() {
        for text in [
            "f(1, -2.5, x=[1, (2,)], *a, **b)",
            "T(3).put(g(1)[0], r'a' \"b\", f\"{x!r} y\")",
            "f(lambda x, *, y=1: x if not y else [z for z in x if z is not None])",
            "f(..., a[1:], 1e-5, 0x1f, 1_000, a.b, 'it\\'s', \"\"\"a 'b\"\"\")",
            "f({1: 2, **d}, {x}, not a, await b(), 1 if a else 2)",
        ] {
            assert_eq!(slip(text, Language::Python), None, "{text}");
        }
        for text in
            ["f(new Map([[1, 2]]), typeof x, { a: 1 })", "f((x) => { if (x) return 1; })", "f(/a b/g, `a ${b} c`)"]
        {
            assert_eq!(slip(text, Language::JavaScript), None, "{text}");
        }
        assert_eq!(slip("f(x as Foo, <T>y)", Language::TypeScript), None);
    }
}
