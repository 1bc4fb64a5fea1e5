//! A lone Go file as a module of one folder: the file, its tests beside it, and `go.mod`. Pure, but for the
//! files beside it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::text::package_of;
use crate::trial::language::row::{Layout, Trial};

/// Makes a folder acceptable to `go test`.
pub fn lay_out(_: &Trial, layout: &mut Layout) {
    let folder = layout.file.parent().unwrap_or(Path::new("")).to_path_buf();
    // Go ignores files whose names begin with a dot or an underscore, and rejects unusual names.
    let stem = layout.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().trim_end_matches("_test");
    let is_plain = stem.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let stem = if is_plain && stem.starts_with(|c: char| c.is_alphanumeric()) { stem } else { "candidate" }.to_owned();
    layout.file = folder.join(format!("{stem}.go"));
    let mut package = package_of(&layout.own).map(str::to_owned);
    if let Some((path, text)) = &mut layout.tests {
        let of_tests = package_of(text).map(|name| name.trim_end_matches("_test").to_owned());
        let name = package.get_or_insert_with(|| of_tests.unwrap_or_else(|| "main".to_owned()));
        *text = with_package(text, name);
        let own = path.file_name().and_then(|name| name.to_str()).filter(|name| name.ends_with("_test.go"));
        *path = folder.join(own.map_or_else(|| format!("{stem}_test.go"), str::to_owned));
    }
    layout.own = with_package(&layout.own, package.as_deref().unwrap_or("main"));
    // The Go version is added once the compiler is known.
    layout.files.push((folder.join("go.mod"), format!("module {stem}\n")));
    // Files of the same package belong to the program, unless each is a program of its own.
    let package = package_of(&layout.own);
    let tests = layout.tests.iter().flat_map(|(_, text)| functions(text));
    let own: HashSet<&str> = tests.chain(functions(&layout.own)).collect();
    let belongs = |from: &Path| {
        let text = fs::read_to_string(from).unwrap_or_default();
        !from.to_string_lossy().ends_with("_test.go")
            && package_of(&text) == package
            && functions(&text).all(|name| !own.contains(name))
    };
    let is_code = |path: &Path| path.extension().is_some_and(|ending| ending == "go");
    layout.beside.retain(|(from, to)| !is_code(to) || to.parent() != Some(&folder) || belongs(from));
}

/// A text with a package clause, on its first line, so that line numbers stay true.
pub fn with_package(text: &str, package: &str) -> String {
    if package_of(text).is_some() { text.to_owned() } else { format!("package {package}; {text}") }
}

/// The functions that a file declares. A package clause may share the line of the first.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    let declared = text.lines().filter_map(|line| line.split("; ").find_map(|part| part.strip_prefix("func ")));
    declared.filter_map(|rest| rest.split_once(['(', '['])).map(|(name, _)| name)
}
