//! Orders of Python's sets, which differ from run to run. Trials fix them; a pass of code that uses them is
//! held against others.

use super::case::Trial;
use crate::code::{Word, words};
use crate::language::Language;

/// Hash seeds of the further runs of such a pass.
pub const OTHERS: [u8; 2] = [1, 2];

/// Names of functions and methods that make sets or hashes.
const NAMES: &[&str] = &["set", "frozenset", "hash", "union", "intersection", "difference", "symmetric_difference"];

/// Returns true if the function under test uses sets or hashes.
pub fn are_used(trial: &Trial) -> bool {
    if trial.language != Language::Python {
        return false;
    }
    let target = trial.target_in(&trial.program);
    let body = target.as_ref().and_then(|target| target.text.get(target.body.clone()));
    let words = words(Language::Python, body.unwrap_or(&trial.program));
    words.iter().filter_map(Word::name).any(|name| NAMES.contains(&name)) || has_set(&words)
}

/// Returns true for a set in braces: no colon parts keys from values there.
fn has_set(words: &[Word]) -> bool {
    // The brackets that are open, each with whether it holds something, and a colon.
    let mut open: Vec<(char, bool, bool)> = Vec::new();
    for word in words {
        match word {
            Word::Mark(bracket @ ('(' | '[' | '{')) => {
                open.last_mut().into_iter().for_each(|around| around.1 = true);
                open.push((*bracket, false, false));
            }
            Word::Mark(')' | ']' | '}') => {
                if open.pop() == Some(('{', true, false)) {
                    return true;
                }
            }
            Word::Mark(':') => open.last_mut().into_iter().for_each(|around| around.2 = true),
            Word::End => {}
            _ => open.last_mut().into_iter().for_each(|around| around.1 = true),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_in_braces_are_told_from_dictionaries() {
        for (text, expected) in [
            ("return list({x for x in xs})", true),
            ("return {1, 2}", true),
            ("return f({'a': 1}, {(1, 2)})", true),
            ("return {}", false),
            ("return {x: {'a': y} for x, y in xs}", false),
            ("return '{a}'", false),
            ("return [x for x in xs]", false),
        ] {
            assert_eq!(has_set(&words(Language::Python, text)), expected, "{text}");
        }
    }
}
