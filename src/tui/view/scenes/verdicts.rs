//! Verdicts, reasons and counts.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::start::palette;
use super::{draw_in, finished, scene, streaming, text};
use crate::agreement::{Agreement, Witness};
use crate::engine::{Event, FinishReason};
use crate::job::{self, Job, TestsChoice};
use crate::source::SourceInfo;
use crate::trial::{Assurance, LeftOut, Status, Verdict};
use crate::tui::app::calls::tests::{called, one_broken};
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::matrix::tests::verdict_beside;
use crate::tui::app::palette::What;
use crate::tui::app::{Loading, Msg, palette_tests, picker, tokens};
use crate::tui::layout::Arrangement;
use crate::tui::theme::Depth;
use crate::tui::view::badge;

/// A message that is too long for the last line takes the one above as well.
#[test]
fn long_messages_are_read_to_their_end() {
    let mut session = finished(2);
    session.send(Msg::Saved(Ok(format!("{}the end", "a long path ".repeat(8)))));
    let shown = scene(&mut session, 80, 24);
    assert!(shown.lines().last().is_some_and(|line| line.ends_with("the end")), "{shown}");
}

/// The keys of a list stay in sight, and a message above them begins at its beginning.
#[test]
fn what_is_said_hides_no_keys_of_a_list() {
    let mut session = picker::tests::picking(Vec::new());
    session.state.say(format!("it says {}the end", "a long word ".repeat(8)));
    let shown = scene(&mut session, 80, 24);
    let last: Vec<&str> = shown.lines().rev().take(3).collect();
    assert!(last[0].contains("Enter") && last[0].contains("Esc"), "{shown}");
    assert!(
        last[2].trim_start().starts_with("it says a long word") && last[1].trim_end().ends_with("the end"),
        "{shown}"
    );
}

/// A session whose candidates have ended, and are to be tested.
fn untested(n: usize) -> Session {
    let mut session = Session::tested(n);
    session.key("g");
    (0..n).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    session
}

/// Tests that are left out are the same for all candidates; what a candidate did stands in its pane.
#[test]
fn tests_that_are_left_out_are_counted_in_the_line_of_figures() {
    let mut session = untested(2);
    let words = "left out, as they fail without calling the function: t.test_a, t.test_b; t.test_a says no (t.py:9)";
    let left_out = LeftOut { names: vec!["t.test_a".into(), "t.test_b".into()], words: words.to_owned() };
    verdict_beside(&mut session, 0, "1 test", &[("t.test_c", true)], &left_out);
    verdict_beside(&mut session, 1, "t.test_c: AssertionError: 3 != 4 (t.py:15)", &[("t.test_c", false)], &left_out);
    let shown = scene(&mut session, 80, 24);
    assert_eq!(shown.matches("left out").count(), 1, "{shown}");
    assert!(shown.contains(" 1 passed, 1 failed   2 tests left out ") && !shown.contains("(t.py:9)"), "{shown}");
    assert!(shown.contains("3 != 4 (t.py:15)"), "{shown}");
    session.key("t");
    assert!(scene(&mut session, 120, 30).contains("t.test_a, t.test_b; t.test_a says no"), "whole among the details");
}

#[test]
fn tests_that_run_without_a_body_are_those_of_no_candidate() {
    let mut session = untested(1);
    session.job(job::Event::Preparing(Some(std::time::Duration::from_secs(60))));
    session.job(job::Event::Testing(0));
    session.key("t");
    let waits =
        |session: &mut Session| scene(session, 100, 24).contains("It waits: your tests run once without a body");
    assert!(waits(&mut session));
    session.job(job::Event::Preparing(None));
    assert!(!waits(&mut session));
}

#[test]
fn a_question_says_of_tests_that_never_ran_that_they_did_not() {
    let mut session = untested(1);
    session.verdict(0, Status::NotRun, "no tests are left");
    session.key("enter");
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("A was not tested.") && shown.contains("no tests are left"), "{shown}");
}

#[test]
fn a_filter_and_a_generation_that_waits_are_said() {
    let mut session = finished(3);
    session.key("f");
    session.wait(60_000);
    assert!(scene(&mut session, 80, 24).contains("only passed"));
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::IfAny).unwrap(), 2);
    session.key("g");
    session.wait(60_000);
    assert!(scene(&mut session, 120, 24).contains("writes as soon as the models are loaded"));
}

#[test]
fn an_answer_without_code_shows_what_was_said() {
    let mut session = tokens::tests::session(1, vec!["Sorry,", " no", " code."], true);
    let (ids, logprobs, text) = (vec![0, 1, 2], vec![-0.5; 3], String::new());
    let alternatives = Vec::new();
    session.event(Event::Tokens { candidate: 0, text, ids, logprobs, alternatives, drafted: 0, accepted: 0 });
    session.finish(0, "");
    session.done();
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("no code; said: Sorry, no code."), "{shown}");
}

/// The verdict and the pick are there however many candidates say the same.
#[test]
fn many_names_leave_room_for_the_verdict() {
    let mut session = Session::tested(32);
    session.key("g");
    (0..32).for_each(|candidate| drop(session.finish(candidate, &body(0))));
    session.done();
    session.verdict(0, Status::Passed, "2 checks");
    for width in [80, 60] {
        let shown = scene(&mut session, width, 20);
        assert!(shown.contains("A …  32x  PASS  PICK"), "{shown}");
    }
}

/// No test is hidden behind the number of those that do not fit.
#[test]
fn tests_that_do_not_fit_are_counted_in_a_row_of_their_own() {
    let mut session = finished(2);
    session.key("T");
    let checks: Vec<(String, bool)> = (0..9).map(|n| (format!("test_{n}"), n > 1)).collect();
    let assurance = Box::new(Assurance { checks, ..Assurance::default() });
    let verdict = Verdict { status: Status::Failed, assurance, ..Verdict::not_run("no") };
    session.job(job::Event::Verdict { candidate: 0, outcome: Ok(verdict) });
    session.key("t");
    let shown = scene(&mut session, 60, 16);
    let row = shown.lines().find(|line| line.contains("more tests")).unwrap_or_else(|| panic!("{shown}"));
    let of_tests = shown.lines().filter(|line| line.trim_start().starts_with("test_")).count();
    assert!(!row.contains(['✓', '✗']) && row.trim() == format!("{} more tests, listed below", 9 - of_tests), "{shown}");
}

#[test]
fn code_that_cannot_be_loaded_is_in_no_group() {
    let session = one_broken();
    let has = |candidate, words: &str| badge::marks(&session.state, candidate).iter().any(|mark| mark.text == words);
    assert!(has(0, "CANNOT BE LOADED: SyntaxError") && !has(0, "alone"));
    assert!(has(1, "alone") && !has(1, "CANNOT BE LOADED"));
}

/// Of the first that was called nobody knows yet whether others do the same.
#[test]
fn one_candidate_is_not_alone() {
    let mut session = called();
    let is_said = |session: &Session| badge::marks(&session.state, 2).iter().any(|mark| mark.text == "alone");
    assert!(is_said(&session));
    let whole = session.state.agreement().unwrap();
    let observed = whole.observed(2, 0).cloned().into_iter().collect();
    let first = Witness { members: vec![2], votes: 1, observed };
    let first = Agreement::of(whole.inputs[..1].to_vec().into(), vec![first]);
    session.job(job::Event::Agreement(Arc::new(first)));
    assert!(!is_said(&session));
}

/// A server writes.
pub(super) fn serve(session: &mut Session) {
    session.state.loading = Loading::Ready(SourceInfo { device: "http://127.0.0.1:1".into(), ..SourceInfo::default() });
}

#[test]
fn a_server_that_says_nothing_is_said() {
    let mut session = streaming(2);
    session.wait(4900);
    serve(&mut session);
    assert!(!scene(&mut session, 120, 24).contains("no data"));
    session.wait(3100);
    assert!(scene(&mut session, 120, 24).contains("no data for 8 s"));
    assert!(session.state.wake_at().is_some());
    session.tokens(0, "x");
    assert!(!scene(&mut session, 120, 24).contains("no data"));
}

#[test]
fn each_candidate_is_counted_once() {
    let mut session = Session::tested(5);
    session.key("g");
    let end = |candidate: usize, reason| Event::Finished {
        candidate,
        reason,
        text: body(candidate),
        mean_logprob: Some(-0.1),
    };
    session.event(end(0, FinishReason::Cancelled));
    session.event(end(1, FinishReason::Failed));
    session.finish(2, &body(2));
    session.finish(3, &body(3));
    session.verdict(2, Status::Passed, "2 checks");
    session.verdict(3, Status::NotRun, "no runner");
    let shown = scene(&mut session, 120, 24);
    assert!(shown.contains("1 writing, 1 passed, 1 not run, 1 stopped, 1 broken off"), "{shown}");
    session.event(Event::Failed("no more".into()));
    session.key("esc");
    let shown = scene(&mut session, 120, 24);
    assert!(shown.contains("1 passed, 1 not run, 1 stopped, 2 broken off"), "{shown}");
}

#[test]
fn reasons_come_before_figures_where_there_is_little_room() {
    let mut session = Session::tested(9);
    session.key("g");
    (0..8).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.tokens(8, "    return");
    for candidate in 0..8 {
        let why =
            format!("rolling_max([{candidate}, 3, 2]) gave [1, 3, 2], expected [1, 3, {candidate}] (test_stats.py)");
        session.verdict(candidate, if candidate == 7 { Status::Passed } else { Status::Failed }, &why);
    }
    session.key("1");
    session.state.arrangement = Arrangement::List;
    let shown = scene(&mut session, 80, 24);
    let row = |name: &str| shown.lines().find(|line| line.get(1..2) == Some(name)).unwrap_or(&shown).to_owned();
    assert!(row("B").ends_with("expected [1, 3, 1] (test_stats.py)"), "{shown}");
    assert!(row("I").contains(" lp -0."), "it has no reason yet: {shown}");
    assert!(row("H").contains("PASS  PICK ") && row("H").contains(" lp -0."), "there is room: {shown}");
}

#[test]
fn those_that_passed_agree_among_themselves() {
    let agreement = called().state.agreement().cloned().unwrap();
    let mut session = Session::tested(3);
    session.key("g");
    (0..3).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    session.job(job::Event::Agreement(Arc::new(agreement)));
    let words = |session: &Session, candidate| -> Vec<String> {
        let marks = badge::marks(&session.state, candidate).into_iter();
        marks.map(|mark| mark.text).filter(|text| text.contains("agree") || text == "alone").collect()
    };
    assert_eq!([0, 1, 2].map(|c| words(&session, c).join("")), ["A B agree", "A B agree", "alone"]);
    for (candidate, status) in [(0, Status::Passed), (1, Status::Failed), (2, Status::Passed)] {
        session.verdict(candidate, status, "rolling_max([1]) gave 2");
    }
    assert_eq!([0, 1, 2].map(|c| words(&session, c).join("")), ["alone", "", "alone"]);
    session.key("b");
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("calls: 2 different behaviours"), "{shown}");
}

#[test]
fn a_tab_has_the_answer_of_the_user() {
    let mut session = called();
    for key in ["b", "1", "esc", "z"] {
        session.key(key);
    }
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("A RIGHT PICK") && shown.contains("C WRONG"), "{shown}");
}

#[test]
fn a_candidate_that_is_being_written_is_not_called_untested() {
    let mut session = streaming(2);
    session.key("t");
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("It is not written yet.") && !shown.contains("It was not tested."), "{shown}");
}

#[test]
fn a_question_about_one_that_passed_meanwhile_has_nothing_against_it() {
    let mut session = untested(1);
    session.key("enter");
    assert!(scene(&mut session, 80, 24).contains("y take it all the same"));
    session.verdict(0, Status::Passed, "");
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("A has passed its tests by now.") && shown.contains("y take it   n do not"), "{shown}");
}

/// Of code under such a runner nobody knows if it printed anything.
#[test]
fn nothing_is_said_of_output_that_the_runner_takes() {
    let mut session = finished(1);
    session.key("T");
    let printed = |session: &mut Session, runner: &str| {
        let assurance = Box::new(Assurance { runner: runner.to_owned(), ..Assurance::default() });
        let verdict = Verdict { status: Status::Failed, assurance, ..Verdict::not_run("no") };
        session.job(job::Event::Verdict { candidate: 0, outcome: Ok(verdict) });
        scene(session, 80, 24).contains("it printed nothing")
    };
    assert!(!printed(&mut session, "doctest"));
    session.key("t");
    assert!(!scene(&mut session, 80, 24).contains("it printed nothing"));
    session.key("T");
    assert!(printed(&mut session, "cargo test"));
}

#[test]
fn a_long_explanation_uses_the_rows_below_a_short_list() {
    let mut session = palette(",");
    palette_tests::type_in(&mut session, "theme");
    let shown = scene(&mut session, 80, 24);
    let about = session.state.palette.open.as_ref().and_then(|open| match &open.list.current()?.what {
        What::Setting(setting) => Some(setting.help.clone()),
        _ => None,
    });
    let last = about.unwrap_or_default().split(' ').next_back().unwrap_or_default().to_owned();
    assert!(shown.contains(&last) && !shown.contains(" …\n"), "{shown}");
}

#[test]
fn a_failure() {
    let mut session = streaming(4);
    let why = "the main model ran out of memory at 4 candidates of 256 tokens each: try fewer candidates (-) or a smaller model";
    session.event(Event::Failed(why.into()));
    insta::assert_snapshot!(scene(&mut session, 112, 30));
}

#[test]
fn verdicts_are_words_and_also_colours() {
    let mut session = finished(4);
    session.send(Msg::Resize(112, 30));
    let find = |buffer: &Buffer, word: &str| {
        let lines = text(buffer);
        let (y, line) = lines.lines().enumerate().find(|(_, l)| l.contains(word)).unwrap();
        let x = line[..line.find(word).unwrap()].chars().count();
        buffer[(x as u16, y as u16)].clone()
    };
    let colour = draw_in(&session.state, 112, 30, Depth::Sixteen);
    assert_eq!(find(&colour, "FAIL").fg, Color::Red);
    assert_eq!(find(&colour, "PASS").fg, Color::Green);
    let plain = draw_in(&session.state, 112, 30, Depth::None);
    assert!(plain.content().iter().all(|c| c.fg == Color::Reset && c.bg == Color::Reset));
    assert!(find(&plain, "PICK").modifier.contains(Modifier::BOLD));
    assert_eq!(text(&plain), text(&colour), "colour adds nothing that words do not say");
}
