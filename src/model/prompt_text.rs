//! The text of a prompt, in which the words of the user are told from the marks of the model.

use std::fmt;
use std::ops::{Deref, Range};

/// Stand around special tokens of words that a template is run on; no text has them.
const GUARDS: [char; 2] = ['\u{fdd1}', '\u{fdd2}'];

/// A text whose special tokens, such as `<|im_end|>`, are read as such where they are marks, and letter by
/// letter where they stand in words: code that speaks of a mark does not end the request that it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptText {
    text: String,
    /// The ranges of words, in bytes and in order.
    words: Vec<Range<usize>>,
}

impl PromptText {
    /// A text in which all special tokens are read.
    pub fn marks(text: impl Into<String>) -> Self {
        Self { text: text.into(), words: Vec::new() }
    }

    /// A text in which none is read.
    pub fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { words: std::iter::once(0..text.len()).filter(|range| !range.is_empty()).collect(), text }
    }

    /// This text with marks behind it.
    #[must_use]
    pub fn with_marks(mut self, marks: &str) -> Self {
        self.text += marks;
        self
    }

    /// This text with words behind it.
    #[must_use]
    pub fn with_words(mut self, words: &str) -> Self {
        let start = self.text.len();
        self.text += words;
        match self.words.last_mut() {
            Some(last) if last.end == start => last.end = self.text.len(),
            _ if words.is_empty() => {}
            _ => self.words.push(start..self.text.len()),
        }
        self
    }

    /// This text with another behind it.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        let start = self.text.len();
        self.text += &other.text;
        self.words.extend(other.words.iter().map(|range| range.start + start..range.end + start));
        self
    }

    /// `words` with guards around these ranges, for a template.
    pub fn guard(words: &str, ranges: &[Range<usize>]) -> String {
        let mut text = words.to_owned();
        for range in ranges.iter().rev() {
            text.insert(range.end, GUARDS[1]);
            text.insert(range.start, GUARDS[0]);
        }
        text
    }

    /// A text in which words are those between guards.
    pub fn of_guarded(text: &str) -> Self {
        let mut parts = text.split(GUARDS);
        let first = Self::marks(parts.next().unwrap_or_default());
        let is_words = text.chars().filter(|c| GUARDS.contains(c)).map(|guard| guard == GUARDS[0]);
        is_words.zip(parts).fold(
            first,
            |all, (is_words, part)| {
                if is_words { all.with_words(part) } else { all.with_marks(part) }
            },
        )
    }

    /// The ranges of words, in bytes and in order.
    pub fn ranges_of_words(&self) -> &[Range<usize>] {
        &self.words
    }

    /// The text alone.
    pub fn into_text(self) -> String {
        self.text
    }
}

impl Deref for PromptText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for PromptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for PromptText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
