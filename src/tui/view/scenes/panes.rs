//! Candidates side by side, in pages and in a list.

use super::verdicts::serve;
use super::{finished, scene, streaming};
use crate::job::{Job, TestsChoice};
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session};

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

#[test]
fn a_list_in_40_columns() {
    insta::assert_snapshot!(scene(&mut finished(8), 40, 12));
}

#[test]
fn hardly_any_room() {
    insta::assert_snapshot!(scene(&mut finished(4), 20, 4));
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
    let text = include_str!("../../../../tests/data/screen/bodies.json");
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
                let need =
                    session.state.rows(&session.run().candidates[candidate], area.width.into(), layout.folded).len();
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

/// Eight long bodies, each with a change of its own.
fn long_bodies() -> Session {
    let lines = |of: usize| -> String {
        let line = |at: usize| {
            let own = if of > 0 && at == 2 * of { format!(" * {of}") } else { String::new() };
            format!("    step_{at} = advance(state, {at}){own}\n")
        };
        (0..18).map(line).collect::<String>() + "    return state\n"
    };
    let job = Job::from_text("def run(state):\n    \"\"\"Runs it.\"\"\"\n", &TestsChoice::None).unwrap();
    let mut session = Session::on(job, 8);
    session.open(true);
    session.key("g");
    for candidate in 0..8 {
        session.finish(candidate, &lines(candidate));
    }
    session.done();
    session.wait(10_000);
    session
}

#[test]
fn what_differs_is_seen_of_more_long_bodies() {
    let mut session = long_bodies();
    let layout = session.state.layout_in((80, 24));
    assert!(layout.folded && layout.panes.len() == 6, "{layout:?}");
    insta::assert_snapshot!(scene(&mut session, 80, 24));
    // Where all are whole, nothing is folded; nor while something is searched for.
    assert!(!session.state.layout_in((200, 90)).folded);
    session.key("/");
    assert!(!session.state.layout_in((80, 24)).folded);
    session.key("esc");
    session.key("z");
    assert!(!scene(&mut session, 80, 24).contains("as in A"), "one alone is whole");
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
