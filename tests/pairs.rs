//! Promise 1 on real pairs of models: what is drafted never changes what is written.

use std::path::PathBuf;

use bass_tui::backend::{self, LoadOptions};
use bass_tui::engine::{DraftLength, Engine, Event, GenerateOptions, ModelDrafter, StopRules};
use bass_tui::model::{EmbeddedModel, Model, ModelFiles, embedded};
use bass_tui::sampling::{Accept, Sampling};

const TOKENS: usize = 256;
const PROMPT: &str =
    "def is_even(n):\n    \"\"\"Return True if n is even.\n\n    >>> is_even(4)\n    True\n    \"\"\"\n";

struct Pair {
    main: ModelFiles,
    draft: ModelFiles,
}

fn golden(main: &str, draft: &str) -> Pair {
    let folder = |name: &str| {
        ModelFiles::Folder(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(name))
    };
    Pair { main: folder(main), draft: folder(draft) }
}

fn built_in() -> Pair {
    let of = |model: &'static EmbeddedModel| ModelFiles::Embedded(model);
    Pair { main: of(&embedded::MAIN), draft: of(&embedded::DRAFT) }
}

impl Pair {
    fn engine(&self, threads: usize) -> Engine {
        let load = |files: &ModelFiles| {
            let model = Model::load(files).unwrap();
            let network = backend::load(&model, LoadOptions { threads, ..LoadOptions::default() }).unwrap();
            (model, network)
        };
        let (draft, network) = load(&self.draft);
        let drafter = Box::new(ModelDrafter::new(draft.name, network));
        let (main, network) = load(&self.main);
        Engine::new(network, main.tokenizer, main.eos, Some(drafter))
    }
}

/// Ids and raw log-probabilities (as bits) of every candidate.
fn write(engine: &mut Engine, options: &GenerateOptions) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let prompt = engine.tokenizer().encode(PROMPT).unwrap();
    let mut ids = vec![Vec::new(); options.n];
    let mut bits = vec![Vec::new(); options.n];
    let mut sink = |event| {
        if let Event::Tokens { candidate, ids: new, logprobs, .. } = event {
            ids[candidate].extend(new);
            bits[candidate].extend(logprobs.iter().map(|l: &f32| l.to_bits()));
        }
    };
    engine.generate(&prompt, options, &|_| false, &mut sink).unwrap();
    (ids, bits)
}

fn options(n: usize, draft_length: DraftLength, sampling: Sampling) -> GenerateOptions {
    let stop = StopRules { ignore_eos: true, ..StopRules::default() };
    GenerateOptions { n, draft_length, sampling, max_tokens: TOKENS, stop, ..GenerateOptions::default() }
}

fn greedy_is_the_same_with_any_drafts(pair: &Pair) {
    let mut engine = pair.engine(2);
    let plain = |n| options(n, DraftLength::Fixed(0), Sampling::GREEDY);
    let (ids, bits) = write(&mut engine, &plain(1));
    assert_eq!(ids[0].len(), TOKENS);
    let lengths = (1..=8).map(DraftLength::Fixed).chain([DraftLength::Bass]);
    for length in lengths {
        for n in [1, 3, 8] {
            let got = write(&mut engine, &options(n, length, Sampling::GREEDY));
            for c in 0..n {
                assert_eq!(got.0[c], ids[0], "{length:?}, candidate {c} of {n}: token ids");
                assert_eq!(got.1[c], bits[0], "{length:?}, candidate {c} of {n}: bits of the log-probabilities");
            }
        }
    }
    let (eight, _) = write(&mut engine, &plain(8));
    assert!(eight.iter().all(|c| *c == ids[0]), "eight greedy candidates are one");
    let (single, single_bits) = write(&mut pair.engine(1), &options(3, DraftLength::Bass, Sampling::GREEDY));
    assert_eq!((&single[2], &single_bits[2]), (&ids[0], &bits[0]), "with one thread");
}

fn sampling_does_not_depend_on_the_batch(pair: &Pair) {
    let mut engine = pair.engine(2);
    let sampling = Sampling { temperature: 0.8, top_p: Some(0.95), ..Sampling::GREEDY };
    let plain = |n| options(n, DraftLength::Fixed(0), sampling);
    let one = write(&mut engine, &plain(1));
    let eight = write(&mut engine, &plain(8));
    assert_eq!((&one.0[0], &one.1[0]), (&eight.0[0], &eight.1[0]), "candidate 0 alone and among eight");
    assert_ne!(eight.0[0], eight.0[1], "candidates differ");

    let coupled = |length| GenerateOptions { accept: Accept::Coupled, ..options(3, length, sampling) };
    let want = write(&mut engine, &coupled(DraftLength::Fixed(0)));
    for length in [DraftLength::Fixed(3), DraftLength::Bass] {
        assert!(write(&mut engine, &coupled(length)) == want, "coupled sampling with {length:?}");
    }
}

#[test]
fn llama_greedy() {
    greedy_is_the_same_with_any_drafts(&golden("llama", "llama-draft"));
}

#[test]
fn qwen2_greedy() {
    greedy_is_the_same_with_any_drafts(&golden("qwen2", "qwen2-draft"));
}

#[test]
fn built_in_greedy() {
    greedy_is_the_same_with_any_drafts(&built_in());
}

#[test]
fn sampling() {
    for pair in [golden("llama", "llama-draft"), golden("qwen2", "qwen2-draft"), built_in()] {
        sampling_does_not_depend_on_the_batch(&pair);
    }
}
