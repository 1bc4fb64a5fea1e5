//! The keys, from the key table: first those of the place the help was opened in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, middle, put, window};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the help over `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look) {
    let state = look.state;
    let mut rows: Vec<(String, &str, Role)> = Vec::new();
    let own = state.place();
    let others = Context::all().filter(|c| *c != own && *c != Context::Global);
    for context in [own, Context::Global].into_iter().chain(others) {
        if !rows.is_empty() {
            rows.push((String::new(), "", Role::Muted));
        }
        let heading = match context {
            Context::Global => "everywhere",
            other => other.name(),
        };
        rows.push((heading.to_owned(), "", Role::Title));
        rows.extend(state.keys.help(context).into_iter().map(|(keys, label)| (format!("  {keys}"), label, Role::Hint)));
    }
    let keys = rows.iter().filter(|r| !r.1.is_empty()).map(|r| text::width(&r.0)).max().unwrap_or(0);
    // A strip of the screen at its sides would only look torn.
    let width = if body.width < 84 { body.width } else { 78 };
    let keys = keys.min(usize::from(width.saturating_sub(4)) / 2);
    // A label that does not fit behind the keys goes on below.
    let room = usize::from(width.saturating_sub(4)).saturating_sub(keys + 2).max(1);
    let rows: Vec<(String, String, Role)> = rows
        .into_iter()
        .flat_map(|(left, label, role)| {
            let mut lines = text::wrap_words(label, room);
            lines.resize(lines.len().max(1), String::new());
            let left = std::iter::once(left).chain(std::iter::repeat(String::new()));
            left.zip(lines).map(move |(left, label)| (left, label, role)).collect::<Vec<_>>()
        })
        .collect();
    let height = (rows.len() + 2).min(usize::from(body.height)) as u16;
    let close = state.key_name(Context::Help, Action::Close);
    let inside = window(buf, middle(body, width, height), look, "keys", &format!("{close} closes, j k scroll"));
    let last = rows.len().saturating_sub(usize::from(inside.height));
    let top = state.help.unwrap_or(0).min(last);
    for (y, (left, label, role)) in (inside.y..inside.bottom()).zip(rows.iter().skip(top)) {
        let style = if label.is_empty() { look.style(*role) } else { look.style(Role::Title) };
        put(
            buf,
            inside,
            inside.x,
            y,
            &text::fit(left, if label.is_empty() { usize::from(inside.width) } else { keys }),
            style,
        );
        let x = inside.x + keys as u16 + 2;
        let room = usize::from(inside.right().saturating_sub(x));
        put(buf, inside, x, y, &text::fit(label, room), ratatui::style::Style::default());
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
