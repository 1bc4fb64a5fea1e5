//! Draft lengths for all candidates of a step together: the most expected tokens per millisecond.
//!
//! A draft token survives if it and all before it are accepted. Tokens are taken in falling order of survival
//! (TETRIS, arXiv 2502.15197), as many as give the best ratio of expected tokens to expected time (goodput,
//! arXiv 2406.14066), which may be none. Where drafts are better, a step without them is tried now and then,
//! and the other way round, so that both estimates stay true; a fixed part of the time pays for that.

use super::acceptance::Acceptance;
use super::cost::Costs;
use crate::engine::drafter::{Evidence, Found, Offer, Passes};

/// One candidate of a step.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The drafter's offer.
    pub offer: Offer,
    /// Tokens that it is expected to write yet.
    pub left: usize,
}

/// Expected tokens and time of a step.
#[derive(Clone, Copy, Debug)]
struct Forecast {
    /// Tokens of all candidates, one for each row of others.
    tokens: f64,
    /// Time, with this step's share of the drafter's catching up.
    ms: f64,
    /// Rest of the catching up.
    owed: f64,
}

impl Forecast {
    /// Tokens per ms.
    fn speed(self) -> f64 {
        self.tokens / self.ms.max(1e-9)
    }
}

/// Estimates that lengths are chosen by, and the time left for exploring the other choice.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    /// Curves of the pair.
    pub costs: Costs,
    /// Shares of accepted tokens.
    pub acceptance: Acceptance,
    /// Lengths of candidates that have ended.
    usual: Usual,
    /// Ms that exploration may lose.
    exploration: f64,
    /// Steps since the last exploration.
    since_exploration: usize,
}

/// A running mean of how many tokens candidates have at their end.
#[derive(Clone, Copy, Debug)]
struct Usual {
    mean: f64,
    /// Candidates that it counts for.
    weight: f64,
}

impl Default for Usual {
    /// A function of a few lines.
    fn default() -> Self {
        Self { mean: 64.0, weight: 4.0 }
    }
}

impl Usual {
    /// Most weight.
    const MEMORY: f64 = 32.0;

    fn add(&mut self, tokens: usize) {
        self.weight = (self.weight + 1.0).min(Self::MEMORY);
        self.mean += (tokens as f64 - self.mean) / self.weight;
    }
}

impl Auto {
    /// Most tokens proposed for a candidate.
    pub const LONGEST: usize = 16;
    /// Drafts have to promise this many times the speed of none.
    pub const MARGIN: f64 = 1.03;
    /// Draft tokens that survive less often are not considered.
    const LEAST_SURVIVAL: f64 = 0.02;
    /// Tokens per step with drafts, for the number of steps that share the cost of catching up.
    const STRIDE: usize = 3;
    /// Part of the time that exploration may lose, and most that is saved for it, in steps.
    const EXPLORATION: f64 = 0.005;
    const MOST_EXPLORATION: f64 = 4.0;
    /// Fewest steps from one exploration to the next.
    const INTERVAL: usize = 8;

    /// Lengths for the candidates `slots`, in a step that has `others` more rows anyway. Offers become those
    /// that the lengths are for.
    pub fn choose(&mut self, slots: &mut [Slot], others: usize) -> Vec<usize> {
        let none = vec![0; slots.len()];
        let plain = self.plain(slots.len(), others);
        let Some((drafts, lengths, chosen)) = self.drafts(slots, others) else { return none };
        slots.copy_from_slice(&chosen);
        let pays = Self::pays(drafts, plain);
        let (best, other) = if pays { (drafts, plain) } else { (plain, drafts) };
        // Time that the other choice is expected to lose.
        let loss = (other.ms + other.owed - other.tokens / best.speed()).max(0.0);
        self.since_exploration += 1;
        let explores = self.since_exploration >= Self::INTERVAL && loss < self.exploration;
        if explores {
            self.exploration -= loss;
            self.since_exploration = 0;
        }
        if pays == explores { none } else { lengths }
    }

    /// The first step of a request for `live` candidates of at most `left` tokens would draft, with a draft
    /// model that has to read `unread` tokens for it, while `others` candidates are written.
    pub fn would_draft(&self, (live, others): (usize, usize), left: usize, unread: usize) -> bool {
        let offer =
            |lag| Offer { most: Self::LONGEST, passes: Passes::Each { lag }, evidence: Evidence::Model, or: None };
        let left = self.expected(left);
        let slots: Vec<Slot> =
            (0..live).map(|i| Slot { offer: offer(if i == 0 { unread } else { 1 }), left }).collect();
        self.drafts(&slots, others).is_some_and(|(drafts, ..)| Self::pays(drafts, self.plain(live, others)))
    }

    /// A candidate has ended by itself with so many tokens.
    pub fn ended(&mut self, tokens: usize) {
        self.usual.add(tokens);
    }

    /// Tokens that a candidate with room for `room` will write: as many as usual from any place on, because a
    /// long one has shown that it is.
    pub fn expected(&self, room: usize) -> usize {
        room.min(self.usual.mean.round() as usize)
    }

    /// Takes in that a step took this long besides drafting, in which the main model passed over `rows` rows.
    pub fn stepped(&mut self, rows: usize, ms: f64) {
        self.costs.main_took(rows, ms);
        self.exploration =
            (self.exploration + Self::EXPLORATION * ms).min(Self::MOST_EXPLORATION * self.costs.main.ms(rows));
    }

    fn pays(drafts: Forecast, plain: Forecast) -> bool {
        drafts.speed() > Self::MARGIN * plain.speed()
    }

    fn plain(&self, live: usize, others: usize) -> Forecast {
        Forecast { tokens: (live + others) as f64, ms: self.costs.main.ms(live + others), owed: 0.0 }
    }

    /// Fastest drafts, their lengths and what they rest on; `None` where nothing can be drafted or nothing is
    /// known.
    fn drafts(&self, slots: &[Slot], others: usize) -> Option<(Forecast, Vec<usize>, Vec<Slot>)> {
        if self.costs.main.is_empty() {
            return None;
        }
        // Tokens that take passes, and others that are free, need not pay both.
        let kinds = if self.costs.draft.is_empty() { &[false][..] } else { &[false, true] };
        let best = kinds.iter().filter_map(|&passes| {
            let slots: Vec<Slot> =
                slots.iter().map(|slot| Slot { offer: self.used(&slot.offer, passes), ..*slot }).collect();
            let (forecast, lengths) = self.best(&slots, others)?;
            Some((forecast, lengths, slots))
        });
        best.max_by(|(a, ..), (b, ..)| a.speed().total_cmp(&b.speed()))
    }

    /// An offer, or its free alternative: where no pass is taken, and where it is as sure.
    fn used(&self, offer: &Offer, passes: bool) -> Offer {
        let surer = |found: Found| self.acceptance.share(found.evidence) >= self.acceptance.share(offer.evidence);
        if !passes || offer.or.is_some_and(surer) { offer.free_part() } else { *offer }
    }

    /// Fastest drafts of one token or more.
    fn best(&self, slots: &[Slot], others: usize) -> Option<(Forecast, Vec<usize>)> {
        let mut tokens: Vec<(usize, usize, f64)> = Vec::new();
        for (i, slot) in slots.iter().enumerate() {
            let share = self.acceptance.share(slot.offer.evidence);
            let survivals = (0..slot.offer.most.min(Self::LONGEST)).map(|j| (i, j, share.powi(j as i32 + 1)));
            tokens.extend(survivals.take_while(|&(.., survival)| survival > Self::LEAST_SURVIVAL));
        }
        // Survival falls within a candidate, so that a prefix of this order is a prefix of every draft.
        tokens.sort_by(|a, b| b.2.total_cmp(&a.2));
        let (live, draft) = (slots.len(), &self.costs.draft);
        let mut now = self.plain(live, others);
        let mut best: Option<(usize, Forecast)> = None;
        // Rows of the drafter's passes, and their ms.
        let (mut rows, mut drafting) = ([0; Self::LONGEST], 0.0);
        for (at, &(i, j, survival)) in tokens.iter().enumerate() {
            let Slot { offer, left } = slots[i];
            if !offer.is_free() {
                let (pass, more) = offer.pass(j);
                drafting += draft.ms(rows[pass] + more) - draft.ms(rows[pass]);
                rows[pass] += more;
                if j == 0 {
                    // The cost of reading these is spread over the steps that are left.
                    let ms = self.costs.read * offer.unread() as f64;
                    let share = ms / (left / Self::STRIDE).max(1) as f64;
                    drafting += share;
                    now.owed += ms - share;
                }
            }
            now.tokens += survival;
            now.ms = drafting + self.costs.main.ms(live + others + at + 1);
            if best.is_none_or(|(_, best)| now.speed() > best.speed()) {
                best = Some((at + 1, now));
            }
        }
        best.map(|(taken, forecast)| {
            let mut lengths = vec![0; live];
            tokens[..taken].iter().for_each(|&(i, ..)| lengths[i] += 1);
            (forecast, lengths)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::draft_length::cost::CostCurve;
    use crate::engine::draft_length::{Outcome, passes};
    use crate::engine::drafter::Votes;

    type Points = &'static [(usize, f64)];

    fn auto(main: Points, draft_ms: f64, share: f64) -> Auto {
        let curve = |points: Points| CostCurve::new(points.iter().copied());
        let draft = CostCurve::new([(1, draft_ms), (64, draft_ms)]);
        let mut auto = Auto { costs: Costs { main: curve(main), draft, read: draft_ms }, ..Auto::default() };
        auto.acceptance.believe(Evidence::Model, share);
        auto
    }

    /// Eight rows cost little more than one.
    const MEMORY_BOUND: Points = &[(1, 10.0), (8, 11.0)];
    /// Every row costs the same.
    const COMPUTE_BOUND: Points = &[(1, 10.0), (8, 80.0)];

    fn slot(lag: usize) -> Slot {
        Slot { offer: Offer { most: 64, evidence: Evidence::Model, passes: Passes::Each { lag }, or: None }, left: 100 }
    }

    #[test]
    fn drafts_where_rows_are_cheap_and_catching_up_pays() {
        let cases: [(Points, f64, f64, Slot, std::ops::RangeInclusive<usize>); 7] = [
            (MEMORY_BOUND, 0.5, 0.8, slot(1), 3..=16),
            (COMPUTE_BOUND, 0.5, 0.8, slot(1), 0..=0),
            (MEMORY_BOUND, 0.5, 0.02, slot(1), 0..=0),
            (MEMORY_BOUND, 10.0, 0.8, slot(1), 0..=0),
            (MEMORY_BOUND, 0.5, 0.8, slot(10), 1..=16),
            (MEMORY_BOUND, 0.5, 0.8, slot(2000), 0..=0),
            (MEMORY_BOUND, 0.5, 0.8, Slot { left: 2, ..slot(60) }, 0..=0),
        ];
        for (i, (main, draft_ms, share, slot, expected)) in cases.into_iter().enumerate() {
            let mut auto = auto(main, draft_ms, share);
            let length = auto.choose(&mut [slot], 0)[0];
            assert!(expected.contains(&length), "case {i}: {length}");
            let Passes::Each { lag } = slot.offer.passes else { panic!("a pass each") };
            assert_eq!(auto.would_draft((1, 0), slot.left, lag), length > 0, "case {i}");
        }
        assert_eq!(Auto::default().choose(&mut [slot(1)], 0), [0], "before anything is measured");
        assert!(auto(MEMORY_BOUND, 0.5, 0.8).choose(&mut [], 3).is_empty());
    }

    /// Short candidates do not pay for reading a prompt, whatever room they have.
    #[test]
    fn a_prompt_is_read_for_what_is_usually_written() {
        let mut auto = auto(MEMORY_BOUND, 0.5, 0.8);
        assert!(auto.would_draft((1, 0), 500, 400), "a function of usual length");
        (0..400).for_each(|_| auto.ended(10));
        assert_eq!(auto.expected(500), 10);
        assert!(!auto.would_draft((1, 0), 500, 400) && auto.would_draft((1, 0), 500, 20));
        (0..400).for_each(|_| auto.ended(300));
        assert!(auto.would_draft((1, 0), 500, 400) && !auto.would_draft((1, 0), 10, 400));
        // Beside others rows are not cheap any more.
        auto.costs.main = CostCurve::new([(1, 10.0), (4, 11.0), (64, 170.0)]);
        assert!(auto.would_draft((1, 0), 500, 400) && !auto.would_draft((1, 11), 500, 400));
    }

    #[test]
    fn surer_and_free_drafts_are_longer() {
        let of = |evidence| Slot { offer: Offer::free(Found { most: 64, evidence }), left: 100 };
        let matched = |length, votes| of(Evidence::Match { length, votes });
        let places = [(8, Votes::Many), (8, Votes::One), (4, Votes::One), (8, Votes::Split), (1, Votes::One)];
        let lengths =
            auto(&[(1, 10.0), (64, 12.0)], 0.5, 0.8).choose(&mut places.map(|(of, votes)| matched(of, votes)), 0);
        assert!(
            lengths.is_sorted_by(|a, b| a >= b) && lengths[1] > lengths[2] && lengths[2] > lengths[3],
            "{lengths:?}"
        );
        let lengths = auto(&[(1, 10.0), (8, 14.0)], 100.0, 0.9).choose(&mut [matched(8, Votes::One), slot(1)], 0);
        assert!(lengths[0] > 0 && lengths[1] == 0, "a pass would not pay: {lengths:?}");
    }

    #[test]
    fn a_free_alternative_is_taken_where_passes_do_not_pay_and_where_it_is_as_sure() {
        let with = |length, votes| {
            let found = Found { most: 16, evidence: Evidence::Sibling { length, votes } };
            Slot { offer: Offer { or: Some(found), ..slot(1).offer }, left: 100 }
        };
        let chosen = |mut auto: Auto, of: Slot| {
            let mut slots = [of];
            let lengths = auto.choose(&mut slots, 0);
            (lengths[0] > 0, slots[0].offer.is_free())
        };
        let slow = || auto(&[(1, 10.0), (8, 14.0)], 100.0, 0.9);
        assert_eq!(chosen(slow(), with(8, Votes::One)), (true, true), "a pass takes ten of the main model's");
        let quick = || auto(MEMORY_BOUND, 0.5, 0.8);
        assert_eq!(chosen(quick(), with(2, Votes::One)), (true, false), "the draft model is surer");
        assert_eq!(chosen(quick(), with(8, Votes::Many)), (true, true), "many places are");
    }

    /// Pass times of the main model, ms of a pass of the drafter, share of accepted tokens.
    type Machine = (Points, f64, f64);

    /// Numbers from 0 to 1.
    fn draws(mut key: u64) -> impl FnMut() -> f64 {
        move || {
            key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (key >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Time of 400 tokens of `live` candidates on a machine whose readings are noisy, relative to the time
    /// without drafts. `off` is the error, as a factor, of the measurements of rows beyond `live` and of the
    /// drafter.
    fn simulate((main, draft_ms, share): Machine, live: usize, off: f64, length: Option<usize>, seed: u64) -> f64 {
        let truth = auto(main, draft_ms, share).costs;
        let mut auto = auto(main, draft_ms * off, (share / off).min(0.95));
        let measured = |rows| (rows, truth.main.ms(rows) * if rows > live { off } else { 1.0 });
        auto.costs.main = CostCurve::new([1, 2, 4, 8, 16, 32, 64, 128].map(measured));
        auto.costs.read = 0.02 * draft_ms;
        let (mut total, mut written, mut lag, mut draw) = (0.0, vec![0; live], vec![1; live], draws(seed));
        while written.iter().sum::<usize>() < 400 * live {
            let mut slots: Vec<Slot> = lag.iter().map(|&lag| slot(lag)).collect();
            let offers: Vec<Offer> = slots.iter().map(|slot| slot.offer).collect();
            let lengths = length.map_or_else(|| auto.choose(&mut slots, 0), |length| vec![length; live]);
            let (draft_rows, unread) = passes(&lengths, &offers);
            let rows = live + lengths.iter().sum::<usize>();
            let drafting = draft_ms * (draft_rows.len() as f64 + 0.02 * unread as f64);
            let verifying = truth.main.ms(rows);
            total += drafting + verifying;
            let mut reading = |ms: f64| ms * (0.85 + 0.3 * draw()) * if draw() < 0.02 { 3.0 } else { 1.0 };
            auto.costs.draft_took(&draft_rows, unread, reading(drafting));
            auto.stepped(rows, reading(verifying));
            for (i, &drafted) in lengths.iter().enumerate() {
                let accepted = (0..drafted).take_while(|_| draw() < share).count();
                auto.acceptance.observe(Evidence::Model, Outcome { drafted, accepted });
                written[i] += accepted + 1;
                lag[i] = if drafted == 0 { lag[i] + 1 } else { 1 };
            }
        }
        total / (400.0 * truth.main.ms(live))
    }

    #[test]
    fn is_near_the_best_length_and_no_slower_than_none_whatever_was_measured() {
        const LARGE: Points = &[(1, 36.0), (2, 38.0), (4, 47.0), (8, 78.0), (16, 124.0), (32, 230.0)];
        const SMALL: Points = &[(1, 0.17), (2, 0.25), (4, 0.42), (8, 0.70), (16, 1.34), (32, 2.41), (64, 4.52)];
        const FLAT: Points = &[(1, 10.0), (64, 11.0), (256, 40.0)];
        let machines: [Machine; 4] =
            [(LARGE, 13.8, 0.8), (SMALL, 0.05, 0.82), (FLAT, 1.0, 0.77), (COMPUTE_BOUND, 1.0, 0.75)];
        for (i, machine) in machines.into_iter().enumerate() {
            for live in [1, 4, 16] {
                let of = |off, length| (0..4).map(|seed| simulate(machine, live, off, length, seed)).sum::<f64>() / 4.0;
                let best = (1..=5).map(|k| of(1.0, Some(k))).fold(1.0, f64::min);
                for (off, most) in [(0.75, 1.12 * best), (1.0, 1.12 * best), (1.3, 1.04)] {
                    let time = of(off, None);
                    assert!(time < most.min(1.04), "machine {i}, {live} live, off {off}: {time:.3}, best {best:.3}");
                }
            }
        }
    }

    /// Time of 60 tokens of `live` candidates with drafts of lookups for half of the steps, relative to the
    /// time without, on a machine that was measured amiss.
    fn simulate_lookup(main: Points, measured: Points, share: f64, live: usize, seed: u64) -> f64 {
        let curve = |points: Points| CostCurve::new(points.iter().copied());
        let (truth, costs) = (curve(main), Costs { main: curve(measured), ..Costs::default() });
        let mut auto = Auto { costs, ..Auto::default() };
        let evidence = Evidence::Match { length: 4, votes: Votes::One };
        let (mut total, mut written, mut draw) = (0.0, vec![0; live], draws(seed));
        while written.iter().sum::<usize>() < 60 * live {
            let mut slots: Vec<Slot> = (0..live)
                .map(|_| if draw() < 0.5 { Found { most: 16, evidence } } else { Found { most: 0, evidence } })
                .map(|found| Slot { offer: Offer::free(found), left: 100 })
                .collect();
            let lengths = auto.choose(&mut slots, 0);
            let rows = live + lengths.iter().sum::<usize>();
            total += truth.ms(rows);
            auto.stepped(rows, truth.ms(rows) * (0.85 + 0.3 * draw()));
            for (written, &drafted) in written.iter_mut().zip(&lengths) {
                let accepted = (0..drafted).take_while(|_| draw() < share).count();
                auto.acceptance.observe(evidence, Outcome { drafted, accepted });
                *written += accepted + 1;
            }
        }
        total * live as f64 / (written.iter().sum::<usize>() as f64 * truth.ms(live))
    }

    /// Few sizes of passes, all measured while other programs had the processor: more rows seemed free.
    #[test]
    fn a_measurement_amiss_is_soon_corrected() {
        const TRUE: Points = &[(1, 38.0), (2, 39.0), (4, 47.0), (8, 63.0), (16, 106.0), (32, 205.0)];
        const FEW: Points = &[(1, 161.0), (2, 163.0), (4, 163.0)];
        const FLAT: Points = &[(1, 150.0), (2, 152.0), (4, 153.0), (8, 153.0), (16, 160.0), (32, 220.0)];
        for (measured, most) in [(TRUE, 1.03), (FEW, 1.03), (FLAT, 1.2)] {
            for (share, live) in [0.1, 0.3, 0.6].into_iter().flat_map(|share| [1, 4, 8].map(|live| (share, live))) {
                let time = (0..8).map(|seed| simulate_lookup(TRUE, measured, share, live, seed)).sum::<f64>() / 8.0;
                assert!(time < most, "{} sizes, share {share}, {live} live: {time:.3}", measured.len());
            }
        }
    }
}
