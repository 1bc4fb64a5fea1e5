//! Duties of drafters towards the engine, and the engine's use of their proposals.

use std::sync::Arc;

use super::toy::cases::{KINDS, PLAIN, WARM, options, profile, toy_model, wandering_engine, wandering_model};
use super::toy::network::Held;
use super::toy::{EOS, Scripted, Toy, VOCAB, generate, oracle, tokenizer};
use bass_tui::engine::{
    ChainDrafter, DraftLength, Drafter, Engine, GenerateOptions, LookupDrafter, LookupSettings, ModelDrafter, Profile,
};
use bass_tui::sampling::{Accept, Sampling};

const PROMPT: &[u32] = &[1, 2];

fn greedy(n: usize, max_tokens: usize, length: DraftLength) -> GenerateOptions {
    options(n, max_tokens, length, Sampling::GREEDY)
}

/// The prompt and what follows it.
fn truth(max_tokens: usize) -> Vec<u32> {
    let written = oracle::write(&Toy::main().wandering().table, 2048, PROMPT, &greedy(1, max_tokens, PLAIN), 0);
    [PROMPT, &written.ids].concat()
}

#[test]
fn drafts_of_unequal_length_are_not_padded() {
    let main = Toy::main().wandering();
    let watch = main.watch();
    let pattern: fn(usize, usize) -> &'static [bool] = |candidate, _| [&[][..], &[true; 3], &[true; 7]][candidate];
    let drafter = Box::new(Scripted::knowing(vec![truth(100)], pattern));
    let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(drafter));
    engine.submit(PROMPT, &greedy(3, 60, DraftLength::Fixed(8))).unwrap();
    while watch.passes() == 0 {
        engine.step(&mut |_, _| {}).unwrap();
    }
    assert_eq!(watch.last_pass(), [1, 4, 8], "a row per draft token and one for the last token, nothing else");
    engine.step(&mut |_, _| {}).unwrap();
    assert_eq!(watch.last_pass().iter().sum::<usize>(), 13);
    while engine.step(&mut |_, _| {}).unwrap() {}
}

#[test]
fn the_draft_model_reads_a_row_per_candidate_and_position() {
    let model = Toy::draft().wandering();
    let watch = model.watch();
    let mut engine = wandering_engine(Some(Box::new(ModelDrafter::new("toy", Box::new(model)))));
    engine.submit(PROMPT, &greedy(5, 40, DraftLength::Fixed(3))).unwrap();
    let mut full = 0;
    while engine
        .step(&mut |_, event| {
            if let bass_tui::engine::Event::Tokens { drafted, accepted, .. } = event {
                full += usize::from(drafted > 0 && drafted == accepted);
            }
        })
        .unwrap()
    {
        assert!(watch.last_pass().iter().all(|&rows| rows <= 2), "two only after a full acceptance");
        assert!(watch.last_pass().len() <= 5);
    }
    assert!(full > 0, "the case of two rows occurs");
}

/// One pass for all positions: the tokens that are not read, and a mask for each draft but the first.
#[test]
fn drafts_at_once_take_one_pass() {
    let model = Toy::draft().wandering().at_once(4);
    let watch = model.watch();
    let mut engine = wandering_engine(Some(Box::new(ModelDrafter::new("toy", Box::new(model)))));
    let got = generate(&mut engine, PROMPT, &greedy(2, 60, DraftLength::Fixed(4)));
    assert_eq!(got.ids[1], truth(60)[PROMPT.len()..]);
    assert!(watch.passes() <= got.summary.steps, "{} passes, {} steps", watch.passes(), got.summary.steps);
    assert!(got.summary.accepted > 0 && watch.candidates().is_empty(), "{:?}", got.summary);
}

#[test]
fn a_drafter_may_deliver_fewer_tokens_than_asked_for() {
    let whole = truth(120);
    for from in [1, 3] {
        let drafter = Scripted::knowing(vec![whole.clone()], |_, _| &[true; 6]).stingy(from);
        let mut engine = wandering_engine(Some(Box::new(drafter)));
        let got = generate(&mut engine, PROMPT, &greedy(2, 80, DraftLength::Fixed(6)));
        assert_eq!(got.ids[1], whole[PROMPT.len()..][..80]);
        let most = got.steps.iter().flatten().map(|&(_, drafted, _)| drafted).max().unwrap();
        assert_eq!(most, 5);
    }
}

#[test]
fn nothing_is_proposed_beyond_the_token_limit() {
    let whole = truth(120);
    let drafter = Scripted::knowing(vec![whole], |_, _| &[true; 30]);
    let mut engine = wandering_engine(Some(Box::new(drafter)));
    let got = generate(&mut engine, PROMPT, &greedy(1, 10, DraftLength::Fixed(30)));
    assert_eq!((got.ids[0].len(), got.summary.drafted, got.steps.len()), (10, 9, 1));
}

#[test]
fn a_reference_with_unknown_ids_is_copied_up_to_them() {
    let whole = truth(60);
    let mut reference = whole[PROMPT.len()..].to_vec();
    for i in (7..reference.len()).step_by(8) {
        reference[i] = 9999;
    }
    let mut engine = wandering_engine(Some(Box::new(LookupDrafter::new(LookupSettings::LOOKUP))));
    let options = GenerateOptions { reference: reference.into(), ..greedy(2, 60, DraftLength::Fixed(8)) };
    let got = generate(&mut engine, PROMPT, &options);
    assert_eq!(got.ids[0], whole[PROMPT.len()..]);
    assert!(got.summary.accepted > 20, "{}", got.summary.accepted);
}

#[test]
fn a_quoted_reference_is_written_in_few_steps() {
    let whole = truth(200);
    let reference: Arc<[u32]> = whole[..].into();
    let mut engine = wandering_engine(Some(Box::new(LookupDrafter::new(LookupSettings::LOOKUP))));
    let options = GenerateOptions { reference, ..greedy(1, 200, DraftLength::Fixed(16)) };
    let got = generate(&mut engine, PROMPT, &options);
    assert_eq!(got.ids[0], whole[PROMPT.len()..]);
    assert!(got.summary.steps < 40, "{} steps for 200 tokens", got.summary.steps);
}

#[test]
fn siblings_copy_from_each_other() {
    let sampling = Sampling { temperature: 0.2, ..WARM };
    let mut engine = Engine::new(
        Box::new(Toy::main()),
        tokenizer(),
        vec![EOS],
        Some(Box::new(LookupDrafter::new(LookupSettings::SIBLING))),
    );
    let run = |engine: &mut Engine, n| generate(engine, PROMPT, &options(n, 100, DraftLength::Fixed(4), sampling));
    let (one, eight) = (run(&mut engine, 1), run(&mut engine, 8));
    assert_eq!(one.summary.drafted, 0, "alone there is nobody to copy from");
    assert!(eight.summary.accepted > 100, "{}", eight.summary.accepted);
    assert_eq!(one.ids[0], eight.ids[0]);
}

#[test]
fn a_chain_asks_the_model_only_where_no_long_match_is_found() {
    let whole = truth(200);
    let model = Toy::draft().wandering();
    let watch = model.watch();
    let chain = ChainDrafter::new(LookupSettings::LOOKUP, Box::new(ModelDrafter::new("toy", Box::new(model))));
    let mut engine = wandering_engine(Some(Box::new(chain)));
    let passes = |engine: &mut Engine, reference: &[u32]| {
        let before = watch.passes();
        let options = GenerateOptions { reference: reference.into(), ..greedy(1, 200, DraftLength::Fixed(4)) };
        assert_eq!(generate(engine, PROMPT, &options).ids[0], whole[PROMPT.len()..]);
        watch.passes() - before
    };
    let (without, with) = (passes(&mut engine, &[]), passes(&mut engine, &whole));
    assert!(with < without / 4, "{with} passes of the draft model with the reference, {without} without");
    assert!(with > 0, "the first tokens have no long match");
}

#[test]
fn plain_requests_neither_draft_nor_read_the_draft_model() {
    let model = Toy::draft();
    let watch = model.watch();
    let drafter = Box::new(ModelDrafter::new("toy", Box::new(model)));
    let mut engine = Engine::new(Box::new(Toy::main()), tokenizer(), vec![EOS], Some(drafter));
    let got = generate(&mut engine, PROMPT, &greedy(3, 30, PLAIN));
    assert_eq!((got.summary.drafted, watch.passes(), watch.open()), (0, 0, 0));
}

/// Every drafter proposes tokens of the vocabulary only, and no more than there is room for: the toy network
/// panics otherwise.
#[test]
fn every_drafter_stays_inside_vocabulary_and_context() {
    for kind in KINDS {
        for length in [DraftLength::Fixed(30), DraftLength::Bass, DraftLength::Auto] {
            let main = Box::new(Toy::main().with_context(40));
            let truth = vec![vec![VOCAB as u32 - 1; 100]];
            let mut engine = Engine::new(main, tokenizer(), vec![EOS], Some(kind.drafter(toy_model, &truth)));
            engine.set_profile(&profile());
            let got = generate(&mut engine, PROMPT, &options(3, 500, length, WARM));
            assert!(got.ids.iter().all(|ids| ids.len() == 38), "{kind:?}, {length:?}");
        }
    }
}

/// A draft model that comes late, after many tokens, reads all of them first and is right from then on.
#[test]
fn a_draft_model_that_comes_late_catches_up() {
    let mut engine = wandering_engine(Some(wandering_model()));
    let mut profile = profile();
    // Nothing is drafted for more than two candidates.
    profile.table = [(1, 4), (3, 0)].into();
    engine.set_profile(&profile);
    let table = |n, max_tokens| greedy(n, max_tokens, DraftLength::Table);
    engine.submit(PROMPT, &table(1, 120)).unwrap();
    engine.submit(&[3, 3], &table(2, 60)).unwrap();
    let mut written = Vec::new();
    let mut late = 0;
    while engine
        .step(&mut |id, event| {
            if let bass_tui::engine::Event::Tokens { ids, drafted, .. } = event
                && id.0 == 0
            {
                late += usize::from(drafted > 0 && written.len() >= 55);
                assert!(drafted == 0 || written.len() >= 55 || written.len() < 8, "{} {drafted}", written.len());
                written.extend(ids);
            }
        })
        .unwrap()
    {}
    assert_eq!(written, truth(120)[PROMPT.len()..]);
    assert!(late > 5, "{late} steps with drafts after the others had ended");
}

/// Requests that come together are written together: a prompt is read for drafts where few are, and not while
/// others are about to be written beside it.
#[test]
fn prompts_are_not_read_for_drafts_while_others_come() {
    let prompt: Vec<u32> = (0..100).map(|i| i % VOCAB as u32).collect();
    // From four rows on each costs a step of its own.
    let main = vec![(1, 1000.0), (4, 1100.0), (64, 17_000.0)];
    let costs = Profile { main, draft: vec![(1, 200.0), (64, 6000.0)], read: 1.0, ..profile() };
    for (requests, reads) in [(1, true), (12, false)] {
        let model = Toy::draft().wandering();
        let watch = model.watch();
        let mut engine = wandering_engine(Some(Box::new(ModelDrafter::new("toy", Box::new(model)))));
        engine.set_profile(&costs);
        for _ in 0..requests {
            engine.submit(&prompt, &greedy(1, 200, DraftLength::Auto)).unwrap();
        }
        while engine.step(&mut |_, _| {}).unwrap() && engine.live() < requests {
            assert!(reads || watch.open() == 0, "beside {} of {requests}", engine.live());
        }
        assert_eq!(watch.open() > 0, reads, "{requests} requests");
        while engine.step(&mut |_, _| {}).unwrap() {}
    }
}

/// Drafts that stay on a device are verified like those that come to the host.
#[test]
fn drafts_that_stay_on_their_device_change_nothing() {
    let reference: Arc<[u32]> = truth(200).into();
    let run = |held: Option<Held>, chain: bool, accept| {
        let (mut main, mut draft) = (Toy::main().wandering(), Toy::draft().wandering());
        if let Some(device) = &held {
            (main, draft) = (main.on(device), draft.on(device));
        }
        let model = Box::new(ModelDrafter::new("toy", Box::new(draft)));
        let drafter: Box<dyn Drafter> =
            if chain { Box::new(ChainDrafter::new(LookupSettings::ALL, model)) } else { model };
        let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(drafter));
        let options = options(5, 200, DraftLength::Bass, WARM);
        let got = generate(&mut engine, PROMPT, &GenerateOptions { reference: reference.clone(), accept, ..options });
        assert!(got.summary.drafted > got.summary.accepted && got.summary.accepted > 100);
        got.ids
    };
    for accept in [Accept::Coupled, Accept::Rejection] {
        for chain in [false, true] {
            assert_eq!(run(Some(Held::default()), chain, accept), run(None, chain, accept), "{accept:?}, {chain}");
        }
    }
}

#[test]
fn drafts_of_another_device_are_refused() {
    let drafter = Box::new(ModelDrafter::new("toy", Box::new(Toy::draft().on(&Held::default()))));
    let mut engine = Engine::new(Box::new(Toy::main()), tokenizer(), vec![EOS], Some(drafter));
    let options = greedy(2, 20, DraftLength::Fixed(2));
    let error = engine.generate(PROMPT, &options, &|_| false, &mut |_| {}).expect_err("two devices").to_string();
    assert!(error.contains("load both models onto the same one"), "{error}");
    assert!(engine.is_idle() && engine.kv_bytes() == 0);
}
