//! Which files of a project a copy holds: what git knows and what it does not ignore; without git all but
//! what builds leave behind.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders of installed packages: linked into a copy, never copied.
pub const DEPENDENCIES: &[&str] = &["node_modules", ".venv", "venv"];
/// What builds and tools leave behind.
const LEFTOVERS: &[&str] =
    &[".git", "target", "__pycache__", "dist", "build", ".tox", ".mypy_cache", ".pytest_cache", ".hg", ".svn"];
/// More files than this are no project that can be copied for every candidate.
const MOST_FILES: usize = 50_000;

/// What a project holds, relative to its root and sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Files and links.
    pub files: Vec<PathBuf>,
    /// Folders of installed packages.
    pub dependencies: Vec<PathBuf>,
}

/// The files of the project at `root`.
pub fn list(root: &Path) -> Result<List, String> {
    let mut list = List::default();
    walk(root, Path::new(""), &mut list)?;
    if let Some(known) = git_files(root) {
        list.files = known;
    }
    list.files.retain(|path| fs::symlink_metadata(root.join(path)).is_ok_and(|meta| !meta.is_dir()));
    list.files.sort();
    list.files.dedup();
    list.dependencies.sort();
    Ok(list)
}

/// What git lists; `None` where there is no git or no repository.
fn git_files(root: &Path) -> Option<Vec<PathBuf>> {
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        // A repository must not be able to start programs of its own here.
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let paths = output.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    output.status.success().then(|| paths.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
}

fn walk(root: &Path, folder: &Path, list: &mut List) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Ok(()) };
    for entry in entries.flatten() {
        let (path, name) = (folder.join(entry.file_name()), entry.file_name());
        let name = name.to_string_lossy();
        // A link is not followed, also not to a folder.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list.files.push(path);
        } else if DEPENDENCIES.contains(&&*name) {
            list.dependencies.push(path);
        } else if !LEFTOVERS.contains(&&*name) {
            walk(root, &path, list)?;
        }
        if list.files.len() > MOST_FILES {
            return Err(format!(
                "the project {} has more than {MOST_FILES} files, too many to copy for every candidate",
                root.display()
            ));
        }
    }
    Ok(())
}
