//! Finding candidates: by a text in them, which is brought into view, by their verdict, by passing.

use std::ops::Range;

use super::candidate::Scroll;
use super::run::Run;
use super::state::State;
use crate::job::label;
use crate::trial::Status;
use crate::tui::event::{Code, Key};
use crate::tui::line;
use crate::tui::text::{self, DisplayRow};

/// Verdicts that are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    All,
    Passed,
    Failed,
    /// Not run, or without a verdict.
    Open,
}

impl Filter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Passed,
            Self::Passed => Self::Failed,
            Self::Failed => Self::Open,
            Self::Open => Self::All,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Open => "not tested",
        }
    }

    /// The verdict of a candidate belongs to it.
    pub fn takes(self, status: Option<Status>) -> bool {
        match self {
            Self::All => true,
            Self::Passed => status == Some(Status::Passed),
            Self::Failed => status.is_some_and(|status| !matches!(status, Status::Passed | Status::NotRun)),
            Self::Open => status.is_none_or(|status| status == Status::NotRun),
        }
    }
}

/// Shows the candidates with the next kind of verdict that any has.
pub fn filter(state: &mut State) {
    let Some(run) = &mut state.run else { return };
    for _ in 0..4 {
        run.filter = run.filter.next();
        if run.filter == Filter::All || !run.shown().is_empty() {
            break;
        }
    }
    let name = run.filter.name();
    state.fold();
    state.say(format!("candidates shown: {name}"));
}

/// Moves to the next candidate, or the previous one, that passed. With a text to search for, to the next
/// place of it that is out of view, and then to the next candidate that has it.
pub fn next(state: &mut State, by: isize) {
    let seen = Seen::of_focused(state);
    if let Some(next) = seen.as_ref().and_then(|seen| seen.next(by)) {
        return show(state, next);
    }
    let Some(run) = &state.run else { return };
    let shown = run.shown();
    let at = shown.iter().position(|&c| c == run.focus).unwrap_or(0) as isize;
    let wanted = |c: usize| match &state.search {
        Some(search) => has(run, c, &search.text),
        None => run.passes(c),
    };
    let n = shown.len() as isize;
    let found = (1..n).map(|step| shown[(at + by * step).rem_euclid(n) as usize]).find(|&c| wanted(c));
    let here = wanted(run.focus);
    match (found, &state.search) {
        (Some(found), _) => {
            super::moving::focus_pane(state, found);
            let seen = Seen::of_focused(state);
            if let Some(first) = seen.as_ref().and_then(|seen| seen.first(by)) {
                show(state, first);
            }
        }
        (None, _) if here => {
            let words = format!("only {} does", label(run.focus));
            state.say(words);
            // From its last place to its first one.
            let is_partly_seen = |seen: &&Seen| !seen.places.iter().all(|place| seen.view.shows(place));
            if let Some(first) = seen.as_ref().filter(is_partly_seen).and_then(|seen| seen.wrapped(by)) {
                show(state, first);
            }
        }
        (None, Some(search)) => {
            let words = format!("no candidate contains {}", search.text);
            state.say(words);
        }
        (None, None) => state.say("no candidate has passed"),
    }
}

/// A text to search for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    pub text: String,
    /// It is being typed.
    pub typing: bool,
}

/// Takes a key in while the text is typed. Backspace in an empty one ends the search.
pub fn typed(state: &mut State, key: Key) {
    let Some(search) = state.search.as_mut() else { return };
    if !line::typed(&mut search.text, key) && key.code == Code::Backspace {
        state.search = None;
    }
}

/// Pasted text is searched for: its first line.
pub fn paste(state: &mut State, text: &str) {
    if let Some(search) = &mut state.search {
        line::paste(&mut search.text, text);
    }
}

/// Ends typing, and moves to the first candidate from the focused one on that has the text, and in it to a
/// place of it.
pub fn search(state: &mut State) {
    let Some(search) = &mut state.search else { return };
    search.typing = false;
    if search.text.is_empty() {
        state.search = None;
        return;
    }
    let text = search.text.clone();
    let Some(run) = &state.run else { return };
    let shown = run.shown();
    let found = shown.iter().filter(|&&candidate| has(run, candidate, &text)).count();
    if has(run, run.focus, &text) {
        let seen = Seen::of_focused(state);
        let is_out = |seen: &&Seen| !seen.places.iter().any(|place| seen.view.shows(place));
        let first = seen.as_ref().filter(is_out).and_then(|seen| seen.next(1).or_else(|| seen.wrapped(1)));
        if let Some(first) = first {
            show(state, first);
        }
    } else {
        next(state, 1);
    }
    if found > 0 {
        state.say(format!("{found} of {} have {}", shown.len(), text::one_line(&text)));
    }
}

/// Returns true if a line of a candidate has a text.
fn has(run: &Run, candidate: usize, search: &str) -> bool {
    let has = |line: &str| matches(line, search).next().is_some();
    run.candidates.get(candidate).is_some_and(|candidate| candidate.shown.lines().any(has))
}

/// The places of a search text in a line. Lower case finds both cases.
pub fn matches<'a>(line: &'a str, search: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let folds = !search.chars().any(char::is_uppercase);
    let is_same = move |found: char, wanted: char| found == wanted || folds && lower(found) == wanted;
    let end_at = move |at: usize| {
        let mut rest = line[at..].char_indices();
        let is_here = search.chars().all(|wanted| rest.next().is_some_and(|(_, found)| is_same(found, wanted)));
        is_here.then(|| at + rest.offset())
    };
    let mut behind = 0;
    let starts = line.char_indices().map(|(at, _)| at).filter(|_| !search.is_empty());
    starts.filter_map(move |at| {
        let end = end_at(at).filter(|_| at >= behind)?;
        behind = end;
        Some(at..end)
    })
}

/// The lower case of a character, where it is one character.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// A place of the searched text in a pane that is not scrolled.
struct Place {
    row: usize,
    /// Its columns, and those of its line.
    start: usize,
    end: usize,
    line: usize,
}

/// The places of a text in these rows of `content`.
fn places(content: &str, search: &str, rows: &[DisplayRow]) -> Vec<Place> {
    let mut all = Vec::new();
    for (number, line) in content.lines().enumerate() {
        let columns = |end: usize| text::width(&text::shown(&line[..end]));
        let first = rows.partition_point(|row| row.line < number);
        for found in matches(line, search) {
            let start = columns(found.start);
            // Long lines may go on in further rows.
            let own = rows[first..].partition_point(|row| row.line == number && row.skip <= start);
            let row = first + own.saturating_sub(1);
            let Some(skip) = rows.get(row).map(|row| row.skip) else { break };
            let [start, end, line] = [start, columns(found.end), columns(line.len())].map(|at| at.saturating_sub(skip));
            all.push(Place { row, start, end: end.max(1), line });
        }
    }
    all
}

/// Part of a candidate's text that its pane shows.
#[derive(Clone, Copy)]
struct View {
    /// First row and first column.
    top: usize,
    left: usize,
    height: usize,
    width: usize,
    /// The first row at the end of the text.
    last: usize,
    /// Long lines go on in further rows, so that nothing is left or right of it.
    wraps: bool,
}

impl View {
    fn rows(&self) -> Range<usize> {
        self.top..self.top + self.height
    }

    /// A place is in view, as far as it fits.
    fn shows(&self, place: &Place) -> bool {
        self.rows().contains(&place.row) && !self.is_left(place) && !self.is_right(place)
    }

    /// It begins left of the view. A mark may stand in the first column.
    fn is_left(&self, place: &Place) -> bool {
        self.left > 0 && place.start <= self.left
    }

    /// It ends right of the view, which can be moved there. A mark stands in the last column where a line goes
    /// on.
    fn is_right(&self, place: &Place) -> bool {
        let end = self.left + self.width;
        !self.wraps && place.end > end - usize::from(place.line > end) && self.column(place) > self.left
    }

    /// A place is in view when nothing is scrolled to the right.
    fn is_at_left(&self, place: &Place) -> bool {
        self.wraps || place.end < self.width
    }

    /// The first column in view for a place, which stands behind a quarter of the view.
    fn column(&self, place: &Place) -> usize {
        if self.is_at_left(place) { 0 } else { place.start.saturating_sub((self.width / 4).max(1)) }
    }

    /// The first column in view for a place, which stands before a quarter of the view.
    fn column_back(&self, place: &Place) -> usize {
        let left = (place.end + (self.width / 4).max(1)).saturating_sub(self.width);
        if self.is_at_left(place) { 0 } else { left.min(place.start.saturating_sub(1)) }
    }
}

/// Places of the searched text in the focused candidate, and its view.
struct Seen {
    places: Vec<Place>,
    view: View,
}

impl Seen {
    /// `None` if nothing is searched for, or the candidate has no pane.
    fn of_focused(state: &State) -> Option<Self> {
        let (search, run) = (state.search.as_ref()?, state.run.as_ref()?);
        let candidate = run.focused()?;
        let layout = state.layout();
        let area = layout.code(run.focus);
        if area.is_empty() {
            return None;
        }
        let (height, width) = (usize::from(area.height), usize::from(area.width));
        let rows = state.rows(candidate, width, layout.folded);
        let last = rows.len().saturating_sub(height);
        let Scroll { top, column: left, follow } = candidate.scroll;
        let top = if follow { last } else { top.min(last) };
        let places = places(&candidate.shown, &search.text, &rows);
        Some(Self { places, view: View { top, left, height, width, last, wraps: state.wrap } })
    }

    /// The view with the next places, or those before: beside the view in the same rows, else below or above.
    fn next(&self, by: isize) -> Option<View> {
        let view = self.view;
        let beside = self.places.iter().filter(|place| view.rows().contains(&place.row));
        if by > 0 {
            let right = beside.filter(|place| view.is_right(place)).min_by_key(|place| place.start);
            let right = right.map(|place| View { left: view.column(place), ..view });
            let below = || self.places.iter().find(|place| place.row >= view.rows().end);
            return right.or_else(|| Some(self.down_from(below()?.row)));
        }
        let left = beside.filter(|place| view.is_left(place)).max_by_key(|place| place.start);
        let left = left.map(|place| View { left: view.column_back(place), ..view });
        let above = || self.places.iter().rfind(|place| place.row < view.top);
        left.or_else(|| Some(self.up_from(above()?.row)))
    }

    /// The view with the first place, or the last one, unless that is seen already.
    fn first(&self, by: isize) -> Option<View> {
        let first = if by > 0 { self.places.first() } else { self.places.last() };
        first.filter(|place| !self.view.shows(place)).and_then(|_| self.wrapped(by))
    }

    /// The view with the first place, or the last one.
    fn wrapped(&self, by: isize) -> Option<View> {
        if by > 0 {
            return Some(self.down_from(self.places.first()?.row));
        }
        Some(self.up_from(self.places.last()?.row))
    }

    /// The view with this row in its upper part, and the first columns that have a place.
    fn down_from(&self, row: usize) -> View {
        let view = self.view;
        let top = if row < view.height { 0 } else { (row - view.height / 4).min(view.last) };
        let seen = self.places.iter().filter(|place| (row..top + view.height).contains(&place.row));
        let first = seen.min_by_key(|place| place.start);
        View { top, left: first.map_or(0, |place| view.column(place)), ..view }
    }

    /// The view with this row in its lower part, and the last columns that have a place.
    fn up_from(&self, row: usize) -> View {
        let view = self.view;
        let top = (row + 1 + view.height / 4).saturating_sub(view.height).min(view.last);
        let seen = self.places.iter().filter(|place| (top..=row).contains(&place.row));
        let last = seen.max_by_key(|place| place.start);
        View { top, left: last.map_or(0, |place| view.column_back(place)), ..view }
    }
}

/// Scrolls the focused candidate. One that is written follows its end again if that is in view.
fn show(state: &mut State, view: View) {
    let Some(run) = &mut state.run else { return };
    if let Some(candidate) = run.candidates.get_mut(run.focus) {
        let follow = candidate.is_live() && view.top >= view.last;
        candidate.scroll = Scroll { top: view.top, column: view.left, follow };
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::tests::said;
    use super::super::fixture::Session;
    use super::super::msg::Msg;
    use super::{Seen, matches};
    use crate::job::{Job, TestsChoice};

    /// Candidates with these bodies; `keys` are pressed, and then a text is searched.
    fn searched(bodies: &[String], keys: &[&str]) -> Session {
        let prompt = "def total(numbers):\n    \"\"\"The sum.\"\"\"\n";
        let mut session = Session::on(Job::from_text(prompt, &TestsChoice::None).unwrap(), bodies.len());
        session.open(true);
        session.key("g");
        for (candidate, body) in bodies.iter().enumerate() {
            session.finish(candidate, body);
        }
        session.done();
        session.key("1");
        for key in keys.iter().copied().chain(["/", "n", "e", "e", "d", "l", "e", "enter"]) {
            session.key(key);
        }
        session
    }

    /// Two long bodies that have the text in these lines.
    fn long(lines: &[usize]) -> [String; 2] {
        let line = |at: usize| if lines.contains(&at) { "needle()".to_owned() } else { format!("step({at})") };
        let body = (0..100).map(|at| format!("    {}", line(at))).collect::<Vec<_>>().join("\n") + "\n";
        [0, 1].map(|candidate| format!("{body}    return {candidate}\n"))
    }

    /// The focused candidate, and rows of the text in its view.
    fn seen(session: &Session) -> (usize, Vec<usize>) {
        let Seen { places, view } = Seen::of_focused(&session.state).unwrap();
        let rows = places.iter().filter(|place| view.shows(place)).map(|place| place.row).collect();
        (session.run().focus, rows)
    }

    #[test]
    fn lower_case_finds_both_cases_in_any_script() {
        let places = |line, search| matches(line, search).map(|found| (found.start, found.end)).collect::<Vec<_>>();
        assert_eq!(places("Value = value  # für", "value"), [(0, 5), (8, 13)]);
        assert_eq!(places("Value = value  # für", "Value"), [(0, 5)]);
        assert_eq!(places("ÄÄä", "ä"), [(0, 2), (2, 4), (4, 6)]);
        assert_eq!(places("aaa", "aa"), [(0, 2)]);
        assert!(places("aaa", "").is_empty());
    }

    #[test]
    fn pasted_text_is_searched_for() {
        let mut session = searched(&long(&[10]), &[]);
        session.key("/");
        session.send(Msg::Paste("step(3)\nmore".to_owned()));
        assert_eq!(session.state.search.as_ref().unwrap().text, "step(3)");
    }

    #[test]
    fn what_is_found_is_in_view_in_every_layout() {
        for keys in [&[][..], &["z"], &["w"], &["v"], &["v", "v"], &["v", "v", "v"]] {
            let mut session = searched(&long(&[77]), keys);
            assert_eq!((seen(&session), said(&session)), ((0, vec![77]), "2 of 2 have needle"), "{keys:?}");
            session.key("n");
            assert_eq!(seen(&session), (1, vec![77]), "{keys:?}");
            session.key("n");
            assert_eq!(seen(&session), (0, vec![77]), "{keys:?}");
        }
    }

    #[test]
    fn each_place_of_a_candidate_comes_before_the_next_candidate() {
        let mut session = searched(&long(&[10, 40, 77]), &["z"]);
        assert_eq!(seen(&session), (0, vec![10]));
        for (key, expected) in [
            ("n", (0, vec![40])),
            ("n", (0, vec![77])),
            ("n", (1, vec![10])),
            ("N", (0, vec![77])),
            ("N", (0, vec![40])),
            ("N", (0, vec![10])),
            ("N", (1, vec![77])),
            ("n", (0, vec![10])),
        ] {
            session.key(key);
            assert_eq!(seen(&session), expected, "{key}");
        }
    }

    #[test]
    fn places_beside_the_view_are_found_where_long_lines_are_cut() {
        let body = format!("    needle {} needle\n    the end\n", "x".repeat(300));
        let mut session = searched(&[body], &["w"]);
        let column = |session: &Session| session.run().candidates[0].scroll.column;
        assert_eq!(column(&session), 0);
        session.key("n");
        let right = column(&session);
        assert!((308 - 112..308).contains(&right), "{right}");
        session.key("n");
        assert_eq!((column(&session), said(&session)), (0, "only A does"));
        session.key("N");
        assert!(column(&session) > 0 && said(&session) == "only A does");
        session.key("N");
        assert_eq!(column(&session), 0);
        // Wrapped there is nothing beside it.
        session.key("w");
        session.key("n");
        assert_eq!(column(&session), 0);
    }
}
