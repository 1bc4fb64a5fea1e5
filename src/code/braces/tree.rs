//! Definitions read from a syntax tree. The walk is the same for every language; only the names of nodes
//! differ.

use tree_sitter::Node;

use super::super::syntax;
use super::{Definition, Form};

/// The relevant nodes of a language's grammar.
pub(in crate::code) struct Grammar {
    /// The grammar and its variants. The first that can parse a text is used.
    pub languages: &'static [fn() -> tree_sitter::Language],
    /// Nodes that give a name to a function or scope.
    pub names: &'static [Binding],
    /// Nodes that are functions; their field `body` is the block.
    pub functions: &'static [&'static str],
    /// Nodes that contain functions: classes, modules. Their field `body`, or the nodes themselves, are the
    /// block.
    pub scopes: &'static [&'static str],
    /// Nodes around a definition that belong to its head.
    pub statements: &'static [&'static str],
    /// Names that stand for the whole file. A value bound to them uses its own name, if it has one.
    pub nameless: &'static [&'static str],
    /// Field with the type of a function that stands outside of it.
    pub receiver: &'static str,
    /// Converts a written name to the used name.
    pub clean: fn(&str) -> String,
}

/// A node that gives a name to a function or scope.
pub(in crate::code) struct Binding {
    /// The node.
    pub kind: &'static str,
    /// Field with the name.
    pub name: &'static str,
    /// Field with the named value; empty if it is the node itself.
    pub value: &'static str,
}

impl Binding {
    /// A node with a name of its own.
    pub const fn own(kind: &'static str) -> Self {
        Self { kind, name: "name", value: "" }
    }

    /// A node that binds a name to a value.
    pub const fn bound(kind: &'static str, name: &'static str, value: &'static str) -> Self {
        Self { kind, name, value }
    }
}

/// All definitions of `text` in the order they stand in; `None` if `text` cannot be parsed without errors.
pub(super) fn definitions(grammar: &Grammar, text: &str) -> Option<Vec<Definition>> {
    let tree = grammar.languages.iter().find_map(|language| syntax::parse(&language(), text))?;
    let mut found: Vec<Definition> = Vec::new();
    // Definitions that are open at this node: index and end.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        open.retain(|&(_, end)| node.start_byte() < end);
        if let Some(mut definition) = definition(grammar, text, node) {
            definition.parent = open.last().map(|&(index, _)| index);
            open.push((found.len(), node.end_byte()));
            found.push(definition);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(found);
            }
        }
    }
}

fn definition(grammar: &Grammar, text: &str, node: Node) -> Option<Definition> {
    let name = grammar.names.iter().find(|n| n.kind == node.kind())?;
    let value = if name.value.is_empty() { node } else { inner(node.child_by_field_name(name.value)?) };
    let scope = grammar.scopes.contains(&value.kind());
    if !scope && !grammar.functions.contains(&value.kind()) {
        return None;
    }
    let block = match value.child_by_field_name("body") {
        Some(body) => body,
        None if scope => value,
        None => return None,
    };
    let bound = node.child_by_field_name(name.name);
    let clean = |n: Node| (grammar.clean)(&text[n.byte_range()]);
    let nameless = bound.is_none_or(|n| grammar.nameless.contains(&clean(n).as_str()));
    let written = value.child_by_field_name("name").filter(|_| nameless).or(bound);
    let mut own = written.map_or_else(|| "default".to_owned(), clean);
    if let Some(receiver) = node.child_by_field_name(grammar.receiver) {
        own = format!("{}.{own}", (grammar.clean)(&text[receiver.byte_range()]));
    }
    let mut head = node;
    while let Some(parent) = head.parent().filter(|p| grammar.statements.contains(&p.kind())) {
        head = parent;
    }
    let inside = &text[block.byte_range()];
    let braces = inside.len() > 1 && inside.starts_with('{') && inside.ends_with('}') && block.kind() != "object";
    Some(Definition {
        name: own,
        scope,
        head: head.start_byte(),
        keyword: written.map_or(node.start_byte(), |n| n.start_byte()),
        block: block.byte_range(),
        form: if braces || scope { Form::Braces } else { Form::Expression },
        parent: None,
    })
}

/// The content of a list of one value.
fn inner(node: Node) -> Node {
    match node.named_child(0) {
        Some(child) if node.kind() == "expression_list" && node.named_child_count() == 1 => child,
        _ => node,
    }
}
