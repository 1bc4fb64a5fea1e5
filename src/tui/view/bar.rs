//! A bar with the share that is done and the time that is left.

use crate::tui::app::progress::Progress;

/// Columns of the longest bar.
const LONGEST: usize = 24;
/// Columns of share and time behind the bar.
const WORDS: usize = 18;

/// `████████░░░░░░░░  50%, 3 s left`, in so many columns; without the bar where there is room for the share
/// only.
pub fn words(progress: &Progress, now: u64, columns: usize) -> String {
    let share = progress.share(now);
    let left = progress.seconds_left(now).map_or_else(String::new, |seconds| match seconds {
        0..100 => format!(", {seconds} s left"),
        _ => format!(", {} min left", seconds.div_ceil(60).min(99)),
    });
    let length = columns.saturating_sub(WORDS).min(LONGEST);
    let full = (share * length as f64).round() as usize;
    let bar = "█".repeat(full) + &"░".repeat(length - full);
    let words = format!("{bar} {:3.0}%{left}", (share * 100.0).floor());
    if length < 4 { words.trim_start_matches(['█', '░', ' ']).to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Event;
    use crate::job::{Job, TestsChoice};
    use crate::tui::app::Msg;
    use crate::tui::app::fixture::{PROMPT, Session};
    use crate::tui::app::state::State;
    use crate::tui::view::scenes::draw;

    fn shows(state: &State, words: &str) -> bool {
        let cells = draw(state, 80, 24);
        let text: String = cells.content().iter().map(ratatui::buffer::Cell::symbol).collect();
        text.contains(words)
    }

    #[test]
    fn loading_and_reading_have_a_bar_that_moves_by_itself() {
        let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
        session.state.picking.advice = Some("small built-in pair; stronger: bass-tui models pull big".to_owned());
        session.send(Msg::Opening { done: 0, total: 1000 });
        session.wait(500);
        session.send(Msg::Opening { done: 400, total: 1000 });
        assert!(shows(&session.state, "░  40%, 1 s left"));
        assert_eq!(session.state.wake_at(), Some(session.state.now + 100));
        session.wait(200);
        assert!(shows(&session.state, "█") && !shows(&session.state, " 40%"), "it goes on between two chunks");
        // Advice takes no key's place.
        assert!(shows(&session.state, "stronger: bass-tui models pull big") && shows(&session.state, "Enter generate"));
        session.open(true);
        assert!(!shows(&session.state, "█"));
        session.key("g");
        session.event(Event::Prefill { done: 0, total: 208 });
        session.wait(1000);
        session.event(Event::Prefill { done: 64, total: 208 });
        assert!(shows(&session.state, "reading 208 tokens ███") && shows(&session.state, " 30%, 3 s left"));
        session.wait(500);
        assert!(shows(&session.state, " 46%, 2 s left"));
    }

    #[test]
    fn a_bar_has_share_and_time_and_fits() {
        let mut progress = Progress::default();
        progress.told(0, 200, 0);
        assert_eq!(words(&progress, 0, 30), "░░░░░░░░░░░░   0%");
        progress.told(100, 200, 4000);
        assert_eq!(words(&progress, 4000, 30), "██████░░░░░░  50%, 4 s left");
        assert_eq!(words(&progress, 4000, 14), "50%, 4 s left");
        progress.told(200, 200, 9000);
        assert_eq!(words(&progress, 9000, 30), "████████████ 100%");
        let mut slow = Progress::default();
        slow.told(0, 1000, 0);
        slow.told(1, 1000, 1000);
        for columns in WORDS + 1..80 {
            assert!(words(&slow, 1000, columns).chars().count() <= columns, "{columns}");
        }
        assert!(words(&slow, 1000, 80).ends_with("0%, 17 min left"));
    }
}
