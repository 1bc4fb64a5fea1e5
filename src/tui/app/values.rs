//! The values of a setting in the palette: those that are listed, the one that is being loaded, and paths
//! that go on with a typed one.

use super::choices::Choices;
use super::effect::Effect;
use super::palette::{Entry, Level, Open, Setting, What};
use super::state::State;
use crate::tui::completion::completed;
use crate::tui::text::one_line;

/// Settings whose values may be paths.
const PATHS: [&str; 2] = ["model", "tests"];

/// A value of the setting that is listed may be a path.
pub fn has_paths(open: &Open) -> bool {
    matches!(&open.level, Level::Values(setting) if PATHS.contains(&setting.name.as_str()))
}

/// Lists the values of a setting.
pub(super) fn list(state: &mut State, setting: Setting) {
    let Some(open) = &mut state.palette.open else { return };
    open.list = Choices::of(rows(&setting));
    open.list.put_on(|entry| entry.what == What::Value(setting.value.clone()));
    open.level = Level::Values(setting);
}

/// Values are offered only until a number is typed: 1 is not meant as a part of 16.
pub(super) fn numbers(open: &mut Open) {
    if let Level::Values(setting) = &open.level
        && setting.number
    {
        let entries = if open.list.query.is_empty() { rows(setting) } else { Vec::new() };
        open.list.replace(entries);
    }
}

fn rows(setting: &Setting) -> Vec<Entry> {
    let loading = setting.loading.iter().filter(|value| !setting.values.contains(value));
    loading.chain(&setting.values).map(|value| row(setting, value)).collect()
}

fn row(setting: &Setting, value: &str) -> Entry {
    let name = match &setting.loading {
        Some(loading) if loading == value => "is being loaded",
        _ if setting.value == value => "now",
        _ => "",
    };
    let what = What::Value(value.to_owned());
    Entry { what, label: one_line(value), name: name.to_owned(), keys: String::new(), why: None }
}

/// Asks for the names that may go on with a typed path.
pub(super) fn complete(open: &Open) -> Vec<Effect> {
    if has_paths(open) { vec![Effect::Names(open.list.query.clone())] } else { Vec::new() }
}

/// The names in the folder of a typed path have come: it goes on as far as they are the same, and they are
/// listed.
pub(super) fn named(state: &mut State, line: &str, names: &[String]) {
    let Some(open) = state.palette.open.as_mut().filter(|open| open.list.query == line) else { return };
    let Level::Values(setting) = &open.level else { return };
    let (path, fitting) = completed(line, names);
    if fitting.is_empty() && !path.ends_with('/') {
        open.error = Some(format!("nothing begins with {}", one_line(line)));
        return;
    }
    let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    // A single one is in the line.
    let several = fitting.iter().filter(|_| fitting.len() > 1);
    let mut all: Vec<Entry> = several.map(|name| row(setting, &format!("{folder}{name}"))).collect();
    all.extend(rows(setting));
    open.list.search(path);
    open.list.replace(all);
}
