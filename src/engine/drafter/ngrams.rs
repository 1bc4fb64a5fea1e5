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

/// A place where the end of a text has occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Index of the token that followed.
    pub next: usize,
    /// Number of tokens that agree.
    pub length: usize,
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

    /// The occurrence of the longest end of `tail` that something follows; of equally long ones the last.
    /// Agreement beyond `longest` tokens does not count.
    pub fn find(&self, tail: &[u32], longest: usize) -> Option<Match> {
        let gram = tail.len().checked_sub(self.n).map(|from| &tail[from..])?;
        let mut best: Option<Match> = None;
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
                if length >= self.n && best.is_none_or(|best| length > best.length) {
                    best = Some(Match { next: end, length });
                    if length >= longest {
                        break;
                    }
                }
            }
            next = self.before[end - 1];
        }
        best
    }

    /// The `most` tokens that follow a match. Where `repeats`, a text that ends goes on with what was just
    /// read from it, as a text that repeats itself does.
    pub fn following(&self, at: Match, most: usize, repeats: bool) -> Vec<u32> {
        let rest = &self.tokens[at.next..];
        if repeats {
            rest.iter().copied().cycle().take(most).collect()
        } else {
            rest.iter().copied().take(most).collect()
        }
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

    #[test]
    fn the_longest_match_wins_then_the_most_recent() {
        let text = index(1, &[1, 2, 3, 9, 2, 3, 8, 7, 3, 5, 7, 3, 6]);
        // One token: the last 3 that something follows.
        assert_eq!(text.find(&[4, 3], 8), Some(Match { next: 12, length: 1 }));
        assert_eq!(text.find(&[2, 3], 8), Some(Match { next: 6, length: 2 }));
        assert_eq!(text.find(&[1, 2, 3], 8), Some(Match { next: 3, length: 3 }));
        assert_eq!(text.find(&[1, 2, 3], 2), Some(Match { next: 6, length: 2 }));
        assert_eq!(text.find(&[4], 8), None);
    }

    #[test]
    fn the_end_of_the_text_itself_is_no_match_and_short_tails_find_nothing() {
        assert_eq!(index(2, &[1, 2]).find(&[1, 2], 8), None);
        assert_eq!(index(2, &[1, 2, 3]).find(&[2], 8), None);
        assert_eq!(index(2, &[]).find(&[2, 3], 8), None);
    }

    #[test]
    fn what_follows_may_repeat() {
        let text = index(1, &[1, 2, 3, 1, 2, 3]);
        let at = text.find(&[1, 2, 3], 8).unwrap();
        assert_eq!(at.next, 3);
        assert_eq!(text.following(at, 7, true), [1, 2, 3, 1, 2, 3, 1]);
        assert_eq!(text.following(at, 7, false), [1, 2, 3]);
    }

    proptest! {
        /// The index finds what a scan of the whole text finds.
        #[test]
        fn finds_what_a_scan_finds(text in prop::collection::vec(0u32..4, 0..28), tail in prop::collection::vec(0u32..4, 0..8),
                                   n in 1usize..4, longest in 3usize..8) {
            let agree = |end: usize| (0..longest.min(end).min(tail.len()))
                .take_while(|&i| text[end - 1 - i] == tail[tail.len() - 1 - i]).count();
            let want = (1..text.len()).map(|end| (agree(end), end)).filter(|&(length, _)| length >= n).max()
                .map(|(length, next)| Match { next, length });
            prop_assert_eq!(index(n, &text).find(&tail, longest), want);
        }
    }
}
