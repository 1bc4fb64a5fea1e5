//! A trial as its caller describes it: the program, the tests, the limits.

use std::path::PathBuf;

use super::project::Project;
use crate::code::{Place, Target};
use crate::language::Language;
use crate::sandbox::Limits;

/// The tests of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tests {
    /// The `>>>` examples in the docstring of the entry point (or, without one, all docstrings of the
    /// module). `source` is the module text they are taken from: the user's stub, not the candidate's, so
    /// that a candidate cannot remove its own tests.
    Doctest {
        /// Module text whose docstrings hold the examples.
        source: String,
    },
    /// A tests file: plain `assert` lines, `check(candidate)` functions, `test_*` functions, unittest
    /// classes, doctests. It sees the candidate's top-level names.
    Source {
        /// Name of the file, for messages.
        name: String,
        /// Its text.
        text: String,
    },
    /// A tests file that runs in a copy of its project, with the candidate in its place.
    Project(Project),
    /// Tests of several kinds, run one after the other until one does not pass.
    Several(Vec<Tests>),
    /// Tests that were found, the best first, each with what to call them: the first that can be run and notice
    /// the function decide, whatever it does instead.
    FirstOf(Vec<(Tests, String)>),
    /// A command of the user's: exit code 0 is a pass.
    Command {
        /// The command.
        command: Command,
        /// The project around the file; without one the candidate stands alone in an empty folder.
        project: Option<Project>,
    },
}

/// A command of the user's, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments, with places for `{file}`, `{dir}`, `{function}` and `{line}`.
    pub words: Vec<String>,
    /// The file with the candidate.
    pub file: PathBuf,
    /// The line its function begins in, 1-based.
    pub line: Option<usize>,
}

/// One run of tests on one candidate.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Language of `program`.
    pub language: Language,
    /// The whole module with the candidate in it.
    pub program: String,
    /// Its file, where it has one: tests may import it by that name, and the tools of the project around it
    /// are taken.
    pub file: Option<PathBuf>,
    /// The function under test, dotted for methods: what `check(candidate)` gets.
    pub entry_point: Option<String>,
    /// The line of `stub` that it begins on, 1-based: others may have its name.
    pub line: Option<usize>,
    /// What to run.
    pub tests: Tests,
    /// The user's own module, without the completion, as far as it is known. Tests get their helper functions
    /// from here, not from the program, so that a candidate cannot replace them.
    pub stub: Option<String>,
    /// Limits.
    pub limits: Limits,
}

impl Trial {
    /// The name under which tests may import the program: that of its file, without the ending.
    pub(super) fn module(&self) -> Option<&str> {
        self.file.as_deref()?.file_stem()?.to_str()
    }

    /// The user's text, as far as it is known, with this statement for the body of the function under test.
    pub(super) fn with_body(&self, body: &str) -> Option<String> {
        let target = self.own_target().or_else(|| self.target_in(&self.program))?;
        Some(target.with_body(body))
    }

    /// Whether such a text has nothing of the candidate's.
    pub(super) fn has_own_text(&self) -> bool {
        self.own_target().is_some()
    }

    fn own_target(&self) -> Option<Target> {
        let text = self.stub.as_deref()?;
        let at_line = |line| Target::in_text(text, self.language, &Place::Line(line)).ok();
        let at_line = self.line.and_then(at_line).filter(|target| Some(&target.name) == self.entry_point.as_ref());
        at_line.or_else(|| self.target_in(text))
    }

    fn target_in(&self, text: &str) -> Option<Target> {
        Target::in_text(text, self.language, &Place::Function(self.entry_point.clone()?)).ok()
    }

    /// The function under test by its last name.
    pub(super) fn function(&self) -> Option<&str> {
        self.entry_point.as_deref()?.rsplit(['.', ':']).next()
    }
}
