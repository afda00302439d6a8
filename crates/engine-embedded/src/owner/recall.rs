//! Answers that were given before: what a duplicate receives, and receipts that are read back.

use scarce_core::event::Entry;
use scarce_core::machine::{MachineAnswer, Replay};
use scarce_core::outcome::Receipt;
use scarce_engine::engine::{Failure, Request};

use super::{Owner, wants_replicas};
use crate::batch::find_entry;
use crate::error::explain;

impl Owner {
    /// What a duplicate is answered while nothing new is taken, and the sequence that the answer rests on: it must
    /// not be told that nothing was done.
    pub(super) fn recall(&mut self, request: &Request) -> Option<(Result<Receipt, Failure>, u64)> {
        let Request::Write(envelope) = request else { return None };
        if wants_replicas(envelope) {
            return None;
        }
        let now = self.time();
        if let Err(failure) = self.recall_old_of(envelope) {
            return Some((Err(failure), 0));
        }
        let (answer, rests_on) = self.machine.recall(envelope, now)?;
        Some(match answer {
            MachineAnswer::Receipt(receipt) => (Ok(receipt), rests_on),
            MachineAnswer::Replay(replay) => (self.read_back(replay), rests_on),
        })
    }

    /// A receipt too large to be kept in memory: from the batches under way, the receipts that left the log, or the log.
    pub(super) fn read_back(&mut self, replay: Replay) -> Result<Receipt, Failure> {
        let sequence = replay.sequence_last;
        let entry = find_entry(&self.open, sequence).or_else(|| find_entry(&self.in_flight, sequence));
        let entry = match entry {
            Some(entry) => Some(entry),
            None => self.read_moved_or_log(sequence)?,
        };
        entry.map(|entry| self.machine.replayed(replay, &entry)).ok_or_else(|| Failure::Unavailable {
            reason: format!(
                "the receipt at sequence {sequence} is neither in the journal nor among the receipts moved out of it; look in the history"
            ),
        })
    }

    fn read_moved_or_log(&mut self, sequence: u64) -> Result<Option<Entry>, Failure> {
        if let Some(moved) = self.read_moved(sequence)? {
            return Ok(Some(moved));
        }
        match self.read_log(sequence) {
            Ok(Some(entry)) => Ok(Some(entry)),
            // It may have moved and left the log since the first look.
            missed => self.read_moved(sequence)?.map_or(missed, |moved| Ok(Some(moved))),
        }
    }

    fn read_moved(&self, sequence: u64) -> Result<Option<Entry>, Failure> {
        self.receipts.find(sequence).map_err(|error| Failure::Unavailable { reason: explain(&error) })
    }

    fn read_log(&mut self, sequence: u64) -> Result<Option<Entry>, Failure> {
        let batches = self
            .reader
            .read_from(sequence, self.committer.progress.sequence(), 1)
            .map_err(|error| Failure::Unavailable { reason: explain(&error) })?;
        Ok(batches.first().and_then(|batch| find_entry(batch, sequence)))
    }
}
