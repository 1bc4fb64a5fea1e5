//! The blocks of code in an answer.

use std::borrow::Cow;

use crate::code::text;

/// A block of code between two fences.
pub(super) struct Block<'a> {
    /// Where the line of the first fence begins.
    pub start: usize,
    /// The text behind the first fence.
    pub info: &'a str,
    /// Its lines, without the indentation of the fence.
    pub text: Cow<'a, str>,
    /// True if the second fence is there.
    pub closed: bool,
}

impl Block<'_> {
    /// The name of its language in lower case; may be empty.
    pub fn language(&self) -> String {
        let word = self.info.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        word.to_ascii_lowercase()
    }
}

/// The code blocks of an answer. A fence at which `is_inside` is true for the block so far is a line of its
/// code.
pub(super) fn blocks<'a>(said: &'a str, is_inside: &dyn Fn(&Block<'a>) -> bool) -> Vec<Block<'a>> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut end = 0;
    for line in said.split_inclusive('\n') {
        let start = end;
        end += line.len();
        let indent = text::white(line, 0).len();
        let (fence, info) = fence(&line[indent..]);
        match (open, found.last_mut()) {
            (Some((mark, outer)), Some(block)) => {
                // A fence that is indented further is a line of the code.
                if fence.starts_with(mark) && info.is_empty() && indent < outer + 4 && !is_inside(block) {
                    block.closed = true;
                    open = None;
                } else {
                    block.text.to_mut().push_str(&line[indent.min(outer)..]);
                }
            }
            _ if fence.is_empty() || info.contains('`') => {}
            _ => {
                open = Some((fence, indent));
                found.push(Block { start, info, text: Cow::Borrowed(""), closed: false });
            }
        }
    }
    found
}

/// The marks of a fence at the beginning of a line, and the text behind them. The marks are empty if there is
/// no fence.
pub(super) fn fence(line: &str) -> (&str, &str) {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
    let count = mark.map_or(0, |mark| line.len() - line.trim_start_matches(mark).len());
    if count < 3 { ("", line) } else { (&line[..count], line[count..].trim()) }
}
