//! The report of a whole run: the JSON object of the contract, for scripts, editors and other programs.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::Candidate;
use crate::agreement::Agreement;
use crate::source::{SourceInfo, Summary};

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
    /// The picked candidate.
    pub picked: Option<usize>,
    /// The agreement of the candidates, if they were called. JSON has it where it tells something.
    pub agreement: Option<Arc<Agreement>>,
}

impl Report {
    /// The object of the contract as a value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.json()).unwrap_or_default()
    }

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
            #[serde(skip_serializing_if = "Option::is_none")]
            agreement: Option<Value>,
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
            agreement: self.agreement.as_ref().filter(|agreement| agreement.tells()).map(|agreement| agreement.json()),
            stats: &self.summary,
        };
        // Plain data with string keys: serialisation cannot fail.
        let text = serde_json::to_string(&json).unwrap_or_default();
        if self.info.is_served() { without_untold(&text) } else { text }
    }
}

/// Removes the figures that a server did not send, instead of showing zeros.
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
    use crate::agreement::Witness;
    use crate::trial::{Effect, Input, Observed};

    #[test]
    fn the_json_has_the_keys_of_the_contract() {
        let report = Report {
            info: SourceInfo::default(),
            seed: 7,
            candidates: vec![Candidate::new(0)],
            summary: Summary { prompt_tokens: 31, ranking: vec![0], ..Summary::default() },
            picked: None,
            agreement: None,
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

    /// Groups of one each would look like candidates that all differ.
    #[test]
    fn calls_that_say_nothing_are_no_agreement() {
        let has_agreement = |effect: Effect| {
            let observed = vec![Observed { effect, key: "1".to_owned(), ..Observed::default() }];
            let witness = |c| Witness { members: vec![c], votes: 1, observed: observed.clone() };
            let agreement = Agreement::of(vec![Input::default()].into(), vec![witness(0), witness(1)]);
            let report = Report {
                info: SourceInfo::default(),
                seed: 7,
                candidates: Vec::new(),
                summary: Summary::default(),
                picked: None,
                agreement: Some(agreement.into()),
            };
            report.json().contains("\"agreement\"")
        };
        assert!(has_agreement(Effect::Returned) && !has_agreement(Effect::Unknown) && !has_agreement(Effect::Unloaded));
    }
}
