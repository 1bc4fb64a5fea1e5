//! What a run is to do.

use std::time::Instant;

use super::problem::{Answer, Problem};
use crate::engine::GenerateOptions;
use crate::source::Source;
use crate::trial::Limits;

pub enum Candidates<'a> {
    /// A model writes them.
    Model {
        /// The model.
        source: &'a dyn Source,
        /// All but seed and stops.
        options: Box<GenerateOptions>,
        /// Texts that end a candidate, besides those of the problem.
        stops: Vec<String>,
        /// Whether candidates end with their function.
        default_stops: bool,
    },
    /// They are given, those of each problem.
    Given(Vec<Vec<Answer>>),
}

/// What is to be done.
pub struct Plan<'a> {
    /// The problems of the run.
    pub problems: &'a [Problem],
    /// Which of them are still to be done.
    pub todo: Vec<usize>,
    pub candidates: Candidates<'a>,
    /// Limits of each trial.
    pub limits: Limits,
    /// When to stop, done or not.
    pub deadline: Option<Instant>,
}

impl Plan<'_> {
    /// Candidates of a problem.
    pub fn n(&self, problem: usize) -> usize {
        match &self.candidates {
            Candidates::Model { options, .. } => options.n,
            Candidates::Given(_) => self.given(problem).len(),
        }
    }

    pub fn given(&self, problem: usize) -> &[Answer] {
        match &self.candidates {
            Candidates::Model { .. } => &[],
            Candidates::Given(answers) => answers.get(problem).map_or(&[], Vec::as_slice),
        }
    }

    /// [`Problem::digest`], and that of what is given.
    pub fn digest(&self, problem: usize) -> String {
        let own = self.problems[problem].digest();
        match &self.candidates {
            Candidates::Model { .. } => own,
            Candidates::Given(answers) => {
                let given = format!("{:?}", answers.get(problem));
                format!("{own}-{:016x}", crate::hash::of(given.as_bytes()))
            }
        }
    }
}
