//! The candidate that is taken of each problem, by several ranks. Tests only say afterwards if it passes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::figures::has_passed;
use super::plan::Plan;
use super::problem::Answer;
use super::result::{CandidateResult, ProblemResult};
use crate::agreement::{Standing, Texts, Witness, inputs, tally};
use crate::job::all_workers;
use crate::source::FinishReason;
use crate::trial::Runner;

/// A rank of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// Any candidate that came to its end: the expected share.
    Random,
    /// The most probable one.
    #[default]
    Logprob,
    /// The one that does what most others do.
    Agreement,
}

impl Rank {
    /// All ranks.
    pub const ALL: [Self; 3] = [Self::Random, Self::Logprob, Self::Agreement];

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Logprob => "logprob",
            Self::Agreement => "agreement",
        }
    }
}

/// Share of problems whose taken candidate passes, by rank.
pub type Shares = BTreeMap<Rank, f64>;

/// The shares of a run, and those of the easier and the harder half of its problems.
#[derive(Clone, Debug, Default)]
pub struct ByRank {
    pub all: Shares,
    pub halves: Halves,
}

/// The shares of each half.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Halves {
    pub easier: Shares,
    pub harder: Shares,
}

/// The shares of `results`, of a set of `problems`. Problems that were not reached count as failed, and are in
/// neither half. A problem is easier than another if more of its candidates pass.
pub fn by_rank(problems: usize, results: &[ProblemResult], standings: &BTreeMap<String, Vec<Standing>>) -> ByRank {
    let mut sorted: Vec<&ProblemResult> = results.iter().collect();
    sorted.sort_by(|a, b| passing(b).total_cmp(&passing(a)));
    let (easier, harder) = sorted.split_at(sorted.len().div_ceil(2));
    ByRank {
        all: shares(problems, &sorted, standings),
        halves: Halves {
            easier: shares(easier.len(), easier, standings),
            harder: shares(harder.len(), harder, standings),
        },
    }
}

/// Share of the candidates that came to their end which pass.
fn passing(result: &ProblemResult) -> f64 {
    let ended: Vec<_> = result.of_first_round().iter().filter(|c| has_ended(c)).collect();
    ended.iter().filter(|c| has_passed(c)).count() as f64 / ended.len().max(1) as f64
}

fn shares(problems: usize, results: &[&ProblemResult], standings: &BTreeMap<String, Vec<Standing>>) -> Shares {
    if results.is_empty() {
        return Shares::new();
    }
    let share = |passes: &dyn Fn(&ProblemResult) -> f64| {
        results.iter().copied().map(passes).sum::<f64>() / problems.max(1) as f64
    };
    let random = share(&passing);
    let logprob = share(&|result| f64::from(u8::from(result.pass_at_first)));
    let taken = taken_by(Rank::Agreement, results.iter().copied().cloned().collect(), standings);
    let passed = taken.iter().filter(|result| result.pass_at_first).count();
    let agreement = passed as f64 / problems.max(1) as f64;
    // Where no probability is told the most probable candidate is not known.
    let tells = results.iter().any(|result| result.candidates.iter().any(|c| c.mean_logprob.is_some()));
    let all = Rank::ALL.into_iter().zip([random, logprob, agreement]);
    all.filter(|(rank, _)| tells || *rank != Rank::Logprob).collect()
}

/// The results with the candidate that this rank takes as their first one.
pub fn taken_by(
    rank: Rank,
    mut results: Vec<ProblemResult>,
    standings: &BTreeMap<String, Vec<Standing>>,
) -> Vec<ProblemResult> {
    for result in results.iter_mut().filter(|_| rank == Rank::Agreement) {
        if let Some(all) = standings.get(&result.task_id) {
            result.first = best(result.of_first_round(), all);
            let taken = result.first.and_then(|c| result.of_first_round().get(c));
            result.pass_at_first = taken.is_some_and(has_passed);
        }
    }
    results
}

fn has_ended(candidate: &CandidateResult) -> bool {
    matches!(candidate.finish, Some(FinishReason::Stop) | None)
}

/// The candidate that agrees most, then the most probable one, then the shorter one.
fn best(candidates: &[CandidateResult], standings: &[Standing]) -> Option<usize> {
    let mut ended: Vec<&CandidateResult> = candidates.iter().filter(|c| has_ended(c)).collect();
    let logprob = |c: &CandidateResult| c.mean_logprob.unwrap_or(f32::NEG_INFINITY);
    ended.sort_by(|a, b| {
        let standing = standings[b.index].order().cmp(&standings[a.index].order());
        standing.then(logprob(b).total_cmp(&logprob(a))).then(a.text.len().cmp(&b.text.len()))
    });
    Some(ended.first()?.index)
}

/// Calls the candidates of all results on inputs from their prompts. A problem without inputs has no entry.
pub fn standings(
    runner: &Runner,
    plan: &Plan<'_>,
    results: &[ProblemResult],
) -> Result<BTreeMap<String, Vec<Standing>>, String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Ok(BTreeMap::new())));
    let work = || {
        loop {
            let Some(result) = results.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let Some(at) = plan.problems.iter().position(|problem| problem.id == result.task_id) else { continue };
            let found = of_problem(runner, plan, at, result);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *done, found) {
                (Ok(all), Ok(Some(found))) => drop(all.insert(result.task_id.clone(), found)),
                (Ok(_), Err(error)) => *done = Err(error),
                _ => {}
            }
        }
    };
    std::thread::scope(|scope| (0..all_workers()).for_each(|_| drop(scope.spawn(work))));
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn of_problem(
    runner: &Runner,
    plan: &Plan<'_>,
    at: usize,
    result: &ProblemResult,
) -> Result<Option<Vec<Standing>>, String> {
    let problem = &plan.problems[at];
    let origin = |c: &CandidateResult| c.duplicate_of.unwrap_or(c.index);
    let ended: Vec<&CandidateResult> = result.of_first_round().iter().filter(|c| has_ended(c)).collect();
    let bodies: Vec<&str> = ended.iter().map(|c| c.text.as_str()).collect();
    let Some(inputs) = problem.target().and_then(|target| inputs(&target, Texts::default(), &bodies).ok()) else {
        return Ok(None);
    };
    let mut witnesses: Vec<Witness> = Vec::new();
    for candidate in &ended {
        if let Some(witness) = witnesses.iter_mut().find(|witness| witness.members[0] == origin(candidate)) {
            witness.members.push(candidate.index);
            witness.votes += 1;
            continue;
        }
        let given = plan.given(at).get(candidate.index).cloned();
        let answer = given.unwrap_or_else(|| Answer::Completion(candidate.text.clone()));
        let observed = runner
            .observe(&problem.trial(&answer, plan.limits), &inputs, &Arc::default())
            .map_err(|error| error.to_string())?;
        witnesses.push(Witness { members: vec![origin(candidate)], votes: 1, observed });
    }
    let standings = tally(&witnesses, &inputs);
    let of = |c: &CandidateResult| {
        let at = witnesses.iter().position(|witness| witness.members[0] == origin(c));
        at.map(|at| standings[at].clone()).unwrap_or_default()
    };
    Ok(Some(result.of_first_round().iter().map(of).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{candidate, problem};
    use super::*;
    use crate::source::FinishReason::{Length, Stop};
    use crate::trial::Status::{Failed, Passed};

    #[test]
    fn each_rank_takes_its_own_candidate() {
        let result = problem(
            "Sample/0",
            vec![
                candidate(0, Some(Length), -0.1, Failed),
                candidate(1, Some(Stop), -0.2, Failed),
                candidate(2, Some(Stop), -0.9, Passed),
                candidate(3, Some(Stop), -0.8, Passed),
            ],
        );
        let standing = |votes| Standing { returns: true, votes, ..Standing::default() };
        // The first was cut, and what it does does not count.
        let votes: BTreeMap<_, _> = [("Sample/0".to_owned(), [9, 1, 5, 5].map(standing).to_vec())].into();
        let shares = |votes| shares(2, &[&result], votes);
        let close = |share: f64, of: f64| (share - of / 2.0).abs() < 1e-12;
        let found = shares(&votes);
        assert!(close(found[&Rank::Random], 2.0 / 3.0) && close(found[&Rank::Logprob], 0.0), "{found:?}");
        assert!(close(found[&Rank::Agreement], 1.0), "{found:?}");
        assert_eq!(best(result.of_first_round(), &votes["Sample/0"]), Some(3), "of equal votes the more probable one");
        // Without inputs the most probable one is taken.
        assert!(close(shares(&BTreeMap::new())[&Rank::Agreement], 0.0));
    }

    #[test]
    fn the_first_candidate_is_that_of_the_rank() {
        let result =
            problem("Sample/0", vec![candidate(0, Some(Stop), -0.2, Failed), candidate(1, Some(Stop), -0.9, Passed)]);
        let standing = |votes| Standing { returns: true, votes, ..Standing::default() };
        let votes: BTreeMap<_, _> = [("Sample/0".to_owned(), [1, 5].map(standing).to_vec())].into();
        let first = |rank| {
            let taken = taken_by(rank, vec![result.clone()], &votes);
            (taken[0].first, taken[0].pass_at_first)
        };
        assert_eq!((first(Rank::Agreement), first(Rank::Logprob)), ((Some(1), true), (Some(0), false)));
    }

    #[test]
    fn shares_of_nothing_and_of_untold_probabilities_are_left_out() {
        let mut result = problem("Sample/0", vec![candidate(0, Some(Stop), -0.2, Passed)]);
        result.candidates[0].mean_logprob = None;
        let found = by_rank(1, &[result], &BTreeMap::new());
        assert_eq!(found.all.keys().copied().collect::<Vec<_>>(), [Rank::Random, Rank::Agreement]);
        assert!(found.halves.harder.is_empty(), "one problem has no other half");
    }

    #[test]
    fn the_easier_half_has_the_problems_that_more_candidates_pass() {
        let of = |id: &str, passed: usize| {
            let status = |i| if i < passed { Passed } else { Failed };
            problem(id, (0..4).map(|i| candidate(i, Some(Stop), -0.1 * (4 - i) as f32, status(i))).collect())
        };
        // The last candidate is the most probable one.
        let found = by_rank(4, &[of("a", 1), of("b", 4), of("c", 3)], &BTreeMap::new());
        let Halves { easier, harder } = &found.halves;
        assert_eq!((easier[&Rank::Random], harder[&Rank::Random]), (7.0 / 8.0, 1.0 / 4.0));
        assert_eq!((easier[&Rank::Logprob], harder[&Rank::Logprob]), (0.5, 0.0));
        assert_eq!((found.all[&Rank::Random], found.all[&Rank::Logprob]), (0.5, 0.25), "one was not reached");
    }
}
