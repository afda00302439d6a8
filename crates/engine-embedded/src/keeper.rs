//! The keeper: the thread that makes snapshots, keeps a spare segment ready and drops old ones, so
//! that neither the owner nor the committer waits for it.

mod digests;
mod snapshots;
mod trim;

use std::cell::RefCell;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use scarce_core::machine::Machine;
use scarce_core::state;
use scarce_engine::Image;
use scarce_engine::clock::wall_ms;
use scarce_engine::engine::SnapshotDone;

use crate::EmbeddedError;
use crate::commit::milliseconds;
use crate::consumers::Registry;
use crate::error::explain;
use crate::image::SnapshotImage;
use crate::inbox::Mail;
use crate::lock::HOLD_NAME;
use crate::log::{LogError, PartitionLog};
use crate::memory::{Memory, PartitionShare};
use crate::owner::slices::SliceAsker;
use crate::partition::PartitionHome;
use crate::progress::CommitProgress;
use crate::reach;
use crate::receipts::MovedReceipts;
use crate::recovery::newest_at;
use crate::runs::RunFloor;
use crate::snapshot;

/// Where the keeper reports what it was asked for.
pub(crate) type KeeperReply<T> = Sender<Result<T, String>>;

/// What the keeper is asked to do.
pub(crate) enum KeeperTask {
    /// Make a snapshot now.
    Snapshot(KeeperReply<SnapshotDone>),
    /// Open the newest snapshot, to be read row by row.
    Image(KeeperReply<Box<dyn Image>>),
    /// Make a digest of much, at least as of what is durable now.
    Digest(DigestTask),
    /// Write down how far consumers and inputs are.
    Save(KeeperReply<()>),
    /// End.
    Stop,
}

/// A digest that is asked for.
pub(crate) struct DigestTask {
    /// The request, alone.
    pub(crate) mail: Mail,
    /// The owner's epoch.
    pub(crate) epoch: u64,
}

pub(crate) struct Keeper {
    pub(crate) home: PartitionHome,
    pub(crate) consumers: Arc<Registry>,
    pub(crate) settings: state::StateSettings,
    pub(crate) log: Arc<dyn PartitionLog>,
    pub(crate) slices: SliceAsker,
    pub(crate) receipts: Arc<MovedReceipts>,
    pub(crate) run_floor: Arc<RunFloor>,
    pub(crate) progress: Arc<CommitProgress>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) memory_share: Arc<PartitionShare>,
    pub(crate) tasks: Receiver<KeeperTask>,
    pub(crate) snapshot_bytes: u64,
    pub(crate) log_retention: Duration,
    /// How much journal lay behind the newest snapshot at the start, until there is a newer one.
    pub(crate) unsaved_bytes: u64,
    pub(crate) done: KeeperRecord,
}

/// What it has done since the start, and what failed last.
pub(crate) struct KeeperRecord {
    bytes_at_snapshot: u64,
    saved_at: Instant,
    /// When the last snapshot failed, if it did.
    failed_at: Option<Instant>,
    /// When segments were last dropped for the sake of room, and up to where no backup needed them then.
    room_made: Option<(Instant, u64)>,
    /// Why the positions of consumers could not be saved, if so.
    save_failed: RefCell<Option<String>>,
}

impl KeeperRecord {
    pub(crate) fn new() -> Self {
        Self {
            bytes_at_snapshot: 0,
            saved_at: Instant::now(),
            failed_at: None,
            room_made: None,
            save_failed: RefCell::default(),
        }
    }
}

/// How often the keeper looks whether there is something to do.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// How often it is written down how far consumers are: each time costs the disk two syncs.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// How long after a failure a snapshot is tried again.
const RETRY_INTERVAL: Duration = Duration::from_mins(1);

impl Keeper {
    pub(crate) fn start(self) -> Result<JoinHandle<()>, EmbeddedError> {
        let name = format!("keeper-{}", self.home.partition);
        // It is asked for right after the start.
        self.note_surplus();
        let started = std::thread::Builder::new().name(name.clone()).spawn(move || self.run());
        started.map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })
    }

    fn run(mut self) {
        self.note_reach();
        // Made here, so that a process that may only read finds it. Where this fails, it shows at the first snapshot.
        let _ = self.home.storage.lock_alone(HOLD_NAME);
        // What a digest wrote when the process was killed. Where this fails, the next digest or snapshot removes it.
        let _ = snapshot::remove_digest(&*self.home.storage);
        let mut looked_at = Instant::now();
        loop {
            let is_over = match self.tasks.recv_timeout(LOOK_INTERVAL) {
                Ok(task) => self.carry_out(task),
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            if is_over {
                return self.save_consumers();
            }
            // Tasks that come without end do not keep it from its own work.
            if looked_at.elapsed() >= LOOK_INTERVAL {
                self.look();
                looked_at = Instant::now();
            }
        }
    }

    /// Returns whether the end was asked for.
    fn carry_out(&mut self, task: KeeperTask) -> bool {
        match task {
            KeeperTask::Snapshot(reply) => {
                let memory = self.memory.clone();
                let _turn = memory.begin_snapshot();
                self.snapshot_for(Some(&reply));
            }
            KeeperTask::Image(reply) => {
                let memory = self.memory.clone();
                let _turn = memory.begin_snapshot();
                // Nobody waits for it if the asker has ended.
                let _ = reply.send(self.image().map_err(|error| explain(&error)));
            }
            KeeperTask::Digest(task) => return self.answer_digests(task),
            KeeperTask::Save(reply) => {
                let saved = self.consumers.save(&*self.home.storage);
                // Nobody waits for it if the asker has ended.
                let _ = reply.send(saved.map_err(|error| explain(&error)));
            }
            KeeperTask::Stop => return true,
        }
        false
    }

    /// The newest snapshot, or an empty state; its rows are not in memory.
    fn image(&self) -> Result<Box<dyn Image>, EmbeddedError> {
        Ok(match newest_at(&self.home)?.snapshot {
            Some((listed, _)) => Box::new(SnapshotImage::open(&self.home, &listed.name, &self.settings)?),
            None => Box::new(Machine::new(self.settings.clone(), self.home.partition)),
        })
    }

    fn look(&mut self) {
        // A full disk shows here first, before a batch finds no room. Other failures show where they matter.
        let refused = self.log.reserve_room().err().filter(LogError::is_full);
        self.progress.set_full(refused.as_ref());
        if refused.is_some() {
            self.make_room();
        }
        if self.done.saved_at.elapsed() >= SAVE_INTERVAL {
            self.done.saved_at = Instant::now();
            self.save_consumers();
        }
        let unsaved_bytes = self.unsaved_bytes + (self.progress.bytes() - self.done.bytes_at_snapshot);
        let is_due = unsaved_bytes >= self.snapshot_bytes;
        let is_due =
            is_due || self.done.failed_at.is_some_and(|failed_at| failed_at.elapsed() >= RETRY_INTERVAL);
        let memory = self.memory.clone();
        // It would wait for a batch that waits for room.
        let is_due = is_due && !self.progress.waits_for_room();
        // While another partition makes one, there is other work.
        if is_due && let Some(_turn) = memory.try_begin_snapshot() {
            self.snapshot_for(None);
        }
    }

    /// Where it fails, consumers take some events once more after the next start, and the journal is kept for that.
    fn save_consumers(&self) {
        let failed = self.consumers.save(&*self.home.storage).err().map(|error| explain(&error));
        let former = self.done.save_failed.replace(failed.clone());
        // It is tried every second, and may fail as long as a disk is full.
        match failed {
            Some(reason) if former.as_ref() != Some(&reason) => {
                let partition = self.home.partition;
                tracing::warn!(
                    partition,
                    reason,
                    "the positions of consumers cannot be saved; it is tried again"
                );
            }
            None if former.is_some() => {
                tracing::info!(partition = self.home.partition, "the positions of consumers are saved again");
            }
            _ => {}
        }
    }

    fn snapshot_for(&mut self, reply: Option<&KeeperReply<SnapshotDone>>) {
        (self.unsaved_bytes, self.done.bytes_at_snapshot) = (0, self.progress.bytes());
        let begun = Instant::now();
        let done = self.snapshot();
        let has_stopped = matches!(done, Err(EmbeddedError::Stopped));
        let done = done.map_err(|error| explain(&error));
        let (partition, took_ms) = (self.home.partition, milliseconds(begun.elapsed()));
        let metrics = &self.progress.metrics().snapshots;
        match &done {
            // The newest one is of this sequence already: it was read, and none was made.
            Ok(done) if !done.is_new => {}
            Ok(SnapshotDone { sequence, payload_bytes, segments_retired, .. }) => {
                metrics.note(wall_ms(), *payload_bytes, begun.elapsed());
                metrics.note_damaged(0);
                tracing::info!(
                    partition,
                    sequence,
                    payload_bytes,
                    segments_retired,
                    took_ms,
                    "a snapshot was made"
                );
            }
            Err(_) if has_stopped => {}
            Err(reason) => {
                metrics.note_failure();
                tracing::error!(
                    partition,
                    reason,
                    took_ms,
                    "a snapshot failed; it is tried again in a minute"
                );
            }
        }
        self.done.failed_at = done.is_err().then(Instant::now);
        if let Some(reply) = reply {
            let _ = reply.send(done);
        }
    }

    /// Where it cannot be read, the metric stays as it was, and those who need the log are told.
    fn note_reach(&self) {
        let first = self.log.first_sequence();
        if let Ok(Some(entry)) = reach::entry_at(&*self.log, first, self.progress.sequence()) {
            self.progress.metrics().log_reach.note(first, entry.head.at);
        }
    }
}
