//! Every view with the style of each cell: a theme with colours of its own, the 16 colours of a terminal, and
//! none.

use std::fmt::Write as _;
use std::path::Path;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::scenes::{choosing, draw_with, finished, streaming, text};
use crate::job;
use crate::trial::{Assurance, Status, Verdict};
use crate::tui::app::Msg;
use crate::tui::app::calls::tests::called;
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::wish_tests;
use crate::tui::theme::{Depth, Theme};

/// Letters of styles, in the order in which they occur; the terminal's own style is a dot.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// Depths of colour to draw in: the name of the column in the legend, and the colours that the terminal has.
const DEPTHS: [(&str, Depth); 3] = [("truecolor", Depth::True), ("16 colours", Depth::Sixteen), ("none", Depth::None)];

fn theme(depth: Depth) -> Theme {
    Theme::find("tokyo-night", Path::new(""), false, depth).unwrap()
}

/// A style in words, without the colours that the whole screen has.
fn words(cell: &Cell, ground: &Cell) -> String {
    let blank = cell.symbol() == " " && !cell.modifier.intersects(Modifier::REVERSED | Modifier::UNDERLINED);
    let mut out = Vec::new();
    if cell.fg != ground.fg && !blank {
        out.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != ground.bg {
        out.push(format!("on {}", cell.bg.to_string().to_lowercase()));
    }
    if !blank {
        out.extend(cell.modifier.iter_names().map(|(name, _)| name.to_lowercase()));
    }
    out.join(" ")
}

/// The text of a view, a letter for the style of each cell in the rows that have any, and what the letters
/// are in each depth of colour. The text must be the same in all.
fn look(session: &mut Session, width: u16, height: u16) -> String {
    session.send(Msg::Resize(width, height));
    let drawn: Vec<(Buffer, Cell)> = DEPTHS
        .iter()
        .map(|&(_, depth)| {
            let theme = theme(depth);
            let mut ground = Buffer::empty(ratatui::layout::Rect::new(0, 0, 1, 1));
            theme.paint(&mut ground);
            (draw_with(&session.state, width, height, &theme), ground[(0, 0)].clone())
        })
        .collect();
    let mut out = text(&drawn[0].0);
    for (buffer, _) in &drawn[1..] {
        assert_eq!(text(buffer), out, "colour adds nothing that words do not say");
    }
    let mut styles: Vec<Vec<String>> = Vec::new();
    out.push_str("\nstyles\n");
    for y in 0..height {
        let letter = |x: u16| {
            let style: Vec<String> = drawn.iter().map(|(buffer, ground)| words(&buffer[(x, y)], ground)).collect();
            if style.iter().all(String::is_empty) {
                return '.';
            }
            let known = styles.iter().position(|s| *s == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            LETTERS.chars().nth(known).unwrap_or('#')
        };
        let row: String = (0..width).map(letter).collect();
        if row.contains(|c| c != '.') {
            let _ = writeln!(out, "{y:>3} {}", row.trim_end_matches('.'));
        }
    }
    let wide = |at: usize| styles.iter().map(|s| s[at].len()).chain([DEPTHS[at].0.len()]).max().unwrap_or(0);
    let names = DEPTHS.map(|(name, _)| name.to_owned());
    let rows = [(' ', &names[..])].into_iter().chain(LETTERS.chars().zip(styles.iter().map(Vec::as_slice)));
    out.push('\n');
    for (letter, style) in rows {
        let row = format!("  {letter} {:<2$} | {:<3$} | ", style[0], style[1], wide(0), wide(1));
        let _ = writeln!(out, "{row}{}", style[2]);
    }
    out
}

/// Four candidates with verdicts, and two tests of which one tells them apart.
fn tested() -> Session {
    let mut session = finished(4);
    for (candidate, passed, message) in
        [(0, true, "2 checks"), (1, false, "rolling_max([]): expected [], got None"), (2, true, "2 checks")]
    {
        session.key(&(candidate + 1).to_string());
        session.key("T");
        let run = session.run().id;
        let checks = vec![("rolling_max([1, 3, 2])".to_owned(), true), ("rolling_max([])".to_owned(), passed)];
        let status = if passed { Status::Passed } else { Status::Failed };
        let assurance = Box::new(Assurance { checks, ..Assurance::default() });
        let verdict = Verdict { status, assurance, duration_ms: 40, message: message.into(), ..Verdict::not_run("") };
        session.send(Msg::Job { run, event: job::Event::Verdict { candidate, outcome: Ok(verdict) } });
    }
    session.key("1");
    session.wait(10_000);
    assert_eq!(session.run().matrix().len(), 2);
    session
}

fn keys(mut session: Session, keys: &[&str]) -> Session {
    for key in keys {
        session.key(key);
    }
    session
}

/// An earlier run, while the newest one is written.
fn earlier() -> Session {
    let mut session = Session::tested(2);
    session.key("g");
    session.send(Msg::Began { run: 1, at: 1000, when: "13:00".to_owned() });
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    session.verdict(0, Status::Passed, "2 checks");
    session.verdict(1, Status::Failed, "no");
    session.key("R");
    session.tokens(0, "    retu");
    session.key("[");
    session.wait(10_000);
    session
}

fn asking() -> Session {
    let job = job::Job::from_text(PROMPT, &job::TestsChoice::Auto).unwrap();
    let mut session = Session::on(job, 4);
    session.open(false);
    session.key("g");
    session.finish(0, &body(0));
    session
}

#[test]
fn every_view_has_its_styles() {
    let views: Vec<(&str, (u16, u16), Session)> = vec![
        ("start", (80, 24), Session::tested(8)),
        ("picker", (80, 24), choosing()),
        ("writing", (80, 24), streaming(4)),
        ("finished", (80, 24), keys(tested(), &["2"])),
        ("page", (80, 14), keys(finished(8), &["6"])),
        ("list", (80, 24), keys(tested(), &["v", "v", "v", "2"])),
        ("columns", (112, 20), keys(tested(), &["v", "v", "3"])),
        ("diff", (80, 24), keys(tested(), &["2", "d"])),
        ("diff-split", (132, 20), keys(tested(), &["3", "d"])),
        ("preview", (80, 24), keys(tested(), &["p"])),
        ("results", (80, 24), keys(tested(), &["2", "t"])),
        ("calls", (80, 24), keys(called(), &["b", "2"])),
        ("answer", (80, 24), keys(called(), &["b", "=", "ctrl-a", "ctrl-k", "[", "enter"])),
        ("answered", (80, 24), keys(called(), &["b", "2", "esc"])),
        ("wish", (80, 24), wish_tests::written("also accept None")),
        ("wish-start", (80, 24), keys(wish_tests::bodied(4), &["I"])),
        ("wish-typed", (80, 24), keys(wish_tests::written("also accept None"), &["I"])),
        ("question", (80, 24), asking()),
        ("help", (80, 24), keys(streaming(4), &["?"])),
        ("zoom", (80, 24), keys(tested(), &["2", "z"])),
        ("search", (80, 24), keys(tested(), &["/", "r", "e", "s", "u", "enter"])),
        ("earlier-run", (80, 24), earlier()),
        ("failure", (80, 14), {
            let mut session = streaming(2);
            session.event(crate::engine::Event::Failed("the model ran out of memory".into()));
            session
        }),
    ];
    for (name, (width, height), mut session) in views {
        insta::assert_snapshot!(format!("look_{name}"), look(&mut session, width, height));
    }
}

/// Cells of a screen without colours.
fn plain(session: &mut Session) -> Buffer {
    session.send(Msg::Resize(112, 30));
    let buffer = draw_with(&session.state, 112, 30, &theme(Depth::None));
    assert!(buffer.content().iter().all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset)));
    buffer
}

#[test]
fn focus_and_differences_are_seen_without_colours() {
    let mut session = tested();
    let at = |buffer: &Buffer, word: &str| {
        let lines = text(buffer);
        let (y, line) = lines.lines().enumerate().find(|(_, line)| line.contains(word)).unwrap();
        buffer[(line[..line.find(word).unwrap()].chars().count() as u16, y as u16)].clone()
    };
    session.key("2");
    let before = plain(&mut session);
    session.key("3");
    let after = plain(&mut session);
    for (word, here, gone) in [("B  FAIL", &before, &after), ("C  PASS", &after, &before)] {
        assert!(at(here, word).modifier.contains(Modifier::REVERSED), "{word} in focus");
        assert!(!at(gone, word).modifier.contains(Modifier::REVERSED), "{word} out of focus");
    }
    let heavy = |buffer: &Buffer| text(buffer).matches('┃').count();
    assert!(heavy(&before) > 0 && heavy(&after) > 0, "and by its border");
    assert!(at(&after, "PICK").modifier.contains(Modifier::REVERSED), "the pick");
    session.key("d");
    let diff = plain(&mut session);
    assert!(text(&diff).contains('+') && text(&diff).contains('-'));
    let changed = diff.content().iter().filter(|cell| cell.modifier.contains(Modifier::UNDERLINED)).count();
    assert!(changed > 0, "the words that differ:\n{}", text(&diff));
}
