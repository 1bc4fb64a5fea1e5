//! The view of differences: the focused candidate against a marked one, the file, the pick, or another.

use super::candidate::Candidate;
use super::compare::{Comparison, compare, without_change};
use super::effect::Effect;
use super::state::State;
use crate::code::Target;
use crate::job::label;
use crate::tui::keymap::{Action, Context};
use crate::tui::text;
use crate::untrusted::code;

/// The text that a candidate is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The file as it was read: what writing the candidate would change.
    File,
    /// Another candidate: the pick, a marked one, or the next one.
    Candidate(usize),
}

/// The open view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The text to compare with, as the user chose it; the first possible one if that says nothing.
    pub against: Option<Against>,
    /// Side by side or not; by the width of the screen if the user has not said.
    pub split: Option<bool>,
    /// First row in view.
    pub top: usize,
    /// The change that `take` takes.
    pub hunk: usize,
    /// The whole file with the candidate in it instead.
    pub preview: bool,
}

impl Diff {
    const OPEN: Self = Self { against: None, split: None, top: 0, hunk: 0, preview: false };
}

/// Columns from which both texts stand side by side.
const SPLIT: u16 = 120;
/// Equal lines that are shown beside a change of the file.
const AROUND: usize = 3;

/// A text that the focused candidate is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub against: Against,
    /// Its name, for the title.
    pub name: String,
    /// The text, and beside it that of the candidate: whole files against the file, else bodies.
    texts: (String, String),
}

impl State {
    /// Texts that the focused candidate can be compared with: a marked one, which the user wants to see, then
    /// the file, the pick and the others.
    fn bases(&self) -> Vec<Against> {
        let Some(run) = &self.run else { return Vec::new() };
        let own = run.block_of(run.focus).map_or(run.focus, |block| block.shown);
        let candidates = run.marked.into_iter().chain(run.pick).chain(run.shown()).map(Against::Candidate);
        let file = (self.has_file() || self.own_body.is_some()).then_some(Against::File);
        let mut out: Vec<Against> = Vec::new();
        for base in run.marked.map(Against::Candidate).into_iter().chain(file).chain(candidates) {
            if base != Against::Candidate(own) && base != Against::Candidate(run.focus) && !out.contains(&base) {
                out.push(base);
            }
        }
        out
    }

    /// The text that the focused candidate is compared with.
    pub fn base(&self) -> Option<Base> {
        let chosen = self.diff?.against;
        let bases = self.bases();
        let against = chosen.filter(|chosen| bases.contains(chosen)).or(bases.first().copied())?;
        let run = self.run.as_ref()?;
        let own = &run.focused()?.text;
        let (name, texts) = match against {
            Against::File => ("the file".to_owned(), self.in_file(own)?),
            Against::Candidate(c) => {
                let what = match c {
                    c if run.marked == Some(c) => "the marked",
                    c if run.pick == Some(c) => "the pick",
                    _ => "candidate",
                };
                (format!("{what} {}", label(c)), (run.candidates.get(c)?.text.clone(), own.clone()))
            }
        };
        Some(Base { against, name, texts })
    }

    /// The file as it was read, and as it is with this candidate; without a file both bodies.
    fn in_file(&self, candidate: &str) -> Option<(String, String)> {
        let Some(target) = self.job.target().filter(|_| self.has_file()) else {
            return Some((self.own_body.clone()?, candidate.to_owned()));
        };
        let read = String::from_utf8_lossy(&target.original).replace("\r\n", "\n");
        Some((read.trim_start_matches('\u{feff}').to_owned(), self.job.program(candidate)))
    }

    /// The comparison in view.
    pub fn comparison(&self) -> Option<Comparison> {
        let Base { against, texts: (old, new), .. } = self.base()?;
        // As it is shown, so that nothing in it stays unseen.
        let all = compare(&code(&old), &code(&new));
        Some(if against == Against::File { all.around(AROUND) } else { all })
    }

    /// The file with the focused candidate in it, and the line that its function begins on, from 0.
    pub fn preview(&self) -> Option<(String, usize)> {
        let candidate = self.run.as_ref()?.focused()?;
        let line = |target: &Target| target.line.saturating_sub(1) + target.moves_by(&candidate.text);
        let line = self.job.target().map_or(0, line);
        Some((self.job.program(&candidate.text), line))
    }

    /// Both texts stand side by side.
    pub fn is_split(&self) -> bool {
        self.diff.and_then(|diff| diff.split).unwrap_or(self.size.0 >= SPLIT)
    }
}

/// Opens the differences, or the file with the candidate in it.
pub fn open(state: &mut State, preview: bool) {
    let Some(candidate) = state.run.as_ref().and_then(|run| run.focused()) else { return };
    if candidate.text.trim().is_empty() {
        state.say("there is nothing to show yet");
        return;
    }
    if preview {
        // Lines above may be wrapped into many rows.
        let top = state.preview().map_or(0, |(content, line)| {
            let rows = text::rows(&content, state.size.0.into(), state.wrap, 0);
            rows.iter().position(|row| row.line + 3 >= line).unwrap_or(0)
        });
        state.diff = Some(Diff { top, preview, ..Diff::OPEN });
    } else if state.bases().is_empty() {
        state.say("there is nothing to compare with: no other candidate, and no body in the file");
    } else {
        state.diff = Some(Diff::OPEN);
    }
}

/// An action of the view.
pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let Some(mut diff) = state.diff else { return Vec::new() };
    let page = usize::from(state.size.1 / 2).max(1);
    let hunks = state.comparison().map_or(0, |comparison| comparison.hunks);
    match action {
        Action::LineUp => diff.top = diff.top.saturating_sub(1),
        Action::LineDown => diff.top = (diff.top + 1).min(10_000),
        Action::PageUp => diff.top = diff.top.saturating_sub(page),
        Action::PageDown => diff.top = (diff.top + page).min(10_000),
        Action::Split => {
            diff.split = Some(!state.is_split());
            state.say(if diff.split == Some(true) { "side by side" } else { "one below the other" });
        }
        Action::Base => {
            let bases = state.bases();
            let now = state.base().map(|base| base.against);
            let at = bases.iter().position(|base| Some(*base) == now).map_or(0, |at| at + 1);
            if bases.len() < 2 {
                let mark = state.key_name(Context::Diff, Action::Mark);
                state.say(format!("there is nothing else to compare with; {mark} marks a candidate"));
            }
            (diff.against, diff.top, diff.hunk) = (bases.get(at % bases.len().max(1)).copied(), 0, 0);
        }
        Action::NextHunk => diff.hunk = (diff.hunk + 1).min(hunks.saturating_sub(1)),
        Action::PreviousHunk => diff.hunk = diff.hunk.min(hunks.saturating_sub(1)).saturating_sub(1),
        Action::TakeHunk => return take_change(state),
        _ => {}
    }
    state.diff = Some(diff);
    Vec::new()
}

/// Makes a candidate of the focused one in which one change is as in the other text.
fn take_change(state: &mut State) -> Vec<Effect> {
    let Some((base, diff)) = state.base().zip(state.diff) else { return Vec::new() };
    let hunks = state.comparison().map_or(0, |comparison| comparison.hunks);
    let Some(run) = &state.run else { return Vec::new() };
    if run.focused().is_none_or(Candidate::is_live) {
        state.say("it is still being written");
        return Vec::new();
    }
    if hunks == 0 {
        state.say(format!("{} and {} do not differ", label(run.focus), base.name));
        return Vec::new();
    }
    let text = without_change(&base.texts.0, &base.texts.1, diff.hunk.min(hunks - 1));
    let (run, of) = (run.id, run.focus);
    // Of a whole file the candidate is the body in it.
    let body = match state.job.target().filter(|_| base.against == Against::File && state.has_file()) {
        Some(target) => target.candidate_in(&text).map(|(body, _)| body).map_err(|why| why.to_string()),
        None => Ok(text),
    };
    match body {
        Ok(text) => vec![Effect::Add { run, of, text }],
        Err(why) => {
            state.fail(why);
            Vec::new()
        }
    }
}
