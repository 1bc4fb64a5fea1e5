//! Differences of the focused candidate to another text, one below the other or side by side; or the file
//! with the candidate in it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Look, badge, code, put, rule};
use crate::job::label;
use crate::tui::app::candidate::Scroll;
use crate::tui::app::compare::{Line, Side};
use crate::tui::app::diff::{self, Against, InView};
use crate::tui::highlight::Of;
use crate::tui::text::{self, DisplayRow};
use crate::tui::theme::Role;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let (Some(diff), Some(run)) = (state.diff, state.run.as_ref()) else { return };
    if area.height < 2 {
        return;
    }
    let inside = diff::inside(area);
    let own = badge::of(run, run.focus);
    if diff.preview {
        let Some((content, _)) = state.preview() else { return };
        let title = format!(" {} in {} ", label(run.focus), state.subject());
        let verdict = format!(" {} ", own.text);
        rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (&verdict, look.style(own.role)));
        let rows = text::rows(&content, inside.width.into(), state.wrap, 0);
        let scroll = Scroll { top: diff.top.unwrap_or(0), column: 0, follow: false };
        code::draw(buf, inside, look, Of::Preview, &content, &rows, scroll, code::Beside::default());
        return;
    }
    let (Some(base), Some(comparison)) = (state.base(), state.comparison()) else { return };
    let (against, title) = (base.against, format!(" {} against {} ", label(run.focus), base.name));
    let hunk = diff.hunk.min(comparison.hunks.saturating_sub(1));
    let figures = match comparison.hunks {
        0 => " no differences ".to_owned(),
        n => format!(" change {} of {n}   -{} +{} ", hunk + 1, comparison.counts.0, comparison.counts.1),
    };
    rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (&figures, look.style(Role::Muted)));
    let x = area.x + 1 + text::width(&title) as u16;
    if x + 2 + (own.text.len() + figures.len()) as u16 <= area.right() {
        put(buf, area, x, area.y, &format!(" {} ", own.text), look.style(own.role));
    }
    let InView { sides, rows, top, last } = state.rows_of(&comparison, inside);
    for (y, row) in (inside.y..inside.bottom()).zip(&rows[top.min(rows.len())..]) {
        for (side, area) in [(row.left, sides[0]), (row.right, sides[1])] {
            let Some((at, part)) = side else { continue };
            let line = &comparison.lines[at];
            let current = line.hunk == Some(hunk);
            draw_line(buf, Rect { y, height: 1, ..area }, look, (line, part), (against, current));
        }
    }
    if last > top {
        let more = format!(" ↓ {} more ", last - top);
        let x = area.right().saturating_sub(text::width(&more) as u16);
        put(buf, area, x, area.bottom() - 1, &more, look.style(Role::Warn));
    }
}

/// Draws a part of a line, with its sign and the words that differ.
fn draw_line(
    buf: &mut Buffer,
    area: Rect,
    look: &Look,
    (line, part): (&Line, DisplayRow),
    (against, current): (Against, bool),
) {
    let (sign, role) = match line.side {
        Side::Both => (" ", Role::Same),
        Side::Old => ("-", Role::DiffRemove),
        Side::New => ("+", Role::DiffAdd),
    };
    let mark = if current { "┃" } else { " " };
    let x = put(buf, area, area.x, area.y, mark, look.style(Role::BorderFocus));
    let sign = if part.skip == 0 { sign } else { " " };
    put(buf, area, x, area.y, sign, look.style(role));
    let area = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
    let base = if line.side == Side::Both { look.style(Role::Same) } else { Style::default() };
    let Some(run) = &look.state.run else { return };
    let owner = match (line.side, against) {
        (Side::Old, Against::Candidate(index)) => Some(Of::Candidate { run: run.id, index }),
        (Side::New, Against::File) => Some(Of::Preview),
        (Side::New, Against::Candidate(_)) => Some(Of::Candidate { run: run.id, index: run.focus }),
        _ => None,
    };
    let known = owner.and_then(|owner| look.highlights.line(owner, line.index, &line.text));
    let plain = [(0..line.text.len(), Style::default())];
    let spans: Vec<(Range<usize>, Style)> = match known.filter(|spans| !spans.is_empty() && line.side != Side::Both) {
        Some(spans) => spans.clone(),
        None => plain.into(),
    };
    let spans = marked(&spans, &line.changed, look.style(Role::Difference));
    let spans: Vec<_> = spans.into_iter().map(|(range, style)| (range, base.patch(style))).collect();
    code::draw_line(buf, area, look, &line.text, &spans, part, None);
}

/// Spans with a style on top of some ranges.
pub fn marked(spans: &[(Range<usize>, Style)], ranges: &[Range<usize>], over: Style) -> Vec<(Range<usize>, Style)> {
    let mut out = Vec::new();
    for (span, style) in spans {
        let mut at = span.start;
        for range in ranges.iter().filter(|range| range.start < span.end && range.end > span.start) {
            let (from, to) = (range.start.max(at), range.end.min(span.end));
            if from > at {
                out.push((at..from, *style));
            }
            if to > from {
                out.push((from..to, style.patch(over)));
            }
            at = at.max(to);
        }
        if at < span.end {
            out.push((at..span.end, *style));
        }
    }
    out
}
