//! Scores whole problem sets: problem files read and checked, candidates of many problems written together,
//! each tested the moment it ends, and the figures that follow.
//!
//! Knows no terminal: what happens is told to whoever listens.

mod figures;
mod format;
mod plan;
mod preflight;
mod problem;
mod progress;
mod read;
mod report;
mod result;
mod results_file;
mod run;
mod samples;
mod seed;

pub use figures::figures;
pub use format::load;
pub use plan::{Candidates, Plan};
pub use preflight::{Setting, Unready, preflight};
#[cfg(test)]
pub(crate) use problem::sample;
pub use problem::{Answer, Problem};
pub use progress::Progress;
pub use report::{Report, Speed};
pub use result::ProblemResult;
pub use results_file::{Header, ResultsFile};
pub use run::{Ended, Message, News, RunError, run};
pub use samples::{canonical, find, read};
