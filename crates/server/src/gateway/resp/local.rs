//! What a port's thread decides itself: the partition of the owner whose thread it is, or nothing, where
//! the engine is elsewhere and every command is handed over.

use scarce_engine::{Failure, Request};
use scarce_engine_embedded::{Held, Owner};

/// What a port's thread decides itself.
pub(super) trait Local {
    /// Whether the partition is decided on this thread.
    fn owns(&self, partition: u32) -> bool;

    /// Decides a request of a partition that is owned here.
    fn serve(&mut self, request: &Request) -> Held;

    /// Whether more may be taken before what was decided is durable.
    fn has_room(&self) -> bool;

    /// The last batch decided here that is durable.
    fn durable(&self) -> u64;

    /// Why nothing more will become durable, if so.
    fn failure(&self) -> Option<String>;

    /// What is decided from now on is stamped anew.
    fn begin_turn(&mut self);
}

impl Local for Owner {
    fn owns(&self, partition: u32) -> bool {
        partition == self.partition()
    }

    fn serve(&mut self, request: &Request) -> Held {
        Self::serve(self, request)
    }

    fn has_room(&self) -> bool {
        Self::has_room(self)
    }

    fn durable(&self) -> u64 {
        Self::durable(self)
    }

    fn failure(&self) -> Option<String> {
        Self::failure(self)
    }

    fn begin_turn(&mut self) {
        Self::begin_turn(self);
    }
}

/// Nothing is decided on this thread.
pub(super) struct Elsewhere;

impl Local for Elsewhere {
    fn owns(&self, _partition: u32) -> bool {
        false
    }

    fn serve(&mut self, _request: &Request) -> Held {
        let reason = "no partition is decided on this thread".to_owned();
        Held { result: Err(Failure::Unavailable { reason }), after: 0 }
    }

    fn has_room(&self) -> bool {
        true
    }

    fn durable(&self) -> u64 {
        u64::MAX
    }

    fn failure(&self) -> Option<String> {
        None
    }

    fn begin_turn(&mut self) {}
}
