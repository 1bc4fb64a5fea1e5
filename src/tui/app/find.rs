//! Finding candidates: by a text in them, by their verdict, by passing.

use super::run::Run;
use super::state::State;
use crate::job::label;
use crate::trial::Status;
use crate::tui::event::{Code, Key};
use crate::tui::text;

/// Verdicts that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    All,
    Passed,
    Failed,
    /// Not run, or without a verdict.
    Open,
}

impl Filter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Passed,
            Self::Passed => Self::Failed,
            Self::Failed => Self::Open,
            Self::Open => Self::All,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Open => "not tested",
        }
    }

    /// The verdict of a candidate belongs to it.
    pub fn takes(self, status: Option<Status>) -> bool {
        match self {
            Self::All => true,
            Self::Passed => status == Some(Status::Passed),
            Self::Failed => status.is_some_and(|status| !matches!(status, Status::Passed | Status::NotRun)),
            Self::Open => status.is_none_or(|status| status == Status::NotRun),
        }
    }
}

/// Shows the candidates with the next kind of verdict that any has.
pub fn filter(state: &mut State) {
    let Some(run) = &mut state.run else { return };
    for _ in 0..4 {
        run.filter = run.filter.next();
        if run.filter == Filter::All || !run.shown().is_empty() {
            break;
        }
    }
    let name = run.filter.name();
    state.fold();
    state.say(format!("candidates shown: {name}"));
}

/// Moves to the next candidate, or the previous one, that passed; with a text to search for, that has it.
pub fn next(state: &mut State, by: isize) {
    let Some(run) = &state.run else { return };
    let shown = run.shown();
    let at = shown.iter().position(|&c| c == run.focus).unwrap_or(0) as isize;
    let wanted = |c: usize| match &state.search {
        Some(search) => has(run, c, &search.text),
        None => run.testing(c).passed(),
    };
    let n = shown.len() as isize;
    let found = (1..n).map(|step| shown[(at + by * step).rem_euclid(n) as usize]).find(|&c| wanted(c));
    let here = wanted(run.focus);
    match (found, &state.search) {
        (Some(found), _) => super::action::focus_pane(state, found),
        (None, _) if here => {
            let words = format!("only {} does", label(run.focus));
            state.say(words);
        }
        (None, Some(search)) => {
            let words = format!("no candidate contains {}", search.text);
            state.say(words);
        }
        (None, None) => state.say("no candidate has passed"),
    }
}

/// A text to search for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    pub text: String,
    /// It is being typed.
    pub typing: bool,
}

/// Takes a key in while the text is typed.
pub fn typed(state: &mut State, key: Key) {
    let Some(search) = state.search.as_mut() else { return };
    match key.code {
        Code::Char(c) if !key.ctrl && !key.alt => search.text.push(c),
        Code::Char('u') if key.ctrl => search.text.clear(),
        Code::Backspace if search.text.pop().is_none() => state.search = None,
        _ => {}
    }
}

/// Ends typing, and moves to the first candidate from the focused one on that has the text.
pub fn search(state: &mut State) {
    let Some(search) = &mut state.search else { return };
    search.typing = false;
    if search.text.is_empty() {
        state.search = None;
        return;
    }
    let text = search.text.clone();
    let Some(run) = &state.run else { return };
    let shown = run.shown();
    let found = shown.iter().filter(|&&candidate| has(run, candidate, &text)).count();
    if !has(run, run.focus, &text) {
        next(state, 1);
    }
    if found > 0 {
        state.say(format!("{found} of {} have {}", shown.len(), text::one_line(&text)));
    }
}

/// Returns true if a candidate has a text. Lower case finds both cases.
fn has(run: &Run, candidate: usize, search: &str) -> bool {
    run.candidates.get(candidate).is_some_and(|candidate| matches(&candidate.shown, search).next().is_some())
}

/// The places of a search text in a line. Lower case finds both cases.
pub fn matches<'a>(line: &'a str, search: &'a str) -> impl Iterator<Item = std::ops::Range<usize>> + 'a {
    let folds = !search.chars().any(char::is_uppercase) && line.is_ascii() && search.is_ascii();
    let (line, search) = if folds {
        (line.to_ascii_lowercase(), search.to_ascii_lowercase())
    } else {
        (line.to_owned(), search.to_owned())
    };
    let found: Vec<_> = if search.is_empty() {
        Vec::new()
    } else {
        line.match_indices(&search).map(|(at, found)| at..at + found.len()).collect()
    };
    found.into_iter()
}
