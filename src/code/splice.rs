//! A candidate in the place of a function's body.

use super::{Target, rules, text, trim_candidate};

impl Target {
    /// What of the model's text becomes the body: trimmed to the function, in the indentation of the file, ending with one newline;
    /// empty if there is nothing.
    pub fn completion(&self, candidate: &str) -> String {
        let trimmed = trim_candidate(self.language, self.indent, candidate);
        let Some(want) = &self.body_indent else { return trimmed };
        let line_start = self.text[..self.function.start].rfind('\n').map_or(0, |n| n + 1);
        let line = &self.text[line_start..self.function.start];
        let outer = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        (rules::of(self.language).reindent)(&trimmed, outer, want)
    }

    /// The whole text with `candidate` in place of the body. `candidate` is the model's text after [`Target::prompt`].
    pub fn splice(&self, candidate: &str) -> String {
        [&self.text[..self.body.start], &self.insertion(candidate), &self.text[self.body.end..]].concat()
    }

    /// The bytes of the file with `candidate` in place of the body: in the file's line ends, all other bytes as they were.
    pub fn splice_bytes(&self, candidate: &str) -> Vec<u8> {
        text::replace(&self.original, &self.body, &self.insertion(candidate))
    }

    /// What replaces the body. A file that ended without a newline goes on doing so.
    fn insertion(&self, candidate: &str) -> String {
        let mut insertion = format!("{}{}{}", self.lead, self.completion(candidate), self.tail);
        if self.body.end == self.text.len() && !self.text.ends_with('\n') && insertion.ends_with('\n') {
            insertion.pop();
        }
        insertion
    }
}
