//! Trimming the log behind its readers: consumers keep what they have not confirmed, all others keep events for a
//! while after an event happened.

use std::time::Duration;

use scarce_core::event::Entry;
use scarce_core::types::TimeMs;
use scarce_engine::Throttle;
use scarce_engine::engine::Failure;
use scarce_engine::metrics::LogReach;

use super::connection::Link;
use super::consumers::Consumers;
use super::keys::Keys;
use super::log::read_entries;

/// How often a partition's log is trimmed.
const TRIM_INTERVAL: Duration = Duration::from_secs(5);

/// How many of the stream's entries one command looks at: the server serves nothing else meanwhile.
const ENTRIES_PER_TRIM: usize = 1_000;

/// How many commands one turn makes.
const TRIMS_PER_TURN: usize = 200;

/// What trims one partition's log.
#[derive(Debug)]
pub(super) struct Trimmer {
    consumers: Consumers,
    retention_ms: u64,
    turns: Throttle,
}

/// An entry of the stream: the sequence of its last event, and its stamp.
type Mark = (u64, TimeMs);

impl Trimmer {
    /// One that keeps what happened within the last `retention`.
    pub(super) fn new(consumers: Consumers, retention: Duration) -> Self {
        let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
        Self { consumers, retention_ms, turns: Throttle::new(TRIM_INTERVAL) }
    }

    /// Trims, if the last time is long enough ago, and notes how far back the log reaches. `floor` is the last sequence
    /// that no consumer needs, `now` the server's time.
    pub(super) async fn turn(
        &mut self,
        link: &Link,
        keys: &Keys,
        reach: &LogReach,
        (floor, now): (u64, TimeMs),
    ) -> Result<(), Failure> {
        if !self.turns.pass() {
            return Ok(());
        }
        if let Some((first, at)) = oldest(link, keys).await? {
            reach.note(first, at);
        }
        let Some(through) = last_before(link, keys, floor, now.saturating_sub(self.retention_ms)).await?
        else {
            return Ok(());
        };
        for _ in 0..TRIMS_PER_TURN {
            // Another server may answer by now, so each command looks again what consumers need there.
            if self.consumers.trim(link, keys, through, ENTRIES_PER_TRIM).await? == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The last sequence up to `floor` that was logged before `cut`; none where there is no such.
async fn last_before(link: &Link, keys: &Keys, floor: u64, cut: TimeMs) -> Result<Option<u64>, Failure> {
    let Some((first, _)) = entry_from(link, keys, 0).await?.filter(|(_, at)| *at < cut) else {
        return Ok(None);
    };
    // What is at `low` was logged before; of what is above `high` nothing is asked.
    let (mut low, mut high) = (first, floor);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match entry_from(link, keys, middle).await? {
            Some((sequence, at)) if sequence <= high && at < cut => low = sequence.max(middle),
            _ => high = middle - 1,
        }
    }
    Ok((low <= floor).then_some(low))
}

/// The first event that the log still has, and its stamp.
async fn oldest(link: &Link, keys: &Keys) -> Result<Option<Mark>, Failure> {
    let entries = entries_from(link, keys, 0).await?;
    Ok(entries.first().map(|entry| (entry.head.sequence_first, entry.head.at)))
}

/// The first entry whose last event has this sequence or a later one.
async fn entry_from(link: &Link, keys: &Keys, sequence: u64) -> Result<Option<Mark>, Failure> {
    let entries = entries_from(link, keys, sequence).await?;
    Ok(entries.last().map(|entry| (entry.sequence_last(), entry.head.at)))
}

/// The entries that the stream has together there.
async fn entries_from(link: &Link, keys: &Keys, sequence: u64) -> Result<Vec<Entry>, Failure> {
    let mut range = redis::cmd("XRANGE");
    range.arg(keys.of("log")).arg(format!("{sequence}-0")).arg("+").arg("COUNT").arg(1);
    let found: Vec<(String, Vec<Vec<u8>>)> = link.send(&range).await?;
    let Some((_, fields)) = found.first() else { return Ok(Vec::new()) };
    read_entries(fields).map_err(|error| Failure::Unavailable { reason: error.to_string() })
}
