//! Selects the files that a copy of a project holds: those that git knows and does not ignore, ignored ones
//! that the project imports or that tools keep, and the built output that its packages name. Without git: all
//! files but other build products.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::imports::imported;
use super::packages;
use crate::language::Language;

/// Folders of installed packages by name: linked into a copy, never copied.
const DEPENDENCIES: &[&str] = &["node_modules", "__pypackages__"];
/// Files in the top folder of a Python environment, whatever its name.
const ENVIRONMENTS: &[&str] = &["pyvenv.cfg", "conda-meta"];
/// Build products and caches of tools.
const LEFTOVERS: &[&str] = &[
    ".git", "target", "__pycache__", "dist", "build", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".hg", ".svn",
];
/// Most folders without files.
const MOST_EMPTY: usize = 100;
/// Most files of a project, as it is copied for every candidate.
const MOST_FILES: usize = 50_000;

/// The files of a project, relative to its root and sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Files and links.
    pub files: Vec<PathBuf>,
    /// Folders of installed packages.
    pub dependencies: Vec<PathBuf>,
    /// Ignored files that could be generated code.
    pub ignored: Vec<PathBuf>,
    /// Folders without any of the files, which programs may expect: for data, logs, uploads.
    pub empty: Vec<PathBuf>,
}

/// The files of the project at `root`.
pub fn list(root: &Path) -> Result<List, String> {
    let mut list = List::default();
    walk(root, &mut list);
    if let Some(mut known) = git_files(root) {
        known.retain(|path| !list.dependencies.iter().any(|folder| path.starts_with(folder)));
        let names: HashSet<&PathBuf> = known.iter().collect();
        list.ignored = list.files.iter().filter(|path| is_code(path) && !names.contains(path)).cloned().collect();
        let of_tools = list.files.iter().filter(|path| is_of_tools(path) && !names.contains(path)).cloned();
        let of_tools: Vec<PathBuf> = of_tools.collect();
        list.files = known;
        list.files.extend(of_tools);
    }
    let output = packages::built(root, &list.files);
    list.files.extend(output);
    if list.files.len() > MOST_FILES {
        return Err(format!(
            "the project {} has more than {MOST_FILES} files, too many to copy for every candidate: add what is not source to .gitignore",
            root.display()
        ));
    }
    // Deeper ones are made by the programs that use them.
    let mut folders = std::mem::take(&mut list.empty);
    folders.retain(|folder| folder.components().count() <= 2);
    let mut with_files: HashSet<&Path> = HashSet::new();
    list.files.iter().for_each(|path| with_files.extend(path.ancestors()));
    folders.retain(|folder| !with_files.contains(folder.as_path()));
    folders.truncate(MOST_EMPTY);
    list.empty = folders;
    list.files.retain(|path| fs::symlink_metadata(root.join(path)).is_ok_and(|meta| !meta.is_dir()));
    for paths in [&mut list.files, &mut list.dependencies, &mut list.ignored, &mut list.empty] {
        paths.sort();
        paths.dedup();
    }
    Ok(list)
}

impl List {
    /// The files of a copy: the known ones, and ignored ones that one of them imports. Files that nothing
    /// imports (keys, settings, data) are not copied.
    pub fn wanted(&self, root: &Path) -> Vec<PathBuf> {
        let mut files = self.files.clone();
        if self.ignored.is_empty() {
            return files;
        }
        let (mut words, mut from) = (HashSet::new(), 0);
        // Imported files may import more.
        while from < files.len() {
            for path in files[from..].iter().filter(|path| is_code(path)) {
                words.extend(fs::read_to_string(root.join(path)).iter().flat_map(|text| imported(text)));
            }
            from = files.len();
            let stem = |path: &PathBuf| path.file_name()?.to_str()?.split('.').next().map(str::to_owned);
            let known: HashSet<&PathBuf> = files.iter().collect();
            let is_new =
                |path: &&PathBuf| !known.contains(path) && stem(path).is_some_and(|stem| words.contains(&stem));
            let new: Vec<PathBuf> = self.ignored.iter().filter(is_new).cloned().collect();
            files.extend(new);
        }
        files.sort();
        files
    }
}

/// Returns true for a file of tools that is often ignored, without which they would take other versions or
/// build it anew for each candidate.
fn is_of_tools(path: &Path) -> bool {
    path.ends_with("Cargo.lock") || path.ancestors().any(|folder| folder.ends_with(".hypothesis/unicode_data"))
}

/// Returns true if a file is source or a compiled module, by its name.
pub(super) fn is_code(path: &Path) -> bool {
    let is_compiled = |ending| ["so", "pyd", "node"].contains(&ending);
    Language::of_path(path).is_some() || path.extension().and_then(OsStr::to_str).is_some_and(is_compiled)
}

/// The files that git lists. `None` without git or a repository.
fn git_files(root: &Path) -> Option<Vec<PathBuf>> {
    if !root.join(".git").exists() {
        return None;
    }
    // Git lists submodules only together with tracked files.
    let mut known = git(root, &["--cached", "--recurse-submodules"])?;
    known.extend(git(root, &["--others", "--exclude-standard"])?);
    Some(known)
}

fn git(root: &Path, options: &[&str]) -> Option<Vec<PathBuf>> {
    let mut command = Command::new("git");
    // A repository must not be able to start programs of its own here.
    let safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    command.arg("-C").arg(root).args(safe).args(["ls-files", "-z"]).args(options);
    command.env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let paths = output.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    output.status.success().then(|| paths.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
}

/// Lists the files of the project up to the limit, the upper folders first, as they hold the installed
/// packages.
fn walk(root: &Path, list: &mut List) {
    let mut folders = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let (path, name) = (folder.join(entry.file_name()), entry.file_name());
            let name = name.to_string_lossy();
            // Of the links to folders only those to installed packages are followed.
            if is_dependency(&name, &entry.path()) {
                list.dependencies.push(path);
            } else if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                list.files.push(path);
            } else if !is_leftover(&name, &entry.path()) {
                if !name.starts_with('.') {
                    list.empty.push(path.clone());
                }
                folders.push_back(path);
            }
        }
        if list.files.len() > MOST_FILES {
            return;
        }
    }
}

/// Returns true if a folder holds build products. A folder with a Python package in it is code, whatever its
/// name.
fn is_leftover(name: &str, path: &Path) -> bool {
    LEFTOVERS.contains(&name) && !path.join("__init__.py").exists()
}

/// Returns true if a folder, or the target of a link, holds installed packages.
pub(super) fn is_dependency(name: &str, path: &Path) -> bool {
    (DEPENDENCIES.contains(&name) && path.is_dir()) || is_environment(path)
}

/// Returns true if a folder holds nothing that is written by hand: packages, build products, caches of tools.
pub fn is_made(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    is_dependency(name, folder) || is_leftover(name, folder)
}

/// Returns true if a folder is a Python environment.
pub fn is_environment(folder: &Path) -> bool {
    ENVIRONMENTS.iter().any(|file| folder.join(file).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_all;

    fn git_in(root: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        let settings = ["-c", "user.name=n", "-c", "user.email=e", "-c", "protocol.file.allow=always"];
        command.arg("-C").arg(root).args(settings).args(words);
        let status = command.stderr(Stdio::null()).stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{words:?}");
    }

    #[test]
    fn a_package_may_be_called_like_what_builds_leave_behind() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["src/build/__init__.py", "src/build/env.py", "build/lib/a.py", "dist/a.js", "a.py"];
        write_all(folder.path(), files.map(|path| (path, "")));
        let files = list(folder.path()).unwrap().files;
        assert_eq!(files, ["a.py", "src/build/__init__.py", "src/build/env.py"].map(PathBuf::from));
    }

    #[test]
    fn folders_that_hold_nothing_known_are_there_empty() {
        if let Err(error) = Command::new("git").arg("--version").output() {
            return crate::skip::for_want_of("git", error);
        }
        let folder = tempfile::tempdir().unwrap();
        git_in(folder.path(), &["init", "-q"]);
        write_all(folder.path(), [(".gitignore", "data\ninstance\n.cache\nbuild\n")]);
        let files = ["data/db.sqlite", "app/instance/app.db", "app/main.py", ".cache/x", "build/y", "data/in/deep/z"];
        write_all(folder.path(), files.map(|path| (path, "")));
        let list = list(folder.path()).unwrap();
        assert_eq!(list.empty, ["app/instance", "data", "data/in"].map(PathBuf::from));
    }

    #[test]
    fn what_tools_keep_comes_along_though_it_is_ignored() {
        if let Err(error) = Command::new("git").arg("--version").output() {
            return crate::skip::for_want_of("git", error);
        }
        let folder = tempfile::tempdir().unwrap();
        git_in(folder.path(), &["init", "-q"]);
        write_all(folder.path(), [(".gitignore", "Cargo.lock\n.hypothesis\nkey.pem\n")]);
        let tables = ".hypothesis/unicode_data/15.0.0/charmap.json.gz";
        write_all(folder.path(), ["Cargo.lock", tables, ".hypothesis/examples/a/b", "key.pem"].map(|path| (path, "")));
        assert_eq!(list(folder.path()).unwrap().files, [".gitignore", tables, "Cargo.lock"].map(PathBuf::from));
    }

    #[test]
    fn what_is_ignored_comes_along_only_if_it_is_imported() {
        if let Err(error) = Command::new("git").arg("--version").output() {
            return crate::skip::for_want_of("git", error);
        }
        let folder = tempfile::tempdir().unwrap();
        let (root, other) = (folder.path().join("project"), folder.path().join("other"));
        for repository in [&root, &other] {
            fs::create_dir(repository).unwrap();
            git_in(repository, &["init", "-q"]);
        }
        write_all(&other, [("inside.py", "")]);
        git_in(&other, &["add", "."]);
        git_in(&other, &["commit", "-qm", "one"]);
        git_in(&root, &["submodule", "add", "-q", other.to_str().unwrap(), "part"]);
        let init = "from ._version import (\n    version,\n)\nfrom . import fast\nsecret = 1\n";
        let ignored = "_version.py\n*.so\n.env\nsecret.py\nvenv2\ntable.py\n";
        write_all(&root, [(".gitignore", ignored), ("src/pkg/__init__.py", init)]);
        let fast = "src/pkg/fast.cpython-311-x86_64-linux-gnu.so";
        let files = ["src/pkg/_version.py", fast, "src/pkg/secret.py", ".env"];
        write_all(&root, files.map(|path| (path, "import table\n")));
        let files = ["src/pkg/table.py", "venv2/pyvenv.cfg", "venv2/lib/big.py", "mine/pyvenv.cfg", "mine/lib.py"];
        write_all(&root, files.map(|path| (path, "")));
        let list = list(&root).unwrap();
        assert_eq!(list.dependencies, ["mine", "venv2"].map(PathBuf::from));
        let wanted = [
            ".gitignore", ".gitmodules", "part/inside.py", "src/pkg/__init__.py", "src/pkg/_version.py", fast,
            "src/pkg/table.py",
        ];
        assert_eq!(list.wanted(&root), wanted.map(PathBuf::from));
    }
}
