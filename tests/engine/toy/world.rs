//! An engine with requests that come and go, checked after every step: each candidate against the oracle, the
//! K/V of the network against the tokens, the events against their order.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use bass_tui::engine::{Drafter, Engine, FinishReason, GenerateOptions, ModelDrafter, RequestId};

use super::cases::{Kind, PLAIN, profile};
use super::oracle::{self, Written, spell};
use super::scripted::right_and_wrong;
use super::{EOS, Order, Outcome, Scripted, Toy, Watch, tokenizer};

pub const CONTEXT: usize = 2048;

pub struct World {
    pub engine: Engine,
    pub main: Watch,
    pub draft: Watch,
    pub requests: BTreeMap<RequestId, SubmittedRequest>,
    truth: Truth,
}

/// Knowledge of scripts: by request and candidate, the prompt and its continuation without any stop.
type Truth = Arc<Mutex<HashMap<RequestId, Vec<Vec<u32>>>>>;

pub struct SubmittedRequest {
    pub prompt: Vec<u32>,
    pub order: Order,
    pub outcome: Outcome,
    pub want: Vec<Written>,
    /// Tokens that a candidate had when it was cancelled.
    cancelled: Vec<Option<usize>>,
}

impl World {
    /// Scripts of this world are random, by `seed`.
    pub fn new(kind: Kind, seed: u64) -> Self {
        let (main, model) = (Toy::main().wandering(), Toy::draft().wandering());
        let (main_watch, draft_watch) = (main.watch(), model.watch());
        let truth = Truth::default();
        let drafter: Box<dyn Drafter> = match kind {
            Kind::Scripted => Box::new(random_script(seed, Arc::clone(&truth)).stingy(4)),
            other => other.drafter(|| Box::new(ModelDrafter::new("toy", Box::new(model))), &[]),
        };
        let mut engine = Engine::new(Box::new(main), tokenizer(), vec![EOS], Some(drafter));
        engine.set_profile(&profile());
        Self { engine, main: main_watch, draft: draft_watch, requests: BTreeMap::new(), truth }
    }

    pub fn submit(&mut self, prompt: &[u32], options: &GenerateOptions) -> RequestId {
        let id = self.engine.submit(prompt, options).unwrap();
        let table = Toy::main().wandering().table;
        let mut endless =
            GenerateOptions { max_tokens: options.max_tokens + 8, draft_length: PLAIN, ..options.clone() };
        endless.stop = bass_tui::engine::StopRules { ignore_eos: true, ..Default::default() };
        let write = |options: &GenerateOptions| -> Vec<Written> {
            (0..options.n).map(|c| oracle::write(&table, CONTEXT, prompt, options, c)).collect()
        };
        let known = write(&endless).iter().map(|written| [prompt, &written.ids].concat()).collect();
        self.truth.lock().unwrap().insert(id, known);
        let request = SubmittedRequest {
            prompt: prompt.to_vec(),
            order: Order::new(prompt.len(), options.n),
            outcome: Outcome::new(options.n),
            want: write(options),
            cancelled: vec![None; options.n],
        };
        self.requests.insert(id, request);
        id
    }

    pub fn cancel(&mut self, id: RequestId, candidate: Option<usize>) {
        self.engine.cancel(id, candidate);
        if let Some(request) = self.requests.get_mut(&id) {
            for c in (0..request.cancelled.len()).filter(|&c| candidate.is_none_or(|only| only == c)) {
                if request.outcome.reasons[c].is_none() && request.cancelled[c].is_none() {
                    request.cancelled[c] = Some(request.outcome.ids[c].len());
                }
            }
        }
    }

    /// One step, and all that has to be true after it.
    pub fn step(&mut self) -> bool {
        let more = self
            .engine
            .step(&mut |id, event| {
                let request = self.requests.get_mut(&id).expect("a request of this world");
                request.order.take(&event);
                request.outcome.take(event);
            })
            .unwrap();
        self.check_memory();
        for request in self.requests.values().filter(|request| request.order.has_begun()) {
            let late =
                (0..request.cancelled.len()).find(|&c| request.cancelled[c].is_some() && request.order.is_live(c));
            assert_eq!(late, None, "a cancelled candidate ends within one step");
        }
        assert_eq!(more, self.requests.values().any(|request| !request.order.done));
        more
    }

    /// Valid K/V is that of all tokens but the last, of live candidates and of nothing else.
    fn check_memory(&self) {
        let mut want: Vec<Vec<u32>> = Vec::new();
        for request in self.requests.values() {
            for c in (0..request.want.len()).filter(|&c| request.order.is_live(c)) {
                let mut tokens = [&request.prompt[..], &request.outcome.ids[c]].concat();
                tokens.pop();
                want.push(tokens);
            }
        }
        want.sort();
        assert_eq!(self.main.candidates(), want, "the main network's K/V is that of the tokens");
        for drafted in self.draft.candidates() {
            assert!(want.iter().any(|tokens| tokens.starts_with(&drafted)), "the draft network reads what was written");
        }
        let prompts =
            self.requests.values().filter(|request| request.order.read.is_some() && !request.order.done).count();
        assert_eq!(self.main.open(), want.len() + prompts, "a prompt per request and a tail per candidate");
        let is_shared = self.engine.most_positions() < usize::MAX;
        assert!(want.len() <= Engine::MAX_LIVE + if is_shared { 16 } else { 0 });
        assert!(self.engine.positions() <= self.engine.most_positions(), "{} positions", self.engine.positions());
    }

    /// Steps until all is done, then compares with what had to be written.
    pub fn finish(&mut self) {
        while self.step() {}
        assert!(self.engine.is_idle());
        assert_eq!((self.engine.kv_bytes(), self.main.open(), self.draft.open()), (0, 0, 0));
        self.requests.values().for_each(SubmittedRequest::check);
    }
}

impl SubmittedRequest {
    fn check(&self) {
        for (c, want) in self.want.iter().enumerate() {
            let (ids, reason) = (&self.outcome.ids[c], self.outcome.reasons[c].expect("an end"));
            if let Some(before) = self.cancelled[c] {
                assert_eq!((reason, ids.len()), (FinishReason::Cancelled, before), "nothing is written after a cancel");
                assert!(want.ids.starts_with(ids));
                assert_eq!(self.outcome.texts[c], spell(ids));
            } else {
                let text = &self.outcome.texts[c];
                assert_eq!((ids, text, reason), (&want.ids, &want.text, want.reason), "candidate {c}");
                let bits: Vec<u32> = want.logprobs.iter().map(|logprob| logprob.to_bits()).collect();
                assert_eq!(self.outcome.bits(c), bits);
            }
        }
    }
}

/// Random numbers of right and wrong tokens, also beyond the stop.
fn random_script(seed: u64, truth: Truth) -> Scripted {
    Scripted::new(move |ask, step| {
        let truth = truth.lock().unwrap();
        let rest = truth[&ask.id.request][ask.id.index].get(ask.tokens.len()..).unwrap_or_default();
        let mut state = seed ^ (step as u64) << 32 ^ ask.id.request.0 << 8 ^ ask.id.index as u64;
        let length = random(&mut state) % 13;
        let luck = random(&mut state) % 5;
        let pattern: Vec<bool> = (0..length).map(|_| random(&mut state) % 4 < luck).collect();
        right_and_wrong(rest, &pattern)
    })
}

/// `SplitMix64`.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
