//! Folders of installed packages in a copy: links to the user's. Packages of a workspace are links into the
//! project. In a copy they lead to the copy; otherwise its tests would use the user's files.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

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
