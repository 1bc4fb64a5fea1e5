//! The parameters in the head of a function, and statements that give the body of one head those of another.

use crate::language::Language;

/// A parameter as a head has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
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
pub(super) fn parameters(language: Language, head: &str, name: &str) -> Vec<Parameter> {
    let called = format!("{name}(");
    let Some(from) = head.rfind(&called).or_else(|| head.rfind(name)).filter(|_| !name.is_empty()) else {
        return Vec::new();
    };
    let Some(open) = head[from..].find('(') else { return Vec::new() };
    parts(language, &head[from + open + 1..]).iter().filter_map(|part| parameter(language, part)).collect()
}

/// The results of a Go function as a head has them: `error`, `(n int, err error)`. Empty if there are none.
pub(super) fn results<'h>(head: &'h str, name: &str) -> &'h str {
    let Some(from) = head.rfind(&format!("{name}(")).filter(|_| !name.is_empty()) else { return "" };
    let list = &head[from + name.len() + 1..];
    let end =
        parts(Language::Go, list).last().map_or(0, |last| last.as_ptr() as usize - list.as_ptr() as usize + last.len());
    let rest = list.get(end + 1..).unwrap_or_default();
    rest.trim().trim_end_matches('{').trim_end()
}

/// The types of these results, and true if they have names.
pub(super) fn result_types(results: &str) -> (Vec<&str>, bool) {
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

/// Texts up to the bracket that ends a list, split at its commas.
fn parts(language: Language, list: &str) -> Vec<&str> {
    let (mut open, mut from, mut quote, mut found) = (Vec::new(), 0, None, Vec::new());
    let mut before = ' ';
    for (at, c) in list.char_indices() {
        match c {
            _ if quote.is_some() => quote = quote.filter(|quote| *quote != c),
            '"' | '`' => quote = Some(c),
            // Lifetimes of Rust have the same mark.
            '\'' if language != Language::Rust => quote = Some(c),
            ',' if open.is_empty() => {
                found.push(&list[from..at]);
                from = at + 1;
            }
            '(' | '[' | '{' => open.push(c),
            '<' if language != Language::Python => open.push(c),
            '>' if !matches!(before, '=' | '-') => drop(open.pop_if(|last| *last == '<')),
            ')' | ']' | '}' => {
                // One that compares is not closed.
                while open.pop_if(|last| *last == '<').is_some() {}
                if open.pop().is_none() {
                    found.push(&list[from..at]);
                    return found;
                }
            }
            _ => {}
        }
        before = c;
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
    let (mut depth, mut quote) = (0_usize, None);
    let (mut colon, mut equals) = (None, None);
    let mut before = ' ';
    for (at, c) in part.char_indices() {
        match c {
            _ if quote.is_some() => quote = quote.filter(|quote| *quote != c),
            '"' | '`' => quote = Some(c),
            '\'' if language != Language::Rust => quote = Some(c),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 0 && colon.is_none() && equals.is_none() => colon = Some(at),
            '=' if depth == 0 && equals.is_none() && !part[at + 1..].starts_with('>') && before != '<' => {
                equals = Some(at);
            }
            _ => {}
        }
        before = c;
    }
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
        if !self.names(language).iter().any(|name| is_used(name)) {
            return Vec::new();
        }
        let is_script = language.is_kin(Language::JavaScript);
        // Where the file has none, it counts as not given.
        let default = self.default.as_ref().filter(|value| is_script && own.default.is_none() && *value != "undefined");
        match (self.is_name, own.is_name) {
            (true, true) if self.pattern == own.pattern => {
                let value = default.map(|value| format!("if ({0} === undefined) {0} = {value};", own.pattern));
                value.into_iter().collect()
            }
            (true, true) => {
                let value = default.map_or_else(|| own.pattern.clone(), |value| format!("{} ?? {value}", own.pattern));
                vec![bind(language, &self.pattern, &value)]
            }
            (false, true) if is_script => {
                let value = default.map_or_else(|| own.pattern.clone(), |value| format!("{} ?? {value}", own.pattern));
                vec![format!("const {} = {value};", self.pattern)]
            }
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

/// Statements as lines with this indentation.
pub(super) fn lines(statements: &[String], white: &str) -> String {
    let indented = |line: &str| if line.trim().is_empty() { String::new() } else { format!("{white}{line}") };
    statements.iter().flat_map(|statement| statement.lines().map(|line| indented(line) + "\n")).collect()
}
