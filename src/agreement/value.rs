//! Literal values in the text of a program: read, changed and written.

use super::object::object;
use std::fmt::Write;

use crate::language::Language;

/// A literal value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Set(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    /// A function of one value, by its place in [`FUNCTIONS`].
    Function(usize),
    /// A function of no arguments that returns this.
    Gives(Box<Value>),
    /// An expression in Python and in JavaScript.
    Spelled(&'static str, &'static str),
    /// An object that is made by a call of this with these.
    Made(String, Vec<Argument>),
    /// An expression that is no literal, as it is written.
    Other(String),
}

/// Functions that are given to functions: in Python and in JavaScript.
const FUNCTIONS: &[(&str, &str)] = &[
    ("bool", "Boolean"),
    ("lambda x: x", "(x) => x"),
    ("lambda x: x == 2", "(x) => x === 2"),
    ("str", "String"),
    ("lambda *x: len(x)", "(...x) => x.length"),
];

/// Functions that always fail, and those that fail twice before they return.
pub const FAILING: [Value; 2] = [
    Value::Spelled("lambda *_: 1 / 0", "() => { throw new Error(\"a\"); }"),
    Value::Spelled(
        "lambda *_, all=[2, 0, 0]: 6 // all.pop()",
        "((left) => () => { if (left-- > 0) throw new Error(\"a\"); return 3; })(2)",
    ),
];
/// The promises of such functions.
pub const REJECTING: [Value; 2] = [
    Value::Spelled("lambda: 1 / 0", "async () => { throw new Error(\"a\"); }"),
    Value::Spelled(
        "lambda all=[2, 0, 0]: 6 // all.pop()",
        "((left) => async () => { if (left-- > 0) throw new Error(\"a\"); return 3; })(2)",
    ),
];
/// A function that returns what it is given behind the number of its calls before.
pub const COUNTING: Value = Value::Spelled(
    "lambda *x, n=__import__(\"itertools\").count(): (next(n), *x)",
    "((n) => (...x) => [n++, ...x])(0)",
);
/// A function that returns a larger number at each call, as a clock does.
pub const CLOCK: Value =
    Value::Spelled("__import__(\"itertools\").count(1.5, 0.5).__next__", "((t) => () => t += 0.5)(1)");

/// An argument of a call, with its name if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub name: Option<String>,
    pub value: Value,
}

/// Longest arguments of a call that are read, in bytes.
const LONGEST: usize = 4096;
/// Nested brackets of a value that are followed.
const DEEPEST: usize = 16;

impl Value {
    /// Returns true if an expression that is no literal is in it.
    pub fn has_other(&self) -> bool {
        self.has(|_| true)
    }

    /// Returns true if such an expression is in it that is no object of Python's library.
    fn has_unknown(&self) -> bool {
        self.has(|text| object(text).is_none())
    }

    fn has(&self, is_meant: fn(&str) -> bool) -> bool {
        match self {
            Self::Other(text) => is_meant(text),
            Self::List(all) | Self::Tuple(all) | Self::Set(all) => all.iter().any(|one| one.has(is_meant)),
            Self::Dict(all) => all.iter().any(|(key, value)| key.has(is_meant) || value.has(is_meant)),
            _ => false,
        }
    }

    /// The value as a language spells it.
    pub fn written(&self, language: Language) -> String {
        let mut out = String::new();
        self.write(language, &mut out);
        out
    }

    fn write(&self, language: Language, out: &mut String) {
        let is_python = language == Language::Python;
        match self {
            Self::None => out.push_str(if is_python { "None" } else { "null" }),
            Self::Bool(value) => out.push_str(match (value, is_python) {
                (true, true) => "True",
                (false, true) => "False",
                (true, false) => "true",
                (false, false) => "false",
            }),
            Self::Int(number) => drop(write!(out, "{number}")),
            Self::Float(number) => drop(write!(out, "{number:?}")),
            Self::Text(text) => quote(text, out),
            Self::Tuple(all) if is_python => {
                write_all(all, ('(', ')'), language, out);
                if all.len() == 1 {
                    out.insert(out.len() - 1, ',');
                }
            }
            Self::Set(all) if is_python && all.is_empty() => out.push_str("set()"),
            Self::Set(all) if is_python => write_all(all, ('{', '}'), language, out),
            Self::List(all) | Self::Tuple(all) => write_all(all, ('[', ']'), language, out),
            Self::Set(all) => {
                out.push_str("new Set(");
                write_all(all, ('[', ']'), language, out);
                out.push(')');
            }
            Self::Dict(all) => {
                out.push('{');
                for (at, (key, value)) in all.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    match key {
                        // Any other literal is no name of a field.
                        key if is_python => key.write(language, out),
                        Self::Text(text) => quote(text, out),
                        key => quote(&key.written(language), out),
                    }
                    out.push_str(": ");
                    value.write(language, out);
                }
                out.push('}');
            }
            Self::Function(place) => {
                let (python, javascript) = FUNCTIONS[place % FUNCTIONS.len()];
                out.push_str(if is_python { python } else { javascript });
            }
            Self::Gives(value) => {
                let text = value.written(language);
                let _ = if is_python { write!(out, "lambda: {text}") } else { write!(out, "() => ({text})") };
            }
            Self::Spelled(python, javascript) => out.push_str(if is_python { python } else { javascript }),
            Self::Made(callee, arguments) => {
                let _ = write!(out, "{callee}({})", written(arguments, language));
            }
            Self::Other(text) => out.push_str(text),
        }
    }
}

/// Arguments as they stand between the parentheses of a call.
pub fn written(arguments: &[Argument], language: Language) -> String {
    let one = |argument: &Argument| {
        let name = argument.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
        name + &argument.value.written(language)
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn write_all(all: &[Value], (open, close): (char, char), language: Language, out: &mut String) {
    out.push(open);
    for (at, value) in all.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        value.write(language, out);
    }
    out.push(close);
}

/// A string by escapes that all languages have.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => drop(write!(out, "\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The arguments of a call, whose opening parenthesis is before byte `at`, and the byte after the closing
/// one. `None` if it is not closed.
pub fn arguments(text: &str, at: usize, language: Language) -> Option<(Vec<Argument>, usize)> {
    let end = (at + LONGEST..text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
    let mut reader = Reader { text: &text[..end], at, language, depth: 0 };
    let mut all = Vec::new();
    loop {
        reader.skip_white();
        if reader.eat(')') {
            return Some((all, reader.at));
        }
        let name = reader.argument_name();
        all.push(Argument { name, value: reader.element()? });
        reader.skip_white();
        if !reader.eat(',') && !reader.rest().starts_with(')') {
            return None;
        }
    }
}

/// The literal that a text begins with, and the bytes that it takes.
pub fn literal(text: &str, language: Language) -> Option<(Value, usize)> {
    let mut reader = Reader { text, at: 0, language, depth: 0 };
    let value = reader.literal()?;
    (!value.has_other()).then_some((value, reader.at))
}

/// The value that a text of Python begins with, and the bytes that it takes. Objects of its library may be in
/// it.
pub fn literal_or_object(text: &str) -> Option<(Value, usize)> {
    // An expression of several words ends with a bracket.
    let closed = format!("{text})");
    let mut reader = Reader { text: &closed, at: 0, language: Language::Python, depth: 0 };
    let value = reader.element()?;
    (!value.has_unknown()).then_some((value, reader.at))
}

/// The parts of a list that commas separate, from byte `at` to the bracket that closes it.
pub fn parts(text: &str, at: usize, language: Language) -> Vec<&str> {
    let mut reader = Reader { text, at, language, depth: 0 };
    let mut all = Vec::new();
    loop {
        let begin = reader.at;
        if !reader.skip_element() {
            return all;
        }
        all.extend(Some(text[begin..reader.at].trim()).filter(|part| !part.is_empty()));
        if !reader.eat(',') {
            return all;
        }
    }
}

/// Returns true if the string that a text begins with has three quotes on each side.
fn is_tripled(text: &str) -> bool {
    text.starts_with("\"\"\"") || text.starts_with("'''")
}

/// The bytes of the string that a text begins with. `None` if it is not closed.
fn string_length(text: &str) -> Option<usize> {
    let quote = if is_tripled(text) { &text[..3] } else { text.get(..1)? };
    let mut at = quote.len();
    while !text.get(at..)?.starts_with(quote) {
        let c = text[at..].chars().next()?;
        at += c.len_utf8();
        match c {
            '\\' => at += text[at..].chars().next()?.len_utf8(),
            '\n' if quote.len() == 1 && quote != "`" => return None,
            _ => {}
        }
    }
    Some(at + quote.len())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    language: Language,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_white(&mut self) {
        let rest = self.rest();
        // The lines of an example in documentation begin with a mark.
        let trimmed = rest.trim_start();
        let more = trimmed.strip_prefix("...").filter(|_| rest[..rest.len() - trimmed.len()].contains('\n'));
        self.at = self.text.len() - more.map_or(trimmed, str::trim_start).len();
    }

    fn eat(&mut self, mark: char) -> bool {
        let has = self.rest().starts_with(mark);
        self.at += if has { mark.len_utf8() } else { 0 };
        has
    }

    /// The name before an argument: `name=value`.
    fn argument_name(&mut self) -> Option<String> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0);
        let after = rest[end..].trim_start();
        let is_name = end > 0 && after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
        if !is_name || self.language != Language::Python {
            return None;
        }
        self.at = self.text.len() - after.len() + 1;
        self.skip_white();
        Some(rest[..end].to_owned())
    }

    /// A value up to the next comma or closing bracket: a literal, or any other expression. `None` if nothing
    /// ends it.
    fn element(&mut self) -> Option<Value> {
        let begin = self.at;
        if let Some(value) = self.literal() {
            self.skip_white();
            if self.rest().starts_with([',', ')', ']', '}', ':']) {
                return Some(value);
            }
        }
        self.at = begin;
        let has_end = self.skip_element();
        let text = self.text[begin..self.at].trim();
        (has_end && !text.is_empty()).then(|| Value::Other(text.to_owned()))
    }

    /// Goes to the next comma or closing bracket of this level. False if there is none.
    fn skip_element(&mut self) -> bool {
        let (mut depth, mut types) = (0_usize, 0_usize);
        while let Some(c) = self.rest().chars().next() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ',' if types > 0 => {}
                ')' | ']' | '}' | ',' if depth == 0 => return true,
                ')' | ']' | '}' => depth -= 1,
                // Types of a type: `Map<string, number>`.
                '<' if self.language == Language::TypeScript => {
                    let before = self.text[..self.at].chars().next_back();
                    types += usize::from(before.is_some_and(char::is_alphanumeric));
                }
                '>' if types > 0 && !self.text[..self.at].ends_with('=') => types -= 1,
                '"' | '\'' | '`' => {
                    let Some(length) = string_length(self.rest()) else { return false };
                    self.at += length;
                    continue;
                }
                _ => {}
            }
            self.at += c.len_utf8();
        }
        false
    }

    fn literal(&mut self) -> Option<Value> {
        self.depth += 1;
        let value = (self.depth <= DEEPEST).then(|| self.literal_here()).flatten();
        self.depth -= 1;
        value
    }

    fn literal_here(&mut self) -> Option<Value> {
        self.skip_white();
        let first = self.rest().chars().next()?;
        match first {
            '"' | '\'' => self.string().map(Value::Text),
            '[' => Some(Value::List(self.elements(']')?.0)),
            '(' if self.language == Language::Python => {
                let (mut all, has_comma) = self.elements(')')?;
                // Parentheses around one value are no tuple.
                if all.len() == 1 && !has_comma { all.pop() } else { Some(Value::Tuple(all)) }
            }
            '{' => self.braces(),
            '-' | '+' | '0'..='9' | '.' => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<Value> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let value = match (&rest[..end], self.language == Language::Python) {
            ("None", true) | ("null", false) => Value::None,
            ("True", true) | ("true", false) => Value::Bool(true),
            ("False", true) | ("false", false) => Value::Bool(false),
            ("set", true) if rest[end..].starts_with("()") => {
                self.at += 2;
                Value::Set(Vec::new())
            }
            ("undefined", false) => Value::Other("undefined".to_owned()),
            _ => return None,
        };
        self.at += end;
        Some(value)
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['-', '+']));
        let mut end = sign;
        for (at, c) in rest.char_indices().skip(sign) {
            let is_exponent = |at: usize| rest[..at].ends_with(['e', 'E']) && rest.as_bytes()[sign].is_ascii_digit();
            match c {
                '0'..='9' | '.' | '_' | 'e' | 'E' => {}
                '-' | '+' if is_exponent(at) => {}
                _ => break,
            }
            end = at + c.len_utf8();
        }
        // A full stop behind a number ends the sentence.
        let text = rest[..end].trim_end_matches('.');
        let text = if text.len() + 1 == end && !rest[end..].starts_with(char::is_whitespace) && end < rest.len() {
            &rest[..end]
        } else {
            text
        };
        let plain = text.replace('_', "");
        let is_whole = plain.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'+');
        let value = if is_whole {
            plain.parse().map(Value::Int).ok()
        } else {
            plain.parse().map(Value::Float).ok().filter(|_| plain.bytes().any(|b| b.is_ascii_digit()))
        };
        self.at += if value.is_some() { text.len() } else { 0 };
        value
    }

    /// A string in single or double quotes with the usual escapes.
    fn string(&mut self) -> Option<String> {
        let length = string_length(self.rest())?;
        let inside = self.rest().get(1..length - 1).filter(|_| !is_tripled(self.rest()))?;
        let mut out = String::new();
        let mut chars = inside.chars();
        while let Some(c) = chars.next() {
            out.push(match c {
                '\\' => match chars.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    mark @ ('\\' | '"' | '\'') => mark,
                    _ => return None,
                },
                c => c,
            });
        }
        self.at += length;
        Some(out)
    }

    /// The elements up to a closing bracket, and true if a comma is among them.
    fn elements(&mut self, close: char) -> Option<(Vec<Value>, bool)> {
        self.at += 1;
        let (mut all, mut has_comma) = (Vec::new(), false);
        loop {
            self.skip_white();
            if self.eat(close) {
                return Some((all, has_comma));
            }
            all.push(self.element()?);
            self.skip_white();
            if self.eat(',') {
                has_comma = true;
            } else if !self.rest().starts_with(close) {
                return None;
            }
        }
    }

    /// A dictionary or a set.
    fn braces(&mut self) -> Option<Value> {
        self.at += 1;
        let (mut keys, mut entries) = (Vec::new(), Vec::new());
        loop {
            self.skip_white();
            if self.eat('}') {
                break;
            }
            let key = self.key()?;
            self.skip_white();
            if self.eat(':') {
                self.skip_white();
                entries.push((key, self.element()?));
            } else {
                keys.push(key);
            }
            self.skip_white();
            if !self.eat(',') && !self.rest().starts_with('}') {
                return None;
            }
        }
        match (keys.is_empty(), entries.is_empty()) {
            (true, _) => Some(Value::Dict(entries)),
            (false, true) if self.language == Language::Python => Some(Value::Set(keys)),
            (false, _) => None,
        }
    }

    fn key(&mut self) -> Option<Value> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(0);
        if self.language != Language::Python && end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit()) {
            self.at += end;
            return Some(Value::Text(rest[..end].to_owned()));
        }
        self.literal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, language: Language) -> Vec<String> {
        let Some((all, end)) = arguments(text, 0, language) else { return vec!["unclosed".to_owned()] };
        assert_eq!(&text[end - 1..end], ")", "{text}");
        let one = |argument: Argument| {
            let name = argument.name.map(|name| name + "=").unwrap_or_default();
            let mark = if argument.value.has_other() { "?" } else { "" };
            format!("{mark}{name}{}", argument.value.written(language))
        };
        all.into_iter().map(one).collect()
    }

    #[test]
    fn arguments_are_read_and_written() {
        let python = |text: &str| read(text, Language::Python);
        assert_eq!(
            python("1, -2.5, 'a\\n\"b', k=[1, (2,), ()]) == 3"),
            ["1", "-2.5", "\"a\\n\\\"b\"", "k=[1, (2,), ()]"]
        );
        assert_eq!(
            python("{1: 'a', (1, 2): None}, {1, 2}, set(), {})"),
            ["{1: \"a\", (1, 2): None}", "{1, 2}", "set()", "{}"]
        );
        assert_eq!(
            python("x, f(1, 2), [1] * 3, (3), 2 ** 5, True)"),
            ["?x", "?f(1, 2)", "?[1] * 3", "3", "?2 ** 5", "True"]
        );
        assert_eq!(python("[1,\n    ...  2],\n)"), ["[1, 2]"]);
        assert_eq!(python(")"), [""; 0]);
        let long = format!("\"{}\")", "é".repeat(LONGEST));
        for unclosed in [long.as_str(), "1, 2", "[1, 2)", "'a", "1 2 3"] {
            assert_eq!(python(unclosed), ["unclosed"], "{unclosed}");
        }
        let javascript = |text: &str| read(text, Language::JavaScript);
        assert_eq!(
            javascript("{a: 1, 'b-c': [null, true]}, undefined, new Map())"),
            ["{\"a\": 1, \"b-c\": [null, true]}", "?undefined", "?new Map()"]
        );
        let keys = [Value::Int(-1), Value::Bool(true)].map(|key| (key, Value::None)).to_vec();
        assert_eq!(Value::Dict(keys).written(Language::JavaScript), "{\"-1\": null, \"true\": null}");
    }

    #[test]
    fn literals_end_where_the_sentence_goes_on() {
        let of = |text| literal(text, Language::Python).map(|(value, end)| (value.written(Language::Python), end));
        assert_eq!(of("3. And then"), Some(("3".to_owned(), 1)));
        assert_eq!(of("[1, 2], because"), Some(("[1, 2]".to_owned(), 6)));
        assert_eq!(of("-1e3 "), Some(("-1000.0".to_owned(), 4)));
        assert_eq!((of("the"), of("..."), of("-")), (None, None, None));
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in
            ["", "(", "\\", "'\\", "é, 'é'", "{é", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "1__e+", "{1:", "\u{1f600}="]
        {
            for language in [Language::Python, Language::JavaScript] {
                let _ = (arguments(text, 0, language), literal(text, language), parts(text, 0, language));
            }
        }
    }
}
