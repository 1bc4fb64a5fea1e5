//! The lengths with the most expected tokens per millisecond, chosen for all candidates of the batch together.
//!
//! A draft token of a candidate survives with the product of the acceptance shares up to it; that is the number of tokens it is expected to
//! add. Taken in falling order of survival under a common budget of rows (TETRIS, arXiv 2502.15197), the best budget is the one with the best ratio
//! of expected tokens to expected time (goodput, arXiv 2406.14066), time coming from measured curves. No draft at all is a
//! budget like any other.

use super::record::{Promise, Record};
use crate::engine::cost::Costs;
use crate::engine::drafter::Offer;

/// What the choice knows of one candidate.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// What could be proposed.
    pub offer: Offer,
    /// Expected share of accepted tokens.
    pub share: f64,
    /// Tokens that it may still write.
    pub left: usize,
}

/// What the choice remembers from step to step.
#[derive(Clone, Debug)]
pub struct Auto {
    /// Whether the last step took passes of the drafter.
    drafting: bool,
    /// The promise of the step under way, and whether it drafts.
    promised: Option<(Promise, bool)>,
    plain: Record,
    drafted: Record,
    /// Steps with drafts since the last one without, and after how many there is one.
    busy: usize,
    trust: usize,
    /// Whether lengths were chosen for the step under way.
    chosen: bool,
    /// Time of the steps that lengths were chosen for, and the part of it that went into tries.
    elapsed_ms: f64,
    tried_ms: f64,
}

/// A choice of lengths and what it promises.
#[derive(Clone, Debug)]
struct Plan {
    lengths: Vec<usize>,
    promise: Promise,
    passes: bool,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            drafting: false,
            promised: None,
            plain: Record::default(),
            drafted: Record::default(),
            busy: 0,
            trust: Self::FIRST_TRUST,
            chosen: false,
            elapsed_ms: 0.0,
            tried_ms: 0.0,
        }
    }
}

impl Auto {
    /// Most tokens proposed for a candidate.
    pub const LONGEST: usize = 16;
    /// To begin with passes of the drafter, a plan has to promise this much more than one without.
    const BEGIN: f64 = 1.08;
    /// And to go on with them this much more.
    const GO_ON: f64 = 1.02;
    /// Share of all time that may go into tries.
    const TRIES: f64 = 0.005;
    /// A try needs hope: this much gain, if this share were accepted.
    const HOPE: f64 = 1.05;
    const HOPED_SHARE: f64 = 0.95;
    const TRY_LENGTH: usize = 3;
    /// Steps over which catching up has to pay for itself, and tokens that a step is thought to bring then.
    const HORIZON: usize = 16;
    const STRIDE: usize = 3;
    /// Steps with drafts after which one goes without, to see its price: few at first, then ever more.
    const FIRST_TRUST: usize = 2;
    const LAST_TRUST: usize = 128;

    /// Lengths for the candidates `slots`, in a step that has `others` more rows anyway.
    pub fn choose(&mut self, slots: &[Slot], others: usize, costs: &Costs) -> Vec<usize> {
        let base = slots.len() + others;
        let nothing = || vec![0; slots.len()];
        self.promised = None;
        self.chosen = true;
        if slots.is_empty() || costs.main.is_empty() {
            return nothing();
        }
        let plain = Promise { tokens: slots.len() as f64, ms: costs.main.ms(base) };
        if self.busy >= self.trust {
            self.busy = 0;
            self.trust = (2 * self.trust).min(Self::LAST_TRUST);
            self.promised = Some((plain, false));
            return nothing();
        }
        let plain_gain = plain.gain() * self.plain.worth(plain);
        let gain = |plan: &Plan| plan.promise.gain() * self.drafted.worth(plan.promise);
        let mut plan = Self::best(slots, others, costs, false).filter(|plan| gain(plan) > plain_gain);
        if let Some(all) = Self::best(slots, others, costs, true).filter(|all| all.passes) {
            let other = plan.as_ref().map_or(plain_gain, gain);
            let needed = if self.drafting { Self::GO_ON } else { Self::BEGIN };
            if gain(&all) > needed * other {
                plan = Some(all);
            }
        }
        self.drafting = plan.as_ref().is_some_and(|plan| plan.passes);
        self.busy = if plan.is_some() { self.busy + 1 } else { 0 };
        if let Some(plan) = plan {
            self.promised = Some((plan.promise, true));
            return plan.lengths;
        }
        if let Some(lengths) = self.attempt(slots, others, costs, plain.gain()) {
            return lengths;
        }
        self.promised = Some((plain, false));
        nothing()
    }

    /// Whether `share` of acceptance would make a batch of `live` candidates draft.
    pub fn would_draft(live: usize, share: f64, costs: &Costs) -> bool {
        let offer = Offer { most: Self::LONGEST, behind: Some(1), evidence: crate::engine::drafter::Evidence::Model };
        let slots = vec![Slot { offer, share, left: Self::HORIZON * Self::STRIDE }; live];
        let plain = live as f64 / costs.main.ms(live).max(1e-9);
        Self::best(&slots, 0, costs, true).is_some_and(|plan| plan.promise.gain() > Self::BEGIN * plain)
    }

    /// The best lengths above none, with offers that take passes or without; `None` if none is best.
    fn best(slots: &[Slot], others: usize, costs: &Costs, passes: bool) -> Option<Plan> {
        let base = slots.len() + others;
        let plain_ms = costs.main.ms(base).max(1e-9);
        let mut best_gain = slots.len() as f64 / plain_ms;
        // No token that adds less than the cheapest row costs can raise the ratio.
        let row_ms = (costs.main.ms(base + 4 * slots.len()) - plain_ms) / (4 * slots.len()) as f64;
        let least = (0.5 * best_gain * row_ms).max(0.02);

        let mut tokens: Vec<(f64, usize, usize)> = Vec::new();
        for (i, slot) in slots.iter().enumerate() {
            if slot.offer.behind.is_some() && (!passes || costs.draft.is_empty()) {
                continue;
            }
            let mut survival = 1.0;
            for j in 0..slot.offer.most.min(Self::LONGEST) {
                survival *= slot.share;
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
        let mut taking = [0usize; Self::LONGEST];
        let mut best = 0;
        let mut promise = Promise { tokens: expected, ms: plain_ms };
        for (added, &(survival, i, j)) in tokens.iter().enumerate() {
            expected += survival;
            if let Some(behind) = slots[i].offer.behind {
                let rows = if j == 0 { behind.clamp(1, 2) } else { 1 };
                drafts_ms += costs.draft.ms(taking[j] + rows) - costs.draft.ms(taking[j]);
                taking[j] += rows;
                if j == 0 {
                    // What it has missed before is an investment.
                    let missed = costs.draft.ms(1 + behind.saturating_sub(2)) - costs.draft.ms(1);
                    drafts_ms += missed / (slots[i].left / Self::STRIDE).clamp(1, Self::HORIZON) as f64;
                }
            }
            let step = Promise { tokens: expected, ms: costs.main.ms(base + added + 1) + drafts_ms };
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

    /// A short draft for one candidate, to see whether acceptance has become better, as long as tries cost next to nothing.
    fn attempt(&mut self, slots: &[Slot], others: usize, costs: &Costs, plain_gain: f64) -> Option<Vec<usize>> {
        let behind = |slot: &Slot| slot.offer.behind.unwrap_or(0);
        let (i, slot) = slots.iter().enumerate().filter(|(_, s)| s.offer.most > 0).min_by_key(|(_, s)| behind(s))?;
        let length = slot.offer.most.min(Self::TRY_LENGTH);
        let base = slots.len() + others;
        let mut cost = costs.main.ms(base + length) - costs.main.ms(base);
        if slot.offer.behind.is_some() {
            cost += costs.draft.ms(behind(slot)) + (length - 1) as f64 * costs.draft.ms(1);
        }
        if self.tried_ms + cost > Self::TRIES * self.elapsed_ms {
            return None;
        }
        let hoped: Vec<Slot> = slots
            .iter()
            .map(|slot| Slot {
                share: Self::HOPED_SHARE,
                offer: Offer { behind: slot.offer.behind.map(|_| 1), ..slot.offer },
                ..*slot
            })
            .collect();
        let hope = Self::best(&hoped, others, costs, true)?;
        if hope.promise.gain() < Self::HOPE * plain_gain {
            return None;
        }
        self.tried_ms += cost;
        let mut lengths = vec![0; slots.len()];
        lengths[i] = length;
        Some(lengths)
    }

    /// The step brought the candidates that it chose for this many tokens and took this long.
    pub fn stepped(&mut self, tokens: usize, ms: f64) {
        if std::mem::take(&mut self.chosen) {
            self.elapsed_ms += ms;
        }
        let Some((promise, drafts)) = self.promised.take() else { return };
        let (record, other) =
            if drafts { (&mut self.drafted, &mut self.plain) } else { (&mut self.plain, &mut self.drafted) };
        record.add(promise, tokens as f64, ms);
        other.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cost::CostCurve;
    use crate::engine::drafter::Evidence;

    fn costs(main: [(usize, f64); 2], draft: f64) -> Costs {
        Costs { main: CostCurve::new(main), draft: CostCurve::new([(1, draft), (64, draft)]) }
    }

    /// 8 rows cost little more than one.
    fn memory_bound() -> Costs {
        costs([(1, 10.0), (8, 11.0)], 0.5)
    }

    /// Every row costs the same.
    fn compute_bound() -> Costs {
        costs([(1, 10.0), (8, 80.0)], 0.5)
    }

    fn slot(share: f64, behind: Option<usize>) -> Slot {
        let evidence = if behind.is_some() { Evidence::Model } else { Evidence::Match { length: 4 } };
        Slot { offer: Offer { most: 64, evidence, behind }, share, left: 100 }
    }

    fn choose(slots: &[Slot], costs: &Costs) -> Vec<usize> {
        Auto::default().choose(slots, 0, costs)
    }

    #[test]
    fn drafts_where_rows_are_cheap_and_not_where_they_are_dear() {
        let one = [slot(0.8, Some(1))];
        assert!(choose(&one, &memory_bound())[0] >= 3);
        assert_eq!(choose(&one, &compute_bound()), [0]);
        assert!(Auto::would_draft(1, 0.8, &memory_bound()) && !Auto::would_draft(1, 0.8, &compute_bound()));
    }

    #[test]
    fn is_the_best_of_all_common_lengths() {
        for share in [0.3, 0.6, 0.9] {
            for live in [1, 2, 5, 16] {
                let costs = costs([(1, 10.0), (16, 22.0)], 1.0);
                let gain = |k: usize| {
                    let tokens: f64 = (0..=k).map(|j| f64::powi(share, j as i32)).sum();
                    live as f64 * tokens / (costs.main.ms(live * (k + 1)) + k as f64 * costs.draft.ms(live))
                };
                let best = (0..=Auto::LONGEST).max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap();
                let chosen = choose(&vec![slot(share, Some(1)); live], &costs);
                let least = *chosen.iter().min().unwrap();
                assert!(
                    chosen.iter().all(|&k| k.abs_diff(best) <= 1) || gain(least) >= 0.97 * gain(best),
                    "share {share}, {live} live: {chosen:?}, best common length {best}"
                );
            }
        }
    }

    #[test]
    fn candidates_with_better_drafts_get_longer_ones() {
        let lengths = choose(&[slot(0.95, Some(1)), slot(0.5, Some(1)), slot(0.1, Some(1))], &memory_bound());
        assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
    }

    #[test]
    fn free_drafts_are_taken_where_passes_would_not_pay() {
        let costs = costs([(1, 10.0), (8, 14.0)], 100.0);
        let lengths = choose(&[slot(0.9, None), slot(0.9, Some(1))], &costs);
        assert!(lengths[0] > 0 && lengths[1] == 0, "{lengths:?}");
    }

    #[test]
    fn catching_up_has_to_pay() {
        let costs =
            Costs { main: CostCurve::new([(1, 10.0), (8, 11.0)]), draft: CostCurve::new([(1, 0.5), (1000, 500.0)]) };
        assert!(choose(&[slot(0.8, Some(10))], &costs)[0] > 0);
        assert_eq!(choose(&[slot(0.8, Some(1000))], &costs), [0], "500 ms to save less than 400");
        let nearly_done = Slot { left: 2, ..slot(0.8, Some(60)) };
        assert_eq!(choose(&[nearly_done], &costs), [0]);
    }

    #[test]
    fn tries_cost_next_to_nothing_and_only_where_there_is_hope() {
        let tries = |costs: &Costs, steps: usize| {
            let mut auto = Auto::default();
            let mut tries = 0;
            for _ in 0..steps {
                tries += usize::from(auto.choose(&[slot(0.02, Some(1))], 0, costs)[0] > 0);
                auto.stepped(1, 10.0);
            }
            tries
        };
        let few = tries(&memory_bound(), 2000);
        assert!((5..=100).contains(&few), "{few}");
        assert_eq!(tries(&compute_bound(), 2000), 0);
    }

    #[test]
    fn does_not_flutter_around_the_break_even_point() {
        let costs = memory_bound();
        let mut low = 0.0;
        let mut high = 1.0;
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if choose(&[slot(middle, Some(1))], &costs)[0] > 0 { high = middle } else { low = middle }
        }
        let mut auto = Auto { trust: usize::MAX, ..Auto::default() };
        let mut changes = 0;
        let mut before = 0;
        for step in 0..100 {
            let share = high + if step % 2 == 0 { 0.005 } else { -0.005 };
            let length = auto.choose(&[slot(share, Some(1))], 0, &costs)[0];
            changes += usize::from((length > 0) != (before > 0));
            before = length;
        }
        assert!(changes <= 3, "{changes} changes");
    }

    #[test]
    fn drafts_that_do_not_keep_their_promise_are_given_up_within_a_few_steps() {
        let costs = memory_bound();
        let mut auto = Auto::default();
        let mut drafted = 0;
        for _ in 0..100 {
            let length = auto.choose(&[slot(0.7, Some(1))], 0, &costs)[0];
            drafted += usize::from(length > 0);
            // Nothing is accepted, and a step takes longer than the curves say.
            auto.stepped(1, if length > 0 { 20.0 } else { 10.0 });
        }
        assert!(drafted < 20, "{drafted}");
    }

    #[test]
    fn a_step_without_drafts_now_and_then_shows_its_price() {
        let mut auto = Auto::default();
        let plain = (0..1000).filter(|_| auto.choose(&[slot(0.9, Some(1))], 0, &memory_bound())[0] == 0).count();
        assert!((10..=15).contains(&plain), "{plain}");
    }
}
