//! Carries out what the core asks for: generations, trials, files, the clipboard. Answers come back as
//! messages.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use super::app::picker::Chosen;
use super::app::{Effect, Msg};
use super::clipboard;
use super::targets::{self, Functions, Targets};
use crate::code::{Applied, CodeError};
use crate::engine::GenerateOptions;
use crate::job::{Ask, Job, Judge, Run, TrialPool, fault};
use crate::source::{Request, Source};
use crate::trial::Limits;

/// Models and what runs the tests.
pub type Opened = (Arc<dyn Source>, TrialPool);

/// Messages to the loop from other threads.
pub enum Incoming {
    /// A message for the core.
    App(Msg),
    /// Models and sandbox are ready, or not.
    Opened(Result<Opened, String>),
    /// Lines were coloured.
    Coloured(super::highlight::Coloured),
}

/// Why the tests of a job cannot be run here.
fn unfit(job: &Job, judge: &dyn Judge) -> Option<String> {
    let (tests, language) = (job.tests.as_ref()?, job.language()?);
    judge.check(language, job.file(), tests).err().map(|why| why.to_string())
}

/// Action that the loop has to do itself.
pub enum LoopAction {
    Nothing,
    /// Send control sequences to the terminal, then tell the core.
    Send(String),
    /// Draw every cell.
    Redraw,
    Suspend,
    /// Leave, with this program accepted.
    Quit(Option<String>),
}

/// The world as the core can act on it.
pub struct World {
    job: Arc<Job>,
    options: GenerateOptions,
    /// Candidates end with their function.
    default_stops: bool,
    limits: Limits,
    /// The first pass ends what is still being written.
    stop_on_pass: bool,
    /// Where copies of files go before they are written; nowhere if empty.
    backups: PathBuf,
    in_tmux: bool,
    sender: UnboundedSender<Incoming>,
    opened: Option<Opened>,
    /// The job whose prompt was read ahead last.
    ahead: Option<Arc<Job>>,
    /// The current generation: its name, its run and its job.
    current: Option<(u64, Run, Arc<Job>)>,
    applied: Option<Applied>,
    targets: Targets,
}

impl World {
    /// A world without models yet.
    pub fn new(
        job: Arc<Job>,
        (options, default_stops): (GenerateOptions, bool),
        (limits, stop_on_pass): (Limits, bool),
        backups: PathBuf,
        in_tmux: bool,
        sender: UnboundedSender<Incoming>,
    ) -> Self {
        Self {
            job,
            options,
            default_stops,
            limits,
            stop_on_pass,
            backups,
            in_tmux,
            sender,
            opened: None,
            ahead: None,
            current: None,
            applied: None,
            targets: Targets::new(Functions::default()),
        }
    }

    /// Other functions to choose from.
    #[must_use]
    pub fn choosing(self, functions: Functions) -> Self {
        Self { targets: Targets::new(functions), ..self }
    }

    /// Loads models and sandbox on a thread.
    pub fn open(&self, open: Box<dyn FnOnce() -> Result<Opened, String> + Send>) {
        let (sender, job) = (self.sender.clone(), self.job.clone());
        let body = move || {
            let result = panic::catch_unwind(AssertUnwindSafe(open))
                .unwrap_or_else(|why| Err(format!("the models could not be loaded: {}", fault(&*why))));
            // Without isolation nothing runs before the user has agreed, not even a look at the tests.
            let judge = result.as_ref().ok().map(|opened| opened.1.judge()).filter(|judge| judge.may_run());
            let _ = sender.send(Incoming::Opened(result));
            if let Some(why) = judge.and_then(|judge| unfit(&job, &*judge)) {
                let _ = sender.send(Incoming::App(Msg::Fault(why)));
            }
        };
        if let Err(why) = thread::Builder::new().name("open".into()).spawn(body) {
            self.tell(Msg::Opened(Err(format!("no thread could be started to load the models: {why}"))));
        }
    }

    /// Models and sandbox have come; returns the message for the core.
    pub fn opened(&mut self, result: Result<Opened, String>) -> Msg {
        Msg::Opened(result.map(|(source, pool)| {
            let said = (source.info(), pool.judge().protection().clone());
            self.opened = Some((source, pool));
            said
        }))
    }

    /// Does what the core asks for, as far as it does not need the terminal.
    pub fn act(&mut self, effect: Effect) -> LoopAction {
        match effect {
            Effect::Generate { run, job, n, seed } => self.generate(run, job, n, seed),
            Effect::CancelAll { run } => self.run(run).into_iter().for_each(Run::stop),
            Effect::Cancel { run, candidate } => self.run(run).into_iter().for_each(|run| run.stop_one(candidate)),
            Effect::Test { run, candidate } => self.run(run).into_iter().for_each(|run| run.test(candidate)),
            Effect::CancelTests { run } => self.run(run).into_iter().for_each(Run::stop_tests),
            Effect::AllowUnprotected => self.opened.iter().for_each(|(_, pool)| pool.allow_unprotected()),
            Effect::Apply { run, candidate, text } => {
                let msg = match self.apply(run, &text) {
                    Err(CodeError::Changed { path }) => Msg::Changed(path.display().to_string()),
                    result => Msg::Applied { run, candidate, result: result.map_err(|e| e.to_string()) },
                };
                self.tell(msg);
            }
            Effect::ReadAgain => {
                let result = self.job.read_again().map(Arc::new).map_err(|e| e.to_string());
                if let Ok(job) = &result {
                    (self.job, self.applied) = (job.clone(), None);
                }
                self.tell(Msg::Read(result));
            }
            Effect::Use { job } => self.current.iter_mut().for_each(|current| {
                current.1.use_task(job.clone());
                current.2 = job.clone();
            }),
            Effect::Scan { scan, file } => self.targets.scan(scan, file, &self.sender),
            Effect::StopScan => self.targets.stop(),
            Effect::Preview { path, line } => targets::preview(path, line, &self.sender),
            Effect::Target { ask, path, name, line } => {
                self.retarget(ask, move |targets, job| targets.at(job, &path, &name, line).map(Some));
            }
            Effect::NextTarget { ask } => self.retarget(ask, Targets::next),
            Effect::Retarget { job } => (self.job, self.applied) = (job, None),
            Effect::Undo => {
                let result = self.undo();
                self.tell(Msg::Undone(result));
            }
            Effect::Copy { text, program } => {
                let text = if program { self.program(&text) } else { text };
                match clipboard::sequence(&text, self.in_tmux) {
                    Ok(sequence) => {
                        self.tell(Msg::Copied(Ok(format!(
                            "{} lines sent to the terminal's clipboard",
                            text.lines().count()
                        ))));
                        return LoopAction::Send(sequence);
                    }
                    Err(why) => self.tell(Msg::Copied(Err(why))),
                }
            }
            Effect::Redraw => return LoopAction::Redraw,
            Effect::Suspend => return LoopAction::Suspend,
            Effect::Quit { accept } => return LoopAction::Quit(accept.map(|text| self.program(&text))),
        }
        LoopAction::Nothing
    }

    /// Lets the models read the prompt of a job before it is asked for.
    pub fn read_ahead(&mut self, job: &Arc<Job>) {
        let Some((source, _)) = &self.opened else { return };
        if !self.ahead.as_ref().is_some_and(|known| Arc::ptr_eq(known, job)) {
            self.ahead = Some(Arc::clone(job));
            // A prompt may hold much of a project: nobody waits at the keys until that is read.
            let (source, job) = (Arc::clone(source), Arc::clone(job));
            let read = move || source.read_ahead(job.prompt_for(&source.window()));
            let _ = thread::Builder::new().name("read ahead".into()).spawn(read);
        }
    }

    /// Makes a job for another function, on a thread: the search for its tests may read a whole project.
    fn retarget(&self, ask: u64, make: impl FnOnce(&Targets, &Job) -> Result<Option<Job>, String> + Send + 'static) {
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

    fn tell(&self, msg: Msg) {
        let _ = self.sender.send(Incoming::App(msg));
    }

    fn generate(&mut self, run: u64, job: Arc<Job>, n: usize, seed: u64) {
        let Some((source, pool)) = &self.opened else { return };
        let stop = job.stop_rules(&source.window(), &self.options.stop.strings, self.default_stops);
        let options = GenerateOptions { n, stop, seed, ..self.options.clone() };
        let ask = Ask {
            request: Request { prompt: job.prompt_for(&source.window()), reference: None, options },
            task: job.clone(),
            limits: self.limits,
            stop_on_pass: self.stop_on_pass,
            problem: 0,
        };
        let sender = self.sender.clone();
        let sink = Box::new(move |event| match sender.send(Incoming::App(Msg::Job { run, event })) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        self.current = Some((run, Run::start(&**source, Some(pool), ask, sink), job));
    }

    /// The current generation, if it is this one.
    fn run(&self, run: u64) -> Option<&Run> {
        self.current.as_ref().filter(|current| current.0 == run).map(|current| &current.1)
    }

    fn job_of(&self, run: u64) -> Arc<Job> {
        self.current.as_ref().filter(|c| c.0 == run).map_or_else(|| self.job.clone(), |c| c.2.clone())
    }

    fn program(&self, text: &str) -> String {
        self.current.as_ref().map_or(&self.job, |c| &c.2).program(text)
    }

    fn apply(&mut self, run: u64, text: &str) -> Result<String, CodeError> {
        let job = self.job_of(run);
        let none = || CodeError::NotAFile { name: "the prompt".to_owned() };
        let target = job.target().ok_or_else(none)?;
        let backups = (!self.backups.as_os_str().is_empty()).then_some(self.backups.as_path());
        let applied = target.apply(text, backups)?;
        let path = applied.path.display().to_string();
        self.applied = Some(applied);
        Ok(path)
    }

    fn undo(&mut self) -> Result<String, String> {
        let applied = self.applied.as_ref().ok_or("nothing was written")?;
        applied.undo().map_err(|e| e.to_string())?;
        let path = applied.path.display().to_string();
        self.applied = None;
        Ok(path)
    }

    /// Ends everything and waits until no code under test runs any more.
    pub fn close(&mut self) {
        self.targets.stop();
        self.current.take().into_iter().for_each(|(_, run, _)| run.cancel());
        self.opened = None;
    }
}
