//! Finds the requested function in the answer of a chat model.
//!
//! The answer may hold anything around it: prose, the model's thoughts, several blocks of code, a whole file.
//! The result is the text that a model that continues the prompt would have written: the inside of the
//! function, and behind it what the function needs and its file does not have: imports, helper functions,
//! constants and types of the answer.

mod blocks;
mod patched;
mod unnamed;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use blocks::{Block, blocks, fence};
use patched::{is_patch, patched};

use super::edit::around::{Around, Read};
use super::outline::{ItemKind, outline};
use super::pairs;
use super::rules::{self, Function};
use super::target::last_name;
use super::words::ends_in_string;
use super::{Target, text};
use crate::channels::{self, Parts};
use crate::language::Language;

/// Most lines of an answer without code blocks at which the function may begin.
const MOST_LINES: usize = 20;

/// The requested function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedFunction {
    /// Language of the code.
    pub language: Language,
    /// Dotted name.
    pub name: String,
    /// Indentation of its head.
    pub outer: String,
    /// Required indentation of its body.
    pub inner: String,
    /// Lines in front of the extracted text.
    pub typed: String,
    /// The text that it stands in.
    pub known: String,
    /// The byte at which it begins there.
    pub at: usize,
    /// Its file.
    pub path: Option<PathBuf>,
    /// The text from its head to the extracted text, whole lines. Empty if an answer cannot begin with it.
    pub head: String,
    /// Tells it from others of its name, see `code::pairs`.
    pub kind: String,
}

/// Body of the function, as far as an answer has it.
#[derive(Default)]
struct ExtractedBody {
    text: String,
    /// True if it is complete.
    ended: bool,
    /// True if it is more than a placeholder.
    finished: bool,
    /// True if it is that of the function's name, and not of the only function there.
    named: bool,
    /// How its dotted name compares to that of the function.
    fit: Fit,
    /// Names that it needs and that are not there yet, and its text without what comes with it.
    lacks: Vec<String>,
    alone: String,
}

/// How the dotted name of a function compares to the requested one. Their last parts are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It is in another class.
    Other,
    /// It is in none.
    #[default]
    Bare,
    Exact,
}

impl RequestedFunction {
    /// The part of the function's body that is certain in an answer so far, and true if that is all of it.
    /// `over` means that the answer is complete.
    pub fn read(&self, answer: &str, over: bool) -> (String, bool) {
        let answer = if over { answer } else { &answer[..answer.rfind('\n').map_or(0, |at| at + 1)] };
        let (answer, _) = text::decode_str(answer);
        let Some(said) = said(&answer, over) else { return (String::new(), false) };
        let blocks = self.blocks(said, over);
        if blocks.is_empty() {
            return self.without_blocks(said, over);
        }
        // Used if no block has the function: one of another name, or code that may be its inside.
        let (mut other, mut spare): (Option<(ExtractedBody, usize)>, Option<String>) = (None, None);
        for (at, block) in blocks.iter().enumerate() {
            let whole = over || block.closed;
            match self.function(&block.text, whole) {
                Some(found) if found.finished && found.named && (!whole || found.fit > Fit::Other) => {
                    return self.with_others(found, at, &blocks, over);
                }
                Some(found) if whole && found.finished => {
                    let is_better = other.as_ref().is_none_or(|(other, _)| found.named && !other.named);
                    other = if is_better { Some((found, at)) } else { other };
                }
                Some(found) if whole => spare = spare.or(Some(found.text)),
                // Its head is there, but too little of it to find the body.
                Some(_) => return (String::new(), false),
                None if !self.speaks(block) => {}
                None if begins_indented(&block.text) => return (self.body(&block.text), block.closed),
                None if whole => spare = spare.or_else(|| Some(self.body(&block.text))),
                None => {}
            }
        }
        match other.filter(|_| over) {
            Some((other, at)) if other.named => self.with_others(other, at, &blocks, over),
            Some((other, _)) => (other.text, true),
            None => (spare.filter(|_| over).unwrap_or_default(), false),
        }
    }

    /// The function that a block holds, with what it needs of the other blocks.
    fn with_others(&self, found: ExtractedBody, at: usize, blocks: &[Block<'_>], over: bool) -> (String, bool) {
        let block = &blocks[at];
        let found = self.with_earlier(found, at, blocks, over);
        let ended = found.ended || block.closed;
        if !ended && !over || found.lacks.is_empty() {
            return (found.text, ended);
        }
        let others = blocks.iter().enumerate().filter(|(other, block)| *other != at && self.speaks(block));
        let others = others.filter(|(_, block)| over || block.closed).map(|(_, block)| &*block.text);
        let all = self.in_one(std::iter::once(&*block.text).chain(others));
        match self.function(&all, true) {
            Some(whole) if over || whole.lacks.is_empty() => (whole.text, true),
            // Another block may follow.
            _ => (found.alone, false),
        }
    }

    /// The function with what it needs of the blocks before. A block that repeats a piece of the function's own
    /// is an earlier version.
    fn with_earlier(&self, found: ExtractedBody, at: usize, blocks: &[Block<'_>], over: bool) -> ExtractedBody {
        let block = &blocks[at];
        if at == 0 || !(found.ended || block.closed || over) {
            return found;
        }
        let names = |text: &str| -> HashSet<String> {
            let items = outline(self.language, text).into_iter().filter(|item| item.kind != ItemKind::Import);
            items.flat_map(|item| item.names).collect()
        };
        let own = names(&block.text);
        let is_step = |block: &&Block<'_>| self.speaks(block) && names(&block.text).is_disjoint(&own);
        let earlier: Vec<&str> = blocks[..at].iter().filter(is_step).map(|block| &*block.text).collect();
        if earlier.is_empty() {
            return found;
        }
        let all = self.in_one(earlier.into_iter().chain([&*block.text]));
        match self.function(&all, over || block.closed) {
            Some(whole) if whole.alone == found.alone && whole.finished => whole,
            _ => found,
        }
    }

    /// Blocks of code as one.
    fn in_one<'b>(&self, blocks: impl Iterator<Item = &'b str>) -> String {
        let at_border = |text: &str| (rules::of(self.language).placed)(text, "", "");
        let blocks: Vec<String> = blocks.map(|text| at_border(text).trim_end().to_owned()).collect();
        blocks.join("\n\n") + "\n"
    }

    /// Tells by its beginning whether a model that was to go on with the function has answered instead: it
    /// opens a block of code, or repeats the function's head. `None` while that is open.
    pub fn is_answered(&self, text: &str) -> Option<bool> {
        let line = text.trim_start_matches('\n').trim_start_matches('\r');
        let white = text::white(line, 0);
        let code = &line[white.len()..];
        let opens = |mark: &str| code.starts_with(mark) || mark.starts_with(code);
        if code.is_empty() || ["```", "~~~"].iter().any(|mark| opens(mark) && code.len() < mark.len()) {
            return None;
        }
        if opens("```") || opens("~~~") {
            return Some(true);
        }
        let name = last_name(&self.name);
        let is_outside = text::width(white) <= text::width(&self.outer);
        let call = format!("{name}(");
        let mut heads = self.head.lines().map(str::trim).filter(|_| is_outside && !name.is_empty());
        let begin = heads.find_map(|line| Some(&line[..line.find(&call)? + call.len()]));
        let Some(begin) = begin else { return Some(false) };
        if code.starts_with(begin) {
            return Some(true);
        }
        if begin.starts_with(code) { None } else { Some(false) }
    }

    /// The function in an answer without code blocks.
    fn without_blocks(&self, said: &str, over: bool) -> (String, bool) {
        let name = last_name(&self.name);
        let lines = said.match_indices(name).filter(|_| !name.is_empty()).map(|(at, _)| text::line_start(said, at));
        // Prose in front may be read as code that never ends.
        let begins = std::iter::once(0).chain(lines.take(MOST_LINES));
        let found: Vec<ExtractedBody> = begins.filter_map(|line| self.function(&said[line..], over)).collect();
        // The first of equal ones.
        let found = found.into_iter().rev().max_by_key(|found| (found.finished, found.named, found.fit));
        match found {
            Some(found) if found.finished => (found.text, found.ended),
            Some(found) => (if over { found.text } else { String::new() }, false),
            None if over || begins_indented(said) => (self.body(said), false),
            None => (String::new(), false),
        }
    }

    /// The function, if a block of code holds it. `whole` means that the block is complete.
    fn function(&self, code: &str, whole: bool) -> Option<ExtractedBody> {
        let code = &*self.at_border(code);
        let functions = (rules::of(self.language).functions)(code);
        let named = self.with_name(code, &functions);
        let (code, functions) = named.as_ref().map_or((code, functions), |code| {
            let functions = (rules::of(self.language).functions)(code);
            (code, functions)
        });
        if functions.iter().any(|f| last_name(&f.name) == last_name(&self.name)) {
            return self.of_functions(code, &functions, whole);
        }
        let Some(class) = self.in_class(code) else { return self.of_functions(code, &functions, whole) };
        if whole {
            return self.of_functions(&class, &(rules::of(self.language).functions)(&class), whole);
        }
        Some(ExtractedBody { named: true, ..ExtractedBody::default() })
    }

    /// The function among those of a block of code.
    fn of_functions(&self, code: &str, functions: &[Function], whole: bool) -> Option<ExtractedBody> {
        let rules = rules::of(self.language);
        let is_kind = |f: &&Function| {
            let kind = pairs::kind(self.language, code, f);
            self.kind.is_empty() || kind.is_empty() || kind == self.kind
        };
        let fits = |f: &&Function| last_name(&f.name) == last_name(&self.name) && is_kind(f);
        let worth = |f: &&Function| (f.finished, !f.declaration, self.fit(&f.name));
        // The first of equal ones.
        let named = functions.iter().rev().filter(fits).max_by_key(worth);
        let this = named.or_else(|| functions.first().filter(|f| whole && is_all(code, f)))?;
        let named = named.is_some();
        let fit = self.fit(&this.name);
        let line = text::line_start(code, this.range.start);
        let white = text::white(&code[line..], 0);
        let on_line_of_head = !code[..this.body.start].ends_with('\n');
        let (body, mut ended) = if this.lead.contains('{') {
            (format!("return {};\n", code[this.body.clone()].trim()), whole)
        } else if on_line_of_head && rules.lexicon.is_none() {
            (format!("{}\n", code[this.body.clone()].trim()), whole)
        } else {
            let rest = &code[this.body.start..];
            let rest = rest.strip_prefix('\n').unwrap_or(rest);
            let end = (rules.function_end)(this.indent, rest);
            (rest[..end.unwrap_or(rest.len())].to_owned(), end.is_some())
        };
        let body = (rules.reindent)(&body, white, &self.outer, &self.inner);
        let head = &code[line..this.docstring.as_ref().map_or(this.body.start, |doc| doc.start.min(this.body.start))];
        let body = self.under_own_head(head, body, whole || ended);
        // Another function of this name may follow.
        if !whole && fit < Fit::Exact {
            return Some(ExtractedBody { finished: this.finished, named, fit, ..ExtractedBody::default() });
        }
        let (mut text, mut alone, mut lacks) = (String::new(), String::new(), Vec::new());
        if let Some(rest) = self.without_typed(&body).map(|rest| self.without_comments(rest)) {
            let around = self.around();
            let inside = around.inside((head, &body), code, this.body.start);
            let in_front = (rules.placed)(&inside.text, &self.inner, "");
            let body = [&in_front, &body[..]].concat();
            // Of a text that may get lines in front nothing is certain.
            let is_certain = whole || ended || !inside.may_grow;
            text = if is_certain { [&in_front, rest].concat() } else { String::new() };
            alone.clone_from(&text);
            if whole || ended {
                let mut beside = around.around(&body, code, this.body.start, !whole);
                // The last piece may be one that the body needs, in the middle.
                let is_amid = !whole && beside != around.around(&body, code, this.body.start, false);
                beside.imports.extend(inside.imports);
                lacks = around.undefined(&body, &beside);
                // Another block may have a type, or a function that is given to a call.
                lacks.extend(around.lacking((head, &body), &beside));
                ended = ended && (whole || around.is_all_known((head, &body), &beside) && !is_amid);
                if (whole || ended) && !beside.is_empty() {
                    text = around.joined(&text, &beside);
                }
            }
        } else {
            // All of it so far may repeat the lines that stand there already.
            ended &= whole;
        }
        Some(ExtractedBody { text, ended, finished: this.finished, named, fit, lacks, alone })
    }

    /// How the dotted name of a function compares to that of this one.
    fn fit(&self, name: &str) -> Fit {
        let ends = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
        if name == self.name || name.contains('.') && ends(&self.name, name) {
            return Fit::Exact;
        }
        if name.contains('.') { Fit::Other } else { Fit::Bare }
    }

    /// The code with its first line at the left border, where methods of Rust stand without their type.
    fn at_border<'c>(&self, code: &'c str) -> Cow<'c, str> {
        let first = code.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let white = text::white(first, 0);
        let is_inside = |line: &str| line.trim().is_empty() || line.starts_with(white);
        let moves = self.language == Language::Rust && !white.is_empty() && code.lines().all(is_inside);
        if moves { Cow::Owned((rules::of(self.language).placed)(code, "", "")) } else { Cow::Borrowed(code) }
    }

    /// The code with its methods in a class, if the function is a method that stands there without one.
    fn in_class(&self, code: &str) -> Option<String> {
        let class = self.name.rsplit('.').nth(1).filter(|_| self.language.is_kin(Language::JavaScript))?;
        let name = last_name(&self.name);
        let lines = || {
            let begin = |line: &str| line.as_ptr() as usize - code.as_ptr() as usize;
            code.split_inclusive('\n').map(move |line| (begin(line), line))
        };
        let (_, own) = lines().find(|(_, line)| method_name(line) == Some(name.trim_start_matches('#')))?;
        let white = text::white(own, 0);
        let is_at_border = |line: &str| !line.trim().is_empty() && text::white(line, 0) == white;
        let (from, _) = lines().find(|(_, line)| is_at_border(line) && method_name(line).is_some())?;
        let goes_on =
            |line: &str| line.trim_start().starts_with(['}', ')', '/', '*', '@']) || method_name(line).is_some();
        let is_statement = |line: &str| text::white(line, 0).len() <= white.len() && !goes_on(line);
        let mut behind = lines().filter(|(at, line)| *at > from && !line.trim().is_empty());
        let to = behind.find(|(_, line)| is_statement(line)).map_or(code.len(), |(at, _)| at);
        let end = if code[..to].ends_with('\n') { "" } else { "\n" };
        Some([&code[..from], "class ", class, " {\n", &code[from..to], end, "}\n", &code[to..]].concat())
    }

    /// One step of indentation.
    pub(super) fn unit(&self) -> &str {
        self.inner.strip_prefix(&self.outer).unwrap_or_default()
    }

    /// The function's place in its file.
    fn around(&self) -> Around<'_> {
        Around {
            language: self.language,
            name: last_name(&self.name),
            outer: &self.outer,
            unit: self.unit(),
            known: &self.known,
            at: self.at,
            path: self.path.as_deref(),
            head: &self.head,
            read: Read::default(),
        }
    }

    /// Code that is the inside of the function, with its indentation.
    fn body(&self, code: &str) -> String {
        let rules = rules::of(self.language);
        let code = code.trim_start_matches('\n');
        let white = text::white(code, 0);
        let end = (!white.is_empty() || rules.lexicon.is_some())
            .then(|| (rules.function_end)(white.len().saturating_sub(1), code))
            .flatten();
        let code = &code[..end.unwrap_or(code.len())];
        let own = if white.len() > self.outer.len() && white.starts_with(&self.outer) { &*self.outer } else { "" };
        let body = (rules.reindent)(code, own, &self.outer, &self.inner);
        self.without_typed(&body).unwrap_or_default().to_owned()
    }

    /// The text after the lines that stand in front already. `None` if there are only those.
    fn without_typed<'t>(&self, body: &'t str) -> Option<&'t str> {
        // A model that repeats a line may leave out the comment behind it.
        let mark = self.language.line_comment();
        let code = |line: &str| match (rules::of(self.language).normalise)(line.trim()) {
            // A brace alone closes what is not there.
            code if code.is_empty() && !line.trim().starts_with(mark) => line.trim().to_owned(),
            code => code,
        };
        let mut typed = self.typed.lines().map(code).filter(|line| !line.is_empty());
        let mut next = typed.next();
        let mut at = 0;
        for line in body.split_inclusive('\n') {
            let Some(wanted) = &next else { return Some(&body[at..]) };
            let own = code(line);
            if !own.is_empty() {
                if own != *wanted {
                    return Some(body);
                }
                next = typed.next();
            }
            at += line.len();
        }
        if next.is_none() { Some(&body[at..]) } else { None }
    }

    /// A body without the comments that stand in the file right above it.
    fn without_comments<'t>(&self, body: &'t str) -> &'t str {
        let mark = self.language.line_comment();
        let mut kept: Vec<&str> = self.head.lines().rev().map(str::trim).take_while(|l| l.starts_with(mark)).collect();
        kept.reverse();
        let same = body.split_inclusive('\n').zip(&kept).take_while(|(line, kept)| line.trim() == **kept);
        let same: Vec<usize> = same.map(|(line, _)| line.len()).collect();
        let end = same.iter().sum::<usize>();
        // Of a body that goes on the next line may be another one of them.
        if same.len() == kept.len() || end == body.len() { &body[end..] } else { body }
    }

    /// The code blocks of an answer. A fence in a string of the code, such as a docstring, does not close it.
    fn blocks<'a>(&self, said: &'a str, over: bool) -> Vec<Block<'a>> {
        let is_inside = |block: &Block<'_>| self.speaks(block) && ends_in_string(self.language, &block.text);
        let mut found = blocks(said, &is_inside);
        // A quote that is never closed is a mistake of the answer, and its fence is one. Blocks before it
        // stay.
        if let Some(open) = found.pop_if(|block| over && !block.closed) {
            found.extend(blocks(&said[open.start..], &|_| false));
        }
        for block in found.iter_mut().filter(|block| is_patch(block)) {
            block.info = "";
            let is_whole = over || block.closed;
            let text = if is_whole { patched(&self.known, self.path.as_deref(), &block.text) } else { String::new() };
            block.text = text.into();
        }
        found
    }

    /// Returns true if a block can hold the function's inside.
    fn speaks(&self, block: &Block<'_>) -> bool {
        let word = block.language();
        word.is_empty() || word.starts_with(self.language.name()) || self.language.extensions().contains(&word.as_str())
    }
}

impl Target {
    /// The function to look for in an answer.
    pub fn requested(&self) -> RequestedFunction {
        let outer = text::white(&self.text, self.function.start).to_owned();
        let inner = self.body_indent.clone().unwrap_or_else(|| format!("{outer}    "));
        let (typed, known, path) = (self.kept().to_owned(), self.text.clone(), self.path.clone());
        let (head, language, name) = (self.stub(), self.language, self.name.clone());
        let around = self.around.last().map_or("", |around| &self.text[around.clone()]);
        let own = &self.text[self.function.start..self.body.start.max(self.function.start)];
        let kind = pairs::kind_of(language, last_name(&name), around, own);
        RequestedFunction { language, name, outer, inner, typed, known, at: self.function.start, path, head, kind }
    }
}

/// The parts of an answer that are no code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    /// Bytes of the model's thoughts; empty if it has none.
    pub thoughts: Vec<Range<usize>>,
    /// The thoughts go on.
    pub thinks: bool,
    /// Bytes of the text before the first block of code.
    pub said: Range<usize>,
}

/// The parts of an answer so far that are no code.
pub fn prose(answer: &str) -> Prose {
    let Parts { thoughts, answer: said } = channels::parts_by_ends(answer, false);
    let Some(said) = said else { return Prose { thoughts, thinks: true, said: answer.len()..answer.len() } };
    let lines = answer[said.clone()].split_inclusive('\n');
    let before = lines.take_while(|line| fence(&line[text::white(line, 0).len()..]).0.is_empty());
    let to = said.start + before.map(str::len).sum::<usize>();
    Prose { thoughts, thinks: false, said: said.start..to }
}

/// The answer without the model's thoughts. `None` while there is nothing else.
fn said(answer: &str, over: bool) -> Option<&str> {
    channels::parts_by_ends(answer, over).answer.map(|range| &answer[range])
}

/// Returns true if the code holds only this function. It can then be the requested one under another name.
fn is_all(code: &str, this: &Function) -> bool {
    this.indent == 0
        && code[this.range.end..].trim().is_empty()
        && code[..this.range.start].lines().all(|line| !line.starts_with([' ', '\t']))
}

/// Returns true if the first line that is not blank is indented, like the inside of a function.
fn begins_indented(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with([' ', '\t']))
}

/// The name of the method that begins on a line of a class in JavaScript.
fn method_name(line: &str) -> Option<&str> {
    const WORDS: &[&str] =
        &["abstract", "async", "get", "override", "private", "protected", "public", "readonly", "set", "static"];
    let mut rest = line.trim().trim_start_matches('*');
    while let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| WORDS.contains(word)) {
        rest = after.trim_start().trim_start_matches('*');
    }
    let rest = rest.trim_start_matches('#');
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))?;
    let (name, after) = rest.split_at(end);
    let is_control = ["if", "for", "while", "switch", "catch", "with", "return", "function"].contains(&name);
    let is_head = after.starts_with(['(', '<']) && rest.ends_with(['{', '(', ',']) && !rest.contains("=> {");
    (!name.is_empty() && !is_control && is_head).then_some(name)
}
