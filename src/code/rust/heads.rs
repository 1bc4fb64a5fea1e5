//! Recognises functions and scopes by the tokens before a brace.

use crate::code::braces::scan::{Head, HeadDefinition, Heads};

pub(super) const HEADS: Heads = Heads {
    restarts: &[
        "fn", "pub", "impl", "trait", "mod", "struct", "enum", "use", "const", "static", "type", "unsafe", "async",
        "extern", "macro_rules",
    ],
    goes_on: &["where"],
    arrows: false,
    read,
};

fn read(head: &Head) -> Option<HeadDefinition> {
    if let Some(keyword) = head.last("fn") {
        return head.is_word(keyword + 1).then(|| HeadDefinition {
            name: head.at(keyword + 1).to_owned(),
            scope: false,
            first: first(head, keyword),
            keyword: keyword + 1,
        });
    }
    if let Some(keyword) = head.last("impl") {
        return implemented(head, keyword);
    }
    let keyword = head.last("trait").or_else(|| head.last("mod"))?;
    head.is_word(keyword + 1).then(|| HeadDefinition {
        name: head.at(keyword + 1).to_owned(),
        scope: true,
        first: first(head, keyword),
        keyword: keyword + 1,
    })
}

/// The first of the words that stand before a keyword and belong to it: `pub(crate) const unsafe extern "C"`.
fn first(head: &Head, keyword: usize) -> usize {
    let belongs = |i: usize| {
        matches!(head.at(i), "pub" | "const" | "async" | "unsafe" | "extern" | "default" | "auto" | "(" | ")")
            || head.at(i).starts_with('"')
    };
    let mut first = keyword;
    while first > 0 && belongs(first - 1) {
        first -= 1;
    }
    first
}

/// The block of an `impl`, named after its type.
fn implemented(head: &Head, keyword: usize) -> Option<HeadDefinition> {
    let from = head.after_angles(keyword + 1);
    let mut name = None;
    let mut i = from;
    while i < head.tokens.len() && head.at(i) != "where" {
        if head.at(i) == "<" {
            let after = head.after_angles(i);
            i = if after == i { i + 1 } else { after };
            continue;
        }
        match head.at(i) {
            "for" if head.at(i + 1) != "<" => name = None,
            "dyn" | "mut" | "for" | "const" => {}
            _ if head.is_word(i) && !(i > 0 && head.at(i - 1) == "'") => name = Some(i),
            _ => {}
        }
        i += 1;
    }
    let keyword_at = name?;
    Some(HeadDefinition {
        name: head.at(keyword_at).to_owned(),
        scope: true,
        first: first(head, keyword),
        keyword: keyword_at,
    })
}

/// The name of a type or a function, without its path and its parameters.
pub(super) fn type_name(written: &str) -> String {
    let path = written.split('<').next().unwrap_or(written);
    let name = path.rsplit("::").next().unwrap_or(path);
    name.split(|c: char| !(c.is_alphanumeric() || c == '_')).rfind(|part| !part.is_empty()).unwrap_or(name).to_owned()
}
