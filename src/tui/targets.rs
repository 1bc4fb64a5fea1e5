//! Finds functions and makes jobs for them, off the loop.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use super::app::Msg;
use super::app::picker::{Found, Preview};
use super::background::{on_thread, tell};
use super::scan::{Bounds, Known, Place, is_test, scan};
use super::text;
use super::world::Incoming;
use crate::code::{self, FunctionName, Target, TargetSpec};
use crate::files;
use crate::job::{Job, TestsChoice};
use crate::language::Language;

/// Most lines of a preview.
const MOST_LINES: usize = 100;

/// A line about a function's language, if there is something to say.
pub type Advice = Arc<dyn Fn(Language) -> Option<String> + Send + Sync>;

/// Functions to choose from, and how jobs are made of them.
#[derive(Clone, Default)]
pub struct Functions {
    /// The folder that is looked through; the current one if empty.
    pub root: PathBuf,
    /// At the start only those of this file are offered.
    pub file: Option<PathBuf>,
    /// The picker is open at the start.
    pub at_start: bool,
    /// The user's choice of tests.
    pub tests: TestsChoice,
    /// Says what the models do not know.
    pub advice: Option<Advice>,
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { root, file, at_start, tests, advice: _ } = self;
        let mut shown = f.debug_struct("Functions");
        shown.field("root", root).field("file", file).field("at_start", at_start).field("tests", tests);
        shown.finish_non_exhaustive()
    }
}

impl Functions {
    /// Name of the folder for the screen.
    pub(super) fn folder(&self) -> String {
        let root = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        let name = root.canonicalize().ok().and_then(|root| Some(text::one_line(&root.file_name()?.to_string_lossy())));
        name.unwrap_or_else(|| "this folder".to_owned())
    }
}

/// The functions, and the scan that runs.
#[derive(Clone)]
pub struct Targets {
    functions: Functions,
    known: Known,
    stop: Arc<AtomicBool>,
    /// Functions that were left for the next one, by file and name.
    left: Arc<Mutex<HashSet<(PathBuf, String)>>>,
}

impl Targets {
    pub fn new(functions: Functions) -> Self {
        Self { functions, known: Known::default(), stop: Arc::default(), left: Arc::default() }
    }

    /// Functions are tested by these from now on.
    pub fn test_with(&mut self, tests: TestsChoice) {
        self.functions.tests = tests;
    }

    /// Ends the scan.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Tells the functions of a file or of the folder, on a thread.
    pub fn scan(&mut self, number: u64, file: Option<PathBuf>, sender: &UnboundedSender<Incoming>) {
        self.stop();
        self.stop = Arc::default();
        let this = self.clone();
        let failed = move |why| Msg::Scanned { scan: number, remark: Some(why) };
        on_thread(sender, "scan", failed, move |sender| {
            let place = Place { root: &this.functions.root, file: file.as_deref() };
            let remark = scan(place, Bounds::default(), &this.known, &this.stop, &mut |functions| match sender
                .send(Incoming::App(Msg::Found { scan: number, functions }))
            {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
            tell(sender, Msg::Scanned { scan: number, remark });
        });
    }

    /// The job for a function that was in this line when it was found.
    pub fn at(&self, job: &Job, path: &Path, name: &str, line: usize) -> Result<Job, String> {
        let read = |place| Target::read(&TargetSpec { path: path.to_path_buf(), place });
        // The name alone may be that of several functions, the line alone that of another one by now.
        let target = match read(code::Place::Line(line)) {
            Ok(target) if target.name == name => Ok(target),
            _ => read(code::Place::Function(name.to_owned())),
        };
        let target = target.map_err(|why| why.to_string())?;
        job.another(target, &self.functions.tests).map_err(|why| why.to_string())
    }

    /// The job for the next unfinished function that was not left before: of the file, else of the folder. Once
    /// all were left it begins anew.
    pub fn next(&self, job: &Job) -> Result<Option<Job>, String> {
        let current = job.target().and_then(|target| Some((target.path.clone()?, target.name.clone(), target.line)));
        let place =
            |path: &Path, name: &str| (path.canonicalize().unwrap_or_else(|_| path.to_path_buf()), name.to_owned());
        let own = current.as_ref().map(|(path, name, _)| place(path, name));
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(own.clone());
        for _ in 0..2 {
            let is_new = |path: &Path, name: &str| !left.contains(&place(path, name));
            if let Some((path, name, line)) = &current
                && let Some(next) = after(path, name, *line, &is_new)
            {
                return self.at(job, path, &next.name, next.line).map(Some);
            }
            if let Some(found) = self.first(own.as_ref().map(|own| &*own.0), &is_new) {
                return self.at(job, &found.path, &found.name, found.line).map(Some);
            }
            left.clear();
            left.extend(own.clone());
        }
        Ok(None)
    }

    /// The first unfinished function of the folder, outside of a file.
    fn first(&self, without: Option<&Path>, is_new: &dyn Fn(&Path, &str) -> bool) -> Option<Found> {
        let first = Cell::new(None);
        let is_other = |path: &Path| without.is_none() || path.canonicalize().ok().as_deref() != without;
        let is_next = |found: &Found| {
            !found.finished && !found.is_tests && is_other(&found.path) && is_new(&found.path, &found.name)
        };
        let place = Place { root: &self.functions.root, file: None };
        scan(place, Bounds::default(), &self.known, &AtomicBool::new(false), &mut |functions| match functions
            .into_iter()
            .find(is_next)
        {
            Some(found) => {
                first.set(Some(found));
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        });
        first.take()
    }

    /// A line about the language of a job.
    pub fn advice(&self, job: &Job) -> Option<String> {
        (self.functions.advice.as_ref()?)(job.language()?)
    }
}

/// The next unfinished function of a file behind another one, else the first, of those that are new.
fn after(path: &Path, name: &str, line: usize, is_new: &dyn Fn(&Path, &str) -> bool) -> Option<FunctionName> {
    let functions = code::function_names(Language::of_path(path)?, &files::text(path, files::TEXT).ok()?);
    let own = functions.iter().filter(|f| f.name == name).min_by_key(|f| f.line.abs_diff(line)).map(|f| f.line);
    let line = own.unwrap_or(line);
    let is_next = |f: &&FunctionName| !f.finished && !f.declaration && !is_test(&f.name);
    let is_open = |f: &&FunctionName| is_next(f) && Some(f.line) != own && is_new(path, &f.name);
    let open = || functions.iter().filter(is_open);
    open().find(|f| f.line > line).or_else(|| open().next()).cloned()
}

/// Tells the text of the function in a line, on a thread.
pub fn preview(path: PathBuf, line: usize, sender: &UnboundedSender<Incoming>) {
    let file = path.clone();
    let failed = move |why| Msg::Preview(Preview { path: file.clone(), line, text: Err(why) });
    on_thread(sender, "preview", failed, move |sender| {
        let text = text_of(&path, line);
        tell(sender, Msg::Preview(Preview { path, line, text }));
    });
}

fn text_of(path: &Path, line: usize) -> Result<String, String> {
    let spec = TargetSpec { path: path.to_path_buf(), place: code::Place::Line(line) };
    let target = Target::read(&spec).map_err(|why| why.to_string())?;
    let from = target.stub_start().min(target.function.end);
    let text = target.text.get(from..target.function.end).unwrap_or_default();
    Ok(text.lines().take(MOST_LINES).flat_map(|line| [line, "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_all;

    const OPEN: &str = "def a():\n    return 1\n\n\ndef b():\n    \"\"\"B.\"\"\"\n\n\ndef c():\n    pass\n";

    fn targets(root: &Path) -> Targets {
        Targets::new(Functions { root: root.to_path_buf(), ..Functions::default() })
    }

    #[test]
    fn the_next_one_is_of_the_file_then_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        write_all(folder.path(), [("one.py", OPEN), ("two.go", "package p\n\nfunc D() int {\n}\n")]);
        let targets = targets(folder.path());
        let name = |job: &Job| job.target().map(|target| target.name.clone()).unwrap();
        let example = Job::example(&TestsChoice::None).unwrap();
        let at = |name: &str, line| targets.at(&example, &folder.path().join("one.py"), name, line).unwrap();
        let next = |job: &Job| targets.next(job).unwrap();
        assert_eq!(next(&at("a", 1)).map(|job| name(&job)), Some("b".to_owned()));
        assert_eq!(next(&at("c", 9)).map(|job| name(&job)), Some("b".to_owned()), "from the end to the beginning");
        assert_eq!(next(&at("b", 5)).map(|job| name(&job)), Some("D".to_owned()), "all of the file were left");
        write_all(folder.path(), [("one.py", &*OPEN.replace("    pass", "    return 2"))]);
        assert_eq!(next(&at("b", 5)).map(|job| name(&job)), Some("D".to_owned()), "its own is not the next one");
        assert!(next(&example).is_some(), "without a file the first of the project");
        write_all(folder.path(), [("two.go", "package p\n\nfunc D() int { return 1 }\n")]);
        assert!(next(&at("b", 5)).is_none());
        let with_test = OPEN.replace("    pass", "    return 2") + "\n\ndef test_b():\n    pass\n";
        write_all(folder.path(), [("one.py", &*with_test)]);
        assert!(next(&at("b", 5)).is_none(), "a test is not the next one");
    }

    #[test]
    fn a_function_that_moved_is_found_by_name_and_a_lost_one_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one.py");
        let twice = "class A:\n    def f(self):\n        pass\n\n\nclass A:\n    def f(self):\n        pass\n";
        write_all(folder.path(), [("one.py", twice)]);
        let (targets, example) = (targets(folder.path()), Job::example(&TestsChoice::None).unwrap());
        let at = |name: &str, line| {
            let job = targets.at(&example, &file, name, line)?;
            Ok::<_, String>(job.target().unwrap().line)
        };
        assert_eq!((at("A.f", 2), at("A.f", 7)), (Ok(2), Ok(7)), "of one name, by their lines");
        std::fs::write(&file, format!("# new\n\n\n{OPEN}")).unwrap();
        assert_eq!(at("b", 5), Ok(8));
        assert!(at("A.f", 2).unwrap_err().contains("no function `A.f`"));
        std::fs::remove_file(&file).unwrap();
        assert!(at("b", 5).unwrap_err().contains("there is no file"));
        assert!(text_of(&file, 5).is_err());
    }

    #[test]
    fn a_preview_begins_with_the_head_and_is_short() {
        let folder = tempfile::tempdir().unwrap();
        let long = "    x = 1\n".repeat(500);
        write_all(folder.path(), [("one.py", &*format!("{OPEN}\n\n@cached\ndef d():\n{long}"))]);
        let file = folder.path().join("one.py");
        assert_eq!(text_of(&file, 5).unwrap(), "def b():\n    \"\"\"B.\"\"\"\n");
        let shown = text_of(&file, 14).unwrap();
        assert!(shown.starts_with("@cached\ndef d():\n") && shown.lines().count() == MOST_LINES, "{shown}");
    }
}
