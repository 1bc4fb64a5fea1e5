//! Scenes of the screen, drawn on a buffer and compared with what was accepted.

mod panes;
mod start;
mod verdicts;
mod views;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::Look;
use crate::engine::Event;
use crate::trial::Status;
use crate::tui::app::fixture::{Session, body};
use crate::tui::app::{Msg, State, picker};
use crate::tui::highlight::Highlights;
use crate::tui::theme::{Depth, Theme};
use crate::untrusted::is_invisible;

/// Bodies as a model writes them.
const BODIES: [&str; 4] = [
    "    running = None\n    result = []\n    for n in numbers:\n        if running is None or n > running:\n            running = n\n        result.append(running)\n    return result\n",
    "    if not numbers:\n        return None\n    out = [numbers[0]]\n    for n in numbers[1:]:\n        out.append(max(out[-1], n))\n    return out\n",
    "    best = float(\"-inf\")\n    result = []\n    for n in numbers:\n\tbest = max(best, n)  # a comment too long for a pane of this width, so that it is cut\n        result.append(best)\n    return result\n",
    "    from itertools import accumulate\n\n    return list(accumulate(numbers, max))\n",
];

/// Draws at a size, and checks that nothing hostile reached a cell.
pub fn draw(state: &State, width: u16, height: u16) -> Buffer {
    draw_in(state, width, height, Depth::True)
}

fn draw_in(state: &State, width: u16, height: u16, depth: Depth) -> Buffer {
    draw_with(state, width, height, &Theme::find("dark", std::path::Path::new(""), false, depth).unwrap())
}

/// Draws with the colours of a theme.
pub fn draw_with(state: &State, width: u16, height: u16, theme: &Theme) -> Buffer {
    let highlights = Highlights::plain();
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let look = Look { state, theme, highlights: &highlights };
    terminal
        .draw(|frame| {
            super::draw(frame, &look);
            theme.paint(frame.buffer_mut());
        })
        .unwrap();
    let buffer = terminal.backend().buffer().clone();
    for cell in buffer.content() {
        assert!(!cell.symbol().chars().any(is_invisible), "{:?} in a cell", cell.symbol());
    }
    buffer
}

/// The characters of a buffer.
pub fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut skip = 0;
        let mut line = String::new();
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = crate::tui::text::width(symbol).saturating_sub(1);
            } else {
                skip -= 1;
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn scene(session: &mut Session, width: u16, height: u16) -> String {
    session.send(Msg::Resize(width, height));
    text(&draw(&session.state, width, height))
}

/// Candidates in the middle of being written.
pub fn streaming(n: usize) -> Session {
    let mut session = Session::tested(n);
    session.key("g");
    session.event(Event::Prefill { done: 31, total: 31 });
    for step in 0..5 {
        for candidate in 0..n {
            let piece: String = BODIES[candidate % 4].chars().skip(step * 17).take(17).collect();
            session.tokens(candidate, &piece);
        }
        session.now += 40;
        session.step(n);
    }
    session
}

/// All ended: a pass, a failure, a duplicate, a pass that came later.
pub fn finished(n: usize) -> Session {
    let mut session = streaming(n);
    for candidate in 0..n {
        // D writes what A wrote.
        let text =
            BODIES.get(candidate % 3).filter(|_| candidate < 4).map_or_else(|| body(candidate), |b| (*b).to_owned());
        session.finish(candidate, &text);
    }
    session.done();
    session.verdict(1, Status::Failed, "rolling_max([]): expected [], got None");
    session.verdict(2, Status::Passed, "2 checks");
    session.verdict(0, Status::Passed, "2 checks");
    for (candidate, status) in
        (4..n).zip([Status::Timeout, Status::Error, Status::Killed, Status::Tampered].into_iter().cycle())
    {
        session.verdict(candidate, status, "what was seen");
    }
    session.wait(10_000);
    session
}

/// The picker over a start screen, with the text of its first function.
pub fn choosing() -> Session {
    let mut found = picker::tests::functions();
    let many = (0..30).map(|n| picker::Found {
        path: "src/deep/er/in/the/tree/of/folders/of_a_large_shop/orders.py".into(),
        shown: "src/deep/er/in/the/tree/of/folders/of_a_large_shop/orders.py".to_owned(),
        name: format!("Orders.with_a_name_that_is_rather_long_{n}"),
        line: 10 * n + 1,
        rank: 3,
        ..found[0].clone()
    });
    found.extend(many.collect::<Vec<_>>());
    found[3].name.push_str("\u{202e}\u{1b}[2J");
    let mut session = picker::tests::picking(found);
    let text = "def median(numbers):\n    \"\"\"The middle number.\n\n    >>> median([3, 1, 2])\n    2\n    \"\"\"\n";
    let text = Ok(text.to_owned());
    session.send(Msg::Preview(picker::Preview { path: "src/stats.py".into(), line: 12, text }));
    session
}
