//! The mouse, while it is on: the wheel scrolls what is under the pointer, a click focuses a pane.

use super::moving::{focus_pane, scroll, scroll_pane};
use super::state::{Focus, State};
use crate::tui::event::{Mouse, MouseKind};
use crate::tui::keymap::Action;

/// Rows that one step of the wheel scrolls.
const STEP: usize = 3;

/// Takes in a click or a step of the wheel.
pub fn mouse(state: &mut State, mouse: Mouse) {
    // A late report after the mouse was turned off means nothing; questions are answered by keys.
    if !state.mouse || state.question_is_shown() || state.palette.open.is_some() {
        return;
    }
    let layout = state.layout();
    let at = |area: ratatui::layout::Rect| area.contains((mouse.column, mouse.row).into());
    let pane = layout.panes.iter().find(|pane| at(pane.area)).map(|pane| pane.candidate);
    let wheel = match mouse.kind {
        MouseKind::WheelUp => Action::LineUp,
        MouseKind::WheelDown => Action::LineDown,
        MouseKind::Press => {
            if state.help.is_none()
                && let Some(pane) = pane
            {
                state.focus = Focus::Panes;
                focus_pane(state, pane);
            }
            return;
        }
    };
    for _ in 0..STEP {
        match pane {
            Some(pane) if state.help.is_none() => scroll_pane(state, pane, wheel),
            _ if state.help.is_some() || at(layout.results) || state.run.is_none() => scroll(state, wheel),
            _ => {}
        }
    }
}
