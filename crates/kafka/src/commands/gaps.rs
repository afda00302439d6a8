//! Offsets that the topic of commands skips while it is read. Most are of other producers' transactions, or of a compacted
//! topic. Some are of messages that the topic removed before they came, because this process is too far behind: the
//! client goes on with the oldest that there is, and says nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::positions::Positions;

/// How long after one look the next one is.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Skipped offsets of which it is not known yet whether there were messages.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// The widest of each partition since the last look.
    skipped: BTreeMap<i32, Range<i64>>,
    /// Asks the brokers on another thread, one at a time.
    looking: Option<JoinHandle<()>>,
    look_at: Option<Instant>,
}

impl Gaps {
    /// Notes that a partition went on with an offset other than the next one.
    pub(crate) fn note(&mut self, partition: i32, skipped: Range<i64>) {
        let widest = self.skipped.entry(partition).or_default();
        if skipped.end - skipped.start > widest.end - widest.start {
            *widest = skipped;
        }
    }

    /// Looks now and then which of them were removed.
    pub(crate) fn look(&mut self, now: Instant, positions: &Arc<Positions>) {
        if self.skipped.is_empty() || self.look_at.is_some_and(|at| now < at) {
            return;
        }
        self.look_at = Some(now + LOOK_INTERVAL);
        if self.looking.as_ref().is_none_or(JoinHandle::is_finished) {
            let (positions, skipped) = (positions.clone(), std::mem::take(&mut self.skipped));
            self.looking = Some(tokio::task::spawn_blocking(move || positions.tell_skipped(&skipped)));
        }
    }

    /// Looks a last time.
    pub(crate) async fn look_last(&mut self, positions: &Arc<Positions>) {
        if let Some(looking) = self.looking.take() {
            // Its panic was already printed.
            drop(looking.await);
        }
        self.look_at = None;
        self.look(Instant::now(), positions);
        if let Some(looking) = self.looking.take() {
            drop(looking.await);
        }
    }

    /// When to look next.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        self.look_at.filter(|_| !self.skipped.is_empty())
    }
}
