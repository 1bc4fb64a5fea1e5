//! The figures of a run. Pure.
//!
//! - *Pass@First*: the share of problems whose first candidate passes. The first candidate is the one with
//!   the highest mean log-probability among those that ended by themselves inside all limits. Without
//!   probabilities it is the most frequent one. Ties go to the lower index, never to the earlier end. (The
//!   screen and `complete` take the best ranked candidate *that passes*, which is Pass@All.)
//! - *Pass@All*: the share of problems with a candidate that ended inside the time budget and passes.
//! - *pass@k*: the expected share of problems solved by k candidates drawn from the n, as an unbiased
//!   estimate. A candidate that was cut stays in n, as a failure.
//!
//! In all three figures, a problem that was not reached counts as failed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::result::{CandidateResult, ProblemResult};
use crate::job::frequencies;
use crate::source::FinishReason;
use crate::trial::Status;

/// The share of draws of `k` out of `n` samples that hold a sample that passes, if `passed` of the samples
/// pass. `None` if no such draw exists: k is 0 or above n.
pub fn pass_at_k(n: usize, passed: usize, k: usize) -> Option<f64> {
    if k == 0 || k > n || passed > n {
        return None;
    }
    let failed = n - passed;
    // All k of a draw fail: the i-th is one of the failed that are left, out of all that are left.
    let all_fail: f64 = (0..k).map(|i| failed.saturating_sub(i) as f64 / (n - i) as f64).product();
    Some(1.0 - all_fail)
}

/// The candidate that decides Pass@First.
pub fn first(candidates: &[CandidateResult]) -> Option<usize> {
    // A given candidate has no finish reason and no probability; the first one counts.
    let finished = candidates.iter().filter(|c| matches!(c.finish, Some(FinishReason::Stop) | None));
    let logprob = |c: &CandidateResult| c.mean_logprob.filter(|p| !p.is_nan()).unwrap_or(f32::NEG_INFINITY);
    let origins: Vec<usize> = candidates.iter().map(|c| c.duplicate_of.unwrap_or(c.index)).collect();
    let votes = frequencies(&origins);
    let votes = |c: &CandidateResult| c.finish.and_then(|_| votes.get(c.index).copied()).unwrap_or(0);
    let is_better = |a: &CandidateResult, b: &CandidateResult| {
        let unknown = a.mean_logprob.is_none() && b.mean_logprob.is_none();
        logprob(a) > logprob(b) || unknown && votes(a) > votes(b)
    };
    finished.reduce(|best, c| if is_better(c, best) { c } else { best }).map(|c| c.index)
}

/// Returns true if a candidate counts as passed.
pub fn has_passed(candidate: &CandidateResult) -> bool {
    let cut = candidate.finish.is_some_and(FinishReason::is_cut);
    !cut && candidate.status == Status::Passed
}

/// The figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Problems that count.
    #[serde(skip)]
    pub problems: usize,
    /// See above.
    pub pass_at_first: f64,
    /// See above.
    pub pass_at_all: f64,
    /// See above, by k.
    pub pass_at_k: BTreeMap<usize, f64>,
}

/// The figures of `problems` problems, of which those in `results` were reached. `None` if a k is above a
/// problem's n, which is refused before the run.
pub fn figures(results: &[ProblemResult], problems: usize, ks: &[usize]) -> Option<Figures> {
    let share = |sum: f64| if problems == 0 { 0.0 } else { sum / problems as f64 };
    let count = |passes: &dyn Fn(&ProblemResult) -> bool| share(results.iter().filter(|r| passes(r)).count() as f64);
    let mut pass = BTreeMap::new();
    for &k in ks {
        let sum: Option<f64> = results.iter().map(|r| pass_at_k(r.n, r.passed, k)).sum();
        pass.insert(k, share(sum?));
    }
    let figures = Figures {
        problems,
        pass_at_first: count(&|r| r.pass_at_first),
        pass_at_all: count(&|r| r.pass_at_all),
        pass_at_k: pass,
    };
    Some(figures)
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{candidate, problem};
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    #[test]
    fn pass_at_k_by_hand() {
        // 1 - C(3,2)/C(5,2) = 1 - 3/10; 1 - C(8,3)/C(10,3) = 1 - 56/120; 1 - C(7,5)/C(10,5) = 1 - 21/252.
        assert!(close(pass_at_k(5, 2, 2), 0.7));
        assert!(close(pass_at_k(10, 2, 3), 1.0 - 56.0 / 120.0));
        assert!(close(pass_at_k(10, 3, 5), 1.0 - 21.0 / 252.0));
        assert!(close(pass_at_k(8, 3, 1), 3.0 / 8.0));
        assert!(close(pass_at_k(8, 0, 8), 0.0) && close(pass_at_k(8, 1, 8), 1.0));
        // Fewer failures than draws: certain.
        assert!(close(pass_at_k(10, 8, 3), 1.0));
        // Large n and k neither overflow nor lose precision.
        assert!(close(pass_at_k(1000, 1, 500), 0.5));
    }

    #[test]
    fn more_draws_than_samples_are_no_figure() {
        assert_eq!(pass_at_k(1, 0, 10), None);
        assert_eq!(pass_at_k(1, 1, 10), None);
        assert_eq!((pass_at_k(3, 1, 0), pass_at_k(0, 0, 1)), (None, None));
    }

    #[test]
    fn the_first_is_the_most_probable_that_came_to_its_end() {
        use FinishReason::{Budget, Length, Stop};
        let candidates = [
            candidate(0, Some(Length), -0.1, Status::Passed),
            candidate(1, Some(Stop), -0.5, Status::Failed),
            candidate(2, Some(Stop), -0.3, Status::Passed),
            candidate(3, Some(Stop), -0.3, Status::Failed),
            candidate(4, Some(Budget), -0.2, Status::NotRun),
        ];
        assert_eq!(first(&candidates), Some(2), "the tie goes to the lower index");
        assert_eq!(first(&candidates[..1]), None);
        assert!(has_passed(&candidates[0]), "its tests passed, although it was long");
        let cut = candidate(0, Some(Budget), -0.1, Status::Passed);
        assert!(!has_passed(&cut), "what was still being written when the time was over has failed");
        let given = [candidate(0, None, f32::NAN, Status::Failed), candidate(1, None, f32::NAN, Status::Passed)];
        assert_eq!(first(&given), Some(0));
    }

    #[test]
    fn problems_that_were_not_reached_have_failed() {
        use FinishReason::{Length, Stop};
        let results = [
            problem(
                "a",
                vec![candidate(0, Some(Stop), -0.1, Status::Failed), candidate(1, Some(Stop), -0.2, Status::Passed)],
            ),
            problem(
                "b",
                vec![candidate(0, Some(Stop), -0.1, Status::Passed), candidate(1, Some(Stop), -0.2, Status::Timeout)],
            ),
            problem(
                "c",
                vec![
                    candidate(0, Some(Length), -0.1, Status::Passed),
                    candidate(1, Some(Length), -0.2, Status::Passed),
                ],
            ),
        ];
        let all = figures(&results, 4, &[1, 2]).unwrap();
        assert!(close(Some(all.pass_at_first), 0.25) && close(Some(all.pass_at_all), 0.75));
        assert!(close(Some(all.pass_at_k[&1]), (0.5 + 0.5 + 1.0) / 4.0) && close(Some(all.pass_at_k[&2]), 0.75));
        let reached = figures(&results, 3, &[1]).unwrap();
        assert!(close(Some(reached.pass_at_all), 1.0) && close(Some(reached.pass_at_k[&1]), 2.0 / 3.0));
        assert_eq!(figures(&results, 4, &[3]), None);
        assert!(close(Some(figures(&[], 0, &[1]).unwrap().pass_at_all), 0.0));
    }
}
