//! Single tests of a file, by name; and what keeps tests from being run whatever the candidate is.

use std::sync::Arc;

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Tests, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::runner;

/// A test of a file is judged, which is chosen by its name, and the file is the user's own.
fn judge(runner: &Runner, place: &Place, language: Language, (file, tests): (&str, &str), program: &str) -> Verdict {
    let of_place = |name: &str| place.path().join(name);
    let names = [of_place(tests).display().to_string()];
    let own = place.text(file);
    let (tests, _) = Tests::named(&names, language, Some(&of_place(file)), Some("f")).expect("tests of a project");
    let entry_point = Some(if language == Language::Go { "F" } else { "f" }.to_owned());
    let trial = Trial { stub: Some(own), entry_point, ..trial(language, program, tests) };
    runner.run(&trial, &Arc::default()).unwrap()
}

/// Each name with how many tests it is; of the function only one holds.
fn expect(language: Language, place: &Place, files: (&str, &str), program: &str, named: &[(&str, Result<&str, &str>)]) {
    let Some(runner) = runner(language) else { return };
    for (name, expected) in named {
        let verdict = judge(&runner, place, language, (files.0, &format!("{}::{name}", files.1)), program);
        let status = verdict.status;
        match *expected {
            Ok(tests) => assert_eq!((status, verdict.message.as_str()), (Status::Passed, tests), "{name}"),
            Err(message) => {
                assert_ne!(status, Status::Passed, "{name}");
                assert!(verdict.message.contains(message), "{name}: {}", verdict.message);
            }
        }
    }
}

#[test]
fn go() {
    let tests = "package calc\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tfor _, name := range []string{\"three\", \"the half/of it\"} {\n\t\t\
        t.Run(name, func(t *testing.T) {\n\t\t\tif F(3) != 6 {\n\t\t\t\tt.Fatal(\"no\")\n\t\t\t}\n\t\t})\n\t}\n}\n\n\
        func TestFails(t *testing.T) {\n\tif F(1) != 0 {\n\t\tt.Fatal(\"never\")\n\t}\n}\n";
    let calc = "package calc\n\nfunc F(x int) int {\n\treturn 2 * x\n}\n";
    let place = Place::new(&[("go.mod", "module example.com/calc\n"), ("calc.go", calc), ("calc_test.go", tests)]);
    let named = [
        ("TestF", Ok("3 tests")),
        ("TestF/three", Ok("2 tests")),
        ("TestF/the half/of it", Ok("2 tests")),
        ("TestF/four", Err("there is no test TestF/four in calc_test.go: it has TestF")),
        ("Test", Err("there is no test Test in calc_test.go: it has TestF, TestFails")),
        ("TestFails", Err("TestFails: calc_test.go:17: never")),
    ];
    expect(Language::Go, &place, ("calc.go", "calc_test.go"), calc, &named);
}

#[test]
fn node() {
    let tests = "import assert from 'node:assert';\nimport { describe, it } from 'node:test';\nimport { f } from './f.mjs';\nimport './more.mjs';\n\
        describe('f', () => {\n  it('doubles', () => assert.equal(f(3), 6));\n  it('fails', () => assert.equal(f(1), 0));\n});\n";
    let program = "export function f(x) {\n  return 2 * x;\n}\n";
    let place = Place::new(&[
        ("package.json", "{\"name\":\"doubling\"}\n"),
        ("f.mjs", program),
        ("more.mjs", ""),
        ("f.test.mjs", tests),
    ]);
    let named = [
        ("doubles", Ok("1 test")),
        ("f > doubles", Ok("1 test")),
        ("f", Err("f > fails: ")),
        ("double", Err("without the candidate either: there is no test \"double\"")),
    ];
    expect(Language::JavaScript, &place, ("f.mjs", "f.test.mjs"), program, &named);
}

#[test]
fn python() {
    if !crate::runner::has_pytest() {
        return crate::skip::for_want_of("pytest", "python3 -c 'import pytest' fails");
    }
    let tests = "import unittest\nfrom code_of_f import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
        self.assertEqual(f(3), 6)\n\n    def test_fails(self):\n        self.assertEqual(f(1), 0)\n";
    let program = "def f(x):\n    return 2 * x\n";
    let place = Place::new(&[("setup.cfg", ""), ("code_of_f.py", program), ("test_f.py", tests)]);
    let named = [
        ("T::test_f", Ok("1 test")),
        ("T", Err("test_fails")),
        ("T::test", Err("without the candidate either: there is no test T::test in test_f.py")),
    ];
    expect(Language::Python, &place, ("code_of_f.py", "test_f.py"), program, &named);
}

#[test]
fn rust() {
    let program = "pub fn f(x: u8) -> u8 {\n    2 * x\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() {\n        assert_eq!(super::f(3), 6);\n    }\n\n    \
        #[test]\n    fn fails() {\n        assert_eq!(super::f(1), 0);\n    }\n}\n";
    let manifest = "[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let place = Place::new(&[("Cargo.toml", manifest), ("src/lib.rs", program)]);
    let named = [
        ("doubles", Ok("1 test")),
        ("tests::doubles", Ok("1 test")),
        ("tests", Err("tests::fails: ")),
        ("double", Err("there is no test double in src/lib.rs: it has tests::doubles, tests::fails")),
    ];
    expect(Language::Rust, &place, ("src/lib.rs", "src/lib.rs"), program, &named);
}

#[test]
fn what_fails_without_the_candidate_is_not_its_fault() {
    let stub = "package calc\n\nimport \"strings\"\n\nfunc F(x string) string {\n\treturn \"\"\n}\n";
    let go = [
        ("calc.go", stub),
        (
            "calc_test.go",
            "package calc\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F(\"a\") != \"A\" {\n\t\tt.Fatal(\"no\")\n\t}\n}\n",
        ),
    ];
    let told = |files: &[(&str, &str)], language, names, program: &str| {
        let runner = runner(language)?;
        let verdict = judge(&runner, &Place::new(files), language, names, program);
        Some((verdict.status, verdict.message))
    };
    let right = stub.replace("\"\"", "strings.ToUpper(x)");
    let with = |go_mod| [&[("go.mod", go_mod)], &go[..]].concat();
    let names = ("calc.go", "calc_test.go");
    if let Some((status, message)) = told(&with("module example.com/calc\n\ngo one\n"), Language::Go, names, &right) {
        assert_eq!(status, Status::NotRun, "{message}");
        assert!(message.contains("without the candidate either: ") && message.contains("go.mod:3"), "{message}");
    }
    // An import that the candidate does not use is its own, though no body at all does not use it either.
    if let Some((status, message)) = told(&with("module example.com/calc\n"), Language::Go, names, stub) {
        assert_eq!(status, Status::Error, "{message}");
    }
    let program = "export function f(x) {\n  return 2 * x;\n}\n";
    let tests = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { f } from './f.mjs';\nimport './made/made.mjs';\n\
        test('f', () => assert.equal(f(3), 6));\n";
    let files = [("package.json", "{}\n"), ("f.mjs", program), ("f.test.mjs", tests)];
    if let Some((status, message)) = told(&files, Language::JavaScript, ("f.mjs", "f.test.mjs"), program) {
        assert_eq!(status, Status::NotRun, "{message}");
        assert!(message.contains("without the candidate either: ") && message.contains("made.mjs"), "{message}");
    }
    let files = [&files[..], &[("made/made.mjs", "")]].concat();
    if let Some((status, _)) =
        told(&files, Language::JavaScript, ("f.mjs", "f.test.mjs"), "export function f(x) {\n  retur\n")
    {
        assert_eq!(status, Status::Error, "what the candidate breaks itself is its fault");
    }
}
