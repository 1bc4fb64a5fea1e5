//! Calls of candidates on the same inputs, and of the function as it is in its file, which candidates of a
//! change are held against.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Event;
use super::state::{Slot, State, lock};
use crate::agreement::{Agreement, Witness};
use crate::job::trials::{News, Turn};
use crate::trial::{Input, Observed};

/// The calls of a run, and what they show.
pub(super) struct Calls {
    /// The inputs that candidates are called on, from the first call on. `Err` if they are not called.
    inputs: Result<Option<Arc<[Input]>>, ()>,
    /// The bodies whose values are among the inputs.
    spoken_of: Vec<String>,
    pub agreement: Option<Arc<Agreement>>,
    pub before: Before,
}

impl Calls {
    /// `are_wanted`: true if candidates are called.
    pub fn new(are_wanted: bool) -> Self {
        let inputs = if are_wanted { Ok(None) } else { Err(()) };
        Self { inputs, spoken_of: Vec::new(), agreement: None, before: Before::default() }
    }
}

/// The function as it was.
#[derive(Default)]
pub(super) struct Before {
    /// Ends its calls, while they run.
    pub calls: Option<Arc<AtomicBool>>,
    /// The outcomes of its calls, in the order of the inputs.
    observed: Vec<Observed>,
}

impl State {
    pub fn call_on(&mut self, input: Input) {
        let Some(inputs) = self.inputs() else { return };
        if inputs.iter().all(|own| own.text() != input.text()) {
            self.calls.inputs = Ok(Some(inputs.iter().cloned().chain([input]).collect()));
        }
        self.call_all();
    }

    /// Adds inputs with values that only candidates which ended later compare with.
    pub(super) fn add_inputs(&mut self) {
        let Ok(Some(inputs)) = &self.calls.inputs else { return };
        let known: Vec<&str> = self.calls.spoken_of.iter().map(String::as_str).collect();
        let bodies: Vec<&str> = self.candidates.iter().map(|c| c.text.as_str()).collect();
        let more = self.task.more_inputs(&known, &bodies, inputs);
        if !more.is_empty() {
            self.calls.inputs = Ok(Some(inputs.iter().cloned().chain(more).collect()));
            self.calls.spoken_of = self.candidates.iter().map(|c| c.text.clone()).collect();
            self.call_all();
        }
    }

    fn call_all(&mut self) {
        for candidate in (0..self.slots.len()).filter(|&c| self.slots[c].observed.is_some()).collect::<Vec<_>>() {
            self.call(candidate);
        }
    }

    /// The inputs of all calls. Values that candidates compare with are taken from what is written so far.
    fn inputs(&mut self) -> Option<Arc<[Input]>> {
        if self.calls.inputs == Ok(None) {
            let bodies: Vec<&str> = self.candidates.iter().map(|c| c.text.as_str()).collect();
            self.calls.inputs = self.task.inputs(&bodies).map(|inputs| Some(inputs.into())).map_err(drop);
            self.calls.spoken_of = bodies.into_iter().map(str::to_owned).collect();
        }
        self.calls.inputs.clone().ok().flatten()
    }

    /// Calls the function of a candidate on the inputs on which it was not called yet.
    pub(super) fn call(&mut self, candidate: usize) {
        let (Some(queue), Some(inputs)) = (self.queue.clone(), self.inputs()) else { return };
        let known = self.slots[candidate].observed.as_ref().map_or(0, Vec::len);
        self.call_before(&inputs);
        if self.slots[candidate].calls.is_some() || known >= inputs.len() {
            return;
        }
        let inputs: Arc<[Input]> = inputs[known..].into();
        let c = &self.candidates[candidate];
        let Some(trial) = self.task.called(&c.text, self.limits) else { return };
        let turn = Turn { problem: self.problem, mean_logprob: c.mean_logprob.unwrap_or(0.0), candidate };
        let cancel = Arc::new(AtomicBool::new(false));
        self.slots[candidate].calls = Some(cancel.clone());
        let (Some(me), mine) = (self.me.upgrade(), cancel.clone()) else { return };
        queue.call(turn, trial, inputs, cancel, move |news| {
            let mut this = lock(&me);
            let slot = &mut this.slots[candidate];
            let News::Called(observed) = news else { return };
            if slot.calls.take_if(|calls| Arc::ptr_eq(calls, &mine)).is_some() {
                match observed {
                    Ok(observed) if observed.is_empty() => {}
                    Ok(observed) => {
                        slot.observed.get_or_insert_default().extend(observed);
                        // There may be more inputs since.
                        this.call(candidate);
                    }
                    Err(why) => this.tell(Event::Uncalled(why)),
                }
                this.agree();
                this.settle();
            }
        });
    }

    /// Counts anew what the candidates agree on.
    pub(super) fn agree(&mut self) {
        let Ok(Some(inputs)) = self.calls.inputs.clone() else { return };
        let members = |c: usize| -> Vec<usize> {
            let has_code = |slot: &Slot| slot.key.is_some() && slot.origin == Some(c);
            let others = self.slots.iter().enumerate().filter(|(_, slot)| has_code(slot)).map(|(other, _)| other);
            std::iter::once(c).chain(others).collect()
        };
        let has_vote = |slot: &Slot| !slot.made && slot.objection.is_none();
        let votes = |members: &[usize]| members.iter().filter(|&&c| has_vote(&self.slots[c])).count();
        let witness = |(c, slot): (usize, &Slot)| {
            let (members, observed) = (members(c), slot.observed.clone()?);
            Some(Witness { votes: votes(&members), members, observed })
        };
        let witnesses: Vec<Witness> = self.slots.iter().enumerate().filter_map(witness).collect();
        if !witnesses.is_empty() {
            let agreement = Arc::new(Agreement::of(inputs, witnesses).with_before(&self.calls.before.observed));
            self.calls.agreement = Some(agreement.clone());
            self.tell(Event::Agreement(agreement));
        }
    }

    /// Calls the function as it was on the inputs on which it was not called yet.
    fn call_before(&mut self, inputs: &[Input]) {
        let Some(inputs) = inputs.get(self.calls.before.observed.len()..).filter(|inputs| !inputs.is_empty()) else {
            return;
        };
        if self.calls.before.calls.is_some() {
            return;
        }
        let trial = self.task.before(self.limits);
        let (Some(trial), Some(queue), Some(me)) = (trial, self.queue.clone(), self.me.upgrade()) else { return };
        // Candidates are called first.
        let turn = Turn { problem: self.problem, mean_logprob: f32::MIN, candidate: usize::MAX };
        let cancel = Arc::new(AtomicBool::new(false));
        self.calls.before.calls = Some(cancel.clone());
        let mine = cancel.clone();
        queue.call(turn, trial, inputs.into(), cancel, move |news| {
            let mut this = lock(&me);
            let News::Called(observed) = news else { return };
            if this.calls.before.calls.take_if(|calls| Arc::ptr_eq(calls, &mine)).is_some() {
                // Nothing is compared with a function that cannot be called.
                this.calls.before.observed.extend(observed.unwrap_or_default());
                this.agree();
                this.settle();
            }
        });
    }
}
