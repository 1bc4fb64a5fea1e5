//! A file as the list of what stands in it: pieces that can be shown alone, whole or in a shorter form.
//!
//! Which pieces a model is shown is not decided here.

use std::ops::Range;

use super::rules;
use crate::language::Language;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Makes names of other files known.
    Import,
    /// A function or method.
    Function,
    /// A class, `impl`, module or object: what functions stand in.
    Scope,
    /// Any other statement, fields of a class, or comments that stand alone.
    Other,
}

/// A piece of a file: whole lines, in the order they stand in. What stands in a scope follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Dotted name of a function or scope; empty for others.
    pub name: String,
    /// The names that it makes known.
    pub names: Vec<String>,
    /// Its bytes: from the comments and decorators above to after the line end.
    pub range: Range<usize>,
    /// A function without comments, docstring and body; what a scope begins with; the whole of all others.
    pub signature: String,
    /// A function without its body; else as `signature`.
    pub documented: String,
    /// What stands in front of the end of a function of which the rest is left out.
    pub opening: String,
    /// Where the statements of a function's body begin.
    pub statements: Vec<usize>,
    /// What ends a scope.
    pub close: String,
    /// What stands in a scope of which nothing is shown.
    pub empty: String,
    /// The scope it stands in.
    pub parent: Option<usize>,
}

impl Item {
    /// A piece that has no shorter form.
    pub(super) fn whole(
        kind: ItemKind,
        text: &str,
        range: Range<usize>,
        names: Vec<String>,
        parent: Option<usize>,
    ) -> Self {
        let signature = text[range.clone()].to_owned();
        Self {
            kind,
            name: String::new(),
            names,
            range,
            documented: signature.clone(),
            signature,
            opening: String::new(),
            statements: Vec::new(),
            close: String::new(),
            empty: String::new(),
            parent,
        }
    }
}

/// The pieces of a text.
pub fn outline(language: Language, text: &str) -> Vec<Item> {
    let rules = rules::of(language);
    (rules.outline)(text, &(rules.functions)(text))
}

/// The words of a text that could be names, wherever they stand: in code, strings or comments.
pub fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).filter(|word| !word.is_empty())
}

/// Takes the lines between two pieces: blocks of them become pieces of their own, but for one that stands right
/// above byte `to`, the start of a line, and describes what begins there. Returns where that begins.
pub(super) fn between(text: &str, gap: Range<usize>, parent: Option<usize>, items: &mut Vec<Item>) -> usize {
    let mut start = gap.start;
    let mut at = gap.start;
    for line in text[gap.clone()].split_inclusive('\n') {
        let end = at + line.len();
        if line.trim().is_empty() {
            lone(text, start..at, parent, items);
            start = end;
        }
        at = end;
    }
    start
}

/// A block of lines as a piece of its own.
pub(super) fn lone(text: &str, range: Range<usize>, parent: Option<usize>, items: &mut Vec<Item>) {
    if text[range.clone()].contains(|c: char| c.is_alphanumeric()) {
        items.push(Item::whole(ItemKind::Other, text, range, Vec::new(), parent));
    }
}
