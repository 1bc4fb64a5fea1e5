//! Writes a candidate into its file, and undoes it. Files are replaced atomically.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use similar::{Algorithm, DiffOp, capture_diff_slices};

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
    /// Writes `candidate` into the file atomically. Keeps mode, owner, group, line ends, byte order mark and
    /// the final newline. Of a symbolic link the target is written. A file with several names, or whose owner
    /// or group a new file could not have, is written in place. Refuses if the function is not what was read,
    /// or is there twice. Where the text around it has changed, the function is written at its new place. A
    /// copy of the old file goes into `backups`, if given. Returns the change, which can be undone.
    pub fn apply(&self, candidate: &str, backups: Option<&Path>) -> Result<Applied, CodeError> {
        let Some(path) = &self.path else {
            return Err(CodeError::NotAFile { name: self.name.clone() });
        };
        if self.adds_nothing(candidate) {
            return Err(CodeError::Empty { name: self.name.clone() });
        }
        let changed = || CodeError::Changed { path: path.clone() };
        let _alone = alone(path);
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
    /// Restores the old text of the written lines; changes elsewhere in the file stay. Refuses if the written
    /// lines are other ones now. Returns the sentence for the user.
    pub fn undo(&self) -> Result<String, CodeError> {
        let _alone = alone(&self.path);
        let (now, without) = self.taken_out()?;
        replace_file(&self.path, &now, &without, || self.changed_since())?;
        undo::forget(self);
        let kept = if without == self.before { "" } else { ", but for what was changed elsewhere since" };
        Ok(format!("{} is as it was before{kept}", self.path.display()))
    }

    /// Returns true if the written lines are in the file unchanged.
    pub fn stands(&self) -> bool {
        self.taken_out().is_ok()
    }

    /// The bytes of the file, and those without what was written.
    pub(super) fn taken_out(&self) -> Result<(Vec<u8>, Vec<u8>), CodeError> {
        let now = read_bytes(&self.path).map_err(|error| match error {
            CodeError::NoFile { path, .. } => CodeError::Gone { path, backup: self.backup.clone() },
            other => other,
        })?;
        let without = self.without(&now).ok_or_else(|| self.changed_since())?;
        Ok((now, without))
    }

    fn changed_since(&self) -> CodeError {
        CodeError::ChangedSince { path: self.path.clone(), backup: self.backup.clone() }
    }

    /// The present text of the file without what was written: a merge of two changes of the written text, the
    /// one back to the old text and the one to the present text. None if they touch each other.
    fn without(&self, now: &[u8]) -> Option<Vec<u8>> {
        let [written, old, now] = [&self.after, &self.before, now].map(lines);
        let (back, since) = (changes(&written, &old), changes(&written, &now));
        // Lines at the margin under indented ones are no part of these.
        let begins_anew = |new: &Range<usize>| {
            let first = now[new.clone()].iter().find(|line| !line.trim_ascii().is_empty());
            first.is_none_or(|line| !line[0].is_ascii_whitespace())
        };
        let is_indented = |at: usize| {
            let last = written[..at].iter().rev().find(|line| !line.trim_ascii().is_empty());
            last.is_some_and(|line| line[0].is_ascii_whitespace())
        };
        let touch = |a: &Range<usize>, (b, new): &(Range<usize>, Range<usize>)| {
            let is_behind = b.is_empty() && b.start == a.end && is_indented(a.end) && begins_anew(new);
            a.start <= b.end && b.start <= a.end && !is_behind
        };
        if back.iter().any(|(a, _)| since.iter().any(|b| touch(a, b))) {
            return None;
        }
        let of = |changes: Vec<(Range<usize>, Range<usize>)>, text: &[&[u8]]| -> Vec<(Range<usize>, Vec<u8>)> {
            changes.into_iter().map(|(at, new)| (at, text[new].concat())).collect()
        };
        let mut all = [of(back, &old), of(since, &now)].concat();
        all.sort_by_key(|(at, _)| at.start);
        patched(&written, all)
    }
}

/// A text with other lines in the place of some, in the order of the text; `None` if it has no such lines.
pub(super) fn patched(text: &[&[u8]], changes: Vec<(Range<usize>, Vec<u8>)>) -> Option<Vec<u8>> {
    let (mut out, mut done) = (Vec::new(), 0);
    for (at, new) in changes {
        out.extend(text.get(done..at.start)?.concat());
        out.extend(new);
        done = at.end;
    }
    out.extend(text.get(done..)?.concat());
    Some(out)
}

/// Lines with their ends.
pub(super) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Numbers of the lines of `old` that are not in `new`, and of those in their place.
pub(super) fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Range<usize>, Range<usize>)> {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    let is_change = |op: &DiffOp| !matches!(op, DiffOp::Equal { .. });
    ops.iter().filter(|op| is_change(op)).map(|op| (op.old_range(), op.new_range())).collect()
}

/// Longest time that a write waits for another one of the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps other runs of this program from writing a file, until it is dropped. `None` where the system has no
/// such locks, or another one holds it for too long: that the file is as it was read is checked in any case.
fn alone(path: &Path) -> Option<File> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let file = files::open(path).ok()?;
        match file.try_lock() {
            Ok(()) => {
                let (own, now) = (file.metadata().ok()?, fs::metadata(path).ok()?);
                // Another run may have replaced the file since it was opened.
                if (own.dev(), own.ino()) == (now.dev(), now.ino()) {
                    return Some(file);
                }
            }
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Err(fs::TryLockError::Error(_)) => return None,
        }
    }
    None
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
    // An error of `None`: the new file cannot have the old one's owner and group.
    let replaced = files::replace(
        &real,
        |error| Some(failed(error)),
        |new| {
            let failed = |error| Some(failed(error));
            new.write_all(to).map_err(failed)?;
            if !is_given(new, &metadata) {
                return Err(None);
            }
            new.set_permissions(metadata.permissions()).map_err(failed)?;
            new.sync_all().map_err(failed)?;
            // Last check that no editor has saved the file meanwhile.
            if read_bytes(&real)? == from { Ok(()) } else { Err(Some(changed())) }
        },
    );
    match replaced {
        Err(None) => write_through(&real, from, to, changed),
        Err(Some(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

/// Gives a file the owner and group of another one; true if it has them. Only the superuser may change the
/// owner, and others only to a group that they are in.
fn is_given(file: &File, like: &fs::Metadata) -> bool {
    let is_like = || file.metadata().is_ok_and(|own| (own.uid(), own.gid()) == (like.uid(), like.gid()));
    is_like() || fchown(file, Some(like.uid()), Some(like.gid())).is_ok() && is_like()
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
