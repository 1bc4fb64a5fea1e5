//! The result of a problem: one row of a results file, one item of the report. Nothing in it depends on the
//! clock, so that a run that was interrupted and resumed gives the same rows as one that was not.

use serde::{Deserialize, Deserializer, Serialize};

use super::figures;
use crate::job::is_first_round;
use crate::source::FinishReason;
use crate::trial::Status;

/// A problem and its candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemResult {
    pub task_id: String,
    /// [`super::Problem::digest`], combined with the digest of given answers.
    pub digest: String,
    /// Number of candidates.
    pub n: usize,
    /// Number of candidates that passed.
    pub passed: usize,
    /// True if the most probable candidate passed.
    pub pass_at_first: bool,
    /// True if any candidate passed.
    pub pass_at_all: bool,
    /// The most probable candidate.
    pub first: Option<usize>,
    /// The reason why there are no candidates, if the model refused the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The candidates by index.
    pub candidates: Vec<CandidateResult>,
}

/// A candidate and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateResult {
    pub index: usize,
    /// The text after the prompt, or all of a given whole program.
    pub text: String,
    /// Number of its tokens; 0 if unknown, as for given text.
    pub tokens: usize,
    /// Mean log-probability of the tokens; `None` if unknown, as for given text.
    pub mean_logprob: Option<f32>,
    /// Finish reason; `None` for given text.
    #[serde(deserialize_with = "finish")]
    pub finish: Option<FinishReason>,
    /// The lowest index of an equal candidate, if that is another one.
    pub duplicate_of: Option<usize>,
    /// Status of the tests.
    #[serde(deserialize_with = "status")]
    pub status: Status,
    /// Message of the tests.
    pub message: String,
    /// The round that it was written in, from 1 on. Figures but those of rounds are of the first.
    #[serde(default = "one", skip_serializing_if = "is_first_round")]
    pub round: usize,
    /// True if its prompt told what failed before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

fn one() -> usize {
    1
}

impl ProblemResult {
    /// The result of a problem whose candidates have all ended and been tested.
    pub fn new(task_id: String, digest: String, candidates: Vec<CandidateResult>) -> Self {
        let of_first = &candidates[..candidates.iter().filter(|c| c.round == 1).count()];
        let passed = of_first.iter().filter(|c| figures::has_passed(c)).count();
        let first = figures::first(of_first);
        Self {
            task_id,
            digest,
            n: of_first.len(),
            passed,
            pass_at_first: first.and_then(|c| candidates.get(c)).is_some_and(figures::has_passed),
            pass_at_all: passed > 0,
            first,
            refused: None,
            candidates,
        }
    }

    /// The candidates of the first round.
    pub fn of_first_round(&self) -> &[CandidateResult] {
        &self.candidates[..self.n.min(self.candidates.len())]
    }

    /// The first candidate that failed, by rank, or by index for given ones.
    pub fn first_failure(&self) -> Option<&CandidateResult> {
        let failed = self.candidates.iter().filter(|c| !figures::has_passed(c));
        let logprob = |c: &CandidateResult| c.mean_logprob.unwrap_or(f32::NEG_INFINITY);
        failed.reduce(|best, c| if logprob(c) > logprob(best) { c } else { best })
    }

    /// Returns true if the counts match the candidates. A row that was changed by hand does not count.
    pub fn is_consistent(&self) -> bool {
        let indices = self.candidates.iter().enumerate().all(|(i, c)| c.index == i);
        let again = Self {
            refused: self.refused.clone(),
            ..Self::new(self.task_id.clone(), self.digest.clone(), self.candidates.clone())
        };
        indices && again == *self
    }
}

fn status<'de, D: Deserializer<'de>>(from: D) -> Result<Status, D::Error> {
    const ALL: [Status; 7] = [
        Status::Passed,
        Status::Failed,
        Status::Error,
        Status::Timeout,
        Status::Killed,
        Status::Tampered,
        Status::NotRun,
    ];
    by_name(&String::deserialize(from)?, &ALL).ok_or_else(|| serde::de::Error::custom("this is no status of a trial"))
}

fn finish<'de, D: Deserializer<'de>>(from: D) -> Result<Option<FinishReason>, D::Error> {
    const ALL: [FinishReason; 5] =
        [FinishReason::Stop, FinishReason::Length, FinishReason::Budget, FinishReason::Cancelled, FinishReason::Failed];
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let reason = by_name(&name, &ALL).ok_or_else(|| serde::de::Error::custom("this is no end of a candidate"))?;
    Ok(Some(reason))
}

/// The value that serialises to `name`.
fn by_name<T: Serialize + Copy>(name: &str, all: &[T]) -> Option<T> {
    all.iter().copied().find(|value| word(value) == name)
}

/// The word that a value serialises to.
pub(super) fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::eval) fn candidate(
        index: usize,
        finish: Option<FinishReason>,
        logprob: f32,
        status: Status,
    ) -> CandidateResult {
        CandidateResult {
            index,
            text: format!("text {index}"),
            tokens: 3,
            mean_logprob: (!logprob.is_nan()).then_some(logprob),
            finish,
            duplicate_of: None,
            status,
            message: "said".to_owned(),
            round: 1,
            told: false,
        }
    }

    pub(in crate::eval) fn problem(id: &str, candidates: Vec<CandidateResult>) -> ProblemResult {
        ProblemResult::new(id.to_owned(), "d".to_owned(), candidates)
    }

    #[test]
    fn a_row_survives_being_written_and_read() {
        let row = problem(
            "Set/0",
            vec![
                candidate(0, Some(FinishReason::Length), -0.123_456_79, Status::NotRun),
                candidate(1, None, f32::NAN, Status::Tampered),
            ],
        );
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<ProblemResult>(&text).unwrap(), row);
        assert!(serde_json::from_str::<ProblemResult>(&text.replace("tampered", "great")).is_err());
    }

    #[test]
    fn a_row_that_was_changed_is_noticed() {
        let mut row = problem("Set/0", vec![candidate(0, Some(FinishReason::Stop), -0.1, Status::Failed)]);
        assert!(row.is_consistent());
        row.pass_at_all = true;
        assert!(!row.is_consistent());
    }
}
