//! What a pass costs: milliseconds by number of rows, measured beforehand and corrected by every pass.

use std::collections::{BTreeMap, VecDeque};

/// The last few readings of one thing.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    recent: VecDeque<f64>,
    /// The same in ascending order: their middle is asked for far more often than they change.
    sorted: Vec<f64>,
}

impl Readings {
    /// How many are kept: the middle half of so many has a third of the noise of one.
    const KEPT: usize = 15;

    /// Takes in a reading.
    pub fn add(&mut self, value: f64) {
        if self.recent.len() == Self::KEPT {
            self.forget();
        }
        self.recent.push_back(value);
        let at = self.sorted.partition_point(|other| other.total_cmp(&value).is_lt());
        self.sorted.insert(at, value);
    }

    /// Drops the oldest reading.
    fn forget(&mut self) {
        if let Some(oldest) = self.recent.pop_front() {
            let at = self.sorted.partition_point(|other| other.total_cmp(&oldest).is_lt());
            self.sorted.remove(at);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.recent.len()
    }

    /// The mean of the middle half of the readings and of what was believed before, which counts as one of them: up to a quarter of the
    /// readings may be interruptions.
    pub fn middle(&self, belief: f64) -> f64 {
        let below = self.sorted.partition_point(|other| other.total_cmp(&belief).is_lt());
        let all = self.sorted[..below].iter().chain([&belief]).chain(&self.sorted[below..]);
        let len = self.sorted.len() + 1;
        let cut = match len {
            3 => 1,
            n => n / 4,
        };
        all.skip(cut).take(len - 2 * cut).sum::<f64>() / (len - 2 * cut) as f64
    }
}

/// What is known of passes with one number of rows.
#[derive(Clone, Debug)]
struct Point {
    /// Logarithm of the ms that were measured beforehand.
    belief: f64,
    /// Logarithms of how many times as long real passes took.
    readings: Readings,
    /// Whether there was a reading since old ones were last forgotten.
    fresh: bool,
}

impl Point {
    /// Its rows and how far off its readings are, if it has any.
    fn seen(&self, rows: usize) -> Option<(usize, f64)> {
        (self.readings.count() > 0).then(|| (rows, self.readings.middle(0.0)))
    }
}

/// Time of a pass as a function of its rows.
///
/// What was measured beforehand gives the shape. Where there are readings of real passes, their middle counts; between two numbers of
/// rows that have readings, and beyond them, what these say of the measurement is carried over. A machine that is slower or faster for
/// a while is so for all rows: the pace is told by those that are read now, and old readings of others stay true beside it.
#[derive(Clone, Debug, Default)]
pub struct CostCurve {
    /// Passes with this many rows.
    points: BTreeMap<usize, Point>,
    /// How far the measurement is thought to be off, as a logarithm, while there are no readings.
    lean: f64,
    /// Logarithm of how many times as long everything takes just now, as a machine gets slower and faster.
    pace: f64,
    /// The curve at its points at pace 0, made from them anew after every reading: rows, ms and the share of it that is in doubt.
    drawn: Vec<(usize, f64, f64)>,
    corrections: usize,
}

impl CostCurve {
    /// A reading cannot be further off than this, whatever happened meanwhile: a factor.
    const LIMIT: f64 = 4.0;
    /// How far the first reading of a number of rows may lead away from the measurement, which is seldom off by more: a factor.
    const FIRST: f64 = 1.35;
    /// Numbers of rows that differ by less than this share are taken together.
    const ALIKE: f64 = 0.1;
    /// A time that nobody has seen in real work may be off by this share.
    const DOUBT: f64 = 0.25;
    /// Where neighbours contradict each other, a measurement counts as this part of a reading.
    const BELIEF: f64 = 0.25;
    /// The pace follows by this part of what a reading is off, of at most so much (a logarithm), once a number of rows has so many readings.
    const FOLLOWS: f64 = 0.1;
    const JUMP: f64 = 0.3;
    const SETTLED: usize = 4;
    /// After so many readings a number of rows that had none among them forgets one.
    const STALE: usize = 32;

    /// Through these (rows, ms).
    pub fn new(points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let point = |ms: f64| Point { belief: ms.max(1e-9).ln(), readings: Readings::default(), fresh: false };
        let points = points.into_iter().map(|(rows, ms)| (rows, point(ms)));
        let mut curve = Self { points: points.collect(), ..Self::default() };
        curve.redraw();
        curve
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Expected ms of a pass of `rows` rows, never falling with the rows; 0 for no rows and before anything is known.
    pub fn ms(&self, rows: usize) -> f64 {
        self.off(rows, 0.0)
    }

    /// What it is if it is off by as much as may well be: -1 for less, 1 for more.
    pub fn off(&self, rows: usize, by: f64) -> f64 {
        self.pace.exp() * self.at(rows, |point| point.1 * (1.0 + by * point.2))
    }

    fn at(&self, rows: usize, of: impl Fn(&(usize, f64, f64)) -> f64) -> f64 {
        let Some(last) = self.drawn.last() else { return 0.0 };
        if rows == 0 {
            return 0.0;
        }
        let next = self.drawn.partition_point(|point| point.0 < rows);
        let line = |a: &(usize, f64, f64), b: &(usize, f64, f64)| {
            of(a) + (of(b) - of(a)) * (rows as f64 - a.0 as f64) / (b.0 as f64 - a.0 as f64)
        };
        match next {
            // Fewer rows than any measured.
            0 => of(&self.drawn[0]),
            _ if next < self.drawn.len() => line(&self.drawn[next - 1], &self.drawn[next]),
            // Beyond the last point the slope between the last two goes on; with one point alone, time is taken to be proportional to
            // rows beyond it, which is the cautious guess.
            1 => of(last) * rows as f64 / last.0.max(1) as f64,
            _ => line(&self.drawn[next - 2], last),
        }
    }

    /// A pass of `rows` rows took `ratio` times what was expected.
    fn correct(&mut self, rows: usize, ratio: f64, sets_pace: bool) {
        let alike = |&&other: &&usize| other.abs_diff(rows) as f64 <= Self::ALIKE * rows as f64;
        let nearest = self.points.keys().filter(alike).min_by_key(|other| other.abs_diff(rows)).copied();
        let at = nearest.unwrap_or(rows);
        let expected = self.ms(at).ln() - self.pace;
        let curve = self.carried(at);
        let point = self.points.entry(at).or_insert_with(|| Point {
            belief: expected - curve,
            readings: Readings::default(),
            fresh: false,
        });
        let mut off = expected - point.belief + ratio.clamp(1.0 / Self::LIMIT, Self::LIMIT).ln();
        if sets_pace && point.readings.count() >= Self::SETTLED {
            let change = Self::FOLLOWS * (off - point.readings.middle(curve)).clamp(-Self::JUMP, Self::JUMP);
            self.pace += change;
            off -= change;
        }
        let most = Self::FIRST.ln();
        point.readings.add(if point.readings.count() == 0 { off.clamp(curve - most, curve + most) } else { off });
        point.fresh = true;
        self.corrections += 1;
        if self.corrections.is_multiple_of(Self::STALE) {
            for point in self.points.values_mut() {
                if !std::mem::take(&mut point.fresh) {
                    point.readings.forget();
                }
            }
        }
        self.redraw();
    }

    /// How far the measurement at `rows` is off by what its neighbours say, the nearest with readings.
    fn carried(&self, rows: usize) -> f64 {
        let below = self.points.range(..rows).rev().find_map(|(&rows, point)| point.seen(rows));
        let above = self.points.range(rows + 1..).find_map(|(&rows, point)| point.seen(rows));
        self.between(rows, below, above)
    }

    /// The same for all points, in one pass up and one down: this is done after every step.
    fn carried_everywhere(&self) -> Vec<f64> {
        let seen: Vec<_> = self.points.iter().map(|(&rows, point)| (rows, point.seen(rows))).collect();
        let mut above = vec![None; seen.len()];
        let mut next = None;
        for (above, (_, seen)) in above.iter_mut().zip(&seen).rev() {
            *above = next;
            next = seen.or(next);
        }
        let mut below = None;
        let all = seen.into_iter().zip(above);
        all.map(|((rows, seen), above)| {
            let carried = self.between(rows, below, above);
            below = seen.or(below);
            carried
        })
        .collect()
    }

    /// What neighbours (rows, how far they are off) say of `rows`: wholly if they are near, by half if they are far.
    fn between(&self, rows: usize, below: Option<(usize, f64)>, above: Option<(usize, f64)>) -> f64 {
        let distance = |other: usize| (rows as f64 / other as f64).log2().abs().max(1e-6);
        let weight = |distance: f64| 0.5 + 0.5 * (-distance).exp2();
        match (below, above) {
            (None, None) => self.lean,
            (Some((other, off)), None) | (None, Some((other, off))) => weight(distance(other)) * off,
            (Some((less, off0)), Some((more, off1))) => {
                let (d0, d1) = (distance(less), distance(more));
                weight(d0.min(d1)) * (off0 * d1 + off1 * d0) / (d0 + d1)
            }
        }
    }

    /// How many times as long as measured everything takes, in the mean of what was seen: a logarithm.
    fn common(&self) -> Option<f64> {
        let seen = self.points.values().filter(|point| point.readings.count() > 0);
        let (n, sum) = seen.fold((0.0, 0.0), |(n, sum), point| (n + 1.0, sum + point.readings.middle(0.0)));
        (n > 0.0).then(|| sum / n)
    }

    fn redraw(&mut self) {
        let estimate = |(point, curve): (&Point, f64)| {
            let n = point.readings.count();
            let off = match n {
                0 => curve,
                // Of the two the reading is the better.
                1 => 0.25 * curve + 0.75 * point.readings.recent[0],
                _ => point.readings.middle(curve),
            };
            (point.belief + off, n as f64 + Self::BELIEF)
        };
        let estimates: Vec<(f64, f64)> = self.points.values().zip(self.carried_everywhere()).map(estimate).collect();
        let doubt = |n: f64| Self::DOUBT / (n + 1.0 - Self::BELIEF).sqrt();
        let drawn = self.points.keys().zip(rising(&estimates)).zip(&estimates);
        self.drawn = drawn.map(|((&rows, ln), &(_, n))| (rows, ln.exp(), doubt(n))).collect();
    }
}

/// The numbers nearest to these (value, weight) that never fall: neighbours that do get their mean (pool adjacent violators, Ayer et al.
/// 1955).
fn rising(values: &[(f64, f64)]) -> Vec<f64> {
    // Runs with one value: it, its weight and how many.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for &(value, weight) in values {
        runs.push((value, weight, 1));
        while let [.., (a, v, n), (b, w, m)] = runs[..] {
            if a <= b {
                break;
            }
            runs.truncate(runs.len() - 2);
            runs.push(((a * v + b * w) / (v + w), v + w, n + m));
        }
    }
    runs.into_iter().flat_map(|(value, _, n)| std::iter::repeat_n(value, n)).collect()
}

/// The curves of a pair of models.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// A pass of the main model, verification included.
    pub main: CostCurve,
    /// A pass of the drafter, draws included; empty for one that takes no passes.
    pub draft: CostCurve,
}

impl Costs {
    /// A pass of the main model over `rows` rows took `ms`. Says nothing before the curve has been measured.
    pub fn main_took(&mut self, rows: usize, ms: f64) {
        if self.main.is_empty() {
            return;
        }
        self.main.correct(rows, ms / self.main.ms(rows), true);
        self.draft.pace = self.main.pace;
        // What slows one model down slows the other down, too, and a price that was never seen must not look cheap by being old.
        if self.draft.common().is_none() {
            let lean = 0.5 * self.main.common().unwrap_or(0.0);
            // Less than that nobody notices, and it happens at every step.
            if (lean - self.draft.lean).abs() > 0.002 {
                self.draft.lean = lean;
                self.draft.redraw();
            }
        }
    }

    /// Passes of the drafter over these rows took `ms` in all.
    pub fn draft_took(&mut self, passes: &[usize], ms: f64) {
        let expected: f64 = passes.iter().map(|&rows| self.draft.ms(rows)).sum();
        if expected > 0.0 {
            let ratio = ms / expected;
            for (i, &rows) in passes.iter().enumerate() {
                if !passes[..i].contains(&rows) {
                    self.draft.correct(rows, ratio, false);
                }
            }
        }
    }
}

/// Takes out of measured points what cannot be: that more rows take less time (such neighbours get their geometric mean), and that many
/// take longer than as many passes over few.
pub fn straighten(points: &mut [(usize, f64)]) {
    let times: Vec<(f64, f64)> = points.iter().map(|&(_, ms)| (ms.ln(), 1.0)).collect();
    points.iter_mut().zip(rising(&times)).for_each(|(point, ln)| point.1 = ln.exp());
    for i in 1..points.len() {
        let (rows, ms) = points[i];
        let in_parts = points[..i].iter().map(|&(few, ms)| rows.div_ceil(few) as f64 * ms);
        points[i].1 = in_parts.fold(ms, f64::min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn between_and_beyond_the_points() {
        let c = CostCurve::new([(1, 1.0), (9, 5.0)]);
        assert!(
            near(c.ms(0), 0.0) && near(c.ms(1), 1.0) && near(c.ms(5), 3.0) && near(c.ms(9), 5.0) && near(c.ms(17), 9.0)
        );
        let c = CostCurve::new([(4, 2.0)]);
        assert!(near(c.ms(8), 4.0) && near(c.ms(1), 2.0));
        assert!(near(CostCurve::default().ms(3), 0.0));
        assert!(c.ms(4000) > c.ms(1000));
    }

    #[test]
    fn more_rows_never_look_cheaper() {
        let c = CostCurve::new([(1, 2.0), (2, 1.0), (3, 3.0)]);
        assert!((1..20).all(|rows| c.ms(rows + 1) >= c.ms(rows)));
    }

    #[test]
    fn what_was_measured_in_a_bad_moment_is_soon_put_right() {
        let mut costs = Costs { main: CostCurve::new([(1, 2.0), (4, 2.2)]), draft: CostCurve::new([(1, 0.5)]) };
        for _ in 0..4 {
            costs.main_took(1, 1.0);
        }
        assert!(costs.main.ms(1) < 1.2, "{}", costs.main.ms(1));
        assert!(costs.main.ms(4) > 1.4, "{}", costs.main.ms(4));
    }

    #[test]
    fn an_interruption_hardly_counts_and_a_lasting_change_does() {
        let mut costs = Costs { main: CostCurve::new([(1, 1.0), (8, 2.0)]), draft: CostCurve::new([(1, 0.5)]) };
        for _ in 0..40 {
            costs.main_took(8, 2.0);
        }
        costs.main_took(8, 200.0);
        assert!(costs.main.ms(8) < 2.4 && costs.main.ms(1) < 1.2);
        for _ in 0..300 {
            costs.main_took(8, 4.0);
        }
        let ratio = costs.main.ms(8) / 4.0;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
        // The unseen prices have followed at least half way.
        assert!(costs.main.ms(1) > 1.3 && costs.draft.ms(1) > 0.65);
    }

    #[test]
    fn a_reading_does_not_bend_the_curve_where_much_is_known() {
        let mut costs = Costs { main: CostCurve::new([(1, 10.0), (2, 10.0), (4, 11.0)]), draft: CostCurve::default() };
        for _ in 0..15 {
            costs.main_took(4, 11.0);
            costs.main_took(1, 10.0);
        }
        costs.main_took(2, 50.0);
        assert!(costs.main.ms(4) < 11.6, "an interruption at 2 rows says nothing of 4: {}", costs.main.ms(4));
        for reading in [50.0, 9.0, 11.0, 10.0] {
            costs.main_took(1, reading);
        }
        assert!((9.5..10.5).contains(&costs.main.ms(1)), "{}", costs.main.ms(1));
    }

    #[test]
    fn a_machine_that_got_slower_is_so_for_what_was_read_before() {
        let mut costs = Costs { main: CostCurve::new([(1, 10.0), (4, 11.0)]), draft: CostCurve::new([(1, 2.0)]) };
        for _ in 0..20 {
            costs.main_took(1, 10.0);
            costs.main_took(4, 11.0);
        }
        for _ in 0..40 {
            costs.main_took(4, 16.5);
        }
        // By half at least; the rest is taken for a price of four rows.
        let (one, draft) = (costs.main.ms(1), costs.draft.ms(1));
        assert!((12.0..16.0).contains(&one) && (2.4..3.2).contains(&draft), "{one} {draft}");
    }

    #[test]
    fn doubt_falls_with_readings_and_comes_back() {
        let mut costs = Costs { main: CostCurve::new([(1, 10.0), (4, 20.0)]), draft: CostCurve::default() };
        let doubt = |costs: &Costs, rows| costs.main.off(rows, 1.0) / costs.main.ms(rows) - 1.0;
        let before = doubt(&costs, 4);
        for _ in 0..15 {
            costs.main_took(4, 20.0);
        }
        let after = doubt(&costs, 4);
        assert!(after < 0.3 * before, "{before} {after}");
        for _ in 0..600 {
            costs.main_took(1, 10.0);
        }
        assert!(doubt(&costs, 4) > 0.8 * before, "{}", doubt(&costs, 4));
    }

    #[test]
    fn measured_points_are_straightened() {
        let mut points = [(1, 3.0), (2, 2.0), (4, 30.0), (8, 5.0), (16, 100.0)];
        straighten(&mut points);
        // 3 and 2 are 2.45 both; 30 and 5 would be 12.2, but four rows are no dearer than two passes over two.
        for ((rows, ms), expected) in points.into_iter().zip([2.45, 2.45, 4.9, 9.8, 19.6]) {
            assert!((ms - expected).abs() < 0.01, "{rows} rows: {ms}");
        }
    }
}
