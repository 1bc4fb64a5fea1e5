//! Tokenises brace languages, just enough to find strings, comments, brackets and the starts of lines.
//!
//! Works on any text, also half written, and never fails. A token is decided by the text before its end, or
//! it reaches to the end of the text. Adding text makes the last token longer, and never turns another token
//! into a bracket.

/// Lexical differences between the languages.
pub(in crate::code) struct Lexicon {
    pub strings: &'static [Quote],
    /// True if `/* /* */ */` is one comment.
    pub nested_comments: bool,
    /// True if a slash may begin a regular expression (and text between tags may hold apostrophes).
    pub regexes: bool,
    /// True if there are `r#"..."#`, and `'a` without a second quote.
    pub raw_strings: bool,
}

/// A kind of string.
pub(in crate::code) struct Quote {
    /// The character that begins and ends it.
    pub mark: u8,
    /// True if it may span lines; otherwise it ends with the line.
    pub lines: bool,
    /// True if a backslash escapes the next character.
    pub escapes: bool,
    /// True if it may hold code in `${}`.
    pub fields: bool,
}

impl Quote {
    /// A string on one line, with escapes.
    pub const fn line(mark: u8) -> Self {
        Self { mark, lines: false, escapes: true, fields: false }
    }
}

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum Kind {
    /// A name, keyword or (part of a) number.
    Word,
    /// A string, character or regular expression.
    Str,
    /// A comment, without the line end after it.
    Comment,
    /// `\n`.
    Newline,
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

    /// Returns true if it is this bracket or mark.
    pub fn is(self, of: &str, text: &str) -> bool {
        matches!(self.kind, Kind::Open | Kind::Close | Kind::Mark) && self.text(of) == text
    }
}

/// Words after which a value begins, so that a slash is a regular expression and an apostrophe a string.
const BEFORE_VALUES: &[&[u8]] = &[
    b"return", b"case", b"typeof", b"in", b"of", b"else", b"default", b"from", b"import", b"await", b"yield", b"void",
    b"new", b"throw", b"delete", b"do", b"instanceof", b"extends",
];

/// Most nested strings in fields of strings. Deeper ones are read as plain text, so that no text can exhaust
/// the stack.
const MAX_NESTING: usize = 8;

/// The tokens of a text, without white space.
pub(in crate::code) struct Tokens<'a> {
    lexicon: &'static Lexicon,
    bytes: &'a [u8],
    at: usize,
    nesting: usize,
    /// True if the last token can be the left side of an operator.
    operand: bool,
    /// The last token other than comments and line ends.
    last: Option<Token>,
}

impl<'a> Tokens<'a> {
    /// The tokens of `text`.
    pub fn new(lexicon: &'static Lexicon, text: &'a str) -> Self {
        Self { lexicon, bytes: text.as_bytes(), at: 0, nesting: 0, operand: false, last: None }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn quote(&self, mark: u8) -> Option<&'static Quote> {
        self.lexicon.strings.iter().find(|q| q.mark == mark)
    }

    /// Kind and end of the token at `start`, which is no white space.
    fn read(&self, start: usize) -> (Kind, usize) {
        let bytes = self.bytes;
        match bytes[start] {
            b'\n' => (Kind::Newline, start + 1),
            b'/' => self.slash(start),
            b'(' | b'[' | b'{' => (Kind::Open, start + 1),
            b')' | b']' | b'}' => (Kind::Close, start + 1),
            b'\'' if self.lexicon.raw_strings => match character_end(bytes, start) {
                Some(end) => (Kind::Str, end),
                None => (Kind::Mark, start + 1),
            },
            b'\'' if self.lexicon.regexes && self.is_apostrophe(start) => (Kind::Mark, start + 1),
            b if is_word(b) => {
                let end = word_end(bytes, start);
                let raw = self.lexicon.raw_strings && matches!(&bytes[start..end], b"r" | b"br" | b"cr");
                match raw.then(|| raw_string_end(bytes, end)).flatten() {
                    Some(end) => (Kind::Str, end),
                    None => (Kind::Word, end),
                }
            }
            b => match self.quote(b) {
                Some(quote) => (Kind::Str, self.string_end(start, quote)),
                None => (Kind::Mark, start + 1),
            },
        }
    }

    fn slash(&self, start: usize) -> (Kind, usize) {
        match self.byte(start + 1) {
            Some(b'/') => (Kind::Comment, line_end(self.bytes, start)),
            Some(b'*') => (Kind::Comment, comment_end(self.bytes, start, self.lexicon.nested_comments)),
            // `</a>` and `<a />`.
            Some(b'>') => (Kind::Mark, start + 1),
            _ if self.last.is_some_and(|l| l.end == start && self.bytes[l.start] == b'<') => (Kind::Mark, start + 1),
            _ if self.lexicon.regexes && !self.operand => (Kind::Str, regex_end(self.bytes, start)),
            _ => (Kind::Mark, start + 1),
        }
    }

    /// Returns true if the quote at `start` stands in text between tags, as in `it's`: right after a word
    /// that no string can follow.
    fn is_apostrophe(&self, start: usize) -> bool {
        let word = self.last.filter(|l| l.kind == Kind::Word && l.end == start);
        word.is_some_and(|w| !BEFORE_VALUES.contains(&&self.bytes[w.start..w.end]))
    }

    /// The end of the string that begins at `start`.
    fn string_end(&self, start: usize, quote: &Quote) -> usize {
        let bytes = self.bytes;
        let mut i = start + 1;
        while let Some(&byte) = bytes.get(i) {
            i = match byte {
                b'\\' if quote.escapes => i + if bytes[i..].starts_with(b"\\\r\n") { 3 } else { 2 },
                b'\n' if !quote.lines => return i,
                b if b == quote.mark => return i + 1,
                b'$' if quote.fields && self.byte(i + 1) == Some(b'{') && self.nesting < MAX_NESTING => {
                    self.field_end(i + 2)
                }
                _ => i + 1,
            };
        }
        bytes.len()
    }

    /// The end of the field whose code begins at `at`, after its closing brace.
    fn field_end(&self, at: usize) -> usize {
        let nesting = self.nesting + 1;
        let inside = Tokens { lexicon: self.lexicon, bytes: self.bytes, at, nesting, operand: false, last: None };
        closing(inside).map_or(self.bytes.len(), |t| t.end)
    }
}

/// The closing brace of a block, from the tokens of its inside.
pub(super) fn closing(tokens: Tokens) -> Option<Token> {
    let bytes = tokens.bytes;
    let mut depth = 0_usize;
    for token in tokens {
        match (token.kind, bytes[token.start]) {
            (Kind::Open, b'{') => depth += 1,
            (Kind::Close, b'}') if depth == 0 => return Some(token),
            (Kind::Close, b'}') => depth -= 1,
            _ => {}
        }
    }
    None
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        while matches!(self.byte(self.at), Some(b' ' | b'\t' | b'\r' | b'\x0c')) {
            self.at += 1;
        }
        let start = self.at;
        self.byte(start)?;
        let (kind, end) = self.read(start);
        let end = end.min(self.bytes.len());
        let token = Token { kind, start, end };
        self.at = end;
        if !matches!(kind, Kind::Comment | Kind::Newline) {
            self.operand = match kind {
                Kind::Word => !BEFORE_VALUES.contains(&&self.bytes[start..end]),
                Kind::Str | Kind::Close => true,
                // `i++ / 2`
                Kind::Mark if matches!(self.bytes[start], b'+' | b'-') => {
                    self.last.is_some_and(|l| l.end == start && self.bytes[l.start] == self.bytes[start])
                }
                _ => false,
            };
            self.last = Some(token);
        }
        Some(token)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|&b| !is_word(b)).map_or(bytes.len(), |n| start + n)
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    let end = bytes[start..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| start + n);
    if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end }
}

/// The end of the comment whose `/*` is at `start`.
fn comment_end(bytes: &[u8], start: usize, nested: bool) -> usize {
    let mut depth = 1_usize;
    let mut i = start + 2;
    while i < bytes.len() {
        if bytes[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else if nested && bytes[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else {
            i += 1;
        }
    }
    bytes.len()
}

/// The end of the regular expression whose slash is at `start`. An unclosed one ends with the line.
fn regex_end(bytes: &[u8], start: usize) -> usize {
    let mut class = false;
    let mut i = start + 1;
    while let Some(&byte) = bytes.get(i) {
        i = match byte {
            b'\n' => return i,
            b'\\' if bytes.get(i + 1) != Some(&b'\n') => i + 2,
            b'/' if !class => return i + 1,
            b'[' | b']' => {
                class = byte == b'[';
                i + 1
            }
            _ => i + 1,
        };
    }
    bytes.len()
}

/// The end of the character literal whose quote is at `start`; `None` if this is a lifetime or a label.
fn character_end(bytes: &[u8], start: usize) -> Option<usize> {
    let Some(&first) = bytes.get(start + 1) else { return Some(bytes.len()) };
    if first == b'\\' {
        let rest = bytes.get(start + 3..).unwrap_or_default();
        let found = rest.iter().position(|&b| matches!(b, b'\'' | b'\n'));
        return Some(found.map_or(bytes.len(), |n| start + 3 + n + usize::from(rest[n] == b'\'')));
    }
    let width = match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    match bytes.get(start + 1 + width) {
        Some(b'\'') if first != b'\'' => Some(start + 2 + width),
        Some(_) => None,
        // It may become a character.
        None => Some(bytes.len()),
    }
}

/// The end of the raw string whose hashes or quote are at `at`; `None` if it is none.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at..].iter().take_while(|&&b| b == b'#').count();
    let from = at + hashes;
    if bytes.get(from) != Some(&b'"') {
        return None;
    }
    let mut i = from + 1;
    while i < bytes.len() {
        if bytes[i] == b'"' {
            let closed = bytes[i + 1..].iter().take(hashes).take_while(|&&b| b == b'#').count();
            if closed == hashes {
                return Some(i + 1 + hashes);
            }
            i += closed;
        }
        i += 1;
    }
    Some(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{go, javascript, rust};
    use Kind::{Close, Comment, Mark, Newline, Open, Str, Word};

    fn kinds(lexicon: &'static Lexicon, text: &str) -> Vec<Kind> {
        Tokens::new(lexicon, text).map(|t| t.kind).collect()
    }

    fn single(lexicon: &'static Lexicon, kind: Kind, texts: &[&str]) {
        for text in texts {
            let tokens: Vec<Token> = Tokens::new(lexicon, text).collect();
            assert_eq!(tokens, [Token { kind, start: 0, end: text.len() }], "{text}");
        }
    }

    #[test]
    fn strings_are_single_tokens() {
        let js = &javascript::LEXICON;
        single(
            js,
            Str,
            &["'}'", r#""\"}""#, "`}\n`", "`${`}${'}'}`}`", "`\\${`", "`$`", "/}/", r"/\/}/", "/[/}]/", "'\\\n}'"],
        );
        single(
            &rust::LEXICON,
            Str,
            &["\"}\n\\\"\"", "r#\"}\"\\\"#", "br##\"\"#}\"##", "'}'", r"'\''", r"'\u{7d}'", "'é'", "'\"'"],
        );
        single(&go::LEXICON, Str, &["\"}\"", "'}'", r"'\''", "`}\n\\`"]);
    }

    #[test]
    fn comments_are_single_tokens() {
        single(&javascript::LEXICON, Comment, &["// }", "/* } /* */", "/* }\n"]);
        single(&rust::LEXICON, Comment, &["// '}", "/* /* } */ } */", "/// }", "/* /* */"]);
        single(&go::LEXICON, Comment, &["// `}", "/* } /* */"]);
    }

    #[test]
    fn slashes_and_quotes_are_told_apart() {
        let js = &javascript::LEXICON;
        assert_eq!(kinds(js, "a / b / c"), [Word, Mark, Word, Mark, Word]);
        assert_eq!(kinds(js, "a = /b/g"), [Word, Mark, Str, Word]);
        assert_eq!(kinds(js, "return /}/"), [Word, Str]);
        assert_eq!(kinds(js, "(a) / 2 /"), [Open, Word, Close, Mark, Word, Mark]);
        assert_eq!(kinds(js, "i++ / 2"), [Word, Mark, Mark, Mark, Word]);
        assert_eq!(
            kinds(js, "<b>it's {x}</b>"),
            [Mark, Word, Mark, Word, Mark, Word, Open, Word, Close, Mark, Mark, Word, Mark]
        );
        assert_eq!(kinds(js, "<br />"), [Mark, Word, Mark, Mark]);
        assert_eq!(kinds(js, "return'}'"), [Word, Str]);
        assert_eq!(kinds(js, "'abc\n}"), [Str, Newline, Close]);
        assert_eq!(
            kinds(&rust::LEXICON, "fn f<'a>(x: &'a str)"),
            [Word, Word, Mark, Mark, Word, Mark, Open, Word, Mark, Mark, Mark, Word, Word, Close]
        );
        assert_eq!(kinds(&rust::LEXICON, "r#type x"), [Word, Mark, Word, Word]);
    }

    #[test]
    fn deep_nesting_is_harmless() {
        for piece in ["`${", "{", "/* ", "`${`", "r#\"", "/[", "'\\"] {
            let text = piece.repeat(20_000);
            for lexicon in [&javascript::LEXICON, &rust::LEXICON, &go::LEXICON] {
                assert!(Tokens::new(lexicon, &text).all(|t| t.end <= text.len()));
            }
        }
    }
}
