//! Prompts that are kept: what is written is the same to the bit, only sooner.

use std::path::PathBuf;

use super::toy::cases::{PLAIN, WARM, options};
use super::toy::{Outcome, generate};
use bass_tui::backend::{self, LoadOptions};
use bass_tui::engine::{DraftLength, Engine, GenerateOptions, ModelDrafter};
use bass_tui::model::{Model, ModelFiles};
use bass_tui::sampling::Sampling;

/// Room for all prompts of a test.
const ENOUGH: usize = 1 << 30;

fn engine(drafted: bool, kept: usize) -> Engine {
    engine_of(("llama", "llama-draft"), drafted, kept)
}

fn engine_of((main, draft): (&str, &str), drafted: bool, kept: usize) -> Engine {
    let load = |name: &str| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(name);
        let model = Model::load(&ModelFiles::Folder(folder)).unwrap();
        let network = backend::load(&model, LoadOptions { threads: 1, ..LoadOptions::default() }).unwrap();
        (model, network)
    };
    let drafter = drafted.then(|| Box::new(ModelDrafter::new(draft, load(draft).1)) as _);
    let (main, network) = load(main);
    let mut engine = Engine::new(network, main.tokenizer, main.eos, drafter);
    engine.keep_prompts(kept);
    engine
}

fn prompt(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| 3 + i * 7 % 2000).collect()
}

/// The prompt with another token in one place.
fn edited(prompt: &[u32], at: usize) -> Vec<u32> {
    let mut prompt = prompt.to_vec();
    prompt[at] += 1;
    prompt
}

fn same(warm: &Outcome, cold: &Outcome, what: &str) {
    assert_eq!(warm.ids, cold.ids, "{what}");
    for c in 0..cold.ids.len() {
        assert_eq!(warm.bits(c), cold.bits(c), "{what}, candidate {c}");
    }
}

/// Requests one after the other, each with how much of its prompt is known; the same comes out as of an
/// engine that keeps nothing.
fn known(engine: &mut Engine, drafted: bool, requests: &[(Vec<u32>, GenerateOptions, usize)]) {
    known_of(&|| self::engine(drafted, 0), engine, requests);
}

fn known_of(cold: &dyn Fn() -> Engine, engine: &mut Engine, requests: &[(Vec<u32>, GenerateOptions, usize)]) {
    for (i, (prompt, options, reused)) in requests.iter().enumerate() {
        let warm = generate(engine, prompt, options);
        same(&warm, &generate(&mut cold(), prompt, options), &format!("request {i}"));
        assert_eq!(warm.summary.prompt_tokens_reused, *reused, "request {i}");
    }
}

#[test]
fn a_prompt_that_begins_alike_is_read_from_the_first_difference() {
    for drafted in [false, true] {
        let length = if drafted { DraftLength::Fixed(3) } else { PLAIN };
        let (greedy, warm) = (options(3, 24, length, Sampling::GREEDY), options(3, 24, length, WARM));
        let next = GenerateOptions { seed: 1, ..warm.clone() };
        let long = prompt(300);
        let longer: Vec<u32> = prompt(320);
        let requests = [
            (long.clone(), greedy.clone(), 0),
            (long.clone(), warm.clone(), 299),
            (long.clone(), next, 299),
            (edited(&long, 200), warm.clone(), 200),
            (longer.clone(), warm.clone(), 200),
            // Less than half is the same: a prompt of its own, and the one before stays.
            (edited(&longer, 100), greedy.clone(), 0),
            (longer, greedy.clone(), 319),
            (prompt(1), greedy, 0),
        ];
        known(&mut engine(drafted, ENOUGH), drafted, &requests);
    }
}

/// States are kept at some lengths only: a prompt is read from the last one before the first difference.
#[test]
fn a_prompt_of_a_model_with_states_is_read_from_a_kept_one() {
    for drafted in [false, true] {
        let length = if drafted { DraftLength::Fixed(3) } else { PLAIN };
        let (greedy, warm) = (options(2, 12, length, Sampling::GREEDY), options(2, 12, length, WARM));
        let long = prompt(600);
        let requests = [
            (long.clone(), greedy.clone(), 0),
            (long.clone(), warm.clone(), 599),
            (prompt(620), warm.clone(), 599),
            (edited(&long, 550), warm, 512),
            // Too little is left: a prompt of its own, and the one before stays.
            (edited(&long, 200), greedy.clone(), 0),
            (edited(&long, 520), greedy, 512),
        ];
        let (main, draft) = ("qwen3-5", "qwen3-5");
        let mut engine = engine_of((main, draft), drafted, ENOUGH);
        known_of(&|| engine_of((main, draft), drafted, 0), &mut engine, &requests);
        engine.abort();
        assert_eq!(engine.kv_bytes(), 0);
    }
}

#[test]
fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
    let options = options(1, 4, PLAIN, Sampling::GREEDY);
    let shifted = |by: u32| prompt(128).into_iter().map(|token| token + by).collect::<Vec<u32>>();
    let mut engine = engine(false, ENOUGH);
    generate(&mut engine, &shifted(0), &options);
    let one = engine.kv_bytes();
    assert!(one > 0);
    engine.keep_prompts(2 * one);
    assert_eq!(engine.kv_bytes(), 0, "what was kept by another rule is given back");
    let reused = |engine: &mut Engine, by: u32| generate(engine, &shifted(by), &options).summary.prompt_tokens_reused;
    let asked = [0, 1, 0, 2, 1, 2].map(|by| {
        let reused = reused(&mut engine, by);
        assert!(engine.kv_bytes() <= 2 * one);
        reused
    });
    // The third pushes out the one that was used longest ago.
    assert_eq!(asked, [0, 0, 127, 0, 0, 127]);
    // The size of the shortest prompt says nothing of the others.
    for by in [3, 4, 5] {
        generate(&mut engine, &prompt(1), &options);
        reused(&mut engine, by);
        assert!(engine.kv_bytes() <= 2 * one);
    }
    engine.abort();
    assert_eq!(engine.kv_bytes(), 0);
}

#[test]
fn what_is_read_ahead_is_known_to_the_request() {
    for drafted in [false, true] {
        let length = if drafted { DraftLength::Fixed(3) } else { PLAIN };
        let options = options(3, 24, length, WARM);
        let long = prompt(300);
        let mut engine = engine(drafted, ENOUGH);
        engine.read_ahead(&long);
        while engine.step(&mut |_, _| {}).unwrap() {}
        known(&mut engine, drafted, &[(long.clone(), options.clone(), 299)]);
        // A request comes in the middle: what is read by then counts.
        let other = edited(&long, 0);
        engine.read_ahead(&other);
        for _ in 0..3 {
            assert!(engine.step(&mut |_, _| {}).unwrap());
        }
        known(&mut engine, drafted, &[(other.clone(), options.clone(), 128), (long, options, 299)]);
        engine.abort();
        assert_eq!(engine.kv_bytes(), 0);
    }
}

#[test]
fn nothing_is_read_ahead_that_cannot_be_kept_or_asked_for() {
    let mut keeps_nothing = engine(true, 0);
    keeps_nothing.read_ahead(&prompt(300));
    assert!(keeps_nothing.is_idle());
    let mut engine = engine(false, ENOUGH);
    for impossible in [vec![], vec![u32::MAX; 3], vec![3; 1 << 20]] {
        engine.read_ahead(&impossible);
        assert!(engine.is_idle());
    }
    engine.read_ahead(&prompt(1));
    while engine.step(&mut |_, _| {}).unwrap() {}
    known(&mut engine, false, &[(prompt(1), options(1, 4, PLAIN, WARM), 0)]);
}
