//! Python: its row in the table of trials.

mod project;
mod reach;
mod single;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use single::{Programs, Runs};

use crate::language::Language;
use crate::sandbox::Limits;
use crate::trial::language::row::{
    Context, Lookup, Project, Recipe, Row, Sources, Tool, Trial, TrialError, TrialLanguage, Verdict,
};

pub const ROW: Row = Row {
    languages: &[Language::Python],
    reach: reach::REACH,
    needs_project,
    open: || Box::new(Python { tool: Lookup::new(&RECIPE), programs: OnceLock::new() }),
};

/// The oldest version is what the driver is written for.
const RECIPE: Recipe = Recipe {
    language: "Python",
    names: &["python3", "python"],
    questions: &[&["-I", "-B", "-X", "utf8", "-c", QUESTION]],
    from_root: false,
    oldest: (3, 8),
    place: |places| {
        let (program, folders) = places.split_first()?;
        Some((program.to_path_buf(), folders.iter().map(|folder| folder.to_path_buf()).collect()))
    },
};

const QUESTION: &str = "import os, sys; print('%d %d' % sys.version_info[:2]); print(sys.executable); \
    [print(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.path.dirname(os.__file__))]";

/// A Python and the driver compiled for it.
#[derive(Debug)]
struct Python {
    tool: Lookup,
    programs: OnceLock<Result<Programs, String>>,
}

impl Python {
    fn runs<'a>(&'a self, at: &'a Context, limits: Limits) -> Result<Runs<'a>, TrialError> {
        let python = self.tool.get()?;
        let programs = self.programs.get_or_init(|| Programs::compile(python)).as_ref();
        let programs = programs.map_err(|sentence| TrialError::Interpreter(sentence.clone()))?;
        Ok(Runs { at, python, programs, limits })
    }
}

impl TrialLanguage for Python {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.tool.get()
    }

    fn check_tests(&self, at: &Context, _language: Language, name: &str, text: &str) -> Result<(), TrialError> {
        single::parse(&self.runs(at, Limits::default())?, name, text)
    }

    fn run_alone(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError> {
        single::run(&self.runs(at, trial.limits)?, trial)
    }

    fn run_in_project(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        project::run(at, self.tool()?, trial, project)
    }
}

/// Whether the tests or the program use modules of the project, or settings stand beside the tests.
fn needs_project(sources: &Sources) -> bool {
    let Sources { project, tests_file, program, tests } = *sources;
    has_conftest(project, tests_file)
        || [(program, project.file.as_path()), (tests, tests_file)]
            .iter()
            .any(|(text, from)| imports(text).any(|name| is_of_project(project, from, name)))
}

/// Pytest's own settings in code, beside the tests or above them.
fn has_conftest(project: &Project, tests: &Path) -> bool {
    tests.ancestors().skip(1).any(|folder| project.root.join(folder).join("conftest.py").is_file())
}

/// The modules that lines of Python import, with the dots of relative ones.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let line = line.trim_start();
        let from = line.strip_prefix("from ").and_then(|rest| rest.split_whitespace().next());
        let plain = line.strip_prefix("import ").unwrap_or_default();
        let plain = plain.split(',').filter_map(|part| part.split_whitespace().next());
        from.into_iter().chain(plain)
    })
}

/// Whether a module lies in the project and is not the candidate's own file.
fn is_of_project(project: &Project, from: &Path, name: &str) -> bool {
    if name.starts_with('.') {
        let own = name.trim_start_matches('.');
        return own != project.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    }
    let path: PathBuf = name.split('.').collect();
    let beside = from.parent().unwrap_or(Path::new(""));
    let package = project.package.as_path();
    [Path::new(""), beside, package, &package.join("src"), Path::new("src")].iter().any(|folder| {
        let at = folder.join(&path);
        let file = at.with_extension("py");
        let is_there = project.root.join(&file).is_file() || project.root.join(&at).is_dir();
        is_there && file != project.file
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_need_their_project_when_they_use_more_than_the_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("tests")).unwrap();
        std::fs::create_dir_all(root.join("pkg")).unwrap();
        for path in ["pkg/a.py", "pkg/b.py", "tests/test_a.py", "helpers.py"] {
            std::fs::write(root.join(path), "").unwrap();
        }
        let project = Project {
            root: root.to_path_buf(),
            package: "".into(),
            file: "pkg/a.py".into(),
            tests: Some("tests/test_a.py".into()),
        };
        let tests_file = Path::new("tests/test_a.py");
        let needs = |program, tests| needs_project(&Sources { project: &project, tests_file, program, tests });
        assert!(!needs("import math\n", "from pkg.a import f\nimport os, re\nassert f(1)\n"));
        assert!(needs("", "from pkg.b import g\n") && needs("", "import helpers\n") && needs("from . import b\n", ""));
        assert!(needs("    from .b import g\n", "") && needs("", "import os, helpers as h\n"));
        std::fs::write(root.join("conftest.py"), "").unwrap();
        assert!(needs("", ""));
    }
}
