//! The imports of a text, and the names they are bound to. Pure.

use std::collections::HashMap;

use super::Table;
use crate::code::Word;

/// The imports of a text.
#[derive(Debug, Default)]
pub struct Imports {
    /// Modules by their full names.
    pub modules: Vec<String>,
    /// Names of the text, and the module each comes from.
    pub bound: HashMap<String, String>,
    /// Names of the text that stand for others.
    pub aliases: HashMap<String, String>,
}

impl Imports {
    pub fn of(table: &Table, words: &[Word]) -> Self {
        let mut this = Self::default();
        (table.imports)(&mut this, words);
        this
    }

    /// Returns true if a module or one of its members is imported.
    pub fn has(&self, module: &str) -> bool {
        self.modules
            .iter()
            .any(|own| own.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/'])))
    }

    /// The words without line ends, with aliases replaced by full names, and members named by strings as
    /// members.
    pub fn plain(&self, table: &Table, words: &[Word]) -> Vec<Word> {
        let mut out: Vec<Word> = Vec::new();
        let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            at += 1;
            match word {
                Word::Name(name) => {
                    let is_first = !out.last().is_some_and(|last| last.is('.'));
                    let name = self.aliases.get(name).filter(|_| is_first).unwrap_or(name);
                    out.push(Word::Name(name.clone()));
                }
                Word::Mark('?') if table.has_members_by_text && words.get(at).is_some_and(|next| next.is('.')) => {}
                Word::Mark('[') if table.has_members_by_text && is_value(out.last()) => {
                    match (words.get(at), words.get(at + 1)) {
                        (Some(Word::Text(name)), Some(close)) if close.is(']') => {
                            if !out.last().is_some_and(|last| last.is('.')) {
                                out.push(Word::Mark('.'));
                            }
                            out.push(Word::Name(name.clone()));
                            at += 2;
                        }
                        _ => out.push(word.clone()),
                    }
                }
                _ => out.push(word.clone()),
            }
        }
        out.extend((table.paths)(&out));
        out
    }

    /// `a`, or `a as b`.
    pub fn bind(&mut self, names: &[&str], module: &str) {
        match names {
            [name] => drop(self.bound.insert((*name).to_owned(), module.to_owned())),
            [name, "as", own] => {
                self.aliases.insert((*own).to_owned(), (*name).to_owned());
                self.bound.insert((*name).to_owned(), module.to_owned());
            }
            _ => {}
        }
    }
}

fn is_value(word: Option<&Word>) -> bool {
    match word {
        Some(Word::Name(name)) => !["return", "of", "in", "case", "typeof", "await", "yield"].contains(&name.as_str()),
        Some(Word::Mark(mark)) => [')', ']', '.'].contains(mark),
        _ => false,
    }
}
