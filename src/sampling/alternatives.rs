//! Alternatives to the tokens written, as the main model sees them.

use super::distribution::raw_logprobs;

/// A token with its raw log-probability (natural logarithm, temperature 1, no filter).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alternative {
    /// The token.
    pub id: u32,
    /// How probable it is.
    pub logprob: f32,
}

/// Log-probabilities of tokens, and what could have stood in their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// The tokens.
    pub ids: Vec<u32>,
    /// The log-probability of each.
    pub logprobs: Vec<f32>,
    /// The most probable tokens in the place of each, the best first; none where nobody asked for them.
    pub alternatives: Vec<Vec<Alternative>>,
}

impl Scores {
    /// Takes in what `logits` `[vocab]` say of `id`, with the `count` most probable tokens.
    pub fn push(&mut self, id: u32, logits: &[f32], count: usize) {
        self.ids.push(id);
        self.logprobs.push(raw_logprobs(logits)(id));
        if count > 0 {
            self.alternatives.push(alternatives(logits, count));
        }
    }
}

/// The `count` most probable tokens, the best first; of equal ones the lowest id.
pub fn alternatives(logits: &[f32], count: usize) -> Vec<Alternative> {
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(count + 1);
    for (id, &logit) in (0..).zip(logits) {
        if best.len() == count && best.last().is_none_or(|&(least, _)| logit <= least) || logit.is_nan() {
            continue;
        }
        let place = best.partition_point(|&(other, _)| other >= logit);
        best.insert(place, (logit, id));
        best.truncate(count);
    }
    let logprob = raw_logprobs(logits);
    best.into_iter().map(|(_, id)| Alternative { id, logprob: logprob(id) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::raw_logprob;

    #[test]
    fn the_most_probable_tokens_come_in_order_with_their_own_probabilities() {
        let logits = [0.5, f32::NAN, 2.0, -1.0, 2.0, f32::NEG_INFINITY, 0.75];
        let ids = |count| alternatives(&logits, count).iter().map(|a| a.id).collect::<Vec<_>>();
        assert_eq!(ids(0), [0; 0]);
        assert_eq!(ids(1), [2]);
        assert_eq!(ids(4), [2, 4, 6, 0]);
        assert_eq!(ids(20), [2, 4, 6, 0, 3, 5], "no more than there are");
        let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 4e6;
        let row: Vec<f32> = (0..1000).map(noise).collect();
        let mut order: Vec<u32> = (0..1000).collect();
        order.sort_by(|&a, &b| row[b as usize].total_cmp(&row[a as usize]).then(a.cmp(&b)));
        let got = alternatives(&row, 20);
        assert_eq!(got.iter().map(|a| a.id).collect::<Vec<_>>(), order[..20]);
        assert!(got.iter().all(|a| a.logprob.to_bits() == raw_logprob(&row, a.id).to_bits()));
        let mut scores = Scores::default();
        scores.push(order[0], &row, 1);
        assert_eq!((scores.ids[0], scores.logprobs[0]), (got[0].id, got[0].logprob));
        assert_eq!(scores.alternatives, [got[..1].to_vec()]);
    }
}
