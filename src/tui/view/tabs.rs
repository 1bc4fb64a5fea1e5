//! The strip of all candidates above a single pane: `A 71t  >C PASS<  D =C`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{Look, badge, put};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the strip; when it is too long, the part around the focused candidate.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let Some(run) = look.state.run.as_ref().filter(|_| !area.is_empty()) else { return };
    let shown = run.shown();
    let tabs: Vec<(String, Role)> = shown
        .iter()
        .map(|&i| {
            let state = badge::short(run, i);
            let pick = if run.pick == Some(i) { " PICK" } else { "" };
            let inside = format!("{} {}{pick}", badge::names(run, i, area.width), state.text);
            (if i == run.focus { format!(">{inside}<") } else { format!(" {inside} ") }, state.role)
        })
        .collect();
    let focus = shown.iter().position(|&i| i == run.focus).unwrap_or(0);
    let room = usize::from(area.width.saturating_sub(2));
    let wide = |tab: &(String, Role)| text::width(&tab.0);
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
    let muted = look.style(Role::Muted);
    let mut x = put(buf, area, area.x, area.y, if from > 0 { "‹" } else { " " }, muted);
    for (i, (tab, role)) in tabs.iter().enumerate().take(to).skip(from) {
        let mut style = look.style(*role);
        if i == focus {
            style = style.add_modifier(Modifier::BOLD | Modifier::REVERSED);
        }
        x = put(buf, area, x, area.y, tab, style);
    }
    if to < tabs.len() {
        put(buf, area, x, area.y, "›", muted);
    }
}
