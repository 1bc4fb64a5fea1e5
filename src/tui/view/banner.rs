//! Error banner: lies over the lowest lines until it is dismissed; the text above stays.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{Look, put};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the banner at the bottom of `body`, in at most a third of it.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look) {
    let Some(error) = &look.state.error else { return };
    if body.is_empty() {
        return;
    }
    let most = usize::from(body.height / 3).max(1);
    let mut lines =
        text::wrap_words(&format!("ERROR: {}", text::one_line(error)), usize::from(body.width.saturating_sub(2)));
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = text::fit(&format!("{last} …"), usize::from(body.width.saturating_sub(2)));
        }
    }
    let top = body.bottom() - lines.len() as u16;
    let style = look.style(Role::Error).add_modifier(Modifier::REVERSED);
    for (y, line) in (top..).zip(&lines) {
        let row = text::padded(&format!(" {line}"), body.width.into());
        put(buf, body, body.x, y, &row, style);
    }
    let hint = " Esc closes ";
    let last = lines.last().map_or(0, |l| text::width(l));
    if last + hint.len() + 2 < usize::from(body.width) {
        put(buf, body, body.right() - hint.len() as u16, body.bottom() - 1, hint, style);
    }
}

#[cfg(test)]
mod tests {
    use crate::tui::app::Msg;
    use crate::tui::app::fixture::Session;
    use crate::tui::view::scenes::{draw, text};

    #[test]
    fn a_long_error_ends_in_one_ellipsis() {
        for columns in 30..50 {
            let mut session = Session::tested(1);
            session.send(Msg::Fault("日本 words ".repeat(60)));
            let shown = text(&draw(&session.state, columns, 12));
            let banner = shown.split_once("ERROR").map_or("", |(_, banner)| banner);
            assert_eq!(banner.matches('…').count(), 1, "{shown}");
        }
    }
}
