//! Promise 1 on real pairs of models: what is drafted never changes what is written.

use std::path::PathBuf;
use std::sync::Arc;

use super::toy::cases::{FEW_POLICIES, KINDS, Kind, PLAIN, options, profile};
use super::toy::{Outcome, generate};
use bass_tui::backend::{self, Dtype, LoadOptions, Network};
use bass_tui::engine::{DraftLength, DraftVocabulary, Drafter, Engine, GenerateOptions, HeadDrafter, ModelDrafter};
use bass_tui::model::{DraftHead, EmbeddedModel, Model, ModelFiles, embedded};
use bass_tui::sampling::{Accept, Sampling};

const TOKENS: usize = 192;
const PROMPT: &str =
    "def is_even(n):\n    \"\"\"Return True if n is even.\n\n    >>> is_even(4)\n    True\n    \"\"\"\n";

pub(super) struct Pair {
    main: ModelFiles,
    draft: ModelFiles,
    dtype: Dtype,
}

pub(super) fn golden(main: &str, draft: &str) -> Pair {
    let folder = |name: &str| {
        ModelFiles::Folder(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(name))
    };
    Pair { main: folder(main), draft: folder(draft), dtype: Dtype::Auto }
}

fn built_in() -> Pair {
    built_in_as(Dtype::Auto)
}

fn built_in_as(dtype: Dtype) -> Pair {
    let of = |model: &'static EmbeddedModel| ModelFiles::Embedded(model);
    Pair { main: of(&embedded::MAIN), draft: of(&embedded::DRAFT), dtype }
}

fn load(files: &ModelFiles, dtype: Dtype, threads: usize) -> (Model, Box<dyn Network>) {
    let model = Model::load(files).unwrap();
    let network = backend::load(&model, LoadOptions { dtype, threads, ..LoadOptions::default() }).unwrap();
    (model, network)
}

impl Pair {
    fn drafter(&self, threads: usize) -> Box<dyn Drafter> {
        let (draft, network) = load(&self.draft, self.dtype, threads);
        Box::new(ModelDrafter::new(&draft.name, network))
    }

    /// The draft model proposes the first `tokens` and those at hand only.
    fn listed(&self, tokens: usize, dtype: Dtype) -> Box<dyn Drafter> {
        let (draft, network) = load(&self.draft, dtype, 2);
        Box::new(ModelDrafter::new(&draft.name, network).proposing(DraftVocabulary::First(tokens)))
    }

    fn engine_with(&self, threads: usize, drafter: Option<Box<dyn Drafter>>) -> Engine {
        let (main, network) = load(&self.main, self.dtype, threads);
        Engine::new(network, main.tokenizer, main.eos, drafter)
    }

    fn engine(&self, threads: usize) -> Engine {
        match self.head() {
            Some(head) => self.engine_with_head(threads, &head),
            None => self.engine_with(threads, Some(self.drafter(threads))),
        }
    }

    /// The draft head, where it is one: that of the main model, if both are the same files and it has one that can
    /// be read.
    fn head(&self) -> Option<DraftHead> {
        let (ModelFiles::Folder(main), ModelFiles::Folder(draft)) = (&self.main, &self.draft) else { return None };
        let model = || Model::load(&self.main).unwrap();
        if DraftHead::is_at(&self.draft) {
            return Some(DraftHead::load(draft, &model().spec).unwrap());
        }
        if main == draft { DraftHead::of_main(&self.main, &model()).ok().flatten() } else { None }
    }

    fn engine_with_head(&self, threads: usize, head: &DraftHead) -> Engine {
        let (main, mut network) = load(&self.main, self.dtype, threads);
        network.attach(head, self.dtype).unwrap();
        let drafter = HeadDrafter::new("head", head.kind).proposing(DraftVocabulary::First(700), 2048);
        Engine::new(network, main.tokenizer, main.eos, Some(Box::new(drafter)))
    }
}

fn write(engine: &mut Engine, options: &GenerateOptions) -> Outcome {
    let prompt = engine.tokenizer().encode(PROMPT).unwrap();
    generate(engine, &prompt, options)
}

/// Candidate `c` of `got` is candidate `of` of `want`, to the bit.
fn assert_same(got: &Outcome, c: usize, want: &Outcome, of: usize, what: &str) {
    assert_eq!(got.ids[c], want.ids[of], "{what}, candidate {c}: token ids");
    assert_eq!(got.bits(c), want.bits(of), "{what}, candidate {c}: bits of the log-probabilities");
}

fn greedy(n: usize, length: DraftLength) -> GenerateOptions {
    options(n, TOKENS, length, Sampling::GREEDY)
}

pub(super) fn greedy_is_the_same_with_any_drafts(pair: &Pair) {
    let mut engine = pair.engine(2);
    let plain = write(&mut engine, &greedy(1, PLAIN));
    assert_eq!(plain.ids[0].len(), TOKENS);
    let lengths = [1, 2, 3, 5, 8].map(DraftLength::Fixed).into_iter().chain([DraftLength::Bass, DraftLength::Auto]);
    for length in lengths {
        for n in [1, 3, 8] {
            let got = write(&mut engine, &greedy(n, length));
            (0..n).for_each(|c| assert_same(&got, c, &plain, 0, &format!("{length:?}, n = {n}")));
        }
    }
    let eight = write(&mut engine, &greedy(8, PLAIN));
    assert!(eight.ids.iter().all(|c| *c == plain.ids[0]), "eight greedy candidates are one");
    let single = write(&mut pair.engine(1), &greedy(3, DraftLength::Bass));
    assert_same(&single, 2, &plain, 0, "with one thread");
}

/// Tokens of a finished run, with the prompt, by candidate: the knowledge of a script.
fn truth(engine: &Engine, outcome: &Outcome) -> Vec<Vec<u32>> {
    let prompt = engine.tokenizer().encode(PROMPT).unwrap();
    outcome.ids.iter().map(|ids| [&prompt[..], ids].concat()).collect()
}

/// Plain text with a wrong token now and then: a reference for lookups to copy from.
fn nearly(plain: &Outcome) -> Arc<[u32]> {
    plain.ids[0].iter().enumerate().map(|(i, &id)| if i % 11 == 10 { id ^ 1 } else { id }).collect()
}

/// 384 tokens with every drafter; every policy and every number of candidates occurs with each.
fn greedy_is_the_same_with_every_drafter(pair: &Pair, kinds: &[Kind], threads: usize) {
    const LONG: usize = 384;
    let mut engine = pair.engine_with(threads, None);
    let plain = write(&mut engine, &options(1, LONG, PLAIN, Sampling::GREEDY));
    assert_eq!(plain.ids[0].len(), LONG);
    let reference = nearly(&plain);
    for (k, &kind) in kinds.iter().enumerate() {
        let drafter = kind.drafter(|| pair.drafter(threads), &truth(&engine, &plain));
        let mut engine = pair.engine_with(threads, Some(drafter));
        let mut drafted = 0;
        for (i, n) in [1, 2, 5, 8, 16, 1].into_iter().enumerate() {
            let length = FEW_POLICIES[(i + k) % FEW_POLICIES.len()];
            engine.set_profile(&profile());
            let reference = Arc::clone(&reference);
            let options = GenerateOptions { reference, ..options(n, LONG, length, Sampling::GREEDY) };
            let got = write(&mut engine, &options);
            let what = format!("{kind:?}, {length:?}, n = {n}, {threads} threads");
            (0..n).for_each(|c| assert_same(&got, c, &plain, 0, &what));
            drafted += got.summary.drafted;
        }
        // Candidates that write the same at the same pace cannot copy from each other, unless the text
        // repeats itself.
        assert!(drafted > LONG || kind == Kind::SIBLING, "{kind:?}: {drafted} tokens drafted");
    }
}

pub(super) fn sampling_does_not_depend_on_the_batch(pair: &Pair) {
    let mut engine = pair.engine(2);
    let sampling = Sampling { temperature: 0.8, top_p: Some(0.95), ..Sampling::GREEDY };
    let plain = |n| options(n, TOKENS, PLAIN, sampling);
    let one = write(&mut engine, &plain(1));
    let eight = write(&mut engine, &plain(8));
    assert_same(&one, 0, &eight, 0, "alone and among eight");
    assert_ne!(eight.ids[0], eight.ids[1], "candidates differ");

    for length in [DraftLength::Fixed(3), DraftLength::Bass, DraftLength::Auto] {
        let got = write(&mut engine, &options(3, TOKENS, length, sampling));
        (0..3).for_each(|c| assert_same(&got, c, &eight, c, &format!("coupled sampling with {length:?}")));
    }
}

#[test]
fn llama_greedy() {
    greedy_is_the_same_with_any_drafts(&golden("llama", "llama-draft"));
}

#[test]
fn llama_greedy_with_every_drafter() {
    greedy_is_the_same_with_every_drafter(&golden("llama", "llama-draft"), &KINDS, 1);
}

#[test]
fn llama_greedy_with_two_threads() {
    greedy_is_the_same_with_every_drafter(&golden("llama", "llama-draft"), &[Kind::Scripted], 2);
}

#[test]
fn built_in_greedy_with_siblings() {
    greedy_is_the_same_with_every_drafter(&built_in(), &[Kind::SIBLING], 1);
}

#[test]
fn qwen2_greedy() {
    greedy_is_the_same_with_any_drafts(&golden("qwen2", "qwen2-draft"));
}

#[test]
fn qwen2_greedy_with_drafts_of_one_pass() {
    greedy_is_the_same_with_any_drafts(&golden("qwen2", "qwen2-parallel"));
}

/// A main model whose states are taken back; most drafts are wrong.
#[test]
fn qwen3_5_greedy() {
    greedy_is_the_same_with_any_drafts(&golden("qwen3-5", "qwen2-draft"));
}

/// The draft model has states, too.
#[test]
fn qwen3_5_greedy_with_every_drafter() {
    greedy_is_the_same_with_every_drafter(&golden("qwen3-5", "qwen3-5"), &KINDS, 2);
}

#[test]
fn built_in_greedy() {
    greedy_is_the_same_with_any_drafts(&built_in());
}

/// With weights of a few bits, too, a row's result depends on nothing but its own sequence.
#[test]
fn built_in_greedy_with_quantised_weights() {
    for dtype in [Dtype::Int8, Dtype::Int4] {
        let pair = built_in_as(dtype);
        let mut engine = pair.engine(2);
        let plain = write(&mut engine, &greedy(1, PLAIN));
        for (n, length) in [(1, DraftLength::Fixed(3)), (3, DraftLength::Bass), (8, DraftLength::Fixed(5))] {
            let got = write(&mut engine, &greedy(n, length));
            assert!(got.summary.drafted > TOKENS / 4, "{dtype:?}: nothing drafted");
            (0..n).for_each(|c| assert_same(&got, c, &plain, 0, &format!("{dtype:?}, {length:?}, n = {n}")));
        }
        let single = write(&mut pair.engine(1), &greedy(2, DraftLength::Fixed(2)));
        assert_same(&single, 1, &plain, 0, "with one thread");
    }
}

/// A draft model with a part of its head writes what it writes with all of it.
#[test]
fn a_short_list_of_proposals_changes_nothing() {
    let warm = Sampling { temperature: 0.8, top_p: Some(0.95), ..Sampling::GREEDY };
    for (pair, tokens) in [(golden("qwen2", "qwen2-draft"), 700), (built_in(), 256)] {
        for sampling in [Sampling::GREEDY, warm] {
            let plain = write(&mut pair.engine_with(2, None), &options(3, TOKENS, PLAIN, sampling));
            for dtype in [Dtype::F32, Dtype::Int8] {
                let mut engine = pair.engine_with(2, Some(pair.listed(tokens, dtype)));
                let got = write(&mut engine, &options(3, TOKENS, DraftLength::Fixed(4), sampling));
                assert!(got.summary.drafted > TOKENS && got.summary.accepted > 0, "{dtype:?}: {:?}", got.summary);
                (0..3).for_each(|c| assert_same(&got, c, &plain, c, &format!("{dtype:?}, {sampling:?}")));
            }
        }
    }
}

#[test]
fn sampling() {
    let pairs =
        [("llama", "llama-draft"), ("qwen2", "qwen2-draft"), ("qwen2", "qwen2-parallel"), ("qwen3-5", "qwen3-5")];
    for pair in pairs.map(|(main, draft)| golden(main, draft)).into_iter().chain([built_in()]) {
        sampling_does_not_depend_on_the_batch(&pair);
    }
}

/// Every drafter, every policy, a few seeds: what plain sampling with the seed writes.
#[test]
fn llama_coupled_with_every_drafter() {
    let pair = golden("llama", "llama-draft");
    let mut plain_engine = pair.engine_with(1, None);
    for seed in 0..3 {
        let with = |n, length| GenerateOptions {
            seed,
            accept: Accept::Coupled,
            ..options(n, 64, length, Sampling { temperature: 1.0, ..Sampling::default() })
        };
        let plain = write(&mut plain_engine, &with(8, PLAIN));
        for (k, kind) in KINDS.into_iter().enumerate() {
            let drafter = kind.drafter(|| pair.drafter(1), &truth(&plain_engine, &plain));
            let mut engine = pair.engine_with(1, Some(drafter));
            for (i, length) in FEW_POLICIES.into_iter().enumerate() {
                let n = [1, 2, 5, 8][(i + k + seed as usize) % 4];
                engine.set_profile(&profile());
                let got = write(&mut engine, &with(n, length));
                let what = format!("seed {seed}, {kind:?}, {length:?}, n = {n}");
                (0..n).for_each(|c| assert_same(&got, c, &plain, c, &what));
            }
        }
    }
}
