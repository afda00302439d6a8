//! Watches over the shipping without ever calling the store: what waits on disk, what is wrong, and the end.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_engine::Log;
use scarce_engine::clock::wall_ms;

use super::log::Shipper;
use super::{ShippingState, is_same_reason, lock};

const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A store that is further behind is reported, whatever the reason.
const LAG_MAX: Duration = Duration::from_mins(1);

/// After so long without an answer, the making of a backup that was abandoned does not wait for one any more, so that
/// it gives back the files.
const GIVE_UP: Duration = Duration::from_secs(2);

pub(super) struct Watcher {
    shared: Arc<ShippingState>,
    stop: Sender<()>,
    /// Disconnected once the shipper has ended.
    ended: Receiver<()>,
    thread: JoinHandle<()>,
    answer_max: Duration,
    end_timeout: Duration,
}

impl Watcher {
    /// Starts the shipper.
    pub(super) fn start(
        shared: Arc<ShippingState>,
        shipper: Shipper,
        (answer_max, end_timeout): (Duration, Duration),
    ) -> std::io::Result<Self> {
        let (stop, stopped) = bounded(0);
        let (ending, ended) = bounded(0);
        let thread = std::thread::Builder::new().name("backup-log".to_owned());
        let thread = thread.spawn(move || {
            shipper.run(&stopped);
            drop(ending);
        })?;
        Ok(Self { shared, stop, ended, thread, answer_max, end_timeout })
    }

    pub(super) fn run(self, stopped: &Receiver<()>) {
        while stopped.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            self.look();
        }
        let deadline = Instant::now() + self.end_timeout;
        self.shared.abandon("the server ends");
        drop(self.stop);
        if self.ended.recv_deadline(deadline) == Err(RecvTimeoutError::Disconnected) {
            // Its panic was already logged. One that still waits for the store is left behind.
            let _ = self.thread.join();
        }
        self.shared.tell_rest(self.answer_max);
    }

    fn look(&self) {
        let shared = &self.shared;
        if let Some(making) = &*lock(&shared.making) {
            let kept = shared.kept();
            if kept.written_bytes().saturating_sub(making.begun_at_bytes) > kept.bytes_max() {
                making.abandon("more was logged meanwhile than backup_log_max_mib lets wait for it");
            }
            let unanswered = shared.base_calls.unanswered();
            if making.is_abandoned() && unanswered.is_some_and(|since| since >= GIVE_UP) {
                shared.base_calls.give_up(true);
            }
        }
        shared.kept().watch(&shared.status);
        shared.tell(self.answer_max);
    }
}

impl ShippingState {
    /// Why the store gets nothing, or not enough.
    fn reason(&self, answer_max: Duration) -> Option<String> {
        if let Some(reason) = lock(&self.trouble).clone() {
            return Some(reason);
        }
        let unanswered = self.log_calls.unanswered().max(self.base_calls.unanswered());
        if unanswered.is_some_and(|since| since >= answer_max) {
            return Some(format!("it has not answered a call for more than {} s", answer_max.as_secs()));
        }
        let levels = self.status.levels();
        let is_behind = levels.begun_at_ms > 0 && levels.lag(self.lacks() > 0) >= LAG_MAX;
        is_behind.then(|| format!("it is more than {} s behind", LAG_MAX.as_secs()))
    }

    /// How many events the store lacks.
    fn lacks(&self) -> u64 {
        let levels = self.status.levels();
        let lag_of =
            |partition| levels.lag_events(partition, self.engine.durable_through(partition).unwrap_or(0));
        (0..self.engine.partitions()).map(lag_of).sum()
    }

    /// Notes trouble and its end, and logs both once.
    fn tell(&self, answer_max: Duration) {
        let reason = self.reason(answer_max);
        let store = self.status.store.as_str();
        self.status.update(|levels| {
            let former = levels.trouble.take();
            levels.trouble = match (reason, former) {
                (Some(reason), Some((former, since))) => {
                    if !is_same_reason(&reason, &former) {
                        tracing::warn!(store, reason, "the backup still cannot go on");
                    }
                    Some((reason, since))
                }
                (Some(reason), None) => {
                    tracing::warn!(store, reason, "the backup cannot go on; it is tried again");
                    Some((reason, wall_ms()))
                }
                (None, Some((_, since))) => {
                    let troubled_ms = wall_ms().saturating_sub(since);
                    tracing::info!(store, troubled_ms, "the backup goes on");
                    None
                }
                (None, None) => None,
            };
        });
    }

    /// Says what the store does not have now that nothing more is shipped.
    fn tell_rest(&self, answer_max: Duration) {
        let (lacks, store) = (self.lacks(), self.status.store.as_str());
        if lacks > 0 {
            let reason = self.reason(answer_max);
            tracing::error!(
                store,
                events = lacks,
                reason,
                "the server ends, and the store of backups lacks events; they are on this machine only until it is started again"
            );
        }
    }
}
