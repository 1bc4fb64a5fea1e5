//! Model folders that are not as they should be: every one is an error whose text names the file and what to
//! expect.

use std::path::Path;

use bass_tui::model::{Model, ModelFiles};
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

#[test]
fn of_a_model_for_text_and_images_the_text_is_read() {
    let (twin, folder) = (copy("gemma3"), copy("gemma3"));
    let path = folder.path().join("config.json");
    let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    let of_text = text.as_object_mut().expect("an object");
    let (_, end) = (of_text.remove("architectures"), of_text.remove("eos_token_id"));
    let whole = serde_json::json!({
        "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "eos_token_id": end,
        "text_config": text, "vision_config": { "hidden_size": 8 },
    });
    std::fs::write(&path, whole.to_string()).expect("a writable copy");
    // These tensors under other names.
    let weights = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).expect("weights");
    let len = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("a length")) as usize;
    let header = String::from_utf8(bytes[8..len].to_vec()).expect("text");
    let header = header.replace("\"model.", "\"language_model.model.");
    let renamed = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[len..]].concat();
    std::fs::write(&weights, renamed).expect("a writable copy");

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
