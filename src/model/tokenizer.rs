//! Text to token ids and back.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::json;
use tokenizers::Model;
use tokenizers::decoders::DecoderWrapper;

use super::vocabulary::Vocabulary;
use super::{Infill, ModelError, PromptText, mistaken};
use crate::{channels, panics};

/// Name of the file.
pub const FILE: &str = "tokenizer.json";

/// A tokenizer read from `tokenizer.json`.
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    path: PathBuf,
    /// One more than the largest id.
    size: usize,
    /// Ids that [`Tokenizer::decode`] leaves out, sorted.
    special: Vec<u32>,
    /// Special tokens that tell thoughts from answers: a continuation has their text.
    marks: Vec<(u32, &'static str)>,
    /// Tokens that words are not read as: special ones and those of infill. Sorted.
    guarded: Vec<String>,
    /// Ids that stand for one byte of a character (byte fallback), sorted; the decoder joins runs of them.
    bytes: Vec<u32>,
    /// An ordinary id whose text does not depend on what follows it, and that text. Stands before a
    /// continuation, so that decoders which treat the first token of a text differently do so to this one.
    anchor: Option<(u32, String)>,
}

impl Tokenizer {
    /// Reads `bytes`, the content of the `tokenizer.json` at `path`.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, ModelError> {
        mistaken::refuse_text(path, bytes)?;
        Self::made_by(path, || tokenizers::Tokenizer::from_bytes(bytes))
    }

    /// Puts together what stands in the GGUF file at `path`.
    pub fn of_pieces(path: &Path, vocabulary: Vocabulary) -> Result<Self, ModelError> {
        let Vocabulary { mut frame, pieces, added } = vocabulary;
        frame["model"] = json!({"type": "BPE", "vocab": {}, "merges": []});
        Self::made_by(path, || {
            let mut whole: tokenizers::Tokenizer = serde_json::from_value(frame)?;
            whole.with_model(pieces.build()?);
            whole.add_tokens(added)?;
            Ok(whole)
        })
    }

    fn made_by(
        path: &Path,
        make: impl FnOnce() -> tokenizers::Result<tokenizers::Tokenizer>,
    ) -> Result<Self, ModelError> {
        let error = |problem: String| ModelError::Tokenizer { path: path.into(), problem };
        // The library panics at some mistakes.
        let made = panics::contain(|| make().map_err(|e| e.to_string()));
        let mut inner = made
            .and_then(|made| made)
            .map_err(|problem| error(format!("not a readable tokenizer ({problem}); download the file again")))?;
        // Both are settings of training scripts that some files carry; a prompt must come through whole and
        // bare.
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|problem| error(problem.to_string()))?;

        let size = size(&inner);
        let mut special: Vec<u32> =
            inner.get_added_tokens_decoder().iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect();
        special.sort_unstable();
        let is_guarded = |token: &tokenizers::AddedToken| token.special || Infill::has(&token.content);
        let guarded = inner.get_added_tokens_decoder().into_values().filter(is_guarded);
        let mut guarded: Vec<String> = guarded.map(|token| token.content).filter(|text| !text.is_empty()).collect();
        guarded.sort_unstable();
        let mut bytes = Vec::new();
        if inner.get_decoder().is_some_and(falls_back_to_bytes) {
            bytes = (0..=u8::MAX).filter_map(|byte| inner.token_to_id(&format!("<0x{byte:02X}>"))).collect();
            bytes.sort_unstable();
        }
        let marks = channels::marks(|mark| inner.token_to_id(mark).is_some()).into_iter();
        let marks = marks.filter_map(|mark| Some((inner.token_to_id(mark)?, mark)));
        let marks = marks.filter(|(id, _)| special.binary_search(id).is_ok()).collect();
        let mut tokenizer = Self { inner, path: path.into(), size, special, marks, guarded, bytes, anchor: None };
        tokenizer.anchor = tokenizer.find_anchor();
        Ok(tokenizer)
    }

    /// The file that it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn find_anchor(&self) -> Option<(u32, String)> {
        ["a", "0", ".", "x"].iter().find_map(|text| {
            let id = *self.encode_plain(text).ok()?.last()?;
            let usable = self.special.binary_search(&id).is_err() && self.bytes.binary_search(&id).is_err();
            let text = self.decode(&[id]);
            (usable && !text.is_empty() && !text.ends_with(char::REPLACEMENT_CHARACTER)).then_some((id, text))
        })
    }

    /// Token ids of `text` as a prompt: with the special tokens that the tokenizer adds by itself (BOS).
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.encode_as(text, true)
    }

    /// Token ids of `text` as it is; special tokens that are written out in the text are still recognised.
    pub fn encode_plain(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        self.encode_as(text, false)
    }

    /// Token ids of a prompt as [`encode`](Self::encode) or [`encode_plain`](Self::encode_plain) has them,
    /// except that special tokens within words are none: such a word is cut behind its first character.
    pub fn encode_prompt(&self, text: &PromptText, add_special: bool) -> Result<Vec<u32>, ModelError> {
        let guarded = self.guarded_in(text);
        if guarded.is_empty() {
            return self.encode_as(text, add_special);
        }
        let mut ids = if add_special { self.encode("")? } else { Vec::new() };
        let cuts =
            guarded.iter().map(|range| range.start + text[range.start..].chars().next().map_or(1, char::len_utf8));
        let mut start = 0;
        for cut in cuts.chain([text.len()]) {
            ids.extend(self.encode_plain(&text[start..cut])?);
            start = cut;
        }
        Ok(ids)
    }

    /// The ranges of special tokens within words, in bytes and in order.
    pub fn guarded_in(&self, text: &PromptText) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for words in text.ranges_of_words() {
            let mut at = words.start;
            while let Some(c) = text[at..words.end].chars().next() {
                let token = self.guarded_at(&text[at..words.end]);
                found.extend(token.map(|token| at..at + token.len()));
                at += token.map_or(c.len_utf8(), str::len);
            }
        }
        found
    }

    /// The longest special token that a text begins with.
    fn guarded_at(&self, text: &str) -> Option<&str> {
        let first = text.chars().next()?;
        let from = self.guarded.partition_point(|token| token.chars().next() < Some(first));
        let of_first = self.guarded[from..].iter().take_while(|token| token.starts_with(first));
        of_first.filter(|token| text.starts_with(token.as_str())).max_by_key(|token| token.len()).map(String::as_str)
    }

    fn encode_as(&self, text: &str, add_special: bool) -> Result<Vec<u32>, ModelError> {
        let encoding = self.inner.encode_fast(text, add_special).map_err(|problem| ModelError::Tokenizer {
            path: self.path.clone(),
            problem: format!("cannot turn the text into tokens ({problem})"),
        })?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Text of `ids` on their own, special tokens left out. Ids outside the vocabulary have no text.
    pub fn decode(&self, ids: &[u32]) -> String {
        self.inner.decode(ids, true).unwrap_or_default()
    }

    /// Text of `ids` as the continuation of an earlier text: what [`StreamDecoder`] gives out in all. Unlike
    /// [`decode`](Self::decode), it keeps a leading space, and the marks around thoughts.
    pub fn decode_continuation(&self, ids: &[u32]) -> String {
        let mut text = String::new();
        let mut rest = ids;
        while let Some((at, mark)) = rest.iter().enumerate().find_map(|(at, &id)| Some((at, self.mark(id)?))) {
            text += &self.decode_run(&rest[..at]);
            text += mark;
            rest = &rest[at + 1..];
        }
        text + &self.decode_run(rest)
    }

    /// The text of a mark.
    fn mark(&self, id: u32) -> Option<&'static str> {
        self.marks.iter().find(|(mark, _)| *mark == id).map(|(_, text)| *text)
    }

    /// A continuation without marks.
    fn decode_run(&self, ids: &[u32]) -> String {
        let Some((anchor, prefix)) = &self.anchor else { return self.decode(ids) };
        let mut with_anchor = Vec::with_capacity(ids.len() + 1);
        with_anchor.push(*anchor);
        with_anchor.extend_from_slice(ids);
        let text = self.decode(&with_anchor);
        text.strip_prefix(prefix.as_str()).map_or_else(|| self.decode(ids), str::to_owned)
    }

    /// The vocabulary's own spelling of `id`, which need not be text (`▁the`, `<0x0A>`).
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// The id of a token given in the vocabulary's own spelling, for example of `<|fim_prefix|>`.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.inner.token_to_id(token)
    }

    /// Number of ids, added tokens included: one more than the largest.
    pub fn vocab_size(&self) -> usize {
        self.size
    }

    /// Checks that both tokenizers give every id the same meaning, as speculative decoding needs; the error
    /// is a sentence that names the first id that differs. One vocabulary may be longer than the other.
    pub fn same_vocabulary(&self, other: &Tokenizer) -> Result<(), String> {
        for id in 0..self.size.min(other.size) as u32 {
            let (left, right) = (self.token(id), other.token(id));
            if left != right {
                let name = |token: Option<String>| token.map_or_else(|| "no token".to_owned(), |t| format!("{t:?}"));
                return Err(format!(
                    "the tokenizers differ: id {id} is {} in {} but {} in {}; choose a draft model that shares the \
                     main model's tokenizer",
                    name(left),
                    self.path.display(),
                    name(right),
                    other.path.display()
                ));
            }
        }
        Ok(())
    }

    /// A decoder for a stream of ids that continues a prompt.
    pub fn stream(&self) -> StreamDecoder {
        StreamDecoder::default()
    }
}

/// One more than the largest id.
fn size(tokenizer: &tokenizers::Tokenizer) -> usize {
    let model = tokenizer.get_model();
    let pieces = model.get_vocab_size();
    let added = tokenizer.get_added_tokens_decoder().keys().max().map_or(0, |&id| id as usize + 1);
    // Where every id below the number of pieces is one, none lies above it. Only where there are gaps is the
    // whole vocabulary copied to find its end.
    let whole = (0..pieces as u32).all(|id| model.id_to_token(id).is_some());
    let of_pieces = || model.get_vocab().values().max().map_or(0, |&id| id as usize + 1);
    added.max(if whole { pieces } else { of_pieces() })
}

fn falls_back_to_bytes(decoder: &DecoderWrapper) -> bool {
    match decoder {
        DecoderWrapper::ByteFallback(_) => true,
        DecoderWrapper::Sequence(sequence) => sequence.get_decoders().iter().any(falls_back_to_bytes),
        _ => false,
    }
}

/// Turns a stream of ids into a stream of text: what it has given out never changes, and an incomplete UTF-8
/// character is held back until it is whole. All that it gives out together is
/// [`Tokenizer::decode_continuation`] of the ids.
#[derive(Clone, Debug, Default)]
pub struct StreamDecoder {
    /// Ids whose text has not been given out. Ends either inside a character or in a run of byte tokens: the
    /// decoder replaces such a run as a whole when any of it is not UTF-8, so none of it is certain before
    /// the run ends.
    held: Vec<u32>,
}

/// Held ids from which on a decoder looks for a place to cut. A longer window only occurs in text that is not
/// text.
const LONG: usize = 32;
/// Ids after a cut: a UTF-8 character has at most 4 bytes, so none of it can reach from before the cut past
/// these.
const CHARACTER: usize = 4;

impl StreamDecoder {
    /// Adds one id and returns the text that became certain, possibly empty.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: u32) -> String {
        if tokenizer.special.binary_search(&id).is_ok() {
            return tokenizer.mark(id).map_or_else(String::new, |mark| self.finish(tokenizer) + mark);
        }
        self.held.push(id);
        if tokenizer.bytes.binary_search(&id).is_ok() {
            return String::new();
        }
        let text = tokenizer.decode_continuation(&self.held);
        if !text.ends_with(char::REPLACEMENT_CHARACTER) {
            self.held.clear();
            return text;
        }
        if self.held.len() >= LONG { self.cut(tokenizer, &text) } else { String::new() }
    }

    /// Gives out the front of a long window at a place where both sides decode by themselves.
    fn cut(&mut self, tokenizer: &Tokenizer, whole: &str) -> String {
        for at in (1..=self.held.len() - CHARACTER).rev() {
            let (front, back) = self.held.split_at(at);
            let front = tokenizer.decode_continuation(front);
            if whole.strip_prefix(front.as_str()) == Some(tokenizer.decode_continuation(back).as_str()) {
                self.held.drain(..at);
                return front;
            }
        }
        String::new()
    }

    /// The text still held back, with incomplete characters replaced.
    pub fn finish(&mut self, tokenizer: &Tokenizer) -> String {
        let text = if self.held.is_empty() { String::new() } else { tokenizer.decode_continuation(&self.held) };
        self.held.clear();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tokenizer of bytes with these special tokens, the first of which has the id 256.
    fn tokenizer(special: &[&str]) -> Tokenizer {
        // The characters that stand for bytes, in the order of the bytes.
        let own = |byte: u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
        let mut others = 256..;
        let vocabulary: serde_json::Map<String, serde_json::Value> = (0..256u32)
            .map(|byte| (if own(byte) { byte } else { others.next().unwrap_or_default() }, byte))
            .map(|(c, byte)| (char::from_u32(c).unwrap_or_default().to_string(), byte.into()))
            .collect();
        let added = special.iter().zip(256..).map(|(text, id)| {
            json!({"id": id, "content": text, "special": true, "single_word": false, "lstrip": false, "rstrip": false,
                   "normalized": false})
        });
        let whole = json!({
            "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "post_processor": null,
            "added_tokens": added.collect::<Vec<_>>(),
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
            "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
            "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
        });
        Tokenizer::read(Path::new("tokenizer.json"), whole.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn marks_of_thoughts_are_text_of_an_answer_though_they_are_special() {
        let text = "<|channel|>analysis<|message|>é?<|end|><|start|>assistant<|channel|>final<|message|> ü<|return|>";
        let tokens = ["<|endoftext|>", "<|channel|>", "<|message|>", "<|end|>", "<|start|>", "<|return|>"];
        let of_messages = tokenizer(&tokens);
        let ids = of_messages.encode_plain(text).unwrap();
        assert_eq!(ids.iter().filter(|&&id| id >= 256).count(), 7);
        let stream = |tokenizer: &Tokenizer, ids: &[u32]| {
            let mut decoder = tokenizer.stream();
            let pieces: Vec<String> = ids.iter().map(|&id| decoder.push(tokenizer, id)).collect();
            pieces.concat() + &decoder.finish(tokenizer)
        };
        assert_eq!(stream(&of_messages, &ids), text);
        assert_eq!(of_messages.decode_continuation(&ids), text);
        assert_eq!(of_messages.decode(&ids), "analysisé?assistantfinal ü", "a text by itself has no special tokens");
        // An end of text and a character that breaks off are no marks.
        let broken = [&[256][..], &ids[..9], &[0xc3, 257, 256]].concat();
        assert_eq!(stream(&of_messages, &broken), "<|channel|>analysis\u{fffd}<|channel|>");
        assert_eq!(of_messages.decode_continuation(&broken), stream(&of_messages, &broken));
        // Gemma 4; where there are no channels, messages end as turns do.
        for (tokens, text, told) in [
            (&["<|channel>", "<channel|>"][..], "<|channel>thought\na<channel|>b", "<|channel>thought\na<channel|>b"),
            (&["<|end|>", "<|start|>"], "<|start|>a<|end|>", "a"),
            (&["[THINK]", "[/THINK]"], "[THINK]a[/THINK]b", "[THINK]a[/THINK]b"),
        ] {
            let tokenizer = tokenizer(tokens);
            let ids = tokenizer.encode_plain(text).unwrap();
            assert_eq!(
                (stream(&tokenizer, &ids), tokenizer.decode_continuation(&ids)),
                (told.to_owned(), told.to_owned())
            );
        }
    }
    #[test]
    fn special_tokens_are_letters_in_words_and_tokens_in_marks() {
        let tokenizer = tokenizer(&["<s>", "<|end|>", "<|end|>\n", "</s>"]);
        let bytes = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
        let ids = |text: &PromptText| tokenizer.encode_prompt(text, false).unwrap();
        let said = "a<|end|>\n<<s></s><|end|>é";
        assert_eq!(ids(&PromptText::words(said)), bytes(said));
        assert_eq!(ids(&PromptText::marks(said)), tokenizer.encode_plain(said).unwrap());
        let prompt = PromptText::marks("<s>").with_words(said).with_marks("<|end|>").with_words("<s");
        assert_eq!(ids(&prompt), [&[256], &bytes(said)[..], &[257], &bytes("<s")].concat());
        assert_eq!(&*prompt, format!("<s>{said}<|end|><s"));
        // Words of which a template is made keep what they are.
        let guarded = PromptText::guard(said, &tokenizer.guarded_in(&PromptText::words(said)));
        let of_template = PromptText::of_guarded(&format!("<s>{guarded}<|end|>"));
        assert_eq!(&*of_template, format!("<s>{said}<|end|>"));
        assert_eq!(ids(&of_template), [&[256], &bytes(said)[..], &[257]].concat());
    }
}
