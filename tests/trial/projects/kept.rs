//! Results of tests without a candidate are cached for the next start of the program, as long as nothing
//! changes that it depends on.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bass_tui::language::Language;
use bass_tui::trial::{Status, Trial};

use crate::place::{Place, trial};
use crate::runner::{link_go_packages, probe, runner};

/// Judges a program at a start of the program: the status, how much of what was kept was taken, and how much
/// was found out anew.
fn start(kept: &Path, place: &Place, at: (Language, &str, &str), program: &str) -> (Status, usize, usize) {
    let files = || -> Vec<PathBuf> {
        fs::read_dir(kept.join("baselines")).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let (before, old) = (files(), SystemTime::now() - Duration::from_secs(1000));
    for file in &before {
        File::options().append(true).open(file).unwrap().set_modified(old).unwrap();
    }
    let (language, file, tests) = at;
    let (stub, entry_point) = (Some(place.text(file)), Some("f".to_owned()));
    let trial = Trial { stub, entry_point, ..trial(language, program, place.tests(file, tests)) };
    let verdict = place.judge(&probe().keeping(kept), &trial);
    // An entry that is used is marked so.
    let is_used = |file: &&PathBuf| fs::metadata(file).unwrap().modified().unwrap() != old;
    (verdict.status, before.iter().filter(is_used).count(), files().len() - before.len())
}

/// The run without the candidate can be made while candidates are still being written.
#[test]
fn tests_run_without_the_candidate_before_there_is_one() {
    let Some(runner) = runner(Language::Python) else { return };
    let code = "def f(x):\n    BODY\n";
    let files = [
        ("setup.cfg", ""),
        ("doubling.py", code),
        (
            "test_doubling.py",
            "import unittest\n\nfrom doubling import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(3), 6)\n",
        ),
    ];
    let (mut place, kept) = (Place::new(&files), tempfile::tempdir().unwrap());
    let own = code.replace("BODY", "raise NotImplementedError");
    place.write("doubling.py", &own);
    let tests = place.tests("doubling.py", "test_doubling.py");
    let prepared = Trial { stub: Some(own.clone()), ..trial(Language::Python, &own, tests) };
    runner.keeping(kept.path()).prepare(&prepared, &std::sync::Arc::default()).unwrap();
    place.is_as_it_was();
    let at = (Language::Python, "doubling.py", "test_doubling.py");
    let right = code.replace("BODY", "return 2 * x");
    assert_eq!(start(kept.path(), &place, at, &right), (Status::Passed, 1, 0), "nothing is found out anew");
    place.write("doubling.py", &code.replace("BODY", "y = x\n    return y"));
    assert_eq!(start(kept.path(), &place, at, &right), (Status::Passed, 1, 0), "another body changes nothing");
}

#[test]
fn javascript_is_known_until_tests_or_packages_change() {
    if runner(Language::JavaScript).is_none() {
        return;
    }
    let tests = "const test = require('node:test');\nconst assert = require('node:assert');\nconst { f } = require('../f.js');\n\
        require('../other.js');\ntest('doubles', () => assert.equal(f(3), 6));\n";
    let code = "exports.f = f;\nfunction f(x) {\n  return BODY;\n}\n";
    let files = [
        ("package.json", "{\"name\":\"doubling\"}"),
        ("f.js", code),
        ("other.js", ""),
        ("test/f.test.js", tests),
        ("node_modules/.package-lock.json", "{}"),
    ];
    let (mut place, kept) = (Place::new(&files), tempfile::tempdir().unwrap());
    let judge = |place: &Place, body: &str| {
        start(kept.path(), place, (Language::JavaScript, "f.js", "test/f.test.js"), &code.replace("BODY", body))
    };
    assert_eq!(judge(&place, "2 * x"), (Status::Passed, 0, 2));
    assert_eq!(judge(&place, "x + x"), (Status::Passed, 2, 0));
    assert_eq!(judge(&place, "x").0, Status::Failed);
    place.write("test/f.test.js", &format!("{tests}\n"));
    assert_eq!(judge(&place, "2 * x"), (Status::Passed, 0, 2));
    place.write("node_modules/.package-lock.json", "{ }");
    assert_eq!(judge(&place, "2 * x"), (Status::Passed, 0, 2));
    assert_eq!(judge(&place, "2 * x"), (Status::Passed, 2, 0));
}

#[test]
fn go_is_known_until_its_tests_change() {
    if runner(Language::Go).is_none() {
        return;
    }
    let tests =
        "package a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif f(3) != 6 {\n\t\tt.Fatal(f(3))\n\t}\n}\n";
    let code = "package a\n\nfunc f(x int) int {\n\treturn BODY\n}\n";
    let files = [("go.mod", "module a\n\ngo 1.18\n"), ("f.go", code), ("f_test.go", tests)];
    let (mut place, kept) = (Place::new(&files), tempfile::tempdir().unwrap());
    place.write("f.go", &code.replace("BODY", "2 * x"));
    link_go_packages(kept.path());
    let judge = |place: &Place, body: &str| {
        start(kept.path(), place, (Language::Go, "f.go", "f_test.go"), &code.replace("BODY", body))
    };
    assert_eq!(judge(&place, "2 * x"), (Status::Passed, 0, 2));
    // Go compiles again what imports another guard.
    let guard = || fs::read_to_string(kept.path().join("go/guard")).unwrap();
    let first = guard();
    assert_eq!(fs::metadata(kept.path().join("go/guard")).unwrap().permissions().mode() & 0o077, 0);
    assert_eq!(judge(&place, "x + x"), (Status::Passed, 2, 0));
    assert_eq!(judge(&place, "x").0, Status::Failed);
    place.write("f_test.go", &format!("{tests}\n"));
    assert_eq!(judge(&place, "2 * x"), (Status::Passed, 0, 2));
    // Where it was built, which is removed.
    assert_eq!(fs::read_dir(kept.path().join("go/places")).unwrap().count(), 0);
    // Another body in the user's file: the control run is still known.
    place.write("f.go", &code.replace("BODY", "x * 2"));
    assert_eq!(judge(&place, "x * 2"), (Status::Passed, 1, 1));
    assert_eq!(guard(), first, "nobody else knows it, and it stays");
}
