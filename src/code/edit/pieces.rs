//! The pieces of code around a function, each with the names that it defines.

use super::around::Around;
use super::imports;
use super::owned;
use crate::code::outline::{Item, ItemKind, mentioned};
use crate::code::rules;
use crate::code::words::{Word, words};
use crate::language::Language;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Member,
    Import,
    Helper,
}

/// A piece of code and the names that it defines.
pub(super) struct Piece {
    pub part: Part,
    pub names: Vec<String>,
    pub text: String,
    /// True if it runs when the file is loaded.
    pub is_run: bool,
    /// True if it is used by its name alone.
    pub is_alone: bool,
    /// True if it stands right behind the piece before it.
    pub follows: bool,
    pub of: Of,
}

/// The type that a piece belongs to.
#[derive(Default)]
pub(super) struct Of {
    /// The type of a method of Go or an `impl` of Rust; empty for any other piece.
    pub owner: String,
    /// The trait of an `impl`.
    pub implements: String,
    /// The functions of an `impl` or a trait.
    pub members: Vec<String>,
    pub is_field: bool,
    /// True if an `impl` stands in front of the function.
    pub is_before: bool,
}

impl Piece {
    fn new(part: Part, names: Vec<String>, text: String) -> Self {
        Self { part, names, text, is_run: false, is_alone: part != Part::Member, follows: false, of: Of::default() }
    }
}

impl Around<'_> {
    /// The pieces on the top level of some code, or in the scope `parent`. The function is at byte `at`.
    pub(super) fn pieces(
        &self,
        code: &str,
        items: &[Item],
        parent: Option<usize>,
        at: usize,
        part: impl Fn(&Item) -> Part,
    ) -> Vec<Piece> {
        let mut found = Vec::new();
        let mut end = None;
        let scope = parent.map_or("", |parent| items[parent].signature.as_str());
        let mut opening = mentioned(scope).take_while(|word| *word != "class");
        let is_namespace = opening.any(|word| ["mod", "module", "namespace"].contains(&word));
        for (index, item) in items.iter().enumerate().filter(|(_, item)| item.parent == parent) {
            let part = part(item);
            let follows = end.replace(item.range.end) == Some(item.range.start);
            let whole = &code[item.range.clone()];
            if item.kind == ItemKind::Import && parent.is_none() {
                for import in imports::read(self.language, whole, &item.names) {
                    let (names, text) = (import.names, import.text);
                    found.push(Piece::new(Part::Import, names, text));
                }
                continue;
            }
            // Private members of JavaScript are named without their mark.
            if self.name.strip_prefix('#').is_some_and(|own| item.names.iter().any(|name| name == own)) {
                continue;
            }
            let outer = if part == Part::Member { self.outer } else { "" };
            let text = (rules::of(self.language).placed)(whole, outer, self.unit).trim_end().to_owned() + "\n";
            if part == Part::Member && item.kind == ItemKind::Other && item.names.is_empty() {
                let of = || Of { is_field: true, ..Of::default() };
                let fields = owned::fields(self.language, &text).into_iter();
                let is_alone = is_namespace;
                let field = |(name, text)| Piece { is_alone, of: of(), ..Piece::new(part, vec![name], text) };
                found.extend(fields.map(field));
                continue;
            }
            if let Some((owner, implements)) = owned::owner(self.language, item).filter(|_| part == Part::Helper) {
                let members = items.iter().filter(|member| member.parent == Some(index));
                let members: Vec<String> = members.flat_map(|member| member.names.iter().cloned()).collect();
                let names = if self.language == Language::Go { item.names.clone() } else { Vec::new() };
                let of = Of { owner, implements, members, is_field: false, is_before: item.range.start < at };
                found.push(Piece { follows, of, ..Piece::new(part, names, text) });
                continue;
            }
            let is_init = self.language == Language::Go && item.names.iter().any(|name| name == "init");
            let is_run = part == Part::Helper && (item.kind == ItemKind::Other && self.runs(&text) || is_init);
            let of = Of { members: owned::of_trait(self.language, item, &text), ..Of::default() };
            let piece = Piece::new(part, item.names.clone(), text);
            let is_alone = part != Part::Member || is_namespace;
            found.push(Piece { is_run, is_alone, follows, of, ..piece });
        }
        found
    }

    /// Returns true if a statement is more than a type or a constant that nothing computes.
    fn runs(&self, text: &str) -> bool {
        let words = words(self.language, text);
        let skipped = |word: &str| matches!(word, "export" | "default" | "declare");
        let first = words.iter().filter_map(Word::name).find(|word| !skipped(word));
        let is_type = matches!(first, Some("const" | "enum" | "interface" | "type"));
        match self.language {
            Language::Rust => false,
            Language::Go => !is_type,
            Language::TypeScript => !is_type || first == Some("const"),
            Language::Python | Language::JavaScript => true,
        }
    }
}
