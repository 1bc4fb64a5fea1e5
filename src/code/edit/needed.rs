//! The pieces of an answer that a body needs.

use std::collections::HashSet;

use super::around::Around;
use super::beside::Beside;
use super::grown::{CONSTRUCTORS, Fresh, Grown, fields};
use super::imports::{self, Import};
use super::listed;
use super::pieces::{Of, Part, Piece};
use super::run::Kept;
use crate::code::outline::{Item, mentioned};
use crate::code::rust::UNNAMED;
use crate::code::uses::{Uses, uses};
use crate::code::words::{Word, words};
use crate::code::{known, rules};
use crate::language::Language;

impl Around<'_> {
    /// The pieces that the body needs and the file does not have, and imports of the library. `head`: the
    /// heads that the function has, in its file and in the answer.
    pub(super) fn needed(&self, (head, body): (&str, &str), mut pieces: Vec<Piece>, decorators: Vec<String>) -> Beside {
        let mut code = [body, &decorators.join("\n")].join("\n");
        let mut used = self.uses(&code, head);
        let mut beside = Beside { decorators, ..Beside::default() };
        let defined = if pieces.is_empty() { HashSet::new() } else { self.defined() };
        let is_own = |piece: &Piece| piece.of.owner.is_empty() && piece.names.iter().any(|name| name == self.name);
        let is_behind = |piece: &Piece| piece.part == Part::Helper && self.is_behind(&piece.text);
        pieces.retain(|piece| is_behind(piece) || !is_own(piece) && !self.is_example(piece));
        let mut kept = vec![false; pieces.len()];
        let more: Vec<Option<Grown>> = pieces.iter().map(|piece| self.grown(piece)).collect();
        let mut fresh = Fresh::default();
        for piece in pieces.iter_mut().zip(&more).filter_map(|(piece, more)| more.is_none().then_some(piece)) {
            self.without_defined(piece, &defined);
        }
        // Keywords may stand among the names of a statement.
        let builtins = rules::of(self.language).known.builtins;
        let is_wanted = |piece: &Piece, used: &Uses| {
            let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
            let is_key = |name: &str| self.language == Language::Go && used.keys.contains(name);
            let is_alone = |name: &str| piece.is_alone && (used.alone.contains(name) || is_key(name));
            let is_used = |name: &str| is_alone(name) || piece.part == Part::Member && used.members.contains(name);
            let is_new = |name: &str| is_used(name) && is_name(name) && !builtins.contains(&name);
            // A field comes if no code of the file has its name.
            let is_there = || piece.names.iter().any(|name| self.mentions(name));
            if !piece.of.owner.is_empty() || piece.of.is_field && !piece.is_alone && is_there() {
                return false;
            }
            // A trait comes with the methods that the code calls.
            let is_trait_new = || !piece.names.iter().any(|name| defined.contains(name));
            piece.names.iter().any(|name| !defined.contains(name) && is_new(name.trim_start_matches('#')))
                || piece.of.members.iter().any(|name| used.has(name)) && is_trait_new()
                || piece.part == Part::Import && self.is_used_unnamed(piece, body, used, &pieces)
        };
        let mut tables: HashSet<String> = HashSet::new();
        loop {
            let kept_names: HashSet<&String> = (0..pieces.len())
                .filter(|&at| kept[at] && more[at].is_none())
                .flat_map(|at| &pieces[at].names)
                .collect();
            let is_changer = |piece: &&Piece| self.is_changer(piece, &tables);
            let changers = pieces.iter().filter(is_changer).flat_map(|piece| piece.names.iter().cloned()).collect();
            let of_run = Kept { all: &kept_names, tables: &tables, changers: &changers, code: &code };
            let is_next = |piece: &Piece| {
                is_wanted(piece, &used)
                    || is_behind(piece)
                    || self.runs_for(piece, &of_run)
                    || self.comes_along(piece, &kept_names, (&code, &used))
            };
            let needs = |grown: &Grown| self.needs(grown, (&code, &used), &fresh);
            let is_next = |at: usize| more[at].as_ref().map_or_else(|| is_next(&pieces[at]), needs);
            let Some(at) = (0..pieces.len()).find(|&at| !kept[at] && is_next(at)) else { break };
            kept[at] = true;
            if let Some(grown) = &more[at] {
                fresh.add(grown, &pieces[at].names);
            }
            tables.extend(pieces[at].names.iter().filter(|_| pieces[at].is_run).cloned());
            // A field is written like a name that code uses.
            let own = (pieces[at].part == Part::Member).then(|| pieces[at].names.iter().cloned());
            used.extend(uses(self.language, &pieces[at].text, &own.into_iter().flatten().collect(), &[]));
            // An import may stand in a condition that uses others.
            if pieces[at].part != Part::Import || pieces[at].text.starts_with("if ") {
                code += &pieces[at].text;
            }
        }
        let is_known = |name: &str| {
            self.mentions(name)
                || pieces.iter().zip(&kept).any(|(piece, &kept)| kept && piece.names.iter().any(|n| n == name))
        };
        let is_star = |piece: &Piece| piece.part == Part::Import && piece.text.ends_with("import *");
        let is_open =
            self.imports_unnamed() || pieces.iter().zip(&kept).any(|(piece, &is_kept)| is_kept && is_star(piece));
        let library = rules::of(self.language).known.imports(self.language, &code, |name| is_open || is_known(name));
        let mut before = None;
        for ((piece, is_kept), more) in pieces.into_iter().zip(kept).zip(more) {
            if let Some(grown) = more {
                beside.grown.extend(Some(grown).filter(|_| is_kept));
                continue;
            }
            // Pieces without a blank line between them stay together.
            let is_joined =
                std::mem::replace(&mut before, is_kept.then_some(piece.part)) == Some(piece.part) && piece.follows;
            if is_behind(&piece) {
                before = None;
                beside.helpers.push(piece.text);
                continue;
            }
            let list = match piece.part {
                _ if !is_kept => continue,
                Part::Member => &mut beside.members,
                Part::Helper => &mut beside.helpers,
                Part::Import => {
                    let import = Import { text: piece.text, names: piece.names };
                    beside.imports.extend(imports::narrowed(self.language, import, &code, &used));
                    continue;
                }
            };
            match list.last_mut().filter(|_| is_joined) {
                Some(last) => *last += &piece.text,
                None => list.push(piece.text),
            }
        }
        beside.imports.extend(library.iter().flat_map(|text| imports::of_text(self.language, text)));
        beside
    }

    /// Returns true if methods come along: with their type or trait, or because the code calls a method that
    /// the file's type lacks.
    fn comes_along(&self, piece: &Piece, kept: &HashSet<&String>, (code, used): (&str, &Uses)) -> bool {
        let Of { owner, implements, members, .. } = &piece.of;
        if piece.part == Part::Member {
            return self.constructs(piece, kept, used);
        }
        let is_go = self.language == Language::Go;
        let members = if is_go { &piece.names } else { members };
        let is_own = members.iter().any(|member| member == self.name) && (!is_go || self.head.contains(owner));
        if owner.is_empty() || is_own {
            return false;
        }
        let of_trait = implements.split('<').next().unwrap_or_default().to_owned();
        if kept.contains(owner) || kept.contains(&of_trait) {
            return true;
        }
        let own = self.items();
        if !implements.is_empty() {
            let words = names_and_marks(self.language, code);
            let is_used =
                UNNAMED.iter().any(|(name, uses)| *name == of_trait && uses.iter().any(|w| words.contains(*w)));
            let is_derived = |item: &Item| {
                let derives = item.signature.lines().filter(|line| line.trim_start().starts_with("#[derive("));
                derives.flat_map(mentioned).any(|name| name == of_trait)
            };
            let mut types = own.iter().filter(|item| item.names.contains(owner));
            return piece.of.is_before && is_used && types.next().is_some_and(|item| !is_derived(item));
        }
        if !members.iter().any(|member| used.has(member)) {
            return false;
        }
        let is_there = |member: &String| own.iter().any(|item| item.name.ends_with(&format!("{owner}.{member}")));
        own.iter().any(|item| item.names.contains(owner)) && !members.iter().any(is_there)
    }

    /// Returns true if a member is the constructor of a class without one, and sets fields that come along.
    fn constructs(&self, piece: &Piece, kept: &HashSet<&String>, used: &Uses) -> bool {
        let is_one = |name: &String| CONSTRUCTORS.contains(&name.as_str());
        if !piece.names.iter().any(is_one) || self.repeated(piece).is_some() {
            return false;
        }
        let is_new = |name: &String| kept.contains(name) || used.own.contains(name) && !self.mentions(name);
        fields(&words(self.language, &piece.text)).iter().any(is_new)
    }

    /// Takes the names that the file has out of a list of constants or variables of Go.
    fn without_defined(&self, piece: &mut Piece, defined: &HashSet<String>) {
        let is_defined = |name: &str| defined.contains(name);
        let has = piece.names.iter().filter(|name| is_defined(name)).count();
        if self.language != Language::Go || piece.part != Part::Helper || has == 0 || has == piece.names.len() {
            return;
        }
        if let Some(text) = listed::ungrouped(&piece.text, is_defined) {
            piece.names.retain(|name| !is_defined(name));
            piece.text = text;
        }
    }

    /// Returns true if code may use an import without its name: the methods of a trait, and names behind a
    /// star.
    fn is_used_unnamed(&self, import: &Piece, body: &str, used: &Uses, pieces: &[Piece]) -> bool {
        let lacks = || {
            let known = &rules::of(self.language).known;
            let is_there = |name: &str| {
                known.builtins.contains(&name)
                    || self.mentions(name)
                    || pieces.iter().any(|piece| piece.names.iter().any(|own| own == name))
            };
            let is_type = |name: &str| self.language == Language::Rust && name.starts_with(char::is_uppercase);
            let free = known::free_names(self.language, body);
            free.iter().any(|free| (free.is_called || free.is_alone && is_type(&free.name)) && !is_there(&free.name))
        };
        match self.language {
            Language::Python => import.text.ends_with("import *") && !self.known.contains(&import.text) && lacks(),
            Language::Rust => {
                let leaves = imports::unnamed(&import.text, used);
                let is_new = |own: &HashSet<String>| {
                    leaves.iter().any(|(leaf, is_sure)| !own.contains(leaf) && (*is_sure || lacks()))
                };
                let own = || imports::paths(self.language, self.known, self.items());
                !leaves.is_empty() && is_new(&own())
            }
            _ => false,
        }
    }
}

/// The names and marks of code.
fn names_and_marks(language: Language, code: &str) -> HashSet<String> {
    let shown = |word: Word| match word {
        Word::Name(name) => Some(name),
        Word::Mark(mark) => Some(mark.to_string()),
        Word::Text(_) | Word::End => None,
    };
    words(language, code).into_iter().filter_map(shown).collect()
}
