//! The table of calls: a row for each input, a column for each candidate, and below it the answers and the
//! line that one is typed in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;

use super::{Look, put, rule};
use crate::agreement::Answer;
use crate::job::label;
use crate::tui::app::answer::Answering;
use crate::tui::app::calls::{Check, example_hint, rows};
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
    let detail = Detail::of(look, all.get(selected).copied(), usize::from(area.width));
    let rest = area.height.saturating_sub(1);
    let below = u16::try_from(detail.rows() + 1).unwrap_or(u16::MAX).min(rest / 2);
    let table = Rect { y: area.y + 1, height: rest - below, ..area };
    let under = Rect { y: table.bottom(), height: below, ..area };
    let column = shown.iter().map(|&c| label(c).len()).max().unwrap_or(1) + 1;
    let columns = (shown.len() * column).min(usize::from(area.width) / 2);
    let left = area.right() - columns as u16;
    let room = usize::from(left - area.x).saturating_sub(3);
    // Behind each call the answers by their numbers, from one column on in all rows.
    let calls: Vec<String> = all.iter().map(|&input| text::one_line(&agreement.inputs[input].text())).collect();
    let widest = calls.iter().map(|call| text::width(call)).max().unwrap_or(0).min(room / 2);
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
        let answers = agreement.answers(input);
        let behind = room.saturating_sub(widest + 2);
        let words = answers_in(&answers, behind);
        let call = text::fit(&calls[row], widest);
        put(buf, table, area.x, y, &format!("{mark} {call:<widest$}"), style);
        put(buf, table, area.x + widest as u16 + 4, y, &words, look.style(Role::Muted));
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
    detail.draw(buf, under, look);
}

/// The answers to the selected call, and the one that the user types.
struct Detail<'a> {
    answers: Vec<Answer>,
    check: Option<&'a Check>,
    /// By answer: it is the right one.
    is_right: Vec<bool>,
    typed: Option<&'a Answering>,
    /// Why the typed one was refused.
    error: Vec<String>,
}

impl<'a> Detail<'a> {
    fn of(look: &Look<'a>, input: Option<usize>, columns: usize) -> Self {
        let state = look.state;
        let agreement = state.agreement();
        let (mut answers, mut check, mut is_right) = (Vec::new(), None, Vec::new());
        if let Some((agreement, input)) = agreement.zip(input) {
            let call = agreement.inputs[input].text();
            check = state.checks.iter().find(|check| check.call == call);
            answers = agreement.answers(input);
            let is = |answer: &Answer| {
                let observed = agreement.observed(*answer.candidates.first()?, input)?;
                Some(check?.is(observed))
            };
            is_right = answers.iter().map(|answer| is(answer).unwrap_or(false)).collect();
        }
        let typed = state.answering.as_ref();
        let error = typed.and_then(|typed| typed.error.as_deref());
        let error = error.map_or_else(Vec::new, |why| text::wrap_words(why, columns.saturating_sub(4)));
        Self { answers, check, is_right, typed, error }
    }

    /// The right answer that no candidate gives.
    fn missing(&self) -> Option<&Check> {
        self.check.filter(|_| self.typed.is_none() && !self.is_right.contains(&true))
    }

    fn rows(&self) -> usize {
        let lines = usize::from(self.typed.is_some()) + self.error.len() + usize::from(self.missing().is_some());
        lines + self.answers.len()
    }

    fn draw(&self, buf: &mut Buffer, area: Rect, look: &Look) {
        let (state, check) = (look.state, self.check);
        let key = |action| state.key_name(Context::Calls, action);
        let asked = match (self.typed, check) {
            (Some(_), _) => " the right answer, as a value or as `raises` and the error's name ".to_owned(),
            (None, Some(_)) => {
                let next = example_hint(state).map_or_else(String::new, |hint| format!("; {hint}"));
                format!(" right as you said{next} ")
            }
            (None, None) => format!(" which is right? press its number, or {} to type it ", key(Action::TypeAnswer)),
        };
        rule(buf, area, area.y, look, (&asked, look.style(Role::Muted)), ("", Style::default()));
        let mut rows = (area.y + 1..area.bottom()).map(|y| Rect { y, height: 1, ..area });
        if let Some((typed, row)) = self.typed.and_then(|typed| Some((typed, rows.next()?))) {
            let x = put(buf, row, row.x, row.y, "> ", look.style(Role::BorderFocus));
            typed.text.area().render(Rect { x, width: row.right().saturating_sub(x), ..row }, buf);
        }
        for (line, row) in self.error.iter().zip(&mut rows) {
            put(buf, row, row.x + 2, row.y, line, look.style(Role::Error));
        }
        if let Some((missing, row)) = self.missing().and_then(|missing| Some((missing, rows.next()?))) {
            answer(buf, row, look, ("✓ =", &missing.right.shown, "no candidate"), Role::Pick);
        }
        for (row, (at, one)) in rows.zip(self.answers.iter().enumerate()) {
            let names = one.candidates.iter().map(|&c| label(c)).collect::<Vec<_>>().join(" ");
            let (mark, role) = match (check, self.is_right[at]) {
                (Some(_), true) => ("✓", Role::Pick),
                (Some(_), false) => ("✗", Role::Fail),
                (None, _) => (" ", Role::Hint),
            };
            answer(buf, row, look, (&format!("{mark} {}", at + 1), &one.shown, &names), role);
        }
    }
}

/// `1: 0  2: ValueError`, each cut to its share where all do not fit.
fn answers_in(answers: &[Answer], columns: usize) -> String {
    let within = |most: usize| {
        let words = answers.iter().map(|answer| text::fit(&text::one_line(&answer.shown), most));
        (1..).zip(words).map(|(number, words)| format!("{number}: {words}")).collect::<Vec<_>>().join("  ")
    };
    let all = within(columns);
    let share = (columns / answers.len().max(1)).saturating_sub(5);
    if text::width(&all) <= columns { all } else { text::fit(&within(share), columns) }
}

/// A row with an answer, and at its right the candidates that give it.
fn answer(buf: &mut Buffer, row: Rect, look: &Look, (mark, shown, names): (&str, &str, &str), role: Role) {
    // Many names leave the answer half of the row.
    let names = text::fit(names, usize::from(row.width / 2).saturating_sub(2));
    let wide = usize::from(row.width).saturating_sub(text::width(&names) + 8);
    let line = format!("{mark}  {}", text::fit(&text::one_line(shown), wide));
    put(buf, row, row.x, row.y, &line, look.style(role));
    let x = row.right().saturating_sub(text::width(&names) as u16 + 1);
    put(buf, row, x, row.y, &names, look.style(Role::Muted));
}
