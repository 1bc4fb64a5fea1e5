//! One generation on screen: its candidates in fixed slots, and its figures.

use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::blocks::Block;
use super::candidate::{Candidate, Phase, Testing};
use super::find::Filter;
use super::progress::{EVERY_MS, Progress};
use super::tokens::{Insight, Pace};
use crate::agreement::{Agreement, Answer, Standing};
use crate::engine::{StepStats, Summary};
use crate::job::order_of_pick;
use crate::trial::Status;

/// The rate is averaged over this many ms.
const RATE_WINDOW: u64 = 2000;
/// The rate shown changes at most once in this many ms.
pub const RATE_EVERY: u64 = 250;
/// Time without a word of the source that is worth one, in ms.
const SILENT_MS: u64 = 5000;

/// One generation.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub struct Run {
    /// Its name in events; events of other runs are dropped.
    pub id: u64,
    /// Key of its randomness.
    pub seed: u64,
    /// The candidates; a slot never changes its candidate.
    pub candidates: Vec<Candidate>,
    /// Candidates that say the same, together; in the order of their first ones.
    pub blocks: Vec<Block>,
    /// Candidates that are shown alone all the same.
    pub unfolded: HashSet<usize>,
    /// Lines that are in every block, trimmed.
    pub shared: HashSet<String>,
    /// Verdicts that are shown.
    pub filter: Filter,
    /// The candidate that others are compared with, if the user has marked one.
    pub marked: Option<usize>,
    /// The focused candidate; one that is shown.
    pub focus: usize,
    /// The user has moved the focus since the start, so nothing else may.
    pub moved: bool,
    /// The candidate to take, if there is one already.
    pub pick: Option<usize>,
    /// The agreement of the candidates that were called so far.
    pub agreement: Option<Arc<Agreement>>,
    /// Why one could not be called.
    pub uncalled: Option<String>,
    /// Nothing more comes of its tests and calls.
    pub is_over: bool,
    /// Their agreement among those that passed, if any did.
    passing: Option<Arc<Agreement>>,
    /// Agreement that ordered the table of calls when it was opened: rows and numbers stay as they are then.
    opened: Option<Opened>,
    /// Candidates that give another answer than the user's.
    pub wrong: HashSet<usize>,
    /// The candidates as their source and their agreement rank them, best first, as far as that is known.
    ranking: Vec<usize>,
    /// The row of the table of calls that was selected last.
    pub call: usize,
    /// Its end was shown once: what opens then, and what is said then, comes no second time.
    pub was_over: bool,
    /// Calls whose group is shown one by one in the table of calls.
    pub unfolded_calls: HashSet<usize>,
    /// Calls that the user typed, the last one first, and true while its outcomes are not there.
    pub own_calls: (Vec<String>, bool),
    /// Prompt tokens computed.
    pub prefill: Progress,
    /// When its last round began, in ms.
    started: u64,
    /// Time of the rounds before.
    before: u64,
    /// When its source was heard last.
    pub heard: u64,
    /// When the last candidate ended.
    pub ended: Option<u64>,
    /// The engine's figures, at the end.
    pub summary: Option<Summary>,
    /// When the tests began to run without the candidate, while they do, and the seconds that they may take.
    pub prepares: Option<(u64, u64)>,
    /// The user asked to stop it.
    pub stopping: bool,
    /// The user asked to stop its trials, so nothing is tested any more unless asked for.
    pub untested: bool,
    /// Steps of all candidates.
    pub sequence_steps: usize,
    /// Draft tokens proposed.
    pub drafted: usize,
    /// Draft tokens accepted.
    pub accepted: usize,
    /// Tokens per second, as shown.
    pub rate: f64,
    /// Knowledge of its source about its tokens.
    pub insight: Option<Insight>,
    /// Acceptance of the last steps, and speed.
    pub pace: Pace,
    rate_at: u64,
    window: VecDeque<(u64, usize)>,
}

/// Agreement among those that passed, when the table of calls was opened.
#[derive(Clone, Debug)]
struct Opened {
    passing: Option<Arc<Agreement>>,
}

impl Run {
    /// A generation that was just asked for.
    pub fn new(id: u64, seed: u64, n: usize, now: u64) -> Self {
        Self {
            id,
            seed,
            candidates: vec![Candidate { began: now, ..Candidate::default() }; n],
            blocks: (0..n).map(|c| Block { members: vec![c], shown: c }).collect(),
            unfolded: HashSet::new(),
            shared: HashSet::new(),
            filter: Filter::All,
            marked: None,
            focus: 0,
            moved: false,
            pick: None,
            prefill: Progress::default(),
            started: now,
            before: 0,
            ended: None,
            summary: None,
            agreement: None,
            uncalled: None,
            is_over: false,
            passing: None,
            opened: None,
            wrong: HashSet::new(),
            ranking: Vec::new(),
            heard: now,
            call: 0,
            was_over: false,
            own_calls: (Vec::new(), false),
            unfolded_calls: HashSet::new(),
            prepares: None,
            stopping: false,
            untested: false,
            sequence_steps: 0,
            drafted: 0,
            accepted: 0,
            rate: 0.0,
            insight: None,
            pace: Pace::default(),
            rate_at: now,
            window: VecDeque::new(),
        }
    }

    /// Places for the candidates of a round, the last of which are told what failed.
    pub fn more(&mut self, round: usize, n: usize, told: usize, now: u64) {
        self.is_over = false;
        for place in 0..n {
            self.candidates.push(Candidate { round, told: place + told >= n, began: now, ..Candidate::default() });
        }
        (self.before, self.started, self.heard) = (self.spent(now), now, now);
        self.ranked(&[]);
        (self.ended, self.summary, self.stopping) = (None, None, false);
    }

    /// Time of all rounds until now, in ms; what lies between them does not count.
    pub fn spent(&self, now: u64) -> u64 {
        self.before + self.ended.unwrap_or(now).saturating_sub(self.started)
    }

    /// Tokens may still come.
    pub fn is_live(&self) -> bool {
        self.ended.is_none()
    }

    /// Trials run or wait.
    pub fn is_testing(&self) -> bool {
        self.candidates.iter().any(|c| c.testing.is_pending())
    }

    /// State of a candidate's tests; a duplicate has its original's.
    pub fn testing(&self, candidate: usize) -> &Testing {
        let own = self.candidates.get(candidate);
        let origin = own.and_then(|c| c.duplicate_of).and_then(|o| self.candidates.get(o));
        origin.or(own).map_or(&Testing::None, |c| &c.testing)
    }

    /// It passed its tests, and gives no other answer than the user's.
    pub fn passes(&self, candidate: usize) -> bool {
        self.testing(candidate).passed() && !self.wrong.contains(&candidate)
    }

    /// How its tests ended. One that passed and gives another answer than the user's failed.
    pub fn status(&self, candidate: usize) -> Option<Status> {
        let status = self.testing(candidate).status();
        let is_refuted = status == Some(Status::Passed) && self.wrong.contains(&candidate);
        if is_refuted { Some(Status::Failed) } else { status }
    }

    pub fn focused(&self) -> Option<&Candidate> {
        self.candidates.get(self.focus)
    }

    /// Nothing more will change by itself.
    pub fn is_settled(&self) -> bool {
        !self.is_live() && !self.is_testing()
    }

    /// The focus goes along unless the user has moved it.
    pub fn picked(&mut self, pick: Option<usize>) {
        let before = std::mem::replace(&mut self.pick, pick.filter(|&c| c < self.candidates.len()));
        if self.pick != before {
            self.liken();
        }
        if let Some(pick) = self.pick.filter(|_| !self.moved) {
            self.focus = pick;
        }
    }

    /// Draft tokens accepted per candidate and step; `None` if nothing was drafted.
    pub fn accepted_per_step(&self) -> Option<f64> {
        (self.drafted > 0).then(|| self.accepted as f64 / self.sequence_steps as f64)
    }

    /// Takes the figures of a step in.
    pub fn step(&mut self, stats: StepStats, now: u64) {
        self.sequence_steps += stats.live;
        self.drafted += stats.drafted;
        self.accepted += stats.accepted;
        self.pace.step(&stats);
        self.window.push_back((now, stats.tokens));
        self.tick(now);
    }

    /// Computes the rate anew if its time has come.
    pub fn tick(&mut self, now: u64) {
        if now < self.rate_at + RATE_EVERY || !self.is_live() {
            return;
        }
        self.rate_at = now;
        while self.window.front().is_some_and(|(at, _)| at + RATE_WINDOW < now) {
            self.window.pop_front();
        }
        let tokens: usize = self.window.iter().map(|(_, t)| t).sum();
        let from = self.window.front().map_or(now, |(at, _)| *at);
        // The first step of the window has taken time too, so a window is never shorter than one interval.
        self.rate = tokens as f64 * 1000.0 / now.saturating_sub(from).max(RATE_EVERY) as f64;
    }

    /// When the rate, or the seconds that the tests have run without the candidate, are due.
    pub fn wake_at(&self, now: u64) -> Option<u64> {
        let rate = self.is_live().then_some(self.rate_at + RATE_EVERY);
        let second = self.prepares.map(|(since, _)| since + (now.saturating_sub(since) / 1000 + 1) * 1000);
        let is_read = self.candidates.iter().any(|candidate| candidate.phase == Phase::Prefill);
        let bar = is_read.then(|| now + EVERY_MS);
        rate.into_iter().chain(second).chain(bar).min()
    }

    /// Seconds that the tests have run without the candidate, once a person would ask, and at most may.
    pub fn prepares_for(&self, now: u64) -> Option<(u64, u64)> {
        let (since, longest) = self.prepares?;
        Some((now.saturating_sub(since) / 1000, longest)).filter(|(seconds, _)| *seconds > 0)
    }

    /// Closes the generation: what has not ended is left in `phase`.
    pub fn end(&mut self, phase: Phase, now: u64) {
        for candidate in self.candidates.iter_mut().filter(|c| c.is_live()) {
            candidate.end(phase, now);
        }
        if self.ended.is_none() {
            self.ended = Some(now);
        }
    }

    /// The candidates are ranked so, best first.
    pub fn ranked(&mut self, ranking: &[usize]) {
        self.ranking = ranking.to_vec();
        self.rank();
    }

    /// Candidates that ended by themselves, in the order of the pick.
    pub fn in_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        for &c in &self.ranking {
            if self.candidates.get(c).is_some_and(Candidate::is_whole) && !order.contains(&c) {
                order.push(c);
            }
        }
        let (passed, marked) = (|c| self.testing(c).passed(), |c| self.testing(c).is_marked());
        // As long as no test judges any, marks alone count.
        let is_judged = |status: Status| status != Status::NotRun;
        let is_tested = self.candidates.iter().any(|c| c.testing.status().is_some_and(is_judged));
        let mut order = order_of_pick(&order, is_tested, passed, marked);
        order.sort_by_key(|c| self.wrong.contains(c));
        order
    }

    /// Gives the ranks, after verdicts, agreement or ranking have changed. Candidates that nothing tells
    /// apart share a rank; where that are all of them, none has one.
    pub fn rank(&mut self) {
        let passed = |c: usize| self.testing(c).passed();
        self.passing = self.agreement.as_ref().and_then(|agreement| agreement.among(passed)).map(Arc::new);
        let order = self.in_order();
        let mut ranks: Vec<usize> = Vec::new();
        for (place, &c) in order.iter().enumerate() {
            let is_level = place > 0 && self.is_level(order[place - 1], c);
            ranks.push(if is_level { ranks[place - 1] } else { place + 1 });
        }
        let is_known = ranks.last().is_some_and(|&last| last > 1);
        self.candidates.iter_mut().for_each(|candidate| candidate.rank = None);
        for (&c, &rank) in order.iter().zip(&ranks).filter(|_| is_known) {
            self.candidates[c].rank = Some(rank);
        }
    }

    /// Nothing that counts for the pick tells two candidates apart.
    fn is_level(&self, one: usize, other: usize) -> bool {
        let origin = |c: usize| self.candidates[c].duplicate_of.unwrap_or(c);
        let same = |c: usize| (0..self.candidates.len()).filter(|&other| origin(other) == origin(c)).count();
        let key = |c: usize| {
            let (testing, probable) = (self.testing(c), self.candidates[c].mean_logprob);
            let standing = self.standing(c).map(Standing::order);
            let copies = if probable.is_some() { 0 } else { same(c) };
            (
                self.wrong.contains(&c),
                testing.passed(),
                testing.is_marked() && !Filter::Failed.takes(testing.status()),
                standing,
                probable,
                copies,
            )
        };
        key(one) == key(other)
    }

    /// The agreement that counts: where several passed, that among them.
    pub fn agreeing(&self) -> Option<&Agreement> {
        let several = self.passing.as_deref().filter(|passing| passing.candidates() > 1);
        // A pass may have ended the calls before its own.
        let is_stale = self.passing.is_none() && self.has_passed();
        several.or_else(|| self.agreement.as_deref().filter(|_| !is_stale))
    }

    /// Tests decide by their verdicts alone: none passed, or only one did.
    pub fn is_decided(&self) -> bool {
        let is_one = self.passing.as_ref().is_none_or(|passing| passing.candidates() < 2);
        self.closest().is_some() || self.has_passed() && is_one
    }

    /// A candidate passed its tests.
    pub fn has_passed(&self) -> bool {
        (0..self.candidates.len()).any(|c| self.testing(c).passed())
    }

    /// Nothing is known of others that do what a candidate does, or it does not count: others passed.
    pub fn is_apart(&self, candidate: usize) -> bool {
        let is_one = |passing: &Arc<Agreement>| passing.candidates() < 2 || passing.standing(candidate).is_none();
        self.passing.as_ref().map_or_else(|| self.has_passed(), is_one)
    }

    /// The place of a candidate among those that it agrees with.
    pub fn standing(&self, candidate: usize) -> Option<&Standing> {
        let passing = self.passing.as_deref().and_then(|passing| passing.standing(candidate));
        passing.or_else(|| self.agreement.as_deref()?.standing(candidate))
    }

    /// The table of calls is opened, or closed: while it is open its rows and numbers stay.
    pub fn open_calls(&mut self, is_open: bool) {
        self.opened = is_open.then(|| Opened { passing: self.passing.clone() });
    }

    /// The agreement among those that passed, as far as it orders the table of calls.
    fn ordering(&self) -> Option<&Agreement> {
        self.opened.as_ref().map_or(self.passing.as_deref(), |opened| opened.passing.as_deref())
    }

    /// The answers to a call: first those of most candidates that count.
    pub fn answers(&self, input: usize) -> Vec<Answer> {
        let mut all = self.agreement.as_deref().map_or_else(Vec::new, |agreement| agreement.answers(input));
        if let Some(passing) = self.ordering() {
            let votes = |answer: &Answer| answer.candidates.iter().filter(|&&c| passing.standing(c).is_some()).count();
            all.sort_by_key(|answer| Reverse(votes(answer)));
        }
        all
    }

    /// The candidates whose calls still run, once those of some are there.
    pub fn comparing(&self) -> Vec<usize> {
        let Some(agreement) = self.agreement.as_deref().filter(|_| self.is_live()) else { return Vec::new() };
        let is_called = |c: &usize| self.candidates[*c].is_whole() && agreement.standing(*c).is_none();
        (0..self.candidates.len()).filter(is_called).collect()
    }

    /// The inputs that have a row in the table of calls: one stands for all that tell the same candidates
    /// apart.
    pub fn called_on(&self) -> Vec<usize> {
        self.folded(&self.called_one_by_one())
    }

    /// The inputs that the table of calls shows: first those that the user typed, the one that tells the
    /// largest groups apart, those on which candidates that count differ, then those on which others do, else
    /// all.
    pub(super) fn called_one_by_one(&self) -> Vec<usize> {
        let all = self.called_apart();
        let Some(agreement) = self.agreement.as_ref().filter(|_| !self.own_calls.0.is_empty()) else { return all };
        let place = |call: &String| agreement.inputs.iter().position(|input| input.text() == *call);
        let own: Vec<usize> = self.own_calls.0.iter().filter_map(place).collect();
        let others = all.into_iter().filter(|input| !own.contains(input));
        own.iter().copied().chain(others.collect::<Vec<_>>()).collect()
    }

    fn called_apart(&self) -> Vec<usize> {
        let several = self.ordering().filter(|passing| passing.candidates() > 1);
        let agreeing = several.or(self.agreement.as_deref());
        // The one that the screen names comes first.
        let first = agreeing.and_then(Agreement::telling);
        let differing = agreeing.map_or(&[][..], Agreement::differing);
        let others = differing.iter().copied().filter(|&input| Some(input) != first);
        let mut rows: Vec<usize> = first.into_iter().chain(others).collect();
        let Some(agreement) = &self.agreement else { return rows };
        rows.extend(agreement.differing().iter().filter(|&input| !rows.contains(input)).copied().collect::<Vec<_>>());
        if rows.is_empty() {
            // All do the same: first what they do otherwise than the function did.
            let changes = agreement.changes(self.focus).unwrap_or_default();
            let others = (0..agreement.inputs.len()).filter(|input| !changes.contains(input));
            rows = changes.iter().copied().chain(others).collect();
        }
        rows
    }

    /// Seconds without a word of its source, once a person would ask.
    pub fn silent_for(&self, now: u64) -> Option<u64> {
        let silent = now.saturating_sub(self.heard);
        (self.is_live() && silent >= SILENT_MS).then_some(silent / 1000)
    }

    /// There are no tests any more. Returns true if there was a verdict.
    pub fn forget_tests(&mut self) -> bool {
        let had = self.candidates.iter().any(|candidate| candidate.testing.is_settled());
        for candidate in &mut self.candidates {
            let marks = match std::mem::replace(&mut candidate.testing, Testing::None) {
                Testing::Done(verdict) | Testing::Marked(verdict) if verdict.is_marked() => Some(verdict),
                _ => None,
            };
            candidate.testing = marks.map_or(Testing::None, Testing::Marked);
        }
        self.rank();
        had
    }

    /// Waits for no trial any more.
    pub fn drop_trials(&mut self, why: &Testing) {
        for candidate in self.candidates.iter_mut().filter(|c| c.testing.is_pending()) {
            candidate.testing = why.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_between_rounds_does_not_count() {
        let mut run = Run::new(1, 1, 1, 100);
        run.end(Phase::Broken, 500);
        assert_eq!(run.spent(900), 400);
        run.more(2, 1, 0, 5000);
        assert_eq!((run.spent(5100), run.candidates[0].began, run.candidates[1].began), (500, 100, 5000));
        run.end(Phase::Broken, 5300);
        assert_eq!(run.spent(9000), 700);
    }

    #[test]
    fn seconds_without_the_candidate_are_shown_as_they_pass() {
        let mut run = Run::new(1, 1, 1, 0);
        run.end(Phase::Broken, 0);
        assert_eq!((run.wake_at(500), run.prepares_for(500)), (None, None));
        run.prepares = Some((400, 60));
        assert_eq!((run.wake_at(500), run.prepares_for(500)), (Some(1400), None));
        assert_eq!((run.wake_at(2500), run.prepares_for(2500)), (Some(3400), Some((2, 60))));
    }
}
