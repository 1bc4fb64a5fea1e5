//! Recognises functions and scopes by the tokens before a brace.

use crate::code::braces::scan::{Head, HeadDefinition, Heads};

pub(super) const HEADS: Heads = Heads {
    restarts: &[
        "function", "class", "export", "import", "const", "let", "var", "async", "interface", "type", "enum",
        "namespace", "abstract", "declare",
    ],
    goes_on: &["extends", "implements", "instanceof", "in", "of", "as", "satisfies"],
    arrows: true,
    read,
};

/// Words before a definition that do not name it.
const MODIFIERS: &[&str] = &[
    "export", "default", "const", "let", "var", "static", "async", "public", "private", "protected", "readonly",
    "declare", "override", "abstract", "accessor",
];

/// Words before brackets and a block that are not names of a method.
const STATEMENTS: &[&str] = &["if", "for", "while", "switch", "catch", "with", "function", "return", "await", "super"];

fn read(head: &Head) -> Option<HeadDefinition> {
    let count = head.tokens.len();
    let last = count.checked_sub(1)?;
    if matches!(head.at(last), ":" | "|" | "&" | "<" | "," | "extends") {
        // The brace opens a type, or an object in an object.
        return (last > 0 && head.at(last) == ":")
            .then(|| bound(head, last + 1, true))
            .flatten()
            .filter(|f| f.keyword + 1 == last);
    }
    if let Some(keyword) = head.last("function") {
        let name = head.skip(keyword + 1, &["*"]);
        let own = |f: &HeadDefinition| f.name == "exports" && head.is_word(name);
        if let Some(found) = bound(head, keyword, false).filter(|f| !own(f)) {
            return Some(found);
        }
        if head.is_word(name) {
            let first = first(head, keyword);
            return Some(HeadDefinition { name: head.at(name).to_owned(), scope: false, first, keyword: name });
        }
        return default(head, keyword, false);
    }
    if last > 0 && head.at(last) == ">" && head.at(last - 1) == "=" {
        return bound(head, last - 1, false).or_else(|| default(head, last, false));
    }
    if let Some(keyword) = head.last("class") {
        let name = keyword + 1;
        if head.is_word(name) && !matches!(head.at(name), "extends" | "implements") {
            let first = first(head, keyword);
            return Some(HeadDefinition { name: head.at(name).to_owned(), scope: true, first, keyword: name });
        }
        return bound(head, keyword, true).or_else(|| default(head, keyword, true));
    }
    let from = head.skip(0, MODIFIERS);
    if matches!(head.at(from), "namespace" | "module") && head.is_word(from + 1) {
        return Some(HeadDefinition { name: head.at(from + 1).to_owned(), scope: true, first: 0, keyword: from + 1 });
    }
    if head.at(last) == "=" { bound(head, last + 1, true) } else { method(head) }
}

/// The first of the words that stand before a keyword and belong to it.
fn first(head: &Head, keyword: usize) -> usize {
    let mut first = keyword;
    while first > 0 && MODIFIERS.contains(&head.at(first - 1)) {
        first -= 1;
    }
    first
}

/// The name to which the value at `value` is bound: `const f =`, `f =`, `f: T =`, `f:`, `a.b.f =`.
fn bound(head: &Head, value: usize, scope: bool) -> Option<HeadDefinition> {
    let from = head.skip(0, MODIFIERS);
    let mut name = head.skip(from, &["#"]);
    let start = from;
    if !(head.is_word(name) || matches!(head.at(name).chars().next(), Some('"' | '\''))) {
        return None;
    }
    while head.at(name + 1) == "." && head.is_word(name + 2) {
        name += 2;
    }
    let mark = head.skip(name + 1, &["?", "!"]);
    let optional = mark > name + 1;
    let binds = match head.at(mark) {
        "=" => !optional && (mark + 1 == value || !matches!(head.at(mark + 1), "=" | ">")),
        ":" => true,
        _ => false,
    };
    let written = head.text.get(head.tokens[start].start..head.tokens[name].end)?;
    let found = HeadDefinition { name: clean(written), scope, first: 0, keyword: start };
    (binds && mark < value).then_some(found)
}

/// `export default` of a value without a name.
fn default(head: &Head, value: usize, scope: bool) -> Option<HeadDefinition> {
    let from = head.skip(0, &["export"]);
    let is = from > 0 && head.at(from) == "default" && value > from;
    is.then(|| HeadDefinition { name: "default".to_owned(), scope, first: 0, keyword: 0 })
}

/// A method of a class or an object: a name with round brackets after it.
fn method(head: &Head) -> Option<HeadDefinition> {
    let mut name = 0;
    while head.at(name) == "@" {
        name += 2;
        while head.at(name) == "." {
            name += 2;
        }
        name += if head.at(name) == "(" { 2 } else { 0 };
    }
    let first = name;
    while head.at(name) == "*"
        || (MODIFIERS.contains(&head.at(name)) || matches!(head.at(name), "get" | "set"))
            && !matches!(head.at(name + 1), "(" | "<" | "")
    {
        name += 1;
    }
    let start = name;
    if matches!(head.at(name), "#" | "[") {
        name += 1;
    }
    let open = head.after_angles(head.skip(name + 1, &["?"]));
    let named = head.is_word(name) || head.at(name) == "]" || head.at(name).starts_with(['"', '\'']);
    let is = head.in_scope && named && head.at(open) == "(" && !STATEMENTS.contains(&head.at(name));
    let written = head.text.get(head.tokens.get(start)?.start..head.tokens.get(name)?.end)?;
    is.then(|| HeadDefinition { name: clean(written), scope: false, first, keyword: start })
}

/// Converts a written name to the used name: `"f"`, `module.exports.f`, `Stack.prototype.f`.
pub(super) fn clean(written: &str) -> String {
    let bare = written.trim_matches(['"', '\'']);
    let outer = ["module.exports.", "exports.", "module.", "this.", "window.", "globalThis."];
    let bare = outer.iter().find_map(|o| bare.strip_prefix(o)).unwrap_or(bare);
    bare.replace(".prototype.", ".")
}
