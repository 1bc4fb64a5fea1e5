//! Views over the candidates: help, results, differences, search, questions, colours.

use ratatui::style::Modifier;

use super::{BODIES, draw_in, finished, scene, streaming, text};
use crate::job::{self, Job, TestsChoice};
use crate::trial::{Status, Verdict};
use crate::tui::app::fixture::{PROMPT, Session};
use crate::tui::app::{Msg, tokens};
use crate::tui::keymap::Keymap;
use crate::tui::theme::Depth;

#[test]
fn help() {
    let mut session = streaming(4);
    session.key("?");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn results() {
    let mut session = finished(4);
    session.key("t");
    session.key("j");
    let run = session.run().id;
    session.key("T");
    let verdict = Verdict {
        status: Status::Failed,
        message: "rolling_max([]): expected [], got None".into(),
        duration_ms: 812,
        output: "Failed example:\n    rolling_max([])\nExpected:\n    []\nGot nothing\n".into(),
        ..Verdict::not_run("")
    };
    session.send(Msg::Job { run, event: job::Event::Verdict { candidate: 1, outcome: Ok(verdict) } });
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn results_below_the_code() {
    let mut session = finished(8);
    session.key("t");
    session.key("j");
    insta::assert_snapshot!(scene(&mut session, 112, 30));
}

#[test]
fn words_name_the_keys_of_the_user() {
    let keys = [("yes", "J"), ("no", "K"), ("help.line-down", "d"), ("diff.mark", "Q")];
    let keys = keys.map(|(name, key)| (name.to_owned(), vec![key.to_owned()])).into();
    let mut session = finished(2);
    session.state.keys = Keymap::new(&keys).unwrap();
    session.key("2");
    session.key("enter");
    assert!(scene(&mut session, 30, 2).contains("take B, not passed? J K"));
    session.key("K");
    session.key("?");
    assert!(scene(&mut session, 80, 24).contains("Esc closes, d k scroll"));
    session.key("esc");
    session.key("d");
    session.key("b");
    assert!(scene(&mut session, 80, 24).contains("nothing else to compare with; Q marks a candidate"));
}

#[test]
fn differences() {
    let mut session = finished(4);
    session.key("2");
    session.key("d");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn differences_side_by_side() {
    let mut session = finished(4);
    session.key("3");
    session.key("d");
    insta::assert_snapshot!(scene(&mut session, 132, 20));
}

#[test]
fn the_file_with_a_candidate() {
    let mut session = finished(4);
    session.key("p");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn searching() {
    let mut session = finished(4);
    for key in ["/", "r", "e", "s", "u"] {
        session.key(key);
    }
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn candidates_that_have_a_text_are_counted() {
    let mut session = finished(4);
    for key in ["/", "r", "e", "s", "u", "enter"] {
        session.key(key);
    }
    let run = session.run();
    let shown = run.shown();
    let found = shown.iter().filter(|&&c| run.candidates[c].shown.contains("resu")).count();
    assert!(found > 0);
    assert!(scene(&mut session, 80, 24).contains(&format!("{found} of {} have resu", shown.len())));
}

#[test]
fn question() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 4);
    session.open(false);
    session.key("g");
    session.finish(0, BODIES[0]);
    insta::assert_snapshot!(scene(&mut session, 80, 24));
    session.wait(1000);
    session.key("y");
    assert!(scene(&mut session, 80, 24).contains("UNPROTECTED"));
    assert!(scene(&mut session, 40, 9).contains("UNPROTECTED"), "also without a line of figures");
}

#[test]
fn taking_what_failed() {
    let mut session = finished(4);
    session.key("2");
    session.key("enter");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
    assert!(scene(&mut session, 30, 2).contains("take B, not passed? y n"));
}

#[test]
fn coloured_by_confidence() {
    let mut session = tokens::tests::ended(4);
    session.state.job = std::sync::Arc::new(Job::from_text(PROMPT, &TestsChoice::None).unwrap());
    session.key("c");
    assert!(scene(&mut session, 80, 24).contains("drafts (c)   accepted draft   main model   71 % drafted"));
    session.key("c");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
    let buffer = draw_in(&session.state, 80, 24, Depth::None);
    let styles: Vec<Modifier> = (0..=6).map(|x| buffer[(x + 1, 2)].modifier).collect();
    let line = text(&buffer).lines().nth(2).unwrap_or_default().to_owned();
    assert!(line.starts_with("┃if n > "), "{line}");
    let (sure, likely, doubtful) = (Modifier::DIM, Modifier::empty(), Modifier::BOLD | Modifier::UNDERLINED);
    assert_eq!(styles, [sure, sure, likely, likely, likely, doubtful, likely], "steps differ without colours");
}

#[test]
fn a_token_and_what_was_likely_in_its_place() {
    let mut session = tokens::tests::ended(1);
    for key in ["z", "c", "c", ")", ")", ")", ")"] {
        session.key(key);
    }
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}
