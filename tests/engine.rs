//! The engine on networks whose logits are written down: exactness in distribution, ragged steps, ends and cancellation.

mod toy;

use bass_tui::engine::{DraftLength, Engine, Event, FinishReason, GenerateOptions, ModelDrafter, StopRules, Summary};
use bass_tui::sampling::{Accept, Sampling};
use toy::{Toy, tokenizer};

fn engine(drafted: bool) -> Engine {
    let drafter = drafted.then(|| Box::new(ModelDrafter::new("toy", Box::new(Toy::draft()))) as _);
    Engine::new(Box::new(Toy::main()), tokenizer(), vec![toy::EOS], drafter)
}

struct Outcome {
    ids: Vec<Vec<u32>>,
    logprobs: Vec<Vec<f32>>,
    reasons: Vec<Option<FinishReason>>,
    summary: Summary,
    steps: usize,
}

fn generate_until(
    engine: &mut Engine,
    prompt: &[u32],
    options: &GenerateOptions,
    cancelled: &dyn Fn(usize) -> bool,
) -> Outcome {
    let n = options.n;
    let (mut ids, mut logprobs) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    let (mut reasons, mut steps) = (vec![None; n], 0);
    let summary = engine
        .generate(prompt, options, cancelled, &mut |event| match event {
            Event::Tokens { candidate, ids: new, logprobs: lp, drafted, accepted, .. } => {
                assert!(accepted <= drafted && new.len() <= drafted + 1 && new.len() == lp.len());
                ids[candidate].extend(new);
                logprobs[candidate].extend(lp);
            }
            Event::Finished { candidate, reason, .. } => {
                assert!(reasons[candidate].is_none(), "candidate {candidate} finished twice");
                reasons[candidate] = Some(reason);
            }
            Event::Step(_) => steps += 1,
            Event::Failed(why) => panic!("{why}"),
            _ => {}
        })
        .unwrap();
    Outcome { ids, logprobs, reasons, summary, steps }
}

fn generate(engine: &mut Engine, options: &GenerateOptions) -> Outcome {
    generate_until(engine, &[1, 2], options, &|_| false)
}

fn options(n: usize, k: usize, sampling: Sampling) -> GenerateOptions {
    GenerateOptions {
        n,
        sampling,
        max_tokens: 40,
        draft_length: DraftLength::Fixed(k),
        stop: StopRules { ignore_eos: true, ..StopRules::default() },
        ..GenerateOptions::default()
    }
}

const PLAIN: Sampling = Sampling { temperature: 0.9, top_k: None, top_p: None, min_p: None, repetition_penalty: None };

/// Counts of every token after every context of two tokens, over many candidates.
fn counts(engine: &mut Engine, k: usize, sampling: Sampling, accept: Accept) -> Vec<[f64; toy::VOCAB]> {
    let mut counts = vec![[0.0; toy::VOCAB]; toy::VOCAB * toy::VOCAB];
    for seed in 0..24 {
        let options = GenerateOptions { seed, accept, ..options(32, k, sampling) };
        for ids in generate(engine, &options).ids {
            let mut context = [1, 2];
            for id in ids {
                counts[toy::context(&context)][id as usize] += 1.0;
                context = [context[1], id];
            }
        }
    }
    counts
}

/// Chi-square of observed counts against the main model's distribution, per degree of freedom.
fn chi_square(counts: &[[f64; toy::VOCAB]], sampling: &Sampling) -> f64 {
    let (mut chi, mut freedom) = (0.0, 0.0);
    for (context, row) in counts.iter().enumerate() {
        let total: f64 = row.iter().sum();
        let p = bass_tui::sampling::Distribution::new(&Toy::main().table[context], sampling, &[]);
        let mut cells = 0.0;
        for (id, &seen) in row.iter().enumerate() {
            let expected = total * f64::from(p.prob(id as u32));
            if expected >= 5.0 {
                chi += (seen - expected).powi(2) / expected;
                cells += 1.0;
            } else if expected == 0.0 && seen > 0.0 {
                return f64::INFINITY; // A token without probability was drawn.
            }
        }
        freedom += f64::max(cells - 1.0, 0.0);
    }
    assert!(freedom > 60.0, "too few draws for a test: {freedom} degrees of freedom");
    chi / freedom
}

/// 24 seeds of 32 candidates of 40 tokens: 30,720 draws a case. The mean of chi-square per degree of freedom is 1; with more than 60
/// degrees its standard deviation is below 0.19.
const CHI_LIMIT: f64 = 1.7;

#[test]
fn speculative_sampling_has_the_main_models_distribution() {
    let filtered = Sampling { top_p: Some(0.8), ..PLAIN };
    for sampling in [PLAIN, filtered] {
        for accept in [Accept::Rejection, Accept::Coupled] {
            for k in [0, 1, 3] {
                let chi = chi_square(&counts(&mut engine(true), k, sampling, accept), &sampling);
                assert!(
                    chi < CHI_LIMIT,
                    "draft length {k}, {accept:?}, {sampling:?}: chi-square {chi:.2} per degree of freedom"
                );
            }
        }
    }
}

/// The same test notices each wrong acceptance rule, so that it is known to be able to fail.
#[test]
fn wrong_acceptance_rules_are_noticed() {
    for fault in toy::FAULTS {
        let drafter = Box::new(ModelDrafter::new("toy", Box::new(Toy::draft())));
        let mut engine = Engine::new(Box::new(Toy::faulty(*fault)), tokenizer(), vec![toy::EOS], Some(drafter));
        let sampling = Sampling { top_p: Some(0.8), ..PLAIN };
        let counts = counts(&mut engine, 3, sampling, Accept::Rejection);
        let chi = chi_square(&counts, &sampling);
        assert!(chi > CHI_LIMIT, "{fault:?} went unnoticed: {chi:.2}");
    }
}

#[test]
fn greedy_output_does_not_depend_on_drafts_or_batch() {
    let want = generate(&mut engine(false), &options(1, 0, Sampling::GREEDY)).ids.remove(0);
    for n in [1, 3, 8] {
        for k in 0..=8 {
            let got = generate(&mut engine(true), &options(n, k, Sampling::GREEDY));
            assert!(got.ids.iter().all(|ids| *ids == want), "n = {n}, k = {k}");
        }
        let bass = GenerateOptions { draft_length: DraftLength::Bass, ..options(n, 0, Sampling::GREEDY) };
        assert!(generate(&mut engine(true), &bass).ids.iter().all(|ids| *ids == want));
    }
}

#[test]
fn a_candidate_does_not_depend_on_the_number_of_candidates() {
    for accept in [Accept::Rejection, Accept::Coupled] {
        for k in [0, 2] {
            let of = |n| generate(&mut engine(true), &GenerateOptions { accept, ..options(n, k, PLAIN) }).ids;
            let (one, eight) = (of(1), of(8));
            assert_eq!(one[0], eight[0]);
            assert_ne!(eight[0], eight[1], "candidates have randomness of their own");
        }
    }
}

#[test]
fn coupled_output_is_that_of_plain_sampling() {
    for seed in 0..20 {
        let of = |k| {
            let options = GenerateOptions { accept: Accept::Coupled, seed, ..options(4, k, PLAIN) };
            generate(&mut engine(true), &options).ids
        };
        let plain = of(0);
        assert!((1..=6).all(|k| of(k) == plain), "seed {seed}");
    }
}

#[test]
fn candidates_end_at_their_own_time_and_count_their_tokens() {
    let options = GenerateOptions { stop: StopRules::default(), ..options(8, 3, PLAIN) };
    let got = generate(&mut engine(true), &options);
    let lengths: Vec<usize> = got.ids.iter().map(Vec::len).collect();
    assert!(lengths.iter().any(|l| *l != lengths[0]), "{lengths:?}");
    for (ids, reason) in got.ids.iter().zip(&got.reasons) {
        let ended = ids.iter().position(|&id| id == toy::EOS);
        match reason {
            Some(FinishReason::Stop) => assert_eq!(ended, Some(ids.len() - 1), "nothing follows the end token"),
            Some(FinishReason::Length) => assert_eq!((ended, ids.len()), (None, 40)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(got.summary.tokens, lengths.iter().sum::<usize>());
    assert_eq!(got.summary.steps, got.steps);
    let means: Vec<f32> =
        got.logprobs.iter().map(|l| (l.iter().map(|&x| f64::from(x)).sum::<f64>() / l.len() as f64) as f32).collect();
    assert!(got.summary.ranking.windows(2).all(|w| means[w[0]] >= means[w[1]]));
}

#[test]
fn logprobs_are_those_of_the_raw_main_model() {
    let got = generate(&mut engine(true), &options(2, 3, Sampling { top_p: Some(0.5), ..PLAIN }));
    let table = Toy::main().table;
    for (ids, logprobs) in got.ids.iter().zip(&got.logprobs) {
        let mut context = [1, 2];
        for (&id, &logprob) in ids.iter().zip(logprobs) {
            let want = bass_tui::sampling::raw_logprob(&table[toy::context(&context)], id);
            assert!((want - logprob).abs() < 1e-6);
            context = [context[1], id];
        }
    }
}

#[test]
fn the_context_limit_ends_a_candidate() {
    let mut engine = Engine::new(Box::new(Toy::main().with_context(10)), tokenizer(), vec![], None);
    let got = generate(&mut engine, &options(2, 0, PLAIN));
    assert_eq!(got.ids[0].len(), 8);
    assert_eq!(got.reasons[0], Some(FinishReason::Length));
}

#[test]
fn one_candidate_can_be_cancelled_and_the_others_go_on() {
    let got = generate_until(&mut engine(true), &[1, 2], &options(3, 2, PLAIN), &|i| i == 1);
    assert_eq!(got.reasons[1], Some(FinishReason::Cancelled));
    assert!(got.ids[1].is_empty());
    assert_eq!((got.ids[0].len(), got.ids[2].len()), (40, 40));
    assert_eq!(got.summary.ranking[2], 1);
}

#[test]
fn all_cancelled_ends_within_one_step() {
    let asked = std::cell::Cell::new(0);
    let got = generate_until(&mut engine(true), &[1, 2], &options(4, 2, PLAIN), &|_| {
        asked.set(asked.get() + 1);
        asked.get() > 40
    });
    assert!(got.reasons.iter().all(|r| *r == Some(FinishReason::Cancelled)));
    assert!(got.steps < 12, "{} steps", got.steps);
}

#[test]
fn a_time_budget_of_zero_cuts_everything_and_says_so() {
    let options = GenerateOptions { time_budget: Some(std::time::Duration::ZERO), ..options(2, 1, PLAIN) };
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
    let good = options(1, 0, PLAIN);
    fails(&[], &good, "prompt is empty");
    fails(&[99], &good, "token id 99");
    fails(&[1; 600], &good, "600 tokens");
    fails(&[1], &GenerateOptions { n: 0, ..good.clone() }, "0 candidates");
    fails(&[1], &GenerateOptions { n: 65, ..good.clone() }, "65 candidates");
    fails(&[1], &GenerateOptions { max_tokens: 0, ..good.clone() }, "max-tokens is 0");
    fails(&[1], &GenerateOptions { sampling: Sampling { top_p: Some(7.0), ..PLAIN }, ..good }, "top-p is 7");
}

#[test]
fn a_prompt_of_one_token_and_a_draft_model_with_a_short_context_work() {
    let short = Toy::draft().with_context(20);
    let drafter = Box::new(ModelDrafter::new("toy", Box::new(short)));
    let mut engine = Engine::new(Box::new(Toy::main()), tokenizer(), vec![], Some(drafter));
    let got = generate_until(&mut engine, &[3], &options(2, 4, PLAIN), &|_| false);
    assert_eq!(got.ids[0].len(), 40);
    // It drafts as far as it can follow: to the 20th position, of which the prompt is the first.
    assert!(got.summary.drafted > 0 && got.summary.accepted < 2 * 20, "{:?}", got.summary);
}
