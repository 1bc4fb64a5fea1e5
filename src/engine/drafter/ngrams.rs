//! Where a few tokens have occurred before in a text that grows.

use std::collections::HashMap;

/// A text with an index of its n-grams: hash chains, as in LZ77, from the last occurrence to the first.
#[derive(Clone, Debug)]
pub struct Ngrams {
    n: usize,
    tokens: Vec<u32>,
    /// End of the last occurrence of an n-gram, by hash.
    last: HashMap<u64, u32>,
    /// End of the occurrence before the one that ends at this index, [`NOWHERE`] for the first.
    before: Vec<u32>,
}

/// Places where the end of a text has occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Number of tokens that agree; 0 for no places.
    pub length: usize,
    /// Indices of the tokens that followed, from the last occurrence to the first.
    pub next: Vec<usize>,
}

const NOWHERE: u32 = u32::MAX;

impl Ngrams {
    /// Occurrences looked at: in a text full of equal n-grams a search must not take for ever.
    const DEPTH: usize = 32;

    /// An empty text, in which matches have at least `n` tokens.
    pub fn new(n: usize) -> Self {
        Self { n: n.max(1), tokens: Vec::new(), last: HashMap::new(), before: Vec::new() }
    }

    /// Adds tokens.
    pub fn extend(&mut self, tokens: &[u32]) {
        for &token in tokens {
            self.tokens.push(token);
            let end = self.tokens.len();
            let mut before = NOWHERE;
            if end >= self.n {
                before = self.last.insert(hash(&self.tokens[end - self.n..]), end as u32).unwrap_or(NOWHERE);
            }
            self.before.push(before);
        }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The last occurrences of the longest end of `tail` that something follows, at most `most`. Agreement
    /// beyond `longest` tokens does not count, nor does any of fewer than `least`.
    pub fn find(&self, tail: &[u32], longest: usize, least: usize, most: usize) -> Match {
        let mut best = Match::default();
        let Some(gram) = tail.len().checked_sub(self.n).map(|from| &tail[from..]) else { return best };
        let least = least.max(self.n);
        let mut next = self.last.get(&hash(gram)).copied().unwrap_or(NOWHERE);
        for _ in 0..Self::DEPTH {
            if next == NOWHERE {
                break;
            }
            let end = next as usize;
            if end < self.tokens.len() {
                let agree = |(a, b): &(&u32, &u32)| a == b;
                let length =
                    self.tokens[..end].iter().rev().zip(tail.iter().rev()).take(longest).take_while(agree).count();
                // Fewer than n agree only where two n-grams have one hash.
                if length >= least && length > best.length {
                    best = Match { length, next: vec![end] };
                } else if length >= least && length == best.length {
                    best.next.push(end);
                }
                if best.length >= longest && best.next.len() >= most {
                    break;
                }
            }
            next = self.before[end - 1];
        }
        best.next.truncate(most);
        best
    }

    /// The token `ahead` of the one at `next`. Where `repeats`, a text that ends goes on with what was just
    /// read from it, as a text that repeats itself does.
    pub fn following(&self, next: usize, ahead: usize, repeats: bool) -> Option<u32> {
        let rest = &self.tokens[next..];
        let at = if repeats { ahead % rest.len().max(1) } else { ahead };
        rest.get(at).copied()
    }
}

fn hash(gram: &[u32]) -> u64 {
    gram.iter().fold(crate::hash::EMPTY, |h, &token| crate::hash::mix(h, u64::from(token)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn index(n: usize, tokens: &[u32]) -> Ngrams {
        let mut ngrams = Ngrams::new(n);
        ngrams.extend(tokens);
        ngrams
    }

    fn matched(length: usize, next: &[usize]) -> Match {
        Match { length, next: next.to_vec() }
    }

    #[test]
    fn the_longest_matches_win_the_most_recent_first() {
        let text = index(1, &[1, 2, 3, 9, 2, 3, 8, 7, 3, 5, 7, 3, 6]);
        // One token: every 3 that something follows.
        assert_eq!(text.find(&[4, 3], 8, 1, 9), matched(1, &[12, 9, 6, 3]));
        assert_eq!(text.find(&[4, 3], 8, 1, 2), matched(1, &[12, 9]));
        assert_eq!(text.find(&[2, 3], 8, 1, 9), matched(2, &[6, 3]));
        assert_eq!(text.find(&[1, 2, 3], 8, 1, 9), matched(3, &[3]));
        assert_eq!(text.find(&[1, 2, 3], 2, 1, 9), matched(2, &[6, 3]));
        assert_eq!(text.find(&[1, 2, 3], 8, 4, 9), Match::default());
        assert_eq!(text.find(&[4], 8, 1, 9), Match::default());
    }

    #[test]
    fn the_end_of_the_text_itself_is_no_match_and_short_tails_find_nothing() {
        assert_eq!(index(2, &[1, 2]).find(&[1, 2], 8, 1, 9), Match::default());
        assert_eq!(index(2, &[1, 2, 3]).find(&[2], 8, 1, 9), Match::default());
        assert_eq!(index(2, &[]).find(&[2, 3], 8, 1, 9), Match::default());
    }

    #[test]
    fn what_follows_may_repeat() {
        let text = index(1, &[1, 2, 3, 1, 2, 3]);
        let next = text.find(&[1, 2, 3], 8, 1, 9).next[0];
        assert_eq!(next, 3);
        let ahead = |repeats| (0..7).map(|ahead| text.following(next, ahead, repeats)).collect::<Option<Vec<_>>>();
        assert_eq!(ahead(true), Some(vec![1, 2, 3, 1, 2, 3, 1]));
        assert_eq!(ahead(false), None);
        assert_eq!((text.following(next, 2, false), text.following(next, 3, false)), (Some(3), None));
    }

    proptest! {
        /// The index finds what a scan of the whole text finds.
        #[test]
        fn finds_what_a_scan_finds(text in prop::collection::vec(0u32..4, 0..28), tail in prop::collection::vec(0u32..4, 0..8),
                                   n in 1usize..4, longest in 3usize..8) {
            let agree = |end: usize| (0..longest.min(end).min(tail.len()))
                .take_while(|&i| text[end - 1 - i] == tail[tail.len() - 1 - i]).count();
            let length = (1..text.len()).map(agree).max().filter(|&length| length >= n).unwrap_or(0);
            let next = (1..text.len()).rev().filter(|&end| length > 0 && agree(end) == length).collect();
            prop_assert_eq!(index(n, &text).find(&tail, longest, 1, 99), Match { length, next });
        }
    }
}
