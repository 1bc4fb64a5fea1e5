//! Tokenises Python, just enough to find strings, comments, brackets and the starts of lines.
//!
//! Works on any text, also half written, and never fails. A token does not depend on text more than two bytes
//! after it.

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum Kind {
    /// A name, keyword or (part of a) number.
    Word,
    /// A string with prefix and quotes; unterminated ones end at the line end or, with triple quotes, at the
    /// end of the text.
    Str,
    /// From `#` to before the line end.
    Comment,
    /// `\n`.
    Newline,
    /// A backslash and the line end after it.
    Join,
    /// `(`, `[`, `{`.
    Open,
    /// `)`, `]`, `}`.
    Close,
    /// Any other byte.
    Mark,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub fn text(self, of: &str) -> &str {
        of.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns true if it is this single mark.
    pub fn is_mark(self, of: &str, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text(of) == mark
    }
}

/// The tokens of a text, without white space.
pub(in crate::code) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of `text` from byte `at`, which must not be inside a token.
    pub fn new(text: &'a str, at: usize) -> Self {
        Self { bytes: text.as_bytes(), at }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let bytes = self.bytes;
        let byte = |i: usize| bytes.get(i).copied();
        while matches!(byte(self.at), Some(b' ' | b'\t' | b'\r' | b'\x0c')) {
            self.at += 1;
        }
        let start = self.at;
        let (kind, end) = match byte(start)? {
            b'\n' => (Kind::Newline, start + 1),
            b'#' => (Kind::Comment, bytes[start..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| start + n)),
            b'\\' if byte(start + 1) == Some(b'\n') => (Kind::Join, start + 2),
            b'\\' if byte(start + 1) == Some(b'\r') && byte(start + 2) == Some(b'\n') => (Kind::Join, start + 3),
            b'"' | b'\'' => (Kind::Str, string_end(bytes, start, false, 0)),
            b'(' | b'[' | b'{' => (Kind::Open, start + 1),
            b')' | b']' | b'}' => (Kind::Close, start + 1),
            b if is_word(b) => {
                let end = bytes[start..].iter().position(|&b| !is_word(b)).map_or(bytes.len(), |n| start + n);
                match (byte(end), string_prefix(&bytes[start..end])) {
                    (Some(b'"' | b'\''), Some(format)) => (Kind::Str, string_end(bytes, end, format, 0)),
                    _ => (Kind::Word, end),
                }
            }
            _ => (Kind::Mark, start + 1),
        };
        self.at = end;
        Some(Token { kind, start, end })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// `Some` if `word` before a quote is a string prefix: true if the string holds `{}` fields.
fn string_prefix(word: &[u8]) -> Option<bool> {
    match word.to_ascii_lowercase().as_slice() {
        b"r" | b"u" | b"b" | b"br" | b"rb" => Some(false),
        b"f" | b"t" | b"fr" | b"rf" | b"tr" | b"rt" => Some(true),
        _ => None,
    }
}

/// Most nested strings in fields of strings. Deeper ones are read as plain text, so that no text can exhaust
/// the stack.
const MAX_NESTING: usize = 8;

/// The end of the string whose first quote is at `quote`.
fn string_end(bytes: &[u8], quote: usize, format: bool, nesting: usize) -> usize {
    let mark = bytes[quote];
    let closes = |i: usize, triple: bool| {
        bytes.get(i) == Some(&mark) && (!triple || bytes.get(i + 1..i + 3).is_some_and(|two| two == [mark, mark]))
    };
    let triple = closes(quote, true);
    let mut i = quote + if triple { 3 } else { 1 };
    while let Some(&byte) = bytes.get(i) {
        i = match byte {
            b'\\' => i + if bytes[i..].starts_with(b"\\\r\n") { 3 } else { 2 },
            b'\n' if !triple => return i,
            _ if closes(i, triple) => return i + if triple { 3 } else { 1 },
            b'{' if bytes.get(i + 1) == Some(&b'{') => i + 2,
            b'{' if format && nesting < MAX_NESTING => field_end(bytes, i + 1, mark, triple, nesting + 1),
            _ => i + 1,
        };
    }
    bytes.len()
}

/// The end of a `{}` field that begins at `i`, in a string with these quotes: after its `}`, or at the place
/// that shows it is not closed.
fn field_end(bytes: &[u8], mut i: usize, mark: u8, triple: bool, nesting: usize) -> usize {
    let mut depth = 0_usize;
    let mut in_format = false;
    while let Some(&byte) = bytes.get(i) {
        i = match byte {
            b'\n' if !triple => return i,
            b'}' if depth == 0 => return i + 1,
            _ if in_format => match byte {
                b'{' if nesting < MAX_NESTING => field_end(bytes, i + 1, mark, triple, nesting + 1),
                _ if byte == mark && !triple => return i,
                _ => i + 1,
            },
            b'"' | b'\'' => {
                let word = bytes[..i].iter().rposition(|&b| !is_word(b)).map_or(0, |p| p + 1);
                let format = string_prefix(&bytes[word..i]).unwrap_or(false);
                string_end(bytes, i, format && nesting < MAX_NESTING, nesting + 1)
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                i + 1
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                i + 1
            }
            b':' if depth == 0 => {
                in_format = true;
                i + 1
            }
            _ => i + 1,
        };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Close, Comment, Join, Mark, Newline, Open, Str, Word};

    fn kinds(text: &str) -> Vec<Kind> {
        Tokens::new(text, 0).map(|t| t.kind).collect()
    }

    #[test]
    fn strings_are_single_tokens() {
        for text in [
            "'a'", "\"\"", "''", r"'it\'s'", "'''a\n'b'\n'''", r#"r"\""#, "rb'x'", "b\"#\"", "f'{x}'",
            "F\"{d['k']!r:>{w}}\"", "f\"{d[\"it's\"]}\"", "f\"{'#'}{{\"", "f'''{\n x # no\n}'''", "'\\\nstill'",
            "f\"{f\"{f\"{1}\"}\"}\"", "t'{x:%H:%M}'",
        ] {
            assert_eq!(kinds(text), [Str], "{text}");
            assert_eq!(Tokens::new(text, 0).next().map(|t| t.end), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn unterminated_strings_end_with_the_line() {
        for text in ["'abc\n", "f'{x\n", "f'{x:\n", "f\"{d['\n", "f'{x:'\n"] {
            assert_eq!(kinds(text), [Str, Newline], "{text}");
        }
        assert_eq!(kinds("'''abc\n"), [Str]);
    }

    #[test]
    fn everything_else() {
        assert_eq!(
            kinds("x = (1, \\\r\n y)  # z\r\n"),
            [Word, Mark, Open, Word, Mark, Join, Word, Close, Comment, Newline]
        );
        assert_eq!(kinds("fx'a'"), [Word, Str]);
        assert_eq!(kinds("größe"), [Word]);
        assert_eq!(kinds("\\"), [Mark]);
    }

    #[test]
    fn deep_nesting_is_harmless() {
        for piece in ["f\"{", "f'{x:{", "{", "f'''{"] {
            let text = piece.repeat(20_000);
            assert!(Tokens::new(&text, 0).all(|t| t.end <= text.len()));
        }
    }
}
