//! The table of calls: a row for each input, a column for each candidate, and below it the answers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, put, rule};
use crate::job::label;
use crate::tui::app::calls::rows;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let (Some(run), Some(agreement)) = (state.run.as_ref().filter(|_| !area.is_empty()), state.agreement()) else {
        return;
    };
    let inputs = agreement.inputs.len();
    let differing = agreement.differing().len();
    let right = match differing {
        0 => format!(" {inputs} calls, all do the same "),
        _ => format!(" {inputs} calls, they differ on {differing} "),
    };
    rule(
        buf,
        area,
        area.y,
        look,
        (&format!(" calls: {} ", agreement.words()), look.style(Role::Title)),
        (&right, look.style(Role::Muted)),
    );
    let shown: Vec<usize> = run.shown().into_iter().filter(|&c| agreement.standing(c).is_some()).collect();
    let all = rows(agreement);
    let selected = state.calls.unwrap_or(0).min(all.len().saturating_sub(1));
    let answers = all.get(selected).map_or_else(Vec::new, |&input| agreement.answers(input));
    let rest = area.height.saturating_sub(1);
    let below = u16::try_from(answers.len() + 1).unwrap_or(u16::MAX).min(rest / 2);
    let table = Rect { y: area.y + 1, height: rest - below, ..area };
    let detail = Rect { y: table.bottom(), height: below, ..area };
    let column = shown.iter().map(|&c| label(c).len()).max().unwrap_or(1) + 1;
    let columns = (shown.len() * column).min(usize::from(area.width) / 2);
    let left = area.right() - columns as u16;
    let room = usize::from(left - area.x).saturating_sub(3);
    let style_of = |candidate: usize, style: Style| {
        if candidate == run.focus { style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED) } else { style }
    };
    for (at, &candidate) in shown.iter().enumerate() {
        let x = left + (at * column) as u16;
        put(buf, table, x, table.y, &label(candidate), style_of(candidate, look.style(Role::Title)));
    }
    let height = usize::from(table.height.saturating_sub(1));
    let top = (selected + 1).saturating_sub(height);
    for (y, (row, &input)) in (table.y + 1..table.bottom()).zip(all.iter().enumerate().skip(top)) {
        let is_selected = row == selected;
        let call = agreement.inputs[input].text();
        let is_checked = state.checks.iter().any(|check| check.call == call);
        let mark = match (is_selected, is_checked) {
            (true, _) => ">",
            (false, true) => "=",
            (false, false) => " ",
        };
        let role = if is_checked { Role::Pick } else { Role::Hint };
        let style = look.style(role).add_modifier(if is_selected { Modifier::REVERSED } else { Modifier::empty() });
        put(buf, table, area.x, y, &format!("{mark} {}", text::fit(&text::one_line(&call), room)), style);
        let answers = agreement.answers(input);
        for (at, &candidate) in shown.iter().enumerate() {
            let number = answers.iter().position(|answer| answer.candidates.contains(&candidate));
            let x = left + (at * column) as u16;
            let (words, role) = match number {
                Some(at) if !answers[at].is_told => ("?".to_owned(), Role::Muted),
                Some(0) => ("1".to_owned(), Role::Muted),
                Some(at) => ((at + 1).to_string(), Role::Warn),
                None => ("·".to_owned(), Role::Muted),
            };
            let odd = if number.is_some_and(|at| at > 0) { Modifier::REVERSED } else { Modifier::empty() };
            put(buf, table, x, y, &words, style_of(candidate, look.style(role).add_modifier(odd)));
        }
    }
    let Some(&input) = all.get(selected) else { return };
    let call = agreement.inputs[input].text();
    let check = state.checks.iter().find(|check| check.call == call);
    let example = state.key_name(Context::Calls, Action::Example);
    let asked = match check {
        Some(_) => format!(" right as you said; {example} makes it an example "),
        None => " which is right? press its number ".to_owned(),
    };
    rule(buf, detail, detail.y, look, (&asked, look.style(Role::Muted)), ("", Style::default()));
    for (y, (at, answer)) in (detail.y + 1..detail.bottom()).zip(answers.iter().enumerate()) {
        let names = answer.candidates.iter().map(|&c| label(c)).collect::<Vec<_>>().join(" ");
        let is_right = check.is_some_and(|check| check.shown == answer.shown && answer.is_told);
        let (mark, role) = match (check, is_right) {
            (Some(_), true) => ("✓", Role::Pick),
            (Some(_), false) => ("✗", Role::Fail),
            (None, _) => (" ", Role::Hint),
        };
        let wide = usize::from(detail.width).saturating_sub(text::width(&names) + 8);
        let line = format!("{mark} {}  {}", at + 1, text::fit(&text::one_line(&answer.shown), wide));
        put(buf, detail, detail.x, y, &line, look.style(role));
        let x = detail.right().saturating_sub(text::width(&names) as u16 + 1);
        put(buf, detail, x, y, &names, look.style(Role::Muted));
    }
}
