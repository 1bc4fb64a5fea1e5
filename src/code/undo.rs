//! Records of what was written to files, beside the copies of the earlier texts, so that a later start of the
//! program can undo it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Applied, CodeError};
use crate::files;
use crate::hash::hex;

/// Ending of the name of a record, after the name of the copy.
const ENDING: &str = ".json";
/// Size limit of a record.
const LARGEST: u64 = 1 << 16;

/// A change that was written.
#[derive(Serialize, Deserialize)]
struct Record {
    /// The file, from the root.
    path: PathBuf,
    /// SHA-256 of the text that was written.
    after: String,
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
    let path = std::path::absolute(&applied.path).unwrap_or_else(|_| applied.path.clone());
    if let Ok(text) = serde_json::to_string(&Record { path, after: hex(&Sha256::digest(&applied.after)) }) {
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
    /// The last change, of this file if one is given, whose copy is in `backups` and that was not undone.
    /// Errors: none is recorded, the file has changed since, or a file cannot be read.
    pub fn last(backups: &Path, file: Option<&Path>) -> Result<Self, CodeError> {
        let same = |path: &Path| file.is_none_or(|file| fs::canonicalize(file).ok() == fs::canonicalize(path).ok());
        let dated = |record: PathBuf| -> Option<(SystemTime, PathBuf)> {
            let backup = PathBuf::from(record.to_str()?.strip_suffix(ENDING)?);
            same(&read(&backup)?.path).then_some(())?;
            Some((fs::metadata(&record).ok()?.modified().ok()?, backup))
        };
        let records = fs::read_dir(backups).into_iter().flatten().flatten().filter_map(|entry| dated(entry.path()));
        let last = records.max_by_key(|(time, _)| *time);
        let (_, backup) = last.ok_or_else(|| CodeError::NothingWritten { path: file.map(Path::to_path_buf) })?;
        Self::recorded(&backup)
    }

    /// The change with this copy of the earlier text. Errors: it was undone, the file has changed since, or a
    /// file cannot be read.
    pub fn recorded(backup: &Path) -> Result<Self, CodeError> {
        let Record { path, after } = read(backup).ok_or(CodeError::NothingWritten { path: None })?;
        let now = super::target::read_bytes(&path)?;
        if hex(&Sha256::digest(&now)) != after {
            return Err(CodeError::ChangedSince { path, backup: Some(backup.to_path_buf()) });
        }
        let failed = |source| CodeError::Io { path: backup.to_path_buf(), doing: "read", source };
        let before = fs::read(backup).map_err(failed)?;
        Ok(Self { path, before, after: now, backup: Some(backup.to_path_buf()) })
    }
}

/// The record that belongs to a copy, if both are there.
fn read(backup: &Path) -> Option<Record> {
    let record = files::text(&record_of(backup), LARGEST).ok()?;
    backup.is_file().then(|| serde_json::from_str(&record).ok())?
}
