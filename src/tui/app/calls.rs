//! The table of calls: what the candidates do on the same inputs, and which answer is right.

use std::collections::HashSet;

use super::answer;
use super::assertion;
use super::effect::Effect;
use super::example::{self, Example, example_hint, with_stub, without_other_example};
use super::find::Filter;
use super::similar;
use super::state::State;
use crate::agreement::{Agreement, is_same};
use crate::job::may_be_picked;
use crate::trial::{self, Observed};
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
    /// The example that was written of this call, perhaps of another answer.
    pub example: Option<Example>,
}

impl Check {
    /// True or false if a candidate answers right or not; `None` if it was not called so.
    pub fn is_met(&self, agreement: &Agreement, candidate: usize) -> Option<bool> {
        let input = agreement.inputs.iter().position(|input| input.text() == self.call)?;
        Some(self.is(agreement.observed(candidate, input)?))
    }

    /// Returns true if a call has the right outcome.
    pub fn is(&self, observed: &Observed) -> bool {
        is_same(&self.right, observed)
    }
}

/// Columns of a call and of each answer, where it is said that one is wrong.
const SAID: usize = 50;

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

    /// A candidate's other answer than the user's: the call, what it gave, and the right one.
    pub fn wrong_answer(&self, candidate: usize) -> Option<String> {
        let (agreement, check) = (self.agreement()?, self.unmet(candidate)?);
        let input = agreement.inputs.iter().position(|input| input.text() == check.call)?;
        let observed = agreement.observed(candidate, input)?;
        let did = match observed.effect {
            trial::Effect::Returned => " gave ",
            trial::Effect::Raised => " raised ",
            _ => ": ",
        };
        let texts = [&check.call, &observed.shown, &check.right.shown];
        let [call, given, right] = texts.map(|words| clean_line(words, SAID));
        Some(format!("{call}{did}{given}, expected {right}"))
    }

    /// True or false if a candidate meets all checks or not; `None` if it was called on none of them.
    pub fn meets(&self, candidate: usize) -> Option<bool> {
        let agreement = self.agreement()?;
        self.checks.iter().filter_map(|check| check.is_met(agreement, candidate)).reduce(|all, is| all && is)
    }

    /// The input in the selected row.
    pub fn selected_call(&self) -> Option<usize> {
        let rows = self.run.as_ref()?.called_on();
        rows.get(self.calls?.min(rows.len().saturating_sub(1))).copied()
    }

    /// The user's answer for the selected call.
    pub fn selected_check(&self) -> Option<&Check> {
        let call = self.agreement()?.inputs[self.selected_call()?].text();
        self.checks.iter().find(|check| check.call == call)
    }

    /// If anything is checked, picks anew.
    pub(super) fn pick_by_checks(&mut self) {
        if !self.checks.is_empty() {
            self.pick_best();
        }
    }

    /// Picks the best ranked candidate that meets all checks, and where tests decide passed them, marked ones
    /// last.
    pub(super) fn pick_best(&mut self) {
        let candidates = self.run.as_ref().map_or(0, |run| run.candidates.len());
        let wrong: HashSet<usize> = (0..candidates).filter(|&c| self.unmet(c).is_some()).collect();
        if let Some(run) = self.run.as_mut().filter(|run| run.wrong != wrong) {
            run.wrong = wrong;
            run.rank();
            // Others may have passed now.
            if run.filter != Filter::All {
                self.fold();
            }
        }
        let Some(run) = self.run.as_ref().filter(|run| !run.is_live()) else { return };
        let is_broken = |c: usize| run.standing(c).is_some_and(|standing| standing.is_broken);
        let fits = |&c: &usize| {
            let (candidate, judged) = (&run.candidates[c], self.is_judged(c).then(|| run.testing(c).passed()));
            candidate.is_whole() && may_be_picked(judged, &candidate.text, is_broken(c)) && self.unmet(c).is_none()
        };
        // Candidates that the user has made come last.
        let pick = run.in_order().into_iter().chain(0..run.candidates.len()).find(fits);
        if let Some(run) = &mut self.run {
            run.picked(pick);
        }
    }
}

/// Actions in the table; `None` for all others.
pub fn act(state: &mut State, action: Action, pressed: Key) -> Option<Vec<Effect>> {
    match action {
        Action::PaneDown => step(state, 1),
        Action::PaneUp => step(state, -1),
        Action::PageDown => step(state, 10),
        Action::PageUp => step(state, -10),
        Action::Answer => {
            let Code::Char(digit @ '1'..='9') = pressed.code else { return Some(Vec::new()) };
            return Some(numbered(state, digit as usize - '1' as usize));
        }
        Action::Unfold => similar::unfold(state),
        Action::TypeAnswer => answer::open(state),
        Action::OwnCall => answer::open_call(state),
        Action::Copy => return Some(assertion::copy(state)),
        Action::Forget => return Some(forget(state)),
        Action::Example => return Some(example::write(state)),
        _ => return None,
    }
    Some(Vec::new())
}

/// To a call below the selected one, or above it.
pub(super) fn step(state: &mut State, by: isize) {
    let Some((row, run)) = state.calls.zip(state.run.as_mut()) else { return };
    run.call = row.saturating_add_signed(by).min(run.called_on().len().saturating_sub(1));
    state.calls = Some(run.call);
}

/// Answers that have a key, and so a number.
pub const NUMBERED: usize = 9;

/// The answer of this number is right.
fn numbered(state: &mut State, number: usize) -> Vec<Effect> {
    let Some((agreement, input)) = state.agreement().zip(state.selected_call()) else { return Vec::new() };
    let answers = state.run.as_ref().map_or_else(Vec::new, |run| run.answers(input));
    let Some(answer) = answers.into_iter().nth(number) else {
        state.say(format!("there is no answer {}", number + 1));
        return Vec::new();
    };
    let observed = answer.candidates.first().and_then(|&c| agreement.observed(c, input));
    let Some(right) = observed.filter(|observed| observed.outcome().is_some()).cloned() else {
        state.say("that says nothing that another candidate could do as well");
        return Vec::new();
    };
    let check = Check { call: agreement.inputs[input].text(), right, example: None };
    answered(state, check)
}

/// The user's answer to a call judges all candidates.
pub(super) fn answered(state: &mut State, check: Check) -> Vec<Effect> {
    let effects = without_other_example(state, &check);
    let gone = if effects.is_empty() { "" } else { "; its example is no more in the prompt" };
    judge(state, check, gone);
    effects
}

/// A check judges all candidates at once, which is said with `more`. An example of the call stays until
/// another is written in its place.
fn judge(state: &mut State, mut check: Check, more: &str) {
    let run = state.run.as_ref().map_or(0, |run| run.candidates.len());
    let agreement = state.agreement();
    let is_given = agreement.is_some_and(|agreement| (0..run).any(|c| check.is_met(agreement, c) == Some(true)));
    let right = clean_line(&check.right.shown, 30);
    let old = state.checks.iter().position(|other| other.call == check.call);
    check.example = old.and_then(|old| state.checks.remove(old).example);
    let next = example_hint(state, &check).map_or_else(String::new, |hint| format!("; {hint}"));
    state.checks.push(check);
    let wrong = (0..run).filter(|&c| state.unmet(c).is_some()).count();
    state.pick_by_checks();
    let is_or_are = if wrong == 1 { "is" } else { "are" };
    let judged = match (is_given, wrong) {
        (true, 0) => "none is wrong".to_owned(),
        (true, _) => format!("{wrong} of {run} {is_or_are} wrong"),
        (false, _) => format!("no candidate gives {right}"),
    };
    state.say(format!("{judged}{more}{next}"));
}

/// The selected call is no check any more, and no example.
fn forget(state: &mut State) -> Vec<Effect> {
    let Some((agreement, input)) = state.agreement().zip(state.selected_call()) else { return Vec::new() };
    let call = agreement.inputs[input].text();
    let Some(at) = state.checks.iter().position(|check| check.call == call) else {
        state.say(format!("nothing was said about {call}"));
        return Vec::new();
    };
    let example = state.checks.remove(at).example;
    let stub = example.as_ref().map(|example| example.out_of(&state.draft.text()));
    let effects = match stub {
        None => {
            state.say(format!("{call} is open again"));
            Vec::new()
        }
        Some(Some(stub)) => {
            let effects = with_stub(state, &stub);
            state.say(format!("{call} is open again, and no example any more"));
            effects
        }
        Some(None) => {
            let edit = state.key_name(Context::Panes, Action::FocusPrompt);
            let why = "its example was changed in the prompt, so it stays there";
            state.say(format!("{call} is open again; {why}: {edit} edits it"));
            Vec::new()
        }
    };
    state.pick_best();
    effects
}

#[cfg(test)]
pub(in crate::tui) mod tests {
    use std::sync::Arc;

    use super::super::fixture::Session;
    use super::super::state::Question;
    use super::super::{Effect, Msg};
    use crate::agreement::{Agreement, Witness};
    use crate::engine::Summary;
    use crate::job::{self, Job, TestsChoice};
    use crate::trial::{Effect as End, Input, Observed, Status};
    use crate::tui::event::Key;
    use crate::tui::keymap::{Action, Context};

    const STUB: &str = "def mean(numbers):\n    \"\"\"The mean; 0 of nothing.\"\"\"\n";

    /// A call returned this.
    pub(in crate::tui) fn returns(value: &str) -> Observed {
        Observed {
            effect: End::Returned,
            key: value.to_owned(),
            shown: value.to_owned(),
            value: Some(value.to_owned()),
            ..Observed::default()
        }
    }

    /// Outcomes of `mean` on three inputs for three candidates; the first two agree and are wrong.
    fn agreement() -> Agreement {
        let input = |text: &str| Input { callee: "mean".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let inputs: Vec<Input> = ["[1, 2]", "[]", "[3]"].map(input).into();
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
        let bodies = [
            "    return sum(numbers) / len(numbers)\n",
            "    total = sum(numbers)\n    return total / len(numbers)\n",
            "    return sum(numbers) / len(numbers) if numbers else 0\n",
        ];
        called_as(&bodies.map(str::to_owned), agreement())
    }

    /// Candidates with these bodies that did this when they were called.
    pub(in crate::tui) fn called_as(bodies: &[String], agreement: Agreement) -> Session {
        let session = Session::on(Job::from_text(STUB, &TestsChoice::IfAny).unwrap(), bodies.len());
        called_in(session, bodies, agreement)
    }

    fn called_in(mut session: Session, bodies: &[String], agreement: Agreement) -> Session {
        session.open(true);
        session.key("g");
        for (candidate, body) in bodies.iter().enumerate() {
            session.finish(candidate, body);
        }
        let agreement = Arc::new(agreement);
        session.job(job::Event::Agreement(agreement.clone()));
        session.done();
        let summary = Summary { ranking: (0..bodies.len()).collect(), ..Summary::default() };
        session.job(job::Event::Pick(Some(0)));
        let outcome = job::Outcome { candidates: Vec::new(), summary, picked: Some(0), agreement: Some(agreement) };
        session.job(job::Event::Done(Box::new(outcome)));
        session
    }

    pub(in crate::tui) fn said(session: &Session) -> &str {
        session.state.notice.as_ref().map_or("", |notice| &notice.text)
    }

    /// One candidate that cannot be loaded, and one that returns.
    pub(in crate::tui) fn one_broken() -> Session {
        let input = Input { callee: "mean".to_owned(), arguments: "[1]".to_owned(), ..Input::default() };
        let shown = "SyntaxError: invalid syntax".to_owned();
        let broken = Observed { effect: End::Unloaded, shown, ..Observed::default() };
        let witness = |candidate, observed| Witness { members: vec![candidate], votes: 1, observed: vec![observed] };
        let all = vec![witness(0, broken), witness(1, returns("1"))];
        called_as(&["    return (\n", "    return 1\n"].map(str::to_owned), Agreement::of(vec![input].into(), all))
    }

    #[test]
    fn wrong_and_broken_candidates_are_asked_about() {
        let mut session = called();
        for key in ["b", "2", "esc", "1", "enter"] {
            session.key(key);
        }
        assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
        let why =
            |session: &Session, candidate| session.state.concern(candidate).map(|[first, second]| first + &second);
        let wrong = "mean([]) raised ZeroDivisionError: division by zero, expected 0";
        assert_eq!(why(&session, 0), Some(format!("A gives another answer than yours.{wrong}")));
        assert_eq!(why(&session, 2), None);
        let mut session = one_broken();
        assert_eq!(
            why(&session, 0).as_deref(),
            Some("A cannot be used.It cannot be loaded: SyntaxError: invalid syntax")
        );
        assert_eq!(why(&session, 1), None);
        session.key("1");
        session.key("enter");
        assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    }

    #[test]
    fn the_call_that_tells_apart_is_shown_by_the_keys_of_the_place() {
        let mut session = Session::on(Job::from_text(STUB, &TestsChoice::IfAny).unwrap(), 3);
        session.state.own_body = Some("    return 0\n".to_owned());
        let bodies = ["    return 1\n", "    return 2\n", "    return 3\n"].map(str::to_owned);
        let mut session = called_in(session, &bodies, agreement());
        assert_eq!(session.state.context(), Context::Diff, "what changes comes first");
        assert!(said(&session).ends_with("they differ on mean([]): Esc, then b shows it"), "{}", said(&session));
        session.key("esc");
        session.key("b");
        assert_eq!(session.state.context(), Context::Calls);
        session.key("esc");
        let summary = Summary { ranking: vec![0, 1, 2], ..Summary::default() };
        let outcome = job::Outcome { candidates: Vec::new(), summary, picked: Some(0), agreement: None };
        session.job(job::Event::Done(Box::new(outcome)));
        assert_eq!(session.state.context(), Context::Panes, "it was left, and tests that end again open nothing");
    }

    #[test]
    fn a_candidate_that_is_taken_from_the_table_is_taken_back_there() {
        let mut session = called();
        session.key("b");
        session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("stats.py".into()) });
        assert!(said(&session).contains("u undoes, Ctrl-N next"), "{}", said(&session));
        assert!(matches!(session.key("ctrl-n")[..], [Effect::NextTarget { .. }]));
        assert_eq!(session.key("u"), [Effect::Undo]);
        assert_eq!(session.state.context(), Context::Calls);
        for place in [Context::Results, Context::Diff] {
            let keys = ["u", "ctrl-n"].map(|key| session.state.keys.action(place, Key::parse(key).unwrap()));
            assert_eq!(keys, [Some(Action::Undo), Some(Action::NextTarget)], "{place:?}");
        }
    }

    #[test]
    fn the_wheel_goes_through_the_calls() {
        use crate::tui::event::{Mouse, MouseKind};
        let input = |text: &str| Input { callee: "mean".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let witness = |candidate| Witness {
            members: vec![candidate],
            votes: 1,
            observed: vec![returns(&candidate.to_string()); 3],
        };
        let agreement = Agreement::of(["[1]", "[2]", "[3]"].map(input).into(), vec![witness(0), witness(1)]);
        let mut session = called_as(&["    return 0\n", "    return 1\n"].map(str::to_owned), agreement);
        session.key("m");
        session.key("b");
        let table = session.state.layout().results;
        let wheel = |kind| Msg::Mouse(Mouse { kind, column: table.x + 2, row: table.y + 1 });
        let kinds = [MouseKind::WheelUp, MouseKind::WheelDown, MouseKind::WheelDown, MouseKind::WheelUp];
        let rows = kinds.map(|kind| {
            session.send(wheel(kind));
            session.state.calls
        });
        assert_eq!(rows, [Some(0), Some(1), Some(2), Some(1)]);
        assert_eq!(session.run().candidates[0].scroll.top, 0);
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

    /// The prompt has one example of the call, with this result.
    fn has_one_example(session: &Session, result: &str) -> bool {
        let stub = session.state.draft.text();
        stub.matches(">>>").count() == 1 && stub.contains(&format!("    >>> mean([])\n    {result}\n    \"\"\""))
    }

    #[test]
    fn a_correction_takes_the_place_of_the_example() {
        let mut session = called();
        for key in ["b", "1", "w"] {
            session.key(key);
        }
        assert!(session.state.draft.text().contains("ZeroDivisionError"));
        (0..3).for_each(|candidate| drop(session.verdict(candidate, Status::Failed, "no")));
        // The example would say that the new answer is wrong.
        let effects = session.key("2");
        assert!(matches!(&effects[..], [Effect::Use { .. }]), "{effects:?}");
        assert_eq!((session.state.draft.text().as_str(), session.state.has_tests()), (STUB, false));
        let words = "2 of 3 are wrong; its example is no more in the prompt; w makes it an example";
        assert_eq!(said(&session), words);
        let effects = session.key("w");
        assert_eq!(effects.len(), 4, "{effects:?}");
        assert!(has_one_example(&session, "0"), "{}", session.state.draft.text());
        // Said once more it stays, and is not written twice.
        assert_eq!(session.key("2"), []);
        assert_eq!(said(&session), "2 of 3 are wrong");
        assert_eq!(session.key("w"), []);
        assert_eq!(said(&session), "mean([]) is an example already");
        assert!(has_one_example(&session, "0"), "{}", session.state.draft.text());
        session.key("x");
        assert_eq!(session.state.draft.text(), STUB);
    }

    #[test]
    fn a_typed_correction_is_written_in_the_place_of_the_example() {
        let mut session = called();
        for key in ["b", "2", "w", "=", "ctrl-a", "ctrl-k"] {
            session.key(key);
        }
        session.send(Msg::Paste("-1".to_owned()));
        session.key("enter");
        assert_eq!(
            said(&session),
            "no candidate gives -1; its example is no more in the prompt; w makes it an example"
        );
        session.key("w");
        assert!(has_one_example(&session, "-1"), "{}", session.state.draft.text());
        session.key("x");
        assert_eq!(session.state.draft.text(), STUB);
    }

    #[test]
    fn the_table_opens_at_the_row_that_was_left() {
        let input = |text: &str| Input { callee: "mean".to_owned(), arguments: text.to_owned(), ..Input::default() };
        let inputs: Vec<Input> = ["[1, 2]", "[3]"].map(input).into();
        let witness = |candidate, observed| Witness { members: vec![candidate], votes: 1, observed };
        let witnesses =
            vec![witness(0, vec![returns("1.5"), returns("3.0")]), witness(1, vec![returns("3"), returns("4")])];
        let bodies = ["    return sum(numbers) / len(numbers)\n", "    return 1\n"].map(str::to_owned);
        let mut session = called_as(&bodies, Agreement::of(inputs.into(), witnesses));
        for key in ["b", "j", "esc"] {
            session.key(key);
        }
        assert_eq!(session.state.calls, None);
        session.key("b");
        assert_eq!(session.state.calls, Some(1));
    }

    #[test]
    fn where_nothing_was_called_the_key_says_why() {
        let mut session = Session::on(Job::from_text("func f(x int) int {\n", &TestsChoice::IfAny).unwrap(), 2);
        session.open(true);
        session.key("g");
        session.key("b");
        assert!(said(&session).contains("not yet in Go"), "{}", said(&session));
        let mut session = Session::on(Job::from_text("def f(x: int) -> int:\n", &TestsChoice::None).unwrap(), 2);
        session.open(true);
        session.key("g");
        session.finish(0, "    return 1\n");
        session.key("b");
        assert!(said(&session).contains("no candidate has been called yet"), "{}", said(&session));
        for why in ["node is too old", "node is too old", "cancelled"] {
            session.job(job::Event::Uncalled(why.to_owned()));
        }
        session.finish(1, "    return 2\n");
        session.done();
        assert!(said(&session).contains("not compared: node is too old"), "{}", said(&session));
        session.key("b");
        assert_eq!(said(&session), "the candidates were not called: node is too old");
        let run = session.run().id;
        session.send(Msg::Job { run, event: job::Event::Pick(None) });
        assert!(session.state.calls.is_none());
    }
}
