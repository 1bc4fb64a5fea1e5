//! The pieces of a Python file: its statements, with those of a block joined to its head.

use super::context::{constant, imported};
use super::lex::{Kind, Token};
use super::lines::{self, Statement, line_start};
use crate::code::outline::{Item, ItemKind, between, lone};
use crate::code::rules::Function;

/// Longest docstring, in bytes, that is shown with a function without its body. Of longer ones the first
/// paragraph is shown.
const MAX_DOCSTRING: usize = 400;

/// See [`crate::code::outline::outline`].
pub(super) fn outline(text: &str, functions: &[Function]) -> Vec<Item> {
    let statements = lines::statements(text, 0);
    let mut file = File { text, functions, items: Vec::new() };
    let end = file.level(&statements, 0, None, "");
    let rest = between(text, end..text.len(), None, &mut file.items);
    lone(text, rest..text.len(), None, &mut file.items);
    file.items
}

struct File<'a> {
    text: &'a str,
    functions: &'a [Function],
    items: Vec<Item>,
}

impl File<'_> {
    /// Adds the statements of a block, from byte `from` on. Returns the end of the last one.
    fn level(&mut self, statements: &[Statement], mut from: usize, parent: Option<usize>, around: &str) -> usize {
        let column = statements.first().map_or(0, |s| s.column);
        let mut rest = statements;
        while let Some(first) = rest.first() {
            // Decorators belong to the definition below them, clauses to the statement that they continue.
            let decorators = rest.iter().take_while(|s| s.tokens[0].is_mark(self.text, "@")).count();
            let inside = rest[1..]
                .iter()
                .enumerate()
                .position(|(i, s)| i + 1 > decorators && s.column <= column && !goes_on(s.tokens[0].text(self.text)));
            let (group, after) = rest.split_at(inside.map_or(rest.len(), |n| n + 1));
            let line = line_start(self.text, first.tokens[0].start).max(from);
            let start = between(self.text, from..line, parent, &mut self.items);
            from = group.last().map_or(line, |s| s.end).max(line);
            self.item(group, decorators, start..from, parent, around);
            rest = after;
        }
        from
    }

    fn item(
        &mut self,
        group: &[Statement],
        decorators: usize,
        range: std::ops::Range<usize>,
        parent: Option<usize>,
        around: &str,
    ) {
        let text = self.text;
        let Some(main) = group.get(decorators) else {
            self.items.push(Item::whole(ItemKind::Other, text, range, Vec::new(), parent));
            return;
        };
        let (first, code) = (main.tokens[0], group[0].tokens[0].start);
        let defines = lines::defines(&text[first.start..]);
        let mut words = main.tokens.iter().map(|t| t.text(text)).skip_while(|&word| word == "async");
        let (keyword, own) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let name = if around.is_empty() { own.to_owned() } else { format!("{around}.{own}") };
        let this = self.functions.iter().find(|f| defines && keyword == "def" && f.range.start == code);
        if let Some(this) = this {
            let names = vec![own.to_owned()];
            let block = &group[decorators + 1..];
            let column = block.first().map_or(0, |s| s.column);
            let begins = |s: &&Statement| s.column == column && !goes_on(s.tokens[0].text(text));
            let (signature, opening, documented) = short(text, this, range.start);
            let statements = block.iter().filter(begins).map(|s| line_start(text, s.tokens[0].start)).collect();
            let whole = Item::whole(ItemKind::Function, text, range, names, parent);
            self.items.push(Item { name, signature, documented, opening, statements, ..whole });
            return;
        }
        let block = &group[decorators + 1..];
        if defines && keyword == "class" && !block.is_empty() {
            let head = text[range.start..main.end].to_owned();
            let (index, end) = (self.items.len(), range.end);
            self.items.push(Item {
                name: name.clone(),
                documented: head.clone(),
                signature: head,
                empty: format!("{}...\n", &text[line_start(text, block[0].tokens[0].start)..block[0].tokens[0].start]),
                ..Item::whole(ItemKind::Scope, text, range, vec![own.to_owned()], parent)
            });
            let last = self.level(block, main.end, Some(index), &name);
            lone(text, last..end.max(last), Some(index), &mut self.items);
            return;
        }
        let imports = group.iter().any(|s| !imported(text, &s.tokens).is_empty());
        let kind = if imports { ItemKind::Import } else { ItemKind::Other };
        let names = group.iter().flat_map(|s| bound(text, s)).map(str::to_owned).collect();
        self.items.push(Item::whole(kind, text, range, names, parent));
    }
}

/// Returns true if a statement that begins with this word is a clause of the one before.
fn goes_on(word: &str) -> bool {
    ["else", "elif", "except", "finally"].contains(&word)
}

/// The names that a statement defines.
fn bound<'t>(text: &'t str, statement: &Statement) -> Vec<&'t str> {
    let names = imported(text, &statement.tokens);
    if !names.is_empty() {
        return names;
    }
    if lines::defines(&text[statement.tokens[0].start..]) {
        let mut words = statement.tokens.iter().map(|t| t.text(text)).skip_while(|&word| word == "async");
        return words.nth(1).into_iter().collect();
    }
    // `A, B = 1, 2`
    let targets: Vec<&Token> = statement.tokens.iter().take_while(|t| !t.is_mark(text, "=")).collect();
    let is_list = targets.iter().all(|t| t.kind == Kind::Word || t.is_mark(text, ","));
    if is_list && targets.len() > 1 && targets.len() < statement.tokens.len() {
        return targets.iter().filter(|t| t.kind == Kind::Word).map(|t| t.text(text)).collect();
    }
    constant(text, statement).into_iter().collect()
}

/// A function without its docstring and body, its opening, and the function without its body.
fn short(text: &str, this: &Function, from: usize) -> (String, String, String) {
    let indent = this.body_indent.as_deref().unwrap_or_default();
    let code = line_start(text, this.range.start).max(from);
    let head = text[code..this.docstring.as_ref().map_or(this.body.start, |d| d.start.min(this.body.start))].trim_end();
    let signature = if head.ends_with(':') { format!("{head} ...\n") } else { format!("{head}\n{indent}...\n") };
    let opening = format!("{head}\n{indent}...\n");
    let Some(doc) = this.docstring.clone() else {
        let documented = format!("{}{signature}", &text[from..code]);
        return (signature, opening, documented);
    };
    let doc = summary(&text[doc]);
    let documented = format!("{}{head}\n{indent}{doc}\n{indent}...\n", &text[from..code]);
    (signature, opening, documented)
}

/// A docstring, or the first paragraph of a long one.
fn summary(doc: &str) -> String {
    let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| doc.ends_with(quotes));
    let first = doc.split("\n\n").next().unwrap_or_default().trim_end();
    match quotes {
        Some(quotes) if doc.len() > MAX_DOCSTRING && first.len() < doc.len() => format!("{first}{quotes}"),
        _ => doc.to_owned(),
    }
}
