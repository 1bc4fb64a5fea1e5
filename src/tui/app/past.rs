//! The runs of the function, also those that are not shown: earlier ones of the session and kept ones. One is
//! shown at a time, in [`State::run`] with its job in [`State::job`]; only the newest may still go on.

use std::sync::Arc;

use super::calls::Check;
use super::candidate::{Phase, Testing};
use super::effect::Effect;
use super::run::Run;
use super::state::{Focus, State};
use super::{stream, update, wish};
use crate::engine::FinishReason;
use crate::job::{Event, Job};
use crate::trial::Observed;
use crate::tui::keymap::Keymap;

/// Most runs of a session that can be shown again, and most kept runs that are read.
pub const MOST: usize = 32;

/// A kept run, to be built from its events.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// Its id.
    pub id: String,
    /// Its start, in ms since 1970.
    pub at: u64,
    /// Its start and its model, for the reader.
    pub when: String,
    pub seed: u64,
    /// Number of candidates.
    pub n: usize,
    /// Its events, each with its time in ms.
    pub events: Vec<(u64, Event)>,
    /// Its job, or a sentence that says why there is none any more.
    pub job: Result<Arc<Job>, String>,
    /// The candidate that is in the file.
    pub applied: Option<usize>,
    /// Calls whose right answer the user has said.
    pub answers: Vec<(String, Observed)>,
    /// The change that its candidates were written for.
    pub wish: Option<String>,
}

/// All runs, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Past {
    slots: Vec<Slot>,
    /// Place of the shown one.
    at: Option<usize>,
    /// The kept runs were asked for.
    asked: bool,
    /// The user waits for them.
    waits: bool,
    /// The answers of the session, while a kept run with its own is shown.
    checks: Vec<Check>,
}

/// A run and what belongs to it.
#[derive(Clone, Debug)]
struct Slot {
    id: u64,
    /// Its start, in ms since 1970; until that is known later than any.
    began: u64,
    /// Its start, for the reader; empty until it is known.
    when: String,
    job: Arc<Job>,
    /// Why its candidates cannot be taken any more.
    refusal: Option<String>,
    /// It was written in this session, so that its candidates can be tested again.
    is_own: bool,
    /// The run, while it is not shown.
    parked: Option<Run>,
    /// The answers of a kept run; those of the session's runs are the state's.
    checks: Option<Vec<Check>>,
}

impl Past {
    fn newest(&self) -> Option<usize> {
        self.slots.len().checked_sub(1)
    }

    fn shown(&self) -> Option<&Slot> {
        self.slots.get(self.at?)
    }

    /// A run before the shown one is at hand.
    pub fn has_earlier(&self) -> bool {
        self.at.is_some_and(|at| at > 0)
    }

    /// A run after the shown one is at hand.
    pub fn has_later(&self) -> bool {
        self.at.is_some() && self.at != self.newest()
    }

    /// Why the candidates of the shown run cannot be taken.
    pub fn refusal(&self) -> Option<&str> {
        self.shown()?.refusal.as_deref()
    }

    /// The shown run is not the newest one of this session, so nothing of it can be tested again.
    pub fn is_over(&self) -> bool {
        self.shown().is_some_and(|slot| !slot.is_own || self.at != self.newest())
    }

    /// `run 2 of 5, 14:03, wish: also accept None`, for an earlier run; the model that wrote it comes last.
    pub fn words(&self) -> Option<String> {
        let slot = self.shown().filter(|_| self.is_over())?;
        let comma = if slot.when.is_empty() { "" } else { ", " };
        let wish = slot.job.wish().map_or_else(String::new, |wish| format!(", wish: {wish}"));
        let (time, model) = slot.when.find(", by ").map_or((&*slot.when, ""), |at| slot.when.split_at(at));
        Some(format!("run {} of {}{comma}{time}{wish}{model}", self.at? + 1, self.slots.len()))
    }
}

/// The job of what is generated next, also while an earlier run is shown.
pub fn next_job(state: &State) -> &Arc<Job> {
    let newest = state.past.slots.last().filter(|_| state.past.has_later());
    newest.map_or(&state.job, |slot| &slot.job)
}

/// The newest run, also while an earlier one is shown.
pub fn newest_run(state: &State) -> Option<&Run> {
    state.past.slots.last().and_then(|slot| slot.parked.as_ref()).or(state.run.as_ref())
}

/// A new run is shown. The one before is over.
pub fn begin(state: &mut State, run: Run) {
    if let (Some(at), Some(mut old)) = (state.past.at, state.run.take()) {
        close(&mut old, &state.past.slots[at].job, state.now);
        state.past.slots[at].parked = Some(old);
        // Answers to a kept run judge the new one, too.
        let checks = &state.checks;
        state.past.slots[at].checks.iter_mut().for_each(|kept| kept.clone_from(checks));
    }
    let (id, job) = (run.id, state.job.clone());
    state.past.slots.push(Slot {
        id,
        began: u64::MAX,
        when: String::new(),
        job,
        refusal: None,
        is_own: true,
        parked: None,
        checks: None,
    });
    if state.past.slots.len() > 2 * MOST {
        state.past.slots.remove(0);
    }
    state.past.at = state.past.newest();
    state.run = Some(run);
}

/// Nothing more comes for a run.
fn close(run: &mut Run, job: &Job, now: u64) {
    run.end(Phase::Finished(FinishReason::Cancelled), now);
    run.drop_trials(&Testing::None);
    (run.prepares, run.is_over) = (None, true);
    run.fold(job);
}

/// The time when a run of this session began, in ms since 1970 and for the reader.
pub fn began(state: &mut State, id: u64, at: u64, when: &str) {
    for slot in state.past.slots.iter_mut().filter(|slot| slot.id == id) {
        (slot.began, slot.when) = (at, when.to_owned());
    }
}

/// Puts another run in the place of the shown one.
fn swap(state: &mut State, place: usize) {
    if place >= state.past.slots.len() {
        return;
    }
    if let Some(slot) = state.past.at.and_then(|at| state.past.slots.get_mut(at)) {
        slot.parked = state.run.take();
        slot.job = state.job.clone();
        if let Some(checks) = &mut slot.checks {
            *checks = std::mem::replace(&mut state.checks, std::mem::take(&mut state.past.checks));
        }
    }
    let slot = &mut state.past.slots[place];
    state.run = slot.parked.take();
    state.job = slot.job.clone();
    state.past.at = Some(place);
    if let Some(checks) = slot.checks.clone() {
        state.past.checks = std::mem::replace(&mut state.checks, checks);
        state.pick_by_checks();
    }
}

fn show(state: &mut State, place: usize) -> Vec<Effect> {
    swap(state, place);
    state.results = state.results.map(|_| 0);
    state.run.iter().map(|run| Effect::Shown { run: run.id }).collect()
}

/// Shows the newest run, which what is under way belongs to.
pub fn newest(state: &mut State) -> Vec<Effect> {
    match (state.past.at, state.past.newest()) {
        (Some(at), Some(newest)) if at != newest => show(state, newest),
        _ => Vec::new(),
    }
}

/// To the run before or after the shown one.
pub fn step(state: &mut State, by: isize) -> Vec<Effect> {
    let Some(at) = state.past.at else {
        return match state.past.newest() {
            Some(newest) => show(state, newest),
            None => recall(state),
        };
    };
    if let Some(place) = at.checked_add_signed(by) {
        return show(state, place);
    }
    recall(state)
}

/// Asks for the kept runs, once.
fn recall(state: &mut State) -> Vec<Effect> {
    if state.past.asked {
        if !state.past.waits {
            state.say(format!("there is no earlier run of {}", state.subject()));
        }
        return Vec::new();
    }
    (state.past.asked, state.past.waits) = (true, true);
    vec![Effect::Recall { job: state.job.clone() }]
}

/// The kept runs have been read, the oldest first.
pub fn recalled(state: &mut State, runs: Vec<Recalled>) -> Vec<Effect> {
    let mut effects = Vec::new();
    let (shown, newest) = (state.past.shown().map(|slot| slot.id), state.past.slots.pop());
    for run in runs {
        let slot = slot(state, run, &mut effects);
        state.past.slots.push(slot);
    }
    // Work under way belongs to the newest run of the session, which stays the last.
    let is_own = newest.as_ref().is_some_and(|slot| slot.is_own);
    let (inside, last) = if is_own { (None, newest) } else { (newest, None) };
    state.past.slots.extend(inside);
    state.past.slots.sort_by_key(|slot| slot.began);
    state.past.slots.extend(last);
    state.past.at = state.past.slots.iter().position(|slot| Some(slot.id) == shown);
    if std::mem::take(&mut state.past.waits) {
        match state.past.at.map_or(state.past.newest(), |at| at.checked_sub(1)) {
            Some(place) => effects.extend(show(state, place)),
            None => state.say(format!("no earlier run of {} is kept", state.subject())),
        }
    }
    effects
}

/// The screen begins with a kept run.
pub fn resumed(state: &mut State, run: Recalled) -> Vec<Effect> {
    let (applied, when) = (run.applied, run.when.clone());
    let mut effects = Vec::new();
    let slot = slot(state, run, &mut effects);
    state.applied = applied.map(|candidate| (slot.id, candidate));
    state.past.slots.push(slot);
    state.focus = Focus::Panes;
    let newest = state.past.slots.len() - 1;
    effects.extend(show(state, newest));
    wish::resume(state);
    state.say(format!("the run of {when}, as it was; nothing is written until you ask for it"));
    effects
}

/// Builds a kept run: its events go through a state of their own, as they once came.
fn slot(state: &mut State, recalled: Recalled, effects: &mut Vec<Effect>) -> Slot {
    let id = state.next_run;
    state.next_run += 1;
    let (job, refusal) = match recalled.job {
        Ok(job) => (job, None),
        Err(why) => (wish::wished(state.job.clone(), recalled.wish.as_deref()), Some(why)),
    };
    // It asks nothing and runs nothing: its effects are not carried out.
    let mut own = State::new(job.clone(), state.options.clone(), Keymap::default(), true);
    own.run = Some(Run::new(id, recalled.seed, recalled.n, 0));
    for (ms, event) in recalled.events {
        if let Event::Verdict { candidate, .. } = &event {
            stream::queue(&mut own, *candidate);
        }
        update(&mut own, ms, super::Msg::Job { run: id, event });
    }
    let parked = own.run.map(|mut run| {
        close(&mut run, &job, own.now);
        run
    });
    effects.push(Effect::Belongs { run: id, job: job.clone(), kept: recalled.id });
    let check = |(call, right)| Check { call, right, example: None };
    let checks = Some(recalled.answers.into_iter().map(check).collect());
    Slot { id, began: recalled.at, when: recalled.when, job, refusal, is_own: false, parked, checks }
}

/// An event of a run that is not shown. Only the newest one goes on.
pub fn event(state: &mut State, id: u64, event: Event) {
    let (at, newest) = (state.past.at, state.past.newest());
    if let (Some(at), Some(newest)) = (at, newest)
        && at != newest
        && state.past.slots[newest].id == id
    {
        swap(state, newest);
        stream::job(state, id, event);
        swap(state, at);
    }
}

/// The file was read again. Runs of the same text have its job from now on; those of another one can only be
/// looked at.
pub fn renewed(state: &mut State) {
    let (at, job) = (state.past.at, state.job.clone());
    let others = state.past.slots.iter_mut().enumerate().filter(|(place, _)| Some(*place) != at);
    for (_, slot) in others {
        let own = wish::wished(job.clone(), slot.job.wish());
        if slot.job.asks_as(&own) {
            (slot.job, slot.refusal) = (own, None);
        } else {
            let why = "the file has changed since this run, which was for another text: write candidates anew";
            slot.refusal.get_or_insert_with(|| why.to_owned());
        }
    }
}

/// The shown run continues another text than the file has now: it is put aside.
pub fn put_aside(state: &mut State) {
    let run = state.run.take();
    let slot = state.past.at.take().and_then(|at| state.past.slots.get_mut(at));
    if let (Some(slot), Some(mut run)) = (slot, run) {
        close(&mut run, &slot.job, state.now);
        // Its candidates are for a text that is no more: they are only looked at.
        (slot.parked, slot.is_own) = (Some(run), false);
    }
}

/// Does something to the newest run, while another one may be shown.
pub fn on_newest(state: &mut State, act: impl FnOnce(&mut State) -> Vec<Effect>) -> Vec<Effect> {
    match (state.past.at, state.past.newest()) {
        (Some(at), Some(newest)) if at != newest => {
            swap(state, newest);
            let effects = act(state);
            swap(state, at);
            effects
        }
        _ => act(state),
    }
}
