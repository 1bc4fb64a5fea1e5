//! Python projects: right code passes, what deceives is caught, marked or listed. Each program is a file of
//! parts: those of the project, and for a deceiver the candidate in the place of `pkg/code.py`. What a
//! deceiver leaves out is as usual.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bass_tui::code::{Target, TargetSpec};
use bass_tui::language::Language;
use bass_tui::trial::{Limits, Project, Runner, Status, Tests, Trial, Verdict};

use crate::fools::is_known_to_fool;
use crate::place::{Place, parts, trial};
use crate::python::{in_parallel, word};
use crate::runner::{has_pytest, runner};
use crate::verdicts::header;

const CODE: &str = "pkg/code.py";
/// The parts of the project that most deceivers stand in.
const USUAL: &str = include_str!("../../shared/usual_project.py");

/// A program of one of the folders, taken apart.
struct Program {
    name: String,
    source: String,
    files: Vec<(String, String)>,
    candidate: Option<String>,
}

impl Program {
    fn of(path: &Path) -> Self {
        let source = fs::read_to_string(path).unwrap();
        let mut files = parts(&source);
        let candidate = files.iter().position(|(name, _)| name == "candidate").map(|at| files.remove(at).1);
        if candidate.is_some() {
            let own: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
            files.extend(parts(USUAL).into_iter().filter(|(name, _)| !own.contains(name)));
        }
        for (name, text) in [("pyproject.toml", "[project]\nname = \"p\"\n"), ("pkg/__init__.py", "")] {
            files.push((name.to_owned(), text.to_owned()));
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Self { name, source, files, candidate }
    }

    fn all(folder: &str, least: usize) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= least, "programs are missing");
        paths.iter().map(|path| Self::of(path)).collect()
    }

    fn judge(&self, runner: &Runner) -> Verdict {
        let files: Vec<(&str, &str)> = self.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let place = Place::new(&files);
        let (file, stub) = (place.path().join(CODE), place.text(CODE));
        let tests = match header(&self.source, "tests") {
            Some("examples") => file.clone(),
            _ => place.path().join("tests/test_code.py"),
        };
        let tests = Tests::Project(Project::around(&file, Some(&tests)).unwrap());
        let trial = Trial {
            language: Language::Python,
            program: self.candidate.clone().unwrap_or_else(|| stub.clone()),
            file: Some(file),
            entry_point: Some(header(&self.source, "entry").unwrap_or("f").to_owned()),
            line: None,
            tests,
            stub: Some(stub),
            limits: Limits { wall: Duration::from_secs(8), ..Limits::default() },
        };
        runner.run(&trial, &std::sync::Arc::default()).unwrap()
    }

    fn says(&self, verdict: &Verdict) -> String {
        format!("{}: {}: {} {}", self.name, word(verdict.status), verdict.message, verdict.output)
    }
}

#[test]
fn right_code_of_projects_passes() {
    let Some(runner) = runner(Language::Python) else { return };
    let has_pytest = has_pytest();
    let complaints = in_parallel(&Program::all("everyday/project", 20), |program| {
        if header(&program.source, "needs") == Some("pytest") && !has_pytest {
            return None;
        }
        let verdict = program.judge(&runner);
        (verdict.status != Status::Passed).then(|| program.says(&verdict))
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// A folder stands for all its tests, of which those count that call the function, whatever the others do.
#[test]
fn of_all_tests_those_that_call_the_function_count() {
    let Some(runner) = runner(Language::Python) else { return };
    if !has_pytest() {
        return;
    }
    let run = "from pkg.run import run\n\n\ndef test_run():\n    assert run(3) == 6\n\n\ndef test_else():\n    assert 1 == 2\n";
    let mut place = Place::new(&[
        ("setup.cfg", ""),
        ("pkg/__init__.py", ""),
        ("pkg/code.py", "def f(x):\n    return 2 * x\n"),
        ("pkg/run.py", "from . import code\n\n\ndef run(x):\n    return getattr(code, 'f')(x)\n"),
        ("tests/test_run.py", run),
        ("tests/test_broken.py", "import nothing_of_that_name\n"),
        ("tests/test_slow.py", "def test_other():\n    pass\n"),
    ]);
    let judge = |place: &Place, program: &str| {
        let project = Project::around(&place.path().join("pkg/code.py"), Some(&place.path().join("tests"))).unwrap();
        let stub = Some(place.text("pkg/code.py"));
        runner
            .run(&Trial { stub, ..trial(Language::Python, program, Tests::Project(project)) }, &Arc::default())
            .unwrap()
    };
    let verdict = judge(&place, "def f(x):\n    return x + x\n");
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
    let verdict = judge(&place, "def f(x):\n    return x\n");
    assert!(verdict.status == Status::Failed && verdict.message.contains("test_run"), "{}", verdict.message);
    place.write("tests/test_run.py", "def test_run():\n    pass\n");
    let verdict = judge(&place, "def f(x):\n    return x + x\n");
    assert!(verdict.status == Status::NotRun && verdict.message.contains("do not notice `f`"), "{}", verdict.message);
    place.write("setup.cfg", "[tool:pytest]\naddopts = --no-such-option\n");
    let verdict = judge(&place, "def f(x):\n    return x + x\n");
    let said = "the tests cannot be run without the candidate either: pytest did not run the tests: unrecognized arguments: --no-such-option";
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::NotRun, said), "{}", verdict.output);
    // The missing module is named, by its place in the project: each run has another copy.
    place.write("setup.cfg", "");
    place.write("tests/conftest.py", "import nothing_of_that_name\n");
    let verdict = judge(&place, "def f(x):\n    return x + x\n");
    assert!(verdict.message.contains("No module named 'nothing_of_that_name'"), "{}", verdict.message);
    place.write("tests/conftest.py", "def pytest_generate_tests(metafunc):\n    open(__file__ + '.txt')\n");
    place.write("tests/test_run.py", run);
    let project = Project::around(&place.path().join("pkg/code.py"), Some(&place.path().join("tests/test_run.py")));
    let stub = Some(place.text("pkg/code.py"));
    let tests = Tests::Project(project.unwrap());
    let trial = Trial { stub, ..trial(Language::Python, "def f(x):\n    return x + x\n", tests) };
    let verdict = runner.run(&trial, &Arc::default()).unwrap();
    let named = format!(
        "No such file or directory: '{}",
        place.path().canonicalize().unwrap().join("tests/conftest.py.txt").display()
    );
    assert_eq!(verdict.status, Status::NotRun, "{}", verdict.message);
    assert!(verdict.message.contains(&named), "{}", verdict.message);
}

#[test]
fn deceivers_of_projects_are_caught_marked_or_listed() {
    let Some(runner) = runner(Language::Python) else { return };
    let complaints = in_parallel(&Program::all("hostile/project", 25), |program| {
        let verdict = program.judge(&runner);
        (!is_known_to_fool(&program.name, &verdict)).then(|| program.says(&verdict))
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// A file without a project, whose tests lie beside it and in a folder below: both are found, and a test that
/// fails of a function which is still to be written is left out by name.
#[test]
fn tests_beside_a_file_without_a_project_are_found_and_open_stubs_left_out() {
    let Some(runner) = runner(Language::Python) else { return };
    let code =
        "import helper\n\n\ndef f(x):\n    return helper.twice(x)\n\n\ndef g(x):\n    raise NotImplementedError\n";
    let both = "import unittest\nfrom code_of_mine import f, g\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
        self.assertEqual(f(3), 6)\n\n    def test_g(self):\n        self.assertEqual(g(3), 6)\n";
    let place = Place::new(&[
        ("code_of_mine.py", code),
        ("helper.py", "def twice(x):\n    return 2 * x\n"),
        ("test_code_of_mine.py", both),
        ("tests/test_more.py", "from code_of_mine import f\n\n\ndef test_more():\n    assert f(0) == 0\n"),
        ("secret.txt", "nobody names it"),
    ]);
    let file = place.path().join("code_of_mine.py");
    let spec = TargetSpec::parse(&format!("{}:f", file.display())).unwrap();
    let target = Target::read(&spec).unwrap();
    let found = Tests::found(&target);
    let labels: Vec<&str> = found.iter().map(|(_, label)| label.as_str()).collect();
    assert!(
        labels[0].contains("test_code_of_mine.py") && labels.iter().any(|l| l.contains("test_more.py")),
        "{labels:?}"
    );
    let (tests, _) = Tests::usual(&target, found).unwrap();
    let judge = |program: &str| {
        let (file, stub) = (Some(file.clone()), Some(code.to_owned()));
        place.judge(&runner, &Trial { file, stub, ..trial(Language::Python, program, tests.clone()) })
    };
    let verdict = judge(code);
    assert_eq!(verdict.status, Status::Passed, "{}", verdict.message);
    assert!(verdict.message.contains("left out") && verdict.message.contains("test_g"), "{}", verdict.message);
    let verdict = judge(&code.replace("return helper.twice(x)", "return x"));
    assert!(verdict.status == Status::Failed && verdict.message.contains("test_f"), "{}", verdict.message);
}

/// Whenever it was named: a look at the first Python in PATH may have begun before.
#[test]
fn the_python_that_was_named_runs_tests_without_a_project() {
    let Some(runner) = runner(Language::Python) else { return };
    let code = "def f(x):\n    return 2 * x\n";
    let test = "from calc import f\n\n\ndef test_f():\n    assert f(2) == 4\n";
    let place = Place::new(&[("pytest.ini", ""), ("calc.py", code), ("test_calc.py", test)]);
    let (program, _) = runner.tool(Language::Python, place.path()).unwrap();
    let runner = runner.with_python(Some(&program));
    let (file, stub) = (Some(place.path().join("calc.py")), Some(code.to_owned()));
    let tests = place.tests("calc.py", "test_calc.py");
    let verdict = place.judge(&runner, &Trial { file, stub, ..trial(Language::Python, code, tests) });
    let interpreter = verdict.interpreter.unwrap_or_default();
    assert!(verdict.status == Status::Passed && interpreter.contains("as you said"), "{interpreter}");
}
