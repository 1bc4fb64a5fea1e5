//! Models and settings: loading them, and changes while the screen is open.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::following::unfit;
use super::{Incoming, Open, Opened, World};
use crate::engine::GenerateOptions;
use crate::job::Job;
use crate::source::{Event, Source, Told};
use crate::tui::app::palette::Changed;
use crate::tui::app::tokens::Insight;
use crate::tui::app::{Effect, Msg};
use crate::tui::background::{on_thread, tell};
use crate::tui::remembered::Remembered;

impl World {
    /// Loads models and sandbox on a thread.
    pub fn open(&mut self, open: Open) {
        self.opening = true;
        let (bytes, job) = (self.sender.clone(), self.job.clone());
        let told: Told = Arc::new(move |done, total| tell(&bytes, Msg::Opening { done, total }));
        let failed = |why| Incoming::Opened(Err(format!("the models could not be loaded: {why}")));
        on_thread(&self.sender, "open", failed, move |sender| {
            let result = open(told);
            // Without isolation nothing runs before the user has agreed, not even a look at the tests.
            let judge = result.as_ref().ok().map(|opened| opened.1.judge()).filter(|judge| judge.may_run());
            tell(sender, Incoming::Opened(result));
            if let Some(why) = judge.and_then(|judge| unfit(&job, &*judge)) {
                tell(sender, Msg::Fault(why));
            }
        });
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
        let Some(judge) = judge else { return };
        on_thread(&self.sender, "tests", Msg::Fault, move |sender| {
            if let Some(why) = unfit(&job, &*judge) {
                tell(sender, Msg::Fault(why));
            }
        });
    }

    /// Lets the models read the prompt of a job before it is asked for.
    pub fn read_ahead(&mut self, job: &Arc<Job>) {
        let Some((source, _)) = &self.opened else { return };
        if !self.ahead.as_ref().is_some_and(|known| Arc::ptr_eq(known, job)) {
            self.ahead = Some(Arc::clone(job));
            // A prompt may hold much of a project: nobody waits at the keys until that is read.
            let (source, job) = (Arc::clone(source), Arc::clone(job));
            on_thread(&self.sender, "read ahead", Msg::Fault, move |_| {
                source.read_ahead(job.prompt_for(&source.window()));
            });
        }
    }

    /// Asks the models for the head that a wish speaks of, on a thread: they take their time.
    pub(super) fn ask_for_head(&mut self, ask: u64, job: Arc<Job>) {
        self.drop_head();
        let Some((source, _)) = &self.opened else {
            return self.tell(Msg::Head { ask, stub: None, lacking: job.wished_head() });
        };
        let (source, options, lacking) = (Arc::clone(source), self.options.clone(), job.wished_head());
        let wanted = self.asking.insert(Arc::new(AtomicBool::new(true))).clone();
        let failed = move |_| Msg::Head { ask, stub: None, lacking: lacking.clone() };
        on_thread(&self.sender, "head", failed, move |sender| {
            let to = sender.clone();
            let told = move |event: &Event| {
                tell(&to, Msg::HeadEvent { ask, event: event.clone() });
                if wanted.load(Ordering::Relaxed) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let (written, lacking) = job.with_wished_head(&*source, &options, &told);
            tell(sender, Msg::Head { ask, stub: written.and_then(|job| job.editable()), lacking });
        });
    }

    pub(super) fn drop_head(&mut self) {
        self.asking.take().into_iter().for_each(|wanted| wanted.store(false, Ordering::Relaxed));
    }
}
