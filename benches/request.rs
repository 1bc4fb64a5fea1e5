//! A whole request on the built-in pair: eight candidates against eight runs of one, with and without
//! speculation.

use bass_tui::backend::{self, LoadOptions};
use bass_tui::engine::{DraftLength, Engine, GenerateOptions, ModelDrafter, StopRules};
use bass_tui::model::{Model, ModelFiles, embedded};
use criterion::{Criterion, criterion_group, criterion_main};

const PROMPT: &str =
    "def is_even(n):\n    \"\"\"Return True if n is even.\n\n    >>> is_even(4)\n    True\n    \"\"\"\n";
const TOKENS: usize = 96;

fn engine() -> Engine {
    let load = |files| {
        let model = Model::load(&files).expect("the built-in model is whole");
        let network = backend::load(&model, LoadOptions::default()).expect("the built-in model fits");
        (model, network)
    };
    let (draft, network) = load(ModelFiles::Embedded(&embedded::DRAFT));
    let drafter = Box::new(ModelDrafter::new(&draft.name, network));
    let (main, network) = load(ModelFiles::Embedded(&embedded::MAIN));
    Engine::new(network, main.tokenizer, main.eos, Some(drafter))
}

fn run(engine: &mut Engine, n: usize, draft_length: DraftLength) {
    let prompt = engine.tokenizer().encode(PROMPT).expect("the prompt is text");
    let stop = StopRules { ignore_eos: true, ..StopRules::default() };
    let options = GenerateOptions { n, draft_length, max_tokens: TOKENS, stop, ..GenerateOptions::default() };
    engine.generate(&prompt, &options, &|_| false, &mut |_| {}).expect("the request can be met");
}

fn request(criterion: &mut Criterion) {
    let mut engine = engine();
    let mut group = criterion.benchmark_group("request");
    group.sample_size(10);
    let lengths = [
        ("plain", DraftLength::Fixed(0)),
        ("fixed 2", DraftLength::Fixed(2)),
        ("fixed 4", DraftLength::Fixed(4)),
        ("bass", DraftLength::Bass),
        ("auto", DraftLength::Auto),
    ];
    for (name, length) in lengths {
        group.bench_function(format!("8 candidates, {name}"), |b| b.iter(|| run(&mut engine, 8, length)));
        group.bench_function(format!("1 candidate, {name}"), |b| b.iter(|| run(&mut engine, 1, length)));
        group.bench_function(format!("8 runs of 1 candidate, {name}"), |b| {
            b.iter(|| (0..8).for_each(|_| run(&mut engine, 1, length)));
        });
    }
    group.finish();
}

criterion_group!(benches, request);
criterion_main!(benches);
