//! The other files of a package.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::files;

/// Most files of a package that are read.
const MAX_FILES: usize = 200;

/// The functions and types that the other files of this file's package define.
pub(super) fn names(path: &Path) -> HashSet<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let others = entries.filter(|other| other.extension() == path.extension() && other.file_name() != path.file_name());
    let texts = others.take(MAX_FILES).filter_map(|other| files::text(&other, files::TEXT).ok());
    texts.flat_map(|text| defined(&text).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The functions and types of a text.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    let named = text.lines().filter_map(|line| line.strip_prefix("func ").or_else(|| line.strip_prefix("type ")));
    let name = |rest: &'_ str| rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    named.map(move |rest| &rest[..name(rest)]).filter(|name| !name.is_empty())
}
