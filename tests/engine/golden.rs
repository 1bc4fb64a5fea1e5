//! The models of `tests/data/golden` against what the reference implementation computes for them: tokens,
//! logits in f32 within the tolerance that tells wrong variants apart, and greedy paths token by token.
//!
//! The folders hold models of random weights in the layout of published checkpoints. The expected values were
//! computed with Hugging Face `transformers` in float32.

use std::path::{Path, PathBuf};

use super::toy::cases::{PLAIN, options};
use super::toy::generate;
use bass_tui::backend::cpu::{CpuNetwork, Kernels};
use bass_tui::backend::{Candidate, ChoiceRules, Dtype, HostLogits, LoadOptions, Network, Rows, SeqId, Span, Wanted};
use bass_tui::engine::{Engine, GenerateOptions, StopRules};
use bass_tui::model::{Model, ModelFiles, Tokenizer};
use bass_tui::sampling::{Accept, Sampling};
use safetensors::SafeTensors;
use serde_json::Value;

/// Wide enough for another order of summation, narrow enough to tell a wrong epsilon or rotary base.
pub(super) const TOLERANCE: f32 = 5e-4;

pub(super) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden")
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a golden file")).expect("JSON")
}

pub(super) fn ids(value: &Value) -> Vec<u32> {
    value.as_array().expect("a list").iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

pub(super) fn f32s(tensors: &SafeTensors<'_>, name: &str) -> Vec<f32> {
    let bytes = tensors.tensor(name).expect(name).data();
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn load(case: &str, dtype: Dtype) -> (Model, CpuNetwork) {
    let model = Model::load(&ModelFiles::Folder(data().join("models").join(case))).expect(case);
    let network = on_cpu(&model, dtype);
    (model, network)
}

pub(super) fn on_cpu(model: &Model, dtype: Dtype) -> CpuNetwork {
    let options = LoadOptions { dtype, threads: 2, ..LoadOptions::default() };
    CpuNetwork::new(model, options, Kernels::best()).expect("loadable")
}

pub(super) fn forward(network: &mut dyn Network, seq: SeqId, start: usize, tokens: &[u32], want: Wanted) -> usize {
    let spans = [Span { seq, start, len: tokens.len() }];
    network.forward(&Rows::chain(tokens, &spans), want).expect("a legal pass")
}

pub(super) fn argmax(logits: &[f32]) -> u32 {
    (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("logits") as u32
}

fn log_softmax(logits: &[f32]) -> Vec<f32> {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit - max).exp()).sum();
    logits.iter().map(|&logit| logit - max - sum.ln() as f32).collect()
}

pub(super) fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < TOLERANCE, "{what}: off by {worst}");
}

fn check(case: &str) {
    check_on(case, usize::MAX, &|model| on_cpu(model, Dtype::F32));
}

/// Prompts of at most `longest` tokens, on the networks that `load` makes.
pub(super) fn check_on<N: HostLogits + 'static>(case: &str, longest: usize, load: &dyn Fn(&Model) -> N) {
    let model = Model::load(&ModelFiles::Folder(data().join("models").join(case))).expect(case);
    let mut network = load(&model);
    let folder = data().join("models").join(case);
    let expected = json(&folder.join("expected.json"));
    let file = std::fs::read(folder.join("expected.safetensors")).expect("expected.safetensors");
    let tensors = SafeTensors::deserialize(&file).expect("safetensors");
    for (name, prompt) in expected["prompts"].as_object().expect("prompts") {
        let what = format!("{case}, prompt {name}");
        let (input, greedy) = (ids(&prompt["input_ids"]), ids(&prompt["greedy_ids"]));
        let text = prompt["text"].as_str().expect("text");
        if name != "one" {
            assert_eq!(model.tokenizer.encode(text).expect(&what), input, "{what}");
        }
        assert_eq!(model.tokenizer.decode(&greedy), prompt["greedy_text"], "{what}");
        if input.len() > longest {
            continue;
        }

        // All rows of the prompt at once.
        let main = network.open(input.len()).expect(&what);
        let rows = forward(&mut network, main, 0, &input, Wanted::All);
        assert_eq!(rows, input.len());
        let logits = f32s(&tensors, &format!("{name}.logits"));
        let first = input.len() - logits.len() / network.vocab_size();
        for (row, logits) in (first..).zip(logits.chunks_exact(network.vocab_size())) {
            assert_close(&format!("{what}, row {row}"), network.logits(row), logits);
        }

        // Greedy, token by token, on the second of two forks.
        let top_ids = tensors.tensor(&format!("{name}.step_top5_ids")).expect("ids").data();
        let top_ids: Vec<u32> = top_ids.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let top_logprobs = f32s(&tensors, &format!("{name}.step_top5_logprobs"));
        let fork = network.fork(main, 2, greedy.len()).expect(&what)[1];
        network.close(main);
        let mut logits = network.logits(input.len() - 1).to_vec();
        for (step, &token) in greedy.iter().enumerate() {
            assert_eq!(argmax(&logits), token, "{what}, step {step}");
            let logprobs = log_softmax(&logits);
            let top: Vec<f32> = top_ids[step * 5..][..5].iter().map(|&id| logprobs[id as usize]).collect();
            assert_close(&format!("{what}, best of step {step}"), &top, &top_logprobs[step * 5..][..5]);
            assert_eq!(forward(&mut network, fork, input.len() + step, &[token], Wanted::Last), 1);
            logits = network.logits(0).to_vec();
        }
    }
    if let Some(stop) = expected.get("stop") {
        let prompt = ids(&expected["prompts"][stop["prompt"].as_str().expect("a name")]["input_ids"]);
        let expected = ids(&stop["greedy_ids"]);
        let ends = ids(&stop["eos_token_id"]);
        let options =
            GenerateOptions { stop: StopRules::default(), ..options(1, expected.len() + 40, PLAIN, Sampling::GREEDY) };
        let mut engine = Engine::new(Box::new(load(&model)), model.tokenizer, ends, None);
        assert_eq!(generate(&mut engine, &prompt, &options).ids[0], expected, "{case}: up to the end");
    }
    let generation = json(&folder.join("generation_config.json"));
    assert_eq!(model.eos, [generation["eos_token_id"].as_u64().expect("one id") as u32], "{case}");
}

macro_rules! cases {
    ($($name:ident: $case:literal),* $(,)?) => {
        $(#[test] fn $name() { check($case); })*
    };
}

cases! {
    llama: "llama",
    llama_draft: "llama-draft",
    llama_with_llama3_scaling: "llama3",
    llama_with_linear_scaling: "llama-linear",
    llama_with_biases: "llama-bias",
    qwen2: "qwen2",
    qwen2_draft: "qwen2-draft",
    qwen2_that_drafts_at_once: "qwen2-parallel",
    qwen2_sharded: "qwen2-sharded",
    qwen2_with_yarn_scaling: "qwen2-yarn",
    qwen2_with_windows: "qwen2-sliding",
    qwen3: "qwen3",
    codegen: "codegen",
    gemma: "gemma",
    gemma2: "gemma2",
    gemma3: "gemma3",
    gpt2: "gpt2",
    gpt_bigcode_with_one_key: "gpt-bigcode-mqa",
    gpt_bigcode_with_a_key_per_head: "gpt-bigcode-mha",
    gpt_neox: "gpt-neox",
    gpt_neox_one_after_the_other: "gpt-neox-sequential",
    granite: "granite",
    mistral_with_windows: "mistral-sliding",
    mixtral: "mixtral",
    opt_with_norms_before: "opt-pre",
    opt_with_norms_after_and_projections: "opt-post-proj",
    phi: "phi",
    phi3: "phi3",
    phi3_with_longrope: "phi3-longrope",
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
    gemma4_with_inputs_of_blocks_and_shared_keys: "gemma4-e",
    gemma4_with_experts: "gemma4-moe",
}

/// Drafts of one pass are the reference's, for every number of them; rows of masks leave nothing behind.
#[test]
fn drafts_at_once_are_those_of_the_reference() {
    let (model, mut network) = load("qwen2-parallel", Dtype::F32);
    assert!(network.drafts_at_once());
    let folder = data().join("models/qwen2-parallel");
    let expected = json(&folder.join("expected.json"));
    let file = std::fs::read(folder.join("expected.safetensors")).expect("expected.safetensors");
    let tensors = SafeTensors::deserialize(&file).expect("safetensors");
    let vocab = network.vocab_size();
    let rules = ChoiceRules { sampling: &Sampling::GREEDY, accept: Accept::Coupled, seed: 0, vocab, alternatives: 0 };
    for (name, prompt) in expected["prompts"].as_object().expect("prompts") {
        let (text, drafts) = (ids(&prompt["input_ids"]), ids(&prompt["drafts"]));
        let seq = network.open(text.len()).expect(name);
        if text.len() > 1 {
            forward(&mut network, seq, 0, &text[..text.len() - 1], Wanted::Nothing);
        }
        let forks = network.fork(seq, 2, 20).expect(name);
        let draft = |network: &mut CpuNetwork, seq, tokens: &[u32], length| -> Vec<u32> {
            let drafts = network.draft(&[Candidate { seq, index: 0, tokens, rules }], &[length]).expect(name);
            assert_eq!(network.len(seq), tokens.len(), "rows of masks are gone");
            drafts[0].host().expect("on the host").iter().map(|draft| draft.token).collect()
        };
        for length in 1..=drafts.len() {
            let forks = network.fork(seq, 1, 20).expect(name);
            assert_eq!(draft(&mut network, forks[0], &text, length), drafts[..length], "{name}, {length}");
            network.close(forks[0]);
        }
        // The rows of the masks themselves.
        let mask = expected_mask(&folder);
        let rows: Vec<u32> = text[text.len() - 1..].iter().copied().chain([mask; 4]).collect();
        assert_eq!(forward(&mut network, forks[0], text.len() - 1, &rows, Wanted::All), 5);
        let top_ids = tensors.tensor(&format!("{name}.draft_top_ids")).expect("ids").data();
        let top_ids: Vec<u32> = top_ids.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let top = f32s(&tensors, &format!("{name}.draft_top_logits"));
        for (row, (ids, top)) in top_ids.chunks_exact(16).zip(top.chunks_exact(16)).enumerate() {
            let found: Vec<f32> = ids.iter().map(|&id| network.logits(row)[id as usize]).collect();
            assert_close(&format!("{name}, draft {row}"), &found, top);
        }
        // After two accepted drafts a pass goes on as one that has read them from the start.
        let longer = [&text[..], &drafts[..2], &[7]].concat();
        network.set_len(forks[0], text.len() - 1);
        draft(&mut network, forks[0], &text, 5);
        let on = draft(&mut network, forks[0], &longer, 4);
        assert_eq!(on, draft(&mut network, forks[1], &longer, 4), "{name}");
        forks.into_iter().chain([seq]).for_each(|seq| network.close(seq));
    }
    assert_eq!(model.spec.mask, Some(expected_mask(&folder)));
}

fn expected_mask(folder: &Path) -> u32 {
    json(&folder.join("config.json"))["pard_token"].as_u64().expect("an id") as u32
}

#[test]
fn bf16_checkpoints_stay_bf16_and_give_the_same_numbers() {
    // The weights are widened in the kernel and everything else is f32, so nothing may differ from f32
    // storage.
    let (model, mut packed) = load("qwen2-sharded", Dtype::Auto);
    let (_, mut widened) = load("qwen2-sharded", Dtype::F32);
    assert_eq!((packed.info().dtype, widened.info().dtype), ("bf16", "f32"));
    assert_eq!(packed.info().weight_bytes * 2, widened.info().weight_bytes);
    let tokens = model.tokenizer.encode("def add(a, b):\n").expect("tokens");
    let logits: Vec<Vec<f32>> = [&mut packed, &mut widened]
        .into_iter()
        .map(|network| {
            let seq = network.open(tokens.len()).expect("memory");
            forward(network, seq, 0, &tokens, Wanted::Last);
            network.logits(0).to_vec()
        })
        .collect();
    assert_eq!(logits[0], logits[1]);
}

const TOKENIZERS: &[(&str, &str)] = &[
    ("llama", "llama"),
    ("llama3", "llama3"),
    ("llama-linear", "deepseek-coder"),
    ("llama-bias", "starcoder"),
    ("qwen2", "qwen2"),
    ("qwen2-sharded", "qwen2-4k"),
    ("codegen", "codegen"),
    ("gemma", "gemma"),
    ("gpt2", "gpt2"),
    ("gpt-neox", "gpt-neox"),
    ("mistral-sliding", "llama-metaspace"),
    ("opt-pre", "opt"),
    ("phi3", "phi3"),
];

fn tokenizer(case: &str) -> Tokenizer {
    let path = data().join("models").join(case).join("tokenizer.json");
    Tokenizer::read(&path, &std::fs::read(&path).expect("tokenizer.json")).expect(case)
}

#[test]
fn tokenizers_encode_and_decode_as_the_reference_does() {
    for (case, name) in TOKENIZERS {
        let tokenizer = tokenizer(case);
        let golden = json(&data().join("tokenizers").join(format!("{name}.json")));
        assert_eq!(golden["vocab_size"].as_u64(), Some(tokenizer.vocab_size() as u64), "{name}");
        for row in golden["rows"].as_array().expect("rows") {
            let text = row["text"].as_str().expect("text");
            assert_eq!(tokenizer.encode(text).expect(name), ids(&row["ids"]), "{name}: {text:?}");
            let plain = tokenizer.encode_plain(text).expect(name);
            assert_eq!(plain, ids(&row["ids_no_special"]), "{name}: {text:?}");
            assert_eq!(tokenizer.decode(&ids(&row["ids"])), row["decoded_skip_special"], "{name}: {text:?}");
        }
    }
}

/// Streams must give out what decoding everything at once gives, whatever the ids: text, its pieces, and
/// noise.
#[test]
fn streams_add_up_to_the_decoded_continuation() {
    for (case, name) in TOKENIZERS {
        let tokenizer = tokenizer(case);
        let golden = json(&data().join("tokenizers").join(format!("{name}.json")));
        let mut streams: Vec<Vec<u32>> =
            golden["rows"].as_array().expect("rows").iter().map(|row| ids(&row["ids_no_special"])).collect();
        // Noise: with byte-level vocabularies most of it is no UTF-8.
        let mut state = 1u32;
        for range in [256, tokenizer.vocab_size() as u32] {
            streams.extend((0..20).map(|_| {
                (0..200)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (state >> 8) % range
                    })
                    .collect()
            }));
        }
        for stream in streams {
            let mut decoder = tokenizer.stream();
            let mut text: String = stream.iter().map(|&id| decoder.push(&tokenizer, id)).collect();
            text.push_str(&decoder.finish(&tokenizer));
            assert_eq!(text, tokenizer.decode_continuation(&stream), "{name}: {stream:?}");
        }
    }
}

#[test]
fn a_continuation_keeps_its_leading_space() {
    for (case, name) in TOKENIZERS {
        let tokenizer = tokenizer(case);
        let prompt = "return a";
        let before = tokenizer.encode_plain(prompt).expect(name);
        let whole = tokenizer.encode_plain("return a + b # größer 😀\n").expect(name);
        if let Some(rest) = whole.strip_prefix(&before[..]) {
            assert_eq!(tokenizer.decode_continuation(rest), " + b # größer 😀\n", "{name}");
        }
    }
}

#[test]
fn drafts_share_the_vocabulary_of_their_main_models_and_others_do_not() {
    assert_eq!(tokenizer("llama").same_vocabulary(&tokenizer("llama-draft")), Ok(()));
    assert_eq!(tokenizer("qwen2").same_vocabulary(&tokenizer("qwen2-draft")), Ok(()));
    let message = tokenizer("llama").same_vocabulary(&tokenizer("qwen2")).expect_err("different tokenizers");
    assert!(message.contains("id 0 is \"<unk>\""), "{message}");
}
