//! The panel with test results: a line per candidate, the tests that tell them apart, and why the focused one
//! did not pass.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, badge, put, rule};
use crate::job::label;
use crate::tui::app::testing::CAPTURES;
use crate::tui::app::{Candidate, Run, Testing};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let Some(run) = state.run.as_ref().filter(|_| !area.is_empty()) else { return };
    let title = format!(" tests: {} ", text::one_line(&state.job.tests_label));
    let sandbox = format!(" sandbox: {} ", text::one_line(&state.protection.tier));
    rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (&sandbox, look.style(Role::Muted)));
    let rest = area.height.saturating_sub(1);
    let shown = run.shown();
    let matrix = run.matrix();
    let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let lines = rows(shown.len()).min(rest - rest / 2);
    let table = Rect { y: area.y + 1, height: lines, ..area };
    // One test tells nothing that the verdicts do not.
    let tests = if matrix.len() > 1 { rows(matrix.len() + 1).min((rest - lines) / 2) } else { 0 };
    let grid = Rect { y: table.bottom(), height: if tests > 1 { tests } else { 0 }, ..area };
    let detail = Rect { y: grid.bottom(), height: rest - lines - grid.height, ..area };
    candidates(buf, table, look, run, &shown);
    tests_by_candidates(buf, grid, look, run, &shown, &matrix);
    output(buf, detail, look, run);
}

fn candidates(buf: &mut Buffer, area: Rect, look: &Look, run: &Run, shown: &[usize]) {
    let height = usize::from(area.height);
    let focus = shown.iter().position(|&c| c == run.focus).unwrap_or(0);
    let top = (focus + 1).saturating_sub(height);
    let names: Vec<String> = shown.iter().map(|&index| badge::names(run, index, area.width)).collect();
    let widest = names.iter().map(|name| text::width(name)).max().unwrap_or(1).min(usize::from(area.width) / 4);
    for (y, at) in (area.y..area.bottom()).zip(top..shown.len()) {
        let index = shown[at];
        let focused = at == focus;
        let state = badge::of(run, index);
        let verdict = match run.testing(index) {
            Testing::Done(v) => Some(v),
            _ => None,
        };
        let row = Rect { y, height: 1, ..area };
        let name = look.style(Role::Title).add_modifier(if focused { Modifier::REVERSED } else { Modifier::empty() });
        let label = text::padded(&text::fit(&names[at], widest), widest);
        let label = format!("{}{label} ", if focused { '>' } else { ' ' });
        let x = put(buf, row, row.x, y, &label, name);
        let wide = if area.width >= 60 { 18 } else { 10 };
        put(buf, row, x + 1, y, &text::fit(&state.text, wide), look.style(state.role));
        let x = x + wide as u16 + 2;
        let time = verdict
            .map_or(String::new(), |v| format!("{:.2} s", v.duration_ms.max(v.waited_ms.into()) as f64 / 1000.0));
        put(buf, row, x, y, &format!("{time:>8}"), look.style(Role::Muted));
        let mut words = verdict.map_or_else(String::new, badge::words);
        for mark in badge::marks(look.state, index).iter().rev() {
            words = format!("{}  {words}", mark.text);
        }
        let x = x + 10;
        put(buf, row, x, y, &text::fit_reason(&words, row.right().saturating_sub(x).into()), Style::default());
    }
}

/// A row for each test and a column for each candidate.
fn tests_by_candidates(
    buf: &mut Buffer,
    area: Rect,
    look: &Look,
    run: &Run,
    shown: &[usize],
    matrix: &[crate::tui::app::matrix::Row],
) {
    if area.is_empty() {
        return;
    }
    let names: Vec<String> = shown.iter().map(|&candidate| label(candidate)).collect();
    let column = names.iter().map(|name| text::width(name)).max().unwrap_or(1) + 1;
    let columns = (names.len() * column).min(usize::from(area.width) / 2);
    let left = area.right() - columns as u16;
    let room = usize::from(left - area.x).saturating_sub(2);
    let telling = matrix.iter().filter(|row| row.tells()).count();
    let heading = match telling {
        0 => format!("{} tests, none tells them apart", matrix.len()),
        1 => format!("{} tests, 1 tells them apart", matrix.len()),
        n => format!("{} tests, {n} tell them apart", matrix.len()),
    };
    put(buf, area, area.x + 1, area.y, &text::fit(&heading, room), look.style(Role::Muted));
    let style_of = |candidate: usize, style: Style| {
        if candidate == run.focus { style.add_modifier(Modifier::REVERSED) } else { style }
    };
    for (at, name) in names.iter().enumerate() {
        let x = left + (at * column) as u16;
        put(buf, area, x, area.y, name, style_of(shown[at], look.style(Role::Title)));
    }
    let rows = usize::from(area.height.saturating_sub(1));
    let shown_rows = if matrix.len() > rows { rows.saturating_sub(1) } else { rows };
    for (y, row) in (area.y + 1..area.bottom()).zip(matrix.iter().take(shown_rows)) {
        let role = if row.tells() { Role::Hint } else { Role::Muted };
        put(buf, area, area.x + 1, y, &text::fit(&text::one_line(&row.name), room), look.style(role));
        for (at, end) in row.ends.iter().enumerate() {
            let (mark, role) = match end {
                Some(true) => ("✓", Role::Pass),
                Some(false) => ("✗", Role::Fail),
                None => ("·", Role::Muted),
            };
            put(buf, area, left + (at * column) as u16, y, mark, style_of(shown[at], look.style(role)));
        }
    }
    let hidden = matrix.len().saturating_sub(shown_rows);
    if hidden > 0 {
        let more = format!("{hidden} more tests");
        put(buf, area, area.x + 1, area.bottom() - 1, &text::fit(&more, room), look.style(Role::Warn));
    }
}

fn output(buf: &mut Buffer, area: Rect, look: &Look, run: &Run) {
    if area.height < 2 {
        return;
    }
    let state = look.state;
    let name = format!(" {} ", label(run.focus));
    rule(buf, area, area.y, look, (&name, look.style(Role::Title)), ("", look.style(Role::Muted)));
    let room = usize::from(area.width.saturating_sub(2)).max(1);
    let mut lines: Vec<(String, Style)> = Vec::new();
    let mut add =
        |words: &str, style: Style| lines.extend(text::wrap_words(words, room).into_iter().map(|l| (l, style)));
    match run.testing(run.focus) {
        Testing::None if run.focused().is_some_and(Candidate::is_live) => {
            add("It is not written yet.", look.style(Role::Working));
        }
        Testing::None => add("It was not tested.", look.style(Role::Muted)),
        Testing::Queued => add("Its tests have not begun yet.", look.style(Role::Muted)),
        Testing::Running if run.prepares.is_some() => {
            let why = "It waits: your tests run once without a body first, compiling included.";
            add(why, look.style(Role::Working));
        }
        Testing::Running => add("Its tests are running.", look.style(Role::Working)),
        Testing::Refused => {
            add("Its tests were not run: you refused to run them without protection.", look.style(Role::Warn));
        }
        Testing::Marked(verdict) => add(&verdict.words(), look.style(Role::Warn)),
        Testing::Fault(why) => add(why, look.style(Role::Error)),
        Testing::Done(verdict) => {
            let tested = badge::tested(run.testing(run.focus));
            let role = tested.as_ref().map_or(Role::Muted, |b| b.role);
            let word = tested.map_or(String::new(), |b| b.text);
            add(&format!("{word}: {}", verdict.words()), look.style(role));
            if !verdict.assurance.runner.is_empty() {
                add(&format!("run by {}", verdict.assurance.runner), look.style(Role::Muted));
            }
            let printed = verdict.output.trim().lines().count();
            let key = state.key_name(Context::Results, Action::Output);
            match printed {
                0 if CAPTURES.iter().any(|runner| verdict.assurance.runner.contains(runner)) => {}
                0 => add("(it printed nothing)", look.style(Role::Muted)),
                // Where there is room it is shown at once; the key then hides it.
                n if state.output != (n + 4 < usize::from(area.height)) => add(&verdict.output, Style::default()),
                1 => add(&format!("{key} shows the line that it printed"), look.style(Role::Hint)),
                n => add(&format!("{key} shows the {n} lines that it printed"), look.style(Role::Hint)),
            }
        }
    }
    let height = usize::from(area.height - 1);
    let top = state.results.unwrap_or(0).min(lines.len().saturating_sub(height));
    for (y, (line, style)) in (area.y + 1..area.bottom()).zip(lines.iter().skip(top)) {
        put(buf, area, area.x + 1, y, line, *style);
    }
}
