//! Texts that say that code is missing.

use super::text::line_start;

/// Words of messages and comments.
const MISSING: [&str; 3] = ["not implemented", "not yet implemented", "unimplemented"];

/// Returns true if a message says that something is not implemented.
pub(super) fn says_so(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    MISSING.into_iter().chain(["todo"]).any(|words| message.contains(words))
}

/// Start of the comment lines right above byte `at`, the start of a line or the end of the text, from the first
/// that says that code is missing; else `at`. Comments begin with `mark`.
pub(super) fn above(mark: &str, text: &str, at: usize) -> usize {
    let (mut start, mut found) = (at, at);
    while start > 0 {
        // The last line of a file may have no end.
        let end = text[..start].strip_suffix('\n').unwrap_or(&text[..start]).len();
        let above = line_start(text, end);
        let Some(comment) = text[above..start].trim().strip_prefix(mark) else { break };
        start = above;
        if asks(comment) {
            found = above;
        }
    }
    found
}

/// Returns true if the placeholder that begins the line at byte `at`, behind lines of the user's own, stands
/// in for the rest of the body. `words` are its tokens; `returns` tells whether lines before it return, as
/// then it may as well end a whole body, behind a row of cases.
pub(super) fn is_rest(mark: &str, text: &str, at: usize, words: &[&str], returns: bool) -> bool {
    let is_sure = words.first() == Some(&".") || words.iter().any(|word| word.to_ascii_lowercase().contains("todo"));
    // `pass` behind other lines says nothing.
    is_sure || above(mark, text, at) < at || !returns && words != ["pass"]
}

/// Returns true if a comment asks for the code in whose place it stands.
fn asks(comment: &str) -> bool {
    let comment = comment.trim().to_ascii_lowercase();
    let words = comment.trim_end_matches(['.', '!', ':', '…']).trim_end();
    let begins = ["todo", "fixme", "tbd"].iter().any(|word| {
        comment.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    let ends = ["code here", "code goes here", "implementation here", "implementation goes here"];
    let is_place = ends.iter().any(|end| words.ends_with(end)) || words == "your code" || words.ends_with(" your code");
    let says_so = MISSING.iter().any(|said| comment.contains(said));
    let alone = ["implement", "implement me", "implement this", "implement it", "implement here", "fill in"];
    begins || is_place || says_so || matches!(&*comment, "..." | "…") || alone.contains(&words)
}
