//! Answers as examples in the documentation: written, corrected and taken back.

use super::calls::Check;
use super::effect::Effect;
use super::refusal::refusal;
use super::state::State;
use super::testing::take_stub;
use crate::agreement::{self, Agreement, FunctionKind, asks_the_time, leaves_out, may_iterate, stated, typed};
use crate::code::Target;
use crate::language::Language;
use crate::trial::Observed;
use crate::tui::keymap::{Action, Context};
use crate::untrusted::clean_line;

/// An example as it was written into the stub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its outcome.
    right: Observed,
    /// The stub before it.
    before: String,
    /// The stub with it.
    after: String,
    /// Its lines in the stub, up to what follows them; empty if they were not found.
    text: String,
}

impl Example {
    /// A stub without the example; `None` if it is not there. Other examples may have come since, and the
    /// user may have edited the stub.
    pub(super) fn out_of(&self, stub: &str) -> Option<String> {
        if stub == self.after {
            return Some(self.before.clone());
        }
        let at = stub.rfind(&self.text).filter(|_| !self.text.is_empty())?;
        let (before, after) = (&stub[..at], &stub[at + self.text.len()..]);
        let indent = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        // Closing quotes stand right below what is left.
        let is_last = ["\"\"\"", "'''"].iter().any(|quotes| after.starts_with(quotes));
        if is_last && indent.trim().is_empty() {
            return Some(format!("{}\n{indent}{after}", before.trim_end()));
        }
        Some(format!("{before}{after}"))
    }
}

/// The text of an example of so many lines that a stub has gained, with the indentation of what follows it.
fn gained(before: &str, after: &str, lines: usize) -> Option<String> {
    let is_same = |&(a, b): &(char, char)| a == b;
    let same: usize = before.chars().zip(after.chars()).take_while(is_same).map(|(c, _)| c.len_utf8()).sum();
    let new = &after[same..];
    let new = &new[new.find(">>>")?..];
    let end = new.match_indices('\n').nth(lines.checked_sub(1)?)?.0 + 1;
    let indent = new[end..].len() - new[end..].trim_start_matches([' ', '\t']).len();
    Some(new[..end + indent].to_owned())
}

/// The example of another answer to the call leaves the stub: it would say that the new answer is wrong.
pub(super) fn without_other_example(state: &mut State, check: &Check) -> Vec<Effect> {
    if refusal(state, Action::Example).is_some() {
        return Vec::new();
    }
    let old = state.checks.iter_mut().find(|old| old.call == check.call);
    let example = old.and_then(|old| old.example.take_if(|example| !check.is(&example.right)));
    match example.and_then(|example| example.out_of(&state.draft.text())) {
        Some(stub) => with_stub(state, &stub),
        None => Vec::new(),
    }
}

/// `w makes it an example`, where that can be done and it is none yet; in other languages than Python how it
/// becomes a test.
pub fn example_hint(state: &State, check: &Check) -> Option<String> {
    let stub = state.draft.text();
    let example = check.example.as_ref().filter(|example| example.out_of(&stub).is_some());
    let input =
        state.agreement().and_then(|agreement| agreement.inputs.iter().find(|input| input.text() == check.call));
    if input.is_some_and(|input| input.is_no_code().is_some()) {
        return None;
    }
    if state.job.language() != Some(Language::Python) {
        return Some(format!("{} copies it as a line of a test", state.key_name(Context::Calls, Action::Copy)));
    }
    if refusal(state, Action::Example).is_some() || example.is_some_and(|example| check.is(&example.right)) {
        return None;
    }
    let key = state.key_name(Context::Calls, Action::Example);
    let instead = if example.is_some() { "the example instead" } else { "an example" };
    Some(format!("{key} makes it {instead}"))
}

/// The stub is this one, and tests all candidates.
pub(super) fn with_stub(state: &mut State, stub: &str) -> Vec<Effect> {
    state.draft.replace(stub);
    take_stub(state)
}

/// Writes the answer to the selected call as an example into the stub, in the place of one of another answer
/// to it. It is written with the candidate, and tests all of them.
pub(super) fn write(state: &mut State) -> Vec<Effect> {
    match with_example(state) {
        Ok(Written { call, stub, mut example }) => {
            let effects = with_stub(state, &stub);
            if effects.is_empty() {
                return effects;
            }
            example.after = state.draft.text();
            for check in state.checks.iter_mut().filter(|check| check.call == call) {
                check.example = Some(example.clone());
            }
            let preview = state.key_name(Context::Panes, Action::Preview);
            state.say(format!("{call} is an example now, and all are tested again; {preview} shows it in the file"));
            effects
        }
        Err(why) => {
            state.say(why);
            Vec::new()
        }
    }
}

/// An example that is to be written.
struct Written {
    call: String,
    /// The stub with it.
    stub: String,
    example: Example,
}

/// The stub with the example of the selected call.
fn with_example(state: &State) -> Result<Written, String> {
    let (agreement, input) = state.agreement().zip(state.selected_call()).ok_or("nothing was called")?;
    let call = agreement.inputs[input].text();
    if let Some(why) = agreement.inputs[input].is_no_code() {
        return Err(format!("an example states a call alone, and {why}"));
    }
    let check = state.checks.iter().find(|check| check.call == call);
    let check = check.ok_or_else(|| format!("first say which answer to {call} is right: press its number"))?;
    let mut before = state.draft.text();
    let old = check.example.as_ref().and_then(|old| Some((check.is(&old.right), old.out_of(&before)?)));
    let edited = match old {
        Some((true, _)) => return Err(format!("{call} is an example already")),
        Some((false, without)) => {
            before = without;
            Some(state.job.edited(&before).map_err(|why| why.to_string())?)
        }
        None => None,
    };
    let job = edited.as_ref().unwrap_or(&state.job);
    let target = job.target().ok_or("there is no function with documentation")?;
    let example = stated_of(state, target, agreement, input, check)?;
    stands(target, check, &example)?;
    let stub = target.stub_with_example(&example.statements, &example.printed)?;
    let of = |text: &str| text.lines().count();
    let lines = example.statements.iter().map(|one| of(one)).sum::<usize>() + of(&example.printed);
    let text = gained(&target.stub(), &stub, lines).unwrap_or_default();
    let example = Example { right: check.right.clone(), before, after: String::new(), text };
    Ok(Written { call, stub, example })
}

/// The example of a right answer that all candidates pass which give it.
fn stated_of(
    state: &State,
    target: &Target,
    agreement: &Agreement,
    input: usize,
    check: &Check,
) -> Result<agreement::Example, String> {
    let head = target.head();
    let run = state.run.as_ref().ok_or("nothing was called")?;
    let of = |c: usize| agreement.observed(c, input);
    let candidates = 0..run.candidates.len();
    let given: Vec<&Observed> = candidates.filter_map(of).filter(|one| check.is(one)).collect();
    let bodies = run.candidates.iter().map(|candidate| candidate.text.as_str());
    if bodies.clone().any(asks_the_time) && leaves_out(target, &agreement.inputs[input]) {
        return Err(format!(
            "the answer to {} may be another one tomorrow: candidates ask for the time, and the call leaves out an \
             argument; an example needs a call that gives it",
            check.call
        ));
    }
    let kind = FunctionKind {
        is_async: head.lines().any(|line| line.trim_start().starts_with("async ")),
        iterates: run.candidates.iter().any(|candidate| may_iterate(&head, &candidate.text)),
    };
    stated(&check.call, &check.right, &given, kind)
}

/// An error if the documentation has an example of the call.
fn stands(target: &Target, check: &Check, example: &agreement::Example) -> Result<(), String> {
    let bare = |source: &str| source.split("  # doctest:").next().unwrap_or_default().trim().to_owned();
    let own = example.statements.last().map(|statement| bare(statement)).unwrap_or_default();
    for (source, printed) in target.examples() {
        let (source, printed) = (bare(&source), printed.trim_end());
        let is_same = source == own && printed == example.printed;
        let is_of_call = source == check.call && !printed.is_empty();
        if !is_same && !is_of_call {
            continue;
        }
        let raised = printed.starts_with("Traceback").then(|| printed.lines().last()).flatten();
        let text = raised.map_or_else(|| printed.to_owned(), |error| format!("raises {error}"));
        let says = typed(&text, Language::Python);
        if is_same || printed == example.printed || says.as_ref().is_ok_and(|says| check.is(says)) {
            return Err(format!("{} is an example in the documentation already", check.call));
        }
        if says.is_ok() {
            let said = clean_line(&text, 40);
            return Err(format!("the documentation has another example of {}: {said}; change it first", check.call));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::calls::tests::{called, returns, said};
    use super::super::fixture::Session;
    use super::super::refusal::refusal;
    use super::*;
    use crate::code::Place;
    use crate::job::{Job, TestsChoice};
    use crate::trial::Status;
    use crate::tui::view::scenes;

    /// Says that an example stands in a docstring, or not.
    fn standing(examples: &str, right: &str, printed: &str) -> Result<(), String> {
        let text = format!("def f(x):\n    \"\"\"Doc.\n\n{examples}    \"\"\"\n");
        let target = Target::in_text(&text, Language::Python, &Place::Any).unwrap();
        let check = Check { call: "f(1)".to_owned(), right: typed(right, Language::Python).unwrap(), example: None };
        let example = agreement::Example { statements: vec!["f(1)".to_owned()], printed: printed.to_owned() };
        stands(&target, &check, &example)
    }

    #[test]
    fn an_example_that_the_documentation_has_is_not_written_again() {
        let of = |examples: &str| standing(examples, "3", "3");
        assert_eq!(of("    >>> f(2)\n    3\n"), Ok(()));
        for same in ["    >>> f(1)\n    3\n", "    >>> f(1)\n    3.0\n", "    >>> f(1)  # doctest: +SKIP\n    3\n"] {
            assert!(of(same).unwrap_err().contains("f(1) is an example in the documentation already"), "{same}");
        }
        let other = of("    >>> f(1)\n    Traceback (most recent call last):\n        ...\n    ValueError: no\n");
        assert!(other.unwrap_err().contains("has another example of f(1): raises ValueError: no"));
        assert!(of("    >>> f(1)\n    4\n").unwrap_err().contains("another example of f(1): 4; change it first"));
    }

    #[test]
    fn numbers_stay_while_the_table_is_open() {
        let mut session = called();
        session.key("b");
        let shown = |session: &Session| {
            let answers = session.run().answers(1);
            answers.into_iter().map(|answer| answer.shown).collect::<Vec<_>>()
        };
        let before = shown(&session);
        assert!(before[0].starts_with("ZeroDivisionError"));
        session.key("2");
        session.key("w");
        for (candidate, status) in [(0, Status::Failed), (1, Status::Failed), (2, Status::Passed)] {
            session.verdict(candidate, status, "");
        }
        assert_eq!(shown(&session), before);
        assert_eq!(session.state.selected_call(), Some(1));
        session.key("esc");
        assert_eq!(shown(&session)[0], "0", "then those that passed come first");
    }

    /// The tests of a project may not run the examples of a docstring.
    #[test]
    fn a_candidate_that_passes_tests_and_contradicts_an_answer_is_shown_as_wrong() {
        let mut session = called();
        for key in ["b", "2", "w"] {
            session.key(key);
        }
        for (candidate, status) in [(0, Status::Passed), (1, Status::Failed), (2, Status::Passed)] {
            session.verdict(candidate, status, "");
        }
        session.key("esc");
        let shown = |session: &Session| scenes::text(&scenes::draw(&session.state, 80, 24));
        let reason = "mean([]) raised ZeroDivisionError: division by zero, expected 0";
        let panes = shown(&session);
        for words in ["A  WRONG ANSWER ", "C  PASS  PICK  RIGHT ANSWER", "1 passed, 1 failed, 1 wrong", reason] {
            assert!(panes.contains(words), "{words}: {panes}");
        }
        session.key("1");
        session.key("z");
        let zoomed = shown(&session);
        assert!(zoomed.contains(">A WRONG< B FAIL  C PASS PICK"), "{zoomed}");
        session.key("z");
        session.key("f");
        assert_eq!(session.run().shown(), [2], "of those that passed");
        session.key("f");
        assert_eq!(session.run().shown(), [0, 1], "of those that failed");
    }

    #[test]
    fn where_no_example_can_be_written_none_is_offered() {
        let mut session = called();
        session.key("b");
        session.key("2");
        assert!(said(&session).ends_with("; w makes it an example"));
        let text = "function f(x) {\n}\n";
        let target = Target::in_text(text, Language::JavaScript, &Place::Any).unwrap();
        session.state.job = Job::from_target(target, &TestsChoice::None).unwrap().into();
        session.key("2");
        assert!(!said(&session).contains("w makes"), "{}", said(&session));
        assert!(said(&session).ends_with("; y copies it as a line of a test"), "{}", said(&session));
        let (_, why) = refusal(&session.state, Action::Example).unwrap();
        assert!(why.contains("run in Python, and not in JavaScript") && why.contains("; y copies it"), "{why}");
    }

    #[test]
    fn an_example_is_found_among_others() {
        let stub = |examples: &str| format!("def f(x):\n    \"\"\"Doc.\n\n{examples}    \"\"\"\n");
        let one = |n: usize| format!("    >>> f({n})\n    {n}\n");
        let (before, after) = ("def f(x):\n    \"\"\"Doc.\"\"\"\n", stub(&one(1)));
        let text = gained(before, &after, 2).unwrap();
        assert_eq!(text, ">>> f(1)\n    1\n    ");
        let (before, right) = (before.to_owned(), returns("1"));
        let example = Example { right, before: before.clone(), after: after.clone(), text };
        assert_eq!(example.out_of(&after), Some(before.clone()));
        assert_eq!(example.out_of(&stub(&(one(0) + &one(1)))), Some(stub(&one(0))));
        assert_eq!(example.out_of(&stub(&(one(1) + &one(2)))), Some(stub(&one(2))));
        assert_eq!(example.out_of(&before), None);
        let alone = "def f(x):\n    \"\"\">>> f(1)\n    1\n    \"\"\"\n";
        assert_eq!(gained("def f(x):\n", alone, 2).as_deref(), Some(">>> f(1)\n    1\n    "));
    }
}
