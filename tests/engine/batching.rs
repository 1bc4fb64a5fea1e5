//! Several requests in one batch: each candidate is what it would be alone, whoever comes and goes around it.

use super::toy::VOCAB;
use super::toy::cases::{FEW_POLICIES, KINDS, Kind, PLAIN, WARM, options};
use super::toy::world::{World, random};
use bass_tui::engine::{DraftLength, Event, FinishReason, GenerateOptions, RequestId, StopRules};
use bass_tui::sampling::{Accept, Sampling};
use proptest::prelude::*;
use proptest::sample::select;

/// A request, and when it comes.
#[derive(Clone, Debug)]
struct Plan {
    arrives: usize,
    prompt: Vec<u32>,
    options: GenerateOptions,
}

#[derive(Clone, Copy, Debug)]
struct Cancel {
    step: usize,
    /// Which of those that have come, and which of its candidates.
    request: usize,
    candidate: Option<usize>,
}

fn prompts() -> impl Strategy<Value = Vec<u32>> {
    let short = prop::collection::vec(0..VOCAB as u32, 1..12);
    // Read in several steps.
    let long = (200usize..700, any::<u64>())
        .prop_map(|(length, mut state)| (0..length).map(|_| (random(&mut state) % VOCAB as u64) as u32).collect());
    prop_oneof![4 => short, 1 => long]
}

fn stops() -> impl Strategy<Value = StopRules> {
    let string = select(vec!["ab", "fed", "cc", "d", "bcadb"]).prop_map(str::to_owned);
    let strings = prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(string, 1..3)];
    (strings, any::<bool>(), prop::option::weighted(0.2, 1usize..30)).prop_map(|(strings, ignore_eos, at)| StopRules {
        strings,
        ignore_eos,
        text: at.map(|at| std::sync::Arc::new(move |text: &str| (text.len() >= at).then_some(at)) as _),
        ..StopRules::default()
    })
}

fn samplings() -> impl Strategy<Value = (Sampling, Accept)> {
    let penalty = Sampling { repetition_penalty: Some(1.3), top_k: Some(4), ..WARM };
    select(vec![
        (Sampling::GREEDY, Accept::Rejection),
        (Sampling::GREEDY, Accept::Coupled),
        (WARM, Accept::Coupled),
        (penalty, Accept::Coupled),
    ])
}

fn plans() -> impl Strategy<Value = Plan> {
    let lengths = select([FEW_POLICIES.to_vec(), vec![PLAIN]].concat());
    (0usize..12, prompts(), 1usize..=5, 1usize..50, stops(), samplings(), lengths, any::<u64>()).prop_map(
        |(arrives, prompt, n, max_tokens, stop, (sampling, accept), draft_length, seed)| {
            let options =
                GenerateOptions { n, max_tokens, stop, sampling, accept, draft_length, seed, ..Default::default() };
            Plan { arrives, prompt, options }
        },
    )
}

fn cancels() -> impl Strategy<Value = Vec<Cancel>> {
    let cancel = (0usize..25, 0usize..5, prop::option::weighted(0.8, 0usize..5));
    let cancel = cancel.prop_map(|(step, request, candidate)| Cancel { step, request, candidate });
    prop::collection::vec(cancel, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everyone_writes_what_they_would_write_alone(
        kind in prop_oneof![2 => Just(Kind::Scripted), 1 => select(KINDS.to_vec())],
        seed in any::<u64>(),
        mut plans in prop::collection::vec(plans(), 1..6),
        cancels in cancels(),
    ) {
        plans.sort_by_key(|plan| plan.arrives);
        let mut world = World::new(kind, seed);
        let mut ids: Vec<RequestId> = Vec::new();
        let mut plans = plans.into_iter().peekable();
        for step in 0..25 {
            while let Some(plan) = plans.next_if(|plan| plan.arrives <= step) {
                ids.push(world.submit(&plan.prompt, &plan.options));
            }
            for cancel in cancels.iter().filter(|cancel| cancel.step == step) {
                if let Some(&id) = ids.get(cancel.request) {
                    world.cancel(id, cancel.candidate);
                }
            }
            world.step();
        }
        world.finish();
    }
}

fn greedy(n: usize, max_tokens: usize) -> GenerateOptions {
    options(n, max_tokens, DraftLength::Fixed(3), Sampling::GREEDY)
}

#[test]
fn all_requests_share_one_pass() {
    let mut world = World::new(Kind::Scripted, 1);
    world.submit(&[1], &greedy(3, 20));
    world.submit(&[2, 3], &greedy(4, 20));
    world.submit(&[4, 5, 0], &options(2, 20, PLAIN, WARM));
    (0..3).for_each(|_| assert!(world.step()));
    let before = world.main.passes();
    world.step();
    assert_eq!(world.main.passes(), before + 1);
    let rows = world.main.last_pass();
    assert_eq!(rows.len(), 9);
    assert_eq!(rows[7..], [1, 1], "where nothing is drafted there is one row");
    world.finish();
}

#[test]
fn a_long_prompt_is_read_while_others_write() {
    let mut world = World::new(Kind::Model, 1);
    let short = world.submit(&[1, 2], &greedy(1, 30));
    world.step();
    let long = world.submit(&[3; 900], &greedy(2, 10));
    let mut together = 0;
    while !world.requests[&long].order.has_begun() {
        let before = world.requests[&short].outcome.ids[0].len();
        world.step();
        assert!(world.requests[&short].outcome.ids[0].len() > before, "nobody waits for the prompt of another");
        together += 1;
    }
    assert!(together >= 4, "900 tokens take several slabs: {together} steps");
    world.finish();
}

#[test]
fn a_request_that_does_not_fit_waits_for_room() {
    let mut world = World::new(Kind::Scripted, 5);
    let first = world.submit(&[1, 2], &greedy(40, 12));
    let second = world.submit(&[2, 1], &greedy(40, 12));
    let third = world.submit(&[0, 1], &greedy(1, 12));
    while !world.requests[&first].order.done {
        world.step();
        let live = (0..40).filter(|&c| world.requests[&first].order.is_live(c)).count();
        assert!(live + 40 <= 64 || !world.requests[&second].order.has_begun(), "{live} of the first are still there");
        assert!(
            world.requests[&second].order.read.is_some() || world.requests[&third].order.read.is_none(),
            "first come"
        );
    }
    world.finish();
}

#[test]
fn a_cancelled_request_ends_while_its_prompt_is_read() {
    let mut world = World::new(Kind::Model, 1);
    let id = world.submit(&[3; 900], &greedy(2, 10));
    world.step();
    assert!(world.engine.kv_bytes() > 0);
    world.cancel(id, None);
    assert!(!world.step(), "nothing is left to do");
    assert_eq!(world.engine.kv_bytes(), 0);
    world.finish();
}

#[test]
fn a_cancelled_request_ends_while_it_waits() {
    let mut world = World::new(Kind::Scripted, 1);
    world.submit(&[1, 2], &greedy(40, 100));
    world.submit(&[2, 1], &greedy(40, 5));
    let cancelled = world.submit(&[0, 1], &greedy(2, 5));
    world.step();
    world.cancel(cancelled, None);
    world.step();
    let reasons = world.requests[&cancelled].outcome.reasons.clone();
    world.finish();
    assert_eq!(reasons, [Some(FinishReason::Cancelled); 2], "before the others are done");
}

/// The request has begun, and it is over.
fn state(world: &World, id: RequestId) -> (bool, bool) {
    (world.requests[&id].order.has_begun(), world.requests[&id].order.done)
}

#[test]
fn small_requests_are_answered_while_large_ones_fill_the_batch() {
    let mut world = World::new(Kind::Scripted, 2);
    world.engine.share(200_000);
    let large: Vec<RequestId> = (0..3).map(|i| world.submit(&[1, 2 + i], &greedy(64, 150))).collect();
    let small: Vec<RequestId> = (0..6).map(|i| world.submit(&[i, 1], &greedy(8, 6))).collect();
    while !small.iter().all(|&id| state(&world, id).1) {
        world.step();
        // The earlier ones first.
        let begun: Vec<usize> = (0..6).filter(|&i| state(&world, small[i]).0).collect();
        assert_eq!(begun, (0..begun.len()).collect::<Vec<_>>());
        let writing = begun.iter().map(|&i| live(&world, small[i])).sum::<usize>();
        assert!(writing == world.engine.small() && writing <= 16, "{writing}");
    }
    assert_eq!(
        large.iter().map(|&id| state(&world, id)).collect::<Vec<_>>(),
        [(true, false), (false, false), (false, false)]
    );
    world.finish();
}

fn live(world: &World, id: RequestId) -> usize {
    let request = &world.requests[&id];
    (0..request.want.len()).filter(|&c| request.order.is_live(c)).count()
}

#[test]
fn small_requests_do_not_hold_a_large_one_up() {
    let mut world = World::new(Kind::Scripted, 3);
    world.engine.share(200_000);
    let first = world.submit(&[1, 2], &greedy(60, 20));
    let large = world.submit(&[2, 1], &greedy(64, 4));
    // Somebody always asks for little: what is open to all goes to whoever waits longest all the same.
    let mut asked = Vec::new();
    while !state(&world, large).0 {
        asked.push(world.submit(&[3, 1], &greedy(4, 3)));
        world.step();
        assert!(asked.len() < 200, "it never begins");
    }
    assert!(state(&world, first).1 && asked.iter().any(|&id| state(&world, id).1));
    world.finish();
}

#[test]
fn positions_of_all_requests_are_bounded() {
    let mut world = World::new(Kind::Model, 4);
    // 700 are open to all.
    world.engine.share(800);
    let refused = world.engine.submit(&[1, 2, 3], &greedy(10, 70)).expect_err("never").to_string();
    assert!(refused.contains("10 candidates of up to 70 more need 712 positions") && refused.contains("may have 700"));
    let first = world.submit(&[1, 2, 3], &greedy(10, 68));
    let second = world.submit(&[2, 1], &greedy(2, 60));
    let third = world.submit(&[2, 3], &greedy(1, 40));
    // The prompts of both are read at a time.
    world.step();
    assert_eq!([first, second, third].map(|id| world.requests[&id].order.read.is_some()), [true, false, true]);
    assert_eq!(world.engine.positions(), 2 + 10 * 69 + 1 + 41);
    while !state(&world, second).0 {
        world.step();
        let left = live(&world, first) * 69;
        assert!(left + 2 + 123 <= 700 || !state(&world, second).0);
    }
    world.finish();
    // Who says no length has what there is.
    let options = GenerateOptions { max_tokens: usize::MAX, ..greedy(20, 1) };
    let id = world.engine.submit(&[1, 2, 3], &options).expect("a request");
    let mut written = vec![0; 20];
    while world
        .engine
        .step(&mut |of, event| match event {
            Event::Tokens { candidate, ids, .. } if of == id => written[candidate] += ids.len(),
            _ => {}
        })
        .expect("a step")
    {}
    assert_eq!(written, [33; 20], "(700 - 2) / 20 - 1");
}
