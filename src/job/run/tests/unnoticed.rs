//! Tests that do not notice the function.

use super::*;
use crate::job::Rounds;

/// The verdicts of three candidates, the pick, the ranking and the number of candidates in the end.
fn run_of(verdicts: [Verdict; 3], tests: &TestsChoice) -> (Option<usize>, Vec<usize>, usize) {
    let pool = pool(1, move |trial, _| {
        let which = (0..3).find(|c| trial.program.contains(&format!("return {c}"))).unwrap();
        Ok(verdicts[which].clone())
    });
    let source = Arc::new(Ordered([0, 1, 2])) as Arc<dyn Source>;
    let mut ask = Ask { rounds: Some(Rounds::new(2, &source)), ..ask(false) };
    ask.request.options.n = 3;
    ask.task = Arc::new(Job::from_text(STUB, tests).unwrap());
    let (_run, events) = start(&*source, &pool, ask);
    let done = outcome(&events);
    (done.picked, done.summary.ranking, done.candidates.len())
}

#[test]
fn tests_that_were_found_and_notice_nothing_leave_the_pick_to_the_rank() {
    let unnoticed = || Verdict::not_run("").vacuous("twice");
    let with = |status| Verdict { status, ..Verdict::not_run("ran") };
    let (failed, passed) = (with(Status::Failed), with(Status::Passed));
    let all = || [unnoticed(), unnoticed(), unnoticed()];
    assert_eq!(run_of(all(), &TestsChoice::IfAny), (Some(0), vec![0, 1, 2], 3));
    assert_eq!(run_of(all(), &TestsChoice::Auto).0, None, "the user asked for just these");
    // What a test fails with is no pick, and nothing more is written for it.
    let one = [failed.clone(), unnoticed(), unnoticed()];
    assert_eq!(run_of(one, &TestsChoice::IfAny), (Some(1), vec![1, 2, 0], 3));
    let one = [unnoticed(), passed, failed];
    assert_eq!(run_of(one, &TestsChoice::IfAny), (Some(1), vec![1, 0, 2], 3));
    let missing = || Verdict::not_run("pytest is missing");
    assert_eq!(run_of([missing(), missing(), missing()], &TestsChoice::IfAny).0, None);
}
