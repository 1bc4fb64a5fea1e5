//! A question that needs a yes or a no before anything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Look, middle, put, window};
use crate::job::label;
use crate::trial::Status;
use crate::tui::app::candidate::Candidate;
use crate::tui::app::named::token_limit;
use crate::tui::app::state::Question;
use crate::tui::app::{State, Testing};
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::tui::theme::Role;

/// Draws the question over the middle of `body`.
pub fn draw(buf: &mut Buffer, body: Rect, look: &Look, question: Question) {
    let state = look.state;
    let width = body.width.min(72);
    let room = usize::from(width.saturating_sub(4));
    let (title, said, (yes, no)) = match question {
        Question::Unprotected { .. } => (
            "run the tests without protection?".to_owned(),
            [
                "The tests run code that a model has written. On this machine nothing keeps it from your files or the network.".to_owned(),
                text::one_line(&state.protection.summary),
            ],
            ("run them, this session", "do not"),
        ),
        Question::UndoEarlier => {
            let written = state.earlier_write().unwrap_or_default();
            let said = format!("{written} was written earlier in this session.");
            let here = if written == state.subject() {
                "It gets back the text that it had before."
            } else {
                "It is not the function that is shown here."
            };
            (format!("undo {written}?"), [said, here.to_owned()], ("take it back", "do not"))
        }
        Question::Take { candidate } => {
            let name = label(candidate);
            let passed = state.run.as_ref().is_some_and(|run| run.testing(candidate).passed());
            let pick = state.run.as_ref().and_then(|run| run.pick).map(label);
            let own = state.run.as_ref().and_then(|run| run.candidates.get(candidate));
            let replaces = state.own_body.is_some();
            let mut yes = "take it all the same";
            let said = if own.is_some_and(|own| own.is_cut_off) {
                let words = format!("{name} ends at its token limit, in the middle of the function.");
                [words, format!("{} raises the limit.", token_limit(state))]
            } else if let Some(why) = own.and_then(Candidate::unfinished) {
                [format!("{name} {why}"), String::new()]
            } else if let Some([first, second]) = state.concern(candidate) {
                [first, text::one_line(&second)]
            } else if replaces && (passed || !state.is_judged(candidate)) {
                [format!("{name} takes the place of the body that is in the file."), String::new()]
            } else if !state.is_judged(candidate) {
                let pick = pick.map(|pick| format!("By now {pick} is the pick."));
                [pick.unwrap_or_else(|| "Which one is best is not known yet.".to_owned()), String::new()]
            } else {
                let [first, second] = not_passed(state, candidate);
                // It may pass while the question stands there: nothing speaks against it then.
                yes = if passed { "take it" } else { yes };
                [format!("{name} {first}"), second]
            };
            (format!("take {name}?"), said, (yes, "do not"))
        }
    };
    let key = |action| state.key_name(Context::Question, action);
    let answers = format!("{} {yes}   {} {no}", key(Action::Yes), key(Action::No));
    let mut lines: Vec<(String, Role)> = Vec::new();
    for (words, role) in said.iter().zip([Role::Warn, Role::Muted]) {
        lines.extend(text::wrap_words(words, room).into_iter().map(|l| (l, role)));
    }
    lines.push((String::new(), Role::Muted));
    let height = (lines.len() + 3) as u16;
    let inside = window(buf, middle(body, width, height), look, &title, "");
    // However small the window: the answers are there.
    let last = inside.bottom().saturating_sub(1);
    for (y, (line, role)) in (inside.y..last).zip(&lines) {
        put(buf, inside, inside.x, y, line, look.style(*role));
    }
    put(buf, inside, inside.x, last, &text::fit(&answers, inside.width.into()), look.style(Role::Title));
}

/// Why a candidate is not known to pass, and what its tests said.
fn not_passed(state: &State, candidate: usize) -> [String; 2] {
    let testing = state.run.as_ref().map_or(&Testing::None, |r| r.testing(candidate));
    let (why, said) = match testing {
        Testing::Done(verdict) => {
            let why = match verdict.status {
                Status::Passed => "has passed its tests by now.",
                // They may never have begun.
                Status::NotRun => "was not tested.",
                _ => "did not pass its tests.",
            };
            (why, verdict.without_remark(&verdict.message))
        }
        Testing::Queued | Testing::Running => ("has not been tested to the end yet.", String::new()),
        Testing::Fault(why) => ("could not be tested.", why.clone()),
        Testing::None | Testing::Refused | Testing::Marked(_) => ("was not tested.", String::new()),
    };
    [why.to_owned(), text::one_line(&said)]
}
