//! Trials in the background: a few worker threads of low priority, the most promising trial first.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::trial::{Runner, Status, Trial, TrialError, Verdict};

/// Which trial comes first when there are more than workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// What was asked first is tested first: the number of the problem; 0 where there is but one.
    pub problem: usize,
    /// Of one problem, the more probable candidate first.
    pub mean_logprob: f32,
    /// Of equally probable ones, that with the lower index.
    pub candidate: usize,
}

impl Turn {
    /// `Greater` comes first.
    fn order(&self, other: &Self) -> Order {
        let problem = other.problem.cmp(&self.problem);
        problem.then(self.mean_logprob.total_cmp(&other.mean_logprob)).then(other.candidate.cmp(&self.candidate))
    }
}

/// The outcome of a trial.
#[derive(Debug)]
pub struct TrialReport {
    /// The candidate that was tested.
    pub candidate: usize,
    /// Its verdict, or why there is none.
    pub outcome: Result<Verdict, TrialError>,
}

struct Work {
    turn: Turn,
    trial: Trial,
    report: Box<dyn FnOnce(TrialReport) + Send>,
}

impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for Work {}

impl PartialOrd for Work {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Ord for Work {
    fn cmp(&self, other: &Self) -> Order {
        self.turn.order(&other.turn)
    }
}

/// What pool and workers share.
#[derive(Default)]
struct Queue {
    waiting: Mutex<(BinaryHeap<Work>, bool)>,
    /// Something came, or the pool has gone.
    changed: Condvar,
}

impl Queue {
    /// The next piece of work; `None` once the pool has gone.
    fn next(&self) -> Option<Work> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(work) = waiting.0.pop() {
                return Some(work);
            }
            if waiting.1 {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Runs trials on threads of its own. Dropping it cancels what is running or waiting.
pub struct TrialPool {
    queue: Arc<Queue>,
    cancel: Arc<AtomicBool>,
    /// An engine writes meanwhile: trials take only what it leaves of the cores.
    gives_way: Arc<AtomicBool>,
    run: Arc<Runs>,
}

/// Runs a trial; the flag ends it.
type Runs = dyn Fn(&Trial, &Arc<AtomicBool>) -> Result<Verdict, TrialError> + Send + Sync;

impl TrialPool {
    /// A pool that runs a trial on every core.
    pub fn new(runner: &Arc<Runner>) -> std::io::Result<Self> {
        Self::of(runner, all_workers())
    }

    /// A pool beside an engine: few trials at a time, which run only when a core has nothing else to do, until [`Self::engine_has_ended`].
    pub fn beside_engine(runner: &Arc<Runner>) -> std::io::Result<Self> {
        let pool = Self::of(runner, few_workers())?;
        pool.gives_way.store(true, Ordering::Relaxed);
        Ok(pool)
    }

    fn of(runner: &Arc<Runner>, workers: usize) -> std::io::Result<Self> {
        let runner = Arc::clone(runner);
        Self::with(workers, move |trial, cancel| runner.run(trial, cancel))
    }

    /// The same with something else that runs trials.
    pub(crate) fn with(
        workers: usize,
        run: impl Fn(&Trial, &Arc<AtomicBool>) -> Result<Verdict, TrialError> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let pool =
            Self { queue: Arc::default(), cancel: Arc::default(), gives_way: Arc::default(), run: Arc::new(run) };
        pool.grow(workers.max(1))?;
        Ok(pool)
    }

    /// The engine does not need its cores any more: trials may use all of them.
    pub fn engine_has_ended(&self) {
        if self.gives_way.swap(false, Ordering::Relaxed) {
            // Without more threads it takes longer.
            let _ = self.grow(all_workers().saturating_sub(few_workers()));
        }
    }

    fn grow(&self, workers: usize) -> std::io::Result<()> {
        for _ in 0..workers {
            let (queue, cancel, run) = (Arc::clone(&self.queue), Arc::clone(&self.cancel), Arc::clone(&self.run));
            let gives_way = Arc::clone(&self.gives_way);
            std::thread::Builder::new().name("trial".to_owned()).spawn(move || {
                step_back();
                while let Some(Work { turn, mut trial, report }) = queue.next() {
                    trial.limits.gives_way = gives_way.load(Ordering::Relaxed);
                    let outcome = patiently(&cancel, || run(&trial, &cancel));
                    report(TrialReport { candidate: turn.candidate, outcome });
                }
            })?;
        }
        Ok(())
    }

    /// Queues a trial; `report` is called on a worker thread.
    pub fn start(&self, turn: Turn, trial: Trial, report: impl FnOnce(TrialReport) + Send + 'static) {
        let work = Work { turn, trial, report: Box::new(report) };
        self.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner).0.push(work);
        self.queue.changed.notify_one();
    }

    /// Ends what is running or waiting: each gets the verdict of a cancelled trial.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// A number of workers beside an engine.
fn few_workers() -> usize {
    (all_workers() / 2).max(1)
}

/// A number of workers where nothing else runs.
pub fn all_workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl Drop for TrialPool {
    fn drop(&mut self) {
        self.cancel();
        self.queue.waiting.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.queue.changed.notify_all();
    }
}

/// A machine with far too much to do can fail to start the sandbox. That says nothing about the candidate, and it passes.
const TRIES: usize = 3;

fn patiently(cancel: &AtomicBool, mut run: impl FnMut() -> Result<Verdict, TrialError>) -> Result<Verdict, TrialError> {
    let mut last = None;
    for _ in 0..TRIES {
        if cancel.load(Ordering::Relaxed) {
            return Ok(cancelled());
        }
        match run() {
            Err(error @ TrialError::Sandbox(_)) => last = Some(error),
            outcome => return outcome,
        }
    }
    Err(last.unwrap_or_else(|| TrialError::Sandbox("it was not tried".to_owned())))
}

fn cancelled() -> Verdict {
    Verdict { status: Status::Killed, ..Verdict::not_run("cancelled") }
}

/// Lets everything else go first, the engine above all: what this thread starts inherits it. A wish, not a need.
pub fn step_back() {
    #[cfg(target_os = "linux")]
    // SAFETY: setpriority takes numbers only. On Linux 0 is the calling thread, not the process.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 10);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::language::Language;
    use crate::trial::{Limits, Tests};

    fn trial() -> Trial {
        Trial {
            language: Language::Python,
            program: String::new(),
            module: None,
            entry_point: None,
            tests: Tests::Doctest { source: String::new() },
            stub: None,
            limits: Limits::default(),
        }
    }

    fn turn(problem: usize, mean_logprob: f32, candidate: usize) -> Turn {
        Turn { problem, mean_logprob, candidate }
    }

    #[test]
    fn the_most_promising_goes_first() {
        let (begun, begins) = channel();
        let (go, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let pool = TrialPool::with(1, move |_, _| {
            let _ = begun.send(());
            let _ = gate.lock().unwrap().recv();
            Ok(Verdict::not_run(""))
        })
        .unwrap();
        let (send, done) = channel();
        let start = |turn: Turn| {
            let send = send.clone();
            pool.start(turn, trial(), move |report| send.send((turn.problem, report.candidate)).unwrap());
        };
        start(turn(5, -9.0, 0));
        begins.recv().unwrap();
        // The only worker is busy: these wait.
        [turn(1, -0.1, 3), turn(0, -0.5, 2), turn(0, -0.2, 7), turn(0, -0.2, 1)].into_iter().for_each(start);
        drop(go);
        let order: Vec<_> = (0..5).map(|_| done.recv().unwrap()).collect();
        assert_eq!(order, [(5, 0), (0, 1), (0, 7), (0, 2), (1, 3)]);
    }

    #[test]
    fn a_pool_that_grows_runs_more_at_a_time() {
        // Both have to be there at once to go on.
        let meet = std::sync::Barrier::new(2);
        let pool = TrialPool::with(1, move |_, _| {
            meet.wait();
            Ok(Verdict::not_run("met"))
        })
        .unwrap();
        let (send, done) = channel();
        for candidate in 0..2 {
            let send = send.clone();
            pool.start(turn(0, 0.0, candidate), trial(), move |report| send.send(report.candidate).unwrap());
        }
        pool.grow(1).unwrap();
        let mut met = [done.recv().unwrap(), done.recv().unwrap()];
        met.sort_unstable();
        assert_eq!(met, [0, 1]);
    }

    #[test]
    fn trials_give_way_until_the_engine_has_ended() {
        let pool = TrialPool::with(1, |trial, _| Ok(Verdict::not_run(&trial.limits.gives_way.to_string()))).unwrap();
        pool.gives_way.store(true, Ordering::Relaxed);
        let told = || {
            let (send, done) = channel();
            pool.start(turn(0, 0.0, 0), trial(), move |report| send.send(report.outcome.unwrap().message).unwrap());
            done.recv().unwrap()
        };
        assert_eq!(told(), "true");
        pool.engine_has_ended();
        assert_eq!(told(), "false");
    }

    #[test]
    fn a_fault_of_the_sandbox_is_tried_again_and_nothing_else_is() {
        let fault = || Err(TrialError::Sandbox("no".to_owned()));
        let times = |outcomes: &mut dyn FnMut(usize) -> Result<Verdict, TrialError>| {
            let mut count = 0;
            let outcome = patiently(&AtomicBool::new(false), || {
                count += 1;
                outcomes(count)
            });
            (outcome.is_ok(), count)
        };
        assert_eq!(times(&mut |n| if n < 3 { fault() } else { Ok(Verdict::not_run("")) }), (true, 3));
        assert_eq!(times(&mut |_| fault()), (false, TRIES));
        assert_eq!(times(&mut |_| Err(TrialError::Interpreter("none".to_owned()))), (false, 1));
        assert_eq!(times(&mut |_| Ok(Verdict::not_run("failed"))), (true, 1), "a verdict is a verdict");
        assert_eq!(patiently(&AtomicBool::new(true), fault).unwrap(), cancelled());
    }

    #[test]
    fn what_waits_when_all_is_cancelled_is_not_run_but_told() {
        let (begun, begins) = channel();
        let (go, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let pool = TrialPool::with(1, move |_, _| {
            let _ = begun.send(());
            let _ = gate.lock().unwrap().recv();
            Ok(Verdict::not_run("ran"))
        })
        .unwrap();
        let (send, done) = channel();
        for candidate in 0..2 {
            let send = send.clone();
            pool.start(turn(0, 0.0, candidate), trial(), move |report| send.send(report.outcome.unwrap()).unwrap());
        }
        begins.recv().unwrap();
        pool.cancel();
        drop(go);
        assert_eq!(done.recv().unwrap().message, "ran");
        assert_eq!(done.recv().unwrap(), cancelled());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn workers_have_a_low_priority_and_the_others_keep_theirs() {
        // SAFETY: getpriority takes numbers only; 0 is the calling thread.
        let nice = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = nice();
        let pool = TrialPool::with(1, move |_, _| Ok(Verdict::not_run(&nice().to_string()))).unwrap();
        let (send, done) = channel();
        pool.start(turn(0, 0.0, 0), trial(), move |report| send.send(report.outcome.unwrap().message).unwrap());
        assert_eq!(done.recv().unwrap(), before.max(10).to_string());
        assert_eq!(nice(), before);
    }
}
