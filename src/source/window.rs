//! How much a model is shown, and how it is counted.

use std::sync::Arc;

use crate::model::{Chat, ChatUse, Infill, Model, ModelError, PromptText, Role, Tokenizer};

/// Default number of tokens of a prompt, from so many weights on: small models lose the thread in long
/// prompts, and every token costs time before the first word.
const SIZES: &[(usize, usize)] =
    &[(10_000_000_000, 8192), (3_000_000_000, 4096), (1_000_000_000, 2048), (100_000_000, 1024)];

fn size(weights: usize) -> Option<usize> {
    SIZES.iter().find(|(from, _)| weights >= *from).map(|&(_, tokens)| tokens)
}

/// Limits of a model's prompts.
#[derive(Clone, Default)]
pub struct Window {
    /// Tokens of a prompt where nobody says how many; `None`: the function and what it names, no more.
    pub tokens: Option<usize>,
    /// Number of weights; 0 if that is not known.
    pub weights: usize,
    /// Most positions, prompt and completion together; 0 if that is not known.
    pub context: usize,
    /// How it is shown what stands after the function, if it can be.
    pub infill: Option<&'static Infill>,
    /// How it is shown requests, if it was taught conversations.
    pub chat: Option<Arc<Chat>>,
    tokenizer: Option<Arc<Tokenizer>>,
}

impl Window {
    /// Window of a model of this name and so many weights.
    pub fn new(name: &str, weights: usize, context: usize, tokenizer: Arc<Tokenizer>) -> Self {
        let tokens = size(weights).map(|tokens| tokens.min(context / 2));
        Self { tokens, weights, context, infill: Infill::of(&tokenizer, name), chat: None, tokenizer: Some(tokenizer) }
    }

    /// Window of a model on a server. A `context` of 0 is unknown.
    pub fn served(weights: usize, context: usize) -> Self {
        let most = if context == 0 { usize::MAX } else { context / 2 };
        Self { tokens: size(weights).map(|tokens| tokens.min(most)), weights, context, ..Self::default() }
    }

    /// Window of a model that is not loaded onto a device; `chat` as in [`Model::chat`].
    pub fn of(mut model: Model, chat: Option<ChatUse>) -> Result<Self, ModelError> {
        let chat = model.chat(chat)?;
        let (weights, context) = (model.parameters(), model.spec.context);
        Ok(Self::new(&model.called, weights, context, Arc::new(model.tokenizer)).asked(chat))
    }

    /// This window for a model that is asked in conversations, if `chat` is given.
    #[must_use]
    pub fn asked(self, chat: Option<Chat>) -> Self {
        Self { chat: chat.map(Arc::new), ..self }
    }

    /// Its conversations, if answers are left to the model from their first token.
    pub fn free_chat(&self) -> Option<&Chat> {
        self.chat.as_deref().filter(|chat| chat.opening().is_none())
    }

    /// Beginning of each answer in the prompt: marks of thoughts or of a message. Empty where there are none.
    pub fn begun(&self) -> &str {
        self.free_chat().map_or("", Chat::begun)
    }

    /// The text of one token; of one without text its name. Empty where there is no tokenizer.
    pub fn token(&self, id: u32) -> String {
        let text = self.written(id);
        let name = || self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.token(id));
        if text.is_empty() { name().unwrap_or_default() } else { text }
    }

    /// The text of one token, if it has any.
    pub fn written(&self, id: u32) -> String {
        self.tokenizer.as_ref().map_or_else(String::new, |tokenizer| tokenizer.decode_continuation(&[id]))
    }

    /// The text that each of these tokens adds to that of the ones before it. A character of several tokens is
    /// in the text of the last of them. Nothing where there is no tokenizer.
    pub fn pieces(&self, ids: &[u32]) -> Vec<String> {
        let Some(tokenizer) = &self.tokenizer else { return Vec::new() };
        let mut decoder = tokenizer.stream();
        ids.iter().map(|&id| decoder.push(tokenizer, id)).collect()
    }

    /// The text of tokens; empty where there is no tokenizer.
    pub fn text(&self, ids: &[u32]) -> String {
        self.tokenizer.as_ref().map_or_else(String::new, |tokenizer| tokenizer.decode(ids))
    }

    /// The prompt of a conversation as `chat` has it, in which special tokens of what is said are words.
    pub fn conversation(&self, chat: &Chat, turns: &[(Role, String)]) -> Result<PromptText, ModelError> {
        let guarded = |words: &str| match &self.tokenizer {
            Some(tokenizer) => PromptText::guard(words, &tokenizer.guarded_in(&PromptText::words(words))),
            None => words.to_owned(),
        };
        let turns: Vec<_> = turns.iter().map(|(role, words)| (*role, guarded(words))).collect();
        Ok(PromptText::of_guarded(&chat.conversation(&turns)?))
    }

    /// The tokens of a prompt, estimated where there is no tokenizer.
    pub fn count_prompt(&self, text: &PromptText) -> usize {
        let ids = self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.encode_prompt(text, false).ok());
        ids.map_or_else(|| self.count(text), |ids| ids.len())
    }

    /// The tokens of a text, estimated where there is no tokenizer.
    pub fn count(&self, text: &str) -> usize {
        let ids = self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.encode_plain(text).ok());
        // Tokens of code have three and a half bytes on average.
        ids.map_or(text.len() * 2 / 7, |ids| ids.len())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::embedded;

    #[test]
    fn pieces_are_all_of_the_text_and_characters_stay_whole() {
        let tokenizer = Tokenizer::read(Path::new("tokenizer.json"), embedded::MAIN.tokenizer).unwrap();
        let text = "def f(x):\n    return \"é日🦀\" + x\n";
        let ids = tokenizer.encode_plain(text).unwrap();
        let window = Window::new("x", 1, 100, Arc::new(tokenizer));
        let pieces = window.pieces(&ids);
        assert_eq!((pieces.len(), pieces.concat().trim_start()), (ids.len(), text));
        assert!(pieces.iter().all(|piece| !piece.contains(char::REPLACEMENT_CHARACTER)), "{pieces:?}");
        assert_eq!(Window::default().pieces(&ids), Vec::<String>::new());
    }
}
