//! The parameters, results and receiver in the head of a function, and statements that fit a body under the
//! head of an answer to that of the file.

use super::answer::RequestedFunction;
use super::target::last_name;
use super::words::{names, words};
use super::{rules, text, without_comments};
use crate::language::Language;

impl RequestedFunction {
    /// A body that stands under `answer_head`, with statements that make it one of the file's head. `is_all`:
    /// none of it is to come.
    pub(super) fn under_own_head(&self, answer_head: &str, body: String, is_all: bool) -> String {
        let body = if self.language == Language::Go { self.with_results(answer_head, body, is_all) } else { body };
        let body = self.with_parameters(answer_head, body, is_all);
        if self.language == Language::Go { self.with_receiver(answer_head, body) } else { body }
    }

    /// A body that uses the parameters of another head, with those of the file's own made so.
    fn with_parameters(&self, answer_head: &str, body: String, is_all: bool) -> String {
        let (language, name) = (self.language, last_name(&self.name));
        let (own, new) = (parameters(language, &self.head, name), parameters(language, answer_head, name));
        if own == new || own.len() > new.len() {
            return body;
        }
        let used = names(language, &body);
        let (added, of_own) = (&new[own.len()..], own.iter().map(|own| own.pattern.clone()).collect::<Vec<_>>());
        if added.iter().any(|parameter| parameter.default.is_none()) {
            return body;
        }
        let words = words(language, &body);
        let calls = |at: usize| words[at].name() == Some(name) && words.get(at + 1).is_some_and(|next| next.is('('));
        if !added.is_empty() && (0..words.len()).any(calls) {
            // It gives them to itself.
            let inner = self.inner_function(answer_head, &body, &of_own).filter(|_| is_all);
            return inner.unwrap_or(body);
        }
        let is_used = |name: &str| used.contains(name);
        let is_other = |name: &str| used.contains(name) && !of_own.iter().any(|own| own == name);
        let mut statements: Vec<String> = Vec::new();
        for (own, new) in own.iter().zip(&new) {
            let is_same = own.pattern == new.pattern;
            statements.extend(new.of(own, language, if is_same { &is_used } else { &is_other }));
        }
        let added = added.iter().filter(|parameter| parameter.is_used(language, &is_used));
        statements.extend(added.filter_map(|parameter| parameter.added(language)));
        let lines: String = statements.into_iter().map(|statement| statement + "\n").collect();
        text::indented(&lines, &self.inner) + &body
    }

    /// A body that calls the answer's function, which stands in it.
    fn inner_function(&self, head: &str, body: &str, own: &[String]) -> Option<String> {
        let unit = Some(self.unit()).filter(|unit| !unit.is_empty())?;
        let white = text::white(head, 0);
        let head: Vec<&str> = head.trim_end().lines().map(|line| line.strip_prefix(white).unwrap_or(line)).collect();
        let begins = |line: &&str| ["def ", "function ", "export "].iter().any(|word| line.starts_with(word));
        let head = head.get(head.iter().position(begins)?..)?.join("\n");
        let head = head.trim_start_matches("export ").trim_start_matches("default ");
        let is_plain = head.starts_with("def ") || head.starts_with("function ");
        // A method gives them to itself in another way, and so does a generator.
        if !is_plain || own.iter().any(|name| name == "self" || name == "cls") || self.head.contains("**") {
            return None;
        }
        let is_python = self.language == Language::Python;
        let ends = |text: &str| (rules::of(self.language).function_end)(text::width(&self.outer), text).is_some();
        let close = if is_python || ends(body) { String::new() } else { format!("{}}}\n", self.inner) };
        let (call, end) =
            ([last_name(&self.name), "(", &own.join(", "), ")"].concat(), if is_python { "" } else { ";" });
        let (head, body) = (text::indented(head, &self.inner), text::indented(body.trim_end_matches('\n'), unit));
        Some(format!("{head}\n{body}\n{close}{}return {call}{end}\n", self.inner))
    }

    /// A body of Go that uses another name for the receiver, with a statement that makes it one.
    fn with_receiver(&self, head: &str, body: String) -> String {
        let Some((own, new)) = self.receiver(&self.head).zip(self.receiver(head)) else { return body };
        let is_own = |new: &str| {
            parameters(self.language, &self.head, last_name(&self.name)).iter().any(|own| own.pattern == new)
        };
        let is_used = || names(self.language, &body).contains(&new) && !is_own(&new);
        if own != new && is_used() { format!("{}{new} := {own}\n{body}", self.inner) } else { body }
    }

    /// A body of Go that uses names of its results, which the file's head does not have, in a function that
    /// has them.
    fn with_results(&self, head: &str, body: String, is_all: bool) -> String {
        let name = last_name(&self.name);
        let (own, new) = (results(&self.head, name), results(head, name));
        let ((of_own, false), (of_new, true)) = (result_types(own), result_types(new)) else { return body };
        let unit = self.unit();
        if of_own != of_new || unit.is_empty() {
            return body;
        }
        let rules = rules::of(self.language);
        let is_closed = (rules.function_end)(text::width(&self.outer), &body).is_some();
        let inside = body.trim_end().strip_suffix('}').filter(|_| is_closed).map_or(body.as_str(), str::trim_end);
        let inside = (rules.placed)(&format!("{}\n", inside.trim_end()), &[&self.inner, unit].concat(), "");
        let close = if is_all { format!("{}}}()\n", self.inner) } else { String::new() };
        format!("{}return func() {new} {{\n{inside}{close}", self.inner)
    }

    /// The name of the receiver in a head of Go.
    fn receiver(&self, head: &str) -> Option<String> {
        let words = words(self.language, head);
        let func = words.iter().position(|word| word.name() == Some("func"))?;
        let name = words.get(func + 2)?.name()?;
        let is_named = words.get(func + 1)?.is('(') && !words.get(func + 3)?.is(')') && name != "_";
        is_named.then(|| name.to_owned())
    }
}

/// A parameter as a head has it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parameter {
    /// Its name, or a pattern in brackets.
    pub pattern: String,
    /// True if it is a name.
    pub is_name: bool,
    /// Its type, with the mark in front of it. Empty if there is none.
    pub kind: String,
    /// Its value if it is not given.
    pub default: Option<String>,
}

/// The parameters of the function `name` in a head.
fn parameters(language: Language, head: &str, name: &str) -> Vec<Parameter> {
    let Some(from) = named_at(language, head, name) else { return Vec::new() };
    let Some(open) = head[from..].find('(') else { return Vec::new() };
    parts(language, &head[from + open + 1..]).iter().filter_map(|part| parameter(language, part)).collect()
}

/// The place of a function's name in its head. Comments and docstrings may show how it is called.
fn named_at(language: Language, head: &str, name: &str) -> Option<usize> {
    let code = without_comments(language, head);
    code.rfind(&format!("{name}(")).or_else(|| code.rfind(name)).filter(|_| !name.is_empty())
}

/// The results of a Go function as a head has them: `error`, `(n int, err error)`. Empty if there are none.
fn results<'h>(head: &'h str, name: &str) -> &'h str {
    let Some(from) = named_at(Language::Go, head, name) else { return "" };
    let Some(open) = head[from..].find('(') else { return "" };
    let list = &head[from + open + 1..];
    let end =
        parts(Language::Go, list).last().map_or(0, |last| last.as_ptr() as usize - list.as_ptr() as usize + last.len());
    let rest = list.get(end + 1..).unwrap_or_default();
    rest.trim().trim_end_matches('{').trim_end()
}

/// The types of these results, and true if they have names.
fn result_types(results: &str) -> (Vec<&str>, bool) {
    let Some(list) = results.strip_prefix('(') else {
        return (Some(results).filter(|one| !one.is_empty()).into_iter().collect(), false);
    };
    let parts: Vec<&str> = parts(Language::Go, list).into_iter().map(str::trim).collect();
    if !parts.iter().any(|part| named(part).is_some()) {
        return (parts, false);
    }
    // `a, b int` are two of one type.
    let mut kind = "";
    let mut types: Vec<&str> = Vec::new();
    for part in parts.iter().rev() {
        kind = named(part).map_or(kind, |(_, kind)| kind.trim());
        types.insert(0, kind);
    }
    (types, true)
}

/// The name and the type of a result of Go, if it has a name.
fn named(part: &str) -> Option<(&str, &str)> {
    let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    part.split_once(' ').filter(|(name, _)| is_word(name) && !matches!(*name, "chan" | "func"))
}

/// The characters of a text outside of strings and brackets, up to a bracket that closes one before the text.
fn outside(language: Language, text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut open, mut quote, mut before, mut is_over) = (Vec::new(), None, ' ', false);
    text.char_indices().filter(move |&(_, c)| {
        let is_outside = open.is_empty() && quote.is_none() && !is_over;
        match c {
            _ if is_over => {}
            _ if quote.is_some() => quote = quote.filter(|quote| *quote != c),
            '"' | '`' => quote = Some(c),
            // Lifetimes of Rust have the same mark.
            '\'' if language != Language::Rust => quote = Some(c),
            '(' | '[' | '{' => open.push(c),
            '<' if language != Language::Python => open.push(c),
            '>' if !matches!(before, '=' | '-') => drop(open.pop_if(|last| *last == '<')),
            ')' | ']' | '}' => {
                // One that compares is not closed.
                while open.pop_if(|last| *last == '<').is_some() {}
                is_over = open.pop().is_none();
                before = c;
                return is_over;
            }
            _ => {}
        }
        before = c;
        is_outside
    })
}

/// Texts up to the bracket that ends a list, split at its commas. None where it does not end.
fn parts(language: Language, list: &str) -> Vec<&str> {
    let (mut from, mut found) = (0, Vec::new());
    for (at, c) in outside(language, list).filter(|(_, c)| matches!(c, ',' | ')' | ']' | '}')) {
        found.push(&list[from..at]);
        from = at + 1;
        if c != ',' {
            return found;
        }
    }
    found
}

fn parameter(language: Language, part: &str) -> Option<Parameter> {
    let lines = part.lines().map(|line| line.split(language.line_comment()).next().unwrap_or_default().trim());
    let part = lines.collect::<Vec<_>>().join(" ");
    let (written, kind, value) = divided(language, &part);
    let is_optional = written.ends_with('?');
    let words = written.trim_end_matches('?').trim();
    let is_rest = words.starts_with("...");
    let is_pattern = words.starts_with(['{', '[', '(']);
    let pattern = match language {
        _ if is_pattern => words,
        Language::Go => words.split([' ', '.']).next().unwrap_or(words),
        Language::Rust => words.rsplit([' ', '&']).next().unwrap_or(words),
        _ => words.trim_start_matches(['*', '.']).rsplit(' ').next().unwrap_or(words),
    };
    let absent = match () {
        () if is_rest => Some("[]".to_owned()),
        () if is_optional => Some("undefined".to_owned()),
        () => None,
    };
    let default = value.map(str::to_owned).or(absent);
    let kind = if kind.is_empty() { String::new() } else { format!(": {kind}") };
    let found = Parameter { pattern: pattern.to_owned(), is_name: !is_pattern, kind, default };
    (!pattern.is_empty() && pattern != "/").then_some(found)
}

/// The parts of a parameter: the name or pattern, the type, and the value if it is not given.
fn divided(language: Language, part: &str) -> (&str, &str, Option<&str>) {
    let is_sign = |at: usize| !part[at + 1..].starts_with('>') && !part[..at].ends_with('<');
    let equals = outside(language, part).find(|&(at, c)| c == '=' && is_sign(at)).map(|(at, _)| at);
    let colon = outside(language, part).find(|&(at, c)| c == ':' && equals.is_none_or(|equals| at < equals));
    let colon = colon.map(|(at, _)| at);
    let end = equals.unwrap_or(part.len());
    let name = part[..colon.unwrap_or(end)].trim();
    let kind = colon.map_or("", |colon| part[colon + 1..end].trim());
    (name, kind, equals.map(|equals| part[equals + 1..].trim()))
}

impl Parameter {
    /// The parameters of a pattern that holds names and nothing deeper.
    fn inside(&self, language: Language) -> Vec<Self> {
        let list = self.pattern.strip_prefix(['{', '[', '(']).unwrap_or_default();
        parts(language, list).iter().filter_map(|part| parameter(language, part)).collect()
    }

    /// The names that it binds.
    fn names(&self, language: Language) -> Vec<String> {
        if self.is_name {
            return vec![self.pattern.clone()];
        }
        // `{ a: b }` binds `b`.
        let bound = |part: Self| if part.kind.is_empty() { part.pattern } else { part.kind[2..].to_owned() };
        self.inside(language).into_iter().map(bound).collect()
    }

    /// Statements that make this parameter of an answer out of that of the file, `own`. `is_used` tells what
    /// the body names.
    pub fn of(&self, own: &Self, language: Language, is_used: &dyn Fn(&str) -> bool) -> Vec<String> {
        if !self.is_used(language, is_used) {
            return Vec::new();
        }
        let is_script = language.is_kin(Language::JavaScript);
        // Where the file has none, it counts as not given.
        let default = self.default.as_ref().filter(|value| is_script && own.default.is_none() && *value != "undefined");
        let is_given = |value: &String| format!("{0} === undefined ? {value} : {0}", own.pattern);
        let value = || default.map_or_else(|| own.pattern.clone(), is_given);
        match (self.is_name, own.is_name) {
            (true, true) if self.pattern == own.pattern => {
                let value = default.map(|value| format!("if ({0} === undefined) {0} = {value};", own.pattern));
                value.into_iter().collect()
            }
            (true, true) => vec![bind(language, &self.pattern, &value())],
            (false, true) if is_script => vec![format!("const {} = {};", self.pattern, value())],
            (false, true) if language == Language::Rust => vec![bind(language, &self.pattern, &own.pattern)],
            (true, false)
                if is_script && own.inside(language).iter().all(|part| part.is_name && part.kind.is_empty()) =>
            {
                let parts: Vec<String> = own.inside(language).into_iter().map(|part| part.pattern).collect();
                vec![format!("const {} = {{ {} }};", self.pattern, parts.join(", "))]
            }
            (false, false) if is_script => {
                let of_own = own.inside(language);
                let lacks = |part: &Self| of_own.iter().any(|own| own.pattern == part.pattern && own.default.is_none());
                let parts = self.inside(language).into_iter().filter(|part| part.is_name && lacks(part));
                let value =
                    |part: Self| Some(format!("if ({0} === undefined) {0} = {1};", part.pattern, part.default?));
                parts.filter_map(value).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The statement that gives this parameter, which the file's head lacks, the value that it has if it is
    /// not given; `None` if it has none.
    pub fn added(&self, language: Language) -> Option<String> {
        let value = self.default.as_ref()?;
        let kind = if language == Language::TypeScript && self.is_name { self.kind.as_str() } else { "" };
        Some(bind(language, &format!("{}{kind}", self.pattern), value))
    }

    /// Returns true if the body uses it.
    pub fn is_used(&self, language: Language, is_used: &dyn Fn(&str) -> bool) -> bool {
        self.names(language).iter().any(|name| is_used(name))
    }
}

fn bind(language: Language, name: &str, value: &str) -> String {
    match language {
        Language::Python => format!("{name} = {value}"),
        Language::JavaScript | Language::TypeScript | Language::Rust => format!("let {name} = {value};"),
        Language::Go => format!("{name} := {value}"),
    }
}
