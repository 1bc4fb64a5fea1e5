//! `test`: one trial in the sandbox.

use std::fs;
use std::process::Command;

use super::skip;
use super::world::{World, isolated, keys, text_of};

const RIGHT: &str = "def double(x):\n    \"\"\"Twice x.\n\n    >>> double(2)\n    4\n    \"\"\"\n    return 2 * x\n";

#[test]
fn a_pass_is_0_and_a_failure_1() {
    let world = World::new();
    let right = world.file("right.py", RIGHT);
    let wrong = world.file("wrong.py", "def double(x):\n    print('hello')\n    return x * x\n");
    let tests = world.file("t.py", "assert double(2) == 4\nassert double(3) == 6\n");
    let verdict = world.run(&["test", &right, "--tests", &tests, "--json"]).code(0).json();
    assert_eq!(keys(&verdict), "assurance duration_ms interpreter message output protection status waited_ms");
    assert_eq!(keys(&verdict["protection"]), "landlock_abi layers limits missing no_new_privs seccomp summary tier");
    assert_eq!(verdict["status"], "passed");
    let verdict = world.run(&["test", &wrong, "--tests", &tests, "--json"]).code(1).json();
    assert_eq!(verdict["status"], "failed");
    assert!(verdict["output"].as_str().unwrap().contains("hello"), "{verdict}");
    assert!(verdict["message"].as_str().unwrap().contains("double(3)"), "{verdict}");
    let done = world.run(&["test", &wrong, "--tests", &tests]).code(1);
    assert!(done.out.starts_with("FAIL: ") && done.out.contains("hello"), "{}", done.out);
    let done = world.run(&["test", &right, "--tests", &tests]).code(0);
    assert!(done.out.starts_with("PASS: ") && (done.err.is_empty() || !isolated()), "{} {}", done.out, done.err);
}

#[test]
fn examples_of_docstrings_and_named_functions() {
    let world = World::new();
    let file = world.file("right.py", RIGHT);
    assert_eq!(world.run(&["test", &file, "--tests", "auto", "--json"]).code(0).json()["status"], "passed");
    let two = world.file("two.py", "def first(x):\n    return 1\n\n\ndef second(x):\n    return 2\n");
    let tests = world.file("check.py", "def check(candidate):\n    assert candidate(0) == 1\n");
    world.run(&["test", &format!("{two}:first"), "--tests", &tests]).code(0);
    // Any line of a function stands for it; without a name the last function is meant.
    world.run(&["test", &format!("{two}:2"), "--tests", &tests]).code(0);
    world.run(&["test", &format!("{two}:5"), "--tests", &tests]).code(1);
    world.run(&["test", &two, "--tests", &tests]).code(1);
    world.run(&["test", &format!("{two}:third"), "--tests", &tests]).refused(2, &["two.py", "third"]);
    // Without a name the examples of the whole file count, not those of the last function.
    let example = |name: &str, value: u8| {
        format!("def {name}(x):\n    '''\n    >>> {name}(3)\n    {value}\n    '''\n    return 3\n\n\n")
    };
    let broken = world.file("broken.py", example("first", 6) + &example("second", 3));
    let verdict = world.run(&["test", &broken, "--tests", "auto", "--json"]).code(1).json();
    assert_eq!((&verdict["status"], &verdict["message"]), (&"failed".into(), &"first(3) gave 3, expected 6".into()));
    world.run(&["test", &format!("{broken}:second"), "--tests", "auto"]).code(0);
}

#[test]
fn a_line_tells_apart_what_has_one_name() {
    let world = World::new();
    world.file("setup.cfg", "");
    world.file("conftest.py", "");
    let file = world.file(
        "same.py",
        "class A:\n    @property\n    def x(self):\n        return 2 * self.y\n\n    @x.setter\n    def x(self, new):\n        self.y = new\n",
    );
    world
        .file("test_same.py", "from same import A\n\n\ndef test_x():\n    a = A()\n    a.x = 3\n    assert a.x == 6\n");
    world.run(&["test", &format!("{file}:A.x")]).refused(2, &["2 functions", "same.py:7"]);
    for line in [4, 8] {
        world.run(&["test", &format!("{file}:{line}")]).code(0);
    }
    world
        .file("test_same.py", "from same import A\n\n\ndef test_x():\n    a = A()\n    a.y = 3\n    assert a.x == 6\n");
    world.run(&["test", &format!("{file}:4")]).code(0);
    let unnoticed = world.run(&["test", &format!("{file}:8")]).code(1);
    assert!(unnoticed.out.contains("do not notice"), "{}", unnoticed.out);
}

#[test]
fn a_method_is_tested_by_examples_and_by_tests_that_do_not_name_its_class() {
    let world = World::new();
    let file = world.file(
        "stats.py",
        "class Stats:\n    def find_max(self, values):\n        '''\n        >>> Stats().find_max([1, 3])\n        3\n        '''\n        \
         return max(values)\n\n\ndef largest(values):\n    return Stats().find_max(values)\n",
    );
    let method = format!("{file}:Stats.find_max");
    let tests = world.file("t.py", "assert largest([1, 3]) == 3\n");
    world.run(&["test", &method, "--tests", "auto"]).code(0);
    world.run(&["test", &method, "--tests", &tests]).code(0);
}

#[test]
fn tests_are_found_and_named() {
    let world = World::new();
    let file = world.file("numbers_of_mine/right.py", RIGHT);
    world.file("numbers_of_mine/pyproject.toml", "[project]\nname = \"p\"\n");
    world.file("numbers_of_mine/tests/test_other.py", "assert 1 == 2\n");
    world.file("numbers_of_mine/tests/test_right.py", "from right import double\nassert double(2) == 4\n");
    let verdict = world.run(&["test", &file, "--json"]).code(0).json();
    assert_eq!(verdict["tests"], TESTS_OF_RIGHT);
    let done = world.run(&["test", &format!("{file}:double")]).code(0);
    assert!(done.out.contains("tests: test_right.py"), "{}", done.out);
    world.file("numbers_of_mine/tests/test_right.py", "from right import double\nassert double(2) == 5\n");
    let done = world.run(&["test", &file]).code(1);
    assert!(done.out.starts_with("FAIL: double(2) gave 4, expected 5"), "{}", done.out);
}

/// Examples in documentation that the project's runner does not run are a mark of a pass. They decide where
/// it runs them, and where its tests say nothing.
#[test]
fn examples_decide_where_the_runner_runs_them() {
    let world = World::new();
    let text = "def double(x):\n    \"\"\"\n    >>> double(2)\n    5\n    \"\"\"\n    return 2 * x\n";
    let double = format!("{}:double", world.file("mine/right.py", text));
    world.file("mine/setup.cfg", "");
    world.file("mine/test_right.py", "from right import double\n\n\ndef test_it():\n    assert double(2) == 4\n");
    let verdict = world.run(&["test", &double, "--json"]).code(0).json();
    assert_eq!(verdict["tests"], TESTS_OF_RIGHT);
    let mark = "an example in its documentation fails, which your runner does not run: double(2) gave 4, expected 5";
    assert_eq!(verdict["assurance"]["marks"][0], mark, "{verdict}");
    let run = "[tool:pytest]\naddopts = --doctest-modules\n";
    world.file("mine/setup.cfg", run);
    let verdict = world.run(&["test", &double, "--json"]).code(1).json();
    assert_eq!(verdict["tests"], format!("doctest + {TESTS_OF_RIGHT}"));
    world.file("mine/setup.cfg", "");
    world.file("mine/test_right.py", "from right import double\n\n\ndef test_it():\n    assert double\n");
    let done = world.run(&["test", &double]).code(1);
    assert!(done.out.contains("double(2) gave 4, expected 5"), "{}", done.out);
    // Tests that cannot be run might say more.
    world.file("mine/right.py", text.replace("5\n", "4\n"));
    world.run(&["test", &double]).code(0);
    let needs = "import no_such_package\nfrom right import double\n\n\ndef test_it():\n    assert double(2) == 4\n";
    world.file("mine/test_right.py", needs);
    let verdict = world.run(&["test", &double, "--json"]).code(1).json();
    let why = verdict["message"].as_str().unwrap();
    assert!(
        verdict["status"] == "not_run" && why.contains("no_such_package") && why.contains("doctest, which passes"),
        "{why}"
    );
    let other = "from right import double\n\n\ndef test_it():\n    assert double(3) == 6\n";
    world.file("mine/test_pair.py", other);
    let verdict = world.run(&["test", &double, "--json"]).code(0).json();
    let mark = verdict["assurance"]["marks"][0].as_str().unwrap();
    assert!(mark.starts_with("test_right.py is not run: ") && mark.contains("no_such_package"), "{mark}");
}

/// Of tests that speak of a function some only seem to be about it.
#[test]
fn tests_that_say_nothing_of_the_function_leave_it_to_the_next() {
    let world = World::new();
    let file = world.file("mine/right.py", "def double(x):\n    return 2 * x\n");
    world.file("mine/setup.cfg", "");
    world.file("mine/conftest.py", "");
    world.file("mine/test_right.py", "double = str\n\n\ndef test_other():\n    assert double(1) == '1'\n");
    let double = format!("{file}:double");
    let verdict = world.run(&["test", &double, "--json"]).code(1).json();
    assert_eq!((&verdict["status"], &verdict["tests"]), (&"not_run".into(), &TESTS_OF_RIGHT.into()), "{verdict}");
    world.file("mine/test_a.py", "double = repr\n\n\ndef test_other():\n    assert double('1') == \"'1'\"\n");
    let verdict = world.run(&["test", &double, "--json"]).code(1).json();
    let nor = "the other tests that were found decide nothing either: test_a.py (calls double)";
    assert!(verdict["message"].as_str().unwrap().contains(nor), "{verdict}");
    world.file("mine/test_pair.py", "import right\n\n\ndef test_pair():\n    assert right.double(2) == 4\n");
    let verdict = world.run(&["test", &double, "--json"]).code(0).json();
    assert_eq!(verdict["tests"], "test_pair.py (calls double)", "{verdict}");
    let done = world.run(&["test", &double]).code(0);
    assert!(done.out.contains("by test_pair.py (calls double)") && !done.out.contains("tests: "), "{}", done.out);
    // One that only calls it notices that it raises, and no more.
    let calls = "from right import double\n\n\ndef test_call():\n    double(1)\n";
    world.file("mine/test_right.py", calls);
    let verdict = world.run(&["test", &double, "--json"]).code(0).json();
    assert_eq!(verdict["tests"], "test_pair.py (calls double)", "{verdict}");
    world.file("mine/right.py", "def double(x):\n    return 3 * x\n");
    let verdict = world.run(&["test", &double, "--json"]).code(1).json();
    assert_eq!((&verdict["status"], &verdict["tests"]), (&"failed".into(), &"test_pair.py (calls double)".into()));
    world.file("mine/test_pair.py", "double = str\n");
    let verdict = world.run(&["test", &double, "--json"]).code(0).json();
    assert!(verdict["message"].as_str().unwrap().contains("with a body that returns nothing"), "{verdict}");
    assert_eq!(verdict["tests"], TESTS_OF_RIGHT, "{verdict}");
}

#[test]
fn tests_files_of_one_name_are_named_with_their_folders() {
    let world = World::new();
    let file = world.file("mine/right.py", "def double(x):\n    return 2 * x\n");
    world.file("mine/setup.cfg", "");
    world.file("mine/a/test_right.py", "double = str\n\n\ndef test_other():\n    assert double(1) == '1'\n");
    world.file("mine/b/test_right.py", "from right import double\n\n\ndef test_double():\n    assert double(2) == 4\n");
    let verdict = world.run(&["test", &format!("{file}:double"), "--json"]).code(0).json();
    let tests = verdict["tests"].as_str().unwrap_or_default();
    assert!(tests.is_empty() || tests.starts_with("b/test_right.py ("), "{verdict}");
    world.file("mine/b/test_right.py", "from right import double\n\n\ndef test_double():\n    double(2)\n");
    world.file("mine/c/test_right.py", "from right import double\n\n\ndef test_double():\n    assert double(2) == 4\n");
    let verdict = world.run(&["test", &format!("{file}:double"), "--json"]).code(0).json();
    assert_eq!(verdict["tests"], "c/test_right.py (named after right.py, calls double)", "{verdict}");
}

#[test]
fn tests_that_were_found_and_never_end_are_left_out_and_named() {
    let world = World::new();
    let file = world.file("mine/right.py", RIGHT);
    world.file("mine/setup.cfg", "");
    world.file("mine/conftest.py", "");
    let endless = "from right import double\n\n\ndef test_double():\n    while double:\n        pass\n";
    let tests = world.file("mine/test_right.py", endless);
    let test = |more: &[&str]| world.run(&[&["test", &format!("{file}:double")], more].concat());
    let done = test(&["--timeout", "0.5s"]).code(0);
    let why = "test_right.py left out: these tests hit a limit without the candidate, too: no result after 3 s";
    assert!(done.out.starts_with("PASS: ") && done.out.contains(why) && done.out.contains("--timeout"), "{}", done.out);
    // Who names them wants them.
    test(&["--tests", &tests, "--timeout", "0.2s"]).refused(3, &["hit a limit", "no result after 2.4 s"]);
}

/// The user's own runner would run them all.
#[test]
fn a_pass_is_held_against_the_other_tests_of_the_project() {
    let has_pytest = Command::new("python3").args(["-c", "import pytest"]).output();
    if !has_pytest.is_ok_and(|done| done.status.success()) {
        skip::for_want_of("pytest", "python3 does not have it");
        return;
    }
    let world = World::new();
    let double = |text: &str| world.file("mine/right.py", format!("def double(x):\n    return {text}\n"));
    let file = double("2 * x if x > 0 else 0");
    world.file("mine/setup.cfg", "");
    world.file("mine/conftest.py", "");
    world.file("mine/test_right.py", "from right import double\n\n\ndef test_double():\n    assert double(2) == 4\n");
    let through = "from right import double\n\n\ndef twice(x):\n    return double(double(x))\n";
    world.file("mine/through.py", through);
    world
        .file("mine/test_through.py", "from through import twice\n\n\ndef test_twice():\n    assert twice(-1) == -4\n");
    let test = || world.run(&["test", &format!("{file}:double"), "--json"]);
    let verdict = test().code(1).json();
    let told = (&verdict["status"], verdict["message"].as_str().unwrap(), verdict["tests"].as_str().unwrap());
    assert!(told.0 == "failed" && told.1.contains("test_twice") && told.2.contains("all tests"), "{verdict}");
    double("2 * x");
    // A failure that a test's machine causes does not overrule the pass.
    let asks = "from right import double\n\n\ndef test_file():\n    open('/no/such/file').read(double(1))\n";
    let looks = "from right import double\nimport socket\n\n\ndef test_net():\n    double(1)\n    socket.getaddrinfo('a.example', 80)\n";
    for asks in [asks, looks] {
        world.file("mine/test_asks.py", asks);
        let verdict = test().code(0).json();
        assert_eq!(verdict["tests"], TESTS_OF_RIGHT, "{verdict}");
    }
}

const TESTS_OF_RIGHT: &str = "test_right.py (named after right.py, calls double)";

/// Also for a file that is named without a folder.
#[test]
fn the_environment_beside_the_file_is_taken() {
    let world = World::new();
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip", ".venv"])
        .current_dir(world.work())
        .output()
        .is_ok_and(|made| made.status.success());
    if !made {
        return crate::skip::for_want_of("python3", "it makes no environment");
    }
    world.file("setup.cfg", "");
    world.file("right.py", RIGHT);
    let verdict = world.run(&["test", "right.py", "--tests", "auto", "--json"]).code(0).json();
    assert!(
        verdict["interpreter"].as_str().unwrap().ends_with(".venv/bin/python (the project's environment)"),
        "{verdict}"
    );
}

/// The rest of the file is the user's, too, and tests that judge it want it as it is.
#[test]
fn tests_of_more_than_the_named_function_are_those_of_the_project() {
    let world = World::new();
    world.file("mine/setup.cfg", "");
    let file = world.file("mine/pair.py", "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x + 2\n");
    let both = world
        .file("mine/test_both.py", "from pair import one, two\n\n\ndef test_both():\n    assert one(two(1)) == 4\n");
    let first = world.file("mine/test_one.py", "from pair import one\n\n\ndef test_one():\n    assert one(1) == 2\n");
    for tests in [&both, &first] {
        world.run(&["test", &format!("{file}:one"), "--tests", tests, "--json"]).code(0);
    }
    world.file("mine/pair.py", "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x + 3\n");
    world.run(&["test", &format!("{file}:one"), "--tests", &both, "--json"]).code(1);
    world.run(&["test", &format!("{file}:one"), "--tests", &first, "--json"]).code(0);
}

#[test]
fn a_loop_without_end_is_ended() {
    let world = World::new();
    let file = world.file("loops.py", "def f():\n    while True:\n        pass\n");
    let tests = world.file("t.py", "assert f() is None\n");
    let verdict = world.run(&["test", &file, "--tests", &tests, "--timeout", "1s", "--json"]).code(1).json();
    assert_eq!(verdict["status"], "timeout");
    let done = world.run(&["test", &file, "--tests", &tests, "--timeout", "1s"]).code(1);
    assert!(done.out.starts_with("TIMEOUT: ") && done.out.contains("1 s"), "{}", done.out);
}

#[test]
fn code_that_does_not_load_is_an_error_of_the_candidate() {
    let world = World::new();
    let file = world.file("broken.py", "def f(:\n");
    let tests = world.file("t.py", "assert f() is None\n");
    let verdict = world.run(&["test", &file, "--tests", &tests, "--json"]).code(1).json();
    assert_eq!(verdict["status"], "error");
    assert!(verdict["message"].as_str().unwrap().contains("SyntaxError"), "{verdict}");
}

#[test]
fn several_tests_files_all_count() {
    let world = World::new();
    let file = world.file("right.py", RIGHT);
    let good = world.file("test_a.py", "assert double(2) == 4\n");
    let bad = world.file("test_b.py", "assert double(2) == 5\n");
    world.run(&["test", &file, "--tests", &good, "--tests", &good]).code(0);
    world.run(&["test", &file, "--tests", &good, "--tests", &bad]).code(1);
    let done = world.run(&["test", &file, "--tests", &text_of(&world.work())]).code(1);
    assert!(done.out.contains("test_a.py + test_b.py"), "{}", done.out);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let world = World::new();
    let file = world.file("right.py", RIGHT);
    let tests = world.file("t.py", "assert double(2) == 4\n");
    let broken = world.file("broken_tests.py", "assert double(2 ==\n");
    let binary = world.file("binary.py", b"\xff\xfe\x00");
    let run = |args: &[&str]| world.run(&[&["test"], args].concat());
    let bare = world.file("bare.py", "def triple(x):\n    return 3 * x\n");
    run(&[&bare]).refused(2, &["no tests were found for triple", "bare.py", "--tests FILE"]);
    run(&[&file, "--tests", "none"]).refused(2, &["--tests FILE"]);
    run(&[&file, "--tests", "gone.py"]).refused(2, &["the tests file gone.py"]);
    run(&["gone.py", "--tests", &tests]).refused(2, &["gone.py"]);
    run(&[&file, "--tests", &broken]).refused(2, &["broken_tests.py", "does not parse", "line 1"]);
    run(&[&binary, "--tests", &tests]).refused(2, &["binary.py", "not UTF-8"]);
    run(&[&file, "--tests", &binary]).refused(2, &["the tests file", "binary.py", "not UTF-8"]);
    run(&[&file, "--tests", &tests, "--timeout", "0s"]).refused(2, &["--timeout", "above 0"]);
    run(&[&file, "--tests", &tests, "--timeout", "soon"]).refused(2, &["--timeout", "soon"]);
    run(&[&file, "--tests", &tests, "--language", "cobol"]).refused(2, &["cobol", "python"]);
    let other = world.file("right.txt", RIGHT);
    run(&[&other, "--tests", &tests]).refused(2, &["right.txt", "--language"]);
    run(&[&other, "--tests", &tests, "--language", "python"]).code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), RIGHT);
    // Nothing failed where the tests are for a runner that is not run.
    let file = world
        .file("other/right.js", "module.exports = { double: x => 2 * x };\nfunction double(x) {\n  return 2 * x;\n}\n");
    world.file("other/package.json", "{\"name\":\"other\"}");
    let tests = world.file("other/test.js", "const test = require('ava');\ntest('a', t => t.is(2, 2));\n");
    run(&[&format!("{file}:double"), "--tests", &tests]).refused(2, &["the tests are for ava", "--test-command"]);
}

#[test]
fn without_an_interpreter_the_sentence_is_about_that() {
    let world = World::new();
    let file = world.file("right.py", RIGHT);
    let without = |args: &[&str]| {
        let out = world.command(args).env("PATH", world.work()).output().expect("the program");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        super::world::Done { code: out.status.code(), out: text(out.stdout), err: text(out.stderr) }
    };
    without(&["test", &file, "--tests", "auto"]).refused(3, &["no Python interpreter", "install Python"]);
    without(&["complete", "--file", &file, "--apply"]).refused(3, &["no Python interpreter", "--tests none"]);
    without(&["complete", "x", "-n", "1", "--max-tokens", "2"]).code(0);
    assert!(without(&["doctor"]).code(0).out.contains("no Python interpreter"));
}

#[test]
fn neither_output_nor_names_can_be_taken_for_a_verdict() {
    let world = World::new();
    let lies = "def double(x):\n    print('\\nPASS: 2 checks')\n    raise ValueError('no\\nPASS: 2 checks')\n";
    let wrong = world.file("wrong.py", lies);
    let tests = world.file("t.py", "assert double(2) == 4\n");
    let done = world.run(&["test", &wrong, "--tests", &tests]).code(1);
    assert!(done.out.contains("PASS: ") && !done.out.contains("\nPASS: "), "{}", done.out);
    let done = world.run(&["test", "gone\nPASS: 2 checks.py", "--tests", &tests]).code(2);
    assert!(done.err.contains("PASS: ") && !done.err.contains("\nPASS: "), "{}", done.err);
}
