//! The pieces of a file with blocks in braces: its statements, and the members of classes, `impl`s and
//! modules.

use std::ops::Range;

use super::context::{self, Statement};
use super::functions::definitions;
use super::{Definition, Form, Table, line_start, tokens};
use crate::code::outline::{Item, ItemKind, between, lone};
use crate::code::rules::Function;

/// Placeholder for a body that is not shown.
const LEFT_OUT: &str = "{ /* ... */ }";
/// Most bytes of a statement behind a function that belong to it, such as `);`.
const MAX_END: usize = 4;

/// See [`crate::code::outline::outline`].
pub(super) fn outline(table: &Table, text: &str, functions: &[Function]) -> Vec<Item> {
    let tokens = tokens(table, text);
    let definitions = definitions(table, text, &tokens);
    let mut of_definition = functions.iter();
    // Functions come in the order of their definitions.
    let functions = definitions.iter().map(|d| if d.scope { None } else { of_definition.next() }).collect();
    let mut file = File { text, definitions: &definitions, functions, items: Vec::new() };
    let mut at = 0;
    for (range, statement) in joined(text, context::statements(table, text, &tokens)) {
        if range.start < at {
            continue;
        }
        let start = between(text, at..range.start, None, &mut file.items);
        at = range.end;
        file.statement(&statement, start..range.end);
    }
    let rest = between(text, at..text.len(), None, &mut file.items);
    lone(text, rest..text.len(), None, &mut file.items);
    file.items
}

/// The statements with their lines. Attributes and decorators are joined with the item below them.
fn joined<'t>(text: &'t str, statements: Vec<Statement<'t>>) -> Vec<(Range<usize>, Statement<'t>)> {
    let mut found: Vec<(Range<usize>, Statement)> = Vec::new();
    let mut above: Option<usize> = None;
    for statement in statements {
        let start = line_start(text, statement.range.start);
        let code = &text[statement.range.clone()];
        // `#![...]` is about the whole file.
        if code.starts_with(['#', '@']) && !code.starts_with("#!") && !code.contains('{') {
            above = above.or(Some(start));
            continue;
        }
        found.push((above.take().unwrap_or(start)..line_end(text, statement.range.end), statement));
    }
    found
}

/// The end of the line that byte `at` is in.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |n| at + n + 1)
}

/// The last part of a name. The mark of a private member is no part of the word.
fn own_name(definition: &Definition) -> &str {
    definition.name.rsplit('.').next().unwrap_or(&definition.name).trim_start_matches('#')
}

struct File<'a> {
    text: &'a str,
    definitions: &'a [Definition],
    /// By definition; scopes have none.
    functions: Vec<Option<&'a Function>>,
    items: Vec<Item>,
}

impl File<'_> {
    fn statement(&mut self, statement: &Statement, range: Range<usize>) {
        let names = &statement.names;
        // A function among the arguments of what a name gets is not the statement's.
        let is_behind = |d: &Definition| self.text.get(range.start..d.head).is_some_and(|front| front.contains('='));
        let is_own = |d: &Definition| names.is_empty() || names.contains(&own_name(d)) || !is_behind(d);
        // Decorators may belong to it.
        let own = |d: &&Definition| d.parent.is_none() && range.contains(&d.head) && is_own(d);
        let index = self.definitions.iter().position(|d| own(&d));
        if let Some(index) = index
            && self.definition(index, range.clone(), None)
        {
            return;
        }
        let kind = if statement.import { ItemKind::Import } else { ItemKind::Other };
        let known = if statement.import { &statement.words } else { &statement.names };
        let mut names: Vec<String> = known.iter().map(|&name| name.to_owned()).collect();
        // A class or trait without functions is no scope.
        if let Some(index) = index.filter(|_| names.is_empty()) {
            names.push(own_name(&self.definitions[index]).to_owned());
        }
        self.items.push(Item::whole(kind, self.text, range, names, None));
    }

    /// Adds a function or scope with these lines. Returns true if they can be shown in a shorter form.
    fn definition(&mut self, index: usize, range: Range<usize>, parent: Option<usize>) -> bool {
        let (text, this) = (self.text, &self.definitions[index]);
        let own = own_name(this);
        let head = line_start(text, this.head).max(range.start);
        if head >= this.block.start || this.block.end > range.end {
            return false;
        }
        let Some(function) = self.functions[index] else { return self.scope(index, range, parent) };
        let end = text[this.block.end..range.end].trim_end();
        let end = if end.len() <= MAX_END { end } else { "" };
        let before = |from: usize| text[from..this.block.start].trim_end().to_owned();
        let short = |from| format!("{} {LEFT_OUT}{end}\n", before(from));
        let lead = line_start(text, function.stub).clamp(range.start, head);
        let (signature, documented) = (short(head), short(lead));
        let whole = Item::whole(ItemKind::Function, text, range, vec![own.to_owned()], parent);
        self.items.push(Item { name: function.name.clone(), signature, documented, ..whole });
        true
    }

    /// Adds a scope, if its members stand on lines of their own.
    fn scope(&mut self, index: usize, range: Range<usize>, parent: Option<usize>) -> bool {
        let (text, this) = (self.text, &self.definitions[index]);
        let inside = line_end(text, this.block.start);
        // A block that is not closed may end with any character.
        let last_char = text[..this.block.end].char_indices().next_back().map_or(0, |(at, _)| at);
        let close = line_start(text, last_char);
        let members: Vec<(usize, Range<usize>)> = (0..self.definitions.len())
            .filter(|&i| self.definitions[i].parent == Some(index))
            .map(|i| (i, self.lines(i)))
            .collect();
        let bounds = std::iter::once(inside).chain(members.iter().map(|(_, m)| m.end));
        let apart = bounds.zip(members.iter().map(|(_, m)| m.start)).all(|(end, start)| end <= start);
        let closed = this.form == Form::Braces && text[close..].trim_start().starts_with('}');
        let last = members.last().map_or(inside, |(_, m)| m.end);
        if members.is_empty() || !apart || !closed || last > close {
            return false;
        }
        let own = own_name(this).to_owned();
        let head = text[range.start..inside].to_owned();
        let at = self.items.len();
        self.items.push(Item {
            name: this.name.clone(),
            documented: head.clone(),
            signature: head,
            close: text[close..range.end].to_owned(),
            ..Item::whole(ItemKind::Scope, text, range, vec![own], parent)
        });
        let mut from = inside;
        for (member, lines) in members {
            let mut start = between(text, from..lines.start, Some(at), &mut self.items);
            // Fields may stand right above.
            let is_code = |line: &str| !["//", "/*", "*", "@", "#["].iter().any(|mark| line.trim().starts_with(mark));
            if text[start..lines.start].lines().any(is_code) {
                lone(text, start..lines.start, Some(at), &mut self.items);
                start = lines.start;
            }
            from = lines.end;
            if !self.definition(member, start..lines.end, Some(at)) {
                self.items.push(Item::whole(ItemKind::Other, text, start..lines.end, Vec::new(), Some(at)));
            }
        }
        let rest = between(text, from..close, Some(at), &mut self.items);
        lone(text, rest..close, Some(at), &mut self.items);
        true
    }

    /// The lines of a definition, with the comments and attributes above.
    fn lines(&self, index: usize) -> Range<usize> {
        let this = &self.definitions[index];
        let start = self.functions[index].map_or(this.head, |function| function.stub.min(this.head));
        line_start(self.text, start)..line_end(self.text, this.block.end)
    }
}
