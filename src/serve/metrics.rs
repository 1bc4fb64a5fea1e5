//! The text of `/metrics`, in the format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::source::{Load, Summary};

/// Counts since the start.
#[derive(Default)]
pub struct Metrics {
    answers: Mutex<BTreeMap<(&'static str, u16), u64>>,
    prompt_tokens: AtomicU64,
    prompt_tokens_reused: AtomicU64,
    tokens: AtomicU64,
    drafted: AtomicU64,
    accepted: AtomicU64,
    /// Requests that were aborted before their answer was complete.
    left: AtomicU64,
}

fn add(to: &AtomicU64, count: usize) {
    to.fetch_add(count as u64, Ordering::Relaxed);
}

impl Metrics {
    /// Counts a request to `path` with this status.
    pub fn answered(&self, path: &'static str, status: u16) {
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner).entry((path, status)).or_default() += 1;
    }

    /// Counts a finished generation.
    pub fn written(&self, summary: &Summary) {
        add(&self.prompt_tokens, summary.prompt_tokens);
        add(&self.prompt_tokens_reused, summary.prompt_tokens_reused);
        add(&self.tokens, summary.tokens);
        add(&self.drafted, summary.drafted);
        add(&self.accepted, summary.accepted);
    }

    /// Counts an aborted answer: the client left or read too slowly, or the server stopped.
    pub fn left(&self) {
        add(&self.left, 1);
    }

    /// All counts, and the current load.
    pub fn text(&self, load: Load, requests: usize) -> String {
        let mut out = String::new();
        let mut tell = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            let _ = writeln!(out, "# HELP bass_tui_{name} {help}\n# TYPE bass_tui_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(out, "bass_tui_{name}{labels} {value}");
            }
        };
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let labelled = |((path, status), count): (&(&str, u16), &u64)| {
            (format!("{{path=\"{path}\",status=\"{status}\"}}"), *count)
        };
        let answers: Vec<_> = answers.iter().map(labelled).collect();
        tell("requests_total", "counter", "Requests by path and status.", &answers);
        let counters = [
            ("prompt_tokens_total", "Tokens of prompts.", &self.prompt_tokens),
            (
                "prompt_tokens_reused_total",
                "Those that had been read for an earlier request.",
                &self.prompt_tokens_reused,
            ),
            ("tokens_total", "Tokens written, all candidates.", &self.tokens),
            ("drafted_tokens_total", "Draft tokens proposed.", &self.drafted),
            ("accepted_tokens_total", "Draft tokens accepted.", &self.accepted),
            ("answers_broken_off_total", "Answers that were not read to their end.", &self.left),
        ];
        for (name, help, counter) in counters {
            tell(name, "counter", help, &[(String::new(), counter.load(Ordering::Relaxed))]);
        }
        let gauges = [
            ("requests", "Requests that are being written or wait for it.", requests),
            ("requests_waiting", "Requests of which nothing is written yet.", load.waiting),
            ("candidates", "Candidates that are being written.", load.candidates),
            ("candidates_small", "Those of them in places kept for small requests.", load.small),
            ("positions", "Positions of keys and values that requests hold.", load.positions),
            ("positions_limit", "Positions that they may hold.", load.most_positions),
            ("kv_bytes", "Bytes of keys and values, kept prompts included.", load.kv_bytes),
        ];
        for (name, help, value) in gauges {
            tell(name, "gauge", help, &[(String::new(), value as u64)]);
        }
        out
    }
}
