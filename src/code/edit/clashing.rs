//! Imports and helpers of an answer whose names the file has for something else: they stand in the function.

use std::collections::HashSet;

use super::around::Around;
use super::imports::{self, Import};
use super::listed;
use crate::code::outline::{Item, ItemKind, mentioned, outline};
use crate::code::python::library::is_library;
use crate::code::rules;
use crate::code::uses::{self, uses};
use crate::code::words::{Word, words};
use crate::language::Language;

/// Modules of node.
const NODE: &[&str] = &[
    "assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https", "net", "os", "path", "perf_hooks",
    "process", "querystring", "readline", "stream", "timers", "tty", "url", "util", "v8", "vm", "worker_threads",
    "zlib",
];

/// Modules of Python that have the same types.
const TYPES: &[&str] = &["collections", "typing", "typing_extensions"];

/// Code for the beginning of a function.
#[derive(Default)]
pub(in crate::code) struct Inside {
    /// Statements, without indentation.
    pub text: String,
    /// Imports that the statements need at the top of the file.
    pub imports: Vec<Import>,
    /// True if the answer has such a piece, which the rest of a body may need.
    pub may_grow: bool,
}

/// A piece of the answer beside the function.
struct Beside<'c> {
    names: Vec<String>,
    text: &'c str,
    is_import: bool,
    clashes: bool,
    is_inside: bool,
}

impl Around<'_> {
    /// Imports and helpers that the body at byte `at` of an answer needs, and whose names the file has for
    /// other things.
    pub fn inside(&self, (head, body): (&str, &str), code: &str, at: usize) -> Inside {
        let mut inside = Inside::default();
        if matches!(self.language, Language::Rust | Language::Go) {
            return inside;
        }
        let used = self.uses_under(head, body).alone;
        if self.language == Language::Python {
            inside.text += &self.for_types_only(body, &used);
        }
        let items = outline(self.language, code);
        let is_beside = |item: &&Item| item.parent.is_none() && !item.names.is_empty() && !item.range.contains(&at);
        let mut pieces: Vec<Beside<'_>> = Vec::new();
        for item in items.iter().filter(is_beside) {
            let text = &code[item.range.clone()];
            let names: Vec<String> = item.names.iter().filter(|name| *name != self.name).cloned().collect();
            let clashes = names.iter().any(|name| self.clashes(item, text, name));
            let is_import = item.kind == ItemKind::Import;
            pieces.push(Beside { names, text, is_import, clashes, is_inside: false });
        }
        if !pieces.iter().any(|piece| piece.clashes) {
            return inside;
        }
        inside.may_grow = true;
        self.mark(&mut pieces, used);
        for piece in pieces.iter().filter(|piece| piece.is_inside) {
            if !piece.is_import {
                let text = (rules::of(self.language).placed)(piece.text.trim_matches('\n'), "", self.unit);
                inside.text += &[text.trim_end(), "\n"].concat();
                continue;
            }
            let clashes = |part: &str| self.import_clashes(piece.text, listed::given(self.language, part));
            for import in imports::read(self.language, piece.text, &piece.names) {
                for statement in listed::kept(self.language, &import.text, clashes) {
                    self.add(&mut inside, &statement);
                }
            }
        }
        inside
    }

    /// Marks the pieces that a body with these names needs in its function: those that clash, and those that
    /// name one of them.
    fn mark(&self, pieces: &mut [Beside<'_>], mut used: HashSet<String>) {
        let has = self.defined();
        let is_other = |piece: &Beside<'_>| piece.clashes || !piece.names.iter().any(|name| has.contains(name));
        let mut needed = vec![false; pieces.len()];
        loop {
            let is_used = |piece: &Beside<'_>| piece.names.iter().any(|name| used.contains(name)) && is_other(piece);
            let Some(next) = (0..pieces.len()).find(|&at| !needed[at] && is_used(&pieces[at])) else { break };
            needed[next] = true;
            used.extend(uses(self.language, pieces[next].text, &HashSet::new(), &[]).alone);
            pieces[next].is_inside = pieces[next].clashes;
        }
        loop {
            let inside = pieces.iter().filter(|piece| piece.is_inside).flat_map(|piece| &piece.names);
            let inside: HashSet<String> = inside.cloned().collect();
            let is_next = |at: usize| {
                let piece = &pieces[at];
                needed[at]
                    && !piece.is_inside
                    && !piece.is_import
                    && mentioned(piece.text).any(|name| inside.contains(name))
            };
            let Some(next) = (0..pieces.len()).find(|&at| is_next(at)) else { return };
            pieces[next].is_inside = true;
        }
    }

    /// Adds an import in the form that it has in a function. JavaScript imports at the top alone, so there it
    /// gets another name.
    fn add(&self, inside: &mut Inside, statement: &str) {
        let statement = if self.language == Language::Python {
            statement.to_owned()
        } else {
            imports::in_style(statement, self.known)
        };
        let list = statement.strip_prefix("import ").and_then(|rest| rest.rsplit_once(" from "));
        let Some((list, from)) = list.filter(|_| self.language != Language::Python) else {
            inside.text += &[&statement, "\n"].concat();
            return;
        };
        let named = list.trim().strip_prefix('{').and_then(|list| list.strip_suffix('}'));
        let parts = named.unwrap_or(list).split(',').map(str::trim).filter(|part| !part.is_empty());
        // A list of both kinds is rare.
        for part in parts.filter(|part| !part.contains(['{', '}']) && !part.starts_with("type ")) {
            let (of, name) = part.split_once(" as ").unwrap_or((part, part));
            let mut capital = name.chars();
            let capital = capital.next().map(|first| first.to_uppercase().chain(capital).collect::<String>());
            let other = ["imported", &capital.unwrap_or_default()].concat();
            let list = match (named, of) {
                (Some(_), of) => format!("{{ {of} as {other} }}"),
                (None, "*") => format!("* as {other}"),
                (None, _) => other.clone(),
            };
            let end = if from.ends_with(';') { ";" } else { "" };
            inside.imports.push(Import { text: format!("import {list} from {from}"), names: vec![other.clone()] });
            inside.text += &["const ", name, " = ", &other, end, "\n"].concat();
        }
    }

    /// The imports of the file that are there for types alone, of names that a body uses when it runs.
    fn for_types_only(&self, body: &str, used: &HashSet<String>) -> String {
        let mut found = String::new();
        let is_typed = |item: &&Item| item.parent.is_none() && self.is_for_types(item);
        for item in self.items().iter().filter(is_typed) {
            let block = self.known[item.range.clone()].split_once(":\n").map_or("", |(_, block)| block);
            let block = block.split("\nelse").next().unwrap_or(block);
            let block = (rules::of(self.language).placed)(&format!("{}\n", block.trim_end()), "", "");
            for import in imports::of_text(self.language, &block) {
                let is_needed = |part: &str| {
                    let name = listed::given(self.language, part);
                    used.contains(name) && runs_with(body, name) && !self.is_given_too(item, name)
                };
                let statements = listed::kept(self.language, &import.text, is_needed);
                found.extend(statements.iter().flat_map(|statement| [statement, "\n"]));
            }
        }
        found
    }

    /// Returns true for `if TYPE_CHECKING:`, whose imports are not there when the code runs.
    fn is_for_types(&self, item: &Item) -> bool {
        let text = self.known[item.range.clone()].trim_start();
        self.language == Language::Python
            && ["if TYPE_CHECKING:", "if typing.TYPE_CHECKING:", "if t.TYPE_CHECKING:"]
                .iter()
                .any(|w| text.starts_with(w))
    }

    /// Returns true if the file gives a name in another place than this one, too.
    fn is_given_too(&self, item: &Item, name: &str) -> bool {
        let has = |other: &Item| other.parent.is_none() && other.names.iter().any(|own| own == name);
        let other = self.known[item.range.clone()].contains("\nelse");
        other || self.items().iter().any(|own| own.range != item.range && has(own))
    }

    /// Returns true if the file has another thing of a name that a piece of the answer gives.
    fn clashes(&self, piece: &Item, text: &str, name: &str) -> bool {
        if piece.kind == ItemKind::Import {
            return self.import_clashes(text, name);
        }
        // Of others the answer may show what it takes to be in the file.
        let is_helper = |item: &Item| item.kind == ItemKind::Function && item.parent.is_none();
        if !name.starts_with('_') || !is_helper(piece) {
            return false;
        }
        let own = self.items().iter().find(|item| item.names.iter().any(|own| own == name) && is_helper(item));
        let is_whole = || (rules::of(self.language).functions)(text).iter().all(|function| function.finished);
        let is_around = |own: &Item| own.range.contains(&self.at);
        own.is_some_and(|own| !is_around(own) && self.code(&self.known[own.range.clone()]) != self.code(text))
            && is_whole()
    }

    /// The words of a piece without strings that stand alone.
    fn code(&self, text: &str) -> Vec<Word> {
        let words = words(self.language, text);
        let is_end = |at: Option<usize>| at.and_then(|at| words.get(at)).is_none_or(|word| *word == Word::End);
        let is_docs =
            |at: usize| matches!(words[at], Word::Text(_)) && is_end(at.checked_sub(1)) && is_end(Some(at + 1));
        let kept = (0..words.len()).filter(|&at| words[at] != Word::End && !is_docs(at) && !words[at].is(';'));
        kept.map(|at| words[at].clone()).collect()
    }

    /// Returns true if the file has another thing of a name that an import of the answer gives.
    fn import_clashes(&self, import: &str, name: &str) -> bool {
        let mut own = self.items().iter().filter(|item| item.parent.is_none());
        let Some(own) = own.find(|item| item.names.iter().any(|own| own == name)) else { return false };
        if own.range.contains(&self.at) || self.is_for_types(own) {
            return false;
        }
        let path = |text: &str| self.path_of(text, name);
        let Some(new) = path(import) else { return false };
        let old = path(&self.known[own.range.clone()]);
        if own.kind == ItemKind::Import && old.is_none() {
            return false;
        }
        let first = |path: &str| path.split(['.', '/']).next().unwrap_or_default().to_owned();
        if self.language != Language::Python {
            let is_node = NODE.contains(&&*first(&new));
            return is_node && old.is_none_or(|old| old != new);
        }
        let is_new = is_library(&first(&new));
        let Some(old) = old else { return is_new };
        let is_inside = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'));
        let is_of_types = |path: &str| TYPES.contains(&&*first(path));
        is_inside(&new, &old)
            || is_inside(&old, &new)
            || is_new && first(&old) != first(&new) && !(is_of_types(&old) && is_of_types(&new))
    }

    /// The path of what an import gives a name: `a.b` of `from a import b`, the module for JavaScript. `None`
    /// if that is not certain.
    fn path_of(&self, import: &str, name: &str) -> Option<String> {
        let read = imports::read(self.language, import, &[name.to_owned()]);
        let of_name = |part: &str| listed::given(self.language, part) == name;
        let import = read.iter().flat_map(|import| listed::kept(self.language, &import.text, of_name)).next()?;
        if self.language != Language::Python {
            let module = import.split(['\'', '"']).nth(1)?;
            let is_import = import.starts_with("import ") && !import.starts_with("import type ");
            let is_plain = is_import || import.contains("require(");
            return is_plain.then(|| module.strip_prefix("node:").unwrap_or(module).to_owned());
        }
        if let Some((module, part)) = import.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
            let part = part.split(" as ").next()?.trim_matches(['(', ')', ' ', '\n', ',']);
            return Some([module.trim(), ".", part].concat());
        }
        let path = import.strip_prefix("import ")?.trim();
        Some(path.split_once(" as ").map_or_else(|| name.to_owned(), |(path, _)| path.to_owned()))
    }
}

/// Returns true if a body of Python uses a name when it runs: not in the type of a variable alone.
fn runs_with(body: &str, name: &str) -> bool {
    let words = uses::statements(Language::Python, body);
    let mut lines = words.split(|word| *word == Word::End);
    lines.any(|line| {
        let first = line.iter().position(|word| !word.is('.') && word.name().is_none()).unwrap_or(line.len());
        let is_typed = line.get(first).is_some_and(|word| word.is(':'))
            && first == 1
            && !line[0].name().is_some_and(|word| ["else", "try", "finally"].contains(&word));
        let from = if is_typed { line.iter().position(|word| word.is('=')).unwrap_or(line.len()) } else { 0 };
        line[from..].iter().any(|word| word.name() == Some(name))
    })
}
