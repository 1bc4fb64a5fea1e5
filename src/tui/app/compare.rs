//! Two texts line by line, with the words that differ. Pure.

use std::ops::Range;

use similar::{ChangeTag, DiffOp, TextDiff};

/// Which of the two texts has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Both,
    /// The first text alone.
    Old,
    /// The second text alone.
    New,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub side: Side,
    /// Its text, without its line end.
    pub text: String,
    /// Bytes of it that the other text has not.
    pub changed: Vec<Range<usize>>,
    /// Its index in its own text; in the second, if both have it.
    pub index: usize,
    /// The change it belongs to, if both do not have it.
    pub hunk: Option<usize>,
}

/// The lines of two texts, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub lines: Vec<Line>,
    /// Number of changes.
    pub hunks: usize,
    /// Lines that only the first text has, and only the second.
    pub counts: (usize, usize),
}

impl Comparison {
    /// The changes with so many equal lines around each; a row stands for those between them.
    #[must_use]
    pub fn around(self, lines: usize) -> Self {
        let changed: Vec<usize> = (0..self.lines.len()).filter(|&at| self.lines[at].hunk.is_some()).collect();
        let next = |at: usize| changed.get(changed.partition_point(|&other| other < at)).copied();
        let last = |at: usize| changed.partition_point(|&other| other < at).checked_sub(1).map(|place| changed[place]);
        let is_near = |at: usize| {
            next(at).is_some_and(|next| next <= at + lines) || last(at).is_some_and(|last| at <= last + lines)
        };
        let (mut out, mut gap) = (Vec::new(), Vec::new());
        for (at, line) in self.lines.into_iter().enumerate() {
            if is_near(at) {
                out.extend(between(std::mem::take(&mut gap)));
                out.push(line);
            } else {
                gap.push(line);
            }
        }
        out.extend(between(gap));
        Self { lines: out, ..self }
    }
}

/// Equal lines between changes: a single one as it is, more as a row.
fn between(lines: Vec<Line>) -> Vec<Line> {
    match lines.first() {
        Some(first) if lines.len() > 1 => {
            let text = format!("⋯ {} lines as they are", lines.len());
            vec![Line { text, ..first.clone() }]
        }
        _ => lines,
    }
}

/// Compares two texts.
pub fn compare(old: &str, new: &str) -> Comparison {
    let (old, new) = (ended(old), ended(new));
    let diff = TextDiff::from_lines(&old, &new);
    let mut out = Comparison::default();
    for op in diff.ops() {
        let hunk = (!matches!(op, DiffOp::Equal { .. })).then_some(out.hunks);
        for change in diff.iter_inline_changes(op) {
            let (mut text, mut changed) = (String::new(), Vec::new());
            for (is_changed, piece) in change.values() {
                let piece = piece.trim_end_matches(['\n', '\r']);
                if *is_changed && !piece.is_empty() {
                    changed.push(text.len()..text.len() + piece.len());
                }
                text.push_str(piece);
            }
            let side = match change.tag() {
                ChangeTag::Equal => Side::Both,
                ChangeTag::Delete => Side::Old,
                ChangeTag::Insert => Side::New,
            };
            let index = if side == Side::Old { change.old_index() } else { change.new_index() }.unwrap_or_default();
            out.counts.0 += usize::from(side == Side::Old);
            out.counts.1 += usize::from(side == Side::New);
            out.lines.push(Line { side, text, changed, index, hunk });
        }
        out.hunks += usize::from(hunk.is_some());
    }
    out
}

/// The second text with one change taken back: there it says what the first text says.
pub fn without_change(old: &str, new: &str, hunk: usize) -> String {
    let (old, new) = (ended(old), ended(new));
    let diff = TextDiff::from_lines(&old, &new);
    let (mut out, mut hunks) = (String::new(), 0);
    for op in diff.ops() {
        let is_change = !matches!(op, DiffOp::Equal { .. });
        let taken = if is_change && hunks == hunk { ChangeTag::Insert } else { ChangeTag::Delete };
        let kept = diff.iter_changes(op).filter(|change| change.tag() != taken);
        kept.for_each(|change| out.push_str(change.value()));
        hunks += usize::from(is_change);
    }
    out
}

/// A text whose last line has an end.
fn ended(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_that_differ_are_known() {
        let found = compare("a\nreturn max(xs)\n", "a\nreturn min(xs)\nb\n");
        let lines: Vec<_> = found.lines.iter().map(|l| (l.side, l.text.as_str(), l.hunk)).collect();
        let expected = [
            (Side::Both, "a", None),
            (Side::Old, "return max(xs)", Some(0)),
            (Side::New, "return min(xs)", Some(0)),
            (Side::New, "b", Some(0)),
        ];
        assert_eq!(lines, expected);
        assert_eq!((found.hunks, found.counts), (1, (1, 2)));
        assert!(found.lines[0].changed.is_empty());
        let changed = found.lines[2].changed[0].clone();
        assert!(found.lines[2].text[changed].contains("min"), "{:?}", found.lines[2]);
    }

    #[test]
    fn one_change_is_taken_back() {
        let (old, new) = ("a\nb\nc\nd\n", "a\nB\nc\nD\ne\n");
        assert_eq!(without_change(old, new, 0), "a\nb\nc\nD\ne\n");
        assert_eq!(without_change(old, new, 1), "a\nB\nc\nd\n");
        assert_eq!(without_change(old, new, 2), new);
    }

    #[test]
    fn far_from_changes_lines_are_counted() {
        let old: String = (0..20).map(|n| n.to_string() + "\n").collect();
        let new = old.replace("\n3\n", "\nx\n").replace("\n18\n", "\ny\n");
        let near = compare(&old, &new).around(2);
        let shown: Vec<&str> = near.lines.iter().map(|line| line.text.as_str()).collect();
        let expected = ["0", "1", "2", "3", "x", "4", "5", "⋯ 10 lines as they are", "16", "17", "18", "y", "19"];
        assert_eq!((shown, near.hunks, near.counts), (expected.to_vec(), 2, (2, 2)));
        assert_eq!(compare("a\nb\n", "a\nb\n").around(2).lines.len(), 1);
    }

    proptest! {
        #[test]
        fn both_texts_are_in_it(old in "[ab \n]{0,24}", new in "[ab \n]{0,24}") {
            let found = compare(&old, &new);
            let of = |side| {
                let lines = found.lines.iter().filter(move |l| l.side == side || l.side == Side::Both);
                lines.flat_map(|l| [l.text.as_str(), "\n"]).collect::<String>()
            };
            prop_assert_eq!((of(Side::Old), of(Side::New)), (ended(&old), ended(&new)));
            let mut back = new;
            while compare(&old, &back).hunks > 0 {
                back = without_change(&old, &back, 0);
            }
            prop_assert_eq!(ended(&back), ended(&old));
        }
    }
}
