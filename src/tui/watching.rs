//! Tells when files of the job are saved by another program, on a thread.
//!
//! Editors write a file in place, or a new one that then gets its name: so the folder is watched, and what
//! counts is the content. One save is many events; they are told once, when they have ended.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecursiveMode, Watcher};

use super::app::watch::Touched;
use crate::files;
use crate::hash;
use crate::job::Job;

/// Time without events after which a save has ended.
const QUIET: Duration = Duration::from_millis(100);
/// Time between two looks where the system tells nothing.
const POLL: Duration = Duration::from_secs(1);

/// A file that is watched.
#[derive(Debug)]
struct File {
    path: PathBuf,
    /// Its content, as far as it is known.
    hash: Option<u64>,
    is_tests: bool,
}

impl File {
    fn new(path: PathBuf, is_tests: bool) -> Self {
        let hash = content(&path);
        Self { path, hash, is_tests }
    }
}

/// A number for the content of a file; none while there is nothing in it, as in the midst of a save.
fn content(path: &Path) -> Option<u64> {
    let text = files::read(path, files::TEXT).ok().filter(|bytes| !bytes.is_empty())?;
    Some(hash::of(&text))
}

/// Notes to the thread.
enum Note {
    Job(Arc<Job>),
    Event(notify::Event),
    End,
}

/// A thread that watches the files of a job.
pub struct Watching {
    notes: Sender<Note>,
    files: Arc<Mutex<Vec<File>>>,
}

impl Watching {
    /// Watches the files of this job. `tell` returns false when nobody listens any more. They are told once
    /// at the beginning, as they may have changed since they were read.
    pub fn start(job: Arc<Job>, tell: impl Fn(Touched) -> bool + Send + 'static) -> Self {
        let (notes, received) = channel();
        let files = Arc::default();
        let this = Self { notes, files };
        let (events, files) = (this.notes.clone(), Arc::clone(&this.files));
        let body = move || {
            let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                if let Ok(event) = event {
                    let _ = events.send(Note::Event(event));
                }
            });
            let polls = watcher.is_err();
            Thread { watcher: watcher.ok(), folders: HashSet::new(), polls, files }.run(&received, tell);
        };
        // Without a thread nothing is told.
        let _ = thread::Builder::new().name("watch".into()).spawn(body);
        this.job(job);
        this
    }

    /// Watches the files of this job from now on.
    pub fn job(&self, job: Arc<Job>) {
        let _ = self.notes.send(Note::Job(job));
    }

    /// Writes files: their new content is not told.
    pub fn writing<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut files = lock(&self.files);
        let result = write();
        files.iter_mut().for_each(|file| file.hash = content(&file.path));
        result
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.notes.send(Note::End);
    }
}

fn lock(files: &Mutex<Vec<File>>) -> MutexGuard<'_, Vec<File>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Thread<W> {
    watcher: Option<W>,
    folders: HashSet<PathBuf>,
    /// The system does not tell everything.
    polls: bool,
    files: Arc<Mutex<Vec<File>>>,
}

impl<W: Watcher> Thread<W> {
    fn run(mut self, notes: &Receiver<Note>, tell: impl Fn(Touched) -> bool) {
        let mut look_at = None::<Instant>;
        loop {
            let wait = look_at.map(|at| at.saturating_duration_since(Instant::now())).or(self.polls.then_some(POLL));
            let note = match wait {
                Some(wait) => notes.recv_timeout(wait),
                None => notes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let touched = match note {
                Ok(Note::Job(job)) => self.watch(&job),
                Ok(Note::Event(event)) => {
                    if self.concerns(&event) {
                        look_at = Some(Instant::now() + QUIET);
                    }
                    None
                }
                Err(RecvTimeoutError::Timeout) => {
                    look_at = None;
                    self.look()
                }
                Ok(Note::End) | Err(RecvTimeoutError::Disconnected) => return,
            };
            if touched.is_some_and(|touched| !tell(touched)) {
                return;
            }
        }
    }

    /// Watches the files of a job; tells other files than before.
    fn watch(&mut self, job: &Job) -> Option<Touched> {
        let own = job.file()?;
        let is_own = |path: &Path| path == own || path.canonicalize().ok() == own.canonicalize().ok();
        let tests = job.tests.iter().flat_map(crate::trial::Tests::files).map(|(path, _)| path);
        let mut wanted = vec![(own.to_path_buf(), false)];
        wanted.extend(tests.filter(|path| !is_own(path)).map(|path| (path, true)));
        wanted.dedup();
        let is_new = {
            let mut files = lock(&self.files);
            let mut old = std::mem::take(&mut *files);
            let is_new = wanted.iter().any(|(path, _)| old.iter().all(|file| file.path != *path));
            *files = wanted
                .iter()
                .map(|(path, is_tests)| {
                    // The known content of a file stays: a save may be under way.
                    let known = old.iter().position(|file| file.path == *path && file.is_tests == *is_tests);
                    known.map_or_else(|| File::new(path.clone(), *is_tests), |at| old.swap_remove(at))
                })
                .collect();
            is_new
        };
        // A link and what it leads to may be in different folders.
        let folders: HashSet<PathBuf> = wanted
            .iter()
            .flat_map(|(path, _)| [Some(path.clone()), path.canonicalize().ok()])
            .flatten()
            .filter_map(|path| match path.parent()? {
                folder if folder.as_os_str().is_empty() => Some(PathBuf::from(".")),
                folder => Some(folder.to_path_buf()),
            })
            .collect();
        if let Some(watcher) = &mut self.watcher {
            for folder in self.folders.difference(&folders) {
                let _ = watcher.unwatch(folder);
            }
            for folder in folders.difference(&self.folders) {
                self.polls |= watcher.watch(folder, RecursiveMode::NonRecursive).is_err();
            }
        }
        self.folders = folders;
        is_new.then_some(Touched { file: true, tests: false })
    }

    /// The event may be that of a watched file.
    fn concerns(&self, event: &notify::Event) -> bool {
        let is_read = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
        let files = lock(&self.files);
        let is_watched = |path: &PathBuf| {
            let names = |file: &File| file.path.canonicalize().ok().into_iter().chain([file.path.clone()]);
            files.iter().flat_map(names).any(|own| own.file_name() == path.file_name())
        };
        !is_read && (event.need_rescan() || event.paths.is_empty() || event.paths.iter().any(is_watched))
    }

    /// The files whose content is another one.
    fn look(&self) -> Option<Touched> {
        let mut touched = Touched::default();
        for file in lock(&self.files).iter_mut() {
            let now = content(&file.path);
            if now.is_some() && now != file.hash {
                file.hash = now;
                if file.is_tests { touched.tests = true } else { touched.file = true }
            }
        }
        (touched != Touched::default()).then_some(touched)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::code::{Place, Target, TargetSpec};
    use crate::job::TestsChoice;

    const FILE: &str = "def f(x):\n    \"\"\"Twice x.\"\"\"\n";

    fn job(path: &Path, tests: &Path) -> Arc<Job> {
        let spec = TargetSpec { path: path.to_path_buf(), place: Place::Any };
        let choice = TestsChoice::Named(vec![tests.to_string_lossy().into_owned()]);
        Arc::new(Job::from_target(Target::read(&spec).unwrap(), &choice).unwrap())
    }

    /// A file, its tests, and a thread that watches them.
    fn watched() -> (tempfile::TempDir, PathBuf, Watching, Receiver<Touched>) {
        let folder = tempfile::tempdir().unwrap();
        let (path, tests) = (folder.path().join("twice.py"), folder.path().join("test_twice.py"));
        fs::write(&path, FILE).unwrap();
        fs::write(&tests, "from twice import f\n\ndef test_f():\n    assert f(1) == 2\n").unwrap();
        let (send, told) = channel();
        let watching = Watching::start(job(&path, &tests), move |touched| send.send(touched).is_ok());
        assert_eq!(next(&told), Touched { file: true, tests: false }, "once at the beginning");
        (folder, path, watching, told)
    }

    fn next(told: &Receiver<Touched>) -> Touched {
        told.recv_timeout(Duration::from_secs(60)).expect("a save is told")
    }

    #[test]
    fn a_save_is_told_however_editors_write() {
        let (folder, path, _watching, told) = watched();
        let own = Touched { file: true, tests: false };
        fs::write(&path, format!("{FILE}# in place\n")).unwrap();
        assert_eq!(next(&told), own);
        let (new, old) = (folder.path().join(".twice.py.swp"), folder.path().join("twice.py~"));
        fs::write(&new, format!("{FILE}# a new one takes the name\n")).unwrap();
        fs::rename(&new, &path).unwrap();
        assert_eq!(next(&told), own);
        fs::rename(&path, &old).unwrap();
        fs::write(&path, format!("{FILE}# the old one is kept under another name\n")).unwrap();
        assert_eq!(next(&told), own);
        fs::remove_file(&path).unwrap();
        fs::write(&path, format!("{FILE}# deleted and made anew\n")).unwrap();
        assert_eq!(next(&told), own);
        fs::write(folder.path().join("test_twice.py"), "def test_f():\n    pass\n").unwrap();
        assert_eq!(next(&told), Touched { file: false, tests: true });
    }

    #[test]
    fn what_this_program_writes_and_the_same_text_are_not_told() {
        let (folder, path, watching, told) = watched();
        watching.writing(|| fs::write(&path, format!("{FILE}    return 2 * x\n")).unwrap());
        fs::write(folder.path().join("other.py"), "x = 1\n").unwrap();
        fs::write(&path, format!("{FILE}    return 2 * x\n")).unwrap();
        // Only this is news. That the function's file is no part of it shows that its saves were none.
        fs::write(folder.path().join("test_twice.py"), "def test_f():\n    pass\n").unwrap();
        assert_eq!(next(&told), Touched { file: false, tests: true });
    }

    #[test]
    fn a_system_that_tells_nothing_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("twice.py");
        fs::write(&path, FILE).unwrap();
        let thread = Thread::<notify::RecommendedWatcher> {
            watcher: None,
            folders: HashSet::new(),
            polls: true,
            files: Arc::new(Mutex::new(vec![File::new(path.clone(), false)])),
        };
        let (notes, received) = channel();
        let (send, told) = channel();
        let looking = thread::spawn(move || thread.run(&received, move |touched| send.send(touched).is_ok()));
        fs::write(&path, format!("{FILE}# new\n")).unwrap();
        assert!(next(&told).file);
        notes.send(Note::End).unwrap();
        looking.join().unwrap();
    }
}
