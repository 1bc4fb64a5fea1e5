//! The first line: what is completed, by which models, on what.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, put, put_all};
use crate::job::label;
use crate::tui::app::state::Consent;
use crate::tui::app::{Loading, State};
use crate::tui::layout::{Layout, Regime};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the line, dropping from the right what does not fit.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look, layout: &Layout) {
    if area.is_empty() {
        return;
    }
    let state = look.state;
    let (muted, title) = (look.style(Role::Muted), look.style(Role::Title));
    let mut pieces = vec![("bass-tui".to_owned(), title), (state.subject(), title)];
    match &state.loading {
        Loading::Opening => pieces.push(("loading the models".to_owned(), look.style(Role::Working))),
        Loading::Failed(_) => pieces.push(("no models".to_owned(), look.style(Role::Error))),
        Loading::Ready(info) => {
            pieces.push((text::one_line(&info.pair()), muted));
            pieces.push((text::one_line(format!("{} {}", info.device, info.dtype).trim()), muted));
        }
    }
    if let Some(what) = &state.palette.loading {
        pieces.insert(2, (text::one_line(&format!("loading {what}")), look.style(Role::Working)));
    }
    if area.width < 60 {
        pieces.remove(0);
    }
    let unprotected = state.is_unprotected() && state.consent == Consent::Given && layout.status.is_empty();
    let past = state.past.words().map(|words| text::one_line(&words)).filter(|_| !unprotected);
    let right = match layout.regime {
        _ if unprotected => "UNPROTECTED".to_owned(),
        _ if past.is_some() => past.clone().unwrap_or_default(),
        Regime::Zoom if state.zoom => "zoom".to_owned(),
        Regime::Panes if !layout.strip.is_empty() => seen(state, layout),
        _ => String::new(),
    };
    let reserved = if right.is_empty() { 0 } else { text::width(&right) as u16 + 2 };
    // Models and device give way to the word that an earlier run is shown.
    let room = if past.is_some() { area.width.saturating_sub(reserved) } else { area.width };
    let left = Rect { x: area.x + 1, width: room.saturating_sub(1), ..area };
    let fits = put_all(buf, left, &pieces) + reserved <= area.right();
    if reserved > 0 && (fits || unprotected) {
        let style = look.style(if unprotected { Role::Error } else { Role::Muted });
        put(buf, area, area.right().saturating_sub(reserved - 1), area.y, &right, style);
    }
}

/// `A to H of 16`.
fn seen(state: &State, layout: &Layout) -> String {
    let n = state.run.as_ref().map_or(0, |r| r.blocks.len());
    match (layout.panes.first(), layout.panes.last()) {
        (Some(first), Some(last)) => format!("{} to {} of {n}", label(first.candidate), label(last.candidate)),
        _ => String::new(),
    }
}
