//! The words of a prompt beside the code: a change that the user wants, messages of tests.

use crate::code::{HeadPart, Target};

/// The line before messages of tests.
pub const FAILED: &str = "Wrong attempts failed these tests:";
/// The line before a function as it is now.
const BEFORE: &str = "Before the change:";

/// The words of a prompt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// A sentence on what is wanted of the function, in a line.
    pub wish: Option<&'a str>,
    /// Messages of tests on candidates that failed.
    pub facts: &'a [String],
    /// Only this part of the head is asked for: the text ends before it.
    pub part: Option<HeadPart>,
}

impl Told<'_> {
    /// Nothing is said.
    pub fn is_empty(self) -> bool {
        self.wish.is_none() && self.facts.is_empty()
    }

    /// A text that ends with the function's head, with the words as comments in front of that.
    pub fn in_front(self, target: &Target, text: &str) -> Option<String> {
        let begun = self.part.map_or_else(|| Some(target.stub()), |part| target.up_to(part))?;
        Some(format!("{}{}{begun}", text.strip_suffix(&target.stub())?, self.commented(target)))
    }

    /// The words as comments, with the function that is changed.
    pub fn commented(self, target: &Target) -> String {
        let (indent, mark) = (" ".repeat(target.indent), target.language.line_comment());
        let mut lines: Vec<String> = Vec::new();
        let present = self.wish.and_then(|_| target.present());
        if let Some(present) = &present {
            lines.push(BEFORE.to_owned());
            let inner = |line: &str| line.strip_prefix(&*indent).unwrap_or(line).to_owned();
            lines.extend(present.lines().map(inner));
        }
        let label = if present.is_some() { "Change: " } else { "" };
        lines.extend(self.wish.map(|wish| format!("{label}{wish}")));
        if !self.facts.is_empty() {
            lines.push(FAILED.to_owned());
            lines.extend(self.facts.iter().cloned());
        }
        let comment = |line: &String| format!("{indent}{}\n", format!("{mark} {line}").trim_end());
        lines.iter().map(comment).collect()
    }
}
