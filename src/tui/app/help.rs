//! The lines of the help, from the key table: first those of the place it was opened in, last the words of
//! the screen.

use super::state::State;
use crate::tui::keymap::{Action, Context};
use crate::tui::legend::LEGEND;
use crate::tui::text;

/// From this width of the screen on the help is narrower than it: a strip at its sides would look torn.
const WIDE: (u16, u16) = (84, 78);
/// Columns of the frame and the space inside of it.
const FRAME: u16 = 4;

/// A line: keys and what they do, or a heading, which has no label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub keys: String,
    pub label: String,
    pub is_heading: bool,
}

/// Columns of the help on a screen of so many.
pub fn width(columns: u16) -> u16 {
    if columns < WIDE.0 { columns } else { WIDE.1 }
}

/// All lines on a screen of so many columns, and the columns of their keys. A label that does not fit behind
/// the keys goes on below.
pub fn lines(state: &State, columns: u16) -> (Vec<Line>, usize) {
    let mut rows: Vec<(String, &str)> = Vec::new();
    let own = state.place();
    let others = Context::all().filter(|c| *c != own && *c != Context::Global);
    for context in [own, Context::Global].into_iter().chain(others) {
        if !rows.is_empty() {
            rows.push((String::new(), ""));
        }
        let heading = if context == Context::Global { "everywhere" } else { context.name() };
        rows.push((heading.to_owned(), ""));
        rows.extend(state.keys.help(context).into_iter().map(|(keys, label)| (format!("  {keys}"), label)));
    }
    rows.extend([(String::new(), ""), ("words of the screen".to_owned(), "")]);
    rows.extend(LEGEND.map(|(word, meaning)| (format!("  {word}"), meaning)));
    let inside = usize::from(width(columns).saturating_sub(FRAME));
    let keys = rows.iter().filter(|row| !row.1.is_empty()).map(|row| text::width(&row.0)).max().unwrap_or(0);
    let keys = keys.min(inside / 2);
    let room = inside.saturating_sub(keys + 2).max(1);
    let wrapped = rows.into_iter().flat_map(|(left, label)| {
        let mut lines = text::wrap_words(label, room);
        lines.resize(lines.len().max(1), String::new());
        let left = std::iter::once(left).chain(std::iter::repeat(String::new()));
        let line = |(keys, label): (String, String)| Line { is_heading: label.is_empty(), keys, label };
        left.zip(lines).map(line).collect::<Vec<_>>()
    });
    (wrapped.collect(), keys)
}

/// Scrolls the help.
pub fn scroll(state: &mut State, action: Action, by: isize) {
    let Some(top) = state.help else { return };
    let (columns, height) = state.size;
    // Without title, footer and frame.
    let last = lines(state, columns).0.len().saturating_sub(usize::from(height.saturating_sub(4)));
    state.help = Some(match action {
        Action::Top => 0,
        Action::Bottom => last,
        _ => top.min(last).saturating_add_signed(by).min(last),
    });
}
