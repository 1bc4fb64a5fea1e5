//! The prompt: folded into one line, or in the editor.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Look, put, put_ends, rule, typed, wish};
use crate::source::Prompt;
use crate::tui::app::{Focus, State};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Fewer columns than these are for the wish alone.
const NARROW: usize = 48;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    if area.is_empty() {
        return;
    }
    if look.state.focus == Focus::Prompt {
        editor(buf, area, look);
        return;
    }
    let edit = look.state.key_name(Context::Panes, Action::FocusPrompt);
    let left = format!(" > {}", folded(look.state));
    let room = usize::from(area.width.saturating_sub(1));
    if let Some(words) = wish::words(look.state, if room < NARROW { room } else { room * 2 / 3 }) {
        return beside_wish(buf, area, look, &left, &words);
    }
    put_ends(buf, area, area.y, (&left, look.style(Role::Muted)), (&format!("{edit} edits "), look.style(Role::Hint)));
}

/// The head of the function, as far as the wish leaves room, and that.
fn beside_wish(buf: &mut Buffer, area: Rect, look: &Look, head: &str, words: &str) {
    let room = usize::from(area.width.saturating_sub(1));
    let left = room.saturating_sub(text::width(words) + 3);
    let mut x = area.x + 1;
    if room >= NARROW {
        x = put(buf, area, area.x, area.y, &text::fit(head, left), look.style(Role::Muted)) + 3;
    }
    put(buf, area, x, area.y, words, look.style(Role::Title));
}

/// The editor with a rule above it.
pub fn editor(buf: &mut Buffer, area: Rect, look: &Look) {
    let state = look.state;
    let rule = u16::from(area.height > 1);
    let text = Rect { y: area.y + rule, height: area.height - rule, ..area };
    if state.draft.is_blank() && state.draft.lines() == 1 {
        let x = text.x + 1 + u16::from(text.width > 4);
        put(buf, text, x, text.y, "describe or begin the code to write", look.style(Role::Muted));
    }
    let hidden = typed::draw(buf, text, look, &state.draft);
    if rule > 0 {
        let mark = if state.draft.is_edited() { " prompt, edited " } else { " prompt " };
        ruled(buf, area, look, (&format!("{mark}{}", hidden.more()), look.style(Role::BorderFocus)));
    }
}

/// The rule above the whole prompt, with the wish at its end.
pub fn ruled(buf: &mut Buffer, area: Rect, look: &Look, mark: (&str, Style)) {
    let room = usize::from(area.width).saturating_sub(text::width(mark.0) + 6);
    let wish = wish::words(look.state, room).map_or_else(String::new, |words| format!(" {words} "));
    rule(buf, area, area.y, look, mark, (&wish, look.style(Role::Title)));
}

/// The prompt in one line: the line of the function, else its first line.
fn folded(state: &State) -> String {
    if let Prompt::Ids(ids) = state.job.prompt() {
        return format!("{} token ids", ids.len());
    }
    let text = state.draft.text();
    let name = state.job.target().map(|target| target.name.rsplit(['.', ':']).next().unwrap_or(&target.name));
    let head = name.and_then(|name| text.lines().find(|line| is_head(line, name)));
    let line = head.or_else(|| text.lines().find(|line| !line.trim().is_empty())).unwrap_or_default();
    let more = if text.lines().filter(|l| !l.trim().is_empty()).count() > 1 { " …" } else { "" };
    let edited = if state.draft.is_edited() { "  (edited)" } else { "" };
    format!("{}{more}{edited}", text::one_line(line))
}

/// A line names the function, and is neither a comment nor a decorator.
fn is_head(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let is_whole =
        |(at, found): (usize, &str)| !line[..at].ends_with(is_word) && !line[at + found.len()..].starts_with(is_word);
    let is_other = ["/", "*", "#", "@", "\"\"\"", ">>>"].iter().any(|begin| line.starts_with(begin));
    !is_other && line.match_indices(name).any(is_whole)
}
