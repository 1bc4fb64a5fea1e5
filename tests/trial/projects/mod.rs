//! Tests of a project, run in copies of it with a candidate inside: by name, held against the unchanged
//! project, and without a trace in the user's own files.

mod ending;
mod found;
mod go;
mod kept;
mod layouts;
mod node;
mod python;
mod runtimes;
mod rust;
mod script;
mod single;
mod unfinished;
mod waiting;

use crate::place::{Place, trial};
use crate::runner::runner;
use bass_tui::language::Language;
use bass_tui::trial::{Status, Tests, Trial};

const HELPER: (&str, &str) = ("pkg/helper.py", "def twice(x):\n    return 2 * x\n");
const STUB: &str = "from .helper import twice\n\n\ndef f(x):\n    raise NotImplementedError\n";
const RIGHT: &str = "from .helper import twice\n\n\ndef f(x):\n    return twice(x)\n";
const UNITTEST: &str = "import unittest\n\nfrom pkg.doubling import f\nfrom pkg.helper import twice\n\n\nclass Doubling(unittest.TestCase):\n    \
    def test_f(self):\n        self.assertEqual(f(3), 6)\n\n    def test_twice(self):\n        self.assertEqual(twice(1), 2)\n\n\n\
    def test_alone():\n    assert f(1) == 2\n";

fn python_project() -> Place {
    Place::new(&[
        ("pyproject.toml", "[project]\nname = \"p\"\n"),
        ("pkg/__init__.py", ""),
        HELPER,
        ("pkg/doubling.py", STUB),
        ("tests/test_doubling.py", UNITTEST),
    ])
}

#[test]
fn python_tests_of_a_project_run_by_name() {
    let Some(runner) = runner(Language::Python) else { return };
    let place = python_project();
    let tests = || place.tests("pkg/doubling.py", "tests/test_doubling.py");
    assert!(matches!(tests(), Tests::Project(_)));
    let judge = |program: &str| place.judge(&runner, &trial(Language::Python, program, tests()));
    let verdict = judge(RIGHT);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "3 tests"), "{}", verdict.output);
    let verdict = judge(&RIGHT.replace("twice(x)", "twice(x) + 1"));
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.contains("test_f") && verdict.message.contains('7'), "{}", verdict.message);
    // Ends that say 0, tests that vanish, and tests that are rewritten.
    assert_eq!(judge(&format!("{RIGHT}\nimport os\nos._exit(0)\n")).status, Status::Killed);
    assert_ne!(judge(&format!("{RIGHT}\nraise SystemExit(0)\n")).status, Status::Passed);
    let hides = "import unittest\nunittest.TestLoader.getTestCaseNames = lambda *a: []\n";
    assert_ne!(judge(&format!("{hides}{RIGHT}")).status, Status::Passed);
    let rewrites = "import pathlib\npathlib.Path('tests/test_doubling.py').write_text('')\n";
    let verdict = judge(&format!("{rewrites}{RIGHT}"));
    assert_eq!(
        (verdict.status, verdict.message.contains("test_doubling.py")),
        (Status::Tampered, true),
        "{}",
        verdict.message
    );
    let writes = format!("open('made', 'w').close()\nopen({:?}, 'w').close()\n", place.path().join("made"));
    assert_ne!(judge(&format!("{writes}{RIGHT}")).status, Status::Passed);
    assert_eq!(judge(&format!("open('made', 'w').close()\n{RIGHT}")).status, Status::Passed);
}

#[test]
fn flaky_tests_are_left_out_and_named() {
    let Some(runner) = runner(Language::Python) else { return };
    let flaky = "import os, unittest\nfrom pkg.doubling import f\nfrom pkg.helper import twice\n\nclass T(unittest.TestCase):\n    \
        def test_flaky(self):\n        self.assertEqual(os.urandom(8)[0] % 2, os.urandom(8)[0] % 2)\n\n    def test_f(self):\n        \
        self.assertEqual(f(3), 6)\n\nfor i in range(24):\n    setattr(T, f'test_flaky_{i}', T.test_flaky)\n";
    let place = Place::new(&[
        ("setup.cfg", ""),
        ("pkg/__init__.py", ""),
        HELPER,
        ("pkg/doubling.py", STUB),
        ("tests/test_doubling.py", flaky),
    ]);
    let tests = place.tests("pkg/doubling.py", "tests/test_doubling.py");
    let verdict = place.judge(&runner, &trial(Language::Python, &RIGHT.replace("twice(x)", "0"), tests));
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.contains("left out, as they are flaky"), "{}", verdict.message);
}

/// A pass that rests on the order of a set is marked: the order differs from run to run of the user's own.
#[test]
fn the_order_of_a_set_is_no_order() {
    let Some(runner) = runner(Language::Python) else { return };
    let code = |body: &str| format!("def f(words):\n    {body}\n");
    let tests = "import unittest\nfrom words import f\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
        self.assertEqual(f(WORDS), WORDS)\n";
    // An order that this Python gives them with the seed of trials.
    let mut command = std::process::Command::new("python3");
    command.env("PYTHONHASHSEED", "0").args(["-c", "print(list(set('abcdefgh')))"]);
    let order = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let tests = tests.replace("WORDS", order.trim());
    let place = Place::new(&[("setup.cfg", ""), ("words.py", &code("pass")), ("test_words.py", &tests)]);
    for (body, is_marked) in [
        ("return list(set(words))", true),
        ("return sorted(set(words), key=words.index)", false),
        ("return list(dict.fromkeys(words))", false),
    ] {
        let tests = place.tests("words.py", "test_words.py");
        let stub = Some(place.text("words.py"));
        let verdict = place.judge(&runner, &Trial { stub, ..trial(Language::Python, &code(body), tests) });
        assert_eq!((verdict.status, verdict.is_marked()), (Status::Passed, is_marked), "{body}: {}", verdict.words());
        assert!(!is_marked || verdict.words().contains("with another order of sets (PYTHONHASHSEED="), "{body}");
    }
}

/// Pytest does not read `load_tests`.
#[test]
fn tests_that_a_file_makes_itself_are_run_by_unittest() {
    let Some(runner) = runner(Language::Python) else { return };
    let head = "import doctest, unittest\nimport sort\n\n";
    let examples = format!(
        "{head}def load_tests(loader, tests, ignore):\n    tests.addTests(doctest.DocTestSuite(sort))\n    return tests\n\n\
        class T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(sort.f([2, 1]), [1, 2])\n"
    );
    let made = format!(
        "{head}class Case(unittest.TestCase):\n    def __init__(self, xs):\n        super().__init__('check')\n        self.xs = xs\n\n    \
        def check(self):\n        self.assertEqual(sort.f(self.xs), sorted(self.xs) or None)\n\n\
        def load_tests(loader, tests, ignore):\n    return unittest.TestSuite([Case([2, 1]), Case([])])\n"
    );
    let code = |body: &str| {
        format!("def f(xs):\n    \"\"\"Sorted; None of nothing.\n\n    >>> f([])\n    \"\"\"\n    {body}\n")
    };
    for tests in [examples, made] {
        let place = Place::new(&[("setup.cfg", ""), ("sort.py", &code("pass")), ("test_sort.py", &tests)]);
        for (body, expected) in [("return sorted(xs) or None", Status::Passed), ("return sorted(xs)", Status::Failed)] {
            let given = place.tests("sort.py", "test_sort.py");
            let stub = Some(place.text("sort.py"));
            let verdict = place.judge(&runner, &Trial { stub, ..trial(Language::Python, &code(body), given) });
            assert_eq!((verdict.status, &*verdict.assurance.runner), (expected, "unittest"), "{}", verdict.message);
        }
    }
}

#[test]
fn a_crate_is_built_and_tested_offline() {
    let Some(runner) = runner(Language::Rust) else { return };
    let program = "mod helper;\n\npub fn f(x: i64) -> i64 {\n    helper::twice(x)\n}\n";
    let place = Place::new(&[
        ("Cargo.toml", "[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", program),
        ("src/helper.rs", "pub fn twice(x: i64) -> i64 {\n    2 * x\n}\n"),
        (
            "tests/doubling.rs",
            "//! Doubles.\nuse doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n}\n",
        ),
    ]);
    let tests = || place.tests("src/lib.rs", "tests/doubling.rs");
    let judge = |program: &str| place.judge(&runner, &trial(Language::Rust, program, tests()));
    let verdict = judge(program);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
    let verdict = judge(&program.replace("twice(x)", "twice(x) + 1"));
    assert_eq!(verdict.message, "doubles: assertion `left == right` failed, left: 7, right: 6 (tests/doubling.rs:6)");
    assert_eq!(judge(&program.replace("helper::twice(x)", "std::process::exit(0)")).status, Status::Killed);
    assert_eq!(judge(&program.replace("helper::twice(x)", "no")).status, Status::Error);
}

#[test]
fn a_command_runs_in_a_copy_of_the_project() {
    let Some(runner) = runner(Language::Python) else { return };
    let place = python_project();
    let command = "python3 -B -c \"from pkg.doubling import f; open('made', 'w'); assert f(3) == 6\"";
    let file = place.path().join("pkg/doubling.py");
    let tests = || Tests::of_command(command, Language::Python, Some(&file), None).unwrap();
    assert_eq!(place.judge(&runner, &trial(Language::Python, RIGHT, tests())).status, Status::Passed);
    assert_eq!(place.judge(&runner, &trial(Language::Python, STUB, tests())).status, Status::Failed);
}
