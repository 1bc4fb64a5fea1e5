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

use std::ops::Range;

use ratatui::layout::Rect;

/// Columns of code that are comfortable (most lines are shorter), and the fewest of a pane beside another.
const COLUMNS: (u16, u16) = (44, 24);
/// Fewest columns of code in panes that are not all seen together.
const PAGE_COLUMNS: u16 = 36;
/// Rows of a pane that are comfortable while text flows, and the fewest, with the header.
const ROWS: (u16, u16) = (7, 4);
/// Columns left of the code of a pane.
const GUTTER: u16 = 1;
/// Most rows of a note that code or other panes could use.
const NOTE: usize = 3;
/// Most rows that code which is cut anyway gives up for its note.
const GIVEN: usize = 2;

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

/// A number of rows as a height.
fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// The fewest columns of panes, one pane wide and so on, that leave each so many columns of code.
fn side_by_side(width: u16, candidates: usize, least: u16) -> usize {
    usize::from(width / (least + GUTTER)).clamp(1, candidates.max(1))
}

/// The left edge of column `at` of `columns`, from that of the first.
fn edge(width: u16, columns: usize, at: usize) -> u16 {
    (usize::from(width) * at / columns) as u16
}

/// Heights of all panes in so many columns with notes of so many rows, and the price of that: how often a
/// line is wrapped, and how many rows of notes are left out.
fn heights(width: u16, columns: usize, notes: usize, wants: Wants, measure: &Measure) -> (Vec<u16>, usize) {
    let code = (width / columns as u16).saturating_sub(GUTTER);
    let mut price = 0;
    let height = |&candidate: &usize| {
        let (own, note) = ((measure.code)(candidate, code), (measure.note)(candidate, code).min(NOTE));
        price += 2 * own.saturating_sub((measure.code)(candidate, u16::MAX)) + note.saturating_sub(notes);
        rows(1 + note.min(notes) + own.max(1))
    };
    (wants.shown.iter().map(height).collect(), price)
}

/// Fills columns of `room` rows one after the other; returns the panes of each.
fn fill(heights: &[u16], room: u16) -> Vec<Range<usize>> {
    let (mut out, mut from, mut used) = (Vec::new(), 0, 0_u16);
    for (at, &height) in heights.iter().enumerate() {
        if at > from && used.saturating_add(height) > room {
            out.push(from..at);
            (from, used) = (at, 0);
        }
        used = used.saturating_add(height);
    }
    out.push(from..heights.len());
    out
}

/// Columns of panes in `area`.
fn place(
    area: Rect,
    columns: usize,
    filled: &[Range<usize>],
    heights: &[u16],
    wants: Wants,
    notes: &[u16],
) -> Vec<Pane> {
    let mut panes = Vec::new();
    for (column, range) in filled.iter().enumerate() {
        let (x, end) = (edge(area.width, columns, column), edge(area.width, columns, column + 1));
        let mut y = area.y;
        for at in range.clone() {
            let height = heights[at].min(area.bottom() - y);
            let area = Rect::new(area.x + x, y, end - x, height);
            panes.push(Pane { candidate: wants.shown[at], area, note: notes[at].min(height.saturating_sub(1)) });
            y += height;
        }
    }
    panes
}

/// Each candidate gets what it needs. Returns false if there is not even room for pages.
fn fit(layout: &mut Layout, rest: Rect, wants: Wants, measure: &Measure) -> bool {
    let folded = if wants.prompt_rows == 0 { layout.prompt.height } else { 0 };
    let status = if folded == layout.prompt.height { layout.status.height } else { 0 };
    let most = side_by_side(rest.width, wants.shown.len(), COLUMNS.1);
    for more in [0, folded, folded + status] {
        let area = Rect { height: rest.height + more, ..rest };
        let choices = (1..=most).flat_map(|columns| [NOTE, 1, 0].map(|notes| (columns, notes)));
        let tried = choices.filter_map(|(columns, notes)| {
            let (heights, price) = heights(area.width, columns, notes, wants, measure);
            let fits = |room: u16| heights.iter().all(|&h| h <= room) && fill(&heights, room).len() <= columns;
            // The lowest that fits: columns of about equal height.
            let room = (1..=area.height).find(|&room| fits(room))?;
            let code = area.width / columns as u16 - GUTTER;
            let order = if code >= COLUMNS.0 { most - columns } else { most + columns };
            Some(((price, order), columns, notes, heights, room))
        });
        let Some((_, columns, notes, heights, room)) = tried.min_by_key(|tried| tried.0) else { continue };
        if more > 0 {
            layout.prompt = Rect::ZERO;
        }
        if more > folded {
            layout.status = Rect::ZERO;
        }
        let filled = fill(&heights, room);
        // Places that would stay empty make the others wider.
        let columns = filled.len().min(columns);
        let code = (area.width / columns as u16).saturating_sub(GUTTER);
        let wanted = |at: usize| rows((measure.note)(wants.shown[at], code));
        let mut notes: Vec<u16> = (0..wants.shown.len()).map(|at| wanted(at).min(rows(notes))).collect();
        let mut heights = heights;
        grow(&filled, area.height, (&mut heights, &mut notes), wanted);
        layout.regime = Regime::Panes;
        layout.panes = place(area, columns, &filled, &heights, wants, &notes);
        return true;
    }
    paged(layout, Rect { height: rest.height + folded, ..rest }, folded, wants, measure)
}

/// Gives the rows that columns have left to the notes of their panes.
fn grow(filled: &[Range<usize>], room: u16, panes: (&mut [u16], &mut [u16]), wanted: impl Fn(usize) -> u16) {
    let (heights, notes) = panes;
    for range in filled {
        let mut left = heights[range.clone()].iter().fold(room, |left, &height| left.saturating_sub(height));
        for at in range.clone() {
            let more = wanted(at).saturating_sub(notes[at]).min(left);
            (notes[at], heights[at], left) = (notes[at] + more, heights[at] + more, left - more);
        }
    }
}

/// Rows that a pane gives up for its note, whose code needs so many rows with the header.
fn given(height: u16, needed: u16, wanted: u16) -> u16 {
    if needed > height && height >= ROWS.1 { wanted.min(rows(GIVEN)) } else { 0 }
}

/// The page with the focused candidate, under a strip with the states of all.
fn paged(layout: &mut Layout, mut area: Rect, folded: u16, wants: Wants, measure: &Measure) -> bool {
    if area.height < 2 * ROWS.1 {
        return false;
    }
    let strip = take_top(&mut area, 1);
    let most = side_by_side(area.width, wants.shown.len(), PAGE_COLUMNS);
    let tried = (1..=most).map(|columns| {
        let (needed, price) = heights(area.width, columns, 0, wants, measure);
        let heights: Vec<u16> = needed.iter().map(|&height| height.min(area.height)).collect();
        let filled = fill(&heights, area.height);
        ((filled.len().div_ceil(columns), price), columns, (heights, needed), filled)
    });
    let Some((_, columns, (mut heights, needed), filled)) = tried.min_by_key(|tried| tried.0) else { return false };
    let focus = wants.shown.iter().position(|&c| c == wants.focus).unwrap_or(0);
    let Some(page) = filled.chunks(columns).find(|page| page.iter().any(|range| range.contains(&focus))) else {
        return false;
    };
    layout.regime = Regime::Panes;
    layout.strip = strip;
    if folded > 0 {
        layout.prompt = Rect::ZERO;
    }
    // The last page may have fewer columns: they are wider, and notes get the rows that are left.
    let code = (area.width / page.len() as u16).saturating_sub(GUTTER);
    let wanted = |at: usize| rows((measure.note)(wants.shown[at], code));
    let mut notes: Vec<u16> = (0..heights.len()).map(|at| given(heights[at], needed[at], wanted(at))).collect();
    grow(page, area.height, (&mut heights, &mut notes), wanted);
    layout.panes = place(area, page.len(), page, &heights, wants, &notes);
    true
}

/// Equal places; if not all candidates get one, the page with the focused one, if that shows four at least.
fn slots(layout: &mut Layout, rest: Rect, wants: Wants, measure: &Measure) -> bool {
    let n = wants.shown.len();
    let most = side_by_side(rest.width, n, COLUMNS.1);
    let comfort = |columns: usize, rows: u16| {
        let share = |own: u16, wished: u16| u32::from(own.min(wished)) * 1000 / u32::from(wished);
        share(rest.width / columns as u16 - GUTTER, COLUMNS.0) * share(rows, ROWS.0)
    };
    let fitting = (1..=most).filter_map(|columns| {
        let height = rest.height / rows(n.div_ceil(columns));
        (height >= ROWS.1).then(|| (comfort(columns, height), columns))
    });
    layout.regime = Regime::Panes;
    if let Some((_, columns)) = fitting.max() {
        // Fewer columns with as many rows would leave holes: spread evenly.
        let each = n.div_ceil(columns);
        layout.panes = equal(rest, (n.div_ceil(each), each), 0..n, wants, measure);
        return true;
    }
    let folded = if wants.prompt_rows == 0 { layout.prompt.height } else { 0 };
    let mut area = Rect { height: rest.height + folded, ..rest };
    let strip = take_top(&mut area, 1);
    let columns = side_by_side(area.width, n, PAGE_COLUMNS);
    let each = usize::from(area.height / ROWS.1);
    if columns * each < 4 {
        return false;
    }
    layout.strip = strip;
    if folded > 0 {
        layout.prompt = Rect::ZERO;
    }
    let focus = wants.shown.iter().position(|&c| c == wants.focus).unwrap_or(0);
    let from = focus / (columns * each) * (columns * each);
    layout.panes = equal(area, (columns, each), from..(from + columns * each).min(n), wants, measure);
    true
}

/// Columns of `each` panes of equal size, filled with these candidates. Notes get the rows that code leaves,
/// and some of code that is cut.
fn equal(area: Rect, (columns, each): (usize, usize), of: Range<usize>, wants: Wants, measure: &Measure) -> Vec<Pane> {
    let until = |at: usize| (usize::from(area.height) * at / each) as u16;
    let pane = |(at, candidate): (usize, &usize)| {
        let (column, row) = (at / each, at % each);
        let (x, end) = (edge(area.width, columns, column), edge(area.width, columns, column + 1));
        let area = Rect::new(area.x + x, area.y + until(row), end - x, until(row + 1) - until(row));
        let code = area.width.saturating_sub(GUTTER);
        let needed = rows(1 + (measure.code)(*candidate, code).max(1));
        let wanted = rows((measure.note)(*candidate, code));
        let note = wanted.min(area.height.saturating_sub(needed)).max(given(area.height, needed, wanted));
        Pane { candidate: *candidate, area, note }
    };
    wants.shown[of].iter().enumerate().map(pane).collect()
}

/// Whole columns side by side.
fn columns(layout: &mut Layout, rest: Rect, wants: Wants, measure: &Measure) -> bool {
    let n = wants.shown.len();
    let columns = side_by_side(rest.width, n, PAGE_COLUMNS);
    if rest.height < ROWS.1 + 1 {
        return false;
    }
    let mut area = rest;
    if columns < n {
        layout.strip = take_top(&mut area, 1);
    }
    let focus = wants.shown.iter().position(|&c| c == wants.focus).unwrap_or(0);
    let from = (focus / columns * columns).min(n - columns);
    layout.regime = Regime::Panes;
    layout.panes = equal(area, (columns, 1), from..from + columns, wants, measure);
    for pane in &mut layout.panes {
        let code = pane.area.width.saturating_sub(GUTTER);
        let note = rows((measure.note)(pane.candidate, code).min(NOTE)).min(pane.area.height - ROWS.1);
        pane.note = pane.note.max(note);
    }
    true
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [usize; 64] = {
        let mut all = [0; 64];
        let mut at = 0;
        while at < 64 {
            all[at] = at;
            at += 1;
        }
        all
    };

    fn wants(candidates: usize) -> Wants<'static> {
        Wants { shown: &ALL[..candidates], ..Wants::default() }
    }

    /// A layout of texts of so many lines, all `width` columns wide, without notes.
    fn of_texts(size: (u16, u16), wants: Wants, lines: &[usize], width: usize) -> Layout {
        let code = |c: usize, columns: u16| lines[c] * width.div_ceil(usize::from(columns.max(1)));
        arrange(size.0, size.1, wants, &Measure { code: &code, note: &|_, _| 0 })
    }

    /// A layout of candidates that are being written.
    fn writing(width: u16, height: u16, candidates: usize) -> Layout {
        of_texts((width, height), Wants { writing: true, ..wants(candidates) }, &[3; 64], 30)
    }

    fn columns_of(layout: &Layout) -> usize {
        let mut edges: Vec<u16> = layout.panes.iter().map(|pane| pane.area.x).collect();
        edges.dedup();
        edges.len()
    }

    #[test]
    fn notes_get_the_rows_that_code_leaves() {
        let wants = Wants { arrangement: Arrangement::Grid, ..wants(2) };
        let notes = |code: usize| {
            let layout = arrange(80, 24, wants, &Measure { code: &|_, _| code, note: &|_, _| 2 });
            layout.panes.iter().map(|pane| pane.note).collect::<Vec<_>>()
        };
        assert_eq!((notes(3), notes(100)), (vec![2, 2], vec![2, 2]), "code that is cut gives up rows");
    }

    #[test]
    fn a_body_on_a_page_gives_up_rows_for_its_note() {
        let notes = |code: usize, note: usize| {
            let layout = arrange(80, 24, wants(2), &Measure { code: &|_, _| code, note: &|_, _| note });
            let pane = layout.panes[0];
            (pane.note, layout.inner(pane).height)
        };
        assert_eq!((notes(61, 9), notes(61, 1), notes(61, 0)), ((2, 17), (1, 18), (0, 19)));
    }

    #[test]
    fn long_notes_get_rows_that_are_free() {
        let layout = arrange(80, 24, wants(2), &Measure { code: &|_, _| 3, note: &|_, _| 7 });
        assert_eq!(layout.panes.iter().map(|pane| pane.note).collect::<Vec<_>>(), [7, 5]);
    }

    #[test]
    fn regimes_by_size() {
        let cases = [
            (112, 30, 4, Regime::Panes, 2),
            (248, 30, 4, Regime::Panes, 4),
            (80, 24, 1, Regime::Panes, 1),
            (80, 24, 2, Regime::Panes, 1),
            (80, 24, 4, Regime::Panes, 2),
            (80, 24, 8, Regime::Panes, 2),
            (80, 24, 16, Regime::Panes, 2),
            (112, 30, 8, Regime::Panes, 2),
            (200, 50, 8, Regime::Panes, 4),
            (200, 50, 16, Regime::Panes, 4),
            (200, 50, 64, Regime::Panes, 6),
            (40, 24, 2, Regime::Panes, 1),
            (50, 12, 4, Regime::Panes, 2),
            (80, 12, 8, Regime::Panes, 2),
            (50, 10, 8, Regime::List, 1),
            (20, 4, 8, Regime::List, 0),
            (19, 4, 8, Regime::Floor, 0),
            (80, 3, 8, Regime::Floor, 0),
            (1, 1, 1, Regime::Floor, 0),
        ];
        for (w, h, n, regime, columns) in cases {
            let layout = writing(w, h, n);
            assert_eq!((layout.regime, columns_of(&layout)), (regime, columns), "{w}x{h}, N={n}");
        }
    }

    #[test]
    fn as_many_candidates_as_fit_are_seen_together() {
        for (w, h, n, seen) in [
            (80, 24, 8, 8),
            (112, 30, 8, 8),
            (200, 50, 16, 16),
            (80, 24, 16, 10),
            (112, 30, 64, 18),
            (200, 50, 64, 64),
            (80, 14, 8, 4),
        ] {
            let layout = writing(w, h, n);
            assert_eq!(layout.panes.len(), seen, "{w}x{h}, N={n}");
            assert_eq!(layout.strip.is_empty(), seen == n, "the others are in the strip");
        }
    }

    #[test]
    fn bodies_get_the_rows_they_need() {
        let lines = [9, 2, 2, 2, 2, 2, 2, 2];
        let layout = of_texts((80, 24), wants(8), &lines, 36);
        assert_eq!(layout.panes.len(), 8);
        for (candidate, rows) in lines.iter().enumerate() {
            assert_eq!(usize::from(layout.code(candidate).height), *rows, "{candidate}");
        }
        assert_eq!(columns_of(&layout), 2);
        // In one column no line is wrapped.
        let wide = of_texts((80, 24), wants(3), &[3, 3, 3], 70);
        assert_eq!((columns_of(&wide), wide.code(0).width), (1, 79));
    }

    #[test]
    fn the_prompt_and_the_figures_make_room_for_bodies() {
        let room = |lines: &[usize]| {
            let layout = of_texts((80, 24), wants(2), lines, 79);
            (layout.strip.is_empty(), layout.prompt.height, layout.status.height)
        };
        assert_eq!(room(&[9, 9]), (true, 1, 1));
        assert_eq!(room(&[10, 9]), (true, 0, 1));
        assert_eq!(room(&[10, 10]), (true, 0, 0));
        assert_eq!(room(&[11, 10]), (false, 0, 1), "pages");
    }

    #[test]
    fn notes_are_shown_where_bodies_leave_room() {
        let note = |lines: usize| {
            let measure = Measure { code: &|_, _| lines, note: &|_, _| 3 };
            let layout = arrange(40, 24, wants(2), &measure);
            (layout.panes[0].note, layout.panes.len())
        };
        assert_eq!((note(5), note(8), note(9), note(10)), ((3, 2), (1, 2), (0, 2), (0, 2)));
    }

    #[test]
    fn pages_hold_the_focus() {
        for focus in 0..8 {
            let layout = of_texts((80, 24), Wants { focus, ..wants(8) }, &[9; 8], 36);
            assert!(layout.pane(focus).is_some() && !layout.strip.is_empty(), "{focus}");
        }
    }

    #[test]
    fn neighbours_are_where_they_are_seen() {
        let layout = writing(80, 24, 8);
        let at = |from, direction| layout.neighbour(from, direction);
        assert_eq!((at(0, (0, 1)), at(0, (1, 0)), at(0, (0, -1)), at(0, (-1, 0))), (Some(1), Some(4), None, None));
        assert_eq!((at(7, (0, -1)), at(7, (-1, 0)), at(3, (0, 1))), (Some(6), Some(3), None));
    }

    #[test]
    fn a_zoomed_pane_has_nothing_beside_it() {
        let layout = of_texts((80, 24), Wants { focus: 2, zoom: true, ..wants(4) }, &[3; 4], 30);
        assert_eq!(layout.panes.len(), 1);
        assert_eq!(layout.code(2).width, 80);
    }

    proptest! {
        #[test]
        fn nothing_overlaps_or_leaves_the_terminal(
            (width, height) in (1u16..=300, 1u16..=100), candidates in 0usize..=64, focus in 0usize..64, writing: bool,
            prompt_rows in 0u16..20, zoom: bool, results: bool, lines in proptest::collection::vec(0usize..80, 64),
            wide in 1usize..120, arrangement in 0usize..4, diff: bool,
        ) {
            let focus = focus % candidates.max(1);
            let arrangement = Arrangement::ALL[arrangement].0;
            let wants = Wants { focus, arrangement, writing, prompt_rows, zoom, results, diff, ..wants(candidates) };
            let layout = of_texts((width, height), wants, &lines, wide);
            let mut all = vec![
                layout.title, layout.strip, layout.list, layout.results, layout.diff, layout.prompt, layout.status, layout.footer,
            ];
            all.extend(layout.panes.iter().map(|pane| pane.area));
            all.retain(|r| !r.is_empty());
            prop_assert!(!all.is_empty(), "something is always shown");
            for (i, a) in all.iter().enumerate() {
                prop_assert!(a.right() <= width && a.bottom() <= height, "{a:?} outside {width}x{height}");
                for b in &all[i + 1..] {
                    prop_assert!(!a.intersects(*b), "{a:?} and {b:?} overlap at {width}x{height}");
                }
            }
            if layout.regime == Regime::Panes {
                prop_assert!(layout.panes.len() == candidates || !layout.strip.is_empty(), "what is not seen has a name");
                for &pane in &layout.panes {
                    let inner = layout.inner(pane);
                    prop_assert!(pane.area.intersection(inner) == inner && inner.height > 0, "{inner:?}");
                    if writing && layout.strip.is_empty() {
                        let still = of_texts((width, height), Wants { focus: pane.candidate, ..wants }, &[0; 64], 1);
                        prop_assert_eq!(still.code(pane.candidate), inner, "neither text nor cursor moves panes");
                    }
                }
            }
            if matches!(layout.regime, Regime::Panes | Regime::Zoom) && layout.diff.is_empty() {
                prop_assert!(layout.pane(focus).is_some(), "the focused candidate is shown");
            }
        }

        #[test]
        fn every_body_is_whole_where_all_fit(
            columns in 1usize..8, candidates in 1usize..=64, wide in 1usize..60, more in (0u16..40, 0u16..6),
            lines in proptest::collection::vec(1usize..12, 64),
        ) {
            // A terminal in which all fit below each other in so many columns, without notes, prompt and
            // figures.
            let width = columns as u16 * (COLUMNS.1 + 2) + more.0;
            let code = usize::from(width) / columns - 1;
            let heights: Vec<u16> = lines[..candidates].iter().map(|l| 1 + (l * wide.div_ceil(code)) as u16).collect();
            let fits = |room: &u16| heights.iter().all(|h| h <= room) && fill(&heights, *room).len() <= columns;
            let height = ((1..=u16::MAX).find(fits).unwrap() + 2 + more.1).max(14);
            let layout = of_texts((width, height), wants(candidates), &lines, wide);
            prop_assert_eq!(layout.panes.len(), candidates);
            for (candidate, lines) in lines[..candidates].iter().enumerate() {
                let inner = layout.code(candidate);
                let need = lines * wide.div_ceil(usize::from(inner.width));
                prop_assert!(usize::from(inner.height) >= need, "{candidate} has {inner:?} and needs {need}");
            }
        }
    }
}
