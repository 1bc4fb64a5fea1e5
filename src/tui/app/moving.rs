//! Which pane has the focus, and how far it is scrolled.

use super::effect::Effect;
use super::help;
use super::run::Run;
use super::state::{Focus, State};
use super::testing::leave_prompt;
use crate::job::label;
use crate::tui::event::{Code, Key};
use crate::tui::keymap::Action;
use crate::tui::layout::{Arrangement, Regime};
use crate::tui::text;
use crate::tui::view::results_scrolling;

impl State {
    /// Wraps long lines, or cuts them, and says so. Wrapped lines begin at their beginning.
    pub(super) fn set_wrap(&mut self, wrap: bool) -> &'static str {
        self.wrap = wrap;
        if !wrap {
            return "long lines are cut";
        }
        let candidates = self.run.iter_mut().flat_map(|run| &mut run.candidates);
        candidates.for_each(|candidate| candidate.scroll.column = 0);
        "long lines are wrapped"
    }

    /// Arranges the candidates so, and says it.
    pub(super) fn set_arrangement(&mut self, arrangement: Arrangement) -> String {
        (self.arrangement, self.zoom) = (arrangement, false);
        format!("layout: {}", arrangement.name())
    }
}

/// Actions that change what is in view; the prompt may be left for it.
pub(super) fn movement(state: &mut State, action: Action, pressed: Key) -> Vec<Effect> {
    match action {
        Action::FocusNext => return step_focus(state, 1),
        Action::FocusPrevious => return step_focus(state, -1),
        Action::FocusPane => {
            if let Code::Char(digit @ '1'..='9') = pressed.code {
                let effects = leave_prompt(state);
                let shown = state.run.as_ref().map_or_else(Vec::new, Run::shown);
                match shown.get(digit as usize - '1' as usize) {
                    Some(&candidate) => focus_pane(state, candidate),
                    None => state.say(format!("there are {} panes", shown.len())),
                }
                return effects;
            }
        }
        Action::PaneLeft | Action::PaneRight | Action::PaneUp | Action::PaneDown => move_pane(state, action),
        _ => scroll(state, action),
    }
    Vec::new()
}

fn step_focus(state: &mut State, by: isize) -> Vec<Effect> {
    if state.focus == Focus::Prompt {
        return leave_prompt(state);
    }
    let Some(run) = &state.run else {
        state.focus = if state.job.editable().is_none() { Focus::Panes } else { Focus::Prompt };
        return Vec::new();
    };
    let shown = run.shown();
    let at = shown.iter().position(|&c| c == run.focus).unwrap_or(0) as isize;
    // A kept run may have none.
    if let Some(&next) = shown.get((at + by).rem_euclid(shown.len().max(1) as isize) as usize) {
        focus_pane(state, next);
    }
    Vec::new()
}

/// Shows each candidate of the focused block alone, or all blocks folded again.
pub(super) fn unfold(state: &mut State) {
    let Some(run) = &mut state.run else { return };
    let members = run.block_of(run.focus).map(|block| block.members.clone()).unwrap_or_default();
    if members.len() > 1 {
        run.unfolded.extend(members);
    } else if run.unfolded.is_empty() {
        let name = label(run.focus);
        state.say(format!("no other candidate says what {name} says"));
    } else {
        run.unfolded.clear();
    }
    state.fold();
}

/// Puts the focus on a candidate that has a pane.
pub(super) fn focus_pane(state: &mut State, index: usize) {
    let Some(run) = &mut state.run else { return };
    let index = run.block_of(index).map_or(index, |block| block.shown);
    if run.focus != index && state.results.is_some() {
        state.results = Some(0);
    }
    if let Some(diff) = state.diff.as_mut().filter(|diff| run.focus != index && !diff.preview) {
        (diff.top, diff.hunk) = (None, 0);
    }
    run.focus = index;
    run.moved = true;
}

/// To the pane in a direction; in a list or zoomed to the next or previous one.
pub(super) fn move_pane(state: &mut State, action: Action) {
    let layout = state.layout();
    let Some(run) = &state.run else { return };
    let shown = run.shown();
    let at = shown.iter().position(|&c| c == run.focus).unwrap_or(0);
    let direction = match action {
        Action::PaneLeft => (-1, 0),
        Action::PaneRight => (1, 0),
        Action::PaneUp => (0, -1),
        _ => (0, 1),
    };
    let beside = if layout.regime == Regime::Panes { layout.neighbour(run.focus, direction) } else { None };
    // Where nothing more is in sight, the list of candidates goes on.
    let is_paged = layout.regime != Regime::Panes || !layout.strip.is_empty();
    let by = direction.0 + direction.1;
    let next = beside
        .or_else(|| at.checked_add_signed(by as isize).and_then(|at| shown.get(at)).copied().filter(|_| is_paged));
    if let Some(next) = next {
        focus_pane(state, next);
    }
}

pub(super) fn scroll(state: &mut State, action: Action) {
    let page = usize::from(state.size.1 / 2).max(1) as isize;
    let by = match action {
        Action::LineUp => -1,
        Action::LineDown => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        _ => 0,
    };
    let moved = |top: usize| top.saturating_add_signed(by);
    if state.help.is_some() {
        help::scroll(state, action, by);
    } else if let Some(top) = state.results {
        let (page, last) = results_scrolling(state);
        let by = by.signum() * if by.abs() > 1 { page as isize } else { 1 };
        state.results = Some(top.min(last).saturating_add_signed(by).min(last));
    } else if state.run.is_none() {
        // As the view has them: right of a column, and wrapped.
        let columns = state.layout().prompt.width.saturating_sub(1);
        let rows = text::rows(&state.draft.text(), columns.into(), state.wrap, 0).len();
        state.prompt_top = moved(state.prompt_top).min(rows.saturating_sub(1));
    } else {
        let focus = state.run.as_ref().map_or(0, |run| run.focus);
        scroll_pane(state, focus, action);
    }
}

/// Scrolls the pane of a candidate.
pub(super) fn scroll_pane(state: &mut State, index: usize, action: Action) {
    let layout = state.layout();
    let Some(run) = &state.run else { return };
    let area = layout.code(index);
    let height = usize::from(area.height).max(1);
    let rows =
        run.candidates.get(index).map_or(0, |candidate| state.rows(candidate, area.width.into(), layout.folded).len());
    let last = rows.saturating_sub(height);
    let Some(candidate) = state.run.as_mut().and_then(|run| run.candidates.get_mut(index)) else { return };
    let scroll = &mut candidate.scroll;
    let top = if scroll.follow { last } else { scroll.top.min(last) };
    let page = height.saturating_sub(1).max(1);
    let next = match action {
        Action::LineUp => top.saturating_sub(1),
        Action::LineDown => top + 1,
        Action::PageUp => top.saturating_sub(page),
        Action::PageDown => top + page,
        Action::Top => 0,
        Action::Bottom => last,
        Action::ColumnLeft => {
            scroll.column = scroll.column.saturating_sub(8);
            return;
        }
        Action::ColumnRight => {
            let widest = candidate.shown.lines().map(|l| text::width(&text::shown(l))).max().unwrap_or(0);
            scroll.column = (scroll.column + 8).min(widest.saturating_sub(1));
            return;
        }
        _ => return,
    };
    scroll.top = next.min(last);
    // At the end the pane follows again.
    scroll.follow = next >= last;
}
