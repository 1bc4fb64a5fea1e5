//! Panes in columns: as high as each needs, or of equal size; on pages where not all fit.

use std::ops::Range;

use ratatui::layout::Rect;

use super::{COLUMNS, GUTTER, Layout, Measure, NOTE, Pane, ROWS, Regime, Wants, take_top};

/// Fewest columns of code in panes that are not all seen together.
const PAGE_COLUMNS: u16 = 36;
/// Most rows that code which is cut anyway gives up for its note.
const GIVEN: usize = 2;

/// A number of rows as a height.
pub(super) fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// The most panes side by side that have so many columns of code each.
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
pub(super) fn fill(heights: &[u16], room: u16) -> Vec<Range<usize>> {
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
pub(super) fn fit(layout: &mut Layout, rest: Rect, wants: Wants, measure: &Measure) -> bool {
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
pub(super) fn slots(layout: &mut Layout, rest: Rect, wants: Wants, measure: &Measure) -> bool {
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
    let page = columns * each;
    let focus = wants.shown.iter().position(|&c| c == wants.focus).unwrap_or(0);
    let from = focus / page * page;
    // The last page may have fewer: they fill it, too.
    let seen = page.min(n - from);
    let each = seen.div_ceil(columns);
    layout.panes = equal(area, (seen.div_ceil(each), each), from..from + seen, wants, measure);
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
pub(super) fn columns(layout: &mut Layout, rest: Rect, wants: Wants, measure: &Measure) -> bool {
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
