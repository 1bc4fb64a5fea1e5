//! The order of candidates from best to worst.

use super::event::FinishReason;

/// Values that a candidate's rank depends on.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Why it ended.
    pub reason: FinishReason,
    /// Mean raw log-probability of its tokens.
    pub mean_logprob: Option<f32>,
}

/// Indices from best to worst: candidates that were cut or cancelled come last; then by mean log-probability;
/// ties by index, never by time of arrival.
pub fn rank(standings: &[Standing]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..standings.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&standings[a], &standings[b]);
        let probable = |s: &Standing| s.mean_logprob.unwrap_or(f32::NEG_INFINITY);
        a.reason.is_cut().cmp(&b.reason.is_cut()).then(probable(b).total_cmp(&probable(a)))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_first_then_probability_then_index() {
        let of = |reason, mean_logprob| Standing { reason, mean_logprob: Some(mean_logprob) };
        let order = rank(&[
            of(FinishReason::Budget, -0.1),
            of(FinishReason::Stop, -0.5),
            of(FinishReason::Length, -0.2),
            of(FinishReason::Stop, -0.5),
        ]);
        assert_eq!(order, [2, 1, 3, 0]);
    }
}
