//! A file as a list of pieces that can be shown alone, whole or in a shorter form.
//!
//! The choice of pieces for a model is made elsewhere.

use std::ops::Range;

use super::rules;
use crate::language::Language;

/// Kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// An import.
    Import,
    /// A function or method.
    Function,
    /// A class, `impl`, module or object, which contains functions.
    Scope,
    /// Any other statement, fields of a class, or comments that stand alone.
    Other,
}

/// A piece of a file: whole lines, in text order. The members of a scope follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its kind.
    pub kind: ItemKind,
    /// Dotted name of a function or scope; empty for others.
    pub name: String,
    /// The names that it defines.
    pub names: Vec<String>,
    /// Its bytes: from the comments and decorators above to after the line end.
    pub range: Range<usize>,
    /// A function without comments, docstring and body; the head of a scope; any other piece in full.
    pub signature: String,
    /// A function without its body; else as `signature`.
    pub documented: String,
    /// Text in front of the end of a function if the rest is left out.
    pub opening: String,
    /// Starts of the statements of a function's body.
    pub statements: Vec<usize>,
    /// The end of a scope.
    pub close: String,
    /// The content of a scope of which nothing is shown.
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

/// The words of a text that could be names, also in strings or comments.
pub fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).filter(|word| !word.is_empty())
}

/// Adds the lines between two pieces. Blocks of them become pieces of their own, except for one right above
/// byte `to`, the start of a line, that describes the item there. Returns the start of that item.
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
