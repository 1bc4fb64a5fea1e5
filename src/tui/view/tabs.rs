//! The strip of all candidates above a single pane: `A 71t  >C PASS<  D =C`.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{Look, badge, put};
use crate::tui::app::{Run, State};
use crate::tui::text;
use crate::tui::theme::Role;

/// A candidate in the strip.
struct Tab {
    candidate: usize,
    text: String,
    role: Role,
}

/// All tabs, and those that are in view: when they are too many, the part around the focused candidate.
fn tabs(state: &State, run: &Run, columns: u16) -> (Vec<Tab>, Range<usize>) {
    let shown = run.shown();
    let tab = |&candidate: &usize| {
        let own = badge::in_tab(state, run, candidate);
        let pick = if run.pick == Some(candidate) { " PICK" } else { "" };
        let inside = format!("{} {}{pick}", badge::names(run, candidate, columns), own.text);
        let text = if candidate == run.focus { format!(">{inside}<") } else { format!(" {inside} ") };
        Tab { candidate, text, role: own.role }
    };
    let tabs: Vec<Tab> = shown.iter().map(tab).collect();
    let focus = shown.iter().position(|&c| c == run.focus).unwrap_or(0);
    let room = usize::from(columns.saturating_sub(2));
    let wide = |tab: &Tab| text::width(&tab.text);
    // Grow the window around the focus, to the right first.
    let (mut from, mut to) = (focus, (focus + 1).min(tabs.len()));
    let mut used: usize = tabs[from..to].iter().map(wide).sum();
    loop {
        let right = tabs.get(to).map(wide).filter(|w| used + w <= room);
        let left = from.checked_sub(1).and_then(|i| tabs.get(i)).map(wide).filter(|w| used + w <= room);
        match (right, left) {
            (Some(w), _) => (to, used) = (to + 1, used + w),
            (None, Some(w)) => (from, used) = (from - 1, used + w),
            (None, None) => break,
        }
    }
    (tabs, from..to)
}

/// Draws the strip.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let Some(run) = look.state.run.as_ref().filter(|_| !area.is_empty()) else { return };
    let (tabs, seen) = tabs(look.state, run, area.width);
    let muted = look.style(Role::Muted);
    let mut x = put(buf, area, area.x, area.y, if seen.start > 0 { "‹" } else { " " }, muted);
    for tab in &tabs[seen.clone()] {
        let mut style = look.style(tab.role);
        if tab.candidate == run.focus {
            style = style.add_modifier(Modifier::BOLD | Modifier::REVERSED);
        }
        x = put(buf, area, x, area.y, &tab.text, style);
    }
    if seen.end < tabs.len() {
        put(buf, area, x, area.y, "›", muted);
    }
}

/// The candidate whose tab is at a cell of the screen.
pub fn at(state: &State, column: u16, row: u16) -> Option<usize> {
    let area = state.layout().strip;
    let run = state.run.as_ref().filter(|_| area.contains((column, row).into()))?;
    let (tabs, seen) = tabs(state, run, area.width);
    let mut end = usize::from(area.x) + 1;
    let is_there = |tab: &&Tab| {
        let from = end;
        end += text::width(&tab.text);
        (from..end).contains(&usize::from(column))
    };
    tabs[seen].iter().find(is_there).map(|tab| tab.candidate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::app::Msg;
    use crate::tui::app::fixture::{Session, body};
    use crate::tui::view::scenes;

    #[test]
    fn a_click_on_a_tab_focuses_its_candidate() {
        let mut session = Session::tested(4);
        session.key("g");
        (0..4).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
        session.key("z");
        session.send(Msg::Resize(80, 24));
        let strip = session.state.layout().strip;
        let shown = scenes::text(&scenes::draw(&session.state, 80, 24));
        let column = shown.lines().nth(strip.y.into()).unwrap().find("C test").unwrap() as u16;
        let tab = at(&session.state, column, strip.y).unwrap();
        assert_eq!((tab, at(&session.state, 79, strip.y), at(&session.state, column, strip.y + 1)), (2, None, None));
        session.send(Msg::Tab(tab));
        assert_eq!(session.run().focus, 0, "the mouse is off");
        session.key("m");
        session.send(Msg::Tab(tab));
        assert_eq!(session.run().focus, 2);
        session.key("?");
        session.send(Msg::Tab(1));
        assert_eq!(session.run().focus, 2, "the help lies over it");
    }
}
