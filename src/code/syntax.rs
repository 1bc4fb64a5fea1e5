//! Syntax trees, of texts without errors only: near an error a tree loses definitions and puts others in the
//! wrong place.

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

/// The tree of a text; `None` if it cannot be parsed without errors.
pub(super) fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    // The first error ends it: a way to go on behind it is of no use here.
    let mut is_lost = |state: &ParseState| state.has_error();
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
}
