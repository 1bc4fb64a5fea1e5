//! Trials in other languages than Python, as their users see them: styles of tests, verdicts and messages, and programs that mean
//! harm (`tests/hostile/LANGUAGE`). A language whose tools are missing here is skipped by name.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bass_tui::language::Language;
use bass_tui::trial::{Assurance, Limits, Runner, Status, Tests, Trial, Verdict};

use super::left;

fn limits(seconds: u64) -> Limits {
    Limits {
        wall: Duration::from_secs(seconds),
        memory: 512 << 20,
        file: 4 << 20,
        output: 4 << 20,
        processes: 32,
        gives_way: false,
    }
}

pub fn runner(language: Language) -> Option<Runner> {
    super::runner::runner(language)
}

fn trial(language: Language, program: &str, name: &str, tests: &str, limits: Limits) -> Trial {
    Trial {
        language,
        program: program.to_owned(),
        file: Some("doubling".into()),
        entry_point: Some("f".to_owned()),
        line: None,
        tests: Tests::Source { name: name.to_owned(), text: tests.to_owned() },
        stub: None,
        limits,
    }
}

pub fn run(runner: &Runner, trial: &Trial) -> Verdict {
    runner.run(trial, &Arc::default()).unwrap()
}

fn js(program: &str, tests: &str) -> Option<Verdict> {
    named_js(program, "t.js", tests)
}

fn named_js(program: &str, name: &str, tests: &str) -> Option<Verdict> {
    let runner = runner(Language::JavaScript)?;
    Some(run(&runner, &trial(Language::JavaScript, program, name, tests, limits(20))))
}

#[track_caller]
fn expect(verdict: Option<Verdict>, status: Status, message: &str) {
    if let Some(verdict) = verdict {
        assert_eq!((verdict.status, verdict.message.as_str()), (status, message), "{}", verdict.output);
    }
}

const DOUBLE: &str = "function f(x) {\n    return 2 * x;\n}\n";

#[test]
fn javascript_asserts_say_what_they_saw() {
    expect(
        js(DOUBLE, "assert(f(1) === 2);\nassert.equal(f(2), 4);\nconsole.assert(f(3) === 6);\n"),
        Status::Passed,
        "3 checks",
    );
    expect(js(DOUBLE, "\nassert.equal(f(2), 5, 'why');\n"), Status::Failed, "f(2) gave 4, expected 5: why (t.js:2)");
    expect(
        js(DOUBLE, "console.assert(f(1) === 3)"),
        Status::Failed,
        "console.assert(f(1) === 3) does not hold (t.js:1)",
    );
    expect(js(DOUBLE, "const x = f(2);"), Status::NotRun, "no checks found in t.js");
    expect(
        js("function f(x) {\n    throw new TypeError('no');\n}", "assert(f(1) === 2)"),
        Status::Failed,
        "assert(f(1) === 2) raised TypeError: no (t.js:1)",
    );
    expect(js("function f(x {\n}", "assert(f(1))"), Status::Error, "SyntaxError: Unexpected token '{' (line 1)");
    expect(
        js("\nnothing();\nfunction f(x) {}", "assert(f(1))"),
        Status::Error,
        "ReferenceError: nothing is not defined (line 2)",
    );
    expect(
        js(DOUBLE, "assert(g(1))"),
        Status::Error,
        "tests file t.js: assert(g(1)) raised ReferenceError: g is not defined (t.js:1)",
    );
}

#[test]
fn javascript_styles_of_tests_are_found() {
    let multipl = "const assert = require('node:assert');\nfunction test() {\n  let candidate = f;\n  \
        assert.deepEqual(candidate([1]),[2]);\n}\ntest();\n";
    expect(js("const f = (xs) => xs.map((x) => 2 * x);", multipl), Status::Passed, "1 check");
    let x = "const testF = () => {\n    console.assert(f(2) === 4)\n    console.assert(f(3) === 6)\n}\n\ntestF()\n";
    expect(js(DOUBLE, x), Status::Passed, "2 checks");
    let node = "import test, { describe, it } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { f } from './doubling.js';\n\
        test('a', async () => { assert.equal(f(1), 2); });\ndescribe('b', () => { it('c', () => assert.equal(f(3), 7)); });\n";
    expect(
        named_js(&format!("export {DOUBLE}"), "t.mjs", node),
        Status::Failed,
        "b > c: f(3) gave 6, expected 7 (t.mjs:5)",
    );
    expect(named_js(DOUBLE, "t.mjs", &node.replace('7', "6")), Status::Passed, "2 checks");
    let jest = "const f = require('../src/doubling');\ndescribe('f', () => {\n  it('doubles', () => {\n    expect(f(3)).toBe(6);\n    \
        expect(() => f()).not.toThrow();\n  });\n});\n";
    expect(js("module.exports = (x) => 2 * x;", jest), Status::Passed, "2 checks");
    expect(js("module.exports = (x) => x;", jest), Status::Failed, "f > doubles: f(3) gave 3, expected 6 (t.js:4)");
    expect(js(DOUBLE, "function check(candidate) {\n  assert(candidate(2) === 4);\n}\n"), Status::Passed, "1 check");
    expect(
        js(DOUBLE, "const _ = require('lodash');\nassert(f(1) === 2)"),
        Status::Error,
        "tests file t.js: const _ = require('lodash'); raised Error: the tests need the module 'lodash', which is not available here (t.js:1)",
    );
}

#[test]
fn typescript_runs_without_its_types() {
    let Some(runner) = runner(Language::TypeScript) else { return };
    let ts = |program: &str, tests: &str| {
        Some(run(&runner, &trial(Language::TypeScript, program, "t.ts", tests, limits(20))))
    };
    let double = "interface Pair { x: number; y?: number }\nexport function f(p: Pair): number {\n    return 2 * p.x + (p.y as number ?? 0);\n}\n";
    let tests = "import assert from 'node:assert';\nimport { f } from './doubling';\n\nconst pair: { x: number, y: number } = { x: 2, y: 3 };\n\
        assert.strictEqual(f(pair), 7);\n";
    expect(ts(double, tests), Status::Passed, "1 check");
    expect(ts(&double.replace('2', "3"), tests), Status::Failed, "f(pair) gave 9, expected 7 (t.ts:5)");
    // What is more than a type has to be rewritten.
    let own = "export enum Colour { Red, Green }\nexport class Count {\n    constructor(private n: number) {}\n    next(): number { return ++this.n; }\n}\n";
    let tests = "import { test } from 'node:test';\nimport assert from 'node:assert';\nimport { Colour, Count } from './doubling.ts';\n\
        test('enum', () => assert.equal(Colour.Green, 1));\ntest('class', () => assert.equal(new Count(4).next(), 5));\n";
    expect(ts(own, tests), Status::Passed, "2 checks");
    let broken = ts("function f(x: number: string) {}\n", tests);
    assert_eq!(broken.map(|verdict| verdict.status), Some(Status::Error));
    let quits = "interface Pair { x: number }\nexport function f(p: Pair): number { process.exit(0); }\n";
    let tests =
        "import assert from 'node:assert';\nimport { f } from './doubling';\nassert.strictEqual(f({ x: 1 }), 2);\n";
    assert_eq!(ts(quits, tests).map(|verdict| verdict.status), Some(Status::Killed));
}

#[test]
fn javascript_values_travel_whole() {
    let same = "function f(x) {\n    return x;\n}\n";
    let values = "const seen = new Map([[1, new Set(['a'])]]);\nconst ring = { name: 'ring' }; ring.self = ring;\n\
        for (const value of [undefined, null, NaN, -0, 1e300, 10n ** 30n, 'é\\ud800', true, [1, [2]], [, 1], { a: { b: [] } }, seen,\n    \
        new Date(5), new Date(NaN), /a+/gi, new Uint8Array([1, 255]), new Float64Array([0.5]), Object.create(null), ring,\n    \
        JSON.parse('{\"__proto__\": 1}')]) {\n    assert.deepStrictEqual(f([value]), [value]);\n    assert.deepStrictEqual(f(value), value);\n}\n";
    expect(js(same, values), Status::Passed, "40 checks");
    let error = "function f(x) {\n    const e = new RangeError('too far');\n    e.code = 'E1';\n    throw e;\n}\n";
    expect(
        js(
            error,
            "assert.throws(() => f(1), RangeError);\nassert.throws(() => f(1), { message: 'too far', code: 'E1' });\nassert.throws(f, /far/);",
        ),
        Status::Passed,
        "3 checks",
    );
    // Arguments that are changed in place are changed for the tests, too.
    let sorts = "function f(xs) {\n    xs.sort((a, b) => a - b);\n    return xs;\n}\n";
    expect(
        js(
            sorts,
            "const xs = [3, 1, 2];\nconst ys = f(xs);\nassert.deepStrictEqual(xs, [1, 2, 3]);\nassert(xs === ys);",
        ),
        Status::Passed,
        "2 checks",
    );
    let calls = "function f(xs, g) {\n    return xs.map((x) => g(x));\n}\n";
    expect(js(calls, "assert.deepStrictEqual(f([1, 2], (x) => x + 1), [2, 3]);"), Status::Passed, "1 check");
    expect(
        js(calls, "assert.throws(() => f([1], () => { throw new TypeError('mine'); }), TypeError);"),
        Status::Passed,
        "1 check",
    );
    let later = "async function f(x) {\n    await new Promise((r) => setTimeout(r, 5));\n    if (x < 0) throw new Error('negative');\n    return 2 * x;\n}\n";
    expect(
        js(
            later,
            "test('a', async () => {\n    assert.equal(await f(2), 4);\n    await assert.rejects(f(-1), /negative/);\n    \
        assert.deepEqual(await Promise.all([f(1), f(2)]), [2, 4]);\n    await expect(f(3)).resolves.toBe(6);\n    await expect(f(-3)).rejects.toThrow('neg');\n});\n",
        ),
        Status::Passed,
        "5 checks",
    );
    let debounce = "function f(g) {\n    let timer;\n    return (x) => {\n        clearTimeout(timer);\n        timer = setTimeout(() => g(x), 10);\n    };\n}\n";
    expect(
        js(
            debounce,
            "test('calls once', async () => {\n    const seen = [];\n    const g = f((x) => seen.push(x));\n    g(1); g(2);\n    \
        await new Promise((r) => setTimeout(r, 200));\n    assert.deepEqual(seen, [2]);\n});\n",
        ),
        Status::Passed,
        "1 check",
    );
}

#[test]
fn javascript_classes_stay_where_they_are() {
    let stack = "class Empty extends Error {}\nclass Stack {\n    #items = [];\n    size = 0;\n    push(x) { this.#items.push(x); this.size++; return this; }\n    \
        pop() { if (!this.size) throw new Empty('empty'); this.size--; return this.#items.pop(); }\n    \
        *[Symbol.iterator]() { yield* this.#items; }\n    static of(...xs) { const s = new Stack(); xs.forEach((x) => s.push(x)); return s; }\n}\n\
        module.exports = { Stack, Empty };\n";
    let tests = "const { Stack, Empty } = require('./stack');\nconst s = new Stack();\nassert.equal(s.push(1).push(2).size, 2);\nassert.equal(s.pop(), 2);\n\
        assert(s instanceof Stack);\nassert.deepEqual([...Stack.of(1, 2, 3)], [1, 2, 3]);\ns.pop();\nassert.throws(() => s.pop(), Empty);\nassert('push' in s);\n";
    let verdict = js(stack, tests);
    assert!(verdict.as_ref().is_none_or(|v| v.assurance == Assurance::Separate), "{verdict:?}");
    expect(verdict, Status::Passed, "6 checks");
    let node = "class Node {\n    constructor(value, next) { this.value = value; this.next = next; }\n}\nconst f = (n) => new Node(n.value, null);\n";
    expect(js(node, "assert.deepEqual(f(new Node(5, null)), { value: 5, next: null });"), Status::Passed, "1 check");
    // What cannot travel is judged in one process, and the verdict says so.
    let takes = "function f(x) {\n    return x.double();\n}\n";
    let verdict = js(takes, "class Mine {\n    double() { return 4; }\n}\nassert.equal(f(new Mine()), 4);");
    assert!(verdict.as_ref().is_none_or(|v| v.assurance == Assurance::Shared), "{verdict:?}");
    expect(
        verdict,
        Status::Passed,
        "1 check (in one process with the tests, as an object of the class Mine cannot be passed on)",
    );
}

#[test]
fn a_tests_file_that_does_not_parse_is_refused_before_anything_runs() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let file = |text: &str| Tests::Source { name: "t.js".to_owned(), text: text.to_owned() };
    let error = runner.check(Language::JavaScript, None, &file("assert(f(1) === 2);\nassert((;\n")).unwrap_err();
    assert!(error.to_string().starts_with("t.js, line 2: SyntaxError"), "{error}");
    runner.check(Language::JavaScript, None, &file("import assert from 'assert';\nassert(await f(1));\n")).unwrap();
}

/// What hostile programs aim at: a home, a folder of somebody else's, services and a process.
struct Surroundings {
    folder: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    victim: Child,
}

impl Surroundings {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("home/.ssh/id_ed25519"), "the key").unwrap();
        fs::write(folder.path().join("home/notes"), "notes").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        Self { folder, tcp, udp, victim: Command::new("sleep").arg("600").spawn().unwrap() }
    }

    /// A program with the places of these surroundings in it.
    fn fill(&self, program: &str) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        program
            .replace("@HOME@", &path("home"))
            .replace("@OUTSIDE@", &path("outside"))
            .replace("@PORT@", &self.tcp.local_addr().unwrap().port().to_string())
            .replace("@PARENT@", &std::process::id().to_string())
            .replace("@VICTIM@", &self.victim.id().to_string())
    }

    /// Nothing was read, changed, reached or ended.
    fn assert_untouched(&mut self) {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap();
        assert_eq!((read("home/notes").as_str(), read("home/.ssh/id_ed25519").as_str()), ("notes", "the key"));
        assert_eq!(names(&self.folder.path().join("outside")), [""; 0], "a file was made outside");
        assert_eq!(names(&self.folder.path().join("home")), [".ssh", "notes"]);
        assert!(self.tcp.accept().is_err(), "a connection came");
        assert!(self.udp.recv(&mut [0; 8]).is_err(), "a datagram came");
        assert!(self.victim.try_wait().unwrap().is_none(), "the victim was ended");
    }
}

impl Drop for Surroundings {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A line `// KEY: value` or `# KEY: value` of a hostile program.
fn header<'a>(program: &'a str, key: &str) -> Option<&'a str> {
    program.lines().find_map(|line| {
        line.strip_prefix("// ").or_else(|| line.strip_prefix("# "))?.strip_prefix(key)?.strip_prefix(": ")
    })
}

fn programs(folder: &str, least: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile").join(folder);
    let mut programs: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    assert!(programs.len() >= least, "the hostile programs are missing");
    programs
}

/// Runs the hostile programs of a folder, and a good one after each.
fn try_hostile(runner: &Runner, folder: &str, least: usize, make: impl Fn(&str) -> Trial, good: &Trial) {
    let mut surroundings = Surroundings::new();
    let mut wrong = Vec::new();
    for path in programs(folder, least) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).unwrap();
        let verdict = run(runner, &make(&surroundings.fill(&source)));
        let status = serde_json::to_value(verdict.status).unwrap();
        let expected = header(&source, "expect").unwrap_or_default();
        let says = header(&source, "says").unwrap_or_default();
        if !expected.split(' ').any(|word| status == word) || !verdict.message.contains(says) {
            let output = verdict.output.chars().take(800).collect::<String>();
            wrong.push(format!("{name}: expected {expected} ({says}), found {status}: {} {output}", verdict.message));
        }
        let shown = format!("{}{}", verdict.message, verdict.output);
        if shown.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}') || shown.len() > 200_000
        {
            wrong.push(format!("{name}: what is shown was not cleaned or cut"));
        }
        let verdict = run(runner, good);
        if verdict.status != Status::Passed {
            wrong.push(format!("after {name} a good program got {:?}: {}", verdict.status, verdict.message));
        }
    }
    assert!(wrong.is_empty(), "{} complaints:\n{}", wrong.len(), wrong.join("\n"));
    surroundings.assert_untouched();
    assert_nothing_is_left();
}

/// No process and no folder is left of a trial of this program that is over.
fn assert_nothing_is_left() {
    // Runners of other tests keep folders, and hold a lock on each; one that is just made or removed has none.
    let is_used = |folder: &Path| fs::File::open(folder).is_ok_and(|folder| folder.try_lock().is_err());
    let (begun, mut found) = (Instant::now(), left::of_trials(is_used));
    while !found.is_empty() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(50));
        found = left::of_trials(is_used);
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn hostile_javascript_gets_its_verdict_and_does_no_harm() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let default = "assert.strictEqual(f(3), 6); assert.deepStrictEqual(f(4), 8);";
    let make = |program: &str| {
        let tests = header(program, "tests").unwrap_or(default);
        let tests = format!("test('f', () => {{ {tests} }});");
        trial(Language::JavaScript, program, "t.js", &tests, limits(3))
    };
    let good = trial(Language::JavaScript, DOUBLE, "t.js", default, limits(20));
    try_hostile(&runner, "javascript", 30, make, &good);
}

#[test]
fn hostile_rust_gets_its_verdict_and_does_no_harm() {
    let Some(runner) = runner(Language::Rust) else { return };
    let tests = "#[test]\nfn doubles() {\n    assert_eq!(f(3), 6);\n    assert!(f(4) == 8);\n}\n";
    let make = |program: &str| {
        let limits = Limits { wall: Duration::from_secs(3), ..limits(3) };
        trial(Language::Rust, program, "t.rs", tests, limits)
    };
    let good = trial(Language::Rust, "fn f(x: i64) -> i64 {\n    2 * x\n}\n", "t.rs", tests, limits(20));
    try_hostile(&runner, "rust", 14, make, &good);
}

#[test]
fn rust_styles_of_tests_are_found() {
    let Some(runner) = runner(Language::Rust) else { return };
    let judge = |program: &str, tests: &str| {
        let verdict = run(&runner, &trial(Language::Rust, program, "t.rs", tests, limits(20)));
        (verdict.status, verdict.message)
    };
    let double = "fn f(x: i64) -> i64 {\n    2 * x\n}\n";
    let passed = |text: &str| (Status::Passed, text.to_owned());
    assert_eq!(judge(double, "assert_eq!(f(2), 4);\n"), passed("1 test"));
    assert_eq!(
        judge(double, "}\n\nfn main() {\n    let candidate = f;\n    assert_eq!(candidate(2), 4);\n}\n"),
        passed("1 test")
    );
    let module = "#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn doubles() {\n        assert_eq!(f(2), 5, \"why\");\n    }\n    \
        #[test]\n    #[should_panic]\n    fn overflows() {\n        f(i64::MAX);\n    }\n}\n";
    let failed = "assertion `left == right` failed: why, left: 4, right: 5 (t.rs:7)";
    assert_eq!(judge(double, module), (Status::Failed, failed.to_owned()));
    assert_eq!(judge(double, &module.replace('5', "4")), passed("2 tests"));
    assert_eq!(
        judge("fn f(x: i64) -> i64 {\n    \"no\"\n}\n", module).1.split(':').take(2).collect::<Vec<_>>(),
        ["doubling.rs", "2"]
    );
    assert_eq!(judge(double, "fn helper() {}\n#[ignore] #[test] fn a() {}\n").0, Status::NotRun);
}

#[test]
fn hostile_go_gets_its_verdict_and_does_no_harm() {
    let Some(runner) = runner(Language::Go) else { return };
    let tests = "package main\n\nimport \"testing\"\n\nfunc TestDoubles(t *testing.T) {\n\tif f(3) != 6 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n";
    let make = |program: &str| trial(Language::Go, program, "f_test.go", tests, limits(3));
    let good =
        trial(Language::Go, "package main\n\nfunc f(x int) int {\n\treturn 2 * x\n}\n", "f_test.go", tests, limits(20));
    try_hostile(&runner, "go", 6, make, &good);
}

#[test]
fn hostile_shell_scripts_get_the_verdict_of_their_command_and_do_no_harm() {
    let Some(runner) = runner(Language::Python) else { return };
    let make = |program: &str, seconds| {
        let command = "sh -c '. ./{file}; test \"$(f 3)\" = 6'";
        let tests = Tests::of_command(command, Language::Python, Some(Path::new("f.sh")), None).unwrap();
        Trial { tests, ..trial(Language::Python, program, "", "", limits(seconds)) }
    };
    let good = make("f() { echo 6; }\n", 20);
    try_hostile(&runner, "shell", 10, |program| make(program, 3), &good);
}

#[test]
fn a_command_is_told_file_folder_function_and_line() {
    let Some(runner) = runner(Language::Python) else { return };
    let command = "sh -c 'test \"$*\" = \"f.txt . f 7\" && cat f.txt' - {file} {dir} {function} {line}";
    let tests = Tests::of_command(command, Language::Python, Some(Path::new("f.txt")), Some(7)).unwrap();
    let verdict = run(&runner, &Trial { tests, ..trial(Language::Python, "the text", "", "", limits(20)) });
    assert_eq!(
        (verdict.status, verdict.output.as_str(), verdict.assurance),
        (Status::Passed, "the text", Assurance::Shared)
    );
    let tests = Tests::of_command("no-such-program-anywhere", Language::Python, None, None).unwrap();
    let trial = Trial { tests, ..trial(Language::Python, "", "", "", limits(20)) };
    let error = runner.run(&trial, &Arc::default()).unwrap_err().to_string();
    assert!(error.contains("no-such-program-anywhere") && error.contains("PATH"), "{error}");
}
