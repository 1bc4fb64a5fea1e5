//! The progress of a run and the estimated time left, as one line.

use std::fmt::Write;
use std::time::Duration;

use super::report::time;

/// Cells of the bar.
const CELLS: usize = 20;

/// The progress so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Problems of the run.
    pub problems: usize,
    /// Problems done before this run began.
    pub before: usize,
    /// Problems done in this run.
    pub done: usize,
    /// Problems solved by any candidate, in total.
    pub solved: usize,
    /// Tokens written in this run.
    pub tokens: usize,
}

impl Progress {
    /// The line, `elapsed` after the run began.
    pub fn line(&self, elapsed: Duration) -> String {
        let (through, seconds) = (self.before + self.done, elapsed.as_secs_f64());
        let filled = (through * CELLS).checked_div(self.problems).map_or(CELLS, |cells| cells.min(CELLS));
        let bar: String = (0..CELLS).map(|cell| if cell < filled { '#' } else { '.' }).collect();
        let mut out = format!("[{bar}] {through} of {} problems, {} solved", self.problems, self.solved);
        if self.tokens > 0 && seconds > 0.5 {
            let _ = write!(out, ", {:.0} tokens/s", self.tokens as f64 / seconds);
        }
        match self.left(seconds) {
            Some(left) => drop(write!(out, ", about {} left", time(left))),
            None if self.problems > through => out.push_str(", time left not known yet"),
            None => {}
        }
        out
    }

    /// Estimated seconds left, by the mean of the problems done. `None` until there is a basis for it.
    fn left(&self, seconds: f64) -> Option<f64> {
        let rest = self.problems.checked_sub(self.before + self.done).filter(|&rest| rest > 0)?;
        let enough = self.done >= 3 && seconds >= 2.0;
        enough.then(|| seconds / self.done as f64 * rest as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_waits_until_there_is_something_to_go_by() {
        let progress = Progress { problems: 20, before: 10, done: 2, solved: 5, tokens: 300 };
        assert_eq!(
            progress.line(Duration::from_secs(3)),
            "[############........] 12 of 20 problems, 5 solved, 100 tokens/s, time left not known yet"
        );
        let progress = Progress { done: 5, ..progress };
        assert!(progress.line(Duration::from_secs(10)).ends_with("30 tokens/s, about 10 s left"));
        let progress = Progress { done: 10, tokens: 0, ..progress };
        assert_eq!(progress.line(Duration::from_secs(10)), "[####################] 20 of 20 problems, 5 solved");
    }
}
