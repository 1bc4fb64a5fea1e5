//! Layouts by size and by what candidates need.

use proptest::prelude::*;

use super::panes::fill;
use super::*;

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
fn the_last_page_of_a_grid_is_filled() {
    let layout = of_texts((80, 24), Wants { arrangement: Arrangement::Grid, focus: 15, ..wants(16) }, &[20; 16], 30);
    let seen: Vec<(usize, u16)> = layout.panes.iter().map(|pane| (pane.candidate, pane.area.x)).collect();
    assert_eq!(seen, [(10, 0), (11, 0), (12, 0), (13, 40), (14, 40), (15, 40)]);
    assert!(layout.panes.iter().all(|pane| pane.area.height >= 6), "{:?}", layout.panes);
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
