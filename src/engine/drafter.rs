//! What proposes tokens: a trait, and the draft model.

use crate::backend::{BackendError, ChoiceItem, ChoiceRules, Network, Rows, SeqId, Span, Wanted};
use crate::sampling::Draft;

/// What one live candidate asks of the drafter.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Index of the candidate.
    pub candidate: usize,
    /// All of its tokens so far, the prompt included.
    pub tokens: &'a [u32],
    /// How many tokens to propose; may be 0.
    pub length: usize,
}

/// Proposes tokens, together with the distribution each was really drawn from.
pub trait Drafter: Send {
    /// Name for reports.
    fn name(&self) -> &str;

    /// Most positions of a candidate that it can follow.
    fn context(&self) -> usize;

    /// Begins a request: all of `n` candidates start with `prompt`, of which it will see every token but the last again. `room`
    /// is the number of positions a candidate may reach. `progress` hears the number of prompt tokens done and returns false to give up.
    fn begin(
        &mut self,
        prompt: &[u32],
        n: usize,
        room: usize,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), BackendError>;

    /// Proposes at most `length` tokens for every ask, in their order.
    fn propose(&mut self, asks: &[Ask<'_>], rules: &ChoiceRules<'_>) -> Result<Vec<Vec<Draft>>, BackendError>;

    /// The candidate now has `len` tokens; whatever was proposed beyond does not count.
    fn settle(&mut self, candidate: usize, len: usize);

    /// The candidate has ended.
    fn end(&mut self, candidate: usize);

    /// The request is over: gives everything back.
    fn finish(&mut self);
}

/// A small model with the main model's vocabulary, run for all candidates at once: one pass per draft position.
pub struct ModelDrafter {
    name: String,
    network: Box<dyn Network>,
    sequences: Vec<Option<SeqId>>,
    prompt: Option<SeqId>,
}

impl ModelDrafter {
    /// Drafts with `network`.
    pub fn new(name: impl Into<String>, network: Box<dyn Network>) -> Self {
        Self { name: name.into(), network, sequences: Vec::new(), prompt: None }
    }

    /// A token as this network can read it: padded vocabularies may differ in size.
    fn readable(&self, token: u32) -> u32 {
        if (token as usize) < self.network.vocab_size() { token } else { 0 }
    }
}

impl Drafter for ModelDrafter {
    fn name(&self) -> &str {
        &self.name
    }

    fn context(&self) -> usize {
        self.network.context()
    }

    fn begin(
        &mut self,
        prompt: &[u32],
        n: usize,
        room: usize,
        progress: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), BackendError> {
        self.finish();
        let prompt: Vec<u32> = prompt.iter().map(|&t| self.readable(t)).collect();
        let (seq, forks) = super::batch::prefill(self.network.as_mut(), &prompt, n, room, progress)?;
        self.prompt = Some(seq);
        self.sequences = forks.into_iter().map(Some).collect();
        Ok(())
    }

    fn propose(&mut self, asks: &[Ask<'_>], rules: &ChoiceRules<'_>) -> Result<Vec<Vec<Draft>>, BackendError> {
        let mut drafts: Vec<Vec<Draft>> = asks.iter().map(|a| Vec::with_capacity(a.length)).collect();
        let longest = asks.iter().map(|a| a.length).max().unwrap_or(0);
        for round in 0..longest {
            let mut tokens = Vec::new();
            let mut spans = Vec::new();
            let mut taking_part = Vec::new();
            for (i, ask) in asks.iter().enumerate().filter(|(_, a)| a.length > round) {
                let Some(seq) = self.sequences.get(ask.candidate).copied().flatten() else { continue };
                let start = self.network.len(seq);
                // In the first round all tokens it has not read yet: usually the last one, after a full acceptance the last
                // two. Later its own last proposal.
                match drafts[i].last() {
                    None => tokens.extend(ask.tokens[start..].iter().map(|&t| self.readable(t))),
                    Some(draft) => tokens.push(draft.token),
                }
                let len = tokens.len() - spans.iter().map(|s: &Span| s.len).sum::<usize>();
                spans.push(Span { seq, start, len });
                taking_part.push(i);
            }
            if spans.is_empty() {
                break;
            }
            self.network.forward(&Rows { tokens: &tokens, spans: &spans }, Wanted::Last)?;
            let items: Vec<ChoiceItem<'_>> = taking_part
                .iter()
                .enumerate()
                .map(|(row, &i)| ChoiceItem {
                    row,
                    candidate: asks[i].candidate as u32,
                    history: asks[i].tokens,
                    drafts: &drafts[i],
                })
                .collect();
            let drawn = self.network.propose(&items, rules);
            for (i, draft) in taking_part.into_iter().zip(drawn) {
                drafts[i].push(draft);
            }
        }
        Ok(drafts)
    }

    fn settle(&mut self, candidate: usize, len: usize) {
        if let Some(seq) = self.sequences.get(candidate).copied().flatten() {
            // The last emitted token has no K/V yet; after a full acceptance neither has the last proposal.
            let valid = self.network.len(seq).min(len - 1);
            self.network.set_len(seq, valid);
        }
    }

    fn end(&mut self, candidate: usize) {
        if let Some(seq) = self.sequences.get_mut(candidate).and_then(Option::take) {
            self.network.close(seq);
        }
    }

    fn finish(&mut self) {
        for candidate in 0..self.sequences.len() {
            self.end(candidate);
        }
        if let Some(seq) = self.prompt.take() {
            self.network.close(seq);
        }
    }
}
