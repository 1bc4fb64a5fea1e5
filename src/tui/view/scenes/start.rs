//! Before candidates are written: the list of functions, the palette, the start.

use super::{choosing, finished, scene};
use crate::job::{Job, TestsChoice};
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::{Msg, palette_tests, wish_tests};

#[test]
fn start() {
    insta::assert_snapshot!(scene(&mut Session::tested(8), 80, 24));
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
pub(super) fn palette(key: &str) -> Session {
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

/// Each place says at 80 columns what Enter does, and how one leaves it.
/// How one comes to a place, its words for Enter, and its way out.
type Place = (Box<dyn Fn() -> Session>, &'static str, &'static str);

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
    // The words for Enter stay as they are while one types.
    let mut editing = Session::tested(4);
    editing.key("i");
    let before = footer(&mut editing);
    for key in ["up", "enter", "x"] {
        editing.key(key);
        assert_eq!((footer(&mut editing), editing.state.run.is_none()), (before.clone(), true), "{key}");
    }
    let mut asked = after(&["2", "enter"]);
    assert!(footer(&mut asked).contains("y yes   n no"), "a question takes no Enter");
    let wished = |mut session: Session| {
        session.key("I");
        session
    };
    let places: [Place; 11] = [
        (Box::new(|| Session::tested(4)), "Enter generate", "q quit"),
        (Box::new(|| Session::free(4)), "Enter generate", "Esc leave prompt"),
        (Box::new(typed), "Enter new line, on an empty last line generate   F5 generate", "Esc leave prompt"),
        (Box::new(move || after(&[])), "Enter accept", "q quit"),
        (Box::new(move || after(&["z"])), "Enter accept", "Esc back"),
        (Box::new(move || after(&["t"])), "Enter accept", "Esc close"),
        (Box::new(move || after(&["d"])), "Enter accept", "Esc close"),
        (Box::new(move || after(&["?"])), "", "Esc close"),
        (Box::new(move || after(&[":"])), "Enter choose", "Esc back"),
        (Box::new(move || wished(wish_tests::bodied(4))), "Enter write", "Esc cancel"),
        (Box::new(move || after(&["ctrl-t"])), "Enter complete it", "Esc close"),
    ];
    for (session, enter, out) in places {
        let mut session = session();
        let shown = footer(&mut session);
        assert!(shown.contains(enter) && shown.contains(out), "{:?}: {shown}", session.state.context());
    }
}

#[test]
fn the_list_at_the_start_asked_to_close() {
    let mut session = choosing();
    session.state.picking.open.as_mut().unwrap().at_start = true;
    session.key("esc");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
}

#[test]
fn start_of_a_free_prompt() {
    insta::assert_snapshot!(scene(&mut Session::free(8), 60, 16));
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

#[test]
fn editing_the_prompt() {
    let mut session = finished(4);
    session.key("i");
    insta::assert_snapshot!(scene(&mut session, 100, 30));
}
