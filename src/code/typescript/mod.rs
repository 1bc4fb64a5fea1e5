//! TypeScript, with TSX: JavaScript with two more grammars.

pub(super) mod overloads;

use std::collections::HashSet;

use super::braces::tree::Grammar;
use super::braces::{self, Table};
use super::javascript;
use super::rules::Rules;

pub(super) static RULES: Rules = braces::rules!(TABLE, &javascript::KNOWN, |_| HashSet::new());

pub(super) static TABLE: Table = Table {
    lexicon: &javascript::LEXICON,
    grammar: Grammar {
        languages: &[
            || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            || tree_sitter_typescript::LANGUAGE_TSX.into(),
        ],
        names: javascript::NAMES,
        functions: javascript::FUNCTIONS,
        scopes: javascript::SCOPES,
        statements: javascript::STATEMENTS,
        nameless: &["exports"],
        receiver: "",
        clean: javascript::clean,
    },
    heads: javascript::HEADS,
    unit: "  ",
    line_docs: false,
    line_ends: true,
    placeholders: javascript::PLACEHOLDERS,
    context: javascript::CONTEXT,
};
