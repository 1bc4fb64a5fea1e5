//! Lines of code in an area: coloured, tabs expanded, long lines cut with a mark or wrapped.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Look, put};
use crate::tui::app::candidate::Scroll;
use crate::tui::highlight::Of;
use crate::tui::text::{self, DisplayRow};
use crate::tui::theme::Role;

/// Rows of the text that were not drawn.
#[derive(Default)]
pub struct Drawn {
    /// Rows above the area.
    pub above: usize,
    /// Rows below the area.
    pub below: usize,
}

/// Draws the part of `content` that `scroll` says.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look, of: Of, content: &str, scroll: Scroll, wrap: bool) -> Drawn {
    let rows = text::rows(content, usize::from(area.width), wrap);
    let height = usize::from(area.height);
    let last = rows.len().saturating_sub(height);
    let top = if scroll.follow { last } else { scroll.top.min(last) };
    let lines: Vec<&str> = content.lines().collect();
    for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(top)) {
        let Some(&line) = lines.get(row.line) else { break };
        let skip = if wrap { row.skip } else { scroll.column };
        draw_line(buf, Rect { y, height: 1, ..area }, look, of, line, DisplayRow { skip, ..*row }, wrap);
    }
    Drawn { above: top, below: rows.len().saturating_sub(top + height) }
}

fn draw_line(buf: &mut Buffer, area: Rect, look: &Look, of: Of, line: &str, row: DisplayRow, wrap: bool) {
    let plain = [(0..line.len(), Style::default())];
    let known = look.highlights.line(of, row.line, line).filter(|s| !s.is_empty());
    let spans = known.map_or(plain.as_slice(), Vec::as_slice);
    let (mut column, mut x) = (0, area.x);
    for (range, style) in spans {
        let Some(piece) = line.get(range.clone()) else { continue };
        let mut shown = String::new();
        let from = column;
        column = text::push_shown(&mut shown, piece, column);
        if column <= row.skip {
            continue;
        }
        let hidden = row.skip.saturating_sub(from);
        let (at, used) = text::prefix(&shown, hidden);
        let mut rest = &shown[at..];
        if used < hidden {
            // Half of a wide character is left of the area: its other half is a space.
            let wide = rest.chars().next().map_or(0, char::len_utf8);
            rest = &rest[wide..];
            x = put(buf, area, x, area.y, " ", *style);
        }
        x = put(buf, area, x, area.y, rest, *style);
    }
    if !wrap && column > row.skip + usize::from(area.width) && area.width > 1 {
        put(buf, area, area.right() - 1, area.y, ">", look.style(Role::Warn));
    }
}
