//! `bass-tui`: N candidate completions of one prompt at nearly the price of one, picked by running the user's
//! tests.
//!
//! The rooms and their imports are in `docs/architecture.md`.

#[cfg(not(unix))]
compile_error!("bass-tui needs a Unix system: processes, signals and terminals are used as these have them");

pub mod agreement;
pub mod backend;
mod catalog;
mod channels;
pub mod cli;
pub mod code;
mod config;
#[cfg(test)]
#[path = "../tests/shared/damage.rs"]
mod damage;
#[cfg(test)]
#[path = "../tests/shared/damaged_texts.rs"]
mod damaged_texts;
pub mod engine;
mod eval;
mod files;
mod hash;
mod history;
mod hub;
pub mod job;
pub mod language;
pub mod model;
mod options;
mod panics;
pub mod prompt;
pub mod sampling;
pub mod sandbox;
mod serve;
mod signals;
#[cfg(test)]
#[path = "../tests/shared/skip.rs"]
mod skip;
// Code that tests of the library and of its rooms share calls it by its name.
#[cfg(test)]
extern crate self as bass_tui;
pub mod source;
pub mod trial;
pub mod tui;
mod untrusted;
mod web;
