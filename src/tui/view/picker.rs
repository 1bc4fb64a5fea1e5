//! The picker: what was typed, the functions that match, and the text of the one under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};

use super::choices::{self, Words, marked, tail};
use super::{Look, code, put, rule};
use crate::tui::app::candidate::Scroll;
use crate::tui::app::picker::{Found, Picker};
use crate::tui::highlight::Of;
use crate::tui::text;
use crate::tui::theme::Role;

/// From this width on the preview is to the right of the list, else below it.
const WIDE: u16 = 120;
/// From this height on there is a preview below the list.
const HIGH: u16 = 9;
/// From this width on a row names the tests file.
const WITH_TESTS: u16 = 72;

/// Draws the picker over `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look, picker: &Picker) {
    Clear.render(body, buf);
    if body.height < 2 || body.width < 4 {
        return;
    }
    let (list, preview) = if body.width >= WIDE {
        let width = body.width / 2;
        (Rect { width, ..body }, Rect { x: body.x + width + 1, width: body.width - width - 1, ..body })
    } else if body.height >= HIGH {
        // The list has the larger part: it is what one chooses from.
        let height = (body.height / 2).min(body.height.saturating_sub(7));
        let list = Rect { height: body.height - height, ..body };
        (list, Rect { y: list.bottom(), height, ..body })
    } else {
        (body, Rect::ZERO)
    };
    draw_list(buf, list, look, picker);
    draw_preview(buf, preview, look, picker);
}

fn draw_list(buf: &mut Buffer, area: Rect, look: &Look, picker: &Picker) {
    let (all, matching) = picker.list.counts();
    let looking = if picker.is_scanning { ", looking …" } else { "" };
    let title = format!(" functions of {} ", text::fit(&picker.place, usize::from(area.width / 2)));
    let words = Words {
        title: &title,
        prompt: "type a part of a name or path",
        counts: looking,
        none: match (picker.is_scanning, all) {
            (true, _) => "looking for functions …",
            (false, 0) => "there is no function of a known language",
            (false, _) => "no function matches",
        },
    };
    let (rows, seen) = choices::draw(buf, area, look, &picker.list, &words);
    let widest = seen.clone().filter_map(|row| picker.list.row(row)).map(|f| text::width(&f.name));
    let name_width = widest.max().unwrap_or(0).clamp(8, usize::from(area.width) * 2 / 5);
    for (y, row) in (rows.y..rows.bottom()).zip(seen) {
        if let Some(found) = picker.list.row(row) {
            let at = Rect { y, height: 1, ..rows };
            draw_row(buf, at, look, found, (row == picker.list.cursor, name_width), &picker.list.marks(row));
        }
    }
    let height = usize::from(rows.height);
    if let Some(remark) = picker.remark.as_ref().filter(|_| area.width > 40 && matching < height) {
        put(
            buf,
            rows,
            rows.x + 2,
            rows.bottom() - 1,
            &text::fit(remark, usize::from(rows.width) - 3),
            look.style(Role::Warn),
        );
    }
}

/// A row: mark, name, place, tests.
fn draw_row(buf: &mut Buffer, row: Rect, look: &Look, found: &Found, (focused, names): (bool, usize), marks: &[u32]) {
    let cursor = if focused { '>' } else { ' ' };
    let open = if found.finished { ' ' } else { '*' };
    let lead = if focused { look.style(Role::BorderFocus) } else { look.style(Role::Hint) };
    let x = put(buf, row, row.x, row.y, &format!("{cursor}{open} "), lead);
    let mut style = if found.finished { Style::default() } else { look.style(Role::Title) };
    if focused {
        style = style.add_modifier(Modifier::BOLD | Modifier::REVERSED);
    }
    let name = text::one_line(&found.name);
    let length = name.chars().count() as u32;
    let of_name: Vec<u32> = marks.iter().copied().filter(|&at| at < length).collect();
    let of_place: Vec<u32> = marks.iter().filter_map(|&at| at.checked_sub(length + 1)).collect();
    marked(buf, row, x, (&text::fit(&name, names), 0), style, &of_name);
    let x = x + names as u16 + 2;
    let tests = found.tests.as_deref().filter(|_| row.width >= WITH_TESTS).unwrap_or_default();
    let tests = text::fit(tests, usize::from(row.width / 4));
    let right = row.right().saturating_sub(text::width(&tests) as u16 + 1);
    let room = usize::from(right.saturating_sub(x + u16::from(!tests.is_empty()) * 2));
    let place = format!("{}:{}", found.shown, found.line);
    // The end of a path says more than its beginning.
    let end = if text::width(&place) > room { tail(&place, room.saturating_sub(1)) } else { place.clone() };
    let cut = place.chars().count() - end.chars().count();
    let muted = look.style(Role::Muted);
    let dots = if cut > 0 && room > 0 { put(buf, row, x, row.y, "…", muted) } else { x };
    marked(buf, row, dots, (&end, cut), muted, &of_place);
    put(buf, row, right, row.y, &tests, muted);
}

fn draw_preview(buf: &mut Buffer, area: Rect, look: &Look, picker: &Picker) {
    if area.height < 2 || area.width < 4 {
        return;
    }
    let current = picker.list.current();
    let open = current.is_some_and(|found| !found.finished);
    let title = current.map_or_else(String::new, |found| format!(" {} ", text::one_line(&found.name)));
    let title = text::fit(&title, usize::from(area.width * 2 / 3));
    let mark = if open { " * unfinished " } else { "" };
    rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (mark, look.style(Role::Hint)));
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 1 };
    match picker.preview().map(|preview| &preview.text) {
        Some(Ok(content)) => {
            let rows = text::rows(content, inside.width.into(), false, 0);
            let scroll = Scroll { top: 0, column: 0, follow: false };
            code::draw(buf, inside, look, Of::Picked, content, &rows, scroll, &|_| false);
        }
        Some(Err(why)) => {
            for (y, line) in (inside.y..inside.bottom()).zip(text::wrap_words(why, usize::from(inside.width))) {
                put(buf, inside, inside.x, y, &line, look.style(Role::Warn));
            }
        }
        None => {}
    }
}
