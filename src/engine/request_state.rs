//! One request inside the batch: what was asked, what has come of it, and its figures.

use std::sync::Arc;
use std::time::Instant;

use super::admission::{Need, Partition};
use super::batch::Sink;
use super::draft_length::{DraftLength, Policy, Table};
use super::event::{Event, FinishReason, RequestId, Summary};
use super::rank::{Standing, rank};
use super::request::GenerateOptions;
use super::sequence::Sequence;
use super::stats::Stats;
use crate::backend::SeqId;

/// A request from its arrival to its end.
pub struct Group {
    pub id: RequestId,
    /// Everything that was asked but the prompt.
    pub options: Arc<GenerateOptions>,
    /// Room that it needs.
    pub need: Need,
    /// Partition of the room that it is in, once it has begun.
    pub partition: Partition,
    /// The prompt in the main network, while there are candidates, and its tokens.
    pub region: Option<(SeqId, Vec<u32>)>,
    /// When its prefill began.
    pub start: Instant,
    /// Where its draft lengths come from.
    pub policy: Box<dyn Policy>,
    /// Its figures so far.
    pub stats: Stats,
    prompt_tokens: usize,
    decode_start: Instant,
    cancelled: Vec<bool>,
    standings: Vec<Option<Standing>>,
}

impl Group {
    /// A request that has not begun.
    pub fn new(id: RequestId, prompt_tokens: usize, need: Need, options: GenerateOptions, table: &Arc<Table>) -> Self {
        let now = Instant::now();
        Self {
            id,
            need,
            partition: Partition::Open,
            region: None,
            start: now,
            policy: options.draft_length.policy(table),
            stats: Stats::default(),
            prompt_tokens,
            decode_start: now,
            cancelled: vec![false; options.n],
            standings: vec![None; options.n],
            options: Arc::new(options),
        }
    }

    /// Nothing is ever drafted for it.
    pub fn is_plain(&self) -> bool {
        self.options.draft_length == DraftLength::Fixed(0)
    }

    /// Marks one candidate, or all, as not wanted any more.
    pub fn cancel(&mut self, candidate: Option<usize>) {
        match candidate {
            Some(candidate) => self.cancelled.iter_mut().skip(candidate).take(1).for_each(|c| *c = true),
            None => self.cancelled.fill(true),
        }
    }

    /// The candidate is not wanted any more.
    pub fn is_cancelled(&self, candidate: usize) -> bool {
        self.cancelled.get(candidate).copied().unwrap_or(true)
    }

    /// Its time is over.
    pub fn is_over_budget(&self) -> bool {
        self.options.time_budget.is_some_and(|budget| self.start.elapsed() >= budget)
    }

    /// None of its candidates is wanted any more.
    pub fn is_cancelled_whole(&self) -> bool {
        self.cancelled.iter().all(|&cancelled| cancelled)
    }

    /// Its time is over, or none of its candidates is wanted any more: it ends before it has any.
    pub fn is_given_up(&self) -> bool {
        self.is_over_budget() || self.is_cancelled_whole()
    }

    /// Ends it before it has candidates.
    pub fn give_up(&mut self, sink: Sink<'_>) {
        let over = self.is_over_budget();
        self.decode_start = Instant::now();
        for candidate in 0..self.options.n {
            let reason =
                if self.is_cancelled(candidate) || !over { FinishReason::Cancelled } else { FinishReason::Budget };
            self.end(candidate, reason, 0.0, String::new(), 0, sink);
        }
        self.report(sink);
    }

    /// The prompt has been read; it lies in `region`.
    pub fn prefilled(&mut self, region: SeqId, prompt: Vec<u32>) {
        self.region = Some((region, prompt));
        self.decode_start = Instant::now();
        self.stats.prefilled(self.decode_start - self.start);
    }

    /// A candidate has ended.
    pub fn finished(&mut self, sequence: &Sequence, reason: FinishReason, sink: Sink<'_>) {
        let text = sequence.text().to_owned();
        if reason == FinishReason::Length
            && let Some(why) = sequence.trouble()
        {
            let candidate = sequence.id.index;
            sink(self.id, Event::Broken { candidate, why });
        }
        self.end(sequence.id.index, reason, sequence.mean_logprob(), text, sequence.generated(), sink);
    }

    fn end(
        &mut self,
        candidate: usize,
        reason: FinishReason,
        mean_logprob: f32,
        text: String,
        tokens: usize,
        sink: Sink<'_>,
    ) {
        self.stats.finished(self.decode_start.elapsed(), tokens);
        self.standings[candidate] = Some(Standing { reason, mean_logprob: Some(mean_logprob) });
        let mean_logprob = Some(mean_logprob);
        sink(self.id, Event::Finished { candidate, reason, text, mean_logprob });
    }

    /// All of its candidates have ended.
    pub fn is_over(&self) -> bool {
        self.standings.iter().all(Option::is_some)
    }

    /// Reports its end.
    pub fn done(self, sink: Sink<'_>) {
        self.report(sink);
    }

    fn report(&self, sink: Sink<'_>) {
        let standings: Vec<Standing> = self.standings.iter().copied().flatten().collect();
        let summary = self.stats.summary(self.decode_start.elapsed());
        let summary = Summary { prompt_tokens: self.prompt_tokens, ranking: rank(&standings), ..summary };
        sink(self.id, Event::Done(Box::new(summary)));
    }
}
