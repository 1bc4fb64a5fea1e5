//! The last line: what the keys do here, or what was just said.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, put};
use crate::tui::app::{Candidate, State};
use crate::tui::keymap::Action;
use crate::tui::text;
use crate::tui::theme::Role;

const MOST: usize = 7;

/// The last message, while it is still to be read.
pub fn said(look: &Look) -> Option<(String, Style)> {
    let state = look.state;
    if let Some((action, _)) = state.armed {
        let key = state.key_name(state.context(), action);
        let busy = match &state.run {
            Some(run) if run.is_live() => "candidates are still being written; ",
            Some(run) if run.is_testing() => "tests are still running; ",
            _ => "",
        };
        return Some((format!("{busy}press {key} again to quit"), look.style(Role::Warn)));
    }
    if let Some(search) = state.search.as_ref().filter(|search| search.typing && state.notice.is_none()) {
        return Some((format!("/{}▏", text::one_line(&search.text)), look.style(Role::Title)));
    }
    state.notice.as_ref().map(|n| (text::one_line(&n.text), look.style(Role::Title)))
}

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    if area.is_empty() {
        return;
    }
    let row = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    if let Some((words, style)) = said(look) {
        put(buf, row, row.x, row.y, &text::fit(&words, row.width.into()), style);
        return;
    }
    let context = look.state.context();
    let hints: Vec<_> =
        look.state.keys.hints(context).into_iter().filter(|h| is_useful(look.state, h.0)).take(MOST).collect();
    let wide = |h: &(Action, String, &str)| text::width(&h.1) + 1 + text::width(h.2) + 3;
    // The way to the help stays when there is room for little.
    let keep = hints.iter().position(|h| h.0 == Action::Help && row.width >= 30);
    let mut left = usize::from(row.width) + 3;
    let reserved = keep.map_or(0, |i| wide(&hints[i]));
    let mut x = row.x;
    for (i, hint) in hints.iter().enumerate() {
        let later = if keep.is_some_and(|k| k > i) { reserved } else { 0 };
        if wide(hint) + later > left {
            continue;
        }
        left -= wide(hint);
        x = put(buf, row, x, row.y, &hint.1, look.style(Role::Title).add_modifier(Modifier::BOLD));
        x = put(buf, row, x, row.y, &format!(" {}   ", hint.2), look.style(Role::Hint));
    }
}

/// The action would do something now.
fn is_useful(state: &State, action: Action) -> bool {
    let focused = state.run.as_ref().and_then(|r| r.focused());
    match action {
        Action::StopOne => focused.is_some_and(Candidate::is_live),
        Action::Accept => focused.is_some_and(|c| !c.is_live() && !c.text.trim().is_empty()),
        Action::EarlierRun => state.past.has_earlier(),
        Action::LaterRun => state.past.has_later(),
        Action::Undo | Action::NextTarget => state.can_undo(),
        Action::ReadAgain => state.stale,
        Action::Results | Action::TestAgain => state.has_tests(),
        Action::Diff | Action::Edit => focused.is_some_and(|c| !c.is_live()),
        Action::Arrange => state.run.as_ref().is_some_and(|run| !run.is_live()),
        Action::Base | Action::TakeHunk => state.diff.is_some_and(|diff| !diff.preview),
        _ => true,
    }
}
