//! How far something is that takes time: told in chunks, estimated in between.

/// Time between two looks of a bar, in ms.
pub const EVERY_MS: u64 = 100;
/// Time that has to be known before the rest is estimated, in ms.
const ENOUGH_MS: u64 = 300;

/// A time in ms, and what was done by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Point {
    at: u64,
    done: u64,
}

/// Progress of one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// All there is to do; 0 before anything is known.
    pub total: u64,
    first: Point,
    last: Point,
    /// Size of the last chunk.
    chunk: u64,
}

impl Progress {
    /// So much of all is done, at this time.
    pub fn told(&mut self, done: u64, total: u64, now: u64) {
        let point = Point { at: now, done: done.min(total) };
        if total != self.total || point.done < self.last.done {
            *self = Self { total, first: point, last: point, chunk: 0 };
        } else if point.done > self.last.done {
            self.chunk = point.done - self.last.done;
            self.last = point;
        }
    }

    /// Done in a ms, once there is something to go by.
    fn rate(&self) -> Option<f64> {
        let (ms, done) = (self.last.at - self.first.at, self.last.done - self.first.done);
        (ms > 0 && done > 0).then(|| done as f64 / ms as f64)
    }

    /// The share that is done by now, between 0 and 1: by an estimate, which never passes the next chunk and
    /// never the end.
    pub fn share(&self, now: u64) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        let since = now.saturating_sub(self.last.at) as f64;
        let ahead = self.rate().map_or(0.0, |rate| (rate * since).min(self.chunk as f64));
        let most = if self.last.done == self.total { 1.0 } else { 0.99 };
        ((self.last.done as f64 + ahead) / self.total as f64).min(most)
    }

    /// Seconds that are left, rounded up.
    pub fn seconds_left(&self, now: u64) -> Option<u64> {
        let rate = self.rate().filter(|_| now.saturating_sub(self.first.at) >= ENOUGH_MS)?;
        let left = (1.0 - self.share(now)) * self.total as f64 / rate;
        (left > 0.0).then(|| (left / 1000.0).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share, in thousandths.
    fn share(progress: &Progress, now: u64) -> u64 {
        (progress.share(now) * 1000.0).round() as u64
    }

    #[test]
    fn between_two_chunks_the_share_is_estimated() {
        let mut progress = Progress::default();
        assert_eq!((share(&progress, 5), progress.seconds_left(5)), (0, None));
        progress.told(20, 220, 1000);
        assert_eq!(progress.seconds_left(9000), None, "nothing to go by");
        progress.told(70, 220, 2000);
        assert_eq!((share(&progress, 2000), progress.seconds_left(2000)), (318, Some(3)));
        assert_eq!((share(&progress, 2500), progress.seconds_left(2500)), (432, Some(3)));
        // A chunk that takes longer than the others is not over before it is told.
        assert_eq!(share(&progress, 60_000), 545);
        progress.told(219, 220, 60_000);
        assert_eq!(share(&progress, 90_000), 990, "the end is told, not estimated");
        progress.told(220, 220, 90_000);
        assert_eq!((share(&progress, 90_000), progress.seconds_left(90_000)), (1000, None));
        // Another thing begins anew; more than all is all.
        progress.told(9, 8, 91_000);
        assert_eq!((share(&progress, 91_000), progress.last.done), (1000, 8));
    }
}
