//! The typed heads of a function that stand above it.

use crate::code::text::line_start;

/// Most lines of a head.
const MOST_LINES: usize = 12;

/// The start of the first of the heads without a body right above byte `at`, the start of a line, which are
/// those of the function `name` below them, with their comments.
pub(in crate::code) fn above(text: &str, name: &str, at: usize) -> usize {
    let mut top = at;
    while let Some(head) = head_above(text, name, top) {
        top = head;
    }
    while top > 0 && top < at {
        let line = line_start(text, top - 1);
        let begin = text[line..].trim_start_matches([' ', '\t']);
        if !["//", "/*", "*"].iter().any(|mark| begin.starts_with(mark)) {
            break;
        }
        top = line;
    }
    top
}

/// The start of the head that ends right above byte `at`. A long one stands on several lines.
fn head_above(text: &str, name: &str, at: usize) -> Option<usize> {
    let above = text[..at].trim_end();
    let starts = above.rmatch_indices('\n').map(|(end, _)| end + 1).chain([0]).take(MOST_LINES);
    let start = starts.into_iter().find(|start| is_head(text[*start..].lines().next().unwrap_or_default(), name))?;
    let head = &above[start..];
    let is_without_body = head.ends_with(';') && head.matches(';').count() == 1 && !head.contains("=> {");
    is_without_body.then_some(start)
}

/// Returns true if a head of the function begins on a line: its name behind words alone.
fn is_head(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    line.match_indices(name).take_while(|_| !name.is_empty()).any(|(front, _)| {
        let is_behind_words = line[..front].bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
        let is_whole = !line[..front].ends_with(|c: char| c.is_alphabetic());
        is_behind_words && is_whole && line[front + name.len()..].trim_start_matches('?').starts_with(['(', '<'])
    })
}
