//! Models, backends and the engine: exactness above all.

mod alternatives;
mod architectures;
mod batching;
mod cut_back;
#[path = "../shared/damage.rs"]
mod damage;
mod damaged_files;
mod devices;
mod distribution;
mod draft_heads;
mod drafters;
mod emulated;
#[path = "../shared/emulator/mod.rs"]
mod emulator;
mod exactness;
mod gguf;
mod golden;
mod graphs;
mod memory;
mod model_files;
mod network;
mod pairs;
mod prompts;
mod sampling;
#[path = "../shared/skip.rs"]
mod skip;
mod states;
mod steps;
mod toy;
