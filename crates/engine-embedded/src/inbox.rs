//! How other threads reach a partition: bounded mail to its owner, its durable log to read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use scarce_core::event::Entry;
use scarce_engine::engine::{Failure, Reply, Request, SnapshotDone, Watch};
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::stop::Waker;

use super::commit::Progress;
use super::keeper::KeeperTask;
use crate::consumers::Registry;
use crate::error::explain;
use crate::journal::{Journal, JournalError};

/// A batch from another thread, and who waits for its answers.
pub struct Mail {
    requests: Vec<Request>,
    reply: Option<Reply>,
}

impl Mail {
    /// What is asked.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Gives the answers.
    pub fn answer(mut self, answers: Vec<Result<scarce_core::outcome::Receipt, Failure>>) {
        if let Some(reply) = self.reply.take() {
            reply(answers);
        }
    }

    fn fail(mut self, failure: &Failure) {
        if let Some(reply) = self.reply.take() {
            reply(vec![Err(failure.clone()); self.requests.len()]);
        }
    }
}

/// Whoever waits learns it when the mail is lost.
impl Drop for Mail {
    fn drop(&mut self) {
        if let Some(reply) = self.reply.take() {
            let failure = Failure::Unknown { reason: "the engine has stopped".to_owned() };
            reply(vec![Err(failure); self.requests.len()]);
        }
    }
}

struct Shared {
    sender: Sender<Mail>,
    receiver: Receiver<Mail>,
    waker: Arc<Mutex<Option<Waker>>>,
    journal: Journal,
    progress: Arc<Progress>,
    consumers: Arc<Registry>,
    keeper: Sender<KeeperTask>,
    /// Whether nobody takes mail any more.
    is_closed: AtomicBool,
}

/// A partition as other threads see it. Clones are the same inbox.
#[derive(Clone)]
pub struct Inbox {
    shared: Arc<Shared>,
}

impl Inbox {
    pub(super) fn new(
        batches_max: usize,
        waker: Arc<Mutex<Option<Waker>>>,
        journal: Journal,
        progress: Arc<Progress>,
        consumers: Arc<Registry>,
        keeper: Sender<KeeperTask>,
    ) -> Self {
        let (sender, receiver) = bounded(batches_max.max(1));
        let is_closed = AtomicBool::new(false);
        let shared = Shared { sender, receiver, waker, journal, progress, consumers, keeper, is_closed };
        Self { shared: Arc::new(shared) }
    }

    pub(super) fn set_waker(&self, waker: Waker) {
        *self.shared.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    /// Leaves a batch for the owner, or answers `OVERLOADED` at once.
    pub fn post(&self, requests: Vec<Request>, reply: Reply) {
        let mail = Mail { requests, reply: Some(reply) };
        match self.shared.sender.try_send(mail) {
            // The owner may have ended before it could see this; then nobody else would answer.
            Ok(()) if self.shared.is_closed.load(Ordering::SeqCst) => self.close(),
            Ok(()) => self.wake(),
            Err(TrySendError::Full(mail)) => mail.fail(&Failure::Overloaded { queue: "inbox" }),
            Err(TrySendError::Disconnected(mail)) => drop(mail),
        }
    }

    /// Answers what was not taken; what comes later is answered at once.
    pub(super) fn close(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        while let Some(mail) = self.take() {
            mail.fail(&Failure::Unavailable { reason: "the engine has stopped".to_owned() });
        }
    }

    /// How many batches wait.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.shared.receiver.len()
    }

    pub(super) fn take(&self) -> Option<Mail> {
        self.shared.receiver.try_recv().ok()
    }

    pub(super) fn check_ready(&self) -> Result<(), Failure> {
        self.shared.progress.check_ready()
    }

    /// What the partition counts.
    #[must_use]
    pub fn metrics(&self) -> &PartitionMetrics {
        self.shared.progress.metrics()
    }

    /// Has `wake` called whenever more has become durable.
    pub fn watch(&self, wake: Waker) -> Watch {
        self.shared.progress.watch(&wake);
        Watch::new(wake)
    }

    pub(super) fn first_sequence(&self) -> u64 {
        self.shared.journal.first_available()
    }

    pub(super) fn consumers(&self) -> &Registry {
        &self.shared.consumers
    }

    /// The last sequence that is durable.
    #[must_use]
    pub fn durable_through(&self) -> u64 {
        self.shared.progress.sequence()
    }

    /// Bytes of the journal's segments on disk, without the spare.
    #[must_use]
    pub fn journal_bytes(&self) -> u64 {
        self.shared.journal.bytes()
    }

    pub(super) fn entries(&self, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure> {
        let through = self.durable_through();
        let frames = self
            .shared
            .journal
            .reader()
            .read_from(sequence.max(1), through, bytes_max)
            .map_err(|error| unreadable(&error))?;
        let mut entries = Vec::new();
        for frame in frames {
            let read = Entry::read_all(&frame.payload);
            entries.extend(read.map_err(|error| Failure::Unavailable { reason: error.to_string() })?);
        }
        entries.retain(|entry| entry.sequence_last() >= sequence);
        Ok(entries)
    }

    pub(super) fn request_snapshot(&self) -> Result<SnapshotDone, Failure> {
        let (sender, receiver) = bounded(1);
        let stopped = || Failure::Unavailable { reason: "the engine has stopped".to_owned() };
        self.shared.keeper.send(KeeperTask::Snapshot(sender)).map_err(|_| stopped())?;
        let done = receiver.recv().map_err(|_| stopped())?;
        done.map_err(|reason| Failure::Unavailable { reason })
    }

    fn wake(&self) {
        if let Some(waker) = &*self.shared.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            waker();
        }
    }
}

fn unreadable(error: &JournalError) -> Failure {
    Failure::Unavailable { reason: explain(error) }
}
