//! Python projects as developers have them: each layout with a right and a wrong body.

use std::fs;
use std::process::{Command, Stdio};

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Tests, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::{has_pytest, python_and_git};

const SETTINGS: (&str, &str) = ("pyproject.toml", "[project]\nname = \"p\"\n");
const HELPER: &str = "def twice(x):\n    return 2 * x\n";
const CODE: &str = "from .helper import twice\n\n\ndef f(x):\n    return twice(x)\n";
const TESTS: &str = "import unittest\n\nfrom pkg.code import f\nfrom pkg.helper import twice\n\n\nclass T(unittest.TestCase):\n    \
    def test_f(self):\n        self.assertEqual(f(3), 6)\n\n    def test_twice(self):\n        self.assertEqual(twice(1), 2)\n";

/// Makes a repository of a project, with an environment in it if it is to have one.
fn prepare(place: &Place, environment: Option<&str>, packages: &[(&str, &str)]) {
    let run = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(place.path()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().is_ok_and(|status| status.success()), "{program} {words:?}");
    };
    run("git", &["init", "-q"]);
    let Some(environment) = environment else { return };
    run("python3", &["-m", "venv", "--without-pip", "--system-site-packages", environment]);
    let lib = fs::read_dir(place.path().join(environment).join("lib")).unwrap().next().unwrap().unwrap().path();
    for (name, text) in packages {
        let text = text.replace("@ROOT@", place.path().canonicalize().unwrap().to_str().unwrap());
        fs::write(lib.join("site-packages").join(name), text).unwrap();
    }
}

/// The verdict on a project as it is, and on one whose function is wrong.
#[track_caller]
fn expect(runner: &Runner, place: &mut Place, code: &str, tests: &str) -> Verdict {
    place.look();
    let program = place.text(code);
    let of = |program: &str| {
        let tests = place.tests(code, tests);
        assert!(matches!(tests, Tests::Project(_)));
        let file = Some(place.path().join(code));
        place.judge(runner, &Trial { file, ..trial(Language::Python, program, tests) })
    };
    let verdict = of(&program);
    assert_eq!(verdict.status, Status::Passed, "{}: {}", verdict.message, verdict.output);
    let wrong = of(&program.replace("return twice(x)", "return twice(x) + 1"));
    assert_eq!(wrong.status, Status::Failed, "{}", wrong.message);
    assert!(wrong.message.contains('7'), "{}", wrong.message);
    verdict
}

#[test]
fn an_environment_in_the_project_is_taken_ignored_or_not() {
    let Some(runner) = python_and_git() else { return };
    for name in [".venv", "tools"] {
        let files = [
            SETTINGS,
            ("pkg/__init__.py", ""),
            ("pkg/helper.py", HELPER),
            ("pkg/code.py", CODE),
            ("tests/test_code.py", TESTS),
        ];
        let mut place = Place::new(&files);
        prepare(&place, Some(name), &[]);
        let verdict = expect(&runner, &mut place, "pkg/code.py", "tests/test_code.py");
        let interpreter = verdict.interpreter.unwrap();
        // One that is activated comes first.
        if std::env::var_os("VIRTUAL_ENV").is_some() {
            continue;
        }
        let own = format!("{name}/bin/python (the project's environment)");
        assert!(interpreter.ends_with(&own), "{interpreter}");
    }
}

/// The tests see the copy, wherever the package was installed from to be worked on.
#[test]
fn a_package_that_is_installed_to_be_edited_is_that_of_the_copy() {
    let Some(runner) = python_and_git() else { return };
    let finder = "import sys, importlib.util\n\nMAPPING = {'pkg': '@ROOT@/lib/pkg'}\n\n\nclass Finder:\n    @classmethod\n    \
        def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n            \
        return importlib.util.spec_from_file_location(name, MAPPING[name] + '/__init__.py', submodule_search_locations=[MAPPING[name]])\n\n\n\
        sys.meta_path.append(Finder)\n";
    let ways: [&[(&str, &str)]; 2] =
        [&[("pkg.pth", "@ROOT@/lib\n")], &[("pkg_finder.py", finder), ("pkg.pth", "import pkg_finder\n")]];
    for packages in ways {
        let files = [
            SETTINGS,
            ("lib/pkg/__init__.py", ""),
            ("lib/pkg/helper.py", HELPER),
            ("lib/pkg/code.py", CODE),
            ("tests/test_code.py", TESTS),
        ];
        let mut place = Place::new(&files);
        prepare(&place, Some(".venv"), packages);
        expect(&runner, &mut place, "lib/pkg/code.py", "tests/test_code.py");
    }
}

/// Packages beside the project that are installed to be edited are read where they lie.
#[test]
fn a_package_beside_the_project_that_is_installed_to_be_edited_is_read() {
    let Some(runner) = python_and_git() else { return };
    let beside = tempfile::tempdir().unwrap();
    fs::create_dir_all(beside.path().join("lib/beside")).unwrap();
    fs::write(beside.path().join("lib/beside/__init__.py"), HELPER).unwrap();
    let lib = beside.path().canonicalize().unwrap().join("lib");
    let path = format!("{}\n", lib.display());
    let finder = format!(
        "import sys, importlib.util\n\nMAPPING = {{'beside': '{}/beside'}}\n\n\nclass Finder:\n    @classmethod\n    \
         def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n            \
         return importlib.util.spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n\n\nsys.meta_path.append(Finder)\n",
        lib.display()
    );
    let code = "from beside import twice\n\n\ndef f(x):\n    return twice(x)\n";
    let tests = "import unittest\n\nfrom code_of_mine import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
                 self.assertEqual(f(3), 6)\n";
    for packages in
        [&[("beside.pth", &*path)][..], &[("beside_finder.py", &*finder), ("beside.pth", "import beside_finder\n")]]
    {
        let mut place = Place::new(&[SETTINGS, ("code_of_mine.py", code), ("tests/test_code.py", tests)]);
        prepare(&place, Some(".venv"), packages);
        expect(&runner, &mut place, "code_of_mine.py", "tests/test_code.py");
    }
}

/// Facts of an installation: a package that asks for its version can be loaded without one.
#[test]
fn a_project_that_is_not_installed_finds_its_version_and_what_it_adds_to_itself() {
    let Some(runner) = python_and_git() else { return };
    let settings = "[project]\nname = \"the.pkg\"\ndynamic = [\"version\"]\n\n[project.entry-points.\"pkg.parts\"]\n\
        twice = \"pkg.helper:twice\"\n\n[tool.hatch.build.hooks.vcs]\nversion-file = \"src/pkg/_version.py\"\n";
    let init = "from importlib.metadata import version\n\nfrom ._version import __version__\n\n\
        assert version('the_pkg') == __version__\n";
    let helper = "from importlib.metadata import entry_points\n\n\ndef twice(x):\n    return 2 * x\n\n\ndef parts():\n    \
        found = entry_points()\n    found = found.select(group='pkg.parts') if hasattr(found, 'select') else found['pkg.parts']\n    \
        return [part.load() for part in found]\n";
    let more = "\n    def test_parts(self):\n        from pkg.helper import parts\n        \
        self.assertEqual([f(3)], [part(3) for part in parts()])\n\n    def test_program(self):\n        import subprocess, sys\n        \
        subprocess.run([sys.executable, '-c', 'import pkg'], check=True, cwd='/')\n        self.assertEqual(f(1), 2)\n";
    let tests = format!("{TESTS}{more}");
    let files = [
        ("pyproject.toml", settings),
        ("src/pkg/__init__.py", init),
        ("src/pkg/helper.py", helper),
        ("src/pkg/code.py", CODE),
        ("tests/test_code.py", &tests),
    ];
    let mut place = Place::new(&files);
    prepare(&place, None, &[]);
    expect(&runner, &mut place, "src/pkg/code.py", "tests/test_code.py");
    assert!(!place.path().join("src/pkg/_version.py").exists(), "only copies have it");
    // An installation that is there says it better.
    let init = "from importlib.metadata import version\n\nassert version('the_pkg') == '7'\n";
    let mut place = Place::new(&[files[0], (files[1].0, init), files[2], files[3], ("tests/test_code.py", TESTS)]);
    prepare(&place, Some(".venv"), &[("the_pkg.egg-info", "Metadata-Version: 2.1\nName: the.pkg\nVersion: 7\n")]);
    expect(&runner, &mut place, "src/pkg/code.py", "tests/test_code.py");
}

#[test]
fn options_of_plugins_that_only_measure_or_spread_are_not_missed() {
    let Some(runner) = python_and_git() else { return };
    if !has_pytest() {
        return;
    }
    let settings = "[project]\nname = \"p\"\n\n[tool.pytest.ini_options]\naddopts = [\"--cov\", \"pkg\", \
        \"--cov-fail-under=99\", \"-n\", \"4\", \"--timeout\", \"9\", \"--randomly-seed=1\", \"--mine\"]\n";
    let own = "def pytest_addoption(parser):\n    parser.addoption('--mine', action='store_true')\n    \
        parser.addoption('--timeout')\n";
    let mut place = Place::new(&[
        ("pyproject.toml", settings),
        ("conftest.py", own),
        ("pkg/__init__.py", ""),
        ("pkg/helper.py", HELPER),
        ("pkg/code.py", CODE),
        ("tests/test_code.py", TESTS),
    ]);
    prepare(&place, None, &[]);
    expect(&runner, &mut place, "pkg/code.py", "tests/test_code.py");
}

/// A test that only looks at what another one has left is about the function, though it never calls it.
#[test]
fn tests_that_lean_on_others_count_where_they_fail_otherwise() {
    let Some(runner) = python_and_git() else { return };
    let more = "\n\nclass U(unittest.TestCase):\n    kept = {}\n\n    def test_a_put(self):\n        self.kept['of 4'] = f(4)\n\n    \
        def test_b_get(self):\n        self.assertEqual(self.kept['of 4'], 8)\n\n    def test_own(self):\n        raise OSError('no server')\n";
    let tests = format!("{}{more}", TESTS.replace("self.assertEqual(f(3), 6)", "f(3)"));
    let mut place = Place::new(&[
        SETTINGS,
        ("pkg/__init__.py", ""),
        ("pkg/helper.py", HELPER),
        ("pkg/code.py", CODE),
        ("tests/test_code.py", &tests),
    ]);
    prepare(&place, None, &[]);
    place.look();
    let of = |program: &str| {
        let tests = place.tests("pkg/code.py", "tests/test_code.py");
        let (file, stub) = (Some(place.path().join("pkg/code.py")), Some(CODE.to_owned()));
        place.judge(&runner, &Trial { file, stub, ..trial(Language::Python, program, tests) })
    };
    let verdict = of(CODE);
    let words = &verdict.message;
    assert!(verdict.has_passed() && words.contains("test_own") && words.contains("test_b_get"), "{words}");
    let wrong = of(&CODE.replace("return twice(x)", "return twice(x) + 1"));
    assert!(wrong.status == Status::Failed && wrong.message.contains("test_b_get"), "{}", wrong.message);
}

/// Names such as `__file__` are each module's own, also where code and tests both use them.
#[test]
fn tests_and_code_may_both_know_their_file() {
    let Some(runner) = python_and_git() else { return };
    let code = "from pathlib import Path\n\nHERE = Path(__file__).parent\n\n\ndef f(x):\n    return 2 * x\n";
    let tests = "from pathlib import Path\n\nfrom pkg.code import f\n\nDATA = Path(__file__).parent / 'data.txt'\n\n\n\
        def test_f():\n    assert f(3) == int(DATA.read_text())\n";
    let files = [
        ("setup.cfg", ""),
        ("pkg/__init__.py", ""),
        ("pkg/code.py", code),
        ("tests/__init__.py", ""),
        ("tests/test_code.py", tests),
        ("tests/data.txt", "6\n"),
    ];
    let place = Place::new(&files);
    for (body, status) in [("2 * x", Status::Passed), ("x", Status::Failed)] {
        let program = code.replace("2 * x", body);
        let stub = Some(code.replace("return 2 * x", "raise NotImplementedError"));
        let tests = place.tests("pkg/code.py", "tests/test_code.py");
        let verdict = place.judge(&runner, &Trial { stub, ..trial(Language::Python, &program, tests) });
        assert_eq!(verdict.status, status, "{}", verdict.message);
    }
}

#[test]
fn examples_know_their_module() {
    let Some(runner) = python_and_git() else { return };
    let code = "from . import helper\nfrom pkg.helper import twice\n\nSTEP = 0\n\n\ndef f(x):\n    \"\"\"Doubles.\n\n    \
        >>> # a remark\n    >>> f(3) + STEP\n    6\n    >>> helper.twice(1)\n    2\n    \"\"\"\n    return twice(x)\n";
    let mut place = Place::new(&[SETTINGS, ("pkg/__init__.py", ""), ("pkg/helper.py", HELPER), ("pkg/code.py", code)]);
    prepare(&place, None, &[]);
    place.look();
    for (body, status) in [("return twice(x)", Status::Passed), ("return twice(x) + 1", Status::Failed)] {
        let path = place.path().join("pkg/code.py");
        let tests = Tests::of_examples(Some(&path));
        assert!(matches!(tests, Tests::Project(_)));
        let program = code.replace("return twice(x)", body);
        let stub = Some(code.to_owned());
        let trial = Trial { file: Some(path), stub, ..trial(Language::Python, &program, tests) };
        let verdict = place.judge(&runner, &trial);
        assert_eq!(verdict.status, status, "{}", verdict.message);
        assert!(status == Status::Passed || verdict.message.contains("gave 7, expected 6"), "{}", verdict.message);
    }
}

#[test]
fn tests_of_a_project_may_start_threads_and_copy_files() {
    let Some(runner) = python_and_git() else { return };
    let more = "\n    def test_more(self):\n        import os, shutil, threading\n        \
        threads = [threading.Thread(target=threading.Event().wait, args=(0.2,)) for _ in range(60)]\n        \
        [thread.start() for thread in threads]\n        [thread.join() for thread in threads]\n        \
        if @FULL@:\n            shutil.copy2(__file__, 'copied.py')\n        self.assertEqual(f(3), 6)\n";
    let full = if runner.protection().tier == "full" { "True" } else { "False" };
    let tests = format!("{TESTS}{}", more.replace("@FULL@", full));
    let files = [
        SETTINGS,
        ("pkg/__init__.py", ""),
        ("pkg/helper.py", HELPER),
        ("pkg/code.py", CODE),
        ("tests/test_code.py", &tests),
    ];
    expect(&runner, &mut Place::new(&files), "pkg/code.py", "tests/test_code.py");
}
