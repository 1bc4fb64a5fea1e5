//! Models and settings: loading them, and changes while the screen is open.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::following::unfit;
use super::{Incoming, Open, Opened, World};
use crate::engine::GenerateOptions;
use crate::job::{Job, fault};
use crate::source::{Event, Source, Told};
use crate::tui::app::palette::Changed;
use crate::tui::app::tokens::Insight;
use crate::tui::app::{Effect, Msg};
use crate::tui::remembered::Remembered;

/// Loads models and sandbox; a panic becomes an error.
pub fn carry_out(open: Open, told: Told) -> Result<Opened, String> {
    let result = panic::catch_unwind(AssertUnwindSafe(|| open(told)));
    result.unwrap_or_else(|why| Err(format!("the models could not be loaded: {}", fault(&*why))))
}

impl World {
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
    pub(super) fn open_again(&mut self) {
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
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(Changed, Option<Arc<Job>>), String> {
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
    pub(super) fn act_on_settings(&mut self, effect: Effect) {
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

    /// Asks the models for the head that a wish speaks of, on a thread: they take their time.
    pub(super) fn ask_for_head(&mut self, ask: u64, job: Arc<Job>) {
        self.drop_head();
        let Some((source, _)) = &self.opened else {
            return self.tell(Msg::Head { ask, stub: None, lacking: job.wished_head() });
        };
        let (source, options, sender) = (Arc::clone(source), self.options.clone(), self.sender.clone());
        let wanted = self.asking.insert(Arc::new(AtomicBool::new(true))).clone();
        self.on_thread("head", move || {
            let told = move |event: &Event| {
                let _ = sender.send(Incoming::App(Msg::HeadEvent { ask, event: event.clone() }));
                if wanted.load(Ordering::Relaxed) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let write = || job.with_wished_head(&*source, &options, &told);
            let (written, lacking) =
                panic::catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| (None, job.wished_head()));
            Msg::Head { ask, stub: written.and_then(|job| job.editable()), lacking }
        });
    }

    pub(super) fn drop_head(&mut self) {
        self.asking.take().into_iter().for_each(|wanted| wanted.store(false, Ordering::Relaxed));
    }
}
