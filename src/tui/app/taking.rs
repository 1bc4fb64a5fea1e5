//! A candidate is taken into the file, with a question where that may be wrong.

use super::action::{focused, quit};
use super::candidate::Testing;
use super::effect::Effect;
use super::state::{Question, State};
use crate::job::label;
use crate::trial::Status;

pub(super) fn accept(state: &mut State) -> Vec<Effect> {
    let Some((id, index, _)) = focused(state) else { return Vec::new() };
    let Some(run) = &state.run else { return Vec::new() };
    if state.applied == Some((id, index)) {
        return vec![Effect::Stands];
    }
    // A wish is a change of the body that is there.
    let replaces = state.own_body.is_some() && !state.can_undo() && state.job.wish().is_none();
    // Bodies are there before it is known which of them is the best.
    let is_early = !run.moved && run.pick.is_none() && run.candidates.len() > 1;
    let is_open = if state.is_judged(index) { !run.testing(index).passed() } else { is_early };
    let candidate = &run.candidates[index];
    let is_part = candidate.is_cut_off || candidate.unfinished().is_some();
    if replaces || is_open || is_part || state.concern(index).is_some() {
        state.question = Some(Question::Take { candidate: index });
        return Vec::new();
    }
    take(state, index)
}

impl State {
    /// Why a candidate should not be taken without a question, though it passed or there are no tests: a
    /// sentence that begins with its name, and what is known.
    pub fn concern(&self, index: usize) -> Option<[String; 2]> {
        let run = self.run.as_ref()?;
        let name = label(index);
        if let Some(wrong) = self.wrong_answer(index) {
            return Some([format!("{name} gives another answer than yours."), wrong]);
        }
        match run.testing(index) {
            Testing::Done(verdict) if verdict.has_passed() => {
                return verdict.is_marked().then(|| [format!("{name} passes, and is marked."), verdict.words()]);
            }
            Testing::Done(verdict) | Testing::Marked(verdict) if Testing::is_of_marks(verdict) => {
                let mark = verdict.mark().unwrap_or_default();
                return Some([format!("{name} is marked, and no test judges it."), mark]);
            }
            Testing::Done(verdict) if verdict.status != Status::NotRun => return None,
            _ => {}
        }
        let agreement = run.agreement.as_ref()?;
        let is_broken = agreement.standing(index)?.is_broken;
        is_broken.then(|| [format!("{name} cannot be used."), format!("It {}", agreement.fault(index))])
    }
}

/// Writes a candidate into the file; where there is none, leaves with it.
pub(super) fn take(state: &mut State, index: usize) -> Vec<Effect> {
    let Some(run) = &state.run else { return Vec::new() };
    let Some(text) = run.candidates.get(index).map(|c| c.text.clone()) else { return Vec::new() };
    let id = run.id;
    if !state.has_file() {
        return quit(state, Some(text));
    }
    let mut effects = Vec::new();
    // Another candidate in the file gives way first, so that the file is again what was read.
    if state.can_undo() {
        effects.push(Effect::Undo);
    }
    effects.push(Effect::Apply { run: id, candidate: index, text });
    effects
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{PROMPT, Session, body};
    use super::*;
    use crate::engine::{Event, FinishReason};
    use crate::job::{self, Job, TestsChoice};
    use crate::trial::{Assurance, Verdict};

    /// A session whose candidates have ended, and have these verdicts.
    fn ended(tests: &TestsChoice, verdicts: &[Verdict]) -> Session {
        let mut session = Session::on(Job::from_text(PROMPT, tests).unwrap(), verdicts.len());
        session.open(true);
        session.key("g");
        for (candidate, verdict) in verdicts.iter().enumerate() {
            let (reason, text) = (FinishReason::Stop, body(candidate));
            session.event(Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
            let outcome = Ok(verdict.clone());
            session.job(job::Event::Verdict { candidate, outcome });
        }
        session.done();
        session
    }

    fn marked(status: Status) -> Verdict {
        let assurance = Assurance { marks: vec!["it uses `subprocess`".to_owned()], ..Assurance::default() };
        Verdict { status, assurance: Box::new(assurance), ..Verdict::not_run("no tests") }
    }

    #[test]
    fn a_marked_candidate_is_asked_about_without_tests_too() {
        let mut session = ended(&TestsChoice::None, &[marked(Status::NotRun), Verdict::not_run("no tests")]);
        assert_eq!(session.run().pick, Some(1), "the other one comes first");
        assert!(session.state.concern(1).is_none());
        session.key("h");
        let concern = session.state.concern(0).unwrap();
        assert_eq!(concern, ["A is marked, and no test judges it.".to_owned(), "it uses `subprocess`".to_owned()]);
        assert_eq!(session.state.note(0).as_deref(), Some("it uses `subprocess`"));
        session.key("a");
        assert_eq!(session.state.question, Some(Question::Take { candidate: session.run().focus }));
    }

    #[test]
    fn a_pick_that_tests_leave_to_agreement_is_taken_as_without_tests() {
        let unnoticed = || Verdict::not_run("").vacuous("rolling_max");
        let mut session = ended(&TestsChoice::IfAny, &[unnoticed(), unnoticed()]);
        assert!(!session.state.is_tested() && session.run().pick == Some(0));
        session.key("a");
        assert_eq!(session.state.question, None, "it is taken");
        let failed = Verdict { status: Status::Failed, ..Verdict::not_run("no") };
        let mut session = ended(&TestsChoice::IfAny, &[unnoticed(), failed]);
        session.key("l");
        session.key("a");
        assert_eq!(session.state.question, Some(Question::Take { candidate: 1 }));
        // Tests that the user asked for decide.
        let session = ended(&TestsChoice::Auto, &[unnoticed(), unnoticed()]);
        assert!(session.state.is_tested() && session.run().pick.is_none());
    }
}
