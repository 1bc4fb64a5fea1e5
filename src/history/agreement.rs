//! The agreement of the candidates of a run, as its file keeps it: the calls, and of each its outcomes and the
//! candidates that have them.

use serde::{Deserialize, Serialize};

use crate::agreement::{Agreement, Witness};
use crate::engine::MAX_CANDIDATES;
use crate::trial::{Effect, Input, Observed};

/// Most bytes of a line; a larger one is left out. A usual one takes some 5 KB.
const MOST_BYTES: usize = 128 << 10;
/// Most calls that are read.
const MOST_CALLS: usize = 1000;

/// Candidates that were called on the same inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Called {
    /// The candidates, those with the same code together.
    candidates: Vec<Equal>,
    calls: Vec<Call>,
}

/// Candidates with the same code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Equal {
    members: Vec<usize>,
    /// Number of them that the model wrote.
    votes: usize,
}

/// A call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Call {
    #[serde(flatten)]
    input: Input,
    /// Its different outcomes.
    outcomes: Vec<Outcome>,
    /// By place in `candidates`: the place of its outcome.
    of: Vec<usize>,
    /// The outcome of the function as it was, if that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Outcome>,
}

/// The answers of a run that the user said are right, and the prompt with the examples of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    answers: Vec<Answered>,
    /// The prompt, and the name of the tests that it has.
    pub stub: String,
    pub tests: String,
}

/// The right answer to a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Answered {
    call: String,
    right: Outcome,
}

impl Said {
    /// The record of these answers.
    pub fn of(answers: &[(String, Observed)], stub: &str, tests: &str) -> Self {
        let one = |(call, right): &(String, Observed)| Answered { call: call.clone(), right: Outcome::of(right) };
        Self { answers: answers.iter().map(one).collect(), stub: stub.to_owned(), tests: tests.to_owned() }
    }

    /// The calls with their right answers.
    pub fn answers(&self) -> Vec<(String, Observed)> {
        let all = self.answers.iter().take(MOST_CALLS);
        all.map(|answered| (answered.call.clone(), answered.right.observed())).collect()
    }
}

/// An outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Outcome {
    effect: Effect,
    shown: String,
    /// The key, if that is not `shown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// `shown` is the result as an interpreter prints it.
    #[serde(skip_serializing_if = "is_false")]
    is_plain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_right: Option<bool>,
    #[serde(skip_serializing_if = "is_false")]
    is_unsteady: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands out references
fn is_false(value: &bool) -> bool {
    !value
}

impl Outcome {
    fn of(observed: &Observed) -> Self {
        Self {
            effect: observed.effect,
            shown: observed.shown.clone(),
            key: Some(observed.key.clone()).filter(|key| *key != observed.shown),
            is_plain: observed.value.as_ref() == Some(&observed.shown),
            is_right: observed.is_right,
            is_unsteady: observed.is_unsteady,
        }
    }

    fn observed(&self) -> Observed {
        let shown = self.shown.clone();
        Observed {
            effect: self.effect,
            key: self.key.clone().unwrap_or_else(|| shown.clone()),
            value: self.is_plain.then(|| shown.clone()),
            shown,
            is_right: self.is_right,
            is_unsteady: self.is_unsteady,
        }
    }
}

impl Called {
    /// The record of an agreement; `None` if that is too large to be kept.
    pub fn of(agreement: &Agreement) -> Option<Self> {
        let witnesses = agreement.witnesses();
        let call = |(at, input): (usize, &Input)| {
            let mut outcomes: Vec<Outcome> = Vec::new();
            let place = |witness: &Witness| {
                let outcome = witness.observed.get(at).map(Outcome::of).unwrap_or_default();
                outcomes.iter().position(|other| *other == outcome).unwrap_or_else(|| {
                    outcomes.push(outcome);
                    outcomes.len() - 1
                })
            };
            let of = witnesses.iter().map(place).collect();
            Call { input: input.clone(), outcomes, of, before: agreement.before().get(at).map(Outcome::of) }
        };
        let candidates = witnesses.iter().map(|w| Equal { members: w.members.clone(), votes: w.votes }).collect();
        let this = Self { candidates, calls: agreement.inputs.iter().enumerate().map(call).collect() };
        let bytes = serde_json::to_vec(&this).ok()?.len();
        (bytes <= MOST_BYTES).then_some(this)
    }

    /// The agreement. `None` if the record is damaged.
    pub fn agreement(&self) -> Option<Agreement> {
        let members = || self.candidates.iter().flat_map(|equal| &equal.members);
        let fits = self.calls.len() <= MOST_CALLS
            && self.candidates.len() <= MAX_CANDIDATES
            && members().count() <= MAX_CANDIDATES
            && members().all(|&candidate| candidate < MAX_CANDIDATES)
            && self.candidates.iter().all(|equal| !equal.members.is_empty() && equal.votes <= equal.members.len());
        let witness = |(place, equal): (usize, &Equal)| {
            let observed = |call: &Call| {
                let outcome = call.of.get(place).and_then(|&at| call.outcomes.get(at));
                outcome.map(Outcome::observed).unwrap_or_default()
            };
            let observed = self.calls.iter().map(observed).collect();
            Witness { members: equal.members.clone(), votes: equal.votes, observed }
        };
        fits.then(|| {
            let inputs: Vec<Input> = self.calls.iter().map(|call| call.input.clone()).collect();
            let agreement = Agreement::of(inputs.into(), self.candidates.iter().enumerate().map(witness).collect());
            let before = self.calls.iter().map_while(|call| call.before.as_ref().map(Outcome::observed));
            agreement.with_before(&before.collect::<Vec<_>>())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Earlier;

    fn agreement(calls: usize, shown: &str) -> Agreement {
        let input = |at: usize| Input {
            callee: "f".to_owned(),
            arguments: at.to_string(),
            result: (at == 0).then(|| "1".to_owned()),
            earlier: (at == 1)
                .then(|| Earlier { method: "g".to_owned(), arguments: "2".to_owned() })
                .into_iter()
                .collect(),
            is_read: false,
            is_meant: false,
            is_typed: at == 2,
        };
        let plain = Observed {
            effect: Effect::Returned,
            key: shown.to_owned(),
            shown: shown.to_owned(),
            value: Some(shown.to_owned()),
            is_right: Some(true),
            is_unsteady: false,
        };
        let raises = Observed {
            effect: Effect::Raised,
            key: "ValueError".to_owned(),
            shown: "ValueError: no".to_owned(),
            is_unsteady: true,
            ..Observed::default()
        };
        let witness = |members: &[usize], votes, observed: &Observed| Witness {
            members: members.to_vec(),
            votes,
            observed: vec![observed.clone(); calls],
        };
        let all = vec![witness(&[2, 0], 2, &plain), witness(&[1], 1, &raises), witness(&[3], 0, &plain)];
        Agreement::of((0..calls).map(input).collect::<Vec<_>>().into(), all)
    }

    #[test]
    fn an_agreement_is_read_as_it_was() {
        let own = agreement(3, "[1, 2]");
        let line = serde_json::to_string(&Called::of(&own).unwrap()).unwrap();
        assert!(line.matches("[1, 2]").count() == 3, "each outcome of a call once: {line}");
        let read = serde_json::from_str::<Called>(&line).unwrap().agreement().unwrap();
        assert_eq!((read.words(), read.groups()), (own.words(), own.groups()));
        for candidate in 0..4 {
            assert_eq!(read.standing(candidate), own.standing(candidate));
            assert!((0..3).all(|input| read.observed(candidate, input) == own.observed(candidate, input)));
        }
        assert_eq!((&read.inputs, read.before()), (&own.inputs, &[][..]));
        let same = own.observed(0, 1).cloned().unwrap_or_default();
        let before = [Observed { key: "0".to_owned(), shown: "0".to_owned(), value: None, ..same.clone() }, same];
        let own = own.with_before(&before);
        let line = serde_json::to_string(&Called::of(&own).unwrap()).unwrap();
        let read = serde_json::from_str::<Called>(&line).unwrap().agreement().unwrap();
        assert_eq!((read.before(), read.changes(0)), (&before[..], Some(vec![0])));
    }

    #[test]
    fn a_large_one_is_left_out_and_a_damaged_one_tells_nothing() {
        assert!(Called::of(&agreement(50, &"x".repeat(200))).is_some());
        assert!(Called::of(&agreement(50, &"x".repeat(3000))).is_none());
        for damaged in [
            r#"{"candidates":[{"members":[99999999],"votes":1}],"calls":[]}"#,
            r#"{"candidates":[{"members":[],"votes":0}],"calls":[]}"#,
            r#"{"candidates":[{"members":[0],"votes":7}],"calls":[]}"#,
        ] {
            assert!(serde_json::from_str::<Called>(damaged).unwrap().agreement().is_none(), "{damaged}");
        }
        let part = r#"{"candidates":[{"members":[0],"votes":1}],"calls":[{"callee":"f","of":[9]}]}"#;
        let read = serde_json::from_str::<Called>(part).unwrap().agreement().unwrap();
        assert_eq!(read.observed(0, 0), Some(&Observed::default()));
    }
}
