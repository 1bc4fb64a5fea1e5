//! Parts of a project's other files that matter to a function: imports of its file, its callers, its tests.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::sheet::Level;
use crate::code::{Item, ItemKind, callers, function_names, mentioned, names, outline};
use crate::files;
use crate::language::Language;
use crate::trial::{self, Project};

/// Most files that are read for what is imported, and for callers.
const MAX_FILES: usize = 100;
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 400_000;
/// Attributes of tests and of scopes of tests.
const TEST_MARKS: &[&str] = &["#[test]", "#[cfg(test)]", "::test]"];

/// Why a piece of another file may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is a test of the function.
    Test,
    /// It is a function, fixture or constant that a test uses.
    Helper,
    /// It calls the function.
    Caller,
    /// It calls a method of the same name, of which class is not known.
    CallerOfName,
    /// The file imports it.
    Imported,
}

/// A piece of another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub kind: Kind,
    /// The file, as it is told.
    pub path: String,
    /// The name that it is known by.
    pub name: String,
    /// Its text without the bodies of functions.
    pub short: String,
    /// Its text, in the other file's form.
    pub whole: String,
}

impl Piece {
    /// The piece as it is shown at a level.
    pub fn at(&self, level: Level) -> &str {
        match level {
            Level::Hidden => "",
            Level::Whole => &self.whole,
            _ => &self.short,
        }
    }

    /// A piece that is shown whole or not at all.
    fn body(kind: Kind, path: &str, item: &Item, text: &str) -> Self {
        let whole = text[item.range.clone()].to_owned();
        Self { kind, path: path.to_owned(), name: item.name.clone(), short: String::new(), whole }
    }
}

/// The project of a function's file.
pub(super) struct Others {
    language: Language,
    root: PathBuf,
    own: PathBuf,
    /// Its other files with code and without tests, the nearest first.
    files: Vec<PathBuf>,
}

impl Others {
    /// The project around a file, if there is one.
    pub fn around(language: Language, file: &Path) -> Option<Self> {
        let project = Project::around(file, None)?;
        let mut files = project.files().ok()?;
        let (root, own) = (project.root, project.file);
        let is_kin = |path: &Path| Language::of_path(path).is_some_and(|other| other.is_kin(language));
        files.retain(|path| *path != own && is_kin(path) && !trial::is_of_tests(language, path));
        let near = |path: &Path| path.components().zip(own.components()).take_while(|(a, b)| a == b).count();
        files.sort_by(|a, b| near(b).cmp(&near(a)).then_with(|| a.cmp(b)));
        Some(Self { language, root, own, files })
    }

    /// The other file sees this one without an import.
    fn is_beside(&self, path: &Path) -> bool {
        self.language.shares_folders() && path.parent() == self.own.parent()
    }

    fn text(&self, path: &Path) -> Option<String> {
        files::text(&self.root.join(path), MAX_FILE).ok()
    }

    /// Pieces of the project that the import statements `imports` of a file name: each imported function,
    /// class and constant, and the contents of imported modules.
    pub fn imported(&self, imports: &[&str]) -> Vec<Piece> {
        let words: HashSet<&str> = imports.iter().flat_map(|text| mentioned(text)).collect();
        let named = |path: &Path| {
            path.with_extension("").iter().filter(|part| part.to_str().is_some_and(|p| words.contains(p))).count()
        };
        let candidates = self.files.iter().map(|path| (named(path), path));
        let mut candidates: Vec<_> = candidates.filter(|(named, path)| *named > 0 || self.is_beside(path)).collect();
        candidates.sort_by_key(|(named, _)| Reverse(*named));
        let mut known: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        for (_, path) in candidates.into_iter().take(MAX_FILES) {
            let Some(text) = self.text(path) else { continue };
            let is_module = module(path).is_some_and(|name| words.contains(name));
            let items = outline(self.language, &text);
            let is_piece = |at: usize| items[at].parent.is_none() && items[at].kind != ItemKind::Import;
            let top = || (0..items.len()).filter(|&at| is_piece(at) && !is_test(&items, at));
            let is_named = |name: &String| words.contains(name.as_str());
            // A module of which names are imported is not imported as a whole.
            let is_whole = self.is_beside(path) || is_module && !top().any(|at| items[at].names.iter().any(is_named));
            for at in top() {
                let item = &items[at];
                let Some(name) = item.names.first() else { continue };
                if (is_whole || item.names.iter().any(is_named)) && known.insert(format!("{name} {}", item.name)) {
                    found.push(Piece {
                        kind: Kind::Imported,
                        path: path.display().to_string(),
                        name: name.clone(),
                        short: short(&items, at),
                        whole: text[item.range.clone()].to_owned(),
                    });
                }
            }
        }
        found
    }

    /// The functions of other files that call this one.
    pub fn callers(&self, function: &str) -> Vec<Piece> {
        let (own, class) = parts(function);
        let known = [Some(own), class, module(&self.own)];
        let mut found = Vec::new();
        for path in self.files.iter().take(MAX_FILES) {
            let Some(text) = self.text(path).filter(|text| text.contains(own)) else { continue };
            let items = outline(self.language, &text);
            let imports = items.iter().filter(|item| item.kind == ItemKind::Import);
            let mut words = imports.flat_map(|item| mentioned(&item.signature));
            if self.is_beside(path) || words.any(|word| known.contains(&Some(word))) {
                let shown = path.display().to_string();
                let all = calling(self.language, &text, &items, function).into_iter();
                found.extend(all.map(|(at, kind)| Piece::body(kind, &shown, &items[at], &text)));
            }
        }
        found
    }
}

/// The functions of a text, without tests, that call this one. One that calls a method is known to if it
/// belongs to the method's class or names that.
pub(super) fn calling(language: Language, text: &str, items: &[Item], function: &str) -> Vec<(usize, Kind)> {
    let (own, class) = parts(function);
    let callers = callers(language, text, &[own]);
    let is_caller =
        |&at: &usize| items[at].kind == ItemKind::Function && callers.contains(&items[at].name) && !is_test(items, at);
    let is_known = |at: usize| {
        let mut words = mentioned(&text[items[at].range.clone()]);
        class.is_none_or(|class| parts(&items[at].name).1 == Some(class) || words.any(|word| word == class))
    };
    let kind = |at: usize| if is_known(at) { Kind::Caller } else { Kind::CallerOfName };
    (0..items.len()).filter(is_caller).map(|at| (at, kind(at))).collect()
}

/// The name of a function, and that of what it stands in.
pub(super) fn parts(function: &str) -> (&str, Option<&str>) {
    let mut parts = function.rsplit(['.', ':']).filter(|part| !part.is_empty());
    (parts.next().unwrap_or(function), parts.next())
}

/// A piece is a test, or stands in a scope of tests.
pub(super) fn is_test(items: &[Item], at: usize) -> bool {
    let is = |item: &Item| {
        let name = parts(&item.name).0;
        let marked = item.kind != ItemKind::Other && TEST_MARKS.iter().any(|mark| item.documented.contains(mark));
        let camel = name.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()));
        marked || camel || matches!(name, "test" | "tests") || name.starts_with("test_")
    };
    std::iter::successors(Some(at), |&at| items[at].parent).any(|at| is(&items[at]))
}

/// The tests of a function in these files: what mentions it and has a body. With the helpers that they use,
/// of their own file and, as fixtures, of `conftest.py` files.
pub(super) fn tests(language: Language, function: &str, files: &[(PathBuf, String)]) -> Vec<Piece> {
    let (own, class) = parts(function);
    let (mut found, mut helpers) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let items = outline(language, text);
        let shown = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let body = |item: &Item| &text[item.range.clone()];
        let is_empty = |item: &Item| function_names(language, body(item)).first().is_some_and(|f| !f.finished);
        let is_leaf = |item: &&Item| match item.kind {
            ItemKind::Function => !is_empty(item),
            ItemKind::Other => true,
            ItemKind::Scope | ItemKind::Import => false,
        };
        let of_it = |name: &str| {
            items.iter().filter(is_leaf).filter(|item| mentioned(body(item)).any(|word| word == name)).collect()
        };
        let mut all: Vec<&Item> = of_it(own);
        if all.is_empty() {
            all = class.map(of_it).unwrap_or_default();
        }
        found.extend(all.iter().map(|item| Piece::body(Kind::Test, &shown, item, text)));
        let mut words: HashSet<String> = all.iter().flat_map(|item| names(language, body(item))).collect();
        let is_helper = |at: &usize| {
            items[*at].parent.is_none() && is_leaf(&&items[*at]) && (is_fixture(&items[*at]) || !is_test(&items, *at))
        };
        let candidates = (0..items.len()).filter(is_helper).map(|at| &items[at]);
        let candidates = candidates.filter(|item| !all.contains(item)).collect();
        let used = used(candidates, &mut words, |item| names(language, body(item)));
        let mut asked: HashSet<String> = all.iter().chain(&used).flat_map(|item| parameters(item)).collect();
        helpers.extend(used.into_iter().map(|item| Piece::body(Kind::Helper, &shown, item, text)));
        if language == Language::Python {
            // A name that the tests file defines or imports is no fixture of another file.
            asked.retain(|name| !items.iter().any(|item| item.names.contains(name)));
            helpers.extend(fixtures(path, asked));
        }
    }
    found.extend(helpers);
    found
}

/// The fixtures of these names in the `conftest.py` files around a tests file, the nearest first.
fn fixtures(tests: &Path, mut asked: HashSet<String>) -> Vec<Piece> {
    let Some((root, _)) = tests.parent().and_then(Project::folders) else { return Vec::new() };
    let Ok(tests) = tests.canonicalize() else { return Vec::new() };
    let mut found = Vec::new();
    for folder in tests.ancestors().skip(1).take_while(|folder| folder.starts_with(&root)) {
        let path = folder.join("conftest.py");
        let Ok(text) = files::text(&path, MAX_FILE) else { continue };
        let items = outline(Language::Python, &text);
        let used = used(items.iter().filter(|item| is_fixture(item)).collect(), &mut asked, parameters);
        asked.retain(|name| !used.iter().any(|item| item.names.contains(name)));
        let shown = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        found.extend(used.into_iter().map(|item| Piece::body(Kind::Helper, &shown, item, &text)));
    }
    found
}

/// A function has a decorator of pytest's fixtures.
fn is_fixture(item: &Item) -> bool {
    let decorator = |line: &str| line.starts_with('@') && line.contains("fixture");
    item.kind == ItemKind::Function && item.signature.lines().any(decorator)
}

/// The words of a function's head.
fn parameters(item: &Item) -> HashSet<String> {
    mentioned(&item.signature).filter(|_| item.kind == ItemKind::Function).map(str::to_owned).collect()
}

/// The pieces that these words name, and those that such pieces name, in the order of their file.
fn used<'a>(
    mut items: Vec<&'a Item>,
    words: &mut HashSet<String>,
    more: impl Fn(&Item) -> HashSet<String>,
) -> Vec<&'a Item> {
    let mut found: Vec<&Item> = Vec::new();
    while let Some(at) = items.iter().position(|item| item.names.iter().any(|name| words.contains(name))) {
        let item = items.remove(at);
        words.extend(more(item));
        found.push(item);
    }
    found.sort_by_key(|item| item.range.start);
    found
}

/// Pieces of other files as comments, each file under its path.
pub(super) fn quoted<'a>(language: Language, pieces: impl IntoIterator<Item = (&'a Piece, Level)>) -> String {
    let mark = language.line_comment();
    let mut out = String::new();
    let mut path = "";
    for (piece, level) in pieces {
        if piece.path != path {
            path = &piece.path;
            out.extend([mark, " ", path, "\n"]);
        }
        for line in piece.at(level).lines().filter(|line| !line.trim().is_empty()) {
            out.extend([mark, " ", line, "\n"]);
        }
    }
    out
}

/// Name of the module that a file is.
fn module(path: &Path) -> Option<&str> {
    let stem = path.file_stem()?.to_str()?;
    let is_of_folder = path.extension().is_some_and(|ending| ending == "go") || Project::is_of_folder(stem);
    if is_of_folder { path.parent()?.file_name()?.to_str() } else { Some(stem) }
}

/// A piece without the bodies of functions: of a class its head and those of its methods.
fn short(items: &[Item], at: usize) -> String {
    let this = &items[at];
    if this.kind != ItemKind::Scope {
        return this.documented.clone();
    }
    let members = items.iter().filter(|item| item.parent == Some(at) && item.kind == ItemKind::Function);
    let heads: String = members.map(|item| item.signature.as_str()).collect();
    let inside = if heads.is_empty() { &this.empty } else { &heads };
    format!("{}{inside}{}", this.signature, this.close)
}
