//! Tests of JavaScript that say by their end alone whether they passed: scripts that node is started with,
//! and those for tape and uvu.

use bass_tui::language::Language;
use bass_tui::trial::{Status, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::runner;

const HELPER: (&str, &str) = ("helper.js", "exports.twice = (x) => 2 * x;\n");
const CODE: &str =
    "const { twice } = require('./helper');\nexports.f = f;\nfunction f(x) {\n  return twice(x);\n}\nMORE\n";
/// A script that throws.
const THROWS: &str = "const assert = require('assert');\nconst { f } = require('..');\nconst { twice } = require('../helper');\n\
    assert.equal(twice(1), 2);\nsetTimeout(() => assert.strictEqual(f(3), 6), 20);\n";
/// One that has its own way with promises.
const REJECTS: &str = "const assert = require('assert');\nconst { f } = require('..');\nrequire('../helper');\n\
    process.on('unhandledRejection', (error) => {\n  throw error;\n});\n(async () => assert.strictEqual(await f(3), 6))();\n";
/// One that sets the exit code, as uvu does.
const SETS: &str = "const { f } = require('..');\nconst { twice } = require('../helper');\n\
    setTimeout(() => {\n  if (f(3) !== twice(3)) process.exitCode = 1;\n}, 20);\n";
/// Two that check at the end.
const EXITS: &str = "const assert = require('assert');\nconst { f } = require('..');\nrequire('../helper');\n\
    process.on('exit', () => assert.strictEqual(f(3), 6));\n";
const BEFORE: &str = "const assert = require('assert');\nconst { f } = require('..');\nrequire('../helper');\n\
    process.once('beforeExit', () => assert.strictEqual(f(3), 6));\n";
/// One that comes to tape through a file of its own.
const WRAPPED: &str = "const test = require('./lib');\nconst { f } = require('..');\n\
    test('doubles', (t) => t.equal(f(3), 6));\n";
const WRAPPER: &str = "const tape = require('tape');\nmodule.exports = (name, run) =>\n  tape(name, (t) => {\n    run(t);\n    t.end();\n  });\n";
const TAPE: &str = "const test = require('tape');\nconst { f } = require('..');\n\
    test('doubles', (t) => {\n  t.equal(f(3), 6);\n  t.end();\n});\n";
/// The part of tape that matters here.
const LIBRARY: &str = "const tests = [];\nconst harness = { _tests: tests, _results: {}, _exitCode: 0 };\n\
    class Test {\n  constructor(name) {\n    this.name = name;\n    this.ended = false;\n  }\n  equal(a, b) {\n    if (a === b) return;\n    harness._exitCode = 1;\n    \
    console.log('not ok 1 should be strictly equal\\n  ---\\n    expected: ' + b + '\\n    actual:   ' + a + '\\n  ...');\n  }\n  end() {\n    this.ended = true;\n  }\n}\n\
    let isFirst = true;\nmodule.exports = (name, run) => {\n  if (isFirst) process.on('exit', () => process.exit(harness._exitCode));\n  isFirst = false;\n  \
    const test = new Test(name);\n  tests.push(test);\n  setImmediate(() => run(test));\n};\nmodule.exports.getHarness = () => harness;\nmodule.exports.Test = Test;\n";

fn project(tests: &str) -> Place {
    Place::new(&[
        ("package.json", "{\"name\":\"doubling\",\"scripts\":{\"test\":\"node test/index.js\"}}"),
        ("index.js", CODE),
        HELPER,
        ("test/index.js", tests),
        ("test/lib.js", WRAPPER),
        ("node_modules/tape/package.json", "{\"name\":\"tape\",\"main\":\"index.js\"}"),
        ("node_modules/tape/index.js", LIBRARY),
    ])
}

#[test]
fn scripts_are_judged_by_how_they_end() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    for (tests, why) in [
        (THROWS, "Expected values to be strictly equal: 7 !== 6 (index.js:5)"),
        (REJECTS, "Expected values to be strictly equal: 7 !== 6 (index.js:7)"),
        (SETS, "index.js: exit code 1"),
        (EXITS, "Expected values to be strictly equal: 7 !== 6 (index.js:4)"),
        (BEFORE, "Expected values to be strictly equal: 7 !== 6 (index.js:4)"),
        (WRAPPED, "index.js: should be strictly equal, expected: 6, actual: 7"),
        (TAPE, "index.js: should be strictly equal, expected: 6, actual: 7"),
    ] {
        let place = project(tests);
        let judge = |body: &str, more: &str| -> Verdict {
            let program = CODE.replace("twice(x)", body).replace("MORE", more);
            let (stub, entry_point) = (Some(CODE.replace("MORE", "")), Some("f".to_owned()));
            let tests = place.tests("index.js", "test/index.js");
            place.judge(&runner, &Trial { stub, entry_point, ..trial(Language::JavaScript, &program, tests) })
        };
        let verdict = judge("twice(x)", "");
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
        let verdict = judge("twice(x) + 1", "");
        assert_eq!(verdict.status, Status::Failed);
        assert_eq!(verdict.message, why);
        let cheats = [
            "process.exit(0);",
            "process.reallyExit(0);",
            "process.emit('beforeExit');\nprocess.exit(0);",
            "process.once('beforeExit', () => process.exit(0));",
            "process.once('beforeExit', () => setTimeout(() => process.exit(0), 0));",
            "process.prependListener('exit', () => process.reallyExit(0));",
            "setTimeout(() => process.removeAllListeners('exit'), 0);\nprocess.on('uncaughtException', () => {});",
            "try {\n  process = Object.create(process, { exit: { value() {} } });\n} catch {}",
            "[globalThis.setTimeout] = [() => {}];",
            "process.on('exit', () => process.exit(0));",
            "process.on('exit', () => (process.exitCode = 0));",
            "process.on('beforeExit', () => process.reallyExit(0));\nprocess.on('uncaughtException', () => {});",
            "setTimeout(() => (process.exitCode = 0), 60);\nprocess.on('uncaughtException', () => {});",
            "process.removeAllListeners('uncaughtExceptionMonitor');\nprocess.on('uncaughtException', () => {});",
            "process.setUncaughtExceptionCaptureCallback(() => {});",
            "process.removeAllListeners('unhandledRejection');",
            "process.on('unhandledRejection', () => {});",
            "process.removeAllListeners();\nprocess.on('uncaughtException', () => {});",
            "process._events = {};\nprocess.on('uncaughtException', () => {});",
            "process.removeAllListeners('beforeExit');\nprocess.on('exit', () => (process.exitCode = 0));",
            "process.reallyExit = () => {};",
            "require('assert').strictEqual = () => {};",
            "require('tape').Test.prototype.equal = () => {};",
            "require('tape').getHarness = () => ({ _tests: [{ ended: true }], _results: {}, _exitCode: 0 });",
        ];
        // All of them where the end of the process is all that tells, or a library of tests.
        for more in cheats.iter().step_by(if [THROWS, TAPE].contains(&tests) { 1 } else { 4 }) {
            let verdict = judge("twice(x) + 1", more);
            assert!(!verdict.has_passed() || verdict.is_marked(), "{more}\n{tests}\n{verdict:?}");
        }
    }
}
