//! The table of calls: a row for each input, and a column for each candidate. Below it is the selected call.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::answers::answers_in;
use super::cut::call;
use super::selected::{Detail, FEW};
use super::{Look, put, rule};
use crate::agreement::{Agreement, Answer};
use crate::job::label;
use crate::tui::app::Run;
use crate::tui::app::calls::NUMBERED;
use crate::tui::text;
use crate::tui::theme::Role;

/// In fewer rows than this the selected call and its answers matter more than the table.
const SMALL: usize = 10;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let (Some(run), Some(agreement)) = (state.run.as_ref().filter(|_| !area.is_empty()), state.agreement()) else {
        return;
    };
    let table = Table::of(look, run, agreement, area.width);
    let detail = Detail::of(look, table.all.get(table.selected).copied(), usize::from(area.width));
    let is_cut = table.cuts(table.selected);
    let (above, under) = parts(area, table.all.len(), is_cut, &detail);
    if above.is_empty() {
        return detail.draw(buf, under, look, true);
    }
    let (inputs, agreeing) = (agreement.inputs.len(), run.agreeing());
    let calls = if inputs == 1 { "1 call".to_owned() } else { format!("{inputs} calls") };
    let running = run.comparing().into_iter().map(label).collect::<Vec<_>>().join(" ");
    let uncompared = run.uncompared_words();
    let words = match agreeing {
        Some(agreeing) if running.is_empty() => {
            let words = run.tie().unwrap_or_else(|| agreeing.words());
            match &uncompared {
                Some(uncompared) if agreeing.groups().len() == agreeing.called() => format!(" calls: {uncompared} "),
                Some(uncompared) => format!(" calls: {words}, {uncompared} "),
                None => format!(" calls: {words} "),
            }
        }
        Some(agreeing) if agreeing.tells() => format!(" calls: {}, {running} still running ", agreeing.words()),
        None if running.is_empty() => " calls ".to_owned(),
        _ => format!(" calls: {running} still running "),
    };
    let shown = agreeing.unwrap_or(agreement);
    // Rows show what all do, also those that did not pass.
    let all = agreement.differing().len();
    let right = match shown.differing().len() {
        0 if !shown.tells() => format!(" {calls} "),
        0 if agreement.counted() < 2 => format!(" {calls} "),
        0 if shown.is_one() && all > 0 => format!(" {calls}, they differ on {all}, those that passed on none "),
        0 if shown.constant().is_some() => format!(" {calls} with one result, which tells little "),
        0 if shown.is_one() => format!(" {calls}, all do the same "),
        0 if uncompared.is_some() => format!(" {calls}, no other results differ "),
        0 => format!(" {calls}, no results differ "),
        passed if passed < all => format!(" {calls}, they differ on {all}, those that passed on {passed} "),
        _ => format!(" {calls}, they differ on {all} "),
    };
    let right = match agreement.changes(run.focus) {
        Some(changes) => format!("{}, {} changes {} ", right.trim_end(), label(run.focus), changes.len()),
        None => right,
    };
    let is_part = agreeing.is_some_and(|agreeing| agreeing.called() < agreement.called());
    let fits = text::width(&words) + text::width(&right) + 3 <= usize::from(area.width);
    // The numbers in the rows are of all, so it is said where only some are meant.
    let (words, right) = if is_part && !fits {
        (words.replacen(" calls", " calls, those that passed", 1), format!(" of all: they differ on {all} "))
    } else {
        (words, right)
    };
    rule(buf, area, area.y, look, (&words, look.style(Role::Title)), (&right, look.style(Role::Muted)));
    table.draw(buf, above);
    detail.draw(buf, under, look, is_cut);
}

/// Places of the table, under its title, and of what is said about the selected call. The table is left out
/// where there is too little room for both.
fn parts(area: Rect, calls: usize, is_cut: bool, detail: &Detail) -> (Rect, Rect) {
    let rest = usize::from(area.height.saturating_sub(1));
    let most = rest.saturating_sub(1 + (rest / 8).max(1));
    let call = if is_cut { FEW } else { 0 };
    // Answers are not cut as long as the table keeps half of the rows.
    let few = (1..=FEW).rev().map(|lines| detail.rows(call, lines)).find(|rows| 2 * rows <= rest);
    let few = few.unwrap_or_else(|| detail.rows(call, 1));
    if few > most && rest < SMALL {
        return (Rect { height: 0, ..area }, area);
    }
    let whole = detail.rows(if is_cut { usize::MAX } else { 0 }, usize::MAX);
    let below = few.max(whole.min(rest.saturating_sub(1 + calls))).min(most) as u16;
    let above = Rect { y: area.y + 1, height: area.height - 1 - below, ..area };
    (above, Rect { y: above.bottom(), height: below, ..area })
}

/// The calls, and which candidate gives which answer.
struct Table<'a> {
    look: &'a Look<'a>,
    run: &'a Run,
    agreement: &'a Agreement,
    /// The candidates that were called.
    shown: Vec<usize>,
    /// The inputs, and the calls as they are written.
    all: Vec<usize>,
    calls: Vec<String>,
    /// The selected row.
    selected: usize,
    /// Columns of a candidate, and of all.
    column: usize,
    columns: usize,
    /// Columns left of them, and most of a call that has answers behind it.
    room: usize,
    widest: usize,
    /// `+14 like it`, by the input whose row stands for others, and the columns of these words.
    like: HashMap<usize, String>,
    likeness: usize,
    /// The inputs on which the candidate in focus does something else than the function did.
    changes: Vec<usize>,
}

impl<'a> Table<'a> {
    fn of(look: &'a Look<'a>, run: &'a Run, agreement: &'a Agreement, width: u16) -> Self {
        let comparing = run.comparing();
        let is_called = |c: &usize| agreement.standing(*c).is_some() || comparing.contains(c);
        let shown: Vec<usize> = run.shown().into_iter().filter(is_called).collect();
        let all = run.called_on();
        let selected = look.state.calls.unwrap_or(0).min(all.len().saturating_sub(1));
        let column = shown.iter().map(|&c| label(c).len()).max().unwrap_or(1) + 1;
        let columns = (shown.len() * column).min(usize::from(width) / 2);
        let room = (usize::from(width) - columns).saturating_sub(3);
        let calls: Vec<String> = all.iter().map(|&input| text::one_line(&agreement.inputs[input].text())).collect();
        let widest = calls.iter().map(|call| text::width(call)).max().unwrap_or(0);
        let like: HashMap<usize, String> =
            run.calls_like().into_iter().map(|(input, others)| (input, format!("+{others} like it  "))).collect();
        let likeness = like.values().map(|words| text::width(words)).max().unwrap_or(0);
        // Short answers leave more than half of the row.
        let in_full = all.iter().map(|&input| likeness + text::width(&answers_in(&run.answers(input), usize::MAX)));
        let widest = widest.min(room.saturating_sub(in_full.max().unwrap_or(0) + 2).max(room / 2));
        let changes = agreement.changes(run.focus).unwrap_or_default();
        Self {
            look,
            run,
            agreement,
            shown,
            all,
            calls,
            selected,
            column,
            columns,
            room,
            widest,
            like,
            likeness,
            changes,
        }
    }

    /// How many calls the row of this one stands for, and its answers; empty where nothing could be read.
    fn behind(&self, input: usize, answers: &[Answer]) -> String {
        let like = self.like.get(&input).map_or("", String::as_str);
        let answers = answers_in(answers, self.room.saturating_sub(self.widest + 2 + self.likeness));
        (text::padded(like, self.likeness) + &answers).trim_end().to_owned()
    }

    /// Columns of a call with these words behind it: all that they leave.
    fn most(&self, behind: &str) -> usize {
        let taken = if behind.is_empty() { 0 } else { text::width(behind) + 2 };
        self.widest.max(self.room.saturating_sub(taken)).min(self.room)
    }

    /// The row does not show its whole call.
    fn cuts(&self, row: usize) -> bool {
        let (Some(&input), Some(call)) = (self.all.get(row), self.calls.get(row)) else { return false };
        text::width(call) > self.most(&self.behind(input, &self.run.answers(input)))
    }

    fn style_of(&self, candidate: usize, style: Style) -> Style {
        if candidate == self.run.focus { style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED) } else { style }
    }

    fn draw(&self, buf: &mut Buffer, area: Rect) {
        let (look, state) = (self.look, self.look.state);
        let left = area.right() - self.columns as u16;
        for (at, &candidate) in self.shown.iter().enumerate() {
            let x = left + (at * self.column) as u16;
            put(buf, area, x, area.y, &label(candidate), self.style_of(candidate, look.style(Role::Title)));
        }
        let height = usize::from(area.height.saturating_sub(1));
        let top = (self.selected + 1).saturating_sub(height);
        for (y, (row, &input)) in (area.y + 1..area.bottom()).zip(self.all.iter().enumerate().skip(top)) {
            let is_selected = row == self.selected;
            let is_checked = state.checks.iter().any(|check| check.call == self.agreement.inputs[input].text());
            let mark = match (is_selected, is_checked) {
                (true, _) => ">",
                (false, true) => "=",
                // It does something else than the function did.
                _ if self.changes.contains(&input) => "*",
                _ => " ",
            };
            let role = if is_checked { Role::Pick } else { Role::Hint };
            let style = look.style(role).add_modifier(if is_selected { Modifier::REVERSED } else { Modifier::empty() });
            let answers = self.run.answers(input);
            let behind = self.behind(input, &answers);
            let (call, widest) = (call(&self.calls, row, self.most(&behind)), self.widest);
            // From one column on in all rows that have any, but for calls that need the columns.
            let x = put(buf, area, area.x, y, &format!("{mark} {}", text::padded(&call, widest)), style);
            put(buf, area, x + 2, y, &behind, look.style(Role::Muted));
            self.numbers(buf, Rect { x: left, y, width: self.columns as u16, height: 1 }, &answers);
        }
    }

    /// The number of each candidate's answer.
    fn numbers(&self, buf: &mut Buffer, area: Rect, answers: &[Answer]) {
        for (at, &candidate) in self.shown.iter().enumerate() {
            let number = answers.iter().position(|answer| answer.candidates.contains(&candidate));
            let (words, role) = match number {
                Some(at) if !answers[at].is_told => ("?".to_owned(), Role::Muted),
                Some(0) => ("1".to_owned(), Role::Muted),
                // Two digits would run into the next column.
                Some(at) if at >= NUMBERED => ("+".to_owned(), Role::Warn),
                Some(at) => ((at + 1).to_string(), Role::Warn),
                None if self.agreement.standing(candidate).is_none() => ("…".to_owned(), Role::Working),
                None => ("·".to_owned(), Role::Muted),
            };
            let odd = if number.is_some_and(|at| at > 0) { Modifier::REVERSED } else { Modifier::empty() };
            let style = self.style_of(candidate, self.look.style(role).add_modifier(odd));
            put(buf, area, area.x + (at * self.column) as u16, area.y, &words, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{draw, text};
    use super::*;
    use crate::agreement::Witness;
    use crate::job::{Job, TestsChoice};
    use crate::trial::{Effect, Input, Observed, Status};
    use crate::tui::app::Msg;
    use crate::tui::app::calls::tests::{called, called_as, returns};
    use crate::tui::app::fixture::{Session, body};

    /// The table at a size, without the blanks at the ends of its lines.
    fn table(session: &mut Session, width: u16, height: u16) -> Vec<String> {
        session.send(Msg::Resize(width, height));
        text(&draw(&session.state, width, height)).lines().map(str::to_owned).collect()
    }

    /// The arguments of a call that no row holds.
    fn arguments() -> String {
        let numbers: Vec<String> = (1..=30).map(|n| (n * 100).to_string()).collect();
        format!("[{}]", numbers.join(", "))
    }

    /// Eight candidates that give these answers to a long call, by number.
    fn answered(numbers: [usize; 8]) -> Session {
        let input = Input { callee: "eight".to_owned(), arguments: arguments(), ..Input::default() };
        let witness = |(candidate, number): (usize, &usize)| {
            let observed = vec![returns(&format!("[{number}, {number}]"))];
            Witness { members: vec![candidate], votes: 1, observed }
        };
        let witnesses = numbers.iter().enumerate().map(witness).collect();
        let bodies: Vec<String> = (0..8).map(body).collect();
        let mut session = called_as(&bodies, Agreement::of(vec![input].into(), witnesses));
        session.key("b");
        session
    }

    #[test]
    fn a_call_with_many_answers_can_be_read() {
        let mut session = answered([1, 1, 2, 3, 1, 4, 5, 6]);
        let shown = table(&mut session, 80, 24);
        let row = shown.iter().position(|line| line.starts_with("> eight([100, 200,")).unwrap();
        assert!(shown[row].contains(", 900, 1000, 1…)") && shown[row].ends_with(" 1 1 2 3 1 4 5 6"), "{}", shown[row]);
        assert!(!shown[row].contains(':'), "no answer fits into it: {}", shown[row]);
        // In full above its answers.
        let asked = shown.iter().position(|line| line.contains("which is right?")).unwrap();
        let call: Vec<&str> = shown[asked + 1..asked + 4].iter().map(|line| line.trim()).collect();
        assert_eq!(call.join(" "), format!("eight({})", arguments()));
        let answers = &shown[asked + 4..asked + 10];
        assert!(answers[0].starts_with("  1  [1, 1]") && answers[0].ends_with("A B E"), "{answers:?}");
        assert!(answers[5].starts_with("  6  [6, 6]") && answers[5].ends_with('H'), "{answers:?}");
    }

    #[test]
    fn a_long_call_has_the_columns_that_its_answers_leave() {
        let inputs = [arguments(), "[7]".to_owned()];
        let inputs: Vec<Input> =
            inputs.map(|arguments| Input { callee: "eight".to_owned(), arguments, ..Input::default() }).into();
        let long = "a text that is longer than half of the row, so that calls get the other half";
        let witness =
            |c: usize, values: [&str; 2]| Witness { members: vec![c], votes: 1, observed: values.map(returns).into() };
        let all = vec![witness(0, ["1", "2"]), witness(1, ["3", long])];
        let mut session = called_as(&[body(0), body(1)], Agreement::of(inputs.into(), all));
        session.key("b");
        let shown = table(&mut session, 80, 24);
        let row = shown.iter().find(|line| line.contains("eight([100")).unwrap();
        assert!(row.contains("…)  1: 1  2: 3 ") && !row.contains("    "), "{row}");
    }

    #[test]
    fn answers_begin_in_one_column_behind_wide_characters() {
        let joined = "\"👩\u{200d}👩\u{200d}👧 family\"".to_owned();
        let inputs = ["\"日本語\"".to_owned(), joined, "\"abc\"".to_owned()];
        let inputs: Vec<Input> =
            inputs.map(|arguments| Input { callee: "f".to_owned(), arguments, ..Input::default() }).into();
        let all = (0..2).map(|c| Witness { members: vec![c], votes: 1, observed: vec![returns(&c.to_string()); 3] });
        let mut session = called_as(&[body(0), body(1)], Agreement::of(inputs.into(), all.collect()));
        session.key("b");
        let shown = table(&mut session, 80, 24);
        let columns = shown.iter().filter_map(|line| Some(text::width(&line[..line.find("1: 0")?])));
        assert_eq!(columns.collect::<Vec<_>>().windows(2).filter(|pair| pair[0] == pair[1]).count(), 2, "{shown:?}");
    }

    #[test]
    fn candidates_whose_calls_still_run_are_in_the_table() {
        let input = Input { callee: "f".to_owned(), arguments: "1".to_owned(), ..Input::default() };
        let observed = vec![Observed { effect: Effect::Unloaded, ..Observed::default() }];
        let broken = Witness { members: vec![0], votes: 1, observed };
        let mut session = Session::on(Job::from_text("def f(x):\n", &TestsChoice::None).unwrap(), 3);
        session.open(true);
        session.key("g");
        session.finish(0, &body(0));
        session.finish(1, &body(1));
        session.job(crate::job::Event::Agreement(Agreement::of(vec![input].into(), vec![broken]).into()));
        session.key("b");
        let shown = table(&mut session, 80, 24);
        let title = shown.iter().find(|line| line.contains("─ calls")).unwrap();
        assert!(title.contains(" calls: B still running ") && !title.contains("none can be run"), "{title}");
        assert!(shown.iter().any(|line| line.ends_with(" ? …")), "{shown:?}");
    }

    #[test]
    fn the_title_says_no_more_than_its_rows() {
        let title = |session: &mut Session| {
            if session.state.calls.is_none() {
                session.key("b");
            }
            table(session, 80, 24).into_iter().find(|line| line.contains("─ calls")).unwrap()
        };
        let mut session = called();
        assert!(title(&mut session).contains(" 3 calls, they differ on 1 "));
        session.key("1");
        session.key("w");
        for (candidate, status) in [(0, Status::Passed), (1, Status::Passed), (2, Status::Failed)] {
            session.verdict(candidate, status, "");
        }
        assert!(
            title(&mut session).contains("3 calls, they differ on 1, those that passed on none"),
            "others differ in the rows"
        );
        let narrow = table(&mut session, 70, 24).into_iter().find(|line| line.contains("─ calls")).unwrap();
        assert!(narrow.contains("─ calls, those that passed: 2 of 2 agree ─"), "{narrow}");
        assert!(narrow.contains(" of all: they differ on 1 "), "{narrow}");
        let input = |text: &str| Input { callee: "mean".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let late = Observed { effect: Effect::Late, ..returns("late") };
        let witness = |c, observed: [Observed; 2]| Witness { members: vec![c], votes: 1, observed: observed.into() };
        let all = vec![witness(0, [returns("1"), returns("2")]), witness(1, [late.clone(), late])];
        let inputs: Vec<Input> = ["[1]", "[2]"].map(input).into();
        let mut session = called_as(&[body(0), body(1)], Agreement::of(inputs.into(), all));
        let shown = title(&mut session);
        assert!(shown.contains("─ calls: B cannot be compared ─"), "{shown}");
        assert!(shown.contains(" 2 calls, no other results differ "), "{shown}");
        // Candidates that the user made are shown, and counted.
        let own = |c, value| Witness { votes: 0, ..witness(c, [returns(value), returns("2")]) };
        let all = vec![witness(0, [returns("1"), returns("2")]), own(1, "3"), own(2, "4")];
        let inputs: Vec<Input> = ["[1]", "[2]"].map(input).into();
        let mut session = called_as(&[body(0), body(1), body(2)], Agreement::of(inputs.into(), all));
        let shown = title(&mut session);
        assert!(shown.contains("─ calls: 3 different behaviours ─") && shown.contains("they differ on 1 "), "{shown}");
        let all = vec![witness(0, [returns("1"), returns("1")]), witness(1, [returns("1"), returns("1")])];
        let inputs: Vec<Input> = ["[1]", "[2]"].map(input).into();
        let mut session = called_as(&[body(0), body(1)], Agreement::of(inputs.into(), all));
        assert!(title(&mut session).contains(" 2 calls with one result, which tells little "));
    }

    #[test]
    fn calls_that_do_something_else_than_the_function_did_come_first() {
        let input = |text: &str| Input { callee: "mean".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let witness =
            |c| Witness { members: vec![c], votes: 1, observed: vec![returns("1"), returns("2"), returns("3")] };
        let inputs: Vec<Input> = ["[1]", "[2]", "[3]"].map(input).into();
        let before = [returns("1"), returns("2"), returns("0")];
        let agreement = Agreement::of(inputs.into(), vec![witness(0), witness(1)]).with_before(&before);
        let mut session = called_as(&[body(0), body(1)], agreement);
        session.key("b");
        session.key("j");
        let shown = table(&mut session, 80, 24);
        let row = |text: &str| shown.iter().position(|line| line.contains(text)).unwrap();
        assert!(shown.iter().any(|line| line.contains("all do the same, A changes 1 ")), "{shown:?}");
        assert!(row("* mean([3])") < row("> mean([1])") && row("> mean([1])") < row("  mean([2])"), "{shown:?}");
        assert!(shown.iter().any(|line| line.ends_with("as before  A B")), "{shown:?}");
    }

    #[test]
    fn answers_beyond_the_keys_are_counted() {
        let input = Input { callee: "eight".to_owned(), arguments: "1".to_owned(), ..Input::default() };
        let witness = |c: usize| Witness { members: vec![c], votes: 1, observed: vec![returns(&c.to_string())] };
        let bodies: Vec<String> = (0..12).map(body).collect();
        let mut session = called_as(&bodies, Agreement::of(vec![input].into(), (0..12).map(witness).collect()));
        session.key("b");
        let shown = table(&mut session, 80, 30);
        let row = shown.iter().find(|line| line.starts_with("> eight(1)")).unwrap();
        assert!(row.ends_with(" 1 2 3 4 5 6 7 8 9 + + +"), "{row}");
        assert!(shown.iter().any(|line| line.trim() == "and 3 more: = types one"), "{shown:?}");
    }

    #[test]
    fn few_answers_stand_behind_their_call() {
        let mut session = answered([1, 1, 2, 1, 1, 1, 1, 1]);
        let shown = table(&mut session, 80, 24);
        let row = shown.iter().find(|line| line.starts_with("> eight([100, 200,")).unwrap();
        assert!(row.contains("…)  1: [1, 1]  2: [2, 2] "), "{row}");
        assert!(shown.iter().any(|line| line.ends_with("2900, 3000])")), "its end is below: {shown:?}");
        // One that its row holds is not said twice.
        let mut session = called();
        session.key("b");
        let shown = table(&mut session, 80, 24).concat();
        assert_eq!(shown.matches("mean([])").count(), 1, "{shown}");
    }

    #[test]
    fn the_call_and_its_answers_come_before_the_table() {
        let mut session = answered([1, 1, 2, 3, 1, 4, 5, 6]);
        let shown = table(&mut session, 40, 10);
        assert!(shown[1].contains("which is right?"), "{shown:?}");
        assert!(shown[2].starts_with("  eight([100, 200,") && shown[4].ends_with('…'), "{shown:?}");
        assert!(shown[5].starts_with("  1  [1, 1]") && shown[5].ends_with("A B E"), "{shown:?}");
        assert!(shown[7].starts_with("  3  [3, 3]"), "{shown:?}");
        session.key("=");
        let shown = table(&mut session, 40, 10);
        assert!(shown.iter().any(|line| line.starts_with("> [1, 1]")), "{shown:?}");
    }

    #[test]
    fn the_table_is_drawn_at_every_size() {
        for numbers in [[1, 1, 2, 3, 1, 4, 5, 6], [1, 1, 1, 1, 1, 1, 1, 2]] {
            let mut session = answered(numbers);
            for keys in [&["2"][..], &["="], &["[", "enter"]] {
                for key in keys {
                    session.key(key);
                }
                for height in (1..=16).chain([24, 30, 60]) {
                    for width in [1, 2, 3, 20, 21, 40, 80, 300] {
                        table(&mut session, width, height);
                    }
                }
            }
        }
    }
}
