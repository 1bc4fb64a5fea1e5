//! The picker: what was typed, the functions that match, and the text of the one under the cursor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};

use super::choices::{self, Words, marked, marked_ends, shortened, tail};
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
    let shown: Vec<&Found> = seen.clone().filter_map(|row| picker.list.row(row)).collect();
    let name_width = name_width(area.width, &shown);
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

/// Columns of the names of these rows: two fifths, and those that the places beside them leave.
fn name_width(columns: u16, rows: &[&Found]) -> usize {
    let room = usize::from(columns);
    let widest = |of: &dyn Fn(&Found) -> usize| rows.iter().map(|found| of(found)).max().unwrap_or(0);
    let names = widest(&|found| text::width(&text::one_line(&found.name)));
    let beside = widest(&|found| {
        let tests = text::width(&tests_of(found, columns));
        text::width(&place_of(found)) + if tests > 0 { tests + 2 } else { 0 }
    });
    // Beside both there are the mark, the gap and the right edge.
    names.max(8).min((room * 2 / 5).max(room.saturating_sub(beside + 6)))
}

fn place_of(found: &Found) -> String {
    format!("{}:{}", found.shown, found.line)
}

/// The tests file as a row of so many columns names it.
fn tests_of(found: &Found, columns: u16) -> String {
    let tests = found.tests.as_deref().filter(|_| columns >= WITH_TESTS).unwrap_or_default();
    text::fit(tests, usize::from(columns / 4))
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
    marked_ends(buf, row, x, (&name, 0, names), style, &of_name);
    let x = x + names as u16 + 2;
    let tests = tests_of(found, row.width);
    let right = row.right().saturating_sub(text::width(&tests) as u16 + 1);
    let room = usize::from(right.saturating_sub(x + u16::from(!tests.is_empty()) * 2));
    let place = place_of(found);
    let file = &place[place.rfind('/').map_or(0, |at| at + 1)..];
    let muted = look.style(Role::Muted);
    if text::width(&place) > room && text::width(file) < room {
        // The end of a path says more than its beginning.
        let end = tail(&place, room - 1);
        let cut = place.chars().count() - end.chars().count();
        let x = put(buf, row, x, row.y, "…", muted);
        marked(buf, row, x, (&end, cut), muted, &of_place);
    } else {
        let shown = if text::width(&place) > room { file } else { &place };
        let cut = place.chars().count() - shown.chars().count();
        marked_ends(buf, row, x, (shown, cut, room), muted, &of_place);
    }
    put(buf, row, right, row.y, &tests, muted);
}

fn draw_preview(buf: &mut Buffer, area: Rect, look: &Look, picker: &Picker) {
    if area.height < 2 || area.width < 4 {
        return;
    }
    let current = picker.list.current();
    let open = current.is_some_and(|found| !found.finished);
    let room = usize::from(area.width) * 2 / 3;
    let name = |found: &Found| shortened(&text::one_line(&found.name), room.saturating_sub(2));
    let title = current.map_or_else(String::new, |found| format!(" {} ", name(found)));
    let mark = if open { " * unfinished " } else { "" };
    rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (mark, look.style(Role::Hint)));
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 1 };
    match picker.preview().map(|preview| &preview.text) {
        Some(Ok(content)) => {
            let rows = text::rows(content, inside.width.into(), false, 0);
            let scroll = Scroll { top: 0, column: 0, follow: false };
            code::draw(buf, inside, look, Of::Picked, content, &rows, scroll, code::Beside::default());
        }
        Some(Err(why)) => {
            for (y, line) in (inside.y..inside.bottom()).zip(text::wrap_words(why, usize::from(inside.width))) {
                put(buf, inside, inside.x, y, &line, look.style(Role::Warn));
            }
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::tui::app::picker::tests::{functions, picking};
    use crate::tui::view::scenes;

    #[test]
    fn rows_of_long_names_differ_and_have_their_file_and_line() {
        let row = |n: usize, (width, height)| {
            let mut found = functions()[0].clone();
            found.name = format!("a_function_with_quite_a_long_name_{n:03}");
            found.shown = format!("src/deeply/module_number_{n:03}_with_a_rather_long_file_name.py");
            found.line = 15;
            let session = picking(vec![found]);
            let shown = scenes::text(&scenes::draw(&session.state, width, height));
            let row = shown.lines().find(|line| line.starts_with(">  a_"));
            row.unwrap_or_else(|| panic!("{shown}")).to_owned()
        };
        assert_eq!(row(59, (40, 10)), ">  a_funct…name_059  module_n…ame.py:15");
        let wide = row(59, (80, 24));
        assert!(wide.starts_with(">  a_function_with…_a_long_name_059  module_number…"), "{wide}");
        assert!(wide.ends_with("le_name.py:15  test_stats.py"), "{wide}");
        for size in [(30, 8), (40, 10), (80, 24), (140, 30)] {
            assert_ne!(row(58, size), row(59, size), "{size:?}");
            assert!(row(59, size).contains(".py:15"), "{}", row(59, size));
        }
    }

    #[test]
    fn a_long_name_has_the_room_that_short_places_leave() {
        let mut found = functions();
        found[1].name = "a_function_with_quite_a_long_name_059".to_owned();
        let shown = scenes::text(&scenes::draw(&picking(found).state, 80, 24));
        assert!(shown.contains("* a_function_with_quite_a_long_name_059  src/stats.py:12 "), "{shown}");
        assert!(shown.contains("  tests/test_stats.py:1"), "{shown}");
    }
}
