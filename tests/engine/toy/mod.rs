//! The engine's world, written down: networks whose logits are a table, a drafter that follows a script, a
//! naive oracle of what has to be written, and statistics of what was.

pub mod cases;
pub mod faults;
pub mod fit;
pub mod network;
pub mod oracle;
pub mod order;
pub mod run;
pub mod scripted;
pub mod world;

use std::path::Path;

use bass_tui::model::Tokenizer;

pub use network::{Toy, Watch};
pub use order::Order;
pub use run::{Outcome, Step, generate, generate_until};
pub use scripted::{Scripted, mixed};

pub const VOCAB: usize = 6;
pub const EOS: u32 = 5;

/// The text of every token.
pub const LETTERS: [&str; VOCAB] = ["a", "b", "c", "d", "e", "f"];

/// One letter per token.
pub fn tokenizer() -> Tokenizer {
    let vocab = serde_json::json!({ "a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5 });
    let model = serde_json::json!({ "type": "BPE", "vocab": vocab, "merges": [] });
    let json =
        serde_json::json!({ "version": "1.0", "model": model, "decoder": { "type": "Fuse" }, "added_tokens": [] });
    Tokenizer::read(Path::new("letters/tokenizer.json"), json.to_string().as_bytes()).unwrap()
}
