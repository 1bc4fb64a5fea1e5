//! From a request to its candidates: it waits for room, its prompt is read a slab at a time while others
//! write, and then its candidates join the batch.

use std::sync::Arc;
use std::time::Instant;

use super::admission::{Held, Need, Partition};
use super::batch::Sink;
use super::drafter::{Beginning, CandidateId};
use super::event::Event;
use super::request::GenerateOptions;
use super::request_state::Group;
use super::sequence::Sequence;
use super::{Engine, EngineError, MAX_CANDIDATES, PREFILL_SLAB, SCORED_SLAB};
use crate::backend::{BackendError, Rows, SeqId, Span, Wanted};
use crate::sampling::Scores;

/// A request whose prompt is being read.
pub(super) struct Joining {
    prompt: Vec<u32>,
    pub group: Group,
    pub region: SeqId,
    /// Prompt tokens that the main model has read.
    read: usize,
    /// Reading of the prompt by the drafter before the first step.
    drafter: Preparation,
    /// How probable what has been read is, where that was asked for.
    scores: Option<Scores>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Preparation {
    /// It has read it, or may never have to.
    NotNeeded,
    /// It has this many prompt tokens to read yet.
    Left(usize),
}

impl Engine {
    /// Why a request cannot be carried out, if that is so.
    pub(super) fn check(&self, prompt: &[u32], options: &GenerateOptions) -> Result<(), EngineError> {
        let fail = |sentence: String| Err(EngineError::Request(sentence));
        let context = self.main.context();
        let vocab = self.main.vocab_size();
        if prompt.is_empty() {
            return fail("the prompt is empty: give the model at least one token to continue".to_owned());
        }
        if prompt.len() >= context {
            return fail(format!(
                "the prompt has {} tokens, but the model reads at most {context} and needs room to write: shorten the prompt",
                prompt.len()
            ));
        }
        if let Some(id) = prompt.iter().find(|&&id| id as usize >= vocab) {
            return fail(format!("the prompt has token id {id}, but the model knows ids from 0 to {}", vocab - 1));
        }
        if !(1..=MAX_CANDIDATES).contains(&options.n) {
            return fail(format!("{} candidates asked for, expected 1 to {MAX_CANDIDATES}", options.n));
        }
        if options.max_tokens == 0 {
            return fail("max-tokens is 0, expected at least 1".to_owned());
        }
        if (options.alternatives > 0 || options.score_prompt) && !self.main.tells_logits() {
            return fail(format!(
                "alternatives to tokens and log-probabilities of prompts are not told on {0}: leave them out, or use --device cpu",
                self.main.info().device
            ));
        }
        if let Some(why) = self.room.refuses(&self.need(prompt, options)) {
            return fail(why);
        }
        options.sampling.check().map_err(EngineError::Request)
    }

    /// Room that a request needs; one without a length may have all that fits.
    pub(super) fn need(&self, prompt: &[u32], options: &GenerateOptions) -> Need {
        let need = Need { state: self.state, ..Need::new(prompt.len(), options, self.main.context()) };
        if options.max_tokens == usize::MAX { self.room.cut(need) } else { need }
    }

    /// Room held in a partition; `None` while a prompt is being read there.
    fn held(&self, partition: Partition) -> Option<Held> {
        if self.joining.iter().any(|joining| joining.group.partition == partition) {
            return None;
        }
        let mut held = Held::default();
        for group in self.groups.values().filter(|group| group.partition == partition) {
            let live = self.live.iter().filter(|sequence| sequence.id.request == group.id).count();
            held.candidates += live;
            held.positions += group.need.prompt + group.need.state + live * group.need.candidate();
        }
        Some(held)
    }

    /// Candidates in places that are reserved for small requests.
    pub fn small(&self) -> usize {
        let is_small = |group: &Group| group.partition == Partition::Reserved;
        self.live.iter().filter_map(|s| self.groups.get(&s.id.request)).filter(|group| is_small(group)).count()
    }

    /// Positions of keys and values that are held for requests.
    pub fn positions(&self) -> usize {
        let joining = self.joining.iter().map(|joining| joining.group.need.positions());
        let prompts = self.groups.values().map(|group| group.need.prompt + group.need.state);
        let live = self.live.iter().filter_map(|s| self.groups.get(&s.id.request));
        let tails = live.map(|group| group.need.candidate());
        joining.chain(prompts).chain(tails).sum()
    }

    /// Lets requests begin for which there is room, reads a slab of each prompt that is being read, and makes
    /// the candidates of those that have been.
    pub(super) fn join(&mut self, sink: Sink<'_>) -> Result<(), BackendError> {
        while let Some((number, partition)) = self.next() {
            let Some((prompt, mut group)) = self.waiting.remove(number) else { break };
            group.partition = partition;
            self.open(prompt, group, sink);
        }
        let mut at = 0;
        while at < self.joining.len() {
            if self.joining[at].group.is_given_up() {
                let Joining { prompt, mut group, region, .. } = self.joining.remove(at);
                self.prompts.keep(self.main.as_mut(), &prompt[..prompt.len() - 1], region);
                self.forget(group.id);
                group.give_up(sink);
            } else if self.read(at, sink)? {
                let joining = self.joining.remove(at);
                self.begin(joining, sink);
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// Which of those that wait begins next.
    fn next(&self) -> Option<(usize, Partition)> {
        if self.waiting.is_empty() {
            return None;
        }
        let needs: Vec<Need> = self.waiting.iter().map(|(_, group)| group.need).collect();
        self.room.next(&needs, |partition| self.held(partition))
    }

    /// Reads a slab of a prompt; whether all of it has been read.
    fn read(&mut self, at: usize, sink: Sink<'_>) -> Result<bool, BackendError> {
        let joining = &mut self.joining[at];
        let (total, request) = (joining.prompt.len(), joining.group.id);
        let shared = total - 1;
        if joining.read < shared {
            let start = joining.read;
            let most = if joining.scores.is_some() { SCORED_SLAB } else { PREFILL_SLAB };
            let len = most.min(shared - start);
            let spans = [Span { seq: joining.region, start, len }];
            let rows = Rows::chain(&joining.prompt[start..start + len], &spans);
            joining.read += len;
            match &mut joining.scores {
                None => drop(self.main.forward(&rows, Wanted::Nothing)?),
                Some(scores) => {
                    let next = &joining.prompt[start + 1..=start + len];
                    self.main.score(&rows, next, joining.group.options.alternatives, scores)?;
                }
            }
        } else if let (Preparation::Left(_), Some(drafter)) = (joining.drafter, &mut self.drafter) {
            joining.drafter = match drafter.prepare(request)? {
                0 => Preparation::NotNeeded,
                left => Preparation::Left(left),
            };
        }
        let done = match joining.drafter {
            Preparation::NotNeeded => joining.read,
            Preparation::Left(left) => usize::midpoint(joining.read, total.saturating_sub(left)),
        };
        if joining.read < shared || joining.drafter != Preparation::NotNeeded {
            sink(request, Event::Prefill { done, total });
            return Ok(false);
        }
        Ok(true)
    }

    /// Makes room for a prompt. The last token of the prompt is the first row of the first step, so that
    /// every candidate always has K/V for all its tokens but the last.
    fn open(&mut self, prompt: Vec<u32>, mut group: Group, sink: Sink<'_>) {
        group.start = Instant::now();
        let (n, total) = (group.options.n, prompt.len());
        if group.is_given_up() {
            group.give_up(sink);
            return;
        }
        let scores = group.options.score_prompt.then(Scores::default);
        let region = match self.prompts.open(self.main.as_mut(), &prompt[..total - 1], scores.is_none()) {
            Ok(region) => region,
            Err(error) => return sink(group.id, Event::Failed(error.to_string())),
        };
        let mut drafts = false;
        if let Some(drafter) = self.drafter.as_mut().filter(|_| !group.is_plain()) {
            let room = group.need.prompt + group.need.tail;
            let reference = &group.options.reference;
            drafter.begin(group.id, &Beginning { prompt: &prompt, reference, n, room });
            let unread = total - drafter.reusable(group.id);
            // Requests that wait or join will be written beside it.
            let coming = self.waiting.iter().map(|(_, group)| group).chain(self.joining.iter().map(|j| &j.group));
            let others = self.live.len() + coming.map(|group| group.options.n).sum::<usize>();
            let auto = &self.choice.auto;
            let would_draft = || auto.would_draft((n, others), group.options.max_tokens, unread);
            drafts = group.policy.length(n).map_or_else(would_draft, |length| length > 0);
        }
        let read = self.main.len(region);
        group.stats.reused(read);
        sink(group.id, Event::Prefill { done: read, total });
        let drafter = if drafts { Preparation::Left(total) } else { Preparation::NotNeeded };
        self.joining.push(Joining { prompt, group, region, read, drafter, scores });
    }

    /// Makes the candidates of a prompt that has been read.
    fn begin(&mut self, joining: Joining, sink: Sink<'_>) {
        let Joining { prompt, mut group, region, scores, .. } = joining;
        let Need { candidates: n, tail, .. } = group.need;
        let forks = self.main.fork(region, n, tail).or_else(|_| {
            // Cached prompts give way to this request.
            self.prompts.clear(self.main.as_mut());
            self.main.fork(region, n, tail)
        });
        let forks = match forks {
            Ok(forks) => forks,
            Err(error) => {
                self.main.close(region);
                self.forget(group.id);
                return sink(group.id, Event::Failed(error.to_string()));
            }
        };
        sink(group.id, Event::Prefill { done: prompt.len(), total: prompt.len() });
        if let Some(rest) = scores {
            sink(group.id, Event::Scored { first: prompt[0], rest });
        }
        for (index, seq) in forks.into_iter().enumerate() {
            let id = CandidateId { request: group.id, index };
            let options = Arc::clone(&group.options);
            self.live.push(Sequence::new(id, seq, &prompt, options, self.tokenizer.stream()));
        }
        group.prefilled(region, prompt);
        self.groups.insert(group.id, group);
    }
}
