//! Copies where a long match promises much, and a draft model everywhere else; short matches are offered in
//! its place.

use std::time::Duration;

use super::{Ask, Beginning, CandidateId, Drafter, Evidence, Found, LookupDrafter, LookupSettings, Offer, Votes};
use crate::backend::{BackendError, Drafts, Footprint, Network};
use crate::engine::event::RequestId;
use crate::engine::profile::Times;

/// A lookup first, then another drafter for those candidates whose match is too short.
pub struct ChainDrafter {
    lookup: LookupDrafter,
    other: Box<dyn Drafter>,
}

impl ChainDrafter {
    /// Lookups by `settings` before `other`.
    pub fn new(settings: LookupSettings, other: Box<dyn Drafter>) -> Self {
        Self { lookup: LookupDrafter::new(settings), other }
    }
}

/// Tokens that have to agree before the draft model is not asked.
const TRUSTED: usize = 5;

fn is_trusted(offer: &Offer) -> bool {
    let (Evidence::Match { length, votes } | Evidence::Sibling { length, votes }) = offer.evidence else {
        return false;
    };
    offer.most > 0 && length >= TRUSTED && votes != Votes::Split
}

impl Drafter for ChainDrafter {
    /// Name of the draft model: lookups have none.
    fn name(&self) -> &str {
        self.other.name()
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
        let choose = |(found, other): (Offer, Offer)| {
            if is_trusted(&found) || other.most == 0 {
                return found;
            }
            let or = (found.most > 0).then_some(Found { most: found.most, evidence: found.evidence });
            Offer { or, ..other }
        };
        found.into_iter().zip(other).map(choose).collect()
    }

    fn propose(
        &mut self,
        asks: &[Ask<'_>],
        offers: &[Offer],
        lengths: &[usize],
        main: &mut dyn Network,
    ) -> Result<Vec<Drafts>, BackendError> {
        let of = |free: bool| -> Vec<usize> {
            lengths
                .iter()
                .zip(offers)
                .map(|(&length, offer)| if offer.is_free() == free { length } else { 0 })
                .collect()
        };
        let (copied, drawn) = (of(true), of(false));
        let mut drafts = self.lookup.propose(asks, offers, &copied, main)?;
        if drawn.iter().any(|&length| length > 0) {
            let others = self.other.propose(asks, offers, &drawn, main)?;
            for (i, other) in others.into_iter().enumerate().filter(|(i, _)| drawn[*i] > 0) {
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

    fn measure(&mut self, main: &mut dyn Network, text: &[u32], budget: Duration) -> Result<Times, BackendError> {
        self.other.measure(main, text, budget)
    }

    fn kv_bytes(&self) -> usize {
        self.other.kv_bytes()
    }

    fn footprint(&mut self) -> Result<Footprint, BackendError> {
        self.other.footprint()
    }
}
