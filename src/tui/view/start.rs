//! The screen before anything was generated: the prompt, and what it will be completed and tested with.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, bar, code, prompt, put, rule};
use crate::source::Prompt;
use crate::tui::app::candidate::Scroll;
use crate::tui::app::{Focus, Loading, State};
use crate::tui::highlight::Of;
use crate::tui::text;
use crate::tui::theme::Role;

pub fn draw(buf: &mut Buffer, area: Rect, look: &Look) {
    if area.is_empty() {
        return;
    }
    let state = look.state;
    let facts = facts(state, area.width.into());
    let room = area.height.saturating_sub(5);
    let rows = (facts.len() as u16 + 1).min(room);
    let above = Rect { height: area.height - rows, ..area };
    let below = Rect { y: above.bottom(), height: rows, ..area };
    if state.focus == Focus::Prompt {
        prompt::editor(buf, above, look);
    } else {
        let name = if state.draft.is_edited() { " prompt, edited " } else { " prompt " };
        prompt::ruled(buf, above, look, (name, look.style(Role::Title)));
        let inside =
            Rect { x: above.x + 1, y: above.y + 1, width: above.width.saturating_sub(1), height: above.height - 1 };
        let shown = match state.job.prompt() {
            Prompt::Ids(ids) => format!("{} token ids", ids.len()),
            Prompt::Text(_) | Prompt::Written(_) => state.draft.text(),
        };
        let scroll = Scroll { top: state.prompt_top, column: 0, follow: false };
        let rows = text::rows(&shown, inside.width.into(), state.wrap, 0);
        code::draw(buf, inside, look, Of::Prompt, &shown, &rows, scroll, code::Beside::default());
    }
    if rows > 0 {
        rule(buf, below, below.y, look, ("", look.style(Role::Title)), ("", look.style(Role::Hint)));
    }
    for (y, (name, words, role)) in (below.y + 1..below.bottom()).zip(&facts) {
        let x = put(buf, below, below.x + 1, y, &format!("{name:<11}"), look.style(Role::Muted));
        let room = usize::from(below.right().saturating_sub(x + 1));
        put(buf, below, x + 1, y, &text::fit(words, room), look.style(*role));
    }
}

/// Facts about the next generation, as names and words.
fn facts(state: &State, columns: usize) -> Vec<(&'static str, String, Role)> {
    let (models, runs_on) = match &state.loading {
        Loading::Opening if state.opening.total > 0 => {
            let words = format!("loading {}", bar::words(&state.opening, state.now, 50));
            ((words, Role::Working), None)
        }
        Loading::Opening => (("loading …".to_owned(), Role::Working), None),
        Loading::Failed(_) => (("none".to_owned(), Role::Error), None),
        Loading::Ready(info) => {
            let mut words = format!("{} {} {}", info.device, info.dtype, info.kernel);
            if info.threads > 0 {
                let plural = if info.threads == 1 { "" } else { "s" };
                let _ = write!(words, ", {} thread{plural}", info.threads);
            }
            ((text::one_line(&info.pair()), Role::Title), Some(text::one_line(&words)))
        }
    };
    let remark = state.picking.remark.as_ref().map(|words| ("function", text::one_line(words), Role::Hint));
    let mut facts: Vec<_> = remark.into_iter().collect();
    facts.push(("models", models.0, models.1));
    // All of it is to be read: it may end in a command.
    let advice = state.picking.advice.iter().flat_map(|words| text::wrap_words(words, columns.saturating_sub(14)));
    let names = std::iter::once("hint").chain(std::iter::repeat(""));
    facts.extend(names.zip(advice).map(|(name, words)| (name, words, Role::Hint)));
    facts.extend(runs_on.map(|words| ("device", words, Role::Muted)));
    facts.push((
        "candidates",
        format!("{}, each of at most {} tokens", state.options.n, state.options.max_tokens),
        Role::Muted,
    ));
    if state.has_tests() {
        facts.push(("tests", text::one_line(&state.job.tests_label), Role::Muted));
        let (words, role) = match &state.loading {
            Loading::Ready(_) if state.protection.is_isolated() => {
                let words = text::one_line(&state.protection.summary);
                (words.strip_prefix("sandbox: ").unwrap_or(&words).to_owned(), Role::Muted)
            }
            Loading::Ready(_) => (format!("NOT ISOLATED: {}", text::one_line(&state.protection.summary)), Role::Warn),
            _ => ("…".to_owned(), Role::Muted),
        };
        facts.push(("sandbox", words, role));
    } else {
        let is_compared = state.job.target().is_some_and(|target| target.language.is_observed());
        let pick = if is_compared { "what most candidates do decides" } else { "the likeliest candidate is the pick" };
        facts.push(("tests", format!("none: {pick}"), Role::Muted));
    }
    facts
}
