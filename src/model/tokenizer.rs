//! Text to token ids and back.

use super::ModelError;

/// A tokenizer read from `tokenizer.json`.
pub struct Tokenizer {}

impl Tokenizer {
    /// Token ids of `text` as a prompt: with the special tokens that the tokenizer adds by itself (BOS).
    pub fn encode(&self, _text: &str) -> Result<Vec<u32>, ModelError> {
        todo!()
    }

    /// Text of `ids`, special tokens left out.
    pub fn decode(&self, _ids: &[u32]) -> String {
        todo!()
    }

    /// Number of ids, added tokens included.
    pub fn vocab_size(&self) -> usize {
        todo!()
    }

    /// Checks that both tokenizers give every id the same meaning, as speculative decoding needs; the error is a
    /// sentence that names the first id that differs.
    pub fn same_vocabulary(&self, _other: &Tokenizer) -> Result<(), String> {
        todo!()
    }

    /// A decoder for a stream of ids that continues a prompt.
    pub fn stream(&self, _prompt: &[u32]) -> StreamDecoder {
        todo!()
    }
}

/// Turns a stream of ids into a stream of text: what it has given out never changes, and an incomplete UTF-8 character
/// is held back until it is whole.
#[derive(Clone, Debug)]
pub struct StreamDecoder {}

impl StreamDecoder {
    /// Adds one id and returns the text that became certain, possibly empty.
    pub fn push(&mut self, _tokenizer: &Tokenizer, _id: u32) -> String {
        todo!()
    }

    /// The text still held back, with incomplete characters replaced.
    pub fn finish(&mut self, _tokenizer: &Tokenizer) -> String {
        todo!()
    }
}
