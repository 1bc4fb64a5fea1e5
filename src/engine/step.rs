//! One iteration of draft, verify, accept, for all live candidates together.

use std::collections::BTreeMap;
use std::time::Instant;

use super::Engine;
use super::batch::Sink;
use super::draft_length::{Outcome, Slot, passes};
use super::drafter::{Ask, Offer};
use super::event::{Event, RequestId, StepStats};
use super::sequence::Limit;
use crate::backend::{BackendError, Candidate, Drafts};

/// Proposals of a step, in the order of the live candidates.
struct Drafted {
    drafts: Vec<Drafts>,
    offers: Vec<Offer>,
    /// Time that proposals took; 0 where there are none.
    ms: f64,
}

impl Engine {
    /// Advances every live candidate by one token or more.
    pub(super) fn advance(&mut self, sink: Sink<'_>) -> Result<(), BackendError> {
        let start = Instant::now();
        let Drafted { drafts, offers, ms: drafts_ms } = self.draft()?;

        let vocab = self.main.vocab_size();
        let candidates: Vec<Candidate<'_>> = self.live.iter().map(|s| s.candidate(vocab)).collect();
        let accepted = self.main.verify(&candidates, &drafts)?;
        let rows = drafts.iter().map(|drafts| drafts.count() + 1).sum();

        let limit = Limit { eos: self.eos.clone(), context: self.main.context() };
        let mut steps: BTreeMap<RequestId, (StepStats, Vec<Outcome>)> = BTreeMap::new();
        let mut live = std::mem::take(&mut self.live);
        let mut at = 0;
        live.retain_mut(|sequence| {
            let drafted = drafts[at].count();
            let added = sequence.add(&accepted[at], &limit, &self.tokenizer);
            let outcome = Outcome { drafted, accepted: added.accepted };
            if drafted > 0 {
                self.choice.auto.acceptance.observe(offers[at].evidence, outcome);
            }
            at += 1;

            let (step, outcomes) = steps.entry(sequence.id.request).or_default();
            step.live += 1;
            step.rows += drafted + 1;
            step.drafted += drafted;
            step.accepted += added.accepted;
            step.tokens += added.ids.len();
            if let Some(group) = self.groups.get_mut(&sequence.id.request) {
                group.stats.drafted(drafted, added.accepted);
            }
            sink(
                sequence.id.request,
                Event::Tokens {
                    candidate: sequence.id.index,
                    text: added.text,
                    ids: added.ids,
                    logprobs: added.logprobs,
                    alternatives: added.alternatives,
                    drafted,
                    accepted: added.accepted,
                },
            );
            if let Some(drafter) = &mut self.drafter {
                drafter.settle(sequence.id, &sequence.tokens);
            }
            if let Some(reason) = added.reason {
                self.leave(sequence, reason, sink);
                return false;
            }
            outcomes.push(outcome);
            true
        });
        self.live = live;

        let ms = ms_since(start);
        // The pass as it was timed, by the share of its rows: other programs slow both.
        let main = &self.choice.auto.costs.main;
        let plain_ms = (ms - drafts_ms) * main.ms(accepted.len()) / main.ms(rows).max(f64::MIN_POSITIVE);
        // Time of a step beyond its proposals is the cost of its rows, whatever they are for.
        self.choice.auto.stepped(rows, ms - drafts_ms);
        for (request, (mut step, outcomes)) in steps {
            step.ms = ms;
            step.plain_ms = plain_ms * step.tokens as f64 / step.live as f64;
            if let Some(group) = self.groups.get_mut(&request) {
                group.policy.update(&outcomes);
                group.stats.step(&step);
            }
            sink(request, Event::Step(step));
        }
        Ok(())
    }

    /// Lets the drafter propose, as much as the requests' policies want.
    fn draft(&mut self) -> Result<Drafted, BackendError> {
        let live = self.live.len();
        let nothing = || Drafted { drafts: vec![Drafts::NONE; live], offers: vec![Offer::NONE; live], ms: 0.0 };
        let Some(drafter) = self.drafter.as_mut() else { return Ok(nothing()) };
        if self.groups.values().all(super::request_state::Group::is_plain) {
            return Ok(nothing());
        }
        let (vocab, context) = (self.main.vocab_size(), self.main.context());
        let start = Instant::now();
        let asks: Vec<Ask<'_>> = self
            .live
            .iter()
            .map(|s| Ask { id: s.id, seq: s.seq, tokens: &s.tokens, room: s.room(context), rules: s.rules(vocab) })
            .collect();
        let mut offers = drafter.offer(&asks);

        // Lengths that policies of single requests give, then the rest together.
        let wanted: Vec<Option<usize>> = self
            .live
            .iter()
            .map(|s| self.groups.get(&s.id.request).map_or(Some(0), |g| g.policy.length(live)))
            .collect();
        let mut lengths: Vec<usize> = wanted
            .iter()
            .zip(&offers)
            .zip(&asks)
            .map(|((w, o), ask)| w.unwrap_or(0).min(o.most).min(ask.room))
            .collect();
        let free: Vec<usize> = (0..live).filter(|&i| wanted[i].is_none()).collect();
        if !free.is_empty() {
            let others = live - free.len() + lengths.iter().sum::<usize>();
            // While others are about to be written beside them, a prompt is not read for drafts: with all of
            // them there they may not pay.
            let others_come = !self.waiting.is_empty() || !self.joining.is_empty();
            let offer = |i: usize| {
                let offer: Offer =
                    if others_come && offers[i].unread() > 0 { offers[i].free_part() } else { offers[i] };
                Offer { most: offer.most.min(asks[i].room), ..offer }
            };
            let mut slots: Vec<Slot> =
                free.iter().map(|&i| Slot { offer: offer(i), left: self.choice.auto.expected(asks[i].room) }).collect();
            let chosen = self.choice.auto.choose(&mut slots, others);
            for (i, (length, slot)) in free.into_iter().zip(chosen.into_iter().zip(slots)) {
                (lengths[i], offers[i]) = (length, slot.offer);
            }
        }
        if lengths.iter().all(|&length| length == 0) {
            return Ok(nothing());
        }
        let drafts = drafter.propose(&asks, &offers, &lengths, self.main.as_mut())?;
        let ms = ms_since(start);
        let (passes, unread) = passes(&lengths, &offers);
        self.choice.auto.costs.draft_took(&passes, unread, ms);
        Ok(Drafted { drafts, offers, ms })
    }
}

fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
