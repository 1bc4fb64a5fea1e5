//! The tests that a user names: files, single tests of them, folders, patterns.

use std::path::{Path, PathBuf};

use super::Tests;
use super::language;
use crate::files;
use crate::language::Language;

impl Tests {
    /// The tests that a user names, for a program or a function of it, and their name for the reader. A
    /// folder stands for its tests files; if any mention the function, only those count. A pattern stands for
    /// the files that match, `FILE::TEST` for one test of a file.
    pub fn named(
        names: &[String],
        language: Language,
        program: Option<&Path>,
        function: Option<&str>,
    ) -> Result<(Self, String), String> {
        // Each file once, with the names of its tests. Without names all its tests run.
        let mut chosen: Vec<(PathBuf, Vec<String>)> = Vec::new();
        for name in names {
            let (name, test) = test_of(name)?;
            for path in files_of(name, language, function)? {
                match (chosen.iter_mut().find(|(known, _)| *known == path), test) {
                    (None, test) => chosen.push((path, test.into_iter().map(str::to_owned).collect())),
                    (Some((_, only)), Some(test)) if !only.is_empty() => only.push(test.to_owned()),
                    (Some((_, only)), _) => only.clear(),
                }
            }
        }
        let one = |(path, only): &(PathBuf, Vec<String>)| {
            let text = files::named_text(path).map_err(|why| format!("the tests file {} {why}", path.display()))?;
            if let Some(gone) = only.iter().find(|test| is_gone(test, &text)) {
                return Err(format!("--tests names the test `{gone}`, and {} has none of this name", path.display()));
            }
            let label = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            let tests = Self::of(program, path, text, only.clone());
            Ok((tests, if only.is_empty() { label.into_owned() } else { format!("{label}::{}", only.join(", ")) }))
        };
        let (mut tests, labels): (Vec<Self>, Vec<String>) =
            chosen.iter().map(one).collect::<Result<Vec<_>, String>>()?.into_iter().unzip();
        let tests = if tests.len() == 1 { tests.remove(0) } else { Self::Several(tests) };
        Ok((tests, labels.join(" + ")))
    }
}

/// Returns true if no part of a test's name is in its file. A test may be one of a class of another file, or
/// have further words.
fn is_gone(test: &str, text: &str) -> bool {
    let parts = test.split("::").flat_map(|part| part.split(['[', '/', '>'])).map(str::trim);
    parts.filter(|part| !part.is_empty()).all(|part| !text.contains(part))
}

/// The file in `FILE::TEST`, and the test. A file of exactly this name wins.
fn test_of(name: &str) -> Result<(&str, Option<&str>), String> {
    if name.trim().is_empty() {
        return Err("--tests is empty, expected a tests file, a folder or a pattern: give --tests FILE".to_owned());
    }
    if Path::new(name).exists() {
        return Ok((name, None));
    }
    let mut pairs = name.match_indices("::").map(|(at, _)| (&name[..at], &name[at + 2..]));
    let Some((file, test)) = pairs.clone().find(|(file, _)| Path::new(file).is_file()).or_else(|| pairs.next()) else {
        return Ok((name, None));
    };
    match (test.trim(), Path::new(file).is_dir() || file.contains(['*', '?'])) {
        ("", _) => Err(format!("--tests {name} names no test behind the `::`: give FILE or FILE::TEST")),
        (_, true) => Err(format!("--tests {name} names a test of no single file: give FILE::TEST")),
        (test, false) => Ok((file, Some(test))),
    }
}

/// The files that a name stands for; an error if there are none.
fn files_of(name: &str, language: Language, function: Option<&str>) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(name);
    let found = if path.is_dir() {
        language::tests_below(language, path, function)
    } else if path.exists() || !name.contains(['*', '?', '[']) {
        return Ok(vec![path.to_path_buf()]);
    } else {
        let matches = glob::glob(name).map_err(|e| format!("the tests file {name} is no pattern: {e}"))?;
        matches.filter_map(Result::ok).filter(|path| path.is_file()).collect()
    };
    if !found.is_empty() {
        return Ok(found);
    }
    let (is, of) = if path.is_dir() { ("is a folder", "lies in it") } else { ("is a pattern", "matches it") };
    Err(format!("the tests file {name} {is}, and no tests file of {} {of}: name the files", language.title()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::trial::Lone;

    #[test]
    fn single_tests_of_a_file_are_run_in_their_project() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let tests = ("test_a.py", "from a import f\n\n\ndef test_x(): f()\n\n\ndef test_y(): f()\n");
        crate::files::write_all(folder.path(), [("setup.cfg", ""), ("a.py", "def f(): ...\n"), tests]);
        let program = at("a.py");
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| at(name)).collect();
            Tests::named(&names, Language::Python, Some(Path::new(&program)), Some("f"))
        };
        let only = |names: &[&str]| match named(names).unwrap() {
            (Tests::Project(project), label) => (project.only.join(" "), label),
            (tests, label) => (format!("{tests:?}"), label),
        };
        assert_eq!(only(&["test_a.py::T::test_x"]), ("T::test_x".to_owned(), "test_a.py::T::test_x".to_owned()));
        assert_eq!(only(&["test_a.py::x", "test_a.py::y"]), ("x y".to_owned(), "test_a.py::x, y".to_owned()));
        for names in [["test_a.py::x", "test_a.py"], ["test_a.py", "test_a.py::x"]] {
            assert_eq!(only(&names).0, "", "all of them run");
        }
        let refused = |name: &str| named(&[name]).unwrap_err();
        assert!(refused("test_a.py::").contains("names no test"), "{}", refused("test_a.py::"));
        assert!(refused("gone.py::x").contains("gone.py cannot be read"), "{}", refused("gone.py::x"));
        assert!(refused("test_a.py::test_z").contains("has none of this name"), "{}", refused("test_a.py::test_z"));
        assert!(refused("::x").contains("no single file"), "{}", refused("::x"));
        let empty = |name: &str| Tests::named(&[name.to_owned()], Language::Python, None, None).unwrap_err();
        assert!(["", " "].iter().all(|name| empty(name).contains("--tests is empty")), "{}", empty(""));
        fs::remove_file(at("setup.cfg")).unwrap();
        let (tests, _) = named(&["test_a.py::x"]).unwrap();
        assert!(matches!(tests, Tests::Lone(Lone { only, .. }) if only == ["x"]));
    }

    #[test]
    fn folders_and_patterns_stand_for_their_tests_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let tests = [("tests/test_a.py", "assert f(1)\n"), ("tests/test_b.py", "assert g(1)\n")];
        let others = [("tests/helper.py", "f(1)\n"), ("tests/test_c.js", "f(1)\n")];
        crate::files::write_all(folder.path(), tests.into_iter().chain(others));
        let named = |names: &[&str], function: Option<&str>| {
            let names: Vec<String> = names.iter().map(|name| at(name)).collect();
            Tests::named(&names, Language::Python, None, function).map(|(_, label)| label)
        };
        assert_eq!(named(&["tests"], Some("f")).unwrap(), "test_a.py");
        assert_eq!(named(&["tests"], Some("other")).unwrap(), "test_a.py + test_b.py");
        assert_eq!(named(&["tests/test_?.py"], Some("f")).unwrap(), "test_a.py + test_b.py");
        let all = ["tests/test_b.py", "tests", "tests/helper.py"];
        assert_eq!(named(&all, None).unwrap(), "test_b.py + test_a.py + helper.py");
        let refused = |name: &str| named(&[name], None).unwrap_err();
        assert!(refused("gone.py").contains("gone.py cannot be read"), "{}", refused("gone.py"));
        assert!(refused("*.py").contains("no tests file of Python matches it"), "{}", refused("*.py"));
        fs::remove_file(at("tests/test_a.py")).unwrap();
        fs::remove_file(at("tests/test_b.py")).unwrap();
        let said = refused("tests");
        assert!(said.contains("is a folder, and no tests file of Python lies in it"), "{said}");
    }
}
