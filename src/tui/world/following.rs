//! The function that is written, and its files and tests as they are now.

use std::sync::Arc;

use super::World;
use crate::code;
use crate::files;
use crate::job::{Job, Judge};
use crate::tui::app::Msg;
use crate::tui::app::picker::Chosen;
use crate::tui::app::watch::{News, Touched};
use crate::tui::background::{on_thread, tell};
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
        let unread = move || News { touched, job: Err("the file cannot be read".to_owned()), functions: Vec::new() };
        on_thread(
            &self.sender,
            "follow",
            move |_| Msg::Followed(unread()),
            move |sender| {
                let read = || {
                    let target = job.target()?;
                    let path = target.path.as_deref()?;
                    let text = files::text(path, files::TEXT).unwrap_or_default();
                    let functions = code::function_names(target.language, &text);
                    let job = targets.at(&job, path, &target.name, target.line).map(Arc::new);
                    Some(News { touched, job, functions })
                };
                tell(sender, Msg::Followed(read().unwrap_or_else(unread)));
            },
        );
    }

    /// Reads the tests of a job again, which a candidate waits for.
    pub(super) fn read_tests(&self, run: u64, candidate: usize, job: Arc<Job>) {
        let came = move |result| Msg::TestsRead { run, candidate, result };
        let failed = move |why| came(Err(format!("the tests cannot be read: {why}")));
        on_thread(&self.sender, "tests", failed, move |sender| {
            tell(sender, came(job.with_tests_read_again().map(Arc::new).map_err(|why| why.to_string())));
        });
    }

    /// Makes a job for another function, on a thread: the search for its tests may read a whole project.
    pub(super) fn retarget(
        &self,
        ask: u64,
        make: impl FnOnce(&Targets, &Job) -> Result<Option<Job>, String> + Send + 'static,
    ) {
        let judge = self.opened.as_ref().map(|opened| opened.1.judge()).filter(|judge| judge.may_run());
        let (job, targets) = (Arc::clone(&self.job), self.targets.clone());
        let failed = move |why| Msg::Targeted { ask, result: Err(format!("the function cannot be read: {why}")) };
        on_thread(&self.sender, "target", failed, move |sender| {
            let made = make(&targets, &job);
            let problem =
                made.as_ref().ok().and_then(Option::as_ref).zip(judge).and_then(|(job, judge)| unfit(job, &*judge));
            let chosen = |job| Chosen { advice: targets.advice(&job), job: Arc::new(job) };
            let result = made.map(|made| made.map(chosen));
            let told = [Some(Msg::Targeted { ask, result }), problem.map(Msg::Fault)];
            told.into_iter().flatten().for_each(|msg| tell(sender, msg));
        });
    }
}
