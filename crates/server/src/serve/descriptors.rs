//! File descriptors: how many the server itself needs, and what is left for connections.

use scarce_settings::{EngineChoice, ServerSettings};

use super::ServeError;

/// What any server has open: ports, polls, wakers, the lock of its data, its libraries' own files.
const FILES_BASE: u64 = 48;

/// What a partition of the embedded engine has open at once: segments that are written, read and made, a snapshot.
const FILES_PER_PARTITION: u64 = 12;

/// How many files of operation ids a partition has open at once: a few of each size, those that are merged, and those that are
/// to be removed.
const FILES_OF_IDS: u64 = 40;

/// What the shipping of a partition's log has open: its folder, twice while a backup is being made, and what it reads.
const FILES_PER_BACKED_UP: u64 = 6;

/// Connections to databases, brokers, receivers or a Redis.
const FILES_PER_PEER: u64 = 32;

/// The number of descriptors that a server with these settings needs besides its connections.
#[must_use]
pub fn needed(settings: &ServerSettings) -> u64 {
    let of_engine = match settings.engine {
        EngineChoice::Embedded => FILES_PER_PARTITION * u64::from(settings.partitions),
        EngineChoice::Redis => FILES_PER_PEER,
    };
    let peers = [settings.sql.is_some(), settings.kafka.is_some(), settings.webhooks];
    let peers = peers.iter().filter(|is_used| **is_used).count() as u64;
    let of_backup = match settings.backup {
        Some(_) => FILES_PER_PEER + FILES_PER_BACKED_UP * u64::from(settings.partitions),
        None => 0,
    };
    FILES_BASE + of_engine + FILES_PER_PEER * peers + of_backup
}

/// Checks that a limit of open files leaves the server what it needs itself: one that had none for a connection would
/// look as if it ran, and answer nobody.
pub(super) fn check(settings: &ServerSettings, limit: Option<u64>) -> Result<(), ServeError> {
    let needed = needed(settings);
    match limit.filter(|limit| *limit < needed) {
        Some(limit) => Err(ServeError::OpenFiles { limit, needed }),
        None => Ok(()),
    }
}

/// The number of connections that the ports can serve at most, if there are descriptors enough.
#[must_use]
pub fn connections_wanted(settings: &ServerSettings) -> u64 {
    let of_http = if settings.http.is_some() { scarce_gateway_http::CONNECTIONS_MAX } else { 0 };
    let of_resp = match settings.engine {
        EngineChoice::Embedded => scarce_gateway_resp::CONNECTIONS_MAX * settings.partitions as usize,
        EngineChoice::Redis => scarce_gateway_resp::CONNECTIONS_MAX,
    };
    (of_resp + of_http) as u64
}

/// The number of connections for which a limit of open files leaves descriptors. Under a limit that is hardly enough
/// for the server itself, callers get a quarter of it; the journal then waits for a descriptor when it has none.
#[must_use]
pub fn connections_max(settings: &ServerSettings, limit: Option<u64>) -> u64 {
    let of_ids = match settings.engine {
        EngineChoice::Embedded => FILES_OF_IDS * u64::from(settings.partitions),
        EngineChoice::Redis => 0,
    };
    let own = needed(settings) + of_ids;
    let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(own).max(limit / 4));
    left.min(connections_wanted(settings))
}
