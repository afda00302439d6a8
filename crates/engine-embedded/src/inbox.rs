//! How other threads reach a partition: bounded mail to its owner, its durable log to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use scarce_core::event::{Entry, Histories, Position};
use scarce_engine::Image;
use scarce_engine::engine::{Failure, Reply, Request, SnapshotDone, Watch};
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::stop::Waker;

use crate::batch::read_entries;
use crate::consumers::Registry;
use crate::error::explain;
use crate::keeper::{KeeperReply, KeeperTask};
use crate::log::PartitionLog;
use crate::progress::CommitProgress;
use crate::waker::OwnerWaker;

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

/// The caller is told when its mail is lost.
impl Drop for Mail {
    fn drop(&mut self) {
        if let Some(reply) = self.reply.take() {
            let failure = Failure::Unknown { reason: "the engine has stopped".to_owned() };
            reply(vec![Err(failure); self.requests.len()]);
        }
    }
}

/// How long a partition may take to come to rest.
const SETTLE_MAX: Duration = Duration::from_secs(5);

fn stopped() -> Failure {
    Failure::Unavailable { reason: "the engine has stopped".to_owned() }
}

struct InboxShared {
    sender: Sender<Mail>,
    receiver: Receiver<Mail>,
    waker: OwnerWaker,
    log: Arc<dyn PartitionLog>,
    progress: Arc<CommitProgress>,
    consumers: Arc<Registry>,
    keeper: Sender<KeeperTask>,
    /// Which epochs wrote the log, with that of this start as the last.
    histories: Histories,
    /// Whether the owner has ended.
    is_closed: AtomicBool,
}

/// A partition as other threads see it. Clones are the same inbox.
#[derive(Clone)]
pub struct Inbox {
    shared: Arc<InboxShared>,
}

impl Inbox {
    pub(crate) fn new(
        batches_max: usize,
        waker: OwnerWaker,
        log: Arc<dyn PartitionLog>,
        progress: Arc<CommitProgress>,
        consumers: Arc<Registry>,
        keeper: Sender<KeeperTask>,
        histories: Histories,
    ) -> Self {
        let (sender, receiver) = bounded(batches_max.max(1));
        let is_closed = AtomicBool::new(false);
        let shared =
            InboxShared { sender, receiver, waker, log, progress, consumers, keeper, histories, is_closed };
        Self { shared: Arc::new(shared) }
    }

    pub(crate) fn set_waker(&self, waker: Waker) {
        self.shared.waker.set(waker);
    }

    /// Leaves a batch for the owner, or answers `OVERLOADED` at once.
    pub fn post(&self, requests: Vec<Request>, reply: Reply) {
        let mail = Mail { requests, reply: Some(reply) };
        match self.shared.sender.try_send(mail) {
            // The owner may have ended before it could see this; then no one else would answer.
            Ok(()) if self.shared.is_closed.load(Ordering::SeqCst) => self.close(),
            Ok(()) => self.shared.waker.wake(),
            Err(TrySendError::Full(mail)) => mail.fail(&Failure::Overloaded { queue: "inbox" }),
            Err(TrySendError::Disconnected(mail)) => drop(mail),
        }
    }

    /// Lets the partition take no changes, or take them again.
    pub(crate) fn set_resting(&self, rests: bool) {
        self.shared.progress.set_resting(rests);
        self.shared.waker.wake();
    }

    /// Answers nothing any more but where the deployment is.
    pub(crate) fn move_to(&self, address: &str) {
        self.shared.progress.move_to(address);
    }

    /// Waits until what was decided before is durable, and gives the last durable sequence.
    pub(crate) fn settle(&self) -> Result<u64, Failure> {
        let (sender, settled) = bounded(1);
        let reply: Reply = Box::new(move |_| {
            // Nobody waits any more.
            let _ = sender.send(());
        });
        let mail = Mail { requests: Vec::new(), reply: Some(reply) };
        let is_sent = self.shared.sender.send_timeout(mail, SETTLE_MAX).is_ok();
        self.shared.waker.wake();
        if !is_sent || settled.recv_timeout(SETTLE_MAX).is_err() {
            let reason = format!("what was decided did not become durable in {} s", SETTLE_MAX.as_secs());
            return Err(Failure::Unavailable { reason });
        }
        self.shared.progress.check_here()?;
        if self.shared.is_closed.load(Ordering::SeqCst) {
            return Err(stopped());
        }
        Ok(self.durable_through())
    }

    /// Answers what was not taken; what comes later is answered at once.
    pub(crate) fn close(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        while let Some(mail) = self.take() {
            mail.fail(&stopped());
        }
    }

    /// How many batches wait.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.shared.receiver.len()
    }

    pub(crate) fn take(&self) -> Option<Mail> {
        self.shared.receiver.try_recv().ok()
    }

    pub(crate) fn check_ready(&self) -> Result<(), Failure> {
        self.shared.progress.check_ready()?;
        self.shared.consumers.check_room(self.shared.progress.metrics().levels().sequence)
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

    pub(crate) fn first_sequence(&self) -> u64 {
        self.shared.log.first_sequence()
    }

    pub(crate) fn consumers(&self) -> &Registry {
        &self.shared.consumers
    }

    pub(crate) fn keep_log_from(&self, sequence: Option<u64>) {
        self.shared.progress.keep_from(sequence);
    }

    pub(crate) fn surplus_log_bytes(&self) -> u64 {
        self.shared.progress.surplus_bytes()
    }

    /// The last sequence that is durable.
    #[must_use]
    pub fn durable_through(&self) -> u64 {
        self.shared.progress.sequence()
    }

    /// Whether a position is of what was logged since the start, and durable.
    pub(crate) fn has_logged(&self, position: Position) -> bool {
        let begun = self.shared.histories.last();
        begun.is_some_and(|begun| position.epoch == begun.epoch && position.sequence >= begun.sequence)
            && position.sequence <= self.durable_through()
    }

    /// Which epochs wrote the log.
    pub(crate) fn histories(&self) -> &Histories {
        &self.shared.histories
    }

    pub(crate) fn entries(&self, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure> {
        self.entries_up_to(sequence, usize::MAX, bytes_max)
    }

    /// Entries from the one that holds `sequence` on, until they hold `events_max` events or the bytes read reach
    /// `bytes_max`.
    pub(crate) fn entries_up_to(
        &self,
        sequence: u64,
        events_max: usize,
        bytes_max: u64,
    ) -> Result<Vec<Entry>, Failure> {
        let through = self.durable_through();
        let batches = self
            .shared
            .log
            .reader()
            .read_from(sequence.max(1), through, bytes_max)
            .map_err(|error| Failure::Unavailable { reason: explain(&error) })?;
        let mut entries = Vec::new();
        let mut events = 0;
        for batch in batches {
            if events >= events_max {
                break;
            }
            read_entries(&batch, sequence, events_max, &mut events, &mut entries)
                .map_err(|error| Failure::Unavailable { reason: error.to_string() })?;
        }
        Ok(entries)
    }

    pub(crate) fn request_snapshot(&self) -> Result<SnapshotDone, Failure> {
        self.ask_keeper(KeeperTask::Snapshot)
    }

    /// The state of the newest snapshot, to be read row by row.
    pub(crate) fn request_image(&self) -> Result<Box<dyn Image>, Failure> {
        self.ask_keeper(KeeperTask::Image)
    }

    /// Has the positions of consumers and inputs written down.
    pub(crate) fn request_save(&self) -> Result<(), Failure> {
        self.ask_keeper(KeeperTask::Save)
    }

    fn ask_keeper<T>(&self, task: impl FnOnce(KeeperReply<T>) -> KeeperTask) -> Result<T, Failure> {
        let (sender, receiver) = bounded(1);
        self.shared.keeper.send(task(sender)).map_err(|_| stopped())?;
        let done = receiver.recv().map_err(|_| stopped())?;
        done.map_err(|reason| Failure::Unavailable { reason })
    }
}
