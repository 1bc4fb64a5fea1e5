//! Tests that are found for a function, or run as the project's own script does.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use bass_tui::code::{Target, TargetSpec};
use bass_tui::language::Language;
use bass_tui::trial::{Runner, Status, Tests, Trial, Verdict};

use crate::place::{Place, trial};
use crate::runner::{has, has_pytest, node, runner};

fn target(place: &Place, file: &str) -> Target {
    let spec = TargetSpec::parse(&format!("{}:f", place.path().join(file).display())).unwrap();
    Target::read(&spec).unwrap()
}

/// The verdict on a body of `f` in the place of `todo!()` by these tests files, the first that decide.
fn rust(runner: &Runner, place: &Place, tests: &[&str], body: &str) -> Verdict {
    let group = |file: &&str| (place.tests("src/lib.rs", file), (*file).to_owned());
    let tests = Tests::FirstOf(tests.iter().map(group).collect());
    let code = place.text("src/lib.rs");
    let trial = trial(Language::Rust, &code.replace("todo!()", body), tests);
    place.judge(runner, &Trial { stub: Some(code), ..trial })
}

const MANIFEST: (&str, &str) =
    ("Cargo.toml", "[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");

/// Whichever of them decides.
#[test]
fn rust_tests_of_further_files_overrule_a_pass() {
    let Some(runner) = runner(Language::Rust) else { return };
    let tests = |name: &str, check: &str| format!("#[test]\nfn {name}() {{\n    {check}\n}}\n");
    let (other, one) =
        (tests("other", "assert_eq!(doubling::g(), 1);"), tests("one", "assert_eq!(doubling::f(1), 2);"));
    let minus = tests("minus", "assert_eq!(doubling::f(-1), -2);");
    let code = "pub fn f(x: i64) -> i64 {\n    todo!()\n}\n\npub fn g() -> i64 {\n    1\n}\n";
    let files = [
        MANIFEST,
        ("src/lib.rs", code),
        ("tests/other.rs", &other),
        ("tests/one.rs", &one),
        ("tests/minus.rs", &minus),
    ];
    let place = Place::new(&files);
    for files in [&["tests/other.rs", "tests/one.rs", "tests/minus.rs"][..], &["tests/one.rs", "tests/minus.rs"]] {
        assert_eq!(rust(&runner, &place, files, "2 * x").status, Status::Passed);
        let verdict = rust(&runner, &place, files, "2 * x.abs()");
        assert_eq!((verdict.status, verdict.tests.as_deref()), (Status::Failed, Some("tests/minus.rs")), "{verdict:?}");
        assert!(verdict.message.starts_with("minus: assertion `left == right` failed"), "{verdict:?}");
    }
}

/// Another crate may have a function of that name.
#[test]
fn tests_of_crates_that_do_not_depend_on_the_functions_are_not_found() {
    let place = |name: &str, more: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n{more}");
    let (own, other) = (place("form", ""), place("puny", ""));
    let user = place("user", "[dev-dependencies]\nform = { path = \"../form\" }\n");
    let tests = "#[test]\nfn decodes() {\n    assert_eq!(puny::f(1), 2);\n}\n";
    let mut files = vec![
        ("Cargo.toml", "[workspace]\nmembers = [\"form\", \"puny\"]\n"),
        ("form/Cargo.toml", &own),
        ("form/src/lib.rs", "pub fn f(x: i64) -> i64 {\n    2 * x\n}\n"),
        ("puny/Cargo.toml", &other),
        ("puny/tests/f.rs", tests),
    ];
    let found = |files: &[(&str, &str)]| Tests::found(&target(&Place::new(files), "form/src/lib.rs")).len();
    assert_eq!(found(&files), 0);
    files.extend([("user/Cargo.toml", user.as_str()), ("user/tests/f.rs", tests)]);
    assert_eq!(found(&files), 1);
}

#[test]
fn tests_with_a_harness_of_their_own_are_found_and_named() {
    let Some(runner) = runner(Language::Rust) else { return };
    let manifest = format!("{}\n[[test]]\nname = \"all\"\nharness = false\n", MANIFEST.1);
    let place = Place::new(&[
        ("Cargo.toml", &manifest),
        ("src/lib.rs", "pub fn f(x: i64) -> i64 {\n    2 * x\n}\n"),
        ("tests/all.rs", "use doubling::f;\n\nfn main() {\n    assert_eq!(f(1), 2);\n}\n"),
    ]);
    let judge = || {
        let target = target(&place, "src/lib.rs");
        let (tests, _) = Tests::usual(&target, Tests::found(&target)).unwrap();
        let trial = trial(Language::Rust, &target.text, tests);
        runner.run(&Trial { stub: Some(target.text), file: target.path, ..trial }, &Arc::default()).unwrap()
    };
    let verdict = judge();
    let said = "all.rs has a harness of its own, which does not report single tests: give --test-command 'cargo test --offline --test all'";
    assert!(verdict.status == Status::NotRun && verdict.message.contains(said), "{verdict:?}");
    // Nor are they passed over in silence where others decide.
    let others = "use doubling::f;\n\n#[test]\nfn doubles() {\n    assert_eq!(f(1), 2);\n}\n";
    std::fs::write(place.path().join("tests/f.rs"), others).unwrap();
    let verdict = judge();
    assert!(verdict.has_passed() && verdict.assurance.marks[0].contains(said), "{verdict:?}");
}

/// Stands in for a package that removes types, and like it puts a function of its own before `process.emit` and
/// loads domains.
const LOADER: &str = "require('node:domain');\nconst { readFileSync } = require('node:fs');\nrequire.extensions['.ts'] = (module, file) => \
    module._compile(readFileSync(file, 'utf8').replaceAll(': number', ''), file);\n\
    const { emit } = process;\nprocess.emit = function () {\n  return emit.apply(this, arguments);\n};\n";
/// Stands in for uvu.
const UVU: &str =
    "exports.test = (name, run) => {\n  try {\n    run();\n  } catch {\n    process.exitCode = 1;\n  }\n};\n";

/// The project's own loader takes no part of the end of a script for its own, and no other one is loaded.
#[test]
fn typescript_scripts_are_judged_behind_the_loader_of_the_projects_script() {
    let Some(runner) = node() else { return };
    let plain = "const x: number = 3;\nrequire('node:assert').equal(require('../f.js').f(x), 6);\n";
    let with_uvu = "const { test } = require('uvu');\nconst x: number = 3;\n\
        test('doubles', () => require('node:assert').equal(require('../f.js').f(x), 6));\n";
    let loader = "-r ts-node/register/transpile-only";
    for (script, tests) in [
        (format!("\"test\":\"node {loader} test/f.test.ts\""), plain),
        (format!("\"unit\":\"uvu {loader} test\""), with_uvu),
        (format!("\"test\":\"pnpm run /^test:/\",\"test:all\":\"uvu {loader} test\""), with_uvu),
    ] {
        let manifest = format!("{{\"name\":\"doubling\",\"scripts\":{{{script}}}}}");
        let place = Place::new(&[
            ("package.json", &manifest),
            ("f.js", "exports.f = f;\nfunction f(x) {\n  return 2 * x;\n}\n"),
            ("test/f.test.ts", tests),
            ("node_modules/ts-node/package.json", "{\"name\":\"ts-node\"}"),
            ("node_modules/ts-node/register/transpile-only.js", LOADER),
            ("node_modules/ts-node/register/index.js", "throw new Error('types were checked');\n"),
            ("node_modules/uvu/package.json", "{\"name\":\"uvu\",\"main\":\"index.js\"}"),
            ("node_modules/uvu/index.js", UVU),
        ]);
        let text = place.text("f.js");
        let judge = |program: &str| {
            let trial = trial(Language::JavaScript, program, place.tests("f.js", "test/f.test.ts"));
            place.judge(&runner, &Trial { stub: Some(text.clone()), ..trial })
        };
        let verdict = judge(&text);
        assert_eq!(
            (verdict.status, verdict.message.as_str()),
            (Status::Passed, "1 test"),
            "{script} {}",
            verdict.output
        );
        assert_eq!(judge(&text.replace("2 *", "3 *")).status, Status::Failed, "{script}");
        let more = "process.emit('beforeExit');\nprocess.exit(0);\n";
        assert_ne!(judge(&(text.replace("2 *", "3 *") + more)).status, Status::Passed, "{script}");
    }
}

#[test]
fn options_of_node_are_those_of_the_script_that_runs_the_tests() {
    let Some(runner) = node() else { return };
    let manifest = "{\"name\":\"doubling\",\"type\":\"module\",\"exports\":{\"development\":\"./dev/f.js\",\"default\":\"./made.js\"},\
        \"scripts\":{\"test\":\"node --conditions development --experimental-vm-modules test/index.js\"}}";
    let tests = "import assert from 'node:assert';\nimport test from 'node:test';\nimport vm from 'node:vm';\nimport { f } from 'doubling';\n\
        test('doubles', () => assert.equal(f(3), vm.SourceTextModule ? 6 : 0));\n";
    let place = Place::new(&[
        ("package.json", manifest),
        ("dev/f.js", "export function f(x) {\n  return 2 * x;\n}\n"),
        ("test/index.js", "import './f.js';\n"),
        ("test/f.js", tests),
    ]);
    let text = place.text("dev/f.js");
    let trial = trial(Language::JavaScript, &text, place.tests("dev/f.js", "test/f.js"));
    let verdict = place.judge(&runner, &Trial { stub: Some(text.clone()), ..trial });
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
}

#[test]
fn a_go_function_beside_tests_of_their_own_package_is_tried() {
    let Some(runner) = runner(Language::Go) else { return };
    let code = "package calc_test\n\nfunc f(x int) int {\n\treturn 2 * x\n}\n";
    let tests = "package calc_test\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif f(1) != 2 {\n\t\tt.Fatal(\"no\")\n\t}\n}\n";
    let place = Place::new(&[
        ("go.mod", "module example.com/calc\n\ngo 1.18\n"),
        ("calc.go", "package calc\n"),
        ("helper_test.go", code),
        ("calc_test.go", tests),
    ]);
    let judge = |program: &str| {
        let trial = trial(Language::Go, program, place.tests("helper_test.go", "calc_test.go"));
        place.judge(&runner, &Trial { stub: Some(code.to_owned()), ..trial })
    };
    let verdict = judge(code);
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::Passed, "1 test"), "{}", verdict.output);
    assert_eq!(judge(&code.replace("2 *", "3 *")).status, Status::Failed);
}

/// The verdict on a program by the tests that are usual for its `f`.
fn usual(runner: &Runner, place: &Place, file: &str, program: &str) -> Verdict {
    let target = target(place, file);
    let (tests, _) = Tests::usual(&target, Tests::found(&target)).unwrap();
    let (path, stub) = (Some(place.path().join(file)), Some(target.text.clone()));
    place.judge(runner, &Trial { file: path, stub, ..trial(target.language, program, tests) })
}

/// A file of the package that never calls the function takes nothing from what another one says.
#[test]
fn an_idle_tests_file_hides_no_failure_of_another() {
    let Some(runner) = node() else { return };
    let code = "function f(text) {\n  if (text.length > 1 && text[0] === '0') throw new Error('zero');\n  return Number(text);\n}\n\
        function comparator(text) {\n  return f(text.slice(1));\n}\nfunction parts(text) {\n  return text.split('.').map(f);\n}\n\
        module.exports = { comparator, parts };\n";
    let tests = |check: &str| {
        format!(
            "const test = require('node:test');\nconst assert = require('node:assert');\nconst u = require('./util');\ntest('t', () => {check});\n"
        )
    };
    let (idle, one) =
        (tests("assert.equal(typeof u.version, 'function')"), tests("assert.equal(u.comparator('>12'), 12)"));
    let two =
        tests("{ assert.deepEqual(u.version('1.20'), [1, 20]); assert.throws(() => u.version('01.2'), /zero/); }");
    let place = Place::new(&[
        ("package.json", "{\"name\":\"v\",\"scripts\":{\"test\":\"node --test test/\"}}"),
        ("lib/parse.js", code),
        ("lib/index.js", "const p = require('./parse');\nexports.Version = p.parts;\nexports.Req = p.comparator;\n"),
        (
            "test/util.js",
            "const { Version, Req } = require('../lib');\nexports.version = Version;\nexports.comparator = Req;\n",
        ),
        ("test/req.test.js", &one),
        ("test/shape.test.js", &idle),
        ("test/version.test.js", &two),
    ]);
    let judge = |program: &str| usual(&runner, &place, "lib/parse.js", program);
    let verdict = judge(code);
    assert_eq!((verdict.status, verdict.tests), (Status::Passed, None), "{}", verdict.message);
    let verdict = judge(&code.replace("length > 1", "length > 2"));
    let decided = verdict.tests.as_deref().unwrap_or_default();
    assert_eq!((verdict.status, decided), (Status::Failed, "version.test.js (of its package)"), "{verdict:?}");
}

#[test]
fn an_idle_rust_tests_file_hides_no_failure_of_another() {
    let Some(runner) = runner(Language::Rust) else { return };
    let code = "fn f(text: &str) -> Result<u64, String> {\n    if text.len() > 1 && text.starts_with('0') {\n        return Err(\"zero\".into());\n    }\n    \
        text.parse().map_err(|_| \"digit\".into())\n}\n\npub struct Req(pub u64);\npub struct Version(pub u64);\n\n\
        impl std::str::FromStr for Req {\n    type Err = String;\n    fn from_str(text: &str) -> Result<Self, String> {\n        comparator(text)\n    }\n}\n\n\
        fn comparator(text: &str) -> Result<Req, String> {\n    f(text).map(Req)\n}\n\n\
        impl std::str::FromStr for Version {\n    type Err = String;\n    fn from_str(text: &str) -> Result<Self, String> {\n        f(text).map(Version)\n    }\n}\n";
    let util = "#![allow(dead_code)]\npub fn comparator(text: &str) -> u64 {\n    text.parse::<doubling::Req>().unwrap().0\n}\n\
        pub fn wrong(text: &str) -> bool {\n    text.parse::<doubling::Version>().is_err()\n}\n";
    let tests = |check: &str| format!("mod util;\n\n#[test]\nfn it() {{\n    {check}\n}}\n");
    let (one, two) = (tests("assert_eq!(util::comparator(\"12\"), 12);"), tests("assert!(util::wrong(\"01\"));"));
    let place = Place::new(&[
        MANIFEST,
        ("src/lib.rs", code),
        ("tests/util/mod.rs", util),
        ("tests/a_req.rs", &one),
        ("tests/b_idle.rs", "#[test]\nfn idle() {\n    assert_eq!(doubling::Version(1).0, 1);\n}\n"),
        ("tests/c_version.rs", &two),
    ]);
    let judge = |program: &str| usual(&runner, &place, "src/lib.rs", program);
    let verdict = judge(code);
    assert_eq!((verdict.status, verdict.tests), (Status::Passed, None), "{}", verdict.message);
    let verdict = judge(&code.replace("len() > 1", "len() > 2"));
    let decided = verdict.tests.as_deref().unwrap_or_default();
    assert_eq!((verdict.status, decided), (Status::Failed, "c_version.rs (of its package)"), "{verdict:?}");
}

/// Tests of the file that fail in other functions say nothing of this one, which the mark names.
#[test]
fn examples_decide_beside_tests_that_fail_in_other_functions() {
    let Some(runner) = runner(Language::Python) else { return };
    if !has_pytest() {
        return;
    }
    let code = |body: &str| {
        format!("def f(x):\n    \"\"\"Double.\n\n    >>> f(3)\n    6\n    \"\"\"\n    {body}\n\n\ndef g():\n    pass\n")
    };
    let test = "from cart import g\n\n\ndef test_g():\n    assert g() == 1\n";
    let stub = code("pass");
    let place = Place::new(&[("pyproject.toml", ""), ("cart.py", &stub), ("test_cart.py", test)]);
    let judged = |body: &str| {
        let target = target(&place, "cart.py");
        let (tests, _) = Tests::usual(&target, Tests::found(&target)).unwrap();
        let (file, entry_point) = (Some(place.path().join("cart.py")), Some("f".to_owned()));
        let trial = trial(Language::Python, &code(body), tests);
        place.judge(&runner, &Trial { file, stub: Some(stub.clone()), entry_point, ..trial })
    };
    let verdict = judged("return 2 * x");
    assert_eq!(verdict.status, Status::Passed, "{verdict:?}");
    assert!(verdict.assurance.marks.iter().any(|mark| mark.contains("test_g")), "{verdict:?}");
    assert_eq!(judged("return x").status, Status::Failed);
}

/// Where the project's runner runs the examples of its modules, the file itself is a tests file: examples of
/// the class, the module and other functions count if they call the function.
#[test]
fn examples_of_the_whole_file_count_where_the_runner_runs_them() {
    let Some(runner) = runner(Language::Python) else { return };
    if !has_pytest() {
        return;
    }
    let class = "class Stack:\n    \"\"\"A stack.\n\n    >>> s = Stack()\n    >>> s.all = [1, 2]\n    >>> s.f()\n    2\n    \"\"\"\n\n    \
        def f(self):\n        \"\"\"The last value.\"\"\"\n        return self.all.pop()\n";
    let module = "\"\"\"Stacks.\n\n>>> Stack([1, 2]).f()\n2\n\"\"\"\n\n\nclass Stack:\n    def __init__(self, all):\n        self.all = all\n\n    \
        def f(self):\n        return self.all.pop()\n";
    let caller = "class Stack:\n    def __init__(self, all):\n        self.all = all\n\n    def f(self):\n        return self.all.pop()\n\n\n\
        def last(values):\n    \"\"\"\n    >>> last([1, 2])\n    2\n    \"\"\"\n    return Stack(values).f()\n\n\n\
        def other():\n    \"\"\"\n    >>> other()\n    'not what it gives'\n    \"\"\"\n";
    let test = "from pkg import multi\n\n\ndef test_f():\n    stack = multi.Stack.__new__(multi.Stack)\n    stack.all = [1]\n    assert stack.f() == 1\n";
    let settings = [
        (".pytest.ini", "[pytest]\naddopts = --doctest-modules\n"),
        ("tox.ini", "[testenv]\ncommands = pytest --doctest-modules {env_site_packages_dir}/pkg {tox_root}/tests\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = \"--doctest-modules\"\ntestpaths = [\"pkg\", \"tests\"]\n",
        ),
    ];
    for (code, setting) in [(class, settings[0]), (module, settings[1]), (caller, settings[2])] {
        let files = [("setup.cfg", ""), ("pkg/__init__.py", ""), ("pkg/multi.py", code), ("tests/test_multi.py", test)];
        let place = Place::new(&[&files[..], &[setting]].concat());
        let target = Target::read(
            &TargetSpec::parse(&format!("{}:Stack.f", place.path().join("pkg/multi.py").display())).unwrap(),
        )
        .unwrap();
        let judge = |place: &Place, program: &str| {
            let (tests, label) = Tests::usual(&target, Tests::found(&target)).unwrap();
            let (file, stub) = (Some(place.path().join("pkg/multi.py")), Some(code.to_owned()));
            let entry_point = Some("Stack.f".to_owned());
            let trial = Trial { file, stub, entry_point, ..trial(Language::Python, program, tests) };
            (place.judge(&runner, &trial), label)
        };
        let (verdict, label) = judge(&place, code);
        assert!(verdict.has_passed() && label.starts_with("doctest + "), "{}: {verdict:?}", setting.0);
        assert!(!verdict.assurance.runner.contains("doctest"), "{}: {verdict:?}", setting.0);
        let wrong = code.replace("self.all.pop()", "self.all.pop(0)");
        let (verdict, _) = judge(&place, &wrong);
        assert_eq!(verdict.status, Status::Failed, "{}: {verdict:?}", setting.0);
        assert!(verdict.message.contains("gave 1, expected 2"), "{}", verdict.message);
    }
    // The tests of this project do not run them.
    let (name, text) = settings[2];
    let only_tests = text.replace("\"pkg\", ", "");
    let files = [(name, &*only_tests), ("pkg/__init__.py", ""), ("pkg/multi.py", class), ("tests/test_multi.py", test)];
    let place = Place::new(&files);
    let spec = TargetSpec::parse(&format!("{}:Stack.f", place.path().join("pkg/multi.py").display())).unwrap();
    assert!(Tests::examples(&Target::read(&spec).unwrap()).is_err());
}

/// A file that the runner's own settings leave out is no tests file, and one of that kind decides nothing.
#[test]
fn files_that_vitest_does_not_run_decide_nothing() {
    let Some(runner) = node().filter(|_| has("vitest", &["--version"], "vitest")) else { return };
    let code = "export function add(a, b) {\n  return f(a, b);\n}\nfunction f(a, b) {\n  return a + b;\n}\nexport const name = 'add';\n";
    let tests = |load: &str, check: &str| {
        format!("import {{ expect, test }} from 'vitest';\n{load}test('t', () => {{ {check} }});\n")
    };
    let load = "import * as m from '../src/add.js';\n";
    let (stray, named) = (tests("", "expect(1).toBe(1);"), tests(load, "expect(m.name).toBe('add');"));
    let sum = tests(load, "expect(m['add'](1, 2)).toBe(3);");
    let place = Place::new(&[
        ("package.json", "{\"name\":\"inc\",\"type\":\"module\",\"scripts\":{\"test\":\"vitest run\"}}"),
        ("vitest.config.js", "export default { test: { include: ['tests/**/*.test.js'] } };\n"),
        ("src/add.js", code),
        ("scripts/a_stray.test.js", &stray),
        ("tests/add.test.js", &named),
        ("tests/zsum.test.js", &sum),
    ]);
    let verdict = usual(&runner, &place, "src/add.js", code);
    let decided = verdict.tests.as_deref().unwrap_or_default();
    assert_eq!((verdict.status, decided), (Status::Passed, "zsum.test.js (of its package)"), "{verdict:?}");
    let tests = place.tests("src/add.js", "scripts/a_stray.test.js");
    let trial = Trial { stub: Some(code.to_owned()), ..trial(Language::JavaScript, code, tests) };
    let verdict = place.judge(&runner, &trial);
    let said = "by its settings vitest does not run scripts/a_stray.test.js";
    assert_eq!((verdict.status, verdict.message.as_str()), (Status::NotRun, said), "{}", verdict.output);
}

#[test]
fn tests_that_load_what_a_script_makes_of_the_code_say_so() {
    let Some(runner) = node() else { return };
    let manifest = "{\"name\":\"bld\",\"type\":\"module\",\"main\":\"build/lib/index.js\",\
        \"scripts\":{\"pretest\":\"rimraf build && tsc\",\"test\":\"node --test\"}}";
    let tests = "import assert from 'node:assert';\nimport test from 'node:test';\nimport { f } from '../build/lib/index.js';\n\
        test('doubles', () => assert.equal(f(1), 2));\n";
    let code = "export function f(x) {\n  return 2 * x;\n}\n";
    let files = [("package.json", manifest), ("lib/index.js", code), ("test/f.test.js", tests)];
    let said = "f.test.js loads build/lib/index.js, which the script `pretest` makes of the code and a trial does not make anew: \
        give --test-command 'npm test'";
    for built in [Some(("build/lib/index.js", code)), None] {
        let all: Vec<_> = files.into_iter().chain(built).collect();
        let place = Place::new(&all);
        let verdict = usual(&runner, &place, "lib/index.js", code);
        assert_eq!(verdict.status, Status::NotRun, "{verdict:?}");
        assert!(verdict.message.contains(said), "{}", verdict.message);
    }
}

#[test]
fn tests_for_jasmine_are_not_taken_for_those_of_another_runner() {
    let Some(runner) = node() else { return };
    let place = Place::new(&[
        (
            "package.json",
            "{\"name\":\"j\",\"scripts\":{\"test\":\"jasmine 'spec/*.js'\"},\"devDependencies\":{\"jasmine\":\"6\"}}",
        ),
        ("src/f.js", "exports.f = f;\nfunction f(x) {\n  return 2 * x;\n}\n"),
        (
            "spec/f.spec.js",
            "const { f } = require('../src/f');\ndescribe('f', () => it('doubles', () => expect(f(1)).toBe(2)));\n",
        ),
        ("node_modules/.bin/jasmine", ""),
    ]);
    let target = target(&place, "src/f.js");
    let (tests, _) = Tests::usual(&target, Tests::found(&target)).unwrap();
    let error = runner.check(Language::JavaScript, target.path.as_deref(), &tests).unwrap_err().to_string();
    assert!(error.contains("the tests are for jasmine"), "{error}");
    assert!(error.contains("give --test-command 'node_modules/.bin/jasmine spec/f.spec.js'"), "{error}");
}

/// An installed jest also runs all tests of the project, file after file.
#[test]
fn modules_that_jest_s_settings_load_are_not_the_candidates_doing() {
    let Some(runner) = node() else { return };
    if !has("jest", &["--version"], "jest") {
        return;
    }
    let path = std::env::var_os("PATH").unwrap();
    let program = std::env::split_paths(&path).find_map(|folder| folder.join("jest").canonicalize().ok()).unwrap();
    let place = Place::new(&[
        ("package.json", "{\"name\":\"x\",\"scripts\":{\"test\":\"jest\"}}"),
        // As ts-node, it brings `node:domain` along.
        ("jest.config.js", "require('node:repl');\nmodule.exports = {};\n"),
        ("f.js", "function f(x) {\n  return 2 * x;\n}\nmodule.exports = { f };\n"),
        ("f.test.js", "const { f } = require('./f');\ntest('f', () => { expect(f(3)).toBe(6); });\n"),
        ("index.test.js", "const { f } = require('./f');\ntest('g', () => { expect(f(4)).toBe(8); });\n"),
    ]);
    if let Some(packages) = program.ancestors().find(|folder| folder.ends_with("node_modules")) {
        symlink(packages, place.path().join("node_modules")).unwrap();
    }
    let target = target(&place, "f.js");
    for (body, expected) in [("2 * x", Status::Passed), ("6", Status::Failed)] {
        let (tests, _) = Tests::usual(&target, Tests::found(&target)).unwrap();
        let (file, stub, entry_point) = (target.path.clone(), Some(target.text.clone()), Some("f".to_owned()));
        let program = target.splice(&format!("  return {body};\n"));
        let trial = Trial { file, stub, entry_point, ..trial(Language::JavaScript, &program, tests) };
        let verdict = runner.run(&trial, &Arc::default()).unwrap();
        assert_eq!(verdict.status, expected, "{verdict:?}");
    }
}
