//! Scenes of the screen, drawn on a buffer and compared with what was accepted.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::{Look, badge};
use crate::agreement::{Agreement, Witness};
use crate::engine::{Event, FinishReason};
use crate::job::{self, Job, TestsChoice};
use crate::source::SourceInfo;
use crate::trial::{Assurance, Status, Verdict};
use crate::tui::app::calls::tests::{called, one_broken};
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::palette::What;
use crate::tui::app::{Loading, Msg, State, palette_tests, picker, tokens};
use crate::tui::highlight::Highlights;
use crate::tui::theme::{Depth, Theme};
use crate::untrusted::is_invisible;

/// Bodies as a model writes them.
const BODIES: [&str; 4] = [
    "    running = None\n    result = []\n    for n in numbers:\n        if running is None or n > running:\n            running = n\n        result.append(running)\n    return result\n",
    "    if not numbers:\n        return None\n    out = [numbers[0]]\n    for n in numbers[1:]:\n        out.append(max(out[-1], n))\n    return out\n",
    "    best = float(\"-inf\")\n    result = []\n    for n in numbers:\n\tbest = max(best, n)  # a comment too long for a pane of this width, so that it is cut\n        result.append(best)\n    return result\n",
    "    from itertools import accumulate\n\n    return list(accumulate(numbers, max))\n",
];

/// Draws at a size, and checks that nothing hostile reached a cell.
pub fn draw(state: &State, width: u16, height: u16) -> Buffer {
    draw_in(state, width, height, Depth::True)
}

fn draw_in(state: &State, width: u16, height: u16, depth: Depth) -> Buffer {
    draw_with(state, width, height, &Theme::find("dark", std::path::Path::new(""), false, depth).unwrap())
}

/// Draws with the colours of a theme.
pub fn draw_with(state: &State, width: u16, height: u16, theme: &Theme) -> Buffer {
    let highlights = Highlights::plain();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let look = Look { state, theme, highlights: &highlights };
    terminal
        .draw(|frame| {
            super::draw(frame, &look);
            theme.paint(frame.buffer_mut());
        })
        .unwrap();
    let buffer = terminal.backend().buffer().clone();
    for cell in buffer.content() {
        assert!(!cell.symbol().chars().any(is_invisible), "{:?} in a cell", cell.symbol());
    }
    buffer
}

/// The characters of a buffer.
pub fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut skip = 0;
        let mut line = String::new();
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = crate::tui::text::width(symbol).saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn scene(session: &mut Session, width: u16, height: u16) -> String {
    session.send(Msg::Resize(width, height));
    text(&draw(&session.state, width, height))
}

/// Candidates in the middle of being written.
pub fn streaming(n: usize) -> Session {
    let mut session = Session::tested(n);
    session.key("g");
    session.event(Event::Prefill { done: 31, total: 31 });
    for step in 0..5 {
        for candidate in 0..n {
            let piece: String = BODIES[candidate % 4].chars().skip(step * 17).take(17).collect();
            session.tokens(candidate, &piece);
        }
        session.now += 40;
        session.step(n);
    }
    session
}

/// All ended: a pass, a failure, a duplicate, a pass that came later.
pub fn finished(n: usize) -> Session {
    let mut session = streaming(n);
    for candidate in 0..n {
        // D writes what A wrote.
        let text =
            BODIES.get(candidate % 3).filter(|_| candidate < 4).map_or_else(|| body(candidate), |b| (*b).to_owned());
        session.finish(candidate, &text);
    }
    session.done();
    session.verdict(1, Status::Failed, "rolling_max([]): expected [], got None");
    session.verdict(2, Status::Passed, "2 checks");
    session.verdict(0, Status::Passed, "2 checks");
    for (candidate, status) in
        (4..n).zip([Status::Timeout, Status::Error, Status::Killed, Status::Tampered].into_iter().cycle())
    {
        session.verdict(candidate, status, "what was seen");
    }
    session.wait(10_000);
    session
}

/// A message that is too long for the last line takes the one above as well.
#[test]
fn long_messages_are_read_to_their_end() {
    let mut session = finished(2);
    session.send(Msg::Saved(Ok(format!("{}the end", "a long path ".repeat(8)))));
    let shown = scene(&mut session, 80, 24);
    assert!(shown.lines().last().is_some_and(|line| line.ends_with("the end")), "{shown}");
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
    assert!(!row.contains(['✓', '✗']) && row.trim() == format!("{} more tests", 9 - of_tests), "{shown}");
}

/// Lines above the function may be wrapped into many rows.
#[test]
fn a_preview_begins_at_the_function() {
    let text = format!("# {}\n\n\n{PROMPT}", "x".repeat(3000));
    let mut session = Session::on(Job::from_text(&text, &TestsChoice::None).unwrap(), 1);
    session.open(true);
    for key in ["g", "w"] {
        session.key(key);
    }
    session.finish(0, &body(0));
    session.done();
    for wrap in [false, true] {
        if wrap {
            session.key("w");
        }
        session.send(Msg::Resize(80, 24));
        session.key("p");
        assert!(scene(&mut session, 80, 24).contains("def rolling_max"), "{}", scene(&mut session, 80, 24));
        session.key("esc");
    }
}

#[test]
fn code_that_cannot_be_loaded_is_in_no_group() {
    let session = one_broken();
    let has = |candidate, words: &str| badge::marks(&session.state, candidate).iter().any(|mark| mark.text == words);
    assert!(has(0, "CANNOT BE LOADED") && !has(0, "alone"));
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

/// The brace that ends it stands at the indentation of the function: nothing moves when it comes.
#[test]
fn a_block_in_braces_stands_still_while_it_is_written() {
    let mut session = Session::on(Job::from_text("function f(x) {\n", &TestsChoice::IfAny).unwrap(), 1);
    session.open(true);
    session.key("g");
    session.tokens(0, "  return x;\n");
    assert!(scene(&mut session, 80, 24).contains("┃  return x;"));
    session.finish(0, "  return x;\n}\n");
    assert!(scene(&mut session, 80, 24).contains("┃  return x;"));
}

#[test]
fn start() {
    insta::assert_snapshot!(scene(&mut Session::tested(8), 80, 24));
}

/// The picker over a start screen, with the text of its first function.
pub fn choosing() -> Session {
    let mut found = picker::tests::functions();
    let many = (0..30).map(|n| picker::Found {
        path: "src/deep/er/in/the/tree/of/folders/of_a_large_shop/orders.py".into(),
        shown: "src/deep/er/in/the/tree/of/folders/of_a_large_shop/orders.py".to_owned(),
        name: format!("Orders.with_a_name_that_is_rather_long_{n}"),
        line: 10 * n + 1,
        rank: 3,
        ..found[0].clone()
    });
    found.extend(many.collect::<Vec<_>>());
    found[3].name.push_str("\u{202e}\u{1b}[2J");
    let mut session = picker::tests::picking(found);
    let text = "def median(numbers):\n    \"\"\"The middle number.\n\n    >>> median([3, 1, 2])\n    2\n    \"\"\"\n";
    let text = Ok(text.to_owned());
    session.send(Msg::Preview(picker::Preview { path: "src/stats.py".into(), line: 12, text }));
    session
}

#[test]
fn the_picker_at_80x24() {
    insta::assert_snapshot!(scene(&mut choosing(), 80, 24));
}

#[test]
fn the_picker_at_50x12() {
    insta::assert_snapshot!(scene(&mut choosing(), 50, 12));
}

#[test]
fn the_picker_at_200x50() {
    insta::assert_snapshot!(scene(&mut choosing(), 200, 50));
}

#[test]
fn the_picker_filtered() {
    let mut session = choosing();
    for key in ["o", "r", "d", "s", "7"] {
        session.key(key);
    }
    for _ in 0..2 {
        session.key("down");
    }
    let ask = session.state.picking.number();
    session.state.picking.wanted = Some(ask);
    session
        .send(Msg::Targeted { ask, result: Err("there is no file orders.py; check the name and the folder".into()) });
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn the_picker_at_every_size() {
    let mut session = choosing();
    for (width, height) in [(1, 1), (3, 3), (5, 3), (20, 4), (20, 5), (40, 9), (121, 6), (300, 100)] {
        scene(&mut session, width, height);
    }
    assert!(scene(&mut session, 30, 3).contains("> : median"), "also where there is one line");
}

/// The palette over candidates.
fn palette(key: &str) -> Session {
    palette_tests::opened(finished(8), key)
}

#[test]
fn the_palette_at_80x24() {
    insta::assert_snapshot!(scene(&mut palette(":"), 80, 24));
}

#[test]
fn the_palette_filtered_at_50x12() {
    let mut session = palette(":");
    palette_tests::type_in(&mut session, "undo");
    session.key("enter");
    insta::assert_snapshot!(scene(&mut session, 50, 12));
}

#[test]
fn settings_at_80x24() {
    insta::assert_snapshot!(scene(&mut palette(","), 80, 24));
}

#[test]
fn settings_at_50x12() {
    let mut session = palette(",");
    palette_tests::type_in(&mut session, "model");
    insta::assert_snapshot!(scene(&mut session, 50, 12));
}

#[test]
fn themes_leave_the_candidates_in_view() {
    let mut session = palette(",");
    palette_tests::values_of(&mut session, "theme");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn a_value_that_cannot_be_at_80x24() {
    let mut session = palette(",");
    palette_tests::values_of(&mut session, "temperature");
    palette_tests::type_in(&mut session, "warm");
    let why = "temperature is `warm`, expected 0 (greedy) or a positive number".to_owned();
    session.send(Msg::Set { name: "temperature".into(), result: Err(why) });
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn the_palette_at_every_size() {
    for key in [":", ","] {
        let mut session = palette(key);
        for (width, height) in [(1, 1), (3, 3), (5, 3), (20, 4), (20, 5), (40, 9), (121, 6), (300, 100)] {
            scene(&mut session, width, height);
        }
    }
    assert!(scene(&mut palette(","), 30, 3).contains("> : temperature: 0.8"), "also where there is one line");
}

/// How one comes to a place, its words for Enter, and its way out.
type Place = (Box<dyn Fn() -> Session>, &'static str, &'static str);

/// Each place says at 80 columns what Enter does, and how one leaves it.
#[test]
fn each_place_names_enter_and_the_way_out() {
    let footer = |session: &mut Session| {
        let shown = scene(session, 80, 24);
        shown.trim_end().lines().last().unwrap().trim().to_owned()
    };
    let after = |keys: &[&str]| {
        let mut session = finished(4);
        for key in keys {
            session.key(key);
        }
        session
    };
    let typed = || {
        let mut session = Session::tested(4);
        session.key("i");
        session.key("x");
        session
    };
    let mut asked = after(&["2", "enter"]);
    assert!(footer(&mut asked).contains("y yes   n no"), "a question takes no Enter");
    let places: [Place; 10] = [
        (Box::new(|| Session::tested(4)), "Enter generate", "q quit"),
        (Box::new(|| Session::free(4)), "Enter generate", "Esc leave prompt"),
        (Box::new(typed), "Enter new line   F5 generate", "Esc leave prompt"),
        (Box::new(move || after(&[])), "Enter accept", "q quit"),
        (Box::new(move || after(&["z"])), "Enter accept", "Esc back"),
        (Box::new(move || after(&["t"])), "Enter accept", "Esc close"),
        (Box::new(move || after(&["d"])), "Enter accept", "Esc close"),
        (Box::new(move || after(&["?"])), "", "Esc close"),
        (Box::new(move || after(&[":"])), "Enter choose", "Esc back"),
        (Box::new(move || after(&["ctrl-t"])), "Enter take it", "Esc close"),
    ];
    for (session, enter, out) in places {
        let mut session = session();
        let shown = footer(&mut session);
        assert!(shown.contains(enter) && shown.contains(out), "{:?}: {shown}", session.state.context());
    }
}

#[test]
fn start_without_a_function() {
    let mut session = choosing();
    session.state.picking.open.as_mut().unwrap().at_start = true;
    session.key("esc");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn start_of_a_free_prompt() {
    insta::assert_snapshot!(scene(&mut Session::free(8), 60, 16));
}

#[test]
fn streaming_in_a_grid() {
    insta::assert_snapshot!(scene(&mut streaming(4), 112, 30));
}

#[test]
fn eight_of_three_lines_at_80x24() {
    let mut session = Session::tested(8);
    session.key("g");
    for candidate in 0..8 {
        session.finish(candidate, &format!("    first = {candidate}\n    second = first\n    return second\n\n"));
    }
    session.done();
    let shown = scene(&mut session, 80, 24);
    assert_eq!(shown.matches("return second").count(), 8, "{shown}");
    assert!(!shown.contains("more"), "{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn eight_longer_ones_at_80x24() {
    let mut session = finished(8);
    session.key("5");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn eight_being_written_at_112x30() {
    insta::assert_snapshot!(scene(&mut streaming(8), 112, 30));
}

#[test]
fn eight_at_112x30() {
    insta::assert_snapshot!(scene(&mut finished(8), 112, 30));
}

#[test]
fn a_page_of_sixteen() {
    let mut session = streaming(16);
    (0..9).for_each(|_| drop(session.key("tab")));
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn finished_in_a_wide_grid() {
    insta::assert_snapshot!(scene(&mut finished(8), 200, 50));
}

#[test]
fn a_list() {
    insta::assert_snapshot!(scene(&mut finished(4), 50, 12));
}

/// Long bodies of which the first one failed.
fn long() -> Session {
    let mut session = Session::tested(2);
    session.key("g");
    for candidate in 0..2 {
        session.finish(candidate, &format!("{}    return {candidate}\n", "    x = 1\n".repeat(60)));
    }
    session.done();
    session.verdict(0, Status::Failed, "f([1]) gave [1, 1], expected [1]");
    session.verdict(1, Status::Passed, "2 checks");
    session
}

#[test]
fn a_body_that_is_longer_than_its_pane_leaves_room_for_its_reason() {
    for (width, height) in [(80, 24), (120, 35)] {
        let mut session = long();
        for key in ["1", "v"] {
            let shown = scene(&mut session, width, height);
            assert!(shown.contains("gave [1, 1], expected [1]"), "{shown}");
            session.key(key);
        }
    }
}

#[test]
fn the_list_has_reasons_and_no_counts_that_nobody_told() {
    let mut session = long();
    for _ in 0..3 {
        session.key("v");
    }
    let line = |session: &mut Session| scene(session, 100, 24).lines().nth(1).unwrap_or_default().to_owned();
    let shown = line(&mut session);
    assert!(shown.contains("FAIL  f([1]) gave [1, 1], expected [1]") && shown.contains(" 0t"), "{shown}");
    serve(&mut session);
    let shown = line(&mut session);
    assert!(!shown.contains(" 0t"), "{shown}");
}

/// A server writes.
fn serve(session: &mut Session) {
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
    assert_eq!([0, 1, 2].map(|c| words(&session, c).join("")), ["2 of 3 agree", "2 of 3 agree", "alone"]);
    for (candidate, status) in [(0, Status::Passed), (1, Status::Failed), (2, Status::Passed)] {
        session.verdict(candidate, status, "rolling_max([1]) gave 2");
    }
    assert_eq!([0, 1, 2].map(|c| words(&session, c).join("")), ["alone", "", "alone"]);
    session.key("b");
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("calls: 2 different behaviours"), "{shown}");
}

#[test]
fn the_folded_prompt_is_the_head() {
    let cases = [
        ("/** Sum of a list. */\nfunction sum(xs) {\n", "> function sum(xs) {"),
        ("/// The sum.\n///\n/// `sum(1)`\npub fn sum(xs: &[i32]) -> i32 {\n", "> pub fn sum(xs: &[i32]) -> i32 {"),
        ("@cache\nasync def sum(xs):\n    \"\"\"The sum.\"\"\"\n", "> async def sum(xs):"),
    ];
    for (text, head) in cases {
        let mut session = Session::on(Job::from_text(text, &TestsChoice::None).unwrap(), 1);
        session.open(true);
        session.key("g");
        let shown = scene(&mut session, 80, 24);
        assert!(shown.contains(head), "{shown}");
    }
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
fn a_list_in_40_columns() {
    insta::assert_snapshot!(scene(&mut finished(8), 40, 12));
}

#[test]
fn hardly_any_room() {
    insta::assert_snapshot!(scene(&mut finished(4), 20, 4));
}

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
fn lines_that_begin_left_of_a_pane_are_marked() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 1);
    session.open(true);
    session.key("g");
    session.finish(0, "    numbers = list(numbers)\n\n    for n in numbers:\n            return n\n");
    session.done();
    session.key("w");
    session.key(">");
    let shown = scene(&mut session, 80, 24);
    let is_marked = |words: &str| shown.lines().find(|line| line.contains(words)).map(|line| line.contains('<'));
    assert_eq!((is_marked("list(numbers)"), is_marked("return n")), (Some(true), Some(false)), "{shown}");
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

#[test]
fn a_failure() {
    let mut session = streaming(4);
    let why = "the main model ran out of memory at 4 candidates of 256 tokens each: try fewer candidates (-) or a smaller model";
    session.event(Event::Failed(why.into()));
    insta::assert_snapshot!(scene(&mut session, 112, 30));
}

#[test]
fn editing_the_prompt() {
    let mut session = finished(4);
    session.key("i");
    insta::assert_snapshot!(scene(&mut session, 100, 30));
}

#[test]
fn zoomed_code_has_nothing_beside_it() {
    let mut session = finished(4);
    session.key("z");
    let shown = scene(&mut session, 80, 24);
    assert!(shown.contains("\n    running = None\n"), "{shown}");
}

#[test]
fn every_size_is_drawn() {
    let mut session = finished(8);
    for (width, height) in [(1, 1), (2, 2), (5, 3), (20, 4), (40, 12), (80, 24), (112, 30), (200, 50), (300, 100)] {
        for key in ["t", "t", "?", "esc", "z", "z", "i", "esc", "w"] {
            session.key(key);
            scene(&mut session, width, height);
        }
    }
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

/// Eight bodies of each function of `examples/`, written by the built-in models with seed 0.
#[derive(serde::Deserialize)]
struct Example {
    function: String,
    prompt: String,
    bodies: Vec<String>,
}

/// A session after all bodies have ended.
fn example(example: &Example) -> Session {
    let mut session = Session::on(Job::from_text(&example.prompt, &TestsChoice::None).unwrap(), example.bodies.len());
    session.open(true);
    session.key("g");
    for (candidate, body) in example.bodies.iter().enumerate() {
        session.finish(candidate, body);
    }
    session.done();
    session.wait(10_000);
    session
}

#[test]
fn bodies_of_everyday_functions_are_seen_whole() {
    let text = include_str!("../../../tests/data/screen/bodies.json");
    let examples: Vec<Example> = serde_json::from_str(text).unwrap();
    println!("function             distinct  whole at 80x24  112x30  lines shown of lines at 80x24");
    let mut complete = 0;
    for example in &examples {
        let session = self::example(example);
        let shown = session.run().shown();
        let count = |size: (u16, u16)| {
            let layout = session.state.layout_in(size);
            let (mut whole, mut seen, mut there) = (0, 0, 0);
            for &candidate in &shown {
                let area = layout.code(candidate);
                let need = session.state.rows(&session.run().candidates[candidate], area.width.into()).len();
                whole += usize::from(usize::from(area.height) >= need);
                seen += need.min(area.height.into());
                there += need;
            }
            (whole, seen, there)
        };
        let ((small, seen, there), (large, ..)) = (count((80, 24)), count((112, 30)));
        println!("{:20} {:8} {small:15} {large:7} {seen:5} of {there}", example.function, shown.len());
        complete += usize::from(small == shown.len());
        assert_eq!(large, shown.len(), "{} at 112x30", example.function);
    }
    println!("{complete} of {} complete at 80x24", examples.len());
    assert_eq!(complete, examples.len());
}
