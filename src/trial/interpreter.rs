//! Finds the Python that runs the tests: the real program behind `python3` in PATH, and the folders it has to read.
//!
//! A shim (pyenv, asdf) costs a quarter of a second per start and reads the user's settings, so it is asked once and then passed by.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest Python the driver is written for.
const OLDEST: (u32, u32) = (3, 8);

/// What the interpreter is asked: one fact per line.
const QUESTION: &str = "import os, sys; print('%d %d' % sys.version_info[:2]); print(sys.executable); \
    [print(p) for p in (os.path.dirname(os.__file__), sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)]";

/// An interpreter that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// The program itself, no shim.
    pub program: PathBuf,
    /// Folders of its library and packages.
    pub readable: Vec<PathBuf>,
}

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing in PATH answers.
    Missing,
    /// There is one, but it cannot be used: a sentence.
    Unusable(String),
}

/// The first usable `python3` (or `python`) in PATH.
pub fn find_python() -> Result<Python, Fault> {
    let path = env::var_os("PATH").unwrap_or_default();
    let home = env::home_dir();
    let mut fault = Fault::Missing;
    for name in ["python3", "python"] {
        // A relative entry would let the current folder, perhaps a stranger's, choose the program.
        for folder in env::split_paths(&path).filter(|folder| folder.is_absolute()) {
            let program = folder.join(name);
            if !program.is_file() {
                continue;
            }
            match ask(&program).map(|answer| understand(&answer, home.as_deref())) {
                Some(Ok(python)) => return Ok(python),
                Some(Err(sentence)) if fault == Fault::Missing => fault = Fault::Unusable(sentence),
                _ => {}
            }
        }
    }
    Err(fault)
}

/// The Python of a virtual environment.
pub fn python_at(program: &Path) -> Option<Python> {
    understand(&ask(program)?, env::home_dir().as_deref()).ok()
}

/// What the program says about itself; `None` if it cannot say it (a shim without a version chosen, a broken install).
fn ask(program: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(["-I", "-B", "-X", "utf8", "-c", QUESTION])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

/// Reads the answer.
fn understand(answer: &str, home: Option<&Path>) -> Result<Python, String> {
    let mut lines = answer.lines();
    let version = lines.next().and_then(|line| line.split_once(' '));
    let number = |text: &str| text.parse::<u32>().ok();
    let (Some((Some(major), Some(minor))), Some(program)) =
        (version.map(|(major, minor)| (number(major), number(minor))), lines.next())
    else {
        return Err("the Python in PATH did not say what it is".to_owned());
    };
    if (major, minor) < OLDEST {
        let (old_major, old_minor) = OLDEST;
        return Err(format!(
            "the Python in PATH ({program}) is {major}.{minor}, and running tests needs {old_major}.{old_minor} or newer: put a newer \
             `python3` first in PATH"
        ));
    }
    let mut readable: Vec<PathBuf> = Vec::new();
    let mut add = |path: PathBuf| {
        if path.is_absolute() && !readable.iter().any(|known| path.starts_with(known)) {
            readable.push(path);
        }
    };
    let mut folders: Vec<&Path> = lines.map(Path::new).collect();
    if let Some(library) = (!folders.is_empty()).then(|| folders.remove(0)) {
        for prefix in folders {
            if is_own_folder(prefix, home) {
                add(prefix.to_path_buf());
            }
        }
        add(library.to_path_buf());
    }
    let program = PathBuf::from(program);
    // The file behind the links, when it lies in none of the folders.
    add(fs::canonicalize(&program).unwrap_or_else(|_| program.clone()));
    Ok(Python { program, readable })
}

/// Whether a prefix holds an interpreter and no more: not the root, not the home folder or one above it.
pub fn is_own_folder(prefix: &Path, home: Option<&Path>) -> bool {
    let true_path = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let prefix = true_path(prefix);
    prefix.parent().is_some() && !home.is_some_and(|home| true_path(home).starts_with(&prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_hold_more_than_an_interpreter_are_not_opened() {
        let home = Path::new("/home/someone");
        let answer =
            "3 12\n/home/someone/bin/python3\n/home/someone/lib/python3.12\n/home/someone\n/home\n/\n/opt/py\n";
        let python = understand(answer, Some(home)).unwrap();
        let expected: Vec<PathBuf> =
            ["/opt/py", "/home/someone/lib/python3.12", "/home/someone/bin/python3"].map(PathBuf::from).to_vec();
        assert_eq!(python.readable, expected);
    }

    #[test]
    fn an_old_python_is_refused_with_a_sentence() {
        let error = understand("3 7\n/usr/bin/python3\n/usr/lib\n", None).unwrap_err();
        assert!(error.contains("3.7") && error.contains("3.8"));
        assert!(understand("", None).is_err());
    }
}
