//! Recognises functions by the tokens before a brace.

use crate::code::braces::scan::{Head, HeadDefinition, Heads};

pub(super) const HEADS: Heads =
    Heads { restarts: &["func", "type", "var", "const", "import", "package"], goes_on: &[], arrows: false, read };

fn read(head: &Head) -> Option<HeadDefinition> {
    let last = head.tokens.len().checked_sub(1)?;
    if matches!(head.at(last), "interface" | "struct") {
        return None;
    }
    let keyword = head.last("func")?;
    let found = |name: String, first: usize, at: usize| Some(HeadDefinition { name, scope: false, first, keyword: at });
    if head.is_word(keyword + 1) {
        return found(head.at(keyword + 1).to_owned(), keyword, keyword + 1);
    }
    let (open, close, name) = (keyword + 1, keyword + 2, keyword + 3);
    if head.at(open) == "(" && head.is_word(name) && matches!(head.at(name + 1), "(" | "[") {
        let written = head.text.get(head.tokens[open].start..head.tokens[close].end)?;
        return found(format!("{}.{}", receiver(written), head.at(name)), keyword, name);
    }
    // `f := func(...) {`, `var f = func(...) {`
    let from = usize::from(head.at(0) == "var");
    let mut name = from;
    while head.at(name + 1) == "." && head.is_word(name + 2) {
        name += 2;
    }
    let bound = keyword > name && head.at(keyword - 1) == "=" && head.is_word(name);
    let single = matches!(head.at(name + 1), ":" | "=") || from == 1;
    if bound && single { found(head.at(name).to_owned(), 0, name) } else { None }
}

/// The type of a receiver such as `(s *Stack[T])`. Any other name is unchanged.
pub(super) fn receiver(written: &str) -> String {
    let bare = written.split('[').next().unwrap_or(written);
    bare.split(|c: char| !(c.is_alphanumeric() || c == '_')).rfind(|part| !part.is_empty()).unwrap_or(bare).to_owned()
}
