//! The time limit of a run, without the time that its processes wait for a core. Otherwise a good program
//! would be too slow on a busy machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::procfs;

/// Most time that a run may get back for its waiting, as a multiple of the limit.
const MOST: u32 = 3;
/// Most processes that are examined. Each look reads one file per process.
const LOOKED_AT: usize = 16;

/// Time that the processes of a run have waited for a core. Programs that wait for each other share one: the
/// waiting of either counts for both.
#[derive(Clone, Debug, Default)]
pub struct Waited(Arc<AtomicU64>);

impl Waited {
    fn so_far(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// Scheduler figures of one process: time on a core, and time ready to run without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Time on a core.
    pub ran: Duration,
    /// Time ready to run without a core.
    pub waited: Duration,
}

/// A time limit of a run that excludes its waiting, and one of the time in which it does nothing.
pub struct Stopwatch {
    limit: Duration,
    /// Longest time in which no process of the run works.
    idle: Option<Duration>,
    /// When one was last seen to.
    last_busy: Instant,
    /// Ticks of the clock that each had worked by the last look.
    worked: Option<Vec<(i32, u64)>>,
    begun: Instant,
    waited: Waited,
    /// Waiting before this clock started.
    before: Duration,
    last_look: Instant,
    /// The last figures of each process.
    seen: Vec<(i32, Schedule)>,
}

impl Stopwatch {
    /// Starts the clock.
    pub fn new(limit: Duration, idle: Option<Duration>, waited: &Waited) -> Self {
        let begun = Instant::now();
        Self {
            limit,
            idle,
            last_busy: begun,
            worked: None,
            begun,
            waited: waited.clone(),
            before: waited.so_far(),
            last_look: begun,
            seen: Vec::new(),
        }
    }

    /// Time at which the limit is hit, as far as known now.
    pub fn deadline(&self) -> Instant {
        let waited = self.waited.so_far().saturating_sub(self.before);
        let limit = self.begun + self.limit + waited.min(self.limit * MOST);
        self.idle.map_or(limit, |idle| limit.min(self.last_busy + idle))
    }

    /// Notes what each process has worked so far. Where that is not known, they may work. `is_ready` is
    /// true if one wants to: on a busy machine it may get no core.
    fn note(&mut self, now: Instant, worked: Option<Vec<(i32, u64)>>, is_ready: impl Fn() -> bool) {
        if worked.is_none() || worked != self.worked || is_ready() {
            self.last_busy = now;
        }
        self.worked = worked;
    }

    /// Adds the time that these processes have waited since the last look.
    pub fn look(&mut self, processes: &[i32]) {
        let now = Instant::now();
        let schedule = |&pid: &i32| Some((pid, procfs::schedule_of(pid)?));
        let seen: Vec<(i32, Schedule)> = processes.iter().take(LOOKED_AT).filter_map(schedule).collect();
        if self.idle.is_some() {
            let worked = processes.iter().map(|&pid| Some((pid, procfs::worked(pid)?))).collect::<Option<Vec<_>>>();
            self.note(now, worked, || processes.iter().any(|&pid| procfs::is_ready(pid)));
        }
        let waited = waited_between(&self.seen, &seen, now - self.last_look);
        self.waited.0.fetch_add(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        (self.seen, self.last_look) = (seen, now);
    }
}

/// The part of `elapsed` that was lost by waiting. If many processes take turns, each also waits for the
/// others. So only the part counts that all of them waited, of the time in which they wanted to run.
fn waited_between(before: &[(i32, Schedule)], after: &[(i32, Schedule)], elapsed: Duration) -> Duration {
    let mut sum = Schedule::default();
    for (pid, now) in after {
        // Figures from before a process was first seen may belong to an earlier time.
        if let Some((_, then)) = before.iter().find(|(other, _)| other == pid) {
            sum.ran += now.ran.saturating_sub(then.ran);
            sum.waited += now.waited.saturating_sub(then.waited);
        }
    }
    let wanted = sum.ran + sum.waited;
    if wanted.is_zero() {
        return Duration::ZERO;
    }
    sum.waited.min(elapsed.mul_f64(sum.waited.as_secs_f64() / wanted.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    fn at(pid: i32, ran: u64, waited: u64) -> (i32, Schedule) {
        (pid, Schedule { ran: ms(ran), waited: ms(waited) })
    }

    #[test]
    fn waiting_counts_and_running_and_sleeping_do_not() {
        let lost = |before: &[_], after: &[_]| waited_between(before, after, ms(20)).as_millis();
        assert_eq!(lost(&[at(1, 5, 5)], &[at(1, 25, 5)]), 0, "ran");
        assert_eq!(lost(&[at(1, 5, 5)], &[at(1, 5, 5)]), 0, "slept");
        assert_eq!(lost(&[at(1, 5, 5)], &[at(1, 10, 20)]), 15, "waited most of the time");
        assert_eq!(lost(&[at(1, 5, 5)], &[at(1, 5, 7)]), 2, "slept, and waited a little");
        assert_eq!(lost(&[], &[at(1, 5, 500)]), 0, "was not seen before");
        assert_eq!(lost(&[at(1, 5, 5)], &[at(2, 5, 500)]), 0, "is another process");
    }

    /// Eight processes that never sleep, on two free cores: all of them wait, but the run as a whole goes on.
    #[test]
    fn processes_that_wait_for_each_other_do_not_stop_the_clock() {
        let before: Vec<_> = (0..8).map(|pid| at(pid, 0, 0)).collect();
        let after: Vec<_> = (0..8).map(|pid| at(pid, 5, 15)).collect();
        let lost = waited_between(&before, &after, ms(20));
        assert_eq!(lost, ms(15));
        assert!(lost < ms(20));
    }

    #[test]
    fn the_deadline_moves_by_the_waiting_and_no_further_than_three_limits() {
        let waited = Waited::default();
        waited.0.store(7_000_000_000, Ordering::Relaxed);
        let clock = Stopwatch::new(ms(1000), None, &waited);
        let moved = |more: u64| {
            waited.0.store(7_000_000_000 + more * 1_000_000, Ordering::Relaxed);
            clock.deadline() - clock.begun
        };
        assert_eq!(moved(0), ms(1000), "what was waited before does not count");
        assert_eq!(moved(400), ms(1400));
        assert_eq!(moved(60_000), ms(4000));
    }

    #[test]
    fn a_run_in_which_nothing_works_ends_early() {
        let mut clock = Stopwatch::new(ms(60_000), Some(ms(2000)), &Waited::default());
        let begun = clock.begun;
        let mut noted = |at: u64, worked: Option<&[(i32, u64)]>, is_ready: bool| {
            clock.note(begun + ms(at), worked.map(<[_]>::to_vec), || is_ready);
            (clock.deadline() - begun).as_millis()
        };
        assert_eq!(noted(0, Some(&[(1, 5)]), false), 2000);
        assert_eq!(noted(500, Some(&[(1, 5)]), true), 2500, "gets no core");
        let mut deadline = |at: u64, worked: Option<&[(i32, u64)]>| noted(at, worked, false);
        assert_eq!(deadline(600, Some(&[(1, 5)])), 2500);
        assert_eq!(deadline(1000, Some(&[(1, 6)])), 3000, "worked");
        assert_eq!(deadline(1900, Some(&[(1, 6)])), 3000, "waits");
        assert_eq!(deadline(2000, Some(&[(1, 6), (2, 0)])), 4000, "began another");
        assert_eq!(deadline(3000, None), 5000, "not known");
        assert_eq!(deadline(59_000, Some(&[(1, 7)])), 60_000, "no longer than the limit");
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(procfs::worked(own).is_some(), cfg!(target_os = "linux"));
        assert_eq!(procfs::worked(i32::MAX), None);
        assert_eq!(procfs::is_ready(own), cfg!(target_os = "linux"), "this thread is on a core");
        assert!(!procfs::is_ready(i32::MAX));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_scheduler_says_of_a_process_is_read() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(procfs::schedule_of(own).is_some_and(|schedule| schedule.ran > Duration::ZERO));
        assert_eq!(procfs::schedule_of(i32::MAX), None);
    }
}
