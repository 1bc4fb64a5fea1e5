//! Texts of rejection sampling have the main model's distribution, whatever drafts. Mistakes that
//! implementations have made are noticed by the same tests.

use std::sync::Arc;

use super::toy::cases::{PLAIN, engine, options, toy_model};
use super::toy::faults::{BAD_DRAFTS, BadDraft, FAULTS};
use super::toy::fit::Fit;
use super::toy::{EOS, Toy, VOCAB, generate, tokenizer};
use bass_tui::engine::{
    DraftLength, DraftVocabulary, Drafter, Engine, GenerateOptions, LookupDrafter, LookupSettings, ModelDrafter,
};
use bass_tui::sampling::{Accept, Sampling};

const PROMPT: &[u32] = &[1, 2];

/// Every pair of tokens, so that a lookup always finds something.
fn all_pairs() -> Arc<[u32]> {
    let vocab = VOCAB as u32;
    (0..vocab).flat_map(|a| (0..vocab).flat_map(move |b| [a, b])).collect()
}

fn lookup() -> Box<dyn Drafter> {
    Box::new(LookupDrafter::new(LookupSettings::ALL))
}

struct Draws {
    seeds: u64,
    tokens: usize,
    length: DraftLength,
    accept: Accept,
}

/// 64 candidates for each of so many seeds, against the main model's distribution. Returns the share of
/// drafts accepted, too.
fn fit(engine: &mut Engine, sampling: Sampling, draws: &Draws) -> (Fit, f64) {
    let mut fit = Fit::new(Toy::main().table, sampling);
    let (mut drafted, mut accepted) = (0, 0);
    for seed in 0..draws.seeds {
        let options = options(64, draws.tokens, draws.length, sampling);
        let options = GenerateOptions { seed, accept: draws.accept, reference: all_pairs(), ..options };
        let got = generate(engine, PROMPT, &options);
        got.ids.iter().for_each(|ids| fit.add(PROMPT, ids));
        drafted += got.summary.drafted;
        accepted += got.summary.accepted;
    }
    (fit, accepted as f64 / f64::max(drafted as f64, 1.0))
}

/// Chi-square per degree of freedom that a right implementation passes all but never: five standard
/// deviations above 1.
fn limit(fit: &Fit) -> f64 {
    1.0 + 5.0 * (2.0 / fit.freedom()).sqrt()
}

fn assert_fits(fit: &Fit, what: &str) {
    let (chi, worst, distance) = (fit.chi_square(), fit.worst_deviation(), fit.total_variation());
    assert!(!fit.impossible, "{what}: a token without probability was written");
    assert!(chi < limit(fit), "{what}: chi-square {chi:.2} per degree of freedom, limit {:.2}", limit(fit));
    assert!(worst < 4.5, "{what}: a token's count is {worst:.1} standard deviations off");
    assert!(distance < 0.03, "{what}: total variation {distance:.4}");
}

/// Temperature with every filter alone, and with all of them.
fn samplings(temperature: f32) -> [Sampling; 5] {
    let bare = Sampling { temperature, ..Sampling::GREEDY };
    let (top_k, top_p, min_p, penalty) = (Some(4), Some(0.85), Some(0.12), Some(1.4));
    [
        Sampling { top_k, ..bare },
        Sampling { top_p, ..bare },
        Sampling { min_p, ..bare },
        Sampling { repetition_penalty: penalty, ..bare },
        Sampling { top_k: Some(5), top_p: Some(0.95), min_p: Some(0.05), repetition_penalty: penalty, ..bare },
    ]
}

fn rejection_is_exact(temperature: f32) {
    for sampling in samplings(temperature) {
        for (drafter, name) in [(toy_model(), "draft model"), (lookup(), "lookup")] {
            let mut engine = engine(Some(drafter));
            let draws = Draws { seeds: 40, tokens: 20, length: DraftLength::Fixed(3), accept: Accept::Rejection };
            let (fit, share) = fit(&mut engine, sampling, &draws);
            assert!(fit.positions > 50_000 && (0.02..0.98).contains(&share), "{} {share}", fit.positions);
            assert_fits(&fit, &format!("{name}, {sampling:?}"));
        }
    }
}

#[test]
fn rejection_at_a_low_temperature_is_exact() {
    rejection_is_exact(0.3);
}

#[test]
fn rejection_at_an_everyday_temperature_is_exact() {
    rejection_is_exact(0.8);
}

#[test]
fn rejection_at_a_high_temperature_is_exact() {
    rejection_is_exact(1.2);
}

#[test]
fn every_draft_length_and_both_rules_are_exact() {
    let sampling = Sampling { temperature: 0.9, top_p: Some(0.8), ..Sampling::GREEDY };
    for accept in [Accept::Rejection, Accept::Coupled] {
        for length in [PLAIN, DraftLength::Fixed(1), DraftLength::Fixed(8), DraftLength::Bass] {
            let draws = Draws { seeds: 20, tokens: 40, length, accept };
            let (fit, _) = fit(&mut engine(Some(toy_model())), sampling, &draws);
            assert!(fit.positions > 50_000);
            assert_fits(&fit, &format!("{length:?}, {accept:?}"));
        }
    }
}

/// A draft model that proposes half of the tokens, and those of the prompt.
#[test]
fn a_short_list_of_proposals_is_exact_under_both_rules() {
    for accept in [Accept::Rejection, Accept::Coupled] {
        for sampling in samplings(0.8).into_iter().skip(3) {
            let list = DraftVocabulary::First(VOCAB / 2);
            let drafter = ModelDrafter::new("toy", Box::new(Toy::draft())).proposing(list);
            let draws = Draws { seeds: 20, tokens: 40, length: DraftLength::Fixed(3), accept };
            let (fit, share) = fit(&mut engine(Some(Box::new(drafter))), sampling, &draws);
            assert!((0.02..0.98).contains(&share), "{share}");
            assert_fits(&fit, &format!("{sampling:?}, {accept:?}"));
        }
    }
}

/// Each is drawn from its own distribution, which knows nothing of the drafts before it.
#[test]
fn drafts_of_one_pass_are_exact_under_both_rules() {
    for accept in [Accept::Rejection, Accept::Coupled] {
        for sampling in samplings(0.8).into_iter().skip(3) {
            let drafter = ModelDrafter::new("toy", Box::new(Toy::draft().at_once(4)));
            let draws = Draws { seeds: 20, tokens: 40, length: DraftLength::Fixed(3), accept };
            let (fit, share) = fit(&mut engine(Some(Box::new(drafter))), sampling, &draws);
            assert!((0.02..0.98).contains(&share), "{share}");
            assert_fits(&fit, &format!("{sampling:?}, {accept:?}"));
        }
    }
}

/// How a faulty implementation is put to the test.
fn fit_of(main: Toy, draft: Toy, sampling: Sampling, seeds: u64) -> Fit {
    let drafter = Box::new(ModelDrafter::new("toy", Box::new(draft)));
    let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(drafter));
    let draws = Draws { seeds, tokens: 40, length: DraftLength::Fixed(3), accept: Accept::Rejection };
    fit(&mut engine, sampling, &draws).0
}

const FILTERED: Sampling = Sampling { temperature: 0.6, top_p: Some(0.8), ..Sampling::GREEDY };

#[test]
fn wrong_acceptance_is_noticed() {
    for &fault in FAULTS {
        let fit = fit_of(Toy::faulty(fault), Toy::draft(), FILTERED, 20);
        assert!(fit.chi_square() > 2.0 * limit(&fit), "{fault:?} went unnoticed: {:.2}", fit.chi_square());
    }
}

#[test]
fn a_draft_that_was_not_drawn_from_its_q_is_noticed() {
    for &bad in BAD_DRAFTS {
        let fit = fit_of(Toy::main(), Toy::draft().bad_draft(bad), FILTERED, 20);
        assert!(fit.chi_square() > 2.0 * limit(&fit), "{bad:?} went unnoticed: {:.2}", fit.chi_square());
    }
}

/// Logits between 20 and 25, as language models have them, are known to a sixteenth in bf16: what is drawn
/// from them is another distribution, by a few per cent.
#[test]
fn a_draft_drawn_from_rounded_logits_is_noticed() {
    let bare = Sampling { temperature: 0.8, ..Sampling::GREEDY };
    let draft = || Toy::draft().shifted(20.0);
    let rounded = fit_of(Toy::main(), draft().bad_draft(BadDraft::Rounded), bare, 120);
    let honest = fit_of(Toy::main(), draft(), bare, 120);
    assert_fits(&honest, "in f32");
    assert!(rounded.chi_square() > limit(&rounded), "rounding went unnoticed: {:.3}", rounded.chi_square());
}
