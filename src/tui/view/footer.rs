//! The last line: what the keys do here, or what was just said. A list or a question keeps the line for its
//! keys; what is said then stands above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Clear, Widget};

use super::{Look, put};
use crate::tui::app::State;
use crate::tui::app::draft::Draft;
use crate::tui::app::find::Filter;
use crate::tui::app::palette::{Level, What};
use crate::tui::app::picker;
use crate::tui::app::refusal::refusal;
use crate::tui::app::values;
use crate::tui::event::Code;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Word for Enter in a prompt of several lines.
const IN_CODE: &str = "new line, on an empty last line generate";
/// Most hints beside those that stay.
const MOST: usize = 6;

/// The last message, while it is still to be read.
pub fn said(look: &Look) -> Option<(String, Style)> {
    let state = look.state;
    if let Some((action, _)) = state.armed {
        let key = state.key_name(state.context(), action);
        let busy = match &state.run {
            Some(run) if run.is_live() => "candidates are still being written; ",
            Some(run) if run.is_testing() => "tests are still running; ",
            _ => "",
        };
        let to = match action {
            Action::Generate | Action::Regenerate => "write others in their place",
            Action::Submit => "write others instead",
            _ => "quit",
        };
        return Some((format!("{busy}press {key} again to {to}"), look.style(Role::Warn)));
    }
    if let Some(search) = state.search.as_ref().filter(|search| search.typing && state.notice.is_none()) {
        return Some((format!("/{}▏", text::one_line(&search.text)), look.style(Role::Title)));
    }
    state.notice.as_ref().map(|n| (text::one_line(&n.text), look.style(Role::Title)))
}

/// A list, a question or the help lies over the rest.
pub fn is_below_dialog(state: &State) -> bool {
    use Context::{Help, Palette, Picker, Question, Wish};
    matches!(state.context(), Picker | Palette | Question | Help | Wish)
}

/// Draws what was just said in the rows above the line of a dialog, as far as it fits.
pub fn draw_said(buf: &mut Buffer, rows: Rect, (words, style): &(String, Style)) {
    Clear.render(rows, buf);
    let room = usize::from(rows.width.saturating_sub(1));
    let mut lines = text::wrap_words(words, room);
    let rest = lines.split_off(usize::from(rows.height.saturating_sub(1)).min(lines.len()));
    lines.push(text::fit(&rest.join(" "), room));
    for (y, line) in (rows.y..rows.bottom()).zip(lines) {
        put(buf, rows, rows.x + 1, y, &line, *style);
    }
}

/// Rows that it takes above a dialog: a second one where there is much room.
pub fn said_rows(words: &str, body: Rect) -> u16 {
    let is_long = text::wrap_words(words, usize::from(body.width.saturating_sub(1))).len() > 1;
    1 + u16::from(is_long && body.height > 12)
}

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    if area.is_empty() {
        return;
    }
    let row = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    if let Some((words, style)) = said(look).filter(|_| !is_below_dialog(look.state)) {
        let mut lines = text::wrap_words(&words, row.width.into());
        // Words that are too long for the line take the line of figures as well while they stand there.
        let above = Rect { y: area.y.saturating_sub(1), ..area };
        if lines.len() > 1 && above.y > buf.area.y {
            Clear.render(above, buf);
            put(buf, above, row.x, above.y, &lines.remove(0), style);
        }
        put(buf, row, row.x, row.y, &text::fit(&lines.join(" "), row.width.into()), style);
        return;
    }
    let hints = hints(look.state);
    let wide = |hint: &Hint| text::width(&hint.keys) + 1 + text::width(hint.word) + 3;
    // The word for Enter, the way out and the way to the help stay when there is room for little.
    let stays = |hint: &Hint| hint.stays && row.width >= 30;
    let mut left = usize::from(row.width) + 3;
    let mut x = row.x;
    for (i, hint) in hints.iter().enumerate() {
        let later: usize = hints[i + 1..].iter().filter(|&hint| stays(hint)).map(wide).sum();
        if wide(hint) + (if stays(hint) { 0 } else { later }) > left {
            continue;
        }
        left -= wide(hint);
        x = put(buf, row, x, row.y, &hint.keys, look.style(Role::Title).add_modifier(Modifier::BOLD));
        x = put(buf, row, x, row.y, &format!(" {}   ", hint.word), look.style(Role::Hint));
    }
}

/// A key and its word.
struct Hint {
    keys: String,
    word: &'static str,
    stays: bool,
}

/// Hints of the keys here, the most useful first.
fn hints(state: &State) -> Vec<Hint> {
    let context = state.context();
    let sends = state.enter_sends();
    // As long as one types: the word does not change with each line.
    let is_steady = !sends || state.draft.lines() > 1;
    let word = |action: Action, hint: &'static str| match (context, action) {
        (Context::Prompt, Action::Submit) if is_steady => IN_CODE,
        (Context::Picker, Action::Close) if picker::is_all(state) => "quit",
        _ => hint,
    };
    let way_out = way_out(state, context);
    let mut all = state.keys.hints(context);
    if context == Context::Panes && none_passed(state) {
        // Other candidates are wanted more than what these do.
        all.sort_by_key(|hint| !matches!(hint.0, Action::Accept | Action::Regenerate | Action::Wish));
    }
    let all = all.into_iter().filter(|hint| is_useful(state, hint.0) && (hint.0 != Action::Newline || !is_steady));
    let mut hints: Vec<Hint> = all
        .map(|(action, keys, hint)| {
            let stays = action == Action::Help || Some(action) == way_out;
            Hint { keys, word: word(action, hint), stays: stays || keys_are_enter(state, context, action) }
        })
        .collect();
    if context == Context::Prompt && is_steady {
        let keys = state.key_name(Context::Global, Action::Generate);
        hints.insert(1.min(hints.len()), Hint { keys, word: "generate", stays: true });
    }
    let mut others = 0;
    hints.retain(|hint| {
        others += usize::from(!hint.stays);
        hint.stays || others <= MOST
    });
    hints
}

fn keys_are_enter(state: &State, context: Context, action: Action) -> bool {
    state.keys.key(context, action).is_some_and(|key| key.code == Code::Enter)
}

/// The action that leaves the place.
fn way_out(state: &State, context: Context) -> Option<Action> {
    match context {
        Context::Panes if is_useful(state, Action::Leave) => Some(Action::Leave),
        Context::Start | Context::Panes => Some(Action::Quit),
        Context::Prompt => Some(Action::FocusPanes),
        Context::Question => Some(Action::No),
        Context::Global => None,
        Context::Results
        | Context::Calls
        | Context::Answer
        | Context::Wish
        | Context::Diff
        | Context::Search
        | Context::Picker
        | Context::Palette
        | Context::Help => Some(Action::Close),
    }
}

/// All tests have ended, and no candidate passed.
fn none_passed(state: &State) -> bool {
    state.run.as_ref().is_some_and(|run| run.closest().is_some())
}

/// The action would do something now that one may want.
fn is_useful(state: &State, action: Action) -> bool {
    if refusal(state, action).is_some() {
        return false;
    }
    match action {
        Action::EarlierRun => state.past.has_earlier(),
        Action::NextTarget => state.can_undo(),
        Action::ReadAgain => state.stale,
        Action::Wish if state.run.is_some() => none_passed(state),
        Action::Wish => state.own_body.is_some(),
        Action::HistoryPrevious => state.wish.line.as_ref().is_none_or(Draft::has_earlier),
        Action::Diff => state.run.as_ref().and_then(|run| run.focused()).is_some_and(|c| !c.is_live()),
        Action::Unfold if state.context() == Context::Calls => state.has_calls_like(),
        Action::Copy if state.context() == Context::Calls => state.selected_check().is_some(),
        Action::Arrange => state.run.as_ref().is_some_and(|run| !run.is_live()),
        Action::Leave => {
            let filtered = state.run.as_ref().is_some_and(|run| run.filter != Filter::All);
            state.zoom || filtered || state.search.is_some()
        }
        Action::CompletePath => state.palette.open.as_ref().is_some_and(values::has_paths),
        Action::Keep => state.palette.open.as_ref().is_some_and(|open| {
            let on_setting = open.list.current().is_some_and(|entry| matches!(entry.what, What::Setting(_)));
            on_setting && !matches!(open.level, Level::Values(_))
        }),
        _ => true,
    }
}
