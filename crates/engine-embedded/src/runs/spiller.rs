//! The thread that writes runs: of operations that leave memory, and of runs that follow one another, so that there are few to
//! look into. It removes those that are merged or forgotten, one after another.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, never, select};
use scarce_core::operations::OldOperation;

use crate::EmbeddedError;
use crate::commit::milliseconds;
use crate::error::explain;
use crate::lock::HOLD_NAME;
use crate::log::PartitionLog;
use crate::partition::PartitionHome;
use crate::progress::CommitProgress;
use crate::receipts::MovedReceipts;
use crate::waker::OwnerWaker;

use super::file::Run;
use super::writer::{Follows, write_run};
use super::{FoundRuns, RunError, RunFloor, merge, outcomes};

/// How many runs of a level are made into one of the next. More of them make fewer writes, and more filters to ask.
const MERGED_TOGETHER: usize = 4;

/// How many batches of operations may wait.
const BATCHES_MAX: usize = 8;

/// How often it looks whether a run can be removed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// So many files that are not needed any more are removed at once: each takes a descriptor.
const RETIRED_MAX: usize = 16;

/// How long after a failure it is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// How runs are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpillSettings {
    /// How many operations are in a run when it is new.
    pub(crate) run_records: u64,
    /// How many are in a merged one at most.
    pub(crate) merged_records_max: u64,
}

/// The newest list of runs, until the owner takes it.
type Finished = Arc<Mutex<Option<Vec<Arc<Run>>>>>;

/// The owner's end of the thread. Dropping it ends the thread.
pub(crate) struct SpillerEnd {
    batches: Option<Sender<Vec<OldOperation>>>,
    stop: Option<Sender<()>>,
    finished: Finished,
    thread: Option<JoinHandle<()>>,
}

impl SpillerEnd {
    /// Whether another batch can be taken.
    pub(crate) fn has_room(&self) -> bool {
        self.batches.as_ref().is_some_and(|batches| !batches.is_full())
    }

    /// Hands over operations that follow those before. False if there was no room.
    pub(crate) fn hand_over(&self, batch: Vec<OldOperation>) -> bool {
        self.batches.as_ref().is_some_and(|batches| batches.try_send(batch).is_ok())
    }

    /// The runs, if they are others than when this was asked last.
    pub(crate) fn take_finished(&self) -> Option<Vec<Arc<Run>>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for SpillerEnd {
    fn drop(&mut self) {
        (self.batches, self.stop) = (None, None);
        if let Some(thread) = self.thread.take() {
            // One that ended by a panic has nothing left to lose: what it was given is in the log.
            let _ = thread.join();
        }
    }
}

/// What the thread has.
pub(crate) struct Spiller {
    pub(crate) home: PartitionHome,
    pub(crate) settings: SpillSettings,
    pub(crate) log: Arc<dyn PartitionLog>,
    pub(crate) receipts: Arc<MovedReceipts>,
    pub(crate) progress: Arc<CommitProgress>,
    pub(crate) floor: Arc<RunFloor>,
    pub(crate) waker: OwnerWaker,
    pub(crate) found: FoundRuns,
}

impl Spiller {
    /// Starts the thread.
    pub(crate) fn start(mut self) -> Result<SpillerEnd, EmbeddedError> {
        let (sender, batches) = bounded(BATCHES_MAX);
        let (stop_sender, stop) = bounded(0);
        let finished = Finished::default();
        let name = format!("spiller-{}", self.home.partition);
        let spilling = Spilling {
            // Nothing else may hold those that are to be removed.
            runs: mem::take(&mut self.found.runs),
            retired: mem::take(&mut self.found.covered),
            parts: self,
            pending: Vec::new(),
            looked_at: Instant::now(),
            failed: None,
            unmerged: None,
            finished: finished.clone(),
        };
        let thread =
            std::thread::Builder::new().name(name.clone()).spawn(move || spilling.run(&batches, &stop));
        let thread = thread.map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })?;
        Ok(SpillerEnd { batches: Some(sender), stop: Some(stop_sender), finished, thread: Some(thread) })
    }
}

struct Spilling {
    parts: Spiller,
    runs: Vec<Arc<Run>>,
    /// Those that are not needed any more, until nobody looks into them.
    retired: Vec<Arc<Run>>,
    /// Operations that are in no run yet.
    pending: Vec<OldOperation>,
    looked_at: Instant,
    /// Why it failed last, if it did.
    failed: Option<String>,
    /// Where the last of those runs begins that cannot be merged, because one is damaged.
    unmerged: Option<u64>,
    finished: Finished,
}

impl Spilling {
    fn run(mut self, batches: &Receiver<Vec<OldOperation>>, stop: &Receiver<()>) {
        self.note_files();
        loop {
            // While the disk fails nothing more is taken, and the operations stay in memory.
            let is_open = self.failed.is_none() && !self.is_due();
            let (source, wait) =
                if is_open { (batches.clone(), LOOK_INTERVAL) } else { (never(), self.patience()) };
            let batch = select! {
                recv(source) -> batch => batch.map_err(|_| RecvTimeoutError::Disconnected),
                recv(stop) -> _ => Err(RecvTimeoutError::Disconnected),
                default(wait) => Err(RecvTimeoutError::Timeout),
            };
            match batch {
                Ok(batch) => self.pending.extend(batch),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.work();
        }
    }

    fn patience(&self) -> Duration {
        if self.failed.is_some() { RETRY_INTERVAL } else { Duration::ZERO }
    }

    fn is_due(&self) -> bool {
        self.pending.len() as u64 >= self.parts.settings.run_records
    }

    /// Does what is to be done. A failure is told once, and tried again.
    fn work(&mut self) {
        let done = self.spill().and_then(|()| self.merge()).and_then(|()| self.look());
        let failed = done.err().map(|error| explain(&error));
        self.parts.progress.metrics().runs.note_failing(failed.is_some());
        let (former, partition) = (mem::replace(&mut self.failed, failed.clone()), self.parts.home.partition);
        match failed {
            Some(reason) if former.as_ref() != Some(&reason) => {
                tracing::error!(
                    partition,
                    reason,
                    "operation ids cannot be moved from memory to disk; it is tried again every five seconds"
                );
            }
            None if former.is_some() => tracing::info!(partition, "operation ids are moved to disk again"),
            _ => {}
        }
    }

    /// Writes what is pending into a run, once it is enough for one.
    fn spill(&mut self) -> Result<(), EmbeddedError> {
        if !self.is_due() {
            return Ok(());
        }
        let begun = Instant::now();
        self.pending.sort_unstable_by_key(|old| old.number);
        let Spiller { log, receipts, progress, home, .. } = &self.parts;
        outcomes::fetch(&**log, receipts, progress.sequence(), &mut self.pending)?;
        let follows = Follows { end: self.runs.last().map(|last| last.end()), epoch: None };
        let run = write_run(&*home.storage, &home.snapshot_owner(), &mut self.pending, follows)?;
        let (records, took_ms) = (self.pending.len(), milliseconds(begun.elapsed()));
        tracing::debug!(partition = home.partition, records, took_ms, "operation ids were moved to disk");
        self.pending.clear();
        self.runs.push(Arc::new(run));
        self.publish();
        Ok(())
    }

    /// Merges the newest runs where there are enough of a level.
    fn merge(&mut self) -> Result<(), EmbeddedError> {
        while let Some(first) = self.runs.len().checked_sub(MERGED_TOGETHER) {
            let level = self.runs[first].head.level;
            let newest = &self.runs[first..];
            let start = newest[0].start();
            let records: u64 = newest.iter().map(|run| run.head.records).sum();
            let is_level = newest.iter().all(|run| run.head.level == level);
            let is_whole = self.unmerged.is_none_or(|unmerged| start > unmerged);
            if !is_level || !is_whole || records > self.parts.settings.merged_records_max {
                return Ok(());
            }
            let (storage, owner) = (&*self.parts.home.storage, self.parts.home.snapshot_owner());
            let end = newest.last().map_or(start, |last| last.end());
            let inputs: Vec<&Run> = newest.iter().map(|run| &**run).collect();
            let kept = self.parts.floor.get();
            match merge::merge(storage, &owner, &inputs, &(start..end), kept, level + 1) {
                Err(error @ RunError::Unusable { .. }) => self.leave_unmerged(&error),
                merged => {
                    let merged = Arc::new(merged?);
                    self.retired.extend(self.runs.drain(first..));
                    self.runs.push(merged);
                    self.publish();
                }
            }
        }
        Ok(())
    }

    /// A damaged run stays as it is: what is good in it still answers duplicates, and operations go on leaving memory.
    fn leave_unmerged(&mut self, error: &RunError) {
        self.parts.progress.metrics().runs.note_damaged();
        self.unmerged = self.runs.last().map(|last| last.start());
        let (partition, reason) = (self.parts.home.partition, explain(error));
        tracing::error!(
            partition,
            reason,
            "a file of operation ids is damaged, and is not merged with others; duplicates of what cannot be read are refused"
        );
    }

    fn publish(&self) {
        self.note_files();
        let list = Some(self.runs.clone());
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = list;
        self.parts.waker.wake();
    }

    fn note_files(&self) {
        let bytes = self.runs.iter().map(|run| run.bytes()).sum();
        self.parts.progress.metrics().runs.note_files(self.runs.len() as u64, bytes);
    }

    /// Takes the runs off the list whose operations are all forgotten, and removes the files that nobody looks into any more.
    fn look(&mut self) -> Result<(), EmbeddedError> {
        if self.looked_at.elapsed() < LOOK_INTERVAL && self.retired.len() < RETIRED_MAX {
            return Ok(());
        }
        self.looked_at = Instant::now();
        let floor = self.parts.floor.get();
        // The last one says where the next one begins.
        let forgotten = self.runs.iter().take_while(|run| run.end() <= floor).count();
        let forgotten = forgotten.min(self.runs.len().saturating_sub(1));
        if forgotten > 0 {
            self.retired.extend(self.runs.drain(..forgotten));
            self.publish();
        }
        self.remove_retired()
    }

    /// None is removed while a backup is copying files.
    fn remove_retired(&mut self) -> Result<(), EmbeddedError> {
        let storage = &*self.parts.home.storage;
        let is_free = |run: &Arc<Run>| Arc::strong_count(run) == 1;
        if !self.retired.iter().any(is_free) {
            return Ok(());
        }
        let Some(_alone) = storage.lock_alone(HOLD_NAME)? else { return Ok(()) };
        while let Some(place) = self.retired.iter().position(is_free) {
            let name = self.retired[place].name.clone();
            match storage.remove(&name) {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => storage.sync_directory()?,
            }
            self.retired.remove(place);
        }
        Ok(())
    }
}
