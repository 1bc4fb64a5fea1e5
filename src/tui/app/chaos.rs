//! Random messages: nothing panics, everything can be drawn, nothing runs unprotected without a yes.

use std::path::Path;

use proptest::prelude::*;

use super::fixture::{PROMPT, Session};
use super::past::Recalled;
use super::state::Question;
use super::{Effect, Msg};
use crate::code::{Place, Target};
use crate::engine::{Event, FinishReason, StepStats, Summary};
use crate::job::{self, Job, TestsChoice};
use crate::trial::{Status, Verdict};
use crate::tui::event::{Code, Key, Mouse, MouseKind};

/// A kept run with a candidate that it may not have.
fn recalled(n: usize) -> Recalled {
    let finished = |candidate| Event::Finished {
        candidate,
        reason: FinishReason::Stop,
        text: "    x\n".into(),
        mean_logprob: None,
    };
    let verdict = job::Event::Verdict { candidate: 1, outcome: Ok(Verdict::not_run("m\u{1b}")) };
    let events = vec![(1, job::Event::Source(finished(1))), (5, verdict)];
    let (id, at, when, job) = ("1".to_owned(), 5, "14:03".to_owned(), Err("gone".to_owned()));
    Recalled { id, at, when, seed: 1, n, events, job, applied: None, answers: Vec::new(), wish: None }
}

/// Anything that can reach the core.
fn any_msg() -> impl Strategy<Value = Msg> {
    let keys = "abcdefghijklmnopqrstuvwxyzGIRTXYz+-<>[]?1239 :,";
    let code = prop_oneof![
        20 => proptest::sample::select(keys.chars().map(Code::Char).collect::<Vec<_>>()),
        10 => proptest::sample::select(vec![
            Code::Enter, Code::Esc, Code::Tab, Code::Up, Code::Down, Code::Left, Code::Right, Code::PageUp, Code::PageDown,
            Code::Home, Code::End, Code::F(1), Code::F(5), Code::Backspace, Code::Delete,
        ]),
    ];
    let key = (code, any::<bool>(), any::<bool>()).prop_map(|(code, ctrl, shift)| {
        Msg::Key(Key { code, ctrl: ctrl && shift, alt: false, shift: shift && !matches!(code, Code::Char(_)) })
    });
    let candidate = 0..5_usize;
    let text = proptest::sample::select(vec![
        "    x\n", "", "\t日本\u{1b}[31m\u{202e}", "    return 1\n", "a\nb\nc\nd\ne\nf\ng\nh\ni\n",
    ]);
    let reason = proptest::sample::select(vec![
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::Budget,
        FinishReason::Cancelled,
    ]);
    let status = proptest::sample::select(vec![
        Status::Passed,
        Status::Failed,
        Status::Error,
        Status::Timeout,
        Status::Tampered,
        Status::NotRun,
    ]);
    let event = prop_oneof![
        (candidate.clone(), text.clone()).prop_map(|(candidate, text)| Event::Tokens {
            candidate,
            text: text.into(),
            ids: vec![1],
            logprobs: vec![-0.5],
            alternatives: Vec::new(),
            drafted: 2,
            accepted: 1
        }),
        (candidate.clone(), text, reason).prop_map(|(candidate, text, reason)| Event::Finished {
            candidate,
            reason,
            text: text.into(),
            mean_logprob: Some(-0.5)
        }),
        Just(Event::Prefill { done: 1, total: 2 }),
        Just(Event::Step(StepStats { live: 2, rows: 4, drafted: 2, accepted: 1, tokens: 3, ms: 1.0, plain_ms: 2.0 })),
        Just(Event::Done(Box::new(Summary { ranking: vec![3, 1, 0, 2, 7], ..Summary::default() }))),
        Just(Event::Failed("it failed".into())),
    ];
    prop_oneof![
        8 => key,
        6 => (1..4_u64, event).prop_map(|(run, event)| Msg::Job { run, event: job::Event::Source(event) }),
        3 => (1..4_u64, candidate.clone(), status).prop_map(|(run, candidate, status)| {
            let (message, output) = ("m\u{1b}".into(), "one\ntwo".into());
            let outcome = Ok(Verdict { status, message, duration_ms: 1, output, ..Verdict::not_run("") });
            Msg::Job { run, event: job::Event::Verdict { candidate, outcome } }
        }),
        1 => (1..4_u64, candidate.clone()).prop_map(|(run, candidate)| {
            Msg::Job { run, event: job::Event::Verdict { candidate, outcome: Err("no".into()) } }
        }),
        2 => (1..4_u64, candidate.clone()).prop_map(|(run, c)| Msg::Job { run, event: job::Event::Testing(c) }),
        1 => (1..4_u64, candidate.clone(), candidate).prop_map(|(run, candidate, of)| {
            Msg::Job { run, event: job::Event::Duplicate { candidate, of } }
        }),
        1 => (0..200_u16, 0..60_u16).prop_map(|(w, h)| Msg::Resize(w, h)),
        2 => (0..200_u16, 0..60_u16, 0..3_usize).prop_map(|(column, row, kind)| {
            let kind = [MouseKind::Press, MouseKind::WheelUp, MouseKind::WheelDown][kind];
            Msg::Mouse(Mouse { kind, column, row })
        }),
        1 => Just(Msg::Tick),
        2 => (1..6_u64).prop_map(|scan| Msg::Found { scan, functions: super::picker::tests::functions() }),
        1 => (1..6_u64).prop_map(|scan| Msg::Scanned { scan, remark: Some("a part".into()) }),
        1 => (1..6_u64).prop_map(|ask| Msg::Targeted { ask, result: Ok(None) }),
        1 => Just(Msg::Preview(super::picker::Preview { path: "src/stats.py".into(), line: 12, text: Ok("a\u{1b}".into()) })),
        1 => Just(Msg::Settings(super::palette_tests::settings())),
        1 => Just(Msg::Set { name: "n".into(), result: Err("no".into()) }),
        1 => Just(Msg::NoTheme { name: "dark".into(), why: "no".into() }),
        1 => Just(Msg::Reopened(Err("no".into()))),
        1 => Just(Msg::Paste("pasted\ntext".into())),
        1 => (1..4_u64).prop_map(|ask| Msg::Head { ask, stub: Some("def f(x):\n    \"\"\"F.\"\"\"\n".into()), lacking: Vec::new() }),
        1 => (1..4_u64).prop_map(|ask| Msg::HeadEvent { ask, event: Event::Prefill { done: 1, total: 2 } }),
        1 => Just(Msg::Fault("fault".into())),
        1 => Just(Msg::Applied { run: 1, candidate: 0, result: Ok("f".into()) }),
        1 => Just(Msg::Undone(Ok("f".into()))),
        1 => (0..3_usize, 0..5_usize).prop_map(|(count, n)| Msg::Recalled(vec![recalled(n); count])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_sequence_of_messages_panics_or_cannot_be_drawn(
        msgs in proptest::collection::vec((any_msg(), 0..700_u64), 0..60),
        isolated: bool,
        of_file: bool,
        sizes in proptest::collection::vec((1..301_u16, 1..101_u16), 1..3),
    ) {
        let target = Target::in_editor(Path::new("calc.py"), PROMPT, &Place::Any).unwrap();
        let of_file = of_file.then(|| Job::from_target(target, &TestsChoice::Auto).unwrap());
        let job = of_file.unwrap_or_else(|| Job::from_text(PROMPT, &TestsChoice::Auto).unwrap());
        let mut session = Session::on(job, 4);
        session.open(isolated);
        session.key("g");
        for (i, (msg, pause)) in msgs.into_iter().enumerate() {
            session.now += pause;
            let asked = matches!(session.state.question, Some(Question::Unprotected { .. }));
            for effect in session.send(msg) {
                prop_assert!(asked || effect != Effect::AllowUnprotected, "nothing runs unprotected without a yes");
            }
            if i % 8 == 0 {
                for &(w, h) in &sizes {
                    crate::tui::view::scenes::draw(&session.state, w, h);
                }
            }
        }
        for &(w, h) in &sizes {
            crate::tui::view::scenes::draw(&session.state, w, h);
        }
    }
}
