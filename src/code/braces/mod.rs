//! The languages with blocks in braces. The shared code is here, driven by one [`Table`] per language. The
//! data of a language is in its folder.

mod body;
pub(super) mod context;
mod functions;
mod indent;
pub(super) mod lex;
mod outline;
pub(super) mod scan;
pub(super) mod tree;

use std::collections::HashSet;
use std::ops::Range;

use super::outline::Item;
use super::rules::Function;
use super::text::{line_start, white};
use lex::{Kind, Lexicon, Token, Tokens};

/// The data of a language.
pub(super) struct Table {
    /// Its tokens.
    pub lexicon: &'static Lexicon,
    /// Its syntax tree.
    pub grammar: tree::Grammar,
    /// Its definitions if there is no syntax tree, from the tokens before a brace.
    pub heads: scan::Heads,
    /// Default step of indentation.
    pub unit: &'static str,
    /// True if `///` begins the description of the next item.
    pub line_docs: bool,
    /// True if a line end may end a statement.
    pub line_ends: bool,
    /// Placeholders for a body that is not written yet.
    pub placeholders: &'static [Placeholder],
    /// The parts of a file shown to the model besides the function.
    pub context: context::Context,
}

/// The row of a language that a [`Table`] describes.
macro_rules! rules {
    ($table:ident, $known:expr, $package:expr) => {
        Rules {
            lexicon: Some($table.lexicon),
            known: $known,
            package: $package,
            grammars: $table.grammar.languages,
            encoding: |_| None,
            functions: |text| braces::functions(&$table, text),
            goes_on: |_, this| this.tail.trim() == "}",
            function_end: |_, text| braces::function_end(&$table, text),
            inside: |_, text| braces::inside(&$table, text),
            normalise: |text| braces::normalise(&$table, text),
            prompt: |text, functions, this| braces::prompt(&$table, text, functions, this),
            names: |text, this| braces::stub_names(&$table, text, this),
            outline: |text, functions| braces::outline(&$table, text, functions),
            reindent: |candidate, own, outer, want| braces::reindent(&$table, candidate, own, outer, want),
            placed: |text, want, step| braces::placed(&$table, text, want, step),
        }
    };
}
pub(super) use rules;

/// A statement that stands in for a body.
pub(super) struct Placeholder {
    /// The tokens it begins with, up to its bracket.
    pub tokens: &'static [&'static str],
    /// True if its text has to say that something is not implemented.
    pub says_so: bool,
}

/// A function, or a scope that contains functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// Its own name, after the type's name for functions outside of it: `Stack.Push`.
    pub name: String,
    /// True if it is a class, an object, a module and the like.
    pub scope: bool,
    /// First byte of its head, without the attributes and comments on lines above.
    pub head: usize,
    /// First byte of its name.
    pub keyword: usize,
    /// Bytes of its block or expression, braces included.
    pub block: Range<usize>,
    /// Form of its block.
    pub form: Form,
    /// Index of the definition around it.
    pub parent: Option<usize>,
}

/// Form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Braces,
    /// In braces, of which the second is missing.
    Open,
    Expression,
}

/// See [`super::function_names`].
pub(super) fn functions(table: &Table, text: &str) -> Vec<Function> {
    functions::functions(table, text)
}

/// See [`super::function_end`]: after the brace that closes the function.
pub(super) fn function_end(table: &Table, text: &str) -> Option<usize> {
    body::closing(table, text).map(|brace| brace.end)
}

/// The part of a candidate that stands inside the braces.
pub(super) fn inside(table: &Table, text: &str) -> usize {
    body::closing(table, text).map_or(text.len(), |brace| brace.start)
}

/// See [`super::normalise`].
pub(super) fn normalise(table: &Table, text: &str) -> String {
    body::normalise(table, text)
}

/// See [`super::rules::Rules::prompt`].
pub(super) fn prompt(table: &Table, text: &str, functions: &[Function], this: &Function) -> String {
    context::prompt(table, text, functions, this)
}

/// See [`super::rules::Rules::names`].
pub(super) fn stub_names<'t>(table: &Table, text: &'t str, this: &Function) -> HashSet<&'t str> {
    context::stub_names(&tokens(table, text), text, this)
}

/// See [`super::outline::outline`].
pub(super) fn outline(table: &Table, text: &str, functions: &[Function]) -> Vec<Item> {
    outline::outline(table, text, functions)
}

/// See [`super::rules::Rules::reindent`].
pub(super) fn reindent(table: &Table, candidate: &str, own: &str, outer: &str, want: &str) -> String {
    indent::reindent(table, candidate, own, outer, want)
}

/// See [`super::rules::Rules::placed`].
pub(super) fn placed(table: &Table, text: &str, want: &str, step: &str) -> String {
    indent::placed(table, text, want, step)
}

/// The first tokens of lines.
fn firsts(tokens: &[Token]) -> impl Iterator<Item = &Token> {
    let after_line_end = |i: usize| i == 0 || tokens[i - 1].kind == Kind::Newline;
    tokens.iter().enumerate().filter(move |&(i, t)| t.kind != Kind::Newline && after_line_end(i)).map(|(_, t)| t)
}

/// All tokens of `text`.
fn tokens(table: &Table, text: &str) -> Vec<Token> {
    Tokens::new(table.lexicon, text).collect()
}

/// Returns true if a token is code: neither a comment nor a line end.
fn is_code(token: &Token) -> bool {
    !matches!(token.kind, Kind::Comment | Kind::Newline)
}
