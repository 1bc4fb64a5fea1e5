//! The command line as a script meets it: what is printed where, exit codes, and a sentence for whatever is
//! wrong.

mod bench;
mod chat;
mod clients;
mod contract;
#[path = "../engine/gguf/delta.rs"]
mod delta;
mod documented;
mod editors;
mod eval;
mod generation;
mod golden;
#[path = "../shared/hub.rs"]
mod hub;
mod kept;
mod prompts;
mod pull;
mod refusals;
mod room;
mod served;
#[path = "../shared/server.rs"]
mod server;
mod servers;
mod serving;
#[path = "../shared/skip.rs"]
mod skip;
mod small_commands;
mod terminal;
mod tests_of_candidates;
mod told;
mod tools;
mod undecided;
mod ways;
mod world;
#[allow(dead_code)]
#[path = "../engine/gguf/write.rs"]
mod write;
