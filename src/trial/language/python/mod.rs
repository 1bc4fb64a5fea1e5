//! Python: its row in the table of trials.

mod environment;
mod installed;
mod programs;
mod project;
mod reach;
mod single;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use single::{Programs, Runs};

use crate::files;
use crate::language::Language;
use crate::sandbox::Limits;
use crate::trial::language::row::{
    Context, Lookup, Marks, Project, Recipe, Row, Sources, Tests, Tool, Trial, TrialError, TrialLanguage, Verdict,
};

pub const ROW: Row = Row {
    languages: &[Language::Python],
    reach: reach::REACH,
    needs_project,
    tests: Marks { about, named: named_by_settings, tells_callers: true, ..Marks::NONE },
    examples: |target| {
        let own = || Tests::of_examples(target.language, target.path.as_deref(), &target.text);
        let none = || format!("the docstring of {} has no >>> examples", target.name);
        target.has_doctests().then(|| (own(), target.has_telling_doctests())).ok_or_else(none)
    },
    open: || Box::new(Python { tool: Lookup::new(&RECIPE), preferred: OnceLock::new(), chosen: Mutex::default() }),
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

/// The Pythons of this machine.
#[derive(Debug)]
struct Python {
    /// That in PATH.
    tool: Lookup,
    /// That which the user has named.
    preferred: OnceLock<PathBuf>,
    /// Those that were chosen, by the folder of the package; an empty path stands for code without a project.
    chosen: Mutex<HashMap<PathBuf, Arc<Chosen>>>,
}

/// A Python and the driver compiled for it.
#[derive(Debug)]
struct Chosen {
    tool: Tool,
    programs: OnceLock<Result<Programs, String>>,
    in_project: OnceLock<Result<project::Programs, String>>,
}

impl Python {
    /// The interpreter for the code of a folder: that of its project's environment, else the first in PATH.
    fn choose(&self, folder: Option<&Path>) -> Result<Arc<Chosen>, TrialError> {
        let project = folder.and_then(Project::folders);
        let key = project.as_ref().map(|(_, package)| package.clone()).unwrap_or_default();
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = chosen.get(&key) {
            return Ok(Arc::clone(known));
        }
        if let Some(program) = self.preferred.get() {
            let new = Arc::new(Chosen::new(named(program)?));
            chosen.insert(key, Arc::clone(&new));
            return Ok(new);
        }
        let own = environment::interpreters(project.as_ref().map(|(root, package)| (&**package, &**root)));
        let own = own.into_iter().find_map(|(path, why)| Some(Tool { why, ..RECIPE.at(&path)?.ok()? }));
        let tool = own.map_or_else(|| self.tool.get().cloned(), Ok)?;
        let new = Arc::new(Chosen::new(tool));
        chosen.insert(key, Arc::clone(&new));
        Ok(new)
    }
}

/// The Python that the user has named, or the sentence why it cannot be used.
fn named(program: &Path) -> Result<Tool, TrialError> {
    match RECIPE.at(&std::path::absolute(program).unwrap_or_else(|_| program.to_path_buf())) {
        Some(Ok(tool)) => Ok(Tool { why: "as you said".to_owned(), ..tool }),
        Some(Err(sentence)) => Err(TrialError::Interpreter(sentence)),
        None => Err(TrialError::Interpreter(format!(
            "{} is no Python that can be used: it did not answer when it was asked for its version; correct `python` or leave it out",
            program.display()
        ))),
    }
}

impl Chosen {
    fn new(tool: Tool) -> Self {
        Self { tool, programs: OnceLock::new(), in_project: OnceLock::new() }
    }

    fn runs<'a>(&'a self, at: &'a Context, limits: Limits) -> Result<Runs<'a>, TrialError> {
        let programs = self.programs.get_or_init(|| Programs::compile(&self.tool)).as_ref();
        let programs = programs.map_err(|sentence| TrialError::Interpreter(sentence.clone()))?;
        Ok(Runs { at, python: &self.tool, programs, limits })
    }
}

impl TrialLanguage for Python {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.tool.get()
    }

    fn tool_in(&self, folder: &Path) -> Result<Tool, TrialError> {
        Ok(self.choose(Some(folder))?.tool.clone())
    }

    fn prefer(&self, program: &Path) {
        let _ = self.preferred.set(program.to_path_buf());
    }

    fn check(&self, _language: Language) -> Result<(), TrialError> {
        self.choose(None).map(drop)
    }

    fn check_tests(
        &self,
        at: &Context,
        _language: Language,
        file: Option<&Path>,
        (name, text): (&str, &str),
    ) -> Result<(), TrialError> {
        let chosen = self.choose(file.and_then(Path::parent))?;
        single::parse(&chosen.runs(at, Limits::default())?, name, text)
    }

    fn check_project(&self, _language: Language, project: &Project) -> Result<(), TrialError> {
        self.choose(Some(&project.root.join(&project.package))).map(drop)
    }

    fn run_alone(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError> {
        let chosen = self.choose(trial.file.as_deref().and_then(Path::parent))?;
        let verdict = single::run(&chosen.runs(at, trial.limits)?, trial)?;
        Ok(verdict.with_interpreter(chosen.tool.shown()))
    }

    fn run_in_project(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let chosen = self.choose(Some(&project.root.join(&project.package)))?;
        let programs = chosen.in_project.get_or_init(|| project::Programs::compile(&chosen.tool)).as_ref();
        let programs = programs.map_err(|sentence| TrialError::Interpreter(sentence.clone()))?;
        Ok(project::run(at, (&chosen.tool, programs), trial, project)?.with_interpreter(chosen.tool.shown()))
    }
}

/// Whether the tests or the program use modules of the project, or settings stand beside the tests.
fn needs_project(sources: &Sources) -> bool {
    let Sources { project, tests_file, program, tests } = *sources;
    // Examples have no settings of their own but what is given to them by name.
    let settings = if tests_file == project.file { has_settings_of_examples } else { has_conftest };
    settings(project, tests_file)
        || imports_by_path(project, tests)
        || tests_file != project.file && uses_place(project, tests_file, tests)
        || tests_file == project.file && examples_import(project, program)
        || [(program, project.file.as_path()), (tests, tests_file)]
            .iter()
            .any(|(text, from)| imports(text).any(|(name, _)| is_of_project(project, from, name)))
}

/// Whether examples import a module of the project, be it their own: alone that has no other name than its
/// file's.
fn examples_import(project: &Project, program: &str) -> bool {
    let lines = program.lines().map(str::trim_start);
    let code = lines.filter_map(|line| line.strip_prefix(">>> ").or_else(|| line.strip_prefix("... ")));
    code.flat_map(imports).any(|(name, _)| module_of_project(project, &project.file, name).is_some())
}

/// Whether tests start programs, or name a file of the project: they then lean on where they are.
fn uses_place(project: &Project, tests_file: &Path, tests: &str) -> bool {
    let starts = |name: &str| ["subprocess", "multiprocessing", "runpy"].contains(&name);
    let modules = imports(tests).any(|(name, _)| name.split('.').next().is_some_and(starts));
    let beside = tests_file.parent().unwrap_or(Path::new(""));
    let folders = [&project.package, beside].map(|folder| project.root.join(folder));
    let is_there = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    // In quotes, and neither the whole of a text nor a path from the top.
    let may_be_name =
        |part: &&str| part.len() < 200 && part.contains('.') && !part.starts_with('/') && !part.contains(' ');
    modules
        || ["__file__", "ProcessPoolExecutor"].iter().any(|word| tests.contains(word))
        || tests.split(['\'', '"', '\n']).filter(may_be_name).any(is_there)
}

/// Whether tests say `import package.module`: they then reach the code through its package.
fn imports_by_path(project: &Project, tests: &str) -> bool {
    let folders = ["src", ""].map(|folder| project.root.join(&project.package).join(folder));
    let is_package = |name: &str| folders.iter().any(|folder| folder.join(name).is_dir());
    imports(tests).any(|(name, is_from)| !is_from && name.split_once('.').is_some_and(|(first, _)| is_package(first)))
}

/// Pytest's own settings in code, beside the tests or above them.
fn has_conftest(project: &Project, tests: &Path) -> bool {
    tests.ancestors().skip(1).any(|folder| project.root.join(folder).join("conftest.py").is_file())
}

/// The file that a tests file is about, as both pytest and unittest know them.
fn about(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let about =
        stem.strip_prefix("test_").or_else(|| stem.strip_prefix("tests_")).or_else(|| stem.strip_suffix("_test"));
    about.or_else(|| ["test", "tests"].contains(&stem).then_some("")).map(str::to_owned)
}

/// How pytest's settings in a folder name its tests files.
fn named_by_settings(folder: &Path) -> Vec<String> {
    let value = |name: &&str| {
        let text = files::text(&folder.join(name), files::TEXT).ok()?;
        let mut lines = text.lines().skip_while(|line| !line.starts_with("python_files"));
        let first = lines.next()?.split_once('=')?.1.to_owned();
        // A value goes on until the next one begins, or the next section.
        let more = lines.take_while(|line| !line.contains('=') && !line.starts_with('['));
        Some(more.fold(first, |value, line| value + "\n" + line))
    };
    let Some(value) = ["pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"].iter().find_map(value) else {
        return Vec::new();
    };
    let words = value.split(|c: char| c.is_whitespace() || "\"',[]".contains(c));
    words.filter(|word| Path::new(word).extension().is_some_and(|ending| ending == "py")).map(str::to_owned).collect()
}

/// Names or options that a project gives to all examples.
fn has_settings_of_examples(project: &Project, file: &Path) -> bool {
    let names = ["conftest.py", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"];
    let mut settings =
        file.ancestors().skip(1).flat_map(|folder| names.map(|name| project.root.join(folder).join(name)));
    let words = ["doctest_namespace", "doctest_optionflags"];
    settings.any(|path| files::text(&path, files::TEXT).is_ok_and(|text| words.iter().any(|word| text.contains(word))))
}

/// The modules that lines of Python import, with the dots of relative ones, and whether only names of them.
fn imports(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().flat_map(|line| {
        let line = line.trim_start();
        let from = line.strip_prefix("from ").and_then(|rest| rest.split_whitespace().next());
        let plain = line.strip_prefix("import ").unwrap_or_default();
        let plain = plain.split(',').filter_map(|part| part.split_whitespace().next());
        from.map(|name| (name, true)).into_iter().chain(plain.map(|name| (name, false)))
    })
}

/// Whether a module lies in the project and is not the candidate's own file.
fn is_of_project(project: &Project, from: &Path, name: &str) -> bool {
    if name.starts_with('.') {
        let own = name.trim_start_matches('.');
        return own != project.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    }
    module_of_project(project, from, name).is_some_and(|file| file != project.file)
}

/// The file of a module that lies in the project, or the one that a package of that name would have.
fn module_of_project(project: &Project, from: &Path, name: &str) -> Option<PathBuf> {
    let path: PathBuf = name.split('.').collect();
    let beside = from.parent().unwrap_or(Path::new(""));
    let package = project.package.as_path();
    let mut folders = vec![PathBuf::new(), beside.into(), package.into(), package.join("src"), "src".into()];
    folders.extend(siblings(project).into_iter().flat_map(|folder| [folder.join("src"), folder]));
    let files = folders.into_iter().map(|folder| folder.join(&path).with_extension("py"));
    let is_there = |file: &PathBuf| {
        let file = project.root.join(file);
        file.is_file() || file.with_extension("").is_dir()
    };
    let mut found: Vec<PathBuf> = files.into_iter().filter(is_there).collect();
    found.sort_by_key(|file| *file == project.file);
    found.into_iter().next()
}

/// The packages beside that of a project of several.
fn siblings(project: &Project) -> Vec<PathBuf> {
    let Some(folder) = project.package.parent() else { return Vec::new() };
    let entries = std::fs::read_dir(project.root.join(folder)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_dir()).map(|entry| folder.join(entry.file_name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_pytest_name_tests_files() {
        let folder = tempfile::tempdir().unwrap();
        let named = |file: &str, text: &str| {
            std::fs::write(folder.path().join(file), text).unwrap();
            named_by_settings(folder.path())
        };
        assert_eq!(named("setup.cfg", "[tool:pytest]\nx = a.py\n"), [""; 0]);
        assert_eq!(
            named("tox.ini", "[pytest]\npython_files =\n    a_*.py\n    b.py\naddopts = c.py\n"),
            ["a_*.py", "b.py"]
        );
        let list = "[tool.pytest.ini_options]\npython_files = [\"*_c.py\",\n  'd.py',\n]\n[x]\n";
        assert_eq!(named("pyproject.toml", list), ["*_c.py", "d.py"]);
        assert_eq!(named("pytest.ini", "[pytest]\npython_files=e.py f_*.py"), ["e.py", "f_*.py"]);
    }

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
            only: Vec::new(),
        };
        let tests_file = Path::new("tests/test_a.py");
        let needs = |program, tests| needs_project(&Sources { project: &project, tests_file, program, tests });
        assert!(!needs("import math\n", "from pkg.a import f\nimport os, re\nassert f(1)\n"));
        assert!(needs("", "from pkg.b import g\n") && needs("", "import helpers\n") && needs("from . import b\n", ""));
        assert!(needs("    from .b import g\n", "") && needs("", "import os, helpers as h\n"));
        let examples =
            |program| needs_project(&Sources { project: &project, tests_file: &project.file, program, tests: "" });
        assert!(
            examples("def f():\n    '''\n    >>> from pkg.a import f\n    '''\n") && examples("    >>> import pkg\n")
        );
        assert!(!examples("import os\n    >>> import os\n    >>> f()\n"));
        assert!(needs("", "import pkg.a\nassert pkg.a.f(1)\n") && !needs("", "import os.path\n"));
        for (tests, needed) in [
            ("import subprocess\n", true),
            ("from concurrent.futures import ProcessPoolExecutor\n", true),
            ("here = __file__\n", true),
            ("open('helpers.py')\n", true),
            ("open(\"test_a.py\")\n", true),
            ("open('gone.py')\nimport threading\nx = 'a.b. c'\n", false),
        ] {
            assert_eq!(needs("", tests), needed, "{tests}");
        }
        std::fs::create_dir_all(root.join("packages/two/src/shared/two")).unwrap();
        std::fs::write(root.join("packages/two/src/shared/two/c.py"), "").unwrap();
        let one = Project {
            package: "packages/one".into(),
            file: "packages/one/src/shared/one/a.py".into(),
            ..project.clone()
        };
        let sources = |project, tests| Sources { project, tests_file, program: "", tests };
        let tests = "from shared.two.c import g\n";
        assert!(needs_project(&sources(&one, tests)) && !needs_project(&sources(&project, tests)));
        std::fs::write(root.join("conftest.py"), "").unwrap();
        assert!(needs("", ""));
    }
}
