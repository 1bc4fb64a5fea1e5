//! Model folders that are not as they should be: every one is an error whose text names the file and what to
//! expect.

use std::path::Path;

use bass_tui::model::blocks::widen;
use bass_tui::model::{BlockSlot, Model, ModelFiles, Slot, TensorType};
use half::bf16;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tempfile::TempDir;

/// A copy of a golden model that may be damaged.
fn copy(case: &str) -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(case);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for entry in std::fs::read_dir(from).expect("the golden model") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a copy");
    }
    folder
}

fn error(folder: &TempDir) -> String {
    match Model::load(&ModelFiles::Folder(folder.path().into())) {
        Ok(_) => panic!("a damaged model was loaded"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn assert_names(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

fn edit(folder: &TempDir, file: &str, from: &str, to: &str) {
    let path = folder.path().join(file);
    let text = std::fs::read_to_string(&path).expect("a text file");
    assert!(text.contains(from), "{from:?} is not in {file}");
    std::fs::write(path, text.replace(from, to)).expect("a writable copy");
}

fn remove(folder: &TempDir, file: &str) {
    std::fs::remove_file(folder.path().join(file)).expect("a file to remove");
}

#[test]
fn whole_copies_load() {
    for case in ["llama-draft", "qwen2-sharded"] {
        let folder = copy(case);
        let model = Model::load(&ModelFiles::Folder(folder.path().into())).expect(case);
        assert_eq!(Some(model.name.as_str()), folder.path().file_name().and_then(|name| name.to_str()));
    }
}

#[test]
fn a_tokenizer_at_which_its_library_panics_is_an_error() {
    let folder = copy("llama-draft");
    let path = folder.path().join("tokenizer.json");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    json["decoder"] = 5.into();
    std::fs::write(&path, json.to_string()).expect("a writable copy");
    assert_names(&error(&folder), &["tokenizer.json", "not a readable tokenizer"]);
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let folder = copy("llama-draft");
        remove(&folder, file);
        assert_names(&error(&folder), &[file, "not found"]);
    }
    let folder = copy("qwen2-sharded");
    remove(&folder, "model-00002-of-00004.safetensors");
    assert_names(&error(&folder), &["model-00002-of-00004.safetensors", "model.safetensors.index.json"]);

    let nowhere = ModelFiles::Folder("/no/such/folder".into());
    let message = Model::load(&nowhere).err().expect("no folder").to_string();
    assert_names(&message, &["/no/such/folder", "config.json"]);
}

#[test]
fn weights_that_are_a_pickle_are_not_loaded_but_explained() {
    let folder = copy("llama-draft");
    remove(&folder, "model.safetensors");
    std::fs::write(folder.path().join("pytorch_model.bin"), "PK").expect("a writable copy");
    assert_names(&error(&folder), &["model.safetensors", "pytorch_model.bin", "save_pretrained", "never run"]);
}

#[test]
fn files_that_are_not_json_are_named() {
    for file in ["config.json", "tokenizer.json", "generation_config.json"] {
        let folder = copy("llama-draft");
        std::fs::write(folder.path().join(file), "<html>not found</html>").expect("a writable copy");
        assert_names(&error(&folder), &[file]);
    }
    let folder = copy("qwen2-sharded");
    std::fs::write(folder.path().join("model.safetensors.index.json"), "{}").expect("a writable copy");
    assert_names(&error(&folder), &["model.safetensors.index.json", "weight_map"]);
}

#[test]
fn unknown_architectures_and_settings_are_named_with_the_known_ones() {
    let folder = copy("llama3");
    edit(&folder, "config.json", "LlamaForCausalLM", "MambaForCausalLM");
    assert_names(&error(&folder), &["config.json", "`architectures`", "MambaForCausalLM", "Qwen2ForCausalLM"]);
    let folder = copy("llama3");
    edit(&folder, "config.json", "\"llama3\"", "\"ntk\"");
    assert_names(&error(&folder), &["config.json", "`rope_scaling.rope_type`", "ntk", "\"yarn\""]);
    let folder = copy("qwen2-draft");
    edit(&folder, "config.json", "\"use_sliding_window\": false", "\"use_sliding_window\": \"yes\"");
    assert_names(&error(&folder), &["config.json", "`use_sliding_window`", "yes"]);
    let folder = copy("llama-draft");
    edit(&folder, "generation_config.json", "2", "\"two\"");
    assert_names(&error(&folder), &["generation_config.json", "`eos_token_id`", "two"]);
}

#[test]
fn damaged_weights_are_named() {
    let folder = copy("llama-draft");
    let path = folder.path().join("model.safetensors");
    let whole = std::fs::read(&path).expect("weights");
    for len in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).expect("a writable copy");
        assert_names(&error(&folder), &["model.safetensors", "download"]);
    }
}

#[test]
fn weights_of_another_model_are_named_by_tensor() {
    let folder = copy("llama-draft");
    edit(&folder, "config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 2");
    assert_names(&error(&folder), &["model.safetensors", "`model.layers.1.", "no such tensor"]);
    let folder = copy("llama-draft");
    edit(&folder, "config.json", "\"intermediate_size\": 176", "\"intermediate_size\": 160");
    let parts = ["model.safetensors", "gate_proj.weight", "BF16 of shape [176, 64]", "[160, 64]"];
    assert_names(&error(&folder), &parts);
}

#[test]
fn a_tokenizer_with_more_ids_than_the_model_is_an_error() {
    let folder = copy("llama-draft");
    let path = folder.path().join("tokenizer.json");
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    json["model"]["vocab"]["from another model"] = 2100.into();
    std::fs::write(&path, json.to_string()).expect("a writable copy");
    assert_names(&error(&folder), &["tokenizer.json", "2100", "2048"]);
}

/// Published in blocks of four bits, of which bf16 holds the values; fine-tuned models are in bf16 with inputs
/// before outputs.
#[test]
fn experts_of_gpt_oss_are_the_same_in_blocks_and_in_bf16() {
    let (twin, folder) = (copy("gpt-oss"), copy("gpt-oss"));
    let twin = Model::load(&ModelFiles::Folder(twin.path().into())).expect("a model");
    let path = folder.path().join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    config.as_object_mut().expect("an object").remove("quantization_config");
    std::fs::write(&path, config.to_string()).expect("a writable copy");

    let weights = folder.path().join("model.safetensors");
    let file = std::fs::read(&weights).expect("weights");
    let tensors = SafeTensors::deserialize(&file).expect("safetensors");
    let mut all: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = Vec::new();
    for (name, tensor) in tensors.tensors() {
        if tensor.dtype() != Dtype::U8 {
            all.push((name, tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec()));
        }
    }
    let rows = |block: usize, expert: usize, slot: BlockSlot| -> Vec<Vec<u8>> {
        let slot = Slot::Expert(block, expert, slot);
        assert_eq!(twin.stored(slot).expect("a tensor").0, TensorType::Mxfp4);
        let wide = |row: &[f32]| row.iter().flat_map(|&value| bf16::from_f32(value).to_le_bytes()).collect();
        values(&twin, slot).chunks(twin.spec.shape(slot)[1]).map(wide).collect()
    };
    for (block, spec) in twin.spec.blocks.iter().enumerate() {
        let count = spec.mlp.experts.expect("experts").count;
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for expert in 0..count {
            let both = rows(block, expert, BlockSlot::Gate).into_iter().zip(rows(block, expert, BlockSlot::Up));
            let both: Vec<_> = both.flat_map(|(gate, up)| [gate, up]).collect();
            for (to, rows) in [(&mut up, both), (&mut down, rows(block, expert, BlockSlot::Down))] {
                for input in 0..rows[0].len() / 2 {
                    for row in &rows {
                        to.extend_from_slice(&row[2 * input..2 * input + 2]);
                    }
                }
            }
        }
        let (hidden, inner) = (twin.spec.hidden, spec.mlp.intermediate);
        let name = |part: &str| format!("model.layers.{block}.mlp.experts.{part}_proj");
        all.push((name("gate_up"), Dtype::BF16, vec![count, hidden, 2 * inner], up));
        all.push((name("down"), Dtype::BF16, vec![count, inner, hidden], down));
    }
    let views = all.iter().map(|(name, dtype, shape, bytes)| {
        (name.as_str(), TensorView::new(*dtype, shape.clone(), bytes).expect("a tensor"))
    });
    std::fs::write(&weights, safetensors::serialize(views, None).expect("safetensors")).expect("a writable copy");

    let model = Model::load(&ModelFiles::Folder(folder.path().into())).unwrap_or_else(|error| panic!("{error}"));
    for slot in twin.spec.slots() {
        assert_eq!(values(&model, slot), values(&twin, slot), "{slot:?}");
    }
}

/// The values of a slot.
fn values(model: &Model, slot: Slot) -> Vec<f32> {
    let mut values = Vec::new();
    for (part, rows) in model.outputs(slot).expect("a tensor") {
        let from = values.len();
        let row = model.spec.shape(slot).get(1).copied().unwrap_or(1);
        values.resize(from + rows * row, 0.0);
        widen(part.dtype, &part.bytes, &mut values[from..]);
    }
    values
}

/// The golden model as the text of one for text and images: its folder, and its `config.json`.
fn with_images(case: &str, name: &str, kind: &str, prefix: &str) -> (TempDir, serde_json::Value) {
    let folder = copy(case);
    let path = folder.path().join("config.json");
    let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let of_text = text.as_object_mut().expect("an object");
    let (_, end) = (of_text.remove("architectures"), of_text.remove("eos_token_id"));
    of_text.insert("model_type".into(), kind.into());
    let whole = serde_json::json!({
        "architectures": [name], "model_type": "other", "eos_token_id": end,
        "text_config": text, "vision_config": { "hidden_size": 8 },
    });
    std::fs::write(&path, whole.to_string()).expect("a writable copy");
    // These tensors under other names.
    let weights = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).expect("weights");
    let len = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("a length")) as usize;
    let header = String::from_utf8(bytes[8..len].to_vec()).expect("text");
    let mut header = header.replace("\"model.", &format!("\"{prefix}"));
    if prefix == "language_model.model." {
        header = header.replace("\"lm_head", "\"language_model.lm_head");
    }
    let renamed = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[len..]].concat();
    std::fs::write(&weights, renamed).expect("a writable copy");
    (folder, whole)
}

#[test]
fn texts_of_models_for_text_and_images_are_where_each_has_them() {
    for (case, name, kind, prefix) in [
        ("ministral3", "Mistral3ForConditionalGeneration", "ministral3", "language_model.model."),
        ("ministral3", "Mistral3ForConditionalGeneration", "ministral3", "model.language_model."),
        ("mistral-sliding", "Mistral3ForConditionalGeneration", "mistral", "language_model.model."),
        ("gemma4-e", "Gemma4ForConditionalGeneration", "gemma4_text", "model.language_model."),
        ("gemma4", "Gemma4UnifiedForConditionalGeneration", "gemma4_unified_text", "model.language_model."),
    ] {
        let (twin, (folder, _)) = (copy(case), with_images(case, name, kind, prefix));
        let [twin, model] = [&twin, &folder]
            .map(|folder| Model::load(&ModelFiles::Folder(folder.path().into())).unwrap_or_else(|e| panic!("{e}")));
        assert_eq!((&model.spec.blocks, &model.eos), (&twin.spec.blocks, &twin.eos), "{name}");
        for slot in twin.spec.slots() {
            assert_eq!(model.tensor(slot).expect(name).bytes, twin.tensor(slot).expect(name).bytes, "{name}");
        }
    }
}

#[test]
fn of_a_model_for_text_and_images_the_text_is_read() {
    let twin = copy("gemma3");
    let (folder, whole) =
        with_images("gemma3", "Gemma3ForConditionalGeneration", "gemma3_text", "language_model.model.");
    let path = folder.path().join("config.json");
    let load = |folder: &TempDir| Model::load(&ModelFiles::Folder(folder.path().into())).expect("a model");
    let (twin, model) = (load(&twin), load(&folder));
    assert_eq!((&model.spec, &model.eos), (&twin.spec, &twin.eos));
    for slot in twin.spec.slots() {
        assert_eq!(model.tensor(slot).expect("a tensor").bytes, twin.tensor(slot).expect("a tensor").bytes);
    }
    // Published files leave out what is usual.
    for (field, usual) in [("num_attention_heads", "8"), ("vocab_size", "262208"), ("rope_theta", "1000000")] {
        let mut short = whole.clone();
        short["text_config"].as_object_mut().expect("an object").remove(field);
        let full = {
            let mut full = short.clone();
            full["text_config"][field] = usual.parse::<usize>().expect("a number").into();
            full
        };
        let read = |json: &serde_json::Value| {
            bass_tui::model::config::read(&path, json.to_string().as_bytes()).map_err(|e| e.to_string())
        };
        assert_eq!(read(&short), read(&full), "{field}");
    }
    std::fs::write(&path, whole.to_string().replace("\"hidden_size\":32", "\"hidden_size\":\"x\"")).expect("a copy");
    assert_names(&error(&folder), &["config.json", "text_config.hidden_size"]);
}

/// Everything that may lie in the place of a file is named.
#[test]
fn files_that_are_something_else_are_named() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1234567\n";
    let page = "\n<!DOCTYPE html>\n<html><head><title>404</title>";
    for file in ["config.json", "tokenizer.json", "generation_config.json", "model.safetensors"] {
        for (content, parts) in
            [(pointer, ["Git LFS", "1234567 bytes"]), (page, ["web page", "/resolve/"]), ("", ["is empty", "again"])]
        {
            let folder = copy("llama-draft");
            std::fs::write(folder.path().join(file), content).expect("a writable copy");
            assert_names(&error(&folder), &[file, parts[0], parts[1]]);
        }
    }
    for file in ["config.json", "tokenizer.json", "generation_config.json"] {
        let folder = copy("llama-draft");
        let text = std::fs::read_to_string(folder.path().join(file)).expect("a text file");
        std::fs::write(folder.path().join(file), format!("\u{feff}{text}")).expect("a writable copy");
        assert_names(&error(&folder), &[file, "byte-order mark", "UTF-8"]);
    }
}

#[test]
fn numbers_that_only_python_writes_are_refused_where_they_count() {
    for number in ["NaN", "Infinity", "-Infinity"] {
        let folder = copy("llama-draft");
        edit(&folder, "config.json", "{", &format!("{{\"time_step_limit\": [0.0, {number}],"));
        assert!(Model::load(&ModelFiles::Folder(folder.path().into())).is_ok(), "{number} in a field that is not used");
        let folder = copy("llama-draft");
        edit(&folder, "config.json", "\"rms_norm_eps\": 1e-05", &format!("\"rms_norm_eps\": {number}"));
        assert_names(&error(&folder), &["config.json", "`rms_norm_eps`", number, "a number above 0"]);
    }
}

#[test]
fn folders_that_hold_something_else_say_what() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let add = |file: &str, content: &str| std::fs::write(folder.path().join(file), content).expect("written");
    add("model.onnx", "x");
    assert_names(&error(&folder), &["config.json", "ONNX", "GGUF"]);
    add("m-Q4_K_M.gguf", "GGUF");
    assert_names(&error(&folder), &["m-Q4_K_M.gguf", "name that file"]);
    add("adapter_config.json", r#"{"base_model_name_or_path":"Qwen/Qwen2.5-Coder-0.5B"}"#);
    assert_names(&error(&folder), &["adapter", "LoRA", "Qwen/Qwen2.5-Coder-0.5B", "merge_and_unload"]);
    let folder = copy("llama-draft");
    remove(&folder, "model.safetensors");
    std::fs::write(folder.path().join("tf_model.h5"), "x").expect("written");
    assert_names(&error(&folder), &["model.safetensors", "TensorFlow"]);
}

/// The head counts by itself if it differs from the embedding, whatever the configuration says.
#[test]
fn a_head_that_differs_from_the_embedding_is_not_tied() {
    use bass_tui::model::Slot;
    let folder = copy("llama-draft");
    let model = |folder: &TempDir| Model::load(&ModelFiles::Folder(folder.path().into())).expect("a model");
    let plain = model(&folder);
    assert!(!plain.spec.head.tied);
    edit(&folder, "config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
    let other = model(&folder);
    assert!(!other.spec.head.tied);
    assert_eq!(other.tensor(Slot::Head).expect("a head").bytes, plain.tensor(Slot::Head).expect("a head").bytes);
}
