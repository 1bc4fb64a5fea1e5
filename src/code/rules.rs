//! The rules of each language: one row of functions per language.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use super::braces::lex::Lexicon;
use super::known::Known;
use super::outline::Item;
use super::{go, javascript, python, rust, typescript};
use crate::language::Language;

/// The row of a language.
pub(super) struct Rules {
    /// Its tokens, for languages with braces.
    pub lexicon: Option<&'static Lexicon>,
    /// Its grammar and its variants. The first that can parse a text is used.
    pub grammars: &'static [fn() -> tree_sitter::Language],
    /// The encoding that a file declares, if it is not UTF-8, and the 1-based line of the declaration.
    pub encoding: fn(&[u8]) -> Option<(String, usize)>,
    /// All functions of a text (line ends `\n`), in the order they stand in.
    pub functions: fn(&str) -> Vec<Function>,
    /// Returns true if this function, which reaches to the end of the text, may be continued.
    pub goes_on: fn(&str, &Function) -> bool,
    /// See [`super::function_end`].
    pub function_end: fn(usize, &str) -> Option<usize>,
    /// Bytes of a candidate inside the function's block: all that [`Rules::function_end`] keeps, except for a
    /// closing brace.
    pub inside: fn(usize, &str) -> usize,
    /// See [`super::normalise`].
    pub normalise: fn(&str) -> String,
    pub prompt: fn(&str, &[Function], &Function) -> String,
    /// The names that code in a stub mentions, in its comments and docstring, too.
    pub names: for<'t> fn(&'t str, &Function) -> HashSet<&'t str>,
    /// See [`super::outline()`].
    pub outline: fn(&str, &[Function]) -> Vec<Item>,
    /// The names that the other files of a file's package define, where files see each other's names.
    pub package: fn(&Path) -> HashSet<String>,
    /// Names that code uses without defining them.
    pub known: &'static Known,
    /// A trimmed candidate with the indentation that the file uses for this function. The arguments are the
    /// candidate, the indentation of its own head, if any, of the file's head, and of the body.
    pub reindent: fn(&str, &str, &str, &str) -> String,
    /// Lines of code with another indentation in front of the first one, and with other steps behind it. An
    /// empty step leaves theirs. Lines inside strings stay unchanged. The arguments are the lines, the
    /// indentation and the step.
    pub placed: fn(&str, &str, &str) -> String,
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
    /// True if the body holds more than a placeholder.
    pub finished: bool,
    /// Byte at which a body of the user's own lines breaks off in a placeholder: the start of its line.
    pub begun: Option<usize>,
    /// True if its body is missing on purpose: an abstract method, or one of several typed signatures.
    pub declaration: bool,
    /// Start of the stub shown to the model: the comment above, if it replaces the docstring, else
    /// `range.start`.
    pub stub: usize,
    /// From the first decorator or the head to the end of the body, with its closing brace. In languages with
    /// braces, from the comment above.
    pub range: Range<usize>,
    /// The bytes that a candidate replaces.
    pub body: Range<usize>,
    /// Text between the text before the body and the candidate that puts the candidate on a line of its own.
    pub lead: String,
    /// Text between the candidate and the text after the body: a missing closing brace, or its indentation.
    pub tail: String,
    /// The docstring, with its quotes.
    pub docstring: Option<Range<usize>>,
    /// Columns of indentation of the `def` line.
    pub indent: usize,
    /// Required white space at the beginning of the body's lines; `None` if any will do.
    pub body_indent: Option<String>,
    /// The lines that open the classes and functions around it, outermost first.
    pub parents: Vec<Range<usize>>,
    /// True if the innermost of them is a class.
    pub method: bool,
}

impl Function {
    /// Returns true if code of its body is missing.
    pub fn is_open(&self) -> bool {
        !self.finished || self.begun.is_some()
    }

    /// Ends the function, with an empty body, at byte `at` of the text.
    pub fn end_at(&mut self, at: usize) {
        self.body = at..at;
        self.range.end = at;
        self.lead.clear();
    }
}
