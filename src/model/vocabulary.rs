//! Parts of a tokenizer, for models whose vocabulary is written in another form.

use serde_json::{Value, json};
use tokenizers::AddedToken;
use tokenizers::models::bpe::BpeBuilder;

/// A tokenizer that is put together without a `tokenizer.json`: reading hundreds of thousands of pieces back
/// from text takes seconds.
pub struct Vocabulary {
    /// As that file, without pieces and added tokens.
    pub frame: Value,
    /// The pieces and how they are merged.
    pub pieces: BpeBuilder,
    /// Tokens that are found before a text is cut.
    pub added: Vec<AddedToken>,
}

/// How a text is cut before pieces are merged.
#[derive(Clone, Copy)]
pub enum Cut {
    /// As GPT-2.
    Gpt2,
    /// As GPT-2, with digits one by one.
    SingleDigits,
    /// By an expression.
    Regex(&'static str),
    /// By several: line ends, these letters and marks, Chinese, digits.
    DeepSeek { letters: &'static str, marks: &'static str },
}

pub const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Like [`QWEN2`], with accents as parts of words.
pub const QWEN3_5: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Like [`QWEN2`], without line ends behind marks.
pub const SEED_CODER: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+";
pub const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Words that end in small letters, and such that begin with large ones.
pub const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
/// Like [`TEKKEN`], with contractions after an apostrophe, and digits in threes.
pub const GPT4O: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
/// ASCII marks, their wide forms, and those of Chinese.
pub const DEEPSEEK_MARKS: &str = r"\s?[!-/:-~！-／：-～‘-‟　-。]+|\s+$";

/// Bytes as characters, merged by a list: all but the vocabulary. `nfc`: characters are composed first.
pub fn byte_level(cut: Cut, nfc: bool) -> Value {
    let bytes =
        |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let split =
        |regex: &str| json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
    let digits = json!({"type": "Digits", "individual_digits": true});
    let cuts = match cut {
        Cut::Gpt2 => vec![bytes(true)],
        Cut::SingleDigits => vec![digits, bytes(true)],
        Cut::Regex(regex) => vec![split(regex), bytes(false)],
        Cut::DeepSeek { letters, marks } => {
            let mut cuts: Vec<Value> = [r"[\r\n]", letters, marks, "[一-龥ࠀ-一가-퟿]+"].map(split).into();
            cuts.extend([digits, bytes(false)]);
            cuts
        }
    };
    let normalizer = if nfc { json!({"type": "NFC"}) } else { Value::Null };
    let decoder = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true});
    json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": cuts}, "post_processor": null, "decoder": decoder,
    })
}

/// The token `id` in front of every prompt.
pub fn beginning(token: &str, id: u32) -> Value {
    let special = json!({"SpecialToken": {"id": token, "type_id": 0}});
    let sequence = |name: &str| json!({"Sequence": {"id": name, "type_id": 0}});
    json!({
        "type": "TemplateProcessing",
        "single": [special, sequence("A")],
        "pair": [special, sequence("A"), special, sequence("B")],
        "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}},
    })
}
