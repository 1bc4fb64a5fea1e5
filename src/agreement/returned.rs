//! Functions that a function returns: what they take, as candidates write them, and calls of them.

use super::calls::Called;
use super::kind::{Kind, Parameter, arguments};
use super::value::{COUNTING, FAILING, written};
use crate::code;
use crate::language::Language;
use crate::trial::{Earlier, Input};

/// Calls of the function alone that are kept: they tell which arguments are refused.
const MOST_ALONE: usize = 8;

/// The parameters of the function that most bodies return, then those of the function that this one returns,
/// as they are written, in parentheses. Bodies that are not finished say nothing.
pub fn levels(language: Language, bodies: &[&str]) -> Vec<String> {
    let begun = bodies.iter().filter(|body| !body.trim().is_empty());
    let mut all: Vec<Vec<String>> = begun.filter_map(|body| code::returned_functions(language, body)).collect();
    all.sort_by_key(Vec::len);
    // Of as many bodies those that return more.
    all.chunk_by(|one, other| one.len() == other.len())
        .max_by_key(|same| same.len())
        .map_or_else(Vec::new, |same| same[0].clone())
}

/// The parameters of a function that returns one, with functions whose calls show.
pub fn with_showing(parameters: Vec<Parameter>) -> Vec<Parameter> {
    let one = |parameter: Parameter| match parameter.kind {
        kind @ Kind::Function => {
            let [fails, fails_twice] = FAILING;
            let callback = Kind::callback().typical(0);
            Parameter { kind: kind.told(vec![COUNTING, callback, fails_twice, fails]), ..parameter }
        }
        _ => parameter,
    };
    parameters.into_iter().map(one).collect()
}

/// Calls of the functions that the calls `outer` return, with arguments for each level. Some calls are made
/// after others of one function, which may keep something.
pub fn calls(called: &Called, outer: &[Input], levels: &[Vec<Parameter>], most: usize) -> Vec<Input> {
    let Some((last, between)) = levels.split_last().filter(|_| !outer.is_empty()) else { return Vec::new() };
    let given =
        |parameters: &[Parameter], number: usize| written(&arguments(parameters, number, None), called.language);
    let one = |number: usize| {
        let begun = &outer[number % outer.len()];
        let callee = |input: &Input| format!("{}({})", input.callee, input.arguments);
        let mut callee = callee(begun);
        for level in between {
            callee = format!("{callee}({})", given(level, number + number / outer.len()));
        }
        let earlier = |number: usize| Earlier { method: String::new(), arguments: given(last, number) };
        let earlier = match number % 4 {
            1 => vec![earlier(number)],
            3 => vec![earlier(number), earlier(number + 1)],
            _ => Vec::new(),
        };
        Input { callee, arguments: given(last, number), earlier, ..Input::default() }
    };
    let (mut all, alone) = (Vec::<Input>::new(), outer.len().min(MOST_ALONE));
    for number in 0..3 * most {
        let input = one(number);
        if all.len() + alone < most && !all.contains(&input) {
            all.push(input);
        }
    }
    all.extend(outer.iter().take(alone).cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_most_bodies_counts() {
        let (one, none) = ("    return lambda x: x\n", "    return 1\n");
        assert_eq!(levels(Language::Python, &[none, one, one]), ["(x)"]);
        assert!(levels(Language::Python, &[none, one, none]).is_empty() && levels(Language::Python, &[]).is_empty());
    }
}
