//! Actions of keys: those of the table, each a small change of the state.

use super::effect::Effect;
use super::moving::{movement, unfold};
use super::picker;
use super::refusal::{refusal, unknown};
use super::run::Run;
use super::state::{ARM_MS, Consent, Focus, IGNORE_YES_MS, Question, State};
use super::taking::{accept, take};
use super::testing::{leave_prompt, refuse, stop_tests, test_again};
use super::writing::{another_round, end, generate_instead, resize, stop_all, stop_one, submit};
use super::{answer, calls};
use super::{diff, find, tokens};
use super::{palette, past, testing};
use super::{watch, wish};
use crate::job::label;
use crate::tui::event::{Code, Key};
use crate::tui::keymap::{Action, Context};

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
    if pressed.code == Code::Esc
        && matches!(context, Context::Start | Context::Panes)
        && let Some(dropped) = wish::stop(state)
    {
        return dropped;
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
        None if context == Context::Wish => {
            wish::typed(state, pressed);
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

/// Before anything is generated, title and tests follow the text in the editor, and the prompt that is read
/// ahead has the wish. An error in the text is said when it is sent.
fn preview(state: &mut State) {
    if state.run.is_none()
        && let Ok(job) = state.next_job()
    {
        state.job = job;
    }
}

/// Pasted text goes into what is being typed, the prompt, an answer or a query, and never sends it.
pub fn paste(state: &mut State, text: &str) -> Vec<Effect> {
    if state.context() == Context::Prompt {
        state.draft.paste(text);
        preview(state);
    } else if state.context() == Context::Answer {
        answer::paste(state, text);
    } else if state.context() == Context::Wish {
        wish::paste(state, text);
    } else if state.context() == Context::Search {
        find::paste(state, text);
    } else if state.context() == Context::Picker {
        return picker::paste(state, text);
    } else if state.context() == Context::Palette {
        return palette::paste(state, text);
    } else {
        let key = state.key_name(Context::Panes, Action::FocusPrompt);
        state.say(format!("pasted text goes into the prompt: press {key} first"));
    }
    Vec::new()
}

/// Actions on the focused candidate and on the views of it, and the wish; `None` for all others.
fn of_candidate(state: &mut State, context: Context, action: Action) -> Option<Vec<Effect>> {
    match action {
        Action::Submit if context == Context::Search => find::search(state),
        Action::Submit if context == Context::Answer => return Some(answer::take(state)),
        Action::Wish => wish::open(state),
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
    let own = match context {
        Context::Picker => picker::act(state, action),
        Context::Calls => calls::act(state, action, pressed),
        Context::Wish => wish::act(state, action),
        Context::Palette => palette::act(state, action),
        _ => None,
    };
    if let Some(effects) = own {
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
            effects.push(if state.can_undo() { Effect::ReadWithout } else { Effect::ReadAgain });
            return effects;
        }
        Action::StopOne => return stop_one(state),
        Action::StopAll => return stop_all(state),
        Action::More => resize(state, 1),
        Action::Fewer => resize(state, -1),
        Action::Zoom => (state.zoom, state.said) = (!state.zoom, false),
        Action::Wrap => {
            let words = state.set_wrap(!state.wrap);
            state.say(words);
        }
        Action::Arrange => {
            let words = state.set_arrangement(state.arrangement.next());
            state.say(words);
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
            state.run.iter_mut().for_each(|run| run.open_calls(true));
            (state.calls, state.answering, state.results) = (Some(row), None, None);
        }
        Action::Close => close(state),
        Action::Output => testing::output(state),
        Action::TestAgain => return test_again(state),
        Action::Copy | Action::CopyProgram => return copy(state, action == Action::CopyProgram),
        Action::FocusPrompt => state.focus = Focus::Prompt,
        Action::FocusPanes => return leave_prompt(state),
        Action::Yes | Action::No => return answer(state, action == Action::Yes),
        Action::FocusNext if context == Context::Prompt && !state.draft.is_blank() && state.run.is_none() => {
            state.draft.input(pressed);
        }
        _ => return movement(state, action, pressed),
    }
    Vec::new()
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
pub(super) fn focused(state: &State) -> Option<(u64, usize, String)> {
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
    match state.context() {
        Context::Question => return answer(state, false),
        Context::Palette => return palette::close(state),
        Context::Picker => return picker::left(state, Action::Interrupt),
        Context::Global | Context::Start | Context::Prompt | Context::Panes => {}
        _ => {
            close(state);
            return Vec::new();
        }
    }
    if let Some(dropped) = wish::stop(state) {
        return dropped;
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
    let busy = state.wish.is_asking() || state.run.as_ref().is_some_and(|r| !r.is_settled());
    if busy && state.armed.take().is_none() {
        state.armed = Some((action, state.now + ARM_MS));
        return effects;
    }
    effects.extend(quit(state, None));
    effects
}

pub(super) fn quit(state: &mut State, accept: Option<String>) -> Vec<Effect> {
    // Work under way belongs to the newest run; a candidate that is taken, to the shown one.
    past::newest(state);
    let mut effects = state.run.as_ref().map(end).unwrap_or_default();
    effects.push(Effect::Quit { accept });
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

/// Closes what lies on top, where that is no list and no question.
fn close(state: &mut State) {
    match state.context() {
        Context::Help => state.help = None,
        Context::Wish => state.wish.lay_aside(),
        Context::Answer => state.answering = None,
        Context::Search => state.search = None,
        Context::Diff => state.diff = None,
        _ => state.close_views(),
    }
}
