//! Why a server cannot be used.

/// Why a server cannot be used, or did not answer. No message holds the key.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs)] // the sentences say what their fields are
pub enum ServerError {
    /// Its address is none.
    #[error("--server is {given}, expected the address of a server, such as http://127.0.0.1:8000{problem}")]
    Address {
        /// As given, without user and password.
        given: String,
        /// The fault, as the rest of the sentence.
        problem: &'static str,
    },
    /// The key cannot be used.
    #[error("the key in {from} cannot be used: {problem}")]
    Key {
        /// The variable or the file.
        from: String,
        problem: String,
    },
    /// It has no such model, or one has to be named.
    #[error("the server {at} {problem}")]
    Model {
        at: String,
        /// The rest of the sentence.
        problem: String,
    },
    /// No connection, or one that broke.
    #[error("the server {at} cannot be reached: {why}; is it running, and is --server its address?")]
    Unreachable { at: String, why: String },
    /// It answers with an error.
    #[error("the server {at} answers {status}: {said}")]
    Status {
        at: String,
        status: u16,
        /// Its own words, or ours.
        said: String,
        /// All of its answer, not fit to be shown.
        raw: String,
    },
    /// It sends us elsewhere.
    #[error("the server {at} sends requests on to {to}: give that address with --server, if it is the one you mean")]
    Redirect { at: String, to: String },
    /// Its answer is none.
    #[error("the answer of the server {at} cannot be used: {problem}")]
    Answer { at: String, problem: String },
    /// It says nothing any more.
    #[error("the server {at} was silent for {seconds} s")]
    Silent { at: String, seconds: u64 },
    /// It says that something went wrong while it wrote.
    #[error("the server {at} gave up: {said}")]
    GaveUp {
        at: String,
        said: String,
        /// All of its answer, not fit to be shown; empty if something had been written before.
        raw: String,
    },
    /// Its answer ended too early.
    #[error("the server {at} ended its answer before the candidate's end")]
    Cut { at: String },
}

impl ServerError {
    /// The request itself is refused: another try would be refused again.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Address { .. } | Self::Key { .. } | Self::Model { .. } | Self::Redirect { .. } => true,
            Self::Status { status, .. } => (400..500).contains(status) && ![408, 429].contains(status),
            _ => false,
        }
    }

    /// Text of a refusal that another request may avoid.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Status { status: 400 | 413 | 422 | 500 | 501, raw, .. } | Self::GaveUp { raw, .. } => Some(raw),
            _ => None,
        }
    }

    /// There is nothing at the address of the request, or nothing for its method.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Self::Status { status: 404 | 405 | 501, .. })
    }
}
