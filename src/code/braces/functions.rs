//! The functions of a text: where they begin and end, and which part is stub and which is body.

use std::ops::Range;

use super::lex::{Kind, Token};
use super::{Definition, Form, Placeholder, Table, is_code, line_start, scan, tokens, tree, white};
use crate::code::placeholder::{self, says_so};
use crate::code::rules::Function;

/// Longest comments above a function, in bytes, that are shown as its description.
const MAX_COMMENT: usize = 3000;

/// Tags in a documentation comment about the whole file.
const FILE_TAGS: &[&str] =
    &["@file", "@overview", "@module", "@license", "@copyright", "@preserve", "@packageDocumentation"];

/// Deepest nesting that is reported. Further outer scopes are left out of a function's name and prompt.
const MAX_NESTING: usize = 50;

/// All functions of `text`, in the order they stand in.
pub(super) fn functions(table: &Table, text: &str) -> Vec<Function> {
    let tokens = tokens(table, text);
    let definitions = definitions(table, text, &tokens);
    let mut file = File {
        table,
        text,
        unit: super::indent::unit(table, text, &tokens),
        steps: Vec::new(),
        newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
        tokens,
    };
    let own = |d: &Definition| Some((d.head, file.own_step(d).filter(|_| !d.scope)?));
    file.steps = definitions.iter().filter_map(own).collect();
    definitions.iter().filter(|d| !d.scope).map(|d| file.function(&definitions, d)).collect()
}

/// All functions and scopes of `text`, in the order they stand in.
pub(super) fn definitions(table: &Table, text: &str, tokens: &[Token]) -> Vec<Definition> {
    tree::definitions(&table.grammar, text).unwrap_or_else(|| scan::definitions(table, text, tokens))
}

/// A text with its parts that are used repeatedly.
struct File<'a> {
    table: &'a Table,
    text: &'a str,
    tokens: Vec<Token>,
    newlines: Vec<usize>,
    unit: String,
    /// The heads of functions and the indentation of their bodies below them, in the order of the text.
    steps: Vec<(usize, String)>,
}

impl File<'_> {
    fn function(&self, definitions: &[Definition], this: &Definition) -> Function {
        let mut name = this.name.clone();
        let mut parents: Vec<Range<usize>> = Vec::new();
        let mut around = this.parent.and_then(|i| definitions.get(i));
        while let Some(parent) = around.filter(|_| parents.len() < MAX_NESTING) {
            name = format!("{}.{name}", parent.name);
            parents.insert(0, parent.head..(parent.block.start + 1).min(self.text.len()));
            around = parent.parent.and_then(|i| definitions.get(i));
        }
        let start = self.start(this.head);
        let outer = white(self.text, this.head);
        let shape = self.shape(this, outer);
        Function {
            name,
            line: 1 + self.newlines.partition_point(|&n| n < this.keyword),
            finished: shape.finished,
            begun: shape.begun,
            declaration: false,
            stub: start,
            range: start..shape.end,
            body: shape.body,
            lead: shape.lead,
            tail: shape.tail,
            docstring: None,
            indent: columns(outer),
            body_indent: Some(shape.indent),
            parents,
            method: this.parent.and_then(|p| definitions.get(p)).is_some_and(|p| p.scope),
        }
    }

    /// The indentation of a function's first line of code below its head, if that is one step.
    fn own_step(&self, this: &Definition) -> Option<String> {
        let inside =
            self.within(&(this.block.start + 1..this.block.end)).iter().filter(|_| this.form != Form::Expression);
        let mut lines = inside.skip_while(|t| t.kind != Kind::Newline).filter(|t| t.kind != Kind::Comment);
        let first = lines.find(|t| t.kind != Kind::Newline && t.end < this.block.end)?;
        let step =
            self.text[line_start(self.text, first.start)..first.start].strip_prefix(white(self.text, this.head))?;
        let is_step = step == "\t" || (1..=8).contains(&step.len()) && step.bytes().all(|b| b == b' ');
        is_step.then(|| step.to_owned())
    }

    /// One step of indentation at byte `at`: that of the nearest function that has a body, else of the file.
    fn step(&self, at: usize) -> &str {
        let behind = self.steps.partition_point(|(head, _)| *head < at);
        let near = [behind.checked_sub(1), Some(behind)].into_iter().flatten().filter_map(|i| self.steps.get(i));
        near.min_by_key(|(head, _)| head.abs_diff(at)).map_or(&self.unit, |(_, step)| step)
    }

    fn within(&self, range: &Range<usize>) -> &[Token] {
        let from = self.tokens.partition_point(|t| t.start < range.start);
        let to = self.tokens.partition_point(|t| t.start < range.end);
        &self.tokens[from..to.max(from)]
    }

    /// Start of the comments, attributes and decorators right above the head at byte `head`.
    fn start(&self, head: usize) -> usize {
        let mut start = head;
        let mut index = self.tokens.partition_point(|t| t.start < head);
        loop {
            // Only white space and one line end may stand between. Documentation of the next item may also be
            // followed by blank lines.
            let mut above = index;
            let mut line_ends = 0;
            while above > 0 && self.tokens[above - 1].kind == Kind::Newline {
                above -= 1;
                line_ends += 1;
            }
            let belongs = |&last: &usize| line_ends < 2 || self.documents(last) || self.attribute(last).is_some();
            let Some(last) = above.checked_sub(1).filter(belongs) else { return start };
            let first = match self.tokens[last] {
                t if t.kind == Kind::Comment => self.comment(last).filter(|_| head - t.start <= MAX_COMMENT),
                _ => self.attribute(last),
            };
            let Some(first) = first.filter(|&f| line_ends > 0 || self.tokens[f].kind != Kind::Comment) else {
                return start;
            };
            index = first;
            start = self.tokens[first].start;
        }
    }

    /// The comment at `index`, if it stands on its own line and does not describe the whole file.
    fn comment(&self, index: usize) -> Option<usize> {
        let text = self.tokens[index].text(self.text);
        let first = index == 0 || self.tokens[index - 1].kind == Kind::Newline;
        (first && !text.starts_with("//!") && !text.starts_with("/*!")).then_some(index)
    }

    /// Returns true if tools take a comment as the description of the next item, not of the whole file.
    fn documents(&self, index: usize) -> bool {
        let token = self.tokens[index];
        let text = token.text(self.text);
        let about_file = FILE_TAGS.iter().any(|tag| text.contains(tag));
        token.kind == Kind::Comment
            && (text.starts_with("/**") && !text.starts_with("/**/") && !about_file
                || self.table.line_docs && text.starts_with("///") && !text.starts_with("////"))
    }

    /// The first token of the `#[attribute]` or `@decorator(...)` that ends with the token at `last`.
    fn attribute(&self, last: usize) -> Option<usize> {
        let is = |i: usize, text: &str| self.tokens[i].is(self.text, text);
        let opening = |last: usize| {
            let mut depth = 0_usize;
            (0..=last).rev().find(|&i| {
                match self.tokens[i].kind {
                    Kind::Close => depth += 1,
                    Kind::Open => depth = depth.saturating_sub(1),
                    _ => {}
                }
                depth == 0
            })
        };
        if is(last, "]") {
            let open = opening(last)?;
            return open.checked_sub(1).filter(|&mark| is(mark, "#"));
        }
        let mut at = if is(last, ")") { opening(last)?.checked_sub(1)? } else { last };
        while at >= 2 && self.tokens[at].kind == Kind::Word && is(at - 1, ".") {
            at -= 2;
        }
        (self.tokens[at].kind == Kind::Word).then(|| at.checked_sub(1)).flatten().filter(|&mark| is(mark, "@"))
    }

    fn shape(&self, this: &Definition, outer: &str) -> Shape {
        let indent = format!("{outer}{}", self.step(this.head));
        if this.form == Form::Expression {
            let Range { start, end } = this.block;
            let (lead, tail) = ("{\n".to_owned(), format!("{outer}}}"));
            return Shape { body: start..end, end, lead, tail, indent, finished: true, begun: None };
        }
        let text = self.text;
        let open = (this.block.start + 1).min(text.len());
        let close = if this.form == Form::Braces { this.block.end - 1 } else { self.open_end(&(open..this.block.end)) };
        let inside = self.within(&(open..close));
        let code: Vec<&Token> = inside.iter().filter(|t| is_code(t)).collect();
        let finished = !is_placeholder(text, self.table.placeholders, &code);
        let begun = begun(text, self.table.placeholders, &code).filter(|_| finished && this.form == Form::Braces);
        let first_line = inside.iter().find(|t| t.kind != Kind::Comment).filter(|t| t.kind == Kind::Newline);
        let mut start = first_line.map_or(open, |newline| newline.end);
        if !finished
            && first_line.is_some()
            && let Some(after) = after_comments(inside)
        {
            start = after;
        }
        let on_own_line = text[..start].ends_with('\n');
        let last_line = line_start(text, close).max(start);
        let closes_line = on_own_line && text[last_line..close].trim().is_empty();
        let mut end = if closes_line { last_line } else { close };
        let mut tail = if closes_line { String::new() } else { outer.to_owned() };
        if this.form == Form::Open {
            let more = close < text.len() || text.ends_with('\n');
            end = close;
            tail = format!("{outer}}}{}", if more { "\n" } else { "" });
        }
        // If the body exists already, its first line determines the indentation.
        let first_code = code.iter().find(|t| t.start >= start && line_start(text, t.start) >= start);
        let own = first_code.or(code.first()).map(|t| &text[line_start(text, t.start)..t.start]);
        let indent = own
            .filter(|w| w.len() > outer.len() && w.starts_with(outer) && w.trim_start_matches([' ', '\t']).is_empty())
            .map_or(indent, str::to_owned);
        let lead = if on_own_line { "" } else { "\n" }.to_owned();
        Shape {
            body: start..end,
            end: if this.form == Form::Open { close } else { this.block.end },
            lead,
            tail,
            indent,
            finished,
            begun,
        }
    }

    /// The end of the content of a block without a closing brace: after its last line that is not blank.
    fn open_end(&self, range: &Range<usize>) -> usize {
        let inside = self.within(range);
        // Comments right above the next item belong to that, except at the end of the text.
        let last = if range.end < self.text.len() {
            inside.iter().rfind(|t| is_code(t))
        } else {
            inside.iter().rfind(|t| t.kind != Kind::Newline)
        };
        let after = last.map_or(range.start, |t| t.end);
        let line_end = self.text[after..].find('\n').map_or(self.text.len(), |n| after + n + 1);
        line_end.min(range.end.max(range.start))
    }
}

/// Stub and body of a function.
struct Shape {
    body: Range<usize>,
    end: usize,
    lead: String,
    tail: String,
    indent: String,
    finished: bool,
    begun: Option<usize>,
}

/// Width of white space in columns, with tabs to multiples of 8.
fn columns(white: &str) -> usize {
    white.bytes().fold(0, |column, b| if b == b'\t' { (column / 8 + 1) * 8 } else { column + 1 })
}

/// Returns true if these tokens only stand in for a body.
fn is_placeholder(text: &str, known: &[Placeholder], code: &[&Token]) -> bool {
    let code = match code {
        [rest @ .., last] if last.is(text, ";") => rest,
        all => all,
    };
    if code.is_empty() {
        return true;
    }
    known.iter().any(|placeholder| {
        let words = placeholder.tokens;
        let begins = code.len() > words.len() && code.iter().zip(words).all(|(t, w)| t.text(text) == *w);
        // Followed by one pair of brackets and nothing else.
        let mut depth = 0_usize;
        let closed = code[words.len().min(code.len())..].iter().position(|t| {
            match t.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        begins
            && closed.is_some_and(|at| words.len() + at + 1 == code.len() && at > 0)
            && (!placeholder.says_so || code.iter().any(|t| t.kind == Kind::Str && says_so(t.text(text))))
    })
}

/// See [`Function::begun`].
fn begun(text: &str, known: &[Placeholder], code: &[&Token]) -> Option<usize> {
    let white = |token: &Token| &text[line_start(text, token.start)..token.start];
    let outer = white(code.first()?);
    let last = code.iter().rposition(|t| white(t) == outer).filter(|&at| at > 0 && outer.trim().is_empty())?;
    let (before, last) = code.split_at(last);
    let words: Vec<&str> = last.iter().map(|t| t.text(text)).collect();
    let returns = before.iter().any(|t| t.is(text, "return"));
    let start = line_start(text, last[0].start);
    let is_last = last.len() > 1 && is_placeholder(text, known, last);
    (is_last && placeholder::is_rest("//", text, start, &words, returns)).then_some(start)
}

/// The end of the comments at the beginning of a block, each on its own lines. In an unfinished function they
/// describe the missing code.
fn after_comments(inside: &[Token]) -> Option<usize> {
    let mut after = None;
    // The rest of the line of the brace is no part of the body.
    let mut own_line = false;
    let mut comment = false;
    for token in inside {
        match token.kind {
            Kind::Newline => {
                own_line = true;
                if std::mem::take(&mut comment) {
                    after = Some(token.end);
                }
            }
            Kind::Comment => comment = own_line,
            _ => break,
        }
    }
    after
}
