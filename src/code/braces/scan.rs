//! Definitions of an incomplete text, read from its tokens. The tokens before a brace determine what it
//! opens.

use super::lex::{Kind, Token};
use super::{Definition, Form, Table};

/// Words that begin functions and scopes in a language.
pub(in crate::code) struct Heads {
    /// Words at the left border that begin something new, even if the text above was left open.
    pub restarts: &'static [&'static str],
    /// Words that continue the line above.
    pub goes_on: &'static [&'static str],
    /// True if functions may be written as `x => x + 1`.
    pub arrows: bool,
    /// Reads the definition from the tokens before a brace.
    pub read: fn(&Head) -> Option<HeadDefinition>,
}

/// The tokens between the last end of a statement and a brace, without those in brackets among them.
pub(in crate::code) struct Head<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    /// True if they stand directly inside a class, an object or the like.
    pub in_scope: bool,
}

/// The definition of a head.
pub(in crate::code) struct HeadDefinition {
    pub name: String,
    pub scope: bool,
    /// Index of the first token that belongs to it.
    pub first: usize,
    /// Index of its name.
    pub keyword: usize,
}

impl Head<'_> {
    /// The text of a token; empty if there is none.
    pub fn at(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |t| t.text(self.text))
    }

    /// Returns true if there is a name, keyword or number at `index`.
    pub fn is_word(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|t| t.kind == Kind::Word)
    }

    /// Index of the last `word`.
    pub fn last(&self, word: &str) -> Option<usize> {
        (0..self.tokens.len()).rfind(|&i| self.is_word(i) && self.at(i) == word)
    }

    /// The first index from `from` on whose text is not in `skip`.
    pub fn skip(&self, from: usize, skip: &[&str]) -> usize {
        (from..self.tokens.len()).find(|&i| !skip.contains(&self.at(i))).unwrap_or(self.tokens.len())
    }

    /// Index after the `<...>` that begins at `index`, if any.
    pub fn after_angles(&self, index: usize) -> usize {
        let mut depth = 0_usize;
        for i in index..self.tokens.len() {
            match self.at(i) {
                "<" => depth += 1,
                ">" if i > 0 && matches!(self.at(i - 1), "-" | "=") => {}
                ">" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return if i == index { index } else { i + 1 };
            }
        }
        index
    }
}

/// An open bracket.
struct Frame {
    bracket: u8,
    definition: Option<usize>,
    /// True if the head around it goes on after it.
    inline: bool,
    head: Vec<Token>,
}

struct Scan<'a> {
    text: &'a str,
    /// Bytes behind line ends. They avoid walking over one endless line for each of its tokens.
    lines: Vec<usize>,
    /// True if a line further to the left ends open definitions above.
    by_indentation: bool,
    /// True if there was an unmatched bracket.
    unbalanced: bool,
    frames: Vec<Frame>,
    found: Vec<Definition>,
    /// Columns of the heads that begin their line.
    columns: Vec<Option<usize>>,
}

/// All definitions of `text`, in text order. If all brackets match, only they count. If one is missing,
/// indentation determines where open definitions end.
pub(super) fn definitions(table: &Table, text: &str, tokens: &[Token]) -> Vec<Definition> {
    let by_brackets = scan(table, text, tokens, false);
    let scan = if by_brackets.unbalanced { scan(table, text, tokens, true) } else { by_brackets };
    scan.found
}

fn scan<'a>(table: &Table, text: &'a str, tokens: &[Token], by_indentation: bool) -> Scan<'a> {
    let mut scan = Scan {
        text,
        lines: text.match_indices('\n').map(|(at, _)| at + 1).collect(),
        by_indentation,
        unbalanced: false,
        frames: Vec::new(),
        found: Vec::new(),
        columns: Vec::new(),
    };
    scan.frames.push(Frame { bracket: 0, definition: None, inline: false, head: Vec::new() });
    let mut line_ended = false;
    let mut last: Option<Token> = None;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Newline => line_ended = true,
            Kind::Comment => {}
            _ => {
                scan.begin(table, *token, line_ended, last);
                if table.heads.arrows && !token.is(text, "{") && scan.after_arrow() {
                    scan.expression(table, tokens, index);
                }
                scan.take(table, *token, last);
                line_ended = false;
                last = Some(*token);
            }
        }
    }
    scan.unbalanced |= scan.frames.len() > 1;
    scan.close_from(1, text.len());
    scan
}

impl Scan<'_> {
    /// Examines the place of `token`: a new line may end a statement, or all open definitions.
    fn begin(&mut self, table: &Table, token: Token, first: bool, last: Option<Token>) {
        let word = token.text(self.text);
        let at_border = self.line_start(token.start) == token.start;
        if self.by_indentation && at_border && self.frames.len() > 1 && table.heads.restarts.contains(&word) {
            self.close_from(1, token.start);
        }
        let Some(top) = self.frames.last_mut().filter(|f| matches!(f.bracket, 0 | b'{')) else { return };
        let ended = last.is_some_and(|l| matches!(l.kind, Kind::Word | Kind::Str | Kind::Close));
        let begins = matches!(token.kind, Kind::Word | Kind::Str) || matches!(word, "@" | "#" | "*");
        if table.line_ends && first && ended && begins && !table.heads.goes_on.contains(&word) {
            top.head.clear();
        }
    }

    fn take(&mut self, table: &Table, token: Token, last: Option<Token>) {
        let bracket = self.text.as_bytes()[token.start];
        match token.kind {
            Kind::Open => self.open(table, token, bracket, last),
            Kind::Close => self.close(token, bracket),
            _ => {
                let Some(top) = self.frames.last_mut() else { return };
                let statement = matches!(top.bracket, 0 | b'{');
                let ends = bracket == b';' || bracket == b',' && table.line_ends && !in_angles(self.text, &top.head);
                if token.kind == Kind::Mark && statement && ends {
                    top.head.clear();
                } else {
                    top.head.push(token);
                }
            }
        }
    }

    fn open(&mut self, table: &Table, token: Token, bracket: u8, last: Option<Token>) {
        let mut definition = None;
        let mut inline = bracket != b'{';
        if bracket == b'{' {
            inline = last.is_some_and(|l| {
                matches!(l.text(self.text), ":" | "|" | "&" | "=" | "," | "<" | "const" | "let" | "var" | "import")
                    || matches!(l.text(self.text), "export" | "extends" | "interface" | "struct" | "type")
            });
            definition = self.define(table, token);
        }
        if let Some(top) = self.frames.last_mut() {
            top.head.push(token);
        }
        self.frames.push(Frame { bracket, definition, inline, head: Vec::new() });
    }

    /// The definition that the brace `token` opens, if it is known.
    fn define(&mut self, table: &Table, token: Token) -> Option<usize> {
        let top = self.frames.last()?;
        let around = top.head.first().and_then(|t| self.left_open(t.start)).unwrap_or(self.frames.len());
        let definition = self.frames[..around].last().and_then(|f| f.definition);
        let in_scope = definition.is_some_and(|d| self.found[d].scope);
        let head = Head { text: self.text, tokens: &top.head, in_scope };
        let HeadDefinition { name, scope, first, keyword } = (table.heads.read)(&head)?;
        let first = *top.head.get(first)?;
        let keyword = top.head.get(keyword).map_or(first.start, |k| k.start);
        let line = self.line_start(first.start);
        if let Some(index) = self.left_open(first.start) {
            let head = std::mem::take(&mut self.frames.last_mut()?.head);
            self.close_from(index, line);
            self.frames.last_mut()?.head = head;
        }
        self.found.push(Definition {
            name,
            scope,
            head: first.start,
            keyword,
            block: token.start..self.text.len(),
            form: Form::Open,
            parent: self.frames.iter().rev().find_map(|f| f.definition),
        });
        self.columns.push(self.column(first.start));
        Some(self.found.len() - 1)
    }

    /// Returns true if the tokens so far end with `=>`.
    fn after_arrow(&self) -> bool {
        let head = self.frames.last().map_or(&[][..], |f| f.head.as_slice());
        matches!(head, [.., a, b] if a.end == b.start && a.is(self.text, "=") && b.is(self.text, ">"))
    }

    /// A function whose body is the expression that begins with the token at `index`.
    fn expression(&mut self, table: &Table, tokens: &[Token], index: usize) {
        let Some(definition) = self.define(table, tokens[index]) else { return };
        self.found[definition].form = Form::Expression;
        self.found[definition].block.end = expression_end(self.text, table.heads.goes_on, &tokens[index..]);
    }

    fn line_start(&self, at: usize) -> usize {
        self.lines[..self.lines.partition_point(|&line| line <= at)].last().copied().unwrap_or(0)
    }

    /// The column of a head that begins its line at byte `at`.
    fn column(&self, at: usize) -> Option<usize> {
        let before = &self.text[self.line_start(at)..at];
        before.trim_start_matches([' ', '\t']).is_empty().then_some(before.len())
    }

    /// The first frame of a definition that cannot hold a head at byte `at`, because it is no further to the
    /// left.
    fn left_open(&self, at: usize) -> Option<usize> {
        let (column, line) = (self.column(at).filter(|_| self.by_indentation)?, self.line_start(at));
        self.frames.iter().position(|frame| {
            frame.definition.is_some_and(|d| self.columns[d].is_some_and(|c| column <= c) && self.found[d].head < line)
        })
    }

    fn close(&mut self, token: Token, bracket: u8) {
        let opens = match bracket {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        let Some(index) = self.frames.iter().rposition(|f| f.bracket == opens) else {
            self.unbalanced |= opens == b'{';
            return;
        };
        self.unbalanced |= opens == b'{' && index + 1 < self.frames.len();
        // A round bracket does not close a brace.
        if opens != b'{' && self.frames[index..].iter().any(|f| f.bracket == b'{') {
            return;
        }
        let Some(frame) = self.frames.drain(index..).next() else { return };
        if let Some(definition) = frame.definition {
            self.found[definition].block.end = token.end;
            self.found[definition].form = Form::Braces;
        }
        let Some(top) = self.frames.last_mut() else { return };
        if frame.definition.is_none() && frame.inline {
            top.head.push(token);
        } else {
            top.head.clear();
        }
    }

    /// Ends everything open from frame `index` on before byte `end`.
    fn close_from(&mut self, index: usize, end: usize) {
        for frame in self.frames.drain(index..) {
            if let Some(definition) = frame.definition {
                self.found[definition].block.end = end;
            }
        }
        if let Some(top) = self.frames.last_mut() {
            top.head.clear();
        }
    }
}

/// Returns true if `<` in these tokens is not closed.
fn in_angles(text: &str, tokens: &[Token]) -> bool {
    // Types with more parameters than this are not supported, since long lists would take too long.
    let tokens = &tokens[tokens.len().saturating_sub(64)..];
    let head = Head { text, tokens, in_scope: false };
    (0..tokens.len()).any(|i| head.at(i) == "<" && head.after_angles(i) == i)
}

/// The end of the expression that begins with the first of these tokens: before its separator, or at a line
/// end if the next line does not continue it.
fn expression_end(text: &str, goes_on: &[&str], tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    let mut end = tokens.first().map_or(0, |t| t.start);
    let mut operand = false;
    let mut line_ended = false;
    for token in tokens {
        let begins = matches!(token.kind, Kind::Word | Kind::Str | Kind::Open) || matches!(token.text(text), "@" | "#");
        match token.kind {
            Kind::Comment => continue,
            Kind::Newline => {
                line_ended = true;
                continue;
            }
            _ if depth == 0 && line_ended && operand && begins && !goes_on.contains(&token.text(text)) => return end,
            Kind::Close if depth == 0 => return end,
            Kind::Mark if depth == 0 && matches!(token.text(text), ";" | ",") => return end,
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            _ => {}
        }
        line_ended = false;
        operand = matches!(token.kind, Kind::Word | Kind::Str | Kind::Close);
        end = token.end;
    }
    end
}
