//! Records of what was written to files, beside the copies of the earlier texts, so that a later start of the
//! program can undo it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::apply::{changes, lines, patched};
use super::{Applied, CodeError};
use crate::files;

/// Ending of the name of a record, after the name of the copy.
const ENDING: &str = ".json";
/// Size limit of a record.
const LARGEST: u64 = 1 << 20;

/// A change that was written.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The file, from the root.
    path: PathBuf,
    /// The lines of the earlier text that were replaced, by the numbers of the first and of the one behind the
    /// last, and the text in their place.
    changes: Vec<(usize, usize, String)>,
}

/// The record that belongs to a copy.
fn record_of(backup: &Path) -> PathBuf {
    let mut name = OsString::from(backup);
    name.push(ENDING);
    name.into()
}

/// Writes the record of a change that has a copy of the earlier text. A path that is no text has none.
pub(super) fn keep(applied: &Applied) {
    let Some(backup) = &applied.backup else { return };
    let path = files::whole_path(&applied.path);
    let (before, after) = (lines(&applied.before), lines(&applied.after));
    let written = changes(&before, &after).into_iter().map(|(at, new)| {
        let text = String::from_utf8(after[new].concat()).ok()?;
        Some((at.start, at.end, text))
    });
    let Some(changes) = written.collect() else { return };
    if let Ok(text) = serde_json::to_string(&Record { path, changes }) {
        let _ = fs::write(record_of(backup), text);
    }
}

/// Removes the record of a change that was undone.
pub(super) fn forget(applied: &Applied) {
    if let Some(backup) = &applied.backup {
        let _ = fs::remove_file(record_of(backup));
    }
}

impl Applied {
    /// The last change of a file, or below a folder, whose copy is in `backups` and that was not undone.
    /// Errors: none is recorded there, the file has changed since, or a file cannot be read.
    pub fn last(backups: &Path, place: &Path) -> Result<Self, CodeError> {
        let whole = files::whole_path(place);
        let dated = |record: PathBuf| -> Option<(SystemTime, PathBuf, PathBuf)> {
            let backup = PathBuf::from(record.to_str()?.strip_suffix(ENDING)?);
            let path = files::whole_path(&read(&backup)?.path);
            Some((fs::metadata(&record).ok()?.modified().ok()?, backup, path))
        };
        let records = fs::read_dir(backups).into_iter().flatten().flatten().filter_map(|entry| dated(entry.path()));
        let mut records: Vec<(SystemTime, PathBuf, PathBuf)> = records.collect();
        records.sort_by_key(|(time, ..)| *time);
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            records.into_iter().rev().map(|(_, backup, path)| (backup, path)).partition(|(_, p)| p.starts_with(&whole));
        let mut here = here.into_iter();
        let Some((newest, blocked)) = here.next() else {
            // Of a file that was named, only its own changes are of interest.
            let elsewhere = elsewhere.into_iter().next().filter(|_| whole.is_dir()).map(|(_, path)| path);
            return Err(CodeError::NothingWritten { place: Some(place.to_path_buf()), elsewhere });
        };
        Self::recorded(&newest).map_err(|error| {
            // Each file has its own order of changes.
            let others = here.filter_map(|(backup, _)| Self::recorded(&backup).ok()).map(|applied| applied.path);
            match others.into_iter().find(|path| *path != blocked) {
                Some(other) => CodeError::Blocked { why: Box::new(error), other },
                None => error,
            }
        })
    }

    /// The change with this copy of the earlier text. Errors: it was undone, what was written has changed
    /// since, or a file cannot be read.
    pub fn recorded(backup: &Path) -> Result<Self, CodeError> {
        let nothing = || CodeError::NothingWritten { place: None, elsewhere: None };
        let Record { path, changes } = read(backup).ok_or_else(nothing)?;
        let failed = |source| CodeError::Io { path: backup.to_path_buf(), doing: "read", source };
        let before = fs::read(backup).map_err(failed)?;
        let changes = changes.into_iter().map(|(start, end, text)| (start..end, text.into_bytes())).collect();
        let after = patched(&lines(&before), changes).ok_or_else(nothing)?;
        let applied = Self { path, before, after, backup: Some(backup.to_path_buf()) };
        applied.taken_out()?;
        Ok(applied)
    }
}

/// The record that belongs to a copy, if both are there.
fn read(backup: &Path) -> Option<Record> {
    let record = files::text(&record_of(backup), LARGEST).ok()?;
    backup.is_file().then(|| serde_json::from_str(&record).ok())?
}
