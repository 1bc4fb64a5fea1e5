//! Tokens that are drawn and verified on the device, against the rules on the host.

use std::sync::Arc;

use super::super::gpu::Gpu;
use super::super::kernels::{self, Choice, Chosen, Filters};
use super::{emulator, numbers, send};
use crate::sampling::{Accept, Distribution, Draft, DrawKey, Proposal, Sampling, propose, verify};

const VOCAB: usize = 300;

/// Few different values, so that borders fall between equal ones.
fn logits(seed: u32) -> Vec<f32> {
    numbers(seed, VOCAB).iter().map(|x| (x * 12.0).round() / 4.0).collect()
}

fn settings() -> Vec<Sampling> {
    let warm = Sampling { temperature: 0.9, ..Sampling::GREEDY };
    let all = Sampling { top_k: Some(60), top_p: Some(0.7), min_p: Some(0.1), repetition_penalty: Some(1.3), ..warm };
    vec![
        Sampling::GREEDY,
        Sampling { repetition_penalty: Some(1.7), ..Sampling::GREEDY },
        warm,
        Sampling { top_k: Some(5), ..warm },
        Sampling { top_p: Some(0.5), temperature: 1.5, ..warm },
        Sampling { min_p: Some(0.3), ..warm },
        all,
    ]
}

const HISTORY: [u32; 6] = [3, 299, 3, 7, 7, 120];

/// Choice of the device from `logits`: a draft, or the token that verifies `draft` drawn from `q`.
fn chosen(gpu: &Arc<Gpu>, logits: &[f32], sampling: &Sampling, accept: Accept, key: DrawKey, of: Of<'_>) -> (u32, f32) {
    let floats = |values: &[f32]| send(gpu, values);
    let (logits, history, drafts) = (floats(logits), send(gpu, &HISTORY), send(gpu, &[of.draft, 0]));
    let (scratch, probs) = (floats(&[f32::NAN; VOCAB]), floats(&[f32::NAN; VOCAB]));
    let q = of.q.map(floats);
    let chosen = send(gpu, &[Chosen { token: 0, logprob: 0.0, accepted: 7 }]);
    let choice = Choice {
        history: history.at(),
        drafts: drafts.at(),
        draft_probs: q.as_ref().map_or(0, super::super::gpu::Buffer::at),
        probs: probs.at(),
        seed: key.seed,
        candidate: key.candidate,
        position: key.position,
        filters: Filters::new(sampling, VOCAB),
        history_len: if sampling.repetition_penalty.is_some() { HISTORY.len() as i32 } else { 0 },
        row: 0,
        number: 0,
        mode: of.mode,
        coupled: i32::from(accept == Accept::Coupled),
        vocab: VOCAB as i32,
        draft_vocab: VOCAB as i32,
    };
    let choices = send(gpu, &[choice]);
    let (vocab, padding) = (VOCAB as i32, 0);
    let params = kernels::ChooseTokens {
        logits: logits.at(),
        choices: choices.at(),
        scratch: scratch.at(),
        chosen: chosen.at(),
        vocab,
        padding,
    };
    gpu.launch(&kernels::CHOOSE_TOKENS, [1, 1, 1], kernels::CHOICE_MEMORY, params).expect("launched");
    let (mut drawn, mut made) = ([0; 2], [Chosen { token: 0, logprob: 0.0, accepted: 0 }]);
    drafts.read(0, &mut drawn).expect("read");
    chosen.read(0, &mut made).expect("read");
    if of.mode == 0 {
        return (drawn[0], 0.0);
    }
    assert_eq!(made[0].accepted, u32::from(of.mode == 1 && made[0].token == of.draft));
    (made[0].token, made[0].logprob)
}

#[derive(Clone, Copy)]
struct Of<'a> {
    mode: i32,
    draft: u32,
    q: Option<&'a [f32]>,
}

#[test]
fn tokens_are_those_of_the_host() {
    for (number, sampling) in settings().iter().enumerate() {
        for position in 0..12 {
            let Some(gpu) = emulator::gpu(position as usize % emulator::ORDERS) else { return };
            let key = DrawKey { seed: 0x1234_5678_9abc_def0, candidate: 3, position };
            let (main, draft_logits) = (logits(40 + position), logits(60 + position / 2));
            for accept in [Accept::Coupled, Accept::Rejection] {
                let what = format!("settings {number}, position {position}, {accept}");
                let history = &HISTORY[..if sampling.repetition_penalty.is_some() { 6 } else { 0 }];
                let draft = propose(Distribution::new(&draft_logits, sampling, history), accept, key);
                let drawn = chosen(&gpu, &draft_logits, sampling, accept, key, Of { mode: 0, draft: 0, q: None });
                assert_eq!(drawn.0, draft.token, "{what}: drafted");
                let Proposal::Drawn(q) = &draft.proposal else { panic!("drawn") };
                let dense: Vec<f32> = (0..VOCAB as u32).map(|id| q.prob(id)).collect();
                let rows = [&main[..], &main[..]];
                let host = |draft: Draft| verify(&|i| rows[i], &[draft], sampling, accept, key, history);
                let check = |mode: i32, draft: &Draft, q: Option<&[f32]>, expected: (u32, f32)| {
                    let got = chosen(&gpu, &main, sampling, accept, key, Of { mode, draft: draft.token, q });
                    assert_eq!(got.0, expected.0, "{what}, mode {mode}");
                    assert!((got.1 - expected.1).abs() < 1e-5, "{what}: {} for {}", got.1, expected.1);
                };
                let verified = host(draft.clone());
                check(1, &draft, Some(&dense), (verified.tokens[0], verified.logprobs[0]));
                let certain = Draft::certain(draft.token);
                let verified = host(certain.clone());
                check(1, &certain, None, (verified.tokens[0], verified.logprobs[0]));
                let own = verify(&|_| &main[..], &[], sampling, accept, key, history);
                check(2, &certain, None, (own.tokens[0], own.logprobs[0]));
            }
        }
    }
}

/// A draft that the main model cannot draw is replaced by what it can.
#[test]
fn a_draft_without_probability_is_replaced() {
    let Some(gpu) = emulator::gpu(0) else { return };
    let mut main = vec![-50.0; VOCAB];
    (main[10], main[20]) = (1.0, 1.0);
    let sampling = &Sampling { temperature: 1.0, top_p: Some(0.9), ..Sampling::GREEDY };
    let p = Distribution::new(&main, sampling, &[]);
    assert!(p.prob(10) > 0.4 && p.prob(5) <= 0.0);
    for position in 0..20 {
        let key = DrawKey { seed: 1, candidate: 0, position };
        let got = chosen(&gpu, &main, sampling, Accept::Rejection, key, Of { mode: 1, draft: 5, q: None });
        assert!([10, 20].contains(&got.0), "{got:?}");
    }
}

/// Numbers of choices are rounded up.
#[test]
fn a_padding_choice_chooses_nothing() {
    let Some(gpu) = emulator::gpu(1) else { return };
    let zeros = Choice {
        history: 0,
        drafts: 0,
        draft_probs: 0,
        probs: 0,
        seed: 0,
        candidate: 0,
        position: 0,
        filters: Filters::new(&Sampling::GREEDY, VOCAB),
        history_len: 0,
        row: 0,
        number: 0,
        mode: 3,
        coupled: 0,
        vocab: VOCAB as i32,
        draft_vocab: 0,
    };
    let choices = send(&gpu, &[zeros]);
    let chosen = send(&gpu, &[Chosen { token: 9, logprob: 0.5, accepted: 7 }]);
    let (logits, choices, scratch, vocab, padding) = (0, choices.at(), 0, VOCAB as i32, 0);
    let params = kernels::ChooseTokens { logits, choices, scratch, chosen: chosen.at(), vocab, padding };
    gpu.launch(&kernels::CHOOSE_TOKENS, [1, 1, 1], kernels::CHOICE_MEMORY, params).expect("launched");
    let mut left = [Chosen { token: 0, logprob: 0.0, accepted: 0 }];
    chosen.read(0, &mut left).expect("read");
    assert_eq!((left[0].token, left[0].logprob.to_bits(), left[0].accepted), (9, 0.5f32.to_bits(), 7));
}
