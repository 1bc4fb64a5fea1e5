//! Tests are run again, stopped, or read anew from files that have changed.

use std::sync::Arc;

use super::candidate::{Candidate, Testing};
use super::effect::Effect;
use super::past;
use super::state::{Consent, Focus, State};
use super::stream::queue;
use super::wish;
use super::writing::end;
use crate::job::{Job, label};
use crate::tui::keymap::{Action, Context};
use crate::untrusted::clean;

/// Runners that take the output of code for their own, so that nobody knows if it printed anything.
pub const CAPTURES: [&str; 2] = ["doctest", "pytest"];

pub(super) fn stop_tests(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    run.drop_trials(&Testing::None);
    run.untested = true;
    let id = run.id;
    state.say("the tests are stopped");
    vec![Effect::CancelTests { run: id }]
}

/// Ends the tests of the candidate in focus, or of the one that it repeats; those of others go on.
pub(super) fn stop_test(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    let candidate = run.focused().and_then(|focused| focused.duplicate_of).unwrap_or(run.focus);
    let Some(tested) = run.candidates.get_mut(candidate).filter(|tested| tested.testing.is_pending()) else {
        return Vec::new();
    };
    tested.testing = Testing::None;
    let id = run.id;
    let again = state.key_name(Context::Panes, Action::TestAgain);
    state.say(format!("the tests of {} are stopped; {again} runs them again", label(candidate)));
    vec![Effect::CancelTest { run: id, candidate }]
}

pub(super) fn test_again(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    let index = run.candidates.get(run.focus).and_then(|c| c.duplicate_of).unwrap_or(run.focus);
    let id = run.id;
    run.moved = true;
    state.error = None;
    // Asking for it is a new answer to the question about protection.
    if state.consent == Consent::Refused {
        state.consent = Consent::Unknown;
    }
    queue(state, index);
    // Another program may have changed them.
    vec![Effect::ReadTests { run: id, candidate: index, job: state.job.clone() }]
}

/// The tests that a candidate waits for were read again. Where they are others, all candidates are tested.
pub fn tests_read(state: &mut State, id: u64, candidate: usize, result: Result<Arc<Job>, String>) -> Vec<Effect> {
    let is_shown = state.run.as_ref().is_some_and(|run| run.id == id);
    let Some(run) = state.run.as_mut().filter(|run| is_shown && candidate < run.candidates.len()) else {
        return Vec::new();
    };
    let test = Effect::Test { run: id, candidate };
    let job = match result {
        Ok(job) => Arc::new(state.job.tested_as(&job)),
        Err(why) => {
            run.candidates[candidate].testing = Testing::Fault(clean(&why));
            state.fail(why);
            return Vec::new();
        }
    };
    if job == state.job {
        return vec![test];
    }
    state.job = job;
    let mut effects = vec![Effect::Use { job: state.job.clone() }];
    let (all, said) = retest(state);
    effects.extend(all);
    if state.has_tests() && !effects.contains(&test) {
        effects.push(test);
    }
    state.say(format!("the tests have changed{said}"));
    effects
}

/// The file was read again.
pub fn read(state: &mut State, job: Arc<Job>) -> Vec<Effect> {
    let effects = past::newest(state);
    state.leave_written();
    effects.into_iter().chain(read_without(state, job)).collect()
}

/// The file was read again without the candidate that is in it, which stays marked.
pub(super) fn read_without(state: &mut State, job: Arc<Job>) -> Vec<Effect> {
    let effects = past::newest(state);
    state.stale = false;
    let is_kept = wish::is_edited(state) && wish::began_as(state, &job.editable().unwrap_or_default());
    let done = format!("{} was read again", state.subject());
    let effects = effects.into_iter().chain(renewed(state, job, &done)).collect();
    if let Some(notice) = state.notice.clone().filter(|_| is_kept) {
        let context = if state.run.is_some() { Context::Panes } else { Context::Start };
        let edit = state.key_name(context, Action::FocusPrompt);
        let clear = state.key_name(Context::Global, Action::Interrupt);
        let kept = format!("the prompt stays as you edited it: {edit}, then {clear} brings the file's back");
        state.say(format!("{}; {kept}", notice.text));
    }
    effects
}

/// The function has another job. Candidates stay if they continue the same prompt, and are tested anew.
/// `done` is said then.
pub(super) fn renewed(state: &mut State, job: Arc<Job>, done: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    let job = wish::kept(state, job);
    let (before, stub) = (state.job.clone(), job.editable().unwrap_or_default());
    (state.own_body, state.job) = (job.own_body(), job);
    state.question = None;
    // Typed text stays while the stub in the file is the one it was typed into.
    if wish::began_as(state, &stub) {
        if let Err(why) = state.take_edit() {
            state.fail(why.to_string());
        }
    } else {
        state.draft.replace(&stub);
        wish::restart(state);
    }
    effects.push(Effect::Use { job: state.job.clone() });
    if !state.job.asks_as(&before) {
        effects.extend(state.run.iter().flat_map(end));
        let earlier = state.key_name(Context::Panes, Action::EarlierRun);
        let aside = state.run.as_ref().map(|_| format!("; {earlier} shows the candidates for the text before"));
        past::put_aside(state);
        state.job = wish::kept(state, state.job.clone());
        past::renewed(state);
        state.close_views();
        state.done(format!("{done}{}", aside.unwrap_or_default()));
        return effects;
    }
    past::renewed(state);
    let (all, said) = retest(state);
    effects.extend(all);
    state.done(format!("{done}{said}"));
    effects
}

/// The stub is the text in the editor, which tests all candidates.
pub(super) fn take_stub(state: &mut State) -> Vec<Effect> {
    if let Err(why) = state.take_edit() {
        state.fail(why.to_string());
        return Vec::new();
    }
    let mut effects = vec![Effect::Use { job: state.job.clone() }];
    effects.extend(test_all_again(state));
    effects
}

/// The prompt is left, if it has the keys. Where only examples of the docstring were typed, candidates stay,
/// and are tested by them.
pub(super) fn leave_prompt(state: &mut State) -> Vec<Effect> {
    if std::mem::replace(&mut state.focus, Focus::Panes) == Focus::Panes {
        return Vec::new();
    }
    let goes_on = state.run.is_some() && !state.past.is_over() && !state.can_undo();
    let edited = state.job.edited(&state.draft.text()).ok().filter(|_| goes_on);
    if !edited.is_some_and(|edited| edited != *state.job && edited.asks_as(&state.job)) {
        return Vec::new();
    }
    let effects = take_stub(state);
    if state.has_tests() && !effects.is_empty() {
        state.say("its examples are others now, and all candidates are tested by them");
    }
    effects
}

/// Tests all candidates again, and says so in words that follow others.
pub(super) fn retest(state: &mut State) -> (Vec<Effect>, &'static str) {
    let had_tests = state.run.as_ref().is_some_and(|run| run.candidates.iter().any(|c| c.testing.is_settled()));
    let goes_on = state.run.is_some() && !state.past.is_over();
    let effects = test_all_again(state);
    let said = match (state.has_tests(), goes_on) {
        (true, true) => "; its candidates are tested again",
        (false, true) if had_tests => "; there are no tests any more, so its candidates are untested",
        _ => "",
    };
    (effects, said)
}

/// Tests all candidates of the shown run again, if it is the one of this session that goes on. Without tests
/// they are untested.
pub(super) fn test_all_again(state: &mut State) -> Vec<Effect> {
    let (tested, is_over) = (state.has_tests(), state.past.is_over());
    if !tested && !is_over {
        return untest(state);
    }
    let Some(run) = state.run.as_ref().filter(|_| tested && !is_over) else { return Vec::new() };
    let again = |c: &Candidate| c.is_whole() && c.duplicate_of.is_none();
    let again: Vec<usize> = (0..run.candidates.len()).filter(|&c| again(&run.candidates[c])).collect();
    let effects = again.iter().map(|&candidate| Effect::Test { run: run.id, candidate }).collect();
    for candidate in again {
        queue(state, candidate);
    }
    effects
}

/// There are no tests any more.
pub(super) fn untest(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    let (id, is_testing) = (run.id, run.is_testing());
    if run.forget_tests() {
        state.results = None;
        state.pick_best();
        state.fold();
    }
    if is_testing { vec![Effect::CancelTests { run: id }] } else { Vec::new() }
}

/// Shows what the tests printed, or hides it; or says that there is nothing of it.
pub(super) fn output(state: &mut State) {
    let verdict = state.run.as_ref().and_then(|run| run.testing(run.focus).verdict());
    let words = match verdict {
        Some(verdict) if !verdict.output.trim().is_empty() => {
            (state.output, state.results) = (!state.output, Some(0));
            return;
        }
        None => "it was not tested, so nothing was printed".to_owned(),
        Some(verdict) => match CAPTURES.iter().find(|&&runner| verdict.assurance.runner.contains(runner)) {
            Some(runner) => format!("it printed nothing that {runner} passes on"),
            None => "it printed nothing".to_owned(),
        },
    };
    state.say(words);
}

/// Nothing of the current generation is tested.
pub(super) fn refuse(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    run.drop_trials(&Testing::Refused);
    vec![Effect::CancelTests { run: run.id }]
}
