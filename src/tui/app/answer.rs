//! The line under the table of calls: the right answer to a call as the user types it, which no candidate may
//! give, or a call of the user's own.

use super::calls::{Check, answered};
use super::draft::Draft;
use super::effect::Effect;
use super::state::State;
use crate::agreement::{typed as read, typed_call, words};
use crate::language::Language;
use crate::trial::Observed;
use crate::tui::event::{Code, Key};
use crate::tui::keymap::{Action, Context};
use crate::tui::text::one_line;

/// An answer, or a call, while it is typed.
#[derive(Clone, Debug)]
pub struct Answering {
    /// The call that is answered, as it is written; `None` if a call is typed.
    pub call: Option<String>,
    /// The line.
    pub text: Draft,
    /// Why it was refused.
    pub error: Option<String>,
}

/// Opens the line with the answer that was said, else with that of most candidates; what is typed replaces
/// it.
pub fn open(state: &mut State) {
    let Some((agreement, input)) = state.agreement().zip(state.selected_call()) else { return };
    let call = agreement.inputs[input].text();
    let said = state.checks.iter().find(|check| check.call == call).map(|check| &check.right);
    let answers = state.run.as_ref().map_or_else(Vec::new, |run| run.answers(input));
    let first = answers.iter().find(|answer| answer.is_told).and_then(|answer| answer.candidates.first());
    let text = said.or_else(|| agreement.observed(*first?, input)).map(words).unwrap_or_default();
    let mut text = Draft::new(&one_line(&text));
    text.select_all();
    state.answering = Some(Answering { call: Some(call), text, error: None });
}

/// Why nothing new is called of a run that is over.
fn why_over(state: &State) -> Option<String> {
    let again = state.key_name(Context::Panes, Action::Regenerate);
    let why = || format!("this run is over, so nothing of it is called; {again} writes candidates anew");
    state.past.is_over().then(why)
}

/// Opens the line with the beginning of a call. It opens where nothing is called, too: what is typed there is
/// no command.
pub fn open_call(state: &mut State) {
    let Some((agreement, input)) = state.agreement().zip(state.selected_call()) else { return };
    let text = Draft::new(&format!("{}(", one_line(&agreement.inputs[input].callee)));
    state.answering = Some(Answering { call: None, text, error: why_over(state) });
}

/// A key that means nothing else edits the line.
pub fn typed(state: &mut State, key: Key) {
    let over = why_over(state);
    let Some(answering) = &mut state.answering else { return };
    // It stays true however the call goes on.
    answering.error = over.filter(|_| answering.call.is_none());
    if !begins_line(key) {
        answering.text.input(key);
    }
}

/// A key that would begin another line.
pub(super) fn begins_line(key: Key) -> bool {
    key.code == Code::Enter || key.ctrl && matches!(key.code, Code::Char('m' | 'j'))
}

/// The lines of a pasted text as one.
pub(super) fn joined(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Pasted text goes into the line, its lines joined.
pub fn paste(state: &mut State, text: &str) {
    let over = why_over(state);
    if let Some(answering) = &mut state.answering {
        answering.error = over.filter(|_| answering.call.is_none());
        answering.text.paste(&one_line(&joined(text)));
    }
}

/// The typed answer becomes a check, and the typed call an input. A text that cannot be read stays, to be
/// corrected.
pub fn take(state: &mut State) -> Vec<Effect> {
    let Some(answering) = &state.answering else { return Vec::new() };
    let (call, text) = (answering.call.clone(), answering.text.text().trim().to_owned());
    let taken = match call {
        Some(call) => {
            let language = state.job.language().unwrap_or(Language::Python);
            let right = given(state, &call, &text).map_or_else(|| read(&text, language), Ok);
            right.map(|right| answered(state, Check { call, right, example: None }))
        }
        None => asked(state, &text),
    };
    state.answering = match &taken {
        Ok(_) => None,
        Err(why) => state.answering.take().map(|answering| Answering { error: Some(why.clone()), ..answering }),
    };
    taken.unwrap_or_default()
}

/// Has all candidates called on a call of the user's.
fn asked(state: &mut State, text: &str) -> Result<Vec<Effect>, String> {
    let target = state.job.target().ok_or("there is no function to call")?;
    let input = typed_call(target, text)?;
    let over = why_over(state);
    let Some(run) = &mut state.run else { return Ok(Vec::new()) };
    let call = input.text();
    let is_known = run.agreement.as_ref().is_some_and(|all| all.inputs.iter().any(|input| input.text() == call));
    if let Some(over) = over.filter(|_| !is_known) {
        return Err(over);
    }
    run.own_calls.0.retain(|own| *own != call);
    run.own_calls = ([vec![call], std::mem::take(&mut run.own_calls.0)].concat(), !is_known);
    if is_known {
        state.calls = Some(0);
        return Ok(Vec::new());
    }
    Ok(vec![Effect::Call { run: run.id, input }])
}

/// The outcome that a candidate's words say, also where they are no value: of long results, of objects.
fn given(state: &State, call: &str, text: &str) -> Option<Observed> {
    let agreement = state.agreement()?;
    let input = agreement.inputs.iter().position(|input| input.text() == call)?;
    let candidates = 0..state.run.as_ref()?.candidates.len();
    let mut observed = candidates.filter_map(|c| agreement.observed(c, input));
    observed.find(|observed| observed.outcome().is_some() && one_line(&words(observed)).trim() == text).cloned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::calls::tests::{called, returns, said};
    use super::super::fixture::Session;
    use super::super::{Effect, Msg};
    use crate::agreement::Agreement;
    use crate::job::{self, Job, TestsChoice};
    use crate::tui::keymap::Context;

    fn types(session: &mut Session, text: &str) {
        session.key("=");
        session.key("ctrl-a");
        session.key("ctrl-k");
        session.send(Msg::Paste(text.to_owned()));
    }

    #[test]
    fn an_answer_that_no_candidate_gives_makes_all_wrong() {
        let mut session = called();
        session.key("b");
        session.key("=");
        let line = |session: &Session| session.state.answering.as_ref().map(|answering| answering.text.text());
        assert_eq!(line(&session).as_deref(), Some("raises ZeroDivisionError: division by zero"), "what most do");
        session.key("esc");
        assert_eq!(session.state.context(), Context::Calls);
        types(&mut session, "-1");
        session.key("enter");
        assert_eq!(said(&session), "no candidate gives -1; w makes it an example");
        assert_eq!((session.run().pick, (0..3).filter(|&c| session.state.unmet(c).is_some()).count()), (None, 3));
        session.key("=");
        assert_eq!(line(&session).as_deref(), Some("-1"), "to be corrected");
        session.key("esc");
        session.key("w");
        assert!(session.state.draft.text().contains(">>> mean([])\n    -1\n"), "{}", session.state.draft.text());
    }

    #[test]
    fn all_candidates_are_called_on_a_call_of_the_user_s() {
        let mut session = called();
        session.key("b");
        session.key("down");
        let wrong = |session: &mut Session, text: &str| {
            session.key("+");
            session.send(Msg::Paste(text.to_owned()));
            session.key("enter")
        };
        let effects = wrong(&mut session, "[5, 6]");
        assert!(matches!(&effects[..], [Effect::Call { input, .. }] if input.text() == "mean([5, 6])"), "{effects:?}");
        assert!(session.state.answering.is_none());
        let mut inputs = session.state.agreement().unwrap().inputs.to_vec();
        inputs.extend(
            effects
                .into_iter()
                .map(|effect| if let Effect::Call { input, .. } = effect { input } else { unreachable!() }),
        );
        let mut witnesses = session.state.agreement().unwrap().witnesses().to_vec();
        for witness in &mut witnesses {
            witness.observed.push(returns("5.5"));
        }
        session.job(job::Event::Agreement(Agreement::of(inputs.into(), witnesses).into()));
        let selected = |session: &Session| {
            session.state.selected_call().map(|at| session.state.agreement().unwrap().inputs[at].text())
        };
        assert_eq!(selected(&session).as_deref(), Some("mean([5, 6])"), "though all answer alike");
        assert!(
            wrong(&mut session, "[]").is_empty() && selected(&session).as_deref() == Some("mean([])"),
            "it is known"
        );
        session.key("+");
        session.key("ctrl-a");
        session.key("ctrl-k");
        session.send(Msg::Paste("median([1])".to_owned()));
        session.key("enter");
        let error = session.state.answering.as_ref().and_then(|answering| answering.error.clone());
        assert_eq!(error.as_deref(), Some("`median([1])` is no call of mean: type `mean(` and arguments"));
    }

    #[test]
    fn another_text_of_the_function_closes_the_table_with_its_line() {
        let mut session = called();
        session.key("b");
        session.key("=");
        let other = "def mean(numbers):\n    \"\"\"The mean.\"\"\"\n";
        session.send(Msg::Read(Ok(Arc::new(Job::from_text(other, &TestsChoice::IfAny).unwrap()))));
        assert!(session.state.run.is_none() && session.state.calls.is_none());
        assert!(session.state.answering.is_none(), "else the next Esc would close it, unseen");
    }

    #[test]
    fn why_nothing_is_called_stays_while_a_call_is_typed() {
        let mut session = called();
        for key in ["R", "[", "b", "+"] {
            session.key(key);
        }
        let error = |session: &Session| session.state.answering.as_ref().and_then(|line| line.error.clone());
        let why = error(&session).unwrap();
        assert!(why.starts_with("this run is over, so nothing of it is called; "), "{why}");
        session.key("[");
        assert_eq!(error(&session).as_ref(), Some(&why));
        session.send(Msg::Paste("7]".to_owned()));
        assert_eq!(error(&session).as_ref(), Some(&why));
        assert!(session.key("enter").is_empty());
        assert_eq!(error(&session).as_ref(), Some(&why));
        // An answer is judged in such a run, too.
        for key in ["esc", "=", "(", "enter"] {
            session.key(key);
        }
        assert!(error(&session).is_some());
        session.key(")");
        assert_eq!(error(&session), None);
    }

    #[test]
    fn a_typed_answer_takes_the_example_of_another_one_out_of_the_prompt() {
        let mut session = called();
        session.key("b");
        types(&mut session, "-1");
        session.key("enter");
        session.key("w");
        assert!(session.state.draft.text().contains(">>> mean([])\n    -1\n"), "{}", session.state.draft.text());
        types(&mut session, "0");
        assert!(!session.key("enter").is_empty(), "the other prompt is used");
        assert!(!session.state.draft.text().contains(">>> mean([])"), "{}", session.state.draft.text());
    }

    #[test]
    fn what_is_typed_takes_the_place_of_the_answer_that_stands_there() {
        let line = |session: &Session| session.state.answering.as_ref().map(|answering| answering.text.text());
        let mut session = called();
        for key in ["b", "=", "1", "7"] {
            session.key(key);
        }
        assert_eq!(line(&session).as_deref(), Some("17"));
        session.key("esc");
        for key in ["=", "end", "!"] {
            session.key(key);
        }
        assert_eq!(line(&session).as_deref(), Some("raises ZeroDivisionError: division by zero!"), "gone on with");
    }

    #[test]
    fn an_answer_that_candidates_give_judges_as_its_number() {
        for (text, wrong) in [("0.0", 2), (" 0 ", 2), ("raises ZeroDivisionError", 1)] {
            let mut session = called();
            session.key("b");
            types(&mut session, text);
            session.key("enter");
            let is_or_are = if wrong == 1 { "is" } else { "are" };
            assert!(said(&session).starts_with(&format!("{wrong} of 3 {is_or_are} wrong")), "{}", said(&session));
            session.key("x");
            assert!(session.state.checks.is_empty());
        }
        // Left as it is, it is the answer of most.
        let mut session = called();
        for key in ["b", "=", "enter"] {
            session.key(key);
        }
        assert!(said(&session).starts_with("1 of 3 is wrong"), "{}", said(&session));
    }

    #[test]
    fn what_cannot_be_read_is_said_and_stays() {
        let mut session = called();
        session.key("b");
        types(&mut session, "[1, 2");
        session.key("enter");
        let answering = session.state.answering.clone().unwrap();
        assert!(answering.error.unwrap().starts_with("`[1, 2` is no value that can be compared; expected a value"));
        assert!(session.state.checks.is_empty());
        session.key("]");
        assert_eq!(session.state.answering.as_ref().unwrap().error, None);
        for key in ["alt-enter", "ctrl-j", "f5"] {
            session.key(key);
        }
        assert_eq!(session.state.answering.as_ref().map(|answering| answering.text.text()).as_deref(), Some("[1, 2]"));
        session.key("enter");
        assert_eq!(session.state.checks[0].right.key, "[1, 2]");
        assert_eq!(session.run().id, 1, "nothing else is done meanwhile");
    }

    #[test]
    fn lines_of_a_pasted_value_are_joined() {
        let mut session = called();
        session.key("b");
        types(&mut session, "[1,\r\n    2,\n]\n");
        session.key("enter");
        assert_eq!(session.state.checks[0].right.key, "[1, 2]");
    }

    #[test]
    fn an_error_without_words_is_an_example_of_its_name() {
        let mut session = called();
        session.key("b");
        types(&mut session, "raises ValueError");
        session.key("enter");
        session.key("w");
        let stub = session.state.draft.text();
        let example = ">>> mean([])  # doctest: +IGNORE_EXCEPTION_DETAIL\n    Traceback (most recent call last):";
        assert!(stub.contains(example) && stub.contains("\n    ValueError\n"), "{stub}");
    }
}
