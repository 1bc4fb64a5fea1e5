//! A project of the user's that trials must not touch.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::trial::{Assurance, Limits, Runner, Tests, Trial, Verdict};

/// What runs trials here, or nothing, and why.
pub fn runner(language: Language) -> Option<Runner> {
    // Each test has its own, as what a runner keeps is removed with it.
    let runner = Runner::probe();
    if !runner.protection().is_isolated() {
        eprintln!("skipped: {}", runner.protection().summary);
        return None;
    }
    if let Err(error) = runner.check_language(language) {
        eprintln!("skipped: {}: {error}", language.name());
        return None;
    }
    Some(runner)
}

/// A project, and what it held before anything ran.
pub struct Place {
    folder: tempfile::TempDir,
    before: BTreeMap<PathBuf, Vec<u8>>,
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

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A tests file of the project, for a file of it.
    pub fn tests(&self, language: Language, file: &str, tests: &str) -> Tests {
        let path = |name: &str| self.folder.path().join(name);
        let (program, text) = (fs::read_to_string(path(file)).unwrap(), fs::read_to_string(path(tests)).unwrap());
        Tests::of_file(language, Some((&path(file), &program)), &path(tests), text)
    }

    /// The verdict of a program in the place of the file.
    pub fn judge(&self, runner: &Runner, language: Language, program: &str, tests: Tests) -> Verdict {
        let verdict = runner.run(&trial(language, program, tests), &Arc::default()).unwrap();
        assert!(contents(self.folder.path()) == self.before, "the user's files were changed");
        assert_eq!(verdict.assurance, Assurance::Shared);
        verdict
    }
}

/// A trial of a program.
pub fn trial(language: Language, program: &str, tests: Tests) -> Trial {
    let limits = Limits { wall: Duration::from_secs(30), ..Limits::default() };
    let entry_point = Some("f".to_owned());
    Trial { language, program: program.to_owned(), module: None, entry_point, tests, stub: None, limits }
}

/// All files below a folder, with what is in them.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    all
}
