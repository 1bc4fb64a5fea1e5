//! Below the table of calls: the selected call if its row cuts it, the answers to it, and the line that one
//! is typed in.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use super::answers::{lines as lines_of, shown};
use super::{Look, put, rule};
use crate::agreement::Answer;
use crate::job::label;
use crate::tui::app::answer::Answering;
use crate::tui::app::calls::{Check, NUMBERED};
use crate::tui::app::example::example_hint;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Rows of the selected call, and of each answer, that they get before the table has all its rows.
pub const FEW: usize = 3;
/// Columns of a row beside an answer and the names of its candidates.
const BESIDE: usize = 8;

/// The selected call, the answers to it, and the one that the user types.
pub struct Detail<'a> {
    /// The call in lines.
    call: Vec<String>,
    answers: Vec<Answer>,
    /// By answer: the candidates that give it, and all of it in lines.
    names: Vec<String>,
    whole: Vec<Vec<String>>,
    /// Columns of an answer.
    columns: usize,
    check: Option<&'a Check>,
    /// By answer: it is the right one.
    is_right: Vec<bool>,
    typed: Option<&'a Answering>,
    /// Why the typed one was refused.
    error: Vec<String>,
}

impl<'a> Detail<'a> {
    pub fn of(look: &Look<'a>, input: Option<usize>, columns: usize) -> Self {
        let state = look.state;
        let agreement = state.agreement();
        let (mut lines, mut answers, mut check, mut is_right) = (Vec::new(), Vec::new(), None, Vec::new());
        if let Some((agreement, input)) = agreement.zip(input) {
            let call = agreement.inputs[input].text();
            lines = text::wrap_words(&text::one_line(&call), columns.saturating_sub(4));
            check = state.checks.iter().find(|check| check.call == call);
            answers = state.run.as_ref().map_or_else(Vec::new, |run| run.answers(input));
            let is = |answer: &Answer| {
                let observed = agreement.observed(*answer.candidates.first()?, input)?;
                Some(check?.is(observed))
            };
            is_right = answers.iter().map(|answer| is(answer).unwrap_or(false)).collect();
        }
        let typed = state.answering.as_ref();
        let error = typed.and_then(|typed| typed.error.as_deref());
        let error = error.map_or_else(Vec::new, |why| text::wrap_words(why, columns.saturating_sub(4)));
        let names: Vec<String> = answers.iter().take(NUMBERED).map(|answer| names(answer, columns)).collect();
        let widest = names.iter().map(|names| text::width(names)).max().unwrap_or(0);
        let wide = columns.saturating_sub(widest + BESIDE).max(1);
        let whole = lines_of(&shown(&answers[..names.len()]), wide, usize::MAX);
        Self { call: lines, answers, names, whole, columns: wide, check, is_right, typed, error }
    }

    /// The right answer that no candidate gives.
    fn missing(&self) -> Option<&Check> {
        self.check.filter(|_| self.typed.is_none() && !self.is_right.contains(&true))
    }

    /// Rows of what is neither the call nor an answer to it.
    fn others(&self) -> usize {
        1 + usize::from(self.typed.is_some()) + self.error.len() + usize::from(self.missing().is_some())
    }

    /// Rows of all with so many lines of the call, and of each answer.
    pub fn rows(&self, lines: usize, each: usize) -> usize {
        self.others() + self.call.len().min(lines) + self.offered(each)
    }

    /// Rows of the answers that have a number, of so many lines each, and of the others.
    fn offered(&self, each: usize) -> usize {
        let numbered: usize = self.whole.iter().map(|lines| lines.len().min(each)).sum();
        numbered + usize::from(self.answers.len() > NUMBERED)
    }

    /// Lines of each answer in so many rows, with a few lines of the call where it is shown.
    fn each(&self, rows: usize, has_call: bool) -> usize {
        let longest = self.whole.iter().map(Vec::len).max().unwrap_or(1);
        let call = if has_call { FEW } else { 0 };
        (1..=longest).rev().find(|&each| self.rows(call, each) <= rows).unwrap_or(1)
    }

    /// Lines of the call in so many rows: as many as the answers leave, and a few in any case.
    fn lines(&self, rows: usize, each: usize) -> Vec<String> {
        let room = rows.saturating_sub(self.others());
        let most = room.saturating_sub(self.offered(each)).max(FEW.min(room / 2)).max(1).min(room);
        let mut lines = self.call.clone();
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                last.push('…');
            }
        }
        lines
    }

    /// `has_call`: the call itself is shown, too.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, look: &Look, has_call: bool) {
        let (state, check) = (look.state, self.check);
        let key = |action| state.key_name(Context::Calls, action);
        let asked = match (self.typed, check) {
            (Some(Answering { call: None, .. }), _) => {
                " a call of your own: all candidates are called on it ".to_owned()
            }
            (Some(_), _) => " the right answer, as a value or as `raises` and the error's name ".to_owned(),
            (None, Some(check)) => {
                let next = example_hint(state, check);
                let next = next.map_or_else(String::new, |hint| format!("; {hint}"));
                format!(" right as you said{next} ")
            }
            (None, None) => format!(
                " which is right? press its number, or {} to type it; {} calls all on more ",
                key(Action::TypeAnswer),
                key(Action::OwnCall)
            ),
        };
        rule(buf, area, area.y, look, (&asked, look.style(Role::Muted)), ("", Style::default()));
        let mut rows = (area.y + 1..area.bottom()).map(|y| Rect { y, height: 1, ..area });
        let each = self.each(area.height.into(), has_call);
        let lines = if has_call { self.lines(area.height.into(), each) } else { Vec::new() };
        for (line, row) in lines.iter().zip(&mut rows) {
            put(buf, row, row.x + 2, row.y, line, Style::default());
        }
        if let Some((typed, row)) = self.typed.and_then(|typed| Some((typed, rows.next()?))) {
            let x = put(buf, row, row.x, row.y, "> ", look.style(Role::BorderFocus));
            typed.text.area().render(Rect { x, width: row.right().saturating_sub(x), ..row }, buf);
        }
        for (line, row) in self.error.iter().zip(&mut rows) {
            put(buf, row, row.x + 2, row.y, line, look.style(Role::Error));
        }
        if let Some((missing, row)) = self.missing().and_then(|missing| Some((missing, rows.next()?))) {
            let shown = text::fit(&text::one_line(&missing.right.shown), self.columns);
            answer(buf, row, look, ("✓ =", &shown, "no candidate"), Role::Pick);
        }
        let texts = shown(&self.answers[..self.names.len()]);
        for (at, lines) in lines_of(&texts, self.columns, each).iter().enumerate() {
            let (mark, role) = match (check, self.is_right[at]) {
                (Some(_), true) => ("✓", Role::Pick),
                (Some(_), false) => ("✗", Role::Fail),
                (None, _) => (" ", Role::Hint),
            };
            let mut heads = vec![(format!("{mark} {}", at + 1), self.names[at].as_str())];
            heads.resize(lines.len(), ("   ".to_owned(), ""));
            for ((line, (mark, names)), row) in lines.iter().zip(heads).zip(rows.by_ref()) {
                answer(buf, row, look, (&mark, line, names), role);
            }
        }
        if let Some(row) = rows.next().filter(|_| self.answers.len() > NUMBERED) {
            let more =
                format!("     and {} more: {} types one", self.answers.len() - NUMBERED, key(Action::TypeAnswer));
            put(buf, row, row.x, row.y, &more, look.style(Role::Muted));
        }
    }
}

/// The candidates that give an answer. Many names leave the answer half of the row.
fn names(answer: &Answer, columns: usize) -> String {
    let mut names = answer.candidates.iter().map(|&c| label(c)).collect::<Vec<_>>().join(" ");
    if answer.is_before {
        names.insert_str(0, "as before  ");
    }
    text::fit(&names, (columns / 2).saturating_sub(2))
}

/// A row with a line of an answer, and at its right the candidates that give it.
fn answer(buf: &mut Buffer, row: Rect, look: &Look, (mark, line, names): (&str, &str, &str), role: Role) {
    put(buf, row, row.x, row.y, &format!("{mark}  {line}"), look.style(role));
    let x = row.right().saturating_sub(text::width(names) as u16 + 1);
    put(buf, row, x, row.y, names, look.style(Role::Muted));
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{draw, text};
    use crate::agreement::{Agreement, Witness};
    use crate::trial::Input;
    use crate::tui::app::Msg;
    use crate::tui::app::calls::tests::{called_as, returns};
    use crate::tui::app::fixture::{Session, body};

    /// The table of so many calls on which two candidates sort in place, each in its own order.
    fn sorted(calls: usize) -> Session {
        let names = ["Christopher", "Alexander", "Benjamin", "Elizabeth", "Gabriella"];
        let list = |reversed: bool| {
            let all: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            if reversed { all.into_iter().rev().collect::<Vec<_>>().join(", ") } else { all.join(", ") }
        };
        let input = |n| Input { callee: "f".to_owned(), arguments: format!("[{n}]"), ..Input::default() };
        let inputs: Vec<Input> = (0..calls).map(input).collect();
        let witness = |(c, is_last): (usize, bool)| {
            let shown = format!("[{}], and argument 1 is [{}]", list(false), list(is_last));
            Witness { members: vec![c], votes: 1, observed: vec![returns(&shown); calls] }
        };
        let witnesses = [(0, false), (1, true)].map(witness);
        let mut session = called_as(&[body(0), body(1)], Agreement::of(inputs.into(), witnesses.to_vec()));
        session.key("b");
        if calls > 3 {
            session.key("o");
            session.wait(60_000);
        }
        session
    }

    fn shown(session: &mut Session, width: u16, height: u16) -> Vec<String> {
        session.send(Msg::Resize(width, height));
        text(&draw(&session.state, width, height)).lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_long_answer_has_lines_of_its_own() {
        let mut session = sorted(40);
        let all = shown(&mut session, 80, 24);
        let at = all.iter().position(|line| line.starts_with("  1  [")).unwrap();
        let first = "  1  ['Christopher', 'Alexander', 'Benjamin', 'Elizabeth', 'Gabriella'], and";
        assert!(all[at].starts_with(first) && all[at].ends_with(" A"), "{all:?}");
        assert!(all[at + 1].starts_with("     argument 1 is ['Christopher', 'Alexander', 'Benjamin',"), "{all:?}");
        assert_eq!(all[at + 2].trim(), "'Gabriella']", "{all:?}");
        assert!(all[at + 3].starts_with("  2  [") && all[at + 4].contains("argument 1 is ['Gabriella', "), "{all:?}");
        assert!(all.iter().filter(|line| line.contains("f([")).count() > 8, "{all:?}");
    }

    #[test]
    fn an_answer_that_is_cut_keeps_its_label_and_its_difference() {
        let mut session = sorted(3);
        let all = shown(&mut session, 80, 9);
        let line = |mark: &str| all.iter().find(|line| line.starts_with(mark)).unwrap();
        assert!(line("  1  ").contains("…, and argument 1 is ['Christopher', "), "{all:?}");
        assert!(line("  2  ").contains("…, and argument 1 is ['Gabriella', "), "{all:?}");
    }
}
