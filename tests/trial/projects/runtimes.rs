//! Tests of JavaScript projects that bun and deno run, and report themselves.

use std::process::{Command, Stdio};

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Trial, Verdict};

use crate::place::{Place, trial};
use crate::python::in_parallel;
use crate::runner::runner;
use crate::skip;

const CODE: &str =
    "import { twice } from './helper.ts';\n\nMORE\nexport function f(x: number): any {\n  return twice(x);\n}\n";
const HELPER: (&str, &str) = ("src/helper.ts", "export const twice = (x: number): number => 2 * x;\n");
const OF_BUN: &str = "import { describe, expect, it } from 'bun:test';\nimport assert from 'node:assert';\nimport { f } from '../src/f.ts';\n\n\
    describe('f', () => {\n  it('doubles', () => {\n    expect(f(3)).toBe(6);\n  });\n  \
    it('is the same', async () => assert.equal(await f(4), 8));\n  it.skip('is left', () => {});\n});\n";
const OF_DENO: &str = "import { equal } from 'node:assert/strict';\nimport { f } from '../src/f.ts';\n\n\
    Deno.test('f', async (t) => {\n  await t.step('doubles', () => {\n    equal(f(3), 6);\n  });\n  \
    await t.step('is the same', async () => equal(await f(4), 8));\n});\nDeno.test.ignore('is left', () => {});\n";

/// A runner, where this program is installed, or nothing, and why.
fn runtime(name: &str) -> Option<Runner> {
    let version = Command::new(name).arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|end| end.success()) {
        skip::for_want_of(name, "it does not start");
        return None;
    }
    runner(Language::JavaScript)
}

/// A project whose tests are for one of them.
fn project(name: &str) -> Place {
    let (settings, tests) = match name {
        "bun" => (("package.json", "{\"scripts\":{\"test\":\"bun test\"}}"), OF_BUN),
        _ => (
            ("deno.jsonc", "{\n  // what it may\n  \"tasks\": { \"test\": \"deno test --allow-read\", },\n}\n"),
            OF_DENO,
        ),
    };
    Place::new(&[settings, HELPER, ("src/f.ts", &CODE.replace("MORE", "")), ("test/f.test.ts", tests)])
}

/// The verdict on a body, with more in front of the function.
fn judge(runner: &Runner, place: &Place, more: &str, body: &str) -> Verdict {
    let program = CODE.replace("MORE", more).replace("return twice(x);", body);
    let (stub, entry_point) = (Some(CODE.replace("MORE", "")), Some("f".to_owned()));
    let tests = place.tests("src/f.ts", "test/f.test.ts");
    place.judge(runner, &Trial { stub, entry_point, ..trial(Language::TypeScript, &program, tests) })
}

#[test]
fn programs_that_report_themselves_are_read() {
    for (name, passed, why) in [
        ("bun", "2 tests", "f > doubles: expect(received).toBe(expected) Expected: 6 Received: 7 (f.test.ts:7)"),
        ("deno", "3 tests", "f > doubles: AssertionError: 7 == 6 (f.test.ts:6)"),
    ] {
        let (Some(runner), place) = (runtime(name), project(name)) else { continue };
        let verdict = judge(&runner, &place, "", "return twice(x);");
        assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, passed), "{}", verdict.output);
        let verdict = judge(&runner, &place, "", "return twice(x) + 1;");
        assert_eq!(verdict.status, Status::Failed, "{}", verdict.output);
        assert!(verdict.message.starts_with(why), "{}", verdict.message);
        let verdict = judge(&runner, &place, "", "return twice(x");
        assert!(verdict.status == Status::Error && verdict.message.contains("Expected"), "{}", verdict.message);
    }
}

/// Attempts of code under test at a pass of a wrong body, everywhere and in one of them.
const DECEITS: &[(&str, &str)] = &[
    ("process.exit(0);", ""),
    ("", "process.exit(0);"),
    ("", "process.reallyExit(0);"),
    ("import process from 'node:process';\nprocess.reallyExit(0);", ""),
    ("process.on('exit', () => process.exit(0));\nprocess.exitCode = 0;", ""),
    ("process.kill(process.pid, 'SIGTERM');", ""),
    ("import assert from 'node:assert';\ntry {\n  assert.equal = assert.strict.equal = () => {};\n} catch {}", ""),
    ("Array.prototype.map = Array.prototype.map.bind([]);", "return twice(x);"),
    ("import { closeSync } from 'node:fs';\ncloseSync(2);\nArray.prototype.at = () => 6;", "return twice(x);"),
    (
        "import { readdirSync, writeFileSync } from 'node:fs';\nimport { dirname } from 'node:path';\nconst words = [...process.argv, ...process.execArgv, ...Object.values(process.env)];\n\
         for (const word of words) for (const at of [word, dirname(`${word}`)]) try {\n  for (const name of [at, ...readdirSync(at)]) writeFileSync(`${at}/${name}.xml`, '<testsuites></testsuites>');\n} catch {}\nprocess.exit(0);",
        "",
    ),
];
const DECEITS_OF_BUN: &[(&str, &str)] = &[
    ("import { rmSync } from 'node:fs';\ntry {\n  rmSync('test/f.test.ts');\n} catch {}", "return twice(x);"),
    (
        "import { expect } from 'bun:test';\nexpect.extend({ toBe: () => ({ pass: true, message: () => '' }) });",
        "return { valueOf: () => 8 };",
    ),
    (
        "import { mock } from 'bun:test';\ntry {\n  mock.module('bun:test', () => ({ it: () => {}, describe: () => {}, expect: () => {} }));\n} catch {}",
        "",
    ),
    (
        "import { mock } from 'bun:test';\ntry {\n  mock.module('node:assert', () => ({ default: { equal() {} } }));\n} catch {}",
        "return x === 3 ? 6 : 0;",
    ),
    ("import { it } from 'bun:test';\nit.only('mine', () => {});", ""),
    (
        "Bun.plugin({ name: 'x', setup: (all) => all.module('bun:test', () => ({ loader: 'object', exports: {} })) });",
        "",
    ),
    ("require('bun:test').expect = () => ({ toBe() {} });", ""),
    (
        "import { expect } from 'bun:test';\nfor (let p = Object.getPrototypeOf(expect(0)); p; p = Object.getPrototypeOf(p)) if (Object.hasOwn(p, 'toBe')) Object.defineProperty(p, 'toBe', { value() {} });",
        "return { valueOf: () => 8 };",
    ),
];
const DECEITS_OF_DENO: &[(&str, &str)] = &[
    ("Deno.exit(0);", ""),
    ("", "Deno.exit(0);"),
    ("", "return new Promise(() => {});"),
    ("const own = Deno.test;\ntry {\n  Deno.test = ((name: string) => own(name, () => {})) as any;\n} catch {}", ""),
    ("try {\n  Object.defineProperty(Deno, 'test', { value: () => {} });\n} catch {}", ""),
    (
        "const own: any = Deno.test;\nconst step = (t: any) => (title: string) => t.step(title, () => {});\nconst fake = (name: string, run: any) => own(name, (t: any) => run({ step: step(t) }));\n\
         try {\n  Deno.test = Object.assign(fake, own);\n} catch {}",
        "",
    ),
    ("Deno.test.only('f', () => {});", ""),
    ("Deno.test('f', () => {});\nDeno.exit(0);", ""),
    ("globalThis.addEventListener('unload', () => Deno.exit(0));", ""),
    ("Deno.stderr.close();\nArray.prototype.at = () => 6;", "return twice(x);"),
];

#[test]
fn whoever_deceives_a_program_that_reports_itself_does_not_pass() {
    for (name, own) in [("bun", DECEITS_OF_BUN), ("deno", DECEITS_OF_DENO)] {
        let (Some(runner), place) = (runtime(name), project(name)) else { continue };
        let all: Vec<&(&str, &str)> = DECEITS.iter().chain(own).collect();
        let complaints = in_parallel(&all, |&&(more, body)| {
            let body = if body.is_empty() { "return twice(x) + 1;" } else { body };
            let verdict = judge(&runner, &place, more, body);
            // A pass that only the table of uses takes back would stand where it does not know the words.
            let is_seen = verdict.status != Status::Tampered || !verdict.message.contains("which nothing asked for");
            (verdict.has_passed() || !is_seen).then(|| format!("{name}: {more} {body}: {}", verdict.message))
        });
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}
