//! Where a new import stands among those of a file: in its group, in the order that the group has.

use std::ops::Range;

use crate::code::python::library::is_library;
use crate::language::Language;

/// An import among the lines of a file.
struct Own {
    lines: Range<usize>,
    /// The lines that no blank line parts have one number.
    section: usize,
    key: Key,
}

/// The group of an import and its place there.
struct Key {
    /// Python: 0 for `__future__`, 1 for the library, 2 for other packages, 3 for relative ones. JavaScript:
    /// 1 for packages, 2 for the project's own. Rust: 1 for the library, 2 for other crates, 3 for its own.
    group: u8,
    /// `from x import y` of Python.
    is_from: bool,
    /// Its path; in lower case but for Rust.
    path: String,
}

impl Key {
    /// `None` for a line that begins no import.
    fn read(language: Language, line: &str) -> Option<Self> {
        let key = |group, is_from, path: &str| Some(Self { group, is_from, path: path.to_lowercase() });
        match language {
            Language::Python => {
                let is_from = line.starts_with("from ");
                let rest = line.strip_prefix("from ").or_else(|| line.strip_prefix("import "))?;
                let path = rest.split([' ', ',', ';']).find(|word| !word.is_empty())?;
                let root = path.split('.').next().unwrap_or(path);
                let group = match root {
                    "__future__" => 0,
                    "" => 3,
                    root if is_library(root) => 1,
                    _ => 2,
                };
                key(group, is_from, path)
            }
            Language::JavaScript | Language::TypeScript => {
                let is_required = ["const ", "let ", "var "].iter().any(|word| line.starts_with(word));
                let is_import = line.starts_with("import ") || line.starts_with("import{");
                (is_import || is_required && line.contains("require(")).then_some(())?;
                let path = line.split(['"', '\'']).nth(1)?;
                let is_own = [".", "@/", "~", "#", "/"].iter().any(|mark| path.starts_with(mark));
                key(if is_own { 2 } else { 1 }, false, path)
            }
            Language::Rust => {
                let path = line.strip_prefix("use ")?.trim_end_matches(';');
                let root = path.trim_start_matches("::").split([':', ' ', '{']).next().unwrap_or(path);
                let group = match root {
                    "std" | "core" | "alloc" => 1,
                    "crate" | "super" | "self" => 3,
                    _ => 2,
                };
                Some(Self { group, is_from: false, path: path.replace("::{", "::") })
            }
            Language::Go => None,
        }
    }

    /// The package.
    fn root(&self) -> &str {
        self.path.split('.').next().unwrap_or(&self.path)
    }
}

/// The imports among these lines that begin in the first column.
fn own(language: Language, lines: &[String]) -> Vec<Own> {
    let mut found = Vec::new();
    let (mut at, mut section) = (0, 0);
    while at < lines.len() {
        let first = at;
        at += 1;
        if lines[first].trim().is_empty() {
            section += 1;
            continue;
        }
        // A bracket in a comment opens nothing.
        if lines[first].starts_with(language.line_comment()) {
            continue;
        }
        while at < lines.len() && is_open(&lines[first..at]) {
            at += 1;
        }
        if lines[first].starts_with([' ', '\t']) {
            continue;
        }
        let statement: String = lines[first..at].iter().map(|line| line.trim()).collect();
        if let Some(key) = Key::read(language, &statement) {
            found.push(Own { lines: first..at, section, key });
        }
    }
    found
}

/// The lines of the imports among these lines that begin in the first column.
pub(super) fn statements(language: Language, lines: &[String]) -> Vec<Range<usize>> {
    own(language, lines).into_iter().map(|own| own.lines).collect()
}

/// Returns true if the statement of these lines goes on.
fn is_open(lines: &[String]) -> bool {
    let count = |marks: [char; 2]| lines.iter().map(|line| line.matches(marks).count()).sum::<usize>();
    count(['(', '{']) > count([')', '}']) || lines.last().is_some_and(|line| line.ends_with('\\'))
}

/// Adds the lines of an import to those from the first import of a file to its last.
pub(super) fn insert(language: Language, lines: &mut Vec<String>, new: &str) {
    let own = own(language, lines);
    let key = Key::read(language, &new.lines().collect::<String>());
    let mut new: Vec<String> = new.lines().map(str::to_owned).collect();
    let (Some(key), Some(first)) = (key, own.first()) else { return lines.extend(new) };
    let parted = is_parted(language, &own);
    // `use`s of several groups that no blank lines part have one order.
    let is_alike = |one: &&Own| one.key.group == key.group || language == Language::Rust && !parted;
    let alike: Vec<&Own> = own.iter().filter(is_alike).collect();
    let of_package = || alike.iter().find(|one| one.key.root() == key.root());
    let near = if language == Language::Rust { alike.last() } else { of_package().or(alike.first()) };
    let at = if let Some(near) = near {
        let group: Vec<&&Own> = alike.iter().filter(|one| one.section == near.section).collect();
        match place(language, &group, &key) {
            0 => above(lines, group[0].lines.start),
            at => group[at - 1].lines.end,
        }
    } else if let Some(before) = own.iter().rfind(|one| one.key.group < key.group) {
        new.splice(..0, parted.then(String::new));
        before.lines.end
    } else {
        new.extend(parted.then(String::new));
        above(lines, first.lines.start)
    };
    lines.splice(at..at, new);
}

/// Returns true if blank lines part the groups.
fn is_parted(language: Language, own: &[Own]) -> bool {
    let is_mixed = |two: &[Own]| two[0].section == two[1].section && two[0].key.group != two[1].key.group;
    let has_sections = own.iter().any(|one| one.section != own[0].section);
    (has_sections || language == Language::Python) && !own.windows(2).any(is_mixed)
}

/// How many imports of its group stand in front of a new one.
fn place(language: Language, group: &[&&Own], key: &Key) -> usize {
    // Scripts are seldom sorted. Python's are by the kind of statement as a rule.
    let kinds: &[bool] = match language {
        Language::Python => &[true, false],
        Language::Rust => &[false],
        _ => &[],
    };
    for by_kind in kinds {
        let order = |key: &Key| (key.is_from && *by_kind, key.path.clone());
        if group.is_sorted_by_key(|one| order(&one.key)) {
            return group.iter().filter(|one| order(&one.key) <= order(key)).count();
        }
    }
    let of_kind = group.iter().rposition(|one| one.key.is_from == key.is_from);
    of_kind.map_or(group.len(), |at| at + 1)
}

/// The line above which a statement of line `at` begins with its attributes.
fn above(lines: &[String], at: usize) -> usize {
    at - lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).count()
}
