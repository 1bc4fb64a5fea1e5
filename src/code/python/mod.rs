//! Python: its row in the table of languages.

mod context;
mod encoding;
mod functions;
mod indent;
pub(super) mod lex;
mod lines;
mod outline;

use super::definition::Grammar;
use super::rules::Rules;

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
};

static GRAMMAR: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    functions: &["function_definition"],
    classes: &["class_definition"],
    wrappers: &["decorated_definition"],
};
