//! Projects as developers have them: small ones, each with a trait of its own, written for it. The original
//! of a function passes, broken ones fail with the right test named, and of the candidates of a script the
//! right one is picked, written and taken back. Each project is a text file of parts in `projects/`.

mod compiled;
mod driver;
mod javascript;
#[path = "../shared/place.rs"]
mod place;
mod python;
#[path = "../shared/runner.rs"]
mod runner;
#[path = "../shared/skip.rs"]
mod skip;
#[allow(dead_code)] // some is for tests of the command line only
#[path = "../cli/world.rs"]
mod world;
