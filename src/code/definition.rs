//! Definitions of functions and classes, read from a syntax tree. The walk is the same for every language;
//! only the names of nodes differ.

use super::syntax;

/// The relevant nodes of a grammar.
pub(super) struct Grammar {
    /// The grammar.
    pub language: fn() -> tree_sitter::Language,
    /// Nodes that define a function; their field `name` is its name.
    pub functions: &'static [&'static str],
    /// Nodes that define a class; their field `name` is its name.
    pub classes: &'static [&'static str],
    /// Nodes that wrap a definition and its decorators.
    pub wrappers: &'static [&'static str],
}

/// A function or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub name: String,
    /// True if it is a class.
    pub class: bool,
    /// Byte of its first decorator, or of its keyword.
    pub start: usize,
    /// Byte of its keyword.
    pub keyword: usize,
    /// Index of the definition around it.
    pub parent: Option<usize>,
}

/// All definitions of `text` in the order they stand in; `None` if `text` cannot be parsed without errors.
pub(super) fn of(grammar: &Grammar, text: &str) -> Option<Vec<Definition>> {
    let tree = syntax::parse(&(grammar.language)(), text)?;
    let mut found: Vec<Definition> = Vec::new();
    // Definitions that are open at this node: index and end.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut wrapper: Option<usize> = None;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        open.retain(|&(_, end)| node.start_byte() < end);
        if grammar.wrappers.contains(&node.kind()) {
            wrapper = Some(node.start_byte());
        } else if let class = grammar.classes.contains(&node.kind())
            && (class || grammar.functions.contains(&node.kind()))
            && let Some(name) = node.child_by_field_name("name")
        {
            let keyword = node.start_byte();
            found.push(Definition {
                name: text.get(name.byte_range()).unwrap_or_default().to_owned(),
                class,
                start: wrapper.take().unwrap_or(keyword),
                keyword,
                parent: open.last().map(|&(index, _)| index),
            });
            open.push((found.len() - 1, node.end_byte()));
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
