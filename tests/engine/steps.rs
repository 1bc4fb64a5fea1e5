//! The engine on networks whose logits are written down: ends, limits, cancellation, and requests that cannot
//! be met.

use super::toy::cases::{self, WARM, toy_model};
use super::toy::{Toy, generate_until, tokenizer};
use bass_tui::engine::{DraftLength, Engine, FinishReason, GenerateOptions, ModelDrafter, StopRules};
use bass_tui::sampling::{Accept, Sampling};

fn engine(drafted: bool) -> Engine {
    cases::engine(drafted.then(toy_model))
}

fn generate(engine: &mut Engine, options: &GenerateOptions) -> super::toy::Outcome {
    super::toy::generate(engine, &[1, 2], options)
}

fn options(n: usize, k: usize, sampling: Sampling) -> GenerateOptions {
    cases::options(n, 40, DraftLength::Fixed(k), sampling)
}

#[test]
fn a_candidate_does_not_depend_on_the_number_of_candidates() {
    for accept in [Accept::Rejection, Accept::Coupled] {
        for k in [0, 2] {
            let of = |n| generate(&mut engine(true), &GenerateOptions { accept, ..options(n, k, WARM) }).ids;
            let (one, eight) = (of(1), of(8));
            assert_eq!(one[0], eight[0]);
            assert_ne!(eight[0], eight[1], "candidates have randomness of their own");
        }
    }
}

#[test]
fn candidates_end_at_their_own_time_and_count_their_tokens() {
    let options = GenerateOptions { stop: StopRules::default(), ..options(8, 3, WARM) };
    let got = generate(&mut engine(true), &options);
    let lengths: Vec<usize> = got.ids.iter().map(Vec::len).collect();
    assert!(lengths.iter().any(|l| *l != lengths[0]), "{lengths:?}");
    for (ids, reason) in got.ids.iter().zip(&got.reasons) {
        let ended = ids.iter().position(|&id| id == super::toy::EOS);
        match reason {
            Some(FinishReason::Stop) => assert_eq!(ended, Some(ids.len() - 1), "nothing follows the end token"),
            Some(FinishReason::Length) => assert_eq!((ended, ids.len()), (None, 40)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(got.summary.tokens, lengths.iter().sum::<usize>());
    assert_eq!(got.summary.steps, got.steps.len());
    let means: Vec<f32> =
        got.logprobs.iter().map(|l| (l.iter().map(|&x| f64::from(x)).sum::<f64>() / l.len() as f64) as f32).collect();
    assert!(got.summary.ranking.windows(2).all(|w| means[w[0]] >= means[w[1]]));
}

#[test]
fn logprobs_are_those_of_the_raw_main_model() {
    let got = generate(&mut engine(true), &options(2, 3, Sampling { top_p: Some(0.5), ..WARM }));
    let table = Toy::main().table;
    for (ids, logprobs) in got.ids.iter().zip(&got.logprobs) {
        let mut context = [1, 2];
        for (&id, &logprob) in ids.iter().zip(logprobs) {
            let want = bass_tui::sampling::raw_logprob(&table.row(&context), id);
            assert!((want - logprob).abs() < 1e-6);
            context = [context[1], id];
        }
    }
}

#[test]
fn the_context_limit_ends_a_candidate() {
    let mut engine = Engine::new(Box::new(Toy::main().with_context(10)), tokenizer(), vec![], None);
    let got = generate(&mut engine, &options(2, 0, WARM));
    assert_eq!(got.ids[0].len(), 8);
    assert_eq!(got.reasons[0], Some(FinishReason::Length));
}

#[test]
fn one_candidate_can_be_cancelled_and_the_others_go_on() {
    let got = generate_until(&mut engine(true), &[1, 2], &options(3, 2, WARM), &|i| i == 1);
    assert_eq!(got.reasons[1], Some(FinishReason::Cancelled));
    assert!(got.ids[1].is_empty());
    assert_eq!((got.ids[0].len(), got.ids[2].len()), (40, 40));
    assert_eq!(got.summary.ranking[2], 1);
}

#[test]
fn all_cancelled_ends_within_one_step() {
    let asked = std::cell::Cell::new(0);
    let got = generate_until(&mut engine(true), &[1, 2], &options(4, 2, WARM), &|_| {
        asked.set(asked.get() + 1);
        asked.get() > 40
    });
    assert!(got.reasons.iter().all(|r| *r == Some(FinishReason::Cancelled)));
    assert!(got.steps.len() < 12, "{} steps", got.steps.len());
}

#[test]
fn a_time_budget_of_zero_cuts_everything_and_says_so() {
    let options = GenerateOptions { time_budget: Some(std::time::Duration::ZERO), ..options(2, 1, WARM) };
    let got = generate(&mut engine(true), &options);
    assert!(got.reasons.iter().all(|r| *r == Some(FinishReason::Budget)));
}

#[test]
fn requests_that_cannot_be_met_say_why() {
    let mut engine = engine(true);
    let mut fails = |prompt: &[u32], options: &GenerateOptions, part: &str| {
        let error = engine.generate(prompt, options, &|_| false, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let good = options(1, 0, WARM);
    fails(&[], &good, "prompt is empty");
    fails(&[99], &good, "token id 99");
    fails(&[1; 600], &good, "600 tokens");
    fails(&[1], &GenerateOptions { n: 0, ..good.clone() }, "0 candidates");
    fails(&[1], &GenerateOptions { n: 65, ..good.clone() }, "65 candidates");
    fails(&[1], &GenerateOptions { max_tokens: 0, ..good.clone() }, "max-tokens is 0");
    fails(&[1], &GenerateOptions { sampling: Sampling { top_p: Some(7.0), ..WARM }, ..good }, "top-p is 7");
}

#[test]
fn a_prompt_of_one_token_and_a_draft_model_with_a_short_context_work() {
    let short = Toy::draft().with_context(20);
    let drafter = Box::new(ModelDrafter::new("toy", Box::new(short)));
    let mut engine = Engine::new(Box::new(Toy::main()), tokenizer(), vec![], Some(drafter));
    let got = generate_until(&mut engine, &[3], &options(2, 4, WARM), &|_| false);
    assert_eq!(got.ids[0].len(), 40);
    // It drafts as far as it can follow: to the 20th position, of which the prompt is the first.
    assert!(got.summary.drafted > 0 && got.summary.accepted < 2 * 20, "{:?}", got.summary);
}
