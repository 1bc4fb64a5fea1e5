//! Questions, messages and leaving.

use crate::job::{self, Job, TestsChoice};
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::state::{Consent, IGNORE_YES_MS};
use crate::tui::app::{Effect, Msg, Testing};
use crate::tui::keymap::Context;

#[test]
fn leaving_while_something_is_under_way_takes_two_presses() {
    let mut session = Session::tested(1);
    assert_eq!(session.key("q"), [Effect::Quit { accept: None }], "nothing is");
    let mut session = Session::tested(1);
    session.key("g");
    assert_eq!(session.key("q"), []);
    session.key("j");
    assert_eq!(session.key("q"), [], "another key disarms");
    session.wait(1600);
    assert_eq!(session.key("q"), [], "so does time");
    assert_eq!(session.key("q"), [Effect::CancelAll { run: 1 }, Effect::Quit { accept: None }]);
    session.finish(0, &body(0));
    session.done();
    assert_eq!(session.key("q"), [], "its test runs");
    session.wait(1600);
    session.verdict(0, Status::Passed, "");
    assert_eq!(session.key("q"), [Effect::Quit { accept: None }]);
}

/// Messages, each up to the event that ends it.
#[test]
fn messages_end_when_they_are_no_longer_true() {
    let said = |session: &Session| session.state.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();

    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.key("g");
    assert!(said(&session).contains("still loading"));
    session.open(true);
    assert_eq!(said(&session), "", "they are loaded");

    session.key("enter");
    assert!(said(&session).contains("A is still being written"));
    session.finish(1, &body(1));
    assert!(said(&session).contains("A is still being written"));
    session.finish(0, &body(0));
    assert_eq!(said(&session), "", "A has ended");

    session.key("X");
    assert!(said(&session).contains("stopping"));
    session.done();
    assert_eq!(said(&session), "", "it has stopped");

    session.key("ctrl-c");
    assert!(said(&session).contains("the tests are stopped"));
    session.verdict(0, Status::Killed, "");
    assert_eq!(session.run().candidates[0].testing, Testing::None, "and say nothing any more");

    session.key("w");
    assert!(said(&session).contains("cut"));
    session.key("<");
    assert_eq!(said(&session), "", "the next key");
    session.key("w");
    session.wait(6000);
    assert_eq!(said(&session), "", "time");

    session.key("T");
    session.send(Msg::Job { run: 1, event: job::Event::Verdict { candidate: 0, outcome: Err("no sandbox".into()) } });
    assert!(session.state.error.is_some());
    session.key("T");
    assert_eq!(session.state.error, None, "it is tried again");
}

/// The ladder of Ctrl-C: in each situation what the first press does, and whether a second one quits.
#[test]
fn ctrl_c_never_loses_work() {
    let quit = vec![Effect::Quit { accept: None }];

    let mut session = Session::tested(2);
    assert_eq!(session.key("ctrl-c"), [], "nothing to stop: armed");
    assert!(session.state.armed.is_some());
    assert_eq!(session.key("ctrl-c"), quit);

    let mut session = Session::tested(2);
    session.key("ctrl-c");
    session.wait(1600);
    assert!(session.state.armed.is_none(), "disarmed by time");
    assert_eq!(session.key("ctrl-c"), []);
    session.key("j");
    assert!(session.state.armed.is_none(), "disarmed by another key");

    let mut session = Session::tested(2);
    session.key("g");
    session.key("?");
    session.key("ctrl-c");
    assert_eq!((session.state.help, session.run().stopping), (None, false), "closes what lies on top, and only that");
    assert_eq!(session.key("ctrl-c"), [Effect::CancelAll { run: 1 }]);
    assert_eq!(session.key("ctrl-c"), [], "stopping already: armed");
    assert_eq!(session.key("ctrl-c"), [Effect::CancelAll { run: 1 }, Effect::Quit { accept: None }]);

    for key in ["f1", "ctrl-c"] {
        session.key("/");
        session.key(key);
        session.key("ctrl-c");
        let is_typed = session.state.context() == Context::Search;
        assert_eq!((session.state.help, is_typed), (None, key == "f1"), "the help lies on the search");
    }

    let mut session = Session::tested(2);
    session.key("g");
    session.finish(0, &body(0));
    session.done();
    assert_eq!(session.key("ctrl-c"), [Effect::CancelTests { run: 1 }]);
    session.verdict(0, Status::Killed, "cancelled");
    assert_eq!(session.run().candidates[0].testing, Testing::None, "a stopped test says nothing about the candidate");

    let mut session = Session::free(2);
    session.send(Msg::Paste("write a parser".into()));
    session.key("ctrl-c");
    assert_eq!(session.state.draft.text(), "");
    session.key("alt-u");
    assert_eq!(session.state.draft.text(), "write a parser", "clearing can be undone");
    session.key("ctrl-c");
    session.key("up");
    assert_eq!(session.state.draft.text(), "write a parser", "and it is in the history");

    let mut session = Session::tested(2);
    session.key("i");
    session.send(Msg::Paste("    # one\n    # two".into()));
    let typed = session.state.draft.text();
    session.key("ctrl-c");
    assert_eq!(session.state.draft.text(), PROMPT, "the text of the file has several lines");
    session.key("up");
    assert_eq!(session.state.draft.text(), typed);
}

#[test]
fn without_isolation_nothing_runs_before_a_yes() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    assert_eq!(session.finish(0, &body(0)), []);
    assert_eq!(session.state.context(), Context::Question);
    assert_eq!(session.key("y"), [], "too soon: that was meant for something else");
    session.wait(IGNORE_YES_MS);
    assert_eq!(session.run().candidates[0].testing, Testing::Queued);
    assert_eq!(session.key("y"), [Effect::AllowUnprotected]);
    session.finish(1, &body(1));
    assert_eq!(session.state.context(), Context::Panes, "asked once");
    assert_eq!(session.state.consent, Consent::Given);
}

#[test]
fn a_no_runs_nothing() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    session.finish(0, &body(0));
    assert_eq!(session.key("n"), [Effect::CancelTests { run: 1 }]);
    assert_eq!(session.finish(1, &body(1)), []);
    assert_eq!(
        session.run().candidates.iter().map(|c| &c.testing).collect::<Vec<_>>(),
        [&Testing::Refused, &Testing::Refused]
    );
}

#[test]
fn the_question_waits_while_the_user_types() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    session.key("i");
    session.finish(0, &body(0));
    session.wait(1000);
    assert_eq!(session.key("y"), [], "typed, not answered");
    assert!(session.state.draft.text().ends_with('y'));
    session.key("esc");
    assert_eq!(session.state.context(), Context::Question);

    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    session.key("/");
    session.finish(0, &body(0));
    session.wait(1000);
    assert_eq!(session.key("y"), [], "searched for, not answered");
    assert_eq!(session.state.search.as_ref().map(|search| search.text.as_str()), Some("y"));
    session.key("esc");
    assert_eq!(session.state.context(), Context::Question);
}
