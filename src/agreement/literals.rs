//! Values that candidates' own code speaks of: the texts and numbers that it compares with, and the names of
//! the fields that it reads. On such values candidates differ.

use std::collections::HashMap;

use super::annotation::dates;
use super::kind::{Kind, PROMISE, Parameter, Way};
use super::value::Value;
use crate::code::{Word, words};
use crate::language::Language;

/// Most literals of a kind that are made values of.
const MOST: usize = 4;
/// Longest text that is no message, in bytes.
const LONGEST: usize = 20;
/// Numbers that typical values have anyway.
const SMALLEST: i64 = 3;
/// Largest number that is made of one: as many steps are made in the time of a call.
const LARGEST: i64 = 2_000_000;
/// Methods that take the name of a field.
const READS: [&str; 4] = ["get", "pop", "setdefault", "has"];
/// Methods and functions by which code shows what a parameter is.
const OF_TEXT: &[&str] = &[
    "split", "strip", "lstrip", "rstrip", "lower", "upper", "title", "startswith", "endswith", "replace", "splitlines",
    "isdigit", "isalpha", "encode", "partition", "rpartition", "rsplit", "casefold", "capitalize", "swapcase",
    "isalnum", "isspace", "isupper", "islower", "zfill", "ljust", "rjust", "removeprefix", "removesuffix",
    "toLowerCase", "toUpperCase", "trim", "charAt", "charCodeAt", "startsWith", "endsWith", "padStart", "padEnd",
    "replaceAll", "match", "substring", "substr", "codePointAt", "localeCompare", "trimStart", "trimEnd", "matchAll",
];
const OF_LIST: &[&str] = &[
    "append", "extend", "insert", "push", "map", "filter", "forEach", "reduce", "some", "every", "find", "sort",
    "flatMap",
];
const OF_DICT: &[&str] = &["items", "keys", "values", "update"];
/// Methods by which Python's dictionaries are read.
const OF_PYTHONS_DICT: &[&str] = &["get", "setdefault", "popitem"];
const OF_DATE: &[&str] = &[
    "getFullYear", "getMonth", "getDate", "getDay", "getTime", "getHours", "getMinutes", "getSeconds", "toISOString",
    "getUTCFullYear", "getUTCMonth", "getUTCDate", "getUTCDay", "getUTCHours", "toLocaleDateString", "strftime",
    "isoformat", "weekday", "isoweekday", "isocalendar",
];

/// Names behind a dot that are no fields of an object's own.
const NO_FIELDS: [&str; 6] = ["length", "size", "prototype", "constructor", "name", "message"];

/// The literals of the bodies.
#[derive(Debug, Default)]
pub struct Literals {
    texts: Vec<String>,
    numbers: Vec<i64>,
    /// Fields that are read, by the name of what they are read from.
    fields: HashMap<String, Vec<String>>,
    /// Texts that are asked for in something: `"name" in row`.
    members: Vec<String>,
    /// Marks in longer texts, such as patterns.
    marks: Vec<String>,
    /// Kinds of names, as methods and comparisons show them.
    kinds: HashMap<String, Kind>,
    /// Texts that a name is compared with.
    compared: HashMap<String, Vec<String>>,
}

impl Literals {
    /// The literals of these bodies, those of most bodies first.
    pub fn of(language: Language, bodies: &[&str]) -> Self {
        let (mut texts, mut numbers) = (Counted::default(), Counted::default());
        let mut fields: HashMap<String, Counted<String>> = HashMap::new();
        let (mut marks, mut kinds) = (Counted::default(), HashMap::new());
        let (mut compared, mut members) = (HashMap::<String, Counted<String>>::new(), Counted::default());
        for (body, text) in bodies.iter().enumerate() {
            let all = words(language, text);
            for (at, word) in all.iter().enumerate() {
                let before = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
                let is_mark = |back, mark| before(back).is_some_and(|word: &Word| word.is(mark));
                let owner = |back| before(back).and_then(Word::name);
                match word {
                    Word::Text(text) => {
                        let is_read = is_mark(1, '(') && owner(2).is_some_and(|name| READS.contains(&name));
                        let from = match (is_mark(1, '['), is_read && is_mark(3, '.')) {
                            (true, _) => owner(2),
                            (_, true) => owner(4),
                            _ => None,
                        };
                        let is_asked =
                            all.get(at + 1).and_then(Word::name).is_some_and(|word| ["in", "not"].contains(&word));
                        if is_asked && is_name(text) {
                            members.add(body, text.clone());
                        }
                        match from {
                            Some(from) => fields.entry(from.to_owned()).or_default().add(body, text.clone()),
                            None if is_value(text) => texts.add(body, text.clone()),
                            None => marks_in(text).for_each(|mark| marks.add(body, mark)),
                        }
                        // `name == "text"`
                        let back = (1..5).find(|&back| !is_mark(back, '=') && !is_mark(back, '!'));
                        // The name of a type is none of its values.
                        let back = back.filter(|back| *back > 2 && owner(back + 1) != Some("typeof"));
                        let compared_name = back.and_then(|back| match (before(back)?, before(back + 1)) {
                            // `row["name"] == "text"`
                            (Word::Mark(']'), Some(Word::Text(key))) => Some(key.as_str()),
                            (word, _) => word.name(),
                        });
                        if let Some(name) = compared_name {
                            show(&mut kinds, name, Kind::Text);
                            compared.entry(name.to_owned()).or_default().add(body, text.clone());
                        }
                    }
                    Word::Name(name) => {
                        let is_called = all.get(at + 1).is_some_and(|word| word.is('('));
                        let kind = kind_of_method(language, name).filter(|_| is_called && is_mark(1, '.'));
                        if let Some((from, kind)) = owner(2).zip(kind).or_else(|| kind_asked(&all[..=at])) {
                            show(&mut kinds, from, kind);
                        }
                        let is_awaited = owner(1) == Some("await");
                        if let Some(kind) = kind_of_use(language, &all[at..], is_awaited).filter(|_| !is_mark(1, '.')) {
                            show(&mut kinds, name, kind);
                        }
                        if let Ok(number) = name.replace('_', "").parse::<i64>() {
                            // Of a decimal fraction each half is a word.
                            let is_whole = !is_mark(1, '.') && !all.get(at + 1).is_some_and(|word| word.is('.'));
                            if is_whole && number >= SMALLEST {
                                numbers.add(body, number);
                            }
                        } else if language.is_kin(Language::JavaScript) && is_mark(1, '.') {
                            // `name?.field`
                            let from = if is_mark(2, '?') { owner(3) } else { owner(2) };
                            if let Some(from) = from.filter(|_| !is_called && !NO_FIELDS.contains(&&**name)) {
                                fields.entry(from.to_owned()).or_default().add(body, name.clone());
                            }
                        }
                    }
                    Word::Mark(_) | Word::End => {}
                }
            }
        }
        if language.is_kin(Language::JavaScript) {
            for (body, text) in bodies.iter().enumerate() {
                for (from, names) in taken_apart(&words(language, text)) {
                    let known = fields.entry(from).or_default();
                    for name in names {
                        known.add(body, name);
                    }
                }
            }
        }
        let fields = fields.into_iter().map(|(from, all)| (from, all.sorted())).collect();
        let compared = compared.into_iter().map(|(name, all)| (name, all.sorted())).collect();
        Self {
            texts: texts.sorted(),
            numbers: numbers.sorted(),
            fields,
            members: members.sorted(),
            marks: marks.sorted(),
            kinds,
            compared,
        }
    }

    /// Returns true if these speak of something that `others` do not.
    pub fn has_more_than(&self, others: &Self) -> bool {
        let fields = |literals: &Self| literals.fields.values().flatten().cloned().collect::<Vec<_>>();
        let known = fields(others);
        self.texts.iter().chain(&self.marks).any(|text| !others.texts.contains(text) && !others.marks.contains(text))
            || self.numbers.iter().any(|number| !others.numbers.contains(number))
            || fields(self).iter().any(|field| !known.contains(field))
            || self.kinds.keys().any(|name| !others.kinds.contains_key(name))
    }

    /// Returns true if code shows the kind of what has this name.
    pub fn shows(&self, name: &str) -> bool {
        self.kinds.contains_key(name)
    }

    /// The fields that are read of what is none of these parameters.
    pub fn columns(&self, parameters: &[Parameter]) -> Vec<String> {
        let is_other = |from: &&String| parameters.iter().all(|parameter| parameter.name != **from);
        let from = self.fields.keys().filter(is_other).max_by_key(|from| (self.fields[*from].len(), *from));
        from.map(|from| self.fields[from].clone()).unwrap_or_default()
    }

    /// The parameter with values made of the literals before its own. `is_guessed` says that only its name tells
    /// its kind.
    pub fn told(&self, parameter: Parameter, is_guessed: bool) -> Parameter {
        let own = self.fields.get(&parameter.name);
        let is_open = is_guessed || parameter.kind == Kind::Function;
        let shown = self.kinds.get(&parameter.name).filter(|_| is_open && !matches!(parameter.kind, Kind::Path(_)));
        let kind = shown.unwrap_or(&parameter.kind).clone();
        let compared = self.compared.get(&parameter.name).filter(|_| matches!(kind, Kind::Text | Kind::Path(_)));
        let kind = if let Some(texts) = compared {
            kind.told(texts.iter().take(2 * MOST).cloned().map(Value::Text).collect())
        } else {
            // A method of lists says nothing of their elements.
            let is_open = is_guessed && shown.is_none_or(|kind| *kind != Kind::Text);
            self.kind(kind, own.map(|fields| (parameter.name.as_str(), fields.as_slice())), is_open)
        };
        Parameter { kind, ..parameter }
    }

    /// The kind with values made of the literals, and of the fields that are read from a name.
    fn kind(&self, kind: Kind, own: Option<(&str, &[String])>, is_guessed: bool) -> Kind {
        let within = |kind: Kind| self.kind(kind, None, false);
        match (kind, own) {
            (Kind::Dict(key, value), own) if matches!(*key, Kind::Text | Kind::Unknown) => {
                let fields = own.map(|(name, fields)| self.object(name, fields)).or_else(|| self.of_others(""));
                let fields = fields.or_else(|| (!self.members.is_empty()).then(|| self.fields_of(&self.members)));
                let whole = Kind::Dict(key, value);
                fields.map_or(whole.clone(), |fields| Kind::Either(Box::new(fields), Box::new(whole)))
            }
            (Kind::Int | Kind::Unknown, Some((name, own))) if is_guessed => {
                Kind::Maybe(Box::new(self.object(name, own)))
            }
            (kind, Some((name, own))) if is_guessed => Kind::Either(Box::new(self.object(name, own)), Box::new(kind)),
            (Kind::List(each), None) if (is_guessed || *each == Kind::Unknown) && self.of_others("").is_some() => {
                let fields = self.of_others("").unwrap_or_default();
                Kind::Either(Box::new(Kind::List(Box::new(fields))), Box::new(Kind::List(Box::new(within(*each)))))
            }
            (Kind::New(callee, all), _) => {
                Kind::New(callee, all.into_iter().map(|parameter| self.told(parameter, false)).collect())
            }
            (Kind::Text, _) => Kind::Text.told(self.made_texts().into_iter().map(Value::Text).collect()),
            (kind @ (Kind::Int | Kind::Float | Kind::Unknown), _) => {
                kind.told(self.made_numbers().into_iter().map(Value::Int).collect())
            }
            // It has values already.
            (kind @ Kind::Told(..), _) => kind,
            (kind, _) => kind.with_inside(&within),
        }
    }

    /// Objects with the fields that are read from what is no parameter, such as the elements of one, and not
    /// from this name.
    fn of_others(&self, name: &str) -> Option<Kind> {
        let is_value = |from: &&String| *from != name && !from.starts_with(char::is_uppercase);
        let mut all: Vec<&String> = self.fields.keys().filter(is_value).collect();
        all.sort_by_key(|from| (std::cmp::Reverse(self.fields[*from].len()), self.fields[*from].first(), *from));
        all.first().map(|from| self.fields_of(&self.fields[*from]))
    }

    /// Objects with these fields of a name. Lists in them have objects with the fields that others have.
    fn object(&self, name: &str, fields: &[String]) -> Kind {
        let Kind::Fields(mut all) = self.fields_of(fields) else { return Kind::Unknown };
        for field in &mut all {
            let is_list = |kind: &Kind| matches!(kind, Kind::List(_));
            let is_listed = is_list(&field.kind) || self.kinds.get(&field.name).is_some_and(is_list);
            if let Some(fields) = self.of_others(name).filter(|_| is_listed) {
                field.kind = Kind::List(Box::new(fields));
            }
        }
        Kind::Fields(all)
    }

    /// Objects with these fields. One that is compared with texts has these.
    fn fields_of(&self, names: &[String]) -> Kind {
        let one = |name: &String| {
            let told =
                |texts: &Vec<String>| Kind::Text.told(texts.iter().take(MOST).cloned().map(Value::Text).collect());
            let kind = self.compared.get(name).map_or_else(|| Kind::of_name(name), told);
            Parameter { name: name.clone(), kind, way: Way::Named, ..Parameter::default() }
        };
        Kind::Fields(names.iter().map(one).collect())
    }

    /// Texts with the literals: marks between words and around them, words alone and before others.
    fn made_texts(&self) -> Vec<String> {
        let is_mark = |text: &&String| !text.chars().any(char::is_alphanumeric);
        let (mut marks, words): (Vec<&String>, Vec<&String>) = self.texts.iter().partition(is_mark);
        marks.extend(self.marks.iter().filter(|mark| !self.texts.contains(mark)));
        let mut all = Vec::new();
        if let [one, other, ..] = marks[..] {
            all.push(format!("a{one}b{other}c{one}d"));
        }
        for mark in marks.into_iter().filter(|mark| !mark.trim().is_empty()).take(MOST) {
            all.extend([format!("a{mark}b"), format!("{mark}ab {mark}c d"), format!("x{mark}{mark}y")]);
        }
        for word in words.into_iter().take(MOST) {
            all.extend([word.clone(), format!("{word} a{word}")]);
        }
        all
    }

    /// Numbers at and beside the literals, and between them and their multiples.
    fn made_numbers(&self) -> Vec<i64> {
        let around = |&n: &i64| [n, n - 1, n + 1, n.saturating_add(n / 2), n.saturating_mul(n)];
        self.numbers.iter().take(MOST).flat_map(around).filter(|&number| number <= LARGEST).collect()
    }
}

/// Returns true for a text that code compares with, and not one that it says.
fn is_value(text: &str) -> bool {
    let is_short = !text.is_empty() && text.len() <= LONGEST && text.split_whitespace().count() <= 2;
    is_short && !text.contains(['{', '}', '%', '\\']) && !text.chars().any(|c| c.is_control() && c != '\n')
}

/// Returns true for a text that could be the name of a field.
fn is_name(text: &str) -> bool {
    text.len() > 1 && text.starts_with(char::is_alphabetic) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Marks that separate parts of texts, in a pattern or a longer text.
fn marks_in(text: &str) -> impl Iterator<Item = String> {
    let all = ["#", "@", "/", ":", ";", "=", "&", ",", "-", "_", "~", "<"];
    let is_pattern = text.contains('\\');
    all.into_iter().filter(move |mark| is_pattern && text.contains(mark)).map(str::to_owned)
}

/// The names of fields in patterns that take objects apart, with the name of the object if it has one:
/// `for ({ a, b } of all)`, `({ a }) =>`, `{ a = 1 } = options`.
fn taken_apart(words: &[Word]) -> Vec<(String, Vec<String>)> {
    let is = |at: usize, mark| words.get(at).is_some_and(|word: &Word| word.is(mark));
    let mut all = Vec::new();
    for begin in (0..words.len()).filter(|&at| is(at, '{')) {
        let (mut at, mut depth, mut names) = (begin, 0_usize, Vec::new());
        while at < words.len() {
            match &words[at] {
                Word::Mark('{' | '(' | '[') => depth += 1,
                Word::Mark('}' | ')' | ']') if depth == 1 => break,
                Word::Mark('}' | ')' | ']') => depth -= 1,
                Word::Name(name) if depth == 1 && (is(at - 1, '{') || is(at - 1, ',')) => names.push(name.clone()),
                _ => {}
            }
            at += 1;
        }
        let is_arrow = is(at + 1, ')') && is(at + 2, '=') && is(at + 3, '>');
        match (words.get(at + 1), words.get(at + 2)) {
            (Some(Word::Name(of)), _) if of == "of" => all.push((String::new(), names)),
            _ if is_arrow => all.push((String::new(), names)),
            (Some(Word::Mark('=')), Some(Word::Name(from))) => all.push((from.clone(), names)),
            _ => {}
        }
    }
    all
}

/// Notes that a name is of a kind. Code may take lists, dictionaries and dates.
fn show(kinds: &mut HashMap<String, Kind>, name: &str, kind: Kind) {
    match kinds.get_mut(name) {
        None => drop(kinds.insert(name.to_owned(), kind)),
        Some(known) if holds(known) && holds(&kind) && !has(known, &kind) => {
            *known = Kind::Either(Box::new(std::mem::take(known)), Box::new(kind));
        }
        Some(_) => {}
    }
}

/// Returns true for kinds of values that code tells apart before it goes on.
fn holds(kind: &Kind) -> bool {
    matches!(kind, Kind::List(_) | Kind::Dict(..) | Kind::OneOf(_) | Kind::Either(..))
}

/// Returns true if a kind is like the other one, or one of two that are.
fn has(known: &Kind, kind: &Kind) -> bool {
    match known {
        Kind::Either(one, other) => has(one, kind) || has(other, kind),
        known => std::mem::discriminant(known) == std::mem::discriminant(kind),
    }
}

/// The name that words end with a question about, and the kind that is asked for: `isinstance(a, dict)`,
/// `Array.isArray(a)`, `Object.entries(a)`, `a instanceof Date`.
fn kind_asked(words: &[Word]) -> Option<(&str, Kind)> {
    if let [.., of, question, class] = words
        && question.name() == Some("instanceof")
    {
        return of.name().zip((class.name() == Some("Date")).then(|| dates(Language::JavaScript)));
    }
    let [.., first, mark, middle, _, last] = words else { return None };
    let (first, middle, last) = (first.name()?, middle.name()?, last.name()?);
    let dict = Kind::Dict(Box::new(Kind::Text), Box::new(Kind::Int));
    let list = Kind::List(Box::new(Kind::Int));
    match (first, middle, last) {
        ("isinstance", of, "dict") if mark.is('(') => Some((of, dict)),
        ("isinstance", of, "list") if mark.is('(') => Some((of, list)),
        ("Object", "entries" | "keys" | "values", of) if mark.is('.') => Some((of, dict)),
        ("Array", "isArray", of) if mark.is('.') => Some((of, list)),
        _ => None,
    }
}

/// The kind of the name that words begin with: it is divided, and by no part of a path, or called without
/// arguments.
fn kind_of_use(language: Language, words: &[Word], is_awaited: bool) -> Option<Kind> {
    let is_awaited = is_awaited && language != Language::Python;
    match words {
        [_, Word::Mark('/'), next, ..] if !matches!(next, Word::Text(_)) => Some(Kind::Int),
        [_, Word::Mark('('), Word::Mark(')'), ..] if is_awaited => {
            Some(Kind::Gives(Box::new(Kind::From(PROMISE.to_owned(), Box::default()))))
        }
        [_, Word::Mark('('), Word::Mark(')'), ..] => Some(Kind::Gives(Box::default())),
        _ => None,
    }
}

/// The kind of what has a method.
fn kind_of_method(language: Language, name: &str) -> Option<Kind> {
    let is_of_dict = OF_DICT.contains(&name) || language == Language::Python && OF_PYTHONS_DICT.contains(&name);
    match name {
        "find" if language == Language::Python => Some(Kind::Text),
        _ if OF_TEXT.contains(&name) => Some(Kind::Text),
        _ if OF_LIST.contains(&name) => Some(Kind::List(Box::new(Kind::Int))),
        _ if is_of_dict => Some(Kind::Dict(Box::new(Kind::Text), Box::new(Kind::Int))),
        _ if OF_DATE.contains(&name) => Some(dates(language)),
        _ => None,
    }
}

/// Values with the bodies that they are in, in the order in which they were found.
#[derive(Debug)]
struct Counted<T>(Vec<(T, usize, usize)>);

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: PartialEq> Counted<T> {
    fn add(&mut self, body: usize, value: T) {
        match self.0.iter_mut().find(|(own, ..)| *own == value) {
            // A body counts once.
            Some((_, last, count)) => *count += usize::from(std::mem::replace(last, body) != body),
            None => self.0.push((value, body, 1)),
        }
    }

    fn sorted(mut self) -> Vec<T> {
        self.0.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        self.0.into_iter().map(|(value, ..)| value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(language: Language, bodies: &[&str], name: &str, kind: Kind, is_guessed: bool) -> Vec<String> {
        let literals = Literals::of(language, bodies);
        let told = literals.told(Parameter { name: name.to_owned(), kind, ..Parameter::default() }, is_guessed).kind;
        (0..40).map(|number| told.typical(number).written(language)).collect()
    }

    #[test]
    fn candidates_are_given_the_values_that_they_compare_with() {
        let bodies = [
            "    return [w[1:] for w in t.split() if w.startswith('#')]\n",
            "    # '?'\n    raise E('no such thing here')\n",
        ];
        let all = values(Language::Python, &bodies, "t", Kind::Text, false);
        assert!(all.contains(&"\"#ab #c d\"".to_owned()) && !all.iter().any(|text| text.contains('?')), "{all:?}");
        let all = values(Language::Python, &["    while n >= 1024:\n        n /= 1024.0\n"], "n", Kind::Int, true);
        assert_eq!([&all[0], &all[2], &all[4], &all[6]], ["1024", "1023", "1025", "1536"]);
        let prime = values(Language::Python, &["    return n % 1000000007\n"], "n", Kind::Int, true);
        assert!(!prime.iter().any(|number| number.len() > 7), "calls would take too long: {prime:?}");
        let all = values(Language::Python, &["    return a.find('std')\n"], "a", Kind::Int, true);
        assert!(all.contains(&"\"racecar\"".to_owned()) && !all.contains(&"[]".to_owned()), "{all:?}");
        let paid = "    return [o for o in orders if o['status'] == 'paid']\n";
        let all = values(Language::Python, &[paid], "orders", Kind::List(Box::default()), false);
        assert!(all.iter().any(|orders| orders.contains("\"status\": \"paid\"")), "{all:?}");
        let asked = "    return [r for r in rows if 'amount' not in r]\n";
        let row = Kind::Dict(Box::new(Kind::Text), Box::default());
        let all = values(Language::Python, &[asked], "rows", Kind::List(Box::new(row)), false);
        assert!(all.iter().any(|rows| rows.contains("\"amount\": ")), "{all:?}");
        let all =
            values(Language::JavaScript, &["  if (m === 'GET' && p === \"/a\") return 1;\n"], "m", Kind::Text, true);
        assert!(all.contains(&"\"GET\"".to_owned()) && !all.contains(&"\"/a\"".to_owned()), "{all:?}");
    }

    fn list_of_ints() -> Kind {
        Kind::List(Box::new(Kind::Int))
    }

    #[test]
    fn kinds_are_those_that_the_code_shows() {
        let handle = "  if (method !== 'GET') return 405;\n  if (path === '/a') return payload.map(f);\n";
        let one = |name: &str| values(Language::JavaScript, &[handle], name, Kind::Int, true);
        assert!(one("method").contains(&"\"GET\"".to_owned()) && one("payload")[1].starts_with('['));
        assert_eq!((one("other")[1].as_str(), one("path")[0].as_str()), ("0", "\"/a\""), "not what others are");
        for (language, body, value) in [
            (Language::Python, "    return full.rpartition(' ')\n", "\"\""),
            (Language::Python, "    return full.get(key, 0)\n", "{}"),
            (Language::JavaScript, "  return full.getFullYear();\n", "new Date(\"2024-02-29T13:45:00Z\")"),
        ] {
            let all = values(language, &[body], "full", Kind::Int, true);
            assert!(all.contains(&value.to_owned()), "{body}: {all:?}");
        }
        let clone = "  if (typeof v !== 'object') return v;\n  if (Array.isArray(v)) return v.map(f);\n  return Object.keys(v);\n";
        let all = values(Language::JavaScript, &[clone], "v", Kind::Int, true);
        assert_eq!(all[..2], ["[]", "{}"]);
        let clone = format!("  if (v instanceof Date) return new Date(v);\n{clone}");
        let all = values(Language::JavaScript, &[&clone], "v", Kind::Int, true);
        assert!(all.contains(&"new Date(0)".to_owned()) && all.contains(&"[]".to_owned()), "{all:?}");
        let all = values(Language::Python, &["    return isinstance(v, dict) and v\n"], "v", Kind::Int, true);
        assert_eq!(all[0], "{}");
        let more = ["a.split()", "b.strip()"].map(|body| Literals::of(Language::Python, &[body]));
        assert!(more[0].has_more_than(&more[1]) && !more[0].has_more_than(&more[0]));
        let retry = ["  try { return await fn(); } catch (e) { again = true; }\n"];
        let all = values(Language::JavaScript, &retry, "fn", Kind::Function, false);
        assert!(all[0].starts_with("() => (Promise.resolve(") && all[1].starts_with("async () => { throw"), "{all:?}");
        assert_eq!(values(Language::JavaScript, &["  return cents / d;\n"], "cents", list_of_ints(), true)[2], "2");
        let pattern = "    return set(re.findall(r\"#(\\w+)\", text))\n";
        assert!(values(Language::Python, &[pattern], "text", Kind::Text, false).contains(&"\"#ab #c d\"".to_owned()));
        let path = Parameter { name: "path".to_owned(), kind: Kind::Text, ..Parameter::default() };
        let entry = Kind::New("Entry".to_owned(), vec![path]);
        let all = values(Language::Python, &["    return e.path.split('?')[0]\n"], "e", entry, false);
        assert!(all.contains(&"Entry(\"a?b\")".to_owned()), "{all:?}");
    }

    #[test]
    fn fields_that_candidates_read_are_there() {
        let all = values(Language::Python, &["    return a['x'] + a.get('names', 0)\n"], "a", Kind::Int, true);
        assert!(all[2].starts_with("{\"x\": ") && all[2].contains("\"names\": ["), "{all:?}");
        let body = "    return sum(o['total'] for o in orders)\n";
        let list = || Kind::List(Box::new(Kind::Int));
        let all = values(Language::Python, &[body], "orders", list(), true);
        assert!(all.contains(&"[{\"total\": 2}]".to_owned()), "{all:?}");
        assert!(!values(Language::Python, &[body], "orders", list(), false).iter().any(|text| text.contains("total")));
        let all =
            values(Language::JavaScript, &["  return user?.age > 17 && user.tags.map(f);\n"], "user", Kind::Int, true);
        assert!(all[0].contains("\"age\": ") && all[0].contains("\"tags\": ["), "{all:?}");
    }

    #[test]
    fn elements_have_the_fields_that_are_read_of_them() {
        let list = || Kind::List(Box::new(Kind::Int));
        let body = "  return items.sort((a, b) => a.price - b.price);\n";
        let all = values(Language::JavaScript, &[body], "items", list(), true);
        assert!(all.contains(&"[{\"price\": 2}]".to_owned()), "{all:?}");
        let all = values(Language::JavaScript, &[body], "items", Kind::List(Box::new(Kind::Unknown)), false);
        assert!(all.contains(&"[{\"price\": 2}]".to_owned()), "{all:?}");
        let bodies = ["  for (const { price, qty = 1 } of cart.items) t += price * qty;\n  const x = Math.PI;\n"];
        let all = values(Language::JavaScript, &bodies, "cart", Kind::Int, true);
        assert!(all.iter().any(|text| text.starts_with("{\"items\": [{\"price\": 2, \"qty\": ")), "{all:?}");
        let bodies = ["    return sum(i['price'] * i['qty'] for i in cart['items'])\n"];
        let all = values(Language::Python, &bodies, "cart", Kind::Int, true);
        assert!(all.iter().any(|text| text.starts_with("{\"items\": [{\"price\": 2, \"qty\": ")), "{all:?}");
    }
}
