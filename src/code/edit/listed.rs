//! The names of an import one by one: those that a file has are taken out, and the others join a statement of
//! the file that lists names of the same module.

use std::slice;

use crate::code::{names, text, without_comments};
use crate::language::Language;

/// Longest line that grows by a name.
const MAX_LINE: usize = 100;

/// An import with those of its names for which `keeps` is true: no statement, one, or several. `keeps` takes
/// a name as the list has it, or a path of Rust in full. A statement that cannot be read stays.
pub(super) fn kept(language: Language, text: &str, keeps: impl Fn(&str) -> bool) -> Vec<String> {
    let keeps = |part: &String| keeps(part);
    let kept = match language {
        Language::Go => None,
        Language::Python => Python::read(text).map(|own| {
            let mut new = own.clone();
            new.names.retain(keeps);
            if new == own { vec![text.to_owned()] } else { new.shown().into_iter().collect() }
        }),
        Language::JavaScript | Language::TypeScript => Script::read(text).map(|own| {
            let mut new = own.clone();
            new.lone.retain(keeps);
            new.names = new.names.map(|names| names.into_iter().filter(keeps).collect());
            if new == own { vec![text.to_owned()] } else { new.shown().into_iter().collect() }
        }),
        Language::Rust => leaves(text).map(|own| {
            let new: Vec<&String> = own.iter().filter(|leaf| keeps(leaf)).collect();
            if new.len() == own.len() { vec![text.to_owned()] } else { grouped(&new) }
        }),
    };
    kept.unwrap_or_else(|| vec![text.to_owned()])
}

/// The constants or variables of Go that a declaration in brackets lists, without those that are `defined`.
/// `None` if it is no such list, or its values count up.
pub(super) fn ungrouped(text: &str, defined: impl Fn(&str) -> bool) -> Option<String> {
    let code = without_comments(Language::Go, text);
    let open = code.find('(').filter(|&open| matches!(code[..open].trim(), "const" | "var"))?;
    let close = code.rfind(')')?;
    if names(Language::Go, text).contains("iota") {
        return None;
    }
    let (mut depth, mut specs) = (0_usize, Vec::new());
    let mut at = text[open..].find('\n')? + open + 1;
    let mut begin = at;
    for line in text[at..close].split_inclusive('\n') {
        let code = &code[at..at + line.len()];
        at += line.len();
        depth = (depth + code.matches(['(', '{', '[']).count()).saturating_sub(code.matches([')', '}', ']']).count());
        if depth == 0 && !code.trim().is_empty() {
            specs.push((begin, at));
            begin = at;
        }
    }
    let is_new = |&(begin, end): &(usize, usize)| {
        let spec = code[begin..end].trim_start();
        let list = spec.split(['=', ' ']).next().unwrap_or(spec);
        !list.split(',').any(|name| defined(name.trim()))
    };
    let kept: Vec<&str> = specs.into_iter().filter(is_new).map(|(begin, end)| &text[begin..end]).collect();
    if let [one] = kept[..]
        && one.trim().lines().count() == 1
    {
        let words: Vec<&str> = one.trim().splitn(2, ' ').map(str::trim).collect();
        return Some(format!("{}{}\n", text[..open].trim_end_matches('('), words.join(" ")));
    }
    let head = &text[..open + text[open..].find('\n')?];
    Some(format!("{head}\n{}{}", kept.concat(), &text[close..]))
}

/// The name that a part of an import gives to the file.
pub(super) fn given(language: Language, part: &str) -> &str {
    match language {
        Language::Rust => rust_name(part),
        // `import a.b` gives `a`.
        Language::Python if !part.contains(' ') => part.split('.').next().unwrap_or(part),
        _ => local(language, part),
    }
}

/// The lines of an import with the names of another in it, if both list names of the same module.
pub(super) fn joined(language: Language, lines: &[String], import: &str) -> Option<Vec<String>> {
    let [line] = lines else { return in_lines(language, lines, import) };
    let line = match language {
        Language::Go => None,
        Language::Python => {
            let (own, new) = (Python::read(line)?, Python::read(import)?);
            let is_list = !line.contains(['(', '#', '\\', '*']);
            let is_same = own.takes(&new) && is_list;
            let all = Python { names: ordered(language, own.names, new.names), module: own.module };
            all.shown().filter(|_| is_same)
        }
        Language::JavaScript | Language::TypeScript => Script::joined(line, import),
        Language::Rust => {
            let (own, new) = (leaves(line)?, leaves(import)?);
            let (parent, _) = parted(own.first()?);
            let is_list = line.contains('{') || parent.contains("::");
            let is_use = line.starts_with("use ") && line.ends_with(';');
            let all = || grouped(&own.iter().chain(&new).collect::<Vec<_>>()).concat();
            (is_flat(&own, &new) && is_list && is_use).then(all)
        }
    };
    line.filter(|line| line.len() <= MAX_LINE).map(|line| vec![line])
}

/// See [`joined`]: a list with a line for each name.
fn in_lines(language: Language, lines: &[String], import: &str) -> Option<Vec<String>> {
    let text = lines.join("\n");
    let new = match language {
        Language::Go => return None,
        Language::Python => {
            let (own, new) = (Python::read(&text)?, Python::read(import)?);
            own.takes(&new).then_some(new.names)?
        }
        Language::JavaScript | Language::TypeScript => {
            let (own, new) = (Script::read(&text)?, Script::read(import)?);
            own.taken(new)?
        }
        Language::Rust => {
            let (own, new) = (leaves(&text)?, leaves(import)?);
            is_flat(&own, &new).then(|| new.iter().map(|leaf| parted(leaf).1.to_owned()).collect())?
        }
    };
    let [first, inner @ .., last] = lines else { return None };
    let is_name = |line: &String| !line.trim_end_matches(',').contains([',', '#', '/', '(', '{']);
    if !first.ends_with(['(', '{']) || !last.starts_with([')', '}']) || !inner.iter().all(is_name) {
        return None;
    }
    let white = text::white(inner.first()?, 0);
    let own = inner.iter().map(|line| line.trim().trim_end_matches(',').to_owned()).collect();
    let inner: Vec<String> = ordered(language, own, new).into_iter().map(|name| format!("{white}{name},")).collect();
    Some([slice::from_ref(first), &inner, slice::from_ref(last)].concat())
}

/// Names of a list and new ones, in the order of the list: by kind, by letter, or none.
fn ordered(language: Language, mut names: Vec<String>, new: Vec<String>) -> Vec<String> {
    let kind = |name: &str| match (language, order(name).0) {
        (Language::Rust, kind) => kind,
        // Constants, types, functions.
        (Language::Python, 3) => 0,
        (Language::Python, 2) => 1,
        (Language::Python, _) => 2,
        _ => 0,
    };
    let by_kind = |name: &String| (kind(name), name.clone());
    let by_letter = |name: &String| name.to_lowercase();
    let (is_by_kind, is_by_letter) = (names.is_sorted_by_key(by_kind), names.is_sorted_by_key(by_letter));
    names.extend(new);
    if is_by_kind {
        names.sort_by_key(by_kind);
    } else if is_by_letter {
        names.sort_by_key(by_letter);
    }
    names
}

/// Returns true if paths of Rust differ in their last part alone.
fn is_flat(own: &[String], new: &[String]) -> bool {
    let parent = own.first().map(|leaf| parted(leaf).0);
    own.iter().chain(new).all(|leaf| Some(parted(leaf).0) == parent && !leaf.ends_with('*'))
}

/// The name that a part of a list gives to the file: `b` in `a as b`, `type b`, `a: b` and `b = 1`.
fn local(language: Language, part: &str) -> &str {
    let part = if language.is_kin(Language::JavaScript) { part.split('=').next().unwrap_or(part) } else { part };
    part.trim().rsplit([' ', ':']).next().unwrap_or(part)
}

/// `from module import names`, or `import names` without a module.
#[derive(Clone, PartialEq, Eq)]
struct Python {
    module: String,
    names: Vec<String>,
}

impl Python {
    fn read(text: &str) -> Option<Self> {
        let text = text.replace("\\\n", " ");
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let flat = lines.collect::<Vec<_>>().join(" ");
        let (module, list) = match flat.strip_prefix("from ") {
            Some(rest) => rest.split_once(" import ")?,
            None => ("", flat.strip_prefix("import ")?),
        };
        let list = list.trim();
        let list = list.strip_prefix('(').map_or(Some(list), |list| list.strip_suffix(')'))?;
        let names = list.split(',').map(|name| name.split_whitespace().collect::<Vec<_>>());
        let names: Vec<Vec<&str>> = names.filter(|words| !words.is_empty()).collect();
        let is_name = |words: &Vec<&str>| words.len() == 1 || words.len() == 3 && words[1] == "as";
        let is_read = !names.is_empty() && names.iter().all(is_name) && !list.contains([';', '"', '\'']);
        let names = names.iter().map(|words| words.join(" ")).collect();
        is_read.then(|| Self { module: module.trim().to_owned(), names })
    }

    /// Returns true if it lists names of the same module.
    fn takes(&self, new: &Self) -> bool {
        !self.module.is_empty() && self.module == new.module && !new.names.iter().any(|name| name == "*")
    }

    fn shown(&self) -> Option<String> {
        let list = self.names.join(", ");
        let from = if self.module.is_empty() { String::new() } else { format!("from {} ", self.module) };
        (!list.is_empty()).then(|| format!("{from}import {list}"))
    }
}

/// `import lone, { names } from module` or `const { names } = require(module)`.
#[derive(Clone, PartialEq, Eq)]
struct Script {
    /// `import`, `import type`, or the word in front of what `require` gives.
    word: String,
    is_required: bool,
    /// The default and the whole module.
    lone: Vec<String>,
    /// The list in braces, if there is one.
    names: Option<Vec<String>>,
    /// With its quotes.
    module: String,
    end: &'static str,
}

impl Script {
    fn read(text: &str) -> Option<Self> {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (bare, end) = flat.strip_suffix(';').map_or((flat.as_str(), ""), |bare| (bare.trim_end(), ";"));
        let quote = bare.find(['"', '\''])?;
        let (front, module) = bare.split_at(quote);
        let is_required = !front.starts_with("import");
        let (word, clause, module) = if is_required {
            let (word, clause) = front.split_once(' ')?;
            let clause = clause.trim_end().strip_suffix('(')?.trim_end().strip_suffix("require")?.trim_end();
            (word, clause.strip_suffix('=')?, module.strip_suffix(')')?)
        } else {
            let clause = front["import".len()..].trim_start().trim_end().strip_suffix("from")?.trim_end();
            let of_types = clause.strip_prefix("type ").filter(|rest| !rest.trim_start().starts_with(','));
            of_types.map_or(("import", clause, module), |rest| ("import type", rest, module))
        };
        let mark = module.chars().next()?;
        let is_string = module.len() > 2 && module.ends_with(mark) && module.matches(mark).count() == 2;
        let is_word = matches!(word, "import" | "import type" | "const" | "let" | "var");
        let parts = |list: &str| -> Vec<String> {
            list.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let (lone, names) = match clause.split_once('{') {
            Some((lone, list)) => (parts(lone), Some(parts(list.trim_end().strip_suffix('}')?))),
            None => (parts(clause), None),
        };
        let is_plain = !clause.contains(['/', '(', '[', '"', '\'']) && clause.matches('{').count() < 2;
        let read = Self { word: word.to_owned(), is_required, lone, names, module: module.to_owned(), end };
        (is_string && is_word && is_plain).then_some(read)
    }

    fn shown(&self) -> Option<String> {
        let list = self.names.as_ref().filter(|names| !names.is_empty());
        let list = list.map(|names| format!("{{ {} }}", names.join(", ")));
        let clause = self.lone.iter().cloned().chain(list).collect::<Vec<_>>().join(", ");
        let Self { word, module, end, .. } = self;
        let shown = if self.is_required {
            format!("{word} {clause} = require({module}){end}")
        } else {
            format!("{word} {clause} from {module}{end}")
        };
        (!clause.is_empty()).then_some(shown)
    }

    /// `import type { a }` for `import { type a }`.
    fn of_types(self) -> Self {
        let types = self.names.iter().flatten().map(|name| Some(name.strip_prefix("type ")?.trim().to_owned()));
        let types = types.collect::<Option<Vec<String>>>().filter(|_| self.lone.is_empty());
        match types {
            Some(names) => Self { word: "import type".to_owned(), names: Some(names), ..self },
            None => self,
        }
    }

    /// Node knows its own modules by two names.
    fn path(&self) -> &str {
        let path = self.module.trim_matches(['"', '\'']);
        path.strip_prefix("node:").unwrap_or(path)
    }

    /// The names of another import that lists names of the same module in the same way.
    fn taken(&self, mut new: Self) -> Option<Vec<String>> {
        if self.word == "import type" {
            new = new.of_types();
        }
        let is_same = self.path() == new.path()
            && self.is_required == new.is_required
            && (self.word == "import type") == (new.word == "import type");
        new.names.filter(|names| is_same && new.lone.is_empty() && !names.is_empty())
    }

    /// See [`joined`].
    fn joined(line: &str, import: &str) -> Option<String> {
        let own = Self::read(line)?;
        let list = own.taken(Self::read(import)?)?.join(", ");
        if own.names.is_some() {
            let close = line.rfind('}')?;
            let before = line[..close].trim_end();
            let white = &line[before.len()..close];
            let before = before.trim_end_matches(',');
            let comma = if before.ends_with('{') { " " } else { ", " };
            return Some([before, comma, &list, white, &line[close..]].concat());
        }
        let is_default = own.word == "import" && own.lone.len() == 1 && !own.lone[0].starts_with('*');
        let from = line.rfind(" from ").filter(|_| is_default)?;
        Some(format!("{}, {{ {list} }}{}", &line[..from], &line[from..]))
    }
}

/// The paths that a `use` of Rust lists, each in full.
pub(super) fn leaves(text: &str) -> Option<Vec<String>> {
    let tree = text.trim().strip_prefix("use ")?.strip_suffix(';')?;
    let mut found = Vec::new();
    if tree.contains("//") || tree.contains("/*") {
        return None;
    }
    add_leaves(tree, "", &mut found)?;
    Some(found)
}

fn add_leaves(tree: &str, prefix: &str, found: &mut Vec<String>) -> Option<()> {
    let tree = tree.trim();
    let Some((path, list)) = tree.split_once('{') else {
        if !tree.is_empty() {
            found.push(format!("{prefix}{}", tree.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        return Some(());
    };
    let list = list.trim_end().strip_suffix('}')?;
    let prefix = format!("{prefix}{}", path.trim());
    let (mut depth, mut from) = (0_usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                add_leaves(&list[from..at], &prefix, found)?;
                from = at + 1;
            }
            _ => {}
        }
    }
    add_leaves(&list[from..], &prefix, found)
}

/// The name that a path gives to the file.
pub(super) fn rust_name(leaf: &str) -> &str {
    if let Some((_, name)) = leaf.rsplit_once(" as ") {
        return name;
    }
    let path = leaf.strip_suffix("::self").unwrap_or(leaf);
    path.rsplit("::").next().unwrap_or(path)
}

/// A path without its last part, and this part.
fn parted(leaf: &str) -> (&str, &str) {
    leaf.rsplit_once("::").unwrap_or(("", leaf))
}

/// The `use`s of paths, one for those that differ in their last part alone.
fn grouped(leaves: &[&String]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for leaf in leaves {
        let (parent, last) = parted(leaf);
        match groups.iter_mut().find(|(own, _)| *own == parent && !parent.is_empty()) {
            Some((_, list)) if !list.contains(&last) => list.push(last),
            Some(_) => {}
            None => groups.push((parent, vec![last])),
        }
    }
    let statement = |(parent, mut list): (&str, Vec<&str>)| match list.as_slice() {
        ["self"] => format!("use {parent};"),
        [one] if parent.is_empty() => format!("use {one};"),
        [one] => format!("use {parent}::{one};"),
        _ => {
            list.sort_by_key(|name| order(name));
            format!("use {parent}::{{{}}};", list.join(", "))
        }
    };
    groups.into_iter().map(statement).collect()
}

/// The order in which rustfmt lists names: modules and functions, types, constants.
fn order(name: &str) -> (u8, &str) {
    let is_constant = name.len() > 1 && !name.contains(|c: char| c.is_lowercase());
    let kind = match name.chars().next() {
        _ if name == "self" => 0,
        Some(c) if c.is_lowercase() => 1,
        _ if is_constant => 3,
        _ => 2,
    };
    (kind, name)
}
