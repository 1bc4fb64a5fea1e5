//! Carries out what the core asks for: generations, trials, files, the clipboard. Answers come back as messages.

use std::any::Any;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::UnboundedSender;

use super::app::{Effect, Msg};
use super::clipboard;
use crate::code::{Applied, CodeError};
use crate::engine::{Event, GenerateOptions};
use crate::job::{Job, Task, step_back};
use crate::language::Language;
use crate::source::{Request, Source, Ticket};
use crate::trial::{Limits, Protection, Runner, TrialError, Verdict};

/// Runs trials. [`Runner`] is the one that does.
pub trait Judge: Send + Sync {
    /// What protects the user.
    fn protection(&self) -> &Protection;
    /// Whether the tests of `job` can be used at all. Said before any work is put into candidates.
    fn check(&self, _job: &Job) -> Result<(), TrialError> {
        Ok(())
    }
    /// Runs the tests of `job` on a candidate and waits; `cancel` ends it soon. An error is a fault of the sandbox.
    fn judge(
        &self,
        job: &Job,
        candidate: &str,
        limits: Limits,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Verdict, TrialError>;
    /// The same, for a user who has agreed to run tests although nothing isolates them.
    fn allow_unprotected(&self) -> Arc<dyn Judge>;
}

impl Judge for Runner {
    fn protection(&self) -> &Protection {
        Runner::protection(self)
    }

    fn check(&self, job: &Job) -> Result<(), TrialError> {
        // Without isolation nothing runs before the user has agreed, not even this.
        match &job.tests {
            Some(tests) if Runner::protection(self).is_isolated() => {
                Runner::check(self, job.language().unwrap_or(Language::Python), tests)
            }
            _ => Ok(()),
        }
    }

    fn judge(
        &self,
        job: &Job,
        candidate: &str,
        limits: Limits,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Verdict, TrialError> {
        match job.trial(0, candidate, limits) {
            Some(trial) => self.run(&trial, cancel),
            None => Ok(Verdict::not_run("there are no tests")),
        }
    }

    fn allow_unprotected(&self) -> Arc<dyn Judge> {
        Arc::new(self.clone().allow_unprotected())
    }
}

/// Models and sandbox.
pub type Opened = (Arc<dyn Source>, Arc<dyn Judge>);

/// What reaches the loop from other threads.
pub enum Incoming {
    /// A message for the core.
    App(Msg),
    /// Models and sandbox are ready, or not.
    Opened(Result<Opened, String>),
    /// Lines were coloured.
    Coloured(super::highlight::Coloured),
}

/// What the loop has to do itself.
pub enum Asked {
    /// Nothing.
    Nothing,
    /// Send control sequences to the terminal, then tell the core.
    Send(String),
    /// Draw every cell.
    Redraw,
    /// Suspend.
    Suspend,
    /// Leave, with this program accepted.
    Quit(Option<String>),
}

/// The world as the core can act on it.
pub struct World {
    job: Arc<Job>,
    options: GenerateOptions,
    /// Whether candidates end with their function.
    default_stops: bool,
    limits: Limits,
    /// Where copies of files go before they are written; nowhere if empty.
    backups: PathBuf,
    in_tmux: bool,
    sender: UnboundedSender<Incoming>,
    opened: Option<Opened>,
    /// The current generation: its name, its ticket, its job with the prompt it was given.
    current: Option<(u64, Ticket, Arc<Job>)>,
    /// The current generation still goes on.
    is_writing: Arc<AtomicBool>,
    cancel: HashMap<u64, Arc<AtomicBool>>,
    trials: Vec<JoinHandle<()>>,
    applied: Option<Applied>,
}

impl World {
    /// A world without models yet.
    pub fn new(
        job: Arc<Job>,
        (options, default_stops): (GenerateOptions, bool),
        limits: Limits,
        backups: PathBuf,
        in_tmux: bool,
        sender: UnboundedSender<Incoming>,
    ) -> Self {
        Self {
            job,
            options,
            default_stops,
            limits,
            backups,
            in_tmux,
            sender,
            opened: None,
            current: None,
            is_writing: Arc::default(),
            cancel: HashMap::new(),
            trials: Vec::new(),
            applied: None,
        }
    }

    /// Loads models and sandbox on a thread.
    pub fn open(&self, open: Box<dyn FnOnce() -> Result<Opened, String> + Send>) {
        let (sender, job) = (self.sender.clone(), self.job.clone());
        let body = move || {
            let result = panic::catch_unwind(AssertUnwindSafe(open))
                .unwrap_or_else(|why| Err(format!("the models could not be loaded: {}", fault(&*why))));
            let judge = result.as_ref().ok().map(|opened| opened.1.clone());
            let _ = sender.send(Incoming::Opened(result));
            if let Some(Err(why)) = judge.map(|judge| judge.check(&job)) {
                let _ = sender.send(Incoming::App(Msg::Fault(why.to_string())));
            }
        };
        if let Err(why) = thread::Builder::new().name("open".into()).spawn(body) {
            self.tell(Msg::Opened(Err(format!("no thread could be started to load the models: {why}"))));
        }
    }

    /// Models and sandbox have come; returns the message for the core.
    pub fn opened(&mut self, result: Result<Opened, String>) -> Msg {
        Msg::Opened(result.map(|(source, judge)| {
            let said = (source.info(), judge.protection().clone());
            self.opened = Some((source, judge));
            said
        }))
    }

    /// Does what the core asks for, as far as it does not need the terminal.
    pub fn act(&mut self, effect: Effect) -> Asked {
        match effect {
            Effect::Generate { run, job, n, seed } => self.generate(run, job, n, seed),
            Effect::CancelAll { run } => {
                if let Some((_, ticket, _)) = self.current.as_ref().filter(|c| c.0 == run) {
                    ticket.cancel_all();
                }
            }
            Effect::Cancel { run, candidate } => {
                if let Some((_, ticket, _)) = self.current.as_ref().filter(|c| c.0 == run) {
                    ticket.cancel(candidate);
                }
            }
            Effect::Test { run, candidate, text } => self.test(run, candidate, &text),
            Effect::CancelTests { run } => {
                // A later trial of the same generation gets a new flag.
                if let Some(cancel) = self.cancel.remove(&run) {
                    cancel.store(true, Ordering::Relaxed);
                }
            }
            Effect::AllowUnprotected => {
                if let Some((_, judge)) = &mut self.opened {
                    *judge = judge.allow_unprotected();
                }
            }
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
            Effect::Use { job } => self.current.iter_mut().for_each(|c| c.2 = job.clone()),
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
                        return Asked::Send(sequence);
                    }
                    Err(why) => self.tell(Msg::Copied(Err(why))),
                }
            }
            Effect::Redraw => return Asked::Redraw,
            Effect::Suspend => return Asked::Suspend,
            Effect::Quit { accept } => return Asked::Quit(accept.map(|text| self.program(&text))),
        }
        Asked::Nothing
    }

    fn tell(&self, msg: Msg) {
        let _ = self.sender.send(Incoming::App(msg));
    }

    fn generate(&mut self, run: u64, job: Arc<Job>, n: usize, seed: u64) {
        let Some((source, _)) = &self.opened else { return };
        let stop = job.stop_rules(&self.options.stop.strings, self.default_stops);
        let options = GenerateOptions { n, stop, seed, ..self.options.clone() };
        let sender = self.sender.clone();
        self.is_writing = Arc::new(AtomicBool::new(true));
        let is_writing = Arc::clone(&self.is_writing);
        let sink = Box::new(move |event: Event| {
            if matches!(event, Event::Done(_) | Event::Refused(_) | Event::Failed(_)) {
                is_writing.store(false, Ordering::Relaxed);
            }
            match sender.send(Incoming::App(Msg::Engine { run, event })) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        let ticket = source.generate(Request { prompt: job.prompt(), reference: None, options }, sink);
        self.current = Some((run, ticket, job));
    }

    fn job_of(&self, run: u64) -> Arc<Job> {
        self.current.as_ref().filter(|c| c.0 == run).map_or_else(|| self.job.clone(), |c| c.2.clone())
    }

    fn program(&self, text: &str) -> String {
        self.current.as_ref().map_or(&self.job, |c| &c.2).program(text)
    }

    fn test(&mut self, run: u64, candidate: usize, text: &str) {
        let job = self.job_of(run);
        let told = self.sender.clone();
        let tell = move |result| {
            let _ = told.send(Incoming::App(Msg::Tested { run, candidate, result }));
        };
        let Some((_, judge)) = &self.opened else { return };
        let limits = Limits { gives_way: self.is_writing.load(Ordering::Relaxed), ..self.limits };
        let (judge, text) = (judge.clone(), text.to_owned());
        let cancel = self.cancel.entry(run).or_default().clone();
        let failed = tell.clone();
        let body = move || {
            step_back();
            let result = panic::catch_unwind(AssertUnwindSafe(|| judge.judge(&job, &text, limits, &cancel)));
            tell(match result {
                Ok(result) => result.map_err(|e| e.to_string()),
                Err(why) => Err(fault(&*why)),
            });
        };
        self.trials.retain(|t| !t.is_finished());
        match thread::Builder::new().name(format!("trial {candidate}")).spawn(body) {
            Ok(handle) => self.trials.push(handle),
            Err(why) => failed(Err(format!("no thread could be started: {why}"))),
        }
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
        if let Some((_, ticket, _)) = &self.current {
            ticket.cancel_all();
        }
        for cancel in self.cancel.values() {
            cancel.store(true, Ordering::Relaxed);
        }
        for trial in self.trials.drain(..) {
            let _ = trial.join();
        }
    }
}

/// What a panic of our own says to the user.
fn fault(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("a fault in the program ({text}); please report this")
}
