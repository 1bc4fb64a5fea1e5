//! Puts a candidate in the place of a function's body.

use super::{Target, rules, text, trim_candidate};

impl Target {
    /// The new body: the lines under the stub and the model's text, trimmed to the function, in the
    /// indentation of the file, ending with one newline; empty if there is nothing.
    pub fn completion(&self, candidate: &str) -> String {
        let trimmed = trim_candidate(self.language, self.indent, &format!("{}{candidate}", self.typed));
        let Some(want) = &self.body_indent else { return trimmed };
        let line = &self.text[text::line_start(&self.text, self.function.start)..self.function.start];
        let outer = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        (rules::of(self.language).reindent)(&trimmed, outer, outer, want)
    }

    /// The whole text with `candidate` in place of the body. `candidate` is the model's text after
    /// [`Target::prompt`].
    pub fn splice(&self, candidate: &str) -> String {
        [&self.text[..self.body.start], &self.insertion(candidate), &self.text[self.body.end..]].concat()
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

    /// Number of bytes to keep once a candidate has reached the end of the function. See
    /// [`super::function_end`].
    pub fn end_of(&self, candidate: &str) -> Option<usize> {
        let end = super::function_end(self.language, self.indent, &format!("{}{candidate}", self.typed))?;
        Some(end.saturating_sub(self.typed.len()))
    }

    /// The bytes of the file with `candidate` in place of the body, and with the edited stub, in the file's
    /// line ends. All other bytes are unchanged.
    pub fn splice_bytes(&self, candidate: &str) -> Vec<u8> {
        let read = self.as_read();
        let start = if self.read.is_some() { read.stub } else { self.body.start };
        let spliced = self.splice(candidate);
        let end = spliced.len() - (self.text.len() - self.body.end);
        text::replace(&self.original, &(start..read.body.end), &spliced[start..end])
    }

    /// The text that replaces the body. A file that ended without a newline still does.
    fn insertion(&self, candidate: &str) -> String {
        let mut insertion = format!("{}{}{}", self.lead, self.completion(candidate), self.tail);
        if self.body.end == self.text.len() && !self.text.ends_with('\n') && insertion.ends_with('\n') {
            insertion.pop();
        }
        insertion
    }
}
