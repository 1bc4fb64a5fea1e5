//! Splits Python into lines: which physical lines begin a statement, at which column, and where a body ends.

use super::lex::{Kind, Token, Tokens};
pub(super) use crate::code::text::line_start;
use crate::code::text::width;

/// A physical line that is not blank and does not begin inside a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub first: Token,
    /// Column of that token, tabs to multiples of 8 as Python counts.
    pub column: usize,
    /// True if it begins a statement or is a comment between statements: not inside brackets, not after a
    /// backslash.
    pub begins: bool,
    /// End of the last line before it that is not blank, with its line end.
    pub end_before: usize,
}

/// The lines and the tokens of a text, in the order they stand in.
pub(super) struct Lines<'a> {
    text: &'a str,
    tokens: Tokens<'a>,
    depth: usize,
    at_line_start: bool,
    continues: bool,
    end_before: usize,
    /// End of the last token.
    end: usize,
}

/// A token, and the line if it is the first token of one.
pub(super) struct Step {
    pub token: Token,
    pub line: Option<Line>,
    /// Brackets open before this token.
    pub depth: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `text` from byte `from`, which must be the start of a line (or the first token of one).
    pub fn new(text: &'a str, from: usize) -> Self {
        let tokens = Tokens::new(text, from);
        Self { text, tokens, depth: 0, at_line_start: true, continues: false, end_before: from, end: from }
    }

    /// End of the last line that is not blank among those read so far, with its line end if it has one.
    pub fn end(&self) -> usize {
        self.end.max(self.end_before)
    }
}

impl Iterator for Lines<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let token = self.tokens.next()?;
        let mut line = None;
        match token.kind {
            Kind::Newline => {
                if !self.at_line_start {
                    self.end_before = token.end;
                }
                self.at_line_start = true;
                self.continues = false;
                return Some(Step { token, line, depth: self.depth });
            }
            _ if self.at_line_start => {
                // These words cannot stand inside brackets. So a bracket was left open, and this line begins
                // anew.
                if self.depth > 0 && defines(&self.text[token.start..]) {
                    self.depth = 0;
                }
                let begins = self.depth == 0 && !self.continues;
                let column = column_of(self.text, token.start);
                line = Some(Line { first: token, column, begins, end_before: self.end_before });
                self.at_line_start = false;
            }
            _ => {}
        }
        let depth = self.depth;
        match token.kind {
            Kind::Open => self.depth += 1,
            Kind::Close => self.depth = self.depth.saturating_sub(1),
            Kind::Join => {
                self.at_line_start = true;
                self.continues = true;
                self.end_before = token.end;
            }
            _ => {}
        }
        self.end = token.end;
        Some(Step { token, line, depth })
    }
}

/// Returns true if `text` begins with the word `def`, `async def` or `class`, and white space after it.
pub(super) fn defines(text: &str) -> bool {
    let after = |text: &str, word: &str| {
        text.strip_prefix(word)
            .filter(|rest| rest.starts_with([' ', '\t']))
            .map(|rest| rest.trim_start_matches([' ', '\t']).to_owned())
    };
    match after(text, "async") {
        Some(rest) => after(&rest, "def").is_some(),
        None => after(text, "def").is_some() || after(text, "class").is_some(),
    }
}

/// Columns before byte `at` on its line.
fn column_of(text: &str, at: usize) -> usize {
    width(&text[line_start(text, at)..at])
}

/// See [`crate::code::function_end`].
pub(super) fn function_end(indent: usize, text: &str) -> Option<usize> {
    Lines::new(text, 0).filter_map(|s| s.line).find(|l| l.begins && l.column <= indent).map(|l| l.end_before)
}

/// End of the body that begins at byte `from`, the start of a line: [`function_end`], or the end of the text
/// without blank lines.
pub(super) fn body_end(indent: usize, text: &str, from: usize) -> usize {
    let mut lines = Lines::new(text, from);
    for step in lines.by_ref() {
        if let Some(line) = step.line
            && line.begins
            && line.column <= indent
        {
            return line.end_before;
        }
    }
    lines.end()
}

/// A statement (for compound ones, its first line up to the block), with all its physical lines.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Its tokens without comments, line ends and joins; never empty.
    pub tokens: Vec<Token>,
    /// Column it begins at.
    pub column: usize,
    /// After its line end, or the end of the text.
    pub end: usize,
}

/// The statements of `text` from byte `from`, the start of a line or of its first token.
pub(super) fn statements(text: &str, from: usize) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut open = false;
    for Step { token, line, depth } in Lines::new(text, from) {
        if line.is_some_and(|l| l.begins) {
            open = false;
        }
        match token.kind {
            Kind::Newline => {
                if let Some(last) = found.last_mut().filter(|_| open) {
                    last.end = token.end;
                    open = depth > 0;
                }
            }
            Kind::Comment | Kind::Join => {}
            _ => {
                if !open {
                    found.push(Statement { tokens: Vec::new(), column: column_of(text, token.start), end: token.end });
                    open = true;
                }
                if let Some(last) = found.last_mut() {
                    last.tokens.push(token);
                    last.end = token.end;
                }
            }
        }
    }
    found
}

/// See [`crate::code::normalise`]: the tokens with one space between them, indentation as one space per
/// level.
pub(super) fn normalise(text: &str) -> String {
    let mut levels: Vec<usize> = Vec::new();
    let mut out = String::new();
    for statement in statements(text, 0) {
        while levels.last().is_some_and(|&l| statement.column < l) {
            levels.pop();
        }
        if levels.last().is_none_or(|&l| l < statement.column) {
            levels.push(statement.column);
        }
        out.extend(std::iter::repeat_n(' ', levels.len() - 1));
        for (i, token) in statement.tokens.iter().enumerate() {
            if i > 0 {
                out.push(' ');
            }
            out.push_str(token.text(text));
        }
        out.push('\n');
    }
    out
}
