//! Carries out what the core asks for: generations, trials, files, the clipboard. Answers come back as
//! messages.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use super::app::palette::Changed;
use super::app::past::{self, Recalled};
use super::app::picker::Chosen;
use super::app::tokens::Insight;
use super::app::watch::{News, Touched};
use super::app::{Effect, Msg, State};
use super::keeping::{self, Keeping};
use super::live::{Changing, Live};
use super::remembered::Remembered;
use super::targets::{self, Functions, Targets};
use super::watching::Watching;
use super::{Extras, Outcome, clipboard, editor};
use crate::code::{self, Applied, CodeError};
use crate::engine::GenerateOptions;
use crate::files;
use crate::history::{self, History};
use crate::job::{Ask, Job, Judge, Rounds, Run, TrialPool, fault};
use crate::source::{Request, Source, Told};
use crate::trial::{Limits, Observed};

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

/// Loads models and sandbox; a panic becomes an error.
pub(super) fn carry_out(open: Open, told: Told) -> Result<Opened, String> {
    let result = panic::catch_unwind(AssertUnwindSafe(|| open(told)));
    result.unwrap_or_else(|why| Err(format!("the models could not be loaded: {}", fault(&*why))))
}

/// Why the tests of a job cannot be run here.
fn unfit(job: &Job, judge: &dyn Judge) -> Option<String> {
    let (tests, language) = (job.tests.as_ref()?, job.language()?);
    judge.check(language, job.file(), tests).err().map(|why| why.to_string())
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
    /// The function written last, its file and its code, unless it was taken back.
    written: Option<(String, PathBuf, String)>,
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
            written: None,
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

    /// Loads models and sandbox on a thread.
    pub fn open(&mut self, open: Open) {
        self.opening = true;
        let (sender, job) = (self.sender.clone(), self.job.clone());
        let bytes = sender.clone();
        let told: Told = Arc::new(move |done, total| {
            let _ = bytes.send(Incoming::App(Msg::Opening { done, total }));
        });
        let body = move || {
            let result = carry_out(open, told);
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

    /// Loads the models of the present settings.
    fn open_again(&mut self) {
        match self.changing.open() {
            Ok(open) => self.open(open),
            Err(why) => self.tell(Msg::Opened(Err(why))),
        }
    }

    /// Models and sandbox have come; returns the message for the core.
    pub fn opened(&mut self, result: Result<Opened, String>) -> Msg {
        self.opening = false;
        Msg::Opened(result.map(|(source, pool)| {
            let said = (source.info(), pool.judge().protection().clone());
            self.tell_insight(&*source);
            self.opened = Some((source, pool));
            said
        }))
    }

    /// Tells how tokens of a source are spelled.
    fn tell_insight(&self, source: &dyn Source) {
        let window = source.window();
        let chat = window.free_chat().is_some();
        self.tell(Msg::Insight(Insight { spelling: Arc::new(window), chat }));
    }

    /// Other models have come; those of before stay if not. Returns the message for the core.
    pub fn reopened(&mut self, result: Result<Opened, String>) -> Msg {
        let loaded = self.changing.loading.take();
        let result = result.map(|(source, pool)| {
            let info = source.info();
            self.tell_insight(&*source);
            // The user's consent belongs to the pool of before.
            let pool = self.opened.take().map_or(pool, |(_, before)| before);
            (self.opened, self.ahead) = (Some((source, pool)), None);
            if let Some((name, value)) = loaded {
                self.changing.take(&name, &value);
            }
            info
        });
        self.tell(Msg::Settings(self.changing.settings()));
        Msg::Reopened(result)
    }

    /// Gives a setting a value.
    fn set(&mut self, name: &str, value: &str) -> Result<(Changed, Option<Arc<Job>>), String> {
        let change = self.changing.change(name, value)?;
        if let Some(open) = change.open {
            if self.opening {
                return Err("the models of the start are still being loaded: wait until they are there".to_owned());
            }
            self.changing.load(name, value, open)?;
            return Ok((Changed { value: value.to_owned(), options: change.options, loads: true }, None));
        }
        let mut tested = None;
        if let Some(tests) = change.tests {
            let job = Arc::new(self.job.with_tests(&tests).map_err(|why| why.to_string())?);
            self.job = job.clone();
            self.targets.test_with(tests);
            tested = Some(job);
        }
        let alternatives = self.options.alternatives;
        self.options = GenerateOptions { alternatives, ..change.options.clone() };
        (self.limits, self.extras.rounds) = (change.limits, change.rounds);
        let value = self.changing.take(name, value);
        Ok((Changed { value, options: change.options, loads: false }, tested))
    }

    /// Does what the core asks for about settings.
    fn act_on_settings(&mut self, effect: Effect) {
        match effect {
            Effect::Settings => self.tell(Msg::Settings(self.changing.settings())),
            Effect::Set { name, value } => {
                let (result, tested) = match self.set(&name, &value) {
                    Ok((changed, tested)) => (Ok(Box::new(changed)), tested),
                    Err(why) => (Err(why), None),
                };
                self.tell(Msg::Set { name, result });
                self.tell(Msg::Settings(self.changing.settings()));
                // Last, because what is said of it says more.
                if let Some(job) = tested {
                    self.other_tests(job);
                }
            }
            Effect::Keep { name, value } => self.tell(Msg::Kept(self.changing.keep(&name, &value))),
            Effect::Remember(remembered) if self.state_dir.as_os_str().is_empty() => drop(remembered),
            Effect::Remember(remembered) => {
                let failed = remembered.save(&self.state_dir).err();
                let said = |why| {
                    format!(
                        "the layout is not remembered: {} cannot be written: {why}",
                        Remembered::file(&self.state_dir).display()
                    )
                };
                self.fault(failed.map(said));
            }
            _ => {}
        }
    }

    /// The job has other tests. If they cannot be run here, that is said.
    fn other_tests(&self, job: Arc<Job>) {
        self.tell(Msg::OtherTests(Arc::clone(&job)));
        let judge = self.opened.as_ref().map(|opened| opened.1.judge()).filter(|judge| judge.may_run());
        let (sender, Some(judge)) = (self.sender.clone(), judge) else { return };
        let check = move || {
            if let Some(why) = unfit(&job, &*judge) {
                let _ = sender.send(Incoming::App(Msg::Fault(why)));
            }
        };
        let _ = thread::Builder::new().name("tests".into()).spawn(check);
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
            Effect::CancelTests { run } => self.run(run).into_iter().for_each(Run::stop_tests),
            Effect::AllowUnprotected => self.opened.iter().for_each(|(_, pool)| pool.allow_unprotected()),
            Effect::Apply { run, candidate, text } => {
                let msg = match self.apply(run, candidate, &text) {
                    Err(CodeError::Changed { path }) => Msg::Changed(path.display().to_string()),
                    result => Msg::Applied { run, candidate, result: result.map_err(|e| e.to_string()) },
                };
                self.tell(msg);
            }
            Effect::ReadAgain => {
                let result = self.job.read_again().map(Arc::new).map_err(|e| e.to_string());
                if let Ok(job) = &result {
                    self.adopt(job.clone());
                }
                self.tell(Msg::Read(result));
            }
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

    /// Goes on with another function.
    fn leave_for(&mut self, job: Arc<Job>) {
        self.keeping.leave();
        self.shown = None;
        self.adopt(job);
    }

    /// The job whose files are as they are now.
    fn adopt(&mut self, job: Arc<Job>) {
        self.watching.iter().for_each(|watching| watching.job(job.clone()));
        self.earlier.extend(self.applied.take());
        self.job = job;
    }

    /// Reads the files of the job again, on a thread: the search for its tests may read a whole project.
    fn follow(&self, touched: Touched) {
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
    fn read_tests(&self, run: u64, candidate: usize, job: Arc<Job>) {
        self.on_thread("tests", move || {
            let read = panic::catch_unwind(AssertUnwindSafe(|| job.with_tests_read_again()));
            let read = read.map(|read| read.map_err(|why| why.to_string()));
            let read = read.unwrap_or_else(|why| Err(format!("the tests cannot be read: {}", fault(&*why))));
            Msg::TestsRead { run, candidate, result: read.map(Arc::new) }
        });
    }

    /// Copies a text, on a thread: a tool takes its time.
    fn copy(&self, text: String) {
        let (extras, sender) = (self.extras.clone(), self.sender.clone());
        let body = move || {
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
            let _ = sender.send(incoming);
        };
        if let Err(why) = thread::Builder::new().name("clipboard".into()).spawn(body) {
            self.tell(Msg::Copied(Err(format!("no thread could be started: {why}"))));
        }
    }

    /// Does something that takes time, and tells what came of it.
    fn on_thread(&self, name: &str, work: impl FnOnce() -> Msg + Send + 'static) {
        let sender = self.sender.clone();
        let body = move || drop(sender.send(Incoming::App(work())));
        if let Err(why) = thread::Builder::new().name(name.into()).spawn(body) {
            self.tell(Msg::Fault(format!("no thread could be started: {why}")));
        }
    }

    fn fault(&self, why: Option<String>) {
        if let Some(why) = why {
            self.tell(Msg::Fault(why));
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

    /// Asks the models for the head that a wish speaks of, on a thread: they take their time.
    fn ask_for_head(&mut self, ask: u64, job: Arc<Job>) {
        self.drop_head();
        let Some((source, _)) = &self.opened else {
            return self.tell(Msg::Head { ask, stub: None, lacking: job.wished_head() });
        };
        let (source, options) = (Arc::clone(source), self.options.clone());
        let wanted = self.asking.insert(Arc::new(AtomicBool::new(true))).clone();
        self.on_thread("head", move || {
            let is_wanted = move || wanted.load(Ordering::Relaxed);
            let write = || job.with_wished_head(&*source, &options, &is_wanted);
            let (written, lacking) =
                panic::catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| (None, job.wished_head()));
            Msg::Head { ask, stub: written.and_then(|job| job.editable()), lacking }
        });
    }

    fn drop_head(&mut self) {
        self.asking.take().into_iter().for_each(|wanted| wanted.store(false, Ordering::Relaxed));
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
        let (sender, read) = (self.sender.clone(), self.keeping.earlier(job));
        let read = move || {
            let _ = sender.send(Incoming::App(Msg::Recalled(read())));
        };
        if let Err(why) = thread::Builder::new().name("history".into()).spawn(read) {
            self.tell(Msg::Fault(format!("no thread could be started to read the kept runs: {why}")));
        }
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

    fn save_patch(&self, run: u64, text: &str) {
        let job = self.job_of(run);
        let target = job.target().ok_or_else(|| "there is no file that a patch could change".to_owned());
        let saved = target.and_then(|target| target.save_patch(text, Path::new(".")).map_err(|why| why.to_string()));
        self.tell(Msg::Saved(saved.map(|path| path.display().to_string())));
    }

    /// The user has said that these answers are right.
    fn said(&mut self, run: u64, answers: &[(String, Observed)], job: &Job) {
        let failed = self.keeping.said(run, answers, job);
        self.fault(failed);
    }

    fn apply(&mut self, run: u64, candidate: usize, text: &str) -> Result<String, CodeError> {
        let job = self.job_of(run);
        let none = || CodeError::NotAFile { name: "the prompt".to_owned() };
        let target = job.target().ok_or_else(none)?;
        let (backups, diff) = (self.keeping.backups(), target.diff(text));
        let applied = self.writing(|| target.apply(text, backups))?;
        let path = applied.path.display().to_string();
        let failed = self.keeping.applied(run, candidate, &applied, diff);
        self.fault(failed);
        self.written = Some((target.name.clone(), applied.path.clone(), job.function(text)));
        self.applied = Some((run, applied));
        Ok(path)
    }

    /// Writes files, which is no news of another program.
    fn writing<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.watching {
            Some(watching) => watching.writing(write),
            None => write(),
        }
    }

    fn undo(&mut self) -> Result<String, String> {
        let earlier = if self.applied.is_none() { self.earlier.pop() } else { None };
        let (run, applied) = self.applied.as_ref().or(earlier.as_ref()).ok_or("nothing was written")?;
        let said = self.writing(|| applied.undo()).map_err(|e| e.to_string())?;
        let failed = self.keeping.undone(*run, applied);
        self.fault(failed);
        (self.applied, self.written) = (None, None);
        Ok(said)
    }

    /// Outcome of a session that ends with `accept`.
    fn outcome(&self, accept: Option<String>) -> Outcome {
        let accepted = accept.map(|text| self.program(&text));
        let Some((name, path, code)) = &self.written else { return Outcome { accepted, message: String::new() } };
        let undo = if self.keeping.backups().is_none() { "" } else { "; `bass-tui undo` takes it back" };
        let code = self.extras.captured.then(|| code.clone());
        Outcome { accepted: accepted.or(code), message: format!("{name} was written to {}{undo}", path.display()) }
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
