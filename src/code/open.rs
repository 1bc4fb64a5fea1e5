//! Text that ends with the head of a function: which language it is in, and which function.

use super::{Place, Target};
use crate::language::Language;

/// The function whose head ends `text`, if it does, and if only one language can be meant.
pub fn open_function(text: &str) -> Option<Target> {
    if let Ok(target) = Target::in_text(text, Language::Python, &Place::Any)
        && is_open(&target)
    {
        return Some(target);
    }
    let others = Language::ALL.iter().filter(|&&l| l != Language::Python);
    let last = Place::Line(text.lines().count().max(1));
    let found: Vec<Target> = others
        .filter_map(|&language| Target::in_text(text, language, &last).ok())
        .filter(|target| is_open(target) && target.tail.trim() == "}")
        .collect();
    match found.as_slice() {
        [one] => Some(one.clone()),
        // What is JavaScript is TypeScript too; types tell which one is meant.
        [script, typed] if [script.language, typed.language] == [Language::JavaScript, Language::TypeScript] => {
            let head = &typed.text[typed.function.start..typed.body.start];
            Some(if has_types(head) { typed } else { script }.clone())
        }
        _ => None,
    }
}

/// Whether nothing but white space follows the head.
fn is_open(target: &Target) -> bool {
    target.text.get(target.body.start..).is_some_and(|rest| rest.trim().is_empty())
}

/// Whether the lines of a head that are no comments name types.
fn has_types(head: &str) -> bool {
    let comment = |line: &&str| ["//", "/*", "*"].iter().any(|mark| line.trim_start().starts_with(mark));
    let code: String = head.lines().filter(|line| !comment(line)).collect();
    code.contains([':', '<']) || code.contains(" as ")
}
