//! The results file: JSON lines, a header and one row per finished problem. An interrupted run continues
//! where it stopped.
//!
//! A row is appended in one write and is on the disk before the next one is begun. So at most the last line
//! can be torn; that line is then dropped. Any other damage is refused, and the file is left unchanged.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::result::ProblemResult;
use crate::files;

/// The content of the first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the file's form. The key identifies the kind of the file.
    #[serde(rename = "bass_tui_results")]
    pub form: u32,
    /// Every setting that affects results, by the name of its flag.
    pub settings: BTreeMap<String, Value>,
    /// Further facts: device, threads, drafts.
    pub about: BTreeMap<String, Value>,
}

impl Header {
    /// The form this program reads and writes.
    pub const FORM: u32 = 1;

    /// The first setting that differs, as a sentence.
    fn difference(&self, now: &Self) -> Option<String> {
        let names = self.settings.keys().chain(now.settings.keys());
        let value = |header: &Self, name: &str| header.settings.get(name).cloned().unwrap_or_default();
        let name = names.into_iter().find(|name| value(self, name) != value(now, name))?;
        let show = |header: &Self| match value(header, name) {
            Value::Null => "not set".to_owned(),
            Value::String(text) => text,
            value => value.to_string(),
        };
        Some(format!("{name} was {} and is now {}", show(self), show(now)))
    }
}

/// An open results file.
#[derive(Debug)]
pub struct ResultsFile {
    file: File,
    path: PathBuf,
}

impl ResultsFile {
    /// Creates the file, or continues it and returns its results. The error is a sentence.
    pub fn open(path: &Path, header: &Header) -> Result<(Self, Vec<ProblemResult>), String> {
        let shown = path.display();
        if !path.exists() {
            begin(path, header).map_err(|e| format!("the results file {shown} cannot be written: {e}"))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(path)
            .map_err(|e| format!("the results file {shown} cannot be opened: {e}"))?;
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(format!(
                    "the results file {shown} is in use by another run: wait for it, or name another file"
                ));
            }
            // Not every file system supports locks.
            Err(std::fs::TryLockError::Error(_)) | Ok(()) => {}
        }
        let cannot = |e| format!("the results file {shown} cannot be read: {e}");
        files::expect_regular(path).map_err(cannot)?;
        let text = files::read_all(&file, files::DATA).map_err(cannot)?;
        let whole = text.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let results = understand(path, text.get(..whole).unwrap_or_default(), header)?;
        if whole < text.len() {
            let cut = file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0)));
            cut.map_err(|e| format!("the last line of {shown} is torn and cannot be dropped: {e}"))?;
        }
        Ok((Self { file, path: path.to_path_buf() }, results))
    }

    /// Appends a row. When this returns it is on the disk. The error is a sentence.
    pub fn append(&mut self, result: &ProblemResult) -> Result<(), String> {
        let fail = |e: &dyn std::fmt::Display| {
            format!("the results file {} cannot be written: {e}; what is in it is kept", self.path.display())
        };
        let mut line = serde_json::to_string(result).map_err(|e| fail(&e))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data()).map_err(|e| fail(&e))
    }
}

/// Writes the header. The file appears with it or not at all.
fn begin(path: &Path, header: &Header) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Temporary files are private, results are not. (The umask still takes its part away.)
    let permissions = std::fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
    writeln!(file, "{}", serde_json::to_string(header)?)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map(drop).map_err(|e| e.error)
}

fn understand(path: &Path, text: &[u8], now: &Header) -> Result<Vec<ProblemResult>, String> {
    let shown = path.display();
    let mut lines = text.split(|&b| b == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let before: Header = lines.next().and_then(|(_, line)| serde_json::from_slice(line).ok()).ok_or_else(|| {
        format!("{shown} is not a results file of bass-tui eval: nothing was changed, give another name")
    })?;
    if before.form != Header::FORM {
        return Err(format!("{shown} was written by another version of bass-tui: give another name to begin anew"));
    }
    if let Some(difference) = before.difference(now) {
        return Err(format!(
            "{shown} holds results of a run with other settings: {difference}; use the same settings to go on with it, or another \
             name to begin anew"
        ));
    }
    let mut results: Vec<ProblemResult> = Vec::new();
    for (i, line) in lines {
        let broken =
            |why: &str| format!("{shown}, line {}: {why}; delete that line to have the problem done again", i + 1);
        let row: ProblemResult =
            serde_json::from_slice(line).map_err(|e| broken(&format!("this is no result ({e})")))?;
        if !row.is_consistent() {
            return Err(broken("the counts do not follow from the candidates"));
        }
        if results.iter().any(|r| r.task_id == row.task_id) {
            return Err(broken(&format!("{} is there already", row.task_id)));
        }
        results.push(row);
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::super::result::tests::{candidate, problem};
    use super::*;
    use crate::source::FinishReason;
    use crate::trial::Status;

    fn header(seed: u64) -> Header {
        let settings = [("seed".to_owned(), seed.into()), ("model".to_owned(), "m".into())].into();
        Header { form: Header::FORM, settings, about: BTreeMap::new() }
    }

    fn row(id: &str) -> ProblemResult {
        problem(id, vec![candidate(0, Some(FinishReason::Stop), -0.25, Status::Passed)])
    }

    #[test]
    fn rows_come_back_and_a_torn_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let (mut file, results) = ResultsFile::open(&path, &header(1)).unwrap();
        assert!(results.is_empty());
        file.append(&row("a")).unwrap();
        drop(file);
        let whole = std::fs::read(&path).unwrap();
        for torn in ["{\"task_id\":\"b\",\"dig", "{", "\u{e9}"] {
            let cut = &torn.as_bytes()[..torn.len().min(20)];
            std::fs::write(&path, [&whole, cut].concat()).unwrap();
            let (mut file, results) = ResultsFile::open(&path, &header(1)).unwrap();
            assert_eq!(results, [row("a")]);
            file.append(&row("b")).unwrap();
            drop(file);
            assert_eq!(ResultsFile::open(&path, &header(1)).unwrap().1, [row("a"), row("b")]);
        }
    }

    #[test]
    fn other_settings_are_refused_by_name_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        drop(ResultsFile::open(&path, &header(1)).unwrap());
        let before = std::fs::read(&path).unwrap();
        let error = ResultsFile::open(&path, &header(2)).unwrap_err();
        assert!(error.contains("seed was 1 and is now 2"), "{error}");
        let more = Header { settings: [("k".to_owned(), true.into())].into(), ..header(1) };
        assert!(ResultsFile::open(&path, &more).unwrap_err().contains("is now"));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn what_is_no_results_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        for text in ["my notes\n", "my notes", "{\"task_id\":\"a\"}\n", ""] {
            std::fs::write(&path, text).unwrap();
            let error = ResultsFile::open(&path, &header(1)).unwrap_err();
            assert!(error.contains("not a results file"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let (head, good) = (serde_json::to_string(&header(1)).unwrap(), serde_json::to_string(&row("a")).unwrap());
        for (rows, words) in [
            (format!("{head}\n{good}\n{good}\n"), "line 3: a is there already"),
            (format!("{head}\nbroken\n{good}\n"), "line 2: this is no result"),
            (format!("{head}\n{}\n", good.replace("\"passed\":1", "\"passed\":0")), "line 2: the counts"),
        ] {
            std::fs::write(&path, rows).unwrap();
            let error = ResultsFile::open(&path, &header(1)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn two_runs_do_not_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let first = ResultsFile::open(&path, &header(1)).unwrap();
        assert!(ResultsFile::open(&path, &header(1)).unwrap_err().contains("in use"));
        drop(first);
        ResultsFile::open(&path, &header(1)).unwrap();
    }
}
