//! Values that the documentation of a function speaks of: `"a-b"`, `2024-05-17`, `["a", "b"]`, `112th`.

use std::collections::HashSet;

use super::kind::{Kind, Parameter, Way};
use super::value::{Value, arguments, literal};
use crate::language::Language;

/// Most values of a parameter that are taken from words.
const MOST: usize = 8;
/// A text that is put into others.
const PUT: &str = "Ann";
/// Longest quoted text, in bytes.
const LONGEST: usize = 40;

/// Names of parameters whose values are passed on to others.
const PASSED_ON: &[&str] = &["kwargs", "kwds", "kw", "options", "opts", "keywords"];

/// Words of documentation that can be values.
pub struct Words {
    language: Language,
    all: Vec<Word>,
    /// Names of what is put into texts, as it stands there: `{{name}}`.
    slots: Vec<Slot>,
    /// The user speaks of no value: `None`, `null`.
    takes_none: bool,
    /// The texts that the documentation quotes where it does not speak of what is refused.
    meant: Vec<Value>,
}

/// Parts of words by which a sentence speaks of what a function refuses.
const REFUSALS: [&str; 12] = [
    "error", "except", "fail", "illegal", "invalid", "malformed", " not ", "panic", "raise", "refus", "reject", "throw",
];

/// Names of no value.
const NONE: [&str; 3] = ["None", "null", "undefined"];

struct Slot {
    text: String,
    name: String,
}

struct Word {
    text: String,
    /// True for a text in quotes or backticks, and for a literal in brackets.
    is_quoted: bool,
    /// True for a literal in brackets that stands among the words of a sentence.
    is_bracketed: bool,
}

impl Words {
    /// The words of a head of a function of this name, but for the names of what it takes.
    pub fn of(language: Language, head: &str, name: &str, parameters: &[Parameter]) -> Self {
        // A docstring stands behind the name, a comment before it.
        let text = match language {
            Language::Python => behind_signature(head.split_once(name).map_or(head, |(_, after)| after)),
            _ => head.rsplit_once(name).map_or(head, |(before, _)| before),
        };
        let text = text.replace("\"\"\"", "\n").replace("'''", "\n");
        let quoted = quoted(language, &text).into_iter();
        let plain = plain(&text).map(|text| Word { text: text.to_owned(), is_quoted: false, is_bracketed: false });
        let mut seen: HashSet<String> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let all = quoted.chain(plain).filter(|word| seen.insert(word.text.clone())).collect();
        Self { language, all, slots: slots(language, &text), takes_none: false, meant: meant(language, &text) }
    }

    pub fn none(language: Language) -> Self {
        Self { language, all: Vec::new(), slots: Vec::new(), takes_none: false, meant: Vec::new() }
    }

    /// These words behind those of what the user wants of the function.
    pub fn with_wish(self, wish: &str) -> Self {
        let plain = plain(wish).map(|text| Word { text: text.to_owned(), is_quoted: false, is_bracketed: false });
        let all = quoted(self.language, wish).into_iter().chain(plain).chain(self.all).collect();
        let takes_none = wish.split(|c: char| !c.is_alphanumeric()).any(|word| NONE.contains(&word));
        Self { all, takes_none, ..self }
    }

    /// Returns true for arguments with a text that the function is for, by its documentation.
    pub fn are_meant(&self, given: &str) -> bool {
        let all = arguments(&format!("{given})"), 0, self.language).map_or_else(Vec::new, |(all, _)| all);
        all.iter().any(|argument| self.meant.contains(&argument.value))
    }

    /// Parameters for what is put into texts, of a function that takes anything by name; else any names.
    pub fn named(&self, head: &str) -> Vec<Parameter> {
        let Some((before, taken)) = head.split_once("**").filter(|_| self.language == Language::Python) else {
            return Vec::new();
        };
        let one =
            |name: &str, kind: Kind| Parameter { name: name.to_owned(), kind, has_default: true, way: Way::Named };
        let put = || Kind::Text.told(vec![Value::Text(PUT.to_owned())]);
        // Parameters of others may have no such names.
        let taken: String = taken.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let is_parameter = before.trim_end().ends_with(['(', ',']);
        let is_passed_on = !is_parameter || PASSED_ON.contains(&taken.as_str());
        let names: &[&str] = if is_passed_on || !self.slots.is_empty() { &[] } else { &["a", "b"] };
        let any = names.iter().map(|name| one(name, Kind::Text));
        self.slots.iter().map(|slot| one(&slot.name, put())).chain(any).collect()
    }

    /// A kind with the values of the words before its own. `is_open` says that only a name tells the kind.
    pub fn told(&self, kind: Kind, is_open: bool) -> Kind {
        let of = |word: &Word| {
            let fitting = self.values(word, &kind);
            if fitting.is_empty() && is_open && word.is_quoted { vec![self.literal(&word.text)] } else { fitting }
        };
        let mut all = self.of_slots(&kind);
        all.splice(..0, self.takes_none.then_some(Value::None));
        for value in self.all.iter().flat_map(of) {
            if !all.contains(&value) && all.len() < MOST {
                all.push(value);
            }
        }
        kind.told(all)
    }

    /// Texts with slots, or dictionaries with what is put into them.
    fn of_slots(&self, kind: &Kind) -> Vec<Value> {
        let Some(Slot { text, name }) = self.slots.first() else { return Vec::new() };
        let other = self.slots.get(1).map_or_else(|| text.replace(name, "other"), |slot| slot.text.clone());
        match kind {
            Kind::Text => {
                let all = [format!("Dear {text}!"), format!("{text}{other}, {text}"), other];
                all.map(Value::Text).to_vec()
            }
            Kind::Dict(key, _) if matches!(**key, Kind::Text | Kind::Unknown) => {
                let put = |slot: &Slot| (Value::Text(slot.name.clone()), Value::Text(PUT.to_owned()));
                vec![Value::Dict(self.slots.iter().map(put).collect()), Value::Dict(Vec::new())]
            }
            Kind::Told(_, kind) | Kind::Maybe(kind) => self.of_slots(kind),
            Kind::Either(one, other) => [one, other].into_iter().flat_map(|kind| self.of_slots(kind)).collect(),
            _ => Vec::new(),
        }
    }

    /// The values of this kind that a word tells.
    fn values(&self, word: &Word, kind: &Kind) -> Vec<Value> {
        let text = &word.text;
        match kind {
            Kind::Text if word.is_bracketed => Vec::new(),
            Kind::Text => vec![Value::Text(text.clone())],
            Kind::Int | Kind::Float => numbers(text, *kind == Kind::Int),
            Kind::Told(_, kind) | Kind::Maybe(kind) => self.values(word, kind),
            Kind::Either(one, other) => {
                let all = self.values(word, one);
                if all.is_empty() { self.values(word, other) } else { all }
            }
            kind => Some(self.literal(text)).filter(|value| fits(value, kind)).into_iter().collect(),
        }
    }

    /// The literal that a whole word is, or the text.
    fn literal(&self, text: &str) -> Value {
        let whole = literal(text, self.language).filter(|(_, length)| *length == text.len());
        whole.map_or_else(|| Value::Text(text.to_owned()), |(value, _)| value)
    }
}

/// The slots in texts of documentation: `{{name}}`, `${name}`, and in Python `{name}`.
fn slots(language: Language, text: &str) -> Vec<Slot> {
    let marks: &[(&str, &str)] = match language {
        Language::Python => &[("{{", "}}"), ("${", "}"), ("{", "}")],
        // Documentation has types in single braces.
        _ => &[("{{", "}}"), ("${", "}")],
    };
    let mut all: Vec<Slot> = Vec::new();
    for (open, close) in marks {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            rest = after;
            let Some((name, _)) = after.split_once(close) else { break };
            let is_name = name.trim().starts_with(char::is_alphabetic)
                && name.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name && all.iter().all(|slot| slot.name != name.trim()) {
                all.push(Slot { text: format!("{open}{name}{close}"), name: name.trim().to_owned() });
            }
        }
    }
    all
}

/// The text behind the colon that ends a signature.
fn behind_signature(text: &str) -> &str {
    let ends = |at: usize| text[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    text.match_indices(':').find(|(at, _)| ends(*at)).map_or(text, |(at, _)| &text[at + 1..])
}

/// Returns true if a value is of a kind that holds others.
fn fits(value: &Value, kind: &Kind) -> bool {
    let all = |values: &[Value], kind: &Kind| values.iter().all(|value| fits(value, kind));
    match (value, kind) {
        (_, Kind::Unknown)
        | (Value::Int(_), Kind::Int | Kind::Float)
        | (Value::Float(_), Kind::Float)
        | (Value::Text(_), Kind::Text)
        | (Value::Bool(_), Kind::Bool) => true,
        (Value::List(values) | Value::Tuple(values), Kind::Pair(_)) => values.len() == 2 && all(values, &Kind::Int),
        (Value::List(values), Kind::List(kind))
        | (Value::Set(values), Kind::Set(kind))
        | (Value::Tuple(values), Kind::Row(kind)) => all(values, kind),
        (Value::Tuple(values), Kind::Tuple(kinds)) => {
            values.len() == kinds.len() && values.iter().zip(kinds).all(|(value, kind)| fits(value, kind))
        }
        (Value::Dict(values), Kind::Dict(key, of)) => {
            values.iter().all(|(name, value)| fits(name, key) && fits(value, of))
        }
        (value, Kind::Told(_, kind) | Kind::Maybe(kind)) => fits(value, kind),
        (value, Kind::Either(one, other)) => fits(value, one) || fits(value, other),
        _ => false,
    }
}

/// The numbers that a word is, perhaps before letters: `1536`, `112th`, `1,234.50 EUR`. A whole number of a
/// decimal one has all its digits, or those before the point.
fn numbers(word: &str, is_whole: bool) -> Vec<Value> {
    let end = word.find(|c: char| !c.is_ascii_digit() && !".,-".contains(c)).unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    let digits = digits.trim_end_matches(['.', ',']).replace(',', "");
    if digits.is_empty() || !unit.trim().chars().all(|c| c.is_alphabetic() || "%$€£".contains(c)) {
        return Vec::new();
    }
    match (digits.parse::<i64>(), digits.parse::<f64>()) {
        (Ok(number), _) => vec![Value::Int(number)],
        (_, Ok(number)) if !is_whole => vec![Value::Float(number)],
        (_, Ok(_)) => {
            let whole = digits.split('.').next().unwrap_or_default().to_owned();
            [digits.replace('.', ""), whole].iter().filter_map(|text| text.parse().ok().map(Value::Int)).collect()
        }
        _ => Vec::new(),
    }
}

/// The texts in quotes and backticks, and the lists and other literals in brackets.
fn quoted(language: Language, text: &str) -> Vec<Word> {
    let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut all = Vec::new();
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        // Of names and calls brackets are no literals, and apostrophes no quotes.
        if is_inner(text[..at].chars().next_back()) {
            continue;
        }
        let bracketed = || literal(rest, language).filter(|(value, _)| holds(value));
        if "[({".contains(c)
            && let Some((_, length)) = bracketed()
        {
            all.push(Word { text: rest[..length].to_owned(), is_quoted: true, is_bracketed: true });
        }
        if at < end || !"`\"'".contains(c) {
            continue;
        }
        let line = rest[1..].lines().next().unwrap_or_default();
        let closing = line.match_indices(c).find(|(at, _)| !is_inner(line[at + 1..].chars().next()));
        if let Some((length, _)) = closing {
            let text = Some(line[..length].to_owned()).filter(|text| is_value(text));
            all.extend(text.map(|text| Word { text, is_quoted: true, is_bracketed: false }));
            end = at + length + 2;
        }
    }
    all
}

/// The texts in quotes of sentences that do not speak of what is refused.
fn meant(language: Language, text: &str) -> Vec<Value> {
    let is_of_refusal = |sentence: &&str| {
        let words = sentence.to_lowercase();
        REFUSALS.iter().any(|word| words.contains(word))
    };
    let sentences = text.split_inclusive(['.', ';']).filter(|sentence| !is_of_refusal(sentence));
    let quoted = sentences.flat_map(|sentence| quoted(language, sentence)).filter(|word| !word.is_bracketed);
    quoted.map(|word| Value::Text(word.text)).collect()
}

/// Returns true for a literal that holds others.
fn holds(value: &Value) -> bool {
    match value {
        Value::List(all) | Value::Tuple(all) | Value::Set(all) => !all.is_empty(),
        Value::Dict(all) => !all.is_empty(),
        _ => false,
    }
}

fn is_value(text: &str) -> bool {
    text.len() <= LONGEST && !text.trim().is_empty()
}

/// Words with marks inside, `#tags`, and numbers of several digits or before letters.
fn plain(text: &str) -> impl Iterator<Item = &str> {
    let is_marked = |word: &str| {
        let inner = |at: usize| {
            let (before, after) = (&word[..at], &word[at + 1..]);
            before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
        };
        word.len() > 3 && word.match_indices(['-', ':', '/', '.', '@', '=', '_', ',']).any(|(at, _)| inner(at))
    };
    let is_told = |word: &str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        let is_tagged = ["#", "@", "$"].contains(&first) && rest.chars().next().is_some_and(char::is_alphabetic);
        let digits = word.trim_end_matches(char::is_alphabetic);
        is_tagged || word.len() > 1 && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"/#@$".contains(c)));
    words.filter(move |word| is_marked(word) || is_told(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(language: Language, head: &str, kind: Kind, is_open: bool) -> Vec<String> {
        match Words::of(language, head, "f", &[]).told(kind, is_open) {
            Kind::Told(all, _) => all.iter().map(|value| value.written(language)).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn quoted_texts_are_what_a_function_is_for_but_not_those_that_it_refuses() {
        let head = "def f(t: str):\n    \"\"\"Seconds of a text like \"1h30m\", '45s' or\n    `2d`. Raises ValueError for \"x\"; \"y\" is not taken.\"\"\"\n";
        let words = Words::of(Language::Python, head, "f", &[]);
        let meant = |given: &str| words.are_meant(given);
        assert!(["'1h30m'", "\"45s\"", "\"2d\", 1", "1, t='2d'"].into_iter().all(meant));
        assert!(!["'x'", "'y'", "'1h'", "", "['2d']"].into_iter().any(meant));
    }

    #[test]
    fn texts_in_quotes_are_values() {
        let head = "def f(t: str):\n    \"\"\"A text's seconds, such as \"1h30m\", '45 s' or `2d`; don't ask.\"\"\"\n";
        assert_eq!(told(Language::Python, head, Kind::Text, false)[..3], ["\"1h30m\"", "\"45 s\"", "\"2d\""]);
        let seen = Kind::Told(vec![Value::Text("h".to_owned())], Box::new(Kind::Text));
        assert!(told(Language::Python, head, seen, false).ends_with(&["\"h\"".to_owned()]), "beside those of code");
        let head = "/** Parses (\"a=1&b=2\") to an object. */\nfunction f(qs";
        assert_eq!(told(Language::JavaScript, head, Kind::Int, true), ["\"a=1&b=2\""]);
        assert_eq!(told(Language::JavaScript, head, Kind::Int, false), [""; 0]);
    }

    #[test]
    fn literals_and_numbers_in_sentences_are_values() {
        let texts = || Kind::List(Box::new(Kind::Text));
        let head = "/** The prefix: [\"a/b/c\", \"a/b/d\"] -> \"a/b\" of xs[0] and [1, 2]. */\nconst f = (";
        assert_eq!(told(Language::TypeScript, head, texts(), false), ["[\"a/b/c\", \"a/b/d\"]"]);
        assert!(!told(Language::TypeScript, head, Kind::Text, false).concat().contains('['));
        let head = "def f(n):\n    \"\"\"1st, 112th, 121st and 2024-05-17.\"\"\"\n";
        assert_eq!(told(Language::Python, head, Kind::Int, false), ["1", "112", "121"]);
        let head = "/** Cents as \"1,234.50 EUR\". */\nfunction f(";
        assert_eq!(told(Language::JavaScript, head, Kind::Int, false), ["123450", "1234"]);
        assert_eq!(told(Language::JavaScript, head, Kind::Float, false), ["1234.5"]);
    }

    #[test]
    fn slots_of_texts_are_filled() {
        let head = "def f(t, values):\n    \"\"\"Replace {{name}} and {n + 1} in t.\"\"\"\n";
        let texts = ["\"Dear {{name}}!\"", "\"{{name}}{{other}}, {{name}}\"", "\"{{other}}\""];
        assert_eq!(told(Language::Python, head, Kind::Text, false)[..3], texts);
        let dict = || Kind::Dict(Box::new(Kind::Text), Box::default());
        assert_eq!(told(Language::Python, head, dict(), false), ["{\"name\": \"Ann\"}", "{}"]);
        let named = |head: &str| Words::of(Language::Python, head, "f", &[]).named(head);
        assert_eq!(named(head), []);
        assert_eq!(named(&head.replace("values", "**values"))[0].name, "name");
        let named = |head: &str| Words::none(Language::Python).named(head).len();
        assert_eq!(
            [named("def f(**values):"), named("def f(g, **kwargs):"), named("def f(x):\n '**All** of x'")],
            [2, 0, 0]
        );
        let head = "/** Fills ${user}.\n * @param {string} t */\nfunction f(t";
        assert_eq!(told(Language::JavaScript, head, Kind::Text, false)[0], "\"Dear ${user}!\"");
        assert!(!told(Language::JavaScript, &head.replace('$', ""), Kind::Text, false).concat().contains("user"));
    }
}
