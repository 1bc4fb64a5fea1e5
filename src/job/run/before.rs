//! Calls of the function as it is in its file, which candidates of a change are held against.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::{News, Turn};
use super::state::{State, lock};
use crate::trial::{Input, Observed};

/// The function as it was.
#[derive(Default)]
pub(super) struct Before {
    /// Ends its calls, while they run.
    pub calls: Option<Arc<AtomicBool>>,
    /// The outcomes of its calls, in the order of the inputs.
    pub observed: Vec<Observed>,
}

impl State {
    /// Calls it on the inputs on which it was not called yet.
    pub(super) fn call_before(&mut self, inputs: &[Input]) {
        let Some(inputs) = inputs.get(self.before.observed.len()..).filter(|inputs| !inputs.is_empty()) else { return };
        if self.before.calls.is_some() {
            return;
        }
        let trial = self.task.before(self.limits);
        let (Some(trial), Some(queue), Some(me)) = (trial, self.queue.clone(), self.me.upgrade()) else { return };
        // Candidates are called first.
        let turn = Turn { problem: self.problem, mean_logprob: f32::MIN, candidate: usize::MAX };
        let cancel = Arc::new(AtomicBool::new(false));
        self.before.calls = Some(cancel.clone());
        let mine = cancel.clone();
        queue.call(turn, trial, inputs.into(), cancel, move |news| {
            let mut this = lock(&me);
            let News::Called(observed) = news else { return };
            if this.before.calls.take_if(|calls| Arc::ptr_eq(calls, &mine)).is_some() {
                // Nothing is compared with a function that cannot be called.
                this.before.observed.extend(observed.unwrap_or_default());
                this.agree();
                this.settle();
            }
        });
    }
}
