//! Looking at candidates: panes, scrolling, differences, search, help, the mouse.

use std::path::Path;

use super::{judged, said};
use crate::code::{Place, Target};
use crate::job::{self, Job, TestsChoice};
use crate::tui::app::compare::Side;
use crate::tui::app::fixture::Session;
use crate::tui::app::{Effect, Focus, Msg, Testing};
use crate::tui::keymap::Context;

#[test]
fn a_number_goes_to_its_pane() {
    let mut session = Session::tested(3);
    session.key("g");
    session.key("3");
    assert_eq!(session.run().focus, 2);
    session.key("i");
    session.key("alt-2");
    assert_eq!((session.run().focus, session.state.focus), (1, Focus::Panes), "from the prompt, too");
    session.key("9");
    assert_eq!(session.run().focus, 1, "there is none");
}

#[test]
fn scrolling_up_detaches_and_the_end_follows_again() {
    let mut session = Session::tested(4);
    session.key("g");
    let text = "    x = 1\n".repeat(50);
    session.tokens(0, &text);
    assert!(session.run().candidates[0].scroll.follow);
    session.key("pgup");
    let scroll = session.run().candidates[0].scroll;
    assert!(!scroll.follow && scroll.top < 40);
    session.tokens(0, "    more\n");
    assert_eq!(session.run().candidates[0].scroll, scroll, "what is read stays in place");
    session.key("G");
    assert!(session.run().candidates[0].scroll.follow);
    session.key("g");
    assert_eq!(session.run().candidates[0].scroll.top, 0);
}

#[test]
fn wrapped_lines_are_not_shifted() {
    let mut session = judged();
    session.key("1");
    let column = |session: &Session| session.run().candidates[0].scroll.column;
    session.key(">");
    assert_eq!((column(&session), said(&session).contains("w cuts them")), (0, true));
    session.key("w");
    session.key(">");
    assert_eq!(column(&session), 8);
    session.key("w");
    assert_eq!(column(&session), 0);
}

#[test]
fn the_help_has_an_end_and_leads_to_the_actions() {
    let mut session = Session::tested(2);
    session.key("?");
    session.key("G");
    let last = session.state.help.unwrap();
    session.key("down");
    session.key("k");
    assert_eq!((session.state.help, last > 20), (Some(last - 1), true));
    session.key("home");
    assert_eq!(session.state.help, Some(0));
    session.key(":");
    assert_eq!(session.state.context(), Context::Palette);
}

#[test]
fn differences_stay_open_while_candidates_change() {
    let mut session = judged();
    session.key("2");
    session.key("d");
    assert_eq!(session.state.context(), Context::Diff);
    assert_eq!(session.state.base().unwrap().name, "the pick A");
    assert_eq!(session.state.comparison().unwrap().counts, (1, 1));
    session.key("]");
    assert_eq!((session.run().focus, session.state.comparison().unwrap().counts), (2, (2, 1)));
    session.key("]");
    assert_eq!(
        (session.run().focus, session.state.base().unwrap().name.as_str()),
        (0, "candidate B"),
        "the pick against another"
    );
    session.key("esc");
    assert_eq!(session.state.context(), Context::Panes);
    // A marked one comes first, and `b` goes through all.
    session.key("3");
    session.key("M");
    session.key("2");
    session.key("d");
    assert_eq!(session.state.base().unwrap().name, "the marked C");
    session.key("b");
    assert_eq!(session.state.base().unwrap().name, "the pick A");
    session.key("b");
    session.state.own_body = Some("    return 0\n".to_owned());
    session.key("b");
    assert_eq!(session.state.base().unwrap().name, "the file");
}

/// A session for a placeholder in a file, with two candidates.
fn in_a_file() -> Session {
    let text = "import os\n\n\ndef f(x):\n    \"\"\"Doc.\"\"\"\n    pass\n\n\ndef g():\n    return 1\n";
    let target = Target::in_editor(Path::new("a.py"), text, &Place::Function("f".to_owned())).unwrap();
    let mut session = Session::on(Job::from_target(target, &TestsChoice::None).unwrap(), 2);
    session.open(true);
    session.key("g");
    session.finish(0, "    return x\n");
    session.finish(1, "    y = x\n    return y + 1\n");
    session.done();
    session
}

#[test]
fn differences_are_those_to_the_file_until_a_candidate_is_marked() {
    let mut session = in_a_file();
    for key in ["1", "2"] {
        session.key(key);
        session.key("d");
        assert_eq!(session.state.base().unwrap().name, "the file", "{key}");
        session.key("esc");
    }
    session.key("1");
    session.key("d");
    let lines = session.state.comparison().unwrap().lines;
    let side = |side| lines.iter().filter(|l| l.side == side).map(|l| l.text.as_str()).collect::<Vec<_>>();
    assert_eq!((side(Side::Old), side(Side::New)), (vec!["    pass"], vec!["    return x"]));
    assert!(lines.iter().any(|line| line.text == "def f(x):"), "{lines:?}");
    session.key("2");
    session.key("esc");
    session.key("2");
    session.key("M");
    session.key("1");
    session.key("d");
    assert_eq!(session.state.base().unwrap().name, "the marked B");
    session.key("b");
    assert_eq!(session.state.base().unwrap().name, "the file");
}

#[test]
fn the_preview_has_no_changes_to_go_through() {
    let mut session = in_a_file();
    session.key("1");
    session.key("p");
    let before = session.state.diff;
    for key in ["space", "D", "b", "n", "N"] {
        assert_eq!((session.key(key), session.state.diff), (Vec::new(), before));
        assert_eq!(said(&session), "this is the file with A in it; Esc, then d shows what changes", "{key}");
    }
}

#[test]
fn differences_scroll_from_what_is_seen_up_to_their_end() {
    let mut session = Session::tested(2);
    session.key("g");
    let lines = |changed: &[usize]| -> String {
        let line = |at| format!("    x = {}\n", if changed.contains(&at) { 1000 + at } else { at });
        (0..90).map(line).collect::<Vec<_>>().concat()
    };
    session.finish(0, &lines(&[]));
    session.finish(1, &lines(&[40, 70]));
    session.done();
    session.key("2");
    session.key("d");
    let top = |session: &Session| session.state.diff.and_then(|diff| diff.top);
    assert_eq!(top(&session), None);
    session.key("j");
    let first = top(&session).unwrap();
    assert!((20..=40).contains(&first), "{first}");
    session.key("n");
    assert_eq!(top(&session), None, "the next change is in view");
    session.key("j");
    assert!(top(&session).unwrap() > first + 20);
    for _ in 0..9 {
        session.key("pgdn");
    }
    let last = top(&session).unwrap();
    session.key("k");
    assert_eq!(top(&session), Some(last - 1));
    session.key("esc");
    session.key("p");
    for key in ["pgdn", "pgdn", "pgdn", "pgdn", "pgdn", "pgdn", "pgdn", "pgdn"] {
        session.key(key);
    }
    let last = top(&session).unwrap();
    assert!(last < 90, "{last}");
    session.key("k");
    assert_eq!(top(&session), Some(last - 1));
}

#[test]
fn all_rows_of_a_long_prompt_are_reached_before_the_first_run() {
    let mut session = Session::free(1);
    session.send(Msg::Paste("word ".repeat(1000)));
    session.key("esc");
    for _ in 0..9 {
        session.key("pgdn");
    }
    assert!(session.state.prompt_top > 30, "{}", session.state.prompt_top);
}

#[test]
fn a_change_of_the_file_is_taken_back_as_a_body() {
    let mut session = in_a_file();
    session.key("2");
    session.key("d");
    let text = "    pass\n".to_owned();
    assert_eq!(session.key("space"), [Effect::Add { run: session.run().id, of: 1, text }]);
}

#[test]
fn a_change_is_taken_from_another_candidate_and_tested() {
    let mut session = judged();
    session.key("2");
    session.key("d");
    let run = session.run().id;
    let text = "    best = numbers[0]\n    return best\n".to_owned();
    assert_eq!(session.key("space"), [Effect::Add { run, of: 1, text: text.clone() }]);
    session.send(Msg::Job { run, event: job::Event::Added { candidate: 3, of: 1, text } });
    let made = &session.run().candidates[3];
    assert_eq!((made.made_of, &made.testing, session.run().focus), (Some(1), &Testing::Queued, 3));
    session.send(Msg::Job { run, event: job::Event::Duplicate { candidate: 3, of: 0 } });
    assert!(session.run().testing(3).passed(), "it says what A says");
}

#[test]
fn an_edited_candidate_is_a_new_one() {
    let mut session = judged();
    session.key("2");
    let (run, text) = (session.run().id, session.run().candidates[1].text.clone());
    assert_eq!(session.key("e"), [Effect::Edit { run, candidate: 1, text }]);
    let nothing = session.send(Msg::Edited { run, candidate: 1, result: Ok(None) });
    assert!(nothing.is_empty() && said(&session).contains("as before"));
    let edited = "    return 1\n".to_owned();
    let effects = session.send(Msg::Edited { run, candidate: 1, result: Ok(Some((edited.clone(), true))) });
    assert_eq!(effects, [Effect::Add { run, of: 1, text: edited }]);
    session.send(Msg::Edited { run, candidate: 1, result: Err("no editor".into()) });
    assert_eq!(session.state.error.as_deref(), Some("no editor"));
    session.send(Msg::Edited { run, candidate: 1, result: Ok(Some(("    return 2\n".to_owned(), true))) });
    assert_eq!(session.state.error, None);
}

#[test]
fn candidates_are_found_by_text_by_verdict_and_by_passing() {
    let mut session = judged();
    session.key("1");
    session.key("n");
    assert_eq!(session.run().focus, 2, "the next that passed");
    session.key("n");
    assert_eq!(session.run().focus, 0);
    for key in ["/", "N", "o", "n", "enter"] {
        session.key(key);
    }
    assert_eq!((session.run().focus, session.state.context()), (1, Context::Panes));
    session.key("N");
    assert!(said(&session).contains("only B"), "{}", said(&session));
    session.key("esc");
    assert_eq!(session.state.search, None);
    session.key("f");
    assert_eq!(session.run().shown(), [0, 2]);
    session.key("f");
    assert_eq!((session.run().shown(), session.run().focus), (vec![1], 1));
    session.key("f");
    assert_eq!(session.run().shown(), [0, 1, 2], "none is untested");
    session.key("f");
    session.key("esc");
    assert_eq!(session.run().shown(), [0, 1, 2]);
    session.key("esc");
    assert_eq!(
        (session.state.focus, said(&session).contains("q leaves")),
        (Focus::Panes, true),
        "never into an editor"
    );
}

#[test]
fn output_that_is_not_there_is_said() {
    let mut session = judged();
    session.key("t");
    session.key("o");
    assert_eq!(said(&session), "it printed nothing");
    let candidate = &mut session.state.run.as_mut().unwrap().candidates[0];
    let Testing::Done(verdict) = &mut candidate.testing else { panic!() };
    verdict.assurance.runner = "doctest".to_owned();
    session.key("1");
    session.key("o");
    assert_eq!(said(&session), "it printed nothing that doctest passes on");
}

#[test]
fn an_import_below_a_body_does_not_move_it() {
    let mut session = judged();
    session.state.run.as_mut().unwrap().candidates[0].shown.push_str("\n\nimport re");
    let candidates = &session.run().candidates;
    let skips = |candidate: usize| -> Vec<usize> {
        session.state.rows(&candidates[candidate], 40, false).iter().map(|row| row.skip).collect()
    };
    assert_eq!((skips(0), skips(1)), (vec![4, 4, 0, 0], vec![4, 4]));
}

#[test]
fn the_mouse_does_nothing_until_it_is_on() {
    use crate::tui::event::{Mouse, MouseKind};
    let mut session = Session::tested(4);
    session.key("g");
    session.state.size = (80, 24);
    let body = "    x = 1\n".repeat(60);
    for candidate in 0..4 {
        session.finish(candidate, &body);
    }
    let panes = session.state.layout().panes;
    let other = panes[1];
    let at = |kind| Msg::Mouse(Mouse { kind, column: other.area.x + 2, row: other.area.y + 1 });
    session.send(at(MouseKind::Press));
    assert_eq!(session.run().focus, panes[0].candidate);
    assert_eq!(session.key("m"), [Effect::Mouse(true)]);
    let top = |session: &Session, pane: usize| session.run().candidates[pane].scroll.top;
    session.send(at(MouseKind::WheelDown));
    session.send(at(MouseKind::WheelDown));
    session.send(at(MouseKind::WheelUp));
    assert_eq!([top(&session, other.candidate), top(&session, panes[0].candidate)], [3, 0]);
    session.send(at(MouseKind::Press));
    assert_eq!(session.run().focus, other.candidate);
    session.key("ctrl-t");
    for kind in [MouseKind::WheelDown, MouseKind::WheelDown] {
        session.send(at(kind));
    }
    assert_eq!(top(&session, other.candidate), 3, "the list of functions lies over it");
    session.key("esc");
    session.key("p");
    let row = |session: &Session| session.state.diff.and_then(|diff| diff.top);
    let before = row(&session).unwrap();
    session.send(at(MouseKind::WheelDown));
    assert_eq!((row(&session), top(&session, other.candidate)), (Some(before + 3), 3));
    session.key("esc");
    assert_eq!(session.key("m"), [Effect::Mouse(false)]);
}
