//! What the world keeps of a session: copies of files before they are written, the records of its runs, and
//! the job of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::app::past::{MOST, Recalled};
use crate::code::Applied;
use crate::engine::GenerateOptions;
use crate::history::{self, Head, History, Kept, Recorder};
use crate::job::Job;
use crate::source::SourceInfo;

/// Folders that things are kept in, and the runs so far.
#[derive(Default)]
pub struct Keeping {
    /// Where copies of files go before they are written; nowhere if empty.
    backups: PathBuf,
    history: Option<History>,
    runs: BTreeMap<u64, Of>,
    /// Failures were said.
    has_said: bool,
}

/// A run of the session.
struct Of {
    job: Arc<Job>,
    recorder: Option<Recorder>,
    /// The id of a run that was kept earlier.
    kept: Option<String>,
}

impl Keeping {
    /// Keeps copies and, if wished, runs in the state folder; nothing if that is empty.
    pub fn new(state: &Path, with_history: bool) -> Self {
        if state.as_os_str().is_empty() {
            return Self::default();
        }
        let history = with_history.then(|| History::at(state.join("runs")));
        Self { backups: state.join("backups"), history, ..Self::default() }
    }

    /// Where copies of files go before they are written.
    pub fn backups(&self) -> Option<&Path> {
        (!self.backups.as_os_str().is_empty()).then_some(self.backups.as_path())
    }

    /// A run begins. Returns its record if there is one, and a sentence if it cannot be written for the first
    /// time.
    pub fn begin(
        &mut self,
        run: u64,
        job: &Arc<Job>,
        info: &SourceInfo,
        options: &GenerateOptions,
    ) -> (Option<Recorder>, Option<String>) {
        let begun = self.history.as_ref().map(|history| history.begin(&Head::of(job, info, options)));
        let (recorder, error) = match begun {
            Some(Ok(recorder)) => (Some(recorder), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        self.insert(run, Of { job: job.clone(), recorder: recorder.clone(), kept: None });
        let said = error.filter(|_| !std::mem::replace(&mut self.has_said, true));
        let said = said.map(|why| format!("runs are not kept: {why} (`history = false` keeps none)"));
        (recorder, said)
    }

    /// A kept run is one of the session's now.
    pub fn belongs(&mut self, run: u64, job: Arc<Job>, kept: String) {
        self.insert(run, Of { job, recorder: None, kept: Some(kept) });
    }

    fn insert(&mut self, run: u64, of: Of) {
        self.runs.insert(run, of);
        while self.runs.len() > 2 * MOST {
            self.runs.pop_first();
        }
    }

    /// The job of a run.
    pub fn job(&self, run: u64) -> Option<&Arc<Job>> {
        self.runs.get(&run).map(|of| &of.job)
    }

    /// The current run, and those of the same text, have this job from now on.
    pub fn renew(&mut self, current: Option<u64>, job: &Arc<Job>) {
        let text = job.editable();
        let same = self.runs.iter_mut().filter(|(run, of)| current == Some(**run) || of.job.editable() == text);
        same.for_each(|(_, of)| of.job = job.clone());
    }

    /// A candidate was written to its file.
    pub fn applied(&mut self, run: u64, candidate: usize, applied: &Applied, diff: String) -> Option<String> {
        self.recorder(run)?.applied(candidate, applied, diff)
    }

    /// A candidate was handed over, as there is no file.
    pub fn handed_over(&mut self, run: u64, text: &str) {
        let _ = self.recorder(run).and_then(|recorder| recorder.handed_over(text));
    }

    /// What a run wrote was taken back.
    pub fn undone(&mut self, run: u64, applied: &Applied) -> Option<String> {
        let backup = applied.backup.as_deref().and_then(Path::file_name);
        let backup = backup.map(|name| name.to_string_lossy().into_owned());
        self.recorder(run)?.undone(backup)
    }

    /// The record of a run; that of a kept one is opened when something is to be added.
    fn recorder(&mut self, run: u64) -> Option<&Recorder> {
        let of = self.runs.get_mut(&run)?;
        if let (None, Some(id), Some(history)) = (&of.recorder, &of.kept, &self.history) {
            of.recorder = history.append(id).ok();
        }
        of.recorder.as_ref()
    }

    /// Reads the kept runs of a job's function that are none of the session's, when called.
    pub fn earlier(&self, job: Arc<Job>) -> impl FnOnce() -> Vec<Recalled> + Send + use<> {
        let own: Vec<String> = self.runs.values().filter_map(Of::id).collect();
        let history = self.history.clone();
        move || {
            let files = history.iter().flat_map(History::files).filter(|file| !own.contains(&file.id));
            let fitting = files.filter(|file| Kept::head_of(file).is_some_and(|head| head.is_of(&job)));
            let read = fitting.filter_map(|file| Kept::read(&file).ok());
            let mut runs: Vec<Recalled> = read.take(MOST).map(|kept| recalled(&kept, &job)).collect();
            runs.reverse();
            runs
        }
    }
}

impl Of {
    fn id(&self) -> Option<String> {
        self.kept.clone().or_else(|| self.recorder.as_ref().map(|recorder| recorder.id().to_owned()))
    }
}

/// A kept run for the screen. `now` is the job of its function as that is now.
pub fn recalled(kept: &Kept, now: &Arc<Job>) -> Recalled {
    let job = kept.job(now).map(|job| if job == **now { now.clone() } else { Arc::new(job) });
    Recalled {
        id: kept.file.id.clone(),
        at: kept.head.at,
        when: history::time(kept.head.at, history::now()),
        seed: kept.head.seed,
        n: kept.n(),
        events: kept.events(),
        job,
        applied: None,
    }
}
