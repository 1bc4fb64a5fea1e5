//! Drafting and verification where the logits are: tokens are drawn on the GPU, drafts and their
//! distributions stay there, and what crosses to the host is a token and its log-probability for every row
//! that was verified.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::CudaNetwork;
use super::gpu::Buffer;
use super::kernels::{self, Choice, Chosen, Filters, Patch, Pointer};
use super::plan::round_up;
use super::queue::{Again, Queue};
use super::work::Work;
use crate::backend::{BackendError, Candidate, Drafts, HostLogits, Network, Rows, Span, Wanted};
use crate::sampling::{Accept, Accepted, Draft, Proposal, alternatives};

/// Task of a kernel for a row: `mode` in `kernels/sampling.cu`.
const DRAW: i32 = 0;
const VERIFY: i32 = 1;
const OWN: i32 = 2;
const PADDING: i32 = 3;

/// Drafts of several candidates in the memory of a GPU.
pub struct Batch {
    /// Tokens `[candidates][most]`.
    drawn: Buffer,
    /// Distributions that they were drawn from `[candidates][most][vocab]`; `[candidates][vocab]` where
    /// nobody will ask for them.
    probs: Buffer,
    /// Room for drafts of a candidate.
    most: usize,
    vocab: usize,
}

impl Batch {
    fn token(&self, place: usize, number: usize) -> Pointer {
        self.drawn.at() + ((place * self.most + number) * size_of::<u32>()) as u64
    }

    fn probs(&self, place: usize, number: usize, kept: bool) -> Pointer {
        let number = if kept { place * self.most + number } else { place };
        self.probs.at() + (number * self.vocab * size_of::<f32>()) as u64
    }
}

/// Working memory of choices.
pub struct Choosing {
    scratch: Work,
    probs: Work,
    chosen: Work,
    /// The last drafts.
    batch: Option<(u64, Arc<Batch>)>,
}

impl Choosing {
    /// None yet.
    pub fn new(queue: &Arc<Queue>) -> Self {
        let work = || Work::new(queue);
        Self { scratch: work(), probs: work(), chosen: work(), batch: None }
    }
}

/// True if the distributions of drafts are asked for when they are verified.
fn kept(candidates: &[Candidate<'_>]) -> bool {
    candidates.iter().any(|candidate| candidate.rules.accept == Accept::Rejection)
}

/// A candidate's tokens, if a penalty reads them.
fn history<'a>(candidate: &Candidate<'a>) -> &'a [u32] {
    if candidate.rules.sampling.repetition_penalty.is_some() { candidate.tokens } else { &[] }
}

/// Values that all choices of a candidate have in common.
fn choice(candidate: &Candidate<'_>, history_at: Pointer, drafts: Pointer, vocab: usize) -> Choice {
    Choice {
        history: history_at,
        drafts,
        draft_probs: 0,
        probs: 0,
        seed: candidate.rules.seed,
        candidate: candidate.index,
        position: candidate.tokens.len() as u32,
        filters: Filters::new(candidate.rules.sampling, vocab),
        history_len: history(candidate).len() as i32,
        row: 0,
        number: 0,
        mode: DRAW,
        coupled: i32::from(candidate.rules.accept == Accept::Coupled),
        vocab: vocab as i32,
        draft_vocab: 0,
    }
}

impl CudaNetwork {
    /// Asks for a choice each; where the results will be.
    fn choose(&mut self, mut choices: Vec<Choice>) -> Result<Pointer, BackendError> {
        let vocab = self.spec.vocab_size;
        if let Some(&first) = choices.first() {
            round_up(&mut choices, Choice { mode: PADDING, ..first });
        }
        let Choosing { scratch, chosen, .. } = &mut self.choosing;
        let chosen = chosen.bytes(choices.len() * size_of::<Chosen>())?;
        let params = kernels::ChooseTokens {
            logits: self.logits.floats(0)?,
            choices: self.queue.place(&choices)?,
            scratch: scratch.floats(choices.len() * vocab)?,
            chosen,
            vocab: vocab as i32,
            padding: 0,
        };
        self.queue.launch(&kernels::CHOOSE_TOKENS, [choices.len(), 1, 1], kernels::CHOICE_MEMORY, params);
        Ok(chosen)
    }

    /// Places of tokens.
    fn place_tokens<'a>(&self, lists: impl Iterator<Item = &'a [u32]>) -> Result<Vec<Pointer>, BackendError> {
        lists.map(|list| if list.is_empty() { Ok(0) } else { self.queue.place(list) }).collect()
    }

    /// See [`Network::draft`](crate::backend::Network::draft). Nothing is waited for.
    pub(super) fn draw_drafts(
        &mut self,
        candidates: &[Candidate<'_>],
        lengths: &[usize],
    ) -> Result<Vec<Drafts>, BackendError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let vocab = self.spec.vocab_size;
        let most = lengths.iter().copied().max().unwrap_or(0);
        if most == 0 {
            return Ok(vec![Drafts::NONE; lengths.len()]);
        }
        let kept = kept(candidates);
        self.queue.begin()?;
        // The drafts before are gone: their memory is used again where it is large enough.
        let last = self.choosing.batch.take().and_then(|(_, batch)| Arc::into_inner(batch));
        let (tokens, rooms) = (candidates.len() * most * size_of::<u32>(), candidates.len() * vocab * size_of::<f32>());
        let rooms = if kept { rooms * most } else { rooms };
        let (drawn, probs) = match last {
            Some(Batch { drawn, probs, .. }) if drawn.bytes() >= tokens && probs.bytes() >= rooms => (drawn, probs),
            _ => (self.queue.alloc(tokens)?, self.queue.alloc(rooms)?),
        };
        let batch = Batch { drawn, probs, most, vocab };
        let histories = self.place_tokens(candidates.iter().map(history))?;
        for round in 0..most {
            let (mut tokens, mut spans, mut patches, mut choices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (i, candidate) in candidates.iter().enumerate().filter(|(i, _)| lengths[*i] > round) {
                let (start, before) = (self.sequences.len(candidate.seq), tokens.len());
                if round == 0 {
                    // Padded vocabularies may differ in size.
                    let readable = |&token: &u32| if (token as usize) < vocab { token } else { 0 };
                    tokens.extend(candidate.unread(start)?.iter().map(readable));
                } else {
                    patches.push(Patch { token: batch.token(i, round - 1), row: tokens.len() as i32, padding: 0 });
                    tokens.push(0);
                }
                spans.push(Span { seq: candidate.seq, start, len: tokens.len() - before });
                let common = choice(candidate, histories[i], batch.token(i, 0), candidate.rules.vocab.min(vocab));
                choices.push(Choice {
                    probs: batch.probs(i, round, kept),
                    position: common.position + round as u32,
                    row: choices.len() as i32,
                    number: round as i32,
                    ..common
                });
            }
            self.run(&Rows::chain(&tokens, &spans), Wanted::Last, &patches, Again::Likely)?;
            self.choose(choices)?;
        }
        let started = self.queue.start(Again::Likely);
        started.map_err(|error| self.failed(candidates.iter().map(|candidate| candidate.seq), error))?;
        let (number, batch) = (NUMBER.fetch_add(1, Ordering::Relaxed), Arc::new(batch));
        let mut batches = self.queue.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.retain(|_, batch| batch.strong_count() > 0);
        batches.insert(number, Arc::downgrade(&batch));
        self.choosing.batch = Some((number, batch));
        let held = |(place, &len): (usize, &usize)| match len {
            0 => Drafts::NONE,
            len => Drafts::Held { batch: number, place, len },
        };
        Ok(lengths.iter().enumerate().map(held).collect())
    }

    /// The drafts of a candidate: where their tokens are, or which they are, and what they were drawn from.
    fn found(&self, drafts: &Drafts) -> Result<Option<(Arc<Batch>, usize)>, BackendError> {
        let Drafts::Held { batch, place, .. } = drafts else { return Ok(None) };
        let batches = self.queue.batches.lock().unwrap_or_else(PoisonError::into_inner);
        match batches.get(batch).and_then(std::sync::Weak::upgrade) {
            Some(batch) => Ok(Some((batch, *place))),
            // They are those of another device, which this says.
            None => drafts.host().map(|_| None),
        }
    }

    /// See [`Network::verify`](crate::backend::Network::verify); `None` if distributions lie in host memory.
    pub(super) fn verify_drafts(
        &mut self,
        candidates: &[Candidate<'_>],
        drafts: &[Drafts],
    ) -> Result<Option<Vec<Accepted>>, BackendError> {
        let drawn_elsewhere = |draft: &Draft| draft.proposal != Proposal::Certain;
        if drafts.iter().any(|drafts| matches!(drafts, Drafts::Host(list) if list.iter().any(drawn_elsewhere))) {
            return Ok(None);
        }
        let vocab = self.spec.vocab_size;
        let kept = kept(candidates);
        let copied: Vec<Vec<u32>> = drafts
            .iter()
            .map(|drafts| drafts.host().unwrap_or_default().iter().map(|draft| draft.token).collect())
            .collect();
        self.queue.begin()?;
        let histories = self.place_tokens(candidates.iter().map(history))?;
        let copies = self.place_tokens(copied.iter().map(|tokens| &tokens[..]))?;

        let (mut tokens, mut spans, mut patches, mut choices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut firsts = Vec::with_capacity(candidates.len());
        for (i, candidate) in candidates.iter().enumerate() {
            let (start, before) = (self.sequences.len(candidate.seq), tokens.len());
            tokens.extend(candidate.unread(start)?);
            let first = tokens.len() - 1;
            firsts.push(first);
            let held = self.found(&drafts[i])?;
            let count = drafts[i].count();
            let at = held.as_ref().map_or(copies[i], |(batch, place)| batch.token(*place, 0));
            for number in 0..count {
                let known = copied[i].get(number).copied();
                if known.is_none() {
                    let token = at + (number * size_of::<u32>()) as u64;
                    patches.push(Patch { token, row: tokens.len() as i32, padding: 0 });
                }
                tokens.push(known.unwrap_or(0));
            }
            spans.push(Span { seq: candidate.seq, start, len: tokens.len() - before });
            let common = choice(candidate, histories[i], at, vocab);
            for number in 0..=count {
                let drawn = held.as_ref().filter(|_| kept && number < count);
                choices.push(Choice {
                    draft_probs: drawn.map_or(0, |(batch, place)| batch.probs(*place, number, true)),
                    draft_vocab: drawn.map_or(0, |(batch, _)| batch.vocab as i32),
                    position: common.position + number as u32,
                    row: (first + number) as i32,
                    number: number as i32,
                    mode: if number < count { VERIFY } else { OWN },
                    ..common
                });
            }
        }
        let rooms = self.choosing.probs.floats(choices.len() * vocab)?;
        for (number, choice) in choices.iter_mut().enumerate() {
            choice.probs = rooms + (number * vocab * size_of::<f32>()) as u64;
        }
        self.run(&Rows::chain(&tokens, &spans), Wanted::All, &patches, Again::Likely)?;
        let mut chosen = vec![Chosen { token: 0, logprob: 0.0, accepted: 0 }; choices.len()];
        let there = self.choose(choices)?;
        let done = self.queue.start(Again::Likely).and_then(|()| self.queue.read(there, &mut chosen));
        done.map_err(|error| self.failed(candidates.iter().map(|candidate| candidate.seq), error))?;

        let mut rows = chosen.into_iter();
        let mut all = Vec::with_capacity(candidates.len());
        for ((candidate, drafts), first) in candidates.iter().zip(drafts).zip(firsts) {
            let of: Vec<Chosen> = rows.by_ref().take(drafts.count() + 1).collect();
            let accepted = of.iter().take_while(|row| row.accepted != 0).count();
            let of = &of[..=accepted];
            let (tokens, logprobs) = (of.iter().map(|row| row.token), of.iter().map(|row| row.logprob));
            let (tokens, logprobs) = (tokens.collect(), logprobs.collect());
            // The only reason for logits to cross.
            let alternatives = match candidate.rules.alternatives {
                0 => Vec::new(),
                count => (0..=accepted).map(|i| alternatives(self.logits(first + i), count)).collect(),
            };
            all.push(Accepted { accepted, tokens, logprobs, alternatives });
            self.set_len(candidate.seq, candidate.tokens.len() + accepted);
        }
        Ok(Some(all))
    }
}
