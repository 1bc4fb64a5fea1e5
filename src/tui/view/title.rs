//! The first line: what is completed, by which models, on what.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::choices::shortened;
use super::{Look, put, put_all, wish};
use crate::job::label;
use crate::tui::app::state::Consent;
use crate::tui::app::{Loading, State};
use crate::tui::keymap::Context;
use crate::tui::layout::{Layout, Regime};
use crate::tui::text;
use crate::tui::theme::Role;

/// Name of the program.
const PROGRAM: &str = "bass-tui";
/// Columns between two pieces.
const GAP: usize = 3;

/// Draws the line. Where there is little room the names of the subject lose their middle.
pub fn draw(buf: &mut Buffer, area: Rect, look: &Look, layout: &Layout) {
    if area.is_empty() {
        return;
    }
    let state = look.state;
    let unprotected = state.is_unprotected() && state.consent == Consent::Given && layout.status.is_empty();
    let past = state.past.words().map(|words| text::one_line(&words)).filter(|_| !unprotected);
    let right = match layout.regime {
        _ if unprotected => "UNPROTECTED".to_owned(),
        _ if past.is_some() => text::fit(&past.clone().unwrap_or_default(), usize::from(area.width) * 2 / 3),
        Regime::Zoom if state.zoom => "zoom".to_owned(),
        Regime::Panes if !layout.strip.is_empty() => seen(state, layout),
        _ => String::new(),
    };
    let reserved = if right.is_empty() { 0 } else { text::width(&right) as u16 + 2 };
    // Models and device give way to the word that an earlier run is shown.
    let room = if past.is_some() { area.width.saturating_sub(reserved) } else { area.width };
    let left = Rect { x: area.x + 1, width: room.saturating_sub(1), ..area };
    let pieces = pieces(look, layout, past.is_some(), left.width.into());
    let fits = put_all(buf, left, &pieces) + reserved <= area.right();
    if reserved > 0 && (fits || unprotected) {
        let style = look.style(if unprotected { Role::Error } else { Role::Muted });
        put(buf, area, area.right().saturating_sub(reserved - 1), area.y, &right, style);
    }
}

/// Program, subject, models and device, as far as they fit into `room`. First the program goes, then the
/// device: neither is worth a cut of the subject. The models are, down to half of the line.
fn pieces(look: &Look, layout: &Layout, is_past: bool, room: usize) -> Vec<(String, Style)> {
    let (state, named) = (look.state, layout.title.width >= 60);
    let (muted, title) = (look.style(Role::Muted), look.style(Role::Title));
    let mut others = Vec::new();
    match &state.loading {
        Loading::Opening => others.push(("loading the models".to_owned(), look.style(Role::Working))),
        Loading::Failed(_) => others.push(("no models".to_owned(), look.style(Role::Error))),
        Loading::Ready(info) => {
            // They need not be those that wrote the earlier run.
            let next = if is_past { "next: " } else { "" };
            others.push((text::one_line(&format!("{next}{}", info.pair())), muted));
            others.push((text::one_line(format!("{} {}", info.device, info.dtype).trim()), muted));
        }
    }
    // The prompt, which it stands beside, gives way to candidates.
    if layout.prompt.is_empty() && !is_past {
        others.splice(0..0, wish::words(state, room * 2 / 5).map(|words| (words, title)));
    }
    if let Some((_, what)) = &state.palette.loading {
        others.insert(0, (text::one_line(&format!("loading {what}")), look.style(Role::Working)));
    }
    others.retain(|(words, _)| !words.is_empty());
    let subject = subject(state);
    let whole = text::width(&subject);
    let beside = |program: bool, n: usize| {
        let others: usize = others[..n].iter().map(|(words, _)| text::width(words) + GAP).sum();
        others + if program { PROGRAM.len() + GAP } else { 0 }
    };
    let fits = |(program, n): (bool, usize)| {
        let least = if program || n > 1 { whole } else { whole.min(room / 2) };
        (named || !program) && beside(program, n) + least <= room
    };
    let mut tries = (0..=others.len()).rev().flat_map(|n| [(true, n), (false, n)]);
    let (program, n) = tries.find(|of| fits(*of)).unwrap_or((false, 0));
    let subject = shortened_subject(&subject, room.saturating_sub(beside(program, n)));
    others.truncate(n);
    let program = program.then(|| (PROGRAM.to_owned(), title));
    program.into_iter().chain([(subject, title)]).chain(others).collect()
}

/// The function that is completed; while functions are listed, where those are.
fn subject(state: &State) -> String {
    match &state.picking.open {
        Some(picker) => format!("functions of {}", picker.place),
        None => state.subject(),
    }
}

/// `file:function` in so many columns. The one that needs less than half leaves the rest to the other.
fn shortened_subject(subject: &str, room: usize) -> String {
    let is_cut = text::width(subject) > room && room > 2;
    let Some((file, function)) = subject.rsplit_once(':').filter(|_| is_cut) else {
        return shortened(subject, room);
    };
    let room = room - 1;
    let of_file = text::width(file).min((room / 2).max(room.saturating_sub(text::width(function))));
    format!("{}:{}", shortened(file, of_file), shortened(function, room - of_file))
}

/// `A to H of 16`, or `C of 16`; nothing where a list covers the candidates.
fn seen(state: &State, layout: &Layout) -> String {
    if matches!(state.place(), Context::Palette | Context::Picker) {
        return String::new();
    }
    let n = state.run.as_ref().map_or(0, |r| r.blocks.len());
    match layout.panes.as_slice() {
        [one] => format!("{} of {n}", label(one.candidate)),
        [first, .., last] => format!("{} to {} of {n}", label(first.candidate), label(last.candidate)),
        [] => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::code::{Place, Target};
    use crate::job::{Job, TestsChoice};
    use crate::tui::app::Msg;
    use crate::tui::app::fixture::Session;
    use crate::tui::app::past::Recalled;
    use crate::tui::view::scenes;

    /// A session for a function of a file.
    fn on(file: &str, function: &str) -> Session {
        let text = format!("def {function}(x):\n    \"\"\"Something.\"\"\"\n");
        let target = Target::in_editor(Path::new(file), &text, &Place::Any).unwrap();
        let mut session = Session::on(Job::from_target(target, &TestsChoice::None).unwrap(), 2);
        session.open(true);
        session
    }

    fn title(session: &Session, width: u16) -> String {
        let shown = scenes::text(&scenes::draw(&session.state, width, 24));
        shown.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_long_subject_is_shortened_and_not_dropped() {
        let file = "module_number_059_with_a_rather_long_file_name.py";
        let session = on(file, "a_function_with_quite_a_long_name_059");
        let both = format!(" {file}:a_function_with_quite_a_long_name_059   main-1b + draft-100m");
        assert_eq!(title(&session, 130), format!("{both}   cpu bf16"));
        assert_eq!(title(&session, 112), both);
        let cut = " module_number…_file_name.py:a_function_wi…_long_name_059   main-1b + draft-100m";
        assert_eq!(title(&session, 80), cut);
        assert_eq!(title(&session, 40), " module_nu…e_name.py:a_functio…_name_059");
        let session = on("a.py", "a_function_with_quite_a_long_name_059");
        assert_eq!(title(&session, 40), " a.py:a_function_with_…e_a_long_name_059");
    }

    #[test]
    fn candidates_in_view_are_named_while_they_are_in_view() {
        let mut session = on("calc.py", "add");
        session.key("g");
        for candidate in 0..2 {
            session.finish(candidate, &format!("    x = {candidate}\n{}", "    x += 1\n".repeat(30)));
        }
        session.done();
        session.key("2");
        assert!(title(&session, 56).ends_with("  B of 2"), "{}", title(&session, 56));
        for key in [",", "ctrl-t"] {
            session.key(key);
            assert!(!title(&session, 56).contains(" of 2"), "{}", title(&session, 56));
            session.key("esc");
        }
        assert!(title(&session, 56).ends_with("  B of 2"), "{}", title(&session, 56));
    }

    /// A new round may be written by other models.
    #[test]
    fn an_earlier_run_names_its_model_beside_the_next_ones() {
        let mut session = on("calc.py", "add");
        let (job, when) = (Ok(session.state.job.clone()), "14:03, by served-7b".to_owned());
        let (id, events) = ("1".to_owned(), Vec::new());
        let run =
            Recalled { id, at: 1, when, seed: 1, n: 2, events, job, applied: None, answers: Vec::new(), wish: None };
        session.send(Msg::Resumed(Box::new(run)));
        let shown = title(&session, 80);
        assert!(shown.starts_with(" calc.py:add   next: main-1b + draft-100m  "), "{shown}");
        assert!(shown.ends_with("  run 1 of 1, 14:03, by served-7b"), "{shown}");
        assert!(title(&session, 40).contains("run 1 of 1, 14:03, by s"), "{}", title(&session, 40));
    }
}
