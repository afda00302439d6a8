//! The committer: the thread that only appends and syncs, while the owner decides the next batch. When there is nothing
//! else to decide, the owner does the same itself, which spares two switches between threads.

mod writer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::error::EmbeddedError;
use crate::log::{LogBatch, LogError, LogWriter};
use crate::progress::CommitProgress;
use crate::waker::OwnerWaker;
use writer::BatchWriter;

/// A batch on its way to the log.
pub(crate) struct Commit {
    pub(crate) number: u64,
    pub(crate) epoch: u64,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    pub(crate) bytes: Arc<Vec<u8>>,
    /// When its first command was decided, and how many wait for it.
    pub(crate) begun: Instant,
    pub(crate) commands: u64,
}

impl Commit {
    fn batch(&self) -> LogBatch<'_> {
        let Self { epoch, first_sequence, last_sequence, .. } = *self;
        LogBatch { epoch, first_sequence, last_sequence, payload: &self.bytes }
    }
}

/// What the committer is woken for.
enum Task {
    Commit(Commit),
    /// The owner commits itself, and the log is to note how far it is durable once there is nothing more.
    Watch,
}

/// The owner's end of the committer.
pub(crate) struct Committer {
    sender: Option<Sender<Task>>,
    pub(crate) progress: Arc<CommitProgress>,
    writer: Arc<Mutex<BatchWriter>>,
    is_stopping: Arc<AtomicBool>,
    /// Whether the thread waits for a task without end; changed only with the writer locked.
    is_asleep: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// A sync that takes longer is left to the committer: beside it the switches between threads are short, and the owner can
/// serve others.
const SYNC_HERE_MAX: Duration = Duration::from_millis(2);

impl Committer {
    pub(crate) fn start(
        writer: Box<dyn LogWriter>,
        partition: u32,
        waker: OwnerWaker,
        slow: Option<Duration>,
    ) -> Result<Self, EmbeddedError> {
        let (sender, receiver) = bounded(1);
        let progress = Arc::new(CommitProgress::opened_at(writer.durable_through()));
        progress.set_room_low(writer.is_room_low());
        let is_stopping = Arc::new(AtomicBool::new(false));
        let is_asleep = Arc::new(AtomicBool::new(false));
        let writer = Arc::new(Mutex::new(BatchWriter::new(writer, progress.clone(), partition, slow)));
        let committing = CommitLoop {
            writer: writer.clone(),
            receiver,
            progress: progress.clone(),
            is_stopping: is_stopping.clone(),
            is_asleep: is_asleep.clone(),
            waker,
            seen: 0,
        };
        let name = format!("committer-{partition}");
        let started = std::thread::Builder::new().name(name.clone()).spawn(move || committing.run());
        let thread = started.map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })?;
        Ok(Self { sender: Some(sender), progress, writer, is_stopping, is_asleep, thread: Some(thread) })
    }

    /// Hands a batch over. The owner does so only when the one before is durable.
    pub(crate) fn hand_over(&self, commit: Commit) {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(Task::Commit(commit)).is_ok());
        if !sent {
            self.progress.fail("the committer has ended".to_owned());
        }
    }

    /// Whether [`Committer::commit_here`] is likely to take no longer than a short sync.
    pub(crate) fn is_quick(&self) -> bool {
        !self.progress.is_room_low() && self.progress.last_sync() <= SYNC_HERE_MAX
    }

    /// Makes a batch durable on this thread. Hands it over if that must wait for room or for the committer.
    pub(crate) fn commit_here(&self, commit: Commit) {
        let Ok(mut writer) = self.writer.try_lock() else { return self.hand_over(commit) };
        let appended = writer.append_whole(&commit);
        if appended.as_ref().is_err_and(LogError::is_full) {
            drop(writer);
            return self.hand_over(commit);
        }
        if let Err(error) = appended.map_err(Failed::from).and_then(|()| writer.sync(&commit)) {
            return writer.fail(&*error);
        }
        let is_unwatched = self.is_asleep.swap(false, Ordering::Relaxed);
        drop(writer);
        if is_unwatched && let Some(sender) = &self.sender {
            // If there is a task already, it wakes the committer as well.
            let _ = sender.try_send(Task::Watch);
        }
        release(commit, &self.progress);
        self.progress.wake_watchers();
    }

    /// Waits until everything handed over is written, and ends the thread.
    pub(crate) fn finish(&mut self) {
        self.is_stopping.store(true, Ordering::Release);
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            self.progress.fail("the committer ended by a panic".to_owned());
        }
    }
}

/// Lets the answers of a durable batch leave. Its buffer is given back before the owner can learn of it.
fn release(commit: Commit, progress: &CommitProgress) {
    let number = commit.number;
    drop(commit);
    progress.release_batch(number);
}

pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

struct CommitLoop {
    writer: Arc<Mutex<BatchWriter>>,
    receiver: Receiver<Task>,
    progress: Arc<CommitProgress>,
    is_stopping: Arc<AtomicBool>,
    is_asleep: Arc<AtomicBool>,
    waker: OwnerWaker,
    /// The last batch that was durable when it was last looked whether there is nothing more.
    seen: u64,
}

/// The owner would wait for ever for a committer that is gone.
impl Drop for CommitLoop {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.progress.fail("ended by a panic".to_owned());
            self.waker.wake();
        }
    }
}

/// After so long without a batch, the log notes how far it is durable.
const IDLE: Duration = Duration::from_millis(100);

/// How long a batch waits before it is appended again to a full log.
const FULL_RETRY: Duration = Duration::from_millis(50);

impl CommitLoop {
    fn run(mut self) {
        if let Err(error) = self.serve() {
            lock(&self.writer).fail(&*error);
        }
        self.waker.wake();
    }

    fn serve(&mut self) -> Result<(), Failed> {
        while let Some(commit) = self.next()? {
            let mut writer = lock(&self.writer);
            writer.append(&commit, |log, batch| self.append(log, batch))?;
            writer.sync(&commit)?;
            self.seen = writer.last;
            drop(writer);
            release(commit, &self.progress);
            self.waker.wake();
            self.progress.wake_watchers();
        }
        lock(&self.writer).finish()
    }

    /// The next batch; none when there will be no more. Before a long wait the log notes how far it is durable, so
    /// that damage to the last batch is not taken for one that was never finished.
    fn next(&mut self) -> Result<Option<Commit>, Failed> {
        loop {
            let task = match self.receiver.recv_timeout(IDLE) {
                Err(RecvTimeoutError::Timeout) if !self.falls_asleep()? => continue,
                Err(RecvTimeoutError::Timeout) => self.receiver.recv().ok(),
                result => result.ok(),
            };
            match task {
                Some(Task::Watch) => {}
                Some(Task::Commit(commit)) => return Ok(Some(commit)),
                None => return Ok(None),
            }
        }
    }

    /// Whether the owner has made nothing durable since this was last asked. Then it wakes this thread when it does.
    fn falls_asleep(&mut self) -> Result<bool, Failed> {
        let mut writer = lock(&self.writer);
        if writer.last != std::mem::replace(&mut self.seen, writer.last) {
            return Ok(false);
        }
        writer.note_durable()?;
        self.is_asleep.store(true, Ordering::Relaxed);
        Ok(true)
    }

    /// Appends a batch. While the log is full it retries and the owner refuses new work, until there is room or the
    /// engine is asked to stop.
    fn append(&self, log: &mut dyn LogWriter, batch: LogBatch<'_>) -> Result<(), LogError> {
        loop {
            match log.append(batch) {
                Err(error) if error.is_full() && !self.is_stopping.load(Ordering::Acquire) => {
                    self.progress.set_full(Some(&error));
                    self.progress.set_room_low(true);
                    if !self.progress.set_waits_for_room(true) {
                        // A snapshot may wait for this batch.
                        self.waker.wake();
                    }
                    std::thread::park_timeout(FULL_RETRY);
                }
                result => {
                    self.progress.set_waits_for_room(false);
                    return result;
                }
            }
        }
    }
}

/// What it protects is left by a panic as a failed write leaves it: it takes nothing more, and the owner ends.
fn lock(writer: &Mutex<BatchWriter>) -> MutexGuard<'_, BatchWriter> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}
