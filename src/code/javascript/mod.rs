//! JavaScript, with JSX: its row in the table of languages.

mod heads;
mod known;

use std::collections::HashSet;

use super::braces::context::Context;
use super::braces::lex::{Lexicon, Quote};
use super::braces::scan::Heads;
use super::braces::tree::{Binding, Grammar};
use super::braces::{self, Placeholder, Table};
use super::rules::Rules;
pub(super) use known::KNOWN;

pub(super) static RULES: Rules = braces::rules!(TABLE, &KNOWN, |_| HashSet::new());

pub(super) static LEXICON: Lexicon = Lexicon {
    strings: &[Quote::line(b'"'), Quote::line(b'\''), Quote { mark: b'`', lines: true, escapes: true, fields: true }],
    nested_comments: false,
    regexes: true,
    raw_strings: false,
};

/// Nodes with names; TypeScript has them too.
pub(super) static NAMES: &[Binding] = &[
    Binding::own("function_declaration"),
    Binding::own("generator_function_declaration"),
    Binding::own("method_definition"),
    Binding::own("class_declaration"),
    Binding::bound("variable_declarator", "name", "value"),
    Binding::bound("pair", "key", "value"),
    Binding::bound("field_definition", "property", "value"),
    Binding::bound("assignment_expression", "left", "right"),
    Binding::bound("export_statement", "", "value"),
    Binding::own("abstract_class_declaration"),
    Binding::own("internal_module"),
    Binding::own("module"),
    Binding::bound("public_field_definition", "name", "value"),
];

/// Functions; TypeScript has them too.
pub(super) static FUNCTIONS: &[&str] = &[
    "function_declaration", "generator_function_declaration", "method_definition", "function_expression",
    "generator_function", "arrow_function",
];

/// Nodes that contain functions; TypeScript has more.
pub(super) static SCOPES: &[&str] =
    &["class_declaration", "class", "object", "abstract_class_declaration", "internal_module", "module"];

/// Nodes around definitions, in TypeScript too.
pub(super) static STATEMENTS: &[&str] =
    &["export_statement", "lexical_declaration", "variable_declaration", "expression_statement", "ambient_declaration"];

/// Placeholders for a body, in TypeScript too.
pub(super) static PLACEHOLDERS: &[Placeholder] = &[
    Placeholder { tokens: &["throw", "new", "Error"], says_so: true },
    Placeholder { tokens: &["throw", "Error"], says_so: true },
];

/// The parts of a file that are shown, in TypeScript too.
pub(super) const CONTEXT: Context = Context {
    imports: &["import", "require"],
    constants: &["const", "let", "var", "type", "interface", "enum"],
    constructors: &["constructor"],
    all_imports: false,
};

/// The heads of functions and classes, in TypeScript too.
pub(super) const HEADS: Heads = heads::HEADS;

/// Converts a written name to the used name.
pub(super) fn clean(name: &str) -> String {
    heads::clean(name)
}

pub(super) static TABLE: Table = Table {
    lexicon: &LEXICON,
    grammar: Grammar {
        languages: &[|| tree_sitter_javascript::LANGUAGE.into()],
        names: NAMES,
        functions: FUNCTIONS,
        scopes: SCOPES,
        statements: STATEMENTS,
        nameless: &["exports"],
        receiver: "",
        clean,
    },
    heads: HEADS,
    unit: "  ",
    line_docs: false,
    line_ends: true,
    placeholders: PLACEHOLDERS,
    context: CONTEXT,
};
