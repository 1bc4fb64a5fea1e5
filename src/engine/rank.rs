//! The order of candidates from best to worst.

use super::event::FinishReason;

/// What the rank of a candidate depends on.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Why it ended.
    pub reason: FinishReason,
    /// Mean raw log-probability of its tokens.
    pub mean_logprob: f32,
}

/// Indices from best to worst: candidates that were cut or cancelled come last; then by mean log-probability;
/// ties by index, never by time of arrival.
pub fn rank(standings: &[Standing]) -> Vec<usize> {
    let cut = |s: &Standing| matches!(s.reason, FinishReason::Budget | FinishReason::Cancelled);
    let mut order: Vec<usize> = (0..standings.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&standings[a], &standings[b]);
        cut(a).cmp(&cut(b)).then(b.mean_logprob.total_cmp(&a.mean_logprob))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_first_then_probability_then_index() {
        let of = |reason, mean_logprob| Standing { reason, mean_logprob };
        let order = rank(&[
            of(FinishReason::Budget, -0.1),
            of(FinishReason::Stop, -0.5),
            of(FinishReason::Length, -0.2),
            of(FinishReason::Stop, -0.5),
        ]);
        assert_eq!(order, [2, 1, 3, 0]);
    }
}
