//! A menu: its choices, and what the one under the cursor means.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::put;
use crate::tui::menu::Menu;
use crate::tui::text;
use crate::tui::theme::{Role, Theme};

/// Most columns of the menu.
const WIDEST: u16 = 110;

/// Draws the menu on the whole screen.
pub fn draw(buf: &mut Buffer, theme: &Theme, menu: &Menu) {
    let area = buf.area;
    if area.width < 8 || area.height < 3 {
        put(buf, area, area.x, area.y, &text::fit(&menu.title, usize::from(area.width)), Style::default());
        return;
    }
    let style = |role| theme.style(role);
    let x = put(buf, area, 1, area.y, "bass-tui   ", style(Role::Title));
    put(buf, area, x, area.y, &text::fit(&menu.title, usize::from(area.right().saturating_sub(x))), style(Role::Title));
    let footer = area.bottom() - 1;
    let keys = if menu.line.is_some() {
        "Enter uses it   Tab completes   Ctrl-S keeps it   Esc back"
    } else {
        "Enter uses it   1 to 9   Ctrl-S keeps it   q quit"
    };
    put(buf, area, 1, footer, &text::fit(keys, usize::from(area.width) - 1), style(Role::Hint));
    let body = Rect { y: area.y + 1, height: area.height - 2, ..area };
    let below = (body.height / 2).clamp(0, 8);
    // Close together, and no wider than one reads along.
    let most = menu.rows.len() as u16 + 1;
    let rows = Rect { height: (body.height - below).min(most), width: body.width.min(WIDEST), ..body };
    let height = usize::from(rows.height);
    let top = menu.cursor.saturating_sub(height.saturating_sub(1));
    for (y, (index, row)) in (rows.y..rows.bottom()).zip(menu.rows.iter().enumerate().skip(top)) {
        let is_focused = index == menu.cursor;
        let name = if is_focused {
            style(Role::Title).add_modifier(Modifier::BOLD | Modifier::REVERSED)
        } else {
            Style::default()
        };
        let lead = format!("{} {} ", if is_focused { '>' } else { ' ' }, index + 1);
        let x = put(buf, rows, rows.x, y, &lead, style(Role::Hint));
        let remark = text::fit(&text::one_line(&row.remark), usize::from(rows.width / 3));
        let right = rows.right().saturating_sub(text::width(&remark) as u16 + 1);
        let room = usize::from(right.saturating_sub(x + 1));
        put(buf, rows, x, y, &text::fit(&text::one_line(&row.name), room), name);
        put(buf, rows, right, y, &remark, style(Role::Muted));
    }
    if below < 2 {
        return;
    }
    let line = "─".repeat(usize::from(rows.width));
    put(buf, area, area.x, rows.bottom(), &line, style(Role::Border));
    let about = Rect { x: 1, y: rows.bottom() + 1, width: rows.width - 2, height: below - 1 };
    let room = usize::from(about.width);
    let mut lines: Vec<(String, Style)> = Vec::new();
    if let Some(line) = &menu.line {
        lines.push((format!("path: {}_", text::one_line(line)), style(Role::Title)));
    }
    if !menu.names.is_empty() {
        let names = text::one_line(&menu.names.join("  "));
        lines.push((text::fit(&names, room), style(Role::Hint)));
    }
    if let Some(error) = &menu.error {
        let error = text::one_line(error);
        lines.extend(text::wrap_words(&error, room).into_iter().map(|line| (line, style(Role::Error))));
    }
    let offer = format!("[{}] {}", if menu.taken { 'x' } else { ' ' }, menu.offer);
    let words = menu.rows.get(menu.cursor).map_or("", |row| row.about.as_str());
    lines.extend(text::wrap_words(words, room).into_iter().map(|line| (line, style(Role::Muted))));
    lines.truncate(usize::from(about.height).saturating_sub(1));
    lines.push((text::fit(&offer, room), style(if menu.taken { Role::Title } else { Role::Hint })));
    for (y, (line, style)) in (about.y..about.bottom()).zip(lines) {
        put(buf, about, about.x, y, &line, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::menu::tests::menu;
    use crate::tui::theme::Depth;
    use crate::untrusted::is_invisible;

    fn scene(menu: &Menu, width: u16, height: u16) -> String {
        let theme = Theme::find("dark", std::path::Path::new(""), false, Depth::True).unwrap();
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        draw(&mut buf, &theme, menu);
        assert!(buf.content().iter().all(|cell| !cell.symbol().chars().any(is_invisible)));
        let rows = buf.content().chunks(usize::from(width));
        rows.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned() + "\n")
            .collect()
    }

    #[test]
    fn the_menu_at_80x24() {
        insta::assert_snapshot!(scene(&menu(), 80, 24));
    }

    #[test]
    fn the_menu_at_50x12_with_an_error() {
        let mut menu = menu();
        menu.cursor = 2;
        menu.taken = true;
        menu.error = Some("the model cannot be read\u{1b}".to_owned());
        insta::assert_snapshot!(scene(&menu, 50, 12));
    }

    #[test]
    fn the_menu_at_200x50_with_a_path() {
        let mut menu = menu();
        menu.cursor = 3;
        menu.line = Some("~/models/x".to_owned());
        insta::assert_snapshot!(scene(&menu, 200, 50));
    }

    #[test]
    fn no_size_is_too_small() {
        for (width, height) in [(1, 1), (7, 2), (8, 3), (20, 4), (30, 6), (300, 100)] {
            scene(&menu(), width, height);
        }
    }
}
