//! Copies of a project: one base, made once, and a light copy of it for every candidate.
//!
//! Files are shared by reflink if the disk supports it (writing to a clone does not change its original),
//! else copied. Hard links are never used: a candidate would write to the user's file through them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::Project;
use super::list::{List, list};
use super::packages;
use crate::sandbox::Scratch;
use crate::untrusted::clean_line;

/// Size limit of a project that is copied.
const LARGEST: u64 = 200 << 20;

/// The number of the next copy.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A copy of the project as the user has it.
#[derive(Debug)]
pub struct Base {
    /// No other has it.
    pub id: u64,
    folder: Scratch,
    list: List,
    /// The listed files that are copied.
    files: Vec<PathBuf>,
    stamps: Vec<Option<(u64, SystemTime)>>,
    root: PathBuf,
}

/// A copy with a candidate in it. Removed when dropped.
#[derive(Debug)]
pub struct Copy {
    folder: Scratch,
    /// Readable folders outside of the copy: installed packages.
    pub readable: Vec<PathBuf>,
    /// True if it is the copy of a folder made for a lone file, and so small.
    pub is_lone: bool,
}

impl Base {
    /// Copies a project.
    pub fn new(root: &Path) -> Result<Self, String> {
        let list = list(root)?;
        let files = list.wanted(root);
        let stamps = stamps(root, &files);
        let size: u64 = stamps.iter().flatten().map(|(size, _)| size).sum();
        if size > LARGEST {
            return Err(format!(
                "the project {} has {} MB of files, and at most {} MB are copied for a trial: add what is not source to .gitignore",
                root.display(),
                size >> 20,
                LARGEST >> 20
            ));
        }
        let folder = Scratch::new().map_err(|e| format!("a copy of the project could not be made: {e}"))?;
        copy_all(root, folder.path(), &files, true)?;
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { id, folder, list, files, stamps, root: root.to_path_buf() })
    }

    /// Returns true if the project has not changed since it was copied.
    pub fn is_current(&self) -> bool {
        list(&self.root).is_ok_and(|now| now == self.list && stamps(&self.root, &self.files) == self.stamps)
    }

    /// Size and time of each of the user's files at the time of the copy.
    pub fn stamps(&self) -> impl Iterator<Item = (&PathBuf, Option<(u64, SystemTime)>)> {
        self.files.iter().zip(self.stamps.iter().copied())
    }

    /// Folders of installed packages, relative to the root.
    pub fn dependencies(&self) -> &[PathBuf] {
        &self.list.dependencies
    }

    /// A copy in which `program`, if given, replaces the project's file.
    pub fn copy(&self, project: &Project, program: Option<&str>) -> Result<Copy, String> {
        let folder = Scratch::new().map_err(|e| format!("a copy of the project could not be made: {e}"))?;
        self.copy_into(folder, project, program)
    }

    /// The copy, made in this folder.
    pub fn copy_into(&self, folder: Scratch, project: &Project, program: Option<&str>) -> Result<Copy, String> {
        let failed = |e: io::Error| format!("a copy of the project could not be made: {e}");
        copy_all(self.folder.path(), folder.path(), &self.files, false)?;
        for path in &self.list.empty {
            fs::create_dir_all(folder.path().join(path)).map_err(failed)?;
        }
        // Tests may look for a folder that nobody may read. The inner ones first, while the others are open.
        for path in self.list.empty.iter().rev() {
            if let Ok(meta) = fs::symlink_metadata(self.root.join(path)) {
                fs::set_permissions(folder.path().join(path), meta.permissions()).map_err(failed)?;
            }
        }
        for path in &self.list.dependencies {
            packages::put(&self.root, folder.path(), path).map_err(failed)?;
        }
        if let Some(program) = program {
            put(folder.path(), &project.file, program).map_err(|e| {
                format!(
                    "the candidate could not be put into the copy of {}: {e}",
                    self.root.join(&project.file).display()
                )
            })?;
        }
        // An environment may be a link, and packages in it, too.
        let dependencies = self.list.dependencies.iter().map(|path| self.root.join(path));
        let readable = dependencies.flat_map(|path| [fs::canonicalize(&path).ok(), Some(path)]).flatten().collect();
        Ok(Copy { folder, readable, is_lone: project.lone.is_some() })
    }

    /// The user's text of a file at the time of the copy.
    pub fn read(&self, file: &Path) -> io::Result<String> {
        fs::read_to_string(self.folder.path().join(file))
    }

    /// The first file that defines the tests or their settings and was changed.
    pub fn changed(&self, project: &Project, copy: &Copy) -> Option<String> {
        let steering = self.files.iter().filter(|path| project.is_steering(path) && **path != project.file);
        let mut changed = steering.filter(|path| {
            let same = |folder: &Path| fs::read(folder.join(path)).ok();
            same(self.folder.path()) != same(copy.path())
        });
        changed.next().map(|path| clean_line(&path.to_string_lossy(), 200))
    }
}

impl Copy {
    /// An empty copy.
    pub fn empty() -> io::Result<Self> {
        Ok(Self { folder: Scratch::new()?, readable: Vec::new(), is_lone: false })
    }

    /// Writes a file into it. No part of the path may lead out of it.
    pub fn put(&self, file: &Path, text: &str) -> io::Result<()> {
        put(self.path(), file, text)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Size and time of every file.
fn stamps(root: &Path, files: &[PathBuf]) -> Vec<Option<(u64, SystemTime)>> {
    let stamp = |path: &PathBuf| {
        let meta = fs::symlink_metadata(root.join(path)).ok()?;
        Some((meta.len(), meta.modified().ok()?))
    };
    files.iter().map(stamp).collect()
}

/// Copies the files of a list. `gone` allows that one was removed since it was listed.
fn copy_all(from: &Path, to: &Path, files: &[PathBuf], gone: bool) -> Result<(), String> {
    for path in files {
        match copy_one(&from.join(path), &to.join(path)) {
            Err(error) if gone && error.kind() == io::ErrorKind::NotFound => {}
            outcome => {
                outcome.map_err(|e| format!("{} could not be copied for a trial: {e}", from.join(path).display()))?;
            }
        }
    }
    Ok(())
}

fn copy_one(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if meta.is_symlink() {
        return symlink(&fs::read_link(from)?, to);
    }
    if !meta.is_file() {
        // Pipes, sockets and devices are not copied.
        return Ok(());
    }
    let (source, target) = (File::open(from)?, File::create_new(to)?);
    // Shares the blocks on disks that support it.
    io::copy(&mut &source, &mut &target)?;
    target.set_permissions(meta.permissions())
}

/// Writes `text` to a file of a copy. No part of the path may lead out of it.
fn put(root: &Path, file: &Path, text: &str) -> io::Result<()> {
    let leads_out = || io::Error::new(io::ErrorKind::InvalidInput, "a link leads out of the project");
    if !file.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(leads_out());
    }
    let path = root.join(file);
    let folder = path.parent().unwrap_or(root);
    fs::create_dir_all(folder)?;
    if !fs::canonicalize(folder)?.starts_with(fs::canonicalize(root)?) {
        return Err(leads_out());
    }
    let permissions = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file).map(|meta| meta.permissions());
    let _ = fs::remove_file(&path);
    let mut target = File::create_new(&path)?;
    target.write_all(text.as_bytes())?;
    permissions.map_or(Ok(()), |permissions| target.set_permissions(permissions))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    #[test]
    fn a_copy_shares_nothing_that_can_be_written_with_its_project() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("node_modules/dep")).unwrap();
        files::write_all(root, [("src/a.py", "old"), ("test_a.py", "tests"), ("target/debug/big", "x")]);
        symlink(Path::new("/etc/passwd"), root.join("leads_out")).unwrap();
        symlink(Path::new("/tmp"), root.join("folder_out")).unwrap();
        let (package, file, only) = (PathBuf::new(), "src/a.py".into(), Vec::new());
        let mut project = Project { root: root.to_path_buf(), package, file, tests: None, only, lone: None };
        let base = Base::new(root).unwrap();
        let copy = base.copy(&project, Some("new")).unwrap();
        assert_eq!(fs::read_to_string(copy.path().join("src/a.py")).unwrap(), "new");
        assert_eq!(fs::read_to_string(root.join("src/a.py")).unwrap(), "old");
        assert!(!copy.path().join("target").exists() && copy.path().join("node_modules/dep").exists());
        assert_eq!(fs::read_link(copy.path().join("leads_out")).unwrap(), Path::new("/etc/passwd"));
        assert!(copy.readable.contains(&root.join("node_modules")));
        assert_eq!(base.changed(&project, &copy), None);
        fs::write(copy.path().join("test_a.py"), "pass").unwrap();
        assert_eq!(base.changed(&project, &copy), Some("test_a.py".to_owned()));
        assert_eq!(fs::read_to_string(root.join("test_a.py")).unwrap(), "tests");
        // A file behind a link that leads out is refused; the link itself is replaced, not followed.
        project.file = "folder_out/made".into();
        assert!(base.copy(&project, Some("x")).is_err());
        project.file = "leads_out".into();
        let copy = base.copy(&project, Some("x")).unwrap();
        assert!(!fs::symlink_metadata(copy.path().join("leads_out")).unwrap().is_symlink());
        assert!(base.is_current());
        fs::write(root.join("src/a.py"), "newer").unwrap();
        assert!(!base.is_current());
    }

    #[test]
    fn a_closed_folder_is_closed_in_the_copy() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let project = super::super::sample(&folder.path().join("project"));
        let mode = |root: &Path| fs::metadata(root.join("data/closed")).unwrap().permissions().mode() & 0o777;
        fs::create_dir_all(project.root.join("data/closed")).unwrap();
        fs::set_permissions(project.root.join("data/closed"), fs::Permissions::from_mode(0o000)).unwrap();
        let copy = Base::new(&project.root).unwrap().copy(&project, None).unwrap();
        assert_eq!([mode(&project.root), mode(copy.path())], [0, 0]);
        let path = copy.path().to_path_buf();
        drop(copy);
        assert!(!path.exists());
    }

    #[test]
    fn every_file_that_is_copied_has_its_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(root).status();
        if let Err(error) = git {
            return crate::skip::for_want_of("git", error);
        }
        let ignored = (".gitignore", "made.py\n");
        files::write_all(root, [ignored, ("code.py", "import made\n"), ("made.py", "1"), ("z.py", "")]);
        let base = Base::new(root).unwrap();
        let sizes: Vec<(String, u64)> =
            base.stamps().map(|(path, stamp)| (path.display().to_string(), stamp.unwrap().0)).collect();
        let expected = [(".gitignore", 8), ("code.py", 12), ("made.py", 1), ("z.py", 0)];
        assert_eq!(sizes, expected.map(|(name, size)| (name.to_owned(), size)));
    }
}
