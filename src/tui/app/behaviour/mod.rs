//! Behaviour of the core, told as keys and events in, state and effects out.

mod asking;
mod choosing;
mod taking;
mod typing;
mod viewing;
mod writing;

use crate::code::{Place, Target, TargetSpec};
use crate::engine::Summary;
use crate::job::{self, Job, TestsChoice};
use crate::trial::Status;
use crate::tui::app::Effect;
use crate::tui::app::fixture::Session;

fn test_of(run: u64, candidate: usize) -> Effect {
    Effect::Test { run, candidate }
}

/// A job whose function lies in a file.
fn numbers_py() -> Job {
    let place = Place::Function("is_even".into());
    let target = Target::read(&TargetSpec { path: "examples/numbers.py".into(), place }).unwrap();
    Job::from_target(target, &TestsChoice::IfAny).unwrap()
}

/// The message in the footer.
fn said(session: &Session) -> String {
    session.state.notice.as_ref().map_or(String::new(), |notice| notice.text.clone())
}

/// Three that ended: the first and the third passed.
fn judged() -> Session {
    let mut session = Session::tested(3);
    session.key("g");
    session.finish(0, "    best = numbers[0]\n    return best\n");
    session.finish(1, "    best = None\n    return best\n");
    session.finish(2, "    return max(numbers)\n");
    session.done();
    session.verdict(0, Status::Passed, "2 checks");
    session.verdict(1, Status::Failed, "no");
    session.verdict(2, Status::Passed, "2 checks");
    session
}

fn outcome() -> job::Outcome {
    job::Outcome { candidates: Vec::new(), summary: Summary::default(), picked: None, agreement: None }
}
