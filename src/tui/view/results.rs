//! The panel with test results: a line per candidate, and what the focused one's tests printed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, badge, pane, put, rule};
use crate::job::label;
use crate::tui::app::{Run, Testing};
use crate::tui::text;
use crate::tui::theme::Role;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let Some(run) = state.run.as_ref().filter(|_| !area.is_empty()) else { return };
    let title = format!(" tests: {} ", text::one_line(&state.job.tests_label));
    let sandbox = format!(" sandbox: {} ", text::one_line(&state.protection.tier));
    rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (&sandbox, look.style(Role::Muted)));
    let rest = area.height.saturating_sub(1);
    let rows = u16::try_from(run.candidates.len()).unwrap_or(u16::MAX).min(rest - rest / 2);
    let table = Rect { y: area.y + 1, height: rows, ..area };
    let detail = Rect { y: table.bottom(), height: rest - rows, ..area };
    candidates(buf, table, look, run);
    output(buf, detail, look, run);
}

fn candidates(buf: &mut Buffer, area: Rect, look: &Look, run: &Run) {
    let height = usize::from(area.height);
    let top = (run.focus + 1).saturating_sub(height);
    for (y, index) in (area.y..area.bottom()).zip(top..run.candidates.len()) {
        let focused = index == run.focus;
        let state = badge::of(run, index);
        let verdict = match run.testing(index) {
            Testing::Done(v) => Some(v),
            _ => None,
        };
        let row = Rect { y, height: 1, ..area };
        let name = look.style(Role::Title).add_modifier(if focused { Modifier::REVERSED } else { Modifier::empty() });
        let x = put(buf, row, row.x, y, &format!("{}{:<2}", if focused { '>' } else { ' ' }, label(index)), name);
        let wide = if area.width >= 60 { 18 } else { 10 };
        put(buf, row, x + 1, y, &text::fit(&state.text, wide), look.style(state.role));
        let x = x + wide as u16 + 2;
        let time = verdict
            .map_or(String::new(), |v| format!("{:.2} s", v.duration_ms.max(v.waited_ms.into()) as f64 / 1000.0));
        put(buf, row, x, y, &format!("{time:>8}"), look.style(Role::Muted));
        let mut words = verdict.map_or(String::new(), |v| text::one_line(&v.words()));
        for mark in badge::marks(run, index) {
            words = format!("{}  {words}", mark.text);
        }
        let x = x + 10;
        put(buf, row, x, y, &text::fit(&words, row.right().saturating_sub(x).into()), Style::default());
    }
}

fn output(buf: &mut Buffer, area: Rect, look: &Look, run: &Run) {
    if area.height < 2 {
        return;
    }
    pane::heading(buf, area, area.y, look, run.focus, "");
    let room = usize::from(area.width.saturating_sub(2)).max(1);
    let mut lines: Vec<(String, Style)> = Vec::new();
    let mut add =
        |words: &str, style: Style| lines.extend(text::wrap_words(words, room).into_iter().map(|l| (l, style)));
    match run.testing(run.focus) {
        Testing::None => add("It was not tested.", look.style(Role::Muted)),
        Testing::Queued => add("Its tests have not begun yet.", look.style(Role::Muted)),
        Testing::Running => add("Its tests are running.", look.style(Role::Working)),
        Testing::Refused => {
            add("Its tests were not run: you refused to run them without protection.", look.style(Role::Warn));
        }
        Testing::Fault(why) => add(why, look.style(Role::Error)),
        Testing::Done(verdict) => {
            let state = badge::tested(run.testing(run.focus));
            let role = state.as_ref().map_or(Role::Muted, |b| b.role);
            let word = state.map_or(String::new(), |b| b.text);
            add(&format!("{word}: {}", verdict.words()), look.style(role));
            add(
                if verdict.output.trim().is_empty() { "(it printed nothing)" } else { &verdict.output },
                Style::default(),
            );
        }
    }
    let height = usize::from(area.height - 1);
    let top = look.state.results.unwrap_or(0).min(lines.len().saturating_sub(height));
    for (y, (line, style)) in (area.y + 1..area.bottom()).zip(lines.iter().skip(top)) {
        put(buf, area, area.x + 1, y, line, *style);
    }
}
