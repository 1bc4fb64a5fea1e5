//! Code coloured by its tokens, what the colours mean, and what was said around the code.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::code::Drawn;
use super::{Look, put};
use crate::tui::app::tokens::{Colouring, Said, Trace};
use crate::tui::app::{Candidate, Run};
use crate::tui::highlight::{Of, Spans};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Least probabilities of the first three of four steps, with their names.
const STEPS: [(f32, &str); 4] = [(0.9, "90 %+"), (0.6, "60 %+"), (0.3, "30 %+"), (0.0, "below")];
/// Cells of the bar of the time budget.
const BAR: usize = 8;

/// The step of a probability.
fn step(probability: f32) -> usize {
    STEPS.iter().position(|(least, _)| probability >= *least).unwrap_or(STEPS.len() - 1)
}

/// The style of a step. Colours are not needed to tell steps apart.
fn confidence(look: &Look, step: usize) -> Style {
    match step {
        0 => look.style(Role::Same),
        1 => Style::default(),
        2 => look.style(Role::Warn).add_modifier(Modifier::UNDERLINED),
        _ => look.style(Role::Fail).add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
    }
}

fn draft(look: &Look, accepted: bool) -> Style {
    if accepted { look.style(Role::Working) } else { Style::default().add_modifier(Modifier::UNDERLINED) }
}

/// The tokens that a text is coloured by, if it is.
pub fn shown<'a>(look: &Look<'a>, of: Of, content: &str) -> Option<&'a Trace> {
    let Of::Candidate { run: id, index } = of else { return None };
    let state = look.state;
    let run = state.run.as_ref().filter(|run| run.id == id && state.colouring != Colouring::Syntax)?;
    let candidate = run.candidates.get(index)?;
    let trace = &candidate.trace;
    let fits = trace.pieces().last().is_some_and(|last| last.end == content.len());
    (fits && std::ptr::eq(content, candidate.shown.as_str())).then_some(trace)
}

/// The styles of a line of a text.
pub fn spans(look: &Look, trace: &Trace, content: &str, line: &str) -> Spans {
    let begin = line.as_ptr() as usize - content.as_ptr() as usize;
    let end = begin + line.len();
    let mut out = Spans::new();
    let mut push = |range: Range<usize>, style: Style| {
        if !range.is_empty() {
            out.push((range, style));
        }
    };
    let first = trace.pieces().partition_point(|piece| piece.end <= begin);
    for (at, piece) in trace.pieces().iter().enumerate().skip(first) {
        let range = trace.range(at);
        if range.start >= end {
            break;
        }
        let range = range.start.max(begin) - begin..range.end.min(end) - begin;
        let score = piece.token.and_then(|token| trace.score(token));
        let style = score.map_or_else(Style::default, |(probability, drafted)| match look.state.colouring {
            Colouring::Confidence => confidence(look, step(probability)),
            _ => draft(look, drafted),
        });
        if trace.cursor == Some(at) && look.state.zoom && look.state.colouring == Colouring::Confidence {
            push(range, style.add_modifier(Modifier::REVERSED));
            continue;
        }
        // White space between words belongs to a token, too, but a line under it says nothing.
        let part = &line[range.clone()];
        let white = range.start + part.len() - part.trim_start().len();
        push(range.start..white, Style::default());
        push(white..range.end, style);
    }
    out
}

/// Legend of the colours, and the token under the cursor with the others that were likely.
pub fn legend(look: &Look) -> Vec<(String, Style)> {
    let state = look.state;
    let hint = look.style(Role::Hint);
    let key = state.key_name(Context::Panes, Action::Colour);
    let candidate = state.run.as_ref().and_then(Run::focused);
    match state.colouring {
        Colouring::Syntax => Vec::new(),
        Colouring::Drafts => {
            let (drafted, all) = candidate.map_or((0, 0), |c| c.trace.drafted());
            let share = (drafted * 100).checked_div(all).map_or_else(String::new, |share| format!("{share} % drafted"));
            vec![
                (format!("drafts ({key})"), hint),
                ("accepted draft".to_owned(), draft(look, true)),
                ("main model".to_owned(), draft(look, false)),
                (share, hint),
            ]
        }
        Colouring::Confidence => {
            if let Some(words) = candidate.filter(|_| state.zoom).and_then(|c| under_cursor(look, &c.trace)) {
                return words;
            }
            let steps = STEPS.iter().enumerate().map(|(at, (_, name))| ((*name).to_owned(), confidence(look, at)));
            std::iter::once((format!("confidence ({key})"), hint)).chain(steps).collect()
        }
    }
}

/// The token under the cursor, its probability, and the others that were likely.
fn under_cursor(look: &Look, trace: &Trace) -> Option<Vec<(String, Style)>> {
    let state = look.state;
    let token = trace.pieces().get(trace.cursor?)?.token?;
    let insight = state.run.as_ref()?.insight.as_ref()?;
    let name = |id: u32| format!("{:?}", text::fit(&insight.spelling.token(id), 24));
    let (probability, _) = trace.score(token)?;
    let own = format!("token {} {}", name(trace.id(token)?), percent(probability));
    let mut out = vec![(own, confidence(look, step(probability)))];
    if let Some(others) = trace.others(token) {
        let others: Vec<String> = others.iter().map(|&(id, p)| format!("{} {}", name(id), percent(p))).collect();
        out.push((format!("others: {}", others.join(", ")), Style::default()));
    } else {
        let again = state.key_name(Context::Panes, Action::Regenerate);
        out.push((format!("{again} writes candidates with their other tokens"), look.style(Role::Hint)));
    }
    Some(out)
}

/// `31 %`.
fn percent(probability: f32) -> String {
    let percent = probability * 100.0;
    if percent > 0.0 && percent < 1.0 { "<1 %".to_owned() } else { format!("{percent:.0} %") }
}

/// The statement or expression that the model was least certain of.
pub fn doubt(look: &Look, candidate: &Candidate) -> Option<String> {
    let doubt = candidate.trace.doubt().filter(|_| look.state.colouring == Colouring::Confidence)?;
    Some(format!("least certain: `{}` line {}, {}", doubt.words, doubt.line, percent(doubt.probability)))
}

/// Text before the code of a model that answers requests.
pub fn said(run: &Run, candidate: &Candidate) -> Option<Said> {
    run.insight.as_ref().filter(|insight| insight.chat && !candidate.trace.is_empty())?;
    Some(candidate.trace.said())
}

/// Draws all that was said, its end while more may come.
pub fn whole(buf: &mut Buffer, area: Rect, look: &Look, words: &str, live: bool) -> Drawn {
    let lines = text::wrap_words(words, area.width.into());
    let hidden = lines.len().saturating_sub(area.height.into());
    let top = if live { hidden } else { 0 };
    for (y, line) in (area.y..area.bottom()).zip(lines.iter().skip(top)) {
        put(buf, area, area.x, y, line, look.style(Role::Muted));
    }
    Drawn { above: top, below: hidden - top }
}

/// The time budget as a bar: `███░░░░░ 3 of 10 s`.
pub fn budget(spent: f64, all: f64) -> String {
    let share = if all > 0.0 { (spent / all).clamp(0.0, 1.0) } else { 1.0 };
    let full = (share * BAR as f64).round() as usize;
    let (full, empty) = ("█".repeat(full), "░".repeat(BAR - full));
    format!("{full}{empty} {:.0} of {all:.0} s", spent.min(all).floor())
}
