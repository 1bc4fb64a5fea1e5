//! The palette: every action of the place one is in and every setting, filtered while a word of it is typed;
//! and the values of a setting.

use super::choices::{Choice, Choices};
use super::effect::Effect;
use super::msg::Msg;
use super::refusal::refusal;
use super::state::State;
use super::{action, past, testing, values, writing};
use crate::engine::GenerateOptions;
use crate::job::Job;
use crate::tui::event::{Code, Key};
use crate::tui::keymap::{Action, Context};
use crate::tui::layout::Arrangement;
use crate::tui::remembered::Remembered;
use crate::tui::text::one_line;

/// A setting that can be changed while the screen is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Its name, as a flag without dashes.
    pub name: String,
    /// Its present value.
    pub value: String,
    /// Its effect.
    pub help: String,
    /// Values to choose from.
    pub values: Vec<String>,
    /// Other values can be typed.
    pub typed: bool,
    /// Its value is a number, so what is typed is never a part of a value.
    pub number: bool,
    /// A file or a flag sets it at the next start, whatever is remembered.
    pub fixed: bool,
    /// The value whose models are being loaded.
    pub loading: Option<String>,
}

/// A setting was changed.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The new value.
    pub value: String,
    /// Options of the generations from now on.
    pub options: GenerateOptions,
    /// Its models are being loaded; until they are there the old ones go on.
    pub loads: bool,
}

/// A row of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub what: What,
    pub label: String,
    /// To the right: the action's name in settings.
    pub name: String,
    /// Its keys.
    pub keys: String,
    /// Why it can do nothing now.
    pub why: Option<String>,
}

/// The effect of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// As if this key were pressed.
    Action(Action, Key),
    /// Its values are listed.
    Setting(Setting),
    Value(String),
}

impl Choice for Entry {
    /// They stay in the order in which they are listed.
    type Order = ();

    fn order(&self) {}

    fn haystack(&self) -> String {
        format!("{} {}", self.label, self.name)
    }
}

/// Things that are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Level {
    /// Actions and settings.
    All,
    Settings,
    /// The values of a setting.
    Values(Setting),
}

/// The palette while it is open.
#[derive(Clone, Debug)]
pub struct Open {
    pub list: Choices<Entry>,
    pub level: Level,
    /// Why what was chosen cannot be had.
    pub error: Option<String>,
    /// Settings only, and several may be changed.
    alone: bool,
    /// The place that it was opened in.
    place: Context,
    /// The theme in view, while themes are listed.
    preview: String,
    /// A theme that cannot be used.
    broken: Option<String>,
}

/// The palette, and what settings need to know.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    pub open: Option<Open>,
    /// Settings that the program told last.
    settings: Vec<Setting>,
    /// Name of the theme in force.
    pub theme: String,
    /// The theme that was chosen on the screen, in this session or an earlier one.
    pub own_theme: Option<String>,
    /// The seed of the next generation, once it was set.
    pub seed: Option<u64>,
    /// The setting and the value whose models are being loaded while the old ones go on.
    pub loading: Option<(String, String)>,
}

impl State {
    /// The views that are remembered between sessions.
    pub fn remembered(&self) -> Remembered {
        let theme = self.palette.own_theme.clone();
        Remembered { layout: Some(self.arrangement), wrap: Some(self.wrap), theme }
    }

    /// Takes over what was remembered.
    pub fn remember(&mut self, remembered: &Remembered) {
        self.arrangement = remembered.layout.unwrap_or(self.arrangement);
        self.wrap = remembered.wrap.unwrap_or(self.wrap);
        self.palette.own_theme.clone_from(&remembered.theme);
    }
}

/// Opens the palette, or the settings alone.
pub fn open(state: &mut State, alone: bool) -> Vec<Effect> {
    if state.palette.open.is_some() {
        return Vec::new();
    }
    let level = if alone { Level::Settings } else { Level::All };
    let place = state.place();
    let preview = state.palette.theme.clone();
    let open = Open { list: Choices::default(), level, error: None, alone, place, preview, broken: None };
    state.palette.open = Some(open);
    refresh(state);
    vec![Effect::Settings]
}

/// A message about settings.
pub fn take_in(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Settings(settings) => told(state, settings),
        Msg::Set { name, result } => changed(state, &name, result),
        Msg::Reopened(result) => return reopened(state, result),
        Msg::OtherTests(job) => return other_tests(state, job),
        Msg::Names { line, names } => values::named(state, &line, &names),
        Msg::NoTheme { name, why } => no_theme(state, name, why),
        Msg::Kept(Ok(path)) => state.done(format!("kept in {}", one_line(&path))),
        Msg::Kept(Err(why)) => state.fail(why),
        _ => {}
    }
    Vec::new()
}

/// The settings and their values, as the program knows them now.
fn told(state: &mut State, settings: Vec<Setting>) {
    state.palette.settings = settings;
    refresh(state);
}

/// Lists anew what is listed.
fn refresh(state: &mut State) {
    let Some((level, place)) = state.palette.open.as_ref().map(|open| (open.level.clone(), open.place)) else { return };
    let entries = match &level {
        Level::All => actions(state, place).into_iter().chain(settings(state)).collect(),
        Level::Settings => settings(state),
        Level::Values(_) => return,
    };
    if let Some(open) = &mut state.palette.open {
        open.list.replace(entries);
    }
}

/// The actions of a place, and those of everywhere that it does not have itself.
fn actions(state: &State, place: Context) -> Vec<Entry> {
    let own: Vec<_> = state.keys.all(place).collect();
    let everywhere = state.keys.all(Context::Global);
    let everywhere = everywhere.filter(|(binding, _)| !own.iter().any(|(other, _)| other.action == binding.action));
    let entries = own.iter().copied().chain(everywhere.collect::<Vec<_>>());
    let entries = entries.filter(|(binding, _)| !matches!(binding.action, Action::Palette));
    let entry = |(binding, keys): (&crate::tui::keymap::KeyBinding, &[Key])| {
        let pressed = keys.first().copied().unwrap_or(Key::plain(Code::Enter));
        let shown = crate::tui::keymap::shown(keys);
        let why = match binding.action {
            Action::FocusPane => Some(format!("press {shown}: each names a pane")),
            action => refusal(state, action).map(|why| why.1),
        };
        let (label, name) = (binding.label.to_owned(), binding.name.to_owned());
        Entry { what: What::Action(binding.action, pressed), label, name, keys: shown, why }
    };
    entries.map(entry).collect()
}

/// The settings of the program, and those of the screen.
fn settings(state: &State) -> Vec<Entry> {
    let mut all = state.palette.settings.clone();
    for setting in &mut all {
        let loading = state.palette.loading.iter().find(|(name, _)| *name == setting.name);
        setting.loading = loading.map(|(_, value)| value.clone());
        match setting.name.as_str() {
            "n" => setting.value = state.options.n.to_string(),
            "theme" => setting.value.clone_from(&state.palette.theme),
            _ => {}
        }
    }
    let own = |name: &str, value: &str, values: &[&str], help: &str| Setting {
        name: name.to_owned(),
        value: value.to_owned(),
        help: help.to_owned(),
        values: values.iter().map(|&value| value.to_owned()).collect(),
        ..Setting::default()
    };
    let layouts: Vec<&str> = Arrangement::ALL.iter().map(|(_, name)| *name).collect();
    all.push(own("layout", state.arrangement.name(), &layouts, "How the candidates are arranged; it is remembered"));
    let wrap = if state.wrap { "yes" } else { "no" };
    all.push(own("wrap", wrap, &["yes", "no"], "Wrap long lines, or cut them; it is remembered"));
    let then = |value: &String| format!("; {} is being loaded", one_line(value));
    let entry = |setting: Setting| Entry {
        label: format!(
            "{}: {}{}",
            setting.name,
            one_line(&setting.value),
            setting.loading.as_ref().map_or_else(String::new, then)
        ),
        name: "setting".to_owned(),
        keys: String::new(),
        why: None,
        what: What::Setting(setting),
    };
    all.into_iter().map(entry).collect()
}

/// An action of the table while the palette is open; `None` for those that mean the same everywhere.
pub fn act(state: &mut State, action: Action) -> Option<Vec<Effect>> {
    let page = (usize::from(state.size.1) / 2).max(1) as isize;
    let open = state.palette.open.as_mut()?;
    open.error = None;
    match action {
        Action::Close => return Some(back(state)),
        Action::Choose => return Some(choose(state)),
        Action::Keep => return Some(keep(state)),
        Action::CompletePath => return Some(values::complete(open)),
        _ if open.list.moved(action, page) => {}
        _ => return None,
    }
    Some(look(state))
}

/// A key that means nothing else belongs to the query.
pub fn typed(state: &mut State, pressed: Key) -> Vec<Effect> {
    let Some(open) = &mut state.palette.open else { return Vec::new() };
    open.error = None;
    open.list.typed(pressed);
    values::numbers(open);
    look(state)
}

/// Pasted text goes into the query.
pub fn paste(state: &mut State, text: &str) -> Vec<Effect> {
    let Some(open) = &mut state.palette.open else { return Vec::new() };
    open.list.paste(text);
    values::numbers(open);
    look(state)
}

/// Shows the theme under the cursor.
fn look(state: &mut State) -> Vec<Effect> {
    let Some(open) = &mut state.palette.open else { return Vec::new() };
    let Level::Values(setting) = &open.level else { return Vec::new() };
    let wanted = match open.list.current().map(|entry| &entry.what) {
        Some(What::Value(name)) if setting.name == "theme" => name.clone(),
        _ => return Vec::new(),
    };
    if wanted == open.preview {
        return Vec::new();
    }
    open.preview.clone_from(&wanted);
    vec![Effect::Theme(wanted)]
}

/// A theme cannot be used; the one before stays.
fn no_theme(state: &mut State, name: String, why: String) {
    match &mut state.palette.open {
        Some(open) => (open.error, open.broken) = (Some(why), Some(name)),
        None => state.fail(why),
    }
}

/// Back by one step: from the values of a setting to what was listed before, else to the screen.
fn back(state: &mut State) -> Vec<Effect> {
    let Some(open) = &mut state.palette.open else { return Vec::new() };
    let Level::Values(setting) = open.level.clone() else { return close(state) };
    let shown = std::mem::replace(&mut open.preview, state.palette.theme.clone());
    let effects =
        if shown == state.palette.theme { Vec::new() } else { vec![Effect::Theme(state.palette.theme.clone())] };
    open.level = if open.alone { Level::Settings } else { Level::All };
    open.list = Choices::default();
    refresh(state);
    if let Some(open) = &mut state.palette.open {
        open.list.put_on(|entry| matches!(&entry.what, What::Setting(other) if other.name == setting.name));
    }
    effects
}

/// Closes the palette, if it is open; a theme that was only looked at goes.
pub fn close(state: &mut State) -> Vec<Effect> {
    let Some(open) = state.palette.open.take() else { return Vec::new() };
    let theme = state.palette.theme.clone();
    if open.preview == theme { Vec::new() } else { vec![Effect::Theme(theme)] }
}

fn choose(state: &mut State) -> Vec<Effect> {
    let Some(open) = &mut state.palette.open else { return Vec::new() };
    let current = open.list.current().cloned();
    match (open.level.clone(), current) {
        (Level::Values(setting), None) if setting.typed && !open.list.query.trim().is_empty() => {
            let value = open.list.query.trim().to_owned();
            set(state, &setting, value)
        }
        (_, None) => {
            open.error = Some("nothing matches".to_owned());
            Vec::new()
        }
        (Level::Values(setting), Some(Entry { what: What::Value(value), .. })) => set(state, &setting, value),
        (_, Some(Entry { what: What::Setting(setting), .. })) => {
            values::list(state, setting);
            Vec::new()
        }
        (_, Some(Entry { why: Some(why), .. })) => {
            open.error = Some(why);
            Vec::new()
        }
        (_, Some(Entry { what: What::Action(action, pressed), .. })) => {
            let place = open.place;
            let mut effects = close(state);
            // A question may have come meanwhile: it wants an answer of its own.
            if state.context() == place {
                effects.extend(action::act(state, place, action, pressed));
            }
            effects
        }
        (_, Some(_)) => Vec::new(),
    }
}

/// Gives a setting a value: those of the screen at once, others once the program has read it.
fn set(state: &mut State, setting: &Setting, value: String) -> Vec<Effect> {
    match setting.name.as_str() {
        "layout" => {
            let found = Arrangement::ALL.iter().find(|(_, name)| *name == value);
            let words = state.set_arrangement(found.map_or(state.arrangement, |(arrangement, _)| *arrangement));
            done(state, words);
        }
        "wrap" => {
            let words = state.set_wrap(value == "yes");
            done(state, words.to_owned());
        }
        "theme" => {
            let Some(open) = &mut state.palette.open else { return Vec::new() };
            if open.broken.as_ref() == Some(&value) {
                open.error = Some(format!("the theme {value} cannot be used"));
                return Vec::new();
            }
            let shown = std::mem::replace(&mut open.preview, value.clone());
            state.palette.theme.clone_from(&value);
            state.palette.own_theme = Some(value.clone());
            let until =
                if setting.fixed { ", until you leave: the next start takes the one of your settings" } else { "" };
            done(state, format!("theme: {value}{until}"));
            return if shown == value { Vec::new() } else { vec![Effect::Theme(value)] };
        }
        name => return vec![Effect::Set { name: name.to_owned(), value }],
    }
    Vec::new()
}

/// A setting has changed: several may follow where only settings are listed.
fn done(state: &mut State, words: String) {
    state.done(words);
    let Some(open) = &state.palette.open else { return };
    match (&open.level, open.alone) {
        (Level::Values(_), true) => drop(back(state)),
        (Level::Values(_), false) => state.palette.open = None,
        _ => {}
    }
}

/// The program has read a value, or says why it is none.
fn changed(state: &mut State, name: &str, result: Result<Box<Changed>, String>) {
    let changed = match result {
        Ok(changed) => changed,
        Err(why) => {
            match &mut state.palette.open {
                Some(open) => open.error = Some(why),
                None => state.fail(why),
            }
            return;
        }
    };
    let value = one_line(&changed.value);
    match name {
        "n" => state.options.n = changed.options.n,
        "temperature" => state.options.sampling = changed.options.sampling,
        "max-tokens" => state.options.max_tokens = changed.options.max_tokens,
        "seed" => {
            state.options.seed = changed.options.seed;
            state.palette.seed = Some(changed.options.seed);
        }
        _ => {}
    }
    if changed.loads {
        state.palette.loading = Some((name.to_owned(), value.clone()));
        done(state, format!("{name}: {value} is being loaded; until it is there the old one goes on"));
    } else if state.run.is_some() && name != "tests" {
        let again = state.key_name(Context::Panes, Action::Regenerate);
        done(state, format!("{name}: {value}, from the next candidates on; {again} writes them"));
    } else {
        done(state, format!("{name}: {value}"));
    }
}

/// Other models have come, or not; then the old ones stay.
fn reopened(state: &mut State, result: Result<crate::source::SourceInfo, String>) -> Vec<Effect> {
    let what = state.palette.loading.take().unwrap_or_default().1;
    refresh(state);
    match result {
        Ok(info) => {
            state.done(format!("{what} is loaded, for the next candidates"));
            state.loading = super::Loading::Ready(info);
            return if std::mem::take(&mut state.eager) { writing::generate(state) } else { Vec::new() };
        }
        Err(why) => state.fail(format!("{what} cannot be used: {why}; the model is the one of before")),
    }
    Vec::new()
}

/// The function has other tests now.
fn other_tests(state: &mut State, job: std::sync::Arc<Job>) -> Vec<Effect> {
    let effects = past::newest(state);
    let label = if job.tests.is_some() { one_line(&job.tests_label) } else { "none".to_owned() };
    let rest = testing::renewed(state, job, &format!("tests: {label}"));
    effects.into_iter().chain(rest).collect()
}

/// Puts the present value of the setting under the cursor into a file of settings.
fn keep(state: &mut State) -> Vec<Effect> {
    let Some(open) = &mut state.palette.open else { return Vec::new() };
    let said = match (&open.level, open.list.current().map(|entry| &entry.what)) {
        (Level::Values(_), _) => "first set it, with Enter",
        (_, Some(What::Setting(setting))) if matches!(setting.name.as_str(), "layout" | "wrap") => {
            "it is remembered without that"
        }
        (_, Some(What::Setting(setting))) => {
            return vec![Effect::Keep { name: setting.name.clone(), value: setting.value.clone() }];
        }
        _ => "only settings are kept",
    };
    open.error = Some(said.to_owned());
    Vec::new()
}
