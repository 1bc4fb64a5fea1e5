//! The whole screen, state and drawing, at any size and with any number of candidates.

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::scenes::draw;
use crate::engine::{Event, FinishReason};
use crate::job::{TestsChoice, label};
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session};
use crate::tui::app::{Msg, State};
use crate::tui::layout::{Arrangement, Layout, Regime};

/// Views, by the keys that open them.
const VIEWS: [&[&str]; 12] = [
    &[],
    &["t"],
    &["d"],
    &["d", "D", "]"],
    &["p"],
    &["?"],
    &["z"],
    &["v"],
    &["v", "v"],
    &["v", "v", "v"],
    &["i"],
    &["/", "r", "enter"],
];

/// A body of so many lines, the last of which no other candidate has.
fn body(candidate: usize, lines: usize, width: usize) -> String {
    let steps = (1..lines).map(|at| format!("    step_{at} = {}\n", "x".repeat(width)));
    steps.chain([format!("    return own({candidate})\n")]).collect::<Vec<_>>().concat()
}

/// A session with these bodies, the first of them ended, or all.
fn session(bodies: &[String], ended: usize) -> Session {
    let mut session = Session::on(crate::job::Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), bodies.len());
    session.open(true);
    session.key("g");
    for (candidate, text) in bodies.iter().enumerate() {
        if candidate < ended {
            let (reason, text, mean_logprob) = (FinishReason::Stop, text.clone(), Some(-0.1));
            session.event(Event::Finished { candidate, reason, text, mean_logprob });
        } else {
            session.tokens(candidate, text);
        }
    }
    if ended == bodies.len() {
        session.done();
        for candidate in 0..bodies.len() {
            let status = [Status::Passed, Status::Failed, Status::Timeout][candidate % 3];
            session.verdict(candidate, status, "what was seen, and more of it than fits into a line of a pane");
        }
        session.wait(10_000);
    }
    session
}

/// The characters of a part of the screen.
fn shown(buffer: &Buffer, area: Rect) -> String {
    let row = |y: u16| (area.x..area.right()).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (area.y..area.bottom()).map(|y| row(y) + "\n").collect()
}

/// Columns of panes of `room` rows that these heights fill.
fn columns(heights: &[usize], room: usize) -> usize {
    let (mut columns, mut used) = (1, 0);
    for &height in heights {
        if used > 0 && used + height > room {
            (columns, used) = (columns + 1, 0);
        }
        used += height;
    }
    columns
}

/// All bodies fit below each other in some number of columns, if nothing else but title and hints is shown.
fn fits(state: &State, (width, height): (u16, u16)) -> bool {
    let Some(run) = &state.run else { return false };
    let all = run.shown();
    let room = usize::from(height) - 2;
    (1..=all.len()).take_while(|columns| usize::from(width) / columns > 24).any(|most| {
        let code = usize::from(width) / most - 1;
        let heights: Vec<usize> =
            all.iter().map(|&c| 1 + state.rows(&run.candidates[c], code, false).len().max(1)).collect();
        heights.iter().all(|&height| height <= room) && columns(&heights, room) <= most
    })
}

fn areas(layout: &Layout) -> Vec<Rect> {
    let mut all = vec![
        layout.title, layout.strip, layout.list, layout.results, layout.diff, layout.prompt, layout.status,
        layout.footer,
    ];
    all.extend(layout.panes.iter().map(|pane| pane.area));
    all.retain(|area| !area.is_empty());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_number_of_candidates_is_drawn_at_any_size(
        n in 1_usize..=64, size in (1_u16..=300, 1_u16..=100), view in 0..VIEWS.len(), focus in 0_usize..64,
        lines in proptest::collection::vec(1_usize..14, 64), width in 1_usize..60, distinct in 1_usize..=64,
        ended in prop_oneof![3 => Just(64_usize), 1 => 0_usize..64],
    ) {
        // Some say what another one says.
        let bodies: Vec<String> = (0..n).map(|c| body(c % distinct, lines[c % distinct], width)).collect();
        let is_over = ended >= n;
        let mut session = session(&bodies, ended.min(n));
        session.send(Msg::Resize(size.0, size.1));
        (0..focus).for_each(|_| drop(session.key("tab")));
        for key in VIEWS[view] {
            session.key(key);
        }
        let state = &session.state;
        let run = session.run();
        let layout = state.layout();
        let buffer = draw(state, size.0, size.1);
        let all = areas(&layout);
        prop_assert!(!all.is_empty(), "something is shown");
        for (at, one) in all.iter().enumerate() {
            prop_assert!(one.right() <= size.0 && one.bottom() <= size.1, "{one:?} outside of {size:?}");
            prop_assert!(all[at + 1..].iter().all(|other| !one.intersects(*other)), "{one:?} overlaps at {size:?}");
        }
        prop_assert!(run.shown().contains(&run.focus), "the focus is on a block");
        let is_covered = state.help.is_some();
        if matches!(layout.regime, Regime::Panes | Regime::Zoom) && layout.diff.is_empty() && !is_covered {
            let pane = layout.pane(run.focus);
            prop_assert!(pane.is_some(), "the focused one has a pane at {size:?}");
            let header = shown(&buffer, Rect { height: 1, ..pane.unwrap().area });
            let name = format!(" {}", label(run.focus));
            prop_assert!(header.contains('━') && header.contains(&name), "{name} in {header:?}");
        }
        let is_plain = state.arrangement == Arrangement::Fit && VIEWS[view].is_empty();
        if is_over && is_plain && size.1 >= 14 && fits(state, size) {
            for candidate in run.shown() {
                let own = format!("return own({})", candidate % distinct);
                let code = shown(&buffer, layout.code(candidate));
                prop_assert!(code.contains(&own), "{own} of {} at {size:?}:\n{code}", label(candidate));
                prop_assert_eq!(code.matches("step_").count(), lines[candidate % distinct] - 1);
            }
        }
    }
}
