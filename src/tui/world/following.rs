//! The function that is written, and its files and tests as they are now.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use super::{Incoming, World};
use crate::code;
use crate::files;
use crate::job::{Job, Judge, fault};
use crate::tui::app::Msg;
use crate::tui::app::picker::Chosen;
use crate::tui::app::watch::{News, Touched};
use crate::tui::targets::Targets;

/// Why the tests of a job cannot be run here.
pub(super) fn unfit(job: &Job, judge: &dyn Judge) -> Option<String> {
    let (tests, language) = (job.tests.as_ref()?, job.language()?);
    judge.check(language, job.file(), tests).err().map(|why| why.to_string())
}

impl World {
    /// Goes on with another function.
    pub(super) fn leave_for(&mut self, job: Arc<Job>) {
        self.keeping.leave();
        self.shown = None;
        self.adopt(job);
    }

    /// The job whose files are as they are now.
    pub(super) fn adopt(&mut self, job: Arc<Job>) {
        self.earlier.extend(self.applied.take());
        self.go_on_with(job);
    }

    fn go_on_with(&mut self, job: Arc<Job>) {
        self.watching.iter().for_each(|watching| watching.job(job.clone()));
        self.job = job;
    }

    /// Makes the job anew from its file.
    pub(super) fn read_again(&mut self) {
        let result = self.job.read_again().map(Arc::new).map_err(|e| e.to_string());
        if let Ok(job) = &result {
            self.adopt(job.clone());
        }
        self.tell(Msg::Read(result));
    }

    /// Makes the job anew from its file without the candidate that is in it. Where that is not in it any more
    /// the file is read as it is.
    pub(super) fn read_without(&mut self) {
        match self.applied.as_ref().and_then(|(_, applied)| self.job.read_without(applied).ok()) {
            Some(job) => {
                let job = Arc::new(job);
                self.go_on_with(job.clone());
                self.tell(Msg::ReadWithout(job));
            }
            None => self.read_again(),
        }
    }

    /// Reads the files of the job again, on a thread: the search for its tests may read a whole project.
    pub(super) fn follow(&self, touched: Touched) {
        let (job, targets) = (Arc::clone(&self.job), self.targets.clone());
        self.on_thread("follow", move || {
            let read = || {
                let target = job.target()?;
                let path = target.path.as_deref()?;
                let text = files::text(path, files::TEXT).unwrap_or_default();
                let functions = code::function_names(target.language, &text);
                Some((targets.at(&job, path, &target.name, target.line), functions))
            };
            let read = panic::catch_unwind(AssertUnwindSafe(read)).ok().flatten();
            let (job, functions) = read.unwrap_or_else(|| (Err("the file cannot be read".to_owned()), Vec::new()));
            Msg::Followed(News { touched, job: job.map(Arc::new), functions })
        });
    }

    /// Reads the tests of a job again, which a candidate waits for.
    pub(super) fn read_tests(&self, run: u64, candidate: usize, job: Arc<Job>) {
        self.on_thread("tests", move || {
            let read = panic::catch_unwind(AssertUnwindSafe(|| job.with_tests_read_again()));
            let read = read.map(|read| read.map_err(|why| why.to_string()));
            let read = read.unwrap_or_else(|why| Err(format!("the tests cannot be read: {}", fault(&*why))));
            Msg::TestsRead { run, candidate, result: read.map(Arc::new) }
        });
    }

    /// Makes a job for another function, on a thread: the search for its tests may read a whole project.
    pub(super) fn retarget(
        &self,
        ask: u64,
        make: impl FnOnce(&Targets, &Job) -> Result<Option<Job>, String> + Send + 'static,
    ) {
        let judge = self.opened.as_ref().map(|opened| opened.1.judge()).filter(|judge| judge.may_run());
        let (sender, job, targets) = (self.sender.clone(), Arc::clone(&self.job), self.targets.clone());
        let body = move || {
            let made = panic::catch_unwind(AssertUnwindSafe(|| make(&targets, &job)));
            let made = made.unwrap_or_else(|why| Err(format!("the function cannot be read: {}", fault(&*why))));
            let problem =
                made.as_ref().ok().and_then(Option::as_ref).zip(judge).and_then(|(job, judge)| unfit(job, &*judge));
            let chosen = |job| Chosen { advice: targets.advice(&job), job: Arc::new(job) };
            let result = made.map(|made| made.map(chosen));
            let told = [Some(Msg::Targeted { ask, result }), problem.map(Msg::Fault)];
            told.into_iter().flatten().for_each(|msg| drop(sender.send(Incoming::App(msg))));
        };
        if let Err(why) = thread::Builder::new().name("target".into()).spawn(body) {
            self.tell(Msg::Targeted { ask, result: Err(format!("no thread could be started: {why}")) });
        }
    }
}
