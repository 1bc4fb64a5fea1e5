//! The parts of a candidate: the inside of its function, and the code that comes with it.
//!
//! A candidate is text that continues the function: its inside, its closing brace, and behind it the members
//! of its class, imports, helper functions, constants and types that it needs.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::Path;

use super::grown::{CONSTRUCTORS, Fresh, Grown, fields};
use super::imports::{self, Import};
use super::listed;
use super::owned;
use super::pieces::{Of, Part, Piece};
use crate::code::known;
use crate::code::outline::{Item, ItemKind, mentioned, outline};
use crate::code::rust::UNNAMED;
use crate::code::uses::{self, Uses, uses};
use crate::code::words::{Word, words};
use crate::code::{names, rules, text};
use crate::language::Language;

/// Code that comes with a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::code) struct Beside {
    /// Other members of its class, in its indentation.
    pub members: Vec<String>,
    pub imports: Vec<Import>,
    /// Functions, constants and types at the top of the file.
    pub helpers: Vec<String>,
    /// Decorators that its head lacks, without indentation.
    pub decorators: Vec<String>,
    /// Pieces of the file that get more lines.
    pub grown: Vec<Grown>,
}

/// Methods by which a statement fills a table.
const FILLS: &[&str] = &[
    "add", "append", "appendleft", "extend", "fill", "insert", "push", "reverse", "set", "setdefault", "sort",
    "unshift", "update",
];

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
    /// The code behind the function in a candidate.
    pub fn behind(&self, body: &str, rest: &str) -> Beside {
        if rest.trim().is_empty() {
            return self.needed((self.head, body), Vec::new(), Vec::new());
        }
        let (members, top) = rest.split_at(self.members_end(rest));
        let mut pieces = Vec::new();
        if !members.trim().is_empty() {
            // Members are read inside of a class, as they stand.
            // One with fields alone would be read as a whole; the last member is left out again.
            let (open, close) = match self.language {
                Language::Python => ("class A:\n", ""),
                Language::Rust => ("impl A {\n", "\nfn a_() {\n}\n}\n"),
                Language::JavaScript | Language::TypeScript | Language::Go => ("class A {\n", "\na_() {\n}\n}\n"),
            };
            let class = [open, members, close].concat();
            pieces.extend(self.pieces(&class, &outline(self.language, &class), Some(0), usize::MAX, |_| Part::Member));
            pieces.pop_if(|last| last.names.iter().any(|name| name == "a_"));
            // They may be those of a namespace, which came here because they are used.
            for piece in &mut pieces {
                piece.is_alone = true;
            }
        }
        let items = outline(self.language, top);
        pieces.extend(self.pieces(top, &items, None, usize::MAX, |_| Part::Helper));
        self.needed((self.head, body), pieces, self.decorators(top))
    }

    /// The code around the function in an answer, where its body begins at byte `at`. Of code that may go on
    /// the last piece is not certain.
    pub fn around(&self, body: &str, code: &str, at: usize, may_go_on: bool) -> Beside {
        let mut items = outline(self.language, code);
        if may_go_on {
            items.retain(|item| item.range.start <= at || self.has_code(&code[item.range.end..]));
        }
        let own = items.iter().rposition(|item| item.range.contains(&at) && item.kind == ItemKind::Function);
        let class = own.and_then(|own| items[own].parent).filter(|_| !self.outer.is_empty());
        let mut pieces = Vec::new();
        if let Some(class) = class {
            pieces.extend(self.pieces(code, &items, Some(class), at, |_| Part::Member));
        }
        // A method without its class has its helpers beside it.
        let is_bare = class.is_none() && !self.outer.is_empty();
        let is_method = |item: &Item| is_bare && self.takes_self(item, &code[item.range.clone()]);
        let part = |item: &Item| if is_method(item) { Part::Member } else { Part::Helper };
        pieces.extend(self.pieces(code, &items, None, at, part));
        let decorators = self.decorators(&code[..at]);
        let head = items.iter().rfind(|item| item.range.contains(&at)).map_or("", |item| &code[item.range.start..at]);
        self.needed((&[self.head, "\n", head].concat(), body), pieces, decorators)
    }

    /// Returns true if a function is written like a member of a class.
    fn takes_self(&self, item: &Item, text: &str) -> bool {
        let begin = match self.language {
            Language::Python => "def",
            Language::Rust => "fn",
            Language::JavaScript | Language::TypeScript | Language::Go => return false,
        };
        let words = words(self.language, text);
        let rest = words.iter().skip_while(|word| word.name() != Some(begin)).skip_while(|word| !word.is('('));
        let first = rest.skip(1).filter_map(Word::name).find(|name| *name != "mut");
        let is_static = text.trim_start().starts_with("@staticmethod");
        item.kind == ItemKind::Function && (is_static || matches!(first, Some("self" | "cls")))
    }

    /// Returns true if a text is more than comments, which may be inside of the piece before it.
    fn has_code(&self, text: &str) -> bool {
        words(self.language, text).iter().any(|word| *word != Word::End)
    }

    /// A function's body with the code behind it. A block in braces is closed.
    pub fn joined(&self, body: &str, beside: &Beside) -> String {
        let rules = rules::of(self.language);
        let body = body.trim_end();
        let ends = |text: String| (rules.function_end)(text::width(self.outer), &text).is_some();
        let is_open = rules.lexicon.is_some() && !ends(format!("{body}\n"));
        let close = if is_open { format!("{}}}\n", self.outer) } else { String::new() };
        format!("{body}\n{close}{}", beside.text(self.name))
    }

    /// The end of the members of the class that a text begins with.
    fn members_end(&self, rest: &str) -> usize {
        if self.outer.is_empty() {
            return 0;
        }
        if self.language == Language::Python {
            let column = text::width(self.outer);
            return (rules::of(self.language).function_end)(column - 1, rest).unwrap_or(rest.len());
        }
        let is_inside = |line: &&str| line.trim().is_empty() || line.starts_with(self.outer);
        rest.split_inclusive('\n').take_while(is_inside).map(str::len).sum()
    }

    /// The decorators right above a head of the function that its file does not have. `code` ends behind the
    /// head.
    fn decorators(&self, code: &str) -> Vec<String> {
        let is_head = |line: &str| {
            let head = line.trim_start().trim_start_matches("async ");
            head.strip_prefix("def ")
                .and_then(|head| head.strip_prefix(self.name))
                .is_some_and(|rest| rest.starts_with('('))
        };
        let mut lines = code.lines().rev().skip_while(|line| !is_head(line));
        let Some(head) = lines.next().filter(|_| self.language == Language::Python) else { return Vec::new() };
        let white = text::white(head, 0);
        let above = lines.take_while(|line| text::white(line, 0) == white && line.trim_start().starts_with('@'));
        // `@lru_cache` and `@functools.lru_cache` are one.
        let name = |line: &str| -> String {
            let path = line.trim().trim_start_matches('@').split('(').next().unwrap_or_default();
            path.rsplit('.').next().unwrap_or_default().trim().to_owned()
        };
        let own: Vec<String> = self.head.lines().filter(|line| line.trim().starts_with('@')).map(name).collect();
        let mut above: Vec<&str> = above.map(str::trim).filter(|line| !own.contains(&name(line))).collect();
        above.reverse();
        above.into_iter().map(str::to_owned).collect()
    }

    /// The pieces that the body needs and the file does not have, and imports of the library. `head`: the
    /// heads that the function has, in its file and in the answer.
    fn needed(&self, (head, body): (&str, &str), mut pieces: Vec<Piece>, decorators: Vec<String>) -> Beside {
        let mut code = [body, &decorators.join("\n")].join("\n");
        let mut used = self.uses(&code, head);
        let mut beside = Beside { decorators, ..Beside::default() };
        let defined = if pieces.is_empty() { HashSet::new() } else { self.defined() };
        let is_own = |piece: &Piece| piece.of.owner.is_empty() && piece.names.iter().any(|name| name == self.name);
        pieces.retain(|piece| !is_own(piece) && !self.is_example(piece));
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
            let is_next = |piece: &Piece| {
                is_wanted(piece, &used)
                    || self.fills(piece, &tables)
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

    /// The names that the inside of the function uses and neither it nor a head of it binds.
    fn uses(&self, body: &str, head: &str) -> Uses {
        let this = self.this(head);
        let this: Vec<&str> = this.iter().map(String::as_str).collect();
        uses(self.language, body, &uses::bound_in(self.language, head), &this)
    }

    /// The names of the object itself, and of its type.
    fn this(&self, head: &str) -> Vec<String> {
        let mut this: Vec<String> = ["self", "cls", "this", "Self"].map(str::to_owned).into();
        let words = words(self.language, head);
        if self.language == Language::Go {
            let receivers = words.windows(3).filter(|three| three[0].name() == Some("func") && three[1].is('('));
            this.extend(receivers.filter_map(|three| three[2].name().map(str::to_owned)));
        }
        this
    }

    /// Returns true if a piece shows how the function is used: it runs, and names the function or its class.
    fn is_example(&self, piece: &Piece) -> bool {
        if !piece.is_run {
            return false;
        }
        let is_main = self.language == Language::Python && piece.text.trim_start().starts_with("if __name__");
        let used = uses(self.language, &piece.text, &HashSet::new(), &[]).alone;
        is_main || used.contains(self.name) || self.owners().iter().any(|owner| used.contains(owner))
    }

    /// Returns true if the body names nothing that may still come: everything is in the language, its
    /// library, the file, or an import.
    pub fn is_all_known(&self, (head, body): (&str, &str), beside: &Beside) -> bool {
        // A type may get methods further down, and a table its lines.
        let helpers = outline(self.language, &beside.helpers.concat());
        if !beside.members.is_empty() || helpers.iter().any(|item| item.kind != ItemKind::Function) {
            return false;
        }
        let mut used = self.uses_under(head, body);
        for helper in &beside.helpers {
            used.extend(uses(self.language, helper, &HashSet::new(), &[]));
        }
        let is_known = |name: &String| name == self.name || self.mentions(name);
        self.unknown(&used, body, beside).is_empty() && used.own.iter().all(is_known)
    }

    /// The names that the body alone uses and that nothing gives, and members of the object itself. They may be
    /// in another block.
    pub fn lacking(&self, (head, body): (&str, &str), beside: &Beside) -> Vec<String> {
        let used = self.uses_under(head, body);
        let given = beside.members.iter().chain(&beside.helpers).chain(beside.grown.iter().map(|grown| &grown.text));
        let given: HashSet<&str> = given.flat_map(|text| mentioned(text)).collect();
        let mut of = self.this(&[self.head, "\n", head].concat());
        of.extend(self.items().iter().filter(|item| item.kind != ItemKind::Import).flat_map(|item| item.names.clone()));
        // A class may have members of the one that it extends.
        let extends = |item: &Item| {
            let head = item.signature.lines().last().unwrap_or_default();
            let base = if self.language == Language::Python { "(" } else { " extends " };
            item.kind == ItemKind::Scope && item.range.contains(&self.at) && head.contains(base)
        };
        if self.items().iter().any(extends) {
            of.clear();
        }
        let words = words(self.language, body);
        let member = |at: usize| {
            let dot = at.checked_sub(1).filter(|&dot| words[dot].is('.') || words[dot].is(':'))?;
            let owner = if words[dot].is(':') { dot.checked_sub(2)? } else { dot.checked_sub(1)? };
            let owner = words[owner].name()?;
            let name = words[at].name()?;
            (of.iter().any(|own| own == owner) && !self.mentions(name) && !given.contains(name))
                .then(|| name.to_owned())
        };
        let own: Vec<String> = (0..words.len()).filter_map(member).collect();
        own.into_iter().chain(self.unknown(&used, body, beside)).collect()
    }

    /// The used names that nothing gives: neither the language, nor its library, nor the file, nor what comes
    /// with the body. None where an import may give any name.
    fn unknown(&self, used: &Uses, body: &str, beside: &Beside) -> Vec<String> {
        if self.imports_unnamed() || beside.imports.iter().any(gives_any_name) {
            return Vec::new();
        }
        let known = &rules::of(self.language).known;
        let words = words(self.language, &[body, &beside.helpers.concat()].concat());
        let calls =
            |at: usize| words.get(at + 1).is_some_and(|next| next.is('(')) && !(at > 0 && words[at - 1].is('.'));
        let is_called = |name: &str| (0..words.len()).any(|at| words[at].name() == Some(name) && calls(at));
        let is_of_language = |name: &str| {
            // A module cannot be called.
            let is_own = |path: &&str| {
                let is_module = self.language == Language::Go || !path.contains(known.separator);
                path.rsplit(known.separator).next() == Some(name) && !(is_module && is_called(name))
            };
            known.builtins.contains(&name) || uses::is_word(self.language, name) || known.library.iter().any(is_own)
        };
        let is_imported = |name: &str| beside.imports.iter().any(|import| import.names.iter().any(|n| n == name));
        let helpers = outline(self.language, &beside.helpers.concat());
        let is_helper = |name: &str| helpers.iter().any(|item| item.names.iter().any(|own| own == name));
        let members: HashSet<&str> = beside.members.iter().flat_map(|member| mentioned(member)).collect();
        let is_known = |name: &str| {
            is_of_language(name)
                || is_imported(name)
                || is_helper(name)
                || self.mentions(name)
                || members.contains(name)
        };
        used.alone.iter().filter(|name| *name != self.name && !is_known(name)).cloned().collect()
    }

    /// The names that a body uses under a head of the answer and that of the file.
    fn uses_under(&self, head: &str, body: &str) -> Uses {
        self.uses(body, &[self.head, "\n", head].concat())
    }

    /// Returns true if a piece changes one of these tables when the file is loaded, as a loop behind `TABLE =
    /// {}` does. One with the function in it is an example of its use.
    fn fills(&self, piece: &Piece, tables: &HashSet<String>) -> bool {
        if !piece.is_run || tables.is_empty() {
            return false;
        }
        let words = words(self.language, &piece.text);
        if words.iter().any(|word| word.name().is_some_and(|name| [self.name, "__name__"].contains(&name))) {
            return false;
        }
        let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
        let changes = |at: usize| {
            let mut at = at + 1;
            while is(at, '[') {
                let mut depth = 0_usize;
                let Some(length) = words[at..].iter().position(|word| {
                    depth += usize::from(word.is('['));
                    depth -= usize::from(word.is(']'));
                    depth == 0
                }) else {
                    return false;
                };
                at += length + 1;
                // `T[x] = 1`, `T[x] += 1`, and not `T[x] == 1`
                let sign = at + usize::from(!is(at, '=') && is(at + 1, '='));
                if is(sign, '=') && !is(sign + 1, '=') && !is(at, '!') && !is(at, '<') && !is(at, '>') {
                    return true;
                }
            }
            let method = words.get(at + 1).and_then(Word::name).filter(|_| is(at, '.') && is(at + 2, '('));
            method.is_some_and(|method| FILLS.contains(&method))
        };
        (0..words.len()).any(|at| words[at].name().is_some_and(|name| tables.contains(name)) && changes(at))
    }

    fn package(&self) -> &HashSet<String> {
        let read = || self.path.map_or_else(HashSet::new, rules::of(self.language).package);
        self.read.package.get_or_init(read)
    }

    /// The pieces of the file.
    pub(super) fn items(&self) -> &[Item] {
        self.read.items.get_or_init(|| outline(self.language, self.known))
    }

    /// The names in the code of the file, and those that its imports give.
    fn words(&self) -> &HashSet<String> {
        let read = || names(self.language, self.known).into_iter().chain(self.paths()).collect();
        self.read.words.get_or_init(read)
    }

    /// Names that imports give and that no word of code says: the ends of Go's paths.
    fn paths(&self) -> Vec<String> {
        let is_go = self.language == Language::Go;
        let imports = if is_go { imports::of_text(self.language, self.known) } else { Vec::new() };
        imports.into_iter().flat_map(|import| import.names).collect()
    }

    /// The names that the file and its package define.
    fn defined(&self) -> HashSet<String> {
        let of_items = self.items().iter().flat_map(|item| item.names.iter().cloned());
        of_items.chain(self.paths()).chain(self.package().iter().cloned()).collect()
    }

    /// Returns true if a name stands anywhere in the code of the file, or its package has it.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.words().contains(name) || self.package().contains(name)
    }

    /// Returns true if the file imports names that it does not spell out: any name may be one of them.
    fn imports_unnamed(&self) -> bool {
        self.known.lines().any(|line| match self.language {
            Language::Python => line.trim_start().starts_with("from ") && line.contains("import *"),
            // Imports inside a module are not the file's.
            Language::Rust => (line.starts_with("use ") || line.starts_with("pub use ")) && line.contains("::*"),
            Language::Go => line.trim_start().trim_start_matches("import ").starts_with(". \""),
            Language::JavaScript | Language::TypeScript => false,
        })
    }

    /// The functions that the body calls, and the constants in capitals that it uses, which neither its file
    /// nor `beside` defines. None where the file imports names that it does not spell out.
    pub fn undefined(&self, body: &str, beside: &Beside) -> Vec<String> {
        if self.imports_unnamed() || beside.imports.iter().any(gives_any_name) {
            return Vec::new();
        }
        let mut code = body.to_owned();
        let more = beside.helpers.iter().chain(&beside.members);
        more.for_each(|text| code += text);
        let of_helpers = outline(self.language, &beside.helpers.concat()).into_iter().flat_map(|i| i.names);
        let fields = beside.members.iter().flat_map(|member| owned::fields(self.language, member));
        let of_helpers: HashSet<String> = of_helpers.chain(fields.map(|(name, _)| name)).collect();
        let imported = |name: &str| beside.imports.iter().any(|import| import.names.iter().any(|given| given == name));
        let is_defined =
            |name: &str| name == self.name || of_helpers.contains(name) || imported(name) || self.mentions(name);
        known::undefined(self.language, &code, is_defined)
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

/// Returns true if an import may give any name.
fn gives_any_name(import: &Import) -> bool {
    ["import *", "::*;", "*};"].iter().any(|end| import.text.ends_with(end))
}

impl Beside {
    /// Returns true if there is nothing.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
            && self.imports.is_empty()
            && self.helpers.is_empty()
            && self.decorators.is_empty()
            && self.grown.is_empty()
    }

    /// Its text, as it stands behind a function of this name.
    pub fn text(&self, name: &str) -> String {
        let grown = |is_member: bool| {
            let own = self.grown.iter().filter(move |grown| grown.is_member == is_member);
            own.flat_map(|grown| ["\n", grown.text.as_str()])
        };
        let mut out: String = self.members.iter().flat_map(|member| ["\n", member]).chain(grown(true)).collect();
        if !self.decorators.is_empty() {
            out += &["\n", &self.decorators.join("\n"), "\ndef ", name, "(*_): ...\n"].concat();
        }
        if !self.imports.is_empty() {
            out.push('\n');
        }
        out.extend(self.imports.iter().flat_map(|import| [&import.text, "\n"]));
        out.extend(grown(false));
        out.extend(self.helpers.iter().flat_map(|helper| ["\n", helper]));
        out
    }
}
