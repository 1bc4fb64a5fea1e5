//! Behaviour of following the editor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::calls::tests::called;
use super::fixture::{Session, body};
use super::picker::Chosen;
use super::watch::{News, PAUSE_MS, Touched};
use super::{Effect, Focus, Msg};
use crate::code::{Place, Target, TargetSpec, function_names};
use crate::job::{Job, TestsChoice};
use crate::language::Language;
use crate::trial::Status;

const FILE: &str =
    "LIMIT = 3\n\n\ndef f(x):\n    \"\"\"Twice x.\n\n    >>> f(2)\n    4\n    \"\"\"\n\n\ndef g(x):\n    pass\n";
const OWN: Touched = Touched { file: true, tests: false };
const TESTS: Touched = Touched { file: false, tests: true };

/// A session that follows a file on this machine.
struct Following {
    session: Session,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

fn job(path: &Path, name: &str) -> Result<Job, String> {
    let place = Place::Function(name.to_owned());
    let target = Target::read(&TargetSpec { path: path.to_path_buf(), place }).map_err(|why| why.to_string())?;
    Job::from_target(target, &TestsChoice::IfAny).map_err(|why| why.to_string())
}

impl Following {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.py");
        std::fs::write(&path, FILE).unwrap();
        let mut session = Session::on(job(&path, "f").unwrap(), 2);
        session.open(true);
        assert_eq!(session.key("F"), [Effect::Watch(true)]);
        Self { session, path, _folder: folder }
    }

    /// Another program saves; what is asked for once the files have been read.
    fn save(&mut self, text: &str, touched: Touched) -> Vec<Effect> {
        std::fs::write(&self.path, text).unwrap();
        let asked = self.session.send(Msg::Touched(touched));
        assert_eq!(asked, [Effect::Follow(touched)]);
        self.read(text, touched)
    }

    fn read(&mut self, text: &str, touched: Touched) -> Vec<Effect> {
        let name = self.session.state.job.target().unwrap().name.clone();
        let functions = function_names(Language::Python, text);
        let job = job(&self.path, &name).map(Arc::new);
        self.session.send(Msg::Followed(News { touched, job, functions }))
    }

    /// Effects of a pause.
    fn pause(&mut self) -> Vec<Effect> {
        self.session.now += PAUSE_MS;
        self.session.send(Msg::Tick)
    }

    fn candidates(&mut self) {
        self.session.key("g");
        for candidate in 0..2 {
            self.session.finish(candidate, &body(candidate));
        }
        self.session.done();
        for candidate in 0..2 {
            self.session.verdict(candidate, Status::Failed, "no");
        }
    }
}

fn generations(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| matches!(effect, Effect::Generate { .. })).count()
}

fn tests(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| matches!(effect, Effect::Test { .. })).count()
}

#[test]
fn a_stub_that_changed_is_written_after_a_pause() {
    let mut it = Following::new();
    it.candidates();
    let thrice = FILE.replace("Twice", "Thrice");
    let effects = it.save(&thrice, OWN);
    assert!(matches!(effects[0], Effect::Adopt { .. }) && generations(&effects) == 0, "{effects:?}");
    assert!(it.session.state.run.is_none() && it.session.state.draft.text().contains("Thrice"));
    assert_eq!(it.session.state.wake_at(), Some(it.session.now + PAUSE_MS));
    // Another save begins the pause anew.
    it.session.now += PAUSE_MS - 20;
    it.save(&thrice.replace("Thrice", "Four times"), OWN);
    it.session.now += PAUSE_MS - 20;
    assert_eq!(generations(&it.session.send(Msg::Tick)), 0);
    let effects = it.pause();
    let [Effect::Generate { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert!(job.editable().unwrap().contains("Four times"));
    assert_eq!(it.pause(), []);
}

#[test]
fn a_function_that_lost_its_body_is_written_again() {
    let mut it = Following::new();
    let whole = FILE.replace("    \"\"\"\n\n\ndef g", "    \"\"\"\n    return 5\n\n\ndef g");
    let effects = it.save(&whole, OWN);
    assert!(generations(&effects) == 0 && it.session.state.own_body.is_some());
    assert_eq!(it.pause(), [], "a function with a body is no stub");
    it.save(FILE, OWN);
    assert_eq!(generations(&it.pause()), 1);
}

#[test]
fn around_the_function_only_the_tests_run_again() {
    let mut it = Following::new();
    it.candidates();
    let effects = it.save(&FILE.replace("LIMIT = 3", "LIMIT = 4"), OWN);
    assert_eq!(tests(&effects), 2, "{effects:?}");
    assert!(it.session.state.job.target().unwrap().text.contains("LIMIT = 4"));
    assert_eq!(generations(&it.pause()), 0);
    for candidate in 0..2 {
        it.session.verdict(candidate, Status::Failed, "no");
    }
    // An unchanged text is no news; other tests are.
    let same = std::fs::read_to_string(&it.path).unwrap();
    assert_eq!(tests(&it.save(&same, OWN)), 0);
    assert_eq!(tests(&it.save(&same, TESTS)), 2);
}

#[test]
fn a_live_generation_of_the_same_prompt_goes_on() {
    let mut it = Following::new();
    it.session.key("g");
    it.session.tokens(0, "    return");
    let effects = it.save(&FILE.replace("LIMIT = 3", "LIMIT = 4"), OWN);
    let is_end = |effect: &Effect| matches!(effect, Effect::CancelAll { .. });
    assert!(!effects.iter().any(is_end) && it.session.run().is_live());
    // Another prompt ends it at once: nobody wants those candidates any more.
    let effects = it.save(&FILE.replace("f(x):", "f(x, y):"), OWN);
    assert!(effects.iter().any(is_end), "{effects:?}");
    assert_eq!(generations(&it.pause()), 1);
}

#[test]
fn a_new_stub_becomes_the_function() {
    let mut it = Following::new();
    it.candidates();
    // One that gets its body, or loses it, is not new.
    let effects = it.save(&FILE.replace("    pass", "    return 1"), OWN);
    assert!(!effects.iter().any(|e| matches!(e, Effect::Target { .. })), "{effects:?}");
    let more = format!("{FILE}\n\ndef done():\n    return 1\n\n\ndef h(x):\n    \"\"\"Half of x.\"\"\"\n");
    let effects = it.save(&more, OWN);
    let Some(Effect::Target { ask, name, .. }) = effects.last() else { panic!("{effects:?}") };
    assert_eq!(name, "h");
    let chosen = Chosen { job: Arc::new(job(&it.path, "h").unwrap()), advice: None };
    it.session.send(Msg::Targeted { ask: *ask, result: Ok(Some(chosen)) });
    let effects = it.pause();
    let [Effect::Generate { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(job.target().unwrap().name, "h");
    // It is new once.
    assert!(!it.save(&format!("{more}\n\nx = 1\n"), OWN).iter().any(|e| matches!(e, Effect::Target { .. })));
}

#[test]
fn a_function_that_was_renamed_is_followed_by_its_new_name() {
    let mut it = Following::new();
    let effects = it.save(&FILE.replace("f(", "double("), OWN);
    assert!(matches!(&effects[..], [Effect::Target { name, .. }] if name == "double"), "{effects:?}");
}

#[test]
fn nothing_happens_while_the_user_types() {
    let mut it = Following::new();
    it.session.key("i");
    let thrice = FILE.replace("Twice", "Thrice");
    std::fs::write(&it.path, &thrice).unwrap();
    assert_eq!(it.session.send(Msg::Touched(OWN)), []);
    it.session.key("x");
    assert_eq!(it.pause(), []);
    assert!(it.session.state.draft.text().contains('x') && it.session.state.focus == Focus::Prompt);
    // Saved files count as soon as they have ended.
    assert_eq!(it.session.key("esc"), [Effect::Follow(OWN)]);
    // They type again before it has been read, and later in the midst of the pause.
    it.session.key("i");
    assert_eq!(it.read(&thrice, OWN), []);
    assert_eq!(it.session.key("esc"), [Effect::Follow(OWN)]);
    it.read(&thrice, OWN);
    it.session.key("i");
    assert_eq!(
        (it.pause(), it.session.state.wake_at()),
        (Vec::new(), it.session.state.notice.as_ref().map(|n| n.until))
    );
    assert_eq!(generations(&it.session.key("esc")), 1);
}

#[test]
fn an_answer_that_is_typed_is_waited_for() {
    let mut session = called();
    session.state.watch.on = true;
    session.key("b");
    session.key("=");
    assert_eq!(session.send(Msg::Touched(OWN)), []);
    assert_eq!(session.key("esc"), [Effect::Follow(OWN)]);
}

#[test]
fn what_was_written_here_stays_to_be_taken_back() {
    let mut it = Following::new();
    it.candidates();
    it.session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("numbers.py".into()) });
    let taken = FILE.replace("    \"\"\"\n\n\ndef g", "    \"\"\"\n    return 0\n\n\ndef g");
    let effects = it.save(&format!("{taken}\nx = 1\n"), OWN);
    assert!(matches!(effects[..], [Effect::Use { .. }]), "{effects:?}");
    assert!(it.session.state.can_undo());
    assert_eq!(it.session.key("u"), [Effect::Undo]);
    // Its body gone again, by another program.
    let effects = it.save(FILE, OWN);
    assert!(matches!(effects[0], Effect::Adopt { .. }) && !it.session.state.can_undo());
    assert_eq!(generations(&it.pause()), 1);
}

#[test]
fn a_generation_that_the_user_began_meanwhile_counts() {
    let mut it = Following::new();
    it.save(&FILE.replace("Twice", "Thrice"), OWN);
    assert_eq!(generations(&it.session.key("g")), 1);
    assert_eq!(it.pause(), []);
}

#[test]
fn off_nothing_is_followed() {
    let mut it = Following::new();
    assert_eq!(it.session.key("F"), [Effect::Watch(false)]);
    assert_eq!(it.session.send(Msg::Touched(OWN)), []);
    let mut free = Session::free(1);
    free.key("esc");
    assert_eq!(free.key("F"), []);
    assert!(!free.state.watch.on && free.state.notice.is_some());
}
