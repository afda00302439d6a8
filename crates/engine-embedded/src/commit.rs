//! The committer: the thread that only writes and syncs, while the owner decides the next batch.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_core::codec::{Input, Malformed};
use scarce_core::event::Entry;
use scarce_engine::engine::Failure;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::stop::Waker;

use crate::error::explain;
use crate::journal::{Journal, JournalError, Writer};

/// A batch on its way to the disk.
pub(super) struct Commit {
    pub(super) number: u64,
    pub(super) epoch: u64,
    pub(super) first_sequence: u64,
    pub(super) last_sequence: u64,
    pub(super) bytes: Arc<Vec<u8>>,
    /// When its first command was decided, and how many wait for it.
    pub(super) begun: Instant,
    pub(super) commands: u64,
}

/// What the owner and others may see of the committer.
#[derive(Default)]
pub(super) struct Progress {
    /// The last batch that is durable.
    commit: AtomicU64,
    /// The last sequence that is durable.
    sequence: AtomicU64,
    /// Bytes written since the start, for whoever plans snapshots.
    bytes: AtomicU64,
    /// Whether the current segment is nearly used up.
    tight: AtomicBool,
    /// Whether the disk had no room for the next one.
    full: AtomicBool,
    /// Whether the end was asked for.
    stopping: AtomicBool,
    has_failed: AtomicBool,
    metrics: PartitionMetrics,
    /// Who wants to know when more is durable, and whether there is anybody.
    watchers: Mutex<Vec<Weak<dyn Fn() + Send + Sync>>>,
    is_watched: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Progress {
    pub(super) fn commit(&self) -> u64 {
        self.commit.load(Ordering::Acquire)
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether writes must be refused, lest one is decided that finds no room.
    pub(super) fn is_cramped(&self) -> bool {
        self.tight.load(Ordering::Relaxed) && self.full.load(Ordering::Relaxed)
    }

    pub(super) fn metrics(&self) -> &PartitionMetrics {
        &self.metrics
    }

    pub(super) fn watch(&self, wake: &Waker) {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(wake));
        self.is_watched.store(true, Ordering::Release);
    }

    /// Wakes those who watch; those who no longer do are forgotten.
    fn wake_watchers(&self) {
        if !self.is_watched.load(Ordering::Acquire) {
            return;
        }
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|watcher| {
            watcher.upgrade().is_some_and(|wake| {
                wake();
                true
            })
        });
        if watchers.is_empty() {
            self.is_watched.store(false, Ordering::Release);
        }
    }

    /// Whether more may be decided.
    pub(super) fn check_ready(&self) -> Result<(), Failure> {
        if let Some(reason) = self.failure() {
            return Err(Failure::Unavailable { reason });
        }
        if self.is_cramped() {
            let reason = "the disk has no room for the next journal segment; free space, writes then go on";
            return Err(Failure::Unavailable { reason: reason.to_owned() });
        }
        Ok(())
    }

    fn see_room(&self, writer: &Writer) {
        let segment_bytes = writer.journal().settings().segment_bytes;
        let tight = writer.segment_bytes_left() < ROOM_BYTES_MIN.min(segment_bytes / 2);
        self.tight.store(tight, Ordering::Relaxed);
    }

    pub(super) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }

    /// Why the journal takes nothing more, for ever.
    pub(super) fn failure(&self) -> Option<String> {
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first reason is the one to know; what fails afterwards follows from it.
    fn fail(&self, reason: String) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.has_failed.store(true, Ordering::Release);
    }
}

/// The owner's end of the committer.
pub(super) struct Committer {
    sender: Option<Sender<Commit>>,
    pub(super) progress: Arc<Progress>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Room that must be left in a segment while no spare one is ready: more than any batch takes.
const ROOM_BYTES_MIN: u64 = 16 << 20;

impl Committer {
    pub(super) fn start(
        writer: Writer,
        name: String,
        waker: Arc<Mutex<Option<Waker>>>,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = bounded(1);
        let progress = Arc::new(Progress::default());
        progress.sequence.store(writer.synced_through(), Ordering::Release);
        progress.see_room(&writer);
        let shared = progress.clone();
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || Loop { writer, receiver, progress: shared, waker }.run())?;
        Ok(Self { sender: Some(sender), progress, thread: Some(thread) })
    }

    /// Hands a batch over. The owner does so only when the one before is durable.
    pub(super) fn hand_over(&self, commit: Commit) {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(commit).is_ok());
        if !sent {
            self.progress.fail("the committer has ended".to_owned());
        }
    }

    /// Waits until everything handed over is written, and ends the thread.
    pub(super) fn finish(&mut self) {
        self.progress.stopping.store(true, Ordering::Release);
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            self.progress.fail("the committer ended by a panic".to_owned());
        }
    }
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

struct Loop {
    writer: Writer,
    receiver: Receiver<Commit>,
    progress: Arc<Progress>,
    waker: Arc<Mutex<Option<Waker>>>,
}

/// An owner that waited for a committer that is gone would wait for ever.
impl Drop for Loop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.progress.fail("ended by a panic".to_owned());
            self.wake();
        }
    }
}

/// After so long without a batch the log is completed for the time being.
const IDLE: Duration = Duration::from_millis(100);

/// How long a batch waits before it is tried again on a full disk.
const FULL_RETRY: Duration = Duration::from_millis(50);

impl Loop {
    fn run(mut self) {
        let result = self.serve();
        if let Err(error) = result {
            self.progress.fail(explain(&*error));
        }
        self.wake();
    }

    fn serve(&mut self) -> Result<(), Failed> {
        while let Some(commit) = self.next()? {
            self.write(&commit)?;
            let begun = Instant::now();
            let through = self.writer.sync()?;
            self.progress.metrics.syncs.note(begun.elapsed(), 1);
            self.progress.metrics.commits.note(commit.begun.elapsed(), commit.commands);
            self.progress.sequence.store(through, Ordering::Release);
            self.progress.bytes.fetch_add(commit.bytes.len() as u64, Ordering::Relaxed);
            self.progress.metrics.note_commit(commit.bytes.len() as u64);
            self.progress.see_room(&self.writer);
            // Gives the buffer back before the owner can learn that the batch is durable.
            let number = commit.number;
            drop(commit);
            self.progress.commit.store(number, Ordering::Release);
            self.wake();
            self.progress.wake_watchers();
        }
        self.record_synced()?;
        Ok(self.writer.sync().map(drop)?)
    }

    /// The next batch; none when there will be no more. Before a long wait the log says how far it is
    /// durable, so that damage to the last batch is not taken for one that was never finished.
    fn next(&mut self) -> Result<Option<Commit>, Failed> {
        match self.receiver.recv_timeout(IDLE) {
            Err(RecvTimeoutError::Timeout) => self.record_synced()?,
            result => return Ok(result.ok()),
        }
        Ok(self.receiver.recv().ok())
    }

    fn record_synced(&mut self) -> Result<(), Failed> {
        match self.writer.record_synced() {
            Err(error) if !error.is_full() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn write(&mut self, commit: &Commit) -> Result<(), Failed> {
        let payload_bytes_max = self.journal().settings().payload_bytes_max();
        if commit.bytes.len() as u64 <= payload_bytes_max {
            self.append(commit.epoch, commit.first_sequence, commit.last_sequence, &commit.bytes)?;
            return Ok(());
        }
        for (first, last, piece) in pieces(&commit.bytes, payload_bytes_max)? {
            self.append(commit.epoch, first, last, piece)?;
        }
        Ok(())
    }

    /// Appends a frame; on a full disk it tries again until there is room, while the owner refuses new
    /// work, or until the end is asked for, which must not wait for somebody to free space.
    fn append(&mut self, epoch: u64, first: u64, last: u64, payload: &[u8]) -> Result<(), JournalError> {
        loop {
            match self.writer.append(epoch, first, last, payload) {
                Err(error) if error.is_full() && !self.progress.stopping.load(Ordering::Acquire) => {
                    self.progress.tight.store(true, Ordering::Relaxed);
                    self.progress.set_full(true);
                    std::thread::park_timeout(FULL_RETRY);
                }
                result => return result.map(drop),
            }
        }
    }

    fn journal(&self) -> &Journal {
        self.writer.journal()
    }

    fn wake(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            waker();
        }
    }
}

/// A part of a batch that makes a frame, with the first and the last sequence that it covers.
type Piece<'a> = (u64, u64, &'a [u8]);

/// Cuts a large batch between entries into frames.
fn pieces(bytes: &[u8], payload_bytes_max: u64) -> Result<Vec<Piece<'_>>, Malformed> {
    let limit = usize::try_from(payload_bytes_max).unwrap_or(usize::MAX);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut covered: Option<(u64, u64)> = None;
    let mut input = Input::new(bytes);
    let mut end = 0;
    while !input.is_empty() {
        let entry = Entry::read(&mut input)?;
        let next = bytes.len() - input.len();
        if let Some((first, last)) = covered.filter(|_| next - start > limit) {
            pieces.push((first, last, &bytes[start..end]));
            start = end;
            covered = None;
        }
        let first = covered.map_or(entry.head.sequence_first, |(first, _)| first);
        covered = Some((first, entry.sequence_last()));
        end = next;
    }
    if let Some((first, last)) = covered {
        pieces.push((first, last, &bytes[start..end]));
    }
    Ok(pieces)
}

/// The entry in `bytes` that ends at a sequence. Those before it are only passed over, because copies
/// of an operation may come by the thousand while its batch is under way.
pub(super) fn find_entry(bytes: &[u8], sequence_last: u64) -> Option<Entry> {
    let mut input = Input::new(bytes);
    let mut holder = None;
    while !input.is_empty() {
        let start = bytes.len() - input.len();
        if Entry::skip(&mut input).ok()? > sequence_last {
            break;
        }
        holder = Some(start);
    }
    let entry = Entry::read(&mut Input::new(&bytes[holder?..])).ok()?;
    (entry.sequence_last() == sequence_last).then_some(entry)
}
