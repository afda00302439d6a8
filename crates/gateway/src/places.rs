//! How many connections all ports together may have open, so that they leave the engine the file descriptors that it
//! needs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scarce_engine::Throttle;

use super::Unread;

/// How often refused connections are logged.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// A port that connections come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// RESP.
    Resp,
    /// HTTP.
    Http,
}

impl PortKind {
    /// All.
    pub const ALL: [Self; 2] = [Self::Resp, Self::Http];

    /// Its name in metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Resp => "resp",
            Self::Http => "http",
        }
    }
}

/// The connections of a port.
#[derive(Debug, Default)]
struct OfPort {
    open: AtomicU64,
    accepted: AtomicU64,
}

/// The places for connections.
#[derive(Debug)]
pub struct ConnectionPlaces {
    max: u64,
    open: AtomicU64,
    ports: [OfPort; PortKind::ALL.len()],
    refused: AtomicU64,
    logging: Mutex<Throttle>,
    /// What the connections hold for callers that do not read.
    pub unread: Unread,
}

/// A connection's place. It is free again when this is dropped.
#[derive(Debug)]
pub struct ConnectionPlace(Arc<ConnectionPlaces>, PortKind);

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
        self.0.of(self.1).open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectionPlaces {
    /// So many places, whose unread replies may take so many bytes together.
    #[must_use]
    pub fn new(max: u64, unread_bytes_max: u64) -> Arc<Self> {
        let (open, refused) = (AtomicU64::new(0), AtomicU64::new(0));
        let (unread, ports) = (Unread::new(unread_bytes_max), Default::default());
        let logging = Mutex::new(Throttle::new(LOG_INTERVAL));
        Arc::new(Self { max, open, ports, refused, logging, unread })
    }

    fn of(&self, port: PortKind) -> &OfPort {
        &self.ports[port as usize]
    }

    /// A place for one more connection to a port, if there is one.
    #[must_use]
    pub fn take(self: &Arc<Self>, port: PortKind) -> Option<ConnectionPlace> {
        let place = self.try_take(port);
        if place.is_none() {
            self.note_refused();
        }
        place
    }

    /// The same for a connection that may be answered without a place.
    #[must_use]
    pub fn try_take(self: &Arc<Self>, port: PortKind) -> Option<ConnectionPlace> {
        let place = ConnectionPlace(Arc::clone(self), port);
        self.of(port).open.fetch_add(1, Ordering::Relaxed);
        let is_free = self.open.fetch_add(1, Ordering::Relaxed) < self.max;
        self.of(port).accepted.fetch_add(u64::from(is_free), Ordering::Relaxed);
        is_free.then_some(place)
    }

    /// Notes that a connection is refused because there is no place for it.
    pub fn note_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.log_refusal();
    }

    fn log_refusal(&self) {
        if self.logging.lock().unwrap_or_else(PoisonError::into_inner).pass() {
            let (connections_max, refused) = (self.max, self.refused());
            tracing::warn!(
                connections_max,
                refused,
                "a connection was refused: all places are taken; raise the limit of open files, or close idle connections"
            );
        }
    }

    /// How many places there are.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// How many are taken.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// How many of them by connections to a port.
    #[must_use]
    pub fn open_at(&self, port: PortKind) -> u64 {
        self.of(port).open.load(Ordering::Relaxed)
    }

    /// How many connections to a port had a place since the start.
    #[must_use]
    pub fn accepted_at(&self, port: PortKind) -> u64 {
        self.of(port).accepted.load(Ordering::Relaxed)
    }

    /// How many connections were refused.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_once_and_comes_back() {
        let places = ConnectionPlaces::new(2, 0);
        let taken: Vec<ConnectionPlace> =
            PortKind::ALL.into_iter().filter_map(|port| places.take(port)).collect();
        assert_eq!((taken.len(), places.open()), (2, 2));
        assert!(places.take(PortKind::Resp).is_none());
        assert_eq!((places.open(), places.refused()), (2, 1));
        assert_eq!(PortKind::ALL.map(|port| (places.open_at(port), places.accepted_at(port))), [(1, 1); 2]);
        drop(taken);
        assert!(places.take(PortKind::Resp).is_some());
        assert_eq!((places.open_at(PortKind::Resp), places.accepted_at(PortKind::Resp)), (0, 2));
    }
}
