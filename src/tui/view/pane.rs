//! One candidate: a header with state and figures, why its tests failed, and its code.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::{Look, badge, bar, code, confidence, put};
use crate::engine::FinishReason;
use crate::tui::app::tokens::Said;
use crate::tui::app::{Candidate, Loading, Phase, Run, Testing};
use crate::tui::highlight::Of;
use crate::tui::layout::{Layout, Pane, Regime};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws a candidate into its pane.
pub fn draw(buf: &mut Buffer, pane: Pane, look: &Look, layout: &Layout) {
    let state = look.state;
    let Pane { candidate: index, area, note } = pane;
    let Some(run) = &state.run else { return };
    let Some(candidate) = run.candidates.get(index) else { return };
    if area.is_empty() {
        return;
    }
    let focused = run.focus == index;
    let inner = layout.inner(pane);
    let said = confidence::said(run, candidate);
    let unfolded = said.as_ref().filter(|said| state.zoom && state.said && !said.whole().is_empty());
    let drawn = if let Some(said) = unfolded {
        confidence::whole(buf, inner, look, &said.whole(), candidate.is_live())
    } else if inner.is_empty() {
        code::Drawn::default()
    } else {
        let rows = state.rows(candidate, inner.width.into(), layout.folded);
        let alike = candidate.alike.as_ref().filter(|_| layout.folded);
        let of = Of::Candidate { run: run.id, index };
        let beside = code::Beside { shared: Some(&run.shared), alike };
        code::draw(buf, inner, look, of, &candidate.shown, &rows, candidate.scroll, beside)
    };
    if candidate.shown.is_empty() && !inner.is_empty() && unfolded.is_none() {
        let waiting = match candidate.phase {
            Phase::Waiting | Phase::Prefill if run.prefill.total > 0 => reading(run, state.now, inner.width.into()),
            Phase::Waiting | Phase::Prefill => "waiting".to_owned(),
            Phase::Stopping => String::new(),
            Phase::Streaming => said.as_ref().map_or_else(String::new, Said::line),
            _ => match said.as_ref().filter(|said| !said.whole().is_empty()) {
                Some(said) => format!("no code; {}", said.line()),
                None if candidate.tokens > 0 => {
                    format!("(nothing of the function in {} tokens)", candidate.tokens)
                }
                None => "(nothing was written)".to_owned(),
            },
        };
        put(buf, inner, inner.x, inner.y, &text::fit(&waiting, inner.width.into()), look.style(Role::Muted));
    }
    if layout.regime == Regime::Panes {
        gutter(buf, area, look, focused);
    }
    if note > 0 {
        notes(buf, Rect { x: inner.x, y: area.y + 1, width: inner.width, height: note }, look, run, index);
    }
    header(buf, area, look, run, index, (&drawn, note > 0));
}

/// How much of the prompt has been read, as words and below them a bar.
fn reading(run: &Run, now: u64, columns: usize) -> String {
    let words = format!("reading {} tokens ", run.prefill.total);
    let room = columns.saturating_sub(text::width(&words));
    words + &bar::words(&run.prefill, now, room)
}

/// The column left of a pane: between it and the next one, and heavy beside the focused one.
fn gutter(buf: &mut Buffer, area: Rect, look: &Look, focused: bool) {
    let (mark, role) = match (focused, area.x) {
        (true, _) => ("┃", Role::BorderFocus),
        (false, 0) => return,
        (false, _) => ("│", Role::Border),
    };
    for y in area.y + 1..area.bottom() {
        put(buf, area, area.x, y, mark, look.style(role));
    }
}

/// Rows of a candidate's note.
fn notes(buf: &mut Buffer, area: Rect, look: &Look, run: &Run, index: usize) {
    let style = look.style(badge::judged(run, index).map_or(Role::Muted, |b| b.role));
    let note = look.state.note(index).unwrap_or_default();
    let lines = text::wrap_reason(&note, area.width.into(), area.height.into());
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        put(buf, area, area.x, y, &line, style);
    }
}

/// Texts one after another from `x`, as many as fit; returns the column after them.
fn pieces(buf: &mut Buffer, area: Rect, y: u16, texts: &[(String, Style)]) -> u16 {
    let mut x = area.x;
    for (piece, style) in texts.iter().filter(|(p, _)| !p.is_empty()) {
        let room = usize::from(area.right().saturating_sub(x));
        if room < 3 {
            break;
        }
        x = put(buf, area, x, y, &format!(" {} ", text::fit_reason(piece, room - 2)), *style);
    }
    x
}

/// A rule with names and state at its left, figures and what is not in view at its right.
fn header(buf: &mut Buffer, area: Rect, look: &Look, run: &Run, index: usize, (drawn, noted): (&code::Drawn, bool)) {
    let focused = run.focus == index;
    let Some(candidate) = run.candidates.get(index) else { return };
    let (mark, role) = if focused { ("━", Role::BorderFocus) } else { ("─", Role::Border) };
    put(buf, area, area.x, area.y, &mark.repeat(area.width.into()), look.style(role));
    let more = drawn.more();
    let mut row = Rect { x: area.x + 1, width: area.width.saturating_sub(1), height: 1, ..area };
    let more_width = text::width(&more) as u16;
    if more_width > 0 && row.width > 12 + more_width {
        put(buf, row, row.right() - more_width, row.y, &more, look.style(Role::Warn));
        row.width -= more_width;
    }
    let name = if focused { look.style(Role::Selection).add_modifier(Modifier::BOLD) } else { look.style(Role::Title) };
    let state = badge::of(run, index);
    let mut texts = vec![(badge::names(run, index, row.width), name), (state.text, look.style(state.role))];
    texts.extend(badge::marks(look.state, index).into_iter().map(|mark| (mark.text, look.style(mark.role))));
    match (look.state.note(index), run.testing(index)) {
        (Some(note), _) if !noted => texts.push((text::one_line(&note), look.style(state.role))),
        (None, Testing::Done(verdict)) => {
            texts.push((badge::words(verdict), look.style(Role::Muted)));
        }
        _ => {}
    }
    texts.extend(confidence::doubt(look, candidate).map(|words| (words, look.style(Role::Warn))));
    let x = pieces(buf, row, row.y, &texts);
    let tokens = if is_counted(look, candidate) { format!("{} tok", candidate.tokens) } else { String::new() };
    for right in [figures(candidate, &tokens), scores(candidate), tokens] {
        let at = row.right().saturating_sub(text::width(&right) as u16 + 2);
        if at >= x && !right.is_empty() {
            put(buf, row, at, row.y, &format!(" {right} "), look.style(Role::Muted));
            break;
        }
    }
}

/// The number of tokens is known. A server may not tell how many there are.
pub fn is_counted(look: &Look, candidate: &Candidate) -> bool {
    candidate.tokens > 0 || !is_served(look)
}

/// A server writes.
pub fn is_served(look: &Look) -> bool {
    matches!(&look.state.loading, Loading::Ready(info) if info.is_served())
}

/// `lp -0.09  rank 1`, or `+2.1/step` while it is written.
fn scores(candidate: &Candidate) -> String {
    let mut out = candidate.mean().map_or(String::new(), |mean| format!("lp {mean:.2}"));
    let gap = if out.is_empty() { "" } else { "  " };
    if let Some(rank) = candidate.rank {
        let _ = write!(out, "{gap}rank {rank}");
    } else if let Some(accepted) = candidate.accepted_per_step().filter(|_| candidate.is_live()) {
        let _ = write!(out, "{gap}+{accepted:.1}/step");
    }
    out
}

/// `lp -0.09  rank 1  48 tok  0.61 s  end`.
fn figures(candidate: &Candidate, tokens: &str) -> String {
    let mut out = [scores(candidate).as_str(), tokens].join("  ").trim().to_owned();
    if let Some(ended) = candidate.ended.filter(|_| candidate.made_of.is_none()) {
        let _ = write!(out, "  {:.2} s", ended.saturating_sub(candidate.began) as f64 / 1000.0);
    }
    if candidate.round > 1 {
        let _ = write!(out, "  round {}{}", candidate.round, if candidate.told { ", told" } else { "" });
    }
    match candidate.phase {
        Phase::Finished(FinishReason::Stop) => out.push_str("  end"),
        Phase::Finished(FinishReason::Length) => out.push_str("  max tokens"),
        _ => {}
    }
    out
}
