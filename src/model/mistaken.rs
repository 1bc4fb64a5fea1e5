//! Files that lie in the place of a model's file and are something else: each is named, with what to do.

use std::path::Path;

use super::ModelError;
use crate::untrusted::clean_line;

/// First bytes that are looked at.
const BEGINNING: usize = 1024;

/// Refuses what is certainly not the file that is meant, by its first bytes.
pub fn refuse(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    what(bytes).map_or(Ok(()), |what| Err(ModelError::Mistaken { path: path.into(), what }))
}

/// As [`refuse`], of a text for which a byte-order mark is a mistake. (Neither `json` of Python nor the
/// library of tokenizers reads one.)
pub fn refuse_text(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    refuse(path, bytes)?;
    if !bytes.starts_with(b"\xef\xbb\xbf") {
        return Ok(());
    }
    let what = "it begins with a byte-order mark, which JSON has not; save it as UTF-8 without one".into();
    Err(ModelError::Mistaken { path: path.into(), what })
}

fn what(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("the file is empty; download it again".into());
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(BEGINNING)]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with("version https://git-lfs.github.com/spec/") {
        let size = text.lines().find_map(|line| line.strip_prefix("size ")).map(|size| clean_line(size, 20));
        let size = size.map_or(String::new(), |size| format!(" of {size} bytes"));
        return Some(format!(
            "it is a pointer of Git LFS in place of the file{size}; run `git lfs pull` in its folder, or download the file"
        ));
    }
    let begins = |with: &str| text.get(..with.len()).is_some_and(|text| text.eq_ignore_ascii_case(with));
    if begins("<!doctype html") || begins("<html") {
        return Some(
            "it is a web page in place of the file; download the file itself (the hub's address of it has /resolve/ \
             where its page has /blob/)"
                .into(),
        );
    }
    None
}

/// Says what a folder without `config.json` holds instead, if that is known.
pub fn folder(folder: &Path) -> Option<String> {
    let has = |name: &str| folder.join(name).exists();
    if has("adapter_config.json") {
        let base = || {
            let bytes = crate::files::read(&folder.join("adapter_config.json"), crate::files::TEXT).ok()?;
            let config: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
            Some(format!(" ({})", clean_line(config.get("base_model_name_or_path")?.as_str()?, 80)))
        };
        return Some(format!(
            "the folder has an adapter (LoRA), which is a change to a model and not a model; merge it into its base \
             model{} with `merge_and_unload()` of the package peft, and save that as safetensors",
            base().unwrap_or_default()
        ));
    }
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let ends = |ending: &str| names.iter().find(|name| name.ends_with(ending));
    if let Some(file) = ends(".gguf") {
        return Some(format!("the folder has the GGUF file {}; name that file", clean_line(file, 80)));
    }
    if has("onnx") || ends(".onnx").is_some() {
        return Some(
            "the folder has a model for ONNX, which is not read; get the model's safetensors files, or a GGUF file of it"
                .into(),
        );
    }
    None
}

/// Weights in formats that are programs or that only other libraries read, in a folder without safetensors.
pub fn weights(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let ends = |ending: &str| names.iter().any(|name| name.ends_with(ending));
    let has = |file: &str| names.iter().any(|name| name == file);
    let pickled = ["pytorch_model.bin", "pytorch_model.bin.index.json"].into_iter().any(has)
        || names.iter().any(|name| name.starts_with("pytorch_model-00001-of-"));
    if pickled || ends(".pth") || ends(".pt") {
        return Some(
            "the folder has the weights as pytorch_model.bin, which is a program rather than data and is never run; \
             write them as safetensors with `python -c \"from transformers import AutoModelForCausalLM as M; \
             M.from_pretrained('FOLDER').save_pretrained('FOLDER')\"`, or get a version of the model that has them"
                .into(),
        );
    }
    let other = [("tf_model.h5", "TensorFlow"), ("flax_model.msgpack", "Flax")];
    if let Some((_, of)) = other.into_iter().find(|(file, _)| has(file)) {
        return Some(format!(
            "the folder has the weights for {of}, which are not read; get the model's safetensors files"
        ));
    }
    self::folder(folder)
}

/// The names that Python's JSON has for numbers that JSON has not: made texts outside of texts, so that a
/// field which is used says what it holds.
pub fn without_odd_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let (mut rest, mut inside) = (text, false);
    while let Some(c) = rest.chars().next() {
        let odd = ["-Infinity", "Infinity", "NaN"].into_iter().find(|odd| !inside && rest.starts_with(odd));
        if let Some(odd) = odd {
            out.push('"');
            out.push_str(odd);
            out.push('"');
            rest = &rest[odd.len()..];
            continue;
        }
        let len = if inside && c == '\\' {
            c.len_utf8() + rest[1..].chars().next().map_or(0, char::len_utf8)
        } else {
            c.len_utf8()
        };
        inside ^= c == '"';
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_place_of_a_file_is_named() {
        for (bytes, said) in [
            (&b""[..], "empty"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1117320768\n", "of 1117320768 bytes"),
            (b"\n<!DOCTYPE html>\n<html>", "web page"),
            (b"\xef\xbb\xbf<HTML>", "web page"),
        ] {
            assert!(what(bytes).is_some_and(|what| what.contains(said)), "{said}");
        }
        for bytes in [&b"{}"[..], b"GGUF", b"version", b"\xff\xfe", b" "] {
            assert_eq!(what(bytes), None);
        }
    }

    #[test]
    fn numbers_that_only_python_has_become_texts() {
        let odd = r#"{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \" Infinity"}"#;
        let plain = r#"{"a":"NaN","b":["-Infinity","Infinity"],"c":"NaN \" Infinity"}"#;
        assert_eq!(without_odd_numbers(odd), plain);
        for text in ["\"\\", "\"", "é\\ü", ""] {
            assert_eq!(without_odd_numbers(text), text);
        }
    }
}
