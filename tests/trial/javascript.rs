//! JavaScript and TypeScript without a project: right code passes under node, jest or vitest, and the names
//! of the program reach tests that import nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Tests, Trial, Verdict};

use super::python::{in_parallel, word};
use super::runner::{has, node};
use super::runners::{run, runner};
use super::verdicts::limits;

/// A file with a program, headers in its first lines, and tests.
struct Case {
    name: String,
    program: String,
    tests: String,
}

impl Case {
    fn all() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everyday/javascript");
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= 50, "programs are missing");
        let read = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let (program, tests) = text.split_once("// --- tests ---\n").unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            Self { name, program: program.to_owned(), tests: tests.to_owned() }
        };
        paths.iter().map(read).collect()
    }

    /// A line `// KEY: value` of the program.
    fn header(&self, key: &str) -> Option<&str> {
        self.program.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
    }

    fn judge(&self, runner: &Runner) -> Verdict {
        let trial = trial(&self.program, (self.header("name").unwrap_or("t.js"), &self.tests));
        let entry_point = Some(self.header("entry").unwrap_or("f").to_owned());
        let file = Some(self.header("file").unwrap_or("doubling.js").into());
        run(runner, &Trial { entry_point, file, ..trial })
    }
}

fn trial(program: &str, (name, tests): (&str, &str)) -> Trial {
    let mut limits = limits(30.0);
    limits.memory = 512 << 20;
    Trial {
        language: Language::JavaScript,
        program: program.to_owned(),
        file: Some("doubling.js".into()),
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::text(name, tests),
        stub: None,
        limits,
    }
}

#[test]
fn everyday_javascript_passes() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let mut cases = Case::all();
    cases.retain(|case| case.header("runner").is_none_or(|name| has(name, &["--version"], name)));
    let complaints = in_parallel(&cases, |case| {
        let verdict = case.judge(&runner);
        let (found, expected) = (word(verdict.status), case.header("expect").unwrap());
        (found != expected).then(|| {
            format!("{}: expected {expected}, found {found}: {} {}", case.name, verdict.message, verdict.output)
        })
    });
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

const DOUBLE: &str = "function f(x) {\n    return 2 * x;\n}\n";

#[test]
fn the_verdict_names_the_runner() {
    let Some(runner) = node() else { return };
    let with = "const test = require('node:test');\ntest('doubles', () => require('node:assert').equal(f(2), 4));\n";
    for (tests, name) in [(with, "node:test"), ("console.assert(f(2) === 4);\n", "a plain script")] {
        let verdict = run(&runner, &trial(DOUBLE, ("t.test.js", tests)));
        assert_eq!((verdict.status, verdict.assurance.runner.as_str()), (Status::Passed, name), "{}", verdict.message);
    }
}

/// Status and message of a program and its tests.
#[track_caller]
fn expect(program: &str, (name, tests): (&str, &str), status: Status, message: &str) {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let verdict = run(&runner, &trial(program, (name, tests)));
    assert_eq!((verdict.status, verdict.message.as_str()), (status, message), "{}", verdict.output);
}

#[test]
fn plain_scripts_say_what_they_saw() {
    let say = |program: &str, tests: &str, status, message| expect(program, ("t.js", tests), status, message);
    say(DOUBLE, "assert(f(1) === 2);\nassert.equal(f(2), 4);\nconsole.assert(f(3) === 6);\n", Status::Passed, "1 test");
    say(DOUBLE, "\nassert.equal(f(2), 5, 'why');\n", Status::Failed, "why (t.js:2)");
    say(DOUBLE, "console.assert(f(1) === 3)", Status::Failed, "console.assert does not hold (t.js:1)");
    let throws = "function f(x) {\n    throw new TypeError('no');\n}\n";
    say(throws, "assert(f(1) === 2)", Status::Failed, "no (t.js:1)");
    say(DOUBLE, "assert(g(1))", Status::Failed, "g is not defined (t.js:1)");
    let later = "async function f(x) {\n    return 2 * x;\n}\n";
    let awaits = "const test = async () => {\n  console.assert((await f(3)) === 6);\n};\n\ntest();\n";
    say(later, awaits, Status::Passed, "1 test");
    let failed = "console.assert does not hold (t.js:2)";
    say(&later.replace('2', "3"), awaits, Status::Failed, failed);
    say(DOUBLE, "throw new Error('never');", Status::Failed, "never (t.js:1)");
}

#[test]
fn the_values_of_a_comparison_are_told_in_one_line() {
    let say = |tests: &str, message: &str| {
        expect("function f(x) {\n    return [x];\n}\n", ("t.js", tests), Status::Failed, message);
    };
    say("assert.deepStrictEqual(f('hi'), ['\"hi\"']);\n", "got [ 'hi' ], expected [ '\"hi\"' ] (t.js:1)");
    let long = "const words = 'w '.repeat(90);\nassert.deepEqual(f(words), [`${words}x`]);\n";
    let words = "w ".repeat(10);
    say(long, &format!("got …{words}' ], expected …{words}x' ] (t.js:2)"));
    say("assert.deepEqual(f({ a: 1 }), [{ a: 2 }]);\n", "got [ { a: 1 } ], expected [ { a: 2 } ] (t.js:1)");
}

#[test]
fn styles_of_tests_are_found() {
    let multipl = "const assert = require('node:assert');\nfunction test() {\n  let candidate = f;\n  \
        assert.deepEqual(candidate([1]),[2]);\n}\ntest();\n";
    expect("const f = (xs) => xs.map((x) => 2 * x);", ("t.js", multipl), Status::Passed, "1 test");
    let x = "const testF = () => {\n    console.assert(f(2) === 4)\n    console.assert(f(3) === 6)\n}\n\ntestF()\n";
    expect(DOUBLE, ("t.js", x), Status::Passed, "1 test");
    let node = "import test, { describe, it } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { f } from './doubling.js';\n\
        test('a', async () => { assert.equal(f(1), 2); });\ndescribe('b', () => { it('c', () => assert.equal(f(3), 7)); });\n";
    let exported = format!("export {DOUBLE}");
    let failed = "b > c: Expected values to be strictly equal: 6 !== 7 (t.mjs:5)";
    expect(&exported, ("t.mjs", node), Status::Failed, failed);
    expect(&exported, ("t.mjs", &node.replace('7', "6")), Status::Passed, "2 tests");
    let words =
        "describe('f', () => {\n  it('doubles', () => assert.equal(f(3), 6));\n  it.skip('is left', () => {});\n});\n";
    for program in [DOUBLE, &exported] {
        expect(program, ("t.js", words), Status::Passed, "1 test");
    }
    expect(&DOUBLE.replace('2', "3"), ("t.js", words), Status::Failed, "f > doubles: 9 == 6 (t.js:2)");
    expect(
        DOUBLE,
        ("t.js", "function check(candidate) {\n  assert(candidate(2) === 4);\n}\n"),
        Status::Passed,
        "1 test",
    );
    expect(
        &DOUBLE.replace('2', "3"),
        ("t.js", "const check = (candidate) => {\n  assert.equal(candidate(2), 4);\n};\n"),
        Status::Failed,
        "6 == 4 (t.js:2)",
    );
}

#[test]
fn typescript_runs_without_its_types() {
    let Some(runner) = runner(Language::TypeScript) else { return };
    let judge = |program: &str, tests: &str| {
        let file = Some("doubling.ts".into());
        let verdict = run(&runner, &Trial { language: Language::TypeScript, file, ..trial(program, ("t.ts", tests)) });
        (verdict.status, verdict.message)
    };
    let double = "interface Pair { x: number; y?: number }\nexport function f(p: Pair): number {\n    return 2 * p.x + (p.y as number ?? 0);\n}\n";
    let tests = "import assert from 'node:assert';\nimport { f } from './doubling.ts';\n\nconst pair: { x: number, y: number } = { x: 2, y: 3 };\n\
        assert.strictEqual(f(pair), 7);\n";
    assert_eq!(judge(double, tests), (Status::Passed, "1 test".to_owned()));
    let (status, message) = judge(&double.replace('2', "3"), tests);
    assert!(status == Status::Failed && message.contains("9 !== 7 (t.ts:5)"), "{message}");
    // Syntax that is more than a type has to be rewritten.
    let own = "export enum Colour { Red, Green }\nexport class Count {\n    constructor(private n: number) {}\n    next(): number { return ++this.n; }\n}\n";
    let tests = "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { Colour, Count } from './doubling.ts';\n\
        test('enum', () => assert.equal(Colour.Green, 1));\ntest('class', () => assert.equal(new Count(4).next(), 5));\n";
    assert_eq!(judge(own, tests), (Status::Passed, "2 tests".to_owned()));
    let multipl = "declare var require: any;\nconst assert = require('node:assert');\n\nfunction test() {\n  let candidate = f;\n  \
        assert.deepEqual(candidate(2), 4);\n}\n\ntest();\n";
    let plain = "function f(x: number): number {\n    return 2 * x;\n}\n";
    assert_eq!(judge(plain, multipl), (Status::Passed, "1 test".to_owned()));
    assert_eq!(judge(&plain.replace('2', "3"), multipl).0, Status::Failed);
    assert_ne!(judge("function f(x: number: string) {}\n", multipl).0, Status::Passed);
    assert_ne!(judge("function f(x: number): number { process.exit(0); }\n", multipl).0, Status::Passed);
}

#[test]
fn a_tests_file_that_does_not_parse_is_refused_before_anything_runs() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let tests = Tests::text("t.js", "assert(f(1) === 2);\nassert((;\n");
    let error = runner.check(Language::JavaScript, None, &tests).unwrap_err().to_string();
    assert!(error.starts_with("t.js: SyntaxError: ") && error.contains("(t.js:2)"), "{error}");
    let module = Tests::text("t.js", "import assert from 'assert';\nassert(await f(1));\n");
    runner.check(Language::JavaScript, None, &module).unwrap();
}

/// Tests whose runner is not installed are not run, and the verdict says how to install it.
#[test]
fn a_runner_that_is_missing_is_named_with_the_command_that_installs_it() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    for (name, tests) in [
        ("vitest", "import { expect, test } from 'vitest';\ntest('f', () => expect(1).toBe(1));\n"),
        ("mocha", "const { it } = require('mocha');\nit('f', () => {});\n"),
        ("jest", "test('f', () => expect(jest.fn()).toBe(1));\n"),
    ] {
        let is_here = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if is_here.is_ok_and(|end| end.success()) {
            continue;
        }
        let verdict = run(&runner, &trial("function f() {}\n", ("t.mjs", tests)));
        let command = format!("`npm install --save-dev {name}`");
        assert_eq!(verdict.status, Status::NotRun, "{}", verdict.message);
        assert!(verdict.message.contains(&command), "{}", verdict.message);
    }
}

/// A candidate's text stands alone: what it leaves open or ends hides no test.
#[test]
fn the_text_of_a_candidate_swallows_no_tests() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let wrong = "function f(x) {\n    return 0;\n}\n";
    for tests in ["console.assert(f(3) === 6);\n", "const assert = require('assert');\nassert.equal(f(3), 6);\n"] {
        for more in [
            "/*",
            "`",
            "if (false) {",
            "function g() {",
            "return;",
            "console.assert = () => {};",
            "globalThis.require = () => () => {};",
            "process.exitCode = 0;",
            "process.exit(0);",
            "throw undefined;",
            "module.exports = new Proxy({}, { get: () => () => {} });",
            "const assert = () => {};",
            "function test() {}",
        ] {
            let verdict = run(&runner, &trial(&format!("{wrong}{more}\n"), ("t.js", tests)));
            assert_ne!(verdict.status, Status::Passed, "{more}: {}", verdict.message);
        }
    }
    let verdict =
        run(&runner, &trial(&format!("const assert = () => {{}};\n{wrong}"), ("t.js", "assert(f(3) === 6);\n")));
    assert_ne!(verdict.status, Status::Passed, "{}", verdict.message);
}
