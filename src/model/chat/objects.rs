//! The objects of a template (`namespace`): one that holds itself would be read without an end.

use super::source;

/// Most words between the name of a macro and an object that it is given.
const MOST_ARGUMENTS: usize = 100;

/// The words in the tags of a template, with their lines.
struct Words<'a>(Vec<(usize, &'a str)>);

/// Refuses templates that use their objects for anything but to keep values under a name. A macro may be
/// given one if it calls it by the same name.
pub fn stand_alone(text: &str) -> Result<(), String> {
    let words = Words(source::words(text));
    let makes = |at: usize| {
        words.is(at, "set") && words.is(at + 2, "=") && words.is(at + 3, "namespace") && words.is(at + 4, "(")
    };
    let all = 0..words.0.len();
    let names: Vec<&str> = all.clone().filter(|&at| makes(at)).map(|at| words.0[at + 1].1).collect();
    for at in all.filter(|&at| at == 0 || !words.is(at - 1, ".")) {
        let (line, word) = words.0[at];
        let made = |back: usize| at.checked_sub(back).is_some_and(makes);
        // Another value under the same name is none of them.
        let given_anew = at > 0 && words.is(at - 1, "set") && words.is(at + 1, "=");
        let keeps = given_anew || words.is(at + 1, ".") || words.is_given_to_macro(at);
        if word == "namespace" && !made(3) || names.contains(&word) && !keeps {
            return Err(format!("it uses `{word}` for more than to keep values, line {line}"));
        }
    }
    Ok(())
}

impl Words<'_> {
    fn is(&self, at: usize, word: &str) -> bool {
        self.0.get(at).is_some_and(|(_, found)| *found == word)
    }

    /// The word here is an argument, or a parameter, of a macro that has it under this name.
    fn is_given_to_macro(&self, at: usize) -> bool {
        let is_alone = |before: usize| [",", "("].iter().any(|word| self.is(before, word));
        if at == 0 || !is_alone(at - 1) || !self.is(at + 1, ",") && !self.is(at + 1, ")") {
            return false;
        }
        let (mut depth, mut place) = (0_usize, 0);
        for before in (0..at).rev().take(MOST_ARGUMENTS) {
            match self.0[before].1 {
                ")" | "]" | "}" => depth += 1,
                "(" if depth == 0 => {
                    return before > 0 && self.takes(before - 1, place, self.0[at].1);
                }
                "[" | "{" if depth == 0 => return false,
                "(" | "[" | "{" => depth -= 1,
                "," if depth == 0 => place += 1,
                _ => {}
            }
        }
        false
    }

    /// The word at `name` can only be a macro, and each macro of this name has the argument in this place.
    fn takes(&self, name: usize, place: usize, argument: &str) -> bool {
        let name = self.0[name].1;
        let mut is_macro = false;
        for at in (0..self.0.len()).filter(|&at| self.is(at, name)) {
            if !self.is(at + 1, "(") || at > 0 && self.is(at - 1, ".") {
                return false;
            }
            if at > 0 && self.is(at - 1, "macro") {
                is_macro = true;
                if self.parameter(at + 2, place) != Some(argument) {
                    return false;
                }
            }
        }
        is_macro
    }

    /// The name of a parameter; the first is the word at `from`.
    fn parameter(&self, from: usize, place: usize) -> Option<&str> {
        let (mut depth, mut left) = (0_usize, place);
        let mut begins = true;
        for &(_, word) in &self.0[from.min(self.0.len())..] {
            if begins && left == 0 {
                return Some(word);
            }
            begins = depth == 0 && word == ",";
            match word {
                ")" if depth == 0 => return None,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "," if depth == 0 => left = left.saturating_sub(1),
                _ => {}
            }
        }
        None
    }
}
