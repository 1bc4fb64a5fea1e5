//! The private folder of a trial: made empty, watched, and removed whatever the code did to it.

use std::fs::{self, Permissions};
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::lchown;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// More entries than this is a flood, not a test.
const MOST_ENTRIES: usize = 20_000;

/// A folder that only the trial uses. Removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes the folder, readable by its owner only.
    pub fn new() -> io::Result<Self> {
        // Our number in the name tells whose folder it is when the program itself was killed.
        let prefix = format!("bass-tui-trial-{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir()?;
        // Removing is our own business: the usual way stops at folders without permissions and at very deep ones.
        let path = folder.keep();
        // Rules are given for the true path.
        Ok(Self { path: fs::canonicalize(&path).unwrap_or(path) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes files into the empty folder, with the folders they stand in. Paths are relative and lead downwards.
    pub fn lay(&self, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
        for (path, bytes) in files {
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it would lie outside the folder of the trial",
                ));
            }
            let path = self.path.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&self.path))?;
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    /// Gives the folder and what was laid into it to the user that the program of a trial becomes, if it does.
    #[cfg(target_os = "linux")]
    pub fn give_to(&self, namespaces: Option<&super::namespaces::Namespaces>) -> io::Result<()> {
        let user = namespaces.and_then(|namespaces| namespaces.root.as_ref()).and_then(|root| root.user.other_number());
        let (Some(number), mut folders) = (user, vec![self.path.clone()]) else { return Ok(()) };
        while let Some(folder) = folders.pop() {
            lchown(&folder, Some(number), Some(number))?;
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    lchown(entry.path(), Some(number), Some(number))?;
                }
            }
        }
        Ok(())
    }

    /// Bytes on disk, or `None` when there are more files, or deeper ones, than any test needs.
    pub fn usage(&self) -> Option<u64> {
        let (mut bytes, mut entries, mut folders) = (0_u64, 0_usize, vec![self.path.clone()]);
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

    /// Removes everything. Nested folders are moved up to the top first, so that no path ever grows long and nothing recurses.
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
        if let Err(error) = self.remove() {
            tracing::warn!(folder = %self.path.display(), %error, "a trial's folder could not be removed");
        }
    }
}

/// Gives the owner all rights on a folder. No process of the trial lives any more, so it cannot be swapped for a link meanwhile.
fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_laid_inside_and_nowhere_else() {
        let scratch = Scratch::new().unwrap();
        scratch.lay(&[("a/b.py".into(), b"x".to_vec())]).unwrap();
        assert_eq!(fs::read(scratch.path().join("a/b.py")).unwrap(), b"x");
        for path in ["../out", "/tmp/out", "a/../../out"] {
            assert!(scratch.lay(&[(path.into(), Vec::new())]).is_err(), "{path}");
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
        // Deeper than a path can say: made by moving an ever taller tower under a new folder.
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
