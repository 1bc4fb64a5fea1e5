//! Why a model cannot be used.

use std::path::{Path, PathBuf};

use crate::config::ConfigError;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The user's file cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An entry of the user's file cannot be used.
    #[error("{file}: the entry `{name}` cannot be used: {problem}")]
    Entry {
        file: PathBuf,
        /// Name of the entry.
        name: String,
        problem: &'static str,
    },
    /// There is no such name.
    #[error(
        "there is no {what} `{name}`, neither a folder nor a name{hint}; known are {known}; others can be added to {file}"
    )]
    Unknown {
        /// Kind of the thing looked for.
        what: &'static str,
        /// The name given.
        name: String,
        /// The nearest name, if one is near, as the rest of a sentence.
        hint: String,
        /// Known names, nearest first.
        known: String,
        /// Where the user's own entries go.
        file: PathBuf,
    },
    /// The model is known, but not on this machine.
    #[error(
        "the files of `{name}` are not on this machine: {id} is not in {cache} (or its download is not complete){here}; fetch it with `bass-tui models pull {name}`"
    )]
    NotFetched {
        name: String,
        /// Its id on the hub.
        id: String,
        /// Where it was looked for.
        cache: PathBuf,
        /// Its files that are there, as the rest of a sentence.
        here: String,
    },
    /// A server has it, and a model of this machine is needed.
    #[error(
        "the model of the entry `{name}` is on a server, and has no files on this machine: this needs a model that has"
    )]
    Served { name: String },
    /// Ollama has no such model that can be used.
    #[error("{name} cannot be used: {problem}")]
    Ollama {
        /// As written.
        name: String,
        problem: String,
    },
    /// The folder of an entry does not exist.
    #[error("the entry `{name}` names the folder {folder}, which does not exist; correct it in models.toml")]
    NoFolder { name: String, folder: PathBuf },
    /// A path was given, and it leads nowhere.
    #[error("there is no folder or GGUF file {folder}{}; check the path, or take a name that `bass-tui models` lists",
        looked_in(.folder))]
    NoSuchFolder { folder: PathBuf },
    /// There is no such model in the program.
    #[error("this program has no model `{source_text}` inside; name a folder with `--model DIR`")]
    NotEmbedded {
        /// The source as written.
        source_text: String,
    },
}

/// The folder that a path is looked for in, if it does not say that itself.
fn looked_in(path: &Path) -> String {
    let folder = std::env::current_dir().ok().filter(|_| path.is_relative());
    folder.map_or_else(String::new, |folder| format!(" (looked in {})", folder.display()))
}
