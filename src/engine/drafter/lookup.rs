//! Drafts copied from text that is at hand: what followed when the same tokens occurred before.
//!
//! Inference with reference (LLMA, arXiv 2304.04487) looks in a reference document; prompt lookup looks in
//! the prompt and in what has been written so far; the other candidates of the same prompt, which usually say
//! nearly the same, are a third place.

use std::collections::HashMap;

use super::ngrams::{Match, Ngrams};
use super::{Ask, Beginning, CandidateId, Drafter, Evidence, Offer};
use crate::backend::{BackendError, Drafts};
use crate::engine::event::RequestId;
use crate::sampling::Draft;

/// Where to look and what counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupSettings {
    /// Fewest tokens that have to agree.
    pub least: usize,
    /// Agreement beyond this many tokens does not count.
    pub longest: usize,
    /// Most tokens copied in a step.
    pub most: usize,
    /// Look in the prompt, in the candidate's own text and in the reference.
    pub past: bool,
    /// Look in the other candidates of the request.
    pub siblings: bool,
}

impl LookupSettings {
    /// Prompt, own text and reference.
    pub const LOOKUP: Self = Self { least: 2, longest: 8, most: 16, past: true, siblings: false };
    /// The other candidates.
    pub const SIBLING: Self = Self { past: false, siblings: true, ..Self::LOOKUP };
    /// Everything.
    pub const ALL: Self = Self { siblings: true, ..Self::LOOKUP };
}

/// Values that users set in the place of a drafter's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct LookupChanges {
    /// Fewest tokens that have to agree.
    pub least: Option<usize>,
    /// Most tokens copied in a step.
    pub most: Option<usize>,
}

impl LookupSettings {
    /// These settings with some of them changed.
    #[must_use]
    pub fn with(self, changes: LookupChanges) -> Self {
        let least = changes.least.unwrap_or(self.least);
        Self { least, longest: self.longest.max(least), most: changes.most.unwrap_or(self.most), ..self }
    }
}

/// Copies from text.
pub struct LookupDrafter {
    settings: LookupSettings,
    requests: HashMap<RequestId, Texts>,
}

/// The texts of one request.
struct Texts {
    prompt: Ngrams,
    reference: Ngrams,
    /// Text of each candidate, after the last tokens of the prompt. Stays when the candidate has ended:
    /// others may follow it.
    own: Vec<Ngrams>,
    /// Tokens of the prompt that `own` begins with.
    overlap: usize,
    prompt_len: usize,
    /// Tokens found for each candidate in this step.
    found: Vec<Vec<u32>>,
}

impl LookupDrafter {
    /// Looks where `settings` says.
    pub fn new(settings: LookupSettings) -> Self {
        Self { settings, requests: HashMap::new() }
    }
}

impl Texts {
    fn look(&mut self, ask: &Ask<'_>, settings: &LookupSettings) -> Offer {
        let LookupSettings { longest, most, past, siblings, .. } = *settings;
        let tail = &ask.tokens[ask.tokens.len().saturating_sub(longest)..];
        let me = ask.id.index;
        let mut best: Option<(Match, &Ngrams, bool)> = None;
        let mut look = |text, sibling| {
            if let Some(found) = Ngrams::find(text, tail, longest) {
                // A longer match is better; of equal ones the first found.
                if best.is_none_or(|(known, ..)| found.length > known.length) {
                    best = Some((found, text, sibling));
                }
            }
        };
        if past {
            look(&self.own[me], false);
            look(&self.prompt, false);
            look(&self.reference, false);
        }
        if siblings {
            let (before, after) = (&self.own[..me], &self.own[me + 1..]);
            before.iter().chain(after).for_each(|text| look(text, true));
        }
        let found = &mut self.found[me];
        found.clear();
        let Some((at, text, sibling)) = best else { return Offer::NONE };
        let repeats = std::ptr::eq(text, &raw const self.own[me]);
        found.extend(text.following(at, most.min(ask.room), repeats));
        let length = at.length;
        let evidence = if sibling { Evidence::Sibling { length } } else { Evidence::Match { length } };
        Offer { most: found.len(), evidence, lag: None }
    }
}

impl Drafter for LookupDrafter {
    fn name(&self) -> &str {
        match (self.settings.past, self.settings.siblings) {
            (false, true) => "sibling",
            _ => "lookup",
        }
    }

    fn begin(&mut self, request: RequestId, beginning: &Beginning<'_>) {
        let index = |tokens: &[u32]| {
            let mut ngrams = Ngrams::new(self.settings.least);
            ngrams.extend(tokens);
            ngrams
        };
        let Beginning { prompt, reference, n, .. } = *beginning;
        let past = |tokens| if self.settings.past { index(tokens) } else { index(&[]) };
        let tail = &prompt[prompt.len().saturating_sub(self.settings.longest)..];
        let texts = Texts {
            prompt: past(prompt),
            reference: past(reference),
            own: vec![index(tail); n],
            overlap: tail.len(),
            prompt_len: prompt.len(),
            found: vec![Vec::new(); n],
        };
        self.requests.insert(request, texts);
    }

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        asks.iter()
            .map(|ask| match self.requests.get_mut(&ask.id.request) {
                Some(texts) => texts.look(ask, &self.settings),
                None => Offer::NONE,
            })
            .collect()
    }

    fn propose(&mut self, asks: &[Ask<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        let copied =
            |ask: &Ask<'_>| self.requests.get(&ask.id.request).map(|texts| texts.found[ask.id.index].as_slice());
        Ok(asks
            .iter()
            .zip(lengths)
            .map(|(ask, &length)| {
                // The reference may hold tokens that the main model's vocabulary has not.
                let known = |token: &&u32| (**token as usize) < ask.rules.vocab;
                let tokens = copied(ask).unwrap_or_default().iter().take(length).take_while(known);
                Drafts::Host(tokens.map(|&token| Draft::certain(token)).collect())
            })
            .collect())
    }

    fn settle(&mut self, id: CandidateId, tokens: &[u32]) {
        if let Some(texts) = self.requests.get_mut(&id.request) {
            let own = &mut texts.own[id.index];
            let known = texts.prompt_len - texts.overlap + own.len();
            own.extend(&tokens[known..]);
        }
    }

    fn end(&mut self, _id: CandidateId) {}

    fn finish(&mut self, request: RequestId) {
        self.requests.remove(&request);
    }
}
