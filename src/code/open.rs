//! Finds the function that a text ends in, and its language.

use super::Target;
use crate::language::Language;

/// The function that `text` ends in, with its head or with lines under it, if the language is unambiguous.
pub fn open_function(text: &str) -> Option<Target> {
    if let Some(target) = Target::at_end(text, Language::Python) {
        return Some(target);
    }
    let others = Language::ALL.iter().filter(|&&l| l != Language::Python);
    let found: Vec<Target> = others.filter_map(|&language| Target::at_end(text, language)).collect();
    match found.as_slice() {
        [one] => Some(one.clone()),
        // JavaScript is also valid TypeScript. Types show which one is meant.
        [script, typed] if [script.language, typed.language] == [Language::JavaScript, Language::TypeScript] => {
            let head = &typed.text[typed.function.start..typed.body.start];
            Some(if has_types(head) { typed } else { script }.clone())
        }
        _ => None,
    }
}

/// Returns true if the lines of a head that are not comments name types.
fn has_types(head: &str) -> bool {
    let comment = |line: &&str| ["//", "/*", "*"].iter().any(|mark| line.trim_start().starts_with(mark));
    let code: String = head.lines().filter(|line| !comment(line)).collect();
    code.contains([':', '<']) || code.contains(" as ")
}
