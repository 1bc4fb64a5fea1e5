//! Parts of a project's other files that matter to a function: imports of its file, and its tests.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::code::{Item, ItemKind, mentioned, outline};
use crate::files;
use crate::language::Language;
use crate::trial::Project;

/// Most files that are read for what is imported.
const MAX_FILES: usize = 100;
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 400_000;

/// A piece of another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The file, as it is told.
    pub path: String,
    /// The name that it is known by.
    pub name: String,
    /// Its text, in the other file's form.
    pub text: String,
}

/// Pieces of its project that the import statements `imports` of a file name: each imported function, class
/// and constant without bodies, and the contents of imported modules.
pub(super) fn imported(language: Language, file: &Path, imports: &[&str]) -> Vec<Piece> {
    let Some((root, own, files)) = project(file) else { return Vec::new() };
    let words: HashSet<&str> = imports.iter().flat_map(|text| mentioned(text)).collect();
    let is_beside = |path: &Path| language.shares_folders() && path.parent() == own.parent();
    let near = |path: &Path| path.components().zip(own.components()).take_while(|(a, b)| a == b).count();
    let mut candidates: Vec<(usize, usize, PathBuf)> = Vec::new();
    for path in files {
        if path == own || !Language::of_path(&path).is_some_and(|other| other.is_kin(language)) {
            continue;
        }
        let named =
            path.with_extension("").iter().filter(|part| part.to_str().is_some_and(|p| words.contains(p))).count();
        if named > 0 || is_beside(&path) {
            candidates.push((named, near(&path), path));
        }
    }
    candidates.sort_by(|(a, b, path), (c, d, other)| (c, d).cmp(&(a, b)).then_with(|| path.cmp(other)));
    let mut known: HashSet<String> = HashSet::new();
    let mut found = Vec::new();
    for (_, _, path) in candidates.into_iter().take(MAX_FILES) {
        let Ok(text) = files::text(&root.join(&path), MAX_FILE) else { continue };
        let is_module = module(&path).is_some_and(|name| words.contains(name));
        let items = outline(language, &text);
        let top =
            || items.iter().enumerate().filter(|(_, item)| item.parent.is_none() && item.kind != ItemKind::Import);
        let is_named = |name: &String| words.contains(name.as_str());
        // A module of which names are imported is not imported as a whole.
        let is_whole = is_beside(&path) || is_module && !top().any(|(_, item)| item.names.iter().any(is_named));
        for (at, item) in top() {
            let Some(name) = item.names.first() else { continue };
            if (is_whole || item.names.iter().any(is_named)) && known.insert(format!("{name} {}", item.name)) {
                let text = short(&items, at);
                found.push(Piece { path: path.display().to_string(), name: name.clone(), text });
            }
        }
    }
    found
}

/// The tests of a function in these files: what mentions it.
pub(super) fn tests(language: Language, function: &str, files: &[(PathBuf, String)]) -> Vec<Piece> {
    let mut parts = function.rsplit(['.', ':']).filter(|part| !part.is_empty());
    let (own, class) = (parts.next().unwrap_or(function), parts.next());
    let mut found = Vec::new();
    for (path, text) in files {
        let items = outline(language, text);
        let shown = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let speaks = |item: &Item, name: &str| mentioned(&text[item.range.clone()]).any(|word| word == name);
        let leaves = items.iter().filter(|item| item.kind != ItemKind::Scope && item.kind != ItemKind::Import);
        let of_it = |name: &str| leaves.clone().filter(|item| speaks(item, name)).collect::<Vec<_>>();
        let mut all = of_it(own);
        if all.is_empty() {
            all = class.map(of_it).unwrap_or_default();
        }
        found.extend(all.into_iter().map(|item| Piece {
            path: shown.clone(),
            name: item.name.clone(),
            text: text[item.range.clone()].to_owned(),
        }));
    }
    found
}

/// Pieces of other files as comments, each file under its path.
pub(super) fn quoted(language: Language, pieces: &[&Piece]) -> String {
    let mark = language.line_comment();
    let mut out = String::new();
    let mut path = "";
    for piece in pieces {
        if piece.path != path {
            path = &piece.path;
            out.extend([mark, " ", path, "\n"]);
        }
        for line in piece.text.lines().filter(|line| !line.trim().is_empty()) {
            out.extend([mark, " ", line, "\n"]);
        }
    }
    out
}

/// The project of a file: its root, the file in it, and all its files.
fn project(file: &Path) -> Option<(PathBuf, PathBuf, Vec<PathBuf>)> {
    let project = Project::around(file, None)?;
    let files = project.files().ok()?;
    Some((project.root, project.file, files))
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
