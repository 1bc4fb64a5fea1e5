//! The view of differences: the focused candidate against a marked one, the file, the pick, or another.

use ratatui::layout::Rect;

use super::candidate::Candidate;
use super::compare::{Comparison, Side, compare, without_change};
use super::effect::Effect;
use super::state::State;
use crate::code::Target;
use crate::job::label;
use crate::tui::keymap::{Action, Context};
use crate::tui::text::{self, DisplayRow};
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
    /// First row in view; `None` while it follows the change.
    pub top: Option<usize>,
    /// The change that `take` takes.
    pub hunk: usize,
    /// The whole file with the candidate in it instead.
    pub preview: bool,
}

impl Diff {
    const OPEN: Self = Self { against: None, split: None, top: None, hunk: 0, preview: false };
}

/// Columns from which both texts stand side by side.
const SPLIT: u16 = 120;
/// Fewest columns of an area that holds both.
const LEAST_SPLIT: u16 = 40;
/// Equal lines that are shown beside a change of the file.
const AROUND: usize = 3;

/// A row on the screen: parts of one line, or of two side by side.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub left: Option<(usize, DisplayRow)>,
    pub right: Option<(usize, DisplayRow)>,
}

/// The rows of the differences in an area.
#[derive(Debug)]
pub struct InView {
    /// The areas of both texts.
    pub sides: [Rect; 2],
    pub rows: Vec<Row>,
    /// The first row in view, and the last one that can be.
    pub top: usize,
    pub last: usize,
}

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
            Against::File => (self.word_for_file().to_owned(), self.in_file(own)?),
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

    /// The file is compared as it was read, which it is no longer once a candidate is in it.
    fn word_for_file(&self) -> &'static str {
        if self.can_undo() { "the file before" } else { "the file" }
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

    /// The rows of a comparison in an area. The current change is in view, unless the user scrolls.
    pub fn rows_of(&self, comparison: &Comparison, area: Rect) -> InView {
        let split = self.is_split() && area.width >= LEAST_SPLIT;
        let sides = sides(area, split);
        let rows = rows(comparison, sides, split, self.wrap);
        let height = usize::from(area.height);
        let last = rows.len().saturating_sub(height);
        let hunk = self.diff.map_or(0, |diff| diff.hunk).min(comparison.hunks.saturating_sub(1));
        let of_hunk = |row: &Row| {
            let lines = [row.left, row.right].into_iter().flatten();
            lines.into_iter().any(|(at, _)| comparison.lines[at].hunk == Some(hunk))
        };
        let follows = || rows.iter().position(of_hunk).unwrap_or(0).saturating_sub(height / 3);
        let top = self.diff.and_then(|diff| diff.top).unwrap_or_else(follows).min(last);
        InView { sides, rows, top, last }
    }

    /// The first row in view of the open view, and the last one that can be.
    fn scrolled(&self, diff: Diff) -> (usize, usize) {
        let area = inside(self.layout().diff);
        if !diff.preview {
            let rows = self.comparison().map(|comparison| self.rows_of(&comparison, area));
            return rows.map_or((0, 0), |rows| (rows.top, rows.last));
        }
        let content = self.preview().map_or_else(String::new, |(content, _)| content);
        let rows = text::rows(&content, area.width.into(), self.wrap, 0).len();
        let last = rows.saturating_sub(area.height.into());
        (diff.top.unwrap_or(0).min(last), last)
    }

    /// Both texts stand side by side.
    pub fn is_split(&self) -> bool {
        self.diff.and_then(|diff| diff.split).unwrap_or(self.size.0 >= SPLIT)
    }
}

/// The part of the view below its title.
pub fn inside(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

/// The areas of both texts; one below the other both have all columns.
fn sides(area: Rect, split: bool) -> [Rect; 2] {
    if !split {
        return [area, area];
    }
    let left = area.width / 2;
    [Rect { width: left, ..area }, Rect { x: area.x + left, width: area.width - left, ..area }]
}

/// The rows of all lines.
fn rows(comparison: &Comparison, sides: [Rect; 2], split: bool, wrap: bool) -> Vec<Row> {
    let parts = |at: usize, side: usize| -> Vec<(usize, DisplayRow)> {
        let columns = usize::from(sides[side].width.saturating_sub(2));
        let rows = text::rows(&comparison.lines[at].text, columns, wrap, 0);
        let empty = DisplayRow::whole(0);
        let rows = if rows.is_empty() { vec![empty] } else { rows };
        rows.into_iter().map(|row| (at, row)).collect()
    };
    let mut out = Vec::new();
    let mut from = 0;
    while from < comparison.lines.len() {
        let line = &comparison.lines[from];
        if !split {
            let side = usize::from(line.side != Side::Old);
            out.extend(parts(from, side).into_iter().map(|part| match line.side {
                Side::Old => Row { left: Some(part), right: None },
                _ => Row { left: None, right: Some(part) },
            }));
            from += 1;
            continue;
        }
        // The lines of a change stand beside each other.
        let hunk = line.hunk;
        let end = if hunk.is_none() {
            from + 1
        } else {
            (from..comparison.lines.len())
                .find(|&at| comparison.lines[at].hunk != hunk)
                .unwrap_or(comparison.lines.len())
        };
        let of = |side: Side| -> Vec<usize> {
            (from..end)
                .filter(|&at| comparison.lines[at].side == side || comparison.lines[at].side == Side::Both)
                .collect()
        };
        let (old, new) = (of(Side::Old), of(Side::New));
        for i in 0..old.len().max(new.len()) {
            let left = old.get(i).map_or_else(Vec::new, |&at| parts(at, 0));
            let right = new.get(i).map_or_else(Vec::new, |&at| parts(at, 1));
            let both = (0..left.len().max(right.len()))
                .map(|row| Row { left: left.get(row).copied(), right: right.get(row).copied() });
            out.extend(both);
        }
        from = end;
    }
    out
}

/// Opens the differences, or the file with the candidate in it.
pub fn open(state: &mut State, preview: bool) {
    if preview {
        // Lines above may be wrapped into many rows.
        let top = state.preview().map_or(0, |(content, line)| {
            let rows = text::rows(&content, state.size.0.into(), state.wrap, 0);
            rows.iter().position(|row| row.line + 3 >= line).unwrap_or(0)
        });
        state.diff = Some(Diff { top: Some(top), preview, ..Diff::OPEN });
    } else if state.bases().is_empty() {
        state.say("there is nothing to compare with: no other candidate, and no body in the file");
    } else {
        state.diff = Some(Diff::OPEN);
    }
}

/// An action of the view.
pub fn act(state: &mut State, action: Action) -> Vec<Effect> {
    let Some(mut diff) = state.diff else { return Vec::new() };
    let page = isize::from((state.size.1 / 2).max(1).cast_signed());
    let last_hunk = || state.comparison().map_or(0, |comparison| comparison.hunks).saturating_sub(1);
    let by = match action {
        Action::LineUp => -1,
        Action::PageUp => -page,
        Action::PageDown => page,
        _ => 1,
    };
    match action {
        Action::LineUp | Action::LineDown | Action::PageUp | Action::PageDown => {
            let (top, last) = state.scrolled(diff);
            diff.top = Some(top.saturating_add_signed(by).min(last));
        }
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
            (diff.against, diff.top, diff.hunk) = (bases.get(at % bases.len().max(1)).copied(), None, 0);
        }
        Action::NextHunk => (diff.hunk, diff.top) = ((diff.hunk + 1).min(last_hunk()), None),
        Action::PreviousHunk => (diff.hunk, diff.top) = (diff.hunk.min(last_hunk()).saturating_sub(1), None),
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
