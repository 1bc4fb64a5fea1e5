//! What a pass costs: milliseconds by number of rows, learned from the passes themselves.

use std::collections::BTreeMap;

/// Time of a pass as a function of its rows.
#[derive(Clone, Debug, Default)]
pub struct CostCurve {
    /// Typical ms of a pass with this many rows.
    points: BTreeMap<usize, f64>,
}

impl CostCurve {
    /// Weight of a measurement below and above what is known: the time without interruptions is wanted, so slower ones count less.
    const FASTER: f64 = 0.5;
    const SLOWER: f64 = 0.1;

    /// A pass of `rows` rows took `ms`.
    pub fn observe(&mut self, rows: usize, ms: f64) {
        let known = self.points.entry(rows).or_insert(ms);
        *known += (ms - *known) * if ms < *known { Self::FASTER } else { Self::SLOWER };
    }

    /// Expected ms of a pass of `rows` rows: on the line through the neighbouring points, never falling with the rows. `None`
    /// before anything has been measured.
    pub fn ms(&self, rows: usize) -> Option<f64> {
        let mut below = self.points.range(..=rows).rev().map(|(&r, &t)| (r, t));
        let mut above = self.points.range(rows..).map(|(&r, &t)| (r, t));
        match (below.next(), above.next()) {
            (Some((r0, t0)), Some((r1, t1))) if r1 > r0 => {
                Some(t0 + (t1 - t0).max(0.0) * (rows - r0) as f64 / (r1 - r0) as f64)
            }
            // Beyond the last point the slope between the last two goes on; with one point alone, time is taken to be proportional to rows
            // beyond it, which is the cautious guess.
            (Some((r1, t1)), None) => {
                let slope = below.next().map_or(t1 / r1 as f64, |(r0, t0)| ((t1 - t0) / (r1 - r0) as f64).max(0.0));
                Some(t1 + slope * (rows - r1) as f64)
            }
            (_, Some((_, t))) => Some(t),
            (None, None) => None,
        }
    }

    /// Whether passes of at least two sizes have been seen, so that there is a slope.
    pub fn has_slope(&self) -> bool {
        self.points.len() > 1
    }
}

/// The curves of a pair of models.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// A pass of the main model.
    pub main: CostCurve,
    /// A pass of the drafter, for one draft position.
    pub draft: CostCurve,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(usize, f64)]) -> CostCurve {
        CostCurve { points: points.iter().copied().collect() }
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9)
    }

    #[test]
    fn between_and_beyond_the_points() {
        let c = curve(&[(1, 1.0), (9, 5.0)]);
        assert!(near(c.ms(1), 1.0) && near(c.ms(5), 3.0) && near(c.ms(9), 5.0) && near(c.ms(17), 9.0));
        assert!(near(curve(&[(4, 2.0)]).ms(8), 4.0) && near(curve(&[(4, 2.0)]).ms(1), 2.0));
        assert_eq!(CostCurve::default().ms(3), None);
    }

    #[test]
    fn an_interruption_hardly_counts() {
        let mut c = CostCurve::default();
        c.observe(8, 1.0);
        c.observe(8, 11.0);
        assert!(near(c.ms(8), 2.0));
        c.observe(8, 1.0);
        assert!(near(c.ms(8), 1.5));
    }
}
