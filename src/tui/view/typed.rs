//! A text that is typed: as much of it as there is room for, with marks where it goes on.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use super::code::Drawn;
use super::{Look, put};
use crate::tui::app::draft::Draft;
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the text with a column free at each side for the marks of lines that are cut there: the cell of the
/// cursor may be the first or the last one of a line.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look, draft: &Draft) -> Drawn {
    let side = u16::from(area.width > 4);
    let inside = Rect { x: area.x + side, width: area.width - 2 * side, ..area };
    draft.area().render(inside, buf);
    let (top, left) = draft.area().scroll_offset();
    let (top, left) = (usize::from(top), usize::from(left));
    let lines = draft.area().lines();
    for (y, line) in (area.y..area.bottom()).zip(lines.iter().skip(top)).filter(|_| side > 0) {
        let wide = text::width(&text::shown(line));
        if left > 0 && wide > 0 {
            put(buf, area, area.x, y, "<", look.style(Role::Warn));
        }
        if wide > left + usize::from(inside.width) {
            put(buf, area, area.right() - 1, y, ">", look.style(Role::Warn));
        }
    }
    Drawn { above: top, below: lines.len().saturating_sub(top + usize::from(area.height)) }
}

#[cfg(test)]
mod tests {
    use crate::tui::app::Msg;
    use crate::tui::app::fixture::Session;
    use crate::tui::view::scenes;

    fn shown(session: &Session) -> Vec<String> {
        scenes::text(&scenes::draw(&session.state, 60, 20)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn marks_say_where_a_typed_text_goes_on() {
        let mut session = Session::free(2);
        let lines: Vec<String> = (0..100).map(|n| format!("line {n}")).collect();
        session.send(Msg::Paste(lines.join("\n")));
        let screen = shown(&session);
        assert!(screen.iter().any(|row| row.contains("prompt, edited") && row.contains("↑ ")), "{screen:?}");
        let mut session = Session::free(2);
        session.send(Msg::Paste(format!("{}\nshort", "a long line ".repeat(9))));
        let cut = |session: &Session, from: &str| {
            let screen = shown(session);
            let row = screen.iter().find(|row| row.contains(from)).unwrap_or_else(|| panic!("{screen:?}"));
            (row.trim_start_matches(['┃', ' ', '│']).starts_with('<'), row.trim_end().ends_with('>'))
        };
        assert_eq!(cut(&session, "a long line"), (false, true));
        session.key("up");
        session.key("end");
        assert_eq!(cut(&session, "long line"), (true, false));
        session.key("home");
        assert_eq!(cut(&session, "a long line"), (false, true));
    }
}
