//! Calls that tell the same candidates apart: one row of the table stands for them.

use std::collections::HashMap;

use super::run::Run;
use super::state::State;

/// Fewest calls that one row stands for: a few are read as quickly as one with a note.
const FEWEST: usize = 4;

/// Calls that give the same candidates the same answers.
struct Alike {
    /// The row that stands for them.
    shown: usize,
    /// All of them, in the order of their rows.
    inputs: Vec<usize>,
}

impl Run {
    /// Rows of the table of calls as groups of those that differ alike. Calls of the user, and those on which
    /// nothing differs, are by themselves.
    fn alike(&self, rows: &[usize]) -> Vec<Alike> {
        let Some(agreement) = self.agreement.as_deref() else { return Vec::new() };
        let mut all: Vec<Alike> = Vec::new();
        let mut known: HashMap<Vec<(Vec<usize>, bool)>, usize> = HashMap::new();
        for &input in rows {
            let answers = agreement.answers(input).into_iter().map(|answer| (answer.candidates, answer.is_told));
            let answers: Vec<_> = answers.collect();
            let is_own = self.own_calls.0.contains(&agreement.inputs[input].text());
            let tells = !is_own && answers.len() > 1;
            if let Some(&at) = known.get(&answers).filter(|_| tells) {
                all[at].inputs.push(input);
                continue;
            }
            if tells {
                known.insert(answers, all.len());
            }
            all.push(Alike { shown: input, inputs: vec![input] });
        }
        for group in &mut all {
            let plainest = group.inputs.iter().min_by_key(|&&input| agreement.oddity(input));
            group.shown = plainest.copied().unwrap_or(group.shown);
        }
        all
    }

    /// Groups in which a row stands for others.
    fn foldable(&self, rows: &[usize]) -> Vec<Alike> {
        self.alike(rows).into_iter().filter(|group| group.inputs.len() >= FEWEST).collect()
    }

    /// The rows without those that another one stands for.
    pub(super) fn folded(&self, rows: &[usize]) -> Vec<usize> {
        let mut left = rows.to_vec();
        for group in self.foldable(rows) {
            let is_open = self.is_open(&group);
            let Some(at) = left.iter().position(|input| group.inputs.contains(input)) else { continue };
            left.retain(|input| !group.inputs.contains(input));
            let others = group.inputs.iter().copied().filter(|&input| is_open && input != group.shown);
            left.splice(at..at, [group.shown].into_iter().chain(others));
        }
        left
    }

    /// The group of a call that one row stands for, or stood for before it was unfolded.
    fn group_of(&self, input: usize) -> Option<Alike> {
        self.foldable(&self.called_one_by_one()).into_iter().find(|group| group.inputs.contains(&input))
    }

    /// The number of calls that a row stands for beside its own, by its input.
    pub fn calls_like(&self) -> HashMap<usize, usize> {
        let groups = self.foldable(&self.called_one_by_one()).into_iter().filter(|group| !self.is_open(group));
        groups.map(|group| (group.shown, group.inputs.len() - 1)).collect()
    }

    /// The calls of a group have rows of their own.
    fn is_open(&self, group: &Alike) -> bool {
        self.unfolded_calls.iter().any(|open| group.inputs.contains(open))
    }
}

impl State {
    /// The selected call can be unfolded, or folded.
    pub fn has_calls_like(&self) -> bool {
        let input = self.selected_call();
        self.run.as_ref().zip(input).is_some_and(|(run, input)| run.group_of(input).is_some())
    }
}

/// Shows the calls that the selected row stands for, or folds them again.
pub(super) fn unfold(state: &mut State) {
    let input = state.selected_call();
    let Some((run, input)) = state.run.as_mut().zip(input) else { return };
    let Some(group) = run.group_of(input) else {
        return state.say("no other calls tell the same candidates apart as this one");
    };
    let open = run.unfolded_calls.len();
    run.unfolded_calls.retain(|call| !group.inputs.contains(call));
    if run.unfolded_calls.len() == open {
        run.unfolded_calls.insert(group.shown);
    }
    run.call = run.called_on().iter().position(|&call| call == group.shown).unwrap_or(0);
    state.calls = Some(run.call);
}

#[cfg(test)]
mod tests {
    use super::super::calls::tests::{called_as, returns, said};
    use super::super::fixture::{Session, body};
    use crate::agreement::{Agreement, Witness};
    use crate::trial::Input;
    use crate::tui::view::scenes;

    /// Three candidates: the last one differs on all calls but one, on which the second one does.
    fn called() -> Session {
        let arguments = ["-10", "[]", "7", "12345", "3"];
        let input = |text: &str| Input { callee: "f".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let inputs: Vec<Input> = arguments.map(input).into();
        let values = [["1", "1", "1", "1", "1"], ["1", "1", "1", "1", "2"], ["2", "3", "2", "2", "1"]];
        let witness = |(c, values): (usize, [&str; 5])| Witness {
            members: vec![c],
            votes: 1,
            observed: values.map(returns).into(),
        };
        let witnesses = values.into_iter().enumerate().map(witness).collect();
        let bodies: Vec<String> = (0..3).map(body).collect();
        let mut session = called_as(&bodies, Agreement::of(inputs.into(), witnesses));
        session.key("b");
        session
    }

    fn rows(session: &Session) -> Vec<String> {
        let run = session.run();
        let inputs = &run.agreement.as_ref().unwrap().inputs;
        run.called_on().into_iter().map(|input| inputs[input].arguments.clone()).collect()
    }

    #[test]
    fn a_plain_call_stands_for_all_that_tell_the_same_candidates_apart() {
        let mut session = called();
        let folded = rows(&session);
        assert_eq!(folded.len(), 2);
        let at = folded.iter().position(|call| call == "7").unwrap();
        let shown = |session: &Session| scenes::text(&scenes::draw(&session.state, 80, 24));
        assert!(shown(&session).contains("+3 like it"), "{}", shown(&session));
        (0..at).for_each(|_| drop(session.key("j")));
        assert!(shown(&session).contains("o unfold"), "{}", shown(&session));
        session.key("o");
        assert_eq!(rows(&session).len(), 5);
        assert!(!shown(&session).contains("like it"), "{}", shown(&session));
        let row = rows(&session).iter().position(|call| call == "12345").unwrap();
        session.state.calls = Some(row);
        session.key("o");
        assert_eq!((rows(&session), session.state.calls), (folded, Some(at)));
        session.state.calls = Some(1 - at);
        session.key("o");
        assert!(said(&session).starts_with("no other calls"), "{}", said(&session));
    }
}
