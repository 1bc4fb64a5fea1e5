//! Actions of keys: those of the table, each a small change of the state.

use std::sync::Arc;

use super::candidate::{Candidate, Testing};
use super::effect::Effect;
use super::picker;
use super::refusal::{refusal, unknown};
use super::run::Run;
use super::state::{ARM_MS, Consent, Focus, IGNORE_YES_MS, Loading, Question, State, While};
use super::stream::queue;
use super::update::mark;
use super::watch;
use super::{answer, calls};
use super::{diff, find, help, tokens};
use super::{palette, past};
use crate::job::{Job, label};
use crate::tui::event::{Code, Key};
use crate::tui::keymap::{Action, Context};
use crate::tui::layout::Regime;
use crate::tui::text;
use crate::untrusted::clean;

/// Most candidates of a generation.
const MOST: usize = 64;

/// A key: an action of the table, or text for the editor.
pub fn key(state: &mut State, pressed: Key) -> Vec<Effect> {
    let context = state.context();
    let action = state.keys.action(context, pressed);
    let since = state.now.saturating_sub(std::mem::replace(&mut state.last_key, state.now));
    state.notice = None;
    state.armed = state.armed.filter(|(by, _)| action == Some(*by));
    // Whatever the user does next, they have read it; text already written is never lost with it.
    if pressed.code == Code::Esc && state.error.take().is_some() {
        return Vec::new();
    }
    let effects = match action {
        Some(action) => act(state, context, action, pressed),
        None if context == Context::Search => {
            find::typed(state, pressed);
            Vec::new()
        }
        None if context == Context::Prompt => {
            state.draft.input(pressed);
            Vec::new()
        }
        None if context == Context::Answer => {
            answer::typed(state, pressed);
            Vec::new()
        }
        None if context == Context::Picker => picker::typed(state, pressed),
        None if context == Context::Palette => palette::typed(state, pressed),
        None => {
            unknown(state, context, pressed, since);
            Vec::new()
        }
    };
    preview(state);
    effects
}

/// Before anything is generated, title and tests follow the text in the editor. What is wrong with it is said
/// when it is sent.
fn preview(state: &mut State) {
    if state.run.is_none() {
        let _ = state.take_edit();
    }
}

/// Pasted text goes into what is being typed, the prompt, an answer or a query, and never sends it.
pub fn paste(state: &mut State, text: &str) -> Vec<Effect> {
    if state.context() == Context::Prompt {
        state.draft.paste(text);
        preview(state);
    } else if state.context() == Context::Answer {
        answer::paste(state, text);
    } else if state.context() == Context::Picker {
        picker::paste(state, text);
    } else if state.context() == Context::Palette {
        return palette::paste(state, text);
    } else {
        let key = state.key_name(Context::Panes, Action::FocusPrompt);
        state.say(format!("pasted text goes into the prompt: press {key} first"));
    }
    Vec::new()
}

/// Actions on the focused candidate and on the views of it; `None` for all others.
fn of_candidate(state: &mut State, context: Context, action: Action) -> Option<Vec<Effect>> {
    match action {
        Action::Submit if context == Context::Search => find::search(state),
        Action::Submit if context == Context::Answer => return Some(answer::take(state)),
        Action::Diff => diff::open(state, false),
        Action::Preview => diff::open(state, true),
        Action::Mark => mark_one(state),
        Action::Search => state.search = Some(find::Search { text: String::new(), typing: true }),
        Action::Filter => find::filter(state),
        Action::NextFound => find::next(state, 1),
        Action::PreviousFound => find::next(state, -1),
        Action::Leave => leave_view(state),
        Action::Colour => return Some(tokens::colour(state)),
        Action::NextToken => tokens::step(state, 1),
        Action::PreviousToken => tokens::step(state, -1),
        Action::Said => tokens::unfold_said(state),
        Action::Edit => return Some(edit(state)),
        Action::SavePatch => return Some(save_patch(state)),
        Action::LineUp
        | Action::LineDown
        | Action::PageUp
        | Action::PageDown
        | Action::Split
        | Action::Base
        | Action::NextHunk
        | Action::PreviousHunk
        | Action::TakeHunk
            if context == Context::Diff =>
        {
            return Some(diff::act(state, action));
        }
        _ => return None,
    }
    Some(Vec::new())
}

/// Carries out an action of the table in a place.
pub(super) fn act(state: &mut State, context: Context, action: Action, pressed: Key) -> Vec<Effect> {
    if let Some((during, why)) = refusal(state, action) {
        state.say_while(during, why);
        return Vec::new();
    }
    if let Some(effects) = of_candidate(state, context, action) {
        return effects;
    }
    if let Some(effects) = (context == Context::Picker).then(|| picker::act(state, action)).flatten() {
        return effects;
    }
    if let Some(effects) = (context == Context::Calls).then(|| calls::act(state, action, pressed)).flatten() {
        return effects;
    }
    if let Some(effects) = (context == Context::Palette).then(|| palette::act(state, action)).flatten() {
        return effects;
    }
    match action {
        Action::Palette | Action::Settings => {
            state.help = None;
            return palette::open(state, action == Action::Settings);
        }
        Action::Pick => return picker::open(state, None, false),
        Action::NextTarget => return picker::next(state),
        Action::Interrupt => return interrupt(state),
        Action::Suspend => return vec![Effect::Suspend],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Quit => return leave(state, action),
        Action::QuitOnEmpty => {
            if state.draft.is_blank() {
                return leave(state, action);
            }
            state.draft.input(pressed);
        }
        Action::Generate | Action::Regenerate => return generate_instead(state, action),
        Action::Round => return another_round(state),
        Action::EarlierRun => return past::step(state, -1),
        Action::LaterRun => return past::step(state, 1),
        Action::Submit => return submit(state),
        Action::Newline => state.draft.newline(state.job.language().is_some()),
        Action::HistoryPrevious if state.draft.at_top() => state.draft.previous(),
        Action::HistoryNext if state.draft.at_bottom() => state.draft.next(),
        Action::HistoryPrevious | Action::HistoryNext => state.draft.input(pressed),
        Action::Accept => return accept(state),
        Action::Undo if state.can_undo() => return vec![Effect::Undo],
        Action::Undo => state.question = Some(Question::UndoEarlier),
        Action::ReadAgain => {
            let mut effects = past::newest(state);
            effects.push(Effect::ReadAgain);
            return effects;
        }
        Action::StopOne => return stop_one(state),
        Action::StopAll => return stop_all(state),
        Action::More => resize(state, 1),
        Action::Fewer => resize(state, -1),
        Action::Zoom => (state.zoom, state.said) = (!state.zoom, false),
        Action::Wrap => wrap(state),
        Action::Arrange => {
            state.arrangement = state.arrangement.next();
            state.zoom = false;
            state.say(format!("layout: {}", state.arrangement.name()));
        }
        Action::Unfold => unfold(state),
        Action::Mouse => {
            state.mouse = !state.mouse;
            state.say(if state.mouse {
                "the wheel scrolls, a click focuses; most terminals select text while Shift is held"
            } else {
                "the mouse belongs to the terminal again"
            });
            return vec![Effect::Mouse(state.mouse)];
        }
        Action::Watch => return watch::toggle(state),
        Action::Help => state.help = Some(0),
        Action::Results => state.results = Some(0),
        Action::Calls => {
            let row = state.run.as_ref().map_or(0, |run| run.call);
            (state.calls, state.answering, state.results) = (Some(row), None, None);
        }
        Action::Close => close(state),
        Action::Output => {
            state.output = !state.output;
            state.results = Some(0);
        }
        Action::TestAgain => return test_again(state),
        Action::Copy | Action::CopyProgram => return copy(state, action == Action::CopyProgram),
        Action::FocusPrompt => state.focus = Focus::Prompt,
        Action::FocusPanes => {
            state.focus = Focus::Panes;
        }
        Action::Yes | Action::No => return answer(state, action == Action::Yes),
        Action::FocusNext if context == Context::Prompt && !state.draft.is_blank() && state.run.is_none() => {
            state.draft.input(pressed);
        }
        _ => movement(state, action, pressed),
    }
    Vec::new()
}

/// Wraps long lines, or cuts them. Wrapped lines begin at their beginning.
fn wrap(state: &mut State) {
    state.wrap = !state.wrap;
    state.say(if state.wrap { "long lines are wrapped" } else { "long lines are cut" });
    if let Some(run) = state.run.as_mut().filter(|_| state.wrap) {
        run.candidates.iter_mut().for_each(|candidate| candidate.scroll.column = 0);
    }
}

/// Actions that only change what is in view.
fn movement(state: &mut State, action: Action, pressed: Key) {
    match action {
        Action::FocusNext => step_focus(state, 1),
        Action::FocusPrevious => step_focus(state, -1),
        Action::FocusPane => {
            if let Code::Char(digit @ '1'..='9') = pressed.code {
                state.focus = Focus::Panes;
                let shown = state.run.as_ref().map_or_else(Vec::new, Run::shown);
                match shown.get(digit as usize - '1' as usize) {
                    Some(&candidate) => focus_pane(state, candidate),
                    None => state.say(format!("there are {} panes", shown.len())),
                }
            }
        }
        Action::PaneLeft | Action::PaneRight | Action::PaneUp | Action::PaneDown => move_pane(state, action),
        _ => scroll(state, action),
    }
}

/// Marks the focused candidate to compare others with it, or takes the mark away.
fn mark_one(state: &mut State) {
    let Some(run) = &mut state.run else { return };
    run.marked = if run.marked == Some(run.focus) { None } else { Some(run.focus) };
    let words = match run.marked {
        Some(marked) => format!("{} is marked: others are compared with it", label(marked)),
        None => "no candidate is marked".to_owned(),
    };
    state.say(words);
}

/// The focused candidate.
fn focused(state: &State) -> Option<(u64, usize, String)> {
    let run = state.run.as_ref()?;
    let (id, index) = (run.id, run.focus);
    Some((id, index, run.focused()?.text.clone()))
}

fn edit(state: &State) -> Vec<Effect> {
    let Some((run, candidate, text)) = focused(state) else { return Vec::new() };
    vec![Effect::Edit { run, candidate, text }]
}

fn save_patch(state: &State) -> Vec<Effect> {
    let Some((run, _, text)) = focused(state) else { return Vec::new() };
    vec![Effect::SavePatch { run, text }]
}

/// Out of what narrows the view, one thing at a time. Never into an editor.
fn leave_view(state: &mut State) {
    let quit = state.key_name(Context::Panes, Action::Quit);
    let filtered = state.run.as_ref().is_some_and(|run| run.filter != find::Filter::All);
    if std::mem::take(&mut state.zoom) || state.search.take().is_some() {
        return;
    }
    if filtered {
        if let Some(run) = &mut state.run {
            run.filter = find::Filter::All;
        }
        state.fold();
        return;
    }
    state.say(format!("{quit} leaves"));
}

/// Ctrl-C: closes what lies on top, else stops, else clears the draft, else arms the quit, and then quits.
fn interrupt(state: &mut State) -> Vec<Effect> {
    if state.armed.take().is_some() {
        return quit(state, None);
    }
    if state.question_is_shown() {
        return answer(state, false);
    }
    if state.search.as_ref().is_some_and(|search| search.typing) {
        state.search = None;
        return Vec::new();
    }
    if state.help.is_none() && state.palette.open.is_some() {
        return palette::close(state);
    }
    if state.help.is_none() && state.picking.open.is_some() {
        return picker::close(state);
    }
    if state.help.is_some() || state.results.is_some() || state.calls.is_some() || state.diff.is_some() {
        close(state);
        return Vec::new();
    }
    if std::mem::take(&mut state.eager) {
        state.say("nothing will be generated");
        return Vec::new();
    }
    let mut shown = past::newest(state);
    shown.extend(interrupt_run(state));
    shown
}

/// Ctrl-C where nothing lies on top.
fn interrupt_run(state: &mut State) -> Vec<Effect> {
    let live = state.run.as_ref().is_some_and(|r| r.is_live() && !r.stopping);
    if live {
        return stop_all(state);
    }
    if state.run.as_ref().is_some_and(Run::is_testing) {
        return stop_tests(state);
    }
    if state.focus == Focus::Prompt && state.draft.is_edited() {
        state.draft.reset();
        let up = state.key_name(Context::Prompt, Action::HistoryPrevious);
        state.say(format!("prompt cleared, {up} brings it back"));
        return Vec::new();
    }
    state.armed = Some((Action::Interrupt, state.now + ARM_MS));
    Vec::new()
}

/// Leaves at once if nothing is under way, else when asked twice.
fn leave(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = past::newest(state);
    let busy = state.run.as_ref().is_some_and(|r| !r.is_settled());
    if busy && state.armed.take().is_none() {
        state.armed = Some((action, state.now + ARM_MS));
        return effects;
    }
    effects.extend(quit(state, None));
    effects
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

fn quit(state: &mut State, accept: Option<String>) -> Vec<Effect> {
    // Work under way belongs to the newest run; a candidate that is taken, to the shown one.
    past::newest(state);
    let mut effects = state.run.as_ref().map(end).unwrap_or_default();
    effects.push(Effect::Quit { accept });
    effects
}

fn submit(state: &mut State) -> Vec<Effect> {
    if state.enter_sends() {
        return generate(state);
    }
    state.draft.newline(state.job.language().is_some());
    Vec::new()
}

/// Starts a generation. Where candidates are still being written they end for it when it is asked for twice.
fn generate_instead(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = past::newest(state);
    let is_writing = state.run.as_ref().is_some_and(|run| run.is_live() && !run.stopping);
    if is_writing && state.armed.take().is_none() {
        state.armed = Some((action, state.now + ARM_MS));
        return effects;
    }
    effects.extend(generate(state));
    effects
}

/// Starts a generation; one that runs ends for it.
pub fn generate(state: &mut State) -> Vec<Effect> {
    let mut effects = past::newest(state);
    effects.extend(generate_next(state));
    effects
}

fn generate_next(state: &mut State) -> Vec<Effect> {
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
    if let Err(why) = state.take_edit() {
        state.fail(why.to_string());
        state.focus = Focus::Prompt;
        return Vec::new();
    }
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

fn accept(state: &mut State) -> Vec<Effect> {
    let Some((id, index, _)) = focused(state) else { return Vec::new() };
    if let Some(why) = state.past.refusal().map(str::to_owned) {
        state.fail(why);
        return Vec::new();
    }
    let Some(run) = &state.run else { return Vec::new() };
    if state.applied == Some((id, index)) {
        return vec![Effect::Stands];
    }
    let replaces = state.own_body.is_some() && !state.can_undo();
    // Bodies are there before it is known which of them is the best.
    let is_early = !run.moved && run.pick.is_none() && run.candidates.len() > 1;
    let is_open = if state.has_tests() { !run.testing(index).passed() } else { is_early };
    if replaces || is_open || run.candidates[index].is_cut_off || state.concern(index).is_some() {
        state.question = Some(Question::Take { candidate: index });
        return Vec::new();
    }
    take(state, index)
}

impl State {
    /// Why a candidate should not be taken without a question, though it passed or there are no tests: a
    /// sentence that begins with its name, and what is known.
    pub fn concern(&self, index: usize) -> Option<[String; 2]> {
        let run = self.run.as_ref()?;
        let name = label(index);
        if self.meets(index) == Some(false) {
            return Some([format!("{name} gives another answer than yours."), String::new()]);
        }
        if let Testing::Done(verdict) = run.testing(index) {
            let is_marked = verdict.is_marked() && run.testing(index).passed();
            return is_marked.then(|| [format!("{name} passes, and is marked."), verdict.words()]);
        }
        let agreement = run.agreement.as_ref()?;
        let is_broken = agreement.standing(index)?.is_broken;
        let why = agreement.observed(index, 0).map(|observed| observed.shown.clone()).unwrap_or_default();
        is_broken.then(|| [format!("{name} cannot be loaded."), why])
    }
}

/// Writes a candidate into the file; where there is none, leaves with it.
fn take(state: &mut State, index: usize) -> Vec<Effect> {
    let Some(run) = &state.run else { return Vec::new() };
    let Some(text) = run.candidates.get(index).map(|c| c.text.clone()) else { return Vec::new() };
    let id = run.id;
    if !state.has_file() {
        return quit(state, Some(text));
    }
    let mut effects = Vec::new();
    // Another candidate in the file gives way first, so that the file is again what was read.
    if state.can_undo() {
        effects.push(Effect::Undo);
    }
    effects.push(Effect::Apply { run: id, candidate: index, text });
    effects
}

fn stop_one(state: &State) -> Vec<Effect> {
    let Some(run) = &state.run else { return Vec::new() };
    vec![Effect::Cancel { run: run.id, candidate: run.focus }]
}

fn stop_all(state: &mut State) -> Vec<Effect> {
    let mut effects = past::newest(state);
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

/// Asks for more candidates beside those that are there.
fn another_round(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    run.untested = false;
    vec![Effect::Round { run: run.id }]
}

fn stop_tests(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    run.drop_trials(&Testing::None);
    run.untested = true;
    let id = run.id;
    state.say("the tests are stopped");
    vec![Effect::CancelTests { run: id }]
}

fn test_again(state: &mut State) -> Vec<Effect> {
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

fn copy(state: &State, program: bool) -> Vec<Effect> {
    let text = state.run.as_ref().and_then(Run::focused).map(|c| c.text.clone()).unwrap_or_default();
    vec![Effect::Copy { text, program }]
}

fn answer(state: &mut State, yes: bool) -> Vec<Effect> {
    let question = state.question;
    if yes && matches!(question, Some(Question::Unprotected { since }) if state.now < since + IGNORE_YES_MS) {
        return Vec::new();
    }
    state.question = None;
    match question {
        Some(Question::Unprotected { .. }) => {
            let mut effects = past::newest(state);
            state.consent = if yes { Consent::Given } else { Consent::Refused };
            effects.extend(if yes { vec![Effect::AllowUnprotected] } else { refuse(state) });
            effects
        }
        Some(Question::Take { candidate }) if yes => take(state, candidate),
        Some(Question::UndoEarlier) if yes => vec![Effect::Undo],
        _ => Vec::new(),
    }
}

/// Nothing of the current generation is tested.
fn refuse(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    run.drop_trials(&Testing::Refused);
    vec![Effect::CancelTests { run: run.id }]
}

/// The file was read again.
pub fn read(state: &mut State, job: Arc<Job>) -> Vec<Effect> {
    let effects = past::newest(state);
    state.stale = false;
    state.leave_written();
    let done = format!("{} was read again", state.subject());
    effects.into_iter().chain(renewed(state, job, &done)).collect()
}

/// The function has another job. Candidates stay if they continue the same prompt, and are tested anew.
/// `done` is said then.
pub(super) fn renewed(state: &mut State, job: Arc<Job>, done: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    let (before, stub) = (state.job.prompt(), job.editable().unwrap_or_default());
    (state.own_body, state.job) = (job.own_body(), job);
    state.question = None;
    mark(state);
    // Typed text stays while the stub in the file is the one it was typed into.
    if state.draft.began_as(&stub) {
        if let Err(why) = state.take_edit() {
            state.fail(why.to_string());
        }
    } else {
        state.draft.replace(&stub);
    }
    effects.push(Effect::Use { job: state.job.clone() });
    if state.job.prompt() != before {
        effects.extend(state.run.iter().flat_map(end));
        let earlier = state.key_name(Context::Panes, Action::EarlierRun);
        let aside = state.run.as_ref().map(|_| format!("; {earlier} shows the candidates for the text before"));
        past::put_aside(state);
        past::renewed(state);
        (state.results, state.calls) = (None, None);
        state.done(format!("{done}{}", aside.unwrap_or_default()));
        return effects;
    }
    past::renewed(state);
    let (all, said) = retest(state);
    effects.extend(all);
    state.done(format!("{done}{said}"));
    effects
}

/// Tests all candidates again, and says so in words that follow others.
fn retest(state: &mut State) -> (Vec<Effect>, &'static str) {
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
fn untest(state: &mut State) -> Vec<Effect> {
    let Some(run) = &mut state.run else { return Vec::new() };
    let (id, is_testing) = (run.id, run.is_testing());
    if run.forget_tests() {
        state.results = None;
        state.pick_best();
        state.fold();
    }
    if is_testing { vec![Effect::CancelTests { run: id }] } else { Vec::new() }
}

/// Closes what lies on top.
fn close(state: &mut State) {
    if state.help.take().is_some() || state.answering.take().is_some() {
        return;
    }
    if state.search.take_if(|search| search.typing).is_some() || state.diff.take().is_some() {
        return;
    }
    (state.results, state.calls) = (None, None);
}

fn resize(state: &mut State, by: isize) {
    let n = state.options.n.saturating_add_signed(by).clamp(1, MOST);
    state.options.n = n;
    if state.run.is_some() {
        let again = state.key_name(Context::Panes, Action::Regenerate);
        state.say(format!("next time {n} candidates; {again} writes them"));
    }
}

fn step_focus(state: &mut State, by: isize) {
    let Some(run) = &state.run else {
        state.focus =
            if state.focus == Focus::Prompt || state.job.editable().is_none() { Focus::Panes } else { Focus::Prompt };
        return;
    };
    if state.focus == Focus::Prompt {
        state.focus = Focus::Panes;
        return;
    }
    let shown = run.shown();
    let at = shown.iter().position(|&c| c == run.focus).unwrap_or(0) as isize;
    let next = shown[(at + by).rem_euclid(shown.len().max(1) as isize) as usize];
    focus_pane(state, next);
}

/// Shows each candidate of the focused block alone, or all blocks folded again.
fn unfold(state: &mut State) {
    let Some(run) = &mut state.run else { return };
    let members = run.block_of(run.focus).map(|block| block.members.clone()).unwrap_or_default();
    if members.len() > 1 {
        run.unfolded.extend(members);
    } else if run.unfolded.is_empty() {
        let name = label(run.focus);
        state.say(format!("no other candidate says what {name} says"));
    } else {
        run.unfolded.clear();
    }
    state.fold();
}

pub(super) fn focus_pane(state: &mut State, index: usize) {
    let Some(run) = &mut state.run else { return };
    if index < run.candidates.len() {
        let index = run.block_of(index).map_or(index, |block| block.shown);
        if run.focus != index && state.results.is_some() {
            state.results = Some(0);
        }
        if let Some(diff) = state.diff.as_mut().filter(|diff| run.focus != index && !diff.preview) {
            (diff.top, diff.hunk) = (0, 0);
        }
        run.focus = index;
        run.moved = true;
    } else {
        let n = run.candidates.len();
        state.say(format!("there are {n} candidates"));
    }
}

/// To the pane in a direction; in a list or zoomed to the next or previous one.
fn move_pane(state: &mut State, action: Action) {
    let layout = state.layout();
    let Some(run) = &state.run else { return };
    let shown = run.shown();
    let at = shown.iter().position(|&c| c == run.focus).unwrap_or(0);
    let direction = match action {
        Action::PaneLeft => (-1, 0),
        Action::PaneRight => (1, 0),
        Action::PaneUp => (0, -1),
        _ => (0, 1),
    };
    let beside = if layout.regime == Regime::Panes { layout.neighbour(run.focus, direction) } else { None };
    // Where nothing more is in sight, the list of candidates goes on.
    let is_paged = layout.regime != Regime::Panes || !layout.strip.is_empty();
    let by = direction.0 + direction.1;
    let next = beside
        .or_else(|| at.checked_add_signed(by as isize).and_then(|at| shown.get(at)).copied().filter(|_| is_paged));
    if let Some(next) = next {
        focus_pane(state, next);
    }
}

pub(super) fn scroll(state: &mut State, action: Action) {
    let page = usize::from(state.size.1 / 2).max(1) as isize;
    let by = match action {
        Action::LineUp => -1,
        Action::LineDown => 1,
        Action::PageUp => -page,
        Action::PageDown => page,
        _ => 0,
    };
    let moved = |top: usize| top.saturating_add_signed(by);
    if state.help.is_some() {
        help::scroll(state, action, by);
    } else if let Some(top) = &mut state.results {
        *top = moved(*top).min(10_000);
    } else if state.run.is_none() {
        let last = state.draft.lines().saturating_sub(1);
        state.prompt_top = moved(state.prompt_top).min(last);
    } else {
        let focus = state.run.as_ref().map_or(0, |run| run.focus);
        scroll_pane(state, focus, action);
    }
}

/// Scrolls the pane of a candidate.
pub(super) fn scroll_pane(state: &mut State, index: usize, action: Action) {
    let layout = state.layout();
    let Some(run) = &state.run else { return };
    let area = layout.code(index);
    let height = usize::from(area.height).max(1);
    let rows = run.candidates.get(index).map_or(0, |candidate| state.rows(candidate, area.width.into()).len());
    let last = rows.saturating_sub(height);
    let Some(candidate) = state.run.as_mut().and_then(|run| run.candidates.get_mut(index)) else { return };
    let scroll = &mut candidate.scroll;
    let top = if scroll.follow { last } else { scroll.top.min(last) };
    let page = height.saturating_sub(1).max(1);
    let next = match action {
        Action::LineUp => top.saturating_sub(1),
        Action::LineDown => top + 1,
        Action::PageUp => top.saturating_sub(page),
        Action::PageDown => top + page,
        Action::Top => 0,
        Action::Bottom => last,
        Action::ColumnLeft => {
            scroll.column = scroll.column.saturating_sub(8);
            return;
        }
        Action::ColumnRight => {
            let widest = candidate.shown.lines().map(|l| text::width(&text::shown(l))).max().unwrap_or(0);
            scroll.column = (scroll.column + 8).min(widest.saturating_sub(1));
            return;
        }
        _ => return,
    };
    scroll.top = next.min(last);
    // At the end the pane follows again.
    scroll.follow = next >= last;
}
