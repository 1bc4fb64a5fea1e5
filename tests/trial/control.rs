//! Tests let code pass only if they notice what the function does.

use bass_tui::language::Language;
use bass_tui::trial::{Status, Tests, Trial};

use super::runners::{run, runner};
use super::verdicts::{file, limits};

/// Status and message of tests on a function whose stub is known.
#[track_caller]
fn expect(language: Language, program: &str, tests: Tests, status: Status, message: &str) {
    let Some(runner) = runner(language) else { return };
    let (file, entry_point) = (Some("doubling.py".into()), Some("f".to_owned()));
    let (program, stub) = (program.to_owned(), Some(program.to_owned()));
    let trial = Trial { language, program, file, entry_point, line: None, tests, stub, limits: limits(60.0) };
    // The second time it is known.
    for _ in 0..2 {
        let verdict = run(&runner, &trial);
        assert_eq!(verdict.status, status, "{}", verdict.message);
        assert!(verdict.message.contains(message), "{}", verdict.message);
    }
}

const UNNOTICED: &str = "these tests do not notice `f`";

#[test]
fn python() {
    let test = |lines: &str| {
        let lines = lines.replace('\n', "\n        ");
        file(&format!(
            "from unittest import mock\n\ndef test_f():\n    with mock.patch('time.sleep'):\n        {lines}\n"
        ))
    };
    let program = "def f(x):\n    return 2 * x\n";
    let told = |lines, status, message| expect(Language::Python, program, test(lines), status, message);
    told("assert f(3) == 6", Status::Passed, "1 test");
    told("assert len([1, 2]) == 2", Status::NotRun, UNNOTICED);
    told("f(3)\nassert len([1, 2]) == 2", Status::Passed, "with a body that returns nothing");
}

#[test]
fn rust() {
    let program = "fn f(x: i32) -> i32 {\n    2 * x\n}\n";
    let test = |line: &str| Tests::text("t.rs", &format!("#[test]\nfn it_works() {{\n    {line}\n}}\n"));
    let told = |line, status, message| expect(Language::Rust, program, test(line), status, message);
    told("assert_eq!(super::f(3), 6);", Status::Passed, "1 test");
    told("assert_eq!(1 + 1, 2);", Status::NotRun, UNNOTICED);
    // Tests that only call it notice that it panics, and no more.
    for line in ["super::f(3);", "assert_eq!(super::f(0), 0);"] {
        told(line, Status::Passed, "with a body that returns default values");
    }
}

#[test]
fn go() {
    let test = |condition: &str| {
        let check = format!("if {condition} {{\n\t\tt.Fatal()\n\t}}");
        Tests::text(
            "f_test.go",
            &format!("package main\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {{\n\t{check}\n}}\n"),
        )
    };
    // The import is used only in the function.
    let program = "package main\n\nimport \"strings\"\n\nfunc f(x string) (found bool, err error) {\n\treturn strings.Contains(x, \"a\"), nil\n}\n";
    let told = |condition, status, message| expect(Language::Go, program, test(condition), status, message);
    told("found, _ := f(\"a\"); !found", Status::Passed, "1 test");
    told("found, _ := f(\"b\"); found", Status::Passed, "with a body that returns zero values");
    told("1 > 2", Status::NotRun, UNNOTICED);
}
