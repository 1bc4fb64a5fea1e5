//! Drafts never change the text: token for token, and the log-probabilities to the bit.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::toy::cases::{
    FEW_POLICIES, KINDS, Kind, PLAIN, POLICIES, WARM, options, profile, wandering_engine, wandering_model,
};
use super::toy::{Outcome, Scripted, Step, Toy, generate, mixed, oracle, tokenizer};
use bass_tui::engine::{DraftLength, Engine, GenerateOptions, StopRules};
use bass_tui::sampling::{Accept, Sampling};

const PROMPT: &[u32] = &[1, 2, 4, 0, 3];
const TOKENS: usize = 512;

fn engine(kind: Kind, truth: &[Vec<u32>]) -> Engine {
    wandering_engine(Some(kind.drafter(wandering_model, truth)))
}

/// All of a candidate, the prompt included.
fn whole(ids: &[u32]) -> Vec<u32> {
    [PROMPT, ids].concat()
}

/// Every draft length, every number of candidates.
fn greedy_is_plain(kind: Kind) {
    let plain = generate(&mut wandering_engine(None), PROMPT, &options(1, TOKENS, PLAIN, Sampling::GREEDY));
    assert_eq!(plain.ids[0].len(), TOKENS);
    let mut engine = engine(kind, &[whole(&plain.ids[0])]);
    let mut accepted = 0;
    for length in POLICIES {
        for n in [1, 2, 5, 8, 16] {
            engine.set_profile(&profile());
            let got = generate(&mut engine, PROMPT, &options(n, TOKENS, length, Sampling::GREEDY));
            for c in 0..n {
                assert_eq!(got.ids[c], plain.ids[0], "{length:?}, candidate {c} of {n}: token ids");
                assert_eq!(got.bits(c), plain.bits(0), "{length:?}, candidate {c} of {n}: log-probabilities");
            }
            // Auto follows measured times, and alone there is no sibling to copy from.
            let may_not_draft = length == DraftLength::Auto || (kind == Kind::SIBLING && n == 1);
            assert!(got.summary.drafted > 0 || may_not_draft, "{length:?}, {n}: nothing drafted");
            accepted += got.summary.accepted;
        }
    }
    assert!(accepted > 55 * TOKENS, "drafts are accepted often enough to count: {accepted}");
}

#[test]
fn greedy_with_a_draft_model_is_plain() {
    greedy_is_plain(Kind::Model);
}

#[test]
fn greedy_with_every_drafter_of_the_program_is_plain() {
    KINDS.into_iter().filter(|kind| matches!(kind, Kind::Named(_))).for_each(greedy_is_plain);
}

#[test]
fn greedy_with_a_script_of_right_and_wrong_drafts_is_plain() {
    greedy_is_plain(Kind::Scripted);
}

/// Candidates with all drafts accepted, with none accepted and with no drafts at all met in this step.
fn is_mixed(step: &Step) -> bool {
    let has = |what: fn(usize, usize) -> bool| step.iter().any(|&(_, drafted, accepted)| what(drafted, accepted));
    has(|d, a| d > 1 && a == d) && has(|d, a| d > 1 && a == 0) && has(|d, _| d == 0)
}

#[test]
fn one_step_may_accept_all_none_and_some_of_its_drafts() {
    let plain = generate(&mut wandering_engine(None), PROMPT, &options(1, TOKENS, PLAIN, Sampling::GREEDY));
    let truth = vec![whole(&plain.ids[0])];
    let drafter = Scripted::knowing(truth, mixed).stingy(5);
    let mut engine = wandering_engine(Some(Box::new(drafter)));
    let got = generate(&mut engine, PROMPT, &options(8, TOKENS, DraftLength::Fixed(8), Sampling::GREEDY));
    assert!((0..8).all(|c| got.ids[c] == plain.ids[0] && got.bits(c) == plain.bits(0)));
    let mixed_steps = got.steps.iter().filter(|step| is_mixed(step)).count();
    assert!(mixed_steps > 20, "{mixed_steps} of {} steps", got.steps.len());
    let sizes: Vec<usize> = got.steps.iter().map(Vec::len).collect();
    let first_end = sizes.iter().filter(|&&size| size == 8).count();
    assert!(2 * first_end < sizes.len(), "the first ends long before the last: {sizes:?}");
}

/// Greedy requests with ends of their own, all in one batch.
#[test]
fn requests_with_different_ends_write_together_what_each_writes_alone() {
    let at = |length: usize| StopRules {
        text: Some(Arc::new(move |text: &str| (text.len() >= length).then_some(length))),
        ignore_eos: true,
        ..StopRules::default()
    };
    let strings = StopRules { strings: vec!["caf".into(), "ddd".into()], ignore_eos: true, ..StopRules::default() };
    let stops = [at(64), at(511), StopRules::default(), strings, at(300)];
    for kind in KINDS {
        let truth = |stop: &StopRules| {
            let options = GenerateOptions { stop: stop.clone(), ..options(1, TOKENS, PLAIN, Sampling::GREEDY) };
            oracle::write(&Toy::main().wandering().table, 2048, PROMPT, &options, 0)
        };
        let longest = truth(&StopRules { ignore_eos: true, ..StopRules::default() });
        let mut engine = engine(kind, &[whole(&longest.ids)]);
        engine.set_profile(&profile());
        let mut running = Vec::new();
        for (i, stop) in stops.iter().enumerate() {
            let length = FEW_POLICIES[i + 1];
            let options =
                GenerateOptions { stop: stop.clone(), ..options(1 + i % 3, TOKENS, length, Sampling::GREEDY) };
            let id = engine.submit(PROMPT, &options).unwrap();
            running.push((id, Outcome::new(options.n), truth(stop)));
        }
        while engine
            .step(&mut |id, event| {
                let (_, outcome, _) = running.iter_mut().find(|(known, ..)| *known == id).expect("a known request");
                outcome.take(event);
            })
            .unwrap()
        {}
        for (i, (_, got, want)) in running.iter().enumerate() {
            for c in 0..got.ids.len() {
                assert_eq!(got.ids[c], want.ids, "{kind:?}, request {i}, candidate {c}");
                let bits: Vec<u32> = want.logprobs.iter().map(|l| l.to_bits()).collect();
                assert_eq!(got.bits(c), bits, "{kind:?}, request {i}, candidate {c}");
                assert_eq!((&got.texts[c], got.reasons[c]), (&want.text, Some(want.reason)), "{kind:?}, request {i}");
            }
        }
        let ends = running.iter().map(|(_, got, _)| got.ids[0].len()).collect::<BTreeSet<_>>();
        assert_eq!(ends.len(), stops.len(), "all ends are different: {ends:?}");
    }
}

/// Sampled text is that of plain sampling with the same seed, whatever drafts and with however many
/// candidates.
#[test]
fn coupled_sampling_is_plain_for_every_seed() {
    const SEEDS: u64 = 100;
    let sampling = Sampling { top_p: Some(0.95), ..WARM };
    let with = |n, length, seed| GenerateOptions { seed, accept: Accept::Coupled, ..options(n, 40, length, sampling) };
    let mut plain_engine = wandering_engine(None);
    let mut different = 0;
    for seed in 0..SEEDS {
        let plain = generate(&mut plain_engine, PROMPT, &with(8, PLAIN, seed));
        different += usize::from(plain.ids[0] != plain.ids[1]);
        let truth: Vec<Vec<u32>> = plain.ids.iter().map(|ids| whole(ids)).collect();
        for kind in KINDS {
            let mut engine = engine(kind, &truth);
            for (n, length) in [1, 2, 5, 8].into_iter().flat_map(|n| FEW_POLICIES.map(|length| (n, length))) {
                engine.set_profile(&profile());
                let got = generate(&mut engine, PROMPT, &with(n, length, seed));
                for c in 0..n {
                    assert_eq!(got.ids[c], plain.ids[c], "seed {seed}, {kind:?}, {length:?}, candidate {c} of {n}");
                    assert_eq!(got.bits(c), plain.bits(c), "seed {seed}, {kind:?}, {length:?}, candidate {c} of {n}");
                }
            }
        }
    }
    assert_eq!(different, SEEDS as usize, "candidates have randomness of their own");
}

/// The engine without drafts against the loop that knows no engine.
#[test]
fn plain_sampling_is_what_a_loop_over_the_table_writes() {
    let toy = Toy::main().wandering();
    for accept in [Accept::Coupled, Accept::Rejection] {
        for sampling in [Sampling::GREEDY, WARM, Sampling { repetition_penalty: Some(1.5), top_k: Some(4), ..WARM }] {
            let options = GenerateOptions { accept, seed: 7, ..options(3, 200, PLAIN, sampling) };
            let got = generate(&mut wandering_engine(None), PROMPT, &options);
            for c in 0..3 {
                let want = oracle::write(&toy.table, 2048, PROMPT, &options, c);
                assert_eq!((&got.ids[c], &got.logprobs[c]), (&want.ids, &want.logprobs), "{accept:?}, {sampling:?}");
                assert_eq!(got.texts[c], want.text);
            }
        }
    }
    assert_eq!(tokenizer().decode(&[0, 5, 2]), "afc");
}
