//! A persistent pool of threads that share the units of one piece of work. It decides who computes what,
//! never how: results don't depend on the number of threads.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::cores;

/// Turns of the waiting loop before a worker goes to sleep: some tens of microseconds, longer than the serial
/// pieces between two parallel ones and far shorter than anything a user would see as load.
const SPINS: u32 = 2000;

/// Turns of the waiting loop before the caller offers its core to a worker that may have lost its own.
const SPINS_OF_CALLER: u32 = 200;

/// The bit of [`Shared::gate`] that says that workers may still enter the current task.
const OPEN: usize = 1 << (usize::BITS - 1);

/// A pool of `threads - 1` workers and the calling thread.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held while a task runs.
    running: Mutex<()>,
}

/// `(unit, following, thread)`: computes one unit on the thread of that number, which will compute
/// `following` next.
type Task<'a> = dyn Fn(usize, Option<usize>, usize) + Sync + 'a;

/// A piece of work.
#[derive(Clone, Copy)]
struct Work<'a> {
    task: &'a Task<'a>,
    units: usize,
    /// Threads take their next unit before they begin one.
    ahead: bool,
}

struct Shared {
    /// Number of tasks published so far; workers wait for it to change.
    epoch: AtomicUsize,
    /// [`OPEN`] while the task takes helpers, plus the number of workers inside.
    gate: AtomicUsize,
    /// The current work. Written only while the gate is shut and empty.
    task: UnsafeCell<Option<Work<'static>>>,
    /// The next unit to be taken.
    next: AtomicUsize,
    sleepers: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    stop: AtomicBool,
    panicked: AtomicBool,
}

// SAFETY: `task` is the only field that is not `Sync` by itself. It is written by `Pool::run` while the gate
// is shut and no worker is inside (the lock `running` keeps two writers apart), and read by workers only
// while they are inside.
unsafe impl Sync for Shared {}

impl Pool {
    /// A pool of `threads` threads, the caller's included; 0 chooses the number of fast cores.
    pub fn new(threads: usize) -> Self {
        let threads = if threads == 0 { cores::sensible() } else { threads };
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            gate: AtomicUsize::new(0),
            task: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
            stop: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
        });
        let spawn = |thread| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("bass-cpu-{thread}")).spawn(move || shared.work(thread))
        };
        // A system that refuses threads makes the pool smaller, nothing else.
        let workers = (1..threads).map_while(|thread| spawn(thread).ok()).collect();
        Self { shared, workers, running: Mutex::new(()) }
    }

    /// Number of threads, the caller's included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `task(unit, thread)` once for every unit below `units`, on several threads at once, and returns
    /// when all are done. `thread` is below [`threads`](Self::threads), and no two calls with the same one
    /// overlap. `task` must not call `run` itself.
    pub fn run(&self, units: usize, task: &(dyn Fn(usize, usize) + Sync)) {
        self.share(Work { task: &|unit, _, thread| task(unit, thread), units, ahead: false });
    }

    /// As [`run`](Self::run), for units that read much memory: `task(unit, following, thread)` learns which
    /// unit its thread computes next, if any, and can fetch what that needs. Threads commit themselves one
    /// unit ahead, so units should be small.
    pub fn run_ahead(&self, units: usize, task: &(dyn Fn(usize, Option<usize>, usize) + Sync)) {
        self.share(Work { task, units, ahead: true });
    }

    fn share(&self, work: Work<'_>) {
        if work.units <= 1 || self.workers.is_empty() {
            let all = work.units;
            (0..all).for_each(|unit| (work.task)(unit, (unit + 1 < all).then_some(unit + 1), 0));
            return;
        }
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. No worker can reach the task after this function: it returns,
        // also when `task` panics, only after the gate is shut and the last worker inside has left.
        let endless = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        // SAFETY: the gate is shut and empty (see `Shared::task`).
        unsafe { *shared.task.get() = Some(endless) };
        shared.next.store(0, Ordering::Relaxed);
        shared.gate.store(OPEN, Ordering::Release);
        // Together with the order of operations in `Shared::wait`, sequential consistency makes sure that
        // either the worker sees the new epoch or this thread sees the sleeper.
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        if shared.sleepers.load(Ordering::SeqCst) > 0 {
            let _sleep = shared.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            shared.wake.notify_all();
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| shared.take_units(work, 0)));
        // Workers that have not come by now need not come: there is nothing left to take.
        shared.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let mut turns = 0u32;
        while shared.gate.load(Ordering::Acquire) != 0 {
            turns += 1;
            if turns < SPINS_OF_CALLER { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        let panicked = shared.panicked.swap(false, Ordering::Relaxed);
        match outcome {
            Err(panic) => resume_unwind(panic),
            Ok(()) => assert!(!panicked, "a worker thread of the CPU backend panicked"),
        }
    }
}

impl Shared {
    fn take_units(&self, Work { task, units, ahead }: Work<'_>, thread: usize) {
        let take = || Some(self.next.fetch_add(1, Ordering::Relaxed)).filter(|&unit| unit < units);
        let mut next = take();
        while let Some(unit) = next {
            next = if ahead { take() } else { None };
            task(unit, next, thread);
            if !ahead {
                next = take();
            }
        }
    }

    fn work(&self, thread: usize) {
        let mut seen = 0;
        loop {
            seen = self.wait(seen);
            if self.stop.load(Ordering::Acquire) {
                return;
            }
            let enter = |gate: usize| (gate & OPEN != 0).then_some(gate + 1);
            if self.gate.fetch_update(Ordering::AcqRel, Ordering::Acquire, enter).is_err() {
                continue;
            }
            // SAFETY: this worker is inside the gate, so the task is not being written (see `Shared::task`).
            let task = unsafe { *self.task.get() };
            if let Some(work) = task
                && catch_unwind(AssertUnwindSafe(|| self.take_units(work, thread))).is_err()
            {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.gate.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Waits until the epoch differs from `seen`: awake for a moment, then asleep.
    fn wait(&self, seen: usize) -> usize {
        for _ in 0..SPINS {
            let epoch = self.epoch.load(Ordering::Acquire);
            if epoch != seen {
                return epoch;
            }
            std::hint::spin_loop();
        }
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        loop {
            let epoch = self.epoch.load(Ordering::SeqCst);
            if epoch != seen {
                self.sleepers.fetch_sub(1, Ordering::SeqCst);
                return epoch;
            }
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        drop(self.shared.sleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its tasks; there is nothing to report here.
            let _ = worker.join();
        }
    }
}

/// Memory that several units of one task write, each its own part.
pub struct Parts<'a, T> {
    start: *mut T,
    len: usize,
    of: std::marker::PhantomData<&'a mut [T]>,
}

// SAFETY: it is a mutable slice that is handed out in parts; `Parts::part` puts the duty to keep these apart
// on its callers.
unsafe impl<T: Send> Send for Parts<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    /// Wraps the memory for the time of one task.
    pub fn new(memory: &'a mut [T]) -> Self {
        Self { start: memory.as_mut_ptr(), len: memory.len(), of: std::marker::PhantomData }
    }

    /// Elements `at..at + len`.
    ///
    /// # Safety
    /// While the returned slice lives, no other slice that overlaps it may be in use.
    pub unsafe fn part(&self, at: usize, len: usize) -> &'a mut [T] {
        // SAFETY: inside the memory (checked by `pointer`) and not in use elsewhere (the caller's duty).
        unsafe { std::slice::from_raw_parts_mut(self.pointer(at, len), len) }
    }

    /// Pointer to element `at`, with at least `len` elements from there on.
    pub fn pointer(&self, at: usize, len: usize) -> *mut T {
        assert!(at <= self.len && len <= self.len - at, "part outside its memory");
        self.start.wrapping_add(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_done_once_and_threads_do_not_overlap() {
        for threads in 1..5 {
            let pool = Pool::new(threads);
            assert_eq!(pool.threads(), threads);
            let busy: Vec<_> = (0..threads).map(|_| AtomicBool::new(false)).collect();
            for units in (0..200).chain([10_000]) {
                let done: Vec<_> = (0..units).map(|_| AtomicUsize::new(0)).collect();
                pool.run(units, &|unit, thread| {
                    assert!(!busy[thread].swap(true, Ordering::AcqRel));
                    done[unit].fetch_add(1, Ordering::Relaxed);
                    busy[thread].store(false, Ordering::Release);
                });
                assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                let promised: Vec<_> = (0..threads).map(|_| AtomicUsize::new(usize::MAX)).collect();
                pool.run_ahead(units, &|unit, following, thread| {
                    let promise = promised[thread].swap(following.unwrap_or(usize::MAX), Ordering::Relaxed);
                    assert!(promise == unit || promise == usize::MAX, "{promise} was promised, {unit} came");
                    done[unit].fetch_add(1, Ordering::Relaxed);
                });
                assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 2));
                assert!(promised.iter().all(|promise| promise.load(Ordering::Relaxed) == usize::MAX));
            }
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_lives_on() {
        let pool = Pool::new(3);
        let outcome = catch_unwind(AssertUnwindSafe(|| pool.run(100, &|unit, _| assert!(unit != 57))));
        assert!(outcome.is_err());
        let count = AtomicUsize::new(0);
        pool.run(100, &|_, _| _ = count.fetch_add(1, Ordering::Relaxed));
        assert_eq!(count.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn sleeping_workers_are_woken_and_let_go() {
        let pool = Pool::new(3);
        for _ in 0..20 {
            while pool.shared.sleepers.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
            pool.run(8, &|_, _| {});
        }
    }
}
