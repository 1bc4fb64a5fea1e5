//! The tokenizer of older folders, `vocab.json` and `merges.txt`, as a `tokenizer.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::chat::SETTINGS;
use super::fields::{self, Fields};
use super::vocabulary::{Cut, QWEN2, beginning, byte_level};
use super::{ModelError, Tokenizer, required};
use crate::files;

/// The vocabulary: pieces and their ids.
pub const VOCABULARY: &str = "vocab.json";
/// Pairs of pieces that are merged, the first ones first.
pub const MERGES: &str = "merges.txt";

/// How the classes of transformers cut a text, and whether they compose characters first.
const CLASSES: &[(&str, Cut, bool)] = &[
    ("GPT2Tokenizer", Cut::Gpt2, false),
    ("CodeGenTokenizer", Cut::Gpt2, false),
    ("Qwen2Tokenizer", Cut::Regex(QWEN2), true),
];
/// Architectures whose tokenizer is the first of these where no class is named.
const AS_GPT2: &[&str] = &["GPT2LMHeadModel", "OPTForCausalLM", "CodeGenForCausalLM"];

/// The folder has these files.
pub fn is_there(folder: &Path) -> bool {
    folder.join(VOCABULARY).is_file() && folder.join(MERGES).is_file()
}

/// Reads the files of a model of this architecture.
pub fn read(folder: &Path, architecture: &str) -> Result<Tokenizer, ModelError> {
    let optional = |file: &str| match required(folder, file, "") {
        Ok((path, bytes)) => fields::parse(&path, &bytes),
        Err(ModelError::Missing { .. }) => Ok(Map::new()),
        Err(error) => Err(error),
    };
    let (path, settings) = (folder.join(SETTINGS), optional(SETTINGS)?);
    let settings = Fields::new(&path, &settings);
    let class = settings.text("tokenizer_class")?.map(|class| class.trim_end_matches("Fast").to_owned());
    let class = class.or_else(|| AS_GPT2.contains(&architecture).then(|| CLASSES[0].0.to_owned()));
    let known = CLASSES.iter().find(|(name, ..)| Some(*name) == class.as_deref());
    let Some((_, cut, nfc)) = known.filter(|_| settings.flag("add_prefix_space").ok() != Some(Some(true))) else {
        let known = CLASSES.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        let field =
            if known.contains(class.as_deref().unwrap_or("?")) { "add_prefix_space" } else { "tokenizer_class" };
        let expected = format!("one of {known} without a space in front; or get a version with tokenizer.json");
        return Err(settings.error(field, &expected));
    };

    let (path, bytes) = required(folder, VOCABULARY, "it is the tokenizer's vocabulary")?;
    let vocabulary = fields::parse(&path, &bytes)?;
    let id = |token: &str| vocabulary.get(token).and_then(Value::as_u64);
    let merges = files::text(&folder.join(MERGES), files::DATA);
    let merges = merges.map_err(|source| ModelError::Io { path: folder.join(MERGES), source })?;
    // The first line may be `#version: 0.2`; a merge of `#` itself has two parts as well.
    let lines = merges.lines().enumerate().filter(|(n, line)| !(*n == 0 && line.starts_with("#version")));
    let merges: Vec<Value> = lines.filter_map(|(_, l)| l.split_once(' ')).map(|(a, b)| json!([a, b])).collect();

    // Tokens that are found before the text is cut, by id: what they are, and whether they are no text.
    let mut added: BTreeMap<u64, (String, bool)> = BTreeMap::new();
    for (token, id) in &optional("added_tokens.json")? {
        added.extend(id.as_u64().map(|id| (id, (token.clone(), false))));
    }
    let listed = settings.get("added_tokens_decoder").and_then(Value::as_object);
    for (id, token) in listed.into_iter().flatten() {
        if let (Ok(id), Some(text)) = (id.parse(), content(token)) {
            added.insert(id, (text.to_owned(), token["special"] == true));
        }
    }
    let other = optional("special_tokens_map.json")?;
    let mut first = None;
    for name in ["bos_token", "eos_token", "unk_token", "pad_token", "additional_special_tokens"] {
        let value = settings.get(name).or_else(|| other.get(name));
        let several = value
            .and_then(Value::as_array)
            .map_or_else(|| value.into_iter().collect(), |v| v.iter().collect::<Vec<_>>());
        for token in several.into_iter().filter_map(content) {
            let known = added.iter().find(|(_, (text, _))| text == token).map(|(id, _)| *id);
            if let Some(id) = known.or_else(|| id(token)) {
                added.insert(id, (token.to_owned(), true));
                first = first.or_else(|| (name == "bos_token").then(|| (token.to_owned(), id)));
            }
        }
    }

    let mut whole = byte_level(*cut, *nfc);
    let rows = added.iter().map(|(id, (content, special))| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": !special, "special": special})
    });
    whole["added_tokens"] = rows.collect::<Vec<_>>().into();
    if settings.flag("add_bos_token")?.unwrap_or(false)
        && let Some((token, id)) = first
    {
        whole["post_processor"] = beginning(&token, u32::try_from(id).unwrap_or(u32::MAX));
    }
    whole["model"] = json!({
        "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
        "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
        "vocab": vocabulary, "merges": merges,
    });
    Tokenizer::read(&path, whole.to_string().as_bytes())
}

/// The text of a token, written as such or as an object.
fn content(token: &Value) -> Option<&str> {
    token.as_str().or_else(|| token.get("content")?.as_str())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// The files that an older folder has instead of a golden model's `tokenizer.json`.
    fn older(case: &str, settings: Value) -> (tempfile::TempDir, Tokenizer) {
        let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models").join(case);
        let bytes = fs::read(golden.join("tokenizer.json")).unwrap();
        let whole: Value = serde_json::from_slice(&bytes).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let put = |file: &str, text: String| fs::write(folder.path().join(file), text).unwrap();
        put(VOCABULARY, whole["model"]["vocab"].to_string());
        let pair = |merge: &Value| match merge {
            Value::String(merge) => merge.clone(),
            pair => format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap()),
        };
        let merges: Vec<String> = whole["model"]["merges"].as_array().unwrap().iter().map(pair).collect();
        put(MERGES, format!("#version: 0.2\n{}\n", merges.join("\n")));
        let (mut plain, mut special) = (Map::new(), Map::new());
        for token in whole["added_tokens"].as_array().unwrap() {
            if token["special"] == true {
                special.insert(token["id"].to_string(), json!({"content": token["content"], "special": true}));
            } else {
                plain.insert(token["content"].as_str().unwrap().to_owned(), token["id"].clone());
            }
        }
        put("added_tokens.json", Value::from(plain).to_string());
        let mut all = settings;
        if all.get("bos_token").is_none() {
            all["added_tokens_decoder"] = special.into();
        }
        put(SETTINGS, all.to_string());
        (folder, Tokenizer::read(&golden, &bytes).unwrap())
    }

    #[test]
    fn older_files_give_the_same_tokens() {
        let texts = [
            "def f(x):\n    return x + 1  # 12345 naïve café 漢字\n\n\n\tif  True:\n        pass",
            "it's  e\u{301}<|endoftext|> <|im_start|>x</s>\r\n '''doc''' 1.5e-3 \u{1f642}",
            " leading",
            "",
        ];
        let opt = json!({
            "add_bos_token": true, "bos_token": {"content": "</s>"}, "eos_token": "</s>", "pad_token": "<pad>",
            "unk_token": "<unk>", "additional_special_tokens": ["<s>"],
        });
        for (case, architecture, settings) in [
            ("gpt2", "GPT2LMHeadModel", json!({"tokenizer_class": "GPT2TokenizerFast"})),
            ("codegen", "CodeGenForCausalLM", json!({"tokenizer_class": "CodeGenTokenizer"})),
            ("opt-pre", "OPTForCausalLM", opt),
            ("qwen2", "Qwen2ForCausalLM", json!({"tokenizer_class": "Qwen2Tokenizer"})),
        ] {
            let (folder, golden) = older(case, settings);
            let made = read(folder.path(), architecture).unwrap();
            assert_eq!(made.vocab_size(), golden.vocab_size());
            assert_eq!(made.same_vocabulary(&golden), Ok(()));
            for text in texts {
                let ids = golden.encode(text).unwrap();
                assert_eq!(made.encode(text).unwrap(), ids, "{case}: {text:?}");
                assert_eq!(made.decode(&ids), golden.decode(&ids), "{case}: {text:?}");
            }
        }
    }

    #[test]
    fn tokenizers_of_other_kinds_are_refused() {
        let message = |settings: Value, architecture: &str| {
            let (folder, _) = older("gpt2", settings);
            read(folder.path(), architecture).err().unwrap().to_string()
        };
        let other = message(json!({"tokenizer_class": "LlamaTokenizer"}), "LlamaForCausalLM");
        assert!(other.contains("tokenizer_class") && other.contains("tokenizer.json"), "{other}");
        assert!(message(json!({}), "LlamaForCausalLM").contains("tokenizer_class"));
        let spaced = json!({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": true});
        assert!(message(spaced, "GPT2LMHeadModel").contains("add_prefix_space"));
        let (folder, _) = older("gpt2", json!({}));
        fs::write(folder.path().join(VOCABULARY), "[1").unwrap();
        assert!(read(folder.path(), "GPT2LMHeadModel").err().unwrap().to_string().contains(VOCABULARY));
    }
}
