//! Candidates being written: beginning, events of the engine, stopping, another round.

use crate::engine::{Event, FinishReason, Summary, thoughts_took_all};
use crate::job::{self, Job, TestsChoice, WhyMore};
use crate::trial::Status;
use crate::tui::app::fixture::{PROMPT, Session, body};
use crate::tui::app::state::{Loading, While};
use crate::tui::app::{Effect, Msg, Phase, Testing};
use crate::tui::view::scenes;

#[test]
fn one_key_generates() {
    for key in ["enter", "g", "f5"] {
        let mut session = Session::tested(4);
        let effects = session.key(key);
        assert_eq!(effects, [Effect::Generate { run: 1, job: session.state.job.clone(), n: 4, seed: 0 }], "{key}");
    }
}

#[test]
fn what_the_source_has_to_say_is_shown_as_one_clean_line() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open_saying(true, Some("cuda is not used:\nit \u{1b}[2Jneeds a driver"));
    let said = &session.state.notice.as_ref().expect("a notice").text;
    assert!(said.starts_with("cuda is not used: it") && said.ends_with("needs a driver"), "{said:?}");
    assert!(!said.contains(['\n', '\u{1b}']), "{said:?}");
}

#[test]
fn generation_waits_for_the_models_and_ctrl_c_takes_the_wish_back() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    assert_eq!(session.key("g"), []);
    let job = session.state.job.clone();
    assert_eq!(session.open(true), [Effect::Generate { run: 1, job, n: 2, seed: 0 }]);
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.key("g");
    session.key("ctrl-c");
    assert_eq!(session.open(true), []);
}

#[test]
fn text_streams_into_fixed_slots() {
    let mut session = Session::tested(2);
    session.key("g");
    session.event(Event::Prefill { done: 3, total: 10 });
    assert!(session.run().candidates.iter().all(|c| c.phase == Phase::Prefill));
    session.tokens(1, "    retu");
    session.tokens(1, "rn 1\u{1b}[2J");
    let candidate = &session.run().candidates[1];
    assert_eq!((candidate.phase, candidate.tokens), (Phase::Streaming, 6));
    assert_eq!(candidate.text, "    return 1\u{1b}[2J", "what is applied is what the model wrote");
    assert_eq!(session.run().candidates[0].phase, Phase::Prefill);
}

#[test]
fn events_of_earlier_generations_are_dropped() {
    let mut session = Session::tested(2);
    session.key("g");
    session.tokens(0, "old");
    session.key("R");
    let effects = session.key("R");
    assert_eq!(
        effects,
        [Effect::CancelAll { run: 1 }, Effect::Generate { run: 2, job: session.state.job.clone(), n: 2, seed: 1 }]
    );
    let tokens = |text: &str| Event::Tokens {
        candidate: 0,
        text: text.into(),
        ids: vec![1],
        logprobs: vec![-1.0],
        alternatives: Vec::new(),
        drafted: 0,
        accepted: 0,
    };
    session.send(Msg::Job { run: 1, event: job::Event::Source(tokens("stale")) });
    session.send(Msg::Job { run: 1, event: job::Event::Source(Event::Failed("stale".into())) });
    session.send(Msg::Job { run: 1, event: job::Event::Verdict { candidate: 0, outcome: Err("stale".into()) } });
    assert_eq!(session.run().candidates[0].text, "");
    assert_eq!(session.state.error, None);
    session.send(Msg::Job { run: 2, event: job::Event::Source(tokens("fresh")) });
    assert_eq!(session.run().candidates[0].text, "fresh");
}

#[test]
fn events_about_candidates_that_do_not_exist_change_nothing() {
    let mut session = Session::tested(2);
    session.key("g");
    session.tokens(7, "x");
    session.finish(7, "x");
    session.verdict(7, Status::Passed, "");
    session.event(Event::Done(Box::new(Summary { ranking: vec![9, 1, 1], ..Summary::default() })));
    assert!(!session.run().is_live());
}

#[test]
fn candidates_cut_off_are_not_tested() {
    let mut session = Session::tested(3);
    session.key("g");
    for (candidate, reason) in [(0, FinishReason::Cancelled), (1, FinishReason::Budget)] {
        let effects =
            session.event(Event::Finished { candidate, reason, text: body(candidate), mean_logprob: Some(-0.1) });
        assert_eq!(effects, [], "{reason:?}");
    }
    session.done();
    assert_eq!(session.run().candidates.iter().map(|c| c.rank).collect::<Vec<_>>(), [None; 3]);
}

#[test]
fn a_candidate_of_thoughts_alone_says_so_and_is_not_tested() {
    let mut session = Session::tested(2);
    session.key("g");
    let why = thoughts_took_all(64);
    session.event(Event::Broken { candidate: 0, why: why.clone() });
    let (reason, text) = (FinishReason::Length, String::new());
    session.event(Event::Finished { candidate: 0, reason, text, mean_logprob: Some(-0.1) });
    // The flag is a setting here.
    let why = why.replace("--max-tokens", "max-tokens (key ,)");
    assert_eq!(session.run().candidates[0].testing, Testing::Fault(why.clone()));
    assert_eq!(session.state.note(0), Some(why));
}

#[test]
fn models_that_could_not_be_loaded_are_loaded_again_when_candidates_are_asked_for() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.send(Msg::Opened(Err("the server does not answer".to_owned())));
    let said = session.state.error.clone().unwrap_or_default();
    assert!(said.starts_with("the server does not answer; ") && said.ends_with(" tries again"), "{said}");
    assert_eq!(session.key("g"), [Effect::Open]);
    assert_eq!((&session.state.loading, &session.state.error), (&Loading::Opening, &None));
    assert!(matches!(session.open(true)[..], [Effect::Generate { .. }]), "it was asked for");
}

#[test]
fn stopping_one_and_all() {
    let mut session = Session::tested(3);
    session.key("g");
    session.key("2");
    session.event(Event::Prefill { done: 1, total: 2 });
    let stopping = |session: &Session| {
        let screen = scenes::text(&scenes::draw(&session.state, 120, 30));
        screen.matches("stopping").count()
    };
    assert_eq!(session.key("x"), [Effect::Cancel { run: 1, candidate: 1 }]);
    assert_eq!(stopping(&session), 1);
    session.tokens(1, "x");
    assert_eq!(stopping(&session), 1, "until it has ended");
    session.finish(1, &body(1));
    assert_eq!(session.key("x"), [Effect::CancelTest { run: 1, candidate: 1 }]);
    assert_eq!(session.key("x"), []);
    assert_eq!(session.state.notice.as_ref().unwrap().text, "B has ended already");
    assert_eq!(session.key("X"), [Effect::CancelAll { run: 1 }]);
    assert!(session.run().stopping);
    assert_eq!(stopping(&session), 3, "two candidates, and the notice");
}

#[test]
fn tests_of_one_and_of_all_are_stopped() {
    let mut session = Session::tested(3);
    session.key("g");
    (0..3).for_each(|index| drop(session.finish(index, &body(index))));
    session.done();
    session.key("2");
    assert_eq!(session.key("x"), [Effect::CancelTest { run: 1, candidate: 1 }]);
    let said = |session: &Session| session.state.notice.as_ref().unwrap().text.clone();
    assert_eq!(said(&session), "the tests of B are stopped; T runs them again");
    let pending: Vec<bool> = session.run().candidates.iter().map(|c| c.testing.is_pending()).collect();
    assert_eq!(pending, [true, false, true]);
    session.key("x");
    assert_eq!(said(&session), "B has ended already");
    assert_eq!(session.key("X"), [Effect::CancelTests { run: 1 }]);
    assert_eq!((said(&session).as_str(), session.run().is_testing()), ("the tests are stopped", false));
}

#[test]
fn the_first_pass_stops_the_writing_where_that_is_wished() {
    for wished in [false, true] {
        let mut session = Session::tested(4);
        session.state.stop_on_pass = wished;
        session.key("g");
        (0..3).for_each(|index| drop(session.finish(index, &body(index))));
        session.verdict(0, Status::Passed, "");
        assert_eq!(session.run().stopping, wished, "by the run itself");
        assert!(session.run().candidates[2].testing.is_pending(), "what has ended is tested");
    }
}

#[test]
fn the_number_of_candidates_changes_within_limits() {
    let mut session = Session::tested(1);
    session.key("-");
    assert_eq!(session.state.options.n, 1);
    for _ in 0..100 {
        session.key("+");
    }
    assert_eq!(session.state.options.n, 64);
}

#[test]
fn nothing_wakes_an_idle_screen() {
    let mut session = Session::tested(2);
    assert_eq!(session.state.wake_at(), None);
    session.key("g");
    assert!(session.state.wake_at().is_some(), "the rate is shown anew");
    session.finish(0, &body(0));
    session.finish(1, &body(1));
    session.done();
    session.verdict(0, Status::Passed, "2 checks");
    session.verdict(1, Status::Failed, "no");
    session.wait(10_000);
    assert_eq!(session.state.wake_at(), None);
    // Whatever is open, and with an earlier run.
    session.key("R");
    session.key("X");
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate + 2))));
    session.done();
    (0..2).for_each(|candidate| drop(session.verdict(candidate, Status::Passed, "2 checks")));
    for keys in [&["d"][..], &["esc", "p"], &["esc", "t"], &["esc", "["], &["z"], &["?"], &["esc", "ctrl-t"]] {
        for key in keys {
            session.key(key);
        }
        session.wait(10_000);
        assert_eq!(session.state.wake_at(), None, "after {keys:?}");
    }
}

#[test]
fn the_rate_is_an_average_and_changes_four_times_a_second() {
    let mut session = Session::tested(4);
    session.key("g");
    let mut seen = Vec::new();
    for _ in 0..100 {
        session.step(4);
        seen.push(session.run().rate.to_bits());
    }
    seen.dedup();
    assert!(seen.len() <= 5, "{} values in a second", seen.len());
    assert!((session.run().rate - 1200.0).abs() < 100.0, "{}", session.run().rate);
    assert_eq!(session.run().accepted_per_step(), Some(2.0));
}

#[test]
fn a_further_round_adds_candidates_that_are_written_and_tested_like_the_first() {
    let mut session = Session::tested(2);
    session.key("g");
    session.finish(0, "    return 0\n");
    session.finish(1, "    return 1\n");
    session.done();
    assert!(session.key("*").is_empty(), "its tests have not ended");
    session.verdict(0, Status::Failed, "no");
    session.verdict(1, Status::Failed, "no");
    assert!(session.run().is_settled());
    session.job(job::Event::Round { number: 2, candidates: 2..4, told: 1, why: WhyMore::NonePasses });
    let run = session.run();
    assert!(run.is_live() && run.candidates.len() == 4, "{:?}", run.candidates.len());
    assert_eq!(run.candidates.iter().map(|c| (c.round, c.told)).collect::<Vec<_>>()[2..], [(2, false), (2, true)]);
    let said = session.state.notice.as_ref().map_or("", |notice| notice.text.as_str());
    assert!(said.contains("none of 2 passed: writing 2 more, 1 of them told what failed"), "{said}");
    session.wait(7000);
    assert!(session.state.notice.is_none());
    session.state.say_while(While::Generating, "writing 2 more");
    session.finish(2, "    return 2\n");
    session.finish(3, "    return max(numbers)\n");
    session.event(Event::Done(Box::new(Summary { ranking: vec![3, 1, 0, 2], ..Summary::default() })));
    assert!(session.state.notice.is_none(), "they are written");
    session.verdict(3, Status::Passed, "2 checks");
    session.verdict(2, Status::Failed, "no");
    session.job(job::Event::Pick(Some(3)));
    assert_eq!((session.run().pick, session.run().focus), (Some(3), 3));
    assert_eq!(session.run().candidates.iter().map(|c| c.rank).collect::<Vec<_>>(), [3, 2, 4, 1].map(Some));
    // Another one whenever all has ended.
    let run = session.run().id;
    assert_eq!(session.key("*"), [Effect::Round { run }]);
}

#[test]
fn candidates_that_are_being_written_are_replaced_when_asked_twice() {
    for key in ["R", "f5"] {
        let mut session = Session::tested(2);
        session.key("g");
        session.tokens(0, "    ret");
        assert_eq!(session.key(key), []);
        session.key("j");
        assert_eq!(session.key(key), [], "another key disarms");
        assert!(matches!(session.key(key)[..], [Effect::CancelAll { run: 1 }, Effect::Generate { run: 2, .. }]));
    }
}
