//! The names that a piece of code takes from around it.
//!
//! Works on words, so also on text that no grammar reads. With braces wider than the locals of `locals.rs`,
//! which have to be certain: parameters, patterns and the bindings of inner functions count as well.

use std::collections::HashSet;

use super::words::{Word, words};
use super::{known, rules};
use crate::language::Language;

/// Names that code uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Names that the code does not bind.
    pub alone: HashSet<String>,
    /// Names in front of a colon, which may be keys of a table or fields.
    pub keys: HashSet<String>,
    /// Members of anything.
    pub members: HashSet<String>,
    /// Members of the object itself or of a type.
    pub own: HashSet<String>,
}

impl Uses {
    pub fn extend(&mut self, other: Self) {
        self.alone.extend(other.alone);
        self.keys.extend(other.keys);
        self.members.extend(other.members);
        self.own.extend(other.own);
    }

    /// Returns true if code names it, alone or as a member.
    pub fn has(&self, name: &str) -> bool {
        self.alone.contains(name) || self.members.contains(name)
    }
}

/// Words in front of a bracket that are no method.
const CONTROL: &[&str] = &["catch", "for", "function", "if", "return", "switch", "while", "with"];

/// The names that `code` uses. `outer`: names that the code around it binds; `this`: names of the object
/// itself.
pub(super) fn uses(language: Language, code: &str, outer: &HashSet<String>, this: &[&str]) -> Uses {
    let words = statements(language, code);
    let bound = bound(language, &words);
    let mut uses = Uses::default();
    let is = |at: Option<usize>, mark: char| at.and_then(|at| words.get(at)).is_some_and(|word| word.is(mark));
    let name_at = |at: Option<usize>| at.and_then(|at| words.get(at)).and_then(Word::name);
    let known = &rules::of(language).known;
    let is_given = |name: &str| {
        let own = |path: &&str| path.rsplit(known.separator).next() == Some(name);
        known.builtins.contains(&name) && name != "Self" || known.library.iter().any(own)
    };
    let is_of_own = |name: &str| this.contains(&name) || name.starts_with(char::is_uppercase) && !is_given(name);
    for (at, word) in words.iter().enumerate() {
        let Some(name) = word.name().filter(|name| !name.starts_with(|c: char| c.is_ascii_digit())) else { continue };
        // `this.#check()`
        let is_private = is(at.checked_sub(1), '#') && language.is_kin(Language::JavaScript);
        let (before, after) = ((at - usize::from(is_private)).checked_sub(1), Some(at + 1));
        let is_pathed = language == Language::Rust && is(before, ':') && is(at.checked_sub(2), ':');
        let two = before.and_then(|before| before.checked_sub(1));
        if is_pathed || is(before, '.') && !is(two, '.') {
            let of = if is_pathed { at.checked_sub(3).map(|of| before_angles(&words, of)) } else { two };
            if name_at(of).is_some_and(is_of_own) {
                uses.own.insert(name.to_owned());
            }
            uses.members.insert(name.to_owned());
            continue;
        }
        // A lifetime, or how Python shows a value in a string.
        let is_mark = match language {
            Language::Rust => is(before, '\''),
            Language::Python => is(before, '!'),
            _ => false,
        };
        let begins = before.is_none_or(|at| matches!(words[at], Word::Mark('(' | ',' | '{') | Word::End));
        let is_keyword = language == Language::Python && begins && is(after, '=') && !is(Some(at + 2), '=');
        let is_key = language != Language::Python && begins && is(after, ':') && !is(Some(at + 2), ':');
        let is_key = is_key && !is(Some(at + 2), '=');
        // `let total = total(x)` takes the function from outside, where the language has that.
        let is_called = is(after, '(') && matches!(language, Language::Rust | Language::Go);
        let is_package = language == Language::Go && known::is_of_its_own_value(&words, at);
        let is_bound = outer.contains(name) || bound.contains(name) && !is_called && !is_package;
        if is_mark || is_keyword {
            continue;
        }
        if is_key {
            uses.keys.insert(name.to_owned());
        } else if !is_bound {
            uses.alone.insert(name.to_owned());
        }
    }
    uses
}

/// The place of the type in front of `::<…>`, which ends at `at`; `at` if there is no such list.
fn before_angles(words: &[Word], at: usize) -> usize {
    let mut depth = 0_usize;
    let open = (0..=at).rev().take_while(|_| words[at].is('>')).find(|&i| {
        depth += usize::from(words[i].is('>'));
        depth -= usize::from(words[i].is('<'));
        depth == 0
    });
    let marks = |open: &usize| *open > 2 && words[open - 1].is(':') && words[open - 2].is(':');
    open.filter(marks).map_or(at, |open| open - 3)
}

/// The names that `code` binds.
pub(super) fn bound_in(language: Language, code: &str) -> HashSet<String> {
    bound(language, &statements(language, code)).into_iter().map(str::to_owned).collect()
}

/// The words of code, with line ends only between statements.
pub(super) fn statements(language: Language, code: &str) -> Vec<Word> {
    let mut open: Vec<char> = Vec::new();
    let mut out = words(language, code);
    out.retain(|word| {
        match word {
            Word::Mark(mark @ ('(' | '[' | '{')) => open.push(*mark),
            Word::Mark(')' | ']' | '}') => drop(open.pop()),
            _ => {}
        }
        let is_inside = open.last().is_some_and(|last| *last != '{' || language == Language::Python);
        *word != Word::End || !is_inside
    });
    out
}

fn bound(language: Language, words: &[Word]) -> HashSet<&str> {
    let mut bound = if language == Language::Python { python(words) } else { braces(language, words) };
    bound.retain(is_local);
    bound
}

/// Returns true unless a word among bound names is none.
fn is_local(name: &&str) -> bool {
    !matches!(*name, "mut" | "ref" | "_" | "self" | "cls" | "this" | "if" | "else" | "async" | "lambda")
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The words between a bracket at `open` and the one that closes it.
fn inside(words: &[Word], open: usize) -> &[Word] {
    until(words.get(open + 1..).unwrap_or_default(), |_| false)
}

/// The words up to one outside of brackets at which `stops` is true, or a bracket that closes one before
/// them.
fn until(words: &[Word], stops: impl Fn(&Word) -> bool) -> &[Word] {
    let mut depth = 0_usize;
    let end = words.iter().position(|word| {
        match word {
            word if depth == 0 && stops(word) => return true,
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') if depth == 0 => return true,
            Word::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        false
    });
    &words[..end.unwrap_or(words.len())]
}

/// The place of the bracket that the one at `close` closes.
fn opening(words: &[Word], close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (0..=close).rev().find(|&at| {
        match words[at] {
            Word::Mark(')' | ']' | '}') => depth += 1,
            Word::Mark('(' | '[' | '{') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The parts of a list between its commas.
fn parts(language: Language, list: &[Word]) -> Vec<&[Word]> {
    let (mut depth, mut from, mut found) = (0_usize, 0, Vec::new());
    let has_types = language != Language::Python;
    for (at, word) in list.iter().enumerate() {
        let is_arrow = at > 0 && matches!(list[at - 1], Word::Mark('=' | '-'));
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark('<') if has_types => depth += 1,
            Word::Mark('>') if has_types && !is_arrow => depth = depth.saturating_sub(1),
            Word::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Word::Mark(',') if depth == 0 => {
                found.push(&list[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&list[from..]);
    found
}

/// The parameters in a list.
fn declared(language: Language, list: &[Word]) -> Vec<&str> {
    let parts = parts(language, list);
    if language == Language::Go {
        let is_type = |name: &str| matches!(name, "func" | "map" | "chan" | "interface" | "struct");
        let first = |part: &&[Word]| part.first().and_then(Word::name).is_some_and(|name| !is_type(name));
        let is_named = |part: &&[Word]| first(part) && part.get(1).is_some_and(|next| !next.is('.'));
        if !parts.iter().any(is_named) {
            return Vec::new();
        }
        return parts.iter().filter_map(|part| part.first().and_then(Word::name)).collect();
    }
    let pattern = |part: &'_ [Word]| until(part, |word| matches!(word, Word::Mark(':' | '=' | '?'))).len();
    parts.into_iter().flat_map(|part| of_pattern(language, &part[..pattern(part)])).collect()
}

/// The names that a pattern binds: one, or those in its brackets.
fn of_pattern(language: Language, pattern: &[Word]) -> Vec<&str> {
    let is_small = |name: &&str| language != Language::Rust || name.starts_with(|c: char| c.is_lowercase() || c == '_');
    if !pattern.iter().any(|word| matches!(word, Word::Mark('(' | '[' | '{' | ','))) {
        return pattern.iter().rev().find_map(Word::name).filter(is_small).into_iter().collect();
    }
    let is = |at: Option<usize>, mark: char| at.and_then(|at| pattern.get(at)).is_some_and(|word| word.is(mark));
    let binds = |at: &usize| {
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        let is_value = is(before, '=') || is(before, '.') && !is(at.checked_sub(2), '.');
        let is_path = is(after, ':') || is(after, '(') || is(after, '{') || is(after, '.') && !is(Some(at + 2), '.');
        !is_value && !is_path
    };
    (0..pattern.len()).filter(binds).filter_map(|at| pattern[at].name()).filter(is_small).collect()
}

/// Names that Python code binds, imports and classes among them.
fn python(words: &[Word]) -> HashSet<&str> {
    let mut bound = python_locals(words);
    let classes = words.windows(2).filter(|two| two[0].name() == Some("class"));
    bound.extend(classes.filter_map(|two| two[1].name()));
    for line in words.split(|word| *word == Word::End) {
        if matches!(line.first().and_then(Word::name), Some("from" | "import")) {
            bound.extend(line.iter().filter_map(Word::name));
        }
    }
    bound
}

/// Names that Python code binds and that could as well be others: targets of assignments, loops, `as`, `:=`,
/// patterns, inner functions and their parameters.
pub(super) fn python_locals(words: &[Word]) -> HashSet<&str> {
    let (mut bound, mut excluded) = (HashSet::new(), HashSet::new());
    for (at, word) in words.iter().enumerate() {
        let rest = &words[at + 1..];
        let is = |next: usize, mark: char| rest.get(next).is_some_and(|word| word.is(mark));
        match word.name() {
            Some("for") => {
                let list = rest.iter().take_while(|word| word.name() != Some("in") && **word != Word::End);
                bound.extend(list.filter_map(Word::name));
            }
            Some("as") => bound.extend(rest.first().and_then(Word::name)),
            Some("lambda") => bound.extend(declared(Language::Python, until(rest, |word| word.is(':')))),
            Some("def") => {
                bound.extend(rest.first().and_then(Word::name));
                if let Some(open) = rest.iter().position(|word| word.is('(')) {
                    bound.extend(declared(Language::Python, inside(rest, open)));
                }
            }
            Some(name) if is(0, ':') && is(1, '=') => drop(bound.insert(name)),
            _ => {}
        }
    }
    for line in words.split(|word| *word == Word::End) {
        match line.first().and_then(Word::name) {
            Some("from" | "import") => {}
            Some("global" | "nonlocal") => excluded.extend(line.iter().filter_map(Word::name)),
            Some("case") => bound.extend(of_pattern(Language::Python, &line[1..])),
            _ => bound.extend(assigned(line)),
        }
    }
    bound.retain(|name| !excluded.contains(name) && is_local(name));
    bound
}

/// The targets of the assignments in a line of Python.
fn assigned(line: &[Word]) -> Vec<&str> {
    let is = |at: usize, mark: char| line.get(at).is_some_and(|word| word.is(mark));
    let (mut depth, mut from, mut found) = (0_usize, 0, Vec::new());
    // `x: int = 1`
    let is_typed = is(1, ':') && !is(2, '=') && !matches!(line[0].name(), Some("else" | "try" | "finally"));
    for (at, word) in line.iter().enumerate() {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Word::Mark(':') if depth == 0 && !is(at + 1, '=') && !(is_typed && at == 1) => from = at + 1,
            Word::Mark('=') if depth == 0 => {
                let compares = is(at + 1, '=') || at > 0 && matches!(line[at - 1], Word::Mark('=' | '!' | '<' | '>'));
                if !compares {
                    let to = if is_typed && from == 0 { 1 } else { at };
                    found.extend(targets(&line[from..to]));
                    from = at + 1;
                }
            }
            _ => {}
        }
    }
    found
}

/// The names in front of `=`: `x`, `x, (y, z)`, and not `x[0]` or `x.y`.
fn targets(words: &[Word]) -> Vec<&str> {
    let is_list = words.first().is_some_and(|first| first.is('(') || first.is('['));
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    let (mut depth, mut found) = (0_usize, Vec::new());
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Word::Name(name) => {
                let is_part = at > 0 && is(at - 1, '.') || is(at + 1, '[') || is(at + 1, '.') || is(at + 1, '(');
                if !is_part && (depth == 0 || is_list) {
                    found.push(name.as_str());
                }
            }
            _ => {}
        }
    }
    found
}

/// Names that code with blocks in braces binds.
fn braces(language: Language, words: &[Word]) -> HashSet<&str> {
    let mut bound = HashSet::new();
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    let is_script = language.is_kin(Language::JavaScript);
    for (at, word) in words.iter().enumerate() {
        let rest = &words[at + 1..];
        match word {
            Word::Name(name) => match name.as_str() {
                "let" if language == Language::Rust => {
                    let pattern = until(rest, |word| matches!(word, Word::Mark('=' | ';') | Word::End));
                    bound.extend(of_pattern(language, without_type(pattern)));
                }
                "for" if language == Language::Rust => {
                    let pattern = until(rest, |word| word.name() == Some("in") || *word == Word::End);
                    bound.extend(of_pattern(language, pattern));
                }
                "var" if language == Language::Go => {
                    let list = until(rest, |word| word.is('=') || *word == Word::End);
                    bound.extend(parts(language, list).iter().filter_map(|part| part.first().and_then(Word::name)));
                }
                "let" | "const" | "var" if is_script => bound.extend(variables(language, rest)),
                "fn" | "func" | "function" => bound.extend(of_function(language, rest)),
                "catch" if is_script => bound.extend(declared(language, inside(words, at + 1))),
                "class" | "const" | "enum" | "import" | "interface" | "mod" | "struct" | "trait" | "type"
                | "static" => {
                    bound.extend(rest.first().and_then(Word::name));
                }
                // `push(x) {` of a class or an object
                name if is_script && is(at + 1, '(') && !CONTROL.contains(&name) => {
                    let list = inside(words, at + 1);
                    if is_body(&words[(at + list.len() + 3).min(words.len())..]) {
                        bound.extend(declared(language, list));
                    }
                }
                _ => {}
            },
            Word::Mark(':') if language == Language::Go && is(at + 1, '=') => {
                let back = words[..at].iter().rev().take_while(|word| word.name().is_some() || word.is(','));
                bound.extend(back.filter_map(Word::name));
            }
            Word::Mark('|') if language == Language::Rust => {
                let opens = at == 0
                    || matches!(words[at - 1], Word::Mark('(' | ',' | '=' | '{') | Word::End)
                    || words[at - 1].name() == Some("move");
                if opens {
                    bound.extend(declared(language, until(rest, |word| word.is('|'))));
                }
            }
            Word::Mark('=') if is(at + 1, '>') && at > 0 => bound.extend(before_arrow(language, &words[..at])),
            _ => {}
        }
    }
    bound
}

/// A pattern of Rust without the type behind it.
fn without_type(pattern: &[Word]) -> &[Word] {
    let is = |at: usize, mark: char| pattern.get(at).is_some_and(|word| word.is(mark));
    let mut depth = 0_usize;
    let end = (0..pattern.len()).find(|&at| {
        match pattern[at] {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is(at, ':') && !is(at + 1, ':') && !(at > 0 && is(at - 1, ':'))
    });
    &pattern[..end.unwrap_or(pattern.len())]
}

/// The names that follow `let`, `const` or `var`.
fn variables(language: Language, mut rest: &[Word]) -> Vec<&str> {
    let mut found = Vec::new();
    loop {
        let is_end = |word: &Word| word.is(';') || *word == Word::End;
        let ends = |word: &Word| {
            is_end(word) || word.is('=') || word.is(':') || word.is(',') || matches!(word.name(), Some("of" | "in"))
        };
        let pattern = until(rest, ends);
        found.extend(of_pattern(language, pattern));
        // A comma in a list of types is followed by no variable.
        let mut at = pattern.len();
        loop {
            at += until(&rest[at..], |word| is_end(word) || word.is(',')).len();
            if !rest.get(at).is_some_and(|word| word.is(',')) {
                return found;
            }
            let next = &rest[at + 1..];
            let begins = until(next, |word| ends(word) || matches!(word, Word::Mark('<' | '>' | '|' | '&' | '.')));
            if next.get(begins.len()).is_none_or(ends) {
                break;
            }
            at += 1;
        }
        rest = &rest[at + 1..];
        while rest.first() == Some(&Word::End) {
            rest = &rest[1..];
        }
    }
}

/// The parameters of a function, its types and its receiver, by the words behind `fn`, `func` or `function`.
fn of_function(language: Language, rest: &[Word]) -> Vec<&str> {
    let is = |at: usize, mark: char| rest.get(at).is_some_and(|word| word.is(mark));
    let mut found = Vec::new();
    let mut at = 0;
    if language == Language::Go && is(0, '(') {
        let receiver = inside(rest, 0);
        found.extend(declared(language, receiver));
        at = receiver.len() + 2;
    }
    at += usize::from(is(at, '*'));
    if let Some(name) = rest.get(at).and_then(Word::name) {
        found.push(name);
        at += 1;
    }
    if at > 0 && (is(at, '<') || is(at, '[')) {
        let mut depth = 0_usize;
        while let Some(word) = rest.get(at) {
            let begins = is(at - 1, '<') || is(at - 1, '[') || is(at - 1, ',');
            match word {
                Word::Mark('<' | '[' | '(') => depth += 1,
                Word::Mark('>') if is(at - 1, '-') || is(at - 1, '=') => {}
                Word::Mark('>' | ']' | ')') => depth = depth.saturating_sub(1),
                Word::Name(name) if begins && depth == 1 => found.push(name),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
    }
    if is(at, '(') {
        let list = inside(rest, at);
        found.extend(declared(language, list));
        at += list.len() + 2;
        if language == Language::Go && is(at, '(') {
            found.extend(declared(language, inside(rest, at)));
        }
    }
    found
}

/// Returns true if the words behind the parameters of a method begin its body.
fn is_body(rest: &[Word]) -> bool {
    if !rest.first().is_some_and(|word| word.is(':')) {
        return rest.first().is_some_and(|word| word.is('{'));
    }
    let is_type =
        |word: &&Word| word.name().is_some() || matches!(word, Word::Mark('<' | '>' | '[' | ']' | '|' | ',' | '.'));
    let length = rest[1..].iter().take_while(is_type).count();
    length > 0 && rest.get(length + 1).is_some_and(|word| word.is('{'))
}

/// The names in front of `=>`: parameters, or the pattern of an arm in Rust.
fn before_arrow(language: Language, words: &[Word]) -> Vec<&str> {
    let is = |at: Option<usize>, mark: char| at.and_then(|at| words.get(at)).is_some_and(|word| word.is(mark));
    if language == Language::Rust {
        let mut depth = 0_usize;
        let from = words.iter().rposition(|word| {
            match word {
                Word::Mark(')' | ']' | '}') => depth += 1,
                Word::Mark('(' | '[' | '{') if depth == 0 => return true,
                Word::Mark('(' | '[' | '{') => depth -= 1,
                Word::Mark(',') | Word::End => return depth == 0,
                _ => {}
            }
            false
        });
        let arm = &words[from.map_or(0, |from| from + 1)..];
        let pattern = until(arm, |word| word.name() == Some("if"));
        let pattern = if pattern.len() < arm.len() { pattern } else { arm };
        return of_pattern(language, pattern);
    }
    if !language.is_kin(Language::JavaScript) {
        return Vec::new();
    }
    let last = words.len() - 1;
    let mut close = Some(last).filter(|last| words[*last].is(')'));
    // `(x: T): R => …`
    let back = words.len().saturating_sub(16);
    close = close.or_else(|| (back..last).rev().find(|&at| is(Some(at), ')') && is(Some(at + 1), ':')));
    match close.and_then(|close| opening(words, close)) {
        Some(open) => declared(language, inside(words, open)),
        None => words[last].name().into_iter().collect(),
    }
}

/// Words of a language that are no names of anything.
pub(super) fn is_word(language: Language, name: &str) -> bool {
    let list: &[&str] = match language {
        Language::Python => &["self", "cls", "_", "__file__", "__name__", "Self"],
        Language::JavaScript | Language::TypeScript => &[
            "any", "arguments", "as", "boolean", "break", "class", "const", "continue", "debugger", "declare",
            "default", "enum", "exports", "extends", "false", "finally", "from", "infer", "interface", "is", "let",
            "module", "never", "null", "number", "object", "private", "protected", "public", "readonly", "satisfies",
            "string", "symbol", "this", "true", "try", "type", "undefined", "unknown", "var", "Partial", "Readonly",
            "Record", "Required", "Pick", "Omit", "Exclude", "Extract", "NonNullable", "ReturnType", "Parameters",
            "Awaited", "Iterable", "ReadonlyArray",
        ],
        Language::Rust => &[
            "AsMut", "AsRef", "Clone", "Copy", "Debug", "Default", "DoubleEndedIterator", "Drop", "Eq",
            "ExactSizeIterator", "Extend", "From", "FromIterator", "Hash", "Into", "IntoIterator", "Iterator", "Ord",
            "PartialEq", "PartialOrd", "Send", "Sized", "Sync", "ToOwned", "ToString", "TryFrom", "TryInto", "alloc",
            "assert_eq", "assert_ne", "async", "bool", "break", "char", "const", "continue", "core", "crate", "dyn",
            "enum", "eprintln", "extern", "f32", "f64", "false", "format", "i128", "i16", "i32", "i64", "i8", "isize",
            "matches", "mod", "panic", "println", "static", "std", "str", "struct", "todo", "trait", "true", "type",
            "u128", "u16", "u32", "u64", "u8", "unimplemented", "unreachable", "use", "usize", "vec", "write",
            "writeln", "_",
        ],
        Language::Go => {
            &["break", "continue", "default", "else", "fallthrough", "false", "goto", "iota", "nil", "true", "_"]
        }
    };
    list.contains(&name)
}
