//! Lines of code in an area: coloured, tabs expanded, long lines cut with a mark at either side or wrapped.

use std::collections::HashSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::diff::marked;
use super::{Look, confidence, put};
use crate::job::label;
use crate::tui::app::alike::Alike;
use crate::tui::app::candidate::Scroll;
use crate::tui::app::find::matches;
use crate::tui::highlight::Of;
use crate::tui::text::{self, DisplayRow, Mark};
use crate::tui::theme::Role;

/// Rows of the text that were not drawn.
#[derive(Default)]
pub struct Drawn {
    /// Rows above the area.
    pub above: usize,
    /// Rows below the area.
    pub below: usize,
}

impl Drawn {
    /// The mark of what is not in view.
    pub fn more(&self) -> String {
        hidden(self.above, self.below)
    }
}

/// Mark of so many lines that are not in view: `↑ 3 ↓ 12 more`, or nothing.
pub fn hidden(above: usize, below: usize) -> String {
    match (above, below) {
        (0, 0) => String::new(),
        (0, below) => format!(" ↓ {below} more "),
        (above, 0) => format!(" ↑ {above} more "),
        (above, below) => format!(" ↑ {above} ↓ {below} more "),
    }
}

/// Other candidates that a text is shown beside.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Lines that all of them have, trimmed: they are drawn fainter.
    pub shared: Option<&'a HashSet<String>>,
    /// The one whose equal lines are folded.
    pub alike: Option<&'a Alike>,
}

/// Draws the part of `content` that `scroll` says. `rows`: those of the content in so many columns.
#[allow(clippy::too_many_arguments)] // a place, a text and its look
pub fn draw(
    buf: &mut Buffer,
    area: Rect,
    look: &Look,
    of: Of,
    content: &str,
    rows: &[DisplayRow],
    scroll: Scroll,
    beside: Beside<'_>,
) -> Drawn {
    let height = usize::from(area.height);
    let last = rows.len().saturating_sub(height);
    let top = if scroll.follow { last } else { scroll.top.min(last) };
    let lines: Vec<&str> = content.lines().collect();
    let tokens = confidence::shown(look, of, content);
    for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(top)) {
        if let (Some(alike), false) = (beside.alike, row.mark == Mark::Text) {
            let words = text::fit(&folded(row.mark, alike.to), area.width.into());
            put(buf, area, area.x, y, &words, look.style(Role::Muted));
            continue;
        }
        let Some(&line) = lines.get(row.line) else { break };
        let row = DisplayRow { skip: row.skip + scroll.column, ..*row };
        let own = tokens.map(|trace| confidence::spans(look, trace, content, line));
        let is_shared = beside.shared.is_some_and(|shared| shared.contains(line.trim()));
        let faint = (own.is_none() && is_shared).then(|| look.style(Role::Same));
        let plain = [(0..line.len(), Style::default())];
        let known = look.highlights.line(of, row.line, line).filter(|s| !s.is_empty());
        let spans = own.as_ref().or(known).map_or(plain.as_slice(), Vec::as_slice);
        let found: Vec<_> = match &look.state.search {
            Some(search) if matches!(of, Of::Candidate { .. }) => matches(line, &search.text).collect(),
            _ => beside.alike.map_or_else(Vec::new, |alike| alike.changed(row.line).to_vec()),
        };
        let spans = marked(spans, &found, look.style(Role::Difference));
        draw_line(buf, Rect { y, height: 1, ..area }, look, line, &spans, row, faint);
        let hides = || !line.trim().is_empty() && row.skip > text::common_indent(line);
        if scroll.column > 0 && area.width > 1 && hides() {
            put(buf, area, area.x, y, "<", look.style(Role::Warn));
        }
    }
    Drawn { above: top, below: rows.len().saturating_sub(top + height) }
}

/// Words for lines that are not shown.
fn folded(mark: Mark, to: usize) -> String {
    let lines = |count| if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    match mark {
        Mark::Text => String::new(),
        Mark::Same(count) => format!("⋯ {} as in {}", lines(count), label(to)),
        Mark::Gone(count) => format!("⋯ without {} of {}", lines(count), label(to)),
    }
}

/// Draws one row of a line in the styles of its spans. `over`: a style on top of them.
pub fn draw_line(
    buf: &mut Buffer,
    area: Rect,
    look: &Look,
    line: &str,
    spans: &[(std::ops::Range<usize>, Style)],
    row: DisplayRow,
    over: Option<Style>,
) {
    let indent = row.indent.min(area.width.into()) as u16;
    let mut x = area.x + indent;
    let end = row.skip.saturating_add(row.take);
    let mut column = 0;
    for (range, style) in spans {
        let Some(piece) = line.get(range.clone()) else { continue };
        let style = over.map_or(*style, |over| style.patch(over));
        let mut shown = String::new();
        let from = column;
        column = text::push_shown(&mut shown, piece, column);
        if column <= row.skip || from >= end {
            continue;
        }
        let hidden = row.skip.saturating_sub(from);
        let (at, used) = text::prefix(&shown, hidden);
        let mut rest = &shown[at..];
        if used < hidden {
            // Half of a wide character is left of the area: its other half is a space.
            let wide = rest.chars().next().map_or(0, char::len_utf8);
            rest = &rest[wide..];
            x = put(buf, area, x, area.y, " ", style);
        }
        let (most, _) = text::prefix(rest, end - from.max(row.skip));
        x = put(buf, area, x, area.y, &rest[..most], style);
    }
    if row.take == usize::MAX && column > row.skip + usize::from(area.width - indent) && area.width > 1 {
        put(buf, area, area.right() - 1, area.y, ">", look.style(Role::Warn));
    }
}
