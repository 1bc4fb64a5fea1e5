//! A sentence that says how the function is to change: it is typed in a line, holds for the next candidates,
//! and is done once one of them is in the file. Where it speaks of the head, the models are asked for that
//! first.

use std::sync::Arc;

use super::answer::{begins_line, joined};
use super::draft::Draft;
use super::effect::Effect;
use super::past;
use super::progress::{EVERY_MS, Progress};
use super::state::{Focus, State, While};
use super::writing::{end, generate, may_begin};
use crate::code::HeadPart;
use crate::job::Job;
use crate::source::Event;
use crate::tui::event::Key;
use crate::tui::keymap::{Action, Context};
use crate::untrusted::code;

/// A change that the user wants of the function, and the line that it is typed in.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The sentence for the next candidates.
    pub next: Option<String>,
    /// The line, while it is typed.
    pub line: Option<Draft>,
    /// The last sentence for this function.
    last: String,
    /// The sentences of the session, the last one last.
    said: Vec<String>,
    /// The head that it speaks of was not asked for yet.
    is_new: bool,
    /// The stub before a head was written for it, and with that.
    brought: Option<(String, String)>,
    /// The request for a head that is under way.
    asked: Option<Asked>,
    /// Name of the last request.
    number: u64,
    /// Candidates are written as soon as the file was read again.
    reads: bool,
    /// The wish that the candidate in the file has fulfilled.
    done: Option<Done>,
}

/// A request for a head.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    number: u64,
    /// The stub that it is for.
    stub: String,
    /// Names of the parts that are asked for.
    pub parts: String,
    /// How far the prompt is read.
    pub reading: Progress,
    /// Text that came, made safe to show.
    pub text: String,
}

/// A wish before its candidate was taken.
#[derive(Clone, Debug)]
struct Done {
    sentence: String,
    /// The stub of the file then.
    origin: String,
    brought: Option<(String, String)>,
}

impl Asked {
    /// Its prompt is read, and nothing has come yet.
    pub fn is_reading(&self) -> bool {
        self.reading.total > 0 && self.text.is_empty()
    }
}

impl Wish {
    /// The wish of a job.
    pub(super) fn of(job: &Job) -> Self {
        let mut wish = Self::default();
        job.wish().into_iter().for_each(|sentence| wish.put(sentence));
        // The stub of the job has its head.
        wish.is_new = false;
        wish
    }

    fn put(&mut self, sentence: &str) {
        self.remember(sentence);
        (self.next, self.is_new) = (Some(sentence.to_owned()), true);
    }

    /// The line opens with it the next time; the ones before are reached from there.
    fn remember(&mut self, sentence: &str) {
        self.said.retain(|other| other != sentence);
        self.said.push(sentence.to_owned());
        sentence.clone_into(&mut self.last);
    }

    /// Closes the line; a sentence in it is kept, and is no wish yet.
    pub(super) fn lay_aside(&mut self) {
        let sentence = self.line.take().map_or_else(String::new, |line| in_one(&line));
        if !sentence.is_empty() {
            self.remember(&sentence);
        }
    }

    /// A head is being asked for.
    pub fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    /// The request for a head that is under way.
    pub fn asked(&self) -> Option<&Asked> {
        self.asked.as_ref()
    }

    /// When the share of the prompt that is read is to be shown anew.
    pub(super) fn wake_at(&self, now: u64) -> Option<u64> {
        self.asked.as_ref().filter(|asked| asked.is_reading()).map(|_| now + EVERY_MS)
    }

    /// The file is not the one any more that the candidate was written to.
    pub(super) fn leave_done(&mut self) {
        self.done = None;
    }
}

/// A job with a wish.
pub(super) fn wished(job: Arc<Job>, sentence: Option<&str>) -> Arc<Job> {
    if job.wish() == sentence { job } else { Arc::new((*job).clone().wishing(sentence)) }
}

/// A new job of the function, with the wish of the shown candidates; where there are none, of the next ones.
pub(super) fn kept(state: &State, job: Arc<Job>) -> Arc<Job> {
    let next = state.wish.next.as_deref();
    wished(job, if state.run.is_some() { state.job.wish() } else { next })
}

/// Opens the line with the last sentence; typed text replaces it.
pub(super) fn open(state: &mut State) {
    let wish = &mut state.wish;
    let mut line = Draft::new(&wish.last);
    line.select_all();
    line.recall(wish.said.iter().filter(|said| **said != wish.last).cloned().collect());
    wish.line = Some(line);
}

/// An action while the line is open; `None` for those that mean the same everywhere.
pub(super) fn act(state: &mut State, action: Action) -> Option<Vec<Effect>> {
    let line = state.wish.line.as_mut()?;
    match action {
        Action::Submit => return Some(take(state)),
        Action::Close => state.wish.lay_aside(),
        Action::HistoryPrevious => line.previous(),
        Action::HistoryNext => line.next(),
        _ => return None,
    }
    Some(Vec::new())
}

/// A key that means nothing else edits the line.
pub(super) fn typed(state: &mut State, key: Key) {
    if let Some(line) = state.wish.line.as_mut().filter(|_| !begins_line(key)) {
        line.input(key);
    }
}

/// Pasted text goes into the line, its lines joined.
pub(super) fn paste(state: &mut State, text: &str) {
    state.wish.line.iter_mut().for_each(|line| line.paste(&joined(text)));
}

/// The typed sentence with single spaces.
fn in_one(line: &Draft) -> String {
    line.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentence holds from now on, and candidates are written with it. An empty one takes the wish away.
fn take(state: &mut State) -> Vec<Effect> {
    let Some(sentence) = state.wish.line.as_ref().map(in_one) else { return Vec::new() };
    if sentence.is_empty() {
        state.wish.line = None;
        return take_away(state);
    }
    let mut effects = past::newest(state);
    if !may_begin(state, Action::Submit) {
        return effects;
    }
    state.wish.line = None;
    effects.extend(forget(state));
    without_brought(state);
    state.wish.put(&sentence);
    effects.extend(generate(state));
    effects
}

fn take_away(state: &mut State) -> Vec<Effect> {
    if state.wish.next.take().is_some() {
        without_brought(state);
        state.say("the next candidates are written without a wish");
    }
    forget(state)
}

/// A head that was written for the wish before leaves the stub.
fn without_brought(state: &mut State) {
    if let Some((before, _)) = state.wish.brought.take().filter(|(_, with)| state.draft.text() == *with) {
        state.draft.edit(&before);
    }
}

/// Nothing waits for a head any more.
fn forget(state: &mut State) -> Vec<Effect> {
    state.wish.asked.take().map(|_| Effect::DropHead).into_iter().collect()
}

/// Drops the request for a head, if there is one: nothing is written then.
pub(super) fn stop(state: &mut State) -> Option<Vec<Effect>> {
    state.wish.asked.as_ref()?;
    let effects = forget(state);
    let again = if state.run.is_none() { Action::Generate } else { Action::Regenerate };
    let key = state.key_name(state.context(), again);
    state.say(format!("nothing is written; {key} asks again"));
    Some(effects)
}

/// Reads the file first where it is not as it was read: a change is one of what is there now.
pub(super) fn read_first(state: &mut State) -> Option<Vec<Effect>> {
    state.wish.next.as_ref().filter(|_| state.can_undo() || state.stale)?;
    state.wish.reads = true;
    Some(vec![Effect::ReadAgain])
}

/// The file was read again, or could not be; returns true if candidates are to be written now.
pub(super) fn has_waited(state: &mut State) -> bool {
    std::mem::take(&mut state.wish.reads)
}

/// The file has another stub, without the head that was written for the wish.
pub(super) fn restart(state: &mut State) {
    (state.wish.is_new, state.wish.brought) = (state.wish.next.is_some(), None);
}

/// Asks for the head where the wish speaks of it and it was not asked for yet. `job` is that of the
/// next candidates.
pub(super) fn ask(state: &mut State, job: &Arc<Job>) -> Option<Vec<Effect>> {
    let parts = Some(job.wished_head()).filter(|parts| state.wish.is_new && !parts.is_empty())?;
    let parts = HeadPart::titles(&parts);
    let stub = state.draft.text();
    state.say_while(While::Asking, format!("asking for the {parts}…; Esc ends that, and nothing is written then"));
    state.error = None;
    if state.wish.asked.as_ref().is_some_and(|asked| asked.stub == stub) {
        return Some(Vec::new());
    }
    state.wish.number += 1;
    state.wish.asked = Some(Asked { number: state.wish.number, stub, parts, ..Asked::default() });
    // The models are busy with one of both.
    let mut effects: Vec<Effect> = state.run.iter().flat_map(end).collect();
    effects.push(Effect::Head { ask: state.wish.number, job: job.clone() });
    Some(effects)
}

/// Something happened while a head is written: its prompt is read, or text came.
pub(super) fn told(state: &mut State, ask: u64, event: Event) -> Vec<Effect> {
    let Some(asked) = state.wish.asked.as_mut().filter(|asked| asked.number == ask) else { return Vec::new() };
    match event {
        // A further part begins.
        Event::Prefill { done, total } => {
            asked.reading.told(done as u64, total as u64, state.now);
            asked.text.clear();
        }
        Event::Tokens { text, .. } => asked.text.push_str(&code(&text)),
        _ => {}
    }
    Vec::new()
}

/// The models have written the head: the stub with it, or `None` where it stays as it is, as do the parts
/// that are lacking.
pub(super) fn answered(state: &mut State, ask: u64, stub: Option<&str>, lacking: &[HeadPart]) -> Vec<Effect> {
    let Some(Asked { stub: before, .. }) = state.wish.asked.take_if(|asked| asked.number == ask) else {
        return Vec::new();
    };
    if state.draft.text() != before || state.focus == Focus::Prompt {
        let key = state.key_name(Context::Global, Action::Generate);
        state.say(format!("the prompt is being edited, so nothing is written yet; {key} writes candidates"));
        return Vec::new();
    }
    state.wish.is_new = false;
    if let Some(stub) = stub {
        state.draft.edit(stub);
        state.wish.brought = Some((before, state.draft.text()));
    }
    state.close_views();
    let effects = generate(state);
    if !lacking.is_empty() {
        let parts = HeadPart::titles(lacking);
        state.say(format!("no new {parts} came of the wish: all candidates have what is there"));
    }
    effects
}

/// The user has edited the prompt; a head that was written for the wish is no edit of theirs.
pub(super) fn is_edited(state: &State) -> bool {
    let is_brought = state.wish.brought.as_ref().is_some_and(|(_, with)| *with == state.draft.text());
    state.draft.is_edited() && !is_brought
}

/// The editor began with this stub of the file, or with it as a fulfilled wish has changed it.
pub(super) fn began_as(state: &State, stub: &str) -> bool {
    let before = state.wish.done.as_ref().is_some_and(|done| code(&done.origin) == code(stub));
    before || state.draft.began_as(stub)
}

/// A candidate of this run is in the file: if it was written for the wish, that is done.
pub(super) fn done(state: &mut State, run: u64) -> Vec<Effect> {
    let is_shown = state.run.as_ref().is_some_and(|shown| shown.id == run);
    let is_of = is_shown && state.wish.next.as_deref() == state.job.wish();
    let Some(sentence) = state.wish.next.take_if(|_| is_of) else { return Vec::new() };
    let origin = state.draft.rebase(&state.job.editable().unwrap_or_default());
    state.wish.done = Some(Done { sentence, origin, brought: state.wish.brought.take() });
    forget(state)
}

/// The candidate was taken back from the file: the wish is as it was before.
pub(super) fn undone(state: &mut State) {
    let Some(Done { sentence, origin, brought }) = state.wish.done.take() else { return };
    state.draft.rebase(&origin);
    if state.wish.next.is_none() {
        (state.wish.next, state.wish.brought, state.wish.is_new) = (Some(sentence), brought, false);
    }
}

/// The screen goes to another function, of which nothing is wanted yet.
pub(super) fn leave(state: &mut State) -> Vec<Effect> {
    let effects = forget(state);
    state.wish.lay_aside();
    let Wish { said, number, .. } = std::mem::take(&mut state.wish);
    state.wish = Wish { said, number, ..Wish::default() };
    effects
}

/// The screen begins with a kept run, of which a candidate may be in the file.
pub(super) fn resume(state: &mut State) {
    state.wish = Wish::of(&state.job);
    if let Some(sentence) = state.wish.next.take_if(|_| state.applied.is_some()) {
        let origin = state.job.editable().unwrap_or_default();
        state.wish.done = Some(Done { sentence, origin, brought: None });
    }
}
