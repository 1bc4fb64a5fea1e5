//! Settings that are changed while the screen is open: what the program offers, and other models in the
//! background.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use super::app::palette::Setting;
use super::background::{on_thread, tell};
use super::theme::Theme;
use super::world::{Incoming, Open};
use crate::engine::GenerateOptions;
use crate::job::TestsChoice;
use crate::trial::Limits;

/// The settings of the program, as far as the screen can change them. Errors are sentences for the user.
pub trait Live {
    /// All of them, with their present values.
    fn settings(&self) -> Vec<Setting>;
    /// The effect of a value. Nothing has it yet.
    fn change(&self, name: &str, value: &str) -> Result<Change, String>;
    /// Loads the models of the present values once it is called.
    fn open(&self) -> Result<Open, String>;
    /// The setting has this value from now on.
    fn take(&mut self, name: &str, value: &str);
    /// Writes a setting into the file of the project, if it may stand there, else of the user; returns the
    /// path.
    fn keep(&self, name: &str, value: &str) -> Result<String, String>;
}

/// The effect of another value.
pub struct Change {
    /// Options of the generations from now on.
    pub options: GenerateOptions,
    /// Limits of their trials.
    pub limits: Limits,
    /// Most rounds of candidates.
    pub rounds: usize,
    /// Other tests.
    pub tests: Option<TestsChoice>,
    /// Other models.
    pub open: Option<Open>,
}

/// The settings as the world changes them.
pub(super) struct Changing {
    live: Option<Box<dyn Live>>,
    themes: PathBuf,
    sender: UnboundedSender<Incoming>,
    /// Models are being loaded: a setting and its value, or those of the start.
    pub loading: Option<(String, String)>,
}

impl Changing {
    pub fn new(live: Option<Box<dyn Live>>, themes: PathBuf, sender: UnboundedSender<Incoming>) -> Self {
        Self { live, themes, sender, loading: None }
    }

    /// All settings for the palette.
    pub fn settings(&self) -> Vec<Setting> {
        let mut all = self.live.as_ref().map_or_else(Vec::new, |live| live.settings());
        if !all.iter().any(|setting| setting.name == "theme") {
            all.push(Setting { name: "theme".to_owned(), help: "Colours".to_owned(), ..Setting::default() });
        }
        for setting in all.iter_mut().filter(|setting| setting.name == "theme") {
            setting.values = Theme::names(&self.themes);
        }
        all
    }

    /// The effect of a value.
    pub fn change(&self, name: &str, value: &str) -> Result<Change, String> {
        self.live.as_ref().ok_or("there are no settings to change here")?.change(name, value)
    }

    /// See [`Live::open`].
    pub fn open(&self) -> Result<Open, String> {
        self.live.as_ref().ok_or("start again to load the models")?.open()
    }

    /// The setting has this value from now on.
    pub fn take(&mut self, name: &str, value: &str) -> String {
        if let Some(live) = &mut self.live {
            live.take(name, value);
            let now = live.settings().into_iter().find(|setting| setting.name == name);
            return now.map_or_else(|| value.to_owned(), |setting| setting.value);
        }
        value.to_owned()
    }

    pub fn keep(&self, name: &str, value: &str) -> Result<String, String> {
        self.live.as_ref().ok_or("there is no file of settings here")?.keep(name, value)
    }

    /// Loads other models on a thread; `Incoming::Reopened` tells what came of it.
    pub fn load(&mut self, name: &str, value: &str, open: Open) -> Result<(), String> {
        if self.loading.is_some() {
            return Err("models are being loaded already: wait until they are there".to_owned());
        }
        self.loading = Some((name.to_owned(), value.to_owned()));
        let failed = |why| Incoming::Reopened(Err(format!("the models could not be loaded: {why}")));
        // The old models go on, so nobody waits for it.
        on_thread(&self.sender, "open", failed, |sender| {
            tell(sender, Incoming::Reopened(open(Arc::new(|_, _| {}))));
        });
        Ok(())
    }
}
