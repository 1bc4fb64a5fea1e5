//! The palette: actions with their keys, settings with their values, and what the row under the cursor means.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};

use super::choices::{self, Words, marked};
use super::{Look, put};
use crate::tui::app::palette::{Entry, Level, Open, What};
use crate::tui::text;
use crate::tui::theme::Role;

/// Columns of the keys.
const KEYS: u16 = 13;
/// From this width on a row has the name of its action.
const WITH_NAMES: u16 = 60;
/// Rows of words below the list, which they have also where the list needs all others.
const ABOUT: u16 = 2;
/// Rows above the list.
const ABOVE: usize = 2;

/// Draws the palette over `body`; of the values of a setting only over its lower part, so that a theme is
/// seen.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look, open: &Open) {
    if body.height < 3 || body.width < 4 {
        return;
    }
    let height =
        if matches!(open.level, Level::Values(_)) { body.height.min(body.height / 2 + 2) } else { body.height };
    let area = Rect { y: body.bottom() - height, height, ..body };
    Clear.render(area, buf);
    let (said, role) = about_words(open);
    let mut lines = text::wrap_words(&text::one_line(&said), usize::from(area.width - 3));
    let free = usize::from(height).saturating_sub(ABOVE + open.list.counts().1.max(1));
    let below = if height >= 6 { ABOUT.max(lines.len().min(free) as u16) } else { 0 };
    let query = open.list.query.trim();
    let (title, prompt, none) = match &open.level {
        Level::All => (" actions and settings ".to_owned(), "type a part of a name", "nothing matches".to_owned()),
        Level::Settings => (" settings ".to_owned(), "type a part of a name", "nothing matches".to_owned()),
        Level::Values(setting) if setting.typed => {
            let none = if query.is_empty() { "type a value".to_owned() } else { format!("Enter sets it to {query}") };
            (format!(" {} ", setting.name), "choose, or type a value", none)
        }
        Level::Values(setting) => {
            (format!(" {} ", setting.name), "type a part of a name", "nothing matches".to_owned())
        }
    };
    let words = Words { title: &title, prompt, counts: "", none: &none };
    let place = Rect { height: area.height - below, ..area };
    let (rows, seen) = choices::draw(buf, place, look, &open.list, &words);
    for (y, row) in (rows.y..rows.bottom()).zip(seen) {
        if let Some(entry) = open.list.row(row) {
            let at = Rect { y, height: 1, ..rows };
            let keys = if open.level == Level::All { KEYS.min(at.width / 4) } else { 0 };
            draw_row(buf, at, look, (entry, keys), row == open.list.cursor, &open.list.marks(row));
        }
    }
    let about = Rect { x: area.x + 2, y: place.bottom(), width: area.width - 3, height: below };
    if lines.len() > usize::from(below) {
        lines.truncate(usize::from(below));
        let cut = |line: &mut String| *line = text::fit(&format!("{line} …"), usize::from(about.width));
        lines.last_mut().into_iter().for_each(cut);
    }
    for (y, line) in (about.y..about.bottom()).zip(lines) {
        put(buf, about, about.x, y, &line, look.style(role));
    }
}

/// An error, or what the row under the cursor means.
fn about_words(open: &Open) -> (String, Role) {
    if let Some(error) = &open.error {
        return (error.clone(), Role::Error);
    }
    let words = match (&open.level, open.list.current()) {
        (Level::Values(setting), _) | (_, Some(Entry { what: What::Setting(setting), .. })) => setting.help.clone(),
        (_, Some(Entry { why: Some(why), .. })) => why.clone(),
        _ => String::new(),
    };
    (words, Role::Muted)
}

/// A row: keys, label, and the name of the action. What can do nothing now is faint.
fn draw_row(buf: &mut Buffer, row: Rect, look: &Look, (entry, keys): (&Entry, u16), focused: bool, marks: &[u32]) {
    let lead = if focused { look.style(Role::BorderFocus) } else { look.style(Role::Hint) };
    let x = put(buf, row, row.x, row.y, if focused { "> " } else { "  " }, lead);
    let is_value = matches!(entry.what, What::Value(_));
    let faint = look.style(Role::Muted);
    let of_keys = if entry.why.is_some() { faint } else { look.style(Role::Hint) };
    put(buf, row, x, row.y, &text::fit(&entry.keys, usize::from(keys)), of_keys);
    let x = x + keys + u16::from(keys > 0);
    let mut style = if entry.why.is_some() { faint } else { Style::default() };
    if focused {
        style = style.add_modifier(Modifier::BOLD | Modifier::REVERSED);
    }
    let name = if row.width >= WITH_NAMES || is_value { entry.name.as_str() } else { "" };
    let right = row.right().saturating_sub(text::width(name) as u16 + 1);
    let room = usize::from(right.saturating_sub(x + u16::from(!name.is_empty())));
    let length = entry.label.chars().count() as u32;
    let of_label: Vec<u32> = marks.iter().copied().filter(|&at| at < length).collect();
    let of_name: Vec<u32> = marks.iter().filter_map(|&at| at.checked_sub(length + 1)).collect();
    marked(buf, row, x, (&text::fit(&entry.label, room), 0), style, &of_label);
    marked(buf, row, right, (name, 0), faint, &of_name);
}
