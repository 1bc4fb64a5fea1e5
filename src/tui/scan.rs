//! The functions of a project: files found along `.gitignore`, read with bounds, the latest changed first.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ignore::WalkBuilder;

use super::app::picker::Found;
use super::text;
use crate::code::{self, FunctionName};
use crate::files;
use crate::language::Language;
use crate::trial::{Project, tested_stem};

/// Folders of code that others have written, besides those that `.gitignore` names.
const VENDORED: &[&str] = &["vendor", "third_party", "bower_components", "site-packages"];
/// Marks a folder as a cache: <https://bford.info/cachedir/>.
const CACHE: &str = "CACHEDIR.TAG";
/// Functions or time after which what was found is told.
const BATCH: (usize, Duration) = (256, Duration::from_millis(40));

/// Limits of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most source files.
    pub files: usize,
    /// Most bytes of a file; larger ones are made by programs.
    pub file: u64,
    /// Most bytes of all files.
    pub bytes: u64,
    /// Most functions.
    pub functions: usize,
    /// Longest time.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        let time = Duration::from_secs(20);
        Self { files: 20_000, file: 1 << 20, bytes: 256 << 20, functions: 50_000, time }
    }
}

/// Functions of files as they were when they were read last, so that the next scan reads only what changed.
#[derive(Clone, Debug, Default)]
pub struct Known(Arc<Mutex<HashMap<PathBuf, Read>>>);

#[derive(Clone, Debug)]
struct Read {
    changed: SystemTime,
    len: u64,
    functions: Arc<[FunctionName]>,
}

/// A source file that was found.
struct SourceFile {
    path: PathBuf,
    language: Language,
    changed: SystemTime,
    len: u64,
    /// The stem it tests, if it is a tests file.
    tests: Option<String>,
}

/// Where functions are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub root: &'a Path,
    /// This file alone.
    pub file: Option<&'a Path>,
}

/// Tells the functions of a place in batches until `found` breaks off or `stop` is set. Returns a remark if a
/// limit left something out.
pub fn scan(
    place: Place,
    bounds: Bounds,
    known: &Known,
    stop: &AtomicBool,
    found: &mut dyn FnMut(Vec<Found>) -> ControlFlow<()>,
) -> Option<String> {
    let begin = Instant::now();
    let is_over = || stop.load(Ordering::Relaxed) || begin.elapsed() > bounds.time;
    let (files, mut is_cut) = match place.file {
        Some(file) => (source_file(file.to_path_buf()).into_iter().collect(), false),
        None => walk(place.root, bounds, &is_over),
    };
    let tests = TestsFiles::of(&files);
    let (mut batch, mut told, mut all, mut bytes) = (Vec::new(), Instant::now(), 0, 0);
    for (rank, file) in files.iter().enumerate() {
        bytes += file.len;
        if is_over() || bytes > bounds.bytes || all >= bounds.functions {
            is_cut = true;
            break;
        }
        let shown = file.path.strip_prefix(place.root).ok().filter(|path| !path.as_os_str().is_empty());
        let shown = text::one_line(&shown.unwrap_or(&file.path).to_string_lossy());
        let folders = place.file.is_none().then(|| file.path.strip_prefix(place.root).unwrap_or(&file.path));
        let mut folders = folders.into_iter().flat_map(Path::components);
        let is_in_tests = folders.any(|folder| folder.as_os_str().to_str().is_some_and(Project::is_of_tests));
        let tests_file = file.tests.is_none().then(|| tests.file_for(file)).flatten();
        for function in known.functions(file).iter().filter(|function| !function.declaration) {
            all += 1;
            batch.push(Found {
                path: file.path.clone(),
                shown: shown.clone(),
                name: function.name.clone(),
                line: function.line,
                finished: function.finished,
                language: file.language,
                is_tests: file.tests.is_some() || is_in_tests || is_test(&function.name),
                rank,
                tests: tests_file.clone(),
            });
        }
        if batch.len() >= BATCH.0 || (!batch.is_empty() && told.elapsed() >= BATCH.1) {
            told = Instant::now();
            if found(std::mem::take(&mut batch)).is_break() {
                return None;
            }
        }
    }
    if !batch.is_empty() {
        let _ = found(batch);
    }
    is_cut.then(|| "a part of it: name a folder to see the rest".to_owned())
}

/// The source files below a folder, the latest changed first, and true if a limit left some out.
fn walk(root: &Path, bounds: Bounds, is_over: &dyn Fn() -> bool) -> (Vec<SourceFile>, bool) {
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let is_wanted = |entry: &ignore::DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        entry.depth() == 0 || !is_folder || !is_foreign(entry.path())
    };
    // Files are left out as git leaves them out, also where there is no repository.
    let mut builder = WalkBuilder::new(root);
    let entries = builder.require_git(false).max_filesize(Some(bounds.file)).filter_entry(is_wanted).build();
    let mut files = Vec::new();
    let mut is_cut = false;
    for entry in entries.filter_map(Result::ok) {
        if files.len() >= bounds.files || is_over() {
            is_cut = true;
            break;
        }
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let path = entry.into_path();
            files.extend(source_file(path.strip_prefix("./").map(Path::to_path_buf).unwrap_or(path)));
        }
    }
    files.sort_by(|a, b| b.changed.cmp(&a.changed).then_with(|| a.path.cmp(&b.path)));
    (files, is_cut)
}

/// A function is a test by its name, dotted: `test_mean`, `TestMean`, `TestStats.test_mean`, `tests.mean`.
pub fn is_test(name: &str) -> bool {
    let is_case = |part: &str| part.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let mut parts = name.split(['.', ':']).filter(|part| !part.is_empty()).rev();
    let own = parts.next().unwrap_or_default();
    own.starts_with("test_") || is_case(own) || parts.any(|part| matches!(part, "test" | "tests"))
}

fn is_foreign(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    VENDORED.contains(&name) || folder.join(CACHE).exists() || Project::is_made(folder)
}

fn source_file(path: PathBuf) -> Option<SourceFile> {
    let language = Language::of_path(&path)?;
    let about = path.metadata().ok()?;
    let tests = tested_stem(language, &path);
    let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some(SourceFile { language, changed, len: about.len(), tests, path })
}

impl Known {
    /// The functions of a file; none if it cannot be read.
    fn functions(&self, file: &SourceFile) -> Arc<[FunctionName]> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |read: &&Read| (read.changed, read.len) == (file.changed, file.len);
        if let Some(read) = lock().get(&file.path).filter(is_same) {
            return Arc::clone(&read.functions);
        }
        let read = files::text(&file.path, files::TEXT);
        let functions: Arc<[FunctionName]> =
            read.map_or_else(|_| Vec::new(), |text| code::function_names(file.language, &text)).into();
        let read = Read { changed: file.changed, len: file.len, functions: Arc::clone(&functions) };
        lock().insert(file.path.clone(), read);
        functions
    }
}

/// Tests files by the stem that they are named after.
struct TestsFiles<'a>(HashMap<&'a str, Vec<&'a SourceFile>>);

impl<'a> TestsFiles<'a> {
    fn of(files: &'a [SourceFile]) -> Self {
        let mut by_stem: HashMap<&str, Vec<&SourceFile>> = HashMap::new();
        for file in files {
            if let Some(stem) = file.tests.as_deref().filter(|stem| !stem.is_empty()) {
                by_stem.entry(stem).or_default().push(file);
            }
        }
        Self(by_stem)
    }

    /// The name of the tests file that is named after this file, the one that shares most folders with it.
    fn file_for(&self, file: &SourceFile) -> Option<String> {
        let shared = |other: &SourceFile| {
            let pairs = file.path.components().zip(other.path.components());
            pairs.take_while(|(own, other)| own == other).count()
        };
        let named = self.0.get(file.path.file_stem()?.to_str()?)?;
        let best =
            named.iter().filter(|other| other.language.is_kin(file.language)).max_by_key(|other| shared(other))?;
        Some(text::one_line(&best.path.file_name()?.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_all;

    const BODY: &str = "def a(x):\n    return x\n\n\ndef b(x):\n    \"\"\"Open.\"\"\"\n";

    fn found(root: &Path, bounds: Bounds) -> (Vec<String>, Option<String>) {
        let mut all = Vec::new();
        let place = Place { root, file: None };
        let remark = scan(place, bounds, &Known::default(), &AtomicBool::new(false), &mut |batch| {
            all.extend(batch);
            ControlFlow::Continue(())
        });
        all.sort_by(|a, b| (&a.shown, a.line).cmp(&(&b.shown, b.line)));
        let shown = |f: &Found| {
            let tests = f.tests.as_ref().map_or_else(String::new, |t| format!(" {t}"));
            let kind = if f.is_tests { " of tests" } else { "" };
            format!("{}:{} {} {}{kind}{tests}", f.shown, f.line, f.name, if f.finished { "done" } else { "open" })
        };
        (all.iter().map(shown).collect(), remark)
    }

    #[test]
    fn ignored_hidden_vendored_and_foreign_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let ignore = "/made/\n*_pb2.py\n!keep_pb2.py\n";
        let files = [
            (".gitignore", ignore),
            ("src/a.py", BODY),
            ("src/keep_pb2.py", BODY),
            ("src/x_pb2.py", BODY),
            ("made/m.py", BODY),
            (".hidden/h.py", BODY),
            ("node_modules/p/i.js", "function f() {}\n"),
            ("vendor/v.go", "package v\nfunc V() {}\n"),
            ("env/pyvenv.cfg", ""),
            ("env/lib/e.py", BODY),
            ("cache/CACHEDIR.TAG", ""),
            ("cache/c.py", BODY),
            ("src/lib.rs", "fn open() {\n}\n"),
            ("notes.txt", "def a(): pass"),
            ("tests/test_a.py", "def test_a():\n    assert 1\n"),
            ("tests/data/open.py", "def c():\n    pass\n"),
        ];
        write_all(folder.path(), files);
        let (shown, remark) = found(folder.path(), Bounds::default());
        insta::assert_snapshot!(shown.join("\n"), @r"
        src/a.py:1 a done test_a.py
        src/a.py:5 b open test_a.py
        src/keep_pb2.py:1 a done
        src/keep_pb2.py:5 b open
        src/lib.rs:1 open open
        tests/data/open.py:1 c open of tests
        tests/test_a.py:1 test_a done of tests
        ");
        assert_eq!(remark, None);
    }

    #[test]
    fn tests_among_other_functions_are_tests() {
        for test in ["test_slug", "tests.sizes", "tests::sizes", "TestSlug", "TestSlug.test_empty", "a.tests.inner.f"] {
            assert!(is_test(test), "{test}");
        }
        for other in ["slug", "test", "tests", "testing", "Tester.run", "TestClient.get", "latest_of", "Testament"] {
            assert!(!is_test(other), "{other}");
        }
        let folder = tempfile::tempdir().unwrap();
        let rust = "fn open() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn sizes() {\n    }\n}\n";
        write_all(folder.path(), [("a.py", "def f():\n    pass\n\n\ndef test_f():\n    pass\n"), ("lib.rs", rust)]);
        let (shown, _) = found(folder.path(), Bounds::default());
        insta::assert_snapshot!(shown.join("\n"), @r"
        a.py:1 f open
        a.py:5 test_f open of tests
        lib.rs:1 open open
        lib.rs:6 tests.sizes open of tests
        ");
    }

    #[test]
    fn limits_hold_and_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..40).map(|n| format!("f{n:02}.py")).collect();
        write_all(folder.path(), names.iter().map(|name| (name.as_str(), BODY)));
        let all = Bounds::default();
        let limited = [
            Bounds { files: 10, ..all },
            Bounds { bytes: 10 * BODY.len() as u64, ..all },
            Bounds { functions: 20, ..all },
        ];
        for bounds in limited {
            let (shown, remark) = found(folder.path(), bounds);
            assert_eq!(shown.len(), 20, "{bounds:?}");
            assert!(remark.is_some(), "{bounds:?}");
        }
        assert!(found(folder.path(), Bounds { time: Duration::ZERO, ..all }).1.is_some());
        assert_eq!(found(folder.path(), Bounds { file: 10, ..all }), (Vec::new(), None), "large files are no source");
        assert_eq!(found(folder.path(), all).0.len(), 80);
    }

    #[test]
    fn the_latest_changed_comes_first_and_unchanged_files_are_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        write_all(folder.path(), [("old.py", BODY), ("new.py", BODY)]);
        let file = |name: &str| std::fs::File::options().write(true).open(folder.path().join(name)).unwrap();
        file("old.py").set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let known = Known::default();
        let first = |known: &Known| {
            let mut all = Vec::new();
            let place = Place { root: folder.path(), file: None };
            scan(place, Bounds::default(), known, &AtomicBool::new(false), &mut |batch| {
                all.extend(batch);
                ControlFlow::Continue(())
            });
            all.into_iter().map(|f| (f.shown, f.rank, f.name)).collect::<Vec<_>>()
        };
        let ranks = [("new.py", 0, "a"), ("new.py", 0, "b"), ("old.py", 1, "a"), ("old.py", 1, "b")];
        let ranks = ranks.map(|(path, rank, name)| (path.to_owned(), rank, name.to_owned()));
        assert_eq!(first(&known), ranks);
        // Another text of the same length and time is not looked at.
        std::fs::write(folder.path().join("old.py"), BODY.replace("def a", "def c")).unwrap();
        file("old.py").set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(first(&known), ranks);
        assert_eq!(first(&Known::default())[2].2, "c");
    }
}
