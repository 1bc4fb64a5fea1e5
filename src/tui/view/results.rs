//! The panel with test results: a line per candidate, the tests that tell them apart, and why the focused one
//! did not pass.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, badge, code, put, rule};
use crate::job::label;
use crate::tui::app::testing::CAPTURES;
use crate::tui::app::{Candidate, Run, State, Testing};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Rows that an output needs beside its own, to be shown without being asked for.
const BESIDE: usize = 4;

/// Places in the panel, below its title.
struct Parts {
    /// A line per candidate.
    table: Rect,
    /// Tests by candidates.
    grid: Rect,
    /// The focused candidate.
    detail: Rect,
    /// Its output was asked for, and has the rows of the grid.
    is_output: bool,
}

impl Parts {
    fn of(state: &State, run: &Run, area: Rect) -> Self {
        let rest = area.height.saturating_sub(1);
        let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let lines = rows(run.shown().len()).min(rest - rest / 2);
        let table = Rect { y: area.y + 1, height: lines, ..area };
        // One test tells nothing that the verdicts do not.
        let all = run.matrix().len();
        let tests = if all > 1 { rows(all + 1).min((rest - lines) / 2) } else { 0 };
        let grid = Rect { y: table.bottom(), height: if tests > 1 { tests } else { 0 }, ..area };
        let printed = run.testing(run.focus).verdict().map_or(0, |verdict| verdict.output.trim().lines().count());
        let has_room = printed + BESIDE < usize::from(rest - lines - grid.height);
        let is_output = state.output && printed > 0 && !has_room;
        let grid = if is_output { Rect { height: 0, ..grid } } else { grid };
        let detail = Rect { y: grid.bottom(), height: rest - lines - grid.height, ..area };
        Self { table, grid, detail, is_output }
    }

    /// Rows of the text about the focused candidate.
    fn rows(&self) -> usize {
        usize::from(self.detail.height.saturating_sub(1))
    }

    /// Tests that have a row.
    fn tests(&self, all: usize) -> usize {
        let rows = usize::from(self.grid.height.saturating_sub(1));
        if all > rows { rows.saturating_sub(1) } else { rows }
    }
}

/// Lines of a page of the text about the focused candidate, and its last line that can be the first in view.
pub fn scrolling(state: &State) -> (usize, usize) {
    let Some(run) = &state.run else { return (1, 0) };
    let parts = Parts::of(state, run, state.layout().results);
    let lines = about(state, run, &parts).len();
    (parts.rows().saturating_sub(1).max(1), lines.saturating_sub(parts.rows()))
}

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let Some(run) = state.run.as_ref().filter(|_| !area.is_empty()) else { return };
    let parts = Parts::of(state, run, area);
    let shown = run.shown();
    let focus = shown.iter().position(|&c| c == run.focus).unwrap_or(0);
    let height = usize::from(parts.table.height);
    let top = (focus + 1).saturating_sub(height);
    let hidden = code::hidden(top, shown.len().saturating_sub(top + height));
    let title = format!(" tests: {} ", text::one_line(&state.job.tests_label));
    let sandbox = format!("{hidden} sandbox: {} ", text::one_line(&state.protection.tier));
    let role = if hidden.is_empty() { Role::Muted } else { Role::Warn };
    rule(buf, area, area.y, look, (&title, look.style(Role::Title)), (&sandbox, look.style(role)));
    candidates(buf, parts.table, look, run, &shown[top..]);
    tests_by_candidates(buf, &parts, look, run, &shown);
    detail(buf, &parts, look, run);
}

fn candidates(buf: &mut Buffer, area: Rect, look: &Look, run: &Run, shown: &[usize]) {
    let names: Vec<String> = shown.iter().map(|&index| badge::names(run, index, area.width)).collect();
    let widest = names.iter().map(|name| text::width(name)).max().unwrap_or(1).min(usize::from(area.width) / 4);
    for (y, (at, &index)) in (area.y..area.bottom()).zip(shown.iter().enumerate()) {
        let focused = index == run.focus;
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
        let wrong = look.state.wrong_answer(index).filter(|_| run.testing(index).passed());
        let mut words = wrong.unwrap_or_else(|| verdict.map_or_else(String::new, badge::words));
        for mark in badge::marks(look.state, index).iter().rev() {
            words = format!("{}  {words}", mark.text);
        }
        let x = x + 10;
        put(buf, row, x, y, &text::fit_reason(&words, row.right().saturating_sub(x).into()), Style::default());
    }
}

/// A row for each test and a column for each candidate.
fn tests_by_candidates(buf: &mut Buffer, parts: &Parts, look: &Look, run: &Run, shown: &[usize]) {
    let (area, matrix) = (parts.grid, run.matrix());
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
    let shown_rows = parts.tests(matrix.len());
    for (y, row) in (area.y + 1..area.bottom()).zip(matrix.iter().take(shown_rows)) {
        let role = if row.tells() { Role::Hint } else { Role::Muted };
        put(buf, area, area.x + 1, y, &text::fit(&text::one_line(&row.name), room), look.style(role));
        for (at, end) in row.ends.iter().enumerate() {
            let (mark, role) = ended(*end);
            put(buf, area, left + (at * column) as u16, y, mark, style_of(shown[at], look.style(role)));
        }
    }
    let hidden = matrix.len().saturating_sub(shown_rows);
    if hidden > 0 {
        let more = format!("{hidden} more tests, listed below");
        put(buf, area, area.x + 1, area.bottom() - 1, &text::fit(&more, room), look.style(Role::Warn));
    }
}

/// The text about the focused candidate, as far as it is in view.
fn detail(buf: &mut Buffer, parts: &Parts, look: &Look, run: &Run) {
    let area = parts.detail;
    if area.height < 2 {
        return;
    }
    let lines = about(look.state, run, parts);
    let last = lines.len().saturating_sub(parts.rows());
    let top = look.state.results.unwrap_or(0).min(last);
    let name = format!(" {} ", label(run.focus));
    let hidden = code::hidden(top, last - top);
    rule(buf, area, area.y, look, (&name, look.style(Role::Title)), (&hidden, look.style(Role::Warn)));
    for (y, (line, role)) in (area.y + 1..area.bottom()).zip(&lines[top..]) {
        put(buf, area, area.x + 1, y, line, role.map_or_else(Style::default, |role| look.style(role)));
    }
}

/// Lines about the tests of the focused candidate, with their roles.
fn about(state: &State, run: &Run, parts: &Parts) -> Vec<(String, Option<Role>)> {
    let room = usize::from(parts.detail.width.saturating_sub(2)).max(1);
    let mut lines: Vec<(String, Option<Role>)> = Vec::new();
    let mut add = |words: &str, role: Option<Role>| {
        lines.extend(text::wrap_words(words, room).into_iter().map(|line| (line, role)));
    };
    if let Some(wrong) = state.wrong_answer(run.focus) {
        add(&format!("WRONG ANSWER: {wrong}"), Some(Role::Fail));
    }
    let verdict = match run.testing(run.focus) {
        Testing::Done(verdict) => verdict,
        other => {
            let is_live = run.focused().is_some_and(Candidate::is_live);
            let (words, role) = unsettled(other, run.prepares.is_some(), is_live);
            add(&words, Some(role));
            return lines;
        }
    };
    let tested = badge::tested(run.testing(run.focus));
    let role = tested.as_ref().map_or(Role::Muted, |b| b.role);
    // The word of a pass would contradict the answer of the user.
    let is_refuted = run.status(run.focus) != Some(verdict.status);
    let word = if is_refuted { "its tests".to_owned() } else { tested.map_or(String::new(), |b| b.text) };
    let words = format!("{word}: {}", verdict.without_remark(&verdict.words()));
    // An output that was asked for is in view.
    let words = if parts.is_output { text::fit_reason(&text::one_line(&words), room) } else { words };
    add(&words, Some(role));
    let printed = verdict.output.trim().lines().count();
    let key = state.key_name(Context::Results, Action::Output);
    match printed {
        0 if CAPTURES.iter().any(|runner| verdict.assurance.runner.contains(runner)) => {}
        0 => add("(it printed nothing)", Some(Role::Muted)),
        // Where there is room it is shown at once; the key then hides it.
        n if state.output != (n + BESIDE < usize::from(parts.detail.height)) || parts.is_output => {
            add(&verdict.output, None);
        }
        1 => add(&format!("{key} shows the line that it printed"), Some(Role::Hint)),
        n => add(&format!("{key} shows the {n} lines that it printed"), Some(Role::Hint)),
    }
    if !verdict.assurance.runner.is_empty() {
        add(&format!("run by {}", verdict.assurance.runner), Some(Role::Muted));
    }
    let shown = run.shown();
    let matrix = run.matrix();
    let column = shown.iter().position(|&c| c == run.focus).filter(|_| matrix.len() > 1);
    // The tests without a row above.
    for row in matrix.iter().skip(parts.tests(matrix.len())) {
        let Some(end) = column.and_then(|column| row.ends.get(column)) else { break };
        let (mark, role) = ended(*end);
        add(&format!("{mark} {}", text::one_line(&row.name)), Some(role));
    }
    // All candidates have it, so it comes last.
    add(verdict.assurance.left_out.remark().trim(), Some(Role::Muted));
    lines
}

/// Says that there is no verdict yet, or why there is none.
fn unsettled(testing: &Testing, prepares: bool, is_live: bool) -> (String, Role) {
    let (words, role) = match testing {
        Testing::None if is_live => ("It is not written yet.", Role::Working),
        Testing::Queued => ("Its tests have not begun yet.", Role::Muted),
        Testing::Running if prepares => {
            ("It waits: your tests run once without a body first, compiling included.", Role::Working)
        }
        Testing::Running => ("Its tests are running.", Role::Working),
        Testing::Refused => ("Its tests were not run: you refused to run them without protection.", Role::Warn),
        Testing::Marked(verdict) => return (verdict.words(), Role::Warn),
        Testing::Fault(why) => return (why.clone(), Role::Error),
        Testing::None | Testing::Done(_) => ("It was not tested.", Role::Muted),
    };
    (words.to_owned(), role)
}

/// The mark of a test that passed, failed, or did not run.
fn ended(end: Option<bool>) -> (&'static str, Role) {
    match end {
        Some(true) => ("✓", Role::Pass),
        Some(false) => ("✗", Role::Fail),
        None => ("·", Role::Muted),
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{draw, text};
    use crate::trial::{LeftOut, Status};
    use crate::tui::app::Msg;
    use crate::tui::app::calls::tests::called;
    use crate::tui::app::fixture::{Session, body};
    use crate::tui::app::matrix::tests::verdict_beside;

    /// Sixteen candidates that fail some of eight tests, on a small screen.
    fn failing() -> Session {
        let mut session = Session::tested(16);
        session.key("g");
        (0..16).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
        session.done();
        let names: Vec<String> = (0..8).map(|n| format!("test_{n}")).collect();
        let words = "left out, as they fail without calling the function: test_old; it says no ".repeat(4);
        let left_out = LeftOut { names: vec!["test_old".to_owned()], words };
        for candidate in 0..16 {
            let checks: Vec<(&str, bool)> = names.iter().map(|name| (name.as_str(), candidate > 8)).collect();
            verdict_beside(&mut session, candidate, "gave 1", &checks, &left_out);
        }
        session.send(Msg::Resize(80, 24));
        session.key("1");
        session.key("t");
        session
    }

    fn shown(session: &Session) -> String {
        text(&draw(&session.state, 80, 24))
    }

    #[test]
    fn all_candidates_and_all_tests_can_be_reached() {
        let mut session = failing();
        let first = shown(&session);
        assert!(first.contains("↓ 6 more  sandbox") && first.contains("PgDn more"), "{first}");
        assert!(first.contains("6 more tests, listed below") && !first.contains("test_7"), "{first}");
        assert!(first.contains("FAIL: gave 1\n"), "{first}");
        let mut seen = first;
        for _ in 0..4 {
            session.key("pgdn");
            seen.push_str(&shown(&session));
        }
        for words in ["✗ test_2", "✗ test_7", "(left out, as they fail", "it says no )", "↑ "] {
            assert!(seen.contains(words), "{words}: {seen}");
        }
        assert!(shown(&session).lines().any(|line| line.starts_with("─ A ") && !line.contains('↓')), "the end");
        // Keys beyond the end count for nothing.
        session.key("pgdn");
        let before = shown(&session);
        session.key("pgup");
        assert_ne!(shown(&session), before);
        (0..15).for_each(|_| drop(session.key("j")));
        assert!(shown(&session).contains("↑ 6 more  sandbox"), "{}", shown(&session));
    }

    #[test]
    fn a_pass_that_an_answer_refutes_says_why() {
        let mut session = called();
        for key in ["b", "2", "w"] {
            session.key(key);
        }
        (0..3).for_each(|candidate| drop(session.verdict(candidate, Status::Passed, "")));
        for key in ["esc", "1", "t"] {
            session.key(key);
        }
        let row = "  mean([]) raised Zero";
        assert!(shown(&session).contains(row), "{}", shown(&session));
        let reason = "WRONG ANSWER: mean([]) raised ZeroDivisionError: division by zero, expected 0";
        let results = shown(&session);
        assert!(results.contains(reason) && results.contains(" its tests:"), "{results}");
        assert!(results.contains("C  PASS") && !results.contains("A  PASS"), "{results}");
    }

    #[test]
    fn an_output_that_is_asked_for_is_in_view() {
        let mut session = failing();
        let run = session.run().id;
        let mut outcome = session.run().testing(0).verdict().unwrap().clone();
        session.key("T");
        outcome.output = (0..20).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        session.send(Msg::Job { run, event: crate::job::Event::Verdict { candidate: 0, outcome: Ok(outcome) } });
        assert!(shown(&session).contains("o shows the 20 lines that it printed"), "{}", shown(&session));
        session.key("o");
        let output = shown(&session);
        assert!(output.contains("line 0") && output.contains("line 5") && output.contains("↓ "), "{output}");
        session.key("o");
        assert!(!shown(&session).contains("line 0"));
    }
}
