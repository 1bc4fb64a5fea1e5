//! Why an action can do nothing now, and what a key without a meaning here is for.

use super::state::{State, While};
use super::written::nothing_to_undo;
use crate::engine::MAX_CANDIDATES;
use crate::job::{Task, label};
use crate::language::Language;
use crate::tui::event::{Code, Key};
use crate::tui::keymap::{Action, Context};

/// Keys this close to the one before, in ms, are nobody's: text that was pasted as if it were typed.
const TYPED_MS: u64 = 5;

/// Why an action can do nothing now, and as long as what that is true.
pub fn refusal(state: &State, action: Action) -> Option<(While, String)> {
    let run = state.run.as_ref();
    let focus = run.map_or(0, |run| run.focus);
    let (focused, name) = (run.and_then(|run| run.focused()), label(focus));
    let is_live = focused.is_some_and(super::Candidate::is_live);
    let is_empty = focused.is_none_or(|candidate| candidate.text.trim().is_empty());
    let key = |action| state.key_name(Context::Panes, action);
    let words = match action {
        Action::Edit | Action::TakeHunk if state.past.is_over() => {
            let again = key(Action::Regenerate);
            format!("candidates of an earlier run stay as they are; {again} writes new ones")
        }
        Action::Split | Action::Base | Action::NextHunk | Action::PreviousHunk | Action::TakeHunk
            if state.diff.is_some_and(|diff| diff.preview) =>
        {
            let close = state.key_name(Context::Diff, Action::Close);
            format!("this is the file with {name} in it; {close}, then {} shows what changes", key(Action::Diff))
        }
        Action::Round if state.past.is_over() || run.is_none() => {
            format!("there is no run that could go on; {} writes candidates", key(Action::Regenerate))
        }
        Action::Round if !run.is_some_and(super::Run::is_settled) => {
            "candidates are still being written or tested".to_owned()
        }
        Action::Round if run.is_some_and(|run| run.candidates.len() >= MAX_CANDIDATES) => {
            format!("a run has at most {MAX_CANDIDATES} candidates")
        }
        Action::SavePatch if !state.has_file() => "there is no file that a patch could change".to_owned(),
        Action::Accept if state.past.refusal().is_some() => state.past.refusal()?.to_owned(),
        Action::Accept | Action::Edit | Action::SavePatch if focused.is_none() => {
            "there is no candidate yet".to_owned()
        }
        Action::Accept | Action::Edit | Action::SavePatch if is_live => {
            let why = format!("{name} is still being written; {} stops it", key(Action::StopOne));
            return Some((While::Writing(focus), why));
        }
        Action::Accept | Action::Edit | Action::SavePatch if is_empty => format!("{name} is empty"),
        Action::Diff | Action::Preview if is_empty => "there is nothing to show yet".to_owned(),
        Action::StopOne if focused.is_some() && !is_live && !run.is_some_and(|run| run.testing(focus).is_pending()) => {
            format!("{name} has ended already")
        }
        Action::Undo => nothing_to_undo(state)?,
        Action::ReadAgain if !state.has_file() => {
            "there is no file to read again: the prompt is all there is".to_owned()
        }
        Action::Results if !state.has_tests() => {
            "there are no tests; start with --tests FILE, or put >>> examples into the docstring".to_owned()
        }
        Action::Calls if run.is_some_and(|run| run.agreement.is_none() && run.uncalled.is_some()) => {
            let why = run.and_then(|run| run.uncalled.clone()).unwrap_or_default();
            format!("the candidates were not called: {why}")
        }
        Action::Calls if run.is_none_or(|run| run.agreement.is_none()) => match state.job.inputs(&[]) {
            Err(why) => why,
            Ok(_) if run.is_some_and(|run| !run.is_over && run.candidates.len() > 1) => {
                "no candidate has been called yet".to_owned()
            }
            Ok(_) => "the candidates were not called: that needs two, --agree auto or on, and a sandbox".to_owned(),
        },
        Action::TestAgain | Action::Example if state.past.is_over() => {
            let again = key(Action::Regenerate);
            format!("this run is over, so nothing of it is tested; {again} writes candidates anew")
        }
        Action::Example if state.job.language() != Some(Language::Python) => {
            let language = state.job.language().map_or("other texts", Language::title);
            let copy = state.key_name(Context::Calls, Action::Copy);
            format!(
                "examples in documentation are run in Python, and not in {language}: the answer stays with this run; \
                 {copy} copies it as a line for your tests"
            )
        }
        Action::TestAgain if !state.has_tests() => "there are no tests".to_owned(),
        Action::TestAgain if !is_ready(state) => "its tests have not ended yet".to_owned(),
        Action::Copy if state.context() == Context::Calls => return None,
        Action::Copy | Action::CopyProgram if focused.is_none_or(|candidate| candidate.text.is_empty()) => {
            "there is nothing to copy yet".to_owned()
        }
        Action::FocusPrompt if state.job.editable().is_none() => {
            "the prompt is a list of token ids and cannot be edited".to_owned()
        }
        Action::ColumnLeft | Action::ColumnRight if state.wrap => {
            format!("long lines are wrapped, so nothing is beside them; {} cuts them", key(Action::Wrap))
        }
        Action::Wish if !state.has_file() => {
            let (pick, edit) = (key(Action::Pick), key(Action::FocusPrompt));
            format!("a sentence is for a function of a file: {pick} chooses one, {edit} edits the prompt")
        }
        Action::LaterRun if !state.past.has_later() => "this is the newest run".to_owned(),
        _ => return None,
    };
    Some((While::Always, words))
}

/// The focused candidate, or the one that it repeats, can be tested again.
fn is_ready(state: &State) -> bool {
    let Some(run) = &state.run else { return false };
    let index = run.focused().and_then(|candidate| candidate.duplicate_of).unwrap_or(run.focus);
    run.candidates.get(index).is_some_and(|candidate| !candidate.is_live() && !candidate.testing.is_pending())
}

/// Says why a key does nothing here; nothing for text that comes too fast for fingers. `since`: the time
/// since the last key, in ms.
pub fn unknown(state: &mut State, context: Context, pressed: Key, since: u64) {
    if !matches!(context, Context::Start | Context::Panes | Context::Results | Context::Calls | Context::Diff)
        || since < TYPED_MS
    {
        return;
    }
    let quit = |context| state.key_name(context, Action::Quit);
    let words = match (state.keys.elsewhere(context, pressed), pressed.code) {
        (_, Code::Esc) => format!("{} leaves", quit(context)),
        (Some(binding), _) => format!("{pressed} works {}: {}", place(state, binding.context, context), binding.label),
        (None, _) => format!("{} lists the keys", state.key_name(context, Action::Help)),
    };
    state.say(words);
}

/// Where a key of a context counts, for one who is in another.
fn place(state: &State, of: Context, from: Context) -> String {
    let key = |action| state.key_name(Context::Panes, action);
    match of {
        Context::Panes if from == Context::Start => "once there are candidates".to_owned(),
        Context::Panes => format!("among the candidates ({})", state.key_name(from, Action::Close)),
        Context::Results => format!("in the test results ({})", key(Action::Results)),
        Context::Diff => format!("in the differences ({})", key(Action::Diff)),
        _ => "before candidates are written".to_owned(),
    }
}
