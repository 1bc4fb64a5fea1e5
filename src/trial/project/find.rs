//! The tests file of a function: by the names that a language gives to such files, and by what they mention.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::imports::imported;
use super::list::list;
use super::{Project, top};
use crate::code::{self, names};
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
    /// What one of stands in each tests file that can be run; empty where that is not known.
    pub begins: &'static [&'static str],
    /// What stands in front of tests in the file that they are about.
    pub inside: &'static [&'static str],
}

impl Marks {
    /// Whether a text may hold tests that can be run.
    fn begin_in(&self, text: &str) -> bool {
        self.begins.is_empty() || self.begins.iter().any(|mark| text.contains(mark))
    }
}

/// How many calls may lie between the tests and the function.
const MOST_CALLS: usize = 3;

/// The files that most likely test a function of a file in a project, at most two: one that calls it, or
/// calls what calls it, and one that is named after its file; often they are the same.
pub fn find(language: Language, marks: Marks, file: &Path, function: &str) -> Vec<Found> {
    let Some(search) = Search::new(language, marks, file) else { return Vec::new() };
    let mut rated = search.rated(function, "");
    let mut callers = vec![function.to_owned()];
    for _ in 0..MOST_CALLS {
        if rated.first().is_some_and(|best| best.calls > 0) {
            break;
        }
        let next = search.callers(&callers);
        let leads = format!(", which leads to {function}");
        // That a text speaks of its class says too little of a caller.
        let through = |caller: &String| {
            let (name, class) = parts(caller);
            let spoken_of = class.filter(|_| is_special(name)).unwrap_or(name);
            search.rated(spoken_of, &leads)
        };
        rated.extend(next.iter().filter(|caller| !callers.contains(caller)).flat_map(through));
        rated.sort_by(Rated::order);
        callers.extend(next);
    }
    let best = rated.first();
    let named = rated.iter().find(|file| file.is_named).filter(|_| best.is_some_and(|best| !best.is_named));
    let found = |file: &Rated| Found { path: search.root.join(&file.path), why: search.why(file) };
    best.into_iter().chain(named).map(found).collect()
}

/// The tests files below a folder: those that speak of the function, if any do, else all.
pub fn below(language: Language, marks: Marks, folder: &Path, function: Option<&str>) -> Vec<PathBuf> {
    let files = list(folder).map(|list| list.files).unwrap_or_default().into_iter().map(|path| folder.join(path));
    let files = files.filter(|path| Language::of_path(path).is_some_and(|other| other.is_kin(language)));
    let files = files.filter(|path| (marks.about)(path).is_some());
    let files = files.filter_map(|path| files::text(&path, files::TEXT).ok().map(|text| (path, text)));
    let mut all: Vec<(PathBuf, String)> = files.filter(|(_, text)| marks.begin_in(text)).collect();
    let speaks = |text: &str| function.is_some_and(|function| mentions(language, text, function) > 0);
    if all.iter().any(|(_, text)| speaks(text)) {
        all.retain(|(_, text)| speaks(text));
    }
    all.into_iter().map(|(path, _)| path).collect()
}

/// The source files of a project, and the one with the function.
struct Search {
    language: Language,
    marks: Marks,
    root: PathBuf,
    own: PathBuf,
    /// What its tests file would be named after.
    stem: String,
    /// Their paths below the root, and texts.
    files: Vec<(PathBuf, String)>,
}

/// How well a file fits, the most important first.
struct Rated {
    path: PathBuf,
    /// What it says of the function, see [`mentions`].
    calls: u8,
    /// Whether it is named after the file with the function.
    is_named: bool,
    /// Whether the name stands in it as a text, as in a table of what to call.
    is_quoted: bool,
    imports: bool,
    /// Folders that both lie in.
    near: usize,
    /// What it calls, and what that has to do with the function.
    called: String,
    leads: String,
}

impl Rated {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |file: &Self| {
            let length = file.path.components().count();
            (file.calls, file.leads.is_empty(), file.is_named, file.is_quoted, file.imports, file.near, Reverse(length))
        };
        key(other).cmp(&key(self)).then_with(|| self.path.cmp(&other.path))
    }
}

impl Search {
    fn new(language: Language, marks: Marks, file: &Path) -> Option<Self> {
        let file = std::fs::canonicalize(file).ok()?;
        let (root, _) = top(file.parent()?)?;
        let own = file.strip_prefix(&root).ok()?.to_path_buf();
        let stem = own.file_stem()?.to_str()?;
        // A module may be a folder, and the file in it is called like all of its kind.
        let folder = own.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let stem = folder.filter(|_| Project::is_of_folder(stem)).unwrap_or(stem).to_owned();
        let files = list(&root).ok()?.files.into_iter();
        let files = files.filter(|path| Language::of_path(path).is_some_and(|other| other.is_kin(language)));
        let files = files.filter_map(|path| files::text(&root.join(&path), files::TEXT).ok().map(|text| (path, text)));
        Some(Self { language, marks, files: files.collect(), root, own, stem })
    }

    /// The tests files that speak of a function, or are named after the file, the best first.
    fn rated(&self, function: &str, leads: &str) -> Vec<Rated> {
        let Self { language, marks, own, stem, .. } = self;
        let rate = |(path, text): &(PathBuf, String)| {
            let (named, text) = match (marks.about)(path) {
                Some(named) if path != own => (named, text.as_str()),
                _ => (String::new(), &text[marks.inside.iter().filter_map(|mark| text.find(mark)).min()?..]),
            };
            if !marks.begin_in(text) {
                return None;
            }
            let calls = mentions(*language, text, function);
            let is_named = !named.is_empty() && named.trim_matches('_') == stem.trim_matches('_');
            let is_quoted = calls == 0 && leads.is_empty() && is_quoted(text, parts(function).0);
            let imports = path == own || imported(text).iter().any(|word| word == stem);
            let near = path.components().zip(own.components()).take_while(|(a, b)| a == b).count();
            let (path, called, leads) = (path.clone(), function.to_owned(), leads.to_owned());
            (calls > 0 || is_quoted || (is_named && leads.is_empty())).then_some(Rated {
                path,
                calls,
                is_named,
                is_quoted,
                imports,
                near,
                called,
                leads,
            })
        };
        let mut all: Vec<Rated> = self.files.iter().filter_map(rate).collect();
        all.sort_by(Rated::order);
        all
    }

    /// The functions outside of tests that call one of these.
    fn callers(&self, called: &[String]) -> Vec<String> {
        let names: Vec<&str> = called.iter().map(|name| parts(name).0).collect();
        let is_source = |path: &PathBuf| *path == self.own || (self.marks.about)(path).is_none();
        let texts = self.files.iter().filter(|(path, _)| is_source(path)).map(|(_, text)| text);
        let texts = texts.filter(|text| names.iter().any(|name| text.contains(name)));
        let mut all: Vec<String> = texts.flat_map(|text| code::callers(self.language, text, &names)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Why a file is taken, for the reader.
    fn why(&self, file: &Rated) -> String {
        let Rated { path, called, leads, .. } = file;
        let name = self.own.file_name().unwrap_or_default().to_string_lossy();
        match (*path == self.own, file.calls > 0, file.is_named) {
            (true, ..) => format!("the tests in the file itself, which call {called}{leads}"),
            (_, true, true) => format!("named after {name}, calls {called}{leads}"),
            (_, true, false) => format!("calls {called}{leads}"),
            (_, false, true) => format!("named after {name}"),
            (_, false, false) => format!("has the name {called} in quotes"),
        }
    }
}

/// The name of a function, and that of its class.
fn parts(function: &str) -> (&str, Option<&str>) {
    let mut parts = function.rsplit(['.', ':']).filter(|part| !part.is_empty());
    (parts.next().unwrap_or(function), parts.next())
}

/// Whether a method is called without its name.
fn is_special(name: &str) -> bool {
    name.starts_with("__") || ["new", "constructor"].contains(&name)
}

/// Whether a name stands in quotes, alone.
fn is_quoted(text: &str, name: &str) -> bool {
    let quotes = ['\'', '"', '`'];
    let is = |(at, _): (usize, &str)| text[..at].ends_with(quotes) && text[at + name.len()..].starts_with(quotes);
    text.match_indices(name).any(is)
}

/// How much a text speaks of a function. Of a method: 2 for its class, which says more than a name that other
/// classes may have, too, and 1 for its name. One with a special name is spoken of by its class.
fn mentions(language: Language, text: &str, function: &str) -> u8 {
    let (name, class) = parts(function);
    // Far cheaper than to read all of it as words.
    if !text.contains(name) && !class.is_some_and(|class| text.contains(class)) {
        return 0;
    }
    let names = names(language, text);
    let speaks_of = |name: &str| names.contains(name);
    match class {
        Some(class) if is_special(name) => 3 * u8::from(speaks_of(class)),
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
        begins: &[],
        inside: &["# tests"],
    };

    #[test]
    fn the_files_that_call_the_function_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let files = [
            ("pyproject.toml", ""),
            ("src/pkg/numbers.py", "def f(x): ...\ndef g(x): ...\ndef h(x): ...\n"),
            ("src/pkg/words.py", "def k(x): ...\ndef quoted(x): ...\n"),
            ("tests/test_table.py", "from pkg import words\ncheck(words, 'quoted', 'not quotedly')\n"),
            ("tests/test_numbers.py", "from pkg.numbers import f\nassert f(1)  # not h\n"),
            ("tests/test_all.py", "from pkg.numbers import f, g\nassert f(1) and g(2)\n"),
            ("tests/test_other.py", "from other import g\nassert g(3)\n"),
            ("tests/helper.py", "h(1)\n"),
            ("tests/test_class.py", "from pkg.words import Words\nassert Words().f()\n"),
            ("src/pkg/both.py", "def m(x): ...\ndef n(x): ...\n# tests\nassert m(1)\n"),
            ("src/pkg/deep.py", "def inner(x): ...\ndef middle(x):\n    return inner(x)\n"),
            ("src/pkg/outer.py", "from .deep import middle\ndef outer(x):\n    return middle(x)\n"),
            ("tests/test_outer.py", "from pkg.outer import outer\nassert outer(1)\n"),
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
        assert_eq!(find("src/pkg/words.py", "quoted"), found("tests/test_table.py", "has the name quoted in quotes"));
        for method in ["Words.f", "Words.other", "Words.__len__"] {
            assert_eq!(find("src/pkg/words.py", method), found("tests/test_class.py", &format!("calls {method}")));
        }
        let inside = "the tests in the file itself, which call m";
        assert_eq!(find("src/pkg/both.py", "m"), found("src/pkg/both.py", inside));
        assert_eq!(find("src/pkg/both.py", "n"), []);
        let through = "calls outer, which leads to inner";
        assert_eq!(find("src/pkg/deep.py", "inner"), found("tests/test_outer.py", through));
    }
}
