//! Scores whole problem sets: reads and checks problem files, writes candidates of many problems together,
//! tests each as soon as it ends, and computes the figures.
//!
//! Knows no terminal: events go to the caller.
//!
//! - All runs share one engine and one pool of trials. Given solutions are a source of their own.
//! - A problem's seed depends on the run's seed and its id only, so neighbours and order do not change
//!   candidates.
//! - A sweep is one run after another over the same problems, and a row for each of them (`sweep`).
//! - With `--time-budget` one problem runs at a time.
//! - A row of the results file holds nothing that depends on the clock. The header holds every setting that
//!   affects results. Continuing with other settings is refused, and the setting is named.

mod figures;
mod format;
mod plan;
mod preflight;
mod problem;
mod progress;
mod rank;
mod read;
mod report;
mod result;
mod results_file;
mod run;
mod samples;
mod seed;
mod sweep;

pub use figures::figures;
pub use format::load;
pub use plan::{Candidates, Plan};
pub use preflight::{Setting, Unready, preflight};
#[cfg(test)]
pub(crate) use problem::sample;
pub use problem::{Answer, Problem};
pub use progress::Progress;
pub use rank::{ByRank, Rank, by_rank, standings, taken_by};
pub use report::{Report, Speed};
pub use result::ProblemResult;
pub use results_file::{Header, ResultsFile};
pub use run::{Ended, Message, News, RunError, run};
pub use samples::{canonical, find, read};
pub use sweep::Sweep;
