//! A candidate is taken into the file, with a question where that may be wrong.

use super::action::{focused, quit};
use super::candidate::Testing;
use super::effect::Effect;
use super::state::{Question, State};
use crate::job::label;

pub(super) fn accept(state: &mut State) -> Vec<Effect> {
    let Some((id, index, _)) = focused(state) else { return Vec::new() };
    if let Some(why) = state.past.refusal().map(str::to_owned) {
        state.fail(why);
        return Vec::new();
    }
    let Some(run) = &state.run else { return Vec::new() };
    if state.applied == Some((id, index)) {
        return vec![Effect::Stands];
    }
    let replaces = state.own_body.is_some() && !state.can_undo();
    // Bodies are there before it is known which of them is the best.
    let is_early = !run.moved && run.pick.is_none() && run.candidates.len() > 1;
    let is_open = if state.is_judged(index) { !run.testing(index).passed() } else { is_early };
    if replaces || is_open || run.candidates[index].is_cut_off || state.concern(index).is_some() {
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
        if self.meets(index) == Some(false) {
            return Some([format!("{name} gives another answer than yours."), String::new()]);
        }
        if let Testing::Done(verdict) = run.testing(index) {
            let is_marked = verdict.is_marked() && run.testing(index).passed();
            return is_marked.then(|| [format!("{name} passes, and is marked."), verdict.words()]);
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
