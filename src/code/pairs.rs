//! Tells functions of one type and one name apart: methods of several traits, and the accessors of a
//! property.

use super::rules::Function;
use super::target::last_name;
use super::words::{Word, words};
use crate::language::Language;

/// The trait of a method in Rust, `get` or `set` in JavaScript, the decorator of an accessor in Python. Empty
/// for any other function.
pub(super) fn kind(language: Language, text: &str, function: &Function) -> String {
    let around = function.parents.last().map_or("", |around| &text[around.clone()]);
    let own = &text[function.range.start..function.body.start.max(function.range.start)];
    kind_of(language, last_name(&function.name), around, own)
}

/// [`kind`] of a function of this name, by the head of its class and its own.
pub(super) fn kind_of(language: Language, name: &str, around: &str, own: &str) -> String {
    match language {
        Language::Go => String::new(),
        Language::Rust => implemented(&words(language, around)),
        Language::Python => {
            let ends =
                |line: &str| [".setter", ".deleter", ".getter", "property"].into_iter().find(|e| line.ends_with(e));
            let mut decorators = own.lines().map(str::trim).filter(|line| line.starts_with('@'));
            decorators.find_map(ends).map_or_else(String::new, str::to_owned)
        }
        Language::JavaScript | Language::TypeScript => {
            let words: Vec<Word> = words(language, own).into_iter().filter(|word| !word.is('#')).collect();
            let name = Some(name.trim_start_matches('#'));
            let at =
                (1..words.len()).rfind(|&at| words[at].name() == name && words.get(at + 1).is_some_and(|w| w.is('(')));
            let before = at.and_then(|at| words[at - 1].name()).filter(|word| matches!(*word, "get" | "set"));
            before.unwrap_or_default().to_owned()
        }
    }
}

/// The trait in the head of an `impl`, without paths and lifetimes.
pub(super) fn implemented(head: &[Word]) -> String {
    let Some(begin) = head.iter().position(|word| word.name() == Some("impl")) else { return String::new() };
    let (mut depth, mut shown, mut from): (usize, Vec<String>, usize) = (0, Vec::new(), 0);
    for at in begin + 1..head.len() {
        match &head[at] {
            Word::Mark('<') => depth += 1,
            Word::Mark('>') => {
                depth = depth.saturating_sub(1);
                // The parameters of the `impl` itself.
                if depth == 0 && head[begin + 1].is('<') && from == 0 {
                    shown.clear();
                    from = at;
                    continue;
                }
            }
            Word::Name(word) if word == "for" && depth == 0 => return shown.concat(),
            Word::Mark(':') if head[at - 1].is(':') => {
                shown.pop();
                continue;
            }
            Word::Mark(':' | '\'' | ',') | Word::End | Word::Text(_) => continue,
            Word::Name(_) if head[at - 1].is('\'') => continue,
            _ => {}
        }
        match &head[at] {
            Word::Name(word) => shown.push(word.clone()),
            Word::Mark(mark) => shown.push(mark.to_string()),
            _ => {}
        }
    }
    String::new()
}
