//! A kept run as text for the reader.

use std::fmt::Write as _;

use super::taken;
use crate::cli::output::number;
use crate::engine::FinishReason;
use crate::history::{Kept, KeptCandidate, Tested, day_and_time};
use crate::job::label;
use crate::source::pair;
use crate::untrusted::{clean, clean_line, code, framed};

/// Most columns of a line of the head.
const COLUMNS: usize = 200;

/// The whole run.
pub fn run(kept: &Kept) -> String {
    let mut out = String::new();
    for (name, text) in head(kept) {
        let _ = writeln!(out, "{name:10} {text}");
    }
    let _ = write!(out, "\n{}", indented(kept.stub()));
    let candidates = kept.candidates();
    for candidate in kept.ranking() {
        let _ = write!(out, "\n{}", one(&candidates, candidate, kept.picked() == Some(candidate), false));
    }
    out
}

/// One candidate, with the output of its tests.
pub fn candidate(kept: &Kept, candidate: usize) -> String {
    one(&kept.candidates(), candidate, kept.picked() == Some(candidate), true)
}

/// Names and values of the head.
pub fn head(kept: &Kept) -> Vec<(&'static str, String)> {
    let head = &kept.head;
    let device = format!("{} {}", head.device, head.dtype);
    let settings = head.settings.iter().map(|(name, value)| format!(", {name} {}", plain(value)));
    let mut lines = vec![
        ("run", format!("{}, {}, bass-tui {}", kept.file.id, day_and_time(head.at), head.program)),
        (
            "what",
            head.file.as_ref().map_or_else(
                || head.subject(),
                |file| format!("{}:{}", file.display(), head.function.as_deref().unwrap_or_default()),
            ),
        ),
        ("model", format!("{}, {}", pair(&head.model, &head.draft), device.trim())),
        ("settings", format!("n {}, seed {}{}", kept.generated(), head.seed, settings.collect::<String>())),
        ("tests", if kept.tests().is_empty() { "none" } else { kept.tests() }.to_owned()),
        (
            "taken",
            match kept.taken().and_then(|taken| taken.path.as_ref()) {
                Some(path) => format!("{}, into {}", taken(kept), path.display()),
                None => taken(kept),
            },
        ),
    ];
    if let Some(wish) = &head.wish {
        lines.insert(2, ("change", wish.clone()));
    }
    for (_, text) in &mut lines {
        *text = clean_line(text, COLUMNS);
    }
    lines
}

/// A value without the quotes of a text.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn one(candidates: &[KeptCandidate], index: usize, is_picked: bool, with_output: bool) -> String {
    let Some(candidate) = candidates.get(index) else { return String::new() };
    let mark = if is_picked { "> " } else { "" };
    let mut out = format!("{mark}{}  {}\n", label(index), words(candidate));
    out.push_str(&indented(&candidate.text));
    if let Some(tested) = candidate.tested.as_ref().filter(|tested| with_output && !tested.output.is_empty()) {
        let _ = write!(out, "\noutput of its tests\n{}", indented(&clean(&tested.output)));
    }
    out
}

/// `PASS: 3 checks, 12 ms; 40 tokens; logprob -0.12`.
pub fn words(candidate: &KeptCandidate) -> String {
    let mut parts = Vec::new();
    let same = candidate.duplicate_of.map(|of| format!("same as {}", label(of)));
    parts.extend(candidate.tested.as_ref().map(verdict));
    parts.extend(same);
    parts.extend(match candidate.reason {
        Some(FinishReason::Stop) => None,
        Some(FinishReason::Length) => Some("cut at the token limit".to_owned()),
        Some(FinishReason::Budget) => Some("cut by the time budget".to_owned()),
        Some(FinishReason::Failed) => Some("broken off".to_owned()),
        Some(FinishReason::Cancelled) => Some("cancelled".to_owned()),
        None => Some("its end is not recorded".to_owned()),
    });
    if candidate.tokens > 0 {
        parts.push(number(candidate.tokens, "token"));
    }
    parts.extend(candidate.mean_logprob.map(|mean| format!("logprob {mean:.2}")));
    parts.join("; ")
}

/// `FAIL: f(1) gave 2, expected 1 (doctest, 12 ms)`.
pub fn verdict(tested: &Tested) -> String {
    match tested.outcome() {
        Ok(verdict) => {
            let how = [tested.runner.clone(), format!("{} ms", tested.duration_ms)];
            let how = how.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(", ");
            let words = verdict.words();
            let colon = if words.is_empty() { "" } else { ": " };
            format!("{}{colon}{} ({})", verdict.status.word(), framed(&words), clean_line(&how, 80))
        }
        Err(why) => format!("NOT RUN: {}", framed(&why)),
    }
}

fn indented(text: &str) -> String {
    let text = code(text);
    let lines = text.trim_end().lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") });
    lines.collect()
}
