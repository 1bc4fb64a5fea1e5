//! The parameters, results and receiver in the head of a function, and statements that fit a body under the
//! head of an answer to that of the file.

use super::answer::RequestedFunction;
use super::target::last_name;
use super::words::{Word, names, words};
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
        let is_script = language.is_kin(Language::JavaScript);
        let gathers = own.iter().chain(&new).any(|parameter| parameter.gathers != Gathers::Nothing);
        if own == new {
            return body;
        }
        let of_own = own.iter().map(|own| own.pattern.clone()).collect::<Vec<_>>();
        let added = new.get(own.len()..).unwrap_or_default();
        let words = words(language, &body);
        let calls = |at: usize| words[at].name() == Some(name) && words.get(at + 1).is_some_and(|next| next.is('('));
        let is_given = |own: &Parameter| own.is_name && own.gathers == Gathers::Nothing && !own.is_keyword;
        let is_spare = |new: &Parameter| new.default.is_some() || new.gathers != Gathers::Nothing;
        let is_longer = !added.is_empty() && added.iter().all(is_spare) && own.iter().all(is_given);
        if is_longer && (0..words.len()).any(calls) {
            // It gives them to itself.
            let inner = self.inner_function(answer_head, &body, &of_own).filter(|_| is_all);
            return inner.unwrap_or(body);
        }
        let used = names(language, &body);
        let is_used = |name: &str| used.contains(name);
        let bound: Vec<String> = own.iter().flat_map(|own| own.names(language)).collect();
        if gathers && (is_script || language == Language::Python) {
            let statements =
                if is_script { gathered_script(language, &own, &new) } else { gathered_python(&own, &new) };
            let Some(mut statements) = statements else { return body };
            statements.retain(|statement| statement.binds.iter().any(|name| is_used(name)));
            return self.after(statements, &bound, &body);
        }
        // Further arguments of a call are nothing to a function of JavaScript.
        if own.len() > new.len() && !is_script || added.iter().any(|parameter| parameter.default.is_none()) {
            return body;
        }
        let is_other = |name: &str| used.contains(name) && !of_own.iter().any(|own| own == name);
        let mut statements: Vec<Statement> = Vec::new();
        for (own, new) in own.iter().zip(&new) {
            let is_same = own.pattern == new.pattern;
            statements.extend(new.of(own, language, if is_same { &is_used } else { &is_other }));
        }
        let added = added.iter().filter(|parameter| parameter.is_used(language, &is_used));
        statements.extend(added.filter_map(|parameter| parameter.added(language)));
        self.after(statements, &bound, &body)
    }

    /// A body behind statements. It stands in a block where it or they declare a name of `own`, the file's
    /// parameters, for in their scope that is an error.
    fn after(&self, statements: Vec<Statement>, own: &[String], body: &str) -> String {
        let language = self.language;
        let lines = |statements: &[Statement], indent: &str| {
            let lines: String = statements.iter().map(|statement| statement.text(language) + "\n").collect();
            text::indented(&lines, indent)
        };
        let has_scopes = language == Language::Go || language.is_kin(Language::JavaScript);
        if statements.is_empty() || !has_scopes {
            return lines(&statements, &self.inner) + body;
        }
        let words = words(language, body);
        let declared = declared(language, &words);
        let is_var = |at: usize, name: &str| {
            words[at].name() == Some("var") && words.get(at + 1).and_then(Word::name) == Some(name)
        };
        let is_own = |name: &String| own.contains(name);
        let clashes = |statement: &Statement| statement.is_new && statement.binds.iter().any(is_own);
        let (mut before, mut inside): (Vec<Statement>, Vec<Statement>) = (Vec::new(), Vec::new());
        for mut statement in statements {
            // What the body declares by `var` belongs to the whole function.
            if statement.binds.iter().any(|name| (0..words.len()).any(|at| is_var(at, name))) {
                statement.keyword = "var";
            }
            if !clashes(&statement) {
                before.push(statement);
                continue;
            }
            let given = (1..).map(|n| if n == 1 { "given".to_owned() } else { format!("given{n}") });
            let is_free = |name: &String| {
                !words.iter().any(|word| word.name() == Some(name))
                    && !own.contains(name)
                    && !before.iter().any(|statement| statement.binds.contains(name))
            };
            let given = given.into_iter().find(is_free).unwrap_or_default();
            let value = std::mem::replace(&mut statement.value, given.clone());
            before.push(Statement::new("const", &given, &value, vec![given.clone()]));
            inside.push(statement);
        }
        let unit = self.unit();
        if inside.is_empty() && !declared.iter().any(is_own) || unit.is_empty() {
            return lines(&before, &self.inner) + &lines(&inside, &self.inner) + body;
        }
        let rules = rules::of(language);
        let to = if (rules.function_end)(text::width(&self.outer), body).is_some() {
            (rules.inside)(text::width(&self.outer), body)
        } else {
            body.len()
        };
        let (within, close) = body.split_at(to);
        let deeper = [&self.inner, unit].concat();
        let within = (rules.placed)(&format!("{}\n", within.trim_end()), &deeper, "");
        let end = if close.is_empty() { String::new() } else { format!("{0}}}\n{1}{close}", self.inner, self.outer) };
        format!("{}{}{{\n{}{within}{end}", lines(&before, &self.inner), self.inner, lines(&inside, &deeper))
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
    /// The arguments that it gathers.
    pub gathers: Gathers,
    /// True if it is given by its name alone.
    pub is_keyword: bool,
}

/// The arguments that a parameter gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gathers {
    /// It is one argument.
    Nothing,
    /// All further ones: `*args`, `...args`.
    Rest,
    /// All further ones that are given by names: `**kwargs`.
    Named,
}

/// A statement that gives names the values that parameters of another head have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Statement {
    /// `let`, `const` or `var`. Empty in languages that need none.
    keyword: &'static str,
    /// A name with its type, or a pattern.
    pattern: String,
    /// An expression.
    value: String,
    /// The names that it gives values.
    binds: Vec<String>,
    /// True if it declares them.
    is_new: bool,
}

impl Statement {
    fn new(keyword: &'static str, pattern: &str, value: &str, binds: Vec<String>) -> Self {
        Self { keyword, pattern: pattern.to_owned(), value: value.to_owned(), binds, is_new: true }
    }

    /// Gives a parameter a value where it was given none.
    fn unless_given(name: &str, value: &str) -> Self {
        Self { is_new: false, ..Self::new("", name, value, vec![name.to_owned()]) }
    }

    fn text(&self, language: Language) -> String {
        let Self { keyword, pattern, value, .. } = self;
        match language {
            Language::Python => format!("{pattern} = {value}"),
            Language::Go => format!("{pattern} := {value}"),
            _ if !self.is_new => format!("if ({pattern} === undefined) {pattern} = {value};"),
            _ => format!("{keyword} {pattern} = {value};"),
        }
    }
}

/// The names that a body declares outside of its blocks, in languages where a second declaration is an error.
fn declared(language: Language, words: &[Word]) -> Vec<String> {
    let mut found = Vec::new();
    let (mut depth, mut line) = (0_usize, 0);
    // The bracket depth at which a list of declarations stands, and true where a name is to come.
    let mut list: Option<bool> = None;
    let mut in_pattern = false;
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Mark('(' | '[' | '{') => {
                in_pattern |= depth == 0 && list == Some(true);
                depth += 1;
            }
            Word::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    list = list.map(|_| false);
                    in_pattern = false;
                }
            }
            Word::Name(name) if in_pattern => found.push(name.clone()),
            _ if depth > 0 => {}
            Word::Name(name) if matches!(name.as_str(), "let" | "const" | "class" | "var") => {
                let is_scoped = name != "var" || language == Language::Go;
                list = Some(true).filter(|_| is_scoped);
            }
            Word::Name(name) if list == Some(true) => {
                found.push(name.clone());
                list = Some(false);
            }
            Word::Mark(',') => list = list.map(|_| true),
            Word::Mark(';') => (list, line) = (None, at + 1),
            Word::End if list != Some(true) => (list, line) = (None, at + 1),
            Word::Mark(':') if language == Language::Go && words.get(at + 1).is_some_and(|word| word.is('=')) => {
                found.extend(words[line..at].iter().filter_map(Word::name).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

/// The parameters of another head of JavaScript where one gathers arguments. `None` if the file's do not give
/// them all.
fn gathered_script(language: Language, own: &[Parameter], new: &[Parameter]) -> Option<Vec<Statement>> {
    let of_own: Vec<&str> = own.iter().map(|own| &*own.pattern).collect();
    let at = own.iter().zip(new).take_while(|(own, new)| own.gathers == new.gathers).count();
    let mut statements: Vec<Statement> = Vec::new();
    for (own, new) in own.iter().zip(new).take(at) {
        let is_other = |name: &str| own.pattern == new.pattern || !of_own.contains(&name);
        statements.extend(new.of(own, language, &is_other));
    }
    let (own, new) = (&own[at..], &new[at..]);
    let values: Option<Vec<String>> = own.iter().map(|own| own.given(language)).collect();
    if new.is_empty() {
        return Some(statements);
    }
    let written = |new: &Parameter| {
        let dots = if new.gathers == Gathers::Rest { "..." } else { "" };
        let default = new.default.as_ref().filter(|_| dots.is_empty());
        let default = default.filter(|value| *value != "undefined").map(|value| format!(" = {value}"));
        format!("{dots}{}{}", new.pattern, default.unwrap_or_default())
    };
    let names = new.iter().flat_map(|new| new.names(language)).collect::<Vec<_>>();
    if own.is_empty() && new.iter().all(|new| new.default.is_some()) {
        statements.extend(new.iter().filter_map(|new| new.added(language)));
        return Some(statements);
    }
    let (pattern, value) = match (own, new) {
        ([own], _) if own.gathers == Gathers::Rest => {
            (format!("[{}]", new.iter().map(written).collect::<Vec<_>>().join(", ")), own.pattern.clone())
        }
        (_, [rest]) if rest.gathers == Gathers::Rest => (rest.pattern.clone(), format!("[{}]", values?.join(", "))),
        (own, _) if own.last()?.gathers == Gathers::Rest || new.last()?.gathers == Gathers::Rest => (
            format!("[{}]", new.iter().map(written).collect::<Vec<_>>().join(", ")),
            format!("[{}]", values?.join(", ")),
        ),
        _ => return None,
    };
    statements.push(Statement::new("let", &pattern, &value, names));
    Some(statements)
}

/// The parameters of another head of Python where one gathers arguments. `None` if the file's do not give them
/// all.
fn gathered_python(own: &[Parameter], new: &[Parameter]) -> Option<Vec<Statement>> {
    let plain = |all: &[Parameter], is_keyword: bool| -> Vec<Parameter> {
        let is_plain = |one: &&Parameter| one.gathers == Gathers::Nothing && one.is_keyword == is_keyword;
        all.iter().filter(is_plain).cloned().collect()
    };
    let gathers =
        |all: &[Parameter], what: Gathers| all.iter().find(|one| one.gathers == what).map(|one| one.pattern.clone());
    let (own_rest, own_named) = (gathers(own, Gathers::Rest), gathers(own, Gathers::Named));
    let (mut places, mut keywords) = (plain(own, false).into_iter(), plain(own, true));
    // Statements at once: a name may be that of another parameter of the file.
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut of_rest = 0;
    let named = |new: &Parameter| {
        let default = new.default.as_ref();
        let of_named = |named: &String| match default {
            Some(default) => format!("{named}.get(\"{}\", {default})", new.pattern),
            None => format!("{named}[\"{}\"]", new.pattern),
        };
        own_named.as_ref().map(of_named).or_else(|| default.cloned())
    };
    for new in plain(new, false) {
        let value = if let Some(own) = places.next() {
            own.pattern
        } else if let Some(at) = keywords.iter().position(|own| own.pattern == new.pattern) {
            keywords.remove(at).pattern
        } else if let Some(rest) = &own_rest {
            of_rest += 1;
            match &new.default {
                Some(default) => format!("{rest}[{}] if len({rest}) >= {of_rest} else {default}", of_rest - 1),
                None => format!("{rest}[{}]", of_rest - 1),
            }
        } else {
            named(&new)?
        };
        pairs.push((new.pattern, value));
    }
    for new in plain(new, true) {
        let value = if let Some(at) = keywords.iter().position(|own| own.pattern == new.pattern) {
            keywords.remove(at).pattern
        } else if let Some(at) = places.as_slice().iter().position(|own| own.pattern == new.pattern) {
            let mut left: Vec<Parameter> = places.collect();
            let value = left.remove(at).pattern;
            places = left.into_iter();
            value
        } else {
            named(&new)?
        };
        pairs.push((new.pattern, value));
    }
    if let Some(rest) = gathers(new, Gathers::Rest) {
        let of_own = own_rest.map(|own| if of_rest > 0 { format!("{own}[{of_rest}:]") } else { own });
        let given: Vec<String> = places.map(|own| own.pattern).collect();
        let value = match of_own {
            Some(own) if given.is_empty() => own,
            Some(own) => format!("({}, *{own})", given.join(", ")),
            None if given.len() == 1 => format!("({},)", given[0]),
            None => format!("({})", given.join(", ")),
        };
        pairs.push((rest, value));
    }
    if let Some(all) = gathers(new, Gathers::Named) {
        let given = keywords.iter().map(|own| format!("\"{0}\": {0}", own.pattern));
        let given: Vec<String> = given.chain(own_named.iter().map(|own| format!("**{own}"))).collect();
        let value = match own_named {
            Some(own) if keywords.is_empty() => own,
            _ => format!("{{{}}}", given.join(", ")),
        };
        pairs.push((all, value));
    }
    pairs.retain(|(name, value)| name != value);
    Some(pairs.into_iter().map(|(name, value)| Statement::new("", &name, &value, vec![name.clone()])).collect())
}

/// The parameters of the function `name` in a head.
fn parameters(language: Language, head: &str, name: &str) -> Vec<Parameter> {
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
    let gathers = match language {
        Language::Python if words.starts_with("**") => Gathers::Named,
        Language::Python if words.starts_with('*') => Gathers::Rest,
        _ if is_rest && language != Language::Go => Gathers::Rest,
        _ => Gathers::Nothing,
    };
    let pattern = pattern.to_owned();
    let is_named = !pattern.is_empty() && pattern != "/";
    let found = Parameter { pattern, is_name: !is_pattern, kind, default, gathers, is_keyword: false };
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
    fn names(&self, language: Language) -> Vec<String> {
        if self.is_name {
            return vec![self.pattern.clone()];
        }
        // `{ a: b }` binds `b`.
        let bound = |part: Self| if part.kind.is_empty() { part.pattern } else { part.kind[2..].to_owned() };
        self.inside(language).into_iter().map(bound).collect()
    }

    /// The argument that it was made of, as code that names what it binds. `None` if that is not certain.
    fn given(&self, language: Language) -> Option<String> {
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

fn bind(pattern: &str, value: &str, binds: Vec<String>) -> Statement {
    Statement::new("let", pattern, value, binds)
}

#[cfg(test)]
mod tests {
    use crate::code::{Place, Target};
    use crate::language::Language::{self, Go, JavaScript, Python, TypeScript};

    /// The file with the function `f` of an answer in it.
    fn taken(language: Language, file: &str, answer: &str) -> String {
        let target = Target::in_text(file, language, &Place::Function("f".to_owned())).unwrap();
        let answer = format!("```{}\n{answer}```\n", language.name());
        target.splice(&target.requested().read(&answer, true).0)
    }

    #[track_caller]
    fn all_taken(cases: &[(Language, &str, &str, &str, &str)]) {
        for (language, own, head, body, wanted) in cases {
            let close = if *language == Python { "    pass\n" } else { "}\n" };
            let end = if *language == Python { "" } else { "}\n" };
            let program = taken(*language, &format!("{own}{close}"), &format!("{head}{body}{end}"));
            assert_eq!(program, format!("{own}{wanted}{end}"));
        }
    }

    #[test]
    fn a_name_of_the_file_s_head_is_not_declared_twice() {
        let body = "  const { w, h } = box;\n  return `\n${w * h}`;\n";
        let block = "  {\n    const { w, h } = box;\n    return `\n${w * h}`;\n  }\n";
        let made = format!("  const box = {{ w, h }};\n{block}");
        all_taken(&[
            (TypeScript, "function f({ w, h }: Box): string {\n", "function f(box: Box): string {\n", body, &made),
            (
                JavaScript,
                "function f({ start = 0, end, step = 1 }) {\n",
                "function f(opts) {\n",
                "  const { end } = opts, step = opts.step ?? 1;\n  return [end, step];\n",
                "  const opts = { start, end, step };\n  {\n    const { end } = opts, step = opts.step ?? 1;\n    return [end, step];\n  }\n",
            ),
            // A block inside, and a member, declare nothing here.
            (
                JavaScript,
                "function f({ a: x, ...rest }) {\n",
                "function f(all) {\n",
                "  if (all) { const x = all.a; return x; }\n  let y = all.x;\n",
                "  const all = { a: x, ...rest };\n  if (all) { const x = all.a; return x; }\n  let y = all.x;\n",
            ),
            (
                JavaScript,
                "function f(options, n) {\n",
                "function f({ options, m }, k) {\n",
                "  return options[m] + k;\n",
                "  const given = options;\n  let k = n;\n  {\n    const { options, m } = given;\n    return options[m] + k;\n  }\n",
            ),
            (
                JavaScript,
                "function f(values) {\n",
                "function f(xs) {\n",
                "  var xs = xs || [];\n  return xs;\n",
                "  var xs = values;\n  var xs = xs || [];\n  return xs;\n",
            ),
            (
                Go,
                "func f(x int) int {\n",
                "func f(n int) int {\n",
                "\tx := n * 2\n\treturn x\n",
                "\tn := x\n\t{\n\t\tx := n * 2\n\t\treturn x\n\t}\n",
            ),
        ]);
    }

    #[test]
    fn patterns_of_other_names_and_fewer_parameters_are_made_of_the_file_s() {
        all_taken(&[
            (
                JavaScript,
                "function f({ w: width, h }) {\n",
                "function f({ w, h, d = 1 }) {\n",
                "  return w * h * d;\n",
                "  let w = width;\n  let d = 1;\n  return w * h * d;\n",
            ),
            (JavaScript, "function f(a, b) {\n", "function f(x) {\n", "  return x;\n", "  let x = a;\n  return x;\n"),
        ]);
    }

    #[test]
    fn parameters_that_gather_arguments_are_made_of_the_others() {
        let own = "def f(values, factor=2.0, *, offset=0.0):\n";
        all_taken(&[
            (
                Python,
                own,
                "def f(values, *args, **kwargs):\n",
                "    return args[0] + kwargs['offset']\n",
                "    args = (factor,)\n    kwargs = {\"offset\": offset}\n    return args[0] + kwargs['offset']\n",
            ),
            (Python, own, "def f(values, factor=2.0, offset=0.0):\n", "    return offset\n", "    return offset\n"),
            (
                Python,
                "def f(*args, **more):\n",
                "def f(factor, k=2, *rest, sep=','):\n",
                "    return sep.join([factor, k, *rest])\n",
                "    factor = args[0]\n    k = args[1] if len(args) >= 2 else 2\n    sep = more.get(\"sep\", ',')\n    rest = args[2:]\n    return sep.join([factor, k, *rest])\n",
            ),
            (
                Python,
                "def f(first, *args):\n",
                "def f(*items):\n",
                "    return items\n",
                "    items = (first, *args)\n    return items\n",
            ),
            (
                JavaScript,
                "function f(...args) {\n",
                "function f(a, b = 1) {\n",
                "  return a + b;\n",
                "  let [a, b = 1] = args;\n  return a + b;\n",
            ),
            (
                JavaScript,
                "function f(a, b) {\n",
                "function f(...all) {\n",
                "  const [a, b] = all;\n  return a + b;\n",
                "  let all = [a, b];\n  {\n    const [a, b] = all;\n    return a + b;\n  }\n",
            ),
        ]);
    }
}
