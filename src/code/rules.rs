//! What differs between languages: one row of functions per language.

use std::collections::HashSet;
use std::ops::Range;

use super::braces::lex::Lexicon;
use super::outline::Item;
use super::{go, javascript, python, rust, typescript};
use crate::language::Language;

/// The row of a language.
pub(super) struct Rules {
    /// Its tokens, where blocks stand in braces.
    pub lexicon: Option<&'static Lexicon>,
    /// The encoding that a file says it is in, if that is not UTF-8, and the 1-based line that says so.
    pub encoding: fn(&[u8]) -> Option<(String, usize)>,
    /// All functions of a text (line ends `\n`), in the order they stand in.
    pub functions: fn(&str) -> Vec<Function>,
    /// Whether more may be written into this function, which reaches to the end of the text.
    pub goes_on: fn(&str, &Function) -> bool,
    /// See [`super::function_end`].
    pub function_end: fn(usize, &str) -> Option<usize>,
    /// How much of a candidate stands inside the function's block: all that [`Rules::function_end`] keeps,
    /// but for a closing brace.
    pub inside: fn(usize, &str) -> usize,
    /// See [`super::normalise`].
    pub normalise: fn(&str) -> String,
    pub prompt: fn(&str, &[Function], &Function) -> String,
    /// The names that code in a stub mentions, in its comments and docstring, too.
    pub names: for<'t> fn(&'t str, &Function) -> HashSet<&'t str>,
    /// See [`super::outline()`].
    pub outline: fn(&str, &[Function]) -> Vec<Item>,
    /// A trimmed candidate with the indentation that the file uses for this function: what stands before its
    /// own head, if it has one, before the file's, and what has to stand before the body.
    pub reindent: fn(&str, &str, &str, &str) -> String,
}

/// The row of `language`.
pub(super) fn of(language: Language) -> &'static Rules {
    match language {
        Language::Python => &python::RULES,
        Language::JavaScript => &javascript::RULES,
        Language::TypeScript => &typescript::RULES,
        Language::Rust => &rust::RULES,
        Language::Go => &go::RULES,
    }
}

/// A function as found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Dotted name.
    pub name: String,
    /// Line of the `def` or the name, 1-based.
    pub line: usize,
    /// Whether there is anything but a placeholder in the body.
    pub finished: bool,
    /// Whether its body is missing on purpose: an abstract method, one of several typed signatures.
    pub declaration: bool,
    /// From where the stub is shown to the model: the comment above, if it stands in for the docstring, else
    /// `range.start`.
    pub stub: usize,
    /// From the first decorator or the head to the end of the body, with its closing brace; where blocks
    /// stand in braces, from the comment above.
    pub range: Range<usize>,
    /// What a candidate replaces.
    pub body: Range<usize>,
    /// What has to stand between the text before the body and the candidate so that the candidate begins on a
    /// line of its own.
    pub lead: String,
    /// What has to stand between the candidate and the text after the body: a closing brace that is missing,
    /// the indentation of one.
    pub tail: String,
    /// The docstring, with its quotes.
    pub docstring: Option<Range<usize>>,
    /// Columns of indentation of the `def` line.
    pub indent: usize,
    /// The white space that lines of the body have to begin with; `None` where any will do.
    pub body_indent: Option<String>,
    /// The lines that open what the function stands in (classes, outer functions), outermost first.
    pub parents: Vec<Range<usize>>,
    /// Whether the innermost of them is a class.
    pub method: bool,
}

impl Function {
    /// Ends the function, with an empty body, at byte `at` of the text.
    pub fn end_at(&mut self, at: usize) {
        self.body = at..at;
        self.range.end = at;
        self.lead.clear();
    }
}
