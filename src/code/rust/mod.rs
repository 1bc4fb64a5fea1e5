//! Rust: its row in the table of languages.

mod heads;
mod known;

use std::collections::HashSet;

use super::braces::context::Context;
use super::braces::lex::{Lexicon, Quote};
use super::braces::tree::{Binding, Grammar};
use super::braces::{self, Placeholder, Table};
use super::rules::Rules;
pub(super) use known::{TRAITS, UNNAMED};

pub(super) static RULES: Rules = braces::rules!(TABLE, &known::KNOWN, |_| HashSet::new());

pub(super) static LEXICON: Lexicon = Lexicon {
    strings: &[Quote { mark: b'"', lines: true, escapes: true, fields: false }],
    nested_comments: true,
    regexes: false,
    raw_strings: true,
};

pub(super) static TABLE: Table = Table {
    lexicon: &LEXICON,
    grammar: Grammar {
        languages: &[|| tree_sitter_rust::LANGUAGE.into()],
        names: &[
            Binding::own("function_item"),
            Binding::own("trait_item"),
            Binding::own("mod_item"),
            Binding { kind: "impl_item", name: "type", value: "" },
        ],
        functions: &["function_item"],
        scopes: &["impl_item", "trait_item", "mod_item"],
        statements: &[],
        nameless: &[],
        receiver: "",
        clean: heads::type_name,
    },
    heads: heads::HEADS,
    unit: "    ",
    line_docs: true,
    line_ends: false,
    placeholders: &[
        Placeholder { tokens: &["todo", "!"], says_so: false },
        Placeholder { tokens: &["unimplemented", "!"], says_so: false },
        Placeholder { tokens: &["panic", "!"], says_so: true },
    ],
    context: Context {
        imports: &["use"],
        constants: &["struct", "enum", "type", "const", "static", "union"],
        constructors: &["new"],
        all_imports: false,
    },
};
