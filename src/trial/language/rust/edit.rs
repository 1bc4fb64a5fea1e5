//! Edits of a text at known places, and the difference between two texts. Pure.

use std::ops::Range;

/// Replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced range, in bytes; empty to insert.
    pub at: Range<usize>,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// An insertion.
    pub fn insert(at: usize, text: String) -> Self {
        Self { at: at..at, text }
    }
}

/// The text with all edits, which must not overlap.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.at.start);
    let (mut out, mut done) = (String::new(), 0);
    for edit in edits {
        out.push_str(text.get(done..edit.at.start).unwrap_or_default());
        out.push_str(&edit.text);
        done = edit.at.end.max(done);
    }
    out + text.get(done..).unwrap_or_default()
}

/// The range of `old` that differs in `new`, and its text in `new`.
pub fn difference<'a>(old: &str, new: &'a str) -> (Range<usize>, &'a str) {
    let shorter = old.len().min(new.len());
    let mut head = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(head) || !new.is_char_boundary(head) {
        head -= 1;
    }
    let same = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    let mut tail = same.min(shorter - head);
    while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
        tail -= 1;
    }
    (head..old.len() - tail, &new[head..new.len() - tail])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_go_where_they_belong() {
        let edits = [Edit::insert(6, "!".into()), Edit { at: 2..4, text: "--".into() }, Edit::insert(0, ">".into())];
        assert_eq!(apply("abcdef", &edits), ">ab--ef!");
        assert_eq!(apply("abc", &[]), "abc");
    }

    #[test]
    fn a_difference_is_as_small_as_can_be() {
        assert_eq!(difference("f { a } g", "f { bb } g"), (4..5, "bb"));
        assert_eq!(difference("same", "same"), (4..4, ""));
        assert_eq!(difference("aa", "aaa"), (2..2, "a"));
        assert_eq!(difference("aaa", "a"), (1..3, ""));
        assert_eq!(difference("x é y", "x è y"), (2..4, "è"));
        assert_eq!(difference("ĩ", "é"), (0..2, "é"), "a last byte that is the same splits no letter");
        assert_eq!(difference("", "new"), (0..0, "new"));
    }
}
