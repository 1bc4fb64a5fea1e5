//! The programs that run and compile a language, found behind shims in PATH.
//!
//! An entry of PATH may be a shim (pyenv, nvm, asdf, rustup) that reads the user's settings and starts
//! another program. Each is asked once for the path of the real program, which trials start.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::error::TrialError;
use crate::untrusted::clean_line;

/// A program that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The program itself, no shim.
    pub program: PathBuf,
    /// Its version, as numbers.
    pub version: (u32, u32),
    /// Files and folders that it reads.
    pub readable: Vec<PathBuf>,
    /// Reason for the choice.
    pub why: String,
}

impl Tool {
    /// The folder it lies in, with the tools that come with it.
    pub fn folder(&self) -> &Path {
        self.program.parent().unwrap_or(Path::new("/usr/bin"))
    }

    /// The program and the reason for the choice, for the reader.
    pub fn shown(&self) -> String {
        format!("{} ({})", self.program.display(), self.why)
    }

    /// A PATH with these tools and the system's.
    pub fn path(&self) -> String {
        format!("{}:/usr/local/bin:/usr/bin:/bin", self.folder().display())
    }
}

/// Description of a program to find.
#[derive(Debug)]
pub struct Recipe {
    /// Name of the language in messages.
    pub language: &'static str,
    /// Its names in PATH.
    pub names: &'static [&'static str],
    /// Arguments that print its version, then its paths, one per line; for one call or more.
    pub questions: &'static [&'static [&'static str]],
    /// True if it is asked in the root folder, so that no project's settings choose the version.
    pub from_root: bool,
    /// The oldest supported version.
    pub oldest: (u32, u32),
    /// Computes from the printed paths the program and the files and folders that it reads.
    pub place: fn(&[&Path]) -> Option<Place>,
}

/// A program, and the files and folders that it reads.
type Place = (PathBuf, Vec<PathBuf>);

/// A program that is searched for once.
#[derive(Debug)]
pub struct Lookup {
    recipe: &'static Recipe,
    found: OnceLock<Result<Tool, Option<String>>>,
}

impl Lookup {
    /// A lookup that has not searched yet.
    pub fn new(recipe: &'static Recipe) -> Self {
        Self { recipe, found: OnceLock::new() }
    }

    /// The program, or a sentence why there is none.
    pub fn get(&self) -> Result<&Tool, TrialError> {
        self.found.get_or_init(|| self.recipe.find()).as_ref().map_err(|fault| match fault {
            None => TrialError::NoInterpreter { language: self.recipe.language },
            Some(sentence) => TrialError::Interpreter(sentence.clone()),
        })
    }
}

impl Recipe {
    /// The first usable program in PATH, or a sentence why the one that is there cannot be used.
    pub fn find(&self) -> Result<Tool, Option<String>> {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut fault = None;
        for name in self.names {
            // A relative entry would let the current folder, perhaps an untrusted one, choose the program.
            for folder in env::split_paths(&path).filter(|folder| folder.is_absolute()) {
                let program = folder.join(name);
                if !program.is_file() {
                    continue;
                }
                match self.at(&program) {
                    Some(Ok(tool)) => return Ok(tool),
                    Some(Err(sentence)) => fault = fault.or(Some(sentence)),
                    None => {}
                }
            }
        }
        Err(fault)
    }

    /// The real program behind this one, or a sentence why it cannot be used. `None` if it says nothing.
    pub fn at(&self, program: &Path) -> Option<Result<Tool, String>> {
        let mut answer = String::new();
        for question in self.questions {
            let mut command = Command::new(program);
            command.args(*question).stdin(Stdio::null());
            if self.from_root {
                command.current_dir("/");
            }
            let output = command.env_remove("NODE_OPTIONS").env_remove("GOFLAGS").output().ok()?;
            if !output.status.success() {
                // A shim without a version chosen, for one.
                let said = String::from_utf8_lossy(&output.stderr);
                let said = said.lines().find(|line| !line.trim().is_empty())?;
                return Some(Err(format!("{} does not start: {}", program.display(), clean_line(said, 300))));
            }
            answer += &String::from_utf8(output.stdout).ok()?;
        }
        Some(self.understand(&answer, env::home_dir().as_deref()))
    }

    fn understand(&self, answer: &str, home: Option<&Path>) -> Result<Tool, String> {
        let mut lines = answer.lines().filter(|line| !line.trim().is_empty());
        let version = lines.next().and_then(version_of);
        let places: Vec<&Path> = lines.map(Path::new).collect();
        let (Some(version), Some((program, mut readable))) = (version, (self.place)(&places)) else {
            return Err(format!("what was taken for {} did not say what it is", self.names[0]));
        };
        if version < self.oldest {
            let ((major, minor), (old_major, old_minor)) = (version, self.oldest);
            return Err(format!(
                "{1} is {0} {major}.{minor}, and running tests needs {old_major}.{old_minor} or newer: use a newer one",
                self.names[0],
                program.display()
            ));
        }
        readable.retain(|path| path.is_file() || is_own_folder(path, home));
        // The file behind the links.
        readable.extend(fs::canonicalize(&program));
        Ok(Tool { program, version, readable, why: "the first in PATH".to_owned() })
    }
}

/// The first two numbers of a version, anywhere in the line.
fn version_of(line: &str) -> Option<(u32, u32)> {
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns true if a folder is narrow enough to hold just an interpreter or a project: not the root, not the
/// home folder or one above it.
pub fn is_own_folder(folder: &Path, home: Option<&Path>) -> bool {
    let true_path = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = true_path(folder);
    folder.parent().is_some() && !home.is_some_and(|home| true_path(home).starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: Recipe = Recipe {
        language: "Test",
        names: &["test"],
        questions: &[],
        from_root: true,
        oldest: (3, 8),
        place: |places| {
            Some((places.first()?.to_path_buf(), places[1..].iter().map(|path| path.to_path_buf()).collect()))
        },
    };

    #[test]
    fn folders_that_hold_more_than_an_interpreter_are_not_opened() {
        let home = Path::new("/home/someone");
        let answer = "3 12\n/home/someone/bin/py\n/home/someone/lib/python3.12\n/home/someone\n/home\n/\n/opt/py\n";
        let tool = RECIPE.understand(answer, Some(home)).unwrap();
        assert_eq!(tool.readable, ["/home/someone/lib/python3.12", "/opt/py"].map(PathBuf::from));
    }

    #[test]
    fn versions_are_read_as_the_tools_print_them() {
        assert_eq!(version_of("rustc 1.95.0 (f2d3ce0bd 2026-03-21)"), Some((1, 95)));
        assert_eq!(version_of("go1.19.8"), Some((1, 19)));
        assert_eq!(version_of("20.20.2"), Some((20, 20)));
        assert_eq!(version_of("3 12"), Some((3, 12)));
        assert_eq!(version_of("devel"), None);
    }

    #[test]
    fn a_program_that_does_not_start_is_quoted() {
        let recipe = Recipe { questions: &[&["-c", "echo 'no version is chosen' >&2; exit 1"]], ..RECIPE };
        let said = recipe.at(Path::new("/bin/sh")).unwrap().unwrap_err();
        assert_eq!(said, "/bin/sh does not start: no version is chosen");
    }

    #[test]
    fn an_old_tool_is_refused_with_a_sentence() {
        let error = RECIPE.understand("3.7.1\n/usr/bin/test\n", None).unwrap_err();
        assert!(error.contains("3.7") && error.contains("3.8") && error.contains("/usr/bin/test"), "{error}");
        assert!(RECIPE.understand("", None).is_err());
    }
}
