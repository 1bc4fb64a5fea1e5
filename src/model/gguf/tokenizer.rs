//! The tokenizer of a GGUF file, for the library that reads a `tokenizer.json`, too.

use serde_json::{Value, json};
use tokenizers::AddedToken;
use tokenizers::models::bpe::{BPE, Vocab};

use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::vocabulary::{
    Cut, DEEPSEEK_MARKS, GPT4O, LLAMA3, QWEN2, QWEN3_5, SEED_CODER, TEKKEN, Vocabulary, beginning, byte_level,
};

/// How a text is cut before pieces are merged, by `tokenizer.ggml.pre`.
const CUTS: &[(&str, Cut)] = &[
    ("default", Cut::Gpt2),
    ("gpt-2", Cut::Gpt2),
    ("olmo", Cut::Gpt2),
    ("phi-2", Cut::Gpt2),
    ("mpt", Cut::Gpt2),
    ("mellum", Cut::Gpt2),
    ("granite-docling", Cut::Gpt2),
    ("starcoder", Cut::SingleDigits),
    ("refact", Cut::SingleDigits),
    ("command-r", Cut::SingleDigits),
    ("smollm", Cut::SingleDigits),
    ("codeshell", Cut::SingleDigits),
    ("exaone", Cut::SingleDigits),
    ("mellum2", Cut::SingleDigits),
    ("qwen2", Cut::Regex(QWEN2)),
    ("qwen35", Cut::Regex(QWEN3_5)),
    ("deepseek-r1-qwen", Cut::Regex(QWEN2)),
    ("stablelm2", Cut::Regex(QWEN2)),
    ("megrez", Cut::Regex(QWEN2)),
    ("seed-coder", Cut::Regex(SEED_CODER)),
    ("llama-bpe", Cut::Regex(LLAMA3)),
    ("llama3", Cut::Regex(LLAMA3)),
    ("llama-v3", Cut::Regex(LLAMA3)),
    ("falcon3", Cut::Regex(LLAMA3)),
    ("pixtral", Cut::Regex(LLAMA3)),
    ("dbrx", Cut::Regex(LLAMA3)),
    ("smaug-bpe", Cut::Regex(LLAMA3)),
    ("tekken", Cut::Regex(TEKKEN)),
    ("gpt-4o", Cut::Regex(GPT4O)),
    ("llama4", Cut::Regex(GPT4O)),
    ("deepseek-coder", Cut::DeepSeek { letters: r"\s?\p{L}+", marks: r"\s?\p{P}+" }),
    ("deepseek-llm", Cut::DeepSeek { letters: r"\s?[\p{Lu}\p{Ll}\p{Lt}]+", marks: DEEPSEEK_MARKS }),
];

/// Pieces that are in the vocabulary as a whole are not merged, by the same field.
fn merges_last(pre: &str) -> bool {
    matches!(pre, "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "pixtral" | "tekken")
}

/// Types of tokens.
const UNKNOWN: u64 = 2;
const CONTROL: u64 = 3;
const USER_DEFINED: u64 = 4;

/// Number of ids.
pub fn size(fields: Fields<'_>) -> Result<usize, ModelError> {
    let field = "tokenizer.ggml.tokens";
    let tokens = fields.get(field).and_then(Value::as_array);
    tokens.map(Vec::len).ok_or_else(|| fields.error(field, "a list of texts"))
}

/// Reads the fields `tokenizer.ggml.*`.
pub fn read(fields: Fields<'_>) -> Result<Vocabulary, ModelError> {
    let field = |name: &str| format!("tokenizer.ggml.{name}");
    let tokens = fields.texts(&field("tokens"))?.ok_or_else(|| fields.error(&field("tokens"), "a list of texts"))?;
    let types = fields.ids(&field("token_type"))?.unwrap_or_else(|| vec![1; tokens.len()]);
    if types.len() != tokens.len() {
        return Err(fields.error(&field("token_type"), &format!("a list of {} numbers", tokens.len())));
    }
    // Where two ids have the same text, the first is meant; the others have no spelling of their own.
    let mut ids = Vocab::default();
    ids.reserve(tokens.len());
    for (&token, id) in tokens.iter().zip(0..) {
        let known = ids.contains_key(token);
        ids.insert(if known { format!("<duplicate {id}>") } else { token.to_owned() }, id);
    }
    let kind = fields.text(&field("model"))?.unwrap_or_default();
    let (mut frame, merges) = match kind {
        "gpt2" => {
            let merges = fields.texts(&field("merges"))?;
            let merges = merges.ok_or_else(|| fields.error(&field("merges"), "a list of texts"))?;
            let pairs = merges.iter().filter_map(|merge| merge.split_once(' '));
            (cut_by(fields, &field("pre"))?, pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
        }
        "llama" => {
            let scores = fields.get(&field("scores")).and_then(Value::as_array);
            let scores = scores.filter(|scores| scores.len() == tokens.len());
            let scores =
                scores.ok_or_else(|| fields.error(&field("scores"), &format!("a list of {} numbers", tokens.len())))?;
            let prefix = fields.flag(&field("add_space_prefix"))?.unwrap_or(true);
            (sentence_pieces(prefix), merges_of(&tokens, scores, &ids))
        }
        // Words with marks for spaces, merged by a list.
        "gemma4" => {
            let merges = fields.texts(&field("merges"))?;
            let merges = merges.ok_or_else(|| fields.error(&field("merges"), "a list of texts"))?;
            let pairs = merges.iter().filter_map(|merge| merge.split_once(' '));
            (sentence_pieces(false), pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
        }
        _ => return Err(fields.error(&field("model"), "one of \"gpt2\", \"llama\", \"gemma4\"")),
    };
    let added =
        tokens.iter().zip(&types).filter(|(_, kind)| [UNKNOWN, CONTROL, USER_DEFINED].contains(&u64::from(**kind)));
    let added = added
        .map(|(token, kind)| AddedToken::from((*token).to_owned(), u64::from(*kind) != USER_DEFINED).normalized(false));
    let pre = fields.text(&field("pre"))?.unwrap_or_default();
    let sentence_piece = kind != "gpt2";
    let mut pieces = BPE::builder().vocab_and_merges(ids, merges);
    pieces = pieces.fuse_unk(sentence_piece).byte_fallback(sentence_piece).ignore_merges(merges_last(pre));
    let unknown = types.iter().position(|&kind| u64::from(kind) == UNKNOWN).filter(|_| sentence_piece);
    if let Some(id) = unknown {
        pieces = pieces.unk_token(tokens[id].to_owned());
    }
    let begins = sentence_piece || merges_last(pre) && pre != "falcon3";
    if fields.flag(&field("add_bos_token"))?.unwrap_or(begins)
        && let Some(id) = fields.ids(&field("bos_token_id"))?.and_then(|ids| ids.first().copied())
    {
        let Some(token) = tokens.get(id as usize) else {
            return Err(fields.error(&field("bos_token_id"), &format!("an id below {}", tokens.len())));
        };
        frame["post_processor"] = beginning(token, id);
    }
    Ok(Vocabulary { frame, pieces, added: added.collect() })
}

/// The special tokens that templates name, with their texts.
pub fn named(fields: Fields<'_>) -> Result<Vec<(String, String)>, ModelError> {
    let tokens = fields.texts("tokenizer.ggml.tokens")?.unwrap_or_default();
    let mut named = Vec::new();
    for (name, field) in
        [("bos_token", "bos"), ("eos_token", "eos"), ("unk_token", "unknown"), ("pad_token", "padding")]
    {
        let ids = fields.ids(&format!("tokenizer.ggml.{field}_token_id"))?.unwrap_or_default();
        let text = ids.first().and_then(|&id| tokens.get(id as usize));
        named.extend(text.map(|text| (name.to_owned(), (*text).to_owned())));
    }
    Ok(named)
}

/// Bytes as characters, merged by a list, cut as the field `pre` says.
fn cut_by(fields: Fields<'_>, pre: &str) -> Result<Value, ModelError> {
    let name = fields.text(pre)?.unwrap_or("default");
    let Some((_, cut)) = CUTS.iter().find(|(known, _)| *known == name) else {
        let known = CUTS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        return Err(fields.error(pre, &format!("one of {known}")));
    };
    Ok(byte_level(*cut, name.contains("qwen") || name == "stablelm2"))
}

/// Words with `▁` for spaces, and bytes for what the vocabulary lacks.
fn sentence_pieces(prefix: bool) -> Value {
    let spaces = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    let mut normalizers = vec![spaces];
    if prefix {
        normalizers.insert(0, json!({"type": "Prepend", "prepend": "▁"}));
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    json!({
        "version": "1.0", "truncation": null, "padding": null, "pre_tokenizer": null, "post_processor": null,
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "decoder": {"type": "Sequence", "decoders": decoders},
    })
}

/// The merges that lead to each piece from two others, the best piece first, as `SentencePiece` merges by
/// score.
fn merges_of(tokens: &[&str], scores: &[Value], ids: &Vocab) -> Vec<(String, String)> {
    let mut merges = Vec::new();
    for (token, score) in tokens.iter().zip(scores) {
        let score = score.as_f64().unwrap_or(f64::NEG_INFINITY);
        let cuts = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
        let mut of_token: Vec<(u32, u32, &str, &str)> =
            cuts.filter_map(|(a, b)| Some((*ids.get(a)?, *ids.get(b)?, a, b))).collect();
        of_token.sort_unstable();
        merges.extend(of_token.into_iter().map(|(_, _, a, b)| (score, a, b)));
    }
    merges.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    merges.into_iter().map(|(_, a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, Tokenizer};

    use super::*;

    #[test]
    fn texts_are_cut_as_the_models_do() {
        let cut = |pre: &str, text: &str| {
            let (_, cut) = CUTS.iter().find(|(name, _)| *name == pre).unwrap();
            let mut whole = byte_level(*cut, false);
            whole["model"] = json!({"type": "BPE", "vocab": {}, "merges": []});
            whole["added_tokens"] = json!([]);
            let tokenizer = Tokenizer::from_bytes(whole.to_string()).unwrap_or_else(|error| panic!("{pre}: {error}"));
            let mut text = PreTokenizedString::from(text);
            tokenizer.get_pre_tokenizer().unwrap().pre_tokenize(&mut text).unwrap();
            let pieces = text.get_splits(OffsetReferential::Original, OffsetType::Byte).into_iter();
            pieces.map(|(piece, ..)| piece.replace('Ġ', "_").replace('Ċ', "$")).collect::<Vec<_>>().join(" ")
        };
        let text = "getName's 12345 x+=1;\n\n  end";
        for (pre, expected) in [
            ("gpt-2", "getName 's _12345 _x += 1 ; $$_ _end"),
            ("smollm", "getName 's _ 1 2 3 4 5 _x += 1 ; $$_ _end"),
            ("qwen2", "getName 's _ 1 2 3 4 5 _x += 1 ;$$ _ _end"),
            ("mellum2", "getName 's _ 1 2 3 4 5 _x += 1 ; $$_ _end"),
            ("seed-coder", "getName 's _ 1 2 3 4 5 _x += 1 ; $$ _ _end"),
            ("dbrx", "getName 's _ 123 45 _x += 1 ;$$ _ _end"),
            ("tekken", "get Name 's _ 1 2 3 4 5 _x += 1 ;$$ _ _end"),
            ("gpt-4o", "get Name's _ 123 45 _x += 1 ;$$ _ _end"),
            ("deepseek-llm", "getName ' s _ 1 2 3 4 5 _x += 1 ; $ $ _ _end"),
            ("deepseek-coder", "getName ' s _ 1 2 3 4 5 _x += 1 ; $ $ _ _end"),
        ] {
            assert_eq!(cut(pre, text), expected, "{pre}");
        }
        for (pre, _) in CUTS {
            assert_eq!(cut(pre, "a b"), "a _b", "{pre}");
        }
    }
}
