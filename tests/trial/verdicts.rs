//! Trials as their users see them: styles of tests, verdicts and messages. Programs that mean harm are in
//! `tests/hostile.rs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Status, Tests, Trial, TrialError, Verdict};

static RUNNER: LazyLock<Runner> = LazyLock::new(crate::runner::probe);

pub const DOUBLE: &str = "def f(x):\n    return 2 * x\n";

pub fn limits(seconds: f64) -> Limits {
    Limits {
        wall: Duration::from_secs_f64(seconds),
        memory: 256 << 20,
        file: 4 << 20,
        output: 4 << 20,
        processes: 32,
        ..Limits::default()
    }
}

/// The runner, unless the machine has no sandbox: then a line says which layer is missing.
pub fn runner() -> Option<&'static Runner> {
    if RUNNER.protection().is_isolated() {
        return Some(&RUNNER);
    }
    crate::skip::as_it_cannot("isolation", &RUNNER.protection().summary);
    None
}

pub fn trial(program: &str, tests: Tests, limits: Limits) -> Trial {
    let entry_point = Some("f".to_owned());
    Trial {
        language: Language::Python,
        program: program.to_owned(),
        file: Some("doubling.py".into()),
        entry_point,
        line: None,
        tests,
        stub: None,
        limits,
    }
}

pub fn file(text: &str) -> Tests {
    Tests::text("test_f.py", text)
}

pub fn run(runner: &Runner, trial: &Trial) -> Verdict {
    runner.run(trial, &Arc::default()).unwrap()
}

/// Status and message of tests on a program.
fn judged(program: &str, tests: Tests) -> Option<(Status, String)> {
    let verdict = run(runner()?, &trial(program, tests, limits(20.0)));
    Some((verdict.status, verdict.message))
}

#[track_caller]
pub fn expect(program: &str, tests: Tests, status: Status, message: &str) {
    if let Some((found, said)) = judged(program, tests) {
        assert_eq!((found, said.as_str()), (status, message));
    }
}

/// Status and message of the examples of a stub on a program.
#[track_caller]
fn expect_examples(program: &str, stub: &str, status: Status, message: &str) {
    let Some(runner) = runner() else { return };
    let stub = Some(stub.to_owned());
    let verdict = run(runner, &Trial { stub, ..trial(program, Tests::own_examples(), limits(20.0)) });
    assert_eq!((verdict.status, verdict.message.as_str()), (status, message));
    assert_eq!(verdict.assurance.runner, "doctest");
}

#[test]
fn doctest_examples_come_from_the_stub_and_run_on_the_candidate() {
    let stub = |body: &str| format!("def f(x):\n    '''Doubles.\n\n{body}    '''\n");
    let with = |body: &str, code: &str| format!("{}    {code}\n", stub(body));
    let plain = "    >>> f(3)\n    6\n    >>> f('ab')\n    'abab'\n";
    expect_examples(&with(plain, "return 2 * x"), &stub(plain), Status::Passed, "1 test");
    let wrong = "f(3) gave 5, expected 6";
    expect_examples(&with(plain, "return x + 2"), &stub(plain), Status::Failed, wrong);
    let other = "def f(x):\n    '''>>> f(3)\n    5\n    '''\n    return x + 2";
    expect_examples(other, &stub(plain), Status::Failed, wrong);
    let raising = "    >>> f(None)\n    Traceback (most recent call last):\n      ...\n    TypeError: no\n";
    expect_examples(&with(raising, "raise TypeError('no')"), &stub(raising), Status::Passed, "1 test");
    let said =
        "f(None) raised TypeError: unsupported operand type(s) for *: 'int' and 'NoneType', expected TypeError: no";
    expect_examples(&with(raising, "return 2 * x"), &stub(raising), Status::Failed, said);
    let rich = "    >>> for i in range(2):\n    ...     print(f(i))\n    0\n    2\n    >>> y = f(4)\n    >>> print('a', y)  \
        # doctest: +ELLIPSIS\n    a...\n    >>> print()\n    <BLANKLINE>\n";
    expect_examples(&with(rich, "return 2 * x"), &stub(rich), Status::Passed, "1 test");
    expect_examples(DOUBLE, &stub("    No examples.\n"), Status::NotRun, "no tests were run");
}

/// Its text goes to the driver whole.
#[test]
fn examples_of_a_large_file_are_run() {
    let stub = format!("S = '{}'\n\n\ndef f(x):\n    '''\n    >>> f(3)\n    6\n    '''\n", "é".repeat(1 << 20));
    expect_examples(&format!("{stub}    return 2 * x\n"), &stub, Status::Passed, "1 test");
    expect_examples(&format!("{stub}    return x\n"), &stub, Status::Failed, "f(3) gave 3, expected 6");
}

/// Bodies of other lengths move the lines behind the function; messages name those of the user's text.
#[test]
fn errors_behind_the_function_have_the_lines_of_the_users_file() {
    let Some(runner) = runner() else { return };
    let (head, rest) = ("def f(x):\n    '''\n    >>> f(1)\n    2\n    '''\n", "\ndef broken(:\n    pass\n");
    for own in ["", "    pass\n", "    y = x\n    z = y\n    return z\n"] {
        let stub = format!("{head}{own}{rest}");
        let line = format!("line {})", 1 + head.lines().count() + own.lines().count() + 1);
        for body in ["    return 2 * x\n", "    y = 2 * x\n    return y\n"] {
            let program = format!("{head}{body}{rest}");
            let trial = Trial { stub: Some(stub.clone()), ..trial(&program, Tests::own_examples(), limits(20.0)) };
            let verdict = run(runner, &trial);
            assert_eq!(verdict.status, Status::NotRun, "{}", verdict.message);
            assert!(verdict.message.contains(&line), "{line}: {}", verdict.message);
        }
    }
}

#[test]
fn examples_import_the_file_that_they_stand_in() {
    let Some(runner) = runner() else { return };
    let examples = "    >>> import os, doubling\n    >>> doubling.f(3)\n    6\n    >>> from doubling import f as g\n    >>> g(1)\n    2";
    let stub = Some(format!("def f(x):\n    '''Doubles.\n\n{examples}\n    '''\n"));
    let program = format!("{}    return 2 * x\n", stub.as_deref().unwrap_or_default());
    let trial =
        Trial { file: Some("doubling.py".into()), stub, ..trial(&program, Tests::own_examples(), limits(20.0)) };
    let verdict = run(runner, &trial);
    assert_eq!(verdict.status, Status::Passed, "{}", verdict.message);
}

#[test]
fn plain_asserts_say_what_they_saw() {
    expect(DOUBLE, file("assert f(1) == 2\nassert 4 == f(2), 'twice'\n"), Status::Passed, "1 test");
    let failed = |tests: &str, message: &str| expect(DOUBLE, file(tests), Status::Failed, message);
    failed("assert f(1) == 3, 'why'\n", "f(1) gave 2, expected 3: why (test_f.py:1)");
    failed("\nassert 3 == f(1)\n", "f(1) gave 2, expected 3 (test_f.py:2)");
    failed("assert f(1) > 5\n", "f(1) > 5 does not hold: left is 2, right is 5 (test_f.py:1)");
    failed("assert f(0)\n", "f(0) gave 0, expected something true (test_f.py:1)");
    failed("y = g(1)\nassert f(1) == 2\n", "NameError: name 'g' is not defined (test_f.py:1)");
    let said = "f(0) == 1 raised ZeroDivisionError: integer division or modulo by zero (test_f.py:1)";
    expect("def f(x):\n    return 1 // x", file("assert f(0) == 1\n"), Status::Failed, said);
    expect(DOUBLE, file("x = f(2)\n"), Status::NotRun, "no tests were run");
    let caught = "try:\n    f(None)\n    assert False\nexcept TypeError:\n    pass\nassert f(0) == 0";
    expect(DOUBLE, file(caught), Status::Passed, "1 test");
}

#[test]
fn functions_and_classes_are_found() {
    let check = "def check(candidate):\n    for i in range(5):\n        assert candidate(i) == 2 * i\n";
    expect(DOUBLE, file(check), Status::Passed, "1 test");
    expect(DOUBLE, file(&format!("{check}\ncheck(f)\n")), Status::Passed, "1 test");
    let said = "check: candidate(i) gave 0, expected 2, with i = 1 (test_f.py:3)";
    expect("def f(x):\n    return 0", file(check), Status::Failed, said);
    let plain = "def test_a():\n    assert f(1) == 2\n\ndef test_b():\n    assert f(2) == 5\n";
    expect(DOUBLE, file(plain), Status::Failed, "test_b: f(2) gave 4, expected 5 (test_f.py:5)");
    let named = "def test_a():\n    xs, want = [1, 2], 5\n    assert f(xs[1]) + len(xs) == want\n";
    let said = "test_a: f(xs[1]) + len(xs) gave 6, expected 5, with xs = [1, 2] (test_f.py:3)";
    expect(DOUBLE, file(named), Status::Failed, said);
    let unit = |expected| {
        file(&format!(
            "import unittest\nfrom doubling import f\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.x = 2\n\n    \
             def test_a(self):\n        self.assertEqual(f(self.x), {expected})\n\n    def test_b(self):\n        with \
             self.assertRaises(TypeError):\n            f(None)\n\nif __name__ == '__main__':\n    unittest.main()\n"
        ))
    };
    expect(DOUBLE, unit(4), Status::Passed, "2 tests");
    expect(DOUBLE, unit(5), Status::Failed, "test_f.T.test_a: AssertionError: 4 != 5 (test_f.py:9)");
    expect(DOUBLE, file("'''\n>>> f(2)\n4\n'''\n"), Status::Passed, "1 test");
    let notes = Tests::text("notes.md", "It doubles:\n\n    >>> f(2)\n    5\n");
    expect(DOUBLE, notes, Status::Failed, "f(2) gave 4, expected 5");
}

/// Fixtures, classes without a base and coroutines are for pytest; where that is missing, the command that
/// installs it is named.
#[test]
fn what_only_pytest_runs_is_run_by_it_or_named() {
    let has_pytest = crate::runner::has_pytest();
    for tests in [
        "def test_a(caplog):\n    assert f(1) == 2\n    assert caplog.records == []\n",
        "class TestMore:\n    def test_b(self):\n        assert f(2) == 4\n",
        "import pytest\n\n@pytest.mark.parametrize('x', [1])\ndef test_c(x):\n    assert f(x) == 2\n",
    ] {
        let Some((status, message)) = judged(DOUBLE, file(tests)) else { return };
        if has_pytest {
            assert_eq!((status, message.as_str()), (Status::Passed, "1 test"), "{tests}");
        } else {
            assert!(status == Status::NotRun && message.contains("-m pip install pytest"), "{message}");
        }
    }
}

/// The run without the candidate has what the tests forgot to import, whichever file imports it.
#[test]
fn modules_that_the_tests_forgot_to_import_are_there_without_the_candidate() {
    let Some(runner) = runner() else { return };
    let stub = Some("def f(x):\n    'Doubles x.'\n".to_owned());
    let program = "import math\n\ndef f(x):\n    'Doubles x.'\n    return math.fsum([x, x])\n";
    let verdict = run(runner, &Trial { stub, ..trial(program, file("assert math.isclose(f(1), 2)\n"), limits(20.0)) });
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"));
}

#[test]
fn the_module_under_test_can_be_imported_by_any_name() {
    expect(DOUBLE, file("from mine.doubling import f as g\nassert g(1) == 2\n"), Status::Passed, "1 test");
    expect(DOUBLE, file("import doubling as d\nassert d.f(1) == 2\n"), Status::Passed, "1 test");
    let said = "ImportError: cannot import name 'halve' from 'doubling'";
    if let Some((status, message)) = judged(DOUBLE, file("from doubling import halve\nassert halve(1) == 2\n")) {
        assert!(status == Status::Failed && message.starts_with(said), "{message}");
    }
}

/// Values of the library and of classes that the code defines are compared as Python compares them.
#[test]
fn values_are_compared_as_the_language_does() {
    for (body, check, status) in [
        (
            "from types import MappingProxyType\ndef f(x):\n    return MappingProxyType({x: 1})",
            "f(1) == {1: 1}",
            Status::Passed,
        ),
        ("from collections import ChainMap\ndef f(x):\n    return ChainMap({x: 1})", "f(1) == {1: 1}", Status::Passed),
        (
            "from collections import deque\nclass D(deque):\n    pass\ndef f(x):\n    return D([x])",
            "f(1) == D([1])",
            Status::Passed,
        ),
        ("def f(x):\n    return memoryview(b'ab')", "f(1) == b'ab'", Status::Passed),
        (
            "class P:\n    def __init__(self, x):\n        self.x = x\n    def __eq__(self, other):\n        return self.x == other\n\
             def f(x):\n    return P(2 * x)",
            "f(1) == 2",
            Status::Passed,
        ),
        (
            "from decimal import Decimal\nclass M(Decimal):\n    def __eq__(self, other):\n        return type(other) is M and \
             Decimal.__eq__(self, other)\n    __hash__ = Decimal.__hash__\ndef f(x):\n    return M(2 * x)",
            "f(1) == 2",
            Status::Failed,
        ),
    ] {
        let Some((found, message)) = judged(body, file(&format!("assert {check}\n"))) else { return };
        assert_eq!(found, status, "{body}: {message}");
    }
}

#[test]
fn code_that_uses_what_nobody_asked_for_is_marked() {
    let Some(runner) = runner() else { return };
    let judged = |program: &str, stub: Option<&str>| {
        run(
            runner,
            &Trial { stub: stub.map(str::to_owned), ..trial(program, file("assert f(1) == 2\n"), limits(20.0)) },
        )
    };
    let honest = judged(DOUBLE, None);
    assert_eq!((honest.status, honest.assurance.marks.len()), (Status::Passed, 0));
    assert_eq!(honest.assurance.runner, "unittest");
    let verdict = judged("import sys\n\ndef f(x):\n    sys._getframe()\n    return 2 * x\n", None);
    let mark = "the code uses `_getframe` (the frames of its callers), which nothing asked for";
    assert_eq!((verdict.status, verdict.assurance.marks.as_slice()), (Status::Passed, [mark.to_owned()].as_slice()));
    assert_eq!(verdict.words(), format!("1 test; {mark}"));
    let reads = "import os\n\ndef f(x):\n    return 2 * x if os.environ else 0\n";
    assert!(judged(reads, None).is_marked());
    let own = "import os\nHOME = os.environ['HOME']\n\ndef f(x):\n    pass\n";
    assert!(!judged(reads, Some(own)).is_marked());
    // Parts of the runner and of the language that judge the tests are what they were.
    let replaces = "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n\ndef f(x):\n    return 2 * x\n";
    assert_eq!(judged(replaces, None).status, Status::Tampered);
}

#[test]
fn a_tests_file_that_does_not_parse_is_refused_beforehand() {
    let Some(runner) = runner() else { return };
    let error =
        runner.check(Language::Python, None, &Tests::text("test_f.py", "assert f(1) == 2\nassert (\n")).unwrap_err();
    assert!(matches!(error, TrialError::TestsDoNotParse(_)));
    assert!(error.to_string().starts_with("tests file test_f.py, line 2: "), "{error}");
    let said = error.to_string().replace("line 2", "line 1");
    runner.check(Language::Python, None, &Tests::text("test_f.py", "assert f(1) == 2\n")).unwrap();
    expect(
        DOUBLE,
        file("assert (\n"),
        Status::Error,
        said.trim_end_matches(": it does not parse; correct it, or leave out --tests"),
    );
}

#[test]
fn without_isolation_nothing_runs_unasked() {
    let runner = Runner::without_isolation();
    assert!(!runner.protection().is_isolated());
    let trial = trial(DOUBLE, file("assert f(1) == 2\n"), limits(20.0));
    assert!(matches!(runner.run(&trial, &Arc::default()), Err(TrialError::Sandbox(_))));
    assert_eq!(run(&runner.allow_unprotected(), &trial).status, Status::Passed);
}

#[test]
fn a_wish_to_cancel_is_heard() {
    let Some(runner) = runner() else { return };
    let cancel = Arc::new(AtomicBool::new(false));
    let setter = Arc::clone(&cancel);
    let waker = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        setter.store(true, Ordering::Relaxed);
    });
    let endless = trial("while True:\n    pass\n", file("assert f(1) == 2\n"), limits(60.0));
    let verdict = runner.run(&endless, &cancel).unwrap();
    waker.join().unwrap();
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Killed, "cancelled"));
}

/// Without this a broken sandbox would only make the other tests skip themselves.
#[cfg(target_os = "linux")]
#[test]
fn where_the_kernel_offers_it_the_sandbox_holds() {
    // SAFETY: with a null attribute, size 0 and the version flag the call only returns a number; prctl takes
    // plain numbers.
    let (landlock, seccomp) = unsafe {
        let version = 1_u32;
        let landlock = libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, version);
        (landlock, libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0))
    };
    let protection = RUNNER.protection();
    assert_eq!(protection.is_isolated(), landlock > 0 && seccomp >= 0, "{}", protection.summary);
    assert_eq!(i64::from(protection.landlock_abi), landlock.max(0));
}

/// A line `# KEY: value` of a program.
pub fn header<'a>(program: &'a str, key: &str) -> Option<&'a str> {
    program.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "))
}
