//! How a message changes the state. Never fails: what goes wrong becomes part of the state.

use std::sync::Arc;

use super::action::{key, paste};
use super::calls::Check;
use super::effect::Effect;
use super::mouse::{mouse, tab};
use super::msg::Msg;
use super::picker;
use super::state::{Loading, State};
use super::stream;
use super::tokens;
use super::watch;
use super::{palette, past};
use super::{testing, wish, writing, written};
use crate::job::{Job, label};
use crate::source::SourceInfo;
use crate::trial::Protection;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;

/// Takes a message in, at the time `now` in ms, and returns what is to be done.
pub fn update(state: &mut State, now: u64, msg: Msg) -> Vec<Effect> {
    state.now = state.now.max(now);
    state.expire();
    let (before, said) = (state.remembered(), said(state));
    let mut effects = take_in(state, msg);
    effects.extend(watch::go_on(state));
    tokens::refresh(state);
    let after = state.remembered();
    if after != before {
        effects.push(Effect::Remember(after));
    }
    // First of all, so that it is kept before a program ends.
    if let Some(new) = self::said(state).filter(|new| said.is_some_and(|old| old.0 == new.0 && old != *new)) {
        let answers = new.1.iter().map(|check| (check.call.clone(), check.right.clone())).collect();
        effects.insert(0, Effect::Said { run: new.0, answers, job: state.job.clone() });
    }
    state.expire();
    effects
}

/// The shown run, and what the user has said of it.
fn said(state: &State) -> Option<(u64, Vec<Check>)> {
    Some((state.run.as_ref()?.id, state.checks.clone()))
}

fn take_in(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(pressed) => key(state, pressed),
        Msg::Paste(text) => paste(state, &text),
        Msg::Mouse(used) => mouse(state, used),
        Msg::Tab(candidate) => tab(state, candidate),
        Msg::Resize(width, height) => {
            state.size = (width, height);
            Vec::new()
        }
        Msg::Tick => {
            let now = state.now;
            if let Some(run) = &mut state.run {
                run.tick(now);
            }
            Vec::new()
        }
        Msg::Opened(result) => opened(state, result),
        Msg::Opening { done, total } => {
            state.opening.told(done, total, state.now);
            Vec::new()
        }
        Msg::Insight(insight) => {
            tokens::told(state, insight);
            Vec::new()
        }
        Msg::HeadEvent { ask, event } => wish::told(state, ask, event),
        Msg::Head { ask, stub, lacking } => wish::answered(state, ask, stub.as_deref(), &lacking),
        Msg::Job { run, event } => {
            stream::job(state, run, event);
            Vec::new()
        }
        Msg::Began { run, at, when } => {
            past::began(state, run, at, &when);
            Vec::new()
        }
        Msg::Recalled(runs) => past::recalled(state, runs),
        Msg::Resumed(run) => past::resumed(state, *run),
        Msg::Applied { run, candidate, result } => applied(state, run, candidate, result),
        Msg::Changed(path) => {
            state.stale = true;
            let key = state.key_name(Context::Panes, Action::ReadAgain);
            state.fail(format!("{path} has changed since it was read, so nothing was written; {key} reads it again"));
            Vec::new()
        }
        Msg::ReadOnly(path) => {
            let key = state.key_name(Context::Panes, Action::SavePatch);
            state.fail(format!(
                "{path} is read-only, so nothing was written; make it writable, or write the candidate as a patch: {key}"
            ));
            Vec::new()
        }
        Msg::Read(Ok(job)) => read(state, job),
        Msg::ReadWithout(job) => testing::read_without(state, job),
        Msg::TestsRead { run, candidate, result } => {
            past::on_newest(state, |state| testing::tests_read(state, run, candidate, result))
        }
        Msg::Edited { run, candidate, result } => edited(state, run, candidate, result),
        Msg::Saved(result) => outcome(state, result.map(|path| format!("written to {path}"))),
        told @ (Msg::Settings(_)
        | Msg::Set { .. }
        | Msg::Reopened(_)
        | Msg::OtherTests(_)
        | Msg::NoTheme { .. }
        | Msg::Names { .. }
        | Msg::Kept(_)) => palette::take_in(state, told),
        Msg::Found { scan, functions } => picker::found(state, scan, functions),
        Msg::Scanned { scan, remark } => {
            picker::scanned(state, scan, remark);
            Vec::new()
        }
        Msg::Preview(preview) => picker::previewed(state, preview),
        Msg::Targeted { ask, result } => {
            let effects = picker::targeted(state, ask, result);
            watch::targeted(state, ask);
            effects
        }
        Msg::Touched(touched) => {
            watch::touched(state, touched);
            Vec::new()
        }
        Msg::Followed(news) => watch::followed(state, news),
        Msg::Undone(result) => {
            written::undone(state, result);
            Vec::new()
        }
        Msg::Stands(stands) => {
            written::standing(state, stands);
            Vec::new()
        }
        Msg::Copied(result) => outcome(state, result),
        Msg::Read(Err(why)) => {
            wish::has_waited(state);
            outcome(state, Err(why))
        }
        Msg::Fault(why) => outcome(state, Err(why)),
    }
}

/// The file was read again. Candidates that have waited for it are written.
fn read(state: &mut State, job: Arc<Job>) -> Vec<Effect> {
    let mut effects = testing::read(state, job);
    if wish::has_waited(state) {
        effects.extend(writing::generate(state));
    }
    effects
}

/// Models and sandbox are there, or not.
fn opened(state: &mut State, result: Result<(SourceInfo, Protection), String>) -> Vec<Effect> {
    match result {
        Ok((info, protection)) => {
            if let Some(note) = &info.note {
                state.say(text::one_line(note));
            }
            state.loading = Loading::Ready(info);
            state.protection = protection;
            if std::mem::take(&mut state.eager) { writing::generate(state) } else { Vec::new() }
        }
        Err(why) => {
            let again = state.key_name(Context::Start, Action::Generate);
            state.fail(format!("{why}; {again} tries again"));
            (state.loading, state.eager) = (Loading::Failed(why), false);
            Vec::new()
        }
    }
}

/// The user's editor has closed.
fn edited(
    state: &mut State,
    run: u64,
    candidate: usize,
    result: Result<Option<(String, bool)>, String>,
) -> Vec<Effect> {
    match result {
        Ok(Some((text, alone))) => {
            // An edit before may have gone wrong.
            state.error = None;
            if !alone {
                state.say("only the body is taken: what was changed around it is not");
            }
            return vec![Effect::Add { run, of: candidate, text }];
        }
        Ok(None) => state.say(format!("{} is as before", label(candidate))),
        Err(why) => state.fail(why),
    }
    Vec::new()
}

/// Something was done, or not.
fn outcome(state: &mut State, result: Result<String, String>) -> Vec<Effect> {
    match result {
        Ok(words) => state.done(words),
        Err(why) => state.fail(why),
    }
    Vec::new()
}

fn applied(state: &mut State, run: u64, candidate: usize, result: Result<String, String>) -> Vec<Effect> {
    match result {
        Ok(path) => {
            state.applied = Some((run, candidate));
            state.diff = None;
            let effects = wish::done(state, run);
            let undo = state.key_name(Context::Panes, Action::Undo);
            let next = picker::next_key(state);
            state.done(format!("{} written to {path}, {undo} undoes, {next}", label(candidate)));
            effects
        }
        Err(why) => outcome(state, Err(why)),
    }
}
