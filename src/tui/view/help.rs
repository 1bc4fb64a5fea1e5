//! The keys, from the key table: those of the place the help was opened in first, then those that count everywhere.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, middle, put, window};
use crate::tui::app::{Focus, State};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// The context that the help is about.
fn about(state: &State) -> Context {
    if state.results.is_some() {
        Context::Results
    } else if state.focus == Focus::Prompt {
        Context::Prompt
    } else if state.run.is_none() {
        Context::Start
    } else {
        Context::Panes
    }
}

/// Draws the help over `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look) {
    let state = look.state;
    let mut rows: Vec<(String, &str, Role)> = Vec::new();
    let own = about(state);
    let others = Context::ALL.iter().copied().filter(|c| *c != own && *c != Context::Global);
    for context in [own, Context::Global].into_iter().chain(others) {
        if !rows.is_empty() {
            rows.push((String::new(), "", Role::Muted));
        }
        let heading = match context {
            Context::Global => "everywhere".to_owned(),
            other => format!("in: {}", other.name()),
        };
        rows.push((heading, "", Role::Title));
        rows.extend(state.keys.help(context).into_iter().map(|(keys, label)| (format!("  {keys}"), label, Role::Hint)));
    }
    let keys = rows.iter().filter(|r| !r.1.is_empty()).map(|r| text::width(&r.0)).max().unwrap_or(0);
    let width = body.width.min(78);
    let height = (rows.len() + 2).min(usize::from(body.height)) as u16;
    let close = state.key_name(Context::Help, Action::Close);
    let inside = window(buf, middle(body, width, height), look, "keys", &format!("{close} closes, j k scroll"));
    let last = rows.len().saturating_sub(usize::from(inside.height));
    let top = state.help.unwrap_or(0).min(last);
    let keys = keys.min(usize::from(inside.width) / 2);
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
