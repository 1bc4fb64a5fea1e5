//! Converts the bytes of a file to text and back: byte order mark, line ends, and offsets.

use std::borrow::Cow;
use std::ops::Range;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Line end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// `\n`.
    Unix,
    /// `\r\n`.
    Windows,
}

/// The text of a file without byte order mark and with `\n` at the line ends, or the offset of the first byte
/// that is not UTF-8.
pub(super) fn decode(bytes: &[u8]) -> Result<String, usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(decode_str(text).0.into_owned()),
        Err(error) => Err(error.valid_up_to()),
    }
}

/// [`decode`] for text that is known to be UTF-8, with its most frequent line end.
pub(super) fn decode_str(text: &str) -> (Cow<'_, str>, LineEnd) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let windows = text.matches("\r\n").count();
    if windows == 0 {
        return (Cow::Borrowed(text), LineEnd::Unix);
    }
    let unix = text.matches('\n').count() - windows;
    (Cow::Owned(text.replace("\r\n", "\n")), if windows > unix { LineEnd::Windows } else { LineEnd::Unix })
}

/// Lines with white space in front.
pub(super) fn indented(text: &str, white: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{white}{line}") }).collect()
}

/// The offset in `bytes` for an offset in their decoded text.
pub(super) fn offset_in(bytes: &[u8], text_offset: usize) -> usize {
    let mut at = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    for _ in 0..text_offset {
        // An offset in the text is never between the two bytes of a line end: the pair is one step.
        at += if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
    }
    at
}

/// `bytes` with the part that decodes to `range` of their text replaced by `insert`, with the line ends of
/// the file. All other bytes are unchanged.
pub(super) fn replace(bytes: &[u8], range: &Range<usize>, insert: &str) -> Vec<u8> {
    let line_end = std::str::from_utf8(bytes).map_or(LineEnd::Unix, |t| decode_str(t).1);
    let insert = match line_end {
        LineEnd::Unix => Cow::Borrowed(insert),
        LineEnd::Windows => Cow::Owned(insert.replace('\n', "\r\n")),
    };
    let (start, end) = (offset_in(bytes, range.start), offset_in(bytes, range.end));
    [&bytes[..start], insert.as_bytes(), &bytes[end..]].concat()
}

/// Start of the line that byte `at` is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |n| n + 1)
}

/// The white space that the line of byte `at` begins with.
pub(super) fn white(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Columns of white space: a tab reaches to the next multiple of eight.
pub(super) fn width(white: &str) -> usize {
    white.chars().fold(0, |column, c| if c == '\t' { column / 8 * 8 + 8 } else { column + 1 })
}

/// The 1-based line of a byte.
pub(super) fn line_of(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|&&b| b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_marks_and_line_ends() {
        let bytes = b"\xef\xbb\xbfa\r\nb\nc\r\n";
        let text = decode(bytes).unwrap();
        assert_eq!(text, "a\nb\nc\n");
        let places: Vec<usize> = (0..=text.len()).map(|o| offset_in(bytes, o)).collect();
        assert_eq!(places, [3, 4, 6, 7, 8, 9, 11]);
    }

    #[test]
    fn inserted_lines_end_like_the_others() {
        assert_eq!(replace(b"a\r\nb\r\n", &(2..4), "x\ny\n"), b"a\r\nx\r\ny\r\n");
        assert_eq!(replace(b"a\nb\r\nc\n", &(0..2), "x\ny\n"), b"x\ny\nb\r\nc\n");
    }

    #[test]
    fn what_is_not_utf8_is_located() {
        assert_eq!(decode(b"ab\n\xff"), Err(3));
        assert_eq!(line_of(b"ab\n\xff", 3), 2);
    }
}
