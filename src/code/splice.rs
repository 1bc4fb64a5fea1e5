//! Puts a candidate in the place of a function's body.

use std::ops::Range;

use super::edit::{Edit, applied};
use super::target::last_name;
use super::{Target, placeholder, rules, syntax, text, trim_candidate, with_empty_lines};
use crate::language::Language;

impl Target {
    /// The new body: the lines under the stub and the model's text, trimmed to the function, in the
    /// indentation of the file, ending with one newline; empty if there is nothing.
    pub fn completion(&self, candidate: &str) -> String {
        let column = self.column(candidate);
        let trimmed = trim_candidate(self.language, column, &format!("{}{candidate}", self.kept()));
        let trimmed = with_empty_lines(self.language, &trimmed);
        let Some(want) = &self.body_indent else { return trimmed };
        let outer = self.outer();
        let own = if column < self.indent && !outer.contains('\t') { "" } else { outer };
        (rules::of(self.language).reindent)(&trimmed, own, outer, want)
    }

    /// The whole text with `candidate` in place of the body, and what comes with it in its places. `candidate`
    /// is the model's text after [`Target::prompt`].
    pub fn splice(&self, candidate: &str) -> String {
        applied(&self.text, &self.edits(candidate))
    }

    /// The whole text with a body of one statement, given without indentation.
    pub fn with_body(&self, statement: &str) -> String {
        let indent = self.body_indent.clone().unwrap_or_else(|| " ".repeat(self.indent + 4));
        self.splice(&format!("{indent}{statement}\n"))
    }

    /// Returns true if the model's text adds nothing to the function.
    pub(super) fn adds_nothing(&self, candidate: &str) -> bool {
        self.completion(candidate).trim_end() == self.completion("").trim_end()
    }

    /// [`Target::completion`] and what comes with it. Equal for candidates that make the same change.
    pub fn whole(&self, candidate: &str) -> String {
        self.completion(candidate) + &self.beside(candidate).text(last_name(&self.name))
    }

    /// Number of bytes to keep once a candidate has reached the end of the function. See
    /// [`super::function_end`].
    pub fn end_of(&self, candidate: &str) -> Option<usize> {
        let end = super::function_end(self.language, self.column(candidate), &format!("{}{candidate}", self.typed))?;
        Some(end.saturating_sub(self.typed.len()))
    }

    /// Returns true if the file has no syntax error, and has one with this candidate in it.
    pub fn breaks_off(&self, candidate: &str) -> bool {
        let is_whole = |text: &str| syntax::tree(self.language, text).is_some();
        // The grammar of Python takes a block of nothing.
        let opens = || self.language == Language::Python && self.completion(candidate).trim_end().ends_with(':');
        is_whole(&self.text) && (opens() || !is_whole(&self.splice(candidate)))
    }

    /// Columns that a candidate's lines are indented by more. Those of the function's head, unless the
    /// candidate begins no deeper: spaces below a head with tabs, or a method that is written like a function.
    pub(super) fn column(&self, candidate: &str) -> usize {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let first = candidate.lines().find(is_code).filter(|_| self.typed.is_empty());
        let Some(first) = first.filter(|_| rules::of(self.language).lexicon.is_none()) else { return self.indent };
        let column = text::width(text::white(first, 0));
        let begins_another = ["def ", "class ", "async ", "@"].iter().any(|word| first.trim_start().starts_with(word));
        if column == 0 || column > self.indent || begins_another { self.indent } else { column - 1 }
    }

    /// The bytes of the file with `candidate` in place of the body, and with the edited stub, in the file's
    /// line ends. All other bytes are unchanged.
    pub fn splice_bytes(&self, candidate: &str) -> Vec<u8> {
        let read = self.as_read();
        let mut edits = self.edits(candidate);
        let mut bytes = self.original.clone();
        if self.read.is_some() {
            // The stub was edited: what stands in it goes in with it.
            let (before, more): (Vec<Edit>, Vec<Edit>) = edits.into_iter().partition(|e| e.range.end <= read.stub);
            let (inside, behind): (Vec<Edit>, Vec<Edit>) =
                more.into_iter().partition(|e| e.range.start <= self.body.end);
            let spliced = applied(&self.text, &inside);
            let text = spliced[read.stub..spliced.len() - (self.text.len() - self.body.end)].to_owned();
            let moved = |Edit { range, text }| {
                let as_read = |at: usize| at - self.body.end + read.body.end;
                Edit { range: as_read(range.start)..as_read(range.end), text }
            };
            let own = Edit { range: read.stub..read.body.end, text };
            edits = before.into_iter().chain([own]).chain(behind.into_iter().map(moved)).collect();
        }
        for edit in edits.iter().rev() {
            bytes = text::replace(&bytes, &edit.range, &edit.text);
        }
        bytes
    }

    /// The bytes that a candidate replaces: the body, and the comments above it that ask for it.
    pub fn replaced(&self) -> Range<usize> {
        let start = placeholder::above(self.language.line_comment(), &self.text, self.body.start);
        let head = self.docstring.as_ref().map_or(self.function.start, |docstring| docstring.end);
        if start > head { start..self.body.end } else { self.body.clone() }
    }

    /// The text in front of a candidate: `lead`, which a comment that is replaced does not need.
    pub(super) fn lead(&self) -> &str {
        if self.replaced() == self.body { &self.lead } else { "" }
    }

    /// The text that replaces the body. A file that ended without a newline still does.
    pub(super) fn insertion(&self, candidate: &str) -> String {
        let mut insertion = format!("{}{}{}", self.lead(), self.completion(candidate), self.tail);
        if self.body.end == self.text.len() && !self.text.ends_with('\n') && insertion.ends_with('\n') {
            insertion.pop();
        }
        insertion
    }
}
