//! Python: its row in the table of trials.
//!
//! - Tests run with pytest if tests or project require it, else with unittest or doctest.
//! - The interpreter comes from the project's environment (`environment`). The verdict names it.
//! - Search paths that lead to the project lead to its copy.
//! - A project that is not installed gets in its copy the data of an installation (`installed`).
//! - Options of missing plugins that only measure, report or distribute tests are ignored
//!   (`driver/ignored.py`).
//! - Where settings have pytest run the examples of all modules, the file itself is one of the tests files.
//! - The baseline's body records which tests call it, in child processes, too. Failing tests that never call
//!   it are left out and named.
//! - The driver defines for lone tests the names of the program that they use and do not import. Plain
//!   asserts and `check(candidate)` become a test (`driver/loose.py`).

mod environment;
mod installed;
mod observe;
mod programs;
mod project;
mod suspicious;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::code::Target;
use crate::files;
use crate::language::Language;
use crate::trial::language::row::{
    BaselineCache, Context, Foreign, Input, LanguageRow, Lookup, Marks, Observed, Project, Recipe, Tests, Tool, Trial,
    TrialError, TrialLanguage, VacuityBody, Verdict,
};
use crate::trial::project::settings::{CONFTEST, PYTEST};

pub const ROW: LanguageRow = LanguageRow {
    languages: &[Language::Python],
    suspicious: suspicious::TABLE,
    bodies: [
        VacuityBody { what: "returns nothing", statements: |_| vec!["return None".to_owned()] },
        VacuityBody { what: "raises", statements: |_| vec!["raise RuntimeError('control')".to_owned()] },
    ],
    of_bodies: &[],
    counts_calls: true,
    lay_out: |_, _| {},
    tests: Marks { about, named: named_by_settings, foreign: uncollected, gathers, tells_callers: true, ..Marks::NONE },
    examples,
    runs_examples,
    open: || Box::new(Python { tool: Lookup::new(&RECIPE), preferred: OnceLock::new(), chosen: Mutex::default() }),
};

/// The examples of a function. Where the tests of its project run the examples of its file, all of these.
fn examples(target: &Target) -> Result<(Tests, bool), String> {
    let path = target.path.as_deref();
    let is_tests_file = target.text.contains(">>> ") && path.is_some_and(runs_all_examples);
    if !(is_tests_file || target.has_doctests()) {
        return Err(format!("the docstring of {} has no >>> examples", target.name));
    }
    Ok((Tests::of_examples(path), is_tests_file || target.has_telling_doctests()))
}

/// Returns true if pytest's settings, a `conftest.py` above the file or a command of tox's speak of doctest.
fn runs_examples(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let speaks = |text: &str, word: &str| text.lines().any(|line| line.contains(word) && !is_remark(line));
    // tox has commands for many tools. Its section for pytest is one of the settings, which others may replace.
    let has_command =
        |text: &str| speaks(&text.replace(section(text, "[pytest]").unwrap_or_default(), ""), "--doctest-");
    Settings::above(&file).is_some_and(|settings| speaks(&settings.text, "doctest"))
        || texts_above(&file, &[CONFTEST]).any(|text| speaks(&text, "doctest"))
        || texts_above(&file, &["tox.ini"]).any(|text| has_command(&text))
}

fn is_remark(line: &str) -> bool {
    line.trim_start().starts_with(['#', ';'])
}

/// The section of settings that begins with these words in a line; the whole text without any.
fn section<'a>(text: &'a str, head: &str) -> Option<&'a str> {
    if head.is_empty() {
        return Some(text);
    }
    let mut starts = text.match_indices(head).map(|(at, _)| at);
    let start = starts.find(|&at| at == 0 || text[..at].ends_with('\n'))?;
    let end = text[start..].find("\n[").map_or(text.len(), |end| start + end + 1);
    Some(&text[start..end])
}

/// The folders of the project above a file, the nearest first.
fn folders_above(file: &Path) -> impl Iterator<Item = &Path> {
    let folder = file.parent().unwrap_or(file);
    let root = Project::folders(folder).map_or_else(|| folder.to_path_buf(), |(root, _)| root);
    folder.ancestors().take_while(move |folder| folder.starts_with(&root))
}

/// The texts of files with these names there.
fn texts_above<'a>(file: &'a Path, names: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    folders_above(file)
        .flat_map(move |folder| names.iter().filter_map(move |name| files::text(&folder.join(name), files::TEXT).ok()))
}

/// Returns true if pytest's settings, or the project's command for it, have it run the examples of all
/// modules, this one among them.
fn runs_all_examples(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let is_command = |line: &str| line.contains("pytest ") && line.contains("--doctest-modules") && !is_remark(line);
    if texts_above(&file, &["tox.ini", "pyproject.toml"]).any(|text| text.lines().any(is_command)) {
        return true;
    }
    let Some(Settings { folder, text }) = Settings::above(&file) else { return false };
    let is_in = file.strip_prefix(folder).is_ok_and(|inside| is_collected(&text, inside));
    is_in && text.lines().any(|line| line.contains("--doctest-modules") && !is_remark(line))
}

/// The tests files that pytest does not look at by itself: the settings name folders that are there, and they
/// lie in none of them.
fn uncollected(root: &Path, own: &Path) -> Foreign {
    let Some(Settings { folder, text }) = Settings::above(&root.join(own)) else { return Box::new(|_| false) };
    let folders = words_of_setting(&text, "testpaths").unwrap_or_default();
    let is_there = folders.iter().any(|name| name.contains('*') || folder.join(name).exists());
    let root = root.to_path_buf();
    Box::new(move |path| {
        let path = root.join(path);
        let inside = path.strip_prefix(&folder).ok().filter(|inside| is_there && about(inside).is_some());
        inside.is_some_and(|inside| !is_collected(&text, inside))
    })
}

/// Returns true if the settings name no folders of tests, or one in which a path lies.
fn is_collected(text: &str, inside: &Path) -> bool {
    let folders = words_of_setting(text, "testpaths").unwrap_or_default();
    let is_in = |folder: &String| {
        let folder = folder.trim_start_matches("./").trim_end_matches('/').trim_start_matches('.');
        glob::Pattern::new(folder).is_ok_and(|folder| inside.ancestors().any(|part| folder.matches_path(part)))
    };
    folders.is_empty() || folders.iter().any(is_in)
}

/// Returns true for a file of a folder of tests that holds some under another name. The package imports them.
fn gathers(path: &Path, text: &str) -> bool {
    let is_below = path.iter().any(|part| part == "test" || part == "tests");
    is_below && text.contains("def test") && text.contains("TestCase)")
}

/// The oldest version that the driver supports.
const RECIPE: Recipe = Recipe {
    language: "Python",
    names: &["python3", "python"],
    questions: &[&["-I", "-B", "-X", "utf8", "-c", QUESTION]],
    from_root: false,
    oldest: (3, 8),
    place: |places| {
        let (program, folders) = places.split_first()?;
        let (own, more) = folders.split_at(OWN_FOLDERS.min(folders.len()));
        let more = more.iter().filter(|path| !own.iter().any(|folder| path.starts_with(folder)));
        Some((program.to_path_buf(), own.iter().chain(more).map(|path| path.to_path_buf()).collect()))
    },
};

/// The folders of a Python that [`QUESTION`] asks for first.
const OWN_FOLDERS: usize = 5;

/// Its folders, and those of packages that are installed to be edited: search paths, and tables of finders.
const QUESTION: &str = "import os, sys; print('%d %d' % sys.version_info[:2]); print(sys.executable); \
    [print(p) for p in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.path.dirname(os.__file__))]; \
    homes = [vars(sys.modules.get(getattr(f, '__module__', type(f).__module__)) or sys) for f in sys.meta_path]; \
    tables = [h.get('MAPPING') for h in homes] + [getattr(f, '_redirections', None) for f in sys.meta_path]; \
    places = [str(p) for t in tables if isinstance(t, dict) for p in t.values()]; \
    [print(p) for p in sys.path + places + [p + '.py' for p in places] if os.path.isabs(p) and os.path.exists(p)]";

/// The Pythons of this machine.
#[derive(Debug)]
struct Python {
    /// The Python in PATH.
    tool: Lookup,
    /// The Python that the user has named.
    preferred: OnceLock<PathBuf>,
    /// Chosen interpreters.
    chosen: Mutex<HashMap<Asker, Arc<Chosen>>>,
}

/// The Python that the user had named, and the folder of the package. An empty path stands for code without a
/// project.
type Asker = (Option<PathBuf>, PathBuf);

/// A Python, and the programs compiled for it.
#[derive(Debug)]
struct Chosen {
    tool: Tool,
    driver: Compiled,
    observer: Compiled,
}

/// A compiled program, or a sentence why there is none.
type Compiled = OnceLock<Result<Vec<u8>, String>>;

impl Python {
    /// The interpreter for the code of a folder: the one of its project's environment, else the first in
    /// PATH.
    fn choose(&self, folder: Option<&Path>) -> Result<Arc<Chosen>, TrialError> {
        let project = folder.and_then(Project::folders);
        let preferred = self.preferred.get();
        // The first look begins on a thread of its own, perhaps before the user's word is known.
        let key = (preferred.cloned(), project.as_ref().map(|(_, package)| package.clone()).unwrap_or_default());
        let mut chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = chosen.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut tool = if let Some(program) = preferred {
            named(program)?
        } else {
            let own = environment::interpreters(project.as_ref().map(|(root, package)| (&**package, &**root)));
            let own = own.into_iter().find_map(|(path, why)| Some(Tool { why, ..RECIPE.at(&path)?.ok()? }));
            own.map_or_else(|| self.tool.get().cloned(), Ok)?
        };
        if let Some((root, _)) = &project {
            hide(root, &mut tool);
        }
        let new = Arc::new(Chosen::new(tool));
        chosen.insert(key, Arc::clone(&new));
        Ok(new)
    }
}

/// Takes the project's own folders from what a Python reads, but for its environment, and those that the
/// project lies in: its packages are read in the copy.
fn hide(root: &Path, tool: &mut Tool) {
    let environment = tool.folder().parent().map(Path::to_path_buf);
    let is_of_environment = |path: &Path| environment.as_ref().is_some_and(|folder| path.starts_with(folder));
    let is_of_project = |path: &Path| path.starts_with(root) || root.starts_with(path);
    tool.readable.retain(|path| is_of_environment(path) || !is_of_project(path));
}

/// The Python that the user has named, or a sentence why it cannot be used.
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
        Self { tool, driver: OnceLock::new(), observer: OnceLock::new() }
    }

    /// The driver compiled for it.
    fn driver(&self) -> Result<&[u8], TrialError> {
        self.compiled(&self.driver, programs::DRIVER)
    }

    fn compiled<'a>(&self, place: &'a Compiled, program: &str) -> Result<&'a [u8], TrialError> {
        let compiled = place.get_or_init(|| programs::compile(&self.tool, program)).as_deref();
        compiled.map_err(|sentence| TrialError::Interpreter(sentence.clone()))
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
        project::parse(at, &chosen.tool, name, text)
    }

    fn check_project(&self, _language: Language, project: &Project) -> Result<(), TrialError> {
        self.choose(Some(&project.root.join(&project.package))).map(drop)
    }

    fn baseline_cache(&self, at: &Context, trial: &Trial, project: &Project) -> Option<BaselineCache> {
        let chosen = self.choose(project.folder().as_deref()).ok()?;
        project::cache(at, (&chosen.tool, chosen.driver().ok()?), trial, project)
    }

    fn run(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let chosen = self.choose(project.folder().as_deref())?;
        let verdict = project::run(at, (&chosen.tool, chosen.driver()?), trial, project)?;
        Ok(verdict.with_interpreter(chosen.tool.shown()))
    }

    fn observe(
        &self,
        at: &Context,
        trial: &Trial,
        project: &Project,
        inputs: &[Input],
    ) -> Result<Vec<Observed>, TrialError> {
        let chosen = self.choose(project.folder().as_deref())?;
        let observer = chosen.compiled(&chosen.observer, programs::OBSERVER)?;
        observe::run(at, (&chosen.tool, observer), trial, project, inputs)
    }
}

/// The file that a tests file tests, by the naming rules of both pytest and unittest.
fn about(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let about =
        stem.strip_prefix("test_").or_else(|| stem.strip_prefix("tests_")).or_else(|| stem.strip_suffix("_test"));
    about.or_else(|| ["test", "tests"].contains(&stem).then_some("")).map(str::to_owned)
}

/// pytest's settings of a project.
struct Settings {
    /// The folder that they lie in.
    folder: PathBuf,
    /// Their section of the file.
    text: String,
}

impl Settings {
    fn of(folder: &Path) -> Option<Self> {
        let text = |(name, head): &(&str, &str)| {
            let text = files::text(&folder.join(name), files::TEXT).ok()?;
            section(&text, head).map(str::to_owned)
        };
        Some(Self { folder: folder.to_path_buf(), text: PYTEST.iter().find_map(text)? })
    }

    /// The nearest ones above a file of a project.
    fn above(file: &Path) -> Option<Self> {
        folders_above(file).find_map(Self::of)
    }
}

/// Name patterns of tests files in pytest's settings in a folder.
fn named_by_settings(folder: &Path) -> Vec<String> {
    let settings = Settings::of(folder);
    let mut words = settings.and_then(|all| words_of_setting(&all.text, "python_files")).unwrap_or_default();
    words.retain(|word| Path::new(word).extension().is_some_and(|ending| ending == "py"));
    words
}

/// The words of the value of a key in pytest's settings.
fn words_of_setting(text: &str, key: &str) -> Option<Vec<String>> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(key));
    let first = lines.next()?.split_once('=')?.1;
    // A value goes on until the next key or section.
    let more = lines.take_while(|line| !line.contains('=') && !line.starts_with('['));
    let words = [first].into_iter().chain(more);
    let words = words.flat_map(|line| line.split(|c: char| c.is_whitespace() || "\"',[]".contains(c)));
    Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_does_not_read_the_project_itself() {
        let readable =
            ["/a/p/.venv/lib", "/a/p/src", "/a", "/a/p", "/a/other/lib", "/usr/lib/python3"].map(PathBuf::from);
        let program = PathBuf::from("/a/p/.venv/bin/python");
        let mut tool = Tool { program, version: (3, 11), readable: readable.to_vec(), why: String::new() };
        hide(Path::new("/a/p"), &mut tool);
        assert_eq!(tool.readable, ["/a/p/.venv/lib", "/a/other/lib", "/usr/lib/python3"].map(PathBuf::from));
    }

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
    fn examples_count_where_pytest_is_told_to_run_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let put = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        put("a.py", "");
        for (text, expected) in [
            ("[tox]\n# no --doctest-modules here\n[flake8]\ndoctests = True\n", false),
            ("[testenv:docs]\ncommands = sphinx-build -b doctest docs out\n", false),
            ("[testenv]\ncommands =\n    pytest \\\n        --doctest-modules src\n", true),
            ("[pytest]\naddopts = --doctest-glob=*.rst\n[flake8]\n", true),
            ("[pytest]\naddopts = -q\n[flake8]\ndoctests = True\n", false),
        ] {
            put("tox.ini", text);
            assert_eq!(runs_examples(&root.join("a.py")), expected, "{text}");
        }
        // pytest reads these settings, and not those.
        put("tox.ini", "[pytest]\naddopts = --doctest-modules\n");
        put("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n");
        assert!(!runs_examples(&root.join("a.py")));
        put("conftest.py", "from sybil.parsers.doctest import DocTestParser\n");
        assert!(runs_examples(&root.join("a.py")));
    }

    #[test]
    fn pytest_reads_the_first_of_its_settings_and_their_folders_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let put = |name: &str, text: &str| {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        };
        put("tox.ini", "[pytest]\naddopts = --doctest-modules\n");
        put("a.py", "");
        assert!(runs_all_examples(&root.join("a.py")));
        put("pyproject.toml", "[project]\nname = \"a\"\n");
        assert!(runs_all_examples(&root.join("a.py")), "it has no section of pytest's");
        let is_left_out = |path: &str| uncollected(&root, Path::new("a.py"))(Path::new(path));
        put("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n");
        assert!(!runs_all_examples(&root.join("a.py")));
        assert!(!is_left_out("bench/test_a.py"), "the folder is not there");
        put("tests/test_a.py", "");
        assert!(is_left_out("bench/test_a.py") && !is_left_out("tests/b/test_a.py") && !is_left_out("bench/a.py"));
    }
}
