//! Carries out what the core asks for: generations, trials, files, the clipboard. Answers come back as
//! messages.

mod following;
mod opening;
#[cfg(test)]
mod tests;
mod writing;
mod written;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::mpsc::UnboundedSender;

use super::app::past::{self, Recalled};
use super::app::{Effect, Msg, State};
use super::background::{on_thread, tell};
use super::keeping::{self, Keeping};
use super::live::{Changing, Live};
use super::targets::{self, Functions, Targets};
use super::watching::Watching;
use super::{Extras, Outcome, clipboard, completion, editor};
use crate::code::{Applied, CodeError};
use crate::engine::GenerateOptions;
use crate::history::{self, History};
use crate::job::{Ask, Job, Rounds, Run, TrialPool};
use crate::source::{Request, Source, Told};
use crate::trial::{Limits, Observed};
use written::Written;

/// Models and what runs the tests.
pub type Opened = (Arc<dyn Source>, TrialPool);

/// Loads models and what runs the tests, and tells how far that is.
pub type Open = Box<dyn FnOnce(Told) -> Result<Opened, String> + Send>;

/// Messages to the loop from other threads.
pub enum Incoming {
    /// A message for the core.
    App(Msg),
    /// Models and sandbox are ready, or not.
    Opened(Result<Opened, String>),
    /// A control sequence for the terminal, and what to tell the core then.
    Send(String, Msg),
    /// Lines were coloured.
    Coloured(super::highlight::Coloured),
    /// Other models are ready, or not.
    Reopened(Result<Opened, String>),
}

impl From<Msg> for Incoming {
    fn from(msg: Msg) -> Self {
        Self::App(msg)
    }
}

/// Action that the loop has to do itself.
pub enum LoopAction {
    Nothing,
    /// Show this theme.
    Theme(String),
    /// Draw every cell.
    Redraw,
    /// Let the terminal report the mouse, or not.
    Mouse(bool),
    Suspend,
    /// Give the terminal to another program while this runs.
    Lend(Box<dyn FnMut()>),
    /// Leave.
    Quit(Outcome),
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
    /// Records of the session.
    keeping: Keeping,
    extras: Extras,
    sender: UnboundedSender<Incoming>,
    opened: Option<Opened>,
    /// The job whose prompt was read ahead last.
    ahead: Option<Arc<Job>>,
    /// The current generation: its name and its run.
    current: Option<(u64, Run)>,
    /// A head is being asked for, and still wanted.
    asking: Option<Arc<AtomicBool>>,
    /// The shown generation.
    shown: Option<u64>,
    /// The last change of a file, and the generation that it is of.
    applied: Option<(u64, Applied)>,
    /// Changes before that, of other functions or texts, the last one last.
    earlier: Vec<(u64, Applied)>,
    /// Functions that were written in this session and not taken back.
    written: Written,
    targets: Targets,
    /// Tells when files of the job are saved, if the editor is followed.
    watching: Option<Watching>,
    changing: Changing,
    /// Where the state of the screen is remembered; nowhere if empty.
    state_dir: PathBuf,
    /// Models are being loaded for the start.
    opening: bool,
}

impl World {
    /// A world without models yet.
    pub fn new(
        job: Arc<Job>,
        (options, default_stops): (GenerateOptions, bool),
        (limits, stop_on_pass): (Limits, bool),
        keeping: Keeping,
        extras: Extras,
        sender: UnboundedSender<Incoming>,
    ) -> Self {
        let changing = Changing::new(None, PathBuf::new(), sender.clone());
        Self {
            job,
            options,
            default_stops,
            limits,
            stop_on_pass,
            keeping,
            extras,
            sender,
            opened: None,
            ahead: None,
            current: None,
            asking: None,
            shown: None,
            applied: None,
            earlier: Vec::new(),
            written: Written::default(),
            targets: Targets::new(Functions::default()),
            watching: None,
            changing,
            state_dir: PathBuf::new(),
            opening: false,
        }
    }

    /// Other functions to choose from.
    #[must_use]
    pub fn choosing(self, functions: Functions) -> Self {
        Self { targets: Targets::new(functions), ..self }
    }

    /// Settings that can be changed, themes of the user, and where the look of the screen is remembered.
    #[must_use]
    pub fn changing(self, live: Option<Box<dyn Live>>, themes: PathBuf, state_dir: PathBuf) -> Self {
        let changing = Changing::new(live, themes, self.sender.clone());
        Self { changing, state_dir, ..self }
    }

    /// Does what the core asks for, as far as it does not need the terminal.
    pub fn act(&mut self, effect: Effect) -> LoopAction {
        match effect {
            Effect::Generate { run, job, n, seed } => self.generate(run, &job, n, seed),
            Effect::Head { ask, job } => self.ask_for_head(ask, job),
            Effect::DropHead => self.drop_head(),
            Effect::CancelAll { run } => self.run(run).into_iter().for_each(Run::stop),
            Effect::Cancel { run, candidate } => self.run(run).into_iter().for_each(|run| run.stop_one(candidate)),
            Effect::Round { run } => {
                if self.run(run).is_some_and(|run| !run.more()) {
                    self.tell(Msg::Fault(
                        "another round cannot begin: the run has not ended, or has as many candidates as it may have"
                            .to_owned(),
                    ));
                }
            }
            Effect::Open => self.open_again(),
            Effect::Test { run, candidate } => self.run(run).into_iter().for_each(|run| run.test(candidate)),
            Effect::ReadTests { run, candidate, job } => self.read_tests(run, candidate, job),
            Effect::Call { run, input } => self.run(run).into_iter().for_each(|run| run.call_on(input.clone())),
            Effect::Add { run, of, text } => self.run(run).into_iter().for_each(|run| run.add(of, text.clone())),
            Effect::Edit { run, candidate, text } => {
                let (job, sender) = (self.job_of(run), self.sender.clone());
                return LoopAction::Lend(Box::new(move || {
                    let target =
                        job.target().ok_or_else(|| "only functions can be edited, not a free prompt".to_owned());
                    let result = target.and_then(|target| editor::edit(target, &text));
                    let _ = sender.send(Incoming::App(Msg::Edited { run, candidate, result }));
                }));
            }
            Effect::SavePatch { run, text } => self.save_patch(run, &text),
            Effect::CancelTest { run, candidate } => self.run(run).into_iter().for_each(|run| run.stop_test(candidate)),
            Effect::CancelTests { run } => self.run(run).into_iter().for_each(Run::stop_tests),
            Effect::AllowUnprotected => self.opened.iter().for_each(|(_, pool)| pool.allow_unprotected()),
            Effect::Apply { run, candidate, text } => {
                let msg = match self.apply(run, candidate, &text) {
                    Err(CodeError::Changed { path }) => Msg::Changed(path.display().to_string()),
                    Err(CodeError::ReadOnly { path }) => Msg::ReadOnly(path.display().to_string()),
                    result => Msg::Applied { run, candidate, result: result.map_err(|e| e.to_string()) },
                };
                self.tell(msg);
            }
            Effect::ReadAgain => self.read_again(),
            Effect::ReadWithout => self.read_without(),
            Effect::Use { job } => {
                self.keeping.renew(self.current.as_ref().map(|current| current.0), &job);
                self.current.iter().for_each(|current| current.1.use_task(job.clone()));
            }
            Effect::Recall { job } => self.recall(job),
            Effect::Belongs { run, job, kept } => self.keeping.belongs(run, job, kept),
            Effect::Said { run, answers, job } => self.said(run, &answers, &job),
            Effect::Shown { run } => self.shown = Some(run),
            Effect::Scan { scan, file } => self.targets.scan(scan, file, &self.sender),
            Effect::StopScan => self.targets.stop(),
            Effect::Preview { path, line } => targets::preview(path, line, &self.sender),
            Effect::Target { ask, path, name, line } => {
                self.retarget(ask, move |targets, job| targets.at(job, &path, &name, line).map(Some));
            }
            Effect::NextTarget { ask } => self.retarget(ask, Targets::next),
            Effect::Retarget { job } => self.leave_for(job),
            Effect::Watch(on) => {
                let sender = self.sender.clone();
                let tell = move |touched| sender.send(Incoming::App(Msg::Touched(touched))).is_ok();
                self.watching = on.then(|| Watching::start(self.job.clone(), tell));
            }
            Effect::Follow(touched) => self.follow(touched),
            Effect::Adopt { job } => self.adopt(job),
            Effect::Stands => {
                self.applied.take_if(|(_, applied)| !applied.stands());
                self.tell(Msg::Stands(self.applied.is_some()));
            }
            Effect::Undo => {
                let result = self.undo();
                self.tell(Msg::Undone(result));
            }
            Effect::Copy { text, program } => {
                let text = if program { self.program(&text) } else { text };
                self.copy(text);
            }
            Effect::Alternatives(count) => self.options.alternatives = count,
            Effect::Names(line) => on_thread(&self.sender, "names", Msg::Fault, move |sender| {
                let names = completion::names(&line);
                tell(sender, Msg::Names { line, names });
            }),
            Effect::Theme(name) => return LoopAction::Theme(name),
            effect @ (Effect::Settings | Effect::Set { .. } | Effect::Keep { .. } | Effect::Remember(_)) => {
                self.act_on_settings(effect);
            }
            Effect::Mouse(on) => return LoopAction::Mouse(on),
            Effect::Redraw => return LoopAction::Redraw,
            Effect::Suspend => return LoopAction::Suspend,
            Effect::Quit { accept } => {
                if let (Some(run), Some(text)) = (self.shown, &accept) {
                    self.keeping.handed_over(run, text);
                }
                return LoopAction::Quit(self.outcome(accept));
            }
        }
        LoopAction::Nothing
    }

    /// Copies a text, on a thread: a tool takes its time.
    fn copy(&self, text: String) {
        let extras = self.extras.clone();
        on_thread(
            &self.sender,
            "clipboard",
            |why| Msg::Copied(Err(why)),
            move |sender| {
                let lines = match text.lines().count() {
                    1 => "1 line".to_owned(),
                    lines => format!("{lines} lines"),
                };
                let incoming = if clipboard::copy(&extras.clipboard, &text) {
                    Incoming::App(Msg::Copied(Ok(format!("{lines} copied"))))
                } else {
                    match clipboard::sequence(&text, extras.in_tmux) {
                        Ok(sequence) => {
                            let said = format!("{lines} sent to the terminal's clipboard");
                            Incoming::Send(sequence, Msg::Copied(Ok(said)))
                        }
                        Err(why) => Incoming::App(Msg::Copied(Err(why))),
                    }
                };
                tell(sender, incoming);
            },
        );
    }

    fn fault(&self, why: Option<String>) {
        if let Some(why) = why {
            self.tell(Msg::Fault(why));
        }
    }

    fn tell(&self, msg: Msg) {
        tell(&self.sender, msg);
    }

    fn generate(&mut self, run: u64, job: &Arc<Job>, n: usize, seed: u64) {
        let Some((source, pool)) = &self.opened else { return };
        let stop = job.stop_rules(&source.window(), &self.options.stop.strings, self.default_stops);
        let max_tokens = self.options.max_tokens + job.more_tokens(&source.window());
        let options = GenerateOptions { n, stop, max_tokens, seed, ..self.options.clone() };
        let ask = Ask {
            request: Request { prompt: job.prompt_for(&source.window()), reference: job.reference(), options },
            task: job.clone(),
            limits: self.limits,
            stop_on_pass: self.stop_on_pass,
            agree: self.extras.agree,
            rounds: Some(Rounds::new(self.extras.rounds, source)),
            problem: 0,
        };
        let (recorder, failed) = self.keeping.begin(run, job, &source.info(), &ask.request.options);
        let sender = self.sender.clone();
        let sink = Box::new(move |event| {
            if let Some(why) = recorder.as_ref().and_then(|recorder| recorder.event(&event)) {
                let _ = sender.send(Incoming::App(Msg::Fault(why)));
            }
            match sender.send(Incoming::App(Msg::Job { run, event })) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        self.shown = Some(run);
        let at = history::now();
        self.tell(Msg::Began { run, at, when: history::time(at, at) });
        self.fault(failed);
        self.current = Some((run, Run::start(&**source, Some(pool), ask, sink)));
    }

    /// The current generation, if it is this one.
    fn run(&self, run: u64) -> Option<&Run> {
        self.current.as_ref().filter(|current| current.0 == run).map(|current| &current.1)
    }

    fn job_of(&self, run: u64) -> Arc<Job> {
        self.keeping.job(run).unwrap_or(&self.job).clone()
    }

    fn program(&self, text: &str) -> String {
        self.shown.and_then(|run| self.keeping.job(run)).unwrap_or(&self.job).program(text)
    }

    /// Reads kept runs, on a thread: there may be many.
    fn recall(&self, job: Arc<Job>) {
        let read = self.keeping.earlier(job);
        let failed = |why| Msg::Fault(format!("the kept runs cannot be read: {why}"));
        on_thread(&self.sender, "history", failed, move |sender| tell(sender, Msg::Recalled(read())));
    }

    /// The kept run that the screen begins with.
    pub fn resume(&mut self, state_dir: &Path, id: &str) -> Option<Recalled> {
        let kept = History::at(state_dir.join("runs")).read(Some(id)).ok()?;
        let mut recalled = keeping::recalled(&kept, &self.job);
        // The state gives it this name.
        let run = 1;
        if let Some(applied) = self.keeping.backups().and_then(|backups| kept.written(backups).ok()) {
            recalled.applied = kept.taken().and_then(|taken| taken.candidate);
            self.applied = Some((run, applied));
        }
        Some(recalled)
    }

    /// The user has said that these answers are right.
    fn said(&mut self, run: u64, answers: &[(String, Observed)], job: &Job) {
        let failed = self.keeping.said(run, answers, job);
        self.fault(failed);
    }

    /// Outcome of a session that ends with `accept`.
    fn outcome(&self, accept: Option<String>) -> Outcome {
        let accepted = accept.map(|text| self.program(&text));
        let code = self.written.code().filter(|_| self.extras.captured).map(str::to_owned);
        Outcome { accepted: accepted.or(code), message: self.written.words(self.keeping.backups().is_some()) }
    }

    /// Ends everything and waits until no code under test runs any more. Candidates that are still being
    /// written are kept as far as `state` shows them: a model or a server may take its time to end.
    pub fn close(&mut self, state: &State) {
        if let Some(run) = past::newest_run(state) {
            let live = run.candidates.iter().enumerate().filter(|(_, c)| c.is_live() && !c.text.is_empty());
            self.keeping.cut(run.id, live.map(|(index, c)| (index, c.text.clone())).collect());
        }
        self.watching = None;
        self.targets.stop();
        self.drop_head();
        self.current.take().into_iter().for_each(|(_, run)| run.cancel());
        self.opened = None;
    }
}
