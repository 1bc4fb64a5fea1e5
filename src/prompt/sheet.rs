//! Text of a file as it is shown: its pieces, each hidden, in a short form or whole, in the order of the
//! file.

use std::borrow::Cow;
use std::ops::Range;

use super::others;
use crate::code::{Item, ItemKind, outline};
use crate::language::Language;

/// How much of a piece is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Hidden,
    /// A function without docstring and body, what a scope begins with.
    Signature,
    /// A function without its body.
    Documented,
    /// The end of a function, from this statement on.
    End(usize),
    Whole,
}

/// A file, and what is shown of it.
pub(super) struct Sheet<'a> {
    text: &'a str,
    pub items: Vec<Item>,
    levels: Vec<Level>,
    /// Pieces around the function that is completed, outermost first.
    open: Vec<usize>,
    /// Where that function begins and ends.
    function: Range<usize>,
}

impl<'a> Sheet<'a> {
    /// A file of which nothing is shown; `function` is what is completed in it.
    pub fn new(language: Language, text: &'a str, function: Range<usize>) -> Self {
        let items = outline(language, text);
        let levels = vec![Level::Hidden; items.len()];
        let open = (0..items.len()).filter(|&i| holds(&items[i], &function)).collect();
        Self { text, items, levels, open, function }
    }

    /// The scopes that the function stands in, outermost first.
    pub fn open(&self) -> &[usize] {
        &self.open
    }

    /// Lets what ends with byte `end` count as part of the function: it is shown elsewhere.
    pub fn end_at(&mut self, end: usize) {
        self.function.end = end;
    }

    /// Bytes between a piece and the function.
    pub fn distance(&self, item: usize) -> usize {
        let range = &self.items[item].range;
        self.function.start.saturating_sub(range.end) + range.start.saturating_sub(self.function.end)
    }

    /// The pieces that can be shown: all but those that the function is part of.
    pub fn others(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.items.len()).filter(|&i| {
            let range = &self.items[i].range;
            range.end <= self.function.start || range.start >= self.function.end
        })
    }

    /// A piece is a test, or stands among tests, and the function does not stand there, too.
    pub fn is_test(&self, item: usize) -> bool {
        others::is_test(&self.items, item) && !self.open.iter().any(|&at| others::is_test(&self.items, at))
    }

    /// How much of a piece is shown.
    pub fn level(&self, item: usize) -> Level {
        self.levels[item]
    }

    /// Shows so much of a piece.
    pub fn show(&mut self, item: usize, level: Level) {
        self.levels[item] = level;
    }

    /// A piece as it is shown at a level; of a scope only its head.
    pub fn at(&self, item: usize, level: Level) -> Cow<'_, str> {
        let this = &self.items[item];
        match level {
            Level::Hidden => "".into(),
            Level::Signature => (&this.signature).into(),
            Level::Documented => (&this.documented).into(),
            Level::End(from) => format!("{}{}", this.opening, &self.text[from..this.range.end]).into(),
            Level::Whole => self.text[this.range.clone()].into(),
        }
    }

    /// The scopes around a piece that have to be shown for it.
    pub fn hidden_around(&self, item: usize) -> Vec<usize> {
        self.ancestors(item).filter(|at| self.levels[*at] == Level::Hidden && !self.open.contains(at)).collect()
    }

    /// The scopes that a piece stands in, innermost first.
    fn ancestors(&self, item: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.items[item].parent, |&at| self.items[at].parent)
    }

    /// The pieces right inside of a scope.
    pub fn members(&self, scope: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (scope + 1..self.items.len()).filter(move |&i| self.items[i].parent == Some(scope))
    }

    /// The text of what is shown, up to byte `to`, where the function or what is told around it begins.
    pub fn render(&self, to: usize) -> String {
        let mut out = String::new();
        let (end, loose) = self.block(None, &mut out);
        if !out.is_empty() {
            self.gap(end, to, loose, &mut out);
        }
        out
    }

    /// Adds what is shown in a scope; what the function stands in comes last. Returns where in the file that
    /// ends, and whether it is more than a head.
    fn block(&self, scope: Option<usize>, out: &mut String) -> (usize, bool) {
        let start = scope.map_or(0, |at| self.items[at].range.start + self.items[at].signature.len());
        let mut last: Option<usize> = None;
        let inside = (0..self.items.len()).filter(|&i| self.items[i].parent == scope && !self.open.contains(&i));
        for item in inside.filter(|&i| self.levels[i] != Level::Hidden) {
            let this = &self.items[item];
            if let Some(last) = last {
                let before = &self.items[last];
                let loose = before.kind != this.kind || !matches!(this.kind, ItemKind::Import | ItemKind::Other);
                self.gap(before.range.end, this.range.start, loose, out);
            }
            last = Some(item);
            out.push_str(&self.at(item, self.levels[item]));
            if this.kind == ItemKind::Scope && self.levels[item] != Level::Whole {
                let before = out.len();
                self.block(Some(item), out);
                if out.len() == before {
                    out.push_str(&this.empty);
                }
                out.push_str(&this.close);
            }
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
        let end = last.map_or(start, |at| self.items[at].range.end);
        let Some(open) = self.open.iter().copied().find(|&i| self.items[i].parent == scope) else {
            return (end, last.is_some());
        };
        if last.is_some() {
            self.gap(end, self.items[open].range.start, true, out);
        }
        out.push_str(&self.items[open].signature);
        self.block(Some(open), out)
    }

    /// Adds what is between two places of the file: blank lines as they are there, or one where something is
    /// left out.
    fn gap(&self, from: usize, to: usize, loose: bool, out: &mut String) {
        match self.text.get(from..to) {
            Some(blank) if blank.trim().is_empty() => out.push_str(blank),
            _ if loose => out.push('\n'),
            _ => {}
        }
    }
}

/// The piece is more than a function, and holds it.
fn holds(item: &Item, function: &Range<usize>) -> bool {
    item.range.start <= function.start && function.end <= item.range.end && item.kind == ItemKind::Scope
}
