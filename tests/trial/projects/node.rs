//! Tests of a JavaScript project, by name, with node's own runner.

use std::sync::Arc;

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Tests, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::{has, node};

const PACKAGE: (&str, &str) =
    ("package.json", "{\"name\":\"doubling\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}\n");
const HELPER: (&str, &str) = ("src/helper.js", "export const twice = (x) => 2 * x;\n");
const STUB: &str =
    "import { twice } from './helper.js';\n\nexport function f(x) {\n  throw new Error('not written');\n}\n";
const RIGHT: &str = "import { twice } from './helper.js';\n\nexport function f(x) {\n  return twice(x);\n}\n";
const TESTS: &str = "import assert from 'node:assert/strict';\nimport { describe, it, test } from 'node:test';\nimport { f } from '../src/f.js';\n\
    import { twice } from '../src/helper.js';\n\ntest('twice', () => assert.equal(twice(1), 2));\n\ndescribe('f', () => {\n  \
    it('doubles', () => {\n    assert.equal(f(3), 6);\n  });\n  it('doubles later', async (t) => {\n    await t.test('of 4', async () => assert.equal(await f(4), 8));\n  });\n  \
    it.skip('is left', () => {});\n});\n";

fn project(tests: &str) -> Place {
    Place::new(&[PACKAGE, HELPER, ("src/f.js", STUB), ("test/f.test.js", tests)])
}

fn judge(runner: &Runner, place: &Place, program: &str) -> Verdict {
    let tests = place.tests("src/f.js", "test/f.test.js");
    assert!(matches!(tests, Tests::Project(_)));
    place.judge(runner, &trial(Language::JavaScript, program, tests))
}

#[test]
fn node_tests_of_a_project_run_by_name() {
    let Some(runner) = node() else { return };
    let place = project(TESTS);
    let verdict = judge(&runner, &place, RIGHT);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "4 tests"), "{}", verdict.output);
    let verdict = judge(&runner, &place, &RIGHT.replace("twice(x)", "twice(x) + (x & 1)"));
    assert_eq!(verdict.status, Status::Failed);
    assert_eq!(verdict.message, "f > doubles: Expected values to be strictly equal: 7 !== 6 (f.test.js:10)");
    let verdict = judge(&runner, &place, &RIGHT.replace("twice(x)", "twice(x"));
    assert_eq!(verdict.status, Status::Error);
    assert_eq!(verdict.message, "SyntaxError: missing ) after argument list (f.js:4)");
    // Printed output is shown.
    assert!(judge(&runner, &place, &format!("console.log('hello');\n{RIGHT}")).output.contains("hello"));
    assert_eq!(
        judge(&runner, &place, &format!("{RIGHT}setInterval(() => {{}}, 1000).unref();\n")).status,
        Status::Passed
    );
}

/// A test that fails without ever calling the function is left out; one that may call it, and fails of a
/// function that throws as it does of the candidate, says nothing.
#[test]
fn what_fails_for_a_reason_of_its_own_is_not_the_candidates_fault() {
    let Some(runner) = node() else { return };
    let place = |more: &str| project(&format!("{TESTS}\n{more}"));
    let judge = |place: &Place, program: &str| {
        let tests = place.tests("src/f.js", "test/f.test.js");
        let stub = Some(STUB.to_owned());
        place.judge(&runner, &Trial { stub, ..trial(Language::JavaScript, program, tests) })
    };
    let wrong = RIGHT.replace("twice(x)", "twice(x) + 1");
    let own =
        "test('own', () => {\n  throw new Error('no server');\n});\ntest('more', () => assert.equal(twice(1), 3));\n";
    let place_of_own = place(own);
    let verdict = judge(&place_of_own, RIGHT);
    let left_out = "(left out, as they fail without calling the function: own, more; own says no server";
    let is_said = verdict.message.starts_with(&format!("4 tests {left_out}"));
    assert!(verdict.has_passed() && is_said, "{}: {}", verdict.message, verdict.output);
    let verdict = judge(&place_of_own, &wrong);
    assert!(verdict.status == Status::Failed && verdict.message.contains("f > doubles"), "{}", verdict.message);
    // It only looks at what another one has left.
    let leans = "let left;\ntest('calls', () => { left = f(5); });\ntest('leans', () => assert.equal(left, 10));\n";
    let direct = TESTS.replace("assert.equal(f(3), 6)", "f(3)").replace("assert.equal(await f(4), 8)", "await f(4)");
    let place_of_leaning = project(&format!("{direct}\n{leans}"));
    let verdict = judge(&place_of_leaning, RIGHT);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "6 tests"), "{}", verdict.output);
    for wrong in ["undefined", "7"] {
        let verdict = judge(&place_of_leaning, &RIGHT.replace("twice(x)", wrong));
        assert!(!verdict.has_passed() && verdict.message.contains("leans"), "{wrong}: {}", verdict.message);
    }
    // It calls the function, and swallows what that throws.
    let swallows = "test('swallows', () => {\n  let found = false;\n  try { found = f(5) === 11; } catch {}\n  assert.ok(found, 'not found');\n});\n";
    let place_of_both = place(&format!("{own}{swallows}"));
    let verdict = judge(&place_of_both, RIGHT);
    let is_said = verdict.message.starts_with("swallows: not found") && verdict.message.contains(left_out);
    assert!(verdict.status == Status::Failed && is_said, "{}", verdict.message);
    let verdict = judge(&place_of_both, &wrong);
    assert!(verdict.status == Status::Failed && verdict.message.contains("f > doubles"), "{}", verdict.message);
}

/// Tests that a wrong function passes do not decide because another one fails by itself.
#[test]
fn beside_a_test_that_is_left_out_the_others_have_to_notice_the_function() {
    let Some(runner) = node() else { return };
    let own = "test('is there', () => assert.equal(typeof f, 'function'));\ntest('own', () => {\n  throw new Error('no server');\n});\n";
    let place = project(&format!("{}{own}", TESTS.split_once("test(").expect("a test").0));
    let tests = place.tests("src/f.js", "test/f.test.js");
    let trial = trial(Language::JavaScript, RIGHT, tests);
    let function = Some("f".to_owned());
    let verdict = place.judge(&runner, &Trial { stub: Some(STUB.to_owned()), entry_point: function, ..trial });
    let said = "these tests do not notice `f`: they pass when it does nothing as well";
    assert!(verdict.status == Status::NotRun && verdict.message.starts_with(said), "{verdict:?}");
}

#[test]
fn a_test_whose_framework_catches_what_the_function_raises_judges_it() {
    let Some(runner) = node() else { return };
    let catches = "const answer = (x) => { try { return f(x) ?? 500; } catch { return 500; } };\ntest('answers', () => assert.equal(answer(3), 6));\n";
    let place = project(&format!("{}{catches}", TESTS.split_once("test(").expect("a test").0));
    let tests = place.tests("src/f.js", "test/f.test.js");
    for broken in ["throw new Error('broken')", "return undefined"] {
        let (stub, broken) = (Some(STUB.to_owned()), RIGHT.replace("return twice(x)", broken));
        let verdict = place.judge(&runner, &Trial { stub, ..trial(Language::JavaScript, &broken, tests.clone()) });
        assert!(verdict.status == Status::Failed && verdict.message.starts_with("answers: "), "{}", verdict.message);
    }
}

/// Without the function the hook fails, and the tests behind it do not run; a runner may name the hook or the
/// suite in their place.
#[test]
fn a_hook_that_calls_the_function_stands_for_its_tests() {
    let Some(runner) = node() else { return };
    let hook = "describe('hook', () => {\n  let found;\n  HOOK(() => { found = f(5); });\n  it('is right', () => assert.equal(found, 10));\n  \
                describe('inner', () => { it('is there', () => assert.ok(found)); });\n});\n";
    let head = "import assert from 'node:assert';\nimport { f } from '../src/f.js';\n";
    let runners = [
        ("node --test", "import { before, describe, it } from 'node:test';\n", "before"),
        ("mocha", "", "before"),
        ("vitest", "import { beforeAll, describe, it } from 'vitest';\n", "beforeAll"),
        ("bun test", "import { beforeAll, describe, it } from 'bun:test';\n", "beforeAll"),
    ];
    for (script, words, name) in runners {
        let program = script.split(' ').next().expect("a program");
        if !has(program, &["--version"], program) {
            continue;
        }
        let tests = format!("{head}{words}{}", hook.replace("HOOK", name));
        let settings = PACKAGE.1.replace("node --test", script);
        let place = Place::new(&[("package.json", &settings), HELPER, ("src/f.js", STUB), ("test/f.test.js", &tests)]);
        let judge = |program: &str| {
            let tests = place.tests("src/f.js", "test/f.test.js");
            place.judge(&runner, &Trial { stub: Some(STUB.to_owned()), ..trial(Language::JavaScript, program, tests) })
        };
        let right = judge(RIGHT);
        assert_eq!((right.status, right.message.as_str()), (Status::Passed, "2 tests"), "{script}: {}", right.output);
        let wrong = judge(&RIGHT.replace("twice(x)", "twice(x) + 1"));
        let is_said = wrong.message.starts_with("hook > is right: ");
        assert!(wrong.status == Status::Failed && is_said, "{script}: {}", wrong.message);
        let raises = judge(&RIGHT.replace("return twice(x)", "throw new Error('no such number')"));
        let is_said = raises.message.contains("no such number");
        let is_failed = [Status::Failed, Status::Error].contains(&raises.status);
        assert!(is_failed && is_said, "{script}: {}", raises.message);
    }
}

/// Each copy of a project lies elsewhere.
#[test]
fn titles_with_the_folder_of_the_project_are_the_same_in_each_copy() {
    let Some(runner) = node() else { return };
    let place = project(&format!("{TESTS}\ntest(`in ${{process.cwd()}}`, () => assert.equal(twice(4), 8));\n"));
    let verdict = judge(&runner, &place, RIGHT);
    assert!(verdict.has_passed() && !verdict.message.contains("flaky"), "{}", verdict.message);
}

#[test]
fn flaky_node_tests_are_left_out_and_named() {
    let Some(runner) = node() else { return };
    let flaky = "for (let i = 0; i < 24; i++) test(`flaky ${i}`, () => assert.ok(Math.random() < 0.5));\n";
    let place = project(&format!("{TESTS}{flaky}"));
    let verdict = judge(&runner, &place, &RIGHT.replace("twice(x)", "0"));
    assert_eq!(verdict.status, Status::Failed);
    assert!(verdict.message.contains("left out, as they are flaky: flaky "), "{}", verdict.message);
}

#[test]
fn node_candidates_that_end_or_forge_the_report_do_not_pass() {
    let Some(runner) = node() else { return };
    let place = project(TESTS);
    let record = "{\"nonce\":\"0\",\"tests\":[[\"twice\",\"passed\",\"\"],[\"f > doubles\",\"passed\",\"\"],[\"f > doubles later > of 4\",\"passed\",\"\"],[\"f > doubles later\",\"passed\",\"\"]],\"complaint\":\"\"}";
    let events = "console.log('TAP version 13\\nok 1 - twice\\nok 2 - f\\n1..2\\n# pass 4\\n# fail 0');\n";
    let wrong = RIGHT.replace("twice(x)", "0");
    let writes = format!(
        "import * as fs from 'node:fs';\nfor (let fd = 3; fd < 64; fd++) try {{ fs.writeSync(fd, '{record}\\n'); }} catch {{}}\n"
    );
    // Whoever finds the reporter calls it with a story of its own.
    let calls = "import { createRequire } from 'node:module';\nconst flag = process.execArgv.find((word) => word.endsWith('report.cjs')).replace('--test-reporter=', '');\n\
        const report = createRequire(import.meta.url)(flag);\nasync function* story() {\n  for (const [nesting, name] of [[0, 'twice'], [0, 'f'], [1, 'doubles'], [1, 'doubles later'], [2, 'of 4']]) {\n    \
        yield { type: 'test:start', data: { nesting, name } };\n    if (name !== 'f') yield { type: 'test:pass', data: { nesting, name, details: { type: 'test' } } };\n  }\n}\n\
        for await (const _ of report(story())) break;\nprocess.exit(0);\n";
    let cases = [
        ("exits at its start", format!("process.exit(0);\n{wrong}")),
        ("exits in the test", wrong.replace("return 0", "process.exit(0)")),
        ("really exits", wrong.replace("return 0", "process.reallyExit(0)")),
        ("prints a report and exits", format!("{events}process.exit(0);\n{wrong}")),
        ("prints a report in the test", wrong.replace("return 0", &format!("{} process.exit(0)", events.trim()))),
        ("writes a report and exits", format!("{writes}process.exit(0);\n{wrong}")),
        ("writes a report", format!("{writes}{wrong}")),
        ("calls the reporter", format!("{calls}{wrong}")),
        (
            "replaces the checks",
            format!(
                "import assert from 'node:assert';\nfor (const one of [assert, assert.strict]) try {{ one.equal = one.strictEqual = () => {{}}; }} catch {{}}\n{wrong}"
            ),
        ),
        (
            "replaces what is written",
            format!(
                "for (const one of [Array, Object, String]) one.prototype.toJSON = () => 'passed';\nconst own = JSON.stringify;\nJSON.stringify = (x) => own(x).replaceAll('failed', 'passed');\nString.prototype.slice = () => ({{ toJSON: () => 'x' }});\n{wrong}"
            ),
        ),
        ("never settles", wrong.replace("return 0", "return new Promise(() => {})")),
        (
            "lets the tests vanish",
            format!("import test from 'node:test';\ntest.only('mine', () => {{}});\nprocess.exitCode = 0;\n{wrong}"),
        ),
    ];
    for (what, program) in &cases {
        let verdict = judge(&runner, &place, program);
        assert_ne!(verdict.status, Status::Passed, "{what}: {}", verdict.message);
        assert_ne!(verdict.status, Status::Error, "{what}: {} {}", verdict.message, verdict.output);
    }
    // A module of the older kind can be read while it is changed.
    let older = Place::new(&[
        ("package.json", "{}"),
        ("src/helper.js", "exports.twice = (x) => 2 * x;\n"),
        ("src/f.js", "exports.f = () => 0;\n"),
        (
            "test/f.test.js",
            "const { f } = require('../src/f.js');\nrequire('../src/helper.js');\nconst { it } = require('node:test');\n\
                it('doubles', () => require('node:assert').equal(f(3), 6));\n",
        ),
    ]);
    let replaces = "const test = require('node:test');\nconst own = test.it;\ntest.it = (name) => own(name, () => {});\nexports.f = () => 0;\n";
    let verdict = judge(&runner, &older, replaces);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Failed, "doubles: 0 == 6 (f.test.js:4)"));
    let edits = "import * as fs from 'node:fs';\nfs.writeFileSync('test/f.test.js', '');\n";
    let verdict = judge(&runner, &place, &format!("{edits}{RIGHT}"));
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Tampered, "the code changed test/f.test.js"));
    assert_eq!(judge(&runner, &place, RIGHT).status, Status::Passed, "others have left nothing behind");
}

/// Events of mocha as its reporter got them.
const MOCHA: &str = include_str!("../../data/runners/mocha.json");

#[test]
fn other_runners_get_our_reporter_and_are_read_by_what_they_once_said() {
    let Some(runner) = node() else { return };
    let recorded = [
        (
            "jest",
            include_str!("../../data/runners/jest.json"),
            "jest --watch --config own.json",
            "f > doubles: Error: expect(received).toBe(expected) // Object.is equality Expected: 6 Received: 7 (f.test.js:6)",
        ),
        (
            "vitest",
            include_str!("../../data/runners/vitest.json"),
            "vitest",
            "f > doubles: expected 7 to be 6 // Object.is equality (f.test.js:7)",
        ),
        ("mocha", MOCHA, "mocha --ui=bdd", "f > doubles: 7 == 6 (f.test.js:7)"),
        ("mocha 5", MOCHA, "mocha --ui=bdd", "f > doubles: 7 == 6 (f.test.js:7)"),
    ];
    for (which, recorded, script, complaint) in recorded {
        let manifest = format!("{{\"scripts\":{{\"test\":\"{script}\"}}}}");
        let (name, bin, program) = match which {
            "mocha 5" => {
                ("mocha", r#"{"version":"5.2.0","bin":{"mocha":"./none","_mocha":"./_mocha"}}"#.to_owned(), "_mocha")
            }
            name => (name, format!("{{\"bin\":{{\"{name}\":\"./run.cjs\"}}}}"), "run.cjs"),
        };
        let folder = format!("node_modules/{name}");
        let place = Place::new(&[
            ("package.json", manifest.as_str()),
            ("src/helper.js", "exports.twice = (x) => 2 * x;\n"),
            ("src/f.js", "exports.f = () => 0;\n"),
            ("test/f.test.js", "const { f } = require('../src/f');\nconst { twice } = require('../src/helper');\n"),
            (&format!("{folder}/package.json"), &bin),
            (&format!("{folder}/{program}"), include_str!("../../data/runners/stand_in.cjs")),
            (&format!("{folder}/recorded.json"), recorded),
        ]);
        let right = "const { twice } = require('./helper');\nexports.f = (x) => twice(x);\n";
        let verdict = judge(&runner, &place, right);
        assert_eq!(
            (verdict.status, verdict.message.as_str()),
            (Status::Passed, "4 tests"),
            "{which}: {}",
            verdict.output
        );
        let verdict = judge(&runner, &place, &right.replace("twice(x)", "7"));
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Failed, complaint), "{which}");
        assert_eq!(judge(&runner, &place, &format!("{right}process.exit(0);\n")).status, Status::Killed, "{which}");
        std::fs::remove_file(place.path().join(&folder).join(program)).unwrap();
        let tests = place.tests("src/f.js", "test/f.test.js");
        let verdict = runner.run(&trial(Language::JavaScript, right, tests), &Arc::default()).unwrap();
        let said = format!("there is no node_modules/{name}");
        assert!(verdict.status == Status::NotRun && verdict.message.contains(&said), "{}", verdict.message);
    }
}

/// Module that each runner is told to load before the tests, which only import the candidate.
#[test]
fn what_a_runner_loads_before_tests_is_there() {
    let Some(runner) = node() else { return };
    let set_up = "globalThis.twice = (x) => 2 * x;\n";
    let older = "const { f } = require('../src/f.js');\ntest('doubles', () => expect(f(3)).toBe(twice(3)));\n";
    let newer = "import { f } from '../src/f.js';\ntest('doubles', () => expect(f(3)).toBe(twice(3)));\n";
    let hooked = "const assert = require('assert');\nconst { f } = require('../src/f.js');\n\
        it('doubles', () => assert.equal(f(three), 6));\n";
    for (name, settings, set_up, tests, right) in [
        (
            "jest",
            ("package.json", "{\"scripts\":{\"test\":\"jest\"},\"jest\":{\"setupFiles\":[\"./setup.js\"]}}"),
            ("setup.js", set_up),
            older,
            "exports.f = f;\nfunction f(x) {\n  return 2 * x;\n}\n",
        ),
        (
            "vitest",
            ("vitest.config.mjs", "export default { test: { globals: true, setupFiles: ['./setup.js'] } };\n"),
            ("setup.js", set_up),
            newer,
            "export function f(x) {\n  return 2 * x;\n}\n",
        ),
        (
            "mocha",
            (".mocharc.json", "{\"require\":\"./hooks.cjs\"}"),
            ("hooks.cjs", "exports.mochaHooks = { beforeEach() { globalThis.three = 3; } };\n"),
            hooked,
            "exports.f = f;\nfunction f(x) {\n  return 2 * x;\n}\n",
        ),
        // Options of node among its settings.
        (
            "mocha",
            (".mocharc.json", "{\"node-option\":[\"require=./set.cjs\"]}"),
            ("set.cjs", "globalThis.three = 3;\n"),
            hooked,
            "exports.f = f;\nfunction f(x) {\n  return 2 * x;\n}\n",
        ),
    ] {
        if !has(name, &["--version"], name) {
            continue;
        }
        let manifest = format!("{{\"scripts\":{{\"test\":\"{name}\"}}}}");
        let stub = right.replace("2 * x", "0");
        let files = [("package.json", &*manifest), settings, set_up, ("src/f.js", &stub), ("test/f.test.js", tests)];
        let place = Place::new(&files);
        let verdict = judge(&runner, &place, right);
        assert_eq!(
            (verdict.status, verdict.message.as_str()),
            (Status::Passed, "1 test"),
            "{name}: {}",
            verdict.output
        );
        let verdict = judge(&runner, &place, &right.replace("2 * x", "3 * x"));
        assert_eq!(verdict.status, Status::Failed, "{name}: {}", verdict.message);
    }
}

#[test]
fn what_keeps_jest_from_loading_the_tests_is_said() {
    let Some(runner) = node() else { return };
    if !has("jest", &["--version"], "jest") {
        return;
    }
    let place = Place::new(&[
        ("package.json", "{\"scripts\":{\"test\":\"jest\"},\"jest\":{\"transform\":{\"js$\":\"./made.cjs\"}}}"),
        ("made.cjs", "throw new Error('no native part');\n"),
        ("src/f.js", "exports.f = f;\nfunction f(x) {\n  return 0;\n}\n"),
        ("test/f.test.js", "const { f } = require('../src/f.js');\ntest('f', () => expect(f(3)).toBe(6));\n"),
    ]);
    let verdict = judge(&runner, &place, "exports.f = f;\nfunction f(x) {\n  return 2 * x;\n}\n");
    assert!(verdict.status != Status::Passed && verdict.message.contains("no native part"), "{verdict:?}");
}

/// Jest puts the error below a page of advice.
#[test]
fn a_candidate_that_jest_cannot_read_gets_its_syntax_error_with_the_line() {
    let Some(runner) = node() else { return };
    if !has("jest", &["--version"], "jest") {
        return;
    }
    for (settings, expected) in [
        ("{}", "SyntaxError: src/f.js: Unexpected token (3:12)"),
        ("{\"transform\":{}}", "SyntaxError: Unexpected token ';' (src/f.js:3)"),
    ] {
        let manifest = format!("{{\"scripts\":{{\"test\":\"jest\"}},\"jest\":{settings}}}");
        let place = Place::new(&[
            ("package.json", &*manifest),
            ("src/f.js", "exports.f = f;\nfunction f(x) {\n  return 0;\n}\n"),
            ("test/f.test.js", "const { f } = require('../src/f.js');\ntest('f', () => expect(f(3)).toBe(6));\n"),
        ]);
        let verdict = judge(&runner, &place, "exports.f = f;\nfunction f(x) {\n  return x +;\n}\n");
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Error, expected));
    }
}

/// Stands in for a package that makes node read TypeScript: it knows one type.
const LOADER: &str = "const { readFileSync } = require('node:fs');\nrequire.extensions['.ts'] = (module, file) => \
    module._compile(readFileSync(file, 'utf8').replaceAll(': number', ''), file);\n";

#[test]
fn typescript_runs_under_what_its_project_has_whatever_node_can_do() {
    let Some(runner) = node() else { return };
    let tests = "const { it } = require('node:test');\nconst { f } = require('../src/f.ts');\nconst { twice } = require('../src/helper.ts');\n\n\
        it('doubles', () => require('node:assert').equal(f(3), twice(3)));\n";
    let right = "exports.f = (x: number) => 2 * x;\n";
    // A workspace: what is installed lies above the package, and a manifest without a name below it.
    let files = [
        ("package.json", "{\"workspaces\":[\"packages/*\"]}"),
        (
            "packages/one/package.json",
            "{\"name\":\"one\",\"scripts\":{\"test\":\"npm run check && npm run unit\",\"check\":\"other -c src\",\"unit\":\"node -r ./setup.js --test\"}}",
        ),
        ("packages/one/setup.js", "globalThis.isSetUp = true;\n"),
        ("packages/one/test/package.json", "{\"type\":\"commonjs\"}"),
        ("packages/one/test/f.test.ts", tests),
        ("packages/one/src/f.ts", "exports.f = (x: number) => 0;\n"),
        (
            "packages/one/src/helper.ts",
            "if (!isSetUp) throw new Error('too early');\nexports.twice = (x: number) => 2 * x;\n",
        ),
    ];
    let loader = [
        ("node_modules/ts-node/package.json", "{\"main\":\"register.js\"}"),
        ("node_modules/ts-node/register.js", LOADER),
    ];
    let setup = [("packages/one/setup.js", "globalThis.isSetUp = true;\nrequire('ts-node');\n")];
    let files: Vec<_> = files.into_iter().chain(loader).chain(setup).collect();
    let place = Place::new(&files);
    let (file, tests) = ("packages/one/src/f.ts", "packages/one/test/f.test.ts");
    let judge = |place: &Place, program: &str| {
        place.judge(&runner, &trial(Language::TypeScript, program, place.tests(file, tests)))
    };
    let verdict = judge(&place, right);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
    assert_eq!(judge(&place, &right.replace("2 *", "3 *")).status, Status::Failed);
    // Installed, and not named by a script.
    let script = ("packages/one/package.json", "{\"name\":\"one\"}");
    let helper = ("packages/one/src/helper.ts", "exports.twice = (x: number) => 2 * x;\n");
    let files: Vec<_> = files.into_iter().chain([script, helper]).collect();
    let verdict = judge(&Place::new(&files), right);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
}

/// Runners ask for it while they wait for a thread's answer, which would then never come.
#[test]
fn threads_of_tests_learn_how_much_memory_they_use() {
    let Some(runner) = node() else { return };
    let asks = "const asked = \"require('worker_threads').parentPort.postMessage(process.memoryUsage().heapUsed > 0)\";\n\
        test('asks', () => new Promise((resolve, reject) => {\n  const thread = new Worker(asked, { eval: true, execArgv: [] });\n  \
        thread.on('message', resolve);\n  thread.on('error', reject);\n}));\n";
    let place = project(&format!("import {{ Worker }} from 'node:worker_threads';\n{TESTS}{asks}"));
    let verdict = judge(&runner, &place, RIGHT);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "5 tests"), "{}", verdict.output);
}

/// No argument of a program can hold a NUL.
#[test]
fn titles_may_hold_a_nul() {
    let Some(runner) = node() else { return };
    for (script, words) in [
        ("mocha", ""),
        ("vitest", "import { it } from 'vitest';\n"),
        ("node --test", "import { it } from 'node:test';\n"),
    ] {
        let program = script.split(' ').next().expect("a program");
        if !has(program, &["--version"], program) {
            continue;
        }
        let head = "import assert from 'node:assert';\nimport { f } from '../src/f.js';\n";
        let tests = format!(
            "{head}{words}it('doubles', () => assert.equal(f(3), 6));\nit('is \\0 broken', () => {{ throw new Error('no server'); }});\n"
        );
        let settings = PACKAGE.1.replace("node --test", script);
        let place = Place::new(&[("package.json", &settings), HELPER, ("src/f.js", STUB), ("test/f.test.js", &tests)]);
        let tests = place.tests("src/f.js", "test/f.test.js");
        let stub = Some(STUB.to_owned());
        let verdict = place.judge(&runner, &Trial { stub, ..trial(Language::JavaScript, RIGHT, tests) });
        assert!(verdict.has_passed() && verdict.message.starts_with("1 test (left out"), "{script}: {verdict:?}");
    }
}

/// A helper of further tests replaces a part of the language, without the candidate as well.
#[test]
fn what_further_tests_replace_themselves_is_not_held_against_a_pass() {
    let Some(runner) = node() else { return };
    let more = "import '../src/more.js';\nimport test from 'node:test';\nimport assert from 'node:assert';\n\
        import { f } from '../src/f.js';\n\ntest('of five', () => assert.equal([f(5)].last(), 10));\n";
    let files = [
        PACKAGE,
        HELPER,
        ("src/f.js", STUB),
        ("src/more.js", "Array.prototype.last = function () { return this[this.length - 1]; };\n"),
        ("test/f.test.js", TESTS),
        ("test/more.test.js", more),
    ];
    let place = Place::new(&files);
    let judge = |program: &str| {
        let group = |file: &str| (place.tests("src/f.js", file), file.to_owned());
        let tests = Tests::FirstOf(["test/f.test.js", "test/more.test.js"].map(group).into());
        place.judge(&runner, &Trial { stub: Some(STUB.to_owned()), ..trial(Language::JavaScript, program, tests) })
    };
    let right = judge(RIGHT);
    assert_eq!((right.status, right.message.as_str()), (Status::Passed, "4 tests"), "{}", right.output);
    let replaces = judge(&format!("{RIGHT}if (Array.prototype.last) Array.prototype.map = null;\n"));
    assert_eq!(replaces.status, Status::Tampered, "{}", replaces.message);
}
