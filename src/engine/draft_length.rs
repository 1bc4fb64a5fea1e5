//! How many tokens to propose per step: pure policies, one state per request.

use super::cost::Costs;
use super::request::DraftLength;

/// What became of the drafts of one candidate in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Draft tokens proposed.
    pub drafted: usize,
    /// How many were accepted.
    pub accepted: usize,
}

/// The state of a policy.
#[derive(Clone, Debug)]
pub enum Policy {
    /// Always the same.
    Fixed(usize),
    /// Algorithm 1 of BASS.
    Bass(Bass),
    /// By cost and acceptance.
    Auto(Auto),
}

impl Policy {
    /// A fresh state.
    pub fn new(kind: DraftLength) -> Self {
        match kind {
            DraftLength::Fixed(k) => Self::Fixed(k),
            DraftLength::Bass => Self::Bass(Bass::default()),
            DraftLength::Auto => Self::Auto(Auto::default()),
        }
    }

    /// Draft length for the next step of `live` candidates, before it is clamped by what a candidate has room for.
    pub fn length(&mut self, live: usize, costs: &Costs) -> usize {
        match self {
            Self::Fixed(k) => *k,
            Self::Bass(b) => b.length,
            Self::Auto(a) => a.length(live, costs),
        }
    }

    /// Takes in the outcome of a step, of the candidates that are still unfinished.
    pub fn update(&mut self, outcomes: &[Outcome]) {
        match self {
            Self::Fixed(_) => {}
            Self::Bass(b) => b.update(outcomes),
            Self::Auto(a) => a.update(outcomes),
        }
    }
}

/// The length with the best expected number of tokens per millisecond.
///
/// With acceptance a per draft token a step of k drafts yields (1 − a^(k+1)) / (1 − a) tokens per candidate (Leviathan et al., arXiv
/// 2211.17192) and takes one main pass of live · (k + 1) rows and k draft passes of `live` rows.
#[derive(Clone, Debug)]
pub struct Auto {
    current: usize,
    /// Draft tokens seen to be accepted or rejected, old ones fading.
    accepted: f64,
    judged: f64,
    /// Steps since something was last drafted, and how many to wait before a new try.
    idle: usize,
    patience: usize,
    /// Steps with drafts in a row, and after how many of them a step goes without, to learn its price.
    busy: usize,
    trust: usize,
}

impl Default for Auto {
    fn default() -> Self {
        // Seven tokens of ten: a drafter that a few steps prove or refute.
        Self {
            current: 0,
            accepted: 7.0,
            judged: 10.0,
            idle: 0,
            patience: Self::FIRST_PATIENCE,
            busy: 0,
            trust: Self::FIRST_TRUST,
        }
    }
}

impl Auto {
    const LONGEST: usize = 8;
    const FADE: f64 = 0.98;
    /// A new length has to promise this much more.
    const HYSTERESIS: f64 = 1.05;
    const FIRST_PATIENCE: usize = 48;
    const WORTH_A_TRY: f64 = 0.9;
    const FIRST_TRUST: usize = 3;
    const LAST_TRUST: usize = 96;

    fn length(&mut self, live: usize, costs: &Costs) -> usize {
        if self.busy >= self.trust {
            // A price that was measured in a bad moment would keep a wrong choice alive for ever.
            self.busy = 0;
            self.trust = (2 * self.trust).min(Self::LAST_TRUST);
            return 0;
        }
        self.current = self.choose(live, costs);
        if self.current == 0 {
            (self.idle, self.busy) = (self.idle + 1, 0);
        } else {
            (self.idle, self.busy) = (0, self.busy + 1);
        }
        self.current
    }

    fn choose(&mut self, live: usize, costs: &Costs) -> usize {
        // Nothing is known at first: one short draft, one step without, then there are prices.
        if costs.draft.ms(live).is_none() {
            return 1;
        }
        if !costs.main.has_slope() {
            return 0;
        }
        let gain = |k: usize| self.tokens(k) / Self::ms(k, live, costs);
        let best = (0..=Self::LONGEST).max_by(|&a, &b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
        // Giving up needs no such reason: plain decoding is what drafting must never be slower than.
        let keep = best > 0 && gain(best) < Self::HYSTERESIS * gain(self.current);
        let length = if keep { self.current } else { best };
        if length == 0 && self.idle >= self.patience && gain(1) > Self::WORTH_A_TRY * gain(0) {
            // The text may have become easier: one try, and the next one later. Not where it could hardly pay: the drafter has
            // to read first what was written without it.
            self.patience *= 2;
            return 1;
        }
        length
    }

    fn tokens(&self, k: usize) -> f64 {
        let a = (self.accepted / self.judged).clamp(0.01, 0.99);
        (1.0 - a.powi(k as i32 + 1)) / (1.0 - a)
    }

    fn ms(k: usize, live: usize, costs: &Costs) -> f64 {
        let main = costs.main.ms(live * (k + 1)).unwrap_or(0.0);
        let draft = costs.draft.ms(live).unwrap_or(0.0);
        (main + k as f64 * draft).max(1e-6)
    }

    fn update(&mut self, outcomes: &[Outcome]) {
        for o in outcomes.iter().filter(|o| o.drafted > 0) {
            // After the first rejection the rest of a draft was not looked at.
            let judged = (o.accepted + 1).min(o.drafted);
            self.accepted = self.accepted * Self::FADE + o.accepted as f64;
            self.judged = self.judged * Self::FADE + judged as f64;
        }
    }
}

/// Algorithm 1 of BASS (arXiv 2404.15778): grows by 2 when any candidate accepted a full draft, else shrinks, faster when it shrank
/// before, but not below the best candidate of the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bass {
    length: usize,
    shrank: bool,
}

impl Default for Bass {
    fn default() -> Self {
        Self { length: Self::START, shrank: false }
    }
}

impl Bass {
    const START: usize = 7;
    const GROWTH: usize = 2;
    const DIVISOR: usize = 10;
    const LIMIT: usize = 32;

    fn update(&mut self, outcomes: &[Outcome]) {
        let Some(best) = outcomes.iter().map(|o| o.accepted).max() else { return };
        // Drafts cut short by a candidate's own limits say nothing about the length.
        let full = outcomes.iter().any(|o| o.accepted == o.drafted && o.drafted >= self.length);
        if full {
            self.length = (self.length + Self::GROWTH).min(Self::LIMIT);
            self.shrank = false;
        } else {
            let less = self.length.div_ceil(Self::DIVISOR) + usize::from(self.shrank);
            self.length = self.length.saturating_sub(less).max(best).max(1);
            self.shrank = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: &Bass, steps: &[&[usize]]) -> Vec<usize> {
        let mut bass = start.clone();
        let mut lengths = Vec::new();
        for accepted in steps {
            let drafted = bass.length;
            let outcomes: Vec<_> = accepted.iter().map(|&accepted| Outcome { drafted, accepted }).collect();
            bass.update(&outcomes);
            lengths.push(bass.length);
        }
        lengths
    }

    #[test]
    fn follows_algorithm_1() {
        let steps: [&[usize]; 10] =
            [&[7, 3], &[9, 1], &[2, 4], &[3, 1], &[5, 6], &[0, 0], &[0, 0], &[0, 0], &[0, 0], &[0, 0]];
        assert_eq!(run(&Bass::default(), &steps), [9, 11, 9, 7, 6, 4, 2, 1, 1, 1]);
    }

    #[test]
    fn grows_to_the_limit_and_shrinks_faster_and_faster() {
        let mut bass = Bass::default();
        let mut up = Vec::new();
        for _ in 0..15 {
            let full = Outcome { drafted: bass.length, accepted: bass.length };
            bass.update(&[full]);
            up.push(bass.length);
        }
        assert_eq!(up, [9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 32, 32, 32]);
        assert_eq!(run(&Bass { length: 32, shrank: false }, &[&[0][..]; 6]), [28, 24, 20, 17, 14, 11]);
        assert_eq!(run(&Bass::default(), &[&[0][..]; 5]), [6, 4, 2, 1, 1]);
    }

    #[test]
    fn a_draft_cut_short_by_the_token_limit_does_not_make_it_grow() {
        let mut bass = Bass::default();
        bass.update(&[Outcome { drafted: 2, accepted: 2 }]);
        assert_eq!(bass.length, 6);
    }

    fn costs(main: [(usize, f64); 2], draft: f64) -> Costs {
        let mut costs = Costs::default();
        for (rows, ms) in main {
            costs.main.observe(rows, ms);
        }
        costs.draft.observe(1, draft);
        costs
    }

    #[test]
    fn auto_drafts_where_rows_are_cheap_and_not_where_they_are_dear() {
        // Memory-bound: 8 rows cost little more than one.
        let cheap = costs([(1, 10.0), (8, 11.0)], 0.5);
        let mut auto = Auto::default();
        assert!(auto.length(1, &cheap) >= 3);
        // Compute-bound: every row costs the same.
        let dear = costs([(1, 10.0), (8, 80.0)], 0.5);
        let mut auto = Auto::default();
        assert!((0..40).all(|_| auto.length(1, &dear) == 0));
    }

    #[test]
    fn auto_gives_up_a_drafter_that_is_always_wrong_and_tries_it_again_later() {
        let cheap = costs([(1, 10.0), (8, 11.0)], 0.5);
        let mut auto = Auto::default();
        for _ in 0..60 {
            let drafted = auto.length(1, &cheap);
            auto.update(&[Outcome { drafted, accepted: 0 }]);
        }
        let lengths: Vec<usize> = (0..200).map(|_| auto.length(1, &cheap)).collect();
        assert!(lengths.iter().filter(|&&k| k > 0).count() < 10, "{lengths:?}");
    }

    #[test]
    fn auto_goes_on_learning_what_a_step_without_drafts_costs() {
        let cheap = costs([(1, 10.0), (8, 11.0)], 0.5);
        let mut auto = Auto::default();
        let lengths: Vec<usize> = (0..100).map(|_| auto.length(1, &cheap)).collect();
        let plain = lengths.iter().filter(|&&k| k == 0).count();
        assert!((3..=6).contains(&plain), "{lengths:?}");
        assert_eq!(lengths.iter().position(|&k| k == 0), Some(3));
    }

    #[test]
    fn auto_begins_by_measuring() {
        let mut auto = Auto::default();
        assert_eq!(auto.length(8, &Costs::default()), 1);
        let mut half_known = Costs::default();
        half_known.draft.observe(8, 1.0);
        half_known.main.observe(16, 1.0);
        assert_eq!(auto.length(8, &half_known), 0);
    }

    #[test]
    fn nothing_changes_when_all_have_finished() {
        let mut bass = Bass::default();
        bass.update(&[]);
        assert_eq!(bass, Bass::default());
    }
}
