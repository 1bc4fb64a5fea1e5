//! Pieces of a file that an answer repeats with more in them: a type with another field, a constructor with
//! another line.

use std::collections::HashSet;
use std::ops::Range;

use super::around::Around;
use super::owned;
use super::pieces::{Part, Piece};
use crate::code::outline::{Item, ItemKind, outline};
use crate::code::uses::Uses;
use crate::code::words::{Word, names, words};
use crate::code::{rules, text, without_comments};
use crate::language::Language;

/// Words in front of a parameter of a constructor that make it a field.
const FIELD: &[&str] = &["private", "protected", "public", "readonly"];

/// Names of constructors.
pub(super) const CONSTRUCTORS: &[&str] = &["__init__", "constructor"];

/// A piece of a file with more in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::code) struct Grown {
    /// Its bytes in the file, and its indentation there.
    pub range: Range<usize>,
    pub indent: String,
    /// Its new text, with the indentation of a member or of a helper.
    pub text: String,
    pub is_member: bool,
    kind: Kind,
    /// Its new words.
    added: Vec<Word>,
    /// True if the function is in it.
    is_own_type: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A type, or a constant.
    Type,
    /// A function, or an `impl`, with words that it did not have.
    Function,
    /// One that is another.
    Rewritten,
}

/// The names that types of a file get.
#[derive(Default)]
pub(super) struct Fresh {
    types: HashSet<String>,
    names: HashSet<String>,
}

impl Around<'_> {
    /// The piece of the file that a piece repeats with more in it, or a function of the file that it is another
    /// text of. The function that is asked for is in neither.
    pub(super) fn grown(&self, piece: &Piece) -> Option<Grown> {
        let item = self.repeated(piece)?;
        let mut range = item.range.clone();
        let whole = &self.known[range.clone()];
        let first = |text: &str| text.len() - text.trim_start().len();
        let own = text::white(&piece.text, first(&piece.text));
        let old = (rules::of(self.language).placed)(whole, own, "");
        let is_function = item.kind == ItemKind::Function || !piece.of.owner.is_empty();
        let kind = if is_function { Kind::Function } else { Kind::Type };
        let by_words = || {
            let added = new_words(self.language, &old, &piece.text).filter(|_| is_function);
            added.map(|added| (commented(self.language, &old, &piece.text), added, kind))
        };
        // A class of Python begins with its fields. An answer may leave its methods out.
        let fields = || {
            let is_class = self.language == Language::Python && item.kind == ItemKind::Scope;
            let (own, new) = (fields_of(self.language, &old), fields_of(self.language, &piece.text));
            let (text, added) = grown(self.language, &old[..own], &piece.text[..new]).filter(|_| is_class)?;
            let end = fields_of(self.language, whole);
            Some((end, text, added))
        };
        let rewritten = || {
            let has = words(self.language, &old);
            let added = words(self.language, &piece.text).into_iter().filter(|word| !has.contains(word)).collect();
            is_function.then(|| (commented(self.language, &old, &piece.text), added, Kind::Rewritten))
        };
        let by_lines = grown(self.language, &old, &piece.text).map(|(text, added)| (text, added, kind));
        let in_front = || {
            let (end, text, added) = fields()?;
            range.end = range.start + end;
            Some((text, added, kind))
        };
        let (text, added, kind) = by_lines.or_else(by_words).or_else(in_front).or_else(rewritten)?;
        let indent = text::white(whole, first(whole)).to_owned();
        let is_own_type = self.owners().iter().any(|owner| piece.names.contains(owner));
        let is_member = piece.part == Part::Member;
        Some(Grown { range, indent, text, is_member, kind, added, is_own_type })
    }

    /// The piece of the file that has the names of a piece, or is an `impl` of the same trait.
    pub(super) fn repeated(&self, piece: &Piece) -> Option<&Item> {
        if piece.part == Part::Import || piece.of.is_field {
            return None;
        }
        let items = self.items();
        let is_around = |item: &Item| item.range.contains(&self.at);
        let is_beside = |item: &Item| match item.parent {
            Some(parent) => is_around(&items[parent]),
            None => piece.part != Part::Member,
        };
        let is_named = |item: &Item| !item.names.is_empty() && item.names.iter().all(|name| piece.names.contains(name));
        let is_it = |item: &&Item| {
            let is_same = if piece.of.owner.is_empty() {
                is_named(item)
            } else {
                let of = || owned::owner(self.language, item);
                let is_method = self.language == Language::Go && is_named(item);
                (is_method || !piece.of.implements.is_empty())
                    && of().is_some_and(|of| of == (piece.of.owner.clone(), piece.of.implements.clone()))
            };
            is_same && is_beside(item) && !is_around(item) && item.kind != ItemKind::Import
        };
        items.iter().find(is_it)
    }

    /// The names of the types that the function is a member of.
    pub(super) fn owners(&self) -> Vec<String> {
        let around = self.items().iter().filter(|item| item.range.contains(&self.at));
        let owner = |item: &Item| {
            owned::owner(self.language, item).map_or_else(|| item.names.clone(), |(owner, _)| vec![owner])
        };
        around.flat_map(owner).collect()
    }

    /// Returns true if code needs what is new in a piece: it names that, or the piece names what is new in
    /// another one.
    pub(super) fn needs(&self, grown: &Grown, (code, used): (&str, &Uses), fresh: &Fresh) -> bool {
        let builtins = rules::of(self.language).known.builtins;
        let is_new = |name: &str| !self.mentions(name) && !builtins.contains(&name);
        let is_used = |name: &str| used.has(name) || used.own.contains(name) || used.keys.contains(name);
        let is_said = |text: &str| ['\'', '"'].iter().any(|quote| code.contains(&format!("{quote}{text}{quote}")));
        let is_fresh = |word: &Word| word.name().is_some_and(|name| fresh.names.contains(name));
        let follows = || grown.added.iter().any(is_fresh);
        match grown.kind {
            Kind::Type => {
                // A pattern may bind it.
                let named = names(self.language, code);
                grown.added.iter().any(|word| match word {
                    Word::Name(name) if grown.is_own_type && used.own.contains(name) => true,
                    Word::Name(name) => is_new(name) && (named.contains(name) || is_said(name)),
                    Word::Text(text) => !text.is_empty() && is_new(text) && is_said(text),
                    Word::Mark(_) | Word::End => false,
                })
            }
            Kind::Function => grown.fields().iter().any(|name| is_new(name) && is_used(name)) || follows(),
            // A function that makes the type, or the methods of a trait.
            Kind::Rewritten => {
                let is_type = |name: &str| name == "Self" || fresh.types.contains(name);
                let words = words(self.language, &grown.text);
                let makes = |pair: &[Word]| pair[0].name().is_some_and(is_type) && pair[1].is('{');
                let is_impl =
                    self.language == Language::Rust && grown.text.lines().any(|line| line.starts_with("impl"));
                let is_constructor = || words.iter().filter_map(Word::name).any(|name| CONSTRUCTORS.contains(&name));
                follows() && (is_impl || words.windows(2).any(makes) || is_constructor())
            }
        }
    }
}

impl Fresh {
    /// Adds what a type gets.
    pub fn add(&mut self, grown: &Grown, names: &[String]) {
        if grown.kind == Kind::Type {
            self.types.extend(names.iter().cloned());
            self.names.extend(grown.added.iter().filter_map(Word::name).map(str::to_owned));
        } else {
            self.names.extend(grown.fields());
        }
    }
}

impl Grown {
    /// The fields in the new words of a function: members of the object itself, and parameters that are fields.
    fn fields(&self) -> Vec<String> {
        fields(&self.added)
    }
}

/// The names of fields that the words of a constructor set.
pub(super) fn fields(words: &[Word]) -> Vec<String> {
    let is_field = |at: usize| {
        let before = |n: usize| at.checked_sub(n).map(|at| &words[at]);
        let is_of_this = before(1).is_some_and(|word| word.is('.'))
            && before(2).and_then(Word::name).is_some_and(|name| ["self", "this"].contains(&name));
        is_of_this || before(1).and_then(Word::name).is_some_and(|word| FIELD.contains(&word))
    };
    let names = (0..words.len()).filter(|&at| is_field(at)).filter_map(|at| words[at].name());
    names.filter(|name| !FIELD.contains(name)).map(str::to_owned).collect()
}

/// The new text of a piece, with the comments above the old one, if there are any.
fn commented(language: Language, old: &str, new: &str) -> String {
    let above = |text: &str| {
        let code = without_comments(language, text);
        text::line_start(text, code.len() - code.trim_start().len())
    };
    let own = above(old);
    if own > 0 { [&old[..own], &new[above(new)..]].concat() } else { new.to_owned() }
}

/// The bytes of a class in front of its first function.
fn fields_of(language: Language, class: &str) -> usize {
    let items = outline(language, class);
    let function = items.iter().find(|item| item.kind == ItemKind::Function);
    function.map_or(class.len(), |function| function.range.start)
}

/// The words that `new` has in addition to those of `old`, which has no comments. `None` if it lacks one.
fn new_words(language: Language, old: &str, new: &str) -> Option<Vec<Word>> {
    let read = |text: &str| {
        let mut words = words(language, text);
        words.retain(|word| *word != Word::End && !word.is(',') && !word.is(';'));
        words
    };
    let (added, has_all) = in_addition(&read(old), &read(new));
    (has_all && !added.is_empty() && without_comments(language, old) == old).then_some(added)
}

/// The words of `new` between those of `old`, and true if all of these are there.
fn in_addition(old: &[Word], new: &[Word]) -> (Vec<Word>, bool) {
    let mut rest = old.iter().peekable();
    let added = new.iter().filter(|&word| rest.next_if(|&old| old == word).is_none()).cloned().collect();
    (added, rest.peek().is_none())
}

/// The text of a piece with the lines that `new`, the same piece in an answer, has in addition, and the words
/// of these lines. `None` if `new` lacks a line, changes one other than by words in between, or adds none.
fn grown(language: Language, old: &str, new: &str) -> Option<(String, Vec<Word>)> {
    let (old_code, new_code) = (without_comments(language, old), without_comments(language, new));
    let read = |(text, code): (_, _)| -> Vec<Line<'_>> {
        str::lines(text).zip(str::lines(code)).map(|(text, code)| Line::read(language, text, code)).collect()
    };
    let (own, new) = (read((old, &old_code)), read((new, &new_code)));
    let is_new = |line: &Line| !line.words.is_empty() || own.iter().all(|own| own.text.trim() != line.text.trim());
    let (mut out, mut added, mut held) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    let mut rest = new.iter().filter(|line| line.text.trim().is_empty() || is_new(line));
    for line in &own {
        if line.words.is_empty() {
            held.push(line.text);
            // A docstring is the first statement.
            if line.is_docstring {
                out.append(&mut held);
            }
            continue;
        }
        let mut between = Vec::new();
        let same = loop {
            let next = rest.next()?;
            if next.continues(line) {
                break next;
            }
            between.push(next);
        };
        let is_blank = |text: &str| text.trim().is_empty();
        let lines = with_code(&between, &mut added);
        // A blank line of both stands in front of what is new.
        let blanks = lines.iter().take_while(|line| is_blank(line)).count();
        going_on(&mut out, last, &between);
        let (before, lines) = lines.split_at(if held.iter().any(|line| is_blank(line)) { blanks } else { 0 });
        if before.is_empty() {
            out.extend(lines);
            out.append(&mut held);
        } else {
            out.append(&mut held);
            out.extend(lines);
        }
        let is_wider = same.is_wider(line);
        added.extend(Some(same).filter(|_| is_wider).map(|same| in_addition(&line.words, &same.words).0));
        out.push(if is_wider || same.is_spaced(line) { same.text } else { line.text });
        last = Some(same);
    }
    let behind: Vec<&Line<'_>> = rest.collect();
    going_on(&mut out, last, &behind);
    out.extend(with_code(&behind, &mut added));
    out.append(&mut held);
    let text = out.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    (!added.is_empty()).then(|| (text, added.concat()))
}

/// Takes the line of the answer, without its semicolon, where a new line goes on with it.
fn going_on<'t>(out: &mut [&'t str], last: Option<&Line<'t>>, lines: &[&Line<'t>]) {
    let goes_on = |line: &&&Line<'_>| matches!(line.words.first(), Some(Word::Mark('|' | '&' | '.' | '+')));
    let (Some(own), Some(last)) = (out.last_mut(), last) else { return };
    if lines.iter().find(|line| !line.words.is_empty()).is_some_and(|line| goes_on(&line))
        && own.trim_end().strip_suffix(';') == Some(last.text.trim_end())
    {
        *own = last.text;
    }
}

/// The lines without the comments behind the last line of code, and without the docstring in front.
fn with_code<'t>(lines: &[&Line<'t>], added: &mut Vec<Vec<Word>>) -> Vec<&'t str> {
    let code = lines.iter().rposition(|line| !line.words.is_empty()).map_or(0, |last| last + 1);
    let begin = lines[..code].iter().rposition(|line| line.is_docstring).map_or(0, |at| at + 1);
    let begin = if lines[..begin].iter().all(|line| line.words.is_empty()) { begin } else { 0 };
    let lines = &lines[begin..code];
    added.extend(lines.iter().map(|line| line.words.clone()));
    lines.iter().map(|line| line.text).collect()
}

/// How often a mark is among words.
fn count(words: &[Word], mark: char) -> usize {
    words.iter().filter(|word| word.is(mark)).count()
}

struct Line<'t> {
    text: &'t str,
    /// Without a comma or semicolon at its end.
    words: Vec<Word>,
    /// It holds a part of a docstring of Python, and nothing else.
    is_docstring: bool,
}

impl<'t> Line<'t> {
    fn read(language: Language, text: &'t str, code: &str) -> Self {
        let mut words = words(language, code);
        words.retain(|word| *word != Word::End);
        words.pop_if(|word| word.is(',') || word.is(';'));
        let is_python = language == Language::Python;
        let is_docstring = is_python && words.is_empty() && !text.trim().is_empty() && !text.trim().starts_with('#');
        Self { text, words, is_docstring }
    }

    /// Returns true if it has all words of `old` in their order, and its braces and indentation.
    fn continues(&self, old: &Line<'_>) -> bool {
        let (_, has_all) = in_addition(&old.words, &self.words);
        let is_inside = |mark: char| count(&self.words, mark) == count(&old.words, mark);
        let white = |line: &Line<'_>| line.text.len() - line.text.trim_start().len();
        has_all && is_inside('{') && is_inside('}') && self.text[..white(self)] == old.text[..white(old)]
    }

    /// Returns true if it is `old` with more parts of a list, and not with another form of one.
    fn is_wider(&self, old: &Line<'_>) -> bool {
        let is_empty = |pair: &[Word]| pair[0].is('{') && pair[1].is('}') || pair[0].is('[') && pair[1].is(']');
        self.words != old.words
            && (count(&self.words, ',') > count(&old.words, ',') || old.words.windows(2).any(is_empty))
    }

    /// Returns true if it differs from `old` in white space and in a comma at its end only.
    fn is_spaced(&self, old: &Line<'_>) -> bool {
        let flat = |text: &str| text.split_whitespace().collect::<String>().trim_end_matches(',').to_owned();
        flat(self.text) == flat(old.text)
    }
}
