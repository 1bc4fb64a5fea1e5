//! Which candidate is the best: verdicts, ranks, the pick and the focus.

use std::sync::Arc;

use super::{judged, outcome, said, test_of};
use crate::engine::{Event, FinishReason, Summary};
use crate::job::{self, Job, TestsChoice};
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::state::Question;
use crate::tui::app::{Effect, Msg, Testing};

#[test]
fn duplicates_share_a_verdict() {
    let mut session = Session::tested(4);
    session.key("g");
    assert_eq!(session.finish(2, &body(0)), []);
    assert_eq!(session.run().candidates[2].testing, Testing::Running);
    assert_eq!(session.finish(0, "    return  0   # same\n\n"), [], "differs in white space and comments only");
    assert_eq!(session.finish(3, &body(0)), []);
    assert_eq!(session.run().candidates[0].duplicate_of, Some(2));
    assert_eq!(session.run().candidates[3].duplicate_of, Some(2), "always the one that is tested");
    session.verdict(2, Status::Passed, "1 check");
    assert!(session.run().testing(0).passed() && session.run().testing(3).passed());
    assert_eq!(session.run().pick, Some(2));
}

#[test]
fn the_best_pass_is_chosen_in_every_order() {
    // All orders in which three verdicts can come, with every set of passing candidates.
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        for passing in 0..8_usize {
            let mut session = Session::tested(3);
            session.key("g");
            for candidate in order {
                session.finish(candidate, &body(candidate));
            }
            session.done();
            let mut picks = Vec::new();
            for candidate in order {
                let passes = passing & (1 << candidate) != 0;
                session.verdict(candidate, if passes { Status::Passed } else { Status::Failed }, "");
                picks.extend(session.run().pick);
            }
            let first = order.into_iter().find(|c| passing & (1 << c) != 0);
            assert_eq!(picks.first().copied(), first, "{order:?} {passing:03b}");
            let best = (0..3).find(|c| passing & (1 << c) != 0);
            assert_eq!(session.run().pick, best, "{order:?} {passing:03b}");
            assert_eq!(session.run().focus, best.unwrap_or(0), "{order:?} {passing:03b}");
        }
    }
}

#[test]
fn the_focus_goes_to_the_first_pass_and_in_the_end_to_the_best() {
    let mut session = Session::tested(3);
    session.key("g");
    for candidate in 0..3 {
        session.finish(candidate, &body(candidate));
    }
    session.verdict(1, Status::Passed, "");
    assert_eq!((session.run().pick, session.run().focus), (Some(1), 1), "the first so far");
    session.done();
    assert_eq!(session.run().focus, 1, "tests have not ended");
    session.verdict(0, Status::Passed, "");
    assert_eq!(session.run().focus, 1);
    session.verdict(2, Status::Failed, "");
    assert_eq!((session.run().pick, session.run().focus), (Some(0), 0), "the best ranked of all");
    session.key("T");
    assert_eq!(session.run().focus, 0, "who tests one again stays there");
}

#[test]
fn when_the_engine_fails_the_first_pass_stays_the_pick() {
    let mut session = Session::tested(3);
    session.key("g");
    session.finish(1, &body(1));
    session.verdict(1, Status::Passed, "");
    session.event(Event::Failed("out of memory".into()));
    assert_eq!((session.run().pick, session.run().focus), (Some(1), 1));
}

#[test]
fn a_pass_does_not_move_a_focus_that_the_user_has_moved() {
    let mut session = Session::tested(3);
    session.key("g");
    session.key("tab");
    session.finish(2, &body(2));
    session.verdict(2, Status::Passed, "");
    assert_eq!((session.run().pick, session.run().focus), (Some(2), 1));
}

#[test]
fn without_tests_the_likeliest_gets_the_focus() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 3);
    session.open(true);
    session.key("g");
    for candidate in 0..3 {
        assert_eq!(session.finish(candidate, &body(candidate)), []);
    }
    session.event(Event::Done(Box::new(Summary { ranking: vec![2, 0, 1], ..Summary::default() })));
    assert_eq!(session.run().focus, 2);
    assert_eq!(session.run().candidates[2].rank, Some(1));
}

/// Half a function is called so, and is not written without a question.
#[test]
fn a_candidate_that_its_token_limit_cut_is_no_finished_one() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 2);
    session.open(true);
    session.key("g");
    for (candidate, text) in [(0, "    for n in numbers:\n"), (1, "    return numbers[0]\n")] {
        let (reason, text, mean_logprob) = (FinishReason::Length, text.to_owned(), Some(-0.1));
        session.event(Event::Finished { candidate, reason, text, mean_logprob });
    }
    session.done();
    let is_cut_off: Vec<bool> = session.run().candidates.iter().map(|candidate| candidate.is_cut_off).collect();
    assert_eq!(is_cut_off, [true, false]);
    session.key("1");
    session.key("enter");
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
}

#[test]
fn a_candidate_that_was_stopped_is_no_finished_one() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 1);
    session.open(true);
    session.key("g");
    session.tokens(0, "    for n in");
    let (reason, text) = (FinishReason::Cancelled, "    for n in".to_owned());
    session.event(Event::Finished { candidate: 0, reason, text, mean_logprob: None });
    session.done();
    session.key("enter");
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    let why = session.run().candidates[0].unfinished();
    assert_eq!(why, Some("is not finished: it was stopped as it was written."));
}

#[test]
fn candidates_that_say_the_same_are_one_block() {
    let mut session = Session::tested(4);
    session.key("g");
    session.finish(0, "    out = []\n    for n in numbers:\n        out.append(n)\n    return out\n");
    session.finish(1, "    return numbers\n");
    session.finish(2, "    result = []\n    for x in numbers:\n        result.append(x)\n    return result\n");
    assert_eq!(session.run().shown(), [0, 1, 2, 3], "nothing moves while text flows");
    session.finish(3, "    return numbers  # as they are\n");
    session.done();
    assert_eq!(session.run().shown(), [0, 1]);
    assert!(session.run().shared.is_empty());
    // Another verdict is another block.
    session.verdict(0, Status::Passed, "2 checks");
    assert_eq!(session.run().shown(), [0, 1, 2]);
    session.verdict(2, Status::Passed, "2 checks");
    session.verdict(1, Status::Failed, "no");
    assert_eq!(session.run().block_of(2).unwrap().members, [0, 2]);
    session.key("2");
    assert_eq!(session.run().focus, 1, "the second pane");
    session.key("4");
    assert_eq!((session.run().focus, said(&session).as_str()), (1, "there are 2 panes"));
    session.key("tab");
    assert_eq!(session.run().focus, 0);
    session.key("o");
    assert_eq!(session.run().shown(), [0, 1, 2]);
    session.key("o");
    assert_eq!(session.run().shown(), [0, 1], "folded again, by a block of one");
}

/// A session whose source tells no probabilities: none passes but `passing`.
fn improbable(n: usize, passing: Option<usize>) -> Session {
    let mut session = Session::tested(n);
    session.key("g");
    for candidate in 0..n {
        let (reason, text) = (FinishReason::Stop, body(candidate));
        session.event(Event::Finished { candidate, reason, text, mean_logprob: None });
    }
    let ranking: Vec<usize> = (0..n).collect();
    session.event(Event::Done(Box::new(Summary { ranking: ranking.clone(), ..Summary::default() })));
    for candidate in 0..n {
        let status = if passing == Some(candidate) { Status::Passed } else { Status::Failed };
        session.verdict(candidate, status, "");
    }
    let summary = Summary { ranking, ..Summary::default() };
    session.job(job::Event::Pick(passing));
    session.job(job::Event::Done(Box::new(job::Outcome { summary, picked: passing, ..outcome() })));
    session
}

#[test]
fn ranks_are_in_the_order_of_the_pick_and_missing_where_nothing_orders() {
    let ranks = |session: &Session| session.run().candidates.iter().map(|c| c.rank).collect::<Vec<_>>();
    assert_eq!(ranks(&improbable(3, Some(2))), [Some(2), Some(2), Some(1)], "the pick is the first");
    assert_eq!(ranks(&improbable(3, None)), [None; 3]);
    let session = judged();
    assert_eq!((ranks(&session), session.run().pick), (vec![Some(1), Some(3), Some(2)], Some(0)));
}

#[test]
fn testing_again_reads_the_tests_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test_numbers.py");
    let choice = TestsChoice::Named(vec![path.display().to_string()]);
    std::fs::write(&path, "assert rolling_max([1]) == [1]\n").unwrap();
    let mut session = Session::on(Job::from_text(PROMPT, &choice).unwrap(), 2);
    session.open(true);
    session.key("g");
    for candidate in 0..2 {
        session.finish(candidate, &body(candidate));
        session.verdict(candidate, Status::Failed, "no");
    }
    session.done();
    let job = session.state.job.clone();
    session.key("2");
    let read = |result: Result<Job, job::JobError>| {
        let result = result.map(Arc::new).map_err(|why| why.to_string());
        Msg::TestsRead { run: 1, candidate: 1, result }
    };
    assert_eq!(session.key("T"), [Effect::ReadTests { run: 1, candidate: 1, job: job.clone() }]);
    assert_eq!(session.run().candidates[1].testing, Testing::Queued);
    assert_eq!(session.send(read(job.with_tests_read_again())), [test_of(1, 1)], "they are as before");
    std::fs::write(&path, "assert rolling_max([1]) == [2]\n").unwrap();
    let effects = session.send(read(job.with_tests_read_again()));
    assert_ne!(session.state.job, job);
    let job = session.state.job.clone();
    assert_eq!(effects, [Effect::Use { job: job.clone() }, test_of(1, 0), test_of(1, 1)]);
    assert_eq!(said(&session), "the tests have changed; its candidates are tested again");
    std::fs::remove_file(&path).unwrap();
    session.send(read(job.with_tests_read_again()));
    assert!(matches!(session.run().candidates[1].testing, Testing::Fault(_)));
    let other = Msg::TestsRead { run: 7, candidate: 1, result: Ok(job) };
    assert!(session.send(other).is_empty(), "of another run");
}

#[test]
fn without_tests_any_more_candidates_are_untested() {
    let mut session = judged();
    let none = Arc::new(Job::from_text(PROMPT, &TestsChoice::None).unwrap());
    assert_eq!(session.send(Msg::Read(Ok(none.clone()))), [Effect::Use { job: none }]);
    assert!((0..3).all(|candidate| session.run().testing(candidate) == &Testing::None));
    assert!(said(&session).ends_with("; there are no tests any more, so its candidates are untested"));
    assert_eq!(session.run().pick, Some(0), "the likeliest");
}
