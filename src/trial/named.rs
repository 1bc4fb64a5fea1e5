//! The tests that a user names: files, folders, patterns.

use std::path::{Path, PathBuf};

use super::Tests;
use super::language;
use crate::files;
use crate::language::Language;

impl Tests {
    /// The tests in what a user names, for a program or a function of it, and what to call them. A folder
    /// stands for its tests files, of which those count that speak of the function, if any do; a pattern for
    /// the files that match. `is_tested_as_it_is`: see [`Tests::of_function`].
    pub fn named(
        names: &[String],
        language: Language,
        program: Option<(&Path, &str)>,
        function: Option<&str>,
        is_tested_as_it_is: bool,
    ) -> Result<(Self, String), String> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for name in names {
            let found = files_of(name, language, function)?;
            paths.extend(found.into_iter().filter(|path| !paths.contains(path)).collect::<Vec<_>>());
        }
        let one = |path: &PathBuf| {
            let text = files::named_text(path).map_err(|why| format!("the tests file {} {why}", path.display()))?;
            let tests = match (program, function) {
                (Some(program), Some(function)) if is_tested_as_it_is => {
                    Self::of_function(language, program, function, path, text)
                }
                _ => Self::of_file(language, program, path, text),
            };
            let label = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
            Ok((tests, label.into_owned()))
        };
        let (mut tests, labels): (Vec<Self>, Vec<String>) =
            paths.iter().map(one).collect::<Result<Vec<_>, String>>()?.into_iter().unzip();
        let tests = if tests.len() == 1 { tests.remove(0) } else { Self::Several(tests) };
        Ok((tests, labels.join(" + ")))
    }
}

/// The files that a name stands for, at least one.
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

    #[test]
    fn folders_and_patterns_stand_for_their_tests_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir(at("tests")).unwrap();
        for (name, text) in [
            ("tests/test_a.py", "assert f(1)\n"),
            ("tests/test_b.py", "assert g(1)\n"),
            ("tests/helper.py", "f(1)\n"),
            ("tests/test_c.js", "f(1)\n"),
        ] {
            fs::write(at(name), text).unwrap();
        }
        let named = |names: &[&str], function: Option<&str>| {
            let names: Vec<String> = names.iter().map(|name| at(name)).collect();
            Tests::named(&names, Language::Python, None, function, false).map(|(_, label)| label)
        };
        assert_eq!(named(&["tests"], Some("f")).unwrap(), "test_a.py");
        assert_eq!(named(&["tests"], Some("other")).unwrap(), "test_a.py + test_b.py");
        assert_eq!(named(&["tests/test_?.py"], Some("f")).unwrap(), "test_a.py + test_b.py");
        assert_eq!(
            named(&["tests/test_b.py", "tests", "tests/helper.py"], None).unwrap(),
            "test_b.py + test_a.py + helper.py"
        );
        let refused = |name: &str| named(&[name], None).unwrap_err();
        assert!(refused("gone.py").contains("gone.py cannot be read"), "{}", refused("gone.py"));
        assert!(refused("*.py").contains("no tests file of Python matches it"), "{}", refused("*.py"));
        fs::remove_file(at("tests/test_a.py")).unwrap();
        fs::remove_file(at("tests/test_b.py")).unwrap();
        assert!(
            refused("tests").contains("is a folder, and no tests file of Python lies in it"),
            "{}",
            refused("tests")
        );
    }
}
