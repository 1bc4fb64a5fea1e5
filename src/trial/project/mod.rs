//! The user's project around a file: its root, and copies of it in which candidates are tried.
//!
//! A trial never writes to the user's own files: it gets a copy, with dependencies (installed packages)
//! linked and readable only.
//!
//! - A copy holds what git lists, submodules too, and ignored files that the project imports (`list`).
//!   Packages that are links into a workspace lead to the copy (`packages`).
//! - A file without a project gets a folder of its own, with the files beside it that it may need (`lone`).
//! - Baseline: the tests run once without the function's body. Tests that fail and never call the function
//!   are left out and named; all others must pass. Flaky tests are looked for only after a failure that the
//!   baseline does not explain, or a missing test.
//! - Baselines and vacuity checks of Python, JavaScript and Go are cached on disk for 30 days
//!   (`baseline_cache`). The key covers all their inputs: other files, program without body, tools,
//!   installed packages. Rust has its own cache.
//! - Tests are found by names, settings of the runner, and calls of the function (`find`).
//! - Modes and times of files can be changed in the tier `full` only.
//! - Changed test files or settings make a pass `Tampered`.

pub mod baseline;
pub mod baseline_cache;
mod copy;
pub mod find;
pub mod imports;
mod list;
pub mod lone;
pub mod packages;
pub mod projects;
pub mod runs;
pub mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use copy::{Base, Copy};
pub use list::is_environment;

use super::tool::is_own_folder;
use crate::language::Language;

/// Files that mark the top of a project.
const MARKERS: &[&str] =
    &["Cargo.toml", "package.json", "deno.json", "deno.jsonc", "go.mod", "pyproject.toml", "setup.cfg", "setup.py"];

/// A file of a project, with the tests to run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The top folder.
    pub root: PathBuf,
    /// The folder that tests start in, relative to the root: the folder of the nearest package.
    pub package: PathBuf,
    /// The file with the candidate, relative to the root.
    pub file: PathBuf,
    /// The tests file, or the folder of all tests, relative to the root. `None` for a command of the user's.
    pub tests: Option<PathBuf>,
    /// The tests of it that are run, as their runner names them; all if empty.
    pub only: Vec<String>,
    /// The folder made for its file, if that has no project.
    pub lone: Option<Arc<lone::Folder>>,
}

impl Project {
    /// The project that `file` lies in, with its tests file if it lies there, too. `None` for a lone file: also
    /// one in a repository whose tests no tool of its language can run, for want of a manifest.
    pub fn around(file: &Path, tests: Option<&Path>) -> Option<Self> {
        let file = fs::canonicalize(file).ok()?;
        let (root, package) = top(file.parent()?)?;
        let manifest = match Language::of_path(&file) {
            Some(Language::Rust) => Some("Cargo.toml"),
            Some(Language::Go) => Some("go.mod"),
            _ => None,
        };
        let mut above = file.ancestors().skip(1).take_while(|folder| folder.starts_with(&root));
        if tests.is_some() && manifest.is_some_and(|name| !above.any(|folder| folder.join(name).is_file())) {
            return None;
        }
        let inside = |path: &Path| Some(fs::canonicalize(path).ok()?.strip_prefix(&root).ok()?.to_path_buf());
        let tests = match tests {
            Some(path) => Some(inside(path)?),
            None => None,
        };
        let relative = |path: &Path| path.strip_prefix(&root).map(Path::to_path_buf).ok();
        Some(Self {
            package: relative(&package)?,
            file: relative(&file)?,
            tests,
            only: Vec::new(),
            lone: None,
            root: root.clone(),
        })
    }

    /// Root and package of the project that a folder lies in.
    pub fn folders(folder: &Path) -> Option<(PathBuf, PathBuf)> {
        // A file in the current folder has an empty folder path.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        top(&fs::canonicalize(folder).ok()?)
    }

    /// The files of the project, relative to its root.
    pub fn files(&self) -> Result<Vec<PathBuf>, String> {
        list::list(&self.root).map(|list| list.files)
    }

    /// Returns true if a folder of this name usually holds tests or their data.
    pub fn is_of_tests(name: &str) -> bool {
        lone::TESTS.contains(&name)
    }

    /// Returns true if a folder holds nothing that is written by hand: packages, build products, caches.
    pub fn is_made(folder: &Path) -> bool {
        list::is_made(folder)
    }

    /// Returns true if all tests of a folder are meant, of which those that call the function count.
    pub fn is_suite(&self) -> bool {
        self.tests.as_deref().is_some_and(|tests| self.root.join(tests).is_dir())
    }

    /// Returns true if a file with this stem stands for its folder.
    pub fn is_of_folder(stem: &str) -> bool {
        ["__init__", "mod", "lib", "index", "main"].contains(&stem)
    }

    /// Returns true if a file of this name lies beside the candidate's file, or above it in the project.
    pub fn has_above(&self, name: &str) -> bool {
        self.file.ancestors().skip(1).any(|folder| self.root.join(folder).join(name).is_file())
    }

    /// The user's folder that tests start in. `None` for texts without a place on disk.
    pub fn folder(&self) -> Option<PathBuf> {
        self.lone.as_ref().map_or_else(|| Some(self.root.join(&self.package)), |lone| lone.of.clone())
    }

    /// Returns true if a file defines the tests. A candidate must not change it.
    fn is_steering(&self, path: &Path) -> bool {
        self.tests
            .as_deref()
            .is_some_and(|tests| path == tests || (!tests.as_os_str().is_empty() && path.starts_with(tests)))
            || path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
                name.starts_with("test_") || [".test.", ".spec.", "_test."].iter().any(|part| name.contains(part))
            })
            || settings::is_setting(path)
    }
}

/// The root of the project around a folder, and the folder of its nearest package. Never the home folder or
/// one above.
fn top(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let is_own = |folder: &Path| is_own_folder(folder, std::env::home_dir().as_deref());
    let above: Vec<&Path> = folder.ancestors().take_while(|folder| is_own(folder)).collect();
    let package = above.iter().find(|folder| MARKERS.iter().any(|name| folder.join(name).is_file()));
    let repository = above.iter().find(|folder| folder.join(".git").exists());
    let root = repository.or_else(|| {
        // Of nested packages (workspaces) the outermost is the root.
        above.iter().rev().find(|folder| MARKERS.iter().any(|name| folder.join(name).is_file()))
    })?;
    let package = package.filter(|package| package.starts_with(root)).unwrap_or(root);
    Some((root.to_path_buf(), package.to_path_buf()))
}

/// A small project in Python, made in a folder.
#[cfg(test)]
pub fn sample(root: &Path) -> Project {
    crate::files::write_all(root, [("pyproject.toml", ""), ("code.py", "x = 1\n"), ("test_code.py", "import code\n")]);
    Project::around(&root.join("code.py"), Some(&root.join("test_code.py"))).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_repository_and_the_package_the_nearest_one() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        let files =
            ["Cargo.toml", "crates/one/Cargo.toml", "crates/one/src/lib.rs", "crates/one/tests/a.rs", "../lone.py"];
        crate::files::write_all(&top.join("repo"), files.map(|path| (path, "")));
        let file = top.join("repo/crates/one/src/lib.rs");
        let project = Project::around(&file, Some(&top.join("repo/crates/one/tests/a.rs"))).unwrap();
        assert_eq!((project.root, project.package), (top.join("repo"), "crates/one".into()));
        assert_eq!(
            (project.file, project.tests),
            ("crates/one/src/lib.rs".into(), Some("crates/one/tests/a.rs".into()))
        );
        // Tests from elsewhere are no tests of the project.
        assert_eq!(Project::around(&file, Some(&top.join("lone.py"))), None);
        // Nothing runs tests of a crate that there is not.
        crate::files::write_all(&top, [("bare/.git/HEAD", ""), ("bare/a.rs", ""), ("bare/b.py", "")]);
        for (name, is_lone) in [("a.rs", true), ("b.py", false)] {
            let file = top.join("bare").join(name);
            assert_eq!(Project::around(&file, Some(&file)).is_none(), is_lone, "{name}");
            assert!(Project::around(&file, None).is_some(), "a command of the user's may run anything");
        }
        fs::remove_dir(top.join("repo/.git")).unwrap();
        assert_eq!(Project::around(&file, None).unwrap().root, top.join("repo"));
    }
}
