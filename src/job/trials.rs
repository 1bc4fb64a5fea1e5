//! Trials in the background: worker threads of low priority, the most promising trial first.

use std::any::Any;
use std::cmp::Ordering as Order;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::language::Language;
use crate::trial::{Input, Observed, Protection, Runner, Status, Tests, Trial, TrialError, Verdict};

/// Runs trials, as [`Runner`] does.
pub trait Judge: Send + Sync {
    /// The protection of the user's machine.
    fn protection(&self) -> &Protection;
    /// Returns true if it may run code. Without isolation that needs the user's consent.
    fn may_run(&self) -> bool;
    /// A judge for a user who has consented to run code without isolation.
    fn allow_unprotected(&self) -> Arc<dyn Judge>;
    /// Refuses tests that cannot be run in a language. Called before any candidate is generated.
    fn check(&self, _language: Language, _file: Option<&Path>, _tests: &Tests) -> Result<(), TrialError> {
        Ok(())
    }
    /// Runs the tests without the candidate, for later trials, and waits. `cancel` ends it soon.
    fn prepare(&self, _trial: &Trial, _cancel: &Arc<AtomicBool>) {}
    /// Runs a trial and waits. `cancel` ends it soon. An error is a fault of the sandbox.
    fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError>;
    /// Calls the function of a trial's program on the inputs and waits. `cancel` ends it soon.
    fn observe(
        &self,
        trial: &Trial,
        _inputs: &[Input],
        _cancel: &Arc<AtomicBool>,
    ) -> Result<Vec<Observed>, TrialError> {
        Err(TrialError::Unobserved { language: trial.language.title() })
    }
}

impl Judge for Runner {
    fn protection(&self) -> &Protection {
        Runner::protection(self)
    }

    fn may_run(&self) -> bool {
        Runner::may_run(self)
    }

    fn allow_unprotected(&self) -> Arc<dyn Judge> {
        Arc::new(self.clone().allow_unprotected())
    }

    fn check(&self, language: Language, file: Option<&Path>, tests: &Tests) -> Result<(), TrialError> {
        Runner::check(self, language, file, tests)
    }

    fn prepare(&self, trial: &Trial, cancel: &Arc<AtomicBool>) {
        // The first trial meets the same error, and says it.
        let _ = Runner::prepare(self, trial, cancel);
    }

    fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
        Runner::run(self, trial, cancel)
    }

    fn observe(&self, trial: &Trial, inputs: &[Input], cancel: &Arc<AtomicBool>) -> Result<Vec<Observed>, TrialError> {
        Runner::observe(self, trial, inputs, cancel)
    }
}

/// Priority of a trial when there are more than workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Number of the problem: lower ones are tested first. 0 if there is only one.
    pub problem: usize,
    /// Within a problem, the more probable candidate is first.
    pub mean_logprob: f32,
    /// Among equally probable ones, the lower index is first.
    pub candidate: usize,
}

impl Turn {
    /// `Greater` comes first.
    fn order(&self, other: &Self) -> Order {
        let problem = other.problem.cmp(&self.problem);
        problem.then(self.mean_logprob.total_cmp(&other.mean_logprob)).then(other.candidate.cmp(&self.candidate))
    }
}

/// Events of a trial.
#[derive(Debug)]
pub enum News {
    /// It has begun.
    Begun,
    /// Its verdict, or a sentence why there is none.
    Ended(Result<Verdict, String>),
    /// The outcomes of its calls, or a sentence why there are none.
    Called(Result<Vec<Observed>, String>),
}

/// Kinds of work on a trial.
enum Doing {
    /// Its tests are run.
    Tests,
    /// Its tests are run without the candidate.
    Preparation,
    /// Its function is called.
    Calls(Arc<[Input]>),
}

struct Work {
    turn: Turn,
    trial: Trial,
    doing: Doing,
    cancel: Arc<AtomicBool>,
    tell: Box<dyn FnMut(News) + Send>,
}

impl Work {
    /// `Greater` comes first. Within a problem calls come after all tests.
    fn order(&self, other: &Self) -> Order {
        let calls = |work: &Self| matches!(work.doing, Doing::Calls(_));
        let problem = other.turn.problem.cmp(&self.turn.problem);
        problem.then(calls(other).cmp(&calls(self))).then(self.turn.order(&other.turn))
    }

    /// Does it. A panic is a payload.
    fn run(&self, judge: &dyn Judge) -> std::thread::Result<Result<News, TrialError>> {
        let (trial, cancel) = (&self.trial, &self.cancel);
        catch_unwind(AssertUnwindSafe(|| match &self.doing {
            Doing::Tests => Ok(News::Ended(Ok(judge.run(trial, cancel)?))),
            Doing::Preparation => {
                judge.prepare(trial, cancel);
                Ok(self.cancelled())
            }
            Doing::Calls(inputs) => Ok(News::Called(Ok(judge.observe(trial, inputs, cancel)?))),
        }))
    }

    fn failed(&self, why: String) -> News {
        if matches!(self.doing, Doing::Calls(_)) { News::Called(Err(why)) } else { News::Ended(Err(why)) }
    }

    fn cancelled(&self) -> News {
        if matches!(self.doing, Doing::Calls(_)) {
            return News::Called(Err("cancelled".to_owned()));
        }
        News::Ended(Ok(Verdict { status: Status::Killed, ..Verdict::not_run("cancelled") }))
    }
}

/// State shared by the pool, its workers and the runs of jobs.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Signals new work, or that more may begin.
    changed: Condvar,
}

struct State {
    judge: Arc<dyn Judge>,
    /// Most trials at a time: during a generation, and otherwise.
    most: (usize, usize),
    waiting: Vec<Work>,
    /// Cancel flags of the running trials.
    running: Vec<Arc<AtomicBool>>,
    /// Number of running generations.
    writing: usize,
    /// True once the pool is dropped.
    gone: bool,
}

impl State {
    /// The next piece of work, if one may begin.
    fn take(&mut self) -> Option<Work> {
        // A cancelled trial only has to be reported.
        let cancelled = self.waiting.iter().position(|w| w.cancel.load(Ordering::Relaxed));
        let most = if self.writing > 0 { self.most.0 } else { self.most.1 };
        let may_begin = self.judge.may_run() && self.running.len() < most;
        let order = |&a: &usize, &b: &usize| self.waiting[a].order(&self.waiting[b]);
        let best = || (0..self.waiting.len()).filter(|_| may_begin).max_by(order);
        let at = cancelled.or_else(best)?;
        let work = self.waiting.swap_remove(at);
        self.running.push(work.cancel.clone());
        Some(work)
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Works until the pool is dropped.
    fn serve(&self) {
        step_back();
        let mut state = self.lock();
        loop {
            let Some(mut work) = state.take() else {
                if state.gone {
                    return;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            work.trial.limits.gives_way = state.writing > 0;
            let judge = state.judge.clone();
            drop(state);
            if !work.cancel.load(Ordering::Relaxed) {
                (work.tell)(News::Begun);
            }
            let news = patiently(&work, &*judge);
            self.change(|state| {
                let at = state.running.iter().position(|running| Arc::ptr_eq(running, &work.cancel));
                at.map(|at| state.running.swap_remove(at));
            });
            (work.tell)(news);
            state = self.lock();
        }
    }

    /// Queues a trial. `tell` is called on a worker thread. Setting `cancel` and calling [`Self::look`] ends
    /// it.
    pub fn start(&self, turn: Turn, trial: Trial, cancel: Arc<AtomicBool>, tell: impl FnMut(News) + Send + 'static) {
        self.add(Work { turn, trial, doing: Doing::Tests, cancel, tell: Box::new(tell) });
    }

    /// Queues calls of the function of a trial's program, behind the tests of its problem.
    pub fn call(
        &self,
        turn: Turn,
        trial: Trial,
        inputs: Arc<[Input]>,
        cancel: Arc<AtomicBool>,
        tell: impl FnMut(News) + Send + 'static,
    ) {
        self.add(Work { turn, trial, doing: Doing::Calls(inputs), cancel, tell: Box::new(tell) });
    }

    /// Returns true if code may be run now.
    pub fn may_run(&self) -> bool {
        self.lock().judge.may_run()
    }

    /// Queues the run of a trial's tests without the candidate, before the trials of its problem.
    pub fn prepare(
        &self,
        problem: usize,
        trial: Trial,
        cancel: Arc<AtomicBool>,
        tell: impl FnMut(News) + Send + 'static,
    ) {
        let turn = Turn { problem, mean_logprob: f32::INFINITY, candidate: 0 };
        self.add(Work { turn, trial, doing: Doing::Preparation, cancel, tell: Box::new(tell) });
    }

    fn add(&self, work: Work) {
        self.change(|state| {
            // No worker is left to run it.
            if !state.gone {
                state.waiting.push(work);
            }
        });
    }

    /// Wakes the workers after a cancellation.
    pub fn look(&self) {
        self.change(|_| ());
    }

    /// Notes the start of a generation. Until its end only few trials run, at idle priority.
    pub fn begin_writing(&self) {
        self.lock().writing += 1;
    }

    /// Notes the end of a generation. Without another one trials may use all cores.
    pub fn end_writing(&self) {
        self.change(|state| state.writing = state.writing.saturating_sub(1));
    }
}

/// Runs trials on threads of its own. Dropping it cancels running and waiting trials, and waits until no code
/// under test runs.
pub struct TrialPool {
    pub(super) queue: Arc<Queue>,
    workers: Vec<JoinHandle<()>>,
}

impl TrialPool {
    /// A pool that runs a trial on every core, or on half of them during a generation.
    pub fn new(judge: Arc<dyn Judge>) -> std::io::Result<Self> {
        let all = all_workers();
        Self::with(judge, ((all / 2).max(1), all))
    }

    /// A pool that runs so many trials at a time: during a generation, and otherwise.
    pub(crate) fn with(judge: Arc<dyn Judge>, most: (usize, usize)) -> std::io::Result<Self> {
        let (waiting, running) = (Vec::new(), Vec::new());
        let state = State { judge, most, waiting, running, writing: 0, gone: false };
        let queue = Arc::new(Queue { state: Mutex::new(state), changed: Condvar::new() });
        let mut pool = Self { queue, workers: Vec::new() };
        for _ in 0..most.1 {
            let queue = Arc::clone(&pool.queue);
            pool.workers.push(std::thread::Builder::new().name("trial".to_owned()).spawn(move || queue.serve())?);
        }
        Ok(pool)
    }

    /// The judge that runs the trials.
    pub fn judge(&self) -> Arc<dyn Judge> {
        self.queue.lock().judge.clone()
    }

    /// Records the user's consent to run code without isolation.
    pub fn allow_unprotected(&self) {
        self.queue.change(|state| state.judge = state.judge.allow_unprotected());
    }

    /// Notes the start of a generation outside of any run.
    pub fn begin_writing(&self) {
        self.queue.begin_writing();
    }

    /// Runs a trial outside of any run.
    pub fn start(&self, turn: Turn, trial: Trial, cancel: Arc<AtomicBool>, tell: impl FnMut(News) + Send + 'static) {
        self.queue.start(turn, trial, cancel, tell);
    }
}

/// Number of workers without a generation.
pub fn all_workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl Drop for TrialPool {
    fn drop(&mut self) {
        self.queue.change(|state| {
            state.gone = true;
            let waiting = state.waiting.iter().map(|work| &work.cancel);
            waiting.chain(&state.running).for_each(|cancel| cancel.store(true, Ordering::Relaxed));
        });
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// Most attempts to start the sandbox. A heavily loaded machine can fail to start it, which is temporary and
/// says nothing about the candidate.
const TRIES: usize = 3;

/// Repeats a run until it has an outcome. A panic is reported as a fault of the program.
fn patiently(work: &Work, judge: &dyn Judge) -> News {
    let mut last = String::new();
    for _ in 0..TRIES {
        if work.cancel.load(Ordering::Relaxed) {
            return work.cancelled();
        }
        match work.run(judge) {
            Ok(Err(error @ TrialError::Sandbox(_))) => last = error.to_string(),
            Ok(outcome) => return outcome.unwrap_or_else(|error| work.failed(error.to_string())),
            Err(payload) => return work.failed(fault(&*payload)),
        }
    }
    work.failed(last)
}

/// The message of a panic, for the user.
pub fn fault(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("a fault in the program ({text}); please report this")
}

/// Lowers the priority of this thread, so that all else goes first, above all the engine. Processes that it
/// starts inherit it. Errors are ignored.
fn step_back() {
    #[cfg(target_os = "linux")]
    // SAFETY: setpriority takes numbers only. On Linux 0 is the calling thread, not the process.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 10);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::trial::Limits;

    /// A judge by a function.
    pub(crate) struct Scripted<F>(pub Protection, pub F);

    impl<F> Judge for Scripted<F>
    where
        F: Fn(&Trial, &Arc<AtomicBool>) -> Result<Verdict, TrialError> + Send + Sync + Clone + 'static,
    {
        fn protection(&self) -> &Protection {
            &self.0
        }

        fn may_run(&self) -> bool {
            self.0.is_isolated()
        }

        fn allow_unprotected(&self) -> Arc<dyn Judge> {
            Arc::new(Scripted(isolated(), self.1.clone()))
        }

        fn run(&self, trial: &Trial, cancel: &Arc<AtomicBool>) -> Result<Verdict, TrialError> {
            (self.1)(trial, cancel)
        }
    }

    /// A protection that isolates in full.
    pub(crate) fn isolated() -> Protection {
        Protection { landlock_abi: 5, seccomp: true, no_new_privs: true, ..Protection::default() }
    }

    /// A pool of so many workers, with or without a generation.
    pub(crate) fn pool<F>(workers: usize, run: F) -> TrialPool
    where
        F: Fn(&Trial, &Arc<AtomicBool>) -> Result<Verdict, TrialError> + Send + Sync + Clone + 'static,
    {
        TrialPool::with(Arc::new(Scripted(isolated(), run)), (workers, workers)).unwrap()
    }

    fn trial() -> Trial {
        Trial {
            language: Language::Python,
            program: String::new(),
            file: None,
            entry_point: None,
            line: None,
            tests: Tests::own_examples(),
            stub: None,
            limits: Limits::default(),
        }
    }

    fn turn(problem: usize, mean_logprob: f32, candidate: usize) -> Turn {
        Turn { problem, mean_logprob, candidate }
    }

    /// Starts a trial; `told` gets its verdict.
    fn start(pool: &TrialPool, turn: Turn, told: impl Fn(Turn, Verdict) + Send + 'static) -> Arc<AtomicBool> {
        let cancel = Arc::new(AtomicBool::new(false));
        pool.start(turn, trial(), cancel.clone(), move |news| {
            if let News::Ended(outcome) = news {
                told(turn, outcome.unwrap());
            }
        });
        cancel
    }

    /// A pool with one worker that says when it begins and waits until the second channel is closed.
    fn gated() -> (TrialPool, std::sync::mpsc::Receiver<()>, std::sync::mpsc::Sender<()>) {
        let (begun, begins) = channel();
        let (go, gate) = channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let pool = pool(1, move |_, _| {
            let _ = begun.send(());
            let _ = gate.lock().unwrap().recv();
            Ok(Verdict::not_run("ran"))
        });
        (pool, begins, go)
    }

    #[test]
    fn the_most_promising_goes_first() {
        let (pool, begins, go) = gated();
        let (send, done) = channel();
        let start = |turn: Turn| {
            let send = send.clone();
            start(&pool, turn, move |turn, _| send.send((turn.problem, turn.candidate)).unwrap());
        };
        start(turn(5, -9.0, 0));
        begins.recv().unwrap();
        // The only worker is busy, so these wait.
        [turn(1, -0.1, 3), turn(0, -0.5, 2), turn(0, -0.2, 7), turn(0, -0.2, 1)].into_iter().for_each(start);
        drop(go);
        let order: Vec<_> = (0..5).map(|_| done.recv().unwrap()).collect();
        assert_eq!(order, [(5, 0), (0, 1), (0, 7), (0, 2), (1, 3)]);
    }

    #[test]
    fn more_run_at_a_time_once_nothing_is_written() {
        // Both have to run at the same time to go on.
        let meet = Arc::new(std::sync::Barrier::new(2));
        let judge = Scripted(isolated(), move |_: &Trial, _: &Arc<AtomicBool>| {
            meet.wait();
            Ok(Verdict::not_run("met"))
        });
        let pool = TrialPool::with(Arc::new(judge), (1, 2)).unwrap();
        pool.begin_writing();
        let (send, done) = channel();
        for candidate in 0..2 {
            let send = send.clone();
            start(&pool, turn(0, 0.0, candidate), move |turn, _| send.send(turn.candidate).unwrap());
        }
        pool.queue.end_writing();
        let mut met = [done.recv().unwrap(), done.recv().unwrap()];
        met.sort_unstable();
        assert_eq!(met, [0, 1]);
    }

    #[test]
    fn trials_give_way_while_something_is_written() {
        let pool = pool(1, |trial, _| Ok(Verdict::not_run(&trial.limits.gives_way.to_string())));
        let told = || {
            let (send, done) = channel();
            start(&pool, turn(0, 0.0, 0), move |_, verdict| send.send(verdict.message).unwrap());
            done.recv().unwrap()
        };
        pool.begin_writing();
        assert_eq!(told(), "true");
        pool.queue.end_writing();
        assert_eq!(told(), "false");
    }

    #[test]
    fn nothing_runs_unprotected_before_the_user_has_agreed_and_what_is_cancelled_never_does() {
        let judge = Scripted(Protection::default(), |_: &Trial, _: &Arc<AtomicBool>| Ok(Verdict::not_run("ran")));
        let pool = TrialPool::with(Arc::new(judge), (1, 1)).unwrap();
        let (send, done) = channel();
        let again = send.clone();
        start(&pool, turn(0, 0.0, 0), move |_, verdict| send.send(verdict.message).unwrap());
        let cancel = start(&pool, turn(0, 0.0, 1), move |_, verdict| again.send(verdict.message).unwrap());
        cancel.store(true, Ordering::Relaxed);
        pool.queue.look();
        assert_eq!(done.recv().unwrap(), "cancelled", "the other one waits");
        pool.allow_unprotected();
        assert_eq!(done.recv().unwrap(), "ran");
    }

    #[test]
    fn a_fault_of_the_sandbox_is_tried_again_and_nothing_else_is() {
        let work = |cancelled| Work {
            turn: turn(0, 0.0, 0),
            trial: trial(),
            doing: Doing::Tests,
            cancel: Arc::new(AtomicBool::new(cancelled)),
            tell: Box::new(|_| ()),
        };
        let fault = || Err(TrialError::Sandbox("no".to_owned()));
        let times = |outcome: fn(usize) -> Result<Verdict, TrialError>| {
            let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let counted = count.clone();
            let judge = Scripted(isolated(), move |_: &Trial, _: &Arc<AtomicBool>| {
                outcome(counted.fetch_add(1, Ordering::Relaxed) + 1)
            });
            let News::Ended(outcome) = patiently(&work(false), &judge) else { panic!("no verdict") };
            (outcome.is_ok(), count.load(Ordering::Relaxed))
        };
        assert_eq!(
            times(|n| if n < 3 { Err(TrialError::Sandbox("no".to_owned())) } else { Ok(Verdict::not_run("")) }),
            (true, 3)
        );
        assert_eq!(times(|_| Err(TrialError::Sandbox("no".to_owned()))), (false, TRIES));
        assert_eq!(times(|_| Err(TrialError::Interpreter("none".to_owned()))), (false, 1));
        assert_eq!(times(|_| Ok(Verdict::not_run("failed"))), (true, 1), "a verdict is a verdict");
        assert_eq!(times(|_| panic!("broken")), (false, 1), "a panic is no verdict");
        let judge = Scripted(isolated(), move |_: &Trial, _: &Arc<AtomicBool>| fault());
        let News::Ended(Ok(verdict)) = patiently(&work(true), &judge) else { panic!("no verdict") };
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Killed, "cancelled"));
    }

    #[test]
    fn what_waits_when_the_pool_goes_is_not_run_but_told() {
        let (pool, begins, go) = gated();
        let (send, done) = channel();
        for candidate in 0..2 {
            let send = send.clone();
            start(&pool, turn(0, 0.0, candidate), move |_, verdict| send.send(verdict.message).unwrap());
        }
        begins.recv().unwrap();
        let queue = pool.queue.clone();
        let going = std::thread::spawn(move || drop(pool));
        while !queue.lock().gone {
            std::thread::yield_now();
        }
        drop(go);
        going.join().unwrap();
        assert_eq!([done.recv().unwrap(), done.recv().unwrap()], ["ran", "cancelled"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn workers_have_a_low_priority_and_the_others_keep_theirs() {
        // SAFETY: getpriority takes numbers only; 0 is the calling thread.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let pool = pool(1, move |_, _| Ok(Verdict::not_run(&nice().to_string())));
        let (send, done) = channel();
        start(&pool, turn(0, 0.0, 0), move |_, verdict| send.send(verdict.message).unwrap());
        assert_eq!(done.recv().unwrap(), before.max(10).to_string());
        assert_eq!(nice(), before);
    }
}
