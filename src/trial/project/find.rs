//! The tests file of a function: by the names that a language gives to such files, and by what they mention.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::imports::imported;
use super::list::list;
use super::top;
use crate::code::names;
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

/// The files that most likely test a function of a file in a project, at most two: one that calls it, and one
/// that is named after its file; often they are the same.
pub fn find(language: Language, marks: Marks, file: &Path, function: &str) -> Vec<Found> {
    rated(language, marks, file, function).unwrap_or_default()
}

fn rated(language: Language, marks: Marks, file: &Path, function: &str) -> Option<Vec<Found>> {
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
        let is_it = if path == own { calls > 0 } else { calls > 0 || is_named };
        is_it.then_some(((calls, is_named, imports, near, Reverse(length)), path))
    };
    let files =
        list(&root).ok()?.files.into_iter().filter(|path| Language::of_path(path).is_some_and(|l| is_kin(l, language)));
    let mut all: Vec<_> = files.filter_map(rate).collect();
    all.sort_by(|(one, a), (two, b)| two.cmp(one).then(a.cmp(b)));
    let name = own.file_name()?.to_string_lossy();
    let best = all.first()?;
    let named = all.iter().find(|((_, is_named, ..), _)| *is_named).filter(|_| !best.0.1);
    let found = |((calls, is_named, ..), path): &(Rating, PathBuf)| {
        let why = match (path == own, *calls > 0, *is_named) {
            (true, ..) => format!("the tests in the file itself, which call {function}"),
            (_, true, true) => format!("named after {name}, calls {function}"),
            (_, true, false) => format!("calls {function}"),
            (_, false, _) => format!("named after {name}"),
        };
        Found { path: root.join(path), why }
    };
    Some([Some(best), named].into_iter().flatten().map(found).collect())
}

/// How well a file fits: what it says of the function, whether it is named after its file and imports it, how
/// near it is, and how short its path.
type Rating = (u8, bool, bool, usize, Reverse<usize>);

/// Whether files of one language may test those of the other.
fn is_kin(one: Language, other: Language) -> bool {
    let script = |language| matches!(language, Language::JavaScript | Language::TypeScript);
    one == other || (script(one) && script(other))
}

/// How much a text speaks of a function. Of a method: 2 for its class, which says more than a name that other
/// classes may have, too, and 1 for its name. One with a special name is spoken of by its class.
fn mentions(language: Language, text: &str, function: &str) -> u8 {
    let mut parts = function.rsplit(['.', ':']).filter(|part| !part.is_empty());
    let (name, class) = (parts.next().unwrap_or(function), parts.next());
    let is_special = name.starts_with("__") || ["new", "constructor"].contains(&name);
    // Far cheaper than to read all of it as words.
    if !text.contains(name) && !class.is_some_and(|class| text.contains(class)) {
        return 0;
    }
    let names = names(language, text);
    let speaks_of = |name: &str| names.contains(name);
    match class {
        Some(class) if is_special => 3 * u8::from(speaks_of(class)),
        Some(class) => u8::from(speaks_of(name)) + 2 * u8::from(speaks_of(class)),
        None => 3 * u8::from(speaks_of(name)),
    }
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
    fn the_files_that_call_the_function_are_found() {
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
            ("tests/test_class.py", "from pkg.words import Words\nassert Words().f()\n"),
            ("src/pkg/both.py", "def m(x): ...\ndef n(x): ...\n# tests\nassert m(1)\n"),
        ];
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        let find = |file: &str, function: &str| -> Vec<(String, String)> {
            let found = find(Language::Python, MARKS, &root.join(file), function).into_iter();
            found.map(|f| (f.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), f.why)).collect()
        };
        let found = |path: &str, why: &str| vec![(path.to_owned(), why.to_owned())];
        assert_eq!(find("src/pkg/numbers.py", "f"), found("tests/test_numbers.py", "named after numbers.py, calls f"));
        let two = [found("tests/test_all.py", "calls g"), found("tests/test_numbers.py", "named after numbers.py")];
        assert_eq!(find("src/pkg/numbers.py", "g"), two.concat());
        assert_eq!(find("src/pkg/numbers.py", "h"), found("tests/test_numbers.py", "named after numbers.py"));
        assert_eq!(find("src/pkg/words.py", "k"), []);
        for method in ["Words.f", "Words.other", "Words.__len__"] {
            assert_eq!(find("src/pkg/words.py", method), found("tests/test_class.py", &format!("calls {method}")));
        }
        let inside = "the tests in the file itself, which call m";
        assert_eq!(find("src/pkg/both.py", "m"), found("src/pkg/both.py", inside));
        assert_eq!(find("src/pkg/both.py", "n"), []);
    }
}
