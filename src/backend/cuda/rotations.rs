//! Tables of positions in the memory of a GPU: rotations of queries and keys, factors of queries.

use std::sync::Arc;

use super::kernels::Pointer;
use super::queue::Queue;
use super::work::Work;
use crate::backend::BackendError;
use crate::backend::plain::bytes_of;
use crate::backend::rotary::RotaryTables;
use crate::model::ModelSpec;
use crate::model::spec::QueryGrowth;

/// The tables of sines and cosines, and of factors of queries.
pub struct Rotations {
    tables: RotaryTables,
    there: Vec<Work>,
    /// Each kind of growth with its factors `[positions]`.
    growths: Vec<(QueryGrowth, Work)>,
    /// Which of them blocks have.
    growth_of: Vec<Option<usize>>,
    /// Positions that the tables reach.
    positions: usize,
}

/// A rotation for the kernels, of no pairs where there is none.
#[derive(Clone, Copy, Default)]
pub struct Rotation {
    pub table: Pointer,
    pub pairs: usize,
    pub interleaved: bool,
    /// Factors of queries; 0 for none.
    pub growth: Pointer,
}

impl Rotations {
    /// Empty tables.
    pub fn new(spec: &ModelSpec, queue: &Arc<Queue>) -> Self {
        let tables = RotaryTables::new(&spec.blocks);
        let there = tables.all().iter().map(|_| Work::new(queue)).collect();
        let mut growths: Vec<(QueryGrowth, Work)> = Vec::new();
        let mut growth_of = Vec::new();
        for block in &spec.blocks {
            let number = block.attention.query_growth.map(|growth| {
                growths.iter().position(|(known, _)| *known == growth).unwrap_or_else(|| {
                    growths.push((growth, Work::new(queue)));
                    growths.len() - 1
                })
            });
            growth_of.push(number);
        }
        Self { tables, there, growths, growth_of, positions: 0 }
    }

    /// Makes the tables reach positions below `len`.
    pub fn ensure(&mut self, len: usize) -> Result<(), BackendError> {
        if len <= self.positions {
            return Ok(());
        }
        // Twice as far, so that a text that grows by a token does not send them each time.
        let len = len.next_power_of_two();
        self.tables.ensure(len).map_err(|bytes| BackendError::Memory { bytes })?;
        for (table, there) in self.tables.all().iter().zip(&mut self.there) {
            there.replace(bytes_of(table.values()))?;
        }
        for (growth, there) in &mut self.growths {
            let factors: Vec<f32> = (0..len).map(|position| growth.at(position)).collect();
            there.replace(bytes_of(&factors))?;
        }
        self.positions = len;
        Ok(())
    }

    /// Rotation of a block.
    pub fn of(&self, block: usize) -> Rotation {
        let growth = self.growth_of[block].and_then(|number| self.growths[number].1.at()).unwrap_or(0);
        let there = self.tables.number(block).and_then(|number| Some((number, self.there[number].at()?)));
        there.map_or(Rotation { growth, ..Rotation::default() }, |(number, table)| {
            let of = &self.tables.all()[number];
            Rotation { table, pairs: of.pairs(), interleaved: of.interleaved(), growth }
        })
    }
}
