//! What `complete` prints: the JSON object of the contract, or a table for people.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use crate::job::{Candidate, label};
use crate::source::{FinishReason, SourceInfo, Summary};
use crate::trial::Status;
use crate::untrusted::{clean, framed};

/// A whole run.
#[derive(Debug)]
pub struct Report {
    /// Models and device.
    pub info: SourceInfo,
    /// Seed of the run.
    pub seed: u64,
    /// The candidates by index.
    pub candidates: Vec<Candidate>,
    /// Figures and ranking.
    pub summary: Summary,
    /// The candidate to take.
    pub picked: Option<usize>,
}

impl Report {
    /// The object of the contract, on one line.
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Json<'a> {
            model: &'a str,
            draft: &'a str,
            device: &'a str,
            dtype: &'a str,
            seed: u64,
            prompt_tokens: usize,
            candidates: &'a [Candidate],
            ranking: &'a [usize],
            picked: Option<usize>,
            stats: &'a Summary,
        }
        let json = Json {
            model: &self.info.model,
            draft: &self.info.draft,
            device: &self.info.device,
            dtype: &self.info.dtype,
            seed: self.seed,
            prompt_tokens: self.summary.prompt_tokens,
            candidates: &self.candidates,
            ranking: &self.summary.ranking,
            picked: self.picked,
            stats: &self.summary,
        };
        // Plain data with string keys: serialisation cannot fail.
        let text = serde_json::to_string(&json).unwrap_or_default();
        if self.info.is_served() { without_untold(&text) } else { text }
    }

    /// The table for stderr, best candidate first. `sandbox` is the summary of the protection, when there
    /// were tests.
    pub fn table(&self, sandbox: Option<&str>) -> String {
        let mut out = String::new();
        for &c in &self.summary.ranking {
            let candidate = &self.candidates[c];
            let mark = if self.picked == Some(c) { '>' } else { ' ' };
            let verdict = &candidate.verdict;
            let verdict = match (verdict.status, candidate.duplicate_of) {
                (Status::NotRun, Some(of)) => format!("same as {}", label(of)),
                (status, Some(of)) => format!("{} (same as {})", status.word(), label(of)),
                (Status::NotRun, None) if sandbox.is_none() && candidate.finish != Some(FinishReason::Failed) => {
                    String::new()
                }
                (status, None) => format!("{}: {}", status.word(), framed(&verdict.words())),
            };
            let finish = match candidate.finish {
                Some(FinishReason::Length) => "cut at the token limit",
                Some(FinishReason::Budget) => "cut by the time budget",
                Some(FinishReason::Failed) => "broken off",
                Some(FinishReason::Cancelled) | None => "cancelled",
                Some(FinishReason::Stop) => "",
            };
            let notes: Vec<&str> = [verdict.as_str(), finish].into_iter().filter(|note| !note.is_empty()).collect();
            let probability = candidate.mean_logprob.map_or_else(String::new, |mean| format!("  logprob {mean:>6.2}"));
            let tokens = match candidate.tokens() {
                0 if self.info.is_served() => String::new(),
                tokens => format!(" {tokens:>3} tokens"),
            };
            let line = format!("{mark} {:2}{tokens}{probability}  {}", label(c), notes.join("; "));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        let s = &self.summary;
        if self.info.is_served() {
            let (model, device) = (clean(&self.info.model), &self.info.device);
            let speed = if s.tokens > 0 {
                format!("{} tokens, {:.0} tokens/s; ", s.tokens, s.tokens_per_second)
            } else {
                String::new()
            };
            let _ = write!(out, "{speed}{model} at {device}");
        } else {
            let _ = write!(
                out,
                "{} tokens, {:.0} tokens/s, {:.1} accepted per step; {} with draft {}, {} {}",
                s.tokens,
                s.tokens_per_second,
                s.mean_accepted_length,
                clean(&self.info.model),
                clean(&self.info.draft),
                self.info.device,
                self.info.dtype
            );
        }
        match sandbox {
            Some(summary) => drop(writeln!(out, "; {summary}")),
            None => out.push('\n'),
        }
        out
    }
}

/// The object without what a server did not tell, instead of zeros.
fn without_untold(text: &str) -> String {
    let mut json: Value = serde_json::from_str(text).unwrap_or_default();
    let mut drop = |at: &str, keys: &[&str], untold: fn(&Value) -> bool| {
        let Some(object) = json.pointer_mut(at).and_then(Value::as_object_mut) else { return };
        object.retain(|key, value| !keys.contains(&key.as_str()) || !untold(value));
    };
    let never: fn(&Value) -> bool = |_| true;
    let nothing: fn(&Value) -> bool = |value| value.is_null() || value.as_f64() == Some(0.0) || *value == json!([]);
    drop("", &["draft", "dtype"], never);
    drop("", &["prompt_tokens"], nothing);
    let drafts = ["steps", "drafted", "accepted", "mean_accepted_length", "draft_lengths", "accepted_lengths"];
    drop("/stats", &drafts, never);
    drop("/stats", &["prompt_tokens_reused"], never);
    let speeds = ["tokens", "tokens_per_second", "ms_per_token_first", "ms_per_token_last", "ms_per_token_all"];
    drop("/stats", &speeds, nothing);
    for candidate in json["candidates"].as_array_mut().into_iter().flatten() {
        let Some(object) = candidate.as_object_mut() else { continue };
        object.remove("token_ids");
        object.retain(|key, value| !matches!(key.as_str(), "logprobs" | "mean_logprob") || !nothing(value));
    }
    json.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Verdict;

    #[test]
    fn the_table_says_what_is_worth_reading() {
        let mut report = Report {
            info: SourceInfo::default(),
            seed: 0,
            candidates: (0..3).map(Candidate::new).collect(),
            summary: Summary { ranking: vec![1, 0, 2], ..Summary::default() },
            picked: Some(1),
        };
        for c in &mut report.candidates {
            (c.finish, c.mean_logprob) = (Some(FinishReason::Stop), Some(0.0));
        }
        report.candidates[1].duplicate_of = Some(0);
        report.candidates[2].finish = Some(FinishReason::Length);
        let lines =
            |report: &Report, sandbox| -> Vec<String> { report.table(sandbox).lines().map(str::to_owned).collect() };
        let plain = lines(&report, None);
        assert_eq!(plain[0], "> B    0 tokens  logprob   0.00  same as A");
        assert_eq!(plain[1], "  A    0 tokens  logprob   0.00", "nothing was to be run, so nothing is said of it");
        assert_eq!(plain[2], "  C    0 tokens  logprob   0.00  cut at the token limit");
        report.candidates[0].verdict = Verdict::not_run("the tests hold no checks");
        report.candidates[1].verdict.status = Status::Passed;
        let tested = lines(&report, Some("sandboxed"));
        assert!(
            tested[0].ends_with("  PASS (same as A)") && tested[1].ends_with("  NOT RUN: the tests hold no checks")
        );
    }

    #[test]
    fn the_json_has_the_keys_of_the_contract() {
        let report = Report {
            info: SourceInfo::default(),
            seed: 7,
            candidates: vec![Candidate::new(0)],
            summary: Summary { prompt_tokens: 31, ranking: vec![0], ..Summary::default() },
            picked: None,
        };
        let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        let keys = |v: &serde_json::Value| v.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(keys(&json), "candidates device draft dtype model picked prompt_tokens ranking seed stats");
        assert_eq!(
            keys(&json["candidates"][0]),
            "duplicate_of finish index logprobs mean_logprob text token_ids verdict"
        );
        assert_eq!(keys(&json["candidates"][0]["verdict"]), "assurance duration_ms message output status waited_ms");
        assert_eq!(
            keys(&json["stats"]),
            "accepted accepted_lengths decode_ms draft_lengths drafted mean_accepted_length ms_per_token_all ms_per_token_first ms_per_token_last prefill_ms prompt_tokens_reused steps tokens tokens_per_second"
        );
        assert_eq!((json["prompt_tokens"].as_u64(), json["picked"].is_null()), (Some(31), true));
    }
}
