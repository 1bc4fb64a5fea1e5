//! The programs that run and compile other languages than Python: a table, and how each is found behind whatever stands in PATH.
//!
//! What PATH leads to may be a shim (nvm, volta, asdf, rustup) that reads the user's settings and starts something else. Each is asked
//! once where the true program lies; trials start that.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::TrialError;
use super::interpreter::{Fault, is_own_folder};

/// A program that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The program itself, no shim.
    pub program: PathBuf,
    /// Its version, as numbers.
    pub version: (u32, u32),
    /// Files and folders it has to read.
    pub readable: Vec<PathBuf>,
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs JavaScript.
    Node,
    /// Compiles Rust.
    Rustc,
    /// Builds and tests Go.
    Go,
}

/// How a program is found.
struct Row {
    kind: Kind,
    /// What it is called in messages.
    language: &'static str,
    /// Its names in PATH.
    names: &'static [&'static str],
    /// What it is asked: to print its version, then where it lies, one per line; by one call or two.
    questions: &'static [&'static [&'static str]],
    /// The oldest version that will do.
    oldest: (u32, u32),
    /// From the place it told: the program and the folders to read.
    place: fn(&Path) -> (PathBuf, Vec<PathBuf>),
}

const ROWS: &[Row] = &[
    Row {
        kind: Kind::Node,
        language: "JavaScript",
        names: &["node", "nodejs"],
        questions: &[&["-p", "process.versions.node + '\\n' + process.execPath"]],
        oldest: (18, 0),
        place: |program| {
            let library = program.parent().and_then(Path::parent).map(|prefix| prefix.join("lib"));
            (program.to_path_buf(), library.into_iter().chain([program.to_path_buf()]).collect())
        },
    },
    Row {
        kind: Kind::Rustc,
        language: "Rust",
        names: &["rustc"],
        questions: &[&["--version"], &["--print", "sysroot"]],
        oldest: (1, 56),
        place: |sysroot| (sysroot.join("bin/rustc"), vec![sysroot.to_path_buf()]),
    },
    Row {
        kind: Kind::Go,
        language: "Go",
        names: &["go"],
        questions: &[&["env", "GOVERSION", "GOROOT"]],
        oldest: (1, 18),
        place: |root| (root.join("bin/go"), vec![root.to_path_buf()]),
    },
];

/// Programs, each looked for once.
#[derive(Debug, Default)]
pub struct Tools {
    found: [OnceLock<Result<Tool, Fault>>; ROWS.len()],
}

impl Tools {
    /// The program, or the sentence why there is none.
    pub fn get(&self, kind: Kind) -> Result<&Tool, TrialError> {
        let row = &ROWS[kind as usize];
        debug_assert_eq!(row.kind, kind);
        self.found[kind as usize].get_or_init(|| find(row)).as_ref().map_err(|fault| match fault {
            Fault::Missing => TrialError::NoInterpreter { language: row.language },
            Fault::Unusable(sentence) => TrialError::Interpreter(sentence.clone()),
        })
    }
}

fn find(row: &Row) -> Result<Tool, Fault> {
    let path = env::var_os("PATH").unwrap_or_default();
    let home = env::home_dir();
    let mut fault = Fault::Missing;
    for name in row.names {
        // A relative entry would let the current folder, perhaps a stranger's, choose the program.
        for folder in env::split_paths(&path).filter(|folder| folder.is_absolute()) {
            let program = folder.join(name);
            if !program.is_file() {
                continue;
            }
            match ask(row, &program).map(|answer| understand(row, &answer, home.as_deref())) {
                Some(Ok(tool)) => return Ok(tool),
                Some(Err(sentence)) if fault == Fault::Missing => fault = Fault::Unusable(sentence),
                _ => {}
            }
        }
    }
    Err(fault)
}

/// What the program says about itself. Asked in the root folder, so that no project's settings choose the version.
fn ask(row: &Row, program: &Path) -> Option<String> {
    let mut answer = String::new();
    for question in row.questions {
        let mut command = Command::new(program);
        command.args(*question).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.env_remove("NODE_OPTIONS").env_remove("GOFLAGS").output().ok()?;
        if !output.status.success() {
            return None;
        }
        answer += &String::from_utf8(output.stdout).ok()?;
    }
    Some(answer)
}

fn understand(row: &Row, answer: &str, home: Option<&Path>) -> Result<Tool, String> {
    let mut lines = answer.lines().filter(|line| !line.trim().is_empty());
    let (Some(version), Some(place)) = (lines.next().and_then(version_of), lines.next().map(Path::new)) else {
        return Err(format!("the {} in PATH did not say what it is", row.names[0]));
    };
    if version < row.oldest {
        let ((major, minor), (old_major, old_minor)) = (version, row.oldest);
        return Err(format!(
            "the {} in PATH is {major}.{minor}, and running tests needs {old_major}.{old_minor} or newer: put a newer one first in PATH",
            row.names[0]
        ));
    }
    let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_path_buf());
    let (program, mut readable) = (row.place)(&place);
    readable.retain(|path| path.is_file() || (path.is_dir() && is_own_folder(path, home)));
    if let Ok(file) = fs::canonicalize(&program) {
        readable.push(file);
    }
    Ok(Tool { program, version, readable })
}

/// The first two numbers of a version, wherever they stand in the line.
fn version_of(line: &str) -> Option<(u32, u32)> {
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_their_kinds() {
        for (i, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, i, "{}", row.language);
        }
    }

    #[test]
    fn versions_are_read_as_the_tools_print_them() {
        assert_eq!(version_of("rustc 1.95.0 (f2d3ce0bd 2026-03-21)"), Some((1, 95)));
        assert_eq!(version_of("go1.19.8"), Some((1, 19)));
        assert_eq!(version_of("20.20.2"), Some((20, 20)));
        assert_eq!(version_of("devel"), None);
    }

    #[test]
    fn an_old_tool_is_refused_with_a_sentence() {
        let error = understand(&ROWS[0], "12.22.0\n/usr/bin/node\n", None).unwrap_err();
        assert!(error.contains("12.22") && error.contains("18.0"), "{error}");
        assert!(understand(&ROWS[0], "", None).is_err());
    }
}
