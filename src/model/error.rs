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
        /// The system's error.
        source: std::io::Error,
    },
    /// A file that a model needs is not there.
    #[error("{path}: not found: {need}")]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// Its purpose, and what to do.
        need: String,
    },
    /// A file that should hold JSON does not.
    #[error("{path}: not readable as JSON ({problem}); download the file again")]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        problem: String,
    },
    /// A field of a JSON file is missing or has a value that is not supported.
    #[error("{path}: field `{field}`: found {found}, expected {expected}")]
    Field {
        /// The file.
        path: PathBuf,
        /// The field, with dots for nesting.
        field: String,
        /// The value found.
        found: String,
        /// The values that can be used.
        expected: String,
    },
    /// A tensor is missing or is not what the configuration says.
    #[error("{path}: tensor `{tensor}`: found {found}, expected {expected}")]
    Tensor {
        /// The checkpoint file, or the folder where no file has the tensor.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// The tensor found.
        found: String,
        /// The tensor expected.
        expected: String,
    },
    /// A checkpoint file is damaged.
    #[error("{path}: not a whole safetensors file ({problem}); download the file again")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The damage.
        problem: String,
    },
    /// A GGUF file is damaged or of a kind that is not read.
    #[error("{path}: not a readable GGUF file ({problem}); download the file again")]
    Gguf {
        /// The file.
        path: PathBuf,
        /// The damage, or the unknown kind.
        problem: String,
    },
    /// A file is something else than what it is called.
    #[error("{path}: {what}")]
    Mistaken {
        /// The file.
        path: PathBuf,
        /// The thing that it is, and what to do.
        what: String,
    },
    /// A chat template is none that can be used.
    #[error("{path}: the chat template cannot be used ({problem}); --chat no goes without it")]
    Template {
        /// The file.
        path: PathBuf,
        /// Why it cannot be used.
        problem: String,
    },
    /// A tokenizer could not be read or refused its input.
    #[error("{path}: {problem}")]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// The fault.
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
