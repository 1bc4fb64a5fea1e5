//! A filtered list: what is typed, and the rows that match. Each list draws its own rows.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, put, rule};
use crate::tui::app::choices::{Choice, Choices};
use crate::tui::text;
use crate::tui::theme::Role;

/// Texts around a list.
pub struct Words<'a> {
    pub title: &'a str,
    /// Meaning of typed text.
    pub prompt: &'a str,
    /// To follow the numbers of rows.
    pub counts: &'a str,
    /// In the place of rows, if there are none.
    pub none: &'a str,
}

/// Draws everything but the rows; returns their place and which are in view.
pub fn draw<T: Choice>(
    buf: &mut Buffer,
    area: Rect,
    look: &Look,
    list: &Choices<T>,
    words: &Words,
) -> (Rect, Range<usize>) {
    let (all, matching) = list.counts();
    let counts = if list.query.is_empty() && words.counts.is_empty() {
        format!(" {all} ")
    } else {
        format!(" {matching} of {all}{} ", words.counts)
    };
    let (strong, hint) = (look.style(Role::Title), look.style(Role::Hint));
    rule(buf, area, area.y, look, (words.title, strong), (&counts, hint));
    let query = Rect { y: area.y + 1, height: 1, ..area };
    let x = put(buf, query, query.x + 1, query.y, "> ", look.style(Role::BorderFocus));
    // Of a long query the end is what one types at.
    let room = usize::from(query.right().saturating_sub(x + 1));
    let typed = tail(&list.query, room);
    let x = put(buf, query, x, query.y, &typed, strong);
    put(buf, query, x, query.y, " ", Style::default().add_modifier(Modifier::REVERSED));
    if list.query.is_empty() {
        put(buf, query, x + 1, query.y, &format!(" {}", words.prompt), look.style(Role::Muted));
    }
    let rows = Rect { y: area.y + 2, height: area.height - 2, ..area };
    let height = usize::from(rows.height);
    let top = page(list.cursor, height).min(matching.saturating_sub(height));
    if matching == 0 && height > 0 {
        let room = usize::from(rows.width).saturating_sub(3);
        put(buf, rows, rows.x + 2, rows.y, &text::fit(words.none, room), look.style(Role::Muted));
    }
    (rows, top..(top + height).min(matching))
}

/// First row of the page with a row.
pub fn page(row: usize, height: usize) -> usize {
    row.checked_div(height).unwrap_or(0) * height
}

/// The end of a text that fits.
pub fn tail(text: &str, room: usize) -> String {
    let mut rest = text;
    while text::width(rest) > room {
        let first = rest.chars().next().map_or(1, char::len_utf8);
        rest = &rest[first..];
    }
    rest.to_owned()
}

/// Beginning and end of a text that fit with a column between them; all of it and nothing where it fits.
/// Names that begin alike differ at their end.
fn ends(text: &str, room: usize) -> (&str, &str) {
    if text::width(text) <= room {
        return (text, "");
    }
    let (at, columns) = text::prefix(text, room.saturating_sub(1) / 2);
    let mut end = &text[at..];
    while text::width(end) + columns + 1 > room && !end.is_empty() {
        let first = end.chars().next().map_or(1, char::len_utf8);
        end = &end[first..];
    }
    (&text[..at], end)
}

/// A text that fits, with an ellipsis in the place of its middle.
pub fn shortened(text: &str, room: usize) -> String {
    match ends(text, room) {
        _ if room == 0 => String::new(),
        (all, "") if all.len() == text.len() => text.to_owned(),
        (start, end) => format!("{start}…{end}"),
    }
}

/// Like [`marked`], with an ellipsis in the place of its middle where the text does not fit.
pub fn marked_ends(
    buf: &mut Buffer,
    row: Rect,
    x: u16,
    (text, cut, room): (&str, usize, usize),
    style: Style,
    marks: &[u32],
) -> u16 {
    let (start, end) = ends(text, room);
    let x = marked(buf, row, x, (start, cut), style, marks);
    if start.len() == text.len() || room == 0 {
        return x;
    }
    let x = put(buf, row, x, row.y, "…", style);
    let before = text.chars().count() - end.chars().count();
    marked(buf, row, x, (end, cut + before), style, marks)
}

/// Writes a text that lacks its first `cut` characters, with those at `marks` underlined; returns the column
/// after it.
pub fn marked(
    buf: &mut Buffer,
    row: Rect,
    mut x: u16,
    (shown, cut): (&str, usize),
    style: Style,
    marks: &[u32],
) -> u16 {
    for (at, c) in shown.chars().enumerate() {
        let is_marked = marks.contains(&((at + cut) as u32));
        let style = if is_marked { style.add_modifier(Modifier::UNDERLINED | Modifier::BOLD) } else { style };
        x = put(buf, row, x, row.y, c.encode_utf8(&mut [0; 4]), style);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let name = "a_function_with_quite_a_long_name_059";
        let at = |room| shortened(name, room);
        assert_eq!([at(37), at(16), at(5)], [name, "a_funct…name_059", "a_…59"].map(str::to_owned));
        assert_eq!([at(2), at(1), at(0)], ["…9", "…", ""].map(str::to_owned));
        assert_eq!(shortened("日本語の関数", 8), "日…関数", "a wide character is not cut");
        for room in 0..40 {
            assert!(text::width(&at(room)) <= room, "{room}");
        }
    }
}
