//! The choice among the candidates of a run: which may be picked, their rank, and the pick.

use std::cmp::Reverse;

use super::state::{Slot, State};
use super::{Candidate, Event};
use crate::agreement::Standing;
use crate::source::Summary;
use crate::trial::Status;

impl State {
    /// It is known that the code of a candidate cannot be loaded or run.
    pub(super) fn is_broken_code(&self, candidate: usize) -> bool {
        let standing = self.calls.agreement.as_ref().and_then(|agreement| agreement.standing(candidate));
        standing.is_some_and(|standing| standing.is_broken)
    }

    /// Returns true if tests decide, as far as they have ended.
    pub(super) fn is_tested(&self) -> bool {
        self.task.is_decided_by_tests(&mut self.candidates.iter().map(|c| &c.verdict))
    }

    /// Returns true if a candidate may be the pick.
    pub(super) fn stands(&self, candidate: usize, is_tested: bool) -> bool {
        let origin = self.slots[candidate].origin.unwrap_or(candidate);
        let Candidate { text, verdict, .. } = &self.candidates[origin];
        let is_judged = is_tested || verdict.status != Status::NotRun;
        let judged = is_judged.then(|| verdict.has_passed());
        let has_objection = self.slots[origin].objection.is_some();
        !has_objection && crate::job::may_be_picked(judged, text, self.is_broken_code(candidate))
    }

    /// Returns true if a candidate without marks has passed.
    pub(super) fn has_passed(&self) -> bool {
        self.first_pass.is_some_and(|first| !self.slots[first].marked)
    }

    /// Picks a candidate by `ranking`, the candidates that ended by themselves, once that is known.
    pub(super) fn pick(&mut self, ranking: Option<&[usize]>) {
        let slot = |c: usize| &self.slots[self.slots[c].origin.unwrap_or(c)];
        let (passed, marked) = (|c| slot(c).passed, |c| slot(c).marked);
        let pick = crate::job::pick(ranking, self.first_pass, self.is_tested(), passed, marked);
        if std::mem::replace(&mut self.picked, pick) != pick {
            self.tell(Event::Pick(pick));
        }
    }

    /// Returns true for a candidate without an end of its own, which has no key.
    pub(super) fn is_cut(&self, candidate: usize) -> bool {
        self.slots.get(candidate).is_none_or(|slot| slot.key.is_none())
    }

    /// Ranks the candidates: those that came to their end first, then those that passed, then the others by
    /// how far they came in the tests, then by agreement.
    pub(super) fn rank(&self, summary: &mut Summary) {
        // Without probabilities the best candidate is the most frequent one.
        if self.candidates.iter().all(|c| c.mean_logprob.is_none()) {
            let origin = |(c, slot): (usize, &Slot)| slot.origin.unwrap_or(c);
            let votes = crate::job::frequencies(&self.slots.iter().enumerate().map(origin).collect::<Vec<_>>());
            summary.ranking.sort_by_key(|&c| (self.is_cut(c), Reverse(votes.get(c).copied().unwrap_or(0))));
        }
        // Where some passed, they agree among themselves.
        let slot = |c: usize| &self.slots[self.slots[c].origin.unwrap_or(c)];
        let (passed, marked) = (|c: usize| slot(c).passed, |c: usize| slot(c).marked);
        let passing = self.calls.agreement.as_ref().and_then(|agreement| agreement.among(passed));
        for agreement in self.calls.agreement.as_deref().into_iter().chain(passing.as_ref()) {
            let standing = |c: usize| agreement.standing(c).map(Standing::order);
            summary.ranking.sort_by_key(|&c| Reverse(standing(c)));
        }
        let is_tested = self.is_tested();
        if is_tested {
            let verdict = |c: usize| &self.candidates[self.slots[c].origin.unwrap_or(c)].verdict;
            summary.ranking.sort_by_key(|&c| if passed(c) { Reverse(0) } else { Reverse(verdict(c).passed_checks()) });
        }
        summary.ranking = crate::job::order_of_pick(&summary.ranking, is_tested, passed, marked);
        let falls = |c: usize| !is_tested && !self.stands(c, false);
        summary.ranking.sort_by_key(|&c| (self.is_cut(c), self.cut_off.contains(&c), falls(c)));
    }
}
