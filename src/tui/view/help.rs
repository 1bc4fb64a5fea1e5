//! The keys over everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, middle, put, window};
use crate::tui::app::help;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the help over `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look) {
    let state = look.state;
    let (rows, keys) = help::lines(state, body.width);
    let height = (rows.len() + 2).min(usize::from(body.height)) as u16;
    let key = |action| state.key_name(Context::Help, action);
    let width = help::width(body.width);
    let [close, down, up] = [Action::Close, Action::LineDown, Action::LineUp].map(key);
    let short = format!("{close} closes, {down} {up} scroll");
    let long = format!("{short}, {} searches actions", key(Action::Palette));
    // Without its frame, and the title with a gap.
    let fits = text::width(&long) + 12 <= usize::from(width);
    let inside = window(buf, middle(body, width, height), look, "keys", if fits { &long } else { &short });
    let last = rows.len().saturating_sub(usize::from(inside.height));
    let top = state.help.unwrap_or(0).min(last);
    for (y, row) in (inside.y..inside.bottom()).zip(rows.iter().skip(top)) {
        let room = if row.is_heading { usize::from(inside.width) } else { keys };
        put(buf, inside, inside.x, y, &text::fit(&row.keys, room), look.style(Role::Title));
        let x = inside.x + keys as u16 + 2;
        let room = usize::from(inside.right().saturating_sub(x));
        put(buf, inside, x, y, &text::fit(&row.label, room), ratatui::style::Style::default());
    }
    if last > top && inside.height > 2 {
        let more = format!(" ↓ {} more ", last - top);
        put(
            buf,
            body,
            inside.right().saturating_sub(text::width(&more) as u16),
            inside.bottom(),
            &more,
            look.style(Role::Warn),
        );
    }
}
