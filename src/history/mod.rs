//! Runs that are kept: each run of the screen and of `complete` as one file of JSON lines.
//!
//! - A file is `<ms since 1970>-<id>.jsonl` in `runs` of the state folder. Its first line is the head
//!   (`Head`), then a line comes for each thing that happens (`What`).
//! - A line is appended in one write, so that a killed process loses at most the last one. A line that is
//!   damaged or of an unknown kind is read past. Files of a newer version are left out.
//! - Files and folder are for their owner only. The oldest files go once there are too many or they take too
//!   much room.
//! - `Kept::events` turns a file into the events of its run, so that the screen builds it as it was.

mod agreement;
mod kept;
mod line;
mod recorder;
mod when;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub use agreement::Said;
pub use kept::{Kept, KeptCandidate};
pub use line::{Head, Line, Taken, Tested, What};
pub use recorder::Recorder;
pub use when::{day_and_time, now, time};

/// Most runs that are kept: months of daily use, and a list of them still takes milliseconds.
pub const MOST_RUNS: usize = 500;
/// Most bytes of all files. A usual run takes some 20 KB.
pub const MOST_BYTES: u64 = 64 << 20;
/// Most bytes of one file: the largest prompt, and a few hundred times the usual answers.
pub const MOST_OF_RUN: u64 = 8 << 20;
/// Ending of a file's name.
const ENDING: &str = ".jsonl";
/// Hexadecimal digits of an id: unlikely to be the same twice among a few hundred runs, and quickly typed.
const ID_DIGITS: usize = 6;
/// Decimal digits of the time in a file's name, so that names sort by time.
const TIME_DIGITS: usize = 13;
/// Most ids in a message.
const MOST_LISTED: usize = 6;

/// The folder of kept runs.
#[derive(Clone, Debug)]
pub struct History {
    folder: PathBuf,
    most_runs: usize,
    most_bytes: u64,
}

/// The file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// Its id.
    pub id: String,
    /// The file.
    pub path: PathBuf,
}

/// Reasons why a run cannot be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A file or folder cannot be used.
    #[error("{path} cannot be {doing}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The attempt, as a participle.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// No run is kept.
    #[error("no run is kept yet in {folder}", folder = .folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// No run has this id.
    #[error("no kept run has the id `{id}`{}; the latest are {known} (see bass-tui history)", did_you_mean(.nearest.as_ref()))]
    Unknown {
        /// The id asked for.
        id: String,
        /// A similar id.
        nearest: Option<String>,
        /// The latest ids.
        known: String,
    },
    /// Several ids begin like this.
    #[error("the ids of {} kept runs begin with `{id}`: {}; give more of it", .ids.len(), .ids.join(", "))]
    Ambiguous {
        /// The beginning asked for.
        id: String,
        /// The ids.
        ids: Vec<String>,
    },
    /// The head of the file is damaged or of a newer version.
    #[error("the run {id} cannot be read: {problem} ({path})", path = .path.display())]
    Unreadable {
        /// Its id.
        id: String,
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: &'static str,
    },
}

fn did_you_mean(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

impl History {
    /// The kept runs of this folder, which need not exist.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, most_runs: MOST_RUNS, most_bytes: MOST_BYTES }
    }

    /// The files, the newest first. A folder that is missing holds none.
    pub fn files(&self) -> Vec<RunFile> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<(String, RunFile)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let id = id_of(&name)?.to_owned();
                Some((name, RunFile { id, path: entry.path() }))
            })
            .collect();
        files.sort_by(|a, b| b.0.cmp(&a.0));
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// The runs that can be read, the newest first.
    pub fn runs(&self) -> impl Iterator<Item = Kept> {
        self.files().into_iter().filter_map(|file| Kept::read(&file).ok())
    }

    /// The file of the run with this id, or the only one whose id begins so; the newest without one.
    pub fn find(&self, id: Option<&str>) -> Result<RunFile, HistoryError> {
        let files = self.files();
        let Some(newest) = files.first() else { return Err(HistoryError::Empty { folder: self.folder.clone() }) };
        let Some(id) = id.map(|id| id.trim().to_ascii_lowercase()) else { return Ok(newest.clone()) };
        let fitting: Vec<&RunFile> = files.iter().filter(|file| !id.is_empty() && file.id.starts_with(&id)).collect();
        match fitting.as_slice() {
            [] => {
                let ids: Vec<&str> = files.iter().map(|file| file.id.as_str()).collect();
                let nearest =
                    similar::get_close_matches(id.as_str(), &ids, 1, 0.6).first().map(|near| (*near).to_owned());
                let known = ids[..ids.len().min(MOST_LISTED)].join(", ");
                Err(HistoryError::Unknown { id, nearest, known })
            }
            // An id that stands twice names the newer run.
            [one, others @ ..] if others.iter().all(|other| other.id == one.id) => Ok((*one).clone()),
            several => {
                let ids = several.iter().take(MOST_LISTED).map(|file| file.id.clone()).collect();
                Err(HistoryError::Ambiguous { id, ids })
            }
        }
    }

    /// The run with this id; see [`History::find`].
    pub fn read(&self, id: Option<&str>) -> Result<Kept, HistoryError> {
        Kept::read(&self.find(id)?)
    }

    /// Begins the file of a run with its head. The oldest files make room for it.
    pub fn begin(&self, head: &Head) -> Result<Recorder, HistoryError> {
        let failed = |source| HistoryError::Io { path: self.folder.clone(), doing: "written", source };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(failed)?;
        if fs::metadata(&self.folder).map_err(failed)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        self.prune();
        for _ in 0..8 {
            let id = new_id().map_err(failed)?;
            let path = self.folder.join(format!("{:0TIME_DIGITS$}-{id}{ENDING}", head.at));
            match OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Recorder::begin(RunFile { id, path }, file, head),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(HistoryError::Io { path, doing: "written", source }),
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Goes on with the file of an earlier run.
    pub fn append(&self, id: &str) -> Result<Recorder, HistoryError> {
        let kept = self.read(Some(id))?;
        let file = OpenOptions::new().append(true).open(&kept.file.path);
        let file =
            file.map_err(|source| HistoryError::Io { path: kept.file.path.clone(), doing: "written", source })?;
        Ok(Recorder::append(&kept, file))
    }

    /// Notes that a change was taken back, in the run that made it. `backup` is the copy of the earlier text.
    pub fn undone(&self, backup: &Path) {
        let Some(name) = backup.file_name().map(|name| name.to_string_lossy().into_owned()) else { return };
        let is_of = |kept: &Kept| kept.taken().is_some_and(|taken| taken.backup.as_ref() == Some(&name));
        if let Some(recorder) = self.runs().find(is_of).and_then(|kept| self.append(&kept.file.id).ok()) {
            let _ = recorder.undone(Some(name));
        }
    }

    /// Removes all kept runs; returns their number.
    pub fn clear(&self) -> Result<usize, HistoryError> {
        let files = self.files();
        for RunFile { path, .. } in &files {
            fs::remove_file(path).map_err(|source| HistoryError::Io {
                path: path.clone(),
                doing: "removed",
                source,
            })?;
        }
        Ok(files.len())
    }

    /// Removes the oldest files, so that one more fits.
    fn prune(&self) {
        let (mut runs, mut bytes) = (0, 0);
        for RunFile { path, .. } in self.files() {
            runs += 1;
            bytes += fs::metadata(&path).map_or(0, |meta| meta.len());
            if runs >= self.most_runs || bytes > self.most_bytes {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The id in the name of a file.
fn id_of(name: &str) -> Option<&str> {
    let (time, id) = name.strip_suffix(ENDING)?.split_once('-')?;
    let is_time = time.len() >= TIME_DIGITS && time.bytes().all(|byte| byte.is_ascii_digit());
    let is_id = !id.is_empty() && id.len() <= 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_time && is_id).then_some(id)
}

fn new_id() -> io::Result<String> {
    let mut bytes = [0; ID_DIGITS / 2];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(crate::hash::hex(&bytes))
}

#[cfg(test)]
mod tests;
