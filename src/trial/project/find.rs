//! The tests file of a function: by the names that a language gives to such files, and by what they mention.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::imports::imported;
use super::list::list;
use super::top;
use crate::code::{Word, words};
use crate::files;
use crate::language::Language;

/// A tests file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Why it is taken, for the reader.
    pub why: String,
}

/// How a language marks its tests.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// The stem of the file that a tests file is about, by its own path; `None`: it is no tests file.
    pub about: fn(&Path) -> Option<String>,
    /// What stands in front of tests in the file that they are about.
    pub inside: &'static [&'static str],
}

/// The file that most likely tests a function of a file in a project: one that calls it, best one that is
/// named after its file, and else one that is only named so.
pub fn find(language: Language, marks: Marks, file: &Path, function: &str) -> Option<Found> {
    let file = std::fs::canonicalize(file).ok()?;
    let (root, _) = top(file.parent()?)?;
    let own = file.strip_prefix(&root).ok()?;
    let stem = own.file_stem()?.to_str()?;
    // A module may be a folder, and the file in it is called like all of its kind.
    let is_of_folder = ["__init__", "mod", "lib", "index", "main"].contains(&stem);
    let stem = if is_of_folder {
        own.parent().and_then(Path::file_name).and_then(|n| n.to_str()).unwrap_or(stem)
    } else {
        stem
    };
    let rate = |path: PathBuf| {
        let read = || files::text(&root.join(&path), files::TEXT).ok();
        let (named, text) = if path == own {
            let text = read()?;
            let at = marks.inside.iter().filter_map(|mark| text.find(mark)).min()?;
            (stem.to_owned(), text[at..].to_owned())
        } else {
            ((marks.about)(&path)?, read()?)
        };
        let calls = mentions(language, &text, function);
        let is_named = named.trim_matches('_') == stem.trim_matches('_');
        let imports = path == own || imported(&text).iter().any(|word| word == stem);
        let near = path.components().zip(own.components()).take_while(|(a, b)| a == b).count();
        let length = path.components().count();
        let is_it = if path == own { calls } else { calls || is_named };
        is_it.then_some(((calls, is_named, imports, near, Reverse(length)), path))
    };
    let files =
        list(&root).ok()?.files.into_iter().filter(|path| Language::of_path(path).is_some_and(|l| is_kin(l, language)));
    let ((calls, is_named, ..), path) =
        files.filter_map(rate).max_by(|(one, a), (two, b)| one.cmp(two).then(b.cmp(a)))?;
    let name = own.file_name()?.to_string_lossy();
    let why = match (path == own, calls, is_named) {
        (true, ..) => format!("the tests in the file itself, which call {function}"),
        (_, true, true) => format!("named after {name}, calls {function}"),
        (_, true, false) => format!("calls {function}"),
        (_, false, _) => format!("named after {name}"),
    };
    Some(Found { path: root.join(path), why })
}

/// Whether files of one language may test those of the other.
fn is_kin(one: Language, other: Language) -> bool {
    let script = |language| matches!(language, Language::JavaScript | Language::TypeScript);
    one == other || (script(one) && script(other))
}

/// Whether a text speaks of a function. A method is spoken of by its own name, one with a special name by
/// that of its class.
fn mentions(language: Language, text: &str, function: &str) -> bool {
    let mut parts = function.rsplit(['.', ':']).filter(|part| !part.is_empty());
    let name = match (parts.next().unwrap_or(function), parts.next()) {
        (name, Some(class)) if name.starts_with("__") || ["new", "constructor"].contains(&name) => class,
        (name, _) => name,
    };
    let is_it = |word: &Word| matches!(word, Word::Name(word) if word.as_str() == name);
    // Examples stand in comments and strings.
    text.contains(name) && words(language, text).iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MARKS: Marks = Marks {
        about: |path| Some(path.file_stem()?.to_str()?.strip_prefix("test_")?.to_owned()),
        inside: &["# tests"],
    };

    #[test]
    fn the_file_that_calls_the_function_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let files = [
            ("pyproject.toml", ""),
            ("src/pkg/numbers.py", "def f(x): ...\ndef g(x): ...\ndef h(x): ...\n"),
            ("src/pkg/words.py", "def k(x): ...\n"),
            ("tests/test_numbers.py", "from pkg.numbers import f\nassert f(1)  # not h\n"),
            ("tests/test_all.py", "from pkg.numbers import f, g\nassert f(1) and g(2)\n"),
            ("tests/test_other.py", "from other import g\nassert g(3)\n"),
            ("tests/helper.py", "h(1)\n"),
            ("src/pkg/both.py", "def m(x): ...\ndef n(x): ...\n# tests\nassert m(1)\n"),
        ];
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let find = |file: &str, function: &str| {
            let found = find(Language::Python, MARKS, &root.join(file), function)?;
            Some((found.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), found.why))
        };
        let found = |path: &str, why: &str| Some((path.to_owned(), why.to_owned()));
        assert_eq!(find("src/pkg/numbers.py", "f"), found("tests/test_numbers.py", "named after numbers.py, calls f"));
        assert_eq!(find("src/pkg/numbers.py", "g"), found("tests/test_all.py", "calls g"));
        assert_eq!(find("src/pkg/numbers.py", "h"), found("tests/test_numbers.py", "named after numbers.py"));
        assert_eq!(find("src/pkg/words.py", "k"), None);
        let inside = "the tests in the file itself, which call m";
        assert_eq!(find("src/pkg/both.py", "m"), found("src/pkg/both.py", inside));
        assert_eq!(find("src/pkg/both.py", "n"), None);
    }
}
