//! A trial as its caller describes it: the program, the tests, the limits.

use std::path::{Path, PathBuf};

use super::language::VacuityBody;
use super::language::command::without_shell;
use super::project::{Project, lone};
use crate::code::{Place, Target};
use crate::files;
use crate::language::Language;
use crate::sandbox::Limits;

/// The tests of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tests {
    /// A tests file of a project, or the examples of the candidate's file: run in a copy of it.
    Project(Project),
    /// Tests of a file without a project: a folder is made of both, and is the project.
    Lone(Lone),
    /// Tests of several kinds, run one after the other until one does not pass.
    Several(Vec<Tests>),
    /// Tests that were found, the best first, each with its name for the reader. The first that can be run
    /// and is sensitive to the function decides.
    FirstOf(Vec<(Tests, String)>),
    /// A command of the user's: exit code 0 is a pass.
    Command {
        /// The command.
        command: Command,
        /// The project around the file. Without one the candidate stands alone in an empty folder.
        project: Option<Project>,
    },
}

/// Tests of a file that no project is around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lone {
    /// Name and text of the tests file. `None` stands for the examples in the documentation of the program.
    pub tests: Option<(String, String)>,
    /// The tests of the file that are run, as their runner names them; all if empty.
    pub only: Vec<String>,
    /// The folder of the tests file, whose other files come along; `None` for a text without a file.
    pub folder: Option<PathBuf>,
}

/// A command of the user's, and the code it judges.
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
    /// The file of the program, if it has one. Tests may import it by that name, and the project around it
    /// gives the tools.
    pub file: Option<PathBuf>,
    /// The function under test, dotted for methods: the argument of `check(candidate)`.
    pub entry_point: Option<String>,
    /// The line of `stub` that the function begins on, 1-based. Others may have its name.
    pub line: Option<usize>,
    /// The tests to run.
    pub tests: Tests,
    /// The user's own module, without the completion, if it is known. Tests get their helper functions from
    /// here, not from the program, so that a candidate cannot replace them.
    pub stub: Option<String>,
    /// Limits.
    pub limits: Limits,
}

impl Tests {
    /// A tests file without a place on disk, such as one of a benchmark problem.
    pub fn text(name: &str, text: &str) -> Self {
        Tests::Lone(Lone { tests: Some((name.to_owned(), text.to_owned())), only: Vec::new(), folder: None })
    }

    /// The tests of a file. They run in a copy of the project that both files lie in, else in a folder made
    /// of both.
    pub fn of_file(program: Option<&Path>, tests: &Path, text: String) -> Self {
        Self::of(program, tests, text, Vec::new())
    }

    /// Single tests of a file, as their runner names them; all if empty.
    pub(super) fn of(program: Option<&Path>, tests: &Path, text: String, only: Vec<String>) -> Self {
        if let Some(project) = program.and_then(|program| Project::around(program, Some(tests))) {
            return Tests::Project(Project { only, ..project });
        }
        let folder = lone::folder_of(tests);
        Tests::Lone(Lone { tests: Some((tests.to_string_lossy().into_owned(), text)), only, folder })
    }

    /// The tests files with their texts, as far as they can be read.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        match self {
            Tests::Lone(Lone { tests: Some((name, text)), .. }) => vec![(PathBuf::from(name), text.clone())],
            Tests::Project(Project { root, tests: Some(tests), .. }) => {
                let path = root.join(tests);
                files::text(&path, files::TEXT).map(|text| (path, text)).into_iter().collect()
            }
            Tests::Several(all) => all.iter().flat_map(Self::files).collect(),
            Tests::FirstOf(all) => all.first().map(|(tests, _)| tests.files()).unwrap_or_default(),
            Tests::Project(_) | Tests::Lone(_) | Tests::Command { .. } => Vec::new(),
        }
    }

    /// The name for the reader when a tests file is left out.
    pub(super) fn name(&self) -> String {
        let files = self.files();
        let name = files.first().and_then(|(path, _)| path.file_name());
        name.map_or_else(|| "tests".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The tests that are tried first.
    pub fn first(&self) -> &Self {
        match self {
            Tests::FirstOf(all) => all.first().map_or(self, |(tests, _)| tests),
            tests => tests,
        }
    }

    /// Returns true if they are all tests of a project.
    pub(super) fn is_suite(&self) -> bool {
        matches!(self, Tests::Project(project) if project.is_suite())
    }

    /// Returns true if some of the tests that are tried first run in a copy of the project.
    pub fn are_in_project(&self) -> bool {
        match self.first() {
            Tests::Several(all) => all.iter().any(Self::are_in_project),
            tests => matches!(tests, Tests::Project(_)),
        }
    }

    /// A command as the user wrote it, for a file or, if there is none, for a file of this language.
    pub fn of_command(
        command: &str,
        language: Language,
        file: Option<&Path>,
        line: Option<usize>,
    ) -> Result<Self, String> {
        let ending = language.extensions().first().copied().unwrap_or_default();
        let lone = || PathBuf::from(format!("candidate.{ending}"));
        let command = Command { words: without_shell(command)?, file: file.map_or_else(lone, Path::to_path_buf), line };
        Ok(Tests::Command { command, project: file.and_then(|file| Project::around(file, None)) })
    }

    /// The examples in the documentation of a program without a place on disk.
    pub fn own_examples() -> Self {
        Tests::Lone(Lone { tests: None, only: Vec::new(), folder: None })
    }
}

impl Trial {
    /// The user's own text, or the candidate's if there is no other.
    pub(super) fn own_text(&self) -> &str {
        self.stub.as_deref().unwrap_or(&self.program)
    }

    /// The user's own text, and the name of the function under test.
    pub(super) fn own(&self) -> Option<(&str, &str)> {
        self.stub.as_deref().zip(self.entry_point.as_deref())
    }

    /// The user's text with this statement as the body of the function under test. `None` without such a
    /// text, since then the function under test is unknown.
    pub(super) fn with_body(&self, body: &str) -> Option<String> {
        Some(self.held_target()?.with_body(body))
    }

    /// The user's text with bodies that do nothing right; empty if there are none for this function. `None`
    /// like [`Trial::with_body`].
    pub(super) fn with_vacuity_body(&self, body: &VacuityBody) -> Option<Vec<String>> {
        let target = self.held_target()?;
        Some((body.statements)(&target).iter().map(|statements| target.with_body(statements)).collect())
    }

    /// The function under test, in the user's own text if it is there.
    pub(super) fn held_target(&self) -> Option<Target> {
        self.stub.as_ref()?;
        self.own_target().or_else(|| self.target_in(&self.program))
    }

    /// Returns true if `own_text` holds nothing of the candidate's.
    pub(super) fn has_own_text(&self) -> bool {
        self.own_target().is_some()
    }

    /// A message about the program with the line in `(FILE, line N)` as it is counted in the user's own text, if
    /// it stands behind the function.
    pub(super) fn in_own_lines(&self, message: &str) -> String {
        let told = || {
            let name = self.file.as_ref()?.file_name()?.to_str()?;
            let place = format!("({name}, line ");
            let at = message.find(&place)? + place.len();
            let digits = message[at..].find(')')?;
            let line: usize = message[at..at + digits].parse().ok()?;
            let own = self.own_target()?;
            let count = |text: &str| text.lines().count();
            let (all, program) = (count(&own.text), count(&self.program));
            let is_behind = line + count(&own.text[own.body.end..]) > program;
            let line = (line + all).checked_sub(program).filter(|_| is_behind)?;
            Some(format!("{}{line}{}", &message[..at], &message[at + digits..]))
        };
        told().unwrap_or_else(|| message.to_owned())
    }

    fn own_target(&self) -> Option<Target> {
        let text = self.stub.as_deref()?;
        let at_line = |line| Target::in_text(text, self.language, &Place::Line(line)).ok();
        let at_line = self.line.and_then(at_line).filter(|target| Some(&target.name) == self.entry_point.as_ref());
        at_line.or_else(|| self.target_in(text))
    }

    /// The function under test in a text.
    pub(super) fn target_in(&self, text: &str) -> Option<Target> {
        Target::in_text(text, self.language, &Place::Function(self.entry_point.clone()?)).ok()
    }

    /// Last name of the function under test.
    pub(super) fn function(&self) -> Option<&str> {
        self.entry_point.as_deref()?.rsplit(['.', ':']).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::project::sample;

    #[test]
    fn tests_that_are_tried_first_say_where_they_run() {
        let folder = tempfile::tempdir().unwrap();
        let (project, lone) = (Tests::Project(sample(folder.path())), Tests::text("test_a.py", ""));
        let first_of = |first: &Tests, second: &Tests| {
            Tests::FirstOf(vec![(first.clone(), String::new()), (second.clone(), String::new())])
        };
        assert!(project.are_in_project() && Tests::Several(vec![lone.clone(), project.clone()]).are_in_project());
        assert!(first_of(&project, &lone).are_in_project() && !first_of(&lone, &project).are_in_project());
        let command = Tests::of_command("true", Language::Python, None, None).unwrap();
        assert!(!lone.are_in_project() && !command.are_in_project());
    }
}
