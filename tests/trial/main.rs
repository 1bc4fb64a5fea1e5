//! Trials: tests on code that must not be trusted, in every language and tier of this machine. The programs
//! that mean harm are held against them in `tests/hostile.rs`, where nothing else runs beside them.

mod calls;
mod control;
mod deceivers;
#[path = "../shared/fools.rs"]
mod fools;
mod javascript;
mod javascript_calls;
#[path = "../shared/left.rs"]
mod left;
mod mutants;
#[path = "../shared/place.rs"]
mod place;
mod projects;
mod python;
#[path = "../shared/runner.rs"]
mod runner;
mod runners;
#[path = "../shared/skip.rs"]
mod skip;
#[cfg(target_os = "linux")]
mod tiers;
mod verdicts;
