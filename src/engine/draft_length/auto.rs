//! Whether to draft, and what: by what is expected, and now and then by what may be hoped for.
//!
//! Every step does what promises the most tokens per millisecond by the best guess of shares and times, drafting or not. The guess may be
//! wrong, and only drafts can show it. So drafts live on an account, kept in steps without drafts: it begins with a few, every step adds a
//! hundredth, and every step with drafts adds what it saved or takes what it lost. No step may draft more than the
//! account covers if shares and times are off by their doubt, for the worse; fewer candidates and shorter drafts are tried before
//! none. Where the same doubts, for the better, promise clearly more than what would be done, that is tried; tries have a purse of their own.
//! Doubt falls with every reading, so that tries end by themselves where there is nothing to be had. The other way round a step without
//! drafts shows now and then what these cost now, the more often the less drafts promise to gain.

use super::acceptance::Estimate;
use super::plan::{Plan, Promise, Slot, Step, View};
use super::record::Record;
use crate::engine::cost::Costs;
use crate::engine::drafter::{Evidence, Offer};

/// What the choice remembers from step to step.
#[derive(Clone, Debug)]
pub struct Auto {
    /// Whether the last step took passes of the drafter because that promised more.
    drafting: bool,
    /// The promise of the step under way, and its number of drafts.
    promised: Option<(Promise, usize)>,
    record: Record,
    /// Steps with drafts since the last one without.
    busy: usize,
    /// Longest draft that may be made: what was measured of many rows may be far off.
    reach: usize,
    /// Whether lengths were chosen for the step under way.
    chosen: bool,
    /// What drafts may still lose, and what tries may still be expected to lose: in steps without drafts.
    account: f64,
    purse: f64,
    /// Tokens and ms of such a step.
    plain: Promise,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            drafting: false,
            promised: None,
            record: Record::default(),
            // The very first step goes without drafts.
            busy: Self::UNSEEN,
            reach: Self::FIRST_REACH,
            chosen: false,
            account: Self::CREDIT,
            purse: Self::CREDIT,
            plain: Promise { tokens: 1.0, ms: 1.0 },
        }
    }
}

impl Auto {
    /// Most tokens proposed for a candidate.
    pub const LONGEST: usize = 16;
    /// To begin with passes of the drafter, a plan has to promise this much more than one without; to go on, just more.
    const BEGIN: f64 = 1.02;
    /// Account and purse to begin with, what every step adds, and how much there can be: in steps. Two steps are 3 % of a short
    /// request.
    const CREDIT: f64 = 2.0;
    const INTEREST: f64 = 0.01;
    const SAVED: f64 = 3.0;
    /// Part of the account that one step may lose, so that one bad moment is not the end.
    const RISK: f64 = 0.7;
    /// What a try has to be able to gain with one step left in the purse; less where there is more.
    const HOPE: f64 = 0.8;
    /// The first drafts are this long at most; one that long makes twice as much possible.
    const FIRST_REACH: usize = 2;
    /// A step without drafts between those with drafts forgoes what these gain: this much of the gain may go that way, to see its price. A
    /// price from a slower moment would let drafts seem to gain for good.
    const LOOKS: f64 = 0.02;
    /// There is none before and one after so many steps, whatever they gain.
    const SEEN: usize = 4;
    const UNSEEN: usize = 128;

    /// Lengths for the candidates `slots`, in a step that has `others` more rows anyway.
    pub fn choose(&mut self, slots: &[Slot], others: usize, costs: &Costs) -> Vec<usize> {
        self.promised = None;
        self.chosen = true;
        if slots.is_empty() || costs.main.is_empty() {
            return vec![0; slots.len()];
        }
        let reachable = |slot: &Slot| {
            let most = slot.offer.most.min(self.reach);
            Slot { offer: Offer { most, ..slot.offer }, ..*slot }
        };
        let slots: Vec<Slot> = slots.iter().map(reachable).collect();
        let step = Step { slots: &slots, others, costs };
        self.plain = step.plain(View::Expected);
        let plan = self.expected(&step);
        self.drafting = plan.as_ref().is_some_and(|plan| plan.passes);
        let lengths = self.tried(&step, plan.as_ref()).or(plan.and_then(|plan| self.afforded(&step, plan.lengths)));
        let lengths = lengths.unwrap_or_else(|| vec![0; slots.len()]);
        if lengths.iter().any(|&length| length >= self.reach) {
            self.reach = (2 * self.reach).min(Self::LONGEST);
        }
        let drafts = lengths.iter().filter(|&&length| length > 0).count();
        self.busy = if drafts > 0 { self.busy + 1 } else { 0 };
        self.promised = Some((step.promise(View::Expected, &lengths), drafts));
        lengths
    }

    /// The plan that promises more than none.
    fn expected(&self, step: &Step<'_>) -> Option<Plan> {
        let gain = |plan: &Plan| self.worth(plan.promise).gain();
        let free = step.best(View::Expected, false).filter(|plan| gain(plan) > self.plain.gain());
        let other = free.as_ref().map_or(self.plain.gain(), gain);
        let needed = if self.drafting { 1.0 } else { Self::BEGIN };
        let all = step.best(View::Expected, true).filter(|all| all.passes && gain(all) > needed * other);
        all.or(free)
    }

    /// The promise as far as promises are kept.
    fn worth(&self, promise: Promise) -> Promise {
        let tokens = self.plain.tokens + self.record.worth() * (promise.tokens - self.plain.tokens);
        Promise { tokens, ..promise }
    }

    /// These lengths, or shorter and fewer ones, such that the account covers what they may lose.
    fn afforded(&self, step: &Step<'_>, mut lengths: Vec<usize>) -> Option<Vec<usize>> {
        let mut taking_part = lengths.len();
        loop {
            if lengths.iter().all(|&length| length == 0) {
                return None;
            }
            let feared = self.worth(step.promise(View::Feared, &lengths));
            let loss = feared.ms / self.plain.ms - feared.tokens / self.plain.tokens;
            if loss <= Self::RISK * self.account {
                return Some(lengths);
            }
            if lengths.iter().any(|&length| length > 1) {
                lengths = lengths.into_iter().map(|length| length.min(1)).collect();
            } else {
                taking_part /= 2;
                lengths[taking_part..].fill(0);
            }
        }
    }

    /// Lengths that may turn out better than `plan`, if it is time to see.
    fn tried(&mut self, step: &Step<'_>, plan: Option<&Plan>) -> Option<Vec<usize>> {
        let gain = plan.map_or(self.plain, |plan| self.worth(plan.promise)).gain();
        let gained = gain / self.plain.gain() - 1.0;
        let after = (gained / Self::LOOKS).clamp(Self::SEEN as f64, Self::UNSEEN as f64);
        if plan.is_some() && self.busy as f64 >= after {
            return Some(vec![0; step.slots.len()]);
        }
        if self.account <= 0.0 || self.purse <= 0.0 {
            return None;
        }
        let hope = step.best(View::Hoped, true)?;
        if self.worth(hope.promise).gain() < (1.0 + Self::HOPE / self.purse) * gain
            || plan.is_some_and(|plan| plan.lengths == hope.lengths)
        {
            return None;
        }
        let lengths = self.afforded(step, hope.lengths)?;
        let expected = self.worth(step.promise(View::Expected, &lengths));
        let price = (expected.ms - expected.tokens / gain) / self.plain.ms;
        if price > self.purse {
            return None;
        }
        self.purse -= price.max(0.0);
        Some(lengths)
    }

    /// One that has tried all that it may for now, and can afford what promises more.
    #[cfg(test)]
    pub fn without_tries() -> Self {
        Self { account: Self::SAVED, purse: 0.0, busy: 0, reach: Self::LONGEST, ..Self::default() }
    }

    /// Whether the first step of a request for `live` candidates would draft, with a drafter that has to read `unread` tokens for it.
    pub fn would_draft(&self, live: usize, unread: usize, accepted: Estimate, costs: &Costs) -> bool {
        let offer = Offer { most: Self::LONGEST, behind: Some(1), evidence: Evidence::Model };
        let mut slots = vec![Slot { offer, accepted, left: Self::LONGEST * 3 }; live];
        slots[0].offer.behind = Some(unread);
        let mut first = Self { busy: 0, ..self.clone() };
        let drafts = first.choose(&slots, 0, costs).iter().any(|&length| length > 0);
        drafts && !costs.draft.is_empty()
    }

    /// The step brought the candidates that it chose for this many tokens and took this long.
    pub fn stepped(&mut self, tokens: usize, ms: f64) {
        if std::mem::take(&mut self.chosen) {
            let steps = (ms / self.plain.ms).min(4.0);
            self.account += Self::INTEREST * steps;
            self.purse = (self.purse + Self::INTEREST * steps).min(Self::SAVED);
        }
        let Some((promise, drafts)) = self.promised.take() else { return };
        if drafts > 0 {
            let kept = f64::midpoint(self.worth(promise).tokens, tokens as f64);
            let ms = ms.clamp(0.5 * promise.ms, 1.5 * promise.ms);
            self.account += kept / self.plain.tokens - ms / self.plain.ms;
            self.record.add(promise.tokens - self.plain.tokens, drafts, tokens as f64 - self.plain.tokens);
        } else {
            self.record.forget();
        }
        self.account = self.account.min(Self::SAVED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cost::CostCurve;

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
        let accepted = Estimate::doubtful(share, 0.0);
        Slot { offer: Offer { most: 64, evidence, behind }, accepted, left: 100 }
    }

    fn choose(slots: &[Slot], costs: &Costs) -> Vec<usize> {
        Auto::without_tries().choose(slots, 0, costs)
    }

    #[test]
    fn drafts_where_rows_are_cheap_and_not_where_they_are_dear() {
        let one = [slot(0.8, Some(1))];
        assert!(choose(&one, &memory_bound())[0] >= 3);
        assert_eq!(choose(&one, &compute_bound()), [0]);
        let would = |costs: &Costs| Auto::without_tries().would_draft(1, 1, slot(0.8, None).accepted, costs);
        assert!(would(&memory_bound()) && !would(&compute_bound()));
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
            let mut auto = Auto::without_tries();
            let mut tries = 0;
            let doubtful = Slot { accepted: Estimate::doubtful(0.02, 0.9), ..slot(0.02, Some(1)) };
            for _ in 0..steps {
                tries += usize::from(auto.choose(&[doubtful], 0, costs)[0] > 0);
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
        let mut auto = Auto::without_tries();
        let drafted: Vec<bool> = (0..100)
            .map(|step| {
                let share = high + if step % 2 == 0 { 0.005 } else { -0.005 };
                auto.choose(&[slot(share, Some(1))], 0, &costs)[0] > 0
            })
            .collect();
        // One step without drafts between others is a look at its price.
        let left = drafted.windows(3).filter(|three| matches!(three, [true, false, false])).count();
        assert!(left <= 1 && drafted.iter().filter(|&&drafted| drafted).count() >= 75, "{drafted:?}");
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
        assert!((7..=15).contains(&plain), "{plain}");
    }
}
