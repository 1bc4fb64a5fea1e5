//! One run of a job: candidates are written, compared, tested and picked, and all events come in one stream.
//!
//! A run has no thread of its own: it advances when the source or a trial reports an event. The caller gets
//! events through a sink, which may lead into a channel of any kind.

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use super::trials::{News, Queue, TrialPool, Turn};
use crate::agreement::{Agreement, Standing, Witness};
use crate::source::{self, FinishReason, Request, Source, Summary, Ticket};
use crate::trial::{Input, Limits, Observed, Runner, Status, Trial, Verdict};

/// The task of a run: how its candidates are compared and tested.
pub trait Task: Send + Sync {
    /// Returns true if candidates are tested.
    fn has_tests(&self) -> bool;
    /// The trial of a candidate; `None` without tests.
    fn trial(&self, candidate: usize, text: &str, limits: Limits) -> Option<Trial>;
    /// The trial whose tests are run without the candidate while candidates are written. `None` where that
    /// gains nothing.
    fn preparation(&self, _limits: Limits) -> Option<Trial> {
        None
    }
    /// A sentence about names that a candidate uses and nothing defines, for one that is not tested.
    fn lacking(&self, _text: &str) -> Option<String> {
        None
    }
    /// The inputs that candidates are called on, or a sentence why they are not.
    fn inputs(&self) -> Result<Vec<Input>, String> {
        Err("there is no function to call".to_owned())
    }
    /// The program whose function is called, as a trial without tests.
    fn called(&self, _candidate: usize, _text: &str, _limits: Limits) -> Option<Trial> {
        None
    }
    /// Equal for candidates that differ only in white space, blank lines or comments.
    fn duplicate_key(&self, candidate: usize, text: &str) -> String;
}

/// Parameters of a run.
pub struct Ask {
    /// The request to the source.
    pub request: Request,
    /// The task.
    pub task: Arc<dyn Task>,
    /// Limits of each trial.
    pub limits: Limits,
    /// True to end generation with the first pass.
    pub stop_on_pass: bool,
    /// True to call the candidates on the same inputs, where that can be done.
    pub agree: bool,
    /// Number of the problem. Of several runs that share a pool, the one with the lower number is tested
    /// first.
    pub problem: usize,
}

/// Events of a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// An event of the source, unchanged.
    Source(source::Event),
    /// A candidate that has just ended equals an earlier one, and shares its verdict.
    Duplicate {
        /// The candidate.
        candidate: usize,
        /// The equal candidate that is tested.
        of: usize,
    },
    /// The tests are run once without the candidate: begun, with this time limit, or ended.
    Preparing(Option<Duration>),
    /// The trial of a candidate has begun.
    Testing(usize),
    /// The trial of a candidate has ended.
    Verdict {
        /// The candidate.
        candidate: usize,
        /// Its verdict, or a sentence why there is none.
        outcome: Result<Verdict, String>,
    },
    /// A candidate that the user has made of another one; it ended at once.
    Added {
        /// The candidate, behind all others.
        candidate: usize,
        /// The one that it was made of.
        of: usize,
        /// Its text.
        text: String,
    },
    /// The agreement of the candidates that were called so far.
    Agreement(Arc<Agreement>),
    /// The candidate picked so far, when it changes.
    Pick(Option<usize>),
    /// All candidates have ended and none waits to be tested. After [`source::Event::Refused`] and `Failed`
    /// this event does not come.
    Done(Box<Outcome>),
}

/// Receives the events of a run, on threads of the source and of the pool. Must neither block for long nor
/// call the run. `Break` means that the receiver is gone: the run then ends.
pub type Sink = Box<dyn FnMut(Event) -> ControlFlow<()> + Send>;

/// A candidate and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Its index.
    pub index: usize,
    /// Its text, up to its stop.
    pub text: String,
    /// All generated ids, before any trimming of the text.
    pub token_ids: Vec<u32>,
    /// Raw main-model log-probabilities of these ids.
    pub logprobs: Vec<f32>,
    /// Their mean, if the source reports it.
    pub mean_logprob: Option<f32>,
    /// Reason of its end.
    pub finish: Option<FinishReason>,
    /// The lowest index of an equal candidate, if that is another one.
    pub duplicate_of: Option<usize>,
    /// The verdict of the tests.
    pub verdict: Verdict,
    /// The source has said why there is nothing to test; the verdict has its words.
    #[serde(skip)]
    pub is_broken: bool,
}

impl Candidate {
    /// Number of its tokens, as far as the source reports them.
    pub fn tokens(&self) -> usize {
        self.token_ids.len().max(self.logprobs.len())
    }

    /// A candidate that has not begun.
    pub fn new(index: usize) -> Self {
        Self {
            index,
            text: String::new(),
            token_ids: Vec::new(),
            logprobs: Vec::new(),
            mean_logprob: None,
            finish: None,
            duplicate_of: None,
            verdict: Verdict::not_run("no tests"),
            is_broken: false,
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The candidates by index.
    pub candidates: Vec<Candidate>,
    /// Figures and ranking.
    pub summary: Summary,
    /// The picked candidate.
    pub picked: Option<usize>,
    /// The agreement of the candidates, if they were called.
    pub agreement: Option<Arc<Agreement>>,
}

/// A running run. Dropping it does not cancel it.
pub struct Run(Arc<Mutex<State>>);

/// Internal state of a candidate.
#[derive(Clone, Default)]
struct Slot {
    /// See [`Task::duplicate_key`]. Only for candidates that ended by themselves.
    key: Option<String>,
    /// The equal candidate that ended first, if that is another one.
    origin: Option<usize>,
    /// Ends its waiting or running trial.
    trial: Option<Arc<AtomicBool>>,
    /// Ends its waiting or running calls.
    calls: Option<Arc<AtomicBool>>,
    /// The outcomes of its calls.
    observed: Option<Vec<Observed>>,
    passed: bool,
    /// True if it has suspicious uses.
    marked: bool,
    /// True if the user has made it.
    made: bool,
}

struct State {
    task: Arc<dyn Task>,
    limits: Limits,
    stop_on_pass: bool,
    problem: usize,
    candidates: Vec<Candidate>,
    slots: Vec<Slot>,
    /// The inputs that candidates are called on.
    inputs: Option<Arc<[Input]>>,
    agreement: Option<Arc<Agreement>>,
    /// Set once the source has finished.
    summary: Option<Summary>,
    picked: Option<usize>,
    first_pass: Option<usize>,
    /// True if the user stopped the generation.
    stopped: bool,
    /// True if no more trials may begin.
    untested: bool,
    ticket: Option<Ticket>,
    /// Ends the run of the tests without the candidate.
    preparing: Option<Arc<AtomicBool>>,
    queue: Option<Arc<Queue>>,
    /// `None` once the receiver is gone.
    sink: Option<Sink>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    /// Asks `source` for candidates and tests them in `pool`. Never blocks.
    pub fn start(source: &dyn Source, pool: Option<&TrialPool>, ask: Ask, sink: Sink) -> Self {
        let Ask { request, task, limits, stop_on_pass, agree, problem } = ask;
        let n = request.options.n;
        let queue = pool.map(|pool| pool.queue.clone());
        if let Some(queue) = &queue {
            queue.begin_writing();
        }
        let can_agree = agree && n > 1 && queue.as_ref().is_some_and(|queue| queue.may_run());
        let inputs = can_agree.then(|| task.inputs().ok()).flatten().map(Into::into);
        let run = Self(Arc::new(Mutex::new(State {
            inputs,
            agreement: None,
            task,
            limits,
            stop_on_pass,
            problem,
            candidates: (0..n).map(Candidate::new).collect(),
            slots: vec![Slot::default(); n],
            summary: None,
            picked: None,
            first_pass: None,
            stopped: false,
            untested: false,
            ticket: None,
            preparing: None,
            queue,
            sink: Some(sink),
        })));
        lock(&run.0).prepare(&run.0);
        let state = run.0.clone();
        let ticket = source.generate(
            request,
            Box::new(move |event| {
                let mut this = lock(&state);
                this.source(&state, event);
                if this.sink.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }),
        );
        let mut state = lock(&run.0);
        // Events that came during the request may have ended it already.
        if state.stopped || state.stop_on_pass && state.has_passed() {
            ticket.cancel_all();
        }
        state.ticket = Some(ticket);
        drop(state);
        run
    }

    /// Ends one candidate; its text so far is kept.
    pub fn stop_one(&self, candidate: usize) {
        lock(&self.0).ticket.iter().for_each(|ticket| ticket.cancel(candidate));
    }

    /// Ends all candidates; their text so far is kept.
    pub fn stop(&self) {
        lock(&self.0).stop();
    }

    /// Ends all trials, and starts no more.
    pub fn stop_tests(&self) {
        lock(&self.0).stop_tests();
    }

    /// Ends everything.
    pub fn cancel(&self) {
        let mut state = lock(&self.0);
        state.stop();
        state.stop_tests();
    }

    /// Uses `task` for tests from now on.
    pub fn use_task(&self, task: Arc<dyn Task>) {
        lock(&self.0).task = task;
    }

    /// Adds a candidate that the user has made of another one, and tests it.
    pub fn add(&self, of: usize, text: String) {
        let mut state = lock(&self.0);
        let candidate = state.candidates.len();
        let made = Candidate { text: text.clone(), finish: Some(FinishReason::Stop), ..Candidate::new(candidate) };
        state.candidates.push(made);
        state.slots.push(Slot { made: true, ..Slot::default() });
        state.tell(Event::Added { candidate, of, text });
        state.ended(&self.0, candidate);
    }

    /// Tests an ended candidate once more.
    pub fn test(&self, candidate: usize) {
        let mut state = lock(&self.0);
        if state.slots.get(candidate).is_some_and(|slot| slot.trial.is_none()) {
            state.test(&self.0, candidate);
        }
    }
}

impl State {
    fn tell(&mut self, event: Event) {
        if self.sink.as_mut().is_some_and(|sink| sink(event).is_break()) {
            self.sink = None;
            self.stop_tests();
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.ticket.iter().for_each(Ticket::cancel_all);
    }

    /// Runs the tests without the candidate while candidates are written.
    fn prepare(&mut self, shared: &Arc<Mutex<Self>>) {
        let (Some(queue), Some(trial)) = (self.queue.clone(), self.task.preparation(self.limits)) else { return };
        let cancel = Arc::new(AtomicBool::new(false));
        self.preparing = Some(cancel.clone());
        let (shared, longest) = (shared.clone(), Runner::longest_preparation(&trial));
        queue.prepare(self.problem, trial, cancel, move |news| {
            let mut this = lock(&shared);
            let has_ended = matches!(news, News::Ended(_));
            if has_ended {
                this.preparing = None;
            }
            this.tell(Event::Preparing((!has_ended).then_some(longest)));
        });
    }

    fn stop_tests(&mut self) {
        self.untested = true;
        let running = self.slots.iter_mut().flat_map(|slot| [slot.trial.take(), slot.calls.take()]);
        for cancel in running.flatten().chain(self.preparing.take()) {
            cancel.store(true, Ordering::Relaxed);
        }
        self.queue.iter().for_each(|queue| queue.look());
        self.settle();
    }

    /// Handles an event of the source.
    fn source(&mut self, shared: &Arc<Mutex<Self>>, event: source::Event) {
        use source::Event as From;
        let mut ended = None;
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
            From::Done(summary) => self.summary = Some((**summary).clone()),
            _ => {}
        }
        let over = matches!(event, From::Done(_) | From::Refused(_) | From::Failed(_));
        self.tell(Event::Source(event));
        if let Some(candidate) = ended {
            self.ended(shared, candidate);
        }
        if over {
            self.queue.iter().for_each(|queue| queue.end_writing());
            self.settle();
        }
    }

    /// Handles the end of a candidate. It is tested, unless it was cut or an equal one is tested.
    fn ended(&mut self, shared: &Arc<Mutex<Self>>, candidate: usize) {
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
        let same = |(index, slot): &(usize, &Slot)| *index != candidate && slot.origin.is_none() && slot.key == key;
        let origin = self.slots.iter().enumerate().find(same).map(|(index, _)| index);
        (self.slots[candidate].key, self.slots[candidate].origin) = (key, origin);
        match origin {
            Some(of) => self.tell(Event::Duplicate { candidate, of }),
            None if self.untested => {}
            None => {
                self.test(shared, candidate);
                self.call(shared, candidate);
            }
        }
        if origin.is_some() {
            self.agree();
        }
    }

    /// Calls the function of a candidate on the inputs.
    fn call(&mut self, shared: &Arc<Mutex<Self>>, candidate: usize) {
        let (Some(queue), Some(inputs)) = (self.queue.clone(), self.inputs.clone()) else { return };
        let c = &self.candidates[candidate];
        let Some(trial) = self.task.called(candidate, &c.text, self.limits) else { return };
        let turn = Turn { problem: self.problem, mean_logprob: c.mean_logprob.unwrap_or(0.0), candidate };
        let cancel = Arc::new(AtomicBool::new(false));
        self.slots[candidate].calls = Some(cancel.clone());
        let (shared, mine) = (shared.clone(), cancel.clone());
        queue.call(turn, trial, inputs, cancel, move |news| {
            let mut this = lock(&shared);
            let slot = &mut this.slots[candidate];
            let News::Called(observed) = news else { return };
            if slot.calls.take_if(|calls| Arc::ptr_eq(calls, &mine)).is_some() {
                slot.observed = observed.ok();
                this.agree();
                this.settle();
            }
        });
    }

    /// Counts anew what the candidates agree on.
    fn agree(&mut self) {
        let Some(inputs) = self.inputs.clone() else { return };
        let members = |c: usize| -> Vec<usize> {
            let has_code = |slot: &Slot| slot.key.is_some() && slot.origin == Some(c);
            let others = self.slots.iter().enumerate().filter(|(_, slot)| has_code(slot)).map(|(other, _)| other);
            std::iter::once(c).chain(others).collect()
        };
        let votes = |members: &[usize]| members.iter().filter(|&&c| !self.slots[c].made).count();
        let witness = |(c, slot): (usize, &Slot)| {
            let (members, observed) = (members(c), slot.observed.clone()?);
            Some(Witness { votes: votes(&members), members, observed })
        };
        let witnesses: Vec<Witness> = self.slots.iter().enumerate().filter_map(witness).collect();
        if !witnesses.is_empty() {
            let agreement = Arc::new(Agreement::of(inputs, witnesses));
            self.agreement = Some(agreement.clone());
            self.tell(Event::Agreement(agreement));
        }
    }

    fn test(&mut self, shared: &Arc<Mutex<Self>>, candidate: usize) {
        let Some(c) = self.candidates.get_mut(candidate).filter(|c| c.finish.is_some()) else { return };
        let Some(trial) = self.task.trial(candidate, &c.text, self.limits) else {
            if let Some(why) = self.task.lacking(&c.text) {
                c.verdict = Verdict::not_run(&why);
                let outcome = Ok(c.verdict.clone());
                self.tell(Event::Verdict { candidate, outcome });
            }
            return;
        };
        let Some(queue) = self.queue.clone() else { return };
        c.verdict = Verdict::not_run("its tests were cancelled");
        let turn = Turn { problem: self.problem, mean_logprob: c.mean_logprob.unwrap_or(0.0), candidate };
        let cancel = Arc::new(AtomicBool::new(false));
        self.slots[candidate].trial = Some(cancel.clone());
        self.slots[candidate].passed = false;
        let (shared, mine) = (shared.clone(), cancel.clone());
        queue.start(turn, trial, cancel, move |news| {
            let mut this = lock(&shared);
            // A cancelled trial says nothing about the candidate.
            if this.slots[candidate].trial.as_ref().is_some_and(|trial| Arc::ptr_eq(trial, &mine)) {
                this.tested(candidate, news);
            }
        });
    }

    fn tested(&mut self, candidate: usize, news: News) {
        let News::Ended(outcome) = news else { return self.tell(Event::Testing(candidate)) };
        let slot = &mut self.slots[candidate];
        slot.trial = None;
        slot.passed = matches!(&outcome, Ok(verdict) if verdict.status == Status::Passed);
        slot.marked = matches!(&outcome, Ok(verdict) if verdict.is_marked());
        let (passed, marked) = (slot.passed, slot.marked);
        self.candidates[candidate].verdict = outcome.clone().unwrap_or_else(|why| Verdict::not_run(&why));
        self.tell(Event::Verdict { candidate, outcome });
        if passed && self.first_pass.is_none_or(|first| self.slots[first].marked && !marked) {
            self.first_pass = Some(candidate);
            self.pick(None);
            // Trials go on: a candidate that has ended by itself keeps its verdict, and may be better.
            if self.stop_on_pass && !marked && self.summary.is_none() {
                self.ticket.iter().for_each(Ticket::cancel_all);
            }
        }
        self.settle();
    }

    /// Returns true if a candidate without marks has passed.
    fn has_passed(&self) -> bool {
        self.first_pass.is_some_and(|first| !self.slots[first].marked)
    }

    /// Picks a candidate by `ranking`, the candidates that ended by themselves, once that is known.
    fn pick(&mut self, ranking: Option<&[usize]>) {
        let slot = |c: usize| &self.slots[self.slots[c].origin.unwrap_or(c)];
        let (passed, marked) = (|c| slot(c).passed, |c| slot(c).marked);
        let pick = super::pick(ranking, self.first_pass, self.task.has_tests(), passed, marked);
        if std::mem::replace(&mut self.picked, pick) != pick {
            self.tell(Event::Pick(pick));
        }
    }

    /// Returns true for a candidate without an end of its own, which has no key.
    fn is_cut(&self, candidate: usize) -> bool {
        self.slots.get(candidate).is_none_or(|slot| slot.key.is_none())
    }

    /// Reports the outcome once no more events can come.
    fn settle(&mut self) {
        let Some(mut summary) = self.summary.clone() else { return };
        if self.slots.iter().any(|slot| slot.trial.is_some()) {
            return;
        }
        // A pass that ends the run waits for no calls.
        if self.stop_on_pass && self.has_passed() {
            let calls = self.slots.iter_mut().filter_map(|slot| slot.calls.take());
            calls.for_each(|cancel| cancel.store(true, Ordering::Relaxed));
        }
        if self.slots.iter().any(|slot| slot.calls.is_some()) {
            return;
        }
        // Without probabilities the best candidate is the most frequent one.
        if self.candidates.iter().all(|c| c.mean_logprob.is_none()) {
            let origin = |(c, slot): (usize, &Slot)| slot.origin.unwrap_or(c);
            let votes = super::frequencies(&self.slots.iter().enumerate().map(origin).collect::<Vec<_>>());
            summary.ranking.sort_by_key(|&c| (self.is_cut(c), Reverse(votes.get(c).copied().unwrap_or(0))));
        }
        if let Some(agreement) = &self.agreement {
            let standing = |c: usize| agreement.standing(c).map(Standing::order);
            summary.ranking.sort_by_key(|&c| (self.is_cut(c), Reverse(standing(c))));
        }
        // A candidate that was cut has no key.
        let whole = |c: &usize| self.slots.get(*c).is_some_and(|slot| slot.key.is_some());
        // Candidates that the user has made come last: they have no probability.
        let made = (0..self.candidates.len()).filter(|c| !summary.ranking.contains(c));
        let order: Vec<usize> = summary.ranking.iter().copied().chain(made).filter(whole).collect();
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
            agreement: self.agreement.clone(),
        })));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::{Receiver, channel};

    use super::super::trials::Judge;
    use super::super::trials::tests::pool;
    use super::super::{Job, TestsChoice};
    use super::*;
    use crate::engine::GenerateOptions;
    use crate::source::{EventSink, SourceInfo};
    use crate::trial::{Assurance, Effect, TrialError};

    pub(crate) const STUB: &str = "def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"\n";
    /// Texts of the candidates by index: 0 and 2 are equal, and so are 1 and 3.
    pub(crate) const TEXTS: [&str; 5] = [
        "    return x + x\n", "    return 0\n", "    return  x + x  # so\n", "    return 0\n\n",
        "    y = x + x\n    return y\n",
    ];
    /// The order in which they end, which is also their ranking.
    pub(crate) const ENDS: [usize; 5] = [3, 2, 4, 1, 0];
    pub(crate) const RANKS: [usize; 5] = [1, 3, 4, 0, 2];

    /// Writes [`TEXTS`]. A candidate that is cancelled meanwhile is cut.
    pub(crate) struct Scripted;

    impl Source for Scripted {
        fn info(&self) -> SourceInfo {
            SourceInfo { model: "scripted".to_owned(), ..SourceInfo::default() }
        }

        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let ticket = Ticket::new(request.options.n);
            let own = ticket.clone();
            std::thread::spawn(move || {
                for candidate in ENDS {
                    let reason = if own.is_cancelled(candidate) { FinishReason::Cancelled } else { FinishReason::Stop };
                    let place = RANKS.iter().position(|&c| c == candidate).unwrap_or_default();
                    let (text, mean_logprob) = (TEXTS[candidate].to_owned(), Some(-0.1 - place as f32));
                    let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob });
                }
                let ranking = RANKS.to_vec();
                let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
            });
            ticket
        }
    }

    /// A pool whose sandbox fails to start twice and then gives the right verdicts. Counts the programs that
    /// it runs.
    pub(crate) fn unsteady() -> (TrialPool, Arc<AtomicUsize>) {
        let (ran, faults) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let count = ran.clone();
        let pool = pool(1, move |trial, _| {
            if faults.fetch_add(1, Ordering::Relaxed) < 2 {
                return Err(TrialError::Sandbox("the machine is busy".to_owned()));
            }
            count.fetch_add(1, Ordering::Relaxed);
            let status = if trial.program.contains("x + x") { Status::Passed } else { Status::Failed };
            Ok(Verdict { status, ..Verdict::not_run("ran") })
        });
        (pool, ran)
    }

    /// Parameters of a run of [`Scripted`].
    pub(crate) fn ask(stop_on_pass: bool) -> Ask {
        let job = Job::from_text(STUB, &TestsChoice::Auto).unwrap();
        let options = GenerateOptions { n: TEXTS.len(), ..GenerateOptions::default() };
        let request = Request { prompt: job.prompt(), reference: None, options };
        Ask { request, task: Arc::new(job), limits: Limits::default(), stop_on_pass, agree: false, problem: 0 }
    }

    fn start(source: &dyn Source, pool: &TrialPool, ask: Ask) -> (Run, Receiver<Event>) {
        let (send, receive) = channel();
        let sink = Box::new(move |event| {
            let _ = send.send(event);
            ControlFlow::Continue(())
        });
        (Run::start(source, Some(pool), ask, sink), receive)
    }

    fn outcome(events: &Receiver<Event>) -> Outcome {
        let done = events.iter().find_map(|event| if let Event::Done(outcome) = event { Some(*outcome) } else { None });
        done.unwrap()
    }

    /// Has tests that are worth a run without the candidate.
    struct Prepared(Arc<dyn Task>);

    impl Task for Prepared {
        fn has_tests(&self) -> bool {
            self.0.has_tests()
        }

        fn trial(&self, candidate: usize, text: &str, limits: Limits) -> Option<Trial> {
            self.0.trial(candidate, text, limits)
        }

        fn preparation(&self, limits: Limits) -> Option<Trial> {
            self.0.trial(0, "", limits)
        }

        fn duplicate_key(&self, candidate: usize, text: &str) -> String {
            self.0.duplicate_key(candidate, text)
        }
    }

    #[test]
    fn tests_run_without_the_candidate_from_the_start() {
        let (pool, _) = unsteady();
        let plain = ask(false);
        assert!(plain.task.preparation(plain.limits).is_none(), "examples on their own have no project");
        let (_run, events) = start(&Scripted, &pool, Ask { task: Arc::new(Prepared(plain.task.clone())), ..plain });
        let told = |event: Event| match event {
            Event::Preparing(Some(longest)) => {
                Some(if longest > Duration::from_secs(1) { "begins" } else { "too short" })
            }
            Event::Preparing(None) => Some("ends"),
            Event::Testing(_) => Some("a candidate"),
            _ => None,
        };
        let all: Vec<_> = std::iter::from_fn(|| events.recv().ok().filter(|event| !matches!(event, Event::Done(_))))
            .filter_map(told)
            .collect();
        assert_eq!(all[..3], ["begins", "ends", "a candidate"]);
    }

    #[test]
    fn equal_candidates_run_once_and_the_best_ranked_pass_is_the_pick() {
        let (pool, ran) = unsteady();
        let (_run, receive) = start(&Scripted, &pool, ask(false));
        let mut events = Vec::new();
        let outcome = loop {
            match receive.recv().unwrap() {
                Event::Done(outcome) => break outcome,
                event => events.push(event),
            }
        };
        assert_eq!(ran.load(Ordering::Relaxed), 3, "three programs, five candidates");
        let status: Vec<Status> = outcome.candidates.iter().map(|c| c.verdict.status).collect();
        let (passed, failed) = (Status::Passed, Status::Failed);
        assert_eq!(status, [passed, failed, passed, failed, passed]);
        let duplicates: Vec<Option<usize>> = outcome.candidates.iter().map(|c| c.duplicate_of).collect();
        assert_eq!(duplicates, [None, None, Some(0), Some(1), None], "the lowest index");
        assert_eq!(outcome.picked, Some(4), "after 1 and 3, which failed");
        let of: Vec<(usize, usize)> = events
            .iter()
            .filter_map(
                |event| if let Event::Duplicate { candidate, of } = event { Some((*candidate, *of)) } else { None },
            )
            .collect();
        assert_eq!(of, [(1, 3), (0, 2)], "the one that is tested");
        let picks: Vec<usize> =
            events.iter().filter_map(|event| if let Event::Pick(c) = event { *c } else { None }).collect();
        assert_eq!(picks.last(), Some(&4));
        assert!(picks.len() <= 2, "the first that passed, then the best: {picks:?}");
    }

    /// Ends three candidates in an order; they rank by index.
    struct Ordered([usize; 3]);

    impl Source for Ordered {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }

        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let ticket = Ticket::new(request.options.n);
            let order = self.0;
            std::thread::spawn(move || {
                for candidate in order {
                    let (reason, text) = (FinishReason::Stop, format!("    return {candidate}\n"));
                    let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
                }
                let ranking = (0..request.options.n).collect();
                let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
            });
            ticket
        }
    }

    #[test]
    fn the_first_pass_is_told_and_then_the_best_in_every_order() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            for passing in 0..8_usize {
                let passes = move |c: usize| passing & (1 << c) != 0;
                let pool = pool(1, move |trial, _| {
                    let right = (0..3).any(|c| passes(c) && trial.program.contains(&format!("return {c}")));
                    let status = if right { Status::Passed } else { Status::Failed };
                    Ok(Verdict { status, ..Verdict::not_run("ran") })
                });
                let mut ask = ask(false);
                ask.request.options.n = 3;
                let (_run, events) = start(&Ordered(order), &pool, ask);
                let (mut first, mut picks) = (None, Vec::new());
                let outcome = loop {
                    match events.recv().unwrap() {
                        Event::Verdict { candidate, outcome } if outcome.as_ref().unwrap().has_passed() => {
                            first = first.or(Some(candidate));
                        }
                        Event::Pick(pick) => picks.push(pick),
                        Event::Done(outcome) => break outcome,
                        _ => {}
                    }
                };
                let best = (0..3).find(|&c| passes(c));
                assert_eq!(picks.first().copied().flatten(), first, "{order:?} {passing:03b}");
                assert_eq!((outcome.picked, picks.last().copied().flatten()), (best, best), "{order:?} {passing:03b}");
            }
        }
    }

    #[test]
    fn a_marked_pass_is_the_pick_only_while_no_other_passed() {
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
            for (marks, expected) in [([true, false, true], 1), ([true, true, true], 0), ([false, false, true], 0)] {
                let pool = pool(1, move |trial, _| {
                    let which = (0..3).find(|c| trial.program.contains(&format!("return {c}"))).unwrap();
                    let marks = marks[which].then(|| "it reads the frames".to_owned()).into_iter().collect();
                    let assurance = Box::new(Assurance { marks, ..Assurance::default() });
                    Ok(Verdict { status: Status::Passed, assurance, ..Verdict::not_run("ran") })
                });
                let mut ask = ask(false);
                ask.request.options.n = 3;
                let (_run, events) = start(&Ordered(order), &pool, ask);
                let outcome = outcome(&events);
                assert_eq!(outcome.picked, Some(expected), "{order:?} {marks:?}");
                assert_eq!(outcome.summary.ranking, [0, 1, 2], "the ranking is by probability alone");
            }
        }
    }

    /// Passes everything, and calls what returns a number: it does what it returns, but 2 does what 0 does.
    struct Caller(crate::trial::Protection, Arc<AtomicUsize>);

    impl Judge for Caller {
        fn protection(&self) -> &crate::trial::Protection {
            &self.0
        }

        fn may_run(&self) -> bool {
            true
        }

        fn allow_unprotected(&self) -> Arc<dyn Judge> {
            Arc::new(Self(self.0.clone(), self.1.clone()))
        }

        fn run(&self, _: &Trial, _: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
            Ok(Verdict { status: Status::Passed, ..Verdict::not_run("ran") })
        }

        fn observe(&self, trial: &Trial, inputs: &[Input], _: &Arc<AtomicBool>) -> Result<Vec<Observed>, TrialError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            let key = if trial.program.contains("return 1") { "1" } else { "0" }.to_owned();
            Ok(vec![Observed { effect: Effect::Returned, key, ..Observed::default() }; inputs.len()])
        }
    }

    #[test]
    fn most_that_do_the_same_come_first_with_tests_and_without() {
        let protection = super::super::trials::tests::isolated();
        let called = Arc::new(AtomicUsize::new(0));
        let pool = TrialPool::with(Arc::new(Caller(protection, called.clone())), (1, 1)).unwrap();
        for tests in [TestsChoice::Auto, TestsChoice::None] {
            let mut ask = Ask { agree: true, ..ask(false) };
            ask.request.options.n = 3;
            ask.task = Arc::new(Job::from_text(STUB, &tests).unwrap());
            let (_run, events) = start(&Ordered([1, 2, 0]), &pool, ask);
            let done = outcome(&events);
            let agreement = done.agreement.unwrap();
            assert_eq!(agreement.groups(), [vec![0, 2], vec![1]], "{tests:?}");
            assert_eq!((done.summary.ranking, done.picked), (vec![0, 2, 1], Some(0)), "{tests:?}");
        }
        // Equal code is called once and votes for each, and may outvote what is more probable.
        called.store(0, Ordering::Relaxed);
        let ask = Ask { agree: true, ..ask(false) };
        let (run, events) = start(&Scripted, &pool, ask);
        let done = outcome(&events);
        assert_eq!((called.load(Ordering::Relaxed), done.agreement.unwrap().candidates()), (3, 5));
        // What the user has made is called and has a place, and does not vote.
        run.add(1, "    return 3\n".to_owned());
        let done = outcome(&events).agreement.unwrap();
        assert_eq!(
            (done.candidates(), done.groups()[0].contains(&5), done.words().as_str()),
            (5, true, "5 of 5 agree")
        );
        // Without a wish for it nothing is called.
        let (_run, events) = start(&Scripted, &pool, super::tests::ask(false));
        assert!(outcome(&events).agreement.is_none());
        assert_eq!(called.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_run_that_is_stopped_tells_so_and_tests_no_more() {
        /// Ends its first candidate at once, the others when they are cancelled.
        struct Waits;
        impl Source for Waits {
            fn info(&self) -> SourceInfo {
                SourceInfo::default()
            }
            fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
                let ticket = Ticket::new(request.options.n);
                let own = ticket.clone();
                std::thread::spawn(move || {
                    for (candidate, text) in TEXTS.iter().enumerate() {
                        while candidate > 0 && !own.is_cancelled(candidate) {
                            std::thread::yield_now();
                        }
                        let reason = if candidate > 0 { FinishReason::Cancelled } else { FinishReason::Stop };
                        let text = (*text).to_owned();
                        let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
                    }
                    let ranking = (0..request.options.n).collect();
                    let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
                });
                ticket
            }
        }
        let message = |outcome: &Outcome, c: usize| outcome.candidates[c].verdict.message.clone();
        // The first pass ends the others.
        let (pool, _) = unsteady();
        let (_run, events) = start(&Waits, &pool, ask(true));
        let done = outcome(&events);
        assert_eq!((done.picked, message(&done, 1).as_str()), (Some(0), "stopped, because another one passed"));
        // The user ends it; the trial ends when told to.
        let pool = super::super::trials::tests::pool(1, |_, cancel| {
            while !cancel.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Ok(Verdict { status: Status::Killed, ..Verdict::not_run("killed") })
        });
        let (run, events) = start(&Waits, &pool, ask(true));
        assert!(events.iter().any(|event| matches!(event, Event::Testing(0))));
        run.cancel();
        let done = outcome(&events);
        assert_eq!(done.picked, None);
        assert_eq!(
            (message(&done, 0).as_str(), message(&done, 1).as_str()),
            ("its tests were cancelled", "cut before its end")
        );
    }
}
