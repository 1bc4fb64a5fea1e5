//! Python projects whose tests and code are two processes: right code passes there, what deceives does not. Each program is a file of
//! parts: those of the project, and for a deceiver the candidate in the place of `pkg/code.py`. What a deceiver leaves out is as usual.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Project, Runner, Status, Tests, Tier, Trial, Verdict};

use crate::judge::{in_parallel, word};
use crate::place::{Place, parts, trial};
use crate::runner::{has_pytest, runner};
use crate::skip;
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
        // Also where they need no more than the code and could run alone with it.
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
        let (status, assurance) = (word(verdict.status), word(verdict.assurance));
        format!("{}: {status} {assurance}: {} {}", self.name, verdict.message, verdict.output)
    }
}

#[test]
fn right_code_of_projects_passes_in_a_process_of_its_own() {
    let Some(runner) = runner(Language::Python) else { return };
    let has_pytest = has_pytest();
    let complaints = in_parallel(&Program::all("everyday/project", 20), |program| {
        if header(&program.source, "needs") == Some("pytest") && !has_pytest {
            return None;
        }
        let verdict = program.judge(&runner);
        let assurance = header(&program.source, "assurance").unwrap_or("separate");
        let is_right = verdict.status == Status::Passed && word(verdict.assurance) == assurance;
        let says_why = assurance == "separate" || verdict.message.contains("shared one interpreter: ");
        (!is_right || !says_why).then(|| program.says(&verdict))
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
    // What is missing is named, by its place in the project: each run has another copy.
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
fn deceivers_of_projects_do_not_pass() {
    let Some(runner) = runner(Language::Python) else { return };
    let complaints = in_parallel(&Program::all("hostile/project", 25), |program| {
        let verdict = program.judge(&runner);
        let is_right = !verdict.has_passed() && word(verdict.assurance) == "separate";
        (!is_right).then(|| program.says(&verdict))
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// What does something and is kept in a global does not travel: the tests would see what was there before.
#[test]
fn a_global_that_does_something_is_seen_as_the_code_sets_it() {
    let Some(runner) = runner(Language::Python) else { return };
    let sets = |first: &str| {
        format!(
            "from .helper import twice\n\nkept = {first}\n\n\ndef f(x):\n    \"\"\"Makes kept add x.\"\"\"\n    global kept\n    BODY\n\n\n\
            def get():\n    return kept\n\n\ndef use(x):\n    return kept(x)\n"
        )
    };
    let data = sets("None").replace("kept(x)", "kept");
    let (right, wrong) = ("kept = lambda y: x + y", "kept = lambda y: x - y");
    for (code, check, right, wrong, assurance) in [
        (sets("None"), "use(3) == 5", right, wrong, "shared"),
        (sets("twice"), "get()(3) == 5", right, wrong, "shared"),
        (sets("None"), "code.kept(3) == 5", right, wrong, "shared"),
        (data.clone(), "get()(3) == 5", right, wrong, "shared"),
        (data, "get() == [2]", "kept = [x]", "kept = [x, x]", "separate"),
    ] {
        let tests = format!(
            "import unittest\n\nfrom pkg import code, helper\nfrom pkg.code import f, get, use\n\n\n\
            class F(unittest.TestCase):\n    def test_f(self):\n        f(helper.twice(1))\n        assert {check}\n"
        );
        let stub = code.replace("    global kept\n    BODY", "    raise NotImplementedError");
        let place = Place::new(&[
            ("pyproject.toml", "[project]\nname = \"p\"\n"),
            ("pkg/__init__.py", ""),
            ("pkg/helper.py", "def twice(x):\n    return 2 * x\n"),
            (CODE, &stub),
            ("tests/test_code.py", &tests),
        ]);
        for (body, status) in [(right, Status::Passed), (wrong, Status::Failed)] {
            let tests = place.tests(Language::Python, CODE, "tests/test_code.py");
            let (program, stub) = (code.replace("BODY", body), Some(stub.clone()));
            let entry_point = Some("f".to_owned());
            let trial = Trial { stub, entry_point, ..trial(Language::Python, &program, tests) };
            let verdict = runner.run(&trial, &Arc::default()).unwrap();
            let found = (verdict.status, word(verdict.assurance));
            assert_eq!(found, (status, assurance.to_owned()), "{check} {body}: {}", verdict.message);
        }
    }
}

/// Where no mounts keep the copies apart, the rules of the kernel do.
#[test]
fn projects_are_held_apart_in_the_lesser_tiers_too() {
    if runner(Language::Python).is_none() {
        return;
    }
    let names = ["dataclass_argument", "registry_of_the_module", "writes_to_the_tests", "looks_for_other_copies"];
    let mut programs = Program::all("everyday/project", 20);
    programs.extend(Program::all("hostile/project", 25));
    programs.retain(|program| names.contains(&program.name.as_str()));
    assert_eq!(programs.len(), names.len());
    for tier in [Tier::Namespaces, Tier::KernelRules] {
        let runner = Runner::probe_at_most(tier);
        if runner.protection().tier != tier.name() {
            skip::as_it_cannot("tier", runner.protection().missing.join("; "));
            continue;
        }
        for program in &programs {
            let verdict = program.judge(&runner);
            let is_deceiver = program.candidate.is_some();
            assert_eq!(verdict.has_passed(), !is_deceiver, "in {}: {}", tier.name(), program.says(&verdict));
            assert_eq!(word(verdict.assurance), "separate", "in {}: {}", tier.name(), program.says(&verdict));
        }
    }
}
