//! Tells bodies apart that differ in more than the names of their locals.
//!
//! Works on words, so also on text that no grammar reads. A name counts as a local only where the words show
//! that the body binds it; in doubt two bodies are different.

use std::collections::{HashMap, HashSet};

use super::uses;
use super::words::{Word, words};
use crate::language::Language;

/// The words of `body` with the names of its locals replaced by numbers, in the order in which they appear.
/// Equal for bodies that differ only in white space, comments and the names of locals. `is_outer`: the
/// names in the function's head, which are never locals.
pub fn without_local_names(language: Language, body: &str, is_outer: impl Fn(&str) -> bool) -> String {
    let words = words(language, body);
    let lines = uses::statements(language, body);
    let bound = bound(language, &lines);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let (mut out, mut open): (String, Vec<char>) = (String::new(), Vec::new());
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Name(name) => {
                if bound.contains(name.as_str()) && !is_outer(name) && !is_label(language, &words, at, &open) {
                    let next = numbers.len();
                    let number = *numbers.entry(name).or_insert(next);
                    out.extend(["\u{1}", &number.to_string()]);
                } else {
                    out.push_str(name);
                }
            }
            Word::Text(text) => out.extend(["\u{2}", text, "\u{2}"]),
            Word::Mark(mark) => {
                match mark {
                    '(' | '[' | '{' => open.push(*mark),
                    ')' | ']' | '}' => drop(open.pop()),
                    _ => {}
                }
                out.push(*mark);
            }
            Word::End => out.push('\n'),
        }
        out.push(' ');
    }
    // Indentation is part of what Python says; the words leave it out.
    if language == Language::Python {
        let depths = body.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        let depths: Vec<usize> = depths.map(|line| line.len() - line.trim_start().len()).collect();
        let mut levels: Vec<usize> = depths.clone();
        levels.sort_unstable();
        levels.dedup();
        out.extend(depths.iter().filter_map(|depth| levels.binary_search(depth).ok()).map(|level| format!("{level},")));
    }
    out
}

/// The name at `at` belongs to someone else even if a local has the same: a member, a keyword argument, a key
/// or a shorthand of an object.
fn is_label(language: Language, words: &[Word], at: usize, open: &[char]) -> bool {
    let is = |at: Option<usize>, mark: char| at.and_then(|at| words.get(at)).is_some_and(|word| word.is(mark));
    let (before, after) = (at.checked_sub(1), Some(at + 1));
    if is(before, '.') && !is(at.checked_sub(2), '.') {
        return true;
    }
    let inside = open.last().copied();
    if language == Language::Python {
        return inside == Some('(') && is(after, '=') && !is(Some(at + 2), '=') && (is(before, '(') || is(before, ','));
    }
    let begins = is(before, '{') || is(before, ',');
    inside == Some('{') && begins && (is(after, ',') || is(after, '}') || is(after, ':'))
}

/// Names that code binds, where words show it.
pub(super) fn bound(language: Language, words: &[Word]) -> HashSet<&str> {
    if language == Language::Python { uses::python_locals(words) } else { braces(language, words) }
}

/// The names up to the word `end`.
fn names_until<'a>(words: &'a [Word], end: &'a str) -> impl Iterator<Item = &'a str> {
    words.iter().take_while(move |word| word.name() != Some(end)).filter_map(Word::name)
}

/// The parameters in a list that ends with `end`: names at its beginning and behind its commas.
fn parameters(words: &[Word], end: char) -> impl Iterator<Item = &str> {
    let list = words.iter().take_while(move |word| !word.is(end)).collect::<Vec<_>>();
    let begins = move |at: usize, list: &[&Word]| at == 0 || matches!(list[at - 1], Word::Mark(',' | '*' | '&'));
    let kept = (0..list.len()).filter(|&at| begins(at, &list)).filter_map(|at| list[at].name()).collect::<Vec<_>>();
    kept.into_iter()
}

/// Names that code with blocks in braces binds: `let`, `const`, `var`, `:=`, loops, parameters of closures.
fn braces(language: Language, words: &[Word]) -> HashSet<&str> {
    let mut bound = HashSet::new();
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    for (at, word) in words.iter().enumerate() {
        match word {
            Word::Name(name) if matches!(name.as_str(), "let" | "const" | "var") => {
                let stops = |word: &&Word| {
                    !(word.is('=') || word.is(':') || word.is(';') || matches!(word.name(), Some("of" | "in")))
                };
                let names = words[at + 1..].iter().take_while(|word| stops(word) && **word != Word::End);
                if language == Language::Go {
                    // The names in front of the type.
                    let is_first = |back: usize| back == at + 1 || is(back - 1, ',');
                    let listed = (at + 1..)
                        .take_while(|&next| words.get(next).is_some_and(|word| stops(&word) && *word != Word::End));
                    bound.extend(listed.filter(|&next| is_first(next)).filter_map(|next| words[next].name()));
                } else if !is(at + 1, '{') {
                    // Members that are taken out of an object keep their names.
                    bound.extend(names.filter_map(Word::name));
                }
            }
            Word::Name(name) if name == "for" && language == Language::Rust => {
                bound.extend(names_until(&words[at + 1..], "in"));
            }
            // `a, b := f()`.
            Word::Mark(':') if language == Language::Go && is(at + 1, '=') => {
                let back = words[..at].iter().rev().take_while(|word| word.name().is_some() || word.is(','));
                bound.extend(back.filter_map(Word::name));
            }
            // `|a, b| a + b`: only directly behind what a closure can follow.
            Word::Mark('|') if language == Language::Rust => {
                let opens = at == 0
                    || matches!(words[at - 1], Word::Mark('(' | ',' | '='))
                    || words[at - 1].name() == Some("move");
                if opens {
                    bound.extend(parameters(&words[at + 1..], '|'));
                }
            }
            // `x => …` and `(x, y) => …`.
            Word::Mark('=') if is(at + 1, '>') && language.is_kin(Language::JavaScript) && at > 0 => {
                if words[at - 1].is(')') {
                    let from = words[..at].iter().rposition(|word| word.is('(')).map_or(at, |from| from + 1);
                    bound.extend(parameters(&words[from..at], ')'));
                } else {
                    bound.extend(words[at - 1].name());
                }
            }
            _ => {}
        }
    }
    let is_local = |name: &&str| {
        !matches!(*name, "mut" | "ref" | "_" | "range" | "self" | "this" | "async" | "if" | "else")
            && (language != Language::Rust || name.starts_with(|c: char| c.is_lowercase() || c == '_'))
    };
    bound.retain(is_local);
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(language: Language, one: &str, other: &str) -> bool {
        let is_outer = |name: &str| ["numbers", "total"].contains(&name);
        without_local_names(language, one, is_outer) == without_local_names(language, other, is_outer)
    }

    #[test]
    fn names_of_locals_make_no_difference() {
        let python = [
            (
                "r = []\nfor n in numbers:\n    r.append(n)\nreturn r\n",
                "out = []\nfor x in numbers:\n    out.append(x)\nreturn out\n",
            ),
            ("return [x*x for x in numbers]", "return [n * n for n in numbers]"),
            ("a, b = 0, 1  # c\nreturn f'{a}'", "a, c = 0, 1\nreturn f'{a}'"),
            ("with open(p) as f: return f.read()", "with open(p) as g: return g.read()"),
            ("return max(numbers, key=lambda v: -v)", "return max(numbers, key=lambda w: -w)"),
            ("if (n := len(numbers)) > 3: return n", "if (k := len(numbers)) > 3: return k"),
            ("def inner(a): return a\nreturn inner(1)", "def f(b): return b\nreturn f(1)"),
        ];
        for (one, other) in python {
            assert!(same(Language::Python, one, other), "{one}\n{other}");
        }
        assert!(same(
            Language::JavaScript,
            "let a = 1; return xs.map(x => x + a)",
            "let b = 1; return xs.map(y => y + b)"
        ));
        assert!(same(Language::JavaScript, "for (const k of xs) f(k)", "for (const v of xs) f(v)"));
        assert!(same(
            Language::Rust,
            "let mut a = 0; for x in v { a += x; } a",
            "let mut s = 0; for n in v { s += n; } s"
        ));
        assert!(same(Language::Rust, "v.iter().map(|x| x + 1)", "v.iter().map(|y| y + 1)"));
        assert!(same(Language::Go, "for i, v := range xs { s += v * i }", "for k, x := range xs { s += x * k }"));
    }

    #[test]
    fn everything_else_makes_one() {
        let python = [
            ("return max(numbers)", "return min(numbers)"),
            ("r = 1\nreturn r + total", "total = 1\nreturn total + r"),
            ("a = 1\nb = 2\nreturn a", "a = 1\nb = 2\nreturn b"),
            ("x = 1\nreturn dict(x=2)", "y = 1\nreturn dict(y=2)"),
            ("x = 1\nreturn self.x", "y = 1\nreturn self.y"),
            ("for n in numbers:\n    f(n)\n    g(n)", "for n in numbers:\n    f(n)\ng(n)"),
            ("x = 'a'", "x = 'b'"),
            ("global a\na = 1", "global b\nb = 1"),
            ("a[0] = 1", "b[0] = 1"),
            ("a == 1", "b == 1"),
        ];
        for (one, other) in python {
            assert!(!same(Language::Python, one, other), "{one}\n{other}");
        }
        assert!(!same(Language::JavaScript, "let a = 1; return { a }", "let b = 1; return { b }"));
        assert!(!same(Language::JavaScript, "const { a } = x; return a", "const { b } = x; return b"));
        assert!(!same(Language::Rust, "let a = 1; P { a }", "let b = 1; P { b }"));
        assert!(!same(Language::Rust, "a | b", "a | c"));
        assert!(!same(Language::Go, "x.a = 1", "x.b = 1"));
    }
}
