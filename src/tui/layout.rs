//! Where everything goes: pure arithmetic on the size of the terminal. Knows nothing of what is drawn.

use ratatui::layout::Rect;

/// Columns of code that are comfortable (most lines are shorter).
const COMFORTABLE: u16 = 60;
/// Fewest columns and rows of code in a pane.
const LEAST: (u16, u16) = (38, 6);

/// How the candidates are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// No candidates yet: the prompt has the space.
    Start,
    /// All side by side.
    Grid {
        /// Panes next to each other.
        columns: u16,
        /// Panes above each other.
        rows: u16,
    },
    /// One pane, and a strip with the state of all.
    Tabs,
    /// One line per candidate, and the last lines of the focused one.
    List,
    /// Room for one line only.
    Floor,
}

/// What the arithmetic depends on besides the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Number of candidates; 0 before the first generation.
    pub candidates: usize,
    /// The focused candidate.
    pub focus: usize,
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
    /// Strip of all candidates (tabs).
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
    /// Rows and columns of code in a candidate's rectangle, borders taken off.
    pub fn inner(&self, pane: Rect, zoom: bool) -> Rect {
        inner(self.regime, pane, zoom)
    }

    /// The code area of the focused candidate, empty when it is not shown.
    pub fn code(&self, focus: usize, zoom: bool) -> Rect {
        self.panes.iter().find(|(c, _)| *c == focus).map_or(Rect::ZERO, |&(_, r)| self.inner(r, zoom))
    }
}

/// Takes borders off: a list's detail has a rule above, a zoomed pane a title and a bottom line, others four sides.
fn inner(regime: Regime, r: Rect, zoom: bool) -> Rect {
    let (side, top, bottom) = match regime {
        Regime::List => (0, 1, 0),
        Regime::Floor | Regime::Start => (0, 0, 0),
        Regime::Grid { .. } | Regime::Tabs => (u16::from(!zoom), 1, 1),
    };
    let width = r.width.saturating_sub(2 * side);
    let height = r.height.saturating_sub(top + bottom);
    if width == 0 || height == 0 {
        return Rect::new(r.x, r.y, 0, 0);
    }
    Rect::new(r.x + side, r.y + top, width, height)
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
pub fn arrange(width: u16, height: u16, wants: Wants) -> Layout {
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
        let rows = if rest.height >= 24 { rest.height / 2 } else { rest.height };
        layout.results = take_bottom(&mut rest, rows);
        if rest.height == 0 {
            layout.regime = Regime::List;
            return layout;
        }
    }
    layout.regime = regime(rest, height, wants.candidates);
    match layout.regime {
        _ if wants.zoom => {
            layout.regime = Regime::Tabs;
            layout.panes.push((wants.focus, rest));
        }
        Regime::Grid { columns, rows } => layout.panes = grid(rest, columns, rows, wants.candidates),
        Regime::Tabs => {
            layout.strip = take_top(&mut rest, 1);
            layout.panes.push((wants.focus, rest));
        }
        _ => {
            let count = u16::try_from(wants.candidates).unwrap_or(u16::MAX);
            // At least a third of the rows, and never fewer than two, show code; in the smallest terminals there are only states.
            let lines = if rest.height < 4 { rest.height } else { count.min(rest.height - (rest.height / 3).max(2)) };
            layout.list = take_top(&mut rest, lines);
            if rest.height > 1 {
                layout.panes.push((wants.focus, rest));
            }
        }
    }
    layout
}

fn regime(rest: Rect, height: u16, candidates: usize) -> Regime {
    let n = u16::try_from(candidates.max(1)).unwrap_or(u16::MAX);
    let fits = |columns: u16, least: u16| {
        let rows = n.div_ceil(columns);
        rest.width / columns >= least + 2 && rest.height / rows >= LEAST.1 + 2
    };
    let comfortable = (1..=n.min(rest.width / (COMFORTABLE + 2))).rev().find(|&c| fits(c, COMFORTABLE));
    let columns = comfortable.or_else(|| (1..=n.min(rest.width / (LEAST.0 + 2))).find(|&c| fits(c, LEAST.0)));
    match columns {
        Some(columns) => {
            // Fewer columns with as many rows would leave holes: spread evenly.
            let rows = n.div_ceil(columns);
            Regime::Grid { columns: n.div_ceil(rows), rows }
        }
        None if rest.width >= 40 && height >= 14 && rest.height >= 7 => Regime::Tabs,
        None => Regime::List,
    }
}

fn grid(area: Rect, columns: u16, rows: u16, candidates: usize) -> Vec<(usize, Rect)> {
    let cut = |whole: u16, parts: u16, i: u16| {
        let at = |i: u16| (u32::from(whole) * u32::from(i) / u32::from(parts)) as u16;
        (at(i), at(i + 1) - at(i))
    };
    (0..candidates)
        .map(|c| {
            let (row, column) = ((c / usize::from(columns)) as u16, (c % usize::from(columns)) as u16);
            let (x, w) = cut(area.width, columns, column);
            let (y, h) = cut(area.height, rows, row);
            (c, Rect::new(area.x + x, area.y + y, w, h))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(width: u16, height: u16, candidates: usize) -> Layout {
        arrange(width, height, Wants { candidates, ..Wants::default() })
    }

    #[test]
    fn regimes_by_size() {
        let cases = [
            (112, 30, 4, Regime::Grid { columns: 2, rows: 2 }),
            (248, 30, 4, Regime::Grid { columns: 4, rows: 1 }),
            (80, 24, 4, Regime::Grid { columns: 2, rows: 2 }),
            (80, 24, 8, Regime::Tabs),
            (200, 50, 8, Regime::Grid { columns: 3, rows: 3 }),
            (300, 100, 8, Regime::Grid { columns: 4, rows: 2 }),
            (50, 12, 4, Regime::List),
            (40, 12, 8, Regime::List),
            (20, 4, 8, Regime::List),
            (19, 4, 8, Regime::Floor),
            (80, 3, 8, Regime::Floor),
            (1, 1, 1, Regime::Floor),
            (80, 24, 1, Regime::Grid { columns: 1, rows: 1 }),
        ];
        for (w, h, n, regime) in cases {
            assert_eq!(at(w, h, n).regime, regime, "{w}x{h}, N={n}");
        }
    }

    #[test]
    fn a_zoomed_pane_has_no_side_borders() {
        let layout = arrange(80, 24, Wants { candidates: 4, focus: 2, zoom: true, ..Wants::default() });
        assert_eq!(layout.panes.len(), 1);
        assert_eq!(layout.code(2, true).width, 80);
    }

    proptest! {
        #[test]
        fn nothing_overlaps_or_leaves_the_terminal(
            width in 1u16..=300, height in 1u16..=100, candidates in 0usize..=64, focus in 0usize..64,
            prompt_rows in 0u16..20, zoom: bool, results: bool,
        ) {
            let focus = focus % candidates.max(1);
            let layout = arrange(width, height, Wants { candidates, focus, prompt_rows, zoom, results });
            let mut all = vec![layout.title, layout.strip, layout.list, layout.results, layout.prompt, layout.status, layout.footer];
            all.extend(layout.panes.iter().map(|p| p.1));
            all.retain(|r| !r.is_empty());
            prop_assert!(!all.is_empty(), "something is always shown");
            for (i, a) in all.iter().enumerate() {
                prop_assert!(a.right() <= width && a.bottom() <= height, "{a:?} outside {width}x{height}");
                for b in &all[i + 1..] {
                    prop_assert!(!a.intersects(*b), "{a:?} and {b:?} overlap at {width}x{height}");
                }
            }
            if matches!(layout.regime, Regime::Grid { .. } | Regime::Tabs) && candidates > 0 {
                prop_assert!(layout.panes.iter().any(|p| p.0 == focus), "the focused candidate is shown");
                for &(_, pane) in &layout.panes {
                    let inner = layout.inner(pane, zoom);
                    prop_assert!(inner.is_empty() || pane.intersection(inner) == inner);
                }
            }
            if let Regime::Grid { .. } = layout.regime {
                prop_assert_eq!(layout.panes.len(), candidates);
                for &(_, pane) in &layout.panes {
                    let inner = layout.inner(pane, false);
                    prop_assert!(inner.width >= 38 && inner.height >= 6, "{inner:?}");
                }
            }
        }
    }
}
