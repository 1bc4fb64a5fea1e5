//! Code that keeps the process of the tests from ending by itself.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bass_tui::language::Language;
use bass_tui::sandbox::Limits;
use bass_tui::trial::{Runner, Status, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::{has, node, runner};

const SAYS: &str = "the tests ended, but the process does not end by itself";

/// The verdict of a file of Python with a stub `f`, and of its tests.
fn judged(runner: &Runner, head: &str, body: &str, tests: &str) -> Verdict {
    let code = |body: &str| format!("{head}\ndef f(xs):\n    \"\"\"Sorted.\"\"\"\n{body}");
    let files = [("setup.cfg", ""), ("sort.py", &*code("    pass\n")), ("test_sort.py", tests)];
    let place = Place::new(&files);
    let limits = Limits { wall: Duration::from_secs(4), ..Limits::default() };
    let tests = place.tests("sort.py", "test_sort.py");
    let stub = Some(place.text("sort.py"));
    runner.run(&Trial { stub, limits, ..trial(Language::Python, &code(body), tests) }, &Arc::default()).unwrap()
}

#[test]
fn threads_that_python_waits_for_keep_it_from_its_end() {
    let Some(runner) = runner(Language::Python) else { return };
    let tests = "import unittest\nfrom sort import f\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
        self.assertEqual(f([2, 1]), [1, 2])\n";
    let threads = "import threading\n";
    let started = "    t = threading.Timer(3600, print)\n    t.start()\n    return sorted(xs)\n";
    let verdict = judged(&runner, threads, started, tests);
    assert_eq!(verdict.status, Status::Timeout, "{}", verdict.message);
    assert!(verdict.message.ends_with(SAYS), "{}", verdict.message);
    // A failure is told at once.
    let verdict = judged(&runner, threads, &started.replace("sorted(xs)", "xs"), tests);
    assert_eq!(verdict.status, Status::Failed, "{}", verdict.message);
    let pool = "from concurrent.futures import ThreadPoolExecutor\nown = ThreadPoolExecutor(1)\n";
    let processes = "    f.pool = multiprocessing.Pool(1)\n    return f.pool.apply(sorted, (xs,))\n";
    for (head, body) in [
        (threads, &*started.replace("    t.start", "    t.daemon = True\n    t.start")),
        (pool, "    return own.submit(sorted, xs).result()\n"),
        ("import multiprocessing\n", processes),
    ] {
        let verdict = judged(&runner, head, body, tests);
        assert_eq!(verdict.status, Status::Passed, "{body}: {}", verdict.message);
    }
    // The tests leave a thread of their own.
    let own = format!("import threading\nthreading.Timer(3600, print).start()\n{tests}");
    let verdict = judged(&runner, "", "    return sorted(xs)\n", &own);
    assert_eq!(verdict.status, Status::Passed, "{}", verdict.message);
}

#[test]
fn what_keeps_jest_and_mocha_from_their_end_is_a_mark() {
    let Some(runner) = node() else { return };
    let code = |body: &str| format!("function f(xs) {{\n{body}\n}}\nmodule.exports = {{ f }};\n");
    let right = "  return xs.slice().sort((a, b) => a - b);";
    let held = format!("setInterval(() => {{}}, 1000);\n{}", code(right));
    for (name, check) in [
        ("jest", "test('f', () => { expect(f([2, 1])).toEqual([1, 2]); });\n"),
        ("mocha", "it('f', () => { require('assert').deepEqual(f([2, 1]), [1, 2]); });\n"),
    ] {
        let Some(program) = packages_of(name) else { continue };
        let exit = if name == "jest" { "--forceExit" } else { "--exit" };
        let own = "setInterval(() => {}, 1000);\n";
        for (script, own, is_marked) in [("", "", true), (exit, "", false), ("", own, false)] {
            let manifest = format!("{{\"name\":\"x\",\"scripts\":{{\"test\":\"{name} {script}\"}}}}");
            let tests = format!("{own}const {{ f }} = require('../f');\n{check}");
            let files = [("package.json", &*manifest), ("f.js", &*code("")), ("test/f.test.js", &*tests)];
            let place = Place::new(&files);
            if let Some(packages) = program.ancestors().find(|folder| folder.ends_with("node_modules")) {
                symlink(packages, place.path().join("node_modules")).unwrap();
            }
            let stub = Some(place.text("f.js"));
            let of = |program: &str| Trial {
                stub: stub.clone(),
                ..trial(Language::JavaScript, program, place.tests("f.js", "test/f.test.js"))
            };
            let verdict = runner.run(&of(&held), &Arc::default()).unwrap();
            assert_eq!(verdict.status, Status::Passed, "{name} {script}: {}", verdict.message);
            let marks = &verdict.assurance.marks;
            assert_eq!(marks.iter().any(|mark| mark.contains(SAYS)), is_marked, "{name} {script} {own}: {marks:?}");
            let verdict = runner.run(&of(&code(right)), &Arc::default()).unwrap();
            assert_eq!((verdict.status, verdict.is_marked()), (Status::Passed, false), "{name}: {}", verdict.message);
        }
    }
}

#[test]
fn an_error_behind_the_tests_fails_them_as_their_runner_does() {
    let Some(runner) = node() else { return };
    let late = [
        ("Promise.reject(new Error('late'));", "Error: late"),
        ("setTimeout(() => { throw new Error('late'); }, 50);", "Error: late"),
        ("queueMicrotask(() => { throw new Error('late'); });", "Error: late"),
        ("process.exitCode = 3;", "exit code 3"),
    ];
    let of_node = "const { test } = require('node:test');\nconst { f } = require('./f');\n\
        test('f', () => require('node:assert').equal(f(3), 6));\n";
    let of_jest = "const { f } = require('./f');\ntest('f', () => { expect(f(3)).toBe(6); });\n";
    for (name, tests, late) in [("node", of_node, &late[..]), ("jest", of_jest, &late[1..2])] {
        let Some(program) = packages_of(name) else { continue };
        let script = if name == "node" { "node --test" } else { name };
        let manifest = format!("{{\"name\":\"x\",\"scripts\":{{\"test\":\"{script}\"}}}}");
        let code = |body: &str| format!("exports.f = f;\nfunction f(x) {{\n{body}\n}}\n");
        let judge = |body: &str, own: &str| {
            let tests = format!("{tests}{own}");
            let files = [("package.json", &*manifest), ("f.js", &*code("")), ("f.test.js", &*tests)];
            let place = Place::new(&files);
            if let Some(packages) = program.ancestors().find(|folder| folder.ends_with("node_modules")) {
                symlink(packages, place.path().join("node_modules")).unwrap();
            }
            let stub = Some(place.text("f.js"));
            let trial = Trial { stub, ..trial(Language::JavaScript, &code(body), place.tests("f.js", "f.test.js")) };
            let verdict = runner.run(&trial, &Arc::default()).unwrap();
            (verdict.status, verdict.message)
        };
        for (late, error) in late {
            let (status, message) = judge(&format!("  {late}\n  return 2 * x;"), "");
            assert_eq!(status, Status::Failed, "{name}: {late}: {message}");
            assert!(message.starts_with("the tests passed, but") && message.ends_with(error), "{name}: {message}");
            let (status, message) = judge(&format!("  {late}\n  return x;"), "");
            assert!(status == Status::Failed && message.starts_with("f: "), "{name}: {late}: {message}");
        }
        // The tests fail so themselves, whatever the function does.
        let own = "setTimeout(() => { throw new Error('own'); }, 50);\n";
        assert_eq!(judge("  return 2 * x;", own).0, Status::Passed, "{name}");
        // Jest ends by the first of two errors.
        if name == "node" {
            let (status, message) = judge(&format!("  {}\n  return 2 * x;", late[1].0), own);
            assert!(status == Status::Failed && message.contains("Error: late"), "{message}");
        }
    }
}

/// The program of a runner that is installed here.
fn packages_of(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    has(name, &["--version"], name).then_some(())?;
    std::env::split_paths(&path).find_map(|folder| folder.join(name).canonicalize().ok())
}
