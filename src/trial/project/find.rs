//! Finds the tests file of a function, by each language's file names and by the names that a file mentions.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::imports::{imported, relative_to};
use super::list::list;
use super::{Project, lone, top};
use crate::code::{self, names};
use crate::files;
use crate::language::Language;

/// A tests file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Reason for the choice, for the reader.
    pub why: String,
}

/// Returns true for a file that has nothing to do with the function's.
pub type Foreign = Box<dyn Fn(&Path) -> bool>;

/// Marks of a language's tests.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// The stem of the file that a tests file tests, by the path of the tests file. `None` if it is no tests
    /// file.
    pub about: fn(&Path) -> Option<String>,
    /// Further name patterns of tests files from the settings in a folder. One `*` stands for the tested
    /// file.
    pub named: fn(&Path) -> Vec<String>,
    /// Strings of which each runnable tests file holds one; empty if unknown.
    pub begins: &'static [&'static str],
    /// Strings in front of tests that stand in the tested file.
    pub inside: &'static [&'static str],
    /// Returns true if the tool leaves out a file here, such as one for another system.
    pub is_left_out: fn(&Path, &str) -> bool,
    /// The files of a project that have nothing to do with the function's, by its root and the function's file.
    /// Paths of files are relative to the root.
    pub foreign: fn(&Path, &Path) -> Foreign,
    /// Returns true for a file with tests that is not called like one, below a folder of tests.
    pub gathers: fn(&Path, &str) -> bool,
    /// True if all tests of a folder can be run, and those that call the function can be identified.
    pub tells_callers: bool,
    /// True if the tests files of a folder are one program, which holds all of them anyway.
    pub are_one_program: bool,
}

impl Marks {
    /// Marks of a language without tests.
    pub const NONE: Self = Self {
        about: |_| None,
        named: |_| Vec::new(),
        begins: &[],
        inside: &[],
        is_left_out: |_, _| false,
        foreign: |_, _| Box::new(|_| false),
        gathers: |_, _| false,
        tells_callers: false,
        are_one_program: false,
    };

    /// Returns true if a file with this text may hold tests that can be run.
    fn begin_in(&self, path: &Path, text: &str) -> bool {
        (self.begins.is_empty() || self.begins.iter().any(|mark| text.contains(mark)))
            && !(self.is_left_out)(path, text)
    }
}

/// Most calls between the tests and the function.
const MOST_CALLS: usize = 3;

/// Most files that are tried after the first ones, if those are not sensitive to the function.
const MOST_SPARE: usize = 8;

/// As many where all tests of the project follow them.
const MOST_SPARE_BEFORE_ALL: usize = 3;

/// Most further files of the package, which are tried last.
const MOST_REST: usize = 6;

/// The files that most likely test a function of a file in a project, in groups. The first group that is
/// sensitive to the function decides. The first group has at most two files: one that calls the function
/// directly or indirectly, and one that is named after its file; often they are the same. Each of the others
/// is a group of its own, so that one which never calls the function says nothing for another. The last is
/// the folder of all tests, if those that call the function can be identified; else the last ones are further
/// tests files of the package, the nearest first.
pub fn find(language: Language, marks: Marks, file: &Path, function: &str) -> Vec<Vec<Found>> {
    let Some(search) = Search::new(language, marks, file) else { return Vec::new() };
    let mut rated = search.rated(function, "");
    let mut callers = vec![function.to_owned()];
    for _ in 0..MOST_CALLS {
        // A file that names the class alone is no caller.
        if rated.first().is_some_and(|best| best.asks() > 1) {
            break;
        }
        let next = search.callers(&callers);
        let leads = format!(", which leads to {function}");
        // The name of its class alone does not identify a caller.
        let through = |caller: &String| {
            let (name, class) = parts(caller);
            let spoken_of = class.filter(|_| is_special(name)).unwrap_or(name);
            search.rated(spoken_of, &leads)
        };
        rated.extend(next.iter().filter(|caller| !callers.contains(caller)).flat_map(through));
        rated.sort_by(Rated::order);
        callers.extend(next);
    }
    if rated.is_empty() && !marks.tells_callers {
        rated = search.importers(function);
    }
    let best = rated.first();
    let named = rated.iter().find(|file| file.named >= Named::AfterFile);
    let named = named.filter(|_| best.is_some_and(|best| best.named < Named::AfterFile));
    let first: Vec<&Rated> = best.into_iter().chain(named).collect();
    let mut seen: HashSet<&Path> = first.iter().map(|file| file.path.as_path()).collect();
    let package = search.package_of(&first);
    seen.extend(package.iter().flat_map(|folder| search.files_in(folder)));
    let most = if marks.tells_callers { MOST_SPARE_BEFORE_ALL } else { MOST_SPARE };
    let spare = rated.iter().filter(|file| seen.insert(&file.path)).take(most).map(|file| vec![file]);
    let groups = [first.clone()].into_iter().chain(spare).filter(|group| !group.is_empty());
    let found = |file: &Rated| Found { path: search.root.join(&file.path), why: search.why(file) };
    let mut groups: Vec<Vec<Found>> = groups.map(|group| group.into_iter().map(found).collect()).collect();
    if let Some(folder) = package {
        groups.insert(1, vec![Found { path: search.root.join(folder), why: "all tests of its package".to_owned() }]);
    }
    let rest = search.suite().map_or_else(|| search.rest(&seen), |suite| vec![suite]);
    groups.extend(rest.into_iter().map(|found| vec![found]));
    groups
}

/// The tests files below a folder: those that mention the function if any do, else all.
pub fn below(language: Language, marks: Marks, folder: &Path, function: Option<&str>) -> Vec<PathBuf> {
    let files = list(folder).map(|list| list.files).unwrap_or_default().into_iter().map(|path| folder.join(path));
    let files = files.filter(|path| Language::of_path(path).is_some_and(|other| other.is_kin(language)));
    let files = files.filter(|path| (marks.about)(path).is_some());
    let files = files.filter_map(|path| files::text(&path, files::TEXT).ok().map(|text| (path, text)));
    let mut all: Vec<(PathBuf, String)> = files.filter(|(path, text)| marks.begin_in(path, text)).collect();
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
    /// True if the file has no project.
    is_lone: bool,
    root: PathBuf,
    own: PathBuf,
    /// The folder that tests start in.
    package: PathBuf,
    /// The stem that its tests file would be named after.
    stem: String,
    /// Name patterns of the project's tests files.
    named: Vec<String>,
    /// Files whose tests a package gathers, whatever they are called.
    gathered: HashSet<PathBuf>,
    /// Their paths below the root, and their texts.
    files: Vec<(PathBuf, String)>,
}

/// The subject in the name of a tests file.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    #[default]
    Otherwise,
    /// None: it tests the whole.
    Plainly,
    /// The file with the function.
    AfterFile,
    /// The function, as in `test_pause.py`: it may call it by an address or a command.
    AfterFunction,
}

/// Rating of a file, the most important criterion first.
#[derive(Default)]
struct Rated {
    path: PathBuf,
    /// How much it mentions the function, see [`mentions`].
    calls: u8,
    named: Named,
    /// True if a test in it is named after the function.
    has_test: bool,
    /// Number of places with the name of the function.
    places: usize,
    /// True if the name stands in it as a string, as in a table of functions.
    is_quoted: bool,
    imports: bool,
    /// Number of folders that both paths share.
    near: usize,
    /// The function that it calls, and how that leads to the function under test.
    called: String,
    leads: String,
}

impl Rated {
    /// How much it is about the function: by its own calls, then by its name, then by what leads to the
    /// function.
    fn asks(&self) -> u8 {
        match self.named {
            _ if self.calls > 1 && self.leads.is_empty() => 10 + self.calls,
            Named::AfterFunction => 10,
            _ => self.calls,
        }
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |file: &Self| {
            let length = file.path.components().count();
            let asks = (file.asks(), file.leads.is_empty(), file.has_test, file.named);
            (asks, file.is_quoted, file.imports, file.near, file.places, Reverse(length))
        };
        key(other).cmp(&key(self)).then_with(|| self.path.cmp(&other.path))
    }
}

impl Search {
    fn new(language: Language, marks: Marks, file: &Path) -> Option<Self> {
        let file = std::fs::canonicalize(file).ok()?;
        let project = top(file.parent()?);
        let is_lone = project.is_none();
        let (root, package) = project.unwrap_or_else(|| {
            let folder = file.parent().unwrap_or(Path::new("/")).to_path_buf();
            (folder.clone(), folder)
        });
        let package = package.strip_prefix(&root).ok()?.to_path_buf();
        let own = file.strip_prefix(&root).ok()?.to_path_buf();
        let stem = own.file_stem()?.to_str()?;
        // A module may be a folder, whose file has the same name in all folders. The file of a whole package
        // lies in a folder of the package's name.
        let above = file.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
        let folder = above.take_while(|_| Project::is_of_folder(stem)).find(|name| !["src", "lib"].contains(name));
        let stem = folder.unwrap_or(stem).to_owned();
        let is_tests = |path: &Path| {
            (marks.about)(path).is_some() && Language::of_path(path).is_some_and(|of| of.is_kin(language))
        };
        let files = if is_lone { lone::tests_around(&root, &is_tests) } else { list(&root).ok()?.files }.into_iter();
        let files = files.filter(|path| Language::of_path(path).is_some_and(|other| other.is_kin(language)));
        let is_foreign = (marks.foreign)(&root, &own);
        let files = files.filter(|path| !is_foreign(path));
        let files = files.filter_map(|path| files::text(&root.join(&path), files::TEXT).ok().map(|text| (path, text)));
        let named = [&package, Path::new("")].iter().flat_map(|folder| (marks.named)(&root.join(folder))).collect();
        let files: Vec<(PathBuf, String)> = files.collect();
        let gathered = files.iter().filter(|(path, text)| (marks.gathers)(path, text)).map(|(path, _)| path.clone());
        let gathered = gathered.collect();
        Some(Self { language, marks, is_lone, root, own, package, stem, named, gathered, files })
    }

    /// The stem that a tests file tests; `None` for other files.
    fn about(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let is_about = |pattern: &String| match pattern.split_once('*') {
            Some((head, tail)) => name.strip_prefix(head)?.strip_suffix(tail).map(str::to_owned),
            None => (pattern == name).then(String::new),
        };
        (self.marks.about)(path)
            .or_else(|| self.named.iter().find_map(is_about))
            .or_else(|| self.gathered.contains(path).then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten())
    }

    /// The tests files that mention a function or are named after its file, the best first.
    fn rated(&self, function: &str, leads: &str) -> Vec<Rated> {
        let Self { language, marks, own, stem, .. } = self;
        let rate = |(path, text): &(PathBuf, String)| {
            let (about, text) = match self.about(path) {
                Some(about) if path != own => (about, text.as_str()),
                _ => (String::new(), &text[marks.inside.iter().filter_map(|mark| text.find(mark)).min()?..]),
            };
            if !marks.begin_in(path, text) {
                return None;
            }
            let calls = mentions(*language, text, function);
            let is_of_function = leads.is_empty() && function.len() > 2 && about == function;
            let named = if is_of_function { Named::AfterFunction } else { self.named(&about) };
            let is_quoted = calls == 0 && leads.is_empty() && is_quoted(text, parts(function).0);
            let name = parts(function).0;
            let has_test = has_test_of(text, name);
            let places = text.matches(name).count();
            let imports = path == own || imported(text).iter().any(|word| word == stem);
            let near = path.components().zip(own.components()).take_while(|(a, b)| a == b).count();
            let (path, called, leads) = (path.clone(), function.to_owned(), leads.to_owned());
            (calls > 0 || is_quoted || (named >= Named::AfterFile && leads.is_empty())).then_some(Rated {
                path,
                calls,
                named,
                has_test,
                places,
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

    /// The subject of a tests file that is named after this stem.
    fn named(&self, about: &str) -> Named {
        match about {
            "" | "test" | "tests" | "index" => Named::Plainly,
            _ if about.trim_matches('_') == self.stem.trim_matches('_') => Named::AfterFile,
            _ => Named::Otherwise,
        }
    }

    /// The tests files that load the file. They may call the function by another name or indirectly. If tests
    /// stand in the files that they test, the file itself and those that load the function.
    fn importers(&self, function: &str) -> Vec<Rated> {
        let Self { marks, own, stem, .. } = self;
        let load = |(path, text): &(PathBuf, String)| {
            let is_inside = || marks.inside.iter().any(|mark| text.contains(mark)).then(String::new);
            let about = self.about(path).filter(|_| path != own).or_else(is_inside);
            let about = about.filter(|_| marks.begin_in(path, text))?;
            let is_meant = |word: &String| word == stem || word == parts(function).0;
            let imports = path == own || loads(text, path, own) || imported(text).iter().any(is_meant);
            imports.then(|| Rated {
                path: path.clone(),
                named: self.named(&about),
                imports,
                near: usize::from(path == own),
                called: function.to_owned(),
                ..Rated::default()
            })
        };
        let mut all: Vec<Rated> = self.files.iter().filter_map(load).collect();
        all.sort_by(Rated::order);
        all
    }

    /// The folder that holds all tests of the package.
    fn suite(&self) -> Option<Found> {
        let tests = self.files.iter().map(|(path, _)| path);
        let mut tests = tests.filter(|path| path.starts_with(&self.package) && self.about(path).is_some());
        let first = tests.next().filter(|_| self.marks.tells_callers && !self.is_lone)?.parent()?;
        let common = tests.fold(first, |common, path| {
            common.ancestors().find(|folder| path.starts_with(folder)).unwrap_or(Path::new(""))
        });
        let why = "all tests, of which those count that call it".to_owned();
        Some(Found { path: self.root.join(common), why })
    }

    /// The folder of the first files, where its tests are one program and others lie there, too.
    fn package_of(&self, first: &[&Rated]) -> Option<PathBuf> {
        let folder = first.first().filter(|_| self.marks.are_one_program && !self.is_lone)?.path.parent()?;
        let others = self.files_in(folder).filter(|path| first.iter().all(|file| file.path != *path));
        (others.count() > 0).then(|| folder.to_path_buf())
    }

    /// The tests files of a folder that can be run.
    fn files_in<'s>(&'s self, folder: &Path) -> impl Iterator<Item = &'s Path> {
        let is_tests =
            |(path, text): &&(PathBuf, String)| self.about(path).is_some() && self.marks.begin_in(path, text);
        let files = self.files.iter().filter(move |(path, _)| path.parent() == Some(folder));
        files.filter(is_tests).map(|(path, _)| path.as_path())
    }

    /// Tests files of the package that are not among these, before files with tests inside, the nearest first.
    fn rest(&self, seen: &HashSet<&Path>) -> Vec<Found> {
        let near = |path: &Path| path.components().zip(self.own.components()).take_while(|(a, b)| a == b).count();
        let is_new = |(path, text): &&(PathBuf, String)| {
            let is_of_package = path.starts_with(&self.package) && !seen.contains(path.as_path());
            let is_tests = self.about(path).is_some() || self.marks.inside.iter().any(|mark| text.contains(mark));
            is_of_package && is_tests && self.marks.begin_in(path, text)
        };
        let mut files: Vec<&Path> = self.files.iter().filter(is_new).map(|(path, _)| path.as_path()).collect();
        files.sort_by_key(|path| (self.about(path).is_none(), Reverse(near(path)), *path));
        let found = |path: &Path| Found { path: self.root.join(path), why: "of its package".to_owned() };
        files.into_iter().take(MOST_REST).filter(|_| !self.is_lone && !self.marks.tells_callers).map(found).collect()
    }

    /// The functions outside of tests that call one of these.
    fn callers(&self, called: &[String]) -> Vec<String> {
        let names: Vec<&str> = called.iter().map(|name| parts(name).0).collect();
        let is_source = |path: &PathBuf| *path == self.own || self.about(path).is_none();
        let texts = self.files.iter().filter(|(path, _)| is_source(path)).map(|(_, text)| text);
        let texts = texts.filter(|text| names.iter().any(|name| text.contains(name)));
        let mut all: Vec<String> = texts.flat_map(|text| code::callers(self.language, text, &names)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The reason for choosing a file, for the reader.
    fn why(&self, file: &Rated) -> String {
        let Rated { path, called, leads, calls, .. } = file;
        let name = self.own.file_name().unwrap_or_default().to_string_lossy();
        if file.named == Named::AfterFunction {
            return format!("named after {called}");
        }
        // A method of this name may be one of another class.
        let (verb, spoken_of) = match (parts(called), calls) {
            ((method, Some(_)), 2) => ("call", format!("a method {method}")),
            ((_, Some(class)), 1) => ("name", class.to_owned()),
            _ => ("call", called.clone()),
        };
        match (*path == self.own, *calls > 0, file.named == Named::AfterFile) {
            (true, false, _) => "the tests in the file itself".to_owned(),
            (true, ..) => format!("the tests in the file itself, which {verb} {spoken_of}{leads}"),
            (_, true, true) => format!("named after {name}, {verb}s {spoken_of}{leads}"),
            (_, true, false) => format!("{verb}s {spoken_of}{leads}"),
            (_, false, true) => format!("named after {name}"),
            (_, false, false) if file.is_quoted => format!("has the name {called} in quotes"),
            (_, false, false) => format!("loads {name}"),
        }
    }
}

/// The name of a function, and the name of its class.
fn parts(function: &str) -> (&str, Option<&str>) {
    let mut parts = function.rsplit(['.', ':']).filter(|part| !part.is_empty());
    (parts.next().unwrap_or(function), parts.next())
}

/// Returns true if a method is called without its name.
fn is_special(name: &str) -> bool {
    name.starts_with("__") || ["new", "constructor"].contains(&name)
}

/// Returns true if a text holds the quoted path of a file, relative to another file: with its extension,
/// without it, or as the path of its folder if the file stands for that.
fn loads(text: &str, from: &Path, file: &Path) -> bool {
    let is_of_folder = file.file_stem().and_then(|stem| stem.to_str()).is_some_and(Project::is_of_folder);
    let folder = file.parent().filter(|_| is_of_folder);
    text.split(['\'', '"', '`']).filter(|part| part.starts_with('.')).any(|part| {
        let path = relative_to(from, part);
        path == file || path == file.with_extension("") || Some(path.as_path()) == folder
    })
}

/// Returns true if a name follows a point or colons.
fn is_member(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| text[..at].ends_with(['.', ':']))
}

/// Returns true if a test in a text is named after a function, as `test_name` or `TestName`.
fn has_test_of(text: &str, name: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_lowercase();
    let asked = format!("test{}", plain(name));
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut tests = words.filter(|word| word.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("test")));
    name.len() > 2 && tests.any(|word| plain(word).starts_with(&asked))
}

/// Returns true if a name stands in quotes, alone.
fn is_quoted(text: &str, name: &str) -> bool {
    let quotes = ['\'', '"', '`'];
    let is = |(at, _): (usize, &str)| text[..at].ends_with(quotes) && text[at + name.len()..].starts_with(quotes);
    text.match_indices(name).any(is)
}

/// How much a text mentions a function. For a method: 2 for its name, which a call has to hold, and 1 for its
/// class. A special method is mentioned by its class.
fn mentions(language: Language, text: &str, function: &str) -> u8 {
    let (name, class) = parts(function);
    // Far cheaper than splitting all of it into words.
    if !text.contains(name) && !class.is_some_and(|class| text.contains(class)) {
        return 0;
    }
    let names = names(language, text);
    let speaks_of = |name: &str| names.contains(name);
    match class {
        Some(class) if is_special(name) => 3 * u8::from(speaks_of(class)),
        Some(class) => 2 * u8::from(speaks_of(name) && is_member(text, name)) + u8::from(speaks_of(class)),
        None => 3 * u8::from(speaks_of(name)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const MARKS: Marks = Marks {
        is_left_out: |_, text| text.starts_with("left out"),
        foreign: |_, _| Box::new(|_| false),
        about: |path| Some(path.file_stem()?.to_str()?.strip_prefix("test")?.trim_start_matches('_').to_owned()),
        named: |folder| {
            if folder.join("pyproject.toml").is_file() { vec!["*_check.py".to_owned()] } else { Vec::new() }
        },
        begins: &[],
        inside: &["# tests"],
        gathers: |_, text| text.starts_with("gathered"),
        tells_callers: true,
        are_one_program: false,
    };

    #[test]
    fn a_file_is_loaded_by_its_path_or_that_of_its_folder() {
        let (tests, index, other) = (Path::new("test/a.js"), Path::new("index.js"), Path::new("lib/b.js"));
        for text in ["require('../')", "require('..')", "from \"../index.js\"", "import '../index'"] {
            assert!(loads(text, tests, index), "{text}");
        }
        assert!(loads("require('../lib/b')", tests, other) && !loads("require('../lib')", tests, other));
        assert!(!loads("require('./index')", tests, index) && !loads("index ../index.js", tests, index));
    }

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
            ("whole/src/index.py", "def w(x): ...\n"),
            ("tests/test_whole.py", "from whole import main\n"),
            ("tests/test_a.py", "special(1)\n"),
            ("tests/test.py", "special(1)\n"),
            ("tests/test_class.py", "from pkg.words import Words\nassert Words().f()\n"),
            ("src/pkg/both.py", "def m(x): ...\ndef n(x): ...\n# tests\nassert m(1)\n"),
            ("src/pkg/deep.py", "def inner(x): ...\ndef middle(x):\n    return inner(x)\n"),
            ("src/pkg/outer.py", "from .deep import middle\ndef outer(x):\n    return middle(x)\n"),
            ("tests/test_outer.py", "from pkg.outer import outer\nassert outer(1)\n"),
            (
                "tests/test_outer_elsewhere.py",
                "left out\nfrom pkg.outer import outer\nassert outer(1) and special(2)\n",
            ),
            ("src/pkg/last.py", "def z(x): ...\n"),
            ("src/pkg/views.py", "def paused(x): ...\n"),
            ("tests/test_paused.py", "assert client.post('/paused')\n"),
            ("src/pkg/passed.py", "def by_name(x): ...\ndef more(): ...\n# tests\n"),
            ("src/pkg/takes.py", "from .many import (by_name)\nTABLE = [by_name]\n# tests\nassert TABLE\n"),
            ("tests/last_check.py", "from pkg.last import z\nassert z(1)\n"),
        ];
        crate::files::write_all(&root, files);
        let find = |file: &str, function: &str| -> Vec<(String, String)> {
            let groups = find(Language::Python, MARKS, &root.join(file), function).into_iter();
            groups
                .take(1)
                .flatten()
                .map(|f| (f.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), f.why))
                .collect()
        };
        let found = |path: &str, why: &str| vec![(path.to_owned(), why.to_owned())];
        assert_eq!(find("src/pkg/numbers.py", "f"), found("tests/test_numbers.py", "named after numbers.py, calls f"));
        let two = [found("tests/test_all.py", "calls g"), found("tests/test_numbers.py", "named after numbers.py")];
        assert_eq!(find("src/pkg/numbers.py", "g"), two.concat());
        assert_eq!(find("src/pkg/numbers.py", "h"), found("tests/test_numbers.py", "named after numbers.py"));
        let whole = found("tests/test_whole.py", "named after index.py");
        assert_eq!(find("whole/src/index.py", "w"), whole, "the file of a package is called like all of its kind");
        let first = found("tests/test.py", "calls special");
        assert_eq!(find("src/pkg/words.py", "special"), first, "named after nothing, it is about the whole");
        let all = found("tests", "all tests, of which those count that call it");
        assert_eq!(find("src/pkg/words.py", "k"), all);
        assert_eq!(find("src/pkg/words.py", "quoted"), found("tests/test_table.py", "has the name quoted in quotes"));
        for (method, why) in [
            ("Words.f", "calls Words.f"),
            ("Other.f", "calls a method f"),
            ("Words.other", "names Words"),
            ("Words.__len__", "calls Words.__len__"),
        ] {
            assert_eq!(find("src/pkg/words.py", method), found("tests/test_class.py", why));
        }
        let inside = "the tests in the file itself, which call m";
        assert_eq!(find("src/pkg/both.py", "m"), found("src/pkg/both.py", inside));
        assert_eq!(find("src/pkg/both.py", "n"), all);
        let named = "named after last.py, calls z";
        assert_eq!(find("src/pkg/last.py", "z"), found("tests/last_check.py", named), "as the settings say");
        let view = found("tests/test_paused.py", "named after paused");
        assert_eq!(find("src/pkg/views.py", "paused"), view, "it may call it by an address");
        let through = "calls outer, which leads to inner";
        assert_eq!(find("src/pkg/deep.py", "inner"), found("tests/test_outer.py", through));
        // If the callers cannot be identified, tests inside of files that may lead to the function are tried.
        let marks = Marks { tells_callers: false, ..MARKS };
        let groups = super::find(Language::Python, marks, &root.join("src/pkg/passed.py"), "by_name");
        let is_last = |group: &&Vec<Found>| group.iter().all(|found| found.why == "of its package");
        let (last, first): (Vec<_>, Vec<_>) = groups.iter().partition(is_last);
        let why: Vec<&str> = first.into_iter().flatten().map(|found| found.why.as_str()).collect();
        assert_eq!(why, ["the tests in the file itself", "loads passed.py"]);
        // Further ones of the package come last, each alone.
        assert!(last.len() == MOST_REST && last.iter().all(|group| group.len() == 1));
        assert!(groups.ends_with(&last.iter().copied().cloned().collect::<Vec<_>>()));
        assert_eq!(last[0][0].path, root.join("tests/last_check.py"), "files of tests come first");
        // Where the files of a folder are one program, it comes before files of other folders.
        let marks = Marks { are_one_program: true, ..marks };
        let groups = super::find(Language::Python, marks, &root.join("src/pkg/numbers.py"), "g");
        assert_eq!(groups[1], [Found { path: root.join("tests"), why: "all tests of its package".to_owned() }]);
        let others = groups[2..].iter().flatten();
        assert!(others.map(|found| &found.path).all(|path| path.parent() != Some(&root.join("tests"))));
        let groups = super::find(Language::Python, MARKS, &root.join("src/pkg/numbers.py"), "g");
        let groups: Vec<Vec<_>> =
            groups.iter().map(|group| group.iter().map(|f| f.path.file_name().unwrap()).collect()).collect();
        let expected = [vec!["test_all.py", "test_numbers.py"], vec!["test_other.py"], vec!["tests"]];
        assert_eq!(groups, expected, "one each after the first, and all");
    }

    /// Any of them may be the one that notices.
    #[test]
    fn many_files_that_call_it_are_tried_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        crate::files::write_all(&root, [("pyproject.toml", ""), ("m.py", "def g(x):\n    return x\n")]);
        for number in 0..10 {
            let path = format!("tests/test_{number}.py");
            crate::files::write_all(&root, [(&*path, "def test():\n    assert g(1)\n")]);
        }
        let count = |marks| {
            super::find(Language::Python, marks, &root.join("m.py"), "g")
                .iter()
                .filter(|group| group[0].why.contains("calls g"))
                .count()
        };
        assert_eq!(count(Marks { tells_callers: false, ..MARKS }), 1 + MOST_SPARE);
        assert_eq!(count(MARKS), 1 + MOST_SPARE_BEFORE_ALL, "all are run together behind these");
    }
}
