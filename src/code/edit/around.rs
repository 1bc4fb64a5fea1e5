//! A function's file and package, as far as an answer needs them.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::Path;

use super::imports;
use crate::code::outline::{Item, outline};
use crate::code::uses::{self, Uses, uses};
use crate::code::words::words;
use crate::code::{names, rules};
use crate::language::Language;

/// Where code stands around a function.
pub(in crate::code) struct Around<'a> {
    pub language: Language,
    /// The last part of the function's name.
    pub name: &'a str,
    /// Its indentation.
    pub outer: &'a str,
    /// One step of indentation, which code of an answer gets. Empty for code that stays as it is.
    pub unit: &'a str,
    /// The code of its file.
    pub known: &'a str,
    /// The byte at which the function begins there.
    pub at: usize,
    /// Its file.
    pub path: Option<&'a Path>,
    /// Its head in the file.
    pub head: &'a str,
    pub read: Read,
}

/// Parts of a function's file and package, read once they are asked for.
#[derive(Default)]
pub(in crate::code) struct Read {
    /// Names that the other files of its package define.
    package: OnceCell<HashSet<String>>,
    items: OnceCell<Vec<Item>>,
    words: OnceCell<HashSet<String>>,
}

impl Around<'_> {
    /// The names of the object itself, and of its type.
    pub(super) fn this(&self, head: &str) -> Vec<String> {
        let mut this: Vec<String> = ["self", "cls", "this", "Self"].map(str::to_owned).into();
        let words = words(self.language, head);
        if self.language == Language::Go {
            let receivers = words.windows(3).filter(|three| three[0].name() == Some("func") && three[1].is('('));
            this.extend(receivers.filter_map(|three| three[2].name().map(str::to_owned)));
        }
        this
    }

    /// The names that the inside of the function uses and neither it nor a head of it binds.
    pub(super) fn uses(&self, body: &str, head: &str) -> Uses {
        let this = self.this(head);
        let this: Vec<&str> = this.iter().map(String::as_str).collect();
        uses(self.language, body, &uses::bound_in(self.language, head), &this)
    }

    /// The names that a body uses under a head of the answer and that of the file.
    pub(super) fn uses_under(&self, head: &str, body: &str) -> Uses {
        self.uses(body, &[self.head, "\n", head].concat())
    }

    pub(super) fn package(&self) -> &HashSet<String> {
        let read = || self.path.map_or_else(HashSet::new, rules::of(self.language).package);
        self.read.package.get_or_init(read)
    }

    /// The pieces of the file.
    pub(super) fn items(&self) -> &[Item] {
        self.read.items.get_or_init(|| outline(self.language, self.known))
    }

    /// The names in the code of the file, and those that its imports give.
    pub(super) fn words(&self) -> &HashSet<String> {
        let read = || names(self.language, self.known).into_iter().chain(self.paths()).collect();
        self.read.words.get_or_init(read)
    }

    /// Names that imports give and that no word of code says: the ends of Go's paths.
    pub(super) fn paths(&self) -> Vec<String> {
        let is_go = self.language == Language::Go;
        let imports = if is_go { imports::of_text(self.language, self.known) } else { Vec::new() };
        imports.into_iter().flat_map(|import| import.names).collect()
    }

    /// The names that the file and its package define.
    pub(super) fn defined(&self) -> HashSet<String> {
        let of_items = self.items().iter().flat_map(|item| item.names.iter().cloned());
        of_items.chain(self.paths()).chain(self.package().iter().cloned()).collect()
    }

    /// Returns true if a name stands anywhere in the code of the file, or its package has it.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.words().contains(name) || self.package().contains(name)
    }

    /// Returns true if the file imports names that it does not spell out: any name may be one of them.
    pub(super) fn imports_unnamed(&self) -> bool {
        self.known.lines().any(|line| match self.language {
            Language::Python => line.trim_start().starts_with("from ") && line.contains("import *"),
            // Imports inside a module are not the file's.
            Language::Rust => (line.starts_with("use ") || line.starts_with("pub use ")) && line.contains("::*"),
            Language::Go => line.trim_start().trim_start_matches("import ").starts_with(". \""),
            Language::JavaScript | Language::TypeScript => false,
        })
    }
}
