//! What all ports share: who is admitted, the certificate, how many connections may be open, what unread replies may take, and how a
//! consumer of the log is shown.
//!
//! Must not know: a protocol, an engine other than by its trait, or a setting's name.
//!
//! Where to begin: [`Access`], the password and the keys; [`Tls`], the certificate; [`ConnectionPlaces`], the connections.

#![forbid(unsafe_code)]

mod access;
mod attempts;
mod bounded;
mod caller;
mod certificate;
pub mod consumers;
pub mod descriptors;
mod failures;
mod handshake;
mod keys;
mod limiting;
mod places;
mod records;
mod telling;
mod tls;
pub mod unread;

pub use access::{Access, Login};
pub use bounded::Bounded;
pub use caller::{Caller, Grant, USED_MS};
pub use certificate::{CertificateFacts, Validity};
pub use failures::HandshakeFailure;
pub use handshake::{Accepted, PLAIN_MAX, Socket};
pub use keys::Keys;
pub use limiting::Limiting;
pub use places::{ConnectionPlace, ConnectionPlaces};
pub use records::Records;
pub use tls::{Tls, TlsError, TlsFiles};
pub use unread::Unread;

/// Unix milliseconds by the system's clock, by which keys expire.
#[must_use]
pub fn now_ms() -> scarce_core::types::TimeMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// What callers are told while the engine recovers.
pub type LoadingText = std::sync::Arc<dyn Fn() -> String + Send + Sync>;
