//! Behaviour with several runs of one function: `[`, `]`, and runs that were kept.

use std::sync::Arc;

use super::calls::tests::{called, said};
use super::fixture::{PROMPT, Session, body};
use super::past::Recalled;
use super::refusal::refusal;
use super::state::{IGNORE_YES_MS, Question};
use super::{Effect, Msg, Phase, Testing};
use crate::engine::{Event, FinishReason, Summary};
use crate::job::{self, Job, TestsChoice};
use crate::trial::{Status, Verdict};
use crate::tui::event::Key;
use crate::tui::keymap::Action;

/// A kept run of two candidates, of which the second passed.
fn kept(id: &str, job: Result<Arc<Job>, String>) -> Recalled {
    let finished = |candidate: usize| {
        let (text, mean_logprob) = (format!("    return {id}{candidate}\n"), Some(-0.5));
        job::Event::Source(Event::Finished { candidate, reason: FinishReason::Stop, text, mean_logprob })
    };
    let verdict = |candidate, status| {
        let verdict = Verdict { status, ..Verdict::not_run("kept\u{1b}[2J") };
        job::Event::Verdict { candidate, outcome: Ok(verdict) }
    };
    let summary = Summary { ranking: vec![0, 1], ..Summary::default() };
    let events = vec![
        (100, finished(0)),
        (200, finished(1)),
        (210, job::Event::Source(Event::Done(Box::new(summary)))),
        (300, verdict(0, Status::Failed)),
        (400, verdict(1, Status::Passed)),
        (410, job::Event::Pick(Some(1))),
    ];
    Recalled {
        id: id.to_owned(),
        at: id.parse().unwrap(),
        when: "14:03".to_owned(),
        seed: 5,
        n: 2,
        events,
        job,
        applied: None,
        answers: Vec::new(),
        wish: None,
    }
}

/// A session with two runs, the second still being written.
fn two_runs() -> Session {
    let mut session = Session::tested(2);
    session.key("g");
    session.send(Msg::Began { run: 1, at: 1000, when: "13:00".to_owned() });
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    session.done();
    session.verdict(0, Status::Passed, "");
    session.verdict(1, Status::Failed, "no");
    session.key("R");
    session.tokens(0, "    retu");
    session
}

fn words(session: &Session) -> Option<String> {
    session.state.past.words()
}

/// The answers to a kept run come back with it, and those of the session after it.
#[test]
fn answers_are_those_of_the_shown_run() {
    let mut session = called();
    session.key("b");
    let effects = session.send(Msg::Key(Key::parse("2").unwrap()));
    let [Effect::Said { run: 1, answers, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((answers.len(), answers[0].0.as_str(), answers[0].1.shown.as_str()), (1, "mean([])", "0"));
    let answer = answers[0].clone();
    session.key("esc");
    session.key("[");
    let job = session.state.job.clone();
    let run = Recalled { answers: vec![("mean([3])".to_owned(), answer.1)], ..kept("1", Ok(job)) };
    session.send(Msg::Recalled(vec![run]));
    let calls = |session: &Session| session.state.checks.iter().map(|check| check.call.clone()).collect::<Vec<_>>();
    assert_eq!(calls(&session), ["mean([3])"]);
    session.key("]");
    assert_eq!(calls(&session), ["mean([])"]);
    session.key("[");
    assert_eq!(calls(&session), ["mean([3])"]);
}

#[test]
fn an_earlier_run_is_shown_while_the_newest_goes_on() {
    let mut session = two_runs();
    assert_eq!(session.key("["), [Effect::Shown { run: 1 }]);
    assert_eq!((session.run().id, session.run().candidates[0].text.clone()), (1, body(0)));
    assert_eq!(words(&session).as_deref(), Some("run 1 of 2, 13:00"));
    // Events of the newest arrive meanwhile.
    let finished = Event::Finished {
        candidate: 0,
        reason: FinishReason::Stop,
        text: "    return 7\n".into(),
        mean_logprob: Some(-0.1),
    };
    session.send(Msg::Job { run: 2, event: job::Event::Source(finished) });
    session.send(Msg::Job { run: 1, event: job::Event::Source(Event::Failed("stale".into())) });
    assert_eq!((session.run().id, session.state.error.as_ref()), (1, None));
    assert_eq!(session.key("]"), [Effect::Shown { run: 2 }]);
    assert_eq!(session.run().candidates[0].text, "    return 7\n");
    assert_eq!(session.run().candidates[0].testing, Testing::Queued);
    assert!(session.run().is_live(), "it goes on");
    assert_eq!(words(&session), None);
    assert_eq!(session.key("]"), []);
    assert_eq!(session.state.notice.as_ref().unwrap().text, "this is the newest run");
    // A generation that was ended by the next one is over.
    session.key("R");
    session.key("R");
    session.key("[");
    assert_eq!((session.run().id, session.run().is_settled()), (2, true));
    assert_eq!(session.run().candidates[1].phase, Phase::Finished(FinishReason::Cancelled));
}

/// No run is shown yet.
#[test]
fn kept_runs_are_shown_at_the_start() {
    let mut session = Session::tested(2);
    session.key("esc");
    let job = session.state.job.clone();
    assert_eq!(session.key("["), [Effect::Recall { job: job.clone() }]);
    let effects = session.send(Msg::Recalled(vec![kept("1", Ok(job.clone())), kept("2", Ok(job))]));
    assert!(matches!(effects.last(), Some(Effect::Shown { run: 2 })), "{effects:?}");
    assert_eq!(session.run().candidates[0].text, "    return 20\n");
}

/// The file has another text now: what was written for the text before can be looked at.
#[test]
fn a_run_that_was_put_aside_is_shown_again() {
    let mut session = two_runs();
    let changed = Job::from_text("def largest(xs):\n    \"\"\"Other.\"\"\"\n", &TestsChoice::IfAny).unwrap();
    session.send(Msg::Read(Ok(Arc::new(changed))));
    let said = session.state.notice.as_ref().unwrap().text.clone();
    assert!(session.state.run.is_none() && said.ends_with("[ shows the candidates for the text before"), "{said}");
    assert_eq!(session.key("["), [Effect::Shown { run: 2 }]);
    assert!(session.state.past.is_over() && session.state.past.refusal().is_some());
}

#[test]
fn kept_runs_are_read_once_and_shown_before_those_of_the_session() {
    let mut session = two_runs();
    session.key("[");
    let job = session.state.job.clone();
    assert_eq!(session.key("["), [Effect::Recall { job: job.clone() }]);
    assert_eq!(session.key("["), [], "they are being read");
    let effects = session.send(Msg::Recalled(vec![kept("1", Ok(job.clone())), kept("2", Ok(job.clone()))]));
    let belongs = |run, id: &str| Effect::Belongs { run, job: job.clone(), kept: id.to_owned() };
    assert_eq!(effects, [belongs(3, "1"), belongs(4, "2"), Effect::Shown { run: 4 }]);
    assert_eq!(words(&session).as_deref(), Some("run 2 of 4, 14:03"));
    let run = session.run();
    assert_eq!((run.pick, run.focus, run.is_settled()), (Some(1), 1, true));
    assert!(run.testing(1).passed() && !run.testing(0).passed());
    assert_eq!(run.candidates[0].text, "    return 20\n");
    let Testing::Done(verdict) = run.testing(1) else { panic!("{:?}", run.testing(1)) };
    assert_eq!(verdict.message, "kept", "cleaned like any other");
    session.key("[");
    assert_eq!(words(&session).as_deref(), Some("run 1 of 4, 14:03"));
    assert_eq!(session.key("["), []);
    assert!(session.state.notice.as_ref().unwrap().text.contains("no earlier run"));
    (0..3).for_each(|_| drop(session.key("]")));
    assert!(session.run().id == 2 && session.run().is_live());
    let mut session = two_runs();
    session.key("[");
    session.key("[");
    session.send(Msg::Recalled(Vec::new()));
    assert!(session.state.notice.as_ref().unwrap().text.contains("no earlier run of rolling_max is kept"));
    assert_eq!(session.run().id, 1);
}

#[test]
fn candidates_of_earlier_runs_can_be_taken_while_they_fit() {
    let mut session = two_runs();
    session.key("[");
    session.key("[");
    let (job, why) = (session.state.job.clone(), "the file has changed".to_owned());
    session.send(Msg::Recalled(vec![kept("1", Err(why.clone())), kept("2", Ok(job))]));
    let taken = session.key("enter");
    let text = "    return 21\n".to_owned();
    let expected = [Effect::CancelAll { run: 2 }, Effect::Quit { accept: Some(text) }];
    assert_eq!(taken, expected, "what is under way ends, the text is that of the shown run");

    let mut session = two_runs();
    session.key("[");
    session.key("[");
    session.send(Msg::Recalled(vec![kept("1", Err(why.clone()))]));
    assert_eq!(session.key("enter"), []);
    assert_eq!(session.state.notice.as_ref().unwrap().text, why);
    assert_eq!(refusal(&session.state, Action::Accept).map(|refusal| refusal.1), Some(why), "no footer offers it");
}

#[test]
fn keys_that_are_about_work_under_way_go_to_the_newest_run() {
    let shown = Effect::Shown { run: 2 };
    let cancel = Effect::CancelAll { run: 2 };
    for key in ["X", "ctrl-c"] {
        let mut session = two_runs();
        session.key("[");
        assert_eq!(session.key(key), [shown.clone(), cancel.clone()], "{key}");
        assert!(session.run().stopping);
    }
    let mut session = two_runs();
    session.key("[");
    assert_eq!(session.key("q"), std::slice::from_ref(&shown), "asks for a second one");
    assert_eq!(session.key("q"), [cancel.clone(), Effect::Quit { accept: None }]);
    let mut session = two_runs();
    session.key("[");
    let job = session.state.job.clone();
    assert_eq!(session.key("R"), [shown], "asks for a second one");
    assert_eq!(session.key("R"), [cancel, Effect::Generate { run: 3, job, n: 2, seed: 2 }]);
    session.key("[");
    assert_eq!(session.key("T"), [], "it is over");
    assert_eq!(session.run().candidates[0].testing, Testing::None);
}

#[test]
fn an_answer_about_tests_is_for_the_newest_run() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 1);
    session.open(false);
    session.key("g");
    session.key("R");
    session.key("R");
    session.key("[");
    let (text, mean_logprob) = (body(0), Some(-0.1));
    let finished = Event::Finished { candidate: 0, reason: FinishReason::Stop, text, mean_logprob };
    session.send(Msg::Job { run: 2, event: job::Event::Source(finished) });
    assert!(matches!(session.state.question, Some(Question::Unprotected { .. })));
    session.wait(IGNORE_YES_MS);
    assert_eq!(session.key("n"), [Effect::Shown { run: 2 }, Effect::CancelTests { run: 2 }]);
    assert_eq!(session.run().candidates[0].testing, Testing::Refused);
}

#[test]
fn a_kept_run_is_gone_on_with() {
    let mut session = Session::tested(4);
    let job = session.state.job.clone();
    let run = Recalled { applied: Some(1), ..kept("9", Ok(job.clone())) };
    let effects = session.send(Msg::Resumed(Box::new(run)));
    assert_eq!(effects, [Effect::Belongs { run: 1, job: job.clone(), kept: "9".to_owned() }, Effect::Shown { run: 1 }]);
    assert_eq!(words(&session).as_deref(), Some("run 1 of 1, 14:03"));
    assert!(session.state.is_in_file(1) && session.state.can_undo());
    assert_eq!(session.run().seed, 5);
    assert_eq!(session.key("T"), [], "nothing of it runs any more");
    assert_eq!(session.key("e"), [], "nor can it be changed");
    assert_eq!(session.key("u"), [Effect::Undo]);
    assert_eq!(session.key("R"), [Effect::Generate { run: 2, job, n: 4, seed: 6 }]);
    session.key("[");
    assert_eq!(words(&session).as_deref(), Some("run 1 of 2, 14:03"));
}

#[test]
fn kept_runs_stand_by_their_time_around_the_one_that_is_gone_on_with() {
    let mut session = Session::tested(2);
    let job = session.state.job.clone();
    let run = |id: &str| kept(id, Ok(job.clone()));
    session.send(Msg::Resumed(Box::new(run("5"))));
    session.key("[");
    session.send(Msg::Recalled(vec![run("3"), run("7")]));
    assert_eq!(words(&session).as_deref(), Some("run 1 of 3, 14:03"));
    assert_eq!(session.run().candidates[0].text, "    return 30\n");
    session.key("]");
    session.key("]");
    assert_eq!(session.run().candidates[0].text, "    return 70\n");
    session.key("R");
    session.key("[");
    assert_eq!(words(&session).as_deref(), Some("run 3 of 4, 14:03"));
}

#[test]
fn a_kept_run_has_its_table_of_calls_and_is_judged_by_an_answer() {
    let mut session = called();
    let (job, agreement) = (session.state.job.clone(), session.state.run.as_ref().unwrap().agreement.clone().unwrap());
    let mut run = kept("9", Ok(job));
    run.events.push((420, job::Event::Agreement(agreement)));
    session.send(Msg::Resumed(Box::new(run)));
    let screen = |session: &Session| -> String {
        let buffer = crate::tui::view::scenes::draw(&session.state, 112, 30);
        buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect()
    };
    assert!(!screen(&session).contains("agree"), "one passed");
    session.key("b");
    assert!(screen(&session).contains("calls: 2 of 3 agree"));
    assert!(screen(&session).contains("3 calls, they differ on 1"));
    session.key("1");
    assert_eq!(said(&session), "none is wrong");
    assert_eq!(session.key("w"), []);
    assert!(said(&session).contains("this run is over"), "{}", said(&session));
    // A line for a call opens all the same: its keys, and Enter, are no commands.
    session.key("+");
    let error = |session: &Session| session.state.answering.as_ref().and_then(|line| line.error.clone());
    assert!(error(&session).is_some_and(|error| error.contains("this run is over")));
    for key in ["9", ")", "enter"] {
        assert_eq!(session.key(key), []);
    }
    assert!(error(&session).is_some_and(|error| error.contains("this run is over")), "{:?}", session.state.answering);
    session.key("esc");
    session.key("esc");
    assert!(screen(&session).contains("RIGHT ANSWER"));
}

#[test]
fn a_verdict_of_a_kept_run_is_shown_without_tests_and_asks_nothing() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 2);
    session.open(false);
    let job = session.state.job.clone();
    session.send(Msg::Resumed(Box::new(kept("9", Ok(job)))));
    assert!(session.run().testing(1).passed());
    assert_eq!(session.state.question, None);
}

#[test]
fn the_title_says_which_run_is_shown_in_narrow_terminals_too() {
    let mut session = two_runs();
    session.key("[");
    for (width, height) in [(40, 12), (60, 16), (80, 24), (200, 50)] {
        let buffer = crate::tui::view::scenes::draw(&session.state, width, height);
        let first: String = (0..width).map(|x| buffer[(x, 0)].symbol()).collect();
        assert!(first.trim_end().ends_with("run 1 of 2, 13:00"), "{first:?}");
    }
}

#[test]
fn a_file_that_was_read_again_leaves_runs_of_another_text_to_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stats.py");
    std::fs::write(&path, PROMPT).unwrap();
    let spec = crate::code::TargetSpec { path: path.clone(), place: crate::code::Place::Any };
    let read = || Arc::new(Job::from_target(crate::code::Target::read(&spec).unwrap(), &TestsChoice::IfAny).unwrap());
    let mut session = Session::on((*read()).clone(), 1);
    session.open(true);
    session.key("g");
    session.finish(0, &body(0));
    session.done();
    session.verdict(0, Status::Passed, "");
    std::fs::write(&path, PROMPT.replace("largest", "smallest")).unwrap();
    session.send(Msg::Read(Ok(read())));
    assert!(session.state.run.is_none());
    session.key("g");
    session.key("[");
    assert_eq!((session.run().id, session.run().candidates[0].text.clone()), (1, body(0)));
    assert_eq!(session.key("enter"), []);
    assert!(session.state.notice.as_ref().unwrap().text.contains("was for another text"));
    session.key("esc");
    assert_eq!(session.key("r"), [Effect::Shown { run: 2 }, Effect::ReadAgain]);
}
