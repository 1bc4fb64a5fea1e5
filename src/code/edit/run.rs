//! Statements of an answer that run when its file is loaded: those that fill what the function uses, those
//! that set what its results depend on, and those that show how it is used.

use std::collections::HashSet;

use super::around::Around;
use super::pieces::{Part, Piece};
use crate::code::uses::uses;
use crate::code::words::{Word, words};
use crate::language::Language;

/// Methods by which a statement fills a table.
const FILLS: &[&str] = &[
    "add", "append", "appendleft", "extend", "fill", "insert", "push", "reverse", "set", "setdefault", "sort",
    "unshift", "update",
];

/// Settings of Python's library on which results depend, each with a name that such code has. None where any
/// code may depend on it.
const SETTINGS: &[(&str, Option<&str>)] = &[
    ("sys.setrecursionlimit(", None),
    ("sys.set_int_max_str_digits(", None),
    ("threading.stack_size(", None),
    ("getcontext().", Some("Decimal")),
    ("decimal.getcontext().", Some("Decimal")),
    ("setcontext(", Some("Decimal")),
    ("random.seed(", Some("random")),
];

/// Pieces that are kept, by their names.
pub(super) struct Kept<'a> {
    /// Everything.
    pub all: &'a HashSet<&'a String>,
    /// Values that code of the answer may change.
    pub tables: &'a HashSet<String>,
    /// Functions of the answer that change these.
    pub changers: &'a HashSet<String>,
    /// The code so far.
    pub code: &'a str,
}

impl Around<'_> {
    /// Returns true if a piece shows how the function is used: it runs, and names the function or its class.
    pub(super) fn is_example(&self, piece: &Piece) -> bool {
        if !piece.is_run {
            return false;
        }
        let is_main = self.language == Language::Python && piece.text.trim_start().starts_with("if __name__");
        let used = uses(self.language, &piece.text, &HashSet::new(), &[]).alone;
        is_main || used.contains(self.name) || self.owners().iter().any(|owner| used.contains(owner))
    }

    /// Returns true for a statement that belongs behind the function: it gives the function an attribute,
    /// wraps it, or registers another one with it (`f.calls = 0`, `f = wrapped(f)`, `@f.register`).
    pub(super) fn is_behind(&self, text: &str) -> bool {
        if !self.outer.is_empty() || matches!(self.language, Language::Rust | Language::Go) {
            return false;
        }
        let words = words(self.language, text);
        let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
        let name = |at: usize| words.get(at).and_then(|word| word.name());
        let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
        if is(0, '@') {
            return name(1) == Some(self.name) && is(2, '.') && name(3) == Some("register");
        }
        let wraps = || is(1, '=') && !is(2, '=') && words[2..].iter().any(|word| word.name() == Some(self.name));
        name(0) == Some(self.name) && (wraps() || is(1, '.') && assigned(&words, 0))
    }

    /// Returns true if a piece runs for what is kept: it changes that itself or by a function of the answer
    /// that does, or sets what the code's results depend on.
    pub(super) fn runs_for(&self, piece: &Piece, kept: &Kept<'_>) -> bool {
        let all = words(self.language, &piece.text);
        let words: Vec<&Word> = all.iter().filter(|word| **word != Word::End).collect();
        let is_decorated = words.first().is_some_and(|word| word.is('@'));
        // A function that is given to a type is one statement.
        let first = words.first().and_then(|word| word.name());
        let is_given = || first == Some("if") || first.is_some() && assigned(&words, 0);
        if piece.part != Part::Helper || !piece.is_run && !is_decorated && !is_given() {
            return false;
        }
        if words.iter().any(|word| word.name().is_some_and(|name| [self.name, "__name__"].contains(&name))) {
            return false;
        }
        if is_decorated {
            // It may be registered by what decorates it.
            let by = words.get(1).and_then(|word| word.name()).map(str::to_owned);
            return by.is_some_and(|by| kept.changers.contains(&by) || kept.tables.contains(&by));
        }
        let is_setting = |(begin, of): &(&str, Option<&str>)| {
            piece.text.trim_start().starts_with(begin) && of.is_none_or(|of| kept.code.contains(of))
        };
        let is_call = |at: usize| words.get(at + 1).is_some_and(|word| word.is('('));
        let calls = |at: usize| words[at].name().is_some_and(|name| kept.changers.contains(name)) && is_call(at);
        self.language == Language::Python && SETTINGS.iter().any(is_setting)
            || changes(&words, |name| kept.tables.contains(name))
            || (0..words.len()).any(|at| calls(at) || extends_what(&words, at, kept))
    }

    /// Returns true for a function that changes one of these values.
    pub(super) fn is_changer(&self, piece: &Piece, tables: &HashSet<String>) -> bool {
        if piece.is_run || piece.part != Part::Helper || tables.is_empty() {
            return false;
        }
        let all = words(self.language, &piece.text);
        let words: Vec<&Word> = all.iter().filter(|word| **word != Word::End).collect();
        let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
        let is_new = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| words[at].name());
            matches!(before, Some("let" | "const" | "var")) || at > 0 && words[at - 1].is('.')
        };
        // Python says which names of the file a function sets.
        let is_said = self.language != Language::Python || words.iter().any(|word| word.name() == Some("global"));
        let is_counted = |at: usize| ['+', '-'].iter().any(|sign| is(at + 1, *sign) && is(at + 2, *sign));
        let is_set = |at: usize| (sets(&words, at + 1) || is_counted(at)) && is_said && !is_new(at);
        let is_table = |at: usize| words[at].name().is_some_and(|name| tables.contains(name));
        changes(&words, |name| tables.contains(name)) || (0..words.len()).any(|at| is_table(at) && is_set(at))
    }
}

/// Returns true for `Node.__lt__ = …` of a type that is kept, and for `Array.prototype.last = …` of a
/// member that the code names.
fn extends_what(words: &[&Word], at: usize, kept: &Kept<'_>) -> bool {
    let is_member = at > 0 && words[at - 1].is('.');
    let Some(name) = words[at].name().filter(|_| !is_member) else { return false };
    if kept.all.iter().any(|own| *own == name) {
        return assigned(words, at);
    }
    let path = [words.get(at + 2), words.get(at + 4)].map(|word| word.and_then(|word| word.name()));
    let [Some("prototype"), Some(member)] = path else { return false };
    assigned(words, at) && kept.code.contains(&format!(".{member}("))
}

/// Returns true if code changes what one of these names stands for: `T[x] = 1`, `T.a = 1`, `T.append(1)`.
fn changes(words: &[&Word], is_it: impl Fn(&str) -> bool) -> bool {
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    let fills = |at: usize| {
        let (end, _) = path(words, at);
        // The method is the last name of the path.
        let method = words.get(end - 1).and_then(|word| word.name());
        end > at + 1 && is(end, '(') && method.is_some_and(|method| FILLS.contains(&method))
    };
    let is_own = |at: usize| words[at].name().is_some_and(&is_it) && !(at > 0 && words[at - 1].is('.'));
    (0..words.len()).any(|at| is_own(at) && (assigned(words, at) || fills(at)))
}

/// Returns true if a member or an element of the name at `at` is set: `T[x] = 1`.
fn assigned(words: &[&Word], at: usize) -> bool {
    let (end, is_part) = path(words, at);
    is_part && sets(words, end)
}

/// Returns true if the words at `end` set what stands before them: `= 1`, `+= 1`, and not `== 1` or `=> 1`.
fn sets(words: &[&Word], end: usize) -> bool {
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    let sign = end + usize::from(!is(end, '=') && is(end + 1, '='));
    let is_compared = is(sign + 1, '=') || is(sign + 1, '>') || ['!', '<', '>'].iter().any(|mark| is(end, *mark));
    is(sign, '=') && !is_compared
}

/// The end of the members and elements behind the name at `at`, and true if there are some.
fn path(words: &[&Word], at: usize) -> (usize, bool) {
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    let mut end = at + 1;
    loop {
        if is(end, '.') && words.get(end + 1).is_some_and(|word| word.name().is_some()) {
            end += 2;
        } else if is(end, '[') {
            let mut depth = 0_usize;
            let closed = words[end..].iter().position(|word| {
                depth += usize::from(word.is('['));
                depth -= usize::from(word.is(']'));
                depth == 0
            });
            let Some(length) = closed else { return (end, false) };
            end += length + 1;
        } else {
            return (end, end > at + 1);
        }
    }
}
