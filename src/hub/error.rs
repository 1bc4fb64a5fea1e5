//! Why something cannot be fetched.

use std::path::PathBuf;

use crate::model::ModelError;

/// Why something cannot be fetched. Neither tokens nor signed addresses stand in any of these.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// No connection.
    #[error(
        "{host} cannot be reached ({why}): check the network, and HTTPS_PROXY where this machine needs a proxy; what \
         was downloaded so far is kept"
    )]
    Unreachable { host: String, why: String },
    /// Connections break.
    #[error(
        "the connection to {host} broke {times} times without a byte more ({why}): try again, what was downloaded so far is kept"
    )]
    Cut { host: String, times: u32, why: String },
    /// The terms have to be accepted.
    #[error(
        "{id} is gated: accept its terms at {endpoint}/{id}, make a token at {endpoint}/settings/tokens and set \
         HF_TOKEN to it ({token})"
    )]
    Gated { id: String, endpoint: String, token: &'static str },
    /// No such repository, or a private one.
    #[error(
        "there is no repository {id} at {endpoint}, or it is private: check the name; for a private one set HF_TOKEN ({token})"
    )]
    NoRepository { id: String, endpoint: String, token: &'static str },
    /// No such branch, tag or file.
    #[error("{id} has no {what}: check the name at {endpoint}/{id}")]
    NotThere { id: String, what: String, endpoint: String },
    /// Too many requests.
    #[error("{host} takes no more requests now: try again in {seconds} s; with a token in HF_TOKEN it takes more")]
    Busy { host: String, seconds: u64 },
    /// Another status.
    #[error("{host} answered with status {status} to {what}: try again later")]
    Status { host: String, status: u16, what: String },
    /// An answer that cannot be used.
    #[error("the answer of {host} to {what} cannot be used: {problem}")]
    Answer { host: String, what: String, problem: String },
    /// Damaged on the way, or not what was announced.
    #[error("{file} is damaged: its {what} is {found}, expected {expected}; it was thrown away, pull again")]
    Damaged { file: String, what: &'static str, found: String, expected: String },
    /// The disk is too small.
    #[error(
        "{folder} has {free} free, and {need} have to be downloaded: make room, or set HF_HOME to a folder on another disk"
    )]
    Space { folder: PathBuf, free: String, need: String },
    /// The system refuses.
    #[error("{path} cannot be written: {source}; what was downloaded so far is kept")]
    Write { path: PathBuf, source: std::io::Error },
    /// Someone else fetches it.
    #[error("{file} is being downloaded by another program: wait for that, then try again")]
    Locked { file: String },
    /// Programs instead of data.
    #[error(
        "{id} has its weights only as pickles ({file}), which are programs rather than data and are never run: take a \
         revision that has safetensors (ORG/NAME@REVISION; the hub's converter puts them at refs/pr/N), or another model"
    )]
    Pickles { id: String, file: String },
    /// Nothing to load.
    #[error("{id} has no {what}: it is no model that can be used here{instead}")]
    NoModel { id: String, what: &'static str, instead: String },
    /// A pattern that names no model.
    #[error("{pattern} is {found} of {id}, which has {files}: name one as {id}:FILE")]
    Choose { id: String, pattern: String, found: &'static str, files: String },
    /// An architecture that is not known.
    #[error("{id} cannot be used, its weights were not downloaded: {source}")]
    Unusable { id: String, source: Box<ModelError> },
    /// A setting from the environment.
    #[error("{name} cannot be used: {problem}")]
    Setting { name: &'static str, problem: String },
}
