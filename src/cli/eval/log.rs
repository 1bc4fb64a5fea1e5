//! The progress of `eval`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::output::say;
use super::super::progress::Line;
use crate::eval::{News, ProblemResult, Progress, Speed};

/// Time between two lines of progress on an output that cannot be redrawn.
const EVERY: Duration = Duration::from_secs(30);

/// The progress shown to the user: a line that is redrawn, or a new line at intervals.
pub struct Log {
    line: Option<Line>,
    /// Time of the last line on an output that cannot be redrawn.
    written: Option<Instant>,
    progress: Progress,
    began: Instant,
    first: Option<Instant>,
    last: Instant,
}

impl Log {
    /// Starts the clock. `before` are the results that existed already.
    pub fn new(quiet: bool, problems: usize, before: &BTreeMap<String, ProblemResult>) -> Self {
        let now = Instant::now();
        let drawn = Line::is_seen();
        let progress = Progress {
            problems,
            before: before.len(),
            solved: before.values().filter(|r| r.pass_at_all).count(),
            ..Progress::default()
        };
        Self {
            line: drawn.then(|| Line::new(quiet)),
            written: (!drawn && !quiet).then_some(now),
            progress,
            began: now,
            first: None,
            last: now,
        }
    }

    /// Handles an event and shows the progress.
    pub fn news(&mut self, news: &News) {
        let now = Instant::now();
        match news {
            News::Tokens(tokens) => {
                self.progress.tokens += tokens;
                self.first.get_or_insert(self.began);
                self.last = now;
            }
            News::Done(result) => {
                self.progress.done += 1;
                self.progress.solved += usize::from(result.pass_at_all);
            }
            News::Tested | News::Waiting => {}
        }
        if let Some(line) = &mut self.line
            && line.due().is_some()
        {
            line.draw(&self.progress.line(now - self.began));
        }
        if self.written.is_some_and(|written| now - written >= EVERY) {
            self.written = Some(now);
            say(&(self.progress.line(now - self.began) + "\n"));
        }
    }

    /// Removes the line. Returns the cost of the run.
    pub fn close(&mut self) -> Speed {
        self.line = None;
        Speed {
            tokens: self.progress.tokens,
            writing: self.first.map_or(0.0, |first| (self.last - first).as_secs_f64()),
            wall: self.began.elapsed().as_secs_f64(),
        }
    }
}
