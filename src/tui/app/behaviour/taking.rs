//! Writing into the file: taking a candidate, taking it back, a file that has changed.

use std::sync::Arc;

use super::{judged, numbers_py, outcome, said, test_of};
use crate::code::{Place, Target, TargetSpec};
use crate::engine::Event;
use crate::job::{self, Job, TestsChoice};
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::state::Question;
use crate::tui::app::{Effect, Msg, Phase};
use crate::tui::keymap::Context;
use crate::tui::view::scenes;

#[test]
fn accepting_without_a_file_leaves_with_the_text() {
    let mut session = Session::tested(1);
    session.key("g");
    session.tokens(0, "    ret");
    assert_eq!(session.key("enter"), [], "not while it is written");
    session.finish(0, &body(0));
    session.verdict(0, Status::Passed, "");
    session.done();
    assert_eq!(session.key("enter"), [Effect::Quit { accept: Some(body(0)) }]);
}

/// A session whose function lies in a file.
fn in_a_file(n: usize) -> Session {
    let mut session = Session::on(numbers_py(), n);
    session.open(true);
    session.key("g");
    for candidate in 0..n {
        session.finish(candidate, &body(candidate));
    }
    session.done();
    session
}

/// Bodies are whole before it is known what most of them do.
#[test]
fn before_there_is_a_pick_taking_asks() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 2);
    session.open(true);
    session.key("g");
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    assert_eq!(session.key("enter"), []);
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    session.key("n");
    session.job(job::Event::Pick(Some(1)));
    assert_eq!(session.run().focus, 1);
    session.key("enter");
    assert_eq!(session.state.question, None);
}

#[test]
fn accepting_writes_the_file_and_u_takes_it_back() {
    let mut session = in_a_file(2);
    for candidate in 0..2 {
        session.verdict(candidate, Status::Passed, "");
    }
    assert_eq!(session.key("enter"), [Effect::Apply { run: 1, candidate: 0, text: body(0) }]);
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("stats.py".into()) });
    assert!(session.state.is_in_file(0));
    assert_eq!(
        session.state.notice.as_ref().unwrap().text,
        "A written to stats.py, u undoes, Ctrl-N next unfinished function"
    );
    assert_eq!(session.key("enter"), [Effect::Stands], "another program may have changed it");
    session.send(Msg::Stands(true));
    assert_eq!(session.state.notice.as_ref().unwrap().text, "A is in the file already");
    session.key("tab");
    assert_eq!(session.key("enter"), [Effect::Undo, Effect::Apply { run: 1, candidate: 1, text: body(1) }]);
    session.send(Msg::Undone(Ok("stats.py".into())));
    session.send(Msg::Applied { run: 1, candidate: 1, result: Ok("stats.py".into()) });
    assert!(session.state.is_in_file(1) && !session.state.is_in_file(0));
    assert_eq!(session.key("u"), [Effect::Undo]);
    session.send(Msg::Undone(Ok("stats.py".into())));
    assert!(!session.state.can_undo());
    assert_eq!(session.key("u"), []);
    assert!(said(&session).contains("was taken back already (`bass-tui undo`"), "{}", said(&session));
    session.send(Msg::Applied { run: 1, candidate: 1, result: Ok("stats.py".into()) });
    session.send(Msg::Stands(false));
    let error = session.state.error.clone().unwrap();
    assert!(error.contains("has changed since B was written to it; r reads it again"), "{error}");
    assert!(!session.state.is_in_file(1) && !session.state.can_undo());
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let mut session = in_a_file(1);
    session.send(Msg::Applied { run: 1, candidate: 0, result: Err("stats.py is no text".into()) });
    assert_eq!(session.state.error.as_deref(), Some("stats.py is no text"));
    session.send(Msg::ReadOnly("stats.py".into()));
    let error = session.state.error.clone().unwrap();
    assert!(error.ends_with("make it writable, or write the candidate as a patch: W"), "{error}");
    session.key("esc");
    assert!(matches!(session.key("W")[..], [Effect::SavePatch { .. }]));
    assert!(!session.state.can_undo());
    session.key("esc");
    assert_eq!(session.state.error, None);
}

#[test]
fn taking_what_has_not_passed_asks_first() {
    let mut session = in_a_file(2);
    assert_eq!(session.key("enter"), [], "its tests still run");
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    assert_eq!(session.key("n"), []);
    session.verdict(0, Status::Failed, "no");
    session.key("enter");
    assert_eq!(session.key("enter"), [], "a second Enter is no answer");
    session.verdict(1, Status::Passed, "");
    assert_eq!(session.key("y"), [Effect::Apply { run: 1, candidate: 0, text: body(0) }], "what was asked about");
    let mut session = in_a_file(1);
    session.verdict(0, Status::Passed, "");
    assert_eq!(session.key("enter"), [Effect::Apply { run: 1, candidate: 0, text: body(0) }]);
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 1);
    session.open(true);
    session.key("g");
    session.finish(0, &body(0));
    session.done();
    assert_eq!(
        session.key("enter"),
        [Effect::Quit { accept: Some(body(0)) }],
        "without tests there is nothing to fail"
    );
}

#[test]
fn a_file_that_has_changed_is_read_again_and_its_candidates_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stats.py");
    std::fs::write(&path, PROMPT).unwrap();
    let read = || {
        let spec = TargetSpec { path: path.clone(), place: Place::Any };
        Job::from_target(Target::read(&spec).unwrap(), &TestsChoice::IfAny).unwrap()
    };
    let mut session = Session::on(read(), 2);
    session.open(true);
    session.key("g");
    for candidate in 0..2 {
        session.finish(candidate, &body(candidate));
        session.verdict(candidate, Status::Passed, "");
    }
    session.done();
    session.key("enter");
    session.send(Msg::Changed("stats.py".into()));
    let error = session.state.error.clone().unwrap();
    assert!(error.contains("r reads it again"), "{error}");
    std::fs::write(&path, format!("{PROMPT}\n\nOTHER = 1\n")).unwrap();
    assert_eq!(session.key("r"), [Effect::ReadAgain]);
    let job = Arc::new(session.state.job.read_again().unwrap());
    assert!(job.program("    return 1\n").contains("OTHER"));
    let effects = session.send(Msg::Read(Ok(job.clone())));
    assert_eq!(effects, [Effect::Use { job }, test_of(1, 0), test_of(1, 1)], "the program is another");
    assert_eq!((session.state.error.as_ref(), session.state.stale), (None, false));

    // Examples are tests, and no other text.
    let example = PROMPT.replace(">>>", ">>> 1\n    1\n    >>>");
    assert_ne!(example, PROMPT);
    std::fs::write(&path, &example).unwrap();
    let job = Arc::new(session.state.job.read_again().unwrap());
    let effects = session.send(Msg::Read(Ok(job.clone())));
    assert_eq!(effects, [Effect::Use { job }, test_of(1, 0), test_of(1, 1)]);

    let changed = PROMPT.replace("largest", "smallest");
    std::fs::write(&path, &changed).unwrap();
    let job = Arc::new(session.state.job.read_again().unwrap());
    assert_eq!(session.send(Msg::Read(Ok(job.clone()))), [Effect::Use { job }, Effect::CancelTests { run: 1 }]);
    assert!(session.state.run.is_none(), "the candidates continued another prompt");
    assert_eq!(session.state.draft.text(), changed);

    // Typed text stays while the stub in the file is unchanged.
    session.key("i");
    session.send(Msg::Paste("    # use a loop\n".into()));
    std::fs::write(&path, format!("{changed}\n\nOTHER = 2\n")).unwrap();
    let job = session.state.job.read_again().unwrap();
    session.send(Msg::Read(Ok(Arc::new(job))));
    let program = session.state.job.program("    return 1\n");
    assert!(program.contains("# use a loop\n    return 1") && program.contains("OTHER = 2"), "{program}");
    let kept =
        "stats.py:rolling_max was read again; the prompt stays as you edited it: i, then Ctrl-C brings the file's back";
    assert_eq!(said(&session), kept);
    session.key("esc");
    session.key("i");
    session.key("ctrl-c");
    assert_eq!((session.state.draft.text(), session.state.draft.is_edited()), (changed.clone(), false));
    let job = session.state.job.read_again().unwrap();
    session.send(Msg::Read(Ok(Arc::new(job))));
    assert_eq!(said(&session), "stats.py:rolling_max was read again");

    std::fs::write(&path, "x = 1\n").unwrap();
    let why = session.state.job.read_again().unwrap_err().to_string();
    session.send(Msg::Read(Err(why.clone())));
    assert_eq!(session.state.error, Some(why));
}

#[test]
fn a_failure_keeps_what_was_written() {
    let mut session = Session::tested(2);
    session.key("g");
    session.tokens(0, "    so far");
    session.event(Event::Failed("out of memory".into()));
    assert_eq!(session.run().candidates[0].text, "    so far");
    assert_eq!(session.run().candidates[0].phase, Phase::Broken);
    assert_eq!(session.state.error.as_deref(), Some("out of memory"));
}

#[test]
fn earlier_writes_of_the_session_are_taken_back_when_that_is_confirmed() {
    let mut session = in_a_file(1);
    session.verdict(0, Status::Passed, "");
    session.key("enter");
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("numbers.py".into()) });
    let other = Arc::new(Job::from_text(PROMPT, &TestsChoice::None).unwrap());
    session.state.picking.wanted = Some(1);
    let chosen = crate::tui::app::picker::Chosen { job: other, advice: None };
    session.send(Msg::Targeted { ask: 1, result: Ok(Some(chosen)) });
    session.key("g");
    assert_eq!(session.key("u"), []);
    assert_eq!(session.state.question, Some(Question::UndoEarlier));
    assert_eq!(session.state.earlier_write(), Some("numbers.py:is_even"));
    assert_eq!(session.key("n"), []);
    session.key("u");
    assert_eq!(session.key("y"), [Effect::Undo]);
    session.send(Msg::Undone(Ok("numbers.py: is_even is as before".into())));
    assert_eq!((said(&session).as_str(), session.state.earlier_write()), ("numbers.py: is_even is as before", None));
    session.key("u");
    assert!(session.state.question.is_none() && said(&session).contains("`bass-tui undo`"), "{}", said(&session));
}

/// The key that the notice of a write proposes goes to a function without candidates.
#[test]
fn what_was_written_is_taken_back_before_the_next_function_has_candidates() {
    let mut session = in_a_file(1);
    session.verdict(0, Status::Passed, "");
    assert!(session.key("enter").len() == 1);
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("numbers.py".into()) });
    let other = Arc::new(Job::from_text(PROMPT, &TestsChoice::None).unwrap());
    session.key("ctrl-n");
    let chosen = crate::tui::app::picker::Chosen { job: other, advice: None };
    let ask = session.state.picking.wanted.unwrap();
    session.send(Msg::Targeted { ask, result: Ok(Some(chosen)) });
    assert_eq!(session.state.context(), Context::Start);
    let shown = |session: &Session| scenes::text(&scenes::draw(&session.state, 80, 24));
    assert!(shown(&session).lines().last().unwrap().contains("u undo"), "{}", shown(&session));
    assert_eq!((session.key("u"), session.state.question), (Vec::new(), Some(Question::UndoEarlier)));
    assert!(shown(&session).contains("It is not the function that is shown here."), "{}", shown(&session));
    assert_eq!(session.key("y"), [Effect::Undo]);
    session.send(Msg::Undone(Ok("numbers.py is as it was before".into())));
    assert!(!shown(&session).lines().last().unwrap().contains("u undo"), "{}", shown(&session));
}

#[test]
fn a_body_that_is_in_the_file_is_not_replaced_unasked() {
    let mut session = judged();
    session.key("1");
    session.state.own_body = Some("    return 0\n".to_owned());
    session.key("enter");
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    assert!(matches!(session.key("y")[..], [Effect::Quit { accept: Some(_) }]));
}

#[test]
fn a_change_that_was_asked_for_is_no_question() {
    let mut session = judged();
    session.key("1");
    session.state.own_body = Some("    return 0\n".to_owned());
    session.state.job = Arc::new((*session.state.job).clone().wishing(Some("return 1")));
    let effects = session.key("enter");
    assert!(session.state.question.is_none() && matches!(effects[..], [Effect::Quit { accept: Some(_) }]));
}

#[test]
fn over_a_body_in_the_file_the_first_view_is_what_changes() {
    let mut session = Session::tested(2);
    session.state.own_body = Some("    return 0\n".to_owned());
    session.key("g");
    session.finish(0, "    return 1\n");
    session.finish(1, "    return 2\n");
    session.done();
    let (run, outcome) = (session.run().id, outcome());
    session.send(Msg::Job { run, event: job::Event::Done(Box::new(outcome)) });
    assert_eq!((session.state.context(), session.state.base().unwrap().name.as_str()), (Context::Diff, "the file"));
    session.send(Msg::Applied { run, candidate: 0, result: Ok("numbers.py".into()) });
    session.key("d");
    assert_eq!(session.state.base().unwrap().name, "the file before");
}

#[test]
fn where_none_passed_the_keys_lead_to_other_candidates() {
    let mut session = in_a_file(2);
    session.verdict(0, Status::Passed, "");
    session.verdict(1, Status::Failed, "no");
    let hints = |session: &Session| {
        let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
        shown.lines().last().unwrap().to_owned()
    };
    assert!(!hints(&session).contains("I say how"), "{}", hints(&session));
    session.key("T");
    session.verdict(0, Status::Failed, "no");
    assert!(hints(&session).starts_with(" Enter accept   R again   I say how to write it "), "{}", hints(&session));
}
