//! The picker: functions that can be completed, filtered while a name is typed.

use std::path::PathBuf;
use std::sync::Arc;

use super::choices::{Choice, Choices};
use super::effect::Effect;
use super::past::Past;
use super::state::{ARM_MS, Focus, State};
use crate::job::Job;
use crate::language::Language;
use crate::tui::event::Key;
use crate::tui::keymap::{Action, Context};
use crate::tui::text::one_line;

/// A function that a scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub path: PathBuf,
    /// Its path below the folder, clean.
    pub shown: String,
    /// Its name, dotted for methods.
    pub name: String,
    /// Line of its head, 1-based.
    pub line: usize,
    /// It has a body.
    pub finished: bool,
    pub language: Language,
    /// Its file holds tests.
    pub is_tests: bool,
    /// Place of its file by the time of the last change, 0 for the latest.
    pub rank: usize,
    /// Tests file that is named after its file.
    pub tests: Option<String>,
}

impl Choice for Found {
    /// Unfinished ones first, then those of the file that was changed last; tests after all others.
    type Order = (bool, bool, usize, usize);

    fn order(&self) -> Self::Order {
        (self.is_tests, self.finished, self.rank, self.line)
    }

    fn haystack(&self) -> String {
        format!("{} {}:{}", one_line(&self.name), self.shown, self.line)
    }
}

/// The text of a function, or why it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub path: PathBuf,
    pub line: usize,
    pub text: Result<String, String>,
}

/// Another function to complete.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub job: Arc<Job>,
    /// Advice on its language.
    pub advice: Option<String>,
}

/// The picker while it is open.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
pub struct Picker {
    /// Name of its scan in messages.
    pub scan: u64,
    /// Where functions are looked for, clean.
    pub place: String,
    /// It opened by itself, and closes again if there is nothing to pick.
    pub at_start: bool,
    /// Only functions of one file are listed.
    pub of_file: bool,
    /// Functions that were found.
    pub list: Choices<Found>,
    /// The scan has not ended.
    pub is_scanning: bool,
    /// Why functions are missing.
    pub remark: Option<String>,
    pub preview: Option<Preview>,
    /// Place of the preview that was asked for.
    asked: Option<(PathBuf, usize)>,
}

/// Everything about choosing a function.
#[derive(Clone, Debug, Default)]
pub struct Picking {
    pub open: Option<Picker>,
    /// Name of the folder, clean.
    pub folder: String,
    /// Why the built-in example is shown.
    pub remark: Option<String>,
    /// The request for another function that is under way.
    pub wanted: Option<u64>,
    /// Advice on the models and the function's language, clean.
    pub advice: Option<String>,
    /// Name of the next scan or request.
    next: u64,
}

impl Picking {
    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Picker {
    fn new(scan: u64, place: String) -> Self {
        Self {
            scan,
            place,
            at_start: false,
            of_file: false,
            list: Choices::default(),
            is_scanning: true,
            remark: None,
            preview: None,
            asked: None,
        }
    }

    /// Its preview, if it is that of the function under the cursor.
    pub fn preview(&self) -> Option<&Preview> {
        let current = self.list.current()?;
        self.preview.as_ref().filter(|preview| preview.path == current.path && preview.line == current.line)
    }
}

/// Opens the picker, for one file or for the folder.
pub fn open(state: &mut State, file: Option<PathBuf>, at_start: bool) -> Vec<Effect> {
    let scan = state.picking.number();
    let place = file.as_ref().map_or_else(|| state.picking.folder.clone(), |file| one_line(&file.to_string_lossy()));
    let new = Picker { at_start, of_file: file.is_some(), ..Picker::new(scan, place) };
    state.picking.open = Some(new);
    vec![Effect::Scan { scan, file }]
}

/// Closes the picker, if it is open. A request that is under way is dropped.
pub fn close(state: &mut State) -> Vec<Effect> {
    if state.picking.open.take().is_none() {
        return Vec::new();
    }
    state.picking.wanted = None;
    vec![Effect::StopScan]
}

/// Nothing lies below the list: only the built-in example, which nobody asked for.
pub fn is_all(state: &State) -> bool {
    state.picking.open.as_ref().is_some_and(|picker| picker.at_start) && !state.has_file()
}

/// The list is left: for what lies below it, else the program is, when asked twice.
pub fn left(state: &mut State, action: Action) -> Vec<Effect> {
    if !is_all(state) {
        return close(state);
    }
    if state.armed.take().is_some() {
        return super::action::quit(state, None);
    }
    state.armed = Some((action, state.now + ARM_MS));
    Vec::new()
}

/// An action of the table while the picker is open; `None` for those that mean the same everywhere.
pub fn act(state: &mut State, action: Action) -> Option<Vec<Effect>> {
    let page = (usize::from(state.size.1) / 2).max(1) as isize;
    let picker = state.picking.open.as_mut()?;
    match action {
        Action::Close => return Some(left(state, action)),
        Action::Choose => return Some(choose(state)),
        Action::Pick if picker.of_file => {
            let at_start = picker.at_start;
            return Some(open(state, None, at_start));
        }
        Action::Pick => {}
        _ if picker.list.moved(action, page) => {}
        _ => return None,
    }
    Some(look(state))
}

/// A key that means nothing else belongs to the query.
pub fn typed(state: &mut State, pressed: Key) -> Vec<Effect> {
    let Some(picker) = &mut state.picking.open else { return Vec::new() };
    picker.list.typed(pressed);
    look(state)
}

/// Pasted text goes into the query.
pub fn paste(state: &mut State, text: &str) -> Vec<Effect> {
    let Some(picker) = &mut state.picking.open else { return Vec::new() };
    picker.list.paste(text);
    look(state)
}

/// Asks for the preview of the function under the cursor, one at a time.
fn look(state: &mut State) -> Vec<Effect> {
    let Some(picker) = &mut state.picking.open else { return Vec::new() };
    let Some(current) = picker.list.current().filter(|_| picker.asked.is_none() && picker.preview().is_none()) else {
        return Vec::new();
    };
    let (path, line) = (current.path.clone(), current.line);
    picker.asked = Some((path.clone(), line));
    vec![Effect::Preview { path, line }]
}

fn choose(state: &mut State) -> Vec<Effect> {
    let Some(found) = state.picking.open.as_ref().and_then(|picker| picker.list.current()).cloned() else {
        let is_scanning = state.picking.open.as_ref().is_some_and(|picker| picker.is_scanning);
        state.say(if is_scanning { "no function that matches was found yet" } else { "no function matches" });
        return Vec::new();
    };
    let ask = state.picking.number();
    state.picking.wanted = Some(ask);
    state.error = None;
    vec![Effect::Target { ask, path: found.path, name: found.name, line: found.line }]
}

/// Asks for the next unfinished function: of the file, then of the project.
pub fn next(state: &mut State) -> Vec<Effect> {
    let ask = state.picking.number();
    state.picking.wanted = Some(ask);
    state.say("looking for the next unfinished function");
    vec![Effect::NextTarget { ask }]
}

/// Functions were found.
pub fn found(state: &mut State, scan: u64, functions: Vec<Found>) -> Vec<Effect> {
    match state.picking.open.as_mut().filter(|picker| picker.scan == scan) {
        Some(picker) => picker.list.add(functions),
        None => return Vec::new(),
    }
    look(state)
}

/// The scan has ended. A picker that opened by itself closes if there is nothing to pick.
pub fn scanned(state: &mut State, scan: u64, remark: Option<String>) {
    let Some(picker) = state.picking.open.as_mut().filter(|picker| picker.scan == scan) else { return };
    (picker.is_scanning, picker.remark) = (false, remark);
    if picker.at_start && picker.list.counts().0 == 0 {
        let place = std::mem::take(&mut picker.place);
        close(state);
        state.picking.remark = Some(format!("built-in example: no function of a known language in {place}"));
    }
}

/// A preview has come.
pub fn previewed(state: &mut State, preview: Preview) -> Vec<Effect> {
    let Some(picker) = &mut state.picking.open else { return Vec::new() };
    if picker.asked.as_ref().is_some_and(|(path, line)| (path, *line) == (&preview.path, preview.line)) {
        picker.asked = None;
        picker.preview = Some(preview);
    }
    look(state)
}

/// Another function has come; or there is none, or why not.
pub fn targeted(state: &mut State, ask: u64, result: Result<Option<Chosen>, String>) -> Vec<Effect> {
    if state.picking.wanted != Some(ask) {
        return Vec::new();
    }
    state.picking.wanted = None;
    state.notice = None;
    match result {
        Ok(Some(Chosen { job, advice })) => {
            let effects = take(state, job);
            state.picking.advice = advice.as_deref().map(one_line);
            effects
        }
        Ok(None) => {
            state.say(format!("no other unfinished function in {}", state.picking.folder));
            Vec::new()
        }
        Err(why) => {
            state.fail(why);
            Vec::new()
        }
    }
}

/// Begins anew with another job. A generation that runs ends; the draft goes into the history.
fn take(state: &mut State, job: Arc<Job>) -> Vec<Effect> {
    let mut effects = close(state);
    state.notice = None;
    effects.extend(state.run.take().iter().flat_map(super::writing::end));
    effects.extend(super::wish::leave(state));
    state.leave_written();
    state.draft.replace(&job.editable().unwrap_or_default());
    (state.own_body, state.job) = (job.own_body(), job);
    // Earlier runs are those of a function.
    state.past = Past::default();
    state.close_views();
    (state.search, state.question, state.error) = (None, None, None);
    state.checks.clear();
    (state.eager, state.stale, state.zoom, state.prompt_top) = (false, false, false, 0);
    state.focus = Focus::Panes;
    state.picking.remark = None;
    effects.push(Effect::Retarget { job: state.job.clone() });
    effects
}

/// The key that goes on, for a notice.
pub fn next_key(state: &State) -> String {
    let key = state.key_name(Context::Panes, Action::NextTarget);
    format!("{key} next unfinished function")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::code::{Place, Target};
    use crate::engine::Event;
    use crate::job::TestsChoice;
    use crate::tui::app::Msg;
    use crate::tui::app::fixture::Session;

    /// Functions as a scan tells them.
    pub fn functions() -> Vec<Found> {
        let rows = [
            ("src/stats.py", "mean", 3, true, 0, Some("test_stats.py")),
            ("src/stats.py", "median", 12, false, 0, Some("test_stats.py")),
            ("src/queue.py", "Queue.push", 5, false, 1, None),
            ("src/queue.py", "Queue.pop", 9, true, 1, None),
            ("tests/test_stats.py", "test_mean", 1, false, 2, None),
        ];
        let found =
            |(shown, name, line, finished, rank, tests): (&str, &str, usize, bool, usize, Option<&str>)| Found {
                path: shown.into(),
                shown: shown.to_owned(),
                name: name.to_owned(),
                line,
                finished,
                language: Language::Python,
                is_tests: shown.starts_with("tests/"),
                rank,
                tests: tests.map(str::to_owned),
            };
        rows.into_iter().map(found).collect()
    }

    /// A session whose picker has these functions.
    pub fn picking(found: Vec<Found>) -> Session {
        let mut session = Session::tested(4);
        session.state.picking.folder = "shop".to_owned();
        session.key("ctrl-t");
        let scan = session.state.picking.open.as_ref().unwrap().scan;
        session.send(Msg::Found { scan, functions: found });
        session.send(Msg::Scanned { scan, remark: None });
        session
    }

    fn picker(session: &Session) -> &Picker {
        session.state.picking.open.as_ref().unwrap()
    }

    fn names(session: &Session) -> Vec<String> {
        let picker = picker(session);
        (0..picker.list.counts().1).filter_map(|row| Some(picker.list.row(row)?.name.clone())).collect()
    }

    fn type_in(session: &mut Session, text: &str) {
        for c in text.chars() {
            session.key(&if c == ' ' { "space".to_owned() } else { c.to_string() });
        }
    }

    fn job(path: &str, name: &str) -> Arc<Job> {
        let text = format!("def {name}(x):\n    \"\"\"Something.\"\"\"\n");
        let target = Target::in_editor(Path::new(path), &text, &Place::Any).unwrap();
        Arc::new(Job::from_target(target, &TestsChoice::None).unwrap())
    }

    /// The request that choosing asks for.
    fn ask(effects: &[Effect]) -> u64 {
        match effects {
            [Effect::Target { ask, .. } | Effect::NextTarget { ask }] => *ask,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn unfinished_ones_come_first_then_the_latest_file_and_tests_last() {
        let session = picking(functions());
        assert_eq!(names(&session), ["median", "Queue.push", "mean", "Queue.pop", "test_mean"]);
    }

    #[test]
    fn at_the_start_the_list_is_left_with_the_program_and_not_for_the_example() {
        for key in ["esc", "ctrl-c"] {
            let mut session = picking(functions());
            session.state.picking.open.as_mut().unwrap().at_start = true;
            assert_eq!((session.key(key), session.state.picking.open.is_some()), (Vec::new(), true), "{key}");
            session.key("x");
            assert_eq!(session.key(key), [], "another key came between");
            assert_eq!(session.key(key), [Effect::Quit { accept: None }], "{key}");
        }
        let mut session = picking(functions());
        session.key("esc");
        assert!(session.state.picking.open.is_none(), "the screen that it was opened on");
    }

    #[test]
    fn typing_filters_and_letters_are_never_commands() {
        let mut session = picking(functions());
        type_in(&mut session, "qpop");
        assert_eq!((picker(&session).list.query.as_str(), names(&session)), ("qpop", vec!["Queue.pop".to_owned()]));
        session.key("backspace");
        session.key("backspace");
        assert_eq!((picker(&session).list.query.as_str(), names(&session).len()), ("qp", 2));
        session.key("ctrl-u");
        type_in(&mut session, "queue.py push");
        assert_eq!(names(&session), ["Queue.push"], "words of path and name, in any order");
        session.key("ctrl-w");
        assert_eq!(picker(&session).list.query, "queue.py ");
        session.send(Msg::Paste("zzz\nq".into()));
        assert_eq!((picker(&session).list.query.as_str(), names(&session).len()), ("queue.py zzz", 0));
        assert_eq!(session.key("enter"), [], "nothing to take");
        assert!(session.state.picking.open.is_some());
    }

    #[test]
    fn the_cursor_stays_on_its_function_while_others_are_found() {
        let mut session = picking(functions());
        let scan = picker(&session).scan;
        session.key("down");
        let on = |session: &Session| picker(session).list.current().unwrap().name.clone();
        assert_eq!(on(&session), "Queue.push");
        let mut new = functions();
        new.truncate(2);
        new[1].line = 20;
        session.send(Msg::Found { scan, functions: new });
        assert_eq!((on(&session), picker(&session).list.cursor), ("Queue.push".to_owned(), 2));
        let before = picker(&session).list.counts();
        session.send(Msg::Found { scan: scan + 7, functions: functions() });
        assert_eq!(picker(&session).list.counts(), before, "of another scan");
        session.key("end");
        session.key("down");
        assert_eq!(on(&session), "test_mean");
        session.key("home");
        assert_eq!(on(&session), "median");
    }

    #[test]
    fn one_preview_at_a_time_is_asked_for() {
        let mut session = Session::tested(4);
        session.key("ctrl-t");
        let scan = picker(&session).scan;
        let preview = |path: &str, line| Effect::Preview { path: path.into(), line };
        let effects = session.send(Msg::Found { scan, functions: functions() });
        assert_eq!(effects, [preview("src/stats.py", 12)]);
        assert_eq!(session.key("down"), [], "while one is under way no other is asked for");
        let text = Ok("def median(x):\n".to_owned());
        let answer = Preview { path: "src/stats.py".into(), line: 12, text };
        assert_eq!(session.send(Msg::Preview(answer)), [preview("src/queue.py", 5)]);
        assert_eq!(picker(&session).preview(), None, "of another function");
        let answer = Preview { path: "src/queue.py".into(), line: 5, text: Ok("def push(self):\n".to_owned()) };
        assert_eq!(session.send(Msg::Preview(answer.clone())), []);
        assert_eq!(picker(&session).preview(), Some(&answer));
        assert_eq!(session.send(Msg::Paste("median".to_owned())), [preview("src/stats.py", 12)]);
    }

    #[test]
    fn enter_makes_it_the_target_and_ends_what_runs() {
        let mut session = picking(functions());
        session.key("esc");
        session.key("i");
        session.key("x");
        let typed = session.state.draft.text();
        session.key("esc");
        session.key("g");
        session.tokens(0, "    return 1\n");
        let run = session.run().id;
        session.key("ctrl-t");
        let scan = picker(&session).scan;
        session.send(Msg::Found { scan, functions: functions() });
        let effects = session.key("enter");
        let wanted =
            Effect::Target { ask: ask(&effects), path: "src/stats.py".into(), name: "median".to_owned(), line: 12 };
        assert_eq!(effects, [wanted]);
        assert!(session.state.run.is_some(), "nothing ends before there is something else");
        let job = job("src/stats.py", "median");
        let made = Ok(Some(Chosen { job: job.clone(), advice: None }));
        let effects = session.send(Msg::Targeted { ask: ask(&effects), result: made });
        assert_eq!(effects, [Effect::StopScan, Effect::CancelAll { run }, Effect::Retarget { job }]);
        assert_eq!(session.state.subject(), "stats.py:median");
        assert!(session.state.run.is_none() && session.state.picking.open.is_none());
        assert_eq!(session.state.context(), Context::Start);
        session.key("i");
        session.state.draft.previous();
        assert_eq!(session.state.draft.text(), typed, "the draft of before is in the history");
    }

    #[test]
    fn what_goes_wrong_is_said_and_the_picker_stays() {
        let mut session = picking(functions());
        let effects = session.key("enter");
        let ask = ask(&effects);
        session.send(Msg::Targeted { ask, result: Err("there is no file src/stats.py".into()) });
        assert_eq!(session.state.error.as_deref(), Some("there is no file src/stats.py"));
        assert!(session.state.picking.open.is_some());
        session.key("esc");
        assert!(session.state.error.is_none() && session.state.picking.open.is_some(), "first the error");
        let effects = session.key("enter");
        let late = self::ask(&effects);
        assert_eq!(session.key("esc"), [Effect::StopScan]);
        let before = session.state.job.clone();
        let made = Ok(Some(Chosen { job: job("src/stats.py", "median"), advice: None }));
        assert_eq!(session.send(Msg::Targeted { ask: late, result: made }), [], "closed meanwhile");
        assert_eq!(session.state.job, before);
    }

    #[test]
    fn the_picker_of_the_start_closes_if_there_is_nothing_to_pick() {
        let mut session = Session::tested(4);
        session.state.picking.folder = "empty".to_owned();
        open(&mut session.state, None, true);
        let scan = picker(&session).scan;
        session.send(Msg::Scanned { scan, remark: None });
        assert_eq!(session.state.context(), Context::Start);
        assert!(session.state.picking.remark.as_ref().unwrap().contains("no function of a known language in empty"));
        assert_eq!(session.state.notice, None);
        // One that was asked for stays, and says so.
        session.key("ctrl-t");
        let scan = picker(&session).scan;
        session.send(Msg::Scanned { scan, remark: None });
        assert!(session.state.picking.open.is_some());
        session.key("ctrl-c");
        assert!(session.state.picking.open.is_none());
    }

    #[test]
    fn of_one_file_the_picker_goes_on_to_the_project() {
        let mut session = Session::tested(4);
        open(&mut session.state, Some("src/stats.py".into()), true);
        let effects = session.key("ctrl-t");
        let scan = picker(&session).scan;
        assert_eq!(effects, [Effect::Scan { scan, file: None }]);
        assert_eq!(session.key("ctrl-t"), [], "it is the project already");
    }

    #[test]
    fn no_question_is_answered_behind_the_picker() {
        let mut session = Session::on((*job("a.py", "a")).clone(), 2);
        session.open(true);
        session.state.question = Some(super::super::state::Question::Take { candidate: 0 });
        session.key("ctrl-c");
        session.state.question = Some(super::super::state::Question::Take { candidate: 0 });
        open(&mut session.state, None, false);
        assert_eq!((session.state.context(), session.key("y")), (Context::Picker, Vec::new()));
    }

    #[test]
    fn after_a_candidate_was_taken_a_key_goes_to_the_next_function() {
        let mut session = Session::on((*job("src/stats.py", "mean")).clone(), 2);
        session.open(true);
        session.key("g");
        session.finish(0, "    return 1\n");
        session.finish(1, "    return 2\n");
        session.done();
        let run = session.run().id;
        session.send(Msg::Applied { run, candidate: 0, result: Ok("src/stats.py".into()) });
        let said = &session.state.notice.as_ref().unwrap().text;
        assert_eq!(said, "A written to src/stats.py, u undoes, Ctrl-N next unfinished function");
        let effects = session.key("ctrl-n");
        let made = Ok(Some(Chosen { job: job("src/stats.py", "median"), advice: Some("knows Python".to_owned()) }));
        session.send(Msg::Targeted { ask: ask(&effects), result: made });
        assert_eq!((session.state.subject().as_str(), session.state.can_undo()), ("stats.py:median", false));
        assert_eq!(session.state.picking.advice.as_deref(), Some("knows Python"));
        assert_eq!(session.state.notice, None, "the keys stay in sight");
        let effects = session.key("ctrl-n");
        session.state.picking.folder = "shop".to_owned();
        session.send(Msg::Targeted { ask: ask(&effects), result: Ok(None) });
        assert_eq!(session.state.notice.as_ref().unwrap().text, "no other unfinished function in shop");
        session.key("g");
        session.event(Event::Failed("it failed".into()));
        assert_eq!(session.state.subject(), "stats.py:median");
    }
}
