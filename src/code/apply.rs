//! Writes a candidate into its file, and undoes it. Files are replaced atomically.

use std::fs;
use std::io::{Seek, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::target::{read_bytes, utf8_declared};
use super::{CodeError, Target, undo};
use crate::files;

/// A change written to a file, with the data to undo it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The file.
    pub path: PathBuf,
    /// Its bytes before.
    pub before: Vec<u8>,
    /// Its bytes after.
    pub after: Vec<u8>,
    /// A copy of the old file, kept on disk.
    pub backup: Option<PathBuf>,
}

impl Target {
    /// Writes `candidate` into the file atomically. Keeps mode, line ends, byte order mark, the final
    /// newline, and the owner if the system allows it. Of a symbolic link the target is written. A file with
    /// several names is written in place. Refuses if the file is not what was read, unless only the text
    /// above the function has changed: then the function is written at its new place. A copy of the old file
    /// goes into `backups`, if given. Returns the change, which can be undone.
    pub fn apply(&self, candidate: &str, backups: Option<&Path>) -> Result<Applied, CodeError> {
        let Some(path) = &self.path else {
            return Err(CodeError::NotAFile { name: self.name.clone() });
        };
        if self.adds_nothing(candidate) {
            return Err(CodeError::Empty { name: self.name.clone() });
        }
        let changed = || CodeError::Changed { path: path.clone() };
        let now = read_bytes(path)?;
        if now != self.original {
            let moved = self.moved_to(now).ok_or_else(changed)?;
            return moved.write(path, candidate, backups);
        }
        self.write(path, candidate, backups)
    }

    /// [`Target::apply`] to a file whose bytes are those that this was read from.
    fn write(&self, path: &Path, candidate: &str, backups: Option<&Path>) -> Result<Applied, CodeError> {
        let after = self.splice_bytes(candidate);
        if !after.is_ascii() {
            utf8_declared(path, self.language, &after)?;
        }
        let backup = backups.map(|folder| keep_copy(folder, path, &self.original)).transpose()?;
        replace_file(path, &self.original, &after, || CodeError::Changed { path: path.to_path_buf() })?;
        let applied = Applied { path: path.to_path_buf(), before: self.original.clone(), after, backup };
        undo::keep(&applied);
        Ok(applied)
    }
}

impl Applied {
    /// Restores the old file. Refuses if it has changed since.
    pub fn undo(&self) -> Result<(), CodeError> {
        let changed = || CodeError::ChangedSince { path: self.path.clone(), backup: self.backup.clone() };
        replace_file(&self.path, &self.after, &self.before, changed)?;
        undo::forget(self);
        Ok(())
    }
}

/// Replaces the content of a file, if it is `from`, by `to`.
fn replace_file(path: &Path, from: &[u8], to: &[u8], changed: impl Fn() -> CodeError) -> Result<(), CodeError> {
    let failed = |source| CodeError::Io { path: path.to_path_buf(), doing: "written", source };
    let real = fs::canonicalize(path).map_err(failed)?;
    let metadata = fs::metadata(&real).map_err(failed)?;
    if metadata.permissions().readonly() {
        return Err(CodeError::ReadOnly { path: path.to_path_buf() });
    }
    // A file with other names keeps them: it is written in place, after its copy was saved.
    if metadata.nlink() > 1 {
        return write_through(&real, from, to, changed);
    }
    files::replace(&real, failed, |new| {
        new.write_all(to).map_err(failed)?;
        // Only the superuser may give files away. Otherwise a file of another owner becomes ours.
        let _ = fchown(&mut *new, Some(metadata.uid()), Some(metadata.gid()));
        new.set_permissions(metadata.permissions()).map_err(failed)?;
        new.sync_all().map_err(failed)?;
        // Last check that no editor has saved the file meanwhile.
        if read_bytes(&real)? == from { Ok(()) } else { Err(changed()) }
    })
}

/// Writes `to` into a file that holds `from`. If that fails half way, `from` is written again.
fn write_through(path: &Path, from: &[u8], to: &[u8], changed: impl Fn() -> CodeError) -> Result<(), CodeError> {
    let failed = |source| CodeError::Io { path: path.to_path_buf(), doing: "written", source };
    let mut file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
    if read_bytes(path)? != from {
        return Err(changed());
    }
    let mut put = |bytes: &[u8]| {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        file.sync_all()
    };
    put(to).map_err(|error| {
        let _ = put(from);
        failed(error)
    })
}

/// Writes a copy of a file's bytes into `folder`, readable by its owner only. Its name sorts by time.
fn keep_copy(folder: &Path, path: &Path, bytes: &[u8]) -> Result<PathBuf, CodeError> {
    let failed = |source| CodeError::Io { path: folder.to_path_buf(), doing: "written", source };
    fs::create_dir_all(folder).map_err(failed)?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!("{seconds}-");
    let suffix = format!("-{name}");
    let mut copy = tempfile::Builder::new().prefix(&prefix).suffix(&suffix).tempfile_in(folder).map_err(failed)?;
    copy.write_all(bytes).map_err(failed)?;
    copy.into_temp_path().keep().map_err(|e| failed(e.error))
}
