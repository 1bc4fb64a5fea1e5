//! Behaviour of the core, told as keys and events in, state and effects out.

use std::sync::Arc;

use super::fixture::{PROMPT, Session, body};
use super::state::{Consent, IGNORE_YES_MS, Loading, Question, While};
use super::{Effect, Focus, Msg, Phase, Testing};
use crate::code::{Place, Target, TargetSpec};
use crate::engine::{Event, FinishReason, Summary, thoughts_took_all};
use crate::job::{self, Job, TestsChoice};
use crate::source::Prompt;
use crate::trial::Status;
use crate::tui::keymap::Context;

fn test_of(run: u64, candidate: usize) -> Effect {
    Effect::Test { run, candidate }
}

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
    assert_eq!(session.run().candidates[0].testing, Testing::Fault(why.clone()));
    assert_eq!(session.state.note(0), Some(why));
}

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

#[test]
fn accepting_without_a_file_leaves_with_the_text() {
    let mut session = Session::tested(1);
    session.key("g");
    session.tokens(0, "    ret");
    assert_eq!(session.key("enter"), [], "not while it is written");
    session.finish(0, &body(0));
    session.verdict(0, Status::Passed, "");
    session.done();
    assert_eq!(session.key("enter"), [Effect::Quit { accept: Some(body(0)) }]);
}

/// A job whose function lies in a file.
fn numbers_py() -> Job {
    let place = Place::Function("is_even".into());
    let target = Target::read(&TargetSpec { path: "examples/numbers.py".into(), place }).unwrap();
    Job::from_target(target, &TestsChoice::IfAny).unwrap()
}

/// A session whose function lies in a file.
fn in_a_file(n: usize) -> Session {
    let mut session = Session::on(numbers_py(), n);
    session.open(true);
    session.key("g");
    for candidate in 0..n {
        session.finish(candidate, &body(candidate));
    }
    session.done();
    session
}

/// Bodies are whole before it is known what most of them do.
#[test]
fn before_there_is_a_pick_taking_asks() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 2);
    session.open(true);
    session.key("g");
    (0..2).for_each(|candidate| drop(session.finish(candidate, &body(candidate))));
    assert_eq!(session.key("enter"), []);
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    session.key("n");
    session.job(job::Event::Pick(Some(1)));
    assert_eq!(session.run().focus, 1);
    session.key("enter");
    assert_eq!(session.state.question, None);
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
fn accepting_writes_the_file_and_u_takes_it_back() {
    let mut session = in_a_file(2);
    for candidate in 0..2 {
        session.verdict(candidate, Status::Passed, "");
    }
    assert_eq!(session.key("enter"), [Effect::Apply { run: 1, candidate: 0, text: body(0) }]);
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("stats.py".into()) });
    assert!(session.run().candidates[0].applied);
    assert_eq!(
        session.state.notice.as_ref().unwrap().text,
        "A written to stats.py, u undoes, Ctrl-N next unfinished function"
    );
    assert_eq!(session.key("enter"), [Effect::Stands], "another program may have changed it");
    session.send(Msg::Stands(true));
    assert_eq!(session.state.notice.as_ref().unwrap().text, "A is in the file already");
    session.key("tab");
    assert_eq!(session.key("enter"), [Effect::Undo, Effect::Apply { run: 1, candidate: 1, text: body(1) }]);
    session.send(Msg::Undone(Ok("stats.py".into())));
    session.send(Msg::Applied { run: 1, candidate: 1, result: Ok("stats.py".into()) });
    assert!(session.run().candidates[1].applied && !session.run().candidates[0].applied);
    assert_eq!(session.key("u"), [Effect::Undo]);
    session.send(Msg::Undone(Ok("stats.py".into())));
    assert!(!session.state.can_undo());
    assert_eq!(session.key("u"), []);
    session.send(Msg::Applied { run: 1, candidate: 1, result: Ok("stats.py".into()) });
    session.send(Msg::Stands(false));
    let error = session.state.error.clone().unwrap();
    assert!(error.contains("has changed since B was written to it; r reads it again"), "{error}");
    assert!(!session.run().candidates[1].applied && !session.state.can_undo());
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let mut session = in_a_file(1);
    session.send(Msg::Applied { run: 1, candidate: 0, result: Err("stats.py is read-only".into()) });
    assert_eq!(session.state.error.as_deref(), Some("stats.py is read-only"));
    assert!(!session.state.can_undo());
    session.key("esc");
    assert_eq!(session.state.error, None);
}

#[test]
fn taking_what_has_not_passed_asks_first() {
    let mut session = in_a_file(2);
    assert_eq!(session.key("enter"), [], "its tests still run");
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    assert_eq!(session.key("n"), []);
    session.verdict(0, Status::Failed, "no");
    session.key("enter");
    assert_eq!(session.key("enter"), [], "a second Enter is no answer");
    session.verdict(1, Status::Passed, "");
    assert_eq!(session.key("y"), [Effect::Apply { run: 1, candidate: 0, text: body(0) }], "what was asked about");
    let mut session = in_a_file(1);
    session.verdict(0, Status::Passed, "");
    assert_eq!(session.key("enter"), [Effect::Apply { run: 1, candidate: 0, text: body(0) }]);
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::None).unwrap(), 1);
    session.open(true);
    session.key("g");
    session.finish(0, &body(0));
    session.done();
    assert_eq!(
        session.key("enter"),
        [Effect::Quit { accept: Some(body(0)) }],
        "without tests there is nothing to fail"
    );
}

#[test]
fn leaving_while_something_is_under_way_takes_two_presses() {
    let mut session = Session::tested(1);
    assert_eq!(session.key("q"), [Effect::Quit { accept: None }], "nothing is");
    let mut session = Session::tested(1);
    session.key("g");
    assert_eq!(session.key("q"), []);
    session.key("j");
    assert_eq!(session.key("q"), [], "another key disarms");
    session.wait(1600);
    assert_eq!(session.key("q"), [], "so does time");
    assert_eq!(session.key("q"), [Effect::CancelAll { run: 1 }, Effect::Quit { accept: None }]);
    session.finish(0, &body(0));
    session.done();
    assert_eq!(session.key("q"), [], "its test runs");
    session.wait(1600);
    session.verdict(0, Status::Passed, "");
    assert_eq!(session.key("q"), [Effect::Quit { accept: None }]);
}

/// Messages, each up to the event that ends it.
#[test]
fn messages_end_when_they_are_no_longer_true() {
    let said = |session: &Session| session.state.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();

    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.key("g");
    assert!(said(&session).contains("still loading"));
    session.open(true);
    assert_eq!(said(&session), "", "they are loaded");

    session.key("enter");
    assert!(said(&session).contains("A is still being written"));
    session.finish(1, &body(1));
    assert!(said(&session).contains("A is still being written"));
    session.finish(0, &body(0));
    assert_eq!(said(&session), "", "A has ended");

    session.key("X");
    assert!(said(&session).contains("stopping"));
    session.done();
    assert_eq!(said(&session), "", "it has stopped");

    session.key("ctrl-c");
    assert!(said(&session).contains("the tests are stopped"));
    session.verdict(0, Status::Killed, "");
    assert_eq!(session.run().candidates[0].testing, Testing::None, "and say nothing any more");

    session.key("w");
    assert!(said(&session).contains("cut"));
    session.key("<");
    assert_eq!(said(&session), "", "the next key");
    session.key("w");
    session.wait(6000);
    assert_eq!(said(&session), "", "time");

    session.key("T");
    session.send(Msg::Job { run: 1, event: job::Event::Verdict { candidate: 0, outcome: Err("no sandbox".into()) } });
    assert!(session.state.error.is_some());
    session.key("T");
    assert_eq!(session.state.error, None, "it is tried again");
}

#[test]
fn a_file_that_has_changed_is_read_again_and_its_candidates_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stats.py");
    std::fs::write(&path, PROMPT).unwrap();
    let read = || {
        let spec = TargetSpec { path: path.clone(), place: Place::Any };
        Job::from_target(Target::read(&spec).unwrap(), &TestsChoice::IfAny).unwrap()
    };
    let mut session = Session::on(read(), 2);
    session.open(true);
    session.key("g");
    for candidate in 0..2 {
        session.finish(candidate, &body(candidate));
        session.verdict(candidate, Status::Passed, "");
    }
    session.done();
    session.key("enter");
    session.send(Msg::Changed("stats.py".into()));
    let error = session.state.error.clone().unwrap();
    assert!(error.contains("r reads it again"), "{error}");
    std::fs::write(&path, format!("{PROMPT}\n\nOTHER = 1\n")).unwrap();
    assert_eq!(session.key("r"), [Effect::ReadAgain]);
    let job = Arc::new(session.state.job.read_again().unwrap());
    assert!(job.program("    return 1\n").contains("OTHER"));
    let effects = session.send(Msg::Read(Ok(job.clone())));
    assert_eq!(effects, [Effect::Use { job }, test_of(1, 0), test_of(1, 1)], "the program is another");
    assert_eq!((session.state.error.as_ref(), session.state.stale), (None, false));

    let changed = PROMPT.replace("largest", "smallest");
    std::fs::write(&path, &changed).unwrap();
    let job = Arc::new(session.state.job.read_again().unwrap());
    assert_eq!(session.send(Msg::Read(Ok(job.clone()))), [Effect::Use { job }, Effect::CancelTests { run: 1 }]);
    assert!(session.state.run.is_none(), "the candidates continued another prompt");
    assert_eq!(session.state.draft.text(), changed);

    // Typed text stays while the stub in the file is unchanged.
    session.key("i");
    session.send(Msg::Paste("    # use a loop\n".into()));
    std::fs::write(&path, format!("{changed}\n\nOTHER = 2\n")).unwrap();
    let job = session.state.job.read_again().unwrap();
    session.send(Msg::Read(Ok(Arc::new(job))));
    let program = session.state.job.program("    return 1\n");
    assert!(program.contains("# use a loop\n    return 1") && program.contains("OTHER = 2"), "{program}");

    std::fs::write(&path, "x = 1\n").unwrap();
    let why = session.state.job.read_again().unwrap_err().to_string();
    session.send(Msg::Read(Err(why.clone())));
    assert_eq!(session.state.error, Some(why));
}

#[test]
fn a_failure_keeps_what_was_written() {
    let mut session = Session::tested(2);
    session.key("g");
    session.tokens(0, "    so far");
    session.event(Event::Failed("out of memory".into()));
    assert_eq!(session.run().candidates[0].text, "    so far");
    assert_eq!(session.run().candidates[0].phase, Phase::Broken);
    assert_eq!(session.state.error.as_deref(), Some("out of memory"));
}

/// The ladder of Ctrl-C: in each situation what the first press does, and whether a second one quits.
#[test]
fn ctrl_c_never_loses_work() {
    let quit = vec![Effect::Quit { accept: None }];

    let mut session = Session::tested(2);
    assert_eq!(session.key("ctrl-c"), [], "nothing to stop: armed");
    assert!(session.state.armed.is_some());
    assert_eq!(session.key("ctrl-c"), quit);

    let mut session = Session::tested(2);
    session.key("ctrl-c");
    session.wait(1600);
    assert!(session.state.armed.is_none(), "disarmed by time");
    assert_eq!(session.key("ctrl-c"), []);
    session.key("j");
    assert!(session.state.armed.is_none(), "disarmed by another key");

    let mut session = Session::tested(2);
    session.key("g");
    session.key("?");
    session.key("ctrl-c");
    assert_eq!((session.state.help, session.run().stopping), (None, false), "closes what lies on top, and only that");
    assert_eq!(session.key("ctrl-c"), [Effect::CancelAll { run: 1 }]);
    assert_eq!(session.key("ctrl-c"), [], "stopping already: armed");
    assert_eq!(session.key("ctrl-c"), [Effect::CancelAll { run: 1 }, Effect::Quit { accept: None }]);

    let mut session = Session::tested(2);
    session.key("g");
    session.finish(0, &body(0));
    session.done();
    assert_eq!(session.key("ctrl-c"), [Effect::CancelTests { run: 1 }]);
    session.verdict(0, Status::Killed, "cancelled");
    assert_eq!(session.run().candidates[0].testing, Testing::None, "a stopped test says nothing about the candidate");

    let mut session = Session::free(2);
    session.send(Msg::Paste("write a parser".into()));
    session.key("ctrl-c");
    assert_eq!(session.state.draft.text(), "");
    session.key("alt-u");
    assert_eq!(session.state.draft.text(), "write a parser", "clearing can be undone");
    session.key("ctrl-c");
    session.key("up");
    assert_eq!(session.state.draft.text(), "write a parser", "and it is in the history");
}

#[test]
fn ctrl_d_leaves_an_empty_prompt_only() {
    let mut session = Session::free(2);
    session.key("x");
    assert_eq!(session.key("ctrl-d"), []);
    session.key("backspace");
    assert_eq!(session.key("ctrl-d"), [Effect::Quit { accept: None }]);
}

#[test]
fn pasted_text_is_never_sent() {
    let mut session = Session::free(2);
    assert_eq!(session.send(Msg::Paste("one\ntwo\n\n".into())), []);
    assert!(session.state.run.is_none());
    let mut session = Session::tested(2);
    session.send(Msg::Paste("g\n".into()));
    assert!(session.state.run.is_none() && !session.state.draft.is_edited());
}

#[test]
fn an_edited_prompt_is_what_the_model_gets() {
    let mut session = Session::tested(1);
    session.key("i");
    assert_eq!(session.state.context(), Context::Prompt);
    session.send(Msg::Paste("    # use a loop".into()));
    session.key("alt-enter");
    let effects = session.key("f5");
    let [Effect::Generate { run: 1, job, n: 1, seed: 0 }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(job.prompt(), Prompt::Text(format!("{PROMPT}    # use a loop\n")));
    assert_eq!(session.state.focus, Focus::Panes);
}

#[test]
fn lines_typed_under_a_stub_stay_in_the_program() {
    let mut session = Session::on(numbers_py(), 1);
    session.open(true);
    session.key("i");
    session.send(Msg::Paste("    if n < 0:\n        n = -n\n".into()));
    let effects = session.key("f5");
    let [Effect::Generate { job, .. }] = &effects[..] else { panic!("{effects:?}") };
    let Prompt::Text(prompt) = job.prompt() else { panic!("{:?}", job.prompt()) };
    assert!(prompt.ends_with("\"\"\"\n    if n < 0:\n        n = -n\n"), "{prompt}");
    let program = job.program("    return n % 2 == 0\n");
    assert!(program.contains("        n = -n\n    return n % 2 == 0\n"), "{program}");
    assert_eq!(session.state.subject(), "numbers.py:is_even");
}

#[test]
fn title_and_tests_are_those_of_what_is_pasted() {
    let mut session = Session::free(1);
    assert_eq!(session.state.subject(), "free prompt");
    session.send(Msg::Paste("def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"".into()));
    assert_eq!((session.state.subject(), session.state.has_tests()), ("twice".to_owned(), false));
    let mut session = Session::on(Job::from_text("", &TestsChoice::IfAny).unwrap(), 1);
    session.send(Msg::Paste("def twice(x):\n    \"\"\"Twice x.\n\n    >>> twice(2)\n    4\n    \"\"\"".into()));
    assert_eq!((session.state.subject(), session.state.has_tests()), ("twice".to_owned(), true));
    session.open(true);
    session.key("f5");
    assert_eq!(session.state.job.tests_label, "doctest");
    // Text without a function has no place in a file, and nothing is lost.
    let mut session = Session::on(numbers_py(), 1);
    session.open(true);
    session.key("i");
    session.send(Msg::Paste("print(1)".into()));
    assert_eq!(session.key("f5"), []);
    assert!(session.state.error.as_ref().unwrap().contains("inside of a Python function"));
    assert!(session.state.draft.text().ends_with("print(1)"));
}

#[test]
fn without_isolation_nothing_runs_before_a_yes() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    assert_eq!(session.finish(0, &body(0)), []);
    assert_eq!(session.state.context(), Context::Question);
    assert_eq!(session.key("y"), [], "too soon: that was meant for something else");
    session.wait(IGNORE_YES_MS);
    assert_eq!(session.run().candidates[0].testing, Testing::Queued);
    assert_eq!(session.key("y"), [Effect::AllowUnprotected]);
    session.finish(1, &body(1));
    assert_eq!(session.state.context(), Context::Panes, "asked once");
    assert_eq!(session.state.consent, Consent::Given);
}

#[test]
fn a_no_runs_nothing() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    session.finish(0, &body(0));
    assert_eq!(session.key("n"), [Effect::CancelTests { run: 1 }]);
    assert_eq!(session.finish(1, &body(1)), []);
    assert_eq!(
        session.run().candidates.iter().map(|c| &c.testing).collect::<Vec<_>>(),
        [&Testing::Refused, &Testing::Refused]
    );
}

#[test]
fn the_question_waits_while_the_user_types() {
    let mut session = Session::on(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(), 2);
    session.open(false);
    session.key("g");
    session.key("i");
    session.finish(0, &body(0));
    session.wait(1000);
    assert_eq!(session.key("y"), [], "typed, not answered");
    assert!(session.state.draft.text().ends_with('y'));
    session.key("esc");
    assert_eq!(session.state.context(), Context::Question);
}

#[test]
fn a_number_goes_to_its_pane() {
    let mut session = Session::tested(3);
    session.key("g");
    session.key("3");
    assert_eq!(session.run().focus, 2);
    session.key("i");
    session.key("alt-2");
    assert_eq!((session.run().focus, session.state.focus), (1, Focus::Panes), "from the prompt, too");
    session.key("9");
    assert_eq!(session.run().focus, 1, "there is none");
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
    assert_eq!(session.key("x"), [Effect::Cancel { run: 1, candidate: 1 }]);
    assert_eq!(session.key("X"), [Effect::CancelAll { run: 1 }]);
    assert!(session.run().stopping);
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
fn scrolling_up_detaches_and_the_end_follows_again() {
    let mut session = Session::tested(4);
    session.key("g");
    let text = "    x = 1\n".repeat(50);
    session.tokens(0, &text);
    assert!(session.run().candidates[0].scroll.follow);
    session.key("pgup");
    let scroll = session.run().candidates[0].scroll;
    assert!(!scroll.follow && scroll.top < 40);
    session.tokens(0, "    more\n");
    assert_eq!(session.run().candidates[0].scroll, scroll, "what is read stays in place");
    session.key("G");
    assert!(session.run().candidates[0].scroll.follow);
    session.key("g");
    assert_eq!(session.run().candidates[0].scroll.top, 0);
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
    session.job(job::Event::Round { number: 2, candidates: 2..4, told: 1 });
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

#[test]
fn earlier_writes_of_the_session_are_taken_back_when_that_is_confirmed() {
    let mut session = in_a_file(1);
    session.verdict(0, Status::Passed, "");
    session.key("enter");
    session.send(Msg::Applied { run: 1, candidate: 0, result: Ok("numbers.py".into()) });
    let other = Arc::new(Job::from_text(PROMPT, &TestsChoice::None).unwrap());
    session.state.picking.wanted = Some(1);
    let chosen = super::picker::Chosen { job: other, advice: None };
    session.send(Msg::Targeted { ask: 1, result: Ok(Some(chosen)) });
    session.key("g");
    assert_eq!(session.key("u"), []);
    assert_eq!(session.state.question, Some(Question::UndoEarlier));
    assert_eq!(session.state.earlier_write(), Some("numbers.py:is_even"));
    assert_eq!(session.key("n"), []);
    session.key("u");
    assert_eq!(session.key("y"), [Effect::Undo]);
    session.send(Msg::Undone(Ok("numbers.py: is_even is as before".into())));
    assert_eq!((said(&session).as_str(), session.state.earlier_write()), ("numbers.py: is_even is as before", None));
    session.key("u");
    assert!(session.state.question.is_none() && said(&session).contains("`bass-tui undo`"), "{}", said(&session));
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

#[test]
fn wrapped_lines_are_not_shifted() {
    let mut session = judged();
    session.key("1");
    let column = |session: &Session| session.run().candidates[0].scroll.column;
    session.key(">");
    assert_eq!((column(&session), said(&session).contains("w cuts them")), (0, true));
    session.key("w");
    session.key(">");
    assert_eq!(column(&session), 8);
    session.key("w");
    assert_eq!(column(&session), 0);
}

#[test]
fn the_help_has_an_end_and_leads_to_the_actions() {
    let mut session = Session::tested(2);
    session.key("?");
    session.key("G");
    let last = session.state.help.unwrap();
    session.key("down");
    session.key("k");
    assert_eq!((session.state.help, last > 20), (Some(last - 1), true));
    session.key("home");
    assert_eq!(session.state.help, Some(0));
    session.key(":");
    assert_eq!(session.state.context(), Context::Palette);
}

#[test]
fn ctrl_u_empties_the_line_that_is_typed() {
    let mut session = Session::free(1);
    session.send(Msg::Paste("one\ntwo words".into()));
    session.key("ctrl-u");
    assert_eq!(session.state.draft.text(), "one\n");
}

#[test]
fn differences_stay_open_while_candidates_change() {
    let mut session = judged();
    session.key("2");
    session.key("d");
    assert_eq!(session.state.context(), Context::Diff);
    assert_eq!(session.state.base().unwrap().1, "the pick A");
    assert_eq!(session.state.comparison().unwrap().counts, (1, 1));
    session.key("]");
    assert_eq!((session.run().focus, session.state.comparison().unwrap().counts), (2, (2, 1)));
    session.key("]");
    assert_eq!((session.run().focus, session.state.base().unwrap().1.as_str()), (0, "B"), "the pick against another");
    session.key("esc");
    assert_eq!(session.state.context(), Context::Panes);
    // A marked one comes first, and `b` goes through all.
    session.key("3");
    session.key("M");
    session.key("2");
    session.key("d");
    assert_eq!(session.state.base().unwrap().1, "C");
    session.key("b");
    assert_eq!(session.state.base().unwrap().1, "the pick A");
    session.key("b");
    session.state.own_body = Some("    return 0\n".to_owned());
    session.key("b");
    assert_eq!(session.state.base().unwrap().1, "the file");
}

#[test]
fn a_change_is_taken_from_another_candidate_and_tested() {
    let mut session = judged();
    session.key("2");
    session.key("d");
    let run = session.run().id;
    let text = "    best = numbers[0]\n    return best\n".to_owned();
    assert_eq!(session.key("space"), [Effect::Add { run, of: 1, text: text.clone() }]);
    session.send(Msg::Job { run, event: job::Event::Added { candidate: 3, of: 1, text } });
    let made = &session.run().candidates[3];
    assert_eq!((made.made_of, &made.testing, session.run().focus), (Some(1), &Testing::Queued, 3));
    session.send(Msg::Job { run, event: job::Event::Duplicate { candidate: 3, of: 0 } });
    assert!(session.run().testing(3).passed(), "it says what A says");
}

#[test]
fn an_edited_candidate_is_a_new_one() {
    let mut session = judged();
    session.key("2");
    let (run, text) = (session.run().id, session.run().candidates[1].text.clone());
    assert_eq!(session.key("e"), [Effect::Edit { run, candidate: 1, text }]);
    let nothing = session.send(Msg::Edited { run, candidate: 1, result: Ok(None) });
    assert!(nothing.is_empty() && said(&session).contains("as before"));
    let edited = "    return 1\n".to_owned();
    let effects = session.send(Msg::Edited { run, candidate: 1, result: Ok(Some((edited.clone(), true))) });
    assert_eq!(effects, [Effect::Add { run, of: 1, text: edited }]);
    session.send(Msg::Edited { run, candidate: 1, result: Err("no editor".into()) });
    assert_eq!(session.state.error.as_deref(), Some("no editor"));
    session.send(Msg::Edited { run, candidate: 1, result: Ok(Some(("    return 2\n".to_owned(), true))) });
    assert_eq!(session.state.error, None);
}

#[test]
fn a_body_that_is_in_the_file_is_not_replaced_unasked() {
    let mut session = judged();
    session.key("1");
    session.state.own_body = Some("    return 0\n".to_owned());
    session.key("enter");
    assert_eq!(session.state.question, Some(Question::Take { candidate: 0 }));
    assert!(matches!(session.key("y")[..], [Effect::Quit { accept: Some(_) }]));
}

#[test]
fn candidates_are_found_by_text_by_verdict_and_by_passing() {
    let mut session = judged();
    session.key("1");
    session.key("n");
    assert_eq!(session.run().focus, 2, "the next that passed");
    session.key("n");
    assert_eq!(session.run().focus, 0);
    for key in ["/", "N", "o", "n", "enter"] {
        session.key(key);
    }
    assert_eq!((session.run().focus, session.state.context()), (1, Context::Panes));
    session.key("N");
    assert!(said(&session).contains("only B"), "{}", said(&session));
    session.key("esc");
    assert_eq!(session.state.search, None);
    session.key("f");
    assert_eq!(session.run().shown(), [0, 2]);
    session.key("f");
    assert_eq!((session.run().shown(), session.run().focus), (vec![1], 1));
    session.key("f");
    assert_eq!(session.run().shown(), [0, 1, 2], "none is untested");
    session.key("f");
    session.key("esc");
    assert_eq!(session.run().shown(), [0, 1, 2]);
    session.key("esc");
    assert_eq!(
        (session.state.focus, said(&session).contains("q leaves")),
        (Focus::Panes, true),
        "never into an editor"
    );
}

#[test]
fn over_a_body_in_the_file_the_first_view_is_what_changes() {
    let mut session = Session::tested(2);
    session.state.own_body = Some("    return 0\n".to_owned());
    session.key("g");
    session.finish(0, "    return 1\n");
    session.finish(1, "    return 2\n");
    session.done();
    let (run, outcome) = (session.run().id, outcome());
    session.send(Msg::Job { run, event: job::Event::Done(Box::new(outcome)) });
    assert_eq!((session.state.context(), session.state.base().unwrap().1.as_str()), (Context::Diff, "the file"));
}

fn outcome() -> job::Outcome {
    job::Outcome { candidates: Vec::new(), summary: Summary::default(), picked: None, agreement: None }
}

#[test]
fn the_mouse_does_nothing_until_it_is_on() {
    use crate::tui::event::{Mouse, MouseKind};
    let mut session = Session::tested(4);
    session.key("g");
    session.state.size = (80, 24);
    let body = "    x = 1\n".repeat(60);
    for candidate in 0..4 {
        session.finish(candidate, &body);
    }
    let panes = session.state.layout().panes;
    let other = panes[1];
    let at = |kind| Msg::Mouse(Mouse { kind, column: other.area.x + 2, row: other.area.y + 1 });
    session.send(at(MouseKind::Press));
    assert_eq!(session.run().focus, panes[0].candidate);
    assert_eq!(session.key("m"), [Effect::Mouse(true)]);
    let top = |session: &Session, pane: usize| session.run().candidates[pane].scroll.top;
    session.send(at(MouseKind::WheelDown));
    session.send(at(MouseKind::WheelDown));
    session.send(at(MouseKind::WheelUp));
    assert_eq!([top(&session, other.candidate), top(&session, panes[0].candidate)], [3, 0]);
    session.send(at(MouseKind::Press));
    assert_eq!(session.run().focus, other.candidate);
    assert_eq!(session.key("m"), [Effect::Mouse(false)]);
}
