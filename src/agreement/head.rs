//! The head of a function: what it takes, as it is written and documented.

use super::annotation::Types;
use super::kind::{Kind, Parameter};
use crate::code::Target;
use crate::language::Language;

/// The head of a function, with its documentation.
pub fn head_of(target: &Target) -> &str {
    target.text.get(target.function.start..target.body.start).unwrap_or_default()
}

/// The parameters of a head.
pub fn parameters(types: Types, head: &str, name: &str) -> Option<Vec<Parameter>> {
    let all = match signature(types.language, head, name)? {
        text if text.starts_with('(') => types.parameters(&types.bound(&head[..head.len() - text.len()], text), 0),
        // `f = x => {`
        name => types.parameters(&format!("({name})"), 0),
    };
    let documented = |parameter: Parameter| {
        let of_text = || documented(head, &parameter.name).map(|text| types.kind(text)).unwrap_or_default();
        let kind = if parameter.kind == Kind::Unknown { of_text() } else { parameter.kind };
        Parameter { kind, ..parameter }
    };
    Some(all.into_iter().map(documented).collect())
}

/// The parameters of a head as they are written, from their parenthesis on.
fn signature<'a>(language: Language, head: &'a str, name: &str) -> Option<&'a str> {
    let rest = |at: usize| head[at + name.len()..].trim_start();
    let at = if language == Language::Python {
        head.match_indices(name).find(|(at, _)| rest(*at).starts_with(['(', '<', '[']))?.0
    } else {
        // It comes last, under the documentation. The function may have its name from a variable.
        let is_inner = |c: char| c.is_alphanumeric() || "_$".contains(c);
        let is_head =
            |(at, _): &(usize, &str)| !head[..*at].ends_with(is_inner) && rest(*at).starts_with(['(', '<', '=', ':']);
        head.rmatch_indices(name).find(is_head)?.0
    };
    if let Some(open) = head[at..].find('(') {
        return Some(&head[at + open..]);
    }
    let (before, _) = head[at..].split_once("=>")?;
    before.split_whitespace().next_back()
}

/// The type of a parameter in the documentation of a head: `@param {number[]} name`.
fn documented<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("@param").skip(1).find_map(|text| {
        let (kind, rest) = braced(text.trim_start())?;
        let rest = rest.trim_start().trim_start_matches('[').strip_prefix(name)?;
        let is_it = !rest.starts_with(|c: char| c.is_alphanumeric() || "_$.".contains(c));
        is_it.then(|| kind.trim_matches(['?', '!', '=']))
    })
}

/// The text in the braces that a text begins with, and the text behind them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((&text[1..at], &text[at + 1..])),
            '}' => depth -= 1,
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}
