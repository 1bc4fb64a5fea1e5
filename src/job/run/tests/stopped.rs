//! The trial of one candidate is ended.

use super::*;

#[test]
fn the_trials_of_others_go_on() {
    let pool = pool(1, move |trial, cancel| {
        let is_right = trial.program.contains("x + x");
        // A wrong one does not end by itself.
        while !is_right && !cancel.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let status = if is_right { Status::Passed } else { Status::Killed };
        Ok(Verdict { status, ..Verdict::not_run("ran") })
    });
    let (run, events) = start(&Scripted, &pool, ask(false));
    events.iter().find(|event| matches!(event, Event::Testing(3))).unwrap();
    run.stop_test(3);
    let status: Vec<Status> = outcome(&events).candidates.iter().map(|c| c.verdict.status).collect();
    let (passed, stopped) = (Status::Passed, Status::NotRun);
    assert_eq!(status, [passed, stopped, passed, stopped, passed]);
}
