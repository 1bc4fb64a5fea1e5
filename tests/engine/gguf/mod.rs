//! GGUF files: golden models written as such say what their twins say.

mod delta;
mod keys;
mod next;
mod unread;
mod write;

use std::path::{Path, PathBuf};

use super::architectures::without_last_layer;
use super::golden::{assert_close, data, ids, json};
use super::network::{Bits, bits, network, pass, tokens};
use bass_tui::backend::{Candidate, ChoiceRules, Dtype, HostLogits, Network, Wanted};
use bass_tui::model::blocks::{elements, widen};
use bass_tui::model::{DraftHead, Model, ModelFiles, Slot, TensorType};
use bass_tui::sampling::{Accept, Sampling};
use write::{Writer, converted, rounded};

/// Cases with their names in GGUF.
const CASES: &[(&str, &str)] = &[
    ("llama", "llama"),
    ("llama-bias", "llama"),
    ("llama-linear", "llama"),
    ("mixtral", "llama"),
    ("qwen2", "qwen2"),
    ("qwen2-sharded", "qwen2"),
    ("qwen3", "qwen3"),
    ("qwen3-5", "qwen35"),
    ("qwen3-5-moe", "qwen35moe"),
    ("qwen3-next", "qwen3next"),
    ("starcoder2", "starcoder2"),
    ("gemma", "gemma"),
    ("granite", "granite"),
    ("phi", "phi2"),
    ("ministral3", "mistral3"),
    ("smollm3", "smollm3"),
    ("stablelm", "stablelm"),
    ("stablelm-parallel", "stablelm"),
    ("granite-hybrid", "granite"),
    ("granite-hybrid", "granitehybrid"),
    ("mellum", "mellum"),
    ("gemma4", "gemma4"),
    ("gpt-oss", "gpt-oss"),
    ("gemma4-e", "gemma4"),
    ("gemma4-moe", "gemma4"),
];

fn folder(case: &str) -> PathBuf {
    data().join("models").join(case)
}

fn twin(case: &str) -> Model {
    Model::load(&ModelFiles::Folder(folder(case))).expect(case)
}

pub(super) fn load(path: &Path) -> Model {
    match Model::load(&ModelFiles::Gguf(path.into())) {
        Ok(model) => model,
        Err(error) => panic!("{error}"),
    }
}

fn error(path: &Path) -> String {
    Model::load(&ModelFiles::Gguf(path.into())).err().expect("an unusable file").to_string()
}

/// A file of the case, in a folder that lives as long as the test.
pub(super) fn file(case: &str, architecture: &str, dtype: TensorType) -> (tempfile::TempDir, PathBuf) {
    let to = tempfile::tempdir().expect("a folder");
    let path = to.path().join(format!("{case}-{dtype}.gguf"));
    written(case, architecture, dtype).write(&path);
    (to, path)
}

pub(super) fn written(case: &str, architecture: &str, dtype: TensorType) -> Writer {
    let mut writer = converted(&twin(case), &folder(case), architecture, dtype);
    if case == "llama-linear" {
        writer.text("llama.rope.scaling.type", "linear");
        writer.float("llama.rope.scaling.factor", 4.0);
    }
    // Fields that the converter writes beside the usual ones.
    match architecture {
        "mistral3" => {
            writer.text("mistral3.rope.scaling.type", "yarn");
            writer.float("mistral3.rope.scaling.factor", 16.0);
            writer.float("mistral3.rope.scaling.yarn_beta_fast", 8.0);
            writer.float("mistral3.rope.scaling.yarn_beta_slow", 1.0);
            writer.float("mistral3.rope.scaling.yarn_log_multiplier", 1.0);
            writer.whole("mistral3.rope.scaling.original_context_length", 64);
            writer.float("mistral3.attention.temperature_scale", 0.5);
        }
        "granitehybrid" => {
            writer.wholes("granitehybrid.attention.head_count_kv", &[2, 2, 2]);
            writer.flag("granitehybrid.rope.scaling.finetuned", true);
        }
        "mellum" => {
            writer.text("mellum.rope.scaling.type", "yarn");
            writer.float("mellum.rope.scaling.factor", 16.0);
            writer.whole("mellum.rope.scaling.original_context_length", 128);
            writer.float("mellum.rope.freq_base", 500_000.0);
            writer.float("mellum.rope.freq_base_swa", 10_000.0);
            writer.whole("mellum.expert_feed_forward_length", 24);
            writer.flags("mellum.attention.sliding_window_pattern", &[true, true, true, false]);
        }
        "gpt-oss" => {
            writer.text("gpt-oss.rope.scaling.type", "yarn");
            writer.float("gpt-oss.rope.scaling.factor", 32.0);
            writer.whole("gpt-oss.rope.scaling.original_context_length", 64);
            writer.whole("gpt-oss.expert_feed_forward_length", 32);
        }
        "gemma4" => write::gemma4(&mut writer, &twin(case).spec),
        _ => {}
    }
    writer
}

fn logits(model: &Model, dtype: Dtype, text: &[u32]) -> Vec<Bits> {
    let mut network = network(model, dtype, 2);
    let seq = network.open(text.len()).expect("memory");
    pass(&mut network, &[(seq, 0, text)], Wanted::All);
    (0..text.len()).map(|row| bits(&network, row)).collect()
}

#[test]
fn files_of_floats_write_what_their_twins_write() {
    for (case, architecture) in CASES {
        let twin = twin(case);
        // Types in which nothing is lost.
        let stored = twin.tensor(Slot::Embedding).expect("a tensor").dtype;
        for dtype in [TensorType::F32, stored] {
            let (_folder, path) = file(case, architecture, dtype);
            let model = load(&path);
            assert_eq!((model.eos.clone(), model.spec.bos), (twin.eos.clone(), twin.spec.bos), "{case}");
            let expected = json(&folder(case).join("expected.json"));
            for (name, prompt) in expected["prompts"].as_object().expect("prompts") {
                let (input, greedy) = (ids(&prompt["input_ids"]), ids(&prompt["greedy_ids"]));
                if name != "one" {
                    let text = prompt["text"].as_str().expect("a text");
                    assert_eq!(model.tokenizer.encode(text).expect("tokens"), input, "{case}: {text:?}");
                }
                let mut network = network(&model, Dtype::Auto, 2);
                let seq = network.open(input.len() + greedy.len()).expect("memory");
                pass(&mut network, &[(seq, 0, &input)], Wanted::Last);
                for (at, &token) in (input.len()..).zip(&greedy) {
                    let found = network.logits(0);
                    let best = (0..found.len()).max_by(|&a, &b| found[a].total_cmp(&found[b])).expect("logits");
                    assert_eq!(best, token as usize, "{case} in {dtype}, prompt {name}, position {at}");
                    pass(&mut network, &[(seq, at, &[token])], Wanted::Last);
                }
            }
        }
    }
}

#[test]
fn hybrid_files_say_which_blocks_are_not_attention_and_whether_there_is_rotation() {
    let folder = folder("granite-hybrid");
    let read = |heads: &[usize], rotated: bool| {
        let mut writer = converted(&twin("granite-hybrid"), &folder, "granitehybrid", TensorType::Bf16);
        writer.wholes("granitehybrid.attention.head_count_kv", heads);
        writer.flag("granitehybrid.rope.scaling.finetuned", rotated);
        let to = tempfile::tempdir().expect("a folder");
        let path = to.path().join("model.gguf");
        writer.write(&path);
        Model::load(&ModelFiles::Gguf(path)).map(|model| model.spec.blocks[0].attention.rotary.is_some())
    };
    assert!(read(&[2, 2, 2], true).expect("readable"));
    assert!(!read(&[2, 2, 2], false).expect("readable"));
    let message = read(&[0, 2, 0], false).expect_err("blocks of Mamba").to_string();
    assert!(message.contains("here 0, 2") && message.contains("Mamba"), "{message}");
}

#[test]
fn gemma_3_has_the_caps_and_windows_of_its_file() {
    let folder = folder("gemma3");
    let read = |window: Option<usize>, more: &dyn Fn(&mut Writer)| {
        let mut twin = twin("gemma3");
        for block in &mut twin.weights.spec.blocks {
            block.attention.window = window;
            block.attention.rotary.as_mut().expect("rotary").base = 250_000.0;
        }
        let mut writer = converted(&twin, &folder, "gemma3", TensorType::Bf16);
        more(&mut writer);
        let to = tempfile::tempdir().expect("a folder");
        let path = to.path().join("model.gguf");
        writer.write(&path);
        let spec = load(&path).spec.clone();
        let bases = spec.blocks.iter().map(|block| block.attention.rotary.as_ref().expect("rotary").base as u64);
        (spec.head.soft_cap, bases.collect::<Vec<u64>>())
    };
    let (cap, bases) = read(None, &|_| ());
    assert!(cap.is_none() && bases.iter().all(|&base| base == 250_000), "{bases:?}");
    let (cap, bases) = read(Some(16), &|writer| {
        writer.float("gemma3.final_logit_softcapping", 30.0);
        writer.float("gemma3.rope.freq_base_swa", 500.0);
    });
    assert_eq!((cap, bases[0]), (Some(30.0), 500));
    assert_eq!(read(Some(16), &|_| ()).1[0], 10_000);
}

#[test]
fn vocabularies_encode_and_decode_as_their_twins_do() {
    let cases = [("llama", "llama"), ("llama3", "llama"), ("llama-linear", "llama"), ("llama-bias", "llama")];
    for (case, architecture) in cases.into_iter().chain([("qwen2", "qwen2"), ("gemma", "gemma")]) {
        let (_folder, path) = file(case, architecture, TensorType::Bf16);
        let model = load(&path);
        let tokenizer = json(&folder(case).join("expected.json"))["tokenizer"].as_str().expect("a name").to_owned();
        let golden = json(&data().join("tokenizers").join(format!("{tokenizer}.json")));
        for row in golden["rows"].as_array().expect("rows") {
            let text = row["text"].as_str().expect("text");
            assert_eq!(model.tokenizer.encode(text).expect(case), ids(&row["ids"]), "{case}: {text:?}");
            assert_eq!(model.tokenizer.decode(&ids(&row["ids"])), row["decoded_skip_special"], "{case}: {text:?}");
        }
        assert_eq!(model.tokenizer.same_vocabulary(&twin(case).tokenizer), Ok(()), "{case}");
    }
}

fn bytes(hex: &serde_json::Value) -> Vec<u8> {
    let hex = hex.as_str().expect("a text");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}

/// Random blocks of every type, with what the `gguf` package of Python makes of them.
#[test]
fn blocks_are_decoded_as_the_reference_does_to_the_bit() {
    let all = json(&data().join("../gguf/blocks.json"));
    for dtype in TensorType::BLOCKS {
        let case = &all[dtype.to_string()];
        let (blocks, expected) = (bytes(&case["blocks"]), bytes(&case["weights"]));
        let expected: Vec<f32> = elements(TensorType::F32, &expected).collect();
        assert_eq!(dtype.bytes(expected.len()), Some(blocks.len()), "{dtype}");
        let mut found = vec![0.0; expected.len()];
        widen(*dtype, &blocks, &mut found);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found.to_bits(), expected.to_bits(), "{dtype}, weight {i}: {found} for {expected}");
        }
    }
}

/// The values of a quantised file, written out as floats, give the same bits.
#[test]
fn decoded_blocks_are_the_numbers_that_the_file_means() {
    let text = tokens(31, 40);
    for (case, architecture) in [("qwen2", "qwen2"), ("mixtral", "llama")] {
        for dtype in [TensorType::Q8_0, TensorType::Q4_0, TensorType::Iq4Nl, TensorType::Mxfp4] {
            let (_folder, path) = file(case, architecture, dtype);
            let found = logits(&load(&path), Dtype::F32, &text);
            let mut floats = written(case, architecture, TensorType::F32);
            floats.map(|values, row| if dtype.bytes(row).is_some() { rounded(values, dtype) } else { values.to_vec() });
            let path = path.with_file_name("floats.gguf");
            floats.write(&path);
            assert_eq!(found, logits(&load(&path), Dtype::F32, &text), "{case} in {dtype}");
        }
    }
}

/// Quantised tensors are computed from their own bits, with inputs as int8: close to what the decoded weights
/// give.
#[test]
fn blocks_are_computed_with_as_they_are() {
    let text = tokens(33, 120);
    // No experts: the smallest difference may take another one, and random ones have nothing in common.
    for (case, architecture) in [("qwen2", "qwen2"), ("llama", "llama")] {
        for (dtype, name) in [(TensorType::Q8_0, "q8_0"), (TensorType::Q4_0, "q4_0"), (TensorType::Iq4Nl, "iq4_nl")] {
            let (_folder, path) = file(case, architecture, dtype);
            let model = load(&path);
            let info = network(&model, Dtype::Auto, 1).info();
            assert_eq!(info.dtype, name, "{case}");
            let stored = std::fs::metadata(&path).expect("a file").len() as usize;
            assert!(info.weight_bytes <= stored, "{case}: {} bytes of a file of {stored}", info.weight_bytes);
            let floats = |rows: Vec<Bits>| rows.concat().into_iter().map(f32::from_bits).collect::<Vec<f32>>();
            let [own, decoded] = [Dtype::Auto, Dtype::F32].map(|dtype| floats(logits(&model, dtype, &text)));
            let count = own.len() as f64;
            let mean =
                |of: &dyn Fn(f32, f32) -> f64| own.iter().zip(&decoded).map(|(&a, &b)| of(a, b)).sum::<f64>() / count;
            let deviation = mean(&|_, b| f64::from(b).powi(2)).sqrt();
            let error = mean(&|a, b| f64::from((a - b).abs())) / deviation;
            println!("{case} in {dtype}: mean error {error:.4} standard deviations");
            assert!(error > 0.0 && error < 0.03, "{case} in {dtype}: {error}");
        }
    }
}

#[test]
fn rows_of_blocks_are_the_same_in_any_company_and_drafts_change_nothing() {
    for (case, architecture) in [("qwen2", "qwen2"), ("mixtral", "llama"), ("qwen3-5", "qwen35")] {
        for dtype in [TensorType::Q8_0, TensorType::Q4_0, TensorType::Iq4Nl, TensorType::Mxfp4] {
            let (_folder, path) = file(case, architecture, dtype);
            let model = load(&path);
            super::architectures::rows_are_the_same_in_any_company(case, &model, Dtype::Auto);
            super::architectures::drafts_change_nothing(case, &|| load(&path), &without_last_layer(case));
        }
    }
}

#[test]
fn a_split_model_is_read_from_any_part_and_a_missing_one_is_named() {
    let mut writer = written("qwen2-sharded", "qwen2", TensorType::Bf16);
    let (_folder, whole) = file("qwen2-sharded", "qwen2", TensorType::Bf16);
    writer.whole("split.count", 3);
    let to = tempfile::tempdir().expect("a folder");
    let path = |part: usize| to.path().join(format!("m-{part:05}-of-00003.gguf"));
    let all = writer.tensors();
    for (part, range) in [(1, 0..5), (2, 5..20), (3, 20..all)] {
        std::fs::write(path(part), writer.bytes(range)).expect("written");
    }
    let text = tokens(32, 20);
    let expected = logits(&load(&whole), Dtype::Auto, &text);
    assert_eq!(logits(&load(&path(1)), Dtype::Auto, &text), expected);
    assert_eq!(logits(&load(&path(3)), Dtype::Auto, &text), expected);
    std::fs::remove_file(path(2)).expect("removed");
    let message = error(&path(1));
    assert!(message.contains("m-00002-of-00003.gguf") && message.contains("download"), "{message}");
    std::fs::copy(path(1), to.path().join("alone.gguf")).expect("copied");
    assert!(error(&to.path().join("alone.gguf")).contains("`split.count`"));
}

#[test]
fn what_is_not_known_is_named() {
    let to = tempfile::tempdir().expect("a folder");
    let path = to.path().join("m.gguf");
    let mut writer = written("qwen2", "qwen2", TensorType::F32);
    writer.text("general.architecture", "mamba");
    writer.write(&path);
    let message = error(&path);
    assert!(message.contains("`general.architecture`") && message.contains("mamba") && message.contains("qwen2"));
    let mut writer = written("qwen2", "qwen2", TensorType::F32);
    writer.text("tokenizer.ggml.pre", "klingon");
    writer.write(&path);
    assert!(error(&path).contains("`tokenizer.ggml.pre`"));
    let mut writer = written("qwen2", "qwen2", TensorType::F32);
    writer.whole("qwen2.feed_forward_length", 99);
    writer.write(&path);
    let message = error(&path);
    assert!(message.contains("blk.0.ffn_gate.weight") && message.contains("[99, 96]"), "{message}");
    let mut writer = written("qwen2", "qwen2", TensorType::F32);
    writer.whole("qwen2.attention.head_count_kv", 5);
    writer.write(&path);
    assert!(error(&path).contains("`qwen2.attention.head_count_kv`"));
}

/// Tensors of types that are not read are named as ggml names them.
#[test]
fn types_that_are_not_read_have_their_names() {
    let to = tempfile::tempdir().expect("a folder");
    let path = to.path().join("m.gguf");
    let writer = written("qwen2", "qwen2", TensorType::Q4_0);
    let whole = writer.bytes(0..writer.tensors());
    let name = b"blk.0.ffn_up.weight";
    let at = whole.windows(name.len()).position(|window| window == name).expect("a tensor") + name.len() + 4 + 16;
    assert_eq!(whole[at], TensorType::Q4_0.number() as u8);
    for (number, named) in [(40, "NVFP4"), (9, "Q8_1"), (28, "F64"), (99, "type number 99")] {
        let mut other = whole.clone();
        other[at] = number;
        std::fs::write(&path, other).expect("written");
        let message = error(&path);
        assert!(message.contains(named) && message.contains("IQ4_XS") && message.contains("get a file"), "{message}");
    }
}

#[test]
fn files_that_are_something_else_are_named() {
    let to = tempfile::tempdir().expect("a folder");
    let path = to.path().join("m.gguf");
    let writer = written("qwen2", "qwen2", TensorType::F32);
    let whole = writer.bytes(0..writer.tensors());
    let with = |at: usize, bytes: &[u8]| {
        let mut other = whole.clone();
        other[at..at + bytes.len()].copy_from_slice(bytes);
        other
    };
    for (bytes, said) in [
        (with(4, &1u32.to_le_bytes()), "version 1"),
        (with(4, &3u32.to_be_bytes()), "big-endian"),
        (with(4, &9u32.to_le_bytes()), "version 9"),
        (Vec::new(), "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n".to_vec(), "Git LFS"),
        (b"<!doctype html><title>404".to_vec(), "web page"),
        (whole[..whole.len() - 5].to_vec(), "ends at byte"),
    ] {
        std::fs::write(&path, bytes).expect("written");
        let message = error(&path);
        assert!(message.contains("m.gguf: ") && message.contains(said), "{message}");
    }
    for (field, value, said) in [
        ("general.type", "adapter", "LoRA"),
        ("general.type", "imatrix", "imatrix"),
        ("general.type", "mmproj", "sees or hears"),
    ] {
        let mut other = writer.clone();
        other.text(field, value);
        other.write(&path);
        let message = error(&path);
        assert!(message.contains(said), "{message}");
    }
}

/// The layer for the next tokens drafts from the file what it drafts from the folder.
#[test]
fn a_layer_for_the_next_tokens_is_read() {
    let case = "qwen3-5-mtp";
    let twin = (ModelFiles::Folder(folder(case)), twin(case));
    let head_of = |(files, model): &(ModelFiles, Model)| DraftHead::of_main(files, model).expect("readable");
    let mut writer = written(case, "qwen35", TensorType::F32);
    next::write(&mut writer, &head_of(&twin).expect("a layer").weights, twin.1.spec.blocks.len());
    let to = tempfile::tempdir().expect("a folder");
    let path = to.path().join("next.gguf");
    writer.write(&path);
    let of_file = (ModelFiles::Gguf(path.clone()), load(&path));
    let drafts = |of: &(ModelFiles, Model)| {
        let mut network = network(&of.1, Dtype::F32, 1);
        network.attach(&head_of(of).expect("a layer"), Dtype::F32).expect("it fits");
        let text: Vec<u32> = (3..40).collect();
        let seq = network.open(60).expect("memory");
        pass(&mut network, &[(seq, 0, &text[..text.len() - 1])], Wanted::Nothing);
        let fork = network.fork(seq, 1, 20).expect("memory")[0];
        let vocab = network.vocab_size();
        let rules =
            ChoiceRules { sampling: &Sampling::GREEDY, accept: Accept::Coupled, seed: 0, vocab, alternatives: 0 };
        let candidate = Candidate { seq: fork, index: 0, tokens: &text, rules };
        let drafts = network.draft_with_head(&[candidate], &[4]).expect("drafts");
        let tokens: Vec<u32> = drafts[0].host().expect("host").iter().map(|draft| draft.token).collect();
        (tokens, network.draft_head_logits().to_vec())
    };
    // The order of value heads is the file's own, and so are the last bits of what the main model computes.
    let ((found, logits), (expected, of_twin)) = (drafts(&of_file), drafts(&twin));
    assert_eq!(found, expected);
    assert_close("drafts", &logits, &of_twin);
    // A file whose converter has left the layer out is used without.
    let (_kept, path) = file(case, "qwen35", TensorType::F32);
    assert!(head_of(&(ModelFiles::Gguf(path.clone()), load(&path))).is_none());
}
