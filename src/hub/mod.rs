//! The Hugging Face hub: what is in its local cache, and what is fetched into it. Of it only [`pull()`] uses
//! the network.
//!
//! - `wanted` chooses the files of a repository; pickles are refused.
//! - `config.json` comes first, so that an unsupported architecture is refused before its weights are
//!   fetched.
//! - A large file is accepted only with the right SHA-256.
//! - The cache has the hub's own layout. `refs/` is written last. Incomplete files end in `.incomplete`;
//!   locks are those of the hub's tools.
//! - The token goes only to the hub's scheme, host and port. No message holds it, or the query of a link.
//! - Every wait has a bound (`Patience`): connection, headers, silence, `Retry-After`. A broken connection is
//!   retried as long as it brings bytes.
//! - `tests/shared/hub.rs` is a server that behaves like the hub, as well or as badly as a test needs.

mod access;
mod blob;
mod cache;
mod client;
mod error;
mod pull;
mod repository;
#[cfg(test)]
mod tests;
mod wanted;

pub use access::Access;
pub use cache::HubCache;
pub use error::HubError;
pub use pull::{Event, bytes, pull};
pub use repository::{OPTIONS, Repository};
