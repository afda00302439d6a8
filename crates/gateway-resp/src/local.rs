//! What a port's thread decides itself: the partition of the owner whose thread it is, or nothing if the
//! engine runs elsewhere and every command is handed over.

use scarce_core::command::Envelope;
use scarce_core::command::plain::Plain;
use scarce_core::outcome::Receipt;
use scarce_engine::{Failure, Request};
use scarce_engine_embedded::{Owner, PendingAnswer};

/// What a port's thread decides itself.
pub(super) trait Local {
    /// Whether this thread decides the partition.
    fn owns(&self, partition: u32) -> bool;

    /// Decides a request for a partition that is owned here.
    fn serve(&mut self, request: &Request) -> PendingAnswer;

    /// Decides a change of a partition that is owned here and gives its receipt to `take`, with the batch that must be
    /// durable before it may leave. False if [`Local::serve`] must be asked instead; then nothing was done.
    fn decide(&mut self, envelope: &Envelope, take: &mut dyn FnMut(&Receipt, u64)) -> bool;

    /// Decides a request of the commonest form. Returns the numbers of its answer, and the batch that must be durable before
    /// that may leave. None if [`Local::decide`] must be asked instead; then nothing was done.
    fn decide_plain(&mut self, plain: &Plain<'_>) -> Option<([i64; 2], u64)>;

    /// How often a request had to wait for the disk, since the start.
    fn disk_reads(&self) -> u64;

    /// Whether more requests may be accepted before the decided ones are durable.
    fn has_room(&self) -> bool;

    /// The last durable batch among those decided here.
    fn durable(&self) -> u64;

    /// Why nothing more will become durable, if that is so.
    fn failure(&self) -> Option<String>;

    /// Requests decided from now on get a new timestamp.
    fn begin_turn(&mut self);
}

impl Local for Owner {
    fn owns(&self, partition: u32) -> bool {
        partition == self.partition()
    }

    fn serve(&mut self, request: &Request) -> PendingAnswer {
        Self::serve(self, request)
    }

    fn decide(&mut self, envelope: &Envelope, take: &mut dyn FnMut(&Receipt, u64)) -> bool {
        Self::decide(self, envelope, take)
    }

    fn decide_plain(&mut self, plain: &Plain<'_>) -> Option<([i64; 2], u64)> {
        Self::decide_plain(self, plain)
    }

    fn disk_reads(&self) -> u64 {
        Self::disk_reads(self)
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

/// Decides nothing on this thread.
pub(super) struct Elsewhere;

impl Local for Elsewhere {
    fn owns(&self, _partition: u32) -> bool {
        false
    }

    fn serve(&mut self, _request: &Request) -> PendingAnswer {
        let reason = "no partition is decided on this thread".to_owned();
        PendingAnswer { result: Err(Failure::Unavailable { reason }), after: 0 }
    }

    fn decide(&mut self, _envelope: &Envelope, _take: &mut dyn FnMut(&Receipt, u64)) -> bool {
        false
    }

    fn decide_plain(&mut self, _plain: &Plain<'_>) -> Option<([i64; 2], u64)> {
        None
    }

    fn disk_reads(&self) -> u64 {
        0
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
