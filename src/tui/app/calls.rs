//! The table of calls: what the candidates do on the same inputs, which answer is right, and that as an
//! example.

use super::action::test_all_again;
use super::answer;
use super::effect::Effect;
use super::refusal::refusal;
use super::state::State;
use crate::agreement::Agreement;
use crate::trial::{Effect as End, Observed};
use crate::tui::event::{Code, Key};
use crate::tui::keymap::{Action, Context};
use crate::untrusted::clean_line;

/// The right answer to a call, as the user said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The call as it is written.
    pub call: String,
    /// Its outcome.
    pub right: Observed,
    /// The stub before and after it was made an example.
    pub example: Option<(String, String)>,
}

impl Check {
    /// True or false if a candidate answers right or not; `None` if it was not called so.
    pub fn is_met(&self, agreement: &Agreement, candidate: usize) -> Option<bool> {
        let input = agreement.inputs.iter().position(|input| input.text() == self.call)?;
        Some(self.is(agreement.observed(candidate, input)?))
    }

    /// Returns true if a call has the right outcome.
    pub fn is(&self, observed: &Observed) -> bool {
        observed.outcome().is_some() && observed.outcome() == self.right.outcome()
    }
}

/// The inputs that the table shows: those on which candidates differ, else all.
pub fn rows(agreement: &Agreement) -> Vec<usize> {
    let differing = agreement.differing();
    if differing.is_empty() { (0..agreement.inputs.len()).collect() } else { differing.to_vec() }
}

impl State {
    /// The agreement of the candidates of the shown run.
    pub fn agreement(&self) -> Option<&Agreement> {
        self.run.as_ref()?.agreement.as_deref()
    }

    /// The first check that a candidate does not meet.
    pub fn unmet(&self, candidate: usize) -> Option<&Check> {
        let agreement = self.agreement()?;
        self.checks.iter().find(|check| check.is_met(agreement, candidate) == Some(false))
    }

    /// True or false if a candidate meets all checks or not; `None` if it was called on none of them.
    pub fn meets(&self, candidate: usize) -> Option<bool> {
        let agreement = self.agreement()?;
        self.checks.iter().filter_map(|check| check.is_met(agreement, candidate)).reduce(|all, is| all && is)
    }

    /// The input in the selected row.
    pub fn selected_call(&self) -> Option<usize> {
        let rows = rows(self.agreement()?);
        rows.get(self.calls?.min(rows.len().saturating_sub(1))).copied()
    }

    /// If anything is checked, picks anew.
    pub(super) fn pick_by_checks(&mut self) {
        if !self.checks.is_empty() {
            self.pick_best();
        }
    }

    /// Picks the best ranked candidate that meets all checks, and with tests passed them, marked ones last.
    fn pick_best(&mut self) {
        let has_tests = self.has_tests();
        let Some(run) = self.run.as_ref().filter(|run| !run.is_live()) else { return };
        let fits = |&c: &usize| {
            (!has_tests || run.testing(c).passed()) && run.candidates[c].is_whole() && self.unmet(c).is_none()
        };
        let rank = |&c: &usize| (run.testing(c).is_marked(), run.candidates[c].rank.unwrap_or(usize::MAX));
        let pick = (0..run.candidates.len()).filter(fits).min_by_key(rank);
        if let Some(run) = &mut self.run {
            run.picked(pick);
        }
    }
}

/// Actions in the table; `None` for all others.
pub fn act(state: &mut State, action: Action, pressed: Key) -> Option<Vec<Effect>> {
    match action {
        Action::PaneDown | Action::PaneUp | Action::PageDown | Action::PageUp => {
            let count = rows(state.agreement()?).len();
            let by = match action {
                Action::PaneDown => 1,
                Action::PaneUp => -1,
                Action::PageDown => 10,
                _ => -10,
            };
            state.calls = state.calls.map(|row| row.saturating_add_signed(by).min(count.saturating_sub(1)));
        }
        Action::Answer => {
            let Code::Char(digit @ '1'..='9') = pressed.code else { return Some(Vec::new()) };
            numbered(state, digit as usize - '1' as usize);
        }
        Action::TypeAnswer => answer::open(state),
        Action::Forget => return Some(forget(state)),
        Action::Example => return Some(example(state)),
        _ => return None,
    }
    Some(Vec::new())
}

/// The answer of this number is right.
fn numbered(state: &mut State, number: usize) {
    let Some((agreement, input)) = state.agreement().zip(state.selected_call()) else { return };
    let Some(answer) = agreement.answers(input).into_iter().nth(number) else {
        return state.say(format!("there is no answer {}", number + 1));
    };
    let observed = answer.candidates.first().and_then(|&c| agreement.observed(c, input));
    let Some(right) = observed.filter(|observed| observed.outcome().is_some()).cloned() else {
        return state.say("that says nothing that another candidate could do as well");
    };
    let call = agreement.inputs[input].text();
    judge(state, Check { call, right, example: None });
}

/// A check judges all candidates at once.
pub(super) fn judge(state: &mut State, check: Check) {
    let run = state.run.as_ref().map_or(0, |run| run.candidates.len());
    let agreement = state.agreement();
    let is_given = agreement.is_some_and(|agreement| (0..run).any(|c| check.is_met(agreement, c) == Some(true)));
    let right = clean_line(&check.right.shown, 30);
    state.checks.retain(|other| other.call != check.call);
    state.checks.push(check);
    let wrong = (0..run).filter(|&c| state.unmet(c).is_some()).count();
    state.pick_by_checks();
    let is_or_are = if wrong == 1 { "is" } else { "are" };
    let judged = match (is_given, wrong) {
        (true, 0) => "none is wrong".to_owned(),
        (true, _) => format!("{wrong} of {run} {is_or_are} wrong"),
        (false, _) => format!("no candidate gives {right}"),
    };
    let next = example_hint(state).map_or_else(String::new, |hint| format!("; {hint}"));
    state.say(judged + &next);
}

/// `w makes it an example`, where that can be done.
pub fn example_hint(state: &State) -> Option<String> {
    let key = state.key_name(Context::Calls, Action::Example);
    refusal(state, Action::Example).is_none().then(|| format!("{key} makes it an example"))
}

/// The selected call is no check any more, and no example.
fn forget(state: &mut State) -> Vec<Effect> {
    let Some((agreement, input)) = state.agreement().zip(state.selected_call()) else { return Vec::new() };
    let call = agreement.inputs[input].text();
    let Some(at) = state.checks.iter().position(|check| check.call == call) else {
        state.say(format!("nothing was said about {call}"));
        return Vec::new();
    };
    let effects = match state.checks.remove(at).example {
        None => {
            state.say(format!("{call} is open again"));
            Vec::new()
        }
        Some((before, after)) if state.draft.text() == after => {
            let effects = with_stub(state, &before);
            state.say(format!("{call} is open again, and no example any more"));
            effects
        }
        Some(_) => {
            let edit = state.key_name(Context::Panes, Action::FocusPrompt);
            state.say(format!("{call} is open again; its example stays in the prompt, which {edit} edits"));
            Vec::new()
        }
    };
    state.pick_best();
    effects
}

/// The stub is this one, and tests all candidates.
fn with_stub(state: &mut State, stub: &str) -> Vec<Effect> {
    state.draft.replace(stub);
    if let Err(why) = state.take_edit() {
        state.fail(why.to_string());
        return Vec::new();
    }
    let mut effects = vec![Effect::Use { job: state.job.clone() }];
    effects.extend(test_all_again(state));
    effects
}

/// Writes the answer to the selected call as an example into the stub. It is written with the candidate, and
/// tests all of them.
fn example(state: &mut State) -> Vec<Effect> {
    match with_example(state) {
        Ok((stub, call)) => {
            let before = state.draft.text();
            let effects = with_stub(state, &stub);
            let after = state.draft.text();
            for check in state.checks.iter_mut().filter(|check| check.call == call) {
                check.example = Some((before.clone(), after.clone()));
            }
            let preview = state.key_name(Context::Panes, Action::Preview);
            state.say(format!("{call} is an example now, and all are tested by it; {preview} shows it in the file"));
            effects
        }
        Err(why) => {
            state.say(why);
            Vec::new()
        }
    }
}

/// The stub with the example, and its call.
fn with_example(state: &State) -> Result<(String, String), String> {
    let (agreement, input) = state.agreement().zip(state.selected_call()).ok_or("nothing was called")?;
    let call = agreement.inputs[input].text();
    let check = state.checks.iter().find(|check| check.call == call);
    let check = check.ok_or_else(|| format!("first say which answer to {call} is right: press its number"))?;
    let Observed { effect, shown, value, key, .. } = &check.right;
    // Of an error without words only the name counts.
    let name_only = *effect == End::Raised && shown == key;
    let call_of = if name_only { format!("{call}  # doctest: +IGNORE_EXCEPTION_DETAIL") } else { call.clone() };
    let result = match effect {
        End::Raised => format!("Traceback (most recent call last):\n    ...\n{shown}"),
        _ => value.clone().ok_or("the result is too long, or has no text that an example could state")?,
    };
    let target = state.job.target().ok_or("there is no function with documentation")?;
    // Nothing is printed for None.
    let is_none = *effect == End::Returned && result == "None";
    let (stated, result) = if is_none { (format!("{call} is None"), "True".to_owned()) } else { (call_of, result) };
    Ok((target.stub_with_example(&stated, &result)?, call))
}

#[cfg(test)]
pub(in crate::tui) mod tests {
    use std::sync::Arc;

    use super::super::fixture::Session;
    use super::super::{Effect, Msg};
    use crate::agreement::{Agreement, Witness};
    use crate::engine::Summary;
    use crate::job::{self, Job, TestsChoice};
    use crate::trial::{Effect as End, Input, Observed};

    const STUB: &str = "def mean(numbers):\n    \"\"\"The mean; 0 of nothing.\"\"\"\n";

    /// Outcomes of `mean` on three inputs for three candidates; the first two agree and are wrong.
    fn agreement() -> Agreement {
        let input = |text: &str| Input { callee: "mean".to_owned(), arguments: text.to_owned(), result: None };
        let inputs: Vec<Input> = ["[1, 2]", "[]", "[3]"].map(input).into();
        let returns = |value: &str| Observed {
            effect: End::Returned,
            key: value.to_owned(),
            shown: value.to_owned(),
            value: Some(value.to_owned()),
            ..Observed::default()
        };
        let error = "ZeroDivisionError: division by zero".to_owned();
        let raises =
            Observed { effect: End::Raised, key: "ZeroDivisionError".to_owned(), shown: error, ..Observed::default() };
        let wrong = vec![returns("1.5"), raises, returns("3.0")];
        let right = vec![returns("1.5"), returns("0"), returns("3.0")];
        let witness = |candidate, observed| Witness { members: vec![candidate], votes: 1, observed };
        Agreement::of(inputs.into(), vec![witness(0, wrong.clone()), witness(1, wrong), witness(2, right)])
    }

    /// Three candidates that were called.
    pub(in crate::tui) fn called() -> Session {
        let mut session = Session::on(Job::from_text(STUB, &TestsChoice::IfAny).unwrap(), 3);
        session.open(true);
        session.key("g");
        for (candidate, body) in [
            "    return sum(numbers) / len(numbers)\n",
            "    total = sum(numbers)\n    return total / len(numbers)\n",
            "    return sum(numbers) / len(numbers) if numbers else 0\n",
        ]
        .iter()
        .enumerate()
        {
            session.finish(candidate, body);
        }
        let agreement = Arc::new(agreement());
        session.job(job::Event::Agreement(agreement.clone()));
        session.done();
        let summary = Summary { ranking: vec![0, 1, 2], ..Summary::default() };
        session.job(job::Event::Pick(Some(0)));
        let outcome = job::Outcome { candidates: Vec::new(), summary, picked: Some(0), agreement: Some(agreement) };
        session.job(job::Event::Done(Box::new(outcome)));
        session
    }

    pub(in crate::tui) fn said(session: &Session) -> &str {
        session.state.notice.as_ref().map_or("", |notice| &notice.text)
    }

    #[test]
    fn one_answer_decides_against_the_majority() {
        let mut session = called();
        assert!(said(&session).contains("2 of 3 agree; they differ on mean([]): b shows it"), "{}", said(&session));
        session.key("b");
        assert_eq!(session.run().pick, Some(0));
        session.key("2");
        assert_eq!(session.run().pick, Some(2), "what most do is wrong");
        assert!(said(&session).contains("2 of 3 are wrong; w makes it an example"), "{}", said(&session));
        let unmet = (0..3).map(|c| session.state.unmet(c).is_some()).collect::<Vec<_>>();
        assert_eq!(unmet, [true, true, false]);
        assert_eq!([0, 1, 2, 9].map(|c| session.state.meets(c)), [Some(false), Some(false), Some(true), None]);
        // The other answer may be right as well.
        session.key("1");
        assert_eq!((session.run().pick, session.state.checks.len()), (Some(0), 1));
        session.key("x");
        assert!(session.state.checks.is_empty() && session.state.meets(0).is_none());
        session.key("9");
        assert!(said(&session).contains("there is no answer 9"));
        session.key("esc");
        assert!(session.state.calls.is_none());
    }

    #[test]
    fn an_answer_becomes_an_example_that_tests_all() {
        let mut session = called();
        session.key("b");
        session.key("w");
        assert!(said(&session).contains("first say which answer to mean([]) is right"), "{}", said(&session));
        session.key("2");
        let effects = session.key("w");
        let test = |candidate| Effect::Test { run: 1, candidate };
        assert!(
            matches!(&effects[..], [Effect::Use { .. }, rest @ ..] if *rest == [test(0), test(1), test(2)]),
            "{effects:?}"
        );
        let stub = session.state.draft.text();
        assert!(stub.contains("    >>> mean([])\n    0\n    \"\"\""), "{stub}");
        assert!(session.state.has_tests());
        // It is taken back with what was said.
        let effects = session.key("x");
        assert!(matches!(&effects[..], [Effect::Use { .. }, ..]), "{effects:?}");
        assert!(said(&session).contains("no example any more"), "{}", said(&session));
        assert_eq!((session.state.draft.text().as_str(), session.state.has_tests()), (STUB, false));
        // An error is an example, too.
        let mut session = called();
        for key in ["b", "1", "w"] {
            session.key(key);
        }
        let stub = session.state.draft.text();
        assert!(
            stub.contains("Traceback (most recent call last):\n        ...\n    ZeroDivisionError: division by zero"),
            "{stub}"
        );
    }

    #[test]
    fn where_nothing_was_called_the_key_says_why() {
        let mut session = Session::on(Job::from_text("func f(x int) int {\n", &TestsChoice::IfAny).unwrap(), 2);
        session.open(true);
        session.key("g");
        session.key("b");
        assert!(said(&session).contains("not yet in Go"), "{}", said(&session));
        let run = session.run().id;
        session.send(Msg::Job { run, event: job::Event::Pick(None) });
        assert!(session.state.calls.is_none());
    }
}
