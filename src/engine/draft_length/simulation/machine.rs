//! What takes time on the synthetic machine: a main network that verifies, and what drafts for it.

use std::sync::{Arc, Mutex};

use super::super::cost::Costs;
use super::super::passes;
use super::{DRIFT_REQUEST, Done, Setting, uniform};
use crate::backend::{BackendError, Candidate, Drafts, Network, NetworkInfo, Rows, SeqId, Wanted};
use crate::engine::RequestId;
use crate::engine::drafter::{Ask, Beginning, CandidateId, Drafter, Evidence, Offer};
use crate::sampling::{Accepted, Draft};

/// Ends a candidate.
pub const EOS: u32 = 1;
/// Any other token.
const TEXT: u32 = 0;

pub struct Machine {
    setting: Setting,
    truth: Costs,
    seed: usize,
    request: usize,
    /// Most tokens of the request's candidates.
    most: usize,
    readings: usize,
    /// How many times as long everything takes, and until when it does: ms of the first request's beginning.
    slower: (f64, f64),
    /// What the clock shows, in ms.
    pub now: f64,
    /// What this step's drafts rest on, in the order of the live candidates; none where nothing was drafted.
    evidence: Vec<Evidence>,
    /// Steps without drafts since the last one with them.
    plain_for: usize,
    pub done: Done,
}

impl Machine {
    pub fn new(setting: Setting, truth: Costs, seed: usize) -> Self {
        Self {
            setting,
            truth,
            seed,
            request: 0,
            most: 0,
            readings: 0,
            slower: (1.0, 0.0),
            now: 0.0,
            evidence: Vec::new(),
            plain_for: 2,
            done: Done::default(),
        }
    }

    /// The next request, for candidates of at most this many tokens.
    pub fn begin(&mut self, request: usize, most: usize) {
        (self.request, self.most, self.plain_for, self.done) = (request, most, 2, Done::default());
    }

    fn speed(&self) -> f64 {
        self.slower.0 * if self.setting.drifts && self.request + 1 >= DRIFT_REQUEST { 1.3 } else { 1.0 }
    }

    /// Something takes `ms` in the mean; the clock shows a reading of it.
    fn spend(&mut self, ms: f64) {
        self.done.ms += ms;
        self.readings += 1;
        let draw = |what| uniform([self.seed, 2, self.request, self.readings, what]);
        // Box and Muller.
        let normal = (-2.0 * draw(0).max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * draw(1)).cos();
        let interruption = if draw(2) < 0.02 { 2.0 + 3.0 * draw(3) } else { 1.0 };
        self.now += ms * self.speed() * (self.setting.noise * normal).exp() * interruption;
    }

    /// A step ends. While time passes others come and go: they stay for 10 to 200 steps.
    fn pass(&mut self, drafts: bool) {
        if self.setting.shared && self.now >= self.slower.1 {
            let draw = |what| uniform([self.seed, 8, self.now as usize, self.readings, what]);
            let steps = 10.0 * f64::powf(20.0, draw(0));
            self.slower = (
                if self.slower.0 > 1.0 { 1.0 } else { 1.15 + 0.4 * draw(1) },
                self.now + steps * self.truth.main.ms(self.setting.candidates),
            );
        }
        self.done.steps += 1;
        self.done.drafted += usize::from(drafts);
        self.done.changes += usize::from(drafts && self.plain_for >= 2) + usize::from(!drafts && self.plain_for == 1);
        self.plain_for = if drafts { 0 } else { self.plain_for + 1 };
    }

    /// Tokens of a candidate.
    fn length(&self, candidate: usize) -> usize {
        (self.most as f64 * (1.0 - 0.4 * uniform([self.seed, 7, self.request, candidate, 0]))).ceil() as usize
    }

    /// Share that is accepted of draft token `j` of a candidate, on this evidence.
    fn share(&self, candidate: usize, evidence: Evidence, j: usize) -> f64 {
        let own = 0.12 * uniform([self.seed, 3, self.request, candidate, 0]) - 0.06;
        let later = if self.setting.drifts && self.request >= DRIFT_REQUEST { -0.25 } else { 0.0 };
        let at = match evidence {
            Evidence::Match { length } | Evidence::Sibling { length } => length - 1,
            Evidence::Model => j,
        };
        self.setting.pair.survival[at.min(self.setting.pair.survival.len() - 1)] + own + later
    }

    fn accepted(&self, candidate: usize, evidence: Evidence, position: usize, drafted: usize) -> usize {
        let luck = |j: usize| uniform([self.seed, 4, self.request, candidate, position + j]);
        (0..drafted).take_while(|&j| luck(j) < self.share(candidate, evidence, j)).count()
    }
}

/// The main network.
pub struct Verifier(pub Arc<Mutex<Machine>>);

impl Network for Verifier {
    fn verify(&mut self, candidates: &[Candidate<'_>], drafts: &[Drafts]) -> Result<Vec<Accepted>, BackendError> {
        let mut machine = self.0.lock().unwrap();
        let rows = drafts.iter().map(|drafts| drafts.count() + 1).sum();
        let ms = machine.truth.main.ms(rows);
        machine.spend(ms);
        machine.pass(rows > candidates.len());
        let accepted = |(i, candidate): (usize, &Candidate<'_>)| {
            let (index, position) = (candidate.index as usize, candidate.tokens.len() - machine.setting.prompt);
            let evidence = machine.evidence.get(i).copied().unwrap_or(Evidence::Model);
            let accepted = machine.accepted(index, evidence, position, drafts[i].count());
            let end = machine.length(index) - position - 1;
            let tokens: Vec<u32> = (0..=accepted).map(|i| if i == end { EOS } else { TEXT }).collect();
            Accepted { accepted, logprobs: vec![0.0; tokens.len()], tokens, ..Accepted::default() }
        };
        let accepted = candidates.iter().enumerate().map(accepted).collect();
        machine.evidence.clear();
        Ok(accepted)
    }

    fn vocab_size(&self) -> usize {
        2
    }

    fn context(&self) -> usize {
        1 << 16
    }

    fn open(&mut self, _: usize) -> Result<SeqId, BackendError> {
        Ok(SeqId(0))
    }

    fn fork(&mut self, prompt: SeqId, n: usize, _: usize) -> Result<Vec<SeqId>, BackendError> {
        Ok(vec![prompt; n])
    }

    fn forward(&mut self, _: &Rows<'_>, _: Wanted) -> Result<usize, BackendError> {
        Ok(0)
    }

    fn close(&mut self, _: SeqId) {}

    fn kv_bytes(&self) -> usize {
        0
    }

    fn info(&self) -> NetworkInfo {
        unimplemented!("the engine does not ask")
    }

    fn resize(&mut self, _: SeqId, _: usize, _: usize) -> Result<(), BackendError> {
        unimplemented!("the engine does not ask")
    }

    fn draft(&mut self, _: &[Candidate<'_>], _: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        unimplemented!("the engine does not ask")
    }

    fn len(&self, _: SeqId) -> usize {
        0
    }

    fn set_len(&mut self, _: SeqId, _: usize) {
        unimplemented!("the engine does not ask")
    }

    fn keep(&mut self, _: SeqId, _: &[u32]) -> Result<(), BackendError> {
        unimplemented!("the engine does not ask")
    }
}

/// The draft model of a pair, or lookups.
pub struct Proposer {
    machine: Arc<Mutex<Machine>>,
    prompt: usize,
    /// Whether it has read the prompt but its last token.
    prepared: bool,
    /// Tokens that it has read of each candidate, once it has read any.
    read: Vec<Option<usize>>,
    offers: Vec<Offer>,
}

impl Proposer {
    pub fn new(machine: Arc<Mutex<Machine>>) -> Self {
        Self { machine, prompt: 0, prepared: false, read: Vec::new(), offers: Vec::new() }
    }

    fn offered(&self, machine: &Machine, ask: &Ask<'_>, lag: usize) -> Offer {
        let position = ask.tokens.len() - self.prompt;
        // It sees the end coming.
        let most = machine.length(ask.id.index) - position - 1;
        if !machine.setting.pair.draft.is_empty() {
            return Offer { most, evidence: Evidence::Model, lag: Some(lag) };
        }
        let draw = uniform([machine.seed, 5, machine.request, ask.id.index, position]);
        if draw < 0.5 {
            return Offer::NONE;
        }
        let length = 1 + (16.0 * (draw - 0.5)) as usize;
        Offer { most: most.min(10), evidence: Evidence::Match { length }, lag: None }
    }
}

impl Drafter for Proposer {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn begin(&mut self, _: RequestId, beginning: &Beginning<'_>) {
        (self.prompt, self.prepared, self.read) = (beginning.prompt.len(), false, vec![None; beginning.n]);
    }

    fn prepare(&mut self, _: RequestId) -> Result<usize, BackendError> {
        let mut machine = self.machine.lock().unwrap();
        if !machine.setting.pair.draft.is_empty() {
            let ms = machine.truth.read_ms(self.prompt - 1);
            machine.spend(ms);
        }
        self.prepared = true;
        Ok(0)
    }

    fn offer(&mut self, asks: &[Ask<'_>]) -> Vec<Offer> {
        let machine = self.machine.lock().unwrap();
        let mut prepared = self.prepared;
        let offer = |ask: &Ask<'_>| {
            // The prompt is read once for all.
            let before = if std::mem::replace(&mut prepared, true) { self.prompt - 1 } else { 0 };
            self.offered(&machine, ask, ask.tokens.len() - self.read[ask.id.index].unwrap_or(before))
        };
        let offers: Vec<Offer> = asks.iter().map(offer).collect();
        drop(machine);
        self.offers.clone_from(&offers);
        offers
    }

    fn propose(&mut self, asks: &[Ask<'_>], lengths: &[usize]) -> Result<Vec<Drafts>, BackendError> {
        let mut machine = self.machine.lock().unwrap();
        let (passes, unread) = passes(lengths, &self.offers);
        if !passes.is_empty() {
            let ms = machine.truth.read_ms(unread);
            machine.spend(ms);
            for rows in passes {
                let ms = machine.truth.draft.ms(rows);
                machine.spend(ms);
            }
            self.prepared = true;
        }
        machine.evidence = self.offers.iter().map(|offer| offer.evidence).collect();
        for (ask, &length) in asks.iter().zip(lengths).filter(|(_, length)| **length > 0) {
            self.read[ask.id.index] = Some(ask.tokens.len() + length - 1);
        }
        Ok(lengths.iter().map(|&length| Drafts::Host(vec![Draft::certain(TEXT); length])).collect())
    }

    fn settle(&mut self, id: CandidateId, tokens: &[u32]) {
        if let Some(Some(read)) = self.read.get_mut(id.index) {
            *read = (*read).min(tokens.len() - 1);
        }
    }

    fn end(&mut self, _: CandidateId) {}

    fn finish(&mut self, _: RequestId) {}
}
