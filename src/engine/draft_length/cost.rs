//! What a pass costs: milliseconds by number of rows, as profiled, corrected by the times of real passes.

use super::mean::Mean;

/// A number of rows that was profiled.
#[derive(Clone, Debug)]
struct Point {
    rows: usize,
    /// Logarithm of the profiled ms.
    profiled: f64,
    /// How far real passes were off, as logarithms, the slowdown taken out.
    off: Mean,
    /// Estimate of the ms at slowdown 1, and its standard error as a share of it.
    ms: f64,
    error: f64,
}

/// Time of a pass by its rows: an isotonic curve through the profiled points, each corrected by the passes
/// near it, times one slowdown.
#[derive(Clone, Debug, Default)]
pub struct CostCurve {
    points: Vec<Point>,
    /// How many times as long passes of any size take at present.
    slowdown: f64,
}

impl CostCurve {
    /// Most that one reading may be off, as a logarithm: it may be an interruption.
    const LARGEST: f64 = 0.3;
    /// Part of their weight that earlier readings keep after the next one.
    const KEEP: f64 = 1.0 - 1.0 / 64.0;
    /// Weight of the profile, in readings.
    const PRIOR: f64 = 0.5;
    /// Standard error of a profiled time, as a share of it.
    const ERROR: f64 = 0.25;

    /// Through these (rows, ms), in ascending order of rows.
    pub fn new(points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let point = |(rows, ms): (usize, f64)| Point {
            rows,
            profiled: ms.max(1e-9).ln(),
            off: Mean::default(),
            ms,
            error: 0.0,
        };
        let mut points: Vec<Point> = points.into_iter().map(point).collect();
        if let [only] = &points[..] {
            // The cautious guess beyond a single point: time grows with the rows.
            points.push(point((2 * only.rows, 2.0 * only.ms)));
        }
        let mut curve = Self { points, slowdown: 1.0 };
        curve.fit();
        curve
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Expected ms of a pass of `rows` rows, never falling with the rows; 0 for no rows and before anything
    /// is known.
    pub fn ms(&self, rows: usize) -> f64 {
        self.bound(rows, 0.0)
    }

    /// The same, off by so many standard errors.
    pub fn bound(&self, rows: usize, errors: f64) -> f64 {
        if rows == 0 || self.is_empty() {
            return 0.0;
        }
        let (above, share) = self.place(rows);
        let ms = |point: &Point| point.ms * (1.0 + errors * point.error);
        let (low, high) = (ms(&self.points[above - 1]), ms(&self.points[above]));
        self.slowdown * (low + (high - low) * share)
    }

    /// The upper one of the two points around `rows`, and where `rows` lies between them: 0 to 1, more beyond
    /// the last.
    fn place(&self, rows: usize) -> (usize, f64) {
        let above = self.points.partition_point(|point| point.rows < rows).clamp(1, self.points.len() - 1);
        let (low, high) = (self.points[above - 1].rows as f64, self.points[above].rows as f64);
        (above, ((rows as f64 - low) / (high - low)).max(0.0))
    }

    /// A pass of `rows` rows took `ratio` times what was expected, which changes the slowdown by `slower`.
    fn correct(&mut self, rows: usize, ratio: f64, slower: f64) {
        let off = ratio.ln().clamp(-Self::LARGEST, Self::LARGEST) - slower;
        self.slowdown *= slower.exp();
        self.points.iter_mut().for_each(|point| point.off.fade(Self::KEEP));
        let (above, share) = self.place(rows);
        for (at, weight) in [(above - 1, 1.0 - share.min(1.0)), (above, share.min(1.0))] {
            let point = &mut self.points[at];
            let present = point.ms.ln() - point.profiled;
            point.off.add(present + off, weight);
        }
        self.fit();
    }

    fn fit(&mut self) {
        let estimate =
            |point: &Point| (point.profiled + point.off.value(0.0, Self::PRIOR), point.off.weight + 0.5 * Self::PRIOR);
        let fitted = isotonic(&self.points.iter().map(estimate).collect::<Vec<_>>());
        for (point, ln) in self.points.iter_mut().zip(fitted) {
            point.ms = ln.exp();
            point.error = Self::ERROR / (point.off.weight + 1.0).sqrt();
        }
    }
}

/// Isotonic fit of (value, weight): neighbours that fall get their mean (pool adjacent violators, Ayer et al.
/// 1955).
fn isotonic(values: &[(f64, f64)]) -> Vec<f64> {
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
    /// Ms of a row that the drafter only reads.
    pub read: f64,
}

impl Costs {
    /// Part of a reading's error that is taken for a slowdown of the machine.
    const SLOWDOWN: f64 = 0.1;

    /// A pass of the main model over `rows` rows took `ms`. Says nothing before the curve has been measured.
    pub fn main_took(&mut self, rows: usize, ms: f64) {
        if self.main.is_empty() {
            return;
        }
        let ratio = ms / self.main.ms(rows);
        let slower = Self::SLOWDOWN * ratio.ln().clamp(-CostCurve::LARGEST, CostCurve::LARGEST);
        self.main.correct(rows, ratio, slower);
        // What slows one model down slows the other one down, too.
        self.draft.slowdown = self.main.slowdown;
    }

    /// Expected ms of rows that the drafter only reads.
    pub fn read_ms(&self, rows: usize) -> f64 {
        self.draft.slowdown * self.read * rows as f64
    }

    /// Passes of the drafter over these rows, and `unread` ones that it only read, took `ms` in all.
    pub fn draft_took(&mut self, passes: &[usize], unread: usize, ms: f64) {
        let expected: f64 = self.read_ms(unread) + passes.iter().map(|&rows| self.draft.ms(rows)).sum::<f64>();
        if expected > 0.0 {
            for (i, &rows) in passes.iter().enumerate() {
                if !passes[..i].contains(&rows) {
                    self.draft.correct(rows, ms / expected, 0.0);
                }
            }
        }
    }
}

/// Takes out of measured points what cannot be: that more rows take less time, and that many take longer than
/// several passes over few.
pub fn straighten(points: &mut [(usize, f64)]) {
    let times: Vec<(f64, f64)> = points.iter().map(|&(_, ms)| (ms.ln(), 1.0)).collect();
    points.iter_mut().zip(isotonic(&times)).for_each(|(point, ln)| point.1 = ln.exp());
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
        let mut costs =
            Costs { main: CostCurve::new([(1, 2.0), (4, 2.2)]), draft: CostCurve::new([(1, 0.5)]), read: 0.0 };
        for _ in 0..4 {
            costs.main_took(1, 1.0);
        }
        assert!(costs.main.ms(1) < 1.2, "{}", costs.main.ms(1));
        assert!(costs.main.ms(4) > 1.4, "{}", costs.main.ms(4));
    }

    #[test]
    fn an_interruption_hardly_counts_and_a_lasting_change_does() {
        let mut costs =
            Costs { main: CostCurve::new([(1, 1.0), (8, 2.0)]), draft: CostCurve::new([(1, 0.5)]), read: 0.0 };
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
        let mut costs =
            Costs { main: CostCurve::new([(1, 10.0), (2, 10.0), (4, 11.0)]), draft: CostCurve::default(), read: 0.0 };
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
        let mut costs =
            Costs { main: CostCurve::new([(1, 10.0), (4, 11.0)]), draft: CostCurve::new([(1, 2.0)]), read: 0.0 };
        for _ in 0..20 {
            costs.main_took(1, 10.0);
            costs.main_took(4, 11.0);
        }
        for _ in 0..40 {
            costs.main_took(4, 16.5);
        }
        // By half at least; the rest is taken for a correction of four rows.
        let (one, draft) = (costs.main.ms(1), costs.draft.ms(1));
        assert!((12.0..16.0).contains(&one) && (2.4..3.2).contains(&draft), "{one} {draft}");
    }

    #[test]
    fn interruptions_of_some_passes_do_not_add_up_to_a_slower_machine() {
        let mut costs = Costs {
            main: CostCurve::new([(1, 1.0), (64, 8.0)]),
            draft: CostCurve::new([(1, 0.2), (64, 2.0)]),
            read: 0.0,
        };
        for step in 0..3000 {
            // Every other pass of four rows, a third of them interrupted.
            costs.main_took(if step % 2 == 0 { 1 } else { 4 }, if step % 3 == 0 { 1.5 } else { 1.0 });
        }
        let (main, draft) = (costs.main.ms(64) / 8.0, costs.draft.ms(64) / 2.0);
        assert!((0.7..1.4).contains(&main) && (0.7..1.4).contains(&draft), "{main} {draft}");
    }

    #[test]
    fn doubt_falls_with_readings_and_comes_back() {
        let mut costs = Costs { main: CostCurve::new([(1, 10.0), (4, 20.0)]), draft: CostCurve::default(), read: 0.0 };
        let doubt = |costs: &Costs, rows| costs.main.bound(rows, 1.0) / costs.main.ms(rows) - 1.0;
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
        // 3 and 2 are 2.45 both; 30 and 5 would be 12.2, but four rows are no dearer than two passes over
        // two.
        for ((rows, ms), expected) in points.into_iter().zip([2.45, 2.45, 4.9, 9.8, 19.6]) {
            assert!((ms - expected).abs() < 0.01, "{rows} rows: {ms}");
        }
    }
}
