//! Time of one network step of the embedded models by number of rows, on the CPU: the curve from which the
//! engine chooses draft lengths. `cargo bench --bench network`.
//!
//! `rows` is 1 row each of 1 to 8 candidates, or more rows each of some (8 times 5 is a step that verifies 4 drafted tokens),
//! after a shared prompt of 256 tokens. Throughput is bytes of weights, which are read once per step.

use std::hint::black_box;

use bass_tui::backend::{self, LoadOptions, Network, Rows, Span, Wanted};
use bass_tui::model::{DRAFT, EmbeddedModel, MAIN, Model, ModelFiles};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const PROMPT: usize = 256;

fn network(files: &'static EmbeddedModel) -> Box<dyn Network> {
    let model = Model::load(&ModelFiles::Embedded(files)).expect("an embedded model");
    backend::load(&model, LoadOptions::default()).expect("an embedded model")
}

fn tokens(len: usize) -> Vec<u32> {
    (0..len as u32).map(|i| i * 37 % 4096).collect()
}

fn steps(criterion: &mut Criterion) {
    for files in [&MAIN, &DRAFT] {
        let mut network = network(files);
        let prompt = network.open(PROMPT).expect("memory");
        let text = tokens(PROMPT);
        let spans = [Span { seq: prompt, start: 0, len: PROMPT }];
        network.forward(&Rows::chain(&text, &spans), Wanted::Nothing).expect("a prefill");
        let forks = network.fork(prompt, 8, 64).expect("memory");

        let mut group = criterion.benchmark_group(files.name);
        group.throughput(Throughput::Bytes(network.info().weight_bytes as u64));
        for (candidates, each) in [(1, 1), (2, 1), (3, 1), (4, 1), (6, 1), (8, 1), (6, 2), (8, 2), (8, 5)] {
            let text = tokens(candidates * each);
            let spans: Vec<Span> =
                forks[..candidates].iter().map(|&seq| Span { seq, start: PROMPT, len: each }).collect();
            let rows = Rows::chain(&text, &spans);
            group.bench_function(format!("{} rows", candidates * each), |bencher| {
                bencher.iter(|| network.forward(black_box(&rows), Wanted::All).expect("a step"));
            });
        }
    }
}

fn prefill(criterion: &mut Criterion) {
    let mut network = network(&MAIN);
    let text = tokens(PROMPT);
    criterion.bench_function("built-in/prefill 256", |bencher| {
        bencher.iter(|| {
            let seq = network.open(PROMPT).expect("memory");
            let spans = [Span { seq, start: 0, len: PROMPT }];
            network.forward(black_box(&Rows::chain(&text, &spans)), Wanted::Last).expect("a prefill");
            network.close(seq);
        });
    });
}

fn load(criterion: &mut Criterion) {
    criterion.bench_function("load the built-in pair", |bencher| bencher.iter(|| (network(&MAIN), network(&DRAFT))));
}

criterion_group!(benches, steps, prefill, load);
criterion_main!(benches);
