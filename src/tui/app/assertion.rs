//! The right answer to a call as a line of a test, to be copied into the user's tests.

use super::calls::Check;
use super::effect::Effect;
use super::state::State;
use crate::agreement::{is_same, typed, words};
use crate::language::Language;
use crate::trial;

/// Copies the right answer to the selected call.
pub(super) fn copy(state: &mut State) -> Vec<Effect> {
    match of_selected(state) {
        Ok(text) => vec![Effect::Copy { text, program: false }],
        Err(why) => {
            state.say(why);
            Vec::new()
        }
    }
}

fn of_selected(state: &State) -> Result<String, String> {
    let (agreement, input) = state.agreement().zip(state.selected_call()).ok_or("nothing was called")?;
    let input = &agreement.inputs[input];
    let call = input.text();
    if let Some(why) = input.is_no_code() {
        return Err(format!("a line of a test states a call alone, and {why}"));
    }
    let check =
        state.selected_check().ok_or_else(|| format!("first say which answer to {call} is right: press its number"))?;
    let target = state.job.target().ok_or("there is no function that a test could call")?;
    let head = target.head();
    let is_async = head.lines().any(|line| line.trim_start().trim_start_matches("export ").starts_with("async "));
    line(target.language, check, is_async)
}

/// `assert f(1) == 2`, as the language writes it.
fn line(language: Language, check: &Check, is_async: bool) -> Result<String, String> {
    let Check { call, right, .. } = check;
    // Of long results and of objects only words are known.
    let is_value = typed(&words(right), language).is_ok_and(|read| is_same(right, &read));
    if !is_value || right.shown.contains(", and argument ") {
        return Err(format!("the answer to {call} is no value that a line of a test could state"));
    }
    let wait = if is_async { "await " } else { "" };
    let (name, shown) = (&right.key, &right.shown);
    let raises = right.effect == trial::Effect::Raised;
    Ok(match (language, raises) {
        (Language::Python, false) => format!("assert {wait}{call} == {shown}\n"),
        (Language::Python, true) => format!("with pytest.raises({name}):\n    {wait}{call}\n"),
        (_, false) => format!("assert.deepStrictEqual({wait}{call}, {shown});\n"),
        (_, true) if is_async => format!("await assert.rejects({call}, {{ name: '{name}' }});\n"),
        (_, true) => format!("assert.throws(() => {call}, {{ name: '{name}' }});\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::calls::tests::{called, said};
    use super::*;

    #[test]
    fn a_right_answer_is_copied_as_a_line_of_a_test() {
        let mut session = called();
        session.key("b");
        assert_eq!(session.key("y"), []);
        assert!(said(&session).starts_with("first say which answer to mean([]) is right"), "{}", said(&session));
        session.key("2");
        let text = "assert mean([]) == 0\n".to_owned();
        assert_eq!(session.key("y"), [Effect::Copy { text, program: false }]);
        session.key("1");
        let text = "with pytest.raises(ZeroDivisionError):\n    mean([])\n".to_owned();
        assert_eq!(session.key("y"), [Effect::Copy { text, program: false }]);
    }

    #[test]
    fn a_line_is_written_as_the_language_does() {
        let of = |right: &str, is_async| {
            let right = typed(right, Language::JavaScript).unwrap();
            line(Language::JavaScript, &Check { call: "f('a')".to_owned(), right, example: None }, is_async).unwrap()
        };
        assert_eq!(of("['say hi']", false), "assert.deepStrictEqual(f('a'), [\"say hi\"]);\n");
        assert_eq!(of("raises RangeError", false), "assert.throws(() => f('a'), { name: 'RangeError' });\n");
        assert_eq!(of("1", true), "assert.deepStrictEqual(await f('a'), 1);\n");
        assert_eq!(of("raises RangeError", true), "await assert.rejects(f('a'), { name: 'RangeError' });\n");
        let right = trial::Observed { shown: "<Node>".to_owned(), ..typed("1", Language::Python).unwrap() };
        let check = Check { call: "f(1)".to_owned(), right, example: None };
        assert!(line(Language::Python, &check, false).is_err());
    }
}
