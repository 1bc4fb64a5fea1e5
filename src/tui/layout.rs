//! Where everything goes: pure arithmetic on the size of the terminal. Knows nothing of what is drawn.

use std::ops::Range;

use ratatui::layout::Rect;

/// Columns of code that are comfortable (most lines are shorter), and the fewest of a pane beside another.
const COLUMNS: (u16, u16) = (60, 38);
/// Rows of code that are comfortable, and the fewest of a pane.
const ROWS: (u16, u16) = (6, 3);
/// Columns or rows that a border takes.
const BORDER: u16 = 2;

/// How the candidates are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// No candidates yet: the prompt has the space.
    Start,
    /// Panes side by side; where not all fit, the page with the focused one.
    Grid {
        /// Panes next to each other.
        columns: usize,
    },
    /// The focused candidate alone, without side borders: zoomed, or above its test results.
    Zoom,
    /// One line per candidate, and the text of the focused one.
    List,
    /// Room for one line only.
    Floor,
}

/// Inputs of the layout besides the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Number of candidates; 0 before the first generation.
    pub candidates: usize,
    pub focus: usize,
    /// Text still flows: panes keep their places.
    pub writing: bool,
    /// Rows of the prompt while it is edited, 0 while it is folded.
    pub prompt_rows: u16,
    /// The focused candidate alone.
    pub zoom: bool,
    /// The panel with test results is open.
    pub results: bool,
}

/// Rectangles, without overlap and inside the terminal; empty ones are not drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How the candidates are shown.
    pub regime: Regime,
    /// First line: names.
    pub title: Rect,
    /// Strip with the states of all candidates, where not all have panes.
    pub strip: Rect,
    /// One line per candidate (list).
    pub list: Rect,
    /// Candidates and their rectangles.
    pub panes: Vec<(usize, Rect)>,
    /// Panel with test results.
    pub results: Rect,
    /// The prompt: folded, edited, or (at the start) whole.
    pub prompt: Rect,
    /// Figures.
    pub status: Rect,
    /// Key hints.
    pub footer: Rect,
}

impl Layout {
    /// Where the code of a pane goes: inside of its border.
    pub fn inner(&self, pane: Rect) -> Rect {
        let (side, top, bottom) = match self.regime {
            Regime::List => (0, 1, 0),
            Regime::Floor | Regime::Start => (0, 0, 0),
            Regime::Zoom => (0, 1, 1),
            Regime::Grid { .. } => (1, 1, 1),
        };
        let width = pane.width.saturating_sub(2 * side);
        let height = pane.height.saturating_sub(top + bottom);
        if width == 0 || height == 0 {
            return Rect::new(pane.x, pane.y, 0, 0);
        }
        Rect::new(pane.x + side, pane.y + top, width, height)
    }

    /// The code area of a candidate, empty when it is not shown.
    pub fn code(&self, candidate: usize) -> Rect {
        self.panes.iter().find(|(c, _)| *c == candidate).map_or(Rect::ZERO, |&(_, r)| self.inner(r))
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

/// Arranges a terminal of `width` x `height` cells. `rows_of(candidate, columns)`: how many rows its text
/// takes.
pub fn arrange(width: u16, height: u16, wants: Wants, rows_of: &dyn Fn(usize, u16) -> usize) -> Layout {
    let mut rest = Rect::new(0, 0, width, height);
    let none = Rect::ZERO;
    let mut layout = Layout {
        regime: Regime::Floor,
        title: none,
        strip: none,
        list: none,
        panes: Vec::new(),
        results: none,
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
    if wants.candidates == 0 {
        layout.regime = Regime::Start;
        layout.prompt = rest;
        return layout;
    }
    // Editing always gets a row; the folded prompt is the first thing to go when rows are few.
    let folded = u16::from(height >= 14);
    let prompt_rows = if wants.prompt_rows > 0 { wants.prompt_rows.min(8).min(rest.height / 2).max(1) } else { folded };
    layout.prompt = take_bottom(&mut rest, prompt_rows);
    if wants.results {
        // Above it the text of a candidate, if that leaves half the rows; moving to another one moves
        // nothing.
        let most = if rest.height >= 24 { rest.height / 2 } else { 0 };
        let highest = (0..wants.candidates).map(|c| need(rows_of(c, rest.width))).max().unwrap_or(0);
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
        let strip = u16::from(wants.candidates > 1 && !wants.results && rest.height > ROWS.1 + BORDER);
        layout.strip = take_top(&mut rest, strip);
        if !wants.writing {
            rest.height = rest.height.min(need(rows_of(wants.focus, rest.width)));
        }
        layout.panes.push((wants.focus, rest));
    } else if let Some(columns) = columns(rest, wants.candidates) {
        layout.regime = Regime::Grid { columns };
        layout.panes = grid(rest, columns, wants, rows_of);
    } else {
        paged(&mut layout, rest, wants, rows_of);
    }
    layout
}

/// How many panes stand side by side when all fit: comfortably wide ones if there are rows for that.
fn columns(rest: Rect, candidates: usize) -> Option<usize> {
    let most = |columns: u16| candidates.min(usize::from(rest.width / (columns + BORDER)));
    let fits = |columns: &usize, rows: u16| {
        usize::from(rest.height) / candidates.div_ceil(*columns) >= usize::from(rows + BORDER)
    };
    let found = (1..=most(COLUMNS.0)).rev().find(|c| fits(c, ROWS.0));
    let found = found.or_else(|| (1..=most(COLUMNS.1)).find(|c| fits(c, ROWS.0)));
    let found = found.or_else(|| (1..=most(COLUMNS.1)).rev().find(|c| fits(c, ROWS.1)))?;
    // Fewer columns with as many rows would leave holes: spread evenly.
    Some(candidates.div_ceil(candidates.div_ceil(found)))
}

/// Not all candidates are sure to fit: as many panes as do if they are four at least, else a list.
fn paged(layout: &mut Layout, mut rest: Rect, wants: Wants, rows_of: &dyn Fn(usize, u16) -> usize) {
    let columns = usize::from(rest.width / (COLUMNS.1 + BORDER));
    let folded = if wants.prompt_rows == 0 { layout.prompt.height } else { 0 };
    if columns >= 2 && rest.height + folded > 2 * (ROWS.1 + BORDER) {
        layout.regime = Regime::Grid { columns };
        layout.panes = grid(rest, columns, wants, rows_of);
        if layout.panes.len() < wants.candidates {
            // The strip takes the place of the folded prompt.
            if folded > 0 {
                layout.prompt = Rect::ZERO;
                rest.height += folded;
            }
            layout.strip = take_top(&mut rest, 1);
            layout.panes = grid(rest, columns, wants, rows_of);
        }
        return;
    }
    layout.regime = Regime::List;
    let count = u16::try_from(wants.candidates).unwrap_or(u16::MAX);
    // A third of the rows, two at least, show code; the smallest terminals show states only.
    let lines = if rest.height < 4 { rest.height } else { count.min(rest.height - (rest.height / 3).max(2)) };
    layout.list = take_top(&mut rest, lines);
    if rest.height > 1 {
        layout.panes.push((wants.focus, rest));
    }
}

/// Rows of panes; if not all fit, the page of rows that holds the focused candidate.
fn grid(area: Rect, columns: usize, wants: Wants, rows_of: &dyn Fn(usize, u16) -> usize) -> Vec<(usize, Rect)> {
    let at = |i: usize| (usize::from(area.width) * i / columns) as u16;
    let of_row = |row: usize| row * columns..((row + 1) * columns).min(wants.candidates);
    let rows = |row: usize| {
        let rows = of_row(row).map(|c| rows_of(c, at(c % columns + 1) - at(c % columns) - BORDER));
        // While text flows nothing is known, and nothing is to move.
        if wants.writing { usize::from(ROWS.1) } else { rows.max().unwrap_or(0) }
    };
    let needs: Vec<u16> = (0..wants.candidates.div_ceil(columns)).map(|row| need(rows(row))).collect();
    let focus = wants.focus / columns;
    let shown = page(area.height, &needs, focus);
    let heights = if wants.writing {
        let until = |i: usize| usize::from(area.height) * i / shown.len();
        (0..shown.len()).map(|i| (until(i + 1) - until(i)) as u16).collect()
    } else {
        heights(area.height, &needs[shown.clone()], focus - shown.start)
    };
    let mut panes = Vec::new();
    let mut y = area.y;
    for (row, height) in shown.zip(heights) {
        for (i, c) in of_row(row).enumerate() {
            panes.push((c, Rect::new(area.x + at(i), y, at(i + 1) - at(i), height)));
        }
        y += height;
    }
    panes
}

/// The height of a pane whose text has so many rows.
fn need(rows: usize) -> u16 {
    u16::try_from(rows.max(1)).unwrap_or(u16::MAX).saturating_add(BORDER)
}

/// The least height of a row that needs `need`.
fn least(need: u16) -> u16 {
    need.min(ROWS.1 + BORDER)
}

/// The page of rows that holds `focus`. Pages are filled from the first row on, the last one from its end.
fn page(room: u16, needs: &[u16], focus: usize) -> Range<usize> {
    let fits = |rows: Range<usize>| needs[rows].iter().map(|&n| least(n)).sum::<u16>() <= room;
    let (mut first, mut end) = (0, 1);
    while end < needs.len() && (fits(first..end + 1) || end <= focus) {
        if !fits(first..end + 1) {
            first = end;
        }
        end += 1;
    }
    while end == needs.len() && first > 0 && fits(first - 1..end) {
        first -= 1;
    }
    first..end
}

/// Heights that come to at most `room`. What is short goes to the focused row first, then to the lowest.
fn heights(room: u16, needs: &[u16], focus: usize) -> Vec<u16> {
    let mut heights: Vec<u16> = needs.iter().map(|&n| least(n)).collect();
    let mut spare = room.saturating_sub(heights.iter().sum());
    let more = spare.min(needs[focus] - heights[focus]);
    heights[focus] += more;
    spare -= more;
    for _ in 0..spare {
        let short = (0..needs.len()).filter(|&i| heights[i] < needs[i]);
        let Some(lowest) = short.min_by_key(|&i| heights[i]) else { break };
        heights[lowest] += 1;
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A layout of candidates that all have texts of three lines.
    fn at(width: u16, height: u16, candidates: usize) -> Layout {
        arrange(width, height, Wants { candidates, ..Wants::default() }, &|_, _| 3)
    }

    #[test]
    fn regimes_by_size() {
        let cases = [
            (112, 30, 4, Regime::Grid { columns: 2 }),
            (248, 30, 4, Regime::Grid { columns: 4 }),
            (80, 24, 1, Regime::Grid { columns: 1 }),
            (80, 24, 2, Regime::Grid { columns: 1 }),
            (80, 24, 4, Regime::Grid { columns: 2 }),
            (80, 24, 8, Regime::Grid { columns: 2 }),
            (80, 24, 16, Regime::Grid { columns: 2 }),
            (112, 30, 8, Regime::Grid { columns: 2 }),
            (200, 50, 8, Regime::Grid { columns: 3 }),
            (200, 50, 16, Regime::Grid { columns: 4 }),
            (200, 50, 64, Regime::Grid { columns: 5 }),
            (300, 100, 8, Regime::Grid { columns: 4 }),
            (40, 24, 2, Regime::Grid { columns: 1 }),
            (40, 24, 8, Regime::List),
            (50, 12, 4, Regime::List),
            (80, 12, 8, Regime::List),
            (20, 4, 8, Regime::List),
            (19, 4, 8, Regime::Floor),
            (80, 3, 8, Regime::Floor),
            (1, 1, 1, Regime::Floor),
        ];
        for (w, h, n, regime) in cases {
            assert_eq!(at(w, h, n).regime, regime, "{w}x{h}, N={n}");
        }
    }

    #[test]
    fn as_many_candidates_as_fit_are_seen_together() {
        for (w, h, n, seen) in [
            (80, 24, 8, 8),
            (112, 30, 8, 8),
            (200, 50, 16, 16),
            (80, 24, 16, 8),
            (112, 30, 64, 10),
            (200, 50, 64, 45),
            (80, 14, 8, 4),
        ] {
            let layout = at(w, h, n);
            assert_eq!(layout.panes.len(), seen, "{w}x{h}, N={n}");
            assert_eq!(layout.strip.is_empty(), seen == n, "the others are in the strip");
        }
    }

    #[test]
    fn eight_bodies_of_three_lines_are_whole_at_80x24() {
        for writing in [false, true] {
            let layout = arrange(80, 24, Wants { candidates: 8, writing, ..Wants::default() }, &|_, _| 3);
            for candidate in 0..8 {
                let code = layout.code(candidate);
                assert!(code.height >= 3 && code.width >= 38, "{candidate}: {code:?}");
            }
        }
    }

    #[test]
    fn rows_get_what_they_need_and_share_what_is_too_little() {
        let cases: [(u16, &[u16], usize, &[u16]); 7] = [
            (20, &[5, 5, 5, 5], 0, &[5, 5, 5, 5]),
            (26, &[5, 7, 5, 6], 0, &[5, 7, 5, 6]),
            (26, &[9, 9, 9, 9], 1, &[6, 9, 6, 5]),
            (26, &[30, 30, 5, 5], 3, &[8, 8, 5, 5]),
            (26, &[30, 30, 5, 5], 0, &[11, 5, 5, 5]),
            (20, &[9, 9, 3, 3], 2, &[7, 7, 3, 3]),
            (40, &[5, 5], 0, &[5, 5]),
        ];
        for (room, needs, focus, expected) in cases {
            assert_eq!(heights(room, needs, focus), expected, "{room} rows for {needs:?}, focus {focus}");
        }
    }

    #[test]
    fn pages_are_full_and_hold_the_focus() {
        let cases: [(u16, &[u16], usize, Range<usize>); 6] = [
            (20, &[9; 4], 3, 0..4),
            (20, &[9; 8], 3, 0..4),
            (20, &[9; 8], 4, 4..8),
            (20, &[9; 7], 6, 3..7),
            (20, &[3; 8], 6, 2..8),
            (20, &[3, 3, 9, 9, 9, 9], 0, 0..4),
        ];
        for (room, needs, focus, expected) in cases {
            assert_eq!(page(room, needs, focus), expected, "{room} rows for {needs:?}, focus {focus}");
        }
    }

    #[test]
    fn a_zoomed_pane_has_no_side_borders() {
        let layout = arrange(80, 24, Wants { candidates: 4, focus: 2, zoom: true, ..Wants::default() }, &|_, _| 3);
        assert_eq!(layout.panes.len(), 1);
        assert_eq!(layout.code(2).width, 80);
    }

    proptest! {
        #[test]
        fn nothing_overlaps_or_leaves_the_terminal(
            (width, height) in (1u16..=300, 1u16..=100), candidates in 0usize..=64, focus in 0usize..64, writing: bool,
            prompt_rows in 0u16..20, zoom: bool, results: bool, lines in proptest::collection::vec(0usize..80, 64),
        ) {
            let focus = focus % candidates.max(1);
            let wants = Wants { candidates, focus, writing, prompt_rows, zoom, results };
            let layout = arrange(width, height, wants, &|c, _| lines[c]);
            let mut all = vec![
                layout.title, layout.strip, layout.list, layout.results, layout.prompt, layout.status, layout.footer,
            ];
            all.extend(layout.panes.iter().map(|p| p.1));
            all.retain(|r| !r.is_empty());
            prop_assert!(!all.is_empty(), "something is always shown");
            for (i, a) in all.iter().enumerate() {
                prop_assert!(a.right() <= width && a.bottom() <= height, "{a:?} outside {width}x{height}");
                for b in &all[i + 1..] {
                    prop_assert!(!a.intersects(*b), "{a:?} and {b:?} overlap at {width}x{height}");
                }
            }
            if let Regime::Grid { columns } = layout.regime {
                prop_assert!(layout.panes.len() == candidates || !layout.strip.is_empty(), "what is not seen has a name");
                for &(c, pane) in &layout.panes {
                    let inner = layout.inner(pane);
                    prop_assert!(pane.intersection(inner) == inner && inner.height > 0, "{inner:?}");
                    prop_assert!(inner.width >= COLUMNS.1 || columns == 1, "{inner:?}");
                    let row = c / columns * columns..(c / columns + 1) * columns;
                    let need = lines[row.start..row.end.min(candidates)].iter().copied().max().unwrap_or(0).max(1);
                    let own = usize::from(inner.height);
                    prop_assert!(own >= need.min(ROWS.1.into()), "{c} has {own} of {need} rows");
                    prop_assert!(writing || own <= need, "{c} has {own} rows and needs {need}");
                    if writing && layout.strip.is_empty() {
                        let still = arrange(width, height, Wants { focus: c, ..wants }, &|_, _| 0);
                        prop_assert_eq!(still.code(c), inner, "neither text nor cursor moves panes while text flows");
                    }
                }
            }
            if matches!(layout.regime, Regime::Grid { .. } | Regime::Zoom) {
                prop_assert!(layout.panes.iter().any(|p| p.0 == focus), "the focused candidate is shown");
            }
        }
    }
}
