//! Syntax trees, of texts without errors only: near an error a tree loses definitions and puts others in the
//! wrong place.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

/// How often a parse may report in a row without having come further in the text. It reports after every
/// hundred steps, so this is a tenth of a second; the TSX grammar has texts on which it never ends otherwise.
const REPORTS_IN_PLACE: usize = 1000;

/// The time of a core that a parse may take, far more than any does that finds no error: on some texts each
/// step behind an error walks over all that was read before.
fn patience(text: &str) -> Duration {
    Duration::from_millis(500 + text.len() as u64 / 100)
}

/// What this thread has had of a core: a busy machine must not change what is found.
fn spent() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// The tree of a text; `None` if it cannot be parsed without errors.
pub(super) fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    // The first error ends it: a way to go on behind it is of no use here.
    let (mut furthest, mut in_place) = (0, 0);
    let (begun, patience) = (spent(), patience(text));
    let mut is_lost = |state: &ParseState| {
        let at = state.current_byte_offset();
        in_place = if at > furthest { 0 } else { in_place + 1 };
        furthest = furthest.max(at);
        state.has_error() || in_place > REPORTS_IN_PLACE || spent().saturating_sub(begun) > patience
    };
    let options = ParseOptions::new().progress_callback(&mut is_lost);
    let tree = parser.parse_with_options(&mut |at, _| &text.as_bytes()[at..], None, Some(options))?;
    (!tree.root_node().has_error()).then_some(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_brackets_that_do_not_match_are_refused() {
        let languages: [Language; 5] = [
            tree_sitter_python::LANGUAGE.into(),
            tree_sitter_javascript::LANGUAGE.into(),
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            tree_sitter_rust::LANGUAGE.into(),
            tree_sitter_go::LANGUAGE.into(),
        ];
        for language in &languages {
            for piece in ["([{", "f(", "{ ( ] ", "<(", "x = [(\n"] {
                assert!(parse(language, &piece.repeat(8000)).is_none(), "{piece:?} in {language:?}");
            }
        }
        assert!(parse(&languages[0], "def f(x):\n    return (x)\n").is_some());
    }

    #[test]
    fn a_parse_that_stays_where_it_is_ends() {
        let text = "<f[(++'}''a/*\n( ++\nfunction g() {\n}\n}/*func f() \"\"#'a\u{c}=>(${=>'}'\"br)class A x[` ;\t=>*/";
        assert!(parse(&tree_sitter_typescript::LANGUAGE_TSX.into(), text).is_none());
    }
}
