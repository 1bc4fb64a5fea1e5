//! Differences of a candidate from the pick. Where not all bodies can be seen whole, the rest is folded.

use std::collections::BTreeMap;
use std::ops::Range;

use super::compare::{Side, compare};
use super::run::Run;
use crate::tui::text::{DisplayRow, Mark};

/// Fewer equal lines in a row are shown as they are.
const FEW: usize = 2;

/// A text beside that of another candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The other candidate.
    pub to: usize,
    /// Parts of the text in their order.
    parts: Vec<Part>,
    /// Bytes of its lines that the other text has not.
    changed: BTreeMap<usize, Vec<Range<usize>>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Lines that are shown.
    Own(Range<usize>),
    /// Lines that the other text has as well.
    Same(Range<usize>),
    /// So many lines of the other text that are missing before a line.
    Gone(usize, usize),
}

impl Alike {
    /// A text beside that of candidate `to`. `None` if nothing can be folded.
    pub fn new(to: usize, other: &str, text: &str) -> Option<Self> {
        let compared = compare(other, text);
        let mut alike = Self { to, parts: Vec::new(), changed: BTreeMap::new() };
        let mut next = 0;
        for (at, line) in compared.lines.iter().enumerate() {
            let of_hunk = |side| compared.lines.iter().filter(move |l| l.hunk == line.hunk && l.side == side).count();
            match (line.side, alike.parts.last_mut()) {
                (Side::Old, _) => {
                    let is_first = at == 0 || compared.lines[at - 1].hunk != line.hunk;
                    if is_first && of_hunk(Side::New) == 0 {
                        alike.parts.push(Part::Gone(next, of_hunk(Side::Old)));
                    }
                    continue;
                }
                (Side::Both, Some(Part::Same(lines))) | (Side::New, Some(Part::Own(lines))) => lines.end += 1,
                (Side::Both, _) => alike.parts.push(Part::Same(next..next + 1)),
                (Side::New, _) => alike.parts.push(Part::Own(next..next + 1)),
            }
            if line.side == Side::New {
                alike.changed.insert(next, line.changed.clone());
            }
            next += 1;
        }
        let is_folded = |part: &Part| matches!(part, Part::Same(lines) if lines.len() >= FEW);
        alike.parts.iter().any(is_folded).then_some(alike)
    }

    /// The rows of the text, the equal ones folded.
    pub fn fold(&self, rows: &[DisplayRow]) -> Vec<DisplayRow> {
        let mut folded = Vec::new();
        for part in &self.parts {
            match part {
                Part::Same(lines) if lines.len() >= FEW => {
                    folded.push(DisplayRow { mark: Mark::Same(lines.len()), ..DisplayRow::whole(lines.start) });
                }
                Part::Own(lines) | Part::Same(lines) => {
                    folded.extend(rows.iter().filter(|row| lines.contains(&row.line)));
                }
                Part::Gone(before, lines) => {
                    folded.push(DisplayRow { mark: Mark::Gone(*lines), ..DisplayRow::whole(*before) });
                }
            }
        }
        folded
    }

    /// Bytes of a line that the other text has not.
    pub fn changed(&self, line: usize) -> &[Range<usize>] {
        self.changed.get(&line).map_or(&[], Vec::as_slice)
    }
}

impl Run {
    /// Compares the shown candidates with the pick, or with the first of them.
    pub(super) fn liken(&mut self) {
        let shown = if self.is_live() { Vec::new() } else { self.shown() };
        let to = self.pick.filter(|pick| shown.contains(pick)).or(shown.first().copied());
        let other = to.and_then(|to| self.candidates.get(to)).map_or_else(String::new, |c| c.shown.clone());
        for (index, candidate) in self.candidates.iter_mut().enumerate() {
            let to = to.filter(|&to| index != to && shown.contains(&index));
            candidate.alike = to.and_then(|to| Alike::new(to, &other, &candidate.shown));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::text;
    use proptest::prelude::*;

    fn folded(other: &str, text: &str) -> Vec<(usize, Mark)> {
        let rows = text::rows(text, 40, true, 0);
        let alike = Alike::new(0, other, text);
        alike.map_or(rows.clone(), |alike| alike.fold(&rows)).iter().map(|row| (row.line, row.mark)).collect()
    }

    #[test]
    fn equal_lines_are_folded_and_missing_ones_are_counted() {
        let other = "a\nb\nc\nd\ne\nf\n";
        assert_eq!(
            folded(other, "a\nb\nX\nd\ne\nf\n"),
            [(0, Mark::Same(2)), (2, Mark::Text), (3, Mark::Same(3))],
            "one line is another"
        );
        assert_eq!(
            folded(other, "a\nb\ne\nf\n"),
            [(0, Mark::Same(2)), (2, Mark::Gone(2)), (2, Mark::Same(2))],
            "two lines are missing"
        );
        assert_eq!(folded(other, "a\nb\nc\nd\n"), [(0, Mark::Same(4)), (4, Mark::Gone(2))], "the end is missing");
        let texts = |rows: Vec<(usize, Mark)>| rows.iter().all(|row| row.1 == Mark::Text);
        assert!(texts(folded(other, "u\nv\n")) && texts(folded(other, "a\nX\nc\nY\ne\n")), "nothing is folded");
        let alike = Alike::new(0, "a\nb\nreturn max(xs)\n", "a\nb\nreturn min(xs)\n").unwrap();
        assert_eq!(
            alike.changed(2).iter().map(|range| &"return min(xs)"[range.clone()]).collect::<String>(),
            "min(xs)"
        );
        assert!(alike.changed(0).is_empty());
    }

    proptest! {
        #[test]
        fn every_line_is_shown_or_folded(other in "[ab\n]{0,24}", text in "[ab\n]{0,24}") {
            let mut lines = 0;
            for (line, mark) in folded(&other, &text) {
                prop_assert_eq!(line, lines);
                lines += match mark {
                    Mark::Text => 1,
                    Mark::Same(same) => same,
                    Mark::Gone(_) => 0,
                };
            }
            prop_assert_eq!(lines, text.lines().count());
        }
    }
}
