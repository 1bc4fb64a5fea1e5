//! Python: its row in the table of languages.

mod context;
mod encoding;
mod functions;
mod indent;
mod known;
pub(super) mod lex;
pub(super) mod library;
mod lines;
mod outline;

use std::collections::HashSet;

use super::definition::Grammar;
use super::rules::Rules;
pub(super) use functions::head_end;

pub(super) static RULES: Rules = Rules {
    lexicon: None,
    grammars: &[|| tree_sitter_python::LANGUAGE.into()],
    encoding: encoding::declared,
    functions: functions::functions,
    goes_on: functions::goes_on,
    function_end: lines::function_end,
    inside: |indent, text| lines::function_end(indent, text).unwrap_or(text.len()),
    normalise: lines::normalise,
    prompt: context::prompt,
    names: context::stub_names,
    outline: outline::outline,
    reindent: indent::reindent,
    placed: indent::placed,
    known: &known::KNOWN,
    package: |_| HashSet::new(),
};

static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    functions: &["function_definition"],
    classes: &["class_definition"],
    wrappers: &["decorated_definition"],
};
