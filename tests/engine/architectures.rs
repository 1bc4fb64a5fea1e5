//! The promises that hold for every architecture: a row is the same to the bit in any company, and drafts
//! never change what is written. The texts are longer than the windows of those that have them.

use std::path::{Path, PathBuf};

use super::network::{Bits, bits, model, one_by_one, pass, tokens};
use super::toy::cases::{PLAIN, options};
use super::toy::generate;
use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{Dtype, LoadOptions, Network, Wanted};
use bass_tui::engine::{DraftLength, Engine, ModelDrafter};
use bass_tui::model::{Model, ModelFiles};
use bass_tui::sampling::Sampling;

fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(case)
}

fn network(model: &Model, dtype: Dtype, threads: usize, kernels: Kernels) -> CpuNetwork {
    CpuNetwork::new(model, LoadOptions { dtype, threads, ..LoadOptions::default() }, kernels).expect("loadable")
}

/// The model without its last layer: its weights, and a configuration that knows less of them.
pub(super) fn without_last_layer(case: &str) -> Model {
    let to = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(folder(case)).expect("a model") {
        let path = entry.expect("a file").path();
        std::fs::copy(&path, to.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    let path = to.path().join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let text = if config["text_config"].is_object() { &mut config["text_config"] } else { &mut config };
    let field = if text["n_layer"].is_number() { "n_layer" } else { "num_hidden_layers" };
    let layers = text[field].as_u64().expect("layers") - 1;
    text[field] = layers.into();
    for list in ["layer_types", "mlp_layer_types", "no_rope_layers"] {
        if let Some(list) = text[list].as_array_mut() {
            list.truncate(layers as usize);
        }
    }
    std::fs::write(&path, config.to_string()).expect("written");
    Model::load(&ModelFiles::Folder(to.path().into())).expect(case)
}

pub(super) fn rows_are_the_same_in_any_company(case: &str, model: &Model, dtype: Dtype) {
    let text = tokens(21, 90);
    let expected = one_by_one(&mut network(model, dtype, 1, Kernels::portable()), &text);
    let mut network = network(model, dtype, 2, Kernels::best());
    let check = |network: &CpuNetwork, first: usize, positions: std::ops::Range<usize>| {
        for (row, at) in (first..).zip(positions) {
            assert_eq!(bits(network, row), expected[at], "{case}, {dtype:?}, position {at}");
        }
    };
    for slab in [7, 33, 90] {
        let seq = network.open(text.len()).expect("memory");
        for start in (0..text.len()).step_by(slab) {
            let end = text.len().min(start + slab);
            pass(&mut network, &[(seq, start, &text[start..end])], Wanted::All);
            check(&network, 0, start..end);
        }
        network.close(seq);
    }
    for shared in [5, 48] {
        let prompt = network.open(shared).expect("memory");
        pass(&mut network, &[(prompt, 0, &text[..shared])], Wanted::Nothing);
        let forks = network.fork(prompt, 3, 90).expect("memory");
        let (noise, more) = (tokens(22, 6), tokens(23, 2));
        let mut at = shared;
        for len in [1, 4, 30] {
            let parts =
                [(forks[0], shared, &noise[..]), (forks[1], at, &text[at..at + len]), (forks[2], shared, &more)];
            pass(&mut network, &parts, Wanted::All);
            check(&network, 6, at..at + len);
            at += len;
        }
    }
}

pub(super) fn drafts_change_nothing(case: &str, main: &dyn Fn() -> Model, draft: &Model) {
    let load = |model: &Model, threads| Box::new(network(model, Dtype::Auto, threads, Kernels::best()));
    let prompt = tokens(24, 60);
    let with = |n, length| options(n, 64, length, Sampling::GREEDY);
    let mut plain = Engine::new(load(&main(), 1), main().tokenizer, Vec::new(), None);
    let expected = generate(&mut plain, &prompt, &with(1, PLAIN));
    assert_eq!(expected.ids[0].len(), 64, "{case}");
    let drafter = ModelDrafter::new("draft", load(draft, 2));
    let mut engine = Engine::new(load(&main(), 2), main().tokenizer, Vec::new(), Some(Box::new(drafter)));
    for (n, length) in [(1, DraftLength::Fixed(4)), (3, DraftLength::Bass)] {
        let got = generate(&mut engine, &prompt, &with(n, length));
        assert!(got.summary.drafted > 32, "{case}: nothing drafted");
        for candidate in 0..n {
            assert_eq!(got.ids[candidate], expected.ids[0], "{case}, {length:?}, candidate {candidate} of {n}");
            let logprobs: [Bits; 2] = [got.bits(candidate), expected.bits(0)];
            assert_eq!(logprobs[0], logprobs[1], "{case}, {length:?}, candidate {candidate} of {n}");
        }
    }
}

macro_rules! cases {
    ($($name:ident: $case:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            for dtype in [Dtype::F32, Dtype::Int8] {
                rows_are_the_same_in_any_company($case, &model($case), dtype);
            }
            drafts_change_nothing($case, &|| model($case), &without_last_layer($case));
        })*
    };
}

cases! {
    codegen: "codegen",
    gemma: "gemma",
    gemma2: "gemma2",
    gemma3: "gemma3",
    gpt2: "gpt2",
    gpt_bigcode: "gpt-bigcode-mqa",
    gpt_neox: "gpt-neox",
    granite: "granite",
    llama: "llama",
    mistral_with_windows: "mistral-sliding",
    mixtral: "mixtral",
    opt: "opt-pre",
    opt_with_norms_after_and_projections: "opt-post-proj",
    phi: "phi",
    phi3: "phi3",
    qwen2: "qwen2",
    qwen2_with_windows: "qwen2-sliding",
    qwen3: "qwen3",
    qwen3_moe: "qwen3-moe",
    qwen3_5: "qwen3-5",
    qwen3_5_with_experts: "qwen3-5-moe",
    qwen3_next: "qwen3-next",
    starcoder2_with_windows: "starcoder2",
    ministral3: "ministral3",
    smollm3: "smollm3",
    stablelm: "stablelm",
    stablelm_side_by_side: "stablelm-parallel",
    phi_with_norms_of_heads: "phi-qk-norm",
    granite_hybrid_without_mamba: "granite-hybrid",
    mellum: "mellum",
    gemma4: "gemma4",
    gpt_oss: "gpt-oss",
    gemma4_with_experts: "gemma4-moe",
}

/// Its table of inputs is as wide as it has blocks, so another model writes its drafts.
#[test]
fn gemma4_with_inputs_of_blocks_and_shared_keys() {
    for dtype in [Dtype::F32, Dtype::Int8] {
        rows_are_the_same_in_any_company("gemma4-e", &model("gemma4-e"), dtype);
    }
    drafts_change_nothing("gemma4-e", &|| model("gemma4-e"), &model("gemma"));
}
