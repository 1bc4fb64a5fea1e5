//! Copies where a long match promises much, a draft model everywhere else.

use std::time::Duration;

use super::{Ask, Beginning, CandidateId, Drafter, Evidence, LookupDrafter, LookupSettings, Offer};
use crate::backend::{BackendError, Drafts, Footprint};
use crate::engine::event::RequestId;
use crate::engine::profile::Times;

/// A lookup first, then another drafter for those candidates whose match is too short.
pub struct ChainDrafter {
    name: String,
    lookup: LookupDrafter,
    other: Box<dyn Drafter>,
    /// Match from which the lookup is trusted.
    trusted: usize,
    /// Whose offer was passed on, per ask of the last call.
    looked_up: Vec<bool>,
}

impl ChainDrafter {
    /// Tokens that have to agree before the draft model is not asked.
    const TRUSTED: usize = 5;

    /// Lookups by `settings` before `other`.
    pub fn new(settings: LookupSettings, other: Box<dyn Drafter>) -> Self {
        let name = format!("lookup, then {}", other.name());
        let lookup = LookupDrafter::new(settings);
        Self { name, lookup, other, trusted: Self::TRUSTED, looked_up: Vec::new() }
    }
}

impl Drafter for ChainDrafter {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin(&mut self, request: RequestId, beginning: &Beginning<'_>) {
        self.lookup.begin(request, beginning);
        self.other.begin(request, beginning);
    }

    fn reusable(&self, request: RequestId) -> usize {
        self.other.reusable(request)
    }

    fn keep_prompts(&mut self, bytes: usize) -> usize {
        self.other.keep_prompts(bytes)
    }

    fn prepare(&mut self, request: RequestId) -> Result<usize, BackendError> {
        self.other.prepare(request)
    }

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        let found = self.lookup.offer(asks);
        let other = self.other.offer(asks);
        let trusted = |offer: &Offer| {
            let (Evidence::Match { length } | Evidence::Sibling { length }) = offer.evidence else { return false };
            offer.most > 0 && length >= self.trusted
        };
        self.looked_up = found.iter().zip(&other).map(|(f, o)| trusted(f) || o.most == 0).collect();
        found.into_iter().zip(other).zip(&self.looked_up).map(|((f, o), &first)| if first { f } else { o }).collect()
    }

    fn propose(&mut self, asks: &[Ask<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        let of = |mine: bool| -> Vec<usize> {
            lengths.iter().zip(&self.looked_up).map(|(&l, &looked_up)| if looked_up == mine { l } else { 0 }).collect()
        };
        let (copied, drawn) = (of(true), of(false));
        let mut drafts = self.lookup.propose(asks, &copied)?;
        if drawn.iter().any(|&length| length > 0) {
            for (i, other) in self.other.propose(asks, &drawn)?.into_iter().enumerate().filter(|(i, _)| drawn[*i] > 0) {
                drafts[i] = other;
            }
        }
        Ok(drafts)
    }

    fn settle(&mut self, id: CandidateId, tokens: &[u32]) {
        self.lookup.settle(id, tokens);
        self.other.settle(id, tokens);
    }

    fn end(&mut self, id: CandidateId) {
        self.lookup.end(id);
        self.other.end(id);
    }

    fn finish(&mut self, request: RequestId) {
        self.lookup.finish(request);
        self.other.finish(request);
    }

    fn measure(&mut self, text: &[u32], budget: Duration) -> Result<Times, BackendError> {
        self.other.measure(text, budget)
    }

    fn kv_bytes(&self) -> usize {
        self.other.kv_bytes()
    }

    fn footprint(&mut self) -> Result<Footprint, BackendError> {
        self.other.footprint()
    }
}
