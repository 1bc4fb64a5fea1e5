//! Imports of a file: read as single statements, and new ones merged into its own in its style.

use std::collections::HashSet;
use std::ops::Range;

use super::{listed, order};
use crate::code::outline::{Item, ItemKind, mentioned, outline};
use crate::code::rust::TRAITS;
use crate::code::uses::Uses;
use crate::language::Language;

/// An import that stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::code) struct Import {
    /// The statement, without its line end.
    pub text: String,
    /// The names that it gives to the file.
    pub names: Vec<String>,
}

/// The imports of a text that has nothing else on its top level.
pub(super) fn of_text(language: Language, text: &str) -> Vec<Import> {
    let items = outline(language, text).into_iter().filter(|item| item.kind == ItemKind::Import);
    items.flat_map(|item| read(language, &text[item.range.clone()], &item.names)).collect()
}

/// The imports of a statement that gives these names. One with a list of paths is several.
pub(super) fn read(language: Language, text: &str, names: &[String]) -> Vec<Import> {
    let code = text.lines().skip_while(|line| is_comment(language, line)).collect::<Vec<_>>().join("\n");
    let code = code.trim();
    if code.contains("__future__") {
        return Vec::new();
    }
    if let Some(leaves) = listed::leaves(code).filter(|_| language == Language::Rust) {
        let names = leaves.iter().map(|leaf| listed::rust_name(leaf).to_owned()).collect();
        return vec![Import { text: code.to_owned(), names }];
    }
    if language != Language::Go {
        return vec![Import { text: code.to_owned(), names: names.to_vec() }];
    }
    let list = code.strip_prefix("import").unwrap_or(code).trim();
    let list = list.strip_prefix('(').map_or(list, |list| list.trim_end().trim_end_matches(')'));
    let specs = list.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let specs = specs.filter(|spec| spec.ends_with('"'));
    let import = |spec: &str| Import { text: format!("import {spec}"), names: go_name(spec).into_iter().collect() };
    specs.map(import).collect()
}

fn is_comment(language: Language, line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(language.line_comment()) || line.starts_with("/*") || line.starts_with('*')
}

/// The name that a path of Go gives to the file, or the one in front of it.
fn go_name(spec: &str) -> Option<String> {
    let (own, path) = spec.split_once('"')?;
    let own = own.trim();
    if !own.is_empty() {
        return (!matches!(own, "_" | ".")).then(|| own.to_owned());
    }
    let mut parts = path.trim_end_matches('"').rsplit('/');
    let is_version =
        |part: &&str| part.len() > 1 && part[1..].bytes().all(|b| b.is_ascii_digit()) && part.starts_with('v');
    let last = parts.find(|part| !is_version(part))?;
    Some(last.strip_prefix("go-").unwrap_or(last).split('.').next().unwrap_or(last).to_owned())
}

/// The change of a text and its pieces that adds these imports in front of byte `top`, a border between two
/// pieces: the bytes that it replaces, and their new text.
pub(super) fn merged(
    language: Language,
    (text, items): (&str, &[Item]),
    top: usize,
    new: &[Import],
) -> (Range<usize>, String) {
    let new = &fresh(language, (text, items), new);
    if new.is_empty() {
        return (top..top, String::new());
    }
    let Some(block) = block(items, top) else {
        let at = place(language, (text, items), top);
        return (at..at, alone(language, text, at, new));
    };
    let mut lines: Vec<String> = text[block.clone()].lines().map(str::to_owned).collect();
    for import in new {
        add(language, &mut lines, import);
    }
    (block, lines.join("\n") + "\n")
}

/// The bytes from the first import of a file to its last, above byte `top`.
pub(super) fn block(items: &[Item], top: usize) -> Option<Range<usize>> {
    let mut own =
        items.iter().filter(|item| item.kind == ItemKind::Import && item.parent.is_none() && item.range.end <= top);
    let first = own.next()?;
    Some(first.range.start..own.next_back().unwrap_or(first).range.end)
}

/// The imports of a Go file without these. Nothing if there are no others.
pub(super) fn without(block: &str, unused: &[Import]) -> String {
    let is_unused = |line: &&str| {
        let line = line.split("//").next().unwrap_or_default().trim();
        let spec = line.strip_prefix("import").unwrap_or(line).trim();
        spec.ends_with('"') && unused.iter().any(|import| import.text["import ".len()..].trim() == spec)
    };
    let kept: String = block.split_inclusive('\n').filter(|line| !is_unused(line)).collect();
    let is_there = kept.lines().any(|line| !matches!(line.trim(), "" | "import (" | "import(" | ")"));
    if is_there { kept } else { String::new() }
}

/// The imports without the names that the file has, in its style. A name must not be imported twice.
fn fresh(language: Language, (text, items): (&str, &[Item]), new: &[Import]) -> Vec<Import> {
    if language == Language::Go {
        return new.to_vec();
    }
    let top = items.iter().filter(|item| item.parent.is_none());
    let mut has: HashSet<String> = top.flat_map(|item| item.names.iter().cloned()).collect();
    let mut paths = paths(language, text, items);
    let mut found = Vec::new();
    for import in new {
        let is_script = language.is_kin(Language::JavaScript);
        let statement = if is_script { in_style(&import.text, text) } else { import.text.clone() };
        let is_new = |part: &str| match (listed::given(language, part), language) {
            ("*" | "_", Language::Rust) => !paths.contains(part),
            // `import a.b` loads more than the name `a`.
            (name, Language::Python) => !has.contains(name) || part.contains('.') && !part.contains(' ') || part == "*",
            (name, _) => !has.contains(name),
        };
        let statements = listed::kept(language, &statement, is_new);
        found.extend(statements.into_iter().map(|text| Import { text, names: import.names.clone() }));
        has.extend(import.names.iter().filter(|name| !matches!(name.as_str(), "*" | "_")).cloned());
        paths.extend(listed::leaves(&import.text).unwrap_or_default());
    }
    found
}

/// An import with the names of its list that stand in this code, if there are any.
pub(super) fn narrowed(language: Language, import: Import, code: &str, used: &Uses) -> Vec<Import> {
    let words: HashSet<&str> = mentioned(code).collect();
    let is_used = |part: &str| {
        let name = listed::given(language, part);
        let is_trait = || language == Language::Rust && !unnamed(&format!("use {part};"), used).is_empty();
        name == "*" || name == "_" || words.contains(name) || is_trait()
    };
    let statements = listed::kept(language, &import.text, is_used);
    if statements.is_empty() {
        return vec![import];
    }
    statements.into_iter().flat_map(|text| of_text(language, &(text + "\n"))).collect()
}

/// The paths that a Rust file imports at its top.
pub(super) fn paths(language: Language, text: &str, items: &[Item]) -> HashSet<String> {
    let is_import = |item: &&Item| item.kind == ItemKind::Import && item.parent.is_none() && language == Language::Rust;
    let own = items.iter().filter(is_import).flat_map(|item| read(language, &text[item.range.clone()], &item.names));
    own.flat_map(|import| listed::leaves(&import.text).unwrap_or_default()).collect()
}

/// The paths of a `use` of Rust that code with these names may need without their own name, and true if it
/// does.
pub(super) fn unnamed(text: &str, used: &Uses) -> Vec<(String, bool)> {
    let is_method = |methods: &[&str]| methods.is_empty() || methods.iter().any(|method| used.has(method));
    let need = |leaf: String| {
        let path = leaf.split(" as ").next().unwrap_or(&leaf);
        let name = path.rsplit("::").next().unwrap_or(path);
        if name == "*" {
            let of_io = ["Read", "Write", "BufRead", "Seek"];
            let is_io = path == "std::io::prelude::*";
            let is_used = TRAITS.iter().any(|(name, methods)| of_io.contains(name) && is_method(methods));
            let is_sure = if is_io { is_used } else { path.ends_with("prelude::*") };
            return Some((leaf, is_sure));
        }
        let known = TRAITS.iter().find(|(known, _)| *known == name);
        let is_trait = known.map_or(name.ends_with("Ext"), |(_, methods)| is_method(methods));
        is_trait.then_some((leaf, true))
    };
    listed::leaves(text).unwrap_or_default().into_iter().filter_map(need).collect()
}

/// Adds an import to the lines from the first import of a file to its last.
fn add(language: Language, lines: &mut Vec<String>, import: &Import) {
    if language == Language::Go {
        return add_to_go(lines, import);
    }
    // One with an attribute may not always be there.
    let is_sure = |own: &Range<usize>| own.start == 0 || !lines[own.start - 1].trim_start().starts_with("#[");
    let own = order::statements(language, lines).into_iter().filter(is_sure);
    let joined =
        own.into_iter().find_map(|own| Some((listed::joined(language, &lines[own.clone()], &import.text)?, own)));
    match joined {
        Some((joined, own)) => drop(lines.splice(own, joined)),
        None => order::insert(language, lines, &import.text),
    }
}

/// Adds a path to the list of a Go file. A single import becomes a list.
fn add_to_go(lines: &mut Vec<String>, import: &Import) {
    let spec = import.text.trim_start_matches("import").trim();
    let path = |line: &str| line.split('"').nth(1).unwrap_or_default().to_owned();
    if let Some(open) = lines.iter().position(|line| line.trim_end().ends_with("import (") || line.trim() == "import(")
    {
        // Packages of the library are the first group as a rule; others have a domain.
        let is_of_group = |line: &&String| !line.trim().is_empty() && line.trim() != ")";
        let mut from = open + 1;
        let mut end = from + lines[from..].iter().take_while(is_of_group).count();
        let is_domain = |path: &str| path.split('/').next().is_some_and(|first| first.contains('.'));
        let is_other =
            |lines: &[String]| lines.first().is_some_and(|line| is_domain(&path(line)) != is_domain(&path(spec)));
        if is_other(&lines[from..end]) && lines.get(end).is_some_and(|line| line.trim().is_empty()) {
            from = end + 1;
            end = from + lines[from..].iter().take_while(is_of_group).count();
        }
        let at = lines[from..end].iter().position(|line| path(line) > path(spec)).map_or(end, |at| from + at);
        lines.insert(at, format!("\t{spec}"));
        return;
    }
    let single: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].starts_with("import ")).collect();
    let [at] = single.as_slice() else { return lines.push(import.text.clone()) };
    if path(&lines[*at]) == "C" {
        return lines.push(import.text.clone());
    }
    let mut specs = [lines[*at].trim_start_matches("import").trim().to_owned(), spec.to_owned()];
    specs.sort_by_key(|spec| path(spec));
    let list = specs.map(|spec| format!("\t{spec}"));
    lines.splice(at..=at, ["import (".to_owned()].into_iter().chain(list).chain([")".to_owned()]));
}

/// A JavaScript import in the form that the file uses: `import` or `require`.
pub(super) fn in_style(import: &str, text: &str) -> String {
    let has = |words: &[&str]| text.lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    let is_module = has(&["import ", "import{", "export "]);
    let requires = text.contains("require(") || text.contains("module.exports");
    let end = if import.ends_with(';') { ";" } else { "" };
    // `import fs = require('fs')` is TypeScript's own, and node cannot load it.
    let own = import.strip_prefix("import ").and_then(|rest| rest.split_once(" = require("));
    let own = own.and_then(|(name, path)| {
        Some(format!("import {name} from {}{end}", path.trim_end_matches(';').strip_suffix(')')?))
    });
    let import = own.as_deref().unwrap_or(import);
    let bare = import.trim_end_matches(';');
    if bare.starts_with("import ") && requires && !is_module {
        let Some((names, path)) = bare["import ".len()..].rsplit_once(" from ") else { return import.to_owned() };
        let names = names.trim().strip_prefix("* as ").unwrap_or(names.trim());
        if names.starts_with('{') || names.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            return format!("const {} = require({}){end}", names.replace(" as ", ": "), path.trim());
        }
    } else if is_module
        && !requires
        && let Some((names, path)) = bare.split_once("= require(")
    {
        let names = names.trim().trim_start_matches("const ").trim_start_matches("let ").trim_start_matches("var ");
        if let Some(path) = path.strip_suffix(')') {
            return format!("import {} from {path}{end}", names.replace(": ", " as "));
        }
    }
    import.to_owned()
}

/// Where imports of a file that has none stand: behind what has to be first.
fn place(language: Language, (text, items): (&str, &[Item]), top: usize) -> usize {
    let mut at = 0;
    for line in text[..top].split_inclusive('\n') {
        let bare = line.trim();
        let goes_on = match language {
            Language::Python => bare.starts_with("#!") || bare.starts_with("# -*-"),
            Language::Go => return go_place(text, top),
            Language::Rust => bare.starts_with("//!") || bare.starts_with("#!["),
            Language::JavaScript | Language::TypeScript => {
                bare.starts_with("#!") || matches!(bare.trim_end_matches(';'), "'use strict'" | "\"use strict\"")
            }
        };
        let is_blank = bare.is_empty() && at > 0;
        if !goes_on && !is_blank {
            break;
        }
        at += line.len();
    }
    if language == Language::Python {
        let is_docstring =
            |text: &str| ["\"", "'", "r\"", "R\""].iter().any(|quote| text.trim_start().starts_with(quote));
        let doc = items.iter().find(|item| item.range.end <= top && item.range.end > at && item.names.is_empty());
        if let Some(doc) = doc.filter(|doc| is_docstring(&text[at..doc.range.end])) {
            at = doc.range.end;
        }
    }
    if at == 0 {
        return 0;
    }
    // Blank lines stay in front of what comes behind.
    let end = text[..at].trim_end().len();
    text[end..top].find('\n').map_or(top, |line_end| end + line_end + 1)
}

/// Behind the package clause.
fn go_place(text: &str, top: usize) -> usize {
    let mut at = 0;
    for line in text[..top].split_inclusive('\n') {
        at += line.len();
        if line.starts_with("package ") {
            return at;
        }
    }
    0
}

/// New imports with the blank lines around them.
fn alone(language: Language, text: &str, at: usize, new: &[Import]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for import in new {
        add(language, &mut lines, import);
    }
    let before = if at == 0 { "" } else { "\n" };
    let is_definition =
        ["def ", "class ", "async def ", "@"].iter().any(|word| text[at..].trim_start().starts_with(word));
    let blank = text[at..].bytes().take_while(|&byte| byte == b'\n').count();
    let wanted = if language == Language::Python && is_definition { 2_usize } else { 1 };
    let after = "\n".repeat(wanted.saturating_sub(blank));
    format!("{before}{}\n{after}", lines.join("\n"))
}
