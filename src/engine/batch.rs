//! The engine: requests wait, join the batch, advance together one step at a time, and leave.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::admission::Room;
use super::draft_length::{Auto, Table};
use super::drafter::{Beginning, Drafter, Evidence};
use super::event::{Event, FinishReason, RequestId, Summary};
use super::prefill::Joining;
use super::profile::Profile;
use super::prompts::Prompts;
use super::request::GenerateOptions;
use super::request_state::Group;
use super::sequence::Sequence;
use super::{EngineError, MAX_CANDIDATES};
use crate::backend::{Footprint, Network, Rows, SeqId, Span, Wanted, footprint};
use crate::model::Tokenizer;

/// Receives what happens to the requests of an engine.
pub type Sink<'a> = &'a mut dyn FnMut(RequestId, Event);

/// A main model, perhaps something that drafts for it, and the requests that they work on.
///
/// Passive: [`submit`](Engine::submit) queues a request, every [`step`](Engine::step) advances all that have
/// joined the batch.
pub struct Engine {
    pub(super) main: Box<dyn Network>,
    pub(super) tokenizer: Arc<Tokenizer>,
    pub(super) eos: Vec<u32>,
    pub(super) drafter: Option<Box<dyn Drafter>>,
    pub(super) choice: Choice,
    /// Prompts of requests that are over.
    pub(super) prompts: Prompts,
    /// Room that requests share.
    pub(super) room: Room,
    /// Positions that the state of a sequence counts as in that room.
    pub(super) state: usize,
    /// Bytes that these may take, of both models.
    kept: usize,
    /// A prompt that may be asked for.
    ahead: Option<Ahead>,
    next: u64,
    /// Requests that have not begun, in the order of their arrival.
    pub(super) waiting: VecDeque<(Vec<u32>, Group)>,
    /// Requests whose prompts are being read, one in each partition of the room.
    pub(super) joining: Vec<Joining>,
    /// Requests with live candidates, and these.
    pub(super) groups: BTreeMap<RequestId, Group>,
    pub(super) live: Vec<Sequence>,
}

/// Measurements that draft lengths are chosen by; later requests go on from those of earlier ones.
#[derive(Default)]
pub(super) struct Choice {
    pub profiled: bool,
    pub auto: Auto,
    pub table: Arc<Table>,
}

/// A prompt that is read while nothing else is to be done.
struct Ahead {
    prompt: Vec<u32>,
    region: Option<SeqId>,
    /// The drafter reads it, too.
    is_begun: bool,
}

impl Engine {
    /// Most candidates that advance together, those of all requests.
    pub const MAX_LIVE: usize = MAX_CANDIDATES;

    /// Time for measuring a pair that comes without a profile.
    const QUICK_PROFILE: Duration = Duration::from_millis(500);

    /// Request under which the drafter knows the prompt that is read ahead.
    const AHEAD: RequestId = RequestId(u64::MAX);

    /// Tokens of it per pass: a request that comes waits for one.
    const AHEAD_SLAB: usize = 64;

    /// An engine for `main`, whose completions end at the ids of `eos`.
    pub fn new(
        main: Box<dyn Network>,
        tokenizer: impl Into<Arc<Tokenizer>>,
        eos: Vec<u32>,
        drafter: Option<Box<dyn Drafter>>,
    ) -> Self {
        Self {
            main,
            tokenizer: tokenizer.into(),
            eos,
            drafter,
            choice: Choice::default(),
            prompts: Prompts::default(),
            room: Room::default(),
            state: 0,
            kept: 0,
            ahead: None,
            next: 0,
            waiting: VecDeque::new(),
            joining: Vec::new(),
            groups: BTreeMap::new(),
            live: Vec::new(),
        }
    }

    /// Keeps prompts of at most so many bytes of K/V, those of both models, for requests that begin alike.
    pub fn keep_prompts(&mut self, bytes: usize) {
        self.kept = bytes;
        let drafter = self.drafter.as_mut().map_or(0, |drafter| drafter.keep_prompts(bytes / 4));
        self.prompts.clear(self.main.as_mut());
        self.prompts = Prompts::keeping(bytes - drafter);
    }

    /// Shares so many positions of keys and values among the requests of many.
    pub fn share(&mut self, positions: usize) {
        self.room = Room::shared(positions);
    }

    /// Positions that requests may hold.
    pub fn most_positions(&self) -> usize {
        self.room.positions()
    }

    /// As [`share`](Self::share), of so many bytes of memory. States of sequences count as positions that
    /// would take as much.
    pub fn share_bytes(&mut self, bytes: usize) -> Result<(), EngineError> {
        let drafter = self.drafter.as_mut().map_or(Ok(Footprint::default()), |drafter| drafter.footprint())?;
        let main = footprint(self.main.as_mut())?;
        let position = (main.position + drafter.position).max(1);
        self.state = (main.sequence + drafter.sequence).div_ceil(position);
        self.share(bytes / position);
        Ok(())
    }

    /// The main model's tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Bytes of K/V that are held now, of both models.
    pub fn kv_bytes(&self) -> usize {
        self.main.kv_bytes() + self.drafter.as_ref().map_or(0, |drafter| drafter.kv_bytes())
    }

    /// Candidates that are being written.
    pub fn live(&self) -> usize {
        self.live.len()
    }

    /// Requests of which nothing is written yet.
    pub fn waiting(&self) -> usize {
        self.waiting.len() + self.joining.len()
    }

    /// A request with these options waits for measurements that are still missing.
    pub fn wants_profile(&self, options: &GenerateOptions) -> bool {
        options.draft_length.is_measured() && self.drafter.is_some() && !self.choice.profiled && self.is_free()
    }

    /// Takes over what was measured of this pair earlier.
    pub fn set_profile(&mut self, profile: &Profile) {
        self.choice.profiled = true;
        self.choice.auto.costs = profile.costs();
        self.choice.table = profile.lengths();
        if let Some(share) = profile.share() {
            self.choice.auto.acceptance.believe(Evidence::Model, share);
        }
    }

    pub(super) fn main_network(&mut self) -> &mut dyn Network {
        self.main.as_mut()
    }

    /// The drafter and the main model.
    pub(super) fn pair(&mut self) -> (Option<&mut (dyn Drafter + 'static)>, &mut dyn Network) {
        (self.drafter.as_deref_mut(), self.main.as_mut())
    }

    /// Queues a request. Its events come out of [`step`](Self::step); the last one is `Done` or `Failed`.
    pub fn submit(&mut self, prompt: &[u32], options: &GenerateOptions) -> Result<RequestId, EngineError> {
        self.check(prompt, options)?;
        self.stop_reading_ahead();
        if self.wants_profile(options) {
            // Before measuring, which submits requests of its own.
            self.choice.profiled = true;
            // A pair that cannot be measured goes without drafts.
            if let Ok(profile) = self.measure(Self::QUICK_PROFILE) {
                self.set_profile(&profile);
            }
        }
        let id = RequestId(self.next);
        self.next += 1;
        let need = self.need(prompt, options);
        let options = GenerateOptions { max_tokens: need.tokens(prompt.len()), ..options.clone() };
        let group = Group::new(id, prompt.len(), need, options, &self.choice.table);
        self.waiting.push_back((prompt.to_vec(), group));
        Ok(id)
    }

    /// Ends a candidate, or all of a request, before the next step; what is there so far is kept. A single
    /// candidate of a request that has not begun ends when it begins. A request that is not known is over
    /// already.
    pub fn cancel(&mut self, request: RequestId, candidate: Option<usize>) {
        let waiting = self.waiting.iter_mut().map(|(_, group)| group);
        let joining = self.joining.iter_mut().map(|joining| &mut joining.group);
        let running = self.groups.values_mut();
        if let Some(group) = waiting.chain(joining).chain(running).find(|group| group.id == request) {
            group.cancel(candidate);
        }
    }

    /// Reads a prompt that may be asked for, in the steps that have nothing else to do; for an engine that
    /// [keeps prompts](Self::keep_prompts). The next request, or another prompt, ends that; tokens read by
    /// then are kept. A prompt that no request can have is left alone.
    pub fn read_ahead(&mut self, prompt: &[u32]) {
        self.stop_reading_ahead();
        if self.prompts.keeps() && self.check(prompt, &GenerateOptions::default()).is_ok() {
            self.ahead = Some(Ahead { prompt: prompt.to_vec(), region: None, is_begun: false });
        }
    }

    fn stop_reading_ahead(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        self.forget(Self::AHEAD);
        if let Some(region) = ahead.region {
            self.prompts.keep(self.main.as_mut(), &ahead.prompt[..ahead.prompt.len() - 1], region);
        }
    }

    /// Reads a little of the prompt that may be asked for, first for the main model. Nobody waits for it, so
    /// that an error only ends it.
    fn step_ahead(&mut self) {
        let Some(ahead) = self.ahead.as_mut() else { return };
        let tokens = &ahead.prompt[..ahead.prompt.len() - 1];
        let done = match (ahead.region, &mut self.drafter) {
            (None, _) => {
                ahead.region = self.prompts.open(self.main.as_mut(), tokens, true).ok();
                ahead.region.is_none()
            }
            (Some(seq), _) if self.main.len(seq) < tokens.len() => {
                let start = self.main.len(seq);
                let len = Self::AHEAD_SLAB.min(tokens.len() - start);
                let spans = [Span { seq, start, len }];
                let rows = Rows::chain(&tokens[start..start + len], &spans);
                self.main.forward(&rows, Wanted::Nothing).is_err()
            }
            (_, Some(drafter)) => {
                if !std::mem::replace(&mut ahead.is_begun, true) {
                    let beginning = Beginning { prompt: &ahead.prompt, reference: &[], n: 1, room: ahead.prompt.len() };
                    drafter.begin(Self::AHEAD, &beginning);
                }
                drafter.prepare(Self::AHEAD).map_or(true, |left| left == 0)
            }
            _ => true,
        };
        if done {
            self.stop_reading_ahead();
        }
    }

    /// Nothing is waiting, running or read ahead.
    pub fn is_idle(&self) -> bool {
        self.is_free() && self.ahead.is_none()
    }

    /// There is no request.
    fn is_free(&self) -> bool {
        self.waiting.is_empty() && self.joining.is_empty() && self.groups.is_empty()
    }

    /// One step of everything: a slab of the prompt that is being read, then one token or more for every live
    /// candidate. Returns false when there is nothing left to do. After an error all requests are gone.
    pub fn step(&mut self, sink: Sink<'_>) -> Result<bool, EngineError> {
        if self.is_free() {
            self.step_ahead();
            return Ok(!self.is_idle());
        }
        self.waiting.retain_mut(|(_, group)| {
            let stays = !group.is_cancelled_whole();
            if !stays {
                group.give_up(sink);
            }
            stays
        });
        let outcome = self.join(sink).and_then(|()| {
            self.sweep(sink);
            if self.live.is_empty() { Ok(()) } else { self.advance(sink) }
        });
        if let Err(error) = outcome {
            self.abort();
            return Err(error.into());
        }
        self.close_finished(sink);
        Ok(!self.is_idle())
    }

    /// Drops all requests and gives back what they hold.
    pub fn abort(&mut self) {
        self.waiting.clear();
        self.stop_reading_ahead();
        for joining in std::mem::take(&mut self.joining) {
            self.main.close(joining.region);
            self.forget(joining.group.id);
        }
        for sequence in std::mem::take(&mut self.live) {
            self.main.close(sequence.seq);
        }
        for (id, group) in std::mem::take(&mut self.groups) {
            group.region.into_iter().for_each(|(region, _)| self.main.close(region));
            self.forget(id);
        }
        // Of prompts, too, nothing is kept that a failure may have touched.
        self.keep_prompts(self.kept);
    }

    pub(super) fn forget(&mut self, request: RequestId) {
        if let Some(drafter) = &mut self.drafter {
            drafter.finish(request);
        }
    }

    /// Writes the candidates of one prompt, with no other request in the batch. `cancelled(i)` is asked
    /// between steps; everything that happens goes to `sink`, the last event being `Done`, which is also
    /// returned.
    pub fn generate(
        &mut self,
        prompt: &[u32],
        options: &GenerateOptions,
        cancelled: &dyn Fn(usize) -> bool,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Summary, EngineError> {
        let request = self.submit(prompt, options)?;
        let mut outcome = Err(EngineError::Lost);
        loop {
            for candidate in (0..options.n).filter(|&i| cancelled(i)) {
                self.cancel(request, Some(candidate));
            }
            let more = self.step(&mut |id, event| {
                if id != request {
                    return;
                }
                match &event {
                    Event::Done(summary) => outcome = Ok(summary.as_ref().clone()),
                    Event::Failed(why) => outcome = Err(EngineError::Failed(why.clone())),
                    _ => {}
                }
                sink(event);
            })?;
            if !more {
                return outcome;
            }
        }
    }

    /// Takes cancelled and overdue candidates out of the batch.
    fn sweep(&mut self, sink: Sink<'_>) {
        let mut live = std::mem::take(&mut self.live);
        live.retain_mut(|sequence| {
            let Some(group) = self.groups.get(&sequence.id.request) else { return false };
            let reason = if group.is_cancelled(sequence.id.index) {
                FinishReason::Cancelled
            } else if group.is_over_budget() {
                FinishReason::Budget
            } else {
                return true;
            };
            sequence.flush(&self.tokenizer);
            self.leave(sequence, reason, sink);
            false
        });
        self.live = live;
    }

    /// Gives back what a candidate that has ended held, and reports its end.
    pub(super) fn leave(&mut self, sequence: &Sequence, reason: FinishReason, sink: Sink<'_>) {
        self.main.close(sequence.seq);
        if !reason.is_cut() {
            self.choice.auto.ended(sequence.generated());
        }
        if let Some(drafter) = &mut self.drafter {
            drafter.end(sequence.id);
        }
        let request = sequence.id.request;
        if let Some(group) = self.groups.get_mut(&request) {
            group.finished(sequence, reason, sink);
        }
    }

    /// Closes the requests that have no live candidate.
    fn close_finished(&mut self, sink: Sink<'_>) {
        let over: Vec<RequestId> = self.groups.iter().filter(|(_, group)| group.is_over()).map(|(&id, _)| id).collect();
        for id in over {
            if let Some(group) = self.groups.remove(&id) {
                if let Some((region, prompt)) = &group.region {
                    self.prompts.keep(self.main.as_mut(), &prompt[..prompt.len() - 1], *region);
                }
                self.forget(id);
                group.done(sink);
            }
        }
    }
}
