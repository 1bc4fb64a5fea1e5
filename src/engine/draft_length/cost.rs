//! Milliseconds of a pass by its number of rows: as profiled, corrected by the times of real passes.

/// Time of a pass by its rows: linear between known points.
#[derive(Clone, Debug, Default)]
pub struct CostCurve(Vec<Point>);

/// A known time of a curve.
#[derive(Clone, Copy, Debug)]
struct Point {
    rows: usize,
    ms: f64,
    /// Real passes that it has been corrected by.
    readings: f64,
}

impl CostCurve {
    /// A pass over this many times the rows of the last point becomes a point.
    const BEYOND: f64 = 1.25;
    /// Part of an error that a point takes over from its first reading, the second takes half of it, and so on;
    /// least part: measurements may be amiss, and readings may be interruptions.
    const FIRST: f64 = 0.6;
    const LEAST: f64 = 0.1;

    /// A curve through these (rows, ms), in ascending order of rows. More rows never take less.
    pub fn new(points: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let mut longest = 0.0;
        let point = |(rows, ms)| {
            longest = f64::max(longest, ms);
            Point { rows, ms: longest, readings: 0.0 }
        };
        let mut points: Vec<Point> = points.into_iter().map(point).collect();
        if let [Point { rows, ms, .. }] = points[..] {
            points.push(Point { rows: 2 * rows, ms: 2.0 * ms, readings: 0.0 });
        }
        Self(points)
    }

    /// Nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Expected ms of a pass of `rows` rows; 0 for no rows and before anything is known. Beyond the last
    /// point the time grows with the rows, the most that it may.
    pub fn ms(&self, rows: usize) -> f64 {
        let Some(last) = self.0.last().filter(|_| rows > 0) else { return 0.0 };
        if rows > last.rows {
            return last.ms * rows as f64 / last.rows as f64;
        }
        let (above, share) = self.place(rows);
        let (low, high) = (self.0[above - 1].ms, self.0[above].ms);
        low + (high - low) * share
    }

    /// The upper one of the two points around `rows`, and where `rows` lies between them: 0 to 1.
    fn place(&self, rows: usize) -> (usize, f64) {
        let above = self.0.partition_point(|point| point.rows < rows).clamp(1, self.0.len() - 1);
        let (low, high) = (self.0[above - 1].rows as f64, self.0[above].rows as f64);
        (above, ((rows as f64 - low) / (high - low)).clamp(0.0, 1.0))
    }

    fn scale(&mut self, factor: f64) {
        self.0.iter_mut().for_each(|point| point.ms *= factor);
    }

    /// Moves the two points around `rows` towards a pass that took `ratio` of what was expected, the nearer
    /// one by more of it.
    fn correct(&mut self, rows: usize, ratio: f64) {
        if self.0.last().is_some_and(|last| rows as f64 > Self::BEYOND * last.rows as f64) {
            self.0.push(Point { rows, ms: self.ms(rows), readings: 0.0 });
        }
        let (above, share) = self.place(rows);
        for (at, share) in [(above - 1, 1.0 - share), (above, share)] {
            let point = &mut self.0[at];
            let part = (Self::FIRST / (1.0 + point.readings)).max(Self::LEAST);
            point.ms *= ratio.powf(share * part);
            point.readings += share;
        }
        // Fewer rows never take longer.
        let (fewer, more) = self.0.split_at_mut(if share < 0.5 { above - 1 } else { above });
        let ms = more[0].ms;
        for point in fewer {
            point.ms = point.ms.min(ms);
        }
        for point in more {
            point.ms = point.ms.max(ms);
        }
    }
}

/// Curves of a pair of models.
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
    /// Part of a reading's error that is taken for a slowdown of the machine, which all passes share.
    const ALL: f64 = 0.2;
    /// Most that one reading may be off, as a factor: it may be an interruption.
    const LARGEST: f64 = 1.35;

    /// Takes in that a pass of the main model over `rows` rows took `ms`. Nothing changes before the curve
    /// has been measured.
    pub fn main_took(&mut self, rows: usize, ms: f64) {
        if self.main.is_empty() || rows == 0 {
            return;
        }
        let ratio = (ms / self.main.ms(rows)).clamp(1.0 / Self::LARGEST, Self::LARGEST);
        let all = ratio.powf(Self::ALL);
        self.main.scale(all);
        self.draft.scale(all);
        self.read *= all;
        self.main.correct(rows, ratio);
    }

    /// Takes in that passes of the drafter over these rows, and `unread` ones that it only read, took `ms`
    /// in all.
    pub fn draft_took(&mut self, passes: &[usize], unread: usize, ms: f64) {
        let reading = self.read * unread as f64;
        let expected = reading + passes.iter().map(|&rows| self.draft.ms(rows)).sum::<f64>();
        if expected <= 0.0 || self.draft.is_empty() {
            return;
        }
        let ratio = (ms / expected).clamp(1.0 / Self::LARGEST, Self::LARGEST);
        self.read *= ratio.powf(CostCurve::LEAST * reading / expected);
        for (i, &rows) in passes.iter().enumerate() {
            if !passes[..i].contains(&rows) {
                self.draft.correct(rows, ratio.powf(1.0 - reading / expected));
            }
        }
    }
}

/// Takes out of measured points what cannot be: that a pass takes longer than one over more rows, or than
/// several over fewer. The shorter time is the right one, because interruptions only add to it.
pub fn straighten(points: &mut [(usize, f64)]) {
    for i in (1..points.len()).rev() {
        points[i - 1].1 = points[i - 1].1.min(points[i].1);
    }
    for i in 1..points.len() {
        let (rows, ms) = points[i];
        let in_parts = points[..i].iter().map(|&(few, ms)| rows.div_ceil(few) as f64 * ms);
        points[i].1 = in_parts.fold(ms, f64::min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_linear_between_and_beyond_the_points() {
        let curve = CostCurve::new([(1, 1.0), (9, 5.0)]);
        let single = CostCurve::new([(4, 2.0)]);
        let cases = [(&curve, 0, 0.0), (&curve, 1, 1.0), (&curve, 5, 3.0), (&curve, 18, 10.0), (&single, 1, 2.0)];
        for (curve, rows, ms) in cases.into_iter().chain([(&single, 8, 4.0), (&CostCurve::default(), 3, 0.0)]) {
            assert!((curve.ms(rows) - ms).abs() < 1e-9, "{rows} rows: {}", curve.ms(rows));
        }
        let falling = CostCurve::new([(1, 2.0), (2, 1.0), (3, 3.0), (4, 0.5)]);
        assert!((1..20).all(|rows| falling.ms(rows + 1) >= falling.ms(rows)), "more rows never look cheaper");
        let flat = CostCurve::new([(1, 5.0), (2, 5.0)]);
        assert!((flat.ms(8) - 20.0).abs() < 1e-9, "rows beyond the last point are not free");
    }

    #[test]
    fn times_of_real_passes_correct_the_curves() {
        let (main, draft) = (CostCurve::new([(1, 1.0), (8, 2.0)]), CostCurve::new([(1, 0.5), (8, 1.0)]));
        let mut costs = Costs { main, draft, read: 0.1 };
        costs.main_took(8, 200.0);
        assert!(costs.main.ms(8) < 2.6, "an interruption: {}", costs.main.ms(8));
        for _ in 0..60 {
            costs.main_took(8, 3.0);
            costs.draft_took(&[1, 1], 0, 3.0);
        }
        assert!((costs.main.ms(8) - 3.0).abs() < 0.1 && (costs.draft.ms(1) - 1.5).abs() < 0.1, "{costs:?}");
        assert!((1.1..1.4).contains(&costs.main.ms(1)), "half of it is the machine's: {}", costs.main.ms(1));
        costs.main_took(8, 200.0);
        assert!(costs.main.ms(8) < 3.4, "an interruption moves known times less: {}", costs.main.ms(8));
        costs.main_took(100, 50.0);
        assert!(costs.main.ms(50) > 1.25 * costs.main.ms(32), "a pass beyond the last point is known: {costs:?}");
        costs.draft_took(&[], 1, 0.0);
        costs.main_took(0, 1.0);
        assert!(costs.read > 0.0 && costs.main.ms(8).is_finite());
    }

    #[test]
    fn measured_points_are_straightened() {
        let mut points = [(1, 3.0), (2, 2.0), (4, 30.0), (8, 5.0), (16, 100.0)];
        straighten(&mut points);
        assert_eq!(points, [(1, 2.0), (2, 2.0), (4, 4.0), (8, 5.0), (16, 10.0)]);
    }
}
