//! One candidate: state and figures in its border, code inside.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, BorderType, Borders, Widget};

use super::{Look, badge, code, put, rule};
use crate::engine::FinishReason;
use crate::job::label;
use crate::tui::app::{Candidate, Loading, Phase, Run, Testing};
use crate::tui::highlight::Of;
use crate::tui::layout::{Layout, Regime};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws candidate `index` into `area`.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look, layout: &Layout, index: usize) {
    let state = look.state;
    let Some(run) = &state.run else { return };
    let Some(candidate) = run.candidates.get(index) else { return };
    if area.is_empty() {
        return;
    }
    let focused = run.focus == index;
    let inner = layout.inner(area);
    let drawn = if inner.is_empty() {
        code::Drawn::default()
    } else {
        let of = Of::Candidate { run: run.id, index };
        code::draw(buf, inner, look, of, &candidate.shown, candidate.scroll, state.wrap)
    };
    if candidate.shown.is_empty() && !inner.is_empty() {
        let waiting = match candidate.phase {
            Phase::Waiting | Phase::Prefill if run.prefill.1 > 0 => {
                format!("reading the prompt: {} of {} tokens", run.prefill.0, run.prefill.1)
            }
            Phase::Waiting | Phase::Prefill => "waiting".to_owned(),
            Phase::Streaming => String::new(),
            _ => "(nothing was written)".to_owned(),
        };
        put(buf, inner, inner.x, inner.y, &text::fit(&waiting, inner.width.into()), look.style(Role::Muted));
    }
    frame(buf, area, look, focused, layout.regime);
    let bar = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    top(buf, bar, look, run, index, focused);
    if layout.regime != Regime::List && area.height > 1 {
        bottom(buf, bar, area.bottom() - 1, look, run, index, &drawn);
    }
}

/// The border; none at the sides of a candidate alone, so that the terminal's own selection copies code only.
fn frame(buf: &mut Buffer, area: Rect, look: &Look, focused: bool, regime: Regime) {
    let borders = match regime {
        Regime::Grid { .. } => Borders::ALL,
        Regime::Zoom => Borders::TOP | Borders::BOTTOM,
        _ => Borders::TOP,
    };
    let (kind, role) = if focused { (BorderType::Thick, Role::BorderFocus) } else { (BorderType::Plain, Role::Border) };
    Block::new().borders(borders).border_type(kind).border_style(look.style(role)).render(area, buf);
}

/// Texts one after another from `x`, as many as fit; returns the column after them.
fn pieces(buf: &mut Buffer, area: Rect, y: u16, texts: &[(String, Style)]) -> u16 {
    let mut x = area.x;
    for (piece, style) in texts.iter().filter(|(p, _)| !p.is_empty()) {
        let room = usize::from(area.right().saturating_sub(x));
        if room < 3 {
            break;
        }
        x = put(buf, area, x, y, &format!(" {} ", text::fit(piece, room - 2)), *style);
    }
    x
}

fn top(buf: &mut Buffer, area: Rect, look: &Look, run: &Run, index: usize, focused: bool) {
    let state = badge::of(run, index);
    let name = if focused { look.style(Role::Selection).add_modifier(Modifier::BOLD) } else { look.style(Role::Title) };
    let mut texts = vec![(label(index), name), (state.text, look.style(state.role))];
    for mark in badge::marks(run, index) {
        texts.push((mark.text, look.style(mark.role)));
    }
    let x = pieces(buf, area, area.y, &texts);
    let Some(candidate) = run.candidates.get(index) else { return };
    // A server may not tell how many there are.
    let is_served = matches!(&look.state.loading, Loading::Ready(info) if info.is_served());
    let is_untold = candidate.tokens == 0 && is_served;
    let tokens = if is_untold { String::new() } else { format!("{} tok", candidate.tokens) };
    for right in [figures(run, candidate, &tokens), tokens] {
        let right = format!(" {right} ");
        let at = area.right().saturating_sub(text::width(&right) as u16);
        if at > x {
            put(buf, area, at, area.y, &right, look.style(Role::Muted));
            break;
        }
    }
}

/// `48 tok  0.61 s  stop`.
fn figures(run: &Run, candidate: &Candidate, tokens: &str) -> String {
    let mut out = tokens.to_owned();
    if let Some(ended) = candidate.ended {
        let _ = write!(out, "  {:.2} s", ended.saturating_sub(run.started) as f64 / 1000.0);
    }
    match candidate.phase {
        Phase::Finished(FinishReason::Stop) => out.push_str("  end"),
        Phase::Finished(FinishReason::Length) => out.push_str("  max tokens"),
        _ => {}
    }
    out
}

fn bottom(buf: &mut Buffer, area: Rect, y: u16, look: &Look, run: &Run, index: usize, drawn: &code::Drawn) {
    let Some(candidate) = run.candidates.get(index) else { return };
    let muted = look.style(Role::Muted);
    let mut texts = Vec::new();
    let mut figures = String::new();
    // The rank says it in fewer columns.
    if let Some(mean) = candidate.mean().filter(|_| candidate.rank.is_none() || area.width >= 50) {
        figures = format!("lp {mean:.2}");
    }
    if let Some(rank) = candidate.rank {
        let gap = if figures.is_empty() { "" } else { "  " };
        let _ = write!(figures, "{gap}rank {rank}");
    } else if let Some(accepted) = candidate.accepted_per_step().filter(|_| candidate.is_live()) {
        let _ = write!(figures, "  +{accepted:.1}/step");
    }
    texts.push((figures, muted));
    match run.testing(index) {
        Testing::Done(verdict) => {
            let role = badge::tested(run.testing(index)).map_or(Role::Muted, |b| b.role);
            texts.push((text::one_line(&verdict.words()), look.style(role)));
        }
        Testing::Fault(why) => texts.push((text::one_line(why), look.style(Role::Error))),
        _ => {}
    }
    let more = match (drawn.above, drawn.below) {
        (0, 0) => String::new(),
        (0, below) => format!(" ↓ {below} more "),
        (above, 0) => format!(" ↑ {above} more "),
        (above, below) => format!(" ↑ {above} ↓ {below} more "),
    };
    let room = area.width.saturating_sub(text::width(&more) as u16);
    pieces(buf, Rect { width: room, ..area }, y, &texts);
    if !more.is_empty() && area.width > 20 {
        put(buf, area, area.x + room, y, &more, look.style(Role::Warn));
    }
}

/// A rule with a candidate's name, for places where its code follows.
pub fn heading(buf: &mut Buffer, area: Rect, y: u16, look: &Look, index: usize, right: &str) {
    let left = format!(" {} ", label(index));
    rule(buf, area, y, look, (&left, look.style(Role::Title)), (right, look.style(Role::Muted)));
}
