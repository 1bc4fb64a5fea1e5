//! Following of the editor: what happens when a file of the job was saved by another program.
//!
//! A stub that changed is written after a pause, a new one becomes the function, and all else is read again
//! quietly. While the user types here or is asked something, it waits. A file is never written.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::effect::Effect;
use super::state::State;
use super::{past, testing, wish, writing};
use crate::code::{FunctionName, function_names};
use crate::job::Job;
use crate::tui::keymap::Action;
use crate::tui::text::one_line;

/// Time without another save before a stub is written, in ms.
pub const PAUSE_MS: u64 = 800;

/// Which files were saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// The file of the function.
    pub file: bool,
    /// A file of its tests.
    pub tests: bool,
}

impl Touched {
    fn and(self, other: Option<Self>) -> Self {
        let other = other.unwrap_or_default();
        Self { file: self.file || other.file, tests: self.tests || other.tests }
    }
}

/// The files of the job as they are after they were saved.
#[derive(Clone, Debug)]
pub struct News {
    pub touched: Touched,
    /// The job read again, or why not.
    pub job: Result<Arc<Job>, String>,
    /// The functions of its file; none if it cannot be read.
    pub functions: Vec<FunctionName>,
}

/// State of the following.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub on: bool,
    /// Files that were saved and not read yet.
    touched: Option<Touched>,
    is_reading: bool,
    /// When the stub is written, and the name of the next generation when that was decided.
    due: Option<(u64, u64)>,
    /// The request for a stub that is new, and the function's name.
    asked: Option<(u64, String)>,
    /// Functions that the file has or had.
    known: Option<(PathBuf, BTreeSet<String>)>,
}

/// Nothing may happen now: the user types, chooses or is asked.
fn is_busy(state: &State) -> bool {
    state.place().is_typed() || state.question_is_shown()
}

/// When a stub is to be written.
pub fn wake_at(state: &State) -> Option<u64> {
    state.watch.due.map(|(at, _)| at).filter(|_| !is_busy(state) && !state.watch.is_reading)
}

/// On or off.
pub fn toggle(state: &mut State) -> Vec<Effect> {
    if !state.watch.on && !state.has_file() {
        let pick = state.key_name(state.context(), Action::Pick);
        state.say(format!("there is no file to follow; {pick} chooses a function of one"));
        return Vec::new();
    }
    let on = !state.watch.on;
    state.watch = Watch { on, ..Watch::default() };
    let key = state.key_name(state.context(), Action::Watch);
    state.say(if on {
        format!("following your editor: a stub that you save is written; {key} ends it")
    } else {
        "the editor is no longer followed".to_owned()
    });
    vec![Effect::Watch(on)]
}

/// Files were saved.
pub fn touched(state: &mut State, touched: Touched) {
    if state.watch.on {
        state.watch.touched = Some(touched.and(state.watch.touched));
        state.watch.due = state.watch.due.map(|(_, run)| (state.now + PAUSE_MS, run));
    }
}

/// Does what has waited, if nothing else is going on.
pub fn go_on(state: &mut State) -> Vec<Effect> {
    if !state.watch.on || state.watch.is_reading || is_busy(state) {
        return Vec::new();
    }
    if let Some(touched) = state.watch.touched.take() {
        state.watch.is_reading = true;
        return vec![Effect::Follow(touched)];
    }
    match state.watch.due {
        Some((at, next)) if at <= state.now => {
            state.watch.due = None;
            // A generation that began meanwhile has read the same file.
            if state.next_run != next {
                return Vec::new();
            }
            state.help = None;
            state.close_views();
            writing::generate(state)
        }
        _ => Vec::new(),
    }
}

/// The files were read after they were saved.
pub fn followed(state: &mut State, news: News) -> Vec<Effect> {
    state.watch.is_reading = false;
    if !state.watch.on {
        return Vec::new();
    }
    if is_busy(state) {
        state.watch.touched = Some(news.touched.and(state.watch.touched));
        return Vec::new();
    }
    let new = new_stub(state, &news.functions);
    match (news.job, new) {
        (Ok(job), new) if is_same_file(state, &job) => {
            if is_to_write(state, &job) {
                return write(state, job);
            }
            let mut effects = past::on_newest(state, |state| quietly(state, job, news.touched));
            effects.extend(new.into_iter().flat_map(|new| ask_for(state, new)));
            effects
        }
        (_, Some(new)) => ask_for(state, new),
        (Ok(_), None) => Vec::new(),
        (Err(why), None) => {
            state.say(one_line(&why));
            Vec::new()
        }
    }
}

/// Another function may have been chosen while the file was read.
fn is_same_file(state: &State, job: &Job) -> bool {
    let place = |job: &Job| job.target().map(|target| (target.path.clone(), target.name.clone()));
    let own = past::next_job(state);
    // Only the head in the editor may have another name.
    place(own) == place(job) || own.file() == job.file() && state.draft.is_edited()
}

/// The head of the function changed, or its body is missing again.
fn is_to_write(state: &State, job: &Job) -> bool {
    let had_body = state.own_body.is_some() || state.can_undo();
    !state.draft.began_as(&job.editable().unwrap_or_default()) || had_body && job.own_body().is_none()
}

/// The function is the prompt now, and is written after a pause.
fn write(state: &mut State, job: Arc<Job>) -> Vec<Effect> {
    let mut effects = vec![Effect::Adopt { job: job.clone() }];
    effects.extend(testing::read(state, job));
    soon(state);
    effects
}

fn soon(state: &mut State) {
    state.watch.due = Some((state.now + PAUSE_MS, state.next_run));
    let name = state.subject();
    state.done(format!("{name} was saved"));
}

/// The function is the one that candidates were written for: they stay, and are tested again if that may come
/// out differently.
fn quietly(state: &mut State, job: Arc<Job>, touched: Touched) -> Vec<Effect> {
    let other_tests = touched.tests || state.job.tests != job.tests && !state.draft.is_edited();
    let mut effects = Vec::new();
    let again = if state.can_undo() {
        // A body in the file is no text to write over: the job stays that of the earlier text.
        state.job = Arc::new(state.job.tested_as(&job));
        other_tests
    } else {
        let job = wish::kept(state, job);
        if state.run.is_some() && job.reference() != state.job.reference() {
            // Candidates were to change another body.
            effects.push(Effect::Adopt { job: job.clone() });
            effects.extend(testing::read(state, job));
            return effects;
        }
        let other_context = context(&state.job) != context(&job);
        (state.own_body, state.job) = (job.own_body(), job.clone());
        state.stale = false;
        if let Err(why) = state.take_edit() {
            state.fail(why.to_string());
        }
        past::renewed(state);
        effects.push(Effect::Adopt { job });
        other_tests || other_context
    };
    effects.push(Effect::Use { job: state.job.clone() });
    if again {
        let tests = testing::test_all_again(state);
        if !tests.is_empty() {
            state.say(format!("{} was saved: its candidates are tested again", saved(state, touched)));
        }
        effects.extend(tests);
    }
    effects
}

/// Name of what was saved.
fn saved(state: &State, touched: Touched) -> String {
    if touched.file { state.subject() } else { one_line(&state.job.tests_label) }
}

/// The text around the function.
fn context(job: &Job) -> Option<(&str, &str)> {
    let target = job.target()?;
    Some((target.text.get(..target.function.start)?, target.text.get(target.function.end..)?))
}

/// The first unfinished function of the file that it never had before.
fn new_stub(state: &mut State, functions: &[FunctionName]) -> Option<FunctionName> {
    let job = Arc::clone(past::next_job(state));
    let target = job.target()?;
    let path = target.path.clone()?;
    let mut known = match state.watch.known.take() {
        Some((of, known)) if of == path => known,
        _ => function_names(target.language, &target.text).into_iter().map(|function| function.name).collect(),
    };
    known.insert(target.name.clone());
    let is_new =
        |function: &&FunctionName| !function.finished && !function.declaration && !known.contains(&function.name);
    let new = functions.iter().find(is_new).cloned();
    known.extend(functions.iter().map(|function| function.name.clone()));
    state.watch.known = Some((path, known));
    new
}

fn ask_for(state: &mut State, new: FunctionName) -> Vec<Effect> {
    let Some(path) = past::next_job(state).file().map(Into::into) else { return Vec::new() };
    let ask = state.picking.number();
    state.picking.wanted = Some(ask);
    state.watch.asked = Some((ask, new.name.clone()));
    vec![Effect::Target { ask, path, name: new.name, line: new.line }]
}

/// The answer to a request has been taken in: if it was that for a new stub, the stub is written.
pub fn targeted(state: &mut State, ask: u64) {
    let asked = state.watch.asked.take_if(|(asked, _)| *asked == ask);
    let name = state.job.target().map(|target| target.name.as_str());
    if asked.is_some_and(|(_, asked)| Some(asked.as_str()) == name) {
        soon(state);
    }
}
