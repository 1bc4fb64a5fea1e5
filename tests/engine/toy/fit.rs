//! How well tokens fit the distributions that they should have been drawn from.

use bass_tui::sampling::{Distribution, Sampling};

use super::VOCAB;
use super::network::{Table, context};

/// Observed and expected counts of every token, apart for every context of two tokens.
pub struct Fit {
    table: Table,
    sampling: Sampling,
    cells: Vec<[Cell; VOCAB]>,
    pub positions: usize,
    /// A token was drawn that has no probability.
    pub impossible: bool,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    seen: f64,
    /// Sum of the probabilities at the positions looked at.
    expected: f64,
    /// Sum of the variances at these positions.
    variance: f64,
}

impl Fit {
    pub fn new(table: Table, sampling: Sampling) -> Self {
        let cells = vec![[Cell::default(); VOCAB]; VOCAB * VOCAB];
        Self { table, sampling, cells, positions: 0, impossible: false }
    }

    /// Takes in what was written after `prompt`. Expectations follow the whole history, as the repetition
    /// penalty does.
    pub fn add(&mut self, prompt: &[u32], ids: &[u32]) {
        let mut tokens = prompt.to_vec();
        for &id in ids {
            let p = Distribution::new(&self.table.row(&tokens), &self.sampling, &tokens);
            let row = &mut self.cells[context(&tokens)];
            for (other, p) in p.iter().map(|(id, p)| (id, f64::from(p))) {
                row[other as usize].expected += p;
                row[other as usize].variance += p * (1.0 - p);
            }
            row[id as usize].seen += 1.0;
            self.impossible |= p.prob(id) <= 0.0;
            self.positions += 1;
            tokens.push(id);
        }
    }

    /// Chi-square per degree of freedom. Where p changes with the history, the counts vary less than those of
    /// equal draws do, so that the usual limits hold all the more.
    pub fn chi_square(&self) -> f64 {
        if self.impossible {
            return f64::INFINITY;
        }
        let (mut chi, mut freedom) = (0.0, 0.0);
        for row in &self.cells {
            let cells = row.iter().filter(|cell| cell.expected >= 5.0);
            chi += cells.clone().map(|cell| (cell.seen - cell.expected).powi(2) / cell.expected).sum::<f64>();
            freedom += cells.count().saturating_sub(1) as f64;
        }
        assert!(freedom > 10.0, "too few draws for a test: {freedom} degrees of freedom");
        chi / freedom
    }

    /// Degrees of freedom of [`chi_square`](Self::chi_square).
    pub fn freedom(&self) -> f64 {
        let counted = |row: &[Cell; VOCAB]| row.iter().filter(|cell| cell.expected >= 5.0).count().saturating_sub(1);
        self.cells.iter().map(counted).sum::<usize>() as f64
    }

    /// The largest deviation of a token's count, all contexts together, in standard deviations: its
    /// differences to the expected counts are those of a martingale, whatever the history does to p.
    pub fn worst_deviation(&self) -> f64 {
        if self.impossible {
            return f64::INFINITY;
        }
        let sum = |id: usize, of: fn(&Cell) -> f64| self.cells.iter().map(|row| of(&row[id])).sum::<f64>();
        let deviation = |id| {
            let variance = sum(id, |cell| cell.variance);
            let difference = sum(id, |cell| cell.seen - cell.expected);
            if variance > 0.0 { difference.abs() / variance.sqrt() } else { 0.0 }
        };
        (0..VOCAB).map(deviation).fold(0.0, f64::max)
    }

    /// Total variation distance between what was seen and what was expected, the contexts weighted by their
    /// visits.
    pub fn total_variation(&self) -> f64 {
        let difference: f64 = self.cells.iter().flatten().map(|cell| (cell.seen - cell.expected).abs()).sum();
        0.5 * difference / self.positions as f64
    }
}
