//! The model pair inside the program: small, trained on Python functions, there so that everything works at
//! once.

use super::EmbeddedModel;

/// The embedded main model.
pub static MAIN: EmbeddedModel = EmbeddedModel {
    name: "built-in",
    config: include_bytes!("../../assets/models/main/config.json"),
    generation_config: None,
    tokenizer: include_bytes!("../../assets/models/main/tokenizer.json"),
    weights: include_bytes!("../../assets/models/main/model.safetensors"),
};

/// The embedded draft model, with the tokenizer of [`MAIN`].
pub static DRAFT: EmbeddedModel = EmbeddedModel {
    name: "built-in-draft",
    config: include_bytes!("../../assets/models/draft/config.json"),
    generation_config: None,
    tokenizer: include_bytes!("../../assets/models/draft/tokenizer.json"),
    weights: include_bytes!("../../assets/models/draft/model.safetensors"),
};
