//! One line per candidate with the reason of its failure, for small terminals and as a layout.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::choices::page;
use super::{Look, badge, pane, put};
use crate::tui::text;
use crate::tui::theme::Role;

/// Fewest columns of a reason: with fewer it says nothing.
const LEAST: usize = 16;

/// Draws the list; when it is too long, the part around the focused candidate.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let Some(run) = look.state.run.as_ref().filter(|_| !area.is_empty()) else { return };
    let height = usize::from(area.height);
    let shown = run.shown();
    let focus = shown.iter().position(|&c| c == run.focus).unwrap_or(0);
    let top = page(focus, height).min(shown.len().saturating_sub(height));
    for (y, &index) in (area.y..area.bottom()).zip(&shown[top..]) {
        let candidate = &run.candidates[index];
        let focused = index == run.focus;
        let narrow = area.width < 30;
        let state = if narrow { badge::short(run, index) } else { badge::of(run, index) };
        let mut style = look.style(state.role);
        let mut name = look.style(Role::Title);
        if focused {
            (style, name) = (style.add_modifier(Modifier::BOLD), name.add_modifier(Modifier::REVERSED));
        }
        let row = Rect { y, height: 1, ..area };
        let x = put(
            buf,
            row,
            row.x,
            y,
            &format!("{}{:<2}", if focused { '>' } else { ' ' }, badge::names(run, index, area.width)),
            name,
        );
        let counted = pane::is_counted(look, candidate);
        let mut right = if counted { format!("{:>4}t", candidate.tokens) } else { String::new() };
        if let Some(mean) = candidate.mean().filter(|_| area.width >= 40) {
            let _ = write!(right, "  lp {mean:>5.2}");
        }
        let mut words = state.text;
        for mark in badge::marks(look.state, index) {
            words = format!("{words}  {}", mark.text);
        }
        let all = usize::from(row.right().saturating_sub(x + 2));
        let left = all.saturating_sub(text::width(&words));
        if let Some(note) = look.state.note(index).filter(|_| left >= LEAST) {
            words = format!("{words}  {}", text::one_line(&note));
        }
        // Of one that has ended verdict and reason say more than figures.
        if !candidate.is_live() && text::width(&words) + text::width(&right) > all {
            right.clear();
        }
        let room = all.saturating_sub(text::width(&right));
        put(buf, row, x + 1, y, &text::fit_reason(&words, room), style);
        put(buf, row, row.right().saturating_sub(text::width(&right) as u16), y, &right, look.style(Role::Muted));
    }
}
