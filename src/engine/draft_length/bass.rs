//! Algorithm 1 of BASS: one common length that grows with luck and shrinks without.

use super::{Outcome, Policy};

/// Algorithm 1 of BASS (arXiv 2404.15778): grows by 2 when any candidate accepted a full draft, else shrinks,
/// faster when it shrank before, but not below the best candidate of the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bass {
    /// Tokens to propose in the next step.
    pub length: usize,
    shrank: bool,
}

impl Default for Bass {
    fn default() -> Self {
        Self { length: Self::START, shrank: false }
    }
}

impl Bass {
    const START: usize = 7;
    const GROWTH: usize = 2;
    const DIVISOR: usize = 10;
    const LIMIT: usize = 32;
}

impl Policy for Bass {
    fn length(&self, _: usize) -> Option<usize> {
        Some(self.length)
    }

    fn update(&mut self, outcomes: &[Outcome]) {
        let Some(best) = outcomes.iter().map(|o| o.accepted).max() else { return };
        // Drafts cut short by a candidate's own limits say nothing about the length.
        let full = outcomes.iter().any(|o| o.accepted == o.drafted && o.drafted >= self.length);
        if full {
            self.length = (self.length + Self::GROWTH).min(Self::LIMIT);
            self.shrank = false;
        } else {
            let less = self.length.div_ceil(Self::DIVISOR) + usize::from(self.shrank);
            self.length = self.length.saturating_sub(less).max(best).max(1);
            self.shrank = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: &Bass, steps: &[&[usize]]) -> Vec<usize> {
        let mut bass = start.clone();
        let mut lengths = Vec::new();
        for accepted in steps {
            let drafted = bass.length;
            let outcomes: Vec<_> = accepted.iter().map(|&accepted| Outcome { drafted, accepted }).collect();
            bass.update(&outcomes);
            lengths.push(bass.length);
        }
        lengths
    }

    #[test]
    fn follows_algorithm_1() {
        let steps: [&[usize]; 10] =
            [&[7, 3], &[9, 1], &[2, 4], &[3, 1], &[5, 6], &[0, 0], &[0, 0], &[0, 0], &[0, 0], &[0, 0]];
        assert_eq!(run(&Bass::default(), &steps), [9, 11, 9, 7, 6, 4, 2, 1, 1, 1]);
    }

    #[test]
    fn grows_to_the_limit_and_shrinks_faster_and_faster() {
        let mut bass = Bass::default();
        let mut up = Vec::new();
        for _ in 0..15 {
            let full = Outcome { drafted: bass.length, accepted: bass.length };
            bass.update(&[full]);
            up.push(bass.length);
        }
        assert_eq!(up, [9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 32, 32, 32]);
        assert_eq!(run(&Bass { length: 32, shrank: false }, &[&[0][..]; 6]), [28, 24, 20, 17, 14, 11]);
        assert_eq!(run(&Bass::default(), &[&[0][..]; 5]), [6, 4, 2, 1, 1]);
    }

    #[test]
    fn a_draft_cut_short_by_the_token_limit_does_not_make_it_grow() {
        let mut bass = Bass::default();
        bass.update(&[Outcome { drafted: 2, accepted: 2 }]);
        assert_eq!(bass.length, 6);
    }

    #[test]
    fn nothing_changes_when_all_have_finished() {
        let mut bass = Bass::default();
        bass.update(&[]);
        assert_eq!(bass, Bass::default());
    }
}
