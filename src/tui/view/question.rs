//! The question before code runs without isolation.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, middle, put, window};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the question over the middle of `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look) {
    let state = look.state;
    let width = body.width.min(72);
    let room = usize::from(width.saturating_sub(4));
    let said = text::one_line(&state.protection.summary);
    let key = |action| state.key_name(Context::Question, action);
    let answers = format!("{} run them, this session   {} do not", key(Action::Yes), key(Action::No));
    let mut lines: Vec<(String, Role)> = Vec::new();
    let mut add = |words: &str, role: Role| lines.extend(text::wrap_words(words, room).into_iter().map(|l| (l, role)));
    add(
        "The tests run code that a model has written. On this machine nothing keeps it from your files or the network.",
        Role::Warn,
    );
    if !said.is_empty() {
        add(&said, Role::Muted);
    }
    lines.push((String::new(), Role::Muted));
    let height = (lines.len() + 3) as u16;
    let inside = window(buf, middle(body, width, height), look, "run the tests without protection?", "");
    // However small the window: the answers are there.
    let last = inside.bottom().saturating_sub(1);
    for (y, (line, role)) in (inside.y..last).zip(&lines) {
        put(buf, inside, inside.x, y, line, look.style(*role));
    }
    put(buf, inside, inside.x, last, &text::fit(&answers, inside.width.into()), look.style(Role::Title));
}
