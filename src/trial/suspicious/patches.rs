//! Finds replaced parts of modules and of the language, and names that are computed. Pure.

use super::Kind;
use super::imports::Imports;
use crate::code::Word;
use crate::language::Language;

/// Modules of Python whose parts nobody replaces but to deceive.
const LIBRARIES: &str = "unittest pytest _pytest doctest builtins sys os json math cmath random time types inspect functools \
    collections operator io re threading asyncio traceback warnings contextlib dataclasses typing \
    decimal fractions datetime ast importlib abc copy pprint difflib itertools logging statistics \
    string enum weakref gc numpy";

/// Parts that programs set in everyday life.
const SETTINGS: &str = "stdout stderr stdin path argv exitCode stackTraceLimit defaultMaxListeners title";

/// Objects that all code of JavaScript shares.
const GLOBALS: &str = "Object Array String Number Boolean Map Set WeakMap WeakSet Promise Function RegExp Date Error \
    TypeError RangeError Symbol JSON Math Reflect Proxy console process Buffer Intl BigInt Uint8Array \
    Float64Array assert expect";

/// True if a list of names, with a space between them, holds this one.
fn holds(list: &str, name: &str) -> bool {
    list.split(' ').any(|other| other == name)
}

pub fn of(language: Language, words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    match language {
        Language::Python => python(words, imports),
        Language::JavaScript | Language::TypeScript => javascript(words, imports),
        Language::Rust => rust(words, imports),
        Language::Go => Vec::new(),
    }
}

/// Names that Rust's tests judge by: types, and macros that check.
const OF_RUST: &str = "i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char str assert assert_eq \
    assert_ne matches panic std core";

/// Comparisons and arithmetic with another type than one's own.
const OPERATORS: &str = "PartialEq PartialOrd Add Sub Mul Div Rem BitXor BitAnd BitOr Shl Shr";

fn rust(words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    for name in OF_RUST.split(' ').filter(|name| imports.aliases.contains_key(*name)) {
        found.push((Kind::Judges, format!("as {name}")));
    }
    for pair in words.windows(2) {
        if let [Word::Name(how), Word::Name(name)] = pair
            && ["struct", "enum", "union", "type", "trait", "mod"].contains(&how.as_str())
            && holds(OF_RUST, name)
        {
            found.push((Kind::Judges, format!("{how} {name}")));
        }
    }
    for head in words.split(|word| word.name() == Some("impl")).skip(1) {
        // Without `for` it is a return type.
        let end = head.iter().position(|word| word.is('{') || word.name() == Some("for")).unwrap_or(head.len());
        let head = if head.get(end).is_some_and(|word| word.name() == Some("for")) { &head[..end] } else { &[] };
        // In brackets behind `impl` are bounds.
        let mut depth = 0_i32;
        for pair in head.windows(2) {
            if let (0, [Word::Name(name), next]) = (depth, pair)
                && next.is('<')
                && holds(OPERATORS, name)
            {
                found.push((Kind::Equality, format!("{name}<")));
            }
            depth += i32::from(pair[0].is('<')) - i32::from(pair[0].is('>'));
        }
    }
    found
}

fn python(words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let kind_of = |name: &str| {
        let module = imports.bound.get(name)?;
        let top = module.split('.').next().unwrap_or_default();
        Some(if holds(LIBRARIES, top) { Kind::Patch } else { Kind::Assign })
    };
    for (at, word) in words.iter().enumerate() {
        let Some(name) = word.name() else { continue };
        let before = at.checked_sub(1).map(|at| &words[at]);
        if name == "getattr" && words.get(at + 1).is_some_and(|next| next.is('(')) && is_computed(&words[at + 2..]) {
            found.push((Kind::Computed, "getattr".to_owned()));
        }
        if matches!(name, "setattr" | "delattr")
            && let Some((path, _)) = path(&words[(at + 2).min(words.len())..])
            && let Some(kind) = path.first().and_then(|first| kind_of(first))
        {
            found.push((kind, format!("{name}({})", path.join("."))));
        }
        if before.is_some_and(|before| before.is('.')) {
            continue;
        }
        let Some((path, after)) = path(&words[at..]) else { continue };
        let rest = &words[at + after..];
        let is_set = rest.first().is_some_and(|word| word.is('=')) && !rest.get(1).is_some_and(|word| word.is('='));
        let is_argument = before.is_some_and(|before| before.is('(') || before.is(','));
        if path.len() > 1 && is_set && !is_argument && !holds(SETTINGS, path[1]) {
            found.extend(kind_of(path[0]).map(|kind| (kind, format!("{} =", path.join(".")))));
        }
    }
    found
}

/// Returns true if the second argument is a computed text, not a single string or name.
fn is_computed(arguments: &[Word]) -> bool {
    let mut depth = 0_usize;
    let mut second: Option<Vec<&Word>> = None;
    for word in arguments {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') if depth == 0 => break,
            Word::Mark(')' | ']' | '}') => depth -= 1,
            Word::Mark(',') if depth == 0 => {
                if second.is_some() {
                    break;
                }
                second = Some(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(second) = &mut second {
            second.push(word);
        }
    }
    let second = second.unwrap_or_default();
    second.len() > 1 && second.iter().any(|word| matches!(word, Word::Text(_)))
}

fn javascript(words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let is_shared = |name: &str| {
        let is_library = imports.bound.get(name).is_some_and(|module| !module.starts_with('.'));
        holds(GLOBALS, name) || is_library
    };
    for at in 0..words.len() {
        if at > 0 && words[at - 1].is('.') {
            continue;
        }
        let Some((path, after)) = path(&words[at..]) else { continue };
        let rest = &words[at + after..];
        let is_set = rest.first().is_some_and(|word| word.is('='))
            && !rest.get(1).is_some_and(|word| word.is('=') || word.is('>'));
        let last = path.last().copied().unwrap_or_default();
        if path.len() > 1 && is_set && !holds(SETTINGS, last) {
            if is_shared(path[0]) {
                found.push((Kind::Patch, format!("{} =", path.join("."))));
            } else if matches!(path[0], "globalThis" | "global" | "window") {
                let kind = if path.len() > 2 || is_shared(last) { Kind::Patch } else { Kind::Assign };
                found.push((kind, format!("{} =", path.join("."))));
            }
        }
        let defines = ["defineProperty", "defineProperties", "assign", "setPrototypeOf", "set"].contains(&last)
            && matches!(path[0], "Object" | "Reflect")
            && rest.first().is_some_and(|word| word.is('('));
        if defines
            && let Some((target, _)) = self::path(&rest[1..])
            && (is_shared(target[0]) || matches!(target[0], "globalThis" | "global"))
        {
            found.push((Kind::Patch, format!("{}({})", path.join("."), target.join("."))));
        }
        let is_loading = path == ["require"] || path == ["import"];
        let is_given = !matches!(rest.get(1), Some(Word::Text(_) | Word::End) | None);
        if is_loading && rest.first().is_some_and(|word| word.is('(')) && is_given {
            found.push((Kind::Computed, path[0].to_owned()));
        }
    }
    found
}

/// The dotted names at the beginning, and the number of their words.
fn path(words: &[Word]) -> Option<(Vec<&str>, usize)> {
    let mut names = vec![words.first()?.name()?];
    let mut at = 1;
    while words.get(at).is_some_and(|word| word.is('.')) {
        let Some(name) = words.get(at + 1).and_then(Word::name) else { break };
        names.push(name);
        at += 2;
    }
    Some((names, at))
}
