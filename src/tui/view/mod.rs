//! The screen drawn from the state: one file per piece. Nothing here changes the state.

mod answers;
mod badge;
mod banner;
mod bar;
mod calls;
mod choices;
mod code;
mod confidence;
mod cut;
mod diff;
mod footer;
mod help;
mod list;
#[cfg(test)]
mod looks;
pub mod menu;
mod palette;
mod pane;
mod picker;
mod prompt;
mod question;
mod results;
#[cfg(test)]
pub mod scenes;
mod selected;
#[cfg(test)]
mod sizes;
mod start;
mod status;
mod tabs;
mod title;
mod typed;
mod wish;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Clear, Widget};

use super::app::State;
use super::app::diff::{Against, Diff};
use super::highlight::{Highlights, Of};
use super::layout::Regime;
use super::text;
use super::theme::{Role, Theme};
pub use results::scrolling as results_scrolling;
pub use tabs::at as tab_at;

/// Inputs of every piece of the screen.
pub struct Look<'a> {
    /// State that is shown.
    pub state: &'a State,
    /// In which colours.
    pub theme: &'a Theme,
    /// With which colours of code.
    pub highlights: &'a Highlights,
}

impl Look<'_> {
    fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }
}

pub fn draw(frame: &mut Frame, look: &Look) {
    let area = frame.area();
    // The terminal may have been resized since the state heard of it.
    let layout = look.state.layout_in((area.width, area.height));
    let buf = frame.buffer_mut();
    title::draw(buf, layout.title, look, &layout);
    if layout.regime == Regime::Start {
        start::draw(buf, layout.prompt, look);
    } else {
        prompt::draw(buf, layout.prompt, look);
    }
    tabs::draw(buf, layout.strip, look);
    list::draw(buf, layout.list, look);
    for &pane in &layout.panes {
        pane::draw(buf, pane, look, &layout);
    }
    if look.state.calls.is_some() {
        calls::draw(buf, layout.results, look);
    } else {
        results::draw(buf, layout.results, look);
    }
    diff::draw(buf, layout.diff, look);
    status::draw(buf, layout.status, look, &layout);
    footer::draw(buf, layout.footer, look);
    if layout.regime != Regime::Floor {
        let mut body = Rect::new(0, 1, area.width, area.height.saturating_sub(2));
        let said = footer::said(look).filter(|_| footer::is_below_dialog(look.state) && body.height > 3);
        if let Some(said) = said {
            let height = footer::said_rows(&said.0, body);
            body.height -= height;
            footer::draw_said(buf, Rect { y: body.bottom(), height, ..body }, &said);
        }
        if let Some(line) = &look.state.wish.line {
            wish::draw(buf, body, look, line);
        }
        if let Some(open) = &look.state.picking.open {
            picker::draw(buf, body, look, open);
        }
        if let Some(open) = &look.state.palette.open {
            palette::draw(buf, body, look, open);
        }
        banner::draw(buf, body, look);
        if look.state.help.is_some() {
            help::draw(buf, body, look);
        }
        if let Some(question) = look.state.question.filter(|_| look.state.question_is_shown()) {
            question::draw(buf, body, look, question);
        }
    }
}

/// Tells the colouring about what is in view.
pub fn sync(state: &State, highlights: &mut Highlights) {
    if let Some((found, Ok(text))) =
        state.picking.open.as_ref().and_then(|p| Some((p.list.current()?, &p.preview()?.text)))
    {
        highlights.sync(Of::Picked, Some(found.language.name()), text, true);
    }
    let Some(language) = state.job.language().map(crate::language::Language::name) else { return };
    let Some(run) = &state.run else {
        highlights.sync(Of::Prompt, Some(language), &state.draft.text(), true);
        return;
    };
    highlights.keep(run.id);
    let against = state.base().map(|base| base.against);
    let is_file = |diff: &Diff| diff.preview || against == Some(Against::File);
    if let Some((text, _)) = state.diff.filter(is_file).and_then(|_| state.preview()) {
        highlights.sync(Of::Preview, Some(language), &text, true);
    }
    let mut seen: Vec<usize> = state.layout().panes.iter().map(|pane| pane.candidate).collect();
    if state.diff.is_some() {
        seen.push(run.focus);
        seen.extend(against.and_then(|against| if let Against::Candidate(c) = against { Some(c) } else { None }));
    }
    for index in seen {
        if let Some(candidate) = run.candidates.get(index) {
            let of = Of::Candidate { run: run.id, index };
            highlights.sync(of, Some(language), &candidate.shown, !candidate.is_live());
        }
    }
}

/// Writes `text` from column `x` up to the right end of `area`; returns the column after it. What was there
/// leaves its colours at most: a faint line makes no name on it faint.
fn put(buf: &mut Buffer, area: Rect, x: u16, y: u16, text: &str, style: Style) -> u16 {
    if y < area.y || y >= area.bottom() || x < area.x || x >= area.right() {
        return x;
    }
    let clean: String = text.chars().map(|c| if crate::untrusted::is_invisible(c) { '\u{fffd}' } else { c }).collect();
    let style = style.remove_modifier(Modifier::all() - style.add_modifier).add_modifier(style.add_modifier);
    buf.set_stringn(x, y, clean, usize::from(area.right() - x), style).0
}

/// Writes `left` and `right` on one line; `right` is left out when both do not fit.
fn put_ends(buf: &mut Buffer, area: Rect, y: u16, left: (&str, Style), right: (&str, Style)) {
    let room = usize::from(area.width);
    let right_width = text::width(right.0);
    let both = text::width(left.0) + 1 + right_width <= room && right_width > 0;
    put(buf, area, area.x, y, &text::fit(left.0, room), left.1);
    if both {
        put(buf, area, area.right() - right_width as u16, y, right.0, right.1);
    }
}

/// A rule across `area` at `y`, with texts set into its left and right end.
fn rule(buf: &mut Buffer, area: Rect, y: u16, look: &Look, left: (&str, Style), right: (&str, Style)) {
    let line = "─".repeat(usize::from(area.width));
    put(buf, area, area.x, y, &line, look.style(Role::Border));
    let room = usize::from(area.width.saturating_sub(2));
    let inside = Rect { x: area.x + 1.min(area.width), width: room as u16, ..area };
    if room > 2 {
        put_ends(buf, inside, y, left, right);
    }
}

/// Writes texts one after another; the first that does not fit ends the line. Returns the column after them.
fn put_all(buf: &mut Buffer, row: Rect, pieces: &[(String, Style)]) -> u16 {
    let mut x = row.x;
    for (i, (piece, style)) in pieces.iter().filter(|(p, _)| !p.is_empty()).enumerate() {
        let at = if i == 0 { x } else { x + 3 };
        let room = usize::from(row.right().saturating_sub(at));
        if i > 0 && text::width(piece) > room {
            break;
        }
        x = put(buf, row, at, row.y, &text::fit(piece, room), *style);
    }
    x
}

/// Empties `area`, draws a border around it and returns the inside; for what lies on top of everything.
fn window(buf: &mut Buffer, area: Rect, look: &Look, title: &str, hint: &str) -> Rect {
    Clear.render(area, buf);
    if area.width < 4 || area.height < 3 {
        return area;
    }
    Block::bordered().border_style(look.style(Role::BorderFocus)).render(area, buf);
    let inside = Rect::new(area.x + 1, area.y, area.width - 2, 1);
    let hint = if hint.is_empty() { String::new() } else { format!(" {hint} ") };
    put_ends(buf, inside, area.y, (&format!(" {title} "), look.style(Role::Title)), (&hint, look.style(Role::Hint)));
    Rect::new(area.x + 2, area.y + 1, area.width - 4, area.height - 2)
}

/// A rectangle of at most this size in the middle of `area`.
fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height)
}
