//! One partition of the topic of commands while it is ours.

use std::collections::BTreeMap;
use std::time::Instant;

use scarce_api::message::Reason;
use scarce_core::outcome::Outcome;
use scarce_engine::Request;

use super::intake::{self, Head, Raw, Taken};
use super::lane::{Item, Lane};
use super::ledger::Ledger;

/// What of it is under way.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Which time it is ours; what belongs to an earlier time means nothing any more.
    pub(crate) generation: u64,
    ledger: Ledger,
    lanes: BTreeMap<u32, Lane>,
    bytes: usize,
    /// How many bytes each message takes that is not done.
    sizes: BTreeMap<i64, usize>,
    pub(crate) is_paused: bool,
}

/// What a message came to at once.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It was begun before.
    Again,
    /// The engine is to decide it.
    Waits,
    /// It is answered without the engine.
    Answered(Box<(Head, Outcome)>),
    /// It is a dead letter.
    Dead(Box<(Raw, Reason)>),
}

impl Flow {
    pub(crate) fn new(generation: u64) -> Self {
        Self {
            generation,
            ledger: Ledger::default(),
            lanes: BTreeMap::new(),
            bytes: 0,
            sizes: BTreeMap::new(),
            is_paused: false,
        }
    }

    /// Begins a message.
    pub(crate) fn begin(&mut self, offset: i64, raw: Raw, partitions: u32, secret: &[u8; 32]) -> Begun {
        if !self.ledger.begin(offset) {
            return Begun::Again;
        }
        let bytes = raw.bytes();
        self.bytes += bytes;
        self.sizes.insert(offset, bytes);
        match intake::take(&raw, partitions, secret) {
            Ok(Taken::Ask(head, envelope)) => {
                let lane = self.lanes.entry(head.partition).or_default();
                lane.push(Item { offset, head, envelope: *envelope, raw, failures: 0 });
                Begun::Waits
            }
            Ok(Taken::Answered(head, outcome)) => Begun::Answered(Box::new((head, *outcome))),
            Err(reason) => Begun::Dead(Box::new((raw, reason))),
        }
    }

    /// The next batch for each partition of the engine that it is time for.
    pub(crate) fn depart(&mut self, now: Instant) -> Vec<(u32, Vec<Request>)> {
        let batches =
            self.lanes.iter_mut().filter_map(|(partition, lane)| Some((*partition, lane.depart(now)?)));
        batches.collect()
    }

    /// The lane to a partition of the engine.
    pub(crate) fn lane(&mut self, partition: u32) -> &mut Lane {
        self.lanes.entry(partition).or_default()
    }

    /// Forgets lanes that nothing goes through any more.
    pub(crate) fn tidy(&mut self) {
        self.lanes.retain(|_, lane| !lane.is_idle() || lane.is_held_up());
    }

    /// A message is done. Gives the place behind all that are done, where it has moved on.
    pub(crate) fn finish(&mut self, offset: i64) -> Option<i64> {
        self.bytes -= self.sizes.remove(&offset).unwrap_or(0);
        self.ledger.finish(offset)
    }

    /// How many messages are under way.
    pub(crate) fn in_flight(&self) -> usize {
        self.sizes.len()
    }

    /// Whether it should stand still: because too much is under way, or the engine cannot decide what came. One
    /// that stands goes on only when half of what may be under way is done.
    pub(crate) fn should_pause(&self, commands_max: usize, bytes_max: usize) -> bool {
        let part = if self.is_paused { 2 } else { 1 };
        let is_full = self.ledger.open() > commands_max / part || self.bytes > bytes_max / part;
        is_full || self.lanes.values().any(Lane::is_held_up)
    }

    /// When there is something to do again.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.lanes.values().filter_map(Lane::wake_at).min()
    }
}
