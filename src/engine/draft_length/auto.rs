//! Draft lengths for all candidates of a step together: the most expected tokens per millisecond.
//!
//! A draft token survives with the product of the acceptance shares up to it. Tokens are taken in falling
//! order of survival under a common budget of rows (TETRIS, arXiv 2502.15197). The number of tokens with the
//! best ratio of expected tokens to expected time wins (goodput, arXiv 2406.14066); it may be 0.
//!
//! Two budgets bound what a wrong estimate costs, both in steps without drafts. The loss budget pays for
//! every step with drafts that is slower than without. The exploration budget pays for lengths that are tried
//! only because they are much faster at the upper confidence bound.

use super::acceptance::Estimate;
use super::cost::Costs;
use crate::engine::drafter::{Evidence, Offer};

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
#[derive(Clone, Copy, Debug, Default)]
struct Forecast {
    /// Tokens of all candidates.
    tokens: f64,
    /// Time, with this step's share of the drafter's catching up.
    ms: f64,
    /// The rest of the catching up.
    owed: f64,
}

impl Forecast {
    /// Tokens per ms.
    fn speed(self) -> f64 {
        self.tokens / self.ms.max(1e-9)
    }
}

/// The candidates of a step and what it costs.
struct Step<'a> {
    slots: &'a [Slot],
    /// Rows that it has besides theirs.
    others: usize,
    costs: &'a Costs,
    /// Without drafts, as expected.
    plain: Forecast,
    /// Confidence bound, in standard errors: above 0 in favour of drafts.
    bound: f64,
}

/// Tokens per step with drafts, for the number of steps that share the cost of catching up.
const STRIDE: usize = 3;

impl Step<'_> {
    fn main_ms(&self, drafted: usize) -> f64 {
        self.costs.main.bound(self.slots.len() + self.others + drafted, -self.bound).max(1e-9)
    }

    /// Forecasts with the first 0, 1, … of these draft tokens: candidate, position, survival.
    fn forecasts(&self, tokens: impl Iterator<Item = (usize, usize, f64)>) -> impl Iterator<Item = Forecast> {
        // Rows and ms of the draft model's passes.
        let mut passes = [(0, 0.0); Auto::LONGEST];
        let mut sum = Forecast { tokens: self.slots.len() as f64, ..Forecast::default() };
        let none = Forecast { ms: self.main_ms(0), ..sum };
        let steps = tokens.enumerate().map(move |(before, (i, j, survival))| {
            sum.tokens += survival;
            let offer = &self.slots[i].offer;
            if offer.lag.is_some() {
                let draft_ms = |rows| self.costs.draft.bound(rows, -self.bound);
                let (rows, ms) = passes[j];
                let rows = rows + if j == 0 { offer.drawn() } else { 1 };
                passes[j] = (rows, draft_ms(rows));
                sum.ms += passes[j].1 - ms;
                if j == 0 {
                    // What it has not read yet is an investment.
                    let ms = self.costs.read_ms(offer.unread());
                    let now = ms / (self.slots[i].left / STRIDE).max(1) as f64;
                    sum.ms += now;
                    sum.owed += ms - now;
                }
            }
            Forecast { ms: sum.ms + self.main_ms(before + 1), ..sum }
        });
        std::iter::once(none).chain(steps)
    }

    /// Draft tokens that may be worth a row, in falling order of survival.
    fn tokens(&self, passes: bool) -> Vec<(usize, usize, f64)> {
        let n = self.slots.len();
        // No token that adds less than the cheapest row costs can raise the ratio.
        let row_ms = (self.main_ms(4 * n) - self.main_ms(0)) / (4 * n) as f64;
        let least = (0.5 * n as f64 / self.main_ms(0) * row_ms).max(0.02);
        let mut tokens = Vec::new();
        for (i, slot) in self.slots.iter().enumerate() {
            let most = if slot.offer.lag.is_some() && !passes { 0 } else { slot.offer.most.min(Auto::LONGEST) };
            let survivals = (0..most).scan(1.0, |survival, j| {
                *survival *= slot.accepted.share(j, self.bound);
                Some((i, j, *survival))
            });
            tokens.extend(survivals.take_while(|&(_, _, survival)| survival >= least));
        }
        // Survival falls within a candidate, so that a prefix of this order is a prefix of every draft.
        tokens.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
        tokens
    }

    /// The lengths with the most tokens per ms, with drafts that take passes or without.
    fn best(&self, passes: bool) -> (Vec<usize>, Forecast) {
        let tokens = self.tokens(passes && !self.costs.draft.is_empty());
        let mut best = (0, self.plain);
        for (taken, forecast) in self.forecasts(tokens.iter().copied()).enumerate().skip(1) {
            if forecast.speed() > best.1.speed() {
                best = (taken, forecast);
            }
        }
        let mut lengths = vec![0; self.slots.len()];
        tokens[..best.0].iter().for_each(|&(i, ..)| lengths[i] += 1);
        (lengths, best.1)
    }

    /// What these lengths bring.
    fn forecast(&self, lengths: &[usize]) -> Forecast {
        let survive = |i: usize, j: usize| (0..=j).map(|j| self.slots[i].accepted.share(j, self.bound)).product();
        let tokens =
            lengths.iter().enumerate().flat_map(|(i, &length)| (0..length).map(move |j| (i, j, survive(i, j))));
        self.forecasts(tokens).last().unwrap_or(self.plain)
    }
}

/// What the choice remembers from step to step.
#[derive(Clone, Debug)]
pub struct Auto {
    /// Whether the last step used a draft model because that is faster.
    drafting: bool,
    /// Steps with drafts since the last one without.
    since_plain: usize,
    loss_budget: f64,
    exploration_budget: f64,
    /// Forecasts of the step under way: without drafts, and with the lengths chosen.
    chosen: Option<(Forecast, Forecast)>,
}

impl Default for Auto {
    fn default() -> Self {
        // The very first step goes without drafts.
        Self {
            drafting: false,
            since_plain: usize::MAX,
            loss_budget: Self::BEGIN,
            exploration_budget: Self::BEGIN,
            chosen: None,
        }
    }
}

impl Auto {
    /// Most tokens proposed for a candidate.
    pub const LONGEST: usize = 16;
    /// To switch to a draft model it has to promise this many times the speed; to stay, just more.
    const SWITCH_MARGIN: f64 = 1.02;
    /// Both budgets: at the beginning, as a share of the time that passes, and at most.
    const BEGIN: f64 = 2.0;
    const INCOME: f64 = 0.01;
    const LIMIT: f64 = 3.0;
    /// Part of the loss budget that one step may lose at the lower confidence bound.
    const RISK: f64 = 0.7;
    /// Part of the steps left that the drafter's catching up may take.
    const INVESTMENT: f64 = 0.05;
    /// What has to be gained at the upper bound with one step left in the exploration budget; less with more.
    const EXPLORATION_GAIN: f64 = 1.1;
    /// Steps with drafts between two without, which show what such a step costs now: more where drafts gain
    /// more.
    const PROBE_INTERVAL: f64 = 4.0;
    const INTERVAL_PER_GAIN: f64 = 33.0;
    /// Part of the difference between accepted and expected tokens that the loss budget sees; the rest is
    /// luck.
    const LUCK: f64 = 0.4;
    /// A step that takes this many times as long as expected was interrupted.
    const INTERRUPTED: f64 = 1.5;

    /// Lengths for the candidates `slots`, in a step that has `others` more rows anyway.
    pub fn choose(&mut self, slots: &[Slot], others: usize, costs: &Costs) -> Vec<usize> {
        self.chosen = None;
        if slots.is_empty() || costs.main.is_empty() {
            return vec![0; slots.len()];
        }
        let ms = costs.main.ms(slots.len() + others).max(1e-9);
        let plain = Forecast { tokens: slots.len() as f64, ms, owed: 0.0 };
        let step = Step { slots, others, costs, plain, bound: 0.0 };
        let lengths = self.lengths(&step).unwrap_or_else(|| vec![0; slots.len()]);
        let drafts = lengths.iter().any(|&length| length > 0);
        self.since_plain = if drafts { self.since_plain.saturating_add(1) } else { 0 };
        self.chosen = Some((plain, step.forecast(&lengths)));
        lengths
    }

    /// None for a step without drafts.
    fn lengths(&mut self, step: &Step<'_>) -> Option<Vec<usize>> {
        let (free, all) = (step.best(false), step.best(true));
        let margin = if self.drafting { 1.0 } else { Self::SWITCH_MARGIN };
        self.drafting = all.1.speed() > margin * free.1.speed();
        let (best, forecast) = if self.drafting { all } else { free };
        let gain = forecast.speed() / step.plain.speed() - 1.0;
        if gain > 0.0 && self.since_plain as f64 >= Self::PROBE_INTERVAL + gain * Self::INTERVAL_PER_GAIN {
            return None;
        }
        self.explore(step, &best, forecast).or_else(|| self.afforded(step, best))
    }

    /// Lengths that may turn out much faster than `best`, if the budgets cover them.
    fn explore(&mut self, step: &Step<'_>, best: &[usize], expected: Forecast) -> Option<Vec<usize>> {
        if self.loss_budget <= 0.0 || self.exploration_budget <= 0.0 {
            return None;
        }
        let (lengths, upper) = Step { bound: 1.0, ..*step }.best(true);
        let least = 1.0 + Self::EXPLORATION_GAIN / self.exploration_budget;
        if lengths == best || upper.speed() <= least * expected.speed() {
            return None;
        }
        let lengths = self.afforded(step, lengths)?;
        let forecast = step.forecast(&lengths);
        let price = (forecast.ms + forecast.owed - forecast.tokens / expected.speed()) / step.plain.ms;
        if price > self.exploration_budget {
            return None;
        }
        self.exploration_budget -= price.max(0.0);
        Some(lengths)
    }

    /// These lengths, or shorter and fewer ones, whose loss at the lower bound the loss budget covers.
    fn afforded(&self, step: &Step<'_>, mut lengths: Vec<usize>) -> Option<Vec<usize>> {
        let step = Step { bound: -1.0, ..*step };
        let mut drafting = lengths.len();
        let left = step.slots.iter().map(|slot| slot.left).max().unwrap_or(0) as f64;
        while self.loss_budget > 0.0 && lengths.iter().any(|&length| length > 0) {
            let worst = step.forecast(&lengths);
            let loss = worst.ms / step.plain.ms - worst.tokens / step.plain.tokens;
            // What is invested is lost where drafts do not pay, else they earn it.
            let invested = worst.owed / step.plain.ms <= Self::INVESTMENT * left || loss <= 0.0;
            if invested && loss <= Self::RISK * self.loss_budget {
                return Some(lengths);
            }
            if lengths.iter().any(|&length| length > 1) {
                lengths = lengths.into_iter().map(|length| length.min(1)).collect();
            } else {
                drafting /= 2;
                lengths[drafting..].fill(0);
            }
        }
        None
    }

    /// One that may not explore for now, and can afford what is faster.
    #[cfg(test)]
    pub fn without_exploration() -> Self {
        Self { loss_budget: Self::LIMIT, exploration_budget: 0.0, since_plain: 0, ..Self::default() }
    }

    /// Whether the first step of a request for `live` candidates of at most `left` tokens would draft, with a
    /// drafter that has to read `unread` tokens for it.
    pub fn would_draft(&self, live: usize, left: usize, unread: usize, accepted: Estimate, costs: &Costs) -> bool {
        let offer = Offer { most: Self::LONGEST, lag: Some(1), evidence: Evidence::Model };
        let mut slots = vec![Slot { offer, accepted, left }; live];
        slots[0].offer.lag = Some(unread);
        let mut first = Self { since_plain: 0, ..self.clone() };
        let drafts = first.choose(&slots, 0, costs).iter().any(|&length| length > 0);
        drafts && !costs.draft.is_empty()
    }

    /// The step brought the candidates that it chose for this many tokens and took this long.
    pub fn stepped(&mut self, tokens: usize, ms: f64) {
        let Some((plain, chosen)) = self.chosen.take() else { return };
        let steps = ms.min(Self::INTERRUPTED * chosen.ms) / plain.ms;
        self.exploration_budget = (self.exploration_budget + Self::INCOME * steps).min(Self::LIMIT);
        self.loss_budget += Self::INCOME * steps;
        if chosen.tokens > plain.tokens {
            let kept = Self::LUCK * chosen.tokens + (1.0 - Self::LUCK) * tokens as f64;
            self.loss_budget += kept / plain.tokens - steps;
        }
        self.loss_budget = self.loss_budget.min(Self::LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::draft_length::cost::CostCurve;

    fn costs(main: [(usize, f64); 2], draft: f64) -> Costs {
        Costs { main: CostCurve::new(main), draft: CostCurve::new([(1, draft), (64, draft)]), read: draft }
    }

    /// 8 rows cost little more than one.
    fn memory_bound() -> Costs {
        costs([(1, 10.0), (8, 11.0)], 0.5)
    }

    /// Every row costs the same.
    fn compute_bound() -> Costs {
        costs([(1, 10.0), (8, 80.0)], 0.5)
    }

    fn slot(share: f64, lag: Option<usize>) -> Slot {
        let evidence = if lag.is_some() { Evidence::Model } else { Evidence::Match { length: 4 } };
        let accepted = Estimate::doubtful(share, 0.0);
        Slot { offer: Offer { most: 64, evidence, lag }, accepted, left: 100 }
    }

    fn choose(slots: &[Slot], costs: &Costs) -> Vec<usize> {
        Auto::without_exploration().choose(slots, 0, costs)
    }

    #[test]
    fn drafts_where_rows_are_cheap_and_not_where_they_are_dear() {
        let one = [slot(0.8, Some(1))];
        assert!(choose(&one, &memory_bound())[0] >= 3);
        assert_eq!(choose(&one, &compute_bound()), [0]);
        let would = |costs: &Costs| Auto::without_exploration().would_draft(1, 48, 1, slot(0.8, None).accepted, costs);
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
        let costs = memory_bound();
        assert!(choose(&[slot(0.8, Some(10))], &costs)[0] > 0);
        assert_eq!(choose(&[slot(0.8, Some(2000))], &costs), [0], "1000 ms to save less than 700");
        let nearly_done = Slot { left: 2, ..slot(0.8, Some(60)) };
        assert_eq!(choose(&[nearly_done], &costs), [0]);
    }

    #[test]
    fn exploration_costs_next_to_nothing_and_only_happens_where_there_is_much_to_gain() {
        let explored = |costs: &Costs, steps: usize| {
            let mut auto = Auto::without_exploration();
            let mut explored = 0;
            let doubtful = Slot { accepted: Estimate::doubtful(0.02, 0.9), ..slot(0.02, Some(1)) };
            for _ in 0..steps {
                explored += usize::from(auto.choose(&[doubtful], 0, costs)[0] > 0);
                auto.stepped(1, 10.0);
            }
            explored
        };
        let few = explored(&memory_bound(), 2000);
        assert!((5..=100).contains(&few), "{few}");
        assert_eq!(explored(&compute_bound(), 2000), 0);
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
        let mut auto = Auto::without_exploration();
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
