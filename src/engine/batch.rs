//! The decode loop: draft, verify, accept, for all live candidates together.

use std::time::Instant;

use super::cost::Costs;
use super::draft_length::{Outcome, Policy};
use super::drafter::{Ask, Drafter};
use super::event::{Event, FinishReason, StepStats, Summary};
use super::rank::{Standing, rank};
use super::request::GenerateOptions;
use super::sequence::{Limit, Sequence};
use super::stats::Stats;
use super::{EngineError, MAX_CANDIDATES, PREFILL_SLAB};
use crate::backend::{BackendError, ChoiceItem, ChoiceRules, Network, Rows, SeqId, Span, Wanted};
use crate::model::Tokenizer;
use crate::sampling::Draft;

/// A main model and, perhaps, something that drafts for it.
pub struct Engine {
    main: Box<dyn Network>,
    tokenizer: Tokenizer,
    eos: Vec<u32>,
    drafter: Option<Box<dyn Drafter>>,
    /// What passes have cost so far; later requests begin with what earlier ones have learned.
    costs: Costs,
}

impl Engine {
    /// An engine for `main`, whose completions end at the ids of `eos`.
    pub fn new(main: Box<dyn Network>, tokenizer: Tokenizer, eos: Vec<u32>, drafter: Option<Box<dyn Drafter>>) -> Self {
        Self { main, tokenizer, eos, drafter, costs: Costs::default() }
    }

    /// The main model's tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Writes the candidates of one prompt. `cancelled(i)` is asked between steps; everything that happens goes to `sink`, the last event
    /// being `Done`, which is also returned.
    pub fn generate(
        &mut self,
        prompt: &[u32],
        options: &GenerateOptions,
        cancelled: &dyn Fn(usize) -> bool,
        sink: &mut dyn FnMut(Event),
    ) -> Result<Summary, EngineError> {
        self.check(prompt, options)?;
        let mut run = Run {
            options,
            cancelled,
            sink,
            start: Instant::now(),
            decode_start: Instant::now(),
            stats: Stats::default(),
            in_step: true,
            standings: vec![None; options.n],
        };
        let outcome = self.run(prompt, &mut run);
        if let Some(drafter) = &mut self.drafter {
            drafter.finish();
        }
        outcome?;
        let summary = run.summary(prompt.len());
        (run.sink)(Event::Done(Box::new(summary.clone())));
        Ok(summary)
    }

    fn check(&self, prompt: &[u32], options: &GenerateOptions) -> Result<(), EngineError> {
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
        options.sampling.check().map_err(EngineError::Request)
    }

    fn run(&mut self, prompt: &[u32], run: &mut Run<'_>) -> Result<(), EngineError> {
        let n = run.options.n;
        let room = prompt.len().saturating_add(run.options.max_tokens).min(self.main.context());
        // A draft model that cannot follow so far would fall out half way: then it is left out from the start.
        let drafter = self.drafter.as_mut().filter(|d| d.context() >= room && !run.plain());
        let total = prompt.len();
        let passes = if drafter.is_some() { 2 } else { 1 };

        let (region, forks) =
            prefill(self.main.as_mut(), prompt, n, room, &mut |done| run.prefilled(done / passes, total))?;
        let mut live: Vec<Sequence> = forks
            .into_iter()
            .enumerate()
            .map(|(i, seq)| Sequence::new(i, seq, prompt, self.tokenizer.stream()))
            .collect();
        let mut outcome = Ok(());
        let mut drafter = match drafter {
            Some(drafter) => {
                outcome =
                    drafter.begin(prompt, n, room, &mut |done| run.prefilled(usize::midpoint(total, done), total));
                outcome.is_ok().then_some(drafter.as_mut() as &mut dyn Drafter)
            }
            None => None,
        };
        if outcome.is_ok() {
            run.prefilled(total, total);
            run.decode_start = Instant::now();
            run.stats.prefilled(run.decode_start - run.start);
            let mut step =
                Step { main: self.main.as_mut(), tokenizer: &self.tokenizer, eos: &self.eos, costs: &mut self.costs };
            let mut policy = Policy::new(run.options.draft_length);
            while outcome.is_ok() && step.sweep(&mut live, &mut drafter, run) {
                outcome = step.advance(&mut live, &mut drafter, &mut policy, run);
            }
        }
        for sequence in live {
            self.main.close(sequence.seq);
        }
        self.main.close(region);
        Ok(outcome?)
    }
}

/// Computes all of `prompt` but its last token once, and makes `n` sequences that share it. The last token is the first row of the
/// first step, so that every sequence always has K/V for all its tokens but the last.
pub(super) fn prefill(
    network: &mut dyn Network,
    prompt: &[u32],
    n: usize,
    room: usize,
    progress: &mut dyn FnMut(usize) -> bool,
) -> Result<(SeqId, Vec<SeqId>), BackendError> {
    let shared = prompt.len() - 1;
    let region = network.open(shared)?;
    let mut compute = || {
        let mut start = 0;
        while start < shared && progress(start) {
            let len = PREFILL_SLAB.min(shared - start);
            let spans = [Span { seq: region, start, len }];
            network.forward(&Rows { tokens: &prompt[start..start + len], spans: &spans }, Wanted::Nothing)?;
            start += len;
        }
        network.fork(region, n, room - shared)
    };
    match compute() {
        Ok(forks) => Ok((region, forks)),
        Err(error) => {
            network.close(region);
            Err(error)
        }
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// One request while it runs.
struct Run<'a> {
    options: &'a GenerateOptions,
    cancelled: &'a dyn Fn(usize) -> bool,
    sink: &'a mut dyn FnMut(Event),
    start: Instant,
    decode_start: Instant,
    stats: Stats,
    /// Whether the drafter has read everything but the last step's tokens, so that its time is that of an ordinary step.
    in_step: bool,
    standings: Vec<Option<Standing>>,
}

impl Run<'_> {
    /// Whether nothing is ever drafted.
    fn plain(&self) -> bool {
        self.options.draft_length == super::DraftLength::Fixed(0)
    }

    /// Reports progress; false to give up.
    fn prefilled(&mut self, done: usize, total: usize) -> bool {
        (self.sink)(Event::Prefill { done, total });
        !(self.over_budget() || (0..self.options.n).all(|i| (self.cancelled)(i)))
    }

    fn over_budget(&self) -> bool {
        self.options.time_budget.is_some_and(|budget| self.start.elapsed() >= budget)
    }

    fn finished(&mut self, sequence: &Sequence, reason: FinishReason) {
        self.stats.finished(self.decode_start.elapsed(), sequence.generated());
        let mean_logprob = sequence.mean_logprob();
        self.standings[sequence.candidate] = Some(Standing { reason, mean_logprob });
        let text = sequence.text().to_owned();
        (self.sink)(Event::Finished { candidate: sequence.candidate, reason, text, mean_logprob });
    }

    fn summary(&self, prompt_tokens: usize) -> Summary {
        let none = Standing { reason: FinishReason::Cancelled, mean_logprob: 0.0 };
        let standings: Vec<Standing> = self.standings.iter().map(|s| s.unwrap_or(none)).collect();
        let summary = self.stats.summary(self.decode_start.elapsed());
        Summary { prompt_tokens, ranking: rank(&standings), ..summary }
    }
}

/// What a step works with.
struct Step<'a> {
    main: &'a mut dyn Network,
    tokenizer: &'a Tokenizer,
    eos: &'a [u32],
    costs: &'a mut Costs,
}

impl Step<'_> {
    /// Takes cancelled and overdue candidates out of the batch; false when none is left.
    fn sweep(&mut self, live: &mut Vec<Sequence>, drafter: &mut Option<&mut dyn Drafter>, run: &mut Run<'_>) -> bool {
        let over = run.over_budget();
        live.retain_mut(|sequence| {
            let reason = if (run.cancelled)(sequence.candidate) {
                FinishReason::Cancelled
            } else if over {
                FinishReason::Budget
            } else {
                return true;
            };
            sequence.flush(run.options, self.tokenizer);
            run.finished(sequence, reason);
            self.leave(sequence, drafter);
            false
        });
        !live.is_empty()
    }

    /// One iteration of draft, verify, accept.
    fn advance(
        &mut self,
        live: &mut Vec<Sequence>,
        drafter: &mut Option<&mut dyn Drafter>,
        policy: &mut Policy,
        run: &mut Run<'_>,
    ) -> Result<(), BackendError> {
        let start = Instant::now();
        let options = run.options;
        let rules = ChoiceRules {
            sampling: &options.sampling,
            accept: options.accept,
            seed: options.seed,
            vocab: self.main.vocab_size(),
        };
        let limit = Limit { eos: self.eos, context: self.main.context() };

        let drafts: Vec<Vec<Draft>> = match drafter {
            Some(drafter) => {
                let length = policy.length(live.len(), self.costs);
                let ask = |s: &Sequence| length.min(s.room(options.max_tokens, limit.context));
                let asks: Vec<Ask<'_>> =
                    live.iter().map(|s| Ask { candidate: s.candidate, tokens: &s.tokens, length: ask(s) }).collect();
                let drafts = drafter.propose(&asks, &rules)?;
                let passes = drafts.iter().map(Vec::len).max().unwrap_or(0);
                if passes > 0 && run.in_step {
                    self.costs.draft.observe(live.len(), milliseconds(start) / passes as f64);
                }
                run.in_step = passes > 0;
                drafts
            }
            None => vec![Vec::new(); live.len()],
        };

        let mut tokens = Vec::new();
        let mut spans = Vec::with_capacity(live.len());
        for (sequence, drafts) in live.iter().zip(&drafts) {
            let start = sequence.tokens.len() - 1;
            tokens.push(sequence.tokens[start]);
            tokens.extend(drafts.iter().map(|d| d.token));
            spans.push(Span { seq: sequence.seq, start, len: drafts.len() + 1 });
        }
        let verify = Instant::now();
        self.main.forward(&Rows { tokens: &tokens, spans: &spans }, Wanted::All)?;

        let mut row = 0;
        let items: Vec<ChoiceItem<'_>> = live
            .iter()
            .zip(&drafts)
            .map(|(s, drafts)| {
                let item = ChoiceItem { row, candidate: s.candidate as u32, history: &s.tokens, drafts };
                row += drafts.len() + 1;
                item
            })
            .collect();
        let accepted = self.main.verify(&items, &rules);
        self.costs.main.observe(tokens.len(), milliseconds(verify));

        let mut stats = StepStats {
            live: live.len(),
            rows: tokens.len(),
            drafted: drafts.iter().map(Vec::len).sum(),
            accepted: 0,
            tokens: 0,
            ms: 0.0,
        };
        let mut outcomes = Vec::with_capacity(live.len());
        let mut at = 0;
        live.retain_mut(|sequence| {
            let drafted = drafts[at].len();
            let added = sequence.add(&accepted[at], options, &limit, self.tokenizer);
            at += 1;
            stats.accepted += added.accepted;
            stats.tokens += added.ids.len();
            let reason = added.reason;
            let accepted = added.accepted;
            (run.sink)(Event::Tokens {
                candidate: sequence.candidate,
                text: added.text,
                ids: added.ids,
                logprobs: added.logprobs,
                drafted,
                accepted,
            });
            if let Some(reason) = reason {
                run.finished(sequence, reason);
                self.leave(sequence, drafter);
                return false;
            }
            outcomes.push(Outcome { drafted, accepted });
            self.main.set_len(sequence.seq, sequence.tokens.len() - 1);
            if let Some(drafter) = drafter {
                drafter.settle(sequence.candidate, sequence.tokens.len());
            }
            true
        });
        policy.update(&outcomes);
        stats.ms = milliseconds(start);
        run.stats.step(&stats);
        (run.sink)(Event::Step(stats));
        Ok(())
    }

    fn leave(&mut self, sequence: &Sequence, drafter: &mut Option<&mut dyn Drafter>) {
        self.main.close(sequence.seq);
        if let Some(drafter) = drafter {
            drafter.end(sequence.candidate);
        }
    }
}
