//! The prompt that a person types or pastes.

use super::numbers_py;
use crate::job::{Job, TestsChoice};
use crate::source::Prompt;
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::{Effect, Focus, Msg};
use crate::tui::keymap::Context;

#[test]
fn ctrl_d_leaves_an_empty_prompt_only() {
    let mut session = Session::free(2);
    session.key("x");
    assert_eq!(session.key("ctrl-d"), []);
    session.key("backspace");
    assert_eq!(session.key("ctrl-d"), [Effect::Quit { accept: None }]);
}

#[test]
fn pasted_text_is_never_sent() {
    let mut session = Session::free(2);
    assert_eq!(session.send(Msg::Paste("one\ntwo\n\n".into())), []);
    assert!(session.state.run.is_none());
    let mut session = Session::tested(2);
    session.send(Msg::Paste("g\n".into()));
    assert!(session.state.run.is_none() && !session.state.draft.is_edited());
}

#[test]
fn candidates_stay_where_only_examples_are_typed_and_are_tested_by_them() {
    let mut session = Session::tested(2);
    session.key("g");
    for candidate in 0..2 {
        session.finish(candidate, &body(candidate));
        session.verdict(candidate, Status::Passed, "");
    }
    session.done();
    session.key("i");
    session.key("up");
    session.send(Msg::Paste("    >>> rolling_max([])\n    []\n".into()));
    let effects = session.key("esc");
    let [Effect::Use { job }, tests @ ..] = &effects[..] else { panic!("{effects:?}") };
    assert!(job.program("    return []\n").contains(">>> rolling_max([])"), "{}", job.program(""));
    assert_eq!(tests, [0, 1].map(|candidate| Effect::Test { run: 1, candidate }));
    assert!(session.state.notice.as_ref().unwrap().text.contains("all candidates are tested by them"));
    assert!(session.key("i").is_empty() && session.key("esc").is_empty(), "nothing else was typed");
    for key in ["shift-tab", "alt-1"] {
        session.key("i");
        session.key("up");
        session.send(Msg::Paste(format!("    >>> rolling_max([{0}])\n    [{0}]\n", key.len())));
        assert!(matches!(session.key(key)[..], [Effect::Use { .. }, ..]), "{key} leaves the prompt, too");
    }
    // Other words are for other candidates.
    session.key("i");
    session.key("up");
    session.send(Msg::Paste("\n    Never empty.\n".into()));
    assert_eq!(session.key("esc"), []);
    assert_eq!(session.run().candidates.len(), 2);
}

#[test]
fn tab_indents_what_is_written_in_the_prompt() {
    let mut session = Session::tested(1);
    session.key("i");
    session.send(Msg::Paste("x".into()));
    session.key("tab");
    session.key("a");
    assert_eq!(session.state.context(), Context::Prompt);
    let text = session.state.draft.text();
    assert!(text.contains("x ") && text.ends_with(" a"), "{text:?}");
}

#[test]
fn an_edited_prompt_is_what_the_model_gets() {
    let mut session = Session::tested(1);
    session.key("i");
    assert_eq!(session.state.context(), Context::Prompt);
    session.send(Msg::Paste("    # use a loop".into()));
    session.key("alt-enter");
    let effects = session.key("f5");
    let [Effect::Generate { run: 1, job, n: 1, seed: 0 }] = &effects[..] else { panic!("{effects:?}") };
    let Prompt::Text(prompt) = job.prompt() else { panic!("{:?}", job.prompt()) };
    assert_eq!(&*prompt, format!("{PROMPT}    # use a loop\n"));
    assert_eq!(session.state.focus, Focus::Panes);
}

#[test]
fn lines_typed_under_a_stub_stay_in_the_program() {
    let mut session = Session::on(numbers_py(), 1);
    session.open(true);
    session.key("i");
    session.send(Msg::Paste("    if n < 0:\n        n = -n\n".into()));
    let effects = session.key("f5");
    let [Effect::Generate { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    let Prompt::Text(prompt) = job.prompt() else { panic!("{:?}", job.prompt()) };
    assert!(prompt.ends_with("\"\"\"\n    if n < 0:\n        n = -n\n"), "{prompt}");
    let program = job.program("    return n % 2 == 0\n");
    assert!(program.contains("        n = -n\n    return n % 2 == 0\n"), "{program}");
    assert_eq!(session.state.subject(), "numbers.py:is_even");
}

#[test]
fn title_and_tests_are_those_of_what_is_pasted() {
    let mut session = Session::free(1);
    assert_eq!(session.state.subject(), "free prompt");
    session.send(Msg::Paste("def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"".into()));
    assert_eq!((session.state.subject(), session.state.has_tests()), ("twice".to_owned(), false));
    let mut session = Session::on(Job::from_text("", &TestsChoice::IfAny).unwrap(), 1);
    session.send(Msg::Paste("def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"".into()));
    assert_eq!((session.state.subject(), session.state.has_tests()), ("twice".to_owned(), true));
    session.open(true);
    session.key("f5");
    assert_eq!(session.state.job.tests_label, "doctest");
    // Text without a function has no place in a file, and nothing is lost.
    let mut session = Session::on(numbers_py(), 1);
    session.open(true);
    session.key("i");
    session.send(Msg::Paste("print(1)".into()));
    assert_eq!(session.key("f5"), []);
    assert!(session.state.error.as_ref().unwrap().contains("inside of a Python function"));
    assert!(session.state.draft.text().ends_with("print(1)"));
}

#[test]
fn ctrl_u_empties_the_line_that_is_typed() {
    let mut session = Session::free(1);
    session.send(Msg::Paste("one\ntwo words".into()));
    session.key("ctrl-u");
    assert_eq!(session.state.draft.text(), "one\n");
}
