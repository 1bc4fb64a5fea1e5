//! One line on the terminal during a long operation, removed when dropped.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::output::{columns, say};
use crate::job::{Event, round_words};
use crate::source::Event as From;
use crate::untrusted::clean_line;

/// Time between two drawings.
const EVERY: Duration = Duration::from_millis(100);

/// A line on stderr that is redrawn, if stderr is a terminal.
pub struct Line {
    drawn: Option<Instant>,
    /// True if the line is visible.
    seen: bool,
}

impl Line {
    /// Clears the line.
    pub const CLEAR: &str = "\r\x1b[K";

    /// An empty line. It stays empty if `quiet` or if it is not visible.
    pub fn new(quiet: bool) -> Self {
        Self { drawn: None, seen: !quiet && Self::is_seen() }
    }

    /// Returns true if stderr is a terminal that can redraw a line.
    pub fn is_seen() -> bool {
        std::env::var_os("TERM").is_none_or(|term| term != "dumb") && std::io::stderr().is_terminal()
    }

    /// The current time, if the next drawing is due.
    pub fn due(&self) -> Option<Instant> {
        let now = Instant::now();
        (self.seen && self.drawn.is_none_or(|last| now - last >= EVERY)).then_some(now)
    }

    /// Writes a sentence above the line, if it may be seen.
    fn say(&mut self, sentence: &str) {
        if self.seen {
            self.drawn = None;
            say(&format!("{}bass-tui: {sentence}\n", Self::CLEAR));
        }
    }

    /// Replaces the line by `text`, as much of it as one line holds.
    pub fn draw(&mut self, text: &str) {
        self.drawn = Some(Instant::now());
        say(&format!("{}{}", Self::CLEAR, clean_line(text, columns().saturating_sub(1))));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            say(Self::CLEAR);
        }
    }
}

/// Runs `work`. After one second a line says what is done, and for how long.
pub fn during<T>(what: &str, quiet: bool, work: impl FnOnce() -> T) -> T {
    let (done, ended) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut line, begun) = (Line::new(quiet), Instant::now());
            while ended.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                if line.due().is_some() {
                    line.draw(&format!("{what}: {} s", begun.elapsed().as_secs()));
                }
            }
        });
        let result = work();
        let _ = done.send(());
        result
    })
}

/// Progress of the candidates.
pub struct Progress {
    line: Line,
    candidates: usize,
    done: usize,
    tested: usize,
    tokens: usize,
    /// Prompt tokens done, and in total.
    prompt: (usize, usize),
    /// Time of the first token.
    since: Option<Instant>,
    /// When the tests began to run without the candidate, while they do, and their time limit.
    prepares: Option<(Instant, Duration)>,
}

impl Progress {
    /// A line for `candidates` candidates; silent if `quiet` or if stderr is no terminal.
    pub fn new(candidates: usize, quiet: bool) -> Self {
        Self {
            line: Line::new(quiet),
            candidates,
            done: 0,
            tested: 0,
            tokens: 0,
            prompt: (0, 0),
            since: None,
            prepares: None,
        }
    }

    /// Handles an event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Source(From::Prefill { done, total }) => self.prompt = (*done, *total),
            Event::Source(From::Tokens { ids, logprobs, .. }) => {
                self.since.get_or_insert_with(Instant::now);
                self.tokens += ids.len().max(logprobs.len());
            }
            Event::Source(From::Finished { .. }) => self.done += 1,
            Event::Round { candidates, told, why, .. } => {
                self.line.say(&round_words(candidates, *told, *why));
                self.candidates = candidates.end;
            }
            Event::Verdict { .. } => self.tested += 1,
            Event::Preparing(longest) => self.prepares = longest.map(|longest| (Instant::now(), longest)),
            _ => return,
        }
        self.draw();
    }

    /// Draws the line anew if it is time.
    pub fn draw(&mut self) {
        if self.prompt.1 == 0 && self.since.is_none() && self.prepares.is_none() {
            return;
        }
        if let Some(now) = self.line.due() {
            let text = self.text(self.since.map(|since| (now - since).as_secs_f64()));
            self.line.draw(&text);
        }
    }

    /// The line, `seconds` after the first token.
    fn text(&self, seconds: Option<f64>) -> String {
        let mut out = match seconds {
            None => format!("prompt: {} of {} tokens", self.prompt.0, self.prompt.1),
            Some(_) => format!("{} of {} candidates done", self.done, self.candidates),
        };
        if self.tested > 0 {
            let _ = write!(out, ", {} tested", self.tested);
        }
        // The first tokens come all at once, so they give no rate.
        if let Some(seconds) = seconds.filter(|seconds| *seconds > 0.05) {
            let _ = write!(out, ", {:.0} tokens/s", self.tokens as f64 / seconds);
        }
        if let Some((seconds, longest)) = self.prepares.map(|(since, longest)| (since.elapsed().as_secs(), longest))
            && seconds > 0
        {
            let longest = longest.as_secs();
            let _ = write!(out, ", your tests run once without a body: {seconds} of at most {longest} s");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_follows_the_events() {
        let mut progress = Progress::new(2, true);
        progress.event(&Event::Source(From::Prefill { done: 3, total: 9 }));
        assert_eq!(progress.text(None), "prompt: 3 of 9 tokens");
        let (ids, logprobs) = (vec![1; 40], vec![0.0; 40]);
        let text = String::new();
        let tokens =
            From::Tokens { candidate: 0, text, ids, logprobs, alternatives: Vec::new(), drafted: 0, accepted: 0 };
        progress.event(&Event::Source(tokens));
        assert_eq!(progress.text(Some(0.0)), "0 of 2 candidates done");
        progress.event(&Event::Verdict { candidate: 0, outcome: Err(String::new()) });
        assert_eq!(progress.text(Some(2.0)), "0 of 2 candidates done, 1 tested, 20 tokens/s");
        progress.event(&Event::Preparing(Some(Duration::from_secs(60))));
        let before = |since: Instant| since.checked_sub(Duration::from_secs(3)).unwrap();
        progress.prepares = progress.prepares.map(|(since, longest)| (before(since), longest));
        assert!(
            progress.text(Some(2.0)).ends_with("20 tokens/s, your tests run once without a body: 3 of at most 60 s")
        );
        progress.event(&Event::Preparing(None));
        assert!(progress.text(Some(2.0)).ends_with("20 tokens/s"));
    }
}
