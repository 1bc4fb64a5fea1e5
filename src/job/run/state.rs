//! The state of a run, which events of the source and of trials change.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::calls::Calls;
use super::rounds::{self, Rounds};
use super::{Ask, Candidate, Event, Outcome, Sink, Task, WhyMore};
use crate::engine::MAX_CANDIDATES;
use crate::job::trials::{News, Queue, TrialPool, Turn};
use crate::source::{self, FinishReason, Request, Source, Summary, Ticket};
use crate::trial::{Limits, Observed, Runner, Status, Verdict};

/// Internal state of a candidate.
#[derive(Clone, Default)]
pub(super) struct Slot {
    /// See [`Task::duplicate_key`]. Only for candidates that ended by themselves.
    pub key: Option<String>,
    /// The equal candidate that ended first, if that is another one.
    pub origin: Option<usize>,
    /// Ends its waiting or running trial.
    pub trial: Option<Arc<AtomicBool>>,
    /// The number of the task that its trial is of.
    pub tasks: usize,
    /// Ends its waiting or running calls.
    pub calls: Option<Arc<AtomicBool>>,
    /// The outcomes of its calls.
    pub observed: Option<Vec<Observed>>,
    pub passed: bool,
    /// True if it has suspicious uses.
    pub marked: bool,
    /// True if the user has made it.
    pub made: bool,
    /// A sentence that speaks against it: it is no pick, and has no vote.
    pub objection: Option<String>,
}

pub(super) struct State {
    /// This state, for what works in the background.
    pub(super) me: Weak<Mutex<Self>>,
    pub(super) task: Arc<dyn Task>,
    /// How many tasks there were before this one.
    tasks: usize,
    pub(super) limits: Limits,
    stop_on_pass: bool,
    pub(super) problem: usize,
    /// The first request, and what may be asked after it.
    first: Request,
    rounds: Option<Rounds>,
    round: usize,
    pub(super) candidates: Vec<Candidate>,
    pub(super) slots: Vec<Slot>,
    /// Candidates that their token limit cut in the middle of the function.
    pub(super) cut_off: Vec<usize>,
    pub(super) calls: Calls,
    /// Requests that have not ended.
    writing: usize,
    /// Figures of those that have.
    figures: Option<Summary>,
    pub(super) picked: Option<usize>,
    pub(super) first_pass: Option<usize>,
    /// True if the user stopped the generation.
    stopped: bool,
    /// True if no more trials may begin.
    untested: bool,
    /// The requests, each with the index of its first candidate.
    tickets: Vec<(usize, Ticket)>,
    /// Ends the run of the tests without the candidate.
    preparing: Option<Arc<AtomicBool>>,
    pub(super) queue: Option<Arc<Queue>>,
    /// `None` once the receiver is gone.
    sink: Option<Sink>,
}

pub(super) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks a source, whose candidates begin at this index.
pub(super) fn generate(state: &Arc<Mutex<State>>, source: &dyn Source, first: usize, request: Request) {
    let (told, own) = (state.clone(), first..first + request.options.n);
    let ticket = source.generate(
        request,
        Box::new(move |event| {
            let mut this = lock(&told);
            this.source(&own, event);
            if this.sink.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }),
    );
    let mut state = lock(state);
    // Events that came during the request may have ended it already. A round after a pass was asked for.
    if state.stopped || first == 0 && state.stop_on_pass && state.has_passed() {
        ticket.cancel_all();
    }
    state.tickets.push((first, ticket));
}

impl State {
    pub fn new(me: Weak<Mutex<Self>>, pool: Option<&TrialPool>, ask: Ask, sink: Sink) -> Self {
        let Ask { request: first, task, limits, stop_on_pass, agree, rounds, problem } = ask;
        let n = first.options.n;
        let queue = pool.map(|pool| pool.queue.clone());
        if let Some(queue) = &queue {
            queue.begin_writing();
        }
        // One alone is called where no test says whether it can be run.
        let can_agree = agree && (n > 1 || !task.has_tests()) && queue.as_ref().is_some_and(|queue| queue.may_run());
        Self {
            me,
            calls: Calls::new(can_agree),
            task,
            tasks: 0,
            limits,
            stop_on_pass,
            problem,
            first,
            rounds,
            round: 1,
            candidates: (0..n).map(Candidate::new).collect(),
            slots: vec![Slot::default(); n],
            cut_off: Vec::new(),
            writing: 1,
            figures: None,
            picked: None,
            first_pass: None,
            stopped: false,
            untested: false,
            tickets: Vec::new(),
            preparing: None,
            queue,
            sink: Some(sink),
        }
    }

    /// Figures of the source, once it has finished.
    fn summary(&self) -> Option<&Summary> {
        self.figures.as_ref().filter(|_| self.writing == 0)
    }

    /// Writes another round of candidates beside those before. False if the source has not finished, or there
    /// are as many as a run may have.
    pub fn more(&mut self, why: WhyMore) -> bool {
        let n = self.first.options.n.min(MAX_CANDIDATES.saturating_sub(self.candidates.len()));
        let (Some(rounds), Some(summary), Some(me)) = (self.rounds.clone(), self.summary(), self.me.upgrade()) else {
            return false;
        };
        if n == 0 {
            return false;
        }
        let ranking = summary.ranking.clone();
        // Examples may have been added to the text since.
        let renewed = (self.tasks > 0).then(|| self.task.prompt_now(&rounds.source.window())).flatten();
        if let Some(prompt) = renewed {
            self.first.prompt = prompt;
        }
        let first = (&self.first, n);
        let requests = rounds::requests(first, self.round + 1, &rounds, &*self.task, &self.candidates, &ranking);
        self.round += 1;
        (self.writing, self.stopped, self.untested) = (requests.len(), false, false);
        let first = self.candidates.len();
        let mut places = Vec::new();
        for request in &requests {
            let place = self.candidates.len();
            places.push(place);
            let (round, told) = (self.round, request.prompt != self.first.prompt);
            let new = |index| Candidate { round, told, ..Candidate::new(index) };
            self.candidates.extend((place..place + request.options.n).map(new));
            self.queue.iter().for_each(|queue| queue.begin_writing());
        }
        self.slots.resize(self.candidates.len(), Slot::default());
        let told = self.candidates[first..].iter().filter(|c| c.told).count();
        self.tell(Event::Round { number: self.round, candidates: first..self.candidates.len(), told, why });
        // A source may tell events at once, which need this state.
        std::thread::spawn(move || {
            for (place, request) in places.into_iter().zip(requests) {
                generate(&me, &*rounds.source, place, request);
            }
        });
        true
    }

    /// Another round may be written that nobody asked for.
    fn may_go_on(&self) -> bool {
        let may = self.rounds.as_ref().is_some_and(|rounds| self.round < rounds.most);
        // Who gives so much time means all of it.
        let may = may && self.first.options.time_budget.is_none();
        may && !(self.stopped || self.untested || self.sink.is_none())
    }

    /// Goes on with another round where none has passed and that may help.
    fn goes_on(&mut self) -> bool {
        if !self.may_go_on() || !self.is_tested() || self.slots.iter().any(|slot| slot.passed) {
            return false;
        }
        // Tests that could not run say nothing about candidates.
        let ran = |c: &Candidate| {
            matches!(c.verdict.status, Status::Failed | Status::Error | Status::Timeout | Status::Passed)
        };
        self.candidates.iter().any(ran) && self.more(WhyMore::NonePasses)
    }

    pub fn stop_one(&self, candidate: usize) {
        let of = self.tickets.iter().rfind(|(first, _)| *first <= candidate);
        if let Some((first, ticket)) = of {
            ticket.cancel(candidate - first);
        }
    }

    pub fn add(&mut self, of: usize, text: String) {
        let candidate = self.candidates.len();
        let round = self.candidates.get(of).map_or(1, |c| c.round);
        let finish = Some(FinishReason::Stop);
        self.candidates.push(Candidate { text: text.clone(), finish, round, ..Candidate::new(candidate) });
        self.slots.push(Slot { made: true, ..Slot::default() });
        self.tell(Event::Added { candidate, of, text });
        self.ended(candidate);
    }

    pub fn test_again(&mut self, candidate: usize) {
        // Only the first tests of a run write more by themselves.
        self.rounds.iter_mut().for_each(|rounds| rounds.most = 0);
        let Some(slot) = self.slots.get(candidate) else { return };
        match &slot.trial {
            // It runs already.
            Some(_) if slot.tasks == self.tasks => return,
            Some(trial) => trial.store(true, Ordering::Relaxed),
            None => {}
        }
        self.test(candidate);
    }

    pub fn use_task(&mut self, task: Arc<dyn Task>) {
        self.task = task;
        self.tasks += 1;
    }

    pub(super) fn tell(&mut self, event: Event) {
        if self.sink.as_mut().is_some_and(|sink| sink(event).is_break()) {
            self.sink = None;
            self.stop_tests();
        }
    }

    pub fn stop(&mut self) {
        self.stopped = true;
        self.cancel_all();
    }

    fn cancel_all(&self) {
        self.tickets.iter().for_each(|(_, ticket)| ticket.cancel_all());
    }

    /// Runs the tests without the candidate while candidates are written.
    pub fn prepare(&mut self) {
        let (Some(queue), Some(trial)) = (self.queue.clone(), self.task.preparation(self.limits)) else { return };
        let cancel = Arc::new(AtomicBool::new(false));
        self.preparing = Some(cancel.clone());
        let (Some(me), longest) = (self.me.upgrade(), Runner::longest_preparation(&trial)) else { return };
        queue.prepare(self.problem, trial, cancel, move |news| {
            let mut this = lock(&me);
            let has_ended = matches!(news, News::Ended(_));
            if has_ended {
                this.preparing = None;
            }
            this.tell(Event::Preparing((!has_ended).then_some(longest)));
        });
    }

    pub fn stop_test(&mut self, candidate: usize) {
        let Some(trial) = self.slots.get_mut(candidate).and_then(|slot| slot.trial.take()) else { return };
        trial.store(true, Ordering::Relaxed);
        self.queue.iter().for_each(|queue| queue.look());
        self.settle();
    }

    pub fn stop_tests(&mut self) {
        self.untested = true;
        let running = self.slots.iter_mut().flat_map(|slot| [slot.trial.take(), slot.calls.take()]);
        let running = running.chain([self.calls.before.calls.take()]);
        for cancel in running.flatten().chain(self.preparing.take()) {
            cancel.store(true, Ordering::Relaxed);
        }
        self.queue.iter().for_each(|queue| queue.look());
        self.settle();
    }

    /// Handles an event of the request for these candidates.
    fn source(&mut self, own: &Range<usize>, event: source::Event) {
        use source::Event as From;
        let mut ended = None;
        let event = rounds::moved(event, own.start);
        match &event {
            From::Tokens { candidate, ids, logprobs, .. } => {
                if let Some(c) = self.candidates.get_mut(*candidate) {
                    c.token_ids.extend(ids);
                    c.logprobs.extend(logprobs);
                }
            }
            From::Broken { candidate, why } => {
                if let Some(c) = self.candidates.get_mut(*candidate) {
                    (c.verdict, c.is_broken) = (Verdict::not_run(why), true);
                }
            }
            From::Finished { candidate, reason, text, mean_logprob } => {
                if let Some(c) = self.candidates.get_mut(*candidate) {
                    (c.text, c.mean_logprob, c.finish) = (text.clone(), *mean_logprob, Some(*reason));
                    ended = Some(*candidate);
                }
            }
            From::Refused(why) | From::Failed(why) if own.start > 0 => return self.lost(own, why),
            From::Done(summary) => return self.written(summary),
            _ => {}
        }
        let over = matches!(event, From::Refused(_) | From::Failed(_));
        self.tell(Event::Source(event));
        if let Some(candidate) = ended {
            self.ended(candidate);
        }
        if over {
            self.queue.iter().for_each(|queue| queue.end_writing());
            self.settle();
        }
    }

    /// Ends a request of a further round that was not answered. What was written before stays.
    fn lost(&mut self, own: &Range<usize>, why: &str) {
        for candidate in own.clone().filter(|&c| self.candidates[c].finish.is_none()).collect::<Vec<_>>() {
            let c = &mut self.candidates[candidate];
            (c.verdict, c.is_broken, c.finish) = (Verdict::not_run(why), true, Some(FinishReason::Failed));
            let (text, reason, mean_logprob) = (c.text.clone(), FinishReason::Failed, None);
            self.tell(Event::Source(source::Event::Broken { candidate, why: why.to_owned() }));
            self.tell(Event::Source(source::Event::Finished { candidate, reason, text, mean_logprob }));
        }
        self.written(&Summary::default());
    }

    /// Ends a request. With the last one of a round all is written that was asked for.
    fn written(&mut self, summary: &Summary) {
        self.queue.iter().for_each(|queue| queue.end_writing());
        let all = match self.figures.take() {
            None => summary.clone(),
            Some(before) => rounds::together(before, summary, &self.candidates),
        };
        self.writing = self.writing.saturating_sub(1);
        self.figures = Some(all.clone());
        if self.writing > 0 {
            return;
        }
        self.tell(Event::Source(source::Event::Done(Box::new(all))));
        self.add_inputs();
        self.settle();
    }

    /// Handles the end of a candidate. It is tested, unless it was cut or an equal one is tested.
    fn ended(&mut self, candidate: usize) {
        let has_passed = self.has_passed();
        let c = &mut self.candidates[candidate];
        if c.finish == Some(FinishReason::Failed) || c.is_broken {
            return;
        }
        if c.finish.is_some_and(FinishReason::is_cut) {
            let by_pass = self.stop_on_pass && has_passed && !self.stopped;
            let by_pass = by_pass && c.finish == Some(FinishReason::Cancelled);
            let why = if by_pass { "stopped, because another one passed" } else { "cut before its end" };
            c.verdict = Verdict::not_run(why);
            return;
        }
        let key = Some(self.task.duplicate_key(candidate, &c.text));
        if c.finish.is_some_and(|reason| self.task.is_cut_off(reason, &c.text)) {
            self.slots[candidate].key = key;
            self.cut_off.push(candidate);
            if self.task.has_tests() {
                c.verdict = Verdict::not_run(if c.text.trim().is_empty() {
                    "nothing of the function was written within the token limit: raise --max-tokens"
                } else {
                    "cut at its token limit, in the middle of the function: raise --max-tokens"
                });
                let outcome = Ok(c.verdict.clone());
                self.tell(Event::Verdict { candidate, outcome });
            }
            return;
        }
        let same = |(index, slot): &(usize, &Slot)| *index != candidate && slot.origin.is_none() && slot.key == key;
        let origin = self.slots.iter().enumerate().find(same).map(|(index, _)| index);
        (self.slots[candidate].key, self.slots[candidate].origin) = (key, origin);
        self.slots[candidate].objection = self.task.objection(&self.candidates[candidate].text);
        match origin {
            Some(of) => self.tell(Event::Duplicate { candidate, of }),
            None if self.untested => {}
            None => {
                self.test(candidate);
                self.call(candidate);
            }
        }
        if origin.is_some() {
            self.agree();
        }
    }

    fn test(&mut self, candidate: usize) {
        let Some(c) = self.candidates.get_mut(candidate).filter(|c| c.finish.is_some()) else { return };
        let Some(trial) = self.task.trial(candidate, &c.text, self.limits) else {
            let objection = self.slots[candidate].objection.as_slice();
            c.verdict = self.task.untested(&c.text, self.limits).with_marks(objection);
            self.slots[candidate].marked = c.verdict.is_marked();
            if !c.verdict.news().is_empty() {
                let outcome = Ok(c.verdict.clone());
                self.tell(Event::Verdict { candidate, outcome });
            }
            return;
        };
        let Some(queue) = self.queue.clone() else { return };
        c.verdict = Verdict::not_run("its tests were cancelled");
        let turn = Turn { problem: self.problem, mean_logprob: c.mean_logprob.unwrap_or(0.0), candidate };
        let cancel = Arc::new(AtomicBool::new(false));
        (self.slots[candidate].trial, self.slots[candidate].tasks) = (Some(cancel.clone()), self.tasks);
        self.slots[candidate].passed = false;
        let (Some(me), mine) = (self.me.upgrade(), cancel.clone()) else { return };
        queue.start(turn, trial, cancel, move |news| {
            let mut this = lock(&me);
            // A cancelled trial says nothing about the candidate.
            if this.slots[candidate].trial.as_ref().is_some_and(|trial| Arc::ptr_eq(trial, &mine)) {
                this.tested(candidate, news);
            }
        });
    }

    fn tested(&mut self, candidate: usize, news: News) {
        let News::Ended(outcome) = news else { return self.tell(Event::Testing(candidate)) };
        let slot = &mut self.slots[candidate];
        let outcome = outcome.map(|verdict| verdict.with_marks(slot.objection.as_slice()));
        slot.trial = None;
        let is_pass = matches!(&outcome, Ok(verdict) if verdict.status == Status::Passed);
        slot.passed = is_pass && slot.objection.is_none();
        slot.marked = matches!(&outcome, Ok(verdict) if verdict.is_marked());
        let (passed, marked) = (slot.passed, slot.marked);
        self.candidates[candidate].verdict = outcome.clone().unwrap_or_else(|why| Verdict::not_run(&why));
        self.tell(Event::Verdict { candidate, outcome });
        if passed && self.first_pass.is_none_or(|first| self.slots[first].marked && !marked) {
            self.first_pass = Some(candidate);
            self.pick(None);
            // Trials go on: a candidate that has ended by itself keeps its verdict, and may be better.
            if self.stop_on_pass && !marked && self.summary().is_none() {
                self.cancel_all();
            }
        }
        self.settle();
    }

    /// Goes on with another round where there are no tests and no candidate can be loaded and run.
    fn replaces_broken(&mut self) -> bool {
        let mut whole = (0..self.slots.len()).filter(|&c| !self.is_cut(c)).peekable();
        let none_loads = whole.peek().is_some() && whole.all(|c| self.is_broken_code(c));
        // Else it is the file around them that cannot be loaded.
        let is_theirs = self.calls.agreement.as_ref().is_some_and(|agreement| agreement.differ_broken());
        none_loads && is_theirs && !self.is_tested() && self.may_go_on() && self.more(WhyMore::NoneRuns)
    }

    /// Reports the outcome once no more events can come.
    pub(super) fn settle(&mut self) {
        let Some(mut summary) = self.summary().cloned() else { return };
        if self.slots.iter().any(|slot| slot.trial.is_some()) {
            return;
        }
        if self.goes_on() {
            return;
        }
        // A pass that ends the run waits for no calls.
        if self.stop_on_pass && self.has_passed() {
            let calls = self.slots.iter_mut().filter_map(|slot| slot.calls.take());
            calls.chain(self.calls.before.calls.take()).for_each(|cancel| cancel.store(true, Ordering::Relaxed));
        }
        let is_called = self.calls.before.calls.is_some() || self.slots.iter().any(|slot| slot.calls.is_some());
        if is_called || self.replaces_broken() {
            return;
        }
        self.rank(&mut summary);
        // A candidate that was cut has no key.
        let is_tested = self.is_tested();
        let fits = |c: &usize| !self.is_cut(*c) && self.stands(*c, is_tested);
        // Candidates that the user has made come last: they have no probability.
        let made = (0..self.candidates.len()).filter(|c| !summary.ranking.contains(c));
        let order: Vec<usize> = summary.ranking.iter().copied().chain(made).filter(fits).collect();
        self.pick(Some(&order));
        let mut candidates = self.candidates.clone();
        for (c, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.key.is_some()) {
            if let Some(origin) = slot.origin {
                candidates[c].verdict = self.candidates[origin].verdict.clone();
            }
            candidates[c].duplicate_of = self.slots[..c].iter().position(|other| other.key == slot.key);
        }
        self.tell(Event::Done(Box::new(Outcome {
            candidates,
            summary,
            picked: self.picked,
            agreement: self.calls.agreement.clone(),
        })));
    }
}
