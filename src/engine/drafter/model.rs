//! A small model with the main model's vocabulary, run for all candidates at once.

use std::collections::HashMap;
use std::time::Duration;

use super::vocabulary::AtHand;
use super::{Ask, Beginning, CandidateId, DraftVocabulary, Drafter, Evidence, Offer, Passes};
use crate::backend::{BackendError, Candidate, Drafts, Footprint, Network, Rows, SeqId, Span, Wanted, footprint, host};
use crate::engine::event::RequestId;
use crate::engine::profile::Times;
use crate::engine::prompts::Prompts;
use crate::engine::{PREFILL_SLAB, profile};

/// Drafts with a network.
pub struct ModelDrafter {
    name: String,
    network: Box<dyn Network>,
    requests: HashMap<RequestId, Request>,
    /// Tokens that are proposed; all where `None`.
    proposed: Option<AtHand>,
    /// Prompts of requests that are over.
    prompts: Prompts,
}

/// State of a request in the network; empty until something is to be proposed.
struct Request {
    prompt: Vec<u32>,
    n: usize,
    /// Positions that a candidate may reach here.
    room: usize,
    prompt_seq: Option<SeqId>,
    sequences: Vec<Option<SeqId>>,
}

impl ModelDrafter {
    /// Drafts with `network`.
    pub fn new(name: impl Into<String>, network: Box<dyn Network>) -> Self {
        Self { name: name.into(), network, requests: HashMap::new(), proposed: None, prompts: Prompts::default() }
    }

    /// Proposes these tokens only.
    #[must_use]
    pub fn proposing(mut self, tokens: DraftVocabulary) -> Self {
        self.proposed = tokens.first(self.network.vocab_size()).map(AtHand::new);
        self.shorten();
        self
    }

    /// Tells the network which tokens are proposed now.
    fn shorten(&mut self) {
        if let Some(list) = self.proposed.as_mut().and_then(AtHand::changed) {
            self.network.draft_from(&list);
        }
    }

    fn sequence(&self, id: CandidateId) -> Option<SeqId> {
        self.requests.get(&id.request)?.sequences.get(id.index).copied().flatten()
    }

    /// Reads what is left of the prompts of all requests that are to be proposed for.
    fn prepare_all(&mut self, asks: &[Ask<'_>], lengths: &[usize]) -> Result<(), BackendError> {
        for (ask, _) in asks.iter().zip(lengths).filter(|(_, length)| **length > 0) {
            while self.prepare(ask.id.request)? > 0 {}
        }
        Ok(())
    }
}

impl Drafter for ModelDrafter {
    fn name(&self) -> &str {
        &self.name
    }

    fn begin(&mut self, request: RequestId, beginning: &Beginning<'_>) {
        let vocab = self.network.vocab_size();
        if let Some(proposed) = &mut self.proposed {
            proposed.saw(request, beginning.prompt);
        }
        let request_state = Request {
            prompt: beginning.prompt.iter().map(|&token| host::readable(token, vocab)).collect(),
            n: beginning.n,
            room: beginning.room.min(self.network.context()),
            prompt_seq: None,
            sequences: Vec::new(),
        };
        self.requests.insert(request, request_state);
    }

    fn reusable(&self, request: RequestId) -> usize {
        let state = self.requests.get(&request).filter(|state| state.prompt_seq.is_none());
        state.map_or(0, |state| self.prompts.reusable(self.network.as_ref(), &state.prompt[..state.prompt.len() - 1]))
    }

    fn prepare(&mut self, request: RequestId) -> Result<usize, BackendError> {
        let Some(state) = self.requests.get_mut(&request) else { return Ok(0) };
        // The last token of the prompt is read with the first proposal.
        let shared = state.prompt.len() - 1;
        if !state.sequences.is_empty() || shared >= state.room {
            return Ok(0);
        }
        let seq = if let Some(seq) = state.prompt_seq {
            seq
        } else {
            let opened = self.prompts.open(self.network.as_mut(), &state.prompt[..shared], true)?;
            *state.prompt_seq.insert(opened)
        };
        let start = self.network.len(seq);
        let len = PREFILL_SLAB.min(shared - start);
        if len > 0 {
            let spans = [Span { seq, start, len }];
            let tokens = &state.prompt[start..start + len];
            self.network.forward(&Rows::chain(tokens, &spans), Wanted::Nothing)?;
        }
        let left = shared - start - len;
        if left == 0 {
            let forks = self.network.fork(seq, state.n, state.room - shared)?;
            state.sequences = forks.into_iter().map(Some).collect();
        }
        Ok(left)
    }

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        let mut prompts_to_read: Vec<RequestId> = Vec::new();
        let at_once = self.network.drafts_at_once();
        asks.iter()
            .map(|ask| {
                let Some(state) = self.requests.get(&ask.id.request) else { return Offer::NONE };
                let len = ask.tokens.len();
                let lag = match self.sequence(ask.id) {
                    Some(seq) => len - self.network.len(seq),
                    // Nothing is read yet: the prompt will be, once for all of its candidates.
                    None if prompts_to_read.contains(&ask.id.request) => len - state.prompt.len() + 1,
                    None => {
                        prompts_to_read.push(ask.id.request);
                        len - state.prompt_seq.map_or(self.reusable(ask.id.request), |seq| self.network.len(seq))
                    }
                };
                // To propose k tokens it reads everything and k − 1 of its own.
                let most = ask.room.min((state.room + 1).saturating_sub(len));
                let passes = if at_once { Passes::Once { lag } } else { Passes::Each { lag } };
                Offer { most, evidence: Evidence::Model, passes, or: None }
            })
            .collect()
    }

    fn propose(
        &mut self,
        asks: &[Ask<'_>],
        _: &[Offer],
        lengths: &[usize],
        _: &mut dyn Network,
    ) -> Result<Vec<Drafts>, BackendError> {
        self.prepare_all(asks, lengths)?;
        self.shorten();
        let drawing = (0..asks.len()).filter(|&i| lengths[i] > 0);
        let (places, candidates): (Vec<usize>, Vec<Candidate<'_>>) =
            drawing.filter_map(|i| Some((i, asks[i].candidate(self.sequence(asks[i].id)?)))).unzip();
        let lengths: Vec<usize> = places.iter().map(|&i| lengths[i]).collect();
        let mut drafts = vec![Drafts::NONE; asks.len()];
        for (i, drawn) in places.into_iter().zip(self.network.draft(&candidates, &lengths)?) {
            drafts[i] = drawn;
        }
        Ok(drafts)
    }

    fn settle(&mut self, id: CandidateId, tokens: &[u32]) {
        if let Some(proposed) = &mut self.proposed {
            proposed.saw_last(id.request, tokens);
        }
        if let Some(seq) = self.sequence(id) {
            // The last emitted token has no K/V yet; after a full acceptance neither has the last proposal.
            let valid = self.network.len(seq).min(tokens.len() - 1);
            self.network.set_len(seq, valid);
        }
    }

    fn end(&mut self, id: CandidateId) {
        let state = self.requests.get_mut(&id.request);
        if let Some(seq) = state.and_then(|state| state.sequences.get_mut(id.index)).and_then(Option::take) {
            self.network.close(seq);
        }
    }

    fn finish(&mut self, request: RequestId) {
        if let Some(proposed) = &mut self.proposed {
            proposed.finish(request);
        }
        if let Some(state) = self.requests.remove(&request) {
            for seq in state.sequences.into_iter().flatten() {
                self.network.close(seq);
            }
            if let Some(region) = state.prompt_seq {
                self.prompts.keep(self.network.as_mut(), &state.prompt[..state.prompt.len() - 1], region);
            }
        }
    }

    fn keep_prompts(&mut self, bytes: usize) -> usize {
        self.prompts.clear(self.network.as_mut());
        self.prompts = Prompts::keeping(bytes);
        bytes
    }

    fn measure(&mut self, _: &mut dyn Network, text: &[u32], budget: Duration) -> Result<Times, BackendError> {
        profile::curve(self.network.as_mut(), profile::Pass::Draft, &profile::DRAFT_ROWS, text, budget)
    }

    fn kv_bytes(&self) -> usize {
        self.network.kv_bytes()
    }

    fn footprint(&mut self) -> Result<Footprint, BackendError> {
        footprint(self.network.as_mut())
    }
}
