//! Filling in the middle: how a model is shown the text after the place that it is to write at.

use super::{PromptText, Tokenizer};

/// The tokens around the two parts of such a prompt: `begin` text before `hole` text after `end`.
#[derive(Debug, PartialEq, Eq)]
pub struct Infill {
    /// Before the text that stands before the place.
    pub begin: &'static str,
    /// Before the text that stands after it.
    pub hole: &'static str,
    /// Where the model goes on.
    pub end: &'static str,
    /// Tokens that end what such a model writes besides its usual ones.
    pub stops: &'static [&'static str],
}

/// The known kinds; models of one family have the same tokens.
static ALL: &[Infill] = &[
    // Qwen2.5-Coder and Qwen3-Coder, CodeGemma, Granite from 3 on.
    Infill {
        begin: "<|fim_prefix|>",
        hole: "<|fim_suffix|>",
        end: "<|fim_middle|>",
        stops: &["<|endoftext|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|file_separator|>"],
    },
    // StarCoder 1 and 2, Granite Code, StableCode.
    Infill {
        begin: "<fim_prefix>",
        hole: "<fim_suffix>",
        end: "<fim_middle>",
        stops: &["<|endoftext|>", "<fim_pad>", "<repo_name>", "<file_sep>"],
    },
    // SantaCoder.
    Infill { begin: "<fim-prefix>", hole: "<fim-suffix>", end: "<fim-middle>", stops: &["<|endoftext|>"] },
    // CodeLlama.
    Infill { begin: "▁<PRE>", hole: "▁<SUF>", end: "▁<MID>", stops: &["▁<EOT>"] },
    // DeepSeek-Coder.
    Infill {
        begin: "<｜fim▁begin｜>",
        hole: "<｜fim▁hole｜>",
        end: "<｜fim▁end｜>",
        stops: &["<｜end▁of▁sentence｜>", "<|EOT|>"],
    },
];

/// Words in the names of models for code.
const CODE: &[&str] = &["code", "built-in"];

impl Infill {
    /// Marks for a server, which is sent both parts and puts its own tokens around them: the hole is a mark
    /// that no text has.
    pub const APART: &Self = &Self { begin: "", hole: "\u{fdd0}suffix\u{fdd0}", end: "", stops: &[] };

    /// Both parts of such a prompt, if it is one.
    pub fn apart(text: &str) -> Option<(&str, &str)> {
        text.split_once(Self::APART.hole)
    }

    /// The kind whose three tokens the tokenizer reads as one token each, if `model` is the name of a model
    /// for code. Families of models share a tokenizer, of which only those for code have learnt to fill in.
    pub fn of(tokenizer: &Tokenizer, model: &str) -> Option<&'static Self> {
        let is_token = |text: &str| token(tokenizer, text).is_some();
        let model = model.to_lowercase();
        let is_for_code = CODE.iter().any(|word| model.contains(word));
        ALL.iter().find(|kind| is_for_code && [kind.begin, kind.hole, kind.end].into_iter().all(is_token))
    }

    /// The ids of [`Infill::stops`], as far as the tokenizer has them.
    pub fn stop_ids(&self, tokenizer: &Tokenizer) -> Vec<u32> {
        self.stops.iter().filter_map(|text| token(tokenizer, text)).collect()
    }

    /// The prompt with `before` and `after` around the place.
    pub fn prompt(&self, before: &str, after: &str) -> PromptText {
        let before = PromptText::marks(self.begin).with_words(before);
        before.with_marks(self.hole).with_words(after).with_marks(self.end)
    }

    /// True for a token of any kind, which a vocabulary need not call special.
    pub fn has(token: &str) -> bool {
        ALL.iter().any(|kind| [kind.begin, kind.hole, kind.end].contains(&token) || kind.stops.contains(&token))
    }
}

/// The id of a token that is read as one where it is written out in a text.
fn token(tokenizer: &Tokenizer, text: &str) -> Option<u32> {
    let id = tokenizer.id(text)?;
    (tokenizer.encode_plain(text).ok()?.as_slice() == [id]).then_some(id)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::embedded;
    use super::*;

    #[test]
    fn only_models_for_code_fill_in() {
        let tokenizer = Tokenizer::read(Path::new("tokenizer.json"), embedded::MAIN.tokenizer).unwrap();
        assert!(Infill::of(&tokenizer, "built-in").is_some_and(|kind| kind.begin == "<|fim_prefix|>"));
        assert!(Infill::of(&tokenizer, "Qwen2.5-Coder-7B").is_some());
        assert_eq!(Infill::of(&tokenizer, "Qwen2.5-7B"), None);
    }
}
