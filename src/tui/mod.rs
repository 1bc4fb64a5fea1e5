//! The screen: a pure core (`app`), its drawing (`view`) and the loop that connects both to the terminal.
//!
//! - `update(&mut State, Msg)` returns effects; `view` draws a `&State`; `runtime` takes in everything that
//!   is ready, updates, carries out effects, and draws at most 30 times a second if something changed.
//! - The room never calls the engine, a runner or the sandbox. It starts runs of jobs and receives their
//!   events. Each event has the number of its run; events of older runs are dropped.
//! - A key is a row in `keymap`, an action a row and a handler in `app/action.rs`. A theme is a file in
//!   `themes/` and a row in `theme`.
//! - `keyboard` reads the terminal on a thread, `decoder` makes keys of its bytes and drops replies of the
//!   terminal. The screen is on the terminal device, so stdin and stdout may be pipes.
//! - Panes keep their size while text flows; afterwards each row of panes gets what it needs. If not all
//!   candidates fit there are pages, and a strip with the states of all.
//! - `app/tokens` keeps ids and log-probabilities of tokens as they come. They are spelled, and found in the
//!   text, only while something shows them.
//! - `scan` finds the functions of a project on a thread and tells them in batches; `targets` makes the job
//!   of the one that was chosen. The models stay as they are.
//! - The palette lists the actions of `keymap` and the settings that `Setup::live` offers. `live` changes
//!   those, and loads other models while the old ones go on. `remembered` keeps the look of the screen
//!   between sessions.
//! - `menu` asks one question before the screen opens: the model, where nothing names one.
//! - `watching` tells when the files of the job are saved by another program; `app/watch` decides what
//!   follows.
//! - The cursor is on the pick until the user moves it. Enter takes the candidate under it, and asks first if
//!   that one has not passed. A message ends with the next key, with time, or when it is no longer true
//!   (`While`).

pub(crate) mod app;
mod background;
pub mod canvas;
pub mod clipboard;
mod completion;
mod decoder;
mod editor;
pub(crate) mod event;
mod frames;
mod highlight;
pub(crate) mod keeping;
mod keyboard;
pub(crate) mod keymap;
mod layout;
mod legend;
mod line;
pub(crate) mod live;
mod menu;
pub(crate) mod remembered;
mod runtime;
mod scan;
mod targets;
pub mod terminal;
mod text;
pub(crate) mod theme;
mod view;
mod watching;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::engine::GenerateOptions;
use crate::job::{Job, TrialPool};
use crate::trial::Limits;
use crate::untrusted;

use app::State;
pub use app::palette::Setting;
use highlight::Highlights;
use keeping::Keeping;
use keyboard::Keyboard;
use keymap::{Keymap, KeymapError};
pub use live::{Change, Live};
pub use menu::{Menu, MenuChoice, MenuRow, choose};
use remembered::Remembered;
use runtime::{End, Runtime};
pub use targets::Functions;
use terminal::{Guard, Inputs, RealScreen, Screen};
use theme::{Depth, Theme, ThemeError, Themes};
pub use world::Open;
use world::{Incoming, World};

/// Settings that the screen starts with.
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
pub struct Setup {
    /// Text to complete, with its tests.
    pub job: Job,
    /// Advice on the models.
    pub notice: Option<String>,
    /// Loads models and sandbox, on a thread of its own after the first frame, and tells how far that is. The
    /// error is a sentence for the user.
    #[allow(clippy::type_complexity)] // the alias would hide what a caller has to write
    pub open:
        Box<dyn FnOnce(crate::source::Told) -> Result<(Arc<dyn crate::source::Source>, TrialPool), String> + Send>,
    /// Options of the generations.
    pub options: GenerateOptions,
    /// Candidates end with their function.
    pub default_stops: bool,
    /// Limits of a trial.
    pub limits: Limits,
    /// The user's keys: action to keys.
    pub keys: BTreeMap<String, Vec<String>>,
    /// A theme of the program, `auto` or another pair, or the name of a file of `themes_dir`.
    pub theme: String,
    /// The user's own themes.
    pub themes_dir: PathBuf,
    /// Where copies of files are kept before they are written to (in `backups`), and runs (in `runs`); none
    /// if empty.
    pub state_dir: PathBuf,
    /// Runs are kept.
    pub history: bool,
    /// Id of a kept run to begin with. Its function is that of `job`.
    pub resumed: Option<String>,
    /// The user has agreed beforehand to run tests even where nothing isolates them.
    pub tests_allowed: bool,
    /// The first pass ends what is still being written.
    pub stop_on_pass: bool,
    /// Candidates are called on the same inputs and compared.
    pub agree: bool,
    /// Most rounds of candidates while all fail their tests.
    pub rounds: usize,
    /// Follow the editor from the start.
    pub watch: bool,
    /// Functions to choose from.
    pub functions: Functions,
    /// Settings that can be changed while the screen is open.
    pub live: Option<Box<dyn Live>>,
}

/// How the session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Code for standard output: the accepted program, or the function that was written to its file if the
    /// output is captured.
    pub accepted: Option<String>,
    /// A line for the shell's screen; empty when there is nothing to say.
    pub message: String,
}

/// Why there is no screen, or no more.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Not started from a terminal.
    #[error("{0}")]
    NoTerminal(&'static str),
    /// The user's keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeymapError),
    /// The theme cannot be used.
    #[error(transparent)]
    Theme(#[from] ThemeError),
    /// The terminal cannot be read or written.
    #[error("the terminal cannot be used any more: {0}")]
    Terminal(#[from] io::Error),
    /// The terminal went away.
    #[error("the terminal was closed")]
    Closed,
    /// A signal asked the process to end.
    #[error("ended by {0}")]
    Signal(&'static str),
}

/// Runs the screen on the terminal until the user leaves. The terminal is given back in every case.
pub fn run(setup: Setup) -> Result<Outcome, TuiError> {
    terminal::check().map_err(TuiError::NoTerminal)?;
    let themes = Themes::detect(&setup.theme, &setup.themes_dir);
    let theme = themes.find(&setup.theme)?;
    // Mistakes in the settings are said on the normal screen.
    Keymap::new(&setup.keys)?;
    let var = |name: &str| std::env::var(name).ok();
    let captured = !io::stdout().is_terminal();
    let clipboard = clipboard::Tool::of_session();
    let light = themes.light;
    let extras = Extras {
        hook: true,
        in_tmux: var("TMUX").is_some(),
        captured,
        clipboard,
        light,
        agree: setup.agree,
        rounds: setup.rounds,
    };
    let guard = Guard::enter()?;
    let mut screen = RealScreen::new()?;
    let result = run_on(setup, theme, &mut screen, &mut Keyboard, extras);
    drop(guard);
    result
}

/// The theme of this name, for the terminal as its variables describe it.
pub fn theme_of(name: &str, folder: &Path) -> Result<Theme, ThemeError> {
    Themes::detect(name, folder).find(name)
}

/// The theme that the user chose on the screen last, if it can still be had.
pub fn remembered_theme(state_dir: &Path, folder: &Path) -> Option<String> {
    let theme = Remembered::load(state_dir).theme;
    theme.filter(|name| Theme::find(name, folder, false, Depth::True).is_ok())
}

/// Differences between a terminal and a test.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub struct Extras {
    /// Catch panics of other threads.
    pub hook: bool,
    /// The terminal is inside tmux.
    pub in_tmux: bool,
    /// Standard output is not the terminal: what is taken goes there, too.
    pub captured: bool,
    /// Programs that put text on the clipboard.
    pub clipboard: Vec<clipboard::Tool>,
    /// The terminal's background is light.
    pub light: bool,
    /// Candidates are called on the same inputs.
    pub agree: bool,
    /// Most rounds of candidates while all fail their tests.
    pub rounds: usize,
}

/// Runs the screen on anything that can be drawn on, with input from anywhere.
pub fn run_on(
    setup: Setup,
    theme: Theme,
    screen: &mut dyn Screen,
    inputs: &mut dyn Inputs,
    extras: Extras,
) -> Result<Outcome, TuiError> {
    let keys = Keymap::new(&setup.keys)?;
    let (sender, incoming) = mpsc::unbounded_channel();
    if extras.hook {
        let sender = sender.clone();
        terminal::guard_panics(move |what| {
            let _ = sender.send(Incoming::App(app::Msg::Fault(what)));
        });
    }
    let job = Arc::new(setup.job);
    let mut state = State::new(job.clone(), setup.options.clone(), keys, setup.tests_allowed);
    state.stop_on_pass = setup.stop_on_pass;
    state.picking.advice = setup.notice.map(|notice| untrusted::clean_line(&notice, 400));
    let coloured = sender.clone();
    let highlights = Highlights::start(&theme, move |lines| {
        let _ = coloured.send(Incoming::Coloured(lines));
    });
    let remembered = Remembered::load(&setup.state_dir);
    state.remember(&remembered);
    state.palette.theme = setup.theme;
    let themes = Themes { folder: setup.themes_dir.clone(), light: extras.light, depth: theme.depth };
    let keeping = Keeping::new(&setup.state_dir, setup.history);
    state.picking.folder = setup.functions.folder();
    let picker = setup.functions.at_start.then(|| app::picker::open(&mut state, setup.functions.file.clone(), true));
    let mut world = World::new(
        job,
        (setup.options, setup.default_stops),
        (setup.limits, setup.stop_on_pass),
        keeping,
        extras,
        sender,
    )
    .choosing(setup.functions)
    .changing(setup.live, setup.themes_dir, setup.state_dir.clone());
    if let Some(run) = setup.resumed.and_then(|id| world.resume(&setup.state_dir, &id)) {
        for effect in app::update(&mut state, 0, app::Msg::Resumed(Box::new(run))) {
            world.act(effect);
        }
    }
    for effect in picker.into_iter().flatten() {
        world.act(effect);
    }
    state.watch.on = setup.watch;
    if setup.watch {
        world.act(app::Effect::Watch(true));
    }
    let runtime = Runtime { state, theme, themes, highlights, world, incoming, screen, inputs };
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match executor.block_on(runtime.run(setup.open, runtime::signals()))? {
        End::Quit(outcome) => Ok(outcome),
        End::Signal(name) => Err(TuiError::Signal(name)),
        End::Closed => Err(TuiError::Closed),
    }
}
