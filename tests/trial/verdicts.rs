//! Trials as their users see them: styles of tests, verdicts and messages. Programs that mean harm are in `tests/hostile.rs`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::trial::{Assurance, Limits, Runner, Status, Tests, Trial, TrialError, Verdict};

static RUNNER: LazyLock<Runner> = LazyLock::new(crate::runner::probe);

pub const DOUBLE: &str = "def f(x):\n    return 2 * x\n";

pub fn limits(seconds: f64) -> Limits {
    Limits {
        wall: Duration::from_secs_f64(seconds),
        memory: 256 << 20,
        file: 4 << 20,
        output: 4 << 20,
        processes: 32,
        gives_way: false,
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
        file: Some("numbers".into()),
        entry_point,
        line: None,
        tests,
        stub: None,
        limits,
    }
}

pub fn file(text: &str) -> Tests {
    Tests::Source { name: "test_f.py".to_owned(), text: text.to_owned() }
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

#[test]
fn doctest_examples_come_from_the_stub_and_run_on_the_candidate() {
    let stub = |body: &str| Tests::Doctest { source: format!("def f(x):\n    '''Doubles.\n\n{body}    '''\n") };
    let plain = "    >>> f(3)\n    6\n    >>> f('ab')\n    'abab'\n";
    expect(DOUBLE, stub(plain), Status::Passed, "2 checks");
    expect("def f(x):\n    return x + 2", stub(plain), Status::Failed, "f(3) gave 5, expected 6");
    expect(
        "def f(x):\n    '''>>> f(3)\n    5\n    '''\n    return x + 2",
        stub(plain),
        Status::Failed,
        "f(3) gave 5, expected 6",
    );
    let raising = "    >>> f(None)\n    Traceback (most recent call last):\n      ...\n    TypeError: no\n";
    expect("def f(x):\n    raise TypeError('no')", stub(raising), Status::Passed, "1 check");
    expect(
        DOUBLE,
        stub(raising),
        Status::Failed,
        "f(None) raised TypeError: unsupported operand type(s) for *: 'int' and \
        'NoneType', expected TypeError: no",
    );
    let rich = "    >>> for i in range(2):\n    ...     print(f(i))\n    0\n    2\n    >>> y = f(4)\n    >>> print('a', y)  \
        # doctest: +ELLIPSIS\n    a...\n    >>> print()\n    <BLANKLINE>\n";
    expect(DOUBLE, stub(rich), Status::Passed, "3 checks");
    expect(DOUBLE, stub("    No examples.\n"), Status::NotRun, "no `>>>` examples found");
    // Without examples at the entry point, those of the whole module count.
    let other = Tests::Doctest { source: "'''\n>>> f(1) + 1\n3\n'''\ndef f(x):\n    'Doubles.'\n".to_owned() };
    expect(DOUBLE, other, Status::Passed, "1 check");
}

#[test]
fn examples_import_the_file_that_they_stand_in() {
    let Some(runner) = runner() else { return };
    for (first, assurance) in [("os", Assurance::Separate), ("threading", Assurance::Shared)] {
        let examples =
            "doubling\n    >>> doubling.f(3)\n    6\n    >>> from doubling import f as g\n    >>> g(1)\n    2";
        let source = format!("def f(x):\n    '''Doubles.\n\n    >>> import {first}, {examples}\n    '''\n");
        let tests = Tests::Doctest { source };
        let trial = Trial { file: Some("doubling.py".into()), ..trial(DOUBLE, tests, limits(20.0)) };
        let verdict = run(runner, &trial);
        let found = (verdict.status, verdict.assurance);
        assert_eq!(found, (Status::Passed, assurance), "{}", verdict.message);
    }
}

#[test]
fn plain_asserts_say_what_they_saw() {
    expect(DOUBLE, file("assert f(1) == 2\nassert 4 == f(2), 'twice'\n"), Status::Passed, "2 checks");
    expect(DOUBLE, file("assert f(1) == 3, 'why'\n"), Status::Failed, "f(1) gave 2, expected 3: why (test_f.py:1)");
    expect(DOUBLE, file("\nassert 3 == f(1)\n"), Status::Failed, "f(1) gave 2, expected 3 (test_f.py:2)");
    expect(
        DOUBLE,
        file("assert f(1) > 5\n"),
        Status::Failed,
        "f(1) > 5 does not hold: left is 2, right is 5 (test_f.py:1)",
    );
    expect(DOUBLE, file("assert f(0)\n"), Status::Failed, "f(0) gave 0, expected something true (test_f.py:1)");
    expect(
        "def f(x):\n    return 1 // x",
        file("assert f(0) == 1\n"),
        Status::Failed,
        "f(0) == 1 raised ZeroDivisionError: integer division or modulo by zero (test_f.py:1)",
    );
    expect(DOUBLE, file("x = f(2)\n"), Status::NotRun, "no checks found in test_f.py");
    expect(
        DOUBLE,
        file("y = g(1)\nassert f(1) == 2\n"),
        Status::Error,
        "tests file test_f.py, line 1: NameError: name 'g' is \
        not defined",
    );
    expect(
        DOUBLE,
        file("try:\n    f(None)\n    assert False\nexcept TypeError:\n    pass\nassert f(0) == 0"),
        Status::Passed,
        "1 check",
    );
}

#[test]
fn functions_and_classes_are_found() {
    let check = "def check(candidate):\n    for i in range(5):\n        assert candidate(i) == 2 * i\n";
    expect(DOUBLE, file(check), Status::Passed, "5 checks");
    expect(DOUBLE, file(&format!("{check}\ncheck(f)\n")), Status::Passed, "5 checks");
    expect("def f(x):\n    return 0", file(check), Status::Failed, "candidate(i) gave 0, expected 2 (test_f.py:3)");
    let pytest =
        "def test_a():\n    assert f(1) == 2\n\nclass TestMore:\n    def test_b(self):\n        assert f(2) == 5\n";
    expect(DOUBLE, file(pytest), Status::Failed, "f(2) gave 4, expected 5 (test_f.py:6)");
    let fixture = "def test_a(database):\n    assert f(1) == 2\n";
    expect(
        DOUBLE,
        file(fixture),
        Status::Error,
        "test_a in test_f.py needs the fixture `database`, which is not known",
    );
    expect(DOUBLE, file("def test_a():\n    pass\n"), Status::NotRun, "no checks found in test_f.py");
    expect(DOUBLE, file("async def test_a():\n    assert f(1) == 2\n"), Status::Passed, "1 check");
    let unit = |expected| {
        file(&format!(
            "import unittest\nfrom doubling import f\n\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.x = 2\n\n    \
             def test_a(self):\n        self.assertEqual(f(self.x), {expected})\n\n    def test_b(self):\n        with \
             self.assertRaises(TypeError):\n            f(None)\n\nif __name__ == '__main__':\n    unittest.main()\n"
        ))
    };
    expect(DOUBLE, unit(4), Status::Passed, "2 checks");
    expect(DOUBLE, unit(5), Status::Failed, "T.test_a failed: AssertionError: 4 != 5 (test_f.py:9)");
    expect(DOUBLE, file("'''\n>>> f(2)\n4\n'''\n"), Status::Passed, "1 check");
    let notes = Tests::Source { name: "notes.md".to_owned(), text: "It doubles:\n\n    >>> f(2)\n    5\n".to_owned() };
    expect(DOUBLE, notes, Status::Failed, "f(2) gave 4, expected 5");
}

#[test]
fn the_module_under_test_can_be_imported_by_any_name() {
    expect(DOUBLE, file("from mine.doubling import f as g\nassert g(1) == 2\n"), Status::Passed, "1 check");
    expect(DOUBLE, file("import doubling as d\nassert d.f(1) == 2\n"), Status::Passed, "1 check");
    expect(
        DOUBLE,
        file("from doubling import halve\nassert halve(1) == 2\n"),
        Status::Error,
        "the code does not define `halve`, which the tests import (test_f.py:1)",
    );
}

#[test]
fn classes_of_the_user_are_no_tampering() {
    let program = "class P:\n    def __init__(self, x):\n        self.x = x\n    def __eq__(self, other):\n        return self.x == \
        getattr(other, 'x', other)\n\ndef f(x):\n    return P(2 * x)\n";
    let tests = file("assert f(1) == P(2)\nassert f(1) == 2\n");
    let Some(runner) = runner() else { return };
    let of_the_user = Trial { stub: Some(program.to_owned()), ..trial(program, tests, limits(20.0)) };
    assert_eq!(run(runner, &of_the_user).message, "2 checks");
    // The same class, which only the code defines, does not say what equals plain data.
    assert_eq!(run(runner, &Trial { stub: None, ..of_the_user }).status, Status::Failed);
    let data =
        "from dataclasses import dataclass\n@dataclass\nclass Q:\n    x: int\n\ndef f(x):\n    return Q(2 * x)\n";
    expect(data, file("assert f(1).x == 2\nassert f(1) == f(1)\nassert f(1) != 3\n"), Status::Passed, "3 checks");
    let library = "from fractions import Fraction\n\ndef f(x):\n    return Fraction(2 * x)\n";
    expect(library, file("assert f(1) == 2\n"), Status::Passed, "1 check");
}

#[test]
fn code_that_reaches_for_what_nobody_asked_for_is_marked() {
    let Some(runner) = runner() else { return };
    let judged = |program: &str, tests: &str, stub: Option<&str>| {
        run(runner, &Trial { stub: stub.map(str::to_owned), ..trial(program, file(tests), limits(20.0)) })
    };
    let (alone, inspected) = ("assert f(1) == 2\n", "import inspect\nassert inspect.isfunction(f)\nassert f(1) == 2\n");
    let honest = judged(DOUBLE, alone, None);
    assert_eq!((honest.status, honest.mark), (Status::Passed, None));
    // In two processes a mark is all: frames of the worker lead nowhere.
    let walks = "import sys\n\ndef f(x):\n    sys._getframe()\n    return 2 * x\n";
    let verdict = judged(walks, alone, None);
    let mark = "the code uses `_getframe` (the frames of its callers), which nothing asked for";
    assert_eq!((verdict.status, verdict.mark.as_deref()), (Status::Passed, Some(mark)));
    assert_eq!((verdict.message.as_str(), verdict.words()), ("1 check", format!("1 check; {mark}")));
    // In one process they lead to the judge, who sees it; and what could end it is no pass even if it did not.
    assert_eq!(judged(walks, inspected, None).status, Status::Tampered);
    let verdict = judged("import os\n\ndef f(x):\n    return 2 * x if x < 9 else os._exit(0)\n", inspected, None);
    let mark = "the code uses `_exit` (the end of the process), which nothing asked for";
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Tampered, mark));
    // What has a right use is a mark there, too, unless the user's own file has it.
    let reads = "import os\n\ndef f(x):\n    return 2 * x if os.environ else 0\n";
    let verdict = judged(reads, inspected, None);
    assert!(verdict.has_passed() && verdict.mark.is_some(), "{}", verdict.message);
    assert_eq!(
        judged(reads, inspected, Some("import os\nHOME = os.environ['HOME']\n\ndef f(x):\n    pass\n")).mark,
        None
    );
}

#[test]
fn tests_import_the_candidate_even_by_the_name_of_a_library() {
    expect(DOUBLE, file("from numbers import f\nassert f(2) == 4\n"), Status::Passed, "1 check");
    let failed = "n.f(2) gave 4, expected 5 (test_f.py:2)";
    expect(DOUBLE, file("import numbers as n\nassert n.f(2) == 5\n"), Status::Failed, failed);
}

#[test]
fn a_tests_file_that_does_not_parse_is_refused_beforehand() {
    let Some(runner) = runner() else { return };
    let error = runner
        .check_tests(&Tests::Source { name: "test_f.py".into(), text: "assert f(1) == 2\nassert (\n".into() })
        .unwrap_err();
    assert!(matches!(error, TrialError::TestsDoNotParse(_)));
    assert!(error.to_string().starts_with("tests file test_f.py, line 2: "), "{error}");
    let said = error.to_string().replace("line 2", "line 1");
    runner.check_tests(&Tests::Source { name: "test_f.py".into(), text: "assert f(1) == 2\n".into() }).unwrap();
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
    // SAFETY: with a null attribute, size 0 and the version flag the call only returns a number; prctl takes plain numbers.
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
