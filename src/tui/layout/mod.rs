//! Where everything goes: pure arithmetic on the size of the terminal. Knows nothing of what is drawn.
//!
//! - A pane has a header, a note (why its tests failed), and code behind a gutter of one column. It has no
//!   other border, so that code gets the cells. A note competes for up to three rows, and has more where
//!   they are free.
//! - Panes fill columns from top to bottom, in the order of the candidates, while text flows as well as
//!   after.
//! - While text flows all panes have equal places. Afterwards each gets what it needs, with as few wrapped
//!   lines as possible; where that is not enough, notes, the folded prompt and the line of figures make room,
//!   in this order. What still does not fit is on pages.

mod panes;
#[cfg(test)]
mod tests;

use ratatui::layout::Rect;

use panes::{columns, fit, rows, slots};

/// Columns of code that are comfortable (most lines are shorter), and the fewest of a pane beside another.
const COLUMNS: (u16, u16) = (44, 24);
/// Rows of a pane that are comfortable while text flows, and the fewest, with the header.
const ROWS: (u16, u16) = (7, 4);
/// Columns left of the code of a pane.
const GUTTER: u16 = 1;
/// Most rows of a note that code or other panes could use.
const NOTE: usize = 3;

/// How the candidates are arranged, as the user likes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// Each gets what it needs.
    #[default]
    Fit,
    /// Equal places for all.
    Grid,
    /// Whole columns side by side.
    Columns,
    /// A line for each, and the text of the focused one.
    List,
}

impl Arrangement {
    /// All of them with their names, in the order they follow each other.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Fit, "fit"), (Self::Grid, "grid"), (Self::Columns, "columns"), (Self::List, "list")];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }

    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|(own, _)| *own == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()].0
    }
}

/// How the candidates are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// No candidates yet: the prompt has the space.
    Start,
    /// Panes side by side; where not all fit, the page with the focused one.
    Panes,
    /// The focused candidate alone, without a gutter: zoomed, or above its test results.
    Zoom,
    /// One line per candidate, and the text of the focused one.
    List,
    /// Room for one line only.
    Floor,
}

/// Inputs of the layout besides the size.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub struct Wants<'a> {
    /// The candidates that have a pane, in their order; none before the first generation.
    pub shown: &'a [usize],
    /// The focused one of them.
    pub focus: usize,
    pub arrangement: Arrangement,
    /// Text still flows: panes keep their places.
    pub writing: bool,
    /// Rows of the prompt while it is edited, 0 while it is folded.
    pub prompt_rows: u16,
    /// The focused candidate alone.
    pub zoom: bool,
    /// The panel with test results is open.
    pub results: bool,
    /// The view of differences is open.
    pub diff: bool,
}

/// Sizes of texts: of a candidate in so many columns.
pub struct Measure<'a> {
    /// Rows of its code.
    pub code: &'a dyn Fn(usize, u16) -> usize,
    /// Rows of its note, 0 if it has none.
    pub note: &'a dyn Fn(usize, u16) -> usize,
}

/// The place of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pane {
    pub candidate: usize,
    /// Header, note and code.
    pub area: Rect,
    /// Rows of the note under the header.
    pub note: u16,
}

/// Rectangles, without overlap and inside the terminal; empty ones are not drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How the candidates are shown.
    pub regime: Regime,
    /// Lines that are as in the pick are folded.
    pub folded: bool,
    /// First line: names.
    pub title: Rect,
    /// Strip with the states of all candidates, where not all have panes.
    pub strip: Rect,
    /// One line per candidate (list).
    pub list: Rect,
    pub panes: Vec<Pane>,
    /// Panel with test results.
    pub results: Rect,
    /// View of differences.
    pub diff: Rect,
    /// The prompt: folded, edited, or (at the start) whole.
    pub prompt: Rect,
    /// Figures.
    pub status: Rect,
    /// Key hints.
    pub footer: Rect,
}

impl Layout {
    /// The code of a pane: below its header and its note, right of its gutter.
    pub fn inner(&self, pane: Pane) -> Rect {
        let side = if self.regime == Regime::Panes { GUTTER } else { 0 };
        let top = 1 + pane.note;
        let area = pane.area;
        if area.width <= side || area.height <= top {
            return Rect::new(area.x, area.y, 0, 0);
        }
        Rect::new(area.x + side, area.y + top, area.width - side, area.height - top)
    }

    /// Returns true if so many candidates are seen at once, or one alone was asked for.
    pub fn is_whole(&self, shown: usize) -> bool {
        self.regime == Regime::Zoom || self.panes.len() >= shown
    }

    /// The code area of a candidate, empty when it is not shown.
    pub fn code(&self, candidate: usize) -> Rect {
        self.pane(candidate).map_or(Rect::ZERO, |pane| self.inner(pane))
    }

    /// The pane of a candidate, if it is shown.
    pub fn pane(&self, candidate: usize) -> Option<Pane> {
        self.panes.iter().copied().find(|pane| pane.candidate == candidate)
    }

    /// The shown candidate next to one in a direction: `(1, 0)` is right of it, `(0, -1)` above.
    pub fn neighbour(&self, of: usize, (right, down): (i32, i32)) -> Option<usize> {
        let middle = |area: Rect| {
            (i32::from(area.x) * 2 + i32::from(area.width), i32::from(area.y) * 2 + i32::from(area.height))
        };
        let from = self.pane(of)?.area;
        let (x, y) = middle(from);
        let beside = |area: Rect| {
            let (along, across) = if right == 0 {
                ((i32::from(area.y) - i32::from(from.y)) * down, (middle(area).0 - x).abs())
            } else {
                ((i32::from(area.x) - i32::from(from.x)) * right, (middle(area).1 - y).abs())
            };
            let overlaps = if right == 0 { area.x == from.x } else { true };
            (along > 0 && overlaps).then_some((along, across))
        };
        let others = self.panes.iter().filter_map(|pane| Some((beside(pane.area)?, pane.candidate)));
        others.min().map(|(_, candidate)| candidate)
    }
}

/// Cuts `rows` from the top of `rest`.
fn take_top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let cut = Rect { height: rows, ..*rest };
    rest.y += rows;
    rest.height -= rows;
    cut
}

/// Cuts `rows` from the bottom of `rest`.
fn take_bottom(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    rest.height -= rows;
    Rect { y: rest.y + rest.height, height: rows, ..*rest }
}

/// Arranges a terminal of `width` x `height` cells.
pub fn arrange(width: u16, height: u16, wants: Wants, measure: &Measure) -> Layout {
    let mut rest = Rect::new(0, 0, width, height);
    let none = Rect::ZERO;
    let mut layout = Layout {
        regime: Regime::Floor,
        folded: false,
        title: none,
        strip: none,
        list: none,
        panes: Vec::new(),
        results: none,
        diff: none,
        prompt: none,
        status: none,
        footer: none,
    };
    if width < 20 || height < 4 {
        layout.status = take_top(&mut rest, 1);
        return layout;
    }
    layout.title = take_top(&mut rest, 1);
    layout.footer = take_bottom(&mut rest, 1);
    if height >= 10 {
        layout.status = take_bottom(&mut rest, 1);
    }
    if wants.shown.is_empty() {
        layout.regime = Regime::Start;
        layout.prompt = rest;
        return layout;
    }
    // Editing always gets a row; the folded prompt is the first thing to go when rows are few.
    let folded = u16::from(height >= 14);
    let prompt_rows = if wants.prompt_rows > 0 { wants.prompt_rows.min(8).min(rest.height / 2).max(1) } else { folded };
    layout.prompt = take_bottom(&mut rest, prompt_rows);
    if wants.diff {
        layout.regime = Regime::Zoom;
        let strip = u16::from(wants.shown.len() > 1 && rest.height > ROWS.1);
        layout.strip = take_top(&mut rest, strip);
        layout.diff = rest;
        return layout;
    }
    let whole = |candidate: usize, columns: u16| rows(1 + (measure.code)(candidate, columns));
    if wants.results {
        // Above it the text of a candidate, if that leaves half the rows; moving to another one moves
        // nothing.
        let most = if rest.height >= 24 { rest.height / 2 } else { 0 };
        let highest = wants.shown.iter().map(|&c| whole(c, rest.width)).max().unwrap_or(0);
        let above = if wants.writing { most } else { most.min(highest) };
        let rows = rest.height - above;
        layout.results = take_bottom(&mut rest, rows);
        if rest.height == 0 {
            layout.regime = Regime::List;
            return layout;
        }
    }
    if wants.zoom || wants.results {
        layout.regime = Regime::Zoom;
        let strip = u16::from(wants.shown.len() > 1 && !wants.results && rest.height > ROWS.1);
        layout.strip = take_top(&mut rest, strip);
        let notes = if wants.results { 0 } else { (measure.note)(wants.focus, rest.width) };
        let free = rest.height.saturating_sub(whole(wants.focus, rest.width));
        let note = if rest.height > ROWS.1 { rows(notes).min(free.max(rows(NOTE))) } else { 0 };
        if !wants.writing {
            rest.height = rest.height.min(whole(wants.focus, rest.width) + note);
        }
        layout.panes.push(Pane { candidate: wants.focus, area: rest, note });
        return layout;
    }
    let is_done = match wants.arrangement {
        Arrangement::Fit if !wants.writing => fit(&mut layout, rest, wants, measure),
        Arrangement::Fit | Arrangement::Grid => slots(&mut layout, rest, wants, measure),
        Arrangement::Columns => columns(&mut layout, rest, wants, measure),
        Arrangement::List => false,
    };
    if !is_done {
        list(&mut layout, rest, wants);
    }
    layout
}

/// A line for each candidate, and the text of the focused one.
fn list(layout: &mut Layout, mut rest: Rect, wants: Wants) {
    layout.regime = Regime::List;
    let count = rows(wants.shown.len());
    // A third of the rows, two at least, show code; the smallest terminals show states only.
    let lines = if rest.height < 4 { rest.height } else { count.min(rest.height - (rest.height / 3).max(2)) };
    layout.list = take_top(&mut rest, lines);
    if rest.height > 1 {
        layout.panes.push(Pane { candidate: wants.focus, area: rest, note: 0 });
    }
}
