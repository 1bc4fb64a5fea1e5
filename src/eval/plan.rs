//! The plan of a run.

use std::time::Instant;

use super::problem::{Answer, Problem};
use crate::engine::GenerateOptions;
use crate::job::Rounds;
use crate::source::Source;
use crate::trial::Limits;

pub enum Candidates<'a> {
    /// A model writes them.
    Model {
        /// The model.
        source: &'a dyn Source,
        /// All options but seed and stops.
        options: Box<GenerateOptions>,
        /// Stop strings besides those of the problem.
        stops: Vec<String>,
        /// True if candidates end with their function.
        default_stops: bool,
    },
    /// Given answers of each problem.
    Given(Vec<Vec<Answer>>),
}

/// The plan of a run.
pub struct Plan<'a> {
    /// The problems of the run.
    pub problems: &'a [Problem],
    /// Indices of the problems that are still to be done.
    pub todo: Vec<usize>,
    pub candidates: Candidates<'a>,
    /// Limits of each trial.
    pub limits: Limits,
    /// Time at which the run stops, done or not.
    pub deadline: Option<Instant>,
    /// Further candidates of problems of which none has passed.
    pub rounds: Option<Rounds>,
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

    /// [`Problem::digest`], combined with the digest of given answers.
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
