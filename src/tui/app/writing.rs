//! Candidates are asked for and stopped.

use super::candidate::Phase;
use super::effect::Effect;
use super::past;
use super::run::Run;
use super::state::{ARM_MS, Consent, Focus, Loading, State, While};
use super::testing::{refuse, stop_test, stop_tests};
use super::wish;
use crate::tui::keymap::{Action, Context};

/// Most candidates of a generation.
const MOST: usize = 64;

pub(super) fn submit(state: &mut State) -> Vec<Effect> {
    if state.enter_sends() {
        return generate(state);
    }
    state.draft.newline(state.job.language().is_some());
    Vec::new()
}

/// Starts a generation. Where candidates are still being written they end for it when it is asked for twice.
pub(super) fn generate_instead(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = past::newest(state);
    if may_begin(state, action) {
        effects.extend(generate(state));
    }
    effects
}

/// Returns false where candidates are still being written, which end when it is asked for twice.
pub(super) fn may_begin(state: &mut State, action: Action) -> bool {
    let is_writing = state.run.as_ref().is_some_and(|run| run.is_live() && !run.stopping);
    let is_first = is_writing && state.armed.take().is_none();
    if is_first {
        state.armed = Some((action, state.now + ARM_MS));
    }
    !is_first
}

/// Starts a generation; one that runs ends for it.
pub fn generate(state: &mut State) -> Vec<Effect> {
    let mut effects = past::newest(state);
    effects.extend(match wish::read_first(state) {
        Some(reads) => reads,
        None => generate_next(state),
    });
    effects
}

pub(super) fn generate_next(state: &mut State) -> Vec<Effect> {
    match &state.loading {
        Loading::Ready(_) => {}
        Loading::Opening => {
            state.eager = true;
            state.say_while(
                While::Loading,
                "the models are still loading; candidates are written as soon as they are ready",
            );
            return Vec::new();
        }
        // A server may have been started, a file may be there now.
        Loading::Failed(_) => {
            (state.eager, state.loading, state.error) = (true, Loading::Opening, None);
            state.say_while(
                While::Loading,
                "the models are loaded once more; candidates are written as soon as they are ready",
            );
            return vec![Effect::Open];
        }
    }
    if state.draft.is_blank() && state.job.editable().is_some() {
        state.say("write a prompt first");
        state.focus = Focus::Prompt;
        return Vec::new();
    }
    let job = match state.next_job() {
        Ok(job) => job,
        Err(why) => {
            state.fail(why.to_string());
            state.focus = Focus::Prompt;
            return Vec::new();
        }
    };
    if let Some(effects) = wish::ask(state, &job) {
        return effects;
    }
    state.job = job;
    let mut effects = Vec::new();
    let mut seed = state.options.seed;
    if let Some(old) = &state.run {
        // With the old seed the same text would be written again.
        seed = old.seed.wrapping_add(1);
        effects = end(old);
    }
    // A seed that was set is the next one.
    seed = state.palette.seed.take().unwrap_or(seed);
    state.draft.remember();
    let (id, n) = (state.next_run, state.options.n.clamp(1, MOST));
    state.next_run += 1;
    let mut run = Run::new(id, seed, n, state.now);
    run.insight.clone_from(&state.insight);
    past::begin(state, run);
    state.focus = Focus::Panes;
    state.error = None;
    state.question = None;
    effects.push(Effect::Generate { run: id, job: state.job.clone(), n, seed });
    if state.is_unprotected() && state.consent == Consent::Refused {
        effects.extend(refuse(state));
    }
    effects
}

/// Asks for more candidates beside those that are there.
pub(super) fn another_round(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    run.untested = false;
    vec![Effect::Round { run: run.id }]
}

/// Ends what a generation still does.
pub(super) fn end(run: &Run) -> Vec<Effect> {
    let mut effects = Vec::new();
    if run.is_live() {
        effects.push(Effect::CancelAll { run: run.id });
    }
    if run.is_testing() {
        effects.push(Effect::CancelTests { run: run.id });
    }
    effects
}

pub(super) fn stop_one(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    let index = run.focus;
    let Some(candidate) = run.candidates.get_mut(index).filter(|candidate| candidate.is_live()) else {
        return stop_test(state);
    };
    // A prompt may still be read for a while: it ends with the next step.
    candidate.phase = Phase::Stopping;
    vec![Effect::Cancel { run: run.id, candidate: index }]
}

pub(super) fn stop_all(state: &mut State) -> Vec<Effect> {
    let mut effects = past::newest(state);
    if let Some(dropped) = wish::stop(state) {
        effects.extend(dropped);
        return effects;
    }
    if state.run.as_ref().is_some_and(|run| !run.is_live() && run.is_testing()) {
        effects.extend(stop_tests(state));
        return effects;
    }
    let Some(run) = state.run.as_mut().filter(|r| r.is_live()) else {
        state.say("nothing is being generated");
        return effects;
    };
    run.stopping = true;
    let id = run.id;
    state.say_while(While::Stopping, "stopping; what is written so far stays");
    effects.push(Effect::CancelAll { run: id });
    effects
}

pub(super) fn resize(state: &mut State, by: isize) {
    let n = state.options.n.saturating_add_signed(by).clamp(1, MOST);
    state.options.n = n;
    if state.run.is_some() {
        let again = state.key_name(Context::Panes, Action::Regenerate);
        state.say(format!("next time {n} candidates; {again} writes them"));
    }
}
