//! A body as the model writes it: its end, and a normal form to compare two of them.

use super::Table;
use super::lex::{self, Kind, Token, Tokens};

/// The brace that closes the function whose body is at the beginning of `text`.
pub(super) fn closing(table: &Table, text: &str) -> Option<Token> {
    lex::closing(Tokens::new(table.lexicon, text))
}

/// See [`crate::code::normalise`]: the tokens of the body with one space between them; line ends only where
/// they may end a statement.
pub(super) fn normalise(table: &Table, text: &str) -> String {
    let text = &text[..closing(table, text).map_or(text.len(), |brace| brace.start)];
    let mut out = String::new();
    let mut brackets: Vec<u8> = Vec::new();
    let mut last: Option<Token> = None;
    let mut line_end = false;
    for token in Tokens::new(table.lexicon, text) {
        let byte = text.as_bytes()[token.start];
        match token.kind {
            Kind::Comment if !token.text(text).contains('\n') => continue,
            // A comment with a line end counts as one.
            Kind::Comment | Kind::Newline => {
                let ends = last.is_some_and(|l| matches!(l.kind, Kind::Word | Kind::Str | Kind::Close));
                line_end |= table.line_ends && ends && brackets.last().is_none_or(|&b| b == b'{');
                continue;
            }
            Kind::Close => {
                brackets.pop();
            }
            Kind::Open => brackets.push(byte),
            _ => {}
        }
        // The space between two marks matters if they could be one operator.
        let joined =
            last.is_some_and(|l| l.kind == Kind::Mark && l.end == token.start && text.as_bytes()[l.start] == byte);
        if std::mem::take(&mut line_end) && token.kind != Kind::Close {
            out.push('\n');
        } else if !out.is_empty() && !joined {
            out.push(' ');
        }
        out.push_str(token.text(text));
        last = Some(token);
    }
    out
}
