//! The Hugging Face hub: what is in its local cache, and what is fetched into it. Of it only [`pull()`] uses the
//! network.

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
pub use repository::Repository;
