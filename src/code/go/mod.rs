//! Go: its row in the table of languages, and its build constraints.

mod constraint;
mod heads;
mod known;
mod package;

pub use constraint::unmet_go_constraint;

use super::braces::context::Context;
use super::braces::lex::{Lexicon, Quote};
use super::braces::tree::{Binding, Grammar};
use super::braces::{self, Placeholder, Table};
use super::rules::Rules;

pub(super) static RULES: Rules = braces::rules!(TABLE, &known::KNOWN, package::names);

pub(super) static LEXICON: Lexicon = Lexicon {
    strings: &[Quote::line(b'"'), Quote::line(b'\''), Quote { mark: b'`', lines: true, escapes: false, fields: false }],
    nested_comments: false,
    regexes: false,
    raw_strings: false,
};

pub(super) static TABLE: Table = Table {
    lexicon: &LEXICON,
    grammar: Grammar {
        languages: &[|| tree_sitter_go::LANGUAGE.into()],
        names: &[
            Binding::own("function_declaration"),
            Binding::own("method_declaration"),
            Binding::bound("short_var_declaration", "left", "right"),
            Binding::bound("var_spec", "name", "value"),
            Binding::bound("assignment_statement", "left", "right"),
        ],
        functions: &["function_declaration", "method_declaration", "func_literal"],
        scopes: &[],
        statements: &["var_declaration"],
        nameless: &[],
        receiver: "receiver",
        clean: heads::receiver,
    },
    heads: heads::HEADS,
    unit: "\t",
    line_docs: false,
    line_ends: true,
    placeholders: &[Placeholder { tokens: &["panic"], says_so: true }],
    context: Context {
        imports: &["import"],
        constants: &["type", "const", "var"],
        constructors: &[],
        // A function may use only the imports of its file.
        all_imports: true,
    },
};
