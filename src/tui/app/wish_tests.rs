//! Behaviour with a wish: the line, the next candidates, parameters, the file.

use std::path::Path;
use std::sync::Arc;

use super::fixture::{Session, body};
use super::past::Recalled;
use super::picker::Chosen;
use super::state::{Focus, Loading};
use super::watch::{News, Touched};
use super::{Effect, Msg, wish};
use crate::code::{HeadPart, Place, Target};
use crate::job::{Job, TestsChoice};
use crate::source::Event;
use crate::tui::keymap::Context;
use crate::tui::view::scenes;

const MEAN: &str = "def mean(numbers):\n    \"\"\"The mean.\"\"\"\n    return sum(numbers) / len(numbers)\n";
const STUB: &str = "def mean(numbers):\n    \"\"\"The mean.\"\"\"\n";
const WITH_SKIP: &str = "def mean(numbers, skip=None):\n    \"\"\"The mean.\"\"\"\n";
const NONE: &str = "also accept None";
const SKIP: &str = "add a parameter skip";

/// The job of the first function of a text.
pub fn job(text: &str) -> Job {
    let name = text.split(['(', ' ']).nth(1).unwrap().to_owned();
    let target = Target::in_editor(Path::new("calc.py"), text, &Place::Function(name)).unwrap();
    Job::from_target(target, &TestsChoice::None).unwrap()
}

/// A session for a function that has a body.
pub fn bodied(n: usize) -> Session {
    let mut session = Session::on(job(MEAN), n);
    session.open(true);
    session
}

/// Opens the line and says something in it.
pub fn says(session: &mut Session, sentence: &str) -> Vec<Effect> {
    session.key("I");
    session.send(Msg::Paste(sentence.to_owned()));
    session.key("enter")
}

/// A session whose candidates were written for a wish.
pub fn written(sentence: &str) -> Session {
    let mut session = bodied(2);
    says(&mut session, sentence);
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    session
}

fn line(session: &Session) -> Option<String> {
    session.state.wish.line.as_ref().map(super::draft::Draft::text)
}

fn next(session: &Session) -> Option<&str> {
    session.state.wish.next.as_deref()
}

fn said(session: &Session) -> &str {
    session.state.notice.as_ref().map_or("", |notice| &notice.text)
}

/// The wishes of the generations that are asked for.
fn generated(effects: &[Effect]) -> Vec<Option<&str>> {
    effects
        .iter()
        .filter_map(|effect| if let Effect::Generate { job, .. } = effect { Some(job.wish()) } else { None })
        .collect()
}

/// Text that the models write.
fn tokens(text: &str) -> Event {
    let (ids, logprobs, alternatives) = (Vec::new(), Vec::new(), Vec::new());
    Event::Tokens { candidate: 0, text: text.into(), ids, logprobs, alternatives, drafted: 0, accepted: 0 }
}

/// The request for parameters among effects.
fn asked(effects: &[Effect]) -> Option<u64> {
    effects.iter().find_map(|effect| if let Effect::Head { ask, .. } = effect { Some(*ask) } else { None })
}

fn answers(session: &mut Session, ask: u64, stub: Option<&str>) -> Vec<Effect> {
    let lacking = if stub.is_none() { vec![HeadPart::Parameters] } else { Vec::new() };
    session.send(Msg::Head { ask, stub: stub.map(str::to_owned), lacking })
}

#[test]
fn a_sentence_is_typed_and_candidates_are_written_with_it() {
    let mut session = bodied(2);
    assert_eq!(session.key("I"), []);
    assert_eq!((session.state.context(), line(&session).as_deref()), (Context::Wish, Some("")));
    for key in ["a", "l", "s", "o", "space", "ctrl-m", "alt-enter", "q", "?"] {
        assert_eq!(session.key(key), [], "{key}");
    }
    session.send(Msg::Paste("accept\n   None\n\nnow".to_owned()));
    assert_eq!(line(&session).as_deref(), Some("also q?accept None now"));
    let effects = session.key("enter");
    assert_eq!(generated(&effects), [Some("also q?accept None now")]);
    assert_eq!(session.state.job.reference().as_deref(), Some("    return sum(numbers) / len(numbers)\n"));
    assert_eq!((session.state.context(), session.state.own_body.is_some()), (Context::Panes, true));
    // Other ways to write candidates keep it.
    session.key("R");
    assert_eq!(generated(&session.key("R")), [Some("also q?accept None now")]);
    session.finish(0, "    return 1\n");
    session.finish(1, "    return 2\n");
    session.done();
    assert_eq!(session.key("*"), [Effect::Round { run: 2 }]);
    assert_eq!(session.state.job.wish(), Some("also q?accept None now"));
}

#[test]
fn the_last_sentence_is_there_to_be_replaced_or_gone_on_with() {
    let mut session = written(NONE);
    session.key("I");
    assert_eq!(line(&session).as_deref(), Some(NONE));
    for key in ["x", "esc"] {
        session.key(key);
    }
    assert_eq!((line(&session), next(&session)), (None, Some(NONE)), "nothing has changed");
    for key in ["I", "up", "end", "!"] {
        session.key(key);
    }
    assert_eq!(line(&session).as_deref(), Some("also accept None!"));
    session.key("ctrl-u");
    session.key("esc");
    let effects = says(&mut session, "skip zeros");
    assert_eq!(generated(&effects), [Some("skip zeros")], "a pasted one replaces it, too");
    session.key("I");
    session.key("up");
    assert_eq!(line(&session).as_deref(), Some("x"), "an earlier one, and not the last one again");
    session.key("down");
    assert_eq!(line(&session).as_deref(), Some("skip zeros"));
}

#[test]
fn a_sentence_that_was_not_sent_is_there_again() {
    for close in ["esc", "ctrl-c"] {
        let mut session = bodied(2);
        session.key("g");
        assert_eq!(says(&mut session, NONE), [], "candidates are being written");
        session.wait(60_000);
        let screen = scenes::text(&scenes::draw(&session.state, 80, 24));
        assert!(screen.contains("press Enter again to write others instead"), "{screen}");
        session.key(close);
        assert_eq!((line(&session), next(&session), session.state.armed), (None, None, None), "{close}");
        session.key("I");
        assert_eq!(line(&session).as_deref(), Some(NONE), "{close}");
        session.key("enter");
        assert_eq!(generated(&session.key("enter")), [Some(NONE)], "{close}");
    }
}

#[test]
fn an_empty_line_takes_the_wish_away_and_writes_nothing() {
    let mut session = written(NONE);
    for key in ["I", "backspace"] {
        session.key(key);
    }
    assert_eq!(session.key("enter"), []);
    assert_eq!((next(&session), session.run().id, line(&session)), (None, 1, None));
    assert!(said(&session).contains("without a wish"), "{}", said(&session));
    assert_eq!(session.state.job.wish(), Some(NONE), "of the candidates that are there");
    session.key("I");
    assert_eq!(line(&session).as_deref(), Some(NONE), "to be said again");
    session.key("esc");
    assert_eq!(generated(&session.key("R")), [None]);
    // Before anything is written the prompt that is read ahead has none either.
    let mut session = Session::on(job(MEAN), 2);
    says(&mut session, NONE);
    assert_eq!(session.state.job.wish(), Some(NONE));
    for key in ["I", "delete", "enter"] {
        session.key(key);
    }
    assert_eq!(session.state.job.wish(), None);
    assert_eq!(says(&mut session, "   "), [], "white space is no wish");
}

#[test]
fn it_begins_where_writing_anew_does() {
    let mut session = bodied(2);
    session.key("g");
    session.tokens(0, "    ret");
    assert_eq!(says(&mut session, NONE), []);
    assert!(line(&session).is_some() && next(&session).is_none(), "asked twice, while candidates are written");
    let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
    assert!(shown.contains("press Enter again to write others instead"), "{shown}");
    let effects = session.key("enter");
    assert_eq!((&effects[0], generated(&effects)), (&Effect::CancelAll { run: 1 }, vec![Some(NONE)]));

    let mut session = written(NONE);
    session.key("R");
    session.key("[");
    session.key("I");
    let effects = session.key("enter");
    assert_eq!(effects, [Effect::Shown { run: 2 }], "the newest run is written");

    let mut session = Session::on(job(MEAN), 2);
    assert_eq!(says(&mut session, NONE), []);
    assert!(session.state.eager);
    assert_eq!(generated(&session.open(true)), [Some(NONE)]);
    session.state.loading = Loading::Failed("no".to_owned());
    session.key("I");
    session.key("enter");
    assert_eq!(session.key("enter"), [Effect::Open], "models that could not be loaded");
}

#[test]
fn nothing_comes_between_while_it_is_typed() {
    let mut session = bodied(2);
    for key in ["I", "x"] {
        session.key(key);
    }
    assert_eq!((session.key("ctrl-c"), line(&session)), (Vec::new(), None), "closed, as with Esc");
    assert_eq!(session.state.armed, None);
    session.key("I");
    session.key("f1");
    assert_eq!(session.state.context(), Context::Help);
    session.key("esc");
    assert_eq!(session.state.context(), Context::Wish);

    let examples = "def mean(xs):\n    \"\"\"The mean.\n\n    >>> mean([1])\n    1\n    \"\"\"\n";
    let target = Target::in_editor(Path::new("calc.py"), examples, &Place::Any).unwrap();
    let mut session = Session::on(Job::from_target(target, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    session.key("I");
    session.finish(0, &body(0));
    assert!(session.state.question.is_some());
    session.key("y");
    assert_eq!(line(&session).as_deref(), Some("y"), "a question waits");
    session.key("esc");
    assert_eq!(session.state.context(), Context::Question);

    let mut session = Session::free(2);
    session.key("esc");
    session.key("I");
    assert!(
        line(&session).is_none() && said(&session).starts_with("a sentence is for a function of a file"),
        "{}",
        said(&session)
    );
}

#[test]
fn a_wish_that_speaks_of_parameters_has_them_written_first() {
    let mut session = bodied(2);
    let effects = says(&mut session, SKIP);
    let ask = asked(&effects).unwrap();
    let [Effect::Head { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((job.wish(), session.state.run.is_none()), (Some(SKIP), true));
    assert!(said(&session).contains("asking for the parameters…; Esc"));
    session.wait(10_000);
    let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
    assert!(shown.contains("asking for the parameters…") && shown.contains("wish: add a parameter skip"), "{shown}");
    let status = |session: &Session| scenes::text(&scenes::draw(&session.state, 80, 24));
    session.send(Msg::HeadEvent { ask, event: Event::Prefill { done: 64, total: 208 } });
    assert!(status(&session).contains("asking for the parameters: 30%"), "{}", status(&session));
    assert!(session.state.wake_at().is_some_and(|at| at <= session.state.now + 100));
    for text in ["```python\ndef \u{1b}f(x,", " skip=None):\n"] {
        session.send(Msg::HeadEvent { ask, event: tokens(text) });
        session.send(Msg::HeadEvent { ask: ask + 1, event: tokens("of another request") });
    }
    assert!(status(&session).contains("writing the parameters: def �f(x, skip=None):"), "{}", status(&session));
    assert_eq!(session.key("g"), [], "they are asked for already");
    assert_eq!(answers(&mut session, ask + 1, Some("def f():\n")), [], "another request");
    let effects = answers(&mut session, ask, Some(WITH_SKIP));
    let [Effect::Generate { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((job.wish(), job.editable().as_deref()), (Some(SKIP), Some(WITH_SKIP)));
    assert_eq!((session.state.draft.text().as_str(), session.state.draft.is_edited()), (WITH_SKIP, true));
    assert_eq!(said(&session), "");
    // Once for a sentence.
    session.key("R");
    assert_eq!(generated(&session.key("R")), [Some(SKIP)]);
    // A further wish is one for the function as it is in the file.
    says(&mut session, NONE);
    assert_eq!(generated(&session.key("enter")), [Some(NONE)]);
    assert_eq!((session.state.draft.text().as_str(), session.state.draft.is_edited()), (STUB, false));
}

#[test]
fn parameters_that_stay_are_no_edit_and_an_edit_of_the_user_s_stays() {
    let mut session = bodied(2);
    let ask = asked(&says(&mut session, SKIP)).unwrap();
    assert_eq!(generated(&answers(&mut session, ask, None)), [Some(SKIP)]);
    assert!(!session.state.draft.is_edited());
    assert!(said(&session).starts_with("no new parameters came"), "{}", said(&session));

    for leaves in [false, true] {
        let mut session = bodied(2);
        let ask = asked(&says(&mut session, SKIP)).unwrap();
        session.key("i");
        if leaves {
            session.state.draft.edit(&STUB.replace("The", "A"));
            session.key("esc");
        }
        assert_eq!(answers(&mut session, ask, Some(WITH_SKIP)), [], "the prompt is being edited");
        assert!(session.state.draft.text() != WITH_SKIP && said(&session).contains("F5"), "{}", said(&session));
        assert!(asked(&session.key("f5")).is_some());
    }
}

#[test]
fn a_request_for_parameters_is_dropped() {
    for key in ["esc", "ctrl-c"] {
        let mut session = bodied(2);
        let ask = asked(&says(&mut session, SKIP)).unwrap();
        assert_eq!(session.key(key), [Effect::DropHead], "{key}");
        assert_eq!(said(&session), "nothing is written; Enter asks again");
        assert_eq!(answers(&mut session, ask, Some(WITH_SKIP)), [], "a late answer");
        assert_eq!((session.state.draft.text().as_str(), next(&session)), (STUB, Some(SKIP)));
        assert_ne!(asked(&session.key("g")), Some(ask), "and is asked for again");
    }
    let mut session = written(NONE);
    let ask = asked(&says(&mut session, SKIP)).unwrap();
    assert_eq!(session.key("X"), [Effect::DropHead]);
    assert_eq!(answers(&mut session, ask, None), []);
    assert_eq!(session.state.job.wish(), Some(NONE), "the candidates that are there are of another wish");
    let first = asked(&session.key("R")).unwrap();
    let effects = says(&mut session, "with another parameter");
    assert_eq!(effects[0], Effect::DropHead);
    assert!(asked(&effects).is_some_and(|ask| ask != first));
    session.key("q");
    assert!(session.state.armed.is_some(), "something is under way");
    for key in ["I", "delete", "enter"] {
        session.key(key);
    }
    assert!(!session.state.wish.is_asking(), "and with the wish");
}

#[test]
fn parameters_are_asked_for_while_nothing_else_is_written() {
    let mut session = bodied(2);
    session.key("g");
    session.tokens(0, "    ret");
    says(&mut session, SKIP);
    let effects = session.key("enter");
    assert_eq!(effects[0], Effect::CancelAll { run: 1 });
    let ask = asked(&effects).unwrap();
    session.key("d");
    assert!(session.state.diff.is_some());
    answers(&mut session, ask, Some(WITH_SKIP));
    assert!(session.state.diff.is_none() && session.run().id == 2, "the candidates are shown");
}

#[test]
fn a_wish_is_of_a_function() {
    let mut session = written(NONE);
    let asks = asked(&says(&mut session, SKIP)).unwrap();
    let ask = session.state.picking.number();
    session.state.picking.wanted = Some(ask);
    session.key("I");
    let other = Arc::new(job("def total(x):\n    \"\"\"Sum.\"\"\"\n    return 0\n"));
    let effects = session.send(Msg::Targeted { ask, result: Ok(Some(Chosen { job: other.clone(), advice: None })) });
    assert!(effects.contains(&Effect::DropHead) && effects.contains(&Effect::Retarget { job: other }));
    assert_eq!((next(&session), line(&session), session.state.job.wish()), (None, None, None));
    assert_eq!(answers(&mut session, asks, Some(WITH_SKIP)), []);
    session.key("I");
    assert_eq!(line(&session).as_deref(), Some(""));
    session.key("up");
    assert_eq!(line(&session).as_deref(), Some(SKIP), "sentences of the session are at hand");
    session.key("esc");
    assert_eq!(generated(&session.key("g")), [None]);
}

/// Takes the candidate in focus, also in the place of a body.
fn takes(session: &mut Session) -> Vec<Effect> {
    let effects = session.key("enter");
    if session.state.question.is_some() { session.key("y") } else { effects }
}

/// A candidate of a wish with parameters is taken into the file.
fn taken() -> Session {
    let mut session = bodied(2);
    let ask = asked(&says(&mut session, SKIP)).unwrap();
    answers(&mut session, ask, Some(WITH_SKIP));
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    assert!(matches!(takes(&mut session)[..], [Effect::Apply { run: 1, .. }]));
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("calc.py".to_owned()) });
    session
}

#[test]
fn a_wish_is_done_once_a_candidate_is_in_the_file() {
    let mut session = taken();
    assert_eq!(next(&session), None);
    assert_eq!((session.state.draft.text().as_str(), session.state.draft.is_edited()), (WITH_SKIP, false));
    // Another candidate of the same run takes its place.
    session.key("l");
    assert!(matches!(takes(&mut session)[..], [Effect::Undo, Effect::Apply { .. }]));
    session.send(Msg::Undone(Ok("undone".to_owned())));
    assert_eq!((next(&session), session.state.draft.is_edited()), (Some(SKIP), true), "as before");
    session.send(Msg::Applied { run: 1, candidate: 1, result: Ok("calc.py".to_owned()) });
    assert_eq!((next(&session), session.state.draft.is_edited()), (None, false));
    assert_eq!(generated(&session.key("R")), [None]);
    // A candidate that was not written for the wish leaves it.
    let mut session = written(NONE);
    let ask = asked(&says(&mut session, SKIP)).unwrap();
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("calc.py".to_owned()) });
    assert_eq!((next(&session), session.state.wish.is_asking()), (Some(SKIP), true));
    assert_eq!(answers(&mut session, ask, None), [Effect::ReadAgain], "it is for what is in the file now");
}

/// Its head is the one that came of the wish.
#[test]
fn a_candidate_of_a_fulfilled_wish_stays_when_the_file_is_read_again() {
    let mut session = taken();
    assert_eq!(session.key("r"), [Effect::ReadWithout]);
    let before = bodied(2).state.job;
    session.send(Msg::ReadWithout(before));
    assert!(session.state.is_in_file(0) && session.state.can_undo());
    assert_eq!((session.state.draft.text().as_str(), session.state.job.wish()), (WITH_SKIP, Some(SKIP)));
}

#[test]
fn a_further_wish_is_for_what_is_in_the_file_now() {
    let mut session = taken();
    assert_eq!(says(&mut session, NONE), [Effect::ReadAgain]);
    let now = format!("{WITH_SKIP}    return 0\n");
    let effects = session.send(Msg::Read(Ok(Arc::new(job(&now)))));
    assert_eq!(generated(&effects), [Some(NONE)]);
    assert_eq!(session.state.job.reference().as_deref(), Some("    return 0\n"));
    assert!(!session.state.can_undo() && session.state.earlier_write().is_some());

    let mut session = taken();
    says(&mut session, NONE);
    assert_eq!(session.send(Msg::Read(Err("it is gone".to_owned()))), []);
    assert_eq!((session.state.error.as_deref(), session.run().id), (Some("it is gone"), 1));
    assert_eq!(generated(&session.send(Msg::Read(Ok(Arc::new(job(&now)))))), Vec::<Option<&str>>::new());
}

#[test]
fn the_file_is_read_again_with_the_wish() {
    let mut session = written(NONE);
    session.key("r");
    session.send(Msg::Read(Ok(Arc::new(job(MEAN)))));
    assert!(session.state.run.is_some(), "the candidates are for it");
    assert_eq!((session.state.job.wish(), next(&session)), (Some(NONE), Some(NONE)));
    assert_eq!(generated(&session.key("R")), [Some(NONE)]);

    // Candidates that change a body that is no more are put aside.
    let mut session = written(NONE);
    session.key("r");
    let other = MEAN.replace("sum(", "fsum(");
    session.send(Msg::Read(Ok(Arc::new(job(&other)))));
    assert!(session.state.run.is_none() && session.state.job.wish() == Some(NONE));
    assert_eq!(generated(&session.key("g")), [Some(NONE)]);

    // The next ones are of no wish once it is done.
    let mut session = taken();
    session.send(Msg::Read(Ok(Arc::new(job(&format!("{WITH_SKIP}    return 0\n"))))));
    assert!(session.state.run.is_none() && session.state.job.wish().is_none());
    session.key("g");
    session.send(Msg::Applied { run: 2, candidate: 0, result: Ok("calc.py".to_owned()) });
    session.send(Msg::Undone(Ok("undone".to_owned())));
    assert_eq!(next(&session), None, "and the wish before does not come back");

    // Parameters are asked for anew where the stub is another one.
    let mut session = bodied(2);
    let ask = asked(&says(&mut session, SKIP)).unwrap();
    answers(&mut session, ask, Some(WITH_SKIP));
    session.send(Msg::Read(Ok(Arc::new(job(MEAN)))));
    assert_eq!(session.state.draft.text(), WITH_SKIP, "the stub in the file is the one of before");
    session.send(Msg::Read(Ok(Arc::new(job(&MEAN.replace("numbers", "xs"))))));
    assert!(session.state.draft.text().contains("def mean(xs):") && session.state.run.is_none());
    assert!(asked(&session.key("g")).is_some());
}

#[test]
fn other_tests_and_the_editor_keep_the_wish() {
    let mut session = written(NONE);
    session.send(Msg::OtherTests(Arc::new(job(MEAN))));
    assert_eq!((session.state.job.wish(), session.state.run.is_some()), (Some(NONE), true));
    session.key("F");
    let touched = Touched { file: true, tests: false };
    let follow = |session: &mut Session, text: &str| {
        session.send(Msg::Followed(News { touched, job: Ok(Arc::new(job(text))), functions: Vec::new() }))
    };
    session.key("I");
    assert_eq!(session.send(Msg::Touched(touched)), [], "not while it is typed");
    assert_eq!(session.key("esc"), [Effect::Follow(touched)]);
    follow(&mut session, &format!("{MEAN}\n\nLIMIT = 3\n"));
    assert_eq!((session.state.job.wish(), session.state.run.is_some()), (Some(NONE), true));
    follow(&mut session, &MEAN.replace("sum(", "fsum("));
    assert_eq!((session.state.job.wish(), session.state.run.is_some()), (Some(NONE), false), "another body");
}

#[test]
fn runs_keep_the_wish_that_they_were_written_for() {
    let mut session = bodied(2);
    session.key("g");
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    says(&mut session, NONE);
    let words = |session: &Session| session.state.past.words().unwrap_or_default();
    session.send(Msg::Read(Ok(Arc::new(job(MEAN)))));
    session.key("[");
    assert_eq!((words(&session).as_str(), session.state.past.refusal()), ("run 1 of 2", None), "the file is as it was");
    assert_eq!(session.state.job.wish(), None);
    session.key("]");
    says(&mut session, "skip zeros");
    session.key("enter");
    session.key("[");
    assert_eq!(words(&session), "run 2 of 3, wish: also accept None");
    let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
    assert!(shown.contains("wish: also accept None") && !shown.contains("wish: skip"), "{shown}");
    assert_eq!(session.state.job.wish(), Some(NONE));
}

/// A kept run without candidates.
fn kept(job: Result<Arc<Job>, String>, wish: Option<&str>, applied: Option<usize>) -> Recalled {
    let (id, when, wish) = ("9".to_owned(), "14:03".to_owned(), wish.map(str::to_owned));
    Recalled { id, at: 1, when, seed: 1, n: 2, events: Vec::new(), job, applied, answers: Vec::new(), wish }
}

#[test]
fn kept_runs_have_their_wish() {
    let mut session = written(NONE);
    session.key("[");
    session.send(Msg::Recalled(vec![kept(Err("gone".to_owned()), Some("skip zeros"), None)]));
    assert_eq!(session.state.past.words().as_deref(), Some("run 1 of 2, 14:03, wish: skip zeros"));

    let of = Arc::new(job(MEAN).wishing(Some(SKIP)));
    for applied in [None, Some(1)] {
        let mut session = bodied(2);
        session.send(Msg::Resumed(Box::new(kept(Ok(of.clone()), Some(SKIP), applied))));
        assert_eq!(next(&session), Some(SKIP).filter(|_| applied.is_none()), "gone on with, unless it is done");
        session.key("I");
        assert_eq!(line(&session).as_deref(), Some(SKIP));
        session.key("esc");
        if applied.is_some() {
            session.send(Msg::Undone(Ok("undone".to_owned())));
        }
        assert_eq!(generated(&session.key("R")), [Some(SKIP)], "its stub has the parameters");
    }
}

#[test]
fn a_wish_is_seen() {
    let shown = |session: &Session, width, height| scenes::text(&scenes::draw(&session.state, width, height));
    let session = bodied(2);
    assert!(shown(&session, 80, 24).contains("I say what to change"), "where there is a body");
    assert!(!shown(&Session::tested(2), 80, 24).contains("say what to change"));
    let mut session = written(NONE);
    for (width, height) in [(80, 24), (200, 50), (30, 16), (80, 12)] {
        assert!(shown(&session, width, height).contains("wish: also accept"), "{width}x{height}");
    }
    // Beside the prompt, and not in a row of its own.
    let before = session.state.layout_in((80, 24));
    session.state.wish = wish::Wish::default();
    assert_eq!(session.state.layout_in((80, 24)), before);
    says(&mut session, &format!("long \u{1b}[2J{}", "x".repeat(300)));
    session.key("i");
    assert_eq!(session.state.focus, Focus::Prompt);
    assert!(shown(&session, 80, 24).contains("wish: long [2Jxxx"), "{}", shown(&session, 80, 24));
    session.key("esc");
    session.key("I");
    for (width, height) in [(1, 1), (3, 3), (20, 4), (30, 5), (40, 9), (300, 100)] {
        shown(&session, width, height);
    }
    session.send(Msg::Paste("now".to_owned()));
    assert!(shown(&session, 30, 3).contains("> now"), "also where there is one line");
    session.key("ctrl-u");
    assert!(shown(&session, 80, 24).contains("an empty line takes the wish away"));
}
