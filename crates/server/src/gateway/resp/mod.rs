//! The RESP port: any Redis client speaks to it. A partition's owner serves its sockets itself, so
//! that no command changes threads on its way to the state.

mod connection;
mod consumers;
mod control;
mod documents;
mod events;
mod local;
mod outbox;
mod output;
mod reactor;
mod reply;
pub mod request;
mod session;
mod transaction;
mod unknown;

pub use super::access::Access;
pub use documents::CONTROLS;
pub use reactor::{Reactor, bind};

/// What every connection of the port knows.
pub struct Shared {
    /// What callers must show before they may do anything.
    pub access: Access,
    /// The engine, for what lives in other partitions.
    pub engine: std::sync::Arc<dyn scarce_engine::Engine>,
    /// The clock that tests set, where there is one.
    pub manual_clock: Option<scarce_engine::clock::ManualClock>,
    /// Connections by id, for `CLIENT LIST` and ids that are told apart.
    pub connection_ids: std::sync::atomic::AtomicU64,
    /// How many connections are open.
    pub connections_open: std::sync::atomic::AtomicU64,
    /// Whether somebody who asked for a snapshot waits for it.
    pub snapshot_runs: std::sync::Arc<std::sync::atomic::AtomicBool>,
    /// When the port was opened.
    pub started_at: std::time::Instant,
}

/// The most connections that one owner serves.
pub const CONNECTIONS_MAX: usize = 10_000;
