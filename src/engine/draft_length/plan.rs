//! The best lengths for given shares and curves.
//!
//! A draft token of a candidate survives with the product of the acceptance shares up to it; that is the number of tokens it is expected to
//! add. Taken in falling order of survival under a common budget of rows (TETRIS, arXiv 2502.15197), the best budget is the one with the best ratio
//! of expected tokens to expected time (goodput, arXiv 2406.14066), time coming from measured curves. No draft at all is a
//! budget like any other.

use super::acceptance::Estimate;
use super::auto::Auto;
use crate::engine::cost::Costs;
use crate::engine::drafter::Offer;

/// What the choice knows of one candidate.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// What could be proposed.
    pub offer: Offer,
    /// Expected share of accepted tokens.
    pub accepted: Estimate,
    /// Tokens that it may still write.
    pub left: usize,
}

/// What a step is expected to bring and to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Tokens of all candidates.
    pub tokens: f64,
    /// Time.
    pub ms: f64,
}

impl Promise {
    /// Tokens per ms.
    pub fn gain(self) -> f64 {
        self.tokens / self.ms.max(1e-9)
    }
}

/// A choice of lengths and what it promises.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Length per candidate.
    pub lengths: Vec<usize>,
    /// What is expected of it.
    pub promise: Promise,
    /// Whether it takes passes of the drafter.
    pub passes: bool,
}

/// How to look at what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The best guess.
    Expected,
    /// With the benefit of every doubt for drafts.
    Hoped,
    /// With no benefit of any doubt.
    Feared,
}

impl View {
    /// Which way shares are off; times are off the other way.
    fn off(self) -> f64 {
        match self {
            Self::Expected => 0.0,
            Self::Hoped => 1.0,
            Self::Feared => -1.0,
        }
    }
}

/// The candidates of a step, and what it costs.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The candidates whose lengths are to be chosen.
    pub slots: &'a [Slot],
    /// Rows that the step has besides.
    pub others: usize,
    /// The curves.
    pub costs: &'a Costs,
}

/// Steps over which catching up has to pay for itself, and tokens that a step is thought to bring then.
const HORIZON: usize = 16;
const STRIDE: usize = 3;

impl Step<'_> {
    fn base(&self) -> usize {
        self.slots.len() + self.others
    }

    fn main_ms(&self, view: View, rows: usize) -> f64 {
        self.costs.main.off(rows, -view.off())
    }

    fn draft_ms(&self, view: View, rows: usize) -> f64 {
        self.costs.draft.off(rows, -view.off())
    }

    /// Without drafts.
    pub fn plain(&self, view: View) -> Promise {
        Promise { tokens: self.slots.len() as f64, ms: self.main_ms(view, self.base()).max(1e-9) }
    }

    /// The best lengths above none, with offers that take passes or without; `None` if none is best.
    pub fn best(&self, view: View, passes: bool) -> Option<Plan> {
        let (slots, base) = (self.slots, self.base());
        let plain = self.plain(View::Expected);
        let mut best_gain = plain.gain();
        // No token that adds less than the cheapest row costs can raise the ratio.
        let row_ms = (self.main_ms(view, base + 4 * slots.len()) - plain.ms).max(0.0) / (4 * slots.len()) as f64;
        let least = (0.5 * best_gain * row_ms).max(0.02);

        let mut tokens: Vec<(f64, usize, usize)> = Vec::new();
        for (i, slot) in slots.iter().enumerate() {
            if slot.offer.behind.is_some() && (!passes || self.costs.draft.is_empty()) {
                continue;
            }
            let mut survival = 1.0;
            for j in 0..slot.offer.most.min(Auto::LONGEST) {
                survival *= slot.accepted.share(j, view.off());
                if survival < least {
                    break;
                }
                tokens.push((survival, i, j));
            }
        }
        // Survival falls within a candidate, so that a prefix of this order is a prefix of every draft.
        tokens.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));

        let mut expected = slots.len() as f64;
        let mut drafts_ms = 0.0;
        let mut taking = [0usize; Auto::LONGEST];
        let mut best = 0;
        let mut promise = plain;
        for (added, &(survival, i, j)) in tokens.iter().enumerate() {
            expected += survival;
            if let Some(behind) = slots[i].offer.behind {
                let rows = if j == 0 { behind.clamp(1, 2) } else { 1 };
                drafts_ms += self.draft_ms(view, taking[j] + rows) - self.draft_ms(view, taking[j]);
                taking[j] += rows;
                if j == 0 {
                    // What it has missed before is an investment.
                    drafts_ms += self.catching_up(&slots[i]) / (slots[i].left / STRIDE).clamp(1, HORIZON) as f64;
                }
            }
            let step = Promise { tokens: expected, ms: self.main_ms(view, base + added + 1) + drafts_ms };
            if step.gain() > best_gain {
                (best_gain, best, promise) = (step.gain(), added + 1, step);
            }
        }
        if best == 0 {
            return None;
        }
        let mut lengths = vec![0; slots.len()];
        let mut with_passes = false;
        for &(_, i, j) in &tokens[..best] {
            lengths[i] = lengths[i].max(j + 1);
            with_passes |= slots[i].offer.behind.is_some();
        }
        Some(Plan { lengths, promise, passes: with_passes })
    }

    /// ms of the rows that the drafter has missed.
    fn catching_up(&self, slot: &Slot) -> f64 {
        slot.offer
            .behind
            .map_or(0.0, |behind| self.costs.draft.ms(1 + behind.saturating_sub(2)) - self.costs.draft.ms(1))
    }

    /// What a step with these lengths brings and takes, all catching up included.
    pub fn promise(&self, view: View, lengths: &[usize]) -> Promise {
        let drafting = || {
            let all = self.slots.iter().zip(lengths);
            all.filter(|(slot, length)| **length > 0 && slot.offer.behind.is_some())
        };
        let longest = drafting().map(|(_, &length)| length).max().unwrap_or(0);
        let rows = |round: usize| {
            let of = |slot: &Slot| if round == 0 { slot.offer.behind.unwrap_or(1).min(2) } else { 1 };
            drafting().filter(|(_, length)| **length > round).map(|(slot, _)| of(slot)).sum()
        };
        let passes: f64 = (0..longest).map(|round| self.draft_ms(view, rows(round))).sum();
        let missed: f64 = drafting().map(|(slot, _)| self.catching_up(slot)).sum();
        let accepted = self.slots.iter().zip(lengths).map(|(slot, &length)| slot.accepted.accepted(length, view.off()));
        let tokens = self.slots.len() as f64 + accepted.sum::<f64>();
        let ms = self.main_ms(view, self.base() + lengths.iter().sum::<usize>()) + passes + missed;
        Promise { tokens, ms }
    }
}
