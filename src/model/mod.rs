//! What a model *is*, on no device: its architecture as data, its checkpoint, its tokenizer.

pub mod tokenizer;

use std::path::PathBuf;

pub use tokenizer::{StreamDecoder, Tokenizer};

/// Where the files of a model come from.
#[derive(Clone, Debug)]
pub enum ModelFiles {
    /// A folder in Hugging Face layout.
    Folder(PathBuf),
    /// Files inside this program.
    Embedded(&'static EmbeddedModel),
}

/// The files of a model that is part of the program.
#[derive(Debug)]
pub struct EmbeddedModel {
    /// Name for messages.
    pub name: &'static str,
    /// `config.json`.
    pub config: &'static [u8],
    /// `generation_config.json`, if any.
    pub generation_config: Option<&'static [u8]>,
    /// `tokenizer.json`.
    pub tokenizer: &'static [u8],
    /// `model.safetensors`.
    pub weights: &'static [u8],
}

/// A model read from its files: everything but a device.
pub struct Model {
    /// Name for messages and JSON: the folder's name or the embedded model's.
    pub name: String,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// Ids that end a completion (from `generation_config.json`, else `config.json`).
    pub eos: Vec<u32>,
}

impl Model {
    /// Reads and checks the model: configuration, tokenizer, and the table of the checkpoint's tensors.
    pub fn load(_files: &ModelFiles) -> Result<Model, ModelError> {
        todo!()
    }
}

/// Why a model could not be read. Every message names the file, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or unreadable.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
