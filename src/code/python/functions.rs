//! The functions of a Python text: where they begin and end, and which part is stub and which is body.

use std::ops::Range;

use super::lex::{Kind, Token, Tokens};
use super::lines::{self, Lines, Statement};
use crate::code::definition::{self, Definition};
use crate::code::placeholder;
use crate::code::rules::Function;
use crate::code::text::width;

/// Longest comment above a function, in bytes, that counts as its description.
const MAX_COMMENT: usize = 600;

/// All functions of `text`, in the order they stand in.
pub(super) fn functions(text: &str) -> Vec<Function> {
    let definitions = definition::of(&super::GRAMMAR, text).unwrap_or_else(|| scan(text));
    let headers: Vec<Option<usize>> = definitions.iter().map(|d| header_end(text, d.keyword)).collect();
    let unit = super::indent::unit(text);
    let newlines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let functions = definitions.iter().zip(&headers).filter(|(d, _)| !d.class);
    let found = functions.filter_map(|(d, end)| {
        let line = 1 + newlines.partition_point(|&n| n < d.keyword);
        Some(Function { line, ..function(text, &definitions, &headers, d, (*end)?, &unit) })
    });
    found.collect()
}

/// Returns true if the block of `this`, which the text ends with, may go on: it has not ended with a `return`
/// of its own, nor with a blank line.
pub(super) fn goes_on(text: &str, this: &Function) -> bool {
    let statements = lines::statements(text, this.body.start);
    let (Some(first), Some(last)) = (statements.first(), statements.last()) else { return true };
    let returns = ["return", "raise"].contains(&last.tokens[0].text(text)) && last.column == first.column;
    !returns && !text[this.body.end..].contains('\n')
}

/// The definitions of an incomplete text: every line that begins with `def` or `class`, nested by
/// indentation.
fn scan(text: &str) -> Vec<Definition> {
    let mut found: Vec<Definition> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut decorator: Option<(usize, usize)> = None;
    for statement in lines::statements(text, 0) {
        let first = statement.tokens[0];
        while open.last().is_some_and(|&(_, column)| column >= statement.column) {
            open.pop();
        }
        if first.is_mark(text, "@") {
            decorator =
                decorator.filter(|&(_, column)| column == statement.column).or(Some((first.start, statement.column)));
            continue;
        }
        let start =
            decorator.take().filter(|&(_, column)| column == statement.column).map_or(first.start, |(start, _)| start);
        if !lines::defines(&text[first.start..]) {
            continue;
        }
        let mut words = statement.tokens.iter().map(|t| t.text(text)).skip_while(|&w| w == "async");
        let (Some(keyword), Some(name)) = (words.next(), words.next()) else { continue };
        let parent = open.last().map(|&(index, _)| index);
        found.push(Definition {
            name: name.to_owned(),
            class: keyword == "class",
            start,
            keyword: first.start,
            parent,
        });
        open.push((found.len() - 1, statement.column));
    }
    found
}

/// End of the head of the function that a stub begins with, after its colon and its decorators.
pub(in crate::code) fn head_end(stub: &str) -> Option<usize> {
    let statements = lines::statements(stub, 0);
    let first = statements.iter().map(|statement| statement.tokens[0].start);
    header_end(stub, first.into_iter().find(|&start| lines::defines(&stub[start..]))?)
}

/// End of the definition's head whose keyword is at `keyword`, after its colon. `None` if its line ends
/// before a colon.
fn header_end(text: &str, keyword: usize) -> Option<usize> {
    for step in Lines::new(text, keyword) {
        if step.line.is_some_and(|l| l.begins && l.first.start > keyword) {
            return None;
        }
        if step.depth == 0 && step.token.is_mark(text, ":") {
            return Some(step.token.end);
        }
    }
    None
}

/// The function that `this` defines, except for its line.
fn function(
    text: &str,
    definitions: &[Definition],
    headers: &[Option<usize>],
    this: &Definition,
    header_end: usize,
    unit: &str,
) -> Function {
    let mut name = this.name.clone();
    let mut parents: Vec<Range<usize>> = Vec::new();
    let mut around = this.parent;
    while let Some((index, parent)) = around.and_then(|i| Some((i, definitions.get(i)?))) {
        name = format!("{}.{name}", parent.name);
        parents.insert(0, parent.keyword..headers[index].unwrap_or(parent.keyword));
        around = parent.parent;
    }
    let white = &text[lines::line_start(text, this.keyword)..this.keyword];
    let indent = width(white);
    let shape = Shape::new(text, this.keyword, header_end, indent, &format!("{white}{unit}"));
    let stub = if shape.docstring.is_none() { comment_above(text, this.start, white) } else { this.start };
    Function {
        name,
        line: 0,
        finished: shape.finished,
        begun: shape.begun,
        declaration: is_decorated(text, this)
            || !shape.finished
                && this.parent.is_some_and(|class| is_protocol(text, &definitions[class], headers[class])),
        stub,
        range: this.start..shape.body.end,
        body: shape.body,
        lead: shape.lead,
        tail: String::new(),
        docstring: shape.docstring,
        indent,
        body_indent: shape.body_indent,
        parents,
        method: this.parent.and_then(|p| definitions.get(p)).is_some_and(|p| p.class),
    }
}

/// Returns true if a decorator says that the body is missing on purpose.
fn is_decorated(text: &str, this: &Definition) -> bool {
    let names = ["overload", "abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"];
    text[this.start..this.keyword].lines().any(|line| {
        let name = line.split('#').next().unwrap_or_default().trim().strip_prefix('@');
        name.is_some_and(|name| names.contains(&name.rsplit('.').next().unwrap_or_default().trim()))
    })
}

/// Returns true for a class that lists `Protocol` of `typing` among its bases.
fn is_protocol(text: &str, class: &Definition, head_end: Option<usize>) -> bool {
    let head = &text[..head_end.filter(|_| class.class).unwrap_or(class.keyword)];
    let words: Vec<&str> = Tokens::new(head, class.keyword).map(|t| t.text(text)).collect();
    // The word behind `class` is its own name, and asyncio has protocols with bodies.
    let is_base = |at: usize| words[at] == "Protocol" && (words[at - 1] != "." || words[at - 2] != "asyncio");
    (3..words.len()).any(is_base)
}

/// Start of the comment lines right above byte `at`, if they describe the item there; else `at`.
fn comment_above(text: &str, at: usize, white: &str) -> usize {
    let mut start = lines::line_start(text, at);
    let end = start;
    while start > 0 {
        let above = lines::line_start(text, start - 1);
        match text[above..start].strip_prefix(white) {
            Some(line) if line.starts_with('#') && !line.starts_with("#!") => start = above,
            _ => break,
        }
    }
    if start == end || end - start > MAX_COMMENT { at } else { start + white.len() }
}

/// Stub and body of a function.
struct Shape {
    docstring: Option<Range<usize>>,
    body: Range<usize>,
    lead: String,
    finished: bool,
    begun: Option<usize>,
    body_indent: Option<String>,
}

impl Shape {
    fn new(text: &str, keyword: usize, header_end: usize, indent: usize, body_indent: &str) -> Self {
        let rest = Tokens::new(text, header_end).find(|t| t.kind != Kind::Comment);
        if rest.is_some_and(|t| t.kind != Kind::Newline) {
            return Self::on_one_line(text, keyword, header_end, body_indent);
        }
        let from = rest.map_or(text.len(), |newline| newline.end);
        let end = lines::body_end(indent, text, from).max(from);
        // Statements are read from a text that ends with the function, so that an open bracket does not reach
        // beyond it.
        let mut statements = lines::statements(&text[..end], from);
        let docstring = statements.first().and_then(|s| docstring(text, &s.tokens));
        let mut start = from;
        let mut on_same_line = false;
        if let Some(doc) = &docstring {
            let first = &mut statements[0];
            first.tokens.retain(|t| t.start >= doc.end);
            on_same_line = !first.tokens.is_empty();
            if on_same_line {
                start = doc.end;
            } else {
                start = first.end;
                statements.remove(0);
            }
        }
        let finished = !statements.iter().all(|s| is_placeholder(text, &s.tokens));
        let begun = begun(text, &statements).filter(|_| finished && !on_same_line);
        if !finished && !on_same_line {
            start = after_comments(text, start, end);
        }
        let lead = if on_same_line || !text[..start].ends_with('\n') { "\n" } else { "" };
        let body_indent = match &docstring {
            Some(doc) => Some(text[lines::line_start(text, doc.start)..doc.start].to_owned()),
            None => Some(body_indent.to_owned()),
        };
        Self { docstring, body: start..end, lead: lead.to_owned(), finished, begun, body_indent }
    }

    /// `def f(x): return x`: the statements after the colon are the body. A docstring among them moves to a
    /// line of its own.
    fn on_one_line(text: &str, keyword: usize, header_end: usize, body_indent: &str) -> Self {
        // Up to the next line only: files of declarations hold thousands of these.
        let mut next = Lines::new(text, keyword).filter_map(|s| s.line).filter(|l| l.begins && l.first.start > keyword);
        let limit = next.next().map_or(text.len(), |l| lines::line_start(text, l.first.start));
        let first = lines::statements(&text[..limit], keyword).into_iter().next();
        let Statement { mut tokens, end, .. } =
            first.unwrap_or(Statement { tokens: Vec::new(), column: 0, end: text.len() });
        tokens.retain(|t| t.start >= header_end);
        let docstring = docstring(text, &tokens);
        let mut lead = "\n".to_owned();
        if let Some(doc) = &docstring {
            tokens.retain(|t| t.start >= doc.end);
            lead = format!("\n{body_indent}{}\n", &text[doc.clone()]);
        }
        let finished = !is_placeholder(text, &tokens);
        let body_indent = Some(body_indent.to_owned());
        Self { docstring, body: header_end..end, lead, finished, begun: None, body_indent }
    }
}

/// The docstring of a block whose first statement has these tokens: strings, and nothing else before `;` or
/// the end.
fn docstring(text: &str, tokens: &[Token]) -> Option<Range<usize>> {
    let strings = tokens.iter().take_while(|t| t.kind == Kind::Str).count();
    let (first, last) = (tokens.first()?, tokens.get(strings.checked_sub(1)?)?);
    let prefix = |t: &Token| t.text(text).chars().take_while(char::is_ascii_alphabetic).collect::<String>();
    let plain = tokens[..strings].iter().all(|t| ["", "r", "u"].contains(&prefix(t).to_ascii_lowercase().as_str()));
    let alone = tokens.get(strings).is_none_or(|t| t.is_mark(text, ";"));
    (plain && alone).then_some(first.start..last.end)
}

/// Returns true if these tokens, which may be several simple statements on a line, only stand in for a body.
fn is_placeholder(text: &str, tokens: &[Token]) -> bool {
    tokens.split(|t| t.is_mark(text, ";")).all(|statement| {
        let words: Vec<&str> = statement.iter().map(|t| t.text(text)).collect();
        matches!(
            words.as_slice(),
            [] | ["pass"]
                | [".", ".", "."]
                | ["raise", "NotImplementedError"]
                | ["raise", "NotImplementedError", "(", .., ")"]
        )
    })
}

/// See [`Function::begun`].
fn begun(text: &str, statements: &[Statement]) -> Option<usize> {
    let (last, before) = statements.split_last()?;
    let is_last = before.first()?.column == last.column && is_placeholder(text, &last.tokens);
    let words: Vec<&str> = last.tokens.iter().map(|t| t.text(text)).collect();
    let mut tokens = before.iter().flat_map(|statement| &statement.tokens);
    let returns = tokens.any(|t| ["return", "yield"].contains(&t.text(text)));
    let start = lines::line_start(text, last.tokens[0].start);
    (is_last && placeholder::is_rest("#", text, start, &words, returns)).then_some(start)
}

/// The end of the comment lines at the beginning of `text[start..end]`. In an unfinished function they
/// describe the missing code, and stay.
fn after_comments(text: &str, start: usize, end: usize) -> usize {
    let mut after = start;
    let mut commented = false;
    for token in Tokens::new(&text[..end], start) {
        match token.kind {
            Kind::Comment => {
                commented = true;
                after = token.end;
            }
            Kind::Newline if commented => {
                commented = false;
                after = token.end;
            }
            Kind::Newline => {}
            _ => break,
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On complete code the line scan, made for broken code, and the grammar agree.
    #[test]
    fn scan_and_grammar_agree() {
        let text = "@a\n@b(\n  1)\nclass A[T](B):\n    x = [\n1]\n    @c\n    async def f(self): pass\n    def g(self): return 1\n\
                    \n    class C: ...\nif x:\n    def h():\n        \"\"\"\ndef no():\n\"\"\"\n        def i(): pass\n    j = 1\n    def k(): ...\n";
        let from_grammar = definition::of(&crate::code::python::GRAMMAR, text);
        assert_eq!(from_grammar.as_deref(), Some(scan(text).as_slice()));
        let names: Vec<String> = functions(text).into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["A.f", "A.g", "h", "h.i", "k"]);
    }
}
