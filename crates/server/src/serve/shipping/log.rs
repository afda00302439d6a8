//! Ships the log that follows a backup.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use scarce_backup::{BackupError, Manifest, Reached, Stream, Vault, check_there, open_stream, store};
use scarce_core::types::TimeMs;
use scarce_engine::clock::wall_ms;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::{Engine, Log, Throttle};
use scarce_engine_embedded::Embedded;
use scarce_outflow::Backoff;

use super::base::Bases;
use super::{Plan, RETRY_DELAYS, ShippingState, explain, lock};

/// So often a part is put although nothing was logged: a restore to a time knows by it that nothing is missing.
pub(super) const IDLE_INTERVAL: Duration = Duration::from_mins(1);

/// How often it is noted how far the log in the store is. After a crash so much more is said to be missing there.
const NOTE_INTERVAL: Duration = Duration::from_secs(10);

/// After so many looks at what changes, the store is listed whole, which takes longer.
const CHECKS_BETWEEN: u32 = 10;

pub(super) struct Shipper {
    shared: Arc<ShippingState>,
    vault: Vault,
    data: PathBuf,
    interval: Duration,
    check_interval: Duration,
    end_timeout: Duration,
    bases: Bases,
    stream: Option<Stream>,
    /// When the last part was put.
    shipped_at: Option<Instant>,
    /// When the backup that the log follows was last seen in the store.
    checked_at: Option<Instant>,
    /// When its pieces were.
    pieces_checked_at: Option<Instant>,
    /// Not before then a part is put again, after a failure.
    retry_at: Option<Instant>,
    backoff: Backoff,
    settled: Settled,
    /// Why no part can be put.
    trouble: Option<String>,
    notes: Throttle,
}

impl Shipper {
    pub(super) fn new(shared: Arc<ShippingState>, vault: Vault, bases: Bases, plan: Plan) -> Self {
        if let Some(noted) = Reached::noted(&plan.data, &vault.store.locate("")) {
            let ago = Duration::from_millis(wall_ms().saturating_sub(noted.at_ms));
            shared.status.update(|levels| (levels.sequences, levels.covered_before) = (noted.sequences, ago));
        }
        Self {
            shared,
            vault,
            data: plan.data,
            interval: plan.interval,
            check_interval: plan.check_interval,
            end_timeout: plan.end_timeout,
            bases,
            stream: None,
            shipped_at: None,
            checked_at: None,
            pieces_checked_at: None,
            retry_at: None,
            backoff: Backoff::new(RETRY_DELAYS.0, RETRY_DELAYS.1),
            settled: Settled::default(),
            trouble: None,
            notes: Throttle::new(NOTE_INTERVAL),
        }
    }

    pub(super) fn run(mut self, stopped: &Receiver<()>) {
        let mut has_more = false;
        loop {
            let pause = if has_more { Duration::ZERO } else { self.interval };
            if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            has_more = self.turn();
        }
        let deadline = Instant::now() + self.end_timeout;
        // Tried at once, whatever failed before: there is no later.
        while self.ship() && Instant::now() < deadline {}
        self.note_trouble();
        self.note_reached();
        self.bases.end(deadline);
    }

    /// Does what is due; gives whether there is more.
    fn turn(&mut self) -> bool {
        if let Some(manifest) = self.bases.finished() {
            self.follow(&manifest);
        }
        self.bases.begin_if_due(self.stream.as_ref().map(Stream::parts));
        let has_more = self.retry_at.is_none_or(|at| Instant::now() >= at) && self.ship();
        self.note_trouble();
        has_more
    }

    /// Goes on behind a new backup.
    fn follow(&mut self, manifest: &Manifest) {
        match open_stream(&self.data, manifest) {
            Ok(stream) => {
                self.stream = Some(stream);
                (self.shipped_at, self.checked_at, self.retry_at) = (None, None, None);
                self.pieces_checked_at = Some(Instant::now());
                self.shared.status.update(|levels| levels.begun_at_ms = manifest.begun_at_ms);
            }
            Err(error) => self.bases.fail(&error),
        }
    }

    /// Puts what the store lacks; gives whether there is more.
    fn ship(&mut self) -> bool {
        let looked_at = Instant::now();
        let written_bytes = self.shared.kept().written_bytes();
        let past_ms = self.settled.look(&self.shared.engine);
        if let Err(error) = self.check(looked_at) {
            return self.fail(&error);
        }
        let Some(stream) = &mut self.stream else { return false };
        let engine = &self.shared.engine;
        let durable = |partition| engine.durable_through(partition).unwrap_or(0);
        let lacks = stream.sequences().any(|(partition, sequence)| durable(partition) > sequence);
        let is_idle_long = self.shipped_at.is_none_or(|at| at.elapsed() >= IDLE_INTERVAL);
        let mut has_more = false;
        if lacks || is_idle_long {
            match stream.ship(&self.vault, past_ms, &durable) {
                Ok(shipped) => {
                    has_more = shipped.has_more;
                    self.shared.status.update(|levels| {
                        levels.parts += 1;
                        levels.bytes += shipped.bytes;
                    });
                    self.shipped_at = Some(looked_at);
                }
                Err(error) => return self.fail(&error),
            }
        }
        self.succeed(looked_at, written_bytes, has_more);
        has_more
    }

    /// Looks from time to time whether the store still has what was put.
    fn check(&mut self, looked_at: Instant) -> Result<(), BackupError> {
        let is_due = |at: Option<Instant>, interval| at.is_none_or(|at: Instant| at.elapsed() >= interval);
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if is_due(self.checked_at, self.check_interval) {
            let engine = &self.shared.engine;
            let epoch = |partition| engine.epoch(partition).unwrap_or(0);
            check_there(&self.vault, &self.data)?;
            stream.check_backup(&self.vault, &epoch)?;
            stream.check_parts(&self.vault)?;
            self.checked_at = Some(looked_at);
        }
        if is_due(self.pieces_checked_at, self.check_interval * CHECKS_BETWEEN) {
            stream.check_pieces(&self.vault)?;
            self.pieces_checked_at = Some(looked_at);
        }
        Ok(())
    }

    fn succeed(&mut self, looked_at: Instant, written_bytes: u64, has_more: bool) {
        let sequences: Vec<_> =
            self.stream.iter().flat_map(Stream::sequences).map(|(_, sequence)| sequence).collect();
        self.shared.kept().shipped(&sequences, (!has_more).then_some(written_bytes));
        self.shared.status.update(|levels| {
            levels.sequences = sequences;
            if !has_more {
                (levels.covered_at, levels.covered_before) = (looked_at, Duration::ZERO);
            }
        });
        if self.notes.pass() {
            self.note_reached();
        }
        (self.trouble, self.retry_at) = (None, None);
        self.backoff.reset();
    }

    /// Notes for the next start how far the store is. Without it that start says nothing of the time before.
    fn note_reached(&self) {
        let levels = self.shared.status.levels();
        if self.stream.is_none() || !levels.covered_before.is_zero() {
            return;
        }
        let ago_ms = u64::try_from(levels.covered_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        let at_ms = wall_ms().saturating_sub(ago_ms);
        let place = self.vault.store.locate("");
        if let Err(error) = (Reached { place, at_ms, sequences: levels.sequences }).note(&self.data) {
            tracing::debug!(%error, "how far the store of backups is could not be noted");
        }
    }

    fn fail(&mut self, error: &BackupError) -> bool {
        self.retry_at = Some(Instant::now() + self.backoff.next_delay());
        self.trouble = Some(explain(error));
        // Where the files are not there any more, or the backup is not, another one is made.
        let is_over = matches!(
            error,
            BackupError::Data(_)
                | BackupError::PartLost { .. }
                | BackupError::PieceLost(_)
                | BackupError::Store(store::StoreError::Missing { .. })
        );
        if is_over {
            let reason = self.trouble.as_deref();
            tracing::warn!(reason, "the log cannot follow the backup any more; another one is made");
            self.stream = None;
            self.trouble = None;
            self.shared.status.update(|levels| {
                levels.sequences.clear();
                levels.begun_at_ms = 0;
            });
        }
        false
    }

    fn note_trouble(&self) {
        let reason = self.bases.trouble().or(self.trouble.as_deref());
        *lock(&self.shared.trouble) = reason.map(str::to_owned);
    }
}

/// How many times may wait until what was stamped by then is durable.
const TIMES_MAX: usize = 256;

/// Up to when all that was stamped is durable.
#[derive(Default)]
struct Settled {
    /// Times, and the last sequence of each partition that was stamped by then.
    waiting: VecDeque<(TimeMs, Vec<u64>)>,
    through_ms: TimeMs,
}

impl Settled {
    /// A time that no timestamp of what is not durable yet has or will have.
    fn look(&mut self, engine: &Embedded) -> TimeMs {
        // More may yet get the timestamp of this millisecond.
        let now_ms = stamp_now_ms(engine).saturating_sub(1);
        let stamped = |partition| engine.metrics(partition).map_or(0, |metrics| metrics.levels().sequence);
        if self.waiting.len() < TIMES_MAX {
            self.waiting.push_back((now_ms, (0..engine.partitions()).map(stamped).collect()));
        }
        let durable = |partition| engine.durable_through(partition).unwrap_or(0);
        let is_durable = |stamped: &[u64]| {
            stamped.iter().zip(0..).all(|(stamped, partition)| durable(partition) >= *stamped)
        };
        while let Some((at, _)) = self.waiting.pop_front_if(|(_, stamped)| is_durable(stamped)) {
            self.through_ms = at;
        }
        self.through_ms
    }
}

/// What a timestamp says now: partitions do not always follow the wall clock.
fn stamp_now_ms(engine: &Embedded) -> u64 {
    let levels = |partition| engine.metrics(partition).ok().map(PartitionMetrics::levels);
    let levels: Vec<_> = (0..engine.partitions()).filter_map(levels).collect();
    let ahead_ms = levels.iter().map(|levels| levels.clock_ahead_ms).max().unwrap_or(0);
    let behind_ms = levels.iter().map(|levels| levels.clock_behind_ms).max().unwrap_or(0);
    wall_ms().saturating_add(behind_ms).saturating_sub(ahead_ms)
}
