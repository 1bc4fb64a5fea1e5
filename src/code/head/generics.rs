//! Type parameters and lifetimes, which an answer may name in another way than the file.

use std::collections::{HashMap, HashSet};

use super::parameter::{named_at, parts};
use crate::code::answer::RequestedFunction;
use crate::code::braces::lex::{Kind, Token, Tokens};
use crate::code::target::last_name;
use crate::code::{rules, without_comments};
use crate::language::Language;

impl RequestedFunction {
    /// A head of an answer and the body under it, with the names that the file's head has for their type
    /// parameters and lifetimes. `None` if these are the file's already, or have other numbers.
    pub(super) fn with_type_names(&self, head: &str, body: &str) -> Option<(String, String)> {
        let (language, name) = (self.language, last_name(&self.name));
        rules::of(language).lexicon?;
        let lists = [of_receiver, of_function];
        let mut names: HashMap<String, String> = HashMap::new();
        for list in lists {
            let (own, new) = (list(language, &self.head, name), list(language, head, name));
            // Bounds may stand elsewhere; a list of another length is of another function.
            if own.len() == new.len() && own.iter().zip(&new).all(|(own, new)| is_lifetime(own) == is_lifetime(new)) {
                names.extend(new.into_iter().zip(own).filter(|(new, own)| new != own));
            }
        }
        let used: HashSet<String> = [head, body].iter().flat_map(|text| crate::code::names(language, text)).collect();
        // One of the file's names is that of something else.
        let is_taken = |own: &String| used.contains(own) && !names.contains_key(own);
        if names.is_empty() || names.values().any(is_taken) {
            return None;
        }
        Some((renamed(language, head, &names), renamed(language, body, &names)))
    }
}

fn is_lifetime(name: &str) -> bool {
    name.starts_with('\'')
}

/// The type parameters behind the name of a function.
fn of_function(language: Language, head: &str, name: &str) -> Vec<String> {
    let Some(at) = named_at(language, head, name) else { return Vec::new() };
    listed(language, &without_comments(language, head)[at + name.len()..])
}

/// The type parameters of a receiver of Go: `(s *Stack[T])`.
fn of_receiver(language: Language, head: &str, name: &str) -> Vec<String> {
    let Some(at) = named_at(language, head, name).filter(|_| language == Language::Go) else { return Vec::new() };
    let before = &without_comments(language, head)[..at];
    let open = before.find("func").and_then(|func| Some(func + before[func..].find('[')?));
    open.map_or_else(Vec::new, |open| listed(language, &before[open..]))
}

/// The names in a list of type parameters that a text begins with.
fn listed(language: Language, text: &str) -> Vec<String> {
    let (open, close) = if language == Language::Go { ('[', ']') } else { ('<', '>') };
    let (mut depth, mut before) = (0_usize, ' ');
    let end = text.char_indices().find_map(|(at, c)| {
        depth += usize::from(c == open);
        depth = depth.saturating_sub(usize::from(c == close && !matches!(before, '=' | '-')));
        before = c;
        (depth == 0).then_some(at)
    });
    let Some(list) = end.and_then(|end| text.get(1..end)) else { return Vec::new() };
    let list = format!("{list})");
    let name = |part: &str| {
        let part = part.trim();
        let part = part.strip_prefix("const ").unwrap_or(part);
        let end = part.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '\''))).unwrap_or(part.len());
        part[..end].to_owned()
    };
    parts(language, &list).into_iter().map(name).filter(|name| !name.is_empty()).collect()
}

/// A text with other names for types and lifetimes.
fn renamed(language: Language, text: &str, names: &HashMap<String, String>) -> String {
    with_tokens(language, text, |token| {
        let before = &text[..token.start];
        let is_range = before.ends_with("..");
        let is_name = token.kind == Kind::Word && (is_range || !before.ends_with('.'));
        let mark = if before.ends_with('\'') && language == Language::Rust { "'" } else { "" };
        let new = names.get(&[mark, token.text(text)].concat()).filter(|_| is_name)?;
        Some(new[mark.len()..].to_owned())
    })
}

/// A text with other tokens in the place of some.
pub(super) fn with_tokens(language: Language, text: &str, new: impl Fn(&Token) -> Option<String>) -> String {
    let Some(lexicon) = rules::of(language).lexicon else { return text.to_owned() };
    let (mut out, mut done) = (String::new(), 0);
    for token in Tokens::new(lexicon, text) {
        let Some(new) = new(&token) else { continue };
        out += &text[done..token.start];
        out += &new;
        done = token.end;
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::head::tests::all_taken;
    use Language::{Go, Rust, TypeScript};

    #[test]
    fn type_parameters_have_the_names_of_the_file() {
        all_taken(&[
            (
                Go,
                "func f[T, U any](xs []T, by func(T) U) []U {\n",
                "func f[A, T any](in []A, by func(A) T) []T {\n",
                "\treturn make([]T, len(in), p.A)\n",
                "\tin := xs\n\treturn make([]U, len(in), p.A)\n",
            ),
            (
                Go,
                "func (s *Stack[T]) f() (T, bool) {\n",
                "func (st *Stack[E]) f() (E, bool) {\n",
                "\tvar zero E\n\treturn zero, st.is\n",
                "\tst := s\n\tvar zero T\n\treturn zero, st.is\n",
            ),
            (
                Rust,
                "fn f<'a, T: Fn(u8) -> u8 + 'a>(xs: &'a [T]) -> Vec<&'a T> {\n",
                "fn f<'x, N>(xs: &'x [N]) -> Vec<&'x N> {\n",
                "    let all: Vec<&'x N> = Vec::<&N>::new();\n    all\n",
                "    let all: Vec<&'a T> = Vec::<&T>::new();\n    all\n",
            ),
            (
                TypeScript, "function f<T>(xs: T[]): Set<T> {\n", "function f<K>(xs: K[]): Set<K> {\n",
                "  return new Set<K>(xs);\n", "  return new Set<T>(xs);\n",
            ),
            // The name is that of a type of the body.
            (
                Rust, "fn f<T>(xs: T) {\n", "fn f<N>(xs: N) {\n", "    struct T(u8);\n    g::<N>(T(1))\n",
                "    struct T(u8);\n    g::<N>(T(1))\n",
            ),
        ]);
    }

    #[test]
    fn a_short_name_is_found_in_front_of_lifetimes() {
        all_taken(&[(
            Rust,
            "fn f<'a>(a: &'a str, b: &'a str) -> &'a str {\n",
            "fn f<'a>(first: &'a str, of: &'a str) -> &'a str {\n",
            "    if first.len() > of.len() { first } else { of }\n",
            "    let first = a;\n    let of = b;\n    if first.len() > of.len() { first } else { of }\n",
        )]);
    }
}
