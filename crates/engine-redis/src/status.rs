//! What is known of a partition: whether it takes changes, what it has lost, and how far it was.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use scarce_core::types::Id;
use scarce_engine::consumers;
use scarce_engine::engine::Failure;
use scarce_engine::metrics::PartitionMetrics;

use super::call::SeenEvent;
use super::connection::Refused;
use super::wholeness;

/// The state of a partition that its lane, its sweeper and callers share.
#[derive(Debug)]
pub(super) struct PartitionStatus {
    pub(super) metrics: PartitionMetrics,
    /// Why the last call failed.
    pub(super) failure: Mutex<Option<Failure>>,
    /// How many events waited for the slowest consumer when the sweeper looked, and may.
    lag: AtomicU64,
    lag_max: u64,
    /// Whether the server has refused a change for want of memory.
    is_full: AtomicBool,
    /// What the partition has lost, where anything was noticed; the flag says whether.
    damage: Mutex<Option<Failure>>,
    is_damaged: AtomicBool,
    /// A campaign whose packets nobody goes on to lay ready.
    unprepared: Mutex<Option<Id>>,
    /// How far the partition was when a server told it last.
    pub(super) seen: SeenEvents,
}

impl PartitionStatus {
    pub(super) fn new(lag_max: u64) -> Self {
        Self {
            metrics: PartitionMetrics::default(),
            failure: Mutex::default(),
            lag: AtomicU64::new(0),
            lag_max,
            is_full: AtomicBool::new(false),
            damage: Mutex::default(),
            is_damaged: AtomicBool::new(false),
            unprepared: Mutex::default(),
            seen: SeenEvents::default(),
        }
    }

    /// Notes what the partition has lost, or that it is whole.
    pub(super) fn note_damage(&self, partition: u32, found: Option<Failure>) {
        if found.is_none() && !self.is_damaged() {
            return;
        }
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        match (&found, &*damage) {
            (Some(reason), None) => tracing::error!(partition, %reason, "a partition has lost keys"),
            (None, Some(_)) => tracing::warn!(partition, "the partition's keys are back; it is served again"),
            _ => {}
        }
        self.is_damaged.store(found.is_some(), Ordering::Relaxed);
        *damage = found;
    }

    /// What a refusal means; notes it where the partition has lost something.
    pub(super) fn failure_of(&self, partition: u32, refused: Refused) -> Failure {
        let Some(damage) = wholeness::failure(partition, &refused) else { return refused.into() };
        self.note_damage(partition, Some(damage.clone()));
        damage
    }

    /// Whether the partition has lost something.
    pub(super) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Fails where the partition has lost something.
    pub(super) fn check_whole(&self) -> Result<(), Failure> {
        if !self.is_damaged() {
            return Ok(());
        }
        let damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        damage.clone().map_or(Ok(()), Err)
    }

    /// Notes how many events wait for the slowest consumer.
    pub(super) fn note_lag(&self, lag: u64) {
        self.lag.store(lag, Ordering::Relaxed);
    }

    /// How many events waited when the sweeper looked last.
    pub(super) fn lag(&self) -> u64 {
        self.lag.load(Ordering::Relaxed)
    }

    /// Notes why the partition cannot be served, before anyone asks.
    pub(super) fn note_failure(&self, failure: Failure) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
    }

    /// Whether so many events wait that no more should come.
    pub(super) fn is_overrun(&self) -> bool {
        self.lag() > self.lag_max
    }

    /// Notes whether the server refuses changes for want of memory.
    pub(super) fn note_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    /// Whether the server has refused a change for want of memory.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Notes a campaign whose packets nobody goes on to lay ready, or that there is none.
    pub(super) fn note_unprepared(&self, campaign: Option<Id>) {
        *self.unprepared.lock().unwrap_or_else(PoisonError::into_inner) = campaign;
    }

    /// A campaign whose packets nobody goes on to lay ready.
    pub(super) fn unprepared(&self) -> Option<Id> {
        self.unprepared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how the last call ended.
    pub(super) fn note_call(&self, failure: Option<Failure>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    /// Whether changes are taken: the last call was answered, and there is memory and room for events.
    pub(super) fn check_ready(&self) -> Result<(), Failure> {
        self.check_whole()?;
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(failure) = failure {
            return Err(failure);
        }
        if self.is_full() {
            let reason = "Redis has no memory left for changes; raise maxmemory, or let holds and orders end";
            return Err(Failure::Unavailable { reason: reason.to_owned() });
        }
        if self.is_overrun() {
            return Err(consumers::overrun(self.lag(), self.lag_max));
        }
        Ok(())
    }
}

/// The last event that a server has reported. The same run of it never has less, unless its data is replaced; another
/// run may have less.
#[derive(Debug, Default)]
pub(super) struct SeenEvents(Mutex<Option<Seen>>);

#[derive(Debug)]
struct Seen {
    /// The run that told something last.
    run_id: String,
    /// Epoch and sequence of the last event of all.
    at: (u64, u64),
    /// Whether it was this run that reported it.
    is_of_run: bool,
}

impl SeenEvents {
    /// Notes what a run has told. Where another run has less, what was there before is kept, for that run must begin a
    /// new epoch.
    pub(super) fn note(&self, run_id: &str, epoch: u64, sequence: u64) {
        let (mut seen, told) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), (epoch, sequence));
        match &mut *seen {
            Some(seen) if seen.run_id == run_id => {
                seen.is_of_run |= told >= seen.at;
                seen.at = seen.at.max(told);
            }
            other => {
                let before = other.as_ref().map_or((0, 0), |seen| seen.at);
                let (run_id, is_of_run) = (run_id.to_owned(), told >= before);
                *other = Some(Seen { run_id, at: told.max(before), is_of_run });
            }
        }
    }

    /// What a message to a run says of it.
    pub(super) fn by(&self, run_id: &str) -> Option<SeenEvent> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.as_ref().map(|seen| SeenEvent {
            epoch: seen.at.0,
            sequence: seen.at.1,
            is_of_this_run: seen.is_of_run && seen.run_id == run_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(events: &SeenEvents, run_id: &str) -> Option<(u64, u64, bool)> {
        events.by(run_id).map(|seen| (seen.epoch, seen.sequence, seen.is_of_this_run))
    }

    #[test]
    fn a_run_that_has_less_than_another_is_behind_and_not_older() {
        let events = SeenEvents::default();
        assert_eq!(seen(&events, "a"), None);
        events.note("a", 1, 100);
        events.note("a", 1, 90);
        assert_eq!(seen(&events, "a"), Some((1, 100, true)), "an answer that comes late");
        assert_eq!(seen(&events, "b"), Some((1, 100, false)));
        events.note("b", 1, 90);
        assert_eq!(seen(&events, "b"), Some((1, 100, false)), "it has never had more");
        assert_eq!(seen(&events, "a"), Some((1, 100, false)), "it may have followed the other one since");
        events.note("a", 2, 91);
        assert_eq!(seen(&events, "a"), Some((2, 91, true)));
    }
}
