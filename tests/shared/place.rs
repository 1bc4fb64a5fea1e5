//! A project of the user's that trials must not touch.

#![allow(dead_code, reason = "not every test program does all of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Tests, Trial, Verdict};

/// Contents of files, and when they were changed.
type Contents = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

/// A project, and what it held before anything ran.
pub struct Place {
    folder: tempfile::TempDir,
    before: Contents,
}

impl Place {
    /// A project of these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let before = contents(folder.path());
        Self { folder, before }
    }

    /// Changes a file of it.
    pub fn write(&mut self, path: &str, text: &str) {
        fs::write(self.path().join(path), text).unwrap();
        self.look();
    }

    /// Takes what it holds now for what it has to hold.
    pub fn look(&mut self) {
        self.before = contents(self.folder.path());
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A tests file of the project, for a file of it.
    pub fn tests(&self, file: &str, tests: &str) -> Tests {
        Tests::of_file(Some(&self.path().join(file)), &self.path().join(tests), self.text(tests))
    }

    /// The files that are not what they were, their times included.
    pub fn changed(&self) -> Vec<PathBuf> {
        let now = contents(self.folder.path());
        let all = now.keys().chain(self.before.keys());
        all.filter(|path| now.get(*path) != self.before.get(*path)).cloned().collect()
    }

    #[track_caller]
    pub fn is_as_it_was(&self) {
        let changed = self.changed();
        assert!(changed.is_empty(), "the user's files were changed: {changed:?}");
    }

    /// Text of a file.
    pub fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    /// The verdict of a trial, which leaves the project as it was.
    pub fn judge(&self, runner: &Runner, trial: &Trial) -> Verdict {
        let verdict = runner.run(trial, &Arc::default()).unwrap();
        self.is_as_it_was();
        verdict
    }
}

/// The parts of a file of several, each with its name.
pub fn parts(source: &str) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for line in source.split_inclusive('\n') {
        match line.strip_prefix("# --- ").and_then(|rest| rest.strip_suffix(" ---\n")) {
            Some(name) => parts.push((name.to_owned(), String::new())),
            None => parts.last_mut().into_iter().for_each(|(_, text)| text.push_str(line)),
        }
    }
    parts
}

/// A trial of a program.
pub fn trial(language: Language, program: &str, tests: Tests) -> Trial {
    let limits = Limits { wall: Duration::from_secs(30), ..Limits::default() };
    let entry_point = Some("f".to_owned());
    Trial { language, program: program.to_owned(), file: None, entry_point, line: None, tests, stub: None, limits }
}

/// All files below a folder.
fn contents(folder: &Path) -> Contents {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let changed = fs::metadata(&path).and_then(|meta| meta.modified()).unwrap();
                all.insert(path.clone(), (fs::read(path).unwrap(), changed));
            }
        }
    }
    all
}
