//! Models, backends and the engine: exactness above all.

mod architectures;
mod batching;
#[path = "../shared/damage.rs"]
mod damage;
mod damaged_files;
mod distribution;
mod drafters;
mod exactness;
mod gguf;
mod golden;
mod memory;
mod model_files;
mod network;
mod pairs;
mod prompts;
mod sampling;
mod steps;
mod toy;
mod trees;
