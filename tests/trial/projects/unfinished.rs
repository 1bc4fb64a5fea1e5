//! Tests that reach another unfinished function of the user's.

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::{node, runner};

/// Judges the text with a body in the place of `PUT`, by the tests of a file.
fn judge(
    (runner, language): (&Runner, Language),
    place: &Place,
    (file, tests): (&str, &str),
    put: (&str, &str),
) -> Verdict {
    let own = place.text(file);
    let program = own.replacen(put.0, put.1, 1);
    assert_ne!(own, program);
    let entry_point = Some("Lru.put".to_owned());
    let trial = Trial { stub: Some(own), entry_point, ..trial(language, &program, place.tests(file, tests)) };
    place.judge(runner, &trial)
}

const REACHES: &str = "reaches `Lru.get`, which is unfinished as well";

#[test]
fn a_python_test_that_reaches_what_is_unfinished_says_nothing() {
    let Some(runner) = runner(Language::Python) else { return };
    let own = "class Lru:\n    def __init__(self, cap):\n        self.cap, self.d = cap, {}\n\n    def put(self, k, v):\n        raise NotImplementedError('put')\n\n    \
        def get(self, k):\n        raise NotImplementedError('get')\n";
    let of_both = "    def test_both(self):\n        c = Lru(1)\n        c.put('a', 1)\n        self.assertEqual(c.get('a'), 1)\n";
    let of_put = "\n    def test_put(self):\n        c = Lru(1)\n        c.put('a', 1)\n        self.assertEqual(c.d, {'a': 1})\n";
    let of_get = "    def test_get(self):\n        self.assertEqual(Lru(1).get('a'), None)\n";
    let head = "import unittest\nfrom lru import Lru\n\n\nclass T(unittest.TestCase):\n";
    let put = "raise NotImplementedError('put')";
    let right = "self.d[k] = v";
    for (tests, body, status) in [
        (of_both.to_owned(), right, Status::NotRun),
        (of_both.to_owned() + of_put, right, Status::NotRun),
        // A test that never calls it is left out, as always.
        (of_get.to_owned() + of_put, right, Status::Passed),
        (of_both.to_owned() + of_put, "self.d[k] = 2", Status::Failed),
        (of_both.to_owned(), "raise NotImplementedError", Status::Failed),
        // A function that the candidate writes beside it is its own.
        (
            of_both.to_owned(),
            "self.get = self.own\n\n    def own(self, k):\n        raise NotImplementedError",
            Status::Failed,
        ),
    ] {
        let place = Place::new(&[("pyproject.toml", ""), ("lru.py", own), ("test_lru.py", &format!("{head}{tests}"))]);
        let verdict = judge((&runner, Language::Python), &place, ("lru.py", "test_lru.py"), (put, body));
        assert_eq!(verdict.status, status, "{body}: {}", verdict.message);
        assert_eq!(verdict.message.contains(REACHES), status == Status::NotRun, "{body}: {}", verdict.message);
        assert_eq!(verdict.message.contains("test_both"), status == Status::NotRun || !tests.contains(of_put));
    }
}

#[test]
fn a_body_of_dots_that_a_failing_test_names_is_unfinished_too() {
    let Some(runner) = runner(Language::Python) else { return };
    let own = "class Lru:\n    def __init__(self):\n        self.d = {}\n\n    def put(self, k, v):\n        \"\"\"Puts.\"\"\"\n        ...\n\n    \
        def get(self, k):\n        \"\"\"Gets.\"\"\"\n        ...\n";
    let head = "import unittest\nfrom lru import Lru\n\n\nclass T(unittest.TestCase):\n";
    let of_both =
        "    def test_both(self):\n        c = Lru()\n        c.put('a', 1)\n        self.assertEqual(c.get('a'), 1)\n";
    let of_put =
        "    def test_put(self):\n        c = Lru()\n        c.put('a', 1)\n        self.assertEqual(c.d, {'a': 1})\n";
    // A method that does nothing may be meant to be so, beside a stub of another form.
    let (first, last) = own.rsplit_once("...").unwrap();
    let empty = format!("{first}pass{last}");
    for (own, tests, body, status) in [
        (own, of_both.to_owned(), "self.d[k] = v", Status::NotRun),
        (own, of_both.to_owned() + of_put, "self.d[k] = v", Status::NotRun),
        (own, of_both.to_owned() + of_put, "self.d[k] = 2", Status::Failed),
        (own, of_put.to_owned(), "self.d[k] = v", Status::Passed),
        (&empty, of_both.to_owned(), "self.d[k] = v", Status::Failed),
    ] {
        let place = Place::new(&[("pyproject.toml", ""), ("lru.py", own), ("test_lru.py", &format!("{head}{tests}"))]);
        let files = ("lru.py", "test_lru.py");
        let verdict = judge((&runner, Language::Python), &place, files, ("...", body));
        assert_eq!(verdict.status, status, "{body}: {}", verdict.message);
        assert_eq!(verdict.message.contains(REACHES), status == Status::NotRun, "{body}: {}", verdict.message);
    }
}

#[test]
fn a_javascript_test_that_reaches_what_is_unfinished_says_nothing() {
    let Some(runner) = node() else { return };
    let own = "export class Lru {\n  constructor(cap) {\n    this.cap = cap;\n    this.map = new Map();\n  }\n\n  put(key, value) {\n    throw new Error('put is not implemented');\n  }\n\n  \
        get(key) {\n    throw new Error('not implemented');\n  }\n}\n";
    let tests = "import test from 'node:test';\nimport assert from 'node:assert/strict';\nimport { Lru } from '../src/lru.js';\n\ntest('both', () => {\n  const c = new Lru(1);\n  c.put('a', 1);\n  \
        assert.equal(c.get('a'), 1);\n});\n";
    let of_put =
        "\ntest('put', () => {\n  const c = new Lru(1);\n  c.put('a', 1);\n  assert.equal(c.map.get('a'), 1);\n});\n";
    let package = ("package.json", "{\"type\":\"module\"}\n");
    let put = "throw new Error('put is not implemented');";
    for (more, body, status) in [
        ("", "this.map.set(key, value);", Status::NotRun),
        (of_put, "this.map.set(key, value);", Status::NotRun),
        (of_put, "this.map.set(key, 2);", Status::Failed),
        ("", "throw new Error('not implemented');", Status::Failed),
        // A message that looks like a call is none.
        ("", "throw new Error(`no\\n    at Lru.get (${import.meta.url}:12:5)`);", Status::Failed),
    ] {
        let place = Place::new(&[package, ("src/lru.js", own), ("test/lru.test.js", &format!("{tests}{more}"))]);
        let files = ("src/lru.js", "test/lru.test.js");
        let verdict = judge((&runner, Language::JavaScript), &place, files, (put, body));
        assert_eq!(verdict.status, status, "{body}: {}", verdict.message);
        assert_eq!(verdict.message.contains(REACHES), status == Status::NotRun, "{body}: {}", verdict.message);
    }
}
