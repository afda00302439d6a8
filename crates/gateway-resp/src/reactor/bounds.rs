//! What callers may take of the port: memory for requests and replies that are not finished, and time.

use std::time::Instant;

use super::{Connection, LOOK_INTERVAL, Reactor};

/// How much memory large requests may take that have not arrived whole, all connections together. Beyond it,
/// those of which nothing has arrived for longest are dropped.
const UNFINISHED_BYTES_MAX: usize = 8 << 20;

/// A request that takes no more than this is not large.
const UNFINISHED_BYTES_FREE: usize = 16 << 10;

/// Requests that have not arrived whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unfinished {
    count: usize,
    /// The memory of the large ones.
    bytes: usize,
}

impl Reactor {
    /// Keeps the memory of requests that have not arrived whole bounded.
    pub(super) fn bound_unfinished(&mut self) {
        if self.unfinished.bytes > UNFINISHED_BYTES_MAX {
            self.drop_slowest();
        }
    }

    /// Drops the connections with large requests of which nothing more has arrived for the longest time, until there
    /// is memory again for others. Those that have never sent a whole request go first.
    fn drop_slowest(&mut self) {
        let unfinished = |connection: &Option<Connection>| connection.as_ref()?.unfinished();
        let slow = self.connections.iter().enumerate();
        let mut slow: Vec<_> = slow.filter_map(|(at, its)| Some((unfinished(its)?, at))).collect();
        slow.sort_unstable();
        for (_, at) in slow.into_iter().filter(|((_, bytes), _)| *bytes > UNFINISHED_BYTES_FREE) {
            if self.unfinished.bytes <= UNFINISHED_BYTES_MAX / 2 {
                return;
            }
            self.drop_connection(at);
        }
    }

    /// Keeps the memory of replies that callers do not read bounded. The caller that has read nothing for longest is
    /// disconnected first, not one that reads slowly.
    pub(super) fn bound_unread(&mut self) {
        let bytes: u64 = self.active_connections().map(Connection::unread_bytes).sum();
        let places = self.shared.places.clone();
        let excess = places.unread.note_thread(&self.unread, bytes);
        if excess == 0 {
            return;
        }
        let unread = |at: &usize| {
            let connection = self.connections.get(*at)?.as_ref()?;
            Some((connection.clogged_since()?, connection.unread_bytes(), *at))
        };
        let mut holders: Vec<_> = self.active.iter().filter_map(unread).collect();
        holders.sort_unstable_by_key(|(since, held, _)| (*since, std::cmp::Reverse(*held)));
        let mut left = bytes;
        for (_, held, at) in holders {
            if left <= bytes - excess {
                break;
            }
            left -= held;
            if let Some(Some(connection)) = self.connections.get(at) {
                places.unread.note_closed(connection.peer(), held);
            }
            self.drop_connection(at);
        }
        // What is still too much is found in the next turn.
        let _ = places.unread.note_thread(&self.unread, left);
    }

    /// Whether there may be connections that have not authenticated, or not finished a request.
    pub(super) fn has_overdue(&self) -> bool {
        self.unfinished.count > 0 || self.shared.access.requires_login() && self.open > 0
    }

    /// Drops callers that took too long to authenticate or to finish a request, so that they hold no slot.
    pub(super) fn drop_overdue(&mut self) {
        let now = Instant::now();
        if !self.has_overdue() || now - self.overdue_seen_at < LOOK_INTERVAL {
            return;
        }
        self.overdue_seen_at = now;
        for at in 0..self.connections.len() {
            if self.connections[at].as_ref().is_some_and(|connection| connection.is_overdue(now)) {
                self.drop_connection(at);
            }
        }
    }
}

impl Unfinished {
    pub(super) fn of(connection: &Connection) -> Self {
        let Some((_, bytes)) = connection.unfinished() else { return Self::default() };
        Self { count: 1, bytes: if bytes > UNFINISHED_BYTES_FREE { bytes } else { 0 } }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self { count: self.count + other.count, bytes: self.bytes + other.bytes }
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self { count: self.count - other.count, bytes: self.bytes - other.bytes }
    }
}
