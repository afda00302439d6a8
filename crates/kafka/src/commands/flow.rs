//! One partition of the topic of commands while it is assigned to this process.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use scarce_api::message::Reason;
use scarce_core::outcome::Outcome;
use scarce_engine::clock::wall_ms;
use scarce_engine::{Engine, Request};
use scarce_outflow::Traces;

use super::Admission;
use super::intake::{self, Head, Raw, Taken};
use super::lane::{Item, Lane};
use super::ledger::{Ledger, Reached};

/// The partition's commands in progress.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The number of this assignment; results of earlier assignments are ignored.
    pub(crate) generation: u64,
    ledger: Ledger,
    lanes: BTreeMap<u32, Lane>,
    bytes: usize,
    /// The sizes of unfinished messages, in bytes.
    sizes: BTreeMap<i64, usize>,
    pub(crate) is_paused: bool,
}

/// How a message begins.
#[derive(Debug)]
pub(crate) enum Begun {
    /// It is a duplicate of one that was begun before.
    Again,
    /// It waits for the engine.
    Waits,
    /// It was answered without the engine.
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

    /// The offsets that the topic skips before this one.
    pub(crate) fn skipped_before(&self, offset: i64) -> Option<Range<i64>> {
        self.ledger.skipped_before(offset)
    }

    /// Begins a message.
    pub(crate) fn begin(
        &mut self,
        offset: i64,
        raw: Raw,
        (engine, admission): (&dyn Engine, &Admission),
    ) -> Begun {
        if !self.ledger.begin(offset, raw.mark()) {
            return Begun::Again;
        }
        let bytes = raw.bytes();
        self.bytes += bytes;
        self.sizes.insert(offset, bytes);
        let taken = intake::take(&raw, engine.partitions(), engine.secret());
        match taken.and_then(|taken| intake::admit(taken, &raw, admission)) {
            Ok(Taken::Ask(head, mut envelope)) => {
                if let Some(trace) = head.trace() {
                    Traces::of_process().note("", head.operation.as_str(), trace);
                }
                envelope.issued_at = raw.issued_at(wall_ms(), engine.state_settings().id_lead_ms_max());
                let lane = self.lanes.entry(head.partition).or_default();
                lane.push(Item { offset, head, envelope: *envelope, raw, failures: 0 });
                Begun::Waits
            }
            Ok(Taken::Answered(head, outcome)) => Begun::Answered(Box::new((head, *outcome))),
            Err(reason) => Begun::Dead(Box::new((raw, reason))),
        }
    }

    /// The next batch for each partition of the engine, if it is time.
    pub(crate) fn depart(&mut self, now: Instant) -> Vec<(u32, Vec<Request>)> {
        let batches =
            self.lanes.iter_mut().filter_map(|(partition, lane)| Some((*partition, lane.depart(now)?)));
        batches.collect()
    }

    /// The lane to a partition of the engine.
    pub(crate) fn lane(&mut self, partition: u32) -> &mut Lane {
        self.lanes.entry(partition).or_default()
    }

    /// Removes idle lanes.
    pub(crate) fn tidy(&mut self) {
        self.lanes.retain(|_, lane| !lane.is_idle() || lane.is_held_up());
    }

    /// Finishes a message. Returns how far all are finished, if that has advanced.
    pub(crate) fn finish(&mut self, offset: i64) -> Option<Reached> {
        self.bytes -= self.sizes.remove(&offset).unwrap_or(0);
        self.ledger.finish(offset)
    }

    /// How many messages are in progress.
    pub(crate) fn in_flight(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the partition should pause: because too much is in progress, or the engine cannot decide the
    /// commands. A paused partition resumes only when half of the limit is free.
    pub(crate) fn should_pause(&self, commands_max: usize, bytes_max: usize) -> bool {
        let part = if self.is_paused { 2 } else { 1 };
        let is_full = self.ledger.open() > commands_max / part || self.bytes > bytes_max / part;
        is_full || self.lanes.values().any(Lane::is_held_up)
    }

    /// When it next has something to do.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.lanes.values().filter_map(Lane::wake_at).min()
    }
}
