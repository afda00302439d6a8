//! The RESP port, for any Redis client. A partition's owner serves its sockets itself, so that no command
//! changes threads on its way to the state.
//!
//! Must not know: another port, a setting's name, or what outcomes come to.
//!
//! Where to begin: [`Reactor`], which serves connections; `session.rs`, what a request leads to.

#![forbid(unsafe_code)]

mod aside;
mod connection;
mod consumers;
mod control;
mod documents;
mod drain;
mod dry_run;
mod events;
mod form;
mod handshakes;
mod info;
mod limits;
mod lists;
pub mod loading;
mod local;
#[cfg(test)]
mod lockstep_tests;
mod outbox;
mod output;
mod permission;
mod pushes;
mod reactor;
mod reply;
pub mod request;
mod rooms;
mod scripts;
mod session;
mod slots;
mod slowlog;
mod tally;
mod transaction;
mod transport;
mod unknown;

pub use aside::Aside;
pub use documents::{Acts, CONTROLS, Control, Needs};
pub use drain::Drain;
pub use handshakes::Handshakes;
pub use reactor::{Reactor, bind};

/// What every connection of the port shares.
pub struct RespShared {
    /// How callers authenticate.
    pub access: scarce_gateway::Access,
    /// How TLS begins, if the port speaks it.
    pub handshakes: Option<Handshakes>,
    /// The engine, for requests to other partitions.
    pub engine: std::sync::Arc<dyn scarce_engine::Engine>,
    /// The clock that tests set, if there is one.
    pub manual_clock: Option<scarce_engine::clock::ManualClock>,
    /// The source of connection ids, for `CLIENT LIST`.
    pub connection_ids: std::sync::atomic::AtomicU64,
    /// How many connections are open.
    pub connections_open: std::sync::atomic::AtomicU64,
    /// The orderly end of the port.
    pub drain: std::sync::Arc<Drain>,
    /// The consumers of this process, once they run.
    pub statuses: std::sync::Arc<std::sync::OnceLock<Statuses>>,
    /// The places for connections of all ports.
    pub places: std::sync::Arc<scarce_gateway::ConnectionPlaces>,
    /// Whether a requested snapshot is in progress.
    pub snapshot_runs: std::sync::Arc<std::sync::atomic::AtomicBool>,
    /// How long commands take, at all ports.
    pub latencies: std::sync::Arc<scarce_gateway::latencies::Latencies>,
    /// The channels that callers subscribe to.
    pub push: std::sync::Arc<scarce_push::Hub>,
    /// Cuts red packets.
    pub cuts: Aside,
    /// Reads the log.
    pub reads: Aside,
    /// How long a caller may take nothing of its replies.
    pub unread_max: std::time::Duration,
    /// When the port was opened.
    pub started_at: std::time::Instant,
}

/// How the consumers of this process are doing.
pub type Statuses = std::sync::Arc<[std::sync::Arc<scarce_outflow::Status>]>;

/// The maximum number of connections that one owner serves.
pub const CONNECTIONS_MAX: usize = 10_000;
