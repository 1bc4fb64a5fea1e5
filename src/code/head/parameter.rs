//! The parameters in the head of a function, and the statements that make those of another head of them.

use super::statement::{Statement, bind};
use crate::code::without_comments;
use crate::language::Language;

/// A parameter as a head has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, or a pattern in brackets.
    pub pattern: String,
    /// True if it is a name.
    pub is_name: bool,
    /// Its type, with the mark in front of it. Empty if there is none.
    pub kind: String,
    /// Its value if it is not given.
    pub default: Option<String>,
    /// The arguments that it gathers.
    pub gathers: Gathers,
    /// True if it is given by its name alone.
    pub is_keyword: bool,
    /// True if the body may change it, where Rust has to be told so.
    pub is_mut: bool,
}

/// The arguments that a parameter gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathers {
    /// It is one argument.
    Nothing,
    /// All further ones: `*args`, `...args`.
    Rest,
    /// All further ones that are given by names: `**kwargs`.
    Named,
}

/// The parameters of the function `name` in a head.
pub fn parameters(language: Language, head: &str, name: &str) -> Vec<Parameter> {
    let Some(from) = named_at(language, head, name) else { return Vec::new() };
    let Some(open) = head[from..].find('(') else { return Vec::new() };
    let (mut found, mut is_keyword): (Vec<Parameter>, bool) = (Vec::new(), false);
    for part in parts(language, &head[from + open + 1..]) {
        let is_star = language == Language::Python && part.trim() == "*";
        found.extend(parameter(language, part).filter(|_| !is_star).map(|one| Parameter { is_keyword, ..one }));
        is_keyword |= language == Language::Python && (is_star || part.trim_start().starts_with('*'));
    }
    found
}

/// The place of a function's name in its head. Comments and docstrings may show how it is called.
pub fn named_at(language: Language, head: &str, name: &str) -> Option<usize> {
    let code = without_comments(language, head);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let is_whole = |&at: &usize| !code[..at].ends_with(is_part) && !code[at + name.len()..].starts_with(is_part);
    let mut places = code.match_indices(name).map(|(at, _)| at).filter(is_whole).collect::<Vec<_>>();
    places.reverse();
    let before = |marks: &[char]| places.iter().copied().find(|at| code[at + name.len()..].starts_with(marks));
    let generic: &[char] = if language == Language::Go { &['['] } else { &['<'] };
    let found = before(&['(']).or_else(|| before(generic)).or_else(|| code.rfind(&format!("{name}(")));
    found.or_else(|| places.first().copied()).or_else(|| code.rfind(name)).filter(|_| !name.is_empty())
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
pub fn parts(language: Language, list: &str) -> Vec<&str> {
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

pub fn parameter(language: Language, part: &str) -> Option<Parameter> {
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
    let gathers = match language {
        Language::Python if words.starts_with("**") => Gathers::Named,
        Language::Python if words.starts_with('*') => Gathers::Rest,
        _ if is_rest && language != Language::Go => Gathers::Rest,
        _ => Gathers::Nothing,
    };
    let pattern = pattern.to_owned();
    let is_named = !pattern.is_empty() && pattern != "/";
    let is_mut = language == Language::Rust && words.starts_with("mut ");
    let found = Parameter { pattern, is_name: !is_pattern, kind, default, gathers, is_keyword: false, is_mut };
    is_named.then_some(found)
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
    pub fn names(&self, language: Language) -> Vec<String> {
        if self.is_name {
            return vec![self.pattern.clone()];
        }
        // `{ a: b }` binds `b`.
        let bound = |part: Self| if part.kind.is_empty() { part.pattern } else { part.kind[2..].to_owned() };
        self.inside(language).into_iter().map(bound).collect()
    }

    /// The argument that it was made of, as code that names what it binds. `None` if that is not certain.
    pub fn given(&self, language: Language) -> Option<String> {
        let dots = if self.gathers == Gathers::Rest { "..." } else { "" };
        if self.is_name {
            return Some([dots, &self.pattern].concat());
        }
        let (open, close) = if self.pattern.starts_with('{') { ("{ ", " }") } else { ("[", "]") };
        let part = |part: Self| {
            let Some(of) = part.kind.strip_prefix(": ") else { return part.given(language) };
            Some(format!("{}: {}", part.pattern, parameter(language, of)?.given(language)?))
        };
        let list = self.pattern.strip_prefix(['{', '['])?;
        let has_gap = parts(language, list).iter().rev().skip(1).any(|part| part.trim().is_empty());
        let parts: Option<Vec<String>> = self.inside(language).into_iter().map(part).collect();
        parts.filter(|_| !has_gap).map(|parts| format!("{dots}{open}{}{close}", parts.join(", ")))
    }

    /// Statements that make this parameter of an answer out of that of the file, `own`. `is_used` tells what
    /// the body names.
    pub fn of(&self, own: &Self, language: Language, is_used: &dyn Fn(&str) -> bool) -> Vec<Statement> {
        let is_script = language.is_kin(Language::JavaScript);
        // A pattern may have names of the file's head, too.
        let binds = self.names(language);
        let is_part = |name: &str| is_used(name) || !self.is_name && own.is_name && own.pattern == name;
        if !self.is_used(language, &is_part) {
            return Vec::new();
        }
        // Where the file has none, it counts as not given.
        let default = self.default.as_ref().filter(|value| is_script && own.default.is_none() && *value != "undefined");
        let is_given = |value: &String| format!("{0} === undefined ? {value} : {0}", own.pattern);
        let value = || default.map_or_else(|| own.pattern.clone(), is_given);
        match (self.is_name, own.is_name) {
            (true, true) if self.is_mut && self.pattern != "self" => {
                let is_other = !own.is_mut || own.pattern != self.pattern;
                let bound = || bind(&format!("mut {}", self.pattern), &own.pattern, binds);
                is_other.then(bound).into_iter().collect()
            }
            (true, true) if self.pattern == own.pattern => {
                default.map(|value| Statement::unless_given(&own.pattern, value)).into_iter().collect()
            }
            (true, true) => vec![bind(&self.pattern, &value(), binds)],
            (false, true) if is_script => vec![Statement::new("const", &self.pattern, &value(), binds)],
            (false, true) if language == Language::Rust => vec![bind(&self.pattern, &own.pattern, binds)],
            (true, false) if is_script => {
                let value = own.given(language);
                value.map(|value| Statement::new("const", &self.pattern, &value, binds)).into_iter().collect()
            }
            (false, false) if is_script => self.of_pattern(own, language, is_used),
            (false, false) if language == Language::Rust => {
                let of_own = own.inside(language);
                let is_new = |part: &Self| {
                    let is_it = |own: &Self| own.pattern == part.pattern && !own.is_mut;
                    part.is_mut && is_used(&part.pattern) && of_own.iter().any(is_it)
                };
                let parts = self.inside(language).into_iter().filter(is_new).map(|part| part.pattern);
                parts.map(|name| bind(&format!("mut {name}"), &name, vec![name.clone()])).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Statements that make this pattern of an answer out of that of the file.
    fn of_pattern(&self, own: &Self, language: Language, is_used: &dyn Fn(&str) -> bool) -> Vec<Statement> {
        let (of_own, bound) = (own.inside(language), own.names(language));
        let lacks = |part: &Self| of_own.iter().any(|own| own.pattern == part.pattern && own.default.is_none());
        let mut statements = Vec::new();
        for part in self.inside(language).into_iter().filter(|part| part.is_name) {
            let name = part.kind.strip_prefix(": ").unwrap_or(&part.pattern).to_owned();
            let of = of_own.iter().find(|own| own.pattern == part.pattern && own.kind != part.kind);
            match of.map(|of| of.kind.strip_prefix(": ").unwrap_or(&of.pattern)) {
                // A key of one name in both has another name in one of them.
                Some(of) if is_used(&name) => statements.push(bind(&name, of, vec![name.clone()])),
                None if bound.contains(&name) => {
                    let value = part.default.as_ref().filter(|_| lacks(&part) && part.gathers == Gathers::Nothing);
                    statements.extend(value.map(|value| Statement::unless_given(&name, value)));
                }
                None if is_used(&name) && part.gathers == Gathers::Nothing => {
                    statements.extend(part.default.as_ref().map(|value| bind(&name, value, vec![name.clone()])));
                }
                Some(_) | None => {}
            }
        }
        statements
    }

    /// The statement that gives this parameter, which the file's head lacks, the value that it has if it is
    /// not given; `None` if it has none.
    pub fn added(&self, language: Language) -> Option<Statement> {
        let value = self.default.as_ref()?;
        let kind = if language == Language::TypeScript && self.is_name { self.kind.as_str() } else { "" };
        Some(bind(&format!("{}{kind}", self.pattern), value, self.names(language)))
    }

    /// Returns true if the body uses it.
    pub fn is_used(&self, language: Language, is_used: &dyn Fn(&str) -> bool) -> bool {
        self.names(language).iter().any(|name| is_used(name))
    }
}
