//! The change that is wanted of the function: beside the prompt, and in the line that it is typed in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};

use super::{Look, bar, put, rule, typed};
use crate::tui::app::State;
use crate::tui::app::draft::Draft;
use crate::tui::app::wish::Asked;
use crate::tui::text;
use crate::tui::theme::Role;

/// `wish: also accept None`, in so many columns: that of an earlier run while it is shown, else the next one.
pub fn words(state: &State, columns: usize) -> Option<String> {
    let wish = if state.past.is_over() { state.job.wish()? } else { state.wish.next.as_ref()? };
    Some(text::fit(&format!("wish: {}", text::one_line(wish)), columns))
}

/// How far a request for a head is.
pub fn asking(asked: &Asked, now: u64) -> String {
    let Asked { parts, reading, text: answer, .. } = asked;
    // Chat models put a fence before code.
    let lines: Vec<&str> = answer.lines().map(str::trim).filter(|line| !line.starts_with("```")).collect();
    let written = lines.join(" ");
    if !written.trim().is_empty() {
        format!("writing the {parts}: {}", text::one_line(written.trim()))
    } else if asked.is_reading() {
        format!("asking for the {parts}: {}", bar::words(reading, now, 0))
    } else {
        format!("asking for the {parts}…")
    }
}

/// Draws the line in the last rows of `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look, line: &Draft) {
    let height = body.height.min(2);
    let area = Rect { y: body.bottom() - height, height, ..body };
    if area.is_empty() {
        return;
    }
    Clear.render(area, buf);
    if height > 1 {
        let name = look.state.job.target().map_or_else(String::new, |target| text::one_line(&target.name));
        let title = text::fit(&format!(" what to change in {name} "), usize::from(area.width.saturating_sub(4)));
        rule(buf, area, area.y, look, (&title, look.style(Role::BorderFocus)), ("", look.style(Role::Hint)));
    }
    typed::draw(buf, Rect { y: area.bottom() - 1, height: 1, ..area }, look, line);
    let row = Rect { x: area.x + 1, y: area.bottom() - 1, width: area.width.saturating_sub(1), height: 1 };
    if line.is_blank() {
        let is_set = look.state.wish.next.is_some();
        let hint = if is_set { "an empty line takes the wish away" } else { "such as: also accept None" };
        let room = usize::from(row.width.saturating_sub(1));
        put(buf, row, row.x + 1, row.y, &text::fit(hint, room), look.style(Role::Muted));
    }
}
