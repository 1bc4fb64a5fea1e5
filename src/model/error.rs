//! Why a model could not be read.

use std::path::{Path, PathBuf};

/// Why a model could not be read. Every message names the file, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is unreadable.
    #[error("{path}: cannot be read: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that a model needs is not there.
    #[error("{path}: not found: {need}")]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// What it is needed for and what to do.
        need: String,
    },
    /// A file that should hold JSON does not.
    #[error("{path}: not readable as JSON ({problem}); download the file again")]
    Json {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        problem: String,
    },
    /// A field of a JSON file is missing or has a value that is not supported.
    #[error("{path}: field `{field}`: found {found}, expected {expected}")]
    Field {
        /// The file.
        path: PathBuf,
        /// The field, with dots for nesting.
        field: String,
        /// What stands there.
        found: String,
        /// What would be usable.
        expected: String,
    },
    /// A tensor is missing or is not what the configuration says.
    #[error("{path}: tensor `{tensor}`: found {found}, expected {expected}")]
    Tensor {
        /// The checkpoint file, or the folder where no file has the tensor.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// What stands there.
        found: String,
        /// What would be usable.
        expected: String,
    },
    /// A checkpoint file is damaged.
    #[error("{path}: not a whole safetensors file ({problem}); download the file again")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A GGUF file is damaged or of a kind that is not read.
    #[error("{path}: not a readable GGUF file ({problem}); download the file again")]
    Gguf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A chat template is none that can be used.
    #[error("{path}: the chat template cannot be used ({problem}); --chat no goes without it")]
    Template {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A tokenizer could not be read or refused its input.
    #[error("{path}: {problem}")]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl ModelError {
    /// An error of a field of the JSON file at `path`.
    pub(crate) fn field(
        path: &Path,
        field: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Field { path: path.into(), field: field.into(), found: found.into(), expected: expected.into() }
    }
}
