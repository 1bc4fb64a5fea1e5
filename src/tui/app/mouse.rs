//! The mouse, while it is on: the wheel scrolls what is under the pointer, a click focuses a pane.

use super::effect::Effect;
use super::moving::{focus_pane, scroll, scroll_pane};
use super::state::State;
use super::testing::leave_prompt;
use super::{calls, diff};
use crate::tui::event::{Mouse, MouseKind};
use crate::tui::keymap::{Action, Context};

/// Rows that one step of the wheel scrolls.
const STEP: usize = 3;

/// Takes in a click or a step of the wheel.
pub fn mouse(state: &mut State, mouse: Mouse) -> Vec<Effect> {
    let context = state.context();
    if !hears(state) {
        return Vec::new();
    }
    let layout = state.layout();
    let at = |area: ratatui::layout::Rect| area.contains((mouse.column, mouse.row).into());
    let pane = layout.panes.iter().find(|pane| at(pane.area)).map(|pane| pane.candidate);
    let pane = pane.filter(|_| context != Context::Help);
    let wheel = match mouse.kind {
        MouseKind::WheelUp => Action::LineUp,
        MouseKind::WheelDown => Action::LineDown,
        MouseKind::Press => {
            let Some(pane) = pane else { return Vec::new() };
            let effects = leave_prompt(state);
            focus_pane(state, pane);
            return effects;
        }
    };
    match pane {
        Some(pane) => (0..STEP).for_each(|_| scroll_pane(state, pane, wheel)),
        // Calls are gone through one by one.
        None if context == Context::Calls && at(layout.results) => {
            calls::step(state, if wheel == Action::LineUp { -1 } else { 1 });
        }
        None if context == Context::Diff && at(layout.diff) => {
            (0..STEP).for_each(|_| drop(diff::act(state, wheel)));
        }
        None if matches!(context, Context::Help | Context::Start)
            || context == Context::Results && at(layout.results) =>
        {
            (0..STEP).for_each(|_| scroll(state, wheel));
        }
        None => {}
    }
    Vec::new()
}

/// A late report after the mouse was turned off means nothing; questions and lists hear keys.
fn hears(state: &State) -> bool {
    state.mouse && !matches!(state.context(), Context::Question | Context::Palette | Context::Picker)
}

/// The tab of a candidate was clicked.
pub fn tab(state: &mut State, candidate: usize) -> Vec<Effect> {
    if !hears(state) || state.context() == Context::Help {
        return Vec::new();
    }
    let effects = leave_prompt(state);
    focus_pane(state, candidate);
    effects
}
