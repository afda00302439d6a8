//! The committer: the thread that only appends and syncs, while the owner decides the next batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_engine::slow::{SlowLog, names_of_entries};

use crate::batch::pieces;
use crate::error::{EmbeddedError, explain};
use crate::log::{LogBatch, LogError, LogWriter};
use crate::progress::CommitProgress;
use crate::waker::OwnerWaker;

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

/// The owner's end of the committer.
pub(crate) struct Committer {
    sender: Option<Sender<Commit>>,
    pub(crate) progress: Arc<CommitProgress>,
    is_stopping: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

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
        let committing = CommitLoop {
            writer,
            receiver,
            progress: progress.clone(),
            is_stopping: is_stopping.clone(),
            waker,
            partition,
            slow: SlowLog::above(slow),
        };
        let name = format!("committer-{partition}");
        let started = std::thread::Builder::new().name(name.clone()).spawn(move || committing.run());
        let thread = started.map_err(|error| EmbeddedError::Thread { name, what: error.to_string() })?;
        Ok(Self { sender: Some(sender), progress, is_stopping, thread: Some(thread) })
    }

    /// Hands a batch over. The owner does so only when the one before is durable.
    pub(crate) fn hand_over(&self, commit: Commit) {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(commit).is_ok());
        if !sent {
            self.progress.fail("the committer has ended".to_owned());
        }
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

pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

struct CommitLoop {
    writer: Box<dyn LogWriter>,
    receiver: Receiver<Commit>,
    progress: Arc<CommitProgress>,
    is_stopping: Arc<AtomicBool>,
    waker: OwnerWaker,
    partition: u32,
    slow: SlowLog,
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
            let (partition, reason) = (self.partition, explain(&*error));
            tracing::error!(partition, reason, "the journal cannot be written; the server ends");
            self.progress.fail(reason);
        }
        self.waker.wake();
    }

    fn serve(&mut self) -> Result<(), Failed> {
        while let Some(commit) = self.next()? {
            self.write(&commit)?;
            let begun = Instant::now();
            let through = self.writer.sync()?;
            let synced = begun.elapsed();
            self.progress.metrics().syncs.note(synced, 1);
            let waited = commit.begun.elapsed();
            self.progress.metrics().commits.note(waited, commit.commands);
            self.log_if_slow(&commit, waited, synced);
            self.progress.note_durable(through, commit.bytes.len() as u64);
            self.progress.set_room_low(self.writer.is_room_low());
            // Gives the buffer back before the owner can learn that the batch is durable.
            let number = commit.number;
            drop(commit);
            self.progress.release_batch(number);
            self.waker.wake();
            self.progress.wake_watchers();
        }
        self.note_durable()?;
        Ok(self.writer.sync().map(drop)?)
    }

    fn log_if_slow(&mut self, commit: &Commit, waited: Duration, synced: Duration) {
        if self.slow.is_slow(waited) {
            // The entries tell what the commands were, so that nothing had to be kept for it.
            let slow = &self.progress.metrics().slow_commands;
            slow.note(waited, commit.commands, names_of_entries(&commit.bytes));
        }
        if let Some(untold) = self.slow.note(waited) {
            let (partition, commands) = (self.partition, commit.commands);
            let (waited_ms, sync_ms) = (milliseconds(waited), milliseconds(synced));
            tracing::warn!(
                partition,
                commands,
                waited_ms,
                sync_ms,
                untold,
                "commands waited long for the disk"
            );
        }
    }

    /// The next batch; none when there will be no more. Before a long wait the log notes how far it is durable, so
    /// that damage to the last batch is not taken for one that was never finished.
    fn next(&mut self) -> Result<Option<Commit>, Failed> {
        match self.receiver.recv_timeout(IDLE) {
            Err(RecvTimeoutError::Timeout) => self.note_durable()?,
            result => return Ok(result.ok()),
        }
        Ok(self.receiver.recv().ok())
    }

    fn note_durable(&mut self) -> Result<(), Failed> {
        match self.writer.note_durable() {
            Err(error) if !error.is_full() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn write(&mut self, commit: &Commit) -> Result<(), Failed> {
        let Commit { epoch, first_sequence, last_sequence, .. } = *commit;
        let whole = LogBatch { epoch, first_sequence, last_sequence, payload: &commit.bytes };
        let payload_bytes_max = self.writer.payload_bytes_max();
        if commit.bytes.len() as u64 <= payload_bytes_max {
            self.append(whole)?;
            return Ok(());
        }
        for piece in pieces(whole, payload_bytes_max)? {
            self.append(piece)?;
        }
        Ok(())
    }

    /// Appends a batch. While the log is full it retries and the owner refuses new work, until there is room or the
    /// engine is asked to stop.
    fn append(&mut self, batch: LogBatch<'_>) -> Result<(), LogError> {
        loop {
            match self.writer.append(batch) {
                Err(error) if error.is_full() && !self.is_stopping.load(Ordering::Acquire) => {
                    self.progress.set_full(Some(&error));
                    self.progress.set_room_low(true);
                    std::thread::park_timeout(FULL_RETRY);
                }
                result => return result,
            }
        }
    }
}
