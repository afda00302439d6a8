//! The ports through which commands arrive.

mod access;
mod attempts;
pub mod http;
mod places;
pub mod resp;
mod unread;

pub use access::Access;
pub use places::{ConnectionPlace, ConnectionPlaces};
pub use unread::Unread;

/// What callers are told while the engine recovers.
pub(crate) type LoadingText = std::sync::Arc<dyn Fn() -> String + Send + Sync>;
