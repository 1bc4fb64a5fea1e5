//! What a pass costs: milliseconds by number of rows, measured beforehand and corrected by every pass.

use std::collections::BTreeMap;

/// What is known of passes with one number of rows.
#[derive(Clone, Copy, Debug)]
struct Point {
    ms: f64,
    /// Corrections so far.
    seen: u32,
}

/// Time of a pass as a function of its rows.
#[derive(Clone, Debug, Default)]
pub struct CostCurve {
    /// Passes with this many rows.
    points: BTreeMap<usize, Point>,
    /// The curve at 0, 1, 2, … rows, made from the points now and then.
    dense: Vec<f64>,
    corrections: usize,
}

impl CostCurve {
    /// Weight of a reading below and above what was expected: a slow one is an interruption more often than news. The first readings of
    /// a number of rows weigh more, because real work may differ from what was measured beforehand.
    const FASTER: f64 = 0.2;
    const SLOWER: f64 = 0.05;
    const FIRST_SLOWER: f64 = 0.5;
    /// Corrections between two readings of the points.
    const STALE: usize = 16;
    /// Rows up to which the curve is kept.
    const ROWS: usize = 1100;

    /// Through these (rows, ms).
    pub fn new(points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let points = points.into_iter().map(|(rows, ms)| (rows, Point { ms, seen: 0 }));
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
        match self.dense.get(rows) {
            Some(ms) => *ms,
            // Far beyond everything measured: proportional to rows.
            None => self.dense.last().map_or(0.0, |ms| ms * rows as f64 / (self.dense.len() - 1) as f64),
        }
    }

    /// The points: rows and ms.
    pub fn points(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.points.iter().map(|(&rows, point)| (rows, point.ms))
    }

    /// A pass of `rows` rows took `ratio` times what was expected. Returns the part of it that is taken for a change of everything.
    fn correct(&mut self, rows: usize, ratio: f64) -> f64 {
        let ratio = ratio.clamp(0.25, 4.0);
        let expected = self.ms(rows);
        let point = self.points.entry(rows).or_insert(Point { ms: expected, seen: 0 });
        point.seen = point.seen.saturating_add(1);
        let fresh = 1.0 / f64::from(point.seen + 1);
        let weight = if ratio < 1.0 { Self::FASTER.max(fresh) } else { Self::SLOWER.max(Self::FIRST_SLOWER * fresh) };
        point.ms *= ratio.powf(weight);
        let unfamiliar = point.seen <= Self::STALE as u32;
        self.corrections += 1;
        if unfamiliar || self.corrections >= Self::STALE {
            self.redraw();
        }
        // A share of the steady weight only: what is new about one number of rows says little about others.
        ratio.powf(0.5 * if ratio < 1.0 { Self::FASTER } else { Self::SLOWER })
    }

    /// All passes but those over `except` rows take `ratio` times as long: the machine, or the context, has changed.
    fn scale(&mut self, ratio: f64, except: Option<usize>) {
        let others = self.points.iter_mut().filter(|(rows, _)| Some(**rows) != except);
        others.for_each(|(_, point)| point.ms *= ratio);
        let others = self.dense.iter_mut().enumerate().filter(|(rows, _)| Some(*rows) != except);
        others.for_each(|(_, ms)| *ms *= ratio);
    }

    fn redraw(&mut self) {
        self.corrections = 0;
        self.dense.clear();
        if self.points.is_empty() {
            return;
        }
        let points: Vec<(usize, f64)> = self.points().collect();
        let mut at = 0;
        let mut highest = 0.0f64;
        for rows in 0..=Self::ROWS {
            while at + 1 < points.len() && points[at + 1].0 <= rows {
                at += 1;
            }
            let (r0, t0) = points[at];
            let ms = match points.get(at + 1) {
                _ if rows == 0 => 0.0,
                _ if rows <= r0 => t0,
                Some(&(r1, t1)) => t0 + (t1 - t0) * (rows - r0) as f64 / (r1 - r0) as f64,
                // Beyond the last point the slope between the last two goes on; with one point alone, time is taken to be proportional to
                // rows beyond it, which is the cautious guess.
                None => {
                    let slope = match at.checked_sub(1).map(|before| points[before]) {
                        Some((r, t)) => ((t0 - t) / (r0 - r) as f64).max(0.0),
                        None => t0 / r0.max(1) as f64,
                    };
                    t0 + slope * (rows - r0) as f64
                }
            };
            highest = highest.max(ms);
            self.dense.push(highest);
        }
    }
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
        // What slows one model down slows the other down, too, and a price that is seldom seen must not look cheap by being old.
        let common = self.main.correct(rows, ms / self.main.ms(rows));
        self.main.scale(common, Some(rows));
        self.draft.scale(common, None);
    }

    /// Passes of the drafter over these rows took `ms` in all.
    pub fn draft_took(&mut self, passes: &[usize], ms: f64) {
        let expected: f64 = passes.iter().map(|&rows| self.draft.ms(rows)).sum();
        if expected > 0.0 {
            for &rows in passes.iter().take(2) {
                let common = self.draft.correct(rows, ms / expected);
                self.draft.scale(common, Some(rows));
            }
        }
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
}
