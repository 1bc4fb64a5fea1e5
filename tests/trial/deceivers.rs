//! Programs that aim at the judge where it shares their process (`tests/hostile/shared`): alone and in a
//! project, none passes that forges a report, reads the judge's frames or memory, replaces what it judges by,
//! ends early or acts before the tests. What would fool the user's own runner, too, passes with a mark.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bass_tui::language::Language;
use bass_tui::trial::{Limits, Runner, Tests, Trial, Verdict};

use super::fools::is_known_to_fool;
use super::place::Place;
use super::python::{in_parallel, word};
use super::runners::runner;
use super::verdicts::limits;

/// A language, and how its programs are tested.
struct Kind {
    language: Language,
    folder: &'static str,
    /// Check that each program answers wrong.
    check: &'static str,
    /// Tests of a program that stands alone; `@` is the check.
    alone: (&'static str, &'static str),
    /// A project around it: its files, the place of the program and that of the tests.
    files: &'static [(&'static str, &'static str)],
    program: &'static str,
    tests: &'static str,
}

const PYTHON: Kind = Kind {
    language: Language::Python,
    folder: "python",
    check: "assert f(3) == 6",
    alone: ("test_f.py", "import inspect\nassert inspect.isfunction(f)\n@\n"),
    files: &[
        ("pyproject.toml", "[project]\nname = \"p\"\n"),
        ("pkg/__init__.py", ""),
        ("pkg/helper.py", "def twice(x):\n    return 2 * x\n"),
        ("pkg/doubling.py", "def f(x):\n    raise NotImplementedError\n"),
        (
            "tests/test_doubling.py",
            "import inspect\nimport unittest\n\nfrom pkg.doubling import f\nfrom pkg.helper import twice\n\n\nclass Doubling(unittest.TestCase):\n    \
             def test_doubles(self):\n        self.assertTrue(inspect.isfunction(f))\n        self.assertEqual(f(3), twice(3))\n\n    \
             def test_again(self):\n        @\n",
        ),
    ],
    program: "pkg/doubling.py",
    tests: "tests/test_doubling.py",
};

const JAVASCRIPT: Kind = Kind {
    language: Language::JavaScript,
    folder: "javascript",
    check: "assert.strictEqual(f(3), 6);",
    alone: ("t.js", "test('doubles', () => { @ });\ntest('again', () => { @ });\n"),
    files: &[
        ("package.json", "{\"scripts\":{\"test\":\"node --test\"}}"),
        ("src/helper.js", "exports.twice = (x) => 2 * x;\n"),
        ("src/f.js", "function f(x) {}\nmodule.exports = { f };\n"),
        (
            "test/f.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\nconst { f } = require('../src/f');\n\
             const { twice } = require('../src/helper');\ntest('doubles', () => { @ });\ntest('again', () => { assert.equal(twice(1), 2); @ });\n",
        ),
    ],
    program: "src/f.js",
    tests: "test/f.test.js",
};

const EXPECTING: &str = "const assert = require('node:assert');\nconst { f } = require('../src/f');\nconst { twice } = require('../src/helper');\n\
    test('doubles', () => { @ });\ntest('again', () => { expect(twice(1)).toBe(2); @ });\n";

/// These programs under other runners, where they are installed.
const JEST: Kind = Kind {
    check: "expect(f(3)).toBe(6);",
    files: &[
        ("package.json", "{\"scripts\":{\"test\":\"jest\"}}"),
        ("src/helper.js", "exports.twice = (x) => 2 * x;\n"),
        ("src/f.js", "function f(x) {}\nmodule.exports = { f };\n"),
        ("test/f.test.js", EXPECTING),
    ],
    ..JAVASCRIPT
};

const VITEST: Kind = Kind {
    check: "expect(f(3)).toBe(6);",
    files: &[
        ("package.json", "{\"scripts\":{\"test\":\"vitest\"}}"),
        ("src/helper.js", "exports.twice = (x) => 2 * x;\n"),
        ("src/f.js", "function f(x) {}\nmodule.exports = { f };\n"),
        (
            "test/f.test.js",
            "import assert from 'node:assert';\nimport { expect, test } from 'vitest';\nimport { f } from '../src/f';\nimport { twice } from '../src/helper';\n\
             test('doubles', () => { @ });\ntest('again', () => { expect(twice(1)).toBe(2); @ });\n",
        ),
    ],
    ..JAVASCRIPT
};

const MOCHA: Kind = Kind {
    files: &[
        ("package.json", "{\"scripts\":{\"test\":\"mocha --ui tdd\"}}"),
        ("src/helper.js", "exports.twice = (x) => 2 * x;\n"),
        ("src/f.js", "function f(x) {}\nmodule.exports = { f };\n"),
        (
            "test/f.test.js",
            "const assert = require('node:assert');\nconst { f } = require('../src/f');\nconst { twice } = require('../src/helper');\n\
             test('doubles', () => { @ });\ntest('again', () => { assert.equal(twice(1), 2); @ });\n",
        ),
    ],
    ..JAVASCRIPT
};

const RUST: Kind = Kind {
    language: Language::Rust,
    folder: "rust",
    check: "assert_eq!(f(3), 6);",
    alone: ("t.rs", "#[test]\nfn doubles() {\n    @\n}\n#[test]\nfn again() {\n    @\n}\n"),
    files: &[
        ("Cargo.toml", "[package]\nname = \"doubling\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "pub fn f(_x: i64) -> i64 {\n    todo!()\n}\n"),
        (
            "tests/doubling.rs",
            "use doubling::*;\n\n#[test]\nfn doubles() {\n    @\n}\n\n#[test]\nfn again() {\n    @\n}\n",
        ),
    ],
    program: "src/lib.rs",
    tests: "tests/doubling.rs",
};

const GO: Kind = Kind {
    language: Language::Go,
    folder: "go",
    check: "if f(3) != 6 { t.Fatal(\"wrong\") }",
    alone: (
        "f_test.go",
        "package main\n\nimport \"testing\"\n\nfunc TestDoubles(t *testing.T) {\n\t@\n}\n\nfunc TestAgain(t *testing.T) {\n\t@\n}\n",
    ),
    files: &[
        ("go.mod", "module doubling\n\ngo 1.18\n"),
        ("doubling.go", "package main\n\nfunc f(x int) int {\n\tpanic(\"not yet\")\n}\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
        (
            "doubling_test.go",
            "package main\n\nimport \"testing\"\n\nfunc TestDoubles(t *testing.T) {\n\t@\n}\n\nfunc TestAgain(t *testing.T) {\n\t@\n}\n",
        ),
    ],
    program: "doubling.go",
    tests: "doubling_test.go",
};

/// A line `// KEY: value` or `# KEY: value` of a program.
fn header<'a>(program: &'a str, key: &str) -> Option<&'a str> {
    program.lines().find_map(|line| {
        line.strip_prefix("// ").or_else(|| line.strip_prefix("# "))?.strip_prefix(key)?.strip_prefix(": ")
    })
}

impl Kind {
    fn programs(&self, least: usize) -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/shared").join(self.folder);
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(paths.len() >= least, "programs are missing");
        let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
    }

    fn trial(&self, program: &str, tests: Tests) -> Trial {
        let limits = Limits { memory: 512 << 20, ..limits(10.0) };
        let file = Some(format!("doubling.{}", self.language.extensions()[0]).into());
        let entry_point = Some("f".to_owned());
        Trial {
            language: self.language,
            program: program.to_owned(),
            file,
            entry_point,
            line: None,
            tests,
            stub: None,
            limits,
        }
    }

    fn alone(&self, runner: &Runner, program: &str) -> Verdict {
        let (name, text) = self.alone;
        let text = text.replace('@', header(program, "tests").unwrap_or(self.check));
        // A part that is replaced without the candidate, too, is the user's own doing.
        let own = self.files.iter().find(|(path, _)| *path == self.program).map(|(_, text)| (*text).to_owned());
        let stub = own.filter(|_| self.language == Language::JavaScript);
        let trial = Trial { stub, ..self.trial(program, Tests::text(name, &text)) };
        runner.run(&trial, &Arc::default()).unwrap()
    }

    /// A project with this check in its tests, and with the packages of this folder.
    fn place(&self, check: &str, packages: Option<&Path>) -> Place {
        let texts: Vec<String> = self.files.iter().map(|(_, text)| text.replace('@', check)).collect();
        let files: Vec<_> = self.files.iter().zip(&texts).map(|((path, _), text)| (*path, text.as_str())).collect();
        let place = Place::new(&files);
        if let Some(packages) = packages {
            symlink(packages, place.path().join("node_modules")).unwrap();
        }
        place
    }

    /// Tries every second program in a project, as all are tried alone in the same way; with installed
    /// packages all of them. Those with the same check share their project.
    fn hold_in_projects(&self, least: usize, packages: Option<&Path>) {
        let places: Mutex<BTreeMap<String, Arc<Place>>> = Mutex::default();
        let must_load = packages.is_none();
        self.hold(least, if must_load { 2 } else { 1 }, must_load, |runner, program| {
            let check = header(program, "tests").unwrap_or(self.check).to_owned();
            let place = Arc::clone(
                places.lock().unwrap().entry(check).or_insert_with_key(|check| Arc::new(self.place(check, packages))),
            );
            self.in_project(runner, &place, program)
        });
    }

    fn in_project(&self, runner: &Runner, place: &Place, program: &str) -> Verdict {
        let tests = place.tests(self.program, self.tests);
        let stub = Some(place.text(self.program));
        let trial = Trial { stub, ..self.trial(program, tests) };
        runner.run(&trial, &Arc::default()).unwrap()
    }

    /// Tries all programs. One that is not even loaded shows nothing, but for a few; runners that somebody
    /// else wrote trip over more of them.
    fn hold(&self, least: usize, every: usize, must_load: bool, judge: impl Fn(&Runner, &str) -> Verdict + Sync) {
        let Some(runner) = runner(self.language) else { return };
        let programs: Vec<_> = self.programs(least).into_iter().step_by(every).collect();
        let complaints = in_parallel(&programs, |(name, program)| {
            let verdict = judge(&runner, program);
            let is_right = is_known_to_fool(name, &verdict);
            // A name that only a crate has twice; a runner that trips over its patched library.
            let is_excused = ["ambiguous", "it failed by itself", "pytest ended early", "SystemExit", "result_of"]
                .iter()
                .any(|said| verdict.message.contains(said));
            let is_loaded = !must_load || word(verdict.status) != "error" || is_excused;
            if std::env::var_os("TRIAL_TIMES").is_some() {
                let mark = verdict.assurance.marks.first().map_or("-", String::as_str);
                eprintln!("{:5} ms {name}: {} {} [{mark}]", verdict.duration_ms, word(verdict.status), verdict.message);
            }
            (!is_right || !is_loaded).then(|| format!("{name}: {} {}", word(verdict.status), verdict.message))
        });
        assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    }
}

#[test]
fn python_does_not_deceive_alone() {
    PYTHON.hold(39, 1, true, |runner, program| PYTHON.alone(runner, program));
}

#[test]
fn python_does_not_deceive_in_a_project() {
    PYTHON.hold_in_projects(39, None);
}

#[test]
fn javascript_does_not_deceive_alone() {
    JAVASCRIPT.hold(45, 1, true, |runner, program| JAVASCRIPT.alone(runner, program));
}

#[test]
fn javascript_does_not_deceive_in_a_project() {
    JAVASCRIPT.hold_in_projects(45, None);
}

/// `NODE_MODULES=FOLDER cargo test --test trial installed -- --ignored` for the runners in a folder of packages.
fn hold_installed(name: &str, kind: &Kind) {
    let packages = std::env::var_os("NODE_MODULES").map(PathBuf::from).filter(|packages| packages.join(name).is_dir());
    match packages {
        Some(packages) => kind.hold_in_projects(45, Some(&packages)),
        None => crate::skip::for_want_of(name, "NODE_MODULES names no folder with it"),
    }
}

#[test]
#[ignore = "needs a package of npm"]
fn javascript_does_not_deceive_an_installed_mocha() {
    hold_installed("mocha", &MOCHA);
}

#[test]
#[ignore = "needs a package of npm"]
fn javascript_does_not_deceive_an_installed_jest() {
    hold_installed("jest", &JEST);
}

#[test]
#[ignore = "needs a package of npm"]
fn javascript_does_not_deceive_an_installed_vitest() {
    hold_installed("vitest", &VITEST);
}

#[test]
fn rust_does_not_deceive_alone() {
    RUST.hold(32, 1, true, |runner, program| RUST.alone(runner, program));
}

#[test]
#[ignore = "builds a crate for each program"]
fn rust_does_not_deceive_in_a_crate() {
    RUST.hold_in_projects(32, None);
}

#[test]
fn go_does_not_deceive_alone() {
    GO.hold(23, 1, true, |runner, program| GO.alone(runner, program));
}

#[test]
#[ignore = "builds a module for each program"]
fn go_does_not_deceive_in_a_module() {
    GO.hold_in_projects(23, None);
}
