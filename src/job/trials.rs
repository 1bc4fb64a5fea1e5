//! Trials in the background: a few worker threads, first come first served.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::trial::{Runner, Trial, TrialError, Verdict};

/// The outcome of a trial.
#[derive(Debug)]
pub struct TrialReport {
    /// What the trial was started with.
    pub candidate: usize,
    /// Its verdict, or why there is none.
    pub outcome: Result<Verdict, TrialError>,
}

struct Work {
    candidate: usize,
    trial: Trial,
    report: Box<dyn FnOnce(TrialReport) + Send>,
}

/// Runs trials on threads of its own. Dropping it cancels what is running or waiting.
pub struct TrialPool {
    work: Sender<Work>,
    cancel: Arc<AtomicBool>,
}

impl TrialPool {
    /// A pool that runs `workers` trials at a time.
    pub fn new(runner: &Arc<Runner>, workers: usize) -> std::io::Result<Self> {
        let (work, queue) = channel::<Work>();
        let queue = Arc::new(Mutex::new(queue));
        let cancel = Arc::new(AtomicBool::new(false));
        for i in 0..workers.max(1) {
            let (queue, cancel, runner) = (Arc::clone(&queue), Arc::clone(&cancel), Arc::clone(runner));
            std::thread::Builder::new().name(format!("trial-{i}")).spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(Work { candidate, trial, report }) = next else { break };
                    report(TrialReport { candidate, outcome: runner.run(&trial, &cancel) });
                }
            })?;
        }
        Ok(Self { work, cancel })
    }

    /// A number of workers that leaves the engine its cores.
    pub fn default_workers() -> usize {
        std::thread::available_parallelism().map_or(1, |n| n.get() / 2).max(1)
    }

    /// Queues a trial; `report` is called on a worker thread.
    pub fn start(&self, candidate: usize, trial: Trial, report: impl FnOnce(TrialReport) + Send + 'static) {
        // The workers live as long as the pool, so the queue is open.
        let _ = self.work.send(Work { candidate, trial, report: Box::new(report) });
    }

    /// Ends what is running or waiting: each gets the verdict of a cancelled trial.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl Drop for TrialPool {
    fn drop(&mut self) {
        self.cancel();
    }
}
