//! The private folder of a program: created empty, and removed whatever the program did to it.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::lchown;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Most entries of a folder. More count as a flood.
const MOST_ENTRIES: usize = 20_000;

/// A folder used by one program only. Removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Locked while the folder is in use. The system unlocks it when the program is killed.
    _lock: Option<File>,
}

/// Prefix of the names of all these folders.
const PREFIX: &str = concat!(env!("CARGO_PKG_NAME"), "-run-");

/// A text without the paths of such folders, which differ from run to run.
pub fn without_folders(text: &str) -> String {
    let begin = std::env::temp_dir().join(PREFIX).to_string_lossy().into_owned();
    let mut parts = text.split(&begin);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        let rest = &part[name.unwrap_or(part.len())..];
        out += rest.strip_prefix('/').unwrap_or(rest);
    }
    out
}

/// Bytes of a folder on disk, or `None` if it has more files, or deeper ones, than any program needs.
pub fn usage(folder: &Path) -> Option<u64> {
    let (mut bytes, mut entries, mut folders) = (0_u64, 0_usize, vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let list = match fs::read_dir(&folder) {
            Ok(list) => list,
            Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => return None,
            Err(_) => continue,
        };
        for entry in list.flatten() {
            entries += 1;
            if entries > MOST_ENTRIES {
                return None;
            }
            let Ok(meta) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(meta.blocks().saturating_mul(512));
            if meta.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Some(bytes)
}

/// A sentence that says why programs cannot get folders of their own, if they cannot.
pub fn lacks_place() -> Option<String> {
    let folder = std::env::temp_dir();
    let why = match fs::metadata(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => "which is not there".to_owned(),
        Err(error) => format!("which cannot be used: {error}"),
        Ok(meta) if !meta.is_dir() => "which is no folder".to_owned(),
        Ok(_) => match tempfile::tempdir_in(&folder) {
            Err(error) => format!("in which no folder can be made: {error}"),
            Ok(_) => return None,
        },
    };
    let name = if std::env::var_os("TMPDIR").is_some() { "TMPDIR" } else { "the folder for temporary files" };
    Some(format!(
        "{name} is {}, {why}; code under test runs in folders there: set TMPDIR to a folder of yours",
        folder.display()
    ))
}

/// Removes folders left by a program that was killed.
pub fn sweep() {
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            // Removed when dropped.
            drop(Scratch::abandoned(entry.path()));
        }
    }
}

/// Returns true for a path inside of such a folder, which this program alone uses.
#[cfg(target_os = "linux")]
pub fn is_within(path: &Path) -> bool {
    let top = fs::canonicalize(std::env::temp_dir()).ok();
    let inside = top.and_then(|top| Some(path.strip_prefix(top).ok()?.components().next()?.as_os_str().to_owned()));
    inside.is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}

/// Gives a folder and its content to a user, without following links.
#[cfg(target_os = "linux")]
pub fn give(folder: &Path, user: u32) -> io::Result<()> {
    each(folder, &|path, _| lchown(path, Some(user), Some(user)))
}

/// Lets a group read what its owner may read of a folder and its content. The owner stays, as another run may
/// use the folder at the same time.
#[cfg(target_os = "linux")]
pub fn show(folder: &Path, group: u32) -> io::Result<()> {
    each(folder, &|path, meta| {
        lchown(path, None, Some(group))?;
        let mode = meta.permissions().mode();
        let wanted = mode | (mode & 0o500) >> 3;
        if meta.is_symlink() || mode == wanted {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(wanted))
    })
}

/// Changes a folder and all in it, without following links.
#[cfg(target_os = "linux")]
fn each(folder: &Path, change: &dyn Fn(&Path, &fs::Metadata) -> io::Result<()>) -> io::Result<()> {
    let mut left = vec![folder.to_path_buf()];
    while let Some(path) = left.pop() {
        let one = || -> io::Result<Vec<fs::DirEntry>> {
            let meta = fs::symlink_metadata(&path)?;
            change(&path, &meta)?;
            if meta.is_dir() { fs::read_dir(&path)?.collect() } else { Ok(Vec::new()) }
        };
        match one() {
            Ok(entries) => left.extend(entries.into_iter().map(|entry| entry.path())),
            // Another run removes its files.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl Scratch {
    /// Creates the folder, readable by its owner only.
    pub fn new() -> io::Result<Self> {
        // The process id identifies the owner of the folder if this program is killed.
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).permissions(Permissions::from_mode(0o700)).tempdir()?;
        // `remove` deletes it: the usual way fails at folders without permissions and at very deep ones.
        let path = folder.keep();
        // Sandbox rules need the canonical path.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let lock = lock(&path);
        Ok(Self { path, _lock: lock })
    }

    /// An empty folder at this path, for tools that know their files by path. `None` while another process
    /// uses it.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        let mut folders = DirBuilder::new();
        folders.mode(0o700);
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        // Files left by a program that was killed are removed.
        drop(lock(path).map(|lock| Self { path: path.to_path_buf(), _lock: Some(lock) }));
        match folders.create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made?,
        }
        let path = fs::canonicalize(path)?;
        Ok(lock(&path).map(|lock| Self { path, _lock: Some(lock) }))
    }

    /// A folder that is certainly no longer in use.
    fn abandoned(path: PathBuf) -> Option<Self> {
        let meta = fs::symlink_metadata(&path).ok()?;
        let user = rustix::process::geteuid().as_raw();
        let is_ours = meta.uid() == user || (user == 0 && meta.uid() == super::OTHER_USER);
        // A younger folder may not have been locked yet. Its owner may be unseen here and alive all the same.
        let least = Duration::from_secs(if owner_of(&path).is_some_and(|owner| !is_alive(owner)) { 2 } else { 60 });
        let is_old = meta.modified().ok()?.elapsed().is_ok_and(|age| age > least);
        if !meta.is_dir() || !is_ours || !is_old {
            return None;
        }
        let lock = lock(&path)?;
        Some(Self { path, _lock: Some(lock) })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files into the empty folder, and creates their folders. Paths are relative and lead downwards.
    pub fn write_all(&self, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
        for (path, bytes) in files {
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it would lie outside the program's own folder",
                ));
            }
            let path = self.path.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&self.path))?;
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    /// Bytes on disk; `None` when there are more files, or deeper ones, than any program needs.
    pub fn usage(&self) -> Option<u64> {
        usage(&self.path)
    }

    /// Removes everything. Nested folders are moved up to the top first, so that no path grows long and
    /// nothing recurses.
    fn remove(&self) -> io::Result<()> {
        open_up(&self.path)?;
        let mut moved = 0_u64;
        loop {
            let mut is_empty = true;
            for entry in fs::read_dir(&self.path)? {
                is_empty = false;
                let entry = entry?;
                let path = entry.path();
                if !entry.file_type()?.is_dir() {
                    fs::remove_file(&path)?;
                    continue;
                }
                open_up(&path)?;
                for inner in fs::read_dir(&path)? {
                    let inner = inner?;
                    if !inner.file_type()?.is_dir() {
                        fs::remove_file(inner.path())?;
                        continue;
                    }
                    open_up(&inner.path())?;
                    let place = loop {
                        moved += 1;
                        let place = self.path.join(format!("moved-{moved}"));
                        if fs::symlink_metadata(&place).is_err() {
                            break place;
                        }
                    };
                    fs::rename(inner.path(), place)?;
                }
                fs::remove_dir(&path)?;
            }
            if is_empty {
                return fs::remove_dir(&self.path);
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A later start removes the rest, once the lock is gone.
        let _ = self.remove();
    }
}

/// The process that made a folder, by the folder's name.
fn owner_of(path: &Path) -> Option<i32> {
    let (owner, rest) = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    let is_name = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    owner.parse().ok().filter(|owner| is_name && *owner > 0)
}

/// Returns true unless it is certain that no process has this number.
fn is_alive(process: i32) -> bool {
    let process = rustix::process::Pid::from_raw(process);
    process.is_some_and(|process| rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH))
}

/// Locks a folder; `None` if another process holds the lock.
fn lock(folder: &Path) -> Option<File> {
    let options = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let file = File::options().read(true).custom_flags(options).open(folder).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Gives the owner all rights on a folder. No process of the run is left that could swap it for a link.
fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_not_depend_on_the_folders_of_a_run() {
        let (one, other) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        let said = |scratch: &Scratch| {
            let path = scratch.path().display();
            without_folders(&format!("no 'x' from\n- test/a.js\n- {path}/entry.cjs:3 ({path})"))
        };
        assert_eq!(said(&one), "no 'x' from\n- test/a.js\n- entry.cjs:3 ()");
        assert_eq!(said(&one), said(&other));
        assert_eq!(without_folders("plain"), "plain");
    }

    #[test]
    fn a_folder_with_a_name_is_one_programs_alone() {
        let outer = Scratch::new().unwrap();
        let path = outer.path().join("more/place");
        let first = Scratch::at(&path).unwrap().unwrap();
        assert_eq!((first.path(), fs::metadata(&path).unwrap().mode() & 0o777), (path.as_path(), 0o700));
        assert!(Scratch::at(&path).unwrap().is_none());
        drop(first);
        assert!(!path.exists());
        // The state after a program was killed.
        fs::create_dir(&path).unwrap();
        fs::write(path.join("left"), "").unwrap();
        let next = Scratch::at(&path).unwrap().unwrap();
        assert_eq!(fs::read_dir(next.path()).unwrap().count(), 0);
    }

    #[test]
    fn nobody_else_may_look_in() {
        let scratch = Scratch::new().unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn files_are_written_inside_and_nowhere_else() {
        let scratch = Scratch::new().unwrap();
        scratch.write_all(&[("a/b.py".into(), b"x".to_vec())]).unwrap();
        assert_eq!(fs::read(scratch.path().join("a/b.py")).unwrap(), b"x");
        for path in ["../out", "/tmp/out", "a/../../out"] {
            assert!(scratch.write_all(&[(path.into(), Vec::new())]).is_err(), "{path}");
        }
    }

    #[test]
    fn only_old_folders_that_nobody_uses_are_abandoned() {
        let age = |path: &Path| {
            let long_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
            File::open(path).unwrap().set_modified(long_ago).unwrap();
        };
        let used = Scratch::new().unwrap();
        age(used.path());
        assert!(Scratch::abandoned(used.path().to_path_buf()).is_none());
        let left = tempfile::Builder::new().prefix("left").tempdir().unwrap().keep();
        assert!(Scratch::abandoned(left.clone()).is_none(), "it is new");
        age(&left);
        std::os::unix::fs::symlink(&left, used.path().join("link")).unwrap();
        assert!(Scratch::abandoned(used.path().join("link")).is_none());
        drop(Scratch::abandoned(left.clone()).unwrap());
        assert!(!left.exists());
        // A process that has ended, and this one.
        let ended = std::process::Command::new("true").spawn().map(|mut child| child.wait().map(|_| child.id()));
        let ended = ended.unwrap().unwrap();
        for (name, is_left) in [
            (format!("{PREFIX}{ended}-Ab12cd"), true),
            (format!("{PREFIX}{}-Ab12cd", std::process::id()), false),
            (format!("{PREFIX}{ended}-a.b"), false),
            (format!("{PREFIX}{ended}x-Ab12cd"), false),
        ] {
            let path = used.path().join(name);
            fs::create_dir(&path).unwrap();
            let shortly_ago = std::time::SystemTime::now() - Duration::from_secs(5);
            File::open(&path).unwrap().set_modified(shortly_ago).unwrap();
            assert_eq!(Scratch::abandoned(path.clone()).is_some(), is_left, "{}", path.display());
        }
    }

    #[test]
    fn removes_deep_nesting_and_folders_without_permissions() {
        let scratch = Scratch::new().unwrap();
        let top = scratch.path().to_path_buf();
        fs::create_dir_all(top.join("locked/inside")).unwrap();
        fs::write(top.join("locked/inside/file"), "x").unwrap();
        fs::set_permissions(top.join("locked/inside"), Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(top.join("locked"), Permissions::from_mode(0o000)).unwrap();
        // Deeper than the longest path: made by moving an ever taller tower under a new folder.
        fs::create_dir(top.join("tower")).unwrap();
        for _ in 0..1200 {
            fs::create_dir(top.join("base")).unwrap();
            fs::rename(top.join("tower"), top.join("base/tower")).unwrap();
            fs::rename(top.join("base"), top.join("tower")).unwrap();
        }
        assert_eq!(scratch.usage(), None);
        drop(scratch);
        assert!(fs::symlink_metadata(&top).is_err());
    }
}
