//! Folders of installed packages in a copy: links to the user's. Packages of a workspace are links into the
//! project. In a copy they lead to the copy; otherwise its tests would use the user's files. What such a
//! package was built into is copied, as the others of the workspace load it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::files;

/// Size limit of a package's manifest.
const MANIFEST: u64 = 1 << 20;

/// The folder of packages whose links may lead to the project.
const OF_JAVASCRIPT: &str = "node_modules";

/// Links the folder of packages at `path` of the project into a copy of it.
pub fn put(root: &Path, copy: &Path, path: &Path) -> io::Result<()> {
    let (from, to) = (root.join(path), copy.join(path));
    fs::create_dir_all(to.parent().unwrap_or(copy))?;
    let root = fs::canonicalize(root)?;
    let inside = |link: &Path| Some(copy.join(of_project(&root, link)?));
    if path.ends_with(OF_JAVASCRIPT) && packages(&from).iter().any(|package| inside(package).is_some()) {
        return open(&from, &to, &inside);
    }
    symlink(from, to)
}

/// Makes a folder of links to the packages of another one. `inside` gives a different target for a link.
/// Folders in which tools keep data between runs are left out: the tools may write their own.
pub fn open(from: &Path, to: &Path, inside: &dyn Fn(&Path) -> Option<PathBuf>) -> io::Result<()> {
    fs::create_dir(to)?;
    for package in fs::read_dir(from)? {
        let package = package?.path();
        let Some(name) = package.file_name() else { continue };
        if name.to_string_lossy().starts_with('.') && name != ".bin" && name != ".pnpm" {
            continue;
        }
        if is_scope(&package) && packages(&package).iter().any(|package| inside(package).is_some()) {
            open(&package, &to.join(name), inside)?;
        } else {
            symlink(inside(&package).unwrap_or_else(|| package.clone()), to.join(name))?;
        }
    }
    Ok(())
}

/// The files of folders that packages of the project name as their entry (`main`, `exports` and so on) and
/// that hold none of these files: built output. Relative to the root, without source maps.
pub fn built(root: &Path, known: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = BTreeSet::new();
    for manifest in known.iter().filter(|path| path.ends_with("package.json")) {
        let text = files::text(&root.join(manifest), MANIFEST).unwrap_or_default();
        let Ok(manifest_of) = serde_json::from_str::<Value>(&text) else { continue };
        let package = manifest.parent().unwrap_or(Path::new(""));
        let mut entries = Vec::new();
        for key in ["main", "module", "browser", "exports", "bin"] {
            paths(&manifest_of[key], &mut entries);
        }
        let of_folder = |entry: &&str| {
            let mut parts = Path::new(entry).components().filter(|part| *part != Component::CurDir);
            let first = parts.next().filter(|first| matches!(first, Component::Normal(_)));
            first.filter(|_| parts.next().is_some()).map(|first| package.join(first))
        };
        folders.extend(entries.iter().filter_map(of_folder));
    }
    let is_output = |folder: &&PathBuf| {
        let is_folder = fs::symlink_metadata(root.join(folder)).is_ok_and(|meta| meta.is_dir());
        is_folder && !folder.ends_with(OF_JAVASCRIPT) && !known.iter().any(|path| path.starts_with(folder))
    };
    let mut output = Vec::new();
    let mut left: Vec<PathBuf> = folders.iter().filter(is_output).cloned().collect();
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !path.ends_with(OF_JAVASCRIPT) => left.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_none_or(|ending| ending != "map") => {
                    output.push(path);
                }
                _ => {}
            }
        }
    }
    output
}

/// The texts of a manifest's field, whatever it is nested in.
fn paths<'a>(field: &'a Value, into: &mut Vec<&'a str>) {
    match field {
        Value::String(path) => into.push(path),
        Value::Array(all) => all.iter().for_each(|one| paths(one, into)),
        Value::Object(all) => all.values().for_each(|one| paths(one, into)),
        _ => {}
    }
}

/// Returns true if a folder holds the packages of one owner (a scope).
fn is_scope(path: &Path) -> bool {
    let is_named_so = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'));
    is_named_so && !path.is_symlink() && path.is_dir()
}

/// The packages in a folder, scoped ones included.
fn packages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if is_scope(&path) { packages(&path) } else { vec![path] }).collect()
}

/// The target of a link to the project's own files, relative to its root. `None` for a link to other
/// packages.
fn of_project(root: &Path, link: &Path) -> Option<PathBuf> {
    if !link.is_symlink() {
        return None;
    }
    let path = fs::canonicalize(link).ok()?.strip_prefix(root).ok()?.to_path_buf();
    let is_own = !path.components().any(|part| part == Component::Normal(OF_JAVASCRIPT.as_ref()));
    (is_own && !path.as_os_str().is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_output_is_what_manifests_name_and_nobody_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let a = r#"{"main": "./dist/index.js", "exports": {".": {"import": "./esm/a.mjs"}}, "bin": "cli.js"}"#;
        let b = r#"{"main": "src/index.js", "module": "../a/dist/x.js", "exports": ["./lib/*"]}"#;
        let files = [
            "a/dist/index.js", "a/dist/index.js.map", "a/dist/in/b.js", "a/esm/a.mjs", "a/other/c.js",
            "b/src/index.js", "b/src/made.js", "a/dist/node_modules/x/index.js",
        ];
        let manifests = [("a/package.json", a), ("b/package.json", b)];
        crate::files::write_all(root, manifests.into_iter().chain(files.map(|path| (path, ""))));
        let known = ["a/package.json", "b/package.json", "b/src/index.js"].map(PathBuf::from);
        let mut found = built(root, &known);
        found.sort();
        assert_eq!(found, ["a/dist/in/b.js", "a/dist/index.js", "a/esm/a.mjs"].map(PathBuf::from));
    }

    #[test]
    fn packages_of_the_workspace_are_those_of_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let (root, copy) = (folder.path().join("project"), folder.path().join("copy"));
        for path in ["packages/a", "node_modules/@own", "node_modules/@other/c", "node_modules/b", "node_modules/.kept"]
        {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        symlink("../../packages/a", root.join("node_modules/@own/a")).unwrap();
        symlink("b", root.join("node_modules/again")).unwrap();
        put(&root, &copy, Path::new("node_modules")).unwrap();
        let leads_to = |name: &str| fs::read_link(copy.join("node_modules").join(name)).unwrap();
        assert_eq!(leads_to("@own/a"), copy.join("packages/a"));
        for other in ["@other", "b", "again"] {
            assert_eq!(leads_to(other), root.join("node_modules").join(other));
        }
        assert!(!copy.join("node_modules/.kept").exists());
        fs::remove_file(root.join("node_modules/@own/a")).unwrap();
        put(&root, &folder.path().join("next"), Path::new("node_modules")).unwrap();
        let whole = fs::read_link(folder.path().join("next/node_modules")).unwrap();
        assert_eq!(whole, root.join("node_modules"), "without any, one link is enough");
    }
}
